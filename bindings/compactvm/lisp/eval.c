/* eval.c - the evaluator: it walks the expressions as they were read.
 *
 * A frame holds what one running evaluation works on, in rooted slots. The last
 * expression of a body, the branch of an `if` and the like are not evaluated by
 * recursion: they become the frame's next expression (a tail call), so a loop
 * written as a procedure runs in constant space.
 */
#include "lisp.h"

#include <math.h>

typedef struct cvm_frame {
    cvm_value *form;        /* what to evaluate */
    cvm_value *where;       /* the pair that holds it, or nil: says the line */
    cvm_value *env;
    cvm_value *called;      /* the closure whose body it is, or nil */
    cvm_value *call;        /* the expression that called it, or nil: C did */
} cvm_frame;

/* What a special form returns after it has put its last part into the frame. */
#define AGAIN ((cvm_value)18)

static cvm_value run(cvm *vm, cvm_frame *fr);

static cvm_value car(cvm_value v) { return CVM_PAIR_OF(v)->car; }
static cvm_value cdr(cvm_value v) { return CVM_PAIR_OF(v)->cdr; }

static cvm_frame frame_new(cvm *vm, cvm_value form, cvm_value where, cvm_value env)
{
    cvm_frame fr;

    fr.form = cvm_root(vm, form);
    fr.where = cvm_root(vm, where);
    fr.env = cvm_root(vm, env);
    fr.called = cvm_root(vm, CVM_NIL);
    fr.call = cvm_root(vm, CVM_NIL);
    return fr;
}

/* ---- where an error happened -------------------------------------------- */

static const cvm_source_pair *place_of(cvm_value pair)
{
    int known = cvm_is(pair, CVM_PAIR) && cvm_object_size(cvm_object_of(pair)) >= sizeof(cvm_source_pair);

    return known ? (const cvm_source_pair *)pair : NULL;
}

static void note_place(cvm *vm, cvm_value pair, cvm_value form)
{
    const cvm_source_pair *p = place_of(pair) != NULL ? place_of(pair) : place_of(form);

    if (vm->error_line == 0 && p != NULL) {
        vm->error_file = p->file;
        vm->error_line = (int)cvm_fixnum_of(p->line);
    }
}

/* The error leaves this frame. */
static void note_failure(cvm *vm, const cvm_frame *fr)
{
    cvm_lisp *lisp = cvm_lisp_of(vm);
    const cvm_source_pair *p = place_of(*fr->call);
    cvm_call_place *place;

    note_place(vm, *fr->where, *fr->form);
    if (*fr->called == CVM_NIL)
        return;
    if (lisp->calls_of != vm->failures) {
        lisp->calls_of = vm->failures;
        lisp->call_count = 0;
    }
    if (lisp->call_count++ < CVM_MOST_CALLS) {
        place = &lisp->calls[lisp->call_count - 1];
        place->name = CVM_CLOSURE_OF(*fr->called)->name;
        place->file = p != NULL ? p->file : CVM_NIL;
        place->line = p != NULL ? (int)cvm_fixnum_of(p->line) : 0;
    }
}

void cvm_print_calls(cvm *vm, FILE *out)
{
    const cvm_lisp *lisp = cvm_lisp_of(vm);
    size_t i, n = lisp->calls_of == vm->failures ? lisp->call_count : 0;

    for (i = 0; i < n && i < CVM_MOST_CALLS; i++) {
        const cvm_call_place *place = &lisp->calls[i];

        fprintf(out, "    in %s", place->name != CVM_NIL ? cvm_symbol_text(place->name) : "lambda");
        if (place->file != CVM_NIL)
            fprintf(out, ", called at %s:%d", cvm_bytes(place->file), place->line);
        fputc('\n', out);
    }
    if (n > i)
        fprintf(out, "    and %lu more calls\n", (unsigned long)(n - i));
}

/* ---- variables ---------------------------------------------------------- */

static cvm_value binding_new(cvm *vm, cvm_value name, cvm_value value, cvm_value next)
{
    const cvm_value fields[] = { name, value, next };

    return cvm_record(vm, CVM_BINDING, fields, 3);
}

static cvm_value scope_new(cvm *vm, cvm_value bindings)
{
    return binding_new(vm, CVM_NIL, CVM_NIL, bindings);
}

