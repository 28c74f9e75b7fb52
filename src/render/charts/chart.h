/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_CHART_H
#define SIGHT_RENDER_CHARTS_CHART_H

#include "heuristics/heuristic.h"
#include "render/charts/axis.h"
#include "runs/scaling.h"

/* A chart answers one question; its title line is the answer. A new one is a file with two functions and a row in
   charts.def. */

struct scene;
struct chart_input {
    const struct metrics *metrics;
    const struct scene *scene; /* a window of the trace: see scene.h; NULL: there are no events to be had */
    const struct heuristic_result *results;
    const struct scaling *scaling; /* of several runs, the largest of which has the metrics; NULL: there is one run */
    bool by_bytes;                 /* messages weigh by their bytes, not by their number */
    bool own_colours;              /* the trace's own colours of functions */
};

enum { CHART_ANSWER_SIZE = 600 };

/* The parts of the metrics that may be missing. */
enum chart_needs {
    NEEDS_NOTHING,
    NEEDS_SIZES,      /* the table of message sizes: see metrics->tables_unknown */
    NEEDS_ANALYSIS,   /* the look across processes: metrics->analysis */
    NEEDS_FACTORS,    /* the same, or runs of several sizes */
    NEEDS_ITERATIONS, /* iterations that all processes have: metrics->phases */
    NEEDS_SEARCH,     /* metrics->search */
    NEEDS_SAMPLES,    /* samples with their times: metrics->profile */
    NEEDS_COUNTERS,   /* readings of counters: metrics->counters */
    NEEDS_SCALING,    /* runs of several sizes: input->scaling */
    NEEDS_EVENTS      /* the trace itself: input->scene */
};

/* What a run may have none of, so that nothing can be drawn although all data are there. */
enum chart_shows {
    SHOWS_ALWAYS,   /* something */
    SHOWS_MESSAGES, /* between processes of the trace */
    SHOWS_SIZES,    /* messages of known size */
    SHOWS_CALLS,    /* of MPI functions */
    SHOWS_FINDINGS,
    SHOWS_WAITS,
    SHOWS_COUNT
};

struct chart {
    const char *name, *title, *question;
    /* The answer in a sentence without full stop, for a run that has processes. */
    void (*answer)(const struct chart_input *input, char answer[CHART_ANSWER_SIZE]);
    void (*draw)(struct canvas *canvas, const struct chart_input *input, struct area area);
    enum chart_needs needs;
    enum chart_shows shows;
    const char *tab; /* of the page of `sight view`: charts, efficiency or search */
};

/* False if the data for the chart are missing. */
bool chart_can(const struct chart *chart, const struct chart_input *input);

/* For a chart that can be drawn, of an input with results: why it would be empty, in sentences; NULL: it is not. */
const char *chart_lack(const struct chart *chart, const struct chart_input *input);

size_t chart_count(void);
const struct chart *chart_at(size_t index);
const struct chart *chart_find(const char *name); /* NULL if there is none */

/* The sentence that is the chart's title. */
void chart_answer(const struct chart *chart, const struct chart_input *input, char answer[CHART_ANSWER_SIZE]);

/* The description for screen readers: the answer, the question, the sizes. */
enum { CHART_DESCRIPTION_SIZE = 1000 };
void chart_describe(const struct chart *chart, const struct chart_input *input,
                    char description[CHART_DESCRIPTION_SIZE]);

enum { CHART_WIDTH = 960, CHART_HEIGHT = 600, CHART_MARGIN = 28 };

/* Draws the chart over the whole canvas. */
void chart_draw(const struct chart *chart, struct canvas *canvas, const struct chart_input *input);

/* The part of the area inside the axes, and whether there is room for a column of this width to its right. It may be
   too small to draw in. */
bool chart_plot(struct area area, double side_width, struct area *plot);
enum { CHART_PLOT_LEAST = 40 };

/* For charts: the sentence with a capital letter. */
void chart_say(char answer[CHART_ANSWER_SIZE], const char *format, ...) PRINTF_LIKE(2, 3);

/* A note in small grey letters at the foot of the chart. */
void chart_note(struct canvas *canvas, const char *text);

/* A square of the paint with a name to its right and, right-aligned at x + width, a value; `value` may be NULL. */
void chart_legend(struct canvas *canvas, double x, double y, double width, struct paint paint, const char *name,
                  const char *value);

#define CHART(id, ...)                                                                                                 \
    void chart_##id##_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE]);                         \
    void chart_##id##_draw(struct canvas *canvas, const struct chart_input *input, struct area area);
#include "render/charts/charts.def"

#endif
