-- What a class can have beside methods and properties, and values that go from C to Lua and back.

local rawrefcount = require "rawrefcount"
local classes = require "classes"
local Open, Strict, Bag = classes.Open, classes.Strict, classes.Bag

local is_51 = _VERSION == "Lua 5.1"     -- LuaJIT, too
local passed, failed = 0, 0
-- (A function that C knew has its object as long as it lives: global ones would be left.)
local function case(name, f)
  local ok, message = xpcall(f, debug.traceback)
  f = nil
  for _ = 1, 3 do rawrefcount.collect() end
  if ok and rawrefcount.stats().objects > 0 then
    ok, message = false, rawrefcount.stats().objects .. " objects are left:\n" .. rawrefcount.graph()
  end
  if ok then passed = passed + 1 else failed = failed + 1 print("FAILED: " .. name .. ": " .. message) end
end

local function equal(actual, expected)
  if actual ~= expected then error(("%s, not %s"):format(tostring(actual), tostring(expected)), 2) end
end

local function fails(message, f, ...)
  local ok, text = pcall(f, ...)
  if ok then error("no error", 2) end
  if not tostring(text):find(message, 1, true) then error("another error: " .. tostring(text), 2) end
end

-- The whole message, after the place in this file.
local function is(expected, f)
  local text = select(2, pcall(f))
  local place, rest = tostring(text):match("^(.-classes%.lua:%d+:) (.*)$")
  if not place then error("no place: " .. tostring(text), 2) end
  if rest ~= expected then error("another error: " .. rest, 2) end
end

-- A userdata of others, with a __name.
local function foreign()
  if is_51 then
    local u = newproxy(true)
    getmetatable(u).__name = "other.thing"
    return u, "other.thing"
  end
  local meta = debug.getmetatable(io.stdout)
  local name = rawget(meta, "__name")
  meta.__name = "FILE*"                 -- 5.2 has none
  return io.stdout, "FILE*", function() meta.__name = name end
end

-- ---- classes ----

case("a class makes its objects", function()
  local t = Open("one")
  equal(t.text, "one")
  assert(tostring(t):find("^Open: "))
  equal(Open().text, "")
  fails("bad argument #1", Open, {})
  fails("attempt to call", function() return classes.Thing() end)
  fails("attempt to call", function() return classes.StrictChild() end)
  function Open.double(self) return self.text .. self.text end
  equal(Open("ab"):double(), "abab")
  Open.double = nil
end)

case("constants of classes, and of their bases", function()
  equal(classes.Thing.HIGH, 7) equal(classes.Thing.LOW, -1)
  equal(Open.HIGH, 8) equal(Open.LOW, -1) equal(Strict.HIGH, 7)
  equal(Open("x").HIGH, 8) equal(Strict("x").LOW, -1)
  is("HIGH of Open cannot be set", function() Open("x").HIGH = 1 end)
  if math.type then equal(math.type(Open.HIGH), "integer") end
end)

case("a strict class knows what it has", function()
  for _, t in ipairs { Strict("s"), classes.child("s") } do
    local name = tostring(t):match("^%a+")
    equal(t.text, "s")
    t.text = "changed"
    equal(t.text, "changed")
    t:poke()
    equal(t.nothing, nil)
    is(("%s has no property txet"):format(name), function() return t.txet end)
    is(("%s has no property txet"):format(name), function() t.txet = "x" end)
    is(("%s has no property txet"):format(name), function() t.txet = nil end)
    is(("%s has no property 1"):format(name), function() return t[1] end)
    is(("%s has no property a table"):format(name), function() return t[{}] end)
    is(("sink of %s cannot be read"):format(name), function() return t.sink end)
    is(("nothing of %s cannot be set"):format(name), function() t.nothing = 1 end)
    t.sink = 5
    t:close()
    is(("this %s was closed"):format(name), function() return t.txet end)
  end
  function Strict.added(self) return self.text end
  equal(Strict("m"):added(), "m") equal(classes.child("c"):added(), "c")
  Strict.added = nil
  equal(Open("o").txet, nil)
  equal(Open("o").sink, nil)
end)

