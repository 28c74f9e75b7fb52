/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/state_track.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/open_states.h"

struct state_track_builder {
    struct sink sink;
    const struct defs *defs;
    struct state_track *track;
    struct open_states *open; /* by location */
    size_t open_capacity;
    struct map locations; /* (process, thread) -> location */
};

static enum status builder_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct state_track_builder *)sink)->defs = defs;
    return STATUS_OK;
}

static uint32_t location_of(struct state_track_builder *builder, const struct event *event)
{
    struct state_track *track = builder->track;
    uint64_t *location = map_put(&builder->locations, map_pair(event->process, event->thread), track->count);
    if (*location == track->count) {
        ARRAY_PUSH(track->locations, track->count, track->capacity,
                   (struct state_location){.process = event->process, .thread = event->thread});
        ARRAY_RESERVE(builder->open, builder->open_capacity, track->count);
        builder->open[track->count - 1] = (struct open_states){0};
    }
    return (uint32_t)*location;
}

/* A time that goes back is replaced by that of the previous change. */
static void note_change(struct state_location *location, int64_t time_ns, uint32_t state)
{
    if (location->count > 0) {
        struct state_change *last = &location->changes[location->count - 1];
        time_ns = larger(time_ns, last->time_ns);
        if (last->state == state)
            return;
        /* A state without length is none: the later one replaces it. */
        if (last->time_ns == time_ns) {
            last->state = state;
            return;
        }
    }
    ARRAY_PUSH(location->changes, location->count, location->capacity, (struct state_change){time_ns, state});
}

static void take(struct state_track_builder *builder, const struct event *event)
{
    const struct state_def *state = &builder->defs->states[event->state];
    /* MPI calls have the graph: only the program's own states say where in it a process is. */
    if (state->class != CLASS_USER)
        return;
    uint32_t at = location_of(builder, event);
    struct open_states *open = &builder->open[at];
    if (event->kind == EVENT_ENTER) {
        open_states_enter(open, state->first_of_name, event->time_ns);
    } else {
        ptrdiff_t found = open_states_find(open, state->first_of_name);
        if (found == OPEN_STATES_NONE) /* a leave without enter */
            return;
        open_states_remove(open, found);
    }
    uint32_t inner = STATE_TRACK_NONE;
    if (open->depth > 0)
        inner = open->frames[open->depth - 1].state;
    note_change(&builder->track->locations[at], event->time_ns, inner);
}

static enum status builder_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].kind == EVENT_ENTER || batch->events[i].kind == EVENT_LEAVE)
            take((struct state_track_builder *)sink, &batch->events[i]);
    return STATUS_OK;
}

struct state_track_builder *state_track_builder_new(void)
{
    struct state_track_builder *builder = memory_new(sizeof *builder);
    builder->track = memory_new(sizeof *builder->track);
    builder->sink = (struct sink){.begin = builder_begin, .events = builder_events};
    return builder;
}

struct sink *state_track_builder_sink(struct state_track_builder *builder)
{
    return &builder->sink;
}

struct state_track *state_track_builder_end(struct state_track_builder *builder)
{
    struct state_track *track = builder->track;
    for (size_t i = 0; i < track->count; i++)
        open_states_free(&builder->open[i]);
    free(builder->open);
    map_clear(&builder->locations);
    free(builder);
    return track;
}

void state_track_free(struct state_track *track)
{
    if (!track)
        return;
    for (size_t i = 0; i < track->count; i++)
        free(track->locations[i].changes);
    free(track->locations);
    free(track);
}

uint32_t state_location_at(const struct state_location *location, int64_t time_ns)
{
    if (!location)
        return STATE_TRACK_NONE;
    /* The first change after the time: the one before it is in force. */
    size_t low = 0, high = location->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (location->changes[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return STATE_TRACK_NONE;
    return location->changes[low - 1].state;
}
