/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of charts: axes, scales of heat, traffic, the largest functions, colours. */
#include "core/text.h"
#include "heuristics/traffic.h"
#include "render/charts/chart.h"
#include "render/charts/heat.h"
#include "render/charts/palette.h"
#include "render/functions.h"
#include "unit/hand_metrics.h"

#include <stdio.h>

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fmax(1e-9, fabs(want));
}

static void expect_near(double got, double want, const char *name)
{
    if (!tap_ok(near(got, want), "%s", name))
        printf("#  got %.17g\n# want %.17g\n", got, want);
}

/* Axes */

static void test_rounding(void)
{
    static const struct {
        double value, up;
    } cases[] = {{1, 1},   {1.001, 2}, {2, 2},    {2.1, 5},     {4.99, 5},    {5, 5},       {5.01, 10},    {9.99, 10},
                 {10, 10}, {0.3, 0.5}, {0.1, .1}, {3e-9, 5e-9}, {7e18, 1e19}, {1000, 1000}, {0.001, 0.001}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tap_ok(near(axis_round_up(cases[i].value), cases[i].up), "%g rounded up", cases[i].value);
    }
}

static void test_seconds(void)
{
    static const struct {
        double most, top, step, unit;
        const char *name;
    } cases[] = {{0, 1, 1, 1, "s"},
                 {1, 1, 0.2, 1, "s"},
                 {0.99, 1, 0.2, 1, "s"},
                 {1.01, 1.5, 0.5, 1, "s"},
                 {0.18, 0.2, 0.05, 1e-3, "ms"},
                 {0.0007, 0.0008, 0.0002, 1e-6, "µs"},
                 {3e-9, 3e-9, 1e-9, 1e-9, "ns"},
                 {9999, 10000, 2000, 1, "s"},
                 {12345, 14400, 3600, 3600, "hours"},
                 {123456, 144000, 36000, 3600, "hours"},
                 {400000, 432000, 86400, 86400, "days"},
                 {9.2e9, 86400.0 * 150000, 86400.0 * 50000, 86400, "days"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct value_axis axis = axis_of_seconds((struct area){0, 0, 100, 100}, cases[i].most);
        if (!tap_ok(near(axis.top, cases[i].top) && near(axis.step, cases[i].step) && near(axis.unit, cases[i].unit),
                    "axis up to %g s", cases[i].most))
            printf("# top %g, step %g, unit %g\n", axis.top, axis.step, axis.unit);
        tap_equal_string(axis.name, cases[i].name, "axis up to %g s: its unit", cases[i].most);
        double ticks = axis.top / axis.step;
        tap_ok(ticks >= 1 && ticks <= 5.5 && near(ticks, round(ticks)),
               "axis up to %g s: at most 5 ticks, one at the top", cases[i].most);
    }
    struct value_axis axis = axis_of_seconds((struct area){10, 20, 100, 200}, 1);
    expect_near(axis_y(&axis, 0), 220, "0 is at the bottom");
    expect_near(axis_y(&axis, 1), 20, "the most is at the top");
    expect_near(axis_y(&axis, 0.25), 170, "a quarter");
    char number[TEXT_NUMBER_SIZE];
    tap_equal_string(axis_number(&axis, 0.9, number), "0.90", "a number of three digits");
    tap_equal_string(axis_number(&axis, 12.34, number), "12.3", "a number with one decimal");
    tap_equal_string(axis_number(&axis, 123.4, number), "123", "a number with none");
    tap_equal_string(axis_number(&axis, 9.996, number), "10.0", "a number that rounds to one digit more");
    tap_equal_string(axis_number(&axis, 0, number), "0", "0");
    axis.unit = 1e-3;
    tap_equal_string(axis_number(&axis, 0.0123, number), "12.3", "a number in the unit of its axis");
}

static void test_columns(void)
{
    static const struct {
        size_t rows;
        double width, least;
        size_t columns, per_column;
    } cases[] = {{1, 100, 5, 1, 1},   {20, 100, 5, 20, 1}, {21, 100, 5, 11, 2}, {4097, 700, 4, 171, 24},
                 {40, 100, 5, 20, 2}, {7, 3, 5, 1, 7},     {0, 100, 5, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metrics metrics = {.process_count = cases[i].rows};
        struct rank_axis axis = axis_of_ranks(&metrics, 50, cases[i].width, cases[i].least);
        if (!tap_ok(axis.columns == cases[i].columns && axis.per_column == cases[i].per_column,
                    "%zu processes on %g pixels, %g each", cases[i].rows, cases[i].width, cases[i].least))
            printf("# %zu columns of %zu\n", axis.columns, axis.per_column);
        size_t rows = 0, end = 0;
        bool good = true;
        for (size_t column = 0; column < axis.columns; column++) {
            good &= axis_column_rows(&axis, column, &end) == rows && end > rows;
            rows = end;
        }
        tap_ok(good && rows == cases[i].rows, "%zu processes: each in one column", cases[i].rows);
    }
}

/* Labels of ranks on `width` pixels: how many; they are apart by at least `apart`. */
static size_t labels_of(struct output *output, size_t rows, double width, double *apart)
{
    struct canvas_options options = {.theme = THEME_LIGHT};
    struct defs *defs = defs_new();
    struct metrics *metrics = hand_metrics(defs, rows, 1, 0);
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, width + 200, 100, &options);
    struct rank_axis axis = axis_of_ranks(metrics, 100, width, 4);
    size_t count;
    axis_draw_ranks(canvas, &axis, 20, "process");
    const struct text_box *boxes = canvas_text_boxes(canvas, &count);
    *apart = INFINITY;
    for (size_t i = 1; i + 1 < count; i++)
        *apart = fmin(*apart, boxes[i].x - boxes[i - 1].x - boxes[i - 1].width);
    if (canvas_texts_left_out(canvas) > 0)
        *apart = -1;
    canvas_free(canvas);
    metrics_free(metrics);
    defs_free(defs);
    return count - 1;
}

static void test_labels(struct output *output)
{
    /* Steps: every one, 2, 5, 10 … */
    static const struct {
        size_t rows;
        double width;
        size_t labels;
    } cases[] = {{8, 700, 8}, {64, 700, 13}, {1024, 700, 11}, {1, 700, 1}, {100, 300, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double apart;
        size_t labels = labels_of(output, cases[i].rows, cases[i].width, &apart);
        tap_equal_int((long long)labels, (long long)cases[i].labels, "labels of %zu processes", cases[i].rows);
        tap_ok(apart >= 6, "labels of %zu processes are apart", cases[i].rows);
    }
}

/* Heat */

static void test_heat(void)
{
    struct heat heat = {.most = 1000, .logarithmic = true};
    expect_near(heat_share(&heat, 1000), 1, "logarithmic: the most");
    expect_near(heat_share(&heat, 10), 1.0 / 3, "logarithmic: a third of the digits");
    expect_near(heat_share(&heat, 1), 0, "logarithmic: one");
    expect_near(heat_share(&heat, 0.5), 0, "logarithmic: less than one");
    expect_near(heat_share(&heat, 0), 0, "logarithmic: nothing");
    heat.most = 1;
    expect_near(heat_share(&heat, 1), 1, "logarithmic: with nothing but ones, one is much");
    heat = (struct heat){.most = 8};
    expect_near(heat_share(&heat, 2), 0.25, "linear: a quarter");
    expect_near(heat_share(&heat, -1), 0, "linear: less than nothing");
    heat.most = 0;
    expect_near(heat_share(&heat, 2), 0, "where there is nothing");
    tap_equal_int(paint_level(0).ink, INK_LEVEL, "the lightest level");
    tap_equal_int(paint_level(1).ink, INK_LEVEL + THEME_LEVELS - 1, "the strongest level");
    tap_equal_int(paint_level(7).ink, INK_LEVEL + THEME_LEVELS - 1, "no level beyond it");
    tap_equal_int(paint_level(-7).ink, INK_LEVEL, "no level below the lightest");
    heat = heat_new((struct area){10, 20, 105, 52}, 10, 5, false);
    tap_ok(near(heat.grid.cell_width, 10) && near(heat.grid.cell_height, 10) && near(heat.grid.gap, 1),
           "large cells are of whole pixels, with gaps");
    heat_clear(&heat);
    heat = heat_new((struct area){10, 20, 100, 100}, 80, 80, false);
    tap_ok(near(heat.grid.cell_width, 1.25) && near(heat.grid.gap, 0), "small cells fill the area, without gaps");
    heat_clear(&heat);
}

/* Traffic */

static void expect_pair(const struct traffic *traffic, size_t index, struct traffic_pair want, const char *name)
{
    const struct traffic_pair *got = &traffic->pairs[index];
    if (!tap_ok(index < traffic->count && got->from == want.from && got->to == want.to &&
                    got->messages == want.messages && got->bytes == want.bytes,
                "traffic: %s", name) &&
        index < traffic->count)
        printf("# %u -> %u: %llu messages, %llu bytes\n", got->from, got->to, (unsigned long long)got->messages,
               (unsigned long long)got->bytes);
}

static void test_traffic(void)
{
    struct defs *defs = defs_new();
    struct metrics *metrics = hand_metrics(defs, 3, 1, 0);
    metrics->process[2].rank = 100000;
    hand_messages(metrics, 0, 1, 5, 50);
    hand_messages(metrics, 1, 2, 2, 9000);
    hand_messages(metrics, 2, 2, 3, 3);    /* to itself */
    hand_end(metrics, 2, true, 0, 4, 100); /* the other end is cut short: */
    hand_end(metrics, 0, false, 100000, 1, 200);
    hand_end(metrics, 1, false, 0, 0, 0); /* an end that counts nothing */
    hand_end(metrics, 0, true, 77, 6, 6);
    hand_end(metrics, 0, true, 99999, 1, 0);
    hand_end(metrics, 1, false, EVENT_UNKNOWN, 10, 0);
    hand_end(metrics, 1, true, PARTNER_NONE, 1000, 0);
    struct traffic traffic = traffic_of(metrics);
    tap_equal_int((long long)traffic.count, 4, "traffic: pairs");
    expect_pair(&traffic, 0, (struct traffic_pair){0, 1, 5, 50}, "both ends are one pair");
    expect_pair(&traffic, 1, (struct traffic_pair){1, 2, 2, 9000}, "a rank that is not its row");
    expect_pair(&traffic, 2, (struct traffic_pair){2, 0, 4, 200}, "where the ends differ, the larger number counts");
    expect_pair(&traffic, 3, (struct traffic_pair){2, 2, 3, 3}, "to itself");
    tap_equal_int((long long)traffic.messages, 14, "traffic: all messages");
    tap_equal_int((long long)traffic.bytes, 9253, "traffic: all bytes");
    tap_equal_int((long long)traffic.elsewhere, 17, "traffic: elsewhere, but not to MPI_PROC_NULL");
    traffic_rank(&traffic, false);
    expect_pair(&traffic, 0, (struct traffic_pair){0, 1, 5, 50}, "most messages first");
    expect_pair(&traffic, 3, (struct traffic_pair){1, 2, 2, 9000}, "fewest messages last");
    traffic_rank(&traffic, true);
    expect_pair(&traffic, 0, (struct traffic_pair){1, 2, 2, 9000}, "most bytes first");
    expect_pair(&traffic, 3, (struct traffic_pair){2, 2, 3, 3}, "fewest bytes last");
    traffic_clear(&traffic);
    tap_ok(!traffic.pairs && traffic.count == 0, "cleared traffic is empty");
    metrics_free(metrics);
    metrics = hand_metrics(defs, 2, 1, 0);
    traffic = traffic_of(metrics);
    tap_ok(traffic.count == 0 && traffic.messages == 0 && traffic.elsewhere == 0, "no traffic");
    traffic_rank(&traffic, true);
    traffic_clear(&traffic);
    hand_messages(metrics, 0, 1, UINT64_MAX, UINT64_MAX);
    hand_messages(metrics, 1, 0, UINT64_MAX, 1);
    traffic = traffic_of(metrics);
    tap_ok(traffic.messages == UINT64_MAX && traffic.bytes == UINT64_MAX, "traffic: sums do not wrap");
    traffic_clear(&traffic);
    metrics_free(metrics);
    defs_free(defs);
}

/* Functions */

static void test_functions(void)
{
    enum { STATES = 13 };
    static const char *const names[STATES] = {"MPI_A", "MPI_B", "MPI_C", "MPI_D", "MPI_E", "MPI_F", "MPI_G",
                                              "MPI_H", "MPI_I", "MPI_J", "MPI_K", "MPI_L", "work"};
    struct defs *defs = hand_defs(names, STATES);
    struct metrics *metrics = hand_metrics(defs, 2, 1000, 0);
    struct functions functions = functions_of(metrics);
    tap_ok(functions.count == 0 && functions.others == 0, "functions: none");
    for (size_t i = 0; i < STATES; i++)
        hand_calls(metrics, 0, names[i], i == STATES - 1 ? 500 : (double)(i + 1));
    hand_calls(metrics, 1, "MPI_A", 100);
    hand_calls(metrics, 1, "MPI_B", 0);
    functions = functions_of(metrics);
    tap_ok(functions.count == FUNCTIONS_MAX && functions.others == 2, "functions: ten have a place, two share one");
    tap_equal_string(defs->states[functions.state[0]].name, "MPI_A", "functions: the one with most time");
    expect_near(functions.seconds[0], 101, "functions: its time on all processes");
    tap_equal_string(defs->states[functions.state[1]].name, "MPI_L", "functions: then the next");
    tap_equal_string(defs->states[functions.state[9]].name, "MPI_D", "functions: the last one");
    expect_near(functions.seconds[FUNCTIONS_MAX], 5, "functions: the others together, without the user's states");
    double seconds[FUNCTIONS_MAX + 1];
    functions_of_process(&functions, metrics, &metrics->process[0], seconds);
    tap_ok(near(seconds[0], 1) && near(seconds[1], 12) && near(seconds[FUNCTIONS_MAX], 5),
           "functions: the same places for a process");
    functions_of_process(&functions, metrics, &metrics->process[1], seconds);
    tap_ok(near(seconds[0], 100) && near(seconds[1], 0) && near(seconds[FUNCTIONS_MAX], 0),
           "functions: a process without the others");
    metrics_free(metrics);
    defs_free(defs);
}

/* Colours */

static struct paint painted(const char *name, const char *colour, bool own)
{
    struct defs *defs = defs_new();
    struct state_def state = {.name = (char *)(uintptr_t)name, .colour = (char *)(uintptr_t)colour};
    uint32_t index = defs_add_state(defs, &state);
    struct paint paint = palette_paint(&defs->states[index], own);
    defs_free(defs);
    return paint;
}

static void test_palette(void)
{
    static const char *const distinct[] = {"MPI_Recv",  "MPI_Send",    "MPI_Isend",   "MPI_Allreduce", "MPI_Reduce",
                                           "MPI_Bcast", "MPI_Barrier", "MPI_Waitall", "MPI_Probe",     "MPI_Alltoall"};
    enum { DISTINCT = sizeof distinct / sizeof *distinct };
    bool same = true, apart = true;
    for (size_t i = 0; i < mpi_function_count(); i++) {
        /* The other way round, with other states before and after: the name alone decides. */
        const char *name = mpi_function_at(mpi_function_count() - 1 - i)->name;
        struct paint first = painted(name, NULL, false), again = painted(name, "red", false);
        same &= first.ink == again.ink && first.hatched == again.hatched && first.ink >= INK_FUNCTION &&
                first.ink < INK_LEVEL;
    }
    tap_ok(same, "every function always has the same colour");
    for (size_t i = 0; i < DISTINCT; i++)
        for (size_t k = 0; k < i; k++)
            apart &= painted(distinct[i], NULL, false).ink != painted(distinct[k], NULL, false).ink;
    tap_ok(apart, "the functions that programs spend their time in have a colour each");
    static const char *const waiting[] = {"MPI_Wait", "MPI_Waitall", "MPI_Probe", "MPI_Barrier", "MPI_Recv", "work"};
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        tap_ok(!painted(waiting[i], NULL, false).hatched, "%s is not hatched: that means waiting", waiting[i]);
}

static void test_own_colours(void)
{
    static const struct {
        const char *colour;
        bool known;
        uint32_t rgb;
    } cases[] = {{"ForestGreen", true, 0x228B22},
                 {"forest green", true, 0x228B22},
                 {"255 0 0 255", true, 0xFF0000},
                 {"34 170 51", true, 0x22AA33},
                 {"#22AA33", true, 0x22AA33},
                 {"#2A3", true, 0x22AA33},
                 {"red:vlines3", true, 0xFF0000},
                 {"256 0 0", false, 0},
                 {"-1 0 0", false, 0},
                 {"no such colour", false, 0},
                 {"#22AA3", false, 0},
                 {"", false, 0},
                 {NULL, false, 0}};
    struct paint usual = painted("MPI_Wait", NULL, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct paint paint = painted("MPI_Wait", cases[i].colour, true);
        bool good = cases[i].known ? paint.ink == INK_RGB && paint.rgb == cases[i].rgb && !paint.hatched
                                   : paint.ink == usual.ink && paint.hatched == usual.hatched;
        if (!tap_ok(good, "own colour \"%s\"", cases[i].colour ? cases[i].colour : "(none)"))
            printf("# ink %u, %06X\n", paint.ink, paint.rgb);
        paint = painted("MPI_Wait", cases[i].colour, false);
        tap_ok(paint.ink == usual.ink, "own colour \"%s\" where it is not asked for",
               cases[i].colour ? cases[i].colour : "(none)");
    }
}

/* Relative luminance, as contrast is defined by (WCAG 2.1). */
static double luminance(uint32_t rgb)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double part = (rgb >> (8 * i) & 255) / 255.0;
        sum += weights[i] * (part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(enum theme theme, unsigned a, unsigned b)
{
    double first = luminance(theme_rgb(theme, a)), second = luminance(theme_rgb(theme, b));
    return (fmax(first, second) + 0.05) / (fmin(first, second) + 0.05);
}

static void test_theme(enum theme theme, const char *name)
{
    bool colours = true, greys = true, steady = true, variants = true;
    for (unsigned i = 0; i < THEME_SLOTS; i++)
        for (unsigned k = 0; k < i; k++) {
            unsigned a = INK_FUNCTION + i * THEME_VARIANTS, b = INK_FUNCTION + k * THEME_VARIANTS;
            double ratio = contrast(theme, a, b);
            colours &= theme_rgb(theme, a) != theme_rgb(theme, b);
            /* In grey print, shades this near are kept apart by lines, order and tips only. */
            if (ratio < 1.1)
                printf("# %s: slots %u and %u are alike in grey: %.3f\n", name, k, i, ratio);
            greys &= ratio > 1.0005;
        }
    tap_ok(colours, "%s: ten colours of functions", name);
    tap_ok(greys, "%s: also in grey no two are the same", name);
    for (unsigned i = 0; i < THEME_SLOTS * THEME_VARIANTS; i++)
        for (unsigned k = 0; k < i; k++)
            variants &= theme_rgb(theme, INK_FUNCTION + i) != theme_rgb(theme, INK_FUNCTION + k);
    tap_ok(variants, "%s: all variants differ", name);
    for (unsigned level = 1; level < THEME_LEVELS; level++)
        steady &= contrast(theme, INK_LEVEL + level, INK_BACK) > contrast(theme, INK_LEVEL + level - 1, INK_BACK);
    tap_ok(steady, "%s: more is further from the ground", name);
    tap_ok(contrast(theme, INK_TEXT, INK_BACK) >= 7, "%s: text can be read", name);
    tap_ok(contrast(theme, INK_MUTED, INK_BACK) >= 4.5, "%s: muted text can be read", name);
    tap_ok(contrast(theme, INK_ACCENT, INK_BACK) >= 4.5, "%s: the accent can be read", name);
    tap_ok(contrast(theme, INK_ACCENT, INK_COMPUTE) >= 1.25, "%s: the accent stands out", name);
}

static void test_text(void)
{
    static const struct {
        const char *text;
        int most, want;
    } cases[] = {{"abc", 5, 3}, {"abc", 2, 2}, {"aé", 2, 1}, {"aé", 3, 3}, {"a→b", 2, 1},
                 {"a→b", 3, 1}, {"a→b", 4, 4}, {"", 3, 0},   {"é", 1, 0},  {"é", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_equal_int(text_beginning(cases[i].text, cases[i].most), cases[i].want, "%d bytes of \"%s\"", cases[i].most,
                      cases[i].text);
    static const char *const cut[][2] = {{"abc", "abc"}, {"a\xC3", "a"},       {"a\xC3\xA9", "aé"}, {"a\xE2\x86", "a"},
                                         {"a\xE2", "a"}, {"\xF0\x9F\x98", ""}, {"→", "→"},          {"", ""}};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        char text[16];
        strcpy(text, cut[i][0]);
        text_end_whole(text);
        tap_equal_string(text, cut[i][1], "a whole end: %zu", i);
    }
    tap_ok(text_whole(1.5) == 2 && text_whole(-1) == 0 && text_whole(NAN) == 0 && text_whole(1e30) == UINT64_MAX &&
               text_whole(ldexp(1, 63)) == UINT64_C(1) << 63,
           "whole numbers of numbers");
}

int main(void)
{
    struct error err = {0};
    struct output *output = output_open("/dev/null", (struct output_options){0}, &err);
    if (!output) {
        printf("Bail out! /dev/null: %s\n", err.text);
        return 1;
    }
    test_rounding();
    test_seconds();
    test_columns();
    test_labels(output);
    test_heat();
    test_traffic();
    test_functions();
    test_palette();
    test_own_colours();
    test_theme(THEME_LIGHT, "light");
    test_theme(THEME_DARK, "dark");
    test_text();
    tap_ok(output_close(output, true, &err) == STATUS_OK, "all was written");
    return tap_done();
}
