/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/gate_report.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "core/text.h"
#include "render/reports/markup.h"
#include "render/reports/significance_report.h"
#include "render/terminal_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a condition's number did, as people read it. */
static void change_text(const struct gate_check *check, double change, char cell[SIGNIFICANCE_CELL_SIZE])
{
    char number[TEXT_NUMBER_SIZE];
    const char *sign = change < 0 ? "−" : "+";
    /* In the unit in which the condition was set. */
    /* A time in ns must stay within 64 bits. */
    /* A change of a share in per cent would be ambiguous: points are per cent of the whole. */
    if (check->in_seconds)
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%s", sign,
                 text_duration(number, llround(fmin(fabs(change), 9e9) * 1e9)));
    else if (check->unit == QUANTITY_SHARE)
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%.1f points", sign, fabs(change) * 100);
    else
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%.1f %%", sign, fabs(change) * 100);
}

static const char *verdict_text(const struct gate *gate, const struct gate_check *check)
{
    if (check->fails)
        return "fails";
    if (!check->is_beyond)
        return "holds";
    /* Beyond the limit, but no test with so few runs could have said so with any certainty. */
    if (!gate->is_possible)
        return "too few runs";
    return "may be noise";
}

/* "= 0.03", "< 0.001" */
static void p_text(double value, char text[SIGNIFICANCE_CELL_SIZE + 2])
{
    char p[SIGNIFICANCE_CELL_SIZE];
    significance_p(value, p);
    snprintf(text, SIGNIFICANCE_CELL_SIZE + 2, "%s%s", *p == '<' ? "" : "= ", p);
}

static void say_new(const struct gate *gate, const struct gate_check *check, char sentence[GATE_SENTENCE_SIZE])
{
    char p[SIGNIFICANCE_CELL_SIZE + 2];
    p_text(check->p, p);
    if (!check->finding)
        snprintf(sentence, GATE_SENTENCE_SIZE, "%s: none", check->text);
    else
        snprintf(sentence, GATE_SENTENCE_SIZE, "%s: %.200s, in %zu of %zu runs (p %s): %s", check->text,
                 check->finding->title, gate->new_findings[0].runs, gate->after, p, verdict_text(gate, check));
}

void gate_sentence(const struct gate *gate, const struct gate_check *check, char sentence[GATE_SENTENCE_SIZE])
{
    char change[SIGNIFICANCE_CELL_SIZE], p[SIGNIFICANCE_CELL_SIZE + 2];
    if (check->is_new_finding) {
        say_new(gate, check, sentence);
        return;
    }
    change_text(check, check->change, change);
    p_text(check->p, p);
    snprintf(sentence, GATE_SENTENCE_SIZE, "%s: %s (p %s): %s", check->text, change, p, verdict_text(gate, check));
}

void gate_write_text(struct output *output, const struct gate *gate)
{
    char sentence[GATE_SENTENCE_SIZE];
    if (gate->count == 0)
        return;
    output_text(output, "\nConditions\n");
    for (size_t i = 0; i < gate->count; i++) {
        gate_sentence(gate, &gate->checks[i], sentence);
        paragraph_write(output, "  ", "    ", sentence);
    }
}

/* Markdown */

/* A text as it stands in a cell of a table. */
static void markdown_text(struct output *output, const char *text)
{
    for (; *text; text++) {
        /* Names of the trace must not become markup: everything that GitHub or GitLab gives a meaning is escaped. */
        if (strchr("\\`*_[]<>|#~&", *text))
            output_text(output, "\\");
        /* A line end would end the row of the table. */
        const char shown = *text == '\n' || *text == '\r' ? ' ' : *text;
        output_write(output, &shown, 1);
    }
}

static void markdown_cell(struct output *output, const char *text)
{
    output_text(output, " ");
    markdown_text(output, text);
    output_text(output, " |");
}

