; expect: 5: error: car: expected a pair, got nil
(define w (new 'widget "w"))
(call w 'on-close (lambda (self name) (gc) (error "hidden" (list name))))
(call w 'on-click (lambda ()
  (dispose w) (car nil)))
(call w 'click)
