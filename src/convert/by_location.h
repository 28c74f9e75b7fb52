/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_BY_LOCATION_H
#define SIGHT_CONVERT_BY_LOCATION_H

#include "convert/writer.h"

/* What writers for viewers need: the events of one location after the other, with times from 0 that do not go back,
   states that nest, and messages of which both ends are known. States that cross others get a lane of their own: on one
   lane every leave is that of the innermost. Memory is bounded, but for what is open, and 16 bytes for each channel. */

struct by_location;

/* The spans of an analysis lie beside the lanes of the states. */
enum { LANE_NONE = -1 /* outside all states */ };

struct placed {
    struct event event;         /* time_ns from the trace's begin */
    const unsigned char *arena; /* that of the payload */
    int lane;                   /* enters and leaves: that of the state; others: that of the innermost open state */
    uint64_t message;           /* of a send or receive: the same number at both ends, from 1; 0: no other end */
};

/* All are called in the order of threads, their processes, and time; any but `event` may be NULL. STATUS_FAILED
   and a fault ends the walk. */
struct location_visitor {
    void (*begin)(void *context, uint32_t process, uint32_t thread);
    enum status (*event)(void *context, const struct placed *placed, struct error *err);
    void (*span)(void *context, const struct writer_span *span); /* times from the trace's begin */
    enum status (*end)(void *context, struct error *err);        /* of the location */
};

/* `writer` is where losses are counted: ends without a begin, times that go back, records about the trace. */
struct by_location *by_location_new(struct writer *writer);
void by_location_free(struct by_location *by);

/* Collects events and spans, in the order of the trace. */
enum status by_location_add(struct by_location *by, const struct batch *batch, struct error *err) MUST_CHECK;
enum status by_location_add_span(struct by_location *by, const struct writer_span *span, struct error *err) MUST_CHECK;

/* When all are there: walks over them; may be asked again. */
enum status by_location_walk(struct by_location *by, const struct location_visitor *visitor, void *context,
                             struct error *err) MUST_CHECK;

/* The trace's first time, on its own clock, and its last, counted from the first; 0 without events. */
int64_t by_location_begin_ns(const struct by_location *by);
int64_t by_location_duration_ns(const struct by_location *by);

/* Processes and threads of a process that there are, declared or not. */
uint32_t by_location_processes(const struct by_location *by);
uint32_t by_location_threads(const struct by_location *by);

/* Lanes of a location: at least 1. From lane 1 on each is of one state. */
int by_location_lanes(const struct by_location *by);
int by_location_lane(const struct by_location *by, uint32_t state);
uint32_t by_location_lane_state(const struct by_location *by, int lane);

/* Counts as lost the ends of messages that a format of whole messages cannot hold: those without the other end, of an
   unknown partner, and of MPI_PROC_NULL. */
void by_location_lose_ends(const struct by_location *by);

#endif
