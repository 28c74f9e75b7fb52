/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings that name the resource that was short, as the kernel counted it: cores, a node, pages, disks, memory. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/finding.h"
#include "heuristics/host_rows.h"
#include "metrics/process_resources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each row's use, its host, and what a finding says it loses. */
struct rows {
    const struct metrics *metrics;
    struct finding_use *use;
    int64_t *lost_ns;
    struct host_rows on;
};

static struct rows rows_of(const struct metrics *metrics)
{
    size_t count = metrics->process_count;
    struct rows rows = {.metrics = metrics,
                        .use = finding_uses(metrics),
                        .lost_ns = memory_new(count * sizeof *rows.lost_ns),
                        .on = host_rows_of(metrics)};
    return rows;
}

static void rows_clear(struct rows *rows)
{
    free(rows->use);
    free(rows->lost_ns);
    host_rows_clear(&rows->on);
}

static int64_t value_of(const struct rows *rows, size_t row, enum resource_counter counter)
{
    if (!rows->use[row].process)
        return -1;
    return resources_used(rows->use[row].process, counter);
}

/* What the longest stay outside MPI shortens by: all others wait for it. */
static double saving_s(const struct rows *rows)
{
    double most_s = 0, without_s = 0;
    for (size_t i = 0; i < rows->metrics->process_count; i++) {
        double outside_s = rows->use[i].outside_s;
        most_s = fmax(outside_s, most_s);
        without_s = fmax(outside_s - (double)rows->lost_ns[i] / 1e9, without_s);
    }
    return most_s - without_s;
}

/* Fills in what all have, of what rows lose. False: nothing is lost. */
static bool fill(const struct rows *rows, const struct finding_input *input, struct finding *finding)
{
    double lost_s = 0;
    for (size_t i = 0; i < rows->metrics->process_count; i++)
        lost_s += (double)rows->lost_ns[i] / 1e9;
    if (lost_s <= 0)
        return false;
    finding->waiting_s = lost_s;
    finding->saving_s = saving_s(rows);
    finding->to_s = (double)input->analysis->duration / 1e9;
    finding->causes = ranks_to_blame(rows->metrics, rows->lost_ns);
    return true;
}

/* Processes wait for a core that they share, or while others are idle: of their time, at least. */
static const double DELAY_SHARE = 0.02;

static bool waits_for_core(const struct rows *rows, size_t row)
{
    const struct finding_use *use = &rows->use[row];
    return use->process && use->delay_s > DELAY_SHARE * (double)use->process->wall_ns / 1e9;
}

/* The core that a process is bound to; -1: it may use several, or that is not known. */
static int64_t bound_core(const struct rows *rows, size_t row)
{
    return value_of(rows, row, RESOURCE_USABLE) == 1 ? value_of(rows, row, RESOURCE_FIRST_CORE) : -1;
}

/* How many other processes are bound to the same core. */
static size_t others_on_core(const struct rows *rows, size_t row)
{
    size_t others = 0;
    int64_t core = bound_core(rows, row);
    for (size_t i = 0; core >= 0 && i < rows->metrics->process_count; i++)
        others += i != row && rows->on.host[i] == rows->on.host[row] && bound_core(rows, i) == core;
    return others;
}

bool find_shared_core(const struct finding_input *input, struct finding *finding)
{
    struct rows rows = rows_of(input->metrics);
    char who[WHO_SIZE], seconds[TEXT_NUMBER_SIZE];
    size_t count = 0, first = SIZE_MAX;
    for (size_t i = 0; i < input->metrics->process_count; i++)
        if (waits_for_core(&rows, i) && others_on_core(&rows, i) > 0) {
            rows.lost_ns[i] = llround(rows.use[i].outside_delay_s * 1e9);
            first = smaller(first, i);
            count++;
        }
    bool found = count > 1 && fill(&rows, input, finding);
    if (found) {
        snprintf(finding->title, sizeof finding->title, "%s %s bound to one core with others",
                 who_text(who, &finding->causes, input->metrics->process_count),
                 text_plural(finding->causes.count, "is", "are"));
        snprintf(finding->text, sizeof finding->text,
                 "Process %u and %zu more may use core %d only, the same one. By the kernel's counters these processes "
                 "are ready to run outside MPI and wait for their core for %s in all.",
                 input->metrics->process[first].rank, others_on_core(&rows, first), (int)bound_core(&rows, first),
                 seconds_text(seconds, finding->waiting_s));
        snprintf(finding->advice, sizeof finding->advice,
                 "bind each process to a core of its own (mpiexec --bind-to core, --report-bindings shows it)");
        finding_evidence(finding, "core_wait_s", finding->waiting_s, true);
        finding_evidence(finding, "core", (double)bound_core(&rows, first), false);
    }
    rows_clear(&rows);
    return found;
}

