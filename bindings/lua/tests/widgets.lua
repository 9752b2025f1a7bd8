-- The widget library in Lua: each function once, its errors, and garbage through callbacks.

local rawrefcount = require "rawrefcount"
local widgets = require "widgets"

local passed, failed = 0, 0
local function case(name, f)
  local ok, message = xpcall(f, debug.traceback)
  for _ = 1, 3 do rawrefcount.collect() end
  if ok and rawrefcount.stats().objects > 0 then
    ok, message = false, rawrefcount.stats().objects .. " objects are left:\n" .. rawrefcount.graph()
  end
  if ok then passed = passed + 1 else failed = failed + 1 print("FAILED: " .. name .. ": " .. message) end
end

local function equal(actual, expected)
  if actual ~= expected then error(("%s, not %s"):format(tostring(actual), tostring(expected)), 2) end
end

local function fails(message, f, ...)
  local ok, text = pcall(f, ...)
  if ok then error("no error", 2) end
  if not tostring(text):find(message, 1, true) then error("another error: " .. tostring(text), 2) end
end

case("texts", function()
  local b = widgets.button("OK")
  equal(b.text, "OK")
  b.text = "Cancel"
  equal(b.text, "Cancel")
  assert(tostring(b):find("^Button: "))
  fails("string expected", widgets.button)
end)

case("containers", function()
  local w, box, b = widgets.window("w"), widgets.container(), widgets.button("b")
  w:add(box)
  box:add(b)
  equal(w.count, 1) equal(w:child(1), box) equal(box:child(1), b) equal(w:child(2), nil)
  equal(b.parent, box) equal(w.parent, nil)
  fails("cannot contain itself", box.add, box, w)
  fails("Widget expected, got string", w.add, w, "x")
  fails("Container expected, got Button", w.add, b, box)
  fails("Canvas expected, got Button", widgets.Canvas.resize, b, 1, 1)
  fails("not a child", w.remove, w, b)
  box:remove(b)
  equal(b.parent, nil)
  equal(b.add, nil)
  fails("count of Window cannot be set", function() w.count = 3 end)
end)

case("callbacks", function()
  local b, sender, runs = widgets.button("b"), nil, 0
  local function clicked(w) sender, runs = w, runs + 1 end
  b.on_click = clicked
  equal(b.on_click, clicked)
  b:emit_click()
  b:emit_close()
  equal(sender, b) equal(runs, 1)
  b.on_click = function() error("oops") end
  fails("oops", b.emit_click, b)
  fails("stack traceback", b.emit_click, b)
  b.on_click = setmetatable({}, { __call = function(_, w) sender = w.text end })
  b:emit_click()
  equal(sender, "b")
  b.on_click = nil
  b:emit_click()
end)

case("errors name the property, and the place in the script", function()
  local b, canvas = widgets.button("b"), widgets.canvas(1, 1)
  local function message(f) return select(2, pcall(f)) end
  local function is(f, expected)
    local text = message(f)
    local place, rest = text:match("^(.-widgets%.lua:%d+:) (.*)$")
    assert(place, text)
    equal(rest, expected)
  end
  is(function() b.text = nil end, "bad value for text of Button (string expected, got nil)")
  is(function() canvas.text = {} end, "bad value for text of Canvas (string expected, got table)")
  is(function() b.on_click = 5 end, "bad value for on_click of Button (function or nil expected, got number)")
  is(function() b.on_click = canvas end, "bad value for on_click of Button (function or nil expected, got Canvas)")
  equal(b.on_click, nil)
  is(function() b.parent = canvas end, "parent of Button cannot be set")
  is(function() canvas:resize(1e9, 1e9) end, "out of memory")
end)

case("a callback can drop everything", function()
  local b = widgets.button("b")
  b.on_click = function(w)
    w.on_click = nil
    b:close()
    for _ = 1, 3 do rawrefcount.collect() end
  end
  b:emit_click()
  equal(tostring(b), "Button (closed)")
end)

case("garbage through callbacks, by Lua alone", function()
  for i = 1, 2000 do
    local w, b = widgets.window("w"), widgets.button("b")
    w:add(b)
    b.on_click = function() return w end
  end
  for _ = 1, 4 do collectgarbage() end
  assert(rawrefcount.stats().objects < 10, rawrefcount.stats().objects)
end)

case("canvases count with their bytes", function()
  local most = 0
  for i = 1, 1000 do
    local c = widgets.canvas(1000, 1000)
    c.on_draw = function() return c end
    most = math.max(most, rawrefcount.stats().native)
  end
  assert(most < 600e6, most)
  fails("out of memory", function() widgets.canvas(1, 1):resize(1e9, 1e9 + 0) end)
  fails("not a size", widgets.canvas, -1, 1)
end)

case("scripts extend classes", function()
  function widgets.Button:press() self:emit_click() return self end
  local pressed
  local b = widgets.button("b")
  b.on_click = function() pressed = true end
  equal(b:press(), b)
  equal(pressed, true)
  widgets.Button.press = nil
end)

print(("%d passed, %d failed"):format(passed, failed))
if failed > 0 then os.exit(1) end
