/* set.c - set and frozenset: objects of C, which keep the order in which their items came. */
#include "internal.h"

/* An item that was removed has no key, and its place in the index is GONE. */
typedef struct {
    PyObject *key;
    Py_hash_t hash;
} entry;

struct _setobject {
    PyObject_HEAD
    entry *entries;
    Py_ssize_t *index;              /* numbers of entries: a hash table of twice the capacity */
    Py_ssize_t capacity;            /* of the entries; 0, or a power of two */
    Py_ssize_t used;                /* items */
    Py_ssize_t end;                 /* entries in use, those of removed items too */
    Py_ssize_t taken;               /* places of the index that are not EMPTY */
    size_t changes;                 /* who compares sees that the entries may have moved */
    Py_hash_t hash;                 /* of a frozenset, or -1 */
    PyObject *weakrefs;
};

enum { EMPTY = -1, GONE = -2, FAILED = -2 };

#define S(op) ((PySetObject *)(void *)(op))

/* ---- the table ------------------------------------------------------------ */

static size_t place_for(const PySetObject *s, Py_hash_t hash)
{
    return (size_t)((uint64_t)hash * 0x9e3779b97f4a7c15u >> 32) & (size_t)(2 * s->capacity - 1);
}

static size_t next_place(const PySetObject *s, size_t at)
{
    return (at + 1) & (size_t)(2 * s->capacity - 1);
}

/* The number of the key's entry. EMPTY: it has none. FAILED, with an exception: comparing may run any code. If that
   changes the set, the search begins again. */
static Py_ssize_t find(PySetObject *s, PyObject *key, Py_hash_t hash)
{
    size_t at = s->capacity != 0 ? place_for(s, hash) : 0;
    while (s->capacity != 0 && s->index[at] != EMPTY) {
        Py_ssize_t i = s->index[at];
        size_t changes = s->changes;
        PyObject *other;
        int same;
        if (i == GONE || s->entries[i].hash != hash) {
            at = next_place(s, at);
            continue;
        }
        if (s->entries[i].key == key)
            return i;
        other = Py_NewRef(s->entries[i].key);
        same = PyObject_RichCompareBool(other, key, Py_EQ);
        Py_DECREF(other);
        if (same < 0)
            return FAILED;
        if (s->changes != changes)
            at = s->capacity != 0 ? place_for(s, hash) : 0;
        else if (same > 0)
            return i;
        else
            at = next_place(s, at);
    }
    return EMPTY;
}

static void enter(PySetObject *s, Py_ssize_t i)
{
    size_t at = place_for(s, s->entries[i].hash);
    while (s->index[at] != EMPTY)
        at = next_place(s, at);
    s->index[at] = i;
    s->taken++;
}

/* Room for twice the items, without the traces of those that were removed. */
static int rebuild(PySetObject *s)
{
    Py_ssize_t capacity = 4, i, n = 0;
    entry *entries, *old = s->entries;
    Py_ssize_t *index;
    while (capacity <= s->used)
        capacity *= 2;
    entries = PyMem_Malloc((size_t)capacity * sizeof *entries);
    index = entries != NULL ? PyMem_Malloc(2 * (size_t)capacity * sizeof *index) : NULL;
    if (index == NULL) {
        PyMem_Free(entries);
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < s->end; i++)
        if (old[i].key != NULL)
            entries[n++] = old[i];
    for (i = 0; i < 2 * capacity; i++)
        index[i] = EMPTY;
    PyMem_Free(old);
    PyMem_Free(s->index);
    s->entries = entries;
    s->index = index;
    s->capacity = capacity;
    s->end = n;
    s->taken = 0;
    s->changes++;
    for (i = 0; i < n; i++)
        enter(s, i);
    return 0;
}

static int add(PySetObject *s, PyObject *key, Py_hash_t hash)
{
    Py_ssize_t i = find(s, key, hash);
    if (i != EMPTY)
        return i == FAILED ? -1 : 0;
    if (s->taken == s->capacity && rebuild(s) < 0)
        return -1;
    s->entries[s->end].key = Py_NewRef(key);
    s->entries[s->end].hash = hash;
    enter(s, s->end++);
    s->used++;
    s->changes++;
    return 0;
}

