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

static void add_uses(uint64_t **uses, size_t *count, size_t *capacity, const uint64_t *later, size_t later_count)
{
    while (*count < later_count)
        ARRAY_PUSH(*uses, *count, *capacity, 0);
    for (size_t i = 0; i < later_count; i++)
        (*uses)[i] += later[i];
}

enum course { STARTED = 1, FINALIZED };

/* How MPI begins and ends on a process. MPE records neither: of its traces nothing is said. */
static void count_course(struct census *census, const struct event *event)
{
    const char *name = census->defs->states[event->state].name;
    if (strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0) {
        *map_put(&census->courses, event->process, STARTED) = STARTED;
    } else if (strcmp(name, "MPI_Finalize") == 0) {
        /* Without MPI_Init in the trace, it began later: then it is not unfinished either. */
        *map_put(&census->courses, event->process, FINALIZED) = FINALIZED;
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
        size_t known = census->processes.count;
        uint64_t *latest = map_put(&census->processes, event->process, (uint64_t)event->time_ns);
        if (census->processes.count > known)
            map_put(&census->firsts, event->process, (uint64_t)event->time_ns);
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
    map_clear(&census->firsts);
    map_clear(&census->courses);
    free(census->state_uses);
    free(census->mark_uses);
    free(census->site_uses);
}

static void add_processes(struct census *census, const struct census *later)
{
    for (size_t i = 0; i < later->processes.capacity; i++) {
        const struct map_entry *entry = &later->processes.entries[i];
        if (!entry->key)
            continue;
        uint64_t process = entry->key - 1, first = *map_find(&later->firsts, process);
        map_put(&census->firsts, process, first);
        uint64_t *latest = map_put(&census->processes, process, first);
        census->time_back += (int64_t)first < (int64_t)*latest;
        *latest = entry->value;
    }
    for (size_t i = 0; i < later->courses.capacity; i++)
        if (later->courses.entries[i].key)
            *map_put(&census->courses, later->courses.entries[i].key - 1, 0) = later->courses.entries[i].value;
}

void census_add(struct census *census, const struct census *later)
{
    if (later->any) {
        census->begin_ns = census->any ? smaller(census->begin_ns, later->begin_ns) : later->begin_ns;
        census->end_ns = census->any ? larger(census->end_ns, later->end_ns) : later->end_ns;
        census->any = true;
    }
    census->events += later->events;
    census->time_back += later->time_back;
    census->aborts += later->aborts;
    census->samples += later->samples;
    census->largest_thread = larger(census->largest_thread, later->largest_thread);
    add_processes(census, later);
    add_uses(&census->state_uses, &census->state_count, &census->state_capacity, later->state_uses, later->state_count);
    add_uses(&census->mark_uses, &census->mark_count, &census->mark_capacity, later->mark_uses, later->mark_count);
    add_uses(&census->site_uses, &census->site_count, &census->site_capacity, later->site_uses, later->site_count);
}

uint64_t census_unfinished(const struct census *census)
{
    uint64_t unfinished = 0;
    for (size_t i = 0; i < census->courses.capacity; i++)
        unfinished += census->courses.entries[i].key && census->courses.entries[i].value == STARTED;
    return unfinished;
}

void census_pack(const struct census *census, struct packing *packing)
{
    packing_put(packing, census, sizeof *census);
    packing_put_map(packing, &census->processes);
    packing_put_map(packing, &census->firsts);
    packing_put_map(packing, &census->courses);
    PACK_ARRAY(packing, census->state_uses, census->state_count);
    PACK_ARRAY(packing, census->mark_uses, census->mark_count);
    PACK_ARRAY(packing, census->site_uses, census->site_count);
}

void census_unpack(struct unpacking *unpacking, struct census *census)
{
    unpacking_take(unpacking, census, sizeof *census);
    census->sink = (struct sink){0};
    census->defs = NULL;
    unpacking_take_map(unpacking, &census->processes);
    unpacking_take_map(unpacking, &census->firsts);
    unpacking_take_map(unpacking, &census->courses);
    UNPACK_ARRAY(unpacking, census->state_uses, census->state_count, census->state_capacity);
    UNPACK_ARRAY(unpacking, census->mark_uses, census->mark_count, census->mark_capacity);
    UNPACK_ARRAY(unpacking, census->site_uses, census->site_count, census->site_capacity);
}
