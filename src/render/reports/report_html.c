/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/clock_sentence.h"
#include "render/reports/report.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "core/memory.h"
#include "core/text.h"
#include "heuristics/hot_code.h"
#include "metrics/functions_together.h"
#include "render/facts.h"
#include "render/reports/diagnosis.h"
#include "render/reports/finding_charts.h"
#include "render/reports/heuristics_report.h"
#include "render/reports/metrics_report.h"
#include "render/reports/page.h"
#include "render/reports/run_report.h"
#include "render/reports/scaling_report.h"
#include "render/reports/sites_report.h"
#include "render/reports/source_report.h"
#include "render/reports/stuck_report.h"
#include "render/resource_sentences.h"

#include <stdio.h>
#include <stdlib.h>

/* Rows of a table at most: keeps the page small for any number of processes. */
enum { TABLE_ROWS = 64, FUNCTION_ROWS = 100 };

static void write_figures(struct output *output, const struct report *report)
{
    struct figure figures[REPORT_FIGURES];
    report_figures(report, figures);
    output_text(output, "<ul class=\"figures\">\n");
    for (size_t i = 0; i < REPORT_FIGURES; i++) {
        /* What a figure means shows when the mouse rests on it. */
        page_element(output, "<li title=\"", figures[i].meaning, "\">");
        page_element(output, "<span>", figures[i].name, "</span>");
        page_element(output, "<b>", figures[i].value, "</b></li>\n");
    }
    output_text(output, "</ul>\n");
}

/* A run that hung has no verdict on its speed that would matter more. */
static void write_stuck(struct output *output, const struct stuck *stuck)
{
    char line[STUCK_LINE_SIZE];
    if (!stuck_is_reported(stuck))
        return;
    page_element(output, "<div class=\"damage\" role=\"alert\"><p>", stuck->text, " ");
    page_element(output, "", stuck_since_text(line, stuck), "</p>\n");
    output_text(output, "<details><summary>where the processes are</summary>\n<ul>\n");
    for (size_t i = 0; i < stuck->call_count && i < TABLE_ROWS; i++)
        page_element(output, "<li>", stuck_call_text(line, stuck, &stuck->calls[i]), "</li>\n");
    if (stuck->call_count > TABLE_ROWS)
        output_print(output, "<li>and %zu more</li>\n", stuck->call_count - TABLE_ROWS);
    output_text(output, "</ul></details>\n<p>");
    page_element(output, "", stuck_judges(stuck), "; the timeline shows all of it.</p></div>\n");
}

static void write_verdict(struct output *output, const struct report *report)
{
    char facts[FACTS_SIZE], damage[REPORT_LINE_SIZE], sentence[DIAGNOSIS_SENTENCE_SIZE], hot[HOT_CODE_SIZE];
    report_damage(report, damage);
    page_element(output, "<header>\n<h1>", report->title, "</h1>\n");
    page_element(output, "<p class=\"muted\">", facts_text(facts, report->input.metrics), "</p>\n");
    if (*damage)
        page_element(output, "<p class=\"damage\" role=\"alert\">The trace is damaged: ", damage, "</p>\n");
    /* Without events there is nothing to judge; the page says so and ends. */
    if (report->input.metrics->process_count == 0) {
        output_text(output, "<p class=\"verdict\">There are no events in this trace.</p>\n</header>\n");
        return;
    }
    const char *faults[REPORT_FAULTS];
    size_t fault_count = report_faults(report, faults);
    write_stuck(output, report->stuck);
    for (size_t i = 0; i < fault_count; i++)
        page_element(output, "<p class=\"damage\">", faults[i], "</p>\n");
    diagnosis_sentence(sentence, report->input.metrics, report->input.results);
    page_element(output, "<p class=\"verdict\">", sentence, "</p>\n");
    if (*hot_code_sentence(hot, report->input.metrics))
        page_element(output, "<p>", hot, "</p>\n");
    output_text(output, "</header>\n");
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
        /* As in JSON: whoever opens the details wants to check the numbers. */
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
    /* An empty list would be announced by screen readers. */
    if (result->suggestion_count > 0)
        output_text(output, "<ul class=\"advice\">\n");
    for (size_t i = 0; i < result->suggestion_count; i++)
        page_element(output, "<li>", result->suggestions[i], "</li>\n");
    if (result->suggestion_count > 0)
        output_text(output, "</ul>\n");
    write_details(output, heuristic, result);
    output_text(output, "</article>\n");
}

static void write_link(struct output *output, const char *prefix, const char *name, const char *title)
{
    output_print(output, "<a href=\"#%s%s\">", prefix, name);
    page_element(output, "", title, "</a>");
}

