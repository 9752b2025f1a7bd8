/* scope.c - call scopes: who owns temporaries.
 *
 * A temporary is an object that nothing else would hold: the result of a function, that
 * a caller wants to use as if it were borrowed. It is kept on a stack of references, and a
 * scope is a mark on it: closing the scope drops all that came after. Each call of a C
 * function is a scope, so that nothing has to be dropped by hand on all the ways out.
 */
#include "impl.h"

#include <stdlib.h>

size_t cx_scope_open(cvm *vm)
{
    return CX_STATE(vm)->temp_count;
}

void cx_scope_close(cvm *vm, size_t scope)
{
    struct cx_state *cx = CX_STATE(vm);

    while (cx->temp_count > scope)
        rrc_decref(vm->rrc, cx->temps[--cx->temp_count]);
}

rrc_object *cx_temp(cvm *vm, rrc_object *ob)
{
    struct cx_state *cx = CX_STATE(vm);

    if (!cxi_any(vm, "cx_temp", ob))
        return NULL;
    if (!cxi_make_room(&cx->temps, cx->temp_count, &cx->temp_capacity, sizeof *cx->temps)) {
        rrc_decref(vm->rrc, ob);
        return cx_err_no_memory(vm);
    }
    cx->temps[cx->temp_count++] = ob;
    if (!cxi_borrowed(vm, ob, NULL, 0, "cx_temp"))
        return NULL;
    return ob;
}
