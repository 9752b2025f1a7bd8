# frozen_string_literal: true

require "helper"
require "json"
require "tmpdir"

# C references as ObjectSpace shows them.
class TestObjspace < Minitest::Test
  include Helper

  def reached(object) = ObjectSpace.reachable_objects_from(object)

  def test_what_a_wrapper_refers_to
    node, child, value = Node.new(0, 3), Node.new(0, 1), "a value"
    node[0], node[1], node[2] = child, value, 5
    child[0] = inner = Object.new
    refute_nil reached(node).find { |o| o.equal?(child) }
    refute_nil reached(node).find { |o| o.equal?(value) }
    assert_nil reached(node).find { |o| o.equal?(inner) }
    refute_nil reached(child).find { |o| o.equal?(inner) }
    assert_empty reached(BareNode.new) - [BareNode]
    assert_empty reached(Nodes::MadeNode.allocate) - [Nodes::MadeNode]
    node.dispose
    assert_equal [Node], reached(node)
  end

  # Through C objects that have no wrapper, also in a circle.
  def test_through_objects_without_wrappers
    node, values = Node.new(0, 2), Array.new(20) { |i| "value #{i}" }
    apart do
      last = node
      values.each { |value| last[0] = Node.new(0, 2).tap { |n| n[1] = value; last = n } }
      last[0] = node
      nil
    end
    collect
    refute_nil reached(node).find { |o| o.equal?(values[0]) }
    # (A stale word can keep a wrapper, which then shows the rest.)
    assert_equal values.size, all_reached(node) { |o| values.any? { |v| v.equal?(o) } }.size
  end

  # What is found from an object through wrappers.
  def all_reached(from)
    seen, found, work = {}.compare_by_identity, [], [from]
    while (object = work.pop)
      next if seen[object]

      seen[object] = true
      found << object if yield object
      work.concat(reached(object)) if object.is_a?(Rawrefcount::Object)
    end
    found
  end

  # A long chain is followed for some way only: else a dump would take very long. (What is at its other end is not shown.)
  def test_many_objects_without_wrappers
    head = Node.new(0, 2)
    apart do
      last = head
      30_000.times { |i| last[0] = Node.new(0, 2).tap { |n| n[1] = i < 500 || i > 29_000 ? [i] : nil; last = n } }
      nil
    end
    collect
    found = reached(head)
    assert_operator found.grep(Array).size, :>, 490
    assert_operator found.grep(Array).size, :<=, 500
    head[0] = nil
  end

  def dump
    Dir.mktmpdir do |dir|
      GC.start
      File.open("#{dir}/heap", "w") { |file| ObjectSpace.dump_all(output: file) }
      File.readlines("#{dir}/heap").map { |line| JSON.parse(line) }
    end
  end

  def address(object) = JSON.parse(ObjectSpace.dump(object)).fetch("address")

  def test_a_heap_dump
    node, value, held, unheld = Node.new(0, 1), "in a slot", "held by C", "not held"
    node[0] = value
    Nodes.hold(77, held)
    entries = dump
    entry = entries.find { |e| e["address"] == address(node) }
    assert_includes entry["references"], address(value)
    root = entries.find { |e| e["struct"] == "rawrefcount root" }
    assert_includes root["references"], address(held)
    refute_includes root["references"], address(value)  # only its wrapper keeps it
    refute_includes root["references"], address(unheld)
    assert Rawrefcount.check
  ensure
    Nodes.release(77)
  end

  # A value that C keeps by an object without a wrapper.
  def test_what_c_alone_keeps
    ids = apart do
      node = Node.new(0, 1)
      node[0] = value = "kept through a node"
      Nodes.hold(78, node)
      address(value)
    end
    collect
    assert_includes dump.find { |e| e["struct"] == "rawrefcount root" }["references"], ids
  ensure
    Nodes.release(78)
  end

  # A verification of Ruby's heap takes what it is shown for references that write barriers were told of.
  def test_dumps_and_verifications
    nodes = Array.new(100) { |i| Node.new(0, 2).tap { |n| n[0] = "value #{i}" } }
    4.times { GC.start }
    20.times do |i|
      apart { nodes.each { |n| n[1] = "young #{i}" } }
      reached(nodes[i])
      GC.verify_internal_consistency
      GC.start(full_mark: false)
      GC.verify_internal_consistency
      nodes.each { |n| assert_equal "young #{i}", n[1] }
    end
    ballast = Array.new(200_000) { Object.new }
    10.times do |i|
      GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
      steps = 0
      while GC.latest_gc_info(:state) == :marking
        apart { nodes.each { |n| n[1] = "while marking #{i}" } } if steps < 5
        nodes.each { |n| reached(n) } if steps < 5
        GC.verify_internal_consistency if steps == 2
        Array.new(1000) { "x" }
        steps += 1
      end
      nodes.each { |n| assert_equal "while marking #{i}", n[1] }
    end
    assert ballast
  end

  # A look at garbage keeps nothing, and breaks no search for cycles.
  def test_cycles_after_dumps
    id = next_id
    apart do
      20.times { Node.new(id, 1).tap { |n| n[0] = -> { n } } }
      20.times { FinalNode.new(id, 1).tap { |n| n[0] = -> { n } } }
      dump
      nil
    end
    2.times { newly_dead }
    Nodes.finalized.clear
    Nodes.dead.clear
    alive = Nodes.alive
    apart do
      20.times { Node.new(id, 1).tap { |n| n[0] = -> { n } } }
      ObjectSpace.each_object(Node) { |n| reached(n) }
      nil
    end
    assert_operator newly_dead.count(id), :>=, 18
    assert_operator Nodes.alive, :<=, alive + 2
  end

  # In a dealloc, and while objects wait for theirs.
  def test_dumps_in_deallocs
    sizes = []
    Nodes.on_dealloc(->(_) { sizes << reached(Node.new(0, 1).tap { |n| n[0] = "x" }).grep(String).size; dump })
    apart { 3.times { Node.new(next_id, 1).tap { |n| n[0] = [n] } }; nil }
    collect
    assert_operator sizes.size, :>=, 1
    assert_equal [1], sizes.uniq
  end
end
