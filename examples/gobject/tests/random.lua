-- Random programs over GObject and Lua, against an oracle: random.lua FIRST COUNT STEPS
--                                                          random.lua soak SECONDS [FIRST]
--
-- The oracle is a graph of numbers beside the real one: lists and their items, groups and their actions, properties,
-- handlers, widgets, fields of scripts, tables, closures, coroutines, sources of the main loop, and what C holds. Every
-- operation walks through both and compares. The handlers that run must be those that are connected, in their order,
-- with the values of the signal; they do further operations, and raise errors. From time to time everything is
-- collected. What lives then must be what the oracle can reach, and each reference to a GObject must be explained.
-- At the end all is dropped, and nothing is left.
--
-- A soak makes programs until the time is over. The memory in use must stay as it is after the first ones.

local rawrefcount = require "rawrefcount"
local G = require "gobject"
local foreign = require "gobject.foreign"

local random, unpack = math.random, unpack or table.unpack
local is_51 = _VERSION == "Lua 5.1"     -- LuaJIT, too
local has_modes = pcall(collectgarbage, "incremental")         -- from Lua 5.4 on

-- Compiled code refers to what it was compiled for, and hangs at times if it is flushed while it runs.
if jit then jit.off() end

local SLOTS, ROOTS, HELD, DEPTH, UNKNOWN = 3, 8, 5, 3, 0

-- ---- what there is ----

local definition = { properties = { a = "GObject", b = "GObject", number = "int", flag = "boolean", text = "string" },
                     signals = { poke = { "int", returns = "int" }, give = { "GObject", returns = "GObject" } } }
local Made = G.subclass("RandomMade", "GObject", definition)
local MadeStore = G.subclass("RandomStore", G.ListStore, definition)
local MadeAction = G.subclass("RandomAction", G.SimpleAction, definition)
G.owns("Block", { "next" })

local has_gtk, has_display = pcall(G.load, "libgtk-4.so.1", "gtk_init_check")
local has_widgets = has_gtk and has_display and pcall(G.require, "Gtk", "4.0")          -- (with their methods)

-- The kinds of GObjects, with their signals. Those of models are not counted.
local signals = {
  store = { "items-changed" }, group = { "action-added", "action-removed", "action-enabled-changed" },
  action = { "activate", "notify::enabled" }, paction = { "notify::state" }, cancellable = { "cancelled" },
  made = { "poke", "give", "notify::number", "notify::flag", "notify::a", "notify::b" }, block = { "notify::next" },
  model = { "items-changed", "notify::model" }, box = { "notify::spacing" }, button = { "clicked", "notify::label" },
  click = { "pressed" },
}
local traits = {
  store = { "store" }, group = { "group" }, action = { "action" }, paction = { "paction" }, made = { "made" },
  cancellable = { "cancellable" }, madestore = { "store", "made" }, madeaction = { "action", "made" },
  block = { "block" }, filter = { "model" }, selection = { "model" }, single = { "model" }, box = { "box" },
  button = { "button" }, click = { "click" },
}
for _, list in pairs(traits) do
  for i = 1, #list do list[list[i]] = true end
end
local kinds = { "store", "store", "store", "group", "action", "action", "cancellable", "made", "made", "made",
                "madestore", "madeaction", "table", "table", "closure", "closure", "closure", "thread" }
