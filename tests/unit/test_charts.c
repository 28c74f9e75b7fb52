/* SPDX-License-Identifier: BSD-3-Clause */
/* Every chart of every shape of run, few and many processes, large and small: texts are readable, on the canvas, and
   apart from each other; at the sizes that charts are made for none is left out. */
#include "render/charts/chart.h"
#include "unit/hand_metrics.h"

#include <glib.h>
#include <stdio.h>

enum shape_of_run {
    RUN_EVEN,
    RUN_OVERLOADED,
    RUN_MASTER,
    RUN_ZERO,
    RUN_SILENT,
    RUN_ONE_MESSAGE,
    RUN_SELF,
    RUN_HUGE,
    RUN_LONG_NAMES,
    RUN_MANY_FUNCTIONS,
    RUN_SPARSE,
    RUN_STRANGERS,
    RUN_COUNT
};

static const char *const run_names[RUN_COUNT] = {
    [RUN_EVEN] = "even",
    [RUN_OVERLOADED] = "one overloaded",
    [RUN_MASTER] = "master and workers",
    [RUN_ZERO] = "all zero",
    [RUN_SILENT] = "no messages",
    [RUN_ONE_MESSAGE] = "one message",
    [RUN_SELF] = "messages to themselves",
    [RUN_HUGE] = "huge values",
    [RUN_LONG_NAMES] = "very long names of functions",
    [RUN_MANY_FUNCTIONS] = "44 functions",
    [RUN_SPARSE] = "sparse ranks",
    [RUN_STRANGERS] = "partners without rows",
};

static const size_t counts[] = {1, 2, 3, 8, 16, 17, 32, 33, 64, 96, 97, 1000, 1024, 4097};

/* The first ones are sizes that all texts fit. */
enum { SIZES_FOR_ALL = 2 };
static const struct {
    double width, height;
} sizes[] = {{960, 600}, {1600, 1000}, {640, 400}, {400, 300}, {200, 200}};

enum { MANY = 44, LONG = 400 };
static const char *const usual[] = {"MPI_Allreduce", "MPI_Barrier", "MPI_Init", "MPI_Irecv", "MPI_Isend",
                                    "MPI_Recv",      "MPI_Send",    "MPI_Test", "MPI_Wait",  "work"};
enum { USUAL = sizeof usual / sizeof *usual };

static struct defs *usual_defs, *long_defs, *many_defs;
static char long_names[4][LONG], many_names[MANY][32];

static void defs_make(void)
{
    const char *names[MANY];
    usual_defs = hand_defs(usual, USUAL);
    for (size_t i = 0; i < 4; i++) {
        /* One word, and characters of two bytes that no cut must part. */
        snprintf(long_names[i], LONG, "MPI_X%zu_", i);
        for (size_t k = strlen(long_names[i]); k + 2 < LONG; k += 2)
            memcpy(long_names[i] + k, "\xC3\xA9", 2);
        names[i] = long_names[i];
    }
    long_defs = hand_defs(names, 4);
    for (size_t i = 0; i < MANY; i++) {
        snprintf(many_names[i], sizeof many_names[i], "MPI_Function_%02zu", i);
        names[i] = many_names[i];
    }
    many_defs = hand_defs(names, MANY);
}

/* Everyone's calls: the functions share the time in MPI, the first most. */
static void add_calls(struct metrics *metrics, double communication)
{
    size_t states = metrics->defs->state_count;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < states; k++)
            hand_calls(metrics, i, metrics->defs->states[k].name,
                       communication * 2 * (double)(states - k) / (double)(states * (states + 1)));
}

