/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for bottlenecks on tiny traces whose every value is known by hand; times are ms. */
#include "search/search.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

#include <math.h>

enum { MS = 1000000 };

static uint32_t file_write, put_, comm_dup, solve, output_, site;

static void more_defs(void)
{
    defs_make();
    file_write = defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "MPI_File_write"});
    put_ = defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "MPI_Put"});
    comm_dup = defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "MPI_Comm_dup"});
    solve = defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "solve"});
    output_ = defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "output"});
    site = defs_add_site(defs, &(struct site_def){.file = (char *)(uintptr_t) "src/sort.c", .id = 1, .line = 88});
}

static void ms_call(struct trace *trace, uint32_t process, uint32_t state, int enter, int leave)
{
    call(trace, process, state, (int64_t)enter * MS, (int64_t)leave * MS);
}

/* A message end with this many bytes (-1: not recorded). */
static void ms_message(struct trace *trace, uint32_t process, uint32_t state, int enter, int leave, int partner,
                       int64_t bytes)
{
    message(trace, process, state, (int64_t)enter * MS, (int64_t)leave * MS, partner);
    struct event *event = &trace->events[process][trace->count[process] - 2];
    if (bytes >= 0)
        *(state == RECV ? &event->bytes_received : &event->bytes_sent) = bytes;
}

static void ms_begin(struct trace *trace, uint32_t processes)
{
    for (uint32_t p = 0; p < processes; p++)
        moment(trace, p, 0);
}

/* Ends the run at 100 ms. */
static void ms_end(struct trace *trace, uint32_t processes)
{
    for (uint32_t p = 0; p < processes; p++)
        moment(trace, p, 100 * MS);
}

static struct hypotheses *hypotheses_of(const char *text)
{
    struct error err = {0};
    struct hypotheses *h = text ? hypotheses_parse(text, strlen(text), "test", &err) : hypotheses_default();
    if (!h)
        printf("# %s\n", err.text);
    return h;
}

static struct state_track *track_of(const struct trace *trace, uint32_t processes)
{
    struct state_track_builder *builder = state_track_builder_new();
    struct sink *sink = state_track_builder_sink(builder);
    trace_feed(trace, processes, sink);
    return state_track_builder_end(builder);
}

static struct search *searched_in(struct trace *trace, uint32_t processes, const char *hypotheses,
                                  const struct phases *phases, int64_t master)
{
    struct hypotheses *h = hypotheses_of(hypotheses);
    struct state_track *track = track_of(trace, processes);
    struct graph *graph = graph_of(trace, processes);
    struct search *search = search_run(
        &(struct search_input){.graph = graph, .states = track, .phases = phases, .master = master, .hypotheses = h});
    graph_free(graph);
    state_track_free(track);
    hypotheses_free(h);
    return search;
}

static struct search *searched(struct trace *trace, uint32_t processes, const char *hypotheses)
{
    return searched_in(trace, processes, hypotheses, NULL, -1);
}

/* The node of a hypothesis, or (title given) of what narrows `parent`. */
static size_t node_of(const struct search *search, const char *name)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->nodes[i].axis == AXIS_WHY && strcmp(search->nodes[i].hypothesis, name) == 0)
            return i;
    return SIZE_MAX;
}

static size_t child_of(const struct search *search, size_t parent, const char *title)
{
    for (size_t i = 0; i < search->count; i++)
        if (search->nodes[i].parent == parent && strcmp(search->nodes[i].title, title) == 0)
            return i;
    return SIZE_MAX;
}

static size_t children_of(const struct search *search, size_t parent)
{
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++)
        count += search->nodes[i].parent == parent;
    return count;
}

