# frozen_string_literal: true

require_relative "helper"

# What a tp_finalize, a tp_clear and a tp_dealloc find of what their object owns: a string, and a proc to
# call. Each place is tried in a process of its own, and gives the cells of a line of the table in README.md.
class TestSlots < Minitest::Test
  include Helper

  LIBRARY = <<~RUBY
    def apart(&block) = Thread.new(&block).join
    def wipe(depth = 60) = (a = b = c = d = nil; depth.zero? ? [a, b, c, d, Nodes.wipe] : wipe(depth - 1))
    def collect(n = 4) = n.times { apart { wipe }; wipe; Rawrefcount.collect }
    def ruby_collects = 8.times { apart { wipe }; wipe; GC.start; Rawrefcount.run_pending }
    WEAK = ObjectSpace::WeakMap.new
    def meet(x)
      Slots.meet(x) if x
    rescue Rawrefcount::DisposedError
    end
    def callback(id, weak = WEAK) = -> { (1..10).each { |i| meet(weak[i]) }; meet($at_end); id }
    def owner(id) = WEAK[id] = $class.new(id, "text \#{id}", callback(id))
    at_exit { $at_end = $it }           # (Ruby 3.1 empties WEAK before)
    def chain
      first = last = owner(1)
      9.times { |i| o = owner(i + 2); last.next = [o]; last = o }
      first
    end
    def cycle = owner(1).tap { |o| o.next = [o] }
    def cycle_of_c = owner(1).tap { |o| o.next = o }
    def cycle_below = Nodes::Node.new(0, 1).tap { |top| top[0] = cycle_of_c }
    def hold
      apart { Slots.hold($it) }
      $it = nil
      collect
    end
  RUBY

  COLLECT = "$it = nil; collect"
  RUBY_COLLECTS = "$it = nil; ruby_collects"
  BOTH = [COLLECT, RUBY_COLLECTS].freeze
  END_OF_ALL = ["", "$it = nil; GC.disable"].freeze

  # name => what makes it, and what is done with it: one way, or several
  PLACES = {
    "alone" => ["owner(1)", BOTH],
    "alone, let go of by C" => ["owner(1)", ["hold; Slots.release; collect"]],
    "a cycle over both heaps" => ["cycle", BOTH],
    "a chain over both heaps" => ["chain", BOTH],
    "a cycle of C" => ["cycle_of_c", BOTH],
    "a cycle of C, let go of by C" => ["cycle_of_c", ["hold; Slots.release; collect", "hold; Slots.release; ruby_collects"]],
    "a cycle of C below an object that dies" => ["cycle_below", BOTH],
    "disposed of" => ["owner(1)", ["$it.dispose"]],
    "the end: alone" => ["owner(1)", END_OF_ALL],
    "the end: a cycle over both heaps" => ["cycle", END_OF_ALL],
    "the end: a chain over both heaps" => ["chain", END_OF_ALL],
    "the end: a cycle of C" => ["cycle_of_c", END_OF_ALL],
    "the end: a cycle of C, let go of by C" => ["cycle_of_c", ["hold; Slots.release"]],
    "after the end: alone, let go of by C" => ["owner(1)", ["hold; Slots.release_after_ruby"]]
  }.freeze

  PAGE = File.read(File.expand_path("../README.md", __dir__))

  # What the slots of each type find: a cell of the table for each.
  def findings(type, make, way, busy)
    program = "Slots.start(#{busy})\n#{LIBRARY}$class = Slots::#{type}\napart { $it = #{make} }\ncollect\n#{way}"
    output, status = in_a_new_ruby(program)
    assert status.success?, "#{type}, #{way}: #{status.inspect}: #{output}"
    output.chomp.split("|").map(&:strip).drop(1)
  end

  # (Cycles with finalizers that are few wait for Rawrefcount.collect.)
  PLACES.each do |name, (make, ways)|
    define_method("test_#{name.gsub(/\W+/, '_')}") do
      cells = PAGE[/^\| #{Regexp.escape(name)} \|(.*)\|$/, 1].split("|").map(&:strip)
      ways.product(ENV["QUICK"] ? [false] : [false, true]).each do |way, busy|
        unless name.include?("cycle") && way.include?("ruby_collects")
          assert_equal cells.take(3), findings(:Owner, make, way, busy), "Owner, #{way}, #{busy}"
        end
        assert_equal ["-", *cells.drop(3)], findings(:Unfinalized, make, way, busy), "Unfinalized, #{way}, #{busy}"
      end
    end
  end
end
