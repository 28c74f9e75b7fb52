/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_requests.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "graph/graph_building.h"
#include "graph/graph_storage.h"

#include <ctype.h>
#include <string.h>

enum request_role request_role_of(const struct state_def *state)
{
    const char *name = state->name;
    struct collective collective = collective_of(state);
    if (collective.stage == STAGE_POSTED)
        return REQUESTS_COLLECTIVE;
    if (collective.stage == STAGE_PREPARED)
        return REQUESTS_COLLECTIVE_INIT;
    if (state->class == CLASS_WAIT)
        return REQUESTS_COMPLETE;
    if (state->class != CLASS_P2P)
        return REQUESTS_NONE;
    if (strncmp(name, "MPI_Start", 9) == 0)
        return REQUESTS_START;
    if (strstr(name, "_init"))
        return state->direction == DIRECTION_SEND ? REQUESTS_SEND_INIT : REQUESTS_RECEIVE_INIT;
    /* MPI_Isend, but not MPI_Init: the letter after the I is small. */
    if (strncmp(name, "MPI_I", 5) != 0 || !islower((unsigned char)name[5]))
        return REQUESTS_NONE;
    if (strncmp(name, "MPI_Isendrecv", 13) == 0)
        return REQUESTS_SEND_RECEIVE;
    return state->direction == DIRECTION_SEND ? REQUESTS_SEND : REQUESTS_RECEIVE;
}

void requests_name(struct request_ranges *named, const struct event *event)
{
    /* More than a call can have is damage: each would cost a look. */
    if (event->request == 0 || event->request > INT32_MAX || event->requests > REQUESTS_AT_ONCE_MAX)
        return;
    ARRAY_PUSH(named->ranges, named->count, named->capacity,
               (struct request_range){(uint32_t)event->request, event->requests});
}

/* The current call. */
struct teller {
    struct graph_builder *builder;
    struct graph *graph;
    uint32_t location, index, process;
    struct packed_call *call;
    struct call_kind kind;
    enum request_role role;
    const struct event *leave;
    size_t at; /* next of the messages */
};

static struct request_state *request_find(const struct teller *teller, uint32_t number)
{
    struct requests *requests = &teller->builder->requests;
    const uint64_t *place = map_find(&requests->places, map_pair(teller->process, number));
    return place ? &requests->states[*place] : NULL;
}

/* Starts a new request with this number. */
static struct request_state *request_make(const struct teller *teller, uint32_t number)
{
    struct requests *requests = &teller->builder->requests;
    uint64_t *place = map_put(&requests->places, map_pair(teller->process, number), requests->count);
    if (*place == requests->count)
        ARRAY_PUSH(requests->states, requests->count, requests->capacity, (struct request_state){0});
    struct request_state *request = &requests->states[*place];
    /* Whatever the number meant before: if that was still in progress, its completion is missing from the trace. */
    *request = (struct request_state){.location = teller->location, .call = teller->index, .root = EVENT_UNKNOWN};
    return request;
}

/* The messages of the current call in order of arrival, the reverse of the list's order. None if the list has links of
   other calls: then it is not the call's own. */
static void take_messages(const struct teller *teller, bool receive)
{
    struct requests *requests = &teller->builder->requests;
    const struct message_chain *chain = &teller->graph->next_sent;
    struct call_ends ends = packed_ends(teller->graph, teller->call);
    uint64_t links = CALL_COMPLETES | CALL_IN_INSTANCE;
    uint32_t first = ends.out;
    if (receive) {
        chain = &teller->graph->next_received;
        links = CALL_POSTS | CALL_IN_INSTANCE;
        first = ends.in;
    }
    requests->message_count = 0;
    if (teller->call->word & links)
        return;
    for (uint32_t at = first; at; at = chain_next(chain, at - 1))
        ARRAY_PUSH(requests->messages, requests->message_count, requests->message_capacity, at);
    for (size_t i = 0; i < requests->message_count / 2; i++) {
        uint32_t *low = &requests->messages[i], *high = &requests->messages[requests->message_count - 1 - i],
                 one = *low;
        *low = *high;
        *high = one;
    }
}