static void expect_node(const struct search *search, size_t index, enum search_state state, double value,
                        const char *name)
{
    if (!tap_ok(index < search->count, "%s: is there", name))
        return;
    const struct search_node *node = &search->nodes[index];
    tap_equal_string(search_state_name(node->state), search_state_name(state), "%s: state", name);
    if (!isnan(value) && !tap_ok(fabs(node->value - value) < 1e-9, "%s: value", name))
        printf("#  got %.12g\n# want %.12g\n", node->value, value);
    if (node->state != state && node->reason)
        printf("# %s\n", node->reason);
}

static void expect(const struct search *search, const char *name, enum search_state state, double value)
{
    expect_node(search, node_of(search, name), state, value, name);
}

/* Four messages every 15 ms, for which process 1 waits 15 + 3 x 14 ms. */
static void make_late_senders(struct trace *trace)
{
    ms_begin(trace, 2);
    for (int k = 1; k <= 4; k++) {
        ms_message(trace, 0, SEND, 15 * k, 15 * k + 1, 1, 8);
        ms_message(trace, 1, RECV, k == 1 ? 0 : 15 * k - 14, 15 * k + 1, 0, 8);
    }
    ms_end(trace, 2);
}

static void make_late_receivers(struct trace *trace)
{
    ms_begin(trace, 2);
    for (int k = 1; k <= 4; k++) {
        ms_message(trace, 0, SSEND, k == 1 ? 0 : 15 * k - 14, 15 * k + 1, 1, 8);
        ms_message(trace, 1, RECV, 15 * k, 15 * k + 1, 0, 8);
    }
    ms_end(trace, 2);
}

/* Five rounds of 16 ms: process 0 computes 5 ms, process 1 15 ms. */
static void make_rounds(struct trace *trace, uint32_t state)
{
    ms_begin(trace, 2);
    for (int k = 0; k < 5; k++) {
        ms_call(trace, 0, state, 16 * k + 5, 16 * k + 16);
        ms_call(trace, 1, state, 16 * k + 15, 16 * k + 16);
    }
    ms_end(trace, 2);
}

/* Nobody waits: four calls of 15 ms on both, of a function without partners. */
static void make_calls(struct trace *trace, uint32_t state)
{
    ms_begin(trace, 2);
    for (uint32_t p = 0; p < 2; p++)
        for (int k = 0; k < 4; k++)
            ms_call(trace, p, state, 15 * k, 15 * k + 15);
    ms_end(trace, 2);
}

static void make_transfers(struct trace *trace, int64_t bytes)
{
    ms_begin(trace, 2);
    for (int k = 0; k < 4; k++) {
        ms_message(trace, 0, SEND, 15 * k, 15 * k + 15, 1, bytes);
        ms_message(trace, 1, RECV, 15 * k, 15 * k + 15, 0, bytes);
    }
    ms_end(trace, 2);
}

static void test_messages(void)
{
    struct trace trace = {0};
    make_late_senders(&trace);
    struct search *s = searched(&trace, 2, NULL);
    expect(s, "waiting", SEARCH_TRUE, 0.285);
    expect(s, "messages", SEARCH_TRUE, 0.285);
    expect(s, "late-sender", SEARCH_TRUE, 0.285);
    expect(s, "late-receiver", SEARCH_FALSE, 0);
    expect(s, "synchronisation", SEARCH_FALSE, 0);
    expect(s, "barriers", SEARCH_NEVER, NAN);
    expect(s, "collectives", SEARCH_NEVER, NAN);
    expect(s, "held-up", SEARCH_TRUE, 0.285);
    expect(s, "transfer", SEARCH_FALSE, 0.04); /* 4 x 1 ms of both */
    expect(s, "io", SEARCH_FALSE, 0);
    expect(s, "one-sided", SEARCH_FALSE, 0);
    expect(s, "setup", SEARCH_FALSE, 0);
    /* Process 0 computes 96 ms, process 1 39 ms, alone 0 ms: it begins to wait when 0 begins to compute. */
    expect(s, "compute-imbalance", SEARCH_TRUE, 0.285);
    expect(s, "overload", SEARCH_TRUE, 0.1425);
    tap_equal_int(s->nodes[node_of(s, "late-sender")].ns, 57 * MS, "the time above the fraction line");
    size_t who = child_of(s, node_of(s, "late-sender"), "process 1");
    expect_node(s, who, SEARCH_TRUE, 0.57, "process 1 waits");
    expect_node(s, child_of(s, node_of(s, "late-sender"), "process 0"), SEARCH_FALSE, 0, "process 0 does not");
    expect_node(s, child_of(s, who, "in MPI_Recv"), SEARCH_TRUE, 0.57, "in its receives");
    size_t cause = child_of(s, node_of(s, "held-up"), "process 0");
    expect_node(s, cause, SEARCH_TRUE, 0.285, "process 0 is waited for");
    expect_node(s, child_of(s, cause, "in MPI_Send"), SEARCH_TRUE, 0.285, "in its sends");
    search_free(s);

    make_late_receivers(&trace);
    s = searched(&trace, 2, NULL);
    expect(s, "late-receiver", SEARCH_TRUE, 0.285);
    expect(s, "late-sender", SEARCH_FALSE, 0);
    search_free(s);
}

