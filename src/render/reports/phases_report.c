/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/phases_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/iterations.h"
#include "render/facts.h"
#include "render/reports/stuck_report.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 20, SLOWEST_MOST = 5, NAME_MOST = 36 };

static void cell_share(struct text_table *table, int64_t part, int64_t whole)
{
    char share[TEXT_NUMBER_SIZE];
    if (whole <= 0)
        text_table_cell(table, "-", false);
    else
        text_table_cell(table, text_share(share, (double)part / (double)whole), false);
}

static void cell_count(struct text_table *table, uint64_t count)
{
    char text[TEXT_NUMBER_SIZE];
    text_table_cell(table, text_thousands(text, count), false);
}

static void cell_time(struct text_table *table, int64_t ns)
{
    char text[TEXT_NUMBER_SIZE];
    text_table_cell(table, text_duration(text, ns), false);
}

static void cell_name(struct text_table *table, const char *name)
{
    char shown[VALUE_TEXT_SIZE];
    text_for_terminal(shown, sizeof shown, name, NAME_MOST);
    text_table_cell(table, shown, true);
}

static void titles(struct text_table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_table_cell(table, names[i], i == 0);
}

static void write_phases(struct output *output, const struct phases_report *report)
{
    const struct phase_metrics *phases = report->metrics->phases;
    static const char *const names[] = {"phase", "begin", "time", "of run", "computing", "MPI", "waiting", "messages"};
    enum { COLUMNS = sizeof names / sizeof *names };
    struct text_table *table = text_table_columns(COLUMNS);
    int64_t all_ns = 0;
    for (size_t i = 0; i < phases->phase_count; i++)
        /* Shares are of the phases' own time: processes may be in none before the first or after the last. */
        time_add(&all_ns, phases->phases[i].sums.time_ns);
    titles(table, names, COLUMNS);
    for (size_t i = 0; i < phases->phase_count && (report->all || i < ROWS_MOST); i++) {
        const struct phase_row *row = &phases->phases[i];
        cell_name(table, row->name);
        cell_time(table, row->begin_ns);
        cell_time(table, time_since(row->begin_ns, row->end_ns));
        cell_share(table, row->sums.time_ns, all_ns);
        cell_share(table, row->sums.compute_ns, row->sums.time_ns);
        cell_share(table, row->sums.mpi_ns, row->sums.time_ns);
        cell_share(table, part_waiting_ns(&row->sums), row->sums.time_ns);
        cell_count(table, row->sums.messages);
    }
    text_table_print(table, output, "  ");
    if (!report->all)
        text_rest_write(output, smaller(phases->phase_count, ROWS_MOST), phases->phase_count);
}

static bool has_inner(const struct phase_metrics *phases, uint32_t row)
{
    /* An inner loop comes after the one around it. */
    for (size_t i = row + (size_t)1; i < phases->loop_count; i++)
        if (phases->loops[i].parent == row)
            return true;
    return false;
}

/* True if some loop is not on all processes, so that the number of processes must be shown. */
static bool processes_differ(const struct phase_metrics *phases)
{
    /* The first row is the run, which all processes are in. */
    for (size_t i = 1; i < phases->loop_count; i++)
        if (phases->loops[i].processes != phases->process_count)
            return true;
    return false;
}

