/* attr.c - attributes, which Lisp or C give to single objects and to types.
 *
 * They stand in a dict that the proxy has on the host's side, because there they are
 * followed by the collector like everything else that Lisp has. For the dict to live as
 * long as the object, its type has CX_TPFLAGS_HAVE_ATTRS: the proxy then has a P link, so
 * that C's references to the object keep the proxy. An O link would let it die, and its
 * attributes with it, when only C has the object. Types are such objects: the methods that
 * Lisp defines are their attributes.
 */
#include "impl.h"

#include <string.h>

static cvm_value attributes_of(cvm *vm, rrc_object *ob)
{
    cvm_value p = (RRC_TYPE(ob)->tp_flags & CX_TPFLAGS_HAVE_ATTRS) != 0
                ? (cvm_value)rrc_to_obj(vm->rrc, ob) : CVM_NONE;

    return cvm_is(p, CVM_FOREIGN) ? CVM_FOREIGN_OF(p)->attributes : CVM_NIL;
}

cvm_value cxi_own_attribute(cvm *vm, rrc_object *ob, cvm_value symbol)
{
    cvm_value attributes = attributes_of(vm, ob);

    return cvm_is(attributes, CVM_DICT) ? cvm_dict_get(vm, attributes, symbol) : CVM_NONE;
}

cvm_value cxi_type_attribute(cvm *vm, cx_type *type, cvm_value symbol, const cx_method_def **def)
{
    for (; type != NULL; type = type->tp_base) {
        cvm_value v = cxi_own_attribute(vm, &type->type.ob_base, symbol);
        const cx_method_def *m = type->tp_methods;

        if (v != CVM_NONE)
            return v;
        for (; m != NULL && m->name != NULL; m++)
            if (strcmp(m->name, cvm_symbol_text(symbol)) == 0) {
                *def = m;
                return CVM_NONE;
            }
    }
    return CVM_NONE;
}

static const cx_getset_def *find_getset(const cx_type *type, const char *name)
{
    for (; type != NULL; type = type->tp_base) {
        const cx_getset_def *g = type->tp_getset;

        for (; g != NULL && g->name != NULL; g++)
            if (strcmp(g->name, name) == 0)
                return g;
    }
    return NULL;
}

/* The result of C code, which must fit the state of the error. */
static rrc_object *checked(cvm *vm, const char *name, rrc_object *result)
{
    if (result == NULL && !vm->failed)
        cx_err_set(vm, "%s: its C function returned NULL without setting an error", name);
    return result;
}

/* name: in C's memory. */
static rrc_object *get(cvm *vm, rrc_object *ob, const char *name, cvm_value symbol)
{
    cx_type *type = cxi_type_of(vm, ob);
    const cx_getset_def *g = find_getset(type, name);
    const cx_method_def *def = NULL, *of_objects;
    cvm_value v;

    if (g != NULL)
        return checked(vm, name, g->get(vm, ob));
    v = cxi_own_attribute(vm, ob, symbol);
    if (v == CVM_NONE && cxi_is_type(vm, ob))
        v = cxi_type_attribute(vm, ((cx_type *)ob)->tp_base, symbol, &of_objects);
    if (v == CVM_NONE)
        v = cxi_type_attribute(vm, type, symbol, &def);
    if (v != CVM_NONE)
        return cxi_from_value(vm, v);
    if (def != NULL)
        return cx_function_new(vm, def, ob);
    return cx_err_set(vm, "a %s has no attribute %.60s", RRC_TYPE(ob)->tp_name, name);
}

/* In the attributes of the object's proxy. */
static int set_own(cvm *vm, rrc_object *ob, const char *name, cvm_value symbol, rrc_object *value)
{
    size_t scope = cvm_open(vm);
    cvm_value *key = cvm_root(vm, symbol);
    cvm_value *v = cvm_root(vm, value != NULL ? cxi_to_value(vm, value) : CVM_NIL);
    cvm_value *p = cvm_root(vm, *v != CVM_NONE ? cxi_to_value(vm, ob) : CVM_NONE);
    int ok = 0;

    if (*p != CVM_NONE && CVM_FOREIGN_OF(*p)->ob != ob) {       /* a tombstone */
        cx_err_set(vm, "a %s that is being deallocated cannot have attributes such as %.60s",
                   RRC_TYPE(ob)->tp_name, name);
        *p = CVM_NONE;
    }
    if (*p != CVM_NONE && CVM_FOREIGN_OF(*p)->attributes == CVM_NIL) {
        cvm_value dict = cvm_dict_new(vm);

        if (dict == CVM_NONE)
            *p = CVM_NONE;
        else
            cvm_store(vm, *p, &CVM_FOREIGN_OF(*p)->attributes, dict);
    }
    if (*p != CVM_NONE && value != NULL)
        ok = cvm_dict_set(vm, CVM_FOREIGN_OF(*p)->attributes, *key, *v);
    else if (*p != CVM_NONE)
        ok = cvm_dict_remove(vm, CVM_FOREIGN_OF(*p)->attributes, *key)
          || cx_err_set(vm, "a %s has no attribute %.60s", RRC_TYPE(ob)->tp_name, name) != NULL;
    cvm_close(vm, scope);
    return ok ? 0 : -1;
}

static int set(cvm *vm, rrc_object *ob, const char *name, cvm_value symbol, rrc_object *value)
{
    const cx_getset_def *g = find_getset(cxi_type_of(vm, ob), name);

    if (g != NULL && (g->set == NULL || value == NULL))
        return cx_err_set(vm, "the attribute %.60s of a %s cannot be %s", name, RRC_TYPE(ob)->tp_name,
                          value != NULL ? "set" : "removed"), -1;
    if (g != NULL) {
        if (g->set(vm, ob, value) == 0)
            return 0;
        checked(vm, name, NULL);
        return -1;
    }
    if ((RRC_TYPE(ob)->tp_flags & CX_TPFLAGS_HAVE_ATTRS) == 0)
        return cx_err_set(vm, "a %s cannot have attributes such as %.60s", RRC_TYPE(ob)->tp_name, name), -1;
    return set_own(vm, ob, name, symbol, value);
}

rrc_object *cx_get_attr(cvm *vm, rrc_object *ob, const char *name)
{
    cvm_value symbol;

    if (!cxi_any(vm, "cx_get_attr", ob))
        return NULL;
    symbol = cvm_symbol_new(vm, name, strlen(name));
    return symbol != CVM_NONE ? get(vm, ob, name, symbol) : NULL;
}

int cx_set_attr(cvm *vm, rrc_object *ob, const char *name, rrc_object *value)
{
    cvm_value symbol;

    if (!cxi_any(vm, "cx_set_attr", ob) || (value != NULL && !cxi_any(vm, "cx_set_attr", value)))
        return -1;
    symbol = cvm_symbol_new(vm, name, strlen(name));
    return symbol != CVM_NONE ? set(vm, ob, name, symbol, value) : -1;
}
