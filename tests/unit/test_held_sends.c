/* SPDX-License-Identifier: BSD-3-Clause */
/* Back-pressure: small sends that return when their receiver next enters MPI wait for it, and a replay releases them.
 */
#include "replay/analyse.h"
#include "replay/replay.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

/* A producer works 1 ms for each item, its consumer 4 ms; MPI has room for this many that are not yet received. */
enum { ITEMS = 40, ROOM = 4, MAKE_NS = 1000000, USE_NS = 4000000, SEND_NS = 1000, RECEIVE_NS = 500 };

struct stream {
    int64_t sent_ns[ITEMS], returned_ns[ITEMS], taken_ns[ITEMS], done_ns;
};

/* As a machine would run it: a send beyond the room returns when the receive that makes room is entered. */
static struct stream play(int64_t make_ns, int64_t use_ns)
{
    struct stream stream;
    int64_t maker_ns = 0, user_ns = 0;
    for (int i = 0; i < ITEMS; i++) {
        maker_ns += make_ns;
        stream.sent_ns[i] = maker_ns;
        maker_ns += SEND_NS;
        if (i >= ROOM && stream.taken_ns[i - ROOM] + SEND_NS > maker_ns)
            maker_ns = stream.taken_ns[i - ROOM] + SEND_NS;
        stream.returned_ns[i] = maker_ns;
        stream.taken_ns[i] = user_ns;
        user_ns = (stream.sent_ns[i] > user_ns ? stream.sent_ns[i] : user_ns) + RECEIVE_NS + use_ns;
    }
    stream.done_ns = user_ns > maker_ns ? user_ns : maker_ns;
    return stream;
}

static struct graph *recorded(const struct stream *stream, int64_t use_ns)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    moment(&trace, 1, 0);
    for (int i = 0; i < ITEMS; i++) {
        int64_t begin_ns = stream->sent_ns[i] > stream->taken_ns[i] ? stream->sent_ns[i] : stream->taken_ns[i];
        message(&trace, 0, SEND, stream->sent_ns[i], stream->returned_ns[i], 1);
        message(&trace, 1, RECV, stream->taken_ns[i], begin_ns + RECEIVE_NS, 0);
    }
    moment(&trace, 1, stream->taken_ns[ITEMS - 1] + RECEIVE_NS + use_ns);
    return graph_of(&trace, 2);
}

static void test_slow_consumer(void)
{
    struct stream stream = play(MAKE_NS, USE_NS), even = play((MAKE_NS + USE_NS) / 2, (MAKE_NS + USE_NS) / 2);
    int64_t held_ns = 0;
    for (int i = 0; i < ITEMS; i++)
        held_ns += stream.returned_ns[i] - SEND_NS > stream.sent_ns[i]
                       ? stream.returned_ns[i] - SEND_NS - stream.sent_ns[i]
                       : 0;
    struct graph *graph = recorded(&stream, USE_NS);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->waits[WAIT_LATE_RECEIVER].ns, held_ns,
                  "the producer waits for its consumer as long as it is held");
    tap_equal_int(analysis->waits[WAIT_LATE_RECEIVER].causes_ns[1], held_ns, "which causes all of that");
    tap_equal_int(analysis->replay, stream.done_ns, "a replay with nothing changed ends when the run did");
    int64_t truth_ns = stream.done_ns - even.done_ns, off_ns = analysis->balanced_saving - truth_ns;
    tap_ok(truth_ns > 50000000 && off_ns < truth_ns / 20 && off_ns > -truth_ns / 20,
           "even work saves %lld us, truth %lld us", (long long)analysis->balanced_saving / 1000,
           (long long)truth_ns / 1000);
    analysis_free(analysis);
    graph_free(graph);
}

/* A slow stage: what it gets is taken off the network when it passes on the item before, right before it receives this
   one. */
static void test_slow_stage(void)
{
    struct trace trace = {0};
    enum { FROM_NS = 5000000, STAGE_NS = 5000000 };
    for (uint32_t process = 0; process < 3; process++)
        moment(&trace, process, 0);
    for (int i = 0; i < ITEMS; i++) {
        int64_t passed_ns = FROM_NS + i * STAGE_NS; /* the stage enters MPI_Send with the item before */
        message(&trace, 0, SEND, passed_ns - STAGE_NS + MAKE_NS, passed_ns + 2 * SEND_NS, 1);
        if (i > 0)
            message(&trace, 1, SEND, passed_ns, passed_ns + SEND_NS, 2);
        message(&trace, 1, RECV, passed_ns + 3 * SEND_NS, passed_ns + 4 * SEND_NS, 0);
        if (i > 0)
            message(&trace, 2, RECV, passed_ns - STAGE_NS + MAKE_NS, passed_ns + SEND_NS, 1);
    }
    int64_t end_ns = FROM_NS + ITEMS * STAGE_NS;
    message(&trace, 1, SEND, end_ns, end_ns + SEND_NS, 2);
    message(&trace, 2, RECV, end_ns - STAGE_NS + MAKE_NS, end_ns + SEND_NS, 1);
    moment(&trace, 2, end_ns + MAKE_NS);
    struct graph *graph = graph_of(&trace, 3);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->waits[WAIT_LATE_RECEIVER].ns, (ITEMS - 1) * (STAGE_NS - MAKE_NS),
                  "the stage before waits until the slow one enters MPI, though that is for another process");
    int64_t truth_ns = ITEMS * (STAGE_NS - (STAGE_NS + 2 * MAKE_NS) / 3), off_ns = analysis->balanced_saving - truth_ns;
    tap_ok(off_ns < truth_ns / 10 && off_ns > -truth_ns / 10, "even stages save %lld us, truth %lld us",
           (long long)analysis->balanced_saving / 1000, (long long)truth_ns / 1000);
    analysis_free(analysis);
    graph_free(graph);
}

/* A send that is slow by itself, while the receiver works: nothing returns when that enters MPI. */
static void test_slow_alone(void)
{
    struct trace trace = {0};
    moment(&trace, 0, 0);
    moment(&trace, 1, 0);
    for (int i = 0; i < 10; i++) {
        int64_t begin_ns = 20000000 * i;
        message(&trace, 0, SEND, begin_ns, begin_ns + (i == 3 ? 8000000 : 1000), 1);
        message(&trace, 1, RECV, begin_ns + 10000000, begin_ns + 10001000, 0);
    }
    struct graph *graph = graph_of(&trace, 2);
    struct analysis *analysis = analyse(graph);
    tap_equal_int(analysis->waits[WAIT_LATE_RECEIVER].ns, 0, "a send that is slow for another reason does not wait");
    analysis_free(analysis);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    test_slow_consumer();
    test_slow_stage();
    test_slow_alone();
    defs_free(defs);
    return tap_done();
}
