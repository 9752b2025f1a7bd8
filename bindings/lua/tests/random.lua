-- Random programs over both heaps, against an oracle: random.lua FIRST COUNT STEPS MODE
--
-- MODE: incremental, generational, stepped, stressed; rare, in which Lua collects often and
-- steps are rare, so that each has much to do; sliced, in which a step is nearly always open; or everywhere, for a Lua that collects
-- wherever it can (see checked.sh; 5.1 and LuaJIT can be told to); "control" moves references
-- without touch, and must find a loss.
--
-- The oracle is a graph of numbers beside the real one. Every operation walks through
-- both and compares; so a live object that is lost is noticed at once. From time to
-- time everything is collected, and what C has then must be what the oracle can reach.
--
-- random.c runs this in states whose allocations fail.
--
-- Every second seed has keepers, too: objects with a finalizer that has C hold a node which
-- dies with them, or did. Proxies that Lua tables refer to are gone then; all else is not.

local rawrefcount = require "rawrefcount"
local nodes = require "nodes"
local first, count, steps, mode = tonumber((...)), tonumber((select(2, ...))), tonumber((select(3, ...))), select(4, ...)

local FIELDS, ROOTS, HELD = 3, 8, 4
local NOTE = FIELDS + 1         -- of a node: a field of the script's
local LAST = NOTE + 2           -- of a wrapper: what its foreign object refers to
local random = math.random
local is_51 = _VERSION == "Lua 5.1"     -- LuaJIT, too
local jit = jit or { on = function() end, off = function() end, flush = function() end }

-- In 5.5 an emergency collection in a finalizer leaves all other finalizers to the next collection.
local rounds = mode == "everywhere" and _VERSION == "Lua 5.5" and 1000 or 3

local function set_pace(pause, stepmul)
  if _VERSION == "Lua 5.5" then
    collectgarbage("param", "pause", pause)
    collectgarbage("param", "stepmul", stepmul)
  else
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", stepmul)
  end
end

