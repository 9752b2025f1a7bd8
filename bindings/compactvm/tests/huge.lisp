; huge.lisp - more memory than there is: an error, and life goes on.

(define (message thunk) (try thunk (lambda (m) m)))
(define (no-memory thunk) (assert (equal? (message thunk) "out of memory")))

(define most (if (equal? (repr (+ 2147483647 1)) "2147483648") 9223372036854775807 2147483647))     ; of a word
(no-memory (lambda () (make-vector most 0)))
(no-memory (lambda () (make-vector 2000000000 0)))
(no-memory (lambda () (string-repeat "abc" most)))
(no-memory (lambda () (string-repeat "abc" (quotient most 3))))
(no-memory (lambda () (new 'buffer most)))

; much of the heap at once, again and again
(define (kilobytes n) (make-vector (* n 120) n))
(define kept (map kilobytes (range 1 20)))
(define i 0)
(while (< i 200)
  (kilobytes 100)
  (set! i (+ i 1)))
(assert (equal? (map vector-length kept) (map (lambda (n) (* n 120)) (range 1 20))))
(assert (equal? (vector-ref (nth kept 18) 2279) 19))
