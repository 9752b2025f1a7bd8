# frozen_string_literal: true

require "helper"

# Ruby values in C.
class TestValues < Minitest::Test
  include Helper

  class Empty < BasicObject; end

  KINDS = {
    "true" => -> { true }, "false" => -> { false }, "nil" => -> { nil }, "fixnum" => -> { 42 },
    "flonum" => -> { 1.5 }, "static symbol" => -> { :static }, "big float" => -> { 1e300 },
    "bignum" => -> { 2**100 }, "string" => -> { +"text" }, "frozen string" => -> { (+"text").freeze },
    "frozen array" => -> { [1].freeze }, "dynamic symbol" => -> { "dynamic#{rand}".to_sym },
    "hash" => -> { { a: 1 } }, "class" => -> { Class.new }, "module" => -> { Module.new },
    "range" => -> { ("a".."b") }, "regexp" => -> { Regexp.new("a#{rand}") }, "struct" => -> { Struct.new(:a).new(1) },
    "match" => -> { "abc".match(/b/) }, "method" => -> { [].method(:push) }, "proc" => -> { proc { 1 } },
    "rational" => -> { Rational(1, 3) }, "complex" => -> { Complex(1, 2) }, "io" => -> { IO.pipe[0] },
    "enumerator" => -> { [1].each }, "thread" => -> { Thread.new {} }, "fiber" => -> { Fiber.new {} },
    "object" => -> { Object.new }, "singleton" => -> { Object.new.tap { |o| def o.x; end } },
    "basic object" => -> { Empty.new }
  }.freeze

  KINDS.each do |name, make|
    define_method("test_a_#{name.tr(' ', '_')}_comes_back_itself") do
      value = make.call
      Nodes.hold(0, value)
      assert same?(value, Nodes.held(0))
      Nodes.hold(1, value)
      3.times { GC.start }
      GC.start(full_mark: false)
      GC.compact
      assert same?(value, Nodes.held(0))
      assert same?(value, Nodes.held(1))
      Nodes.release(0)
      GC.start
      assert same?(value, Nodes.held(1))
      Nodes.release(1)
    end
  end

  def same?(a, b)
    BasicObject.instance_method(:equal?).bind_call(a, b)
  end

  def test_a_held_value_lives_and_a_released_one_dies
    4.times { GC.start }                # all that was there before is old
    map = ObjectSpace::WeakMap.new
    apart { 100.times { |i| s = "s#{i}"; Nodes.hold(i, s); map[s] = i } }
    3.times { GC.start(full_mark: false) }
    collect
    assert_equal 100, map.size
    assert_equal((0...100).map { |i| "s#{i}" }, (0...100).map { |i| Nodes.held(i).dup })
    apart { 100.times { |i| Nodes.release(i) } }
    collect
    assert_operator map.size, :<, 5
  end

  def test_one_value_has_one_object
    value = +"x"
    collect                             # so that there is no garbage, and no collection soon
    before = Rawrefcount.stats[:objects]
    10.times { |i| Nodes.hold(i, value) }
    assert_equal before + 1, Rawrefcount.stats[:objects]
    10.times { |i| Nodes.release(i) }
  end

  # Also one that Ruby does not collect: C can use the object as a key.
  def test_one_immediate_has_one_object
    [nil, true, false, 0, -1, 1 << 40, :symbol, 1.5].each do |value|
      collect
      before = Rawrefcount.stats[:objects]
      2.times do
        10.times { |i| Nodes.hold(i, value) }
        assert_equal before + 1, Rawrefcount.stats[:objects], value.inspect
        10.times { |i| assert same?(value, Nodes.held(i)), value.inspect }
        10.times { |i| Nodes.release(i) }
        assert_equal before, Rawrefcount.stats[:objects], value.inspect
      end
    end
  end

  # Their objects are light: they go in the collection, without a dealloc.
  def test_objects_of_dead_values_go_at_once
    collect
    before = Rawrefcount.stats
    apart { 1000.times { |i| Nodes.hold(0, "s#{i}") }; Nodes.release(0) }
    GC.start
    assert_operator Rawrefcount.stats[:objects], :<, before[:objects] + 20
  end

  def test_a_wrapper_is_held_as_its_object
    node = Node.new(0, 1)
    other = Node.new(0, 0)
    node[0] = other
    assert_equal 1, other.held
    assert_same other, node[0]
    Nodes.hold(0, node)
    assert_same node, Nodes.held(0)
    assert_equal 1, node.held
    Nodes.release(0)
    assert_equal 0, node.held
  end

  def test_values_are_called
    node = Node.new
    assert_nil node.call
    node[0] = ->(a, b) { a + b }
    assert_equal 3, node.call(1, 2)
    node[0] = [1, 2].method(:push)
    assert_equal [1, 2, 3], node.call(3)
  end

  def test_exceptions_are_carried_over
    node = Node.new
    error = Class.new(StandardError)
    node[0] = -> { raise error, "out" }
    assert_equal "out", assert_raises(error) { node.call }.message
    node[0] = -> { throw :done, 5 }
    assert_equal(5, catch(:done) { node.call })
    node[0] = 42
    assert_raises(NoMethodError) { node.call }
    node[0] = proc { |x| next x * 2 }
    assert_equal 8, node.call(4)
    assert_equal 7, breaking(node)
    node[0] = -> { exit 3 }
    assert_equal 3, assert_raises(SystemExit) { node.call }.status
  end

  def breaking(node)
    [1].each do
      node[0] = -> { raise StopIteration }
      begin
        node.call
      rescue StopIteration
        break 7
      end
    end
  end
end
