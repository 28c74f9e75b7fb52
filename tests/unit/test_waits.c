/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait states by hand: which kind each wait is of, who causes it, and what is no wait. */
#include "replay/analyse.h"
#include "replay/replay.h"

#include "graph/wait_table.h"
#include "unit/hand_trace.h"
#include "unit/tap.h"

static struct analysis *analysed(struct trace *trace, uint32_t processes)
{
    struct graph *graph = graph_of(trace, processes);
    struct analysis *analysis = analyse(graph);
    graph_free(graph);
    return analysis;
}

/* All waits of a kind, by process. */
static void expect(const struct analysis *analysis, enum wait_kind kind, const int64_t *want_ns, const char *name)
{
    int64_t sum = 0;
    for (size_t i = 0; i < analysis->process_count; i++) {
        tap_equal_int(analysis->waits[kind].victims_ns[i], want_ns[i], "%s: %s of process %zu", name,
                      wait_kind_name(kind), i);
        sum += want_ns[i];
    }
    tap_equal_int(analysis->waits[kind].ns, sum, "%s: %s of all", name, wait_kind_name(kind));
}
#define EXPECT(analysis, kind, name, ...) expect(analysis, kind, (const int64_t[]){__VA_ARGS__}, name)

/* A message with a tag. */
static void tagged(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int32_t partner,
                   int32_t tag)
{
    message(trace, process, state, enter, leave, partner);
    trace->events[process][trace->count[process] - 2].tag = tag;
}

static void test_wrong_order(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    tagged(&trace, 1, SEND, 50, 51, 0, 1);
    tagged(&trace, 2, SEND, 10, 11, 0, 1);
    tagged(&trace, 0, RECV, 5, 52, 1, 1);
    tagged(&trace, 0, RECV, 53, 54, 2, 1);
    tagged(&trace, 1, SEND, 60, 61, 0, 7);
    tagged(&trace, 1, SEND, 90, 91, 0, 8);
    tagged(&trace, 0, RECV, 55, 92, 1, 8);
    tagged(&trace, 0, RECV, 93, 94, 1, 7);
    tagged(&trace, 1, SEND, 110, 111, 0, 9);
    tagged(&trace, 0, RECV, 100, 112, 1, 9);
    struct analysis *analysis = analysed(&trace, 3);
    EXPECT(analysis, WAIT_WRONG_ORDER_OTHER, "wrong order", 45, 0, 0);
    EXPECT(analysis, WAIT_WRONG_ORDER_SAME, "wrong order", 35, 0, 0);
    EXPECT(analysis, WAIT_LATE_SENDER, "right order", 10, 0, 0);
    tap_equal_int(analysis->waits[WAIT_WRONG_ORDER_OTHER].causes_ns[1], 45,
                  "the process that is waited for is the cause");
    tap_equal_int(analysis->replay, 112, "wrong order: replay");
    tap_equal_int(analysis->waits[WAIT_WRONG_ORDER_SAME].saving_ns, analysis->waits[WAIT_WRONG_ORDER_OTHER].saving_ns,
                  "both orders are replayed together");
    analysis_free(analysis);
}

/* Messages of one Waitall, and ones that are sent later, are no other order; a later one must have been sent before. */
static void test_right_order(void)
{
    struct trace trace = {0};
    tagged(&trace, 1, SEND, 50, 51, 0, 1);
    tagged(&trace, 2, SEND, 10, 11, 0, 1);
    put(&trace, 0, EVENT_ENTER, 5, WAITALL);
    for (int32_t p = 1; p < 3; p++) {
        struct event *event = put(&trace, 0, EVENT_RECEIVE, 52, 0);
        event->partner = p;
        event->tag = 1;
    }
    put(&trace, 0, EVENT_LEAVE, 52, WAITALL);
    tagged(&trace, 1, SEND, 60, 61, 0, 1);
    tagged(&trace, 2, SEND, 60, 61, 0, 1);
    tagged(&trace, 0, RECV, 55, 62, 1, 1);
    tagged(&trace, 0, RECV, 62, 63, 2, 1);
    struct analysis *analysis = analysed(&trace, 3);
    EXPECT(analysis, WAIT_LATE_SENDER, "right order", 50, 0, 0);
    EXPECT(analysis, WAIT_WRONG_ORDER_OTHER, "right order", 0, 0, 0);
    EXPECT(analysis, WAIT_WRONG_ORDER_SAME, "right order", 0, 0, 0);
    analysis_free(analysis);
}

