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
    X(MEMORY, "memory", "B", ABSOLUTE, HOST)                                                                           \
    X(FIRST_CORE, "first usable core", "", ABSOLUTE, PROCESS)                                                          \
    X(MEMORY_LIMIT, "memory limit", "B", ABSOLUTE, PROCESS)                                                            \
    X(LOOP, "time of a fixed loop", "ns", ABSOLUTE, PROCESS)                                                           \
    X(READ, "read from disk", "B", ACCUMULATED, PROCESS)                                                               \
    X(WRITTEN, "written to disk", "B", ACCUMULATED, PROCESS)                                                           \
    X(SYNC, "waiting in fsync", "ns", ACCUMULATED, THREAD)                                                             \
    X(BLOCKED, "waiting for disks", "ns", ACCUMULATED, THREAD)                                                         \
    X(STALLED, "host waits for disks", "ns", ACCUMULATED, HOST)                                                        \
    X(ENERGY, "energy", "uJ", ACCUMULATED, HOST)                                                                       \
    X(ASLEEP, "asleep", "ns", ACCUMULATED, THREAD)                                                                     \
    /* From here on not recorded, but made of those above (profile/resources.h). */                                    \
    X(PAGE_WAIT, "waiting for pages from disk", "ns", ABSOLUTE, THREAD)                                                \
    X(READ_WAIT, "waiting for reads from disk", "ns", ABSOLUTE, THREAD)                                                \
    X(SYNC_WAIT, "off its core in fsync", "ns", ABSOLUTE, THREAD)                                                      \
    X(READINGS, "readings of peak memory", "", ABSOLUTE, PROCESS)                                                      \
    X(RISES, "rises of peak memory", "", ABSOLUTE, PROCESS)                                                            \
    X(LAST_RISE, "last rise of peak memory", "ns", ABSOLUTE, PROCESS)                                                  \
    X(ENDING, "ending MPI", "ns", ABSOLUTE, PROCESS)                                                                   \
    X(ENDING_CPU, "CPU time of ending MPI", "ns", ABSOLUTE, THREAD)                                                    \
    X(ENDING_DELAY, "waiting for a core while ending MPI", "ns", ABSOLUTE, THREAD)
enum resource_counter {
#define RESOURCE_COUNTER_MEMBER(name, ...) RESOURCE_##name,
    RESOURCE_COUNTER_ROWS(RESOURCE_COUNTER_MEMBER)
#undef RESOURCE_COUNTER_MEMBER
        RESOURCE_COUNTERS,
    RESOURCE_RECORDED = RESOURCE_PAGE_WAIT
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