/* Where a finding can be seen. The page's script marks it in the timeline, too, if there is one. */
static void write_finding_links(struct output *output, const struct report *report, size_t index)
{
    const struct chart *charts[FINDING_CHARTS];
    size_t count = finding_charts(&report->findings->finding[index], &report->input, charts);
    if (count == 0 && !report->timeline)
        return;
    output_text(output, "<p class=\"see\">See ");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            output_text(output, ", ");
        write_link(output, "chart-", charts[i]->name, charts[i]->title);
    }
    if (report->timeline && count > 0)
        output_text(output, ", ");
    if (report->timeline)
        output_print(output, "<a href=\"#timeline\" data-finding=\"%zu\">Timeline</a>", index);
    output_text(output, "</p>\n");
}

static void write_finding(struct output *output, const struct report *report, size_t index)
{
    const struct finding *finding = &report->findings->finding[index];
    char saving[REPORT_LINE_SIZE], line[REPORT_LINE_SIZE], number[TEXT_NUMBER_SIZE];
    report_saving(finding, saving);
    output_print(output, "<article id=\"finding-%zu\">\n<header>", index + 1);
    report_finding_title(report->findings, index, line);
    page_element(output, "<h3>", line, "</h3>");
    page_element(output, "<span class=\"badge poor\">", saving, "</span></header>\n");
    page_element(output, "<p>", finding->text, "</p>\n");
    page_element(output, "<ul class=\"advice\"><li>", finding->advice, "</li></ul>\n");
    report_finding_root(report->findings, index, line);
    if (*line)
        page_element(output, "<p class=\"muted\">", line, "</p>\n");
    write_finding_links(output, report, index);
    /* The timeline is made by the viewer's code, which this room does not know: the caller brings it along. */
    if (report->timeline)
        report->timeline->write_finding(output, report->timeline->context, index);
    output_text(output, "<details><summary>numbers</summary>\n<p class=\"numbers\">");
    page_element(output, "id ", finding->id, "<br>");
    page_element(output, "time lost, summed over all processes: ", seconds_text(number, finding->waiting_s), "");
    for (size_t i = 0; i < finding->evidence_count; i++)
        output_print(output, "<br>%s %.9g", finding->evidence[i].name, finding->evidence[i].value);
    output_text(output, "</p></details>\n</article>\n");
}

/* Findings, or the sentence that there are none: a run that was not searched has neither. */
static bool has_findings(const struct report *report)
{
    char none[REPORT_LINE_SIZE];
    report_no_findings(report, none);
    return report->findings->count > 0 || *none;
}

static void write_findings(struct output *output, const struct report *report)
{
    char none[REPORT_LINE_SIZE], clocks[CLOCK_SENTENCE_SIZE];
    report_no_findings(report, none);
    if (!has_findings(report))
        return;
    output_text(output, "<section id=\"findings\">\n<h2>Findings</h2>\n");
    /* What limits the findings comes before them. */
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
    /* Each chart can be linked to by its name. */
    output_print(output, "<figure id=\"chart-%s\">\n", chart->name);
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, CHART_WIDTH, CHART_HEIGHT, &options);
    if (canvas) {
        chart_draw(chart, canvas, &report->input);
        canvas_free(canvas);
    }
    output_text(output, "</figure>\n");
}

/* Tables have what the charts cannot: exact numbers, to be sorted and copied. */
static void write_functions(struct output *output, const struct metrics *metrics)
{
    size_t field_count, count;
    const struct field *fields = metrics_function_fields(&field_count);
    struct function_row *rows = metrics_functions_together(metrics, &count);
    /* The rows with most time; text and CSV have all of them. */
    page_table_most(output, "Functions and states of all processes", fields, field_count, metrics, rows, sizeof *rows,
                    count, FUNCTION_ROWS);
    free(rows);
}