bool find_idle_core(const struct finding_input *input, struct finding *finding)
{
    struct rows rows = rows_of(input->metrics);
    char who[WHO_SIZE], seconds[TEXT_NUMBER_SIZE];
    int64_t idle = 0, used = 0;
    for (size_t host = 0; host < rows.on.count; host++) {
        int64_t cores = -1, usable = host_rows_cores(&rows.on, host), processes = 0;
        for (size_t i = 0; i < input->metrics->process_count; i++)
            if (rows.on.host[i] == host) {
                cores = larger(value_of(&rows, i, RESOURCE_CORES), cores);
                processes++;
            }
        if (usable < 1 || cores <= usable || processes <= usable)
            continue;
        for (size_t i = 0; i < input->metrics->process_count; i++)
            if (rows.on.host[i] == host && waits_for_core(&rows, i)) {
                rows.lost_ns[i] = llround(rows.use[i].outside_delay_s * 1e9);
                idle = cores - usable;
                used = usable;
            }
    }
    bool found = fill(&rows, input, finding);
    if (found) {
        snprintf(finding->title, sizeof finding->title, "%s %s for cores beside idle ones",
                 who_text(who, &finding->causes, input->metrics->process_count),
                 text_plural(finding->causes.count, "waits", "wait"));
        snprintf(finding->text, sizeof finding->text,
                 "The processes of a host may use %d of its %d cores, and are more than these: they wait for a core "
                 "outside MPI for %s in all, while no process of the run may use the other %d.",
                 (int)used, (int)(used + idle), seconds_text(seconds, finding->waiting_s), (int)idle);
        snprintf(finding->advice, sizeof finding->advice,
                 "let the processes use all cores: look at their binding, and at the limits of the job");
        finding_evidence(finding, "idle_cores", (double)idle, false);
        finding_evidence(finding, "core_wait_s", finding->waiting_s, true);
    }
    rows_clear(&rows);
    return found;
}

/* The processes of a host: how long they are outside MPI, how fast its processors are, how long they wait for cores. */
struct node {
    size_t count;
    double least_s, most_s, sum_s, delay_s;
    int64_t loop_least, loop_most; /* -1: not known */
};
static const double SLOW_COMPUTING = 1.05, SLOW_LOOP = 1.1, SLOW_EXPLAINED = 0.5;

/* Of one host, or of all others. */
static struct node node_of(const struct rows *rows, size_t host, bool others)
{
    struct node node = {.least_s = INFINITY, .loop_least = -1, .loop_most = -1};
    for (size_t i = 0; i < rows->metrics->process_count; i++) {
        const struct finding_use *use = &rows->use[i];
        int64_t loop = value_of(rows, i, RESOURCE_LOOP);
        if ((rows->on.host[i] == host) == others || !use->process)
            continue;
        node.loop_least = node.count == 0 ? loop : smaller(loop, node.loop_least);
        node.loop_most = larger(loop, node.loop_most);
        node.count++;
        node.least_s = fmin(use->outside_s, node.least_s);
        node.most_s = fmax(use->outside_s, node.most_s);
        node.sum_s += use->outside_s;
        node.delay_s += use->outside_delay_s;
    }
    return node;
}

/* What a host's processes compute beyond the others' mean, and what explains it: the speed of its processors, by which
   the same work takes longer, and waiting for cores. */
struct slow {
    size_t processes;
    double mean_s, excess_s, loop_share, loop_s, delay_s;
};

/* False: the host is not slow, or what is known of it explains less than half of what its processes compute longer:
   they have more to do. */
