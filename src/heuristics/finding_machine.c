/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine has to do with it: the finding that processes do not get the cores they need, and for other findings
   whether processes compute at all. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/core_losses.h"
#include "heuristics/efficiency.h"
#include "heuristics/host_rows.h"
#include "metrics/process_resources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* It is evident if this share of all time is in calls that no network explains, and similar calls are prompt: a slow or
   busy network would delay all of them. A few calls alone could be a page fault or the first use of a connection. */
enum { HELD_LEAST = 10, PROMPT_LEAST = 3 };
static const double HELD_SHARE = 0.05, PROMPT_SHARE = 0.01;

/* What the kernel counted, of recordings: how long processes had a core, and how long they were ready to run and had
   none. A process that waits in MPI loses nothing by that. It is ready to run, or runs, in MPI all the time at most:
   the rest is computing, and of that the same share is lost as of all. If no more processes of a host run than they may
   use cores, other programs take them, and as large a share of what calls take beyond waiting is lost; among more
   processes those that wait in MPI take turns, and the share says nothing about the calls. */
struct lost {
    size_t processes;             /* of which it is known */
    double lost_s, wall_s, cpu_s; /* means */
    int64_t cores;                /* that a process may use, at most; 0: not known */
    struct crowd crowd;           /* no processes: no host has too many */
    size_t hosts;                 /* with known names */
};
static const double LOST_SHARE = 0.02;

/* Of a counter, but not while MPI ends: -1: not known. */
static int64_t used_before_end(const struct process_resources *process, enum resource_counter counter,
                               enum resource_counter ending)
{
    int64_t used = resources_used(process, counter);
    return used < 0 ? used : larger(used - larger(resources_used(process, ending), (int64_t)0), (int64_t)0);
}

static int64_t cpu_ns_of(const struct process_resources *process)
{
    return used_before_end(process, RESOURCE_CPU, RESOURCE_ENDING_CPU);
}

static int64_t delay_ns_of(const struct process_resources *process)
{
    return used_before_end(process, RESOURCE_DELAY, RESOURCE_ENDING_DELAY);
}

static int64_t wall_ns_of(const struct process_resources *process)
{
    return larger(process->wall_ns - larger(resources_used(process, RESOURCE_ENDING), (int64_t)0), (int64_t)0);
}

/* In calls other than those that start and end MPI, which is not counted; `own`: without waiting for others. */
static double calls_ns(const struct metrics *metrics, size_t row, bool own)
{
    const struct analysis *analysis = metrics->analysis;
    double ns = (double)metrics->process[row].communication_ns - (double)starting_ns(metrics, &metrics->process[row]);
    /* Waits between looks for a message are waits, though the process is not in a call. */
    if (own)
        ns += (double)metrics_polled_ns(metrics, row);
    for (int kind = WAIT_NONE + 1; own && kind < WAIT_CAUSED_COUNT; kind++)
        if (kind != WAIT_AT_INIT && kind != WAIT_AT_FINALIZE)
            ns -= (double)analysis->waits[kind].victims_ns[row];
    return fmax(ns, 0);
}

/* Neither in MPI nor waiting between looks for a message. */
static double outside_ns_of(const struct metrics *metrics, size_t row, const struct process_resources *process)
{
    double calls = calls_ns(metrics, row, false) + (double)metrics_polled_ns(metrics, row);
    return fmax((double)wall_ns_of(process) - calls, 0);
}

/* Visits the processes with readings in the order of rows. False: there are no more. */
struct readings {
    size_t next, row; /* of the next process with readings, and of metrics */
    const struct process_resources *process;
    double outside_s, in_calls_s; /* lost while computing, and in calls beyond waiting */
    double share, ready_s;        /* lost of the time in which it is ready to run, and that time */
};

