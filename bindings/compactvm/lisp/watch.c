/* watch.c - seeing the collector and the links: where objects are, why a C object is alive, and
 * what waits to be deallocated. */
#include "lisp.h"

#include <string.h>

/* ---- seeing the collector ----------------------------------------------- */

CVM_BUILTIN_BODY(b_gc)
{
    cvm_heap_major(&vm->heap);
    return CVM_NIL;
}

CVM_BUILTIN_BODY(b_gc_minor)
{
    cvm_heap_minor(&vm->heap);
    return CVM_NIL;
}

/* (gc-slice) or (gc-slice bytes): begin a major collection, or mark some more. Is something left? */
CVM_BUILTIN_BODY(b_gc_slice)
{
    return cvm_boolean(cvm_heap_slice(&vm->heap, n > 0 ? cvm_index_of(args[0]) : CVM_SLICE));
}

/* (address x): where x is now, or nil if it is not on the heap */
CVM_BUILTIN_BODY(b_address)
{
    return cvm_is_object(args[0]) ? cvm_size(vm, (size_t)args[0]) : CVM_NIL;
}

/* (where x): which part of the heap x is in */
CVM_BUILTIN_BODY(b_where)
{
    int flags = cvm_is_object(args[0]) ? cvm_object_of(args[0])->flags : 0;

    if (!cvm_is_object(args[0]))
        return CVM_NIL;
    return cvm_text(vm, flags & CVM_PREBUILT ? "prebuilt"
                      : flags & CVM_LARGE ? (flags & CVM_YOUNG ? "young large" : "old large")
                      : flags & CVM_YOUNG ? "nursery" : "old");
}

/* (stat 'name): a number about the heap, the links, or C's memory */
CVM_BUILTIN_BODY(b_stat)
{
    const cvm_heap *h = &vm->heap;
    rrc_stats links;
    size_t i;

    rrc_get_stats(vm->rrc, &links);
    {
        const struct { const char *name; size_t number; } all[] = {
            { "minor-collections", h->minors }, { "major-collections", h->majors }, { "moved", h->moved },
            { "slices", h->slices }, { "marking", (size_t)h->marking },
            { "nursery-used", (size_t)(h->nursery_top - h->nursery) },
            { "old-used", (size_t)(h->old_top - h->old) }, { "old-size", (size_t)(h->old_end - h->old) },
            { "large-used", h->large_bytes }, { "heap-limit", h->limit },
            { "p-young", links.p_young }, { "p-old", links.p_old }, { "o-young", links.o_young },
            { "o-old", links.o_old }, { "pending", links.pending }, { "tracked", links.tracked },
            { "garbage", links.garbage }, { "uncollectable", links.uncollectable },
            { "c-objects", links.objects }, { "c-bytes", links.object_bytes + links.native_bytes },
            { "c-pending-bytes", links.pending_bytes }
        };

        for (i = 0; i < sizeof all / sizeof *all; i++)
            if (strcmp(all[i].name, cvm_symbol_text(args[0])) == 0)
                return cvm_size(vm, all[i].number);
    }
    return cvm_expected(vm, "stat", "the name of a number", args[0]);
}

/* ---- seeing links ------------------------------------------------------- */

/* The C object linked to a value, borrowed; or NULL. */
static rrc_object *linked(cvm *vm, cvm_value v)
{
    if (!cvm_is_object(v))
        return NULL;
    return cvm_named_ob(v) != NULL ? cvm_named_ob(v) : rrc_from_obj(vm->rrc, (rrc_gcref)v);
}

/* (c-address x): where the C object of x is, or nil if it has none */
CVM_BUILTIN_BODY(b_c_address)
{
    rrc_object *ob = linked(vm, args[0]);

    return ob != NULL ? cvm_size(vm, (uintptr_t)ob) : CVM_NIL;
}

/* (c-sees x): where the C object of x believes x to be */
CVM_BUILTIN_BODY(b_c_sees)
{
    rrc_object *ob = linked(vm, args[0]);

    return ob != NULL ? cvm_size(vm, (uintptr_t)RRC_LINK(ob)) : CVM_NIL;
}

/* (c-refs x): how many references C code holds to the C object of x */
CVM_BUILTIN_BODY(b_c_refs)
{
    rrc_object *ob = linked(vm, args[0]);

    return cvm_integer(vm, ob != NULL ? rrc_refcnt(ob) : 0);
}

/* Receives the text of rrc_explain. */
static void put_text(void *out, const char *bytes, size_t length)
{
    cvm_put(out, bytes, length);
}

