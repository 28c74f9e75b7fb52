/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cube_walk.h"

#include "core/numbers.h"

/* The position of a location: advances with time. Calls, states, phases and iterations are all in order of time, so one
   walk passes each of them once. */
struct cursor {
    const struct cube *cube;
    const struct state_location *states;
    const int64_t *phases, *iterations; /* borders of the location's process; NULL: none */
    size_t state_at, phase_at, iteration_at;
    int64_t next_ns; /* when something changes */
    struct cube_fact fact;
};

/* Index of the last border up to the time, counted from 1; 0: before the first. */
static size_t borders_before(const int64_t *borders, size_t count, size_t at, int64_t time_ns)
{
    while (at < count && borders[at] <= time_ns)
        at++;
    return at;
}

static void next_of(int64_t *next_ns, const int64_t *borders, size_t count, size_t at)
{
    if (at < count && borders[at] < *next_ns)
        *next_ns = borders[at];
}

/* Where and when the time lies, on all axes, and when that changes next. Between changes advance() costs a comparison.
 */
static void advance_far(struct cursor *cursor, int64_t time_ns)
{
    const struct cube *cube = cursor->cube;
    const struct state_location *states = cursor->states;
    uint32_t *key = cursor->fact.key;
    cursor->next_ns = INT64_MAX;
    if (states) {
        while (cursor->state_at < states->count && states->changes[cursor->state_at].time_ns <= time_ns)
            cursor->state_at++;
        key[AXIS_STATES] = CUBE_ANY;
        if (cursor->state_at > 0)
            key[AXIS_STATES] = states->changes[cursor->state_at - 1].state;
        if (cursor->state_at < states->count)
            cursor->next_ns = states->changes[cursor->state_at].time_ns;
    }
    if (cursor->phases) {
        /* The last one extends to the end, the first begins with the run. */
        size_t count = cube->phases.count;
        cursor->phase_at = borders_before(cursor->phases, count, cursor->phase_at, time_ns);
        key[AXIS_PHASES] = (uint32_t)larger(cursor->phase_at, (size_t)1) - 1;
        next_of(&cursor->next_ns, cursor->phases, count, cursor->phase_at);
    }
    if (cursor->iterations) {
        size_t count = cube->iterations.count + 1;
        cursor->iteration_at = borders_before(cursor->iterations, count, cursor->iteration_at, time_ns);
        /* Before the first and after the last there is none. */
        key[AXIS_ITERATIONS] = CUBE_ANY;
        if (cursor->iteration_at > 0 && cursor->iteration_at < count)
            key[AXIS_ITERATIONS] = (uint32_t)cursor->iteration_at - 1;
        next_of(&cursor->next_ns, cursor->iterations, count, cursor->iteration_at);
    }
}

static void advance(struct cursor *cursor, int64_t time_ns)
{
    if (time_ns >= cursor->next_ns)
        advance_far(cursor, time_ns);
}

static const int64_t *borders_of(const struct cube_cuts *cuts, uint32_t row)
{
    if (cuts->count == 0)
        return NULL;
    /* INT64_MIN: a process that does not take part in the loop. */
    const int64_t *borders = cuts->borders + row * (cuts->count + 1);
    return borders[0] != INT64_MIN ? borders : NULL;
}

/* The message of a call: what it waits for rather than what it sends; 0: none. */
static uint32_t message_of(const struct call *call)
{
    if (call->received)
        return call->received;
    return call->sent ? call->sent : call->completed;
}

/* Formats without communicators on calls have them on messages. */
static void place_by_message(const struct cube *cube, const struct call *call, uint32_t key[SEARCH_AXIS_COUNT])
{
    const struct graph *graph = cube->graph;
    uint32_t message = message_of(call);
    int32_t comm = call->comm;
    key[AXIS_COMMUNICATORS] = key[AXIS_TAGS] = CUBE_ANY;
    if (message) {
        uint32_t channel = graph->messages[message - 1].channel;
        if (comm == EVENT_UNKNOWN)
            comm = graph->channels[channel].comm;
        key[AXIS_TAGS] = cube->channel_tags[channel];
    }
    if (comm >= 0)
        key[AXIS_COMMUNICATORS] = (uint32_t)comm;
}

