# frozen_string_literal: true

require "helper"
require "tmpdir"

# What extconf.rb says where it cannot build.
class TestPackaging < Minitest::Test
  EXTCONF = [Gem.loaded_specs["rawrefcount"]&.full_gem_path, File.expand_path("..", __dir__)].compact
               .map { |dir| "#{dir}/ext/rawrefcount/extconf.rb" }.find { |path| File.exist?(path) }

  def extconf(prelude, path = EXTCONF)
    Dir.mktmpdir do |dir|
      command = [RbConfig.ruby, "-W0", "-e", "#{prelude}; load #{path.dump}"]
      output = IO.popen(command, chdir: dir, err: %i[child out], &:read)
      [output, $?.success?]
    end
  end

  def assert_refuses(message, prelude, path = EXTCONF)
    output, ok = extconf(prelude, path)
    refute ok
    assert_match message, output
  end

  def test_it_accepts_this_ruby
    output, ok = extconf("")
    assert ok, output
  end

  def test_other_engines
    assert_refuses(/needs CRuby; this is jruby/, "RUBY_ENGINE = 'jruby'")
  end

  def test_other_versions
    assert_refuses(/needs CRuby 3.1 to 4.0; this is 4.1.0/, "RUBY_VERSION = '4.1.0'")
    assert_refuses(/needs CRuby 3.1 to 4.0; this is 3.0.2/, "RUBY_VERSION = '3.0.2'")
  end

  def test_a_missing_function
    assert_refuses(/has no function that tells which objects are marked, without which/,
                   "require 'mkmf'; def have_func(name, *) = !name.match?(/marked_object_p|obj_gc_flags|object_metadata/)")
    assert_refuses(/has no rb_gc_location, without which/,
                   "require 'mkmf'; def have_func(name, *) = name != 'rb_gc_location'")
  end

  # An extension loads the gem, and raises a LoadError if there is none.
  def test_extensions_load_the_gem
    dir = $LOAD_PATH.find { |path| File.exist?("#{path}/nodes.#{RbConfig::CONFIG['DLEXT']}") }
    assert_equal "5\n", run_with($LOAD_PATH, "require 'nodes'; p Nodes::Node.new(5).id")
    assert_equal "cannot load such file -- rawrefcount\n",
                 run_with([], "begin; require '#{dir}/nodes'; rescue LoadError => e; puts e.message; end; GC.start", "--disable-gems")
  end

  # From 3.4 on, a process can have another collector.
  def test_other_collectors
    program = "GC.define_singleton_method(:config) { { implementation: 'mmtk' } }; " \
              "begin; require 'nodes'; rescue LoadError => e; puts e.message; end; GC.start"
    assert_equal "rawrefcount: needs Ruby's default collector; this is mmtk\n", run_with($LOAD_PATH, program)
  end

  def run_with(path, program, *flags)
    command = [RbConfig.ruby, *flags, *path.map { |dir| "-I#{dir}" }, "-e", program]
    IO.popen({ "RUBYLIB" => nil, "RUBYOPT" => nil }, command, err: %i[child out], &:read)
  end

  def test_a_missing_header
    Dir.mktmpdir do |dir|
      FileUtils.mkdir_p("#{dir}/a/b/c/d")
      FileUtils.cp(EXTCONF, "#{dir}/a/b/c/d/extconf.rb")
      assert_refuses(/rawrefcount.h is neither in/, "", "#{dir}/a/b/c/d/extconf.rb")
    end
  end
end
