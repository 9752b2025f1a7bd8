/* rrc_mruby_insight.h - version 2.0.0
 * Why an object is alive, through C and mruby: Rawrefcount.explain and Rawrefcount.graph.
 *
 *     #define RRC_MRUBY_IMPLEMENTATION
 *     #include "rrc_mruby.h"
 *     #include "rrc_mruby_insight.h"          // this file and rrc_insight.h are optional
 *
 *     rrc_mruby_define_insight(mrb);          // scripts can call explain and graph
 *
 * RRC_MRUBY_IMPLEMENTATION switches on the functions of all these headers, in exactly one file of the program.
 *
 * CONTENTS: the functions, what objects of mruby refer to, what scripts have
 */

#ifndef RRC_MRUBY_INSIGHT_H
#define RRC_MRUBY_INSIGHT_H

#ifndef RRC_MRUBY_H
#error "rrc_mruby_insight.h: include rrc_mruby.h first"
#endif

#include "rrc_insight.h"

#ifdef __cplusplus
extern "C" {
#endif

/* By these hooks rrc_explain, rrc_dump_dot and rrc_dump_heapsnapshot show objects of mruby. Valid as long as the heap.
   May raise, as rrc_mruby_heap. */
RRC_MRUBY_API rrc_insight rrc_mruby_insight(mrb_state *mrb);

/* Scripts get Rawrefcount.explain and Rawrefcount.graph. In a program that is built with RRC_DEBUG, mrb_close prints
   on stderr what C still holds, and why. Raises. */
RRC_MRUBY_API void rrc_mruby_define_insight(mrb_state *mrb);

#ifdef __cplusplus
}
#endif

#endif /* RRC_MRUBY_INSIGHT_H */

#if defined(RRC_MRUBY_IMPLEMENTATION) && !defined(RRCM_INSIGHT_IMPLEMENTED)
#define RRCM_INSIGHT_IMPLEMENTED

#include <mruby/debug.h>
#include <mruby/range.h>

#include <stdio.h>

/* The code of a Proc, or NULL. (From 3.3 on a Proc can be an alias, which has the name of a method instead.) */
static const mrb_irep *rrcm_code(const struct RProc *proc)
{
    if (proc == NULL || MRB_PROC_CFUNC_P(proc))
        return NULL;
#ifdef MRB_PROC_ALIAS_P
    if (MRB_PROC_ALIAS_P(proc))
        return NULL;
#endif
    return proc->body.irep;
}

/* ---- what objects of mruby refer to ----
 * The p of a link is its cell, and any other object of mruby its address plus 2: that of a cell has no such bit.
 * A proxy is the p of its link, and so is a value in a box. Nothing here allocates. */

typedef struct rrcm_view {
    rrcm_state  *state;
    rrc_edgeproc visit;
    void        *arg;
    const char  *before;        /* the names of variables begin with this */
} rrcm_view;

static int rrcm_is_cell(rrc_gcref p)
{
    return ((uintptr_t)p & 2) == 0;
}

static rrc_gcref rrcm_ref_of(rrcm_state *state, struct RBasic *object)
{
    const rrc_object *ob = rrc_mruby_test(mrb_obj_value(object), NULL);
    rrcm_cell *cell = ob != NULL ? (rrcm_cell *)DATA_PTR(mrb_obj_value(object))
                                 : (rrcm_cell *)rrc_map_get(&state->values, object);
    if (cell != NULL && rrcm_is_live(state, &cell->head, 0))
        return cell;
    return (rrc_gcref)((char *)(void *)object + 2);
}

/* The object of a p, or NULL: it is dead. */
static struct RBasic *rrcm_object_of(rrcm_state *state, rrc_gcref p)
{
    const rrcm_cell *cell = (const rrcm_cell *)p;
    if (!rrcm_is_cell(p))
        return (struct RBasic *)(void *)((char *)p - 2);
    if (!rrcm_is_live(state, &cell->head, 0))
        return NULL;
    return rrcm_is_box(&cell->head) ? mrb_basic_ptr(((rrcm_value *)(void *)cell->head.ob)->value)
                                    : (struct RBasic *)cell->head.object;
}

/* (The anchors are C's references.) */
static void rrcm_see_object(const rrcm_view *view, const void *to, const char *name, size_t number)
{
    struct RBasic *object = (struct RBasic *)(uintptr_t)to;
    if (object != NULL && object->tt != MRB_TT_FREE && object != (struct RBasic *)view->state->roots
        && !rrcm_is_doomed(view->state->mrb, (struct RData *)object))
        view->visit(view->arg, rrcm_ref_of(view->state, object), name, number);
}

