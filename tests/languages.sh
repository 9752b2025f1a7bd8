#!/bin/sh
# languages.sh - the header, alone and with rrc_insight.h and rrc_weak.h, compiles without a warning as every language that it
# promises, in each kind of unit, with each compiler there is, 64 and 32 bits wide. The
# first standard of each language is optimized too, for the warnings that take that. (QUICK=1: the first one of C.)
. tests/lib.sh
out=$BUILD/tests/languages
mkdir -p "$out" || exit 1

cat >"$out/declarations.c" <<'END'
#include "rawrefcount.h"
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"
#include "bindings/insight/rrc_insight.h"
#include "bindings/weak/rrc_weak.h"
#include "bindings/weak/rrc_weak.h"
int main(void) { return 0; }
END
cat >"$out/implementation.c" <<'END'
#include "rawrefcount.h"
#define RAWREFCOUNT_IMPLEMENTATION
#include "rawrefcount.h"
#include "rawrefcount.h"
#ifndef RRC_NO_STDIO
#include "bindings/insight/rrc_insight.h"
#include "bindings/insight/rrc_insight.h"
#endif
#ifndef RRC_NO_CYCLES
#include "bindings/weak/rrc_weak.h"
#include "bindings/weak/rrc_weak.h"
#endif
int main(void) { return rrc_version()[0] == 0; }
END
cat >"$out/insight.c" <<'END'
#include "rawrefcount.h"
#define RRC_INSIGHT_IMPLEMENTATION
#include "bindings/insight/rrc_insight.h"
END
cat >"$out/weak.c" <<'END'
#include "rawrefcount.h"
#define RRC_WEAK_IMPLEMENTATION
#include "bindings/weak/rrc_weak.h"
END
# A C++ user of all macros and inline functions, which has chosen to live without old-style casts.
cat >"$out/user.cc" <<'END'
#include "rawrefcount.h"
#include "bindings/insight/rrc_insight.h"
#include "bindings/weak/rrc_weak.h"

struct Named { virtual ~Named() {} const char *name; };
struct Node : Named, rrc_object { rrc_object *left; Node *right; const rrc_type *type; void *other; };
struct Plain { rrc_object head; const Plain *next; };

static int traverse(Node *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(self->left);
    RRC_VISIT(self->right);
    RRC_VISIT(self->type);
    RRC_VISIT(self->other);
    return 0;
}

static int traverse_plain(Plain *self, rrc_visitproc visit, void *arg)
{
    RRC_VISIT(self->next);
    return 0;
}

static int clear(rrc_heap *heap, rrc_object *self)
{
    Node *node = static_cast<Node *>(self);
    RRC_CLEAR(heap, node->left);
    RRC_CLEAR(heap, node->right);
    RRC_CLEAR(heap, node->type);
    RRC_CLEAR(heap, node->other);
    return 0;
}

template <class T> void dealloc(rrc_heap *heap, rrc_object *self)
{
    clear(heap, self);
    rrc_gc_del(heap, static_cast<T *>(self));
}

rrc_heap *use(const rrc_desc *desc, rrc_type *type, rrc_object *ob);
rrc_heap *use(const rrc_desc *desc, rrc_type *type, rrc_object *ob)
{
    const rrc_type zero = { RRC_OBJECT_HEAD_INIT(NULL), "Node", 0, 0, RRC_TPFLAGS_HAVE_GC | RRC_TPFLAGS_HEAPTYPE,
                            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL };
    rrc_heap *heap = rrc_heap_new(desc);
    *type = zero;
    type->tp_dealloc = static_cast<rrc_destructor>(dealloc<Node>);
    type->tp_finalize = static_cast<rrc_destructor>(NULL);
    type->tp_clear_weakrefs = static_cast<rrc_destructor>(rrc_weak_clear);
    type->tp_free = static_cast<rrc_freefunc>(rrc_gc_del);
    type->tp_traverse = static_cast<rrc_traverseproc>(NULL);
    type->tp_clear = static_cast<rrc_inquiry>(clear);
    type->tp_outside = static_cast<rrc_outsideproc>(NULL);
    type->tp_size = static_cast<rrc_sizeproc>(NULL);
    rrc_incref(heap, ob);
    rrc_touch(heap, ob);
    rrc_decref(heap, ob);
    if (RRC_REFCNT(ob) < RRC_REFCNT_FROM_PYPY || RRC_REFCNT(ob) > RRC_REFCNT_FROM_PYPY_LIGHT)
        RRC_LINK(ob) = NULL;
    return rrc_refcnt(ob) > 0 && rrc_to_obj(heap, ob) == NULL && rrc_check_config(heap) == RRC_OK ? heap : NULL;
}

