/* main.c - options, the machine, the table. */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "bench.h"

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "not known"
#endif

static const struct {
    const char *name;
    void (*rows)(bench *b);
} variants[] = {
    { "dict, desc",  rows_dict_desc },
    { "dict, macro", rows_dict_macro },
    { "slot, desc",  rows_slot_desc },
    { "slot, macro", rows_slot_macro },
    { "C objects",   rows_cycles },
    { "compactvm",   rows_crossing },
    { "closed host", rows_mirror }
};

/* One line of a file without its end; "" if there is none. */
static void first_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");

    line[0] = '\0';
    if (file != NULL) {
        if (fgets(line, size, file) != NULL)
            line[strcspn(line, "\n")] = '\0';
        fclose(file);
    }
}

static void print_machine(void)
{
    FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
    struct utsname system;
    char line[512], model[256] = "a processor of unknown name";
    int i;

    while (cpuinfo != NULL && fgets(line, sizeof line, cpuinfo) != NULL) {
        const char *value = strchr(line, ':');

        if (value != NULL && strncmp(line, "model name", 10) == 0)
            snprintf(model, sizeof model, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (cpuinfo != NULL)
        fclose(cpuinfo);
    printf("machine   %s", model);
    for (i = 0; i < 5; i++) {
        char path[64], level[16], type[32], bytes[16];

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        first_line(path, level, sizeof level);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        first_line(path, type, sizeof type);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        first_line(path, bytes, sizeof bytes);
        if (bytes[0] != '\0' && strcmp(type, "Instruction") != 0)
            printf(", L%s %s", level, bytes);
    }
    if (uname(&system) == 0)
        printf(", %s %s", system.sysname, system.machine);
    printf("\ncompiler  ");
#if defined(__clang__)
    printf("%s\n", __VERSION__);
#elif defined(__GNUC__)
    printf("gcc %s\n", __VERSION__);
#else
    printf("unknown\n");
#endif
    printf("flags     %s\n", BENCH_FLAGS);
    printf("header    rawrefcount.h %s\n", RRC_VERSION);
}

/* Against an absolute goal: also whether the plain loop itself is above it. */
static const char *verdict(bench *b, double value, double limit, double ratio,
                           double goal, double goal_ratio)
{
    int slow = goal > 0 && value > goal;
    int far = goal_ratio > 0 && ratio > goal_ratio;

    if (goal <= 0 && goal_ratio <= 0)
        return "";
    if (!slow && !far)
        return "met";
    if (!far && limit > goal) {
        b->out_of_reach++;
        return "the limit is above the goal";
    }
    b->missed++;
    return "MISSED";
}

void bench_row(bench *b, const char *row, const char *unit, const samples *s,
               double goal, double goal_ratio)
{
    int kept = s->count - 1;
    double value = median(s->value, kept), limit = median(s->limit, kept);
    double ratios_each[BENCH_MAX_REPEATS], ratio = 0;
    int i;
    char limits[32] = "-", ratios[32] = "-", goals[32] = "";

    /* By turns, so that a busy machine slows both: hence the median of the ratios. */
    if (limit > 0.05) {
        for (i = 0; i < kept; i++)
            ratios_each[i] = s->value[i] / (s->limit[i] > 0.05 ? s->limit[i] : limit);
        ratio = median(ratios_each, kept);
    }
    if (limit > 0) {
        snprintf(limits, sizeof limits, "%.1f", limit);
        if (ratio > 0)
            snprintf(ratios, sizeof ratios, "%.2f", ratio);
    }
    if (goal > 0)
        snprintf(goals, sizeof goals, "%.3g", goal);
    if (goal_ratio > 0)
        snprintf(goals + strlen(goals), sizeof goals - strlen(goals), "%s%.1fx",
                 goal > 0 ? ", " : "", goal_ratio);
    printf("%-34s %-11s %8lu %8.1f %-5s %7s %6s  %-8s %s\n", row, b->variant,
           (unsigned long)b->d->n, value, unit, limits, ratios, goals,
           verdict(b, value, limit, ratio, goal, goal_ratio));
    fflush(stdout);
    if (b->csv != NULL)
        fprintf(b->csv, "\"%s\",\"%s\",%lu,%.2f,%s,%.2f,%.3f,%g,%g\n", row, b->variant,
                (unsigned long)b->d->n, value, unit, limit, ratio, goal, goal_ratio);
}

/* The rows of cycles.py, which is run by the python3 there is. */
static void rows_python(bench *b, const char *script)
{
    char command[512], line[128], row[64], version[32] = "CPython";
    double value;
    FILE *output;

    if (!bench_wants(b, "cycles"))
        return;
    snprintf(command, sizeof command, "command -v python3 >/dev/null && python3 '%s' %lu",
             script, (unsigned long)b->d->n);
    fflush(stdout);
    output = popen(command, "r");
    b->variant = version;
    while (output != NULL && fgets(line, sizeof line, output) != NULL) {
        samples s = { 2, { 0 }, { 0 } };    /* one that counts: the script takes the median */

        if (sscanf(line, "version %15s", row) == 1) {
            snprintf(version, sizeof version, "CPython %.4s", row);
        } else if (sscanf(line, "%63[^\t]\t%lf", row, &value) == 2) {
            s.value[0] = value;
            bench_row(b, row, "ns", &s, 0, 0);
        }
    }
    if (output == NULL || pclose(output) != 0)
        puts("skipped: CPython's rows: there is no python3 that runs their script");
}

static int usage(void)
{
    fputs("usage: bench [--rows TEXT] [--n N[,N...]] [--variant TEXT] [--repeats N] [--csv FILE] [--python FILE]\n"
          "  --rows     only rows whose name contains TEXT\n"
          "  --n        numbers of links, or objects; default 100000,1000000,4000000\n"
          "  --variant  only variants whose name contains TEXT, such as \"slot\"\n"
          "  --repeats  how often each row is measured, at most 63\n"
          "  --csv      write the table to FILE too\n"
          "  --python   run this script for CPython's rows\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *sizes = "100000,1000000,4000000", *variant = "", *csv = NULL, *python = NULL;
    int repeats = 0, i;
    bench b = { 0 };

    for (i = 1; i < argc; i += 2) {
        const char *option = argv[i], *value = argv[i + 1];

        if (value == NULL)
            return usage();
        if (strcmp(option, "--rows") == 0)
            b.rows = value;
        else if (strcmp(option, "--n") == 0)
            sizes = value;
        else if (strcmp(option, "--variant") == 0)
            variant = value;
        else if (strcmp(option, "--repeats") == 0)
            repeats = atoi(value);
        else if (strcmp(option, "--csv") == 0)
            csv = value;
        else if (strcmp(option, "--python") == 0)
            python = value;
        else
            return usage();
    }
    if (repeats < 0 || repeats >= BENCH_MAX_REPEATS)
        return usage();
    if (csv != NULL) {
        if ((b.csv = fopen(csv, "w")) == NULL) {
            perror(csv);
            return 1;
        }
        fputs("row,variant,n,value,unit,limit,ratio,goal,goal_ratio\n", b.csv);
    }
    print_machine();
    puts("value     median of several turns, for one link (cycles: object) unless the row says otherwise\n"
         "limit     a plain loop that does only the unavoidable memory traffic, same data, same run\n");
    printf("%-34s %-11s %8s %8s %-5s %7s %6s  %s\n", "row", "variant", "number", "value", "",
           "limit", "ratio", "goal");

    while (*sizes != '\0') {
        char *end;
        unsigned long n = strtoul(sizes, &end, 10);
        size_t v;
        data d;

        if (end == sizes || (*end != ',' && *end != '\0') || n < 10 || n > 100000000)
            return usage();
        sizes = *end == ',' ? end + 1 : end;
        if (!data_make(&d, n)) {
            fprintf(stderr, "not enough memory for %lu links\n", n);
            return 1;
        }
        b.d = &d;
        b.repeats = repeats > 0 ? repeats : n <= 200000 ? 21 : n <= 2000000 ? 9 : 5;
        for (v = 0; v < sizeof variants / sizeof *variants; v++) {
            if (strstr(variants[v].name, variant) == NULL)
                continue;
            b.variant = variants[v].name;
            variants[v].rows(&b);
        }
        if (python != NULL && n <= 2000000)
            rows_python(&b, python);
        data_free(&d);
    }
    printf("\n%d goals missed; %d more where the limit itself is above the goal\n",
           b.missed, b.out_of_reach);
    if (b.csv != NULL)
        fclose(b.csv);
    return 0;
}
