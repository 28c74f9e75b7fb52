/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_JUDGED_H
#define SIGHT_TESTS_UNIT_JUDGED_H

#include "core/memory.h"
#include "heuristics/heuristic.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

/* Handmade runs for heuristics to judge, and the expected results. A program is one file: the definitions are
   its own; call defs_make() first and defs_free(defs) last. */

TAP_UNUSED static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fmax(1, fabs(want));
}

TAP_UNUSED static bool exactly(double got, double want)
{
    return got >= want && got <= want;
}

/* Not near() where the number is to be exact: 0 means that nothing at all differs. */
TAP_UNUSED static void expect_number(double got, double want, const char *name)
{
    if (!tap_ok(exactly(want, 0) ? exactly(got, 0) : near(got, want), "%s", name))
        printf("#  got %.17g\n# want %.17g\n", got, want);
}

TAP_UNUSED static struct series series_make(size_t count, const double *value, uint32_t first_rank)
{
    struct series series = series_new(count);
    for (size_t i = 0; i < count; i++) {
        series.value[i] = value[i];
        series.rank[i] = first_rank + (uint32_t)i;
    }
    return series;
}

TAP_UNUSED static struct measure measured(size_t count, const double *value)
{
    struct series series = series_make(count, value, 10);
    struct measure measure = measure_of(&series);
    series_clear(&series);
    return measure;
}

TAP_UNUSED static struct defs *defs;

/* By name, as the rows of a process are. */
static const char *const names[] = {"MPI_Allreduce",  "MPI_Barrier",  "MPI_Comm_dup", "MPI_File_write", "MPI_Iprobe",
                                    "MPI_Isendrecv",  "MPI_Pready",   "MPI_Put",      "MPI_Recv",       "MPI_Send",
                                    "MPI_Send_init",  "MPI_Sendrecv", "MPI_Start",    "MPI_Waitall",    "MPI_Win_fence",
                                    "PMPI_Win_fence", "work"};
enum { STATES = sizeof names / sizeof *names };

TAP_UNUSED static void defs_make(void)
{
    defs = defs_new();
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
}

TAP_UNUSED static int64_t nanoseconds(double seconds)
{
    return llround(seconds * 1e9);
}

/* Every process computes and communicates for these times, from time 0 on. */
TAP_UNUSED static struct metrics *metrics_make(size_t count, const double *compute, const double *communication)
{
    struct metrics *metrics = memory_new(sizeof *metrics);
    metrics->defs = defs;
    metrics->processes = (uint32_t)count;
    metrics->process_count = count;
    metrics->process = memory_new(count * sizeof *metrics->process);
    for (size_t i = 0; i < count; i++) {
        int64_t communication_ns = nanoseconds(communication ? communication[i] : 0);
        metrics->process[i] = (struct process_row){.rank = (uint32_t)i,
                                                   .end_ns = nanoseconds(compute[i]) + communication_ns,
                                                   .communication_ns = communication_ns};
    }
    metrics_totals(metrics);
    return metrics;
}

TAP_UNUSED static void partner_add(struct partner_row **rows, size_t *count, int32_t partner, uint64_t messages)
{
    *rows = memory_resize(*rows, (*count + 1) * sizeof **rows);
    (*rows)[(*count)++] = (struct partner_row){.partner = partner, .messages = messages, .bytes = 100 * messages};
}

/* Messages of 100 bytes, both ends recorded. */
TAP_UNUSED static void messages_add(struct metrics *metrics, size_t from, size_t to, uint64_t count)
{
    struct process_row *sender = &metrics->process[from], *receiver = &metrics->process[to];
    partner_add(&sender->sent, &sender->sent_count, (int32_t)to, count);
    partner_add(&receiver->received, &receiver->received_count, (int32_t)from, count);
    sender->messages_sent += count;
    sender->bytes_sent += 100 * count;
    receiver->messages_received += count;
    receiver->bytes_received += 100 * count;
    metrics->messages += 2 * count;
}