static cvm_value find_binding(cvm_value name, cvm_value env)
{
    while (env != CVM_NIL && CVM_BINDING_OF(env)->name != name)
        env = CVM_BINDING_OF(env)->next;
    return env;
}

static cvm_value lookup(cvm *vm, cvm_value name, cvm_value env)
{
    cvm_value b = find_binding(name, env);
    cvm_value v = b != CVM_NIL ? CVM_BINDING_OF(b)->value : CVM_SYMBOL_OF(name)->value;

    return v != CVM_UNBOUND ? v : cvm_fail(vm, "unbound variable: %s", cvm_symbol_text(name));
}

/* `define`: set the variable of this very scope, or make it. */
static int define(cvm *vm, cvm_value name, cvm_value value, cvm_value env)
{
    size_t scope = cvm_open(vm);
    cvm_value *r_env, b;

    if (env != CVM_NIL)
        env = find_binding(CVM_NIL, env);       /* where the scope starts */
    if (env == CVM_NIL) {
        cvm_store(vm, name, &CVM_SYMBOL_OF(name)->value, value);
        return 1;
    }
    b = CVM_BINDING_OF(env)->next;
    while (b != CVM_NIL && CVM_BINDING_OF(b)->name != name && CVM_BINDING_OF(b)->name != CVM_NIL)
        b = CVM_BINDING_OF(b)->next;
    if (b != CVM_NIL && CVM_BINDING_OF(b)->name == name) {
        cvm_store(vm, b, &CVM_BINDING_OF(b)->value, value);
        return 1;
    }
    r_env = cvm_root(vm, env);
    b = binding_new(vm, name, value, CVM_BINDING_OF(env)->next);
    if (b != CVM_NONE)
        cvm_store(vm, *r_env, &CVM_BINDING_OF(*r_env)->next, b);
    cvm_close(vm, scope);
    return b != CVM_NONE;
}

/* ---- evaluating --------------------------------------------------------- */

static cvm_value evaluate(cvm *vm, cvm_value form, cvm_value where, cvm_value env)
{
    size_t scope = cvm_open(vm);
    cvm_frame fr;
    cvm_value v;

    if (!cvm_enter(vm)) {
        note_place(vm, where, form);
        return CVM_NONE;
    }
    fr = frame_new(vm, form, where, env);
    v = run(vm, &fr);
    if (v == CVM_NONE)
        note_failure(vm, &fr);
    cvm_leave(vm);
    cvm_close(vm, scope);
    return v;
}

cvm_value cvm_eval(cvm *vm, cvm_value form, cvm_value env)
{
    return evaluate(vm, form, CVM_NIL, env);
}

/* Evaluate the expression that `pair` holds. */
static cvm_value eval_car(cvm *vm, cvm_value pair, cvm_value env)
{
    cvm_value form = car(pair), v;

    if (cvm_is(form, CVM_PAIR))
        return evaluate(vm, form, pair, env);
    v = cvm_is(form, CVM_SYMBOL) ? lookup(vm, form, env) : form;
    if (v == CVM_NONE)
        note_place(vm, pair, CVM_NIL);
    return v;
}

/* Let the expression that `pair` holds be the frame's next one. */
static cvm_value again(cvm_frame *fr, cvm_value pair)
{
    *fr->form = car(pair);
    *fr->where = pair;
    return AGAIN;
}

static cvm_value again_body(cvm *vm, cvm_frame *fr, cvm_value forms)
{
    cvm_value *rest = cvm_root(vm, forms);

    if (!cvm_is(*rest, CVM_PAIR))
        return CVM_NIL;
    while (cvm_is(cdr(*rest), CVM_PAIR)) {
        if (eval_car(vm, *rest, *fr->env) == CVM_NONE)
            return CVM_NONE;
        *rest = cdr(*rest);
    }
    return again(fr, *rest);
}

/* ---- calls -------------------------------------------------------------- */

int cvm_is_procedure(const cvm *vm, cvm_value v)
{
    const cvm_foreign_ops *foreign = cvm_lisp_of(vm)->foreign;

    return cvm_is(v, CVM_CLOSURE) || cvm_is(v, CVM_BUILTIN)
        || (cvm_is(v, CVM_FOREIGN) && foreign != NULL && foreign->is_callable(v));
}

