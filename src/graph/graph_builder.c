/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "core/resource_counter.h"
#include "graph/graph_building.h"
#include "graph/graph_finish.h"
#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"
#include "graph/graph_storage.h"
#include "graph/infer_roots.h"
#include "graph/wait_table.h"

#include <string.h>

static enum status builder_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    struct graph_builder *builder = (struct graph_builder *)sink;
    builder->graph->defs = defs;
    builder->ranks_of_world = infer_ranks_of_world(defs);
    while (builder->asleep < defs->mark_count && resource_counter_of(&defs->marks[builder->asleep]) != RESOURCE_ASLEEP)
        builder->asleep++;
    return STATUS_OK;
}

static uint32_t add_location(struct graph_builder *builder, const struct event *event)
{
    struct graph *graph = builder->graph;
    ARRAY_PUSH(graph->locations, graph->location_count, graph->location_capacity,
               (struct location){.process = event->process, .thread = event->thread});
    /* States and locations have the same numbers; the new ones must be zero, as memory_grow leaves them undefined. */
    size_t before = builder->state_capacity;
    ARRAY_RESERVE(builder->states, builder->state_capacity, graph->location_count);
    memset(builder->states + before, 0, (builder->state_capacity - before) * sizeof *builder->states);
    return (uint32_t)graph->location_count - 1;
}

/* Not simply the first and last event: in a damaged trace times may go back. */
static void extend(struct graph_builder *builder, uint32_t location, int64_t time_ns)
{
    struct location *where = &builder->graph->locations[location];
    if (!builder->states[location].any || time_ns < where->begin_ns)
        where->begin_ns = time_ns;
    if (!builder->states[location].any || time_ns > where->end_ns)
        where->end_ns = time_ns;
    builder->states[location].any = true;
}

static bool is_of_call(const struct graph_builder *builder, const struct event *event)
{
    if (event->kind <= EVENT_LEAVE)
        return builder->graph->defs->states[event->state].is_mpi;
    return event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE || event->kind == EVENT_COLLECTIVE;
}

/* For a thread that has a call or a message: the first of its process takes the place that stands for the process. */
static uint32_t location_of_caller(struct graph_builder *builder, uint32_t home, const struct event *event)
{
    if (!builder->states[home].calls) {
        builder->graph->locations[home].thread = event->thread;
        return home;
    }
    uint32_t location = add_location(builder, event);
    const uint64_t *began = map_find(&builder->quiet, map_pair(event->process, event->thread));
    if (began)
        extend(builder, location, (int64_t)*began);
    return location;
}

/* GRAPH_NONE: the thread has no calls or messages so far, and is not the first of its process. Such threads (OpenMP's,
   a GPU's) are parts of the process: if each were a location, work would be uneven where they help out for a while. */
static uint32_t find_location(struct graph_builder *builder, const struct event *event)
{
    uint64_t key = map_pair(event->process, event->thread);
    uint64_t *known = map_find(&builder->locations, key);
    if (known && builder->graph->locations[*known].thread == event->thread)
        return (uint32_t)*known;
    uint32_t location, home = (uint32_t)*map_put(&builder->homes, event->process, builder->graph->location_count);
    if (home == builder->graph->location_count) {
        location = add_location(builder, event);
    } else if (is_of_call(builder, event)) {
        location = location_of_caller(builder, home, event);
    } else {
        map_put(&builder->quiet, key, (uint64_t)event->time_ns);
        extend(builder, home, event->time_ns);
        return GRAPH_NONE;
    }
    *map_put(&builder->locations, key, location) = location;
    return location;
}

static uint32_t location_of(struct graph_builder *builder, const struct event *event)
{
    /* Events of a location mostly come in a row: remembering the last one saves a look into the map for each. */
    if (builder->recent_location == GRAPH_NONE || builder->recent_process != event->process ||
        builder->recent_thread != event->thread) {
        builder->recent_location = find_location(builder, event);
        builder->recent_process = event->process;
        builder->recent_thread = event->thread;
    }
    return builder->recent_location;
}

/* Kinds of calls */

static uint32_t kind_add(struct graph *graph, uint32_t state, int32_t comm, uint32_t site)
{
    ARRAY_PUSH(graph->kinds, graph->kind_count, graph->kind_capacity, (struct call_kind){state, site, comm});
    return (uint32_t)graph->kind_count - 1;
}

