/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings from the course of the run: uneven iterations, too many synchronisations; and processes without work. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/finding.h"
#include "heuristics/iterations.h"
#include "heuristics/master.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Synchronising matters from this share of the processes' time on, excluding waiting: waiting for late processes has
   other causes, and fewer calls would not end it. */
static const double SYNCHRONISING = 0.05;

/* This many per process or iteration are more than needed, if the computing between them is at most this many times as
   long as they take. An iteration may need one at its end; with two something could be combined. */
enum { SYNCHRONISATIONS_LEAST = 20, AN_ITERATION = 2, LITTLE_BETWEEN = 5 };

/* An idle process computes less than this part of the others' mean, and these compute this share of the run: where
   nobody computes much, MPI or the network is the problem. */
static const double IDLE = 0.05, BUSY = 0.2;

/* Evidence and times of the whole loop. */
static void take_loop(const struct iteration_metrics *iterations, struct finding *finding)
{
    const struct iteration_row *first = &iterations->rows[0], *last = &iterations->rows[iterations->row_count - 1];
    finding->from_s = (double)first->begin_ns / 1e9;
    finding->to_s = (double)(last->begin_ns + last->time_ns) / 1e9;
    finding_evidence(finding, "iterations", (double)iterations->count, false);
    finding_evidence(finding, "loss_s", (double)iterations->loss_ns / 1e9, true);
    finding_evidence(finding, "static_s", (double)iterations->static_ns / 1e9, true);
    finding_evidence(finding, "most_s", (double)iterations->most_ns / 1e9, true);
    finding_evidence(finding, "recoverable_s", (double)iterations->recoverable_ns / 1e9, true);
}

static const char *dynamic_advice(enum iteration_class kind)
{
    switch (kind) {
    case ITERATION_ROTATING:
        return "spread the rotating work over the processes in each iteration, or synchronise less often so that one "
               "iteration makes up for another";
    case ITERATION_TRANSIENT:
        return "look at what else these iterations do (output, checkpoints, remeshing), and spread it or do it "
               "asynchronously";
    case ITERATION_GROWING:
    case ITERATION_FALLING:
        return "rebalance every few iterations: work moves between processes during the run";
    default:
        return "distribute the work of an iteration dynamically, or synchronise less often so that one iteration makes "
               "up for another; if the data give no reason, look for disturbance by the system";
    }
}

/* Processes with most work in total are named where this part of all waiting is for them. */
static const double WAITED_FOR = 0.8;

/* The share of all waiting that is for these processes. */
static double waited_for(const struct finding_input *input, const struct ranks *ranks)
{
    const struct metrics *metrics = input->metrics;
    double all_ns = 0, theirs_ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        for (size_t i = 0; kind != WAIT_AT_INIT && kind != WAIT_AT_FINALIZE && i < metrics->process_count; i++) {
            double ns = (double)input->analysis->waits[kind].causes_ns[i];
            all_ns += ns;
            if (is_among(metrics->process[i].rank, ranks->rank, ranks->count))
                theirs_ns += ns;
        }
    return ratio_of(theirs_ns, all_ns);
}

/* If the totals show it: the processes with most work in the few iterations, or more and more, or those that the others
   wait for in turn. Where the work rotates or is random, the totals are even, and the process above their mean is
   chance. */
static void name_heaviest(const struct finding_input *input, double dynamic, struct finding *finding)
{
    struct ranks above = ranks_above_mean(input->metrics);
    bool shows =
        iteration_class_shows_in_totals(input->metrics->phases->iterations.kind) && dynamic < ITERATIONS_DYNAMIC;
    if (shows || (2 * above.count <= input->metrics->process_count && waited_for(input, &above) >= WAITED_FOR))
        finding->causes = above;
    else
        free(above.rank);
}

/* One iteration is named if it has this part of what all lose. */
static const double OF_ONE = 0.5;

