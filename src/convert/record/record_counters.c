/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_counters.h"

#define SAMPLE_NS_MAX UINT64_C(1000000000000) /* between samples; more is damage */

/* Negative values are not known. */
static void counter_event(struct record_state *state, const struct event *base, enum resource_counter counter,
                          int64_t value, struct batch *batch)
{
    if (value < 0)
        return;
    struct event *event = record_add_event(batch, base, EVENT_COUNTER);
    event->comm = 0; /* the world */
    event->state = state->run.resource_marks[counter];
    event->value = value;
}

void record_resources_events(struct record_state *state, const struct record_stream *stream, const struct event *base,
                             struct batch *batch)
{
    const struct record_resources *record = (const struct record_resources *)(const void *)stream->record;
    bool has_asleep = (size_t)record->base.words * 8 >= sizeof *record;
    /* They are sums since the run began: what is left out would count as of the moment after it. */
    if (state->plan.left_out > 0)
        return;
    const int64_t values[] = {[RESOURCE_CPU] = record->cpu_ns,
                              [RESOURCE_DELAY] = record->delay_ns,
                              [RESOURCE_VOLUNTARY] = record->voluntary,
                              [RESOURCE_INVOLUNTARY] = record->involuntary,
                              [RESOURCE_FAULTS] = record->faults,
                              [RESOURCE_DISK_FAULTS] = record->disk_faults,
                              [RESOURCE_PEAK] = record->peak_bytes,
                              [RESOURCE_CORES] = -1,
                              [RESOURCE_USABLE] = -1,
                              [RESOURCE_QUOTA] = -1,
                              [RESOURCE_MEMORY] = -1,
                              [RESOURCE_FIRST_CORE] = -1,
                              [RESOURCE_MEMORY_LIMIT] = -1,
                              [RESOURCE_LOOP] = record->loop_ns,
                              [RESOURCE_READ] = record->read,
                              [RESOURCE_WRITTEN] = record->written,
                              [RESOURCE_SYNC] = record->sync_ns,
                              [RESOURCE_BLOCKED] = record->blocked_ns,
                              [RESOURCE_STALLED] = record->stalled_ns,
                              [RESOURCE_ENERGY] = record->energy_uj,
                              [RESOURCE_ASLEEP] = has_asleep ? record->asleep_ns : -1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        counter_event(state, base, (enum resource_counter)i, values[i], batch);
}

void record_counter_event(struct record_state *state, const struct record_stream *stream, const struct event *base,
                          struct batch *batch)
{
    const struct record_counter *record = (const struct record_counter *)(const void *)stream->record;
    uint32_t number = record->base.state;
    const struct record_file *file = &state->run.files[stream->file];
    /* As with resources: they are sums since the thread began. */
    if (state->plan.left_out > 0 || number >= RECORD_COUNTERS_MOST || !file->counters[number] || record->value < 0)
        return;
    struct event *event = record_add_event(batch, base, EVENT_COUNTER);
    event->comm = 0; /* the world */
    event->state = file->counters[number] - 1;
    event->value = record->value;
}

void record_machine_events(struct record_state *state, const struct record_stream *stream, const struct event *base,
                           struct batch *batch)
{
    const struct record_machine *record = (const struct record_machine *)(const void *)stream->record;
    counter_event(state, base, RESOURCE_CORES, record->cores, batch);
    counter_event(state, base, RESOURCE_USABLE, record->usable > 0 ? (int64_t)record->usable : -1, batch);
    /* 0: no limit is set. */
    counter_event(state, base, RESOURCE_QUOTA, record->quota > 0 ? (int64_t)record->quota : -1, batch);
    counter_event(state, base, RESOURCE_MEMORY, record_bytes(record->memory), batch);
    counter_event(state, base, RESOURCE_FIRST_CORE, record->usable > 0 ? (int64_t)record->first : -1, batch);
    counter_event(state, base, RESOURCE_MEMORY_LIMIT, record->limit > 0 ? record_bytes(record->limit) : -1, batch);
}

void record_sample_event(struct record_state *state, const struct record_stream *stream, const struct defs *defs,
                         const struct event *base, struct batch *batch)
{
    const struct record_file *file = &state->run.files[stream->file];
    uint32_t number = stream->record->comm, path = number < file->path_count ? file->paths[number].path : 0;
    if (path == 0)
        return;
    struct event *event = record_add_event(batch, base, EVENT_SAMPLE);
    uint64_t sample_ns = file->header.sample_ns < SAMPLE_NS_MAX ? file->header.sample_ns : 0;
    event->comm = 0; /* the world */
    event->state = path - 1;
    event->site = defs->paths[path - 1].site;
    event->value = (int64_t)(sample_ns * (1 + (uint64_t)stream->record->state));
}
