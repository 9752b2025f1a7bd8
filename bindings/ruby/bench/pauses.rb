# frozen_string_literal: true

# The longest pauses of a major collection, in milliseconds of processor time: a program allocates while Ruby marks
# in slices, and each allocation is timed. `rake bench`, or: ruby ... bench/pauses.rb 100000 1000000
# Objects have two references each: to the one before and to another one. Each figure is the median of several
# processes (REPEATS=3), and that of a process is the median of three collections.

$stdout.sync = true
require "rbconfig"
require "rawrefcount"
require "nodes"

COLLECTIONS = 3

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def median(figures) = figures.sort[figures.size / 2]

# The longest time of an allocation until the collection has ended, with what waits after it.
def longest
  most = 0.0
  begin_time = now
  timed = lambda do
    end_time = now
    most = end_time - begin_time if end_time - begin_time > most
    begin_time = now
  end
  yield
  timed.call
  until GC.latest_gc_info(:state) == :none
    Object.new
    timed.call
  end
  10_000.times { Object.new; timed.call }
  most * 1e3
end

WAYS = {
  plain: ->(keep, n) { n.times { |i| keep << Nodes::Pair.new(keep[-1], keep[i * 7919 % i.succ]) } },
  gem: lambda { |keep, n|
    n.times do |i|
      node = Nodes::Node.new(0, 2)
      node[0] = keep[-1]
      node[1] = keep[i * 7919 % i.succ]
      keep << node
    end
  }
}.freeze

if ARGV[0] == "--one"
  way, n = ARGV[1], ARGV[2].to_i
  keep = []
  GC.disable
  WAYS.fetch(way == "plain" ? :plain : :gem).call(keep, n)
  GC.enable
  4.times { GC.start }
  incremental = Array.new(COLLECTIONS) do
    longest { GC.start(full_mark: true, immediate_mark: false, immediate_sweep: false) }
  end
  immediate = Array.new(COLLECTIONS) { longest { GC.start(immediate_sweep: false) } }
  puts [median(incremental), median(immediate)].join(" ")
  keep.clear
  exit!
end

sizes = ARGV.empty? ? [100_000, 1_000_000] : ARGV.map(&:to_i)
repeats = (ENV["REPEATS"] || 3).to_i
puts "The median of collections (#{COLLECTIONS}) in a process, and of processes (#{repeats}), is shown."
puts format("%-30s %14s %14s", "longest pause, ms", "incremental", "immediate")
sizes.each do |n|
  %w[plain gem slices].each do |way|
    runs = Array.new(repeats) do
      command = [RbConfig.ruby, *$LOAD_PATH.map { |dir| "-I#{dir}" }, __FILE__, "--one", way, n.to_s]
      IO.popen({ "NODES_WHOLE" => (way == "gem" ? "1" : nil) }, command, &:read).split.map(&:to_f)
    end
    figures = runs.transpose.map { |all| median(all) }
    puts format("%-30s %14.1f %14.1f", "#{n}, #{way}", *figures)
  end
end
