/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/course.h"

struct course_edges course_edges_of(int64_t duration_ns)
{
    struct course_edges edges;
    for (size_t bin = 0; bin <= COURSE_BINS; bin++)
        edges.ns[bin] = course_edge(duration_ns, bin);
    return edges;
}

/* Edges are computed once for all waits (course_edges_of): a wait is added by comparisons, without a division. */
void course_add_from(int64_t *course_ns, const struct course_edges *edges, size_t bin, int64_t from_ns, int64_t to_ns)
{
    while (bin + 1 < COURSE_BINS && edges->ns[bin + 1] < to_ns) {
        /* The part up to the edge belongs to the bin before it: every ns is in exactly one bin. */
        int64_t edge_ns = edges->ns[++bin];
        if (edge_ns > from_ns) {
            time_add(&course_ns[bin - 1], edge_ns - from_ns);
            from_ns = edge_ns;
        }
    }
    if (to_ns > from_ns)
        time_add(&course_ns[bin], to_ns - from_ns);
}
