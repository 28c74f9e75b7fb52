/* SPDX-License-Identifier: BSD-3-Clause */
/* Heuristics: numbers computed by hand, every kind of imbalance at several sizes, and every sentence in full. */
#include "core/memory.h"
#include "heuristics/efficiency.h"
#include "heuristics/heuristic.h"
#include "heuristics/master.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fmax(1, fabs(want));
}

static bool exactly(double got, double want)
{
    return got >= want && got <= want;
}

/* Not near() where the number is to be exact: 0 means that nothing at all differs. */
static void expect_number(double got, double want, const char *name)
{
    if (!tap_ok(exactly(want, 0) ? exactly(got, 0) : near(got, want), "%s", name))
        printf("#  got %.17g\n# want %.17g\n", got, want);
}

static struct series series_make(size_t count, const double *value, uint32_t first_rank)
{
    struct series series = series_new(count);
    for (size_t i = 0; i < count; i++) {
        series.value[i] = value[i];
        series.rank[i] = first_rank + (uint32_t)i;
    }
    return series;
}

static struct measure measured(size_t count, const double *value)
{
    struct series series = series_make(count, value, 10);
    struct measure measure = measure_of(&series);
    series_clear(&series);
    return measure;
}

static void test_measure(void)
{
    struct measure measure = measured(8, (const double[]){5, 9, 4, 2, 7, 4, 5, 4});
    tap_ok(measure.count == 8 && near(measure.sum, 40) && near(measure.mean, 5), "measure: count, sum, mean");
    expect_number(measure.deviation, 2, "measure: deviation of the population");
    expect_number(measure.variation, 0.4, "measure: coefficient of variation");
    expect_number(measure.most_over_mean, 1.8, "measure: most over mean");
    expect_number(measure.imbalance, 4, "measure: imbalance");
    expect_number(measure.gini, 68.0 / 320, "measure: Gini");
    expect_number(measure.median, 4.5, "measure: median of an even number");
    expect_number(measure.mad, 0.5, "measure: median distance");
    tap_ok(near(measure.least, 2) && measure.least_rank == 13 && near(measure.most, 9) && measure.most_rank == 11,
           "measure: least and most by rank");
    measure = measured(3, (const double[]){6, 1, 2});
    expect_number(measure.deviation, sqrt(14.0 / 3), "measure of three: deviation");
    expect_number(measure.gini, 10.0 / 27, "measure of three: Gini");
    tap_ok(near(measure.median, 2) && near(measure.mad, 1), "measure of three: median, median distance");
    measure = measured(4, (const double[]){0, 8, 0, 0});
    tap_ok(near(measure.gini, 0.75) && near(measure.most_over_mean, 4) && near(measure.variation, sqrt(3)),
           "measure where one has all");
    tap_ok(exactly(measure.median, 0) && exactly(measure.mad, 0) && measure.least_rank == 10,
           "measure where one has all: median; the first of the least");
    measure = measured(3, (const double[]){4, 1, 4});
    tap_equal_int(measure.most_rank, 10, "measure: the first of the most");
}

static void test_measure_limits(void)
{
    struct measure measure = measured(3, (const double[]){0, 0, 0});
    tap_ok(exactly(measure.mean, 0) && exactly(measure.deviation, 0) && exactly(measure.variation, 0) &&
               exactly(measure.gini, 0) && exactly(measure.most_over_mean, 1) && exactly(measure.imbalance, 0),
           "measure: mean 0");
    measure = measured(1, (const double[]){7});
    tap_ok(near(measure.mean, 7) && exactly(measure.deviation, 0) && exactly(measure.gini, 0) &&
               near(measure.median, 7) && exactly(measure.mad, 0) && near(measure.most_over_mean, 1) &&
               measure.least_rank == 10 && measure.most_rank == 10,
           "measure: one value");
    measure = measured(0, (const double[]){0});
    tap_ok(measure.count == 0 && exactly(measure.mean, 0) && exactly(measure.most_over_mean, 1), "measure: no values");
    /* Three times 0.1 is not 0.3 in binary: the mean must not be beside all its values. */
    measure = measured(3, (const double[]){0.1, 0.1, 0.1});
    tap_ok(exactly(measure.deviation, 0) && exactly(measure.variation, 0) && exactly(measure.imbalance, 0) &&
               exactly(measure.most_over_mean, 1) && exactly(measure.mean, 0.1),
           "measure: equal values differ by nothing, whatever rounding does");
}

static double trended(size_t count, const double *value)
{
    struct series series = series_make(count, value, 0);
    double trend = trend_of(&series);
    series_clear(&series);
    return trend;
}

static void test_correlation(void)
{
    static const double up[] = {1, 2, 3, 4}, twice[] = {2, 4, 6, 8}, down[] = {4, 3, 2, 1}, swapped[] = {1, 3, 2, 4},
                        valley[] = {1, -1, -1, 1}, same[] = {0.1, 0.1, 0.1, 0.1};
    expect_number(correlation(up, twice, 4), 1, "correlation: proportional");
    expect_number(correlation(up, down, 4), -1, "correlation: mirrored");
    expect_number(correlation(up, swapped, 4), 0.8, "correlation: two places swapped");
    expect_number(correlation(up, valley, 4), 0, "correlation: none");
    expect_number(correlation(up, same, 4), 0, "correlation: one does not vary");
    static double tenths[16];
    bool none = true;
    for (size_t count = 0; count < 16; tenths[count++] = 0.1)
        none = none && exactly(correlation(tenths, tenths, count), 0);
    tap_ok(none, "correlation: none varies, whatever rounding does to the mean");
    expect_number(correlation(up, up, 0), 0, "correlation of nothing");
    expect_number(trended(3, (const double[]){1, 10, 1000}), 1, "trend: by place, not by size");
    expect_number(trended(3, (const double[]){3, 2, 1}), -1, "trend: falling");
    expect_number(trended(3, (const double[]){1, 1, 2}), 1.5 / sqrt(3), "trend: ties are averaged");
    expect_number(trended(4, (const double[]){2, 1, 2, 3}), 3 / sqrt(22.5), "trend: ties in the middle");
    expect_number(trended(4, same), 0, "trend: all the same");
}

static void test_series_without(void)
{
    struct series series = series_make(4, (const double[]){1, 2, 3, 4}, 5), rest = series_without(&series, 6),
                  all = series_without(&series, 9);
    tap_ok(rest.count == 3 && rest.rank[0] == 5 && rest.rank[1] == 7 && rest.rank[2] == 8 && near(rest.value[1], 3),
           "a series without one process");
    tap_ok(all.count == 4 && series.count == 4, "a series without a process that it does not have");
    series_clear(&series);
    series_clear(&rest);
    series_clear(&all);
}

