/* SPDX-License-Identifier: BSD-3-Clause */
/* Which link is slow, and what a faster one saves, by hand. */
#include "replay/analyse.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { PROCESSES = 8, ROUNDS = 20, WORK = 50000, USUAL = 10000, QUICK = 100, SLOW = 100000, BYTES = 1 << 20 };

/* How long a message from one process to another takes, and how many bytes it has. */
struct network {
    int64_t ns[PROCESSES][PROCESSES];
    int64_t bytes[PROCESSES][PROCESSES];
    int64_t ahead_ns[PROCESSES]; /* by so much the clock of a process is ahead */
    int64_t late_ns[PROCESSES];  /* the process computes so much longer */
};

static struct network usual_network(void)
{
    struct network network = {0};
    for (int a = 0; a < PROCESSES; a++)
        for (int b = 0; b < PROCESSES; b++) {
            network.ns[a][b] = USUAL;
            network.bytes[a][b] = BYTES;
        }
    return network;
}

static void set_both(struct network *network, int one, int other, int64_t ns)
{
    network->ns[one][other] = network->ns[other][one] = ns;
}

static int64_t later(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* One message by blocking calls, in which the sender stays until it has arrived. */
static void transfer(struct trace *trace, const struct network *network, int64_t *now, int from, int to)
{
    int64_t end = later(now[from], now[to]) + network->ns[from][to];
    int both[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        uint32_t p = (uint32_t)both[i];
        int64_t ahead = network->ahead_ns[p];
        message(trace, p, i ? RECV : SEND, now[p] + ahead, end + ahead, both[!i]);
        struct event *event = &trace->events[p][trace->count[p] - 2];
        event->bytes_sent = event->bytes_received = network->bytes[from][to];
    }
    now[from] = now[to] = end;
}

static void barrier(struct trace *trace, const struct network *network, int64_t *now)
{
    int64_t last = 0;
    for (int p = 0; p < PROCESSES; p++)
        last = later(last, now[p]);
    for (uint32_t p = 0; p < PROCESSES; p++) {
        call(trace, p, BARRIER, now[p] + network->ahead_ns[p], last + 1 + network->ahead_ns[p]);
        now[p] = last + 1;
    }
}

/* Who sends to whom in a round. */
typedef void (*round_of)(struct trace *trace, const struct network *network, int64_t *now);

/* Process 0 with 1, 2 with 3, 4 with 5, 6 with 7: there and back. */
static void pairs(struct trace *trace, const struct network *network, int64_t *now)
{
    for (int p = 0; p < PROCESSES; p += 2) {
        transfer(trace, network, now, p, p + 1);
        transfer(trace, network, now, p + 1, p);
    }
}

static void pairs_there(struct trace *trace, const struct network *network, int64_t *now)
{
    for (int p = 0; p < PROCESSES; p += 2)
        transfer(trace, network, now, p, p + 1);
}

/* The sender goes on at once, and the receiver has the message so much later. */
static void transfer_buffered(struct trace *trace, const struct network *network, int64_t *now, int from, int to,
                              int64_t bytes, int64_t ns)
{
    int64_t end = later(now[to], now[from] + ns), ahead = network->ahead_ns[to];
    message(trace, (uint32_t)from, SEND, now[from] + network->ahead_ns[from], now[from] + network->ahead_ns[from], to);
    trace->events[from][trace->count[from] - 2].bytes_sent = bytes;
    message(trace, (uint32_t)to, RECV, now[to] + ahead, end + ahead, from);
    trace->events[to][trace->count[to] - 2].bytes_received = bytes;
    now[to] = end;
}

static void buffered_there(struct trace *trace, const struct network *network, int64_t *now)
{
    for (int p = 0; p < PROCESSES; p += 2)
        transfer_buffered(trace, network, now, p, p + 1, BYTES, network->ns[p][p + 1]);
}

/* A small and a large message there, and an answer, without which nobody goes on. Small ones take as long everywhere.
 */
static void answered(struct trace *trace, const struct network *network, int64_t *now)
{
    for (int p = 0; p < PROCESSES; p += 2) {
        transfer_buffered(trace, network, now, p, p + 1, 8, QUICK);
        transfer_buffered(trace, network, now, p, p + 1, BYTES, network->ns[p][p + 1]);
        transfer_buffered(trace, network, now, p + 1, p, 8, QUICK);
    }
}

/* In the first step as pairs(), then 1 with 2, 3 with 4, 5 with 6, 7 with 0. */
static void ring(struct trace *trace, const struct network *network, int64_t *now)
{
    pairs(trace, network, now);
    for (int p = 1; p < PROCESSES; p += 2) {
        transfer(trace, network, now, p, (p + 1) % PROCESSES);
        transfer(trace, network, now, (p + 1) % PROCESSES, p);
    }
}

/* Each with the next but one, there and back. */
static void strides(struct trace *trace, const struct network *network, int64_t *now)
{
    for (int step = 0; step < 4; step += 2)
        for (int p = 0; p < PROCESSES; p++)
            if ((p & 2) == step) {
                transfer(trace, network, now, p, (p + 2) % PROCESSES);
                transfer(trace, network, now, (p + 2) % PROCESSES, p);
            }
}

/* Each sends to both neighbours in a ring, in no time, and waits for both of their messages in one call. */
static void halo(struct trace *trace, const struct network *network, int64_t *now)
{
    for (int p = 0; p < PROCESSES; p++) {
        int sides[2] = {(p + PROCESSES - 1) % PROCESSES, (p + 1) % PROCESSES};
        int64_t end = 0;
        for (int i = 0; i < 2; i++) {
            message(trace, (uint32_t)p, SEND, now[p], now[p], sides[i]);
            trace->events[p][trace->count[p] - 2].bytes_sent = network->bytes[p][sides[i]];
            end = later(end, now[p] + network->ns[sides[i]][p]);
        }
        put(trace, (uint32_t)p, EVENT_ENTER, now[p], WAITALL);
        for (int i = 0; i < 2; i++) {
            struct event *event = put(trace, (uint32_t)p, EVENT_RECEIVE, end, 0);
            event->partner = sides[i];
            event->tag = 0;
            event->bytes_received = network->bytes[sides[i]][p];
        }
        put(trace, (uint32_t)p, EVENT_LEAVE, end, WAITALL);
        now[p] = end;
    }
}

static struct graph *run_of(const struct network *network, round_of round, int rounds, bool barriers)
{
    struct trace trace = {0};
    int64_t now[PROCESSES] = {0};
    for (uint32_t p = 0; p < PROCESSES; p++)
        moment(&trace, p, network->ahead_ns[p]);
    for (int i = 0; i < rounds; i++) {
        for (int p = 0; p < PROCESSES; p++)
            now[p] += WORK + network->late_ns[p];
        round(&trace, network, now);
        if (barriers)
            barrier(&trace, network, now);
    }
    for (uint32_t p = 0; p < PROCESSES; p++)
        moment(&trace, p, now[p] + network->ahead_ns[p]);
    return graph_of(&trace, PROCESSES);
}

static void expect_none(struct graph *graph, const char *name)
{
    struct analysis *analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->slow_link, 0, "%s: no slow link", name);
    tap_equal_int(analysis->slow_link_saving, 0, "%s: nothing is saved", name);
    analysis_free(analysis);
    graph_free(graph);
}