static void write_loop(struct text_table *table, const struct phases_report *report, const struct loop_row *row,
                       bool more)
{
    const struct phase_metrics *phases = report->metrics->phases;
    char name[VALUE_TEXT_SIZE], count[2 * TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    /* Deep nests keep a part of the name on the screen. */
    int indent = 40;
    if (row->depth < 20)
        indent = 2 * (int)(row->depth - 1);
    snprintf(name, sizeof name, "%*s%s %.*s", indent, "", more ? "[+]" : "   ", text_beginning(row->name, 150),
             row->name);
    text_thousands(least, row->least);
    if (row->least == row->most)
        snprintf(count, sizeof count, "%s", least);
    else
        snprintf(count, sizeof count, "%s–%s", least, text_thousands(most, row->most));
    cell_name(table, name);
    text_table_cell(table, count, false);
    cell_count(table, row->entries);
    if (processes_differ(phases))
        cell_count(table, row->processes);
    /* The mean of its processes: loops on few of them are compared with those on all. */
    int64_t mean_ns = 0;
    if (row->processes > 0)
        mean_ns = row->time_ns / row->processes;
    cell_time(table, mean_ns);
    text_table_cell(table, text_share(least, phases_loop_share(phases, row)), false);
    snprintf(name, sizeof name, "%s%s", phases_is_bottleneck(report, row) ? "bottleneck, " : "",
             phases_loop_class(row));
    text_table_cell(table, name, true);
}

/* Loops stand after the one around it, but not next to it: inner ones are looked for. */
static size_t write_inner(struct text_table *table, const struct phases_report *report, uint32_t around, size_t shown)
{
    const struct phase_metrics *phases = report->metrics->phases;
    for (uint32_t i = around + 1; i < phases->loop_count; i++) {
        const struct loop_row *row = &phases->loops[i];
        if (row->parent != around || (!report->all && shown >= ROWS_MOST))
            continue;
        /* Only bottlenecks are opened further: the others explain little of the time. */
        bool more = phases_is_bottleneck(report, row) && has_inner(phases, i);
        write_loop(table, report, row, more);
        shown++;
        if (more || report->all)
            shown = write_inner(table, report, i, shown);
    }
    return shown;
}

void phases_write_tree(struct output *output, const struct phases_report *report)
{
    const struct phase_metrics *phases = report->metrics->phases;
    static const char *const names[] = {"    loop", "turns", "entries", "processes", "time", "share", "class"};
    enum { COLUMNS = sizeof names / sizeof *names, PROCESSES = 3 };
    bool differ = processes_differ(phases);
    /* The number of processes is a column only where it differs from loop to loop. */
    size_t columns = COLUMNS;
    if (!differ)
        columns--;
    struct text_table *table = text_table_columns(columns);
    size_t shown = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (i != PROCESSES || differ)
            text_table_cell(table, names[i], i == 0 || i == COLUMNS - 1);
    for (uint32_t i = 0; i < phases->loop_count; i++)
        if (phases->loops[i].depth == 0)
            shown = write_inner(table, report, i, shown);
    text_table_print(table, output, "");
}

static void write_slowest(struct output *output, const struct phases_report *report)
{
    const struct iteration_metrics *iterations = &report->metrics->phases->iterations;
    size_t count, shown = iterations->slowest_count;
    const struct field *fields = phases_slow_fields(&count);
    if (!report->all && shown > SLOWEST_MOST)
        shown = SLOWEST_MOST;
    struct text_table *table = text_table_new(fields, count);
    for (size_t i = 0; i < shown; i++)
        text_table_row(table, report, &iterations->slowest[i]);
    output_text(output, "\nslowest iterations\n\n");
    text_table_print(table, output, "  ");
}

void phases_write_text(struct output *output, const struct phases_report *report)
{
    const struct phase_metrics *phases = report->metrics->phases;
    char facts[FACTS_SIZE], text[ITERATIONS_TEXT_SIZE];
    headline_write(output, report->title, facts_text(facts, report->metrics));
    stuck_write_note(output, report->metrics->stuck);
    output_text(output, "\n");
    iterations_text(text, report->metrics);
    paragraph_write(output, "  ", "  ", text);
    static const char *const sources[] = {[PHASES_FROM_NONE] = "phases: none found",
                                          [PHASES_FROM_USER] = "phases, from the program's own states and events",
                                          [PHASES_FROM_LOOPS] = "phases, from loops",
                                          [PHASES_FROM_SYNCHRONISATIONS] =
                                              "phases, between collectives of the whole run"};
    output_print(output, "\n%s\n\n", sources[phases->source]);
    write_phases(output, report);
    /* The first is the run: with nothing else there is no loop. */
    if (phases->loop_count > 1) {
        output_text(output, "\nloops, in order; share: of the enclosing loop\n\n");
        phases_write_tree(output, report);
    }
    if (phases->iterations.loop != PHASE_NONE)
        write_slowest(output, report);
}
