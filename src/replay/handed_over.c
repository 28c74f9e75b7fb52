/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/handed_over.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait_table.h"
#include "replay/small_messages.h"

#include <stdlib.h>
#include <string.h>

/* What a call is for one who gives or gets the data of others. */
enum step {
    STEP_NOTHING, /* neither moves data nor waits */
    STEP_FILE,    /* a file is opened, closed, or positioned */
    STEP_WRITE,
    STEP_READ,
    STEP_TAKE, /* data come from others, and from nobody else */
    STEP_GIVE,
    STEP_OTHER
};

struct finder {
    const struct graph *graph;
    struct handed_over *handed;
    uint8_t *states; /* by state: enum step, of calls on files, gathers and scatters; else STEP_OTHER */
    bool *does_io;   /* by location: it reads or writes files */
    bool *hands;     /* by location: it hands data over, or gets some */
    uint32_t *marks; /* by location: the last mark that it got */
    uint32_t mark;   /* the last that was given */
    size_t members;  /* of the largest gather or scatter that does, without the root */
};

/* Consecutive calls of a location that does file I/O, which hand data over in one direction. */
struct group {
    uint32_t begin, end; /* calls */
    enum step io, hand;  /* writing what is taken, or giving what is read */
    uint32_t first_io, last_io;
    bool has_io, has_hand;
    int64_t file_ns, computed_ns;
    int64_t gap_ns; /* computing for longer ends it */
};

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static enum step step_of_state(const struct state_def *state)
{
    const char *name = begins_with(state->name, "PMPI_") ? state->name + 1 : state->name;
    if (begins_with(name, "MPI_File_write") || begins_with(name, "MPI_File_iwrite"))
        return STEP_WRITE;
    if (begins_with(name, "MPI_File_read") || begins_with(name, "MPI_File_iread"))
        return STEP_READ;
    if (state->class == CLASS_IO)
        return STEP_FILE;
    if (begins_with(name, "MPI_Gather"))
        return STEP_TAKE;
    if (begins_with(name, "MPI_Scatter"))
        return STEP_GIVE;
    return STEP_OTHER;
}

static enum step step_of(const struct finder *finder, uint32_t location, const struct call *call)
{
    const struct graph *graph = finder->graph;
    enum step step = (enum step)finder->states[call->state];
    if (step == STEP_WRITE || step == STEP_READ || step == STEP_FILE)
        return step;
    if (call->instance)
        return graph_instance(graph, call)->root_location == location ? step : STEP_OTHER;
    bool takes = call->received || call->posted, gives = call->sent || call->completed;
    if (takes || gives)
        return takes && gives ? STEP_OTHER : takes ? STEP_TAKE : STEP_GIVE;
    enum function_class class = graph_state(graph, call)->class;
    bool neutral = class == CLASS_LOCAL || class == CLASS_PROBE || class == CLASS_WAIT || class == CLASS_P2P;
    return neutral && !call->operates ? STEP_NOTHING : STEP_OTHER;
}

static uint32_t partner_of(const struct message *message, enum step hand)
{
    return hand == STEP_TAKE ? message->send_location : message->receive_location;
}

/* The messages of a call in one direction. */
static uint32_t first_message(const struct call *call, enum step hand)
{
    return hand == STEP_TAKE ? call->received : call->sent;
}

static uint32_t next_message(const struct graph *graph, uint32_t at, enum step hand)
{
    return hand == STEP_TAKE ? graph_next_received(graph, at - 1) : graph_next_sent(graph, at - 1);
}

/* Calls in which data are handed over: taken before the last is written, given after the first was read. */
static bool hands_over(const struct group *group, uint32_t index)
{
    return group->hand == STEP_TAKE ? index < group->last_io : index > group->first_io;
}

/* The partners of a call in that direction that are not marked as `from`, if that is not 0: marks them as `to`, and
   returns how many they were. */
