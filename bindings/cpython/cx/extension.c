/* extension.c - loading extensions, and the global variables that they define.
 *
 * An extension describes itself by a constant, cx_ext_NAME, that is looked at before any
 * code of it runs. What its init defines is noted, and becomes visible when init has succeeded:
 * half an extension is never there. A shared object stays loaded for ever, since objects can
 * outlive the VM, and their types' code is in it.
 */
#include "impl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---------------------------------------------------------- */

static cxi_extension *find(const cvm *vm, const cx_extension *def)
{
    const struct cx_state *cx = CX_STATE(vm);
    size_t i;

    for (i = 0; i < cx->extension_count; i++)
        if (cx->extensions[i]->def == def)
            return cx->extensions[i];
    return NULL;
}

static cxi_extension *find_named(const cvm *vm, const char *name)
{
    const struct cx_state *cx = CX_STATE(vm);
    size_t i;

    for (i = 0; i < cx->extension_count; i++)
        if (strcmp(cx->extensions[i]->def->name, name) == 0)
            return cx->extensions[i];
    return NULL;
}

static cxi_extension *add(cvm *vm, const cx_extension *def)
{
    struct cx_state *cx = CX_STATE(vm);
    cxi_extension *e = find(vm, def);

    if (e != NULL)
        return e;
    e = cxi_make_room(&cx->extensions, cx->extension_count, &cx->extension_capacity, sizeof *cx->extensions)
      ? calloc(1, sizeof *e) : NULL;
    if (e == NULL) {
        cx_err_no_memory(vm);
        return NULL;
    }
    e->def = def;
    cx->extensions[cx->extension_count++] = e;
    return e;
}

void *cx_state(cvm *vm, const cx_extension *extension)
{
    const cxi_extension *e = find(vm, extension);

    return e != NULL ? e->state : NULL;
}

/* ---- global variables ---------------------------------------------------- */

static int define_now(cvm *vm, cvm_value symbol, cvm_value v)
{
    if (cvm_is(CVM_SYMBOL_OF(symbol)->value, CVM_SPECIAL)) {
        cx_err_set(vm, "define: %s is a special form", cvm_symbol_text(symbol));
        return 0;
    }
    cvm_store(vm, symbol, &CVM_SYMBOL_OF(symbol)->value, v);
    return 1;
}

static int define_later(cvm *vm, cvm_value symbol, cvm_value v)
{
    size_t scope = cvm_open(vm);
    cvm_value *s = cvm_root(vm, symbol);
    cvm_value list = cvm_cons(vm, v, *CX_STATE(vm)->pending);

    if (list != CVM_NONE)
        list = cvm_cons(vm, *s, list);
    if (list != CVM_NONE)
        *CX_STATE(vm)->pending = list;
    cvm_close(vm, scope);
    return list != CVM_NONE;
}

int cx_define(cvm *vm, const char *name, rrc_object *ob)
{
    size_t scope = cvm_open(vm);
    cvm_value *v, symbol;
    int ok;

    if (!cxi_any(vm, "cx_define", ob))
        return -1;
    v = cvm_root(vm, cxi_to_value(vm, ob));
    symbol = *v != CVM_NONE ? cvm_symbol_new(vm, name, strlen(name)) : CVM_NONE;
    ok = symbol != CVM_NONE
      && (CX_STATE(vm)->pending != NULL ? define_later(vm, symbol, *v) : define_now(vm, symbol, *v));
    cvm_close(vm, scope);
    return ok ? 0 : -1;
}

int cx_define_functions(cvm *vm, const cx_method_def *defs)
{
    for (; defs->name != NULL; defs++) {
        rrc_object *f = cx_function_new(vm, defs, NULL);
        int code = cx_define(vm, defs->name, f);

        if (f != NULL)
            rrc_decref(vm->rrc, f);
        if (code != 0)
            return -1;
    }
    return 0;
}

rrc_object *cx_get_global(cvm *vm, const char *name)
{
    cvm_value symbol = cvm_symbol_new(vm, name, strlen(name));

    if (symbol == CVM_NONE)
        return NULL;
    if (CVM_SYMBOL_OF(symbol)->value == CVM_UNBOUND)
        return cx_err_set(vm, "unbound variable: %s", name);
    return cxi_from_value(vm, CVM_SYMBOL_OF(symbol)->value);
}

/* All or nothing: the first loop looks for what could fail. */
static int commit(cvm *vm, cvm_value pending)
{
    cvm_value at;

    for (at = pending; at != CVM_NIL; at = CVM_PAIR_OF(CVM_PAIR_OF(at)->cdr)->cdr)
        if (cvm_is(CVM_SYMBOL_OF(CVM_PAIR_OF(at)->car)->value, CVM_SPECIAL))
            return define_now(vm, CVM_PAIR_OF(at)->car, CVM_NIL);
    for (at = pending; at != CVM_NIL; at = CVM_PAIR_OF(CVM_PAIR_OF(at)->cdr)->cdr)
        define_now(vm, CVM_PAIR_OF(at)->car, CVM_PAIR_OF(CVM_PAIR_OF(at)->cdr)->car);
    return 1;
}

