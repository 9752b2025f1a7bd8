# frozen_string_literal: true

require "helper"
require "widgets_ruby"

# A script disposes of an object while a C function works with it: when an argument is converted, in a callback, or when
# C runs pending work.
class TestDispose < Minitest::Test
  include Helper

  Canvas = Widgets::Canvas
  Thing = Foreign::Thing

  # An argument that disposes of some objects when it is converted.
  class Evil
    def initialize(value, *objects) = (@value, @objects = value, objects)

    def converted
      @objects.each(&:dispose)
      3.times { GC.start }
      Array.new(50) { "memory is used again" * 9 }
      @value
    end
    alias to_int converted
    alias to_str converted
    alias to_ary converted
  end

  # Whatever is converted, all objects that are used then have been disposed of.
  def assert_disposed(&block)
    error = assert_raises(Rawrefcount::DisposedError, &block)
    assert_match(/was disposed of\z/, error.message)
  end

  def node = Node.new(next_id, 3).tap { |n| n[0] = "value" }
  def thing = Thing.new(next_id)

  def test_who_can
    [Node, FinalNode, BareNode, Thing, Canvas].each do |klass|
      assert_includes klass, Rawrefcount::Disposable
      assert_includes klass.instance_methods, :dispose
    end
    [Rawrefcount::Object, Widgets::Widget, Widgets::Window, Widgets::Button, Widgets::Container].each do |klass|
      refute_includes klass.instance_methods, :dispose, klass
    end
    refute_respond_to Nodes.unknown, :dispose
    assert_raises(NoMethodError) { Widgets::Button.new("x").dispose }
  end

  def test_subclasses_can
    special = Class.new(Canvas).new(1, 1)
    special.dispose
    assert special.disposed?
    assert_instance_of Method, Class.new(Node).new.method(:dispose)
  end

  def test_nodes
    assert_disposed { n = node; n[Evil.new(0, n)] }
    assert_disposed { n = node; n[Evil.new(0, n)] = "x" }
    assert_disposed { n = node; n.claim(Evil.new(100, n)) }
    assert_disposed { n = node; Nodes.hold(Evil.new(0, n), n) }
    assert_disposed { n, m = node, node; n[Evil.new(0, m)] = m }
    n = node
    n[Evil.new(1, m = node)] = 5
    assert_equal 5, n[1]
    assert m.disposed?
  end

  # Self and arguments, and the object of each conversion: in any order.
  def test_things
    [[0], [1], [0, 1], [1, 0], [0, 0]].each do |order|
      a, b = things = [thing, thing]
      victims = order.map { |i| things[i] }
      assert_disposed { a.swap(Evil.new(0, *victims), b, 0) }
      a, b = things = [thing, thing]
      victims = order.map { |i| things[i] }
      assert_disposed { a.swap(0, b, Evil.new(0, *victims)) }
      a, b = things = [thing, thing]
      victims = order.map { |i| things[i] }
      assert_disposed { a.refer(Evil.new(0, *victims), b) }
      a, b = things = [thing, thing]
      victims = order.map { |i| things[i] }
      assert_disposed { a.swap(Evil.new(0, victims[0]), b, Evil.new(0, victims[-1])) }
    end
    a = thing
    assert_disposed { a.referred(Evil.new(0, a)) }
    a = thing
    assert_disposed { Foreign.take(Evil.new(0, a), a) }
    Foreign.drop(0)
  end

  def test_widgets
    canvas = -> { Canvas.new(10, 10) }
    c = canvas.call
    assert_disposed { c.text = Evil.new("text", c) }
    c = canvas.call
    Canvas.new(Evil.new(10, c), Evil.new(10, c))
    assert_disposed { c.width }
    box = Widgets::Container.new
    box << c = canvas.call
    assert_same c, box[Evil.new(0)]
    assert_raises(NoMethodError) { box[Evil.new(0, box)] }
    fresh = box[Evil.new(0, c)]
    assert_equal [true, 10], [c.disposed?, fresh.width]
    assert_disposed { box << c }
    assert_disposed { box.remove(c) }
    assert_equal 1, box.size
    assert_raises(ArgumentError) { fresh.on(Evil.new("click", fresh)) { flunk } }
    refute fresh.disposed?
  end

  # The callback disposes of the sender, and of what it calls.
  def test_callbacks
    canvas = Canvas.new(10, 10)
    canvas.on(:click) { |sender| sender.dispose; sender.on(:click) if !sender.disposed?; GC.start; 1 }
    assert_same canvas, canvas.emit(:click)
    assert_disposed { canvas.emit(:click) }
    n = node
    n[0] = lambda do |_|
      n[0] = nil
      n.dispose
      GC.start
      7
    end
    assert_equal 7, n.call(1)
  end

  # Functions that hold, wrap and tell of memory run no Ruby code: no deallocs, and no other thread.
  def test_c_works_undisturbed
    assert_runs "0 0 true\n", <<~RUBY
      counted = 0
      stop = false
      thread = Thread.new { until stop; counted += 1; Thread.pass; end }
      Nodes.on_dealloc(->(_) { counted += 1 })
      def garbage = Thread.new { 10_000.times { |i| n = Nodes::Node.new(i + 1, 1); n[0] = -> { n } }; nil }.join
      changes = Array.new(3) { garbage; Nodes.work_in_c(20_000) }
      work = [changes.max, changes.min]
      stop = true
      thread.join
      Nodes.on_dealloc(nil)
      GC.start
      Rawrefcount.run_pending
      puts [*work, Nodes.dead.size > 10_000].join(" ")
    RUBY
  end
end
