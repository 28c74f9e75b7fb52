/* SPDX-License-Identifier: BSD-3-Clause */
#include "clocks/causal_gates.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"
#include "graph/window_edges.h"

#include <string.h>

enum causal_counts causal_counts_of(const struct state_def *state)
{
    static const char scatter[] = "educe_scatter"; /* R, or Ir */
    static const char *const suffixes[] = {"_c", "_init"};
    const char *name = state->name;
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t tail = strlen(suffixes[i]);
        if (length > tail && memcmp(name + length - tail, suffixes[i], tail) == 0)
            length -= tail;
    }
    size_t tail = sizeof scatter - 1;
    if (length > tail && memcmp(name + length - tail, scatter, tail) == 0)
        return COUNTS_OWN;
    if (length == 0 || (name[length - 1] != 'v' && name[length - 1] != 'w'))
        return COUNTS_SAME;
    return strstr(name, "lltoall") ? COUNTS_PAIRS : COUNTS_OWN;
}

/* A process in a collective. */
struct member {
    uint32_t location, call;           /* the call that enters it */
    uint32_t done_location, done_call; /* the call that leaves it; GRAPH_NONE: not known */
    bool gives, gets;                  /* what others wait for; something that it waits for */
    uint8_t side;                      /* of an inter-communicator */
    struct causal_bytes bytes;         /* where counts differ */
};

struct edge {
    uint32_t from, to;
};

struct maker {
    const struct graph *graph;
    struct causality *causality;
    const struct causal_placer *placer;
    struct member *members; /* by instance, and there by location */
    size_t *first;          /* of an instance */
    struct edge *edges;     /* between gates of the current instance */
    size_t edge_count, edge_capacity;
};

/* Members */

/* False for calls without a guarantee: see causal_calls.h. */
static bool binds(const struct graph *graph, const struct instance *instance)
{
    const struct state_def *state = &graph->defs->states[graph->streams[instance->stream].state];
    return instance->complete && (state->class == CLASS_COLLECTIVE || state->class == CLASS_SYNC);
}

static struct member *member_of(const struct maker *maker, uint32_t instance, uint32_t location)
{
    size_t low = maker->first[instance], high = maker->first[instance + 1], end = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maker->members[middle].location < location)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || maker->members[low].location != location)
        return NULL;
    return &maker->members[low];
}

static void add_member(struct maker *maker, size_t *filled, uint32_t index_of_instance, struct member member)
{
    const struct graph *graph = maker->graph;
    const struct instance *instance = &graph->instances[index_of_instance];
    if (!collective_moves_data(graph_collective_of(graph, instance)))
        member.gives = member.gets = true;
    if (graph->streams[instance->stream].sided)
        member.side = (uint8_t)graph_side_of(graph, instance, member.location);
    /* Counts of its own: a member without bytes neither gives nor gets, and no wait is claimed for it. */
    if (causal_counts_of(&graph->defs->states[graph->streams[instance->stream].state]) != COUNTS_SAME) {
        member.bytes = maker->placer->bytes(maker->placer->context, member.location, member.call);
        member.gives = member.bytes.sent > 0;
        member.gets = member.bytes.received > 0;
    }
    maker->members[maker->first[index_of_instance] + filled[index_of_instance]++] = member;
}

/* A non-blocking one is left in the call that completes it. */
static void add_calls(struct maker *maker, size_t *filled)
{
    const struct graph *graph = maker->graph;
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            if (!call.instance)
                continue;
            bool waits = graph_collective(graph, &call).stage == STAGE_BLOCKING;
            add_member(maker, filled, call.instance - 1,
                       (struct member){.location = location,
                                       .call = i,
                                       .done_location = waits ? location : (uint32_t)GRAPH_NONE,
                                       .done_call = waits ? i : (uint32_t)GRAPH_NONE,
                                       .gives = !call.gives_nothing,
                                       .gets = !call.gets_nothing});
        }
}

static void add_operations(struct maker *maker, size_t *filled)
{
    const struct graph *graph = maker->graph;
    for (size_t i = 0; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        add_member(maker, filled, operation->instance,
                   (struct member){.location = operation->location,
                                   .call = operation->call,
                                   .done_location = operation->done_location,
                                   .done_call = operation->done_call,
                                   .gives = !operation->gives_nothing,
                                   .gets = !operation->gets_nothing});
    }
    for (size_t i = 0; i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (operation->started)
            continue;
        struct member *member = member_of(maker, operation->instance, operation->location);
        if (!member)
            continue;
        member->done_location = operation->done_location;
        member->done_call = operation->done_call;
    }
}

