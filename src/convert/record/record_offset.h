/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_OFFSET_H
#define SIGHT_CONVERT_RECORD_RECORD_OFFSET_H

#include "core/record_format.h"

#include <stddef.h>

/* The offset from a process's CLOCK_MONOTONIC to that of process 0 of its program, at one or two moments. */
struct record_clock_line {
    int64_t first_ns, first_offset_ns, last_ns, last_offset_ns;
    int64_t first_delay_ns, last_delay_ns; /* width of the bounds: each offset may be wrong by half of it */
    size_t points;
};

/* Adds measurements; impossible ones are left out. */
void record_offset_add(struct record_clock_line *clock, const struct record_clock *record);

/* The correction of the clock at a time, in ns to add. */
int64_t record_clock_offset(const struct record_clock_line *clock, int64_t time_ns);

#endif