/* (explanation x): why the C object of x is alive, in words */
CVM_BUILTIN_BODY(b_explanation)
{
    rrc_object *ob = linked(vm, args[0]);
    cvm_buffer out = { 0 };
    cvm_value v = args[0];
    int code = RRC_OK;

    args[0] = CVM_NIL;          /* this slot of the stack is no answer */
    if (ob == NULL)
        cvm_put_text(&out, "no C object\n");
    else
        code = rrc_explain(vm->rrc, ob, put_text, &out);
    args[0] = v;
    v = code == RRC_OK && !out.full ? cvm_string_new(vm, out.bytes, out.length) : cvm_out_of_memory(vm);
    cvm_buffer_free(&out);
    return v;
}

/* (dump-dot "file"): draws all C objects that are linked or tracked, and the Lisp objects but for code, for Graphviz */
CVM_BUILTIN_BODY(b_dump_dot)
{
    return cvm_write_picture(vm, args[0], rrc_dump_dot);
}

/* (heap-snapshot "file"): writes both heaps for Chrome's memory panel */
CVM_BUILTIN_BODY(b_heap_snapshot)
{
    return cvm_write_picture(vm, args[0], rrc_dump_heapsnapshot);
}

/* ---- the dealloc queue -------------------------------------------------- */

/* (pending): how many C objects wait to be deallocated */
CVM_BUILTIN_BODY(b_pending)
{
    rrc_stats stats;

    rrc_get_stats(vm->rrc, &stats);
    return cvm_size(vm, stats.pending);
}

/* (run-pending) or (run-pending max): deallocate them; how many were done? */
CVM_BUILTIN_BODY(b_run_pending)
{
    return cvm_size(vm, rrc_run_pending(vm->rrc, n > 0 ? cvm_index_of(args[0]) : 0));
}

/* (auto-pending yes): should safe points do that by themselves? */
CVM_BUILTIN_BODY(b_auto_pending)
{
    vm->auto_pending = cvm_truthy(args[0]);
    vm->attention = 1;
    return CVM_NIL;
}

static int is_gone(cvm *vm, rrc_object *ob)
{
    return cvm_lisp_of(vm)->foreign != NULL && cvm_lisp_of(vm)->foreign->is_gone(vm, ob);
}

/* (next-dead): take a C object off the queue; it lives on with a new proxy. A view whose host
   object is gone has nothing that could be seen: it is deallocated. */
CVM_BUILTIN_BODY(b_next_dead)
{
    rrc_object *ob = rrc_next_dead(vm->rrc);
    cvm_value *v;

    while (ob != NULL && is_gone(vm, ob)) {
        rrc_decref(vm->rrc, ob);
        ob = rrc_next_dead(vm->rrc);
    }
    if (ob == NULL)
        return CVM_NIL;
    v = cvm_root(vm, cvm_from_ob(vm, ob));
    rrc_decref(vm->rrc, ob);            /* the queue's reference, which was ours now */
    return *v;
}

/* (gc-collect): collect, deallocate what waits, and once more if finalizers ran, for
   what they let go; how much cyclic garbage was there? */
CVM_BUILTIN_BODY(b_gc_collect)
{
    return cvm_size(vm, rrc_gc_collect(vm->rrc));
}

/* (check-links): do all invariants of the links hold? */
CVM_BUILTIN_BODY(b_check_links)
{
    int code = rrc_check(vm->rrc);

    return code == RRC_OK ? CVM_TRUE
         : cvm_fail(vm, "check-links: %s", rrc_error_message(code));
}

const cvm_builtin_def cvm_watch_builtins[] = {
    { "gc", "", b_gc },                     { "gc-minor", "", b_gc_minor },
    { "gc-slice", "?i", b_gc_slice },
    { "address", ".", b_address },          { "where", ".", b_where },
    { "stat", "y", b_stat },
    { "c-address", ".", b_c_address },      { "c-sees", ".", b_c_sees },
    { "c-refs", ".", b_c_refs },            { "explanation", ".", b_explanation },
    { "dump-dot", "s", b_dump_dot },        { "heap-snapshot", "s", b_heap_snapshot },
    { "pending", "", b_pending },           { "run-pending", "?i", b_run_pending },
    { "auto-pending", ".", b_auto_pending }, { "next-dead", "", b_next_dead },
    { "gc-collect", "", b_gc_collect },     { "check-links", "", b_check_links },
    { NULL, NULL, NULL }
};