/* 1 + the next of those; 0: no more. */
static uint32_t next_message(struct teller *teller)
{
    const struct requests *requests = &teller->builder->requests;
    return teller->at < requests->message_count ? requests->messages[teller->at++] : 0;
}

static struct message_link *link_of(struct graph *graph, uint32_t message)
{
    if (message >= graph->link_count) {
        size_t before = graph->link_count;
        graph->link_count = graph->message_count;
        ARRAY_RESERVE(graph->links, graph->link_capacity, graph->link_count);
        memset(&graph->links[before], 0, (graph->link_count - before) * sizeof *graph->links);
    }
    return &graph->links[message];
}

/* The send of a message of an earlier call completes in this one. */
static void complete_send(const struct teller *teller, uint32_t message)
{
    struct graph *graph = teller->graph;
    struct packed_call *call = teller->call;
    uint32_t first = packed_ends(graph, call).out;
    /* The list of a call holds one kind (CALL_OUT is sent or completed): a call that sends messages of its own keeps
       those. */
    if (call->word & CALL_IN_INSTANCE || (first && !(call->word & CALL_COMPLETES)))
        return;
    /* A damaged trace may complete a send twice: it can be in one list only. */
    struct message_link *link = link_of(graph, message);
    if (link->next_completed)
        return;
    link->next_completed = LINK_END;
    if (first)
        link->next_completed = first;
    packed_set_out(graph, call, message + 1);
    call->word |= CALL_COMPLETES;
}

/* The receive of a message of this call was posted before. */
static void complete_receive(const struct teller *teller, const struct request_state *request, uint32_t message)
{
    struct graph *graph = teller->graph;
    struct packed_call *post = location_packed(&graph->locations[request->location], request->call);
    uint32_t first = packed_ends(graph, post).in;
    /* As above: a call that receives messages of its own (MPI_Sendrecv) keeps those. */
    if (post->word & CALL_IN_INSTANCE || (first && !(post->word & CALL_POSTS)))
        return;
    struct message_link *link = link_of(graph, message);
    if (link->post)
        return;
    if (request->location != teller->location) {
        /* Another thread posted it: a link has only room for a call of the receiver's own location. */
        map_put(&graph->far_posts, message, map_pair(request->location, request->call));
        link->post = LINK_FAR;
    } else {
        link->post = request->call + 1;
    }
    if (first)
        chain_set(&graph->next_posted, message, first);
    packed_set_in(graph, post, message + 1);
    post->word |= CALL_POSTS;
}

/* A collective that was posted moves what its call moves, a persistent one what was said when it was prepared. */
static void begin_operation(const struct teller *teller, struct request_state *request, uint32_t instance, bool started)
{
    struct graph *graph = teller->graph;
    struct operation operation = {.instance = instance - 1,
                                  .location = teller->location,
                                  .call = teller->index,
                                  .done_location = GRAPH_NONE,
                                  .done_call = GRAPH_NONE,
                                  .started = started};
    if (started) {
        operation.gives_nothing = request->gives_nothing;
        operation.gets_nothing = request->gets_nothing;
    } else if (teller->call->word & CALL_IN_INSTANCE) {
        operation.gives_nothing = teller->call->word & CALL_GIVES_NOTHING;
        operation.gets_nothing = teller->call->word & CALL_GETS_NOTHING;
    }
    ARRAY_PUSH(graph->operations, graph->operation_count, graph->operation_capacity, operation);
    request->operation = (uint32_t)graph->operation_count;
}

static void post_message(struct teller *teller, uint32_t number)
{
    struct request_state *request = request_make(teller, number);
    request->sends = teller->role != REQUESTS_RECEIVE;
    request->receives = teller->role != REQUESTS_SEND;
    request->message = request->sends ? next_message(teller) : 0;
    request->active = true;
}