static void add_messages(struct metrics *metrics, enum shape_of_run shape)
{
    size_t count = metrics->process_count;
    uint64_t weight = shape == RUN_HUGE ? UINT64_C(1) << 62 : 1234;
    for (size_t i = 0; i < count; i++)
        switch (shape) {
        case RUN_ZERO:
        case RUN_SILENT:
            break;
        case RUN_ONE_MESSAGE:
            if (i == 0)
                hand_messages(metrics, 0, count - 1, 1, 0);
            break;
        case RUN_SELF:
            hand_messages(metrics, i, i, weight + i, weight * 100);
            break;
        case RUN_MASTER:
            if (i > 0) {
                hand_messages(metrics, 0, i, weight, weight * 7);
                hand_messages(metrics, i, 0, weight, weight * 9000);
            }
            break;
        case RUN_STRANGERS:
            hand_end(metrics, i, true, (int32_t)(count + i), weight, weight);
            hand_end(metrics, i, false, PARTNER_NONE, weight, 0);
            break;
        default:
            hand_messages(metrics, i, (i + 1) % count, weight, weight);
            hand_messages(metrics, i, (i + 3) % count, weight / 3, weight * 2);
        }
}

/* Sizes from 0 upwards: 4 KiB mostly, or all that there are. */
static void add_sizes(struct metrics *metrics, enum shape_of_run shape)
{
    if (shape == RUN_ZERO || shape == RUN_SILENT)
        return;
    int classes = shape == RUN_HUGE ? 65 : shape == RUN_ONE_MESSAGE ? 1 : 14;
    for (int i = 0; i < classes; i++) {
        uint64_t messages = shape == RUN_HUGE ? UINT64_MAX / 70 : i == 13 ? 5000 : i % 3 == 1 ? 0 : 77;
        hand_size(metrics, shape == RUN_ONE_MESSAGE ? 1 : messages, i == 0 ? 0 : messages << (i % 8));
    }
}

/* Iterations: none, few, some, or as many as a metrics file lists, with a slow one. */
static void add_iterations(struct metrics *metrics, enum shape_of_run shape, size_t count)
{
    static const uint32_t rows[] = {4, 37, 1000, 1};
    struct phase_metrics *phases = metrics->phases = memory_new(sizeof *phases);
    struct iteration_metrics *to = &phases->iterations;
    phases->process_count = count;
    to->loop = shape == RUN_ZERO ? PHASE_NONE : 0;
    to->row_count = rows[(count + shape) % 4];
    to->count = (uint32_t)to->row_count * (shape == RUN_HUGE ? 4000 : 1);
    to->rows = memory_new(to->row_count * sizeof *to->rows);
    to->per_group = phase_group_size(count, to->row_count, ITERATION_CELLS);
    to->group_count = (count + to->per_group - 1) / to->per_group;
    to->computing_ns = memory_new(to->group_count * to->row_count * sizeof *to->computing_ns);
    for (uint32_t i = 0; i < to->row_count; i++)
        to->rows[i] = (struct iteration_row){.first = i * (to->count / (uint32_t)to->row_count),
                                             .count = to->count / (uint32_t)to->row_count,
                                             .time_ns = shape == RUN_HUGE ? INT64_MAX / 2 : 1000000};
    for (size_t i = 0; i < to->group_count * to->row_count; i++)
        to->computing_ns[i] = i % 5 == 4 ? -1 : shape == RUN_HUGE ? INT64_MAX / 2 : 500000 + (int64_t)(i % 900);
    to->median_ns = 1000000;
    to->slow = to->row_count > 4 ? ITERATIONS_SLOWEST : 0;
    to->slowest_count = to->slow;
    for (uint32_t i = 0; i < to->slowest_count; i++)
        to->slowest[i] = (struct slow_iteration){.iteration = to->count - 1 - i, .time_ns = 7000000};
}