static void rrcm_see(const rrcm_view *view, mrb_value to, const char *name, size_t number)
{
    if (!mrb_immediate_p(to))
        rrcm_see_object(view, mrb_basic_ptr(to), name, number);
}

/* See a value by a name of two words: "local w". */
static void rrcm_see_named(const rrcm_view *view, mrb_value to, const char *before, mrb_sym name)
{
    char words[100];
    mrb_int length = 0;
    const char *text = mrb_sym_name_len(view->state->mrb, name, &length);
    snprintf(words, sizeof words, "%s%.*s", before, (int)(length < 60 ? length : 60), text != NULL ? text : "");
    rrcm_see(view, to, words, 0);
}

/* A variable or constant. (What the binding itself has hidden there is not shown.) */
static int rrcm_see_variable(mrb_state *mrb, mrb_sym name, mrb_value value, void *data)
{
    const rrcm_view *view = (const rrcm_view *)data;
    mrb_int length = 0;
    const char *text = mrb_sym_name_len(mrb, name, &length);
    const char *before = view->before != NULL ? view->before
                       : length > 1 && text[0] == '@' ? text[1] == '@' ? "class variable " : "."
                       : length > 0 && text[0] >= 'A' && text[0] <= 'Z' ? "constant " : "hidden variable ";
    if (name != view->state->hidden_name)
        rrcm_see_named(view, value, before, name);
    return 0;
}

static void rrcm_see_variables(rrcm_view *view, struct RBasic *object, const char *before)
{
    view->before = before;
    mrb_iv_foreach(view->state->mrb, mrb_obj_value(object), rrcm_see_variable, view);
}

static int rrcm_see_pair(mrb_state *mrb, mrb_value key, mrb_value value, void *data)
{
    const rrcm_view *view = (const rrcm_view *)data;
    char words[100];
    (void)mrb;
    if (mrb_symbol_p(key)) {
        rrcm_see_named(view, value, "element :", mrb_symbol(key));
        return 0;
    }
    if (mrb_string_p(key))
        snprintf(words, sizeof words, "element \"%.*s\"", (int)(RSTRING_LEN(key) < 60 ? RSTRING_LEN(key) : 60),
                 RSTRING_PTR(key));
    else if (mrb_integer_p(key))
        snprintf(words, sizeof words, "element %ld", (long)mrb_integer(key));
    else
        snprintf(words, sizeof words, "element");
    rrcm_see(view, value, words, 0);
    rrcm_see(view, key, "key", 0);
    return 0;
}

static int rrcm_see_method(mrb_state *mrb, mrb_sym name, mrb_method_t method, void *data)
{
    (void)mrb;
    if (!MRB_METHOD_UNDEF_P(method) && MRB_METHOD_PROC_P(method))
        rrcm_see_named((const rrcm_view *)data, mrb_obj_value((void *)(uintptr_t)MRB_METHOD_PROC(method)), "method ", name);
    return 0;
}

/* The variables that a Proc's code calls by name; the first `n` values of its frame. */
static void rrcm_see_locals(const rrcm_view *view, const struct RProc *code, const mrb_value *values, mrb_int n)
{
    const mrb_irep *irep = rrcm_code(code);
    mrb_int i;
    if (n > 0 && values != NULL)
        rrcm_see(view, values[0], "self", 0);
    for (i = 1; irep != NULL && irep->lv != NULL && values != NULL && i < n && i < irep->nlocals; i++)
        if (irep->lv[i - 1] != 0)
            rrcm_see_named(view, values[i], "local ", irep->lv[i - 1]);
}

static void rrcm_see_proc(const rrcm_view *view, const struct RProc *proc)
{
    const struct REnv *env = MRB_PROC_ENV(proc);
    if (env != NULL && !MRB_PROC_CFUNC_P(proc))
        rrcm_see_locals(view, proc->upper, env->stack, MRB_ENV_LEN(env));
    rrcm_see_object(view, env != NULL ? (const void *)env : proc->e.target_class, "environment", 0);
    rrcm_see_object(view, proc->upper, "enclosing Proc", 0);
}

static void rrcm_see_values(const rrcm_view *view, const mrb_value *values, mrb_int n)
{
    mrb_int i;
    for (i = 0; i < n; i++)
        rrcm_see(view, values[i], NULL, (size_t)i);
}

