/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_targets.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/window_edges.h"
#include "metrics/analysis.h"

/* After the target has called MPI a call that waited for that takes this part of the wait at most; calls that are left
   while it computes take this part of all those waits at most; and this part of a wait it may spend in other calls. */
static const double SOON = 0.25, WITHOUT = 0.1, INSIDE = 0.1;

/* More calls of the target during one access are not looked at: then it calls MPI all the time. */
enum { CALLS_MEANWHILE = 64 };

void targets_take(struct target_collector *targets, struct target_access access)
{
    ARRAY_PUSH(targets->accesses, targets->count, targets->capacity, access);
}

/* What the target does during an access. */
struct meanwhile {
    uint32_t location, call; /* the call that it enters last before the access is left; GRAPH_NONE: none */
    int64_t waited_ns;       /* until then */
    int64_t rest_ns;         /* from then on; without such a call, all of it */
    bool computes;           /* it is hardly in MPI before that */
};

static struct meanwhile meanwhile_of(const struct graph *graph, const struct target_access *access, uint32_t location)
{
    struct call mine = graph_call(graph, access->location, access->call);
    struct meanwhile meanwhile = {.location = location, .call = GRAPH_NONE};
    uint32_t first = graph_first_left(graph, location, mine.enter_ns), calls = 0;
    int64_t inside_ns = 0, before_ns = 0;
    for (uint32_t i = first; i < graph->locations[location].count && calls <= CALLS_MEANWHILE; i++, calls++) {
        struct call call = graph_call(graph, location, i);
        if (call.enter_ns >= mine.leave_ns)
            break;
        before_ns = inside_ns;
        time_add(&inside_ns, time_since(larger(call.enter_ns, mine.enter_ns), smaller(call.leave_ns, mine.leave_ns)));
        if (call.enter_ns > mine.enter_ns) {
            meanwhile.call = i;
            meanwhile.waited_ns = time_since(mine.enter_ns, call.enter_ns);
        }
    }
    meanwhile.rest_ns = time_since(mine.enter_ns, mine.leave_ns) - meanwhile.waited_ns;
    if (meanwhile.call == GRAPH_NONE)
        meanwhile.computes = inside_ns == 0;
    else
        meanwhile.computes = calls <= CALLS_MEANWHILE && (double)before_ns <= INSIDE * (double)meanwhile.waited_ns;
    return meanwhile;
}

/* What the accesses of one kind show. */
struct proof {
    uint64_t count;
    int64_t waited_ns, rest_ns, without_ns;
};

static bool is_sure(const struct proof *proof)
{
    return proof->count >= TARGETS_LEAST && (double)proof->rest_ns <= SOON * (double)proof->waited_ns &&
           (double)proof->without_ns <= WITHOUT * (double)proof->waited_ns;
}

/* By process: 1 + its location; GRAPH_NONE: it has several threads, and any of them may let an access go on. */
static void map_locations(const struct graph *graph, struct map *locations)
{
    for (uint32_t i = 0; i < graph->location_count; i++) {
        uint64_t *at = map_put(locations, graph->locations[i].process, 0);
        *at = *at == 0 ? i + 1 : GRAPH_NONE;
    }
}

/* Numbers of pairs, for pairs of pairs. */
struct kinds {
    struct map functions, processes, all;
};

static uint64_t *kind_of(struct kinds *kinds, const struct graph *graph, const struct target_access *access)
{
    struct call call = graph_call(graph, access->location, access->call);
    uint32_t function = graph_state(graph, &call)->first_of_name, process = graph->locations[access->location].process;
    uint64_t *one = map_put(&kinds->functions, map_pair((uint32_t)access->comm, function), kinds->functions.count),
             *two = map_put(&kinds->processes, map_pair(process, access->target), kinds->processes.count);
    return map_put(&kinds->all, map_pair((uint32_t)*one, (uint32_t)*two), kinds->all.count);
}

static void add_proof(struct proof *proof, const struct meanwhile *meanwhile)
{
    if (meanwhile->call == GRAPH_NONE) {
        time_add(&proof->without_ns, meanwhile->rest_ns);
        return;
    }
    proof->count++;
    time_add(&proof->waited_ns, meanwhile->waited_ns);
    time_add(&proof->rest_ns, meanwhile->rest_ns);
}

/* A call that completes accesses to several targets waits for the last one: only that shows whether it does, or one
   that does not call MPI before the call is left. */
static void drop_earlier(const struct target_collector *targets, struct meanwhile *meanwhiles)
{
    struct map latest = {0}; /* (location, call) -> index of the access whose target calls MPI last */
    for (size_t i = 0; i < targets->count; i++) {
        if (!meanwhiles[i].computes || meanwhiles[i].call == GRAPH_NONE)
            continue;
        uint64_t *last = map_put(&latest, map_pair(targets->accesses[i].location, targets->accesses[i].call), i);
        if (*last == i)
            continue;
        size_t earlier = meanwhiles[*last].waited_ns < meanwhiles[i].waited_ns ? (size_t)*last : i;
        meanwhiles[earlier].computes = false;
        if (earlier == *last)
            *last = i;
    }
    map_clear(&latest);
}

static void connect(struct graph *graph, const struct target_access *access, const struct meanwhile *meanwhile)
{
    if (meanwhile->computes && meanwhile->call != GRAPH_NONE)
        window_edge_add(graph, (struct window_edge){.location = access->location,
                                                    .call = access->call,
                                                    .cause_location = meanwhile->location,
                                                    .cause_call = meanwhile->call,
                                                    .from_ns = INT64_MIN,
                                                    .kind = WAIT_LATE_TARGET});
}

void targets_end(struct target_collector *targets, struct graph *graph)
{
    struct map locations = {0};
    struct kinds kinds = {0};
    struct proof *proofs = memory_new(targets->count * sizeof *proofs);
    struct meanwhile *meanwhiles = memory_new(targets->count * sizeof *meanwhiles);
    if (targets->count > 0)
        map_locations(graph, &locations);
    for (size_t i = 0; i < targets->count; i++) {
        const uint64_t *at = map_find(&locations, targets->accesses[i].target);
        bool other = targets->accesses[i].target != graph->locations[targets->accesses[i].location].process;
        if (!at || *at == GRAPH_NONE || !other)
            continue;
        meanwhiles[i] = meanwhile_of(graph, &targets->accesses[i], (uint32_t)*at - 1);
    }
    drop_earlier(targets, meanwhiles);
    for (size_t i = 0; i < targets->count; i++)
        if (meanwhiles[i].computes)
            add_proof(&proofs[*kind_of(&kinds, graph, &targets->accesses[i])], &meanwhiles[i]);
    for (size_t i = 0; i < targets->count; i++)
        if (meanwhiles[i].computes && is_sure(&proofs[*kind_of(&kinds, graph, &targets->accesses[i])]))
            connect(graph, &targets->accesses[i], &meanwhiles[i]);
    free(proofs);
    free(meanwhiles);
    free(targets->accesses);
    map_clear(&locations);
    map_clear(&kinds.functions);
    map_clear(&kinds.processes);
    map_clear(&kinds.all);
}
