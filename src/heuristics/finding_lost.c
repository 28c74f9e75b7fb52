/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding for a run that loses much time without any other finding. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/property.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/even_work.h"

#include <stdio.h>
#include <string.h>

/* POP's limit of acceptable efficiency (co-design.pop-coe.eu/metrics). */
static const double ACCEPTABLE = 0.8;

/* Roles differ if this share of all time is waiting caused by the critical path, mostly for activities that the waiting
   process never does: the inter-partition part of the impact of critical activities (rules of diagnosis, 2.2). */
static const double WAITING = 0.1, BETWEEN_ROLES = 0.5;

/* The excess of the run over the mean computing, by POP's factors: they add up. */
struct loss {
    double mean_s, uneven_s, turns_s, transfer_s;
};

static struct loss loss_of(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    struct efficiency efficiency = efficiency_of(metrics);
    double working_s = (double)working_duration_ns(metrics) / 1e9, most_s = efficiency.communication * working_s;
    /* POP: serialisation = longest computing / run on an ideal network; transfer = that run / the recorded one. Each
       part is what the next factor takes away, so that mean + uneven + turns + transfer is the run. */
    double ideal_s = working_s;
    if (analysis->serialisation > 0 && metrics_communicate(metrics))
        ideal_s = smaller(most_s / analysis->serialisation, working_s);
    double mean_s = efficiency.parallel * working_s;
    return (struct loss){mean_s, most_s - mean_s, ideal_s - most_s, working_s - ideal_s};
}

bool finding_roles_differ(const struct analysis *analysis, double *lost_share, double *inter_share)
{
    double lost = (double)analysis->impact_imbalance;
    /* Threads that call MPI are parts of it as processes are. */
    double all = (double)analysis->impact_activity + (double)analysis->impact_other + lost;
    *lost_share = ratio_of(lost, all);
    *inter_share = ratio_of((double)analysis->impact_inter, lost);
    return *lost_share >= WAITING && *inter_share >= BETWEEN_ROLES;
}

/* Calls whose partners the trace does not record. A message that the program never receives lacks nothing. */
static uint64_t partnerless_calls(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    bool all = property_records_all(&metrics->defs->properties);
    return analysis->partnerless + (all ? 0 : analysis->unmatched);
}

enum { WHY_SIZE = 400 };

/* What is known of a run that has lost time. */
struct lost {
    const struct finding_input *input;
    const struct loss *loss;
    const struct finding *finding;
};

static const char LOOK_AT_PHASES[] =
    "look at when each process computes (sight timeline, sight phases), and begin with the phase that loses most";

static const char *why_no_calls(const struct lost *lost, char why[WHY_SIZE])
{
    if (metrics_communicate(lost->input->metrics))
        return NULL;
    snprintf(why, WHY_SIZE, "The trace has no calls of MPI: which process waits for which is not known.");
    return LOOK_AT_PHASES;
}

static const char *why_no_roots(const struct lost *lost, char why[WHY_SIZE])
{
    uint64_t rootless = lost->input->analysis->rootless;
    char number[TEXT_NUMBER_SIZE];
    if (rootless == 0)
        return NULL;
    snprintf(why, WHY_SIZE,
             "The trace does not record the root of %s collective call%s: which process waits for which is not known.",
             text_thousands(number, rootless), text_plural(rootless, "", "s"));
    return "record with sight record, which notes the roots; in the source look at what the processes that compute "
           "longest do before collectives";
}

static const char *why_no_partners(const struct lost *lost, char why[WHY_SIZE])
{
    uint64_t calls = partnerless_calls(lost->input->metrics);
    char number[TEXT_NUMBER_SIZE];
    if (calls == 0)
        return NULL;
    snprintf(why, WHY_SIZE,
             "The trace does not record the partner%s of %s call%s: which process waits for which is not known.",
             text_plural(calls, "", "s"), text_thousands(number, calls), text_plural(calls, "", "s"));
    return "record the whole run with sight record";
}

/* A reason explains a loss if it has this part of it. */
static const double MOST_OF_IT = 0.5;

/* Calls that may wait for something that the trace does not show. */
static bool say_unknown(const struct lost *lost, uint32_t state, double own_s, const char *what, char why[WHY_SIZE])
{
    char time[TEXT_NUMBER_SIZE];
    if (own_s <= MOST_OF_IT * lost->finding->waiting_s)
        return false;
    const char *name = lost->input->metrics->defs->states[state].name;
    snprintf(why, WHY_SIZE,
             "Calls of %.*s take %s, all processes together: how much of that is waiting %s is not known.",
             text_beginning(name, 60), name, seconds_text(time, own_s), what);
    return true;
}

static const char *why_late_roots(const struct lost *lost, char why[WHY_SIZE])
{
    double own_s;
    uint32_t state = finding_hides_waits(lost->input, &own_s);
    if (!say_unknown(lost, state, own_s, "for a root that is late", why))
        return NULL;
    return "look at what roots do before these calls: let the root come first, or start them early (the non-blocking "
           "form) and compute in the meantime";
}

static const char *why_late_start(const struct lost *lost, char why[WHY_SIZE])
{
    const struct metrics *metrics = lost->input->metrics;
    struct late_start late;
    char rank[TEXT_NUMBER_SIZE], later[TEXT_NUMBER_SIZE];
    double lost_s = ratio_of(lost->finding->waiting_s, (double)metrics->process_count);
    if (!finding_leaves_start_late(lost->input, &late) || (double)late.saving_ns / 1e9 <= MOST_OF_IT * lost_s)
        return NULL;
    snprintf(why, WHY_SIZE, "Process %s leaves MPI_Init %s after all others, which wait for it%s.",
             text_thousands(rank, metrics->process[late.row].rank), text_duration(later, late.later_ns),
             late.by_cores ? ": by the kernel's counters it had no core" : "");
    return "run again: where all processes start together, that is gone";
}

