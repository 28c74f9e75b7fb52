/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/analysis.h"

#include "core/memory.h"

#include <string.h>

static const char *const names[WAIT_KIND_COUNT] = {"",
#define WAIT_NAME(kind, id) id,
                                                   WAIT_KINDS(WAIT_NAME)
#undef WAIT_NAME
};

const char *wait_kind_name(enum wait_kind kind)
{
    return names[kind];
}

enum wait_kind wait_kind_find(const char *name)
{
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        if (strcmp(names[kind], name) == 0)
            return (enum wait_kind)kind;
    return WAIT_NONE;
}

uint32_t analysis_longest_own(const struct analysis *analysis, const struct defs *defs)
{
    uint32_t longest = UINT32_MAX;
    for (uint32_t i = 0; i < analysis->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        if (state->is_mpi && analysis->path_states_ns[i] > 0 && !mpi_function_starts_or_ends(state->name) &&
            (longest == UINT32_MAX || analysis->path_states_ns[i] > analysis->path_states_ns[longest]))
            longest = i;
    }
    return longest;
}

struct analysis *analysis_new(size_t processes, size_t states)
{
    struct analysis *analysis = memory_new(sizeof *analysis);
    analysis->process_count = processes;
    analysis->state_count = states;
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
        struct wait_sums *sums = &analysis->waits[kind];
        sums->saving_ns = -1;
        sums->victims_ns = memory_new(processes * sizeof *sums->victims_ns);
        sums->causes_ns = memory_new(processes * sizeof *sums->causes_ns);
        sums->states_ns = memory_new(states * sizeof *sums->states_ns);
        sums->cause_states_ns = memory_new(states * sizeof *sums->cause_states_ns);
    }
    analysis->path_compute_ns = memory_new(processes * sizeof *analysis->path_compute_ns);
    analysis->path_mpi_ns = memory_new(processes * sizeof *analysis->path_mpi_ns);
    analysis->path_states_ns = memory_new(states * sizeof *analysis->path_states_ns);
    analysis->delay_ns = memory_new(processes * sizeof *analysis->delay_ns);
    analysis->delay_states_ns = memory_new(states * sizeof *analysis->delay_states_ns);
    analysis->delay_before_ns = memory_new(states * sizeof *analysis->delay_before_ns);
    return analysis;
}

void analysis_free(struct analysis *analysis)
{
    if (!analysis)
        return;
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
        free(analysis->waits[kind].victims_ns);
        free(analysis->waits[kind].causes_ns);
        free(analysis->waits[kind].states_ns);
        free(analysis->waits[kind].cause_states_ns);
    }
    free(analysis->path_compute_ns);
    free(analysis->path_mpi_ns);
    free(analysis->path_states_ns);
    free(analysis->delay_ns);
    free(analysis->delay_states_ns);
    free(analysis->delay_before_ns);
    free(analysis);
}
