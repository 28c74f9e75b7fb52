/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "metrics/functions_together.h"
#include "render/clock_sentence.h"
#include "render/field.h"
#include "render/reports/diagnosis.h"
#include "render/reports/finding_charts.h"
#include "render/reports/report.h"
#include "render/reports/search_report.h"
#include "render/reports/source_report.h"
#include "render/reports/stuck_report.h"
#include "render/resource_sentences.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_ranks(struct json *json, const char *key, const struct ranks *ranks)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < ranks->count; i++)
        json_value(json, NULL, value_count(ranks->rank[i]));
    json_close(json, ']');
}

static void write_finding_charts(struct json *json, const struct finding *finding, const struct metrics *metrics)
{
    const struct chart_input input = {.metrics = metrics};
    const struct chart *charts[FINDING_CHARTS];
    size_t count = finding_charts(finding, &input, charts);
    json_open(json, "charts", '[');
    for (size_t i = 0; i < count; i++)
        json_value(json, NULL, value_text(charts[i]->name));
    json_close(json, ']');
}

static void write_finding(struct json *json, const struct finding *finding, const struct metrics *metrics)
{
    char saving[REPORT_LINE_SIZE];
    report_saving(finding, saving);
    json_open(json, NULL, '{');
    json_value(json, "id", value_text(finding->id));
    json_value(json, "title", value_text(finding->title));
    json_value(json, "saving", value_text(saving));
    json_value(json, "text", value_text(finding->text));
    json_value(json, "advice", value_text(finding->advice));
    /* The page counts in ns from the beginning of the run; numbers below 2^53 are exact in JavaScript. */
    json_value(json, "from", value_integer((int64_t)(finding->from_s * 1e9)));
    json_value(json, "to", value_integer((int64_t)(finding->to_s * 1e9)));
    write_ranks(json, "victims", &finding->victims);
    write_ranks(json, "causes", &finding->causes);
    write_finding_charts(json, finding, metrics);
    json_close(json, '}');
}

