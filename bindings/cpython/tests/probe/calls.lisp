; calls.lisp - calls both ways, errors, closing.
(load "bindings/cpython/tests/probe/common.lisp")

; ---- calls
(assert (= (call-it + 1 2 3) 6))
(assert (= (call-it (lambda (x y) (* x y)) 6 7) 42))
(assert (equal? (call-it list 1 "a" 'b (list 2) 3000) '(1 "a" b (2) 3000)))
(assert (= (call-it call-it call-it call-it + 1 2) 3))
(assert (= (apply call-it (cons + (range 100))) 4950))
(assert (equal? (map (make-adder 5) '(1 2 3)) '(6 7 8)))
(assert (= (call-it (make-adder 7) 1) 8))
(assert (procedure? call-it))
(assert (instance? (call-it box 5) box))
(fails "TypeError: 'int' object is not callable" (lambda () (call-it 5)))

; an error goes through C
(fails "RuntimeError: oops" (lambda () (call-it (lambda () (error "oops")))))
(fails "RuntimeError: oops" (lambda () (call-it call-it (lambda () (error "oops")))))
(fails "RuntimeError: car: expected a pair, got 5" (lambda () (map (lambda (x) (call-it car x)) '(5))))
(fails "ValueError: no" (lambda () (call-it (lambda () (raise (builtin "ValueError") "no")))))
(fails "RecursionError" (lambda () (define (deep) (+ 1 (call-it deep))) (deep)))
(assert (= (call-it + 1 2) 3))

; ---- errors
(fails "SystemError" no-error)
(fails "ValueError: an error and a result" both)
(assert (equal? (message-of (lambda () (error "caught in C"))) "caught in C"))
(assert (equal? (message-of (lambda () 5)) ""))
(define ran false)
(fails "ValueError: the first error" (lambda () (meanwhile (lambda () (set! ran true)))))
(assert ran)
(fails "ValueError: the first error" (lambda () (meanwhile (lambda () (error "another one")))))

; ---- with: closes in the end, whatever happens
(define b nil)
(assert (= (with (box 5) (lambda (x) (set! b x) (attr x 'content))) 5))
(assert (closed? b))
(assert (equal? (repr b) "#<disposed>"))
(assert (equal? (message (lambda () (with (box 5) (lambda (x) (set! b x) (error "inside"))))) "inside"))
(assert (closed? b))
(assert (null? (with (box 5) (lambda (x)))))
(assert (= (with (box 1) (lambda (x) (with (box 2) (lambda (y) (+ (attr x 'content) (attr y 'content)))))) 3))
(with (box 5) (lambda (x) (close x)))                    ; twice is harmless
(define x 'outer)
(with (box 5) (lambda (x) (define inner x)))
(assert (eq? x 'outer))
(fails "with: expected an object that can be closed, got 5" (lambda () (with 5 (lambda (x) (error "not reached")))))
(fails "with: expected a procedure, got 5" (lambda () (with (box 5) 5)))
(fails "oops" (lambda () (with (error "oops") (lambda (x) x))))

; ---- use afterwards is an error that says so
(close b)
(close b)
(define gone "ReferenceError: the object was closed")
(fails gone (lambda () (attr b 'content)))
(fails gone (lambda () (set-attr! b 'content 1)))
(fails gone (lambda () (call b 'swap 1)))
(fails gone (lambda () (check-box b)))
(fails "this is not a procedure: #<disposed>" (lambda () (define f (make-adder 1)) (close f) (f 1)))
(assert (not (closed? (box 1))))
(assert (not (closed? 5)))
(fails "close: expected an object that can be closed, got 5" (lambda () (close 5)))

; deallocated at once, if C does not hold it
(settle)
(define before (boxes))
(define b (box 5))
(assert (= (boxes) (+ before 1)))
(close b)
(assert (= (boxes) before))
(define b (box 5))
(hold-it b)
(close b)
(assert (= (boxes) (+ before 1)))
(assert (null? (attr (held-it) 'content)))
(drop-it)
(settle)                                        ; it had got another proxy
(assert (= (boxes) before))

; a `close` that fails: it is closed all the same
(define Handle (class "Handle" (list) (dict "close" (lambda (self) (error "the handle is stuck")))))
(define h (Handle))
(fails "RuntimeError: the handle is stuck" (lambda () (close h)))
(assert (closed? h))
(close h)
(fails "RuntimeError: the handle is stuck" (lambda () (with (Handle) (lambda (x) 5))))
(fails "inside" (lambda () (with (Handle) (lambda (x) (error "inside")))))       ; of two errors the first
(settle)

; ---- locks, and a thread that leaves its VM
(assert (locks))
