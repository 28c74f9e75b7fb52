/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/report.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "core/text.h"
#include "metrics/functions_together.h"
#include "render/diagnosis.h"
#include "render/heuristics_report.h"
#include "render/markup.h"
#include "render/metrics_report.h"

#include <stdio.h>
#include <stdlib.h>

/* Rows of a table at most: keeps the page small for any number of processes. */
enum { TABLE_ROWS = 400, FUNCTION_ROWS = 100 };

/* Sorts a table by the column whose button was pressed. The page's policy names this text by its SHA-256: see
 * SCRIPT_HASH. */
static const char script[] =
    "for(const b of document.querySelectorAll('th button'))b.addEventListener('click',()=>{"
    "const h=b.parentElement,t=h.closest('table'),i=h.cellIndex,d=h.getAttribute('aria-sort')==='descending'?1:-1;"
    "for(const o of t.tHead.rows[0].cells)o.removeAttribute('aria-sort');"
    "h.setAttribute('aria-sort',d<0?'descending':'ascending');"
    "const v=r=>{const c=r.cells[i],k=c.dataset.v;return k===undefined?c.textContent:+k};"
    "const r=[...t.tBodies[0].rows];"
    "r.sort((x,y)=>{const a=v(x),c=v(y);return d*(typeof a==='number'&&typeof c==='number'?a-c:"
    "String(a).localeCompare(String(c)))});t.tBodies[0].append(...r)});";
#define SCRIPT_HASH "sha256-r2cAfsOXaqaCwShGsSD8xSYJnbPqTTx6xHMo20n/ly8="

/* c0 is text, c1 the ground, c2 muted: see theme.h. */
static const char style[] =
    "*{box-sizing:border-box}html{color-scheme:light dark}\n"
    "body{margin:0 auto;max-width:1060px;padding:32px 24px 64px;background:var(--c1);color:var(--c0);"
    "font:15px/1.5 system-ui,'Liberation Sans',Arial,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:26px;line-height:1.25;margin:0 0 4px}h2{font-size:19px;margin:44px 0 "
    "12px}h3{font-size:15px;margin:0}\n"
    "p{margin:6px 0}.muted{color:var(--c2)}.verdict{font-size:19px;margin:18px 0}\n"
    ".damage{border-left:4px solid var(--accent);padding:6px 12px;margin:14px 0}\n"
    "ul.figures{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:"
    "12px;margin:20px 0}\n"
    ".figures li{border:1px solid var(--line);border-radius:8px;padding:10px 14px}\n"
    ".figures b{display:block;font-size:22px;font-weight:600}.figures span{font-size:13px;color:var(--c2)}\n"
    "article{border:1px solid var(--line);border-radius:8px;padding:14px 18px;margin:12px 0}\n"
    "article header{display:flex;justify-content:space-between;gap:16px;align-items:baseline}\n"
    ".badge{border-radius:99px;padding:1px 12px;font-size:13px;font-weight:600;white-space:nowrap;border:1px solid}\n"
    ".good{color:var(--good)}.fair{color:var(--fair)}.poor{color:var(--accent)}.unknown{color:var(--c2)}\n"
    ".numbers{font-variant-numeric:tabular-nums}ul.advice{list-style:'\\2192\\00a0';padding-left:20px;margin:8px 0 0}\n"
    "details{margin-top:8px;font-size:13px;color:var(--c2)}summary{cursor:pointer}\n"
    "figure{margin:22px 0;border:1px solid var(--line);border-radius:8px;overflow:hidden}svg{display:block;width:100%;"
    "height:auto}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}"
    "\n"
    "th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "th.left,td.left{text-align:left}th button{all:unset;cursor:pointer;font-weight:600}\n"
    "th button:focus-visible{outline:2px solid var(--c7)}th[aria-sort=descending] button::after{content:' \\2193'}\n"
    "th[aria-sort=ascending] button::after{content:' \\2191'}footer{margin-top:48px;font-size:13px}\n"
    "@media print{body{max-width:none;padding:0;font-size:11px}figure,article{break-inside:avoid}h2{break-after:avoid}"
    "details{display:none}}\n";

