#!/bin/sh
# install.sh - `make install-cvm` installs what an extension needs: from an empty folder, one compiles
# with what pkg-config says, and runs in the installed command. `make uninstall-cvm` leaves no file.
. tests/lib.sh
rm -rf "$BUILD/cpython/install"
mkdir -p "$BUILD/cpython/install/empty" || exit 1
out=$(cd "$BUILD/cpython/install" && pwd)
prefix=$out/prefix
expect "make install-cvm" $MAKE -s --no-print-directory install-cvm PREFIX="$prefix"
cat >"$out/empty/double.c" <<'END'
#include <Python.h>

static PyObject *twice(PyObject *self, PyObject *x)
{
    (void)self;
    return PyNumber_Add(x, x);
}

static PyMethodDef methods[] = { { "twice", twice, METH_O, "x + x" }, { NULL, NULL, 0, NULL } };
static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "double", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_double(void)
{
    return PyModule_Create(&definition);
}
END
cd "$out/empty" || exit 1
if have "${PKG_CONFIG:-pkg-config}"; then
    flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig ${PKG_CONFIG:-pkg-config} --cflags cvm)
else
    skip "there is no pkg-config"
    flags=-I$prefix/include/cvm
fi
# shellcheck disable=SC2086
expect "an extension compiles" $CC -Wall -Wextra -Werror -shared -fPIC $flags double.c -o double.so
expect "cvm is installed" "$prefix/bin/cvm" -e 1
result=$("$prefix/bin/pvm" --extension double.so -e "(list (call (import 'double) 'twice 21) (call (import 'double) 'twice \"ab\"))")
expect "it runs" test "$result" = '(42 "abab")'
if have "$CXX"; then
    sed 's/double/triple/; s/NULL/nullptr/g; s/PyInit_double/PyInit_triple/' double.c >triple.cpp
    # shellcheck disable=SC2086
    expect "an extension in C++ compiles" $CXX -std=c++11 -Wall -Wextra -Werror -shared -fPIC $flags triple.cpp -o triple.so
    result=$("$prefix/bin/pvm" --extension more=triple.so -e "(call (import \"more.triple\") 'twice 4)")
    expect "it runs, too" test "$result" = 8
else
    skip "there is no C++ compiler"
fi
printf '#include <Python.h>\nint main(void) { return PyEval_SetTrace() != 0; }\n' >absent.c
# shellcheck disable=SC2086
if $CC -shared -fPIC $flags absent.c -o absent.so 2>errors; then fail "what is not there compiles"
else expect "what is not there is named" grep -q PyEval_SetTrace errors; fi
# With -w nothing is reported. Then the module fails when it is imported, and the message says why.
# shellcheck disable=SC2086
expect "without warnings it compiles" $CC -w -shared -fPIC $flags -DPyInit_double=PyInit_absent absent.c double.c -o absent.so
says=$("$prefix/bin/pvm" --extension absent.so -e "(import 'absent)" 2>&1)
expect "what is not there is named when it is imported: $says" expr "$says" : '.*PyEval_SetTrace.*nor a library'
# Every type and every function that is declared is in the command.
printf '#include <structmember.h>\n#include <frameobject.h>\n#include <pythread.h>\n' >all.c
# shellcheck disable=SC2086
$CC -E $flags all.c | tr '\n' ' ' | sed 's/static inline[^{]*//g; s/__attribute__((error([^)]*)))[^;]*;//g' >all.txt
{ grep -o '_\{0,1\}Py[A-Za-z0-9_]* *(' all.txt | tr -d ' ('
  grep -o 'extern PyTypeObject [^;]*' all.txt | grep -o '_\{0,1\}Py[A-Za-z_]*Type\b' | grep -v '^PyTypeObject$'
} | sort -u | grep -v '_$' | grep -v -e '^Py_ssize_t$' -e '^Py_hash_t$' -e '^PySendResult$' >declared
nm -D --defined-only "$prefix/bin/pvm" | awk '{ print $3 }' | sort >defined
{ cat defined; grep -rho 'static inline[^(]*(' "$prefix/include/cvm" | grep -o '_\{0,1\}Py[A-Za-z0-9_]*($' | tr -d '('; } | sort -u >known
comm -23 declared known >undefined
expect "all that is declared is defined: $(tr '\n' ' ' <undefined)" test ! -s undefined
expect "there is much" test "$(wc -l <declared)" -gt 300
cd - >/dev/null || exit 1
$MAKE -s --no-print-directory uninstall-cvm PREFIX="$prefix"
expect "uninstall-cvm leaves no file" test "$(find "$prefix" -type f | wc -l)" -eq 0
finish
