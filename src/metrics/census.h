/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_CENSUS_H
#define SIGHT_METRICS_CENSUS_H

#include "core/map.h"
#include "core/sink.h"
#include "metrics/packing.h"

/* Counts what a trace holds: a sink. Definitions are borrowed from the reader, until the census is cleared. Those of
   parts of a trace can be put together. */
struct census {
    struct sink sink;
    const struct defs *defs;
    bool any;                 /* there are events; else no times */
    int64_t begin_ns, end_ns; /* earliest and latest event */
    uint64_t events;          /* those that event_counts() */
    struct map processes;     /* rank -> time of its latest event, as bits */
    struct map firsts;        /* rank -> time of its first event, likewise */
    struct map courses;       /* rank -> how far MPI is on it: empty where the trace has no MPI_Init */
    uint64_t aborts;          /* calls of MPI_Abort */
    uint32_t largest_thread;
    uint64_t time_back;   /* events earlier than their predecessor on the process */
    uint64_t *state_uses; /* enters and leaves by state */
    size_t state_count, state_capacity;
    uint64_t *mark_uses; /* marks and counters' values by mark */
    size_t mark_count, mark_capacity;
    uint64_t *site_uses; /* calls by site */
    size_t site_count, site_capacity;
    uint64_t samples;
};

void census_start(struct census *census);
void census_clear(struct census *census); /* frees what it holds */

/* Adds what follows in the trace, counted with the same definitions. */
void census_add(struct census *census, const struct census *later);

/* Processes that have MPI_Init, but no MPI_Finalize after it. */
uint64_t census_unfinished(const struct census *census);

/* On its way to another process of the same sight. The definitions stay behind. */
void census_pack(const struct census *census, struct packing *packing);
void census_unpack(struct unpacking *unpacking, struct census *census);

/* Uses of the definition `index` in one of the arrays above; 0 beyond its end. */
static inline uint64_t census_uses(const uint64_t *uses, size_t count, size_t index)
{
    return index < count ? uses[index] : 0;
}

#endif
