# frozen_string_literal: true

require "minitest/autorun"
require "fileutils"
require "rbconfig"
require "rubygems/package"
require "tmpdir"

# The gem as its users have it: installed into folders of its own, plainly, with --enable-debug,
# and in two versions side by side; and extensions that are built with it. `rake gem` runs this. It says by PACKAGE
# where the unpacked gem is, by GEM_FILE where the packed one is, and by DOCUMENTED where it is installed with its pages.
class TestGems < Minitest::Test
  PACKAGE = ENV.fetch("PACKAGE")
  WORK = Dir.mktmpdir("rawrefcount-gems")
  Minitest.after_run { FileUtils.rm_rf(WORK) }
  VERSION = File.read("#{PACKAGE}/lib/rawrefcount/version.rb")[/"(.*)"/, 1]
  NEWER = VERSION.succ
  README = File.read("#{PACKAGE}/README.md")
  GEM_COMMAND = [RbConfig.ruby, "-rrubygems/gem_runner", "-e", "Gem::GemRunner.new.run(ARGV.dup)", "--"].freeze
  OWN = { "RUBYLIB" => nil, "RUBYOPT" => nil, "GEM_PATH" => nil,
          "BUILD" => nil, "DEBUG" => nil, "MAKEFLAGS" => nil, "MFLAGS" => nil, "MAKELEVEL" => nil }.freeze

  def run_in(dir, home, *command)
    env = OWN.merge("GEM_HOME" => home, "GEM_PATH" => home)
    output = IO.popen(env, command, chdir: dir, err: %i[child out], &:read)
    [output, $?]
  end

  def assert_runs(dir, home, *command)
    output, status = run_in(dir, home, *command)
    assert status.success?, "#{command.join(' ')}: #{status.inspect}: #{output[0, 2000]}"
    output
  end

  # The gem file of the package, or of a newer version of it.
  def self.gem_file(version)
    file = version == VERSION ? ENV.fetch("GEM_FILE") : "#{WORK}/rawrefcount-#{version}.gem"
    return file if File.exist?(file)

    dir = "#{WORK}/package-#{version}"
    FileUtils.cp_r(PACKAGE, dir)
    if version != VERSION
      edit("#{dir}/lib/rawrefcount/version.rb", /#{VERSION}/, version)
      edit("#{dir}/ext/rawrefcount/rawrefcount.h", /(#define RRC_VERSION +)".*"/, "\\1\"#{version}\"")
      edit("#{dir}/ext/rawrefcount/rawrefcount.h", /(#define RRC_ABI +)\d+/, "\\1999")     # so that it does not fit
    end
    system(*GEM_COMMAND, "build", "--output", file, "rawrefcount.gemspec", chdir: dir, out: File::NULL, err: File::NULL) or
      abort "cannot pack"
    file
  end

  def self.edit(path, text, instead)
    after = File.read(path).sub!(text, instead) or abort "#{path}: #{text} is not there"
    File.write(path, after)
  end

  # A folder with these versions installed. Made once.
  def self.home(name, versions, *flags)
    dir = "#{WORK}/home-#{name}"
    return dir if File.exist?(dir)

    versions.each do |version|
      system({ **OWN, "GEM_HOME" => dir }, *GEM_COMMAND, "install", "--local", "--no-document", gem_file(version), "--", *flags,
             out: "#{WORK}/log", err: %i[child out]) or abort File.read("#{WORK}/log")
    end
    dir
  end

  def plain = self.class.home("plain", [VERSION])
  def debug = self.class.home("debug", [VERSION], "--enable-debug")
  def newer = self.class.home("newer", [NEWER])
  def both = self.class.home("both", [VERSION, NEWER])
  def empty = "#{WORK}/home-empty".tap { |dir| FileUtils.mkdir_p(dir) }

  # The files of a part of the README, by the names that it gives them, and its commands, in an empty folder.
  def write_readme(dir, title = "Bind your library in ten minutes", name = "buttons")
    part = README[/^## #{title}$.*?(?=^## )/m]
    part.scan(/^\*\*\d\. `(\S+?)`.*?^```\w+\n(.*?)^```$/m).each { |file, text| File.write("#{dir}/#{file}", text, mode: "a") }
    assert_equal %W[#{name}.c extconf.rb use.rb].sort, Dir.children(dir).sort
    part.scan(/^    (.*?)(?: +#.*)?$/).flatten.grep(/\A(ruby|make)\b/)
  end

  # An extension of the README's text, built with the gem in this home.
  def with_extension(home)
    Dir.mktmpdir do |dir|
      write_readme(dir)
      assert_runs(dir, home, RbConfig.ruby, "extconf.rb")
      output = assert_runs(dir, home, "make")
      refute_match(/warning/, output)
      yield dir
    end
  end

  # What a program that loads it does then; an error that it rescues leaves it whole.
  USE = <<~RUBY
    begin
      require "buttons"
    rescue LoadError => e
      puts e.message
    end
    GC.start
    if defined?(Button)
      b = Button.new
      b.on_click { |sender| p sender.equal?(b) }
      b.click
    end
    puts "done"
  RUBY

  def use(dir, home, *flags) = assert_runs(dir, home, RbConfig.ruby, "-I.", *flags, "-e", USE)

  def test_the_ten_minutes_of_the_readme
    Dir.mktmpdir do |dir|
      commands = write_readme(dir)
      assert_equal ["ruby extconf.rb", "make", "ruby -I. use.rb"], commands
      output = commands.map { |line| assert_runs(dir, plain, *line.sub(/\Aruby/, RbConfig.ruby).split) }
      assert_equal "#{File.read("#{dir}/use.rb")[/# (.*)/, 1]}\n", output.last
    end
  end

  def test_the_wrappers_of_the_readme
    [plain, debug].each do |home|
      Dir.mktmpdir do |dir|
        commands = write_readme(dir, "Your library has reference counts already", "items")
        assert_equal ["ruby extconf.rb", "make", "ruby -I. use.rb"], commands
        output = commands.map { |line| assert_runs(dir, home, *line.sub(/\Aruby/, RbConfig.ruby).split) }
        refute_match(/warning/, output[1])
        assert_equal README[/ruby -I\. use\.rb +# ("Save", .*)/, 1].split(", "), output.last.lines.map(&:chomp)
      end
    end
  end

  def test_the_array_of_the_readme
    [plain, debug].each do |home|
      Dir.mktmpdir do |dir|
        commands = write_readme(dir, "Children in an array", "panels")
        assert_equal ["ruby extconf.rb", "make", "ruby -I. use.rb"], commands
        output = commands.map { |line| assert_runs(dir, home, *line.sub(/\Aruby/, RbConfig.ruby).split) }
        refute_match(/warning/, output[1])
        assert_equal README[/ruby -I\. use\.rb +# (true, .*)/, 1].split(", "), output.last.lines.map(&:chomp)
        assert_equal "true\n", assert_runs(dir, home, RbConfig.ruby, "-I.", "-e", <<~RUBY)
          require "panels"
          before = Rawrefcount.stats[:objects]
          Thread.new { 100.times { Panel.new.tap { |panel| 50.times { panel << Panel.new << -> { panel } } } }; nil }.join
          Thread.new { Panel.new }.join
          2.times { Rawrefcount.collect }
          p Rawrefcount.stats[:objects] - before < 400 && Rawrefcount.check
        RUBY
        # What a script cannot do while the method converts its argument.
        assert_equal "no dispose\n", assert_runs(dir, home, RbConfig.ruby, "-I.", "-e", <<~RUBY)
          require "panels"
          panel, index = Panel.new, Object.new
          panel << "a title"
          index.define_singleton_method(:to_int) { panel.dispose; 0 }
          p((panel[index] rescue puts("no dispose") || exit))
        RUBY
      end
    end
  end

  # ---- the gem as a package ----

  def spec = @spec ||= Gem::Package.new(ENV.fetch("GEM_FILE")).spec

  def test_the_names_of_the_packed_gem
    assert_equal "rawrefcount-#{VERSION}.gem", File.basename(ENV.fetch("GEM_FILE"))
    assert_equal "rawrefcount-#{VERSION}", File.basename(PACKAGE)
    assert_equal ["pkg/rawrefcount-#{VERSION}.gem"], README.scan(%r{pkg/\S+\.gem}).uniq
    dependency = Gem::Requirement.new(README[/add_dependency "rawrefcount", "(.*?)"/, 1])
    assert dependency.satisfied_by?(Gem::Version.new(VERSION))
    assert dependency.satisfied_by?(Gem::Version.new(VERSION).bump)         # 2.1 is compatible, 3.0 is not
    refute dependency.satisfied_by?(Gem::Version.new("#{VERSION.to_i + 1}.0"))
  end

  def test_what_the_gem_says_of_itself
    assert_match(%r{\Ahttps://}, spec.homepage)
    %w[homepage_uri source_code_uri changelog_uri documentation_uri].each { |key| assert_match(%r{\Ahttps://}, spec.metadata[key]) }
    %w[sig/rawrefcount.rbs ext/rawrefcount/rawrefcount.h LICENSE README.md Rakefile].each { |name| assert_includes spec.files, name }
    output, status = Dir.mktmpdir do |dir|
      run_in(PACKAGE, dir, *GEM_COMMAND, "build", "--strict", "--output", "#{dir}/x.gem", "rawrefcount.gemspec")
    end
    assert status.success?, output
    refute_match(/WARNING/, output)
  end

  # Every link of every page leads to a file or section of the gem, or out of it by a whole address.
  def test_links
    pages = spec.files.grep(/\.md\z/)
    assert_operator pages.size, :>=, 4
    pages.each do |page|
      File.read("#{PACKAGE}/#{page}").scan(/\]\(([^)\s]+)\)/).flatten.grep_v(/\Ahttps:/).each do |link|
        path, anchor = link.split("#", 2)
        target = path.empty? ? page : File.expand_path("/#{File.dirname(page)}/#{path}").delete_prefix("/")
        assert spec.files.any? { |name| name == target || name.start_with?("#{target}/") }, "#{page}: #{link}"
        next unless anchor

        titles = File.read("#{PACKAGE}/#{target}").scan(/^#+ (.*)$/).flatten.map { |title| title.downcase.delete("^a-z0-9 -").tr(" ", "-") }
        assert_includes titles, anchor, "#{page}: #{link}"
      end
    end
  end

  # The tree builds its extension, and itself again.
  def test_tasks_of_the_unpacked_gem
    Dir.mktmpdir do |dir|
      tree, home = "#{dir}/tree", "#{dir}/home"
      assert_runs(dir, home, *GEM_COMMAND, "unpack", "--target", tree, ENV.fetch("GEM_FILE"))
      tree = "#{tree}/rawrefcount-#{VERSION}"
      rake = [RbConfig.ruby, "-I#{Gem::Specification.find_by_name('rake').full_require_paths[0]}", "-rrake", "-e", "Rake.application.run", "--"]
      assert_runs(tree, home, *rake, "compile")
      assert_path_exists File.join(tree, "tmp", "lib", "rawrefcount", "rawrefcount.#{RbConfig::CONFIG['DLEXT']}")
      assert_runs(tree, home, *rake, "install")
      assert_path_exists "#{tree}/pkg/rawrefcount-#{VERSION}.gem"
      again = Gem::Package.new("#{tree}/pkg/rawrefcount-#{VERSION}.gem").spec
      assert_equal spec.files, again.files
      assert_equal "#{VERSION}\n", assert_runs(dir, home, RbConfig.ruby, "-rrawrefcount", "-e", "puts Rawrefcount::VERSION")
    end
  end

  # ---- signatures and documentation ----

  SIGNATURES = File.read("#{PACKAGE}/sig/rawrefcount.rbs")

  def signed
    modules, objects, disposables = SIGNATURES.split(/^  (?:class Object|module Disposable)/)
    [modules.scan(/^  def self\??\.(\S+):/).flatten.sort,
     *[objects, disposables].map { |text| text.scan(/def (\S+):/).flatten.sort }]
  end

  def test_signatures
    assert_equal signed.inspect, assert_runs(WORK, plain, RbConfig.ruby, "-rrawrefcount", "-e", <<~RUBY).chomp
      print [Rawrefcount.singleton_methods.map(&:to_s).sort, Rawrefcount::Object.instance_methods(false).map(&:to_s).sort,
             Rawrefcount::Disposable.instance_methods(false).map(&:to_s).sort].inspect
    RUBY
    begin
      gem "rbs"
    rescue LoadError
      skip "there is no rbs"
    end
    rbs = [RbConfig.ruby, "-e", 'gem "rbs"; load Gem.bin_path("rbs", "rbs")', "--"]
    output = IO.popen([*rbs, "-I", "#{PACKAGE}/sig", "validate"], err: %i[child out], &:read)
    assert $?.success?, output
  end

  # Where RDoc has a plugin for RubyGems (with 3.4), there are packages of Ruby that lack it. From 4.0 on, RDoc is a
  # bundled gem: one that is built from the sources of Ruby's repository has none.
  def self.makes_pages?
    require "rubygems/rdoc"
    return false unless defined?(::RDoc)

    by_plugin = Gem.respond_to?(:rdoc_hooks_defined_via_plugin?) && Gem.rdoc_hooks_defined_via_plugin?
    !by_plugin || Gem.find_files("rubygems_plugin.rb").any? { |path| path.include?("rdoc") }
  end

  def test_pages_for_ri
    skip "this Ruby lacks RDoc, or its plugin for RubyGems" unless self.class.makes_pages?

    ri = "#{ENV.fetch('DOCUMENTED')}/doc/rawrefcount-#{VERSION}/ri"
    names = signed[0].map { |name| "Rawrefcount.#{name.delete_suffix('=')}" } + signed[1].map { |name| "Rawrefcount::Object##{name}" } +
            signed[2].map { |name| "Rawrefcount::Disposable##{name}" }
    [*names.uniq, "Rawrefcount", "Rawrefcount::Object", "Rawrefcount::Disposable", "Rawrefcount::DisposedError"].each do |name|
      output, status = run_in(WORK, empty, "ri", "-T", "--no-standard-docs", "-d", ri, name)
      assert status.success?, output
      assert_operator output.scan(/^[A-Z@].*[a-z]/).size, :>=, 1, "#{name}: #{output}"
    end
    { "README" => /rawrefcount for Ruby.*\| the wrapper's.*How it is tested/m, "CHANGELOG" => /first version/ }.each do |name, text|
      assert_match text, assert_runs(WORK, ENV.fetch("DOCUMENTED"), "ri", "-T", "-f", "rdoc", "rawrefcount:#{name}")
    end
  end

  def test_an_extension_loads_the_gem
    with_extension(plain) do |dir|
      assert_equal "true\ndone\n", use(dir, plain)
      assert_equal "true\ndone\n", use(dir, plain, "-rrawrefcount")
    end
  end

  def test_a_missing_gem_is_an_error_like_any_other
    with_extension(plain) do |dir|
      output = use(dir, empty)
      assert_match(/\ACould not find 'rawrefcount' \(= #{VERSION}\) among/, output)
      assert_match(/^done\n\z/, output)
      assert_equal "cannot load such file -- rawrefcount\ndone\n", use(dir, empty, "--disable-gems")
    end
  end

  def test_two_versions_side_by_side
    with_extension(both) do |dir|
      assert_equal "true\ndone\n", use(dir, both)
      assert_equal "true\ndone\n", use(dir, both, "-rrawrefcount")
    end
  end

  # A newer version was installed after the extension was built.
  def test_the_version_that_it_was_built_with
    with_extension(plain) do |dir|
      assert_equal "true\ndone\n", use(dir, both)
      output = use(dir, both, "-rrawrefcount")
      assert_match(/^this extension was built for another version of rawrefcount than #{NEWER}, .*: build it again/, output)
      assert_match(/^done\n\z/, output)
    end
  end

  def test_the_version_that_it_was_built_with_is_gone
    with_extension(plain) do |dir|
      output = use(dir, newer)
      assert_match(/\ACould not find 'rawrefcount' \(= #{VERSION}\) - did find: \[rawrefcount-#{NEWER}\]/, output)
      assert_match(/^done\n\z/, output)
    end
  end

  # Without RubyGems, from a folder in $LOAD_PATH.
  def test_the_gem_in_the_load_path
    with_extension(plain) do |dir|
      folders = ["lib/rawrefcount.rb", "rawrefcount/rawrefcount.#{RbConfig::CONFIG['DLEXT']}"].map do |file|
        "-I#{Dir["#{plain}/**/#{file}"].first.delete_suffix(file)}#{'lib' if file.start_with?('lib')}"
      end
      assert_equal "true\ndone\n", use(dir, empty, *folders, "-rrawrefcount")
      assert_equal "true\ndone\n", use(dir, empty, *folders, "--disable-gems")
    end
  end

  # The extension is a gem itself: installed beside both versions; or before the newer one.
  def test_an_extension_that_is_a_gem
    [[VERSION, NEWER, :buttons], [VERSION, :buttons, NEWER]].each do |order|
      Dir.mktmpdir do |dir|
        write_readme(dir)
        File.write("#{dir}/buttons.gemspec", <<~RUBY)
          Gem::Specification.new do |s|
            s.name = "buttons"
            s.version = "1"
            s.summary = s.author = "buttons"
            s.files = %w[buttons.c extconf.rb]
            s.extensions = ["extconf.rb"]
            s.#{README[/add_dependency "rawrefcount".*?(?=`)/]}
          end
        RUBY
        home = "#{dir}/home"
        assert_runs(dir, home, *GEM_COMMAND, "build", "buttons.gemspec")
        order.each do |gem|
          file = gem == :buttons ? "buttons-1.gem" : self.class.gem_file(gem)
          assert_runs(dir, home, *GEM_COMMAND, "install", "--local", "--no-document", file)
        end
        assert_equal "true\ndone\n", assert_runs(dir, home, RbConfig.ruby, "-e", USE)
      end
    end
  end

  def test_a_debug_gem_hands_its_settings_on
    with_extension(debug) do |dir|
      assert_match(/-DRRC_DEBUG\b/, File.read("#{dir}/Makefile"))
      assert_equal "true\ndone\n", use(dir, debug)
    end
    with_extension(plain) do |dir|
      refute_match(/-DRRC_DEBUG\b/, File.read("#{dir}/Makefile"))
      assert_equal "true\ndone\n", use(dir, plain)
    end
  end

  def test_settings_that_do_not_match
    with_extension(plain) do |dir|
      output = use(dir, debug)
      assert_match(/or with other settings: build it again, by make clean and make \(it has: .*RRC_DEBUG 0/, output)
      assert_match(/^done\n\z/, output)
      README[/^ruby extconf\.rb && .*/].split(" && ").each do |line|
        assert_runs(dir, debug, *line.sub(/\Aruby/, RbConfig.ruby).split)
      end
      assert_equal "true\ndone\n", use(dir, debug)
    end
  end
end
