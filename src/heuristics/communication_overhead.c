/* SPDX-License-Identifier: BSD-3-Clause */
/* AIMS' communication overhead (eq. 3.1.3 of the dissertation): messages sent times the cost of one, which is the run's
   shortest send, as a share of the run. Cells: by process, all functions together. Unknown where no send was recorded.
 */
#include "heuristics/heuristic.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/cells.h"

#include <stdio.h>
#include <string.h>

/* Functions that send exactly one message per call: only their shortest call is the cost of one message. Preparing a
   persistent request sends nothing, starting all of them sends many, and MPI_Pready sends a part. */
static bool sends(const struct state_def *state)
{
    return state->class == CLASS_P2P && state->direction == DIRECTION_SEND && !strstr(state->name, "_init") &&
           !strstr(state->name, "Start") && !strstr(state->name, "endrecv") && !strstr(state->name, "Pready");
}

/* Where nothing else sends: a send and a receive, of which the shortest found its message there. */
static bool exchanges(const struct state_def *state)
{
    return state->class == CLASS_P2P && strncmp(state->name, "MPI_Sendrecv", 12) == 0;
}

/* The shortest call of these in the run that took any time; 0 where there is none. */
static int64_t shortest_of(const struct metrics *metrics, bool (*counted)(const struct state_def *state))
{
    int64_t shortest = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++) {
            const struct function_row *row = &metrics->process[i].functions[k];
            bool counts = row->count && row->min_ns > 0 && counted(&metrics->defs->states[row->state]);
            if (counts && (shortest == 0 || row->min_ns < shortest))
                shortest = row->min_ns;
        }
    return shortest;
}

void judge_communication_overhead(const struct metrics *metrics, struct heuristic_result *result)
{
    double duration = (double)cells_duration_ns(metrics), sum = 0;
    int64_t overhead = shortest_of(metrics, sends);
    if (overhead == 0)
        overhead = shortest_of(metrics, exchanges);
    uint64_t messages = 0, bytes = 0;
    size_t capacity = 0;
    result->verdict = VERDICT_UNKNOWN;
    for (size_t i = 0; i < metrics->process_count; i++) {
        messages += metrics->process[i].messages_sent;
        bytes_add(&bytes, metrics->process[i].bytes_sent);
    }
    if (duration <= 0 || messages == 0 || overhead == 0) {
        result_say(result, messages ? "Messages were sent, but no recorded send shows how long one takes."
                                    : "No messages were sent.");
        if (messages == 0 && duration > 0)
            result->verdict = VERDICT_GOOD;
        return;
    }
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        double index = (double)row->messages_sent * (double)overhead / duration;
        if (row->messages_sent)
            ARRAY_PUSH(result->cells, result->cell_count, capacity,
                       (struct cell){row->rank, CELL_ALL_FUNCTIONS, index});
        sum += index;
    }
    result->index = result->share = sum / (double)metrics->process_count;
    result->mean = ratio_of(sum, (double)result->cell_count);
    result->verdict = verdict_of(result->index);
    result_detail(result, "messages", (double)messages, false);
    result_detail(result, "shortest_send_s", (double)overhead / 1e9, true);
    result_detail(result, "duration_s", duration / 1e9, true);
    char count[TEXT_NUMBER_SIZE], cost[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], size[TEXT_NUMBER_SIZE + 16];
    text_bytes(size, bytes / messages);
    if (!metrics_sizes_known(metrics))
        snprintf(size, sizeof size, "of unknown size");
    else if (messages > 1)
        strcat(size, " on average");
    result_say(result,
               messages == 1
                   ? "%s message (%s) at %s, the shortest send of the run, accounts for %s of the processes' time."
                   : "%s messages (%s) at %s each, the shortest send of the run, account for %s of the processes' "
                     "time.",
               text_thousands(count, messages), size, text_duration(cost, overhead), text_share(share, result->index));
    if (result->verdict != VERDICT_GOOD)
        result_suggest(result, "combine messages to the same process into fewer, larger ones");
}
