/* SPDX-License-Identifier: BSD-3-Clause */
/* The time before a hang: which events pass, and until when threads in no call go on. */
#include "stuck/before_hang.h"

#include "core/payload.h"
#include "unit/tap.h"

#include <stdlib.h>

enum { RECEIVE, WORK, FINALIZE };

/* What passed, by process: its events, and the time of the last. */
enum { PROCESSES = 5 };
struct seen {
    struct sink sink;
    int count[PROCESSES];
    int64_t last_ns[PROCESSES];
    bool ended;
};

static enum status see(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct seen *seen = (struct seen *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        seen->count[batch->events[i].process]++;
        seen->last_ns[batch->events[i].process] = batch->events[i].time_ns;
    }
    return STATUS_OK;
}

static enum status see_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)end, (void)err;
    ((struct seen *)sink)->ended = true;
    return STATUS_OK;
}

static struct batch batch;

static void put(uint32_t process, enum event_kind kind, int64_t time_ns, uint32_t state)
{
    struct event *event = &batch.events[batch.count++];
    *event = EVENT_NOTHING;
    event->kind = (uint8_t)kind;
    event->process = process;
    event->time_ns = time_ns;
    event->state = state;
}

static struct defs *definitions(void)
{
    struct defs *defs = defs_new();
    defs->processes = PROCESSES;
    defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "MPI_Recv"});
    defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "work"});
    defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t) "MPI_Finalize"});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t)PENDING_MARK_NAME, .defined = true});
    return defs;
}

/* Others go on after the hang has begun at 100. */
static void cut(void)
{
    struct seen seen = {.sink = {.events = see, .end = see_end}};
    struct sink *sinks[] = {&seen.sink};
    struct before_hang before;
    struct error err = {0};
    struct defs *defs = definitions();
    struct trace_end end = {0};
    before_hang_start(&before, sinks, 1, 100);
    bool passed = before.sink.begin(&before.sink, defs, &err) == STATUS_OK;
    batch.count = 0;
    put(0, EVENT_ENTER, 100, RECEIVE); /* hangs */
    put(1, EVENT_ENTER, 50, RECEIVE);
    put(1, EVENT_RECEIVE, 150, 0);
    put(1, EVENT_LEAVE, 150, RECEIVE);
    put(1, EVENT_ENTER, 200, RECEIVE);
    put(1, EVENT_LEAVE, 250, RECEIVE);
    put(2, EVENT_ENTER, 200, WORK);
    put(2, EVENT_ENTER, 210, RECEIVE);
    put(2, EVENT_LEAVE, 220, RECEIVE);
    put(2, EVENT_LEAVE, 230, WORK);
    put(3, EVENT_ENTER, 200, FINALIZE);
    put(3, EVENT_ENTER, 210, RECEIVE);
    put(3, EVENT_LEAVE, 220, RECEIVE);
    put(3, EVENT_LEAVE, 230, FINALIZE);
    for (uint32_t i = 0; i < 3; i++)
        put(i, EVENT_MARK, 9000, 0);
    passed = passed && before.sink.events(&before.sink, &batch, &err) == STATUS_OK &&
             before.sink.end(&before.sink, &end, &err) == STATUS_OK;
    tap_ok(passed && seen.ended, "with a cut everything is passed on");
    tap_ok(seen.count[0] == 1 && seen.last_ns[0] == 100, "what hangs is as without");
    tap_ok(seen.count[1] == 3 && seen.last_ns[1] == 100,
           "a call ends when the hang begins, and later ones are not there");
    tap_ok(seen.count[2] == 1 && seen.last_ns[2] == 100, "nor are states and what is in them");
    tap_ok(seen.count[3] == 2 && seen.last_ns[3] == 100, "who comes to MPI_Finalize has done so");
    before_hang_clear(&before);
    defs_free(defs);
    batch_clear(&batch);
}

int main(void)
{
    cut();
    struct seen seen = {.sink = {.events = see, .end = see_end}};
    struct sink *sinks[] = {&seen.sink};
    struct before_hang before;
    struct error err = {0};
    struct defs *defs = definitions();
    struct trace_end end = {0};
    before_hang_start(&before, sinks, 1, INT64_MAX);
    bool passed = before.sink.begin(&before.sink, defs, &err) == STATUS_OK;
    for (uint32_t i = 0; i < PROCESSES; i++) {
        put(i, EVENT_ENTER, 10, RECEIVE);
        put(i, EVENT_LEAVE, 20, RECEIVE);
    }
    put(0, EVENT_ENTER, 500, RECEIVE); /* the last event before the hang */
    put(2, EVENT_ENTER, 30, WORK);
    put(0, EVENT_MARK, 9000, 0);
    put(0, EVENT_MARK, 9000, 0);
    put(1, EVENT_MARK, 9000, 0);
    put(1, EVENT_MARK, 9000, 0);
    put(2, EVENT_MARK, 9000, 0);
    put(3, EVENT_MARK, 40, 0); /* died early */
    passed = passed && before.sink.events(&before.sink, &batch, &err) == STATUS_OK &&
             before.sink.end(&before.sink, &end, &err) == STATUS_OK;
    tap_ok(passed && seen.ended, "everything is passed on");
    tap_ok(seen.count[0] == 3 && seen.last_ns[0] == 500, "a call that never returns has no length");
    tap_ok(seen.count[1] == 3 && seen.last_ns[1] == 500, "who is in none goes on until the hang, once");
    tap_ok(seen.count[2] == 4 && seen.last_ns[2] == 500, "also in a state of the program");
    tap_ok(seen.count[3] == 3 && seen.last_ns[3] == 40, "but not longer than it lives");
    tap_ok(seen.count[4] == 2 && seen.last_ns[4] == 20, "without a mark nothing is known");
    before_hang_clear(&before);
    defs_free(defs);
    batch_free(&batch);
    return tap_done();
}
