; gone.lisp - what garbage owns. For a looker all of it is whole. For a keeper, which promises not to
; look, the host object of a view can be gone, and each function of the API that is given one must fail
; with an error (see probe.c).

(define (message thunk) (try thunk (lambda (m) m)))
(define (clean-up) (gc) (run-pending 0) (gc) (run-pending 0))

; how many objects keepers found gone, and how many whole
(define (found? gone whole)
  (clean-up)
  (let ((k (tuple->list (keepers-found))))
    (unless (equal? k (list gone whole)) (error "found" k "expected" gone whole))
    true))
(found? 0 0)

; Objects of every kind whose data is the host's. (Symbols never die while the VM lives.)
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

; Those whose data has come to C before: they stay whole.
(define (looked look x) (look x) x)
(define whole-makers
  (list (lambda () (looked str-copy (text)))
        (lambda () (looked tuple-items (range-tuple 300 303)))
        (lambda () (looked tuple-items (tuple (box 1) (text))))
        (lambda () (looked tuple-items (tuple 1 (text) 5000 (list 1 2))))
        (lambda () (looked list-items (array 1 (text) 5000)))
        (lambda () 1.5)
        (lambda () 5000)
        (lambda () "constant")
        (lambda () (box (text)))))

; Everything is old when it dies: a minor collection keeps what a dead owner owns.
(define k nil)
(define (drop-old f) (set! k (f)) (gc) (set! k nil) (clean-up))

; ---- dropped: the keeper is deallocated
(for-each (lambda (make) (drop-old (lambda () (keeper (make)))) (found? 1 0)) makers)
(for-each (lambda (make) (drop-old (lambda () (keeper (make)))) (found? 0 1)) whole-makers)
(keeper (dict 'a 1))                            ; young, unless everything is old at once
(clean-up)
(keepers-found)

; ---- whoever looks finds all whole: dropped, in a cycle, in a chain, with a finalizer
(for-each (lambda (make) (drop-old (lambda () (looker (make)))) (found? 0 1)) (append makers whole-makers))
(define (whole-in-cycle f)
  (drop-old f)
  (let ((k (tuple->list (keepers-found)))) (assert (= (nth k 0) 0)) (assert (> (nth k 1) 0))))
(whole-in-cycle (lambda () (let ((l (list nil))) (set-car! l (looker l (text) (dict 'l l))))))
(whole-in-cycle (lambda () (let ((d (dict))) (dict-set! d 'k (last-looker d (list d))))))
(whole-in-cycle (lambda () (let ((a (array))) (array-push! a (looker a (text) (tuple a))))))
(whole-in-cycle (lambda () (define k nil) (define (f) k) (set! k (looker f (text)))))
(define (chain n) (if (= n 0) nil (let ((next (chain (- n 1)))) (looker (lambda () next) (text)))))
(drop-old (lambda () (chain 10)))
(found? 0 20)

; ---- an owner whose proxy is gone already
(for-each (lambda (make) (hold-it (keeper (make))) (clean-up) (drop-it) (clean-up)) makers)
(found? 0 (length makers))              ; C has let go of it: nothing else had died yet

; ---- all at once, each twice
(define (all) (append (map (lambda (make) (make)) makers) (map (lambda (make) (make)) makers)))
(drop-old (lambda () (apply keeper (all))))
(found? (* 2 (length makers)) 0)

; ---- in a cycle through the host object, or through another keeper
(define (in-cycle f) (drop-old f) (assert (> (tuple-ref (keepers-found) 0) 0)))
(in-cycle (lambda () (let ((l (list nil))) (set-car! l (keeper l (text) (dict 'l l))))))
(in-cycle (lambda () (let ((d (dict))) (dict-set! d 'k (keeper d (list d))))))
(in-cycle (lambda () (let ((v (vector 1))) (vector-set! v 0 (keeper v (text))))))
(in-cycle (lambda () (let ((a (array))) (array-push! a (keeper a (text) (tuple a))))))
(in-cycle (lambda () (let ((a (array (text)))) (list-items a) (array-push! a (keeper a (text) (tuple a))))))
(in-cycle (lambda () (let ((l (list nil))) (set-car! l (keeper (looked tuple-items (tuple l (text) 5000)) l)))))
; (a box looks, and owns the keeper)
(whole-in-cycle (lambda () (let ((b (box nil))) (call b (quote swap) (apply keeper (cons b (all)))))))
(in-cycle (lambda () (define k nil) (define (f) k) (set! k (keeper f (text)))))

; ---- with a finalizer: what it sees is whole, and what the deallocator sees is not
(drop-old (lambda () (last-keeper (dict 'k (text)) (list 1) (text) (tuple (text)) (array (text)))))
(clean-up)
(assert (>= (tuple-ref (keepers-found) 1) 5))
(in-cycle (lambda () (let ((l (list nil))) (set-car! l (apply last-keeper (cons l (all)))) l)))

; ---- it is saved, and used later
(save-gone true)
(define (first-line m) (assert (string-search m "host object")) m)
(for-each
  (lambda (make)
    (drop-old (lambda () (keeper (make))))
    (first-line (message held-it))
    (first-line (message held-it))
    (assert (check-links))
    (drop-it)
    (clean-up))
  makers)
(save-gone false)
(keepers-found)

; ---- an object in C that holds one: Lisp cannot see the item
(save-gone true)
(drop-old (lambda () (keeper (dict 'a 1))))
(save-gone false)
(first-line (message (lambda () (call-it held-it))))
(drop-it)

(assert (check-links))

; ---- taken from the queue, when some of the garbage is in pieces: never a view without data
(auto-pending false)
(define taken 0)
(define (take-all)                              ; (Under stress what was taken is soon dead again.)
  (let ((x (and (< taken 50) (next-dead))))
    (when x
      (set! taken (+ taken 1))
      (take-all))))
(define (in-a-ring make)
  (let ((l (list nil)))
    (set-car! l (keeper l (box (make)) (make)))
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
  (range 1 30))
(assert (> taken 0))
(auto-pending true)
(clean-up)
(keepers-found)
(assert (check-links))

; ---- at the end of the VM: the finalizers run as well, and all is still there
(define whole-at-the-end (apply looker (all)))
(define whole-in-a-cycle (let ((l (list nil))) (set-car! l (apply last-looker (cons l (all)))) l))
(define whole-in-a-chain (chain 10))
(define at-the-end (apply keeper (append (list 'symbol (looked str-copy (text))) (all))))
(define at-the-end-too (apply last-keeper (append (list 'symbol (looked tuple-items (tuple 1 (text)))) (all))))
(define in-a-cycle (let ((l (list nil))) (set-car! l (apply last-keeper (cons l (all)))) l))
(hold-it (apply keeper (all)))
