/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of --fix-clocks: whatever a few processes send, receive and wait for at whatever times, the order of each
   process's events stays, and no call becomes negative. Each event takes four bytes: process and kind, partner and tag,
   and by how much the process's clock goes on, a floating point number of eight bits. */
#include "clocks/clocks.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROCESSES = 4, STATES = 4, EVENTS = 1000, BYTES = 4 };
static const int64_t TIME_MOST_NS = 9000000000000000000;
static const char *const names[STATES] = {"MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Bcast"};

/* What is open of a process, so that calls are entered and left in turns. */
struct process {
    int64_t time_ns;
    uint32_t state;
    bool inside;
};

static struct defs *make_defs(void)
{
    struct defs *defs = defs_new();
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i],
                                                 .id = EVENT_UNKNOWN,
                                                 .start = EVENT_UNKNOWN,
                                                 .end = EVENT_UNKNOWN});
    int32_t world = defs_comm(defs, 0);
    defs->comms[world].world = true;
    defs->processes = PROCESSES;
    return defs;
}

static void set_message(struct event *event, const struct process *process, unsigned choice)
{
    event->kind = process->state == 0 ? EVENT_SEND : EVENT_RECEIVE;
    event->comm = event->partner_comm = 0;
    event->partner = (int32_t)(choice % PROCESSES);
    event->tag = (int32_t)(choice / PROCESSES % 2);
    event->bytes_sent = event->bytes_received = 8;
}

static struct event next_event(struct process *processes, const uint8_t *data)
{
    uint32_t rank = data[0] % PROCESSES;
    struct process *process = &processes[rank];
    struct event event = EVENT_NOTHING;
    int64_t step_ns = (int64_t)(data[2] & 0x0f) << (data[2] >> 4) * 2;
    if (data[3] == 0xff)
        step_ns += (int64_t)data[1] << 48; /* up to two years */
    /* Readers take no times beyond this. */
    if (step_ns <= TIME_MOST_NS - process->time_ns)
        process->time_ns += step_ns;
    event.process = rank;
    event.time_ns = process->time_ns;
    if (process->inside && process->state < 2 && (data[0] & 4)) {
        set_message(&event, process, data[1]);
        return event;
    }
    if (!process->inside)
        process->state = data[1] / 16 % STATES;
    event.kind = process->inside ? EVENT_LEAVE : EVENT_ENTER;
    event.state = process->state;
    event.comm = 0;
    process->inside = !process->inside;
    return event;
}

static struct causality *read_events(const struct defs *defs, const struct batch *batch)
{
    struct error err = {0};
    struct causality_builder *builder = causality_builder_new();
    struct sink *sink = causality_builder_sink(builder);
    struct trace_end end = {.complete = true};
    if (sink->begin(sink, defs, &err) != STATUS_OK || sink->events(sink, batch, &err) != STATUS_OK ||
        (sink->end && sink->end(sink, &end, &err) != STATUS_OK))
        abort();
    return causality_builder_end(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct process processes[PROCESSES] = {0};
    int64_t last_ns[PROCESSES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    struct batch *batch = memory_new(sizeof *batch);
    for (size_t i = 0; i < size && i < PROCESSES; i++)
        processes[i].time_ns = (int64_t)(int8_t)data[i] * (INT64_C(1) << (data[i] & 1 ? 46 : 16));
    for (size_t at = PROCESSES; at + BYTES <= size && batch->count < EVENTS && batch->count < BATCH_EVENTS; at += BYTES)
        batch->events[batch->count++] = next_event(processes, data + at);
    struct defs *defs = make_defs();
    struct clocks *clocks = clocks_of(read_events(defs, batch));
    clocks_correct(clocks, batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        if (event->time_ns < last_ns[event->process])
            abort();
        last_ns[event->process] = event->time_ns;
    }
    clocks_free(clocks);
    defs_free(defs);
    free(batch);
    return 0;
}