static void find_members(struct maker *maker)
{
    const struct graph *graph = maker->graph;
    size_t *filled = memory_new(graph->instance_count * sizeof *filled);
    maker->first = memory_new((graph->instance_count + 1) * sizeof *maker->first);
    for (size_t i = 0; i < graph->instance_count; i++)
        maker->first[i + 1] = maker->first[i] + graph->instances[i].count;
    maker->members = memory_new(maker->first[graph->instance_count] * sizeof *maker->members);
    add_calls(maker, filled);
    add_operations(maker, filled);
    free(filled);
}

/* Gates */

static uint32_t add_gate(struct maker *maker)
{
    struct causality *causality = maker->causality;
    ARRAY_PUSH(
        causality->gates, causality->gate_count, causality->gate_capacity,
        (struct causal_gate){.call = causality->call_count & INT32_MAX, .next = (uint32_t)causality->next_count});
    causality->too_large |= causality->gate_count >= INT32_MAX;
    return (uint32_t)causality->gate_count - 1;
}

static void enters(struct maker *maker, uint32_t gate, const struct member *member)
{
    maker->placer->point(maker->placer->context, gate, member->location, member->call, false);
}

static void leaves(struct maker *maker, uint32_t gate, const struct member *member)
{
    if (member->done_call != GRAPH_NONE)
        maker->placer->point(maker->placer->context, gate, member->done_location, member->done_call, true);
}

/* The processes waited for, and those that wait, at one gate. */
struct parts {
    bool (*gives)(const struct member *member, const struct parts *parts);
    bool (*gets)(const struct member *member, const struct parts *parts);
    const struct member *root;
    int from, to; /* sides */
};

static bool all_give(const struct member *member, const struct parts *parts)
{
    return member->gives && member->side == parts->from;
}

static bool all_get(const struct member *member, const struct parts *parts)
{
    return member->gets && member->side == parts->to;
}

static bool root_gives(const struct member *member, const struct parts *parts)
{
    return member->gives && member == parts->root;
}

static bool root_gets(const struct member *member, const struct parts *parts)
{
    return member->gets && member == parts->root;
}

static bool others_give(const struct member *member, const struct parts *parts)
{
    return member != parts->root && all_give(member, parts);
}

static bool others_get(const struct member *member, const struct parts *parts)
{
    return member != parts->root && all_get(member, parts);
}

static bool bind_parts(struct maker *maker, uint32_t instance, const struct parts *parts)
{
    struct member *members = maker->members + maker->first[instance];
    size_t count = maker->first[instance + 1] - maker->first[instance], givers = 0, getters = 0;
    /* A leave that is missing from the trace is bound by nothing. */
    for (size_t i = 0; i < count; i++) {
        givers += parts->gives(&members[i], parts);
        getters += parts->gets(&members[i], parts) && members[i].done_call != GRAPH_NONE;
    }
    if (givers == 0 || getters == 0)
        return false;
    uint32_t gate = add_gate(maker);
    for (size_t i = 0; i < count; i++) {
        if (parts->gives(&members[i], parts))
            enters(maker, gate, &members[i]);
        if (parts->gets(&members[i], parts))
            leaves(maker, gate, &members[i]);
    }
    return true;
}

static bool bind_rooted(struct maker *maker, uint32_t index, bool from_root)
{
    const struct instance *instance = &maker->graph->instances[index];
    if (instance->root_location == GRAPH_NONE)
        return false;
    const struct member *root = member_of(maker, index, instance->root_location);
    if (!root)
        return false;
    /* On an inter-communicator the root's own group takes no part: data go from it, or come to it, across. */
    int beside = root->side, across = beside;
    if (maker->graph->streams[instance->stream].sided)
        across = 1 - beside;
    struct parts parts = {others_give, root_gets, root, across, beside};
    if (from_root)
        parts = (struct parts){root_gives, others_get, root, beside, across};
    return bind_parts(maker, index, &parts);
}

