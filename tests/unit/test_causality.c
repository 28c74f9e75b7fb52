/* SPDX-License-Identifier: BSD-3-Clause */
/* Which calls wait for which, whatever the clocks say: collectives of all kinds and one-sided calls, by hand; and their
   clocks put right by nothing but them. */
#include "clocks/clocks.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { WINDOW = 1, LEFT, RIGHT }; /* the two groups of an inter-communicator: processes 0 and 1, processes 2 and 3 */
enum {
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    ALLTOALLV,
    REDUCE_SCATTER,
    IALLTOALLV,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLGATHERV,
    WIN_POST,
    WIN_START,
    WIN_COMPLETE,
    WIN_WAIT,
    WIN_FENCE,
    MORE_STATES
};
static uint32_t states[MORE_STATES];

static void more_defs_make(void)
{
    static const char *const names[MORE_STATES] = {
        "MPI_Allgatherv",     "MPI_Gatherv",    "MPI_Scatterv",           "MPI_Alltoallv",
        "MPI_Reduce_scatter", "MPI_Ialltoallv", "MPI_Neighbor_alltoallv", "MPI_Neighbor_allgatherv",
        "MPI_Win_post",       "MPI_Win_start",  "MPI_Win_complete",       "MPI_Win_wait",
        "MPI_Win_fence"};
    for (size_t i = 0; i < MORE_STATES; i++)
        states[i] = defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    defs_comm(defs, 2);
    defs_comm(defs, 3);
    defs->comms[WINDOW].window = true;
    for (uint32_t p = 0; p < LOCATIONS; p++)
        defs_set_member(defs, WINDOW, (int32_t)p, p);
    for (uint32_t p = 0; p < 4; p++)
        defs_set_member(defs, p < 2 ? LEFT : RIGHT, (int32_t)p % 2, p);
}

/* A run whose events stay where they are, process by process from the last to the first. */
static void feed(const struct trace *trace, uint32_t processes, struct sink *sink)
{
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    defs->processes = processes;
    bool fine = sink->begin(sink, defs, &err) == STATUS_OK;
    for (uint32_t p = processes; p-- > 0;)
        for (size_t i = 0; i < trace->count[p]; i++) {
            put_in_batch(batch, &trace->events[p][i]);
            fine &= sink->events(sink, batch, &err) == STATUS_OK;
            batch_clear(batch);
        }
    if (!fine)
        abort();
    batch_free(batch);
    free(batch);
}

static struct causality *causality_of(const struct trace *trace, uint32_t processes)
{
    struct causality_builder *builder = causality_builder_new();
    feed(trace, processes, causality_builder_sink(builder));
    return causality_builder_end(builder);
}

static struct clock_errors errors_of(const struct trace *trace, uint32_t processes)
{
    struct causality *causality = causality_of(trace, processes);
    struct clock_errors errors = causality_errors(causality, NULL);
    causality_free(causality);
    return errors;
}

/* Corrects the trace in place; returns the rows. */
static struct clocks *fix(struct trace *trace, uint32_t processes)
{
    struct clocks *clocks = clocks_of(causality_of(trace, processes));
    struct batch *batch = memory_new(sizeof *batch);
    for (uint32_t p = 0; p < processes; p++)
        for (size_t i = 0; i < trace->count[p]; i++) {
            batch->events[0] = trace->events[p][i];
            batch->count = 1;
            clocks_correct(clocks, batch);
            trace->events[p][i].time_ns = batch->events[0].time_ns;
        }
    free(batch);
    return clocks;
}

static void clear(struct trace *trace)
{
    for (size_t p = 0; p < LOCATIONS; p++)
        free(trace->events[p]);
    *trace = (struct trace){0};
}

/* Checks how many calls synchronise, how many are left too early, and by how much at worst; after correction none is.
 */
static void expect(struct trace *trace, uint32_t processes, uint64_t binding, uint64_t torn, int64_t worst_ns,
                   const char *name)
{
    struct clock_errors errors = errors_of(trace, processes);
    tap_equal_int((long long)errors.instances, (long long)binding, "%s: %d bind", name, (int)binding);
    tap_equal_int((long long)errors.torn, (long long)torn, "%s: %d torn", name, (int)torn);
    tap_equal_int(errors.worst_instance_ns, worst_ns, "%s: by so much", name);
    clocks_free(fix(trace, processes));
    errors = errors_of(trace, processes);
    tap_equal_int((long long)errors.torn, 0, "%s: repaired", name);
    clear(trace);
}