static bool readings_next(const struct metrics *metrics, struct readings *at)
{
    const struct resources *resources = metrics->resources;
    while (resources && at->next < resources->count) {
        const struct process_resources *process = &resources->process[at->next++];
        int64_t delay_ns = delay_ns_of(process), cpu_ns = cpu_ns_of(process);
        /* Both lists are sorted by rank, and either may lack processes of the other. */
        while (at->row < metrics->process_count && metrics->process[at->row].rank < process->rank)
            at->row++;
        if (at->row == metrics->process_count || metrics->process[at->row].rank != process->rank || delay_ns < 0 ||
            wall_ns_of(process) == 0)
            continue;
        double ready_ns = (double)delay_ns + fmax((double)cpu_ns, 0), share = ratio_of((double)delay_ns, ready_ns);
        at->process = process;
        at->share = share;
        at->ready_s = ready_ns / 1e9;
        at->outside_s = share * fmax(ready_ns - calls_ns(metrics, at->row, false), 0) / 1e9;
        at->in_calls_s = share * calls_ns(metrics, at->row, true) / 1e9;
        return true;
    }
    return false;
}

static void find_crowd(const struct metrics *metrics, struct lost *lost)
{
    struct host_rows rows = host_rows_of(metrics);
    for (size_t host = 0; host < rows.count; host++)
        lost->hosts += rows.name[host] != NULL;
    if (host_rows_crowded(&rows, &lost->crowd))
        lost->cores = lost->crowd.cores;
    host_rows_clear(&rows);
}

static struct lost lost_of(const struct metrics *metrics)
{
    struct lost lost = {0};
    struct readings at = {0};
    double in_calls_s = 0;
    while (readings_next(metrics, &at)) {
        int64_t cores = resources_used(at.process, RESOURCE_USABLE);
        lost.processes++;
        lost.lost_s += at.outside_s;
        in_calls_s += at.in_calls_s;
        lost.wall_s += (double)wall_ns_of(at.process) / 1e9;
        lost.cpu_s += (double)cpu_ns_of(at.process) / 1e9;
        lost.cores = larger(cores, lost.cores);
    }
    if (lost.cores > 0)
        find_crowd(metrics, &lost);
    if (lost.cores > 0 && lost.crowd.processes == 0)
        lost.lost_s += in_calls_s;
    if (lost.processes > 0) {
        lost.lost_s /= (double)lost.processes;
        lost.wall_s /= (double)lost.processes;
        lost.cpu_s /= (double)lost.processes;
    }
    return lost;
}

/* Only where all processes have readings: the mean of a part of them could be of the ones that wait, or of the rest. */
static bool is_measured(const struct metrics *metrics)
{
    struct lost lost = lost_of(metrics);
    return lost.processes == metrics->process_count && lost.lost_s > LOST_SHARE * lost.wall_s;
}

/* If nearly all of the time in held calls is in those with messages over one slow link, that holds them. */
static const double HELD_BY_LINK = 0.9;

/* Messages wait for each other where one process is at an end of nearly all of them, and moves as many bytes as its
   link to the network may carry (a tenth of a byte each ns): that holds them, too. */
static const double HUB_PART = 0.9, HUB_RATE = 0.1;
enum { HUB_PROCESSES = 8 }; /* of fewer, most have a part in most messages */

static bool has_busy_hub(const struct metrics *metrics)
{
    double least_bytes = HUB_RATE * (double)working_duration_ns(metrics);
    bool found = false;
    if (metrics->process_count < HUB_PROCESSES)
        return false;
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        found |= 2 * process_communication_index(metrics, row) >= HUB_PART && /* of two ends */
                 (double)row->bytes_sent + (double)row->bytes_received >= least_bytes;
    }
    return found;
}

static bool is_guessed(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    if (has_busy_hub(metrics))
        return false;
    if (analysis->slow_link > 0 && (double)analysis->slow_link_lost >= HELD_BY_LINK * (double)analysis->held)
        return false;
    double all_ns = (double)working_duration_ns(metrics) * (double)metrics->process_count;
    return analysis->held_calls >= HELD_LEAST && analysis->prompt_calls >= PROMPT_LEAST &&
           (double)analysis->held >= HELD_SHARE * all_ns &&
           (double)analysis->prompt_calls >= PROMPT_SHARE * (double)analysis->small_calls;
}

bool finding_shares_cores(const struct metrics *metrics)
{
    return is_measured(metrics) || is_guessed(metrics);
}

static const char fewer_processes[] = "run no more processes than there are free cores, each bound to its own, and "
                                      "record again before changing the program";

/* How many bytes an epoch of a window moves is not known. */
static bool waits_in_epochs(const struct analysis *analysis)
{
    return analysis->waits[WAIT_LATE_POST].count + analysis->waits[WAIT_EARLY_WAIT].count +
               analysis->waits[WAIT_LATE_COMPLETE].count >
           0;
}

