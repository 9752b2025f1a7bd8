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
                           "ObjectSpace.define_finalizer($older = Object.new, proc { print $n[0].size; GC.start })",
    "an_exception" => "$n = Nodes::Node.new; $n[0] = proc { $n }; begin; raise 'x'; rescue; end; exit 0",
    "exit_in_a_dealloc" => "Rawrefcount.error_handler = ->(*) { }; Nodes.on_dealloc(->(_) { exit 5 }); " \
                           "$n = Nodes::Node.new(1, 0); $n.dispose",
    "stress" => "GC.stress = true; $n = Nodes::Node.new; $n[0] = proc { $n }",
    "a_search_in_slices" => "$a = Array.new(1000) { Nodes::Node.new(0, 2).tap { |n| n[0] = proc { n } } }; " \
                            "Rawrefcount.slice_units = 1; GC.start(full_mark: true, immediate_mark: false)",
    # (It does other things, too: see "What other threads send" in the README.)
    "a_thread_running" => "Thread.new { loop { Nodes::Node.new[0] = 'x'; sleep 0.001 } }; sleep 0.1"
  }.freeze

  END_PROGRAMS.each do |name, program|
    define_method("test_exit_with_#{name}") do
      output, status = in_a_new_ruby(program)
      assert status.success?, "#{status.inspect}: #{output}"
      assert_equal({ "at_exit" => "1", "object_finalizers" => "1" }.fetch(name, ""), output)
    end
  end

  # What runs at the end, in order.
  AT_END = <<~RUBY
    def say(what) = $stdout.write("\#{what}\n")
    Nodes.on_dealloc(->(id) { say "dealloc \#{id}" })
    at_exit { say "at_exit" }
    ObjectSpace.define_finalizer($older = Object.new, proc { say "finalizer \#{$a&.id}" })
  RUBY

  def test_objects_alive_at_the_end_are_deallocated
    assert_runs "at_exit\nfinalizer 1\ndealloc 1\ndealloc 2\n", AT_END + <<~RUBY
      $a = Nodes::Node.new(1, 1)
      $a[0] = Nodes::Node.new(2, 0)
    RUBY
  end

  def test_cycles_and_finalizers_at_the_end
    assert_runs "at_exit\nfinalizer \ndealloc 2\ndealloc 1\ndealloc 3\n[[3, true]]\n", AT_END + <<~RUBY
      $x, $y, $z = Nodes::Node.new(1), Nodes::Node.new(2), Nodes::FinalNode.new(3)
      $x[0], $y[0], $x[1], $z[0], $z[1] = $y, $x, proc { $x }, true, $z
      Nodes.on_dealloc(->(id) { say "dealloc \#{id}"; say Nodes.finalized.inspect if id == 3 })
    RUBY
  end

  # Node 1 owns node 2 through a Ruby object.
  OWNERS = {
    "a_hash" => "{ k: $x }",
    "arrays" => "[[$x]]",
    "an_instance_variable" => "Object.new.tap { |o| o.instance_variable_set(:@x, $x) }",
    "a_method" => "[$x].method(:first)",
    "a_closure" => "closure($x).tap(&:call)",
    "a_binding" => "scope($x)",
    "an_enumerator" => "[$x].lazy.map { |y| y }",
    "a_wrapper" => "Nodes::Node.new(0).tap { |n| n.instance_variable_set(:@x, [$x]) }",
    "what_has_a_class" => "[Class.new, self, $x]"
  }.freeze

  OWNING = <<~RUBY
    def closure(x) = proc { BOX.id; x }
    def scope(x) = binding
    Nodes.on_dealloc(->(id) { $stdout.syswrite("\#{id} ") if id > 0; GC.start; GC.compact })
  RUBY
  MADE = ["BOX = Nodes::Node.new(1)", "$x = Nodes::Node.new(2)"].freeze

  # (Without an order, the one that was made last goes first; if both are owned, the other one.)
  OWNERS.each do |name, owner|
    define_method("test_owners_by_#{name}_go_first") do
      MADE.permutation { |made| assert_runs "1 2 ", "#{OWNING}#{made.join('; ')}; BOX[0] = #{owner}" }
    end
  end

  # One marking after another.
  def test_owners_of_owners_go_first
    assert_runs "#{[*1..40].join(' ')} ", OWNING + <<~RUBY
      nodes = (1..40).map { |i| Nodes::Node.new(i) }
      nodes.each_cons(2) { |a, b| a[0] = { k: [b] } }
      $nodes = nodes.shuffle(random: Random.new(1))
    RUBY
  end

  def test_owners_in_cycles_all_go
    output, status = in_a_new_ruby(OWNING + <<~RUBY)
      #{MADE.join("\n")}
      BOX[0] = { k: $x }
      $x[0] = [BOX, $y = Nodes::FinalNode.new(3)]
      $y[0] = proc { $y }
    RUBY
    assert status.success?, "#{status.inspect}: #{output}"
    assert_equal %w[1 2 3], output.split.sort
  end

  # Each marking meets all of the many objects. Their number is limited.
  def test_the_order_takes_limited_time
    before = Process.times.cutime
    assert_runs "", <<~RUBY
      many = Array.new(1_000_000) { |i| i.to_s }
      nodes = Array.new(300) { Nodes::Node.new }
      nodes.each_cons(2) { |a, b| a[0] = [b, many] }
    RUBY
    assert_operator Process.times.cutime - before, :<, 15
  end

  def test_what_c_holds_at_the_end_is_left_to_it
    assert_runs "at_exit\nfinalizer 1\n", AT_END + "Nodes.hold(0, $a = Nodes::Node.new(1))"
  end

  # A dealloc finds what its object refers to.
  def test_values_work_at_the_end
    assert_runs "closed: done\n", <<~RUBY
      $n = Nodes::Node.new(1, 1)
      $n[0] = ->(what) { puts "closed: \#{what}" }
      Nodes.call_in_dealloc($n, "done")
    RUBY
  end

  # What a dealloc or finalizer finds of what its object owns, and what becomes of the process.
  READERS = <<~RUBY
    def apart(&block) = Thread.new(&block).join
    def wipe(depth = 60) = (a = b = c = d = nil; depth.zero? ? [a, b, c, d, Nodes.wipe] : wipe(depth - 1))
    def collect = (apart { wipe }; wipe; Rawrefcount.collect; Rawrefcount.check)
    def reader(type, id, *rest)
      type.new(id).tap { |r| r[0], r[1], r[2] = "text \#{id}", proc { "result" }, *rest }
    end
    def ring(type, id) = reader(type, id).tap { |r| r[2] = proc { r } }
    Rawrefcount.error_handler = ->(error, name) { $stdout.syswrite("\#{name}: \#{error.message}\n") }
    include Nodes
  RUBY

  GONE = "the value is gone: it was garbage with all that refers to it"

  def test_readers_that_are_garbage
    assert_runs <<~TEXT, READERS + <<~RUBY
      dealloc 1: nil, an error
      bold_reader: #{GONE}
      dealloc 3: nil, an error
      finalizer 4: text 4, called
      dealloc 4: nil, an error
    TEXT
      [-> { reader(Reader, 1) }, -> { reader(BoldReader, 2) }, -> { ring(Reader, 3) }, -> { ring(FinalReader, 4) }].each do |make|
        apart { make.call; nil }
        collect
      end
    RUBY
  end

  # Their values live: C lets go of them while the values are held; or they are disposed of.
  def test_readers_that_are_let_go
    assert_runs "dealloc 1: text 1, called\ndealloc 2: called\ndealloc 3: text 3, called\n", READERS + <<~RUBY
      reader(Reader, 1).dispose
      reader(BoldReader, 2).dispose
      apart { Nodes.hold(1, reader(Reader, 3)) }
      collect
      Nodes.release(1)
    RUBY
  end

  def test_readers_at_the_end
    output, status = in_a_new_ruby(READERS + <<~RUBY)
      $a, $b = reader(Reader, 1), reader(BoldReader, 2)
      $c = ring(Reader, 3)
      $d = reader(Reader, 4, reader(Reader, 5))
      $e = reader(FinalReader, 6)
      $f = ring(FinalReader, 7)
      GC.disable
      apart { reader(Reader, 8); nil }
    RUBY
    assert status.success?, "#{status.inspect}: #{output}"
    expected = [1, 3, 4, 5, 6, 7, 8].map { |i| "dealloc #{i}: text #{i}, called" }
    expected += ["dealloc 2: called", "finalizer 6: text 6, called", "finalizer 7: text 7, called"]
    assert_equal expected.sort, output.lines(chomp: true).sort
  end

  # From Ruby 3.4 on, finalizers that are older than the library run before the end as well.
  OLDER_FIND_ALL = RUBY_VERSION >= "3.4"

  # C lets go of them when Ruby is shutting down, or is gone.
  def test_readers_after_the_end
    %w[Reader BoldReader].each do |type|
      said = type == "Reader" ? "dealloc 1: nil, nil\n" : "dealloc 1: called\n"
      assert_runs said, READERS + "Nodes.hold(1, reader(#{type}, 1)); Nodes.release_after_ruby(1)"
      said = "dealloc 1: text 1, called\n" if type == "Reader" && OLDER_FIND_ALL
      program = "ObjectSpace.define_finalizer($older = Object.new, proc { Nodes.release(1) })\n" \
                "require 'rawrefcount'\nrequire 'nodes'\n"
      command = [RbConfig.ruby, *$LOAD_PATH.map { |dir| "-I#{dir}" }, "-e", "#{program}#{READERS}Nodes.hold(1, reader(#{type}, 1))"]
      assert_equal said, IO.popen(command, err: %i[child out], &:read)
      assert $?.success?
    end
  end

  # at_exit blocks that are older than the library run as ever; finalizers that are older, after the end.
  def test_older_hooks_of_the_end
    program = <<~RUBY
      def attempt
        puts yield.inspect
      rescue => e
        puts "\#{e.class}: \#{e.message}"
      end
      at_exit { attempt { Nodes::Node.new(7).id } }
      ObjectSpace.define_finalizer($older = Object.new, proc do
        GC.start
        GC.compact
        attempt { $n.disposed? }
        attempt { $n.dispose }
        attempt { $n.id }
        attempt { Nodes::Node.new.class }
        attempt { Nodes.hold(0, "x") }
        attempt { Nodes.held(1) }
        attempt { Nodes.release(1) }
        %i[stats graph collect run_pending check].each { |name| attempt { Rawrefcount.send(name).class } }
      end)
      require "rawrefcount"
      require "nodes"
      $n = Nodes::Node.new(5)
      Nodes.hold(1, "held")
    RUBY
    gone = "RuntimeError: rawrefcount: Ruby is shutting down, and the C objects are gone\n"
    disposed = "Rawrefcount::DisposedError: this Nodes::Node was disposed of\n"
    expected = "7\ntrue\nnil\n#{disposed}#{gone}#{gone}nil\nnil\n#{gone * 5}"
    if OLDER_FIND_ALL
      expected = "7\nfalse\nnil\n#{disposed}Nodes::Node\n\"x\"\n\"held\"\nnil\nHash\nString\nInteger\nInteger\nTrueClass\n"
    end
    output = IO.popen([RbConfig.ruby, *$LOAD_PATH.map { |dir| "-I#{dir}" }, "-e", program], err: %i[child out], &:read)
    assert_equal expected, output
    assert $?.success?
  end

  def test_errors_at_the_end
    output, status = in_a_new_ruby(<<~RUBY)
      Nodes.on_dealloc(->(id) { $stdout.write(id); id == 2 ? raise("no") : id == 3 ? exit(9) : throw(:x) if id > 1 })
      $nodes = Array.new(5) { |i| Nodes::Node.new(i, 0) }
      Rawrefcount.error_handler = ->(error, name) { $stdout.write("(\#{error.class} \#{name})") }
      exit 3
    RUBY
    assert_equal 3, status.exitstatus
    assert_equal %w[1 2(RuntimeError\ node) 3(SystemExit\ node) 4(UncaughtThrowError\ node)],
                 output.scan(/\d(?:\(.*?\))?/).sort
  end

  def test_the_end_of_a_child
    assert_runs "dealloc 1 in the child\nexit!\ndealloc 1 in the parent\n", <<~RUBY
      $who = "parent"
      $n = Nodes::Node.new(1, 0)
      $stdout.sync = true
      Nodes.on_dealloc(->(id) { $stdout.write("dealloc \#{id} in the \#{$who}\n") })
      Process.wait(fork { $who = "child" })
      Process.wait(fork { $who = "second child"; $stdout.write("exit!\n"); exit!(0) })
    RUBY
  end

  def test_the_end_with_threads_and_fibers_in_deallocs
    output, status = in_a_new_ruby(<<~RUBY)
      Nodes.on_dealloc(lambda do |id|
        $stdout.write(id)
        $asleep = true
        sleep 0.3 if id == 1            # the process waits for it
        Fiber.yield if id == 2
      end)
      Thread.new { Nodes::Node.new(1, 0).dispose }
      Thread.pass until $asleep
      $n = Nodes::Node.new(3, 0)
      $fiber = Fiber.new { Nodes::Node.new(2, 0).dispose }
      $fiber.resume
      Rawrefcount.error_handler = ->(*) { }
    RUBY
    assert status.success?, "#{status.inspect}: #{output}"
    assert_match(/\A12/, output)
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