/* Each for those of lower ranks. */
static void test_prefix(void)
{
    struct trace trace = {0};
    call(&trace, 0, SCAN, 10, 11); /* does not wait */
    call(&trace, 1, SCAN, 30, 31);
    call(&trace, 2, SCAN, 5, 28); /* left before process 1 came */
    call(&trace, 3, SCAN, 50, 51);
    expect(&trace, 4, 1, 1, 2, "scan");
    call(&trace, 0, SCAN, 40, 41);
    call(&trace, 1, SCAN, 10, 41);
    call(&trace, 2, SCAN, 20, 42);
    call(&trace, 3, SCAN, 20, 25); /* before process 0, three ranks below */
    expect(&trace, 4, 1, 1, 15, "scan, far below");
    call(&trace, 0, SCAN, 10, 11);
    call(&trace, 1, SCAN, 30, 31);
    call(&trace, 2, SCAN, 20, 31);
    expect(&trace, 3, 1, 0, 0, "scan in order");
}

/* Each waits for its sources only. */
static void test_neighbours(void)
{
    static const int64_t enters[] = {10, 40, 20, 5};
    for (int wrong = 0; wrong < 2; wrong++) {
        int64_t leaves[] = {11, 41, wrong ? 37 : 42, 22};
        struct trace trace = {0};
        for (uint32_t p = 0; p < 4; p++) {
            sources(&trace, p, 0, 1u << (p + 3) % 4);
            call(&trace, p, NEIGHBOR, enters[p], leaves[p]);
        }
        expect(&trace, 4, 1, (uint64_t)wrong, 3 * wrong, wrong ? "neighbours" : "neighbours in order");
    }
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++)
        call(&trace, p, NEIGHBOR, enters[p], enters[p] + 1);
    expect(&trace, 4, 0, 0, 0, "neighbours that are not given");
}

/* A collective that records its bytes. */
static void moving(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int32_t root,
                   int64_t given, int64_t got)
{
    put(trace, process, EVENT_ENTER, enter, state);
    struct event *event = put(trace, process, EVENT_LEAVE, leave, state);
    event->tag = root;
    event->bytes_sent = given;
    event->bytes_received = got;
}

static void test_counts(void)
{
    struct trace trace = {0};
    moving(&trace, 0, states[ALLGATHERV], 10, 35, EVENT_UNKNOWN, 8, 16);
    moving(&trace, 1, states[ALLGATHERV], 40, 41, EVENT_UNKNOWN, 8, 16);
    moving(&trace, 2, states[ALLGATHERV], 60, 61, EVENT_UNKNOWN, 0, 16); /* sends nothing: none waits for it */
    expect(&trace, 3, 1, 1, 5, "allgatherv");
    call(&trace, 0, states[ALLGATHERV], 10, 35);
    call(&trace, 1, states[ALLGATHERV], 40, 41);
    expect(&trace, 2, 0, 0, 0, "allgatherv without bytes");
    moving(&trace, 0, states[GATHERV], 10, 35, 0, 8, 16);
    moving(&trace, 1, states[GATHERV], 40, 41, 0, 8, 0);
    moving(&trace, 2, states[GATHERV], 60, 61, 0, 0, 0);
    expect(&trace, 3, 1, 1, 5, "gatherv");
    moving(&trace, 0, states[SCATTERV], 40, 41, 0, 16, 8);
    moving(&trace, 1, states[SCATTERV], 10, 34, 0, 0, 8);
    moving(&trace, 2, states[SCATTERV], 10, 20, 0, 0, 0); /* gets nothing: does not wait */
    expect(&trace, 3, 1, 1, 6, "scatterv");
    moving(&trace, 0, states[REDUCE_SCATTER], 10, 30, EVENT_UNKNOWN, 16, 8);
    moving(&trace, 1, states[REDUCE_SCATTER], 40, 41, EVENT_UNKNOWN, 16, 8);
    moving(&trace, 2, states[REDUCE_SCATTER], 10, 20, EVENT_UNKNOWN, 16, 0); /* gets nothing */
    expect(&trace, 3, 1, 1, 10, "reduce_scatter");
}

