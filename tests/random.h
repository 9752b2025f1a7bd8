/* The program around random runs, which is the same for each kind of heap:
 *
 *     NAME [seed [runs [steps]]]
 *     NAME replay FILE...          files of tests/corpus
 *     NAME soak SECONDS            see soak.h
 *
 * Built with RANDOM_FUZZ it is the entry of a fuzzer, whose bytes make the choices. */

#ifndef RANDOM_H
#define RANDOM_H

#include "choices.h"
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct random_runs {
    const char *name;           /* how the program is called */
    unsigned steps;             /* of a run, if the arguments do not say it */
    void (*run_seed)(unsigned long seed, unsigned steps);
    void (*run_bytes)(const unsigned char *bytes, size_t size);
} random_runs;

#ifdef RANDOM_FUZZ

/* What libFuzzer calls with its bytes. */
#define RANDOM_PROGRAM(function, program) \
    int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size); \
    int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) \
    { \
        if (size > 0) \
            (program).run_bytes(data, size); \
        return 0; \
    }

#else

#define RANDOM_PROGRAM(function, program) \
    int function(int argc, char **argv) { return random_program(&(program), argc, argv); }

/* Replays files of a corpus: what a fuzzer found worth keeping. The result is the exit status. */
static inline int replay_files(const random_runs *runs, char **names, int count)
{
    static unsigned char bytes[1 << 16];
    int i;

    for (i = 0; i < count; i++) {
        FILE *file = fopen(names[i], "rb");
        size_t size;

        if (file == NULL) {
            printf("%s: cannot be opened\n", names[i]);
            return 1;
        }
        size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        unit_context("repeat with: %s replay %s", runs->name, names[i]);
        if (size > 0)
            runs->run_bytes(bytes, size);
    }
    printf("%d passed, 0 failed\n", count);
    return count == 0;
}

static inline int random_program(const random_runs *runs, int argc, char **argv)
{
    unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 100, i;
    unsigned steps = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : runs->steps;

    if (argc > 1 && strcmp(argv[1], "replay") == 0)
        return replay_files(runs, argv + 2, argc - 2);
    if (argc > 2 && strcmp(argv[1], "soak") == 0)
        return soak(runs->name, strtoul(argv[2], NULL, 0), runs->run_seed, runs->steps);
    for (i = 0; i < count; i++) {
        unit_context("repeat with: %s %lu 1 %u", runs->name, seed + i, steps);
        runs->run_seed(seed + i, steps);
    }
    printf("%lu passed, 0 failed\n", count);
    return count == 0;
}

#endif

#endif