/* The registers of the last frame of a stack. */
static mrb_int rrcm_registers(const mrb_callinfo *ci)
{
    mrb_int needed = 3 + (ci->n == 15 ? 1 : ci->n) + (ci->nk == 15 ? 1 : 2 * ci->nk);
    mrb_int own = rrcm_code(ci->proc) != NULL ? rrcm_code(ci->proc)->nregs : 0;
    return own > needed ? own : needed;
}

/* A stack: what has a name first. (The question itself is no answer.) */
static void rrcm_see_context(const rrcm_view *view, const struct mrb_context *context)
{
    const mrb_callinfo *ci;
    const mrb_value *value, *end;
    if (context == NULL || context->stbase == NULL || context->ci == NULL)
        return;
    end = context->ci->stack + rrcm_registers(context->ci);
    if (end > context->stend)
        end = context->stend;
    for (ci = context->cibase; ci <= context->ci; ci++) {
        if (ci->proc != NULL && !MRB_PROC_CFUNC_P(ci->proc))
            rrcm_see_locals(view, ci->proc, ci->stack, end - ci->stack);
        rrcm_see_object(view, ci->proc, "a running method", 0);
        rrcm_see_object(view, mrb_vm_ci_env(ci), "environment", 0);
    }
    for (value = context->stbase; value < end; value++)
        if (!mrb_immediate_p(*value) && mrb_basic_ptr(*value) != view->state->asked)
            rrcm_see(view, *value, "the stack", 0);
    rrcm_see_object(view, context->fib, "fiber", 0);
    if (context->prev != NULL)
        rrcm_see_object(view, context->prev->fib, "fiber", 0);
}

static void rrcm_see_roots(rrcm_view *view)
{
    mrb_state *mrb = view->state->mrb;
    struct RObject globals;
    int i;
    memset(&globals, 0, sizeof globals);
    globals.tt = MRB_TT_OBJECT;
    globals.iv = mrb->globals;
    rrcm_see_variables(view, (struct RBasic *)&globals, "global ");
    rrcm_see_variables(view, (struct RBasic *)mrb->object_class, NULL);
    rrcm_see_context(view, mrb->c);
    if (mrb->root_c != mrb->c)
        rrcm_see_context(view, mrb->root_c);
    for (i = 0; i < mrb->gc.arena_idx; i++)
        if (mrb->gc.arena[i] != view->state->asked)
            rrcm_see_object(view, mrb->gc.arena[i], "the arena", 0);
    rrcm_see_object(view, mrb->object_class, "class Object", 0);
    rrcm_see_object(view, mrb->top_self, "self of the main program", 0);
    rrcm_see_object(view, mrb->exc, "the exception", 0);
}

/* The names of the members of a Struct are known to its class, or to one above. */
static void rrcm_see_members(const rrcm_view *view, struct RArray *members)
{
    mrb_state *mrb = view->state->mrb;
    struct RClass *klass = members->c;
    mrb_value names = mrb_nil_value();
    mrb_int i;
    for (; klass != NULL && !mrb_array_p(names); klass = klass->super)
        if (klass->tt != MRB_TT_ICLASS)
            names = mrb_obj_iv_get(mrb, (struct RObject *)klass, mrb_intern_check_cstr(mrb, "__members__"));
    for (i = 0; i < ARY_LEN(members); i++) {
        if (mrb_array_p(names) && i < RARRAY_LEN(names) && mrb_symbol_p(RARRAY_PTR(names)[i]))
            rrcm_see_named(view, ARY_PTR(members)[i], ".", mrb_symbol(RARRAY_PTR(names)[i]));
        else
            rrcm_see(view, ARY_PTR(members)[i], NULL, (size_t)i);
    }
}

static void rrcm_see_class(rrcm_view *view, struct RClass *klass)
{
    if (klass->tt != MRB_TT_ICLASS)
        rrcm_see_variables(view, (struct RBasic *)klass, NULL);
    if (klass->mt != NULL)
        mrb_mt_foreach(view->state->mrb, klass, rrcm_see_method, view);
    rrcm_see_object(view, klass->super, "superclass", 0);
}

