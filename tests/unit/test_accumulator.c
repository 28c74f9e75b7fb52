/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics: traces of a few events whose numbers are known by hand, and slices that must merge to what one pass gives.
 */
#include "metrics/accumulator_pack.h"

#include "core/memory.h"
#include "unit/random.h"
#include "unit/tap.h"

#include <stdlib.h>

enum { SEND, RECV, WORK, REGION, PHASE, BARRIER, WORK_AGAIN, INNER, TOOL, STATES };

/* A trace in memory, and what to ask of it. */
struct trace {
    struct event *events;
    size_t count, capacity;
    struct accumulator_options options;
};

static struct defs *defs;

static void defs_make(void)
{
    static const char *const names[STATES] = {"MPI_Send",    "MPI_Recv", "work",      "omp a.c:5",        "phase",
                                              "MPI_Barrier", "work",     "omp b.c:7", "MPE_Comm_finalize"};
    defs = defs_new();
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t) "tock"});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t) "tick"});
    int32_t world = defs_comm(defs, 0);
    defs->comms[world].world = true;
    defs_comm(defs, 7);
    defs->processes = 8;
}

static struct event *put(struct trace *trace, enum event_kind kind, uint32_t process, uint32_t thread, int64_t time_ns)
{
    ARRAY_PUSH(trace->events, trace->count, trace->capacity, EVENT_NOTHING);
    struct event *event = &trace->events[trace->count - 1];
    event->kind = (uint8_t)kind;
    event->process = process;
    event->thread = thread;
    event->time_ns = time_ns;
    return event;
}

/* On process 0, thread 0: the shape of most tests. */
static void enter(struct trace *trace, int64_t time_ns, uint32_t state)
{
    put(trace, EVENT_ENTER, 0, 0, time_ns)->state = state;
}

static void leave(struct trace *trace, int64_t time_ns, uint32_t state)
{
    put(trace, EVENT_LEAVE, 0, 0, time_ns)->state = state;
}

static void mark(struct trace *trace, int64_t time_ns)
{
    put(trace, EVENT_MARK, 0, 0, time_ns)->state = 1;
}

static void message(struct trace *trace, enum event_kind kind, uint32_t process, int64_t time_ns, int32_t partner,
                    int64_t bytes)
{
    struct event *event = put(trace, kind, process, 0, time_ns);
    event->partner = partner;
    event->tag = 5;
    event->comm = event->partner_comm = 0;
    *(kind == EVENT_SEND ? &event->bytes_sent : &event->bytes_received) = bytes;
}

static void feed(struct accumulator *accumulator, const struct trace *trace, size_t from, size_t to)
{
    struct sink *sink = accumulator_sink(accumulator);
    struct error err = {0};
    struct batch *batch = memory_new(sizeof *batch);
    bool fine = sink->begin(sink, defs, &err) == STATUS_OK;
    while (from < to) {
        batch_clear(batch);
        while (from < to && batch->count < BATCH_EVENTS)
            batch->events[batch->count++] = trace->events[from++];
        fine = fine && sink->events(sink, batch, &err) == STATUS_OK;
    }
    fine = fine && sink->end(sink, &(struct trace_end){.complete = true}, &err) == STATUS_OK;
    if (!fine)
        tap_ok(false, "feeding: %s", err.text);
    batch_free(batch);
    free(batch);
}

static struct metrics *result(struct accumulator *accumulator)
{
    struct error err = {0};
    struct metrics *metrics = accumulator_metrics(accumulator, &err);
    if (!metrics) {
        tap_ok(false, "metrics: %s", err.text);
        exit(tap_done());
    }
    return metrics;
}

static struct metrics *measure(const struct trace *trace)
{
    struct accumulator *accumulator = accumulator_new(trace->options);
    feed(accumulator, trace, 0, trace->count);
    struct metrics *metrics = result(accumulator);
    accumulator_free(accumulator);
    return metrics;
}

static void trace_clear(struct trace *trace)
{
    free(trace->events);
    *trace = (struct trace){0};
}

static const struct process_row *row_of(const struct metrics *metrics, uint32_t rank)
{
    static const struct process_row nothing;
    for (size_t i = 0; i < metrics->process_count; i++)
        if (metrics->process[i].rank == rank)
            return &metrics->process[i];
    return &nothing;
}

static bool function_equal(const struct function_row *a, const struct function_row *b)
{
    return a->state == b->state && a->count == b->count && a->time_ns == b->time_ns &&
           a->exclusive_ns == b->exclusive_ns && a->min_ns == b->min_ns && a->max_ns == b->max_ns &&
           a->open == b->open && a->open_ns == b->open_ns && a->stray == b->stray;
}