/* Three processes wait 59 ms in MPI_Finalize for the fourth. */
static struct search *late_end(const char *hypotheses)
{
    struct trace trace = {0};
    ms_begin(&trace, 4);
    for (uint32_t p = 0; p < 4; p++)
        ms_call(&trace, p, FINALIZE, p == 3 ? 99 : 40, 100);
    return searched(&trace, 4, hypotheses);
}

static void test_synchronisation(void)
{
    static const struct {
        uint32_t state;
        enum search_state barriers, collectives;
    } cases[] = {{BARRIER, SEARCH_TRUE, SEARCH_FALSE}, {ALLREDUCE, SEARCH_FALSE, SEARCH_TRUE}};
    for (size_t i = 0; i < 2; i++) {
        struct trace trace = {0};
        make_rounds(&trace, cases[i].state);
        struct search *s = searched(&trace, 2, NULL);
        expect(s, "waiting", SEARCH_TRUE, 0.25);
        expect(s, "messages", SEARCH_FALSE, 0);
        expect(s, "synchronisation", SEARCH_TRUE, 0.25);
        expect(s, "barriers", cases[i].barriers, i == 0 ? 0.25 : 0);
        expect(s, "collectives", cases[i].collectives, i == 1 ? 0.25 : 0);
        expect(s, "compute-imbalance", SEARCH_TRUE, 0.25); /* (95 - 70) x 2 of 200 */
        expect(s, "overload", SEARCH_TRUE, 0.125);         /* 25 of 200 */
        expect(s, "serial", SEARCH_TRUE, 0.5);             /* process 1 alone: 5 x 10 of 100 */
        expect(s, "nobody-computes", SEARCH_FALSE, 0.05);  /* 5 x 1 */
        search_free(s);
    }
    struct search *s = late_end(NULL);
    /* 3 x 59 ms of 4 x 99 ms: the run ends when the last enters MPI_Finalize. */
    expect(s, "compute-imbalance", SEARCH_TRUE, 177.0 / 396);
    search_free(s);
    s = late_end("hypothesis end\nvalue wait_at_finalize / time\n");
    expect(s, "end", SEARCH_TRUE, 177.0 / 400); /* asked for: all that is recorded */
    search_free(s);
}

