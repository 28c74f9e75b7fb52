/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a finding the lack of cores explains. A process that is late makes others wait because it had no core
   only as far as it had none in the time by which it is late: one late process is compared with what itself lost,
   however many wait for it, and what all lose alike makes nobody wait.

   Of a process that is always the late one both are known. Of one that is late now and then it is not recorded how much
   of its loss was just then. What waits for a core that come at random can add up to is known from their number: that
   of each process is a Poisson number, and the latest has the largest of all. Where the number is not recorded, all
   that a process lost may have been just then. Of calls that take long themselves, as much is explained as they lost.
 */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "heuristics/core_losses.h"
#include "heuristics/efficiency.h"

#include <math.h>
#include <stdlib.h>

/* A process that is late. */
struct late {
    double late_s, times;  /* how long in all, and about how often */
    double part;           /* of the time by which any process is late */
    double busy_s, lost_s; /* neither waiting for others, nor sleeping in a call for them; of that without a core */
    double other_s, other_lost_s; /* the same of those that it is compared with, on average */
    double each_s;                /* a wait for a core; 0: not known */
    size_t processes;             /* it is the latest of so many */
    bool is_compared_with_first;  /* or else with the mean of the others */
};

/* Waits of random lengths differ as fewer, longer ones of equal lengths do: by this factor, which would be 1 for equal
   lengths, and 2 if any moment were as likely to end one. */
static const double UNEQUAL = 1.25;

/* What it would be late by even if it lost evenly over its time: the rest of what it is late by, and of what it lost,
   may be chance. */
static double lost_evenly_s(const struct late *late)
{
    double share = ratio_of(late->lost_s, late->busy_s), other = ratio_of(late->other_lost_s, late->other_s);
    return share * late->late_s + late->part * late->other_s * (share - other);
}

/* The part of a distribution that is summed up, in deviations: what lies beyond is nothing. */
static const double TAIL = 12;

/* From this mean on, what differs grows as the deviation does, which is its root: there is less to sum up. */
static const double MANY = 10000;

/* Of `count` Poisson numbers with this mean the largest, on average: less the mean of the others, or the smallest. */
static double poisson_excess(double mean, size_t count, bool less_smallest)
{
    if (count < 2)
        return 0;
    if (mean > MANY)
        return sqrt(mean / MANY) * poisson_excess(MANY, count, less_smallest);
    double from = fmax(floor(mean - TAIL * (sqrt(mean) + 1)), 0), most = from, least = from, below = 0,
           n = (double)count;
    for (double k = from; k <= mean + TAIL * (sqrt(mean) + 1); k++) {
        below = fmin(below + exp(k * log(mean) - mean - lgamma(k + 1)), 1);
        most += 1 - pow(below, n);
        least += pow(1 - below, n);
    }
    return less_smallest ? most - least : (most - mean) * n / (n - 1);
}

/* What waits for a core that come at random make a process late by, beside what else makes it late: sums of squares add
   up where one has nothing to do with the other. */
static double lost_by_chance_s(const struct late *late, double rest_s)
{
    double each_s = UNEQUAL * late->each_s;
    if (each_s <= 0)
        return rest_s;
    double waits = ratio_of(late->lost_s * late->part, each_s * late->times);
    if (waits <= 0)
        return 0;
    double chance_s = late->times * each_s * poisson_excess(waits, late->processes, late->is_compared_with_first);
    double part = fmin(ratio_of(chance_s, late->late_s), 1);
    return rest_s * (1 - sqrt(1 - part * part));
}

/* Of what it is late by, from 0 to 1. */
static double part_explained(const struct late *late)
{
    if (late->late_s <= 0)
        return 0;
    /* What the others cannot have lost at other times they lost in the time by which it is late. */
    double alike_s = fmax(late->other_lost_s - (1 - late->part) * late->other_s, 0);
    double most_s = fmax(fmin(late->lost_s - alike_s, late->late_s), 0);
    double evenly_s = fmax(fmin(lost_evenly_s(late), most_s), 0);
    double by_chance_s = fmin(lost_by_chance_s(late, late->late_s - evenly_s), most_s - evenly_s);
    return (evenly_s + by_chance_s) / late->late_s;
}

