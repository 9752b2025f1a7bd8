# frozen_string_literal: true

# What links cost in Ruby, beside the ways to do without them. `rake bench`, or with the
# numbers of links: ruby ... bench/bench.rb 100000 1000000
# Each figure is the best of several, each in a process of its own; time is that of the
# processor, so that other programs disturb little.

$stdout.sync = true
require "json"
require "rbconfig"

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def time
  begin_time = now
  yield
  now - begin_time
end

def best(times) = (1..times).map { yield }.min

def minor = best(20) { time { GC.start(full_mark: false) } } * 1e3
def major = best(5) { time { GC.start } } * 1e3

# What each way is measured by: names of figures and the figures, in nanoseconds for each (the
# collections: in milliseconds for all).
MEASURES = {
  # As many objects, and nothing that knows of them: what the collections cost anyway.
  base: lambda { |n|
    values = Array.new(n) { Object.new }
    settle
    figures = { minor: minor, major: major }
    values.clear
    figures
  },
  values: lambda { |n|
    values = Array.new(n) { Object.new }
    settle
    figures = without_gc do
      { hold: Nodes.bench_hold(values),
        hold_again: best(3) { Nodes.bench_hold_again(values) },
        value: best(3) { Nodes.bench_value(n) },
        value_again: best(3) { Nodes.bench_value_again(1_000_000) } }
    end
    settle
    figures.update(minor: minor, major: major, compact: best(3) { time { GC.compact } } * 1e3,
                   release: Nodes.bench_release(n))
  },
  wrappers: lambda { |n|
    keep = []
    figures = without_gc { { wrap: Nodes.bench_wrap(keep, n), wrapper: best(3) { Nodes.bench_value(n) } } }
    settle
    figures.update(minor: minor, major: major)
  },
  # Ruby's own data objects, which know nothing of an identity.
  data: lambda { |n|
    keep = []
    figures = without_gc { { wrap: Nodes.bench_data(keep, n) } }
    settle
    figures.update(minor: minor, major: major)
  },
  weak_map: lambda { |n|
    return {} if n > 200_000            # it takes minutes

    values = Array.new(n) { Object.new }
    settle
    map = ObjectSpace::WeakMap.new
    figures = without_gc do
      { hold: time { values.each { |v| map[v] = true } } / n * 1e9,
        hold_again: best(3) { time { values.each { |v| map[v] } } } / n * 1e9 }
    end
    settle
    figures.update(minor: minor, major: major)
  },
  address: lambda { |n|
    values = Array.new(n) { Object.new }
    settle
    without_gc { { hold: Nodes.bench_register(values) } }.update(minor: minor, major: major)
  },
  # The same, in a counted object.
  counted: lambda { |n|
    values = Array.new(n) { Object.new }
    settle
    without_gc { { hold: Nodes.bench_register_counted(values) } }
  }
}.freeze

def settle = 4.times { GC.start }

def without_gc
  GC.disable
  yield
ensure
  GC.enable
end

# The price that all of Ruby pays while there is a link: hooks of the collector.
def allocation
  best(10) { time { i = 0; while i < 1_000_000 do Object.new; i += 1 end } } * 1e3
end

if ARGV[0] == "--one"
  require "rawrefcount"
  require "nodes"
  puts JSON.generate(MEASURES.fetch(ARGV[1].to_sym).call(ARGV[2].to_i))
  exit
elsif ARGV[0] == "--allocation"
  require "rawrefcount"
  require "nodes"
  without = allocation
  Nodes.hold(0, "x")
  puts JSON.generate([without, allocation])
  exit
end

def in_a_new_ruby(*args)
  command = [RbConfig.ruby, *$LOAD_PATH.map { |dir| "-I#{dir}" }, __FILE__, *args]
  JSON.parse(IO.popen(command, &:read), symbolize_names: true)
end

# The best of several runs, and what a major collection takes for each, more than for objects
# that nothing knows of.
def measure(n, repeats)
  figures = MEASURES.keys.to_h do |way|
    runs = Array.new(repeats) { in_a_new_ruby("--one", way.to_s, n.to_s) }
    [way, runs[0].to_h { |what, _| [what, runs.map { |run| run[what] }.min] }]
  end
  figures.each_value do |f|
    f[:major_more] = (f[:major] - figures[:base][:major]) * 1e6 / n if f[:major]
  end
end

# What the aims are: figures of a prototype, on another machine. For a minor collection: little
# more than with as many objects (or T_DATA) but no links, in the same run.
GOALS = {
  100_000 => { hold: 127, hold_again: 9, value_again: 1.4, wrap: 67, major_more: 16 },
  1_000_000 => { hold: 189, hold_again: 36, value_again: 1.4, wrap: 106, major_more: 16 }
}.freeze
MINOR_GOAL = 1.15

# Rows: a title, which of our figures, which one of the others.
ROWS = [
  ["hold a value, ns", :values, :hold], ["hold it again, ns", :values, :hold_again],
  ["the value of an object, of many, ns", :values, :value],
  ["the value of the same object, ns", :values, :value_again], ["release a value, ns", :values, :release],
  ["wrap an object, ns", :wrappers, :wrap], ["find its wrapper, of many, ns", :wrappers, :wrapper],
  ["minor collection, old values, ms", :values, :minor], ["minor collection, old wrappers, ms", :wrappers, :minor],
  ["major collection, a value more, ns", :values, :major_more],
  ["major collection, a wrapper more, ns", :wrappers, :major_more],
  ["compaction of all, ms", :values, :compact]
].freeze

def show(n, figures)
  puts format("\n%-36s %11s %8s  %-6s %9s %16s %9s %9s", "#{n} of them", "rawrefcount", "goal", "", "WeakMap",
              "register_address", "counted", "T_DATA")
  ROWS.each do |title, way, what|
    ours = figures[way][what]
    alike = figures[way == :wrappers ? :data : :base]
    goal = what == :minor ? alike[:minor] * MINOR_GOAL : GOALS.dig(n, what)
    # Values can be held in other ways; wrapped objects are plain data objects elsewhere.
    others = way == :values ? %i[weak_map address counted] : [nil, nil, nil, :data]
    cells = [ours, goal, *others.map { |other| figures[other][what] if other }, nil].first(6)
    texts = cells.map { |f| f && format(what == :minor ? "%.3f" : "%.1f", f) }
    verdict = goal && (ours <= goal ? "" : "missed")
    puts format("%-36s %11s %8s  %-6s %9s %16s %9s %9s", title, *texts.first(2), verdict, *texts.drop(2)).rstrip
  end
  puts format("without any of it: a minor collection %.3f ms, a major one %.1f ms", *figures[:base].values_at(:minor, :major))
end

sizes = ARGV.empty? ? GOALS.keys : ARGV.map(&:to_i)
puts RUBY_DESCRIPTION
sizes.each { |n| show(n, measure(n, (ENV["REPEATS"] || 2).to_i)) }
without, with = in_a_new_ruby("--allocation")
puts format("\nObject.new: %.1f ns without links, %.1f with", without, with)