/* Takes least to most arguments; most SIZE_MAX: any number. */
static cvm_value wrong_count(cvm *vm, const char *name, size_t least, size_t most, size_t n)
{
    char range[48];

    if (most > least && most != SIZE_MAX)
        snprintf(range, sizeof range, "%lu to %lu", (unsigned long)least, (unsigned long)most);
    else
        snprintf(range, sizeof range, "%s%lu", most == SIZE_MAX ? "at least " : "", (unsigned long)least);
    return cvm_fail(vm, "%s: expected %s argument%s, got %lu", name, range,
                    least == 1 && (most == 1 || most == SIZE_MAX) ? "" : "s", (unsigned long)n);
}

size_t cvm_index_of(cvm_value v)
{
    double number = cvm_number_of(v);

    return number < (double)(SIZE_MAX / 16) ? (size_t)number : SIZE_MAX / 16;
}

int cvm_check(cvm *vm, const char *who, cvm_value v, char letter)
{
    const char *wanted = "";
    int ok = 1;

    switch (letter) {
    case 'n': ok = cvm_is_number(v);          wanted = "a number"; break;
    case 'w': ok = cvm_is_whole(v);           wanted = "a whole number"; break;
    case 's': ok = cvm_is(v, CVM_STRING);     wanted = "a string"; break;
    case 'y': ok = cvm_is(v, CVM_SYMBOL);     wanted = "a symbol"; break;
    case 'p': ok = cvm_is(v, CVM_PAIR);       wanted = "a pair"; break;
    case 'l': ok = cvm_list_length(v) >= 0;   wanted = "a list"; break;
    case 'v': ok = cvm_is(v, CVM_VECTOR);     wanted = "a vector"; break;
    case 'f': ok = cvm_is_procedure(vm, v);   wanted = "a procedure"; break;
    case 'i':
        ok = cvm_is_number(v) && cvm_number_of(v) >= 0
          && (cvm_is_whole(v) || floor(cvm_number_of(v)) >= cvm_number_of(v));
        wanted = "a whole number, not negative";
    }
    if (!ok)
        cvm_expected(vm, who, wanted, v);
    return ok;
}

static cvm_value call_builtin(cvm *vm, cvm_value f, cvm_value *args, size_t n)
{
    const cvm_builtin *b = CVM_BUILTIN_OF(f);
    const cvm_builtin_def *def = b->def;
    const char *letter = def->signature;
    size_t i;

    if (n < b->least || n > b->most)
        return wrong_count(vm, def->name, b->least, b->most, n);
    for (i = 0; i < n; i++) {
        if (*letter == '?')
            letter++;
        if (*letter == '*')
            letter--;
        if (*letter != '.' && !cvm_check(vm, def->name, args[i], *letter))
            return CVM_NONE;
        letter++;
    }
    return def->call(vm, args, n);
}

static cvm_value closure_count(cvm *vm, const cvm_closure *f, size_t n)
{
    const char *name = cvm_is(f->name, CVM_SYMBOL) ? cvm_symbol_text(f->name) : "lambda";
    cvm_value params = f->params;
    size_t least = 0;

    for (; cvm_is(params, CVM_PAIR); params = cdr(params))
        least++;
    return wrong_count(vm, name, least, params == CVM_NIL ? least : SIZE_MAX, n);
}

/* The environment for the body of a closure called with these arguments. */
static cvm_value bind(cvm *vm, const cvm_value *f, const cvm_value *args, size_t n)
{
    cvm_value *params = cvm_root(vm, CVM_CLOSURE_OF(*f)->params);
    cvm_value *env = cvm_root(vm, CVM_CLOSURE_OF(*f)->env);
    cvm_value *rest = cvm_root(vm, CVM_NIL);
    size_t i;

    for (i = 0; i < n && cvm_is(*params, CVM_PAIR) && *env != CVM_NONE; i++) {
        *env = binding_new(vm, car(*params), args[i], *env);
        *params = cdr(*params);
    }
    if (*env != CVM_NONE && (cvm_is(*params, CVM_PAIR) || (*params == CVM_NIL && i < n)))
        return closure_count(vm, CVM_CLOSURE_OF(*f), n);
    if (*env != CVM_NONE && *params != CVM_NIL) {   /* a symbol that takes the rest, as a list */
        *rest = cvm_list_new(vm, args + i, n - i);
        *env = *rest != CVM_NONE ? binding_new(vm, *params, *rest, *env) : CVM_NONE;
    }
    return *env != CVM_NONE ? scope_new(vm, *env) : CVM_NONE;
}