/* If there are too many to distinguish, the first one of the state represents the others. */
static uint32_t kind_find(struct graph_builder *builder, uint32_t state, int32_t comm, uint32_t site)
{
    struct graph *graph = builder->graph;
    /* Room for one plain kind of each state is kept, so that a call's function is always known. */
    bool full = graph->kind_count >= CALL_KINDS - graph->defs->state_count;
    if (full)
        comm = EVENT_UNKNOWN;
    uint64_t *plain = map_put(&builder->kinds, map_pair((uint32_t)comm, state), UINT64_MAX);
    if (*plain == UINT64_MAX)
        *plain = kind_add(graph, state, comm, 0);
    if (site == 0 || full)
        return (uint32_t)*plain;
    /* Site and plain kind make one key: three numbers do not fit into 64 bits. */
    uint64_t *kind = map_put(&builder->site_kinds, map_pair(site, (uint32_t)*plain), UINT64_MAX);
    if (*kind == UINT64_MAX)
        *kind = kind_add(graph, state, comm, site);
    return (uint32_t)*kind;
}

static bool is_kind(const struct call_kind *kind, uint32_t state, int32_t comm, uint32_t site)
{
    return kind->state == state && kind->comm == comm && kind->site == site;
}

/* Programs make few kinds of calls at a time: a table with one place for each hash answers nearly all calls without a
   look into the maps. 0 is a free place. */
static uint32_t kind_of(struct graph_builder *builder, uint32_t state, int32_t comm, uint32_t site)
{
    uint32_t *recent = &builder->recent_kinds[(state ^ (uint32_t)comm << 3 ^ site << 5) % RECENT_KINDS];
    if (*recent == 0 || !is_kind(&builder->graph->kinds[*recent - 1], state, comm, site))
        *recent = kind_find(builder, state, comm, site) + 1;
    return *recent - 1;
}

/* Collectives */

/* True for calls in which all processes of a communicator take part, matched in the order of their calls. */
static bool is_collective(const struct defs *defs, const struct state_def *state)
{
    struct collective collective = collective_of(state);
    /* Without the communicator of the file, it is unknown which calls belong together. */
    if (collective.wait == WAIT_AT_IO && !defs->gives_files)
        return false;
    return collective.stage == STAGE_BLOCKING || collective.stage == STAGE_POSTED || collective.stage == STAGE_SPLIT;
}

static struct state_role role_by_name(const struct defs *defs, const struct state_def *state)
{
    bool collective = is_collective(defs, state);
    return (struct state_role){.known = true,
                               .collective = collective,
                               .on_window = collective_is_on_window(state),
                               .one_sided = !collective && state->class == CLASS_RMA,
                               .split = defs->gives_files && (collective_of(state).stage == STAGE_SPLIT ||
                                                              collective_of(state).stage == STAGE_SPLIT_END),
                               .polls = state_polls(state),
                               .requests = request_role_of(state)};
}

/* In some formats definitions come between events. */
static const struct state_role *role_of(struct graph_builder *builder, uint32_t state)
{
    const struct defs *defs = builder->graph->defs;
    if (state >= builder->role_count) {
        builder->roles = memory_resize(builder->roles, defs->state_count * sizeof *builder->roles);
        memset(&builder->roles[builder->role_count], 0,
               (defs->state_count - builder->role_count) * sizeof *builder->roles);
        builder->role_count = defs->state_count;
    }
    struct state_role *role = &builder->roles[state];
    if (!role->known)
        *role = role_by_name(defs, &defs->states[state]);
    return role;
}

/* True for communicators that are windows. */
static bool is_window(const struct graph_builder *builder, int32_t comm)
{
    return comm >= 0 && builder->graph->defs->comms[comm].window;
}