static size_t mark_partners(struct finder *finder, const struct call *call, enum step hand, uint32_t from, uint32_t to)
{
    const struct graph *graph = finder->graph;
    size_t count = 0;
    for (uint32_t at = first_message(call, hand); at; at = next_message(graph, at, hand)) {
        struct message message = graph_message(graph, at - 1);
        uint32_t partner = partner_of(&message, hand);
        if (partner == GRAPH_NONE || finder->marks[partner] == to || (from && finder->marks[partner] != from))
            continue;
        finder->marks[partner] = to;
        count++;
    }
    return count;
}

static int64_t computed_before_ns(const struct graph *graph, uint32_t location, uint32_t index)
{
    return time_since(graph_left_before_ns(graph, location, index), graph_call(graph, location, index).enter_ns);
}

static bool is_on_files(const struct finder *finder, const struct call *call)
{
    uint8_t step = finder->states[call->state];
    return step == STEP_WRITE || step == STEP_READ || step == STEP_FILE;
}

/* Half of those that hand data over, or all, get something back right after that, up to the next call on a file; or
   have asked right before they get data. */
static bool has_answer(struct finder *finder, uint32_t location, const struct group *group)
{
    const struct graph *graph = finder->graph;
    bool takes = group->hand == STEP_TAKE;
    uint32_t partner = ++finder->mark, answered = ++finder->mark, count = (uint32_t)graph->locations[location].count;
    size_t partners = 0, answers = 0, members = 0;
    for (uint32_t i = group->begin; i < group->end; i++) {
        struct call call = graph_call(graph, location, i);
        partners += mark_partners(finder, &call, group->hand, 0, partner);
        if (call.instance && step_of(finder, location, &call) == group->hand)
            members = larger(members, (size_t)graph_instance(graph, &call)->count - 1);
    }
    /* Beyond the first call the index wraps to one that does not exist. */
    for (uint32_t i = takes ? group->end : group->begin - 1; i < count; i += takes ? 1 : UINT32_MAX) {
        struct call call = graph_call(graph, location, i);
        const struct instance *instance = graph_instance(graph, &call);
        if (is_on_files(finder, &call) || computed_before_ns(graph, location, takes ? i : i + 1) > group->gap_ns)
            break;
        if (instance)
            return instance->root_location == location &&
                   graph_collective_of(graph, instance).shape == (takes ? SHAPE_ONE_TO_ALL : SHAPE_ALL_TO_ONE);
        answers += mark_partners(finder, &call, takes ? STEP_GIVE : STEP_TAKE, members ? 0 : partner, answered);
    }
    return answers > 0 && 2 * answers >= larger(partners, members);
}

static void hand_over(struct finder *finder, const struct group *group, const struct call *call)
{
    const struct graph *graph = finder->graph;
    if (call->instance && !finder->handed->instances[call->instance - 1]) {
        finder->handed->instances[call->instance - 1] = true;
        finder->handed->count++;
        finder->members = larger(finder->members, (size_t)graph_instance(graph, call)->count - 1);
    }
    for (uint32_t at = first_message(call, group->hand); at; at = next_message(graph, at, group->hand)) {
        struct message message = graph_message(graph, at - 1);
        uint32_t partner = partner_of(&message, group->hand);
        if (partner == GRAPH_NONE || finder->does_io[partner] || finder->handed->messages[at - 1])
            continue;
        finder->handed->messages[at - 1] = finder->hands[partner] = true;
        finder->handed->count++;
    }
}

static void end_group(struct finder *finder, uint32_t location, const struct group *group)
{
    if (!group->has_io || !group->has_hand || group->computed_ns > group->file_ns ||
        has_answer(finder, location, group))
        return;
    for (uint32_t i = group->begin; i < group->end; i++) {
        struct call call = graph_call(finder->graph, location, i);
        if (hands_over(group, i) && step_of(finder, location, &call) == group->hand)
            hand_over(finder, group, &call);
    }
}

static void add_to_group(struct group *group, uint32_t index, const struct call *call, enum step step, int64_t wait_ns)
{
    group->has_hand |= step == group->hand;
    if (step == STEP_FILE || step == group->io)
        group->file_ns += time_since(call->enter_ns, call->leave_ns) - wait_ns;
    if (step != group->io)
        return;
    if (!group->has_io)
        group->first_io = index;
    group->has_io = true;
    group->last_io = index;
}

