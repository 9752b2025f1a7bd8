# frozen_string_literal: true

require "minitest/autorun"
require "rawrefcount"
require "nodes"
require "objspace"

# What the tests share.
module Helper
  Node = Nodes::Node
  FinalNode = Nodes::FinalNode
  BareNode = Nodes::BareNode

  # Run the block where no stack keeps what it leaves behind: Ruby scans stacks conservatively.
  def apart(&block)
    Thread.new(&block).join.value
  end

  # Overwrite stale words of the stacks, then collect all there is.
  def collect
    wipe_stacks
    Rawrefcount.collect
    Rawrefcount.check
  end

  def wipe_stacks
    apart { wipe(60) }
    wipe(60)
  end

  # Of Ruby's stack, and at its end of the machine's.
  def wipe(depth)
    a = b = c = d = e = nil
    depth.zero? ? [a, b, c, d, e, Nodes.wipe] : wipe(depth - 1)
  end

  # Ids of nodes that were deallocated since the last call.
  def newly_dead
    collect
    Nodes.dead.dup.tap { Nodes.dead.clear }
  end

  def next_id
    @@last_id = (defined?(@@last_id) ? @@last_id : 0) + 1
  end

  # For a program: start a Ractor, and wait until it runs; get the value of one. (Ruby 4.0 calls this `value`, and earlier
  # ones `take`.)
  RACTORS = <<~RUBY
    def say_it_runs(fd) = IO.for_fd(fd, autoclose: false).syswrite("x")

    def running_ractor(&block)
      reader, writer = IO.pipe
      ractor = Ractor.new(writer.fileno, &block)
      reader.readpartial(1)
      ractor
    end

    def value_of(ractor) = ractor.respond_to?(:value) ? ractor.value : ractor.take
  RUBY

  # Run a program of its own; returns what it printed and its status. (After CPU_SECONDS (100) of processor time it is
  # ended.)
  def in_a_new_ruby(program, *flags)
    command = [RbConfig.ruby, *flags, *$LOAD_PATH.map { |dir| "-I#{dir}" }, "-rrawrefcount", "-rnodes", "-e", program]
    output = IO.popen(command, err: %i[child out], rlimit_cpu: (ENV["CPU_SECONDS"] || 100).to_i, &:read)
    [output, $?]
  end

  def assert_runs(expected, program, *flags)
    output, status = in_a_new_ruby(program, *flags)
    assert_equal expected, output
    assert status.success?, status.inspect
  end

  # (With FIRST_FAILURE, one is enough.)
  def teardown
    exit!(1) if ENV["FIRST_FAILURE"] && !passed? && !skipped?
    GC.stress = false
    Nodes.next_test
    Rawrefcount.error_handler = nil
    assert Rawrefcount.check
  end
end
