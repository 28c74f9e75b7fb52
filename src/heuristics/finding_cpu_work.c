/* SPDX-License-Identifier: BSD-3-Clause */
/* Uneven work where processes wait for cores: that takes so much longer than computing that times show nothing of the
   work. Samples are of CPU time, and outside MPI. */
#include "heuristics/finding_cpu_work.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/core_losses.h"
#include "heuristics/efficiency.h"
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A difference that is worth to be known; more than the others differ by, and than samples miss. */
static const double EXCESS_SHARE = 0.1, DEVIATIONS = 3, ERRORS = 4;

/* By row of the metrics. */
struct cpu {
    int64_t *ns;
    uint64_t *samples;
};

static struct cpu cpu_of(const struct metrics *metrics)
{
    const struct profile *profile = metrics->profile;
    struct cpu cpu = {.ns = memory_new(metrics->process_count * sizeof *cpu.ns),
                      .samples = memory_new(metrics->process_count * sizeof *cpu.samples)};
    for (size_t i = 0; i < profile->cell_count; i++) {
        size_t row = metrics_row_of(metrics, profile->cells[i].rank);
        if (row == SIZE_MAX)
            continue;
        time_add(&cpu.ns[row], profile->cells[i].ns);
        cpu.samples[row] += profile->cells[i].samples;
    }
    return cpu;
}

/* Each period of CPU time has one sample, at random: it stands for all of the period, if that is not partly in MPI.
   There are two such periods for each call at most, and each errs by half of its length at most. */
static double error_square(const struct metrics *metrics, const struct cpu *cpu, size_t row)
{
    double samples = (double)cpu->samples[row], ends = 0;
    for (size_t i = 0; i < metrics->process[row].function_count; i++)
        ends += 2 * (double)metrics->process[row].functions[i].count;
    double half_ns = ratio_of((double)cpu->ns[row], samples) / 2;
    return fmin(samples, ends) * half_ns * half_ns;
}

/* Those above the middle between the mean and the most, and the others: [1] and [0]. */
struct group {
    double count, ns, squares, most_ns;
    double error_squares; /* of the samples, in ns² */
};

static void groups_of(const struct metrics *metrics, const struct cpu *cpu, int64_t *excess_ns, struct group group[2])
{
    double mean_ns = 0, most_ns = 0;
    group[0] = group[1] = (struct group){0};
    for (size_t i = 0; i < metrics->process_count; i++) {
        mean_ns += (double)cpu->ns[i] / (double)metrics->process_count;
        most_ns = fmax((double)cpu->ns[i], most_ns);
    }
    for (size_t i = 0; i < metrics->process_count; i++) {
        double ns = (double)cpu->ns[i];
        struct group *its = &group[ns > (mean_ns + most_ns) / 2];
        its->count++;
        its->ns += ns;
        its->squares += ns * ns;
        its->most_ns = fmax(ns, its->most_ns);
        its->error_squares += error_square(metrics, cpu, i);
        excess_ns[i] = its == &group[1] ? llround(ns - mean_ns) : 0;
    }
}

static bool is_uneven(const struct group group[2])
{
    if (group[0].count < 1 || group[1].count < 1)
        return false;
    double mean_ns = group[0].ns / group[0].count, excess_ns = group[1].ns / group[1].count - mean_ns, variance = 0;
    if (group[0].count > 1)
        variance = (group[0].squares - group[0].count * mean_ns * mean_ns) / (group[0].count - 1);
    if (excess_ns < EXCESS_SHARE * mean_ns || excess_ns <= DEVIATIONS * sqrt(fmax(variance, 0)))
        return false;
    double error_square = group[0].error_squares / (group[0].count * group[0].count) +
                          group[1].error_squares / (group[1].count * group[1].count);
    return excess_ns > ERRORS * sqrt(error_square);
}

/* Waiting for cores explains this part of the time in which the others seem to compute, and do not. */
static const double EXPLAINED = 0.5;

/* Whether times show nothing because processes wait for cores. Not if it is known that the others hardly do: then they
   sleep. */
static bool is_hidden(const struct metrics *metrics, const struct group group[2], const int64_t *excess_ns)
{
    struct core_losses *losses = core_losses_of(metrics);
    double lost_s = 0, excess_s = (group[1].ns / group[1].count - group[0].ns / group[0].count) / 1e9;
    for (size_t i = 0; losses && i < metrics->process_count; i++)
        if (excess_ns[i] == 0)
            lost_s += losses[i].computing_s / group[0].count;
    bool hidden = !losses || lost_s >= EXPLAINED * excess_s;
    free(losses);
    return hidden;
}

static void say(const struct group group[2], size_t processes, struct finding *finding)
{
    char who[WHO_SIZE], own[TEXT_NUMBER_SIZE], others[TEXT_NUMBER_SIZE];
    bool one = group[1].count < 2;
    double own_s = group[1].ns / group[1].count / 1e9, others_s = group[0].ns / group[0].count / 1e9;
    who_text(who, &finding->causes, processes);
    snprintf(finding->title, sizeof finding->title, "uneven work: %s compute%s %s more CPU time than the others", who,
             one ? "s" : "", seconds_text(own, own_s - others_s));
    snprintf(
        finding->text, sizeof finding->text,
        "By samples of CPU time %s compute%s %s outside MPI%s, the other processes %s on average. All of them wait "
        "for cores for so long that times do not show it; with a core for each, it is what the run waits for.",
        who, one ? "s" : "", seconds_text(own, own_s), one ? "" : " each", seconds_text(others, others_s));
    snprintf(finding->advice, sizeof finding->advice, "give %s less work, once each process has a core of its own",
             one ? "this process" : "these processes");
    finding_evidence(finding, "cpu_s", own_s, true);
    finding_evidence(finding, "others_cpu_s", others_s, true);
}

bool find_uneven_cpu(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    size_t count = metrics->process_count;
    struct group group[2];
    if (!metrics->profile || metrics->profile->samples == 0 || count < 2 || !finding_shares_cores(metrics))
        return false;
    struct cpu cpu = cpu_of(metrics);
    int64_t *excess_ns = memory_new(count * sizeof *excess_ns);
    groups_of(metrics, &cpu, excess_ns, group);
    bool found = is_uneven(group) && is_hidden(metrics, group, excess_ns);
    if (found) {
        double mean_ns = (group[0].ns + group[1].ns) / (double)count;
        finding->by_cpu = true;
        finding->saving_s = (group[1].most_ns - mean_ns) / 1e9;
        finding->waiting_s = (group[1].most_ns - mean_ns) * (double)count / 1e9;
        finding->to_s = (double)input->analysis->duration / 1e9;
        finding->causes = ranks_to_blame(metrics, excess_ns);
        say(group, count, finding);
    }
    free(cpu.ns);
    free(cpu.samples);
    free(excess_ns);
    return found;
}
