/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/left_over.h"

#include "core/memory.h"
#include "core/property.h"
#include "core/text.h"
#include "stuck/call_text.h"

#include <inttypes.h>
#include <string.h>

/* What is known of a process. */
enum {
    FINALISED = 1,
    RECEIVES_UNKNOWN = 2, /* it may have received more than was recorded */
    THREADED = 4          /* several of its threads call MPI: the order of their collectives is not known */
};

struct search {
    const struct graph *graph;
    uint8_t *known;    /* by process */
    uint8_t *roles;    /* by state: what a call of it says about its process */
    uint32_t *members; /* by communicator: how many it has */
};

/* True if the function's receives may be recorded elsewhere or not at all. */
static bool hides_receives(const char *name)
{
    static const char *const names[] = {"MPI_Request_free", "MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Isendrecv_c",
                                        "MPI_Isendrecv_replace_c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A call that only posts or starts something: with neither a send nor a receive that completes, a receive may be open.
 */
static const uint8_t STARTS = 128;

static uint8_t role_of(const char *name)
{
    static const char *const starts[] = {"MPI_Irecv",    "MPI_Irecv_c", "MPI_Imrecv",
                                         "MPI_Imrecv_c", "MPI_Start",   "MPI_Startall"};
    if (strcmp(name, "MPI_Finalize") == 0)
        return FINALISED;
    if (hides_receives(name))
        return RECEIVES_UNKNOWN;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(name, starts[i]) == 0)
            return STARTS;
    return 0;
}

static void look_at_location(struct search *search, uint32_t index)
{
    const struct graph *graph = search->graph;
    const struct location *location = &graph->locations[index];
    if (location->process >= graph->defs->processes || location->count == 0)
        return;
    uint8_t *known = &search->known[location->process];
    *known |= (uint8_t)(location->thread > 0 ? THREADED : 0);
    for (uint32_t i = 0; i < location->count; i++) {
        struct call call = graph_call(graph, index, i);
        uint8_t role = search->roles[call.state];
        if (role == STARTS)
            role = call.posted || call.sent ? 0 : RECEIVES_UNKNOWN;
        *known |= role;
    }
}

static bool is_whole(const struct search *search)
{
    const struct defs *defs = search->graph->defs;
    if (!property_records_all(&defs->properties))
        return false;
    for (uint32_t i = 0; i < defs->processes; i++)
        if (!(search->known[i] & FINALISED))
            return false;
    return true;
}

/* The first message that is never received, by the time of its send. Counts all; 0: none, or it is not certain. */
static size_t messages_left(const struct search *search, uint32_t *first)
{
    const struct graph *graph = search->graph;
    size_t count = 0;
    int64_t first_ns = INT64_MAX;
    for (uint32_t i = 0; i < graph->message_count; i++) {
        struct message message = graph_message(graph, i);
        if (message.send_location == GRAPH_NONE)
            return 0;
        if (message.receive_location != GRAPH_NONE)
            continue;
        uint32_t receiver = graph->channels[message.channel].receiver;
        if (receiver >= graph->defs->processes || search->known[receiver] & RECEIVES_UNKNOWN)
            continue;
        int64_t sent_ns = graph_call(graph, message.send_location, message.send_call).enter_ns;
        if (sent_ns < first_ns) {
            first_ns = sent_ns;
            *first = i;
        }
        count++;
    }
    return count;
}

static uint32_t member_count(const struct defs *defs, int32_t comm)
{
    uint32_t count = 0;
    while (count < defs->processes && defs_world_rank(defs, comm, (int32_t)count) >= 0)
        count++;
    return count;
}

static uint32_t *member_counts(const struct defs *defs)
{
    uint32_t *members = memory_new(defs->comm_count * sizeof *members);
    for (size_t i = 0; i < defs->comm_count; i++)
        members[i] = member_count(defs, (int32_t)i);
    return members;
}

static bool lacks_member(const struct search *search, const struct instance *instance)
{
    const struct graph *graph = search->graph;
    const struct instance_stream *stream = &graph->streams[instance->stream];
    const struct state_def *state = &graph->defs->states[stream->state];
    if (stream->comm < 0 || stream->two_groups || graph->defs->comms[stream->comm].window ||
        graph_collective_of(graph, instance).stage != STAGE_BLOCKING ||
        (state->class != CLASS_COLLECTIVE && state->class != CLASS_SYNC))
        return false;
    return instance->count < search->members[stream->comm];
}

/* A collective that one process enters, and another one never. */
struct lacking {
    size_t count; /* of such collectives */
    uint32_t instance, entered, missing;
    uint32_t site;
};

/* Who entered the instance, and from where; the lowest member that did not. */
static bool find_members(const struct search *search, struct lacking *lacking)
{
    const struct graph *graph = search->graph;
    const struct defs *defs = graph->defs;
    int32_t comm = graph->streams[graph->instances[lacking->instance].stream].comm;
    bool *entered = memory_new(defs->processes * sizeof *entered), certain = true;
    lacking->entered = lacking->missing = UINT32_MAX;
    for (uint32_t i = 0; i < graph->location_count; i++)
        for (uint32_t k = 0; k < graph->locations[i].count; k++) {
            struct call call = graph_call(graph, i, k);
            if (call.instance != lacking->instance + 1 || graph->locations[i].process >= defs->processes)
                continue;
            entered[graph->locations[i].process] = true;
            if (graph->locations[i].process < lacking->entered) {
                lacking->entered = graph->locations[i].process;
                lacking->site = call.site;
            }
        }
    for (uint32_t rank = 0; rank < search->members[comm]; rank++) {
        uint32_t member = (uint32_t)defs_world_rank(defs, comm, (int32_t)rank);
        if (member >= defs->processes || search->known[member] & THREADED)
            certain = false;
        else if (!entered[member] && member < lacking->missing)
            lacking->missing = member;
    }
    free(entered);
    return certain && lacking->entered != UINT32_MAX && lacking->missing != UINT32_MAX;
}

static struct lacking collectives_left(const struct search *search)
{
    const struct graph *graph = search->graph;
    struct lacking lacking = {0};
    int64_t first_ns = INT64_MAX;
    for (uint32_t i = 0; i < graph->instance_count; i++) {
        const struct instance *instance = &graph->instances[i];
        if (!lacks_member(search, instance))
            continue;
        if (instance->latest_enter_ns < first_ns || lacking.count == 0) {
            first_ns = instance->latest_enter_ns;
            lacking.instance = i;
        }
        lacking.count++;
    }
    if (lacking.count > 0 && !find_members(search, &lacking))
        lacking.count = 0;
    return lacking;
}

static void say_message(char *text, size_t size, const struct graph *graph, size_t count, uint32_t first)
{
    struct message message = graph_message(graph, first);
    const struct channel *channel = &graph->channels[message.channel];
    struct call call = graph_call(graph, message.send_location, message.send_call);
    char number[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE];
    if (count == 1)
        text_append(text, size, "A message is never received: ");
    else
        text_append(text, size, "%s messages are never received. The first of them: ", text_thousands(number, count));
    text_append(text, size, "process %s sends ", text_number(channel->sender).text);
    if (message.bytes == BYTES_UNKNOWN)
        text_append(text, size, "it");
    else
        text_append(text, size, "%s", text_bytes(bytes, (uint64_t)message.bytes));
    text_append(text, size, " to process %s with tag %" PRId32 " in ", text_number(channel->receiver).text,
                channel->tag);
    call_text_append(text, size, graph->defs, call.state, call.site);
    text_append(text, size, ".");
}

static void say_collective(char *text, size_t size, const struct graph *graph, const struct lacking *lacking)
{
    const struct instance_stream *stream = &graph->streams[graph->instances[lacking->instance].stream];
    const struct comm_def *comm = &graph->defs->comms[stream->comm];
    text_append(text, size, "%sProcess %s enters ", *text ? " " : "", text_number(lacking->entered).text);
    call_text_append(text, size, graph->defs, stream->state, lacking->site);
    if (comm->world)
        text_append(text, size, " on MPI_COMM_WORLD");
    else
        text_append(text, size, " on communicator %" PRId32, comm->id);
    text_append(text, size, " more often than process %s.", text_number(lacking->missing).text);
}

static void say(struct left_over *left, const struct graph *graph, uint32_t message, const struct lacking *lacking)
{
    char text[1000] = "";
    if (left->messages > 0)
        say_message(text, sizeof text, graph, left->messages, message);
    if (left->collectives > 0)
        say_collective(text, sizeof text, graph, lacking);
    text_append(text, sizeof text, " MPI does not allow that: with more data, or another MPI, the run may hang.");
    left->text = memory_copy_string(text);
}

static bool is_anything_left(const struct search *search)
{
    const struct graph *graph = search->graph;
    for (size_t i = 0; i < graph->instance_count; i++)
        if (lacks_member(search, &graph->instances[i]))
            return true;
    return graph->unmatched > 0;
}

static void look(struct search *search, struct left_over *left)
{
    const struct graph *graph = search->graph;
    const struct defs *defs = graph->defs;
    search->known = memory_new(defs->processes * sizeof *search->known);
    search->roles = memory_new(defs->state_count * sizeof *search->roles);
    for (size_t i = 0; i < defs->state_count; i++)
        search->roles[i] = role_of(defs->states[i].name);
    for (uint32_t i = 0; i < graph->location_count; i++)
        look_at_location(search, i);
    if (is_whole(search)) {
        uint32_t message = 0;
        struct lacking lacking = collectives_left(search);
        left->messages = messages_left(search, &message);
        left->collectives = lacking.count;
        if (left->messages + left->collectives > 0)
            say(left, graph, message, &lacking);
    }
    free(search->known);
    free(search->roles);
}

struct left_over *left_over_of(const struct graph *graph)
{
    struct left_over *left = memory_new(sizeof *left);
    struct search search = {.graph = graph, .members = member_counts(graph->defs)};
    if (is_anything_left(&search))
        look(&search, left);
    free(search.members);
    return left;
}

void left_over_free(struct left_over *left)
{
    if (!left)
        return;
    free(left->text);
    free(left);
}