static void test_ranks_text(void)
{
    static const struct {
        size_t count;
        uint32_t ranks[16];
        const char *text;
    } cases[] = {
        {0, {0}, ""},
        {1, {7}, "7"},
        {2, {3, 4}, "3,4"},
        {3, {3, 4, 5}, "3–5"},
        {9, {0, 1, 2, 3, 4, 5, 6, 7, 12}, "0–7,12"},
        {6, {1, 3, 5, 7, 9, 11}, "1,3,5,7,9,11"},
        {7, {1, 3, 5, 7, 9, 11, 13}, "1,3,5,7,9,11 and 1 more"},
        {14, {1, 2, 3, 5, 7, 8, 9, 11, 13, 15, 17, 18, 19, 21}, "1–3,5,7–9,11,13,15 and 4 more"},
    };
    char buffer[RANKS_TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_equal_string(ranks_text(buffer, cases[i].ranks, cases[i].count), cases[i].text, "ranks: \"%s\"",
                         cases[i].text);
    uint32_t odd[1024];
    for (uint32_t i = 0; i < 1024; i++)
        odd[i] = 2 * i + 1000001;
    tap_equal_string(ranks_text(buffer, odd, 1024), "1000001,1000003,1000005,1000007,1000009,1000011 and 1,018 more",
                     "ranks: many");
}

enum kind { EVEN, ONE_HIGH, SOME_HIGH, ONE_LOW, SOME_LOW, HALVES, QUARTER, ALTERNATING, UP, DOWN, SCATTERED, ZERO };

/* True for those of a generated series that stand apart, by how it is made. */
static bool stands_apart(enum kind kind, size_t i, size_t count)
{
    switch (kind) {
    case ONE_HIGH:
    case ONE_LOW:
        return i == count / 2;
    case SOME_HIGH:
    case SOME_LOW:
        return i % 8 == 1;
    case HALVES:
        return i >= count / 2;
    case QUARTER:
        return i * 4 < count;
    case ALTERNATING:
        return i % 2 == 1;
    default:
        return false;
    }
}

static double generated(enum kind kind, size_t i, size_t count)
{
    double place = (double)i / (double)count, noise = 0.125 * (double)(i % 4);
    switch (kind) {
    case EVEN:
        return 10 + 2 * noise;
    case UP:
        return 10 + 10 * place;
    case DOWN:
        return 20 - 10 * place;
    case SCATTERED:
        return 10 + 20 * fmod((double)i * 0.6180339887, 1);
    case ZERO:
        return 0;
    case ONE_LOW:
    case SOME_LOW:
        return noise + (stands_apart(kind, i, count) ? 2 : 10);
    default:
        return noise + (stands_apart(kind, i, count) ? 70 : 10);
    }
}

/* The ranks of `got` are those that stand apart, or those that do not. */
static bool ranks_right(const uint32_t *got, size_t got_count, enum kind kind, size_t count, bool apart)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (stands_apart(kind, i, count) == apart && (at == got_count || got[at++] != i))
            return false;
    return at == got_count;
}

static bool parts_right(const struct pattern *pattern, enum kind kind, size_t count)
{
    double sum[2] = {0}, least = INFINITY, most = -INFINITY;
    size_t counts[2] = {0};
    for (size_t i = 0; i < count; i++) {
        bool apart = stands_apart(kind, i, count);
        double value = generated(kind, i, count);
        sum[apart] += value;
        counts[apart]++;
        least = apart ? least : fmin(least, value);
        most = apart ? most : fmax(most, value);
    }
    return ranks_right(pattern->far, pattern->far_count, kind, count, true) &&
           ranks_right(pattern->rest, pattern->rest_count, kind, count, false) &&
           near(pattern->far_mean, sum[1] / (double)counts[1]) &&
           near(pattern->rest_mean, sum[0] / (double)counts[0]) && near(pattern->rest_least, least) &&
           near(pattern->rest_most, most);
}

static void expect_pattern(const char *name, enum kind kind, size_t count, enum shape want)
{
    struct series series = series_new(count);
    for (size_t i = 0; i < count; i++) {
        series.value[i] = generated(kind, i, count);
        series.rank[i] = (uint32_t)i;
    }
    struct measure measure = measure_of(&series);
    struct pattern pattern = pattern_of(&series, &measure);
    tap_equal_string(shape_name(pattern.shape), shape_name(want), "shape of %zu: %s", count, name);
    /* The one of a pair that stands apart may be the lower one, or the first of a gradient: test_pair has that. */
    if (want >= SHAPE_FEW_HIGH && want <= SHAPE_ALTERNATING)
        tap_ok(parts_right(&pattern, kind, count), "shape of %zu: %s: the parts and their means", count, name);
    if (want == SHAPE_GRADIENT)
        expect_number(pattern.trend, kind == UP ? 1 : -1, "the gradient's direction");
    pattern_clear(&pattern);
    series_clear(&series);
}

static void test_shapes(void)
{
    static const size_t counts[] = {1, 2, 4, 8, 64, 1024};
    /* One idle process of 1,024 leaves the variation at 3 %. */
    static const struct {
        const char *name;
        enum kind kind;
        enum shape of_2, of_4, of_8, of_64, of_1024;
    } cases[] = {
        {"even", EVEN, SHAPE_EVEN, SHAPE_EVEN, SHAPE_EVEN, SHAPE_EVEN, SHAPE_EVEN},
        {"one overloaded", ONE_HIGH, SHAPE_PAIR, SHAPE_FEW_HIGH, SHAPE_FEW_HIGH, SHAPE_FEW_HIGH, SHAPE_FEW_HIGH},
        {"an eighth overloaded", SOME_HIGH, SHAPE_PAIR, SHAPE_FEW_HIGH, SHAPE_FEW_HIGH, SHAPE_FEW_HIGH, SHAPE_FEW_HIGH},
        {"one idle", ONE_LOW, SHAPE_PAIR, SHAPE_FEW_LOW, SHAPE_FEW_LOW, SHAPE_FEW_LOW, SHAPE_EVEN},
        {"an eighth idle", SOME_LOW, SHAPE_PAIR, SHAPE_FEW_LOW, SHAPE_FEW_LOW, SHAPE_FEW_LOW, SHAPE_FEW_LOW},
        {"two halves", HALVES, SHAPE_PAIR, SHAPE_TWO_GROUPS, SHAPE_TWO_GROUPS, SHAPE_TWO_GROUPS, SHAPE_TWO_GROUPS},
        {"a quarter", QUARTER, SHAPE_PAIR, SHAPE_FEW_HIGH, SHAPE_TWO_GROUPS, SHAPE_TWO_GROUPS, SHAPE_TWO_GROUPS},
        {"alternating", ALTERNATING, SHAPE_PAIR, SHAPE_ALTERNATING, SHAPE_ALTERNATING, SHAPE_ALTERNATING,
         SHAPE_ALTERNATING},
        {"gradient up", UP, SHAPE_PAIR, SHAPE_GRADIENT, SHAPE_GRADIENT, SHAPE_GRADIENT, SHAPE_GRADIENT},
        {"gradient down", DOWN, SHAPE_PAIR, SHAPE_GRADIENT, SHAPE_GRADIENT, SHAPE_GRADIENT, SHAPE_GRADIENT},
        {"scattered", SCATTERED, SHAPE_PAIR, SHAPE_SCATTERED, SHAPE_SCATTERED, SHAPE_SCATTERED, SHAPE_SCATTERED},
        {"all zeros", ZERO, SHAPE_UNKNOWN, SHAPE_UNKNOWN, SHAPE_UNKNOWN, SHAPE_UNKNOWN, SHAPE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum shape want[] = {SHAPE_UNKNOWN, cases[i].of_2,  cases[i].of_4,
                                   cases[i].of_8, cases[i].of_64, cases[i].of_1024};
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            expect_pattern(cases[i].name, cases[i].kind, counts[k], want[k]);
    }
}

static void expect_shape(const char *name, size_t count, const double *value, uint32_t first_rank, enum shape want)
{
    struct series series = series_make(count, value, first_rank);
    struct measure measure = measure_of(&series);
    struct pattern pattern = pattern_of(&series, &measure);
    tap_equal_string(shape_name(pattern.shape), shape_name(want), "shape: %s", name);
    pattern_clear(&pattern);
    series_clear(&series);
}

/* Where one rule ends and the next begins. */
static void test_shape_limits(void)
{
    expect_shape("variation of exactly 10 %", 2, (const double[]){9, 11}, 0, SHAPE_EVEN);
    expect_shape("variation above 10 %", 2, (const double[]){8.999, 11.001}, 0, SHAPE_PAIR);
    expect_shape("three processes have no gradient", 3, (const double[]){1, 2, 3}, 0, SHAPE_SCATTERED);
    expect_shape("three processes do not alternate", 3, (const double[]){3, 1, 3}, 0, SHAPE_FEW_LOW);
    expect_shape("alternating by rank, not by place", 4, (const double[]){1, 3, 1, 3}, 7, SHAPE_ALTERNATING);
    expect_shape("two of four side by side are groups", 4, (const double[]){1, 3, 3, 1}, 0, SHAPE_TWO_GROUPS);
    expect_shape("one high beside one low is no simple pattern", 8, (const double[]){5, 5, 9, 5, 5, 1, 5, 5}, 0,
                 SHAPE_SCATTERED);
    expect_shape("two odd ranks of eight do not alternate", 8, (const double[]){1, 3, 1, 3, 1, 1, 1, 1}, 0,
                 SHAPE_TWO_GROUPS);
    expect_shape("no gap between groups", 16,
                 (const double[]){20, 10, 20, 10, 20, 10, 20, 14, 16, 10, 20, 10, 20, 10, 20, 10}, 0, SHAPE_SCATTERED);
    expect_shape("a gradient with one step back", 6, (const double[]){1, 2, 4, 3, 5, 6}, 0, SHAPE_GRADIENT);
    expect_shape("one has all", 4, (const double[]){0, 0, 0, 5}, 0, SHAPE_FEW_HIGH);
    expect_shape("no values", 0, (const double[]){0}, 0, SHAPE_UNKNOWN);
}

static void test_pair(void)
{
    struct series series = series_make(2, (const double[]){3, 1}, 6);
    struct measure measure = measure_of(&series);
    struct pattern pattern = pattern_of(&series, &measure);
    tap_ok(pattern.far_count == 1 && pattern.far[0] == 6 && near(pattern.far_mean, 3), "pair: who has more");
    tap_ok(pattern.rest_count == 1 && pattern.rest[0] == 7 && near(pattern.rest_mean, 1), "pair: who has less");
    pattern_clear(&pattern);
    tap_ok(!pattern.far && !pattern.rest && pattern.far_count == 0, "a cleared pattern is empty");
    series_clear(&series);
}

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
    tap_equal_string(seconds_text(buffer, 1e300), "9,223,372,037 s", "seconds beyond all sense");
}

