/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/phase_numbers.h"

#include "core/memory.h"
#include "phases/iteration_numbers.h"
#include "phases/phase_walk.h"

#include <stdlib.h>

/* Numbers from the phases themselves. */
static void take_phases(struct phase_counter *counter)
{
    const struct phases *phases = counter->phases;
    struct phase_metrics *metrics = counter->metrics;
    metrics->source = phases->source;
    metrics->phase_count = phases->count;
    metrics->phases = memory_new(phases->count * sizeof *metrics->phases);
    for (size_t i = 0; i < phases->count; i++)
        metrics->phases[i] = (struct phase_row){.name = memory_copy_string(phases->phase[i].name),
                                                .loop = phases->phase[i].loop,
                                                .begin_ns = time_since(counter->begin_ns, phases->phase[i].begin_ns),
                                                .end_ns = time_since(counter->begin_ns, phases->phase[i].end_ns)};
    metrics->loop_count = phases->loops.count;
    metrics->loops = memory_new(phases->loops.count * sizeof *metrics->loops);
    for (size_t i = 0; i < phases->loops.count; i++) {
        metrics->loops[i] = phases->loops.rows[i];
        metrics->loops[i].similarity = phase_nano(metrics->loops[i].similarity);
        metrics->loops[i].name = memory_copy_string(phases->loops.rows[i].name);
    }
    metrics->role_count = (uint32_t)phases->loops.role_count;
    metrics->by_world = phases->loops.by_world;
    metrics->process_count = phases->loops.process_count;
    metrics->per_group = phase_group_size(metrics->process_count, phases->count, PHASE_CELLS);
    metrics->group_count = (metrics->process_count + metrics->per_group - 1) / metrics->per_group;
    metrics->cells = memory_new(metrics->group_count * phases->count * sizeof *metrics->cells);
}

struct phase_counter *phase_counter_new(const struct graph *graph, const struct user_spans *spans, unsigned threads)
{
    struct phase_counter *counter = memory_new(sizeof *counter);
    *counter = (struct phase_counter){.graph = graph,
                                      .phases = phases_in_threads(graph, spans, threads),
                                      .metrics = memory_new(sizeof *counter->metrics),
                                      .begin_ns = graph_begin_ns(graph),
                                      .per_row = 1};
    const struct phases *phases = counter->phases;
    take_phases(counter);
    counter->metrics->iterations.loop = PHASE_NONE;
    if (phases->main_loop != PHASE_NONE)
        iteration_numbers_begin(counter);
    phase_walk(counter, threads);
    if (phases->main_loop != PHASE_NONE)
        iteration_numbers_find(counter);
    return counter;
}

size_t phase_counter_replays(const struct phase_counter *counter, struct replay_options *options)
{
    for (size_t i = 0; i < counter->replay_count; i++)
        options[i] = counter->replays[i];
    return counter->replay_count;
}

struct phase_metrics *phase_counter_end(struct phase_counter *counter, const struct replay *replays,
                                        struct phases **phases)
{
    struct phase_metrics *metrics = counter->metrics;
    bool whole = iteration_numbers_end(counter, replays);
    if (whole && phases)
        *phases = counter->phases;
    else
        phases_free(counter->phases);
    free(counter);
    return metrics;
}

struct phase_metrics *phase_metrics_with(const struct graph *graph, const struct user_spans *spans, unsigned threads)
{
    struct phase_counter *counter = phase_counter_new(graph, spans, threads);
    struct replay replays[PHASE_REPLAYS];
    replay_run_all(graph, counter->replays, counter->replay_count, threads, replays);
    return phase_counter_end(counter, replays, NULL);
}
