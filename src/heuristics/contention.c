/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/contention.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/cells.h"

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

/* A call that lies in another one of the same kind is not blocked beside it: the exclusive time is the limit. */
static double blocked(const struct metrics *metrics, const struct function_row *row, const void *context)
{
    const int64_t *shortest = context;
    if (row->count == 0 || !can_block(&metrics->defs->states[row->state]))
        return 0;
    double time = (double)row->time_ns - (double)row->count * (double)shortest[row->state];
    return time < (double)row->exclusive_ns ? time : (double)row->exclusive_ns;
}

void judge_contention(const struct metrics *metrics, struct heuristic_result *result)
{
    int64_t *shortest = shortest_calls(metrics);
    char share[TEXT_NUMBER_SIZE];
    if (cells_fill(metrics, result, blocked, shortest)) {
        result_say(result,
                   "At most %s of the processes' time is spent blocked: what calls take longer than the run's shortest "
                   "call of the same function.",
                   text_share(share, result->index));
        cells_say_functions(metrics, result, "By function");
        result_say(result, "Messages are not matched across processes here, so transfers of more data count too.");
        if (result->verdict != VERDICT_GOOD)
            result_suggest(result,
                           "look for who is waited for: the process with the longest computing time or the most "
                           "messages");
    }
    free(shortest);
}
