/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_RESOURCE_COUNTER_H
#define SIGHT_CORE_RESOURCE_COUNTER_H

#include "core/defs.h"

/* The counters that recordings have of what a thread gets of the machine. X(name, title, unit, mode, scope): sums since
   the start of the thread are ACCUMULATED. */
#define RESOURCE_COUNTER_ROWS(X)                                                                                       \
    X(CPU, "CPU time", "ns", ACCUMULATED, THREAD)                                                                      \
    X(DELAY, "waiting for a core", "ns", ACCUMULATED, THREAD)                                                          \
    X(VOLUNTARY, "voluntary switches", "", ACCUMULATED, THREAD)                                                        \
    X(INVOLUNTARY, "involuntary switches", "", ACCUMULATED, THREAD)                                                    \
    X(FAULTS, "page faults", "", ACCUMULATED, THREAD)                                                                  \
    X(DISK_FAULTS, "page faults from disk", "", ACCUMULATED, THREAD)                                                   \
    X(PEAK, "peak memory", "B", ABSOLUTE, PROCESS)                                                                     \
    X(CORES, "cores", "", ABSOLUTE, HOST)                                                                              \
    X(USABLE, "usable cores", "", ABSOLUTE, PROCESS)                                                                   \
    X(QUOTA, "CPU limit", "permille", ABSOLUTE, PROCESS)                                                               \
    X(MEMORY, "memory", "B", ABSOLUTE, HOST)
enum resource_counter {
#define RESOURCE_COUNTER_MEMBER(name, ...) RESOURCE_##name,
    RESOURCE_COUNTER_ROWS(RESOURCE_COUNTER_MEMBER)
#undef RESOURCE_COUNTER_MEMBER
        RESOURCE_COUNTERS
};

/* Adds the mark definition of a counter; its index. */
uint32_t resource_counter_define(struct defs *defs, enum resource_counter counter);

/* Which of them a mark definition is; RESOURCE_COUNTERS: none. */
enum resource_counter resource_counter_of(const struct mark_def *mark);

/* The same by its name. */
enum resource_counter resource_counter_named(const char *name);
const char *resource_counter_name(enum resource_counter counter);

/* Whether it is a sum over time. */
bool resource_counter_is_sum(enum resource_counter counter);

#endif
