#!/bin/sh
# control.sh LUA FOLDER - controls that must fail: references that are taken without
# telling lose objects, and the cases notice; so do random moves without a touch. And slots.c
# notices mistakes put into rrc_lua.h. EMBED_COMPILE, EMBED_SOURCES and EMBED_LIBS come from lua.mk.
. tests/lib.sh
lua=$1
folder=$2
LUA_CPATH="$folder/raw/?.so;$folder/?.so" "$lua" bindings/lua/tests/cases.lua >"$folder/raw.txt" 2>&1
expect "$lua: T6 fails without rrc_incref" grep -q '^FAILED: T6' "$folder/raw.txt"
LUA_CPATH="$folder/?.so" "$lua" bindings/lua/tests/random.lua 1 100 3000 control >"$folder/control.txt" 2>&1
expect "$lua: random moves without rrc_touch lose something" grep -q '^1 passed, 0 failed' "$folder/control.txt"

# mutated NAME SED_SCRIPT OUTPUT WHAT: is WHAT built as OUTPUT, with a mistake in rrc_lua.h?
mutated() {
    mkdir -p "$folder/mutant"
    sed "$2" bindings/lua/rrc_lua.h >"$folder/mutant/rrc_lua.h"
    if cmp -s bindings/lua/rrc_lua.h "$folder/mutant/rrc_lua.h"; then
        fail "$lua: $1: its place is not there any more"
    elif ! eval "$EMBED_COMPILE -w -I$folder/mutant -Ibindings/lua $4 -o $folder/mutant/$3" >"$folder/mutant/log" 2>&1; then
        fail "$lua: $1: it does not build: see $folder/mutant/log"
    else
        return 0
    fi
    return 1
}
# noticed NAME COMMAND...: does it fail?
noticed() {
    name=$1
    shift
    if "$@" >"$folder/mutant/log" 2>&1; then
        fail "$lua: $name: no test notices"
    else
        pass "$lua: $name"
    fi
}
# mutant NAME SED_SCRIPT [TEST]: a mistake that a test of embed must notice
mutant() {
    mutated "$1" "$2" embed "-O0 $EMBED_SOURCES $EMBED_LIBS" || return
    noticed "$1" timeout 60 "$folder/mutant/embed" "${3:-slots_find}"
}
# checked NAME SED_SCRIPT TEST WORDS: a mistake of which a build with RRC_DEBUG says these words.
checked() {
    mutated "$1" "$2" embed "-O0 -DRRC_DEBUG $EMBED_SOURCES $EMBED_LIBS" || return
    timeout 60 "$folder/mutant/embed" "$3" >"$folder/mutant/log" 2>&1
    expect "$lua: $1: RRC_DEBUG says so" grep -q "$4" "$folder/mutant/log"
}
mutant 'what is left at the end waits until Lua is gone' 's/^        rrcl_part_all(L, state);/        ;/'
mutant 'the end is one round' 's/ && --rounds > 0);/ \&\& 0);/'
mutant 'the end drops no roots' 's/^            rrcl_strip(L, 1); .*/            ;/' the_end_is_in
mutant 'all garbage of the end goes in one collection' 's/^    state->in_order = 1;/    ;/' the_end_is_in
mutant 'proxies that slots make at the end stay' 's/^        rrc_cell_each(state->heap, rrcl_part_proxy, state);/        if (rounds == 10) &/'
mutant 'weak tables give what is deallocated' '/^static int rrcl_close(/,/^}/s/^        rrc_cell_unlink(/        proxy->cell = cell->number; rrc_unlink(heap, cell->ob); if (0) rrc_cell_unlink(/'
mutant 'a proxy stays spare if there is no memory for the next' 's/^        rrcl_empty_spare(state);/        ;/' full_stacks
mutant 'what is deallocated gets a proxy' 's/if (rrc_refcnt(ob) == 0 && rrc_to_obj(state->heap, ob) == NULL)/if (0)/'
mutant 'each look ends a cycle' 's/^    if (taken == canary->ended)/    if (0)/' each_cycle_ends
mutant 'all sentinels have one number' 's/^    canary->era += .*/    canary->era = 1;/' each_cycle_ends
mutant 'sentinels that wait do not count' 's/^    state->native_new = state->native_told = 0;/& state->sentinels = 0;/' sentinels_that
mutant 'sentinels count for ever' 's/^    state->sentinels--;/    ;/' sentinels_that
mutant 'nothing is decided at the end of a step' '/^static int rrcl_slice/,/^}/s/^    rrcl_decide_on_step.*/    ;/' each_cycle_is_decided
mutant 'it is decided while a step is open' 's/^    if (state->step.stage == RRCL_STEP_OPEN || state->in_step || /    if (/' each_cycle_is_decided
mutant 'a step that cannot be made is forgotten' 's/^        state->step = \(before\|step\);.*/        ;/' each_cycle_is_decided
mutant 'what is wanted while a step is open is forgotten' 's/ = state->step.has_left ? / = 0 ? /' each_cycle_is_decided
checked 'a cycle that goes on is counted' 's/^    canary->ended = taken;/    canary->ended = canary->era;/' each_cycle_is_counted 'that goes on has been counted'
checked 'a cycle is not decided' '/^static void rrcl_end_cycle/,/^}/s/^        rrcl_decide_on_step.*/        ;/' each_cycle_is_decided \
    'not decided whether a step follows'