static struct defs *defs;

/* By name, as the rows of a process are. */
static const char *const names[] = {"MPI_Allreduce",  "MPI_Barrier",  "MPI_Comm_dup", "MPI_File_write", "MPI_Iprobe",
                                    "MPI_Isendrecv",  "MPI_Pready",   "MPI_Put",      "MPI_Recv",       "MPI_Send",
                                    "MPI_Send_init",  "MPI_Sendrecv", "MPI_Start",    "MPI_Waitall",    "MPI_Win_fence",
                                    "PMPI_Win_fence", "work"};
enum { STATES = sizeof names / sizeof *names };

static void defs_make(void)
{
    defs = defs_new();
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
}

static int64_t nanoseconds(double seconds)
{
    return llround(seconds * 1e9);
}

/* Every process computes and communicates so many seconds, from time 0 on. */
static struct metrics *metrics_make(size_t count, const double *compute, const double *communication)
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

static void partner_add(struct partner_row **rows, size_t *count, int32_t partner, uint64_t messages)
{
    *rows = memory_resize(*rows, (*count + 1) * sizeof **rows);
    (*rows)[(*count)++] = (struct partner_row){.partner = partner, .messages = messages, .bytes = 100 * messages};
}

/* Messages of 100 bytes, both ends recorded. */
static void messages_add(struct metrics *metrics, size_t from, size_t to, uint64_t count)
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
static struct metrics *star_make(size_t count, size_t hub, const double *compute, const double *communication)
{
    struct metrics *metrics = metrics_make(count, compute, communication);
    for (size_t i = 0; i < count; i++)
        if (i != hub)
            messages_add(metrics, hub, i, 10);
    return metrics;
}

/* Calls in seconds; to be added by name. */
static void calls_add(struct metrics *metrics, size_t process, const char *name, uint64_t count, double time,
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

static double detail_of(const struct heuristic_result *result, const char *name)
{
    for (size_t i = 0; i < result->detail_count; i++)
        if (strcmp(result->details[i].name, name) == 0)
            return result->details[i].value;
    return NAN;
}

/* The result says this, and no more; suggestion NULL: none. */
static void expect_spoken(const struct heuristic_result *result, const char *name, enum verdict verdict,
                          const char *headline, const char *analysis, const char *suggestion)
{
    tap_equal_string(verdict_name(result->verdict), verdict_name(verdict), "%s: verdict", name);
    tap_equal_string(result->headline, headline, "%s: headline", name);
    tap_equal_string(result->analysis, analysis, "%s: analysis", name);
    tap_equal_string(result->suggestion_count ? result->suggestions[0] : NULL, suggestion, "%s: suggestion", name);
    tap_ok(result->suggestion_count == (suggestion != NULL), "%s: no other suggestion", name);
}

static void expect_judged(const struct metrics *metrics, const char *id, const char *name, enum verdict verdict,
                          const char *headline, const char *analysis, const char *suggestion)
{
    struct heuristic_result *results = heuristics_judge(metrics);
    expect_spoken(heuristics_find(results, id), name, verdict, headline, analysis, suggestion);
    heuristics_free(results);
}

/* A run in which one thing is uneven: computing (nothing else is done, so that it is the total time, too), or
   communicating (beside 10 s of computing). With "of" a time, the other of the two fills the time up to it. */
struct run {
    const char *name, *seconds;
    enum shape shape;
    enum verdict verdict;
    const char *headline, *analysis, *suggestion;
};

/* Reads "1 2.5 3": values, at most VALUES; `rest` is what follows them. Returns how many there are. */
enum { VALUES = 16 };
static size_t values_of(const char *text, double values[VALUES], const char **rest)
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

static struct metrics *run_make(const char *seconds, bool communicates)
{
    double values[VALUES], others[VALUES], total = 0;
    const char *rest;
    size_t count = values_of(seconds, values, &rest);
    bool filled = sscanf(rest, " of %lf", &total) == 1;
    for (size_t i = 0; i < count; i++)
        others[i] = filled ? total - values[i] : communicates ? 10 : 0;
    return metrics_make(count, communicates ? others : values, communicates ? values : others);
}

static void expect_run(const struct run *run, const char *id, bool communicates)
{
    char name[128];
    struct metrics *metrics = run_make(run->seconds, communicates);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, id);
    snprintf(name, sizeof name, "%s: %s", id, run->name);
    expect_spoken(result, name, run->verdict, run->headline, run->analysis, run->suggestion);
    tap_equal_string(shape_name(result->shape), shape_name(run->shape), "%s: shape", name);
    bool lost = run->verdict == VERDICT_FAIR || run->verdict == VERDICT_POOR;
    tap_ok(result->is_deviation && result->master == -1 && result->cell_count == 0 &&
               exactly(result->lost, lost ? result->measure.imbalance : 0),
           "%s: a deviation, without a master; what is lost", name);
    heuristics_free(results);
    metrics_free(metrics);
}