/* Totals do not show amounts per pair, except where only one is possible. */
static void test_totals(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moving(&trace, p, states[ALLTOALLV], 10 + 30 * p, 11 + 30 * p, EVENT_UNKNOWN, 8, 8);
    expect(&trace, 3, 0, 0, 0, "alltoallv in which each may give to itself");
    moving(&trace, 0, states[ALLTOALLV], 50, 51, EVENT_UNKNOWN, 24, 8);
    moving(&trace, 1, states[ALLTOALLV], 10, 43, EVENT_UNKNOWN, 0, 8);
    moving(&trace, 2, states[ALLTOALLV], 20, 52, EVENT_UNKNOWN, 0, 8);
    expect(&trace, 3, 1, 1, 7, "alltoallv that is a scatter");
    moving(&trace, 0, states[ALLTOALLV], 10, 51, EVENT_UNKNOWN, 8, 24);
    moving(&trace, 1, states[ALLTOALLV], 60, 61, EVENT_UNKNOWN, 8, 0);
    moving(&trace, 2, states[ALLTOALLV], 20, 21, EVENT_UNKNOWN, 8, 0);
    expect(&trace, 3, 1, 1, 9, "alltoallv that is a gather");
    moving(&trace, 0, states[ALLTOALLV], 10, 11, EVENT_UNKNOWN, 8, 8);
    moving(&trace, 1, states[ALLTOALLV], 60, 61, EVENT_UNKNOWN, 8, BYTES_UNKNOWN);
    expect(&trace, 2, 0, 0, 0, "alltoallv with a part that is not given");
    for (uint32_t p = 0; p < 2; p++) {
        sources(&trace, p, 0, 1u << (1 - p));
        moving(&trace, p, states[NEIGHBOR_ALLTOALLV], 10 + 30 * p, 11 + 30 * p, EVENT_UNKNOWN, 8, 8);
        moving(&trace, p, states[NEIGHBOR_ALLGATHERV], 70 + 30 * p, 71 + 30 * p, EVENT_UNKNOWN, 8, 8);
    }
    expect(&trace, 2, 1, 1, 29, "of neighbours what each gives is for all");
}

static void across(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int32_t root)
{
    moving(trace, process, state, enter, leave, root, BYTES_UNKNOWN, BYTES_UNKNOWN);
    for (size_t i = 1; i <= 2; i++)
        trace->events[process][trace->count[process] - i].comm = process < 2 ? LEFT : RIGHT;
}

static void make_sides(struct trace *trace)
{
    for (uint32_t p = 0; p < 4; p++) {
        struct event *local = put(trace, p, EVENT_COMM_MADE, 0, 0);
        local->value = COMM_STEP_LOCAL;
        local->partner_comm = p < 2 ? LEFT : RIGHT;
        struct event *remote = put(trace, p, EVENT_COMM_MADE, 0, 0);
        remote->value = COMM_STEP_REMOTE;
        remote->partner_comm = p < 2 ? RIGHT : LEFT;
    }
}

/* Each for the other group. */
static void test_two_groups(void)
{
    struct trace trace = {0};
    make_sides(&trace);
    across(&trace, 0, ALLREDUCE, 10, 31, EVENT_UNKNOWN); /* before process 1, of its own group */
    across(&trace, 1, ALLREDUCE, 50, 51, EVENT_UNKNOWN);
    across(&trace, 2, ALLREDUCE, 20, 48, EVENT_UNKNOWN); /* and before process 1, of the other */
    across(&trace, 3, ALLREDUCE, 30, 53, EVENT_UNKNOWN);
    expect(&trace, 4, 1, 1, 2, "two groups");
    make_sides(&trace);
    across(&trace, 0, BCAST, 40, 41, ROOT_SELF);
    across(&trace, 1, BCAST, 10, 11, ROOT_BESIDE);
    across(&trace, 2, BCAST, 20, 42, 0);
    across(&trace, 3, BCAST, 20, 35, 0);
    expect(&trace, 4, 1, 1, 5, "from a root to the other group");
    make_sides(&trace);
    across(&trace, 0, REDUCE, 10, 41, ROOT_SELF);
    across(&trace, 1, REDUCE, 10, 11, ROOT_BESIDE);
    across(&trace, 2, REDUCE, 20, 21, 0);
    across(&trace, 3, REDUCE, 45, 46, 0);
    expect(&trace, 4, 1, 1, 4, "from the other group to a root");
}

