/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SITES_H
#define SIGHT_RECORD_SITES_H

#include "record/location.h"

/* The places of the program that call MPI: return addresses, numbered by each location in order of occurrence. They are
   resolved after the run. Programs often call MPI by way of small functions of their own, whose line says nothing: of a
   small function the places that call it are told apart, too (wrapped.h), and of a library those where the program
   calls that (library_call.h). The merge decides which of them counts. */

/* The slot of a call in the location's hash table: place, function and communicator have one number. */
struct site {
    uintptr_t caller;
    uintptr_t outer; /* where the function of `caller` was called; below SITE_OUTER_LEAST it is not told apart, or this
                        is where to find it: see site_depth() */
    uint32_t call;   /* function and communicator */
    uint32_t number; /* 0: free */
    uint64_t calls;
};

/* A place whose callers are told apart: on the stack, they are so many bytes above the return address, and there have
   been so many. The first SITE_OUTERS_MAX have sites of their own, and all later ones share that of the place. No code
   is at addresses as low as SITE_OUTER_LEAST. */
/* Instead of so many bytes: of a library's call. */
enum { SITE_DEPTH_LIBRARY = 511 };
enum { SITE_DEPTH_BITS = 9, SITE_OUTERS_MAX = 100, SITE_OUTER_LEAST = 1 << 16 };
static inline uint32_t site_depth(const struct site *site)
{
    return (uint32_t)site->outer & ((1 << SITE_DEPTH_BITS) - 1);
}
static inline uint32_t site_outers(const struct site *site)
{
    return (uint32_t)site->outer >> SITE_DEPTH_BITS;
}

enum { SITE_COMM_BITS = 9 };
static inline uint32_t site_call(uint32_t function, uint32_t comm)
{
    return function << SITE_COMM_BITS | (comm < RECORD_SHORT_COMMS ? comm : RECORD_SHORT_COMMS);
}

static inline size_t site_slot(uintptr_t caller, uintptr_t outer, uint32_t call)
{
    return (size_t)((caller ^ outer << 20 ^ (uint64_t)call << 40) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* A site that is not in its slot; a new one is defined, at `ticks`. NULL: it cannot be kept. */
struct site *site_find(struct location *location, uintptr_t caller, const uintptr_t *stack, uint32_t call,
                       int64_t ticks);

/* The place that calls a function, valid until the next one is looked up; NULL: not known. `stack`: where the return
   address of the call is, which is `caller` unless a library stands between; NULL: not known. */
static inline struct site *site_of(struct location *location, const void *caller, const uintptr_t *stack,
                                   uint32_t function, uint32_t comm, int64_t ticks)
{
    uint32_t call = site_call(function, comm);
    struct site *site = &location->sites[site_slot((uintptr_t)caller, 0, call) & location->site_mask];
    if (__builtin_expect(site->caller == (uintptr_t)caller && site->call == call && site->outer == 0, 1))
        return site;
    return site_find(location, (uintptr_t)caller, stack, call, ticks);
}

/* The table of a new location. */
void sites_start(struct location *location);

#endif