static void rrcm_edges(void *userdata, rrc_gcref p, rrc_edgeproc visit, void *arg)
{
    rrcm_view view;
    struct RBasic *object = p != NULL ? rrcm_object_of((rrcm_state *)userdata, p) : NULL;
    view.state = (rrcm_state *)userdata;
    view.visit = visit;
    view.arg = arg;
    if (p == NULL)
        rrcm_see_roots(&view);
    if (object == NULL)
        return;
    switch (object->tt) {
    case MRB_TT_CLASS: case MRB_TT_MODULE: case MRB_TT_SCLASS: case MRB_TT_ICLASS:
        rrcm_see_class(&view, (struct RClass *)object);
        break;
    case MRB_TT_ARRAY:
        rrcm_see_values(&view, ARY_PTR((struct RArray *)object), ARY_LEN((struct RArray *)object));
        break;
    case MRB_TT_STRUCT:
        rrcm_see_members(&view, (struct RArray *)object);
        break;
    case MRB_TT_HASH:
        mrb_hash_foreach(view.state->mrb, (struct RHash *)object, rrcm_see_pair, &view);
        rrcm_see_variables(&view, object, NULL);
        break;
    case MRB_TT_RANGE:
        rrcm_see(&view, RANGE_BEG((struct RRange *)object), "begin", 0);
        rrcm_see(&view, RANGE_END((struct RRange *)object), "end", 0);
        break;
    case MRB_TT_PROC:
        rrcm_see_proc(&view, (const struct RProc *)object);
        break;
    case MRB_TT_ENV:
        rrcm_see_values(&view, ((struct REnv *)object)->stack, MRB_ENV_LEN((struct REnv *)object));
        break;
    case MRB_TT_FIBER:
        rrcm_see_context(&view, ((struct RFiber *)object)->cxt);
        break;
    case MRB_TT_BREAK:
        rrcm_see(&view, mrb_break_value_get((struct RBreak *)object), "value", 0);
        break;
    default:
        rrcm_see_variables(&view, object, NULL);        /* (nothing where there are none) */
        break;
    }
    rrcm_see_object(&view, object->c, "class", 0);
}

/* The name of a class, as the class itself knows it. */
static void rrcm_describe_class(rrcm_state *state, struct RClass *klass, const char *before, char *text, size_t size)
{
    mrb_value name = mrb_nil_value();
    mrb_int length = 11;
    const char *words = "(anonymous)";
    while (klass != NULL && (klass->tt == MRB_TT_SCLASS || klass->tt == MRB_TT_ICLASS))
        klass = klass->super;
    if (klass != NULL)
        name = mrb_obj_iv_get(state->mrb, (struct RObject *)klass, mrb_intern_check_cstr(state->mrb, "__classname__"));
    if (mrb_symbol_p(name)) {
        words = mrb_sym_name_len(state->mrb, mrb_symbol(name), &length);
    } else if (mrb_string_p(name)) {
        words = RSTRING_PTR(name);
        length = RSTRING_LEN(name);
    }
    snprintf(text, size, "%s%.*s", before, (int)(length < 100 ? length : 100), words);
}

/* (mruby does not say how large a table is: strings and arrays are counted, else the object alone.) */
static void rrcm_describe(void *userdata, rrc_gcref p, rrc_description *about)
{
    rrcm_state *state = (rrcm_state *)userdata;
    struct RBasic *object = rrcm_object_of(state, p);
    const mrb_irep *irep = NULL;
    const char *file = NULL;
    if (object == NULL) {
        snprintf(about->text, sizeof about->text, "dead");
        return;
    }
    about->size = mrb_objspace_page_slot_size();
    switch (object->tt) {
    case MRB_TT_CLASS:
        rrcm_describe_class(state, (struct RClass *)object, "class ", about->text, sizeof about->text);
        break;
    case MRB_TT_MODULE:
        rrcm_describe_class(state, (struct RClass *)object, "module ", about->text, sizeof about->text);
        break;
    case MRB_TT_SCLASS: case MRB_TT_ICLASS: case MRB_TT_ENV: case MRB_TT_BREAK:
        snprintf(about->text, sizeof about->text, "internal");
        break;
    case MRB_TT_PROC:
        irep = rrcm_code((const struct RProc *)object);
        if (irep != NULL)
            file = mrb_debug_get_filename(state->mrb, irep, 0);
        if (file != NULL)
            snprintf(about->text, sizeof about->text, "Proc at %.80s:%ld", file,
                     (long)mrb_debug_get_line(state->mrb, irep, 0));
        else
            snprintf(about->text, sizeof about->text, "Proc");
        break;
    case MRB_TT_STRING:
        if (!RSTR_EMBED_P((struct RString *)object))
            about->size += (size_t)RSTRING_CAPA(mrb_obj_value(object));
        rrcm_describe_class(state, object->c, "", about->text, sizeof about->text);
        break;
    case MRB_TT_ARRAY:
        if (!ARY_EMBED_P((struct RArray *)object))
            about->size += (size_t)ARY_LEN((struct RArray *)object) * sizeof(mrb_value);
        /* fall through */
    default:
        rrcm_describe_class(state, object->c, "", about->text, sizeof about->text);
        break;
    }
}

