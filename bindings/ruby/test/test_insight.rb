# frozen_string_literal: true

require "helper"

# What a program can ask.
class TestInsight < Minitest::Test
  include Helper

  def test_stats
    node = Node.new(0, 1)
    node[0] = "x"
    stats = Rawrefcount.stats
    assert_operator stats[:values_young] + stats[:values_old], :>=, 1
    assert_operator stats[:wrappers_young] + stats[:wrappers_old], :>=, 1
    assert_operator stats[:tracked], :>=, 1
    assert_operator stats[:objects], :>=, 2
    assert_operator stats[:memory], :>, 0
    assert_operator stats[:object_bytes], :>, 0
    assert_operator stats[:pending_bytes], :<=, stats[:object_bytes]
    node.claim(100_000)
    assert_operator Rawrefcount.stats[:native_bytes], :>=, stats[:native_bytes] + 100_000
    node.claim(0)
    assert_equal true, stats[:hooks]
    majors = stats[:major_collections]
    GC.start
    assert_operator Rawrefcount.stats[:major_collections], :>, majors
    assert stats.frozen? || stats.is_a?(Hash)
    assert node
  end

  def test_explain
    outer = Node.new(0, 1)
    inner = Node.new(0, 1)
    outer[0] = inner
    text = Rawrefcount.explain(inner)
    assert_match(/\Anode 0x\h+ \(1 reference, O link to p 0x\h+\)/, text)
    value = "held"
    Nodes.hold(0, value)
    assert_match(/\ARuby value 0x\h+ \(1 reference, P link/, Rawrefcount.explain(value))
    Nodes.release(0)
    error = assert_raises(ArgumentError) { Rawrefcount.explain(Object.new) }
    assert_equal "no C object belongs to this Object", error.message
    assert_raises(ArgumentError) { Rawrefcount.explain(5) }
    assert Rawrefcount.explain(outer)
  end

  def test_graph
    node = Node.new(0, 1)
    node[0] = "x"
    graph = Rawrefcount.graph
    assert_match(/\Adigraph rawrefcount \{/, graph)
    assert_match(/node/, graph)
    assert_match(/Ruby value/, graph)
    assert_match(/\}\s*\z/, graph)
    assert_equal Encoding::UTF_8, graph.encoding
    assert node
  end

  def test_collect_counts
    apart { 10.times { Node.new(0, 1)[0] = "x" } }
    assert_operator Rawrefcount.collect, :>=, 9
    assert_operator Rawrefcount.collect, :<, 5
  end

  def test_run_pending
    apart { GC.disable; 10.times { Node.new(next_id, 0) }; nil }
    GC.enable
    apart { GC.start; Rawrefcount.run_pending(3) }
    assert_equal 0, Rawrefcount.run_pending(5).clamp(0, 0)
    collect
    assert_operator Nodes.dead.size, :>=, 8
    assert_raises(ArgumentError) { Rawrefcount.run_pending(1, 2) }
  end
end
