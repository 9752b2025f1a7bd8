/* eval.c - the evaluator: it walks the expressions as they were read.
 *
 * A frame is what one running evaluation works on: FRAME rooted slots in a row. The last
 * expression of a body, the branch of an `if` and the like are not evaluated by
 * recursion: they become the frame's next expression (a tail call), so a loop
 * written as a procedure runs in constant space.
 */
#include "lisp.h"

enum {
    FORM,                   /* what to evaluate: a pair; or nil, for a call from C */
    ENV,
    CALLED,                 /* the closure whose body it is, or nil */
    CALL,                   /* the expression that called it, or nil: C did */
    FRAME
};

/* What a special form returns after it has put its last part into the frame. */
#define AGAIN ((cvm_value)18)

static cvm_value in_frame(cvm *vm, cvm_value form, cvm_value env, cvm_value callee, cvm_value *args, size_t n);

static cvm_value car(cvm_value v) { return CVM_PAIR_OF(v)->car; }
static cvm_value cdr(cvm_value v) { return CVM_PAIR_OF(v)->cdr; }

/* ---- where an error happened -------------------------------------------- */

/* The pair, if it knows where it was read, or NULL. */
static const cvm_source_pair *place_of(cvm_value pair)
{
    int known = cvm_is(pair, CVM_PAIR) && cvm_object_size(cvm_object_of(pair)) >= sizeof(cvm_source_pair);
    return known ? (const cvm_source_pair *)pair : NULL;
}

static void note_place(cvm *vm, cvm_value pair)
{
    const cvm_source_pair *p = place_of(pair);
    if (p != NULL)
        cvm_error_at(vm, cvm_bytes(p->file), (int)cvm_fixnum_of(p->line));
}

/* The error leaves this frame, and ends the call in it. */
static void note_failure(cvm *vm, const cvm_value *frame)
{
    cvm_error *e = &vm->error;
    char *end = e->calls + strlen(e->calls);
    size_t room = sizeof e->calls - strlen(e->calls);
    const cvm_source_pair *p = place_of(frame[CALL]);
    note_place(vm, frame[FORM]);
    if (frame[CALLED] == CVM_NIL || e->call_count++ >= CVM_MOST_CALLS)
        return;
    const char *name = cvm_closure_name(frame[CALLED]);
    if (p != NULL)
        snprintf(end, room, "    in %.60s, called at %.100s:%d\n", name, cvm_bytes(p->file),
                 (int)cvm_fixnum_of(p->line));
    else
        snprintf(end, room, "    in %.60s\n", name);
}

void cvm_print_calls(cvm *vm, FILE *out)
{
    fputs(vm->error.calls, out);
    if (vm->error.call_count > CVM_MOST_CALLS)
        fprintf(out, "    and %lu more calls\n", (unsigned long)vm->error.call_count - CVM_MOST_CALLS);
}

/* ---- variables ---------------------------------------------------------- */

/* Put a binding in front of the chain in a rooted slot. 0: the value is CVM_NONE, or there is no memory. */
static int extend(cvm *vm, cvm_value *chain, cvm_value name, cvm_value value)
{
    cvm_value b = value == CVM_NONE ? value : cvm_record(vm, CVM_BINDING, (cvm_value[]){ name, value, *chain }, 3);
    if (b != CVM_NONE)
        *chain = b;
    return b != CVM_NONE;
}

/* The binding of the variable, or else the symbol: the global one. Of nil: the start of the scope, or nil. */
static cvm_value find(cvm_value name, cvm_value env)
{
    while (env != CVM_NIL && CVM_VARIABLE_OF(env)->name != name)
        env = CVM_VARIABLE_OF(env)->next;
    return env != CVM_NIL ? env : name;
}

static cvm_value lookup(cvm *vm, cvm_value name, cvm_value env)
{
    cvm_value v = CVM_VARIABLE_OF(find(name, env))->value;
    return v != CVM_UNBOUND ? v : cvm_fail(vm, "unbound variable: %s", cvm_symbol_text(name));
}