static void function_print(const char *what, const struct function_row *row)
{
    printf("# %s state %u: count %llu time %lld exclusive %lld min %lld max %lld open %llu for %lld stray %llu\n", what,
           row->state, (unsigned long long)row->count, (long long)row->time_ns, (long long)row->exclusive_ns,
           (long long)row->min_ns, (long long)row->max_ns, (unsigned long long)row->open, (long long)row->open_ns,
           (unsigned long long)row->stray);
}

/* The row of want.state on the process is exactly `want`. */
static void expect(const struct metrics *metrics, uint32_t rank, const char *name, struct function_row want)
{
    const struct process_row *row = row_of(metrics, rank);
    for (size_t i = 0; i < row->function_count; i++)
        if (row->functions[i].state == want.state) {
            if (!tap_ok(function_equal(&row->functions[i], &want), "%s", name)) {
                function_print(" got", &row->functions[i]);
                function_print("want", &want);
            }
            return;
        }
    tap_ok(false, "%s: the row is there", name);
}

/* --- Known numbers ----------------------------------------------------------------------------------------------- */

static void test_nesting(void)
{
    struct trace trace = {0};
    enter(&trace, 10, WORK);
    enter(&trace, 20, SEND);
    enter(&trace, 25, PHASE); /* a user state inside MPI: still communication */
    leave(&trace, 27, PHASE);
    leave(&trace, 30, SEND);
    enter(&trace, 40, WORK); /* recursion */
    leave(&trace, 45, WORK);
    leave(&trace, 50, WORK);
    mark(&trace, 60);
    struct metrics *metrics = measure(&trace);
    const struct process_row *row = row_of(metrics, 0);
    expect(
        metrics, 0, "nesting and recursion: user state",
        (struct function_row){.state = WORK, .count = 2, .time_ns = 45, .exclusive_ns = 30, .min_ns = 5, .max_ns = 40});
    expect(
        metrics, 0, "nesting: MPI inside a user state",
        (struct function_row){.state = SEND, .count = 1, .time_ns = 10, .exclusive_ns = 8, .min_ns = 10, .max_ns = 10});
    expect(
        metrics, 0, "nesting: user state inside MPI",
        (struct function_row){.state = PHASE, .count = 1, .time_ns = 2, .exclusive_ns = 2, .min_ns = 2, .max_ns = 2});
    tap_ok(row->begin_ns == 10 && row->end_ns == 60 && row->communication_ns == 10 && row->events == 9,
           "nesting: the process's span, communication and events");
    tap_ok(process_compute_ns(row) == 40 && row->thread_count == 0, "nesting: compute; one thread has no row");
    tap_ok(row->mark_count == 1 && row->marks[0].mark == 1 && row->marks[0].count == 1, "a mark is counted");
    tap_ok(strcmp(defs->states[row->functions[0].state].name, "MPI_Send") == 0 && row->functions[1].state == PHASE &&
               row->functions[2].state == WORK,
           "functions are by name");
    metrics_free(metrics);
    trace_clear(&trace);
}

static void test_crossing(void)
{
    struct trace trace = {0};
    enter(&trace, 0, WORK);
    enter(&trace, 10, PHASE);
    leave(&trace, 15, WORK); /* crosses; phase is still the latest */
    leave(&trace, 22, PHASE);
    leave(&trace, 30, PHASE); /* stray */
    enter(&trace, 30, RECV);  /* unclosed */
    enter(&trace, 32, WORK_AGAIN);
    leave(&trace, 32, WORK_AGAIN); /* zero width, and of the same name as WORK */
    leave(&trace, 33, SEND);       /* stray */
    mark(&trace, 40);
    struct metrics *metrics = measure(&trace);
    expect(
        metrics, 0, "crossing states; two definitions of one name are one row; zero width",
        (struct function_row){.state = WORK, .count = 2, .time_ns = 15, .exclusive_ns = 10, .min_ns = 0, .max_ns = 15});
    expect(metrics, 0, "crossing states: the later one, and a stray leave",
           (struct function_row){
               .state = PHASE, .count = 1, .time_ns = 12, .exclusive_ns = 12, .min_ns = 12, .max_ns = 12, .stray = 1});
    expect(metrics, 0, "unclosed: counted as open up to the process's end, in nothing else",
           (struct function_row){.state = RECV, .open = 1, .open_ns = 10});
    expect(metrics, 0, "a state with nothing but a stray leave has a row",
           (struct function_row){.state = SEND, .stray = 1});
    tap_equal_int(row_of(metrics, 0)->communication_ns, 10, "an unclosed MPI function is communication to the end");
    tap_ok(metrics->open == 1 && metrics->stray == 2 && metrics->time_back == 0, "sums for warnings");
    metrics_free(metrics);
    trace_clear(&trace);
}