mutant 'what is closed in use goes at once' 's/^        if (L != NULL && proxy != NULL && rrcl_is_used(.*/        if (0) {/' close_in_a_hidden

# known NAME SED_SCRIPT CASE: a mistake that a case must notice, whose name begins so.
no_case_fails() {
    LUA_CPATH="$folder/mutant/?.so" timeout 60 "$lua" bindings/lua/tests/cases.lua incremental "$1" >"$folder/mutant/cases.txt" 2>&1
    [ $? -lt 128 ] && ! grep "^FAILED: $1" "$folder/mutant/cases.txt"      # (from 128 on: it crashed)
}
mutated_modules() {
    cp bindings/lua/rawrefcount.c "$folder/mutant"      # (it would find the header that is beside it)
    mutated "$1" "$2" rawrefcount.so "-O1 -fPIC -shared $folder/mutant/rawrefcount.c" || return
    mutated "$1" "$2" nodes.so "-O1 -fPIC -shared bindings/lua/tests/nodes.c bindings/lua/tests/functions.c"
}
known() {
    mutated_modules "$1" "$2" || return
    noticed "$1" no_case_fails "$3"
}
# looped NAME SED_SCRIPT: a mistake that the loop must notice.
looped() {
    mutated_modules "$1" "$2" || return
    noticed "$1" env LUA_CPATH="$folder/mutant/?.so" "$lua" bindings/lua/tests/loop.lua
}
# closes NAME SED_SCRIPT: a mistake that makes lua_close crash.
closes() {
    mutated_modules "$1" "$2" || return
    noticed "$1" env LUA_CPATH="$folder/mutant/?.so" timeout 60 "$lua" bindings/lua/tests/closing.lua collect
}
# (In 5.2 the case does not notice it.)
[ "$lua" = lua5.2 ] || known 'what has died is found' 's/(cell->is_pinned || rrcl_is_live(state, cell, 0))/1/' 'values are found again'
known 'buckets are not divided' 's/ block > 0 \&\& i < RRCL_BUCKETS/ 0 \&\& i < RRCL_BUCKETS/' 'values are found again'
known 'whole collections do not become rare' 's/= 2 \* state->next_wait + 1;/= 1;/' 'wrappers: whole collections'
known 'many new wrappers wait' 's/ || state->wrappers > state->most_wrappers;/ || 0;/' 'wrappers: whole collections'
known 'wrappers stay after collectgarbage()' 's/(is_full \&\& state->wait < state->next_wait)/0/' 'wrappers: whole collections'
known 'no whole collection follows a cycle' 's/is_first \&\& !state->is_collecting \&\& state->wrappers > 0/0/' 'wrappers: a cycle goes'
mutant 'a proxy that a finalizer made is made again' 's/^        if (rrcl_push_cell(L, state, cell)) {.*/        if (0) {/' finalizer_pushes
case $lua in
lua5.1 | luajit)
    closes 'a module is unloaded under a finalizer' 's/^    luaL_getmetatable(L, "_LOADLIB").*/    lua_pushnil(L);/'
    finish
    ;;
lua5.4)
    known 'only finalizers collect wrappers' 's/ \&\& state->must_collect \&\& rrcl_is_running(L))/ \&\& 0)/' 'wrappers: a cycle goes'
    mutant 'no clock replaces one that is lost' 's/^    if (RRCL_HAS_MODES \&\& state->ticker.*/    if (0)/' lost_clock
    mutant 'each look is a tick' 's/^    if (!RRCL_HAS_MODES || !rrcl_sees_end(state, RRCL_CLOCK_SLOT.*/    state->ticker.ended++; if (0)/' ticks_once
    mutant 'all tickers have one number' '/^static int rrcl_clock_gc/,/^}/s/rrcl_set_canary(state, RRCL_CLOCK_SLOT, .*/rrcl_set(state, RRCL_VALUES, RRCL_CLOCK_SLOT);/
/^static void rrcl_new_canary/,/^}/s/    rrcl_set_canary(.*/    if (slot == RRCL_CLOCK_SLOT) rrcl_set(state, RRCL_VALUES, slot); else &/' ticks_once
    ;;
esac
[ "$lua" != lua5.2 ] || closes 'a module is unloaded under a finalizer' 's/^            lua_setmetatable(L, -3);/            lua_pop(L, 1);/'
known 'what a node refers to is not noted' 's/return cell->tag == RRCL_NOT_NOTED \&\& /return 0 \&\& /' 'a finalizer has C hold an object'
looped 'no cycle is asked for' 's/^    lua_gc(L, LUA_GCRESTART, 0);/    ;/'
[ "$lua" != lua5.4 ] || looped 'no full collections in the generational mode' 's/^        lua_gc(L, LUA_GCCOLLECT, 0);/        ;/'
finish