static struct metrics *run_of(enum shape_of_run shape, size_t count)
{
    const struct defs *defs = shape == RUN_LONG_NAMES       ? long_defs
                              : shape == RUN_MANY_FUNCTIONS ? many_defs
                                                            : usual_defs;
    double total = shape == RUN_ZERO ? 0 : shape == RUN_HUGE ? 9.2e9 : 2.4, communication = total / 3;
    struct metrics *metrics = hand_metrics(defs, count, total, communication);
    for (size_t i = 0; i < count && shape == RUN_SPARSE; i++)
        metrics->process[i].rank = (uint32_t)(i == 0 ? 0 : i == 1 ? 5 : 100000 + 7 * i);
    /* Not exactly alike: noise of a few per cent. */
    for (size_t i = 0; i < count && shape != RUN_ZERO && shape != RUN_HUGE; i++)
        hand_times(metrics, i, total - communication + 0.01 * (double)(i * 7 % 11), communication);
    if (shape == RUN_OVERLOADED)
        hand_times(metrics, count / 2, 2 * total, communication);
    if (shape == RUN_MASTER)
        hand_times(metrics, 0, 0.001, total);
    add_calls(metrics, communication);
    add_messages(metrics, shape);
    add_sizes(metrics, shape);
    add_iterations(metrics, shape, count);
    return metrics;
}

/* What is wrong with the texts, or NULL. */
static const char *fault_of(const struct canvas *canvas, size_t *which, size_t *other)
{
    size_t count;
    const struct text_box *boxes = canvas_text_boxes(canvas, &count);
    for (*which = 0; *which < count; ++*which) {
        const struct text_box *box = &boxes[*which];
        if (box->size < 12)
            return "letters below 12 px";
        if (box->x < -0.5 || box->y < -0.5 || box->x + box->width > canvas_width(canvas) + 0.5 ||
            box->y + box->height > canvas_height(canvas) + 0.5)
            return "beyond the canvas";
        for (*other = 0; *other < *which; ++*other)
            if (box->x + 0.5 < boxes[*other].x + boxes[*other].width && boxes[*other].x + 0.5 < box->x + box->width &&
                box->y + 0.5 < boxes[*other].y + boxes[*other].height && boxes[*other].y + 0.5 < box->y + box->height)
                return "over another";
    }
    return count > 0 ? NULL : "no text at all";
}

/* Draws one chart; returns what is wrong. At the sizes for all texts, no more than a few may be left out. */
static bool draws_well(struct output *output, const struct chart *chart, const struct chart_input *input, size_t size,
                       size_t few)
{
    struct canvas_options options = {.theme = THEME_LIGHT, .title = "", .description = ""};
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, sizes[size].width, sizes[size].height, &options);
    size_t which = 0, other = 0;
    chart_draw(chart, canvas, input);
    const char *fault = fault_of(canvas, &which, &other);
    if (fault)
        printf("# %s, %.0f x %.0f%s: text %zu %s (%zu)\n", chart->name, sizes[size].width, sizes[size].height,
               input->by_bytes ? ", bytes" : "", which, fault, other);
    size_t left_out = canvas_texts_left_out(canvas);
    bool whole = size >= SIZES_FOR_ALL || left_out <= few;
    if (!whole)
        printf("# %s, %.0f x %.0f%s: %zu texts left out\n", chart->name, sizes[size].width, sizes[size].height,
               input->by_bytes ? ", bytes" : "", left_out);
    canvas_free(canvas);
    return !fault && whole;
}

static void test_run(struct output *output, enum shape_of_run shape, size_t count)
{
    struct metrics *metrics = run_of(shape, count);
    struct heuristic_result *results = heuristics_judge(metrics);
    /* Ranks of six digits around a circle, centuries under 16 pies. */
    size_t few = shape == RUN_HUGE || shape == RUN_SPARSE ? 8 : 0;
    bool good = true;
    for (size_t i = 0; i < chart_count(); i++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
            struct chart_input input = {.metrics = metrics, .results = results, .by_bytes = (i + size) % 2};
            good &= draws_well(output, chart_at(i), &input, size, few);
        }
    tap_ok(good, "%s, %zu processes", run_names[shape], count);
    heuristics_free(results);
    metrics_free(metrics);
}

