# frozen_string_literal: true

# Each reason why the extension cannot be built is told in one sentence.
abort "rawrefcount: needs CRuby; this is #{RUBY_ENGINE}." unless RUBY_ENGINE == "ruby"
unless (Gem::Version.new("3.1")...Gem::Version.new("4.1.0.a")).cover?(Gem::Version.new(RUBY_VERSION))
  abort "rawrefcount: needs CRuby 3.1 to 4.0; this is #{RUBY_VERSION}. " \
        "(Another version may lack the functions that tell about its collections, or have others.)"
end

require "mkmf"

# The headers lie here in a packed gem, and at the root of the project and below it in its repository.
root = [__dir__, File.expand_path("../../../..", __dir__)].find do |dir|
  File.exist?(File.join(dir, "rawrefcount.h"))
end
abort "rawrefcount: rawrefcount.h is neither in #{__dir__} nor at the root of the project." unless root
$INCFLAGS << " -I#{root} -I#{root}/bindings/insight" unless root == __dir__

# What tells which objects are marked: to 3.3; in 3.4; in 4.0.
%w[rb_objspace_marked_object_p rb_obj_gc_flags rb_gc_object_metadata].any? { |function| have_func(function) } ||
  abort("rawrefcount: this Ruby (#{RUBY_DESCRIPTION}) has no function that tells which objects are marked, " \
        "without which nothing can be told about its collections.")
%w[rb_objspace_reachable_objects_from rb_objspace_reachable_objects_from_root
   rb_obj_memsize_of rb_gc_mark_movable rb_gc_location rb_tracepoint_new].each do |function|
  have_func(function) || abort("rawrefcount: this Ruby (#{RUBY_DESCRIPTION}) has no #{function}, " \
                               "without which nothing can be told about its collections.")
end
have_func("rb_postponed_job_preregister", "ruby/debug.h")      # from 3.3 on
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

  module Rawrefcount
    # The flags of the library, with which extensions are compiled, too. Written by extconf.rb.
    SETTINGS = #{settings.inspect}.freeze
  end
RUBY
$INSTALLFILES = [["./settings.rb", "$(RUBYARCHDIR)"]]
$distcleanfiles << "settings.rb"
create_makefile("rawrefcount/rawrefcount")
