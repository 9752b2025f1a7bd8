/* type.c - types: P link, full. Both sides have a part of them.
 *
 * C has the slots: a type is a cx_type, whose address is what its objects have as their
 * type. The host has the attributes: the methods that Lisp gives to a type stand in a dict
 * of its proxy (see attr.c). So C's references to a type keep its proxy.
 *
 * Types that extensions or Lisp make are heap types: each object of the type owns a
 * reference to it, which the header counts, so that a type goes when nothing needs it any
 * more. The VM's own types are part of the VM, and immortal: an int costs no count.
 *
 * The type of a type is a metatype, usually `type`. Objects are made by calling their
 * type: tp_call of the metatype calls tp_new, which calls tp_alloc, and then tp_init.
 */
#include "impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- asking -------------------------------------------------------------- */

cx_type *cx_builtin_type(cvm *vm, cx_builtin which)
{
    return &CX_STATE(vm)->types[which];
}

/* Objects of C libraries that do not use this API are all alike to it. */
cx_type *cxi_type_of(cvm *vm, rrc_object *ob)
{
    return RRC_TYPE(ob)->tp_flags & CX_TPFLAGS_READY ? (cx_type *)(uintptr_t)RRC_TYPE(ob)
                                                     : cx_builtin_type(vm, CX_FOREIGN);
}

cx_type *cx_type_of(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_type_of", ob) ? cxi_type_of(vm, ob) : NULL;
}

int cx_is_subtype(const cx_type *type, const cx_type *base)
{
    while (type != NULL && type != base)
        type = type->tp_base;
    return type != NULL;
}

int cx_type_check(cvm *vm, rrc_object *ob, const cx_type *type)
{
    return cxi_any(vm, "cx_type_check", ob) && cx_is_subtype(cxi_type_of(vm, ob), type);
}

int cx_check(cvm *vm, const char *who, rrc_object *ob, const cx_type *type)
{
    char wanted[80];

    if (!cxi_any(vm, who, ob))
        return 0;
    if (cx_is_subtype(cxi_type_of(vm, ob), type))
        return 1;
    snprintf(wanted, sizeof wanted, "a %.70s", type->type.tp_name);
    cx_err_expected(vm, who, wanted, ob);
    return 0;
}

int cxi_is_type(cvm *vm, rrc_object *ob)
{
    return cx_is_subtype(cxi_type_of(vm, ob), cx_builtin_type(vm, CX_TYPE));
}

cx_type *cx_as_type(cvm *vm, rrc_object *ob)
{
    if (!cxi_any(vm, "cx_as_type", ob))
        return NULL;
    if (cxi_is_type(vm, ob))
        return (cx_type *)ob;
    cx_err_expected(vm, "cx_as_type", "a type", ob);
    return NULL;
}

/* ---- making objects ------------------------------------------------------ */

static rrc_object *generic_alloc(cvm *vm, cx_type *type, size_t n)
{
    int is_gc = (type->type.tp_flags & RRC_TPFLAGS_HAVE_GC) != 0;
    rrc_object *ob;

    if (n > 0 && type->type.tp_itemsize == 0)
        return cx_err_set(vm, "%s: objects of this type have no items", type->type.tp_name);
    if (n > SIZE_MAX / 16)
        return cx_err_no_memory(vm);
    ob = is_gc ? rrc_gc_new_var(vm->rrc, &type->type, n) : rrc_new_var(vm->rrc, &type->type, n);
    if (ob == NULL)
        return cx_err_no_memory(vm);
    if (is_gc && rrc_gc_track(vm->rrc, ob) != RRC_OK) {
        rrc_decref(vm->rrc, ob);
        return cx_err_no_memory(vm);
    }
    return ob;
}

rrc_object *cx_new_var(cvm *vm, cx_type *type, size_t n)
{
    return type->tp_alloc(vm, type, n);
}

rrc_object *cx_new(cvm *vm, cx_type *type)
{
    return cx_new_var(vm, type, 0);
}

void cx_free(rrc_heap *heap, rrc_object *self)
{
    if (RRC_TYPE(self)->tp_free != NULL)
        RRC_TYPE(self)->tp_free(heap, self);
    else
        rrc_gc_del(heap, self);
}