/* Function, site, communicator, tag: of the call itself. */
static void place_by_call(const struct cube *cube, const struct call *call, bool messages,
                          uint32_t key[SEARCH_AXIS_COUNT])
{
    key[AXIS_FUNCTIONS] = graph_state(cube->graph, call)->first_of_name;
    key[AXIS_SITES] = CUBE_ANY;
    if (call->site)
        key[AXIS_SITES] = call->site - 1;
    if (messages)
        place_by_message(cube, call, key);
}

static void place_by_none(uint32_t key[SEARCH_AXIS_COUNT])
{
    key[AXIS_FUNCTIONS] = key[AXIS_SITES] = key[AXIS_COMMUNICATORS] = key[AXIS_TAGS] = CUBE_ANY;
}

/* Time in which this location alone computes within [from, to), and the time before in which none did. The list is in
   order of time, so `at` only goes on; a time that reaches beyond is met again by the next gap. */
static void book_solo(struct cube_fact *fact, const struct solo_location *solo, size_t *at, int64_t from_ns,
                      int64_t to_ns)
{
    fact->alone_ns = fact->none_ns = 0;
    for (; solo && *at < solo->count && solo->times[*at].begin_ns < to_ns; (*at)++) {
        const struct solo_time *time = &solo->times[*at];
        int64_t begin_ns = larger(time->begin_ns, from_ns);
        int64_t end_ns = smaller(time->end_ns, to_ns);
        time_add(&fact->alone_ns, time_since(begin_ns, end_ns));
        if (time->begin_ns >= from_ns)
            time_add(&fact->none_ns, time->none_ns);
        if (time->end_ns > to_ns)
            return;
    }
}

/* Computing from one call to the next, cut where state, phase or iteration change: each piece is a fact. */
static void walk_gap(struct cursor *cursor, int64_t from_ns, int64_t to_ns, const struct solo_location *solo,
                     size_t *solo_at, cube_visit *visit, void *context)
{
    struct cube_fact *fact = &cursor->fact;
    fact->is_call = false;
    while (from_ns < to_ns) {
        advance(cursor, from_ns);
        int64_t end_ns = smaller(cursor->next_ns, to_ns);
        fact->begin_ns = from_ns;
        fact->ns = time_since(from_ns, end_ns);
        book_solo(fact, solo, solo_at, from_ns, end_ns);
        visit(context, fact);
        from_ns = end_ns;
    }
}

void cube_walk_location(const struct cube *cube, uint32_t location, struct cube_walk what, cube_visit *visit,
                        void *context)
{
    const struct graph *graph = cube->graph;
    const struct location *where = &graph->locations[location];
    const struct solo_location *solo = NULL;
    if (cube->solo.locations)
        solo = &cube->solo.locations[location];
    size_t solo_at = 0;
    struct cursor cursor = {.cube = cube,
                            .states = cube->state_locations[location],
                            .phases = borders_of(&cube->phases, cube->rows[location]),
                            .iterations = borders_of(&cube->iterations, cube->rows[location]),
                            .next_ns = INT64_MIN,
                            .fact = {.location = location, .row = cube->rows[location]}};
    for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++)
        cursor.fact.key[axis] = CUBE_ANY;
    cursor.fact.key[AXIS_PROCESSES] = cube->rows[location];
    const struct cube_span *span = &cube->spans[location];
    int64_t before_ns = span->begin_ns;
    for (uint32_t i = 0; i < where->count; i++) {
        cursor.fact.index = i;
        cursor.fact.call = graph_call(graph, location, i);
        const struct call *call = &cursor.fact.call;
        /* Computing belongs to the call after it: what a process does before a call makes others wait there. */
        place_by_call(cube, call, what.messages, cursor.fact.key);
        if (what.gaps)
            walk_gap(&cursor, before_ns, call->enter_ns, solo, &solo_at, visit, context);
        advance(&cursor, call->enter_ns);
        cursor.fact.is_call = true;
        cursor.fact.begin_ns = call->enter_ns;
        if (what.calls && (cube->starting || !mpi_function_starts_or_ends(graph_state(graph, call)->name)))
            visit(context, &cursor.fact);
        before_ns = larger(call->leave_ns, before_ns); /* calls of a damaged trace may overlap */
    }
    /* What is computed after the last call is before none. */
    cursor.fact.index = (uint32_t)where->count;
    place_by_none(cursor.fact.key);
    if (what.gaps)
        walk_gap(&cursor, before_ns, span->end_ns, solo, &solo_at, visit, context);
}

