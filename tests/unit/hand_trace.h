/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_HAND_TRACE_H
#define SIGHT_TESTS_UNIT_HAND_TRACE_H

#include "core/bytes.h"
#include "core/memory.h"
#include "core/payload.h"
#include "graph/graph.h"

#include <stdlib.h>

/* Traces written by hand, as graphs. A program is one file: the definitions are its own; call defs_make() first and
   defs_free(defs) last. */

/* Not every test uses every function. */
#define HAND_UNUSED __attribute__((unused))

enum {
    SEND,
    RECV,
    BARRIER,
    ALLREDUCE,
    FINALIZE,
    BCAST,
    REDUCE,
    SSEND,
    PROBE,
    WAITALL,
    IRECV,
    SCAN,
    FILE_WRITE,
    NEIGHBOR,
    BARRIER_INIT,
    IALLREDUCE,
    IBCAST,
    WAIT,
    START,
    INEIGHBOR,
    NEIGHBOR_INIT,
    ISSEND,
    ISENDRECV,
    SEND_INIT,
    RECV_INIT,
    BCAST_INIT,
    FILE_WRITE_ALL,
    FILE_IWRITE_ALL,
    FILE_WRITE_BEGIN,
    FILE_WRITE_END,
    IPROBE,
    GATHER,
    SCATTER,
    FILE_READ,
    STATES,
    LOCATIONS = 8
};

struct trace {
    struct event *events[LOCATIONS];
    size_t count[LOCATIONS], capacity[LOCATIONS];
};

static struct defs *defs;

HAND_UNUSED static void defs_make(void)
{
    static const char *const names[STATES] = {"MPI_Send",
                                              "MPI_Recv",
                                              "MPI_Barrier",
                                              "MPI_Allreduce",
                                              "MPI_Finalize",
                                              "MPI_Bcast",
                                              "MPI_Reduce",
                                              "MPI_Ssend",
                                              "MPI_Probe",
                                              "MPI_Waitall",
                                              "MPI_Irecv",
                                              "MPI_Scan",
                                              "MPI_File_write",
                                              "MPI_Neighbor_alltoall",
                                              "MPI_Barrier_init",
                                              "MPI_Iallreduce",
                                              "MPI_Ibcast",
                                              "MPI_Wait",
                                              "MPI_Start",
                                              "MPI_Ineighbor_alltoall",
                                              "MPI_Neighbor_alltoall_init",
                                              "MPI_Issend",
                                              "MPI_Isendrecv",
                                              "MPI_Send_init",
                                              "MPI_Recv_init",
                                              "MPI_Bcast_init",
                                              "MPI_File_write_all",
                                              "MPI_File_iwrite_all",
                                              "MPI_File_write_all_begin",
                                              "MPI_File_write_all_end",
                                              "MPI_Iprobe",
                                              "MPI_Gather",
                                              "MPI_Scatter",
                                              "MPI_File_read"};
    defs = defs_new();
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t) "moment", .defined = true});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t)REQUEST_MARK_NAME,
                                           .format = (char *)(uintptr_t)PAYLOAD_REQUESTS_FORMAT,
                                           .defined = true});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t)RANKS_MARK_NAME, .defined = true});
    int32_t world = defs_comm(defs, 0);
    defs->comms[world].world = true;
    defs_comm(defs, 1);
}

HAND_UNUSED static struct event *put(struct trace *trace, uint32_t process, enum event_kind kind, int64_t time_ns,
                                     uint32_t state)
{
    ARRAY_PUSH(trace->events[process], trace->count[process], trace->capacity[process], EVENT_NOTHING);
    struct event *event = &trace->events[process][trace->count[process] - 1];
    event->kind = (uint8_t)kind;
    event->process = process;
    event->time_ns = time_ns;
    event->state = state;
    event->comm = event->partner_comm = 0;
    return event;
}

HAND_UNUSED static void call(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave)
{
    put(trace, process, EVENT_ENTER, enter, state);
    put(trace, process, EVENT_LEAVE, leave, state);
}

/* A call with a message to or from the partner in it. */
HAND_UNUSED static void message(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave,
                                int32_t partner)
{
    bool receive = state == RECV || state == WAITALL || state == WAIT;
    put(trace, process, EVENT_ENTER, enter, state);
    struct event *event = put(trace, process, receive ? EVENT_RECEIVE : EVENT_SEND, receive ? leave : enter, 0);
    event->partner = partner;
    event->tag = 0;
    put(trace, process, EVENT_LEAVE, leave, state);
}

/* A collective whose root is known. */
HAND_UNUSED static void rooted(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave,
                               int32_t root)
{
    put(trace, process, EVENT_ENTER, enter, state);
    put(trace, process, EVENT_COLLECTIVE, enter, 0)->tag = root;
    put(trace, process, EVENT_LEAVE, leave, state);
}

/* A solo moment: the location's begin or end. */
HAND_UNUSED static void moment(struct trace *trace, uint32_t process, int64_t time_ns)
{
    put(trace, process, EVENT_MARK, time_ns, 0);
}

/* In the current call: a mark with a request. */
HAND_UNUSED static void request(struct trace *trace, uint32_t process, int64_t time_ns, uint32_t number)
{
    struct event *event = put(trace, process, EVENT_MARK, time_ns, 1);
    event->request = number;
    event->requests = 1;
}

/* On the last leave: `count` requests from this number on. */
HAND_UNUSED static void name_requests(struct trace *trace, uint32_t process, uint32_t number, uint32_t count)
{
    struct event *event = &trace->events[process][trace->count[process] - 1];
    event->request = number;
    event->requests = count;
}

