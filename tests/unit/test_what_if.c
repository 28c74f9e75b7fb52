/* SPDX-License-Identifier: BSD-3-Clause */
/* What-if: replays with something different, and other networks. Example D, its protocols, buses and stages are those
   of the rules of diagnosis, 4.4; all other numbers are computed by hand. */
#include "replay/analyse.h"
#include "replay/what_if.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

/* Ten bytes in a nanosecond. */
static const double TEN = 1e10;

/* A message of so many bytes, with a tag. */
static void sized(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave, int32_t partner,
                  int64_t bytes, int32_t tag)
{
    message(trace, process, state, enter, leave, partner);
    struct event *event = &trace->events[process][trace->count[process] - 2];
    event->tag = tag;
    *(event->kind == EVENT_SEND ? &event->bytes_sent : &event->bytes_received) = bytes;
}

static void begin_all(struct trace *trace, uint32_t processes)
{
    for (uint32_t p = 0; p < processes; p++)
        moment(trace, p, 0);
}

static struct network_run on_network(const struct graph *graph, struct network network)
{
    if (!network.eager_limit)
        network.eager_limit = NETWORK_EAGER;
    return network_replay(graph, &network);
}

/* Example D. What was recorded inside MPI is thrown away: here it lasts long. */
static void test_example(void)
{
    struct trace trace = {0};
    begin_all(&trace, 3);
    sized(&trace, 0, SEND, 10, 112, 1, 100, 0);
    moment(&trace, 0, 126);
    sized(&trace, 1, RECV, 5, 122, 0, 100, 0);
    sized(&trace, 1, SEND, 132, 134, 2, 100, 0);
    moment(&trace, 1, 139);
    sized(&trace, 2, RECV, 6, 144, 1, 100, 0);
    moment(&trace, 2, 154);
    struct graph *graph = graph_of(&trace, 3);
    tap_equal_int(on_network(graph, (struct network){.latency_ns = 2, .bytes_per_s = TEN}).end_ns, 54,
                  "example D: transfers at 12 and 34, the last process ends at 54");
    tap_equal_int(on_network(graph, (struct network){0}).end_ns, 30, "example D: the ideal network");
    tap_equal_int(replay_run(graph, (struct replay_options){.ideal = true}).end_ns, 30,
                  "example D: the replay of the ideal network agrees");
    graph_free(graph);
}

static void test_protocols(void)
{
    struct trace trace = {0};
    begin_all(&trace, 2);
    sized(&trace, 0, SEND, 3, 50, 1, 100, 0);
    moment(&trace, 0, 54);
    sized(&trace, 1, RECV, 20, 50, 0, 100, 0);
    struct graph *graph = graph_of(&trace, 2);
    struct network network = {.latency_ns = 2, .bytes_per_s = TEN};
    tap_equal_int(on_network(graph, network).end_ns, 20, "eager: the message is there at 15, before its receive");
    network.eager_limit = 100;
    tap_equal_int(on_network(graph, network).end_ns, 30, "rendezvous from 100 bytes on: the transfer is from 20 to 30");
    network.eager_limit = 101;
    tap_equal_int(on_network(graph, network).end_ns, 20, "rendezvous from 101 bytes on: eager");
    graph_free(graph);
    /* The sender has 20 left to do: it goes on as the transfer begins, or as it ends. */
    begin_all(&trace, 2);
    sized(&trace, 0, SEND, 3, 50, 1, 100, 0);
    moment(&trace, 0, 70);
    sized(&trace, 1, RECV, 20, 50, 0, 100, 0);
    graph = graph_of(&trace, 2);
    network.eager_limit = 0;
    network.eager_limit = 1;
    tap_equal_int(on_network(graph, network).end_ns, 40, "the sender is let go as the transfer begins");
    network.sender_stays = true;
    tap_equal_int(on_network(graph, network).end_ns, 50, "the sender is let go as the transfer ends");
    graph_free(graph);
    /* MPI_Ssend is rendezvous at any size; a receive that completes in a wait counts as posted. */
    begin_all(&trace, 2);
    sized(&trace, 0, SSEND, 3, 50, 1, 0, 0);
    sized(&trace, 1, RECV, 20, 50, 0, 0, 0);
    sized(&trace, 0, SEND, 60, 70, 1, 100, 0);
    sized(&trace, 1, WAITALL, 80, 90, 0, 100, 0);
    graph = graph_of(&trace, 2);
    network = (struct network){.latency_ns = 2, .eager_limit = 1};
    tap_equal_int(on_network(graph, network).end_ns, 50, "MPI_Ssend waits until 20; then 30 of computing on process 1");
    network.eager_limit = NETWORK_EAGER;
    tap_equal_int(on_network(graph, network).end_ns, 50, "MPI_Ssend waits whatever the limit");
    graph_free(graph);
}

