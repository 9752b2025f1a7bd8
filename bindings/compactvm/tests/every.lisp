; every.lisp - every procedure, with arguments of every kind. (Not under stress.)
; There may be an error, never a crash, and nothing is broken afterwards.

(define procedures
  (list + - * / quotient modulo = < > <= >= hex
        null? pair? number? string? symbol? procedure? eq? equal? not
        cons car cdr set-car! set-cdr! list length append reverse nth range
        map for-each fold apply
        string-length string-append string-repeat string-search
        to-string repr
        vector make-vector vector-length vector-ref vector-set!
        try error eval load read gc-minor address where stat
        new call dispose hold held release c-address c-sees c-refs c-log
        explanation pending run-pending next-dead check-links gc-collect))
(define (samples)
  (list nil 0 -1 2.5 1e300 "text" 'car '(1 2) '(1 . 2) (vector 1 2) car (lambda x x)
        (new 'point 1 2) (new 'widget "sample") (new 'document "sample") (new 'buffer 5) (new 'window "sample")))
(define tried 0)
(define (quietly f . args)
  (set! tried (+ tried 1))
  (try (lambda () (apply f args)) (lambda (m) (assert (string? m)))))
(for-each
  (lambda (f)
    (quietly f)
    (for-each
      (lambda (a)
        (quietly f a)
        (quietly f a a a)
        (quietly f a a a a a)
        (for-each (lambda (b) (quietly f a b)) (samples)))
      (samples)))
  procedures)
(assert (> tried 20000))
(assert (check-links))
(gc)
(run-pending 0)
(assert (check-links))

; more arguments than the stack has room for
(assert (equal? (try (lambda () (apply + (range 100000))) (lambda (m) m))
                "recursion too deep"))
(assert (= (apply + (range 10000)) 49995000))
