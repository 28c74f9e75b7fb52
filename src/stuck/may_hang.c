/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/may_hang.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/text.h"
#include "stuck/call_text.h"

#include <inttypes.h>
#include <string.h>

/* Of a function's calls: what they do in the play. */
enum role {
    ROLE_SENDS = 1,    /* returns when its messages are received: MPI_Send */
    ROLE_WAITS = 2,    /* and those of its requests: MPI_Wait */
    ROLE_RECEIVES = 4, /* posts the receives of what it receives: MPI_Recv */
    ROLE_STARTS = 8,   /* its messages are received before their wait returns: MPI_Isend */
    ROLE_CHOOSES = 16  /* any of several may let it return: it proves nothing */
};

/* What a location waits for: that the receive of a message is posted, that a message is sent, that all members are in a
   collective, or its root. */
enum waits { FREE, FOR_POST, FOR_MESSAGE, FOR_MEMBERS, FOR_ROOT };

struct place_played {
    uint32_t at;      /* its next call */
    bool entered;     /* it is in that */
    enum waits waits; /* and there for this: */
    uint32_t what;    /* message or instance */
    uint32_t next;    /* 1 + location: of those that wait for the same instance */
    uint32_t walk;    /* number of the walk that came by */
};

/* Of a process, on a communicator. */
enum { RECEIVE_OPEN = 1, MESSAGE_COMING = 2 };

struct play {
    const struct graph *graph;
    uint8_t *roles; /* by state */
    struct place_played *places;
    uint32_t *arrived, *waiting; /* by instance: members that are there; 1 + the first location that waits */
    uint32_t *ready;             /* locations that may continue: each at most once */
    size_t ready_count;
    struct map open; /* (process, communicator) -> RECEIVE_OPEN | MESSAGE_COMING */
};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static uint8_t role_of(const char *name)
{
    static const char *const sends[] = {"MPI_Send",
                                        "MPI_Rsend",
                                        "MPI_Ssend",
                                        "MPI_Sendrecv",
                                        "MPI_Sendrecv_c",
                                        "MPI_Sendrecv_replace",
                                        "MPI_Send_c",
                                        "MPI_Rsend_c",
                                        "MPI_Sendrecv_replace_c",
                                        NULL};
    static const char *const receives[] = {"MPI_Recv",
                                           "MPI_Recv_c",
                                           "MPI_Mrecv",
                                           "MPI_Sendrecv",
                                           "MPI_Sendrecv_c",
                                           "MPI_Sendrecv_replace",
                                           "MPI_Sendrecv_replace_c",
                                           NULL};
    static const char *const waits[] = {"MPI_Wait", "MPI_Waitall", NULL};
    static const char *const starts[] = {"MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Isend_c", NULL};
    int role = 0;
    role |= is_one_of(name, sends) ? ROLE_SENDS : 0;
    role |= is_one_of(name, receives) ? ROLE_RECEIVES : 0;
    role |= is_one_of(name, waits) ? ROLE_WAITS : 0;
    role |= is_one_of(name, starts) ? ROLE_STARTS : 0;
    if (role == 0)
        role = ROLE_CHOOSES;
    return (uint8_t)role;
}

static uint8_t role_of_call(const struct play *play, const struct call *call)
{
    return play->roles[call->state];
}

static bool has_entered(const struct play *play, uint32_t location, uint32_t call)
{
    const struct place_played *place = &play->places[location];
    return place->at > call || (place->at == call && place->entered);
}

static bool is_sent(const struct play *play, const struct message *message)
{
    return message->send_location == GRAPH_NONE || has_entered(play, message->send_location, message->send_call);
}

/* The call that posts the receive of a message. False: it is not known. */
static bool find_post(const struct play *play, uint32_t index, const struct message *message, struct post *post)
{
    if (message->receive_location == GRAPH_NONE || message->send_location == GRAPH_NONE)
        return false;
    *post = graph_post(play->graph, index, message);
    if (post->location == GRAPH_NONE || post->call == GRAPH_NONE)
        return false;
    if (post->location != message->receive_location || post->call != message->receive_call)
        return true;
    struct call receive = graph_call(play->graph, message->receive_location, message->receive_call);
    return (role_of_call(play, &receive) & ROLE_RECEIVES) != 0;
}

/* Where it is not known it counts as posted. */
static bool is_posted(const struct play *play, uint32_t index, const struct message *message)
{
    struct post post;
    return !find_post(play, index, message, &post) || has_entered(play, post.location, post.call);
}

static void wake(struct play *play, uint32_t location)
{
    play->places[location].waits = FREE;
    play->ready[play->ready_count++] = location;
}

