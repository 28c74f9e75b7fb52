/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_QUERY_RESOURCE_TREE_H
#define SIGHT_QUERY_RESOURCE_TREE_H

#include "engine/engine.h"

/* What a run has, as Paradyn's Where Axis: paths of functions, machines, communicators and phases, with the time of the
   first event of each. They are the paths that a focus takes (question.h), except for threads. */

struct resource {
    char *path;       /* "/Code/p2p/MPI_Send", "/Machine/3/0"; owned */
    int64_t first_ns; /* on the trace's own clock */
};

struct resource_tree {
    struct resource *list; /* by hierarchy, then path; numbers by their value */
    size_t count, capacity;
    int64_t begin_ns; /* first event of all */
    struct trace_end end;
};

/* Reads the trace of the request; its window and processes do not count. Free with resource_tree_clear, also after a
   fault. */
enum status resource_tree_read(struct resource_tree *tree, const struct engine_request *request,
                               struct error *err) MUST_CHECK;
void resource_tree_clear(struct resource_tree *tree); /* all zero: nothing */

#endif
