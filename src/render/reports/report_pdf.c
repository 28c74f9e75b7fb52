/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/clock_sentence.h"
#include "render/reports/report.h"

#include "core/memory.h"
#include "heuristics/hot_code.h"
#include "metrics/functions_together.h"
#include "render/facts.h"
#include "render/reports/diagnosis.h"
#include "render/reports/heuristics_report.h"
#include "render/reports/metrics_report.h"
#include "render/reports/run_report.h"
#include "render/reports/sites_report.h"
#include "render/reports/stuck_report.h"
#include "render/resource_sentences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A4, lying, in pixels of 1/96 inch. */
enum { PAGE_WIDTH = 1123, PAGE_HEIGHT = 794, MARGIN = 56, TABLE_ROW = 19 };

struct sheet {
    struct canvas *canvas;
    double y;
};

static void new_page(struct sheet *sheet)
{
    canvas_page(sheet->canvas);
    sheet->y = MARGIN;
}

/* Starts a new page unless there is enough room. */
static void need(struct sheet *sheet, double height)
{
    /* What is higher than a page begins on a new one and is cut: another page would not help. */
    if (sheet->y + height > PAGE_HEIGHT - MARGIN && sheet->y > MARGIN)
        new_page(sheet);
}

static double lines_height(struct sheet *sheet, double room, struct text_style style, const char *text)
{
    double size = TEXT_SIZE;
    if (style.size > 0)
        size = style.size;
    /* Lines are filled to 93 % on average: words are not broken. Only whether a new page is needed depends on it. */
    return ceil(canvas_text_width(sheet->canvas, style, text) / (room * 0.93)) * size * 1.35;
}

static void paragraph(struct sheet *sheet, double indent, struct text_style style, const char *text)
{
    double room = PAGE_WIDTH - 2 * MARGIN - indent;
    need(sheet, lines_height(sheet, room, style, text));
    sheet->y += canvas_paragraph(sheet->canvas, MARGIN + indent, sheet->y, room, style, text);
}

/* The same numbers in the same order as at the top of the page in HTML. */
static void draw_figures(struct sheet *sheet, const struct report *report)
{
    struct figure figures[REPORT_FIGURES];
    double width = (double)(PAGE_WIDTH - 2 * MARGIN) / REPORT_FIGURES;
    report_figures(report, figures);
    sheet->y += 16;
    for (size_t i = 0; i < REPORT_FIGURES; i++) {
        double x = MARGIN + (double)i * width;
        canvas_text_cut(sheet->canvas, x, sheet->y + 10, width - 12, (struct text_style){.ink = INK_MUTED},
                        figures[i].name);
        canvas_text_cut(sheet->canvas, x, sheet->y + 34, width - 12, (struct text_style){.size = 20, .bold = true},
                        figures[i].value);
    }
    sheet->y += 60;
}

static void draw_heading(struct sheet *sheet, const char *text)
{
    /* A heading at the foot of a page belongs to what follows: room for two lines of it. */
    need(sheet, 90);
    sheet->y += 14;
    paragraph(sheet, 0, (struct text_style){.size = 16, .bold = true}, text);
    sheet->y += 6;
}

