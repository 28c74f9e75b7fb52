/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_BEFORE_HANG_H
#define SIGHT_STUCK_BEFORE_HANG_H

#include "core/map.h"
#include "core/sink.h"

/* A sink that passes on all events except marks of pending calls: for analyses of the time before the hang, in which a
   call that never returned has no length. A thread that is in no call of MPI goes on computing until the hang, or until
   it ends: one of its marks is passed on in the end, with that time.

   Where others go on after the hang has begun, what they do then is left out: only that they leave what they are in, as
   if they did when it began, and that they come to MPI_Finalize. */
enum { BEFORE_HANG_SINKS = 8 };
struct before_hang {
    struct sink sink;
    struct sink *sinks[BEFORE_HANG_SINKS];
    size_t count;
    const struct defs *defs;
    uint32_t mark;    /* 1 + index of the mark; 0: none */
    int64_t until_ns; /* then the hang begins; INT64_MAX: with the last event */
    struct map later; /* states entered after that and not left, by process and thread */
    struct batch kept;
    struct map depths;  /* of calls of MPI that are open, by process and thread */
    struct event *ends; /* marks of threads that are in none */
    size_t end_count, end_capacity;
    int64_t last_ns; /* the last event but those marks: then the hang begins */
};

void before_hang_start(struct before_hang *before, struct sink *const *sinks, size_t count, int64_t until_ns);
void before_hang_clear(struct before_hang *before);

#endif
