; expect: 3: error: unbound variable: just-a-name
(define x 1)
just-a-name
