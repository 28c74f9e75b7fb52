/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of all heuristics: verdicts, sentences, the table; efficiencies. */
#include "heuristics/efficiency.h"
#include "unit/judged.h"

static void test_verdicts(void)
{
    tap_ok(verdict_of(0) == VERDICT_GOOD && verdict_of(0.1) == VERDICT_GOOD, "verdict: 10 %% is good");
    tap_ok(verdict_of(nextafter(0.1, 1)) == VERDICT_FAIR && verdict_of(0.25) == VERDICT_FAIR,
           "verdict: above 10 %% and 25 %% is fair");
    tap_ok(verdict_of(nextafter(0.25, 1)) == VERDICT_POOR && verdict_of(7) == VERDICT_POOR,
           "verdict: above 25 %% is poor");
    tap_equal_string(verdict_name(VERDICT_GOOD), "good", "verdict: good");
    tap_equal_string(verdict_name(VERDICT_FAIR), "fair", "verdict: fair");
    tap_equal_string(verdict_name(VERDICT_POOR), "poor", "verdict: poor");
    tap_equal_string(verdict_name(VERDICT_UNKNOWN), "unknown", "verdict: unknown");
}

static void test_results(void)
{
    static struct heuristic_result result;
    result_say(&result, "%02000d", 0);
    result_say(&result, "%0100d", 1);
    tap_equal_int((long long)strlen(result.analysis), 2000, "a sentence that does not fit is left out whole");
    result_say(&result, "%s", "This does.");
    tap_ok(strcmp(result.analysis + 2000, " This does.") == 0, "sentences are parted by a blank");
    result_suggest(&result, "%0320d", 0);
    tap_equal_int((long long)result.suggestion_count, 0, "a suggestion that does not fit is left out whole");
    for (int i = 0; i < HEURISTIC_SUGGESTIONS + 1; i++)
        result_suggest(&result, "number %d", i);
    tap_equal_int((long long)result.suggestion_count, HEURISTIC_SUGGESTIONS,
                  "suggestions beyond the room are left out");
    for (int i = 0; i < HEURISTIC_DETAILS + 1; i++)
        result_detail(&result, "number", i, false);
    tap_equal_int((long long)result.detail_count, HEURISTIC_DETAILS, "details beyond the room are left out");
    char buffer[64];
    tap_equal_string(seconds_text(buffer, 0.0123), "12.3 ms", "seconds for people");
    tap_equal_string(seconds_text(buffer, 1e300), "106,752 d", "seconds beyond all sense");
}

static void test_efficiency(void)
{
    struct metrics *metrics = metrics_make(2, (const double[]){4, 8}, (const double[]){6, 2});
    struct efficiency efficiency = efficiency_of(metrics);
    expect_number(efficiency.parallel, 0.6, "parallel efficiency");
    expect_number(efficiency.load_balance, 0.75, "load balance");
    expect_number(efficiency.communication, 0.8, "communication efficiency");
    expect_number(efficiency.parallel, efficiency.load_balance * efficiency.communication,
                  "parallel efficiency is the product of the two");
    expect_number(communication_share(metrics), 0.4, "communication share");
    /* The duration is the run's: from the first event of all to the last. */
    metrics->process[1].begin_ns += nanoseconds(10);
    metrics->process[1].end_ns += nanoseconds(10);
    metrics_totals(metrics);
    efficiency = efficiency_of(metrics);
    tap_ok(near(efficiency.parallel, 0.3) && near(efficiency.load_balance, 0.75) && near(efficiency.communication, 0.4),
           "efficiencies of processes one after the other");
    metrics_free(metrics);
    for (size_t count = 0; count <= 2; count++) {
        metrics = metrics_make(count, (const double[]){0, 0}, NULL);
        efficiency = efficiency_of(metrics);
        tap_ok(exactly(efficiency.parallel, 0) && exactly(efficiency.load_balance, 0) &&
                   exactly(efficiency.communication, 0) && exactly(communication_share(metrics), 0),
               "efficiencies of %zu processes that compute nothing", count);
        metrics_free(metrics);
    }
}

static void test_table(void)
{
    static const char *const ids[] = {
        "stddev-communication",    "stddev-compute",         "stddev-total", "communication-locator",
        "synchronisation-locator", "communication-overhead", "contention",   "instructions-per-cycle",
        "misses-per-access"};
    tap_equal_int((long long)heuristic_count(), sizeof ids / sizeof *ids, "as many heuristics as known here");
    for (size_t i = 0; i < sizeof ids / sizeof *ids && i < heuristic_count(); i++)
        tap_equal_string(heuristic_at(i)->id, ids[i], "the table's row %zu", i);
}

int main(void)
{
    defs_make();
    test_verdicts();
    test_results();
    test_efficiency();
    test_table();
    defs_free(defs);
    return tap_done();
}
