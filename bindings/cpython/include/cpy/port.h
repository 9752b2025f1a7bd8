/* port.h - names for what differs between compilers. */
#ifndef CPY_PORT_H
#define CPY_PORT_H

typedef intptr_t Py_ssize_t;
typedef Py_ssize_t Py_hash_t;
typedef size_t Py_uhash_t;
typedef intptr_t Py_intptr_t;
typedef uintptr_t Py_uintptr_t;

#define PY_SSIZE_T_MAX INTPTR_MAX
#define PY_SSIZE_T_MIN INTPTR_MIN
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define SIZEOF_OFF_T SIZEOF_LONG
#define SIZEOF_TIME_T SIZEOF_LONG
#define SIZEOF_PID_T SIZEOF_INT
#define SIZEOF__BOOL 1
#define SIZEOF_PY_HASH_T SIZEOF_SIZE_T
#define SIZEOF_PY_UHASH_T SIZEOF_SIZE_T
#define SIZEOF_LONG_DOUBLE __SIZEOF_LONG_DOUBLE__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define PY_FORMAT_SIZE_T "z"
#define PY_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define PY_BIG_ENDIAN (!PY_LITTLE_ENDIAN)
#define HAVE_STDINT_H 1
#define HAVE_STDDEF_H 1
#define HAVE_STDARG_PROTOTYPES 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_ERRNO_H 1
#define HAVE_FCNTL_H 1
#define HAVE_DIRENT_H 1
#define HAVE_SIGNAL_H 1
#define HAVE_WCHAR_H 1
#define HAVE_GETPAGESIZE 1
#define HAVE_SYSCONF 1
#define HAVE_MMAP 1
#define HAVE_CLOCK_GETTIME 1
#define HAVE_STRFTIME 1
#define HAVE_MKTIME 1
#define HAVE_POLL_H 1
#define HAVE_POLL 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_SELECT 1
#ifdef __linux__
#define HAVE_SYS_EPOLL_H 1
#define HAVE_EPOLL 1
#define HAVE_EPOLL_CREATE1 1
#endif
#define WITH_THREAD 1
#define PYLONG_BITS_IN_DIGIT 30
#define STDC_HEADERS 1
#define PY_UINT32_T uint32_t
#define PY_UINT64_T uint64_t
#define PY_INT32_T int32_t
#define PY_INT64_T int64_t
#define PY_SIZE_MAX SIZE_MAX
#define HAVE_LONG_LONG 1
#define PY_LONG_LONG long long
#define PY_LLONG_MAX LLONG_MAX
#define PY_LLONG_MIN LLONG_MIN

#ifdef __cplusplus
#define PyMODINIT_FUNC extern "C" __attribute__((visibility("default"))) PyObject *
#else
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#endif
#define PyAPI_FUNC(type) extern type
#define PyAPI_DATA(type) extern type
#define Py_LOCAL(type) static type
#define Py_LOCAL_INLINE(type) static inline type
#define Py_GCC_ATTRIBUTE(x) __attribute__(x)
#define Py_DEPRECATED(version)
#define Py_UNUSED(name) _unused_##name __attribute__((unused))
#define Py_ALWAYS_INLINE __attribute__((always_inline))
#define Py_NO_INLINE __attribute__((noinline))
#define _Py_NO_RETURN __attribute__((noreturn))
#define Py_UNREACHABLE() abort()
#if defined(__clang__) || defined(__GNUC__)
#define CPY_ABSENT(what) __attribute__((error(what)))       /* a call of it does not compile */
#else
#define CPY_ABSENT(what)
#endif

#define Py_STRINGIFY(x) Py_STRINGIFY_(x)
#define Py_STRINGIFY_(x) #x
#define Py_ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define Py_MIN(x, y) ((x) > (y) ? (y) : (x))
#define Py_MAX(x, y) ((x) > (y) ? (x) : (y))
#define Py_ABS(x) ((x) < 0 ? -(x) : (x))
#define Py_MEMBER_SIZE(type, member) sizeof(((type *)0)->member)
#define Py_ARITHMETIC_RIGHT_SHIFT(type, n, by) ((n) >> (by))
#define Py_FORCE_EXPANSION(x) x
#define _Py_SIZE_ROUND_UP(n, to) (((size_t)(n) + (size_t)((to) - 1)) & ~(size_t)((to) - 1))
#define Py_CHARMASK(c) ((unsigned char)((c) & 0xff))
#define Py_SAFE_DOWNCAST(value, wide, narrow) ((narrow)(value))
#define Py_MEMCPY memcpy
#define Py_VA_COPY va_copy

#define Py_BUILD_ASSERT_EXPR(x) (sizeof(char[1 - 2 * !(x)]) - 1)
#define Py_BUILD_ASSERT(x) ((void)Py_BUILD_ASSERT_EXPR(x))
#define Py_LL(n) n##LL
#define Py_ULL(n) n##ULL
#define Py_EXPORTED_SYMBOL __attribute__((visibility("default")))
#define Py_IMPORTED_SYMBOL Py_EXPORTED_SYMBOL
#define Py_LOCAL_SYMBOL __attribute__((visibility("hidden")))

/* Of ASCII, in all locales. */
#define Py_ISLOWER(c) (Py_CHARMASK(c) >= 'a' && Py_CHARMASK(c) <= 'z')
#define Py_ISUPPER(c) (Py_CHARMASK(c) >= 'A' && Py_CHARMASK(c) <= 'Z')
#define Py_ISALPHA(c) (Py_ISLOWER(c) || Py_ISUPPER(c))
#define Py_ISDIGIT(c) (Py_CHARMASK(c) >= '0' && Py_CHARMASK(c) <= '9')
#define Py_ISXDIGIT(c) (Py_ISDIGIT(c) || ((Py_CHARMASK(c) | 32) >= 'a' && (Py_CHARMASK(c) | 32) <= 'f'))
#define Py_ISALNUM(c) (Py_ISALPHA(c) || Py_ISDIGIT(c))
#define Py_ISSPACE(c) (Py_CHARMASK(c) == ' ' || (Py_CHARMASK(c) >= '\t' && Py_CHARMASK(c) <= '\r'))
#define Py_TOLOWER(c) (Py_ISUPPER(c) ? Py_CHARMASK(c) + 32 : Py_CHARMASK(c))
#define Py_TOUPPER(c) (Py_ISLOWER(c) ? Py_CHARMASK(c) - 32 : Py_CHARMASK(c))
#define PyOS_mystricmp strcasecmp
#define PyOS_mystrnicmp strncasecmp
#define PyOS_stricmp PyOS_mystricmp
#define PyOS_strnicmp PyOS_mystrnicmp
#define PyOS_strtol strtol
#define PyOS_strtoul strtoul
#define PyOS_vsnprintf vsnprintf

#define PyDoc_VAR(name) static const char name[]
#define PyDoc_STR(text) text
#define PyDoc_STRVAR(name, text) PyDoc_VAR(name) = PyDoc_STR(text)

#define Py_IS_NAN(x) isnan(x)
#define Py_IS_INFINITY(x) isinf(x)
#define Py_IS_FINITE(x) isfinite(x)
#define Py_HUGE_VAL HUGE_VAL
#define Py_NAN ((double)NAN)
#define Py_MATH_PI 3.14159265358979323846
#define Py_MATH_TAU (2 * Py_MATH_PI)
#define Py_RETURN_NAN return PyFloat_FromDouble(Py_NAN)
#define Py_MATH_E 2.7182818284590452354

#endif
