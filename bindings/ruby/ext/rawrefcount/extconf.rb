# frozen_string_literal: true

# Each reason why the extension cannot be built is told in one sentence.
abort "rawrefcount: needs CRuby; this is #{RUBY_ENGINE}." unless RUBY_ENGINE == "ruby"
unless (Gem::Version.new("3.1")...Gem::Version.new("3.4.0.a")).cover?(Gem::Version.new(RUBY_VERSION))
  abort "rawrefcount: needs CRuby 3.1, 3.2 or 3.3; this is #{RUBY_VERSION}. " \
        "(From 3.4 on, Ruby does not export the function that tells which objects are marked.)"
end

require "mkmf"

# The header lies here in a packed gem, and at the root of the project in its repository.
root = [__dir__, File.expand_path("../../../..", __dir__)].find do |dir|
  File.exist?(File.join(dir, "rawrefcount.h"))
end
abort "rawrefcount: rawrefcount.h is neither in #{__dir__} nor at the root of the project." unless root
$INCFLAGS << " -I#{root}" unless root == __dir__

%w[rb_objspace_marked_object_p rb_objspace_reachable_objects_from rb_objspace_reachable_objects_from_root
   rb_obj_memsize_of    rb_gc_mark_movable rb_gc_location rb_postponed_job_register_one rb_tracepoint_new].each do |function|
  have_func(function) || abort("rawrefcount: this Ruby (#{RUBY_DESCRIPTION}) has no #{function}, " \
                               "without which nothing can be told about its collections.")
end
have_library("dl", "dladdr") || have_func("dladdr", "dlfcn.h") ||
  abort("rawrefcount: needs dladdr and dlopen, to let extensions see its functions.")

$CFLAGS << " -std=gnu99 -Wall -Wextra -Wno-unused-parameter"
$CFLAGS << " #{ENV['RAWREFCOUNT_CFLAGS']}" if ENV["RAWREFCOUNT_CFLAGS"]
# Our own calls are to our own functions, though these are visible to others.
$CFLAGS << " -fno-semantic-interposition" if try_cflags("-fno-semantic-interposition")
$DLDFLAGS << " -Wl,-Bsymbolic-functions" if try_ldflags("-Wl,-Bsymbolic-functions")
# Extensions must be built with the same settings: rawrefcount/mkmf reads them from this file, which
# is installed beside the library.
settings = enable_config("debug", false) ? ["-DRRC_DEBUG"] : []
$defs.concat(settings)
File.write("settings.rb", <<~RUBY)
  # frozen_string_literal: true

  # Written by extconf.rb.
  module Rawrefcount
    SETTINGS = #{settings.inspect}.freeze
  end
RUBY
$INSTALLFILES = [["./settings.rb", "$(RUBYARCHDIR)"]]
$distcleanfiles << "settings.rb"
create_makefile("rawrefcount/rawrefcount")
