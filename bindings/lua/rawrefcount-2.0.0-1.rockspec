package = "rawrefcount"
version = "2.0.0-1"
source = {
  url = "git+https://example.org/rawrefcount.git",    -- where the project's repository is
}
description = {
  summary = "Reference-counted C objects in Lua, without leaks through callbacks",
  detailed = [[
    The module tells scripts about objects of C libraries that are bound with rrc_lua.h:
    collect, step, stats, explain, graph. The headers for such bindings are installed with it.
  ]],
  license = "MIT/X11 or public domain",
}
dependencies = {
  "lua >= 5.1, < 5.6",
}
build = {
  type = "builtin",
  modules = {
    rawrefcount = {
      sources = { "bindings/lua/rawrefcount.c" },
      incdirs = { ".", "bindings/lua", "bindings/insight", "bindings/closed" },
    },
  },
  install = {
    conf = {
      ["include/rawrefcount.h"] = "rawrefcount.h",
      ["include/rrc_lua.h"] = "bindings/lua/rrc_lua.h",
      ["include/rrc_lua_insight.h"] = "bindings/lua/rrc_lua_insight.h",
      ["include/rrc_closed.h"] = "bindings/closed/rrc_closed.h",
      ["include/rrc_insight.h"] = "bindings/insight/rrc_insight.h",
      ["include/rrc_weak.h"] = "bindings/weak/rrc_weak.h",
    },
  },
}
