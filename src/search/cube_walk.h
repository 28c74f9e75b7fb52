/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_CUBE_WALK_H
#define SIGHT_SEARCH_CUBE_WALK_H

#include "search/cube.h"

/* For cube_ask.c: goes along the locations of a run, and says of everything where it belongs. */

/* What is met: a call, or a piece of computing. */
struct cube_fact {
    uint32_t location, row;
    uint32_t key[SEARCH_AXIS_COUNT]; /* CUBE_ANY: belongs to none */
    bool is_call;
    uint32_t index;   /* of the call, or of that which the computing comes before */
    struct call call; /* of a call */
    int64_t ns;       /* of computing; alone and none are parts of it and of what was before it */
    int64_t alone_ns, none_ns;
};

/* What of it is wanted. */
struct cube_walk {
    bool gaps; /* computing */
    bool calls;
    bool messages; /* communicators and tags of calls */
};
typedef void cube_visit(void *context, const struct cube_fact *fact);
void cube_walk_location(const struct cube *cube, uint32_t location, struct cube_walk what, cube_visit *visit,
                        void *context);

/* The keys of a call, wherever it is. */
void cube_place_call(const struct cube *cube, uint32_t location, const struct call *call, bool messages,
                     uint32_t key[SEARCH_AXIS_COUNT]);

/* When a location is within a part; CUBE_ANY: in all. False: it is not. */
bool cube_time_in(const struct cube *cube, uint32_t location, const struct cube_cuts *cuts, uint32_t part,
                  int64_t *begin_ns, int64_t *end_ns);

#endif
