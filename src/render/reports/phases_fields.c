/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of phases, loops and iterations, each listed once: for JSON, CSV and metrics files. */
#include "render/reports/phases_report.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <inttypes.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define GETTER(name, row_type, expression)                                                                             \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const struct phases_report *report = context;                                                                  \
        const struct phase_metrics *phases = report->metrics->phases;                                                  \
        const row_type *row = row_pointer;                                                                             \
        (void)phases;                                                                                                  \
        (void)row;                                                                                                     \
        return expression;                                                                                             \
    }

static struct value place(uint32_t place)
{
    return value_if(place != PHASE_NONE, value_count(place));
}

static struct value rank(const struct phases_report *report, uint32_t row)
{
    /* Rows are counted from 0; ranks have gaps where processes are left out. */
    return value_count(report->metrics->process[row].rank);
}

GETTER(phase_name, struct phase_row, value_text(row->name))
GETTER(phase_loop, struct phase_row, place(row->loop))
GETTER(phase_begin, struct phase_row, value_time(row->begin_ns))
GETTER(phase_end, struct phase_row, value_time(row->end_ns))
GETTER(phase_compute, struct phase_row, value_time(row->sums.compute_ns))
GETTER(phase_mpi, struct phase_row, value_time(row->sums.mpi_ns))
GETTER(phase_waiting, struct phase_row, value_time(part_waiting_ns(&row->sums)))
GETTER(phase_messages, struct phase_row, value_count(row->sums.messages))
GETTER(phase_bytes, struct phase_row, value_bytes(row->sums.bytes))

static const struct field phase_fields[] = {
    {"name", NULL, phase_name},         {"loop", NULL, phase_loop},         {"begin_s", NULL, phase_begin},
    {"end_s", NULL, phase_end},         {"compute_s", NULL, phase_compute}, {"mpi_s", NULL, phase_mpi},
    {"waiting_s", NULL, phase_waiting}, {"messages", NULL, phase_messages}, {"bytes", NULL, phase_bytes},
};

/* A cell's place follows from its address in the table. */
static size_t cell_index(const struct phase_metrics *phases, const struct phase_cell *cell)
{
    return (size_t)(cell - phases->cells);
}

static struct value cell_rank(const struct phases_report *report, const struct phase_cell *cell, bool last)
{
    const struct phase_metrics *phases = report->metrics->phases;
    /* Groups are of equal size but for the last one, which ends with the processes. */
    size_t row = (cell_index(phases, cell) / phases->phase_count + last) * phases->per_group - last;
    return rank(report, (uint32_t)smaller(row, phases->process_count - 1));
}

GETTER(cell_group, struct phase_cell, value_count(cell_index(phases, row) / phases->phase_count))
GETTER(cell_phase, struct phase_cell, value_count(cell_index(phases, row) % phases->phase_count))
GETTER(cell_first, struct phase_cell, cell_rank(report, row, false))
GETTER(cell_last, struct phase_cell, cell_rank(report, row, true))
GETTER(cell_compute, struct phase_cell, value_time(row->compute_ns))
GETTER(cell_mpi, struct phase_cell, value_time(row->mpi_ns))
GETTER(cell_waiting, struct phase_cell, value_time(row->waiting_ns))
GETTER(cell_messages, struct phase_cell, value_count(row->messages))
GETTER(cell_bytes, struct phase_cell, value_bytes(row->bytes))

static const struct field cell_fields[] = {
    {"phase", NULL, cell_phase},       {"from", NULL, cell_first},  {"to", NULL, cell_last},
    {"compute_s", NULL, cell_compute}, {"mpi_s", NULL, cell_mpi},   {"waiting_s", NULL, cell_waiting},
    {"messages", NULL, cell_messages}, {"bytes", NULL, cell_bytes},
};
/* Metrics files keep the group, from which the ranks follow. */
static const struct field cell_file_fields[] = {
    {"group", NULL, cell_group}, {"phase", NULL, cell_phase},       {"compute_s", NULL, cell_compute},
    {"mpi_s", NULL, cell_mpi},   {"waiting_s", NULL, cell_waiting}, {"messages", NULL, cell_messages},
    {"bytes", NULL, cell_bytes},
};

static double share_of(int64_t part, int64_t whole)
{
    return ratio_of((double)part, (double)whole);
}