static void test_others(void)
{
    struct trace trace = {0};
    static const char *const names[] = {"io", "one-sided", "setup"};
    const uint32_t states[] = {file_write, put_, comm_dup};
    for (size_t i = 0; i < 3; i++) {
        make_calls(&trace, states[i]);
        struct search *s = searched(&trace, 2, NULL);
        for (size_t k = 0; k < 3; k++)
            expect(s, names[k], i == k ? SEARCH_TRUE : SEARCH_FALSE, i == k ? 0.6 : 0);
        expect(s, "nobody-computes", SEARCH_TRUE, 0.6);
        expect(s, "serial", SEARCH_FALSE, 0);
        expect(s, "compute-imbalance", SEARCH_FALSE, 0);
        expect(s, "overload", SEARCH_NEVER, NAN);
        expect(s, "waiting", SEARCH_FALSE, 0);
        expect(s, "held-up", SEARCH_FALSE, 0);
        search_free(s);
    }
    make_calls(&trace, PROBE);
    struct search *s = searched(&trace, 2, NULL);
    expect(s, "transfer", SEARCH_TRUE, 0.6);
    expect(s, "polling", SEARCH_TRUE, 0.6);
    expect(s, "small-messages", SEARCH_FALSE, 0);
    search_free(s);
    static const struct {
        int64_t bytes;
        enum search_state state;
        double value;
    } sizes[] = {{1023, SEARCH_TRUE, 0.6}, {1024, SEARCH_FALSE, 0}, {-1, SEARCH_UNKNOWN, 0}};
    for (size_t i = 0; i < 3; i++) {
        make_transfers(&trace, sizes[i].bytes);
        s = searched(&trace, 2, NULL);
        expect(s, "transfer", SEARCH_TRUE, 0.6);
        expect(s, "small-messages", sizes[i].state, sizes[i].value);
        expect(s, "polling", SEARCH_FALSE, 0);
        search_free(s);
    }
}

/* Processes 0 to 2 compute 4 s and wait 6 s in a barrier for process 3, which computes 10 s. */
static struct search *barrier_of_four(const char *hypotheses)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        call(&trace, p, BARRIER, p == 3 ? 10000000000 : 4000000000, 10000000000);
    }
    return searched(&trace, 4, hypotheses);
}

#define SYNC_OF_FOUR                                                                                                   \
    "least-calls 1\nhypothesis sync\nvalue wait_at_barrier / time\nhypothesis computing\nvalue compute / time\n"

static void test_of_paradyn(void)
{
    struct search *s = barrier_of_four(SYNC_OF_FOUR);
    size_t sync = node_of(s, "sync");
    expect(s, "sync", SEARCH_TRUE, 0.45);
    expect(s, "computing", SEARCH_TRUE, 0.55);
    size_t waiting = child_of(s, sync, "processes 0–2");
    expect_node(s, waiting, SEARCH_TRUE, 0.6, "ranks 0 to 2");
    expect_node(s, child_of(s, sync, "process 3"), SEARCH_FALSE, 0, "rank 3");
    expect_node(s, child_of(s, waiting, "in MPI_Barrier"), SEARCH_TRUE, 0.6, "its function");
    tap_equal_int((long long)children_of(s, child_of(s, sync, "process 3")), 0, "rank 3 is not narrowed");
    search_free(s);

    s = barrier_of_four("threshold 0.5\n" SYNC_OF_FOUR);
    expect(s, "sync", SEARCH_FALSE, 0.45);
    tap_equal_int((long long)children_of(s, node_of(s, "sync")), 0, "false: no refinement");
    search_free(s);

    s = barrier_of_four("threshold 0.45\n" SYNC_OF_FOUR);
    expect(s, "sync", SEARCH_FALSE, 0.45); /* it must exceed the threshold */
    search_free(s);

    s = barrier_of_four("least-calls 1\nhypothesis any\nhypothesis a\nparent any\nvalue io / time\n"
                        "hypothesis b\nparent any\nvalue wait_at_barrier / time\nhypothesis none\n"
                        "hypothesis c\nparent none\nvalue io / time\nhypothesis d\nparent c\nvalue io / time\n");
    expect(s, "any", SEARCH_TRUE, NAN); /* virtual: true as one of its children is */
    expect(s, "a", SEARCH_FALSE, 0);
    expect(s, "b", SEARCH_TRUE, 0.45);
    expect(s, "none", SEARCH_FALSE, NAN);
    expect(s, "d", SEARCH_NEVER, NAN);
    search_free(s);
}

