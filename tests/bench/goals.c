/* goals.c - what the rows may cost, the table's lines, and what was missed. */
#include <stdio.h>
#include <string.h>
#include "bench.h"

enum { GOALS_FROM = 100000, GOALS_TO = 4000000 };       /* numbers of links for which goals were set */

/* The one place for goals: the most that a row may cost, and the most times its plain
   loop that it may take. 0: no such goal. They are for every set-up of the header whose
   name contains the variant. A row here that ends in a blank stands for all rows that begin
   so, but for those that follow. Why one is missed is in reasons.txt. */
static const struct {
    const char *row, *variant;
    double      value, ratio;
} goals[] = {
    { "major, all live, P links",           "",      0, 1.2 },
    { "create a P link, cold",              "dict", 60, 0   },
    { "create a P link, cold",              "slot", 30, 0   },
    { "rrc_from_obj, random order",         "dict", 20, 0   },
    { "rrc_from_obj, random order",         "slot, desc",  9, 0 },
    { "rrc_from_obj, random order",         "slot, macro", 6, 0 },
    { "minor, no young links, in all",      "",    160, 0   },
    { "minor, a young link that moved",     "",     20, 0   },
    { "minor, moved, is_young reads p",     "",     20, 0   },
    { "rrc_run_pending, an object",         "",     10, 0   },
    { "cycles, live, pairs",                "",     12, 0   },
    { "cycles, live, shuffled",             "",     40, 0   },
    { "cycles, live, over the border",      "",    100, 0   },
    { "cycles, dying, pairs",               "",     30, 0   },
    { "cycles, dying, shuffled",            "",     70, 0   },
    { "memory of a link",                   "dict", 24, 0   },
    { "memory of a link",                   "slot", 16.4, 0 },
    { "mirror, step, nothing changed",      "",    100, 0 },
    { "pause, live, ",                      "",   0.25, 0 },
    { "pause, live, whole",                 "",      0, 0 },
    { "pause, live, the host marks",        "",      0, 0 },
    { "pause, live, slices in all",         "",      0, 1.3 },
    { "pause, dying, ",                     "",   0.25, 0 },
    { "pause, dying, whole",                "",      0, 0 },
    { "pause, dying, the host marks",       "",      0, 0 },
    { "pause, dying, slices in all",        "",      0, 1.3 },
    { "pause, first step, ",                "",   0.25, 0 },
    { "pause, first step, whole",           "",      0, 0 },
    { "pause, first step, slices in all",   "",      0, 1.3 },
    { "pause, idle step, ",                 "",   0.25, 0 },
    { "pause, idle step, whole",            "",      0, 0 },
    { "pause, idle step, slices in all",    "",      0, 1.3 },
    { "pause, touched step, ",              "",   0.25, 0 },
    { "pause, touched step, whole",         "",      0, 0 },
    { "pause, touched step, slices in all", "",      0, 1.3 },
    { "pause, meanwhile step, ",            "",   0.25, 0 },
    { "pause, meanwhile step, incref + decref", "", 0.1, 0 },
    { "pause, building, ",                  "",    0.1, 0 },
    { "pause, meanwhile, ",                 "",    0.1, 0 }
};

static int is_for(const char *goal_row, const char *row)
{
    size_t length = strlen(goal_row);

    return goal_row[length - 1] == ' ' ? strncmp(goal_row, row, length) == 0 : strcmp(goal_row, row) == 0;
}

/* The result is for the table: "" if there is no goal, or none for so many links. */
static const char *verdict(const bench *b, const char *row, double value, double limit, double ratio,
                           double *goal, double *goal_ratio)
{
    size_t i;
    int slow, far;

    *goal = *goal_ratio = 0;
    for (i = 0; i < sizeof goals / sizeof *goals; i++)
        if (!b->peer && is_for(goals[i].row, row) && strstr(b->variant, goals[i].variant) != NULL) {
            *goal = goals[i].value;
            *goal_ratio = goals[i].ratio;
        }
    if (b->d->n < GOALS_FROM || b->d->n > GOALS_TO || (*goal <= 0 && *goal_ratio <= 0))
        return "";
    slow = *goal > 0 && value > *goal;
    far = *goal_ratio > 0 && ratio > *goal_ratio;
    return !slow && !far ? "met" : far || limit <= *goal ? "MISSED" : "limit > goal";
}

static void note_missed(bench *b, const char *text)
{
    if (b->missed < BENCH_MAX_MISSED)
        snprintf(b->missed_rows[b->missed], sizeof b->missed_rows[0], "%s", text);
    b->missed++;
}

/* One line of the table, of the CSV file, and of the list of goals that were missed. */
static void print_row(bench *b, const char *row, const char *unit, double value, double limit, double ratio)
{
    char limits[32] = "-", ratios[32] = "-", goals_text[32] = "", line[160];
    double goal, goal_ratio;
    const char *met = verdict(b, row, value, limit, ratio, &goal, &goal_ratio);

    if (limit > 0) {
        snprintf(limits, sizeof limits, "%.1f", limit);
        if (ratio > 0)
            snprintf(ratios, sizeof ratios, "%.2f", ratio);
    }
    if (goal > 0)
        snprintf(goals_text, sizeof goals_text, "%.3g", goal);
    if (goal_ratio > 0)
        snprintf(goals_text + strlen(goals_text), sizeof goals_text - strlen(goals_text), "%s%.3gx",
                 goal > 0 ? ", " : "", goal_ratio);
    snprintf(line, sizeof line, "%-34s %-13s %8lu %8.*f %-5s %7s %6s  %-8s %s", row, b->variant,
             (unsigned long)b->d->n, strcmp(unit, "ms") == 0 ? 3 : 1, value, unit, limits, ratios, goals_text, met);
    puts(line);
    fflush(stdout);
    if (b->csv != NULL) {
        fprintf(b->csv, "%s;%s;%lu;%.4g;%s;%.4g;%.3f;%.3g;%g;%s\n", row, b->variant,
                (unsigned long)b->d->n, value, unit, limit, ratio, goal, goal_ratio, met);
        fflush(b->csv);         /* a run that is interrupted keeps its rows */
    }
    if (strcmp(met, "MISSED") == 0)
        note_missed(b, line);
    else if (strcmp(met, "limit > goal") == 0)
        b->out_of_reach++;
}

/* Other programs only add to a time, so the best turn of the header is compared with the best one of the loop. */
void bench_row(bench *b, const char *row, const char *unit, const samples *s)
{
    double value = best_value(s), limit = best_limit(s);

    print_row(b, row, unit, value, limit, limit > 0.05 ? value / limit : 0);
}

void bench_pause(bench *b, const char *row, const samples *s)
{
    print_row(b, row, "ms", best_value(s), 0, 0);
}

void bench_calls(bench *b, const char *name, const calls *c)
{
    char before[96];

    if (b->calls == NULL)
        return;
    snprintf(before, sizeof before, "%s;%s;%lu;", name, b->variant, (unsigned long)b->d->n);
    calls_print(c, b->calls, before, ';');
}

void bench_print_missed(const bench *b)
{
    int i;

    if (b->missed > 0)
        puts("\ngoals that were missed (why: tests/bench/reasons.txt):");
    for (i = 0; i < b->missed && i < BENCH_MAX_MISSED; i++)
        puts(b->missed_rows[i]);
    printf("\n%d goals missed; %d more where the plain loop itself is above the goal\n",
           b->missed, b->out_of_reach);
}