/* Where there are many iterations, each row stands for several of them, and none is named. */
static void say_iteration(const struct metrics *metrics, struct finding *finding)
{
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    char share[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE], from[TEXT_NUMBER_SIZE], rank[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < iterations->row_count; i++) {
        const struct iteration_row *row = &iterations->rows[i];
        double part = ratio_of((double)time_since(row->computing_ns, row->most_ns), (double)iterations->loss_ns);
        if (row->count != 1 || part < OF_ONE)
            continue;
        text_append(finding->text, sizeof finding->text,
                    " %s of this excess is in iteration %s, from %s on, in which process %s computes longest.",
                    text_share(share, fmin(part, 1)), text_thousands(number, row->first),
                    text_duration(from, row->begin_ns), text_thousands(rank, metrics->process[row->heaviest].rank));
        return;
    }
}

bool find_dynamic_imbalance(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    if (!metrics->phases || !iterations_are_dynamic(&metrics->phases->iterations))
        return false;
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    double dynamic = iterations_dynamic_share(iterations);
    char text[ITERATIONS_TEXT_SIZE], lost[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE],
        who[WHO_SIZE];
    finding->saving_s = iterations_saving(metrics) * (double)input->analysis->duration / 1e9;
    finding->waiting_s = (double)iterations->waiting_ns / 1e9;
    iterations_kind_text(text, metrics);
    snprintf(finding->title, sizeof finding->title, "uneven iterations: the imbalance is %s",
             iteration_class_name(iterations->kind));
    int used = snprintf(finding->text, sizeof finding->text,
                        "%s. Over %s iterations, the longest computing time exceeds the mean by %s in total", text,
                        text_thousands(count, iterations->count), text_duration(lost, iterations->loss_ns));
    name_heaviest(input, dynamic, finding);
    if (finding->causes.count > 0)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used, "; %s %s the most work.",
                 who_text(who, &finding->causes, metrics->process_count),
                 text_plural(finding->causes.count, "has", "have"));
    else
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "; %s of that is not visible in the totals.", text_share(share, dynamic));
    say_iteration(metrics, finding);
    if (finding->saving_s * 1e9 > (double)iterations->loss_ns + finding_noise(input->analysis))
        text_append(finding->text, sizeof finding->text,
                    " The turns of the loops inside an iteration are uneven, too: the saving is for all of them.");
    snprintf(finding->advice, sizeof finding->advice, "%s", dynamic_advice(iterations->kind));
    take_loop(iterations, finding);
    finding_takes_waits(finding, input->analysis);
    finding_keeps_window(finding, input->analysis);
    finding_evidence(finding, "dynamic_share", dynamic, false);
    return true;
}

/* The calls of one kind are not worth a word if they are this part of all. */
static const double FEW_OF_A_KIND = 0.1;

/* The other synchronisations are collectives of few bytes. */
static double barrier_calls(const struct metrics *metrics)
{
    return finding_calls(metrics, CLASS_SYNC, NULL);
}

/* What synchronises, in words, and what to do about it. */
struct synchronisers {
    const char *name;                   /* "barriers" */
    char counted[3 * TEXT_NUMBER_SIZE]; /* "300 barriers", "300 barriers and 300 collectives of a few bytes" */
    const char *advice;
};

/* Of `each` calls of a process, barriers and others are named apart if neither are nearly all of them. */
static struct synchronisers synchronisers_of(const struct metrics *metrics, double each)
{
    struct synchronisers found = {.name = "barriers and small collectives"};
    double barriers = barrier_calls(metrics) / (double)metrics->process_count;
    char count[TEXT_NUMBER_SIZE], others[TEXT_NUMBER_SIZE];
    bool mixed = true;
    if (barriers <= FEW_OF_A_KIND * each || barriers >= (1 - FEW_OF_A_KIND) * each) {
        found.name = 2 * barriers >= each ? "barriers" : "synchronising collectives";
        mixed = false;
    }
    text_thousands(count, text_whole(mixed ? barriers : each));
    if (mixed)
        snprintf(found.counted, sizeof found.counted, "%s barriers and %s collectives of a few bytes", count,
                 text_thousands(others, text_whole(each - barriers)));
    else
        snprintf(found.counted, sizeof found.counted, "%s %s", count, found.name);
    found.advice =
        "combine them: one MPI_Allreduce of several values instead of several of one; remove those whose "
        "result is only checked or printed; or start them early (MPI_Iallreduce) and compute in the meantime";
    if (2 * barriers >= each)
        found.advice = "remove barriers: messages and collectives already order work that depends on them";
    return found;
}

