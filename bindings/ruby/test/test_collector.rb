# frozen_string_literal: true

require "helper"

# Ruby's collector in all its ways.
class TestCollector < Minitest::Test
  include Helper

  # NODES_WHOLE=1 runs these tests without the promise of nodes.c. Programs about slices need it all the same.
  def assert_runs(expected, program, *flags, whole: program.include?("slice_units") ? nil : ENV["NODES_WHOLE"])
    before, ENV["NODES_WHOLE"] = ENV["NODES_WHOLE"], whole
    super(expected, program, *flags)
  ensure
    ENV["NODES_WHOLE"] = before
  end

  def tree(size, first = 0)
    Array.new(size) { |i| Node.new(first, 2).tap { |n| n[0] = "value #{i}"; n[1] = Node.new(0, 1).tap { |m| m[0] = [i] } } }
  end

  def check_tree(nodes)
    nodes.each_with_index do |node, i|
      assert_equal "value #{i}", node[0]
      assert_equal [i], node[1][0]
    end
    assert Rawrefcount.check
  end

  def test_links_follow_compaction
    nodes = tree(500)
    GC.compact
    check_tree(nodes)
    GC.verify_compaction_references(toward: :empty, double_heap: true)
    check_tree(nodes)
    nodes.each { |node| Nodes.hold(0, node[0]); assert_same node[0], Nodes.held(0) }
    Nodes.release(0)
  end

  # Objects move, and one is disposed of, while C is in the middle of a call or a dealloc.
  def test_compaction_in_callbacks
    node = Node.new(0, 2)
    node[1] = "x" * 30
    node[0] = lambda do |sender|
      GC.verify_compaction_references(toward: :empty, double_heap: true)
      sender.equal?(node) && sender[1] == "x" * 30
    end
    assert node.call(node)
    lengths = []
    Nodes.on_dealloc(->(_) { GC.compact; lengths << node[1].length })
    Array.new(3) { Node.new(next_id, 1).tap { |n| n[0] = [n] } }.each(&:dispose)
    assert_equal [30] * 3, lengths
    node[0] = ->(sender) { sender.dispose; GC.compact; sender.disposed? }
    assert node.call(node)
  end

  def test_auto_compact
    GC.auto_compact = true
    nodes = tree(500)
    5.times do
      garbage = Array.new(20_000) { Object.new }
      garbage.clear
      GC.start
      check_tree(nodes)
    end
  ensure
    GC.auto_compact = false
  end

  # A C field has no write barrier: an old wrapper may lead to a young value.
  def test_old_wrappers_with_young_values
    node = Node.new(0, 2)
    4.times { GC.start }
    assert Nodes.old?(node)
    40.times do |i|
      apart { node[0] = "young #{i}" }
      GC.verify_internal_consistency
      GC.start(full_mark: false)
      GC.start(full_mark: false)
      assert_equal "young #{i}", node[0]
    end
  end

  def test_lazy_sweeping
    holder = Node.new(0, 1)
    50.times do
      nodes = tree(50)
      holder[0] = nodes
      nodes = nil
      apart { tree(50) }
      GC.start(full_mark: true, immediate_sweep: false)
      check_tree(holder[0])
      holder[0].each { |node| assert_same node[1], node[1] }
    end
  end

  # Allocate until Ruby marks in slices. It divides a marking only if the sweep before it knew that a major collection
  # would follow: it then lays pages aside, and each of them is a slice. Much native memory makes it know.
  def begin_marking
    native = Node.new(0, 0)
    20.times do
      native.claim(1 << 28)
      native.claim(0)
      20_000.times do
        return if GC.latest_gc_info(:state) == :marking

        Array.new(20) { "garbage" * 3 }
      end
    end
    flunk "Ruby did not mark in slices"
  end

  # Run the block again and again while Ruby marks in slices, with allocations that make it go on, until it was between
  # our root's marking and the end some times. (From 3.2 on our root may be marked at the end only: then this never
  # comes.)
  def during_incremental_markings
    pauses = Rawrefcount.stats[:marking_pauses]
    rounds = 0
    Thread.current[:ballast] = Array.new(200_000) { Object.new }
    500.times do
      begin_marking
      while GC.latest_gc_info(:state) == :marking
        yield rounds
        Array.new(20) { "garbage" * 3 }
        rounds += 1
      end
      break if rounds >= 500 && (RUBY_VERSION >= "3.2" || Rawrefcount.stats[:marking_pauses] - pauses >= 5)
    end
    assert_operator rounds, :>=, 500
    return if RUBY_VERSION >= "3.2"

    assert_operator Rawrefcount.stats[:marking_pauses], :>, pauses, "the root was never marked early"
  ensure
    Thread.current[:ballast] = nil
  end

  # References move from wrappers that are not marked yet to others that are.
  def test_incremental_marking
    old = tree(500)
    4.times { GC.start }
    moved = []
    during_incremental_markings do |n|
      i = n * 7 % 500
      unless moved.any? { |_, k| k == i }
        moved << [old[i][1], i]
        old[i][1] = nil
      end
      if moved.size > 20
        node, i = moved.shift
        old[i][1] = node
      end
    end
    moved.each { |node, i| old[i][1] = node }
    check_tree(old)
  end

  # With nodes.c's promise the search is divided as well: a few units at a time, so that the program runs in between.
  def in_slices(units)
    slices = Rawrefcount.stats[:slices]
    Rawrefcount.slice_units = units
    yield
    assert_operator Rawrefcount.stats[:slices] - slices, :>=, 5 unless ENV["NODES_WHOLE"]
  ensure
    Rawrefcount.slice_units = 0
  end

  def test_slices_of_the_search
    [1, 7, 60, 700].each { |units| in_slices(units) { test_incremental_marking } }
  end

  def test_slices_of_the_search_with_values
    [1, 7, 60, 700].each { |units| in_slices(units) { test_incremental_marking_with_values } }
  end

  # C gets and drops what nothing else refers to; new cycles come and go.
  def test_slices_and_what_only_c_holds
    alive = Array.new(200) { |i| i + 1_000_000 }
    alive.each { |id| apart { Nodes.hold(id - 1_000_000, Node.new(id, 2).tap { |n| n[0] = "value #{id}"; n[1] = n }) } }
    in_slices(40) do
      during_incremental_markings do |n|
        apart do
          i = n * 7 % 200
          node = Nodes.held(i)
          node[0] = "value #{node.id}"
          Nodes.hold(200 + i, node)
          Nodes.release(i)
          Nodes.hold(i, Nodes.held(200 + i))
          Nodes.release(200 + i)
          Node.new(next_id, 2).tap { |garbage| garbage[0] = garbage; garbage[1] = [garbage] }
        end
      end
    end
    alive.each { |id| assert_equal ["value #{id}", id], [Nodes.held(id - 1_000_000)[0], Nodes.held(id - 1_000_000)[1].id] }
    assert_empty Nodes.dead & alive
    200.times { |i| Nodes.release(i) }
    assert_operator (newly_dead & alive).size, :>=, 198
  end

  # Scripts change wrappers that the search has passed, and that only C refers to then.
  def test_slices_and_wrappers_with_state
    nodes = Array.new(300) { |i| [Node, BareNode][i % 2].new(0, i % 2 == 0 ? 1 : 0) }
    nodes.each_with_index { |node, i| Nodes.hold(i, node) }
    nodes = nil
    in_slices(100) do
      during_incremental_markings do |n|
        apart { Nodes.held(n * 7 % 300).instance_variable_set(:@state, "of #{n * 7 % 300}") }
      end
    end
    changed = (0...300).filter_map { |i| Nodes.held(i).instance_variable_get(:@state)&.then { |state| [state, "of #{i}"] } }
    assert_operator changed.size, :>, 40
    changed.each { |state, expected| assert_equal expected, state }
    300.times { |i| Nodes.release(i) }
  end

  MARKS_IN_SLICES = <<~RUBY
    keep = Array.new(20_000) { Nodes::Node.new(2, 1) }
    4.times { GC.start }
    $garbage = -> { Thread.new { 50.times { Nodes::Node.new(1, 1).tap { |n| n[0] = -> { n } } } }.join }
    $garbage.call
    Rawrefcount.slice_units = 500
    begin_marking = lambda do
      100.times do
        GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
        Array.new(20) { "garbage" * 3 }
        break if GC.latest_gc_info(:state) == :marking
      end
      GC.latest_gc_info(:state) == :marking
    end
    finish_marking = -> { Array.new(20) { "garbage" * 3 } while GC.latest_gc_info(:state) == :marking }
  RUBY

  # A collection in slices finds cycles over both heaps.
  def test_slices_find_garbage
    assert_runs "true true true true\n", <<~RUBY
      #{MARKS_IN_SLICES}
      was_marking = begin_marking.call
      finish_marking.call
      10_000.times { Object.new }
      puts [was_marking, Nodes.dead.size >= 48, Rawrefcount.stats[:slices] > 0, Rawrefcount.check].join(" ")
    RUBY
  end

  # Others look at all objects: then the search is one piece again. Nothing of what it found is left.
  def test_slices_are_given_up
    assert_runs "true true true true\n", <<~RUBY
      #{MARKS_IN_SLICES}
      require "objspace"
      was_marking = begin_marking.call
      ObjectSpace.dump_all(output: File.open(File::NULL, "w"))
      finish_marking.call
      slices = Rawrefcount.stats[:slices]
      10_000.times { Object.new }
      puts [was_marking, Rawrefcount.check, Nodes.dead.size >= 48, slices > 0].join(" ")
    RUBY
  end

  # What an object refers to is shown while the search watches it.
  def test_watched_objects_are_shown
    assert_runs "true true\n", <<~RUBY
      #{MARKS_IN_SLICES}
      require "objspace"
      node = Nodes::Node.new(0, 1)
      node[0] = "value"
      GC.start
      Rawrefcount.slice_units = 10_000_000
      GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
      was_marking = GC.latest_gc_info(:state) == :marking
      puts [was_marking, ObjectSpace.reachable_objects_from(node).include?("value")].join(" ")
    RUBY
  end

  # An extension that does not promise it ends them all.
  def test_slices_need_all_promises
    assert_runs "true true true true\n", <<~RUBY
      #{MARKS_IN_SLICES}
      was_marking = begin_marking.call
      Nodes.open_again
      finish_marking.call
      before = Rawrefcount.stats[:searches_in_slices]
      begin_marking.call
      finish_marking.call
      10_000.times { Object.new }
      puts [was_marking, before > 0, Rawrefcount.stats[:searches_in_slices] == before, Nodes.dead.size >= 48].join(" ")
    RUBY
  end

  def test_no_slices_without_a_promise
    assert_runs "true 0 true\n", <<~RUBY, whole: "1"
      #{MARKS_IN_SLICES}
      was_marking = begin_marking.call
      finish_marking.call
      10_000.times { Object.new }
      puts [was_marking, Rawrefcount.stats[:slices], Nodes.dead.size >= 48].join(" ")
    RUBY
  end

  # The process ends, or all is collected exactly, in the middle.
  def test_slices_at_the_end
    assert_runs "true\n77\n", <<~RUBY
      #{MARKS_IN_SLICES}
      keep << Nodes::Node.new(77, 1)
      Nodes.on_dealloc(->(id) { puts id if id == 77 })
      at_exit { puts begin_marking.call }
    RUBY
    assert_runs "true true\n", <<~RUBY
      #{MARKS_IN_SLICES}
      was_marking = begin_marking.call
      $garbage.call
      Rawrefcount.collect
      puts [was_marking, Nodes.dead.size >= 96].join(" ")
    RUBY
  end

  # What C drops and takes meanwhile is seen; what is new, too.
  def test_incremental_marking_with_values
    nodes = tree(500)
    4.times { GC.start }
    during_incremental_markings do |n|
      node = nodes[n * 7 % 500]
      node[0] = [node[0]]
      inner = Node.new(0, 1)
      inner[0] = node[1][0]
      node[1] = inner
    end
    nodes.each_with_index do |node, i|
      assert_equal "value #{i}", [node[0]].flatten[0]
      assert_equal [i], node[1][0]
    end
  end

  def test_demoted_values
    values = Array.new(300) { |i| ["value", i] }
    values.each_with_index { |value, i| Nodes.hold(i, value) }
    4.times { GC.start }
    assert Nodes.old?(values[0])
    values.each { |value| Nodes.unprotect(value) }
    refute Nodes.old?(values[0])
    GC.start
    (0...300).step(2) { |i| Nodes.release(i) }
    values = nil
    20.times do
      GC.start(full_mark: false)
      Array.new(1000) { "new" }
      assert Rawrefcount.check
    end
    (1...300).step(2) { |i| assert_equal ["value", i], Nodes.held(i) }
    300.times { |i| Nodes.release(i) }
  end

  def test_minor_collections_free_young_links
    GC.start
    GC.disable
    apart { 100.times { |i| Nodes.hold(0, "s#{i}") }; Nodes.release(0); nil }
    objects = Rawrefcount.stats[:objects]
    GC.enable
    GC.start(full_mark: false)
    assert_operator Rawrefcount.stats[:objects], :<=, objects - 90
  end

  # Peak of memory in KiB, and slots of Ruby's heap, after a loop that makes garbage of many small cycles.
  def after_a_loop(body)
    output, status = in_a_new_ruby(<<~RUBY)
      300_000.times { #{body} }
      puts File.read("/proc/self/status")[/^VmHWM:\\s*(\\d+)/, 1], GC.stat(:heap_available_slots), GC.stat(:major_gc_count)
    RUBY
    assert status.success?, output
    output.split.map(&:to_i)
  end

  # Only major collections free such cycles. They come in time: memory is as with cycles in Ruby alone.
  def test_memory_of_garbage_cycles
    plain, ours = ["w = Object.new; w.instance_variable_set(:@on_click, -> { w })",
                   "w = Nodes::Node.new(0, 1); w[0] = -> { w }"].map { |body| after_a_loop(body) }
    assert_operator ours[1], :<, 3 * plain[1]
    assert_operator ours[0], :<, 2 * plain[0] unless ENV["LD_PRELOAD"]      # (sanitizers keep freed memory)
  end

  # Objects in no cycle go in minor collections as before, and those that stay start few major ones.
  def test_few_major_collections
    plain = after_a_loop("Object.new")[2]
    assert_operator after_a_loop("Nodes::Node.new(0, 1)[0] = 'x'")[2], :<=, plain + 2
    assert_operator after_a_loop("($nodes ||= []) << Nodes::Node.new(0, 0)")[2], :<=, plain + 12
  end

  # No collection is started while they are disabled; then the first one is followed by the major one that was missing.
  def test_collections_that_are_disabled
    assert_runs "0\ntrue\n1\n", <<~RUBY
      GC.start
      GC.disable
      before = GC.count
      15_000.times { w = Nodes::Node.new(0, 1); w[0] = -> { w } }
      p GC.count - before, GC.enable
      before = GC.stat(:major_gc_count)
      GC.start(full_mark: false)
      p GC.stat(:major_gc_count) - before
    RUBY
  end

  # A minor collection that leaves as many objects is followed by a major one.
  def test_a_major_collection_follows
    assert_runs "true\n", <<~RUBY
      ballast = Array.new(100_000) { Object.new }
      4.times { GC.start }
      most = 0
      150_000.times do |i|
        w = Nodes::Node.new(0, 1)
        w[0] = -> { w }
        most = [most, Rawrefcount.stats[:tracked]].max if i % 100 == 0
      end
      p most < 60_000
    RUBY
  end

  # Hooks are on only while there are links.
  def test_hooks
    assert_runs "false true false\n", <<~RUBY
      before = Rawrefcount.stats[:hooks]
      Thread.new { Nodes.hold(0, "x") }.join
      during = Rawrefcount.stats[:hooks]
      Thread.new { Nodes.release(0) }.join
      10.times { GC.start; sleep 0 }
      puts [before, during, Rawrefcount.stats[:hooks]].join(" ")
    RUBY
  end

  # They are on before a link is made, even if a new object has just started a collection, and what waited for it saw no
  # link.
  def test_hooks_stay_on_while_a_link_is_made
    assert_runs "false true\n", <<~RUBY
      Nodes.fill(6_000)
      before = Rawrefcount.stats[:hooks]
      node = Nodes::Node.new(0, 10_000)
      puts [before, Rawrefcount.stats[:hooks]].join(" ")
    RUBY
  end

  # Collections inside of allocation tracing are not announced: everything is kept then.
  def test_allocation_tracing
    # (From 3.4 on they are.)
    assert_runs "true true 0 #{RUBY_VERSION < '3.4'}\n", <<~RUBY
      require "objspace"
      nodes = Array.new(300) { |i| Nodes::Node.new(i + 1, 1).tap { |n| n[0] = "v\#{i}" } }
      ObjectSpace.trace_object_allocations do
        GC.stress = true
        100.times { Nodes::Node.new(0, 1)[0] = "garbage" }
        GC.stress = false
        20_000.times { |i| nodes[i % 300][0] = "v\#{i % 300}" }
      end
      print nodes.each_with_index.all? { |n, i| n[0] == "v\#{i}" }, " "
      Rawrefcount.collect
      puts [Rawrefcount.check, Nodes.dead.size, Rawrefcount.stats[:unhooked_collections] > 100].join(" ")
    RUBY
  end

  # From Ruby 4.0 on, hooks of the collector hear of the collections of all Ractors.
  HOOKS_OF_ALL_RACTORS = RUBY_VERSION >= "4.0"

  # The same if somebody switches our hooks off, or another Ractor collects.
  def test_collections_without_hooks
    assert_runs "true true #{!HOOKS_OF_ALL_RACTORS}\n", RACTORS + <<~RUBY, "-W0"
      nodes = Array.new(300) { |i| Nodes::Node.new(0, 1).tap { |n| n[0] = "v\#{i}" } }
      check = -> { nodes.each_with_index.all? { |n, i| n[0] == "v\#{i}" } && Rawrefcount.check }
      r = Ractor.new { Ractor.receive; 200_000.times { "garbage" * 2 }; 3.times { GC.start }; 1 }
      r.send(1)
      value_of(r)
      print check.call, " "
      unhooked = Rawrefcount.stats[:unhooked_collections] >= 3
      GC.start
      print check.call, " "
      puts unhooked
    RUBY
  end

  # Another Ractor collects at the same time. (It runs before the first link is made: see the bugs of Ruby 3.1.)
  def test_a_ractor_beside
    assert_runs "true true true\n", RACTORS + <<~RUBY, "-W0"
      r = running_ractor do |fd|
        say_it_runs(fd)
        Ractor.receive
        300.times { |i| Array.new(500) { "garbage" * 2 }; GC.start(full_mark: i % 10 == 0, immediate_mark: false) }
      end
      nodes = Array.new(300) { |i| Nodes::Node.new(0, 2).tap { |n| n[0] = "v\#{i}" } }
      r.send(1)
      20_000.times do |i|
        node = Nodes::Node.new(i + 1, 2)
        node[0] = proc { node }
        nodes[i % 300][1] = node
        "garbage" * 3
      end
      value_of(r)
      print nodes.each_with_index.all? { |n, i| n[0] == "v\#{i}" && n[1][0].call.equal?(n[1]) }, " "
      nodes.each { |n| n[1] = nil }
      3.times { Thread.new { Rawrefcount.collect }.join }
      puts [Rawrefcount.check, Nodes.dead.size >= 19_900].join(" ")
    RUBY
  end

  # While there are no links we hear of no collection. C gets a value while Ruby marks in slices, and may have marked our
  # root. (What a Ractor has for itself is marked after that.)
  def test_the_first_value_comes_in_a_marking
    assert_runs "0 0 true\n", <<~RUBY
      Ractor.current[:ballast] = Array.new(300_000) { [Object.new] }
      marking = -> { GC.latest_gc_info(:state) == :marking }
      work = -> { Array.new(20) { "garbage" * 3 } }
      begin_marking = lambda do
        20.times do
          String.new(capacity: 1 << 28).clear
          20_000.times { marking.call ? return : work.call }
        end
      end
      lost = hooks = rounds = 0
      60.times do |i|
        Nodes.release(0)
        Rawrefcount.collect
        hooks += 1 if Rawrefcount.stats[:hooks]
        begin_marking.call
        (i % 20).times { work.call if marking.call }
        next unless marking.call

        rounds += 1
        Thread.new { Nodes.hold(0, Nodes::Node.new(0, 1).tap { |n| n[0] = "value" }) }.join
        work.call while marking.call
        lost += 1 if Thread.new { Nodes.held(0)[0].nil? }.value     # (whose stack ends, too)
        break if rounds == 10
      end
      puts [lost, hooks, rounds >= 3].join(" ")
    RUBY
  end

  # Two Ractors do one marking by turns, a slice each. Much is marked after our root, so that one of them may have seen
  # the root, and the other one the end.
  MARKINGS_BY_TURNS = RACTORS + <<~RUBY
    reader, writer = IO.pipe
    r = running_ractor do |fd|
      say_it_runs(fd)
      fd = Ractor.receive
      while (n = Ractor.receive) > 0
        n.times { Array.new(20) { "garbage" * 3 } if GC.latest_gc_info(:state) == :marking }
        say_it_runs(fd)
      end
    end
    r.send(writer.fileno)
    hold = -> { Nodes.hold(0, Nodes::Node.new(0, 1).tap { |n| n[0] = Array.new(30) { |i| Array.new(2000) { [i.to_s] } } }) }
    Thread.new(&hold).join
    native = Nodes::Node.new(0, 0)
    random = Random.new(1)
    turns = [0, 0]
    lost = 60.times.sum do
      5.times do
        [1 << 28, 0].each { |bytes| native.claim(bytes) }
        20_000.times { GC.latest_gc_info(:state) == :marking ? break : Array.new(20) { "garbage" * 3 } }
      end
      made = []
      while GC.latest_gc_info(:state) == :marking && made.size < 500
        turns[turn = random.rand(2)] += 1
        if turn == 0
          r.send(1 + random.rand(30))
          reader.readpartial(1)
        else
          random.rand(30).times { Array.new(20) { "garbage" * 3 } }
          made << Nodes::Node.new(0, 1).tap { |n| n[0] = [made.size] }
        end
      end
      made.each_with_index.count { |n, i| n[0] != [i] }
    end
    r.send(0)
    value_of(r)
    puts [lost, turns.min > 30, Nodes.held(0)[0].all? { |a| a.size == 2000 }, Rawrefcount.check].join(" ")
  RUBY

  def test_markings_by_turns
    [nil, 1, 7, 60].each do |units|
      program = "Rawrefcount.slice_units = #{units || 0}\n" + MARKINGS_BY_TURNS
      assert_runs "0 true true true\n", program, "-W0", whole: ("1" unless units)
    end
  end

  # While there are other Ractors, nobody can look at all objects: cycles with finalizers stay until these have ended.
  def test_looks_at_all_objects_beside_a_ractor
    assert_runs "there are other Ractors, 0, true\n", RACTORS + <<~RUBY, "-W0"
      r = running_ractor do |fd|
        say_it_runs(fd)
        Ractor.receive
        array = []
        300_000.times do |i|
          array << Object.new.tap { |o| o.instance_variable_set([:@a, :@b, :@c][i % 3], [i.to_s]) }
          array.shift(3000) if array.size > 9000
        end
        Ractor.receive
      end
      node = Nodes::Node.new(0, 0)
      r.send(1)
      said = 20.times.map do
        Thread.new { 20.times { n = Nodes::FinalNode.new(1, 1); n[0] = proc { n } } }.join
        Rawrefcount.collect
        Rawrefcount.explain(node)
      rescue RuntimeError => e
        e.message[/there.*Ractors/]
      end
      print said.uniq.join(" "), ", ", Nodes.finalized.size
      r.send(2)
      value_of(r)
      sleep 0.01 while Ractor.count > 1
      3.times { Rawrefcount.collect; Nodes.finalized.clear }
      puts ", \#{Nodes.dead.size > 380 && Rawrefcount.explain(node).include?("node")}"
    RUBY
  end

  # What it finds dead is deallocated when our Ractor uses an object.
  def test_garbage_that_another_ractor_finds
    assert_runs "#{HOOKS_OF_ALL_RACTORS}\n", RACTORS + <<~RUBY, "-W0"
      r = running_ractor { |fd| say_it_runs(fd); Ractor.receive; GC.start; 1 }
      GC.disable
      Thread.new { 100.times { node = Nodes::Node.new(1, 1); node[0] = proc { node } } }.join
      r.send(1)
      value_of(r)
      Nodes::Node.new(0, 0)
      sleep 0
      puts Nodes.dead.size > 90
    RUBY
  end

  # Ruby 3.1 turns all hooks of the collector off when it frees a Ractor: after a collection
  # that we did not hear of they are on again.
  def test_a_ractor_that_is_freed
    assert_runs "true true #{!HOOKS_OF_ALL_RACTORS} true\n", RACTORS + <<~RUBY, "-W0"
      nodes = Array.new(300) { |i| Nodes::Node.new(0, 1).tap { |n| n[0] = "v\#{i}" } }
      5.times do |i|
        Thread.new { value_of(Ractor.new { 1 }) }.join
        sleep 0.01
        i.even? ? GC.compact : GC.start(immediate_sweep: false)
        Array.new(50_000) { Object.new }
        Thread.new { 50.times { Nodes::Node.new(1, 1)[0] = "x" } }.join
        GC.start(full_mark: i < 3)
        Rawrefcount.collect if i > 2
      end
      unhooked = Rawrefcount.stats[:unhooked_collections] > 0
      Rawrefcount.collect
      puts [nodes.each_with_index.all? { |n, i| n[0] == "v\#{i}" }, Rawrefcount.check, unhooked,
            Nodes.dead.size > 200].join(" ")
    RUBY
  end

  # The same if somebody switches all trace points off.
  def test_a_tracepoint_that_is_disabled
    assert_runs "0 true true true true\n", <<~RUBY
      nodes = Array.new(300) { |i| Nodes::Node.new(i + 1, 1).tap { |n| n[0] = "v\#{i}" } }
      GC.start
      ObjectSpace.each_object(TracePoint, &:disable)
      Thread.new { 100.times { Nodes::Node.new(1, 1)[0] = "x" } }.join
      GC.compact
      print Nodes.dead.size, " "
      whole = -> { [nodes.each_with_index.all? { |n, i| n[0] == "v\#{i}" }, Rawrefcount.check].join(" ") }
      print whole.call, " "
      3.times { GC.start; GC.start(full_mark: false) }
      Rawrefcount.collect
      puts [Nodes.dead.size > 90, whole.call == "true true"].join(" ")
    RUBY
  end

  def test_deallocs_run_outside_of_collections
    seen = []
    Nodes.on_dealloc(->(id) { seen << [id, GC.count, "an allocation"] })
    apart { 50.times { Node.new(next_id, 0) }; nil }
    collect
    assert_operator seen.size, :>=, 48
  end

  def test_a_dealloc_may_collect
    Nodes.on_dealloc(->(_) { GC.start; apart { Node.new(0, 1)[0] = "x"; nil } })
    apart { 20.times { Node.new(next_id, 0) } }
    collect
    assert_operator Nodes.dead.size, :>=, 18, Rawrefcount.stats.inspect
  end

  def test_errors_in_deallocs_are_reported_and_stop_nothing
    reported = []
    Rawrefcount.error_handler = ->(error, type) { reported << [error&.message, type] }
    Nodes.on_dealloc(->(id) { raise "no #{id}" })
    apart { 10.times { Node.new(next_id, 0) } }
    Rawrefcount.collect
    assert_operator reported.size, :>=, 8
    assert_match(/\Ano \d+\z/, reported[0][0])
    assert_equal "node", reported[0][1]
    assert Rawrefcount.check
    collect                             # (a stack may have kept some)
    reported.clear
    node = Node.new(next_id, 0)
    node.dispose                        # from a method: it returns
    assert_equal 1, reported.size
    Nodes.on_dealloc(->(_) { throw :nowhere })
    Node.new(next_id, 0).dispose
    Nodes.on_dealloc(->(_) { exit 1 })
    Node.new(next_id, 0).dispose
    assert_equal 3, reported.size
  end

  # Whatever way the dealloc is left, it ends there.
  def test_throws_out_of_deallocs
    reported = []
    Rawrefcount.error_handler = ->(error, _) { reported << error }
    Nodes.on_dealloc(->(_) { throw :out, 1 })
    assert_equal(2, catch(:out) { Node.new(next_id, 0).dispose; 2 })
    assert_equal [nil], reported
    begin
      raise "in flight"
    rescue StandardError
      assert_equal(3, catch(:out) { Node.new(next_id, 0).dispose; 3 })
      assert_equal "in flight", $!.message
    end
    thread = Thread.new do
      Nodes.on_dealloc(->(_) { Thread.current.kill })
      Node.new(next_id, 0).dispose
      4
    end
    thread.join
    assert_equal 3, reported.size
    catch(:out) do
      throw :out
    ensure
      Nodes.on_dealloc(->(_) { raise "while throwing" })
      Node.new(next_id, 0).dispose
    end
    assert_equal "while throwing", reported.last.message
    assert Rawrefcount.check
  end

  # An exception that C passes on is not lost over a dealloc that raises, too.
  def test_an_error_under_way_in_c
    Rawrefcount.error_handler = ->(*) {}
    Nodes.on_dealloc(->(_) { raise "in the dealloc" })
    outer, inner = Node.new(0, 1), Node.new(next_id, 1)
    outer[0] = inner
    inner[0] = lambda do
      outer[0] = nil
      inner.dispose
      raise ArgumentError, "kept"
    end
    assert_equal "kept", assert_raises(ArgumentError) { outer.call }.message
  end

  # From 3.4 on a program can say that Ruby starts no major collection by itself. Then the gem starts none.
  def test_majors_that_the_program_forbids
    return unless GC.respond_to?(:config)

    [false, true].each do |whole|
      assert_runs "0 true true\n", <<~RUBY, whole: ("1" if whole)
        GC.config(rgengc_allow_full_mark: false)
        before = GC.stat(:major_gc_count)
        30_000.times { n = Nodes::Node.new(0, 1); n[0] = proc { n } }
        3_000.times { n = Nodes::FinalNode.new(0, 1); n[0] = proc { n } }
        print GC.stat(:major_gc_count) - before, " "
        Rawrefcount.collect
        puts [Nodes.alive < 5000, Rawrefcount.check].join(" ")
      RUBY
    end
  end

  # What dies while user code runs, is dealt with after that.
  def test_garbage_made_in_a_dealloc
    assert_runs "true\n", <<~RUBY
      Nodes.on_dealloc(lambda do |id|
        next unless id == 1

        Thread.new { 50.times { Nodes::Node.new(2, 0) }; nil }.join
        GC.start
        1000.times { |i| i.to_s }
      end)
      Nodes::Node.new(1, 0).dispose
      1000.times { |i| i.to_s }
      puts Nodes.dead.size > 40
    RUBY
  end

  def test_an_error_in_flight_is_kept
    Rawrefcount.error_handler = ->(*) {}
    Nodes.on_dealloc(->(_) { raise "inner" })
    begin
      raise "outer"
    rescue StandardError
      Node.new(next_id, 0).dispose
      assert_equal "outer", $!.message
    end
  end

  def test_errors_are_warnings_without_a_handler
    _, err = capture_io do
      Nodes.on_dealloc(->(_) { raise IOError, "disk full" })
      Node.new(next_id, 0).dispose
    end
    assert_match(/error ignored in the deallocation of node: disk full \(IOError\)/, err)
  end
end