static void draw_heuristic(struct sheet *sheet, const struct heuristic *heuristic,
                           const struct heuristic_result *result)
{
    /* In the order of the verdicts: good, fair, poor, unknown. */
    static const enum ink inks[] = {INK_MPI, INK_TEXT, INK_ACCENT, INK_MUTED};
    char numbers[HEURISTIC_NUMBERS_SIZE];
    double room = PAGE_WIDTH - 2 * MARGIN;
    /* Title, question and the first paragraph stay together. */
    need(sheet, 70 + lines_height(sheet, room, (struct text_style){0}, result->analysis));
    canvas_text(sheet->canvas, MARGIN, sheet->y + 9, (struct text_style){.size = 14, .bold = true}, heuristic->title);
    canvas_text(sheet->canvas, PAGE_WIDTH - MARGIN, sheet->y + 9,
                (struct text_style){.size = 14, .bold = true, .align = ALIGN_RIGHT, .ink = inks[result->verdict]},
                verdict_name(result->verdict));
    sheet->y += 22;
    paragraph(sheet, 0, (struct text_style){.ink = INK_MUTED}, heuristic->question);
    heuristic_numbers(result, numbers);
    if (*numbers)
        paragraph(sheet, 0, (struct text_style){.ink = INK_MUTED}, numbers);
    paragraph(sheet, 0, (struct text_style){0}, result->analysis);
    for (size_t i = 0; i < result->suggestion_count; i++) {
        need(sheet, TEXT_SIZE * 3);
        canvas_text(sheet->canvas, MARGIN, sheet->y + 8, (struct text_style){0}, "→");
        paragraph(sheet, 18, (struct text_style){0}, result->suggestions[i]);
    }
    sheet->y += 14;
}

static void draw_findings(struct sheet *sheet, const struct report *report)
{
    char line[REPORT_LINE_SIZE];
    char clocks[CLOCK_SENTENCE_SIZE];
    draw_heading(sheet, "Findings");
    if (*clock_sentence(clocks, report->input.metrics, report->findings))
        paragraph(sheet, 0, (struct text_style){.ink = INK_MUTED}, clocks);
    if (*report->findings->caveat)
        paragraph(sheet, 0, (struct text_style){0}, report->findings->caveat);
    report_no_findings(report, line);
    if (*line)
        paragraph(sheet, 0, (struct text_style){0}, line);
    sheet->y += 8;
    for (size_t i = 0; i < report->findings->count; i++) {
        const struct finding *finding = &report->findings->finding[i];
        need(sheet, 90);
        report_finding_title(report->findings, i, line);
        paragraph(sheet, 0, (struct text_style){.size = 14, .bold = true}, line);
        report_saving(finding, line);
        paragraph(sheet, 0, (struct text_style){.ink = INK_ACCENT}, line);
        paragraph(sheet, 0, (struct text_style){0}, finding->text);
        /* The arrow and the text after it must not be on different pages. */
        need(sheet, TEXT_SIZE * 3);
        canvas_text(sheet->canvas, MARGIN, sheet->y + 8, (struct text_style){0}, "→");
        paragraph(sheet, 18, (struct text_style){0}, finding->advice);
        report_finding_root(report->findings, i, line);
        if (*line)
            paragraph(sheet, 0, (struct text_style){.ink = INK_MUTED}, line);
        sheet->y += 14;
    }
}

static void draw_resources(struct sheet *sheet, const struct report *report)
{
    struct resource_sentence sentences[RESOURCE_SENTENCES];
    size_t count = resource_sentences(sentences, report->input.metrics, report->findings);
    if (count > 0)
        draw_heading(sheet, "Resources");
    for (size_t i = 0; i < count; i++) {
        paragraph(sheet, 0, (struct text_style){.bold = true}, sentences[i].resource);
        paragraph(sheet, 18, (struct text_style){0}, sentences[i].text);
    }
}

/* Tables */

/* Of a run that hung: the first processes, of which the reason names those that matter. */
enum { STUCK_PLACES = 8 };

/* Rows of a table: a page of print. HTML and text have more. */
enum { COLUMNS_MOST = 16, TABLE_ROWS = 30 };

static double column_width(const struct field *fields, size_t count)
{
    size_t columns = 0;
    for (size_t i = 0; i < count; i++)
        columns += fields[i].title != NULL;
    if (columns == 0)
        return 0;
    return (double)(PAGE_WIDTH - 2 * MARGIN) / (double)columns;
}