static cvm_value again_closure(cvm *vm, cvm_frame *fr, cvm_value closure, const cvm_value *args, size_t n)
{
    cvm_value *f = cvm_root(vm, closure);
    cvm_value env = bind(vm, f, args, n);

    if (env == CVM_NONE)
        return CVM_NONE;
    *fr->env = env;
    *fr->called = *f;
    *fr->call = *fr->form;
    return again_body(vm, fr, CVM_CLOSURE_OF(*f)->body);
}

/* Any procedure, in a frame whose form is the call. */
static cvm_value call(cvm *vm, cvm_frame *fr, cvm_value f, cvm_value *args, size_t n)
{
    char text[60];

    if (cvm_is(f, CVM_BUILTIN))
        return call_builtin(vm, f, args, n);
    if (cvm_is(f, CVM_CLOSURE))
        return again_closure(vm, fr, f, args, n);
    if (cvm_is_procedure(vm, f))
        return cvm_lisp_of(vm)->foreign->call(vm, f, args, n);
    cvm_print_short(vm, f, text, sizeof text);
    return cvm_fail(vm, "this is not a procedure: %s", text);
}

cvm_value cvm_call(cvm *vm, cvm_value procedure, cvm_value *args, size_t n)
{
    size_t scope = cvm_open(vm);
    cvm_frame fr;
    cvm_value v;

    if (vm->printing > 0)
        return cvm_fail(vm, "a tp_repr must not run Lisp code");
    if (!cvm_enter(vm))
        return CVM_NONE;
    fr = frame_new(vm, CVM_NIL, CVM_NIL, CVM_NIL);
    v = call(vm, &fr, procedure, args, n);
    if (v == AGAIN)
        v = run(vm, &fr);
    if (v == CVM_NONE)
        note_failure(vm, &fr);
    cvm_leave(vm);
    cvm_close(vm, scope);
    return v;
}

/* A call of an ordinary procedure: *f is its value already. */
static cvm_value run_call(cvm *vm, cvm_frame *fr, cvm_value *f)
{
    cvm_value *rest = cvm_root(vm, cdr(*fr->form));
    cvm_value *args = rest + 1;             /* each one is rooted next to the last */
    size_t n;

    for (n = 0; cvm_is(*rest, CVM_PAIR); n++) {
        cvm_value v = cvm_stack_room(vm, CVM_STACK_SPARE) ? eval_car(vm, *rest, *fr->env)
                                                          : CVM_NONE;
        if (v == CVM_NONE)
            return CVM_NONE;
        cvm_root(vm, v);
        *rest = cdr(*rest);
    }
    if (*rest != CVM_NIL)
        return cvm_fail(vm, "the arguments of a call must be a proper list");
    return call(vm, fr, *f, args, n);
}

static cvm_value bad_form(cvm *vm, const char *name, cvm_value form)
{
    char text[60];

    cvm_print_short(vm, form, text, sizeof text);
    return cvm_fail(vm, "%s: bad form: %s", name, text);
}

static cvm_value run_special(cvm *vm, cvm_frame *fr, const cvm_special_def *def)
{
    intptr_t n = cvm_list_length(cdr(*fr->form));

    if (n < def->least || (def->most >= 0 && n > def->most))
        return bad_form(vm, def->name, *fr->form);
    return def->run(vm, fr);
}

static cvm_value run(cvm *vm, cvm_frame *fr)
{
    size_t scope = cvm_open(vm);

    for (;;) {
        cvm_value *f, v;

        cvm_close(vm, scope);
        cvm_glue_safe_point(vm);            /* everything in use is rooted here */
        if (cvm_lisp_of(vm)->interrupted)
            return cvm_fail(vm, "interrupted");
        if (cvm_is(*fr->form, CVM_SYMBOL))
            return lookup(vm, *fr->form, *fr->env);
        if (!cvm_is(*fr->form, CVM_PAIR))
            return *fr->form;
        f = cvm_root(vm, eval_car(vm, *fr->form, *fr->env));
        if (*f == CVM_NONE)
            return CVM_NONE;
        v = cvm_is(*f, CVM_SPECIAL) ? run_special(vm, fr, CVM_SPECIAL_OF(*f)->def)
                                    : run_call(vm, fr, f);
        if (v != AGAIN)
            return v;
    }
}

