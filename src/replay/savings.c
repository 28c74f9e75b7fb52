/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/analyst.h"
#include "replay/balance.h"
#include "replay/even_sections.h"
#include "replay/even_steps.h"
#include "replay/free_waits.h"
#include "replay/handed_over.h"
#include "replay/relief.h"
#include "replay/replay.h"
#include "replay/small_messages.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <string.h>

/* A function that takes less than this share of the critical path is not worth a replay. */
static const double OWN_SHARE = 0.01;

/* The longest waiting of a process, for one kind. */
static int64_t longest_victim_ns(const struct analysis *analysis, unsigned kinds)
{
    int64_t most_ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        for (size_t i = 0; kinds >> kind & 1 && i < analysis->process_count; i++)
            most_ns = larger(most_ns, analysis->waits[kind].victims_ns[i]);
    return most_ns;
}

static bool matters(const struct analysis *analysis, unsigned kinds)
{
    double duration = (double)analysis->duration, all_ns = duration * (double)analysis->process_count,
           ns = analyst_waits_ns(analysis, kinds);
    return ns > 0 && (ns >= REPLAY_SHARE * all_ns ||
                      (double)longest_victim_ns(analysis, kinds) >= REPLAY_SHARE_OF_ONE * duration);
}

/* The replays of save_all(), and what their results are. */
enum { MOST_CHANGES = WAIT_KIND_COUNT + 9 + ANALYSE_REPLAYS_BESIDE };
struct changes {
    size_t count;
    size_t ideal;  /* the one on the ideal network, which saves nothing */
    size_t beside; /* replays after these, which are not the analysis's */
    struct replay_options options[MOST_CHANGES];
    struct replay replays[MOST_CHANGES];
    enum wait_kind kinds[MOST_CHANGES]; /* whose savings they are; WAIT_NONE: the following */
    int64_t *savings_ns[MOST_CHANGES];
    int64_t both_ends_ns; /* saved with quick calls at both ends of messages */
    /* What the options refer to; NULL. */
    bool *quick, *quick_ends;
    double *factors, *shared;
    struct combined combined;
    struct even_sections *sections;
    struct relief *relief;
    struct steps *steps;
    int64_t stretched_ns, relieved_ns; /* saved by even totals, in either way */
};

static void add_change(struct changes *changes, struct replay_options options, int64_t *saving_ns)
{
    changes->options[changes->count] = options;
    changes->savings_ns[changes->count++] = saving_ns;
}

static void add_ideal(struct changes *changes)
{
    changes->ideal = changes->count;
    add_change(changes, (struct replay_options){.ideal = true}, NULL);
}

/* What savings are measured against: without changes a replay ends when the run ended, unless partners are missing. */
static void take_ideal(struct analysis *analysis, const struct graph *graph, const struct replay *ideal)
{
    analysis->ideal = ideal->end_ns;
    analysis->forced = ideal->forced;
    analysis->replay = analysis->duration;
    if (ideal->forced)
        analysis->replay = replay_run(graph, (struct replay_options){0}).end_ns;
}

/* Without the waits of a kind, if it matters. For kinds replayed together, the first one's replay is used for all.
   Waiting for senders has a saving even where all of it is in the wrong order. */
static void add_waits(struct analyst *analyst, struct changes *changes, enum wait_kind kind)
{
    struct analysis *analysis = analyst->analysis;
    unsigned kinds = free_waits_with(kind);
    /* The lowest kind of a group replays for all of it; late senders include the orders, but have a replay of their
       own. */
    bool first = kind == WAIT_LATE_SENDER || !(kinds & ((1u << kind) - 1));
    if (!first || !matters(analysis, kinds))
        return;
    struct replay_options options = {0};
    free_waits_add(analyst->graph, kind, &options);
    if (options.handed)
        analysis->handed_over = options.handed->count;
    changes->kinds[changes->count] = kind;
    add_change(changes, options, NULL);
}

static void take_waits(struct analysis *analysis, enum wait_kind kind, int64_t saving_ns)
{
    unsigned kinds = free_waits_with(kind);
    for (int k = (int)kind; kinds >> k; k++)
        if (free_waits_with((enum wait_kind)k) == kinds && (k == WAIT_LATE_SENDER || analysis->waits[k].ns > 0))
            analysis->waits[k].saving_ns = saving_ns;
}