static void post_collective(struct teller *teller, uint32_t number)
{
    if (!(teller->call->word & CALL_IN_INSTANCE))
        return;
    struct request_state *request = request_make(teller, number);
    begin_operation(teller, request, teller->call->link, false);
    request->active = true;
}

static void prepare(struct teller *teller, uint32_t number)
{
    struct request_state *request = request_make(teller, number);
    request->sends = teller->role == REQUESTS_SEND_INIT;
    request->receives = teller->role == REQUESTS_RECEIVE_INIT;
    if (teller->role != REQUESTS_COLLECTIVE_INIT)
        return;
    const struct event *leave = teller->leave;
    /* The communicator and the root are only in the call that prepares: the one that starts has neither. */
    uint32_t function = teller->graph->defs->states[teller->kind.state].first_of_name;
    request->stream = builder_stream(teller->builder, teller->kind.comm, function) + 1;
    request->comm = teller->kind.comm;
    request->root = leave->tag;
    request->bytes = larger(leave->bytes_sent, leave->bytes_received);
    request->gives_nothing = leave->bytes_sent == 0;
    request->gets_nothing = leave->bytes_received == 0;
}

static void start(struct teller *teller, uint32_t number)
{
    struct request_state *request = request_find(teller, number);
    /* A number that was never prepared: the trace begins later, or is damaged. */
    if (!request || request->active || !(request->sends || request->receives || request->stream))
        return;
    request->location = teller->location;
    request->call = teller->index;
    request->message = request->sends ? next_message(teller) : 0;
    request->active = true;
    if (!request->stream)
        return;
    uint32_t instance = builder_join_instance(teller->builder, teller->location, request->stream - 1);
    builder_note_instance(teller->builder, teller->location, instance, request->comm, request->root, request->bytes);
    begin_operation(teller, request, instance, true);
    teller->call->word |= CALL_OPERATES;
}

static void complete(struct teller *teller, uint32_t number)
{
    /* Waiting for an inactive request returns at once (MPI-4.0, 3.7.3). */
    struct request_state *request = request_find(teller, number);
    if (!request || !request->active)
        return;
    request->active = false;
    /* The n-th request that receives belongs to the n-th message received in the call. */
    uint32_t received = request->receives ? next_message(teller) : 0;
    if (received)
        complete_receive(teller, request, received - 1);
    if (request->message)
        complete_send(teller, request->message - 1);
    if (request->operation) {
        struct operation *operation = &teller->graph->operations[request->operation - 1];
        operation->done_location = teller->location;
        operation->done_call = teller->index;
        teller->call->word |= CALL_OPERATES;
    }
    /* The request stays: a persistent one is started again. */
    request->message = request->operation = 0;
}

/* True if the request has one of the messages of the current call. */
static bool has_message(const struct teller *teller, uint32_t number)
{
    const struct request_state *request;
    switch (teller->role) {
    case REQUESTS_SEND:
    case REQUESTS_SEND_RECEIVE:
        return true;
    case REQUESTS_START:
        request = request_find(teller, number);
        return request && !request->active && request->sends;
    case REQUESTS_COMPLETE:
        request = request_find(teller, number);
        return request && request->active && request->receives;
    default:
        return false;
    }
}

/* A call creates one request at a time. */
static uint32_t range_count(const struct teller *teller, const struct request_range *range)
{
    return teller->role == REQUESTS_START || teller->role == REQUESTS_COMPLETE ? range->count : 1;
}

static void take_request(struct teller *teller, uint32_t number)
{
    static void (*const take[])(struct teller *, uint32_t) = {
        [REQUESTS_SEND] = post_message,         [REQUESTS_RECEIVE] = post_message,
        [REQUESTS_SEND_RECEIVE] = post_message, [REQUESTS_COLLECTIVE] = post_collective,
        [REQUESTS_SEND_INIT] = prepare,         [REQUESTS_RECEIVE_INIT] = prepare,
        [REQUESTS_COLLECTIVE_INIT] = prepare,   [REQUESTS_START] = start,
        [REQUESTS_COMPLETE] = complete,
    };
    take[teller->role](teller, number);
}

