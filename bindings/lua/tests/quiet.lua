-- Programs that make some objects, and then only call collectgarbage(): quiet.lua SEED
--
-- All garbage must be gone after so many full collections as the page promises, although no function of the binding
-- runs meanwhile. random.c runs each seed in a state of its own.

local nodes = require "nodes"
local seed = tonumber((...))
local random = math.random
math.randomseed(seed)
if _VERSION > "Lua 5.3" then collectgarbage(random(2) == 1 and "generational" or "incremental") end

local MOST = 4

-- Make up to `most` nodes, some of which are in cycles over both heaps, while Lua's collector goes on. Those that live
-- go to `kept`.
local kept = {}
local function make(most)
  local keeps, every, size = random(3) == 1, random(4), random(0, 3)
  for i = 1, random(most) do
    local node = nodes.new(i)
    if random(2) == 1 then node:set(1, function() return node end) end
    if keeps and random(2) == 1 then kept[#kept + 1] = node end
    if random(every) == 1 then collectgarbage("step", size) end
  end
end

-- A cycle of two objects of C, or over both heaps.
local function make_cycle()
  local node, other = nodes.new(0), random(3) == 1 and nodes.new(0)
  node:set(1, other or function() return node end)
  if other then other:set(2, node) end
end

for round = 1, random(3) do
  make(random(5) == 1 and 400 or 40)
  if random(2) == 1 then kept = {} end
  make_cycle()
  local collections = 0
  while nodes.live() > #kept do
    if collections == MOST then
      error(("seed %d, round %d: %d objects after %d collections, %d kept"):format(
        seed, round, nodes.live(), collections, #kept))
    end
    collectgarbage()
    collections = collections + 1
  end
end
return true
