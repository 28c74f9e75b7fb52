/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_COURSE_H
#define SIGHT_METRICS_COURSE_H

#include "core/event.h"

#include <stddef.h>
#include <stdint.h>

/* Time of all processes by when it is spent: the run in COURSE_BINS parts of equal length, in ns. What is put in comes
   out: the parts add up to the whole. */
enum { COURSE_BINS = 128 };

/* Where bin `bin` begins, from the run's begin; of COURSE_BINS: the run's end. */
static inline int64_t course_edge(int64_t duration_ns, size_t bin)
{
    int64_t each = duration_ns / COURSE_BINS, rest = duration_ns % COURSE_BINS;
    return each * (int64_t)bin + rest * (int64_t)bin / COURSE_BINS;
}

/* Edges of a run, for course_add. */
struct course_edges {
    int64_t ns[COURSE_BINS + 1];
};
struct course_edges course_edges_of(int64_t duration_ns);

/* The bin of a time, looked for from `bin` on: times of a process mostly go forward. */
static inline size_t course_bin(const struct course_edges *edges, size_t bin, int64_t time_ns)
{
    while (bin + 1 < COURSE_BINS && edges->ns[bin + 1] <= time_ns)
        bin++;
    while (bin > 0 && edges->ns[bin] > time_ns)
        bin--;
    return bin;
}

/* Adds the time from `from_ns` to `to_ns` where it lies; what lies outside the run counts to its first or last bin.
   `bin` is course_bin of from_ns. */
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
