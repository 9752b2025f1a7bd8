# frozen_string_literal: true

require_relative "lib/rawrefcount/version"

# Packed by `rake gem`, which puts rawrefcount.h and LICENSE where they are named here.
Gem::Specification.new do |s|
  s.name = "rawrefcount"
  s.version = Rawrefcount::VERSION
  s.summary = "Joins counted C objects with Ruby's collector"
  s.description = "For C extensions: wrappers that stay the same, C references to any Ruby value, and no leaks, " \
                  "not even of garbage cycles through both heaps. Follows compaction."
  s.authors = ["The authors of rawrefcount.h"]
  s.licenses = %w[MIT Unlicense]
  s.files = Dir["lib/**/*.rb"] + Dir["ext/**/*.{c,h,rb}"] + %w[ext/rawrefcount/rawrefcount.h README.md CHANGELOG.md LICENSE]
  s.files.uniq!
  s.extensions = ["ext/rawrefcount/extconf.rb"]
  s.required_ruby_version = [">= 3.1", "< 3.4"]
end
