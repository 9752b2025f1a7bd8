; common.lisp - the names of probe.c, and checks.
(load "bindings/cpython/tests/common.lisp")
(define probe (attr (import "probe") '__dict__))
(for-each (lambda (name) (eval (list 'define (read name) (item probe name)))) (dict-keys probe))
