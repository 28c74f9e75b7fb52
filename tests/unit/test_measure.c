/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures of dispersion: numbers computed by hand, and where rounding could spoil them. */
#include "unit/judged.h"

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
        {5, {1, 3, 5, 7, 9}, "1,3,5,7,9"},
        {6, {1, 3, 5, 7, 9, 11}, "1,3,5 and 3 more"},
        {14, {1, 2, 3, 5, 7, 8, 9, 11, 13, 15, 17, 18, 19, 21}, "1–3,5,7–9 and 7 more"},
        {4, {997, 998, 999, 1000}, "997–1,000"},
        {4, {7, 999, 1024, 1025}, "7, 999, 1,024, 1,025"},
    };
    char buffer[RANKS_TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_equal_string(ranks_text(buffer, cases[i].ranks, cases[i].count), cases[i].text, "ranks: \"%s\"",
                         cases[i].text);
    uint32_t odd[1024];
    for (uint32_t i = 0; i < 1024; i++)
        odd[i] = 2 * i + 1000001;
    tap_equal_string(ranks_text(buffer, odd, 1024), "1,000,001, 1,000,003, 1,000,005 and 1,021 more", "ranks: many");
}

int main(void)
{
    test_measure();
    test_measure_limits();
    test_correlation();
    test_series_without();
    test_ranks_text();
    return tap_done();
}
