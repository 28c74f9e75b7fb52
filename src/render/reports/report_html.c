/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/clock_sentence.h"
#include "render/reports/report.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "core/text.h"
#include "heuristics/iterations.h"
#include "metrics/functions_together.h"
#include "render/facts.h"
#include "render/reports/diagnosis.h"
#include "render/reports/heuristics_report.h"
#include "render/reports/metrics_report.h"
#include "render/reports/page.h"
#include "render/reports/phases_report.h"
#include "render/reports/scaling_report.h"
#include "render/reports/sites_report.h"

#include <stdio.h>
#include <stdlib.h>

/* Rows of a table at most: keeps the page small for any number of processes. */
enum { TABLE_ROWS = 400, FUNCTION_ROWS = 100 };

static void write_figures(struct output *output, const struct report *report)
{
    struct figure figures[REPORT_FIGURES];
    report_figures(report, figures);
    output_text(output, "<ul class=\"figures\">\n");
    for (size_t i = 0; i < REPORT_FIGURES; i++) {
        page_element(output, "<li title=\"", figures[i].meaning, "\">");
        page_element(output, "<span>", figures[i].name, "</span>");
        page_element(output, "<b>", figures[i].value, "</b></li>\n");
    }
    output_text(output, "</ul>\n");
}

static void write_verdict(struct output *output, const struct report *report)
{
    char facts[FACTS_SIZE], damage[REPORT_LINE_SIZE], sentence[DIAGNOSIS_SENTENCE_SIZE];
    report_damage(report, damage);
    page_element(output, "<header>\n<h1>", report->title, "</h1>\n");
    page_element(output, "<p class=\"muted\">", facts_text(facts, report->input.metrics), "</p>\n");
    if (*damage)
        page_element(output, "<p class=\"damage\" role=\"alert\">The trace is damaged: ", damage, "</p>\n");
    if (report->input.metrics->process_count == 0) {
        output_text(output, "<p class=\"verdict\">There are no events in this trace.</p>\n</header>\n");
        return;
    }
    diagnosis_sentence(sentence, report->input.metrics, report->input.results);
    page_element(output, "<p class=\"verdict\">", sentence, "</p>\n</header>\n");
    write_figures(output, report);
}

static void write_numbers(struct output *output, const struct heuristic_result *result)
{
    char numbers[HEURISTIC_NUMBERS_SIZE];
    heuristic_numbers(result, numbers);
    if (*numbers)
        page_element(output, "<p class=\"numbers\">", numbers, "</p>\n");
}

static void write_details(struct output *output, const struct heuristic *heuristic,
                          const struct heuristic_result *result)
{
    output_text(output, "<details><summary>formula, source, values</summary>\n");
    page_element(output, "<p>formula: ", heuristic->formula, "<br>");
    page_element(output, "source: ", heuristic->source, "</p>\n<p class=\"numbers\">");
    output_print(output, "index %.9f<br>mean %.9f", result->index, result->mean);
    for (size_t i = 0; i < result->detail_count; i++)
        output_print(output, "<br>%s %.9g", result->details[i].name, result->details[i].value);
    output_text(output, "</p></details>\n");
}

static void write_heuristic(struct output *output, const struct heuristic *heuristic,
                            const struct heuristic_result *result)
{
    const char *verdict = verdict_name(result->verdict);
    page_element(output, "<article>\n<header><h3>", heuristic->title, "</h3>");
    output_print(output, "<span class=\"badge %s\">%s</span></header>\n", verdict, verdict);
    page_element(output, "<p class=\"muted\">", heuristic->question, "</p>\n");
    write_numbers(output, result);
    page_element(output, "<p>", result->analysis, "</p>\n");
    if (result->suggestion_count > 0)
        output_text(output, "<ul class=\"advice\">\n");
    for (size_t i = 0; i < result->suggestion_count; i++)
        page_element(output, "<li>", result->suggestions[i], "</li>\n");
    if (result->suggestion_count > 0)
        output_text(output, "</ul>\n");
    write_details(output, heuristic, result);
    output_text(output, "</article>\n");
}

