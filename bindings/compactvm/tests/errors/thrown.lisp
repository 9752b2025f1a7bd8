; expect: 4: error: no such file: a.txt
(define (open name)
  (when true
    (error "no such file:" name)))
(open "a.txt")
