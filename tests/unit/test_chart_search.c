/* SPDX-License-Identifier: BSD-3-Clause */
/* The search as text, picture and sentence, at small and at large searches. */
#include "core/memory.h"
#include "render/charts/chart.h"
#include "render/reports/search_report.h"

#include "unit/hand_metrics.h"

#include <stdlib.h>
#include <unistd.h>

static uint32_t add(struct search *search, uint32_t parent, enum search_state state, enum search_axis axis,
                    const char *title, double value)
{
    return search_add(search, (struct search_node){.parent = parent,
                                                   .state = state,
                                                   .axis = axis,
                                                   .hypothesis = memory_copy_string("h"),
                                                   .title = memory_copy_string(title),
                                                   .has_value = state != SEARCH_NEVER,
                                                   .value = value,
                                                   .threshold = 0.2,
                                                   .has_time = true,
                                                   .ns = hand_ns(value)});
}

/* One true chain, one false, one never tested. */
static struct search *small_search(void)
{
    struct search *search = search_new();
    search->threshold = 0.2;
    uint32_t why = add(search, SEARCH_ROOT, SEARCH_TRUE, AXIS_WHY, "waiting", 0.6);
    uint32_t because = add(search, why, SEARCH_TRUE, AXIS_WHY, "late senders", 0.5);
    uint32_t who = add(search, because, SEARCH_TRUE, AXIS_PROCESSES, "processes 1–7", 0.45);
    add(search, who, SEARCH_TRUE, AXIS_FUNCTIONS, "in MPI_Recv", 0.4);
    add(search, who, SEARCH_FALSE, AXIS_FUNCTIONS, "in MPI_Wait", 0.05);
    add(search, because, SEARCH_FALSE, AXIS_PROCESSES, "process 0", 0.05);
    add(search, why, SEARCH_FALSE, AXIS_WHY, "late receivers", 0.1);
    uint32_t io = add(search, SEARCH_ROOT, SEARCH_FALSE, AXIS_WHY, "input and output", 0);
    add(search, io, SEARCH_NEVER, AXIS_WHY, "small accesses", 0);
    return search;
}

static void add_below(struct search *search, uint32_t at, int depth)
{
    char title[200];
    for (int k = 0; k < 6 && depth < 8; k++) {
        snprintf(title, sizeof title, "in MPIX_Function_with_a_name_of_its_own_%d_%d", depth, k);
        uint32_t made =
            add(search, at, k < 3 ? SEARCH_TRUE : SEARCH_FALSE, AXIS_FUNCTIONS, title, 0.8 - 0.05 * depth - 0.01 * k);
        search->nodes[made].more_true = 5;
        if (k == 0)
            add_below(search, made, depth + 1);
    }
}

/* Twenty true hypotheses, each narrowed eight deep, six wide. */
static struct search *large_search(void)
{
    struct search *search = search_new();
    for (int h = 0; h < 20; h++)
        add_below(search,
                  add(search, SEARCH_ROOT, SEARCH_TRUE, AXIS_WHY,
                      "a hypothesis whose title is much longer than any line has room for, and then some", 0.9),
                  0);
    return search;
}

static void test_tree(void)
{
    struct search *search = small_search();
    char text[SEARCH_SENTENCE_SIZE];
    tap_equal_int((long long)search_behind(search, 0), 7, "the first tree ends before the second");
    tap_equal_int((long long)search_behind(search, 2), 5, "a part ends with what narrows it");
    tap_equal_int((long long)search_depth(search, 3), 3, "depth");
    tap_equal_int((long long)search_state_count(search, SEARCH_TRUE), 4, "true ones");
    tap_equal_int((long long)search_state_count(search, SEARCH_NEVER), 1, "not tested ones");
    tap_equal_string(search_sentence(text, search), "late senders: processes 1–7, in MPI_Recv (40 %)", "the sentence");
    tap_equal_string(search_path_text(text, search, 2), "late senders: processes 1–7", "a path");
    search_free(search);
    search = search_new();
    search->threshold = 0.2;
    tap_equal_string(search_sentence(text, search), "no hypothesis holds: nothing takes more than 20 % of the time",
                     "where nothing is true");
    search_free(search);
}

static void test_values(void)
{
    static const struct {
        struct search_unit unit;
        double value;
        const char *want;
    } cases[] = {{{0, 0, 0}, 0.256, "26 %"},   {{1, 0, 0}, 0.0123, "12.3 ms"},   {{-1, 1, 0}, 1500, "1.5e+03 B/s"},
                 {{-1, 0, 1}, 2.5, "2.5 1/s"}, {{0, 1, -1}, 1024, "1.02e+03 B"}, {{2, 0, 0}, 3, "3 s^2"},
                 {{0, 0, 0}, 34.5, "34.5"}};
    char text[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct search_node node = {.has_value = true, .value = cases[i].value, .unit = cases[i].unit};
        tap_equal_string(search_value_text(text, &node), cases[i].want, "value %zu", i);
    }
    tap_equal_string(search_value_text(text, &(struct search_node){0}), "-", "no value");
}

