-- Random programs over both heaps, against an oracle: random.lua FIRST COUNT STEPS MODE
--
-- MODE: incremental, generational, stepped, stressed, or everywhere, for a Lua that collects
-- wherever it can (see checked.sh; 5.1 and LuaJIT can be told to); "control" moves references
-- without touch, and must find a loss.
--
-- The oracle is a graph of numbers beside the real one. Every operation walks through
-- both and compares; so a live object that is lost is noticed at once. From time to
-- time everything is collected, and what C has then must be what the oracle can reach.

local rawrefcount = require "rawrefcount"
local nodes = require "nodes"
local first, count, steps, mode = tonumber((...)), tonumber((select(2, ...))), tonumber((select(3, ...))), select(4, ...)

local FIELDS, ROOTS, HELD = 3, 8, 4
local random = math.random

local function run(seed)
  math.randomseed(seed)
  local model = {}            -- id -> { kind, field 1..3 = ids }
  local roots, held = {}, {}  -- index -> id
  local R = {}                -- index -> object: what Lua refers to
  local held_count = 0
  local last = 0
  local watched = setmetatable({}, { __mode = "v" })      -- id -> table or function

  local kinds = { "node", "node", "node", "table", "closure", "thread" }

  -- Objects of Lua: fields are read and written through functions of their own.
  local function make(id, kind)
    if kind == "node" then
      return nodes.new(id, random(10) == 1 and "Finalized" or "Node")
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
    if type(x) == "function" then return x("id") end
    return x.id
  end
  local function get(x, i)
    if type(x) == "userdata" then return x:get(i) end
    if type(x) == "table" then return x[i] end
    return x(i)
  end
  local function set(x, i, value)
    if type(x) == "userdata" then x:set(i, value)
    elseif type(x) == "table" then x[i] = value
    else x(i, value, true) end
  end

  local function same(x, id, where)
    if x == nil then error(("lost: %d, %s"):format(id, where)) end
    if id_of(x) ~= id then error(("%s: %d, not %d"):format(where, id_of(x), id)) end
  end

  -- A random object that is reachable: the real one and its id.
  local function walk()
    local x, id
    if held_count > 0 and random(4) == 1 then
      local i = random(held_count)
      x, id = nodes.held(i), held[i]
      same(x, id, "held by C")
    else
      local i = random(ROOTS)
      if not roots[i] then return nil end
      x, id = R[i], roots[i]
      same(x, id, "root")
    end
    for _ = 1, random(0, 5) do
      local i = random(FIELDS)
      local next_id = model[id][i]
      if not next_id then break end
      x, id = get(x, i), next_id
      same(x, id, "field")
    end
    return x, id
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
    set(x, i, make(last, kind))
    model[id][i] = last
  end)
  operation(10, function()                      -- an edge
    local x, id = walk()
    local y, to = walk()
    if not x or not y then return end
    local i = random(FIELDS)
    set(x, i, y)
    model[id][i] = to
  end)
  operation(4, function()                       -- an edge less
    local x, id = walk()
    if not x then return end
    local i = random(FIELDS)
    set(x, i, nil)
    model[id][i] = nil
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
    if held_count == HELD then return end
    local x, id = walk()
    if not x then return end
    nodes.hold(x)
    held_count = held_count + 1
    held[held_count] = id
  end)
  operation(3, function()                       -- C drops one
    if held_count == 0 then return end
    local i = random(held_count)
    nodes.release(i)
    table.remove(held, i)
    held_count = held_count - 1
  end)
  operation(5, function()                       -- a reference moves
    local x, id = walk()
    local y, to = walk()
    if not x or not y or model[id].kind ~= "node" or model[to].kind ~= "node" then return end
    local i, j = random(FIELDS), random(FIELDS)
    if id == to and i == j then return end
    local moved = model[id][i]
    x:move(i, y, j)
    if moved then
      model[id][i] = nil
      model[to][j] = moved
    end
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
    end)
  end

  local function reachable()
    local seen, queue = {}, {}
    local function reach(id)
      if id and not seen[id] then
        seen[id] = true
        queue[#queue + 1] = id
      end
    end
    for i = 1, ROOTS do reach(roots[i]) end
    for i = 1, held_count do reach(held[i]) end
    while #queue > 0 do
      local id = table.remove(queue)
      for i = 1, FIELDS do reach(model[id][i]) end
    end
    return seen
  end

  local function check_all()
    for _ = 1, 3 do rawrefcount.collect() end
    nodes.check()
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
    if mode == "stepped" and random(5) == 1 then rawrefcount.step() end
    if mode == "stressed" then
      local what = random(12)
      if what <= 2 then collectgarbage() elseif what <= 6 then collectgarbage("step", random(0, 3)) end
      if what == 7 then rawrefcount.step() end
      if what == 8 then rawrefcount.collect() end
    end
    if mode == "generational" and random(10) == 1 then collectgarbage("step", 0) end
    if step % 300 == 0 then check_all() end
  end
  check_all()
  R, roots = {}, {}
  while held_count > 0 do
    nodes.release(1)
    table.remove(held, 1)
    held_count = held_count - 1
  end
  check_all()
end

if mode == "generational" then collectgarbage("generational") end
if mode == "everywhere" and _VERSION == "Lua 5.1" then
  collectgarbage("setpause", 0)
  collectgarbage("setstepmul", 0)
end
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
    for _ = 1, 3 do rawrefcount.collect() end
  end
end
if mode == "control" then
  print(("%d of %d runs lost something"):format(failures, count))
  if failures == 0 then print("FAILED: moves without touch were not noticed") end
  failures = failures > 0 and 0 or 1
end
print(("%d passed, %d failed"):format(failures == 0 and 1 or 0, failures > 0 and 1 or 0))
if failures > 0 then os.exit(1) end
