/* SPDX-License-Identifier: BSD-3-Clause */
/* AIMS' contention (eq. 3.1.4 of the dissertation): time blocked, as a share of the run. A process's own records only
   give an estimate: the time of its calls beyond the run's shortest call of the same function. Messages are not matched
   across processes: a call that moves more data counts as blocked, and the wait of the shortest call does not; the text
   says so. Functions that can block:
   receives, sends, probes, waits, collectives, barriers, one-sided synchronisation. */
#include "heuristics/heuristic.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/cells.h"

#include <stdio.h>

/* Functions that are named. */
enum { SAID = 3 };

static bool can_block(const struct state_def *state)
{
    return state->class == CLASS_P2P || state->class == CLASS_PROBE || state->class == CLASS_WAIT ||
           state->class == CLASS_COLLECTIVE || state->class == CLASS_SYNC || state->class == CLASS_RMA;
}

/* The run's shortest call of each state; INT64_MAX where there is none. */
static int64_t *shortest_calls(const struct metrics *metrics)
{
    int64_t *shortest = memory_new(metrics->defs->state_count * sizeof *shortest);
    for (size_t i = 0; i < metrics->defs->state_count; i++)
        shortest[i] = INT64_MAX;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++) {
            const struct function_row *row = &metrics->process[i].functions[k];
            if (row->count && row->min_ns < shortest[row->state])
                shortest[row->state] = row->min_ns;
        }
    return shortest;
}

/* True if functions that can block are called, but none twice: nothing shows how long they take without waiting. */
static bool nothing_to_compare(const struct metrics *metrics)
{
    uint64_t most = 0, *calls = memory_new(metrics->defs->state_count * sizeof *calls);
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++) {
            const struct function_row *row = &metrics->process[i].functions[k];
            if (can_block(&metrics->defs->states[row->state]))
                most = larger(calls[row->state] += row->count, most);
        }
    free(calls);
    return most == 1;
}

/* A call nested in another one of the same kind must not count twice: the exclusive time is the limit. */
static double blocked(const struct metrics *metrics, const struct function_row *row, const void *context)
{
    const int64_t *shortest = context;
    if (row->count == 0 || !can_block(&metrics->defs->states[row->state]))
        return 0;
    double time = (double)row->time_ns - (double)row->count * (double)shortest[row->state];
    return smaller(time, (double)row->exclusive_ns);
}

/* All waits of a row for other processes, in ns. */
static double waits_of(const struct analysis *analysis, size_t row)
{
    double ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        ns += (double)analysis->waits[kind].victims_ns[row];
    return ns;
}

/* "MPI_Recv 31 %, MPI_Waitall 4 %": the functions with most waiting. */
static void say_functions(const struct metrics *metrics, struct heuristic_result *result, double all_ns)
{
    const struct analysis *analysis = metrics->analysis;
    double *states_ns = memory_new(analysis->state_count * sizeof *states_ns);
    char text[400] = "", share[TEXT_NUMBER_SIZE];
    size_t used = 0;
    for (size_t i = 0; i < analysis->state_count; i++)
        for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
            states_ns[i] += (double)analysis->waits[kind].states_ns[i];
    for (int place = 0; place < SAID && used < sizeof text; place++) {
        /* The largest of those left, SAID times: cheaper than sorting all functions. */
        size_t most = 0;
        for (size_t i = 1; i < analysis->state_count; i++)
            if (states_ns[i] > states_ns[most])
                most = i;
        if (analysis->state_count == 0 || states_ns[most] <= 0)
            break;
        const char *name = metrics->defs->states[most].name;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s %s", place ? ", " : "",
                                 text_beginning(name, 60), name, text_share(share, states_ns[most] / all_ns));
        states_ns[most] = 0;
    }
    if (*text)
        result_say(result, "By function: %s.", text);
    free(states_ns);
}

/* The exact value, if messages and collectives were matched across processes. False: they were not. */
static bool judge_matched(const struct metrics *metrics, struct heuristic_result *result)
{
    const struct analysis *analysis = metrics->analysis;
    double duration = (double)cells_duration_ns(metrics), all = duration * (double)metrics->process_count, sum = 0;
    size_t capacity = 0;
    char share[TEXT_NUMBER_SIZE];
    /* The analysis knows waits only of whole runs; of a part of the processes there is just the bound. */
    if (!analysis || analysis->process_count != metrics->process_count || all <= 0)
        return false;
    for (size_t i = 0; i < metrics->process_count; i++) {
        double index = waits_of(analysis, i) / duration;
        sum += index;
        if (index > 0)
            ARRAY_PUSH(result->cells, result->cell_count, capacity,
                       (struct cell){metrics->process[i].rank, CELL_ALL_FUNCTIONS, index});
    }
    cells_conclude(metrics, result, sum, duration);
    result_say(result, "%s of the processes' time is spent blocked, waiting for calls of other processes.",
               text_share(share, result->index));
    say_functions(metrics, result, all);
    return true;
}

void judge_contention(const struct metrics *metrics, struct heuristic_result *result)
{
    if (judge_matched(metrics, result)) {
        if (result->verdict != VERDICT_GOOD)
            result_suggest(result,
                           "see the findings for which processes are waited for and what to do (sight explain)");
        return;
    }
    int64_t *shortest = shortest_calls(metrics);
    char share[TEXT_NUMBER_SIZE];
    if (cells_fill(metrics, result, blocked, shortest)) {
        if (nothing_to_compare(metrics)) {
            result->verdict = VERDICT_UNKNOWN;
            result_say(result, "How much time is spent blocked is not known: messages are not matched across processes "
                               "here, and no function is called twice.");
            free(shortest);
            return;
        }
        result_say(result,
                   "About %s of the processes' time is spent blocked: the time that calls take beyond the shortest "
                   "call of the same function in the run.",
                   text_share(share, result->index));
        cells_say_functions(metrics, result, "By function");
        result_say(
            result,
            "Messages are not matched across processes here: larger transfers are counted as well, and waiting that "
            "even the shortest call has is not.");
        if (result->verdict != VERDICT_GOOD)
            result_suggest(
                result,
                "find the process that is waited for: the one with the longest computing time or the most messages");
    }
    free(shortest);
}
