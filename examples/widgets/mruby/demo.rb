# The same program twice: each window has a button, whose callback mentions the window.
# The proc needs the window, the window (in C) the button, that (in C) the proc.

COUNT = 1000

# What a program does anyway: no call for a collection. mruby's collector runs as it likes.
def work(widgets)
  300_000.times { [] }
  100.times { widgets::Button.new("a button") }
end

def make(widgets)
  window, button = widgets::Window.new("window"), widgets::Button.new("OK")
  window << button
  button.on_click { window }
  window
end

def in_use(widgets)
  windows = Array.new(COUNT) { make(widgets) }
  yield
  windows.clear
end

def live
  Rawrefcount.stats[:objects]
end

puts "Live objects in C (windows, buttons, callbacks), with mruby #{MRUBY_VERSION}"
{ Naive => "naive, with mrb_gc_register", Widgets => "rawrefcount" }.each do |widgets, name|
  before = live
  in_use(widgets) { puts format("%28s: %5d  all in use", name, live - before) }
  work(widgets)
  puts format("%28s  %5d  let go, while the program goes on", "", live - before)
  GC.start
  Rawrefcount.collect
  puts format("%28s  %5d  after GC.start and Rawrefcount.collect", "", live - before)
end

# Why is it alive? The path goes from a global, through both heaps.
def leak
  window, button, document = Widgets::Window.new("main"), Widgets::Button.new("Save"), Widgets::Button.new("a document")
  window << button
  button.on_click { document }
  $app = { windows: [window] }
end
leak
puts "", "Why is the document alive?", Rawrefcount.explain($app[:windows][0][0].on_click.call)
