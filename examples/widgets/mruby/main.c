/* main.c - an mruby with the modules Widgets and Naive: runs the script that it is given. */
#include <mruby.h>
#include <mruby/compile.h>

#include <stdio.h>

extern void widgets_init(mrb_state *mrb);
extern void naive_init(mrb_state *mrb);

int main(int argc, char **argv)
{
    mrb_state *mrb = mrb_open();
    FILE *script = argc == 2 ? fopen(argv[1], "r") : NULL;
    mrbc_context *context;
    int failed;
    if (mrb == NULL || script == NULL) {
        fprintf(stderr, argc == 2 ? "cannot read %s\n" : "usage: %s SCRIPT\n", argv[argc == 2]);
        return 2;
    }
    widgets_init(mrb);
    naive_init(mrb);
    context = mrbc_context_new(mrb);
    mrbc_filename(mrb, context, argv[1]);           /* so that errors, and Rawrefcount.explain, name lines */
    mrb_load_file_cxt(mrb, script, context);
    mrbc_context_free(mrb, context);
    fclose(script);
    failed = mrb->exc != NULL;
    if (failed)
        mrb_print_error(mrb);
    mrb_close(mrb);
    return failed;
}
