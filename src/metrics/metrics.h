/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_METRICS_H
#define SIGHT_METRICS_METRICS_H

#include "core/defs.h"
#include "core/event.h"
#include "core/map.h"
#include "core/numbers.h"
#include "core/sink.h"
#include "core/sorter.h"
#include "metrics/analysis.h"
#include "metrics/hang.h"
#include "metrics/phase_metrics.h"
#include "metrics/process_resources.h"
#include "metrics/search.h"

/* Metrics of a trace as defined in design's "What the numbers mean", as whole ns and counts. Computed by an accumulator
   (accumulator.h) in one pass. Memory: processes x states that occur, plus distinct pairs of partners. */

/* A function or user state on a process (or thread). */
struct function_row {
    uint32_t state; /* index into the definitions: the first state of the shown name */
    uint64_t count; /* closed instances; time, min and max refer to them, each in full */
    int64_t time_ns;
    int64_t exclusive_ns; /* as the most recently entered open state of its thread */
    int64_t min_ns, max_ns;
    uint64_t open;   /* instances without leave */
    int64_t open_ns; /* their time up to the end of the process */
    uint64_t stray;  /* leaves without enter */
};

/* Messages with one partner, ends counted where they are recorded. */
struct partner_row {
    int32_t partner; /* world rank, PARTNER_NONE, or EVENT_UNKNOWN */
    uint64_t messages, bytes;
};

/* A solo event's occurrences. */
struct mark_row {
    uint32_t mark; /* index into the definitions */
    uint64_t count;
};

struct thread_row {
    uint32_t thread;
    int64_t begin_ns, end_ns;
    int64_t communication_ns;
    /* OpenMP's parallel regions (core/openmp.h): how many it took part in, the time in them, and of that waiting for
       their other threads; of both what is in short regions (openmp_rows.h). */
    uint64_t regions;
    int64_t parallel_ns, waiting_ns;
    int64_t short_ns, short_waiting_ns;
    int64_t parallel_mpi_ns; /* of parallel_ns: in MPI functions */
};

struct process_row {
    uint32_t rank;
    int64_t begin_ns, end_ns; /* first and last event */
    int64_t communication_ns; /* at least one thread inside an MPI function */
    uint64_t events;
    uint64_t messages_sent, messages_received; /* without those to and from MPI_PROC_NULL */
    uint64_t bytes_sent, bytes_received;
    uint64_t time_back;             /* events earlier than the one before them on their process */
    struct function_row *functions; /* by name */
    size_t function_count;
    struct partner_row *sent, *received; /* by partner */
    size_t sent_count, received_count;
    struct mark_row *marks; /* by name */
    size_t mark_count;
    struct thread_row *threads; /* by number; only where there are several */
    size_t thread_count;
    struct counter_sum *counted; /* by counter; only where counters were added up */
    size_t counted_count;
};

/* A counter of the trace. Those of several have the same name where the trace defines it several times. */
struct summed_counter {
    uint32_t mark; /* of the definitions: its name and unit */
    enum counter_mode mode;
};
enum { METRICS_COUNTERS = 1024 }; /* the first of a trace; more are not kept */

/* What a counter has on all threads of a process together: what it grew; of an absolute one value times ns. */
struct counter_sum {
    uint32_t counter; /* of metrics->counted */
    uint64_t readings, falls;
    bool known; /* false: of single readings nothing follows, and what is not finite is no amount */
    double amount;
    int64_t ns; /* between first and last readings, summed over the threads */
};

/* Messages of one communicator, tag, or size class, over all processes. */
struct message_row {
    int64_t key;  /* communicator's id, tag, or log2 class: see struct metrics; EVENT_UNKNOWN where not known */
    bool is_rest; /* tags: all tags that are not among the largest */
    uint64_t sent, received; /* messages */
    uint64_t bytes_sent, bytes_received;
};
enum { METRICS_TAGS = 64 };

/* Bytes sent and received together; at most UINT64_MAX. */
static inline uint64_t message_row_bytes(const struct message_row *row)
{
    uint64_t bytes = row->bytes_sent;
    bytes_add(&bytes, row->bytes_received);
    return bytes;
}