/* ---- special forms ------------------------------------------------------
 *
 * *fr->form is the whole form, and its number of arguments has been checked.
 */

static cvm_value sf_quote(cvm *vm, cvm_frame *fr)
{
    (void)vm;
    return car(cdr(*fr->form));
}

static cvm_value sf_begin(cvm *vm, cvm_frame *fr)
{
    return again_body(vm, fr, cdr(*fr->form));
}

/* The test of a form, which stands first: 1, 0, or -1 after a failure. */
static int test(cvm *vm, cvm_frame *fr)
{
    cvm_value v = eval_car(vm, cdr(*fr->form), *fr->env);

    return v == CVM_NONE ? -1 : cvm_truthy(v);
}

static cvm_value sf_if(cvm *vm, cvm_frame *fr)
{
    int yes = test(vm, fr);
    cvm_value branches = cdr(cdr(*fr->form));

    if (yes < 0)
        return CVM_NONE;
    if (yes)
        return again(fr, branches);
    return cdr(branches) == CVM_NIL ? CVM_NIL : again(fr, cdr(branches));
}

static cvm_value body_if(cvm *vm, cvm_frame *fr, int wanted)
{
    int yes = test(vm, fr);

    return yes < 0 ? CVM_NONE : yes == wanted ? again_body(vm, fr, cdr(cdr(*fr->form))) : CVM_NIL;
}

static cvm_value sf_when(cvm *vm, cvm_frame *fr) { return body_if(vm, fr, 1); }
static cvm_value sf_unless(cvm *vm, cvm_frame *fr) { return body_if(vm, fr, 0); }

/* (cond (test body...) ... (else body...)); `else` is a variable that is true. */
static cvm_value sf_cond(cvm *vm, cvm_frame *fr)
{
    cvm_value *rest = cvm_root(vm, cdr(*fr->form));

    for (; cvm_is(*rest, CVM_PAIR); *rest = cdr(*rest)) {
        cvm_value v;

        if (cvm_list_length(car(*rest)) < 1)
            return bad_form(vm, "cond", *fr->form);
        v = eval_car(vm, car(*rest), *fr->env);
        if (v == CVM_NONE)
            return CVM_NONE;
        if (cvm_truthy(v))
            return cdr(car(*rest)) == CVM_NIL ? v : again_body(vm, fr, cdr(car(*rest)));
    }
    return CVM_NIL;
}

/* `and` stops at the first false value, `or` at the first true one. */
static cvm_value and_or(cvm *vm, cvm_frame *fr, int stop_at)
{
    cvm_value *rest = cvm_root(vm, cdr(*fr->form));

    if (*rest == CVM_NIL)
        return cvm_boolean(!stop_at);
    for (; cvm_is(cdr(*rest), CVM_PAIR); *rest = cdr(*rest)) {
        cvm_value v = eval_car(vm, *rest, *fr->env);

        if (v == CVM_NONE || cvm_truthy(v) == stop_at)
            return v;
    }
    return again(fr, *rest);
}

static cvm_value sf_and(cvm *vm, cvm_frame *fr) { return and_or(vm, fr, 0); }
static cvm_value sf_or(cvm *vm, cvm_frame *fr) { return and_or(vm, fr, 1); }

static cvm_value sf_while(cvm *vm, cvm_frame *fr)
{
    size_t scope = cvm_open(vm);
    int yes;

    while ((yes = test(vm, fr)) > 0) {
        cvm_value *rest = cvm_root(vm, cdr(cdr(*fr->form)));

        for (; cvm_is(*rest, CVM_PAIR); *rest = cdr(*rest))
            if (eval_car(vm, *rest, *fr->env) == CVM_NONE)
                return CVM_NONE;
        cvm_close(vm, scope);
        if (cvm_lisp_of(vm)->interrupted)
            return cvm_fail(vm, "interrupted");
    }
    return yes < 0 ? CVM_NONE : CVM_NIL;
}

/* (a b), (a b . rest) or rest: only symbols. */
static int good_params(cvm_value params)
{
    size_t n = 0;

    for (; cvm_is(params, CVM_PAIR); params = cdr(params))
        if (!cvm_is(car(params), CVM_SYMBOL) || ++n > CVM_STACK_SIZE)
            return 0;
    return params == CVM_NIL || cvm_is(params, CVM_SYMBOL);
}

