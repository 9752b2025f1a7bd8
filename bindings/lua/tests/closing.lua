-- What a finalizer does while lua_close finalizes all: closing.lua HOW. Then the state closes as usual.
-- Until 5.4.3, a collection inside it runs all other finalizers. That would unload the modules.

local rawrefcount, nodes = require "rawrefcount", require "nodes"
local how = ...

local function make(i)
  local w = nodes.new(i, i % 2 == 0 and "Wrapper" or nil)
  w:set(1, function() return w end)
  return w
end

local kept = {}
for i = 1, 5000 do kept[i] = make(i) end

local function finalize()
  print "closing"
  if how == "collect" then
    rawrefcount.collect()
  elseif how == "step" then
    rawrefcount.step()
  elseif how == "gc" then
    collectgarbage()
  elseif how == "garbage" then
    for i = 1, 20000 do make(i) end
  elseif how == "keep" then
    for i = 1, 20000 do kept[#kept + 1] = make(i) end
  elseif how == "native" then
    for i = 1, 100 do
      make(i)
      nodes.native(1e7)
    end
  else
    error(how)
  end
end

if newproxy then
  last = newproxy(true)
  getmetatable(last).__gc = finalize
else
  last = setmetatable({}, { __gc = finalize })
end

-- (If a sweep is at work when Lua 5.1 closes a state, a collection in a finalizer can last for ever.)
if _VERSION == "Lua 5.1" and not jit then collectgarbage() end
