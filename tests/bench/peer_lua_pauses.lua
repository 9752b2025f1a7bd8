-- peer_lua_pauses.lua N - a frame loop as a game would run it, in Lua, with this project's
-- binding: N objects of C in pairs, each pair with a callback that refers to it. Lua's collector is incremental, and
-- works at the end of a frame only. In each frame a few pairs are replaced by new ones, and then the binding and
-- Lua's collector do a slice each. The longest frame is the pause. Times are of the processor. With more than 2x10^6
-- objects there is no row, because Lua's collector does not get through a cycle in so many frames.
local rawrefcount = require "rawrefcount"
local nodes = require "nodes"

local n = tonumber(arg[1])
local pairs_of, kept, frames, replaced = math.floor(n / 2), {}, math.min(2000, math.floor(n / 20)), 50

print("variant\t" .. _VERSION)
if n > 2000000 then return end

local function make_pair(i)
  local first, second = nodes.new(2 * i - 1), nodes.new(2 * i)
  first:set(1, second)
  second:set(1, first)
  second:set(2, function() return first end)
  kept[i] = first
end

for i = 1, pairs_of do make_pair(i) end
collectgarbage()
collectgarbage()
if _VERSION > "Lua 5.3" then collectgarbage("incremental") end  -- (the command `lua` uses the generational mode)
collectgarbage("stop")

local clock, times, place = os.clock, {}, 0
for frame = 1, frames do
  local start = clock()
  for _ = 1, math.min(replaced, pairs_of) do
    place = place % pairs_of + 1
    make_pair(place)
  end
  rawrefcount.step(5000)
  collectgarbage("step", 100)
  times[frame] = (clock() - start) * 1e3
end

-- As calls_print of calls.c: 8 buckets for a factor of 10, from 10 ns on.
local buckets, longest, at_least, last = {}, 0, #times, 0
for _, ms in ipairs(times) do
  local bucket = ms > 1e-5 and math.floor(math.log(ms * 1e5) / math.log(10) * 8) or 0
  buckets[bucket] = (buckets[bucket] or 0) + 1
  longest, last = math.max(longest, ms), math.max(last, bucket)
end
print(("pause, Lua, longest frame\t%.4f\t0\tms"):format(longest))
for bucket = 0, last do
  local number = buckets[bucket]
  if number then
    print(("calls\tLua, frames\t%.4g\t%d\t%d"):format(1e-5 * 10 ^ (bucket / 8), number, at_least))
    at_least = at_least - number
  end
end
print(("calls\tLua, frames\t%.4g\t0\t1"):format(longest))