static cvm_value closure_new(cvm *vm, cvm_frame *fr, cvm_value name, cvm_value params, cvm_value body)
{
    const cvm_value fields[] = { name, params, body, *fr->env };

    if (!good_params(params))
        return bad_form(vm, name == CVM_NIL ? "lambda" : "define", *fr->form);
    return cvm_record(vm, CVM_CLOSURE, fields, 4);
}

static cvm_value sf_lambda(cvm *vm, cvm_frame *fr)
{
    cvm_value from = cdr(*fr->form);

    return closure_new(vm, fr, CVM_NIL, car(from), cdr(from));
}

/* May the program change this global variable? 0 after a failure. */
static int can_change(cvm *vm, const char *who, cvm_value name)
{
    if (!cvm_is(CVM_SYMBOL_OF(name)->value, CVM_SPECIAL))
        return 1;
    cvm_fail(vm, "%s: %s is a special form", who, cvm_symbol_text(name));
    return 0;
}

/* (define name value) or (define (name params...) body...) */
static cvm_value sf_define(cvm *vm, cvm_frame *fr)
{
    cvm_value target = car(cdr(*fr->form)), body = cdr(cdr(*fr->form));
    cvm_value *name = cvm_root(vm, cvm_is(target, CVM_PAIR) ? car(target) : target);
    cvm_value *v;

    if (!cvm_is(*name, CVM_SYMBOL) || (!cvm_is(target, CVM_PAIR) && cdr(body) != CVM_NIL))
        return bad_form(vm, "define", *fr->form);
    if (!can_change(vm, "define", *name))
        return CVM_NONE;
    v = cvm_root(vm, cvm_is(target, CVM_PAIR) ? closure_new(vm, fr, *name, cdr(target), body)
                                              : eval_car(vm, body, *fr->env));
    if (*v == CVM_NONE)
        return CVM_NONE;
    if (cvm_is(*v, CVM_CLOSURE) && CVM_CLOSURE_OF(*v)->name == CVM_NIL)
        cvm_store(vm, *v, &CVM_CLOSURE_OF(*v)->name, *name);
    return define(vm, *name, *v, *fr->env) ? *name : CVM_NONE;
}

static cvm_value sf_set(cvm *vm, cvm_frame *fr)
{
    cvm_value name = car(cdr(*fr->form));
    cvm_value v, b;

    if (!cvm_is(name, CVM_SYMBOL))
        return bad_form(vm, "set!", *fr->form);
    if (lookup(vm, name, *fr->env) == CVM_NONE)
        return CVM_NONE;
    v = eval_car(vm, cdr(cdr(*fr->form)), *fr->env);
    if (v == CVM_NONE)
        return CVM_NONE;
    name = car(cdr(*fr->form));             /* it may have moved */
    b = find_binding(name, *fr->env);
    if (b != CVM_NIL)
        cvm_store(vm, b, &CVM_BINDING_OF(b)->value, v);
    else if (can_change(vm, "set!", name))
        cvm_store(vm, name, &CVM_SYMBOL_OF(name)->value, v);
    else
        return CVM_NONE;
    return v;
}

/* (let ((name value) ...) body...) */
static cvm_value sf_let(cvm *vm, cvm_frame *fr)
{
    cvm_value *specs = cvm_root(vm, car(cdr(*fr->form)));
    cvm_value *chain = cvm_root(vm, *fr->env);

    if (cvm_list_length(*specs) < 0)
        return bad_form(vm, "let", *fr->form);
    for (; cvm_is(*specs, CVM_PAIR); *specs = cdr(*specs)) {
        cvm_value v;

        if (cvm_list_length(car(*specs)) != 2 || !cvm_is(car(car(*specs)), CVM_SYMBOL))
            return bad_form(vm, "let", *fr->form);
        v = eval_car(vm, cdr(car(*specs)), *fr->env);
        *chain = v != CVM_NONE ? binding_new(vm, car(car(*specs)), v, *chain) : CVM_NONE;
        if (*chain == CVM_NONE)
            return CVM_NONE;
    }
    *chain = scope_new(vm, *chain);
    if (*chain == CVM_NONE)
        return CVM_NONE;
    *fr->env = *chain;
    return again_body(vm, fr, cdr(cdr(*fr->form)));
}