static bool bind_all(struct maker *maker, uint32_t index)
{
    const struct instance *instance = &maker->graph->instances[index];
    if (!maker->graph->streams[instance->stream].sided) {
        bool bound = bind_parts(maker, index, &(struct parts){all_give, all_get, NULL, 0, 0});
        /* Only where all wait for all, and in the call itself, the leaves are near each other: a measurement of the
           clocks. */
        if (bound && graph_collective_of(maker->graph, instance).stage == STAGE_BLOCKING)
            maker->causality->gates[maker->causality->gate_count - 1].together = true;
        return bound;
    }
    bool one = bind_parts(maker, index, &(struct parts){all_give, all_get, NULL, 0, 1});
    bool other = bind_parts(maker, index, &(struct parts){all_give, all_get, NULL, 1, 0});
    return one || other;
}

/* The bytes that all send, which equal the bytes that all receive; -1: they differ, or are not recorded for all. */
static int64_t sum_bytes(const struct member *members, size_t count)
{
    int64_t sent = 0, received = 0;
    for (size_t i = 0; i < count; i++)
        if (members[i].bytes.sent < 0 || members[i].bytes.received < 0 ||
            __builtin_add_overflow(sent, members[i].bytes.sent, &sent) ||
            __builtin_add_overflow(received, members[i].bytes.received, &received))
            return -1;
    return sent == received ? sent : -1;
}

/* True if some bytes must go from one to the other: it receives more than all the others send. */
static bool must_give(const struct member *from, const struct member *to, int64_t sum)
{
    return from != to && to->bytes.received > sum - from->bytes.sent;
}

static const struct member *largest(const struct member *members, size_t count, bool giver)
{
    const struct member *most = members;
    for (size_t i = 1; i < count; i++) {
        bool more = members[i].bytes.received > most->bytes.received;
        if (giver)
            more = members[i].bytes.sent > most->bytes.sent;
        if (more)
            most = &members[i];
    }
    return most;
}

/* Makes a gate for the processes that wait for `from`, or that `to` waits for; the other is NULL. */
static bool bind_pairs_of(struct maker *maker, uint32_t index, const struct member *from, const struct member *to,
                          int64_t sum)
{
    struct member *members = maker->members + maker->first[index];
    size_t count = maker->first[index + 1] - maker->first[index];
    uint32_t gate = CAUSAL_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct member *giver = from ? from : &members[i], *getter = to ? to : &members[i];
        if (!must_give(giver, getter, sum) || getter->done_call == GRAPH_NONE)
            continue;
        if (gate == CAUSAL_NONE) {
            gate = add_gate(maker);
            if (from)
                enters(maker, gate, from);
            else
                leaves(maker, gate, to);
        }
        if (from)
            leaves(maker, gate, getter);
        else
            enters(maker, gate, giver);
    }
    return gate != CAUSAL_NONE;
}

/* The amounts per pair are not known. If one process must send to another, the bytes it sends plus those the other
   receives exceed the total: it sends the most, or the other receives the most. */
static bool bind_pairs(struct maker *maker, uint32_t index)
{
    const struct member *members = maker->members + maker->first[index];
    size_t count = maker->first[index + 1] - maker->first[index];
    int64_t sum = sum_bytes(members, count);
    if (maker->graph->streams[maker->graph->instances[index].stream].sided || sum < 0)
        return false;
    bool from = bind_pairs_of(maker, index, largest(members, count, true), NULL, sum);
    bool to = bind_pairs_of(maker, index, NULL, largest(members, count, false), sum);
    return from || to;
}

/* Each waits for those of lower ranks: a row of gates, each of which leads to the next. */
static bool bind_prefix(struct maker *maker, uint32_t index)
{
    const struct graph *graph = maker->graph;
    const struct prefix *rows = graph->prefixes + graph->instances[index].rows;
    struct causality *causality = maker->causality;
    for (uint32_t i = 0; i + 1 < graph->instances[index].count; i++) {
        const struct member *giver = member_of(maker, index, rows[i].location);
        const struct member *getter = member_of(maker, index, rows[i + 1].location);
        uint32_t gate = add_gate(maker);
        if (i + 2 < graph->instances[index].count)
            ARRAY_PUSH(causality->nexts, causality->next_count, causality->next_capacity, gate + 1);
        if (giver && giver->gives)
            enters(maker, gate, giver);
        if (getter && getter->gets)
            leaves(maker, gate, getter);
    }
    return true;
}

static int by_gate(const void *a, const void *b)
{
    const struct edge *left = a, *right = b;
    int order = order_by(left->from, right->from);
    return order ? order : order_by(left->to, right->to);
}