/* Of the time of the loop around it, on the processes that have both. */
static double loop_share(const struct phase_metrics *phases, const struct loop_row *row)
{
    if (row->parent == PHASE_NONE)
        return 1;
    const struct loop_row *around = &phases->loops[row->parent];
    /* Times are sums over processes: an inner loop on half of them has all of the time if it has half the sum. */
    double processes = 1;
    if (around->processes > 0)
        processes = (double)row->processes / (double)around->processes;
    if (processes <= 0)
        return 0;
    return share_of(row->time_ns, around->time_ns) / processes;
}

static enum loop_class loop_class_of(const struct loop_row *row)
{
    if (row->communicating_ns > row->computing_ns && row->communicating_ns > row->waiting_ns)
        return LOOP_COMMUNICATING;
    if (row->waiting_ns > row->computing_ns)
        return LOOP_WAITING;
    return LOOP_COMPUTING;
}

bool phases_is_bottleneck(const struct phases_report *report, const struct loop_row *row)
{
    /* The outermost is the run itself, which has all of the time. */
    return row->parent != PHASE_NONE && loop_share(report->metrics->phases, row) > report->bottleneck;
}

double phases_loop_share(const struct phase_metrics *phases, const struct loop_row *row)
{
    return loop_share(phases, row);
}

const char *phases_loop_class(const struct loop_row *row)
{
    return loop_class_name(loop_class_of(row));
}

GETTER(loop_number, struct loop_row, value_count((uint64_t)(row - phases->loops)))
GETTER(loop_name, struct loop_row, value_text(row->name))
GETTER(loop_parent, struct loop_row, place(row->parent))
GETTER(loop_depth, struct loop_row, value_count(row->depth))
GETTER(loop_role, struct loop_row, value_count(row->role))
GETTER(loop_processes, struct loop_row, value_count(row->processes))
GETTER(loop_least, struct loop_row, value_count(row->least))
GETTER(loop_most, struct loop_row, value_count(row->most))
GETTER(loop_entries, struct loop_row, value_count(row->entries))
GETTER(loop_matched, struct loop_row, value_count(row->matched))
GETTER(loop_period, struct loop_row, value_count(row->period))
GETTER(loop_warm_up, struct loop_row, value_count(row->warm_up))
GETTER(loop_similarity, struct loop_row, value_ratio(row->similarity))
GETTER(loop_time, struct loop_row, value_time(row->time_ns))
GETTER(loop_computing, struct loop_row, value_time(row->computing_ns))
GETTER(loop_waiting, struct loop_row, value_time(row->waiting_ns))
GETTER(loop_communicating, struct loop_row, value_time(row->communicating_ns))
GETTER(loop_of_parent, struct loop_row, value_ratio(loop_share(phases, row)))
GETTER(loop_kind, struct loop_row, value_text(phases_loop_class(row)))
GETTER(loop_bottleneck, struct loop_row, value_bool(phases_is_bottleneck(report, row)))

/* Metrics files have what was measured; JSON and CSV also what follows from it. */
#define LOOP_FIELDS                                                                                                    \
    {"name", NULL, loop_name}, {"parent", NULL, loop_parent}, {"depth", NULL, loop_depth}, {"role", NULL, loop_role},  \
        {"processes", NULL, loop_processes}, {"least", NULL, loop_least}, {"most", NULL, loop_most},                   \
        {"entries", NULL, loop_entries}, {"matched", NULL, loop_matched}, {"period", NULL, loop_period},               \
        {"warm_up", NULL, loop_warm_up}, {"similarity", NULL, loop_similarity}, {"time_s", NULL, loop_time},           \
        {"computing_s", NULL, loop_computing}, {"waiting_s", NULL, loop_waiting},                                      \
    {                                                                                                                  \
        "communicating_s", NULL, loop_communicating                                                                    \
    }

static const struct field loop_file_fields[] = {LOOP_FIELDS};
static const struct field loop_fields[] = {{"loop", NULL, loop_number},
                                           LOOP_FIELDS,
                                           {"share", NULL, loop_of_parent},
                                           {"class", NULL, loop_kind},
                                           {"bottleneck", NULL, loop_bottleneck}};

GETTER(row_first, struct iteration_row, value_count(row->first))
GETTER(row_count, struct iteration_row, value_count(row->count))
GETTER(row_begin, struct iteration_row, value_time(row->begin_ns))
GETTER(row_time, struct iteration_row, value_time(row->time_ns))
GETTER(row_longest, struct iteration_row, value_time(row->longest_ns))
GETTER(row_computing, struct iteration_row, value_time(row->computing_ns))
GETTER(row_most, struct iteration_row, value_time(row->most_ns))
GETTER(row_heaviest, struct iteration_row, rank(report, row->heaviest))
GETTER(row_compute, struct iteration_row, value_time(row->sums.compute_ns))
GETTER(row_mpi, struct iteration_row, value_time(row->sums.mpi_ns))
GETTER(row_waiting, struct iteration_row, value_time(part_waiting_ns(&row->sums)))
GETTER(row_messages, struct iteration_row, value_count(row->sums.messages))
GETTER(row_bytes, struct iteration_row, value_bytes(row->sums.bytes))

