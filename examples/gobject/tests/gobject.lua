-- The module `gobject`: each feature once, its errors, and garbage over GObject and Lua.
--     gobject.lua [generational]

local rawrefcount = require "rawrefcount"
local G = require "gobject"
local foreign = require "gobject.foreign"

if ... == "generational" then collectgarbage("generational") end

local is_51 = _VERSION == "Lua 5.1"     -- LuaJIT, too
local has_integers = math.type ~= nil
local unpack = unpack or table.unpack
local passed, failures, skipped = 0, {}, 0

-- After each case all objects of C are gone: those of rawrefcount.h, but for what classes of scripts hold.
local classes = 0
local function case(name, f)
  local ok, message = xpcall(f, debug.traceback)
  f = nil
  foreign.drop()
  if jit then jit.flush() end           -- compiled code refers to what it was compiled for
  for _ = 1, 3 do rawrefcount.collect() end
  local left = rawrefcount.stats().objects - classes
  if ok and left ~= 0 then
    ok, message = false, left .. " objects too many are left" .. (left < 20 and ":\n" .. rawrefcount.graph() or "")
  end
  if ok then
    passed = passed + 1
  else
    message = "FAILED: " .. name .. ": " .. tostring(message)
    failures[#failures + 1] = message:match("^[^\n]*")
    print(message)
  end
end

local type_number = 0
local function subclass(parent, definition)
  type_number, classes = type_number + 1, classes + 1
  return G.subclass("Test" .. type_number, parent, definition)
end

local function equal(actual, expected)
  if actual ~= expected then error(("%s, not %s"):format(tostring(actual), tostring(expected)), 2) end
end

-- The whole message, after the place in this file; without a traceback.
local function is(expected, f, ...)
  local ok, text = pcall(f, ...)
  if ok then error("no error", 2) end
  local first = tostring(text):match("^[^\n]*")
  local rest = first:match("^.-gobject%.lua:%d+: (.*)") or first
  if rest ~= expected then error("another error: " .. tostring(text), 2) end
end

-- The versions of Lua number and name arguments in different ways.
local function is_argument(expected, f, ...)
  local text = select(2, pcall(f, ...))
  local rest = tostring(text):match("bad argument #%d+ to [^(]*%(([^\n]*)%)")
  if rest ~= expected then error("another error: " .. tostring(text), 2) end
end

local function new_store() return G.ListStore(G.SimpleAction) end

-- ---- objects ----

case("actions", function()
  local a, runs, sender = G.SimpleAction("quit"), 0, nil
  equal(a.name, "quit")
  equal(a.enabled, true)
  equal(a.parameter_type, nil)
  equal(a.state, nil)
  assert(tostring(a):find("^GSimpleAction: "))
  local id = a:connect("activate", function(self, parameter)
    runs, sender = runs + 1, self
    equal(parameter, nil)
  end)
  a:activate()
  equal(runs, 1) equal(sender, a)
  a.enabled = false
  a:activate()
  equal(runs, 1)
  a.enabled = true
  a:disconnect(id)
  a:activate()
  equal(runs, 1)
  is_argument("no handler of this object", function() a:disconnect(id) end)
  sender = nil
end)

case("actions with parameters and states", function()
  local got = {}
  local open = G.SimpleAction { name = "open", parameter_type = "s" }
  equal(open["parameter-type"], "s")
  open:connect("activate", function(_, text) got[#got + 1] = text end)
  open:activate("a file")
  equal(got[1], "a file")
  is("bad value for the parameter of an action (string expected, got 5)", function() open:activate(5) end)
  is("bad value for the parameter of an action (string expected, got no value)", function() open:activate() end)
  local volume = G.SimpleAction { name = "volume", state = G.variant("i", 5) }
  equal(volume.state, 5)
  volume:change_state(7)
  equal(volume.state, 7)
  volume.state = 8
  equal(volume.state, 8)
  is("bad value for the parameter of an action (integer from -2147483648 to 2147483647 expected, got 2.5)",
     function() volume:change_state(2.5) end)
  is_argument("this action has no state", function() open.change_state(open, 1) end)
end)

case("list stores", function()
  local store, a, b = new_store(), G.SimpleAction("a"), G.SimpleAction("b")
  equal(store.item_type, G.SimpleAction)
  if not pcall(function() return #store end) then error("no length") end
  equal(#store, 0)
  store:append(a)
  store:insert(0, b)
  equal(#store, 2) equal(store:get_n_items(), 2)
  equal(store[1], b) equal(store[2], a) equal(store[3], nil) equal(store[0], nil)
  equal(store:get_item(0), b) equal(store:get_item(7), nil)
  local changes = {}
  store:connect("items-changed", function(self, ...)
    equal(self, store)
    changes[#changes + 1] = table.concat({ ... }, " ")
  end)
  store:append(b)                       -- twice in the list
  store:remove(0)
  store:remove_all()
  equal(table.concat(changes, "; "), "2 0 1; 0 1 0; 0 2 0")
  is_argument("GSimpleAction expected, got GListStore", function() store:append(store) end)
  is_argument("GObject expected, got string", function() store:append("x") end)
  is_argument("no position of this list", function() store:remove(0) end)
  is("items of GListStore are not set by their numbers", function() store[1] = a end)
  is_argument("GListStore expected, got GSimpleAction", function() G.ListStore.append(a, a) end)
end)

case("groups of actions", function()
  local group, a = G.SimpleActionGroup(), G.SimpleAction("a")
  group:add_action(a)
  equal(group:lookup_action("a"), a)
  equal(group:lookup_action("b"), nil)
  group:remove_action("a")
  equal(group:lookup_action("a"), nil)
end)

case("properties and their errors", function()
  local a = G.new("GSimpleAction", { name = "a", enabled = false })
  equal(a.enabled, false)
  is("GSimpleAction has no property or method enabeld (is enabled meant?)", function() return a.enabeld end)
  is("GSimpleAction has no property enabeld (is enabled meant?)", function() a.enabeld = true end)
  is("GSimpleAction has no property or method activat (is activate meant?)", function() a:activat() end)
  is("GSimpleAction has no property colour", function() a.colour = 5 end)
  is("GSimpleAction has no property nmae (is name meant?)", G.SimpleAction, { nmae = "x" })
  is("bad value for enabled of GSimpleAction (boolean expected, got yes)", function() a.enabled = "yes" end)
  is("bad value for name of GSimpleAction (string expected, got 5)", function() G.SimpleAction { name = 5 } end)
  is("bad value for name of GSimpleAction (string without zeros expected, got a)",
     function() G.SimpleAction { name = "a\0b" } end)
  is("name of GSimpleAction cannot be set", function() a.name = "b" end)
  is("state-type of GSimpleAction cannot be set", function() a.state_type = "s" end)
  is("a property of GSimpleAction has a name, and no number", function() G.SimpleAction { "x" } end)
  is("GAction cannot be made", function() G.Action() end)
  is("there is no type GNothing", G.new, "GNothing")
  is("there is no function subclas, and no type Gsubclas or subclas", function() return G.subclas end)
  local notified = {}
  a:connect("notify::enabled", function(self, name) notified[#notified + 1] = name .. tostring(self.enabled) end)
  a.enabled, a.enabled = true, false
  equal(table.concat(notified, " "), "enabledfalse enabledtrue")
end)

case("signals and their errors", function()
  local a = G.SimpleAction("a")
  is("GSimpleAction has no signal activat (is activate meant?)", function() a:connect("activat", print) end)
  is("GListStore has no signal item-changed (is items-changed meant?)",
     function() new_store():connect("item-changed", print) end)
  is_argument("function or nil expected, got number", function() a:connect("activate", 5) end)
  is_argument("function expected, got nil", function() a:connect("activate", nil) end)
  local order = {}
  a:connect("activate", function() order[#order + 1] = "after" end, true)
  a:connect("activate", function() order[#order + 1] = "first" end)
  a:connect("activate", setmetatable({}, { __call = function() order[#order + 1] = "second" end }))
  a:activate()
  equal(table.concat(order, " "), "first second after")
end)

case("errors of handlers are raised by the method that made them run", function()
  local a, runs = G.SimpleAction("a"), 0
  a:connect("activate", function() error("oops") end)
  a:connect("activate", function() runs = runs + 1 error("another") end)
  is("oops", function() a:activate() end)
  equal(runs, 1)
  assert(select(2, pcall(a.activate, a)):find("stack traceback"))
  local b, value = G.SimpleAction("b"), {}
  b:connect("activate", function() error(value) end)
  equal(select(2, pcall(b.activate, b)), value)
  -- The inner method raises the inner error, and no other.
  local c = G.SimpleAction("c")
  local inner
  c:connect("activate", function() error("outer") end)
  c:connect("activate", function() inner = pcall(G.SimpleAction("d").activate, G.SimpleAction("d")) end)
  is("outer", function() c:activate() end)
  equal(inner, true)
  b:connect("notify::enabled", function() error("in notify") end)
  is("in notify", function() b.enabled = false end)
end)

case("a handler can disconnect itself, and close its object", function()
  local a, runs, id = G.SimpleAction("a"), 0, nil
  id = a:connect("activate", function(self) runs = runs + 1 self:disconnect(id) end)
  a:activate() a:activate()
  equal(runs, 1)
  a:connect("activate", function(self) runs = runs + 1 self:close() end)
  a:connect("activate", function() runs = runs + 10 end)        -- parted by then
  a:activate()
  equal(runs, 2)
  assert(tostring(a):find("closed"), tostring(a))
  is("this GObject was closed", function() return a.enabled end)
end)

case("identity", function()
  local store, a = new_store(), G.SimpleAction("a")
  local seen
  store:append(a)
  a:connect("activate", function(self) seen = self end)
  a:activate()
  equal(seen, a) equal(rawequal(store[1], a), true)
  foreign.hold(a)
  equal(rawequal(foreign.held(1), a), true)
  equal(foreign.count(a), 3)            -- the wrapper's, the store's and that of the list
  a._note = "a note"
  equal(store[1]._note, "a note")
  local keys = { [a] = "key" }
  equal(keys[store:get_item(0)], "key")
  seen = nil
end)

case("floating references", function()
  local object, count, is_floating = foreign.floating()
  equal(count, 1) equal(is_floating, false)
  equal(foreign.count(object), 1)
  equal(foreign.count(G.new("GInitiallyUnowned")), 1)
  local Floating = subclass("GInitiallyUnowned")
  equal(foreign.count(Floating()), 1)
end)

-- ---- values ----

local Values = subclass("GObject", {
  properties = { b = "boolean", i = "int", u = "uint", l = "int64", ul = "uint64", f = "float", d = "double",
                 s = "string", e = "GListStore", v = "variant", list = "GStrv", kind = "GBusType",
                 flags = "GApplicationFlags", date = "GBytes", any = "GObject", action = "GAction" },
  signals = { mixed = { "boolean", "char", "uchar", "long", "ulong", "GType", returns = "int" }, plain = {} },
})

case("values of properties", function()
  local o = Values()
  local function same(name, ...)
    for i = 1, select("#", ...) do
      local value = select(i, ...)
      o[name] = value
      equal(o[name], value)
    end
  end
  local function bad(name, value, expected)
    is(("bad value for %s of %s (%s expected, got %s)"):format(name, G.type(o), expected, tostring(value)),
       function() o[name] = value end)
  end
  same("b", true, false)
  same("i", 0, -1, 2147483647, -2147483648)
  bad("i", 2147483648, "integer from -2147483648 to 2147483647")
  bad("i", 1.5, "integer from -2147483648 to 2147483647")
  bad("u", -1, "integer from 0 to 4294967295")
  same("u", 0, 4294967295)
  same("l", 9007199254740992, -9007199254740992)
  same("ul", 0, 9007199254740992, 2^63)
  bad("l", 2^63, "integer from -9223372036854775808 to 9223372036854775807")
  bad("ul", -1, "integer from 0 to 18446744073709551615")
  if has_integers then same("l", math.maxinteger, math.mininteger) equal(math.type(o.l), "integer") end
  same("f", 0.5, -2) same("d", 0.1, 1e300)
  bad("d", "1", "number") bad("b", 1, "boolean")
  same("s", "text", nil) bad("s", 5, "string")
  same("v", true, 5, 2.5, "text", nil)
  is(("bad value for v of %s (boolean, number, string or G.variant(type, value) expected, got table)")
     :format(G.type(o)), function() o.v = {} end)
  o.list = { "a", "b" }
  equal(table.concat(o.list, " "), "a b")
  bad("list", 5, "GStrv") is(("bad value for list of %s (list of strings expected, got table)"):format(G.type(o)),
                             function() o.list = { 5 } end)
  same("kind", "session", "system", "none", "starter")
  bad("kind", "airplane", "GBusType")
  o.kind = 1
  equal(o.kind, "system")
  o.flags = { ["is-service"] = true, ["non-unique"] = true, replace = false }
  equal(o.flags["is-service"], true) equal(o.flags["non-unique"], true) equal(o.flags.replace, nil)
  o.flags = "handles-open"
  equal(next(o.flags), "handles-open")
  bad("flags", "unknown", "GApplicationFlags")
  local store = new_store()
  same("e", store, nil) same("any", store, o, nil) same("action", G.SimpleAction("x"), nil)
  is(("bad value for e of %s (GListStore expected, got GSimpleAction)"):format(G.type(o)),
     function() o.e = G.SimpleAction("x") end)
  bad("action", 5, "GAction") bad("date", 5, "GBytes")
  same("date", nil)
end)

case("values of signals", function()
  local o, got = Values(), nil
  o:connect("mixed", function(self, ...) got = { ... } return 42 end)
  equal(o:emit("mixed", true, -5, 200, -7, 7, G.ListStore), 42)
  for i, value in ipairs { true, -5, 200, -7, 7, G.ListStore } do equal(got[i], value) end
  equal(select("#", o:emit("plain")), 0)
  is(("signal mixed of %s takes 6 values, got 1"):format(G.type(o)), function() o:emit("mixed", true) end)
  is("bad value for value 3 of signal mixed (integer from 0 to 255 expected, got 256)",
     function() o:emit("mixed", true, 1, 256, 1, 1, "GObject") end)
  is("bad value for value 6 of signal mixed (a class, or the name of a type, expected, got Nothing)",
     function() o:emit("mixed", true, 1, 2, 1, 1, "Nothing") end)
  local p = Values()
  p:connect("mixed", function() return "x" end)
  is("bad value for the result of a handler (integer from -2147483648 to 2147483647 expected, got x)",
     function() p:emit("mixed", true, 1, 1, 1, 1, "GObject") end)
end)

case("variants", function()
  local o = Values()
  local function get(kind, value) o.v = G.variant(kind, value) return o.v end
  for kind, value in pairs { b = true, y = 255, n = -5, q = 65535, i = -7, u = 7, x = -8, t = 8, d = 0.25, s = "s",
                             o = "/a/b", g = "as", v = "inside" } do
    equal(get(kind, value), value)
  end
  equal(table.concat(get("as", { "a", "b" }), " "), "a b")
  equal(get("aai", { { 1 }, { 2, 3 } })[2][2], 3)
  equal(#get("av", {}), 0)
  equal(get("av", { G.variant("v", G.variant("ai", { 7, 8 })) })[1][2], 8)
  local entry = foreign.variant("{'a': <(1, 'b', just 2.5)>, 'c': <@mi nothing>}")
  equal(entry.a[1], 1) equal(entry.a[2], "b") equal(entry.a[3], 2.5) equal(entry.c, nil)
  equal(tostring(G.variant("ai", { 1, 2 })), "[1, 2]")
  is_argument("not the type of a GVariant", function() G.variant("?!", 1) end)
  is("bad value for a GVariant (path of an object expected, got x)", function() G.variant("o", "x") end)
  is("bad value for a GVariant (string expected, got 5)", function() G.variant("as", { "a", 5 }) end)
  local dictionary = get("a{sv}", { one = 1.5, list = G.variant("as", { "x" }), yes = true })
  equal(dictionary.one, 1.5) equal(dictionary.list[1], "x") equal(dictionary.yes, true)
  equal(next(get("a{sv}", {})), nil)
  equal(get("a{ii}", { [5] = 6, [-7] = 8 })[-7], 8)
  equal(tostring(G.variant("(sib)", { "a", 2, true })), "('a', 2, true)")
  equal(tostring(G.variant("()", {})), "()")
  equal(tostring(G.variant("(s(ii)mdms)", { "a", { 1, 2 }, 0.5 })), "('a', (1, 2), @md 0.5, @ms nothing)")
  equal(tostring(G.variant("ms", nil)), "@ms nothing") equal(tostring(G.variant("mas", { "b" })), "@mas ['b']")
  equal(tostring(G.variant("a(sa{si})", { { "a", { b = 1 } }, { "c", {} } })), "[('a', {'b': 1}), ('c', {})]")
  is("bad value for a GVariant (table of 2 values expected, got a)", function() G.variant("(si)", "a") end)
  is("bad value for a GVariant (string expected, got 5)", function() G.variant("a{sv}", { a = 1, [5] = 2 }) end)
  is("bad value for a GVariant (string expected, got nil)", function() G.variant("(is)", { 1 }) end)
  is("bad value for a GVariant (table expected, got 5)", function() G.variant("a{sv}", 5) end)
  is("no value of Lua can become a GVariant of type {sv}", function() G.variant("{sv}", {}) end)
end)

-- ---- types ----

case("any function", function()
  local cancellable = G.Cancellable()
  equal(G.call("g_cancellable_is_cancelled", "b(o)", cancellable), false)
  equal(select("#", G.call("g_cancellable_cancel", "v(o)", cancellable)), 0)
  equal(G.call("g_cancellable_is_cancelled", "b(o)", cancellable), true)
  equal(G.call("g_strrstr", "s(ss)", "a-b-c", "-"), "-c")
  equal(G.call("g_strreverse", "s(s)", "abc"), "cba")
  equal(G.call("g_strdup", "S(s)", "copy"), "copy") equal(G.call("g_strdup", "S(s)", nil), nil)
  equal(G.call("g_ascii_strtod", "d(so)", "2.5", nil), 2.5)
  equal(G.call("g_ascii_strtoll", "x(sou)", "-7", nil, 10), -7)
  assert(G.call("g_get_monotonic_time", "x()") > 0)
  local file = G.call("g_file_new_for_path", "O(s)", "/nowhere/at all")
  equal(foreign.count(file), 1)
  equal(G.call("g_file_get_path", "S(o)", file), "/nowhere/at all")
  local parent = G.call("g_file_get_parent", "O(o)", file)
  equal(G.call("g_file_get_path", "S(o)", parent), "/nowhere") equal(foreign.count(parent), 1)
  local list, action = new_store(), G.SimpleAction("a")
  list:append(action)
  equal(G.call("g_list_model_get_item", "O(ou)", list, 0), action)
  equal(G.call("g_list_model_get_item", "O(ou)", list, 1), nil)
  equal(foreign.count(action), 2)
  local group = G.SimpleActionGroup()
  group:add_action(action)
  equal(G.call("g_action_map_lookup_action", "o(os)", group, "a"), action)
  equal(foreign.count(action), 3)
  is("Error removing file /nowhere/at all: No such file or directory",
     G.call, "g_file_delete", "b(ooe)", file, nil)
  action:connect("activate", function() error("in a handler") end)
  is("in a handler", G.call, "g_action_activate", "v(oo)", action, nil)
  is("there is no function g_nothing", G.call, "g_nothing", "v()")
  is("g_strdup S(s) takes 1 values, got 2", G.call, "g_strdup", "S(s)", "a", "b")
  is("bad value for argument 1 of g_strdup (string expected, got 5)", G.call, "g_strdup", "S(s)", 5)
  is_argument('no letter for an argument at "z)"', G.call, "g_strdup", "S(z)", 5)
  is_argument('no letter for a result at "e(s)"', G.call, "g_strdup", "e(s)", 5)
end)

-- A thread of GIO made each result ready. It drops its references to the source and the result when it gets to it,
-- perhaps after the function has run.
local function await(before, count)
  for _ = 1, 60000 do
    rawrefcount.collect()
    if foreign.finalized() == before + count then return end
    foreign.sleep()
  end
  equal(foreign.finalized() - before, count)
end

case("results that are ready later", function()
  local before, texts, called = foreign.finalized(), {}, 0
  local function ask(path, ready)
    local file = foreign.watch(G.call("g_file_new_for_path", "O(s)", path))
    G.call("g_file_query_info_async", "v(osuiof)", file, "standard::name", 0, 0, nil, function(source, result)
      equal(source, file)
      ready(source, foreign.watch(result))
    end)
  end
  local function ready(source, result)
    local ok, info = pcall(G.call, "g_file_query_info_finish", "O(ooe)", source, result)
    texts[#texts + 1] = ok and G.call("g_file_info_get_name", "s(o)", info) or info:match("Error.*")
    called = called + 1
    if called < 200 then ask(called % 2 == 0 and "/" or "/nowhere", ready) else G.quit() end
  end
  ask("/", ready)
  G.run()
  equal(called, 200) equal(texts[1], "/")
  assert(texts[2]:find("No such file"), texts[2])
  ask("/", function() error("not ready") end)
  is("not ready", G.run)
  await(before, 402)
end)

-- ---- methods that descriptions know ----

local has_methods, Gio = pcall(G.require, "Gio")
local GLib = has_methods and G.require("GLib", "2.0")

-- A case that needs the descriptions of GLib and GIO.
local function described(name, f)
  if has_methods then
    case("described: " .. name, f)
  else
    skipped = skipped + 1
  end
end

case("descriptions that cannot be read", function()
  if has_methods then return end
  local library = os.getenv("GOBJECT_GIREPOSITORY") or "libgirepository-1.0.so.1"
  is("no description of Gio can be read: " .. library .. " is not installed", G.require, "Gio")
  is("GCancellable has no property cancel, and its methods are not known: " .. library .. " is not installed",
     function() G.Cancellable():cancel() end)
  is("GBytes has no method or field get_size: " .. library .. " is not installed",
     function() return foreign.bytes("a").get_size end)
end)

described("methods", function()
  local cancellable, calls = Gio.Cancellable.new(), 0
  equal(cancellable:is_cancelled(), false)
  cancellable:connect("cancelled", function() calls = calls + 1 end)
  equal(select("#", cancellable:cancel()), 0)
  equal(cancellable:is_cancelled(), true) equal(calls, 1)
  local file = Gio.File.new_for_path("/nowhere/at all")
  equal(file:get_path(), "/nowhere/at all") equal(file:get_parent():get_basename(), "nowhere")
  equal(G.File.get_path(file), "/nowhere/at all")       -- by the class
  equal(file:query_exists(), false)                     -- an argument that can be nil
  equal(file:has_uri_scheme("file"), true)
  local root = Gio.File.new_for_path("/")
  equal(root:query_file_type("none"), "directory") equal(root:query_file_type({}, nil), "directory")
  local info = root:query_info("standard::*", "nofollow-symlinks")
  equal(info:get_name(), "/") equal(info:get_file_type(), "directory")
  equal(info:get_attribute_uint32("standard::type"), 2)
  local a, b = G.SimpleAction("a"), G.SimpleAction("b")
  local binding = a:bind_property("enabled", b, "enabled", { ["sync-create"] = true })
  a.enabled = false
  equal(b.enabled, false) equal(binding.source, a)
  b:set_property("enabled", true)                       -- a GValue
  equal(b:get_enabled(), true) equal(b:get_name(), "b")
  binding:unbind()
  -- Those of scripts and of this module come first, then properties.
  local Closing = subclass("GInputStream", { read = function() return "read" end })
  equal(Closing():read(), "read")
  local stateful = Gio.SimpleAction.new_stateful("v", nil, G.variant("i", 5))
  equal(stateful.state, 5) equal(stateful:get_state(), 5)
  stateful:set_state(G.variant("i", 7))
  equal(stateful.state, 7)
end)

described("results", function()
  local now = GLib.DateTime.new_utc(2020, 2, 29, 12, 30, 1.5)
  equal(now:format("%F %T"), "2020-02-29 12:30:01") equal(now:add_days(1):format("%F"), "2020-03-01")
  local year, month, day = now:get_ymd()
  equal(year, 2020) equal(month, 2) equal(day, 29)
  equal(now:get_seconds(), 1.5)
  local scheme, user, host, port, path, query, fragment = GLib.uri_split("http://u@h:80/p?q#f", "none")
  equal(table.concat({ scheme, user, host, port, path, query, fragment }, " "), "http u h 80 /p q f")
  -- Flags and enums that have no GType.
  local uri = GLib.Uri.parse("http://a%20b/c%20d?e=%20f", { ["encoded-path"] = true, ["encoded-query"] = true })
  equal(uri:get_path(), "/c%20d") equal(uri:get_query(), "e=%20f") equal(uri:get_host(), "a b")
  equal(uri:get_flags()["encoded-path"], true) equal(uri:get_flags()["has-password"], nil)
  equal(GLib.Date.new_dmy(29, "february", 2020):get_weekday(), "saturday")
  equal(GLib.unichar_toupper("\195\164"), "\195\132") equal(GLib.unichar_toupper(97), "A")
  equal(GLib.PRIORITY_DEFAULT_IDLE, 200) equal(GLib.DIR_SEPARATOR_S, "/")
  equal(tostring(GLib), "GLib") equal(tostring(Gio.Cancellable), "GCancellable")
  equal(GLib.Checksum.new("sha256"):get_string():sub(1, 8), "e3b0c442")
  local sum = GLib.Checksum.new("md5")
  sum:update("abc")
  equal(sum:get_string(), "900150983cd24fb0d6963f7d28e17f72")
  equal(Gio.ListStore.new(Gio.SimpleAction):get_item_type(), G.SimpleAction)
  local content, is_uncertain = Gio.content_type_guess("a.png", nil)
  equal(type(content), "string") equal(type(is_uncertain), "boolean")
end)

-- What is owned: memory is right if the sanitizers say so as well.
described("ownership", function()
  local keys = GLib.KeyFile.new()
  local text = "[a]\nb=1;2;3\nc=x;y\n"
  equal(keys:load_from_data(text, #text, "none"), true)
  equal(table.concat(keys:get_integer_list("a", "b"), " "), "1 2 3")            -- the container is ours
  equal(table.concat(keys:get_string_list("a", "c"), " "), "x y")               -- all is
  keys:set_integer_list("a", "d", { 4, -5 }) keys:set_string_list("a", "e", { "p", "q" })
  equal(keys:get_string("a", "d"), "4;-5;") equal(keys:get_string("a", "e"), "p;q;")
  equal(table.concat(keys:get_keys("a"), " "), "b c d e")
  equal(table.concat(Gio.ThemedIcon.new_from_names({ "a" }):get_names(), " "), "a a-symbolic")    -- nothing is
  equal(GLib.Bytes.new("abc\0def"):get_data(), "abc\0def")
  equal(GLib.Bytes.new_take("taken by C"):get_data(), "taken by C")
  local bytes = GLib.Bytes.new({ 97, 98 })
  equal(bytes:unref_to_data(), "ab") equal(bytes:get_data(), "ab")              -- C takes a copy
  equal(Gio.MemoryInputStream.new_from_bytes("text"):read_bytes(10):get_data(), "text")
  -- Objects.
  local before = foreign.finalized()
  local file = foreign.watch(Gio.File.new_for_path("/a/b"))
  equal(foreign.count(file), 1)
  equal(foreign.count(foreign.watch(file:get_parent())), 1)
  local group, action = foreign.watch(G.SimpleActionGroup()), foreign.watch(G.SimpleAction("a"))
  group:insert(action)
  equal(foreign.count(action), 2) equal(G.ActionMap.lookup_action(group, "a"), action) equal(foreign.count(action), 2)
  local store = foreign.watch(Gio.ListStore.new(G.SimpleAction))
  store:splice(0, 0, { action, action, G.SimpleAction("b") })
  equal(foreign.count(action), 4) equal(#store, 3)
  local found, position = store:find(store[3])
  equal(found, true) equal(position, 2)
  is("bad value for argument 3 of g_list_store_splice (GObject expected, got 5)",
     function() store:splice(0, 1, { action, 5 }) end)
  collectgarbage() collectgarbage()
  equal(foreign.count(action), 4) equal(#store, 3)
  local files
  Gio.File.new_for_path("/"):enumerate_children("standard::name", "none"):next_files_async(3, 0, nil,
    function(source, result) files = source:next_files_finish(result) G.quit() end)
  G.run()
  equal(#files, 3)
  for i = 1, 3 do equal(foreign.count(foreign.watch(files[i])), 1) equal(type(files[i]:get_name()), "string") end
  action:connect("activate", function() return group, store end)        -- a cycle
  files, file, group, action, store = nil, nil, nil, nil, nil
  await(before, 8)
  -- Lists.
  local command = Gio.AppInfo.create_from_commandline("true %U", nil, { ["supports-uris"] = true })
  equal(command:launch_uris({ "file:///a", "file:///b" }), true) equal(command:launch({ Gio.File.new_for_path("/") }), true)
  equal(command:launch({}), true)
  is("bad value for argument 1 of g_app_info_launch (GFile expected, got 5)", command.launch, command, { command, 5 })
end)

described("errors", function()
  local file, root = Gio.File.new_for_path("/nowhere/at all"), Gio.File.new_for_path("/")
  is("Error removing file /nowhere/at all: No such file or directory", file.delete, file)
  is("bad value for argument 1 of g_file_delete (GCancellable expected, got 5)", file.delete, file, 5)
  is("bad value for argument 1 of g_file_has_uri_scheme (string expected, got nil)", file.has_uri_scheme, file)
  is("bad value for argument 1 of g_file_new_for_path (string without zeros expected, got a)",
     Gio.File.new_for_path, "a\0b")
  is("g_file_get_path takes 1 values, got 2", file.get_path, file, 5)
  is("bad value for self of g_file_get_path (GFile expected, got GCancellable)", file.get_path, G.Cancellable())
  is("bad value for self of g_file_get_path (GFile expected, got nil)", file.get_path)
  is("bad value for argument 1 of g_file_query_file_type (GFileQueryInfoFlags expected, got nne)",
     root.query_file_type, root, "nne")
  is("bad value for argument 1 of g_bytes_new (list expected, got 5)", GLib.Bytes.new, 5)
  is("bad value for argument 1 of g_bytes_new (integer from 0 to 255 expected, got 256)", GLib.Bytes.new, { 256 })
  is("bad value for argument 1 of g_unichar_toupper (a character expected, got ab)", GLib.unichar_toupper, "ab")
  is("GLocalFile has no property or method get_pth (is get_path meant?)", function() return file.get_pth end)
  is("GDateTime has no method or field formt", function() return GLib.DateTime.new_now_utc().formt end)
  is("Gio has no Nothing", function() return Gio.Nothing end)
  local store = new_store()
  store:append(G.SimpleAction("a"))
  is("argument 2 of g_list_store_find_with_equal_func cannot be a function of Lua: a GLib.EqualFunc has to do with void",
     store.find_with_equal_func, store, store[1], function() end)
  is("no value of Lua can be a Gio.IOModuleClass", function() return Gio.IOModuleClass end)
  is("Typelib file for namespace 'Nothing' (any version) not found", G.require, "Nothing")
  is("Requiring namespace 'Gio' version '7.0', but '2.0' is already loaded", G.require, "Gio", "7.0")
  is("g_object_set_data cannot be called: no value of Lua can be its argument 2 (void)", file.set_data, file, "x", 5)

  -- The counts are the binding's.
  for _, name in ipairs { "ref", "unref", "ref_sink", "force_floating" } do
    equal(pcall(function() return file[name] end), false)
  end
  local action = G.SimpleAction("a")
  action:connect("notify::enabled", function() error("in notify") end)
  is("in notify", action.set_enabled, action, false)
end)

described("callbacks", function()
  local n, kept = 0, setmetatable({}, { __mode = "k" })
  do
    local upvalue = {}
    kept[upvalue] = true
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 0, function()
      n = n + (upvalue and 1)
      if n == 3 then G.quit() end
      return n < 3
    end)
  end
  G.run()
  equal(n, 3)
  -- One that removes itself, and goes on.
  local id
  id = GLib.idle_add(0, function()
    local here = kept
    GLib.source_remove(id)
    for _ = 1, 10 do GLib.get_user_name() end
    n = here and 10
    G.quit()
    return false
  end)
  G.run()
  equal(n, 10)
  GLib.idle_add(0, function() error("in idle") end)
  is("in idle", G.run)
  GLib.idle_add(0, function() return "x" end)
  is("bad value for the result of a callback (boolean expected, got x)", G.run)
  is("bad value for argument 2 of g_idle_add_full (function expected, got 5)", GLib.idle_add, 0, 5)
  collectgarbage() collectgarbage()
  equal(next(kept), nil)
  -- During a call.
  local store = Gio.ListStore.new(G.SimpleAction)
  local function by_name(a, b) return a.name < b.name and -1 or a.name > b.name and 1 or 0 end
  for _, name in ipairs { "c", "a", "d" } do store:append(G.SimpleAction(name)) end
  store:sort(by_name)
  equal(store:insert_sorted(G.SimpleAction("b"), by_name), 1)
  equal(store[1].name .. store[2].name .. store[3].name .. store[4].name, "abcd")
  is("oops", function() store:sort(function() error("oops") end) end)
  is("bad value for the result of a callback (integer from -2147483648 to 2147483647 expected, got x)",
     function() store:sort(function() return "x" end) end)
  equal(#store, 4)
  -- A result that is ready later.
  local before, name, failure = foreign.finalized(), nil, nil
  do
    local root = foreign.watch(Gio.File.new_for_path("/"))
    root:query_info_async("standard::name", "none", 0, nil, function(source, result)
      equal(source, root)
      name = source:query_info_finish(result):get_name()
      local nowhere = foreign.watch(Gio.File.new_for_path("/nowhere"))
      nowhere:query_info_async("standard::name", "none", 0, nil, function(_, second)
        failure = select(2, pcall(nowhere.query_info_finish, nowhere, second))
        G.quit()
      end)
    end)
  end
  G.run()
  equal(name, "/")
  assert(failure:find("No such file"), failure)
  await(before, 2)
end)

case("types that scripts define", function()
  local order = {}
  local Parent = subclass(G.ListStore, {
    properties = { title = "string", count = "int" },
    signals = { moved = { "int", returns = "boolean" } },
    init = function(self) self._started = true order[#order + 1] = "parent " .. tostring(self.title) end,
    describe = function(self) return self.title .. " of " .. #self end,
  })
  local Child = subclass(Parent, {
    properties = { owner = "GObject" },
    init = function(self) Parent.init(self) order[#order + 1] = "child" end,
  })
  function Child:describe() return "child: " .. Parent.describe(self) end
  local c = Child { title = "things", item_type = "GSimpleAction" }
  equal(table.concat(order, ", "), "parent things, child")
  equal(c._started, true) equal(c.count, 0) equal(c.title, "things") equal(c.owner, nil)
  c:append(G.SimpleAction("a"))
  equal(c:describe(), "child: things of 1")
  c.count, c.owner = 5, c
  equal(c.count, 5) equal(c.owner, c) equal(c.title, "things")
  equal(c:is_a(Parent), true) equal(c:is_a("GListModel"), true) equal(c:is_a(G.SimpleAction), false)
  equal(Parent():is_a(Child), false)
  equal(G.type(c), G.type(Child)) equal(tostring(Child), G.type(Child)) equal(G.type(5), nil)
  c:connect("moved", function(_, n) return n > 1 end)
  equal(c:emit("moved", 2), true) equal(c:emit("moved", 1), false)
  local text
  c:connect("notify::title", function(self) text = self.title end)
  c.title = "others"
  equal(text, "others")
  is(("%s has no property or method titel (is title meant?)"):format(G.type(Child)), function() return c.titel end)
  is(("bad value for owner of %s (GObject expected, got 5)"):format(G.type(Child)), function() c.owner = 5 end)
end)

case("errors of definitions", function()
  is("there is a type GListStore already", G.subclass, "GListStore", G.ListStore)
  for _, name in ipairs { "a b", "ab", "1ab", "-ab" } do
    is(name .. " cannot be the name of a type: it has three or more of A-Z a-z 0-9 - _ +, first a letter or _",
       G.subclass, name, G.ListStore)
  end
  is("GAction can have no subclass", G.subclass, "TestBad", G.Action)
  is("bad type for size (nothing)", G.subclass, "TestBad", "GObject", { properties = { size = "nothing" } })
  is("no property can be of type gchar: size", G.subclass, "TestBad", "GObject", { properties = { size = "char" } })
  is("item-type cannot be the name of a new property", G.subclass, "TestBad", G.ListStore,
     { properties = { ["item-type"] = "int" } })
  is("items-changed cannot be the name of a new signal", G.subclass, "TestBad", G.ListStore,
     { signals = { ["items-changed"] = {} } })
  is("bad properties of a type (table expected, got number)", G.subclass, "TestBad", "GObject", { properties = 5 })
  equal(pcall(G.new, "TestBad"), false)
  local Failing = subclass("GObject", { init = function() error("in init") end })
  is("in init", function() Failing() end)
end)

case("C makes objects of types that scripts define", function()
  local Made = subclass("GObject", { properties = { any = "GObject" }, init = function(self) self._made = true end })
  foreign.make(Made)
  local a = G.SimpleAction("a")
  foreign.set(1, "any", a)
  equal(foreign.held(1)._made, true)
  equal(foreign.held(1).any, a)
end)

-- ---- garbage ----

-- So many objects go by Lua's cycles, and what follows them: from Lua 5.4 on, the next object that is made.
local function check_gone(before, count)
  for _ = 1, 30 do
    if foreign.finalized() < before + count then
      collectgarbage()
      G.SimpleAction("made")
    end
  end
  equal(foreign.finalized() - before, count)
end

-- ... by collections of both heaps.
local function check_collected(before, count)
  for _ = 1, 3 do rawrefcount.collect() end
  equal(foreign.finalized() - before, count)
end

local COUNT = tonumber(os.getenv("GOBJECT_COUNT")) or 10000

case("stores of actions whose handlers mention the store, by Lua alone", function()
  local before = foreign.finalized()
  collectgarbage("stop")
  for i = 1, COUNT do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
    store:append(action)
    action:connect("activate", function() return store end)
  end
  if not is_51 then equal(foreign.finalized(), before) end      -- else the binding's collections start it again
  collectgarbage("restart")
  check_gone(before, 2 * COUNT)
end)

case("the same in a loop, with no call of a collector", function()
  local before, most = foreign.finalized(), 0
  for i = 1, COUNT do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
    store:append(action)
    action:connect("activate", function() return store end)
    most = math.max(most, 2 * i - (foreign.finalized() - before))
  end
  assert(most <= COUNT, most)                           -- of twice as many
  check_gone(before, 2 * COUNT)
end)

case("cycles through groups, properties and lists of lists", function()
  local before = foreign.finalized()
  local Node = subclass("GObject", { properties = { parent = "GObject", child = "GObject" } })
  local subclassed = subclass(G.SimpleAction, { properties = { group = "GObject" } })
  for i = 1, 100 do
    local group, action = foreign.watch(G.SimpleActionGroup()), foreign.watch(G.SimpleAction("a"))
    group:add_action(action)
    action:connect("activate", function() return group end)
    local parent, child = foreign.watch(Node()), foreign.watch(Node())
    parent.child, child.parent = child, parent          -- without Lua
    local own = foreign.watch(Node())
    own.child = own
    local outer, inner = foreign.watch(G.ListStore("GListStore")), foreign.watch(new_store())
    local item = foreign.watch(G.SimpleAction("b"))
    outer:append(inner) outer:append(inner) inner:append(item) inner:append(item)
    item:connect("notify", function() return outer, parent end)
    local one, other = foreign.watch(G.ListStore("GObject")), foreign.watch(G.ListStore("GObject"))
    one:append(other) other:append(one) one:append(one)         -- without Lua
    local groups = foreign.watch(G.SimpleActionGroup())
    local stateful = foreign.watch(subclassed { name = "s", group = groups })
    groups:add_action(stateful)
  end
  collectgarbage() collectgarbage()
  check_collected(before, 1200)
end)

case("cycles through objects that Lua does not know", function()
  local before = foreign.finalized()
  for i = 1, 100 do
    local store, action = foreign.watch(G.ListStore("GObject")), foreign.watch(G.SimpleAction("a"))
    foreign.nest(store, action)                         -- a list in between, made by C
    action:connect("activate", function() return store end)
    if i <= 10 then foreign.hold_item(store, 0) end     -- C has that list, too
  end
  check_collected(before, 180)
  for i = 1, 10 do equal(#foreign.held(i), 1) foreign.held(i)[1]:activate() end
  foreign.drop()
  check_collected(before, 200)
end)

case("what an object owns is told by a script", function()
  local function make(count)
    for _ = 1, count do
      local one, action = G.new("Block"), foreign.watch(G.SimpleAction("a"))
      one.next = action
      action:connect("activate", function() return one end)
      if count == 1 then return one, action end
    end
  end
  local one, action = make(1)
  equal(G.unexplained(action), 1) equal(G.unexplained(one), 0)
  G.owns("Block", { "next" })
  G.owns(G.Block, { "next" })                           -- it is known already
  equal(G.unexplained(action), 0)
  one, action = nil, nil
  local before = foreign.finalized()
  make(5)
  check_collected(before, 6)
  equal(foreign.blocks(), 0)
  is("Block has no property nxt (is next meant?)", G.owns, "Block", { "nxt" })
  is_argument("enabled is no property with an object", G.owns, G.SimpleAction, { "enabled" })
end)

-- A block that is cleared changes the property of another object, by a binding of GObject.
case("handlers of garbage do not run when other garbage is cleared", function()
  local Copy = subclass("GObject", { properties = { copy = "GObject", block = "GObject" } })
  local before, runs = foreign.finalized(), 0
  for i = 1, 100 do
    local block, other = i % 2 == 0 and foreign.watch(G.new("Block")), foreign.watch(Copy())
    block = block or foreign.watch(G.new("Block"))
    G.call("g_object_bind_property", "o(ososu)", block, "next", other, "copy", 0):close()
    other:connect("notify::copy", function() runs = runs + 1 return block end)
    other.block = block
    block.next = other
    equal(other.copy, other)
  end
  check_collected(before, 200)
  equal(runs, 100)
end)

case("what is in use stays", function()
  local before = foreign.finalized()
  local stores, runs = {}, 0
  for i = 1, 200 do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a" .. i))
    store:append(action)
    action:connect("activate", function() runs = runs + (store and 1) end)
    action._number = i
    if i % 2 == 0 then stores[i] = store else stores[i] = action end
  end
  for _ = 1, 5 do collectgarbage() rawrefcount.step() end
  rawrefcount.collect()
  equal(foreign.finalized(), before)
  for i = 1, 200 do
    local action = i % 2 == 0 and stores[i][1] or stores[i]
    equal(action._number, i)
    action:activate()
  end
  equal(runs, 200)
end)

case("what only C holds keeps its handlers and fields", function()
  local before, runs = foreign.finalized(), 0
  for i = 1, 100 do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
    store:append(action)
    store._number, action._store_name = i, "store " .. i
    action:connect("activate", function() runs = runs + #store end)
    foreign.hold(i % 2 == 0 and store or action)        -- C tells nobody
  end
  for _ = 1, 6 do collectgarbage() end
  for _ = 1, 3 do rawrefcount.collect() end
  equal(foreign.finalized(), before)
  for i = 1, 100 do
    if i % 2 == 0 then
      equal(foreign.held(i)._number, i)
      equal(foreign.held(i)[1]._store_name, "store " .. i)
      foreign.held(i)[1]:activate()
    else
      foreign.emit(i, "activate")                       -- by C
    end
  end
  equal(runs, 100)
  foreign.drop()
  check_gone(before, 200)
end)

case("C takes and drops references while Lua collects", function()
  local before, held, total = foreign.finalized(), 0, 0
  for i = 1, 3000 do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
    store:append(action)
    store._number, total = i, total + 2
    action:connect("activate", function() store._number = store._number + 0 end)
    if i % 7 == 0 then foreign.hold(action) held = held + 1 end
    if i % 501 == 0 then
      for j = 1, held do
        local handler_is_there = foreign.held(j)
        handler_is_there:activate()
      end
      foreign.drop()
      held = 0
    end
  end
  foreign.drop()
  check_collected(before, total)
end)

case("C takes references just before Lua finds the garbage", function()
  local before, runs = foreign.finalized(), 0
  collectgarbage("stop")
  for i = 1, 100 do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
    store:append(action)
    store._number, action._number = i, i
    action:connect("activate", function(self) runs = runs + #store equal(store._number, self._number) end)
    foreign.remember(action)
  end
  for _ = 1, 3 do rawrefcount.step() end                -- no reference is left that is not explained
  foreign.revive()
  collectgarbage("restart")
  for _ = 1, 4 do collectgarbage() end
  rawrefcount.collect()
  equal(foreign.finalized(), before)
  for i = 1, 100 do
    equal(foreign.held(i)._number, i)
    foreign.emit(i, "activate")
  end
  equal(runs, 100)
  foreign.drop()
  check_gone(before, 200)
end)

-- What finalizers of scripts keep, or have C hold, is dead all the same: no script gets it again, and nothing crashes.
case("finalizers of scripts that die with wrappers", function()
  local before, seen = foreign.finalized(), 0
  local kept, is_over = {}, false
  local function with_finalizer(f)
    if not is_51 then return setmetatable({}, { __gc = f }) end
    local object = newproxy(true)
    getmetatable(object).__gc = f
    return object
  end
  for i = 1, 100 do
    local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
    store:append(action)
    store._number, action._number = i, i
    store._finalizer = with_finalizer(function()
      seen = seen + 1
      if is_over then return end                        -- the state is being closed
      if i % 4 == 0 then pcall(foreign.hold, action) end    -- C takes one
      if i % 4 == 1 then kept[#kept + 1] = store end        -- a script keeps one
    end)
    action:connect("activate", function(self)
      equal(store._number, i) equal(self._number, i) equal(store[1], self)
    end)
  end
  for _ = 1, 6 do
    collectgarbage()
    G.SimpleAction("made")
  end
  rawrefcount.collect()
  is_over = true
  equal(seen, 100)
  for _, store in ipairs(kept) do pcall(function() return store[1]:activate() end) end
  kept = {}
  foreign.drop()
  check_gone(before, 200)
end)

-- Between the finalizers of a collection, and at any other time, C takes what it has weak references to.
case("C takes references while Lua finalizes", function()
  local before, total, runs, kept = foreign.finalized(), 0, 0, 0
  for round = 1, 30 do
    for i = 1, 50 do
      local store, action = foreign.watch(new_store()), foreign.watch(G.SimpleAction("a"))
      store:append(action)
      store._number, action._number, total = i, i, total + 2
      action:connect("activate", function(self) runs = runs + #store equal(store._number, self._number) end)
      if i % 10 == round % 10 then foreign.remember(action) end
    end
    for _ = 1, round % 4 do rawrefcount.step() end
    for _ = 1, round do collectgarbage("step", 1) end
    local n = foreign.revive()
    for i = 1, n do foreign.emit(i, "activate") end
    kept = kept + n
    foreign.drop()
  end
  equal(runs, kept)
  check_collected(before, total)
end)

case("closed objects", function()
  local store, action, runs = new_store(), foreign.watch(G.SimpleAction("a")), 0
  local before = foreign.finalized()
  store:append(action)
  action:connect("activate", function() runs = runs + 1 end)
  action:close()
  store[1]:activate()                   -- the handler has gone with the wrapper
  equal(runs, 0)
  equal(foreign.finalized(), before)
  assert(not rawequal(store[1], action))
end)

-- ---- memory ----

case("memory of C hurries the collector", function()
  local most = 0
  equal(G.size(G.new("Block")) > 2^20, true)
  for _ = 1, 1000 do
    local one = G.new("Block")
    if foreign.blocks() > most then most = foreign.blocks() end
  end
  assert(most <= 200, most)
  -- What grows later; strings and variants of properties.
  local stream = G.MemoryOutputStream()
  equal(G.size(stream) < 1000, true)
  local Text = subclass("GObject", { properties = { text = "string", value = "variant" } })
  local text, before, made, alive = ("x"):rep(2^20), foreign.finalized(), 0, 0
  local function loop(name, value)
    alive = 0
    for _ = 1, 300 do
      local object = foreign.watch(Text())
      object[name] = value
      assert(G.size(object) > 2^20)
      made = made + 1
      alive = math.max(alive, made - (foreign.finalized() - before))
    end
    assert(alive <= 100, alive)
  end
  loop("text", text)
  loop("value", G.variant("s", text))
  for _ = 1, 3 do rawrefcount.collect() end
  local native = rawrefcount.stats().native
  do local object = Text() object.text = text assert(rawrefcount.stats().native >= native + 2^20) end
  for _ = 1, 3 do rawrefcount.collect() end
  equal(rawrefcount.stats().native, native)
end)

-- ---- the main loop ----

case("a long chain of functions of the main loop", function()
  local n, most = 0, 0
  local function next_one()
    local object = G.SimpleAction("a")
    object:connect("activate", function() return object end)
    n = n + 1
    most = math.max(most, rawrefcount.stats().objects)
    if n == 30000 then G.quit() else G.idle(function() next_one() return object and nil end) end
  end
  next_one()
  G.run()
  equal(n, 30000)
  assert(most < 30000, most)                            -- of more than 100000
end)

case("sources of the main loop", function()
  local order = {}
  G.idle(function()
    order[#order + 1] = "idle"
    if #order < 3 then return true end
    G.quit()
  end)
  G.run()
  equal(table.concat(order, " "), "idle idle idle")
  G.timeout(1, function() G.quit() end)
  G.run()
  G.idle(function() error("in idle") end)
  is("in idle", G.run)
  is("no main loop runs", function() G.quit() end)
  local gone = setmetatable({}, { __mode = "k" })
  do
    local upvalue = {}
    gone[upvalue] = true
    local id = G.timeout(100000, function() return upvalue end)
    equal(G.remove(id), true)
    equal(G.remove(id), false)
  end
  G.idle(function() local inner = {} gone[inner] = true G.quit() end)
  G.run()
  collectgarbage() collectgarbage()
  equal(next(gone), nil)
end)

-- ---- GTK, where it is ----

local has_gtk, has_display = pcall(G.load, "libgtk-4.so.1", "gtk_init_check")
if not has_gtk then print("GTK 4: " .. has_display) end

case("GTK", function()
  if not has_gtk then
    skipped = skipped + 1
    return
  end
  local adjustment, values = G.GtkAdjustment { lower = 0, upper = 10, value = 2 }, {}
  adjustment:connect("value-changed", function(self) values[#values + 1] = self.value end)
  adjustment.value = 50
  equal(values[1], 10)
  -- A model of a model: a handler of the inner one mentions the outer one.
  local before = foreign.finalized()
  for i = 1, 100 do
    for _, name in ipairs { "GtkFilterListModel", "GtkSortListModel", "GtkSliceListModel", "GtkNoSelection",
                            "GtkMultiSelection", "GtkSingleSelection" } do
      local inner = foreign.watch(G.ListStore("GObject"))
      local outer = foreign.watch(G.new(name, { model = inner }))
      inner:append(G.SimpleAction("a"))
      equal(#outer, 1)
      inner:connect("items-changed", function() return outer end)
    end
  end
  check_collected(before, 1200)
  if has_display then
    local button, clicks = foreign.watch(G.GtkButton { label = "OK" }), 0
    button:connect("clicked", function(self) clicks = clicks + 1 equal(self, button) end)
    button:emit("clicked")
    equal(clicks, 1) equal(button.label, "OK")
  end
end)

case("trees of widgets", function()
  if not has_display then
    skipped = skipped + 1
    return
  end
  local before, runs = foreign.finalized(), 0
  for i = 1, 100 do
    local button = foreign.watch(G.GtkButton { label = "OK" })
    local frame = foreign.watch(G.GtkFrame { child = button })
    button:connect("clicked", function() return frame end)
    -- A widget in between that GTK makes, and a controller.
    local entry = foreign.watch(G.GtkEntry())
    local scrolled = foreign.watch(G.GtkScrolledWindow { child = entry })
    local click = foreign.watch(G.GtkGestureClick())
    foreign.control(entry, click)
    entry:connect("activate", function() return scrolled end)
    click:connect("pressed", function() return scrolled, frame end)
    for _, widget in ipairs { button, frame, entry, scrolled, click } do
      equal(G.unexplained(widget), 0)
    end
  end
  check_collected(before, 500)
  -- A tree of which a script has one widget, and one of which C has one.
  local kept
  for i = 1, 2 do
    local button = foreign.watch(G.GtkButton { label = "OK" })
    local frame = foreign.watch(G.GtkFrame { child = foreign.watch(G.GtkFrame { child = button }) })
    button:connect("clicked", function() runs = runs + 1 return frame.child end)
    if i == 1 then kept = frame else foreign.hold(button) end
  end
  for _ = 1, 3 do rawrefcount.collect() end
  kept.child.child:emit("clicked")
  foreign.held(1):emit("clicked")
  equal(runs, 2)
  kept = nil
  foreign.drop()
  check_collected(before, 506)
end)

case("widgets by description", function()
  local is_there, Gtk = pcall(function() return has_display and G.require("Gtk", "4.0") end)
  if not is_there or not Gtk then
    skipped = skipped + 1
    return
  end
  local before = foreign.finalized()
  do
    local box, button = foreign.watch(Gtk.Box.new("vertical", 5)), foreign.watch(Gtk.Button.new_with_label("OK"))
    box:append(button)
    button:connect("clicked", function() box:remove(button) end)
    equal(box:get_first_child(), button) equal(box:get_orientation(), "vertical") equal(G.unexplained(button), 0)
    button:emit("clicked")
    equal(box:get_first_child(), nil)
    box:append(button)
    local text = Gtk.TextBuffer.new(nil)
    text:set_text("a text\nof two lines", -1)
    local first, last = text:get_bounds()               -- structs that the caller allocates
    equal(text:get_text(first, last, false), "a text\nof two lines")
    local ok, place = text:get_iter_at_line(1)
    equal(ok, true) equal(place:forward_char(), true)
    text:insert(place, "--", 2)                         -- this changes the place
    equal(text:get_text(text:get_start_iter(), place, false), "a text\no--")
    local list = Gtk.ListBox.new()
    for i = 1, 5 do list:append(Gtk.Label.new("row " .. i)) end
    list:set_sort_func(function(a, b)
      return a:get_child():get_label() > b:get_child():get_label() and -1 or 1
    end)
    equal(list:get_row_at_index(0):get_child():get_label(), "row 5")
    list:set_sort_func(nil)
    local entry = Gtk.Entry.new()
    entry:set_text("abc") entry:select_region(0, 2)
    local selected, from, to = entry:get_selection_bounds()
    equal(selected, true) equal(from, 0) equal(to, 2) equal(entry.text, "abc")
    local store = new_store()
    for i = 1, 5 do store:append(G.SimpleAction("a" .. i)) end
    local filter = Gtk.CustomFilter.new(function(item) return item.name > "a3" end)
    local filtered = Gtk.FilterListModel.new(store, filter)     -- C takes a reference to each
    equal(#filtered, 2) equal(foreign.count(store), 2) equal(foreign.count(filter), 2)
    filter, filtered = nil, nil
    local sorter = Gtk.CustomSorter.new(function(a, b) return a.name > b.name and -1 or 1 end)
    equal(Gtk.SortListModel.new(store, sorter)[1].name, "a5")
    local mapped = Gtk.MapListModel.new(store, function(item)       -- the item is given, and the result is ours to give
      local other = foreign.watch(G.SimpleAction(item.name .. "'"))
      return other
    end)
    equal(mapped[2].name, "a2'")
    for _ = 1, 3 do rawrefcount.collect() end           -- the sorted list goes
    equal(foreign.count(store[2]), 2)
    mapped = nil
    local Gdk = G.require("Gdk", "4.0")
    local color = Gdk.RGBA { red = 1, alpha = 0.5 }     -- a struct of numbers
    equal(color:to_string(), "rgba(255,0,0,0.5)") equal(color.green, 0)
    color.blue = 1
    equal(color.blue, 1) equal(color:to_string(), "rgba(255,0,255,0.5)")
    equal(Gdk.Rectangle():intersect(Gdk.Rectangle { width = 5, height = 5 }), false)
    local ok, area = Gdk.Rectangle { width = 4, height = 5 }:intersect(Gdk.Rectangle { x = 1, width = 9, height = 9 })
    equal(ok, true) equal(area.x, 1) equal(area.width, 3)
    is("GdkRGBA has no field rd", Gdk.RGBA, { rd = 5 })
    is("GdkRGBA has no field 5", function() color["5"] = 1 end)
    is("bad value for red of GdkRGBA (number expected, got x)", function() color.red = "x" end)
    is("GdkRGBA has no method or field rd", function() return color.rd end)
    is("GtkTextIter cannot be made", Gtk.TextIter)
  end
  check_collected(before, 3)
end)

-- ---- which references the types of C have ----

local function new_list(...)
  local list = G.ListStore("GObject")
  for _, item in ipairs { ... } do list:append(item) end
  return list
end

-- An object for a property of this type.
local samples = {
  GObject = function() return G.SimpleAction("sample") end,
  GListModel = function() return new_list(new_list(G.SimpleAction("1"), G.SimpleAction("2")), new_list()) end,
  GInputStream = function() return G.MemoryInputStream() end,
  GOutputStream = function() return G.MemoryOutputStream() end,
  GConverter = function() return G.ZlibDecompressor() end,
  GIcon = function() return G.ThemedIcon { name = "edit" } end,
  GSocketAddress = function() return G.UnixSocketAddress { path = "/nowhere" } end,
  GCredentials = function() return G.Credentials() end,
  GUnixFDList = function() return G.UnixFDList() end,
  GFileInfo = function() return G.FileInfo() end,
  GMenuModel = function() return G.Menu() end,
  GtkFilter = function() return G.GtkStringFilter() end,
  GtkSorter = function() return G.GtkStringSorter() end,
  GtkSelectionModel = function() return G.GtkNoSelection { model = new_list(G.SimpleAction("selected")) } end,
  GtkListItemFactory = function() return G.GtkSignalListItemFactory() end,
  GtkShortcutTrigger = function() return G.GtkKeyvalTrigger { keyval = 65 } end,
  GtkShortcutAction = function() return G.GtkNamedAction { action_name = "edit" } end,
}
-- (The value is one that all objects share, and an object does not own it.)
local shared = { ["proxy-resolver"] = true }

-- What a type needs besides objects, and what its objects come to own otherwise.
local others = { GListStore = { item_type = "GObject" }, GPropertyAction = { name = "p", property_name = "enabled" } }
local owners = {
  GListStore = function(store, add)
    local item = add(G.SimpleAction("item"))
    store:append(item) store:append(add(G.SimpleAction("item"))) store:append(item)
  end,
  GSimpleActionGroup = function(group, add)
    group:add_action(add(G.SimpleAction("a"))) group:add_action(add(G.SimpleAction("b")))
  end,
}

-- An object of this type that owns all that it can own, and a list of that with all that has a wrapper.
local function fill(class, name)
  local given, all = {}, {}
  local function add(object)
    all[#all + 1] = object
    if object:is_a("GListModel") then
      for i = 1, #object do add(object[i]) end
    end
    return object
  end
  for key, value in pairs(others[name] or {}) do given[key] = value end
  for key, kind in pairs(foreign.properties(name)) do
    if not shared[key] then
      if not samples[kind] then error(("no sample of a %s, for %s of %s"):format(kind, key, name)) end
      given[key] = add(samples[kind]())
    end
  end
  local object = class(given)
  if owners[name] then owners[name](object, add) end
  return object, all
end

local function check_explained(name, all)
  for _, object in ipairs(all) do
    local n = foreign.unexplained(object)
    if n ~= 0 then error(("%s: %d references to %s more than are visited"):format(name, n, G.type(object))) end
  end
end

for _, name in ipairs(foreign.listed()) do
  case("what is visited of a " .. name, function()
    if name:find("^Gtk") and not has_gtk then
      skipped = skipped + 1
      return
    end
    for _, class in ipairs { G[name], subclass(name) } do
      local properties, fixed = foreign.properties(name)
      local object, all = fill(class, name)
      all[#all + 1] = object
      if foreign.visits(object) == 0 then error("nothing is visited") end
      check_explained(name, all)
      -- What is cleared is neither owned nor visited.
      foreign.clear(object)
      check_explained(name, all)
      equal(foreign.visits(object), fixed)
      -- Then some properties have a value that all objects share: the library owns it, and perhaps each object does.
      -- Two objects would visit it twice. (It is closed at the end, as it stays.)
      local another = fill(class, name)
      foreign.clear(another)
      for key in pairs(properties) do
        local ok, default = pcall(function() return object[key] end)
        if ok and default then
          if foreign.unexplained(default) < 0 then error(key .. " is not owned") end
          default:close()
        end
      end
      all, object, another = nil, nil, nil
      -- Each object that it owns has a handler that mentions it.
      local before, count = foreign.finalized(), 0
      do
        local object, all = fill(class, name)
        local watched = {}
        all[#all + 1] = object
        for _, owned in ipairs(all) do
          owned:connect("notify", function() return object end)
          if not watched[owned] then foreign.watch(owned) count = count + 1 end
          watched[owned] = true
        end
      end
      check_collected(before, count)
    end
  end)
end

case("a property of a script that a newer GTK has", function()
  if not has_gtk then
    skipped = skipped + 1
    return
  end
  if foreign.properties("GtkSortListModel")["section-sorter"] then return end
  local Sorted = subclass("GtkSortListModel", { properties = { ["section-sorter"] = "string" } })
  local list = Sorted { section_sorter = "text" }
  equal(foreign.visits(list), 0)
  foreign.clear(list)
end)

-- Failures once more: the end of a log is what one sees.
for _, message in ipairs(failures) do print(message) end
print(("%d passed, %d failed%s"):format(passed, #failures, skipped > 0 and ", " .. skipped .. " skipped" or ""))
if #failures > 0 then os.exit(1) end
