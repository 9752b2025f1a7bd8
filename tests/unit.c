#define _POSIX_C_SOURCE 200809L

#include "jumps.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef UNIT_CMOCKA
#define UNIT_CMOCKA 1
#endif

/* 1: nothing is run after the first failure. */
#ifndef UNIT_STOP
#define UNIT_STOP 0
#endif

#if UNIT_CMOCKA
#include <cmocka.h>
#endif

int unit_letters_fail;

static char context[256];
static const char *test_name = "";

#if !UNIT_CMOCKA
static jmp_buf escape;
#endif
static int running;

/* What failed, to be said once more at the end. */
static char failures[8000];

void unit_context(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
}

const char *unit_name(void)
{
    return test_name;
}

int unit_is_quick(void)
{
#ifdef QUICK_SUITE
    return 1;
#else
    const char *quick = getenv("QUICK");

    return quick != NULL && strcmp(quick, "1") == 0;
#endif
}

void unit_fail(const char *file, int line, const char *format, ...)
{
    char reason[600];
    size_t used = strlen(failures);
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    snprintf(failures + used, sizeof failures - used, "%s%s%s:%d: %s%s%s%s\n", test_name,
             test_name[0] != '\0' ? ": " : "", file, line, context[0] != '\0' ? "[" : "", context,
             context[0] != '\0' ? "] " : "", reason);
    fputs(failures + used, stderr);
    fflush(stderr);
    if (running) {
#if UNIT_CMOCKA
        running = 0;
        _fail(file, line);
#else
        running = 0;
        longjmp(escape, 1);
#endif
    }
    abort();
}

void unit_equal(const char *file, int line, const char *what, intmax_t actual, intmax_t expected)
{
    if (actual != expected)
        unit_fail(file, line, "%s is %jd, not %jd", what, actual, expected);
}

void unit_equal_pointer(const char *file, int line, const char *what, const void *actual,
                        const void *expected)
{
    if (actual != expected)
        unit_fail(file, line, "%s is %p, not %p", what, actual, expected);
}

void unit_equal_string(const char *file, int line, const char *what, const char *actual,
                       const char *expected)
{
    if (actual == NULL || strcmp(actual, expected) != 0)
        unit_fail(file, line, "%s is \"%s\", not \"%s\"", what, actual == NULL ? "(null)" : actual,
                  expected);
}

static int is_meant(const unit_group *group, const unit_test *test, const char *name)
{
    return strcmp(group->name, name) == 0 || strstr(test->name, name) != NULL;
}

static int is_chosen(const unit_group *group, const unit_test *test, int argc, char **argv)
{
    int i, all = 1, chosen = 0;

    for (i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (is_meant(group, test, argv[i] + 1))
                return 0;
        } else {
            all = 0;
            chosen |= is_meant(group, test, argv[i]);
        }
    }
    return all || chosen;
}

/* A test that hangs ends the program. */
enum { SECONDS_PER_TEST = 300 };

#if defined(_WIN32) || defined(__wasi__)
#define alarm(seconds) ((void)(seconds))        /* but not there: run.sh has a limit, too */
#endif

static void run_test_function(const unit_test *test)
{
    context[0] = '\0';
    test_name = test->name;
    running = 1;
    alarm(SECONDS_PER_TEST);
    test->run();
    alarm(0);
    running = 0;
}

#if UNIT_CMOCKA

static void run_unit(void **state)
{
    run_test_function((const unit_test *)*state);
}

static size_t run_group(const char *name, unit_test *tests, size_t count)
{
    struct CMUnitTest *units = (struct CMUnitTest *)calloc(count, sizeof *units);
    size_t i, failed;

    if (units == NULL)
        return count;
    for (i = 0; i < count; i++) {
        units[i].name = tests[i].name;
        units[i].test_func = run_unit;
        units[i].initial_state = &tests[i];
    }
    failed = (size_t)_cmocka_run_group_tests(name, units, count, NULL, NULL);
    free(units);
    return failed;
}

#else

static size_t run_group(const char *name, unit_test *tests, size_t count)
{
    volatile size_t i, failed = 0;

    printf("[==========] Running %u test(s) of %s.\n", (unsigned)count, name);
    for (i = 0; i < count && !(failed > 0 && UNIT_STOP); i++) {
        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        if (setjmp(escape) == 0) {
            run_test_function(&tests[i]);
            printf("[       OK ] %s\n", tests[i].name);
        } else {
            printf("[  FAILED  ] %s\n", tests[i].name);
            failed++;
        }
    }
    return failed;
}

#endif

int unit_main(int argc, char **argv, const unit_group *const *groups, size_t count)
{
    size_t g, total = 0, failed = 0;

    for (g = 0; g < count; g++) {
        unit_test *chosen = (unit_test *)calloc(groups[g]->count, sizeof *chosen);
        size_t i, n = 0;

        if (chosen == NULL)
            return 1;
        for (i = 0; i < groups[g]->count; i++)
            if (is_chosen(groups[g], &groups[g]->tests[i], argc, argv))
                chosen[n++] = groups[g]->tests[i];
        if (n > 0 && !(failed > 0 && UNIT_STOP))
            failed += run_group(groups[g]->name, chosen, n);
        total += n;
        free(chosen);
    }
    fflush(stderr);
    fputs(failures, stdout);
    printf("%u passed, %u failed\n", (unsigned)(total - failed), (unsigned)failed);
    return failed > 0 || total == 0;
}
