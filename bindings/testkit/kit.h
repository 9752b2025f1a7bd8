/* kit.h - what the test kit asks of a port. Write these functions in a file of your own, and link it with kit.c and your
 * VM: README.md has the commands. port.c and compactvm.c here are two such files.
 *
 * The kit knows the VM's objects by its ROOTS only, which are KIT_ROOTS variables of the program: whatever
 * your collector counts as a root. Each is nil, a plain object or a proxy. So the VM is free to move its objects at any
 * time. A plain object has KIT_FIELDS fields, each nil, a plain object or a proxy, and a number that never changes.
 */
#ifndef KIT_H
#define KIT_H

#include "rawrefcount.h"

enum { KIT_ROOTS = 6, KIT_FIELDS = 2 };
enum { KIT_NIL = -1 };

/* ---- what you write ---- */

/* Start a VM with a heap, all roots nil. The kit counts `way` up from 0: collect at every allocation in some ways, be
   incremental in others, as your VM can. */
void kit_open(unsigned way);
rrc_heap *kit_heap(void);

/* End the VM: rrc_heap_free, and then the rest. C may drop references later, so userdata lives on. (The kit keeps the
   address of the heap.) */
void kit_close(void);

/* Do deallocs see what their objects own (rrc_major_collection_keep)? Return 1 if so, else 0. KIT_NOTHING: finalizers
   do not, either. Then no finalizer of the kit brings a node back. */
enum { KIT_NOTHING = -1 };
int kit_keeps(void);

/* roots[to] = a new plain object with this number, and nil in its fields. */
void kit_new_object(int to, long number);

/* The number of the plain object in roots[root], KIT_PROXY if a proxy is there, KIT_PARTED if it is one that has lost its
   object, KIT_NIL if it is nil. */
enum { KIT_PROXY = -2, KIT_PARTED = -3 };
long kit_number(int root);

/* roots[to] = roots[from], or nil if `from` is KIT_NIL. */
void kit_set_root(int to, int from);

/* roots[owner].fields[field] = roots[from], or nil; roots[to] = roots[owner].fields[field]. The owner is plain. */
void kit_set_field(int owner, int field, int from);
void kit_get_field(int owner, int field, int to);

/* The C object for roots[root], which is not nil: a new reference. And roots[to] = the VM's object for ob. */
rrc_object *kit_to_c(int root);
void kit_to_vm(rrc_object *ob, int to);

/* Collect: young objects only; all (a collection that is going on ends first); or do a small slice. A VM that lacks a
   kind does nothing. */
enum { KIT_MINOR, KIT_MAJOR, KIT_SLICE };
void kit_collect(int kind);

/* A safe point of your VM: pending work is done here. */
void kit_safe_point(void);

/* How many plain objects and proxies the VM has, just after a collection; KIT_NIL: it cannot tell. */
long kit_count(void);

/* ---- what you can call ---- */

/* Set the hook `log` to this: whatever the header reports is a failure. */
void kit_log(void *userdata, const rrc_log_item *item);

/* Report a failure, and end the run. */
void kit_fail(const char *format, ...);

#endif