static void say_held_calls(const struct analysis *analysis, struct finding *finding)
{
    char held[TEXT_NUMBER_SIZE], calls[TEXT_NUMBER_SIZE], each[TEXT_NUMBER_SIZE];
    double held_s = (double)analysis->held / 1e9;
    text_append(finding->text, sizeof finding->text,
                "%s calls that move 16 KiB at most%s take %s each after everything they need is there, %s in total",
                text_thousands(calls, analysis->held_calls),
                waits_in_epochs(analysis) ? ", or complete epochs of windows," : "",
                seconds_text(each, held_s / (double)analysis->held_calls), seconds_text(held, held_s));
}

/* All that MPI costs beyond an ideal network, files apart: with a core for each process the network would take
   microseconds. Where the path through the run is computing, that was held up as much as the calls were. */
static double guessed_saving_s(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    double working_s = (double)working_duration_ns(metrics) / 1e9, saving_s = working_s * (1 - analysis->transfer);
    saving_s -= (double)larger(analysis->waits[WAIT_IO].saving_ns, INT64_C(0)) / 1e9;
    if (saving_s <= FINDING_NOISE * working_s)
        saving_s = (double)analysis->held / 1e9 / (double)analysis->process_count;
    return saving_s;
}

static void say_measured(const struct finding_input *input, struct finding *finding)
{
    struct lost lost = lost_of(input->metrics);
    char time[TEXT_NUMBER_SIZE], wall[TEXT_NUMBER_SIZE], cpu[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE];
    finding->waiting_s = lost.lost_s * (double)lost.processes;
    finding->saving_s = lost.lost_s;
    finding->to_s = (double)input->analysis->duration / 1e9;
    bool by_others = lost.cores > 0 && lost.crowd.processes == 0;
    snprintf(finding->title, sizeof finding->title, "the %s: processes that are ready to run wait for cores",
             by_others ? "machine is busy" : "machine has too few free cores");
    snprintf(finding->text, sizeof finding->text,
             "By the kernel's counters a process that could go on waits for a core for about %s of %s on average; it "
             "gets %s of CPU time.",
             seconds_text(time, lost.lost_s), seconds_text(wall, lost.wall_s), seconds_text(cpu, lost.cpu_s));
    if (lost.crowd.processes > 0)
        text_append(finding->text, sizeof finding->text, " %s processes run%s, and may use %d core%s.",
                    text_thousands(count, lost.crowd.processes), lost.hosts > 1 ? " on one of the hosts" : "",
                    (int)lost.cores, text_plural((uint64_t)lost.cores, "", "s"));
    else
        text_append(finding->text, sizeof finding->text,
                    " Other programs use the same cores, or processes are bound to one core together.");
    /* While one has no core, another one waits for it, and then has none itself: that is more than each loses while it
       computes. */
    if (is_guessed(input->metrics)) {
        finding->saving_s = fmax(finding->saving_s, guessed_saving_s(input->metrics));
        text_append(finding->text, sizeof finding->text, " ");
        say_held_calls(input->analysis, finding);
        text_append(finding->text, sizeof finding->text, ": %s.",
                    lost.crowd.processes > 0 ? "processes that look for messages in MPI keep the cores from those that "
                                               "would send them"
                                             : "the process that would send them has no core");
    }
    text_append(finding->text, sizeof finding->text,
                " Waits, transfer times and uneven computing can follow from this.");
    snprintf(finding->advice, sizeof finding->advice, "%s", fewer_processes);
    finding_evidence(finding, "core_wait_s", lost.lost_s, true);
    finding_evidence(finding, "cpu_s", lost.cpu_s, true);
    finding_evidence(finding, "usable_cores", (double)lost.cores, false);
}