/* The location may be waiting for this message. */
static void wake_for(struct play *play, uint32_t location, uint32_t message, enum waits waits)
{
    if (location != GRAPH_NONE && play->places[location].waits == waits && play->places[location].what == message)
        wake(play, location);
}

static void wake_members(struct play *play, uint32_t instance)
{
    for (uint32_t at = play->waiting[instance]; at;) {
        struct place_played *place = &play->places[at - 1];
        wake(play, at - 1);
        at = place->next;
        place->next = 0;
    }
    play->waiting[instance] = 0;
}

/* The location enters its call: others may continue. */
static void enter(struct play *play, uint32_t location, const struct call *call)
{
    const struct graph *graph = play->graph;
    play->places[location].entered = true;
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1))
        wake_for(play, graph_message(graph, m - 1).send_location, m - 1, FOR_POST);
    for (uint32_t m = call->posted; m; m = graph_next_posted(graph, m - 1))
        wake_for(play, graph_message(graph, m - 1).send_location, m - 1, FOR_POST);
    for (uint32_t m = call->sent; m; m = graph_next_sent(graph, m - 1))
        wake_for(play, graph_message(graph, m - 1).receive_location, m - 1, FOR_MESSAGE);
    if (!call->instance)
        return;
    uint32_t instance = call->instance - 1;
    bool root = graph->instances[instance].root_location == location;
    if (++play->arrived[instance] == graph->instances[instance].count || root)
        wake_members(play, instance);
}

static bool wait_for(struct place_played *place, enum waits waits, uint32_t what)
{
    place->waits = waits;
    place->what = what;
    return true;
}

/* A send whose receive has not been posted yet holds the call. */
static bool waits_for_post(struct play *play, uint32_t location, uint32_t index)
{
    struct message message = graph_message(play->graph, index);
    /* Of another thread: it would not be woken. */
    if (message.send_location != location || is_posted(play, index, &message))
        return false;
    return wait_for(&play->places[location], FOR_POST, index);
}

/* Messages of the call itself, and of requests that it completes. */
static bool waits_for_sends(struct play *play, uint32_t location, const struct call *call)
{
    const struct graph *graph = play->graph;
    uint8_t role = role_of_call(play, call);
    if (role & ROLE_SENDS)
        for (uint32_t m = call->sent; m; m = graph_next_sent(graph, m - 1))
            if (!graph_completes_later(graph, m - 1) && waits_for_post(play, location, m - 1))
                return true;
    for (uint32_t m = role & ROLE_WAITS ? call->completed : 0; m; m = graph_next_completed(graph, m - 1)) {
        struct message message = graph_message(graph, m - 1);
        if (message.send_location != location)
            continue;
        struct call send = graph_call(graph, location, message.send_call);
        /* A buffered one holds nothing. */
        if ((role_of_call(play, &send) & ROLE_STARTS) && waits_for_post(play, location, m - 1))
            return true;
    }
    return false;
}

static bool waits_for_messages(struct play *play, uint32_t location, const struct call *call)
{
    const struct graph *graph = play->graph;
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1)) {
        struct message message = graph_message(graph, m - 1);
        bool here = message.receive_location == location && message.receive_call == play->places[location].at;
        if (here && !is_sent(play, &message))
            return wait_for(&play->places[location], FOR_MESSAGE, m - 1);
    }
    return false;
}

static bool waits_for_members(struct play *play, uint32_t location, const struct call *call)
{
    const struct instance *instance = graph_instance(play->graph, call);
    struct place_played *place = &play->places[location];
    if (!instance || !instance->complete || graph_collective(play->graph, call).stage != STAGE_BLOCKING ||
        play->graph->streams[instance->stream].sided)
        return false;
    uint32_t index = call->instance - 1;
    enum collective_shape shape = (enum collective_shape)graph_collective(play->graph, call).shape;
    bool is_root = instance->root_location == location, all = play->arrived[index] == instance->count;
    enum waits waits = FREE;
    if (shape == SHAPE_ALL_TO_ALL && !all)
        waits = FOR_MEMBERS;
    else if (shape == SHAPE_ALL_TO_ONE && is_root && !all)
        waits = FOR_MEMBERS;
    else if (shape == SHAPE_ONE_TO_ALL && !is_root && instance->root_location != GRAPH_NONE) {
        if (!has_entered(play, instance->root_location, instance->root_call))
            waits = FOR_ROOT;
    }
    if (waits == FREE)
        return false;
    place->next = play->waiting[index];
    play->waiting[index] = location + 1;
    return wait_for(place, waits, index);
}

