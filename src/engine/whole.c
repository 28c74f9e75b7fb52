/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/whole.h"

#include "core/memory.h"
#include "core/parallel.h"
#include "engine/opening.h"
#include "stuck/before_hang.h"
#include "stuck/open_calls.h"
#include "timeline/fix_clocks.h"
#include "timeline/slices.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Sinks that one reader fills. */
enum { SINKS_MOST = 8 };
struct group {
    struct sink *sinks[SINKS_MOST];
    size_t count;
    struct before_hang before;
    struct reader *reader;
    bool exact;
};

/* The graph, and all else. */
enum { SUMS, GRAPH, GROUPS };

struct builders {
    const struct whole_plan *plan;
    struct accumulator *accumulator;
    struct graph_builder *graph;
    struct user_spans_builder *spans;
    struct stuck_builder *stuck;
    struct open_calls *open; /* in its place; NULL: not so */
    struct profile_builder *profile;
    struct process_resources_builder *resources;
    struct counters_builder *counters;
    struct group groups[GROUPS];
    struct watching watching;
    bool ended;          /* by the watch */
    atomic_bool stopped; /* one of two readers will not be used: nor will the other */
};

static void group_add(struct group *group, struct sink *sink)
{
    group->sinks[group->count++] = sink;
}

/* What a run that hung does at its end would outweigh everything else: findings are about the time before. */
static void group_end_before_hang(struct group *group, int64_t until_ns)
{
    before_hang_start(&group->before, group->sinks, group->count, until_ns);
    group->sinks[0] = &group->before.sink;
    group->count = 1;
}

static void add_stuck(struct builders *builders, const struct whole_plan *plan, const struct defs *defs)
{
    struct group *sums = &builders->groups[SUMS];
    if (plan->judged)
        return;
    if (plan->twice && !open_calls_are_told(defs))
        builders->open = open_calls_new();
    if (builders->open)
        group_add(sums, open_calls_sink(builders->open));
    else
        group_add(sums, stuck_builder_sink(builders->stuck));
}

static struct builders *builders_new(const struct whole_plan *plan, const struct defs *defs)
{
    struct builders *builders = memory_new(sizeof *builders);
    struct group *sums = &builders->groups[SUMS], *graph = &builders->groups[GRAPH];
    builders->plan = plan;
    builders->watching = (struct watching){.request = plan->request, .step = ENGINE_STEP_EVENTS};
    builders->accumulator = accumulator_new(plan->sums);
    builders->graph = graph_builder_new();
    graph_builder_use_pool(builders->graph);
    builders->spans = user_spans_builder_new();
    builders->stuck = stuck_builder_new();
    builders->profile = profile_builder_new(&plan->samples);
    builders->resources = process_resources_builder_new();
    builders->counters = counters_builder_new(&plan->counters);
    group_add(graph, graph_builder_sink(builders->graph));
    group_add(sums, accumulator_sink(builders->accumulator));
    group_add(sums, user_spans_builder_sink(builders->spans));
    if (plan->searching)
        group_add(sums, plan->searching);
    group_add(sums, profile_builder_sink(builders->profile));
    group_add(sums, process_resources_builder_sink(builders->resources));
    if (plan->wants & ENGINE_COUNTERS)
        group_add(sums, counters_builder_sink(builders->counters));
    for (size_t i = 0; i < GROUPS && (plan->wants & ENGINE_BEFORE_HANG); i++)
        group_end_before_hang(&builders->groups[i], plan->until_ns);
    add_stuck(builders, plan, defs);
    return builders;
}

/* Frees the builders. */
static void builders_end(struct builders *builders, struct whole *whole)
{
    for (size_t i = 0; i < GROUPS; i++)
        before_hang_clear(&builders->groups[i].before);
    whole->accumulator = builders->accumulator;
    whole->graph = graph_builder_end_in_parallel(builders->graph, builders->plan->threads);
    whole->spans = user_spans_builder_end(builders->spans);
    whole->stuck = stuck_builder_end(builders->stuck);
    whole->unfinished = builders->open && open_calls_end(builders->open);
    whole->profile = profile_builder_end(builders->profile);
    whole->resources = process_resources_builder_end(builders->resources);
    whole->counters = counters_builder_end(builders->counters);
    free(builders);
}

static void whole_drop(struct whole *whole)
{
    graph_free(whole->graph);
    user_spans_free(whole->spans);
    stuck_free(whole->stuck);
    profile_free(whole->profile);
    resources_free(whole->resources);
    counters_free(whole->counters);
    accumulator_free(whole->accumulator);
    reader_close(whole->second);
    *whole = (struct whole){0};
}

/* A stream_watch: the sums are what the caller sees progress of. */
static bool watch_sums(void *context, const struct reader *reader)
{
    struct builders *builders = context;
    builders->ended = !opening_watch(&builders->watching, reader);
    return !builders->ended && !atomic_load(&builders->stopped);
}

static bool watch_graph(void *context, const struct reader *reader)
{
    (void)reader;
    struct builders *builders = context;
    return !atomic_load(&builders->stopped);
}

/* In one thread of two. */
static void read_group(void *context, size_t index)
{
    static stream_watch *const watch[GROUPS] = {watch_sums, watch_graph};
    struct builders *builders = context;
    struct group *group = &builders->groups[index];
    group->exact = stream_exactly(group->reader, group->sinks, group->count, watch[index], builders);
    if (!group->exact)
        atomic_store(&builders->stopped, true);
}

/* False: nothing of it may be used. */
static bool read_at_once(struct builders *builders, struct reader *reader, struct reader *second)
{
    builders->groups[SUMS].reader = reader;
    builders->groups[GRAPH].reader = second;
    parallel_run(GROUPS, GROUPS, read_group, builders);
    return builders->groups[SUMS].exact && builders->groups[GRAPH].exact;
}

static enum status read_in_turn(struct builders *builders, struct reader *reader, struct error *err)
{
    struct sink *sinks[GROUPS * SINKS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < GROUPS; i++)
        for (size_t j = 0; j < builders->groups[i].count; j++)
            sinks[count++] = builders->groups[i].sinks[j];
    return engine_stream(builders->plan->request, reader, sinks, count, err);
}

/* Makes everything from the begin, by one reader, which reports what it finds. */
static enum status read_again(const struct whole_plan *plan, struct reader **reader, struct whole *whole,
                              struct error *err)
{
    const struct engine_request *request = plan->request;
    whole_drop(whole);
    *reader = reader_again(*reader, request->inputs, request->input_count, err);
    if (!*reader)
        return STATUS_FAILED;
    struct builders *builders = builders_new(plan, (*reader)->defs);
    enum status status = read_in_turn(builders, *reader, err);
    builders_end(builders, whole);
    return status;
}

enum status whole_read(const struct whole_plan *plan, struct reader **reader, struct whole *whole, struct error *err)
{
    const struct engine_request *request = plan->request;
    struct builders *builders = builders_new(plan, (*reader)->defs);
    if (plan->threads > 1 && !plan->searching)
        whole->second = slices_second_reader(*reader, request->inputs, request->input_count);
    if (!whole->second) {
        enum status status = read_in_turn(builders, *reader, err);
        builders_end(builders, whole);
        return status;
    }
    bool exact = read_at_once(builders, *reader, whole->second), ended = builders->ended;
    builders_end(builders, whole);
    if (exact || ended)
        return exact ? STATUS_OK : STATUS_FAILED;
    return read_again(plan, reader, whole, err);
}
