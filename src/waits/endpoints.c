/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/endpoints.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait.h"
#include "graph/wait_table.h"

#include <stdlib.h>

/* Number of waits for one process that are examined together; those in the same queue are close. */
enum { TURNS = 4096, OVERLAP = TURNS / 4 };

/* The number of waiters, including this one, that make a queue while another is served. */
enum { QUEUE_LEAST = 2 };

/* The number of turns among which they are searched. */
enum { AHEAD = 256 };

/* A wait that ends with a call of the process for its message. */
struct turn {
    int64_t enter_ns;  /* of the wait */
    int64_t begin_ns;  /* when the process serves it, at the latest */
    int64_t end_ns;    /* enter of the call */
    int64_t waited_ns; /* by the process itself, until then */
    int64_t other_ns;  /* the call waits until then for other processes in any case; INT64_MIN */
    uint32_t location, call;
    bool served; /* begin_ns is the begin of service; otherwise that may be as early as the end of the previous turn */
};

/* The last message that a process received: its sender, and when service of it began. */
struct request {
    uint32_t location; /* GRAPH_NONE: none */
    int64_t begin_ns, waited_ns;
};

/* A call of the process itself that waits for messages, and moves them: it is late where others wait for it. */
struct own_wait {
    int64_t end_ns;
    int64_t before_ns; /* in all such calls until the end */
};

/* A process that others wait for. */
struct endpoint {
    const struct graph *graph;
    const uint32_t
        *completers; /* by message with links: 1 + the call of its sender's location that completes its send */
    int64_t least_ns;
    struct turn turns[TURNS];   /* by their ends */
    size_t count, done;         /* the first `done` are finished, and are kept for those after them */
    struct own_wait *own_waits; /* in order of time; owned */
    size_t own_count, own_capacity;
    struct queues queues;
    size_t capacity;
};

static bool is_one_of(int kind)
{
    return ENDPOINT_KINDS >> kind & 1;
}

