; dicts.lisp - dicts from C: opaque objects whose data is the host's.
(load "bindings/cpython/tests/probe/common.lisp")

(define x (list 'x))
(define d (dict 'a 1 "b" 2000 300000 'c x (list 4) 2.5 nil))
(assert (= (dict-size d) 5))
(assert (= (dict-get-it d 'a) 1))
(assert (= (dict-get-it d "b") 2000))
(assert (= (dict-get-it d (string-append "" "b")) 2000))
(assert (eq? (dict-get-it d 300000) 'c))
(assert (eq? (dict-get-it d x) (dict-get d x)))
(assert (null? (dict-get-it d 2.5)))
(assert (null? (dict-get-it d 'nothing)))
(assert (dict-contains d 'a))
(assert (not (dict-contains d 'nothing)))
(assert (null? (dict-get-text d)))
(dict-set-text d 77777)
(assert (= (dict-get-text d) 77777))
(assert (= (dict-get d "text") 77777))
(assert (eq? (dict-get d "text") 77777))        ; also after C borrowed it
(assert (= (+ 1 (dict-get d "text")) 77778))
(assert (equal? (dict-values (dict 1 (dict-get d "text"))) '(77777)))
(assert (dict-delete d "text"))
(assert (not (dict-delete d "text")))
(define made (dict-make 'k 1 "l" (list 2) 3000 4000))
(assert (equal? (dict-keys made) '(k "l" 3000)))
(assert (equal? (dict-values made) '(1 (2) 4000)))
(fails "SystemError" (lambda () (dict-get-it 5 1)))
(fails "SystemError" (lambda () (dict-size nil)))

; ---- walks
(assert (equal? (array->list (dict-walk made)) '(k 1 "l" (2) 3000 4000)))
(assert (equal? (dict-keys made) '(k "l" 3000)))
(assert (= (dict-get made 3000) 4000))
(assert (eq? (car (dict-keys (dict 70000 1))) 70000))
(assert (equal? (array->list (dict-walk (dict))) nil))
(assert (= (dict-walk-count d) 5))

; values may change, keys may go, during a walk
(define (numbers n) (let ((d (dict))) (for-each (lambda (i) (dict-set! d (+ 1000 i) i)) (range n)) d))
(define d (numbers 20))
(dict-walk d (lambda (k v) (dict-set! d k (* 2 v))))
(assert (= (fold + 0 (dict-values d)) 380))
(define seen nil)
(dict-walk d (lambda (k v) (set! seen (cons k seen)) (dict-remove! d k) (dict-remove! d (+ k 1))))
(assert (= (length seen) 10))
(assert (= (dict-size d) 0))
(assert (= (dict-walk-count d) 0))

(define d (numbers 5))
(fails "RuntimeError: oops" (lambda () (dict-walk d (lambda (k v) (error "oops")))))

; it is linear: a walk over a dict that is ten times as large takes about ten times as many steps
(assert (= (dict-walk-count (numbers 3000)) 3000))

; ---- held by C
(define d (dict 'inner (list 1 2)))
(hold-it d)
(define c (c-address d))
(set! d nil)
(settle)
(assert (= (c-address (held-it)) c))
(assert (equal? (dict-get (held-it) 'inner) '(1 2)))
(drop-it)
(settle)

; ---- what C has borrowed stays good while it stands in the dict, also if it is closed there
(define (settle) (gc) (run-pending 0) (gc) (run-pending 0))
(define (closing close) (lambda (x) (lambda () (close x) (settle))))
(define (lend-and x what) (while-borrowed (dict 'k x) 'k (what x)))
(settle)
(define before (boxes))
(assert (equal? (lend-and (box 1) (closing close)) "<box of None>"))
(assert (equal? (lend-and (box 1) (closing (lambda (x) (with x (lambda (y) nil))))) "<box of None>"))
(settle)
(assert (= (boxes) before))

; the one who borrowed it makes it part of a cycle
(define b (box 1))
(define d (dict 'k b))
(while-borrowed d 'k (lambda () (call b 'swap d) (set-attr! b 'content (list b d)) nil))
(close b)
(assert (closed? b))
(assert (closed? (dict-get d 'k)))
(assert (= (boxes) (+ before 1)))               ; it stays as long as its proxy
(set! b nil)
(set! d nil)
(settle)
(assert (= (boxes) before))

; what nobody has borrowed is deallocated at once
(define b (box 1))
(define d (dict 'k b))
(close b)
(assert (= (boxes) before))
(assert (check-links))