/* Plays a location until it has to wait. */
static void go_on(struct play *play, uint32_t location)
{
    struct place_played *place = &play->places[location];
    while (place->at < play->graph->locations[location].count) {
        struct call call = graph_call(play->graph, location, place->at);
        if (!place->entered)
            enter(play, location, &call);
        if (waits_for_messages(play, location, &call) || waits_for_sends(play, location, &call) ||
            waits_for_members(play, location, &call))
            return;
        place->at++;
        place->entered = false;
    }
}

/* Those that nobody has woken though what they wait for has happened: a receive that another thread posts. */
static void wake_rest(struct play *play)
{
    for (uint32_t i = 0; i < play->graph->location_count; i++) {
        const struct place_played *place = &play->places[i];
        if (place->waits != FOR_POST && place->waits != FOR_MESSAGE)
            continue;
        struct message message = graph_message(play->graph, place->what);
        if (place->waits == FOR_POST ? is_posted(play, place->what, &message) : is_sent(play, &message))
            wake(play, i);
    }
}

/* False: all have come to their ends. */
static bool comes_to_halt(struct play *play)
{
    for (uint32_t i = 0; i < play->graph->location_count; i++)
        play->ready[play->ready_count++] = i;
    while (play->ready_count > 0) {
        while (play->ready_count > 0)
            go_on(play, play->ready[--play->ready_count]);
        wake_rest(play);
    }
    bool halted = false;
    for (uint32_t i = 0; i < play->graph->location_count; i++)
        halted |= play->places[i].waits != FREE;
    return halted;
}

/* Receivers that have a receive open, and those to whom a message is coming whose receive is not: where both are, the
   receive may take another message than it did. */
static void find_open(struct play *play)
{
    const struct graph *graph = play->graph;
    for (uint32_t m = 0; m < graph->message_count; m++) {
        struct message message = graph_message(graph, m);
        bool sent = is_sent(play, &message), posted = is_posted(play, m, &message);
        if (sent == posted)
            continue;
        const struct channel *channel = &graph->channels[message.channel];
        *map_put(&play->open, map_pair(channel->receiver, (uint32_t)channel->comm), 0) |=
            sent ? MESSAGE_COMING : RECEIVE_OPEN;
    }
}

/* True if its wait would end in no other way. */
static bool is_certain(const struct play *play, uint32_t location)
{
    const struct graph *graph = play->graph;
    const struct place_played *place = &play->places[location];
    struct call call = graph_call(graph, location, place->at);
    if (place->waits == FOR_MEMBERS)
        return true;
    if (place->waits == FOR_ROOT || (role_of_call(play, &call) & ROLE_CHOOSES))
        return false;
    const struct channel *channel = &graph->channels[graph_message(graph, place->what).channel];
    const uint64_t *open = map_find(&play->open, map_pair(channel->receiver, (uint32_t)channel->comm));
    return !open || *open != (RECEIVE_OPEN | MESSAGE_COMING);
}

/* The location that would have to go on first. */
static uint32_t next_of(const struct play *play, uint32_t location)
{
    const struct graph *graph = play->graph;
    const struct place_played *place = &play->places[location];
    if (place->waits == FOR_MESSAGE)
        return graph_message(graph, place->what).send_location;
    if (place->waits == FOR_POST) {
        struct message message = graph_message(graph, place->what);
        return graph_post(graph, place->what, &message).location;
    }
    /* A member that is not there yet: the collective is among its later calls. */
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const struct place_played *other = &play->places[i];
        /* It is there. */
        if ((other->waits == FOR_MEMBERS || other->waits == FOR_ROOT) && other->what == place->what)
            continue;
        for (uint32_t c = other->at + (other->entered ? 1 : 0); c < graph->locations[i].count; c++)
            if (graph_call(graph, i, c).instance == place->what + 1)
                return i;
    }
    return GRAPH_NONE;
}

static struct may_hang_call call_of(const struct play *play, uint32_t location)
{
    const struct graph *graph = play->graph;
    const struct place_played *place = &play->places[location];
    struct call call = graph_call(graph, location, place->at);
    struct may_hang_call found = {.rank = graph->locations[location].process,
                                  .state = call.state,
                                  .site = call.site,
                                  .comm = call.comm,
                                  .partner = EVENT_UNKNOWN,
                                  .tag = EVENT_UNKNOWN,
                                  .bytes = BYTES_UNKNOWN,
                                  .enter_ns = call.enter_ns};
    if (place->waits == FOR_MEMBERS)
        return found;
    struct message message = graph_message(graph, place->what);
    const struct channel *channel = &graph->channels[message.channel];
    found.sends = place->waits == FOR_POST;
    found.partner = (int32_t)(found.sends ? channel->receiver : channel->sender);
    found.comm = channel->comm;
    found.tag = channel->tag;
    found.bytes = message.bytes;
    return found;
}

