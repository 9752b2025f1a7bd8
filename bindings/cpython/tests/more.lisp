; more.c: an extension of our own, which says the same in CPython. Here classes of the language have the methods.
(load "bindings/cpython/tests/common.lisp")
(assert (> (string-length (call (import "more") 'run)) 10000))

(define (tells name) (lambda (self . others) (list name (length others))))
(define names (list "iadd" "isub" "imul" "itruediv" "ifloordiv" "imod" "iand" "ior" "ixor" "ilshift" "irshift" "imatmul" "ipow"
                    "matmul" "pow" "divmod"))
(define signs (list "+=" "-=" "*=" "/=" "//=" "%=" "&=" "|=" "^=" "<<=" ">>=" "@=" "**=" "@" "**" "divmod"))
(define methods (dict))
(for-each (lambda (name) (dict-set! methods (to-string "__" name "__") (tells name))) names)
(define All (class "All" (list) methods))
(define Plain (class "Plain" (list) (dict)))
(define (each f a b) (when (not (null? a)) (f (car a) (car b)) (each f (cdr a) (cdr b))))
(each (lambda (sign name) (assert (equal? (py sign (All) 1) (list name 1)) sign)) signs names)
(for-each (lambda (sign) (fails "TypeError: unsupported operand" (lambda () (py sign (Plain) (Plain))))) signs)
(assert (equal? (py "**" (All) 1 2) (list "pow" 2)))
(define Right (class "Right" (list) (dict "__rmatmul__" (tells "r") "__rpow__" (tells "r") "__rdivmod__" (tells "r"))))
(for-each (lambda (sign) (assert (equal? (py sign (Plain) (Right)) (list "r" 1)) sign)) (list "@" "@=" "**" "**=" "divmod"))
; without the method in place, the other one is called
(define Old (class "Old" (list) (dict "__sub__" (tells "sub") "__pow__" (tells "pow"))))
(assert (equal? (py "-=" (Old) 1) (list "sub" 1)))
(assert (equal? (py "**=" (Old) 1) (list "pow" 1)))

; formats
(assert (equal? (call "{:>4}|{!r:<5}|{:.2f}" 'format 1 "a" 2.5) "   1|'a'  |2.50"))
(define Shown (class "Shown" (list) (dict "__format__" (lambda (self spec) (string-append "<" spec ">")))))
(assert (equal? (call "{:abc}" 'format (Shown)) "<abc>"))
(define Bad (class "Bad" (list) (dict "__format__" (lambda (self spec) 5))))
(fails "TypeError: __format__ must return a str" (lambda () (call "{}" 'format (Bad))))
(fails "ValueError: Unknown format code 'd'" (lambda () (call "{:d}" 'format "a")))

; a sequence of the language, backwards
(define reversed (builtin "reversed"))
(assert (equal? (as-list (reversed (array 1 2 3))) (array 3 2 1)))
(assert (equal? (as-list (reversed (tuple "a" "b"))) (array "b" "a")))
(define Back (class "Back" (list) (dict "__reversed__" (lambda (self) (iter (array 9))))))
(assert (equal? (as-list (reversed (Back))) (array 9)))