/* How much shorter the run would be if they took no time except for waiting, where they are what takes longest: the
   replay knows which of the calls are on the path through the run. */
static double own_of_synchronisations_s(const struct finding_input *input)
{
    const struct defs *defs = input->metrics->defs;
    uint32_t state = analysis_longest_own(input->analysis, defs);
    if (state == UINT32_MAX || defs->states[state].class != CLASS_SYNC)
        return 0;
    return (double)input->analysis->own_saving / 1e9;
}

/* Synchronisations are those of the main loop if at least this part of their time is in it. */
static const double IN_LOOP = 0.5;

static bool are_in_loop(const struct analysis *analysis, const struct iteration_metrics *iterations)
{
    const struct iteration_row *first = &iterations->rows[0], *last = &iterations->rows[iterations->row_count - 1];
    double inside_ns = 0, all_ns = 0;
    for (size_t i = 0; i < COURSE_BINS; i++) {
        bool overlaps = course_edge(analysis->duration, i + 1) > first->begin_ns &&
                        course_edge(analysis->duration, i) < last->begin_ns + last->time_ns;
        all_ns += (double)analysis->synchronising_course_ns[i];
        inside_ns += overlaps ? (double)analysis->synchronising_course_ns[i] : 0;
    }
    return inside_ns >= IN_LOOP * all_ns;
}

/* Enough of them, that take long with little computing before them, in a run with iterations. */
static bool synchronises_much(const struct finding_input *input)
{
    const struct metrics *metrics = input->metrics;
    const struct analysis *analysis = input->analysis;
    double processes = (double)metrics->process_count, all_ns = processes * (double)analysis->duration,
           own_ns = (double)analysis->synchronising;
    return processes >= 2 && (double)analysis->synchronisations >= SYNCHRONISATIONS_LEAST * processes &&
           own_ns >= SYNCHRONISING * all_ns && (double)analysis->before_synchronising <= LITTLE_BETWEEN * own_ns &&
           metrics->phases && metrics->phases->iterations.loop != PHASE_NONE;
}

/* Barriers, and collectives of so few bytes; `state` is not used. A finding_counts_calls. */
static bool counts_synchronisations(const struct defs *defs, const struct call_site *calls, uint32_t state)
{
    (void)state;
    enum function_class class = defs->states[calls->state].class;
    return class == CLASS_SYNC ||
           (class == CLASS_COLLECTIVE && calls->bytes > 0 && calls->bytes <= SYNCHRONISATION_BYTES * calls->calls);
}

/* `per` of them in an iteration; 0: they are not those of the main loop. */
static void say_synchronisations(const struct finding_input *input, double each, double per, struct finding *finding)
{
    const struct phase_metrics *phases = input->metrics->phases;
    const char *loop = phases->loops[phases->iterations.loop].name;
    struct synchronisers found = synchronisers_of(input->metrics, each);
    double own_s = (double)input->analysis->synchronising / 1e9, duration = (double)input->analysis->duration / 1e9;
    char count[TEXT_NUMBER_SIZE], in_each[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE];
    text_thousands(count, text_whole(each));
    text_thousands(in_each, text_whole(per));
    text_share(share, own_s / (double)input->metrics->process_count / duration);
    snprintf(finding->title, sizeof finding->title, "excessive synchronisation: %s %s %s", per > 0 ? in_each : count,
             found.name, per > 0 ? "in each iteration" : "with little computing between them");
    snprintf(finding->text, sizeof finding->text, "Each process calls %s", found.counted);
    if (per > 0)
        text_append(finding->text, sizeof finding->text, ", %s in each iteration (%.*s)", in_each,
                    text_beginning(loop, 80), loop);
    text_append(finding->text, sizeof finding->text,
                ". Excluding waiting for late processes they take %s of all processes' time, %s in total.%s", share,
                seconds_text(time, own_s), per > 0 ? " One per iteration would avoid most of that." : "");
    finding_say_sites(input, counts_synchronisations, 0, finding);
    snprintf(finding->advice, sizeof finding->advice, "%s", found.advice);
}

