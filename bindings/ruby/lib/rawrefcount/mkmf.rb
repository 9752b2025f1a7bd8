# frozen_string_literal: true

# For the extconf.rb of an extension that uses rrc_ruby.h.
require "mkmf"
require_relative "version"
require "rawrefcount/settings"          # of the library that is built

[File.expand_path("../../ext/rawrefcount", __dir__), File.expand_path("../../../..", __dir__)].each do |dir|
  next if !File.exist?(File.join(dir, "rrc_ruby.h")) && !File.exist?(File.join(dir, "rawrefcount.h"))

  $INCFLAGS << " -I#{dir}"
end
# The gem of which this file is a part, if it is one: rrc_ruby_init asks for the same version.
gem = Gem.loaded_specs["rawrefcount"] if defined?(Gem)
if gem && __dir__.start_with?("#{gem.full_gem_path}/")
  $defs << "-DRRC_RUBY_GEM_VERSION=\\\"#{gem.version}\\\""
end
$defs.concat(Rawrefcount::SETTINGS)

# Its functions are found when they are called, in the library of the gem: rrc_ruby_init loads that first.
[$DLDFLAGS, $LDFLAGS].each { |flags| flags.gsub!(/-Wl,(-z,defs|--no-undefined|-z,now)(?=\s|\z)/, "") }
$LDFLAGS << " -Wl,-z,lazy" if try_ldflags("-Wl,-z,lazy")
