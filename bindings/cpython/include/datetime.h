/* datetime.h - the C API of the module datetime. The module itself is CPython's _datetimemodule.c, which compiles
 * unmodified: the page of this folder says how. The names are CPython's. */
#ifndef DATETIME_H
#define DATETIME_H

#include "Python.h"

/* ---- the objects ---------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Py_hash_t hashcode;         /* -1: not needed so far */
    int days, seconds, microseconds;
} PyDateTime_Delta;

typedef struct {
    PyObject_HEAD
} PyDateTime_TZInfo;

/* The numbers of bytes of a date, a time, and both. */
#define _PyDateTime_DATE_DATASIZE 4
#define _PyDateTime_TIME_DATASIZE 6
#define _PyDateTime_DATETIME_DATASIZE 10

#define CPY_DATE_HEAD(n) PyObject_HEAD Py_hash_t hashcode; char hastzinfo; unsigned char data[n];

typedef struct { PyObject_HEAD Py_hash_t hashcode; char hastzinfo; } _PyDateTime_BaseTZInfo;
typedef struct { CPY_DATE_HEAD(_PyDateTime_DATE_DATASIZE) } PyDateTime_Date;                    /* year (two bytes), month, day */
typedef struct { CPY_DATE_HEAD(_PyDateTime_TIME_DATASIZE) } _PyDateTime_BaseTime;               /* hour, minute, second, microsecond (three bytes) */
typedef struct { CPY_DATE_HEAD(_PyDateTime_TIME_DATASIZE) unsigned char fold; PyObject *tzinfo; } PyDateTime_Time;
typedef struct { CPY_DATE_HEAD(_PyDateTime_DATETIME_DATASIZE) } _PyDateTime_BaseDateTime;          /* both */
typedef struct { CPY_DATE_HEAD(_PyDateTime_DATETIME_DATASIZE) unsigned char fold; PyObject *tzinfo; } PyDateTime_DateTime;

#define _PyDateTime_HAS_TZINFO(op) (((_PyDateTime_BaseTZInfo *)(void *)(op))->hastzinfo)

#define CPY_DATE_BYTE(kind, op, i) (((kind *)(void *)(op))->data[i])
#define CPY_DATE_MICROSECOND(kind, op, i) \
    ((CPY_DATE_BYTE(kind, op, i) << 16) | (CPY_DATE_BYTE(kind, op, (i) + 1) << 8) | CPY_DATE_BYTE(kind, op, (i) + 2))
#define CPY_DATE_TZINFO(kind, op) (_PyDateTime_HAS_TZINFO(op) ? ((kind *)(void *)(op))->tzinfo : Py_None)

#define PyDateTime_GET_YEAR(op) ((CPY_DATE_BYTE(PyDateTime_Date, op, 0) << 8) | CPY_DATE_BYTE(PyDateTime_Date, op, 1))
#define PyDateTime_GET_MONTH(op) CPY_DATE_BYTE(PyDateTime_Date, op, 2)
#define PyDateTime_GET_DAY(op) CPY_DATE_BYTE(PyDateTime_Date, op, 3)
#define PyDateTime_DATE_GET_HOUR(op) CPY_DATE_BYTE(PyDateTime_DateTime, op, 4)
#define PyDateTime_DATE_GET_MINUTE(op) CPY_DATE_BYTE(PyDateTime_DateTime, op, 5)
#define PyDateTime_DATE_GET_SECOND(op) CPY_DATE_BYTE(PyDateTime_DateTime, op, 6)
#define PyDateTime_DATE_GET_MICROSECOND(op) CPY_DATE_MICROSECOND(PyDateTime_DateTime, op, 7)
#define PyDateTime_DATE_GET_FOLD(op) (((PyDateTime_DateTime *)(void *)(op))->fold)
#define PyDateTime_DATE_GET_TZINFO(op) CPY_DATE_TZINFO(PyDateTime_DateTime, op)       /* borrowed, as the next one */
#define PyDateTime_TIME_GET_HOUR(op) CPY_DATE_BYTE(PyDateTime_Time, op, 0)
#define PyDateTime_TIME_GET_MINUTE(op) CPY_DATE_BYTE(PyDateTime_Time, op, 1)
#define PyDateTime_TIME_GET_SECOND(op) CPY_DATE_BYTE(PyDateTime_Time, op, 2)
#define PyDateTime_TIME_GET_MICROSECOND(op) CPY_DATE_MICROSECOND(PyDateTime_Time, op, 3)
#define PyDateTime_TIME_GET_FOLD(op) (((PyDateTime_Time *)(void *)(op))->fold)
#define PyDateTime_TIME_GET_TZINFO(op) CPY_DATE_TZINFO(PyDateTime_Time, op)
#define PyDateTime_DELTA_GET_DAYS(op) (((PyDateTime_Delta *)(void *)(op))->days)
#define PyDateTime_DELTA_GET_SECONDS(op) (((PyDateTime_Delta *)(void *)(op))->seconds)
#define PyDateTime_DELTA_GET_MICROSECONDS(op) (((PyDateTime_Delta *)(void *)(op))->microseconds)

/* ---- what the module gives to C -------------------------------------------- */