/* The names of what the hypothesis stands below and of what else it explains: "a: b, c". */
static void expect_place(const struct search *search, const char *name, const char *want)
{
    char text[200] = "-";
    size_t at = node_of(search, name);
    if (at != SIZE_MAX && search->nodes[at].parent != SEARCH_ROOT)
        snprintf(text, sizeof text, "%s: %s", search->nodes[search->nodes[at].parent].hypothesis,
                 search->nodes[at].also_explains ? search->nodes[at].also_explains : "");
    tap_equal_string(text, want, "%s: what it explains", name);
}

#define TRUE_ONE(name) "hypothesis " name "\nvalue wait_at_barrier / time\n"
#define FALSE_ONE(name) "hypothesis " name "\nvalue io / time\n"
#define CHILD(parents) "hypothesis c\nparent " parents "\nvalue compute / time\n"

/* paradyn.md C15: one true parent is enough, and without a true one it is never tested. It is one node. */
static void test_several_parents(void)
{
    struct search *s = barrier_of_four(FALSE_ONE("a") TRUE_ONE("b") CHILD("a b"));
    expect(s, "c", SEARCH_TRUE, 0.55);
    expect_place(s, "c", "b: a");
    tap_ok(child_of(s, node_of(s, "b"), "processes 0–2") == SIZE_MAX, "c explains b: only c is narrowed");
    search_free(s);

    s = barrier_of_four(TRUE_ONE("a") FALSE_ONE("b") CHILD("a\nparent b"));
    expect(s, "c", SEARCH_TRUE, 0.55);
    expect_place(s, "c", "a: b");
    search_free(s);

    s = barrier_of_four(FALSE_ONE("a") FALSE_ONE("b") CHILD("a b"));
    expect(s, "c", SEARCH_NEVER, NAN);
    expect_place(s, "c", "a: b");
    search_free(s);

    s = barrier_of_four(TRUE_ONE("a") TRUE_ONE("b") "hypothesis v\n" CHILD("a b v"));
    expect(s, "c", SEARCH_TRUE, 0.55);
    expect_place(s, "c", "a: b, v");
    expect(s, "v", SEARCH_TRUE, NAN);
    size_t nodes = 0;
    for (size_t i = 0; i < s->count; i++)
        nodes += s->nodes[i].axis == AXIS_WHY && strcmp(s->nodes[i].hypothesis, "c") == 0;
    tap_equal_int((long long)nodes, 1, "with three true parents it is there once");
    tap_ok(children_of(s, node_of(s, "a")) == 1 && children_of(s, node_of(s, "b")) == 0,
           "and none of them is narrowed");
    search_free(s);
}

