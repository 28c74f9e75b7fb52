/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching of messages: which ends are one message, whatever the order in which they come. */
#include "graph/match.h"

#include "core/memory.h"
#include "unit/tap.h"

#include <stdlib.h>

struct ends {
    struct event events[64];
    size_t count;
};

static struct event *end_of(struct ends *ends, enum event_kind kind, uint32_t process, int32_t partner, int64_t time_ns)
{
    struct event *event = &ends->events[ends->count++];
    *event = EVENT_NOTHING;
    event->kind = (uint8_t)kind;
    event->process = process;
    event->partner = partner;
    event->time_ns = time_ns;
    event->tag = 3;
    event->comm = event->partner_comm = 0;
    *(kind == EVENT_SEND ? &event->bytes_sent : &event->bytes_received) = 10;
    return event;
}

static struct event *sends(struct ends *ends, uint32_t from, int32_t to, int64_t time_ns)
{
    return end_of(ends, EVENT_SEND, from, to, time_ns);
}

static struct event *receives(struct ends *ends, uint32_t at, int32_t from, int64_t time_ns)
{
    return end_of(ends, EVENT_RECEIVE, at, from, time_ns);
}

static struct match_counts match(const struct ends *ends)
{
    struct matcher *matcher = matcher_new();
    struct sink *sink = matcher_sink(matcher);
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    batch->count = ends->count;
    memcpy(batch->events, ends->events, ends->count * sizeof *ends->events);
    struct trace_end end = {.complete = true};
    if (sink->events(sink, batch, &err) != STATUS_OK || sink->end(sink, &end, &err) != STATUS_OK)
        tap_ok(false, "matching: %s", err.text);
    struct match_counts counts = matcher_counts(matcher);
    free(batch);
    matcher_free(matcher);
    return counts;
}

static void expect(const struct ends *ends, uint64_t matched, uint64_t sends_left, uint64_t receives_left,
                   const char *name)
{
    struct match_counts counts = match(ends);
    bool right =
        counts.matched == matched && counts.unmatched_sends == sends_left && counts.unmatched_receives == receives_left;
    if (!tap_ok(right, "%s", name))
        printf("# matched %d, sends left %d, receives left %d\n", (int)counts.matched, (int)counts.unmatched_sends,
               (int)counts.unmatched_receives);
}

static void test_what_matches(void)
{
    struct ends ends = {0};
    expect(&ends, 0, 0, 0, "no messages");
    sends(&ends, 0, 1, 10);
    expect(&ends, 0, 1, 0, "a send alone");
    receives(&ends, 1, 0, 20);
    expect(&ends, 1, 0, 0, "a send and its receive");
    receives(&ends, 1, 2, 30);
    expect(&ends, 1, 0, 1, "a receive from another process is not it");
    sends(&ends, 1, 0, 40); /* the way back */
    expect(&ends, 1, 1, 1, "the other direction is another message");
    receives(&ends, 0, 1, 50)->tag = 4;
    expect(&ends, 1, 1, 2, "a different tag is another message");
    receives(&ends, 0, 1, 60)->comm = 1;
    expect(&ends, 1, 1, 3, "a different communicator is another message");
    receives(&ends, 0, 1, 70);
    expect(&ends, 2, 0, 3, "and then the right one comes");
}

static void test_partners(void)
{
    struct ends ends = {0};
    sends(&ends, 0, PARTNER_NONE, 1);
    receives(&ends, 0, PARTNER_NONE, 2);
    sends(&ends, 0, EVENT_UNKNOWN, 3);
    sends(&ends, 2, 2, 4);
    receives(&ends, 2, 2, 5);
    struct match_counts counts = match(&ends);
    tap_ok(counts.ends.null_ends == 2 && counts.ends.unknown_ends == 1,
           "ends that cannot be matched are counted apart");
    tap_ok(counts.ends.sent == 1 && counts.ends.received == 1 && counts.ends.bytes_sent == 10 &&
               counts.ends.bytes_received == 10,
           "and in nothing else");
    tap_equal_int((long long)counts.matched, 1, "a message to itself matches");
}

