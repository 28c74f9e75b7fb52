/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/even_turns.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/balance.h"
#include "replay/sections.h"

#include <string.h>

static const uint32_t NO_TURN = UINT32_MAX;

/* How far a replay is on a location. */
struct turner {
    uint32_t next; /* the first call that it has not come to */
    uint32_t turn; /* that the call before ends */
};

struct even_turns {
    const struct graph *graph;
    const int64_t *begins_ns, *ends_ns;
    struct map places;   /* section -> place */
    uint32_t *of_kind;   /* 1 + place, by kind of the call that ends a turn; 0: not known yet */
    uint32_t *counts;    /* by place: calls of each location with work; NO_TURN: they differ */
    size_t *first;       /* by place: of its turns */
    uint32_t *column;    /* by place with turns: its column in `seen` */
    size_t column_count; /* each location with work has at least one call for each column */
    double *means_ns;    /* by turn */
    size_t count;        /* turns */
    bool *works;         /* by location */
    size_t work_count;
    struct turner *turners; /* by location */
    uint32_t **seen;        /* by location with work, and column: calls that the replay has come to */
};

static size_t place_of(struct even_turns *turns, uint32_t location, uint32_t index)
{
    uint32_t *place = &turns->of_kind[packed_kind(location_packed(&turns->graph->locations[location], index))];
    if (*place == 0)
        *place =
            1 + (uint32_t)*map_put(&turns->places, section_label(turns->graph, location, index), turns->places.count);
    return *place - 1;
}

/* The computing before the call that is in the location's part: of a gap that the part begins in, what follows. */
static int64_t gap_ns(const struct even_turns *turns, uint32_t location, uint32_t index, const struct call *call)
{
    int64_t left_ns = graph_left_before_ns(turns->graph, location, index);
    return time_since(larger(left_ns, turns->begins_ns[location]), call->enter_ns);
}

/* True if the end of the computing before the call is in the location's part. The call that the part begins at the end
   of is before it. */
static bool takes_part(const struct even_turns *turns, uint32_t location, uint32_t index, const struct call *call)
{
    int64_t begin_ns = turns->begins_ns[location];
    bool follows = call->leave_ns > begin_ns || graph_left_before_ns(turns->graph, location, index) >= begin_ns;
    return follows && call->enter_ns >= begin_ns && call->enter_ns <= turns->ends_ns[location];
}

static void find_workers(struct even_turns *turns)
{
    const struct graph *graph = turns->graph;
    double *compute = memory_new(graph->location_count * sizeof *compute);
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            if (takes_part(turns, location, i, &call))
                compute[location] += (double)gap_ns(turns, location, i, &call);
        }
    double limit_ns = balance_limit(compute, graph->location_count);
    turns->works = memory_new(graph->location_count * sizeof *turns->works);
    for (uint32_t i = 0; i < graph->location_count; i++) {
        turns->works[i] = compute[i] > 0 && compute[i] >= limit_ns;
        turns->work_count += turns->works[i];
    }
    free(compute);
}

/* Counts the calls of each place on each location. The first location with work gives the number that all must have. */
static void count_calls(struct even_turns *turns)
{
    const struct graph *graph = turns->graph;
    size_t places = 0, capacity = 0;
    uint32_t *seen = NULL;
    bool first = true;
    for (uint32_t location = 0; location < graph->location_count; location++) {
        if (!turns->works[location])
            continue;
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            if (!takes_part(turns, location, i, &call))
                continue;
            size_t place = place_of(turns, location, i);
            for (; places < turns->places.count; places++) {
                ARRAY_RESERVE(seen, capacity, places + 1);
                turns->counts = memory_resize(turns->counts, (places + 1) * sizeof *turns->counts);
                seen[places] = 0;
                turns->counts[places] = first ? 0 : NO_TURN;
            }
            seen[place]++;
        }
        for (size_t place = 0; place < places; place++) {
            turns->counts[place] = first || turns->counts[place] == seen[place] ? seen[place] : NO_TURN;
            seen[place] = 0;
        }
        first = false;
    }
    free(seen);
}

