/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_PROCESS_RESOURCES_H
#define SIGHT_METRICS_PROCESS_RESOURCES_H

#include "core/resource_counter.h"

#include <stddef.h>
#include <stdint.h>

/* What processes got of the machine, from the counters of recordings (core/resource_counter.h): those of their main
   threads. */

struct process_resources {
    uint32_t rank;
    int64_t wall_ns;                                           /* from the first reading to the last */
    int64_t first[RESOURCE_COUNTERS], last[RESOURCE_COUNTERS]; /* values; -1: not known */
};

struct resources {
    struct process_resources *process; /* with readings, by rank */
    size_t count;
};

/* Of the rank, by bisection; NULL: none. `resources` may be NULL. */
const struct process_resources *resources_of(const struct resources *resources, uint32_t rank);

/* A process without any value yet. */
struct process_resources process_resources_none(uint32_t rank);

void resources_free(struct resources *resources); /* NULL: nothing */

/* What a process used of a counter between its readings; of one that is no sum its last value. -1: not known. */
int64_t resources_used(const struct process_resources *process, enum resource_counter counter);

#endif
