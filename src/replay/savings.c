/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/analyst.h"
#include "replay/balance.h"
#include "replay/even_sections.h"
#include "replay/even_steps.h"
#include "replay/replay.h"

#include "core/memory.h"

/* Of many processes the waits of one are little, and yet can be what all others wait for: those of so much of the run.
 */
static const double REPLAY_SHARE_OF_ONE = 0.01;

/* A function that takes less than this share of the critical path is not worth a replay. */
static const double OWN_SHARE = 0.01;

/* Kinds that are replayed together with the kind: the two wrong orders are one problem, and who waits in the wrong
   order waits for a late sender. */
static unsigned kinds_with(int kind)
{
    const unsigned orders = 1u << WAIT_WRONG_ORDER_SAME | 1u << WAIT_WRONG_ORDER_OTHER;
    if (kind == WAIT_LATE_SENDER)
        return orders | 1u << kind;
    return orders >> kind & 1 ? orders : 1u << kind;
}

/* What the process waits that waits longest, for one kind. */
static int64_t longest_victim_ns(const struct analysis *analysis, unsigned kinds)
{
    int64_t most_ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        for (size_t i = 0; kinds >> kind & 1 && i < analysis->process_count; i++)
            most_ns = analysis->waits[kind].victims_ns[i] > most_ns ? analysis->waits[kind].victims_ns[i] : most_ns;
    return most_ns;
}

static bool matters(const struct analysis *analysis, unsigned kinds)
{
    double duration = (double)analysis->duration, all_ns = duration * (double)analysis->process_count,
           ns = analyst_waits_ns(analysis, kinds);
    return ns > 0 && (ns >= REPLAY_SHARE * all_ns ||
                      (double)longest_victim_ns(analysis, kinds) >= REPLAY_SHARE_OF_ONE * duration);
}

/* A replay without the waits of a kind, if it matters. Of kinds that are replayed together the first one's is for all.
 */
void save_waits(struct analyst *analyst, enum wait_kind kind)
{
    struct analysis *analysis = analyst->analysis;
    unsigned kinds = kinds_with((int)kind);
    bool first = kind == WAIT_LATE_SENDER || !(kinds & ((1u << kind) - 1));
    if (!first || !matters(analysis, kinds))
        return;
    struct replay replay = replay_run(analyst->graph, (struct replay_options){.free_waits = kinds});
    for (int k = (int)kind; kinds >> k; k++)
        if (kinds_with(k) == kinds && analysis->waits[k].ns > 0)
            analysis->waits[k].saving_ns = time_since(replay.end_ns, analysis->replay);
}

/* The function that takes most of the critical path takes no time but for waiting. */
void save_own_time(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    const struct defs *defs = analyst->graph->defs;
    uint32_t longest = analysis_longest_own(analysis, defs);
    if (longest == UINT32_MAX || (double)analysis->path_states_ns[longest] < OWN_SHARE * (double)analysis->duration)
        return;
    bool *quick = memory_new(defs->state_count * sizeof *quick);
    quick[longest] = true;
    struct replay replay = replay_run(analyst->graph, (struct replay_options){.quick_states = quick});
    analysis->own_saving = time_since(replay.end_ns, analysis->replay);
    free(quick);
}

/* What a replay saves in which lanes compute so many times as long. */
static int64_t saving_with(const struct analyst *analyst, const double *factors)
{
    struct replay replay = replay_run(analyst->graph, (struct replay_options){.compute = factors});
    return time_since(replay.end_ns, analyst->analysis->replay);
}

/* Computing by lane. */
struct spread {
    double *compute_ns; /* owned */
    double mean_ns, most_ns;
    bool even;
};

static struct spread spread_of(const struct analyst *analyst)
{
    size_t lanes = analyst->graph->lane_count;
    struct spread spread = {.compute_ns = memory_new(lanes * sizeof *spread.compute_ns)};
    double sum_ns = 0;
    for (size_t i = 0; i < lanes; i++) {
        double ns = spread.compute_ns[i] = (double)analyst->compute_ns[i];
        sum_ns += ns;
        spread.most_ns = ns > spread.most_ns ? ns : spread.most_ns;
    }
    spread.mean_ns = lanes ? sum_ns / (double)lanes : 0;
    spread.even =
        spread.mean_ns <= 0 || spread.most_ns - spread.mean_ns <= BALANCED_SHARE * (double)analyst->analysis->duration;
    return spread;
}

/* Every lane computes as long as their mean; those without work get some. */
void save_by_even_totals(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    size_t lanes = analyst->graph->lane_count;
    struct spread spread = spread_of(analyst);
    if (!spread.even) {
        double *factors = balance_factors(spread.compute_ns, lanes), *shared = balance_shared(spread.compute_ns, lanes);
        analysis->balanced_saving = saving_with(analyst, factors);
        analysis->idle_saving = shared ? saving_with(analyst, shared) : 0;
        free(factors);
        free(shared);
    }
    free(spread.compute_ns);
    double duration = (double)analysis->duration, ideal = (double)analysis->ideal;
    analysis->load_balance = spread.most_ns > 0 ? spread.mean_ns / spread.most_ns : 0;
    analysis->serialisation = ideal > 0 ? spread.most_ns / ideal : 0;
    analysis->transfer = duration > 0 ? ideal / duration : 0;
}

void save_by_even_sections(struct analyst *analyst)
{
    struct spread spread = spread_of(analyst);
    if (!spread.even)
        analyst->analysis->even_sections_saving = even_sections_saving(analyst->graph, spread.compute_ns);
    free(spread.compute_ns);
}

/* The same in each step between collectives of all. */
void save_by_even_steps(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct even_steps even = even_steps_of(analyst->graph, analyst->compute_ns);
    analysis->even_steps_saving = even.saving_ns;
    analysis->alone = even.alone_ns;
    /* Lanes come in the order of the trace, which formats differ in. */
    analysis->alone_process = even.alone_ns > 0 ? analyst->rows[even.alone_lane] : 0;
}

/* With nothing changed a replay ends when the run ended, unless partners are missing. */
void save_nothing(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct replay ideal = replay_run(analyst->graph, (struct replay_options){.ideal = true});
    analysis->ideal = ideal.end_ns;
    analysis->forced = ideal.forced;
    analysis->replay =
        ideal.forced ? replay_run(analyst->graph, (struct replay_options){0}).end_ns : analysis->duration;
}