static void test_scan(void)
{
    static const int64_t enters[] = {10, 30, 20, 5}, leaves[] = {11, 31, 32, 33};
    struct trace trace = {0};
    for (uint32_t p = 0; p < 4; p++) {
        moment(&trace, p, 0);
        call(&trace, p, SCAN, enters[p], leaves[p]);
    }
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    EXPECT(analysis, WAIT_EARLY_SCAN, "scan", 0, 0, 10, 25);
    tap_equal_int(analysis->waits[WAIT_EARLY_SCAN].causes_ns[1], 35, "scan: process 1 is waited for");
    tap_equal_int((long long)analysis->waits[WAIT_EARLY_SCAN].calls, 4, "scan: calls");
    tap_equal_int(analysis->replay, 33, "scan: as recorded");
    tap_equal_int(analysis->path_compute_ns[1], 30, "scan: the path goes over process 1");
    /* Process 1 comes at 15: process 2 is there at 20 and needs 2, process 3 needs 3 after process 2. */
    const double compute[] = {1, 1, 0.5, 1};
    tap_equal_int(replay_run(graph, (struct replay_options){.compute = compute}).end_ns, 23,
                  "scan: another process is the last when this one is faster");
    /* Locations are numbered from the last process: process 1 is location 2. */
    tap_equal_int(replay_run(graph, (struct replay_options){.free_waits = 1u << WAIT_EARLY_SCAN}).end_ns, 31,
                  "scan: without waiting the last to arrive ends last");
    analysis_free(analysis);
    graph_free(graph);
}

/* Without the ranks of a communicator nothing is known; a process that gives nothing is not waited for. */
static void test_scan_unknown(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        put(&trace, p, EVENT_ENTER, 20 - 10 * p, SCAN)->comm = 1;
        put(&trace, p, EVENT_LEAVE, 30, SCAN)->comm = 1;
        put(&trace, p, EVENT_ENTER, 50 - 10 * p, SCAN);
        put(&trace, p, EVENT_LEAVE, 60, SCAN)->bytes_sent = p == 0 ? 0 : 8;
    }
    struct analysis *analysis = analysed(&trace, 2);
    EXPECT(analysis, WAIT_EARLY_SCAN, "scan of which little is known", 0, 0);
    analysis_free(analysis);
}

static void moved(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int64_t given,
                  int64_t got, int32_t root)
{
    put(trace, process, EVENT_ENTER, enter, state);
    struct event *event = put(trace, process, EVENT_LEAVE, leave, state);
    event->bytes_sent = given;
    event->bytes_received = got;
    event->tag = root;
}

static void test_completion(void)
{
    struct trace trace = {0};
    call(&trace, 0, ALLREDUCE, 10, 33);
    call(&trace, 1, ALLREDUCE, 20, 35);
    call(&trace, 2, ALLREDUCE, 30, 41);
    call(&trace, 0, BARRIER, 50, 82);
    call(&trace, 1, BARRIER, 80, 85);
    call(&trace, 2, BARRIER, 60, 70); /* left before the last came: the barrier's own end is not known for it */
    struct analysis *analysis = analysed(&trace, 3);
    EXPECT(analysis, WAIT_AT_NXN, "completion", 20, 10, 0);
    EXPECT(analysis, WAIT_NXN_COMPLETION, "completion", 0, 2, 8);
    EXPECT(analysis, WAIT_AT_BARRIER, "completion", 30, 0, 10);
    EXPECT(analysis, WAIT_BARRIER_COMPLETION, "completion", 2, 5, 0);
    int64_t own_ns = 0;
    for (size_t bin = 0; bin < COURSE_BINS; bin++)
        own_ns += analysis->own_course_ns[ALLREDUCE][bin];
    tap_equal_int(own_ns, 3 + 5 + 11, "the course of the calls is all that nobody else causes");
    analysis_free(analysis);
}

