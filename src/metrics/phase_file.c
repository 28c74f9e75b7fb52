/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what metrics files contain about phases, loops and iterations. */
#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/file_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct phase_metrics *phases_of(struct metrics_file *file)
{
    return file->metrics->phases;
}

/* All processes come before it. */
void read_phases(struct metrics_file *file)
{
    if (phases_of(file))
        return;
    struct phase_metrics *phases = file->metrics->phases = memory_new(sizeof *phases);
    const char *source = file_text(file, ATTRIBUTE_source);
    for (int i = 0; i < PHASE_SOURCE_COUNT; i++)
        /* An unknown word is the first source: the file may be of a later version. */
        if (strcmp(source, phase_source_name((enum phase_source)i)) == 0)
            phases->source = (enum phase_source)i;
    phases->by_world = strcmp(file_text(file, ATTRIBUTE_by_world), "true") == 0;
    phases->role_count = (uint32_t)file_count(file, ATTRIBUTE_roles, UINT32_MAX);
    phases->process_count = file->metrics->process_count;
    phases->iterations.loop = PHASE_NONE;
}

/* A number of 32 bits; absent: PHASE_NONE. */
static uint32_t file_place(struct metrics_file *file, enum file_attribute attribute)
{
    if (!xml_sax_has(&file->sax, attribute))
        return PHASE_NONE;
    return (uint32_t)file_count(file, attribute, UINT32_MAX - 1);
}

void read_loop(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    if (!phases)
        return;
    struct loop_row row = {.parent = file_place(file, ATTRIBUTE_parent),
                           .depth = (uint32_t)file_count(file, ATTRIBUTE_depth, UINT32_MAX),
                           .role = (uint32_t)file_count(file, ATTRIBUTE_role, UINT32_MAX),
                           .processes = (uint32_t)file_count(file, ATTRIBUTE_processes, PROCESS_LIMIT),
                           .least = (uint32_t)file_count(file, ATTRIBUTE_least, UINT32_MAX),
                           .most = (uint32_t)file_count(file, ATTRIBUTE_most, UINT32_MAX),
                           .entries = (uint32_t)file_count(file, ATTRIBUTE_entries, UINT32_MAX),
                           .period = (uint32_t)file_count(file, ATTRIBUTE_period, UINT32_MAX),
                           .warm_up = (uint32_t)file_count(file, ATTRIBUTE_warm_up, UINT32_MAX),
                           .similarity = file_ratio(file, ATTRIBUTE_similarity),
                           .computing_ns = file_time(file, ATTRIBUTE_computing_s),
                           .waiting_ns = file_time(file, ATTRIBUTE_waiting_s),
                           .communicating_ns = file_time(file, ATTRIBUTE_communicating_s),
                           .time_ns = file_time(file, ATTRIBUTE_time_s),
                           .matched = (uint32_t)file_count(file, ATTRIBUTE_matched, UINT32_MAX)};
    /* A loop comes after the one around it. */
    if ((row.parent == PHASE_NONE) != (row.depth == 0) ||
        (row.parent != PHASE_NONE &&
         (row.parent >= phases->loop_count || phases->loops[row.parent].depth + 1 != row.depth))) {
        file_damage(file, "loop %zu does not follow the enclosing one", phases->loop_count);
        return;
    }
    row.name = memory_copy_string(file_text(file, ATTRIBUTE_name));
    ARRAY_PUSH(phases->loops, phases->loop_count, file->loop_capacity, row);
}

/* Compute and MPI together make the time. */
static struct part_sums read_sums(struct metrics_file *file)
{
    struct part_sums sums = {.compute_ns = file_time(file, ATTRIBUTE_compute_s),
                             .mpi_ns = file_time(file, ATTRIBUTE_mpi_s),
                             .messages = file_count(file, ATTRIBUTE_messages, UINT64_MAX),
                             .bytes = file_count(file, ATTRIBUTE_bytes, UINT64_MAX)};
    sums.time_ns = sums.compute_ns;
    time_add(&sums.time_ns, sums.mpi_ns);
    return sums;
}

void read_phase(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    file->part = NULL;
    /* Phases after their cells would not fit the table of cells. */
    if (!phases || phases->cells)
        return;
    struct phase_row row = {.loop = file_place(file, ATTRIBUTE_loop),
                            .begin_ns = file_time(file, ATTRIBUTE_begin_s),
                            .end_ns = file_time(file, ATTRIBUTE_end_s),
                            .sums = read_sums(file)};
    if (row.loop != PHASE_NONE && row.loop >= phases->loop_count) {
        file_damage(file, "unknown loop %" PRIu32 " before the phase", row.loop);
        /* The phase's numbers are of use without its loop. */
        row.loop = PHASE_NONE;
    }
    row.name = memory_copy_string(file_text(file, ATTRIBUTE_name));
    ARRAY_PUSH(phases->phases, phases->phase_count, file->phase_capacity, row);
    file->part = &phases->phases[phases->phase_count - 1].sums;
}