/* The tp_new of object: what the type's own tp_init does with the arguments, is its affair. */
static rrc_object *object_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    (void)args;
    if (n > 0 && type->tp_init == NULL)
        return cx_err_set(vm, "%s: expected 0 arguments, got %lu", type->type.tp_name, (unsigned long)n);
    return cx_new(vm, type);
}

/* The tp_call of type: an object of the type `self`. */
static rrc_object *type_call(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    cx_type *type = (cx_type *)self;
    rrc_object *ob;

    if (type->tp_new == NULL || (type->type.tp_flags & CX_TPFLAGS_NO_NEW) != 0)
        return cx_err_set(vm, "%s: objects of this type cannot be made by a call", type->type.tp_name);
    ob = type->tp_new(vm, type, args, n);
    if (ob == NULL || vm->failed || !cx_is_subtype(cxi_type_of(vm, ob), type))
        return ob;
    type = cxi_type_of(vm, ob);
    if (type->tp_init == NULL || type->tp_init(vm, ob, args, n) == 0)
        return ob;
    rrc_decref(vm->rrc, ob);
    return NULL;
}

/* ---- inheritance --------------------------------------------------------- */

static size_t count_members(const rrc_member *members)
{
    size_t n = 0;

    while (members != NULL && members[n].name != NULL)
        n++;
    return n;
}

/* The members of base and its own, in a table that belongs to the type. 0: no memory. */
static int join_members(cx_type *t, const cx_type *base)
{
    size_t n = count_members(base->type.tp_members), own = count_members(t->type.tp_members);
    rrc_member *all = malloc((n + own + 1) * sizeof *all);

    if (all == NULL)
        return 0;
    memcpy(all, base->type.tp_members, n * sizeof *all);
    memcpy(all + n, t->type.tp_members, (own + 1) * sizeof *all);
    t->tp_memory[1] = all;
    t->type.tp_members = all;
    return 1;
}

/* What the collector needs. Whoever writes a traverse by hand visits what the base owns, too. */
static int inherit_gc(cvm *vm, cx_type *t, const cx_type *base)
{
    int by_hand = t->type.tp_traverse != NULL || t->type.tp_clear != NULL;

    t->type.tp_flags |= base->type.tp_flags & RRC_TPFLAGS_HAVE_GC;
    if (!by_hand && t->type.tp_members == NULL) {
        t->type.tp_traverse = base->type.tp_traverse;
        t->type.tp_clear = base->type.tp_clear;
        t->type.tp_members = base->type.tp_members;
    } else if (!by_hand && base->type.tp_traverse != NULL) {
        cx_err_set(vm, "%s: its base %s has a tp_traverse: it needs its own, which calls that one",
                   t->type.tp_name, base->type.tp_name);
        return 0;
    } else if (!by_hand && base->type.tp_members != NULL && !join_members(t, base)) {
        cx_err_no_memory(vm);
        return 0;
    }
    return 1;
}

#define INHERIT(slot) \
    do { \
        if (t->slot == 0) \
            t->slot = base->slot; \
    } while (0)

static void inherit_slots(cx_type *t, const cx_type *base)
{
    INHERIT(type.tp_basicsize);
    INHERIT(type.tp_itemsize);
    INHERIT(type.tp_dealloc);
    INHERIT(type.tp_free);
    INHERIT(type.tp_finalize);
    INHERIT(type.tp_clear_weakrefs);
    INHERIT(tp_new);
    INHERIT(tp_init);
    INHERIT(tp_alloc);
    INHERIT(tp_call);
    INHERIT(tp_repr);
    INHERIT(tp_close);
    t->type.tp_flags |= base->type.tp_flags & CX_TPFLAGS_HAVE_ATTRS;
}