static void write_charts(struct json *json, const struct metrics *metrics)
{
    const struct chart_input input = {.metrics = metrics};
    json_open(json, "charts", '[');
    /* Charts need processes; without any the page has its sentence only. */
    for (size_t i = 0; metrics->process_count > 0 && i < chart_count(); i++) {
        const struct chart *chart = chart_at(i);
        if (!chart_can(chart, &input))
            continue;
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(chart->name));
        json_value(json, "title", value_text(chart->title));
        json_value(json, "tab", value_text(chart->tab));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_states(struct json *json, const struct view *view, const struct metrics *metrics)
{
    size_t count;
    struct function_row *rows = metrics_functions_together(metrics, &count);
    json_open(json, "states", '[');
    for (size_t i = 0; i < count; i++) {
        /* Metrics and timeline read the trace each by itself: their definitions need not have the same order. */
        int32_t state = defs_find_state(view->info->defs, metrics->defs->states[rows[i].state].name);
        /* A state that the timeline's pass did not meet has no colour in the page. */
        if (state < 0)
            continue;
        json_open(json, NULL, '{');
        json_value(json, "state", value_count(view->slot_of_state[state]));
        /* Calls that never returned are calls, too. */
        json_value(json, "count", value_count(rows[i].count + rows[i].open));
        /* Until the process ended, as the windows of the timeline have it. */
        int64_t time_ns = rows[i].time_ns, exclusive_ns = rows[i].exclusive_ns;
        time_add(&time_ns, rows[i].open_ns);
        if (metrics->defs->states[rows[i].state].is_mpi)
            time_add(&exclusive_ns, rows[i].open_ns);
        json_value(json, "time", value_integer(time_ns));
        json_value(json, "exclusive", value_integer(exclusive_ns));
        json_close(json, '}');
    }
    json_close(json, ']');
    free(rows);
    uint64_t bytes, messages = metrics_messages(metrics, &bytes);
    json_value(json, "messages", value_count(messages));
    json_value(json, "bytes", value_bytes(bytes));
}

static void write_part(struct json *json, const char *name, int64_t from_ns, int64_t to_ns)
{
    json_open(json, NULL, '{');
    json_value(json, "name", value_text(name));
    json_value(json, "from", value_integer(from_ns));
    json_value(json, "to", value_integer(to_ns));
    json_close(json, '}');
}

/* Phases, and the iterations of the main loop; a single phase is the run, which needs no mark. */
static void write_course(struct json *json, const struct phase_metrics *course)
{
    json_open(json, "phases", '[');
    for (size_t i = 0; course && course->phase_count > 1 && i < course->phase_count; i++)
        write_part(json, course->phases[i].name, course->phases[i].begin_ns, course->phases[i].end_ns);
    json_close(json, ']');
    json_open(json, "iterations", '[');
    for (size_t i = 0; course && i < course->iterations.row_count; i++) {
        const struct iteration_row *row = &course->iterations.rows[i];
        char name[40];
        if (row->count > 1)
            snprintf(name, sizeof name, "%u–%u", row->first, row->first + row->count - 1);
        else
            snprintf(name, sizeof name, "%u", row->first);
        write_part(json, name, row->begin_ns, row->begin_ns + row->time_ns);
    }
    json_close(json, ']');
}

/* The tree of hypotheses as lines, each with its depth; NULL: there was no search. */
static void write_search(struct json *json, const struct search *search)
{
    /* More lines than that cannot be read, and would make the page slow. */
    enum { SEARCH_LINES = 400 };
    char value[TEXT_NUMBER_SIZE];
    json_open(json, "search", '[');
    for (size_t i = 0; search && i < search->count && i < SEARCH_LINES; i++) {
        const struct search_node *node = &search->nodes[i];
        json_open(json, NULL, '{');
        json_value(json, "depth", value_count(search_depth(search, i)));
        json_value(json, "title", value_text(node->title));
        json_value(json, "state", value_text(search_state_name(node->state)));
        json_value(json, "value", value_text(node->has_value ? search_value_text(value, node) : ""));
        /* True nodes have advice, those without a result a reason; the others speak for themselves. */
        const char *note = node->reason;
        if (!note && node->state == SEARCH_TRUE)
            note = node->advice;
        json_value(json, "note", value_text(note));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_path(struct output *output, const struct view *view, const struct timeline_overlay *overlay)
{
    if (!overlay || overlay->path_count == 0) {
        output_text(output, "null");
        return;
    }
    /* Columns instead of objects: names are written once, not with each of 200,000 pieces. */
    static const char *const names[] = {"row", "from", "to"};
    for (size_t c = 0; c < 3; c++) {
        output_print(output, "%s\"%s\":[", c ? "," : "{", names[c]);
        for (size_t i = 0; i < overlay->path_count; i++) {
            const struct overlay_segment *piece = &overlay->path[i];
            int64_t value = (int64_t)piece->row;
            if (c == 1)
                value = view_time(view, piece->from_ns);
            else if (c == 2)
                value = view_time(view, piece->to_ns);
            output_print(output, "%s%lld", i ? "," : "", (long long)value);
        }
        output_text(output, "]");
    }
    output_text(output, "}");
}

static void write_resources(struct json *json, const struct view_judgement *judgement)
{
    struct resource_sentence sentences[RESOURCE_SENTENCES];
    size_t count = resource_sentences(sentences, judgement->metrics, judgement->findings);
    json_open(json, "resources", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(json, NULL, '{');
        json_value(json, "resource", value_text(sentences[i].resource));
        json_value(json, "text", value_text(sentences[i].text));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void view_write_source(struct output *output, const struct view_judgement *judgement)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    source_write_hottest(&json, "source", judgement->metrics->profile, judgement->trace);
    json_close(&json, '}');
}

/* A run that hung is judged until then: the page shows all of it, and says so. */
static void write_stuck(struct json *json, const struct view_judgement *judgement)
{
    const struct stuck *stuck = judgement->stuck;
    bool hangs = stuck_is_reported(stuck);
    char since[STUCK_LINE_SIZE];
    json_value(json, "stuck", value_text(hangs ? stuck->text : ""));
    json_value(json, "since", value_text(hangs ? stuck_since_text(since, stuck) : ""));
    json_value(json, "duration", value_integer(time_since(judgement->metrics->begin_ns, judgement->metrics->end_ns)));
}

/* More pieces than a picture has pixels for are not sent. */
enum { PATH_PIECES = 200000 };

void view_write_judgement(struct output *output, const struct view *view, const struct view_judgement *judgement)
{
    /* What is around this object was written as text: the writer must not begin with a comma. */
    struct json json = {.output = output, .first = true};
    struct report report = {.input = {.metrics = judgement->metrics, .results = judgement->results},
                            .findings = judgement->findings,
                            .title = view->title};
    char sentence[DIAGNOSIS_SENTENCE_SIZE] = "There are no events in this trace.", note[REPORT_LINE_SIZE];
    char clocks[CLOCK_SENTENCE_SIZE];
    if (judgement->metrics->process_count > 0)
        diagnosis_sentence(sentence, judgement->metrics, judgement->results);
    report_no_findings(&report, note);
    json_open(&json, NULL, '{');
    json_value(&json, "ready", value_bool(true));
    write_stuck(&json, judgement);
    json_value(&json, "sentence", value_text(sentence));
    json_value(&json, "note", value_text(note));
    json_value(&json, "clocks", value_text(clock_sentence(clocks, judgement->metrics, judgement->findings)));
    json_open(&json, "findings", '[');
    for (size_t i = 0; i < judgement->findings->count; i++)
        write_finding(&json, &judgement->findings->finding[i], judgement->metrics);
    json_close(&json, ']');
    write_charts(&json, judgement->metrics);
    write_states(&json, view, judgement->metrics);
    write_course(&json, judgement->metrics->phases);
    write_search(&json, judgement->metrics->search);
    write_resources(&json, judgement);
    json_value(&json, "waits", value_bool(judgement->overlay));
    output_text(output, ",\n\"path\":");
    const struct timeline_overlay *drawn = NULL;
    if (judgement->overlay && judgement->overlay->path_count <= PATH_PIECES)
        drawn = judgement->overlay;
    write_path(output, view, drawn);
    json_close(&json, '}');
}
