/* buffer.h - for C code that works on the bytes of a byte-buffer: see buffer.c. */
#ifndef BUFFER_H
#define BUFFER_H

#include "../cx/capi.h"

/* Whoever owns a reference to a byte-view can use bytes[0] to bytes[size - 1] until it is closed. */
typedef struct byte_view {
    rrc_object head;
    char *bytes;
    size_t size;
    rrc_object *buffer;             /* owned; NULL: closed */
} byte_view;

extern const cx_extension cx_ext_buffer;

#endif
