/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/graph.h"

#include "core/memory.h"
#include "core/open_states.h"
#include "replay/channels.h"

#include <string.h>

/* What is open on a lane while events come in. */
struct lane_state {
    struct open_states open; /* MPI states; `mark` of the outermost is free */
    uint32_t probe;          /* 1 + call that found a message, until that arrives */
    bool any;                /* an event was seen */
};

struct graph_builder {
    struct sink sink;
    struct graph *graph;
    struct lane_state *states; /* by lane */
    size_t state_capacity;
    struct map lanes;   /* (process, thread) -> lane */
    struct map streams; /* (communicator, function) -> stream */
    struct map turns;   /* (lane, stream) -> collectives so far */
    struct map groups;  /* (stream, turn) -> group */
    struct channels channels;
    uint32_t recent_process, recent_thread, recent_lane;
    int64_t *send_ns; /* by message: time of the end that was seen first */
    size_t send_capacity;
};

static enum status builder_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct graph_builder *)sink)->graph->defs = defs;
    return STATUS_OK;
}

static uint32_t lane_of(struct graph_builder *builder, uint32_t process, uint32_t thread)
{
    if (builder->recent_lane != GRAPH_NONE && builder->recent_process == process && builder->recent_thread == thread)
        return builder->recent_lane;
    struct graph *graph = builder->graph;
    uint64_t *lane = map_put(&builder->lanes, map_pair(process, thread), graph->lane_count);
    if (*lane == graph->lane_count) {
        ARRAY_PUSH(graph->lanes, graph->lane_count, graph->lane_capacity,
                   (struct lane){.process = process, .thread = thread});
        size_t before = builder->state_capacity;
        ARRAY_RESERVE(builder->states, builder->state_capacity, graph->lane_count);
        memset(builder->states + before, 0, (builder->state_capacity - before) * sizeof *builder->states);
    }
    builder->recent_process = process;
    builder->recent_thread = thread;
    builder->recent_lane = (uint32_t)*lane;
    return builder->recent_lane;
}

/* Collectives */

/* True of calls in which all processes of a communicator take part and meet in the order of their calls. */
static bool is_collective(const struct state_def *state)
{
    return state->class == CLASS_COLLECTIVE || state->class == CLASS_SYNC || strcmp(state->name, "MPI_Init") == 0 ||
           strcmp(state->name, "MPI_Init_thread") == 0 || strcmp(state->name, "MPI_Finalize") == 0;
}

static uint32_t stream_of(struct graph_builder *builder, int32_t comm, uint32_t state)
{
    struct graph *graph = builder->graph;
    uint64_t *stream = map_put(&builder->streams, map_pair((uint32_t)comm, state), graph->stream_count);
    if (*stream == graph->stream_count)
        ARRAY_PUSH(graph->streams, graph->stream_count, graph->stream_capacity, (struct group_stream){comm, state, 0});
    return (uint32_t)*stream;
}

static void join_group(struct graph_builder *builder, uint32_t lane, uint32_t call, const struct event *event)
{
    struct graph *graph = builder->graph;
    uint32_t first = graph->defs->states[event->state].first_of_name;
    uint32_t stream = stream_of(builder, event->comm, first);
    uint64_t turn = (*map_put(&builder->turns, map_pair(lane, stream), 0))++;
    uint64_t *place = map_put(&builder->groups, map_pair(stream, (uint32_t)turn), graph->group_count);
    if (*place == graph->group_count)
        ARRAY_PUSH(graph->groups, graph->group_count, graph->group_capacity,
                   (struct group){.latest_enter_ns = INT64_MIN,
                                  .earliest_leave_ns = INT64_MAX,
                                  .earliest_other_ns = INT64_MAX,
                                  .latest_lane = GRAPH_NONE,
                                  .root_lane = GRAPH_NONE,
                                  .stream = stream});
    struct group *group = &graph->groups[*place];
    group->count++;
    if (event->time_ns > group->latest_enter_ns ||
        (event->time_ns == group->latest_enter_ns && lane < group->latest_lane)) {
        group->latest_enter_ns = event->time_ns;
        group->latest_lane = lane;
        group->latest_call = call;
    }
    graph->lanes[lane].calls[call].group = (uint32_t)*place + 1;
    if (group->count > graph->streams[stream].most)
        graph->streams[stream].most = group->count;
}