static void write_element(struct output *output, const char *open, const char *text, const char *close)
{
    output_text(output, open);
    markup_write(output, text);
    output_text(output, close);
}

/* Colours that only pages have: the accent as text, verdicts, lines. */
static void write_page_colours(struct output *output)
{
    static const char light[] = "--accent:#B23A12;--good:#2B7A4B;--fair:#8A6100;--line:#DDE1E7",
                      dark[] = "--accent:#FF8A5C;--good:#6CC58F;--fair:#E0B44C;--line:#333A45";
    output_print(output, ":root{%s}@media (prefers-color-scheme:dark){:root{%s}}@media print{:root{%s}}\n", light, dark,
                 light);
}

static void write_head(struct output *output, const struct report *report)
{
    output_text(output, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                        "'unsafe-inline'; script-src '" SCRIPT_HASH "'; base-uri 'none'; form-action 'none'\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<meta name=\"generator\" content=\"SIGHT " PACKAGE_VERSION "\">\n");
    write_element(output, "<title>", report->title, " — SIGHT report</title>\n");
    output_text(output, "<style>\n");
    theme_write_css(output);
    write_page_colours(output);
    output_text(output, style);
    output_text(output, "</style>\n</head>\n<body>\n");
}

static void write_figures(struct output *output, const struct report *report)
{
    struct figure figures[REPORT_FIGURES];
    report_figures(report, figures);
    output_text(output, "<ul class=\"figures\">\n");
    for (size_t i = 0; i < REPORT_FIGURES; i++) {
        write_element(output, "<li title=\"", figures[i].meaning, "\">");
        write_element(output, "<span>", figures[i].name, "</span>");
        write_element(output, "<b>", figures[i].value, "</b></li>\n");
    }
    output_text(output, "</ul>\n");
}

static void write_verdict(struct output *output, const struct report *report)
{
    char facts[REPORT_LINE_SIZE], damage[REPORT_LINE_SIZE], sentence[DIAGNOSIS_SENTENCE_SIZE];
    report_facts(report, facts);
    report_damage(report, damage);
    write_element(output, "<header>\n<h1>", report->title, "</h1>\n");
    write_element(output, "<p class=\"muted\">", facts, "</p>\n");
    if (*damage)
        write_element(output, "<p class=\"damage\" role=\"alert\">The trace is damaged: ", damage, "</p>\n");
    if (report->input.metrics->process_count == 0) {
        output_text(output, "<p class=\"verdict\">There are no events in this trace.</p>\n</header>\n");
        return;
    }
    diagnosis_sentence(sentence, report->input.metrics, report->input.results);
    write_element(output, "<p class=\"verdict\">", sentence, "</p>\n</header>\n");
    write_figures(output, report);
}

static void write_numbers(struct output *output, const struct heuristic_result *result)
{
    char numbers[HEURISTIC_NUMBERS_SIZE];
    heuristic_numbers(result, numbers);
    if (*numbers)
        write_element(output, "<p class=\"numbers\">", numbers, "</p>\n");
}

static void write_details(struct output *output, const struct heuristic *heuristic,
                          const struct heuristic_result *result)
{
    output_text(output, "<details><summary>formula, source, values</summary>\n");
    write_element(output, "<p>formula: ", heuristic->formula, "<br>");
    write_element(output, "source: ", heuristic->source, "</p>\n<p class=\"numbers\">");
    output_print(output, "index %.9f<br>mean %.9f", result->index, result->mean);
    for (size_t i = 0; i < result->detail_count; i++)
        output_print(output, "<br>%s %.9g", result->details[i].name, result->details[i].value);
    output_text(output, "</p></details>\n");
}

