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
    assert_match(/\Anode 0x\h+ \(1 reference, O link to p 0x\h+, \d+ bytes\)/, text)
    value = "held"
    Nodes.hold(0, value)
    assert_match(/\ARuby value 0x\h+ \(1 reference, P link/, Rawrefcount.explain(value))
    Nodes.release(0)
    error = assert_raises(ArgumentError) { Rawrefcount.explain(Object.new) }
    assert_equal "no C object belongs to this Object", error.message
    assert_raises(ArgumentError) { Rawrefcount.explain(5) }
    assert Rawrefcount.explain(outer)
  end

  Holder = Class.new { attr_accessor :note }
  Pair = Struct.new(:left, :right)

  # Why is a node alive that only what the block returns refers to? The block gets the node.
  def why
    weak = ObjectSpace::WeakMap.new
    $explained = apart { node = Node.new(0, 1); weak[1] = node; yield node }
    text = Rawrefcount.explain(weak[1])
    $explained = nil
    text.lines[1..].map { |line| line.gsub(/ 0x\h+|,$/, "").strip }
  end

  def test_explain_names_the_whole_path
    text = why do |node|
      outer = Node.new(0, 1)
      outer[0] = -> { node }
      holder = Holder.new
      holder.note = { main: [outer] }
      holder
    end
    assert_match(/\Aheld by local node of Proc at #{__FILE__}:\d+\z/, text.shift)
    assert_equal ["held by node[0] of node", "held by Array[0] of Array", "held by element :main of Hash",
                  "held by TestInsight::Holder.@note of TestInsight::Holder", "which global $explained keeps alive"], text
  end

  class Constant; end

  def test_explain_names_each_way
    root = "which global $explained keeps alive"
    assert_equal ["global $explained keeps it alive"], why { |node| node }
    assert_equal ["held by #{Pair}.right of #{Pair}", root], why { |node| Pair.new(1, node) }
    assert_equal ["held by element \"x\" of Hash", root], why { |node| { "x" => node } }
    assert_equal ["held by element 5 of Hash", root], why { |node| { 5 => node } }
    assert_equal ["held by element of Hash", root], why { |node| { nil => node } }
    assert_equal ["held by key of Hash", root], why { |node| { node => 1 }.compare_by_identity }
    assert_equal ["held by class variable @@x of class (anonymous)", root],
                 why { |node| Class.new.tap { |c| c.class_variable_set(:@@x, node) } }
    assert_equal ["held by class.@x of class (anonymous)", root],
                 why { |node| Class.new.tap { |c| c.instance_variable_set(:@x, node) } }
    assert_equal ["held by constant X of module (anonymous)", root], why { |node| Module.new.tap { |m| m.const_set(:X, node) } }
    assert_match(/\Aheld by self of Proc at/, why { |node| node.instance_eval { proc {} } }.first)
    assert_match(/\Aheld by a reference of Method/, why { |node| node.method(:to_s) }.first)
    assert_equal ["held by String.@x of String", root], why { |node| String.new.tap { |s| s.instance_variable_set(:@x, node) } }
    long = Array.new(1000, 1)
    assert_equal ["held by Array[1000] of Array", root], why { |node| long + [node] }
    text = why { |node| Constant.const_set(:NODE, node); nil }
    assert_equal "held by constant NODE of class TestInsight::Constant", text.first
    Constant.send(:remove_const, :NODE)
    assert_equal ["constant NODE keeps it alive"], why { |node| ::Object.const_set(:NODE, node); nil }
    ::Object.send(:remove_const, :NODE)
  end

  def test_explain_names_locals
    node = Node.new(0, 1)
    text = Rawrefcount.explain(node)
    assert_match(/  local node keeps it alive$/, text)
    queue = Queue.new
    thread = Thread.new { other = Node.new(0, 1); queue << ObjectSpace::WeakMap.new.tap { |map| map[1] = other }; sleep; other }
    text = Rawrefcount.explain(queue.pop[1])
    assert_match(/of Thread 0x/, text)
    thread.kill.join
    Fiber.new { Fiber.yield }.resume
    assert_match(/  local node keeps it alive$/, Rawrefcount.explain(node))
  end

  def test_explain_says_that_no_root_is_left
    weak = ObjectSpace::WeakMap.new
    was = GC.disable
    apart { weak[1] = Node.new(0, 1); nil }
    assert_match(/keeps it alive until the next collection: no root reaches it/, Rawrefcount.explain(weak[1]))
  ensure
    GC.enable unless was
  end

  def test_explain_leaves_the_collector_as_it_was
    node = Node.new(0, 1)
    Rawrefcount.explain(node)
    refute GC.enable
    GC.disable
    Rawrefcount.explain(node)
    assert GC.enable
    Node.new(0, 1)[0] = "x"
    GC.stress = true
    text = Rawrefcount.explain(node)
    GC.stress = false
    assert_match(/local node keeps it alive/, text)
    texts = Array.new(4) { Thread.new { Rawrefcount.explain(node) } }.map(&:value)
    assert_equal 4, texts.grep(/keeps it alive/).size
  end

  # What answers in ways of its own is not asked.
  def test_explain_calls_nobody
    called = []
    strange = Class.new do
      define_singleton_method(:constants) { |*| called << :constants; super() }
      define_singleton_method(:const_get) { |*| called << :const_get }
      define_singleton_method(:name) { called << :name }
      %i[hash inspect to_s class method_missing].each { |name| define_method(name) { |*| called << name; 0 } }
    end
    strange.autoload(:Nothing, "/nowhere/at/all")
    strange.const_set(:OLD, Object.new)
    strange.deprecate_constant(:OLD)
    keep = [strange.new, proc(&:nothing), strange]
    node = Node.new(0, 1)
    assert_output("", "") { Rawrefcount.explain(node) }
    assert_equal [], called
    assert_equal 3, keep.size
  end

  def test_snapshot
    require "json"
    require "tmpdir"
    require "pathname"
    Dir.mktmpdir do |dir|
      path = "#{dir}/one.heapsnapshot"
      node = Node.new(0, 1)
      node[0] = -> { node }
      assert_nil Rawrefcount.snapshot(Pathname(path))
      snapshot = JSON.parse(File.read(path))
      assert_equal snapshot["snapshot"]["node_count"] * 7, snapshot["nodes"].size
      assert_equal snapshot["snapshot"]["edge_count"] * 3, snapshot["edges"].size
      assert_includes snapshot["strings"], "Nodes::Node"
      assert_includes snapshot["strings"], "local node"
      ids = snapshot["nodes"].each_slice(7).map { |fields| fields[2] }
      assert_equal ids.uniq.size, ids.size
      assert_raises(Errno::ENOENT) { Rawrefcount.snapshot("#{dir}/nowhere/at/all") }
      assert_raises(Errno::EISDIR) { Rawrefcount.snapshot(dir) }
      assert_raises(TypeError) { Rawrefcount.snapshot(5) }
      assert_raises(ArgumentError) { Rawrefcount.snapshot(path, ba: true) }
      assert_output("", "") { Rawrefcount.snapshot(path, bar: true) }
      assert_raises(IOError) { Rawrefcount.snapshot("/dev/full") }
      refute GC.enable
    end
  end

  Marked = Class.new { attr_accessor :note }

  # The ids of objects with this name, and the names of what each refers to.
  def shown(name)
    Dir.mktmpdir do |dir|
      Rawrefcount.snapshot("#{dir}/one.heapsnapshot")
      snapshot = JSON.parse(File.read("#{dir}/one.heapsnapshot"))
      edges = snapshot["edges"].each_slice(3).to_a
      first = 0
      snapshot["nodes"].each_slice(7).filter_map do |fields|
        mine = edges[first, fields[4]]
        first += fields[4]
        [fields[2], mine.map { |type, edge, _| type == 1 ? edge : snapshot["strings"][edge] }] if snapshot["strings"][fields[1]] == name
      end
    end
  end

  def addresses(objects)
    apart { objects.map { |object| ObjectSpace.dump(object)[/0x\h+/] } }
  end

  # (A stale word of a stack may pin one object, but not all.)
  def test_snapshot_knows_objects_again
    require "json"
    require "objspace"
    require "tmpdir"
    kept = []
    apart { 20.times { kept << Marked.new.tap { |marked| marked.note = [marked] } }; nil }
    ids = [shown(Marked.name).sort]
    before = addresses(kept)
    GC.verify_compaction_references(toward: :empty, double_heap: true)
    refute_equal before, addresses(kept)
    ids << shown(Marked.name).sort
    kept = Marked.new
    GC.start
    ids << shown(Marked.name)
    assert_equal [20, 20], ids.first(2).map(&:size)
    assert_equal ids[0], ids[1]
    assert_equal [["@note", "class"]], ids[0].map(&:last).uniq
    refute_includes ids[2].map(&:first), nil
    assert_includes ids[2].map(&:first) - ids[0].map(&:first), ids[2].map(&:first).max
    assert kept
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
    apart { GC.disable; 10.times { Node.new(0, 1)[0] = "x" }; nil }
    GC.enable
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