/* The call that completes a collective waits for those that post it. */
static void test_requests(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        requesting(&trace, p, IALLREDUCE, p ? 50 : 10, p ? 51 : 11, 1);
        requesting(&trace, p, WAIT, p ? 60 : 20, p ? 61 : 44, 1);
    }
    expect(&trace, 2, 1, 1, 6, "posted");
    for (uint32_t p = 0; p < 2; p++) {
        requesting(&trace, p, IALLREDUCE, p ? 50 : 10, p ? 51 : 11, 1);
        requesting(&trace, p, WAIT, p ? 60 : 20, p ? 61 : 54, 1);
    }
    expect(&trace, 2, 1, 0, 0, "posted, in order");
    for (uint32_t p = 0; p < 2; p++) {
        requesting(&trace, p, BARRIER_INIT, p ? 1 : 100, p ? 2 : 101, 1); /* does not wait */
        requesting(&trace, p, START, p ? 250 : 110, p ? 251 : 111, 1);
        requesting(&trace, p, WAIT, p ? 260 : 120, p ? 261 : 130, 1);
    }
    expect(&trace, 2, 1, 1, 120, "started");
    for (uint32_t p = 0; p < 2; p++)
        call(&trace, p, IALLREDUCE, p ? 50 : 10, p ? 51 : 11);
    expect(&trace, 2, 0, 0, 0, "not known what completes it");
}

static void on_window(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave,
                      int32_t partner)
{
    put(trace, process, EVENT_ENTER, enter, states[state])->comm = WINDOW;
    if (partner >= 0)
        ranks(trace, process, enter, partner, partner, WINDOW_UNLOCKED);
    put(trace, process, EVENT_LEAVE, leave, states[state])->comm = WINDOW;
}

/* An exposure ends after the access; what need not wait does not bind. */
static void test_windows(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++)
        on_window(&trace, p, WIN_FENCE, p ? 80 : 1, p ? 81 : 2, -1);
    on_window(&trace, 0, WIN_POST, 90, 91, 1);
    on_window(&trace, 0, WIN_WAIT, 92, 150, -1);
    on_window(&trace, 1, WIN_START, 85, 86, 0); /* before the post */
    on_window(&trace, 1, WIN_COMPLETE, 158, 160, -1);
    expect(&trace, 2, 1, 1, 8, "an exposure");
}

/* Neighbourhoods alone give a clock's offset, and the remaining errors are put in order. */
static void test_offset(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        sources(&trace, p, 0, 1u << (p + 3) % 4 | 1u << (p + 1) % 4);
        for (uint32_t round = 0; round < 60; round++) {
            int64_t enter = 10000 * (int64_t)round + 100 * ((p * 7 + round * 3) % 11) + (p == 2 ? 50000 : 0);
            call(&trace, p, NEIGHBOR, enter, 10000 * (int64_t)round + 1100 + (p == 2 ? 50000 : 0));
        }
    }
    tap_equal_int((long long)errors_of(&trace, 4).torn, 60, "a clock that is ahead tears all neighbourhoods");
    struct clocks *clocks = fix(&trace, 4);
    tap_ok(llabs(clocks->rows[2].offset_ns + 50000) < 1000 && clocks->aligned.torn == 0,
           "they show by how much: %lld ns", (long long)clocks->rows[2].offset_ns);
    tap_equal_int((long long)errors_of(&trace, 4).torn, 0, "and are in order then");
    clocks_free(clocks);
    clear(&trace);
}

int main(void)
{
    defs_make();
    more_defs_make();
    test_prefix();
    test_neighbours();
    test_counts();
    test_totals();
    test_two_groups();
    test_requests();
    test_windows();
    test_offset();
    defs_free(defs);
    return tap_done();
}
