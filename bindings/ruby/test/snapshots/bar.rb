# frozen_string_literal: true

# A heap snapshot that takes a while.
require "rawrefcount"

$objects = Array.new(50_000) { Object.new }
Rawrefcount.snapshot("bar.heapsnapshot", bar: true)
