/* buffer.c - bytes that grow, and whose pointer is handed out.
 *
 *     (define b (byte-buffer))            or (byte-buffer n): n zeros
 *     (call b 'append "text")
 *     (call b 'resize n) (attr b 'size)
 *     (call b 'view start end)            a byte-view; of everything, without start and end
 *     (call v 'get i) (call v 'set i byte) (call v 'text) (attr v 'size)
 *
 * A byte-view is the only way to the bytes, so that whoever has the pointer counts as an export.
 * As long as there is one the buffer refuses a new size. close or `with` ends a view, or the
 * last reference to it. The collector moves proxies, never these bytes.
 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

typedef struct byte_buffer {
    rrc_object head;
    char *bytes;
    size_t size, capacity;
    size_t exports;                 /* views that are open */
} byte_buffer;

#define METHOD(name) static rrc_object *name(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
#define NIL cx_newref(vm, cx_nil(vm))

/* ---- byte-view ------------------------------------------------------------ */

static int view_clear(rrc_heap *heap, rrc_object *self)
{
    byte_view *v = (byte_view *)self;

    if (v->buffer != NULL)
        ((byte_buffer *)v->buffer)->exports--;
    v->bytes = NULL;
    v->size = 0;
    RRC_CLEAR(heap, v->buffer);
    return 0;
}

static int view_close(cvm *vm, rrc_object *self) { return view_clear(cx_heap(vm), self); }

static void view_dealloc(rrc_heap *heap, rrc_object *self)
{
    view_clear(heap, self);
    cx_free(heap, self);
}

/* get and set: with a second argument, the byte becomes that. */
METHOD(view_byte)
{
    byte_view *v = (byte_view *)self;
    size_t i = cx_int_as_size(vm, args[0]), value = n > 1 ? cx_int_as_size(vm, args[1]) : 0;

    if (!cx_err_occurred(vm) && i >= v->size)
        cx_err_expected(vm, "byte-view", "the index of a byte in it", args[0]);
    if (!cx_err_occurred(vm) && value > 255)
        cx_err_expected(vm, "byte-view", "a byte", args[1]);
    if (cx_err_occurred(vm))
        return NULL;
    if (n > 1)
        v->bytes[i] = (char)value;
    return cx_int_from_long(vm, (unsigned char)v->bytes[i]);
}

METHOD(view_text)
{
    const byte_view *v = (const byte_view *)self;

    return (void)args, (void)n, cx_str_from_string_and_size(vm, v->bytes, v->size);
}

static rrc_object *view_size(cvm *vm, rrc_object *self)
{
    return cx_int_from_size(vm, ((byte_view *)self)->size);
}

static const rrc_member view_members[] = { { "buffer", offsetof(byte_view, buffer) }, { NULL, 0 } };
static const cx_getset_def view_getset[] = { { "size", view_size, NULL }, { NULL, NULL, NULL } };
static const cx_method_def view_methods[] = {
    { "get", 1, 1, view_byte }, { "set", 2, 2, view_byte }, { "text", 0, 0, view_text }, { NULL, 0, 0, NULL }
};
static const cx_type view_spec = {
    .type = { .tp_name = "byte-view", .tp_basicsize = sizeof(byte_view), .tp_members = view_members,
              .tp_flags = RRC_TPFLAGS_HAVE_GC | CX_TPFLAGS_NO_NEW,
              .tp_clear = view_clear, .tp_dealloc = view_dealloc },
    .tp_close = view_close, .tp_methods = view_methods, .tp_getset = view_getset
};

/* ---- byte-buffer ---------------------------------------------------------- */