static int is_next(rrc_object *ob, void *arg)
{
    rrc_object ***next = static_cast<rrc_object ***>(arg);
    return ob == *(*next)++ ? 0 : 1;
}

int main()          // RRC_VISIT finds the head of each kind of pointer
{
    Node node, right;
    Plain plain = { { 1, NULL, NULL }, NULL }, before = { { 1, NULL, NULL }, &plain };
    rrc_type type = { RRC_OBJECT_HEAD_INIT(NULL), "Node", 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                      NULL };
    rrc_object *heads[] = { &right, &right, &type.ob_base, &plain.head, &plain.head };
    rrc_object **next = heads;
    node.left = node.right = &right;
    node.type = &type;
    node.other = &plain;
    return traverse(&node, is_next, &next) != 0 || traverse_plain(&before, is_next, &next) != 0 || next != heads + 5;
}
END
for name in declarations implementation insight weak; do
    cp "$out/$name.c" "$out/$name.cc"
done
sed '/^#define/d' "$out/implementation.c" >"$out/static.c"
cp "$out/static.c" "$out/static.cc"

# compiles DESCRIPTION COMMAND...: as expect, but a success says nothing more.
compiles() {
    if "$@" -I. -o "$out/a.out.$$" >"$out/messages" 2>&1; then
        pass "$*"
    else
        fail "$*"
        cat "$out/messages"
    fi
}

# all_units COMPILER EXTENSION FLAGS...
all_units() {
    compiler=$1 extension=$2
    shift 2
    compiles $compiler "$@" $STRICT "$out/declarations.$extension"
    compiles $compiler "$@" $STRICT -c "$out/insight.$extension"
    compiles $compiler "$@" $STRICT -c "$out/weak.$extension"
    if [ $extension = cc ]; then
        compiles $compiler "$@" $STRICT -Wold-style-cast -c "$out/user.cc"
        compiles $compiler "$@" $STRICT -Wold-style-cast -DRRC_DEBUG -c "$out/user.cc"
    fi
    for settings in '' '-DRRC_DEBUG' '-DRRC_NO_STDIO' '-DRRC_DEBUG -DRRC_NO_STDIO' '-DRRC_HOST_MOVES=0' \
        '-DRRC_NO_CYCLES -DRRC_NO_STDIO' '-DRRC_NO_CYCLES -DRRC_NO_STDIO -DRRC_DEBUG'; do
        compiles $compiler "$@" $STRICT $settings "$out/implementation.$extension"
        [ "$QUICK" = 1 ] && return
    done
    compiles $compiler "$@" $STRICT -DRAWREFCOUNT_STATIC "$out/static.$extension"
    compiles $compiler "$@" $STRICT -DRAWREFCOUNT_STATIC -DRRC_DEBUG "$out/static.$extension"
    compiles $compiler "$@" $STRICT -DRAWREFCOUNT_STATIC -DRRC_NO_CYCLES -DRRC_NO_STDIO "$out/static.$extension"
}

level=-O1
[ "$QUICK" = 1 ] && level=-O0
IFS=$NEWLINE
for cc in $(compilers); do
    unset IFS
    cxx=$(cxx_of "$cc")
    all_units "$cc" c -std=c99 -O1
    for std in c11 c17 c2x; do
        all_units "$cc" c -std=$std -fsyntax-only
    done
    if have "$cxx"; then
        all_units "$cxx" cc -std=c++11 $level
        for std in c++14 c++17 c++20; do
            all_units "$cxx" cc -std=$std -fsyntax-only
        done
    else
        skip "C++ with $cxx: not there"
    fi
    if echo 'int main(void) { return 0; }' >"$out/empty.c" &&
       $cc -m32 "$out/empty.c" -o "$out/empty" 2>/dev/null; then
        all_units "$cc" c -m32 -std=c99 $level
    else
        skip "32 bits with $cc: it does not link with -m32"
    fi
    [ "$QUICK" = 1 ] && break
done
if have "$CXX"; then
    expect "RRC_VISIT finds the heads of objects in C++" sh -c "$CXX -std=c++11 -I. -DRAWREFCOUNT_IMPLEMENTATION \
        -DRRC_WEAK_IMPLEMENTATION '$out/user.cc' -o '$out/user' && '$out/user'"
fi
rm -f "$out/a.out.$$"

# The public part must not bring other headers along.
printf '#include "rawrefcount.h"\n' >"$out/public.c"
expect "the public part includes only <stddef.h> and <stdint.h>" sh -c \
    "! $CC -std=c99 -I. -M '$out/public.c' | tr ' ' '\n' | grep -E '/(stdio|stdlib|string|assert)\.h'"
finish