if has_gtk then kinds[#kinds + 1] = "filter" kinds[#kinds + 1] = "selection" kinds[#kinds + 1] = "single" end
if has_widgets then
  for _, kind in ipairs { "box", "box", "button", "button", "click" } do kinds[#kinds + 1] = kind end
end
local model_types = { filter = "GtkFilterListModel", selection = "GtkNoSelection", single = "GtkSingleSelection" }

-- What was wrong first, as errors of handlers and finalizers do not get through; and the operation.
local failure, doing
local function fail(format, ...)
  local message = select("#", ...) > 0 and format:format(...) or format
  failure = failure or debug.traceback(("%s (operation: %s)"):format(message, doing), 2)
  error(failure, 0)
end

local fired = 0                 -- how many handlers

-- How soon Lua collects again, and how fast.
local function set_pace(pause, stepmul)
  if _VERSION == "Lua 5.5" then
    collectgarbage("param", "pause", pause)
    collectgarbage("param", "stepmul", stepmul)
  else
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", stepmul)
  end
end

local function run(seed, steps)
  math.randomseed(seed)
  set_pace(seed % 3 == 0 and random(100, 130) or 200, random(2) * 100)
  local model = {}              -- id -> { kind, slot 1 .. SLOTS = ids, and what its kind has }
  local roots, held, sources = {}, {}, {}       -- index -> id; number -> source
  local R = {}                  -- index -> object
  local last, depth, loops, source_count = 0, 0, 0, 0
  local watched = setmetatable({}, { __mode = "v" })    -- id -> object
  local contexts, busy, sequence = {}, {}, 0
  local remembered = {}         -- ids of which C has weak references
  local is_collecting = false   -- no script runs then but finalizers
  local spared = {}             -- ids of finalizers that can have run, as C took what was garbage
  local by_lua_alone = seed % 4 == 0
  local reachable, operate

  local function has(id, trait) local t = traits[model[id].kind] return t ~= nil and t[trait] or false end
  local function name_of(id) return "a" .. id end

  -- ---- the graph ----

  -- All references of an object; those that a script can follow have a way.
  local function each_reference(id, f)
    local m = model[id]
    for i = 1, SLOTS do
      if m[i] then f(m[i], "slot", i) end
    end
    if m.items then
      for i = 1, #m.items do f(m.items[i], "item", i) end
    end
    if m.actions then
      for action in pairs(m.actions) do f(action, "action", name_of(action)) end
    end
    if m.a then f(m.a, "property", "a") end
    if m.b then f(m.b, "property", "b") end
    if m.next then f(m.next, "property", "next") end
    if m.model then
      f(m.model, "property", "model")
      for i = 1, #model[m.model].items do f(model[m.model].items[i], "item", i) end
    end
    if m.object then f(m.object) end
    if m.children then
      for i = 1, #m.children do f(m.children[i], "child", i) end
    end
    if m.controllers then
      for i = 1, #m.controllers do f(m.controllers[i]) end
    end
    for _, c in ipairs(m.connections or {}) do f(c.closure) end
  end

  -- From one, or from all roots.
  function reachable(from)
    local seen, queue = {}, {}
    local function reach(id)
      if id and id ~= UNKNOWN and not seen[id] then
        seen[id] = true
        queue[#queue + 1] = id
      end
    end
    reach(from)
    if not from then
      for i = 1, ROOTS do reach(roots[i]) end
      for i = 1, #held do reach(held[i]) end
      for _, source in pairs(sources) do reach(source.closure) end
    end
    while #queue > 0 do each_reference(table.remove(queue), reach) end
    return seen
  end

  local function is_object(id) return traits[model[id].kind] ~= nil end

  local function read_id(x) return x._id end
  local function id_of(x)
    if type(x) == "function" then return x("id") end
    local ok, id = pcall(read_id, x)
    if not ok then fail(id) end
    return id
  end

  local function same(x, id, where)
    if x == nil then fail("lost: %d (%s), %s", id, model[id].kind, where) end
    if is_object(id) and model[id].is_fresh then
      if x._id ~= nil then fail("%s: %s is not new", where, tostring(x._id)) end
      model[id].is_fresh = nil
      x._id = id
      if not foreign.number_of(x) then foreign.number(x, id) end
    end
    if id_of(x) ~= id then fail("%s: %s, not %d (%s)", where, tostring(id_of(x)), id, model[id].kind) end
    if is_object(id) and foreign.number_of(x) ~= id then fail("%s: another object than %d", where, id) end
    local known = watched[id]
    if model[id].kind == "finalizer" or known == x then return end
    if known ~= nil or not is_object(id) and not spared[id] then fail("%s: another object than %d", where, id) end
    watched[id] = x                             -- C had the object, and Lua had let go
  end

  local function get(x, i)
    if type(x) == "userdata" then return x["_" .. i] end
    if type(x) == "table" then return x[i] end
    return x(i)
  end
  local function set(x, i, value)
    if type(x) == "userdata" then x["_" .. i] = value
    elseif type(x) == "table" then x[i] = value
    else x(i, value, true) end
  end

  local function follow(x, to, way, key)
    local y
    if way == "slot" then y = get(x, key)
    elseif way == "item" then y = x[key]
    elseif way == "action" then y = x:lookup_action(key)
    elseif way == "property" then y = x[key]
    elseif way == "child" then
      y = x:get_first_child()
      for _ = 2, key do y = y:get_next_sibling() end
    end
    same(y, to, way .. " " .. key)
    return y
  end

  -- What a script can read of an object.
  local function check_values(x, id)
    local m = model[id]
    local function equal(actual, expected, what)
      if actual ~= expected then
        fail("%s of %d (%s): %s, not %s", what, id, m.kind, tostring(actual), tostring(expected))
      end
    end
    if m.items then equal(x:get_n_items(), #m.items, "length") end
    if m.model then equal(x:get_n_items(), #model[m.model].items, "length") end
    if has(id, "made") then
      equal(x.number, m.number, "number")
      equal(x.flag, m.flag, "flag")
      equal(x.text, m.text, "text")
    end
    if has(id, "action") then equal(x.enabled, m.enabled, "enabled") end
    if m.kind == "paction" then equal(x.state, model[m.object][m.property], "state") end
    for i = 1, SLOTS do
      if not m[i] then equal(get(x, i), nil, "slot " .. i) end
    end
  end

  -- Walk everywhere.
  local function compare_all()
    local seen, queue = {}, {}
    local function reach(x, id, where)
      if not seen[id] then
        same(x, id, where)
        seen[id] = x
        queue[#queue + 1] = id
      end
    end
    for i = 1, ROOTS do
      if roots[i] then reach(R[i], roots[i], "root " .. i) end
    end
    for i = 1, #held do reach(foreign.held(i), held[i], "held by C") end
    while #queue > 0 do
      local id = table.remove(queue)
      local x = seen[id]
      if model[id].kind ~= "finalizer" then
        check_values(x, id)
        each_reference(id, function(to, way, key)
          if way and not seen[to] then reach(follow(x, to, way, key), to, way) end
        end)
      end
    end
    return seen
  end

  -- A random object that is reachable, of a trait: the real one and its id.
  local function walk_anywhere()
    local x, id
    if #held > 0 and random(4) == 1 then
      local i = random(#held)
      x, id = foreign.held(i), held[i]
      same(x, id, "held by C")
    else
      local i = random(ROOTS)
      if not roots[i] then return nil end
      x, id = R[i], roots[i]
      same(x, id, "root")
    end
    for _ = 1, random(0, 5) do
      local n, to, way, key = 0, nil, nil, nil
      if model[id].kind == "finalizer" then return nil end
      each_reference(id, function(other, a_way, a_key)
        if a_way then
          n = n + 1
          if random(n) == 1 then to, way, key = other, a_way, a_key end
        end
      end)
      if not to or model[to].kind == "finalizer" then break end
      x, id = follow(x, to, way, key), to
    end
    if model[id].kind == "finalizer" then return nil end
    return x, id
  end
  local function walk(trait)
    for _ = 1, trait and 10 or 2 do
      local x, id = walk_anywhere()
      if x and (not trait or trait == "object" and is_object(id) or has(id, trait)) then return x, id end
    end
  end

  -- ---- calls, and the handlers that they make run ----

  -- expected: { { id, signal, value ... } ... }; others: more ids of objects that handlers must leave as they are.
  -- Returns nothing if a call is at work that has to do with one of these. Else true, and the results.
  local function call(expected, others, f, ...)
    local context, before = { first = sequence, emissions = {} }, nil
    local ids = {}
    for _, e in ipairs(expected) do ids[#ids + 1] = e[1] end
    for _, id in ipairs(others) do ids[#ids + 1] = id end
    for _, id in ipairs(ids) do
      if busy[id] then return end
    end
    for i, e in ipairs(expected) do
      local list = {}
      e.n = e.n or #e
      for _, c in ipairs(model[e[1]].connections or {}) do
        if c.signal == e[2] then list[#list + 1] = c end
      end
      table.sort(list, function(c, d)
        if c.is_after ~= d.is_after then return d.is_after end
        return c.number < d.number
      end)
      context.emissions[e[1] .. e[2]] = { values = e, list = list, at = 0 }
      if i > 1 then before = before or reachable() end
    end
    for _, id in ipairs(ids) do busy[id] = true end
    contexts[#contexts + 1] = context
    local results = { pcall(f, ...) }
    contexts[#contexts] = nil
    for _, id in ipairs(ids) do busy[id] = nil end
    if failure then error(failure, 0) end
    local is_ok, text = results[1], results[2]
    if context.raised then
      if is_ok then fail("the error of a handler is lost") end
      if type(context.raised) == "string" and not tostring(text):find(context.raised, 1, true)
         or type(context.raised) ~= "string" and text ~= context.raised then
        fail("another error than that of the first handler: %s", tostring(text))
      end
    elseif not is_ok then
      fail("an error: %s", tostring(text))
    end
    local after
    for i, e in ipairs(expected) do
      local emission = context.emissions[e[1] .. e[2]]
      for j = emission.at + 1, #emission.list do
        if not emission.list[j].is_over then
          after = after or reachable()
          if after[e[1]] and (i == 1 or before[e[1]]) then
            fail("a handler of %s of %d (%s) has not run", e[2], e[1], model[e[1]].kind)
          end
        end
      end
    end
    return true, not context.raised and select(2, unpack(results)) or nil, context
  end

  -- In a handler or source of closure id: more operations, and perhaps an error.
  local function do_more(id, context)
    if depth < DEPTH and random(3) == 1 then
      depth = depth + 1
      for _ = 1, random(3) do operate() end
      depth = depth - 1
    end
    if model[id].raises and context and not context.raised and random(3) == 1 then
      context.raised = random(2) == 1 and "raised by " .. id or { id }
      error(context.raised, 0)
    end
  end

  -- The handler of a connection runs: check is the function that compares the slots of its closure.
  local function handle(c, check, self, ...)
    fired = fired + 1
    if failure then error(failure, 0) end
    if c.is_over then fail("a handler of %d runs that is not connected", c.id) end
    if is_collecting and not reachable()[c.id] then
      fail("a handler of %d (%s) runs, which is garbage", c.id, model[c.id].kind)
    end
    if id_of(self) ~= c.id then fail("a handler of %d runs for %s", c.id, tostring(id_of(self))) end
    check()
    local context = contexts[#contexts]
    if c.is_loose then return end
    local emission = context and context.emissions[c.id .. c.signal]
    if not emission then fail("a handler of %s of %d (%s) runs", c.signal, c.id, model[c.id].kind) end
    local values = emission.values
    if select("#", ...) ~= values.n - 2 then
      fail("%d values of %s, not %d", select("#", ...), c.signal, values.n - 2)
    end
    for i = 1, values.n - 2 do
      local value, expected = select(i, ...), values[i + 2]
      if c.signal == "give" and i == 1 then value = value and id_of(value) end
      if value ~= expected then
        fail("value %d of %s of %d: %s, not %s", i, c.signal, c.id, tostring(value), tostring(expected))
      end
    end
    if c.number <= context.first then
      repeat emission.at = emission.at + 1
      until not emission.list[emission.at] or not emission.list[emission.at].is_over
      if emission.list[emission.at] ~= c then fail("handlers of %s of %d in another order", c.signal, c.id) end
    end
    emission.result = c.signal == "poke" and (values[3] + c.closure) % 1000 or nil
    do_more(c.closure, context)
    if c.signal == "poke" then return emission.result end
    if c.signal == "give" then return (...) end
  end

  -- ---- making ----

  local function finalized(id)
    if reachable()[id] and not spared[id] then fail("a finalizer has run that can be reached: %d", id) end
    model[id].is_over = true
    local what = random(6)
    if what == 1 then collectgarbage("step", 1) elseif what == 2 then rawrefcount.step(random(50)) end
  end

  -- The closure of id: its slots are read and written through calls. It is a handler and a source, too.
  local function new_closure(id)
    local slots = {}
    local function check()
      for i = 1, SLOTS do
        local to = model[id][i]
        if to then same(slots[i], to, "slot of a handler") elseif slots[i] ~= nil then fail("a slot of %d", id) end
      end
    end
    return function(i, value, ...)
      if i == "id" then return id end
      if type(i) == "table" then return handle(i, check, value, ...) end
      if i == "run" then return check() end
      if ... then slots[i] = value end
      return slots[i]
    end
  end

  local function new_thread(id)
    local co = coroutine.wrap(function()
      local slots, answer = {}, nil
      while true do
        local i, value, is_set = coroutine.yield(answer)
        if i == "id" then answer = id else
          if is_set then slots[i] = value end
          answer = slots[i]
        end
      end
    end)
    co()
    return co
  end

  local function new_finalizer(id)
    if not is_51 then return setmetatable({ _id = id }, { __gc = function() finalized(id) end }) end
    local object = newproxy(true)
    getmetatable(object).__gc = function() finalized(id) end
    getmetatable(object).__index = { _id = id }
    return object
  end

  local makers = {
    store = function() return G.ListStore("GObject") end,
    group = function() return G.SimpleActionGroup() end,
    action = function(id, m)
      m.enabled = true
      return G.SimpleAction { name = name_of(id), parameter_type = "i" }
    end,
    cancellable = function() return G.Cancellable() end,
    made = function(_, m)
      m.number, m.flag = random(100), random(2) == 1
      return Made { number = m.number, flag = m.flag }
    end,
    madestore = function(_, m)
      m.number, m.flag = 0, false
      return MadeStore("GObject")
    end,
    madeaction = function(id, m)
      m.number, m.flag, m.enabled, m.text = 0, false, true, "text of " .. id
      return MadeAction { name = name_of(id), parameter_type = "i", text = m.text }
    end,
    block = function() return G.new("Block") end,
    box = function() return G.new("GtkBox") end,
    button = function(id, m)
      m.label = "label " .. id
      return G.new("GtkButton", { label = m.label })
    end,
    click = function() return G.new("GtkGestureClick") end,
    table = function(id) return { _id = id } end,
    closure = new_closure, thread = new_thread, finalizer = new_finalizer,
  }
  for kind, name in pairs(model_types) do
    makers[kind] = function() return G.new(name) end
  end

  local function new_model(kind)
    last = last + 1
    local m = { kind = kind }
    model[last] = m
    if traits[kind] then
      m.connections = {}
      if traits[kind].store then m.items = {} end
      if traits[kind].group then m.actions = {} end
      if traits[kind].box then m.children = {} end
      if traits[kind].box or traits[kind].button then m.controllers = {} end
    end
    if kind == "closure" then m.raises = random(3) == 1 end
    return last, m
  end

  local function make(kind)
    local id, m = new_model(kind)
    local x = makers[kind](id, m)
    if traits[kind] then
      x._id = id
      foreign.number(x, id)
    end
    if kind ~= "finalizer" then watched[id] = x end
    return x, id
  end

  -- ---- operations ----

  local function hold(x, id)
    held[#held + 1] = id
    foreign.hold(x)
  end

  local function collect()
    is_collecting = true
    local what = random(by_lua_alone and 5 or 12)
    if what <= 1 then collectgarbage()
    elseif what <= 4 then collectgarbage("step", random(0, 20))
    elseif what == 5 then
      if has_modes then collectgarbage(random(2) == 1 and "generational" or "incremental") end
    elseif what <= 9 then rawrefcount.step(random(100))
    elseif what <= 11 then rawrefcount.step()
    else rawrefcount.collect() end
    is_collecting = false
  end

  local operations, names = {}, {}
  local function operation(weight, name, f)
    for _ = 1, weight do
      operations[#operations + 1] = f
      names[#names + 1] = name
    end
  end
  function operate()
    local i = random(#operations)
    if failure then error(failure, 0) end
    doing = names[i]
    operations[i]()
    if failure then error(failure, 0) end
  end

  operation(10, "new, in a root", function()
    local i = random(ROOTS)
    local x, id = make(kinds[random(#kinds)])
    R[i], roots[i] = x, id
  end)
  operation(1, "a large one", function()
    local i = random(ROOTS)
    local x, id = make("block")
    R[i], roots[i] = x, id
  end)
  operation(6, "new, in a slot", function()
    local x, id = walk()
    if not x then return end
    local i = random(SLOTS)
    local y, to = make(random(8) == 1 and "finalizer" or kinds[random(#kinds)])
    model[id][i] = to
    set(x, i, y)
  end)
  operation(2, "new, by C", function()
    if #held >= HELD then return end
    local id, m = new_model("made")
    m.number, m.flag, m.is_fresh = 0, false, true
    held[#held + 1] = id
    foreign.make(Made)
  end)
  -- What two objects hold, and Lua does not know, holds what it has from outside. So a list with an object that Lua
  -- does not know is not the model of a selection, which holds one of its items, too.
  local function has_single(id)
    for _, m in pairs(model) do
      if m.kind == "single" and m.model == id then return true end
    end
    return false
  end
  local function has_fresh_item(id)
    for _, item in ipairs(model[id].items) do
      if model[item].is_fresh then return true end
    end
    return false
  end
  operation(2, "new, by C, in a list", function()
    local x, id = walk("store")
    local y, to = walk("object")
    if not x or not y or has_single(id) then return end
    local inner, m = new_model("store")
    m.items[1], m.is_fresh = to, true
    local at = #model[id].items
    call({ { id, "items-changed", at, 0, 1 } }, {}, function()
      model[id].items[at + 1] = inner
      foreign.nest(x, y)
    end)
    if model[id].items[at + 1] ~= inner then model[inner] = nil end
  end)
  operation(12, "a slot", function()
    local x, id = walk()
    local y, to = walk()
    if not x or not y then return end
    local i = random(SLOTS)
    model[id][i] = to
    set(x, i, y)
  end)
  operation(5, "a slot less", function()
    local x, id = walk()
    if not x then return end
    local i = random(SLOTS)
    model[id][i] = nil
    set(x, i, nil)
  end)
  operation(4, "a root", function()
    local x, id = walk()
    local i = random(ROOTS)
    R[i], roots[i] = x, id
  end)
  operation(6, "a root less", function()
    local i = random(ROOTS)
    R[i], roots[i] = nil, nil
  end)
  operation(4, "C takes a reference", function()
    local x, id = walk("object")
    if x and #held < HELD then hold(x, id) end
  end)
  operation(5, "C drops one", function()
    if #held == 0 then return end
    local i = random(#held)
    held[i] = held[#held]
    held[#held] = nil
    foreign.release(i)
  end)
  operation(2, "C remembers", function()
    local x, id = walk("object")
    if not x or remembered[id] then return end
    remembered[id] = true
    foreign.remember(x)
  end)
  operation(2, "C takes what it remembers", function()
    if #held > 2 * HELD then return end
    local before, reached = reachable(), {}
    local count = foreign.revive()
    for _ = 1, count do held[#held + 1] = UNKNOWN end
    for i = #held - count + 1, #held do
      local x = foreign.held(i)
      local id = foreign.number_of(x)
      if not model[id] then fail("C takes %d, which is gone", id) end
      held[i] = id
      same(x, id, "remembered")
      for other in pairs(reachable(id)) do reached[other] = true end
    end
    for id in pairs(reached) do spared[id] = spared[id] or not before[id] end
    remembered = {}
  end)

  -- Handlers.
  operation(12, "connect", function()
    local x, id = walk("object")
    local f, closure = walk()
    if not x or #model[id].connections > 5 then return end
    if not f or model[closure].kind ~= "closure" then
      f, closure = make("closure")
      for i = 1, SLOTS do
        local y, to = walk()
        model[closure][i] = to
        set(f, i, y)
      end
    end
    local trait = traits[model[id].kind][random(#traits[model[id].kind])]
    sequence = sequence + 1
    local c = { id = id, signal = signals[trait][random(#signals[trait])], closure = closure, number = sequence,
                is_after = random(3) == 1, is_loose = trait == "model" }
    local list = model[id].connections
    list[#list + 1] = c
    c.handler = x:connect(c.signal, function(...) return f(c, ...) end, c.is_after)
  end)
  operation(5, "disconnect", function()
    local x, id = walk("object")
    local list = x and model[id].connections
    if not x or #list == 0 then return end
    local c = table.remove(list, random(#list))
    c.is_over = true
    x:disconnect(c.handler)
  end)

  -- Lists.
  local function items_changed(id, at, removed, added) return { { id, "items-changed", at, removed, added } } end
  operation(10, "an item", function()
    local x, id = walk("store")
    local y, to = walk("object")
    if not x or not y or #model[id].items > 20 then return end
    local items, at = model[id].items, random(0, #model[id].items)
    call(items_changed(id, at, 0, 1), {}, function()
      table.insert(items, at + 1, to)
      if at == #items - 1 then x:append(y) else x:insert(at, y) end
    end)
  end)
  operation(5, "an item less", function()
    local x, id = walk("store")
    if not x or #model[id].items == 0 then return end
    local items, at = model[id].items, random(#model[id].items) - 1
    call(items_changed(id, at, 1, 0), {}, function()
      table.remove(items, at + 1)
      x:remove(at)
    end)
  end)
  operation(1, "all items less", function()
    local x, id = walk("store")
    if not x then return end
    call(items_changed(id, 0, #model[id].items, 0), {}, function()
      model[id].items = {}
      x:remove_all()
    end)
  end)
  operation(has_gtk and 5 or 0, "a model", function()
    local x, id = walk("model")
    local y, to = nil, nil
    if random(4) > 1 then y, to = walk("store") end
    if not x or to and model[id].kind == "single" and has_fresh_item(to) then return end
    call({}, { id, to, model[id].model }, function()
      model[id].model = to
      x.model = y
    end)
  end)

  -- Actions. Groups that are garbage have handlers, too.
  local function enabled_changed(id, is_enabled)
    local list = { { id, "notify::enabled", "enabled" } }
    for other, m in pairs(model) do
      if m.actions and m.actions[id] then
        list[#list + 1] = { other, "action-enabled-changed", name_of(id), is_enabled }
      end
    end
    return list
  end
  operation(6, "an action in a group", function()
    local x, id = walk("group")
    local y, to = walk("action")
    if not x or not y then return end
    local expected = model[id].actions[to] and {} or { { id, "action-added", name_of(to) } }
    call(expected, { to, expected[1] == nil and id or nil }, function()
      model[id].actions[to] = true
      x:add_action(y)
    end)
  end)
  operation(2, "an action less", function()
    local x, id = walk("group")
    local to = x and next(model[id].actions)
    if not to then return end
    call({ { id, "action-removed", name_of(to) } }, { to }, function()
      model[id].actions[to] = nil
      x:remove_action(name_of(to))
    end)
  end)
  operation(6, "activate", function()
    local x, id = walk("action")
    if not x then return end
    local n = random(1000)
    local expected = model[id].enabled and { { id, "activate", n } } or {}
    call(expected, {}, function() x:activate(n) end)
  end)
  operation(4, "enabled", function()
    local x, id = walk("action")
    if not x then return end
    local value = random(3) > 1
    call(enabled_changed(id, value), {}, function()
      model[id].enabled = value
      x.enabled = value
    end)
  end)

  -- Properties. Actions of properties that are garbage have handlers, too.
  local function property_changed(id, name)
    local list = { { id, "notify::" .. name, name } }
    for other, m in pairs(model) do
      if m.object == id and m.property == name then list[#list + 1] = { other, "notify::state", "state" } end
    end
    return list
  end
  local function new_value(name)
    if name == "number" then return random(100) end
    return random(2) == 1
  end
  operation(4, "an action of a property", function()
    local x, id = walk("made")
    if not x then return end
    local i, name = random(ROOTS), random(2) == 1 and "number" or "flag"
    call({}, { id }, function()
      local to, m = new_model("paction")
      m.object, m.property = id, name
      local y = G.PropertyAction { name = name_of(to), object = x, property_name = name }
      y._id = to
      foreign.number(y, to)
      watched[to] = y
      R[i], roots[i] = y, to
    end)
  end)
  operation(6, "a number or flag", function()
    local x, id = walk("made")
    if not x then return end
    local name = random(2) == 1 and "number" or "flag"
    local value = new_value(name)
    call(property_changed(id, name), {}, function()
      model[id][name] = value
      x[name] = value
    end)
  end)
  operation(6, "the state of an action", function()
    local x, id = walk("paction")
    if not x then return end
    local object, name = model[id].object, model[id].property
    local value = new_value(name)
    call(property_changed(object, name), {}, function()
      if name == "flag" and random(2) == 1 then
        model[object].flag = not model[object].flag
        x:activate()
      else
        model[object][name] = value
        x:change_state(value)
      end
    end)
  end)
  operation(8, "a property", function()
    local x, id = walk("made")
    local y, to = walk("object")
    if not x then return end
    local name = random(2) == 1 and "a" or "b"
    call({ { id, "notify::" .. name, name } }, {}, function()
      model[id][name] = to
      x[name] = y
    end)
  end)
  operation(2, "a text", function()
    local x, id = walk("made")
    if not x then return end
    local text = random(4) > 1 and ("x"):rep(random(5000)) or nil
    call({}, {}, function()
      model[id].text = text
      x.text = text
    end)
  end)
  operation(3, "the next block", function()
    local x, id = walk("block")
    local y, to = walk("object")
    if not x then return end
    call({ { id, "notify::next", "next" } }, {}, function()
      model[id].next = to
      x.next = y
    end)
  end)

  -- Signals.
  operation(8, "poke", function()
    local x, id = walk("made")
    if not x then return end
    local n = random(1000)
    local is_done, result, context = call({ { id, "poke", n } }, {}, function() return x:emit("poke", n) end)
    local emission = is_done and context.emissions[id .. "poke"]
    if is_done and not context.raised and result ~= (emission.result or 0) then
      fail("the result of %d is %s, not %s", id, tostring(result), tostring(emission.result))
    end
  end)
  operation(4, "give", function()
    local x, id = walk("made")
    local y, to = walk("object")
    if not x then return end
    local is_done, result, context = call({ { id, "give", to, n = 3 } }, {}, function() return x:emit("give", y) end)
    if is_done and not context.raised and result ~= nil and result ~= y then fail("the result of give is another") end
  end)
  operation(3, "cancel", function()
    local x, id = walk("cancellable")
    if not x then return end
    local expected = { { id, "cancelled" } }
    if model[id].is_cancelled then
      call({}, { id }, function()
        model[id].is_cancelled = nil
        G.call("g_cancellable_reset", "v(o)", x)
      end)
    else
      call(expected, {}, function()
        model[id].is_cancelled = true
        G.call("g_cancellable_cancel", "v(o)", x)
      end)
    end
  end)

  -- Widgets.
  local function child_out_of(to)
    local parent = model[to].parent
    if not parent then return end
    for i, child in ipairs(model[parent].children) do
      if child == to then table.remove(model[parent].children, i) break end
    end
    model[to].parent = nil
  end
  local function is_inside(id, of)
    while id and id ~= of do id = model[id] and model[id].parent end
    return id ~= nil
  end
  operation(has_widgets and 8 or 0, "a child", function()
    local x, id = walk("box")
    local y, to = walk(random(3) == 1 and "box" or "button")
    if not x or not y or is_inside(id, to) or #model[id].children > 5 then return end
    -- The parent can be garbage: a child has no reference to it, and it loses its child when it dies.
    local parent = y:get_parent()
    if parent then
      same(parent, model[to].parent, "parent")
      for other in pairs(reachable(model[to].parent)) do spared[other] = true end
      parent:remove(y)
    end
    child_out_of(to)
    x:append(y)
    table.insert(model[id].children, to)
    model[to].parent = id
  end)
  operation(has_widgets and 3 or 0, "a child less", function()
    local x, id = walk("box")
    if not x or #model[id].children == 0 then return end
    local i = random(#model[id].children)
    local to = model[id].children[i]
    local y = follow(x, to, "child", i)
    x:remove(y)
    child_out_of(to)
  end)
  operation(has_widgets and 3 or 0, "a controller", function()
    local x, id = walk(random(2) == 1 and "box" or "button")
    local y, to = walk("click")
    if not x or not y or model[to].widget then return end
    table.insert(model[id].controllers, to)
    model[to].widget = id
    foreign.control(x, y)
  end)
  operation(has_widgets and 5 or 0, "signals of widgets", function()
    local x, id = walk("button")
    local y, to = walk("click")
    local z, box = walk("box")
    if x then call({ { id, "clicked" } }, {}, function() x:emit("clicked") end) end
    if y then call({ { to, "pressed", 1, 0.5, 2 } }, {}, function() y:emit("pressed", 1, 0.5, 2) end) end
    if z then call({ { box, "notify::spacing", "spacing" } }, {}, function() z.spacing = z.spacing + 1 end) end
    if x then call({ { id, "notify::label", "label" } }, {}, function() x.label = x.label .. "." end) end
  end)

  -- The main loop.
  operation(4, "a source", function()
    local f, closure = walk()
    if not f or model[closure].kind ~= "closure" then return end
    source_count = source_count + 1
    local source, n = { closure = closure, again = random(4) == 1 and 1 or 0 }, source_count
    sources[n] = source
    local function work()
      if failure then error(failure, 0) end
      if not sources[n] then fail("a source runs that was removed") end
      fired = fired + 1
      f("run")
      source.again, source.has_run = source.again - 1, true
      sources[n] = nil                          -- an error removes it
      do_more(closure, contexts[#contexts])
      if source.again < 0 then return end
      sources[n] = source
      return true
    end
    source.id = random(3) == 1 and source.again == 0 and G.timeout(0, work) or G.idle(work)
  end)
  operation(1, "a source less", function()
    local n, source = next(sources)
    if not source or loops > 0 then return end
    sources[n] = nil
    if not G.remove(source.id) then fail("no such source") end
  end)
  local function run_loop()
    if loops > 0 then return end
    loops = 1
    local waiting = {}
    for n, source in pairs(sources) do waiting[n], source.has_run = source, nil end
    local quit = G.idle(function() G.quit() end)
    local _, _, context = call({}, {}, G.run)
    loops = 0
    if context.raised then
      G.remove(quit)
    else
      for _, source in pairs(waiting) do
        if not source.has_run then fail("a source has not run") end
      end
    end
  end
  operation(3, "the main loop", run_loop)

  operation(2, "in a coroutine", function()
    if depth < DEPTH then
      depth = depth + 1
      local ok, message = coroutine.resume(coroutine.create(operate))
      depth = depth - 1
      if not ok then error(message, 0) end
    end
  end)
  operation(8, "a collection", collect)

  -- Is the proxy of a GObject in Lua, or in its garbage?
  local function is_in_lua(id)
    for i = 1, ROOTS do
      if roots[i] == id then return true end
    end
    for _, m in pairs(model) do
      for i = 1, SLOTS do
        if m[i] == id then return true end
      end
    end
    return false
  end
  operation(4, "close what C has", function()
    local x, id = walk("object")
    if depth > 0 or not x or has(id, "made") or has(id, "paction") or is_in_lua(id) then return end
    for _, c in ipairs(model[id].connections) do c.is_over = true end
    model[id].connections, model[id].is_fresh = {}, true
    for i = 1, SLOTS do model[id][i] = nil end
    watched[id] = nil
    foreign.hold(x)
    x:close()
    same(foreign.held(#held + 1), id, "closed")         -- (else a cycle of lists would leak, as in C)
    foreign.release(#held + 1)
  end)

  -- ---- checks ----

  local function collect_all()
    is_collecting = true
    if by_lua_alone then
      if has_modes then collectgarbage("incremental") end
      for _ = 1, 30 do
        collectgarbage()
        G.SimpleAction("made")
      end
    else
      for _ = 1, 4 do rawrefcount.collect() end
    end
    is_collecting = false
  end

  local function kind_of(id) return model[id] and model[id].kind or "checked before" end

  local function check_all()
    doing = "a check"
    compare_all()
    collect_all()
    local expected = reachable()
    local alive = foreign.numbers()
    for id in pairs(alive) do
      if not expected[id] then fail("%d (%s) has leaked", id, kind_of(id)) end
    end
    for id in pairs(watched) do
      if not expected[id] then fail("%d (%s) has leaked in Lua", id, kind_of(id)) end
    end
    local references = {}
    for i = 1, #held do references[held[i]] = (references[held[i]] or 0) + 1 end
    for id, m in pairs(model) do
      if m.kind == "finalizer" and not m.is_over and not expected[id] then fail("finalizer %d has not run", id) end
      if not expected[id] then model[id] = nil end
    end
    for id in pairs(remembered) do
      if not expected[id] then remembered[id] = nil end
    end
    for _, m in pairs(model) do
      if m.parent and not model[m.parent] then m.parent = nil end
      if m.widget and not model[m.widget] then m.widget = nil end
    end
    for id, x in pairs(compare_all()) do
      if is_object(id) then
        local n = G.unexplained(x)
        if n ~= (references[id] or 0) then
          fail("%d references to %d (%s) are not explained: C holds %d", n, id, model[id].kind, references[id] or 0)
        end
      end
    end
  end

  for step = 1, steps do
    operate()
    if step % 300 == 0 then check_all() end
  end
  check_all()
  R, roots, held, remembered = {}, {}, {}, {}
  foreign.drop()
  foreign.revive()
  foreign.drop()
  for _, source in pairs(sources) do
    if not G.remove(source.id) then fail("a source is gone") end
  end
  sources = {}
  check_all()
  if next(foreign.numbers()) then fail("GObjects are left") end
end

-- Each program leaves as many objects as there were.
local objects
local function run_and_check(seed, steps)
  failure = nil
  local ok, message = xpcall(function() run(seed, steps) end, debug.traceback)
  if not ok and not failure then failure = message end
  if failure then return failure end
  for _ = 1, 3 do rawrefcount.collect() end
  local now = rawrefcount.stats().objects
  if objects and now ~= objects then return ("%d objects of rawrefcount.h are left, not %d"):format(now, objects) end
  objects = now
end

local function report(seed, steps, message)
  print(("FAILED: seed %d: %s"):format(seed, message))
  print(("again: random.lua %d 1 %d"):format(seed, steps))
  print("0 passed, 1 failed")
  os.exit(1)
end

local function resident()
  local file = io.open("/proc/self/status")
  local kib = file and file:read("*a"):match("VmRSS:%s*(%d+)")
  if file then file:close() end
  return tonumber(kib) or 0
end

if ... == "soak" then
  local seconds, seed = tonumber((select(2, ...))), tonumber((select(3, ...))) or 1
  local STEPS, WARM_UP, SLACK, LUA_SLACK = 1000, 30, 2 * 1024, 200        -- KiB
  local start, done, said, first, first_of_lua = os.time(), 0, 0, nil, nil
  repeat
    local message = run_and_check(seed + done, STEPS)
    if message then report(seed + done, STEPS, message) end
    done = done + 1
    local now, now_of_lua = resident(), collectgarbage("count")
    if done == WARM_UP then first, first_of_lua = now, now_of_lua end
    local spent = os.time() - start
    if done >= WARM_UP and (spent - said >= 60 or spent >= seconds) then
      said = spent
      print(("%d s, %d programs, %d handlers: %.0f KiB of Lua, %d KiB resident"):format(spent, done, fired, now_of_lua,
                                                                                        now))
      io.stdout:flush()
      if now > first + SLACK or now_of_lua > first_of_lua + LUA_SLACK then
        report(seed + done - 1, STEPS, ("after the first programs it was %.0f and %d KiB"):format(first_of_lua, first))
      end
    end
  until done >= WARM_UP and os.time() - start >= seconds
else
  local first, count, steps = tonumber((...)), tonumber((select(2, ...))), tonumber((select(3, ...)))
  for seed = first, first + count - 1 do
    local message = run_and_check(seed, steps)
    if message then report(seed, steps, message) end
  end
  if fired == 0 then report(first, steps, "no handler has run") end
end
print("1 passed, 0 failed")