/* 0; or -1, and nothing has changed. New bytes are 0. */
static int resize(cvm *vm, byte_buffer *b, size_t size)
{
    size_t capacity = size > 2 * b->capacity ? size : 2 * b->capacity;
    char *bytes;

    if (b->exports > 0 && size != b->size)
        return cx_err_set(vm, "byte-buffer: it cannot be resized while a byte-view of it is open"), -1;
    if (size > b->capacity) {
        if (size > SIZE_MAX / 4 || (bytes = realloc(b->bytes, capacity)) == NULL)
            return cx_err_no_memory(vm), -1;
        b->bytes = bytes;
        b->capacity = capacity;
    }
    if (size > b->size)
        memset(b->bytes + b->size, 0, size - b->size);
    b->size = size;
    return 0;
}

static int buffer_init(cvm *vm, rrc_object *self, rrc_object *const *args, size_t n)
{
    size_t size = n > 0 ? cx_int_as_size(vm, args[0]) : 0;

    if (cx_err_occurred(vm) || !cx_check_args(vm, "byte-buffer", n, 0, 1))
        return -1;
    return resize(vm, (byte_buffer *)self, size);
}

METHOD(buffer_resize)
{
    return buffer_init(vm, self, args, n) == 0 ? NIL : NULL;
}

METHOD(buffer_append)
{
    byte_buffer *b = (byte_buffer *)self;
    size_t old = b->size, size;
    const char *bytes = cx_str_as_utf8_and_size(vm, args[0], &size);

    if (bytes == NULL || resize(vm, b, old + size) != 0)
        return NULL;
    if (size > 0)
        memcpy(b->bytes + old, bytes, size);
    return (void)n, NIL;
}

METHOD(buffer_view)
{
    byte_buffer *b = (byte_buffer *)self;
    size_t start = n > 0 ? cx_int_as_size(vm, args[0]) : 0;
    size_t end = n > 1 ? cx_int_as_size(vm, args[1]) : b->size;
    byte_view *v;

    if (!cx_err_occurred(vm) && (start > end || end > b->size))
        cx_err_set(vm, "byte-buffer: it has %lu bytes, without a part like that", (unsigned long)b->size);
    v = cx_err_occurred(vm) ? NULL : (byte_view *)cx_new(vm, *(cx_type **)cx_state(vm, &cx_ext_buffer));
    if (v == NULL)
        return NULL;
    v->buffer = cx_newref(vm, self);
    v->bytes = start < end ? b->bytes + start : NULL;
    v->size = end - start;
    b->exports++;
    return &v->head;
}

static void buffer_dealloc(rrc_heap *heap, rrc_object *self)
{
    free(((byte_buffer *)self)->bytes);
    cx_free(heap, self);
}

static rrc_object *buffer_size(cvm *vm, rrc_object *self)
{
    return cx_int_from_size(vm, ((byte_buffer *)self)->size);
}

static const cx_getset_def buffer_getset[] = { { "size", buffer_size, NULL }, { NULL, NULL, NULL } };
static const cx_method_def buffer_methods[] = {
    { "append", 1, 1, buffer_append }, { "resize", 1, 1, buffer_resize }, { "view", 0, 2, buffer_view },
    { NULL, 0, 0, NULL }
};
static const cx_type buffer_spec = {
    .type = { .tp_name = "byte-buffer", .tp_basicsize = sizeof(byte_buffer), .tp_dealloc = buffer_dealloc,
              .tp_flags = CX_TPFLAGS_BASETYPE },
    .tp_init = buffer_init, .tp_methods = buffer_methods, .tp_getset = buffer_getset
};

static int init(cvm *vm)
{
    cx_type **view = cx_state(vm, &cx_ext_buffer);

    *view = cx_type_from_spec(vm, &view_spec, NULL, NULL);
    return *view != NULL ? cx_define_type(vm, &buffer_spec, NULL, NULL, NULL) : -1;
}

static void end(cvm *vm)
{
    CX_CLEAR(vm, *(cx_type **)cx_state(vm, &cx_ext_buffer));
}

const cx_extension cx_ext_buffer = {
    CX_EXTENSION_HEAD("buffer"), .init = init, .state_size = sizeof(cx_type *), .end = end
};
