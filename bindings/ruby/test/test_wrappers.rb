# frozen_string_literal: true

require "helper"

# C objects in Ruby.
class TestWrappers < Minitest::Test
  include Helper

  class Special < Nodes::Node
    attr_accessor :note
  end

  def test_the_wrapper_stays_the_same_while_it_lives
    node = Node.new(0, 1)
    inner = Node.new(0, 0)
    node[0] = inner
    100.times { assert_same inner, node[0] }
    GC.start
    GC.compact
    assert_same inner, node[0]
  end

  def test_a_new_wrapper_after_the_old_one_died
    node = Node.new(0, 1)
    id = next_id
    old = ObjectSpace::WeakMap.new
    apart { Array.new(20) { node[0] = Node.new(id, 0).tap { |n| old[n] = 1 } }; nil }
    collect
    assert_operator old.size, :<, 20
    assert_equal id, node[0].id
    assert_operator Nodes.dead.count(id), :<, 20
  end

  module Marked
    def marked? = true
  end

  # What scripts can do to a wrapper, and how it is seen that a wrapper is the same one.
  STATES = {
    variable: [-> { Node.new(_1, 2).tap { |n| n.instance_variable_set(:@mark, [n]) } }, -> { _1.instance_variable_get(:@mark)[0].equal?(_1) }],
    singleton: [-> { Node.new(_1, 2).tap { |n| n.define_singleton_method(:mark) { 5 } } }, -> { _1.mark == 5 }],
    extended: [-> { Node.new(_1, 2).extend(Marked) }, -> { _1.marked? }],
    subclass: [-> { Special.new(_1, 2) }, -> { _1.instance_of?(Special) }],
    made: [-> { Made.new(_1, note: "x") }, -> { _1.note == "x" }],
    frozen: [-> { Node.new(_1, 2).freeze }, -> { _1.frozen? }],
    untracked: [-> { BareNode.new(_1, 2).tap { |n| n.instance_variable_set(:@mark, 1) } }, -> { _1.instance_variable_get(:@mark) == 1 }],
    many_names: [-> { BareNode.new(_1, 2).tap { |n| n.instance_variable_set("@mark#{n.id}", 1) } },
                 -> { _1.instance_variable_get("@mark#{_1.id}") == 1 }],    # Ruby keeps these in a hash
    finalizable: [-> { FinalNode.new(_1, 2).tap { |n| n.instance_variable_set(:@mark, 1) } }, -> { _1.instance_variable_get(:@mark) == 1 }],
    type_without_class: [->(_) { Nodes.unknown.tap { |n| n.instance_variable_set(:@mark, 1) } }, -> { _1.instance_variable_get(:@mark) == 1 }]
  }.freeze

  WAYS = { major: -> { 3.times { GC.start } },
           minor: -> { 5.times { GC.start(full_mark: false) } },
           stress: -> { GC.stress = true; Array.new(3) { "x" }; GC.stress = false },
           compact: -> { GC.compact; GC.verify_compaction_references(toward: :empty, double_heap: true) },
           all: -> { Rawrefcount.collect; GC.start(full_mark: false); Rawrefcount.collect } }.freeze

  # A wrapper that scripts have changed lives as long as C holds its object. In each way of collection there are
  # some, of which a stack may keep one.
  def test_changed_wrappers_stay
    STATES.each do |name, (make, same)|
      WAYS.each do |way, collection|
        holder = Node.new(0, 8)
        ids = apart { Array.new(8) { |i| holder[i] = node = make.(next_id); node.object_id } }
        collection.call
        assert_equal ids, apart { Array.new(8) { |i| holder[i].object_id } }, "#{name}, #{way}"
        assert apart { Array.new(8) { |i| same.(holder[i]) }.all? }, "#{name}, #{way}"
        holder.dispose
      end
    end
    Rawrefcount.check
  end

  # ... and goes with the last reference of C, in the next collection.
  def test_changed_wrappers_go_when_c_lets_go
    STATES.each do |name, (make, _)|
      next if name == :type_without_class

      map = ObjectSpace::WeakMap.new
      holder = Node.new(0, 20)
      apart { 20.times { |i| holder[i] = make.(next_id).tap { |n| map[n] = 1 } }; nil }
      collect
      assert_equal 20, map.size, name.to_s
      Nodes.dead.clear
      holder.dispose
      assert_operator newly_dead.size, :>=, 18, name.to_s
      GC.start                          # (from 3.3 on, a WeakMap forgets dead keys later)
      assert_operator map.size, :<=, 2, name.to_s
    end
  end

  # A new wrapper has another object_id. This is no state, as a snapshot gives one to each object.
  def test_an_object_id_is_no_state
    map = ObjectSpace::WeakMap.new
    holder = Node.new(0, 20)
    apart { 20.times { |i| holder[i] = Node.new(next_id, 0).tap { |n| map[n] = n.object_id } }; nil }
    Nodes.dead.clear
    collect
    GC.start
    assert_operator map.size, :<=, 2
    assert_empty Nodes.dead.select { |id| id > next_id - 20 && id < 900_000 }
  end

  # Cycles through the state of wrappers: the object holds a value that refers to the wrapper; or the wrapper refers
  # to another one, whose object holds the first.
  def test_cycles_of_changed_wrappers
    STATES.each do |name, (make, _)|
      next if %i[frozen type_without_class untracked many_names].include?(name)

      alive = Nodes.alive
      apart do
        20.times do
          node, other = make.(next_id), Node.new(next_id, 1)
          node.instance_variable_set(:@other, other)
          node[0] = -> { node }
          other[0] = node
        end
        nil
      end
      collect
      Nodes.finalized.clear             # (the finalizers have put values there)
      collect
      assert_operator Nodes.alive - alive, :<=, 4, name.to_s
    end
  end

  # The same for an object whose references C does not know: it has no references of its own, but is held.
  def test_cycles_of_changed_wrappers_of_leaves
    alive = Nodes.alive
    apart do
      20.times do
        leaf, node = BareNode.new(next_id, 0), Node.new(next_id, 1)
        leaf.instance_variable_set(:@node, node)
        node[0] = leaf
      end
      nil
    end
    collect
    assert_operator Nodes.alive - alive, :<=, 4
  end

  # What the state refers to lives as well.
  def test_what_changed_wrappers_refer_to
    holder = Node.new(0, 20)
    first = next_id
    apart do
      20.times do |i|
        outer = Node.new(next_id, 1)
        outer.instance_variable_set(:@inner, Node.new(next_id, 1).tap { |n| n[0] = "value #{i}" })
        holder[i] = Node.new(next_id, 1).tap { |n| n[0] = outer }
      end
      nil
    end
    assert_empty newly_dead.select { |id| id > first && id < 900_000 }
    20.times { |i| assert_equal "value #{i}", apart { holder[i][0].instance_variable_get(:@inner)[0] } }
    holder.dispose
    assert_operator newly_dead.size, :>=, 57
  end

  # Changed at last, when it is old.
  def test_a_wrapper_that_is_changed_late
    holder = Node.new(0, 20)
    apart { 20.times { |i| holder[i] = Node.new(next_id, 0) }; nil }
    kept = Array.new(20) { |i| holder[i] }
    4.times { GC.start }
    ids = apart { kept.map { |n| n.instance_variable_set(:@mark, 1); n.object_id } }
    kept.clear
    collect
    assert_equal ids, apart { Array.new(20) { |i| holder[i].object_id } }
  end

  def test_explain_goes_through_changed_wrappers
    holder = Node.new(0, 1)
    apart do
      outer = Node.new(next_id, 1)
      outer.instance_variable_set(:@inner, Node.new(next_id, 1))
      holder[0] = outer
      nil
    end
    collect
    map = ObjectSpace::WeakMap.new
    apart { map[:inner] = holder[0].instance_variable_get(:@inner); nil }
    text = Rawrefcount.explain(map[:inner])
    assert_match(/held by Nodes::Node.@inner of Nodes::Node/, text)
  end

  def test_a_subclass
    special = Special.new(0, 1)
    special.note = "x"
    special[0] = special
    assert_instance_of Special, special[0]
    assert_equal "x", special[0].note
    special[0] = nil
  end

  def test_a_type_without_a_class
    assert_instance_of Rawrefcount::Object, Nodes.unknown
    assert_match(/unknown_node/, Nodes.unknown.inspect)
  end

  def test_an_object_that_is_never_freed
    eternal = Nodes.eternal
    assert_same eternal, Nodes.eternal
    id = apart { Nodes.eternal.object_id }
    eternal = nil
    collect
    assert_instance_of Rawrefcount::Object, Nodes.eternal
    Nodes.dispose(Nodes.eternal)
    refute Nodes.eternal.disposed?
    assert id
  end

  def test_type_errors_name_both_types
    { "text" => "String", nil => "nil", 5 => "Integer", true => "true", Object.new => "Object",
      BareNode.new => "Nodes::BareNode", Nodes.unknown => "Rawrefcount::Object" }.each do |value, name|
      error = assert_raises(TypeError) { Nodes.expect_node(value) }
      assert_equal "wrong argument type #{name} (expected Nodes::Node)", error.message
    end
    error = assert_raises(TypeError) { Nodes.expect_kind(Node.new, BareNode) }
    assert_equal "wrong argument type Nodes::Node (expected Nodes::BareNode)", error.message
    assert Nodes.expect_node(Node.new)
    assert Nodes.expect_kind(FinalNode.new, Node)
  end

  def test_dispose
    node = Node.new(next_id, 1)
    id = node.id
    node[0] = "x"
    refute node.disposed?
    assert_nil node.dispose
    assert_equal 1, Nodes.dead.count(id)         # (there can be others, of earlier tests)
    assert node.disposed?
    assert_nil node.dispose
    [-> { node.id }, -> { node[0] }, -> { node[0] = 1 }, -> { Nodes.hold(0, node) }].each do |use|
      assert_equal "this Nodes::Node was disposed of", assert_raises(Rawrefcount::DisposedError, &use).message
    end
    assert_equal "#<Nodes::Node (disposed)>", node.inspect
  end

  def test_what_c_holds_outlives_dispose
    parent = Node.new(0, 1)
    child = Node.new(next_id, 0)
    id = child.id
    parent[0] = child
    child.dispose
    refute_includes Nodes.dead, id
    apart do
      assert_equal id, parent[0].id
      refute_same child, parent[0]
    end
    parent.dispose
    assert_includes newly_dead, id
  end

  def test_copies_are_refused
    node = Node.new
    assert_raises(TypeError) { node.dup }
    assert_raises(TypeError) { node.clone }
    assert_raises(TypeError) { Marshal.dump(node) }
    assert_raises(TypeError) { Node.allocate }
    assert_raises(NoMethodError) { Rawrefcount::Object.new }
  end

  # With an `initialize` in C, subclasses in Ruby are as others.
  class Made < Nodes::MadeNode
    attr_reader :note

    def initialize(id, note:)
      super(id)
      @note = note
      self[0] = self
    end
  end

  class Forgetful < Nodes::MadeNode
    def initialize = @note = 1
  end

  class Raising < Nodes::MadeNode
    def initialize(id)
      super
      raise "no"
    end
  end

  def test_initialize_in_a_subclass
    made = Made.new(900_001, note: "x")
    assert_instance_of Made, made
    assert_equal [900_001, "x"], [made.id, made.note]
    assert_same made, made[0]
    assert_equal 900_003, Nodes::MadeNode.new(900_003).id
    assert_equal "wrong number of arguments (given 0, expected 1)", assert_raises(ArgumentError) { Nodes::MadeNode.new }.message
    id = next_id
    apart { Made.new(id, note: 1); nil }
    assert_includes newly_dead, id
  end

  def test_without_initialize
    [Forgetful.new, Made.allocate].each do |empty|
      name = empty.class.name
      [-> { empty.id }, -> { Nodes.hold(0, empty) }, -> { Nodes.expect_node(empty) }].each do |use|
        assert_equal "this #{name} was not initialized: call super in initialize", assert_raises(TypeError, &use).message
      end
      assert_equal "#<#{name} (not initialized)>", empty.inspect
      refute empty.disposed?
      GC.start
      GC.compact
      assert_operator ObjectSpace.memsize_of(empty), :<, 150
      assert_raises(ArgumentError) { Rawrefcount.explain(empty) }
      empty.dispose
      assert empty.disposed?
      assert_raises(Rawrefcount::DisposedError) { empty.id }
      assert_raises(TypeError) { empty.send(:initialize, 1, note: 2) } if empty.is_a?(Made)
    end
  end

  def test_initialize_again
    made = Made.new(900_005, note: 1)
    collect                             # so that there is no garbage, and no collection soon
    alive = Nodes.alive
    error = assert_raises(TypeError) { made.send(:initialize, 0, note: 1) }
    assert_equal "this TestWrappers::Made is initialized already", error.message
    error = assert_raises(TypeError) { Made.allocate.adopt(made) }
    assert_equal "what this TestWrappers::Made is to stand for has a wrapper already", error.message
    assert_equal alive, Nodes.alive
    assert_raises(RuntimeError) { Raising.new(next_id) }
    assert_raises(TypeError) { Nodes::MadeNode.instance_method(:adopt).bind_call(Node.new, made) }
    assert_equal 900_005, made.id
  end

  def test_copies_of_what_can_be_allocated_are_refused
    made = Made.new(0, note: 1)
    { dup: TypeError, clone: TypeError }.each do |copy, error|
      assert_equal "can't copy TestWrappers::Made", assert_raises(error) { made.send(copy) }.message
    end
    assert_raises(TypeError) { Marshal.dump(made) }
    assert_runs "TypeError Ractor::Error 1\n", <<~RUBY, "-W0"
      made = Nodes::MadeNode.new(1)
      r = Ractor.new { Ractor.receive }
      puts [false, true].map { |move|
        begin
          r.send(made, move: move)
        rescue => e
          e.class
        end
      }.push(made.id).join(" ")
    RUBY
  end

  def test_frozen_wrappers_and_walks_over_all_objects
    node = Made.new(0, note: 1)
    node[1] = +"what it holds is not frozen"
    node.freeze
    node[1] << "!"
    assert_equal "what it holds is not frozen!", node[1]
    assert_raises(FrozenError) { node.instance_variable_set(:@note, 2) }
    assert_includes ObjectSpace.each_object(Nodes::Node).to_a, node
    assert_includes ObjectSpace.reachable_objects_from(node), Made
    assert_match(/rawrefcount object/, ObjectSpace.dump(node))
    node.dispose
    assert node.disposed?
  end

  def test_other_ractors_are_refused
    assert_runs "TypeError\nRactor::UnsafeError\n", RACTORS + <<~RUBY, "-W0"
      node = Nodes::Node.new
      sent = Ractor.new { Ractor.receive }
      begin
        sent.send(node)
      rescue TypeError => e
        puts e.class
      end
      sent.send(1)
      value_of(sent)
      puts value_of(Ractor.new { begin; Rawrefcount.stats; rescue => error; error.class.name; end })
    RUBY
  end

  def test_memsize
    node = Node.new(0, 4)
    small = ObjectSpace.memsize_of(node)
    assert_operator small, :>=, 40 + 24
    node.claim(100_000)
    assert_equal small + 100_000, ObjectSpace.memsize_of(node)
    node.dispose
    assert_operator ObjectSpace.memsize_of(node), :<=, 40
  end

  # Ruby hears how much memory objects have when they get their wrappers (here as much as the id says). So it collects.
  def test_what_a_type_tells_of_its_memory
    small = ObjectSpace.memsize_of(Node.new(0, 0))
    assert_equal small + 20_000_000, ObjectSpace.memsize_of(Node.new(20_000_000, 0))
    most = 0
    300.times do
      Node.new(20_000_000, 0)
      most = [most, Rawrefcount.stats[:native_bytes]].max
    end
    assert_operator most, :>=, 20_000_000
    assert_operator most, :<, 3_000_000_000
    collect
    assert_operator Rawrefcount.stats[:native_bytes], :<, 100_000_000
  end

  # A thread of C drops references without Ruby's lock.
  def test_references_that_threads_drop
    node = Node.new(0, 0)
    collect                             # so that no collection comes soon, which would count them
    100.times { node.drop_in_thread }
    assert_equal 100, node.held
    assert_equal 1, Rawrefcount.stats[:pending]
    collect
    assert_equal 0, node.held
  end

  # A gem with the header's own checks ends the process, and names the function.
  def test_calls_without_the_lock
    require "rawrefcount/settings"
    return unless Rawrefcount::SETTINGS.include?("-DRRC_DEBUG")

    ["rrc_ruby_hold", "rrc_ruby_wrap", "rrc_ruby_native_bytes", "rrc_decref",
     "a function of rawrefcount.h that makes or frees memory"].each do |name|
      [true, false].each do |by_ruby|
        output, status = in_a_new_ruby(<<~RUBY)
          Thread.new { Nodes.hold(0, Nodes::Node.new(0, 0)) }.join
          Rawrefcount.collect
          $stdout.sync = true
          Nodes.misuse("#{name}", #{by_ruby})
          puts "not reached"
        RUBY
        assert_match(/^rawrefcount: #{name} was called by a thread that does not hold Ruby's lock/, output)
        refute_match(/not reached/, output)
        assert_equal Signal.list["ABRT"], status.termsig
      end
    end
  end

  # Methods that change the object refuse a frozen wrapper; others work.
  def test_frozen_wrappers
    node = Node.new(7, 1)
    node[0] = "value"
    node.freeze
    assert_match(/can't modify frozen Nodes::Node/, assert_raises(FrozenError) { node[0] = 1 }.message)
    assert_equal ["value", 7], [node[0], node.id]
    assert_raises(FrozenError) { Nodes::MadeNode.allocate.freeze.send(:initialize, 1) }
    node.dispose
    assert_raises(Rawrefcount::DisposedError) { node[0] = 1 }
    assert_raises(TypeError) { Node.instance_method(:[]=).bind_call(Nodes::MadeNode.allocate.freeze, 0, 1) }
  end

  # Native memory makes Ruby collect: wrappers alone would not.
  def test_memory_pressure
    collect
    GC.start
    before = GC.count
    alive = Nodes.alive
    200.times { Node.new(0, 0).claim(4 << 20) }
    assert_operator GC.count - before, :>, 5
    assert_operator Nodes.alive - alive, :<, 150
    collect
  end

  def test_a_class_for_each_type
    assert_match(/has a class already: Nodes::Node/, assert_raises(ArgumentError) { Nodes.define_twice }.message)
    error = assert_raises(TypeError) { Nodes.define_below(String) }
    assert_equal "the superclass of Below must be Rawrefcount::Object or below it", error.message
  end

  def test_an_extension_built_for_another_version
    error = assert_raises(LoadError) { Nodes.open_with(99, "") }
    assert_match(/built for another version of rawrefcount/, error.message)
  end

  def test_a_wrapper_that_ruby_brings_back_is_disposed
    map = ObjectSpace::WeakMap.new
    warns, Warning[:deprecated] = Warning[:deprecated], false
    ids = apart { Array.new(200) { Node.new(next_id, 0).tap { |n| map[n] = 1 }.object_id } }
    GC.start(full_mark: true, immediate_sweep: false)
    found = ids.filter_map do |id|
      ObjectSpace._id2ref(id)
    rescue RangeError
      nil
    end
    found.each { |node| assert(node.disposed? || node.id) }
    collect
  ensure
    Warning[:deprecated] = warns
  end

  def test_a_value_gets_no_wrapper
    [Object.new, 5, nil].each do |value|
      assert_raises(TypeError) { Nodes.adopt_value(Nodes::MadeNode.allocate, value) }
    end
  end
end