/* By row: by how much a process computes longer than the mean in the iterations in which it computes longest. */
static double *excess_of(const struct metrics *metrics, double *sum_s)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    double *excess_s = memory_new(metrics->process_count * sizeof *excess_s);
    for (size_t i = 0; i < iterations->row_count; i++) {
        const struct iteration_row *row = &iterations->rows[i];
        double ns = (double)time_since(row->computing_ns, row->most_ns);
        excess_s[row->heaviest] += ns / 1e9;
        *sum_s += ns / 1e9;
    }
    return excess_s;
}

/* Of what the longest computing of each iteration exceeds the mean by; or of each turn of the loops inside, where the
   finding saves more. Turns that vary at random add up to as many times the excess as the root of how many they are. */
static double part_of_iterations(const struct metrics *metrics, const struct finding *finding,
                                 const struct core_losses *losses)
{
    double count = (double)metrics->process_count, lost_s = 0, compute_s = 0, sum_s = 0, explained_s = 0;
    double *excess_s = excess_of(metrics, &sum_s), inside = fmax(ratio_of(finding->saving_s, sum_s), 1);
    for (size_t i = 0; i < metrics->process_count; i++) {
        lost_s += losses[i].computing_s;
        compute_s += (double)metrics_compute_ns(metrics, i) / 1e9;
    }
    for (size_t i = 0; i < metrics->process_count; i++) {
        double part = ratio_of(excess_s[i], sum_s), own_s = (double)metrics_compute_ns(metrics, i) / 1e9;
        /* The mean has its share of the longest, too: 1 - 1/N of what that exceeds the others by is above the mean. */
        struct late late = {.late_s = inside * excess_s[i] * count / (count - 1),
                            .times = inside * inside * part * metrics->phases->iterations.count,
                            .part = part,
                            .busy_s = own_s,
                            .lost_s = losses[i].computing_s,
                            .other_s = (compute_s - own_s) / (count - 1),
                            .other_lost_s = (lost_s - losses[i].computing_s) / (count - 1),
                            .each_s = losses[i].each_s,
                            .processes = metrics->process_count};
        explained_s += excess_s[i] * part_explained(&late);
    }
    free(excess_s);
    return ratio_of(explained_s, sum_s);
}

/* All waiting of the run that others cause, except where MPI starts and ends. */
struct waiting {
    double *victims_s, *causes_s; /* by row: who waits, and who is waited for; owned */
    double *late_s;               /* by row: how long anybody waits for it; owned */
    double all_s, mean_s;         /* of all calls that wait; of each */
    double all_late_s;
};

static void find_late(struct waiting *waiting, const struct finding_input *input)
{
    for (size_t i = 0; i < input->metrics->process_count; i++) {
        /* At least as long as if all others waited at once: metrics files of earlier versions do not have it. */
        double least_s = waiting->causes_s[i] / (double)(input->metrics->process_count - 1);
        waiting->late_s[i] = fmax((double)input->analysis->waited_for_ns[i] / 1e9, least_s);
        waiting->all_late_s += waiting->late_s[i];
    }
}

static struct waiting waiting_of(const struct finding_input *input)
{
    size_t count = input->metrics->process_count;
    struct waiting waiting = {.victims_s = memory_new(count * sizeof(double)),
                              .causes_s = memory_new(count * sizeof(double)),
                              .late_s = memory_new(count * sizeof(double))};
    double calls = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++) {
        const struct wait_sums *sums = &input->analysis->waits[kind];
        if (kind == WAIT_AT_INIT || kind == WAIT_AT_FINALIZE)
            continue;
        calls += (double)sums->count;
        waiting.all_s += (double)sums->ns / 1e9;
        for (size_t i = 0; i < count; i++) {
            waiting.victims_s[i] += (double)sums->victims_ns[i] / 1e9;
            waiting.causes_s[i] += (double)sums->causes_ns[i] / 1e9;
        }
    }
    waiting.mean_s = ratio_of(waiting.all_s, calls);
    find_late(&waiting, input);
    return waiting;
}

