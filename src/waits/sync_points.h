/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_WAITS_SYNC_POINTS_H
#define SIGHT_WAITS_SYNC_POINTS_H

#include "core/map.h"
#include "graph/wait.h"
#include "graph/wait_table.h"

/* The waits of a run by location, visited from the last to the first, and where locations have synchronised: the input
   of the analysis of delays (rules of diagnosis_rules 1.1). Two locations synchronise in a wait of one for a message,
   receive or root of the other, and in all-to-all collectives that no process leaves before the last one arrives; in
   neighbourhood collectives, and on inter-communicators, in a wait of one for the other. A message without a wait is
   not such a point. Memory: 12 bytes for each wait of a location that waits for messages or roots, 4 for each call of
   a collective, 64 for each wait with a clock error. */

struct wait_point {
    int64_t
        order_ns; /* enter of the delayer's call; with clock errors not before that of the location's previous wait */
    double ns;    /* > 0 */
    uint32_t call, cause_location, cause_call;
    uint8_t kind; /* enum wait_kind */
    bool ties;    /* is a synchronisation point of the two locations */
};

/* What a wait is for: kept where finding it again takes longer. */
struct wait_cause {
    uint32_t location, call;
};

/* A wait that synchronises its location and another. */
struct tie {
    uint32_t previous; /* 1 + the call of the previous one for the same location; 0: none */
    struct wait_cause cause;
};

/* A communicator on a location: calls of its collectives that are not yet visited. */
struct comm_track {
    int32_t comm;
    uint32_t *calls;
    size_t count, capacity;
};

struct location_points {
    struct wait_point latest; /* of the waits not yet visited */
    struct tie *ties;         /* by wait, for those that synchronise; NULL: none does */
    struct comm_track *tracks;
    size_t track_count, track_capacity;
    size_t left; /* waits not yet visited */
};

struct sync_points {
    const struct graph *graph;
    struct location_points *locations;
    struct map
        pairs; /* (waiter, delayer) -> 1 + call of the latest wait that synchronises them and is not yet visited */
    struct map tracks; /* (location, communicator) -> track of the location */
    struct map held;   /* (location, call) -> order_ns of a wait whose delayer enters before that of the wait before */
};

struct sync_points sync_points_of(const struct graph *graph);
void sync_points_clear(struct sync_points *points);

/* Removes the location's latest wait: from now on it is later than everything queried. */
struct wait_point sync_points_take(struct sync_points *points, uint32_t location);

/* Where an interval begins on a location. */
struct opening {
    int64_t call;   /* the point; -1: begin of the run */
    double rest_ns; /* time of that call that belongs to the interval */
};

/* The latest synchronisation point of both locations before their calls. Must be queried in descending order of time.
 */
struct common_point {
    struct opening waiter, delayer;
};
struct common_point common_point_before(struct sync_points *points, uint32_t waiter, uint32_t waiter_call,
                                        uint32_t delayer, uint32_t delayer_call);

#endif
