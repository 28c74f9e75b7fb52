/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_VIEWER_ARROWS_H
#define SIGHT_CONVERT_VIEWER_ARROWS_H

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The arrows that viewers draw between slices. They are recorded as points, which come in any order; points with the
   same text belong together, in the order of time. Facts: "Trace Event Format" (Chromium project), flow events. */

enum arrow_kind {
    ARROW_BEGINS,
    ARROW_GOES_ON, /* it begins if none is under way */
    ARROW_STEPS,
    ARROW_ENDS
};

struct arrow_point {
    uint32_t track, process;
    uint8_t kind;           /* enum arrow_kind */
    bool to_next;           /* it leads to the next slice that begins on the track, not to the one around the point */
    int32_t tag;            /* EVENT_UNKNOWN */
    int64_t time_ns, bytes; /* BYTES_UNKNOWN */
};

/* From one point to the next. */
struct arrow {
    struct arrow_point from, to;
};

struct arrows;
struct arrows *arrows_new(void);
void arrows_free(struct arrows *arrows); /* NULL: nothing */

enum status arrows_add(struct arrows *arrows, const char *text, const struct arrow_point *point,
                       struct error *err) MUST_CHECK;

/* When all points are there: the arrows. STATUS_END: no more. */
enum status arrows_next(struct arrows *arrows, struct arrow *arrow, struct error *err) MUST_CHECK;

/* After that: points that lead nowhere or come from nowhere, and those that may come from several processes. */
uint64_t arrows_lost(const struct arrows *arrows);
uint64_t arrows_uncertain(const struct arrows *arrows);

#endif