/* Index of the part in which the time lies, by bisection. */
static size_t part_at(const int64_t *borders, size_t count, int64_t time_ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (borders[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void place_by_time(const struct cube *cube, uint32_t location, int64_t time_ns, uint32_t key[SEARCH_AXIS_COUNT])
{
    uint32_t row = cube->rows[location];
    const int64_t *phases = borders_of(&cube->phases, row), *iterations = borders_of(&cube->iterations, row);
    key[AXIS_PROCESSES] = row;
    uint32_t state = state_location_at(cube->state_locations[location], time_ns);
    key[AXIS_STATES] = CUBE_ANY;
    if (state != STATE_TRACK_NONE)
        key[AXIS_STATES] = state;
    key[AXIS_PHASES] = key[AXIS_ITERATIONS] = CUBE_ANY;
    if (phases) {
        size_t at = part_at(phases, cube->phases.count, time_ns);
        key[AXIS_PHASES] = (uint32_t)larger(at, (size_t)1) - 1;
    }
    if (iterations) {
        size_t count = cube->iterations.count + 1, at = part_at(iterations, count, time_ns);
        if (at > 0 && at < count)
            key[AXIS_ITERATIONS] = (uint32_t)at - 1;
    }
}

void cube_place_call(const struct cube *cube, uint32_t location, const struct call *call, bool messages,
                     uint32_t key[SEARCH_AXIS_COUNT])
{
    place_by_call(cube, call, messages, key);
    place_by_time(cube, location, call->enter_ns, key);
}

void cube_place_loose(const struct cube *cube, const struct loose_send *send, uint32_t key[SEARCH_AXIS_COUNT])
{
    const struct graph *graph = cube->graph;
    uint32_t channel = graph->messages[send->message].channel;
    int64_t time_ns = send->time_ns;
    place_by_none(key);
    if (send->call != GRAPH_NONE) {
        struct call call = graph_call(graph, send->location, send->call);
        place_by_call(cube, &call, false, key);
        time_ns = call.enter_ns;
    }
    place_by_time(cube, send->location, time_ns, key);
    if (graph->channels[channel].comm >= 0)
        key[AXIS_COMMUNICATORS] = (uint32_t)graph->channels[channel].comm;
    key[AXIS_TAGS] = cube->channel_tags[channel];
}

bool cube_time_in(const struct cube *cube, uint32_t location, const struct cube_cuts *cuts, uint32_t part,
                  int64_t *begin_ns, int64_t *end_ns)
{
    *begin_ns = cube->spans[location].begin_ns;
    *end_ns = cube->spans[location].end_ns;
    if (part == CUBE_ANY)
        return true;
    const int64_t *borders = borders_of(cuts, cube->rows[location]);
    if (!borders)
        return false;
    *begin_ns = larger(borders[part], *begin_ns);
    *end_ns = smaller(borders[part + 1], *end_ns);
    return *end_ns > *begin_ns;
}