static void test_communicators(void)
{
    struct ends ends = {0};
    struct event *event = sends(&ends, 0, 1, 1);
    event->comm = 4;
    event->partner_comm = 5;
    event = receives(&ends, 1, 0, 2);
    event->comm = 5;
    event->partner_comm = 4;
    expect(&ends, 1, 0, 0, "the two sides of an inter-communicator are one");
    struct ends plain = {0};
    sends(&plain, 0, 1, 1);
    tap_ok(match(&ends).ends.numbered && !match(&plain).ends.numbered,
           "their numbers are those of one part of a trace, and that is noted");
    event = receives(&ends, 1, 0, 3);
    event->comm = event->partner_comm = EVENT_UNKNOWN;
    event->tag = EVENT_UNKNOWN;
    event = sends(&ends, 0, 1, 4);
    event->comm = event->partner_comm = EVENT_UNKNOWN;
    event->tag = EVENT_UNKNOWN;
    expect(&ends, 2, 0, 0, "unknown communicators and tags match their like");
}

static void test_times(void)
{
    struct ends ends = {0};
    sends(&ends, 0, 1, 100);
    sends(&ends, 0, 1, 200);
    receives(&ends, 1, 0, 90);
    receives(&ends, 1, 0, 160);
    struct match_counts counts = match(&ends);
    tap_ok(counts.matched == 2 && counts.received_before_sent == 2 && counts.worst_ns == 40,
           "the n-th send and the n-th receive are one, even where clocks disagree");
    ends.events[3].time_ns = 200;
    counts = match(&ends);
    tap_ok(counts.received_before_sent == 1 && counts.worst_ns == 10, "a receive at the send's time is not before it");
}

/* Every order of the processes' ends that keeps each process's own order gives the same. */
static void test_order(void)
{
    struct ends ends = {0}, mixed;
    for (int64_t i = 0; i < 6; i++) {
        sends(&ends, 0, 1, i * 10)->tag = (int32_t)(i % 2);
        sends(&ends, 2, 1, i * 10)->tag = (int32_t)(i % 2);
    }
    for (int64_t i = 0; i < 7; i++) {
        receives(&ends, 1, 0, i * 10 + (i % 3) - 1)->tag = (int32_t)(i % 2);
        receives(&ends, 1, 2, i * 10)->tag = (int32_t)(i % 2);
    }
    struct match_counts want = match(&ends);
    bool same = want.matched == 12 && want.unmatched_receives == 2;
    srand(1);
    for (int round = 0; round < 300 && same; round++) {
        size_t next[3] = {0};
        for (mixed.count = 0; mixed.count < ends.count;) {
            uint32_t process = (uint32_t)rand() % 3;
            while (next[process] < ends.count && ends.events[next[process]].process != process)
                next[process]++;
            if (next[process] < ends.count)
                mixed.events[mixed.count++] = ends.events[next[process]++];
        }
        struct match_counts got = match(&mixed);
        same = memcmp(&got, &want, sizeof got) == 0;
    }
    tap_ok(same, "the order in which processes are read makes no difference");
}

/* Twelve senders: number p sends two messages to process 20; the first is early by 10 (p + 1), but of 5 as of 3. */
static void test_pairs(void)
{
    struct ends ends = {0};
    for (uint32_t p = 0; p < 12; p++) {
        int64_t early = p == 5 ? 40 : 10 * ((int64_t)p + 1);
        sends(&ends, p, 20, 1000);
        receives(&ends, 20, (int32_t)p, 1000 - early);
        sends(&ends, p, 20, 2000);
        receives(&ends, 20, (int32_t)p, p == 5 ? 1999 : 2000);
    }
    sends(&ends, 20, 0, 1000);
    receives(&ends, 0, 20, 1001);
    struct match_counts counts = match(&ends);
    tap_ok(counts.early_pairs == 12 && counts.pair_count == 10 && counts.received_before_sent == 13 &&
               counts.worst_ns == 120,
           "of twelve pairs with errors ten are kept, all are counted");
    static const uint32_t order[MATCH_PAIRS] = {11, 10, 9, 8, 7, 6, 4, 5, 3, 2};
    bool sorted = true;
    for (size_t i = 0; i < MATCH_PAIRS; i++)
        sorted &= counts.pairs[i].sender == order[i] && counts.pairs[i].receiver == 20 && counts.pairs[i].messages == 2;
    tap_ok(sorted, "the largest error first; of equal ones the one that occurs more often");
    tap_ok(counts.pairs[7].early == 2 && counts.pairs[7].worst_ns == 40 && counts.pairs[6].early == 1 &&
               counts.pairs[6].worst_ns == 50,
           "how many are early, and by how much at most");
}

int main(void)
{
    test_what_matches();
    test_partners();
    test_communicators();
    test_times();
    test_order();
    test_pairs();
    return tap_done();
}