/* So many messages show which functions send and receive what a function receives and sends. */
enum { ENDS_LOOKED_AT = 4096 };

static uint32_t state_of(const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    return graph_state(graph, &call)->first_of_name;
}

/* The functions at the other ends of the messages of this one; false if there are none. */
static bool add_other_ends(const struct graph *graph, uint32_t state, bool *quick)
{
    bool added = false;
    size_t step = graph->message_count / ENDS_LOOKED_AT + 1;
    enum function_class class = graph->defs->states[state].class;
    for (size_t i = 0; (class == CLASS_P2P || class == CLASS_WAIT) && i < graph->message_count; i += step) {
        struct message message = graph_message(graph, (uint32_t)i);
        if (message.send_location == GRAPH_NONE || message.receive_location == GRAPH_NONE)
            continue;
        uint32_t sends = state_of(graph, message.send_location, message.send_call),
                 receives = state_of(graph, message.receive_location, message.receive_call);
        if (sends == state)
            quick[receives] = added = true;
        if (receives == state)
            quick[sends] = added = true;
    }
    return added;
}

/* With the function that takes most of the critical path taking no time except for waiting. */
static void add_own_time(struct analyst *analyst, struct changes *changes)
{
    struct analysis *analysis = analyst->analysis;
    const struct defs *defs = analyst->graph->defs;
    uint32_t longest = analysis_longest_own(analysis, defs);
    if (longest == UINT32_MAX || (double)analysis->path_states_ns[longest] < OWN_SHARE * (double)analysis->duration)
        return;
    changes->quick = memory_new(defs->state_count * sizeof *changes->quick);
    changes->quick[longest] = true;
    add_change(changes, (struct replay_options){.quick_states = changes->quick}, &analysis->own_saving);
    changes->quick_ends = memory_copy(changes->quick, defs->state_count * sizeof *changes->quick);
    if (add_other_ends(analyst->graph, longest, changes->quick_ends))
        add_change(changes, (struct replay_options){.quick_states = changes->quick_ends}, &changes->both_ends_ns);
}

/* A transfer that takes no time takes none at the other end either. That counts where the calls there take as long, so
   that nothing else would show what transfers cost. One that sends to many in turn (a broadcast by hand) would still
   take time with a better algorithm: there the sends alone are nearer to the truth. */
static void take_other_ends(struct analysis *analysis, const struct changes *changes)
{
    if (changes->both_ends_ns / 2 > analysis->own_saving)
        analysis->own_saving = changes->both_ends_ns;
}

/* With the calls of small messages gone that others could have carried as well. */
static void add_small_messages(struct analyst *analyst, struct changes *changes)
{
    struct analysis *analysis = analyst->analysis;
    changes->combined = combined_of(analyst->graph);
    analysis->small_combined = changes->combined.count;
    if (changes->combined.count > 0)
        add_change(changes, (struct replay_options){.combined = changes->combined.messages}, &analysis->small_saving);
}

/* Computing by location. */
struct spread {
    double *compute_ns; /* owned */
    double mean_ns, most_ns;
    bool even;
};

double *analyst_compute_ns(const struct analyst *analyst)
{
    double *compute_ns = memory_new(analyst->graph->location_count * sizeof *compute_ns);
    for (size_t i = 0; i < analyst->graph->location_count; i++)
        compute_ns[i] = (double)analyst->compute_ns[i];
    return compute_ns;
}

const struct sections *analyst_sections(struct analyst *analyst)
{
    if (!analyst->sections) {
        analyst->sections = memory_new(sizeof *analyst->sections);
        if (!sections_find(analyst->sections, analyst->graph))
            sections_clear(analyst->sections);
    }
    return analyst->sections->count > 0 ? analyst->sections : NULL;
}