static void markdown_checks(struct output *output, const struct gate *gate)
{
    output_text(output, "\n| condition | change | p | |\n| --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < gate->count; i++) {
        const struct gate_check *check = &gate->checks[i];
        char cell[SIGNIFICANCE_CELL_SIZE];
        output_text(output, "|");
        markdown_cell(output, check->text);
        /* A new finding has no change: it was not there before. */
        if (check->is_new_finding)
            snprintf(cell, sizeof cell, "%zu new", gate->new_count);
        else
            change_text(check, check->change, cell);
        markdown_cell(output, cell);
        significance_p(check->p, cell);
        markdown_cell(output, cell);
        const char *bold = check->fails ? "**" : "";
        output_print(output, " %s%s%s |\n", bold, verdict_text(gate, check), bold);
    }
}

static void markdown_parts(struct output *output, const struct significance *significance, size_t rows)
{
    size_t shown = 0;
    output_text(output, "\n| what differs | change | 95 % interval | p |\n| --- | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < significance->count && shown < rows; i++) {
        const struct tested *tested = &significance->tested[i];
        char name[TESTED_NAME_SIZE], cell[SIGNIFICANCE_INTERVAL_SIZE];
        /* What is not shown was tested, but no difference was found, or not one that matters. */
        if (!tested->is_shown)
            continue;
        output_text(output, "|");
        markdown_cell(output, tested_name(name, tested));
        significance_change(tested, tested->change, cell);
        markdown_cell(output, cell);
        significance_interval(tested, cell);
        markdown_cell(output, cell);
        significance_p(tested->p, cell);
        markdown_cell(output, cell);
        output_text(output, "\n");
        shown++;
    }
    if (significance->shown > shown)
        output_print(output, "\n%zu more.\n", significance->shown - shown);
}

static void markdown_findings(struct output *output, const struct gate *gate)
{
    for (size_t i = 0; i < gate->new_count; i++) {
        const struct finding *finding = gate->new_findings[i].finding;
        char place[SITE_TEXT_SIZE], number[TEXT_NUMBER_SIZE];
        output_text(output, i == 0 ? "\n**New findings**\n\n* " : "* ");
        markdown_text(output, finding->title);
        output_print(output, ", up to %s", text_duration(number, llround(finding->saving_s * 1e9)));
        /* The first place is the one with most of the waiting. */
        if (finding->sites[0]) {
            output_text(output, ", at ");
            markdown_text(output, site_text(place, finding->sites[0]));
        }
        output_print(output, " (in %zu of %zu runs)\n", gate->new_findings[i].runs, gate->after);
    }
}

void gate_write_markdown(struct output *output, const struct gate_report *report, size_t rows)
{
    char sentence[SIGNIFICANCE_SENTENCE_SIZE];
    output_text(output, "### ");
    markdown_text(output, report->after);
    output_text(output, " against ");
    markdown_text(output, report->before);
    output_text(output, report->gate->failed ? ": slower or worse\n\n" : "\n\n");
    significance_sentence(report->significance, report->before, report->after, sentence);
    markdown_text(output, sentence);
    output_text(output, "\n");
    if (report->gate->count > 0)
        markdown_checks(output, report->gate);
    if (report->significance->shown > 0)
        markdown_parts(output, report->significance, rows);
    markdown_findings(output, report->gate);
}

/* JUnit: what Jenkins and GitLab read of it. */

static void junit_case(struct output *output, const struct gate *gate, const struct gate_check *check)
{
    char sentence[GATE_SENTENCE_SIZE];
    gate_sentence(gate, check, sentence);
    output_text(output, "  <testcase classname=\"sight.compare\" name=\"");
    markup_write(output, check->text);
    output_text(output, "\">");
    /* JUnit has three outcomes; a condition that could not be tested is skipped, not passed. */
    if (check->fails)
        output_text(output, "<failure message=\"");
    else if (!gate->is_possible)
        output_text(output, "<skipped message=\"");
    else
        output_text(output, "<system-out>");
    markup_write(output, sentence);
    output_text(output, check->fails || !gate->is_possible ? "\"/>" : "</system-out>");
    output_text(output, "</testcase>\n");
}

