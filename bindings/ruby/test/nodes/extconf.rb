# frozen_string_literal: true

require "rawrefcount/mkmf"
$CFLAGS << " -std=gnu99 -Wall -Wextra -Wno-unused-parameter"
$CFLAGS << " #{ENV['RAWREFCOUNT_CFLAGS']}" if ENV["RAWREFCOUNT_CFLAGS"]
$defs << "-DRRC_DEBUG" if enable_config("debug", false)
create_makefile("nodes")