static void write_finding(struct output *output, const struct report *report, size_t index)
{
    const struct finding *finding = &report->findings->finding[index];
    char saving[REPORT_LINE_SIZE], number[TEXT_NUMBER_SIZE];
    report_saving(finding, saving);
    page_element(output, "<article>\n<header><h3>", finding->title, "</h3>");
    page_element(output, "<span class=\"badge poor\">", saving, "</span></header>\n");
    page_element(output, "<p>", finding->text, "</p>\n");
    page_element(output, "<ul class=\"advice\"><li>", finding->advice, "</li></ul>\n");
    if (finding->root)
        page_element(output, "<p class=\"muted\">Caused by ", finding->root, ": fix that first.</p>\n");
    if (report->timeline)
        report->timeline->write_finding(output, report->timeline->context, index);
    output_text(output, "<details><summary>numbers</summary>\n<p class=\"numbers\">");
    page_element(output, "id ", finding->id, "<br>");
    page_element(output, "waiting, summed over all processes: ", seconds_text(number, finding->waiting_s), "");
    for (size_t i = 0; i < finding->evidence_count; i++)
        output_print(output, "<br>%s %.9g", finding->evidence[i].name, finding->evidence[i].value);
    output_text(output, "</p></details>\n</article>\n");
}

static void write_findings(struct output *output, const struct report *report)
{
    char none[REPORT_LINE_SIZE], clocks[CLOCK_SENTENCE_SIZE];
    report_no_findings(report, none);
    if (report->findings->count == 0 && !*none)
        return;
    output_text(output, "<section>\n<h2>Findings</h2>\n");
    if (*clock_sentence(clocks, report->input.metrics, report->findings))
        page_element(output, "<p class=\"muted\">", clocks, "</p>\n");
    if (*report->findings->caveat)
        page_element(output, "<p>", report->findings->caveat, "</p>\n");
    if (*none)
        page_element(output, "<p>", none, "</p>\n");
    else
        output_text(output, "<p class=\"muted\">Ordered by what fixing each one would save, according to a replay of "
                            "the run. The savings do not add up.</p>\n");
    for (size_t i = 0; i < report->findings->count; i++)
        write_finding(output, report, i);
    output_text(output, "</section>\n");
}

static void write_chart(struct output *output, const struct report *report, const struct chart *chart)
{
    char answer[CHART_ANSWER_SIZE], description[CHART_DESCRIPTION_SIZE];
    chart_answer(chart, &report->input, answer);
    chart_describe(chart, &report->input, description);
    struct canvas_options options = {
        .theme = THEME_PAGE, .prefix = chart->name, .title = answer, .description = description};
    output_print(output, "<figure id=\"chart-%s\">\n", chart->name);
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, CHART_WIDTH, CHART_HEIGHT, &options);
    if (canvas) {
        chart_draw(chart, canvas, &report->input);
        canvas_free(canvas);
    }
    output_text(output, "</figure>\n");
}

static void write_functions(struct output *output, const struct metrics *metrics)
{
    size_t field_count, count;
    const struct field *fields = metrics_function_fields(&field_count);
    struct function_row *rows = metrics_functions_together(metrics, &count);
    if (count > 0) {
        output_text(output, "<h2>Functions and states of all processes</h2>\n");
        page_table_begin(output, fields, field_count, metrics, rows);
        for (size_t i = 0; i < count && i < FUNCTION_ROWS; i++)
            page_table_row(output, fields, field_count, metrics, &rows[i]);
        page_table_end(output);
    }
    if (count > FUNCTION_ROWS)
        output_print(output, "<p class=\"muted\">The %d with the most time, of %zu.</p>\n", FUNCTION_ROWS, count);
    free(rows);
}