/* Gives the key of an entry, with the set's reference. */
static PyObject *take_out(PySetObject *s, Py_ssize_t i)
{
    PyObject *key = s->entries[i].key;
    size_t at = place_for(s, s->entries[i].hash);
    while (s->index[at] != i)
        at = next_place(s, at);
    s->index[at] = GONE;
    s->entries[i].key = NULL;
    while (s->end > 0 && s->entries[s->end - 1].key == NULL)
        s->end--;
    s->used--;
    s->changes++;
    return key;
}

/* 1: it was there. */
static int discard(PySetObject *s, PyObject *key, Py_hash_t hash)
{
    Py_ssize_t i = find(s, key, hash);
    if (i < 0)
        return i == FAILED ? -1 : 0;
    key = take_out(s, i);
    Py_DECREF(key);
    return 1;
}

/* The set is empty before the first item goes, as that may run any code. */
static int clear(PyObject *op)
{
    PySetObject *s = S(op);
    entry *entries = s->entries;
    Py_ssize_t i, end = s->end;
    PyMem_Free(s->index);
    s->entries = NULL;
    s->index = NULL;
    s->capacity = s->used = s->end = s->taken = 0;
    s->changes++;
    for (i = 0; i < end; i++)
        Py_XDECREF(entries[i].key);
    PyMem_Free(entries);
    return 0;
}

/* The next item, new; *at goes behind it. NULL: there is none. */
static PyObject *next_item(const PySetObject *s, Py_ssize_t *at, Py_hash_t *hash)
{
    while (*at < s->end) {
        const entry *e = &s->entries[(*at)++];
        if (e->key != NULL) {
            *hash = e->hash;
            return Py_NewRef(e->key);
        }
    }
    return NULL;
}

/* ---- making ---------------------------------------------------------------- */

/* Calls f for each item of a set or an iterable. */
static int for_each(PySetObject *s, PyObject *items, int (*f)(PySetObject *, PyObject *, Py_hash_t))
{
    PyObject *it, *item;
    Py_ssize_t at = 0;
    Py_hash_t hash;
    int code = 0;
    if (PyAnySet_Check(items)) {
        while (code >= 0 && (item = next_item(S(items), &at, &hash)) != NULL) {
            code = f(s, item, hash);
            Py_DECREF(item);
        }
        return code < 0 ? -1 : 0;
    }
    it = PyObject_GetIter(items);
    while (it != NULL && code >= 0 && (item = PyIter_Next(it)) != NULL) {
        hash = PyObject_Hash(item);
        code = hash == -1 ? -1 : f(s, item, hash);
        Py_DECREF(item);
    }
    Py_XDECREF(it);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *new_set(PyTypeObject *type, PyObject *items)
{
    PyObject *op = py_ready_type(type) ? type->tp_alloc(type, 0) : NULL;
    if (op == NULL)
        return NULL;
    S(op)->hash = -1;
    if (items != NULL && for_each(S(op), items, add) < 0)
        Py_CLEAR(op);
    return op;
}

/* As CPython's methods, which give no objects of derived types. */
static PyObject *new_like(PyObject *op, PyObject *items)
{
    return new_set(PyFrozenSet_Check(op) ? &PyFrozenSet_Type : &PySet_Type, items);
}

PyObject *PySet_New(PyObject *items) { return new_set(&PySet_Type, items); }
PyObject *PyFrozenSet_New(PyObject *items) { return new_set(&PyFrozenSet_Type, items); }

static PyObject *set_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    return new_set(type, NULL);
}

static int set_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    PyObject *items = NULL;
    if (!_PyArg_NoKeywords("set", kwargs) || !PyArg_UnpackTuple(args, "set", 0, 1, &items))
        return -1;
    clear(op);
    return items != NULL ? for_each(S(op), items, add) : 0;
}

static PyObject *frozenset_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *items = NULL;
    if (type->tp_init == PyFrozenSet_Type.tp_init && !_PyArg_NoKeywords("frozenset", kwargs))
        return NULL;
    if (!PyArg_UnpackTuple(args, "frozenset", 0, 1, &items))
        return NULL;
    return type == &PyFrozenSet_Type && items != NULL && PyFrozenSet_CheckExact(items) ? Py_NewRef(items) : new_set(type, items);
}

