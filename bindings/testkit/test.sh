#!/bin/sh
# test.sh - the test kit passes with three ports, and finds each of these mistakes in them. Each line of the list is a
# file, what sed does to it, and a name. A mistake that is not found in so many programs is a failure of this test,
# and so is one that changes nothing.
. tests/lib.sh
out=$BUILD/testkit
rm -rf "$out"
mkdir -p "$out" || exit 1
kit=bindings/testkit
core=bindings/compactvm/core
flags="-std=c99 -g $STRICT -DRRC_DEBUG -I."
programs=1000
[ "$QUICK" = 1 ] || programs=5000

compile() { # shellcheck disable=SC2086
    $CC $flags "$@"; }

compile -c $kit/kit.c -o "$out/kit.o" && compile -O1 -c $core/header.c -o "$out/header.o" &&
    compile -DKIT_NO_TOUCH -c $kit/kit.c -o "$out/no_touch.o" || fail "the kit does not compile"
for file in glue heap machine start; do
    compile -c $core/$file.c -o "$out/$file.o" || fail "$file.c does not compile"
done
compile -c $kit/compactvm.c -o "$out/compactvm.o" || fail "compactvm.c does not compile"
sed '/^#define RAWREFCOUNT_IMPLEMENTATION/d' examples/port.c >"$out/right.c"

# link_port PROGRAM FILE: the example port, from this file. link_vm PROGRAM NAME FILE KIT: compactvm, with this file
# in place of the one of this name.
link_port() { compile "-DEXAMPLE_PORT=\"$2\"" $kit/port.c "$out/kit.o" "$out/header.o" -o "$out/$1"; }
link_vm() {
    objects=
    for file in glue heap machine start; do
        [ "$file" = "$2" ] || objects="$objects $out/$file.o"
    done
    # shellcheck disable=SC2086
    compile "$out/compactvm.o" "${4:-$out/kit.o}" "$out/header.o" $objects $3 -o "$out/$1"
}

link_port port "$PWD/$out/right.c" && expect "the example port" "$out/port" 1 $programs 300
sed 's/\.mark_from_c = mark_from_c }/.mark_from_c = mark_from_c, .search_percent = 25 }/' $kit/port.c >"$out/rarely.c"
compile -I$kit "-DEXAMPLE_PORT=\"$PWD/$out/right.c\"" "$out/rarely.c" "$out/kit.o" "$out/header.o" -o "$out/rarely" &&
    expect "one that sets search_percent" "$out/rarely" 1 $programs 300
link_vm compactvm '' '' && expect "compactvm" "$out/compactvm" 1 $programs 300

# A mistake in the counted host that reads memory which is free is seen with ASan, if it is there.
asan=-fsanitize=address
echo 'int main(void) { return 0; }' >"$out/empty.c"
compile $asan "$out/empty.c" -o "$out/empty" 2>/dev/null && "$out/empty" || asan=
printf '#define RAWREFCOUNT_IMPLEMENTATION\n#include "rawrefcount.h"\n#include "bindings/closed/rrc_closed.h"\n' >"$out/closed.c"
compile -c "$out/closed.c" -o "$out/closed.o" || fail "the header does not compile"
sed '/^#define RAWREFCOUNT_IMPLEMENTATION/d' $kit/counted.c >"$out/counted.c"
link_counted() { compile $3 -I$kit "$2" "$out/kit.o" "$out/closed.o" -o "$out/$1"; }
link_counted counted "$out/counted.c" $asan && expect "a counted host" "$out/counted" 1 $((programs / 5)) 300

# must_find NAME PROGRAM: it fails, and says how to repeat that with fewer steps.
must_find() {
    if "$out/$2" 1 $programs 300 >"$out/$2.txt" 2>/dev/null; then
        fail "not found: $1"
    elif again=$(sed -n 's/^repeat with: //p' "$out/$2.txt" | head -n 1) && [ -n "$again" ]; then
        steps=$(echo "$again" | awk '{ print (NF > 4 ? gsub(",", "") + 1 : 0) }')
        # Each step is told, also the one that crashes.
        if [ "$(grep -c '^  step ' "$out/$2.txt")" -ge "$steps" ]; then
            pass "found: $1, by $steps steps"
        else
            fail "found, but the steps are not told: $1"
        fi
    else
        fail "found, but not reported: $1"
    fi
}