case("properties that only the library knows", function()
  local b = Bag()
  equal(b.x_1, nil)
  b.x_1, b[2] = 10, 20
  equal(b.x_1, 10) equal(b[1], 10) equal(b.x_2, 20) equal(b[3], nil)
  b.note = "a note"                     -- a field of the script
  equal(b.note, "a note") equal(b.other, nil)
  b.text = "text"
  equal(b.text, "text")
  is("cannot get x_9 of Bag: there are 4", function() return b.x_9 end)
  is("cannot set 5 of Bag: there are 4", function() b[5] = 1 end)
  is("bad value for x_1 of Bag (number expected, got table)", function() b.x_1 = {} end)
  is("this Bag was closed", function() b.x_1 = 13 end)
  is("this Bag was closed", function() b.x_1 = 10 end)
  is("this Bag was closed", function() return b.x_1 end)
end)

case("a strict class whose properties only the library knows", function()
  local b = classes.StrictBag()
  equal(b.x_1, nil)                     -- known, and nil
  b.x_1 = 5
  equal(b.x_1, 5) equal(b[1], 5)
  is("StrictBag has no property other", function() return b.other end)
  is("StrictBag has no property other", function() b.other = 1 end)
  is("this StrictBag was closed", function() b.x_1 = 13 end)
end)

case("pairs: properties and fields", function()
  local function all(object)
    local seen, count = {}, 0
    for name, value in (is_51 and classes.pairs or pairs)(object) do
      assert(seen[name] == nil)
      seen[name], count = value, count + 1
    end
    return seen, count
  end
  local t = Open("t")
  local seen, count = all(t)
  equal(count, 2) equal(seen.text, "t") equal(seen.more, "t")
  t.mine, t[1] = "field", true
  seen, count = all(t)
  equal(count, 4) equal(seen.mine, "field") equal(seen[1], true)
  seen, count = all(Strict("s"))
  equal(count, 1) equal(seen.text, "s")
  for name in rawrefcount.pairs(t) do
    if name == "mine" or name == 1 then t[name] = nil end       -- while it goes
  end
  seen, count = all(t)
  equal(count, 2)
  t:close()
  fails("this Open was closed", classes.pairs, t)
  fails("an object of C expected, got table", classes.pairs, {})
end)

case("a class's own tostring also has closed objects", function()
  local b = Bag()
  equal(tostring(b), "a bag of 4")
  b:close()
  equal(tostring(b), "Bag (closed)")
end)

case("messages name what others have made", function()
  local u, name, done = foreign()
  local t = Open("t")
  fails("Thing expected, got " .. name, t.poke, u)
  fails("Thing expected, got my table", t.poke, setmetatable({}, { __name = "my table" }))
  fails("Thing expected, got table", t.poke, setmetatable({}, { __name = 5 }))
  if done then done() end
end)

-- ---- values ----

case("a callback gets values of C, and gives some", function()
  local t, got = Open("t")
  local large = classes.send(function() return nil, nil, 0, 0, 0 end, t) == nil and 1024 * 1024 * 1024 * 1024
  local function f(...)
    got = { n = select("#", ...), ... }
    return got[1], got[2], got[3], got[4], got[5]
  end
  local any, truth, integer, big, number = classes.send(f, t)
  equal(got.n, 9)
  equal(got[1], t) equal(got[2], true) equal(got[3], -5) equal(got[4], large) equal(got[5], 2.5)
  equal(got[6], "text") equal(got[7], "a\0b") equal(got[8], nil) equal(got[9], nil)
  equal(any, t) equal(truth, true) equal(integer, -5) equal(big, large) equal(number, 2.5)
  if math.type then equal(math.type(got[3]), "integer") equal(math.type(got[5]), "float") end
end)