bool find_excessive_synchronisation(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    const struct analysis *analysis = input->analysis;
    if (!synchronises_much(input))
        return false;
    const struct iteration_metrics *iterations = &metrics->phases->iterations;
    double processes = (double)metrics->process_count, each = (double)analysis->synchronisations / processes,
           own_s = (double)analysis->synchronising / 1e9;
    double per = are_in_loop(analysis, iterations) ? each / iterations->count : 0;
    /* A loop of only barriers is inside a longer iteration. */
    if (per > 0 && per < AN_ITERATION)
        return false;
    finding->waiting_s = own_s;
    /* All but one per iteration. The calls of all processes overlap: a process's share of their time is wall time. */
    finding->saving_s = larger(own_s / processes, own_of_synchronisations_s(input)) * (1 - (per > 0 ? 1 / per : 0));
    say_synchronisations(input, each, per, finding);
    if (per > 0)
        take_loop(iterations, finding);
    else
        finding->to_s = (double)analysis->duration / 1e9;
    memcpy(finding->course_ns, analysis->synchronising_course_ns, sizeof finding->course_ns);
    finding_evidence(finding, "synchronisations_each", each, false);
    finding_evidence(finding, "barriers", barrier_calls(metrics), false);
    finding_evidence(finding, "own_s", own_s, true);
    return true;
}

/* The processes that compute next to nothing, and the mean of the others. */
static struct ranks idle_of(const struct metrics *metrics, double *busy_s)
{
    size_t count = metrics->process_count;
    struct ranks idle = {memory_new(count * sizeof *idle.rank), 0};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)metrics_compute_ns(metrics, i) / 1e9;
    for (size_t i = 0; i < count; i++) {
        double mine = (double)metrics_compute_ns(metrics, i) / 1e9;
        bool idles = count > 1 && mine < IDLE * (sum - mine) / (double)(count - 1);
        if (idles && !process_never_returned(metrics, &metrics->process[i]))
            idle.rank[idle.count++] = metrics->process[i].rank;
    }
    /* The little that idle processes compute is counted as work of the others: at most 5 % too much. */
    *busy_s = ratio_of(sum, (double)(count - idle.count));
    return idle;
}

bool find_idle_process(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    double duration = (double)input->analysis->duration / 1e9, busy_s;
    struct ranks idle = idle_of(metrics, &busy_s);
    size_t count = metrics->process_count;
    finding->causes = idle; /* owned by the finding from here on, also where it is none: findings_of clears it */
    /* A master that computes nothing does its part: it hands out the work. */
    int64_t master = master_of(metrics);
    bool of_master = idle.count == 1 && master == (int64_t)idle.rank[0];
    if (idle.count == 0 || 2 * idle.count > count || of_master || busy_s < BUSY * duration)
        return false;
    char who[WHO_SIZE], busy[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    who_text(who, &idle, count);
    finding->saving_s = (double)input->analysis->idle_saving / 1e9;
    /* The time that the idle processes could have computed; the saving is what the replay makes of it. */
    finding->waiting_s = busy_s * (double)idle.count;
    finding->from_s = 0;
    finding->to_s = duration;
    finding_takes_waits(finding, input->analysis);
    snprintf(finding->title, sizeof finding->title, "idle: %s %s next to nothing", who,
             text_plural(idle.count, "computes", "compute"));
    snprintf(finding->text, sizeof finding->text,
             "The other processes compute for %s each on average, %s of the run; %s %s less than 5 %% of that, and %s "
             "not hand out work either.",
             seconds_text(busy, busy_s), text_share(share, busy_s / duration), who,
             text_plural(idle.count, "computes", "compute"), text_plural(idle.count, "does", "do"));
    snprintf(finding->advice, sizeof finding->advice, "give %s part of the work, or start fewer processes", who);
    finding_evidence(finding, "idle_processes", (double)idle.count, false);
    finding_evidence(finding, "busy_s", busy_s, true);
    return true;
}
