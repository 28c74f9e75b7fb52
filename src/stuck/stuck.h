/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_H
#define SIGHT_STUCK_STUCK_H

#include "core/past.h"
#include "core/sink.h"

/* Why an unfinished run does not continue: what every process waits for at the end of its trace, and what can never
   happen. Waiting is AND-OR: a call may wait for all of several processes (a collective, MPI_Waitall) or for any of
   them (MPI_ANY_SOURCE, MPI_Waitany). A process is stuck if no running process can lead to what it waits for. Anything
   that the trace does not record may still happen: nothing is claimed about it. */

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

/* "cycle", "missing", ...; NULL for STUCK_NOT. */
const char *stuck_kind_name(enum stuck_kind kind);

/* The state of a process that has not ended normally. */
struct stuck_call {
    uint32_t rank;
    uint32_t state;       /* index into defs->states of its open call; UINT32_MAX: none */
    uint32_t site;        /* of that call, else of the last one; 1 + index into defs->sites, 0: not known */
    uint32_t last;        /* the last call of a process without an open one; UINT32_MAX: none */
    int32_t partner, tag; /* what it waits for; EVENT_UNKNOWN: not known; PENDING_ANYBODY: any process, any tag */
    int32_t comm;         /* index into defs->comms; EVENT_UNKNOWN */
    int64_t since_ns;     /* on the trace's clock: entered, or left the last call */
    bool died;            /* the process ended without a note, while others ran: */
    int64_t died_ns;      /* then */
};

struct stuck {
    enum stuck_kind kind;
    const struct defs *defs; /* borrowed of the trace */
    char *text;              /* the problem, in sentences; NULL for STUCK_NOT */
    bool died;               /* STUCK_ENDED: without a note, so that the process may have hung before */
    bool quiet;              /* STUCK_SLOW: nothing happened for long; `text` says what is known */
    int64_t begin_ns;        /* of the run, on the trace's clock */
    int64_t end_ns;          /* the last time when its processes are known to have lived */
    int64_t progress_ns;     /* the last thing that any of them did except for failed tests */
    int64_t waited_ns;       /* the longest time that one has been in its open call, or in failed tests; INT64_MAX:
                                no call is known of one that goes on */
    int64_t since_ns;        /* on the trace's clock: no progress from then on */
    uint32_t *processes;     /* the processes that are the problem */
    size_t process_count;
    uint32_t *cycle; /* each waits for the next one, the last one for the first */
    size_t cycle_count;
    struct stuck_call *calls; /* of all processes that have not ended normally, by rank */
    size_t call_count;
};

/* Collects the data from the events. Costs next to nothing in runs that finished. */
struct stuck_builder;
struct stuck_builder *stuck_builder_new(void);
struct sink *stuck_builder_sink(struct stuck_builder *builder); /* owned by the builder */

/* Takes the past of a run when the sink gets only the last events: after the sink's begin, before its first
   event. Owned by the builder. */
const struct past_sink *stuck_builder_past(struct stuck_builder *builder);

/* After the sink's end: the verdict. Frees the builder. */
struct stuck *stuck_builder_end(struct stuck_builder *builder);
void stuck_free(struct stuck *stuck); /* NULL: nothing */

/* Below this time without progress nothing hangs: messages may be in transit, or buffers about to be emptied. */
#define STUCK_QUIET_NS INT64_C(100000000)

/* The verdict on a run that was read from its begin, taken over where nothing has happened since then: `now` was
   read without the past that the verdict needs. False: it has to be judged again. */
bool stuck_still(struct stuck *now, const struct stuck *before);

#endif