void gate_write_junit(struct output *output, const struct gate_report *report)
{
    const struct gate *gate = report->gate;
    /* All or none: whether a test is possible depends on the numbers of runs, which all conditions share. */
    size_t skipped = 0;
    if (!gate->is_possible)
        skipped = gate->count;
    output_print(output,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"sight compare\" "
                 "tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
                 gate->count, gate->failed, skipped);
    for (size_t i = 0; i < gate->count; i++)
        junit_case(output, gate, &gate->checks[i]);
    output_text(output, "</testsuite>\n</testsuites>\n");
}

/* SARIF */

static void sarif_message(struct json *json, const char *text)
{
    json_open(json, "message", '{');
    json_value(json, "text", value_text(text));
    json_close(json, '}');
}

/* Where it is in the source; the trace where that is not known. */
static void sarif_location(struct json *json, const struct finding *finding, const char *input)
{
    const struct site_def *site = NULL;
    if (finding)
        site = finding->sites[0];
    bool has_file = site && site->file && *site->file;
    json_open(json, "locations", '[');
    json_open(json, NULL, '{');
    json_open(json, "physicalLocation", '{');
    json_open(json, "artifactLocation", '{');
    /* SARIF requires a location: without a source line it is the trace itself. */
    json_value(json, "uri", value_text(has_file ? site->file : input));
    json_close(json, '}');
    if (has_file && site->line > 0) {
        json_open(json, "region", '{');
        json_value(json, "startLine", value_count((uint64_t)site->line));
        json_close(json, '}');
    }
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, ']');
}

static void sarif_result(struct json *json, const char *rule, const char *text, const struct finding *finding,
                         const char *input, bool fails)
{
    json_open(json, NULL, '{');
    json_value(json, "ruleId", value_text(rule));
    /* "error" makes the forge mark the change as failed, "note" only shows it. */
    json_value(json, "level", value_text(fails ? "error" : "note"));
    sarif_message(json, text);
    sarif_location(json, finding, input);
    json_close(json, '}');
}

static void sarif_new(struct json *json, const struct gate_report *report)
{
    for (size_t i = 0; i < report->gate->new_count; i++) {
        const struct gate_new *found = &report->gate->new_findings[i];
        char text[3200];
        /* The first sentence is what lists show, the rest explains it. */
        snprintf(text, sizeof text, "New finding: %s. %s", found->finding->title, found->finding->text);
        sarif_result(json, found->finding->id, text, found->finding, report->input,
                     report->gate->is_possible && found->p <= SIGNIFICANCE_LEVEL);
    }
}

static void sarif_results(struct json *json, const struct gate_report *report)
{
    json_open(json, "results", '[');
    for (size_t i = 0; i < report->gate->count; i++) {
        const struct gate_check *check = &report->gate->checks[i];
        char sentence[GATE_SENTENCE_SIZE];
        /* New findings have results of their own below, with their places. */
        if (check->is_new_finding || !check->is_beyond)
            continue;
        gate_sentence(report->gate, check, sentence);
        sarif_result(json, check->text, sentence, check->finding, report->input, check->fails);
    }
    sarif_new(json, report);
    json_close(json, ']');
}

void gate_write_sarif(struct output *output, const struct gate_report *report)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    /* Readers look for the schema before anything else. */
    json_value(&json, "$schema", value_text("https://json.schemastore.org/sarif-2.1.0.json"));
    json_value(&json, "version", value_text("2.1.0"));
    json_open(&json, "runs", '[');
    json_open(&json, NULL, '{');
    json_open(&json, "tool", '{');
    json_open(&json, "driver", '{');
    json_value(&json, "name", value_text("sight"));
    json_value(&json, "version", value_text(PACKAGE_VERSION));
    json_close(&json, '}');
    /* The rules are not listed: SARIF allows results whose rule is known by its id alone. */
    json_close(&json, '}');
    sarif_results(&json, report);
    json_close(&json, '}');
    json_close(&json, ']');
    json_close(&json, '}');
}