static bool is_slow(const struct rows *rows, size_t host, struct slow *slow)
{
    struct node node = node_of(rows, host, false), rest = node_of(rows, host, true);
    if (node.count == 0 || rest.count == 0 || node.least_s < SLOW_COMPUTING * rest.most_s)
        return false;
    *slow = (struct slow){.processes = node.count, .mean_s = rest.sum_s / (double)rest.count};
    slow->excess_s = node.sum_s / (double)node.count - slow->mean_s;
    if (rest.loop_least > 0 && (double)node.loop_least > SLOW_LOOP * (double)rest.loop_most) {
        slow->loop_share = (double)node.loop_least / (double)rest.loop_most - 1;
        slow->loop_s = slow->loop_share * slow->mean_s;
    }
    /* Processes of the run that wait for each other's core are no fault of the node. */
    if ((int64_t)node.count <= host_rows_cores(&rows->on, host))
        slow->delay_s = fmax(node.delay_s / (double)node.count - rest.delay_s / (double)rest.count, 0);
    return slow->loop_s + slow->delay_s >= SLOW_EXPLAINED * slow->excess_s;
}

static void say_slow(const struct slow *slow, const char *name, struct finding *finding)
{
    char seconds[TEXT_NUMBER_SIZE];
    snprintf(finding->title, sizeof finding->title, "node %.100s is slower than the others", name);
    snprintf(finding->text, sizeof finding->text,
             "Each of its %zu process%s computes longer than any process elsewhere, %s on average.", slow->processes,
             text_plural(slow->processes, "", "es"), seconds_text(seconds, slow->excess_s));
    if (slow->loop_s > 0)
        text_append(finding->text, sizeof finding->text, " The same loop takes %.0f %% longer on its processors.",
                    100 * slow->loop_share);
    if (slow->delay_s > 0)
        text_append(finding->text, sizeof finding->text, " Its processes wait for a core for %s longer: others use it.",
                    seconds_text(seconds, slow->delay_s));
    snprintf(finding->advice, sizeof finding->advice,
             "leave the node out, find what slows it down, or give it less work");
    finding_evidence(finding, "excess_s", slow->excess_s, true);
    finding_evidence(finding, "loop_excess", slow->loop_share, false);
    finding_evidence(finding, "core_wait_s", slow->delay_s, true);
}

bool find_slow_node(const struct finding_input *input, struct finding *finding)
{
    struct rows rows = rows_of(input->metrics);
    bool found = false;
    for (size_t host = 0; rows.on.count > 1 && host < rows.on.count && !found; host++) {
        struct slow slow;
        if (!rows.on.name[host] || !is_slow(&rows, host, &slow))
            continue;
        for (size_t i = 0; i < input->metrics->process_count; i++)
            if (rows.on.host[i] == host)
                rows.lost_ns[i] = llround(fmax(rows.use[i].outside_s - slow.mean_s, 0) * 1e9);
        found = fill(&rows, input, finding);
        if (found)
            say_slow(&slow, rows.on.name[host], finding);
    }
    rows_clear(&rows);
    return found;
}

/* Waiting that is not worth a sentence, of the time outside MPI without that for a core: a full machine makes a run
   longer, and its waits for disks no shorter. */
static const double OFF_SHARE = 0.02;
enum { FAULTS_LEAST = 100, BYTES_LEAST = 4 << 20 };

static double worthless_s(const struct finding_use *use)
{
    return OFF_SHARE * fmax(use->outside_s - use->outside_delay_s, 0);
}

static bool is_off_core(const struct finding_use *use)
{
    return use->process && use->off_s > 0 && use->off_s >= worthless_s(use);
}

/* The kernel accounts for delays. */
static bool is_exact(const struct finding_use *use)
{
    return use->process && use->process->last[RESOURCE_BLOCKED] >= 0;
}

/* A wait of `ns` by the readings, outside MPI; 0: it is not worth a sentence. */
static double worth_s(const struct finding_use *use, double ns)
{
    double s = fmin(use->outside_s, ns / 1e9);
    return s < worthless_s(use) ? 0 : s;
}

static double paging_s(const struct rows *rows, size_t row)
{
    const struct finding_use *use = &rows->use[row];
    if (!is_off_core(use) || value_of(rows, row, RESOURCE_DISK_FAULTS) < FAULTS_LEAST)
        return 0;
    return worth_s(use, (double)value_of(rows, row, RESOURCE_PAGE_WAIT));
}

/* MPI's own calls on files wait for disks as well. */
static double file_calls_ns(const struct rows *rows, size_t row)
{
    const struct process_row *process = &rows->metrics->process[row];
    double ns = 0;
    for (size_t i = 0; i < process->function_count; i++)
        if (rows->metrics->defs->states[process->functions[i].state].class == CLASS_IO)
            ns += (double)process->functions[i].exclusive_ns;
    return ns;
}