static void test_unknown(void)
{
    struct trace trace = {0};
    struct search *s = barrier_of_four("hypothesis few\nvalue wait_at_barrier / time\n"
                                       "hypothesis divided\nvalue wait_at_barrier / io\n"
                                       "hypothesis short\nvalue compute / time\n");
    expect(s, "divided", SEARCH_UNKNOWN, NAN);
    tap_ok(!s->nodes[node_of(s, "divided")].has_value, "divided by 0: there is no value");
    expect(s, "few", SEARCH_TRUE, 0.45);
    search_free(s);
    s = barrier_of_four("least-calls 5\nleast-time 11 s\nhypothesis few\nvalue mpi / duration\n"
                        "hypothesis short\nvalue compute / time\n");
    expect(s, "few", SEARCH_UNKNOWN, NAN);
    tap_equal_string(s->nodes[node_of(s, "few")].reason, "too few calls to judge: 4", "too few calls");
    expect(s, "short", SEARCH_UNKNOWN, NAN);
    tap_equal_string(s->nodes[node_of(s, "short")].reason, "too short to judge: 10.0 s", "too little time");
    search_free(s);

    /* The broadcast's root is not recorded: it is unknown which processes wait. */
    for (uint32_t p = 0; p < 2; p++)
        for (uint32_t turn = 0; turn < 4; turn++)
            call(&trace, p, BCAST, (10 * turn + (turn % 2 == p ? 5 : 0)) * INT64_C(1000000000),
                 (10 * turn + 6) * INT64_C(1000000000));
    s = searched(&trace, 2,
                 "hypothesis bcast\nvalue late_broadcast / time\nhypothesis barrier\nvalue "
                 "wait_at_barrier / time\n");
    expect(s, "bcast", SEARCH_UNKNOWN, 0);
    expect(s, "barrier", SEARCH_FALSE, 0);
    search_free(s);

    /* The clock is wrong by 30 ms: waits of 57 ms in two processes are more, of 20 ms are not. */
    make_late_senders(&trace);
    message(&trace, 0, SEND, 130 * MS, 131 * MS, 1);
    message(&trace, 1, RECV, 100 * MS, 100 * MS, 0);
    s = searched(&trace, 2,
                 "threshold 0.01\nhypothesis late\nvalue late_sender / time\nhypothesis calls\nvalue mpi / "
                 "time\n");
    expect(s, "late", SEARCH_UNKNOWN, 57.0 / 231);
    tap_equal_string(s->nodes[node_of(s, "late")].reason, "not more than the trace's clock error (30.0 ms)",
                     "the clock error");
    expect(s, "calls", SEARCH_TRUE, (4 + 1 + 61) / 231.0);
    search_free(s);
}

/* Where: sites, communicators, tags, states of the program. */
static void test_where(void)
{
    struct trace trace = {0};
    ms_begin(&trace, 2);
    for (uint32_t p = 0; p < 2; p++)
        for (int k = 0; k < 8; k++) {
            bool first = k < 4;
            put(&trace, p, EVENT_ENTER, (10 * k + 1) * (int64_t)MS, first ? solve : output_);
            struct event *enter = put(&trace, p, EVENT_ENTER, (10 * k + 2) * (int64_t)MS, p == 0 ? SEND : RECV);
            enter->site = first ? site + 1 : 0;
            enter->comm = first;
            int64_t leave = (10 * k + (first ? 8 : 3)) * (int64_t)MS;
            struct event *end = put(&trace, p, p == 0 ? EVENT_SEND : EVENT_RECEIVE, leave, 0);
            end->partner = 1 - (int)p;
            end->tag = first ? 17 : 4;
            end->comm = end->partner_comm = first;
            put(&trace, p, EVENT_LEAVE, leave, p == 0 ? SEND : RECV);
            put(&trace, p, EVENT_LEAVE, (10 * k + 9) * (int64_t)MS, first ? solve : output_);
        }
    ms_end(&trace, 2);
    struct search *s = searched(&trace, 2,
                                "hypothesis site\nvalue mpi / time\nrefine sites\n"
                                "hypothesis comm\nvalue mpi / time\nrefine communicators\n"
                                "hypothesis tag\nvalue mpi / time\nrefine tags\n"
                                "hypothesis state\nvalue mpi / time\nrefine states\n"
                                "hypothesis computing\nvalue compute / time\nrefine states\n"
                                "hypothesis all\nvalue mpi / time\nrefine functions sites tags\n");
    /* Each process: 4 x 6 ms and 4 x 1 ms in MPI. */
    expect(s, "site", SEARCH_TRUE, 0.28);
    expect_node(s, child_of(s, node_of(s, "site"), "at sort.c:88"), SEARCH_TRUE, 0.24, "site");
    expect_node(s, child_of(s, node_of(s, "comm"), "on communicator 1"), SEARCH_TRUE, 0.24, "communicator");
    expect_node(s, child_of(s, node_of(s, "comm"), "on MPI_COMM_WORLD"), SEARCH_FALSE, 0.04, "the world");
    expect_node(s, child_of(s, node_of(s, "tag"), "with tag 17"), SEARCH_TRUE, 0.24, "tag");
    expect_node(s, child_of(s, node_of(s, "tag"), "with tag 4"), SEARCH_FALSE, 0.04, "a different tag");
    expect_node(s, child_of(s, node_of(s, "state"), "in state solve"), SEARCH_TRUE, 0.24, "state");
    expect_node(s, child_of(s, node_of(s, "state"), "in state output"), SEARCH_FALSE, 0.04, "another state");
    /* In `output` 4 x (1 + 6) ms of computing, in `solve` 4 x (1 + 1). */
    expect_node(s, child_of(s, node_of(s, "computing"), "in state output"), SEARCH_TRUE, 0.28, "computing in a state");
    expect_node(s, child_of(s, node_of(s, "computing"), "in state solve"), SEARCH_FALSE, 0.08, "and in another");
    /* No function has more than 20 %: the search continues along the next axis. */
    size_t all = node_of(s, "all");
    expect_node(s, child_of(s, all, "in MPI_Send"), SEARCH_FALSE, 0.14, "one function of two");
    size_t at = child_of(s, all, "at sort.c:88");
    expect_node(s, at, SEARCH_TRUE, 0.24, "after an axis in vain, the next");
    search_free(s);
}