#define RUNS(runs, id, communicates)                                                                                   \
    for (size_t i = 0; i < sizeof(runs) / sizeof *(runs); i++)                                                         \
    expect_run(&(runs)[i], id, communicates)

static void test_compute_few(void)
{
    static const struct run runs[] = {
        {"one overloaded", "1 1.1 1 4 1 1.1 1 1.1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "process 3 computes 3.8 times as long as the others",
         "Process 3 computes 4.00 s, the other 7 processes 1.00 s to 1.10 s (mean 1.04 s): one process overloaded.",
         "give process 3 less work, or find what it does that the others do not"},
        {"one a little overloaded", "1 1.4 1 1", SHAPE_FEW_HIGH, VERDICT_FAIR,
         "process 1 computes 40 % longer than the others",
         "Process 1 computes 1.40 s, the other 3 processes 1.00 s each: one process overloaded.",
         "give process 1 less work, or find what it does that the others do not"},
        {"one does all", "0 0 0 5", SHAPE_FEW_HIGH, VERDICT_POOR, "process 3 computes far longer than the others",
         "Process 3 computes 5.00 s, the other 3 processes 0 ns each: one process overloaded.",
         "give process 3 less work, or find what it does that the others do not"},
        {"several overloaded", "1 1 1 40 1 38 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "processes 3,5 compute 39 times as long as the others",
         "Processes 3,5 compute 39.0 s on average, the other 14 processes 1.00 s each: a few processes overloaded.",
         "give processes 3,5 less work, or find what they do that the others do not"},
        {"one idle", "1 1 0.1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR, "process 2 computes much less than the others",
         "Process 2 computes only 100 ms, the other 7 processes 1.00 s each: one process nearly idle.",
         "give process 2 more of the work"},
        {"one low", "1 1 0.5 1 1 1 1 1.1", SHAPE_FEW_LOW, VERDICT_FAIR, "process 2 computes much less than the others",
         "Process 2 computes only 500 ms, the other 7 processes 1.00 s to 1.10 s (mean 1.01 s): one process far below "
         "the others.",
         "give process 2 more of the work"},
        {"several idle", "1 1 1 1 0.04 0.06 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "processes 4,5 compute much less than the others",
         "Processes 4,5 compute only 50.0 ms on average, the other 14 processes 1.00 s each: a few processes nearly "
         "idle.",
         "give processes 4,5 more of the work"},
    };
    RUNS(runs, "stddev-compute", false);
}

#define DIVIDED "find what divides the groups: a remainder of the division of work, another kind of node, another input"
#define EVEN_ODD                                                                                                       \
    "find what even and odd ranks do differently: a red-black scheme, two processes on one core, a sender and a "      \
    "receiver"
#define IN_TURN "deal the work out in turn (cyclically) instead of in blocks by rank"

static void test_compute_many(void)
{
    static const struct run runs[] = {
        {"two groups", "1 1 1 1 2 2 2 2", SHAPE_TWO_GROUPS, VERDICT_POOR,
         "processes 4–7 compute 2.0 times as long as the others",
         "Two groups: processes 4–7 compute 2.00 s on average, the others (0–3) 1.00 s.", DIVIDED},
        {"odd ranks", "1 1.3 1 1.3", SHAPE_ALTERNATING, VERDICT_FAIR,
         "the odd ranks compute 30 % longer than the even ones",
         "Even and odd ranks alternate: the odd ranks compute 1.30 s on average, the even ones 1.00 s.", EVEN_ODD},
        {"even ranks", "3 0 3 0", SHAPE_ALTERNATING, VERDICT_POOR,
         "the even ranks compute far longer than the odd ones",
         "Even and odd ranks alternate: the even ranks compute 3.00 s on average, the odd ones 0 ns.", EVEN_ODD},
        {"gradient up", "1 2 3 4 5 6 7 8", SHAPE_GRADIENT, VERDICT_POOR, "the computing time grows with the rank",
         "A gradient over the ranks: the computing time grows with the rank, from 1.00 s on process 0 to 8.00 s on "
         "process 7.",
         IN_TURN},
        {"gradient down", "8 7 6 5 4 3 2 1", SHAPE_GRADIENT, VERDICT_POOR, "the computing time falls with the rank",
         "A gradient over the ranks: the computing time falls with the rank, from 8.00 s on process 0 to 1.00 s on "
         "process 7.",
         IN_TURN},
        {"pair", "1 3", SHAPE_PAIR, VERDICT_POOR, "process 1 computes 3.0 times as long as process 0",
         "Process 1 computes more (3.00 s, 50 % above the mean), process 0 less (1.00 s, 50 % below it).",
         "move work from process 1 to process 0"},
        {"scattered", "3 1 5 2 4", SHAPE_SCATTERED, VERDICT_POOR, "process 2 computes 5.0 times as long as process 1",
         "No simple pattern. Process 2 computes most (5.00 s, 67 % above the mean), process 1 least (1.00 s, 67 % "
         "below it).",
         "hand the work out in smaller pieces, as processes ask for it; process 2 has the most"},
    };
    RUNS(runs, "stddev-compute", false);
}