static void test_threads(void)
{
    struct trace trace = {0};
    put(&trace, EVENT_ENTER, 3, 0, 100)->state = SEND;
    put(&trace, EVENT_ENTER, 3, 70000, 110)->state = RECV; /* numbers may be sparse */
    put(&trace, EVENT_LEAVE, 3, 0, 120)->state = SEND;
    put(&trace, EVENT_ENTER, 3, 2, 125)->state = BARRIER;
    put(&trace, EVENT_LEAVE, 3, 70000, 130)->state = RECV;
    put(&trace, EVENT_LEAVE, 3, 2, 150)->state = BARRIER;
    put(&trace, EVENT_ENTER, 3, 0, 160)->state = TOOL;
    put(&trace, EVENT_LEAVE, 3, 0, 190)->state = TOOL;
    put(&trace, EVENT_LEAVE, 3, 2, 200)->state = WORK;
    struct metrics *metrics = measure(&trace);
    const struct process_row *row = row_of(metrics, 3);
    tap_equal_int(row->communication_ns, 50, "threads in MPI at once count once; MPE's own states are not MPI");
    tap_equal_int((long long)row->thread_count, 3, "three threads have a row each");
    if (row->thread_count == 3) {
        const struct thread_row *t = row->threads;
        tap_ok(t[0].thread == 0 && t[0].communication_ns == 20 && t[0].begin_ns == 100 && t[0].end_ns == 190,
               "thread 0");
        tap_ok(t[1].thread == 2 && t[1].communication_ns == 25 && t[1].begin_ns == 125 && t[1].end_ns == 200,
               "thread 2");
        tap_ok(t[2].thread == 70000 && t[2].communication_ns == 20 && t[2].begin_ns == 110 && t[2].end_ns == 130,
               "thread 70000");
    }
    expect(metrics, 3, "a leave closes nothing of another thread", (struct function_row){.state = WORK, .stray = 1});
    metrics_free(metrics);
    trace_clear(&trace);
}

/* Calls in a region, at both of its borders, around a whole one, and outside; regions in a region. */
static void test_regions(void)
{
    struct trace trace = {0};
    enter(&trace, 0, SEND);
    leave(&trace, 5, SEND);
    enter(&trace, 10, REGION);
    enter(&trace, 20, SEND); /* 8 in it */
    leave(&trace, 28, SEND);
    enter(&trace, 30, INNER);
    enter(&trace, 34, REGION);
    leave(&trace, 36, REGION);
    leave(&trace, 40, INNER);
    enter(&trace, 45, BARRIER); /* of 20, 5 in it */
    leave(&trace, 50, REGION);
    leave(&trace, 65, BARRIER);
    enter(&trace, 70, RECV); /* of 60, 7 + 20 in regions */
    enter(&trace, 80, REGION);
    leave(&trace, 87, REGION);
    enter(&trace, 110, REGION);
    leave(&trace, 130, RECV);
    put(&trace, EVENT_MARK, 0, 1, 140)->state = 1;
    mark(&trace, 150);
    struct metrics *metrics = measure(&trace);
    const struct process_row *row = row_of(metrics, 0);
    tap_equal_int((long long)row->thread_count, 2, "two threads");
    if (row->thread_count == 2) {
        const struct thread_row *threads = row->threads;
        tap_equal_int((long long)threads[0].regions, 5, "regions, with those in others");
        tap_equal_int(threads[0].parallel_ns, 40 + 7 + 40, "time in regions: those in others count once");
        tap_equal_int(threads[0].communication_ns, 5 + 8 + 20 + 60, "time in MPI");
        tap_equal_int(threads[0].parallel_mpi_ns, 8 + 5 + 7 + 20, "time in both");
        tap_ok(threads[1].parallel_ns == 0 && threads[1].parallel_mpi_ns == 0, "another thread: none");
    }
    metrics_free(metrics);
    trace_clear(&trace);
}

static void test_time_back(void)
{
    struct trace trace = {0};
    enter(&trace, 10, SEND);
    leave(&trace, 5, SEND);
    enter(&trace, 6, WORK);
    leave(&trace, 9, WORK);
    struct metrics *metrics = measure(&trace);
    const struct process_row *row = row_of(metrics, 0);
    expect(metrics, 0, "a negative duration counts as 0", (struct function_row){.state = SEND, .count = 1});
    tap_ok(row->time_back == 1 && metrics->time_back == 1, "time that goes back is counted");
    tap_ok(row->begin_ns == 5 && row->end_ns == 10 && row->communication_ns == 0, "the span is from least to largest");
    metrics_free(metrics);
    trace_clear(&trace);
}

