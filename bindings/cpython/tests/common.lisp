; common.lisp - checks that scripts share.
(define (message thunk) (try thunk (lambda (m) m)))
(define (fails text thunk)              ; text is how the message begins
  (define got (message thunk))
  (when (not (and (string? got) (equal? (string-search got text) 0))) (error "expected:" text "got:" (repr got))))
(define (count what) (stat what))
(define (settle) (gc) (run-pending 0) (gc) (run-pending 0) (gc) (run-pending 0) (assert (check-links)))
(define stress?                         ; is there a collection at each allocation?
  (let ((before (count 'major-collections)))
    (< (+ before 1) (count 'major-collections))))
(define (filter keep? list)
  (reverse (fold (lambda (found x) (if (keep? x) (cons x found) found)) nil list)))
(define (member x list) (fold (lambda (found y) (or found (equal? x y))) false list))
