; limited.lisp - run with --heap-limit 512k: it fills up, and all is well after. (Not under stress.)

(define (message thunk) (try thunk (lambda (m) m)))
(define limit (stat 'heap-limit))
(assert (= limit (* 512 1024)))

(define (forever list) (forever (cons 1 list)))
(define (double-string s) (double-string (string-append s s)))
(define (double-vector n) (cons (make-vector n n) (double-vector (* 2 n))))
(define (many-symbols n) (read (string-append "symbol" (to-string n))) (many-symbols (+ n 1)))
(define (no-memory thunk) (assert (equal? (message thunk) "out of memory")))

(define round 0)
(while (< round 5)
  (no-memory (lambda () (forever nil)))
  (no-memory (lambda () (double-string "abcdefgh")))
  (no-memory (lambda () (double-vector 1)))
  (no-memory (lambda () (range 1000000)))
  (no-memory (lambda () (to-string (range 100000))))
  (gc)
  (assert (equal? (map (lambda (x) (* x x)) (range 5)) '(0 1 4 9 16)))
  (set! round (+ round 1)))

; C objects live outside of the heap, their proxies in it
(auto-pending false)
(define n 0)
(define (collect-widgets)
  (let ((all nil))
    (while true
      (set! all (cons (new 'widget "one of many") all))
      (set! n (+ n 1)))))
(no-memory collect-widgets)
(assert (> n 1000))
(assert (check-links))
(gc)
(assert (>= (pending) n))               ; one more may have been on its way
(run-pending 0)
(assert (check-links))
(assert (= (stat 'c-objects) 0))