/* Waits at the barrier, and what it costs beyond: freed each by itself. */
static void test_completion_replayed(void)
{
    struct trace trace = {0};
    call(&trace, 0, BARRIER, 0, 40);
    call(&trace, 1, BARRIER, 30, 50);
    struct graph *graph = graph_of(&trace, 2);
    struct replay_options free_waits = {.free_waits = 1u << WAIT_AT_BARRIER},
                          free_ends = {.free_waits = 1u << WAIT_BARRIER_COMPLETION};
    tap_equal_int(replay_run(graph, (struct replay_options){0}).end_ns, 50, "barrier: as recorded");
    tap_equal_int(replay_run(graph, free_waits).end_ns, 50, "barrier: without waiting");
    tap_equal_int(replay_run(graph, free_ends).end_ns, 40, "barrier: everyone is done when the first is");
    graph_free(graph);
}

/* Who gives nothing keeps nobody waiting, who gets nothing does not wait. */
static void test_nothing_moved(void)
{
    struct trace trace = {0};
    moved(&trace, 0, ALLREDUCE, 10, 50, 8, 8, EVENT_UNKNOWN);
    moved(&trace, 1, ALLREDUCE, 20, 50, 8, 8, EVENT_UNKNOWN);
    moved(&trace, 2, ALLREDUCE, 45, 46, 0, 8, EVENT_UNKNOWN);
    moved(&trace, 3, ALLREDUCE, 5, 47, 8, 0, EVENT_UNKNOWN);
    moved(&trace, 0, REDUCE, 60, 90, 8, 8, 0);
    moved(&trace, 1, REDUCE, 65, 66, 0, 0, 0);
    moved(&trace, 2, REDUCE, 80, 81, 8, 0, 0);
    moved(&trace, 3, REDUCE, 85, 86, 8, 0, 0);
    moved(&trace, 0, BCAST, 120, 121, 8, 0, 0);
    moved(&trace, 1, BCAST, 100, 122, 0, 8, 0);
    moved(&trace, 2, BCAST, 100, 122, 0, 0, 0);
    moved(&trace, 3, BCAST, 110, 122, 0, 8, 0);
    struct analysis *analysis = analysed(&trace, 4);
    EXPECT(analysis, WAIT_AT_NXN, "who moves nothing", 10, 0, 0, 0);
    EXPECT(analysis, WAIT_NXN_COMPLETION, "who moves nothing", 0, 0, 0, 0);
    EXPECT(analysis, WAIT_EARLY_REDUCE, "who moves nothing", 20, 0, 0, 0);
    EXPECT(analysis, WAIT_LATE_BROADCAST, "who moves nothing", 0, 20, 0, 10);
    tap_equal_int(analysis->replay, 117, "who moves nothing: replay");
    analysis_free(analysis);
    /* Nobody gives anything: nobody waits, however late the others are. */
    for (uint32_t p = 0; p < 2; p++)
        moved(&trace, p, ALLREDUCE, 10 * p, 30, 0, 8, EVENT_UNKNOWN);
    moved(&trace, 0, REDUCE, 40, 90, 8, 8, 0);
    moved(&trace, 1, REDUCE, 80, 81, 0, 0, 0);
    analysis = analysed(&trace, 2);
    EXPECT(analysis, WAIT_AT_NXN, "nothing at all", 0, 0);
    EXPECT(analysis, WAIT_EARLY_REDUCE, "nothing at all", 0, 0);
    analysis_free(analysis);
}

/* Collectives of neighbours, and calls that only prepare one, tie no processes together, as far as the trace shows. */
static void test_no_waits(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        call(&trace, p, NEIGHBOR, 10 + 10 * p, 30);
        call(&trace, p, BARRIER_INIT, 40 + 10 * p, 60);
    }
    struct analysis *analysis = analysed(&trace, 2);
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        tap_equal_int(analysis->waits[kind].ns, 0, "no %s", wait_kind_name((enum wait_kind)kind));
    tap_equal_int((long long)analysis->partnerless, 2, "and that is said");
    analysis_free(analysis);
}

static void test_files(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++)
        moment(&trace, p, 0);
    call(&trace, 0, FILE_WRITE, 10, 50);
    moment(&trace, 0, 60);
    moment(&trace, 1, 30);
    struct analysis *analysis = analysed(&trace, 2);
    EXPECT(analysis, WAIT_IO, "files", 40, 0);
    tap_equal_int(analysis->waits[WAIT_IO].causes_ns[0], 40, "files: nobody else is to blame");
    tap_equal_int((long long)analysis->waits[WAIT_IO].calls, 1, "files: calls");
    tap_equal_int(analysis->waits[WAIT_IO].saving_ns, 30, "files: without them the other ends last, at 30");
    analysis_free(analysis);
}

