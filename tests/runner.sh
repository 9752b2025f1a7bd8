#!/bin/sh
# runner.sh - the runner of the tests itself (run.sh): it counts what passes, fails, is skipped
# and is not built; and it ends when its time is up, and names what it has not reached.
. tests/lib.sh
out=$PWD/$BUILD/tests/runner
rm -rf "$out"
mkdir -p "$out/bin" || exit 1

# Two of the tests let an hour pass, for whoever asks this `date`.
cat >"$out/bin/date" <<END
#!/bin/sh
expr \$($(command -v date) +%s) + \$(cat "$out/later")
END
cat >"$out/bin/make" <<END
#!/bin/sh
exec $(command -v "${MAKE:-make}") -f "$out/Makefile" "\$@"
END
chmod +x "$out/bin/date" "$out/bin/make"
sed "s/^>/$(printf '\t')/" >"$out/Makefile" <<END
.PHONY: run-good run-three run-bad run-unbuilt run-absent run-late run-stuck
run-good run-three run-bad run-late run-stuck: run-%:
>@sh tests/run.sh one \$* \$(\$*)
run-absent:
>@sh tests/run.sh skip absent "it is not here"
run-unbuilt: unbuilt
unbuilt:
>@exit 7
good = true
three = echo "2 passed, 0 failed, 1 skipped"
bad = false
late = sh -c 'echo 3600 >$out/later'
stuck = sh -c 'echo 3600 >$out/later; echo \$\$\$\$ >$out/pid; exec sleep 1000'
END

# says NAME TEXT NAMES...: running these tests ends with this; the status is in $status.
says() {
    name=$1 wanted=$2
    shift 2
    echo 0 >"$out/later"
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u RUN_TOTAL -u RUN_START PATH="$out/bin:$PATH" BUILD="$out" \
        MAKE="$out/bin/make" sh tests/run.sh all '' "$@" >"$out/output" 2>&1
    status=$?
    if [ "$(tail -n 1 "$out/output")" = "$wanted" ]; then pass "$name"; else fail "$name"; cat "$out/output"; fi
}
shows() { expect "$1" grep -q -- "$2" "$out/output"; }

says "tests that pass" "3 passed, 0 failed, 1 skipped" good three
expect "... and the status" test $status -eq 0
shows "... with progress" '^\[  2 of 2, 0:0[0-9]\] ok  *three '
shows "... and the time" '^It took 0:0[0-9], and 0:0[0-9] of '
says "a test that fails" "1 passed, 1 failed" bad good
expect "... and the status" test $status -eq 1
says "a test that is not built" "1 passed, 1 failed" unbuilt good
shows "... is named" '^FAILED  *unbuilt: not built'
says "a test that cannot run" "1 passed, 0 failed, 1 skipped" absent good
says "no test that passes" "0 passed, 0 failed, 1 skipped" absent
expect "... is a failure" test $status -eq 1

TEST_MINUTES=30 PORTION=1
export TEST_MINUTES PORTION
says "a limit that is not met" "1 passed, 0 failed" good
says "what is not built in time" "1 passed, 1 failed" good unbuilt
shows "... is named" '^FAILED  *unbuilt: not built'
says "what comes too late" "1 passed, 0 failed" late good
expect "... is no failure" test $status -eq 0
shows "... but named" '^not reached in 30 minutes, 1 of 2:  good$'
says "what failed before" "1 passed, 1 failed" bad late good
says "what was not built before" "1 passed, 1 failed" unbuilt late good
expect "... is a failure" test $status -eq 1

# A test that runs when the time is up is ended.
if have timeout; then
    cat >"$out/bin/timeout" <<END
#!/bin/sh
case \$1 in -k) shift 3; exec $(command -v timeout) -k 10 1 "\$@" ;; esac
exec $(command -v timeout) "\$@"
END
    chmod +x "$out/bin/timeout"
    says "a test that does not end" "0 passed, 0 failed" stuck
    expect "... is no failure" test $status -eq 0
    shows "... is not reached" '^not reached in 30 minutes, 1 of 1:  stuck$'
    expect "... and is ended" sh -c "! kill -0 $(cat "$out/pid") 2>/dev/null"
fi
finish
