/* error.c - errors are the VM's own: a message, and the place in Lisp where it arose. */
#include "impl.h"

#include <stdarg.h>
#include <string.h>

rrc_object *cx_err_set(cvm *vm, const char *format, ...)
{
    char message[sizeof vm->message];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cvm_fail(vm, "%s", message);
    return NULL;
}

rrc_object *cx_err_no_memory(cvm *vm)
{
    cvm_out_of_memory(vm);
    return NULL;
}

rrc_object *cx_err_expected(cvm *vm, const char *who, const char *what, rrc_object *ob)
{
    char text[60];
    cvm_buffer out = { 0 };

    out.bytes = text;
    out.capacity = sizeof text - 4;
    out.fixed = 1;
    if (ob == NULL) {
        cvm_put_text(&out, "NULL");
    } else if (cvm_view_is_gone(vm, ob)) {
        cvm_put_text(&out, "a ");
        cvm_put_text(&out, RRC_TYPE(ob)->tp_name);
        cvm_put_text(&out, " whose host object is gone");
    } else if (!cxi_print(vm, ob, 1, &out)) {
        cvm_error_clear(vm);            /* what there is will do */
        out.full = 1;
    }
    memcpy(text + out.length, out.full ? "..." : "", out.full ? 4 : 1);
    return cx_err_set(vm, "%s: expected %s, got %s", who, what, text);
}

int cx_err_occurred(const cvm *vm)
{
    return vm->failed;
}

const char *cx_err_message(const cvm *vm)
{
    return vm->failed ? vm->message : "";
}

void cx_err_clear(cvm *vm)
{
    if (!vm->exiting)
        cvm_error_clear(vm);
}

/* The name of the file is a Lisp string: it is held by its C object meanwhile. */
void cx_err_fetch(cvm *vm, cx_err *err)
{
    memset(err, 0, sizeof *err);
    err->failed = vm->failed;
    err->line = vm->error_line;
    err->exiting = vm->exiting;
    memcpy(err->message, vm->message, sizeof err->message);
    if (vm->failed && cvm_is_object(vm->error_file))
        err->file = cxi_from_value(vm, vm->error_file);     /* NULL: no memory. Then the place is lost */
    vm->exiting = 0;
    cvm_error_clear(vm);
}

void cx_err_restore(cvm *vm, cx_err *err)
{
    vm->failed = err->failed;
    vm->exiting = err->exiting;
    vm->error_line = err->file != NULL ? err->line : 0;
    vm->error_file = err->file != NULL ? cxi_value_of(vm, err->file) : CVM_NIL;
    if (!cvm_is(vm->error_file, CVM_STRING))            /* the VM is being closed */
        vm->error_file = CVM_NIL;
    memcpy(vm->message, err->message, sizeof vm->message);
    if (err->file != NULL)
        rrc_decref(vm->rrc, err->file);
    err->file = NULL;
}