static void test_buses(void)
{
    for (uint32_t buses = 0; buses <= 2; buses++) {
        struct trace trace = {0};
        begin_all(&trace, 4);
        for (uint32_t p = 0; p < 2; p++) {
            sized(&trace, p, SEND, 0, 5, (int32_t)p + 2, 100, 0);
            sized(&trace, p + 2, RECV, 0, 50, (int32_t)p, 100, 0);
        }
        struct graph *graph = graph_of(&trace, 4);
        struct network network = {.latency_ns = 2, .bytes_per_s = TEN, .buses = buses};
        tap_equal_int(on_network(graph, network).end_ns, buses == 1 ? 22 : 12, "%u buses for two messages", buses);
        graph_free(graph);
    }
    /* One link into process 2: the second message waits for the first, whatever the buses. */
    struct trace trace = {0};
    begin_all(&trace, 3);
    sized(&trace, 0, SEND, 0, 5, 2, 100, 0);
    sized(&trace, 1, SEND, 0, 5, 2, 100, 0);
    sized(&trace, 2, RECV, 0, 20, 0, 100, 0);
    sized(&trace, 2, RECV, 20, 40, 1, 100, 0);
    struct graph *graph = graph_of(&trace, 3);
    tap_equal_int(on_network(graph, (struct network){.latency_ns = 2, .bytes_per_s = TEN}).end_ns, 22,
                  "two messages to one process share its link");
    graph_free(graph);
}