struct expected {
    uint64_t link, way, one, other, messages;
    int64_t ns, lost_ns, saving_ns;
};

static void expect(struct graph *graph, struct expected expected, const char *name)
{
    struct analysis *analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->slow_link, (int64_t)expected.link, "%s: a slow link", name);
    tap_equal_int((int64_t)analysis->slow_link_way, (int64_t)expected.way, "%s: on which way", name);
    tap_equal_int((int64_t)analysis->slow_link_one, (int64_t)expected.one, "%s: the first process", name);
    tap_equal_int((int64_t)analysis->slow_link_other, (int64_t)expected.other, "%s: the other process", name);
    tap_equal_int((int64_t)analysis->slow_link_messages, (int64_t)expected.messages, "%s: messages", name);
    tap_equal_int((int64_t)analysis->slow_link_bytes, (int64_t)expected.messages * BYTES, "%s: bytes", name);
    tap_equal_int(analysis->slow_link_time, expected.ns, "%s: how long they take", name);
    tap_equal_int(analysis->slow_link_usual, USUAL, "%s: how long others take", name);
    tap_equal_int(analysis->slow_link_lost, expected.lost_ns, "%s: how much longer calls take", name);
    tap_equal_int(analysis->slow_link_saving, expected.saving_ns, "%s: what is saved", name);
    analysis_free(analysis);
    graph_free(graph);
}