static const char *what_is_wrong(const cx_type *t, const cx_type *base)
{
    int is_light = (t->type.tp_flags & CX_TPFLAGS_LIGHT) != 0;

    if ((base->type.tp_flags & CX_TPFLAGS_BASETYPE) == 0)
        return "its base cannot be based upon (CX_TPFLAGS_BASETYPE)";
    if (t->type.tp_basicsize < base->type.tp_basicsize)
        return "its tp_basicsize is smaller than that of its base";
    if (is_light && (t->type.tp_dealloc != NULL || t->type.tp_members != NULL || t->type.tp_finalize != NULL
                     || (t->type.tp_flags & (RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_HAVE_ATTRS)) != 0))
        return "a type with CX_TPFLAGS_LIGHT owns nothing: it has no tp_dealloc, tp_finalize, tp_members, "
               "attributes or HAVE_GC";
    return NULL;
}

static cx_type *metatype_for(cvm *vm, cx_type *base, cx_type *wanted)
{
    cx_type *of_base = cxi_type_of(vm, &base->type.ob_base);

    if (wanted == NULL || cx_is_subtype(of_base, wanted))
        return of_base;
    return cx_is_subtype(wanted, of_base) ? wanted : NULL;
}

/* t is all of spec, in memory of its own; now it becomes a type. */
static int make_ready(cvm *vm, cx_type *t, cx_type *base)
{
    const char *wrong;

    t->tp_base = base;
    rrc_incref(vm->rrc, &base->type.ob_base);
    memset(t->tp_memory, 0, sizeof t->tp_memory);
    t->type.tp_flags |= RRC_TPFLAGS_HEAPTYPE | CX_TPFLAGS_READY;
    inherit_slots(t, base);
    if (!inherit_gc(vm, t, base))
        return 0;
    wrong = what_is_wrong(t, base);
    if (wrong != NULL)
        cx_err_set(vm, "cannot make the type %.60s: %s", t->type.tp_name, wrong);
    return wrong == NULL;
}

cx_type *cx_type_from_spec(cvm *vm, const cx_type *spec, cx_type *base, cx_type *metatype)
{
    cx_type *t;
    rrc_object head;

    if (base == NULL)
        base = cx_builtin_type(vm, CX_OBJECT);
    if (!cxi_any(vm, "cx_type_from_spec", &base->type.ob_base))
        return NULL;
    metatype = metatype_for(vm, base, metatype);
    if (metatype == NULL)
        return cx_err_set(vm, "cannot make the type %.60s: its metatype is not based on that of its base",
                          spec->type.tp_name), NULL;
    t = (cx_type *)cx_new(vm, metatype);
    if (t == NULL)
        return NULL;
    head = t->type.ob_base;
    *t = *spec;
    t->type.ob_base = head;
    if (make_ready(vm, t, base))
        return t;
    rrc_decref(vm->rrc, &t->type.ob_base);
    return NULL;
}

int cx_define_type(cvm *vm, const cx_type *spec, cx_type *base, cx_type *metatype, cx_type **type)
{
    cx_type *t = cx_type_from_spec(vm, spec, base, metatype);
    int code = t != NULL ? cx_define(vm, spec->type.tp_name, cx_type_object(t)) : -1;

    if (t != NULL && (code != 0 || type == NULL)) {
        rrc_decref(vm->rrc, cx_type_object(t));
        t = NULL;
    }
    if (type != NULL)
        *type = t;
    return code;
}

/* ---- types that are made in Lisp ------------------------------------------
 *
 * (type 'name base attributes): its objects can have attributes, and are set up by
 * the procedure `init` among those of the type. With one named `call` they can be called.
 */

static rrc_object *call_attribute(cvm *vm, rrc_object *self, const char *name, rrc_object *const *args,
                                  size_t n, int *found)
{
    const cx_method_def *def = NULL;
    cvm_value symbol = cvm_symbol_new(vm, name, strlen(name));
    cvm_value v = symbol != CVM_NONE ? cxi_type_attribute(vm, cxi_type_of(vm, self), symbol, &def) : CVM_NONE;

    *found = v != CVM_NONE || symbol == CVM_NONE;
    return v != CVM_NONE ? cxi_call_value(vm, v, self, args, n) : NULL;
}

static int lisp_init(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n);

/* That of the first type on the way up that was made in C. */
int (*cxi_init_in_c(const cx_type *type))(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    while (type->tp_init == lisp_init)
        type = type->tp_base;
    return type->tp_init;
}

