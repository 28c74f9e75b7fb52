/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_CURVES_BUILD_H
#define SIGHT_TIMELINE_CURVES_BUILD_H

#include "core/event.h"
#include "core/map.h"
#include "timeline/curves.h"

/* Internal: the readings of counters as steps, in bounded memory. */

/* A counter of a row: entries of the index. */
struct counter_curve {
    uint32_t row, mark;
    uint64_t step_at; /* first of its steps */
    uint32_t steps;
    uint32_t readings; /* that make a step; 1: none is lost */
    int64_t begin_ns;  /* of the first step; each begins where the one before ends */
};

/* Between two readings, or several: `least` and `most` are those of its parts. */
struct counter_step {
    int64_t end_ns;
    double amount; /* of a sum what it grew; else value times ns */
    float least, most;
};

/* True of counters that add up; those that do not say have values. */
bool counter_is_sum(const struct counter_def *counter);

/* A curve under construction. */
struct counter_growing {
    struct counter_curve curve; /* without step_at */
    struct counter_step *step;
    size_t capacity;
    uint32_t in_last; /* readings in the last step */
    int64_t at_ns;    /* of the last reading, whose value is in `raw` */
    int64_t raw;
    double carry; /* growth between readings at the same time: belongs to the next step */
};

struct curves_build {
    uint32_t most;  /* steps of a curve; even */
    size_t steps;   /* of all */
    size_t allowed; /* steps of all; where there are more, each curve may have half as many, down to CURVE_LEAST */
    struct map place_of;
    struct counter_growing *list;
    size_t count, capacity;
};
enum { CURVE_STEPS = 1024, CURVE_LEAST = 32, CURVES_STEPS = 1 << 20 };

/* Begins with nothing but the bounds. */
void curves_build_begin(struct curves_build *build, uint32_t most, size_t allowed);

/* Takes a reading of a row that has had its first event at begin_ns; INT64_MIN: that is not known. */
void curves_build_event(struct curves_build *build, const struct defs *defs, uint32_t row, const struct event *event,
                        int64_t time_ns, int64_t begin_ns);

/* A value that is not a sum holds up to the end of its row. */
void curves_build_end(struct curves_build *build, const struct defs *defs, const struct timeline_row *rows);

void curves_build_clear(struct curves_build *build);

#endif