case("results of each kind", function()
  local function result(kind, ...)
    local values = { n = select("#", ...), ... }
    return classes.result(function() return (unpack or table.unpack)(values, 1, values.n) end, kind)
  end
  for _, value in ipairs { "text", 5, true, false, function() end, { 1 }, Open("o") } do
    equal(result("o", value, "more"), value)
    equal(result("b", value), not not value)
  end
  equal(result("o"), nil) equal(result("o", nil, 5), nil)
  equal(result("b"), false) equal(result("b", nil), false)
  equal(result("i", 5), 5) equal(result("i", "-2147483648"), tonumber("-2147483648")) equal(result("i", "12"), 12)
  equal(result("I", 2 ^ 40), 2 ^ 40)
  equal(result("n", 2.5), 2.5) equal(result("n", "0x10"), 16)
  fails("bad result #1 of a callback (integer expected, got nil)", result, "i")
  fails("bad result #1 of a callback (integer expected, got 1.5)", result, "i", 1.5)
  fails("bad result #1 of a callback (integer expected, got 2147483648)", result, "i", 2147483648)
  fails("bad result #1 of a callback (integer expected, got Open)", result, "i", Open("x"))
  fails("bad result #1 of a callback (integer expected, got boolean)", result, "I", true)
  fails("bad result #1 of a callback (number expected, got table)", result, "n", {})
  fails("bad result #1 of a callback (number expected, got nil)", result, "n")
  fails('"?" is no format', result, "?")
  fails('"i>s" is no format', result, ">")
end)

case("after an error of a callback, or in its results, nothing is left", function()
  local o = Open("o")
  equal(classes.results(function() return "a", o, {}, 1, 2, 3 end), false)
  rawrefcount.collect()
  local before = rawrefcount.stats().objects
  local is_empty, message = classes.results(function() return "a", o, {}, 1, 2, {} end)
  equal(is_empty, true)
  assert(message:find("bad result #6 of a callback (integer expected, got table)", 1, true), message)
  equal(classes.results(function() return "a", o, {}, 1 end), true)
  equal(classes.results(function() error("in a callback") end), true)
  equal(classes.results(coroutine.create(function() return "a", o, {}, 1, 2, "x" end)), true)
  rawrefcount.collect()
  equal(rawrefcount.stats().objects, before)
  local function f() error("in a callback") end
  fails("in a callback", classes.result, f, "i")
  fails("stack traceback", classes.result, f, "i")
  fails("in a callback", classes.call, f, o)
  fails("stack traceback", classes.call, f, o)
  local t = {}
  equal(select(2, pcall(classes.result, function() error(t) end, "i")), t)
  equal(select(2, pcall(classes.call, function() error(t) end, o)), t)
end)

