/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_STATE_H
#define SIGHT_CONVERT_RECORD_RECORD_STATE_H

#include "convert/reader.h"
#include "convert/record/record_openmp.h"
#include "convert/record/record_pending.h"
#include "convert/record/record_plan.h"
#include "convert/record/record_run.h"
#include "core/event.h"

/* What the parts of the reader of recordings share. Its files are streams that are merged by time (record_streams.h),
   each record becomes events (record_translate.h), and what is left at the end says how processes ended
   (record_endings.h). */

enum {
    EVENTS_PER_RECORD = RESOURCE_COUNTERS, /* at most; more than a communicator's */
    OUTER_CALLS = 4                        /* in each other, that are known while callbacks call MPI */
};

/* A file, on its way through the merge. */
struct record_stream {
    int64_t time_ns; /* of the next record, on the trace's clock */
    uint32_t file;
    size_t knot;                      /* of its clock's map */
    const struct record_base *record; /* NULL: only the end of the recording is left */
};

/* What is left to emit for a file after its records. */
struct record_ending {
    struct record_pending_items items;
    size_t reported;
};

/* The current call of a file until its leave: its site, the bytes moved, and its last requests. */
struct record_current {
    uint32_t site;
    uint32_t request, requests;
    bool moved;
    uint16_t state;
    int32_t root;
    uint64_t sent, received;
    struct record_last_call last;
    struct {
        struct record_last_call call;
        uint32_t site;
    } outer[OUTER_CALLS]; /* in which it is, called by callbacks: the outermost first */
    uint32_t inside;      /* so many, or more */
    int64_t last_ns;      /* of its last record */
    bool reported;        /* how it ended */
};

/* What the reader of a recording knows (reader->state). */
struct record_state {
    struct record_run run;
    struct record_current *current; /* by file */
    struct record_openmp *openmp;
    struct record_openmp_end openmp_end;
    struct record_stream *heap;
    size_t count;
    int64_t begin_ns;            /* of the run on the clock of process 0: the trace's 0 */
    int64_t last_ns;             /* the latest event */
    uint32_t ending_file;        /* the first whose end is still to be emitted, after all records */
    struct record_ending ending; /* of this file */
    char host[RECORD_NAME_SIZE];
    uint64_t events, foreign;
    uint64_t lost_messages;  /* of communicators whose definition is lost */
    uint64_t late_bytes;     /* to read of each file; 0: all */
    int64_t from_ns;         /* all files are read from then on */
    struct record_plan plan; /* of a recording that keeps a sample */
    struct recordings *own;  /* NULL: they are the caller's */
};

/* The process of a stream. */
static inline struct record_process *record_stream_process(struct record_state *state,
                                                           const struct record_stream *stream)
{
    return &state->run.processes[state->run.process_of[stream->file]];
}

/* From its ticks to ns. */
static inline const struct record_clock_map *record_stream_clock(const struct record_state *state,
                                                                 const struct record_stream *stream)
{
    const struct record_run *run = &state->run;
    return &run->clocks.maps[run->processes[run->process_of[stream->file]].clock_map];
}

/* The communicator with its process's number; NULL: there is no definition of it. */
static inline const struct record_comm_place *record_stream_comm(struct record_state *state,
                                                                 const struct record_stream *stream, uint32_t comm)
{
    return record_run_comm(record_stream_process(state, stream), comm);
}

/* Adds an event like `base` to the batch, in which there is room. */
static inline struct event *record_add_event(struct batch *batch, const struct event *base, enum event_kind kind)
{
    struct event *event = &batch->events[batch->count++];
    *event = *base;
    event->kind = (uint8_t)kind;
    return event;
}

/* A rank as of events. It may be invalid: MPI_PROC_NULL is -1. */
static inline int32_t record_rank(int32_t rank)
{
    if (rank >= -1 && rank < PROCESS_LIMIT)
        return rank;
    return EVENT_UNKNOWN;
}

/* A rank of the communicator as a process. In the world of a single program, ranks are processes already: no look-up
   for most messages. */
static inline int32_t record_partner(const struct defs *defs, const struct record_comm_place *place, int32_t rank)
{
    if (place->partner == 0)
        return record_rank(rank);
    return defs_world_rank(defs, place->partner, rank);
}

/* A number of bytes as of events. */
static inline int64_t record_bytes(uint64_t bytes)
{
    if (bytes <= INT64_MAX)
        return (int64_t)bytes;
    return BYTES_UNKNOWN;
}

#endif
