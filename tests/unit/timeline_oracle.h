/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_TIMELINE_ORACLE_H
#define SIGHT_TESTS_UNIT_TIMELINE_ORACLE_H

#include "convert/writer.h"
#include "core/memory.h"
#include "timeline/find.h"
#include "timeline/statistics.h"
#include "timeline/tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random traces, and a slow answer to every question about them: from the list of events, by the definitions alone,
   without any code of src/timeline. A program is one file: the trace is its own. */

#define ORACLE_UNUSED __attribute__((unused))
enum { ORACLE_EVENTS = 6000, ORACLE_ROWS = 512, ORACLE_STATES = 6 };

static struct event oracle_events[ORACLE_EVENTS];
static size_t oracle_count;
static struct defs *oracle_defs;
static uint32_t oracle_seed = 1;
ORACLE_UNUSED static int64_t oracle_pause_ns; /* without an event, in the middle of a run */

static uint32_t oracle_random(uint32_t limit)
{
    oracle_seed ^= oracle_seed << 13;
    oracle_seed ^= oracle_seed >> 17;
    oracle_seed ^= oracle_seed << 5;
    return oracle_seed % limit;
}

static void oracle_defs_make(uint32_t processes)
{
    static const char *const names[ORACLE_STATES] = {"MPI_Send", "MPI_Recv", "MPI_Barrier",
                                                     "MPI_Wait", "solve",    "init"};
    oracle_defs = defs_new();
    for (size_t i = 0; i < ORACLE_STATES; i++)
        defs_add_state(oracle_defs, &(struct state_def){.name = (char *)(uintptr_t)names[i],
                                                        .id = EVENT_UNKNOWN,
                                                        .start = EVENT_UNKNOWN,
                                                        .end = EVENT_UNKNOWN});
    defs_add_mark(oracle_defs, &(struct mark_def){.name = (char *)(uintptr_t) "step", .id = 5000, .defined = true});
    int32_t world = defs_comm(oracle_defs, 0);
    oracle_defs->comms[world].world = true;
    oracle_defs->processes = processes;
}

/* Random events by time: nested and crossing states, some never left, leaves without enter, messages with and without
   their other end, several at one time. */
ORACLE_UNUSED static void oracle_make(uint32_t processes, uint32_t threads, size_t count)
{
    int64_t now = (int64_t)oracle_random(100) - 50;
    oracle_defs_make(processes);
    oracle_count = 0;
    while (oracle_count < count) {
        struct event event = EVENT_NOTHING;
        now += oracle_random(4) ? oracle_random(9) : oracle_random(400);
        if (oracle_count == count / 2)
            now += oracle_pause_ns;
        event.time_ns = now;
        event.process = oracle_random(processes);
        event.thread = oracle_random(threads);
        event.comm = event.partner_comm = 0;
        event.state = oracle_random(ORACLE_STATES);
        uint32_t what = oracle_random(20);
        event.kind = what < 8 ? EVENT_ENTER : what < 16 ? EVENT_LEAVE : what < 17 ? EVENT_MARK : EVENT_SEND;
        if (event.kind == EVENT_MARK)
            event.state = 0;
        if (event.kind == EVENT_SEND) {
            event.kind = oracle_random(2) ? EVENT_SEND : EVENT_RECEIVE;
            event.partner = (int32_t)oracle_random(processes);
            event.tag = (int32_t)oracle_random(2);
            *(event.kind == EVENT_SEND ? &event.bytes_sent : &event.bytes_received) = oracle_random(1000);
        }
        oracle_events[oracle_count++] = event;
    }
}

