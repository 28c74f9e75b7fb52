/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_COURSE_H
#define SIGHT_METRICS_COURSE_H

#include "core/event.h"

#include <stddef.h>
#include <stdint.h>

/* Time of all processes over the run, in COURSE_BINS parts of equal length, in ns. No time is lost: the parts add up to
   the whole. */
enum { COURSE_BINS = 128 };

/* Begin of bin `bin`, from the run's begin; for COURSE_BINS the run's end. */
static inline int64_t course_edge(int64_t duration_ns, size_t bin)
{
    int64_t each = duration_ns / COURSE_BINS, rest = duration_ns % COURSE_BINS;
    return each * (int64_t)bin + rest * (int64_t)bin / COURSE_BINS;
}

/* The edges of a run's bins, for course_add. */
struct course_edges {
    int64_t ns[COURSE_BINS + 1];
};
struct course_edges course_edges_of(int64_t duration_ns);

/* The bin of a time, searched from `bin` on: times of a process mostly increase. */
static inline size_t course_bin(const struct course_edges *edges, size_t bin, int64_t time_ns)
{
    while (bin + 1 < COURSE_BINS && edges->ns[bin + 1] <= time_ns)
        bin++;
    while (bin > 0 && edges->ns[bin] > time_ns)
        bin--;
    return bin;
}

/* Adds the time from `from_ns` to `to_ns` to its bins; time outside the run counts for the first or last bin. `bin` is
   course_bin of from_ns. */
void course_add_from(int64_t *course_ns, const struct course_edges *edges, size_t bin, int64_t from_ns, int64_t to_ns);
static inline void course_add(int64_t *course_ns, const struct course_edges *edges, size_t bin, int64_t from_ns,
                              int64_t to_ns)
{
    if (bin + 1 >= COURSE_BINS || to_ns <= edges->ns[bin + 1])
        time_add(&course_ns[bin], to_ns > from_ns ? to_ns - from_ns : 0);
    else
        course_add_from(course_ns, edges, bin, from_ns, to_ns);
}

#endif