/* One of a thousand hardly moves the deviation, but all the others wait for it. */
static void test_straggler(void)
{
    enum { COUNT = 1024, LATE = 700 };
    double compute[COUNT], communication[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        compute[i] = i == LATE ? 30 : 10;
        communication[i] = 30 - compute[i];
    }
    struct metrics *metrics = metrics_make(COUNT, compute, communication);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "stddev-compute");
    expect_spoken(result, "a straggler", VERDICT_POOR, "process 700 computes 3.0 times as long as the others",
                  "Process 700 computes 30.0 s, the other 1023 processes 10.0 s each: one process overloaded.",
                  "give process 700 less work, or find what it does that the others do not");
    tap_equal_string(shape_name(result->shape), "few-high", "a straggler: shape");
    tap_ok(result->measure.variation < 0.1, "a straggler: its deviation alone would be good");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_compute_good(void)
{
    static const struct run runs[] = {
        {"equal", "1 1 1 1", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process computes 1.00 s.", NULL},
        {"nearly equal", "0.95 1.05 1 1", SHAPE_EVEN, VERDICT_GOOD, "",
         "Evenly spread: every process computes 950 ms to 1.05 s.", NULL},
        {"too little to matter", "1 2 1 2 of 50", SHAPE_ALTERNATING, VERDICT_GOOD, "",
         "The computing times differ (1.00 s on process 0 to 2.00 s on process 1), but the longest is only 500 ms "
         "above the mean, 1.0 % of the run: too little to matter.",
         NULL},
        {"just enough to matter", "1 2 1 2 of 49.9", SHAPE_ALTERNATING, VERDICT_POOR,
         "the odd ranks compute 2.0 times as long as the even ones",
         "Even and odd ranks alternate: the odd ranks compute 2.00 s on average, the even ones 1.00 s.", EVEN_ODD},
        {"nobody", "", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "", "There are no processes with events.", NULL},
        {"one", "1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "There is only one process: nothing to compare its computing time with.", NULL},
        {"nothing computed", "0 0 0 of 1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "No process has any computing time: nothing to compare.", NULL},
        {"10 %", "9 11", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process computes 9.00 s to 11.0 s.", NULL},
        {"10 % and 2 ns", "8.999999999 11.000000001", SHAPE_PAIR, VERDICT_FAIR,
         "process 1 computes 22 % longer than process 0",
         "Process 1 computes more (11.0 s, 10 % above the mean), process 0 less (9.00 s, 10 % below it).",
         "move work from process 1 to process 0"},
        {"25 %", "12.5 7.5", SHAPE_PAIR, VERDICT_FAIR, "process 0 computes 1.7 times as long as process 1",
         "Process 0 computes more (12.5 s, 25 % above the mean), process 1 less (7.50 s, 25 % below it).",
         "move work from process 0 to process 1"},
        {"25 % and 2 ns", "12.500000001 7.499999999", SHAPE_PAIR, VERDICT_POOR,
         "process 0 computes 1.7 times as long as process 1",
         "Process 0 computes more (12.5 s, 25 % above the mean), process 1 less (7.50 s, 25 % below it).",
         "move work from process 0 to process 1"},
    };
    RUNS(runs, "stddev-compute", false);
}

static void test_communication(void)
{
    static const struct run runs[] = {
        {"one high", "1 1 2 1", SHAPE_FEW_HIGH, VERDICT_POOR, "process 2 communicates 2.0 times as long as the others",
         "Process 2 communicates 2.00 s, the other 3 processes 1.00 s each: one process far above the others.",
         "see which functions process 2 is in: sight chart activity"},
        {"several high", "2 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_HIGH, VERDICT_POOR,
         "processes 0,1 communicate 2.0 times as long as the others",
         "Processes 0,1 communicate 2.00 s on average, the other 14 processes 1.00 s each: a few processes far above "
         "the others.",
         "see which functions processes 0,1 are in: sight chart activity"},
        {"one hardly", "1 1 0.01 1", SHAPE_FEW_LOW, VERDICT_POOR, "process 2 communicates much less than the others",
         "Process 2 communicates only 10.0 ms, the other 3 processes 1.00 s each: one process nearly without "
         "communication.",
         "see which functions process 0 is in, and process 2 is not: sight chart activity"},
        {"several hardly", "1 1 0.1 1 1 0.1 1 1 1 1 1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "processes 2,5 communicate much less than the others",
         "Processes 2,5 communicate only 100 ms on average, the other 14 processes 1.00 s each: a few processes nearly "
         "without communication.",
         "see which functions process 0 is in, and process 2 is not: sight chart activity"},
        {"alternating", "3 1 3 1", SHAPE_ALTERNATING, VERDICT_POOR,
         "the even ranks communicate 3.0 times as long as the odd ones",
         "Even and odd ranks alternate: the even ranks communicate 3.00 s on average, the odd ones 1.00 s.",
         "see which functions process 0 is in, and process 1 is not: sight chart activity"},
        {"gradient", "1 2 3 4", SHAPE_GRADIENT, VERDICT_POOR, "the communication time grows with the rank",
         "A gradient over the ranks: the communication time grows with the rank, from 1.00 s on process 0 to 4.00 s on "
         "process 3.",
         "see which functions process 3 is in, and process 0 is not: sight chart activity"},
        {"pair", "3 1", SHAPE_PAIR, VERDICT_POOR, "process 0 communicates 3.0 times as long as process 1",
         "Process 0 communicates more (3.00 s, 50 % above the mean), process 1 less (1.00 s, 50 % below it).",
         "see which functions process 0 is in, and process 1 is not: sight chart activity"},
        {"even", "1 1", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process communicates 1.00 s.", NULL},
        {"none", "0 0", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "No process has any communication time: nothing to compare.", NULL},
        {"one process", "1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "There is only one process: nothing to compare its communication time with.", NULL},
        {"mirror of computing", "1 2 3 4 of 10", SHAPE_GRADIENT, VERDICT_POOR,
         "the communication time grows with the rank",
         "A gradient over the ranks: the communication time grows with the rank, from 1.00 s on process 0 to 4.00 s on "
         "process 3. These times mirror the computing times: who computes less spends more time in MPI.",
         "even out the computing first: the times in MPI follow it"},
        {"too little to matter", "1 2 of 100", SHAPE_PAIR, VERDICT_GOOD, "",
         "The communication times differ (1.00 s on process 0 to 2.00 s on process 1), but the longest is only 500 ms "
         "above the mean, 0.5 % of the run: too little to matter.",
         NULL},
    };
    RUNS(runs, "stddev-communication", true);
}

#define AT_DIFFERENT_TIMES "processes start or end at different times: look at what process "

static void test_total(void)
{
    static const struct run runs[] = {
        {"one long", "1 1 2 1", SHAPE_FEW_HIGH, VERDICT_POOR, "process 2 runs 2.0 times as long as the others",
         "Process 2 runs 2.00 s, the other 3 processes 1.00 s each: one process far above the others.",
         AT_DIFFERENT_TIMES "2 does before or after the others"},
        {"one short", "1 1 0.1 1", SHAPE_FEW_LOW, VERDICT_POOR, "process 2 runs much less than the others",
         "Process 2 runs only 100 ms, the other 3 processes 1.00 s each: one process nearly absent.",
         "find why process 2 starts later or ends earlier than the others"},
        {"several short", "1 1 0.1 1 1 1 1 1 1 0.1 1 1 1 1 1 1", SHAPE_FEW_LOW, VERDICT_POOR,
         "processes 2,9 run much less than the others",
         "Processes 2,9 run only 100 ms on average, the other 14 processes 1.00 s each: a few processes nearly absent.",
         "find why processes 2,9 start later or end earlier than the others"},
        {"two groups", "1 1 1 3 3 3", SHAPE_TWO_GROUPS, VERDICT_POOR,
         "processes 3–5 run 3.0 times as long as the others",
         "Two groups: processes 3–5 run 3.00 s on average, the others (0–2) 1.00 s.",
         AT_DIFFERENT_TIMES "3 does before or after the others"},
        {"gradient", "4 3 2 1", SHAPE_GRADIENT, VERDICT_POOR, "the total time falls with the rank",
         "A gradient over the ranks: the total time falls with the rank, from 4.00 s on process 0 to 1.00 s on process "
         "3.",
         AT_DIFFERENT_TIMES "0 does before or after the others"},
        {"pair", "1 3", SHAPE_PAIR, VERDICT_POOR, "process 1 runs 3.0 times as long as process 0",
         "Process 1 runs more (3.00 s, 50 % above the mean), process 0 less (1.00 s, 50 % below it).",
         AT_DIFFERENT_TIMES "1 does before or after the other"},
        {"even", "1 2 1 2 of 10", SHAPE_EVEN, VERDICT_GOOD, "", "Evenly spread: every process runs 10.0 s.", NULL},
        {"nothing", "0 0", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "", "No process has any total time: nothing to compare.",
         NULL},
        {"one process", "1", SHAPE_UNKNOWN, VERDICT_UNKNOWN, "",
         "There is only one process: nothing to compare its total time with.", NULL},
    };
    RUNS(runs, "stddev-total", false);
}

static void test_balanced(void)
{
    static const char *const ids[] = {"stddev-communication", "stddev-compute", "stddev-total"};
    static double tenths[1024];
    for (size_t i = 0; i < 1024; i++)
        tenths[i] = 0.1;
    for (size_t count = 2; count <= 1024; count *= 2) {
        struct metrics *metrics = metrics_make(count, tenths, tenths);
        struct heuristic_result *results = heuristics_judge(metrics);
        for (size_t i = 0; i < 3; i++) {
            const struct heuristic_result *result = heuristics_find(results, ids[i]);
            tap_ok(result->verdict == VERDICT_GOOD && exactly(result->index, 0) && exactly(result->share, 0) &&
                       result->suggestion_count == 0 && exactly(result->lost, 0) && result->shape == SHAPE_EVEN,
                   "%zu balanced processes: %s is good, 0, without a suggestion", count, ids[i]);
        }
        heuristics_free(results);
        metrics_free(metrics);
    }
}

static void test_numbers(void)
{
    struct metrics *metrics = metrics_make(4, (const double[]){2, 4, 6, 8}, NULL);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "stddev-compute");
    expect_number(result->index, sqrt(5), "a deviation's index");
    expect_number(result->mean, 5, "a deviation's mean");
    expect_number(result->share, sqrt(5) / 5, "a deviation's share is its variation");
    expect_number(result->lost, 3, "a deviation's loss is the imbalance");
    static const struct {
        const char *name;
        double value;
    } details[] = {{"processes", 4},   {"least_s", 2},  {"most_s", 8},  {"most_over_mean", 1.6},
                   {"imbalance_s", 3}, {"median_s", 5}, {"gini", 0.25}, {"median_distance_s", 2}};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        expect_number(detail_of(result, details[i].name), details[i].value, details[i].name);
    expect_number(detail_of(result, "variation"), sqrt(5) / 5, "variation");
    tap_ok(heuristics_find(results, "no-such") == NULL, "an id that no heuristic has");
    heuristics_free(results);
    metrics_free(metrics);
}

#define WITHOUT_EVEN "Without the master: deviation 0 ns (0.0 % of the mean): good."
#define MIRRORED " These times mirror the computing times: who computes less spends more time in MPI."

struct master_run {
    const char *name, *compute, *communication;
    enum verdict verdict;
    const char *headline, *analysis, *suggestion;
};

static void expect_master_run(const struct master_run *run, const char *id)
{
    double compute[VALUES], communication[VALUES] = {0};
    const char *rest;
    size_t count = values_of(run->compute, compute, &rest);
    values_of(run->communication, communication, &rest);
    struct metrics *metrics = star_make(count, 0, compute, communication);
    expect_judged(metrics, id, run->name, run->verdict, run->headline, run->analysis, run->suggestion);
    metrics_free(metrics);
}

static void test_master_computes(void)
{
    static const struct master_run cases[] = {
        {"even workers", "0.05 1 1 1 1 1 1 1", "", VERDICT_POOR,
         "process 0 is a master that hardly computes beside its workers",
         "Process 0 is the master of 7 workers: it hardly computes (50.0 ms), they compute 1.00 s each. " WITHOUT_EVEN,
         NULL},
        {"workers a little uneven", "0.4 0.95 1.05", "", VERDICT_POOR,
         "process 0 is a master that computes less than its workers",
         "Process 0 is the master of 2 workers: it computes 400 ms, they compute 950 ms to 1.05 s. Without the master: "
         "deviation 50.0 ms (5.0 % of the mean): good.",
         NULL},
        {"one worker overloaded", "0.4 1 1 1 4 1 1 1", "", VERDICT_POOR,
         "process 0 is a master that computes less than its workers",
         "Process 0 is the master of 7 workers: it computes 400 ms, they compute 1.00 s to 4.00 s. Without the master: "
         "deviation 1.05 s (73 % of the mean): poor. Among the workers: process 4 computes 4.00 s, the other 6 "
         "processes 1.00 s each: one process overloaded.",
         "give process 4 less work, or find what it does that the others do not"},
        {"two workers", "0 1 1.5", "", VERDICT_POOR, "process 0 is a master that hardly computes beside its workers",
         "Process 0 is the master of 2 workers: it hardly computes (0 ns), they compute 1.00 s to 1.50 s. Without the "
         "master: deviation 250 ms (20 % of the mean): fair. Among the workers: process 2 computes more (1.50 s, 20 % "
         "above the mean), process 1 less (1.00 s, 20 % below it).",
         "move work from process 2 to process 1"},
        {"two groups of workers", "0 1 1 3 3", "", VERDICT_POOR,
         "process 0 is a master that hardly computes beside its workers",
         "Process 0 is the master of 4 workers: it hardly computes (0 ns), they compute 1.00 s to 3.00 s. Without the "
         "master: deviation 1.00 s (50 % of the mean): poor. Among the workers: two groups: processes 3,4 compute 3.00 "
         "s on average, the others (1,2) 1.00 s.",
         DIVIDED},
        {"workers in a gradient", "0 1 2 3 4", "", VERDICT_POOR,
         "process 0 is a master that hardly computes beside its workers",
         "Process 0 is the master of 4 workers: it hardly computes (0 ns), they compute 1.00 s to 4.00 s. Without the "
         "master: deviation 1.12 s (45 % of the mean): poor. Among the workers: a gradient over the ranks: the "
         "computing time grows with the rank, from 1.00 s on process 1 to 4.00 s on process 4.",
         IN_TURN},
        {"scattered workers", "0 3 1 5 2 4", "", VERDICT_POOR,
         "process 0 is a master that hardly computes beside its workers",
         "Process 0 is the master of 5 workers: it hardly computes (0 ns), they compute 1.00 s to 5.00 s. Without the "
         "master: deviation 1.41 s (47 % of the mean): poor. Among the workers: no simple pattern. Process 3 computes "
         "most (5.00 s, 67 % above the mean), process 2 least (1.00 s, 67 % below it).",
         "hand the work out in smaller pieces, as processes ask for it; process 3 has the most"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_master_run(&cases[i], "stddev-compute");
}

static void test_master_communicates(void)
{
    static const struct master_run cases[] = {
        {"a master that communicates, even workers", "0.1 1 1 1", "1 0.1 0.1 0.1", VERDICT_POOR,
         "process 0 is a master that communicates longer than its workers",
         "Process 0 is the master of 3 workers: it communicates 1.00 s, they communicate 100 ms each. " WITHOUT_EVEN
             MIRRORED,
         NULL},
        {"a master that communicates, uneven workers", "0 1 1.8 1", "2 1 0.2 1", VERDICT_POOR,
         "process 0 is a master that communicates longer than its workers",
         "Process 0 is the master of 3 workers: it communicates 2.00 s, they communicate 200 ms to 1.00 s. Without the "
         "master: deviation 377 ms (51 % of the mean): poor. Among the workers: process 2 communicates only 200 ms, "
         "the other 2 processes 1.00 s each: one process nearly without communication." MIRRORED,
         "even out the computing first: the times in MPI follow it"},
        {"a master that hardly communicates", "0 1 1 1", "0.01 1 1 1", VERDICT_POOR,
         "process 0 is a master that hardly communicates beside its workers",
         "Process 0 is the master of 3 workers: it hardly communicates (10.0 ms), they communicate 1.00 s "
         "each. " WITHOUT_EVEN,
         NULL},
        {"a master that communicates less", "0 1 1 1", "0.5 1 1 1", VERDICT_FAIR,
         "process 0 is a master that communicates less than its workers",
         "Process 0 is the master of 3 workers: it communicates 500 ms, they communicate 1.00 s each. " WITHOUT_EVEN,
         NULL},
        {"workers that take no time to communicate", "0 1 1 1", "1 0 0 0", VERDICT_POOR,
         "process 0 is a master that communicates longer than its workers",
         "Process 0 is the master of 3 workers: it communicates 1.00 s, they communicate 0 ns each." MIRRORED, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_master_run(&cases[i], "stddev-communication");
}

static void test_master_numbers(void)
{
    struct metrics *metrics = star_make(4, 2, (const double[]){1, 3, 0, 2}, NULL);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *compute = heuristics_find(results, "stddev-compute"),
                                  *total = heuristics_find(results, "stddev-total");
    tap_equal_int(compute->master, 2, "the master is in the result");
    expect_number(compute->lost, 1.5, "what is lost is the imbalance with the master");
    expect_number(detail_of(compute, "deviation_without_master_s"), sqrt(2.0 / 3), "deviation without the master");
    expect_number(detail_of(compute, "variation_without_master"), sqrt(2.0 / 3) / 2, "variation without the master");
    tap_ok(total->master == -1 && strstr(total->headline, "master") == NULL, "total times have no master");
    heuristics_free(results);
    metrics_free(metrics);
    metrics = star_make(4, 0, (const double[]){0.01, 0.02, 0.02, 0.02}, (const double[]){9, 9, 9, 9});
    results = heuristics_judge(metrics);
    compute = heuristics_find(results, "stddev-compute");
    tap_ok(master_of(metrics) == 0 && compute->master == -1 && compute->verdict == VERDICT_GOOD,
           "a master does not stand apart where the difference is too little to matter");
    heuristics_free(results);
    metrics_free(metrics);
}

static void expect_master(struct metrics *metrics, int64_t want, const char *name)
{
    tap_equal_int(master_of(metrics), want, "master: %s", name);
    metrics_free(metrics);
}

static void test_master_of(void)
{
    static const double at_first[] = {0, 1, 1, 1, 1}, even[] = {1, 1, 1, 1, 1}, half[] = {0.5, 1, 1, 1},
                        over_half[] = {0.500000001, 1, 1, 1}, at_last[] = {1, 1, 1, 0};
    expect_master(star_make(3, 0, at_first, NULL), 0, "of three processes");
    expect_master(star_make(2, 0, at_first, NULL), -1, "two processes have none");
    expect_master(star_make(4, 3, at_last, NULL), 3, "of the last rank");
    expect_master(star_make(4, 0, even, NULL), -1, "who computes as much as the others is none");
    expect_master(star_make(4, 0, half, NULL), 0, "computes half of what the others do");
    expect_master(star_make(4, 0, over_half, NULL), -1, "computes more than half");
    expect_master(metrics_make(4, at_first, NULL), -1, "none without messages");
    struct metrics *metrics = metrics_make(4, at_first, NULL);
    for (size_t i = 1; i < 4; i++)
        messages_add(metrics, i, 0, 5);
    expect_master(metrics, 0, "one who only receives");
    metrics = metrics_make(4, at_first, NULL);
    for (size_t i = 0; i < 4; i++)
        messages_add(metrics, i, (i + 1) % 4, 5);
    expect_master(metrics, -1, "none in a ring");
}

static void test_master_limits(void)
{
    static const double compute[] = {0, 1, 1, 1, 1};
    /* 8 ends of 20 are the hub's, then 8 of 22. */
    for (uint64_t beside = 2; beside <= 3; beside++) {
        struct metrics *metrics = metrics_make(3, compute, NULL);
        messages_add(metrics, 0, 1, 4);
        messages_add(metrics, 0, 2, 4);
        messages_add(metrics, 1, 2, beside);
        expect_master(metrics, beside == 2 ? 0 : -1, beside == 2 ? "has 80 % of the messages" : "has less than 80 %");
    }
    for (size_t partners = 2; partners <= 3; partners++) {
        struct metrics *metrics = metrics_make(5, compute, NULL);
        for (size_t i = 1; i <= partners; i++)
            messages_add(metrics, 0, i, 4);
        expect_master(metrics, partners == 3 ? 0 : -1,
                      partners == 3 ? "three quarters of the others" : "half of the others");
    }
    struct metrics *metrics = metrics_make(5, compute, NULL);
    for (size_t i = 0; i <= 2; i++)
        messages_add(metrics, 0, i, 4);
    expect_master(metrics, -1, "messages to itself make no partner");
    metrics = metrics_make(5, compute, NULL);
    messages_add(metrics, 0, 1, 4);
    messages_add(metrics, 0, 2, 4);
    struct process_row *hub = &metrics->process[0];
    partner_add(&hub->sent, &hub->sent_count, PARTNER_NONE, 4);
    partner_add(&hub->sent, &hub->sent_count, EVENT_UNKNOWN, 4);
    expect_master(metrics, -1, "nobody and unknown are no partners");
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

/* Cells as "0 MPI_Recv 0.2; 1 all 0.05". */
static void expect_cells(const struct heuristic_result *result, const char *want, const char *name)
{
    char got[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < result->cell_count && used < sizeof got; i++) {
        const struct cell *cell = &result->cells[i];
        used +=
            (size_t)snprintf(got + used, sizeof got - used, "%s%u %s %.12g", i ? "; " : "", cell->rank,
                             cell->state == CELL_ALL_FUNCTIONS ? "all" : defs->states[cell->state].name, cell->index);
    }
    tap_equal_string(got, want, "%s: cells", name);
}

static void expect_index(const struct heuristic_result *result, double index, double mean, const char *name)
{
    tap_ok(near(result->index, index) && near(result->share, index) && near(result->mean, mean) &&
               !result->is_deviation && result->master == -1,
           "%s: index and mean", name);
}

/* Two processes, ten seconds. Process 1 has a second of its receives' time inside nested calls. */
static struct metrics *aims_make(void)
{
    struct metrics *metrics = metrics_make(2, (const double[]){6, 5}, (const double[]){4, 5});
    calls_add(metrics, 0, "MPI_Barrier", 2, 0.5, 0.5, 0.25);
    calls_add(metrics, 0, "MPI_File_write", 1, 1, 1, 1);
    calls_add(metrics, 0, "MPI_Recv", 2, 2, 2, 0.5);
    calls_add(metrics, 0, "MPI_Send", 4, 1, 1, 0.1);
    calls_add(metrics, 0, "MPI_Win_fence", 1, 0.5, 0.5, 0.5);
    calls_add(metrics, 0, "work", 3, 5, 5, 1);
    calls_add(metrics, 1, "MPI_Barrier", 2, 1.4, 1.4, 0.5);
    calls_add(metrics, 1, "MPI_Recv", 2, 4, 2.8, 1);
    calls_add(metrics, 1, "MPI_Send", 1, 0.2, 0.2, 0.2);
    messages_add(metrics, 0, 1, 4);
    messages_add(metrics, 1, 0, 1);
    return metrics;
}

#define BLOCKED                                                                                                        \
    " of the processes' time is spent blocked: what calls take longer than the run's shortest call of the "            \
    "same function. "
#define UNMATCHED "Messages are not matched across processes here, so transfers of more data count too."

static void test_locators(void)
{
    struct metrics *metrics = aims_make();
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "communication-locator");
    expect_cells(result, "0 MPI_Recv 0.2; 0 MPI_Send 0.1; 1 MPI_Recv 0.28; 1 MPI_Send 0.02", "communication locator");
    expect_index(result, 0.3, 0.15, "communication locator");
    expect_spoken(result, "communication locator", VERDICT_POOR, "",
                  "30 % of the processes' time is spent in communication. By function: MPI_Recv 24 % (most on process "
                  "1: 28 %), MPI_Send 6.0 % (most on process 0: 10 %).",
                  "begin with MPI_Recv on process 1");
    tap_ok(near(detail_of(result, "processes"), 2) && near(detail_of(result, "duration_s"), 10) &&
               near(detail_of(result, "sum_s"), 6),
           "communication locator: details");
    result = heuristics_find(results, "synchronisation-locator");
    expect_cells(result, "0 MPI_Barrier 0.05; 0 MPI_Win_fence 0.05; 1 MPI_Barrier 0.14", "synchronisation locator");
    expect_index(result, 0.12, 0.08, "synchronisation locator");
    expect_spoken(result, "synchronisation locator", VERDICT_FAIR, "",
                  "12 % of the processes' time is spent in synchronisation. By function: MPI_Barrier 9.5 % (most on "
                  "process 1: 14 %), MPI_Win_fence 2.5 % (most on process 0: 5.0 %).",
                  "see whether each barrier is needed: messages and collectives order the processes already");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_overhead_and_contention(void)
{
    struct metrics *metrics = aims_make();
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "communication-overhead");
    expect_cells(result, "0 all 0.04; 1 all 0.01", "communication overhead");
    expect_index(result, 0.025, 0.025, "communication overhead");
    expect_spoken(result, "communication overhead", VERDICT_GOOD, "",
                  "5 messages (100 B on average) at 100 ms each, the shortest send of the run, make 2.5 % of the "
                  "processes' time.",
                  NULL);
    tap_ok(near(detail_of(result, "messages"), 5) && near(detail_of(result, "shortest_send_s"), 0.1),
           "communication overhead: details");
    result = heuristics_find(results, "contention");
    expect_cells(result, "0 MPI_Recv 0.1; 0 MPI_Send 0.06; 1 MPI_Barrier 0.09; 1 MPI_Recv 0.28; 1 MPI_Send 0.01",
                 "contention, no more than the exclusive time");
    expect_index(result, 0.27, 0.108, "contention");
    expect_spoken(result, "contention", VERDICT_POOR, "",
                  "At most 27 %" BLOCKED
                  "By function: MPI_Recv 19 % (most on process 1: 28 %), MPI_Barrier 4.5 % (most on process 1: 9.0 %), "
                  "MPI_Send 3.5 % (most on process 0: 6.0 %). " UNMATCHED,
                  "look for who is waited for: the process with the longest computing time or the most messages");
    heuristics_free(results);
    metrics_free(metrics);
}

/* One second of each function: what counts as what, and that three functions are said. */
static void test_classes(void)
{
    struct metrics *metrics = metrics_make(1, (const double[]){80}, (const double[]){20});
    for (size_t i = 0; i < STATES; i++)
        calls_add(metrics, 0, names[i], 1, 1, 1, 1);
    struct heuristic_result *results = heuristics_judge(metrics);
    const struct heuristic_result *result = heuristics_find(results, "communication-locator");
    expect_cells(
        result,
        "0 MPI_Allreduce 0.01; 0 MPI_Iprobe 0.01; 0 MPI_Isendrecv 0.01; 0 MPI_Pready 0.01; 0 MPI_Put 0.01; 0 MPI_Recv "
        "0.01; 0 MPI_Send 0.01; 0 MPI_Send_init 0.01; 0 MPI_Sendrecv 0.01; 0 MPI_Start 0.01; 0 MPI_Waitall 0.01",
        "communication is what moves data");
    tap_equal_string(
        result->analysis,
        "11 % of the processes' time is spent in communication. By function: MPI_Allreduce 1.0 % (most on process 0: "
        "1.0 %), MPI_Iprobe 1.0 % (most on process 0: 1.0 %), MPI_Isendrecv 1.0 % (most on process 0: 1.0 %).",
        "three functions are said, equal ones by place");
    result = heuristics_find(results, "synchronisation-locator");
    expect_cells(result, "0 MPI_Barrier 0.01; 0 MPI_Win_fence 0.01; 0 PMPI_Win_fence 0.01",
                 "synchronisation is barriers and epochs, by either name");
    expect_cells(heuristics_find(results, "contention"), "", "the shortest call is not blocked");
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_quiet(void)
{
#define NO_DURATION "The run has no duration: there is nothing to compare with."
    static const struct {
        const char *id, *of_run, *of_nothing;
    } cases[] = {
        {"communication-locator", "0.0 % of the processes' time is spent in communication.", NO_DURATION},
        {"synchronisation-locator", "No time is spent in barriers or in synchronising windows.", NO_DURATION},
        {"communication-overhead", "No message was sent.", "No message was sent."},
        {"contention", "At most 0.0 %" BLOCKED UNMATCHED, NO_DURATION},
    };
#undef NO_DURATION
    struct metrics *run = run_make("1 1", false), *nothing = run_make("", false), *instant = run_make("0 0", false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *id = cases[i].id;
        expect_judged(run, id, id, VERDICT_GOOD, "", cases[i].of_run, NULL);
        expect_judged(nothing, id, id, VERDICT_UNKNOWN, "", cases[i].of_nothing, NULL);
        expect_judged(instant, id, id, VERDICT_UNKNOWN, "", cases[i].of_nothing, NULL);
    }
    metrics_free(run);
    metrics_free(nothing);
    metrics_free(instant);
}

static void test_overhead_sends(void)
{
    static const char id[] = "communication-overhead";
    struct metrics *metrics = metrics_make(2, (const double[]){10, 10}, NULL);
    for (size_t i = 0; i < STATES; i++)
        calls_add(metrics, 0, names[i], 1, 0.2, 0.2, strcmp(names[i], "MPI_Send") == 0 ? 0.2 : 0.1);
    calls_add(metrics, 1, "MPI_Send", 0, 0, 0, 0);
    expect_judged(metrics, id, "sends to nobody", VERDICT_GOOD, "", "No message was sent.", NULL);
    messages_add(metrics, 0, 1, 1);
    expect_judged(metrics, id, "one message; only what does nothing but send tells its cost", VERDICT_GOOD, "",
                  "1 message (100 B) at 200 ms, the shortest send of the run, makes 1.0 % of the processes' time.",
                  NULL);
    messages_add(metrics, 1, 0, 10);
    expect_judged(metrics, id, "many messages", VERDICT_FAIR, "",
                  "11 messages (100 B on average) at 200 ms each, the shortest send of the run, make 11 % of the "
                  "processes' time.",
                  "combine messages to the same process into fewer, larger ones");
    metrics_free(metrics);
    metrics = metrics_make(2, (const double[]){10, 10}, NULL);
    calls_add(metrics, 0, "MPI_Sendrecv", 1, 1, 1, 1);
    messages_add(metrics, 0, 1, 1);
    expect_judged(metrics, id, "messages without a send", VERDICT_UNKNOWN, "",
                  "Messages were sent, but no call that sends tells how long one takes.", NULL);
    metrics_free(metrics);
}

static void test_table(void)
{
    static const char *const ids[] = {
        "stddev-communication",    "stddev-compute",         "stddev-total", "communication-locator",
        "synchronisation-locator", "communication-overhead", "contention"};
    tap_equal_int((long long)heuristic_count(), sizeof ids / sizeof *ids, "as many heuristics as known here");
    for (size_t i = 0; i < sizeof ids / sizeof *ids && i < heuristic_count(); i++)
        tap_equal_string(heuristic_at(i)->id, ids[i], "the table's row %zu", i);
}

int main(void)
{
    defs_make();
    test_measure();
    test_measure_limits();
    test_correlation();
    test_series_without();
    test_ranks_text();
    test_shapes();
    test_shape_limits();
    test_pair();
    test_verdicts();
    test_results();
    test_compute_few();
    test_compute_many();
    test_straggler();
    test_compute_good();
    test_communication();
    test_total();
    test_balanced();
    test_numbers();
    test_master_computes();
    test_master_communicates();
    test_master_numbers();
    test_master_of();
    test_master_limits();
    test_efficiency();
    test_locators();
    test_overhead_and_contention();
    test_classes();
    test_quiet();
    test_overhead_sends();
    test_table();
    defs_free(defs);
    return tap_done();
}
