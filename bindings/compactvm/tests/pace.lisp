; pace.lisp - C's memory decides, too, when to collect: here Lisp objects are
; small, and the buffers of C that they stand for are large.

(define (count what) (stat what))
(define stress?                 ; is there a collection at each allocation?
  (let ((before (count 'major-collections)))
    (< (+ before 1) (count 'major-collections))))
(define rounds (if stress? 50 3000))
(define before (count 'c-bytes))
(define most 0)
(define ring (make-vector 20 nil))

; Twenty windows live at a time, and each has a buffer. (Without a handler they are not finalized, which would take
; two collections.) They die when they are old, so that no minor
; collection finds them. When C has a megabyte more than twice of what lives, a major one does.
(define (fill i)
  (when (< i rounds)
    (let ((w (new 'window "w")))
      (call w 'add (new 'buffer 50000))
      (vector-set! ring (modulo i 20) w))
    (let ((now (- (count 'c-bytes) before))) (when (> now most) (set! most now)))
    (fill (+ i 1))))
(fill 0)
(assert (> most 1000000))
; If a tiny slice is done at each allocation, marking takes longer.
(assert (< most (if (> (count 'slices) (* 5 rounds)) 5000000 3300000)))
(when (not stress?) (assert (> (count 'major-collections) 50)))