typedef struct {
    PyTypeObject *DateType, *DateTimeType, *TimeType, *DeltaType, *TZInfoType;
    PyObject *TimeZone_UTC;
    PyObject *(*Date_FromDate)(int year, int month, int day, PyTypeObject *type);
    PyObject *(*DateTime_FromDateAndTime)(int year, int month, int day, int hour, int minute, int second, int microsecond,
                                          PyObject *tzinfo, PyTypeObject *type);
    PyObject *(*Time_FromTime)(int hour, int minute, int second, int microsecond, PyObject *tzinfo, PyTypeObject *type);
    PyObject *(*Delta_FromDelta)(int days, int seconds, int microseconds, int normalize, PyTypeObject *type);
    PyObject *(*TimeZone_FromTimeZone)(PyObject *offset, PyObject *name);
    PyObject *(*DateTime_FromTimestamp)(PyObject *type, PyObject *args, PyObject *kwargs);
    PyObject *(*Date_FromTimestamp)(PyObject *type, PyObject *args);
    PyObject *(*DateTime_FromDateAndTimeAndFold)(int year, int month, int day, int hour, int minute, int second,
                                                 int microsecond, PyObject *tzinfo, int fold, PyTypeObject *type);
    PyObject *(*Time_FromTimeAndFold)(int hour, int minute, int second, int microsecond, PyObject *tzinfo, int fold,
                                      PyTypeObject *type);
} PyDateTime_CAPI;

#define PyDateTime_CAPSULE_NAME "datetime.datetime_CAPI"

#ifdef _PY_DATETIME_IMPL
/* This is the module. Two functions of it make an object from raw memory: both have the type in a variable. */
#define PyObject_Malloc(size) PyType_GenericAlloc(type, 0)
#define _PyObject_Init(op, type) ((void)(op), (void)(type))
#else
__attribute__((unused)) static PyDateTime_CAPI *PyDateTimeAPI = NULL;
#define PyDateTime_IMPORT (PyDateTimeAPI = (PyDateTime_CAPI *)PyCapsule_Import(PyDateTime_CAPSULE_NAME, 0))
#define PyDateTime_TimeZone_UTC (PyDateTimeAPI->TimeZone_UTC)

#define PyDate_Check(op) PyObject_TypeCheck(op, PyDateTimeAPI->DateType)
#define PyDate_CheckExact(op) Py_IS_TYPE(op, PyDateTimeAPI->DateType)
#define PyDateTime_Check(op) PyObject_TypeCheck(op, PyDateTimeAPI->DateTimeType)
#define PyDateTime_CheckExact(op) Py_IS_TYPE(op, PyDateTimeAPI->DateTimeType)
#define PyTime_Check(op) PyObject_TypeCheck(op, PyDateTimeAPI->TimeType)
#define PyTime_CheckExact(op) Py_IS_TYPE(op, PyDateTimeAPI->TimeType)
#define PyDelta_Check(op) PyObject_TypeCheck(op, PyDateTimeAPI->DeltaType)
#define PyDelta_CheckExact(op) Py_IS_TYPE(op, PyDateTimeAPI->DeltaType)
#define PyTZInfo_Check(op) PyObject_TypeCheck(op, PyDateTimeAPI->TZInfoType)
#define PyTZInfo_CheckExact(op) Py_IS_TYPE(op, PyDateTimeAPI->TZInfoType)

#define PyDate_FromDate(year, month, day) PyDateTimeAPI->Date_FromDate(year, month, day, PyDateTimeAPI->DateType)
#define PyDateTime_FromDateAndTime(year, month, day, hour, minute, second, microsecond) \
    PyDateTimeAPI->DateTime_FromDateAndTime(year, month, day, hour, minute, second, microsecond, Py_None, PyDateTimeAPI->DateTimeType)
#define PyDateTime_FromDateAndTimeAndFold(year, month, day, hour, minute, second, microsecond, fold) \
    PyDateTimeAPI->DateTime_FromDateAndTimeAndFold(year, month, day, hour, minute, second, microsecond, Py_None, fold, \
                                                   PyDateTimeAPI->DateTimeType)
#define PyTime_FromTime(hour, minute, second, microsecond) \
    PyDateTimeAPI->Time_FromTime(hour, minute, second, microsecond, Py_None, PyDateTimeAPI->TimeType)
#define PyTime_FromTimeAndFold(hour, minute, second, microsecond, fold) \
    PyDateTimeAPI->Time_FromTimeAndFold(hour, minute, second, microsecond, Py_None, fold, PyDateTimeAPI->TimeType)
#define PyDelta_FromDSU(days, seconds, microseconds) \
    PyDateTimeAPI->Delta_FromDelta(days, seconds, microseconds, 1, PyDateTimeAPI->DeltaType)
#define PyTimeZone_FromOffset(offset) PyDateTimeAPI->TimeZone_FromTimeZone(offset, NULL)
#define PyTimeZone_FromOffsetAndName(offset, name) PyDateTimeAPI->TimeZone_FromTimeZone(offset, name)
#define PyDateTime_FromTimestamp(args) \
    PyDateTimeAPI->DateTime_FromTimestamp((PyObject *)(void *)PyDateTimeAPI->DateTimeType, args, NULL)
#define PyDate_FromTimestamp(args) PyDateTimeAPI->Date_FromTimestamp((PyObject *)(void *)PyDateTimeAPI->DateType, args)
#endif

#endif