local function run(seed)
  math.randomseed(seed)
  local step_every, collect_every, has_keepers = 0, 300, mode ~= "control" and seed % 2 == 0
  local has_wrappers = mode ~= "control" and seed % 3 > 0
  jit[has_keepers and "off" or "on"]()          -- the count of what finalizers hold was wrong with it
  if mode == "rare" then
    step_every, collect_every = 20 * random(20), 1000
    if _VERSION > "Lua 5.3" then
      collectgarbage(seed % 3 == 0 and "generational" or "incremental")
    end
    set_pace(random(0, 100), random(4) * 100)
  end
  local model = {}            -- id -> { kind, field 1..3 = ids }
  local roots, held = {}, {}  -- index -> id
  local R = {}                -- index -> object: what Lua refers to
  local held_count = 0
  local taken, taken_count = {}, 0                        -- likewise: what foreign code refers to
  local last = 0
  local watched = setmetatable({}, { __mode = "v" })      -- id -> table or function
  local keepers = setmetatable({}, { __mode = "k" })      -- keeper -> id
  local kept_ones = 0                                     -- how often keepers had C hold a node
  local unsettled = false     -- ... while others that die with them are still to be finalized
  local fragile = {}          -- ids of what was reached from these then: proxies in Lua can be gone
  local untold = {}           -- ids of what only foreign code kept when a walk began there: Lua can be finalizing keepers among them
  local reachable

  local kinds = { "node", "node", "node", "table", "closure", "thread" }

  -- A step, or a slice of one.
  local is_open = false
  local function some_step()
    local is_whole = random(4) == 1
    is_open = not rawrefcount.step(not is_whole and random(100) or nil) and not is_whole
  end

  -- Objects of Lua: fields are read and written through functions of their own.
  local function make(id, kind)
    if kind == "node" then
      model[id].is_wrapper = has_wrappers and random(3) > 1
      return nodes.new(id, model[id].is_wrapper and "Wrapper" or random(10) == 1 and "Finalized" or "Node")
    elseif kind == "table" then
      local t = { id = id }
      watched[id] = t
      return t
    elseif kind == "closure" then
      local fields = {}
      local f = function(i, value, set)
        if i == "id" then return id end
        if set then fields[i] = value end
        return fields[i]
      end
      watched[id] = f
      return f
    end
    local co = coroutine.wrap(function()
      local fields, answer = {}
      while true do
        local i, value, set = coroutine.yield(answer)
        if i == "id" then
          answer = id
        else
          if set then fields[i] = value end
          answer = fields[i]
        end
      end
    end)
    co()
    return co
  end

  local function id_of(x)
    if keepers[x] then return keepers[x] end
    if type(x) == "function" then return x("id") end
    return x.id
  end
  local function get(x, i)
    if i > NOTE then return x:referred(i - NOTE) end
    if type(x) == "userdata" and i == NOTE then return x.note end
    if type(x) == "userdata" then return x:get(i) end
    if type(x) == "table" then return x[i] end
    return x(i)
  end
  local function set(x, i, value)
    if i > NOTE then return x:refer(i - NOTE, value) end
    if type(x) == "userdata" and i == NOTE then x.note = value
    elseif type(x) == "userdata" then x:set(i, value)
    elseif type(x) == "table" then x[i] = value
    else x(i, value, true) end
  end

  -- How many fields it has.
  local function fields(id)
    return model[id].is_wrapper and LAST or model[id].kind == "node" and NOTE or FIELDS
  end

  local function same(x, id, where)
    if x == nil then error(("lost: %d, %s"):format(id, where)) end
    if id_of(x) ~= id then error(("%s: %d, not %d"):format(where, id_of(x), id)) end
  end

  -- A proxy that was finalized.
  local function is_gone(x)
    if type(x) ~= "userdata" or keepers[x] then return false end
    local ok, message = pcall(function() return x.id end)
    return not ok and message:find("is gone") ~= nil
  end

  -- What field i of an object has, which is not empty; nil if that was a proxy which is gone.
  local function follow(x, id, i)
    local next_x
    while fragile[id] and unsettled do          -- proxies that are to be finalized still work
      unsettled = false
      collectgarbage()
    end
    if model[id].kind == "keeper" then
      next_x = getmetatable(x).__gc("look")
    else
      next_x = get(x, i)
    end
    if fragile[id] and (i == NOTE or model[id].kind ~= "node") and is_gone(next_x) then
      model[id][i] = nil
      return nil
    end
    same(next_x, model[id][i], "field " .. i)
    return next_x
  end

  -- Walk everywhere.
  local function compare_all()
    local seen, queue = {}, {}
    local function reach(x, id)
      if id and not seen[id] then
        same(x, id, "root")
        seen[id] = x
        queue[#queue + 1] = id
      end
    end
    for i = 1, ROOTS do reach(R[i], roots[i]) end
    for i = 1, held_count do reach(nodes.held(i), held[i]) end
    for i = 1, taken_count do reach(nodes.taken(i), taken[i]) end
    while #queue > 0 do
      local id = table.remove(queue)
      for i = 1, LAST do
        if model[id][i] then
          local x = follow(seen[id], id, i)
          if x then reach(x, model[id][i]) end
        end
      end
    end
  end

  -- A random object that is reachable: the real one and its id.
  local function walk()
    local x, id
    if held_count > 0 and random(4) == 1 then
      local i = random(held_count)
      x, id = nodes.held(i), held[i]
      same(x, id, "held by C")
    elseif taken_count > 0 and random(4) == 1 then
      local i = random(taken_count)
      x, id = nodes.taken(i), taken[i]
      if has_keepers then
        local told = reachable(nil, true, true)
        for reached in pairs(reachable(id)) do untold[reached] = not told[reached] or untold[reached] end
      end
      same(x, id, "held by foreign code")
    else
      local i = random(ROOTS)
      if not roots[i] then return nil end
      x, id = R[i], roots[i]
      same(x, id, "root")
    end
    for _ = 1, random(0, 5) do
      local i = random(fields(id))
      local next_id = model[id][i]
      if not next_id then break end
      local next_x = follow(x, id, i)
      if not next_x or model[next_id].kind == "keeper" then break end
      x, id = next_x, next_id
    end
    return x, id
  end

  -- A keeper keeps the node x, id.
  local function new_keeper(keeper_id, x, id)
    local function finalize(what)
      if what == "look" then return x end
      if reachable(nil, true, true)[keeper_id] and not fragile[keeper_id] and not untold[keeper_id] then
        error("a keeper is finalized that can be reached: " .. keeper_id)
      end
      if random(3) == 1 then some_step() end
      if not has_keepers or is_gone(x) or held_count > 2 * HELD then return end
      kept_ones = kept_ones + 1
      unsettled = true
      held_count = held_count + 1
      held[held_count] = id
      nodes.hold(x)
      for reached in pairs(reachable(id)) do fragile[reached] = true end
    end
    local keeper
    if is_51 then
      keeper = newproxy(true)
      getmetatable(keeper).__gc = finalize
    else
      keeper = setmetatable({}, { __gc = finalize })
    end
    keepers[keeper] = keeper_id
    return keeper
  end

  local operations = {}
  local function operation(weight, f)
    for _ = 1, weight do operations[#operations + 1] = f end
  end
  operation(6, function()                       -- new, in a root
    last = last + 1
    local kind, i = kinds[random(#kinds)], random(ROOTS)
    model[last] = { kind = kind }
    R[i], roots[i] = make(last, kind), last
  end)
  operation(4, function()                       -- new, in a field
    local x, id = walk()
    if not x then return end
    last = last + 1
    local kind, i = kinds[random(#kinds)], random(FIELDS)
    model[last] = { kind = kind }
    local y = make(last, kind)
    model[id][i] = last                         -- first, as keepers look at it
    set(x, i, y)
  end)
  operation(10, function()                      -- an edge
    local x, id = walk()
    local y, to = walk()
    if not x or not y then return end
    local i = random(fields(id))
    if i > NOTE and not model[to].is_wrapper then return end
    model[id][i] = to
    set(x, i, y)
  end)
  operation(has_keepers and 3 or 0, function()  -- a keeper, in a field or nowhere
    local x, id = walk()
    local y, to = walk()
    if not x or not y or model[id].kind ~= "node" or model[to].kind ~= "node" then return end
    last = last + 1
    local i, keeper_id = random(2 * FIELDS), last
    model[keeper_id] = { kind = "keeper", to }
    local keeper = new_keeper(keeper_id, y, to)
    if i <= FIELDS then
      model[id][i] = keeper_id
      x:set(i, keeper)
    end
  end)
  operation(4, function()                       -- an edge less
    local x, id = walk()
    if not x then return end
    local i = random(fields(id))
    model[id][i] = nil
    set(x, i, nil)
  end)
  operation(4, function()                       -- a root
    local x, id = walk()
    local i = random(ROOTS)
    R[i], roots[i] = x, id
  end)
  operation(5, function()                       -- a root less
    local i = random(ROOTS)
    R[i], roots[i] = nil, nil
  end)
  operation(3, function()                       -- C takes a reference
    if held_count >= HELD then return end
    local x, id = walk()
    if not x then return end
    held_count = held_count + 1                 -- first, as a keeper can do the same meanwhile
    held[held_count] = id
    nodes.hold(x)
  end)
  operation(3, function()                       -- C drops one
    if held_count == 0 then return end
    local i = random(held_count)
    table.remove(held, i)
    held_count = held_count - 1
    nodes.release(i)
  end)
  operation(has_wrappers and 6 or 0, function()   -- foreign code takes a reference
    if taken_count >= HELD then return end
    local x, id = walk()
    if not x or not model[id].is_wrapper then return end
    taken_count = taken_count + 1
    taken[taken_count] = id
    nodes.take(x)
  end)
  operation(has_wrappers and 6 or 0, function()   -- ... drops one
    if taken_count == 0 then return end
    local i = random(taken_count)
    table.remove(taken, i)
    taken_count = taken_count - 1
    nodes.drop(i)
  end)
  local function retake()                       -- ... has a weak one, perhaps to garbage
    local id = random(last > 0 and last or 1)
    if taken_count >= 2 * HELD or has_keepers or not model[id] or not model[id].is_wrapper or not nodes.retake(id) then return end
    taken_count = taken_count + 1
    taken[taken_count] = id
  end
  operation(has_wrappers and 6 or 0, retake)
  operation(5, function()                       -- a reference moves
    local x, id = walk()
    local y, to = walk()
    if not x or not y or model[id].kind ~= "node" or model[to].kind ~= "node" then return end
    local i, j = random(FIELDS), random(FIELDS)
    if id == to and i == j then return end
    local moved = model[id][i]
    if moved then
      model[id][i] = nil
      model[to][j] = moved
    end
    x:move(i, y, j)
  end)

  -- Is the proxy of a node in Lua, or in its garbage?
  local function is_in_lua(id)
    for i = 1, ROOTS do
      if roots[i] == id then return true end
    end
    for _, object in pairs(model) do
      for i = object.kind == "node" and NOTE or 1, NOTE do
        if object[i] == id then return true end
      end
    end
    return false
  end
  operation(4, function()                       -- a proxy is closed, of what C refers to
    local x, id = walk()
    if not x or model[id].kind ~= "node" then return end
    local i = random(FIELDS)
    local to = model[id][i]
    if not to or model[to].kind ~= "node" or is_in_lua(to) or model[to].is_wrapper then return end
    follow(x, id, i):close()
    if not rawrefcount.step() then follow(x, id, i) end         -- (it gives it another)
  end)

  if mode == "control" then
    local function move_and_drop()              -- leaves nothing on the stack
      local from = random(ROOTS)
      local y, to = walk()
      if not y or not roots[from] or model[roots[from]].kind ~= "node" or model[to].kind ~= "node" then return end
      local x, id, i, j = R[from], roots[from], random(FIELDS), random(FIELDS)
      if id == to or not model[id][i] then return end
      rawrefcount.step()
      x:move(i, y, j, "no touch")
      model[id][i], model[to][j] = nil, model[id][i]
      R[from], roots[from] = nil, nil
    end
    operation(10, function()
      move_and_drop()
      collectgarbage()
      collectgarbage()              -- what a dying proxy showed is gone now, too
    end)
  end

  -- From one, or from all roots; surely: where a proxy can be gone it is taken for gone; told: without the references
  -- of foreign code, of which Lua may not know yet when it finalizes what a script has put into a wrapper.
  function reachable(from, surely, told)
    local seen, queue = {}, {}
    local function reach(id)
      if id and not seen[id] then
        seen[id] = true
        queue[#queue + 1] = id
      end
    end
    reach(from)
    for i = 1, from and 0 or ROOTS do reach(roots[i]) end
    for i = 1, from and 0 or held_count do reach(held[i]) end
    for i = 1, (from or told) and 0 or taken_count do reach(taken[i]) end
    while #queue > 0 do
      local id = table.remove(queue)
      local is_fragile = surely and fragile[id]
      for i = 1, is_fragile and (model[id].kind == "node" and FIELDS or 0) or NOTE do
        reach(model[id][i])
      end
      for i = NOTE + 1, told and NOTE or LAST do reach(model[id][i]) end
    end
    return seen
  end

  local function check_all()
    jit.flush()                                 -- compiled code refers to what it was compiled for
    repeat
      local before = kept_ones
      for _ = 1, has_wrappers and 3 * rounds or rounds do rawrefcount.collect() end
    until kept_ones == before
    nodes.check()
    compare_all()
    local expected, actual = reachable(), nodes.ids()
    for id in pairs(expected) do
      if model[id].kind == "node" and not actual[id] then error("lost in C: " .. id) end
    end
    for id in pairs(actual) do
      if not expected[id] then error("leaked: " .. id) end
    end
    for id in pairs(watched) do
      if not expected[id] then error("leaked in Lua: " .. id) end
    end
    for id in pairs(model) do
      if not expected[id] then model[id] = nil end
    end
  end

  for step = 1, steps do
    operations[random(#operations)]()
    if mode == "stepped" and random(5) == 1 then some_step() end
    if mode == "sliced" or is_open then is_open = not rawrefcount.step(random(40)) end
    if mode == "sliced" and random(20) == 1 then collectgarbage() end
    if mode == "stressed" then
      local what = random(12)
      if what <= 2 then collectgarbage() elseif what <= 6 then collectgarbage("step", random(0, 3)) end
      if what == 7 then some_step() end
      if what == 8 then rawrefcount.collect() end
    end
    if mode == "generational" and random(10) == 1 then collectgarbage("step", 0) end
    if mode == "rare" and step % step_every == 0 then some_step() end
    if step % collect_every == 0 then check_all() end
  end
  check_all()
  has_keepers = false
  R, roots = {}, {}
  while held_count > 0 do
    table.remove(held, 1)
    held_count = held_count - 1
    nodes.release(1)
  end
  while taken_count > 0 do
    table.remove(taken, 1)
    taken_count = taken_count - 1
    nodes.drop(1)
  end
  check_all()
end

if mode == "generational" then collectgarbage("generational") end
if mode == "everywhere" and is_51 then set_pace(0, 0) end
local failures = 0
for seed = first, first + count - 1 do
  local ok, message = xpcall(function() run(seed) end, debug.traceback)
  if not ok then
    failures = failures + 1
    if mode ~= "control" then
      print(("FAILED: seed %d, %s: %s"):format(seed, mode, message))
      print(("again: random.lua %d 1 %d %s"):format(seed, steps, mode))
      break
    end
    while pcall(nodes.release, 1) do end
    for _ = 1, 2 * HELD do nodes.drop(1) end
    for _ = 1, 3 do rawrefcount.collect() end
  end
end
if mode == "control" then
  print(("%d of %d runs lost something"):format(failures, count))
  if failures == 0 then print("FAILED: moves without touch were not noticed") end
  failures = failures > 0 and 0 or 1
end
if select(5, ...) then return failures == 0 end        -- called by random.c
print(("%d passed, %d failed"):format(failures == 0 and 1 or 0, failures > 0 and 1 or 0))
if failures > 0 then os.exit(1) end
