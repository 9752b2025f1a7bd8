/* python.c - the command pvm: the language, and CPython's C API. */
#include "src/internal.h"

int main(int argc, char **argv)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_python_layer, NULL };

    return cvm_command(argc, argv, layers, py_load);
}
