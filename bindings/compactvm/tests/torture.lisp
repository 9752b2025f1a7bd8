; torture.lisp - programs that allocate and change things all the time. Their
; results are known, so that every value the collector loses is seen.

; ---- trees
(define (tree n) (if (= n 0) nil (let ((l (tree (- n 1)))) (cons l (tree (- n 1))))))
(define (leaves t) (if (null? t) 1 (+ (leaves (car t)) (leaves (cdr t)))))
(assert (= (leaves (tree 6)) 64))

(define (insert t key)
  (cond ((null? t) (vector key nil nil))
        ((< key (vector-ref t 0)) (vector-set! t 1 (insert (vector-ref t 1) key)) t)
        (else (vector-set! t 2 (insert (vector-ref t 2) key)) t)))
(define (in-order t rest)
  (if (null? t) rest
      (in-order (vector-ref t 1) (cons (vector-ref t 0) (in-order (vector-ref t 2) rest)))))
(define (scramble n) (map (lambda (i) (modulo (* i 37) 101)) (range n)))
(assert (equal? (in-order (fold insert nil (scramble 101)) nil) (range 101)))

; ---- lists: a merge sort
(define (split list)
  (let ((a nil) (b nil))
    (for-each (lambda (x) (let ((t a)) (set! a (cons x b)) (set! b t))) list)
    (cons a b)))
(define (merge a b)
  (let ((out nil))
    (while (and (pair? a) (pair? b))
      (if (< (car a) (car b))
          (begin (set! out (cons (car a) out)) (set! a (cdr a)))
          (begin (set! out (cons (car b) out)) (set! b (cdr b)))))
    (append (reverse out) a b)))
(define (sort list)
  (if (or (null? list) (null? (cdr list))) list
      (let ((halves (split list)))
        (merge (sort (car halves)) (sort (cdr halves))))))
(assert (equal? (sort (scramble 101)) (range 101)))

; ---- closures that share and change their variables
(define (account)
  (let ((balance 0))
    (list (lambda (n) (set! balance (+ balance n)) balance)
          (lambda () balance))))
(define accounts (map (lambda (i) (account)) (range 20)))
(for-each (lambda (i)
            (for-each (lambda (a) ((nth a 0) i)) accounts))
          (range 10))
(assert (= (fold (lambda (sum a) (+ sum ((nth a 1)))) 0 accounts) 900))
(define (compose . fs) (fold (lambda (f g) (lambda (x) (g (f x)))) (lambda (x) x) fs))
(assert (= ((apply compose (map (lambda (n) (lambda (x) (+ x n))) (range 50))) 0) 1225))

; ---- strings and reals
(define s "")
(for-each (lambda (i) (set! s (string-append s (to-string i) ","))) (range 60))
(assert (= (string-length s) (+ 20 150)))
(define sum 0.0)
(for-each (lambda (i) (set! sum (+ sum (/ i 2.0)))) (range 100))
(assert (= sum 2475.0))

; ---- errors on the way
(define (risky i) (if (= 0 (modulo i 3)) (error "third" (list i)) (list i)))
(define results (map (lambda (i) (try (lambda () (risky i)) (lambda (m) m))) (range 10)))
(assert (equal? (nth results 3) "third (3)"))
(assert (equal? (nth results 4) '(4)))

; ---- reading
(define text (repr (list 'a "b" '(1 2.5 (3)) '(x . y))))
(define (read-again n) (while (> n 0) (assert (equal? (repr (read text)) text)) (set! n (- n 1))))
(read-again 10)

; ---- C objects among all that
(define root (new 'widget "root"))
(for-each (lambda (i)
            (let ((w (new 'widget (to-string "child" i))))
              (call w 'on-click (lambda (x) (list i x)))
              (call root 'add w)))
          (range 30))
(gc)
(for-each (lambda (i)
            (let ((w (call root 'child i)))
              (assert (equal? (call w 'name) (to-string "child" i)))
              (assert (equal? (call w 'click 'ping) (list i 'ping)))))
          (range 30))
(assert (check-links))
(set! root nil)
(gc)
(run-pending 0)
(gc)
(assert (check-links))