/* ---- what scripts have ---- */

/* Text that is written piece by piece, by a function that must not call mruby. */
typedef struct rrcm_text {
    char  *bytes;
    size_t size, capacity;
    int    is_lost;                     /* there was no memory */
} rrcm_text;

static void rrcm_write(void *arg, const char *bytes, size_t size)
{
    rrcm_text *text = (rrcm_text *)arg;
    if (text->capacity - text->size < size) {
        size_t capacity = text->capacity * 2 + size + 500;
        char *grown = (char *)RRC_MRUBY_REALLOC(text->bytes, capacity);
        if (grown == NULL) {
            text->is_lost = 1;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static mrb_value rrcm_new_string(mrb_state *mrb, void *data)
{
    const rrcm_text *text = (const rrcm_text *)data;
    return mrb_str_new(mrb, text->bytes, text->size);
}

static mrb_value rrcm_text_string(mrb_state *mrb, rrcm_text *text, int code)
{
    mrb_bool failed = FALSE;
    mrb_value result = mrb_nil_value();
    if (code == RRC_OK && !text->is_lost)
        result = rrcm_protect(mrb, rrcm_new_string, text, &failed);
    (void)RRC_MRUBY_REALLOC(text->bytes, 0);
    rrcm_check_code(mrb, text->is_lost ? RRC_ENOMEM : code);
    if (failed)
        mrb_exc_raise(mrb, result);
    return result;
}

static mrb_value rrcm_script_explain(mrb_state *mrb, mrb_value self)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);
    mrb_value value = mrb_get_arg1(mrb);
    rrc_object *ob = rrc_mruby_test(value, NULL);
    rrcm_text text = { NULL, 0, 0, 0 };
    rrc_insight insight = rrc_mruby_insight(mrb);
    int code;
    (void)self;
    if (ob == NULL && !mrb_immediate_p(value))
        ob = rrcm_find_value(rrcm_state_of(heap), value);
    if (ob == NULL)
        return mrb_nil_value();
    rrcm_state_of(heap)->asked = mrb_basic_ptr(value);
    code = rrc_explain(heap, &insight, ob, rrcm_write, &text);
    rrcm_state_of(heap)->asked = NULL;
    return rrcm_text_string(mrb, &text, code);
}

static mrb_value rrcm_script_graph(mrb_state *mrb, mrb_value self)
{
    rrcm_text text = { NULL, 0, 0, 0 };
    rrc_insight insight = rrc_mruby_insight(mrb);
    int code;
    (void)self;
    insight.edges = NULL;               /* all classes and methods of mruby would be in the picture */
    code = rrc_dump_dot(rrc_mruby_heap(mrb), &insight, rrcm_write, &text);
    return rrcm_text_string(mrb, &text, code);
}
#ifdef RRC_DEBUG
static void rrcm_write_file(void *stream, const char *bytes, size_t size)
{
    fwrite(bytes, 1, size, (FILE *)stream);
}

/* Have rrc_heap_free print what C still holds then. The report knows objects by their links: mruby calls this before
   rrcm_close, which parts the proxies, because it learned of it later. */
static void rrcm_report_leaks(mrb_state *mrb)
{
    (void)rrc_report_leaks(rrc_mruby_heap(mrb), NULL, rrcm_write_file, stderr);
}
#endif

RRC_MRUBY_API rrc_insight rrc_mruby_insight(mrb_state *mrb)
{
    rrc_insight insight = { NULL, rrcm_edges, rrcm_describe, NULL, NULL };
    insight.userdata = rrcm_state_of(rrc_mruby_heap(mrb));
    return insight;
}

RRC_MRUBY_API void rrc_mruby_define_insight(mrb_state *mrb)
{
    rrc_heap *heap = rrc_mruby_heap(mrb);           /* (it defines the module) */
    struct RClass *module = mrb_module_get(mrb, "Rawrefcount");
    (void)heap;
    mrb_define_module_function(mrb, module, "explain", rrcm_script_explain, MRB_ARGS_REQ(1));
    mrb_define_module_function(mrb, module, "graph", rrcm_script_graph, MRB_ARGS_NONE());
#ifdef RRC_DEBUG
    mrb_state_atexit(mrb, rrcm_report_leaks);
#endif
}

#endif /* RRC_MRUBY_IMPLEMENTATION */
