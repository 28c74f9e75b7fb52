/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/compare_report.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "core/memory.h"
#include "core/text.h"
#include "render/reports/page.h"
#include "render/reports/significance_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTION_ROWS = 100, PROCESS_ROWS = 300 };

static void raw_number(char raw[32], double value)
{
    snprintf(raw, 32, "%.9g", value);
}

/* The change of a number against the first version, coloured by whether it is better. */
static void write_change(struct output *output, struct averaged first, struct averaged now, enum change change)
{
    static const char *const classes[] = {"unknown", "good", "poor", "muted"};
    char cell[COMPARE_CELL_SIZE], raw[32];
    compare_change(first, now, change, cell);
    double ratio = 0;
    if (first.mean != 0)
        ratio = (now.mean - first.mean) / fabs(first.mean);
    raw_number(raw, ratio);
    /* What the page sorts by: cells show words, such as "2.1 times". */
    output_print(output, "<td class=\"%s\" data-v=\"%s\">", classes[change], raw);
    page_element(output, "", cell, "</td>");
}

static void write_value(struct output *output, struct averaged value, enum quantity_unit unit, size_t runs)
{
    char cell[COMPARE_CELL_SIZE], raw[32];
    /* The same words as in a terminal, so that the two can be compared. */
    compare_value(value, unit, runs, cell);
    raw_number(raw, value.mean);
    page_td(output, cell, raw, false);
}

static void write_seconds(struct output *output, struct averaged seconds, bool there, size_t runs)
{
    char cell[COMPARE_CELL_SIZE], raw[32];
    compare_seconds(seconds, there, runs, cell);
    raw_number(raw, seconds.mean);
    page_td(output, cell, raw, false);
}

