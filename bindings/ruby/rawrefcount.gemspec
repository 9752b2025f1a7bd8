# frozen_string_literal: true

require_relative "lib/rawrefcount/version"

# `rake build` packs it, in a tree that has the header, the license and the examples as well.
Gem::Specification.new do |s|
  s.name = "rawrefcount"
  s.version = Rawrefcount::VERSION
  s.summary = "Joins counted C objects with Ruby's collector"
  s.description = "For C extensions: wrappers that stay the same, C references to any Ruby value, and no leaks, " \
                  "not even of garbage cycles through both heaps. Follows compaction."
  s.authors = ["The authors of rawrefcount.h"]
  s.licenses = %w[MIT Unlicense]
  s.homepage = "https://example.org/rawrefcount"        # where the project's repository is
  s.metadata = {
    "homepage_uri" => s.homepage,
    "source_code_uri" => "#{s.homepage}/tree/main/bindings/ruby",
    "changelog_uri" => "#{s.homepage}/blob/main/bindings/ruby/CHANGELOG.md",
    "documentation_uri" => "#{s.homepage}/blob/main/bindings/ruby/README.md",
    "rubygems_mfa_required" => "true"
  }
  s.files = Dir.chdir(__dir__) do
    Dir["{lib,ext,sig,test,bench,widgets,examples,docs}/**/*.{rb,c,h,rbs,md,png,txt,sh}"].sort +
      %w[README.md ri-README.md CHANGELOG.md LICENSE Rakefile rawrefcount.gemspec].select { |name| File.exist?(name) }
  end
  s.extensions = ["ext/rawrefcount/extconf.rb"]
  s.extra_rdoc_files = s.files & %w[ri-README.md CHANGELOG.md ext/rawrefcount/insight.c ext/rawrefcount/objects.c]
  s.rdoc_options = ["--main", "ri-README.md"]
  s.required_ruby_version = [">= 3.1", "< 4.1"]
end