enum { BETWEEN = 1, OF_ONE, BETWEEN_HOSTS };
enum { BOTH, AWAY, BACK };

enum { LONGER = SLOW - USUAL };

static void test_pair(void)
{
    struct network network = usual_network();
    set_both(&network, 2, 3, SLOW);
    /* Each round has two slow messages, with two calls each. */
    expect(run_of(&network, pairs, ROUNDS, true),
           (struct expected){BETWEEN, BOTH, 2, 3, 2 * ROUNDS, SLOW, 4 * ROUNDS * LONGER, 2 * ROUNDS * LONGER},
           "a pair");
    expect(run_of(&network, ring, ROUNDS, true),
           (struct expected){BETWEEN, BOTH, 2, 3, 2 * ROUNDS, SLOW, 4 * ROUNDS * LONGER, 2 * ROUNDS * LONGER},
           "a pair in a ring");
    expect(run_of(&network, pairs, 10, true),
           (struct expected){BETWEEN, BOTH, 2, 3, 20, SLOW, 40 * LONGER, 20 * LONGER}, "few messages, but enough");
    expect_none(run_of(&network, pairs, 9, true), "too few messages");
    set_both(&network, 4, 5, SLOW / 2);
    set_both(&network, 6, 7, SLOW / 2);
    expect_none(run_of(&network, pairs, ROUNDS, true), "two other pairs are half as slow");
    network = usual_network();
    set_both(&network, 2, 3, 3 * USUAL - 1);
    expect_none(run_of(&network, pairs, ROUNDS, true), "less than three times as long");
    set_both(&network, 2, 3, 3 * USUAL);
    expect(run_of(&network, pairs, ROUNDS, true),
           (struct expected){BETWEEN, BOTH, 2, 3, 2 * ROUNDS, 3 * USUAL, 8 * ROUNDS * USUAL, 4 * ROUNDS * USUAL},
           "three times as long");
}

/* Pairs that are slow alike. One of them being fast would save nothing. */
static void test_two_pairs(void)
{
    struct network network = usual_network();
    set_both(&network, 2, 3, SLOW);
    set_both(&network, 6, 7, SLOW);
    struct graph *graph = run_of(&network, pairs, ROUNDS, true);
    struct analysis *analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->slow_link, BETWEEN, "two pairs: slow links");
    tap_equal_int((int64_t)analysis->slow_links, 2, "two pairs: both");
    tap_equal_int((int64_t)analysis->slow_link_way, BOTH, "two pairs: both ways");
    tap_equal_int((int64_t)(analysis->slow_link_one + analysis->slow_link_next_one), 2 + 6,
                  "two pairs: the first ones");
    tap_equal_int((int64_t)(analysis->slow_link_other + analysis->slow_link_next_other), 3 + 7,
                  "two pairs: the others");
    tap_equal_int((int64_t)analysis->slow_link_messages, 4 * ROUNDS, "two pairs: messages");
    tap_equal_int(analysis->slow_link_time, SLOW, "two pairs: how long they take");
    tap_equal_int(analysis->slow_link_usual, USUAL, "two pairs: how long others take");
    tap_equal_int(analysis->slow_link_lost, 8 * ROUNDS * LONGER, "two pairs: how much longer calls take");
    tap_equal_int(analysis->slow_link_saving, 2 * ROUNDS * LONGER, "two pairs: what is saved");
    analysis_free(analysis);
    graph_free(graph);
    /* 2 to 3 one way, and 7 to 6: the second is named from 7 on. */
    network = usual_network();
    network.ns[2][3] = network.ns[7][6] = SLOW;
    graph = run_of(&network, pairs, ROUNDS, true);
    analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->slow_links, 2, "one way each: both");
    bool away = analysis->slow_link_way == AWAY;
    tap_equal_int((int64_t)(away ? analysis->slow_link_one : analysis->slow_link_other), 2, "one way each: from 2");
    tap_equal_int((int64_t)(away ? analysis->slow_link_next_one : analysis->slow_link_next_other), 7, "and from 7");
    tap_equal_int((int64_t)analysis->slow_link_messages, 2 * ROUNDS, "one way each: messages");
    tap_equal_int(analysis->slow_link_saving, ROUNDS * LONGER, "one way each: what is saved");
    analysis_free(analysis);
    graph_free(graph);
}

