/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/what_if.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "heuristics/even_work.h"
#include "replay/free_waits.h"

#include <stdlib.h>
#include <string.h>

/* Each replay needs memory of its own. */
enum { THREADS_REPLAYING = 4 };

/* Code that is faster, chosen by row. */
struct faster_code {
    struct profile_rows functions;
    bool *chosen;
    struct causal *causal; /* NULL: none is */
    double part;
};

/* A change in the form that the replays need. */
struct replayed {
    const struct graph *graph;
    double *compute;                   /* by location, owned */
    struct replay_options without;     /* the waits that are free, see free_waits.h */
    bool *free_states, *free_channels; /* owned; NULL: none is free */
    struct faster_code code;
};

static void replayed_clear(struct replayed *replayed)
{
    free(replayed->compute);
    free_waits_clear(&replayed->without);
    free(replayed->free_states);
    free(replayed->free_channels);
    causal_free(replayed->code.causal);
    profile_rows_clear(&replayed->code.functions);
    free(replayed->code.chosen);
}

/* Factors of 1, for a change of some of them. */
static double *all_as_recorded(const struct graph *graph)
{
    double *factors = memory_new(graph->location_count * sizeof *factors);
    for (size_t i = 0; i < graph->location_count; i++)
        factors[i] = 1;
    return factors;
}

static bool is_faster(const struct what_if_change *change, uint32_t rank)
{
    for (size_t i = 0; i < change->faster_count; i++)
        if (change->faster[i] == rank)
            return true;
    return false;
}

/* Returns how many locations compute faster. They do so on top of even work, if that is part of the change, too. */
static size_t speed_up(struct replayed *replayed, const struct what_if_change *change)
{
    const struct graph *graph = replayed->graph;
    double *mean = what_if_balanced(graph);
    size_t found = 0;
    for (size_t i = 0; i < graph->location_count; i++) {
        if (!is_faster(change, graph->locations[i].process))
            continue;
        replayed->compute[i] *= change->speed > 0 ? 1 / change->speed : mean[i];
        found++;
    }
    free(mean);
    return found;
}

/* Messages of a tag or communicator. Returns how many channels these are. */
static size_t free_messages(struct replayed *replayed, const struct what_if_free *item)
{
    const struct graph *graph = replayed->graph;
    size_t found = 0;
    for (size_t i = 0; i < graph->channel_count; i++) {
        const struct channel *channel = &graph->channels[i];
        int64_t number = channel->tag;
        if (item->what == WHAT_IF_FREE_COMM)
            number = channel->comm >= 0 ? graph->defs->comms[channel->comm].id : EVENT_UNKNOWN;
        if (number != item->number)
            continue;
        replayed->free_channels[i] = true;
        found++;
    }
    return found;
}

/* False: there is nothing of that in the run. A wait state that does not occur is no such thing: it is free as it is.
 */
static bool free_one(struct replayed *replayed, const struct what_if_free *item)
{
    const struct defs *defs = replayed->graph->defs;
    if (item->what == WHAT_IF_FREE_WAIT) {
        free_waits_add(replayed->graph, item->wait, &replayed->without);
        return true;
    }
    if (item->what != WHAT_IF_FREE_FUNCTION)
        return free_messages(replayed, item) > 0;
    int32_t state = defs_find_state(defs, item->function);
    if (state == EVENT_UNKNOWN || !defs->states[state].is_mpi)
        return false;
    replayed->free_states[state] = true;
    return true;
}

/* The name is that of all functions called so. False: of none in which a sample was taken. */
static bool choose_functions(struct faster_code *code, const char *name, struct guess *meant)
{
    bool found = false;
    *meant = guess_of(name, strlen(name));
    code->chosen = memory_new((code->functions.count + 1) * sizeof *code->chosen);
    for (size_t i = 0; i < code->functions.count && code->functions.row[i].samples > 0; i++) {
        found |= code->chosen[i] = strcmp(code->functions.row[i].name, name) == 0;
        guess_try(meant, code->functions.row[i].name);
    }
    return found;
}

static enum what_if_lack prepare_code(struct replayed *replayed, const struct engine_result *run,
                                      const struct what_if_change *change, struct what_if_answer *answer)
{
    const struct profile *profile = run->metrics->profile;
    if (!profile || profile->taken_count == 0)
        return WHAT_IF_LACKS_SAMPLES;
    replayed->code.functions = profile_rows_of(profile, PROFILE_BY_FUNCTION);
    if (!choose_functions(&replayed->code, change->function, &answer->meant))
        return WHAT_IF_LACKS_FUNCTION;
    replayed->code.causal = causal_new(run->graph, profile);
    return WHAT_IF_LACKS_NOTHING;
}

