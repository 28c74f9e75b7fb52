/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SITES_H
#define SIGHT_RECORD_SITES_H

#include "record/location.h"

/* The places of the program that call MPI: return addresses, numbered by each location in order of occurrence. They are
   resolved after the run. */

/* The slot of a call in the location's hash table: place, function and communicator have one number. */
struct site {
    uintptr_t caller;
    uint32_t call;   /* function and communicator */
    uint32_t number; /* 0: free */
    uint64_t calls;
};

enum { SITE_COMM_BITS = 9 };
static inline uint32_t site_call(uint32_t function, uint32_t comm)
{
    return function << SITE_COMM_BITS | (comm < RECORD_SHORT_COMMS ? comm : RECORD_SHORT_COMMS);
}

static inline size_t site_slot(uintptr_t caller, uint32_t call)
{
    return (size_t)((caller ^ (uint64_t)call << 40) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* A site that is not in its slot; a new one is defined, at `ticks`. NULL: it cannot be kept. */
struct site *site_find(struct location *location, uintptr_t caller, uint32_t call, int64_t ticks);

/* The place that calls a function, valid until the next one is looked up; NULL: not known. */
static inline struct site *site_of(struct location *location, const void *caller, uint32_t function, uint32_t comm,
                                   int64_t ticks)
{
    uint32_t call = site_call(function, comm);
    struct site *site = &location->sites[site_slot((uintptr_t)caller, call) & location->site_mask];
    if (__builtin_expect(site->caller == (uintptr_t)caller && site->call == call, 1))
        return site;
    return site_find(location, (uintptr_t)caller, call, ticks);
}

/* The table of a new location. */
void sites_start(struct location *location);

#endif