static void test_way(void)
{
    struct network network = usual_network();
    network.ns[2][3] = SLOW;
    struct expected expected = {BETWEEN, AWAY, 2, 3, ROUNDS, SLOW, 2 * ROUNDS * LONGER, ROUNDS * LONGER};
    expect(run_of(&network, pairs, ROUNDS, true), expected, "one way");
    expect(run_of(&network, pairs_there, ROUNDS, true), expected, "no messages back");
    network = usual_network();
    network.ns[3][2] = SLOW;
    expected.way = BACK;
    expect(run_of(&network, pairs, ROUNDS, true), expected, "the other way");
}

/* The call of process 3 receives from 2 and 4, and that of 4 from 3 and 5. If only the latter is slow, it may be for
   either of its senders. */
static void test_shared_calls(void)
{
    struct network network = usual_network();
    set_both(&network, 3, 4, SLOW);
    expect(run_of(&network, halo, ROUNDS, true),
           (struct expected){BETWEEN, BOTH, 3, 4, 2 * ROUNDS, SLOW, 2 * ROUNDS * LONGER, ROUNDS * LONGER},
           "calls that receive from several");
    network.ns[4][3] = USUAL;
    expect(run_of(&network, halo, ROUNDS, true),
           (struct expected){OF_ONE, BACK, 4, 4, 2 * ROUNDS, SLOW, ROUNDS * LONGER, ROUNDS * LONGER},
           "one of two senders");
}

/* Process 5 with 4, and with 6: both are slow. */
static void test_process(void)
{
    struct network network = usual_network();
    for (int p = 0; p < PROCESSES; p++)
        set_both(&network, 5, p, SLOW);
    expect(run_of(&network, ring, ROUNDS, true),
           (struct expected){OF_ONE, BOTH, 5, 5, 4 * ROUNDS, SLOW, 8 * ROUNDS * LONGER, 4 * ROUNDS * LONGER},
           "a process");
}

/* A process whose clock is ahead gets all messages late, and sends them early. Without collectives that cannot be told
   from a slow way, unless the calls at both ends wait for each other, or other messages on the way are fast. */
static void test_clocks(void)
{
    struct network network = usual_network();
    network.ahead_ns[3] = USUAL - 1;
    expect_none(run_of(&network, pairs, ROUNDS, true), "a clock that is ahead");
    network.ahead_ns[3] = SLOW;
    expect_none(run_of(&network, pairs, ROUNDS, true), "a clock that is far ahead");
    expect_none(run_of(&network, pairs_there, ROUNDS, false), "a clock that is far ahead, one way only");
    expect_none(run_of(&network, buffered_there, ROUNDS, false), "a clock that is far ahead, and buffered messages");
    expect_none(run_of(&network, answered, ROUNDS, false), "a clock that is far ahead, and messages of two sizes");
    network = usual_network();
    network.ns[2][3] = SLOW;
    expect_none(run_of(&network, buffered_there, ROUNDS, false), "a slow way that may be a clock");
    struct expected expected = {BETWEEN, AWAY, 2, 3, ROUNDS, SLOW, 2 * ROUNDS * LONGER, ROUNDS * LONGER};
    expect(run_of(&network, pairs_there, ROUNDS, false), expected, "sends that wait for the receive");
    network.ahead_ns[3] = SLOW / 2;
    expect(run_of(&network, pairs_there, ROUNDS, false), expected, "sends that wait, and a clock that is ahead");
}

