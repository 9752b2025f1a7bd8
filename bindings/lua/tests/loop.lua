-- A long loop of cyclic garbage stays about as small as one with Lua's tables alone.
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