/* All write together: 0 and 1 to one file, 2 and 3 to another, of which 3 is done before 2 comes; all to a third. */
static void write_together(struct trace *trace)
{
    static const int64_t enters[] = {10, 30, 50, 20}, leaves[] = {40, 42, 60, 45};
    for (uint32_t p = 0; p < 4; p++) {
        moment(trace, p, 0);
        call(trace, p, FILE_WRITE_ALL, enters[p], leaves[p]);
        for (size_t i = trace->count[p] - 2; i < trace->count[p]; i++)
            trace->events[p][i].comm = p < 2 ? 1 : 2;
        call(trace, p, FILE_WRITE_ALL, 70 + 5 * p, 100 + p);
    }
}

static void test_files_together(void)
{
    struct trace trace = {0};
    defs_comm(defs, 2);
    write_together(&trace);
    struct analysis *analysis = analysed(&trace, 4);
    EXPECT(analysis, WAIT_AT_IO, "collective I/O: the trace does not say on which file", 0, 0, 0, 0);
    EXPECT(analysis, WAIT_IO, "collective I/O: not given", 60, 38, 32, 43);
    analysis_free(analysis);
    defs_add_constant(defs, FILES_CONSTANT, 1);
    write_together(&trace);
    struct graph *graph = graph_of(&trace, 4);
    analysis = analyse(graph);
    EXPECT(analysis, WAIT_AT_IO, "collective I/O", 20 + 15, 10, 5, 0);
    EXPECT(analysis, WAIT_IO, "collective I/O: the rest", 10 + 15, 12 + 16, 10 + 17, 25 + 18);
    tap_equal_int(analysis->waits[WAIT_AT_IO].causes_ns[1], 20, "collective I/O: for the last of the file's");
    tap_equal_int(analysis->waits[WAIT_AT_IO].causes_ns[3], 30, "collective I/O: for the last of all");
    tap_equal_int((long long)analysis->waits[WAIT_AT_IO].calls, 8, "collective I/O: calls");
    tap_equal_int((long long)analysis->waits[WAIT_IO].calls, 8, "collective I/O: calls on files");
    tap_equal_int(analysis->replay, 103, "collective I/O: replay");
    tap_equal_int(analysis->path, 103, "collective I/O: the path");
    analysis_free(analysis);
    graph_free(graph);
}

/* Process 1 comes at 60: with a request, or in halves (`begin`, `end`), of which process 0 waits in one. */
static void write_later(struct trace *trace, uint32_t begin, uint32_t end, int64_t begun_ns, int64_t end_ns,
                        int64_t ended_ns)
{
    for (uint32_t p = 0; p < 2; p++) {
        moment(trace, p, 0);
        call(trace, p, begin, p ? 60 : 10, p ? 62 : begun_ns);
        name_requests(trace, p, begin == FILE_IWRITE_ALL, begin == FILE_IWRITE_ALL);
        call(trace, p, end, p ? 63 : end_ns, p ? 64 : ended_ns);
        name_requests(trace, p, begin == FILE_IWRITE_ALL, begin == FILE_IWRITE_ALL);
    }
}

static void expect_later(struct trace *trace, int64_t at_io_ns, int64_t io_ns, uint32_t state, const char *name)
{
    struct graph *graph = graph_of(trace, 2);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->waits[WAIT_AT_IO].victims_ns[0], at_io_ns, "%s: waits", name);
    tap_equal_int(analysis->waits[WAIT_AT_IO].states_ns[state], at_io_ns, "%s: there", name);
    tap_equal_int(analysis->waits[WAIT_AT_IO].causes_ns[1], at_io_ns, "%s: for whom", name);
    tap_equal_int(analysis->waits[WAIT_IO].victims_ns[0], io_ns, "%s: files", name);
    tap_equal_int(analysis->replay, 64, "%s: replay", name);
    tap_equal_int(analysis->path, 64, "%s: path", name);
    tap_equal_int((long long)analysis->forced, 0, "%s: nobody goes on alone", name);
    analysis_free(analysis);
    graph_free(graph);
}

