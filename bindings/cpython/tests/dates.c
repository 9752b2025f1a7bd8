/* dates.c - datetime.h, and the module behind it, which is CPython's own: dates.utf8 is what CPython says. */
#include "say.h"
#include <datetime.h>

static PyObject *call(PyObject *op, const char *method) { return PyObject_CallMethod(op, method, NULL); }

static void fields(const char *what, PyObject *op)
{
    if (op == NULL) {
        show(what, NULL);
        return;
    }
    if (PyDateTime_Check(op))
        say("%s: %d-%d-%d %d:%d:%d.%d, fold %d, %R", what, PyDateTime_GET_YEAR(op), PyDateTime_GET_MONTH(op), PyDateTime_GET_DAY(op),
            PyDateTime_DATE_GET_HOUR(op), PyDateTime_DATE_GET_MINUTE(op), PyDateTime_DATE_GET_SECOND(op),
            PyDateTime_DATE_GET_MICROSECOND(op), PyDateTime_DATE_GET_FOLD(op), PyDateTime_DATE_GET_TZINFO(op));
    else if (PyDate_Check(op))
        say("%s: %d-%d-%d", what, PyDateTime_GET_YEAR(op), PyDateTime_GET_MONTH(op), PyDateTime_GET_DAY(op));
    else if (PyTime_Check(op))
        say("%s: %d:%d:%d.%d, fold %d, %R", what, PyDateTime_TIME_GET_HOUR(op), PyDateTime_TIME_GET_MINUTE(op), PyDateTime_TIME_GET_SECOND(op),
            PyDateTime_TIME_GET_MICROSECOND(op), PyDateTime_TIME_GET_FOLD(op), PyDateTime_TIME_GET_TZINFO(op));
    else if (PyDelta_Check(op))
        say("%s: %d, %d, %d", what, PyDateTime_DELTA_GET_DAYS(op), PyDateTime_DELTA_GET_SECONDS(op), PyDateTime_DELTA_GET_MICROSECONDS(op));
    say("%d%d%d%d%d %d%d%d%d%d", PyDate_Check(op), PyDateTime_Check(op), PyTime_Check(op), PyDelta_Check(op), PyTZInfo_Check(op),
        PyDate_CheckExact(op), PyDateTime_CheckExact(op), PyTime_CheckExact(op), PyDelta_CheckExact(op), PyTZInfo_CheckExact(op));
    show("repr", PyObject_Repr(op));
    show("str", PyObject_Str(op));
    if (!PyDelta_Check(op) && !PyTZInfo_Check(op))
        show("isoformat", call(op, "isoformat"));
    show("reduce", call(op, "__reduce__"));
    Py_DECREF(op);
}

static PyObject *new_zone(int hours, const char *name)
{
    PyObject *offset = PyDelta_FromDSU(0, hours * 3600, 0), *text = name != NULL ? PyUnicode_FromString(name) : NULL, *zone;
    zone = text != NULL ? PyTimeZone_FromOffsetAndName(offset, text) : PyTimeZone_FromOffset(offset);
    Py_XDECREF(text);
    Py_DECREF(offset);
    return zone;
}

static PyObject *in_zone(PyObject *zone)
{
    PyObject *op = PyDateTimeAPI->DateTime_FromDateAndTimeAndFold(2024, 10, 27, 2, 30, 0, 5, zone, 1, PyDateTimeAPI->DateTimeType);
    Py_DECREF(zone);
    return op;
}

static void made(void)
{
    fields("date", PyDate_FromDate(2024, 2, 29));
    fields("no date", PyDate_FromDate(2023, 2, 29));
    fields("year 0", PyDate_FromDate(0, 1, 1));
    fields("both", PyDateTime_FromDateAndTime(2024, 2, 29, 23, 59, 58, 654321));
    fields("fold", PyDateTime_FromDateAndTimeAndFold(2024, 2, 29, 1, 2, 3, 0, 1));
    fields("no hour", PyDateTime_FromDateAndTime(2024, 2, 29, 24, 0, 0, 0));
    fields("time", PyTime_FromTime(1, 2, 3, 70000));
    fields("time fold", PyTime_FromTimeAndFold(1, 2, 0, 0, 1));
    fields("no time", PyTime_FromTime(1, 60, 0, 0));
    fields("delta", PyDelta_FromDSU(-1, 90000, -1));
    fields("too long", PyDelta_FromDSU(1000000000, 0, 0));
    fields("zone", new_zone(2, NULL));
    fields("named", new_zone(-5, "far"));
    fields("bad zone", new_zone(24, NULL));
    fields("utc", Py_NewRef(PyDateTime_TimeZone_UTC));
    fields("in zone", in_zone(new_zone(2, "summer")));
    fields("in utc", in_zone(Py_NewRef(PyDateTime_TimeZone_UTC)));
    fields("time in zone", PyDateTimeAPI->Time_FromTime(1, 2, 3, 4, PyDateTime_TimeZone_UTC, PyDateTimeAPI->TimeType));
}

