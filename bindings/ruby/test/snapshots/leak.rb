# frozen_string_literal: true

# Two heap snapshots, between which objects move, some of them go, and some leak.
require "rawrefcount"
require "nodes"

def make(n)
  Array.new(n) do
    outer = Nodes::Node.new(0, 1)
    inner = Nodes::Node.new(0, 1)
    outer[0] = -> { inner }
    outer
  end
end

def settle
  Thread.new { GC.start }.join
  5.times { Rawrefcount.collect }
end

App = Struct.new(:windows, :dialogs, :leaked)
$app = App.new(make(30), make(30), nil)
settle
# (Ruby makes a few objects of its own when something is done for the first time.)
Rawrefcount.snapshot("before.heapsnapshot")
GC.compact
Rawrefcount.snapshot("before.heapsnapshot")
$app.dialogs = nil
settle
GC.compact
$app.leaked = make(2)
settle
Rawrefcount.snapshot("after.heapsnapshot")