/* The first of `count` rows of `size` bytes each that ends at or after a time; `end_ns` is in the first row. */
static size_t first_from(const int64_t *end_ns, size_t count, size_t size, int64_t time_ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const int64_t *end = (const int64_t *)(const void *)((const char *)end_ns + middle * size);
        if (*end < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t turn_from(const struct endpoint *endpoint, int64_t time_ns)
{
    const struct turn *turns = endpoint->turns;
    return endpoint->count > 0 ? first_from(&turns->end_ns, endpoint->count, sizeof *turns, time_ns) : 0;
}

/* True if enough processes other than the one being served wait at that moment. */
static bool is_queue(const struct endpoint *endpoint, size_t first)
{
    int64_t now_ns = endpoint->turns[first].end_ns;
    size_t waiting = 0, end = smaller(first + AHEAD, endpoint->count);
    for (size_t i = first + 1; i < end && waiting < QUEUE_LEAST; i++) {
        const struct turn *turn = &endpoint->turns[i];
        waiting += turn->enter_ns <= now_ns && turn->location != endpoint->turns[first].location;
    }
    return waiting >= QUEUE_LEAST;
}

/* How long the process itself has been in calls that wait for messages, until a time. */
static int64_t own_waits_until(const struct endpoint *endpoint, int64_t time_ns)
{
    const struct own_wait *waits = endpoint->own_waits;
    size_t low = 0;
    if (endpoint->own_count > 0)
        low = first_from(&waits->end_ns, endpoint->own_count, sizeof *waits, time_ns);
    int64_t before_ns = low > 0 ? endpoint->own_waits[low - 1].before_ns : 0;
    if (low == endpoint->own_count)
        return before_ns;
    /* A call in which the time lies counts from its begin to the time. */
    const struct own_wait *next = &endpoint->own_waits[low];
    return larger(before_ns, next->before_ns - time_since(time_ns, next->end_ns));
}

/* A wait that others share with the process ends no earlier than they let it. */
static int64_t not_for_others(const struct turn *turn, int64_t ns)
{
    if (turn->other_ns != INT64_MIN && ns > time_since(turn->other_ns, turn->end_ns))
        ns = time_since(turn->other_ns, turn->end_ns);
    return larger(ns, INT64_C(0));
}

/* How long the waiter of a turn queues behind others, and behind those that the process itself waits for. */
static struct queued queued_in(const struct endpoint *endpoint, size_t index)
{
    const struct turn *turn = &endpoint->turns[index];
    struct queued queued = {.location = turn->location, .call = turn->call};
    size_t first = turn_from(endpoint, turn->enter_ns);
    int64_t from_ns = larger(turn->begin_ns, turn->enter_ns), to_ns = from_ns;
    if (first < index && is_queue(endpoint, first)) {
        const struct turn *ahead = &endpoint->turns[first];
        from_ns = larger(ahead->begin_ns, turn->enter_ns);
        to_ns = turn->served ? turn->begin_ns : turn[-1].end_ns;
        queued.ns = not_for_others(turn, time_since(from_ns, to_ns) - (turn->waited_ns - ahead->waited_ns));
    }
    int64_t before_ns = own_waits_until(endpoint, from_ns) - own_waits_until(endpoint, turn->enter_ns);
    queued.behind_ns = larger(queued.ns, not_for_others(turn, before_ns + time_since(from_ns, to_ns)));
    return queued;
}

/* Reports the turns up to `end`. */
static void report(struct endpoint *endpoint, uint32_t location, size_t end)
{
    for (; endpoint->done < end; endpoint->done++) {
        struct queued queued = queued_in(endpoint, endpoint->done);
        queued.cause_location = location;
        if (queued.ns < endpoint->least_ns)
            queued.ns = 0;
        if (queued.behind_ns >= endpoint->least_ns && queued.behind_ns > 0)
            ARRAY_PUSH(endpoint->queues.queued, endpoint->queues.count, endpoint->capacity, queued);
    }
}

/* Half of them are kept: later ones may have queued behind them. */
static void make_room(struct endpoint *endpoint, uint32_t location)
{
    size_t gone = TURNS / 2;
    report(endpoint, location, TURNS - OVERLAP);
    for (size_t i = gone; i < TURNS; i++)
        endpoint->turns[i - gone] = endpoint->turns[i];
    endpoint->count -= gone;
    endpoint->done -= gone;
}

/* When the call's waits for processes other than the location end; INT64_MIN: there are none. Collectives that it also
   completes are not examined: its end is used. */
static int64_t done_with_others_ns(const struct endpoint *endpoint, uint32_t location, const struct call *call)
{
    const struct graph *graph = endpoint->graph;
    int64_t latest_ns = call->operates ? call->leave_ns : INT64_MIN;
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_location != GRAPH_NONE && m.send_location != location)
            latest_ns = larger(latest_ns, graph_call(graph, m.send_location, m.send_call).enter_ns);
    }
    for (uint32_t at = call->completed; at; at = graph_next_completed(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.receive_location == GRAPH_NONE || m.receive_location == location)
            continue;
        struct post post = graph_post(graph, at - 1, &m);
        if (post.location != GRAPH_NONE)
            latest_ns = larger(latest_ns, graph_call(graph, post.location, post.call).enter_ns);
    }
    return latest_ns;
}

/* True if the other call has such a wait of the turn's length: what it waits for, which the table does not have, is
   only looked for then. */
static bool waits_until(const struct graph *graph, const struct turn *turn, const struct call *other)
{
    return is_one_of(wait_kind_in(graph, turn->location, turn->call)) &&
           wait_ns_in(graph, turn->location, turn->call) == time_since(other->enter_ns, turn->end_ns);
}