static const char *why_targets(const struct lost *lost, char why[WHY_SIZE])
{
    double own_s;
    uint32_t state = finding_needs_target(lost->input, &own_s);
    if (!say_unknown(lost, state, own_s, "until the target calls MPI", why))
        return NULL;
    return "look at what the targets compute meanwhile: give them less of it, or let them call MPI now and then "
           "(MPI_Iprobe), so that the library can answer";
}

static const char *why_roles(const struct lost *lost, char why[WHY_SIZE])
{
    double lost_share, inter_share;
    if (!finding_roles_differ(lost->input->analysis, &lost_share, &inter_share))
        return NULL;
    snprintf(why, WHY_SIZE,
             "The processes have different roles: most waiting is for what the waiting process never does itself.");
    return "let the roles overlap, or give a part of the work of one role to processes of the other";
}

static const char *why_uneven(const struct lost *lost, char why[WHY_SIZE])
{
    const struct loss *loss = lost->loss;
    char time[TEXT_NUMBER_SIZE];
    bool by_steps;
    if (loss->uneven_s < loss->turns_s || loss->uneven_s < loss->transfer_s)
        return NULL;
    double even_s = (double)even_work_saving_ns(lost->input->metrics, &by_steps) / 1e9;
    snprintf(why, WHY_SIZE,
             "Balancing the work alone (in total, between collectives, before each call, in each iteration) would save "
             "%s%s, according to the replay.",
             even_s > 0 ? "only " : "", even_s > 0 ? seconds_text(time, even_s) : "nothing");
    return LOOK_AT_PHASES;
}

static const char *why_spread(const struct lost *lost, char why[WHY_SIZE])
{
    (void)lost;
    snprintf(why, WHY_SIZE, "It is spread over many waits and calls; no single one costs enough.");
    return LOOK_AT_PHASES;
}

/* The first that is so counts. What the trace lacks comes first: with it there might be a finding, and any other reason
   would be a guess. Each says why, and returns what to do about it, or NULL. */
static const char *(*const reasons[])(const struct lost *lost, char why[WHY_SIZE]) = {
    why_no_calls, why_no_roots, why_no_partners, why_late_roots, why_late_start,
    why_targets,  why_roles,    why_uneven,      why_spread};
enum { REASONS = sizeof reasons / sizeof *reasons };

static void say_why(const struct finding_input *input, const struct loss *loss, struct finding *finding)
{
    const struct lost lost = {input, loss, finding};
    const char *advice = NULL;
    char why[WHY_SIZE];
    for (size_t i = 0; i < REASONS && !advice; i++)
        advice = reasons[i](&lost, why);
    text_append(finding->text, sizeof finding->text, " No single change is known to recover it. %s", why);
    snprintf(finding->advice, sizeof finding->advice, "%s", advice);
}

static void say_parts(const struct metrics *metrics, const struct loss *loss, struct finding *finding)
{
    char uneven[TEXT_NUMBER_SIZE], turns[TEXT_NUMBER_SIZE], transfer[TEXT_NUMBER_SIZE];
    text_append(finding->text, sizeof finding->text, "Uneven work costs at most %s (longest minus mean computing time)",
                seconds_text(uneven, loss->uneven_s));
    seconds_text(turns, loss->turns_s);
    if (metrics_communicate(metrics))
        text_append(finding->text, sizeof finding->text, ", waiting in chains %s, MPI and the network %s.", turns,
                    seconds_text(transfer, loss->transfer_s));
    else if (loss->turns_s > 0)
        text_append(finding->text, sizeof finding->text,
                    "; even the process that computes longest spends %s doing something else.", turns);
    else
        text_append(finding->text, sizeof finding->text, ".");
}

static double largest_of(const struct loss *loss)
{
    double largest = larger(loss->uneven_s, loss->turns_s);
    return larger(largest, loss->transfer_s);
}

bool find_lost_time(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    double parallel = efficiency_of(metrics).parallel;
    /* It is the last row of findings.def, and `found` are those that explain much: silence about a slow run would read
     * as if it were fine. */
    if (input->found > 0 || metrics->process_count < 2 || parallel >= ACCEPTABLE || parallel <= 0)
        return false;
    struct loss loss = loss_of(metrics);
    double lost_s = loss.uneven_s + loss.turns_s + loss.transfer_s;
    char lost[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    finding->saving_s = largest_of(&loss);
    finding->waiting_s = lost_s * (double)metrics->process_count;
    finding->to_s = (double)input->analysis->duration / 1e9;
    finding->unresolved = true;
    finding_takes_waits(finding, input->analysis);
    seconds_text(lost, lost_s);
    snprintf(finding->title, sizeof finding->title, "no single change is known to recover the %s that are lost", lost);
    snprintf(finding->text, sizeof finding->text, "Parallel efficiency is %s: each process loses %s on average. ",
             text_share(share, parallel), lost);
    say_parts(metrics, &loss, finding);
    say_why(input, &loss, finding);
    finding_evidence(finding, "uneven_s", loss.uneven_s, true);
    finding_evidence(finding, "chains_s", loss.turns_s, true);
    finding_evidence(finding, "transfer_s", loss.transfer_s, true);
    finding_evidence(finding, "mean_s", loss.mean_s, true);
    return true;
}
