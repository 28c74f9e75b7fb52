/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ACCUMULATOR_STATE_H
#define SIGHT_METRICS_ACCUMULATOR_STATE_H

#include "core/open_states.h"
#include "metrics/accumulator.h"
#include "metrics/message_tables.h"

/* The state of an accumulator; private to accumulator*.c. */

/* Sums of one state on one thread. */
struct tally {
    uint32_t key; /* state + 1; 0 is a free place */
    uint64_t count;
    int64_t time_ns, exclusive_ns, min_ns, max_ns;
    uint64_t stray;
};

/* Time during which a thread or process is inside states of a kind: closed intervals, and the open one. */
struct coverage {
    int64_t closed_ns;
    int64_t since_ns;
    bool is_open;
    uint32_t closing; /* later slices: 1 + index of process_state.closings; 0: no stray leave needs the end of the open
                         one */
};

/* The end of an interval of a coverage that was open at a stray leave. Whether it began there or earlier, joined with
   an interval carried over from the earlier slice, is known when that slice is merged; if clocks go back, the parts do
   not add up to the whole. */
struct closing {
    int64_t time_ns;
    uint32_t same_as; /* 1 + index of the closing with the end; 0: this one */
};

/* What the coverages of a thread are of. The time in both MPI and regions is COVER_MPI + COVER_REGIONS - COVER_EITHER:
   of unions, unlike intersections, those of two slices join. */
enum { COVER_MPI, COVER_REGIONS /* parallel ones of OpenMP */, COVER_EITHER, COVERS };

/* In a later slice: a leave without enter there. Whether it has one is known when the earlier slice is merged. */
struct stray_leave {
    uint32_t state, thread;
    int64_t time_ns;
    int64_t
        bare_ns;  /* time with no state of this slice open, since the thread's previous stray leave or first change */
    bool counted; /* lies in the window */
    struct coverage process, by_thread[COVERS]; /* as they were then, of this slice alone */
};

struct thread_state {
    uint32_t number;
    bool present;              /* has events */
    bool seen;                 /* a state was entered or left */
    int64_t first_ns, last_ns; /* first and latest change of the open states */
    int64_t begin_ns, end_ns;
    struct open_states open;
    uint32_t depth[COVERS]; /* open states of the kind */
    struct coverage covered[COVERS];
    int64_t bare_ns;       /* later slices only: see struct stray_leave */
    struct tally *tallies; /* open addressing by state */
    size_t tally_count, tally_capacity;
};

struct process_state {
    bool selected;
    uint32_t rank;
    uint64_t events;          /* in the window */
    uint64_t order;           /* events seen, in the window or not */
    int64_t begin_ns, end_ns; /* of all events seen, unclipped */
    int64_t first_raw_ns, last_raw_ns;
    uint64_t time_back;
    uint32_t mpi_threads; /* threads inside MPI */
    struct coverage mpi;
    uint64_t messages[2], bytes[2]; /* sent, received */
    uint32_t cell_hint;             /* see message_tables_add */
    struct thread_state *threads;   /* in the order met: thread numbers may be sparse */
    size_t thread_count, thread_capacity;
    struct map thread_places; /* number -> index where they differ */
    struct stray_leave *strays;
    size_t stray_count, stray_capacity;
    struct closing *closings;
    size_t closing_count, closing_capacity;
};

/* Processes by rank: pages, so that ranks may be sparse. */
enum { PROCESS_PAGE = 4096 };

struct accumulator {
    struct sink sink;
    struct accumulator_options options;
    bool windowed;
    const struct defs *defs;
    struct trace_end end;
    struct process_state **pages[PROCESS_LIMIT / PROCESS_PAGE];
    size_t process_count;
    uint64_t messages; /* ends of all processes, selected or not */
    struct message_tables tables;
    struct map marks; /* (rank, mark) -> count */
};

struct process_state *accumulator_process(struct accumulator *accumulator, uint32_t rank);
struct thread_state *process_thread_find(struct process_state *process, uint32_t number);
struct tally *thread_tally_find(struct thread_state *thread, uint32_t state);

/* A thread of the process, created if needed. Valid until the next one is created. */
static inline struct thread_state *process_thread(struct process_state *process, uint32_t number)
{
    if (number < process->thread_count && process->threads[number].number == number)
        return &process->threads[number];
    return process_thread_find(process, number);
}

/* The sums of a state. States are small dense numbers, so nearly all are at their own place. */
static inline struct tally *thread_tally(struct thread_state *thread, uint32_t state)
{
    if (thread->tally_capacity > 0) {
        struct tally *tally = &thread->tallies[state & (thread->tally_capacity - 1)];
        if (tally->key == state + 1)
            return tally;
    }
    return thread_tally_find(thread, state);
}

/* Closes the frame at `at` at time_ns and adds it to its tally. */
void thread_close(struct thread_state *thread, ptrdiff_t at, int64_t time_ns);

static inline void coverage_open(struct coverage *coverage, int64_t time_ns)
{
    coverage->is_open = true;
    coverage->since_ns = time_ns;
    coverage->closing = 0;
}

static inline void coverage_close(struct process_state *process, struct coverage *coverage, int64_t time_ns)
{
    time_add(&coverage->closed_ns, time_since(coverage->since_ns, time_ns));
    coverage->is_open = false;
    if (coverage->closing)
        process->closings[coverage->closing - 1].time_ns = time_ns;
}

/* Requests the end of the open interval: returns where it will be stored. */
void coverage_ask(struct process_state *process, struct coverage *coverage);

/* All covered time if the end is at end_ns. */
static inline int64_t coverage_until(const struct coverage *coverage, int64_t end_ns)
{
    int64_t covered_ns = coverage->closed_ns;
    if (coverage->is_open)
        time_add(&covered_ns, time_since(coverage->since_ns, end_ns));
    return covered_ns;
}

/* Marks on frames (open_state.mark). */
enum { FRAME_COUNTED = 1, FRAME_MPI = 2, FRAME_REGION = 4 };

/* Whether a frame is one of the states that a coverage is of. */
static inline bool frame_is_covered(uint32_t mark, int kind)
{
    static const uint32_t marks[COVERS] = {FRAME_MPI, FRAME_REGION, FRAME_MPI | FRAME_REGION};
    return mark & marks[kind];
}

#endif
