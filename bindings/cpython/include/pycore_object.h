/* pycore_object.h - CPython's module datetime includes its private header of this name. What it uses of that is in
 * datetime.h. */
