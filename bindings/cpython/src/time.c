/* time.c - clocks; and what the module datetime asks for. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L     /* for clock_gettime and localtime_r */
#endif
#include "internal.h"

#include <math.h>

static int read_clock(clockid_t which, _PyTime_t *t)
{
    struct timespec now;
    clock_gettime(which, &now);
    *t = (_PyTime_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return 0;
}

#define CLOCK(name, which) \
    int _PyTime_Get##name##WithInfo(_PyTime_t *t, _Py_clock_info_t *info) { (void)info; return read_clock((which), t); } \
    _PyTime_t _PyTime_Get##name(void) { _PyTime_t t; read_clock((which), &t); return t; }
CLOCK(SystemClock, CLOCK_REALTIME)
CLOCK(MonotonicClock, CLOCK_MONOTONIC)
CLOCK(PerfCounter, CLOCK_MONOTONIC)
double _PyTime_AsSecondsDouble(_PyTime_t t) { return (double)t * 1e-9; }

static int out_of_range(void)
{
    PyErr_SetString(PyExc_OverflowError, "timestamp out of range for platform time_t");
    return -1;
}

time_t _PyLong_AsTime_t(PyObject *op)
{
    long long t = PyLong_AsLongLong(op);
    return t == -1 && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError) ? out_of_range() : (time_t)t;
}

static double rounded(double x, _PyTime_round_t round)
{
    double nearest;
    switch (round) {
    case _PyTime_ROUND_FLOOR: return floor(x);
    case _PyTime_ROUND_CEILING: return ceil(x);
    case _PyTime_ROUND_UP: return x < 0 ? floor(x) : ceil(x);
    default:
        nearest = floor(x + 0.5);
        return nearest - x == 0.5 && fmod(nearest, 2) != 0 ? nearest - 1 : nearest;
    }
}

/* A number of seconds, as whole ones and parts of which a second has `parts`. parts 1: only whole ones. */
static int seconds_of(PyObject *op, time_t *seconds, long *part, long parts, _PyTime_round_t round)
{
    double x, whole;
    *part = 0;
    if (!PyFloat_Check(op)) {
        *seconds = _PyLong_AsTime_t(op);
        return *seconds == -1 && PyErr_Occurred() ? -1 : 0;
    }
    x = PyFloat_AS_DOUBLE(op);
    if (isnan(x)) {
        PyErr_SetString(PyExc_ValueError, "Invalid value NaN (not a number)");
        return -1;
    }
    if (parts == 1) {
        whole = rounded(x, round);
    } else {
        x = rounded(modf(x, &whole) * (double)parts, round);
        if (x < 0 || x >= (double)parts) {
            whole += x < 0 ? -1 : 1;
            x += x < 0 ? (double)parts : -(double)parts;
        }
        *part = (long)x;
    }
    if (!(whole >= -9223372036854775808.0 && whole < 9223372036854775808.0))
        return out_of_range();
    *seconds = (time_t)whole;
    return 0;
}

int _PyTime_ObjectToTime_t(PyObject *op, time_t *seconds, _PyTime_round_t round)
{
    long none;
    return seconds_of(op, seconds, &none, 1, round);
}

int _PyTime_ObjectToTimeval(PyObject *op, time_t *seconds, long *microseconds, _PyTime_round_t round)
{
    return seconds_of(op, seconds, microseconds, 1000000, round);
}

/* (A floor is all that is asked for.) */
int _PyTime_AsTimevalTime_t(_PyTime_t t, time_t *seconds, int *microseconds, _PyTime_round_t round)
{
    _PyTime_t us = t / 1000 - (t % 1000 < 0);
    (void)round;
    *seconds = (time_t)(us / 1000000 - (us % 1000000 < 0));
    *microseconds = (int)(us - (_PyTime_t)*seconds * 1000000);
    return 0;
}

static int converted(const struct tm *result)
{
    if (result != NULL)
        return 0;
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
}

int _PyTime_localtime(time_t t, struct tm *tm) { return converted(localtime_r(&t, tm)); }
int _PyTime_gmtime(time_t t, struct tm *tm) { return converted(gmtime_r(&t, tm)); }

/* ---- spans of time ------------------------------------------------------------ */

/* op times ns, in nanoseconds. */
static int span_of(_PyTime_t *t, PyObject *op, long ns, _PyTime_round_t round)
{
    time_t whole;
    long part;
    if (seconds_of(op, &whole, &part, ns, round) < 0)
        return -1;
    if (__builtin_mul_overflow((_PyTime_t)whole, (_PyTime_t)ns, t) || __builtin_add_overflow(*t, (_PyTime_t)part, t)) {
        PyErr_SetString(PyExc_OverflowError, "timestamp too large to convert to C _PyTime_t");
        return -1;
    }
    return 0;
}

int _PyTime_FromSecondsObject(_PyTime_t *t, PyObject *op, _PyTime_round_t round) { return span_of(t, op, 1000000000, round); }
int _PyTime_FromMillisecondsObject(_PyTime_t *t, PyObject *op, _PyTime_round_t round) { return span_of(t, op, 1000000, round); }

static _PyTime_t divided(_PyTime_t t, _PyTime_t by, _PyTime_round_t round)
{
    _PyTime_t n = t / by - (t % by < 0), rest = t - n * by;         /* rest >= 0 */
    switch (round) {
    case _PyTime_ROUND_FLOOR: return n;
    case _PyTime_ROUND_CEILING: return n + (rest > 0);
    case _PyTime_ROUND_UP: return n + (rest > 0 && t > 0);
    default: return n + (2 * rest > by || (2 * rest == by && n % 2 != 0));
    }
}

_PyTime_t _PyTime_AsMicroseconds(_PyTime_t t, _PyTime_round_t round) { return divided(t, 1000, round); }
_PyTime_t _PyTime_AsMilliseconds(_PyTime_t t, _PyTime_round_t round) { return divided(t, 1000000, round); }

int _PyTime_AsTimeval(_PyTime_t t, struct timeval *result, _PyTime_round_t round)
{
    _PyTime_t us = divided(t, 1000, round);
    result->tv_sec = (time_t)divided(us, 1000000, _PyTime_ROUND_FLOOR);
    result->tv_usec = (suseconds_t)(us - (_PyTime_t)result->tv_sec * 1000000);
    return 0;
}

int _PyTime_AsTimespec(_PyTime_t t, struct timespec *result)
{
    result->tv_sec = (time_t)divided(t, 1000000000, _PyTime_ROUND_FLOOR);
    result->tv_nsec = (long)(t - (_PyTime_t)result->tv_sec * 1000000000);
    return 0;
}

_PyTime_t _PyDeadline_Init(_PyTime_t timeout)
{
    _PyTime_t now = _PyTime_GetMonotonicClock();
    return timeout > INT64_MAX - now ? INT64_MAX : now + timeout;
}

_PyTime_t _PyDeadline_Get(_PyTime_t deadline) { return deadline - _PyTime_GetMonotonicClock(); }
