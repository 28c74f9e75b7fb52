/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of clocks, put together from what pairs of processes say: clocks whose offsets and drifts are known. */
#include "clocks/clock_lines.h"

#include "core/memory.h"
#include "unit/tap.h"

#include <math.h>

enum { CLOCKS = 5, MOST_NS = 1000000 };

struct net {
    struct causality *causality;
    struct clock_map maps[CLOCKS];
    struct clock_place places[CLOCKS];
    struct clock_line wrong[CLOCKS]; /* what the clock is ahead of true time */
};

static void net_begin(struct net *net, uint32_t clocks)
{
    *net = (struct net){.causality = memory_new(sizeof *net->causality)};
    for (uint32_t i = 0; i < clocks; i++)
        ARRAY_PUSH(net->causality->timelines, net->causality->timeline_count, net->causality->timeline_capacity,
                   (struct causal_timeline){.process = i, .begin_ns = 0, .end_ns = MOST_NS});
}

static int64_t shown(const struct net *net, uint32_t process, double true_ns)
{
    return (int64_t)llround(true_ns + net->wrong[process].offset + net->wrong[process].slope * true_ns);
}

/* Messages to and fro, 100 ns under way, every 1,000 ns; or one way only. */
static void talk(struct net *net, uint32_t a, uint32_t b, bool both)
{
    struct causality *causality = net->causality;
    for (int64_t ns = 0; ns < MOST_NS; ns += 1000) {
        uint32_t message = (uint32_t)causality->message_count, from = a, to = b;
        if (both && ns / 1000 % 2) {
            from = b;
            to = a;
        }
        ARRAY_PUSH(causality->messages, causality->message_count, causality->message_capacity,
                   (struct causal_message){shown(net, from, (double)ns), shown(net, to, (double)ns + 100), from, to});
        struct causal_timeline *send = &causality->timelines[from], *receive = &causality->timelines[to];
        ARRAY_PUSH(send->events, send->count, send->capacity,
                   (struct causal_event){message << 2 | CAUSAL_SEND, (uint32_t)send->count});
        ARRAY_PUSH(receive->events, receive->count, receive->capacity,
                   (struct causal_event){message << 2 | CAUSAL_RECEIVE, (uint32_t)receive->count});
    }
}

static const struct clock_scale SCALE = {0};

static void find(struct net *net)
{
    clock_lines_find(net->causality, &SCALE, net->maps, net->places);
}

/* By how much, at most, the corrected clocks of two processes differ in the run. */
static double apart_ns(const struct net *net, uint32_t a, uint32_t b)
{
    double most_ns = 0;
    for (int64_t ns = 0; ns <= MOST_NS; ns += 50000) {
        int64_t left = clock_line_time(&net->maps[a], &SCALE, shown(net, a, (double)ns)),
                right = clock_line_time(&net->maps[b], &SCALE, shown(net, b, (double)ns));
        most_ns = fmax(most_ns, fabs((double)(left - right)));
    }
    return most_ns;
}

static void net_end(struct net *net)
{
    for (uint32_t i = 0; i < CLOCKS; i++)
        clock_map_clear(&net->maps[i]);
    causality_free(net->causality);
}

static void test_right(void)
{
    struct net net;
    net_begin(&net, 3);
    talk(&net, 0, 1, true);
    talk(&net, 1, 2, true);
    find(&net);
    bool still = true;
    for (uint32_t i = 0; i < 3; i++)
        still &= net.maps[i].line.offset == 0 && net.maps[i].line.slope == 0;
    tap_ok(still, "clocks that are right are left alone");
    net_end(&net);
}

/* A chain: the last clock is only tied to the first by the one between them. */
static void test_chain(void)
{
    struct net net;
    net_begin(&net, 3);
    net.wrong[1] = (struct clock_line){5000, 0};
    net.wrong[2] = (struct clock_line){-3000, 0.002};
    talk(&net, 0, 1, true);
    talk(&net, 1, 2, true);
    find(&net);
    tap_ok(apart_ns(&net, 0, 1) <= 100, "an offset, to within the latency");
    tap_ok(apart_ns(&net, 1, 2) <= 200, "an offset and a drift");
    tap_ok(apart_ns(&net, 0, 2) <= 300, "along the chain errors add up");
    tap_ok(net.places[0].component == net.places[2].component, "all are connected");
    tap_equal_int(net.places[0].reference + net.places[1].reference + net.places[2].reference, 1, "one reference");
    net_end(&net);
}

static void test_parts(void)
{
    struct net net;
    net_begin(&net, 5);
    net.wrong[1] = (struct clock_line){700, 0};
    net.wrong[3] = (struct clock_line){-900, 0};
    talk(&net, 0, 1, true);
    talk(&net, 2, 3, true);
    find(&net);
    tap_ok(net.places[0].component == net.places[1].component && net.places[2].component == net.places[3].component &&
               net.places[0].component != net.places[2].component,
           "two pairs that never met are apart");
    tap_ok(apart_ns(&net, 0, 1) <= 100 && apart_ns(&net, 2, 3) <= 100, "each has its own line");
    tap_ok(net.places[4].alone && net.maps[4].line.offset == 0, "one without partners is separate, and left alone");
    net_end(&net);
}

static void test_one_way(void)
{
    struct net net;
    net_begin(&net, 2);
    net.wrong[1] = (struct clock_line){-2000, 0};
    talk(&net, 0, 1, false);
    find(&net);
    tap_ok(net.places[0].loose || net.places[1].loose, "traffic one way only: the drift is not known");
    double moved = net.maps[1].line.offset - net.maps[0].line.offset;
    tap_ok(moved >= 1900 - 1e-6 && moved <= 2000, "the offset goes to the bound, and no farther");
    tap_ok(net.maps[0].line.slope == 0 && net.maps[1].line.slope == 0, "no slope is made up");
    net_end(&net);
}

int main(void)
{
    test_right();
    test_chain();
    test_parts();
    test_one_way();
    return tap_done();
}
