# frozen_string_literal: true

require "rawrefcount/mkmf"
$INCFLAGS << " -I#{File.expand_path('../../../../tests', __dir__)}"        # the gem has foreign.h here
$CFLAGS << " -std=gnu99 -Wall -Wextra -Wno-unused-parameter"
$CFLAGS << " #{ENV['RAWREFCOUNT_CFLAGS']}" if ENV["RAWREFCOUNT_CFLAGS"]
create_makefile("nodes")