void read_spent(struct metrics_file *file)
{
    enum wait_kind kind = wait_kind_find(file_text(file, ATTRIBUTE_kind));
    if (file->part && kind != WAIT_NONE)
        file->part->waits_ns[kind] = file_time(file, ATTRIBUTE_time_s);
}

/* The groups follow from the numbers of processes and phases. */
void read_share(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    if (!phases || phases->phase_count == 0)
        return;
    /* The table has a bounded number of cells, whatever the file says: phase_group_size makes groups large enough. */
    if (!phases->cells) {
        phases->per_group = phase_group_size(phases->process_count, phases->phase_count, PHASE_CELLS);
        phases->group_count = (phases->process_count + phases->per_group - 1) / phases->per_group;
        phases->cells = memory_new(phases->group_count * phases->phase_count * sizeof *phases->cells);
    }
    uint64_t group = file_count(file, ATTRIBUTE_group, UINT32_MAX),
             phase = file_count(file, ATTRIBUTE_phase, UINT32_MAX);
    if (group >= phases->group_count || phase >= phases->phase_count) {
        file_damage(file, "unknown phase %" PRIu64 " of group %" PRIu64 " of processes", phase, group);
        return;
    }
    phases->cells[group * phases->phase_count + phase] =
        (struct phase_cell){.compute_ns = file_time(file, ATTRIBUTE_compute_s),
                            .mpi_ns = file_time(file, ATTRIBUTE_mpi_s),
                            .waiting_ns = file_time(file, ATTRIBUTE_waiting_s),
                            .messages = file_count(file, ATTRIBUTE_messages, UINT64_MAX),
                            .bytes = file_count(file, ATTRIBUTE_bytes, UINT64_MAX)};
}

static enum iteration_class read_class(struct metrics_file *file)
{
    const char *name = file_text(file, ATTRIBUTE_kind);
    for (int i = 0; i < ITERATION_CLASS_COUNT; i++)
        if (strcmp(name, iteration_class_name((enum iteration_class)i)) == 0)
            return (enum iteration_class)i;
    return ITERATION_TOO_FEW;
}

/* A row of the metrics; 0 where there is none of that rank. */
static uint32_t read_heaviest(struct metrics_file *file)
{
    size_t row = file_process(file, ATTRIBUTE_heaviest);
    return row == SIZE_MAX ? 0 : (uint32_t)row;
}

void read_iterations(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    /* The first one counts, as for all parts of the file. */
    if (!phases || phases->iterations.loop != PHASE_NONE)
        return;
    struct iteration_metrics *to = &phases->iterations;
    uint32_t loop = file_place(file, ATTRIBUTE_loop);
    if (loop >= phases->loop_count) {
        file_damage(file, "iterations without a loop before them");
        return;
    }
    *to = (struct iteration_metrics){.loop = loop,
                                     .count = (uint32_t)file_count(file, ATTRIBUTE_count, UINT32_MAX - 1),
                                     .processes = (uint32_t)file_count(file, ATTRIBUTE_processes, PROCESS_LIMIT),
                                     .median_ns = file_time(file, ATTRIBUTE_median_s),
                                     .mad_ns = file_time(file, ATTRIBUTE_mad_s),
                                     .mean_ns = file_time(file, ATTRIBUTE_mean_s),
                                     .warm_up = (uint32_t)file_count(file, ATTRIBUTE_warm_up, UINT32_MAX),
                                     .slow = (uint32_t)file_count(file, ATTRIBUTE_slow, UINT32_MAX),
                                     .trend = file_ratio(file, ATTRIBUTE_trend),
                                     .trend_fit = file_ratio(file, ATTRIBUTE_trend_fit),
                                     .rhythm_ns = file_time(file, ATTRIBUTE_rhythm_s),
                                     .loss_ns = file_time(file, ATTRIBUTE_loss_s),
                                     .static_ns = file_time(file, ATTRIBUTE_static_s),
                                     .most_ns = file_time(file, ATTRIBUTE_most_s),
                                     .recoverable_ns = file_time(file, ATTRIBUTE_recoverable_s),
                                     .rank_share = file_ratio(file, ATTRIBUTE_rank_share),
                                     .iteration_share = file_ratio(file, ATTRIBUTE_iteration_share),
                                     .mixed_share = file_ratio(file, ATTRIBUTE_mixed_share),
                                     .concentration = file_ratio(file, ATTRIBUTE_concentration),
                                     .growth = file_ratio(file, ATTRIBUTE_growth),
                                     .entropy = file_ratio(file, ATTRIBUTE_entropy),
                                     .persistence = file_ratio(file, ATTRIBUTE_persistence),
                                     .waiting_ns = file_time(file, ATTRIBUTE_waiting_s),
                                     .saving_ns = -1};
    if (xml_sax_has(&file->sax, ATTRIBUTE_saving_s))
        to->saving_ns = file_time(file, ATTRIBUTE_saving_s);
    to->kind = read_class(file);
    to->heaviest = read_heaviest(file);
}

