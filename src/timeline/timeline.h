/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_TIMELINE_H
#define SIGHT_TIMELINE_TIMELINE_H

#include "convert/stream.h"

/* A trace to look at: any window of it, coarse (tile.h) or event by event (window.h), without reading all of it.

   Rows are locations, a thread of a process each, by rank and then thread; a process without events has a row, too.
   Times are ns on the trace's own clock. Within a row time never goes back: an event that does is placed at the latest
   time before it. States are named by the lowest index of their name (state_def.first_of_name).

   Not for several threads at once: a query moves the reader. Open a timeline for each, or take turns. */

struct timeline;

struct timeline_row {
    uint32_t process, thread;
    uint64_t events;
    int64_t begin_ns, end_ns; /* first and last event; without events both are the run's begin */
    int64_t mpi_ns;           /* time inside at least one MPI function */
    int32_t ended, code;      /* without MPI_Finalize, as of core/ending.h; 0: not known */
};

/* The clock correction, if requested (clocks/clocks.h). */
struct timeline_clocks {
    uint64_t fixed; /* 1: it was */
    uint64_t early,
        torn;         /* as recorded: messages received before they were sent, collectives left before all were in */
    int64_t error_ns; /* by at most */
    int64_t shift_ns; /* largest shift of an event; 0: nothing to correct */
};

struct timeline_info {
    const struct defs *defs; /* borrowed, as everything here: until timeline_close */
    const struct timeline_row *rows;
    size_t row_count;
    int64_t begin_ns, end_ns; /* first and last event of all; both 0 where there are none */
    uint64_t events;
    struct trace_end end; /* complete, or the damage */
    const char *format;   /* of the input: "clog2" */
    struct timeline_clocks clocks;
};

/* A note for the user: that the trace was stored in the cache, with its size; that a damaged index was made again. A
   line without "sight: " and full stop. */
typedef void timeline_note(void *context, const char *text);

struct timeline_open_options {
    stream_watch *watch; /* while the trace is read as a whole: progress, and false to stop; NULL: none */
    void *watch_context;
    unsigned threads;    /* that make the index, at most; 0: one */
    timeline_note *note; /* NULL: silent */
    void *note_context;
    bool fix_clocks;  /* times are those of corrected clocks: the corrected trace is kept in the cache next to the other
                         one */
    bool events_only; /* tiles are not asked for, or few: they are made from the events. Opening is faster: most of the
                         index of a large trace is for tiles, and is left unread */
};

/* Opens a trace in any format, as reader_open does. NULL and a fault. Standard input is kept in TMPDIR. */
struct timeline *timeline_open(char *const *paths, size_t count, const struct timeline_open_options *options,
                               struct error *err);
void timeline_close(struct timeline *timeline); /* NULL: nothing */

const struct timeline_info *timeline_info(const struct timeline *timeline);

/* The subject of a query: the window [from_ns, to_ns), and rows in drawing order. */
struct timeline_view {
    int64_t from_ns, to_ns;
    const uint32_t *rows; /* borrowed; NULL: the first row_count rows */
    size_t row_count;
};

/* The whole run: all rows, and a window that includes its last event. */
struct timeline_view timeline_whole(const struct timeline *timeline);

/* About how many events a query for the view reads: at some 20 million a second. */
uint64_t timeline_cost(const struct timeline *timeline, const struct timeline_view *view);

/* How rows can be ordered. */
enum timeline_order {
    TIMELINE_BY_RANK,
    TIMELINE_BY_COMPUTE, /* time outside MPI, the most first */
    TIMELINE_BY_LIKENESS /* rows with similar shares of states are adjacent: see order.c */
};

/* Fills `rows` with all row_count rows in this order. */
enum status timeline_order(struct timeline *timeline, enum timeline_order order, uint32_t *rows,
                           struct error *err) MUST_CHECK;

/* Row of a process's thread; TIMELINE_NONE. */
enum { TIMELINE_NONE = UINT32_MAX };
uint32_t timeline_row_find(const struct timeline *timeline, uint32_t process, uint32_t thread);

#endif