/* Blanks between columns to one. */
static void squeeze(char *text)
{
    bool leading = true;
    char *to = text;
    for (char *from = text; *from; from++) {
        leading = *from == '\n' || (leading && *from == ' ');
        if (leading || *from != ' ' || from[1] != ' ')
            *to++ = *from;
    }
    *to = '\0';
}

/* What the writers make, as a string. */
static char *text_of(const struct metrics *metrics, bool all)
{
    char path[] = "/tmp/test-search.XXXXXX";
    struct error err = {0};
    int file = mkstemp(path);
    if (file < 0)
        abort();
    close(file);
    struct output *output = output_open(path, (struct output_options){.replace = true}, &err);
    search_write_text(output, metrics, "run.clog2", all);
    if (output_close(output, true, &err) != STATUS_OK)
        abort();
    char *text = memory_new(1 << 16);
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, (1 << 16) - 1, in) : 0;
    text[length] = '\0';
    squeeze(text);
    if (in)
        fclose(in);
    unlink(path);
    return text;
}

static void test_text(struct metrics *metrics)
{
    metrics->search = small_search();
    char *text = text_of(metrics, false);
    tap_ok(strstr(text, "  ● waiting 600 ms 60 %\n"
                        "  └─ ● late senders 500 ms 50 %\n"
                        "     └─ ● processes 1–7 450 ms 45 %\n"
                        "        └─ ● in MPI_Recv 400 ms 40 %\n"),
           "only what is true, as a tree");
    free(text);
    text = text_of(metrics, true);
    tap_ok(strstr(text, "  └─ ○ late receivers 100 ms 10 %\n"
                        "  ○ input and output 0 s 0 %\n"
                        "  └─ · small accesses\n"),
           "all of it");
    tap_ok(strstr(text, "  ├─ ● late senders ") && strstr(text, "├─ ● processes 1–7 ") &&
               strstr(text, "└─ ○ in MPI_Wait ") && strstr(text, "└─ ○ process 0 "),
           "with its branches");
    free(text);
    search_free(metrics->search);
    metrics->search = NULL;
}

static bool file_has(const char *path, const char *words)
{
    char *text = memory_new(1 << 20);
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, (1 << 20) - 1, in) : 0;
    text[length] = '\0';
    bool has = strstr(text, words) != NULL;
    free(text);
    if (in)
        fclose(in);
    return has;
}

/* `hides`: some [+] is in the picture, and only then the key explains it. */
static void expect_picture(struct metrics *metrics, const char *name, bool hides, double width, double height)
{
    char path[] = "/tmp/test-search.XXXXXX";
    struct error err = {0};
    int file = mkstemp(path);
    if (file < 0)
        abort();
    close(file);
    struct output *output = output_open(path, (struct output_options){.replace = true}, &err);
    struct canvas_options options = {.theme = THEME_LIGHT, .title = "test"};
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, width, height, &options);
    chart_draw(chart_find("search"), canvas, &(struct chart_input){.metrics = metrics});
    size_t count;
    const struct text_box *boxes = canvas_text_boxes(canvas, &count);
    bool inside = true;
    for (size_t i = 0; i < count; i++)
        inside &= boxes[i].x >= 0 && boxes[i].x + boxes[i].width <= width && boxes[i].y + boxes[i].height <= height;
    tap_ok(count > 3 && inside, "%s, %.0f x %.0f: all texts are inside", name, width, height);
    tap_equal_int((long long)canvas_texts_left_out(canvas), 0, "%s, %.0f x %.0f: none is left out", name, width,
                  height);
    canvas_free(canvas);
    if (output_close(output, true, &err) != STATUS_OK)
        abort();
    tap_ok(file_has(path, ">more below") == hides, "%s, %.0f x %.0f: the key has [+] where there is one", name, width,
           height);
    unlink(path);
}

static void test_pictures(struct metrics *metrics)
{
    tap_ok(!chart_can(chart_find("search"), &(struct chart_input){.metrics = metrics}), "no search, no picture");
    for (int large = 0; large < 2; large++) {
        metrics->search = large ? large_search() : small_search();
        const char *name = large ? "large" : "small";
        tap_ok(chart_can(chart_find("search"), &(struct chart_input){.metrics = metrics}), "%s: can be drawn", name);
        expect_picture(metrics, name, large, 960, 600);
        expect_picture(metrics, name, large, 640, 480);
        expect_picture(metrics, name, large, 1600, 2400);
        search_free(metrics->search);
        metrics->search = NULL;
    }
}

int main(void)
{
    struct defs *defs = hand_defs(NULL, 0);
    struct metrics *metrics = hand_metrics(defs, 8, 1, 0.5);
    test_tree();
    test_values();
    test_text(metrics);
    test_pictures(metrics);
    metrics_free(metrics);
    defs_free(defs);
    return tap_done();
}
