-- Cycles of C objects are left when the state is closed, of two modules: unload.lua FIRST SECOND HOW
-- with the names of the modules, in the order in which they are loaded. Lua 5.1 and LuaJIT unload
-- a module before what is older than it is finalized; it must not be called after that.

local first, second, how = ...
require(first)
do                                      -- what the heap makes for itself is older than the second module
  if first == "nodes" then require(first).new(1) else require(first).button("first") end
end
require(second)
local nodes, widgets = require "nodes", require "widgets"

local x, y = nodes.new(1), nodes.new(2)
x:set(1, y)
y:set(1, x)
x:set(2, function() return y end)
local w, v = widgets.window("w"), widgets.button("b")
w:add(v)
v.on_click = function() return w, x end
x:set(3, w)
if how == "kept" then kept = { x, y, w, v } end
if how == "held" then nodes.hold(x) nodes.release(1) end
if how == "collected" then
  x, y, w, v = nil, nil, nil, nil
  collectgarbage()
end