/* The wait of a call at the other end of a message, if it ends with call `index` of the location. */
static void meet(struct endpoint *endpoint, uint32_t location, uint32_t index, const struct turn *turn)
{
    if (turn->location == GRAPH_NONE || turn->location == location)
        return;
    struct call other = graph_call(endpoint->graph, turn->location, turn->call);
    if (other.enter_ns >= turn->end_ns || other.leave_ns <= turn->end_ns)
        return;
    if (!waits_until(endpoint->graph, turn, &other))
        return;
    struct wait wait = wait_of(endpoint->graph, turn->location, turn->call);
    if (wait.cause_location != location || wait.cause_call != index || wait.until_ns != turn->end_ns)
        return;
    struct turn *last = endpoint->count > 0 ? &endpoint->turns[endpoint->count - 1] : NULL;
    /* Happens if one call ends a wait twice, or clocks go back. */
    if (last && ((last->location == turn->location && last->call == turn->call) || last->end_ns > turn->end_ns))
        return;
    if (endpoint->count == TURNS)
        make_room(endpoint, location);
    last = &endpoint->turns[endpoint->count++];
    *last = *turn;
    last->enter_ns = other.enter_ns;
    last->other_ns = done_with_others_ns(endpoint, location, &other);
}

/* Finds the wait for the process to receive the message: in the call that sends it, or the one that completes the send.
 */
static void meet_sender(struct endpoint *endpoint, uint32_t location, uint32_t index, const struct call *call,
                        int64_t waited_ns, uint32_t message)
{
    struct message m = graph_message(endpoint->graph, message);
    uint32_t later = graph_completes_later(endpoint->graph, message) ? endpoint->completers[message] : 0;
    struct turn turn = {.begin_ns = call->enter_ns,
                        .end_ns = call->enter_ns,
                        .waited_ns = waited_ns,
                        .location = m.send_location,
                        .call = later ? later - 1 : m.send_call,
                        .served = true};
    meet(endpoint, location, index, &turn);
}

/* Finds waits for the process to receive, by the calls that receive or post the receive. */
static void meet_senders(struct endpoint *endpoint, uint32_t location, uint32_t index, const struct call *call,
                         int64_t waited_ns)
{
    for (uint32_t at = call->received; at; at = graph_next_received(endpoint->graph, at - 1))
        if (!graph_posted_before(endpoint->graph, at - 1))
            meet_sender(endpoint, location, index, call, waited_ns, at - 1);
    for (uint32_t at = call->posted; at; at = graph_next_posted(endpoint->graph, at - 1))
        meet_sender(endpoint, location, index, call, waited_ns, at - 1);
}

/* Finds waits for the process to send. */
static void meet_receivers(struct endpoint *endpoint, uint32_t location, uint32_t index, const struct call *call,
                           int64_t waited_ns, const struct request *request)
{
    struct message m;
    for (uint32_t at = call->sent; at; at = graph_next_sent(endpoint->graph, at - 1)) {
        m = graph_message(endpoint->graph, at - 1);
        struct turn turn = {.begin_ns = call->enter_ns,
                            .end_ns = call->enter_ns,
                            .waited_ns = waited_ns,
                            .location = m.receive_location,
                            .call = m.receive_call};
        if (m.receive_location == request->location) {
            turn.served = true;
            turn.begin_ns = request->begin_ns;
            turn.waited_ns = request->waited_ns;
        }
        meet(endpoint, location, index, &turn);
    }
}

static void find_own_waits(struct endpoint *endpoint, uint32_t location)
{
    int64_t all_ns = 0;
    for (uint32_t i = 0; i < endpoint->graph->locations[location].count; i++) {
        if (!is_one_of(wait_kind_in(endpoint->graph, location, i)))
            continue;
        struct call call = graph_call(endpoint->graph, location, i);
        time_add(&all_ns, time_since(call.enter_ns, call.leave_ns));
        ARRAY_PUSH(endpoint->own_waits, endpoint->own_count, endpoint->own_capacity,
                   (struct own_wait){call.leave_ns, all_ns});
    }
}

