/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/resource_sentences.h"

#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/heuristic.h"
#include "metrics/process_resources.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sums over the processes whose counter is known. */
struct known {
    size_t processes;
    double sum, wall_ns;
    double most;
    uint32_t most_rank;
};

static struct known known_of(const struct metrics *metrics, enum resource_counter counter)
{
    struct known known = {0};
    for (size_t i = 0; metrics->resources && i < metrics->resources->count; i++) {
        const struct process_resources *process = &metrics->resources->process[i];
        double value = (double)resources_used(process, counter);
        if (value < 0)
            continue;
        if (known.processes == 0 || value > known.most) {
            known.most = value;
            known.most_rank = process->rank;
        }
        known.processes++;
        known.sum += value;
        known.wall_ns += (double)process->wall_ns;
    }
    return known;
}

static void say_cpu(const struct metrics *metrics, char *text)
{
    char share[TEXT_NUMBER_SIZE], cpu[TEXT_NUMBER_SIZE], wall[TEXT_NUMBER_SIZE], part[TEXT_NUMBER_SIZE];
    struct known used = known_of(metrics, RESOURCE_CPU), delay = known_of(metrics, RESOURCE_DELAY);
    double count = (double)used.processes;
    snprintf(text, RESOURCE_SENTENCE_SIZE, "The processes are outside MPI for %s of their time",
             text_share(share, 1 - communication_share(metrics)));
    if (used.processes == 0 || used.wall_ns <= 0) {
        text_append(text, RESOURCE_SENTENCE_SIZE, "; how long they had a core is not recorded.");
        return;
    }
    text_append(text, RESOURCE_SENTENCE_SIZE, ". Their main threads get %s of CPU time in %s each (%s)",
                seconds_text(cpu, used.sum / count / 1e9), seconds_text(wall, used.wall_ns / count / 1e9),
                text_share(part, used.sum / used.wall_ns));
    if (delay.processes > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, ", and are ready to run without a core for %s (%s)",
                    seconds_text(cpu, delay.sum / (double)delay.processes / 1e9),
                    text_share(part, ratio_of(delay.sum, delay.wall_ns)));
    text_append(text, RESOURCE_SENTENCE_SIZE, ".");
}

/* Of all processes, in ns; what starts and ends MPI is left out of both. */
static double waiting_ns(const struct analysis *analysis)
{
    double ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        if (kind != WAIT_AT_INIT && kind != WAIT_AT_FINALIZE)
            ns += (double)analysis->waits[kind].ns;
    return ns;
}

static double all_ns(const struct metrics *metrics)
{
    double ns = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        ns += (double)(process_total_ns(&metrics->process[i]) - starting_ns(metrics, &metrics->process[i]));
    return ns;
}

static void say_mpi(const struct metrics *metrics, char *text)
{
    char share[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE], size[TEXT_NUMBER_SIZE];
    uint64_t bytes, messages = metrics_messages(metrics, &bytes);
    double in_mpi = communication_share(metrics);
    snprintf(text, RESOURCE_SENTENCE_SIZE, "The processes are in MPI for %s of their time", text_share(share, in_mpi));
    if (metrics->analysis) {
        double waiting = fmin(ratio_of(waiting_ns(metrics->analysis), all_ns(metrics)), in_mpi);
        text_append(text, RESOURCE_SENTENCE_SIZE, ": %s waiting for others", text_share(share, waiting));
        text_append(text, RESOURCE_SENTENCE_SIZE, ", %s in the calls themselves", text_share(share, in_mpi - waiting));
    }
    if (messages > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, ". They send %s message%s with %s", text_thousands(count, messages),
                    text_plural(messages, "", "s"), text_bytes(size, bytes));
    text_append(text, RESOURCE_SENTENCE_SIZE, ".");
}

static void say_io(const struct metrics *metrics, char *text)
{
    char share[TEXT_NUMBER_SIZE], pages[TEXT_NUMBER_SIZE];
    char size[TEXT_NUMBER_SIZE];
    struct known faults = known_of(metrics, RESOURCE_DISK_FAULTS), moved = known_of(metrics, RESOURCE_READ);
    struct known written = known_of(metrics, RESOURCE_WRITTEN), sync = known_of(metrics, RESOURCE_SYNC);
    double ns = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t j = 0; j < metrics->process[i].function_count; j++) {
            const struct function_row *row = &metrics->process[i].functions[j];
            if (metrics->defs->states[row->state].class == CLASS_IO)
                ns += (double)row->exclusive_ns;
        }
    snprintf(text, RESOURCE_SENTENCE_SIZE, "MPI's calls on files take %s of the time",
             text_share(share, ratio_of(ns, all_ns(metrics))));
    if (sync.processes > 0 && sync.sum > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, ", fsync and the like %s",
                    text_share(share, ratio_of(sync.sum, sync.wall_ns)));
    if (moved.processes > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, "; %s read from disks", text_bytes(size, (uint64_t)moved.sum));
    if (written.processes > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, "%s%s written for them", moved.processes > 0 ? " and " : "; ",
                    text_bytes(size, (uint64_t)written.sum));
    if (faults.processes > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, "; %s page%s of memory %s read from a disk",
                    text_thousands(pages, (uint64_t)faults.sum), text_plural((uint64_t)faults.sum, "", "s"),
                    text_plural((uint64_t)faults.sum, "is", "are"));
    text_append(text, RESOURCE_SENTENCE_SIZE, ".");
}

