/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_LOCKS_H
#define SIGHT_GRAPH_GRAPH_LOCKS_H

#include "core/payload.h"
#include "graph/graph.h"

/* Locks of windows: which call waits until another process releases its lock, if one of the two locks is exclusive.
   MPI_Win_lock need not acquire anything; an MPI may do that in the first access, or later, in the background. The
   locks of a window show what its MPI does: they count as acquired

   - when MPI_Win_lock (or MPI_Win_lock_all) is left; unless one is left while another process holds a conflicting lock;
   - else when the first access of the epoch to the target is left, with the same exception;
   - else when an MPI_Win_flush after an access is left, since the access it completes was done with the lock; without a
   flush at an unknown time in MPI_Win_unlock.

   MPI_Win_lock_all locks the processes that are accessed. A lock is held from its acquisition until MPI_Win_unlock is
   entered. A process waits for the last conflicting holder that releases the lock before it acquires it itself; in the
   call of its own epoch (the lock, the first access where it acquires, the first flush after an access, the unlock)
   during which that happens, from when the call is entered and the lock is held. Locks with MPI_MODE_NOCHECK neither
   wait nor hold. */

/* A process locks another's part of a window. */
struct lock_place {
    int32_t comm;     /* the window */
    uint32_t place;   /* number of (process, window) */
    uint32_t process; /* that locks */
    uint32_t target;  /* process */
};

/* The locks of a process by MPI_Win_lock_all, and its accesses to be flushed. */
struct lock_all {
    uint32_t location, call; /* GRAPH_NONE: not locked */
    uint32_t locked;         /* 1 + the latest of its epochs; the others by next_locked */
    uint32_t accessed;       /* 1 + the latest epoch with accesses not yet flushed; the others by next_accessed */
};

/* Collects while a graph is built. Zero-initialised is empty. */
struct lock_collector {
    struct lock_epoch *epochs;
    size_t count, capacity;
    struct map open;       /* (place, target) -> 1 + index of the epoch */
    struct lock_all *alls; /* by place */
    size_t all_count;
};

/* The call locks, or locks all; the location's call accesses the target (when it is left), flushes, or unlocks (when it
   is entered). */
void locks_take(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call,
                enum window_lock lock);
void locks_take_all(struct lock_collector *locks, uint32_t place, uint32_t location, uint32_t call,
                    enum window_lock lock);
void locks_access(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call);
void locks_flush(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call,
                 bool locally);
void locks_flush_all(struct lock_collector *locks, uint32_t place, uint32_t location, uint32_t call, bool locally);
void locks_give(struct lock_collector *locks, const struct lock_place *place, uint32_t location, uint32_t call);
void locks_give_all(struct lock_collector *locks, uint32_t place, uint32_t location, uint32_t call);

/* Makes the graph's edges when all calls are left; frees what was collected. */
void locks_end(struct lock_collector *locks, struct graph *graph);

#endif
