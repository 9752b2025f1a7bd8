-- Two heap snapshots, between which some objects go, and some leak.
local rawrefcount = require "rawrefcount"
local widgets = require "widgets"

app = { windows = {}, dialogs = {}, leaked = {} }

local function make(list, n)
  for i = 1, n do
    local window, button = widgets.window("window"), widgets.button("OK")
    window:add(button)
    button.on_click = function() return window end
    list[i] = window
  end
end

local function settle()
  for i = 1, 5 do
    collectgarbage()
    rawrefcount.collect()
  end
end

make(app.windows, 30)
make(app.dialogs, 30)
settle()
rawrefcount.snapshot("before.heapsnapshot")
app.dialogs = {}
settle()
make(app.leaked, 2)
settle()
rawrefcount.snapshot("after.heapsnapshot")