static void write_processes(struct output *output, const struct report *report)
{
    const struct metrics *metrics = report->input.metrics;
    size_t field_count, count;
    const struct field *fields = metrics_process_fields(&field_count);
    size_t *rows = report_processes(report, TABLE_ROWS, &count);
    char all[TEXT_NUMBER_SIZE];
    if (count > 0) {
        output_text(output, "<h2>Processes</h2>\n");
        page_table_begin(output, fields, field_count, metrics, metrics->process);
        for (size_t i = 0; i < count; i++)
            page_table_row(output, fields, field_count, metrics, &metrics->process[rows[i]]);
        page_table_end(output);
    }
    if (count < metrics->process_count)
        output_print(
            output,
            "<p class=\"muted\">Of %s processes, the %zu that compute least and the %zu that compute most; all "
            "of them: <code>sight metrics --all</code>.</p>\n",
            text_thousands(all, metrics->process_count), count / 2, count - count / 2);
    free(rows);
}

/* The summary of the iterations, and the slow ones. */
static void write_iterations(struct output *output, const struct metrics *metrics)
{
    const struct phase_metrics *phases = metrics->phases;
    const struct phases_report context = {.metrics = metrics, .bottleneck = LOOP_BOTTLENECK_SHARE};
    char text[ITERATIONS_TEXT_SIZE];
    size_t count;
    const struct field *fields = phases_slow_fields(&count);
    if (!phases || phases->iterations.loop == PHASE_NONE)
        return;
    const struct iteration_metrics *iterations = &phases->iterations;
    iterations_text(text, metrics);
    output_text(output, "<h2>Iterations</h2>\n");
    page_element(output, "<p>", text, "</p>\n");
    if (iterations->slow == 0)
        return;
    page_table_begin(output, fields, count, &context, iterations->slowest);
    for (size_t i = 0; i < iterations->slowest_count && i < iterations->slow; i++)
        page_table_row(output, fields, count, &context, &iterations->slowest[i]);
    page_table_end(output);
}

/* Charts of several runs stand in a section of their own. */
static bool is_of_scaling(const struct report *report, const struct chart *chart)
{
    return report->input.scaling && (chart->needs == NEEDS_SCALING || chart->needs == NEEDS_FACTORS);
}

static void write_scaling(struct output *output, const struct report *report)
{
    if (!report->input.scaling)
        return;
    output_text(output, "<section>\n<h2>Scaling</h2>\n");
    scaling_write_html(output, report->input.scaling);
    for (size_t i = 0; i < chart_count(); i++)
        if (is_of_scaling(report, chart_at(i)))
            write_chart(output, report, chart_at(i));
    output_text(output, "</section>\n");
}

void report_write_html(struct output *output, const struct report *report)
{
    char title[512];
    snprintf(title, sizeof title, "%.*s — SIGHT report", text_beginning(report->title, 400), report->title);
    const struct page_extras *extras = report->timeline ? &report->timeline->extras : NULL;
    page_begin(output, title, extras);
    write_verdict(output, report);
    if (report->input.metrics->process_count > 0) {
        output_text(output, "<main>\n");
        write_scaling(output, report);
        if (report->timeline)
            report->timeline->write(output, report->timeline->context);
        write_findings(output, report);
        output_text(output, "<section>\n<h2>Results of the heuristics</h2>\n");
        for (size_t i = 0; i < heuristic_count(); i++)
            write_heuristic(output, heuristic_at(i), &report->input.results[i]);
        output_text(output, "</section>\n<section>\n<h2>Charts</h2>\n");
        for (size_t i = 0; i < chart_count(); i++)
            if (report_has_chart(report, i) && !is_of_scaling(report, chart_at(i)))
                write_chart(output, report, chart_at(i));
        output_text(output, "</section>\n<section>\n");
        write_iterations(output, report->input.metrics);
        write_functions(output, report->input.metrics);
        sites_write_html(output, report->input.metrics, FUNCTION_ROWS);
        write_processes(output, report);
        output_text(output, "</section>\n</main>\n");
    }
    output_text(
        output,
        "<footer class=\"muted\">Made by SIGHT " PACKAGE_VERSION
        ". Times are on the trace's own clock; a process computes when it is outside all MPI functions.</footer>\n");
    page_end(output, extras);
}
