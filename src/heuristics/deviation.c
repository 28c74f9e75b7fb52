/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/deviation.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { FAIR_FROM_PERCENT = 10, POOR_FROM_PERCENT = 25 };

static int64_t communication_of(const struct process_row *row)
{
    return row->communication_ns;
}

static double verdict_percent(const struct heuristic_result *result)
{
    return result->index / result->mean * 100;
}

static void analyse(struct heuristic_result *result, size_t processes, const char *what)
{
    char mean[TEXT_NUMBER_SIZE], deviation[TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    if (processes < 2 || result->mean <= 0) {
        result->verdict = VERDICT_UNKNOWN;
        snprintf(result->analysis, sizeof result->analysis,
                 processes < 2 ? "There is only one process: nothing to compare its %s time with."
                               : "No process has any %s time: nothing to compare.",
                 what);
        return;
    }
    double percent = verdict_percent(result);
    result->verdict = percent <= FAIR_FROM_PERCENT   ? VERDICT_GOOD
                      : percent <= POOR_FROM_PERCENT ? VERDICT_FAIR
                                                     : VERDICT_POOR;
    snprintf(
        result->analysis, sizeof result->analysis,
        "The %s times differ by %s (%.*f %% of the mean of %s): process %u has the most (%s), process %u the least "
        "(%s).",
        what, text_duration(deviation, (int64_t)(result->index * 1e9)), percent < 9.95 ? 1 : 0, percent,
        text_duration(mean, (int64_t)(result->mean * 1e9)), result->most_rank,
        text_duration(most, (int64_t)(result->most * 1e9)), result->least_rank,
        text_duration(least, (int64_t)(result->least * 1e9)));
}

static struct heuristic_result judge_deviation(const struct metrics *metrics,
                                               int64_t (*time_of)(const struct process_row *), const char *what)
{
    struct heuristic_result result = {0};
    size_t count = metrics->process_count;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        const struct process_row *row = &metrics->process[i];
        double seconds = (double)time_of(row) / 1e9;
        sum += seconds;
        if (i == 0 || seconds < result.least) {
            result.least = seconds;
            result.least_rank = row->rank;
        }
        if (i == 0 || seconds > result.most) {
            result.most = seconds;
            result.most_rank = row->rank;
        }
    }
    result.mean = count ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++) {
        double apart = (double)time_of(&metrics->process[i]) / 1e9 - result.mean;
        squares += apart * apart;
    }
    result.index = count ? sqrt(squares / (double)count) : 0;
    analyse(&result, count, what);
    return result;
}

struct heuristic_result judge_communication(const struct metrics *metrics)
{
    return judge_deviation(metrics, communication_of, "communication");
}

struct heuristic_result judge_compute(const struct metrics *metrics)
{
    return judge_deviation(metrics, process_compute_ns, "computing");
}

struct heuristic_result judge_total(const struct metrics *metrics)
{
    return judge_deviation(metrics, process_total_ns, "total");
}
