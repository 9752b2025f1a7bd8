# frozen_string_literal: true

require "helper"
require "tmpdir"

# Random graphs over both heaps, changed at random, beside an oracle: a table of which
# object refers to which. What roots reach must be there, with all its references; what they do
# not reach must go. SEED=n runs one seed, RUNS=n so many; SOAK_SECONDS=n goes on for so long, in which
# memory must stay flat.
class TestRandom < Minitest::Test
  include Helper

  WIDTH = 3

  class List < Array; end

  # A wrapper with state: some of its references are its C object's, the others its own.
  class Changed < Nodes::Node; end

  # The same with a finalizer, which finds its object with all references.
  class Final < Nodes::FinalNode; end

  # The wrapper of a thing that a library counts: the library has the references from thing to thing.
  Thing = Foreign::Thing

  class Plain
    attr_accessor :id, :e0, :e1, :e2
  end

  # How each kind of object keeps its number and its references.
  KINDS = {
    node: [->(id) { Node.new(id, WIDTH) }, ->(o) { o.id }, ->(o, i) { o[i] }, ->(o, i, v) { o[i] = v }],
    changed: [->(id) { Changed.new(id, 1) }, ->(o) { o.id },
              ->(o, i) { i.zero? ? o[0] : o.instance_variable_get("@e#{i}") },
              ->(o, i, v) { i.zero? ? o[0] = v : o.instance_variable_set("@e#{i}", v) }],
    final: [->(id) { Final.new(id, 1) }, ->(o) { o.id },
            ->(o, i) { i.zero? ? o[0] : o.instance_variable_get("@e#{i}") },
            ->(o, i, v) { i.zero? ? o[0] = v : o.instance_variable_set("@e#{i}", v) }],
    leaf: [->(id) { BareNode.new(id, 0) }, ->(o) { o.id }, ->(o, i) { o.instance_variable_get("@e#{i}") },
           ->(o, i, v) { o.instance_variable_set("@e#{i}", v) }],
    thing: [->(id) { Thing.new(id) }, ->(o) { o.id },
            ->(o, i) { i.zero? ? o.handler : o.referred(i) || o.instance_variable_get("@e#{i}") },
            lambda { |o, i, v|
              next o.handler = v if i.zero?

              o.refer(i, v.is_a?(Thing) ? v : nil)
              o.instance_variable_set("@e#{i}", v.is_a?(Thing) ? nil : v)
            }],
    list: [->(id) { List[id, nil, nil, nil] }, ->(o) { o[0] }, ->(o, i) { o[i + 1] }, ->(o, i, v) { o[i + 1] = v }],
    hash: [->(id) { { id: id } }, ->(o) { o[:id] }, ->(o, i) { o[i] }, ->(o, i, v) { v ? o[i] = v : o.delete(i) }],
    plain: [->(id) { Plain.new.tap { |o| o.id = id } }, ->(o) { o.id }, ->(o, i) { o.public_send("e#{i}") },
            ->(o, i, v) { o.public_send("e#{i}=", v) }],
    string: [->(id) { "s#{id}" * 9 }, ->(o) { o[/\As(\d+)s/, 1].to_i }, ->(o, i) { o.instance_variable_get("@e#{i}") },
             ->(o, i, v) { o.instance_variable_set("@e#{i}", v) }],
    proc: [lambda { |id|
             edges = []
             proc { |i = nil, *v| i.nil? ? id : v.empty? ? edges[i] : edges[i] = v[0] }
           }, ->(o) { o.call }, ->(o, i) { o.call(i) }, ->(o, i, v) { o.call(i, v) }]
  }.freeze

  def kind_of(object)
    case object
    when Thing then :thing
    when Changed then :changed
    when Final then :final
    when BareNode then :leaf
    when Nodes::Node then :node
    when List then :list
    when Hash then :hash
    when Plain then :plain
    when String then :string
    when Proc then :proc
    else flunk "#{object.inspect} is not one of ours (seed #{@seed})"
    end
  end

  def number(object) = KINDS[kind_of(object)][1].call(object)
  def get(object, i) = KINDS[kind_of(object)][2].call(object, i)
  def set(object, i, value) = KINDS[kind_of(object)][3].call(object, i, value)

  PLACES = 16           # roots: six in Ruby, six in C, and four that the library holds

  def root(place) = place < 6 ? @roots[place] : place < 12 ? Nodes.held(1000 + place) : Foreign.taken(place)

  def put_root(place, object)
    return if place >= 12 && object && !object.is_a?(Thing)

    @root_of[place] = object && number(object)
    if place < 6
      @roots[place] = object
    elsif place >= 12
      object ? Foreign.take(place, object) : Foreign.drop(place)
    elsif object
      Nodes.hold(1000 + place, object)
    else
      Nodes.release(1000 + place)
    end
  end

  # An object at the end of a random path.
  def anything
    object = root(@random.rand(PLACES))
    @random.rand(6).times do
      following = object && get(object, @random.rand(WIDTH))
      object = following if following
    end
    object
  end

  def fresh
    @made += 1
    @edges[@made] = [nil] * WIDTH
    kind = KINDS.keys[@random.rand(15)] || %i[node thing][@random.rand(2)]
    @nodes << @made if %i[node changed final leaf thing].include?(kind)
    KINDS[kind][0].call(@made)
  end

  def connect(from, to)
    i = @random.rand(WIDTH)
    @edges[number(from)][i] = to && number(to)
    set(from, i, to)
  end

  # The library has weak pointers, perhaps to garbage that is not found yet.
  def retake
    place = 12 + @random.rand(4)
    id = @made - @random.rand(@edges.size + 1)
    @root_of[place] = id if Foreign.retake(place, id)
  end

  def change
    @@operations += 1
    case @random.rand(11)
    when 0 then put_root(@random.rand(PLACES), fresh)
    when 1 then put_root(@random.rand(PLACES), anything)
    when 2 then put_root(@random.rand(PLACES), nil)
    when 3..6
      from = anything
      connect(from, fresh) if from
    when 7, 8
      from = anything
      connect(from, anything) if from
    when 9 then retake
    else
      from = anything
      connect(from, nil) if from
    end
  end

  def ruby_collects
    case @random.rand(12)
    when 0, 1, 2 then GC.start(full_mark: false)
    when 3 then GC.start
    when 4 then GC.start(full_mark: true, immediate_sweep: false)
    when 5 then GC.compact
    when 6 then GC.verify_internal_consistency
    when 7 then Array.new(20_000) { "x" }
    when 8
      GC.start                              # Ruby 3.1 crashes if this is set while it marks in slices
      GC.auto_compact = @random.rand(2).zero?
    when 9 then Rawrefcount.check
    when 10 then Rawrefcount.run_pending(@random.rand(4))
    else GC.verify_compaction_references(toward: :empty)
    end
  end

  # Nothing that is pending is done before the block ends.
  def inside_a_dealloc
    errors = []
    Rawrefcount.error_handler = ->(error, _) { errors << error }
    @insiders += 1
    inner = Node.new(-@insiders, 0)
    Nodes.on_dealloc(->(id) { yield if id == -@insiders })
    inner.dispose
    raise errors.first if errors.any?
  ensure
    Nodes.on_dealloc(nil)
    Rawrefcount.error_handler = nil
  end

  # Ruby marks in slices, and the search for cycles is divided, too.
  def changes_between_slices
    Rawrefcount.slice_units = @random.rand(40)
    GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false)
    200.times do
      break unless GC.latest_gc_info(:state) == :marking

      @random.rand(5).times { change }
      Array.new(@random.rand(60)) { "garbage" }
    end
  ensure
    Rawrefcount.slice_units = 0
  end

  # Objects can be finalized that the oracle has forgotten: they are of another seed.
  def check_finalized(wrapper)
    Nodes.finalized.clear
    edges = @edges[wrapper.id] or return
    found = Array.new(WIDTH) { |i| (object = get(wrapper, i)) && number(object) }
    @wrong << [wrapper.id, edges, found] unless edges == found && wrapper.instance_of?(Final)
    @finalized += 1
    nil
  end

  STRESS = [true, 1, 2, 4, 7].freeze        # minor ones only, lazy sweeps, after each malloc

  # Changes as they come; in bad times, each allocation collects, or none does.
  def some_changes
    case @random.rand(20)
    when 0
      GC.stress = STRESS.sample(random: @random)
      (@between / 10).times { change }
      GC.stress = false
    when 1
      ObjectSpace.trace_object_allocations { @between.times { change } }
      ObjectSpace.trace_object_allocations_clear        # else it keeps what it knows of objects that die later
    when 2
      inside_a_dealloc { 3.times { (@between / 2).times { change }; ruby_collects } }
    when 3..5
      GC.disable
      (@between * 2).times { change }
      GC.enable
    when 6..9
      2.times { changes_between_slices }
    else
      @between.times { change }
    end
  ensure
    GC.stress = false
    GC.enable
  end

  def reachable
    seen = {}
    work = @root_of.compact
    while (id = work.pop)
      work.concat(@edges[id].compact) unless seen[id]
      seen[id] = true
    end
    seen
  end

  # Walk what is there, and compare.
  def compare
    seen = {}
    work = (0...PLACES).map { |place| [@root_of[place], root(place)] }
    while (id, object = work.pop)
      assert_equal id.nil?, object.nil?, "seed #{@seed}: root or reference to #{id}"
      next if id.nil? || seen[id]

      assert_equal id, number(object), "seed #{@seed}"
      seen[id] = true
      WIDTH.times { |i| work << [@edges[id][i], get(object, i)] }
    end
    assert_equal reachable.size, seen.size
    assert_empty Nodes.dead & seen.keys, "seed #{@seed}: deallocated, but reachable"
  end

  def run_seed(seed)
    @seed = seed
    @random = Random.new(seed)
    @roots = []
    @root_of = [nil] * PLACES
    @edges = {}
    @nodes = []
    @made = seed * 100_000
    @insiders = 0
    Nodes.dead.clear
    @wrong = []
    @finalized = 0
    Nodes.on_finalize(method(:check_finalized))
    rounds, @between = [[25, 30], [25, 30], [8, 150], [3, 600]].sample(random: @random)
    rounds.times do
      apart { some_changes }
      apart { ruby_collects }
      apart { compare }
    end
    GC.auto_compact = false
    left = @nodes - Nodes.dead
    apart { PLACES.times { |place| put_root(place, nil) } }
    5.times { collect }
    left = @nodes - Nodes.dead
    assert_equal Nodes.dead.uniq, Nodes.dead
    assert_empty @wrong, "seed #{seed}: finalizers have found other references"
    @@finalized += @finalized
    assert_equal Foreign.wrappers, Foreign.things, "seed #{seed}: the library has things that nobody refers to"
    left.size
  ensure
    Nodes.on_finalize(nil)
    GC.stress = false
    GC.auto_compact = false
  end

  @@operations = @@finalized = 0

  def resident_kib = File.read("/proc/self/status")[/^VmRSS:\s*(\d+)/, 1].to_i

  # What is in use after a seed; stale words on the stack keep a little.
  LEFT_OBJECTS = 2000
  LEFT_KIB = 16 * 1024

  SOAK_SEED = "#{ENV['BUILD'] || Dir.tmpdir}/soak_seed.txt"

  def soak(seconds)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    first = seed = (ENV["SEED"] || 1).to_i
    said = spent = 0
    until spent >= seconds
      File.write(SOAK_SEED, seed.to_s)      # so that a crash names it
      run_seed(seed)
      seed += 1
      flat = resident_kib if seed - first == 50
      objects = Rawrefcount.stats[:objects]
      assert_operator objects, :<, LEFT_OBJECTS, "objects are left after seed #{seed - 1}"
      assert_operator resident_kib, :<, flat + LEFT_KIB, "the process grows: seed #{seed - 1}" if flat
      spent = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
      next if spent < said + 60

      said = spent
      puts "#{spent.round} s: seeds #{first} to #{seed - 1}, #{@@operations} operations, #{objects} objects left, " \
           "#{resident_kib} KiB resident"
      $stdout.flush
    end
  ensure
    puts "soak: seeds #{first} to #{seed - 1} passed, #{@@operations} operations, #{@@finalized} finalizers, #{GC.count} collections in #{spent.round} s"
  end

  # Stale words on the stack may keep a few graphs, but not many.
  def test_random_graphs
    return soak(ENV["SOAK_SECONDS"].to_i) if ENV["SOAK_SECONDS"]

    first = (ENV["SEED"] || 1).to_i
    runs = (ENV["RUNS"] || (ENV["SEED"] ? 1 : 40)).to_i
    left = (first...first + runs).map { |seed| run_seed(seed) }
    assert_operator @@finalized, :>, runs
    assert_operator left.count(&:positive?), :<=, 1 + runs / 10, "nodes left, by seed: #{left}"
  end
end