/* ---- loading ------------------------------------------------------------- */

static void end(cvm *vm, cxi_extension *e)
{
    cx_err err;

    e->loaded = 0;
    if (e->def->end == NULL)
        return;
    cx_err_fetch(vm, &err);
    e->def->end(vm);
    cx_err_restore(vm, &err);
}

static int run_init(cvm *vm, const cx_extension *def)
{
    size_t stack = cvm_open(vm), scope;
    cvm_value *outer = CX_STATE(vm)->pending;
    int ok;

    if (!cvm_enter(vm))
        return 0;
    scope = cx_scope_open(vm);
    CX_STATE(vm)->pending = cvm_root(vm, CVM_NIL);
    ok = def->init(vm) == 0 && !vm->failed;
    if (!ok && !vm->failed)
        cx_err_set(vm, "load-extension: init of %s failed without setting an error", def->name);
    ok = ok && commit(vm, *CX_STATE(vm)->pending);
    CX_STATE(vm)->pending = outer;
    cx_scope_close(vm, scope);
    cvm_leave(vm);
    cvm_close(vm, stack);
    return ok;
}

static int load(cvm *vm, const cx_extension *def)
{
    cxi_extension *e = add(vm, def);

    if (e == NULL)
        return 0;
    if (e->loaded)
        return 1;
    if (e->state == NULL && def->state_size > 0 && (e->state = calloc(1, def->state_size)) == NULL) {
        cx_err_no_memory(vm);
        return 0;
    }
    e->loaded = 1;
    if (run_init(vm, def))
        return 1;
    end(vm, e);
    if (e->state != NULL)
        memset(e->state, 0, def->state_size);
    return 0;
}

/* Is it one of ours? `from` is where it comes from. */
static int fits(cvm *vm, const cx_extension *def, const char *from)
{
    if (def->api_version != CX_API_VERSION)
        cx_err_set(vm, "load-extension: %.120s was made for version %d of the API, this is version %d", from,
                   def->api_version, CX_API_VERSION);
    else if (def->check_config == NULL || def->check_config(vm->rrc) != RRC_OK)
        cx_err_set(vm, "load-extension: %.120s was compiled with other settings of rawrefcount.h "
                   "(RRC_DEBUG?) than the VM", from);
    else if (def->init == NULL)
        cx_err_set(vm, "load-extension: %.120s has no init", from);
    else
        return 1;
    return 0;
}

/* The name between the last slash and the first dot. 0: it is too long. */
static int symbol_of(const char *path, char *symbol, size_t size)
{
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    int length = snprintf(symbol, size, "cx_ext_%.*s", (int)strcspn(name, "."), name);

    return length > 0 && (size_t)length < size;
}

static int load_shared(cvm *vm, const char *path)
{
    char symbol[128], here[512];
    void *object;
    const cx_extension *def;
    /* Without a slash the system would look in its own places. */
    int length = snprintf(here, sizeof here, "%s%s", strchr(path, '/') != NULL ? "" : "./", path);

    if (!symbol_of(path, symbol, sizeof symbol) || length < 0 || (size_t)length >= sizeof here)
        return cx_err_set(vm, "load-extension: the path is too long"), 0;
    object = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        return cx_err_set(vm, "load-extension: %.200s", dlerror()), 0;
    def = dlsym(object, symbol);
    if (def == NULL)
        cx_err_set(vm, "load-extension: %.120s does not define %s", path, symbol);
    if (def == NULL || !fits(vm, def, path)) {
        dlclose(object);                /* none of its code has made anything */
        return 0;
    }
    return load(vm, def);
}

int cx_add_extension(cvm *vm, const cx_extension *extension)
{
    return fits(vm, extension, extension->name) && add(vm, extension) != NULL ? 0 : -1;
}

int cx_load_extension(cvm *vm, const char *name)
{
    const cxi_extension *e = find_named(vm, name);

    if (e != NULL)
        return load(vm, e->def) ? 0 : -1;
    if (strchr(name, '/') != NULL || strchr(name, '.') != NULL)
        return load_shared(vm, name) ? 0 : -1;
    cx_err_set(vm, "load-extension: there is no extension %.100s linked in; a file needs its ending", name);
    return -1;
}

/* ---- the end ------------------------------------------------------------- */

void cxi_extensions_close(cvm *vm)
{
    struct cx_state *cx = CX_STATE(vm);
    size_t i;

    for (i = cx->extension_count; i > 0; i--)
        if (cx->extensions[i - 1]->loaded)
            end(vm, cx->extensions[i - 1]);
}

void cxi_extensions_free(cvm *vm)
{
    struct cx_state *cx = CX_STATE(vm);

    while (cx->extension_count > 0) {
        cxi_extension *e = cx->extensions[--cx->extension_count];

        free(e->state);
        free(e);
    }
    free(cx->extensions);
    cx->extensions = NULL;
}