bool find_oversubscription(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    if (is_measured(input->metrics)) {
        say_measured(input, finding);
        return true;
    }
    if (!is_guessed(input->metrics))
        return false;
    char prompt[TEXT_NUMBER_SIZE];
    finding->waiting_s = (double)analysis->held / 1e9;
    finding->saving_s = guessed_saving_s(input->metrics);
    finding->to_s = (double)analysis->duration / 1e9;
    snprintf(finding->title, sizeof finding->title, "the processes share cores: more of them run than there are cores");
    say_held_calls(analysis, finding);
    text_append(finding->text, sizeof finding->text,
                "; %s like them take microseconds, so it is not the network: processes that are ready to run wait for "
                "a core. Waits, transfer times and uneven computing can follow from this.",
                text_thousands(prompt, analysis->prompt_calls));
    snprintf(finding->advice, sizeof finding->advice, "%s", fewer_processes);
    finding_evidence(finding, "held_calls", (double)analysis->held_calls, false);
    finding_evidence(finding, "prompt_calls", (double)analysis->prompt_calls, false);
    finding_evidence(finding, "small_calls", (double)analysis->small_calls, false);
    finding_evidence(finding, "transfer_efficiency", analysis->transfer, false);
    return true;
}

/* Processes to blame that are neither in MPI, nor compute, nor wait for a core. */
struct idle {
    size_t processes;
    double off_s, outside_s; /* means: so, of the time outside MPI */
    int64_t disk_faults;     /* sum */
};

/* It is worth a sentence if it is this share of the time outside MPI, and this part of the saving. */
static const double IDLE_SHARE = 0.2, IDLE_PART = 0.1;

/* At least: CPU time includes that of calls which look for messages without a pause. */
static struct idle idle_of(const struct metrics *metrics, const struct ranks *causes)
{
    struct idle idle = {0};
    const struct resources *resources = metrics->resources;
    for (size_t i = 0, row = 0; resources && i < resources->count; i++) {
        const struct process_resources *process = &resources->process[i];
        int64_t delay_ns = delay_ns_of(process), cpu_ns = cpu_ns_of(process);
        while (row < metrics->process_count && metrics->process[row].rank < process->rank)
            row++;
        if (row == metrics->process_count || metrics->process[row].rank != process->rank || delay_ns < 0 ||
            cpu_ns < 0 || !is_among(process->rank, causes->rank, causes->count))
            continue;
        double outside_ns = outside_ns_of(metrics, row, process);
        idle.processes++;
        idle.outside_s += outside_ns / 1e9;
        idle.off_s += fmax(outside_ns - (double)cpu_ns - (double)delay_ns, 0) / 1e9;
        idle.disk_faults += larger(resources_used(process, RESOURCE_DISK_FAULTS), 0);
    }
    if (idle.processes > 0) {
        idle.off_s /= (double)idle.processes;
        idle.outside_s /= (double)idle.processes;
    }
    return idle;
}

struct finding_use *finding_uses(const struct metrics *metrics)
{
    struct finding_use *uses = memory_new(metrics->process_count * sizeof *uses);
    const struct resources *resources = metrics->resources;
    for (size_t i = 0; resources && i < resources->count; i++) {
        const struct process_resources *process = &resources->process[i];
        double cpu_ns = (double)cpu_ns_of(process);
        double delay_ns = (double)delay_ns_of(process);
        size_t row = metrics_row_of(metrics, process->rank);
        if (row == SIZE_MAX || wall_ns_of(process) <= 0 || cpu_ns < 0 || delay_ns < 0)
            continue;
        double outside_ns = outside_ns_of(metrics, row, process);
        uses[row] = (struct finding_use){.process = process,
                                         .outside_s = outside_ns / 1e9,
                                         .off_s = fmax(outside_ns - cpu_ns - delay_ns, 0) / 1e9,
                                         .delay_s = delay_ns / 1e9,
                                         .outside_delay_s =
                                             fmin(ratio_of(delay_ns, delay_ns + cpu_ns) * outside_ns, delay_ns) / 1e9};
    }
    return uses;
}

static void say_idle(const struct idle *idle, const struct ranks *who, const struct metrics *metrics, char *text,
                     size_t size)
{
    char names[WHO_SIZE], outside[TEXT_NUMBER_SIZE], off[TEXT_NUMBER_SIZE], pages[TEXT_NUMBER_SIZE];
    bool one = who->count == 1;
    text_append(text, size,
                "By the kernel's counters the main thread%s of %s do%s not compute for at least %s of %s%s outside "
                "MPI: %s sleep%s, or wait%s for files, pages of memory or locks",
                one ? "" : "s", who_text(names, who, metrics->process_count), one ? "es" : "",
                seconds_text(off, idle->off_s), seconds_text(outside, idle->outside_s), one ? "" : " each",
                one ? "it" : "they", one ? "s" : "", one ? "s" : "");
    if (idle->disk_faults > 0)
        text_append(text, size, " (%s page%s read from a disk)", text_thousands(pages, (uint64_t)idle->disk_faults),
                    text_plural((uint64_t)idle->disk_faults, "", "s"));
    text_append(text, size, ".");
}

