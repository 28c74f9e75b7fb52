/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_CUBE_WALK_H
#define SIGHT_SEARCH_CUBE_WALK_H

#include "search/cube.h"

/* For cube_ask.c: walks the locations of a run, and finds the parts that everything belongs to. */

/* A piece of the walk: a call, or computing. */
struct cube_fact {
    uint32_t location, row;
    uint32_t key[SEARCH_AXIS_COUNT]; /* CUBE_ANY: belongs to none */
    bool is_call;
    uint32_t index;   /* of the call, or of the call after the computing */
    struct call call; /* of a call */
    int64_t begin_ns; /* of the piece */
    int64_t ns;       /* of computing; alone and none are parts of it and of the time before it */
    int64_t alone_ns, none_ns;
};

/* What is requested of it. */
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

/* The keys of a send that is in no list of a call. */
void cube_place_loose(const struct cube *cube, const struct loose_send *send, uint32_t key[SEARCH_AXIS_COUNT]);

/* When a location is within a part; CUBE_ANY: in all. False: it is not. */
bool cube_time_in(const struct cube *cube, uint32_t location, const struct cube_cuts *cuts, uint32_t part,
                  int64_t *begin_ns, int64_t *end_ns);

#endif