/* The root of the lane's latest call, a rank of its communicator. */
static void note_root(struct graph_builder *builder, uint32_t lane, int32_t comm, int64_t root)
{
    struct graph *graph = builder->graph;
    struct lane *where = &graph->lanes[lane];
    if (where->count == 0 || root < 0 || root >= PROCESS_LIMIT)
        return;
    const struct call *call = &where->calls[where->count - 1];
    if (call->group && defs_world_rank(graph->defs, comm, (int32_t)root) == (int32_t)where->process) {
        graph->groups[call->group - 1].root_lane = lane;
        graph->groups[call->group - 1].root_call = (uint32_t)where->count - 1;
    }
}

/* Calls */

static void enter_call(struct graph_builder *builder, uint32_t lane, const struct event *event)
{
    struct graph *graph = builder->graph;
    struct lane *where = &graph->lanes[lane];
    if (where->count >= GRAPH_NONE - 1) {
        graph->too_large = true;
        return;
    }
    ARRAY_PUSH(where->calls, where->count, where->capacity,
               (struct call){.enter_ns = event->time_ns, .leave_ns = INT64_MIN, .state = event->state});
    if (is_collective(&graph->defs->states[event->state]))
        join_group(builder, lane, (uint32_t)where->count - 1, event);
}

static void enter(struct graph_builder *builder, uint32_t lane, const struct event *event)
{
    struct lane_state *state = &builder->states[lane];
    if (!builder->graph->defs->states[event->state].is_mpi)
        return;
    if (state->open.depth == 0)
        enter_call(builder, lane, event);
    open_states_enter(&state->open, event->state, event->time_ns);
}

static void leave(struct graph_builder *builder, uint32_t lane, const struct event *event)
{
    struct graph *graph = builder->graph;
    struct lane_state *state = &builder->states[lane];
    ptrdiff_t at = open_states_find(&state->open, event->state);
    if (at == OPEN_STATES_NONE)
        return;
    open_states_remove(&state->open, at);
    struct lane *where = &graph->lanes[lane];
    if (state->open.depth > 0 || where->count == 0)
        return;
    struct call *call = &where->calls[where->count - 1];
    call->leave_ns = event->time_ns > call->enter_ns ? event->time_ns : call->enter_ns;
    if (graph_state(graph, call)->class == CLASS_PROBE)
        state->probe = (uint32_t)where->count;
    if (call->group) {
        note_root(builder, lane, event->comm, event->tag); /* recordings tell it there */
        struct group *group = &graph->groups[call->group - 1];
        if (call->leave_ns < group->earliest_leave_ns)
            group->earliest_leave_ns = call->leave_ns;
    }
}

/* Messages */

static void attach(struct graph *graph, uint32_t message, uint32_t lane, uint32_t call, bool receive)
{
    struct message *m = &graph->messages[message];
    struct call *where = &graph->lanes[lane].calls[call];
    if (receive) {
        m->receive_lane = lane;
        m->receive_call = call;
        m->next_received = where->received;
        where->received = message + 1;
    } else {
        m->send_lane = lane;
        m->send_call = call;
        m->next_sent = where->sent;
        where->sent = message + 1;
    }
}

static void note_clock(struct graph *graph, int64_t send_ns, int64_t receive_ns)
{
    int64_t early = time_since(receive_ns, send_ns);
    graph->early += early > 0;
    if (early > graph->clock_error_ns)
        graph->clock_error_ns = early;
}

/* Joins the end to the first that waits for it, or lets it wait. Returns the message. */
static uint32_t meet(struct graph_builder *builder, const struct event *event, bool receive)
{
    struct graph *graph = builder->graph;
    struct channel *channel = channels_of(&builder->channels, event);
    if (channel->first && channel->sends == receive) {
        uint32_t found = channel->first - 1;
        struct message *m = &graph->messages[found];
        /* While it waits, the link of its missing end is the queue's. */
        uint32_t *link = receive ? &m->next_received : &m->next_sent;
        channel->first = *link;
        *link = 0;
        int64_t other_ns = builder->send_ns[found];
        note_clock(graph, receive ? other_ns : event->time_ns, receive ? event->time_ns : other_ns);
        return found;
    }
    uint32_t made = (uint32_t)graph->message_count;
    ARRAY_PUSH(graph->messages, graph->message_count, graph->message_capacity,
               (struct message){GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, 0, 0});
    ARRAY_RESERVE(builder->send_ns, builder->send_capacity, graph->message_count);
    builder->send_ns[made] = event->time_ns;
    if (!channel->first) {
        channel->first = made + 1;
        channel->sends = !receive;
    } else {
        struct message *last = &graph->messages[channel->last - 1];
        *(receive ? &last->next_sent : &last->next_received) = made + 1;
    }
    channel->last = made + 1;
    return made;
}