/* Stores the root and the bytes of the location's latest collective. */
static void note_collective(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    /* The event comes without its call: it belongs to the latest one of its location, if that is a collective. */
    const struct location *where = &builder->graph->locations[location];
    struct packed_call *call = where->count > 0 ? location_packed(where, where->count - 1) : NULL;
    if (!call || !(call->word & CALL_IN_INSTANCE))
        return;
    int64_t bytes = larger(event->bytes_sent, event->bytes_received);
    /* Only a leave can carry MPI_ROOT (enum event_root); elsewhere a negative root is not known. */
    int32_t root = event->tag >= 0 || event->kind == EVENT_LEAVE ? event->tag : EVENT_UNKNOWN;
    /* Unknown bytes are not 0: such a member counts. */
    builder_note_instance(builder, location, call->link, event->comm, root, bytes);
    if (event->bytes_sent == 0)
        call->word |= CALL_GIVES_NOTHING;
    if (event->bytes_received == 0)
        call->word |= CALL_GETS_NOTHING;
}

/* Calls */

static void enter_call(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    struct graph *graph = builder->graph;
    struct location *where = &graph->locations[location];
    /* Links store 1 + an index, and GRAPH_NONE is no index. */
    if (where->count >= GRAPH_NONE - 1 || graph->kind_count >= CALL_KINDS) {
        graph->too_large = true;
        return;
    }
    uint32_t kind = kind_of(builder, event->state, event->comm, event->site);
    struct packed_call *call = graph_add_call(graph, where, event->time_ns, kind);
    const struct state_role *role = role_of(builder, event->state);
    builder->states[location].is_open = true;
    if (role->collective && (!role->on_window || is_window(builder, event->comm))) {
        /* Formats may define a function several times: one name is one stream. */
        uint32_t function = graph->defs->states[event->state].first_of_name;
        call->link = builder_join_instance(builder, location, builder_stream(builder, event->comm, function));
        call->word |= CALL_IN_INSTANCE;
    }
    if (role->one_sided && is_window(builder, event->comm))
        windows_enter(&builder->windows, graph, location, event);
}

static void enter(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    struct location_state *state = &builder->states[location];
    if (!builder->graph->defs->states[event->state].is_mpi)
        return;
    /* MPI calls inside an MPI call (a collective made of sends) are part of it: what they wait for, the outer call
       waits for. */
    if (state->open.depth == 0) {
        state->named.count = 0;
        state->enter_ns = event->time_ns;
        if (polls_enter(&state->polls, builder->graph, &builder->graph->locations[location], event->state,
                        event->time_ns))
            state->is_open = true;
        else
            enter_call(builder, location, event);
    }
    open_states_enter(&state->open, event->state, event->time_ns);
}

/* Some recorders write the site of a call only when it returns. */
static void note_site(struct graph_builder *builder, struct packed_call *call, uint32_t site)
{
    const struct call_kind *kind = &builder->graph->kinds[packed_kind(call)];
    if (site == 0 || kind->site != 0)
        return;
    packed_set_kind(call, kind_of(builder, kind->state, kind->comm, site));
}

static void leave(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    struct graph *graph = builder->graph;
    struct location_state *state = &builder->states[location];
    /* A leave without an enter: it ends nothing. */
    ptrdiff_t at = open_states_find(&state->open, event->state);
    if (at == OPEN_STATES_NONE)
        return;
    open_states_remove(&state->open, at);
    struct location *where = &graph->locations[location];
    if (state->open.depth > 0 || where->count == 0)
        return;
    /* The outermost call is the latest of the location, since nested ones are not stored. */
    struct packed_call *call = location_packed(where, where->count - 1);
    const struct state_role role = *role_of(builder, event->state);
    graph_set_leave(graph, where, where->count - 1, event->time_ns);
    state->is_open = false;
    time_add(&state->polls.naps.in_calls_ns, time_since(state->enter_ns, event->time_ns));
    if (role.polls)
        polls_leave(&state->polls, state->enter_ns, event->time_ns);
    note_site(builder, call, event->site);
    if (graph->defs->states[graph->kinds[packed_kind(call)].state].class == CLASS_PROBE)
        state->probe = (uint32_t)where->count;
    /* First the root and the bytes: operations that requests begin copy them from the call. */
    note_collective(builder, location, event);
    requests_name(&state->named, event);
    if (state->named.count > 0)
        requests_at_leave(builder, location, event);
    if (role.one_sided && is_window(builder, event->comm))
        windows_leave(&builder->windows, graph, location, event);
    if (role.split)
        requests_split(builder, location, event);
}