static void table_begin(struct output *output, const char *heading, const char *first)
{
    page_element(output, "<h2>", heading, "</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
    page_th(output, first, true);
}

static void write_titles(struct output *output, const struct comparison *comparison, const char *before)
{
    char title[COMPARE_CELL_SIZE];
    for (size_t v = 0; v < comparison->version_count; v++) {
        snprintf(title, sizeof title, "%s%.*s", before, text_beginning(comparison->versions[v].name, 60),
                 comparison->versions[v].name);
        page_th(output, title, false);
    }
}

static void write_change_titles(struct output *output, const struct comparison *comparison)
{
    char title[COMPARE_CELL_SIZE];
    /* The first version has no change: the others are compared with it. */
    for (size_t v = 1; v < comparison->version_count; v++) {
        snprintf(title, sizeof title, comparison->version_count > 2 ? "change of %.*s" : "change",
                 text_beginning(comparison->versions[v].name, 60), comparison->versions[v].name);
        page_th(output, title, false);
    }
    output_text(output, "</tr></thead>\n<tbody>\n");
}

static void write_quantities(struct output *output, const struct comparison *comparison)
{
    table_begin(output, "The whole run", "quantity");
    write_titles(output, comparison, "");
    write_change_titles(output, comparison);
    /* The rows are the table of quantities: a new one appears here by itself. */
    for (size_t i = 0; i < quantity_count(); i++) {
        const struct quantity *quantity = quantity_at(i);
        output_text(output, "<tr>");
        page_td(output, quantity->title, NULL, true);
        for (size_t v = 0; v < comparison->version_count; v++)
            write_value(output, comparison_quantity(comparison, v, i), quantity->unit,
                        comparison->versions[v].run_count);
        for (size_t v = 1; v < comparison->version_count; v++)
            write_change(output, comparison_quantity(comparison, 0, i), comparison_quantity(comparison, v, i),
                         comparison_change(comparison, v, i));
        output_text(output, "</tr>\n");
    }
    page_table_end(output);
}

static void write_functions(struct output *output, const struct comparison *comparison)
{
    table_begin(output, "Functions and states: exclusive time of all processes, largest change first", "function");
    write_titles(output, comparison, "");
    write_change_titles(output, comparison);
    /* A page of thousands of functions would not be read; text and JSON have them all. */
    for (size_t i = 0; i < comparison->function_count && i < FUNCTION_ROWS; i++) {
        const struct compared_function *function = &comparison->functions[i];
        output_text(output, "<tr>");
        page_td(output, function->name, NULL, true);
        for (size_t v = 0; v < comparison->version_count; v++)
            write_seconds(output, function->seconds[v], function->calls[v].mean > 0, comparison->versions[v].run_count);
        for (size_t v = 1; v < comparison->version_count; v++)
            write_change(output, function->seconds[0], function->seconds[v], function->changes[v]);
        output_text(output, "</tr>\n");
    }
    page_table_end(output);
}

static void write_processes(struct output *output, const struct comparison *comparison)
{
    size_t count, *places = compare_processes_most(comparison, PROCESS_ROWS, &count);
    char rank[TEXT_NUMBER_SIZE], raw[32];
    const char *title = "Processes";
    if (count < comparison->process_count)
        title = "Processes that changed most";
    table_begin(output, title, "process");
    write_titles(output, comparison, "computing: ");
    write_titles(output, comparison, "in MPI: ");
    output_text(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < count; i++) {
        const struct compared_process *process = &comparison->processes[places[i]];
        output_text(output, "<tr>");
        raw_number(raw, process->rank);
        page_td(output, text_thousands(rank, process->rank), raw, true);
        for (size_t v = 0; v < comparison->version_count; v++)
            /* Means of all runs without their range: two columns for each version are wide enough. */
            write_seconds(output, process->compute[v], process->total[v].mean > 0, 1);
        for (size_t v = 0; v < comparison->version_count; v++)
            write_seconds(output, process->communication[v], process->total[v].mean > 0, 1);
        output_text(output, "</tr>\n");
    }
    page_table_end(output);
    free(places);
}

static void write_findings(struct output *output, const struct compare_report *report)
{
    const struct comparison *comparison = report->comparison;
    table_begin(output, "Findings: what each could save, largest change first", "finding");
    write_titles(output, comparison, "");
    write_change_titles(output, comparison);
    for (size_t i = 0; i < report->changes->count; i++) {
        const struct finding_change *change = &report->changes->change[i];
        output_text(output, "<tr>");
        page_td(output, change->finding->title, NULL, true);
        for (size_t v = 0; v < comparison->version_count; v++)
            write_seconds(output, change->saving_s[v], change->runs[v] > 0, comparison->versions[v].run_count);
        for (size_t v = 1; v < comparison->version_count; v++)
            write_change(output, change->saving_s[0], change->saving_s[v], change->changes[v]);
        output_text(output, "</tr>\n");
    }
    page_table_end(output);
}

void compare_write_html(struct output *output, const struct compare_report *report)
{
    const struct comparison *comparison = report->comparison;
    const struct significance *significance = report->significance;
    char sentence[COMPARE_SENTENCE_SIZE];
    page_begin(output, "SIGHT comparison", NULL);
    output_text(output, "<header>\n<h1>");
    for (size_t v = 0; v < comparison->version_count; v++)
        page_element(output, v ? " and " : "", comparison->versions[v].name, "");
    output_text(output, "</h1>\n");
    for (size_t v = 1; v < comparison->version_count; v++) {
        compare_sentence(comparison, v, sentence);
        page_element(output, "<p class=\"verdict\">", sentence, "</p>\n");
    }
    for (size_t v = 0; v < comparison->version_count; v++) {
        compare_hang_sentence(&comparison->versions[v], sentence);
        if (*sentence)
            page_element(output, "<p>", sentence, "</p>\n");
    }
    if (comparison->sizes_differ)
        output_text(output, "<p class=\"muted\">The numbers of processes differ: a process does not do the same work "
                            "in each version.</p>\n");
    output_text(output, "</header>\n<main>\n");
    for (size_t v = 1; significance && v < comparison->version_count; v++)
        significance_write_html(output, &significance[v - 1], comparison->versions[0].name,
                                comparison->versions[v].name);
    if (report->changes->count > 0)
        write_findings(output, report);
    write_quantities(output, comparison);
    if (comparison->function_count > 0)
        write_functions(output, comparison);
    if (comparison->process_count > 0)
        write_processes(output, comparison);
    const char *noise = "the ranges of the runs overlap, or they differ by less than 2 %";
    if (significance)
        noise = "a test does not show one";
    output_print(output,
                 "</main>\n<footer class=\"muted\">Made by SIGHT " PACKAGE_VERSION
                 ". = means no change beyond the noise: %s.</footer>\n",
                 noise);
    page_end(output, NULL);
}