static void dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    PyObject_ClearWeakRefs(op);
    clear(op);
    Py_TYPE(op)->tp_free(op);
}

static int traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_ssize_t i;
    for (i = 0; i < S(op)->end; i++)
        Py_VISIT(S(op)->entries[i].key);
    return 0;
}

/* ---- for C ------------------------------------------------------------------- */

static int check(PyObject *op, int ok)
{
    if (op != NULL && ok)
        return 1;
    PyErr_BadInternalCall();
    return 0;
}

Py_ssize_t PySet_Size(PyObject *op)
{
    return check(op, PyAnySet_Check(op)) ? S(op)->used : -1;
}

/* A frozenset may be filled by who has the only reference, before anybody else sees it. */
static int may_add(PyObject *op)
{
    return PySet_Check(op) || (PyFrozenSet_Check(op) && op->ob_refcnt == 1 && S(op)->hash == -1);
}

int PySet_Add(PyObject *op, PyObject *key)
{
    Py_hash_t hash = check(op, may_add(op)) ? PyObject_Hash(key) : -1;
    return hash != -1 ? add(S(op), key, hash) : -1;
}

int PySet_Clear(PyObject *op)
{
    return check(op, PySet_Check(op)) ? clear(op) : -1;
}

int PySet_Contains(PyObject *op, PyObject *key)
{
    Py_hash_t hash = check(op, PyAnySet_Check(op)) ? PyObject_Hash(key) : -1;
    Py_ssize_t i = hash != -1 ? find(S(op), key, hash) : FAILED;
    return i == FAILED ? -1 : i != EMPTY;
}

int PySet_Discard(PyObject *op, PyObject *key)
{
    Py_hash_t hash = check(op, PySet_Check(op)) ? PyObject_Hash(key) : -1;
    return hash != -1 ? discard(S(op), key, hash) : -1;
}

PyObject *PySet_Pop(PyObject *op)
{
    if (!check(op, PySet_Check(op)))
        return NULL;
    if (S(op)->used > 0)
        return take_out(S(op), S(op)->end - 1);
    PyErr_SetString(PyExc_KeyError, "pop from an empty set");
    return NULL;
}

int _PySet_Update(PyObject *op, PyObject *items)
{
    return check(op, PySet_Check(op)) ? for_each(S(op), items, add) : -1;
}

/* Borrowed, as from PyDict_Next. */
int _PySet_NextEntry(PyObject *op, Py_ssize_t *at, PyObject **key, Py_hash_t *hash)
{
    if (!check(op, PyAnySet_Check(op)))
        return -1;
    *key = next_item(S(op), at, hash);
    Py_XDECREF(*key);                   /* the set keeps it */
    return *key != NULL;
}

/* ---- one set and another ------------------------------------------------------ */

/* The items of a that are in b, or are not; a new set like a. */
static PyObject *choose(PyObject *a, PyObject *b, int wanted)
{
    PyObject *result = new_like(a, NULL), *other = PyAnySet_Check(b) ? Py_NewRef(b) : PySet_New(b), *item;
    Py_ssize_t at = 0;
    Py_hash_t hash;
    int code = result == NULL || other == NULL ? -1 : 0;
    while (code == 0 && (item = next_item(S(a), &at, &hash)) != NULL) {
        Py_ssize_t i = find(S(other), item, hash);
        code = i == FAILED ? -1 : (i != EMPTY) == wanted ? add(S(result), item, hash) : 0;
        Py_DECREF(item);
    }
    Py_XDECREF(other);
    if (code < 0)
        Py_CLEAR(result);
    return result;
}

/* What is in one of them only. */
static PyObject *either(PyObject *a, PyObject *b)
{
    PyObject *other = PyAnySet_Check(b) ? Py_NewRef(b) : PySet_New(b);
    PyObject *result = other != NULL ? choose(a, other, 0) : NULL, *more = result != NULL ? choose(other, a, 0) : NULL;
    if (result != NULL && (more == NULL || for_each(S(result), more, add) < 0))
        Py_CLEAR(result);
    Py_XDECREF(more);
    Py_XDECREF(other);
    return result;
}

