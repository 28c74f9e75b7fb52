/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/census.h"

#include "core/memory.h"
#include "core/numbers.h"
#include <stdlib.h>
#include <string.h>

static void count_use(uint64_t **uses, size_t *count, size_t *capacity, uint32_t index)
{
    while (*count <= index)
        ARRAY_PUSH(*uses, *count, *capacity, 0);
    ++(*uses)[index];
}

enum course { STARTED = 1, FINALIZED };

/* How MPI begins and ends on a process. MPE records neither: of its traces nothing is said. */
static void count_course(struct census *census, const struct event *event)
{
    const char *name = census->defs->states[event->state].name;
    if (strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0) {
        /* Threads may each call MPI_Init_thread in a broken program: the process counts once. */
        census->unfinished += !map_find(&census->courses, event->process);
        map_put(&census->courses, event->process, STARTED);
    } else if (strcmp(name, "MPI_Finalize") == 0) {
        /* Without MPI_Init in the trace, it began later: then it is not unfinished either. */
        uint64_t *course = map_put(&census->courses, event->process, FINALIZED);
        census->unfinished -= *course == STARTED;
        *course = FINALIZED;
    } else {
        census->aborts += strcmp(name, "MPI_Abort") == 0;
    }
}

static enum status census_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct census *)sink)->defs = defs;
    return STATUS_OK;
}

static enum status census_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct census *census = (struct census *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        if (!event_counts(event))
            continue;
        if (!census->any)
            census->begin_ns = census->end_ns = event->time_ns;
        census->begin_ns = smaller(census->begin_ns, event->time_ns);
        census->end_ns = larger(census->end_ns, event->time_ns);
        census->any = true;
        census->events++;
        /* The map's values are unsigned: the time goes in and out by a cast, which keeps every bit. */
        uint64_t *latest = map_put(&census->processes, event->process, (uint64_t)event->time_ns);
        census->time_back += event->time_ns < (int64_t)*latest;
        *latest = (uint64_t)event->time_ns;
        if (event->thread > census->largest_thread)
            census->largest_thread = event->thread;
        if (event->kind <= EVENT_LEAVE)
            count_use(&census->state_uses, &census->state_count, &census->state_capacity, event->state);
        else if (event->kind == EVENT_MARK || event->kind == EVENT_COUNTER)
            count_use(&census->mark_uses, &census->mark_count, &census->mark_capacity, event->state);
        census->samples += event->kind == EVENT_SAMPLE;
        if (event->kind == EVENT_ENTER)
            count_course(census, event);
        if (event->kind == EVENT_ENTER && event->site)
            count_use(&census->site_uses, &census->site_count, &census->site_capacity, event->site - 1);
    }
    return STATUS_OK;
}

void census_start(struct census *census)
{
    *census = (struct census){.sink = {.begin = census_begin, .events = census_events}};
}

void census_clear(struct census *census)
{
    map_clear(&census->processes);
    map_clear(&census->courses);
    free(census->state_uses);
    free(census->mark_uses);
    free(census->site_uses);
}
