#!/bin/sh
# state_errors.sh IMPLEMENTATION - controls that must fail: a header whose comments, or whose table
# of states, say something else is refused by states.sh, or by the test of states.
. tests/lib.sh
implementation=$1
out=$BUILD/tests/state_errors
mkdir -p "$out" || exit 1
COMPILE="$CC -std=c99 -w -O0 -DUNIT_CMOCKA=0 -I. -Itests"
topic='#include "unit.h"
extern const unit_group states;
static const unit_group *const groups[] = { &states };
int main(int argc, char **argv) { return unit_main(argc, argv, groups, 1); }'
printf '%s\n' "$topic" >"$out/main.c"
for source in host objects unit insight weak; do
    $COMPILE -c tests/$source.c -o "$out/$source.o" || exit 1
done

# change NAME SED_SCRIPT: makes $out/NAME.h.
change() {
    if sed "$2" rawrefcount.h >"$out/$1.h" && cmp -s rawrefcount.h "$out/$1.h"; then
        fail "$1: nothing is changed: $2"
        return 1
    fi
}

# noticed STATUS NAME WORDS: it is not 0, and the log has WORDS.
noticed() {
    if [ "$1" -eq 0 ]; then
        fail "$2: not noticed"
    elif grep -qF "$3" "$out/log"; then
        pass "$2"
    else
        fail "$2: not reported as $3"
        tail -n 3 "$out/log"
    fi
}

# mistake NAME WORDS SED_SCRIPT: states.sh must fail, and say WORDS.
mistake() {
    change "$1" "$3" || return
    sh tests/states.sh "$out/$1.h" >"$out/log" 2>&1
    noticed $? "$1" "$2"
}

# try NAME: with the table of $out/NAME.h, and the implementation that there is.
try() {
    mkdir -p "$out/$1" && sh tests/states.sh "$out/$1.h" >"$out/$1/states.inc" || exit 1
    $COMPILE -I"$out/$1" "$out/main.c" tests/states.c tests/test_states.c "$out/host.o" "$out/objects.o" "$out/unit.o" \
        "$out/insight.o" "$out/weak.o" "$implementation" -lpthread -o "$out/$1/states" || exit 1
    "$out/$1/states" >"$out/log" 2>&1
}

# untrue NAME WORDS SED_SCRIPT: states.sh has nothing to say, but the test must fail, and say WORDS.
untrue() {
    change "$1" "$3" || return
    try "$1"
    noticed $? "$1" "$2"
}

cp rawrefcount.h "$out/right.h" || exit 1
expect right try right

mistake no_tag_line 'rrc_check has no tag line' '/^   \[mutator | no | calls is_young, slot, tp_traverse, log/,/\*\//c */'
mistake unknown_phase 'rrc_check_config: what is the phase "anyway"?' 's/\[any | no | calls log | O(1)\]/[anyway | no | calls log | O(1)]/'
mistake unknown_reference 'what is the phase "as rrc_old"?' 's/\[as rrc_new\]/[as rrc_old]/'
mistake new_function 'rrc_go_on has no tag line' '/^RRC_API const char \*rrc_version/i /* Goes on. */\
RRC_API int rrc_go_on(rrc_heap *heap);\
'
mistake undeclared_function 'rrc_go_on is not declared below >>api' '/^RRC_API const char \*rrc_version(void)$/i RRC_API int rrc_go_on(rrc_heap *heap)'
mistake new_state 'what may be called in RRCI_PAUSED?' 's/^    RRCI_MAJOR, RRCI_MARKING,/    RRCI_MAJOR, RRCI_MARKING, RRCI_PAUSED,/'
mistake lost_state 'RRCI_ENDING is not in the enum' 's/RRCI_LAYER_RUNS, RRCI_ENDING,$/RRCI_LAYER_RUNS,/'
mistake no_invariant 'RRCI_HUSK has no invariant' '/^   RRCI_HUSK  /s/RRCI_HUSK/         /'
mistake no_row 'RRCI_ENDING is not in the table' '/^ *\/\* RRCI_ENDING \*\//d'
mistake one_bit_more 'RRCI_KEPT of rrci_gate has RRCI_MAJOR_KEEP' 's/{ RRCI_MAJOR_FREE | RRCI_MAJOR_WORK | RRCI_MAJOR_SWEEP,/{ RRCI_MAJOR_FREE | RRCI_MAJOR_KEEP | RRCI_MAJOR_WORK | RRCI_MAJOR_SWEEP,/'
mistake one_bit_less 'RRCI_MARKING of rrci_gate lacks RRCI_MAJOR_PAUSE' 's/{ \(RRCI_MAJOR_TRACE | RRCI_MAJOR_FREE\) | RRCI_MAJOR_PAUSE |/{ \1 |/'
mistake new_group 'what phase is for RRCI_LOOKS?' 's/{ RRCI_MINOR_TRACE | RRCI_MINOR_FREE, /{ RRCI_MINOR_TRACE | RRCI_MINOR_FREE | RRCI_LOOKS, /'

untrue check_at_any_time 'rrc_check [any] in' 's/\[mutator | no | calls is_young, slot, tp_traverse, log/[any | no | calls is_young, slot, tp_traverse, log/'
untrue userdata_of_the_mutator 'rrc_userdata [mutator] in' '/The userdata of the descriptor/s/\[any /[mutator /'
untrue no_freeing_at_the_end 'rrc_run_pending [mutator until rrc_heap_free] in ENDING' 's/mutator, ignored in a step and in rrc_heap_free | no | calls tp_clear_weakrefs/mutator until rrc_heap_free | no | calls tp_clear_weakrefs/'
untrue other_words 'item.detail is "a minor collection is going on"' 's/"a minor collection is going on"/"a minor collection is running"/'
finish
