#!/bin/sh
# control.sh LUA FOLDER - controls that must fail: with one of its rules left out, the binding loses something or
# leaks, and the tests notice. COMPILE has the compiler and all flags, LIBS the libraries.
. tests/lib.sh
lua=$1
folder=$2/control
mkdir -p "$folder" || exit 1

# passes: does gobject.so of the folder pass the tests, and 40 random programs?
passes() {
    runs gobject.lua && runs random.lua 1 40 2000
}
runs() {
    script=$1
    shift
    GOBJECT_COUNT=500 LUA_CPATH="$folder/?.so;$LUA_OUT/?.so" timeout 120 "$lua" \
        "examples/gobject/tests/$script" "$@" >"$folder/log" 2>&1
}
builds() {
    eval "$COMPILE -w $1/*.c $1/tests/foreign.c $LIBS -o $folder/gobject.so" >"$folder/log" 2>&1
}

# mutant NAME FILE SED_SCRIPT
mutant() {
    rm -rf "$folder/gobject"
    mkdir -p "$folder/gobject/tests"
    cp examples/gobject/*.[ch] "$folder/gobject"
    cp examples/gobject/tests/foreign.c "$folder/gobject/tests"
    sed "$3" "examples/gobject/$2" >"$folder/gobject/$2"
    if cmp -s "examples/gobject/$2" "$folder/gobject/$2"; then
        fail "$lua: $1: its place is not there any more"
    elif ! builds "$folder/gobject"; then
        fail "$lua: $1: it does not build: see $folder/log"
    elif passes; then
        fail "$lua: $1: no test notices"
    else
        pass "$lua: $1"
    fi
}
builds examples/gobject || { cat "$folder/log"; fail "$lua: it does not build"; finish; }
passes || { cat "$folder/log"; fail "$lua: it fails as it is"; finish; }
mutant 'nothing is held from outside' objects.c '/^static intptr_t wrapper_outside/,/^}/s/return .*;/return 0;/'
mutant 'the wrapper counts its own reference' objects.c '/^static intptr_t wrapper_outside/,/^}/s/ - 1;/;/'
mutant 'functions of handlers are not visited' objects.c 's/RRC_VISIT(handler->function);//'
mutant 'handlers of garbage run' objects.c 's/ || is_garbage(((go_handler \*)closure)->wrapper)//'
mutant 'handlers of what is cleared stay connected' objects.c \
    '/^static int wrapper_clear/,/^}/s/disconnect_handlers(wrapper);//'
mutant 'a source that fails stays' module.c 's/^    source->goes_on = G_SOURCE_REMOVE;//'
mutant 'values are not dropped' objects.c 's/^    drop_values(wrapper);//'
mutant 'handlers stay connected when the wrapper goes' objects.c \
    '/^void go_close_wrapper/,/^}/s/disconnect_handlers((go_wrapper \*)self);//; /^static void wrapper_dealloc/,/^}/s/disconnect_handlers(wrapper);//'
mutant 'a floating reference is not sunk' objects.c 's/g_object_ref_sink(object)/g_object_ref(object)/'
mutant 'a selected item is not visited' holdings.c 's/"model", "selected-item"/"model"/'
mutant 'a value that is not owned is visited' holdings.c 's/{ "local-address" }/{ "local-address", "proxy-resolver" }/'
mutant 'what C holds is looked through' holdings.c 's/ || g_atomic_int_get((gint \*)&object->ref_count) != 1)/)/'
mutant 'nothing is looked through' holdings.c 's/    return go_visit_owned(&inner, object);/    return 0;/'
mutant 'memory is not told' objects.c 's/, .tp_size = go_size//'
mutant 'memory that grows is not told' calls.c 's/^        rrc_measure(heap, .*/        (void)heap;/'
mutant 'properties are not dropped' holdings.c 's/g_object_set(object, \*name, NULL, NULL)/(void)0/'
mutant 'what a constructor was given is forgotten' types.c 's/go_note_given(object, n, names, values);//'
mutant 'properties of scripts are taken for those of C' holdings.c 's/go_native_type(G_OBJECT_TYPE(object))/G_OBJECT_TYPE(object)/'
mutant 'what C gives to the caller is not released' introspect.c 's/^    s->owned = transfer;/    s->owned = OWNS_NOTHING;/'
mutant 'what C takes is released' introspect.c '/^static void give(/,/^}/s/^    s->owned = OWNS_NOTHING;//'
mutant 'what C only looks at is given away' introspect.c 's/if (transfer == OWNS_NOTHING || s->value/if (s->value/'
mutant 'boxed values are copied for each call' introspect.c 's/a.pointer = go_test_boxed(L, index, t->gtype);/a.pointer = go_test_boxed(L, index, t->gtype); if (a.pointer != NULL) a.pointer = g_boxed_copy(t->gtype, a.pointer);/'
mutant 'scripts count references' introspect.c 's/strcmp(name, names\[i\]) == 0/FALSE/'
mutant 'the wrapper is not found again' objects.c '/^go_wrapper \*go_find/,/^}/s/return wrapper;/return NULL;/'
finish
