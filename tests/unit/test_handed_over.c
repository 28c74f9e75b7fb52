/* SPDX-License-Identifier: BSD-3-Clause */
/* Which messages and collectives only move data to a process that writes files for others, or from one that reads them,
   and what is saved without all of that, by hand. */
#include "replay/analyse.h"
#include "replay/handed_over.h"

#include "unit/hand_trace.h"
#include "unit/tap.h"

enum { WORK = 1000, MOVE = 100, FILES = 500, OTHERS = 3, ROUNDS = 2 };

static void expect(struct graph *graph, uint64_t count, int64_t saving, const char *name)
{
    struct analysis *analysis = analyse(graph);
    tap_equal_int((int64_t)analysis->handed_over, (int64_t)count, "%s: what only hands data over", name);
    tap_equal_int(analysis->waits[WAIT_IO].saving_ns, saving, "%s: what is saved", name);
    analysis_free(analysis);
    graph_free(graph);
}

/* All work, then send to process 0, which handles each message for `handling` and writes it; answers if `answers`. All
   meet at the end of each round. */
static struct graph *written(int64_t handling, bool answers, uint32_t senders)
{
    struct trace trace = {0};
    int64_t now = 0, done[OTHERS + 1];
    for (uint32_t p = 0; p <= OTHERS; p++)
        moment(&trace, p, 0);
    for (int round = 0; round < ROUNDS; round++) {
        now += WORK;
        for (uint32_t p = 0; p <= OTHERS; p++)
            done[p] = now;
        for (uint32_t p = 1; p <= senders; p++) {
            message(&trace, 0, RECV, now, now + MOVE, (int32_t)p);
            message(&trace, p, SEND, done[p], now + MOVE, 0);
            done[p] = now + MOVE;
            now += MOVE + handling;
            call(&trace, 0, FILE_WRITE, now, now + FILES);
            now += FILES;
            if (answers) {
                message(&trace, 0, SEND, now, now + MOVE, (int32_t)p);
                message(&trace, p, RECV, done[p], now + MOVE, 0);
                done[p] = now += MOVE;
            }
        }
        for (uint32_t p = 0; p <= OTHERS; p++)
            call(&trace, p, BARRIER, p == 0 ? now : done[p], now);
    }
    return graph_of(&trace, OTHERS + 1);
}

/* Process 0 reads, and gives each a part: in a scatter, or in messages, to those that asked for it if `asked`. */
static struct graph *read_by_one(bool scattered, bool asked)
{
    struct trace trace = {0};
    int64_t now = WORK, done[OTHERS + 1];
    for (uint32_t p = 0; p <= OTHERS; p++)
        moment(&trace, p, 0);
    if (scattered)
        call(&trace, 0, FILE_READ, now, now + FILES);
    for (uint32_t p = 0; scattered && p <= OTHERS; p++)
        rooted(&trace, p, SCATTER, p == 0 ? now + FILES : now, now + FILES + MOVE, 0);
    if (scattered)
        now += FILES + MOVE;
    for (uint32_t p = 0; p <= OTHERS; p++)
        done[p] = now;
    for (uint32_t p = 1; !scattered && p <= OTHERS; p++) {
        if (asked) {
            message(&trace, p, SEND, done[p], now + MOVE, 0);
            message(&trace, 0, RECV, now, now + MOVE, (int32_t)p);
            done[p] = now += MOVE;
        }
        call(&trace, 0, FILE_READ, now, now + FILES);
        message(&trace, 0, SEND, now + FILES, now + FILES + MOVE, (int32_t)p);
        message(&trace, p, RECV, done[p], now + FILES + MOVE, 0);
        done[p] = now += FILES + MOVE;
    }
    for (uint32_t p = 0; p <= OTHERS; p++)
        call(&trace, p, BARRIER, p == 0 ? now : done[p], now);
    return graph_of(&trace, OTHERS + 1);
}

/* A gather or a reduction, then process 0 writes; `all` write. */
static struct graph *collected(uint32_t state, bool all)
{
    struct trace trace = {0};
    for (uint32_t p = 0; p <= OTHERS; p++) {
        int64_t now = WORK;
        moment(&trace, p, 0);
        rooted(&trace, p, state, now, now + MOVE, 0);
        if (all || p == 0)
            call(&trace, p, FILE_WRITE, now + MOVE, now + MOVE + FILES);
        call(&trace, p, BARRIER, now + MOVE + (all || p == 0 ? FILES : 0), now + MOVE + FILES);
    }
    return graph_of(&trace, OTHERS + 1);
}

int main(void)
{
    enum { WRITTEN = ROUNDS * OTHERS };
    defs_make();
    expect(written(0, false, OTHERS), WRITTEN, WRITTEN * (MOVE + FILES), "all hand over");
    expect(written(FILES, false, OTHERS), WRITTEN, WRITTEN * (MOVE + FILES), "a little is computed");
    expect(written(FILES + 1, false, OTHERS), 0, WRITTEN * FILES, "more is computed than written");
    expect(written(0, true, OTHERS), 0, WRITTEN * FILES, "each is answered");
    expect(written(0, false, 2), ROUNDS * 2, ROUNDS * 2 * (MOVE + FILES), "half of the others");
    expect(written(0, false, 1), 0, ROUNDS * FILES, "few of the others");
    expect(read_by_one(false, false), OTHERS, OTHERS * (MOVE + FILES), "read and sent");
    expect(read_by_one(false, true), 0, OTHERS * FILES, "asked for");
    expect(read_by_one(true, false), 1, MOVE + FILES, "read and scattered");
    expect(collected(GATHER, false), 1, MOVE + FILES, "gathered");
    expect(collected(REDUCE, false), 0, FILES, "reduced");
    expect(collected(GATHER, true), 0, FILES, "all write");
    defs_free(defs);
    return tap_done();
}