/* a gets the items of b, which is a new set that goes. Both sets stay whole while the old items go. */
static PyObject *replace(PyObject *a, PyObject *b)
{
    PySetObject old;
    if (b == NULL)
        return NULL;
    old = *S(a);
    S(a)->entries = S(b)->entries;
    S(a)->index = S(b)->index;
    S(a)->capacity = S(b)->capacity;
    S(a)->used = S(b)->used;
    S(a)->end = S(b)->end;
    S(a)->taken = S(b)->taken;
    S(a)->changes++;
    S(b)->entries = old.entries;
    S(b)->index = old.index;
    S(b)->capacity = old.capacity;
    S(b)->used = old.used;
    S(b)->end = old.end;
    S(b)->taken = old.taken;
    Py_DECREF(b);
    Py_RETURN_NONE;
}

/* Is each item of a in b? */
static int is_subset(PyObject *a, PyObject *b)
{
    Py_ssize_t at = 0, i = 0;
    Py_hash_t hash;
    PyObject *item;
    if (S(a)->used > S(b)->used)
        return 0;
    while (i >= 0 && (item = next_item(S(a), &at, &hash)) != NULL) {
        i = find(S(b), item, hash);
        Py_DECREF(item);
    }
    return i == FAILED ? -1 : i != EMPTY;
}

static PyObject *truth(int yes) { return yes < 0 ? NULL : PyBool_FromLong(yes); }

static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
    int yes;
    if (!PyAnySet_Check(a) || !PyAnySet_Check(b))
        Py_RETURN_NOTIMPLEMENTED;
    switch (op) {
    case Py_EQ: case Py_NE:
        yes = S(a)->used != S(b)->used || (S(a)->hash != -1 && S(b)->hash != -1 && S(a)->hash != S(b)->hash) ? 0 : is_subset(a, b);
        return yes < 0 ? NULL : PyBool_FromLong(yes == (op == Py_EQ));
    case Py_LE: return truth(is_subset(a, b));
    case Py_GE: return truth(is_subset(b, a));
    case Py_LT: return S(a)->used < S(b)->used ? truth(is_subset(a, b)) : Py_NewRef(Py_False);
    default: return S(a)->used > S(b)->used ? truth(is_subset(b, a)) : Py_NewRef(Py_False);
    }
}

#define OPERATOR(name, result) \
    static PyObject *name(PyObject *a, PyObject *b) \
    { \
        if (!PyAnySet_Check(a) || !PyAnySet_Check(b)) \
            Py_RETURN_NOTIMPLEMENTED; \
        return result; \
    }

static PyObject *joined(PyObject *a, PyObject *b)
{
    PyObject *result = new_like(a, a);
    if (result != NULL && for_each(S(result), b, add) < 0)
        Py_CLEAR(result);
    return result;
}

/* The operator with =, which gives a itself. */
static PyObject *itself(PyObject *a, PyObject *none)
{
    Py_XDECREF(none);
    return none != NULL ? Py_NewRef(a) : NULL;
}

static PyObject *update(PyObject *a, PyObject *b) { return for_each(S(a), b, add) < 0 ? NULL : Py_NewRef(Py_None); }

/* (Taking a set from itself, it is walked and changed at once.) */
static PyObject *difference_update(PyObject *a, PyObject *b)
{
    if (a == b)
        clear(a);
    return a != b && for_each(S(a), b, discard) < 0 ? NULL : Py_NewRef(Py_None);
}

OPERATOR(set_or, joined(a, b))
OPERATOR(set_and, choose(a, b, 1))
OPERATOR(set_sub, choose(a, b, 0))
OPERATOR(set_xor, either(a, b))
OPERATOR(set_ior, itself(a, update(a, b)))
OPERATOR(set_iand, itself(a, replace(a, choose(a, b, 1))))
OPERATOR(set_isub, itself(a, difference_update(a, b)))
OPERATOR(set_ixor, itself(a, replace(a, either(a, b))))

/* ---- what both types have ------------------------------------------------------- */

