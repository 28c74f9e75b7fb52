/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/causal_calls.h"

#include "clocks/causal_gates.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/open_states.h"
#include "graph/graph_requests.h"

#include <string.h>

/* The position of a call among the events of its process. */
struct call_place {
    uint32_t enter, leave; /* ordinals; CAUSAL_NONE: was not left */
};

/* The recorded bytes of a call of a function with separate counts for each process. */
struct call_bytes {
    uint32_t call;
    int64_t sent, received; /* BYTES_UNKNOWN */
};

/* The calls of a thread that are of interest: the calls of its location in the graph. */
struct thread_calls {
    struct open_states open; /* MPI states */
    bool follows;            /* the current call is of interest */
    uint32_t timeline;
    struct call_place *places;
    size_t count, capacity;
    struct call_bytes *bytes; /* by call */
    size_t bytes_count, bytes_capacity;
};

/* The properties of a state's calls. */
enum interest { INTEREST_UNKNOWN, INTEREST_NONE, INTEREST_PLAIN, INTEREST_LATER, INTEREST_REQUESTS };

struct state_interest {
    uint8_t interest; /* enum interest */
    bool own_counts;
};

struct causal_calls {
    const struct defs *defs;
    struct graph_builder *graph;
    struct batch *batch; /* events on their way to the graph */
    struct thread_calls *threads;
    size_t thread_count, thread_capacity;
    struct map index; /* (process, thread) -> thread */
    struct state_interest *states;
    size_t state_count;
    bool later; /* there was a collective completed by another call */
    uint32_t recent_process, recent_thread, recent_index;
    bool recent;
};

struct causal_calls *causal_calls_new(void)
{
    struct causal_calls *calls = memory_new(sizeof *calls);
    calls->graph = graph_builder_new();
    calls->batch = memory_new(sizeof *calls->batch);
    return calls;
}

enum status causal_calls_begin(struct causal_calls *calls, const struct defs *defs, struct error *err)
{
    struct sink *sink = graph_builder_sink(calls->graph);
    calls->defs = defs;
    return sink->begin(sink, defs, err);
}

/* Collecting */

/* Only calls that wait for others are of interest: the graph of these alone takes far less memory than that of all
   calls. */
static enum interest interest_of(const struct state_def *state)
{
    static const char *const windows[] = {"MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"};
    struct collective collective = collective_of(state);
    bool collects = state->class == CLASS_COLLECTIVE || state->class == CLASS_SYNC;
    if (collects && (collective.stage == STAGE_POSTED || collective.stage == STAGE_PREPARED))
        return INTEREST_LATER;
    if (collects && collective.stage == STAGE_BLOCKING)
        return INTEREST_PLAIN;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (strcmp(state->name, windows[i]) == 0)
            return INTEREST_PLAIN;
    enum request_role requests = request_role_of(state);
    if (requests == REQUESTS_START || requests == REQUESTS_COMPLETE)
        return INTEREST_REQUESTS;
    return INTEREST_NONE;
}

/* In some formats definitions come between events. */
static struct state_interest state_interest(struct causal_calls *calls, uint32_t state)
{
    const struct defs *defs = calls->defs;
    if (state >= calls->state_count) {
        calls->states = memory_resize(calls->states, defs->state_count * sizeof *calls->states);
        memset(&calls->states[calls->state_count], 0, (defs->state_count - calls->state_count) * sizeof *calls->states);
        calls->state_count = defs->state_count;
    }
    struct state_interest *found = &calls->states[state];
    if (found->interest == INTEREST_UNKNOWN)
        *found = (struct state_interest){(uint8_t)interest_of(&defs->states[state]),
                                         causal_counts_of(&defs->states[state]) != COUNTS_SAME};
    return *found;
}

static struct thread_calls *thread_of(struct causal_calls *calls, const struct event *event, uint32_t timeline)
{
    if (calls->recent && calls->recent_process == event->process && calls->recent_thread == event->thread)
        return &calls->threads[calls->recent_index];
    uint64_t *at = map_put(&calls->index, map_pair(event->process, event->thread), calls->thread_count);
    if (*at == calls->thread_count)
        ARRAY_PUSH(calls->threads, calls->thread_count, calls->thread_capacity,
                   (struct thread_calls){.timeline = timeline});
    calls->recent = true;
    calls->recent_process = event->process;
    calls->recent_thread = event->thread;
    calls->recent_index = (uint32_t)*at;
    return &calls->threads[*at];
}

