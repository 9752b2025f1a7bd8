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
    assert_refuses(/needs CRuby 3.1 to 3.4; this is 4.0.1/, "RUBY_VERSION = '4.0.1'")
    assert_refuses(/needs CRuby 3.1 to 3.4; this is 3.0.2/, "RUBY_VERSION = '3.0.2'")
  end

  def test_a_missing_function
    assert_refuses(/has neither rb_objspace_marked_object_p nor rb_obj_gc_flags, without which/,
                   "require 'mkmf'; def have_func(name, *) = !%w[rb_objspace_marked_object_p rb_obj_gc_flags].include?(name)")
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