struct metrics {
    const struct defs *defs; /* borrowed, or own_defs */
    struct defs *own_defs;   /* of metrics that were read from a file; else NULL */
    const char *format;      /* of the trace: "clog2"; borrowed, or own_format */
    char *own_format;
    uint32_t processes; /* declared */
    uint64_t events;
    int64_t begin_ns, end_ns;
    struct trace_end end;
    struct process_row *process; /* by rank; only those with events */
    size_t process_count;
    uint64_t messages; /* ends of messages of all processes (both ends count): the index's denominator */
    struct message_row *communicators; /* by id */
    size_t communicator_count;
    struct message_row *tags; /* the METRICS_TAGS with most bytes, then most messages, by tag; then the rest as one */
    size_t tag_count;
    struct message_row *sizes; /* key k: sizes in [2^(k-1), 2^k), 0: empty messages; up to the largest that occurs */
    size_t size_count;
    struct summed_counter *counted; /* those that processes have sums of, in the order of their first readings */
    size_t counted_count;
    struct analysis *analysis;         /* NULL: not computed; owned */
    struct phase_metrics *phases;      /* NULL: the same; owned */
    const struct resources *resources; /* NULL: none were recorded; borrowed from the engine, or own_resources */
    struct resources *own_resources;   /* of metrics that were read from a file; else NULL */
    const struct profile *profile;   /* profile/profile.h; NULL: samples were not examined; borrowed from the engine */
    const struct counters *counters; /* profile/counters.h; NULL: not examined; borrowed from the engine */
    struct search *search;           /* NULL: no search was made; owned */
    const struct stuck *stuck; /* why the run hung, where all of these are of the time before; NULL: it did not, or
                                  it is not known; borrowed from the engine, or own_stuck */
    struct stuck *own_stuck;   /* of metrics that were read from a file; else NULL */
    bool early;                /* of a whole run, and an analysis is still to be made */
    bool tables_unknown;       /* the three tables above are not known: see metrics_select */
    uint64_t open, stray, time_back; /* sums, for warnings */
};

void metrics_free(struct metrics *metrics);

/* Row of a process, by binary search: rows are in the order of ranks. SIZE_MAX: the rank has none. */
size_t metrics_row_of(const struct metrics *metrics, uint64_t rank);

/* Frees what a row holds. */
void process_row_clear(struct process_row *row);

/* Computes begin, end, events and the sums for warnings from the rows. */
void metrics_totals(struct metrics *metrics);

/* Point-to-point messages of the run, and their bytes. Each is recorded at both ends, or at one if the run was cut
   short: the larger of both numbers. */
uint64_t metrics_messages(const struct metrics *metrics, uint64_t *bytes);

/* False if the trace has messages, and says of none how large it is. */
bool metrics_sizes_known(const struct metrics *metrics);

/* False if no call of MPI is recorded: then nothing is known of what the processes wait for. */
bool metrics_have_calls(const struct metrics *metrics);

/* False if there are no messages either: then the processes have nothing to do with each other. */
bool metrics_communicate(const struct metrics *metrics);

/* total_s = end - begin, compute_s = total - communication, both >= 0. */
static inline int64_t process_total_ns(const struct process_row *row)
{
    return time_since(row->begin_ns, row->end_ns);
}
static inline int64_t process_compute_ns(const struct process_row *row)
{
    int64_t total = process_total_ns(row), communication = row->communication_ns;
    return communication < 0 ? total : communication < total ? total - communication : 0;
}

/* What of a process's compute_s is no computing: naps between looks for a message, in ns. 0 where the metrics have no
   analysis of all their processes. */
int64_t metrics_polled_ns(const struct metrics *metrics, size_t row);

/* compute_s of a process without those. */
int64_t metrics_compute_ns(const struct metrics *metrics, size_t row);

/* True if it did not come back from a call in which it waits: that it computes no longer is no choice of the program.
 */
bool process_never_returned(const struct metrics *metrics, const struct process_row *process);

/* Messages of p / messages of all processes (SIGHT eq. 4.2.1); 0 where there are none. */
static inline double process_communication_index(const struct metrics *metrics, const struct process_row *row)
{
    return metrics->messages ? (double)(row->messages_sent + row->messages_received) / (double)metrics->messages : 0;
}

#endif