static bool say_memory(const struct metrics *metrics, char *text)
{
    char most[TEXT_NUMBER_SIZE], sum[TEXT_NUMBER_SIZE], host[TEXT_NUMBER_SIZE], rank[TEXT_NUMBER_SIZE];
    struct known peak = known_of(metrics, RESOURCE_PEAK), memory = known_of(metrics, RESOURCE_MEMORY);
    if (peak.processes == 0)
        return false;
    snprintf(text, RESOURCE_SENTENCE_SIZE,
             "Process %s needs most memory, %s at its peak; the peaks of all add up to %s",
             text_thousands(rank, peak.most_rank), text_bytes(most, (uint64_t)peak.most),
             text_bytes(sum, (uint64_t)peak.sum));
    if (memory.processes > 0)
        text_append(text, RESOURCE_SENTENCE_SIZE, ". A host has %s", text_bytes(host, (uint64_t)memory.most));
    text_append(text, RESOURCE_SENTENCE_SIZE, ".");
    return true;
}

/* Of the processes of a host that read its energy the first counts. */
static bool is_first_of_host(const struct metrics *metrics, size_t place, const char *host)
{
    for (size_t i = 0; i < place; i++) {
        const struct process_resources *process = &metrics->resources->process[i];
        const char *other = defs_host_of(metrics->defs, process->rank, 0);
        if (resources_used(process, RESOURCE_ENERGY) >= 0 && other && strcmp(other, host) == 0)
            return false;
    }
    return true;
}

/* Of the processors of all hosts: each process reads those of its host. */
static void say_energy(const struct metrics *metrics, char *text)
{
    struct known energy = {0};
    char joules[TEXT_NUMBER_SIZE], watts[TEXT_NUMBER_SIZE];
    const struct resources *resources = metrics->resources;
    for (size_t i = 0; i < resources->count; i++) {
        const struct process_resources *process = &resources->process[i];
        double uj = (double)resources_used(process, RESOURCE_ENERGY);
        const char *host = defs_host_of(metrics->defs, process->rank, 0);
        if (uj >= 0 && !host && resources->count > 1) {
            snprintf(text, RESOURCE_SENTENCE_SIZE, "Not known: the hosts of the processes are not recorded.");
            return;
        }
        if (uj < 0 || (host && !is_first_of_host(metrics, i, host)))
            continue;
        energy.processes++;
        energy.sum += uj / 1e6;
        energy.wall_ns += (double)process->wall_ns;
    }
    snprintf(text, RESOURCE_SENTENCE_SIZE, "Not known: the counters of the processors cannot be read.");
    if (energy.processes == 0 || energy.wall_ns <= 0)
        return;
    snprintf(joules, sizeof joules, "%.3g", energy.sum);
    snprintf(watts, sizeof watts, "%.3g", energy.sum / (energy.wall_ns / (double)energy.processes / 1e9));
    snprintf(text, RESOURCE_SENTENCE_SIZE,
             "The processors of the host%s use %s J, %s W on average, of all that runs there.",
             text_plural(energy.processes, "", "s"), joules, watts);
}

/* What was short of it. */
static void say_findings(const struct findings *findings, uint64_t kinds, char *text)
{
    for (size_t i = 0; findings && i < findings->count; i++)
        if (kinds >> findings->finding[i].kind & 1)
            text_append(text, RESOURCE_SENTENCE_SIZE, " Finding: %s.", findings->finding[i].title);
}

size_t resource_sentences(struct resource_sentence sentences[RESOURCE_SENTENCES], const struct metrics *metrics,
                          const struct findings *findings)
{
    size_t count = 3;
    if (metrics->process_count == 0)
        return 0;
    sentences[0].resource = "CPU";
    say_cpu(metrics, sentences[0].text);
    say_findings(findings,
                 FINDING_BIT(oversubscription) | FINDING_BIT(shared_core) | FINDING_BIT(idle_core) |
                     FINDING_BIT(slow_node),
                 sentences[0].text);
    sentences[1].resource = "MPI";
    say_mpi(metrics, sentences[1].text);
    sentences[2].resource = "I/O";
    say_io(metrics, sentences[2].text);
    say_findings(findings, FINDING_BIT(disk_wait), sentences[2].text);
    sentences[count].resource = "Memory";
    if (say_memory(metrics, sentences[count].text)) {
        say_findings(findings, FINDING_BIT(paging) | FINDING_BIT(memory_growth), sentences[count].text);
        count++;
    }
    if (metrics->resources) {
        sentences[count].resource = "Energy";
        say_energy(metrics, sentences[count++].text);
    }
    return count;
}