/* A few bytes are no reason to wait, but for fsync, which is outside MPI in any case. */
static double disks_s(const struct rows *rows, size_t row)
{
    const struct finding_use *use = &rows->use[row];
    double read_ns = 0;
    if (!use->process)
        return 0;
    if (is_off_core(use) && (is_exact(use) || value_of(rows, row, RESOURCE_READ) >= BYTES_LEAST))
        read_ns = fmax((double)value_of(rows, row, RESOURCE_READ_WAIT) - file_calls_ns(rows, row), 0);
    return worth_s(use, read_ns + fmax((double)value_of(rows, row, RESOURCE_SYNC_WAIT), 0));
}

/* Where all of it is measured, nothing: else it is an upper bound. `synced`: time in fsync is part of it. */
static const char *most_of(const struct rows *rows, bool synced)
{
    for (size_t i = 0; i < rows->metrics->process_count; i++)
        if (rows->lost_ns[i] > 0 && !is_exact(&rows->use[i]) &&
            !(synced && rows->lost_ns[i] <= value_of(rows, i, RESOURCE_SYNC_WAIT)))
            return "at most ";
    return "";
}

bool find_paging(const struct finding_input *input, struct finding *finding)
{
    struct rows rows = rows_of(input->metrics);
    char who[WHO_SIZE], seconds[TEXT_NUMBER_SIZE], pages[TEXT_NUMBER_SIZE];
    int64_t faults = 0;
    for (size_t i = 0; i < input->metrics->process_count; i++) {
        rows.lost_ns[i] = llround(paging_s(&rows, i) * 1e9);
        if (rows.lost_ns[i] > 0)
            faults += value_of(&rows, i, RESOURCE_DISK_FAULTS);
    }
    bool found = fill(&rows, input, finding);
    if (found) {
        snprintf(finding->title, sizeof finding->title, "%s for pages of memory from a disk",
                 text_plural(finding->causes.count, "a process waits", "processes wait"));
        snprintf(finding->text, sizeof finding->text,
                 "%s pages were read from a disk. By the kernel's counters the processes wait for them for %s%s in all "
                 "outside MPI, most of it in %s.",
                 text_thousands(pages, (uint64_t)faults), most_of(&rows, false),
                 seconds_text(seconds, finding->waiting_s),
                 who_text(who, &finding->causes, input->metrics->process_count));
        snprintf(finding->advice, sizeof finding->advice,
                 "use less memory per node: fewer processes on each, or smaller parts; read mapped files beforehand");
        finding_evidence(finding, "disk_faults", (double)faults, false);
        finding_evidence(finding, "page_wait_s", finding->waiting_s, true);
    }
    rows_clear(&rows);
    return found;
}

/* What is known of the processes that lose. */
static void say_disks(const struct rows *rows, struct finding *finding)
{
    char who[WHO_SIZE], seconds[TEXT_NUMBER_SIZE], size[TEXT_NUMBER_SIZE];
    double read = 0, sync_s = 0;
    for (size_t i = 0; i < rows->metrics->process_count; i++)
        if (rows->lost_ns[i] > 0) {
            read += fmax((double)value_of(rows, i, RESOURCE_READ), 0);
            sync_s += fmax((double)value_of(rows, i, RESOURCE_SYNC), 0) / 1e9;
        }
    snprintf(finding->text, sizeof finding->text,
             "By the kernel's counters the processes wait for disks for %s%s in all outside MPI, most of it in %s.",
             most_of(rows, true), seconds_text(seconds, finding->waiting_s),
             who_text(who, &finding->causes, rows->metrics->process_count));
    if (read > 0)
        text_append(finding->text, sizeof finding->text, " They read %s from them.", text_bytes(size, (uint64_t)read));
    if (sync_s > 0)
        text_append(finding->text, sizeof finding->text, " They are in fsync and the like for %s.",
                    seconds_text(seconds, sync_s));
    finding_evidence(finding, "read_bytes", read, false);
    finding_evidence(finding, "fsync_s", sync_s, true);
    finding_evidence(finding, "disk_wait_s", finding->waiting_s, true);
}

