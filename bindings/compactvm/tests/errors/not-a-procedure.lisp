; expect: 3: error: this is not a procedure: "text"
(define f "text")
(f 1)