static void write_heuristic(struct output *output, const struct heuristic *heuristic,
                            const struct heuristic_result *result)
{
    const char *verdict = verdict_name(result->verdict);
    write_element(output, "<article>\n<header><h3>", heuristic->title, "</h3>");
    output_print(output, "<span class=\"badge %s\">%s</span></header>\n", verdict, verdict);
    write_element(output, "<p class=\"muted\">", heuristic->question, "</p>\n");
    write_numbers(output, result);
    write_element(output, "<p>", result->analysis, "</p>\n");
    if (result->suggestion_count > 0)
        output_text(output, "<ul class=\"advice\">\n");
    for (size_t i = 0; i < result->suggestion_count; i++)
        write_element(output, "<li>", result->suggestions[i], "</li>\n");
    if (result->suggestion_count > 0)
        output_text(output, "</ul>\n");
    write_details(output, heuristic, result);
    output_text(output, "</article>\n");
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

/* Tables */

static bool is_number(enum value_kind kind)
{
    return kind != VALUE_NULL && kind != VALUE_TEXT && kind != VALUE_BOOL;
}

static void write_table_head(struct output *output, const struct field *fields, size_t count, const void *context,
                             const void *row)
{
    output_text(output, "<div class=\"wide\"><table>\n<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].title)
            continue;
        bool left = fields[i].get(context, row).kind == VALUE_TEXT;
        output_print(output, "<th scope=\"col\"%s><button type=\"button\">", left ? " class=\"left\"" : "");
        write_element(output, "", fields[i].title, "</button></th>");
    }
    output_text(output, "</tr></thead>\n<tbody>\n");
}

static void write_table_row(struct output *output, const struct field *fields, size_t count, const void *context,
                            const void *row)
{
    char text[VALUE_TEXT_SIZE];
    output_text(output, "<tr>");
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].title)
            continue;
        struct value value = fields[i].get(context, row);
        value_text_for_people(text, value);
        output_text(output, value.kind == VALUE_TEXT ? "<td class=\"left\"" : "<td");
        if (is_number(value.kind)) {
            output_text(output, " data-v=\"");
            value_write_csv(output, value);
            output_text(output, "\"");
        }
        write_element(output, ">", text, "</td>");
    }
    output_text(output, "</tr>\n");
}

static void write_functions(struct output *output, const struct metrics *metrics)
{
    size_t field_count, count;
    const struct field *fields = metrics_function_fields(&field_count);
    struct function_row *rows = metrics_functions_together(metrics, &count);
    if (count > 0) {
        output_text(output, "<h2>Functions and states of all processes</h2>\n");
        write_table_head(output, fields, field_count, metrics, rows);
        for (size_t i = 0; i < count && i < FUNCTION_ROWS; i++)
            write_table_row(output, fields, field_count, metrics, &rows[i]);
        output_text(output, "</tbody></table></div>\n");
    }
    if (count > FUNCTION_ROWS)
        output_print(output, "<p class=\"muted\">The %d with most time of %zu.</p>\n", FUNCTION_ROWS, count);
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
        write_table_head(output, fields, field_count, metrics, metrics->process);
        for (size_t i = 0; i < count; i++)
            write_table_row(output, fields, field_count, metrics, &metrics->process[rows[i]]);
        output_text(output, "</tbody></table></div>\n");
    }
    if (count < metrics->process_count)
        output_print(
            output,
            "<p class=\"muted\">Of %s processes, the %zu that compute least and the %zu that compute most; all "
            "of them: <code>sight metrics --all</code>.</p>\n",
            text_thousands(all, metrics->process_count), count / 2, count - count / 2);
    free(rows);
}

void report_write_html(struct output *output, const struct report *report)
{
    write_head(output, report);
    write_verdict(output, report);
    output_text(output, "<main>\n");
    if (report->input.metrics->process_count > 0) {
        output_text(output, "<section>\n<h2>What the heuristics say</h2>\n");
        for (size_t i = 0; i < heuristic_count(); i++)
            write_heuristic(output, heuristic_at(i), &report->input.results[i]);
        output_text(output, "</section>\n<section>\n<h2>Charts</h2>\n");
        for (size_t i = 0; i < chart_count(); i++)
            if (report_has_chart(report, i))
                write_chart(output, report, chart_at(i));
        output_text(output, "</section>\n<section>\n");
        write_functions(output, report->input.metrics);
        write_processes(output, report);
        output_text(output, "</section>\n");
    }
    output_text(output, "</main>\n<footer class=\"muted\">Made by SIGHT " PACKAGE_VERSION
                        ". Times are of the trace's own clock; a process computes when it is outside all MPI "
                        "functions.</footer>\n<script>");
    output_text(output, script);
    output_text(output, "</script>\n</body>\n</html>\n");
}
