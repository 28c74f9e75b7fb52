/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/by_location.h"

#include "core/event_pack.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/open_states.h"
#include "core/sorter.h"
#include "core/varint.h"

#include <string.h>

/* A thread of a process, while events arrive. */
struct arrival {
    struct open_states open;
    int64_t last_ns;
    bool any;
};

/* The n-th send of a channel and its n-th receive are one message. */
struct message_ends {
    uint32_t sent, received;
    uint64_t first; /* number of its first message */
};

/* What the sorter keeps of a span; texts are among the names. */
struct kept_span {
    int64_t to_ns;
    uint32_t name, cause;
};

enum { RECORD_EVENT, RECORD_SPAN };
enum { PACKED_MOST = 1 + 2 * VARINT_MAX + EVENT_PACK_MAX };

struct by_location {
    struct writer *writer;
    struct sorter *sorter;
    struct map places; /* (process, thread) -> arrival */
    struct arrival *arrivals;
    size_t arrival_count, arrival_capacity;
    struct map comm_pairs, routes, lines,
        channels; /* a channel is a route (sender, receiver) and a line (comms, tag) */
    struct message_ends *ends;
    size_t end_count, end_capacity;
    uint64_t of_unknown, of_nobody; /* ends of an unknown partner, and of MPI_PROC_NULL */
    int *lanes;                     /* by state */
    size_t lane_capacity;
    uint32_t *lane_states; /* by lane */
    size_t lane_count, lane_state_capacity;
    const char **names; /* of spans */
    size_t name_count, name_capacity;
    unsigned char *packed;
    size_t packed_capacity;
    int64_t least_ns, largest_ns;
    bool any;
    uint32_t processes, threads;
};

struct by_location *by_location_new(struct writer *writer)
{
    struct by_location *by = memory_new(sizeof *by);
    by->writer = writer;
    by->sorter = sorter_new(WRITER_SORT_MEMORY);
    by->threads = 1;
    ARRAY_PUSH(by->lane_states, by->lane_count, by->lane_state_capacity, 0);
    return by;
}

void by_location_free(struct by_location *by)
{
    if (!by)
        return;
    sorter_free(by->sorter);
    for (size_t i = 0; i < by->arrival_count; i++)
        open_states_free(&by->arrivals[i].open);
    map_clear(&by->places);
    map_clear(&by->comm_pairs);
    map_clear(&by->routes);
    map_clear(&by->lines);
    map_clear(&by->channels);
    free(by->arrivals);
    free(by->ends);
    free(by->lanes);
    free(by->lane_states);
    free(by->names);
    free(by->packed);
    free(by);
}

static struct arrival *arrival_of(struct by_location *by, const struct event *event)
{
    uint64_t *index = map_put(&by->places, map_pair(event->process, event->thread), by->arrival_count);
    if (*index == by->arrival_count) {
        ARRAY_PUSH(by->arrivals, by->arrival_count, by->arrival_capacity, (struct arrival){0});
        if (event->process >= by->processes)
            by->processes = event->process + 1;
        if (event->thread >= by->threads)
            by->threads = event->thread + 1;
    }
    return &by->arrivals[*index];
}

int by_location_lane(const struct by_location *by, uint32_t state)
{
    if (state < by->lane_capacity)
        return by->lanes[state];
    return 0;
}

/* Lane 0 is that of all states that cross no other. A lane belongs to a state for the whole trace: it has to look
   the same on all threads. */
static void give_lane(struct by_location *by, uint32_t state)
{
    size_t had = by->lane_capacity;
    ARRAY_RESERVE(by->lanes, by->lane_capacity, (size_t)state + 1);
    if (by->lane_capacity > had)
        memset(by->lanes + had, 0, (by->lane_capacity - had) * sizeof *by->lanes);
    by->lanes[state] = (int)by->lane_count;
    ARRAY_PUSH(by->lane_states, by->lane_count, by->lane_state_capacity, state);
}

/* A state is left while later ones are open: of those on its lane one must go, rather the program's than MPI's.
   Viewers close the innermost state of a track: states that do not nest have to be on different ones. */
