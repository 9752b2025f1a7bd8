/* watch.c - seeing the collector and the links: where objects are, why a C object is alive, and
 * what waits to be deallocated. */
#include "lisp.h"

#include <stdlib.h>

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
CVM_BUILTIN_BODY(b_address) { return cvm_is_object(args[0]) ? cvm_size(vm, (size_t)args[0]) : CVM_NIL; }

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

static cvm_value number(cvm *vm, const char *name)
{
    const cvm_heap *h = &vm->heap;
    rrc_stats links;
    if (vm->layers[CVM_API] != NULL)
        vm->layers[CVM_API]->trim(vm);
    rrc_get_stats(vm->rrc, &links);
    const struct { const char *name; size_t number; } all[] = {
        { "minor-collections", h->minors }, { "major-collections", h->majors }, { "moved", h->moved },
        { "slices", h->slices }, { "marking", (size_t)h->marking },
        { "old-used", (size_t)(h->old_top - h->old) }, { "large-used", h->large_bytes }, { "heap-limit", h->limit },
        { "p-young", links.p_young }, { "p-old", links.p_old }, { "o-young", links.o_young },
        { "o-old", links.o_old }, { "pending", links.pending }, { "tracked", links.tracked },
        { "garbage", links.garbage }, { "c-objects", links.objects },
        { "c-bytes", links.object_bytes + links.native_bytes }
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return cvm_size(vm, all[i].number);
    return cvm_fail(vm, "stat: there is no number with the name %.200s", name);
}

/* (stat 'name): a number about the heap, the links, or C's memory; (pending): how many C objects wait to be
   deallocated */
CVM_BUILTIN_BODY(b_stat) { return number(vm, cvm_symbol_text(args[0])); }
CVM_BUILTIN_BODY(b_pending) { return number(vm, "pending"); }

/* ---- seeing links ------------------------------------------------------- */

static cvm_value address(cvm *vm, const void *p) { return p != NULL ? cvm_size(vm, (uintptr_t)p) : CVM_NIL; }

/* (c-address x): where the C object of x is, or nil if it has none; (c-sees x): where that believes x to be */
CVM_BUILTIN_BODY(b_c_address) { return address(vm, cvm_linked_ob(vm, args[0])); }

CVM_BUILTIN_BODY(b_c_sees)
{
    rrc_object *ob = cvm_linked_ob(vm, args[0]);
    return address(vm, ob != NULL ? (const void *)RRC_LINK(ob) : NULL);
}

/* (c-refs x): how many references C code holds to the C object of x */
CVM_BUILTIN_BODY(b_c_refs)
{
    rrc_object *ob = cvm_linked_ob(vm, args[0]);
    return cvm_integer(vm, ob != NULL ? rrc_refcnt(ob) : 0);
}

/* ---- explanations and pictures --------------------------------------------- */

static void write_text(void *out, const char *bytes, size_t length) { fwrite(bytes, 1, length, out); }

/* (explanation x): why the C object of x is alive, in words */
CVM_BUILTIN_BODY(b_explanation)
{
    rrc_object *ob = cvm_linked_ob(vm, args[0]);
    cvm_memory text;
    cvm_value v = CVM_NONE;
    if (ob == NULL)
        return cvm_text(vm, "no C object\n");
    if (!cvm_memory_open(vm, &text))
        return CVM_NONE;
    args[0] = CVM_NIL;          /* this slot of the stack is no answer */
    int code = rrc_explain(vm->rrc, &vm->insight, ob, write_text, text.out);
    if (cvm_memory_close(vm, &text))
        v = code == RRC_OK ? cvm_string_new(vm, text.bytes, text.length) : cvm_out_of_memory(vm);
    free(text.bytes);
    return v;
}

typedef int picture(rrc_heap *heap, const rrc_insight *insight, rrc_writeproc write, void *arg);

static cvm_value write_picture(cvm *vm, cvm_value name, picture *draw)
{
    FILE *file = fopen(cvm_bytes(name), "wb");
    int code = RRC_OK, ok = file != NULL;
    if (ok) {
        cvm_lisp_of(vm)->drawing = draw == rrc_dump_dot;
        code = draw(vm->rrc, &vm->insight, write_text, file);
        cvm_lisp_of(vm)->drawing = 0;
        ok = ferror(file) == 0;
        ok = fclose(file) == 0 && ok;
    }
    return !ok ? cvm_fail(vm, "cannot write %.200s", cvm_bytes(name))
         : code == RRC_OK ? CVM_NIL : cvm_out_of_memory(vm);
}

/* (dump-dot "file"): draws all C objects that are linked or tracked, and the Lisp objects but for code, for Graphviz */
CVM_BUILTIN_BODY(b_dump_dot) { return write_picture(vm, args[0], rrc_dump_dot); }

/* (heap-snapshot "file"): writes both heaps for Chrome's memory panel */
CVM_BUILTIN_BODY(b_heap_snapshot) { vm->observed = 1; return write_picture(vm, args[0], rrc_dump_heapsnapshot); }

/* ---- the dealloc queue -------------------------------------------------- */

/* (run-pending) or (run-pending max): deallocate them; how many units was that? See rrc_run_pending. */
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

/* (next-dead): take a C object off the queue; it lives on with a new proxy. A view whose host
   object is gone has nothing that could be seen: it is deallocated. */
CVM_BUILTIN_BODY(b_next_dead)
{
    const cvm_foreign_ops *foreign = cvm_lisp_of(vm)->foreign;
    rrc_object *ob;
    while ((ob = rrc_next_dead(vm->rrc)) != NULL && foreign != NULL && foreign->is_gone(vm, ob))
        rrc_decref(vm->rrc, ob);
    if (ob == NULL)
        return CVM_NIL;
    cvm_value *v = cvm_root(vm, cvm_from_ob(vm, ob));
    rrc_decref(vm->rrc, ob);            /* the queue's reference, which was ours now */
    return *v;
}

/* (gc-collect): collect, deallocate what waits, and once more if finalizers ran, for
   what they let go; how much cyclic garbage was there? */
CVM_BUILTIN_BODY(b_gc_collect) { return cvm_size(vm, rrc_gc_collect(vm->rrc)); }

/* (check-links): do all invariants of the links hold? */
CVM_BUILTIN_BODY(b_check_links)
{
    int code = rrc_check(vm->rrc);
    return code == RRC_OK ? CVM_TRUE : cvm_fail(vm, "check-links: %s", rrc_error_message(code));
}

const cvm_builtin_def cvm_watch_builtins[] = {
    { "gc", "", b_gc },                     { "gc-minor", "", b_gc_minor },
    { "gc-slice", "?i", b_gc_slice },       { "address", ".", b_address },
    { "where", ".", b_where },              { "stat", "y", b_stat },
    { "c-address", ".", b_c_address },      { "c-sees", ".", b_c_sees },
    { "c-refs", ".", b_c_refs },            { "pending", "", b_pending },
    { "run-pending", "?i", b_run_pending }, { "auto-pending", ".", b_auto_pending },
    { "next-dead", "", b_next_dead },       { "gc-collect", "", b_gc_collect },
    { "check-links", "", b_check_links },   { "explanation", ".", b_explanation },
    { "dump-dot", "s", b_dump_dot },        { "heap-snapshot", "s", b_heap_snapshot },
    { NULL, NULL, NULL }
};