static void write_processes(struct output *output, const struct report *report)
{
    const struct metrics *metrics = report->input.metrics;
    size_t field_count, count;
    const struct field *fields = metrics_process_fields(&field_count);
    size_t *rows = report_processes(report, TABLE_ROWS, &count);
    char all[TEXT_NUMBER_SIZE];
    /* The table takes its kinds of columns from the first process. */
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

static void write_iterations(struct output *output, const struct metrics *metrics)
{
    struct report_iterations iterations;
    if (!report_iterations(metrics, &iterations))
        return;
    output_text(output, "<h2>Iterations</h2>\n");
    page_element(output, "<p>", iterations.text, "</p>\n");
    /* The sentence is there even if no iteration was slow. */
    if (iterations.count == 0)
        return;
    page_table_begin(output, iterations.fields, iterations.field_count, &iterations.context, iterations.slow);
    for (size_t i = 0; i < iterations.count; i++)
        page_table_row(output, iterations.fields, iterations.field_count, &iterations.context, &iterations.slow[i]);
    page_table_end(output);
}

static void write_resources(struct output *output, const struct report *report)
{
    struct resource_sentence sentences[RESOURCE_SENTENCES];
    size_t count = resource_sentences(sentences, report->input.metrics, report->findings);
    output_text(output, "<section id=\"resources\">\n<h2>Resources</h2>\n<dl>\n");
    for (size_t i = 0; i < count; i++) {
        page_element(output, "<dt>", sentences[i].resource, "</dt>");
        page_element(output, "<dd>", sentences[i].text, "</dd>\n");
    }
    output_text(output, "</dl>\n</section>\n");
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
    output_text(output, "<section id=\"scaling\">\n<h2>Scaling</h2>\n");
    scaling_write_html(output, report->input.scaling);
    for (size_t i = 0; i < chart_count(); i++)
        if (is_of_scaling(report, chart_at(i)))
            write_chart(output, report, chart_at(i));
    output_text(output, "</section>\n");
}

static void write_chart_links(struct output *output, const struct report *report)
{
    output_text(output, "<li><a href=\"#charts\">Charts</a><ul>\n");
    for (size_t i = 0; i < chart_count(); i++)
        if (report_has_chart(report, i)) {
            output_text(output, "<li>");
            write_link(output, "chart-", chart_at(i)->name, chart_at(i)->title);
            output_text(output, "</li>\n");
        }
    output_text(output, "</ul></li>\n");
}

static void write_finding_titles(struct output *output, const struct report *report)
{
    enum { TITLES = 10 }; /* as many findings as their chart shows */
    output_text(output, "<li><a href=\"#findings\">Findings</a>\n");
    if (report->findings->count > 0)
        output_text(output, "<ol>\n");
    for (size_t i = 0; i < report->findings->count && i < TITLES; i++) {
        output_print(output, "<li><a href=\"#finding-%zu\">", i + 1);
        page_element(output, "", report->findings->finding[i].title, "</a></li>\n");
    }
    if (report->findings->count > 0)
        output_text(output, "</ol>\n");
    output_text(output, "</li>\n");
}

/* The page is long: everything is two clicks away. */
static void write_contents(struct output *output, const struct report *report)
{
    const struct {
        const char *id, *title;
        bool there;
    } sections[] = {{"scaling", "Scaling", report->input.scaling != NULL},
                    {"timeline", "Timeline", report->timeline != NULL},
                    {"resources", "Resources", true},
                    {"source", "Source", source_is_known(report->input.metrics->profile)},
                    {"heuristics", "Results of the heuristics", true},
                    {"tables", "Tables", true}};
    output_text(output, "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].there) {
            output_text(output, "<li>");
            write_link(output, "", sections[i].id, sections[i].title);
            output_text(output, "</li>\n");
        }
    output_text(output, "</ul>\n<ul class=\"nested\">\n");
    if (has_findings(report))
        write_finding_titles(output, report);
    write_chart_links(output, report);
    output_text(output, "</ul></nav>\n");
}

void report_write_html(struct output *output, const struct report *report)
{
    char title[512];
    snprintf(title, sizeof title, "%.*s — SIGHT report", text_beginning(report->title, 400), report->title);
    const struct page_extras *extras = NULL;
    if (report->timeline)
        extras = &report->timeline->extras;
    page_begin(output, title, extras);
    write_verdict(output, report);
    if (report->input.metrics->process_count > 0) {
        write_contents(output, report);
        output_text(output, "<main>\n");
        /* Of several runs the scaling is the answer, of one the timeline and its findings. */
        write_scaling(output, report);
        if (report->timeline)
            report->timeline->write(output, report->timeline->context);
        write_findings(output, report);
        write_resources(output, report);
        source_write_html(output, report->input.metrics->profile, report->trace);
        output_text(output, "<section id=\"heuristics\">\n<h2>Results of the heuristics</h2>\n");
        for (size_t i = 0; i < heuristic_count(); i++)
            if (!report->input.results[i].absent)
                write_heuristic(output, heuristic_at(i), &report->input.results[i]);
        output_text(output, "</section>\n<section id=\"charts\">\n<h2>Charts</h2>\n");
        for (size_t i = 0; i < chart_count(); i++)
            if (report_has_chart(report, i) && !is_of_scaling(report, chart_at(i)))
                write_chart(output, report, chart_at(i));
        output_text(output, "</section>\n<section id=\"tables\">\n");
        write_iterations(output, report->input.metrics);
        write_functions(output, report->input.metrics);
        sites_write_html(output, report->input.metrics, FUNCTION_ROWS);
        write_processes(output, report);
        output_text(output, "</section>\n");
        /* Last: command and hosts are looked up, not read. */
        run_write_html(output, report->input.metrics->defs);
        output_text(output, "</main>\n");
    }
    output_text(
        output,
        "<footer class=\"muted\">Made by SIGHT " PACKAGE_VERSION
        ". Times are on the trace's own clock; a process computes when it is outside all MPI functions.</footer>\n");
    page_end(output, extras);
}