/* Ranks of the window of the current call. */
static void note_ranks(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    struct graph *graph = builder->graph;
    const struct location *where = &graph->locations[location];
    struct call_kind call = graph->kinds[packed_kind(location_packed(where, where->count - 1))];
    if (event->comm == call.comm && role_of(builder, call.state)->one_sided && is_window(builder, call.comm))
        windows_ranks(&builder->windows, graph, location, call.state, event, builder->arena + event->payload);
}

/* A mark inside a call. */
static void note_mark(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    const struct mark_def *mark = &builder->graph->defs->marks[event->state];
    /* Marks between calls are the program's own. */
    if (builder->states[location].open.depth == 0)
        return;
    if (mark->gives_requests)
        requests_name(&builder->states[location].named, event);
    else if (mark->name && strcmp(mark->name, RANKS_MARK_NAME) == 0 && builder->graph->locations[location].count > 0)
        note_ranks(builder, location, event);
}

/* Messages */

static void attach(struct graph *graph, struct packed_call *call, uint32_t message, bool receive)
{
    struct call_ends ends = packed_ends(graph, call);
    if (receive) {
        if (ends.in)
            chain_set(&graph->next_received, message, ends.in);
        packed_set_in(graph, call, message + 1);
    } else {
        if (ends.out)
            chain_set(&graph->next_sent, message, ends.out);
        packed_set_out(graph, call, message + 1);
    }
}

/* Data may be in transit from the enter of the sending call on, wherever in the call the send is recorded: in bare XML
   at its leave, which may be after the leave of the receive. */
static int64_t may_leave_from(const struct graph *graph, uint32_t location, const struct event *send)
{
    if (graph->locations[location].count == 0)
        return send->time_ns;
    int64_t enter_ns = graph_call(graph, location, (uint32_t)graph->locations[location].count - 1).enter_ns;
    return smaller(enter_ns, send->time_ns);
}

static void note_loose(struct graph_builder *builder, uint32_t location, uint32_t message, int64_t time_ns)
{
    struct graph *graph = builder->graph;
    struct loose_send send = {.location = location, .message = message, .call = GRAPH_NONE, .time_ns = time_ns};
    if (builder->states[location].open.depth > 0)
        send.call = (uint32_t)graph->locations[location].count - 1;
    ARRAY_PUSH(graph->loose_sends, graph->loose_send_count, graph->loose_send_capacity, send);
}

static void message_end(struct graph_builder *builder, uint32_t location, const struct event *event)
{
    struct graph *graph = builder->graph;
    struct location *where = &graph->locations[location];
    /* MPI_PROC_NULL, or a partner that the trace does not record: there is no other end. */
    if (event->partner < 0)
        return;
    /* More than indices can number. */
    if (graph->message_count >= GRAPH_NONE - 1) {
        graph->too_large = true;
        return;
    }
    struct packed_call *call = NULL;
    if (where->count > 0)
        call = location_packed(where, where->count - 1);
    /* The link of a call in a collective is its instance; before the first call of the location there is none. */
    bool receive = event->kind == EVENT_RECEIVE, loose = !call || call->word & CALL_IN_INSTANCE;
    struct event end = *event;
    if (!receive)
        end.time_ns = may_leave_from(graph, location, event);
    uint32_t message =
        channels_meet(&builder->channels, &end, location, loose ? GRAPH_NONE : (uint32_t)where->count - 1);
    if (loose && !receive)
        note_loose(builder, location, message, event->time_ns);
    if (!call)
        return;
    /* The call was known only to complete or post messages of others, and its list can have one kind: its own
       messages are worth more. */
    if (call->word & (receive ? CALL_POSTS : CALL_COMPLETES))
        requests_forget_links(builder, location, receive);
    if (!loose)
        attach(graph, call, message, receive);
    struct location_state *state = &builder->states[location];
    /* A probe finds the message that is received next: the wait for it was in the probe. */
    if (receive && state->probe) {
        struct packed_call *probe = location_packed(where, state->probe - 1);
        if (!packed_ends(graph, probe).in)
            packed_set_in(graph, probe, message + 1);
        state->probe = 0;
    }
}

