/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings about OpenMP's threads: what one process would save bounds what the run does, which the replay of processes
   cannot say. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/threads.h"

#include <math.h>
#include <stdio.h>

/* What is lost in one process, in ns of all its threads, for each of the findings. */
static double uneven_ns(const struct process_threads *threads)
{
    return threads->waiting;
}

static double serial_ns(const struct process_threads *threads)
{
    return threads->serial * (double)(threads->threads - 1);
}

static double overhead_ns(const struct process_threads *threads)
{
    return threads->overhead;
}

/* The run saves what the process saves that loses most, at most: its loss spread over its threads. */
static bool find_loss(const struct finding_input *input, double (*loss)(const struct process_threads *),
                      struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    int64_t *lost_ns = memory_new(metrics->process_count * sizeof *lost_ns);
    double sum = 0, saving = 0;
    size_t most_threads = 1;
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct process_threads threads = process_threads_of(metrics, i);
        double ns = threads.threads > 1 ? loss(&threads) : 0;
        lost_ns[i] = llround(ns);
        sum += ns;
        saving = fmax(saving, ns / (double)threads.threads);
        most_threads = threads.threads > most_threads ? threads.threads : most_threads;
    }
    finding->waiting_s = sum / 1e9;
    finding->saving_s = saving / 1e9;
    finding->to_s = (double)input->analysis->duration / 1e9;
    finding->victims = ranks_with_most(metrics, lost_ns, 0.95);
    finding->causes = ranks_with_most(metrics, lost_ns, 0.95);
    finding_evidence(finding, "threads", (double)most_threads, false);
    finding_evidence(finding, "lost_s", sum / 1e9, true);
    free(lost_ns);
    return saving > 0;
}

bool find_uneven_threads(const struct finding_input *input, struct finding *finding)
{
    char who[WHO_SIZE], lost[TEXT_NUMBER_SIZE];
    if (!find_loss(input, uneven_ns, finding))
        return false;
    who_text(who, &finding->victims, input->metrics->process_count);
    snprintf(finding->title, sizeof finding->title, "threads wait at the ends of parallel regions: %s", who);
    snprintf(finding->text, sizeof finding->text,
             "Threads of %s wait %s in total for other threads of the same region, which have more to do.", who,
             seconds_text(lost, finding->waiting_s));
    snprintf(finding->advice, sizeof finding->advice,
             "give the loop another schedule (dynamic or guided, or a smaller chunk), or split its work evenly");
    return true;
}

bool find_serial_threads(const struct finding_input *input, struct finding *finding)
{
    char who[WHO_SIZE], lost[TEXT_NUMBER_SIZE];
    if (!find_loss(input, serial_ns, finding))
        return false;
    who_text(who, &finding->victims, input->metrics->process_count);
    snprintf(finding->title, sizeof finding->title, "one thread computes while the others are idle: %s", who);
    snprintf(
        finding->text, sizeof finding->text,
        "Outside parallel regions and MPI only one thread computes (%s); the other threads are idle for %s in total.",
        who, seconds_text(lost, finding->waiting_s));
    snprintf(finding->advice, sizeof finding->advice,
             "look in sight profile for what is computed outside regions, and make its loops parallel");
    return true;
}

bool find_short_regions(const struct finding_input *input, struct finding *finding)
{
    char who[WHO_SIZE], lost[TEXT_NUMBER_SIZE];
    if (!find_loss(input, overhead_ns, finding))
        return false;
    who_text(who, &finding->victims, input->metrics->process_count);
    snprintf(finding->title, sizeof finding->title, "parallel regions are too small: %s", who);
    snprintf(finding->text, sizeof finding->text,
             "In parallel regions of less than 20 µs, threads of %s spend %s in total starting and waiting instead of "
             "computing.",
             who, seconds_text(lost, finding->waiting_s));
    snprintf(finding->advice, sizeof finding->advice,
             "join neighbouring regions into one, make an outer loop parallel, or add an if clause for few iterations");
    return true;
}
