; CPython's _bisectmodule.c: what test_bisect.py checks.
(define m (import "_bisect"))
(define right (attr m 'bisect_right))
(define left (attr m 'bisect_left))
(define ValueError (builtin "ValueError"))

(for-each (lambda (case)
            (let ((f (nth case 0)) (data (nth case 1)) (x (nth case 2)) (expected (nth case 3)))
              (assert (= (f data x) expected) case)))
  (list
    (list right (array) 1 0)            (list right (array 1) 0 0)
    (list right (array 1) 1 1)          (list right (array 1) 2 1)
    (list right (array 1 1) 0 0)        (list right (array 1 1) 1 2)
    (list right (array 1 1 1) 1 3)      (list right (array 1 2) 1.5 1)
    (list right (array 1 2 2 3 3 3 4 4 4 4) 3 6)
    (list right (array 1 2 2 3 3 3 4 4 4 4) 3.5 6)
    (list left (array) 1 0)             (list left (array 1) 1 0)
    (list left (array 1) 2 1)           (list left (array 1 1) 1 0)
    (list left (array 1 2 2 3 3 3 4 4 4 4) 3 3)
    (list left (array 1 2 2 3 3 3 4 4 4 4) 4 6)
    (list right (tuple 10 20 30) 20 2)  (list left (range-tuple 100) 42 42)
    (list right "abcd" "c" 3)))

; bounds and keywords
(assert (= (left (array 1 2 3 3 3 4) 3 3) 3))
(assert (= (right (array 1 2 3 3 3 4) 3 0 3) 3))
(assert (= (call-kw right (list) (dict "a" (array 10 20 30) "x" 25 "lo" 0 "hi" 2)) 2))
(assert (catch ValueError (lambda () (left (array 1 2 3) 5 -1 3))))
(assert (catch (builtin "TypeError") (lambda () (right 10 10))))
(assert (catch (builtin "TypeError") (lambda () (right (array 10)))))
(assert (catch (builtin "TypeError") (lambda () (call-kw right (list (array 1) 1) (dict "nonsense" 1)))))
(define many (range-tuple 0 4000000000000000000))
(assert (= (right many 3999999999999999000) 3999999999999999001))

; a key
(define words (array "Aa" "bB" "cccc"))
(define (lower s) (string-length s))
(assert (= (call-kw left (list words 4) (dict "key" lower)) 2))
(call-kw (attr m 'insort_right) (list words "ddd") (dict "key" lower))
(assert (equal? words (array "Aa" "bB" "ddd" "cccc")))

; insort
(define data (array))
(for-each (lambda (x) (call m 'insort_right data x)) (list 5 1 4 1 5 9 2 6))
(assert (equal? data (array 1 1 2 4 5 5 6 9)))
(call m 'insort_left data 1.0)
(assert (number? (array-ref data 0)))
(define log (array))
(define Listlike (class "Listlike" (list) (dict
  "__len__" (lambda (self) 3)
  "__getitem__" (lambda (self i) (* i 10))
  "insert" (lambda (self i x) (array-push! log (tuple i x))))))
(call m 'insort_right (Listlike) 15)
(assert (equal? log (array (tuple 2 15))))

; items that cannot be compared
(define Failing (class "Failing" (list) (dict "__lt__" (lambda (self other) (raise ValueError "no order")))))
(assert (catch ValueError (lambda () (right (array 1 2 3) (Failing)))))
(assert (catch (builtin "TypeError") (lambda () (right (array 1 2 3) "x"))))
(gc)
(check-links)
