/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_PROFILE_RESOURCES_H
#define SIGHT_PROFILE_RESOURCES_H

#include "core/resource_counter.h"
#include "core/sink.h"

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

struct process_resources_builder;
struct process_resources_builder *process_resources_builder_new(void);
struct sink *process_resources_builder_sink(struct process_resources_builder *builder); /* owned by the builder */

/* Frees the builder. NULL: the trace has no readings. */
struct resources *process_resources_builder_end(struct process_resources_builder *builder);
void resources_free(struct resources *resources); /* NULL: nothing */

/* What a process used of a counter between its readings; of one that is no sum its last value. -1: not known. */
int64_t resources_used(const struct process_resources *process, enum resource_counter counter);

#endif