static void part_crossing(struct by_location *by, const struct open_states *open, ptrdiff_t left)
{
    const struct state_def *states = by->writer->defs->states;
    uint32_t state = open->frames[left].state;
    for (size_t i = (size_t)left + 1; i < open->depth; i++) {
        uint32_t later = open->frames[i].state;
        if (by_location_lane(by, later) == by_location_lane(by, state))
            give_lane(by, states[later].is_mpi && !states[state].is_mpi ? state : later);
    }
}

/* False for an enter or leave that has to be left out. While events arrive, in any order of locations: the sorter
   then has only what can be drawn. */
static bool take_state(struct by_location *by, struct arrival *arrival, const struct event *event)
{
    if (event->kind == EVENT_ENTER) {
        bool room = open_states_enter(&arrival->open, event->state, event->time_ns) != NULL;
        writer_lose(by->writer, "states nested too deep", !room);
        return room;
    }
    ptrdiff_t left = open_states_find(&arrival->open, event->state);
    if (left == OPEN_STATES_NONE) {
        writer_lose(by->writer, "ends of states without a begin", 1);
        return false;
    }
    if (left + 1 < (ptrdiff_t)arrival->open.depth)
        part_crossing(by, &arrival->open, left);
    open_states_remove(&arrival->open, left);
    return true;
}

static uint32_t number_of(struct map *map, uint32_t high, uint32_t low)
{
    return (uint32_t)*map_put(map, map_pair(high, low), map->count);
}

/* Index of a message's channel. Both sides of an inter-communicator are one. */
static size_t channel_of(struct by_location *by, const struct event *event)
{
    uint32_t comm = (uint32_t)event->comm, other = (uint32_t)event->partner_comm, partner = (uint32_t)event->partner;
    bool sends = event->kind == EVENT_SEND;
    uint32_t comms = comm < other ? number_of(&by->comm_pairs, comm, other) : number_of(&by->comm_pairs, other, comm);
    uint32_t line = number_of(&by->lines, comms, (uint32_t)event->tag);
    uint32_t route =
        sends ? number_of(&by->routes, event->process, partner) : number_of(&by->routes, partner, event->process);
    uint64_t *index = map_put(&by->channels, map_pair(route, line), by->end_count);
    if (*index == by->end_count)
        ARRAY_PUSH(by->ends, by->end_count, by->end_capacity, (struct message_ends){0});
    return *index;
}

/* What precedes a message: 1 + its channel, and its number there; of an end that has no other, 0. */
static unsigned char *put_message(struct by_location *by, unsigned char *at, const struct event *event)
{
    by->of_nobody += event->partner == PARTNER_NONE;
    by->of_unknown += event->partner == EVENT_UNKNOWN;
    if (event->partner < 0)
        return varint_put(at, 0);
    size_t channel = channel_of(by, event);
    struct message_ends *ends = &by->ends[channel];
    at = varint_put(at, channel + 1);
    return varint_put(at, event->kind == EVENT_SEND ? ends->sent++ : ends->received++);
}

/* Main threads are next to each other: few small numbers are quick to sort. */
static uint64_t location_key(uint32_t process, uint32_t thread)
{
    return (uint64_t)thread * PROCESS_LIMIT + process;
}

static uint32_t key_process(struct sort_key key)
{
    return (uint32_t)(key.major % PROCESS_LIMIT);
}

static uint32_t key_thread(struct sort_key key)
{
    return (uint32_t)(key.major / PROCESS_LIMIT);
}

static int64_t key_time(struct sort_key key)
{
    return (int64_t)(key.minor ^ UINT64_C(1) << 63);
}

static bool is_message(const struct event *event)
{
    return event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
}