void read_iteration(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    file->part = NULL;
    if (!phases || phases->iterations.loop == PHASE_NONE || phases->iterations.computing_ns)
        return;
    struct iteration_metrics *to = &phases->iterations;
    uint64_t next = 0;
    if (to->row_count > 0) {
        const struct iteration_row *last = &to->rows[to->row_count - 1];
        next = (uint64_t)last->first + last->count;
    }
    struct iteration_row row = {.first = (uint32_t)file_count(file, ATTRIBUTE_first, UINT32_MAX),
                                .count = (uint32_t)file_count(file, ATTRIBUTE_count, UINT32_MAX),
                                .begin_ns = file_time(file, ATTRIBUTE_begin_s),
                                .time_ns = file_time(file, ATTRIBUTE_time_s),
                                .longest_ns = file_time(file, ATTRIBUTE_longest_s),
                                .computing_ns = file_time(file, ATTRIBUTE_computing_s),
                                .most_ns = file_time(file, ATTRIBUTE_most_s),
                                .heaviest = read_heaviest(file),
                                .sums = read_sums(file)};
    /* In 64 bits: first + count of 32 bits each cannot overflow. Rows without gaps cover all iterations. */
    if (row.first != next || row.count == 0 || next + row.count > to->count || to->row_count >= ITERATION_BINS) {
        file_damage(file, "iteration %" PRIu32 " is out of order", row.first);
        return;
    }
    ARRAY_PUSH(to->rows, to->row_count, file->iteration_capacity, row);
    file->part = &to->rows[to->row_count - 1].sums;
}

void read_slow(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    if (!phases || phases->iterations.slowest_count >= ITERATIONS_SLOWEST)
        return;
    struct slow_iteration slow = {.iteration = (uint32_t)file_count(file, ATTRIBUTE_iteration, UINT32_MAX),
                                  .begin_ns = file_time(file, ATTRIBUTE_begin_s),
                                  .time_ns = file_time(file, ATTRIBUTE_time_s),
                                  .heaviest = read_heaviest(file),
                                  .most_ns = file_time(file, ATTRIBUTE_most_s)};
    phases->iterations.slowest[phases->iterations.slowest_count++] = slow;
}

/* The table's row of a group: whole ns, separated by blanks. */
void read_computing(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    if (!phases || phases->iterations.row_count == 0)
        return;
    struct iteration_metrics *to = &phases->iterations;
    if (!to->computing_ns) {
        to->per_group = phase_group_size(phases->process_count, to->row_count, ITERATION_CELLS);
        to->group_count = (phases->process_count + to->per_group - 1) / to->per_group;
        size_t cells = to->group_count * to->row_count;
        to->computing_ns = memory_new(cells * sizeof *to->computing_ns);
        for (size_t i = 0; i < cells; i++)
            /* -1: not known, as for groups that the file leaves out. */
            to->computing_ns[i] = -1;
    }
    uint64_t group = file_count(file, ATTRIBUTE_group, UINT32_MAX);
    const char *at = file_text(file, ATTRIBUTE_values);
    for (size_t i = 0; i < to->row_count; i++) {
        char *end;
        long long ns = strtoll(at, &end, 10);
        if (end == at || group >= to->group_count) {
            file_damage(file, "computing of group %" PRIu64 " has no value %zu", group, i);
            return;
        }
        to->computing_ns[group * to->row_count + i] = larger(ns, -1);
        at = end;
    }
}

/* Parts without numbers by process, or without all of their iterations, are removed: reports index these tables without
   looking, and half a table would be shown as a whole one. */
void phases_finish(struct metrics_file *file)
{
    struct phase_metrics *phases = phases_of(file);
    if (!phases)
        return;
    struct iteration_metrics *to = &phases->iterations;
    bool whole = to->row_count > 0 && to->computing_ns &&
                 (uint64_t)to->rows[to->row_count - 1].first + to->rows[to->row_count - 1].count == to->count;
    for (size_t i = 0; i < to->slowest_count; i++)
        whole &= to->slowest[i].iteration < to->count;
    bool fine = phases->loop_count > 0 && phases->phase_count > 0 && phases->cells &&
                phases->process_count == file->metrics->process_count;
    if (fine && (to->loop == PHASE_NONE || (whole && to->processes > 0)))
        return;
    phase_metrics_free(phases);
    file->metrics->phases = NULL;
}
