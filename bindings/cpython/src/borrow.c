/* borrow.c - where borrowed references come from: debug builds only.
 *
 * A borrowed reference is good as long as the container that it was borrowed from, its origin, lives and
 * holds the object. Each function that gives one notes the origin here. Whoever uses an object on which C
 * owns no reference (by Py_INCREF in an extension, or by giving it to one of the functions that ask) is
 * asked whether one of its origins still holds it. Where none does, the reference is stale, and the program
 * ends and says so, even if the memory is still good by chance.
 *
 * A record outlives its object, so that a pointer into freed memory is known without a look at that:
 * the header's allocator hook tells when an object goes and when its address is used again.
 *
 * What C owns a reference to passes with a look at its count. (Whose reference that is, the count does not
 * say: so a mistake is missed as long as something else in C owns the object.) So does what was never
 * borrowed.
 */
#include "internal.h"

#ifdef RRC_DEBUG

typedef struct record record;

typedef struct origin {
    record *container;
    size_t life;                    /* of the container, when this was noted */
    const char *function;
    struct origin *next;
} origin;

struct record {
    PyObject *ob;                   /* the address: the object may be gone */
    size_t life;                    /* how many objects have been there: even while there is none */
    origin *origins;
    record *next;                   /* in its bucket */
    char type_name[40];
};

enum { LAYOUTS = 4 };               /* an object begins so many bytes behind its memory block */

struct py_borrows {
    record **buckets;
    size_t count, capacity;         /* a power of two */
    size_t layouts[LAYOUTS];
    int layouts_known;
    char *last_block;               /* what the hook gave last */
};

/* ---- records ------------------------------------------------------------- */

static record **bucket(const struct py_borrows *b, const void *ob)
{
    return &b->buckets[((uintptr_t)ob >> 4) * (uintptr_t)2654435761u & (b->capacity - 1)];
}

static record *find(const struct py_borrows *b, const void *ob)
{
    record *r = *bucket(b, ob);
    while (r != NULL && r->ob != ob)
        r = r->next;
    return r;
}

static int grow(struct py_borrows *b)
{
    struct py_borrows bigger = *b;
    size_t i;
    bigger.capacity *= 2;
    bigger.buckets = calloc(bigger.capacity, sizeof *bigger.buckets);
    if (bigger.buckets == NULL)
        return 0;
    for (i = 0; i < b->capacity; i++)
        while (b->buckets[i] != NULL) {
            record *r = b->buckets[i], **to = bucket(&bigger, r->ob);
            b->buckets[i] = r->next;
            r->next = *to;
            *to = r;
        }
    free(b->buckets);
    *b = bigger;
    return 1;
}

static record *find_or_add(struct py_borrows *b, PyObject *ob)
{
    record *r = find(b, ob), **to;
    if (r != NULL)
        return r;
    if (b->count >= b->capacity && !grow(b))
        return NULL;
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->ob = ob;
    r->life = 1;
    snprintf(r->type_name, sizeof r->type_name, "%s", Py_TYPE(ob)->tp_name);
    to = bucket(b, ob);
    r->next = *to;
    *to = r;
    b->count++;
    return r;
}

static void drop_origins(record *r)
{
    while (r->origins != NULL) {
        origin *o = r->origins;
        r->origins = o->next;
        free(o);
    }
}

/* ---- the life of objects -------------------------------------------------- */

static int is_alive(const record *r)
{
    return r->life % 2 != 0;
}

/* What is known of the object in the block, which has just come or is about to go. */
static void note_block(struct py_borrows *b, char *block, int comes)
{
    int i;
    for (i = 0; i < b->layouts_known; i++) {
        record *r = find(b, block + b->layouts[i]);
        if (r != NULL && is_alive(r) != comes)
            r->life++;
        if (r != NULL && comes) {
            drop_origins(r);
            r->type_name[0] = '\0';
        }
    }
}

/* The header's allocator hook. Frees inside collections, too. */
void *py_note_and_realloc(void *userdata, void *ptr, size_t old_size, size_t new_size)
{
    struct py_borrows *b = py_state_of(userdata)->borrows;
    void *result;
    (void)old_size;
    if (b != NULL && ptr != NULL)
        note_block(b, ptr, 0);
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    result = realloc(ptr, new_size);
    if (b != NULL && result != NULL) {
        note_block(b, result, 1);
        b->last_block = result;
    }
    return result;
}

/* One object of each layout tells where objects are in their blocks. 0: no memory. */
static int learn_layouts(struct py_borrows *b)
{
    static PyTypeObject *const samples[LAYOUTS] = { &PyFloat_Type, &PyLong_Type, &PyList_Type, &PyTuple_Type };
    int i;
    for (i = 0; i < LAYOUTS; i++) {
        PyObject *op = py_alloc(samples[i], 1);
        if (op == NULL)
            return 0;
        b->layouts[i] = (size_t)((char *)op - b->last_block);
        PyObject_Free(op);
    }
    b->layouts_known = LAYOUTS;
    return 1;
}

