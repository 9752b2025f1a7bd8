; huge.lisp - more memory than there is: an error, and life goes on.

(define (message thunk) (try thunk (lambda (m) m)))
(define (no-memory thunk) (assert (equal? (message thunk) "out of memory")))

(no-memory (lambda () (make-vector 1e12 0)))
(no-memory (lambda () (make-vector 1e300 0)))
(no-memory (lambda () (make-vector (* 1e308 10) 0)))
(no-memory (lambda () (string-repeat "abc" 1e15)))
(no-memory (lambda () (string-repeat "abc" 1e300)))
(no-memory (lambda () (new 'buffer 1e12)))
(no-memory (lambda () (new 'buffer 1e300)))

; much of the heap at once, again and again
(define (kilobytes n) (make-vector (* n 120) n))
(define kept (map kilobytes (range 1 20)))
(define i 0)
(while (< i 200)
  (kilobytes 100)
  (set! i (+ i 1)))
(assert (equal? (map vector-length kept) (map (lambda (n) (* n 120)) (range 1 20))))
(assert (equal? (vector-ref (nth kept 18) 2279) 19))
