# frozen_string_literal: true

require "helper"
require "timeout"

# What slots may do, and what other threads may send meanwhile.
class TestUserCode < Minitest::Test
  include Helper

  # How a block that C has called can be left.
  LEAVES = {
    "return" => ->(run) { run.call { next 1 } },
    "raise" => ->(run) { begin; run.call { raise IOError, "outer" }; rescue IOError => e; e.message; end },
    "throw" => ->(run) { catch(:outer) { run.call { throw :outer, "thrown" } } },
    "break" => ->(run) { run.call { break "broken" } },
    "method" => ->(run) { leave_method(run) },
    "exit" => ->(run) { begin; run.call { exit 3 }; rescue SystemExit => e; e.status; end },
    "kill" => ->(run) { Thread.new { run.call { Thread.exit } }.value.inspect }
  }.freeze
  LEFT = { "return" => 1, "raise" => "outer", "throw" => "thrown", "break" => "broken", "method" => "returned",
           "exit" => 3, "kill" => "nil" }.freeze

  def self.leave_method(run)
    run.call { return "returned" }
  end

  # What Ruby code in a slot does with errors of its own.
  INSIDE = {
    "rescue" => -> { begin; raise "inner"; rescue RuntimeError; 1; end },
    "catch" => -> { catch(:inner) { throw :inner } },
    "break" => -> { [1].each { break } },
    "ensure" => -> { begin; begin; raise "inner"; ensure; 1; end; rescue RuntimeError; 1; end },
    "raise" => -> { raise "lost" },
    "throw" => -> { throw :farther, "lost" },
    "thread" => lambda {
      begin
        Thread.new { Thread.current.report_on_exception = false; raise "inner" }.join
      rescue RuntimeError
        1
      end
    },
    "callbacks" => -> { Nodes.leave("drop", 77) { begin; raise "inner"; rescue RuntimeError; 1; end } }
  }.freeze

  # What a C library does on its way out, and what makes garbage for it.
  WAYS = {
    "drop" => -> { apart { Nodes.hold(50, Node.new(next_id, 0)); nil }; collect },
    "run_pending" => -> { garbage { Node.new(next_id, 0) } },
    "collect" => -> { garbage { Nodes::WeakNode.new(next_id, 1).tap { |n| n[0] = n } } },
    "native_bytes" => -> { garbage { Node.new(next_id, 0) } },
    "call" => -> { apart { Nodes.hold(50, @inside); nil } }
  }.freeze

  def garbage(&block)
    GC.disable
    apart { 8.times(&block) }
    wipe_stacks
  ensure
    GC.enable
  end

  # The slots of these objects call it: tp_finalize, tp_clear and tp_dealloc.
  def test_all_slots_while_something_passes_through_c
    LEAVES.each do |leave, left|
      INSIDE.each do |name, inside|
        seen = 0
        callback = lambda do |*|
          seen += 1
          inside.call
        end
        garbage { |i| Slots::Owner.new(i, "text #{i}", callback) }
        garbage { |i| Slots::Unfinalized.new(i, "text #{i}", callback).tap { |o| o.next = o } }
        run = ->(&block) { Nodes.leave("collect", 50, &block) }
        assert_equal LEFT[leave], catch(:farther) { left.call(run) }, "#{leave}, #{name}"
        assert_operator seen, :>=, 8, "#{leave}, #{name}"
      end
    end
  end

  def test_slots_run_while_something_passes_through_c
    Rawrefcount.error_handler = ->(*) {}
    LEAVES.each do |leave, left|
      INSIDE.each do |name, inside|
        WAYS.each do |way, prepare|
          next if way == "call" && %w[raise throw].include?(name)

          seen = 0
          @inside = ->(*) { seen += 1; inside.call }
          instance_exec(&prepare)
          Nodes.on_dealloc(@inside)
          run = ->(&block) { Nodes.leave(way, 50, &block) }
          assert_equal LEFT[leave], catch(:farther) { left.call(run) }, "#{leave}, #{name}, #{way}"
          Nodes.on_dealloc(nil)
          assert_operator seen, :>=, 1, "#{leave}, #{name}, #{way}" unless way == "native_bytes"
          Nodes.release(50)
        end
      end
    end
    assert_nil $!
  end

  # The same inside of a slot.
  def test_slots_in_slots_while_something_passes_through_c
    LEAVES.each do |leave, left|
      3.times { |i| apart { Nodes.hold(60 + i, Node.new(next_id, 0)); nil } }
      collect
      depth = 0
      got = []
      Nodes.on_dealloc(lambda do |_|
        depth += 1
        got << left_by(leave, 60 + depth) if depth < 3
        begin
          raise "inner"
        rescue RuntimeError
          depth
        end
      end)
      got << left_by(leave, 60)
      assert_equal [LEFT[leave]] * 3, got, leave
      assert_equal 3, depth
    end
  end

  def left_by(leave, place) = LEAVES.fetch(leave).call(->(&block) { Nodes.leave("drop", place, &block) })

  # Where slots run, in a thread that is sent something meanwhile.
  PLACES = {
    "dispose" => [-> { Node.new(1, 0).dispose }],
    "a reference dropped by C" => [-> { Nodes.release(51) }, -> { apart { Nodes.hold(51, Node.new(1, 0)); nil }; collect }],
    "on C's way out" => [-> { Nodes.leave("drop", 51) { 1 } }, -> { apart { Nodes.hold(51, Node.new(1, 0)); nil }; collect }],
    "collect" => [-> { Rawrefcount.collect }, -> { garbage { Node.new(1, 0) } }],
    "run_pending" => [-> { Nodes.leave("run_pending", 51) { 1 } }, -> { garbage { Node.new(1, 0) } }],
    "a postponed job" => [-> { GC.start; 1000.times { |i| i.to_s } }, -> { garbage { Node.new(1, 0) } }],
    "weak references, clears" => [-> { Rawrefcount.collect }, -> { garbage { Nodes::WeakNode.new(1, 1).tap { |n| n[0] = n } } }],
    "a fiber" => [-> { Fiber.new { Node.new(1, 0).dispose }.resume }],
    "slots in slots" => [-> { Node.new(1, 1).tap { |n| n[0] = Node.new(2, 0) }.dispose }]
  }.freeze

  # Run it in a thread whose first slot is there when the block is called with the thread. What is sent must not cut the
  # slots short, and end the thread soon after. Gives what the thread noted.
  def send_meanwhile(place)
    work, prepare = PLACES.fetch(place)
    instance_exec(&prepare) if prepare
    notes = []
    sent = false
    target = nil
    Nodes.on_dealloc(lambda do |_|
      if Thread.current == target
        notes << :begins
        Thread.pass until sent
        20.times { Thread.pass }
        notes << :ends
      end
    end)
    thread = Thread.new do
      Thread.current.report_on_exception = false
      target = Thread.current
      instance_exec(&work)
      1000.times { |i| i.to_s }
      notes << :not_reached
    ensure
      notes << :ensure
    end
    Thread.pass until notes.any?
    yield thread
    sent = true
    assert thread.join(100), "#{place}: the thread does not end"
  rescue IOError => e
    notes << e.message
  ensure
    assert_equal notes.count(:begins), notes.count(:ends), place
    refute_includes notes, :not_reached, place
    assert_includes notes, :ensure, place
    Nodes.on_dealloc(nil)
    return notes
  end

  def test_a_thread_that_is_killed_in_a_slot
    PLACES.each_key { |place| assert_equal :ensure, send_meanwhile(place, &:kill).last, place }
  end

  def test_an_exception_that_is_sent_in_a_slot
    PLACES.each_key do |place|
      assert_equal [:ensure, "sent"], send_meanwhile(place) { |thread| thread.raise(IOError, "sent") }.last(2), place
    end
  end

  # They come in order: the next one ends the rescue of the last one, as in any Ruby code.
  def test_several_exceptions_that_are_sent_in_a_slot
    thread = Thread.current
    Nodes.on_dealloc(->(_) { Thread.new { 3.times { |i| thread.raise(IOError, i.to_s) } }.join })
    last = nil
    begin
      begin
        begin
          Node.new(1, 0).dispose
          last = "none came"
        rescue IOError
          1000.times { |i| i.to_s }
          last = "one came"
        end
      rescue IOError
        1000.times { |i| i.to_s }
        last = "two came"
      end
    rescue IOError => e
      last = e.message
    end
    assert_equal "2", last
  end

  def test_a_timeout_in_a_slot
    Nodes.on_dealloc(->(_) { Thread.pass until Thread.pending_interrupt? })
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { Node.new(1, 0).dispose; flunk "not reached" } }
  end

  # The program has masked it as well: then it comes when that ends.
  def test_a_kill_that_the_program_has_masked
    notes = []
    asleep = false
    Nodes.on_dealloc(->(_) { asleep = true; Thread.pass until Thread.pending_interrupt? })
    thread = Thread.new do
      Thread.handle_interrupt(Object => :never) do
        Node.new(1, 0).dispose
        1000.times { |i| i.to_s }
        notes << :masked
      end
      notes << :not_reached
    end
    Thread.pass until asleep
    thread.kill
    assert thread.join(100)
    assert_equal [:masked], notes
  end

  # Threads that are killed at any moment.
  def test_threads_that_are_killed_at_random
    Nodes.on_dealloc(->(_) { rand(3).times { Thread.pass } })
    begun = ended = 0
    100.times do |i|
      thread = Thread.new do
        loop do
          begun += 1
          Node.new(1, 1).tap { |n| n[0] = Node.new(2, 0) }.dispose
          ended += 1
        end
      end
      (i % 10).times { Thread.pass }
      sleep 0.0001 * (i % 7)
      thread.kill
      assert thread.join(100), "the thread does not end"
    end
    assert_operator ended, :>, 0
    assert Rawrefcount.check
  end

  # Slots of two threads are in progress at a time, and the one that began first ends first.
  def test_slots_that_end_in_the_order_of_their_beginning
    assert_runs "true\n", <<~RUBY
      def wipe(depth = 60) = (a = b = c = d = nil; depth.zero? ? [a, b, c, d, Nodes.wipe] : wipe(depth - 1))
      100.times do
        inside = done = false
        other = nil
        Nodes.on_dealloc(lambda do |id|
          if id == 1
            other = Thread.new { Nodes::Node.new(2, 0).dispose }
            Thread.pass until inside
          elsif id == 2
            inside = true
            Thread.pass until done
          end
        end)
        Nodes::Node.new(1, 0).dispose
        done = true
        other.join
        wipe
        20.times { Nodes::Node.new(3, 1).tap { |n| n[0] = Nodes::Node.new(4, 0) }.dispose }
      end
      puts Rawrefcount.check
    RUBY
  end

  # Methods of the gem's own, in which threads do little but run slots. Each thread ends at the first kill. (So pending work
  # is not left to Ruby here.)
  METHODS = {
    "dispose" => -> { Node.new(1, 0).dispose },
    "collect" => -> { Node.new(1, 1).tap { |n| n[0] = n }; Rawrefcount.collect },
    "run_pending" => -> { (Thread.current[:node] ||= Node.new(1, 0)).drop_in_thread; Rawrefcount.run_pending }
  }.freeze

  def test_threads_that_are_killed_in_methods_of_the_gem
    METHODS.each do |name, work|
      (name == "dispose" ? 50 : 10).times do |i|
        steps = 0
        ended = false
        thread = Thread.new do
          loop { steps += 1; work.call }
        ensure
          ended = true
        end
        Thread.pass until steps > i % 5
        thread.kill
        now = steps
        Thread.pass while thread.alive? && steps < now + 20_000
        refute thread.alive?, "#{name}, kill #{i}: the thread goes on"
        assert_equal [nil, true], [thread.value, ended]
      end
    end
  end

  # Ruby switches to another thread after the method has asked whether something has come, and before its mask ends.
  def test_a_kill_at_the_end_of_a_method_of_the_gem
    METHODS.each do |name, work|
      asked = false
      notes = []
      thread = Thread.new do
        this = Thread.current
        trace = TracePoint.new(:c_return) do |point|
          next if asked || Thread.current != this || point.method_id != :pending_interrupt?

          asked = true
          Thread.pass until Thread.pending_interrupt?
        end
        trace.enable
        work.call
        1000.times { |i| i.to_s }
        notes << :not_reached
      ensure
        trace.disable
        notes << :ensure
      end
      Thread.pass until asked || !thread.alive?
      thread.kill
      assert thread.join(100), "#{name}: the thread does not end"
      assert asked, name
      assert_equal [[:ensure], nil], [notes, thread.value], name
    end
  end

  # The same with exceptions. (While a thread is alone, nothing is masked.)
  def test_exceptions_that_are_sent_in_methods_of_the_gem
    other = Thread.new { sleep }
    METHODS.slice("dispose", "collect").each do |name, work|
      seen = 0
      this = Thread.current
      Nodes.on_dealloc(lambda do |_|
        seen += 1
        Thread.new { this.raise(IOError, "sent") }.join if seen == 1
        1000.times { |i| i.to_s }
        seen += 100
      end)
      garbage { Node.new(1, 0) } unless name == "dispose"
      error = assert_raises(IOError, name) do
        work.call
        1000.times { |i| i.to_s }
        flunk "#{name} returns"
      end
      assert_equal "sent", error.message
      assert_equal 0, seen % 101, name
      assert_operator seen, :>=, 101, name
      Nodes.on_dealloc(nil)
      collect
    end
  ensure
    other.kill.join
  end

  BUSY = <<~RUBY
    Nodes.on_dealloc(->(_) { 50.times { Thread.pass } })
    busy = -> { loop { Nodes::Node.new(1, 0).dispose } }
    Thread.new(&busy)
    sleep 0.05
    at_exit { puts "bye" }
  RUBY

  # A signal that comes while the only thread is in a slot ends that slot, and then the process.
  def test_a_signal_in_the_only_thread
    %w[TERM INT].each do |signal|
      output, status = in_a_new_ruby(<<~RUBY)
        Rawrefcount.error_handler = ->(error, name) { puts "\#{name}: \#{error.message.inspect}" }
        Nodes.on_dealloc(->(_) { Process.kill(:#{signal}, $$); loop { 1.to_s } })
        at_exit { puts "bye"; $stdout.flush; $stderr.reopen(File::NULL) }
        Nodes::Node.new(1, 0).dispose
        puts "not reached"
      RUBY
      assert_equal ["node: \"#{"SIGTERM" if signal == "TERM"}\"\n", "bye\n"], output.lines
      assert_equal Signal.list[signal], status.termsig
    end
  end

  # The process ends while a thread, or the main thread, is in a slot.
  def test_the_end_of_the_process_comes_in_a_slot
    { "exit 4" => 4, "" => 0, "Process.kill(:TERM, $$); busy.call" => 15, "Process.kill(:TERM, $$); sleep" => 15,
      "Process.kill(:INT, $$); busy.call" => 2, "Process.kill(:INT, $$); sleep" => 2,
      "main = Thread.current; Thread.new { main.raise(SystemExit) }; busy.call" => 0 }.each do |program, code|
      output, status = in_a_new_ruby("#{BUSY}$stderr.reopen(File::NULL)\n#{program}")
      assert_equal "bye\n", output, program
      assert_equal code, status.exitstatus || status.termsig, program
    end
  end
end
