/* str.c - strings.
 *
 * From the host: P link, light. The object is allocated at the string's size when that
 *     first crosses, but the bytes are copied only when C asks for them: most strings just
 *     pass through. Since the copy is in the object, its address is good as long as that.
 *
 * Made in C: only an object at first, which C may write to (cx_str_buffer). When it
 *     reaches Lisp it gets an O link and must not change any more. Nothing is copied then:
 *     Lisp's string has no bytes of its own, it reads those of the C object
 *     (cvm_bytes), which lives at least as long.
 */
#include "impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char wanted[] = "a string";

void cxi_str_define(cx_type *type)
{
    type->type.tp_basicsize = offsetof(cxi_str, bytes);
    type->type.tp_itemsize = 1;
    type->type.tp_flags = CX_TPFLAGS_LIGHT;
}

rrc_object *cx_str_from_string_and_size(cvm *vm, const char *bytes, size_t size)
{
    cxi_str *s = size < SIZE_MAX / 4 ? (cxi_str *)cxi_alloc(vm, CX_STR, size + 1) : NULL;

    if (s == NULL)
        return cx_err_no_memory(vm);
    s->size = size;
    s->filled = 1;
    if (bytes != NULL)
        memcpy(s->bytes, bytes, size);
    return &s->head;
}

rrc_object *cx_str_from_string(cvm *vm, const char *text)
{
    return cx_str_from_string_and_size(vm, text, strlen(text));
}

rrc_object *cx_str_from_format(cvm *vm, const char *format, ...)
{
    rrc_object *s;
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0)
        return cx_err_set(vm, "cx_str_from_format: bad format");
    s = cx_str_from_string_and_size(vm, NULL, (size_t)size);
    if (s != NULL) {
        va_start(args, format);
        vsnprintf(((cxi_str *)s)->bytes, (size_t)size + 1, format, args);
        va_end(args);
    }
    return s;
}

int cx_str_check(cvm *vm, rrc_object *ob)
{
    return cxi_any(vm, "cx_str_check", ob) && cxi_is(vm, ob, CX_STR);
}

size_t cx_str_size(cvm *vm, rrc_object *ob)
{
    return cxi_expect(vm, "cx_str_size", ob, CX_STR, wanted) ? ((cxi_str *)ob)->size : SIZE_MAX;
}

/* The bytes, copied out of the host's string the first time. */
static const char *bytes_of(cvm *vm, rrc_object *ob)
{
    cxi_str *s = (cxi_str *)ob;

    if (!s->filled) {
        memcpy(s->bytes, cvm_bytes((cvm_value)rrc_to_obj(vm->rrc, ob)), s->size);
        s->filled = 1;
    }
    return s->bytes;
}

const char *cx_str_as_utf8(cvm *vm, rrc_object *ob)
{
    return cxi_expect(vm, "cx_str_as_utf8", ob, CX_STR, wanted) ? bytes_of(vm, ob) : NULL;
}

const char *cx_str_as_utf8_and_size(cvm *vm, rrc_object *ob, size_t *size)
{
    if (!cxi_expect(vm, "cx_str_as_utf8_and_size", ob, CX_STR, wanted))
        return NULL;
    if (size != NULL)
        *size = ((cxi_str *)ob)->size;
    return bytes_of(vm, ob);
}

char *cx_str_buffer(cvm *vm, rrc_object *ob)
{
    if (!cxi_expect(vm, "cx_str_buffer", ob, CX_STR, wanted))
        return NULL;
    if (!((cxi_str *)ob)->seen)
        return ((cxi_str *)ob)->bytes;
    cx_err_expected(vm, "cx_str_buffer", "a string that Lisp has not seen yet", ob);
    return NULL;
}

int cx_str_equals(cvm *vm, rrc_object *ob, const char *text)
{
    size_t size = strlen(text);

    if (!cxi_expect(vm, "cx_str_equals", ob, CX_STR, wanted))
        return -1;
    return ((cxi_str *)ob)->size == size && memcmp(bytes_of(vm, ob), text, size) == 0;
}
