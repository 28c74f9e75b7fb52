/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/cells.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

int64_t cells_duration_ns(const struct metrics *metrics)
{
    return metrics->process_count ? time_since(metrics->begin_ns, metrics->end_ns) : 0;
}

void cells_conclude(const struct metrics *metrics, struct heuristic_result *result, double sum, double duration)
{
    /* AIMS' indices are means over all processes, also over those without a cell. */
    result->index = result->share = sum / (double)metrics->process_count;
    result->mean = ratio_of(sum, (double)result->cell_count);
    result->verdict = verdict_of(result->index);
    result_detail(result, "processes", (double)metrics->process_count, false);
    result_detail(result, "duration_s", duration / 1e9, true);
    result_detail(result, "sum_s", sum * duration / 1e9, true);
}

bool cells_fill(const struct metrics *metrics, struct heuristic_result *result,
                double (*time_ns)(const struct metrics *metrics, const struct function_row *row, const void *context),
                const void *context)
{
    double duration = (double)cells_duration_ns(metrics), sum = 0;
    size_t capacity = 0;
    result->verdict = VERDICT_UNKNOWN;
    if (duration <= 0) {
        result_say(result, "The run has no duration: shares cannot be computed.");
        return false;
    }
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++) {
            const struct function_row *row = &metrics->process[i].functions[k];
            double time = time_ns(metrics, row, context);
            /* No cell for 0: a matrix of all functions and processes would be mostly empty. */
            if (time <= 0)
                continue;
            ARRAY_PUSH(result->cells, result->cell_count, capacity,
                       (struct cell){metrics->process[i].rank, (int32_t)row->state, time / duration});
            sum += time / duration;
        }
    cells_conclude(metrics, result, sum, duration);
    return true;
}

static int by_share(const void *a, const void *b)
{
    const struct function_share *left = a, *right = b;
    if (left->share != right->share)
        return order_by(right->share, left->share);
    return (left->state > right->state) - (left->state < right->state);
}

/* Shares are of all processes, those without a cell included. */
size_t cells_functions(const struct metrics *metrics, const struct heuristic_result *result,
                       struct function_share *shares, size_t count)
{
    /* By state first: a function has a cell for each process, anywhere in the list. */
    size_t states = metrics->defs->state_count, found = 0;
    struct function_share *all = memory_new(states * sizeof *all);
    for (size_t i = 0; i < result->cell_count; i++) {
        const struct cell *cell = &result->cells[i];
        /* Cells of whole processes belong to no function. */
        if (cell->state < 0)
            continue;
        struct function_share *share = &all[cell->state];
        share->state = cell->state;
        share->share += cell->index / (double)metrics->process_count;
        if (cell->index > share->worst) {
            share->worst = cell->index;
            share->worst_rank = cell->rank;
        }
    }
    for (size_t i = 0; i < states; i++)
        if (all[i].share > 0)
            all[found++] = all[i];
    if (found > 0)
        qsort(all, found, sizeof *all, by_share);
    /* Callers ask for the first few, and get to know how many there are. */
    memcpy(shares, all, smaller(found, count) * sizeof *shares);
    free(all);
    return found;
}

void cells_say_functions(const struct metrics *metrics, struct heuristic_result *result, const char *what)
{
    enum { SAID = 3 };
    struct function_share shares[SAID];
    size_t count = cells_functions(metrics, result, shares, SAID);
    char share[TEXT_NUMBER_SIZE], worst[TEXT_NUMBER_SIZE], text[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && i < SAID && used < sizeof text; i++) {
        const char *name = metrics->defs->states[shares[i].state].name;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s %s (most on process %s: %s)", i ? ", " : "",
                                 text_beginning(name, 60), name, text_share(share, shares[i].share),
                                 text_number(shares[i].worst_rank).text, text_share(worst, shares[i].worst));
    }
    if (count > 0)
        result_say(result, "%s: %s.", what, text);
}