flags="$flags -Wno-unused-function -Wno-unused-parameter -Wno-unused-variable"
link_vm no_touch '' '' "$out/no_touch.o" && must_find "a library that moves references without rrc_touch" no_touch
number=0
while IFS='|' read -r file change name; do
    number=$((number + 1))
    wrong=$out/wrong$number.c
    if [ "$file" = "counted with ASan" ] && [ -z "$asan" ]; then
        skip "$name: there is no ASan"
        continue
    fi
    case $file in
    port) from=$out/right.c ;;
    counted*) from=$out/counted.c ;;
    *) from=$core/$file.c ;;
    esac
    sed "$change" "$from" >"$wrong"
    case $file in heap|glue) sed -i.bak -e "s|\"vm.h\"|\"$PWD/$core/vm.h\"|" "$wrong" ;; esac
    if cmp -s "$from" "$wrong"; then
        fail "changes nothing: $name"
    elif [ "$file" = port ]; then
        link_port "wrong$number" "$PWD/$wrong" && must_find "$name" "wrong$number"
    elif [ "$from" = "$out/counted.c" ]; then
        link_counted "wrong$number" "$wrong" "$([ "$file" = counted ] || echo $asan)" && must_find "$name" "wrong$number"
    else
        link_vm "wrong$number" "$file" "$wrong" && must_find "$name" "wrong$number"
    fi || fail "does not compile: $name"
done <<'END'
port|s/{ mark(m, p); } .*/{ (void)m; (void)p; }/|trace does not mark
port|s/{ mark_all_gray(m); } .*/{ (void)m; }/|propagate leaves gray objects
port|s/->marked ? p : NULL; }/->marked ? p : p; }/|survivor says that all live
port|/mark(m, p->field\[1\]);/d|a field is not marked
port|s/mark(m, p->field\[0\]);/mark(m, p->field[0]->field[1]);/|marking crashes
port|s/i < 8; i++)/i < 2; i++)/|roots are not marked
port|/must(rrc_major_collection_keep/d|what garbage owns is not kept
port|/^    sweep(m);/d; s/^    must(rrc_major_collection_trace(m->heap)).*/&sweep(m);/|the sweep comes too early
port|s/^    must(rrc_major_collection_free(m->heap)).*/    if (m->collections % 2) &/|a collection without the free call
port|/rrc_incref(m->heap, ob);/d|a reference that crosses is borrowed
port|s/^    p->ob = ob;//|a proxy does not know its object
port|s/object \*p = rrc_to_obj(m->heap, ob);/object *p = NULL;/|an object gets a second proxy
port|s/((object \*)p)->ob = NULL; }/(void)p; }/|parted does nothing
port|s/rrc_run_pending(m->heap, 0); }/(void)m; }/|nobody runs what is pending
heap|/rrc_minor_collection_trace(/d|minor collections do not ask for what C holds
heap|/rrc_minor_collection_free(/d|minor collections dissolve no links
heap|s/\(CVM_MOVING) && !(p->flags & CVM_FIXED) ? \)p->forward : p;/\1p : p;/|objects move without telling
heap|s/^        remember(&vm->heap, p);/        ;/|no barrier for young objects
heap|s/^            cvm_heap_trace(&vm->heap, cvm_object_of(v));/            (void)p;/|no barrier while slices mark
heap|/rrc_major_collection_keep(/d|what garbage owns is not kept
glue|s/^        CVM_FOREIGN_OF(v)->ob = NULL;/        (void)v;/|parted does nothing
glue|s/^    return cvm_heap_is_young(p);/    return 0;/|is_young is always 0
counted|/it is held until the step/d|a new edge node is never dropped
counted|s/rrc_cell_died(heap, &c->head);/(void)0;/|deaths are not reported
counted|s/^    forget_death((cell \*)c);//|a cell that is freed stays in the list of deaths
counted with ASan|s/^        owed\[((cell \*)c)->owed - 1\].cell = NULL;/        (void)0;/|a cell that is freed stays in the array of references
counted|s/vm_retain(o->field\[o->size++\] = targets\[i\]->object);/o->field[o->size++] = targets[i]->object;/|an edge node borrows its references
counted|s/^    vm_store(object_of(proxy), NODE_FIELD, node->object);/    (void)proxy, (void)node;/|a proxy does not hold its edge node
END
finish