static void test_empty(struct output *output)
{
    struct metrics *metrics = hand_metrics(usual_defs, 0, 0, 0);
    struct heuristic_result *results = heuristics_judge(metrics);
    struct chart_input input = {.metrics = metrics, .results = results};
    bool good = true;
    for (size_t i = 0; i < chart_count(); i++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            good &= draws_well(output, chart_at(i), &input, size, 0);
    tap_ok(good, "no processes");
    heuristics_free(results);
    metrics_free(metrics);
}

/* That texts are left out is the canvas' promise, whatever charts do. */
static void test_promise(struct output *output)
{
    struct canvas_options options = {.theme = THEME_LIGHT};
    struct text_style style = {0}, right = {.align = ALIGN_RIGHT};
    struct canvas *canvas = canvas_new(CANVAS_PDF, output, 200, 100, &options);
    size_t count;
    canvas_text(canvas, 10, 50, style, "first");
    canvas_text(canvas, 12, 52, style, "over it");
    canvas_text(canvas, 190, 20, style, "beyond the right");
    canvas_text(canvas, 10, 20, right, "beyond the left");
    canvas_text(canvas, 10, 2, style, "beyond the top");
    canvas_text(canvas, 10, 99, style, "beyond the bottom");
    canvas_text_boxes(canvas, &count);
    tap_ok(count == 1 && canvas_texts_left_out(canvas) == 5,
           "texts that cover others or leave the canvas are left out");
    canvas_text(canvas, 10, 65, style, "below");
    canvas_page(canvas);
    canvas_text(canvas, 10, 50, style, "the same place");
    const struct text_box *boxes = canvas_text_boxes(canvas, &count);
    tap_ok(count == 3 && boxes[2].page == 1 && canvas_texts_left_out(canvas) == 5, "each page by itself");
    canvas_free(canvas);
}

static size_t lines_of(struct output *output, size_t lines, const char *text, double *height)
{
    struct canvas_options options = {.theme = THEME_LIGHT};
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, 200, 400, &options);
    *height = canvas_paragraph_cut(canvas, 10, 10, 100, lines, (struct text_style){0}, text);
    size_t count;
    const struct text_box *boxes = canvas_text_boxes(canvas, &count);
    for (size_t i = 0; i < count; i++)
        if (boxes[i].width > 100)
            count = 0;
    if (canvas_texts_left_out(canvas) > 0)
        count = 0;
    canvas_free(canvas);
    return count;
}

static void test_paragraph(struct output *output)
{
    static const char text[] = "eight words that do not fit one line";
    double height, line = canvas_line_height((struct text_style){0});
    tap_equal_int((long long)lines_of(output, SIZE_MAX, text, &height), 3, "a paragraph has the lines that it needs");
    tap_ok(fabs(height - 3 * line) < 1e-9, "its height is theirs");
    tap_equal_int((long long)lines_of(output, 2, text, &height), 2, "no more than it may have");
    tap_equal_int((long long)lines_of(output, 0, text, &height), 0, "not even one");
    tap_equal_int((long long)lines_of(output, SIZE_MAX, "", &height), 0, "nothing has no lines");
    tap_equal_int((long long)lines_of(output, SIZE_MAX,
                                      "one "
                                      "wwwwwwwwwwwwwwwwwwwwwwww",
                                      &height),
                  4, "a word that is longer than a line is parted");
    tap_equal_int((long long)lines_of(output, SIZE_MAX, "ééééééééééééééééééééééééé", &height), 2, "characters are not");
}

int main(void)
{
    struct error err = {0};
    struct output *output = output_open("/dev/null", (struct output_options){0}, &err);
    if (!output) {
        printf("Bail out! /dev/null: %s\n", err.text);
        return 1;
    }
    /* Pango complains of text that is no UTF-8. */
    g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
    defs_make();
    test_promise(output);
    test_paragraph(output);
    test_empty(output);
    /* In brief each shape has some of the counts, and each count some of the shapes. */
    size_t step = getenv("SIGHT_TEST_BRIEF") ? 5 : 1;
    for (unsigned shape = 0; shape < RUN_COUNT; shape++)
        for (size_t i = shape % step; i < sizeof counts / sizeof *counts; i += step)
            test_run(output, (enum shape_of_run)shape, counts[i]);
    tap_ok(output_close(output, true, &err) == STATUS_OK, "all was written");
    defs_free(usual_defs);
    defs_free(long_defs);
    defs_free(many_defs);
    return tap_done();
}