void finding_idle_fit(const struct metrics *metrics, struct finding *finding)
{
    struct idle idle = idle_of(metrics, &finding->causes);
    /* A lack of cores has its own numbers, and a late start is not about the time after it. */
    if (finding->kind == FINDING_oversubscription || finding->kind == FINDING_late_start ||
        finding->kind == FINDING_spawn || finding_is_shortage(finding->kind) || idle.processes == 0 ||
        idle.processes != finding->causes.count || idle.off_s < IDLE_SHARE * idle.outside_s ||
        idle.off_s < IDLE_PART * finding->saving_s)
        return;
    text_append(finding->text, sizeof finding->text, " ");
    say_idle(&idle, &finding->causes, metrics, finding->text, sizeof finding->text);
    finding_evidence(finding, "off_core_s", idle.off_s, true);
}

void finding_caveat_idle(const struct metrics *metrics, char caveat[FINDING_CAVEAT_SIZE])
{
    struct ranks all = {memory_new(metrics->process_count * sizeof *all.rank), metrics->process_count};
    for (size_t i = 0; i < all.count; i++)
        all.rank[i] = metrics->process[i].rank;
    struct idle idle = idle_of(metrics, &all);
    if (idle.processes == all.count && idle.processes > 0 && idle.off_s >= IDLE_SHARE * idle.outside_s) {
        text_append(caveat, FINDING_CAVEAT_SIZE, "%s", *caveat ? " " : "");
        say_idle(&idle, &all, metrics, caveat, FINDING_CAVEAT_SIZE);
    }
    free(all.rank);
}

/* A process that loses its core gets it back after a turn of another, of some ms. Switches that cost less on average
   are mostly those of a process that waits in MPI and offers its core to others again and again: how often it lost it
   while it computed is not known. */
static const double TURN_S = 0.004;

static double each_s_of(const struct process_resources *process)
{
    double switches = (double)resources_used(process, RESOURCE_INVOLUNTARY);
    double each_s = ratio_of((double)resources_used(process, RESOURCE_DELAY) / 1e9, switches);
    return each_s >= TURN_S ? each_s : 0;
}

struct core_losses *core_losses_of(const struct metrics *metrics)
{
    if (!is_measured(metrics))
        return NULL;
    struct core_losses *losses = memory_new(metrics->process_count * sizeof *losses);
    struct readings at = {0};
    while (readings_next(metrics, &at))
        losses[at.row] = (struct core_losses){.computing_s = at.outside_s,
                                              .calls_s = at.in_calls_s,
                                              .share = at.share,
                                              .ready_s = at.ready_s,
                                              .own_calls_s = calls_ns(metrics, at.row, true) / 1e9,
                                              .each_s = each_s_of(at.process)};
    return losses;
}

/* More processes than cores wait for a core for this share of their time. In MPI that may be no loss, so that it is no
   finding, but who runs when is up to the scheduler. */
static const double CROWDED = 0.1;

static bool is_crowded(const struct metrics *metrics)
{
    struct readings at = {0};
    struct lost lost = {0};
    double delay_ns = 0, wall_ns = 0;
    size_t processes = 0;
    for (; readings_next(metrics, &at); processes++) {
        delay_ns += (double)delay_ns_of(at.process);
        wall_ns += (double)wall_ns_of(at.process);
    }
    if (processes < metrics->process_count || delay_ns < CROWDED * wall_ns)
        return false;
    find_crowd(metrics, &lost);
    return lost.crowd.processes > 0;
}

void finding_caveat(const struct finding_input *input, char caveat[FINDING_CAVEAT_SIZE])
{
    *caveat = '\0';
    if (finding_shares_cores(input->metrics) || is_crowded(input->metrics))
        snprintf(caveat, FINDING_CAVEAT_SIZE,
                 "The processes share cores: the times of this run depend on the scheduler as much as on the program.");
}