static void waiting_clear(struct waiting *waiting)
{
    free(waiting->victims_s);
    free(waiting->causes_s);
    free(waiting->late_s);
}

static double busy_s_of(const struct metrics *metrics, const struct core_losses *losses, size_t row)
{
    return (double)metrics_compute_ns(metrics, row) / 1e9 + losses[row].own_calls_s;
}

/* The others count as much as they wait. */
static struct late late_of(const struct metrics *metrics, const struct waiting *waiting,
                           const struct core_losses *losses, size_t row)
{
    struct late late = {.late_s = waiting->late_s[row],
                        .part = ratio_of(waiting->late_s[row], waiting->all_late_s),
                        .busy_s = busy_s_of(metrics, losses, row),
                        .lost_s = losses[row].computing_s + losses[row].calls_s,
                        .each_s = losses[row].each_s,
                        .processes = metrics->process_count,
                        .is_compared_with_first = true};
    double all_s = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        if (i == row)
            continue;
        all_s += waiting->victims_s[i];
        late.other_s += waiting->victims_s[i] * busy_s_of(metrics, losses, i);
        late.other_lost_s += waiting->victims_s[i] * (losses[i].computing_s + losses[i].calls_s);
    }
    late.other_s = ratio_of(late.other_s, all_s);
    late.other_lost_s = ratio_of(late.other_lost_s, all_s);
    /* The first waits longest, and the mean of all that wait is half of that. */
    late.times = ratio_of(late.late_s, 2 * waiting->mean_s);
    return late;
}

/* Of the waiting of a finding; of one about waiting in general, of all of it. */
static double part_of_waits(const struct finding_input *input, const struct finding *finding,
                            const struct core_losses *losses)
{
    struct wait_sums *sums = finding_waits(finding->kind, input->analysis);
    struct waiting waiting = waiting_of(input);
    double all_s = 0, explained_s = 0;
    for (size_t i = 0; i < input->metrics->process_count; i++) {
        double caused_s = sums ? (double)sums->causes_ns[i] / 1e9 : waiting.causes_s[i];
        struct late late = late_of(input->metrics, &waiting, losses, i);
        all_s += caused_s;
        explained_s += caused_s * part_explained(&late);
    }
    if (sums)
        wait_sums_free(sums);
    waiting_clear(&waiting);
    return ratio_of(explained_s, all_s);
}

/* Of what the longest computing exceeds the mean by: the part that is gone if no process had lost anything. */
static double part_of_totals(const struct metrics *metrics, const struct core_losses *losses, double *excess_s)
{
    double count = (double)metrics->process_count, mean_s = 0, most_s = 0, own_mean_s = 0, own_most_s = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        double compute_s = (double)metrics_compute_ns(metrics, i) / 1e9,
               own_s = fmax(compute_s - losses[i].computing_s, 0);
        mean_s += compute_s / count;
        own_mean_s += own_s / count;
        most_s = fmax(compute_s, most_s);
        own_most_s = fmax(own_s, own_most_s);
    }
    *excess_s = most_s - mean_s;
    return 1 - ratio_of(own_most_s - own_mean_s, *excess_s);
}

/* Work that is uneven between collectives saves more than the totals differ by: for the rest all waiting stands. */
static double part_of_uneven_work(const struct finding_input *input, const struct finding *finding,
                                  const struct core_losses *losses)
{
    double excess_s, part = part_of_totals(input->metrics, losses, &excess_s),
                     rest = fmax(1 - ratio_of(excess_s, finding->saving_s), 0);
    if (rest <= 0)
        return part;
    return (1 - rest) * part + rest * part_of_waits(input, finding, losses);
}