bool find_disk_wait(const struct finding_input *input, struct finding *finding)
{
    struct rows rows = rows_of(input->metrics);
    for (size_t i = 0; i < input->metrics->process_count; i++)
        rows.lost_ns[i] = llround(disks_s(&rows, i) * 1e9);
    bool found = fill(&rows, input, finding);
    if (found) {
        snprintf(finding->title, sizeof finding->title, "%s for disks",
                 text_plural(finding->causes.count, "a process waits", "processes wait"));
        say_disks(&rows, finding);
        snprintf(finding->advice, sizeof finding->advice,
                 "read and write in larger pieces, while computing, or with MPI's collective calls on files; call "
                 "fsync less often");
    }
    rows_clear(&rows);
    return found;
}

/* Growth that goes on: of the limit, in so many readings, until so late. */
static const double GROWTH_SHARE = 0.1, GROWTH_USED = 0.5, GROWTH_LATE = 0.9;
enum { GROWTH_READINGS = 10 };

/* Bytes that a process grows by; 0: it does not go on growing. */
static int64_t growth_of(const struct process_resources *process)
{
    const int64_t *last = process->last;
    if (last[RESOURCE_READINGS] < GROWTH_READINGS || 2 * last[RESOURCE_RISES] < last[RESOURCE_READINGS] ||
        (double)last[RESOURCE_LAST_RISE] < GROWTH_LATE * (double)process->wall_ns)
        return 0;
    return last[RESOURCE_PEAK] - process->first[RESOURCE_PEAK];
}

struct growth {
    double limit, used, grown, wall_s;
};

/* Of a host, whose rows get what they grow by, in bytes. False: no limit is known, or the memory stays far from it. */
static bool grows(struct rows *rows, size_t host, struct growth *growth)
{
    *growth = (struct growth){.limit = INFINITY};
    memset(rows->lost_ns, 0, rows->metrics->process_count * sizeof *rows->lost_ns);
    for (size_t i = 0; i < rows->metrics->process_count; i++) {
        if (rows->on.host[i] != host || !rows->use[i].process)
            continue;
        int64_t memory = value_of(rows, i, RESOURCE_MEMORY), own = value_of(rows, i, RESOURCE_MEMORY_LIMIT);
        if (memory > 0)
            growth->limit = fmin((double)memory, growth->limit);
        if (own > 0)
            growth->limit = fmin((double)own, growth->limit);
        growth->used += fmax((double)value_of(rows, i, RESOURCE_PEAK), 0);
        rows->lost_ns[i] = growth_of(rows->use[i].process);
        growth->grown += (double)rows->lost_ns[i];
        growth->wall_s = fmax((double)rows->use[i].process->wall_ns / 1e9, growth->wall_s);
    }
    return isfinite(growth->limit) && growth->grown > GROWTH_SHARE * growth->limit &&
           growth->used > GROWTH_USED * growth->limit;
}

static void say_growth(const struct growth *growth, size_t processes, struct finding *finding)
{
    char who[WHO_SIZE], size[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE];
    char seconds[TEXT_NUMBER_SIZE];
    snprintf(finding->title, sizeof finding->title, "the memory of %s grows towards the limit",
             who_text(who, &finding->causes, processes));
    snprintf(finding->text, sizeof finding->text,
             "It grows by %s, to the end of the run; the peaks of the processes of the host add up to %s of %s.",
             text_bytes(size, (uint64_t)growth->grown), text_bytes(most, (uint64_t)growth->used),
             text_bytes(all, (uint64_t)growth->limit));
    if (growth->limit > growth->used && growth->wall_s > 0)
        text_append(finding->text, sizeof finding->text, " At this pace it is used up after %s more.",
                    seconds_text(seconds, (growth->limit - growth->used) / (growth->grown / growth->wall_s)));
    snprintf(finding->advice, sizeof finding->advice,
             "look for memory that is not freed; sight profile shows what the processes compute");
    finding_evidence(finding, "grown_bytes", growth->grown, false);
    finding_evidence(finding, "limit_bytes", growth->limit, false);
}

bool find_memory_growth(const struct finding_input *input, struct finding *finding)
{
    struct rows rows = rows_of(input->metrics);
    struct growth growth;
    bool found = false;
    for (size_t host = 0; host < rows.on.count && !found; host++)
        found = grows(&rows, host, &growth);
    if (found) {
        finding->risk = true;
        finding->to_s = (double)input->analysis->duration / 1e9;
        finding->causes = ranks_to_blame(input->metrics, rows.lost_ns);
        say_growth(&growth, input->metrics->process_count, finding);
    }
    rows_clear(&rows);
    return found;
}
