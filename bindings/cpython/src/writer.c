/* writer.c - text that is put together part by part: _PyUnicodeWriter. */
#include "internal.h"

void _PyUnicodeWriter_Init(_PyUnicodeWriter *writer)
{
    memset(writer, 0, sizeof *writer);
}

static void set_buffer(_PyUnicodeWriter *writer, PyObject *text)
{
    Py_XSETREF(writer->buffer, text);
    writer->data = PyUnicode_DATA(text);
    writer->kind = PyUnicode_KIND(text);
    writer->maxchar = PyUnicode_MAX_CHAR_VALUE(text);
    writer->size = PyUnicode_GET_LENGTH(text);
}

int _PyUnicodeWriter_PrepareInternal(_PyUnicodeWriter *writer, Py_ssize_t n, Py_UCS4 largest)
{
    Py_ssize_t size;
    PyObject *text;
    if (n > PY_SSIZE_T_MAX / 8 - writer->pos) {
        PyErr_NoMemory();
        return -1;
    }
    size = writer->pos + n;
    if (size <= writer->size && largest <= writer->maxchar && writer->buffer != NULL)
        return 0;
    if (writer->overallocate && size > writer->size)
        size += size / 4;
    text = PyUnicode_New(Py_MAX(Py_MAX(size, writer->size), writer->min_length), Py_MAX(Py_MAX(largest, writer->maxchar), writer->min_char));
    if (text == NULL)
        return -1;
    if (writer->pos > 0 && PyUnicode_CopyCharacters(text, 0, writer->buffer, 0, writer->pos) < 0) {
        Py_DECREF(text);
        return -1;
    }
    set_buffer(writer, text);
    return 0;
}

int _PyUnicodeWriter_PrepareKindInternal(_PyUnicodeWriter *writer, enum PyUnicode_Kind kind)
{
    return _PyUnicodeWriter_PrepareInternal(writer, 0, kind == PyUnicode_1BYTE_KIND ? 0xff : kind == PyUnicode_2BYTE_KIND ? 0xffff : 0x10ffff);
}

int _PyUnicodeWriter_WriteChar(_PyUnicodeWriter *writer, Py_UCS4 c)
{
    if (_PyUnicodeWriter_Prepare(writer, 1, c) < 0)
        return -1;
    PyUnicode_WRITE(writer->kind, writer->data, writer->pos, c);
    writer->pos++;
    return 0;
}

int _PyUnicodeWriter_WriteSubstring(_PyUnicodeWriter *writer, PyObject *op, Py_ssize_t start, Py_ssize_t end)
{
    if (PyUnicode_READY(op) < 0)
        return -1;
    if (start >= end)
        return 0;
    if (_PyUnicodeWriter_Prepare(writer, end - start, PyUnicode_MAX_CHAR_VALUE(op)) < 0
        || PyUnicode_CopyCharacters(writer->buffer, writer->pos, op, start, end - start) < 0)
        return -1;
    writer->pos += end - start;
    return 0;
}

int _PyUnicodeWriter_WriteStr(_PyUnicodeWriter *writer, PyObject *op)
{
    return PyUnicode_READY(op) < 0 ? -1 : _PyUnicodeWriter_WriteSubstring(writer, op, 0, PyUnicode_GET_LENGTH(op));
}

int _PyUnicodeWriter_WriteLatin1String(_PyUnicodeWriter *writer, const char *text, Py_ssize_t n)
{
    PyObject *op = PyUnicode_DecodeLatin1(text, n, NULL);
    int code = op != NULL ? _PyUnicodeWriter_WriteStr(writer, op) : -1;
    Py_XDECREF(op);
    return code;
}

int _PyUnicodeWriter_WriteASCIIString(_PyUnicodeWriter *writer, const char *text, Py_ssize_t n)
{
    return _PyUnicodeWriter_WriteLatin1String(writer, text, n >= 0 ? n : (Py_ssize_t)strlen(text));
}

PyObject *_PyUnicodeWriter_Finish(_PyUnicodeWriter *writer)
{
    PyObject *text = writer->pos > 0 ? PyUnicode_Substring(writer->buffer, 0, writer->pos) : PyUnicode_New(0, 0);
    _PyUnicodeWriter_Dealloc(writer);
    return text;
}

void _PyUnicodeWriter_Dealloc(_PyUnicodeWriter *writer)
{
    Py_CLEAR(writer->buffer);
}
