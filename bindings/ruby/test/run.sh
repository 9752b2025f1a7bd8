#!/bin/sh
# run.sh - the tests of this folder for the makefile, from the project's top folder:
#
#   run.sh build             build what the others need
#   run.sh quick | all       the tests, or those that are done soon
#   run.sh debug             all, with the header's own checks
#   run.sh rubies            all, with each of RUBIES
#   run.sh asan              all, with sanitizers
#   run.sh soak              random graphs for SOAK_SECONDS (3600), in which memory must stay flat
#   run.sh mutants_N         controls that must fail: a sixth of them
#   run.sh gem               the gem is packed, installed in an empty folder, and used
#   run.sh demo              the widgets print what they should
#   run.sh snapshots         what leaks is exactly what is new in the second of two heap snapshots
#   run.sh bar               a snapshot shows how far it is
#   run.sh bench-smoke       the benchmarks run
#   run.sh show-demo | bench to look at
#
# RUBY names the Ruby to use (default: ruby). KIND-3.3 is with the Ruby 3.3 that `make deps-all` fetches, or else with
# one that is installed as ruby3.3. The last line is the totals.
RUBY=${RUBY:-ruby}
TOP=$(pwd)
TOP_BUILD=${BUILD:-build}
BUILD=$TOP/$TOP_BUILD/ruby
HERE=$TOP/bindings/ruby
export BUILD
kind=$1
case $kind in
*-[0-9].[0-9])
    version=${kind##*-} kind=${kind%-*}
    BUILD=$TOP/$TOP_BUILD/ruby-$version/tests
    RUBY=$TOP/$TOP_BUILD/ruby-$version/usr/bin/ruby$version
    [ -x "$RUBY" ] || RUBY=ruby$version
    absent="there is no Ruby $version; 'make deps-all' fetches it"
    ;;
esac
LOG=$BUILD/$kind.log

mkdir -p "$BUILD" || exit 1

cannot() {
    echo "skipped: $1"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
command -v "$RUBY" >/dev/null 2>&1 || cannot "${absent:-there is no Ruby}"
"$RUBY" -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))' || cannot "there are no headers of Ruby"
"$RUBY" -rrake -e 1 2>/dev/null || cannot "there is no rake"
"$RUBY" -rminitest -e 1 2>/dev/null || cannot "there is no minitest"

rake() {
    if ! (cd "$HERE" && "$RUBY" -rrake -e 'Rake.application.run' -- "$@") >"$LOG" 2>&1; then
        cat "$LOG"
        echo "ERROR: rake $*"
        echo "0 passed, 1 failed"
        exit 1
    fi
}

# Run tests by their names; add up what minitest says. The last ones can be whole_NAME: without slices.
run_tests() {
    for name in "$@"; do
        test=${name#whole_}
        if [ "$test" != "$name" ]; then NODES_WHOLE=1; export NODES_WHOLE; fi
        "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "-I$HERE/test" "$HERE/test/test_$test.rb" 2>&1 || echo "ERROR: test_$name"
    done | tee "$LOG"
    # (Failures once more: the end of a log is what one sees.)
    awk '/^ERROR: / { print }
         /^ +[0-9]+\) (Failure|Error):$/ { shown = 1 }
         /^$/ { shown = 0 }
         shown { print }' "$LOG"
    awk '/^[0-9]+ runs, / { runs += $1; bad += $5 + $7; skips += $9 }
         /^ERROR: / && !/bad/ { errors++ }
         END { if (bad == 0 && errors > 0) bad = errors
               printf "%d passed, %d failed, %d skipped\n", runs - bad - skips, bad, skips; exit bad > 0 || runs == 0 }' "$LOG"
}

QUICK_TESTS='values wrappers dispose states usercode foreign cycles process slots insight objspace'
ALL_TESTS="$QUICK_TESTS collector random whole_collector whole_random"
case $kind in
build)
    rake test_libraries
    ;;
quick)
    rake test_libraries
    QUICK=1 run_tests $QUICK_TESTS
    ;;
all)
    rake test_libraries
    run_tests $ALL_TESTS
    ;;
debug)
    BUILD=$BUILD-debug
    mkdir -p "$BUILD"
    DEBUG=1 rake test_libraries
    RUNS=${RUNS:-20} run_tests $ALL_TESTS
    ;;
rubies)
    # (The totals are those of all of them.)
    for ruby in ${RUBIES:-ruby3.2 ruby4.0}; do
        command -v "$ruby" >/dev/null 2>&1 || continue
        "$ruby" -v
        BUILD=$TOP_BUILD/$(basename "$ruby") RUNS=${RUNS:-20} RUBY=$ruby sh "$0" all || true
    done 2>&1 | tee "$LOG"
    awk '/^[0-9]+ passed, / { passed += $1; failed += $3; skipped += $5 }
         END { if (NR == 0) { print "skipped: there is no other Ruby"; skipped = 1 }
               printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 }' "$LOG"
    ;;
asan)
    BUILD=$BUILD-asan
    mkdir -p "$BUILD"
    asan=$(${CC:-cc} -print-file-name=libasan.so)
    ubsan=$(${CC:-cc} -print-file-name=libubsan.so)
    [ -f "$asan" ] || cannot "there is no libasan for ${CC:-cc}"
    CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer --param asan-stack=0' \
        rake test_libraries
    # (An exception of Ruby's leaves frames without telling: none on the stack is watched.)
    # Ruby looks into all of its stacks, and leaves much to the end of the process.
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0
    LD_PRELOAD="$asan $ubsan"
    RUNS=10
    export ASAN_OPTIONS RUNS LD_PRELOAD
    run_tests values wrappers dispose states usercode foreign cycles slots insight objspace collector random
    ;;
soak)
    rake test_libraries
    SOAK_SECONDS=${SOAK_SECONDS:-3600}
    export SOAK_SECONDS
    run_tests random
    ;;
mutants_[1-6])
    rake test_libraries
    PART=${kind#mutants_}/6 "$RUBY" "$HERE/test/mutants.rb"
    ;;
gem)
    rake gem
    cat "$LOG"
    echo "1 passed, 0 failed"
    ;;
demo)
    rake test_libraries
    rake demo
    sed -n '/^A window,/,$p' "$LOG" >"$BUILD/demo.txt"
    diff -u "$HERE/widgets/expected.txt" "$BUILD/demo.txt"
    ;;
snapshots)
    rake test_libraries
    BUILD=$TOP_BUILD IGNORE=internal sh tests/newer.sh "$BUILD/leak" "$HERE/test/snapshots/leak.txt" \
        "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/test/snapshots/leak.rb"
    ;;
bar)
    rake test_libraries
    sh tests/bar.sh "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/test/snapshots/bar.rb"
    ;;
show-demo)
    rake test_libraries
    rake demo
    sed -n '/^A window,/,$p' "$LOG"
    ;;
bench-smoke)
    rake test_libraries
    REPEATS=1 "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/bench/bench.rb" 2000 &&
        REPEATS=1 "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/bench/pauses.rb" 2000
    ;;
bench)
    rake test_libraries
    "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/bench/bench.rb"
    "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/bench/pauses.rb"
    if command -v valgrind >/dev/null; then
        "$RUBY" "-I$BUILD/lib" "-I$HERE/lib" "$HERE/bench/instructions.rb"
    fi
    ;;
*)
    sed -n '2,/^RUBY=/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