int py_borrows_open(cvm *vm)
{
    struct py_borrows *b = calloc(1, sizeof *b);
    if (b == NULL)
        return 0;
    b->capacity = 64;
    b->buckets = calloc(b->capacity, sizeof *b->buckets);
    py_state_of(vm)->borrows = b;
    return b->buckets != NULL && learn_layouts(b);
}

void py_borrows_free(cvm *vm)
{
    struct py_borrows *b = py_state_of(vm)->borrows;
    size_t i;
    if (b == NULL)
        return;
    for (i = 0; b->buckets != NULL && i < b->capacity; i++)
        while (b->buckets[i] != NULL) {
            record *r = b->buckets[i];
            b->buckets[i] = r->next;
            drop_origins(r);
            free(r);
        }
    free(b->buckets);
    free(b);
    py_state_of(vm)->borrows = NULL;
}

/* ---- does it still hold? --------------------------------------------------- */

static int array_holds(PyObject *const *items, size_t n, const PyObject *ob)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (items[i] == ob)
            return 1;
    return 0;
}

static int dict_holds(PyObject *dict, PyObject *ob)
{
    cvm_value d = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(dict)), p = (cvm_value)rrc_to_obj(py_vm->rrc, _Py_RRC(ob));
    const cvm_value *items;
    size_t i;
    if (d == CVM_NONE || p == CVM_NONE || CVM_DICT_OF(d)->used == 0)
        return 0;
    items = CVM_VECTOR_OF(CVM_DICT_OF(d)->entries)->items;
    for (i = 0; i < 2 * CVM_DICT_OF(d)->used; i++)
        if (items[i] == p)
            return 1;
    return 0;
}

/* Only for an object that lives. */
static int still_holds(const origin *o, PyObject *ob)
{
    PyObject *c = o->container->ob;
    if (o->container->life != o->life)
        return 0;
    return PyTuple_Check(c) ? array_holds(((PyTupleObject *)(void *)c)->ob_item, (size_t)Py_SIZE(c), ob)
         : PyList_Check(c) ? array_holds(((PyListObject *)(void *)c)->ob_item, (size_t)Py_SIZE(c), ob)
         : PyDict_Check(c) && dict_holds(c, ob);
}

/* ---- noting and asking ------------------------------------------------------- */

/* Is there a count that C has put in? Immortal objects count as owned. */
static int is_owned(const PyObject *ob)
{
    return ob->ob_refcnt != RRC_REFCNT_FROM_PYPY && ob->ob_refcnt != RRC_REFCNT_FROM_PYPY_LIGHT;
}

PyObject *py_borrowed(PyObject *ob, PyObject *container, const char *function)
{
    struct py_borrows *b = PY->borrows;
    record *r, *c;
    origin *o;
    if (ob == NULL || ob->ob_refcnt >= RRC_REFCNT_IMMORTAL || b == NULL)
        return ob;
    r = find_or_add(b, ob);
    c = r != NULL ? find_or_add(b, container) : NULL;
    if (c == NULL)
        return ob;                  /* no memory: this one is not watched */
    snprintf(r->type_name, sizeof r->type_name, "%s", Py_TYPE(ob)->tp_name);
    snprintf(c->type_name, sizeof c->type_name, "%s", Py_TYPE(container)->tp_name);
    for (o = r->origins; o != NULL; o = o->next)
        if (o->container == c && o->life == c->life)
            return ob;
    o = malloc(sizeof *o);
    if (o == NULL) {
        drop_origins(r);
        return ob;
    }
    o->container = c;
    o->life = c->life;
    o->function = function;
    o->next = r->origins;
    r->origins = o;
    return ob;
}

static void complain(const char *function, const record *r)
{
    const origin *o = r->origins;   /* the latest */
    char text[200];
    if (o == NULL)
        snprintf(text, sizeof text, "%s: stale reference to %s, which was freed", function, r->type_name);
    else
        snprintf(text, sizeof text, "%s: stale reference to %s: borrowed by %s from %s, which %s", function, r->type_name,
                 o->function, o->container->type_name,
                 o->container->life != o->life ? "was freed" : "does not hold it any more");
    Py_FatalError(text);
}

void _Py_CheckUse(PyObject *ob, const char *function)
{
    const record *r;
    const origin *o;
    if (py_vm == NULL || PY->borrows == NULL || py_vm->closing || py_vm->heap.phase != CVM_MUTATOR)
        return;
    r = find(PY->borrows, ob);
    if (r == NULL || (is_alive(r) && (is_owned(ob) || r->origins == NULL)))
        return;
    for (o = is_alive(r) ? r->origins : NULL; o != NULL; o = o->next)
        if (still_holds(o, ob))
            return;
    complain(function, r);
}

#else

typedef int py_no_borrows;              /* C wants at least one declaration */

#endif
