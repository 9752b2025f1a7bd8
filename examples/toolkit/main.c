/* main.c - the command cvm: the language, and the toolkit. */
#include "../../bindings/compactvm/lisp/lisp.h"
#include "toolkit.h"

int main(int argc, char **argv)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_toolkit_layer, NULL };

    (void)argc;
    return cvm_command(argv, &(cvm_program){ .name = "cvm", .options = "", .layers = layers });
}