/* The kind that is slow is that of the large messages. */
static void test_two_sizes(void)
{
    struct network network = usual_network();
    network.ns[2][3] = SLOW;
    struct graph *graph = run_of(&network, answered, ROUNDS, false);
    struct analysis *analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->slow_link, BETWEEN, "small messages show that no clock is ahead");
    tap_equal_int(analysis->slow_link_time, SLOW - QUICK, "how long the large ones take, once both ends are there");
    tap_equal_int((int64_t)analysis->slow_link_from, BYTES, "from which size on");
    tap_equal_int((int64_t)analysis->slow_link_messages, ROUNDS, "how many");
    tap_equal_int(analysis->slow_link_usual, USUAL, "and elsewhere");
    analysis_free(analysis);
    graph_free(graph);
}

static void test_others(void)
{
    struct network network = usual_network();
    network.late_ns[3] = SLOW;
    expect_none(run_of(&network, pairs, ROUNDS, true), "a late process");
    network = usual_network();
    set_both(&network, 2, 3, SLOW);
    network.bytes[2][3] = network.bytes[3][2] = 10 * BYTES;
    expect_none(run_of(&network, pairs, ROUNDS, true), "larger messages");
    network.bytes[2][3] = network.bytes[3][2] = BYTES;
    network.late_ns[6] = 5 * SLOW;
    expect_none(run_of(&network, pairs, ROUNDS, true), "nobody waits for it");
}

/* So many processes on each host, one after the other. */
static void place(uint32_t processes)
{
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    for (uint32_t p = 0; p < PROCESSES; p++) {
        if (!defs_find_location(defs, p, 0))
            defs_add_location(defs, &(struct location_def){.process = p});
        struct location_def *location = &defs->locations[p];
        free(location->host);
        location->host = memory_copy_string(names[p / processes]);
    }
}

static void test_hosts(void)
{
    struct network far_apart = usual_network(), bad_cable = usual_network();
    set_both(&far_apart, 3, 4, SLOW);
    set_both(&far_apart, 7, 0, SLOW);
    set_both(&bad_cable, 0, 2, SLOW);
    set_both(&bad_cable, 1, 3, SLOW);
    expect_none(run_of(&far_apart, ring, ROUNDS, true), "two hosts that are not known");
    /* 0 and 2 are on hosts that are near each other by 4 and 6: the two pairs do not join groups. */
    expect(run_of(&bad_cable, strides, ROUNDS, true),
           (struct expected){BETWEEN, BOTH, 0, 2, 4 * ROUNDS, SLOW, 8 * ROUNDS * LONGER, 2 * ROUNDS * LONGER},
           "four hosts that are not known");
    place(4);
    expect_none(run_of(&far_apart, ring, ROUNDS, true), "two hosts");
    place(2);
    expect(run_of(&bad_cable, strides, ROUNDS, true),
           (struct expected){BETWEEN_HOSTS, BOTH, 0, 2, 4 * ROUNDS, SLOW, 8 * ROUNDS * LONGER, 2 * ROUNDS * LONGER},
           "two of four hosts");
}

int main(void)
{
    defs_make();
    test_pair();
    test_two_pairs();
    test_way();
    test_shared_calls();
    test_process();
    test_clocks();
    test_two_sizes();
    test_others();
    test_hosts();
    defs_free(defs);
    return tap_done();
}
