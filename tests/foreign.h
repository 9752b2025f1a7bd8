/* A library whose objects have counts of their own, and fields that own references to others. It knows nothing of those
 * who use it: it takes, moves and drops references when it likes. The tests of the bindings use it, too. What includes
 * this has included rawrefcount.h. */

#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdlib.h>

enum { FOREIGN_FIELDS = 3, FOREIGN_PLACES = 100 };

typedef struct foreign {
    intptr_t count;
    long id;
    struct foreign *field[FOREIGN_FIELDS];
    rrc_object *wrapper;                /* it owns one of the references, and is not owned */
    struct foreign *next, **at;         /* of all objects */
} foreign;

/* One unit of a program defines it. */
extern struct foreign_library {
    foreign *first;                     /* all objects: weak references */
    foreign *taken[FOREIGN_PLACES];     /* references of the library's own */
    size_t alive;                       /* objects */
    size_t asked;                       /* calls of foreign_outside */
} foreign_library;

/* The caller owns the reference. */
static inline foreign *foreign_new(long id)
{
    foreign *f = (foreign *)calloc(1, sizeof *f);

    if (f == NULL)
        abort();
    f->count = 1;
    f->id = id;
    f->next = foreign_library.first;
    f->at = &foreign_library.first;
    if (f->next != NULL)
        f->next->at = &f->next;
    foreign_library.first = f;
    foreign_library.alive++;
    return f;
}

static inline foreign *foreign_take(foreign *f)
{
    f->count++;
    return f;
}

static inline void foreign_clear(foreign *f);

static inline void foreign_drop(foreign *f)
{
    if (--f->count > 0)
        return;
    foreign_clear(f);
    *f->at = f->next;
    if (f->next != NULL)
        f->next->at = f->at;
    foreign_library.alive--;
    free(f);
}

/* Make what a place refers to another one, or none. */
static inline void foreign_set(foreign **place, foreign *to)
{
    foreign *old = *place;

    *place = to != NULL ? foreign_take(to) : NULL;
    if (old != NULL)
        foreign_drop(old);
}

static inline void foreign_clear(foreign *f)
{
    int k;

    for (k = 0; f != NULL && k < FOREIGN_FIELDS; k++)
        foreign_set(&f->field[k], NULL);
}

/* What a field owned belongs to the caller now. */
static inline foreign *foreign_steal(foreign *f, int k)
{
    foreign *old = f->field[k];

    f->field[k] = NULL;
    return old;
}

/* The library takes a reference of its own, in the first place that is free. Returns whether there is one. */
static inline int foreign_hold(foreign *f)
{
    int k = 0;

    while (k < FOREIGN_PLACES && foreign_library.taken[k] != NULL)
        k++;
    if (k < FOREIGN_PLACES)
        foreign_set(&foreign_library.taken[k], f);
    return k < FOREIGN_PLACES;
}

/* By a weak reference. NULL: there is none with this id. */
static inline foreign *foreign_find(long id)
{
    foreign *f = foreign_library.first;

    while (f != NULL && f->id != id)
        f = f->next;
    return f;
}

/* For a wrapper's slots; f is NULL where its object is gone. */
static inline intptr_t foreign_outside(const foreign *f)
{
    foreign_library.asked++;
    return f != NULL ? f->count - 1 : 0;
}

static inline int foreign_visit(const foreign *f, rrc_visitproc visit, void *arg)
{
    int k;

    for (k = 0; f != NULL && k < FOREIGN_FIELDS; k++)
        if (f->field[k] != NULL && f->field[k]->wrapper != NULL)
            RRC_VISIT(f->field[k]->wrapper);
    return 0;
}

/* The wrapper is deallocated. */
static inline void foreign_unwrap(foreign *f)
{
    f->wrapper = NULL;
    foreign_drop(f);
}

#endif
