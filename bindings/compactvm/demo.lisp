; demo.lisp - what a link does, told by what the program measures itself.
; Every claim is asserted before it is printed: the demo fails if one is false.

(define (say . words) (display "   ") (apply print words))
(define (scene n title) (print) (print (to-string n ". " title)))
(define (count what) (dict-get (stats) what))
(define types (count 'p-old))           ; which are linked from the start: they do not count here
(define (views) (- (count 'p-old) types))
(define (proxies) (+ (count 'o-young) (count 'o-old)))
(define (place x) (string-append (hex (address x)) " (" (where x) ")"))

(auto-pending false)            ; deallocators run when we say so: it is our story

(print "Two heaps. Lisp objects are moved about by a tracing collector; C objects stay where")
(print "malloc put them, until their reference count drops to zero. Links tie them together.")

; ---------------------------------------------------------------------------
(scene 1 "A Lisp object moves, and its link follows.")

(define rubbish (range 200))    ; so that there will be a gap to close
(gc-minor)
(define song (list 'do 're 'mi))
(hold 'song song)               ; C code now has a reference to it
(define c-side (c-address song))
(define first (address song))
(assert (= (c-sees song) first))
(say "The list" song "is at" (place song))
(say "Its C object is at" (hex c-side) "and sees the list at" (hex (c-sees song)))

(gc-minor)
(define second (address song))
(assert (not (= first second)))
(assert (= (c-sees song) second))
(say "Minor collection: now at" (place song) "- C sees it at" (hex (c-sees song)))

(set! rubbish nil)
(gc)
(define third (address song))
(assert (not (= second third)))
(assert (= (c-sees song) third))
(assert (= (c-address song) c-side))
(say "Major collection: now at" (place song) "- C sees it at" (hex (c-sees song)))

; ---------------------------------------------------------------------------
(scene 2 "Identity, both ways.")

(assert (eq? (held 'song) song))
(say "C returns what it holds, and it is the very same list: (eq? (held 'song) song) is"
     (eq? (held 'song) song))
(define objects (count 'c-objects))
(hold 'again song)
(assert (= (c-address song) c-side))
(assert (= (count 'c-objects) objects))
(assert (= (c-refs song) 2))
(say "Given to C again, the list comes with the same C object, which has"
     (c-refs song) "references now.")
(release 'again)

; ---------------------------------------------------------------------------
(scene 3 "C keeps a Lisp object alive, and lets it go.")

(set! song nil)
(gc)
(assert (equal? (held 'song) '(do re mi)))
(assert (= (views) 1))
(say "Lisp has forgotten the list. After a collection C still finds" (held 'song))
(release 'song)
(gc)
(assert (= (views) 0))
(assert (= (count 'c-objects) (- objects 1)))
(say "C has let it go. After the next collection there are" (views) "links left.")

; ---------------------------------------------------------------------------
(scene 4 "A light object is freed at once.")

(define corner (new 'point 3 4))
(call corner 'move 10 10)
(define objects (count 'c-objects))
(say "A point made in C, used from Lisp: x" (call corner 'x) "y" (call corner 'y)
     "- C objects in all:" objects)
(set! corner nil)
(gc)
(assert (= (count 'c-objects) (- objects 1)))
(assert (= (pending) 0))
(say "Forgotten, and the collection has freed it: C objects" (count 'c-objects)
     "- left to do:" (pending))

; ---------------------------------------------------------------------------
(scene 5 "A deallocator runs later, outside the collection.")

(define goodbye nil)
(define button (new 'widget "ok"))
(define (say-goodbye self name)
  (gc)                          ; a collection, in a deallocator: it is allowed
  (set! goodbye (string-append "goodbye from " name)))
(call button 'on-close say-goodbye)
(set! button nil)
(gc)
(assert (= (pending) 1))
(assert (null? (c-log)))
(assert (null? goodbye))
(say "The proxy of a widget has died. Nothing has run yet; waiting:" (pending))
(define collections (count 'major-collections))
(define done (run-pending 0))
(define notes (c-log))
(assert (= done 1))
(assert (equal? notes '("widget \"ok\" deallocated")))
(assert (equal? goodbye "goodbye from ok"))
(assert (= (count 'major-collections) (+ collections 1)))
(say "At a time of our choice:" (nth notes 0) "- its Lisp handler said:" goodbye)
(say "The handler even ran a whole collection; none of this could happen inside one.")
(set! say-goodbye nil)
(gc)                            ; the handler goes too, now that C let go of it

; ---------------------------------------------------------------------------
(scene 6 "A resurrection from the queue.")

(define bird (new 'widget "phoenix"))
(define nest (c-address bird))
(set! bird nil)
(gc)
(assert (= (pending) 1))
(say "The proxy of another widget has died; its C object at" (hex nest) "waits to follow.")
(set! bird (next-dead))
(assert (equal? (call bird 'name) "phoenix"))
(assert (= (c-address bird) nest))
(assert (= (pending) 0))
(gc)
(assert (= (run-pending 0) 0))
(assert (null? (c-log)))
(say "We take it from the queue: it is called" (call bird 'name) "and is still at"
     (hex (c-address bird)))
(set! bird nil)
(gc)
(run-pending 0)
(define notes (c-log))
(assert (equal? notes '("widget \"phoenix\" deallocated")))
(say "It dies like any other, the second time:" (nth notes 0))

; ---------------------------------------------------------------------------
(scene 7 "A C object outlives its proxy and gets a new one.")

(define diary (new 'document "diary"))
(hold 'desk diary)
(call diary 'write "Dear diary, today I was collected.")
(define paper (c-address diary))
(define before (proxies))
(set! diary nil)
(gc)
(assert (= (proxies) (- before 1)))
(assert (= (pending) 0))
(say "C holds a document. Its proxy has died: proxies before" before "and after" (proxies))
(define diary (held 'desk))
(assert (= (c-address diary) paper))
(assert (= (proxies) before))
(assert (equal? (call diary 'text) "Dear diary, today I was collected."))
(say "Asked for it, C gives it a new proxy. The text is all there:")
(say (repr (call diary 'text)))
(release 'desk)
(set! diary nil)
(gc)
(run-pending 0)
(define notes (c-log))
(assert (equal? notes '("document \"diary\" deallocated")))
(say "When both sides are done with it:" (nth notes 0))

; ---------------------------------------------------------------------------
(scene 8 "A cycle through both heaps is collected.")

(define (links) (+ (count 'p-young) (views) (proxies)))
(define (looped name)           ; a widget whose callback closes over the widget
  (let ((w (new 'widget name)))
    (call w 'on-click (lambda () (string-append (call w 'name) " was clicked")))
    w))
(define free (looped "free"))
(define kept (looped "kept"))
(hold 'kept kept)
(assert (equal? (call free 'click) "free was clicked"))
(assert (= (count 'c-objects) 4))
(assert (= (links) 4))
(say "Two widgets. Each owns its callback, in C; each callback is a closure that mentions its")
(say "widget, in Lisp. Two circles, one half in each heap. One of the widgets is held by C code.")
(say "C objects" (count 'c-objects) "- links" (links) "- C objects that own others, and are tracked:"
     (count 'tracked))
(set! free nil)
(set! kept nil)
(gc)
(assert (= (links) 2))
(assert (= (pending) 1))
(say "Lisp forgets both. One collection later: links" (links) "- left to do:" (pending))
(define picture "build/demo.dot")
(define drawn (try (lambda () (dump-dot picture) true) (lambda (message) false)))
(define done (run-pending 0))
(define notes (c-log))
(assert (equal? notes '("widget \"free\" deallocated")))
(assert (= (count 'c-objects) 2))
(assert (= done 2))
(say "Done, with" done "objects gone:" (nth notes 0) "- C objects" (count 'c-objects) "- links" (links))
(assert (equal? (call (held 'kept) 'click) "kept was clicked"))
(say "The other one answers still:" (call (held 'kept) 'click))
(assert (string-search (explanation (held 'kept)) "1 reference from outside keeps it alive"))
(say "Why is it alive? The C side's own answer:")
(explain (held 'kept))
(release 'kept)
(gc)
(run-pending 0)
(assert (equal? (c-log) '("widget \"kept\" deallocated")))
(assert (= (count 'c-objects) 0))
(say "C lets go of it. After the next collection: C objects" (count 'c-objects) "- links" (links))

(define (chain first n)         ; each callback mentions the next widget, and the last one the first
  (let ((w first))
    (while (> n 1)
      (let ((next (new 'widget "link")))
        (call w 'on-click (lambda () next))
        (set! w next))
      (set! n (- n 1)))
    (call w 'on-click (lambda () first))
    nil))
(chain (new 'widget "link") 10000)
(gc)
(run-pending 0)
(define gone (length (c-log)))
(assert (= gone 10000))
(assert (= (count 'c-objects) 0))
(say "A ring of" gone "widgets and as many closures, which crosses the border 20000 times: gone,")
(say "in one collection. C objects" (count 'c-objects) "- links" (links))
(when drawn
  (say "A picture of the moment after the first collection is in" picture))

; ---------------------------------------------------------------------------
(check-links)
(assert (= (links) 0))
(assert (= (count 'c-objects) 0))
(print)
(print "All eight scenes came true, in" (count 'minor-collections) "minor and"
       (count 'major-collections) "major collections that moved" (count 'moved) "objects.")
(print "No link and no C object is left over.")
