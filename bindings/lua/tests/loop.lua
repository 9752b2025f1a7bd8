-- A long loop of cyclic garbage stays about as small as one with Lua's tables alone. And one of wrappers, which two
-- cycles must find dead, stays about as small as one of other objects.
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
assert(of_wrappers < 3 * of_nodes)