/* No more than the batch that it comes from, so that the copy never overflows. */
static void forward(struct causal_calls *calls, const struct event *event)
{
    calls->batch->events[calls->batch->count++] = *event;
}

static void begin_call(struct causal_calls *calls, struct thread_calls *thread, uint32_t state, uint32_t ordinal)
{
    enum interest interest = (enum interest)state_interest(calls, state).interest;
    calls->later |= interest == INTEREST_LATER;
    /* Waits and tests matter only once there is a collective that they could complete; before that they are most
       calls. */
    thread->follows = interest != INTEREST_NONE && (interest != INTEREST_REQUESTS || calls->later);
    if (thread->follows)
        ARRAY_PUSH(thread->places, thread->count, thread->capacity, (struct call_place){ordinal, CAUSAL_NONE});
}

/* What is known about the current call. */
static void note_bytes(struct causal_calls *calls, struct thread_calls *thread, const struct event *event)
{
    uint32_t call = (uint32_t)thread->count - 1;
    if (!state_interest(calls, thread->open.frames[0].state).own_counts ||
        (event->bytes_sent < 0 && event->bytes_received < 0))
        return;
    if (thread->bytes_count == 0 || thread->bytes[thread->bytes_count - 1].call != call)
        ARRAY_PUSH(thread->bytes, thread->bytes_count, thread->bytes_capacity,
                   (struct call_bytes){call, BYTES_UNKNOWN, BYTES_UNKNOWN});
    struct call_bytes *bytes = &thread->bytes[thread->bytes_count - 1];
    bytes->sent = larger(bytes->sent, event->bytes_sent);
    bytes->received = larger(bytes->received, event->bytes_received);
}

static void leave(struct causal_calls *calls, struct thread_calls *thread, const struct event *event, uint32_t ordinal)
{
    ptrdiff_t at = open_states_find(&thread->open, event->state);
    if (at == OPEN_STATES_NONE)
        return;
    bool last = thread->open.depth == 1;
    if (thread->follows) {
        forward(calls, event);
        if (last) {
            note_bytes(calls, thread, event);
            thread->places[thread->count - 1].leave = ordinal;
        }
    }
    open_states_remove(&thread->open, at);
    /* Nested calls are passed on with the outermost one: the graph sees them begin and end in the right order. */
    thread->follows &= !last;
}

void causal_calls_take(struct causal_calls *calls, const struct event *event, uint32_t timeline, uint32_t ordinal)
{
    struct thread_calls *thread = thread_of(calls, event, timeline);
    switch (event->kind) {
    case EVENT_ENTER:
        if (!calls->defs->states[event->state].is_mpi)
            return;
        if (thread->open.depth == 0)
            begin_call(calls, thread, event->state, ordinal);
        if (thread->follows)
            forward(calls, event);
        open_states_enter(&thread->open, event->state, event->time_ns);
        break;
    case EVENT_LEAVE:
        leave(calls, thread, event, ordinal);
        break;
    case EVENT_COLLECTIVE:
        if (thread->follows)
            note_bytes(calls, thread, event);
        /* fall through */
    case EVENT_MARK:
        if (thread->follows)
            forward(calls, event);
        break;
    default:
        break;
    }
}

void causal_calls_note(struct causal_calls *calls, const struct event *event)
{
    if (event->kind == EVENT_COMM_MADE || event->kind == EVENT_NEIGHBOURS)
        forward(calls, event);
}

enum status causal_calls_flush(struct causal_calls *calls, const struct batch *batch, struct error *err)
{
    struct sink *sink = graph_builder_sink(calls->graph);
    calls->batch->arena = batch->arena;
    calls->batch->arena_length = batch->arena_length;
    enum status status = STATUS_OK;
    if (calls->batch->count > 0)
        status = sink->events(sink, calls->batch, err);
    calls->batch->count = 0;
    return status;
}