static int lisp_init(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    const cx_type *type = cxi_type_of(vm, self);
    int (*init)(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n) = cxi_init_in_c(type);
    int found;
    rrc_object *result = call_attribute(vm, self, "init", args, n, &found);

    if (found) {
        if (result != NULL)
            rrc_decref(vm->rrc, result);
        return result != NULL ? 0 : -1;
    }
    if (init != NULL)
        return init(vm, self, args, n);
    if (n == 0 || type->tp_new != object_new)
        return 0;
    cx_err_set(vm, "%s: expected 0 arguments, got %lu", RRC_TYPE(self)->tp_name, (unsigned long)n);
    return -1;
}

static rrc_object *lisp_call(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    int found;
    rrc_object *result = call_attribute(vm, self, "call", args, n, &found);

    return found ? result : cx_err_expected(vm, "call", "something that can be called", self);
}

/* A copy in C's memory; NULL after a failure. */
static char *name_from(cvm *vm, rrc_object *ob)
{
    rrc_object *s = cxi_is(vm, ob, CX_SYMBOL) ? cx_symbol_name(vm, ob) : cx_newref(vm, ob);
    const char *text = s != NULL && cx_str_check(vm, s) ? cx_str_as_utf8(vm, s) : NULL;
    char *copy = NULL;

    if (text != NULL && (copy = malloc(strlen(text) + 1)) != NULL)
        strcpy(copy, text);
    else if (!vm->failed && text == NULL)
        cx_err_expected(vm, "type", "a name", ob);
    else if (!vm->failed)
        cx_err_no_memory(vm);
    if (s != NULL)
        rrc_decref(vm->rrc, s);
    return copy;
}

/* Let the dict (or nil) be the attributes of the type's proxy. */
static int set_attributes(cvm *vm, rrc_object *type, rrc_object *dict)
{
    size_t scope = cvm_open(vm);
    cvm_value *p = cvm_root(vm, cxi_to_value(vm, type));

    if (*p != CVM_NONE)
        cvm_store(vm, *p, &CVM_FOREIGN_OF(*p)->attributes, cxi_value_of(vm, dict));
    cvm_close(vm, scope);
    return *p != CVM_NONE;
}

static rrc_object *new_from_lisp(cvm *vm, cx_type *metatype, rrc_object *name, cx_type *base,
                                 rrc_object *dict)
{
    char *text = name_from(vm, name);
    cx_type spec = { 0 }, *t;
    rrc_object *call = NULL;

    if (text == NULL)
        return NULL;
    if (cxi_is(vm, dict, CX_DICT)) {
        rrc_object *key = cx_symbol(vm, "call");

        call = key != NULL ? cx_dict_get_item(vm, dict, key) : NULL;
        if (key != NULL)
            rrc_decref(vm->rrc, key);
    }
    spec.type.tp_name = text;
    spec.type.tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_BASETYPE | CX_TPFLAGS_HAVE_ATTRS;
    spec.tp_init = lisp_init;
    spec.tp_call = call != NULL ? lisp_call : NULL;
    t = !vm->failed ? cx_type_from_spec(vm, &spec, base, metatype) : NULL;
    if (t == NULL) {
        free(text);
        return NULL;
    }
    t->tp_memory[0] = text;
    if (set_attributes(vm, &t->type.ob_base, dict))
        return &t->type.ob_base;
    rrc_decref(vm->rrc, &t->type.ob_base);
    return NULL;
}

/* (type x), or (type 'name base attributes). Base and attributes can be nil. */
static rrc_object *type_new(cvm *vm, cx_type *type, rrc_object *const *args, size_t n)
{
    cx_type *base = cx_builtin_type(vm, CX_OBJECT);

    if (n == 1 && type == cx_builtin_type(vm, CX_TYPE))
        return cx_newref(vm, &cxi_type_of(vm, args[0])->type.ob_base);
    if (n != 3)
        return cx_err_set(vm, "%s: expected a name, a base and attributes", type->type.tp_name);
    if (args[1] != cx_nil(vm) && (base = cx_as_type(vm, args[1])) == NULL)
        return NULL;
    if (args[2] != cx_nil(vm) && !cx_dict_check(vm, args[2]))
        return cx_err_expected(vm, type->type.tp_name, "a dict or nil", args[2]);
    return new_from_lisp(vm, type, args[0], base, args[2]);
}

