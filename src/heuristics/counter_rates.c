/* SPDX-License-Identifier: BSD-3-Clause */
/* Heuristics on counters: formulas of sight's own file, as the engine has computed them for each process.

   Where the trace lacks the counters there is no verdict, and nothing is said. */
#include "heuristics/heuristic.h"

#include "core/memory.h"
#include "core/text.h"
#include "profile/counters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The place of the process with the least or most; SIZE_MAX: none has a value. */
static size_t extreme(const struct counter_rate *rate, bool most)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < rate->count; i++)
        if (!isnan(rate->value[i]) &&
            (best == SIZE_MAX || (most ? rate->value[i] > rate->value[best] : rate->value[i] < rate->value[best])))
            best = i;
    return best;
}

/* NULL: the trace has not got the counters, or no process has a value. */
static const struct counter_rate *rate_of(const struct metrics *metrics, const char *formula,
                                          struct heuristic_result *result)
{
    result->verdict = VERDICT_UNKNOWN;
    result->absent = true;
    for (size_t i = 0; metrics->counters && i < metrics->counters->rate_count; i++) {
        const struct counter_rate *rate = &metrics->counters->rates[i];
        if (strcmp(rate->formula, formula) == 0 && !isnan(rate->whole) && extreme(rate, true) != SIZE_MAX) {
            result->absent = false;
            return rate;
        }
    }
    return NULL;
}

static void list_cells(struct heuristic_result *result, const struct counter_rate *rate)
{
    result->cells = memory_new(rate->count * sizeof *result->cells);
    for (size_t i = 0; i < rate->count; i++)
        if (!isnan(rate->value[i]))
            result->cells[result->cell_count++] = (struct cell){rate->rank[i], CELL_ALL_FUNCTIONS, rate->value[i]};
}

/* Mean of all processes but one. */
static double mean_of_others(const struct counter_rate *rate, size_t one)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < rate->count; i++)
        if (i != one && !isnan(rate->value[i])) {
            sum += rate->value[i];
            count++;
        }
    return count > 0 ? sum / (double)count : NAN;
}

void judge_instructions(const struct metrics *metrics, struct heuristic_result *result)
{
    char share[TEXT_NUMBER_SIZE];
    const struct counter_rate *rate = rate_of(metrics, "ipc", result);
    result->rule = "by 1 - least / mean of the others; up to 10 % is good, up to 25 % fair, above poor";
    if (!rate)
        return;
    size_t least = extreme(rate, false);
    double others = mean_of_others(rate, least);
    result->index = rate->whole;
    result->mean = others;
    list_cells(result, rate);
    /* One process has none to be compared with. */
    if (isnan(others) || !(others > 0)) {
        result->mean = rate->whole;
        result_say(result, "%.2f instructions per cycle; there is no other process to compare with.", rate->whole);
        return;
    }
    result->share = 1 - rate->value[least] / others;
    result->verdict = verdict_of(result->share);
    result_detail(result, "least", rate->value[least], false);
    result_detail(result, "mean_of_others", others, false);
    if (result->verdict == VERDICT_GOOD) {
        result_say(result, "%.2f instructions per cycle on all processes, at least %.2f on each.", rate->whole,
                   rate->value[least]);
        return;
    }
    result_say(result, "Process %u executes %.2f instructions per cycle, %s fewer than the others (%.2f).",
               rate->rank[least], rate->value[least], text_share(share, result->share), others);
    result_suggest(result,
                   "compare its counters with the others' by function: sight counters --by function --processes %u",
                   rate->rank[least]);
}

void judge_misses(const struct metrics *metrics, struct heuristic_result *result)
{
    char share[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    const struct counter_rate *rate = rate_of(metrics, "l1_misses_per_access", result);
    result->rule = "by the largest of a process; up to 5 % is good, up to 10 % fair, above poor";
    if (!rate)
        return;
    size_t worst = extreme(rate, true);
    result->index = result->mean = rate->whole;
    result->share = rate->value[worst];
    result->verdict = result->share <= rate->limits[0]   ? VERDICT_GOOD
                      : result->share <= rate->limits[1] ? VERDICT_FAIR
                                                         : VERDICT_POOR;
    list_cells(result, rate);
    result_detail(result, "most", result->share, false);
    result_say(result, "%s of the accesses miss the first cache, at most %s (on process %u).",
               text_share(share, rate->whole), text_share(most, result->share), rate->rank[worst]);
    if (result->verdict != VERDICT_GOOD)
        result_suggest(result, "work on blocks that fit into the cache, and go through arrays in the order of memory");
}