static const struct field row_fields[] = {
    {"first", NULL, row_first}, {"count", NULL, row_count},       {"begin_s", NULL, row_begin},
    {"time_s", NULL, row_time}, {"longest_s", NULL, row_longest}, {"computing_s", NULL, row_computing},
    {"most_s", NULL, row_most}, {"heaviest", NULL, row_heaviest}, {"compute_s", NULL, row_compute},
    {"mpi_s", NULL, row_mpi},   {"waiting_s", NULL, row_waiting}, {"messages", NULL, row_messages},
    {"bytes", NULL, row_bytes},
};

GETTER(slow_iteration, struct slow_iteration, value_count(row->iteration))
GETTER(slow_begin, struct slow_iteration, value_time(row->begin_ns))
GETTER(slow_time, struct slow_iteration, value_time(row->time_ns))
GETTER(slow_heaviest, struct slow_iteration, rank(report, row->heaviest))
GETTER(slow_most, struct slow_iteration, value_time(row->most_ns))

static const struct field slow_fields[] = {
    {"iteration", "iteration", slow_iteration},
    {"begin_s", "begin", slow_begin},
    {"time_s", "time", slow_time},
    {"heaviest", "computes longest: process", slow_heaviest},
    {"most_s", "for", slow_most},
};

const struct field *phases_slow_fields(size_t *count)
{
    *count = COUNT_OF(slow_fields);
    return slow_fields;
}

GETTER(all_loop, struct iteration_metrics, place(row->loop))
GETTER(all_count, struct iteration_metrics, value_count(row->count))
GETTER(all_processes, struct iteration_metrics, value_count(row->processes))
GETTER(all_median, struct iteration_metrics, value_time(row->median_ns))
GETTER(all_mad, struct iteration_metrics, value_time(row->mad_ns))
GETTER(all_mean, struct iteration_metrics, value_time(row->mean_ns))
GETTER(all_warm_up, struct iteration_metrics, value_count(row->warm_up))
GETTER(all_slow, struct iteration_metrics, value_count(row->slow))
GETTER(all_trend, struct iteration_metrics, value_ratio(row->trend))
GETTER(all_trend_fit, struct iteration_metrics, value_ratio(row->trend_fit))
/* A rhythm that is not known is 0, a saving below 0: null says so in JSON. */
GETTER(all_rhythm, struct iteration_metrics, value_if(row->rhythm_ns, value_time(row->rhythm_ns)))
GETTER(all_kind, struct iteration_metrics, value_text(iteration_class_name(row->kind)))
GETTER(all_loss, struct iteration_metrics, value_time(row->loss_ns))
GETTER(all_static, struct iteration_metrics, value_time(row->static_ns))
GETTER(all_most, struct iteration_metrics, value_time(row->most_ns))
GETTER(all_recoverable, struct iteration_metrics, value_time(row->recoverable_ns))
GETTER(all_saving, struct iteration_metrics, value_if(row->saving_ns >= 0, value_time(row->saving_ns)))
GETTER(all_rank_share, struct iteration_metrics, value_ratio(row->rank_share))
GETTER(all_iteration_share, struct iteration_metrics, value_ratio(row->iteration_share))
GETTER(all_mixed_share, struct iteration_metrics, value_ratio(row->mixed_share))
GETTER(all_concentration, struct iteration_metrics, value_ratio(row->concentration))
GETTER(all_growth, struct iteration_metrics, value_ratio(row->growth))
GETTER(all_entropy, struct iteration_metrics, value_ratio(row->entropy))
GETTER(all_persistence, struct iteration_metrics, value_ratio(row->persistence))
GETTER(all_heaviest, struct iteration_metrics, rank(report, row->heaviest))
GETTER(all_waiting, struct iteration_metrics, value_time(row->waiting_ns))
GETTER(all_differs, struct iteration_metrics, value_bool(iteration_rhythm_differs(row)))