/* When: two phases, ten iterations of 10 ms, barriers of 5 ms in the last four. */
static void test_when(void)
{
    struct trace trace = {0};
    int64_t begins[2 * 3], starts[2 * 11], *by_row[2] = {NULL, starts};
    ms_begin(&trace, 2);
    for (uint32_t p = 0; p < 2; p++) {
        for (int k = 0; k < 10; k++) {
            starts[p * 11 + (uint32_t)k] = 10 * k * (int64_t)MS;
            ms_call(&trace, p, BARRIER, 10 * k + 1, 10 * k + (k < 6 ? 2 : 6));
        }
        starts[p * 11 + 10] = 100 * MS;
        begins[p * 3] = 0;
        begins[p * 3 + 1] = 60 * MS;
        begins[p * 3 + 2] = 100 * MS;
    }
    ms_end(&trace, 2);
    struct loop_row rows[2] = {{.name = (char *)(uintptr_t) "run"}, {.name = (char *)(uintptr_t) "loop"}};
    rows[1].matched = 10;
    struct phase phase[2] = {{.name = (char *)(uintptr_t) "first", .loop = PHASE_NONE},
                             {.name = (char *)(uintptr_t) "second", .loop = PHASE_NONE}};
    struct phases phases = {
        .phase = phase, .count = 2, .begins = begins, .loops = {.rows = rows, .count = 2, .starts = by_row}};
    phases.main_loop = 1;
    struct search *s = searched_in(&trace, 2,
                                   "hypothesis phase\nvalue mpi / time\nrefine phases\n"
                                   "hypothesis turn\nvalue mpi / time\nrefine iterations\n"
                                   "hypothesis wall\nvalue mpi / duration\nrefine phases\n",
                                   &phases, -1);
    expect(s, "phase", SEARCH_TRUE, 0.26); /* 6 x 1 + 4 x 5 of 100 */
    expect_node(s, child_of(s, node_of(s, "phase"), "in phase: second"), SEARCH_TRUE, 0.5, "second phase");
    expect_node(s, child_of(s, node_of(s, "phase"), "in phase: first"), SEARCH_FALSE, 0.1, "first phase");
    expect_node(s, child_of(s, node_of(s, "turn"), "in iterations 6–9 of 10"), SEARCH_TRUE, 0.5, "iterations");
    expect_node(s, child_of(s, node_of(s, "turn"), "in iterations 0–5 of 10"), SEARCH_FALSE, 0.1, "the others");
    expect_node(s, child_of(s, node_of(s, "wall"), "in phase: second"), SEARCH_TRUE, 1.0, "2 x 20 ms in 40 ms");
    search_free(s);
}

