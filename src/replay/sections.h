/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_SECTIONS_H
#define SIGHT_REPLAY_SECTIONS_H

#include "core/map.h"
#include "graph/graph.h"

#include <stdbool.h>

/* The sections of a program: the computing before calls of the same function at the same place in the source, or after
   a location's last call. */
struct sections {
    const struct graph *graph;
    struct map labels; /* (state, site) of the next call -> section; the last section is after the last call */
    uint32_t *of_kind; /* 1 + section, by kind of the next call */
    size_t count;
    double *own_ns; /* [location * count + section] */
    uint32_t *gaps; /* the same: number of pieces */
};

/* The most cells, one for each location and section, that are kept: they take 12 bytes each. */
enum { SECTIONS_CELLS = 1 << 20 };

/* Finds the sections, and what each location computes in them. False: there are too many. Then, too, to be cleared. */
bool sections_find(struct sections *sections, const struct graph *graph);
void sections_clear(struct sections *sections);

/* The section of the computing before the location's call; for index `count`, of that after its last. */
size_t section_of(const struct sections *sections, uint32_t location, uint32_t index);

/* The location's pieces of computing, one before each call and one after its last, in order. */
typedef void section_visit(void *context, size_t section, int64_t ns);
void sections_walk(const struct sections *sections, uint32_t location, section_visit *visit, void *context);

/* The section of the computing before the location's call: its function and place in the source. */
uint64_t section_label(const struct graph *graph, uint32_t location, uint32_t index);

#endif