static const struct field all_fields[] = {
    {"loop", NULL, all_loop},
    {"count", NULL, all_count},
    {"processes", NULL, all_processes},
    {"median_s", NULL, all_median},
    {"mad_s", NULL, all_mad},
    {"mean_s", NULL, all_mean},
    {"warm_up", NULL, all_warm_up},
    {"slow", NULL, all_slow},
    {"trend", NULL, all_trend},
    {"trend_fit", NULL, all_trend_fit},
    {"rhythm_s", NULL, all_rhythm},
    {"rhythm_differs", NULL, all_differs},
    {"kind", NULL, all_kind},
    {"loss_s", NULL, all_loss},
    {"static_s", NULL, all_static},
    {"most_s", NULL, all_most},
    {"recoverable_s", NULL, all_recoverable},
    {"saving_s", NULL, all_saving},
    {"waiting_s", NULL, all_waiting},
    {"heaviest", NULL, all_heaviest},
    {"rank_share", NULL, all_rank_share},
    {"iteration_share", NULL, all_iteration_share},
    {"mixed_share", NULL, all_mixed_share},
    {"concentration", NULL, all_concentration},
    {"growth", NULL, all_growth},
    {"entropy", NULL, all_entropy},
    {"persistence", NULL, all_persistence},
};

/* JSON */

static void json_waits(struct json *json, const struct part_sums *sums)
{
    json_open(json, "waits", '{');
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        /* Most phases have a few of the twenty kinds: the others are left out. */
        if (sums->waits_ns[kind] != 0)
            json_value(json, wait_kind_name((enum wait_kind)kind), value_time(sums->waits_ns[kind]));
    json_close(json, '}');
}

static void json_phases(struct json *json, const struct phases_report *report)
{
    const struct phase_metrics *phases = report->metrics->phases;
    json_open(json, "phases", '[');
    for (size_t i = 0; i < phases->phase_count; i++) {
        json_open(json, NULL, '{');
        json_fields(json, phase_fields, COUNT_OF(phase_fields), report, &phases->phases[i]);
        json_waits(json, &phases->phases[i].sums);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "shares", '[');
    for (size_t i = 0; i < phases->group_count * phases->phase_count; i++)
        json_row(json, cell_fields, COUNT_OF(cell_fields), report, &phases->cells[i]);
    json_close(json, ']');
    json_open(json, "loops", '[');
    for (size_t i = 0; i < phases->loop_count; i++)
        json_row(json, loop_fields, COUNT_OF(loop_fields), report, &phases->loops[i]);
    json_close(json, ']');
}

