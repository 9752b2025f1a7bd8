/* What a tp_finalize, a tp_clear and a tp_dealloc can use; test_slots.rb drives it. The bindings for Lua
 * and mruby have the same places.
 *
 * An owner owns a string and a proc of Ruby, and looks at both in each of its slots. Its `next` leads on:
 * to an array with another owner, or back to itself. Its tp_clear clears `next` only, so that its
 * tp_dealloc still has the rest. When the process has ended, what the slots have found is printed: a cell
 * of a table for each. */
#include "nodes.h"

#include <ruby/debug.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINALIZE, CLEAR, DEALLOC, SLOTS };
enum { ALL, STRING, NOTHING, WRONG, FINDINGS };

typedef struct owner {
    rrc_object  head;
    int         id, is_cleared;
    rrc_object *text, *callback, *next;
} owner;

static int found[SLOTS][FINDINGS];
static int owners;                      /* that live */
static int met;                         /* by weak references: what is cleared, or deallocated */
static int is_after_ruby;
static int is_busy;                     /* the slots use all else that there is, and collect */
static rrc_object *held;                /* by C */

static VALUE wrap_self(VALUE ob) { return rrc_ruby_wrap((rrc_object *)ob); }

static void decref_if(rrc_object *ob)
{
    if (ob != NULL)
        rrc_decref(rrc_ruby_heap(), ob);
}

/* Each works, or fails as its comment says. */
static VALUE use_all(VALUE arg)
{
    owner *o = (owner *)arg;
    VALUE next = rrc_ruby_wrap(o->next), callback = rrc_ruby_wrap(o->callback);
    decref_if(rrc_ruby_hold(next));
    decref_if(rrc_ruby_hold(callback));
    decref_if(rrc_ruby_hold(rb_str_new_cstr("new")));
    rrc_ruby_native_bytes(100);
    rrc_ruby_native_bytes(-100);
    rrc_ruby_run_pending(0);
    rb_gc_start();
    rb_funcall(rb_path2class("Rawrefcount"), rb_intern("collect"), 0);
    return Qnil;
}

static void look(owner *o, int slot)
{
    char expected[40];
    VALUE text, result = Qnil;
    int has_text, has_callback, wrong = 0, tag;
    if (is_busy && !is_after_ruby) {
        VALUE wrapped = slot == DEALLOC ? rb_protect(wrap_self, (VALUE)o, &tag) : Qnil;
        if (!NIL_P(wrapped))            /* one that is being deallocated gets no wrapper */
            puts("it is wrapped");
        rb_set_errinfo(Qnil);
        rb_protect(use_all, (VALUE)o, &tag);
        rb_set_errinfo(Qnil);
    }
    text = rrc_ruby_wrap(o->text);
    has_text = !NIL_P(text);
    snprintf(expected, sizeof expected, "text %d", o->id);
    wrong += has_text && (!RB_TYPE_P(text, T_STRING) || strcmp(StringValueCStr(text), expected) != 0);
    tag = rrc_ruby_call_protected(o->callback, 0, NULL, &result);
    if (tag != 0)
        rb_set_errinfo(Qnil);
    has_callback = !NIL_P(result);
    wrong += has_callback && result != INT2FIX(o->id);
    found[slot][wrong > 0 || (has_callback && !has_text) ? WRONG : has_callback ? ALL : has_text ? STRING : NOTHING]++;
}

static int owner_traverse(rrc_object *ob, rrc_visitproc visit, void *arg)
{
    owner *o = (owner *)ob;
    RRC_VISIT(o->text);
    RRC_VISIT(o->callback);
    RRC_VISIT(o->next);
    return 0;
}

static void owner_finalize(rrc_heap *heap, rrc_object *ob) { look((owner *)ob, FINALIZE); }

static int owner_clear(rrc_heap *heap, rrc_object *ob)
{
    ((owner *)ob)->is_cleared = 1;
    look((owner *)ob, CLEAR);
    RRC_CLEAR(heap, ((owner *)ob)->next);
    return 0;
}

static void owner_dealloc(rrc_heap *heap, rrc_object *ob)
{
    owner *o = (owner *)ob;
    o->is_cleared = 1;
    look(o, DEALLOC);
    RRC_CLEAR(heap, o->next);
    RRC_CLEAR(heap, o->text);
    RRC_CLEAR(heap, o->callback);
    owners--;
    rrc_gc_del(heap, ob);
}

