/* python.c - the command pvm: the language, and CPython's C API. Its own option, --extension [PACKAGE=]FILE,
 * says where a module is; it can be repeated. The others are those of cvm. */
#include "src/internal.h"

#include <stdlib.h>

static char **extensions;
static int extension_count;

static int add_extensions(cvm *vm)
{
    int i;
    for (i = 0; i < extension_count; i++)
        if (!py_load(vm, extensions[i]))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static const cvm_layer *const layers[] = { &cvm_lisp_layer, &cvm_python_layer, NULL };
    int from, to = 1, status;
    py_set_arguments(argc, argv);
    extensions = malloc((size_t)argc * sizeof *extensions);
    if (extensions == NULL)
        return 1;
    for (from = 1; from < argc; from++) {
        if (strcmp(argv[from], "--extension") != 0) {
            argv[to++] = argv[from];
        } else if (from + 1 == argc) {
            fprintf(stderr, "pvm: a file must follow: --extension\n");
            return 2;
        } else {
            extensions[extension_count++] = argv[++from];
        }
    }
    argv[to] = NULL;
    status = cvm_command(argv, &(cvm_program){
        "pvm", "  --extension [PACKAGE=]FILE  where a module of the C API is; can be repeated\n", layers, add_extensions });
    free(extensions);
    return status;
}
