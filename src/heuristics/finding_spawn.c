/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that processes wait in MPI_Comm_spawn for those that it starts. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"

#include <stdio.h>
#include <string.h>

static bool starts_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* MPI_Comm_spawn and MPI_Comm_spawn_multiple; both return when the new processes are in MPI_Init. */
static int64_t time_in(const struct metrics *metrics, size_t row, const char *begin)
{
    const struct process_row *process = &metrics->process[row];
    int64_t time_ns = 0;
    for (size_t f = 0; f < process->function_count; f++)
        if (starts_with(metrics->defs->states[process->functions[f].state].name, begin))
            time_add(&time_ns, process->functions[f].time_ns);
    return time_ns;
}

static const char spawns[] = "MPI_Comm_spawn", starts[] = "MPI_Init";

/* It came when those that spawn were there already: before MPI_Init it can spawn none. */
static bool is_spawned(const struct metrics *metrics, size_t row, int64_t there_ns)
{
    return metrics->process[row].begin_ns >= there_ns && time_in(metrics, row, starts) > 0;
}

/* When the first process that spawns others has left MPI_Init; INT64_MAX: there is none. */
static int64_t first_there_ns(const struct metrics *metrics)
{
    int64_t there_ns = INT64_MAX;
    for (size_t i = 0; i < metrics->process_count; i++)
        if (time_in(metrics, i, spawns) > 0)
            there_ns = smaller(started_ns(metrics, &metrics->process[i]), there_ns);
    return there_ns;
}

static int64_t path_in_spawns(const struct finding_input *input)
{
    const struct analysis *analysis = input->analysis;
    int64_t path_ns = 0;
    for (size_t i = 0; i < analysis->state_count; i++)
        if (starts_with(input->metrics->defs->states[i].name, spawns))
            time_add(&path_ns, analysis->path_states_ns[i]);
    return path_ns;
}

struct spawning finding_spawning(const struct finding_input *input)
{
    const struct metrics *metrics = input->metrics;
    struct spawning spawning = {.least_ns = INT64_MAX};
    int64_t there_ns = first_there_ns(metrics), init_ns = 0;
    size_t others = 0;
    for (size_t i = 0; i < metrics->process_count && there_ns < INT64_MAX; i++) {
        int64_t spawn_ns = time_in(metrics, i, spawns);
        if (spawn_ns > 0) {
            spawning.parents++;
            spawning.least_ns = smaller(spawn_ns, spawning.least_ns);
            time_add(&spawning.sum_ns, spawn_ns);
        } else if (is_spawned(metrics, i, there_ns)) {
            spawning.children++;
            init_ns = larger(time_in(metrics, i, starts), init_ns);
        } else {
            others++;
        }
    }
    if (spawning.parents == 0 || spawning.children == 0)
        return (struct spawning){0};
    spawning.init_ns = smaller(init_ns, spawning.least_ns);
    /* If other processes had something else to do, only the critical path shows whether the run waited. */
    spawning.saving_ns = others > 0 ? smaller(path_in_spawns(input), spawning.least_ns) : spawning.least_ns;
    return spawning;
}

/* The processes that spawn, or those that are spawned. */
static struct ranks ranks_of(const struct metrics *metrics, bool parents)
{
    struct ranks ranks = {memory_new(metrics->process_count * sizeof *ranks.rank), 0};
    int64_t there_ns = first_there_ns(metrics);
    for (size_t i = 0; i < metrics->process_count; i++) {
        bool spawning = time_in(metrics, i, spawns) > 0;
        if (parents ? spawning : !spawning && is_spawned(metrics, i, there_ns))
            ranks.rank[ranks.count++] = metrics->process[i].rank;
    }
    return ranks;
}

bool find_spawn(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    struct spawning spawning = finding_spawning(input);
    char who[WHO_SIZE], children[WHO_SIZE], time[TEXT_NUMBER_SIZE], init[TEXT_NUMBER_SIZE];
    bool one = spawning.parents == 1;
    if ((double)spawning.saving_ns < FINDING_COSTS * (double)working_duration_ns(metrics) || spawning.saving_ns == 0)
        return false;
    finding->victims = ranks_of(metrics, true);
    finding->causes = ranks_of(metrics, false);
    finding->functions[0] = spawns;
    finding->saving_s = (double)spawning.saving_ns / 1e9;
    finding->waiting_s = (double)spawning.sum_ns / 1e9;
    finding->to_s = (double)input->analysis->duration / 1e9;
    who_text(who, &finding->victims, metrics->process_count);
    who_text(children, &finding->causes, metrics->process_count);
    text_duration(time, spawning.least_ns);
    text_duration(init, spawning.init_ns);
    snprintf(finding->title, sizeof finding->title, "%s wait%s for the start of spawned processes", who,
             one ? "s" : "");
    snprintf(finding->text, sizeof finding->text,
             "MPI_Comm_spawn returns when the processes that it starts are in MPI_Init: %s stay%s there for %s%s. In "
             "that time %s are in MPI_Init for up to %s; the rest is their launch, and what they do before MPI_Init.",
             who, one ? "s" : "", one ? "" : "at least ", time, children, init);
    snprintf(finding->advice, sizeof finding->advice,
             "start all processes at once, with mpiexec, and divide them (MPI_Comm_split); or spawn once, and keep the "
             "processes for later work; see what they do before MPI_Init (reading files)");
    finding_evidence(finding, "spawn_s", (double)spawning.least_ns / 1e9, true);
    finding_evidence(finding, "init_s", (double)spawning.init_ns / 1e9, true);
    return true;
}