static void json_iterations(struct json *json, const struct phases_report *report)
{
    const struct iteration_metrics *iterations = &report->metrics->phases->iterations;
    /* A run without iterations has null, which differs from a loop of 0 turns. */
    if (iterations->loop == PHASE_NONE) {
        json_value(json, "iterations", value_null());
        return;
    }
    json_open(json, "iterations", '{');
    json_fields(json, all_fields, COUNT_OF(all_fields), report, iterations);
    json_open(json, "rows", '[');
    for (size_t i = 0; i < iterations->row_count; i++) {
        json_open(json, NULL, '{');
        json_fields(json, row_fields, COUNT_OF(row_fields), report, &iterations->rows[i]);
        json_waits(json, &iterations->rows[i].sums);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "slowest", '[');
    for (size_t i = 0; i < iterations->slowest_count; i++)
        json_row(json, slow_fields, COUNT_OF(slow_fields), report, &iterations->slowest[i]);
    json_close(json, ']');
    /* Lines are groups of processes where the table would be too large otherwise. */
    json_value(json, "processes_per_line", value_count(iterations->per_group));
    json_open(json, "computing_s", '[');
    for (size_t group = 0; group < iterations->group_count; group++) {
        json_open(json, NULL, '[');
        for (size_t i = 0; i < iterations->row_count; i++) {
            int64_t ns = iterations->computing_ns[group * iterations->row_count + i];
            /* A process that was not in this iteration has null. */
            json_value(json, NULL, value_if(ns >= 0, value_time(ns)));
        }
        json_close(json, ']');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void phases_write_json(struct output *output, const struct phases_report *report)
{
    struct json json = {.output = output};
    const struct phase_metrics *phases = report->metrics->phases;
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-phases/1"));
    json_value(&json, "source", value_text(phase_source_name(phases->source)));
    json_value(&json, "roles", value_count(phases->role_count));
    json_value(&json, "by_world", value_bool(phases->by_world));
    json_phases(&json, report);
    json_iterations(&json, report);
    json_close(&json, '}');
}

/* CSV */

struct csv_table {
    const char *name;
    const struct field *fields;
    size_t field_count, row_size;
};

static const struct csv_table tables[] = {
    {"phases", phase_fields, COUNT_OF(phase_fields), sizeof(struct phase_row)},
    {"shares", cell_fields, COUNT_OF(cell_fields), sizeof(struct phase_cell)},
    {"loops", loop_fields, COUNT_OF(loop_fields), sizeof(struct loop_row)},
    {"iterations", row_fields, COUNT_OF(row_fields), sizeof(struct iteration_row)},
    {"slowest", slow_fields, COUNT_OF(slow_fields), sizeof(struct slow_iteration)},
};

static const struct csv_table *table_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

static const void *table_rows(const struct phase_metrics *phases, const struct csv_table *table, size_t *count)
{
    const struct {
        const void *rows;
        size_t count;
        /* The tables in the order of `tables` above: the place in one is the place in the other. */
    } rows[COUNT_OF(tables)] = {{phases->phases, phases->phase_count},
                                {phases->cells, phases->group_count * phases->phase_count},
                                {phases->loops, phases->loop_count},
                                {phases->iterations.rows, phases->iterations.row_count},
                                {phases->iterations.slowest, phases->iterations.slowest_count}};
    *count = rows[table - tables].count;
    return rows[table - tables].rows;
}

void phases_write_csv(struct output *output, const struct phases_report *report, const char *name)
{
    const struct csv_table *table = table_find(name);
    size_t count;
    const char *rows = table_rows(report->metrics->phases, table, &count);
    csv_header(output, table->fields, table->field_count);
    for (size_t i = 0; i < count; i++)
        csv_row(output, table->fields, table->field_count, report, rows + i * table->row_size);
}

/* Metrics files */

static void xml_spent(struct output *output, const struct part_sums *sums)
{
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        if (sums->waits_ns[kind] == 0)
            continue;
        output_print(output, "<spent kind=\"%s\" time_s=\"", wait_kind_name((enum wait_kind)kind));
        value_write_xml(output, value_time(sums->waits_ns[kind]));
        output_text(output, "\"/>\n");
    }
}

static void xml_iterations(struct output *output, const struct phases_report *report)
{
    const struct iteration_metrics *iterations = &report->metrics->phases->iterations;
    if (iterations->loop == PHASE_NONE)
        return;
    xml_row(output, "iterations", all_fields, COUNT_OF(all_fields), report, iterations, ">\n");
    for (size_t i = 0; i < iterations->row_count; i++) {
        xml_row(output, "iteration", row_fields, COUNT_OF(row_fields), report, &iterations->rows[i], ">\n");
        xml_spent(output, &iterations->rows[i].sums);
        output_text(output, "</iteration>\n");
    }
    for (size_t i = 0; i < iterations->slowest_count; i++)
        xml_row(output, "slow", slow_fields, COUNT_OF(slow_fields), report, &iterations->slowest[i], "/>\n");
    for (size_t group = 0; group < iterations->group_count; group++) {
        output_print(output, "<computing group=\"%zu\" values=\"", group);
        for (size_t i = 0; i < iterations->row_count; i++)
            output_print(output, "%s%" PRId64, i > 0 ? " " : "",
                         iterations->computing_ns[group * iterations->row_count + i]);
        output_text(output, "\"/>\n");
    }
    output_text(output, "</iterations>\n");
}

void phases_write_xml(struct output *output, const struct metrics *metrics)
{
    const struct phases_report report = {.metrics = metrics, .bottleneck = LOOP_BOTTLENECK_SHARE};
    const struct phase_metrics *phases = metrics->phases;
    /* Phases of other processes than these cannot be matched to their rows. */
    if (!phases || phases->process_count != metrics->process_count)
        return;
    output_print(output, "<phases source=\"%s\" roles=\"%" PRIu32 "\" by_world=\"%s\">\n",
                 phase_source_name(phases->source), phases->role_count, phases->by_world ? "true" : "false");
    for (size_t i = 0; i < phases->loop_count; i++)
        xml_row(output, "loop", loop_file_fields, COUNT_OF(loop_file_fields), &report, &phases->loops[i], "/>\n");
    for (size_t i = 0; i < phases->phase_count; i++) {
        xml_row(output, "phase", phase_fields, COUNT_OF(phase_fields), &report, &phases->phases[i], ">\n");
        xml_spent(output, &phases->phases[i].sums);
        output_text(output, "</phase>\n");
    }
    for (size_t i = 0; i < phases->group_count * phases->phase_count; i++)
        xml_row(output, "share", cell_file_fields, COUNT_OF(cell_file_fields), &report, &phases->cells[i], "/>\n");
    xml_iterations(output, &report);
    output_text(output, "</phases>\n");
}