/* ---- the type `type` ------------------------------------------------------ */

static int type_traverse(rrc_object *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT((rrc_object *)(uintptr_t)RRC_TYPE(self));
    RRC_VISIT(((cx_type *)self)->tp_base);
    return 0;
}

static void type_dealloc(rrc_heap *heap, rrc_object *self)
{
    cx_type *t = (cx_type *)self;

    RRC_CLEAR(heap, t->tp_base);
    free(t->tp_memory[0]);
    free(t->tp_memory[1]);
    cx_free(heap, self);
}

static rrc_object *type_repr(cvm *vm, rrc_object *self)
{
    return cx_str_from_format(vm, "#<type %s>", ((cx_type *)self)->type.tp_name);
}

static void define_type(cx_type *type)
{
    type->type.tp_basicsize = sizeof(cx_type);
    type->type.tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_BASETYPE | CX_TPFLAGS_HAVE_ATTRS;
    type->type.tp_dealloc = type_dealloc;
    type->type.tp_traverse = type_traverse;
    type->tp_new = type_new;
    type->tp_alloc = generic_alloc;
    type->tp_call = type_call;
    type->tp_repr = type_repr;
}

static void define_object(cx_type *type)
{
    type->type.tp_flags = CX_TPFLAGS_BASETYPE;
    type->tp_new = object_new;
    type->tp_alloc = generic_alloc;
}

/* ---- the VM's own types --------------------------------------------------- */

/* Of everything whose C object is empty. */
static void define_opaque(cx_type *type)
{
    type->type.tp_flags = CX_TPFLAGS_LIGHT;
}

static void define_int(cx_type *type)
{
    type->type.tp_basicsize = sizeof(cxi_int);
    type->type.tp_flags = CX_TPFLAGS_LIGHT;
}

static void define_float(cx_type *type)
{
    type->type.tp_basicsize = sizeof(cxi_float);
    type->type.tp_flags = CX_TPFLAGS_LIGHT;
}

static const struct {
    const char *name;
    void (*define)(cx_type *type);
} builtins[CX_BUILTINS] = {             /* in the order of cx_builtin */
    { "object", define_object }, { "type", define_type }, { "nil", define_opaque },
    { "boolean", define_opaque }, { "int", define_int }, { "float", define_float },
    { "string", cxi_str_define }, { "tuple", cxi_tuple_define }, { "array", cxi_list_define },
    { "dict", define_opaque }, { "function", cxi_function_define }, { "procedure", define_opaque },
    { "symbol", define_opaque }, { "pair", define_opaque }, { "vector", define_opaque },
    { "foreign", define_opaque }, { "disposed", define_opaque }
};

static void make_immortal(rrc_object *ob, cx_type *type)
{
    const rrc_object head = RRC_OBJECT_HEAD_INIT(&type->type);

    *ob = head;
}

void cxi_types_open(cvm *vm)
{
    struct cx_state *cx = CX_STATE(vm);
    intptr_t i;

    for (i = 0; i < CX_BUILTINS; i++) {
        cx_type *t = &cx->types[i];

        make_immortal(&t->type.ob_base, &cx->types[CX_TYPE]);
        t->type.tp_name = builtins[i].name;
        t->type.tp_basicsize = sizeof(rrc_object);
        t->tp_base = i != CX_OBJECT ? &cx->types[CX_OBJECT] : NULL;
        builtins[i].define(t);
        t->type.tp_flags |= CX_TPFLAGS_READY;
    }
    make_immortal(&cx->nil, &cx->types[CX_NIL]);
    make_immortal(&cx->true_ob, &cx->types[CX_BOOL]);
    make_immortal(&cx->false_ob, &cx->types[CX_BOOL]);
    for (i = 0; i < CXI_SMALL_INTS; i++) {
        make_immortal(&cx->small[i].head, &cx->types[CX_INT]);
        cx->small[i].number = CXI_LEAST_SMALL + i;
    }
}