/* What all processes lost may add up along the path through the run: no finding saves more of it. */
static double part_of_path(const struct metrics *metrics, const struct finding *finding,
                           const struct core_losses *losses)
{
    double lost_s = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        lost_s += losses[i].computing_s + losses[i].calls_s;
    return ratio_of(lost_s, finding->saving_s);
}

/* Is this what the finding is about: calls of this function? */
static bool is_about(const struct finding *finding, const struct state_def *state)
{
    switch (finding->kind) {
    case FINDING_transfer:
        return state->name == finding->functions[0];
    case FINDING_small_messages:
        return state->class == CLASS_P2P;
    case FINDING_slow_link:
        return state->class == CLASS_P2P || state->class == CLASS_WAIT;
    case FINDING_excessive_synchronisation:
        return state->class == CLASS_SYNC || state->class == CLASS_COLLECTIVE;
    default:
        return false;
    }
}

/* Time of a process in the calls that the finding is about. */
static double calls_s_of(const struct finding_input *input, const struct finding *finding, size_t row)
{
    const struct process_row *process = &input->metrics->process[row];
    double calls_s = 0;
    if (finding->kind == FINDING_io)
        return (double)input->analysis->waits[WAIT_IO].victims_ns[row] / 1e9;
    if (finding->kind == FINDING_slow_link && finding->causes.count > 0 &&
        !is_among(process->rank, finding->causes.rank, finding->causes.count))
        return 0;
    for (size_t i = 0; i < process->function_count; i++)
        if (is_about(finding, &input->metrics->defs->states[process->functions[i].state]))
            calls_s += (double)process->functions[i].time_ns / 1e9;
    return calls_s;
}

/* Of calls that take long themselves: as much as they lost at most. A call that waits for a file sleeps: there a
   process is ready only for what remains when it was ready all the time that it computes. */
static double part_of_calls(const struct finding_input *input, const struct finding *finding,
                            const struct core_losses *losses)
{
    double all_s = 0, lost_s = 0;
    for (size_t i = 0; i < input->metrics->process_count; i++) {
        double own_s = fmin(calls_s_of(input, finding, i), losses[i].own_calls_s), ready_s = losses[i].ready_s;
        if (finding->kind == FINDING_io)
            ready_s = fmax(ready_s - (double)metrics_compute_ns(input->metrics, i) / 1e9, 0);
        all_s += own_s;
        lost_s += losses[i].share * fmin(own_s, ready_s);
    }
    return ratio_of(lost_s, all_s);
}

static bool is_about_calls(enum finding_kind kind)
{
    return kind == FINDING_transfer || kind == FINDING_io || kind == FINDING_small_messages ||
           kind == FINDING_slow_link || kind == FINDING_excessive_synchronisation;
}

/* A process that waits for a disk needs no core. */
static bool is_about_files(const struct finding_input *input, const struct finding *finding)
{
    const struct defs *defs = input->metrics->defs;
    if (finding->kind != FINDING_transfer || !finding->functions[0])
        return finding->kind == FINDING_io;
    int32_t state = defs_find_state(defs, finding->functions[0]);
    return state >= 0 && defs->states[state].class == CLASS_IO;
}

double finding_machine_part(const struct finding_input *input, const struct finding *finding)
{
    struct core_losses *losses = core_losses_of(input->metrics);
    double part;
    if (!losses)
        return is_about_files(input, finding) ? 0 : 1;
    if (finding->kind == FINDING_compute_imbalance)
        part = part_of_uneven_work(input, finding, losses);
    else if (finding->kind == FINDING_dynamic_imbalance)
        part = part_of_iterations(input->metrics, finding, losses);
    else if (finding->kind == FINDING_serialisation || finding->kind == FINDING_contention ||
             finding_wait(finding->kind) != WAIT_NONE)
        part = part_of_waits(input, finding, losses);
    else if (is_about_calls(finding->kind))
        part = part_of_calls(input, finding, losses);
    else
        part = 1;
    part = fmin(part, part_of_path(input->metrics, finding, losses));
    free(losses);
    return fmax(fmin(part, 1), 0);
}
