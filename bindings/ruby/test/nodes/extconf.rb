# frozen_string_literal: true

require "rawrefcount/mkmf"
$CFLAGS << " -std=gnu99 -Wall -Wextra -Wno-unused-parameter"
$CFLAGS << " #{ENV['RAWREFCOUNT_CFLAGS']}" if ENV["RAWREFCOUNT_CFLAGS"]
create_makefile("nodes")