static PyObject *repr(PyObject *op)
{
    PyObject *list, *items, *text;
    const char *name = strrchr(Py_TYPE(op)->tp_name, '.');
    int inside = Py_ReprEnter(op);
    name = name != NULL ? name + 1 : Py_TYPE(op)->tp_name;
    if (inside != 0)
        return inside > 0 ? PyUnicode_FromFormat("%s(...)", name) : NULL;
    list = S(op)->used > 0 ? PySequence_List(op) : NULL;
    items = list != NULL ? PyObject_Repr(list) : NULL;
    if (items != NULL) {                /* [...] without its brackets */
        PyObject *inner = PyUnicode_Substring(items, 1, PyUnicode_GET_LENGTH(items) - 1);
        text = inner == NULL ? NULL : PySet_CheckExact(op) ? PyUnicode_FromFormat("{%U}", inner) : PyUnicode_FromFormat("%s({%U})", name, inner);
        Py_XDECREF(inner);
    } else {
        text = PyErr_Occurred() ? NULL : PyUnicode_FromFormat("%s()", name);
    }
    Py_XDECREF(items);
    Py_XDECREF(list);
    Py_ReprLeave(op);
    return text;
}

/* The order of the items does not matter. */
static Py_hash_t frozenset_hash(PyObject *op)
{
    Py_uhash_t h = (Py_uhash_t)S(op)->used * 1927868237u;
    Py_ssize_t i;
    if (S(op)->hash != -1)
        return S(op)->hash;
    for (i = 0; i < S(op)->end; i++)
        if (S(op)->entries[i].key != NULL)
            h ^= ((Py_uhash_t)S(op)->entries[i].hash ^ 89869747u ^ (Py_uhash_t)S(op)->entries[i].hash << 16) * 3644798167u;
    h ^= h >> 11 ^ h >> 25;
    S(op)->hash = (Py_hash_t)h == -1 ? 590923713 : (Py_hash_t)h;
    return S(op)->hash;
}

/* A set, which has no hash, is looked for as the frozenset of its items. *frozen is that, or NULL. */
static Py_hash_t hash_to_find(PyObject *key, PyObject **frozen)
{
    Py_hash_t hash = PyObject_Hash(key);
    *frozen = NULL;
    if (hash != -1 || !PySet_Check(key) || !PyErr_ExceptionMatches(PyExc_TypeError))
        return hash;
    PyErr_Clear();
    *frozen = PyFrozenSet_New(key);
    return *frozen != NULL ? PyObject_Hash(*frozen) : -1;
}

static int contains(PyObject *op, PyObject *key)
{
    PyObject *frozen;
    Py_hash_t hash = hash_to_find(key, &frozen);
    Py_ssize_t i = hash != -1 ? find(S(op), frozen != NULL ? frozen : key, hash) : FAILED;
    Py_XDECREF(frozen);
    return i == FAILED ? -1 : i != EMPTY;
}

static Py_ssize_t length(PyObject *op) { return S(op)->used; }

/* ---- methods ----------------------------------------------------------------------- */

static PyObject *none_or(int code) { return code < 0 ? NULL : Py_NewRef(Py_None); }

static PyObject *method_add(PyObject *op, PyObject *key)
{
    Py_hash_t hash = PyObject_Hash(key);
    return none_or(hash != -1 ? add(S(op), key, hash) : -1);
}

static int discard_any(PyObject *op, PyObject *key)
{
    PyObject *frozen;
    Py_hash_t hash = hash_to_find(key, &frozen);
    int code = hash != -1 ? discard(S(op), frozen != NULL ? frozen : key, hash) : -1;
    Py_XDECREF(frozen);
    return code;
}

static PyObject *method_discard(PyObject *op, PyObject *key) { return none_or(discard_any(op, key)); }

static PyObject *method_remove(PyObject *op, PyObject *key)
{
    int code = discard_any(op, key);
    if (code == 0)
        _PyErr_SetKeyError(key);
    return none_or(code > 0 ? 0 : -1);
}

