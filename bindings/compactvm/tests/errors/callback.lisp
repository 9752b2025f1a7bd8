; expect: 3: error: /: division by zero
(map (lambda (x)
       (/ 1 x))
     '(2 1 0))
