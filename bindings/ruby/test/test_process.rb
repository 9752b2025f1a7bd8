# frozen_string_literal: true

require "helper"

# Threads, fibers, fork, and the end.
class TestProcess < Minitest::Test
  include Helper

  def test_threads
    threads = Array.new(4) do |t|
      Thread.new do
        Array.new(300) do |i|
          node = Node.new(0, 2)
          node[0] = "#{t} #{i}"
          node[1] = proc { node }
          Thread.pass if i % 50 == 0
          GC.start(full_mark: i.even?) if i % 100 == 0
          node
        end
      end
    end
    threads.each_with_index do |thread, t|
      thread.value.each_with_index { |node, i| assert_equal "#{t} #{i}", node[0] }
    end
  end

  def test_fibers
    node = Node.new(0, 2)
    fiber = Fiber.new do
      inner = Node.new(0, 1)
      node[0] = inner
      inner[0] = proc { |x| Fiber.yield(x + 1) }
      inner.call(1)
      GC.start
      inner.call(5)
    end
    assert_equal 2, fiber.resume
    GC.start
    GC.compact
    assert_equal 6, fiber.resume
    assert_equal node[0][0], node[0][0]
  end

  def test_a_dealloc_in_a_fiber
    seen = []
    Nodes.on_dealloc(->(id) { seen << Fiber.new { id }.resume })
    Fiber.new { Node.new(next_id, 0).dispose }.resume
    assert_equal 1, seen.size
  end

  def test_fork
    node = Node.new(0, 1)
    node[0] = "before"
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      GC.start
      GC.compact
      node[0] = node[0] + " and after"
      Rawrefcount.collect
      writer.write [node[0], Rawrefcount.check].inspect
      writer.close
      exit!(0)
    end
    writer.close
    assert_equal '["before and after", true]', reader.read
    Process.wait(pid)
    assert $?.success?
    assert_equal "before", node[0]
  end

  END_PROGRAMS = {
    "everything_alive" => "$a = Array.new(1000) { Nodes::Node.new(0, 2).tap { |n| n[0] = proc { n }; n[1] = 'x' * 30 } }",
    "a_queue_pending" => "GC.disable; Thread.new { 1000.times { Nodes::Node.new(1, 1)[0] = 'x' } }.join; GC.enable; " \
                         "GC.start(immediate_sweep: false)",
    "values_held" => "1000.times { |i| Nodes.hold(i, [i]) }",
    "at_exit" => "at_exit { $n[0] = proc { 1 }; print $n.call; Rawrefcount.collect }; $n = Nodes::Node.new; " \
                 "at_exit { $n[1] = 'x' }",
    "object_finalizers" => "$n = Nodes::Node.new; $n[0] = 'x'; " \
                           "ObjectSpace.define_finalizer(Object.new, proc { print $n[0].size; GC.start })",
    "an_exception" => "$n = Nodes::Node.new; $n[0] = proc { $n }; begin; raise 'x'; rescue; end; exit 0",
    "exit_in_a_dealloc" => "Rawrefcount.error_handler = ->(*) { }; Nodes.on_dealloc(->(_) { exit 5 }); " \
                           "$n = Nodes::Node.new(1, 0); $n.dispose",
    "stress" => "GC.stress = true; $n = Nodes::Node.new; $n[0] = proc { $n }",
    "a_thread_running" => "Thread.new { loop { Nodes::Node.new[0] = 'x' } }; sleep 0.1"
  }.freeze

  END_PROGRAMS.each do |name, program|
    define_method("test_exit_with_#{name}") do
      output, status = in_a_new_ruby(program)
      assert status.success?, "#{status.inspect}: #{output}"
      assert_equal({ "at_exit" => "1", "object_finalizers" => "1" }.fetch(name, ""), output)
    end
  end

  def test_pending_deallocs_run_at_the_end
    assert_runs "d1", <<~RUBY
      Nodes.on_dealloc(->(id) { print "d\#{id}" })
      GC.disable
      Thread.new { Nodes::Node.new(1, 0); nil }.join
      Thread.new { 20.times { Object.new } }.join
      GC.enable
      GC.start
    RUBY
  end
end
