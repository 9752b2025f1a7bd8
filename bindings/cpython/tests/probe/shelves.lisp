; shelves.lisp - an object of C owns a dict of the host's, and knows what is in it: that is there until its dealloc has
; run. In its list of books there are no references, as in many caches.
(load "bindings/cpython/tests/probe/common.lisp")
(define tracked-shelf (item probe "tracked-shelf"))
(define kinds (list shelf tracked-shelf))

; Dropped while the VM runs: one layer in each collection.
(define (nested kind n) (if (= n 0) (kind) (kind (nested kind (- n 1)))))
(define k nil)
(for-each (lambda (kind) (set! k (nested kind 3)) (gc) (set! k nil) (settle) (gc) (settle) (gc) (settle)) kinds)

; At the end of the VM: alone, in each other, through lists and closures, in a ring of lookers, not reachable any more.
(define alone (map (lambda (kind) (kind)) kinds))
(define in-each-other (map (lambda (kind) (nested kind 5)) kinds))
(define mixed (shelf (tracked-shelf (list 1 (vector (shelf (lambda () alone)))))))
(define both (let ((inner (tracked-shelf))) (list (shelf inner) (tracked-shelf inner) inner)))
(define in-a-ring (let ((l (list nil))) (set-car! l (looker l (shelf (tracked-shelf)) (lambda () (shelf l)))) l))
(hold-it (shelf (shelf)))
(for-each (lambda (kind) (nested kind 3)) kinds)
