/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings about the work itself: uneven, in series, or in too small messages. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/even_work.h"
#include "heuristics/finding_cpu_work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* POP's limit of acceptable efficiency (co-design.pop-coe.eu/metrics). */
static const double ACCEPTABLE = 0.8;

/* Two savings are the same if one is at least this part of the other. */
static const double CLOSE = 0.9;

/* A place in the source is reported if it has this part of the excess. */
static const double WHERE_PART = 0.5, NEARLY_ALL = 0.9;

/* Messages below 2^10 bytes cost their start, not their bytes: at 1 GB/s they transfer in a microsecond, about what any
   network takes to deliver an empty one. */
enum { SMALL_BITS = 10 };

static void take_whole_run(const struct finding_input *input, struct finding *finding)
{
    finding->from_s = 0;
    finding->to_s = (double)input->analysis->duration / 1e9;
}

/* By row, how much less it computes than the longest; and how much more than the mean. */
static int64_t *missing_work(const struct metrics *metrics, int64_t **excess_ns)
{
    size_t count = metrics->process_count;
    int64_t *missing = memory_new(count * sizeof *missing), most = 0;
    double mean = 0;
    *excess_ns = memory_new(count * sizeof **excess_ns);
    for (size_t i = 0; i < count; i++) {
        int64_t ns = metrics_compute_ns(metrics, i);
        most = larger(ns, most);
        mean += (double)ns / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t ns = metrics_compute_ns(metrics, i);
        missing[i] = most - ns;
        (*excess_ns)[i] = larger(ns - (int64_t)mean, 0);
    }
    return missing;
}

struct ranks ranks_above_mean(const struct metrics *metrics)
{
    int64_t *excess, *missing = missing_work(metrics, &excess);
    struct ranks ranks = ranks_to_blame(metrics, excess);
    free(missing);
    free(excess);
    return ranks;
}

/* Where even totals save less than this part of what even steps do, the totals are even: no work needs to move from one
   process to another for good. */
static const double IN_TOTAL = 0.1;

/* Reports whether only the totals are even, or each step, if it matters. */
static void say_steps(const struct analysis *analysis, struct finding *finding)
{
    size_t used = strlen(finding->text);
    char time[TEXT_NUMBER_SIZE];
    if ((double)analysis->balanced_saving > CLOSE * (double)analysis->even_steps_saving)
        return;
    snprintf(finding->text + used, sizeof finding->text - used,
             " Even totals alone would save only %s: to save more, balance the work between any two collectives of all "
             "processes.",
             seconds_text(time, (double)analysis->balanced_saving / 1e9));
}