/* A row of texts; NULL row: the titles. Text columns stand left, numbers right. */
static void draw_row(struct sheet *sheet, const struct field *fields, size_t count, const void *context,
                     const void *sample, const void *row)
{
    double width = column_width(fields, count), x = MARGIN;
    char text[VALUE_TEXT_SIZE];
    /* Columns without titles on a new page could not be read. */
    if (row && sheet->y + TABLE_ROW > PAGE_HEIGHT - MARGIN) {
        new_page(sheet);
        draw_row(sheet, fields, count, context, row, NULL);
    }
    need(sheet, TABLE_ROW);
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].title)
            continue;
        /* The titles stand as the values of their columns do, which a sample shows. */
        struct value value = fields[i].get(context, row ? row : sample);
        struct text_style style = {.bold = !row, .align = ALIGN_RIGHT};
        const char *shown = fields[i].title;
        double edge = x + width - 6;
        if (value_is_words(value)) {
            style.align = ALIGN_LEFT;
            edge = x;
        }
        value_text_for_people(text, value);
        if (row)
            shown = text;
        canvas_text_cut(sheet->canvas, edge, sheet->y + TABLE_ROW / 2.0, width - 8, style, shown);
        x += width;
    }
    sheet->y += TABLE_ROW;
    canvas_line(sheet->canvas, MARGIN, sheet->y, PAGE_WIDTH - MARGIN, sheet->y, 0.6,
                paint_of(row ? INK_GRID : INK_AXIS));
}

static void draw_functions(struct sheet *sheet, const struct metrics *metrics)
{
    size_t field_count, count;
    const struct field *fields = metrics_function_fields(&field_count);
    struct function_row *rows = metrics_functions_together(metrics, &count);
    if (count > 0) {
        draw_heading(sheet, "Functions and states of all processes");
        draw_row(sheet, fields, field_count, metrics, rows, NULL);
    }
    for (size_t i = 0; i < count && i < TABLE_ROWS; i++)
        draw_row(sheet, fields, field_count, metrics, rows, &rows[i]);
    free(rows);
}

static void draw_sites(struct sheet *sheet, const struct metrics *metrics)
{
    struct sites_table table = sites_table_of(metrics);
    if (table.count > 0) {
        draw_heading(sheet, "Call sites");
        draw_row(sheet, table.fields, table.field_count, metrics, table.rows, NULL);
    }
    for (size_t i = 0; i < table.count && i < TABLE_ROWS; i++)
        draw_row(sheet, table.fields, table.field_count, metrics, NULL, (char *)table.rows + i * table.row_size);
    free(table.rows);
}

static void draw_processes(struct sheet *sheet, const struct report *report)
{
    const struct metrics *metrics = report->input.metrics;
    size_t field_count, count;
    const struct field *fields = metrics_process_fields(&field_count);
    size_t *rows = report_processes(report, 64, &count);
    const char *title = "Processes";
    if (count < metrics->process_count)
        title = "Processes that compute least and most";
    draw_heading(sheet, title);
    draw_row(sheet, fields, field_count, metrics, metrics->process, NULL);
    for (size_t i = 0; i < count; i++)
        draw_row(sheet, fields, field_count, metrics, metrics->process, &metrics->process[rows[i]]);
    free(rows);
}

static void draw_iterations(struct sheet *sheet, const struct metrics *metrics)
{
    struct report_iterations iterations;
    if (!report_iterations(metrics, &iterations))
        return;
    draw_heading(sheet, "Iterations");
    paragraph(sheet, 0, (struct text_style){0}, iterations.text);
    /* The title row takes its alignment from the first row: there must be one. */
    if (iterations.count > 0)
        draw_row(sheet, iterations.fields, iterations.field_count, &iterations.context, iterations.slow, NULL);
    for (size_t i = 0; i < iterations.count; i++)
        draw_row(sheet, iterations.fields, iterations.field_count, &iterations.context, iterations.slow,
                 &iterations.slow[i]);
}

/* A page each; the timeline, which is of the events, before the charts of the metrics. */
static void draw_charts(struct sheet *sheet, const struct report *report, bool of_events)
{
    for (size_t i = 0; i < chart_count(); i++) {
        if (!report_has_chart(report, i) || (chart_at(i)->needs == NEEDS_EVENTS) != of_events)
            continue;
        /* A chart fills a page: two would be too small to read in print. */
        new_page(sheet);
        chart_draw(chart_at(i), sheet->canvas, &report->input);
    }
}

