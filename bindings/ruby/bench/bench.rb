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

def minor = best(20) { time { GC.start(full_mark: false) } }
def major = best(5) { time { GC.start } }

# Each gives figures by name: nanoseconds per item, or (with "ms") milliseconds.
MEASURES = {
  # As many objects, and nothing that knows of them: what the collections cost anyway.
  "base" => lambda { |n|
    values = Array.new(n) { Object.new }
    4.times { GC.start }
    figures = { "minor collection, ms" => minor * 1e3, "major collection, ms" => major * 1e3 }
    values.clear
    figures
  },
  "values" => lambda { |n|
    values = Array.new(n) { Object.new }
    4.times { GC.start }
    GC.disable
    figures = { "hold a value" => Nodes.bench_hold(values) }
    figures["hold it again"] = best(3) { Nodes.bench_hold_again(values) }
    figures["the value of its object"] = best(3) { Nodes.bench_value(n) }
    GC.enable
    2.times { GC.start }
    figures["minor collection, ms"] = minor * 1e3
    figures["major collection, ms"] = major * 1e3
    figures["compaction, ms"] = best(3) { time { GC.compact } } * 1e3
    figures["release a value"] = Nodes.bench_release(n)
    figures
  },
  "wrappers" => lambda { |n|
    keep = []
    GC.disable
    figures = { "wrap an object" => Nodes.bench_wrap(keep, n) }
    figures["find its wrapper"] = best(3) { Nodes.bench_value(n) }
    GC.enable
    4.times { GC.start }
    figures["minor collection, ms"] = minor * 1e3
    figures["major collection, ms"] = major * 1e3
    figures
  },
  "T_DATA without links" => lambda { |n|
    keep = []
    GC.disable
    figures = { "wrap an object" => Nodes.bench_data(keep, n) }
    GC.enable
    4.times { GC.start }
    figures["minor collection, ms"] = minor * 1e3
    figures["major collection, ms"] = major * 1e3
    figures
  },
  "WeakMap" => lambda { |n|
    values = Array.new(n) { Object.new }
    4.times { GC.start }
    map = ObjectSpace::WeakMap.new
    GC.disable
    figures = { "hold a value" => time { values.each { |v| map[v] = true } } / n * 1e9 }
    figures["hold it again"] = best(3) { time { values.each { |v| map[v] } } } / n * 1e9
    GC.enable
    2.times { GC.start }
    figures["minor collection, ms"] = minor * 1e3
    figures["major collection, ms"] = major * 1e3
    figures
  },
  "rb_gc_register_address" => lambda { |n|
    values = Array.new(n) { Object.new }
    4.times { GC.start }
    figures = { "hold a value" => Nodes.bench_register(values) }
    figures["minor collection, ms"] = minor * 1e3
    figures["major collection, ms"] = major * 1e3
    figures
  }
}.freeze

# The price that all of Ruby pays while there is a link: hooks of the collector.
def allocation
  best(10) { time { i = 0; while i < 1_000_000 do Object.new; i += 1 end } } * 1e3
end

if ARGV[0] == "--one"
  require "rawrefcount"
  require "nodes"
  puts JSON.generate(MEASURES.fetch(ARGV[1]).call(ARGV[2].to_i))
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
  JSON.parse(IO.popen(command, &:read))
end

sizes = ARGV.empty? ? [100_000, 1_000_000] : ARGV.map(&:to_i)
repeats = (ENV["REPEATS"] || 2).to_i
puts RUBY_DESCRIPTION
sizes.each do |n|
  puts format("\n%-26s %-24s %12s", "#{n} of them", "", "ns each, or ms")
  base = nil
  MEASURES.each_key do |name|
    next puts("#{name}: takes minutes with so many") if name == "WeakMap" && n > 200_000

    runs = Array.new(repeats) { in_a_new_ruby("--one", name, n.to_s) }
    figures = runs[0].to_h { |what, _| [what, runs.map { |run| run[what] }.min] }
    base ||= figures
    figures.each { |what, value| puts format("%-26s %-24s %12.3f", name, what, value) }
    next if name == "base" || !figures["major collection, ms"]

    more = (figures["major collection, ms"] - base["major collection, ms"]) * 1e6 / n
    puts format("%-26s %-24s %12.1f", name, "major, more than base", more)
  end
end
without, with = in_a_new_ruby("--allocation")
puts format("\nObject.new: %.1f ns without links, %.1f with", without, with)