/* Groups: a master apart, few that differ, all alike. */
static void test_groups(void)
{
    struct trace trace = {0};
    ms_begin(&trace, 8);
    for (uint32_t p = 0; p < 8; p++)
        for (int k = 0; k < 5; k++)
            ms_call(&trace, p, file_write, 20 * k, 20 * k + (p == 5 ? 18 : 5));
    ms_end(&trace, 8);
    struct search *s = searched(&trace, 8, "hypothesis io\nvalue io / time\n");
    size_t io = node_of(s, "io");
    expect(s, "io", SEARCH_TRUE, (7 * 25 + 90) / 800.0);
    size_t one = child_of(s, io, "process 5"), rest = child_of(s, io, "processes 0–4,6,7");
    expect_node(s, one, SEARCH_TRUE, 0.9, "the one that differs");
    expect_node(s, rest, SEARCH_TRUE, 0.25, "the others");
    tap_ok(s->nodes[one].parent == io && one < rest, "the larger value first");
    expect_node(s, child_of(s, rest, "in MPI_File_write"), SEARCH_TRUE, 0.25, "narrowed further");
    tap_equal_int((long long)children_of(s, child_of(s, rest, "in MPI_File_write")), 0, "alike: no single ones");
    search_free(s);

    ms_begin(&trace, 4);
    for (uint32_t p = 0; p < 4; p++)
        for (int k = 0; k < 5; k++)
            ms_call(&trace, p, file_write, 20 * k, 20 * k + 6 + 4 * (int)p);
    ms_end(&trace, 4);
    s = searched_in(&trace, 4, "threshold 0.4\nhypothesis io\nvalue io / time\nrefine processes\n", NULL, 0);
    io = node_of(s, "io");
    expect(s, "io", SEARCH_TRUE, 0.6);
    expect_node(s, child_of(s, io, "process 0, the master"), SEARCH_FALSE, 0.3, "the master");
    size_t workers = child_of(s, io, "processes 1–3");
    expect_node(s, workers, SEARCH_TRUE, 0.7, "the workers");
    expect_node(s, child_of(s, workers, "process 3"), SEARCH_TRUE, 0.9, "then single ones");
    expect_node(s, child_of(s, workers, "process 1"), SEARCH_TRUE, 0.5, "all of them");
    search_free(s);
}

/* A hundred functions, each above the threshold of 0.5 %: some are kept, all are counted. */
static void test_bounds(void)
{
    struct trace trace = {0};
    char name[32];
    uint32_t first = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "MPIX_f%d", i);
        uint32_t state = defs_add_state(defs, &(struct state_def){.name = name});
        first = i == 0 ? state : first;
    }
    moment(&trace, 0, 0);
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 3; k++)
            ms_call(&trace, 0, first + (uint32_t)i, 10 * i + k, 10 * i + k + 1);
    moment(&trace, 0, 1000 * (int64_t)MS);
    struct search *s = searched(&trace, 1, "threshold 0.002\nhypothesis mpi\nvalue mpi / time\nrefine functions\n");
    size_t mpi = node_of(s, "mpi");
    tap_equal_int((long long)children_of(s, mpi), SEARCH_TRUE_MOST, "kept");
    tap_equal_int((long long)s->nodes[mpi].more_true, 100 - SEARCH_TRUE_MOST, "and counted");
    tap_equal_int((long long)s->tests, 101, "all were tested");
    tap_equal_int((long long)search_state_count(s, SEARCH_TRUE), 101, "all are true");
    search_free(s);
}

static void test_empty(void)
{
    struct trace trace = {0};
    struct search *s = searched(&trace, 0, NULL);
    tap_ok(search_state_count(s, SEARCH_TRUE) == 0 && s->count > 0, "a run without events: nothing is true");
    search_free(s);
}

int main(void)
{
    more_defs();
    test_messages();
    test_synchronisation();
    test_others();
    test_of_paradyn();
    test_several_parents();
    test_unknown();
    test_where();
    test_when();
    test_groups();
    test_bounds();
    test_empty();
    defs_free(defs);
    return tap_done();
}