static enum status add_event(struct by_location *by, const struct event *event, const unsigned char *arena,
                             struct error *err)
{
    struct arrival *arrival = arrival_of(by, event);
    if (event->kind <= EVENT_LEAVE && !take_state(by, arrival, event))
        return STATUS_OK;
    bool back = arrival->any && event->time_ns < arrival->last_ns;
    writer_lose(by->writer, "times that go back", back);
    /* Targets want time to go on: what goes back is moved up to where the location was. */
    int64_t time_ns = back ? arrival->last_ns : event->time_ns;
    arrival->last_ns = time_ns;
    arrival->any = true;
    if (!by->any || time_ns < by->least_ns)
        by->least_ns = time_ns;
    if (!by->any || time_ns > by->largest_ns)
        by->largest_ns = time_ns;
    by->any = true;
    ARRAY_RESERVE(by->packed, by->packed_capacity, PACKED_MOST + event->payload_length);
    unsigned char *at = by->packed;
    *at++ = RECORD_EVENT;
    size_t length = event_pack(at, event, arena);
    if (is_message(event))
        length = (size_t)(put_message(by, at + length, event) - at);
    struct sort_key key = {location_key(event->process, event->thread), sort_key_signed(time_ns)};
    return sorter_add(by->sorter, key, by->packed, length + 1, err);
}

