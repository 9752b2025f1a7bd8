; lookers.lisp - what garbage owns is whole for its deallocators and finalizers: dropped, in a cycle, in a
; chain, at the end of the VM.
(load "bindings/cpython/tests/probe/common.lisp")
(define last-looker (item probe "last-looker"))
(define (found? n)
  (settle)
  (let ((k (lookers-found))) (when (not (= k n)) (error "found" k "expected" n))))
(found? 0)

; Objects of every kind whose data is the host's.
(define (text) (string-append "te" "xt" "!"))
(define makers
  (list (lambda () (dict 'a 1 "b" (list 2)))
        (lambda () (dict))
        (lambda () (list 1 2))
        (lambda () (vector 1 2))
        (lambda () (let ((x 1)) (lambda () x)))
        text
        (lambda () (tuple 1 (text) 5000))
        (lambda () (tuple))
        (lambda () (range-tuple 3))
        (lambda () (array 1 (text) 5000))
        (lambda () (array))))

; Those whose data has come to C before, or was made there.
(define (looked look x) (look x) x)
(define other-makers
  (list (lambda () (looked str-copy (text)))
        (lambda () (looked tuple-items (tuple (box 1) (text))))
        (lambda () (looked tuple-items (tuple 1 (text) 5000 (list 1 2))))
        (lambda () (looked list-items (array 1 (text) 5000)))
        (lambda () (list-make 1 (text) (box 2)))
        (lambda () (tuple-make 1 (text) (dict 'a (text))))
        (lambda () (str-fill 10 "x"))
        (lambda () 1.5)
        (lambda () 5000)
        (lambda () "constant")
        (lambda () (box (text)))))

; Everything is old when it dies: a minor collection keeps what a dead owner owns.
(define k nil)
(define (drop-old f) (set! k (f)) (gc) (set! k nil) (settle))
(for-each (lambda (make) (drop-old (lambda () (looker (make)))) (found? 1)) (append makers other-makers))
(for-each (lambda (make) (drop-old (lambda () (last-looker (make)))) (found? 2)) (append makers other-makers))
(looker (dict 'a 1))                            ; young, unless everything is old at once
(settle)
(assert (> (lookers-found) 0))

; ---- all at once, each twice
(define (all) (append (map (lambda (make) (make)) makers) (map (lambda (make) (make)) other-makers)))
(drop-old (lambda () (apply looker (all))))
(found? (length (all)))

; ---- in a cycle through the host's object, or through another looker
(define (in-cycle f)
  (drop-old f)
  (assert (> (lookers-found) 0)))
(in-cycle (lambda () (let ((l (list nil))) (set-car! l (looker l (text) (dict 'l l))))))
(in-cycle (lambda () (let ((d (dict))) (dict-set! d 'k (last-looker d (list d))))))
(in-cycle (lambda () (let ((v (vector 1))) (vector-set! v 0 (looker v (text))))))
(in-cycle (lambda () (let ((a (array))) (array-push! a (looker a (text) (tuple a))))))
(in-cycle (lambda () (let ((a (array (text)))) (list-items a) (array-push! a (looker a (text) (tuple a))))))
(in-cycle (lambda () (let ((l (list nil))) (set-car! l (looker (looked tuple-items (tuple l (text) 5000)) l)))))
(in-cycle (lambda () (let ((b (box nil))) (call b 'swap (apply looker (cons b (all)))))))
(in-cycle (lambda () (define k nil) (define (f) k) (set! k (looker f (text)))))
(in-cycle (lambda () (let ((l (list nil))) (set-car! l (apply last-looker (cons l (all)))) l)))
(define (chain n) (if (= n 0) nil (let ((next (chain (- n 1)))) (looker (lambda () next) (text)))))
(drop-old (lambda () (chain 10)))
(found? 20)

; ---- held by C for a while
(for-each (lambda (make) (hold-it (looker (make))) (settle) (drop-it)) makers)
(found? (length makers))

; ---- taken from the queue, when some of the garbage is in pieces
(auto-pending false)
(define taken 0)
(define (take-all)                              ; (Under stress what was taken is soon dead again.)
  (let ((x (and (< taken 50) (next-dead))))
    (when x
      (set! taken (+ taken 1))
      (take-all))))
(define (in-a-ring make)
  (let ((l (list nil)))
    (set-car! l (looker l (box (make)) (make)))
    l))
(define rings nil)
(for-each
  (lambda (portion)
    (set! rings (map in-a-ring makers))
    (gc)
    (set! rings nil)
    (gc)
    (run-pending portion)
    (take-all))
  (range 1 (if stress? 8 30)))
(assert (> taken 0))
(auto-pending true)
(settle)

; ---- at the end of the VM: the finalizers run as well, and all is still there
(define at-the-end (apply looker (all)))
(define in-a-cycle (let ((l (list nil))) (set-car! l (apply last-looker (cons l (all)))) l))
(define in-a-chain (chain 10))
(hold-it (apply looker (all)))
