/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_builder.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/property.h"
#include "stuck/open_calls.h"
#include "stuck/stuck_events.h"

#include <string.h>

static uint32_t mark_named(const struct defs *defs, const char *name)
{
    for (size_t i = 0; i < defs->mark_count; i++)
        if (strcmp(defs->marks[i].name, name) == 0)
            return (uint32_t)i + 1;
    return 0;
}

/* Calls of all members together that have no place among the waits of the graph, as they take long by themselves, or
   hardly wait. Their communicator is known from our recorder only. */
static void add_makers(struct stuck_state *state)
{
    static const struct {
        const char *name;
        uint8_t stage;
    } makers[] = {{"MPI_Intercomm_create", STAGE_BLOCKING}, {"MPI_Intercomm_merge", STAGE_BLOCKING},
                  {"MPI_Comm_spawn", STAGE_BLOCKING},       {"MPI_Comm_spawn_multiple", STAGE_BLOCKING},
                  {"MPI_Comm_accept", STAGE_BLOCKING},      {"MPI_Comm_connect", STAGE_BLOCKING},
                  {"MPI_Comm_idup", STAGE_POSTED},          {"MPI_Comm_idup_with_info", STAGE_POSTED}};
    for (size_t i = 0; i < state->collective_count; i++)
        for (size_t k = 0; k < sizeof makers / sizeof *makers; k++)
            if (strcmp(state->defs->states[i].name, makers[k].name) == 0)
                state->collectives[i] = (struct collective){SHAPE_ALL_TO_ALL, makers[k].stage, WAIT_NONE, WAIT_NONE};
}

/* Finished recordings have no marks of pending calls; other recorders are less clear. */
static enum status begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    struct stuck_state *state = &((struct stuck_builder *)sink)->state;
    bool ours = open_calls_are_told(defs);
    state->defs = defs;
    state->pending_mark = mark_named(defs, PENDING_MARK_NAME);
    state->ranks_mark = mark_named(defs, RANKS_MARK_NAME);
    state->wanted = state->pending_mark || !ours;
    state->callbacks = ours;
    state->collectives = collectives_of(defs);
    state->collective_count = defs->state_count;
    state->traits = memory_new(defs->state_count + 1);
    state->trait_count = defs->state_count;
    for (size_t i = 0; i < defs->state_count; i++)
        state->traits[i] = traits_of_name(defs->states[i].name);
    if (ours)
        add_makers(state);
    state->sampled = property_find(&defs->properties, PROPERTY_KEPT) != NULL;
    for (size_t i = 0; i < state->collective_count; i++)
        state->prepares |= state->collectives[i].stage == STAGE_PREPARED;
    state->begin_ns = INT64_MAX;
    state->end_ns = state->progress_ns = INT64_MIN;
    return STATUS_OK;
}

static enum status events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct stuck_state *state = &((struct stuck_builder *)sink)->state;
    /* Nothing is collected of a finished recording: `wanted` is false. */
    for (size_t i = 0; state->wanted && i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        stuck_take_event(state, event, batch);
        if (!event_counts(event))
            continue;
        state->begin_ns = smaller(state->begin_ns, event->time_ns);
        state->end_ns = larger(state->end_ns, event->time_ns);
    }
    return STATUS_OK;
}

static enum status end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)err;
    ((struct stuck_builder *)sink)->state.whole = end->complete;
    return STATUS_OK;
}

struct stuck_builder *stuck_builder_new(void)
{
    struct stuck_builder *builder = memory_new(sizeof *builder);
    builder->sink = (struct sink){.begin = begin, .events = events, .end = end};
    return builder;
}

struct sink *stuck_builder_sink(struct stuck_builder *builder)
{
    return &builder->sink;
}