enum status by_location_add(struct by_location *by, const struct batch *batch, struct error *err)
{
    enum { PAYLOAD_MOST = 60000 }; /* that of a record of the sorter is 64 KiB */
    for (size_t i = 0; i < batch->count; i++) {
        struct event event = batch->events[i];
        if (!event_counts(&event)) {
            writer_lose(by->writer, "communicators made and freed",
                        event.kind == EVENT_COMM_MADE || event.kind == EVENT_COMM_FREED);
            writer_lose(by->writer, "clock shifts", event.kind == EVENT_SHIFT);
            writer_lose(by->writer, "neighbours in topologies", event.kind == EVENT_NEIGHBOURS);
            continue;
        }
        if (event.payload_length > PAYLOAD_MOST) {
            writer_lose(by->writer, "payloads of more than 60,000 bytes", 1);
            event.payload_length = 0;
        }
        if (add_event(by, &event, batch->arena, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

/* Few names, as they are ids of findings and waits. */
static uint32_t name_number(struct by_location *by, const char *name)
{
    for (size_t i = 0; i < by->name_count; i++)
        if (strcmp(by->names[i], name) == 0)
            return (uint32_t)i;
    ARRAY_PUSH(by->names, by->name_count, by->name_capacity, name);
    return (uint32_t)(by->name_count - 1);
}

/* Waits are known before the first event, and go through the same sorter: they appear among the events of their
   thread. */
enum status by_location_add_span(struct by_location *by, const struct writer_span *span, struct error *err)
{
    unsigned char packed[1 + sizeof(struct kept_span)] = {RECORD_SPAN};
    struct kept_span kept;
    memset(&kept, 0, sizeof kept);
    kept.to_ns = span->to_ns;
    kept.name = name_number(by, span->name);
    kept.cause = span->cause;
    memcpy(packed + 1, &kept, sizeof kept);
    struct sort_key key = {location_key(span->process, span->thread), sort_key_signed(span->from_ns)};
    return sorter_add(by->sorter, key, packed, sizeof packed, err);
}

/* Messages are numbered channel after channel: so many as have both ends. */
static void number_messages(struct by_location *by)
{
    uint64_t next = 1;
    for (size_t i = 0; i < by->end_count; i++) {
        struct message_ends *ends = &by->ends[i];
        ends->first = next;
        next += smaller(ends->sent, ends->received);
    }
}

/* Which ends have a partner is known only when all have come: the first of a channel, as many as the shorter side
   has. */
static uint64_t message_number(const struct by_location *by, const unsigned char *at)
{
    uint64_t channel, index;
    channel = varint_get(&at);
    if (channel == 0)
        return 0;
    index = varint_get(&at);
    const struct message_ends *ends = &by->ends[channel - 1];
    if (index < ends->sent && index < ends->received)
        return ends->first + index;
    return 0;
}

/* A walk over the events. */
struct walk {
    struct by_location *by;
    const struct location_visitor *visitor;
    void *context;
    struct open_states open;
};

/* Open states are followed once more, for the lane of what happens inside them. */
static enum status visit_event(struct walk *walk, struct sort_key key, const unsigned char *packed, struct error *err)
{
    struct placed placed = {.arena = packed, .lane = LANE_NONE};
    struct event *event = &placed.event;
    struct open_states *open = &walk->open;
    size_t used = event_unpack(event, packed);
    event->process = key_process(key);
    event->time_ns = time_since(walk->by->least_ns, key_time(key));
    if (is_message(event))
        placed.message = message_number(walk->by, packed + used);
    if (event->kind <= EVENT_LEAVE)
        placed.lane = by_location_lane(walk->by, event->state);
    else if (open->depth > 0)
        placed.lane = by_location_lane(walk->by, open->frames[open->depth - 1].state);
    if (event->kind == EVENT_ENTER)
        (void)open_states_enter(open, event->state, event->time_ns);
    else if (event->kind == EVENT_LEAVE)
        open_states_remove(open, open_states_find(open, event->state));
    return walk->visitor->event(walk->context, &placed, err);
}

static void visit_span(struct walk *walk, struct sort_key key, const unsigned char *packed)
{
    struct kept_span kept;
    memcpy(&kept, packed, sizeof kept);
    struct writer_span span = {.process = key_process(key),
                               .thread = key_thread(key),
                               .from_ns = time_since(walk->by->least_ns, key_time(key)),
                               .to_ns = time_since(walk->by->least_ns, kept.to_ns),
                               .name = walk->by->names[kept.name],
                               .cause = kept.cause};
    if (walk->visitor->span)
        walk->visitor->span(walk->context, &span);
}

static enum status end_location(struct walk *walk, bool any, struct error *err)
{
    walk->open.depth = 0;
    if (any && walk->visitor->end)
        return walk->visitor->end(walk->context, err);
    return STATUS_OK;
}

/* Location after location, each in order of time, whatever order the events came in: what targets for viewers
   need. */
enum status by_location_walk(struct by_location *by, const struct location_visitor *visitor, void *context,
                             struct error *err)
{
    struct walk walk = {.by = by, .visitor = visitor, .context = context};
    struct sort_key key, last = {UINT64_MAX, 0};
    const void *data;
    size_t length;
    /* Now that all ends have come. */
    number_messages(by);
    enum status status = sorter_rewind(by->sorter, err);
    while (status == STATUS_OK && (status = sorter_next(by->sorter, &key, &data, &length, err)) == STATUS_OK) {
        const unsigned char *packed = data;
        if (key.major != last.major) {
            if (end_location(&walk, last.major != UINT64_MAX, err) != STATUS_OK) {
                status = STATUS_FAILED;
                break;
            }
            if (visitor->begin)
                visitor->begin(context, key_process(key), key_thread(key));
        }
        last = key;
        if (*packed == RECORD_SPAN)
            visit_span(&walk, key, packed + 1);
        else
            status = visit_event(&walk, key, packed + 1, err);
    }
    if (status == STATUS_END)
        status = end_location(&walk, last.major != UINT64_MAX, err);
    open_states_free(&walk.open);
    return status;
}

int64_t by_location_begin_ns(const struct by_location *by)
{
    return by->least_ns;
}

int64_t by_location_duration_ns(const struct by_location *by)
{
    return time_since(by->least_ns, by->largest_ns);
}

uint32_t by_location_processes(const struct by_location *by)
{
    uint32_t declared = by->writer->defs->processes;
    if (declared > by->processes)
        return declared;
    return by->processes;
}

uint32_t by_location_threads(const struct by_location *by)
{
    return by->threads;
}

int by_location_lanes(const struct by_location *by)
{
    return (int)by->lane_count;
}

uint32_t by_location_lane_state(const struct by_location *by, int lane)
{
    return by->lane_states[lane];
}

void by_location_lose_ends(const struct by_location *by)
{
    uint64_t lone = 0;
    for (size_t i = 0; i < by->end_count; i++) {
        const struct message_ends *ends = &by->ends[i];
        lone += ends->sent > ends->received ? ends->sent - ends->received : ends->received - ends->sent;
    }
    writer_lose(by->writer, "messages with a missing end", lone);
    writer_lose(by->writer, "messages whose partner is not known", by->of_unknown);
    writer_lose(by->writer, "messages to or from MPI_PROC_NULL", by->of_nobody);
}