static void from_numbers(void)
{
    static const double stamps[] = { 0, 1.5, -1.5, 1e9, 0.0000005, 0.0000015, -0.0000005, 1e20, 253402300799.0, 253402300800.0 };
    PyObject *args, *op;
    size_t i;
    for (i = 0; i < sizeof stamps / sizeof *stamps; i++) {
        args = Py_BuildValue("(dO)", stamps[i], PyDateTime_TimeZone_UTC);
        show("stamp", PyDateTime_FromTimestamp(args));
        Py_DECREF(args);
    }
    args = Py_BuildValue("(dO)", Py_HUGE_VAL - Py_HUGE_VAL, PyDateTime_TimeZone_UTC);
    show("no number", PyDateTime_FromTimestamp(args));
    Py_DECREF(args);
    args = Py_BuildValue("(LO)", 1LL << 62, PyDateTime_TimeZone_UTC);
    show("far", PyDateTime_FromTimestamp(args));
    Py_DECREF(args);
    args = Py_BuildValue("(sO)", "x", PyDateTime_TimeZone_UTC);
    show("text", PyDateTime_FromTimestamp(args));
    Py_DECREF(args);
    args = Py_BuildValue("(i)", 86400 * 365);           /* (noon or so, wherever this runs) */
    op = PyDate_FromTimestamp(args);
    show_code("local date", op != NULL && PyDate_CheckExact(op));
    Py_XDECREF(op);
    Py_DECREF(args);
    op = PyObject_CallMethod((PyObject *)PyDateTimeAPI->DateTimeType, "now", "O", PyDateTime_TimeZone_UTC);
    show_code("now", op != NULL && PyDateTime_GET_YEAR(op) >= 2024);
    args = op != NULL ? PyObject_CallMethod(op, "astimezone", "N", new_zone(-3, NULL)) : NULL;
    show("the same moment", PyObject_RichCompare(args, op, Py_EQ));
    Py_XDECREF(args);
    Py_XDECREF(op);
}

static void arithmetic(void)
{
    PyObject *a = PyDateTime_FromDateAndTime(2024, 2, 29, 12, 0, 0, 0), *b = PyDateTime_FromDateAndTime(2023, 12, 31, 23, 59, 59, 999999);
    PyObject *d = PyDelta_FromDSU(1, 2, 3), *seven = PyLong_FromLong(7), *half = PyFloat_FromDouble(2.5), *day = PyDate_FromDate(1, 1, 1);
    PyObject *t = PyTime_FromTime(3, 4, 5, 6), *zoned = in_zone(new_zone(2, NULL)), *same = in_zone(new_zone(2, "other"));
    PyObject *all[] = { a, b, d, seven, half, day, t, zoned, same, Py_None };
    size_t i, k;
    int op;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        for (k = 0; k < sizeof all / sizeof *all; k++) {
            say("%R and %R", all[i], all[k]);
            show("+", PyNumber_Add(all[i], all[k]));
            show("-", PyNumber_Subtract(all[i], all[k]));
            if (i == 2 || k == 2) {
                show("*", PyNumber_Multiply(all[i], all[k]));
                show("/", PyNumber_TrueDivide(all[i], all[k]));
                show("//", PyNumber_FloorDivide(all[i], all[k]));
                show("%", PyNumber_Remainder(all[i], all[k]));
            }
            for (op = Py_LT; op <= Py_GE; op++)
                show("compared", PyObject_RichCompare(all[i], all[k], op));
        }
    show("hashes", PyBool_FromLong(PyObject_Hash(zoned) == PyObject_Hash(same)));
    show("seconds", call(d, "total_seconds"));
    show("abs", PyNumber_Absolute(d));
    show("-", PyNumber_Negative(d));
    show("ordinal", call(a, "toordinal"));
    show("weekday", call(a, "isoweekday"));
    show("calendar", call(a, "isocalendar"));
    show("offset", call(zoned, "utcoffset"));
    show("name", call(zoned, "tzname"));
    show("to utc", PyObject_CallMethod(zoned, "astimezone", "O", PyDateTime_TimeZone_UTC));
    show("stamp", call(zoned, "timestamp"));
    show("combined", PyObject_CallMethod((PyObject *)PyDateTimeAPI->DateTimeType, "combine", "OO", day, t));
    for (i = 0; i < sizeof all / sizeof *all - 1; i++)
        Py_DECREF(all[i]);
}

static void texts(void)
{
    static const char *const all[] = {
        "2024-02-29", "20240229", "2024-W09-4", "2024W094", "2024-02-30", "2024-02-29T01:02", "2024-02-29 01:02:03", "20240229T010203.5",
        "2024-02-29T01:02:03.123456789", "2024-02-29T01:02:03Z", "2024-02-29T01:02:03+05:30", "2024-02-29T01:02:03-00:00:01", "2024-02-29T25:00",
        "", "x", "2024-02-29T01:02:03+24:00", "2024-02-29\xe2\x82\xac""01:02", "2024-2-29", "01:02:03", "T01:02", "010203Z"
    };
    PyObject *types[] = { (PyObject *)PyDateTimeAPI->DateType, (PyObject *)PyDateTimeAPI->DateTimeType, (PyObject *)PyDateTimeAPI->TimeType };
    size_t i, k;
    for (k = 0; k < 3; k++)
        for (i = 0; i < sizeof all / sizeof *all; i++)
            show(all[i], PyObject_CallMethod(types[k], "fromisoformat", "s", all[i]));
}

static PyObject *run(PyObject *self, PyObject *none)
{
    static void (*const all[])(void) = { made, from_numbers, arithmetic, texts, NULL };
    (void)self, (void)none;
    return say_all(all);
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };
static struct PyModuleDef def = { PyModuleDef_HEAD_INIT, "dates", NULL, -1, methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC PyInit_dates(void)
{
    PyDateTime_IMPORT;
    return PyDateTimeAPI != NULL ? PyModule_Create(&def) : NULL;
}