/* Readers accept times from -9e18 to 9e18 ns. */
static void test_extreme_times(void)
{
    enum { GIGA = 1000000000 };
    const int64_t far = (int64_t)9 * GIGA * GIGA;
    struct trace trace = {0};
    for (int i = 0; i < 3; i++) {
        enter(&trace, -far, SEND);
        enter(&trace, -far, WORK);
        leave(&trace, far, WORK);
        leave(&trace, far, SEND);
    }
    enter(&trace, -far, RECV);
    mark(&trace, far);
    struct metrics *metrics = measure(&trace);
    const struct process_row *row = row_of(metrics, 0);
    tap_ok(row->function_count == 3 && row->functions[1].max_ns == INT64_MAX && process_total_ns(row) == INT64_MAX &&
               process_compute_ns(row) >= 0,
           "times beyond all sense: the largest there is, and no overflow");
    metrics_free(metrics);
    trace_clear(&trace);
}

static void test_messages(void)
{
    struct trace trace = {0};
    message(&trace, EVENT_SEND, 0, 1, 1, 100);
    message(&trace, EVENT_SEND, 0, 2, PARTNER_NONE, 7);
    message(&trace, EVENT_SEND, 0, 3, EVENT_UNKNOWN, 8);
    message(&trace, EVENT_SEND, 0, 4, 0, 0); /* to itself, empty */
    message(&trace, EVENT_RECEIVE, 0, 5, 0, 0);
    message(&trace, EVENT_RECEIVE, 1, 6, 0, BYTES_UNKNOWN);
    message(&trace, EVENT_RECEIVE, 1, 7, PARTNER_NONE, 0);
    struct metrics *metrics = measure(&trace);
    const struct process_row *zero = row_of(metrics, 0), *one = row_of(metrics, 1);
    tap_ok(zero->messages_sent == 3 && zero->bytes_sent == 108 && zero->messages_received == 1,
           "MPI_PROC_NULL is no message");
    tap_ok(one->messages_received == 1 && one->bytes_received == 0 && metrics->messages == 5, "ends of all processes");
    tap_ok(zero->sent_count == 4 && zero->sent[0].partner == EVENT_UNKNOWN && zero->sent[0].bytes == 8 &&
               zero->sent[1].partner == PARTNER_NONE && zero->sent[1].bytes == 7 && zero->sent[2].partner == 0 &&
               zero->sent[2].messages == 1 && zero->sent[3].partner == 1 && zero->sent[3].bytes == 100,
           "partners by rank, with the unknown and MPI_PROC_NULL");
    tap_ok(metrics->tag_count == 1 && metrics->tags[0].key == 5 && metrics->tags[0].sent == 3 &&
               metrics->tags[0].received == 2 && metrics->tags[0].bytes_sent == 108 && !metrics->tags[0].is_rest,
           "one tag");
    tap_ok(metrics->communicator_count == 1 && metrics->communicators[0].key == 0 &&
               metrics->communicators[0].sent == 3,
           "one communicator, by its id");
    tap_ok(metrics->size_count == 8 && metrics->sizes[7].sent == 1 && metrics->sizes[4].sent == 1 &&
               metrics->sizes[0].sent == 1 && metrics->sizes[0].received == 1,
           "sizes in powers of two; unknown sizes in none");
    double index = process_communication_index(metrics, zero);
    metrics_free(metrics);
    trace.options = (struct accumulator_options){.ranks = (const uint32_t[]){0}, .rank_count = 1};
    metrics = measure(&trace);
    tap_ok(metrics->process_count == 1 && process_communication_index(metrics, row_of(metrics, 0)) == index,
           "a selection of processes keeps the index");
    tap_ok(metrics->tags[0].received == 1 && metrics->events == 5, "a selection: tables are of the selected");
    metrics_free(metrics);
    trace_clear(&trace);
}

