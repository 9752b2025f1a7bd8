; expect: 4: error: car: expected a pair, got nil
(define w (new 'widget "w"))
(call w 'on-click (lambda ()
  (car nil)))
(call w 'click)
