/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_SCENE_H
#define SIGHT_RENDER_CHARTS_SCENE_H

#include "core/text.h"
#include "render/charts/palette.h"
#include "timeline/curves.h"
#include "timeline/overlay.h"
#include "timeline/tile.h"
#include "timeline/window.h"

/* A window of a timeline, ready to be drawn: everything that can fail has been done. */

/* The states of rows in a column. */
enum { SCENE_PARTS = 1 + TIMELINE_NEXT };
struct scene_cell {
    uint16_t state;             /* as timeline_cell.state */
    uint16_t part[SCENE_PARTS]; /* the states with most time, the most first; TIMELINE_ABSENT: no more */
    float share[SCENE_PARTS];   /* of the time that rows are there */
    float waiting;  /* share of waits, in [0,1]: from the analysis if there is one, else of functions that wait */
    float messages; /* sent and received */
};

/* A counter over the time and of the rows of the scene. */
struct scene_counter {
    uint32_t mark; /* of the definitions */
    bool sum;
    struct timeline_curve curve; /* a bin for each column */
};

struct scene {
    struct timeline *timeline; /* borrowed */
    struct timeline_view view; /* its rows are the scene's own */
    uint32_t *rows;            /* of the view */
    uint32_t fold;             /* rows of the view to a row of cells; a power of two */
    uint32_t columns, lines;   /* of cells */
    struct scene_cell *cells;  /* lines * columns */
    double *state_ns;          /* by state: of all rows in the window, as the latest entered */
    double outside_ns;
    bool summed;                    /* these sums are exact: those of cells lack what is too short for its cell */
    uint64_t sent_received;         /* messages sent and received in the window, if they are */
    struct timeline_window window;  /* event by event */
    struct scene_counter *counters; /* the program's and the processor's, not those of resources; owned */
    size_t counter_count;
    bool exact;                             /* `window` has everything, and there is room to draw it */
    const struct timeline_overlay *overlay; /* NULL: not known */
};

enum { SCENE_COUNTERS = 3 }; /* at most: as the page of sight view has at first */

struct scene_options {
    uint32_t columns;       /* how many there will be */
    uint32_t lines;         /* at most so many */
    uint32_t counter_lines; /* that the graph of a counter takes, of at most half of them; 0: no counters */
    size_t states;          /* event by event only up to this many states and messages; 0: never */
};

/* Makes the scene of a view. Free with scene_clear. */
enum status scene_make(struct scene *scene, struct timeline *timeline, const struct timeline_view *view,
                       struct scene_options options, struct error *err) MUST_CHECK;
void scene_clear(struct scene *scene);

/* The name of a line of cells: "3", "3.1" (a thread), "0–7" (folded). */
enum { SCENE_NAME_SIZE = 2 * TEXT_NUMBER_SIZE + 8 };
char *scene_line_name(const struct scene *scene, uint32_t line, char name[SCENE_NAME_SIZE]);

/* States by their time in the window, the most first: indices into the definitions. Returns how many have any. */
size_t scene_states(const struct scene *scene, uint32_t *states, size_t most);

/* Describes the window in a sentence without full stop: which process waits for which, or where the time is spent.
 */
enum { SCENE_ANSWER_SIZE = 600 };
void scene_answer(const struct scene *scene, char answer[SCENE_ANSWER_SIZE]);

#endif
