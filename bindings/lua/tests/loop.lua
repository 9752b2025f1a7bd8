-- A long loop of cyclic garbage stays about as small as one with Lua's tables alone. One of wrappers has no more than
-- twice those that live, and what two cycles leave: a collection comes when their number has doubled. A loop that follows when something large was
-- dropped stays as small as what is left then, in both modes of the collector.
local nodes = require "nodes"

local function most_of(make)
  local most = 0
  for i = 1, 60000 do
    make(i)
    if i % 100 == 0 then most = math.max(most, collectgarbage("count")) end
  end
  return most
end

local function table_and_closure(i)
  local t = { i }
  t[2] = function() return t end
end
local function node_and_closure(i)
  local w = nodes.new(i)
  w:set(1, function() return w end)
end

local plain, ours = most_of(table_and_closure), most_of(node_and_closure)
print(("tables: %.0f KB, objects of C: %.0f KB"):format(plain, ours))
assert(ours < 4 * plain + 600)

local function most_beside(kind)
  local kept, most = {}, 0
  for i = 1, 10000 do kept[i] = nodes.new(i, kind) end
  for i = 1, 300000 do
    nodes.new(i, kind)
    if i % 100 == 0 then most = math.max(most, nodes.live()) end
  end
  return most
end

local of_nodes, of_wrappers = most_beside("Node"), most_beside("Wrapper")
print(("10000 objects, and garbage: %d nodes, or %d wrappers"):format(of_nodes, of_wrappers))
assert(of_wrappers < 2 * 10000 + 2 * (of_nodes - 10000))

-- The bound of the page.
local function beside(live)
  local kept, most = {}, 0
  for i = 1, live do
    local w = nodes.new(i)
    kept[i] = w
    w:set(1, function() return w end)
  end
  for _ = 1, 6 do collectgarbage() end
  local left = collectgarbage("count")
  for i = 1, 20 * live do
    node_and_closure(i)
    if i % 100 == 0 then most = math.max(most, collectgarbage("count")) end
  end
  return left, most, #kept
end
local left, most = beside(10000)
print(("beside 10000 objects, which take %.0f KB: at most %.0f KB"):format(left, most))
assert(most < 5 * left + 1000)

local function after_build_up()
  local head = nodes.new(0)
  local at = head
  for i = 1, 20000 do
    local next_one = { nodes.new(i) }
    at:set(1, function() return next_one end)
    at = next_one[1]
  end
  head, at = nil, nil
  collectgarbage()
  local left, most = collectgarbage("count"), 0
  for i = 1, 60000 do
    node_and_closure(i)
    if i % 100 == 0 then most = math.max(most, collectgarbage("count")) end
  end
  return left, most
end

for _, mode in ipairs(_VERSION >= "Lua 5.4" and { "incremental", "generational" } or { "incremental" }) do
  if _VERSION >= "Lua 5.4" then collectgarbage(mode) end
  local left, most = after_build_up()
  print(("after a build-up, %s: %.0f KB, then at most %.0f KB"):format(mode, left, most))
  assert(most < 1.5 * left + 600)
end
