/* SPDX-License-Identifier: BSD-3-Clause */
/* Which small messages an earlier one could carry as well, and what is saved if it does, by hand. */
#include "replay/analyse.h"
#include "replay/small_messages.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { OWN = 10 };

static void sized(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int32_t partner, int64_t bytes)
{
    message(trace, process, state, enter, enter + OWN, partner);
    struct event *event = &trace->events[process][trace->count[process] - 2];
    event->bytes_sent = event->bytes_received = bytes;
}

/* Process 0 sends three messages, with `gap` between them, and works 1,000; the same again. Process 1 receives all at
   the end, each within 10, and is the last to end. */
static struct graph *bursts(int64_t gap, int64_t bytes, bool barrier)
{
    struct trace trace = {0};
    int64_t now = 0;
    moment(&trace, 0, 0);
    moment(&trace, 1, 0);
    for (int i = 0; i < 6; i++) {
        now += i == 3 ? 1000 : gap;
        sized(&trace, 0, SEND, now, 1, bytes);
        now += OWN;
        if (barrier && i == 1) {
            for (uint32_t p = 0; p < 2; p++)
                call(&trace, p, BARRIER, now, now + 1);
            now++;
        }
    }
    moment(&trace, 0, now);
    for (int i = 0; i < 6; i++, now += OWN)
        sized(&trace, 1, RECV, now, 0, bytes);
    moment(&trace, 1, now);
    return graph_of(&trace, 2);
}

static void expect(struct graph *graph, uint64_t count, int64_t saving, const char *name)
{
    struct analysis *analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->small_combined, (int64_t)count, "%s: messages that others can carry", name);
    tap_equal_int(analysis->small_saving, saving, "%s: what is saved", name);
    analysis_free(analysis);
    graph_free(graph);
}

int main(void)
{
    defs_make();
    expect(bursts(5, 100, false), 4, 4 * OWN, "two bursts of three");
    expect(bursts(100, 100, false), 4, 4 * OWN, "as long as ten calls between them");
    expect(bursts(110, 100, false), 0, 0, "each after long work");
    expect(bursts(5, 1023, false), 4, 4 * OWN, "the largest small ones");
    expect(bursts(5, 1024, false), 0, 0, "not small");
    expect(bursts(5, BYTES_UNKNOWN, false), 0, 0, "of unknown size");
    expect(bursts(5, 100, true), 3, 3 * OWN, "a collective lies between them");
    defs_free(defs);
    return tap_done();
}
