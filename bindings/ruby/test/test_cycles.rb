# frozen_string_literal: true

require "helper"

# Garbage cycles over both heaps.
class TestCycles < Minitest::Test
  include Helper

  # The marking of our own begins at all of Ruby's roots: the stacks, variables, what other threads hold.
  def test_what_lives_over_an_exact_collection
    local = FinalNode.new(next_id, 1)
    local[0] = proc { local }
    $global = FinalNode.new(next_id, 1)
    @ivar = Node.new(next_id, 1)
    @ivar[0] = $global
    queue = Queue.new
    thread = Thread.new { mine = FinalNode.new(next_id, 1); mine[0] = mine; queue.pop; mine.disposed? }
    Thread.pass until thread.stop?
    before = Rawrefcount.stats[:exact_collections]
    collect
    assert_operator Rawrefcount.stats[:exact_collections], :>, before
    queue << 1
    assert_equal false, thread.value
    assert_equal [false] * 3, [local, $global, @ivar].map(&:disposed?)
    assert_same local, local[0].call
    assert_same $global, @ivar[0]
    assert_empty Nodes.finalized.map(&:first) & [local.id, $global.id]
    $global = nil
  end

  # A node that owns a Proc that mentions the node.
  def widget(id, klass = Node)
    node = klass.new(id, 2)
    node[0] = proc { node }
    node
  end

  def made_apart(klass = Node)
    id = next_id
    apart do
      yield widget(id, klass)
      nil
    end
    id
  end

  # Each of these runs plainly, under GC.stress, and with objects moving.
  SETTINGS = {
    "plain" => ->(test, &body) { test.instance_exec(&body) },
    "stress" => lambda { |test, &body|
      GC.stress = true
      begin
        test.instance_exec(&body)
      ensure
        GC.stress = false
      end
    },
    "auto_compact" => lambda { |test, &body|
      GC.auto_compact = true
      begin
        test.instance_exec(&body)
        GC.start
      ensure
        GC.auto_compact = false
      end
    }
  }.freeze

  def self.test_in_all_settings(name, &body)
    SETTINGS.each do |setting, run|
      next if ENV["QUICK"] && setting != "plain"

      define_method("test_#{name}_#{setting}") { run.call(self, &body) }
    end
  end

  test_in_all_settings :a_widget_and_its_proc_are_collected do
    id = made_apart {}
    assert_includes newly_dead, id
  end

  test_in_all_settings :held_by_the_widget do
    id = made_apart { |node| @kept = node }
    refute_includes newly_dead, id
    apart { assert_same @kept, @kept.call }
    @kept = nil
    assert_includes newly_dead, id
  end

  test_in_all_settings :held_by_the_proc do
    id = made_apart { |node| @kept = node[0] }
    refute_includes newly_dead, id
    apart do
      assert_equal id, @kept.call.id
      assert_same @kept, @kept.call[0]
    end
    @kept = nil
    assert_includes newly_dead, id
  end

  test_in_all_settings :held_by_c_and_collected_on_release do
    id = made_apart { |node| Nodes.hold(0, node) }
    refute_includes newly_dead, id
    assert_equal(id, apart { Nodes.held(0).call.id })
    Nodes.release(0)
    assert_includes newly_dead, id
    id = made_apart { |node| Nodes.hold(0, node[0]) }
    refute_includes newly_dead, id
    assert_equal(id, apart { Nodes.held(0).call.id })
    Nodes.release(0)
    assert_includes newly_dead, id
  end

  test_in_all_settings :long_rings do
    first = next_id
    apart do
      nodes = Array.new(20) { |i| Node.new(first + i, 2) }
      nodes.each_with_index do |node, i|
        following = nodes[(i + 1) % 20]
        node[0] = i.even? ? { following => [following] } : following
      end
      nil
    end
    19.times { next_id }
    assert_equal 20, (newly_dead & (first...first + 20).to_a).size
  end

  def test_a_root_that_is_found_late_keeps_it_all
    chain = apart do
      (1..2000).inject(nil) do |rest, i|
        node = Node.new(1_000_000 + i, 1)
        node[0] = [rest]
        node
      end
    end
    collect
    assert_empty Nodes.dead.select { |id| id > 1_000_000 }
    length = 0
    node = chain
    while node
      length += 1
      node = node[0][0]
    end
    assert_equal 2000, length
  end

  # Some nodes with finalizers in cycles (a stale word of a stack may keep one). Collect until one
  # of their finalizers has run, and yield what it saw. Returns the node's id.
  def finalize_one_of_many
    ids = Array.new(5) { made_apart(FinalNode) {} }
    5.times do
      wipe_stacks
      done = apart do
        Rawrefcount.collect
        id, value = Nodes.finalized.find { |number, _| ids.include?(number) }
        yield id, value if id
        Nodes.finalized.clear
        id
      end
      return done if done
    end
    flunk "no finalizer ran"
  end

  # (The others may be finalized meanwhile.)
  def refute_finalized_again(id)
    refute_includes Nodes.finalized.map(&:first), id
  end

  # A finalizer sees its object whole, though this was found in a garbage cycle.
  def test_finalizers
    made_apart(FinalNode) {}
    GC.start
    Rawrefcount.run_pending
    assert_empty Nodes.finalized
    id = finalize_one_of_many do |number, value|
      assert_instance_of Proc, value
      assert_equal number, value.call.id
    end
    assert_includes newly_dead, id
    refute_finalized_again id
  end

  def test_a_finalizer_may_resurrect
    id = finalize_one_of_many { |_, value| @kept = value.call }
    collect
    apart do
      assert_equal id, @kept.id
      assert_same @kept, @kept.call
    end
    @kept = nil
    assert_includes newly_dead, id
    refute_finalized_again id
  end

  def test_without_a_cycle_finalizers_run_at_once
    id = next_id
    apart { FinalNode.new(id, 1)[0] = "whole"; nil }
    wipe_stacks
    GC.start
    Rawrefcount.run_pending
    assert_equal [id, "whole"], Nodes.finalized.assoc(id)
  end

  # Make so many, with no collection meanwhile; then let Ruby collect, and pending work run. Gives how many exact
  # collections there were.
  def exact_collections_after(count)
    GC.disable
    before = Rawrefcount.stats[:exact_collections]
    apart { yield count }
    wipe_stacks
    GC.enable
    2.times do
      GC.start
      sleep 0
    end
    Rawrefcount.stats[:exact_collections] - before
  end

  # Many finalizers to run make an exact collection happen by itself: at first 1000, then twice as many as the last one
  # has left. What has been finalized is not among them, whether its finalizer has resurrected it or not, nor what was
  # disposed of.
  def test_exact_collections_start_by_themselves
    collect
    garbage = ->(count) { count.times { widget(0, FinalNode) }; nil }
    assert_equal 0, exact_collections_after(900, &garbage)
    [1900, 1100, 1100].each do |count|
      assert_equal 1, exact_collections_after(count, &garbage), count
      assert_operator Rawrefcount.stats[:finalizable], :<, 50, count
    end
    disposed = ->(count) { @disposed = Array.new(count) { FinalNode.new(0, 0).tap(&:dispose) }; nil }
    assert_equal 0, exact_collections_after(1900, &disposed)
    kept = ->(count) { @kept = Array.new(count) { widget(0, FinalNode) }; nil }
    assert_equal 1, exact_collections_after(1500, &kept)
    assert_equal 0, exact_collections_after(1400, &garbage)
    assert_equal 1, exact_collections_after(200, &garbage)
    assert_operator Rawrefcount.stats[:finalizable] - 1500, :<, 50
  end

  # As a C library does it.
  def test_rrc_gc_collect
    id = made_apart {}
    wipe_stacks
    assert_operator Nodes.gc_collect, :>=, 1
    assert_includes Nodes.dead, id
  end

  def test_bare_nodes_are_held_from_outside
    id = next_id
    apart do
      node = BareNode.new(id, 1)
      node[0] = proc { node }
      nil
    end
    refute_includes newly_dead, id      # no traverse: a leak, never a loss
  end
end
