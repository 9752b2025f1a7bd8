-- What a class can have beside methods and properties, and values that go from C to Lua and back.

local rawrefcount = require "rawrefcount"
local classes = require "classes"
local Open, Strict, Bag = classes.Open, classes.Strict, classes.Bag

local is_51 = _VERSION == "Lua 5.1"     -- LuaJIT, too
local passed, failed = 0, 0
local function case(name, f)
  local ok, message = xpcall(f, debug.traceback)
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
  is("HIGH of a Open cannot be set", function() Open("x").HIGH = 1 end)
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
    is(("a %s has no property txet"):format(name), function() return t.txet end)
    is(("a %s has no property txet"):format(name), function() t.txet = "x" end)
    is(("a %s has no property txet"):format(name), function() t.txet = nil end)
    is(("a %s has no property 1"):format(name), function() return t[1] end)
    is(("a %s has no property a table"):format(name), function() return t[{}] end)
    is(("sink of a %s cannot be read"):format(name), function() return t.sink end)
    is(("nothing of a %s cannot be set"):format(name), function() t.nothing = 1 end)
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
  is("cannot get x_9 of a Bag: there are 4", function() return b.x_9 end)
  is("cannot set 5 of a Bag: there are 4", function() b[5] = 1 end)
  is("bad value for x_1 of a Bag (number expected, got table)", function() b.x_1 = {} end)
  is("this Bag was closed", function() b.x_1 = 13 end)
  is("this Bag was closed", function() b.x_1 = 10 end)
  is("this Bag was closed", function() return b.x_1 end)
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

print(("%d passed, %d failed"):format(passed, failed))
if failed > 0 then os.exit(1) end
