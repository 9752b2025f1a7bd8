; stale.lisp - (Only in debug builds.) They catch the use of a stale borrowed
; reference at once, and say why.

(define (message thunk) (try thunk (lambda (m) m)))
(define (fails text thunk)
  (define got (message thunk))
  (unless (equal? got text) (error "expected:" text "got:" (repr got))))

; ---- a slot that is overwritten, or removed
(define d (dict 'k (string-append "a " "string")))
(assert (equal? (stale d 'k gc) "\"a string\""))        ; it is still there
(fails "cx_repr: stale reference to a string: borrowed by cx_dict_get_item from a dict, which does not hold it any more"
       (lambda () (stale d 'k (lambda () (dict-set! d 'k 1)))))
(define d (dict 'k (list 1)))
(fails "cx_repr: stale reference to a pair: borrowed by cx_dict_get_item from a dict, which does not hold it any more"
       (lambda () (stale d 'k (lambda () (dict-remove! d 'k) (gc)))))
(define d (dict 'k 123456))
(fails "cx_repr: stale reference to a int: borrowed by cx_dict_get_item from a dict, which does not hold it any more"
       (lambda () (stale d 'k (lambda () (dict-set! d 'k 1) (gc)))))
(define other nil)
(define d (dict 'k (list 1)))
(fails "cx_repr: stale reference to a pair: borrowed by cx_dict_get_item from a dict, which does not hold it any more"
       (lambda () (stale d 'k (lambda () (set! other (dict-get d 'k)) (dict-remove! d 'k)))))
(define a (list-make (string-append "in " "a list") 2))
(assert (equal? (stale a 0 gc) "\"in a list\""))
(assert (equal? (stale a 0 (lambda () (array-insert! a 0 'first) (gc))) "\"in a list\""))
(fails "cx_repr: stale reference to a string: borrowed by cx_list_get_item from a array, which does not hold it any more"
       (lambda () (stale a 1 (lambda () (array-remove! a 1) (gc)))))
(define t (tuple (list 1) 5000))
(assert (equal? (stale t 0 (lambda () (gc) (gc-minor))) "(1)"))
(assert (equal? (stale t 1 (lambda () (gc) (gc-minor))) "5000"))

; two origins: one that holds it is enough
(define x (list 'shared))
(define d1 (dict 'k x))
(define d2 (dict 'k x))
(assert (equal? (stale d1 'k (lambda () (stale d2 'k (lambda () nil)) (dict-remove! d1 'k))) "(shared)"))
(assert (null? (dict-get d1 'k)))

; ---- a container that is gone
(define m (message stale-container))
(assert (string-search m "stale reference to a string: borrowed by cx_dict_get_item_string from a dict, which was freed"))

; ---- a call that has returned, a scope that has ended
(define kept (list 'argument))
(borrow kept)
(fails "cx_incref: stale reference to a pair: borrowed by borrow from a call scope, which has ended" use-borrowed)
(borrow (list 'argument))
(gc)
(fails "cx_incref: stale reference to a pair: borrowed by borrow from a call scope, which has ended" use-borrowed)
(assert (string-search (message stale-temporary) "borrowed by cx_temp from a call scope, which has ended"))

; ---- a reference of one's own that was dropped
(fails "cx_repr: stale reference to a dict: C owns no reference to it, and it was not borrowed" released)
(assert (check-links))
