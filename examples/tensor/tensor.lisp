; tensor.lisp - a tensor, its gradient, and the gradient's wrapper. What is told is asserted first.

(define (say . words) (display "   ") (apply print words))
(define (scene title) (print) (print title))
(define (settle) (gc-minor) (gc) (run-pending 0) (assert (check-links)))
(define (tensors) (- (dict-get (stats) 'tracked) types))
(define (grad t) (attr t 'grad))
(define (says t text) (assert (equal? (call t 'grad-state) text)) (say "The gradient has" text))
(auto-pending false)
(define types (dict-get (stats) 'tracked))

; ---------------------------------------------------------------------------
(scene "1. Never exported.")
(define a (tensor 1 2 3))
(call a 'backward)
(say "The tensor is" a "and C has computed its gradient.")
(says a "no wrapper; references in C: 1")

; ---------------------------------------------------------------------------
(scene "2. Exported, and held.")
(define g (grad a))
(set-attr! g 'name "slope of a")
(assert (eq? (grad a) (grad a)))
(settle)
(assert (eq? g (grad a)))
(say "Lisp looks at it:" g "and gives it the name" (attr g 'name))
(say "(eq? (grad a) (grad a)) is" (eq? (grad a) (grad a)))
(says a "a wrapper; references in C: 1")

; ---------------------------------------------------------------------------
(scene "3. Dropped by Lisp, kept by the tensor.")
(set! g nil)
(settle)
(settle)
(says a "a wrapper; references in C: 1")
(say "Nothing in Lisp has it any more, and everything was collected twice.")

; ---------------------------------------------------------------------------
(scene "2 again. Wanted again: nothing was lost.")
(assert (equal? (attr (grad a) 'name) "slope of a"))
(say "It is" (grad a) "and its name is" (attr (grad a) 'name))
(call a 'backward)
(assert (equal? (attr (grad a) 'name) "slope of a"))
(say "C adds to it, in place:" (grad a) "is still the" (attr (grad a) 'name))

; Also what it is: an object of a type that was made in Lisp.
(define named-tensor
  (type 'named-tensor tensor
    (dict 'describe (lambda (self) (string-append (attr self 'name) " is " (to-string self))))))
(set! types (+ types 1))
(define (named name . values)
  (let ((t (apply named-tensor values)))
    (set-attr! t 'name name)
    t))
(define b (named "b" 4))
(set-attr! b 'grad (named "the slope of b" 8))
(settle)
(settle)
(assert (is-a? (grad b) named-tensor))
(assert (equal? (call (grad b) 'describe) "the slope of b is [8]"))
(say "One whose type was made in Lisp:" (call (grad b) 'describe))

; ---------------------------------------------------------------------------
(scene "C lets go: the wrapper is held by Lisp alone, and dies with the tensor.")
(define before (tensors))
(set-attr! b 'grad nil)
(settle)
(assert (= before 4))
(assert (= (tensors) 3))
(assert (equal? (call b 'grad-state) "no gradient"))
(say "Tensors before:" before "and after:" (tensors))

; ---------------------------------------------------------------------------
(scene "The same with an O link: a state that would lose something is refused.")
(define p (plain-tensor 1 2 3))
(call p 'backward)
(define g (grad p))
(define refused (try (lambda () (set-attr! g 'name "slope of p")) (lambda (message) message)))
(assert (equal? refused "a plain-tensor cannot have attributes such as name"))
(say "A name?" refused)
(says p "a wrapper; references in C: 1")
(set! g nil)
(settle)
(say "Lisp drops it:")
(says p "no wrapper; references in C: 1")
(assert (equal? (to-string (grad p)) "[2 4 6]"))
(say "The next look makes another one, with the same tensor:" (grad p))

; ---------------------------------------------------------------------------
(scene "Nothing leaks.")
(set-attr! (grad a) 'owner a)           ; a owns the gradient in C, that has the wrapper, and that a
(set! a nil)
(set! b nil)
(set! p nil)
(define before (tensors))
(settle)
(settle)
(assert (= (tensors) 0))
(say "Tensors before:" before "and after:" (tensors))
(say "One of them was owned by its gradient's attribute: a cycle through both heaps.")