/* In the current call: the mark of the ranks first to last of the window that is communicator 1. */
HAND_UNUSED static void ranks(struct trace *trace, uint32_t process, int64_t time_ns, int32_t first, int32_t last,
                              enum window_lock lock)
{
    struct event *event = put(trace, process, EVENT_MARK, time_ns, 2);
    event->comm = 1;
    event->partner = first;
    event->tag = last;
    event->value = lock;
    event->payload_length = RANKS_MARK_SIZE;
}

/* A call that posts, starts or completes a request, recorded in a mark. */
HAND_UNUSED static void requesting(struct trace *trace, uint32_t process, uint32_t state, int64_t enter, int64_t leave,
                                   uint32_t number)
{
    put(trace, process, EVENT_ENTER, enter, state);
    request(trace, process, enter, number);
    put(trace, process, EVENT_LEAVE, leave, state);
}

/* Who gives to the process in neighbourhood collectives on the communicator: bit i of `ranks` is its rank i, which is
   below NEIGHBOURS_RANKS. */
HAND_UNUSED static void sources(struct trace *trace, uint32_t process, int32_t comm, uint32_t ranks)
{
    struct event *event = put(trace, process, EVENT_NEIGHBOURS, 0, 0);
    event->comm = comm;
    event->value = ranks;
}

HAND_UNUSED static void put_sources(struct batch *batch, struct event *event)
{
    unsigned char payload[NEIGHBOURS_MARK_SIZE];
    struct neighbours neighbours = {.way = NEIGHBOURS_SOURCES};
    for (int32_t i = 0, at = 0; i < NEIGHBOURS_RANKS; i++) {
        neighbours.ranks[i] = -1;
        if (event->value >> i & 1)
            neighbours.ranks[at++] = i;
    }
    payload_put_neighbours(payload, &neighbours);
    batch_set_payload(batch, event, payload, sizeof payload);
}

/* A copy of the event, with the payload that it stands for. */
HAND_UNUSED static void put_in_batch(struct batch *batch, const struct event *from)
{
    struct event *event = &batch->events[batch->count++];
    *event = *from;
    if (event->payload_length == RANKS_MARK_SIZE) {
        unsigned char payload[RANKS_MARK_SIZE];
        bytes_put_i32(payload, true, event->partner);
        bytes_put_i32(payload + 4, true, event->tag);
        bytes_put_u32(payload + 8, true, 1);
        bytes_put_u32(payload + 12, true, (uint32_t)event->value);
        batch_set_payload(batch, event, payload, sizeof payload);
    }
    if (event->kind == EVENT_NEIGHBOURS)
        put_sources(batch, event);
}

/* So many threads finish the graphs; whether their calls are in a pool. */
static unsigned graph_threads = 1;
HAND_UNUSED static bool graph_pooled;

/* The graph of the trace, which is given process by process, from the last to the first: no order across processes may
   matter. Frees the events. */
HAND_UNUSED static struct graph *graph_of(struct trace *trace, uint32_t processes)
{
    struct graph_builder *builder = graph_builder_new();
    if (graph_pooled)
        graph_builder_use_pool(builder);
    struct sink *sink = graph_builder_sink(builder);
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    defs->processes = processes;
    bool fine = sink->begin(sink, defs, &err) == STATUS_OK;
    for (uint32_t p = processes; p-- > 0;) {
        for (size_t i = 0; i < trace->count[p]; i++) {
            put_in_batch(batch, &trace->events[p][i]);
            if (batch->count == BATCH_EVENTS || i + 1 == trace->count[p]) {
                fine &= sink->events(sink, batch, &err) == STATUS_OK;
                batch_clear(batch);
            }
        }
        free(trace->events[p]);
    }
    if (!fine)
        abort();
    batch_free(batch);
    free(batch);
    *trace = (struct trace){0};
    return graph_builder_end_in_parallel(builder, graph_threads);
}

static uint32_t seed = 1;

HAND_UNUSED static int64_t random_below(int64_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (int64_t)(seed >> 8) % limit;
}

/* Rounds of computing, messages round a ring and barriers, as a machine would run them. */
HAND_UNUSED static void run_make(struct trace *trace, uint32_t processes)
{
    int64_t now[LOCATIONS] = {0}, sent[LOCATIONS];
    for (uint32_t p = 0; p < processes; p++)
        moment(trace, p, 0);
    for (int round = 0; round < 30; round++) {
        int64_t latest = 0;
        for (uint32_t p = 0; p < processes; p++) {
            now[p] += random_below(100);
            sent[p] = now[p];
            message(trace, p, SEND, now[p], now[p] + 2, (int32_t)((p + 1) % processes));
            now[p] += 2 + random_below(30);
        }
        for (uint32_t p = 0; p < processes; p++) {
            int64_t from = sent[(p + processes - 1) % processes] + 3;
            int64_t leave = (from > now[p] ? from : now[p]) + 1;
            message(trace, p, RECV, now[p], leave, (int32_t)((p + processes - 1) % processes));
            now[p] = leave;
            latest = now[p] > latest ? now[p] : latest;
        }
        for (uint32_t p = 0; round % 3 == 0 && p < processes; p++) {
            call(trace, p, BARRIER, now[p], latest + 1);
            now[p] = latest + 1;
        }
    }
}

/* Feeds the events to a sink, process by process. */
HAND_UNUSED static void trace_feed(const struct trace *trace, uint32_t processes, struct sink *sink)
{
    struct batch *batch = memory_new(sizeof *batch);
    struct error err = {0};
    bool fine = sink->begin(sink, defs, &err) == STATUS_OK;
    for (uint32_t p = 0; p < processes; p++)
        for (size_t i = 0; i < trace->count[p]; i++) {
            batch->events[0] = trace->events[p][i];
            batch->count = 1;
            fine &= sink->events(sink, batch, &err) == STATUS_OK;
        }
    free(batch);
    if (!fine)
        abort();
}

#endif