/* The longest call of that kind. */
static int64_t longest_ns(const struct finder *finder, uint32_t location, enum step io)
{
    int64_t most_ns = 0;
    for (uint32_t i = 0; i < finder->graph->locations[location].count; i++) {
        struct call call = graph_call(finder->graph, location, i);
        if (finder->states[call.state] == io)
            most_ns = larger(most_ns, time_since(call.enter_ns, call.leave_ns));
    }
    return most_ns;
}

static void visit(struct finder *finder, uint32_t location, enum step io, enum step hand)
{
    const struct graph *graph = finder->graph;
    int64_t gap_ns = longest_ns(finder, location, io);
    struct group group = {.io = io, .hand = hand, .gap_ns = gap_ns};
    for (uint32_t i = 0; gap_ns > 0 && i < graph->locations[location].count; i++) {
        struct call call = graph_call(graph, location, i);
        enum step step = step_of(finder, location, &call);
        int64_t computed_ns = computed_before_ns(graph, location, i);
        bool fits = step == STEP_NOTHING || step == STEP_FILE || step == io || step == hand;
        if (!fits || computed_ns > gap_ns) {
            group.end = i;
            end_group(finder, location, &group);
            group = (struct group){.io = io, .hand = hand, .gap_ns = gap_ns, .begin = fits ? i : i + 1};
        } else if (group.has_io || group.has_hand) {
            group.computed_ns += computed_ns;
        }
        if (fits)
            add_to_group(&group, i, &call, step, wait_ns_in(graph, location, i));
    }
    group.end = (uint32_t)graph->locations[location].count;
    end_group(finder, location, &group);
}

static size_t find_io(struct finder *finder)
{
    const struct graph *graph = finder->graph;
    size_t count = 0;
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; !finder->does_io[location] && i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            uint8_t step = finder->states[call.state];
            if (step != STEP_WRITE && step != STEP_READ)
                continue;
            finder->does_io[location] = true;
            count++;
        }
    return count;
}

/* At least half of those that do no file I/O hand data over. */
static bool hand_enough(const struct finder *finder, size_t others)
{
    size_t count = 0;
    for (size_t i = 0; i < finder->graph->location_count; i++)
        count += finder->hands[i] && !finder->does_io[i];
    count = larger(count, finder->members);
    return count > 0 && 2 * count >= others;
}

struct handed_over *handed_over_of(const struct graph *graph)
{
    struct finder finder = {.graph = graph,
                            .handed = memory_new(sizeof *finder.handed),
                            .states = memory_new(graph->defs->state_count),
                            .does_io = memory_new(graph->location_count * sizeof *finder.does_io),
                            .hands = memory_new(graph->location_count * sizeof *finder.hands),
                            .marks = memory_new(graph->location_count * sizeof *finder.marks)};
    finder.handed->messages = memory_new(graph->message_count * sizeof *finder.handed->messages);
    finder.handed->instances = memory_new(graph->instance_count * sizeof *finder.handed->instances);
    for (size_t i = 0; i < graph->defs->state_count; i++)
        finder.states[i] = (uint8_t)step_of_state(&graph->defs->states[i]);
    size_t count = find_io(&finder), others = graph->location_count - count;
    for (uint32_t location = 0; count <= others && location < graph->location_count; location++)
        if (finder.does_io[location]) {
            visit(&finder, location, STEP_WRITE, STEP_TAKE);
            visit(&finder, location, STEP_READ, STEP_GIVE);
        }
    bool enough = hand_enough(&finder, others);
    free(finder.states);
    free(finder.does_io);
    free(finder.hands);
    free(finder.marks);
    if (enough)
        return finder.handed;
    handed_over_free(finder.handed);
    return NULL;
}

void handed_over_free(struct handed_over *handed)
{
    if (!handed)
        return;
    free(handed->messages);
    free(handed->instances);
    free(handed);
}

bool handed_over_call(const struct graph *graph, const struct call *call, const struct handed_over *handed)
{
    return call->instance ? handed->instances[call->instance - 1] : combined_call(graph, call, handed->messages);
}