#define OWNER_TYPE(variable, name, finalize) \
    static const rrc_type variable = { .ob_base = RRC_OBJECT_HEAD_INIT(NULL), .tp_name = name, \
        .tp_basicsize = sizeof(owner), .tp_flags = RRC_TPFLAGS_HAVE_GC, .tp_dealloc = owner_dealloc, \
        .tp_traverse = owner_traverse, .tp_clear = owner_clear, .tp_finalize = finalize }
OWNER_TYPE(owner_type, "Owner", owner_finalize);
OWNER_TYPE(unfinalized_type, "Unfinalized", NULL);

static VALUE make(VALUE self, VALUE id, VALUE text, VALUE callback, const rrc_type *type)
{
    owner *o = (owner *)rrc_gc_new(rrc_ruby_heap(), type);
    if (o == NULL || rrc_gc_track(rrc_ruby_heap(), &o->head) != RRC_OK)
        abort();
    owners++;
    o->id = NUM2INT(id);
    rrc_ruby_initialize(self, &o->head);
    o->text = rrc_ruby_hold(text);
    o->callback = rrc_ruby_hold(callback);
    return self;
}

static VALUE make_owner(VALUE self, VALUE id, VALUE text, VALUE callback)
{
    return make(self, id, text, callback, &owner_type);
}

static VALUE make_unfinalized(VALUE self, VALUE id, VALUE text, VALUE callback)
{
    return make(self, id, text, callback, &unfinalized_type);
}

static VALUE set_next(VALUE self, VALUE next)
{
    owner *o = (owner *)rrc_ruby_unwrap(self, NULL);
    o->next = rrc_ruby_hold(next);
    return next;
}

/* What a weak reference gives is no object that is being cleared. (Raises if its wrapper is disposed of.) */
static VALUE m_meet(VALUE self, VALUE value)
{
    const owner *o = (const owner *)rrc_ruby_unwrap(value, NULL);
    met += o->is_cleared;
    return Qnil;
}

static VALUE m_hold(VALUE self, VALUE value)
{
    held = rrc_ruby_hold(value);
    return Qnil;
}

static VALUE m_release(VALUE self)
{
    RRC_CLEAR(rrc_ruby_heap(), held);
    return Qnil;
}

static void release(void)
{
    is_after_ruby = 1;
    RRC_CLEAR(rrc_ruby_heap(), held);
}

static VALUE m_release_after_ruby(VALUE self)
{
    atexit(release);
    return Qnil;
}

static VALUE m_owners(VALUE self) { return INT2FIX(owners); }

static void print(void)
{
    static const char *const names[] = { "all", "the string", "nothing", "**wrong**" };
    int slot, i, kinds, sum;
    for (slot = 0; slot < SLOTS; slot++) {
        const char *name = "-";
        for (i = kinds = sum = 0; i < FINDINGS; i++) {
            if (found[slot][i] > 0)
                name = names[i];
            kinds += found[slot][i] > 0;
            sum += found[slot][i];
        }
        printf("| %s ", kinds > 1 ? "**mixed**" : name);
    }
    printf("|\n");
    if (owners != 0)
        printf("%d are left\n", owners);
    if (met != 0)
        printf("weak references gave what is cleared: %d\n", met);
}

/* Slots.start(busy): before all else */
static VALUE m_start(VALUE self, VALUE busy)
{
    is_busy = RTEST(busy);
    atexit(print);
    return Qnil;
}

void init_slots(void)
{
    static const rrc_ruby_method owner_methods[] = { { "initialize", RUBY_METHOD_FUNC(make_owner), 3, 0 },
                                                     { "next=", RUBY_METHOD_FUNC(set_next), 1, 0 }, { NULL, NULL, 0, 0 } };
    static const rrc_ruby_method unfinalized_methods[] = { { "initialize", RUBY_METHOD_FUNC(make_unfinalized), 3, 0 },
                                                           { "next=", RUBY_METHOD_FUNC(set_next), 1, 0 },
                                                           { NULL, NULL, 0, 0 } };
    VALUE module = rb_define_module("Slots");
    rrc_ruby_class spec = { "Owner", &owner_type, 0, owner_methods, 1 };
    rrc_ruby_define_class(module, &spec);
    spec.name = "Unfinalized";
    spec.type = &unfinalized_type;
    spec.methods = unfinalized_methods;
    rrc_ruby_define_class(module, &spec);
    rb_define_module_function(module, "start", m_start, 1);
    rb_define_module_function(module, "meet", m_meet, 1);
    rb_define_module_function(module, "hold", m_hold, 1);
    rb_define_module_function(module, "release", m_release, 0);
    rb_define_module_function(module, "release_after_ruby", m_release_after_ruby, 0);
    rb_define_module_function(module, "owners", m_owners, 0);
}
