# frozen_string_literal: true

# For the extconf.rb of an extension that uses rrc_ruby.h.
require "mkmf"

[File.expand_path("../../ext/rawrefcount", __dir__), File.expand_path("../../../..", __dir__)].each do |dir|
  next if !File.exist?(File.join(dir, "rrc_ruby.h")) && !File.exist?(File.join(dir, "rawrefcount.h"))

  $INCFLAGS << " -I#{dir}"
end
# Its functions are found when the extension is loaded, in the library of the gem.
$DLDFLAGS.gsub!(/-Wl,(-z,defs|--no-undefined)/, "")
