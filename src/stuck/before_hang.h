/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_BEFORE_HANG_H
#define SIGHT_STUCK_BEFORE_HANG_H

#include "core/sink.h"

/* A sink that passes on all events except marks of pending calls: for analyses of the time before the hang, in which a
   call that never returned has no length. */
enum { BEFORE_HANG_SINKS = 4 };
struct before_hang {
    struct sink sink;
    struct sink *sinks[BEFORE_HANG_SINKS];
    size_t count;
    uint32_t mark; /* 1 + index of the mark; 0: none */
    struct batch kept;
};

void before_hang_start(struct before_hang *before, struct sink *const *sinks, size_t count);

#endif
