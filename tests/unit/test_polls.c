/* SPDX-License-Identifier: BSD-3-Clause */
/* Polling: naps between looks for a message are waiting for its sender, in waits and in efficiencies. */
#include "core/resource_counter.h"
#include "heuristics/efficiency.h"
#include "replay/analyse.h"

#include "unit/hand_metrics.h"
#include "unit/hand_trace.h"

/* Process 0 computes 100 ms and sends; process 1 looks for the message, 10 us each time, with something in between. */
enum { SENT_NS = 100000000, LOOK_NS = 10000, SEND_NS = 1000, RECEIVE_NS = 2000 };

static uint32_t asleep; /* the counter */

struct looks {
    int64_t gaps_ns; /* between them */
    int64_t first_ns, end_ns;
};

static struct looks look(struct trace *trace, int64_t from_ns, int64_t gap_ns)
{
    struct looks looks = {.first_ns = from_ns};
    int64_t at_ns = from_ns;
    for (;;) {
        call(trace, 1, IPROBE, at_ns, at_ns + LOOK_NS);
        at_ns += LOOK_NS;
        if (at_ns > SENT_NS + SEND_NS)
            break;
        looks.gaps_ns += gap_ns;
        at_ns += gap_ns;
    }
    message(trace, 1, RECV, at_ns, at_ns + RECEIVE_NS, 0);
    looks.end_ns = at_ns + RECEIVE_NS;
    return looks;
}

static struct graph *recorded(int64_t from_ns, int64_t gap_ns, struct looks *looks)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    moment(&trace, 1, 0);
    message(&trace, 0, SEND, SENT_NS, SENT_NS + SEND_NS, 1);
    *looks = look(&trace, from_ns, gap_ns);
    return graph_of(&trace, 2);
}

static void test_naps(int64_t from_ns, int64_t gap_ns)
{
    struct looks looks;
    struct graph *graph = recorded(from_ns, gap_ns, &looks);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->polled_ns[1], looks.gaps_ns, "naps of %lld us are counted", (long long)gap_ns / 1000);
    tap_equal_int(analysis->polled_ns[0], 0, "of who polls");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].ns, SENT_NS - looks.first_ns, "all looks are one wait");
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].causes_ns[0], SENT_NS - looks.first_ns, "for the sender");
    analysis_free(analysis);
    graph_free(graph);
}

static void test_work(void)
{
    struct looks looks;
    struct graph *graph = recorded(0, 5000000, &looks);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->polled_ns[1], 0, "work in pieces of 5 ms with a look after each is no polling");
    const struct location *looking = graph->locations[0].process == 1 ? &graph->locations[0] : &graph->locations[1];
    tap_equal_int((long long)looking->count, looks.gaps_ns / 5000000 + 2, "each look is a call");
    analysis_free(analysis);
    graph_free(graph);
}

/* Long pauses, of which so much is sleep, and so much computing by a sample before each look but the first. */
static void test_long(int64_t asleep_ns, int64_t computed_ns, bool naps, const char *name)
{
    enum { GAP_NS = 10000000 };
    struct trace trace = {0};
    moment(&trace, 0, 0);
    moment(&trace, 1, 0);
    message(&trace, 0, SEND, SENT_NS, SENT_NS + SEND_NS, 1);
    put(&trace, 1, EVENT_COUNTER, 0, asleep)->value = 0;
    int64_t at_ns = 0, looks = 0;
    for (;; looks++) {
        if (looks > 0 && computed_ns > 0)
            put(&trace, 1, EVENT_SAMPLE, at_ns - LOOK_NS, 0)->value = computed_ns;
        call(&trace, 1, IPROBE, at_ns, at_ns + LOOK_NS);
        at_ns += LOOK_NS;
        if (at_ns > SENT_NS + SEND_NS)
            break;
        at_ns += GAP_NS;
    }
    put(&trace, 1, EVENT_COUNTER, at_ns, asleep)->value = asleep_ns;
    message(&trace, 1, RECV, at_ns, at_ns + RECEIVE_NS, 0);
    struct graph *graph = graph_of(&trace, 2);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->polled_ns[1], naps ? looks * GAP_NS : 0, "%s: naps", name);
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].ns, naps ? SENT_NS : 0, "%s: waiting", name);
    const struct location *looking = graph->locations[0].process == 1 ? &graph->locations[0] : &graph->locations[1];
    const struct call last = graph_call(graph, (uint32_t)(looking - graph->locations), 0);
    tap_equal_int(last.leave_ns, at_ns, "%s: the last look ends when it did", name);
    tap_equal_int(last.enter_ns, naps ? 0 : at_ns - LOOK_NS, "%s: it begins then, or with the first", name);
    analysis_free(analysis);
    graph_free(graph);
}

/* The rows of the metrics have naps as computing, as they were recorded; efficiencies do not. */
static void test_efficiency(void)
{
    struct looks looks;
    struct graph *graph = recorded(20000000, 990000, &looks);
    struct metrics *metrics = hand_metrics(defs, 2, 0, 0);
    double total = (double)looks.end_ns / 1e9, mpi = total - 0.02 - (double)looks.gaps_ns / 1e9;
    hand_times(metrics, 0, 0.1, (double)SEND_NS / 1e9);
    hand_times(metrics, 1, total - mpi, mpi);
    tap_ok(efficiency_of(metrics).load_balance > 0.9, "with naps as computing both processes compute alike");
    metrics->analysis = analyse(graph);
    struct efficiency efficiency = efficiency_of(metrics);
    tap_equal_int(metrics_compute_ns(metrics, 1), 20000000, "process 1 computes for 20 ms");
    tap_ok(fabs(efficiency.load_balance - 0.6) < 1e-6, "load balance %.4f = (100 + 20) / 2 / 100",
           efficiency.load_balance);
    tap_ok(fabs(efficiency.parallel - 0.06 / total) < 1e-6, "parallel efficiency %.4f", efficiency.parallel);
    double processes_s = total + 0.1 + (double)SEND_NS / 1e9, share = 1 - 0.12 / processes_s;
    tap_ok(fabs(communication_share(metrics) - share) < 1e-6, "communication %.4f is the rest",
           communication_share(metrics));
    analysis_free(metrics->analysis);
    metrics->analysis = NULL;
    metrics_free(metrics);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_naps(0, 990000);
    test_naps(20000000, 500000);
    test_naps(50000000, 0);
    test_work();
    asleep = resource_counter_define(defs, RESOURCE_ASLEEP);
    test_long(95000000, 0, true, "asleep nearly all the time");
    test_long(40000000, 0, false, "asleep for less than half of it");
    test_long(95000000, 5000000, false, "a place that computes");
    test_efficiency();
    defs_free(defs);
    return tap_done();
}
