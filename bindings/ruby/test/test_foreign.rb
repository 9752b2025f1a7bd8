# frozen_string_literal: true

require "helper"

# Wrappers of a library that has reference counts of its own (nodes/foreign.c).
class TestForeign < Minitest::Test
  include Helper

  Thing = Foreign::Thing

  def setup
    collect                             # what other tests have left
    @wrappers, @things = Foreign.wrappers, Foreign.things
  end

  # So many wrappers and things are there that this test has made.
  def there = [Foreign.wrappers - @wrappers, Foreign.things - @things]

  # (A stale word may have kept a few things of earlier tests until now.)
  def assert_are_there(*made)
    made.zip(there) { |most, count| assert_includes most - 6..most, count }
  end

  def assert_few_are_left(most)
    there.each { |count| assert_operator count, :<=, most }
  end

  def teardown
    64.times { |place| Foreign.drop(place) }
    super
  end

  # A store that holds an action, by a reference of the library's. The action's block mentions the store.
  def store_and_action
    store, action = Thing.new(next_id), Thing.new(next_id)
    store.refer(0, action)
    action.handler = -> { store }
    [store, action]
  end

  WAYS = { major: -> { 3.times { GC.start } },
           minor: -> { 5.times { GC.start(full_mark: false) } },
           stress: -> { GC.stress = true; Array.new(3) { "x" }; GC.stress = false },
           compact: -> { GC.compact; GC.verify_compaction_references(toward: :empty, double_heap: true) },
           all: -> { Rawrefcount.collect; GC.start(full_mark: false); Rawrefcount.collect } }.freeze

  # What the library holds keeps its Ruby object, with all state and blocks; and so does what that refers to.
  def test_what_the_library_holds
    WAYS.each do |way, collection|
      ids = apart do
        Array.new(8) do |i|
          store, action = store_and_action
          action.instance_variable_set(:@note, ["note #{i}"])
          store.instance_variable_set(:@name, "store #{i}")
          Foreign.take(i, i.even? ? store : action)
          [store.object_id, action.object_id]
        end
      end
      collection.call
      apart do
        ids.each_with_index do |expected, i|
          held = Foreign.taken(i)
          store = i.even? ? held : held.call
          action = store.referred(0)
          assert_equal expected, [store, action].map(&:object_id), way.to_s
          assert_equal ["store #{i}", ["note #{i}"]],
                       [store.instance_variable_get(:@name), action.instance_variable_get(:@note)], way.to_s
          assert_same store, action.call, way.to_s
        end
      end
      8.times { |i| Foreign.drop(i) }
      collect
      assert_few_are_left 2
    end
  end

  # A plain wrapper that only the library holds keeps its Ruby object as well: not only one that scripts have changed.
  def test_a_block_is_enough
    ids = apart do
      Array.new(8) { |i| Foreign.take(i, Thing.new(next_id).tap { |t| t.handler = "text #{i}" }).object_id }
    end
    collect
    assert_equal ids, apart { Array.new(8) { |i| Foreign.taken(i).object_id } }
    assert_equal Array.new(8) { |i| "text #{i}" }, apart { Array.new(8) { |i| Foreign.taken(i).handler } }
  end

  def by_ruby_alone
    wipe_stacks
    GC.start
    1000.times { |i| i.to_s }           # (pending work has its occasion)
  end

  def test_cycles_go_by_ruby_alone
    apart { 20.times { store_and_action }; nil }
    by_ruby_alone
    assert_few_are_left 4
    assert_operator Nodes.dead.size, :>=, 36
    assert Rawrefcount.check
  end

  # Cycles of the library's own references: a thing in itself, rings, what hangs below.
  def test_cycles_of_the_library
    apart do
      10.times do
        things = Array.new(6) { Thing.new(next_id) }
        3.times { |i| things[i].refer(0, things[(i + 1) % 3]) }
        things[0].refer(1, things[3])
        things[3].refer(2, things[3])
        things[3].refer(1, things[4])
        things[4].refer(0, things[5])
        things[5].instance_variable_set(:@top, things[0])
      end
      nil
    end
    GC.start(full_mark: false)          # a minor one takes all that the library refers to for held
    collect
    assert_few_are_left 6
  end

  # A thing without a wrapper is not seen: it holds what it refers to, and a cycle through it stays until it has one.
  def test_things_without_wrappers
    first = next_id
    19.times { next_id }
    apart do
      10.times do |i|
        store, middle, action = Thing.new(first + i), Thing.new(0), Thing.new(0)
        store.refer(0, middle)
        middle.refer(0, action)
        action.handler = -> { store }
        middle.dispose
      end
      nil
    end
    collect
    assert_are_there 20, 30
    10.times { |i| assert Foreign.retake(i, first + i) }
    apart do
      10.times { |i| assert_same Foreign.taken(i), Foreign.taken(i).referred(0).referred(0).call }
      nil
    end
    10.times { |i| Foreign.drop(i) }
    collect
    assert_few_are_left 3
  end

  def test_many_stores
    GC.disable
    apart { 10_000.times { store_and_action }; nil }
    assert_are_there 20_000, 20_000
    GC.enable
    by_ruby_alone
    assert_few_are_left 10
  ensure
    GC.enable
  end

  # Such a cycle with a finalizer: it sees all whole, also what the library refers to, and can keep it.
  def test_finalizers
    ids = Array.new(10) { next_id }
    apart do
      ids.each do |id|
        store, action = store_and_action
        final = FinalNode.new(id, 1)
        final[0] = store
        action.handler = -> { final }
      end
      nil
    end
    collect
    assert_operator Nodes.finalized.size, :>=, 8
    apart do
      Nodes.finalized.each do |id, store|
        final = store.referred(0).call
        assert_equal [id, true], [final.id, final[0].equal?(store)]
      end
    end
    assert_are_there 20, 20
    Nodes.finalized.clear
    2.times { collect }
    assert_few_are_left 4
  end

  # Ruby collects in time by itself. The most that are there of 200_000:
  def test_a_loop
    output, status = in_a_new_ruby(<<~RUBY)
      most = 0
      100_000.times do |i|
        store, action = Foreign::Thing.new(0), Foreign::Thing.new(0)
        store.refer(0, action)
        action.handler = -> { store }
        most = [most, Foreign.things].max if i % 100 == 0
      end
      puts most
    RUBY
    assert status.success?, output
    assert_operator output.to_i, :<, 60_000
  end

  def test_under_stress
    GC.stress = true
    apart { 6.times { store_and_action }; Foreign.take(0, store_and_action[1]); nil }
    apart { assert_same Foreign.taken(0), Foreign.taken(0).call.referred(0) }
    GC.stress = false
    collect
    assert_few_are_left 4
    assert apart { Foreign.taken(0).call.referred(0).equal?(Foreign.taken(0)) }
  end

  # The library takes the action of a new store; and is it whole?
  def take_numbered(i)
    apart { Foreign.take(i, store_and_action[1].tap { |a| a.instance_variable_set(:@i, i) }); nil }
  end

  def number_at(place)
    apart { Foreign.taken(place).then { |a| [a.instance_variable_get(:@i), a.call.referred(0).equal?(a)] } }
  end

  def test_compaction
    pairs = Array.new(200) { store_and_action }
    50.times { |i| take_numbered(i) }
    GC.compact
    GC.verify_compaction_references(toward: :empty, double_heap: true)
    pairs.each do |store, action|
      assert_same action, store.referred(0)
      assert_same store, action.call
    end
    50.times { |i| assert_equal [i, true], number_at(i) }
  end

  # Nobody hears of what the library takes and drops between collections, minor ones and others.
  def test_silent_changes
    random = Random.new(5)
    12.times { |i| take_numbered(i) }
    is_at = (0...12).to_h { |i| [i, i] }
    300.times do |n|
      from, to = is_at.keys.sample(random: random), random.rand(20)
      next if is_at[to]

      apart { Foreign.take(to, Foreign.taken(from)); nil }
      Foreign.drop(from)
      is_at[to] = is_at.delete(from)
      GC.start(full_mark: n % 5 == 0)
      apart { store_and_action; nil }
    end
    is_at.each { |place, i| assert_equal [i, true], number_at(place) }
  end

  # References move between the slices of a marking, and the library takes garbage back by a weak pointer.
  def test_between_slices
    assert_runs "true true true true true\n", <<~RUBY
      apart = ->(&block) { Thread.new(&block).join.value }
      make = lambda do |id|
        t = Foreign::Thing.new(id)
        t.instance_variable_set(:@note, [id])
        t.handler = -> { t }
        t
      end
      keep = Array.new(1000) { Foreign::Thing.new(0) }
      apart.call { keep.each_with_index { |t, i| t.refer(i % 3, make.call(1000 + i)) }; nil }
      4.times { GC.start }
      Rawrefcount.slice_units = 600
      random = Random.new(1)
      rounds = 0
      retaken = []
      60.times do |n|
        apart.call { make.call(10_000 + n); nil }
        GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
        Array.new(20) { "garbage" * 3 }
        while GC.latest_gc_info(:state) == :marking
          100.times do
            a, b = keep.sample(random: random), keep.sample(random: random)
            a.swap(random.rand(3), b, random.rand(3))
          end
          if n % 4 < 2 && !retaken.include?(n) && random.rand(6) == 0 && Foreign.retake(n, 10_000 + n)
            retaken << n
          end
          Array.new(20) { "garbage" * 3 }
          rounds += 1
        end
      end
      1000.times { |i| i.to_s }
      whole = ->(x) { x.call.equal?(x) && x.instance_variable_get(:@note) == [x.id] && x.id }
      all = apart.call { keep.flat_map { |t| (0..2).filter_map { |k| t.referred(k)&.then(&whole) } } }
      back = apart.call { retaken.all? { |n| whole.call(Foreign.taken(n)) == 10_000 + n } }
      puts [rounds > 100 && Rawrefcount.stats[:slices] > 50, all.sort == (1000...2000).to_a, retaken.size > 5 && back,
            Foreign.wrappers < 2000 + retaken.size + 5, Rawrefcount.check].join(" ")
    RUBY
  end

  def numbered(id, i)
    thing = Thing.new(id)
    thing.handler = -> { thing }
    thing.instance_variable_set(:@i, i)
  end

  # Garbage that the library takes back before it is found is whole.
  def test_taken_back_by_a_weak_pointer
    first = next_id
    apart { 20.times { |i| numbered(first + i, i) }; nil }
    19.times { next_id }
    wipe_stacks
    20.times { |i| assert Foreign.retake(i, first + i) }
    collect
    20.times do |i|
      assert_equal [i, true], apart { Foreign.taken(i).then { |t| [t.instance_variable_get(:@i), t.call.equal?(t)] } }
    end
  end

  # The collection has found it dead, but its dealloc has not run: the thing is there, and gets a new wrapper.
  def test_taken_back_too_late
    first = next_id
    apart { 20.times { |i| numbered(first + i, i) }; nil }
    19.times { next_id }
    refused = 0
    Nodes.on_dealloc(lambda do |_|
      Nodes.on_dealloc(nil)
      wipe_stacks
      GC.start                          # pending work waits until this dealloc has returned
      20.times do |i|
        refused += 1 unless Foreign.retake(i, first + i)
        assert Foreign.retake(i, first + i, true)
      end
    end)
    Node.new(next_id, 0).dispose
    assert_operator refused, :>=, 16
    collect
    20.times do |i|
      apart do
        t = Foreign.taken(i)
        assert_equal first + i, t.id
        refused -= 1 if t.instance_variable_get(:@i).nil? && t.handler.nil?
      end
    end
    assert_equal 0, refused
  end

  # After dispose the library's object is still there. It has no wrapper, and gets a new one if a script sees it again.
  def test_dispose
    store, action = store_and_action
    Foreign.take(0, action)
    wrappers, things = Foreign.wrappers, Foreign.things
    action.dispose
    assert_equal [wrappers - 1, things], [Foreign.wrappers, Foreign.things]
    assert_raises(Rawrefcount::DisposedError) { action.id }
    refute_same action, Foreign.taken(0)
    assert_same Foreign.taken(0), store.referred(0)
    assert_nil Foreign.taken(0).handler
  end

  def test_insight
    id = apart { store, action = store_and_action; Foreign.take(0, action); store.id }
    weak = ObjectSpace::WeakMap.new
    apart { weak[:store] = Foreign.taken(0).call; nil }
    collect
    assert_equal id, apart { weak[:store].id }
    text = apart { Rawrefcount.explain(weak[:store]) }
    assert_match(/^wrapper .*held by local store of Proc .*held by wrapper\[0\].*1 reference from outside keeps/m, text)
    assert apart { ObjectSpace.reachable_objects_from(weak[:store]).include?(Foreign.taken(0)) }
    ObjectSpace.dump_all(output: File.open(File::NULL, "w"))
    assert_includes Rawrefcount.graph, "wrapper"
  end

  # At the end all wrappers go, and the library keeps what it holds. Cycles of the library's own are broken.
  def test_the_end
    said = "true\ndealloc 1\ndealloc 2\ndealloc 3\nthing 1: 1 references, no wrapper\n1 things, 0 wrappers\n"
    assert_runs said, <<~RUBY
      Foreign.print_at_exit
      $stdout.sync = true
      ids = []
      Nodes.on_dealloc(->(id) { ids << id; puts ids.sort.map { |i| "dealloc \#{i}" } if ids.size == 3 })
      held, in_itself, store = Foreign::Thing.new(1), Foreign::Thing.new(2), Foreign::Thing.new(3)
      held.handler = -> { held }
      held.instance_variable_set(:@note, "x")
      in_itself.refer(0, in_itself)
      $kept = [held, in_itself, store]
      store.refer(0, held)
      Foreign.take(0, held)
      puts Rawrefcount.check
    RUBY
  end

  def test_the_end_with_many
    output, status = in_a_new_ruby(<<~RUBY)
      make = lambda do |i|
        store, action = Foreign::Thing.new(2 * i + 1), Foreign::Thing.new(2 * i + 2)
        store.refer(0, action)
        action.refer(0, store) if i.odd?
        action.handler = -> { store }
        store
      end
      $kept = Array.new(500, &make)
      Thread.new { Array.new(500, &make); nil }.join
      8.times { |i| Foreign.take(i, $kept[i]) }
      Foreign.print_at_exit
    RUBY
    assert status.success?, output
    assert_equal 8, output.scan(/no wrapper$/).size
    assert_equal "16 things, 0 wrappers", output.lines.last.chomp
  end
end
