/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of imbalance: each at several sizes, and where one rule ends and the next begins. */
#include "unit/judged.h"

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
    tap_ok(pattern.far_count == 1 && pattern.far[0] == 6 && near(pattern.far_mean, 3), "pair: the process with more");
    tap_ok(pattern.rest_count == 1 && pattern.rest[0] == 7 && near(pattern.rest_mean, 1),
           "pair: the process with less");
    pattern_clear(&pattern);
    tap_ok(!pattern.far && !pattern.rest && pattern.far_count == 0, "a cleared pattern is empty");
    series_clear(&series);
}

static void expect_difference(const char *name, size_t count, const double *value, enum shape want)
{
    struct series series = series_make(count, value, 0);
    struct measure measure = measure_of(&series);
    struct pattern pattern = pattern_of_differences(&series, &measure);
    tap_equal_string(shape_name(pattern.shape), shape_name(want), "differences: %s", name);
    pattern_clear(&pattern);
    series_clear(&series);
}

/* Of values that pattern_of calls even. */
static void test_differences(void)
{
    expect_difference("one a little above", 4, (const double[]){10, 10, 10, 11}, SHAPE_FEW_HIGH);
    expect_difference("of two one", 2, (const double[]){10, 11}, SHAPE_PAIR);
    expect_difference("growing a little", 4, (const double[]){10, 10.3, 10.6, 11}, SHAPE_GRADIENT);
    expect_difference("two groups", 4, (const double[]){10, 10, 11, 11}, SHAPE_TWO_GROUPS);
    expect_difference("nothing to compare", 2, (const double[]){0, 0}, SHAPE_UNKNOWN);
}

int main(void)
{
    test_shapes();
    test_differences();
    test_shape_limits();
    test_pair();
    return tap_done();
}