/* The constant of test_files_together() is there. */
static void test_files_later(void)
{
    struct trace trace = {0};
    write_later(&trace, FILE_IWRITE_ALL, WAIT, 12, 20, 61);
    expect_later(&trace, 40, 2, WAIT, "MPI_File_iwrite_all: in MPI_Wait");
    write_later(&trace, FILE_IWRITE_ALL, WAIT, 12, 20, 30);
    expect_later(&trace, 0, 2, WAIT, "MPI_File_iwrite_all: one is dprevious one the last comes");
    write_later(&trace, FILE_WRITE_BEGIN, FILE_WRITE_END, 12, 20, 61);
    expect_later(&trace, 40, 3, FILE_WRITE_END, "a split collective: in its end");
    write_later(&trace, FILE_WRITE_BEGIN, FILE_WRITE_END, 61, 62, 63);
    expect_later(&trace, 50, 2, FILE_WRITE_BEGIN, "a split collective: in its begin");
    write_later(&trace, FILE_WRITE_BEGIN, FILE_WRITE_END, 12, 20, 30);
    expect_later(&trace, 0, 12, FILE_WRITE_END, "a split collective: one is dprevious one the last comes");
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        for (int i = 0; i < 2; i++)
            call(&trace, p, FILE_WRITE_BEGIN, (p ? 50 : 10) + 2 * i, (p ? 50 : 10) + 2 * i + 1);
        for (int i = 0; i < 2; i++)
            call(&trace, p, FILE_WRITE_END, p ? 60 + 2 * i : 20 + 36 * i, p ? 62 + 2 * i : 55 + 2 * i);
    }
    expect_later(&trace, 0, 2 + 35 + 1, FILE_WRITE_END,
                 "split collectives on two files at once: which is ended is not known");
}

/* Waits by place in the source and by communicator: the longest first. */
static void test_places(void)
{
    struct trace trace = {0};
    for (int i = 0; i < 3; i++)
        defs_add_site(defs, &(struct site_def){.file = (char *)(uintptr_t) "a.c", .id = i, .line = i});
    for (int i = 0; i < 4; i++) {
        int64_t now = 100 * i;
        message(&trace, 0, SEND, now + 10 * (i + 1), now + 50, 1);
        message(&trace, 1, RECV, now, now + 60, 0);
        struct event *enter = &trace.events[1][trace.count[1] - 3];
        enter->site = i == 3 ? 0 : 1 + (uint32_t)i % 2;
    }
    for (uint32_t p = 0; p < 2; p++) {
        put(&trace, p, EVENT_ENTER, 500 + 7 * p, BARRIER)->comm = 1;
        put(&trace, p, EVENT_LEAVE, 510, BARRIER)->comm = 1;
    }
    struct analysis *analysis = analysed(&trace, 2);
    const struct wait_sums *sums = &analysis->waits[WAIT_LATE_SENDER];
    if (tap_equal_int((long long)sums->site_count, 2, "places: two sites; a call without one is at none")) {
        tap_ok(sums->sites[0].index == 0 && sums->sites[0].ns == 40, "places: 10 + 30 at the first");
        tap_ok(sums->sites[1].index == 1 && sums->sites[1].ns == 20, "places: 20 at the second");
    }
    if (tap_equal_int((long long)sums->comm_count, 1, "places: one communicator"))
        tap_ok(sums->comms[0].index == 0 && sums->comms[0].ns == 100, "places: messages of the world");
    sums = &analysis->waits[WAIT_AT_BARRIER];
    if (tap_equal_int((long long)sums->comm_count, 1, "places: a barrier's communicator"))
        tap_ok(sums->comms[0].index == 1 && sums->comms[0].ns == 7, "places: another");
    analysis_free(analysis);
}