static void test_window(void)
{
    struct trace trace = {0};
    trace.options = (struct accumulator_options){.have_from = true, .have_to = true, .from_ns = 100, .to_ns = 200};
    enter(&trace, 50, WORK); /* over the whole window */
    enter(&trace, 90, SEND); /* over its begin */
    message(&trace, EVENT_SEND, 0, 95, 1, 10);
    leave(&trace, 110, SEND);
    message(&trace, EVENT_SEND, 0, 100, 1, 20); /* goes back, into the window */
    enter(&trace, 190, RECV);                   /* over its end */
    message(&trace, EVENT_RECEIVE, 0, 200, 1, 30);
    leave(&trace, 210, RECV);
    enter(&trace, 220, SEND); /* behind it */
    leave(&trace, 230, SEND);
    leave(&trace, 250, WORK);
    put(&trace, EVENT_MARK, 1, 0, 200)->state = 0; /* behind it */
    put(&trace, EVENT_MARK, 2, 0, 99)->state = 0;  /* before it */
    struct metrics *metrics = measure(&trace);
    const struct process_row *row = row_of(metrics, 0);
    expect(metrics, 0, "window: a state over both borders has time but does not count",
           (struct function_row){.state = WORK, .time_ns = 100, .exclusive_ns = 80});
    expect(metrics, 0, "window: a state over the begin",
           (struct function_row){.state = SEND, .time_ns = 10, .exclusive_ns = 10});
    expect(metrics, 0, "window: a state over the end counts where its enter lies, clipped",
           (struct function_row){
               .state = RECV, .count = 1, .time_ns = 10, .exclusive_ns = 10, .min_ns = 10, .max_ns = 10});
    tap_ok(row->begin_ns == 100 && row->end_ns == 200 && row->communication_ns == 20, "window: the process is clipped");
    tap_ok(row->messages_sent == 1 && row->bytes_sent == 20 && row->messages_received == 0 && metrics->messages == 1,
           "window: a message counts where its record lies; the end is outside");
    tap_ok(metrics->process_count == 1 && row->events == 3,
           "window: processes and events without a share are not there");
    metrics_free(metrics);
    trace_clear(&trace);
}

/* --- Merging ----------------------------------------------------------------------------------------------------- */

static const uint32_t thread_numbers[] = {0, 2, 300};

static void random_message(struct trace *trace, uint32_t process, uint32_t thread, int64_t time_ns)
{
    bool receive = random_below(2);
    struct event *event = put(trace, receive ? EVENT_RECEIVE : EVENT_SEND, process, thread, time_ns);
    event->partner = random_below(8) ? (int32_t)random_below(4) : random_below(2) ? PARTNER_NONE : EVENT_UNKNOWN;
    event->tag = random_below(8) ? (int32_t)random_below(100) : EVENT_UNKNOWN;
    event->comm = random_below(8) ? (int32_t)random_below(2) : EVENT_UNKNOWN;
    *(receive ? &event->bytes_received : &event->bytes_sent) =
        random_below(6) ? (int64_t)random_below(5000) : BYTES_UNKNOWN;
}

/* Anything that can happen; `clean`: time never goes back and all leaves have enters. */
static struct trace random_trace(bool clean)
{
    struct trace trace = {0};
    uint32_t processes = 1 + random_below(3), threads = 1 + random_below(3), length = random_below(80),
             states = 1 + random_below(STATES);
    uint32_t leaves = 30 + random_below(50), back = random_below(3) ? 0 : 4;
    int64_t time_ns = (int64_t)random_below(20) - 10;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t process = random_below(processes), thread = thread_numbers[random_below(threads)],
                 what = random_below(10);
        time_ns += random_below(4);
        if (!clean && back && random_below(back) == 0)
            time_ns -= random_below(9);
        if (what == 0)
            random_message(&trace, process, thread, time_ns);
        else if (what == 1)
            put(&trace, EVENT_MARK, process, thread, time_ns)->state = random_below(2);
        else
            put(&trace, random_below(100) < leaves ? EVENT_LEAVE : EVENT_ENTER, process, thread, time_ns)->state =
                random_below(states);
    }
    return trace;
}

static bool message_rows_equal(const struct message_row *a, size_t a_count, const struct message_row *b, size_t b_count)
{
    bool equal = a_count == b_count;
    for (size_t i = 0; i < a_count && equal; i++)
        equal = a[i].key == b[i].key && a[i].is_rest == b[i].is_rest && a[i].sent == b[i].sent &&
                a[i].received == b[i].received && a[i].bytes_sent == b[i].bytes_sent &&
                a[i].bytes_received == b[i].bytes_received;
    return equal;
}

static bool partners_equal(const struct partner_row *a, size_t a_count, const struct partner_row *b, size_t b_count)
{
    bool equal = a_count == b_count;
    for (size_t i = 0; i < a_count && equal; i++)
        equal = a[i].partner == b[i].partner && a[i].messages == b[i].messages && a[i].bytes == b[i].bytes;
    return equal;
}