static PyObject *method_pop(PyObject *op, PyObject *none) { (void)none; return PySet_Pop(op); }
static PyObject *method_clear(PyObject *op, PyObject *none) { (void)none; return none_or(clear(op)); }
static PyObject *method_set_copy(PyObject *op, PyObject *none) { (void)none; return new_like(op, op); }
static PyObject *method_copy(PyObject *op, PyObject *none) { (void)none; return PyFrozenSet_CheckExact(op) ? Py_NewRef(op) : new_like(op, op); }

/* The result of one set after the other. */
static PyObject *fold(PyObject *op, PyObject *args, PyObject *(*f)(PyObject *, PyObject *))
{
    PyObject *result = new_like(op, op), *next;
    Py_ssize_t i;
    for (i = 0; result != NULL && i < PyTuple_GET_SIZE(args); i++) {
        next = f(result, PyTuple_GET_ITEM(args, i));
        Py_SETREF(result, next);
    }
    return result;
}

static PyObject *only(PyObject *a, PyObject *b) { return choose(a, b, 0); }
static PyObject *both(PyObject *a, PyObject *b) { return choose(a, b, 1); }

static PyObject *method_union(PyObject *op, PyObject *args) { return fold(op, args, joined); }
static PyObject *method_difference(PyObject *op, PyObject *args) { return fold(op, args, only); }
static PyObject *method_intersection(PyObject *op, PyObject *args) { return fold(op, args, both); }
static PyObject *method_symmetric(PyObject *op, PyObject *items) { return either(op, items); }

static PyObject *method_update(PyObject *op, PyObject *args)
{
    Py_ssize_t i;
    int code = 0;
    for (i = 0; code == 0 && i < PyTuple_GET_SIZE(args); i++)
        code = for_each(S(op), PyTuple_GET_ITEM(args, i), add);
    return none_or(code);
}

static PyObject *method_difference_update(PyObject *op, PyObject *args)
{
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *none = difference_update(op, PyTuple_GET_ITEM(args, i));
        if (none == NULL)
            return NULL;
        Py_DECREF(none);
    }
    Py_RETURN_NONE;
}

static PyObject *method_intersection_update(PyObject *op, PyObject *args) { return replace(op, fold(op, args, both)); }
static PyObject *method_symmetric_update(PyObject *op, PyObject *items) { return replace(op, either(op, items)); }

/* Compares op with a set of the items. */
static PyObject *with_set(PyObject *op, PyObject *items, int (*f)(PyObject *, PyObject *))
{
    PyObject *other = PyAnySet_Check(items) ? Py_NewRef(items) : PySet_New(items);
    int yes = other != NULL ? f(op, other) : -1;
    Py_XDECREF(other);
    return truth(yes);
}

static int is_superset(PyObject *a, PyObject *b) { return is_subset(b, a); }

static int is_disjoint(PyObject *a, PyObject *b)
{
    PyObject *common = choose(a, b, 1);
    int yes = common != NULL ? S(common)->used == 0 : -1;
    Py_XDECREF(common);
    return yes;
}

static PyObject *method_issubset(PyObject *op, PyObject *items) { return with_set(op, items, is_subset); }
static PyObject *method_issuperset(PyObject *op, PyObject *items) { return with_set(op, items, is_superset); }
static PyObject *method_isdisjoint(PyObject *op, PyObject *items) { return with_set(op, items, is_disjoint); }

static PyObject *method_reduce(PyObject *op, PyObject *none)
{
    PyObject *list = PySequence_List(op), **dict = _PyObject_GetDictPtr(op);
    (void)none;
    return list != NULL ? Py_BuildValue("O(N)O", Py_TYPE(op), list, dict != NULL && *dict != NULL ? *dict : Py_None) : NULL;
}

#define METHODS_OF_BOTH \
    { "union", method_union, METH_VARARGS, NULL }, { "difference", method_difference, METH_VARARGS, NULL }, \
    { "intersection", method_intersection, METH_VARARGS, NULL }, { "symmetric_difference", method_symmetric, METH_O, NULL }, \
    { "issubset", method_issubset, METH_O, NULL }, { "issuperset", method_issuperset, METH_O, NULL }, \
    { "isdisjoint", method_isdisjoint, METH_O, NULL }, { "__reduce__", method_reduce, METH_NOARGS, NULL }