static struct spread spread_of(const struct analyst *analyst)
{
    size_t locations = analyst->graph->location_count;
    struct spread spread = {.compute_ns = analyst_compute_ns(analyst)};
    double sum_ns = 0;
    for (size_t i = 0; i < locations; i++) {
        sum_ns += spread.compute_ns[i];
        spread.most_ns = larger(spread.most_ns, spread.compute_ns[i]);
    }
    if (locations > 0)
        spread.mean_ns = sum_ns / (double)locations;
    double excess_ns = spread.most_ns - spread.mean_ns;
    spread.even = spread.mean_ns <= 0 || excess_ns <= BALANCED_SHARE * (double)analyst->analysis->duration;
    return spread;
}

/* What starts and ends MPI lies before the first and after the last that a process does. */
struct working {
    int64_t begin_ns, end_ns; /* of the process */
    int64_t start_ns, stop_ns;
    bool known;
};

/* By state: 'b' if calls of it start MPI, 'e' if they end it; 0: neither. */
static char *borders_of(const struct defs *defs)
{
    char *borders = memory_new(defs->state_count);
    for (size_t i = 0; i < defs->state_count; i++)
        if (mpi_function_starts_or_ends(defs->states[i].name))
            borders[i] = strcmp(defs->states[i].name, "MPI_Finalize") == 0 ? 'e' : 'b';
    return borders;
}

static void add_location(struct working *working, const struct graph *graph, uint32_t location, const char *borders)
{
    const struct location *where = &graph->locations[location];
    if (!working->known) {
        working->begin_ns = where->begin_ns;
        working->end_ns = where->end_ns;
    }
    working->begin_ns = smaller(working->begin_ns, where->begin_ns);
    working->end_ns = larger(working->end_ns, where->end_ns);
    working->known = true;
    for (uint32_t i = 0; i < where->count; i++) {
        struct call call = graph_call(graph, location, i);
        if (!borders[call.state])
            continue;
        int64_t *sum_ns = borders[call.state] == 'e' ? &working->stop_ns : &working->start_ns;
        time_add(sum_ns, time_since(call.enter_ns, call.leave_ns));
    }
}

/* See heuristics/efficiency.h: the same of metrics. */
static int64_t working_ns(const struct analyst *analyst)
{
    const struct graph *graph = analyst->graph;
    size_t count = analyst->analysis->process_count;
    struct working *rows = memory_new(count * sizeof *rows);
    char *borders = borders_of(graph->defs);
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (uint32_t location = 0; location < graph->location_count; location++)
        add_location(&rows[analyst->rows[location]], graph, location, borders);
    free(borders);
    for (size_t i = 0; i < count; i++) {
        int64_t from_ns = rows[i].begin_ns + rows[i].start_ns, to_ns = rows[i].end_ns - rows[i].stop_ns;
        begin_ns = smaller(begin_ns, from_ns);
        end_ns = larger(end_ns, to_ns);
    }
    free(rows);
    return count > 0 ? time_since(begin_ns, end_ns) : 0;
}

/* Every location computes as long as their mean; those without work get some. Either all that each computes takes as
   many times as long, or others do while they wait what some compute beyond the mean. */
static void add_even_totals(struct analyst *analyst, struct changes *changes, const struct spread *spread)
{
    struct analysis *analysis = analyst->analysis;
    size_t locations = analyst->graph->location_count;
    changes->factors = balance_factors(spread->compute_ns, locations);
    changes->shared = balance_shared(spread->compute_ns, locations);
    add_change(changes, (struct replay_options){.compute = changes->factors}, &changes->stretched_ns);
    if (changes->shared)
        add_change(changes, (struct replay_options){.compute = changes->shared}, &analysis->idle_saving);
    if (analyst_sections(analyst))
        changes->relief = relief_new(analyst_sections(analyst), spread->compute_ns);
    struct replay_options options = {0};
    if (!changes->relief)
        return;
    relief_take(changes->relief, &options);
    add_change(changes, options, &changes->relieved_ns);
}

static void take_even_totals(struct analyst *analyst, struct changes *changes)
{
    analyst->analysis->balanced_saving = larger(changes->relieved_ns, changes->stretched_ns);
    if (changes->relieved_ns <= changes->stretched_ns)
        return;
    analyst->relief = changes->relief;
    changes->relief = NULL;
}