static const char *process_lists_difference(const struct process_row *a, const struct process_row *b)
{
    if (a->function_count != b->function_count)
        return "number of functions";
    for (size_t i = 0; i < a->function_count; i++)
        if (!function_equal(&a->functions[i], &b->functions[i])) {
            function_print("one pass", &a->functions[i]);
            function_print("  merged", &b->functions[i]);
            return "function";
        }
    if (a->thread_count != b->thread_count)
        return "number of threads";
    for (size_t i = 0; i < a->thread_count; i++) {
        const struct thread_row *x = &a->threads[i], *y = &b->threads[i];
        if (x->thread != y->thread || x->begin_ns != y->begin_ns || x->end_ns != y->end_ns ||
            x->communication_ns != y->communication_ns)
            return "thread";
        if (x->regions != y->regions || x->parallel_ns != y->parallel_ns || x->parallel_mpi_ns != y->parallel_mpi_ns)
            return "thread's regions";
    }
    if (a->mark_count != b->mark_count)
        return "number of marks";
    for (size_t i = 0; i < a->mark_count; i++)
        if (a->marks[i].mark != b->marks[i].mark || a->marks[i].count != b->marks[i].count)
            return "mark";
    return NULL;
}

static const char *process_difference(const struct process_row *a, const struct process_row *b)
{
    if (a->rank != b->rank || a->begin_ns != b->begin_ns || a->end_ns != b->end_ns || a->events != b->events ||
        a->time_back != b->time_back)
        return "rank, span, events or time_back";
    if (a->communication_ns != b->communication_ns) {
        printf("# communication: one pass %lld merged %lld\n", (long long)a->communication_ns,
               (long long)b->communication_ns);
        return "communication";
    }
    if (a->messages_sent != b->messages_sent || a->messages_received != b->messages_received ||
        a->bytes_sent != b->bytes_sent || a->bytes_received != b->bytes_received)
        return "messages";
    if (!partners_equal(a->sent, a->sent_count, b->sent, b->sent_count) ||
        !partners_equal(a->received, a->received_count, b->received, b->received_count))
        return "partners";
    return process_lists_difference(a, b);
}

/* What differs, or NULL. */
static const char *difference(const struct metrics *a, const struct metrics *b)
{
    if (a->processes != b->processes || a->events != b->events || a->begin_ns != b->begin_ns ||
        a->end_ns != b->end_ns || a->messages != b->messages || a->open != b->open || a->stray != b->stray ||
        a->time_back != b->time_back || a->end.complete != b->end.complete)
        return "totals";
    if (a->process_count != b->process_count)
        return "number of processes";
    for (size_t i = 0; i < a->process_count; i++) {
        const char *what = process_difference(&a->process[i], &b->process[i]);
        if (what)
            return what;
    }
    if (!message_rows_equal(a->communicators, a->communicator_count, b->communicators, b->communicator_count))
        return "communicators";
    if (!message_rows_equal(a->tags, a->tag_count, b->tags, b->tag_count))
        return "tags";
    return message_rows_equal(a->sizes, a->size_count, b->sizes, b->size_count) ? NULL : "sizes";
}

enum { SLICES_MAX = 5 };

static void merge(struct accumulator *first, struct accumulator *later)
{
    struct error err = {0};
    if (accumulator_merge(first, later, &err) != STATUS_OK)
        tap_ok(false, "merging: %s", err.text);
}

/* To another process and back. */
static struct accumulator *travel(struct accumulator *accumulator, struct accumulator_options options)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    struct error err = {0};
    bool packed = accumulator_pack(accumulator, &data, &size, &capacity);
    struct accumulator *arrived = packed ? accumulator_unpack(data, size, options) : NULL;
    free(data);
    if (!arrived || accumulator_sink(arrived)->begin(accumulator_sink(arrived), defs, &err) != STATUS_OK) {
        tap_ok(false, "packing");
        exit(tap_done());
    }
    accumulator_free(accumulator);
    return arrived;
}

enum { PACKED = 3 };
static const char *const orders[] = {"left to right", "right to left", "by pairs", "by pairs, packed"};

/* The trace in slices that end at cuts[], merged in one of the orders. */
static struct metrics *measure_slices(const struct trace *trace, const size_t *cuts, size_t slices, int order)
{
    struct accumulator *accumulators[SLICES_MAX];
    for (size_t i = 0; i < slices; i++) {
        struct accumulator_options options = trace->options;
        options.later_slice = i > 0;
        accumulators[i] = accumulator_new(options);
        feed(accumulators[i], trace, i ? cuts[i - 1] : 0, i + 1 < slices ? cuts[i] : trace->count);
    }
    if (order == 0)
        for (size_t i = 1; i < slices; i++)
            merge(accumulators[0], accumulators[i]);
    else if (order == 1)
        for (size_t i = slices - 1; i > 0; i--)
            merge(accumulators[i - 1], accumulators[i]);
    else
        for (size_t step = 1; step < slices; step *= 2) /* pairs, pairs of pairs */
            for (size_t i = 0; i + step < slices; i += 2 * step) {
                struct accumulator_options options = trace->options;
                options.later_slice = true;
                if (order == PACKED)
                    accumulators[i + step] = travel(accumulators[i + step], options);
                options.later_slice = i > 0;
                if (order == PACKED)
                    accumulators[i] = travel(accumulators[i], options);
                merge(accumulators[i], accumulators[i + step]);
            }
    struct metrics *metrics = result(accumulators[0]);
    for (size_t i = 0; i < slices; i++)
        accumulator_free(accumulators[i]);
    return metrics;
}

