; expect: 4: error: caught: inner
(try
  (lambda () (error "inner"))
  (lambda (m) (error "caught:" m)))