/* Nobody has more to do than the others, and yet they wait for each other. */
static void say_between(const struct heuristic_result *result, size_t processes, struct finding *finding)
{
    char mean[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    snprintf(finding->title, sizeof finding->title, "uneven work between collectives, though not in total");
    snprintf(finding->text, sizeof finding->text,
             "In total the processes compute for %s on average and %s at most, but between two collectives of all "
             "processes some compute longer than the others, which wait for them.",
             seconds_text(mean, result->measure.mean), seconds_text(most, result->measure.most));
    snprintf(finding->advice, sizeof finding->advice,
             "balance the work between any two collectives, or synchronise less often, so that one step makes up for "
             "another");
    finding->causes.count = 0;
    /* What each lacks in total is nothing; all wait, in turn. */
    finding->waiting_s = larger(finding->waiting_s, finding->saving_s * (double)processes);
}

/* The call after most of the excess computing of the process with most. */
static void say_where(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    const struct wait_sums *uneven = &input->analysis->uneven;
    char share[TEXT_NUMBER_SIZE], rank[TEXT_NUMBER_SIZE], place[SITE_WHERE_SIZE + 80] = "", site[SITE_WHERE_SIZE];
    size_t most = 0, row = 0, used = strlen(finding->text);
    /* Excess is counted at the call after it; no call follows what is left over. */
    int64_t at_end = uneven->ns, ns = 0;
    for (size_t i = 0; i < input->analysis->state_count; i++) {
        at_end -= uneven->states_ns[i];
        if (uneven->states_ns[i] > ns) {
            ns = uneven->states_ns[i];
            most = i;
        }
    }
    bool is_end = at_end > ns;
    ns = larger(at_end, ns);
    if (is_end && !metrics_have_calls(metrics))
        return;
    /* Where one process computes less than all others, no place of these says anything. */
    if (finding->victims.count == 1 && finding->causes.count > 1)
        return;
    if (uneven->ns <= 0 || (double)ns < WHERE_PART * (double)uneven->ns)
        return;
    while (row + 1 < metrics->process_count && uneven->causes_ns[row] == 0)
        row++;
    if (is_end)
        snprintf(place, sizeof place, "after its last MPI call");
    else
        snprintf(place, sizeof place, "before %.*s", text_beginning(metrics->defs->states[most].name, 60),
                 metrics->defs->states[most].name);
    if (!is_end && uneven->site_count > 0 && (double)uneven->sites[0].ns >= WHERE_PART * (double)uneven->ns)
        snprintf(place + strlen(place), sizeof place - strlen(place), " %s",
                 site_where(site, &metrics->defs->sites[uneven->sites[0].index]));
    snprintf(finding->text + used, sizeof finding->text - used,
             " %s of the time that process %s computes beyond the mean is %s.",
             text_share(share, (double)ns / (double)uneven->ns), text_thousands(rank, metrics->process[row].rank),
             place);
}

bool finding_is_once(const struct finding_input *input)
{
    const struct analysis *analysis = input->analysis;
    const struct wait_sums *uneven = &analysis->uneven;
    double computes = 0;
    for (size_t i = 0; i < analysis->process_count; i++)
        if (uneven->causes_ns[i] > 0)
            computes = (double)metrics_compute_ns(input->metrics, i);
    return uneven->ns > 0 && (double)analysis->once_excess >= WHERE_PART * (double)uneven->ns &&
           (double)analysis->once < NEARLY_ALL * computes;
}

static void say_once(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    char piece[TEXT_NUMBER_SIZE], from[TEXT_NUMBER_SIZE];
    size_t used = strlen(finding->text);
    if (!finding_is_once(input))
        return;
    snprintf(finding->text + used, sizeof finding->text - used,
             " It is done once: one piece of %s, from %s on, not a part of each iteration.",
             text_duration(piece, analysis->once), text_duration(from, analysis->once_from));
    snprintf(finding->advice, sizeof finding->advice,
             "look at what is done there once (reading input, setting up, memory that is touched for the first time): "
             "share it among all processes, or do it while they have other work");
}

/* The processes' computing times differ by much of their mean. */
static bool has_spread(const struct heuristic_result *result)
{
    return result->verdict == VERDICT_FAIR || result->verdict == VERDICT_POOR;
}

/* Who computes longer, and what to do about it. */
static void say_who(const struct finding_input *input, const struct heuristic_result *result, struct finding *finding)
{
    struct heuristic_result described = {0};
    if (!has_spread(result)) {
        describe_compute(input->metrics, &described);
        result = &described;
    }
    snprintf(finding->title, sizeof finding->title, "uneven work: %.*s", text_beginning(result->headline, 200),
             result->headline);
    snprintf(finding->text, sizeof finding->text, "%s", result->analysis);
    snprintf(finding->advice, sizeof finding->advice, "%s",
             result->suggestion_count ? result->suggestions[0] : "hand out the work in smaller pieces");
}

bool find_compute_imbalance(const struct finding_input *input, struct finding *finding)
{
    const struct heuristic_result *result = heuristics_find(input->results, "stddev-compute");
    const struct analysis *analysis = input->analysis;
    bool by_steps;
    /* The replay evens out threads, too; of one process they have findings of their own. */
    if (input->metrics->process_count < 2)
        return false;
    double saving_s = (double)even_work_saving_ns(input->metrics, &by_steps) / 1e9;
    /* Where cores are shared, times that hardly differ show nothing of the work. Else noise alone makes some
       difference: what even computing saves is worth a finding from there on, however little it is of the computing. */
    if (!has_spread(result) && (find_uneven_cpu(input, finding) || saving_s * 1e9 <= finding_noise(analysis)))
        return finding->by_cpu;
    if (saving_s <= 0)
        return find_uneven_cpu(input, finding);
    int64_t *excess, *missing = missing_work(input->metrics, &excess);
    double waiting = 0;
    for (size_t i = 0; i < analysis->process_count; i++)
        waiting += (double)missing[i] / 1e9;
    finding->waiting_s = waiting;
    finding->saving_s = saving_s;
    finding->victims = ranks_with_most(input->metrics, missing, 0.95);
    finding->causes = ranks_to_blame(input->metrics, excess);
    free(missing);
    free(excess);
    take_whole_run(input, finding);
    finding_takes_waits(finding, input->analysis);
    if (by_steps && (double)analysis->balanced_saving <= IN_TOTAL * (double)analysis->even_steps_saving) {
        say_between(result, input->metrics->process_count, finding);
    } else {
        say_who(input, result, finding);
        say_where(input, finding);
        if (by_steps)
            say_steps(analysis, finding);
    }
    say_once(input, finding);
    finding_evidence(finding, "load_balance", analysis->load_balance, false);
    finding_evidence(finding, "deviation_s", result->measure.deviation, true);
    finding_evidence(finding, "most_s", result->measure.most, true);
    finding_evidence(finding, "mean_s", result->measure.mean, true);
    return true;
}

bool find_serialisation(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    double ideal = (double)analysis->ideal / 1e9, working = (double)working_duration_ns(input->metrics) / 1e9;
    /* POP: serialisation = longest computing / run on an ideal network; this gives the longest computing back. */
    double most = analysis->serialisation * ideal, start = (double)analysis->waits[WAIT_AT_INIT].longest_ns / 1e9;
    start += (double)finding_spawning(input).saving_ns / 1e9;
    char share[TEXT_NUMBER_SIZE], longest[TEXT_NUMBER_SIZE], chain[TEXT_NUMBER_SIZE];
    /* Uneven work and slow transfers are findings of their own. Of a run with two poor factors the other finding comes
       first, and chains would often be its consequence. */
    if (analysis->serialisation <= 0 || analysis->serialisation >= ACCEPTABLE || analysis->load_balance < ACCEPTABLE ||
        analysis->transfer < ACCEPTABLE || !metrics_communicate(input->metrics))
        return false;
    /* Before the last process has started, or been spawned, processes do not take turns. */
    finding->saving_s = ideal - start - most;
    finding->waiting_s = finding->saving_s * (double)analysis->process_count;
    if (finding->saving_s < FINDING_COSTS * working || most >= ACCEPTABLE * (ideal - start))
        return false;
    take_whole_run(input, finding);
    finding_takes_waits(finding, input->analysis);
    snprintf(finding->title, sizeof finding->title, "the processes take turns instead of working in parallel");
    snprintf(finding->text, sizeof finding->text,
             "Even on an ideal network the run would take %s, though no process computes for longer than %s: "
             "serialisation efficiency %s. Messages and collectives make processes wait for each other in chains.",
             seconds_text(chain, ideal), seconds_text(longest, most), text_share(share, analysis->serialisation));
    snprintf(finding->advice, sizeof finding->advice,
             "break the chain: pass on smaller pieces earlier (pipelining), or reorder the work so that neighbours do "
             "not depend on each other one after the other");
    finding_evidence(finding, "serialisation_efficiency", analysis->serialisation, false);
    finding_evidence(finding, "transfer_efficiency", analysis->transfer, false);
    finding_evidence(finding, "ideal_s", ideal, true);
    return true;
}

/* Calls that send messages of less than 1 KiB on average; `state` is not used. A finding_counts_calls. */
static bool counts_small_sends(const struct defs *defs, const struct call_site *calls, uint32_t state)
{
    (void)state;
    return defs->states[calls->state].class == CLASS_P2P && calls->bytes > 0 &&
           calls->bytes >> SMALL_BITS < calls->calls;
}

/* Messages of less than 1 KiB as a share of all. */
static double share_of_small(const struct metrics *metrics)
{
    double all = 0, small = 0;
    for (size_t i = 0; i < metrics->size_count; i++) {
        double sent = (double)metrics->sizes[i].sent;
        all += sent;
        /* The key is the number of bits: 10 is 512 to 1,023 bytes. */
        if (metrics->sizes[i].key <= SMALL_BITS)
            small += sent;
    }
    return ratio_of(small, all);
}

/* Sends may cost next to nothing, and their receives much: then the replay without them shows it. */
static void say_small(const struct finding_input *input, const struct heuristic_result *overhead, double small,
                      struct finding *finding)
{
    char share[TEXT_NUMBER_SIZE], cost[TEXT_NUMBER_SIZE], combined[TEXT_NUMBER_SIZE];
    if (has_spread(overhead))
        text_append(finding->text, sizeof finding->text,
                    "Each message costs at least as much as the shortest send of the run, whatever its size; together "
                    "that is %s of all processes' time. ",
                    text_share(cost, overhead->index));
    text_append(
        finding->text, sizeof finding->text,
        "%s of the messages carry less than 1 KiB; %s follow an earlier one to the same process with hardly any "
        "computing between.",
        text_share(share, small), text_thousands(combined, input->analysis->small_combined));
}

bool find_small_messages(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    const struct heuristic_result *overhead = heuristics_find(input->results, "communication-overhead");
    double saving_ns = (double)input->analysis->small_saving, small = share_of_small(metrics);
    char share[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE];
    uint64_t bytes, messages = metrics_messages(metrics, &bytes);
    bool costs = has_spread(overhead) || saving_ns >= FINDING_COSTS * (double)working_duration_ns(metrics);
    if (metrics->tables_unknown || small < 0.5 || !costs)
        return false;
    finding->saving_s = saving_ns / 1e9;
    finding->waiting_s = finding->saving_s * (double)metrics->process_count;
    take_whole_run(input, finding);
    for (size_t i = 0; i < input->analysis->state_count; i++)
        if (metrics->defs->states[i].class == CLASS_P2P)
            finding_takes_calls(finding, input->analysis, i);
    snprintf(finding->title, sizeof finding->title, "small messages: %s of %s carry less than 1 KiB",
             text_share(share, small), text_thousands(count, messages));
    say_small(input, overhead, small, finding);
    finding_say_sites(input, counts_small_sends, 0, finding);
    snprintf(
        finding->advice, sizeof finding->advice,
        "combine messages to the same process into fewer, larger ones (derived datatypes, MPI_Pack, or collectives)");
    finding_evidence(finding, "messages", (double)messages, false);
    finding_evidence(finding, "small_share", small, false);
    finding_evidence(finding, "small_combined", (double)input->analysis->small_combined, false);
    finding_evidence(finding, "overhead_index", overhead->index, false);
    return true;
}
