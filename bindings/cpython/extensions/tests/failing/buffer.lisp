; For failing.c: each step may fail for lack of memory, and the rest goes on.

(define (step thunk)
  (try thunk (lambda (m) (unless (equal? m "out of memory") (error m))))
  (assert (check-links))
  (gc)
  (run-pending 0))

(define b nil)
(while (null? b)
  (step (lambda () (set! b (byte-buffer 3)))))
(step (lambda ()
  (let ((size (attr b 'size)))
    (try (lambda () (call b 'append "more"))
         (lambda (m) (assert (= (attr b 'size) size)) (error m)))       ; nothing has changed
    (assert (= (attr b 'size) (+ size 4))))))
(step (lambda () (with (v (call b 'view 1)) (call v 'set 0 (call v 'get 1)) (call v 'text))))
(step (lambda () (call b 'view)))
(step (lambda () (call b 'resize 1000)))        ; no view was left open