static void visit(struct endpoint *endpoint, uint32_t location)
{
    const struct graph *graph = endpoint->graph;
    struct request request = {.location = GRAPH_NONE};
    int64_t waited_ns = 0;
    endpoint->count = endpoint->done = endpoint->own_count = 0;
    find_own_waits(endpoint, location);
    for (uint32_t i = 0; i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        meet_senders(endpoint, location, i, &call, waited_ns);
        meet_receivers(endpoint, location, i, &call, waited_ns, &request);
        int64_t own_ns = wait_ns_in(graph, location, i);
        time_add(&waited_ns, own_ns);
        if (call.received)
            request = (struct request){graph_message(graph, call.received - 1).send_location, call.enter_ns + own_ns,
                                       waited_ns};
    }
    report(endpoint, location, endpoint->count);
}

static int by_place(const void *a, const void *b)
{
    const struct queued *left = a, *right = b;
    if (left->location != right->location)
        return order_by(left->location, right->location);
    return order_by(left->call, right->call);
}

/* By message with links: 1 + the call of its sender's location that completes its send; 0: none. free() it. */
static uint32_t *completers_of(const struct graph *graph)
{
    uint32_t *completers = memory_new(graph->link_count * sizeof *completers);
    for (uint32_t location = 0; location < graph->location_count && graph->link_count > 0; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            for (uint32_t at = call.completed; at; at = graph_next_completed(graph, at - 1))
                if (graph_message(graph, at - 1).send_location == location)
                    completers[at - 1] = i + 1;
        }
    return completers;
}

struct queues queues_of(const struct graph *graph, const bool *endpoints, int64_t least_ns)
{
    struct endpoint *endpoint = memory_new(sizeof *endpoint);
    uint32_t *completers = completers_of(graph);
    endpoint->graph = graph;
    endpoint->completers = completers;
    endpoint->least_ns = least_ns;
    for (uint32_t location = 0; location < graph->location_count && graph->location_count > QUEUE_LEAST + 1; location++)
        if (!endpoints || endpoints[location])
            visit(endpoint, location);
    struct queues queues = endpoint->queues;
    if (queues.count > 0)
        qsort(queues.queued, queues.count, sizeof *queues.queued, by_place);
    free(completers);
    free(endpoint->own_waits);
    free(endpoint);
    return queues;
}

/* The locations that one has messages with, up to those that a queue needs beside it: one is served, the others wait.
 */
struct partners {
    uint32_t locations[QUEUE_LEAST + 1];
    size_t count;
};

static void add_partner(struct partners *partners, uint32_t location)
{
    for (size_t i = 0; i < partners->count; i++)
        if (partners->locations[i] == location)
            return;
    if (partners->count <= QUEUE_LEAST)
        partners->locations[partners->count++] = location;
}

bool queues_possible(const struct graph *graph, const bool *endpoints)
{
    struct partners *partners = memory_new(graph->location_count * sizeof *partners);
    bool possible = false;
    for (size_t i = 0; i < graph->channel_count; i++) {
        uint32_t from = graph->channels[i].send_location, to = graph->channels[i].receive_location;
        if (from == to || from == GRAPH_NONE || to == GRAPH_NONE)
            continue;
        add_partner(&partners[from], to);
        add_partner(&partners[to], from);
    }
    for (size_t i = 0; i < graph->location_count; i++)
        possible |= (!endpoints || endpoints[i]) && partners[i].count > QUEUE_LEAST;
    free(partners);
    return possible;
}

void queues_clear(struct queues *queues)
{
    free(queues->queued);
    *queues = (struct queues){0};
}

size_t *queues_by_location(const struct queues *queues, size_t locations)
{
    size_t *at = memory_new(locations * sizeof *at), next = 0;
    for (size_t location = 0; location < locations; location++) {
        at[location] = next;
        while (next < queues->count && queues->queued[next].location == location)
            next++;
    }
    return at;
}
