/* failing.c - every allocation fails in turn: C's and Lisp's. Whatever fails, the VM
 * and the extensions end up sound, and nothing is leaked (the sanitizer looks). */
#include "../../../../tests/unit.h"
#include "../../layers.h"
#include "../impl.h"

#include <stdlib.h>
#include <string.h>

extern const cx_extension cx_ext_probe, cx_ext_buffer, cx_ext_graph;

/* What is loaded and run, and how many allocations that takes at least. */
static const struct subject {
    const char *extension, *script;
    size_t least;
} subjects[] = {
    { "probe", "bindings/cpython/cx/tests/brief.lisp", 300 },
    { "buffer", "bindings/cpython/extensions/tests/failing/buffer.lisp", 30 },
    { "graph", "bindings/cpython/extensions/tests/failing/graph.lisp", 30 }
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* ---- malloc and its kin, which the linker leads here ---------------------- */

static size_t countdown;                /* 0: nothing fails */

static int fails(void)
{
    return countdown > 0 && --countdown == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __real_realloc(ptr, size);
}

/* ---- one round ------------------------------------------------------------ */

static cvm *start(size_t nursery)
{
    cvm_config config = { .layers = cvm_all_layers };
    cvm *vm;

    config.nursery = nursery;
    config.heap_limit = 8u << 20;
    vm = cvm_new(&config);
    if (vm != NULL && (cx_add_extension(vm, &cx_ext_probe) != 0 || cx_add_extension(vm, &cx_ext_buffer) != 0
                       || cx_add_extension(vm, &cx_ext_graph) != 0)) {
        cvm_free(vm);
        return NULL;
    }
    return vm;
}

static void check_error(cvm *vm, const char *what, size_t n)
{
    char text[400];

    cvm_error_text(vm, text, sizeof text);
    if (strstr(text, "out of memory") == NULL)
        unit_fail(__FILE__, __LINE__, "%s allocation %lu: %s", what, (unsigned long)n, text);
    cvm_error_clear(vm);
}

/* Run the script; allocation n fails. 0: there were not as many. */
static int round_with_failure(const struct subject *s, size_t n, int in_lisp)
{
    cvm *vm = start(0);
    size_t left;

    check(vm != NULL);
    if (in_lisp)
        vm->heap.fail_in = n;
    else
        countdown = n;
    if (cx_load_extension(vm, s->extension) != 0 || cvm_run_file(vm, s->script) == CVM_NONE)
        check_error(vm, in_lisp ? "Lisp" : "C", n);
    left = in_lisp ? vm->heap.fail_in : countdown;
    vm->heap.fail_in = countdown = 0;
    check_int(vm->sp, 0);
    check_int(vm->depth, 0);
    check_int(CX_STATE(vm)->temp_count, 0);
    check_int(vm->printing, 0);
    check_int(rrc_check(vm->rrc), RRC_OK);
    check_int(cvm_free(vm), 0);
    return left == 0;
}

static void all_rounds(int in_lisp)
{
    size_t step = unit_is_quick() ? 41 : 1, i, n;

    for (i = 0; i < SUBJECTS; i++) {
        unit_context("%s", subjects[i].extension);
        for (n = 1; round_with_failure(&subjects[i], n, in_lisp); n += step)
            continue;
        check(n > subjects[i].least);
    }
}

static void c_allocations(void)
{
    all_rounds(0);
}

static void lisp_allocations(void)
{
    all_rounds(1);
}

/* The VM itself: it starts, or it does not. */
static void starting(void)
{
    size_t n;

    for (n = 1; ; n++) {
        cvm *vm;
        size_t left;

        countdown = n;
        vm = start(0);
        left = countdown;
        countdown = 0;
        if (vm != NULL)
            check_int(cvm_free(vm), 0);
        if (left > 0)
            break;
    }
    check(n > 300);
}

UNIT_GROUP(failing, UNIT(c_allocations), UNIT(lisp_allocations), UNIT(starting));