/* The end */

/* Turns calls into points. */
struct placing {
    const struct causal_calls *calls;
    const struct graph *graph;
    struct causality *causality;
    uint32_t *threads; /* by location */
};

static void place_point(void *context, uint32_t gate, uint32_t location, uint32_t index, bool leaves)
{
    struct placing *placing = context;
    struct causality *causality = placing->causality;
    const struct thread_calls *thread = &placing->calls->threads[placing->threads[location]];
    struct call_place place = thread->places[index];
    struct call call = graph_call(placing->graph, location, index);
    if (leaves && place.leave == CAUSAL_NONE)
        return;
    /* Links are numbers of 30 bits beside two for the kind. */
    if (causality->point_count >= CAUSAL_LINKS - 1) {
        causality->too_large = true;
        return;
    }
    struct causal_timeline *timeline = &causality->timelines[thread->timeline];
    uint32_t link = (uint32_t)causality->point_count << 2 | (uint32_t)(leaves ? CAUSAL_LEAVE : CAUSAL_ENTER);
    struct causal_point point = {.timeline = thread->timeline, .gate = gate & INT32_MAX, .leaves = leaves};
    struct causal_event event;
    if (leaves) {
        point.time_ns = call.leave_ns;
        event = (struct causal_event){link, place.leave};
    } else {
        point.time_ns = call.enter_ns;
        event = (struct causal_event){link, place.enter};
    }
    ARRAY_PUSH(causality->points, causality->point_count, causality->point_capacity, point);
    ARRAY_PUSH(timeline->events, timeline->count, timeline->capacity, event);
}

static int by_call(const void *a, const void *b)
{
    const struct call_bytes *left = a, *right = b;
    return order_by(left->call, right->call);
}

static struct causal_bytes find_bytes(void *context, uint32_t location, uint32_t index)
{
    struct placing *placing = context;
    const struct thread_calls *thread = &placing->calls->threads[placing->threads[location]];
    const struct call_bytes *bytes = NULL;
    if (thread->bytes_count > 0)
        bytes = bsearch(&(struct call_bytes){.call = index}, thread->bytes, thread->bytes_count, sizeof *thread->bytes,
                        by_call);
    if (!bytes)
        return (struct causal_bytes){BYTES_UNKNOWN, BYTES_UNKNOWN};
    return (struct causal_bytes){bytes->sent, bytes->received};
}

static int by_ordinal(const void *a, const void *b)
{
    const struct causal_event *left = a, *right = b;
    int order = order_by(left->ordinal, right->ordinal);
    return order ? order : order_by(left->link, right->link);
}

static void make_gates(struct causal_calls *calls, const struct graph *graph, struct causality *causality)
{
    struct placing placing = {calls, graph, causality, memory_new(graph->location_count * sizeof *placing.threads)};
    for (size_t i = 0; i < graph->location_count; i++)
        placing.threads[i] =
            (uint32_t)*map_find(&calls->index, map_pair(graph->locations[i].process, graph->locations[i].thread));
    causal_gates_make(graph, causality, &(struct causal_placer){place_point, find_bytes, &placing});
    free(placing.threads);
    /* Points were added gate by gate; the logical clock walks each timeline in the order of its events. */
    for (size_t i = 0; causality->point_count > 0 && i < causality->timeline_count; i++)
        if (causality->timelines[i].count > 0)
            qsort(causality->timelines[i].events, causality->timelines[i].count, sizeof(struct causal_event),
                  by_ordinal);
}

void causal_calls_end(struct causal_calls *calls, struct causality *causality)
{
    struct graph *graph = graph_builder_end(calls->graph);
    causality->too_large |= graph->too_large;
    if (!causality->too_large)
        make_gates(calls, graph, causality);
    graph_free(graph);
    for (size_t i = 0; i < calls->thread_count; i++) {
        open_states_free(&calls->threads[i].open);
        free(calls->threads[i].places);
        free(calls->threads[i].bytes);
    }
    free(calls->threads);
    free(calls->states);
    free(calls->batch);
    map_clear(&calls->index);
    free(calls);
}
