/* A library whose objects have counts of their own, and fields that own references to others. It knows nothing of the
 * header: it takes, moves and drops references when it likes. */

#ifndef FOREIGN_H
#define FOREIGN_H

#include "layout.h"
#include "rawrefcount.h"

#include <stdlib.h>

enum { FOREIGN_FIELDS = 3 };

typedef struct foreign {
    intptr_t count;
    struct foreign *field[FOREIGN_FIELDS];
    rrc_object *wrapper;        /* it owns one of the references, and is not owned */
} foreign;

static size_t foreign_alive;    /* objects */
static size_t foreign_asked;    /* calls of foreign_outside */

/* The caller owns the reference. */
static inline foreign *foreign_new(void)
{
    foreign *f = (foreign *)calloc(1, sizeof *f);

    if (f == NULL)
        abort();
    f->count = 1;
    foreign_alive++;
    return f;
}

static inline foreign *foreign_take(foreign *f)
{
    f->count++;
    return f;
}

static inline void foreign_drop(foreign *f)
{
    int k;

    if (--f->count > 0)
        return;
    for (k = 0; k < FOREIGN_FIELDS; k++)
        if (f->field[k] != NULL)
            foreign_drop(f->field[k]);
    foreign_alive--;
    free(f);
}

/* Set a field, which drops what it had. */
static inline void foreign_set(foreign *f, int k, foreign *to)
{
    foreign *old = f->field[k];

    f->field[k] = to != NULL ? foreign_take(to) : NULL;
    if (old != NULL)
        foreign_drop(old);
}

/* What a field owned belongs to the caller now. */
static inline foreign *foreign_steal(foreign *f, int k)
{
    foreign *old = f->field[k];

    f->field[k] = NULL;
    return old;
}

/* For a wrapper's slots. */
static inline intptr_t foreign_outside(const foreign *f)
{
    foreign_asked++;
    return f->count - 1;
}

static inline int foreign_visit(const foreign *f, rrc_visitproc visit, void *arg)
{
    int k;

    for (k = 0; f != NULL && k < FOREIGN_FIELDS; k++)
        if (f->field[k] != NULL && f->field[k]->wrapper != NULL)
            RRC_VISIT(f->field[k]->wrapper);
    return 0;
}

static inline void foreign_clear(foreign *f)
{
    int k;

    for (k = 0; k < FOREIGN_FIELDS; k++)
        foreign_set(f, k, NULL);
}

/* The wrapper is deallocated. */
static inline void foreign_unwrap(foreign *f)
{
    f->wrapper = NULL;
    foreign_drop(f);
}

#endif