/* Makes gates for the senders: each leads to those of the processes that wait for it. */
static void add_givers(struct maker *maker, uint32_t index, uint32_t first)
{
    const struct instance *instance = &maker->graph->instances[index];
    struct causality *causality = maker->causality;
    size_t at = 0;
    if (maker->edge_count > 0)
        qsort(maker->edges, maker->edge_count, sizeof *maker->edges, by_gate);
    for (uint32_t i = 0; i < instance->count; i++) {
        const struct neighbour *row = &maker->graph->neighbours[instance->rows + i];
        const struct member *member = member_of(maker, index, row->location);
        uint32_t gate = add_gate(maker);
        if (member && member->gives)
            enters(maker, gate, member);
        for (; at < maker->edge_count && maker->edges[at].from == i; at++)
            ARRAY_PUSH(causality->nexts, causality->next_count, causality->next_capacity,
                       first + instance->count + maker->edges[at].to);
    }
}

/* Makes a gate for each sender, followed by one for each receiver: neighbourhoods overlap. */
static bool bind_neighbours(struct maker *maker, uint32_t index)
{
    const struct graph *graph = maker->graph;
    const struct instance *instance = &graph->instances[index];
    uint32_t first = (uint32_t)maker->causality->gate_count, source, count = 0;
    maker->edge_count = 0;
    for (uint32_t i = 0; i < instance->count; i++) {
        struct source_walk walk = graph_sources(graph, index, instance->rows + i);
        const struct member *member = member_of(maker, index, graph->neighbours[instance->rows + i].location);
        while (walk.known && member && member->gets && graph_next_source(graph, &walk, &source))
            if (source != GRAPH_NONE)
                ARRAY_PUSH(maker->edges, maker->edge_count, maker->edge_capacity,
                           (struct edge){source - instance->rows, i});
        count += walk.known;
    }
    if (count > 0)
        add_givers(maker, index, first);
    for (uint32_t i = 0; count > 0 && i < instance->count; i++) {
        const struct member *member = member_of(maker, index, graph->neighbours[instance->rows + i].location);
        uint32_t gate = add_gate(maker);
        if (member && member->gets)
            leaves(maker, gate, member);
    }
    return count > 0;
}

static bool bind_instance(struct maker *maker, uint32_t index)
{
    const struct instance *instance = &maker->graph->instances[index];
    const struct state_def *state = &maker->graph->defs->states[maker->graph->streams[instance->stream].state];
    bool pairs = causal_counts_of(state) == COUNTS_PAIRS;
    switch ((enum collective_shape)graph_collective_of(maker->graph, instance).shape) {
    case SHAPE_ALL_TO_ALL:
        return pairs ? bind_pairs(maker, index) : bind_all(maker, index);
    case SHAPE_ONE_TO_ALL:
    case SHAPE_ALL_TO_ONE:
        return bind_rooted(maker, index, graph_collective_of(maker->graph, instance).shape == SHAPE_ONE_TO_ALL);
    case SHAPE_PREFIX:
        return bind_prefix(maker, index);
    case SHAPE_NEIGHBOURS:
        return !pairs && bind_neighbours(maker, index);
    default:
        return false;
    }
}

/* One-sided: an exposure ends when the accesses have. */
static void bind_windows(struct maker *maker)
{
    const struct graph *graph = maker->graph;
    const struct causal_placer *placer = maker->placer;
    uint32_t gate = CAUSAL_NONE;
    const struct window_edge *last = NULL;
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct window_edge *edge = &graph->edges[i];
        if (edge->kind != WAIT_LATE_COMPLETE)
            continue;
        if (!last || last->location != edge->location || last->call != edge->call) {
            gate = add_gate(maker);
            maker->causality->call_count++;
            placer->point(placer->context, gate, edge->location, edge->call, true);
        }
        placer->point(placer->context, gate, edge->cause_location, edge->cause_call, false);
        last = edge;
    }
}

void causal_gates_make(const struct graph *graph, struct causality *causality, const struct causal_placer *placer)
{
    struct maker maker = {.graph = graph, .causality = causality, .placer = placer};
    find_members(&maker);
    for (uint32_t i = 0; i < graph->instance_count; i++)
        causality->call_count += binds(graph, &graph->instances[i]) && bind_instance(&maker, i);
    bind_windows(&maker);
    free(maker.members);
    free(maker.first);
    free(maker.edges);
}
