/* SPDX-License-Identifier: BSD-3-Clause */
/* What exact replays change of calls' own time and of computing. */
#include "core/memory.h"
#include "core/numbers.h"
#include "replay/exact.h"
#include "replay/handed_over.h"

static void add_quick_states(struct exact *exact, size_t lane)
{
    const struct replay_options *options = &exact->lanes[lane].options;
    const struct defs *defs = exact->player.graph->defs;
    if (!options->ideal && !options->quick_states)
        return;
    if (!exact->sets.quick)
        exact->sets.quick = memory_new(defs->state_count * sizeof *exact->sets.quick);
    for (size_t i = 0; i < defs->state_count; i++)
        if (options->ideal || options->quick_states[defs->states[i].first_of_name])
            exact->sets.quick[i] |= 1U << lane;
}

void exact_add_changes(struct exact *exact, size_t lane)
{
    const struct replay_options *options = &exact->lanes[lane].options;
    struct lane_sets *sets = &exact->sets;
    unsigned bit = 1U << lane;
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
        sets->free[kind] |= options->free_waits >> kind & 1 ? bit : 0;
    sets->paced |= options->pace || options->compute ? bit : 0;
    sets->combined |= options->combined ? bit : 0;
    sets->faster |= options->faster ? bit : 0;
    sets->handed |= options->handed ? bit : 0;
    sets->completing |= options->free_waits >> WAIT_CAUSED_COUNT ? bit : 0;
    add_quick_states(exact, lane);
    sets->change_calls = sets->quick || sets->combined || sets->faster || sets->handed || sets->completing;
}

void exact_clear_changes(struct exact *exact)
{
    free(exact->sets.quick);
}

static bool is_combined(const struct graph *graph, const struct call *call, const struct replay_options *options)
{
    return combined_call(graph, call, options->combined);
}

static bool is_handed_over(const struct graph *graph, const struct call *call, const struct replay_options *options)
{
    return handed_over_call(graph, call, options->handed);
}

/* Those lanes of a set whose options are about the call. */
static unsigned lanes_about(const struct exact *exact, unsigned set, const struct call *call,
                            bool (*is_about)(const struct graph *, const struct call *, const struct replay_options *))
{
    unsigned lanes = 0;
    for (size_t i = 0; set >> i; i++)
        if (lane_is_in(set, i) && is_about(exact->player.graph, call, &exact->lanes[i].options))
            lanes |= 1U << i;
    return lanes;
}

static void shorten(struct call_changes *changes, size_t lane, int64_t ns)
{
    changes->shorter_ns[lane] = ns;
    changes->shorter &= ~(1U << lane);
    changes->shorter |= ns != 0 ? 1U << lane : 0;
}

static void change_faster_calls(struct exact *exact, uint32_t location, uint32_t index)
{
    for (size_t i = 0; exact->sets.faster >> i; i++) {
        if (!lane_is_in(exact->sets.faster, i))
            continue;
        const uint64_t *ns = map_find(exact->lanes[i].options.faster, map_pair(location, index));
        shorten(&exact->changes, i, ns ? (int64_t)*ns : 0);
    }
}

/* Kinds beyond the caused ones are times at the end of the call, not waits for somebody: the call is shortened. */
static void change_completing_calls(struct exact *exact, uint32_t location, uint32_t index)
{
    struct wait completion = wait_completion_of(exact->player.graph, location, index);
    for (size_t i = 0; exact->sets.completing >> i; i++) {
        if (lane_is_in(exact->sets.free[completion.kind], i))
            shorten(&exact->changes, i, completion.ns);
        else if (!lane_is_in(exact->sets.faster, i))
            shorten(&exact->changes, i, 0);
    }
}

void exact_change_call(struct exact *exact, uint32_t location, const struct call *call)
{
    const struct lane_sets *sets = &exact->sets;
    struct call_changes *changes = &exact->changes;
    uint32_t index = exact->player.locations[location].at;
    if (!sets->change_calls)
        return;
    changes->quick = sets->quick ? sets->quick[call->state] : 0;
    if (sets->combined)
        changes->quick |= lanes_about(exact, sets->combined, call, is_combined);
    if (sets->handed)
        changes->free = lanes_about(exact, sets->handed, call, is_handed_over);
    if (sets->faster)
        change_faster_calls(exact, location, index);
    if (sets->completing)
        change_completing_calls(exact, location, index);
}

static int64_t computing(const struct lane *lane, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    const struct replay_options *options = &lane->options;
    int64_t ns = time_since(from_ns, to_ns);
    if (options->pace)
        return options->pace(options->pace_context, location, index, from_ns, to_ns);
    if (ns <= 0)
        return ns;
    return nearest_int((double)ns * options->compute[location]);
}

void exact_compute(struct exact *exact, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    int64_t *now_ns = player_now(&exact->player, location), ns = time_since(from_ns, to_ns);
    for (size_t i = 0; i < exact->player.lanes; i++)
        now_ns[i] += lane_is_in(exact->sets.paced, i) ? 0 : ns;
    for (unsigned left = exact->sets.paced; left; left &= left - 1) {
        size_t i = (size_t)__builtin_ctz(left);
        now_ns[i] += computing(&exact->lanes[i], location, index, from_ns, to_ns);
    }
}