static void test_stages(void)
{
    static const struct {
        uint32_t processes, buses;
        uint64_t stages;
    } cases[] = {{4, 1, 3}, {4, 2, 2}, {8, 0, 3}, {8, 1, 7}, {8, 2, 4}, {5, 1, 4}, {5, 0, 3}, {1, 0, 0}, {2, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tap_equal_int((long long)network_stages(cases[i].processes, cases[i].buses), (long long)cases[i].stages,
                      "stages of %u processes on %u buses", cases[i].processes, cases[i].buses);
    struct network network = {.latency_ns = 2, .bytes_per_s = TEN};
    tap_equal_int(network_collective_ns(&network, "MPI_Allreduce", 4, 80), 20, "a tree of 4, 80 bytes");
    tap_equal_int(network_collective_ns(&network, "MPI_Reduce", 4, 80), 36, "MPI_Reduce: twice the bytes");
    tap_equal_int(network_collective_ns(&network, "MPI_Alltoall", 4, 80), 108, "all to all: 3 others, in and out");
    tap_equal_int(network_collective_ns(&network, "MPI_Init", 4, 0), 0, "MPI_Init costs nothing");
}

/* Enters 10, 20, 40, 30; each has 9 left. */
static void test_collective(void)
{
    static const int64_t enters[] = {10, 20, 40, 30};
    struct trace trace = {0};
    begin_all(&trace, 4);
    for (uint32_t p = 0; p < 4; p++) {
        call(&trace, p, BARRIER, enters[p], 141);
        moment(&trace, p, 150);
    }
    struct graph *graph = graph_of(&trace, 4);
    tap_equal_int(on_network(graph, (struct network){0}).end_ns, 49, "a barrier: all go on with the last");
    tap_equal_int(on_network(graph, (struct network){.latency_ns = 3}).end_ns, 55, "two stages of 3 in a barrier of 4");
    double twice[] = {1, 0.5, 1, 1}; /* by location: process 3 came first */
    tap_equal_int(on_network(graph, (struct network){.compute = twice}).end_ns, 39,
                  "process 2 twice as fast: the last comes at 30");
    graph_free(graph);
}

/* Both send first: with rendezvous they wait for each other for ever. */
static void test_deadlock(void)
{
    struct trace trace = {0};
    begin_all(&trace, 2);
    for (uint32_t p = 0; p < 2; p++) {
        sized(&trace, p, SEND, 10, 12, 1 - (int32_t)p, 100, 0);
        sized(&trace, p, RECV, 12, 30, 1 - (int32_t)p, 100, 0);
    }
    struct graph *graph = graph_of(&trace, 2);
    struct network_run run = on_network(graph, (struct network){.latency_ns = 2, .bytes_per_s = TEN, .eager_limit = 1});
    tap_ok(run.deadlock && run.forced == 0, "rendezvous deadlocks, and is reported");
    tap_equal_int(run.end_ns, 22, "the numbers are those of eager sends");
    run = on_network(graph, (struct network){.latency_ns = 2, .bytes_per_s = TEN});
    tap_ok(!run.deadlock && run.end_ns == 22, "eager sends do not deadlock");
    graph_free(graph);
    /* Receives that nobody ever gets to send for: no protocol helps. */
    begin_all(&trace, 2);
    for (uint32_t p = 0; p < 2; p++) {
        sized(&trace, p, RECV, 0, 5, 1 - (int32_t)p, 1, 0);
        sized(&trace, p, SEND, 6, 7, 1 - (int32_t)p, 1, 0);
    }
    graph = graph_of(&trace, 2);
    run = on_network(graph, (struct network){.eager_limit = 1});
    tap_ok(!run.deadlock && run.forced > 0, "a circle of receives is broken, and is not the protocol's");
    graph_free(graph);
}

/* A probe sees a message that waits for its receive. */
static void test_probe(void)
{
    struct trace trace = {0};
    begin_all(&trace, 2);
    sized(&trace, 0, SEND, 10, 30, 1, 100, 0);
    call(&trace, 1, PROBE, 2, 20);
    sized(&trace, 1, RECV, 21, 30, 0, 100, 0);
    struct graph *graph = graph_of(&trace, 2);
    struct network_run run = on_network(graph, (struct network){.bytes_per_s = TEN, .eager_limit = 1});
    tap_ok(!run.deadlock && run.forced == 0, "a probe of a rendezvous message");
    tap_equal_int(run.end_ns, 21, "the probe ends with the transfer at 20; 1 of computing");
    graph_free(graph);
}

static void test_free(void)
{
    struct trace trace = {0};
    begin_all(&trace, 2);
    sized(&trace, 0, SEND, 50, 52, 1, 8, 7);
    sized(&trace, 1, RECV, 10, 54, 0, 8, 7);
    call(&trace, 0, BARRIER, 60, 71);
    call(&trace, 1, BARRIER, 64, 71);
    moment(&trace, 0, 75);
    moment(&trace, 1, 90);
    struct graph *graph = graph_of(&trace, 2);
    bool *states = memory_new(STATES), *channels = memory_new(graph->channel_count);
    struct replay_options options = {.free_states = states};
    states[RECV] = true;
    /* Process 1 comes to the barrier at 20, waits until 60, and leaves 7 after the last, as recorded. */
    tap_equal_int(replay_run(graph, options).end_ns, 86, "the receive free: the barrier is left at 67");
    states[RECV] = false;
    states[BARRIER] = true;
    tap_equal_int(replay_run(graph, options).end_ns, 83, "the barrier free: process 1 has 19 left after 64");
    states[BARRIER] = false;
    tap_equal_int(replay_run(graph, options).end_ns, 90, "nothing free: as recorded");
    options = (struct replay_options){.free_channels = channels};
    tap_equal_int((long long)graph->channel_count, 1, "one channel");
    channels[0] = true;
    /* The receive keeps its own 4: until 14; 10 of computing; the barrier as above. */
    tap_equal_int(replay_run(graph, options).end_ns, 86, "its messages always in time");
    free(states);
    free(channels);
    graph_free(graph);
}

static const struct scenario *scenario_of(const struct scenarios *scenarios, const char *options)
{
    for (size_t i = 0; i < scenarios->count; i++)
        if (strcmp(scenarios->scenario[i].options, options) == 0)
            return &scenarios->scenario[i];
    return NULL;
}

/* Three barriers; process 2 computes 30 before each, the others 10. */
static void test_standard(void)
{
    struct trace trace = {0};
    begin_all(&trace, 4);
    for (int round = 0; round < 3; round++)
        for (uint32_t p = 0; p < 4; p++)
            call(&trace, p, BARRIER, 31 * round + (p == 2 ? 30 : 10), 31 * round + 31);
    struct graph *graph = graph_of(&trace, 4);
    struct analysis *analysis = analyse(graph);
    struct scenarios scenarios = what_if_standard(graph, analysis, analysis->balanced_saving);
    static const struct {
        const char *options;
        int64_t saving;
    } cases[] = {{"--ideal", 3},
                 {"--balance", 45},
                 {"--speed-up 2=mean", 45},
                 {"--free MPI_Barrier", 3},
                 {"--free wait-at-barrier", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct scenario *scenario = scenario_of(&scenarios, cases[i].options);
        tap_equal_int(scenario ? scenario->saving_ns : -1, cases[i].saving, "standard: %s", cases[i].options);
    }
    bool sorted = true, sums = true;
    for (size_t i = 0; i < scenarios.count; i++) {
        sorted &= i == 0 || scenarios.scenario[i - 1].saving_ns >= scenarios.scenario[i].saving_ns;
        sums &= scenarios.scenario[i].end_ns + scenarios.scenario[i].saving_ns == 93;
    }
    tap_ok(sorted, "the largest saving first");
    tap_ok(sums && scenarios.replay_ns == 93, "a scenario's run and its saving are the run");
    struct scenarios stored = what_if_standard(NULL, analysis, analysis->balanced_saving);
    tap_equal_int((long long)stored.count, 3, "an analysis alone: the ideal network, balance, one kind of wait");
    scenarios_clear(&stored);
    scenarios_clear(&scenarios);
    analysis_free(analysis);
    graph_free(graph);
}

/* The trace shows which call posts a receive, and which completes a send: rendezvous waits for the one, and in the
   other.
 */
static void test_requests(void)
{
    struct trace trace = {0};
    begin_all(&trace, 2);
    sized(&trace, 0, SSEND, 0, 22, 1, 100, 0);
    moment(&trace, 0, 62);
    call(&trace, 1, IRECV, 20, 21);
    name_requests(&trace, 1, 1, 1);
    sized(&trace, 1, WAIT, 40, 41, 0, 100, 0);
    name_requests(&trace, 1, 1, 1);
    struct graph *graph = graph_of(&trace, 2);
    tap_equal_int(on_network(graph, (struct network){0}).end_ns, 60,
                  "posted by MPI_Irecv at 20: the sender goes on then");
    struct network network = {.bytes_per_s = TEN, .sender_stays = true};
    tap_equal_int(on_network(graph, network).end_ns, 70, "the transfer is from 20 to 30");
    graph_free(graph);
    begin_all(&trace, 2);
    sized(&trace, 0, ISSEND, 0, 1, 1, 100, 0);
    name_requests(&trace, 0, 1, 1);
    call(&trace, 0, WAIT, 10, 31);
    name_requests(&trace, 0, 1, 1);
    moment(&trace, 0, 71);
    sized(&trace, 1, RECV, 30, 31, 0, 100, 0);
    graph = graph_of(&trace, 2);
    tap_equal_int(on_network(graph, (struct network){0}).end_ns, 70, "MPI_Issend: its wait is until the receive at 30");
    tap_equal_int(on_network(graph, network).end_ns, 80, "and until the transfer from 30 to 40 is over");
    graph_free(graph);
    begin_all(&trace, 2);
    sized(&trace, 0, ISENDRECV, 0, 1, 1, 100, 0);
    name_requests(&trace, 0, 1, 1);
    call(&trace, 0, WAIT, 10, 31);
    name_requests(&trace, 0, 1, 1);
    moment(&trace, 0, 71);
    sized(&trace, 1, RECV, 30, 31, 0, 100, 0);
    graph = graph_of(&trace, 2);
    tap_equal_int(on_network(graph, (struct network){0}).end_ns, 49,
                  "an eager send that is completed later does not wait");
    graph_free(graph);
}

/* A network that costs nothing is the ideal one, and never slower than computing nor than the record. */
static void test_random(void)
{
    int equal = 0, bounded = 0, slower = 0, same = 0, runs = 0;
    for (uint32_t processes = 2; processes <= LOCATIONS; processes++)
        for (int i = 0; i < 40; i++, runs++) {
            struct trace trace = {0};
            run_make(&trace, processes);
            struct graph *graph = graph_of(&trace, processes);
            double *compute = what_if_computing(graph), most = 0;
            for (size_t location = 0; location < graph->location_count; location++)
                most = compute[location] > most ? compute[location] : most;
            int64_t ideal = on_network(graph, (struct network){0}).end_ns,
                    late = on_network(graph, (struct network){.latency_ns = 5}).end_ns;
            equal += ideal == replay_run(graph, (struct replay_options){.ideal = true}).end_ns;
            bounded += most <= (double)ideal && ideal <= graph_duration_ns(graph);
            slower += late > ideal;
            double *factors = what_if_balanced(graph), sum = 0;
            for (size_t location = 0; location < graph->location_count; location++)
                sum += factors[location] * compute[location] / (double)graph->location_count;
            same += sum > 0 && factors[0] * compute[0] - sum < 1e-6 * sum;
            free(compute);
            free(factors);
            graph_free(graph);
        }
    tap_equal_int(equal, runs, "a network that costs nothing is the replay's ideal one");
    tap_equal_int(bounded, runs, "computing <= ideal network <= recorded");
    tap_equal_int(slower, runs, "latency makes it longer");
    tap_equal_int(same, runs, "balanced: all compute for the mean time");
}

int main(void)
{
    defs_make();
    test_example();
    test_protocols();
    test_buses();
    test_stages();
    test_collective();
    test_deadlock();
    test_probe();
    test_free();
    test_standard();
    test_requests();
    test_random();
    defs_free(defs);
    return tap_done();
}
