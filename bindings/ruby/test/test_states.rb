# frozen_string_literal: true

require "helper"

# A finalizer finds the wrapper of its object as scripts have changed it, however the object comes to its end.
class TestStates < Minitest::Test
  include Helper

  LIBRARY = <<~RUBY
    class Special < Nodes::FinalNode; end
    module Marked; def mark = "extended"; end
    STATES = {
      variable: [->(n) { n.instance_variable_set(:@mark, "text \#{n.id}") }, ->(n, id) { n.instance_variable_get(:@mark) == "text \#{id}" }],
      variables: [->(n) { 9.times { |i| n.instance_variable_set("@mark\#{i}", [n.id, i]) } },
                  ->(n, id) { 9.times.all? { |i| n.instance_variable_get("@mark\#{i}") == [id, i] } }],
      other: [->(n) { n.instance_variable_set(:@other, Nodes::Node.new(-n.id, 1).tap { |o| o[0] = "text \#{n.id}" }) },
              ->(n, id) { o = n.instance_variable_get(:@other); o.id == -id && o[0] == "text \#{id}" }],
      subclass: [->(n) {}, ->(n, _) { n.instance_of?(Special) }],
      method: [->(n) { n.define_singleton_method(:mark) { "own \#{id}" } },
               ->(n, id) { n.mark == "own \#{id}" && n.singleton_class.instance_methods(false) == [:mark] }],
      extended: [->(n) { n.extend(Marked) }, ->(n, _) { n.mark == "extended" && n.singleton_class.include?(Marked) }],
      frozen: [->(n) { n.instance_variable_set(:@mark, n.id); n.freeze },
               ->(n, id) { n.frozen? && n.instance_variable_get(:@mark) == id }]
    }
    KINDS = { final: Nodes::FinalNode, bare: Nodes::BareFinalNode }

    def apart(&block) = Thread.new(&block).join.value
    def wipe(depth = 60) = (a = b = c = d = nil; depth.zero? ? [a, b, c, d, Nodes.wipe] : wipe(depth - 1))

    # Make objects, and let them come to their end; then each finalizer has run, and has found what it should.
    COUNT = 100
    $found = {}
    $wrong = []
    $first = 0
    def try(state, kind)
      change, same = STATES[state]
      klass = state == :subclass ? Special : KINDS[kind]
      $found.clear
      first = $first += COUNT
      Nodes.on_finalize(lambda do |n|
        id = n.id
        next unless id >= first         # (what the header cannot mark as finalized, is finalized again)

        $wrong << [state, kind, id] unless n.is_a?(klass) && same.(n, id)
        $found[id] = true
        # (What the header cannot mark as finalized would go on for ever, as each finalizer's wrapper dies in the next one.)
        Nodes.on_finalize(nil) if GC.stress && $found.size >= COUNT - 5
        nil
      end)
      $made = apart { Array.new(COUNT) { |i| klass.new(first + i, 1).tap { |n| n[0] = "value"; change.(n) } } }
      yield
    end

    def each_state
      STATES.each_key { |state| KINDS.each_key { |kind| yield state, kind unless state == :subclass && kind == :bare } }
    end

    # (Stale words of a stack can keep a few.)
    def finish(least = COUNT - 5)
      puts "finalized: \#{$found.size} of \#{COUNT}, \#{$trying}" if $found.size < least
      puts "wrong: \#{$wrong.first(3)}, \#{$wrong.size} in all" if $wrong.any?
      $wrong.clear
      Rawrefcount.check
      nil
    end

    def drop
      apart { $made = nil }
      apart { wipe }
      wipe
    end
  RUBY

  # (A singleton class refers to its wrapper. What is in a cycle waits for our own marking.)
  def assert_found(ways, setting = "", own: "false")
    assert_runs "done\n", <<~RUBY
      #{LIBRARY}
      #{setting}
      each_state do |state, kind|
        next if %i[method extended].include?(state) && !(#{own})

        $trying = [state, kind]
        try(state, kind) { #{ways} }
        finish
      end
      Nodes.on_finalize(nil)
      puts "done"
    RUBY
  end

  PENDING = "Rawrefcount.run_pending"

  def test_major_collections = assert_found("drop; 3.times { GC.start; #{PENDING} }")

  def test_minor_collections
    assert_found("drop; 3.times { GC.start(full_mark: false); #{PENDING} }")
  end

  def test_old_wrappers
    assert_found("4.times { GC.start }; drop; 3.times { GC.start; #{PENDING} }")
  end

  SLICES = <<~RUBY.lines(chomp: true).join("; ")
    GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
    100_000.times { break unless GC.latest_gc_info(:state) == :marking; Array.new(20) { "x" } }
    #{PENDING}
  RUBY

  def test_incremental_collections
    [0, 20].each { |units| assert_found("drop; 3.times { #{SLICES} }", "Rawrefcount.slice_units = #{units}") }
  end

  def test_our_own_marking = assert_found("drop; Rawrefcount.collect", own: "kind == :final")

  def test_compaction
    assert_found("drop; 3.times { GC.compact; GC.verify_compaction_references(toward: :empty); #{PENDING} }")
    assert_found("drop; 3.times { GC.start; #{PENDING} }", "GC.auto_compact = true")
  end

  def test_stress
    assert_found("drop; GC.stress = true; #{PENDING}; GC.stress = false; 2.times { GC.start; #{PENDING} }",
                 "Object.send(:remove_const, :COUNT); COUNT = 10")
  end

  def test_dispose = assert_found("$made.each(&:dispose); raise 'too few' if $found.size < COUNT", own: "kind == :final")

  # Finalizers that run much later than the collection.
  def test_late_finalizers
    assert_found("drop; Nodes.leave('', 0) { GC.start(full_mark: false); GC.start; GC.start(full_mark: false); GC.compact }; GC.start; #{PENDING}")
  end

  def test_another_ractor
    setting = <<~RUBY
      Warning[:experimental] = false
      #{RACTORS}
      $ractor = running_ractor { |fd| say_it_runs(fd); Ractor.receive }
    RUBY
    assert_found("drop; 3.times { GC.start; #{PENDING} }", setting)
  end

  def test_the_end
    each_state = [*%i[variable subclass method extended frozen].map { |state| [state, :final] }, %i[variable bare]]
    each_state.each do |state, kind|
      assert_runs "right\n", <<~RUBY
        #{LIBRARY}
        try(:#{state}, :#{kind}) {}
        same = STATES[:#{state}][1]
        Nodes.on_finalize(lambda do |n|
          next if n.nil? || $found.size == COUNT        # (the last round, and bare ones again)

          $found[n.id] = same.(n, n.id)
          puts "right" if $found.size == COUNT && $found.values.all?
        end)
      RUBY
    end
  end

  # What keeps the state, ends with the finalizer: nothing is left, and no other object gets it.
  def test_nothing_is_left
    assert_runs "true true\n", <<~RUBY
      #{LIBRARY}
      objects = lambda do
        4.times { apart { wipe }; GC.start; #{PENDING} }
        ObjectSpace.each_object(Marker).count
      end
      class Marker; end
      20.times do
        apart do
          100.times { |i| [Nodes::FinalNode, Nodes::PlainNode].sample.new(i, 1).instance_variable_set(:@mark, Marker.new) }
          nil
        end
        GC.start(full_mark: false)
        #{PENDING}
      end
      states = apart { Array.new(200) { Nodes::FinalNode.new(0, 1).instance_variables } }
      puts [objects.call < 20, states.all?(&:empty?)].join(" ")
    RUBY
  end

  # An object that is not tracked is in no cycle that our marking finds: its singleton class goes, and the rest stays.
  def test_singleton_classes_of_what_is_not_tracked
    assert_runs "true\n", <<~RUBY
      #{LIBRARY}
      right = 0
      seen = {}
      Nodes.on_finalize(lambda do |n|
        right += 1 if !seen[n.id] && n.singleton_methods.empty? && n.instance_variable_get(:@mark) == n.id
        seen[n.id] = true
      end)
      apart do
        20.times { |i| Nodes::BareFinalNode.new(i, 1).tap { |n| n.instance_variable_set(:@mark, i); n.define_singleton_method(:x) {} } }
        nil
      end
      3.times { apart { wipe }; GC.start; #{PENDING} }
      Nodes.on_finalize(nil)
      puts right > 15
    RUBY
  end

  # What pending work lets go of dies in the collection with which our own marking begins.
  def test_states_that_our_own_marking_meets
    assert_runs "true\n", <<~RUBY
      #{LIBRARY}
      change, same = STATES[:other]
      right = wrong = 0
      Nodes.on_finalize(->(n) { same.(n, n.id) ? right += 1 : wrong += 1 })
      apart do
        20.times { |i| Nodes::Node.new(0, 1)[0] = Nodes::FinalNode.new(i + 1, 1).tap { |n| change.(n) } }
        nil
      end
      apart { wipe }
      wipe
      Rawrefcount.collect
      puts right > 15 && wrong.zero?
    RUBY
  end

  # The same for what is not tracked, if there are no others.
  def test_collect_finds_cycles_of_what_is_not_tracked
    assert_runs "true\n", <<~RUBY
      #{LIBRARY}
      apart { 50.times { |i| n = Nodes::BareFinalNode.new(i, 0); n.instance_variable_set(:@me, n) }; nil }
      apart { wipe }
      wipe
      Rawrefcount.collect
      puts Nodes.alive < 10
    RUBY
  end

  # Such an object is found by our own marking if its state refers to its wrapper. That starts when there are many; what it
  # has found is not counted the next time.
  def test_many_that_are_not_tracked
    assert_runs "true true 2\n", <<~RUBY
      #{LIBRARY}
      few_are_left = [1900, 1100].map do |count|
        GC.disable
        apart { count.times { |i| n = Nodes::BareFinalNode.new(i, 0); n.instance_variable_set(:@me, n) }; nil }
        apart { wipe }
        GC.enable
        3.times { GC.start; sleep 0 }
        Nodes.alive < 50
      end
      puts [*few_are_left, Rawrefcount.stats[:exact_collections]].join(" ")
    RUBY
  end

  # What is disposed of and dead, in a collection of which the gem is not told, is not looked at any more.
  def test_what_other_ractors_sweep
    assert_runs "true\n", <<~RUBY
      Warning[:experimental] = false
      #{LIBRARY}
      #{RACTORS}
      kept = Nodes::FinalNode.new(0, 0)
      GC.disable
      apart { 2000.times { Nodes::FinalNode.new(0, 0).tap { |n| n.instance_variable_set(:@mark, 1) }.dispose }; nil }
      $ractor = running_ractor do |fd|
        GC.start
        strings = Array.new(50_000) { |i| "text \#{i} " * 5 }
        say_it_runs(fd)
        Ractor.receive
        strings.size
      end
      4.times { |i| GC.start(full_mark: i.odd?); Array.new(5000) { "x" * 50 } }
      puts Rawrefcount.check && !kept.disposed?
    RUBY
  end

  # A finalizer can keep the wrapper, and its object comes back with its state.
  def test_resurrection
    assert_runs "true true\n", <<~RUBY
      #{LIBRARY}
      kept = []
      Nodes.on_finalize(->(n) { kept << n })
      apart { 20.times { |i| Special.new(i, 1).instance_variable_set(:@mark, "text \#{i}") }; nil }
      3.times { apart { wipe }; GC.start; #{PENDING} }
      3.times { GC.start; GC.compact; #{PENDING} }
      print kept.size > 15 && kept.all? { |n| n.instance_variable_get(:@mark) == "text \#{n.id}" && n.instance_of?(Special) }, " "
      before = Nodes.dead.size
      count = kept.size
      kept.clear
      3.times { apart { wipe }; GC.start; #{PENDING} }
      puts Nodes.dead.size - before >= count - 2
    RUBY
  end

  # A wrapper that its own state refers to is in a cycle: the gem's own marking finds it.
  def test_state_that_refers_to_its_wrapper
    assert_runs "true\n", <<~RUBY
      #{LIBRARY}
      right = 0
      Nodes.on_finalize(->(n) { right += 1 if n.instance_variable_get(:@me).call.equal?(n) })
      apart { 20.times { |i| n = Nodes::FinalNode.new(i, 1); n.instance_variable_set(:@me, -> { n }) }; nil }
      3.times { apart { wipe }; Rawrefcount.collect }
      puts right > 15
    RUBY
  end

  # Objects that own each other: what a finalizer can reach is as it was.
  def test_chains
    assert_runs "20 0\n", <<~RUBY
      #{LIBRARY}
      wrong = right = 0
      Nodes.on_finalize(lambda do |n|
        following = n[0]
        ok = n.instance_variable_get(:@mark) == n.id && (following.nil? || following.instance_variable_get(:@mark) == n.id + 1)
        ok ? right += 1 : wrong += 1
      end)
      apart do
        last = nil
        20.downto(1) { |i| last = Nodes::FinalNode.new(i, 1).tap { |n| n.instance_variable_set(:@mark, i); n[0] = last } }
        nil
      end
      60.times do |i|
        Nodes.finalized.clear           # (the finalizers have put wrappers there)
        apart { wipe }
        wipe
        GC.start(full_mark: i.odd?)
        #{PENDING}
      end
      puts [right, wrong].join(" ")
    RUBY
  end
end