static void take(struct graph_builder *builder, const struct event *event)
{
    uint32_t location = location_of(builder, event);
    if (location == GRAPH_NONE)
        return;
    extend(builder, location, event->time_ns);
    builder->states[location].calls |= is_of_call(builder, event);
    switch (event->kind) {
    case EVENT_ENTER:
        enter(builder, location, event);
        break;
    case EVENT_LEAVE:
        leave(builder, location, event);
        break;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        message_end(builder, location, event);
        break;
    case EVENT_MARK:
        note_mark(builder, location, event);
        break;
    case EVENT_COLLECTIVE:
        note_collective(builder, location, event);
        break;
    case EVENT_COUNTER:
        if (event->state == builder->asleep && event->value >= 0)
            naps_asleep(&builder->states[location].polls.naps, event);
        break;
    case EVENT_SAMPLE:
        polls_sample(&builder->states[location].polls, event->value);
        break;
    default:
        break;
    }
}

static void take_record(struct graph_builder *builder, const struct event *event, const unsigned char *arena)
{
    if (event->kind == EVENT_COMM_MADE)
        comm_sides_note(&builder->sides, event);
    else if (event->kind == EVENT_NEIGHBOURS)
        graph_note_neighbours(builder->graph, event, arena);
}

static enum status builder_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    ((struct graph_builder *)sink)->arena = batch->arena;
    for (size_t i = 0; i < batch->count; i++)
        if (event_counts(&batch->events[i]))
            take((struct graph_builder *)sink, &batch->events[i]);
        else
            take_record((struct graph_builder *)sink, &batch->events[i], batch->arena);
    return STATUS_OK;
}

struct graph_builder *graph_builder_new(void)
{
    struct graph_builder *builder = memory_new(sizeof *builder);
    builder->graph = builder->channels.graph = memory_new(sizeof *builder->graph);
    builder->sink = (struct sink){.begin = builder_begin, .events = builder_events};
    builder->recent_location = GRAPH_NONE;
    return builder;
}

void graph_builder_use_pool(struct graph_builder *builder)
{
    builder->graph->pool.used = !memory_has_store();
}

struct sink *graph_builder_sink(struct graph_builder *builder)
{
    return &builder->sink;
}

/* The end */

/* Calls that were never left extend to the end of their location: only its last one can. */
static void close_calls(struct graph_builder *builder)
{
    struct graph *graph = builder->graph;
    for (size_t l = 0; l < graph->location_count; l++) {
        struct location *location = &graph->locations[l];
        if (builder->states[l].is_open)
            graph_set_leave(graph, location, location->count - 1, location->end_ns);
        polls_end(&builder->states[l].polls, graph, location);
        graph_end_location(graph, location);
    }
}

struct graph *graph_builder_end_in_parallel(struct graph_builder *builder, unsigned threads)
{
    struct graph *graph = builder->graph;
    close_calls(builder);
    for (size_t i = 0; i < graph->location_count; i++) {
        open_states_free(&builder->states[i].open);
        free(builder->states[i].named.ranges);
    }
    for (size_t i = 0; i < graph->stream_count; i++)
        free(builder->stream_instances[i].instances);
    free(builder->stream_instances);
    free(builder->states);
    free(builder->roles);
    map_clear(&builder->locations);
    map_clear(&builder->homes);
    map_clear(&builder->quiet);
    map_clear(&builder->kinds);
    map_clear(&builder->site_kinds);
    map_clear(&builder->streams);
    comm_sides_clear(&builder->sides);
    map_clear(&builder->turns);
    requests_clear(&builder->requests);
    channels_end(&builder->channels);
    windows_end(&builder->windows, graph);
    /* Before finishing, which needs memory of its own: the lower peak counts for large traces. */
    free(builder);
    graph_finish(graph, threads);
    return graph;
}

struct graph *graph_builder_end(struct graph_builder *builder)
{
    return graph_builder_end_in_parallel(builder, 1);
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    graph_free_storage(graph);
    free(graph->links);
    free(graph->loose_sends);
    map_clear(&graph->far_posts);
    free(graph->channels);
    free(graph->instances);
    free(graph->streams);
    free(graph->prefixes);
    map_clear(&graph->prefix_places);
    graph_free_neighbours(graph);
    graph_free_sides(graph);
    free(graph->operations);
    map_clear(&graph->operation_places);
    free(graph->starts);
    map_clear(&graph->start_places);
    free(graph->collectives);
    free(graph->edges);
    free(graph->edges_by_cause);
    free(graph->kinds);
    wait_table_free(graph);
    free(graph);
}
