/* Random runs for a given time, which must leave no memory behind: after each, as many bytes
 * are in use as after the first ones, and the process does not grow. Blocks that malloc keeps
 * for a thread count as used: `make soak` sets GLIBC_TUNABLES so that it keeps none. */

#ifndef SOAK_H
#define SOAK_H

#include "unit.h"

#include <stdio.h>
#include <time.h>

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#include <malloc.h>
#define SOAK_KNOWS_BYTES 1
#else
#define SOAK_KNOWS_BYTES 0
#endif

/* The heap of a process grows to what the largest run needs. */
enum { SOAK_WARM_UP = 50, SOAK_SLACK_KIB = 8 * 1024 };

/* Bytes in use; 0 where that cannot be asked. */
static inline size_t bytes_in_use(void)
{
#if SOAK_KNOWS_BYTES
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* What the process occupies, in KiB; 0 where that cannot be asked. */
static inline unsigned long resident_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    unsigned long kib = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmRSS: %lu", &kib) != 1)
        ;
    fclose(file);
    return kib;
}

/* Runs with one seed after another, and says once a minute (eight times at least) how much
   memory is in use. The result is the exit status. */
static inline int soak(const char *name, unsigned long seconds, void (*run)(unsigned long seed, unsigned steps),
                       unsigned steps)
{
    unsigned long interval = seconds < 480 ? seconds / 8 + 1 : 60, spent = 0, said = 0, done;
    unsigned long resident = 0;
    static char buffer[4096];
    size_t bytes = 0, failures = 0;
    time_t start = time(NULL);

#if SOAK_KNOWS_BYTES
    mallopt(M_MXFAST, 0);
#endif
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (done = 0; failures == 0 && (done <= SOAK_WARM_UP || spent < seconds); done++) {
        unit_context("repeat with: %s %lu 1", name, done + 1);
        run(done + 1, steps);
        spent = (unsigned long)(time(NULL) - start);
        if (done < SOAK_WARM_UP)
            continue;
        if (done == SOAK_WARM_UP) {
            bytes = bytes_in_use();
            resident = resident_kib();
        }
        if (bytes_in_use() != bytes) {
            printf("FAILED: after run %lu %zu bytes are in use, not %zu\n", done + 1, bytes_in_use(), bytes);
            failures++;
        }
        if (spent / interval > said || done == SOAK_WARM_UP || failures > 0) {
            unsigned long now = resident_kib();

            said = spent / interval;
            printf("%s: %lu s, %lu runs: %zu bytes in use, %lu KiB resident\n", name, spent, done + 1,
                   bytes_in_use(), now);
            fflush(stdout);
            if (now > resident + SOAK_SLACK_KIB) {
                printf("FAILED: it was %lu KiB after the first runs\n", resident);
                failures++;
            }
        }
    }
    printf("%d passed, %d failed\n", failures == 0, failures != 0);
    return failures != 0;
}

#endif