static void take_efficiencies(struct analyst *analyst, const struct spread *spread)
{
    struct analysis *analysis = analyst->analysis;
    /* No process can work until the last one has started. */
    double working = (double)working_ns(analyst);
    double ideal = (double)time_since(analysis->waits[WAIT_AT_INIT].longest_ns, analysis->ideal);
    /* At least the longest computing, at most the time that all this took: clocks and missing partners can break
       either. */
    ideal = fmax(fmin(ideal, working), spread->most_ns);
    /* POP: load balance = mean / max of computing, serialisation = max / ideal time, transfer = ideal / real time.
       Their product is the parallel efficiency. */
    analysis->load_balance = ratio_of(spread->mean_ns, spread->most_ns);
    analysis->serialisation = ratio_of(spread->most_ns, ideal);
    analysis->transfer = ratio_of(ideal, working);
}

static void add_even_sections(struct analyst *analyst, struct changes *changes, const struct spread *spread)
{
    struct replay_options options = {0};
    if (!analyst_sections(analyst))
        return;
    changes->sections = even_sections_new(analyst_sections(analyst), spread->compute_ns, &options);
    add_change(changes, options, &analyst->analysis->even_sections_saving);
}

/* The same in each step between collectives of all. */
static void add_even_steps(struct analyst *analyst, struct changes *changes)
{
    struct analysis *analysis = analyst->analysis;
    struct even_steps even;
    struct replay_options options = {0};
    changes->steps = even_steps_new(analyst->graph, analyst->compute_ns, &even, &options);
    if (changes->steps)
        add_change(changes, options, &analysis->even_steps_saving);
    analysis->alone = even.alone_ns;
    /* Locations come in the order of the trace, which depends on the format. */
    if (even.alone_ns > 0)
        analysis->alone_process = analyst->rows[even.alone_location];
}

static void add_beside(const struct analyse_beside *beside, struct changes *changes)
{
    if (beside)
        changes->beside = beside->replays(beside->context, &changes->options[changes->count]);
}

static void take_beside(const struct analyse_beside *beside, const struct changes *changes)
{
    if (beside)
        beside->end(beside->context, &changes->replays[changes->count]);
}

static void changes_run(struct changes *changes, const struct graph *graph, unsigned threads, struct analysis *analysis)
{
    replay_run_all(graph, changes->options, changes->count + changes->beside, threads, changes->replays);
    take_ideal(analysis, graph, &changes->replays[changes->ideal]);
    for (size_t i = 0; i < changes->count; i++) {
        if (i == changes->ideal)
            continue;
        int64_t saving_ns = time_since(changes->replays[i].end_ns, analysis->replay);
        if (changes->kinds[i] != WAIT_NONE)
            take_waits(analysis, changes->kinds[i], saving_ns);
        else if (changes->options[i].pace)
            *changes->savings_ns[i] = replay_saved(graph, &changes->replays[i]);
        else
            *changes->savings_ns[i] = saving_ns;
    }
}

static void changes_clear(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free_waits_clear(&changes->options[i]);
    free(changes->quick);
    free(changes->quick_ends);
    free(changes->factors);
    free(changes->shared);
    combined_clear(&changes->combined);
    even_sections_free(changes->sections);
    relief_free(changes->relief);
    even_steps_free(changes->steps);
}

void save_all(struct analyst *analyst)
{
    struct changes changes = {0};
    struct spread spread = spread_of(analyst);
    add_ideal(&changes);
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        add_waits(analyst, &changes, (enum wait_kind)kind);
    add_own_time(analyst, &changes);
    add_small_messages(analyst, &changes);
    if (!spread.even) {
        add_even_totals(analyst, &changes, &spread);
        add_even_sections(analyst, &changes, &spread);
    }
    add_even_steps(analyst, &changes);
    add_beside(analyst->beside, &changes);
    changes_run(&changes, analyst->graph, analyst->replay_threads, analyst->analysis);
    take_other_ends(analyst->analysis, &changes);
    take_even_totals(analyst, &changes);
    take_beside(analyst->beside, &changes);
    take_efficiencies(analyst, &spread);
    changes_clear(&changes);
    free(spread.compute_ns);
}
