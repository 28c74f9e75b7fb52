/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/late_progress.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "graph/window_edges.h"

#include <stdlib.h>

/* See late_progress.h: this part of a wait follows the last member at most, or of one that proves something; those are
   this part of all waits; those that end right before are this part of them at most; and this part of a wait the last
   member may spend in other calls. */
static const double SOON = 0.25, AT_ONCE = 0.1, OF_ALL = 0.25, BY_CHANCE = 0.1, INSIDE = 0.1;

/* The completing calls of an instance. */
struct completion {
    uint32_t count; /* of members whose completing call is recorded */
    uint32_t location, call;
    int64_t enter_ns; /* of the last one; INT64_MIN: none */
    bool waited_for;  /* a member that waits is done after it */
};

/* What the waits in the instances of a stream show. */
struct proof {
    uint64_t count; /* of instances */
    int64_t after_ns, before_ns, all_ns;
};

/* A member that waits until it is done, or the last one enters its completing call. */
struct waiting {
    int64_t ns;
    bool ends_after, at_once, before; /* it is done soon after that; at once; as short before */
};

/* Members pass data on for others, whoever is the root. Those of neighbourhoods wait only for their own neighbours, and
   those on files for the file system. */
static bool passes_on(const struct graph *graph, const struct instance *instance)
{
    struct collective collective = graph_collective_of(graph, instance);
    return collective.stage == STAGE_POSTED && collective.shape != SHAPE_NONE_KNOWN &&
           collective.shape != SHAPE_NEIGHBOURS && collective.wait != WAIT_AT_IO && instance->complete &&
           instance->latest_location != GRAPH_NONE && !graph->streams[instance->stream].sided;
}

/* Who waits for an inner process of a tree waits neither for the root nor as the root: it waits as at collectives of
   all. */
static enum wait_kind kind_of(const struct graph *graph, const struct instance *instance)
{
    return graph_collective_of(graph, instance).wait == WAIT_AT_BARRIER ? WAIT_AT_BARRIER : WAIT_AT_NXN;
}

/* By instance; NULL: there are none of these collectives. Of several that come last at once the first location's. */
static struct completion *completions_of(const struct graph *graph)
{
    struct completion *completions = memory_new(graph->instance_count * sizeof *completions);
    bool any = false;
    for (size_t i = 0; i < graph->instance_count; i++)
        completions[i].enter_ns = INT64_MIN;
    for (size_t i = 0; i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (operation->done_location == GRAPH_NONE || !passes_on(graph, &graph->instances[operation->instance]))
            continue;
        struct completion *completion = &completions[operation->instance];
        int64_t enter_ns = graph_call(graph, operation->done_location, operation->done_call).enter_ns;
        any = true;
        completion->count++;
        if (enter_ns <= completion->enter_ns)
            continue;
        completion->enter_ns = enter_ns;
        completion->location = operation->done_location;
        completion->call = operation->done_call;
    }
    if (any)
        return completions;
    free(completions);
    return NULL;
}

/* False if the member does not wait, or the last one is in MPI meanwhile. */
static bool waits(const struct graph *graph, const struct operation *operation, const struct completion *last,
                  struct waiting *waiting)
{
    const struct instance *instance = &graph->instances[operation->instance];
    /* In a tree also those that get nothing for themselves wait for what they pass on. */
    bool needs_nothing = operation->gets_nothing && graph_collective_of(graph, instance).shape == SHAPE_ALL_TO_ALL;
    if (operation->done_location == GRAPH_NONE || needs_nothing || last->count != instance->count ||
        last->location == operation->done_location)
        return false;
    struct call call = graph_call(graph, operation->done_location, operation->done_call);
    int64_t from_ns = larger(call.enter_ns, instance->latest_enter_ns),
            until_ns = smaller(last->enter_ns, call.leave_ns), left_ns;
    if (until_ns <= from_ns)
        return false;
    left_ns = graph_left_before_ns(graph, last->location, last->call);
    if ((double)time_since(from_ns, left_ns) > INSIDE * (double)time_since(from_ns, until_ns))
        return false;
    int64_t ns = time_since(from_ns, until_ns), after_ns = time_since(last->enter_ns, call.leave_ns),
            before_ns = time_since(call.leave_ns, last->enter_ns);
    *waiting = (struct waiting){.ns = ns,
                                .ends_after = after_ns > 0 && (double)after_ns <= SOON * (double)ns,
                                .at_once = after_ns > 0 && (double)after_ns <= AT_ONCE * (double)ns,
                                .before = after_ns <= 0 && (double)before_ns <= AT_ONCE * (double)ns};
    return true;
}

static bool is_sure(const struct proof *proof)
{
    return proof->count >= PROGRESS_LEAST && (double)proof->after_ns >= OF_ALL * (double)proof->all_ns &&
           (double)proof->before_ns <= BY_CHANCE * (double)proof->after_ns;
}

static void add_proof(struct proof *proof, struct completion *last, const struct waiting *waiting)
{
    time_add(&proof->all_ns, waiting->ns);
    time_add(&proof->before_ns, waiting->before ? waiting->ns : 0);
    if (!waiting->at_once)
        return;
    time_add(&proof->after_ns, waiting->ns);
    proof->count += !last->waited_for;
    last->waited_for = true;
}

static void connect(struct graph *graph, const struct operation *operation, const struct completion *last)
{
    window_edge_add(graph,
                    (struct window_edge){.location = operation->done_location,
                                         .call = operation->done_call,
                                         .cause_location = last->location,
                                         .cause_call = last->call,
                                         .from_ns = INT64_MIN,
                                         .kind = (uint8_t)kind_of(graph, &graph->instances[operation->instance])});
}

void late_progress_find(struct graph *graph)
{
    struct completion *completions = graph->operation_count > 0 ? completions_of(graph) : NULL;
    if (!completions)
        return;
    struct proof *proofs = memory_new(graph->stream_count * sizeof *proofs);
    struct waiting waiting;
    for (size_t i = 0; i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (waits(graph, operation, &completions[operation->instance], &waiting))
            add_proof(&proofs[graph->instances[operation->instance].stream], &completions[operation->instance],
                      &waiting);
    }
    for (size_t i = 0; i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (waits(graph, operation, &completions[operation->instance], &waiting) && waiting.ends_after &&
            is_sure(&proofs[graph->instances[operation->instance].stream]))
            connect(graph, operation, &completions[operation->instance]);
    }
    free(completions);
    free(proofs);
}