static PyMethodDef set_methods[] = {
    METHODS_OF_BOTH, { "copy", method_set_copy, METH_NOARGS, NULL },
    { "add", method_add, METH_O, NULL }, { "discard", method_discard, METH_O, NULL }, { "remove", method_remove, METH_O, NULL },
    { "pop", method_pop, METH_NOARGS, NULL }, { "clear", method_clear, METH_NOARGS, NULL },
    { "update", method_update, METH_VARARGS, NULL }, { "difference_update", method_difference_update, METH_VARARGS, NULL },
    { "intersection_update", method_intersection_update, METH_VARARGS, NULL },
    { "symmetric_difference_update", method_symmetric_update, METH_O, NULL }, { NULL, NULL, 0, NULL }
};
static PyMethodDef frozenset_methods[] = { METHODS_OF_BOTH, { "copy", method_copy, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

/* ---- iterators ---------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *set;                  /* NULL: at the end */
    Py_ssize_t at, used;
} setiter;

#define I(op) ((setiter *)(void *)(op))

static PyObject *iter(PyObject *op)
{
    PyObject *it = _PyObject_GC_New(&PySetIter_Type);
    if (it == NULL)
        return NULL;
    I(it)->set = Py_NewRef(op);
    I(it)->used = S(op)->used;
    PyObject_GC_Track(it);
    return it;
}

static void iter_dealloc(PyObject *op)
{
    PyObject_GC_UnTrack(op);
    Py_XDECREF(I(op)->set);
    PyObject_GC_Del(op);
}

static int iter_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(I(op)->set);
    return 0;
}

static PyObject *iter_next(PyObject *op)
{
    PyObject *item;
    Py_hash_t hash;
    if (I(op)->set == NULL)
        return NULL;
    if (I(op)->used != S(I(op)->set)->used) {
        I(op)->used = -1;               /* and so it stays */
        return PyErr_Format(PyExc_RuntimeError, "Set changed size during iteration");
    }
    item = next_item(S(I(op)->set), &I(op)->at, &hash);
    if (item == NULL)
        Py_CLEAR(I(op)->set);
    return item;
}

PyTypeObject PySetIter_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "set_iterator", .tp_basicsize = sizeof(setiter), .tp_dealloc = iter_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .tp_traverse = iter_traverse, .tp_iter = PyObject_SelfIter,
    .tp_iternext = iter_next
};

/* ---- the types ------------------------------------------------------------------------ */

static PySequenceMethods as_sequence = { .sq_length = length, .sq_contains = contains };
static PyNumberMethods set_as_number = {
    .nb_subtract = set_sub, .nb_and = set_and, .nb_xor = set_xor, .nb_or = set_or, .nb_inplace_subtract = set_isub, .nb_inplace_and = set_iand,
    .nb_inplace_xor = set_ixor, .nb_inplace_or = set_ior
};
static PyNumberMethods frozenset_as_number = { .nb_subtract = set_sub, .nb_and = set_and, .nb_xor = set_xor, .nb_or = set_or };

PyTypeObject PySet_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "set", .tp_basicsize = sizeof(PySetObject), .tp_dealloc = dealloc,
    .tp_repr = repr, .tp_as_number = &set_as_number, .tp_as_sequence = &as_sequence, .tp_hash = PyObject_HashNotImplemented,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = traverse, .tp_clear = clear,
    .tp_richcompare = richcompare, .tp_weaklistoffset = offsetof(PySetObject, weakrefs), .tp_iter = iter,
    .tp_methods = set_methods, .tp_init = set_init, .tp_new = set_new
};

PyTypeObject PyFrozenSet_Type = {
    PyVarObject_HEAD_INIT(&PyType_Type, 0) .tp_name = "frozenset", .tp_basicsize = sizeof(PySetObject), .tp_dealloc = dealloc,
    .tp_repr = repr, .tp_as_number = &frozenset_as_number, .tp_as_sequence = &as_sequence, .tp_hash = frozenset_hash,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, .tp_traverse = traverse, .tp_clear = clear,
    .tp_richcompare = richcompare, .tp_weaklistoffset = offsetof(PySetObject, weakrefs), .tp_iter = iter,
    .tp_methods = frozenset_methods, .tp_new = frozenset_new
};