/* (assert test message): a special form so that it can show the test. */
static cvm_value sf_assert(cvm *vm, cvm_frame *fr)
{
    int yes = test(vm, fr);
    cvm_value shown = cdr(*fr->form);
    char text[120];

    if (yes != 0)
        return yes < 0 ? CVM_NONE : CVM_TRUE;
    shown = cdr(shown) == CVM_NIL ? car(shown) : eval_car(vm, cdr(shown), *fr->env);
    if (shown == CVM_NONE)
        return CVM_NONE;
    cvm_print_short(vm, shown, text, sizeof text);
    return cvm_fail(vm, "assertion failed: %s", text);
}

static const cvm_special_def specials[] = {
    { "quote", 1, 1, sf_quote },    { "begin", 0, -1, sf_begin },
    { "if", 2, 3, sf_if },          { "cond", 0, -1, sf_cond },
    { "when", 1, -1, sf_when },     { "unless", 1, -1, sf_unless },
    { "and", 0, -1, sf_and },       { "or", 0, -1, sf_or },
    { "while", 1, -1, sf_while },   { "lambda", 1, -1, sf_lambda },
    { "define", 2, -1, sf_define }, { "set!", 2, 2, sf_set },
    { "let", 1, -1, sf_let },       { "assert", 1, 2, sf_assert }
};

/* ---- what the VM starts with -------------------------------------------- */

static const cvm_kind closure_kind = { "procedure", offsetof(cvm_closure, name), 4 };
static const cvm_kind binding_kind = { "binding", offsetof(cvm_binding, name), 3 };
static const cvm_kind builtin_kind = { "procedure", 0, 0 };
static const cvm_kind special_kind = { "special", 0, 0 };

int cvm_eval_open(cvm *vm)
{
    size_t i;

    vm->heap.kinds[CVM_CLOSURE] = &closure_kind;
    vm->heap.kinds[CVM_BINDING] = &binding_kind;
    vm->heap.kinds[CVM_BUILTIN] = &builtin_kind;
    vm->heap.kinds[CVM_SPECIAL] = &special_kind;
    for (i = 0; i < sizeof specials / sizeof *specials; i++) {
        cvm_special *s = (cvm_special *)cvm_object_new(vm, CVM_SPECIAL, sizeof *s);

        if (s == NULL)
            return 0;
        s->def = &specials[i];
        if (!cvm_define(vm, specials[i].name, (cvm_value)s))
            return 0;
    }
    return cvm_define(vm, "else", CVM_TRUE);
}

/* ---- programs ----------------------------------------------------------- */

int cvm_run_next(cvm_reader *r, cvm_value *last)
{
    cvm *vm = r->vm;
    cvm_value form = cvm_read(r);

    if (form == CVM_NONE)
        return 0;
    *last = CVM_NIL;                        /* do not keep the last value alive */
    *last = cvm_eval(vm, form, CVM_NIL);
    if (*last == CVM_NONE && vm->error_line == 0) {     /* an expression that is just a name */
        vm->error_file = *r->file;
        vm->error_line = r->line;
    }
    return *last != CVM_NONE;
}

cvm_value cvm_run_text(cvm *vm, const char *name, const char *text, size_t length)
{
    size_t scope = cvm_open(vm);
    cvm_value *last = cvm_root(vm, CVM_NIL);
    cvm_reader r = { 0 };

    r.vm = vm;
    r.at = text;
    r.end = text + length;
    r.line = 1;
    r.file = cvm_root(vm, cvm_text(vm, name));
    while (*r.file != CVM_NONE && cvm_run_next(&r, last))
        ;
    cvm_close(vm, scope);
    return vm->failed ? CVM_NONE : *last;
}

cvm_value cvm_run_file(cvm *vm, const char *path)
{
    FILE *file = fopen(path, "rb");
    cvm_buffer text = { 0 };
    char chunk[4096];
    size_t n;
    int broken;
    cvm_value v;

    if (file == NULL)
        return cvm_fail(vm, "cannot open %s", path);
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        cvm_put(&text, chunk, n);
    broken = ferror(file);
    fclose(file);
    if (text.length > 1 && text.bytes[0] == '#' && text.bytes[1] == '!')
        text.bytes[0] = ';';            /* a line for the shell is a comment */
    v = broken ? cvm_fail(vm, "cannot read %s", path)
      : text.full ? cvm_out_of_memory(vm)
      : cvm_run_text(vm, path, text.length > 0 ? text.bytes : "", text.length);
    cvm_buffer_free(&text);
    return v;
}
