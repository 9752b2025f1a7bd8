-- A heap snapshot that takes a while.
local rawrefcount = require "rawrefcount"
local tables = {}
for i = 1, 50000 do tables[i] = { i } end
rawrefcount.snapshot("bar.heapsnapshot", true)
assert(#tables == 50000)
