/* What every test needs: groups of test functions, checks that name the line
 * they failed at, and a runner. The runner is cmocka's where it is there
 * (UNIT_CMOCKA 1), else a plain one with the same output, so that the same tests
 * also run where no such library exists. */

#ifndef UNIT_H
#define UNIT_H

#include <stddef.h>
#include <stdint.h>

typedef struct unit_test {
    const char *name;
    void (*run)(void);
} unit_test;

typedef struct unit_group {
    const char *name;
    const unit_test *tests;
    size_t count;
} unit_group;

/* What C99 says of formats, not what Windows says. */
#ifdef __MINGW32__
#define UNIT_FORMAT(format_, first_) __attribute__((format(gnu_printf, format_, first_)))
#else
#define UNIT_FORMAT(format_, first_) __attribute__((format(printf, format_, first_)))
#endif

#define UNIT(function) { #function, function }

/* Defines the group that a topic exports. A test that is left out of its group
   is an unused static function, which the compiler reports. */
#define UNIT_GROUP(group, ...) \
    extern const unit_group group; \
    static const unit_test group##_list[] = { __VA_ARGS__ }; \
    const unit_group group = { #group, group##_list, sizeof group##_list / sizeof group##_list[0] }

/* Says, in front of a failure's message, which round of a loop it came from. */
void unit_context(const char *format, ...) UNIT_FORMAT(1, 2);

/* The name of the running test, for one that does what its name says. */
const char *unit_name(void);

/* Is only the quick subset wanted? Then big tests are smaller. */
int unit_is_quick(void);

/* Ends the running test. Only for the thread that runs the tests. */
void unit_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn)) UNIT_FORMAT(3, 4);

void unit_equal(const char *file, int line, const char *what, intmax_t actual, intmax_t expected);
void unit_equal_pointer(const char *file, int line, const char *what, const void *actual,
                        const void *expected);
void unit_equal_string(const char *file, int line, const char *what, const char *actual,
                       const char *expected);

#define check(condition) \
    ((condition) ? (void)0 : unit_fail(__FILE__, __LINE__, "not true: %s", #condition))
#define check_int(actual, expected) \
    unit_equal(__FILE__, __LINE__, #actual, (intmax_t)(actual), (intmax_t)(expected))
#define check_ptr(actual, expected) \
    unit_equal_pointer(__FILE__, __LINE__, #actual, (actual), (expected))
#define check_str(actual, expected) \
    unit_equal_string(__FILE__, __LINE__, #actual, (actual), (expected))

/* Runs the tests whose names contain one of the arguments, or whose group has that
   name, or all; but for those meant by an argument with a - in front. Prints
   "N passed, N failed" as the last line. The result is the exit status. */
int unit_main(int argc, char **argv, const unit_group *const *groups, size_t count);

/* For the header's implementation in the test programs: rrc_decref_later finds no memory. */
extern int unit_letters_fail;

/* There the atomic operations take a lock, as tcc has none, and as some tests must know of each swap: it calls
   unit_on_swap first. */
#ifdef UNIT_LOCKS
#elif defined(__TINYC__) || (defined(HOST_MACROS) && HOST_MACROS && !defined(__wasi__))
#define UNIT_LOCKS 1
#else
#define UNIT_LOCKS 0
#endif
extern void (*unit_on_swap)(uintptr_t value);

#endif
