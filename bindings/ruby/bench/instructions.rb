# frozen_string_literal: true

# What an object with a Ruby value and a reference to another object costs (Nodes::Twin), beside Ruby's own data object
# with two VALUEs and write barriers (Nodes::Pair). It counts instructions by callgrind, so that other programs do not
# matter. Each figure is a difference of two runs. `make bench-ruby`, or: ruby ... bench/instructions.rb [OBJECTS]

$stdout.sync = true
require "rbconfig"

# One of a kind, which refers to a fresh value and to the one before.
NEW = {
  data: ->(before) { Nodes::Pair.new(Object.new, before) },
  gem: ->(before) { Nodes::Twin.new(Object.new, before) }
}.freeze
STORE = ->(object) { object.a = Object.new }

def make(kind, n) = (1..n).each_with_object([]) { |_, all| all << NEW[kind].(all[-1]) }

# What is done `more` times with n objects: how often two times more do it, and how.
WORK = {
  "make" => [->(n) { n }, ->(kind, n, more) { make(kind, n / 2 * more) }],
  "store a fresh value in an old one" => [->(n) { 2 * n }, lambda { |kind, n, more|
    all = make(kind, n)
    4.times { GC.start }
    GC.disable
    more.times { all.each(&STORE) }
  }],
  "a major collection" => [->(n) { 2 * n }, lambda { |kind, n, more|
    all = make(kind, n)
    4.times { GC.start }
    more.times { GC.start }
    all.clear
  }],
  "a minor collection, all of them" => [->(_) { 100 }, lambda { |kind, n, more|
    all = make(kind, n)
    4.times { GC.start }
    (more * 50).times { GC.start(full_mark: false) }
    all.clear
  }]
}.freeze

if ARGV[0] == "--one"
  require "rawrefcount"
  require "nodes"
  Nodes.hold(0, "x")                    # (hooks are on: all of Ruby pays for them)
  WORK.fetch(ARGV[1])[1].(ARGV[2].to_sym, ARGV[3].to_i, ARGV[4].to_i)
  puts File.read("/proc/self/status")[/^VmRSS:\s*(\d+)/, 1]
  exit!
end

def in_a_new_ruby(*prefix, work, kind, n, more)
  arguments = [__FILE__, "--one", work, kind, n, more].map(&:to_s)
  IO.popen([*prefix, RbConfig.ruby, *$LOAD_PATH.map { |dir| "-I#{dir}" }, *arguments], err: %i[child out], &:read)
end

def instructions(...)
  output = in_a_new_ruby("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", ...)
  output[/Collected : (\d+)/, 1]&.to_i or abort "valgrind does not run this: #{output}"
end

def bytes(kind, n) = (in_a_new_ruby("make", kind, n, 2).to_i - in_a_new_ruby("make", kind, n, 0).to_i) * 1024 / n

def row(title, gem, data) = puts(format("%-36s %12d %10d %8.1f", title, gem, data, gem.to_f / data))

n = (ARGV[0] || 20_000).to_i
puts RUBY_DESCRIPTION
puts format("%-36s %12s %10s %8s", "#{n} objects, instructions for each", "rawrefcount", "T_DATA", "ratio")
WORK.each do |work, (done, _)|
  gem, data = %i[gem data].map do |kind|
    (instructions(work, kind, n, 4) - instructions(work, kind, n, 2)) / done.(n)
  end
  row(work, gem, data)
end
row("memory, bytes (of 500000)", bytes(:gem, 500_000), bytes(:data, 500_000))