void requests_at_leave(struct graph_builder *builder, uint32_t location, const struct event *leave)
{
    struct request_ranges *named = &builder->states[location].named;
    struct location *where = &builder->graph->locations[location];
    struct packed_call *call = location_packed(where, where->count - 1);
    struct teller teller = {.builder = builder,
                            .graph = builder->graph,
                            .location = location,
                            .index = (uint32_t)where->count - 1,
                            .process = where->process,
                            .call = call,
                            .kind = builder->graph->kinds[packed_kind(call)],
                            .leave = leave};
    /* The role was examined when the call was entered. */
    teller.role = builder->roles[teller.kind.state].requests;
    size_t wanted = 0;
    if (teller.role == REQUESTS_NONE) {
        named->count = 0;
        return;
    }
    for (size_t i = 0; i < named->count; i++)
        for (uint32_t k = 0; k < range_count(&teller, &named->ranges[i]); k++)
            wanted += has_message(&teller, named->ranges[i].first + k);
    /* If a message is missing from the trace, the requests cannot be matched with messages. */
    builder->requests.message_count = 0;
    if (wanted > 0)
        take_messages(&teller, teller.role == REQUESTS_COMPLETE);
    if (builder->requests.message_count != wanted)
        builder->requests.message_count = 0;
    for (size_t i = 0; i < named->count; i++)
        for (uint32_t k = 0; k < range_count(&teller, &named->ranges[i]); k++)
            take_request(&teller, named->ranges[i].first + k);
    named->count = 0;
}

/* Several were begun on files of one communicator: from then on it is unknown which one a call ends. */
static const uint64_t SEVERAL = UINT64_MAX;

void requests_split(struct graph_builder *builder, uint32_t location, const struct event *leave)
{
    struct graph *graph = builder->graph;
    uint32_t index = (uint32_t)graph->locations[location].count - 1;
    struct packed_call *call = location_packed(&graph->locations[location], index);
    /* By communicator, since the trace has no file handles: one split collective may be active for each handle
       (MPI-4.0, 14.4.5). */
    uint64_t *begun = map_put(&builder->requests.begun, map_pair(leave->process, (uint32_t)leave->comm), 0);
    if (call->word & CALL_IN_INSTANCE) {
        struct operation operation = {.instance = call->link - 1,
                                      .location = location,
                                      .call = index,
                                      .done_location = GRAPH_NONE,
                                      .done_call = GRAPH_NONE};
        ARRAY_PUSH(graph->operations, graph->operation_count, graph->operation_capacity, operation);
        *begun = *begun ? SEVERAL : graph->operation_count;
    } else if (*begun && *begun != SEVERAL) {
        graph->operations[*begun - 1].done_location = location;
        graph->operations[*begun - 1].done_call = index;
        call->word |= CALL_OPERATES;
        *begun = 0;
    }
}

void requests_forget_links(struct graph_builder *builder, uint32_t location, bool receive)
{
    struct graph *graph = builder->graph;
    struct location *where = &graph->locations[location];
    struct packed_call *call = location_packed(where, where->count - 1);
    struct call_ends ends = packed_ends(graph, call);
    uint32_t next;
    for (uint32_t at = receive ? ends.in : ends.out; at; at = next) {
        next = receive ? graph_next_posted(graph, at - 1) : graph_next_completed(graph, at - 1);
        *(receive ? &graph->links[at - 1].post : &graph->links[at - 1].next_completed) = 0;
        if (receive && next)
            chain_set(&graph->next_posted, at - 1, 0);
    }
    if (receive)
        packed_set_in(graph, call, 0);
    else
        packed_set_out(graph, call, 0);
    call->word &= ~(uint64_t)(receive ? CALL_POSTS : CALL_COMPLETES);
}

void requests_clear(struct requests *requests)
{
    map_clear(&requests->places);
    map_clear(&requests->begun);
    free(requests->states);
    free(requests->messages);
}
