-- The same program twice: each window has a button, whose callback mentions the window.
-- The closure needs the window, the window (in C) the button, that (in C) the closure.

local rawrefcount = require "rawrefcount"

local COUNT = 1000

-- The interpreters of Lua 5.4 and 5.5 start in the generational mode. There, what has grown old waits for Lua's next
-- major collection, which comes only when memory has doubled: that work() below does not do. So all Luas show the same.
if _VERSION >= "Lua 5.4" then collectgarbage("incremental") end

-- What the two bindings write differently.
local naive = require "naive"
local ours = require "widgets"
local bindings = {
  { name = "naive, with luaL_ref", window = naive.window, button = naive.button, add = naive.add,
    on_click = naive.on_click, live = naive.live },
  { name = "rawrefcount", window = ours.window, button = ours.button,
    add = function(window, button) window:add(button) end,
    on_click = function(button, callback) button.on_click = callback end,
    live = function() return rawrefcount.stats().objects end },
}

local function make(binding, i)
  local window, button = binding.window("window " .. i), binding.button("OK")
  binding.add(window, button)
  binding.on_click(button, function() return window end)
  return window
end

-- What a program does anyway: no call into rawrefcount. Lua's collector runs as it likes.
local function work()
  local keep = {}
  for i = 1, 1000000 do
    keep[i % 100 + 1] = { {} }
  end
end

print("Live objects in C (windows, buttons, callbacks), with " .. (jit and jit.version or _VERSION))
for _, binding in ipairs(bindings) do
  local windows = {}
  for i = 1, COUNT do
    windows[i] = make(binding, i)
  end
  print(("%22s: %5d  all in use"):format(binding.name, binding.live()))
  windows = nil
  work()
  print(("%22s: %5d  let go, while the program goes on"):format("", binding.live()))
  collectgarbage()
  rawrefcount.collect()
  print(("%22s: %5d  after full collections"):format("", binding.live()))
end

-- Why is it alive? The path goes from a global, through both heaps. (What is looked for is in a weak table, so
-- that the question is no answer.)
app = { windows = {} }
local leaking = setmetatable({}, { __mode = "v" })
local function open_main()
  local window, button, document = ours.window("main"), ours.button("Save"), ours.button("a document")
  window:add(button)
  button.on_click = function() return document end
  app.windows.main = window
  leaking[1] = document
end
open_main()     -- a function, as the places of locals in a block that has ended can still hold objects (in LuaJIT)
print("\nWhy is the document alive?\n" .. rawrefcount.explain(leaking[1]))

-- See it in the memory panel of Chrome:
-- LUA_CPATH='build/lua/lua5.4/?.so' lua5.4 examples/widgets/lua/demo.lua widgets.heapsnapshot
if arg and arg[1] then rawrefcount.snapshot(arg[1], true) end
