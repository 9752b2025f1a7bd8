; bar.lisp - a heap snapshot that takes a while.
(define numbers (range 50000))
(heap-snapshot "bar.heapsnapshot")