static int by_size(const void *a, const void *b)
{
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void print_trace(const struct trace *trace, const size_t *cuts, size_t slices)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct event *event = &trace->events[i];
        for (size_t k = 0; k + 1 < slices; k++)
            if (cuts[k] == i)
                printf("# ---- cut\n");
        printf("# process %u thread %u time %lld kind %d state %u\n", event->process, event->thread,
               (long long)event->time_ns, event->kind, event->state);
    }
}

static bool merges_right(const struct trace *trace)
{
    size_t slices = 2 + random_below(SLICES_MAX - 1), cuts[SLICES_MAX];
    for (size_t i = 0; i + 1 < slices; i++)
        cuts[i] = random_below((uint32_t)trace->count + 1);
    qsort(cuts, slices - 1, sizeof *cuts, by_size);
    struct metrics *whole = measure(trace);
    const char *what = NULL;
    for (int order = 0; order <= PACKED && !what; order++) {
        struct metrics *merged = measure_slices(trace, cuts, slices, order);
        what = difference(whole, merged);
        if (what) {
            printf("# merged %s: %s differs\n", orders[order], what);
            print_trace(trace, cuts, slices);
        }
        metrics_free(merged);
    }
    metrics_free(whole);
    return !what;
}

static void test_merging(void)
{
    static const uint32_t ranks[] = {0, 2};
    enum { ROUNDS = 1500 };
    for (int kind = 0; kind < 3; kind++) {
        bool right = true;
        for (uint64_t seed = 1; seed <= ROUNDS && right; seed++) {
            random_state = seed * UINT64_C(0x9E3779B97F4A7C15);
            struct trace trace = random_trace(false);
            if (kind == 1) {
                trace.options.have_from = random_below(4) > 0;
                trace.options.have_to = random_below(4) > 0;
                trace.options.from_ns = random_below(40);
                trace.options.to_ns = trace.options.from_ns + random_below(60);
            } else if (kind == 2) {
                trace.options.ranks = ranks;
                trace.options.rank_count = 2;
            }
            right = merges_right(&trace);
            if (!right)
                printf("# seed %llu\n", (unsigned long long)seed);
            trace_clear(&trace);
        }
        static const char *const names[] = {"whole", "in a window", "of selected processes"};
        tap_ok(right, "%d random traces, %s: slices merge to what one pass gives", (int)ROUNDS, names[kind]);
    }
}

/* A file that is cut, or from another build, is refused. */
static void test_cut_packs(void)
{
    random_state = 7;
    struct trace trace = random_trace(false);
    struct accumulator *accumulator = accumulator_new(trace.options);
    feed(accumulator, &trace, 0, trace.count);
    char *data = NULL;
    size_t size = 0, capacity = 0, refused = 0;
    bool packed = accumulator_pack(accumulator, &data, &size, &capacity);
    for (size_t cut = 0; packed && cut < size; cut++) {
        struct accumulator *arrived = accumulator_unpack(data, cut, trace.options);
        refused += !arrived;
        accumulator_free(arrived);
    }
    tap_ok(packed && refused == size, "cut anywhere: refused");
    if (packed)
        data[0] ^= 1;
    struct accumulator *arrived = packed ? accumulator_unpack(data, size, trace.options) : NULL;
    tap_ok(!arrived, "of another build: refused");
    accumulator_free(arrived);
    accumulator_free(accumulator);
    free(data);
    trace_clear(&trace);
}

/* --- Conservation ------------------------------------------------------------------------------------------------ */