case("a coroutine is a callback", function()
  local got = {}
  local co = coroutine.create(function(a, b)
    while true do
      got = { a, b }
      a, b = coroutine.yield(a, 1)
    end
  end)
  local o = Open("o")
  classes.call(co, o, "x")
  equal(got[1], o) equal(got[2], "x")
  classes.call(co, "y")
  equal(got[1], "y") equal(got[2], nil)
  equal(classes.result(co, "o"), nil)
  local n = 0
  local counter = coroutine.create(function() while true do n = n + 1 coroutine.yield(n) end end)
  equal(classes.result(counter, "i"), 1) equal(classes.result(counter, "i"), 2)
  local ends = coroutine.create(function() return 5, 6 end)
  equal(classes.result(ends, "i"), 5)
  fails("a coroutine that has ended", classes.call, ends)
  local inner
  inner = coroutine.create(function() classes.call(inner) end)
  fails("a coroutine that runs already", classes.call, inner)
  fails("a coroutine that has ended", classes.call, inner)
  local function deep() error("in a coroutine") end
  local function make() return coroutine.create(function() coroutine.yield() deep() end) end
  local fail = make()
  classes.call(fail)
  local ok, message = pcall(classes.call, fail)
  assert(message:find("in a coroutine", 1, true) and message:find("stack traceback:.*deep"), message)
  equal(select(2, message:gsub("stack traceback:", "")), 1)
  local t = {}
  equal(select(2, pcall(classes.call, coroutine.create(function() error(t) end))), t)
  classes.call(coroutine.create(function(...) equal(select("#", ...), 4) end), 1, nil, 3, nil)
  local many = {}
  for i = 1, 300 do many[i] = i end
  equal(classes.result(coroutine.create(function() return (unpack or table.unpack)(many) end), "i"), 1)
  -- From a coroutine, whose callbacks are coroutines.
  local order = {}
  local outer = coroutine.wrap(function()
    for i = 1, 3 do
      classes.call(coroutine.create(function(x) order[#order + 1] = x coroutine.yield(o) order = nil end), i)
      coroutine.yield()
    end
  end)
  outer() outer() outer()
  equal(table.concat(order, " "), "1 2 3")
end)

if _VERSION == "Lua 5.4" or _VERSION == "Lua 5.5" then
  case("a coroutine that fails closes its variables", load [[
    local classes = require "classes"
    local closed
    local co = coroutine.create(function()
      local x <close> = setmetatable({}, { __close = function(_, message) closed = message end })
      coroutine.yield()
      error("oops")
    end)
    classes.call(co)
    assert(not closed)
    local ok, message = pcall(classes.call, co)
    assert(not ok and message:find("oops"), message)
    assert(closed:find("oops$"), closed)
  ]])
end

case("texts of strings", function()
  equal(classes.text_of("text"), "text") equal(classes.text_of(""), "") equal(classes.text_of("a\0b"), "a\0b")
  equal(classes.text_of(5), nil) equal(classes.text_of({}), nil) equal(classes.text_of(Open("o")), nil)
  local long = ("x"):rep(10000)
  equal(classes.text_of(long), long)
end)

case("equal values are the same key", function()
  local is_same_key, nan = classes.is_same_key, 0 / 0
  local long = ("x"):rep(1000)
  local function f() end
  for _, value in ipairs { "text", long, 5, 1.5, true, false, f, {}, Open("o"), coroutine.create(f) } do
    local has_identity = type(value) ~= "string" and type(value) ~= "number" and type(value) ~= "boolean"
    equal(is_same_key(value, value), true)
    equal(classes.peek(value), has_identity)
    classes.hold_key(value)
    equal(classes.peek(value), true)
    for _ = 1, 3 do rawrefcount.collect() end
    equal(classes.peek(value), true)
    equal(is_same_key(value, value), true)
    classes.hold_key(nil)
    equal(classes.peek(value), has_identity)
  end
  equal(is_same_key("te" .. "xt", table.concat { "t", "ext" }), true)
  equal(is_same_key(("x"):rep(500) .. ("x"):rep(500), long), true)
  equal(is_same_key("1", 1), false) equal(is_same_key(1, 1.5), false) equal(is_same_key(true, false), false)
  equal(is_same_key({}, {}), false)
  equal(is_same_key(nan, nan), false)
  classes.hold_key("te" .. "xt")
  collectgarbage() collectgarbage()
  equal(classes.peek("text"), true) equal(classes.peek("texts"), false) equal(classes.peek(nil), false)
  equal(classes.result(function() return "text" end, "o"), "text")    -- an ob of its own
  equal(classes.peek("text"), true)
  classes.hold_key(nil)
  equal(classes.peek("text"), false)
end)

case("callbacks from stacks of each height", function()
  local o, calls, args = Open("o"), 0, 0
  local function callback(...)
    calls, args = calls + 1, args + select("#", ...)
    assert(select("#", ...) == 0 or select(-1, ...) == o and (...) == o)
  end
  for height = 14, 34 do              -- (LuaJIT compiles what runs more often, and holds it)
    equal(classes.call_from(height, callback), true)
    equal(classes.call_from(height, callback, o), true)
    equal(classes.call_from(height, callback, o, o, o), true)
  end
  equal(calls, 63) equal(args, 84)
end)

-- ---- references of a method ----

case("a method that raises drops its references, and gives results otherwise", function()
  local o, f = Open("o"), function() error("in a script") end
  fails("in a script", classes.raise_with, f, o, "text", 5)
  local before = rawrefcount.stats().objects
  fails("in a script", classes.raise_with, f, o, "text", 5)
  equal(rawrefcount.stats().objects, before)
  fails("in a script", o.raise_with, f, "text")
  equal(rawrefcount.stats().objects, before)
  is("a message", function() classes.raise_with("a message", o, 5) end)
  fails("no room", classes.raise_with, f, 100000000)
  equal(rawrefcount.stats().objects, before)
  local t = {}
  equal(select(2, pcall(classes.raise_with, function() error(t) end, {})), t)
  local got = { classes.raise_with(function(...) return select("#", ...), ... end, o, nil, "x") }
  equal(got[1], 3) equal(got[2], o) equal(got[3], nil) equal(got[4], "x")
  equal(select("#", classes.raise_with(function() end)), 0)
end)

-- ---- members ----

case("a member of each kind", function()
  local Record = classes.Record
  local r = Record()
  equal(r.flag, false) equal(r.whole, 0) equal(r.big, 0) equal(r.number, 0)
  equal(r.text, nil) equal(r.callback, nil) equal(r.any, nil) equal(r.peer, nil) equal(r.serial, 7)
  local f, t, co = function() end, {}, coroutine.create(function() end)
  local meta = setmetatable({}, { __call = f })
  local values = {
    flag = { true, false }, whole = { -2147483647, 5 }, big = { 1e15, -7 }, number = { 0.5, -1e100 },
    text = { "a\0b", "" }, callback = { f, co, meta }, any = { t, "x", 3, true, r }, peer = { r, Record() },
  }
  for name, list in pairs(values) do
    for _, value in ipairs(list) do
      if name ~= "big" or classes.has_long then r[name] = value equal(r[name], value) end
    end
  end
  r.flag = nil equal(r.flag, false) r.flag = 0 equal(r.flag, true)
  r.whole = "12" equal(r.whole, 12)
  r.text = 12 equal(r.text, "12")
  for _, name in ipairs { "text", "callback", "any", "peer" } do r[name] = nil equal(r[name], nil) end
  if math.type then
    r.whole, r.number, r.big = 3.0, 3, math.maxinteger
    equal(math.type(r.whole), "integer") equal(math.type(r.number), "float") equal(r.big, math.maxinteger)
  end
end)

case("what a member cannot be", function()
  local r = classes.Record()
  r.whole, r.number, r.text = 1, 2, "text"
  is("bad value for whole of Record (number expected, got nil)", function() r.whole = nil end)
  is("bad value for whole of Record (integer expected, got 1.5)", function() r.whole = 1.5 end)
  is("bad value for whole of Record (integer expected, got 3000000000)", function() r.whole = 3000000000 end)
  is("bad value for big of Record (integer expected, got 0.25)", function() r.big = 0.25 end)
  is("bad value for number of Record (number expected, got table)", function() r.number = {} end)
  is("bad value for text of Record (string expected, got boolean)", function() r.text = true end)
  is("bad value for callback of Record (function or nil expected, got Open)", function() r.callback = Open("") end)
  is("bad value for peer of Record (Record expected, got Open)", function() r.peer = Open("") end)
  is("bad value for peer of Record (Record expected, got table)", function() r.peer = {} end)
  is("serial of Record cannot be set", function() r.serial = 1 end)
  is("Record has no property other", function() r.other = 1 end)
  equal(r.whole, 1) equal(r.number, 2) equal(r.text, "text") equal(r.serial, 7)
  r:close()
  is("this Record was closed", function() r.whole = 1 end)
  is("this Record was closed", function() return r.whole end)
  for _ = 1, 2 do fails("member strange of Wrong has no such kind: 120", classes.learn_wrong) end
end)

case("members of a base, and in pairs", function()
  local child, names = classes.UntrackedRecord(), {}
  equal(child.serial, 8)
  child.whole = 3 equal(child.whole, 3)
  is("serial of UntrackedRecord cannot be set", function() child.serial = 1 end)
  local r = classes.Record()
  r.text = "t"
  for name, value in classes.pairs(r) do names[name] = value end
  equal(names.text, "t") equal(names.serial, 7) equal(names.flag, false) equal(names.any, nil)
end)

case("members that hold each other are collected", function()
  for i = 1, 20 do
    local r, s = classes.Record(), classes.Record()
    r.peer, s.peer, r.any = s, r, { s }
    r.callback = function() return r, s end
    s:set(function() return r end)
  end
end)

-- ---- a method that calls a callback ----

case("emit calls what was set", function()
  local r, got = classes.Record()
  equal(select("#", r:emit()), 0)
  local function callback(...) got = { n = select("#", ...), ... } end
  r:set(callback)
  equal(r.callback, callback)
  equal(select("#", r:emit(2.5)), 0)
  equal(got.n, 3) equal(got[1], r) equal(got[2], 5) equal(got[3], 2.5)
  is("bad argument #1 to 'set' (function or nil expected, got number)", function() r:set(5) end)
  equal(r.callback, callback)
  r.callback = setmetatable({}, { __call = function(_, ...) callback(...) end })
  r:emit(3)
  equal(got[1], r) equal(got[3], 3)
  r:set(nil)
  got = nil
  r:emit()
  equal(got, nil)
end)

case("emit raises what the callback raises, once", function()
  local r, t = classes.Record(), {}
  r.callback = function() error("in a script") end
  fails("classes.lua", r.emit, r)
  fails("in a script", r.emit, r)
  r.callback = function() error(t) end
  equal(select(2, pcall(r.emit, r)), t)
  fails('rrc_lua_emit: "i?" is no format', r.emit_wrong, r)
  r.callback = nil
  fails('rrc_lua_emit: "i?" is no format', r.emit_wrong, r)
  r:emit()
end)

case("a callback replaces itself, or closes its sender", function()
  local r, calls = classes.Record(), 0
  r.callback = function(self)
    self.callback = nil
    for _ = 1, 3 do rawrefcount.collect() end
    calls = calls + 1
  end
  r:emit() r:emit()
  equal(calls, 1)
  for _, method in ipairs { "emit", "ask" } do
    local s = classes.Record()
    s.callback = function(self)
      self:close()
      for _ = 1, 3 do rawrefcount.collect() end
      calls = calls + 1
      return nil, 1
    end
    s[method](s)
    fails("closed", s.emit, s)
  end
  equal(calls, 3)
end)

case("emit gives results", function()
  local r = classes.Record()
  local any, integer = r:ask()
  equal(any, nil) equal(integer, 0)
  r.callback = function(self, text) return self, #text end
  any, integer = r:ask()
  equal(any, r) equal(integer, 4)
  r.callback = function(self) return {}, "many" end
  fails("bad result #2 of a callback (integer expected, got string)", r.ask, r)
  r.callback = coroutine.wrap(function(self) while true do self = coroutine.yield(self, 9) end end)
  equal(select(2, r:ask()), 9)
end)

case("a coroutine is a callback of emit", function()
  local r, got = classes.Record(), {}
  r.callback = coroutine.create(function(self, ...)
    while true do got[#got + 1] = select(2, ...) self = coroutine.yield() end
  end)
  r:emit(1)
  r:emit(2)
  equal(#got, 2) equal(got[1], 1)
  r.callback = coroutine.create(function() error("in a coroutine") end)
  fails("in a coroutine", r.emit, r)
  fails("has ended", r.emit, r)
end)

case("a callback of emit yields, where Lua can", function()
  local r, after = classes.Record(), 0
  r.callback = function(self, n)
    for i = 1, 3 do assert(coroutine.yield(self, n + i) == i) end
    after = after + 1
  end
  local function run()
    r:emit()
    after = after + 10
    return "done"
  end
  local co = coroutine.create(run)
  if is_51 then
    local ok, message = coroutine.resume(co)
    assert(not ok and message:find("yield across", 1, true), message)
  else
    for i = 1, 3 do
      local ok, self, n = coroutine.resume(co, i - 1)
      assert(ok, self)
      equal(self, r) equal(n, 5 + i)
      rawrefcount.collect()
    end
    equal(select(2, coroutine.resume(co, 3)), "done")
    equal(after, 11)
  end
  r.callback = function() coroutine.yield() end
  for _, f in ipairs { r.ask, function() return r.asked end } do
    local ok, message = coroutine.resume(coroutine.create(function() f(r) end))
    assert(not ok and tostring(message):find("yield", 1, true), message)
  end
end)

-- ---- the module of this name ----

case("require prefers the module that sees both heaps", function()
  package.loaded.rawrefcount = nil
  assert(require("rawrefcount").explain)
  package.loaded.rawrefcount = nil
  local cpath, preload = package.cpath, package.preload.rawrefcount
  package.cpath, package.preload.rawrefcount = "", nil
  local small = require "rawrefcount"
  package.cpath, package.preload.rawrefcount = cpath, preload
  package.loaded.rawrefcount = rawrefcount
  equal(small.explain, nil)
  equal(small._VERSION, rawrefcount._VERSION)
  equal(small.stats().objects, rawrefcount.stats().objects)
  equal(type(small.collect()), "number")
  equal(small.step(), true)
  fails("not found", require, "rawrefcount.other")
end)

print(("%d passed, %d failed"):format(passed, failed))
if failed > 0 then os.exit(1) end