/* `define`: set the variable of this very scope, or make it. */
static int define(cvm *vm, cvm_value name, cvm_value value, cvm_value env)
{
    cvm_value *scope = cvm_root(vm, find(CVM_NIL, env));
    cvm_value b = *scope != CVM_NIL ? CVM_VARIABLE_OF(*scope)->next : name;
    while (b != CVM_NIL && b != name && CVM_VARIABLE_OF(b)->name != name
           && CVM_VARIABLE_OF(b)->name != CVM_NIL)
        b = CVM_VARIABLE_OF(b)->next;
    if (b == name || (b != CVM_NIL && CVM_VARIABLE_OF(b)->name == name)) {
        cvm_store(vm, b, &CVM_VARIABLE_OF(b)->value, value);
        return 1;
    }
    cvm_value *chain = cvm_root(vm, CVM_VARIABLE_OF(*scope)->next);
    if (!extend(vm, chain, name, value))
        return 0;
    cvm_store(vm, *scope, &CVM_VARIABLE_OF(*scope)->next, *chain);
    return 1;
}

/* ---- evaluating --------------------------------------------------------- */

cvm_value cvm_eval(cvm *vm, cvm_value form, cvm_value env)
{
    return cvm_is(form, CVM_PAIR) ? in_frame(vm, form, env, CVM_NONE, NULL, 0)
         : cvm_is(form, CVM_SYMBOL) ? lookup(vm, form, env) : form;
}

/* Evaluate the expression that `pair` holds. */
static cvm_value eval_car(cvm *vm, cvm_value pair, cvm_value env)
{
    int moves = cvm_is(car(pair), CVM_PAIR);
    cvm_value v = cvm_eval(vm, car(pair), env);
    if (v == CVM_NONE && !moves)        /* just a name; a pair has a place of its own */
        note_place(vm, pair);
    return v;
}

/* Let the expression that `pair` holds be the frame's next one. What is no pair is evaluated at once. */
static cvm_value again(cvm *vm, cvm_value *frame, cvm_value pair)
{
    if (!cvm_is(car(pair), CVM_PAIR))
        return eval_car(vm, pair, frame[ENV]);
    frame[FORM] = car(pair);
    return AGAIN;
}

static cvm_value again_body(cvm *vm, cvm_value *frame, cvm_value forms)
{
    cvm_value *rest = cvm_root(vm, forms);
    if (!cvm_is(*rest, CVM_PAIR))
        return CVM_NIL;
    for (; cvm_is(cdr(*rest), CVM_PAIR); *rest = cdr(*rest))
        if (eval_car(vm, *rest, frame[ENV]) == CVM_NONE)
            return CVM_NONE;
    return again(vm, frame, *rest);
}

/* ---- calls -------------------------------------------------------------- */

int cvm_is_procedure(const cvm *vm, cvm_value v)
{
    const cvm_foreign_ops *foreign = cvm_lisp_of(vm)->foreign;
    return cvm_is(v, CVM_CLOSURE) || cvm_is(v, CVM_BUILTIN)
        || (cvm_is(v, CVM_FOREIGN) && foreign != NULL && foreign->is_callable(v));
}

/* Fail, and show v, in about a line. */
static cvm_value fail_about(cvm *vm, const char *what, cvm_value v)
{
    char text[120];
    cvm_print_short(vm, v, text, sizeof text);
    return cvm_fail(vm, "%s: %s", what, text);
}

cvm_value cvm_expected(cvm *vm, const char *who, const char *what, cvm_value v)
{
    char text[60];
    cvm_print_short(vm, v, text, sizeof text);
    return cvm_fail(vm, "%s: expected %s, got %s", who, what, text);
}

static cvm_value wrong_count(cvm *vm, const char *name, size_t n)
{
    return cvm_fail(vm, "%s: cannot be called with %lu argument%s", name, (unsigned long)n, n == 1 ? "" : "s");
}

size_t cvm_index_of(cvm_value v)
{
    size_t number = (size_t)cvm_whole_of(v);
    return number < SIZE_MAX / 16 ? number : SIZE_MAX / 16;
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
        ok = cvm_is_whole(v) && cvm_whole_of(v) >= 0;
        wanted = "a whole number, not negative";
        break;
    default:
        ok = cvm_lisp_of(vm)->foreign->has(v, letter, &wanted);
    }
    if (!ok)
        cvm_expected(vm, who, wanted, v);
    return ok;
}

int cvm_in_range(cvm *vm, const char *who, size_t i, size_t length)
{
    if (i >= length)
        cvm_fail(vm, "%s: index %lu is out of range, the length is %lu", who, (unsigned long)i, (unsigned long)length);
    return i < length;
}

rrc_object *cvm_to_c(cvm *vm, const char *who, cvm_value v)
{
    if (!cvm_is_object(v))
        cvm_expected(vm, who, "an object on the heap", v);
    else if (cvm_is(v, CVM_FOREIGN) && cvm_named_ob(v) == NULL)
        cvm_expected(vm, who, "a living C object", v);
    else
        return cvm_ob_of(vm, v);
    return NULL;
}