/* Closes what is open on one thread, in random order, and adds up the time with nothing open, by a walk of its own. */
static int64_t close_and_count(struct trace *trace, int64_t *span)
{
    struct trace clean = {0};
    uint32_t open[STATES] = {0}, depth = 0;
    int64_t outside = 0, last = 0, first = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct event event = trace->events[i];
        event.process = event.thread = 0;
        if (event.kind == EVENT_LEAVE && open[event.state] == 0)
            event.kind = EVENT_ENTER;
        outside += clean.count > 0 && depth == 0 ? event.time_ns - last : 0;
        first = clean.count == 0 ? event.time_ns : first;
        last = event.time_ns;
        depth += event.kind == EVENT_ENTER;
        depth -= event.kind == EVENT_LEAVE;
        if (event.kind <= EVENT_LEAVE)
            open[event.state] += event.kind == EVENT_ENTER ? 1 : UINT32_MAX;
        ARRAY_PUSH(clean.events, clean.count, clean.capacity, event);
    }
    while (depth > 0) {
        uint32_t state = random_below(STATES);
        if (open[state] == 0)
            continue;
        open[state]--;
        depth--;
        last += random_below(5);
        leave(&clean, last, state);
    }
    trace_clear(trace);
    *trace = clean;
    *span = last - first;
    return outside;
}

static void test_conservation(void)
{
    bool right = true;
    for (uint64_t seed = 1; seed <= 2000 && right; seed++) {
        random_state = seed * UINT64_C(0xD1342543DE82EF95);
        struct trace trace = random_trace(true);
        int64_t span, outside = close_and_count(&trace, &span), exclusive = 0;
        struct metrics *metrics = measure(&trace);
        const struct process_row *row = row_of(metrics, 0);
        for (size_t i = 0; i < row->function_count; i++)
            exclusive += row->functions[i].exclusive_ns;
        right = exclusive + outside == span && metrics->open == 0 && metrics->stray == 0 &&
                process_total_ns(row) == span && row->communication_ns <= span;
        metrics_free(metrics);
        trace_clear(&trace);
    }
    tap_ok(right, "exclusive times and the time outside all states add up to the thread's span");
}

/* --- Tables of messages ------------------------------------------------------------------------------------------ */

enum { MANY_TAGS = 70000 };

/* The largest are the tags that are multiples of 1,000 and not 0: 69 of them, of 1,000,000 + tag bytes. */
static struct trace tagged_trace(void)
{
    struct trace trace = {0};
    for (int round = 0; round < 2; round++)
        for (int32_t tag = 0; tag < MANY_TAGS; tag++) {
            message(&trace, EVENT_SEND, 0, tag, 1, tag > 0 && tag % 1000 == 0 ? 1000000 + tag : 1);
            trace.events[trace.count - 1].tag = tag - 100;
        }
    return trace;
}

static void expect_tags(const struct metrics *metrics, uint64_t rounds, const char *name)
{
    bool exact = metrics->tag_count == METRICS_TAGS + 1;
    for (size_t i = 0; i < METRICS_TAGS && exact; i++) {
        const struct message_row *row = &metrics->tags[i];
        uint64_t tag = 6000 + i * 1000;
        exact = row->key == (int64_t)tag - 100 && row->sent == rounds && row->received == 0 && !row->is_rest &&
                row->bytes_sent == rounds * (1000000 + tag);
    }
    tap_ok(exact, "%s: the 64 largest of 70,000 tags are exact", name);
    const struct message_row *rest = &metrics->tags[metrics->tag_count - 1];
    uint64_t tags = MANY_TAGS - METRICS_TAGS, large = 5 * UINT64_C(1000000) + 15000;
    tap_ok(rest->is_rest && rest->sent == rounds * tags && rest->bytes_sent == rounds * (tags - 5 + large),
           "%s: the others are one row", name);
}

static void test_tags(void)
{
    struct trace trace = tagged_trace();
    struct accumulator *accumulator = accumulator_new(trace.options);
    feed(accumulator, &trace, 0, trace.count);
    struct metrics *metrics = result(accumulator);
    expect_tags(metrics, 2, "many tags");
    metrics_free(metrics);
    metrics = result(accumulator);
    expect_tags(metrics, 2, "many tags, asked again");
    metrics_free(metrics);
    struct accumulator *later = accumulator_new((struct accumulator_options){.later_slice = true});
    feed(later, &trace, 0, trace.count);
    merge(accumulator, later);
    accumulator_free(later);
    metrics = result(accumulator);
    expect_tags(metrics, 4, "many tags, after a slice merged in");
    metrics_free(metrics);
    feed(accumulator, &trace, 0, trace.count);
    metrics = result(accumulator);
    expect_tags(metrics, 6, "many tags, after more was fed");
    metrics_free(metrics);
    accumulator_free(accumulator);
    trace_clear(&trace);
}

int main(void)
{
    defs_make();
    test_nesting();
    test_crossing();
    test_threads();
    test_regions();
    test_time_back();
    test_extreme_times();
    test_messages();
    test_window();
    test_merging();
    test_cut_packs();
    test_conservation();
    test_tags();
    defs_free(defs);
    return tap_done();
}