static enum what_if_lack prepare(struct replayed *replayed, const struct what_if_change *change,
                                 struct what_if_answer *answer)
{
    size_t *free_index = &answer->free_index;
    const struct graph *graph = replayed->graph;
    replayed->compute = change->balance ? what_if_balanced(graph) : all_as_recorded(graph);
    if (change->faster && speed_up(replayed, change) == 0)
        return WHAT_IF_LACKS_PROCESSES;
    if (change->free_count == 0)
        return WHAT_IF_LACKS_NOTHING;
    replayed->free_states = memory_new(graph->defs->state_count * sizeof *replayed->free_states);
    replayed->free_channels = memory_new(graph->channel_count * sizeof *replayed->free_channels);
    for (*free_index = 0; *free_index < change->free_count; ++*free_index)
        if (!free_one(replayed, &change->free[*free_index]))
            return WHAT_IF_LACKS_FREE;
    return WHAT_IF_LACKS_NOTHING;
}

/* On another network the time inside MPI is simulated, whatever was recorded of it: nothing of that can be free. */
static void replay_on_network(const struct replayed *replayed, const struct network *network,
                              struct what_if_answer *answer)
{
    struct network changed = *network;
    changed.compute = replayed->compute;
    struct network_run run = network_replay(replayed->graph, &changed);
    answer->end_ns = run.end_ns;
    answer->forced = run.forced;
    answer->deadlock = run.deadlock;
}

static void replay_as_recorded(const struct replayed *replayed, bool ideal, struct what_if_answer *answer)
{
    const struct faster_code *code = &replayed->code;
    struct replay_options options = replayed->without;
    options.compute = replayed->compute;
    options.ideal = ideal;
    options.free_states = replayed->free_states;
    options.free_channels = replayed->free_channels;
    struct replay replay;
    if (code->causal)
        replay = causal_replay(code->causal, code->functions.row_of, code->chosen, code->part, options);
    else
        replay = replay_run(replayed->graph, options);
    answer->end_ns = replay.end_ns;
    answer->forced = replay.forced;
}

static bool is_balance_alone(const struct what_if_change *change)
{
    return change->balance && !change->faster && !change->function && !change->ideal && change->free_count == 0 &&
           !change->network;
}

static bool is_waits_alone(const struct what_if_change *change)
{
    bool waits = !change->balance && !change->faster && !change->function && !change->ideal && !change->network;
    for (size_t i = 0; i < change->free_count; i++)
        waits &= change->free[i].what == WHAT_IF_FREE_WAIT;
    return waits;
}

static void replay_change(const struct replayed *replayed, const struct engine_result *run,
                          const struct what_if_change *change, struct what_if_answer *answer)
{
    int64_t recorded_ns = run->metrics->analysis->replay;
    bool by_steps;
    if (change->network)
        replay_on_network(replayed, change->network, answer);
    else
        replay_as_recorded(replayed, change->ideal, answer);
    answer->saving_ns = recorded_ns - answer->end_ns;
    /* Nobody takes messages in another order if that makes the run longer. */
    if (is_waits_alone(change) && answer->saving_ns < 0) {
        answer->saving_ns = 0;
        answer->end_ns = recorded_ns;
    }
    /* Even work is one fix, with one number (even_work.h); beside other changes it is that of the totals. */
    if (is_balance_alone(change)) {
        answer->saving_ns = even_work_saving_ns(run->metrics, &by_steps);
        answer->end_ns = recorded_ns - answer->saving_ns;
    }
}

struct what_if_answer engine_what_if(const struct engine_result *run, const struct what_if_change *change)
{
    struct replayed replayed = {.graph = run->graph, .code.part = change->part};
    struct what_if_answer answer = {0};
    answer.lack = prepare(&replayed, change, &answer);
    if (answer.lack == WHAT_IF_LACKS_NOTHING && change->function)
        answer.lack = prepare_code(&replayed, run, change, &answer);
    if (answer.lack == WHAT_IF_LACKS_NOTHING)
        replay_change(&replayed, run, change, &answer);
    replayed_clear(&replayed);
    return answer;
}

struct what_if_functions engine_what_if_functions(const struct engine_result *run, unsigned threads)
{
    const struct profile *profile = run->metrics->profile;
    struct what_if_functions answer = {.functions = profile_rows_of(profile, PROFILE_BY_FUNCTION)};
    struct causal *causal = causal_new(run->graph, profile);
    if (threads == 0)
        threads = parallel_processors();
    answer.count = causal_table(causal, &answer.functions, smaller(threads, (unsigned)THREADS_REPLAYING), answer.row);
    causal_free(causal);
    return answer;
}

struct scenarios engine_what_if_standard(const struct engine_result *run)
{
    bool by_steps;
    return what_if_standard(run->graph, run->metrics->analysis, even_work_saving_ns(run->metrics, &by_steps));
}
