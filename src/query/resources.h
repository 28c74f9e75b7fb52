/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_RESOURCES_H
#define SIGHT_QUERY_RESOURCES_H

#include "core/sink.h"

/* What a run has, as Paradyn's Where Axis: paths of functions, machines and communicators, with the time of the first
   event of each. They are the paths that a focus takes (question.h). */

struct resource {
    char *path;       /* "/Code/p2p/MPI_Send", "/Machine/3/0"; owned */
    int64_t first_ns; /* on the trace's own clock */
};

struct resources {
    struct resource *list; /* by hierarchy, then path; numbers by their value */
    size_t count, capacity;
    int64_t begin_ns; /* first event of all */
};

/* Collects them from the events. */
struct resources_builder;
struct resources_builder *resources_builder_new(void);
struct sink *resources_builder_sink(struct resources_builder *builder); /* owned by the builder */

/* After the sink's end, while the definitions are there; frees the builder. Free with resources_clear. */
struct resources resources_builder_end(struct resources_builder *builder, const struct defs *defs);
void resources_clear(struct resources *resources);

#endif
