/* by_hand.c - what a VM can have instead of the header: a small VM like that of examples/port.c, whose objects do not
 * move, and counted objects of C, joined by hand. A collection stops the world. It subtracts the references between
 * objects of C, and those of the VM, from their counts. What is left comes from outside, and is marked from. The rest
 * is freed, with cycles over both heaps. There are no finalizers and no slices, and nothing is checked. A dealloc runs
 * inside the collection, so it must not use the VM. A long list of which C drops the head exhausts the stack.
 *
 * count_port.c has the same scenes with the header. */
#include <stdint.h>
#include <stdlib.h>
#include "count.h"

typedef struct object {                 /* of the VM */
    struct object  *next, *next_gray, *field[2];
    struct counted *ob;                 /* it is linked, and owns a reference to its object of C */
    char            marked;
} object;

typedef struct counted {                /* of C */
    const struct kind *kind;
    intptr_t           count, outside;  /* references; those that nothing explains */
    object            *p;
    struct counted    *next, **link;    /* of all, and what refers to it there */
    struct counted    *next_reached;
    char               is_view, reached;
} counted;

typedef struct kind {
    size_t size;
    void (*traverse)(counted *self, void (*visit)(counted *ob));
    void (*clear)(counted *self);
} kind;

static object *all, *gray, *root;
static counted *objects, *reached_now;

/* ---- counts and links ---- */

static void enlist(counted *ob, counted **list)
{
    ob->next = *list;
    ob->link = list;
    if (*list != NULL)
        (*list)->link = &ob->next;
    *list = ob;
}

static void delist(counted *ob)
{
    *ob->link = ob->next;
    if (ob->next != NULL)
        ob->next->link = ob->link;
}

static counted *new_counted(const kind *of)
{
    counted *ob = count_realloc(NULL, NULL, 0, of->size);
    *ob = (counted){ .kind = of, .count = 1 };
    enlist(ob, &objects);
    return ob;
}

static void drop(counted *ob)
{
    if (--ob->count > 0)
        return;
    ob->kind->clear(ob);
    delist(ob);
    count_realloc(NULL, ob, ob->kind->size, 0);
}

/* The reference of the caller goes to p. Or ob is C's view of p, and the caller keeps his. */
static void link_give(object *p, counted *ob)
{
    ob->p = p;
    p->ob = ob;
}

static void link_view(object *p, counted *ob)
{
    link_give(p, ob);
    ob->is_view = 1;
    ob->count++;
}

/* ---- a collection ---- */

static void reach(counted *ob)
{
    if (ob->reached)
        return;
    ob->reached = 1;
    ob->next_reached = reached_now;
    reached_now = ob;
}

static void mark(object *p)
{
    if (p == NULL || p->marked)
        return;
    p->marked = 1;
    p->next_gray = gray;
    gray = p;
    if (p->ob != NULL)
        reach(p->ob);
}

static void mark_all(void)
{
    object *p;
    counted *ob;
    for (;;)
        if ((p = gray) != NULL) {
            gray = p->next_gray;
            mark(p->field[0]);
            mark(p->field[1]);
        } else if ((ob = reached_now) != NULL) {
            reached_now = ob->next_reached;
            if (ob->is_view)
                mark(ob->p);
            ob->kind->traverse(ob, reach);
        } else
            return;
}

static void explain(counted *ob) { ob->outside--; }

static void sweep(void)
{
    object **at = &all, *p;
    while ((p = *at) != NULL)
        if (p->marked) {
            p->marked = 0;
            at = &p->next;
        } else {
            *at = p->next;
            count_realloc(NULL, p, sizeof *p, 0);
        }
}

static void collect(void)
{
    counted *ob, *next, *garbage = NULL;
    mark(root);
    mark_all();
    for (ob = objects; ob != NULL; ob = ob->next)
        ob->outside = ob->count - (ob->p != NULL);
    for (ob = objects; ob != NULL; ob = ob->next)
        ob->kind->traverse(ob, explain);
    for (ob = objects; ob != NULL; ob = ob->next)
        if (ob->outside > 0)
            reach(ob);
    mark_all();
    for (ob = objects; ob != NULL; ob = next) {
        next = ob->next;
        if (ob->p != NULL && !ob->p->marked) {
            ob->p = NULL;
            ob->count--;
        }
        if (!ob->reached) {
            ob->count++;                /* held until all garbage is cleared */
            delist(ob);
            enlist(ob, &garbage);
        }
        ob->reached = 0;
    }
    for (ob = garbage; ob != NULL; ob = ob->next)
        ob->kind->clear(ob);
    while (garbage != NULL)
        drop(garbage);
    sweep();
}

/* ---- the scenes: buttons, each with a proxy and a callback that mentions it; views that C holds ---- */

typedef struct button { counted head; counted *on_click; } button;

static void traverse_button(counted *self, void (*visit)(counted *ob))
{
    if (((button *)self)->on_click != NULL)
        visit(((button *)self)->on_click);
}

static void clear_button(counted *self)
{
    counted *old = ((button *)self)->on_click;
    ((button *)self)->on_click = NULL;
    if (old != NULL)
        drop(old);
}

static void traverse_view(counted *self, void (*visit)(counted *ob)) { (void)self, (void)visit; }
static void clear_view(counted *self) { (void)self; }

static const kind Button = { sizeof(button), traverse_button, clear_button };
static const kind View = { sizeof(counted), traverse_view, clear_view };

enum { BUTTONS = 10000 };

static object *make(object *a, object *b)
{
    object *p = count_memory(sizeof *p);
    *p = (object){ .next = all, .field = { a, b } };
    return all = p;
}

static void must_have(int n)
{
    counted *ob;
    for (ob = objects; ob != NULL; ob = ob->next)
        n--;
    if (n != 0)
        abort();
}

static void start(void)
{
    all = root = NULL;
    objects = NULL;
}

static void buttons(void)
{
    start();
    for (int i = 0; i < BUTTONS; i++) {
        button *ob = (button *)new_counted(&Button);
        object *p = make(NULL, NULL);
        link_give(p, &ob->head);
        root = make(p, root);
        ob->on_click = new_counted(&View);
        link_view(make(p, NULL), ob->on_click);
    }
    collect();
    must_have(2 * BUTTONS);
}

static void dead_buttons(void)
{
    buttons();
    root = NULL;
}

static void held_views(void)
{
    must_have(0);                       /* (the dead buttons are gone) */
    start();
    for (int i = 0; i < BUTTONS; i++)
        link_view(make(NULL, NULL), new_counted(&View));
    collect();
    must_have(BUTTONS);
}

void op_hand_live(void);
void op_hand_die(void);
void op_hand_held(void);
void op_hand_live(void) { collect(); }
void op_hand_die(void) { collect(); }
void op_hand_held(void) { collect(); }

const count_op count_hand[] = {
    { "150 lines by hand: a collection, a button lives", "op_hand_live", op_hand_live, buttons, BUTTONS },
    { "150 lines by hand: a collection, a button dies", "op_hand_die", op_hand_die, dead_buttons, BUTTONS },
    { "150 lines by hand: a collection, a view that C holds lives", "op_hand_held", op_hand_held, held_views, BUTTONS },
    { NULL, NULL, NULL, NULL, 0 }
};