static void draw_run(struct sheet *sheet, const struct defs *defs)
{
    struct property_list list = property_list_shown(defs);
    if (list.count > 0)
        draw_heading(sheet, "The run");
    for (size_t i = 0; i < list.count; i++) {
        char *sentence = run_sentence(&list.rows[i]);
        paragraph(sheet, 0, (struct text_style){0}, sentence);
        free(sentence);
    }
    property_list_clear(&list);
}

/* What is wrong with the run itself, before what is known of its speed. */
static void draw_faults(struct sheet *sheet, const struct report *report)
{
    char line[STUCK_LINE_SIZE];
    const char *faults[REPORT_FAULTS];
    const struct stuck *stuck = report->stuck;
    struct text_style accent = {.ink = INK_ACCENT}, plain = {0};
    if (stuck_is_reported(stuck)) {
        paragraph(sheet, 0, accent, stuck->text);
        paragraph(sheet, 0, plain, stuck_since_text(line, stuck));
        for (size_t i = 0; i < stuck->call_count && i < STUCK_PLACES; i++)
            paragraph(sheet, 18, plain, stuck_call_text(line, stuck, &stuck->calls[i]));
        snprintf(line, sizeof line, "%s; the timeline shows all of it.", stuck_judges(stuck));
        paragraph(sheet, 0, plain, line);
    }
    for (size_t i = 0, count = report_faults(report, faults); i < count; i++)
        paragraph(sheet, 0, accent, faults[i]);
    sheet->y += 10;
}

static void draw_report(struct sheet *sheet, const struct report *report)
{
    char line[REPORT_LINE_SIZE], facts[FACTS_SIZE], sentence[DIAGNOSIS_SENTENCE_SIZE], hot[HOT_CODE_SIZE];
    const struct metrics *metrics = report->input.metrics;
    paragraph(sheet, 0, (struct text_style){.size = 22, .bold = true}, report->title);
    paragraph(sheet, 0, (struct text_style){.size = 13, .ink = INK_MUTED}, facts_text(facts, metrics));
    report_damage(report, line);
    if (*line)
        paragraph(sheet, 0, (struct text_style){.ink = INK_ACCENT}, line);
    sheet->y += 10;
    if (metrics->process_count == 0) {
        paragraph(sheet, 0, (struct text_style){.size = 16}, "There are no events in this trace.");
        return;
    }
    draw_faults(sheet, report);
    diagnosis_sentence(sentence, metrics, report->input.results);
    paragraph(sheet, 0, (struct text_style){.size = 16}, sentence);
    if (*hot_code_sentence(hot, metrics))
        paragraph(sheet, 0, (struct text_style){0}, hot);
    draw_figures(sheet, report);
    draw_findings(sheet, report);
    draw_resources(sheet, report);
    draw_heading(sheet, "Results of the heuristics");
    for (size_t i = 0; i < heuristic_count(); i++)
        if (!report->input.results[i].absent)
            draw_heuristic(sheet, heuristic_at(i), &report->input.results[i]);
    draw_charts(sheet, report, true);
    draw_charts(sheet, report, false);
    new_page(sheet);
    draw_iterations(sheet, metrics);
    draw_functions(sheet, metrics);
    draw_sites(sheet, metrics);
    draw_processes(sheet, report);
    draw_run(sheet, metrics->defs);
}

void report_write_pdf(struct output *output, const struct report *report)
{
    struct canvas_options options = {.theme = THEME_LIGHT, .title = report->title};
    struct sheet sheet = {.canvas = canvas_new(CANVAS_PDF, output, PAGE_WIDTH, PAGE_HEIGHT, &options), .y = MARGIN};
    /* The output knows why there is no canvas. */
    if (!sheet.canvas)
        return;
    draw_report(&sheet, report);
    canvas_free(sheet.canvas);
}
