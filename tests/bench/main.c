/* main.c - options, the machine, the table. */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include "bench.h"

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "not known"
#endif
#if defined(__clang__)
#define BENCH_COMPILER __VERSION__
#elif defined(__GNUC__)
#define BENCH_COMPILER "gcc " __VERSION__
#else
#define BENCH_COMPILER "not known"
#endif

enum { MAX_PEERS = 8, MAX_WITHOUT = 4 };

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
    { "closed host", rows_mirror },
    { "dict, slices", rows_pauses_dict },
    { "slot, slices", rows_pauses_slot },
    { "closed, slices", rows_mirror_pauses }
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

static void print_machine(FILE *out, const char *before)
{
    FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
    struct utsname system;
    char line[512], model[256] = "a processor of unknown name", date[16] = "";
    time_t now = time(NULL);
    int i;

    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    while (cpuinfo != NULL && fgets(line, sizeof line, cpuinfo) != NULL) {
        const char *value = strchr(line, ':');

        if (value != NULL && strncmp(line, "model name", 10) == 0)
            snprintf(model, sizeof model, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (cpuinfo != NULL)
        fclose(cpuinfo);
    fprintf(out, "%smachine   %s", before, model);
    for (i = 0; i < 5; i++) {
        char path[64], level[16], type[32], bytes[16];

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        first_line(path, level, sizeof level);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        first_line(path, type, sizeof type);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        first_line(path, bytes, sizeof bytes);
        if (bytes[0] != '\0' && strcmp(type, "Instruction") != 0)
            fprintf(out, ", L%s %s", level, bytes);
    }
    if (uname(&system) == 0)
        fprintf(out, ", %s %s", system.sysname, system.machine);
    fprintf(out, "\n%scompiler  %s\n%sflags     %s\n%sheader    rawrefcount.h %s\n%sdate      %s\n", before,
            BENCH_COMPILER, before, BENCH_FLAGS, before, RRC_VERSION, before, date);
}

/* ---- peers: what others need for the same, each in a program of its own ---- */

/* A peer is "NAME=COMMAND". The command is run with the number of links and prints lines
   "variant <tab> NAME VERSION" and "row <tab> value <tab> limit <tab> unit", and for the file of
   calls "calls <tab> name <tab>" and what calls_print prints. If there is no command, because its
   library is not there, that is said. */
static void rows_peer(bench *b, const char *peer)
{
    const char *command = strchr(peer, '=');
    char shell[512], line[256], variant[32], row[64], unit[8];
    unsigned long number, at_least;
    double value, limit;
    FILE *output;

    if (command == NULL || command[1] == '\0') {
        printf("%-34s %-13.*s %8lu not installed\n", "(its rows)", command == NULL ? 99 : (int)(command - peer),
               peer, (unsigned long)b->d->n);
        return;
    }
    snprintf(variant, sizeof variant, "%.*s", (int)(command - peer), peer);
    snprintf(shell, sizeof shell, "%s %lu", command + 1, (unsigned long)b->d->n);
    b->variant = variant;
    b->peer = 1;
    fflush(stdout);
    output = popen(shell, "r");
    while (output != NULL && fgets(line, sizeof line, output) != NULL) {
        samples s = { 2, { 0 }, { 0 }, { 0 } };     /* one that counts: a peer takes the best itself */

        if (sscanf(line, "variant\t%31[^\n]", variant) == 1)
            continue;
        if (sscanf(line, "calls\t%63[^\t]\t%lf\t%lu\t%lu", row, &value, &number, &at_least) == 4) {
            if (b->calls != NULL)
                fprintf(b->calls, "%s;%s;%lu;%.4g;%lu;%lu\n", row, variant, (unsigned long)b->d->n, value, number, at_least);
            continue;
        }
        if (sscanf(line, "%63[^\t]\t%lf\t%lf\t%7s", row, &value, &limit, unit) == 4 && bench_wants(b, row)) {
            s.value[0] = value;
            s.limit[0] = limit;
            bench_row(b, row, unit, &s);
        }
    }
    if (output == NULL || pclose(output) != 0) {
        printf("FAILED: %s\n", shell);
        b->failed = 1;
    }
    b->peer = 0;
}

static int opened(const char *path, FILE **file)
{
    if (path != NULL && (*file = fopen(path, "w")) == NULL) {
        perror(path);
        return 0;
    }
    return 1;
}

static int is_without(const char *variant, const char *const *without, int count)
{
    int i;

    for (i = 0; i < count; i++)
        if (strstr(variant, without[i]) != NULL)
            return 1;
    return 0;
}

static int is_listed(unsigned long n, const char *numbers)
{
    char *end;

    for (; *numbers != '\0'; numbers = *end == ',' ? end + 1 : end)
        if (strtoul(numbers, &end, 10) == n || end == numbers)
            return end > numbers;
    return 0;
}

static int usage(void)
{
    fputs("usage: bench [--rows TEXT] [--n N[,N...]] [--variant TEXT] [--without TEXT] [--repeats N]\n"
          "             [--macro TEXT] [--brief N[,N...]] [--csv FILE] [--calls FILE] [--peer NAME=COMMAND]...\n"
          "  --rows     only rows whose name contains TEXT\n"
          "  --n        numbers of links, or objects; default 1000,10000,100000,1000000,4000000\n"
          "  --variant  only variants whose name contains TEXT, such as \"slot\"\n"
          "  --without  no variants whose name contains TEXT; can be repeated\n"
          "  --macro    with hooks by macro only rows whose name contains TEXT\n"
          "  --brief    of these numbers measure only the rows of the chart\n"
          "  --repeats  how often each row is measured, at most 63; the best counts\n"
          "  --csv      write the table to FILE too, fields separated by semicolons\n"
          "  --calls    write to FILE how long calls took, for the rows about pauses\n"
          "  --peer     run this with the number of links, for rows to compare with; no command: not installed\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *sizes = "1000,10000,100000,1000000,4000000", *brief = "", *variant = "";
    const char *csv = NULL, *calls_file = NULL;
    const char *peers[MAX_PEERS], *without[MAX_WITHOUT];
    int repeats = 0, peer_count = 0, without_count = 0, i;
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
        else if (strcmp(option, "--without") == 0 && without_count < MAX_WITHOUT)
            without[without_count++] = value;
        else if (strcmp(option, "--macro") == 0)
            b.macro_rows = value;
        else if (strcmp(option, "--brief") == 0)
            brief = value;
        else if (strcmp(option, "--repeats") == 0)
            repeats = atoi(value);
        else if (strcmp(option, "--csv") == 0)
            csv = value;
        else if (strcmp(option, "--calls") == 0)
            calls_file = value;
        else if (strcmp(option, "--peer") == 0 && peer_count < MAX_PEERS)
            peers[peer_count++] = value;
        else
            return usage();
    }
    if (repeats < 0 || repeats >= BENCH_MAX_REPEATS)
        return usage();
    if (!opened(csv, &b.csv) || !opened(calls_file, &b.calls))
        return 1;
    print_machine(stdout, "");
    if (b.csv != NULL) {
        print_machine(b.csv, "# ");
        fputs("row;variant;n;value;unit;limit;ratio;goal;goal_ratio;met\n", b.csv);
    }
    if (b.calls != NULL) {
        print_machine(b.calls, "# ");
        fputs("name;variant;n;ms;calls;at_least\n", b.calls);
    }
    puts("value     best of several turns, for one link (cycles: object) unless the row says otherwise\n"
         "limit     a plain loop that does only the unavoidable memory traffic, same data, same run\n");
    printf("%-34s %-13s %8s %8s %-5s %7s %6s  %s\n", "row", "variant", "number", "value", "",
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
        bench_choose_clock(n);
        b.d = &d;
        b.brief = is_listed(n, brief);
        b.repeats = repeats > 0 ? repeats : n <= 20000 ? 15 : n <= 2000000 ? 5 : n <= 5000000 ? 3 : 2;
        for (v = 0; v < sizeof variants / sizeof *variants; v++) {
            if (strstr(variants[v].name, variant) == NULL
                    || is_without(variants[v].name, without, without_count))
                continue;
            b.variant = variants[v].name;
            variants[v].rows(&b);
        }
        for (i = 0; i < peer_count; i++)
            rows_peer(&b, peers[i]);
        data_free(&d);
    }
    bench_print_missed(&b);
    if (b.csv != NULL)
        fclose(b.csv);
    if (b.calls != NULL)
        fclose(b.calls);
    return b.failed;
}