static void message_end(struct graph_builder *builder, uint32_t lane, const struct event *event)
{
    struct graph *graph = builder->graph;
    struct lane *where = &graph->lanes[lane];
    if (event->partner < 0)
        return;
    if (where->count == 0 || graph->message_count >= GRAPH_NONE - 1) {
        graph->unattached += where->count == 0;
        graph->too_large |= where->count > 0;
        return;
    }
    bool receive = event->kind == EVENT_RECEIVE;
    uint32_t message = meet(builder, event, receive);
    attach(graph, message, lane, (uint32_t)where->count - 1, receive);
    struct lane_state *state = &builder->states[lane];
    if (receive && state->probe) {
        struct call *probe = &where->calls[state->probe - 1];
        if (!probe->received)
            probe->received = message + 1;
        state->probe = 0;
    }
}

static void take(struct graph_builder *builder, const struct event *event)
{
    uint32_t lane = lane_of(builder, event->process, event->thread);
    struct lane *where = &builder->graph->lanes[lane];
    if (!builder->states[lane].any || event->time_ns < where->begin_ns)
        where->begin_ns = event->time_ns;
    if (!builder->states[lane].any || event->time_ns > where->end_ns)
        where->end_ns = event->time_ns;
    builder->states[lane].any = true;
    switch (event->kind) {
    case EVENT_ENTER:
        enter(builder, lane, event);
        break;
    case EVENT_LEAVE:
        leave(builder, lane, event);
        break;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        message_end(builder, lane, event);
        break;
    case EVENT_COLLECTIVE:
        note_root(builder, lane, event->comm, event->tag);
        break;
    default:
        break;
    }
}

static enum status builder_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        if (event_counts(&batch->events[i]))
            take((struct graph_builder *)sink, &batch->events[i]);
    return STATUS_OK;
}

struct graph_builder *graph_builder_new(void)
{
    struct graph_builder *builder = memory_new(sizeof *builder);
    builder->graph = memory_new(sizeof *builder->graph);
    builder->sink = (struct sink){.begin = builder_begin, .events = builder_events};
    builder->recent_lane = GRAPH_NONE;
    return builder;
}

struct sink *graph_builder_sink(struct graph_builder *builder)
{
    return &builder->sink;
}

/* Calls that were never left last to the end of their lane; who is first beside the root is known now. */
static void finish_calls(struct graph *graph)
{
    for (size_t l = 0; l < graph->lane_count; l++) {
        struct lane *lane = &graph->lanes[l];
        for (size_t i = 0; i < lane->count; i++) {
            struct call *call = &lane->calls[i];
            if (call->leave_ns == INT64_MIN)
                call->leave_ns = lane->end_ns > call->enter_ns ? lane->end_ns : call->enter_ns;
            struct group *group = call->group ? &graph->groups[call->group - 1] : NULL;
            if (group && group->root_lane != l && call->enter_ns < group->earliest_other_ns)
                group->earliest_other_ns = call->enter_ns;
        }
    }
}

static void unlink_waiting(struct graph_builder *builder)
{
    struct graph *graph = builder->graph;
    for (size_t i = 0; i < graph->message_count; i++) {
        struct message *m = &graph->messages[i];
        graph->unmatched += m->send_lane == GRAPH_NONE || m->receive_lane == GRAPH_NONE;
        if (m->send_lane == GRAPH_NONE)
            m->next_sent = 0;
        if (m->receive_lane == GRAPH_NONE)
            m->next_received = 0;
    }
}

struct graph *graph_builder_end(struct graph_builder *builder)
{
    struct graph *graph = builder->graph;
    unlink_waiting(builder);
    finish_calls(graph);
    for (size_t i = 0; i < graph->lane_count; i++)
        open_states_free(&builder->states[i].open);
    free(builder->states);
    free(builder->send_ns);
    map_clear(&builder->lanes);
    map_clear(&builder->streams);
    map_clear(&builder->turns);
    map_clear(&builder->groups);
    channels_clear(&builder->channels);
    free(builder);
    return graph;
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    for (size_t i = 0; i < graph->lane_count; i++)
        free(graph->lanes[i].calls);
    free(graph->lanes);
    free(graph->messages);
    free(graph->groups);
    free(graph->streams);
    free(graph);
}

bool graph_group_complete(const struct graph *graph, const struct group *group)
{
    const struct group_stream *stream = &graph->streams[group->stream];
    /* Without communicators only what everyone takes part in is sure to be one collective. */
    if (stream->comm == EVENT_UNKNOWN && group->count != graph->defs->processes)
        return false;
    return group->count > 1 && group->count == stream->most;
}