/* Ten messages from the hub to every other process. */
TAP_UNUSED static struct metrics *star_make(size_t count, size_t hub, const double *compute,
                                            const double *communication)
{
    struct metrics *metrics = metrics_make(count, compute, communication);
    for (size_t i = 0; i < count; i++)
        if (i != hub)
            messages_add(metrics, hub, i, 10);
    return metrics;
}

/* Calls in seconds; to be added by name. */
TAP_UNUSED static void calls_add(struct metrics *metrics, size_t process, const char *name, uint64_t count, double time,
                                 double exclusive, double shortest)
{
    struct process_row *row = &metrics->process[process];
    row->functions = memory_resize(row->functions, (row->function_count + 1) * sizeof *row->functions);
    row->functions[row->function_count++] = (struct function_row){.state = (uint32_t)defs_find_state(defs, name),
                                                                  .count = count,
                                                                  .time_ns = nanoseconds(time),
                                                                  .exclusive_ns = nanoseconds(exclusive),
                                                                  .min_ns = nanoseconds(shortest),
                                                                  .max_ns = nanoseconds(time)};
}

TAP_UNUSED static double detail_of(const struct heuristic_result *result, const char *name)
{
    for (size_t i = 0; i < result->detail_count; i++)
        if (strcmp(result->details[i].name, name) == 0)
            return result->details[i].value;
    return NAN;
}

/* The result says this, and no more; suggestion NULL: none. */
TAP_UNUSED static void expect_spoken(const struct heuristic_result *result, const char *name, enum verdict verdict,
                                     const char *headline, const char *analysis, const char *suggestion)
{
    tap_equal_string(verdict_name(result->verdict), verdict_name(verdict), "%s: verdict", name);
    tap_equal_string(result->headline, headline, "%s: headline", name);
    tap_equal_string(result->analysis, analysis, "%s: analysis", name);
    tap_equal_string(result->suggestion_count ? result->suggestions[0] : NULL, suggestion, "%s: suggestion", name);
    tap_ok(result->suggestion_count == (suggestion != NULL), "%s: no other suggestion", name);
}

TAP_UNUSED static void expect_judged(const struct metrics *metrics, const char *id, const char *name,
                                     enum verdict verdict, const char *headline, const char *analysis,
                                     const char *suggestion)
{
    struct heuristic_result *results = heuristics_judge(metrics);
    expect_spoken(heuristics_find(results, id), name, verdict, headline, analysis, suggestion);
    heuristics_free(results);
}

/* Reads "1 2.5 3": values, at most VALUES; `rest` is what follows them. Returns how many there are. */
enum { VALUES = 40 };
TAP_UNUSED static size_t values_of(const char *text, double values[VALUES], const char **rest)
{
    size_t count = 0;
    char *end;
    for (*rest = text; count < VALUES; *rest = end) {
        values[count] = strtod(*rest, &end);
        if (end == *rest)
            break;
        count++;
    }
    return count;
}

/* A run in which computing, or communicating beside 10 s of computing, takes these seconds; see struct run of
   test_deviation.c. */
TAP_UNUSED static struct metrics *run_make(const char *seconds, bool communicates)
{
    double values[VALUES], others[VALUES], total = 0;
    const char *rest;
    size_t count = values_of(seconds, values, &rest);
    bool filled = sscanf(rest, " of %lf", &total) == 1;
    for (size_t i = 0; i < count; i++)
        others[i] = filled ? total - values[i] : communicates ? 10 : 0;
    return metrics_make(count, communicates ? others : values, communicates ? values : others);
}

/* Suggestions of runs with and without a master. */
#define DIVIDED                                                                                                        \
    "find out what distinguishes the two sets: a remainder of the division of work, different nodes, different input"
#define IN_TURN "distribute the work cyclically instead of in blocks by rank"

#endif