/* May there be so many arguments? */
static int takes(const cvm_builtin_def *def, size_t n)
{
    const char *letters = def->signature;
    size_t least = strcspn(letters, "?*");
    if (letters[least] == '*')
        return n + 1 >= least;
    return n >= least && n <= strlen(letters) - (letters[least] == '?');
}

static cvm_value call_builtin(cvm *vm, const cvm_builtin_def *def, cvm_value *args, size_t n)
{
    const char *letter = def->signature;
    if (!takes(def, n))
        return wrong_count(vm, def->name, n);
    for (size_t i = 0; i < n; i++) {
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

/* Is it the length of an argument list for these parameters? */
static int fits(cvm_value params, size_t n)
{
    for (; n > 0 && cvm_is(params, CVM_PAIR); n--)
        params = cdr(params);
    return params == CVM_NIL ? n == 0 : !cvm_is(params, CVM_PAIR);
}

static cvm_value again_closure(cvm *vm, cvm_value *frame, cvm_value closure, const cvm_value *args, size_t n)
{
    cvm_value *params = cvm_root(vm, CVM_CLOSURE_OF(closure)->params), *env = &frame[ENV];
    if (!fits(*params, n))
        return wrong_count(vm, cvm_closure_name(closure), n);
    frame[CALL] = frame[FORM];
    frame[CALLED] = closure;
    *env = CVM_CLOSURE_OF(closure)->env;
    for (; cvm_is(*params, CVM_PAIR); *params = cdr(*params), args++, n--)
        if (!extend(vm, env, car(*params), *args))
            return CVM_NONE;
    if (*params != CVM_NIL) {                           /* a symbol that takes the rest, as a list */
        cvm_value rest = cvm_list_new(vm, args, n);
        if (!extend(vm, env, *params, rest))
            return CVM_NONE;
    }
    if (!extend(vm, env, CVM_NIL, CVM_NIL))
        return CVM_NONE;
    return again_body(vm, frame, CVM_CLOSURE_OF(frame[CALLED])->body);
}

/* Any procedure, in a frame whose form is the call. */
static cvm_value call(cvm *vm, cvm_value *frame, cvm_value f, cvm_value *args, size_t n)
{
    if (cvm_is(f, CVM_BUILTIN))
        return call_builtin(vm, CVM_BUILTIN_OF(f)->def, args, n);
    if (cvm_is(f, CVM_CLOSURE))
        return again_closure(vm, frame, f, args, n);
    if (cvm_is_procedure(vm, f))
        return cvm_lisp_of(vm)->foreign->call(vm, f, args, n);
    return fail_about(vm, "this is not a procedure", f);
}

/* A call of an ordinary procedure: *f is its value already. */
static cvm_value run_call(cvm *vm, cvm_value *frame, const cvm_value *f)
{
    cvm_value *rest = cvm_root(vm, cdr(frame[FORM]));
    cvm_value *args = rest + 1;             /* each one is rooted next to the last */
    size_t n;
    for (n = 0; cvm_is(*rest, CVM_PAIR); n++) {
        cvm_value v = cvm_stack_room(vm, CVM_STACK_SPARE) ? eval_car(vm, *rest, frame[ENV]) : CVM_NONE;
        if (v == CVM_NONE)
            return CVM_NONE;
        cvm_root(vm, v);
        *rest = cdr(*rest);
    }
    if (*rest != CVM_NIL)
        return cvm_fail(vm, "the arguments of a call must be a proper list");
    return call(vm, frame, *f, args, n);
}

static cvm_value bad_form(cvm *vm, const cvm_value *frame) { return fail_about(vm, "bad form", frame[FORM]); }

/* A special form is a builtin that gets the frame. */
static cvm_value run_special(cvm *vm, cvm_value *frame, const cvm_builtin_def *def)
{
    intptr_t n = cvm_list_length(cdr(frame[FORM]));
    return n < 0 || !takes(def, (size_t)n) ? bad_form(vm, frame) : def->call(vm, frame, (size_t)n);
}

static cvm_value run(cvm *vm, cvm_value *frame)
{
    size_t scope = cvm_open(vm);
    cvm_value v = AGAIN;
    while (v == AGAIN) {
        cvm_close(vm, scope);
        if (vm->attention)
            cvm_glue_attend(vm);                 /* everything in use is rooted here */
        if (cvm_lisp_of(vm)->interrupted)
            return cvm_fail(vm, "interrupted");
        cvm_value *f = cvm_root(vm, eval_car(vm, frame[FORM], frame[ENV]));
        if (*f == CVM_NONE)
            return CVM_NONE;
        v = cvm_is(*f, CVM_SPECIAL) ? run_special(vm, frame, CVM_BUILTIN_OF(*f)->def) : run_call(vm, frame, f);
    }
    return v;
}

/* In a new frame: evaluate the form, which is a pair; or call the callee, if it is not CVM_NONE. */
static cvm_value in_frame(cvm *vm, cvm_value form, cvm_value env, cvm_value callee, cvm_value *args, size_t n)
{
    size_t scope = cvm_open(vm);
    if (!cvm_enter(vm)) {
        note_place(vm, form);
        return CVM_NONE;
    }
    cvm_value *frame = cvm_root(vm, form);
    cvm_root(vm, env);
    cvm_root(vm, CVM_NIL);
    cvm_root(vm, CVM_NIL);
    cvm_value v = callee != CVM_NONE ? call(vm, frame, callee, args, n) : AGAIN;
    if (v == AGAIN)
        v = run(vm, frame);
    if (v == CVM_NONE)
        note_failure(vm, frame);
    cvm_leave(vm);
    cvm_close(vm, scope);
    return v;
}

cvm_value cvm_call(cvm *vm, cvm_value procedure, cvm_value *args, size_t n)
{
    if (vm->printing > 0)
        return cvm_fail(vm, "a tp_repr must not run Lisp code");
    return in_frame(vm, CVM_NIL, CVM_NIL, procedure, args, n);
}

/* ---- special forms ------------------------------------------------------
 *
 * args is the frame. args[FORM] is the whole form, and its n arguments have been counted.
 */

CVM_BUILTIN_BODY(sf_quote) { return car(cdr(args[FORM])); }
CVM_BUILTIN_BODY(sf_begin) { return again_body(vm, args, cdr(args[FORM])); }

/* The test of a form, which stands first: 1, 0, or -1 after a failure. */
static int test(cvm *vm, const cvm_value *frame)
{
    cvm_value v = eval_car(vm, cdr(frame[FORM]), frame[ENV]);
    return v == CVM_NONE ? -1 : cvm_truthy(v);
}

CVM_BUILTIN_BODY(sf_if)
{
    int yes = test(vm, args);
    if (yes < 0)
        return CVM_NONE;
    cvm_value yes_part = cdr(cdr(args[FORM])), branch = yes ? yes_part : cdr(yes_part);
    return branch != CVM_NIL ? again(vm, args, branch) : CVM_NIL;
}

CVM_BUILTIN_BODY(sf_when)
{
    int yes = test(vm, args);
    return yes < 0 ? CVM_NONE : yes ? again_body(vm, args, cdr(cdr(args[FORM]))) : CVM_NIL;
}

/* (cond (test body...) ... (else body...)); `else` is a variable that is true. */
CVM_BUILTIN_BODY(sf_cond)
{
    cvm_value *rest = cvm_root(vm, cdr(args[FORM]));
    for (; n > 0; n--) {
        if (cvm_list_length(car(*rest)) < 1)
            return bad_form(vm, args);
        cvm_value v = eval_car(vm, car(*rest), args[ENV]);
        if (v == CVM_NONE)
            return CVM_NONE;
        if (cvm_truthy(v))
            return cdr(car(*rest)) == CVM_NIL ? v : again_body(vm, args, cdr(car(*rest)));
        *rest = cdr(*rest);
    }
    return CVM_NIL;
}

/* `and` stops at the first false value, `or` at the first true one. */
static cvm_value and_or(cvm *vm, cvm_value *frame, size_t n, int stop_at)
{
    cvm_value *rest = cvm_root(vm, cdr(frame[FORM]));
    if (n == 0)
        return cvm_boolean(!stop_at);
    for (; n > 1; n--) {
        cvm_value v = eval_car(vm, *rest, frame[ENV]);
        if (v == CVM_NONE || cvm_truthy(v) == stop_at)
            return v;
        *rest = cdr(*rest);
    }
    return again(vm, frame, *rest);
}

CVM_BUILTIN_BODY(sf_and) { return and_or(vm, args, n, 0); }
CVM_BUILTIN_BODY(sf_or) { return and_or(vm, args, n, 1); }

CVM_BUILTIN_BODY(sf_while)
{
    size_t scope = cvm_open(vm);
    int yes;
    while ((yes = test(vm, args)) > 0) {
        cvm_value *rest = cvm_root(vm, cdr(cdr(args[FORM])));
        for (size_t i = 1; i < n; i++, *rest = cdr(*rest))
            if (eval_car(vm, *rest, args[ENV]) == CVM_NONE)
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

static cvm_value closure_new(cvm *vm, const cvm_value *frame, cvm_value name, cvm_value params, cvm_value body)
{
    if (!good_params(params))
        return bad_form(vm, frame);
    return cvm_record(vm, CVM_CLOSURE, (cvm_value[]){ name, params, body, frame[ENV] }, 4);
}

CVM_BUILTIN_BODY(sf_lambda)
{
    cvm_value from = cdr(args[FORM]);
    return closure_new(vm, args, CVM_NIL, car(from), cdr(from));
}

/* (define name value) or (define (name params...) body...) */
CVM_BUILTIN_BODY(sf_define)
{
    cvm_value target = car(cdr(args[FORM])), body = cdr(cdr(args[FORM]));
    cvm_value *name = cvm_root(vm, cvm_is(target, CVM_PAIR) ? car(target) : target);
    if (!cvm_is(*name, CVM_SYMBOL) || (!cvm_is(target, CVM_PAIR) && n > 2))
        return bad_form(vm, args);
    cvm_value *v = cvm_root(vm, cvm_is(target, CVM_PAIR) ? closure_new(vm, args, *name, cdr(target), body)
                                                         : eval_car(vm, body, args[ENV]));
    if (*v == CVM_NONE)
        return CVM_NONE;
    if (cvm_is(*v, CVM_CLOSURE) && CVM_CLOSURE_OF(*v)->name == CVM_NIL)
        cvm_store(vm, *v, &CVM_CLOSURE_OF(*v)->name, *name);
    return define(vm, *name, *v, args[ENV]) ? *name : CVM_NONE;
}

CVM_BUILTIN_BODY(sf_set)
{
    if (!cvm_is(car(cdr(args[FORM])), CVM_SYMBOL))
        return bad_form(vm, args);
    cvm_value v = eval_car(vm, cdr(cdr(args[FORM])), args[ENV]);
    cvm_value name = car(cdr(args[FORM])), variable = find(name, args[ENV]);
    if (v == CVM_NONE || lookup(vm, name, args[ENV]) == CVM_NONE)
        return CVM_NONE;
    return cvm_store(vm, variable, &CVM_VARIABLE_OF(variable)->value, v);
}

/* (let ((name value) ...) body...) */
CVM_BUILTIN_BODY(sf_let)
{
    cvm_value *specs = cvm_root(vm, car(cdr(args[FORM])));
    cvm_value *chain = cvm_root(vm, args[ENV]);
    if (cvm_list_length(*specs) < 0)
        return bad_form(vm, args);
    for (; cvm_is(*specs, CVM_PAIR); *specs = cdr(*specs)) {
        if (cvm_list_length(car(*specs)) != 2 || !cvm_is(car(car(*specs)), CVM_SYMBOL))
            return bad_form(vm, args);
        cvm_value v = eval_car(vm, cdr(car(*specs)), args[ENV]);
        if (!extend(vm, chain, car(car(*specs)), v))
            return CVM_NONE;
    }
    if (!extend(vm, chain, CVM_NIL, CVM_NIL))
        return CVM_NONE;
    args[ENV] = *chain;
    return again_body(vm, args, cdr(cdr(args[FORM])));
}

/* (assert test message): a special form so that it can show the test. */
CVM_BUILTIN_BODY(sf_assert)
{
    int yes = test(vm, args);
    cvm_value shown = cdr(args[FORM]);
    if (yes != 0)
        return yes < 0 ? CVM_NONE : CVM_TRUE;
    shown = n == 1 ? car(shown) : eval_car(vm, cdr(shown), args[ENV]);
    return shown != CVM_NONE ? fail_about(vm, "assertion failed", shown) : CVM_NONE;
}

const cvm_builtin_def cvm_special_forms[] = {
    { "quote", ".", sf_quote },     { "begin", ".*", sf_begin },
    { "if", "..?.", sf_if },        { "cond", ".*", sf_cond },
    { "when", "..*", sf_when },     { "while", "..*", sf_while },
    { "and", ".*", sf_and },        { "or", ".*", sf_or },
    { "lambda", "..*", sf_lambda }, { "define", "...*", sf_define },
    { "let", "..*", sf_let },       { "set!", "..", sf_set },
    { "assert", ".?.", sf_assert },
    { NULL, NULL, NULL }
};