/* A non-blocking collective waits where it is completed, for the last to post it. */
static void test_posted(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 3; p++)
        moment(&trace, p, 0);
    requesting(&trace, 0, IALLREDUCE, 5, 6, 1);
    requesting(&trace, 1, IALLREDUCE, 30, 31, 9);
    requesting(&trace, 2, IALLREDUCE, 10, 11, 1);
    requesting(&trace, 0, WAIT, 10, 33, 1);
    requesting(&trace, 1, WAIT, 31, 34, 9);
    requesting(&trace, 2, WAIT, 25, 35, 1);
    moment(&trace, 0, 40);
    struct graph *graph = graph_of(&trace, 3);
    struct analysis *analysis = analyse(graph);
    EXPECT(analysis, WAIT_AT_NXN, "posted", 20, 0, 5);
    EXPECT(analysis, WAIT_NXN_COMPLETION, "posted", 0, 0, 0);
    tap_equal_int(analysis->waits[WAIT_AT_NXN].states_ns[WAIT], 25, "posted: in MPI_Wait");
    tap_equal_int(analysis->waits[WAIT_AT_NXN].causes_ns[1], 25, "posted: for the last to post");
    tap_equal_int((long long)analysis->waits[WAIT_AT_NXN].calls, 3, "posted: calls");
    tap_equal_int((long long)analysis->uncompleted, 0, "posted: all are completed");
    tap_equal_int(analysis->replay, 40, "posted: as recorded");
    tap_equal_int(analysis->path_compute_ns[1], 30, "posted: the path goes over process 1");
    struct replay_options options = {.free_waits = 1u << WAIT_AT_NXN};
    tap_equal_int(replay_run(graph, options).end_ns, 34, "posted: without waiting process 1 ends last");
    /* Locations are numbered from the last process: process 1 computes half as long, and posts at 15. */
    const double compute[] = {1, 0.5, 1};
    options = (struct replay_options){.compute = compute};
    /* Process 0 goes on at 15 + 3, and 7 later it ends; process 2 enters at 25 and needs 5. */
    tap_equal_int(replay_run(graph, options).end_ns, 30, "posted: the last to post comes sooner");
    analysis_free(analysis);
    graph_free(graph);
}

/* Roots, several in one call, and requests about which nothing more is known. */
static void test_posted_several(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        put(&trace, p, EVENT_ENTER, p ? 40 : 5, IBCAST);
        request(&trace, p, p ? 40 : 5, 1);
        put(&trace, p, EVENT_LEAVE, p ? 41 : 6, IBCAST)->tag = 1;
        requesting(&trace, p, IALLREDUCE, p ? 50 : 7, p ? 51 : 8, 2);
        put(&trace, p, EVENT_ENTER, p ? 52 : 10, WAITALL);
        request(&trace, p, 60, 1);
        request(&trace, p, 60, 2);
        put(&trace, p, EVENT_LEAVE, 60, WAITALL);
        requesting(&trace, p, IALLREDUCE, 70 + 5 * p, 76, 3);
    }
    struct analysis *analysis = analysed(&trace, 2);
    EXPECT(analysis, WAIT_AT_NXN, "several", 40, 0);
    EXPECT(analysis, WAIT_LATE_BROADCAST, "several: charged once", 0, 0);
    tap_equal_int((long long)analysis->uncompleted, 2, "several: two that nothing completes");
    tap_equal_int(analysis->replay, 71, "several: replay");
    analysis_free(analysis);
    for (uint32_t p = 0; p < 2; p++) {
        put(&trace, p, EVENT_ENTER, p ? 40 : 5, IBCAST);
        request(&trace, p, 6, 1);
        put(&trace, p, EVENT_LEAVE, p ? 41 : 6, IBCAST)->tag = 1;
        requesting(&trace, p, WAIT, p ? 42 : 10, 60, 1);
        call(&trace, p, IALLREDUCE, 70 + 5 * p, 80);
    }
    analysis = analysed(&trace, 2);
    EXPECT(analysis, WAIT_LATE_BROADCAST, "posted with a root", 30, 0);
    EXPECT(analysis, WAIT_AT_NXN, "posted by recorders that record no requests", 0, 0);
    tap_equal_int((long long)analysis->uncompleted, 2, "which is said");
    analysis_free(analysis);
}

/* A persistent collective: each MPI_Start is one, whatever its MPI_Barrier_init took. */
static void test_persistent(void)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p < 2; p++) {
        moment(&trace, p, 0);
        requesting(&trace, p, BARRIER_INIT, 2 + 10 * p, 20, 7);
        for (int64_t i = 0; i < 2; i++) {
            int64_t now = 100 * (i + 1), late = p == (uint32_t)i ? 50 : 0;
            requesting(&trace, p, START, now + late, now + late + 1, 7);
            requesting(&trace, p, WAIT, now + late + 2, now + 55, 7);
        }
        requesting(&trace, p, WAIT, 400, 401, 7); /* not started: nothing to complete */
    }
    struct analysis *analysis = analysed(&trace, 2);
    EXPECT(analysis, WAIT_AT_BARRIER, "persistent", 48, 48);
    tap_equal_int(analysis->waits[WAIT_AT_BARRIER].cause_states_ns[START], 96, "persistent: for MPI_Start");
    tap_equal_int((long long)analysis->waits[WAIT_AT_BARRIER].calls, 4, "persistent: calls");
    tap_equal_int(analysis->replay, 401, "persistent: as recorded");
    tap_equal_int((long long)analysis->uncompleted, 0, "persistent: all are completed");
    analysis_free(analysis);
}

