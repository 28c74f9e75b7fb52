/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_RESOURCE_TREE_H
#define SIGHT_QUERY_RESOURCE_TREE_H

#include "core/sink.h"

/* What a run has, as Paradyn's Where Axis: paths of functions, machines and communicators, with the time of the first
   event of each. They are the paths that a focus takes (question.h). */

struct resource {
    char *path;       /* "/Code/p2p/MPI_Send", "/Machine/3/0"; owned */
    int64_t first_ns; /* on the trace's own clock */
};

struct resource_tree {
    struct resource *list; /* by hierarchy, then path; numbers by their value */
    size_t count, capacity;
    int64_t begin_ns; /* first event of all */
};

/* Collects them from the events. */
struct resource_tree_builder;
struct resource_tree_builder *resource_tree_builder_new(void);
struct sink *resource_tree_builder_sink(struct resource_tree_builder *builder); /* owned by the builder */

/* After the sink's end, while the definitions are there; frees the builder. Free with resource_tree_clear. */
struct resource_tree resource_tree_builder_end(struct resource_tree_builder *builder, const struct defs *defs);
void resource_tree_clear(struct resource_tree *tree);

#endif