/* Writes the trace as CLOG-2. */
ORACLE_UNUSED static void oracle_write(const char *path)
{
    struct error err = {0};
    const struct writer_format *format = writer_format_find("clog2");
    struct writer *writer = format->create();
    writer->format = format;
    writer->output = output_open(path, (struct output_options){.replace = true, .patchable = true}, &err);
    struct batch *batch = memory_new(sizeof *batch);
    bool fine = writer->output && writer->sink.begin(&writer->sink, oracle_defs, &err) == STATUS_OK;
    for (size_t i = 0; fine && i < oracle_count; i++) {
        batch->events[batch->count++] = oracle_events[i];
        if (batch->count == BATCH_EVENTS || i + 1 == oracle_count) {
            fine = writer->sink.events(&writer->sink, batch, &err) == STATUS_OK;
            batch_clear(batch);
        }
    }
    const struct trace_end end = {.complete = true};
    fine = fine && writer->sink.end(&writer->sink, &end, &err) == STATUS_OK &&
           output_close(writer->output, true, &err) == STATUS_OK;
    format->dispose(writer);
    batch_free(batch);
    free(batch);
    if (!fine) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

/* All states, by row and enter; rows are (process, thread). */
struct oracle_state {
    int64_t enter_ns, leave_ns;
    uint32_t process, thread, state, depth;
    bool open;
    size_t order;
};
static struct oracle_state oracle_states[ORACLE_EVENTS];
static size_t oracle_state_count;
static const struct oracle_state *oracle_state_at[ORACLE_EVENTS]; /* of events; NULL: none */

static bool same_row(const struct event *a, const struct event *b)
{
    return a->process == b->process && a->thread == b->thread;
}

/* For each enter: follows the events of its row behind it. Slow, and that simple. */
ORACLE_UNUSED static void oracle_pair(void)
{
    static size_t leave_of[ORACLE_EVENTS];
    static bool closed[ORACLE_EVENTS];
    memset(leave_of, 0, sizeof leave_of);
    memset(closed, 0, sizeof closed);
    oracle_state_count = 0;
    /* A leave closes the latest enter of its state on its row that is still open. */
    for (size_t i = 0; i < oracle_count; i++)
        for (size_t k = i; oracle_events[i].kind == EVENT_LEAVE && k-- > 0;)
            if (oracle_events[k].kind == EVENT_ENTER && !closed[k] && same_row(&oracle_events[i], &oracle_events[k]) &&
                oracle_events[k].state == oracle_events[i].state) {
                closed[k] = true;
                leave_of[k] = i;
                break;
            }
    static struct oracle_state *made[ORACLE_EVENTS];
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        if (event->kind != EVENT_ENTER)
            continue;
        struct oracle_state *state = &oracle_states[oracle_state_count++];
        *state = (struct oracle_state){.enter_ns = event->time_ns,
                                       .process = event->process,
                                       .thread = event->thread,
                                       .state = event->state,
                                       .open = !closed[i],
                                       .order = i};
        made[i] = state;
        if (closed[i])
            state->leave_ns = oracle_events[leave_of[i]].time_ns;
        for (size_t k = 0; k < oracle_count; k++)
            if (!closed[i] && same_row(event, &oracle_events[k]))
                state->leave_ns = oracle_events[k].time_ns;
        for (size_t k = i; k-- > 0;)
            if (oracle_events[k].kind == EVENT_ENTER && same_row(event, &oracle_events[k]) &&
                (!closed[k] || leave_of[k] > i)) {
                state->depth = made[k]->depth + 1;
                break;
            }
    }
    /* An enter stands at its own state; a message at the latest entered state that is open at its place in the row. */
    memset(oracle_state_at, 0, sizeof oracle_state_at);
    for (size_t i = 0; i < oracle_count; i++) {
        bool message = oracle_events[i].kind == EVENT_SEND || oracle_events[i].kind == EVENT_RECEIVE;
        if (oracle_events[i].kind == EVENT_ENTER)
            oracle_state_at[i] = made[i];
        for (size_t k = i; message && k-- > 0;)
            if (oracle_events[k].kind == EVENT_ENTER && same_row(&oracle_events[i], &oracle_events[k]) &&
                (!closed[k] || leave_of[k] > i)) {
                oracle_state_at[i] = made[k];
                break;
            }
    }
}

/* First and last event of a row; false if it has none. */
ORACLE_UNUSED static bool oracle_row_span(uint32_t process, uint32_t thread, int64_t *begin_ns, int64_t *end_ns)
{
    bool any = false;
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        if (event->process != process || event->thread != thread)
            continue;
        *begin_ns = any ? *begin_ns : event->time_ns;
        *end_ns = event->time_ns;
        any = true;
    }
    return any;
}

/* Time in [from, to) that the row spends in each state as the latest entered; the last place: outside. */
ORACLE_UNUSED static void oracle_exclusive(uint32_t process, uint32_t thread, int64_t from_ns, int64_t to_ns,
                                           int64_t ns[ORACLE_STATES + 1])
{
    const struct event *before = NULL;
    static const struct oracle_state *open[ORACLE_EVENTS];
    size_t depth = 0, next = 0;
    memset(ns, 0, (ORACLE_STATES + 1) * sizeof *ns);
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        if (event->process == process && event->thread == thread) {
            if (before) {
                int64_t low = before->time_ns > from_ns ? before->time_ns : from_ns;
                int64_t high = event->time_ns < to_ns ? event->time_ns : to_ns;
                if (high > low)
                    ns[depth ? open[depth - 1]->state : ORACLE_STATES] += high - low;
            }
            before = event;
        }
        if (event->kind == EVENT_ENTER && event->process == process && event->thread == thread) {
            while (oracle_states[next].order != i)
                next++;
            open[depth++] = &oracle_states[next];
        }
        if (event->kind == EVENT_LEAVE && event->process == process && event->thread == thread)
            for (size_t k = depth; k-- > 0;)
                if (open[k]->state == event->state) {
                    memmove(&open[k], &open[k + 1], (depth - k - 1) * sizeof *open);
                    depth--;
                    break;
                }
    }
}

/* Index of the other end of a message, or of itself where there is none: the n-th of the one is the n-th of the other.
 */
ORACLE_UNUSED static size_t oracle_other_end(size_t at)
{
    const struct event *end = &oracle_events[at];
    size_t turn = 0;
    for (size_t i = 0; i < at; i++) {
        const struct event *event = &oracle_events[i];
        turn += event->kind == end->kind && event->process == end->process && event->partner == end->partner &&
                event->tag == end->tag;
    }
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        if ((event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE) && event->kind != end->kind &&
            event->process == (uint32_t)end->partner && (uint32_t)event->partner == end->process &&
            event->tag == end->tag && turn-- == 0)
            return i;
    }
    return at;
}

#endif
