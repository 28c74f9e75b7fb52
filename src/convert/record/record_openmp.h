/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_OPENMP_H
#define SIGHT_CONVERT_RECORD_RECORD_OPENMP_H

#include "convert/record/record_run.h"
#include "core/event.h"

/* OpenMP's parallel regions of a recording: a state for each region, and one for waiting at its end. A thread other
   than the master waits until the master's region ends, which only the master's file says. */

/* Of a file: what is open. */
struct record_openmp {
    bool parallel, waiting;
    uint32_t state; /* of the region; that of waiting is the next */
    uint32_t team;
};

/* The end of a region that is being passed on to the threads of its process. */
struct record_openmp_end {
    bool active;
    size_t file; /* the next one */
    uint32_t process, team;
    int64_t time_ns;
};

/* True for the states of RECORD_OPENMP_REGION. */
static inline bool record_openmp_is(uint32_t state)
{
    return state == RECORD_OPENMP_REGION || state == RECORD_OPENMP_WORK;
}

/* After the places are resolved: defines the states of all regions. */
void record_openmp_define(struct record_run *run, struct defs *defs);

enum { RECORD_OPENMP_EVENTS = 4 }; /* of one record, or of one file at the end of a region, at most */

/* Adds the events of an entry or leave. `base` is of the record; `open` has a place for each file. The end of a region
   makes *end active. */
void record_openmp_events(const struct record_run *run, uint32_t file, const struct record_base *record,
                          const struct event *base, struct record_openmp *open, struct record_openmp_end *end,
                          struct batch *batch);

/* Goes on with the end of a region. False: the batch is full, and it is to be called again. */
bool record_openmp_end_next(const struct record_run *run, struct record_openmp *open, struct record_openmp_end *end,
                            struct batch *batch);

#endif
