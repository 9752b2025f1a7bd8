; common.lisp - what the scripts here share: the names of probe.c, and checks.
(define probe (attr (import "probe") '__dict__))
(for-each (lambda (name) (eval (list 'define (string->symbol name) (item probe name)))) (dict-keys probe))
(define (message thunk) (try thunk (lambda (m) m)))
(define (fails text thunk)              ; text is how the message begins
  (define got (message thunk))
  (unless (and (string? got) (equal? (string-search got text) 0)) (error "expected:" text "got:" (repr got))))
(define (count what) (dict-get (stats) what))
(define (settle) (gc) (run-pending 0) (gc) (run-pending 0) (gc) (run-pending 0) (assert (check-links)))
(define stress?                         ; is there a collection at each allocation?
  (let ((before (count 'major-collections)))
    (< (+ before 1) (count 'major-collections))))
