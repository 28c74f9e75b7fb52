/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_HANG_H
#define SIGHT_METRICS_HANG_H

#include "core/defs.h"

#include <stddef.h>
#include <stdint.h>

/* Why a run hangs, as stuck/stuck.h finds it. It is kept with the metrics, so that a diagnosis of a metrics file says
   the same as one of the trace. */

enum stuck_kind {
    STUCK_NOT,         /* the run finished, or the trace does not record enough */
    STUCK_SLOW,        /* it continued until it was ended */
    STUCK_CYCLE,       /* processes wait for each other */
    STUCK_MISSING,     /* members never enter a collective */
    STUCK_MISMATCH,    /* members are in different collectives */
    STUCK_UNMATCHED,   /* a message is never sent, or never received */
    STUCK_ENDED,       /* a process crashed, exited or aborted */
    STUCK_COMPUTING,   /* some compute, all others wait for them */
    STUCK_POLLING,     /* a loop of tests that fail */
    STUCK_UNEXPLAINED, /* processes are in MPI where the trace ends, which does not tell why */
    STUCK_KINDS
};

/* "cycle", "missing", ...; NULL for STUCK_NOT. And back: STUCK_NOT for an unknown name. */
const char *stuck_kind_name(enum stuck_kind kind);
enum stuck_kind stuck_kind_find(const char *name);

/* The state of a process that has not ended normally. */
struct stuck_call {
    uint32_t rank;
    uint32_t state; /* index into defs->states of its open call, or of the test that it loops over; UINT32_MAX: none */
    uint32_t site;  /* of that call, else of the last one; 1 + index into defs->sites, 0: not known */
    uint32_t last;  /* the last call of a process without an open one; UINT32_MAX: none */
    int32_t partner, tag; /* what it waits for; EVENT_UNKNOWN: not known; PENDING_ANYBODY: any process, any tag */
    int32_t comm;         /* index into defs->comms; EVENT_UNKNOWN */
    int64_t since_ns; /* on the trace's clock: entered, or left the last call; of a loop of tests, since they fail */
    bool loops;       /* over tests */
    bool died;        /* the process ended, maybe while others ran: */
    int64_t died_ns;  /* then */
};

struct stuck {
    enum stuck_kind kind;
    const struct defs *defs; /* borrowed of the trace */
    char *text;              /* the problem, in sentences; NULL for STUCK_NOT */
    bool died;               /* STUCK_ENDED: without a note, so that the process may have hung before */
    bool quiet;              /* STUCK_SLOW: nothing happened for long; `text` says what is known */
    bool beyond;         /* what is said beside it is also of the time after since_ns, which could not be left out */
    int64_t begin_ns;    /* of the run, on the trace's clock */
    int64_t end_ns;      /* the last time when its processes are known to have lived */
    int64_t progress_ns; /* the last thing that any of them did except for failed tests */
    int64_t waited_ns;   /* the longest time that one has been in its open call, or in failed tests; INT64_MAX:
                            no call is known of one that goes on */
    int64_t since_ns;    /* on the trace's clock: no progress from then on */
    uint32_t *processes; /* the processes that are the problem */
    size_t process_count;
    uint32_t *cycle; /* each waits for the next one, the last one for the first */
    size_t cycle_count;
    struct stuck_call *calls; /* of all processes that have not ended normally, by rank */
    size_t call_count;
};

void stuck_free(struct stuck *stuck); /* NULL: nothing */

/* True if there is something to report: not of a run that finished, or that only was slow. */
static inline bool stuck_is_reported(const struct stuck *stuck)
{
    return stuck && stuck->kind > STUCK_SLOW;
}

#endif
