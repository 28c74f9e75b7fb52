/* SPDX-License-Identifier: BSD-3-Clause */
/* The locators of AIMS: which function on which process holds the time (eq. 3.1.1 and 3.1.2 of the dissertation). Times
   are exclusive, so that nested calls count once. Synchronisation is every call that moves no data: barriers, and the
   calls that open, close or flush epochs of windows. Communication is everything else of the classes p2p, probe, wait,
   collective, rma. */
#include "heuristics/heuristic.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/cells.h"
#include "heuristics/finding.h"
#include "metrics/analysis.h"

#include <stdlib.h>
#include <string.h>

/* MPI-4.0, 12.5: the synchronisation calls of one-sided communication. */
static bool synchronises_window(const char *name)
{
    static const char *const begin[] = {"MPI_Win_fence", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_post",
                                        "MPI_Win_wait",  "MPI_Win_test",  "MPI_Win_lock",     "MPI_Win_unlock",
                                        "MPI_Win_flush", "MPI_Win_sync"};
    if (strncmp(name, "PMPI_", 5) == 0) /* tools that intercept MPI record the profiling names */
        name++;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (strncmp(name, begin[i], strlen(begin[i])) == 0)
            return true;
    return false;
}

static bool is_synchronisation(const struct state_def *state)
{
    return state->class == CLASS_SYNC || (state->class == CLASS_RMA && synchronises_window(state->name));
}

static bool is_communication(const struct state_def *state)
{
    return !is_synchronisation(state) &&
           (state->class == CLASS_P2P || state->class == CLASS_PROBE || state->class == CLASS_WAIT ||
            state->class == CLASS_COLLECTIVE || state->class == CLASS_RMA);
}

/* The time of a function for which the test in `context` holds. */
struct kind {
    bool (*is)(const struct state_def *state);
};

static double kind_time(const struct metrics *metrics, const struct function_row *row, const void *context)
{
    const struct kind *kind = context;
    if (!kind->is(&metrics->defs->states[row->state]))
        return 0;
    return (double)row->exclusive_ns;
}

/* From this share on the time in a function is waiting. */
static const double WAITS = 0.5;

static double time_in(const struct metrics *metrics, uint32_t state)
{
    double ns = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t f = 0; f < metrics->process[i].function_count; f++)
            if (metrics->process[i].functions[f].state == state)
                ns += (double)metrics->process[i].functions[f].exclusive_ns;
    return ns;
}

/* The waits that most of the time in calls of the function is; NULL: it does not wait, or that is not known. */
static const struct wait_sums *waits_in(const struct metrics *metrics, uint32_t state)
{
    const struct analysis *analysis = metrics->analysis;
    const struct wait_sums *most = NULL;
    double all_ns = 0;
    if (!analysis || analysis->process_count != metrics->process_count)
        return NULL;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++) {
        const struct wait_sums *waits = &analysis->waits[kind];
        all_ns += (double)waits->states_ns[state];
        if (waits->states_ns[state] > 0 && (!most || waits->states_ns[state] > most->states_ns[state]))
            most = waits;
    }
    if (all_ns < WAITS * time_in(metrics, state))
        return NULL;
    return most;
}

/* The process that causes most delay. */
static size_t most_of(const struct metrics *metrics)
{
    size_t most = 0;
    for (size_t i = 1; i < metrics->process_count; i++)
        if (metrics->analysis->delay_ns[i] > metrics->analysis->delay_ns[most])
            most = i;
    return most;
}

/* The place to begin is not the process that waits, but the one that is waited for: where root causes are known the one
   at the end of the chain, else the next one. */
static void suggest_function(const struct metrics *metrics, struct heuristic_result *result,
                             const struct function_share *first)
{
    const char *name = metrics->defs->states[first->state].name;
    int length = text_beginning(name, 60);
    const struct wait_sums *waits = waits_in(metrics, (uint32_t)first->state);
    if (!waits) {
        result_suggest(result, "start with %.*s on process %s", length, name, text_number(first->worst_rank).text);
        return;
    }
    bool roots = finding_roots_known(metrics->analysis) && metrics->analysis->delay_ns[most_of(metrics)] > 0;
    const int64_t *blame_ns = waits->causes_ns;
    const char *how = "";
    if (roots) {
        blame_ns = metrics->analysis->delay_ns;
        how = ", directly or through others,";
    }
    struct ranks causes = ranks_to_blame(metrics, blame_ns);
    char who[WHO_SIZE];
    who_text(who, &causes, metrics->process_count);
    result_suggest(result, "most of the time in %.*s is waiting%s for %s: start with what %s before", length, name, how,
                   who, text_plural(causes.count, "it does", "they do"));
    free(causes.rank);
}

void judge_communication_locator(const struct metrics *metrics, struct heuristic_result *result)
{
    static const struct kind kind = {is_communication};
    char share[TEXT_NUMBER_SIZE];
    if (!cells_fill(metrics, result, kind_time, &kind))
        return;
    result_say(result,
               "%s of the processes' time, from the start of the run to its end, is spent in calls that move data or "
               "wait for it.",
               text_share(share, result->index));
    cells_say_functions(metrics, result, "By function");
    if (result->verdict == VERDICT_GOOD)
        return;
    struct function_share first;
    cells_functions(metrics, result, &first, 1);
    suggest_function(metrics, result, &first);
}

void judge_synchronisation_locator(const struct metrics *metrics, struct heuristic_result *result)
{
    static const struct kind kind = {is_synchronisation};
    char share[TEXT_NUMBER_SIZE];
    if (!cells_fill(metrics, result, kind_time, &kind))
        return;
    if (result->cell_count == 0) {
        result_say(result, "No time is spent in barriers or window synchronisation.");
        return;
    }
    result_say(result, "%s of the processes' time is spent in synchronisation.", text_share(share, result->index));
    cells_say_functions(metrics, result, "By function");
    if (result->verdict != VERDICT_GOOD)
        result_suggest(result,
                       "check whether each barrier is needed: messages and collectives already order the processes");
}