/* The location of the lowest process in the cycle: where it was found depends on the order of events. */
static uint32_t first_of(const struct play *play, uint32_t any)
{
    uint32_t first = any;
    for (uint32_t at = next_of(play, any); at != any; at = next_of(play, at))
        if (play->graph->locations[at].process < play->graph->locations[first].process)
            first = at;
    return first;
}

static void take_cycle(struct play *play, uint32_t any, struct may_hang *found)
{
    size_t capacity = 0;
    uint32_t first = first_of(play, any), at = first;
    bool sends = false;
    do {
        struct may_hang_call call = call_of(play, at);
        sends |= call.sends;
        ARRAY_PUSH(found->cycle, found->count, capacity, call);
        at = next_of(play, at);
    } while (at != first);
    /* Without a send nothing was buffered: the trace is not what it seems. */
    if (!sends)
        found->count = 0;
}

/* Follows the waits from each location, along certain ones only: each location is walked once. */
static void find_cycle(struct play *play, struct may_hang *found)
{
    for (uint32_t i = 0; i < play->graph->location_count && found->count == 0; i++) {
        uint32_t at = i, walk = i + 1;
        while (at != GRAPH_NONE && play->places[at].waits != FREE && play->places[at].walk == 0) {
            play->places[at].walk = walk;
            at = is_certain(play, at) ? next_of(play, at) : GRAPH_NONE;
        }
        if (at != GRAPH_NONE && play->places[at].waits != FREE && play->places[at].walk == walk)
            take_cycle(play, at, found);
    }
}

static void say_call(char *text, size_t size, const struct may_hang *found, size_t index)
{
    const struct may_hang_call *call = &found->cycle[index];
    char bytes[TEXT_NUMBER_SIZE];
    text_append(text, size, "process %s is in ", text_number(call->rank).text);
    call_text_append(text, size, found->defs, call->state, call->site);
    if (call->partner == EVENT_UNKNOWN)
        return;
    text_append(text, size, call->sends ? ", sending" : ", waiting for");
    if (call->bytes != BYTES_UNKNOWN)
        text_append(text, size, " %s", text_bytes(bytes, (uint64_t)call->bytes));
    else
        text_append(text, size, " a message");
    text_append(text, size, " %s process %s with tag %" PRId32, call->sends ? "to" : "of",
                text_number((uint64_t)call->partner).text, call->tag);
}

/* A few of a long cycle are enough in a sentence; all are in JSON. */
static void say(struct may_hang *found)
{
    enum { SAID = 4, SIZE = 2000 };
    char text[SIZE] = "The run may hang: MPI need not buffer messages, and without that ";
    size_t said = found->count <= SAID ? found->count : SAID - 1;
    if (found->count == 1)
        text_append(text, SIZE, "a process waits for itself: ");
    else
        text_append(text, SIZE, "%s processes wait for each other: ", text_number(found->count).text);
    for (size_t i = 0; i < said; i++) {
        if (i > 0)
            text_append(text, SIZE, "; ");
        say_call(text, SIZE, found, i);
    }
    if (said < found->count)
        text_append(text, SIZE, "; and so on");
    text_append(text, SIZE,
                ". Each would receive only after its call returns: receive first in one of them, or use "
                "MPI_Irecv or MPI_Sendrecv.");
    found->text = memory_copy_string(text);
}

static void play_begin(struct play *play, const struct graph *graph)
{
    *play = (struct play){.graph = graph};
    play->roles = memory_new(graph->defs->state_count + 1);
    for (size_t i = 0; i < graph->defs->state_count; i++)
        play->roles[i] = role_of(graph->defs->states[i].name);
    play->places = memory_new((graph->location_count + 1) * sizeof *play->places);
    play->arrived = memory_new((graph->instance_count + 1) * sizeof *play->arrived);
    play->waiting = memory_new((graph->instance_count + 1) * sizeof *play->waiting);
    play->ready = memory_new((graph->location_count + 1) * sizeof *play->ready);
}

static void play_clear(struct play *play)
{
    free(play->roles);
    free(play->places);
    free(play->arrived);
    free(play->waiting);
    free(play->ready);
    map_clear(&play->open);
}

struct may_hang *may_hang_of(const struct graph *graph)
{
    struct may_hang *found = memory_new(sizeof *found);
    struct play play;
    found->defs = graph->defs;
    play_begin(&play, graph);
    if (comes_to_halt(&play)) {
        find_open(&play);
        find_cycle(&play, found);
    }
    if (found->count > 0)
        say(found);
    play_clear(&play);
    return found;
}

void may_hang_free(struct may_hang *found)
{
    if (!found)
        return;
    free(found->cycle);
    free(found->text);
    free(found);
}
