/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_QUESTION_FOCUS_H
#define SIGHT_QUERY_QUESTION_FOCUS_H

#include "core/error.h"
#include "search/cube.h"

/* Internal to questions: paths of a focus (question.h) as what a cube is asked for. */

enum { FOCUS_PATH_SIZE = 300 };

struct asked_focus {
    const struct graph *graph;
    const struct phases *phases;
    struct cube *cube;           /* /Time puts its parts in the place of the cube's phases */
    struct cube_focus focus;     /* narrowed; divided by nothing */
    bool by_process;             /* a row for each process */
    enum search_axis divided;    /* a row for each value of it; AXIS_WHY: of none */
    bool equal_parts;            /* /Time */
    char whole[FOCUS_PATH_SIZE]; /* the path of a row that is not divided */
    uint32_t *rows, *iterations; /* owned, as the rest; the focus has them */
    bool *functions;
    int64_t *borders;
    struct error *err; /* of focus_take */
};

/* A focus that is not narrowed. Free with focus_clear. */
struct asked_focus focus_new(const struct graph *graph, const struct phases *phases, struct cube *cube);
void focus_clear(struct asked_focus *asked);

/* Takes paths; a fault where one cannot be understood, or names what is not in the trace. */
enum status focus_take(struct asked_focus *asked, const char *text, struct error *err) MUST_CHECK;
enum status focus_take_phase(struct asked_focus *asked, const char *name, struct error *err) MUST_CHECK;

/* Narrows a focus by another one as well: what is in both. */
void focus_meet(struct asked_focus *asked, const struct asked_focus *other);

/* The path of a value of the axis that divides it. */
void focus_path_of_key(const struct asked_focus *asked, uint32_t key, char path[FOCUS_PATH_SIZE]);

#endif
