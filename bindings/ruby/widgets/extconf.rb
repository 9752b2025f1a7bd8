# frozen_string_literal: true

require "rawrefcount/mkmf"

library = File.expand_path("../../../examples/widgets", __dir__)
$INCFLAGS << " -I#{library}"
$VPATH << library
$srcs = %w[widgets_ruby.c naive.c widgets.c]
$CFLAGS << " -std=gnu99 -Wall -Wextra -Wno-unused-parameter"
create_makefile("widgets_ruby")