/* A barrier without a number of bytes, or with 0: it is one all the same. */
static void test_barrier_bytes(void)
{
    struct trace trace = {0};
    moved(&trace, 0, BARRIER, 10, 52, 0, 0, EVENT_UNKNOWN);
    moved(&trace, 1, BARRIER, 20, 55, 0, 0, EVENT_UNKNOWN);
    moved(&trace, 2, BARRIER, 50, 52, 0, 0, EVENT_UNKNOWN);
    moved(&trace, 0, FINALIZE, 60, 90, 0, 0, EVENT_UNKNOWN);
    moved(&trace, 1, FINALIZE, 70, 90, 0, 0, EVENT_UNKNOWN);
    moved(&trace, 2, FINALIZE, 85, 90, 0, 0, EVENT_UNKNOWN);
    struct analysis *analysis = analysed(&trace, 3);
    EXPECT(analysis, WAIT_AT_BARRIER, "no bytes in a barrier", 40, 30, 0);
    EXPECT(analysis, WAIT_BARRIER_COMPLETION, "no bytes in a barrier", 0, 3, 0);
    EXPECT(analysis, WAIT_AT_FINALIZE, "no bytes in a barrier", 25, 15, 0);
    tap_equal_int(analysis->replay, 80, "no bytes in a barrier: replay");
    analysis_free(analysis);
}

/* The table against the waits themselves: marks, kinds, lengths, numbers and sums. One call in three does not wait. */
static void test_table(void)
{
    struct trace trace = {0};
    int64_t now = 0;
    for (int64_t i = 0; i < 1000; i++, now += INT64_C(4000000000)) {
        int64_t late = i % 3 == 0 ? 0 : i % 7 == 0 ? INT64_C(3000000000) : 1000 + i;
        message(&trace, 0, RECV, now, now + late + 10, 1);
        message(&trace, 1, SEND, now + late, now + late + 5, 0);
    }
    struct graph *graph = graph_of(&trace, 2);
    uint32_t location = graph->locations[0].process == 0 ? 0 : 1, wrong = 0, waits = 0;
    double sums[1001] = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        struct wait wait = wait_compute(graph, location, i);
        wrong += waits_before(graph, location, i) != waits || wait_ns_in(graph, location, i) != wait.ns ||
                 wait_table_marks(graph, location, i) != (wait.kind != WAIT_NONE);
        if (wait.kind == WAIT_NONE)
            continue;
        wrong += graph->waits[location].kinds[waits] != wait.kind || wait_ns(graph, location, waits) != wait.ns ||
                 waiting_call_before(graph, location, i + 1) != i;
        sums[waits + 1] = sums[waits] + (double)wait.ns;
        waits++;
    }
    tap_equal_int(wrong, 0, "table: as computed");
    tap_equal_int(waits, 666, "table: so many wait");
    tap_equal_int(waits_before(graph, location, 1000), 666, "table: all of them");
    tap_equal_int(waiting_call_before(graph, location, 1), GRAPH_NONE, "table: nprevious one the first");
    for (uint32_t from = 0; from <= waits; from += 5)
        for (uint32_t to = from; to <= waits; to++)
            wrong += waits_sum_ns(graph, location, from, to) < sums[to] - sums[from] ||
                     waits_sum_ns(graph, location, from, to) > sums[to] - sums[from];
    tap_equal_int(wrong, 0, "table: sums of all runs");
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_wrong_order();
    test_right_order();
    test_scan();
    test_scan_unknown();
    test_completion();
    test_completion_replayed();
    test_nothing_moved();
    test_no_waits();
    test_files();
    test_files_together();
    test_files_later();
    test_places();
    test_posted();
    test_posted_several();
    test_persistent();
    test_barrier_bytes();
    test_table();
    defs_free(defs);
    return tap_done();
}