/* False: there are too many. */
static bool find_turns(struct even_turns *turns)
{
    turns->first = memory_new(turns->places.count * sizeof *turns->first);
    turns->column = memory_new(turns->places.count * sizeof *turns->column);
    for (size_t place = 0; place < turns->places.count; place++) {
        turns->first[place] = turns->count;
        if (turns->counts[place] == NO_TURN)
            continue;
        turns->column[place] = (uint32_t)turns->column_count++;
        turns->count += turns->counts[place];
    }
    turns->means_ns = memory_new(smaller(turns->count, (size_t)EVEN_TURNS) * sizeof *turns->means_ns);
    return turns->count <= EVEN_TURNS;
}

static void turner_rewind(struct even_turns *turns, uint32_t location)
{
    turns->turners[location] = (struct turner){.turn = NO_TURN};
    memset(turns->seen[location], 0, turns->column_count * sizeof **turns->seen);
}

/* The turn that the next call of the location ends. */
static void turner_go_on(struct even_turns *turns, uint32_t location)
{
    struct turner *turner = &turns->turners[location];
    uint32_t index = turner->next++;
    struct call call = graph_call(turns->graph, location, index);
    turner->turn = NO_TURN;
    if (!takes_part(turns, location, index, &call))
        return;
    size_t place = place_of(turns, location, index);
    if (turns->counts[place] != NO_TURN)
        turner->turn = (uint32_t)turns->first[place] + turns->seen[location][turns->column[place]]++;
}

/* The turn that the call ends. Replays come to the calls of a location in their order. */
static uint32_t turn_of(struct even_turns *turns, uint32_t location, uint32_t index)
{
    if (!turns->works[location] || index >= turns->graph->locations[location].count)
        return NO_TURN;
    struct turner *turner = &turns->turners[location];
    if (index + 1 < turner->next)
        turner_rewind(turns, location);
    while (turner->next <= index)
        turner_go_on(turns, location);
    return turner->turn;
}

static void find_means(struct even_turns *turns)
{
    const struct graph *graph = turns->graph;
    turns->turners = memory_new(graph->location_count * sizeof *turns->turners);
    turns->seen = memory_new(graph->location_count * sizeof *turns->seen);
    for (uint32_t location = 0; location < graph->location_count; location++) {
        if (!turns->works[location])
            continue;
        turns->seen[location] = memory_new(turns->column_count * sizeof **turns->seen);
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            uint32_t turn = turn_of(turns, location, i);
            if (turn == NO_TURN)
                continue;
            struct call call = graph_call(graph, location, i);
            turns->means_ns[turn] += (double)gap_ns(turns, location, i, &call) / (double)turns->work_count;
        }
        turner_rewind(turns, location);
    }
}

static int64_t pace(const void *context, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    struct even_turns *turns = (struct even_turns *)context; /* options are const; the replay's own place is not */
    uint32_t turn = turn_of(turns, location, index);
    if (turn == NO_TURN)
        return time_since(from_ns, to_ns);
    /* What is before the location's part stays as it is. */
    return larger(time_since(from_ns, turns->begins_ns[location]), INT64_C(0)) + nearest_int(turns->means_ns[turn]);
}

struct even_turns *even_turns_new(const struct graph *graph, const int64_t *begins_ns, const int64_t *ends_ns,
                                  struct replay_options *options)
{
    struct even_turns *turns = memory_new(sizeof *turns);
    *turns = (struct even_turns){.graph = graph, .begins_ns = begins_ns, .ends_ns = ends_ns};
    turns->of_kind = memory_new(graph->kind_count * sizeof *turns->of_kind);
    find_workers(turns);
    count_calls(turns);
    if (!find_turns(turns)) {
        even_turns_free(turns);
        return NULL;
    }
    find_means(turns);
    options->pace = pace;
    options->pace_context = turns;
    return turns;
}

void even_turns_free(struct even_turns *turns)
{
    if (!turns)
        return;
    for (uint32_t location = 0; turns->seen && location < turns->graph->location_count; location++)
        free(turns->seen[location]);
    free(turns->seen);
    free(turns->turners);
    free(turns->column);
    free(turns->of_kind);
    free(turns->counts);
    free(turns->first);
    free(turns->means_ns);
    free(turns->works);
    map_clear(&turns->places);
    free(turns);
}

int64_t even_turns_saving(const struct graph *graph, const int64_t *begins_ns, const int64_t *ends_ns)
{
    struct replay_options options = {0};
    struct even_turns *turns = even_turns_new(graph, begins_ns, ends_ns, &options);
    int64_t saving_ns = turns ? replay_saving(graph, options) : 0;
    even_turns_free(turns);
    return saving_ns;
}
