/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/what_if.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "replay/balance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The number of MPI functions tried, those with most time: each costs a replay. */
enum { FUNCTIONS = 3 };

/* A process that exceeds the mean by less than this share gets no scenario of its own. */
static const double SLOW = 0.02;

struct asker {
    const struct graph *graph;
    const struct analysis *analysis;
    int64_t even_ns;
    struct scenarios scenarios;
    size_t capacity;
};

static struct scenario *add(struct asker *asker, int64_t end_ns, uint64_t forced)
{
    ARRAY_PUSH(asker->scenarios.scenario, asker->scenarios.count, asker->capacity,
               (struct scenario){.end_ns = end_ns, .saving_ns = asker->scenarios.replay_ns - end_ns, .forced = forced});
    return &asker->scenarios.scenario[asker->scenarios.count - 1];
}

static void name(struct scenario *scenario, const char *options, const char *title)
{
    snprintf(scenario->options, sizeof scenario->options, "%s", options);
    snprintf(scenario->title, sizeof scenario->title, "%s", title);
}

double *what_if_computing(const struct graph *graph)
{
    double *compute = memory_new(graph->location_count * sizeof *compute);
    for (uint32_t location = 0; location < graph->location_count; location++) {
        int64_t before_ns = graph->locations[location].begin_ns;
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            compute[location] += (double)time_since(before_ns, call.enter_ns);
            before_ns = call.leave_ns;
        }
        compute[location] += (double)time_since(before_ns, graph->locations[location].end_ns);
    }
    return compute;
}

double *what_if_balanced(const struct graph *graph)
{
    double *compute = what_if_computing(graph), *factors = balance_factors(compute, graph->location_count);
    free(compute);
    return factors;
}

/* Scenarios from an analysis, which may come from a trace or a metrics file. */
static void ask_analysis(struct asker *asker)
{
    const struct analysis *analysis = asker->analysis;
    name(add(asker, analysis->ideal, analysis->forced), "--ideal", "the network and MPI take no time");
    name(add(asker, analysis->replay - asker->even_ns, 0), "--balance", WHAT_IF_EVEN);
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        const struct wait_sums *sums = &analysis->waits[kind];
        const char *id = wait_kind_name((enum wait_kind)kind);
        /* -1: it was not worth a replay; nothing is claimed about it. */
        if (sums->saving_ns < 0)
            continue;
        struct scenario *scenario = add(asker, analysis->replay - sums->saving_ns, 0);
        snprintf(scenario->options, sizeof scenario->options, "--free %s", id);
        snprintf(scenario->title, sizeof scenario->title, "there is no %s%s", id, strstr(id, "wait") ? "" : " wait");
    }
}

/* The location that computes most, as fast as the mean. */
static void ask_slowest(struct asker *asker)
{
    const struct graph *graph = asker->graph;
    double *compute = what_if_computing(graph), *even = balance_factors(compute, graph->location_count);
    size_t most = 0;
    for (size_t i = 1; i < graph->location_count; i++)
        if (compute[i] > compute[most])
            most = i;
    if (graph->location_count > 1 && even[most] * (1 + SLOW) < 1) {
        for (size_t i = 0; i < graph->location_count; i++)
            compute[i] = 1;
        compute[most] = even[most];
        struct replay replay = replay_run(graph, (struct replay_options){.compute = compute});
        struct scenario *scenario = add(asker, replay.end_ns, replay.forced);
        uint32_t process = graph->locations[most].process;
        snprintf(scenario->options, sizeof scenario->options, "--speed-up %" PRIu32 "=mean", process);
        snprintf(scenario->title, sizeof scenario->title, "process %s computes for the mean time",
                 text_number(process).text);
    }
    free(even);
    free(compute);
}

/* Times in calls by state (the first of its name). */
static int64_t *call_times(const struct graph *graph)
{
    int64_t *times = memory_new(graph->defs->state_count * sizeof *times);
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct call call = graph_call(graph, location, i);
            time_add(&times[graph_state(graph, &call)->first_of_name], time_since(call.enter_ns, call.leave_ns));
        }
    return times;
}

static void ask_functions(struct asker *asker)
{
    const struct graph *graph = asker->graph;
    int64_t *times = call_times(graph);
    bool *free_states = memory_new(graph->defs->state_count);
    for (int place = 0; place < FUNCTIONS; place++) {
        size_t most = 0;
        for (size_t i = 1; i < graph->defs->state_count; i++)
            if (times[i] > times[most])
                most = i;
        if (graph->defs->state_count == 0 || times[most] <= 0)
            break;
        free_states[most] = true;
        struct replay replay = replay_run(graph, (struct replay_options){.free_states = free_states});
        struct scenario *scenario = add(asker, replay.end_ns, replay.forced);
        const char *function = graph->defs->states[most].name;
        snprintf(scenario->options, sizeof scenario->options, "--free %s", function);
        snprintf(scenario->title, sizeof scenario->title, "%s takes no time and never waits", function);
        /* Back to 0, so that the next longest function is tried alone. */
        free_states[most] = false;
        times[most] = 0;
    }
    free(free_states);
    free(times);
}

static int by_saving(const void *a, const void *b)
{
    const struct scenario *left = a, *right = b;
    int order = order_by(right->saving_ns, left->saving_ns);
    return order ? order : strcmp(left->options, right->options);
}

struct scenarios what_if_standard(const struct graph *graph, const struct analysis *analysis, int64_t even_ns)
{
    struct asker asker = {
        .graph = graph, .analysis = analysis, .even_ns = even_ns, .scenarios.replay_ns = analysis->replay};
    ask_analysis(&asker);
    if (graph) {
        ask_slowest(&asker);
        ask_functions(&asker);
    }
    qsort(asker.scenarios.scenario, asker.scenarios.count, sizeof *asker.scenarios.scenario, by_saving);
    return asker.scenarios;
}

void scenarios_clear(struct scenarios *scenarios)
{
    free(scenarios->scenario);
    *scenarios = (struct scenarios){0};
}
