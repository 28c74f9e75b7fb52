/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/history_report.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "core/numbers.h"
#include "core/text.h"
#include "render/charts/history_plot.h"
#include "render/field.h"
#include "render/reports/page.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 26, CELL_SIZE = 200, SPARK_COLUMNS = 50 };

/* "8 processes: 120 runs, 2026-01-02 to 2026-11-23" */
static void group_title(const struct history_group *group, char title[CELL_SIZE])
{
    char first[32], last[32];
    history_date(first, group->runs[0]->when);
    history_date(last, group->runs[group->count - 1]->when);
    bool days = strcmp(first, last) != 0;
    snprintf(title, CELL_SIZE, "%s process%s: %s run%s, %s%s%s", text_number(group->processes).text,
             text_plural(group->processes, "", "es"), text_number(group->count).text,
             text_plural(group->count, "", "s"), first, days ? " to " : "", days ? last : "");
}

static void text_changes(struct output *output, const struct history_group *group)
{
    bool any = false;
    for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
        for (size_t i = 0; i < group->series[number].change_count; i++) {
            const struct change_point *change = &group->series[number].changes[i];
            char date[32], size[32], before[32], after[32], text[CELL_SIZE + 200];
            snprintf(text, sizeof text, "%s  %s %s (%s to %s), since run %s, %.100s: %s",
                     history_date(date, group->runs[change->at]->when), history_number_title(number),
                     history_change(size, number, change), history_value(before, number, change->before),
                     history_value(after, number, change->after), text_number(change->at + 1).text,
                     group->runs[change->at]->name, history_is_worse(number, change) ? "worse" : "better");
            paragraph_write(output, "  ", "              ", text);
            any = true;
        }
    if (!any) {
        const char *none = "  No level changed.\n";
        /* A change needs so many runs on either side to be more than chance. */
        if (group->count < 2 * CHANGE_POINT_SIDE)
            none = "  Too few runs to see a change.\n";
        output_text(output, none);
    }
}

/* The course of the times in one line of blocks, each the mean of some runs. */
static void text_course(struct output *output, const struct history_group *group)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t columns = smaller(group->count, SPARK_COLUMNS);
    if (columns < 2) /* a course needs two */
        return;
    double means[SPARK_COLUMNS], low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < columns; i++) {
        /* Rounded alike, so that every run is in one column and none in two. */
        size_t from = i * group->count / columns, to = (i + 1) * group->count / columns;
        means[i] = 0;
        for (size_t k = from; k < to; k++)
            means[i] += group->runs[k]->numbers[HISTORY_time_s] / (double)(to - from);
        low = fmin(low, means[i]);
        high = fmax(high, means[i]);
    }
    char least[32], most[32];
    output_text(output, "  time  ");
    for (size_t i = 0; i < columns; i++) {
        /* Just below 8, so that the largest is the last block, not one beyond it. Equal times are in the middle. */
        size_t block = 3;
        if (high > low)
            block = (size_t)((means[i] - low) / (high - low) * 7.999);
        output_text(output, blocks[block]);
    }
    output_print(output, "  %s to %s\n", history_value(least, HISTORY_time_s, low),
                 history_value(most, HISTORY_time_s, high));
}

static void text_runs(struct output *output, const struct history_group *group, size_t rows)
{
    struct text_table *table = text_table_columns(6);
    static const char *const titles[] = {"date", "run", "time", "efficiency", "balance", "communication"};
    /* The latest runs are at the end, where people read on a terminal. */
    size_t first = 0;
    if (group->count > rows)
        first = group->count - rows;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        text_table_cell(table, titles[i], i < 2);
    for (size_t i = first; i < group->count; i++) {
        char cell[CELL_SIZE];
        text_table_cell(table, history_date(cell, group->runs[i]->when), true);
        text_for_terminal(cell, sizeof cell, group->runs[i]->name, NAME_COLUMNS);
        text_table_cell(table, cell, true);
        for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
            text_table_cell(table, history_value(cell, number, group->runs[i]->numbers[number]), false);
    }
    text_table_print(table, output, "  ");
    text_rest_write(output, group->count - first, group->count);
}

static void say_skipped(char text[CELL_SIZE], size_t skipped)
{
    snprintf(text, CELL_SIZE, "%s other file%s: no run%s.", text_number(skipped).text, text_plural(skipped, "", "s"),
             text_plural(skipped, "", "s"));
}

void history_write_text(struct output *output, const struct history *history, const char *title, size_t skipped,
                        size_t rows)
{
    char text[CELL_SIZE], shown[CELL_SIZE];
    text_for_terminal(shown, sizeof shown, title, 60);
    output_print(output, "%s\n", shown);
    for (size_t i = 0; i < history->group_count; i++) {
        const struct history_group *group = &history->groups[i];
        group_title(group, text);
        output_print(output, "\n%s\n", text);
        text_course(output, group);
        text_changes(output, group);
        output_text(output, "\n");
        text_runs(output, group, rows);
    }
    say_skipped(text, skipped);
    if (skipped > 0)
        output_print(output, "\n%s\n", text);
}

static void date_time(time_t when, char text[32])
{
    struct tm parts;
    /* Programs read JSON: UTC, whatever the zone of the machine that made it. */
    if (!gmtime_r(&when, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        *text = '\0';
}

static void json_runs(struct json *json, const struct history_group *group)
{
    json_open(json, "runs", '[');
    for (size_t i = 0; i < group->count; i++) {
        char date[32];
        date_time(group->runs[i]->when, date);
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(group->runs[i]->name));
        json_value(json, "date", value_text(date));
        json_value(json, "complete", value_bool(group->runs[i]->complete));
        for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
            json_value(json, history_number_id(number), value_ratio(group->runs[i]->numbers[number]));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_changes(struct json *json, const struct history_group *group)
{
    json_open(json, "changes", '[');
    for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
        for (size_t i = 0; i < group->series[number].change_count; i++) {
            const struct change_point *change = &group->series[number].changes[i];
            json_open(json, NULL, '{');
            json_value(json, "id", value_text(history_number_id(number)));
            json_value(json, "run", value_count(change->at));
            json_value(json, "name", value_text(group->runs[change->at]->name));
            json_value(json, "before", value_ratio(change->before));
            json_value(json, "after", value_ratio(change->after));
            json_value(json, "p", value_ratio(change->p));
            json_value(json, "change", value_text(history_is_worse(number, change) ? "worse" : "better"));
            json_close(json, '}');
        }
    json_close(json, ']');
}

void history_write_json(struct output *output, const struct history *history, size_t skipped)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-history/1"));
    json_value(&json, "skipped", value_count(skipped));
    json_open(&json, "groups", '[');
    for (size_t i = 0; i < history->group_count; i++) {
        json_open(&json, NULL, '{');
        json_value(&json, "processes", value_count(history->groups[i].processes));
        json_runs(&json, &history->groups[i]);
        json_changes(&json, &history->groups[i]);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void html_plot(struct output *output, const struct history_group *group, enum history_number number)
{
    char prefix[64], answer[HISTORY_ANSWER_SIZE];
    /* Names must differ between the plots of one page. */
    snprintf(prefix, sizeof prefix, "h%u-%d", group->processes, (int)number);
    history_plot_answer(group, number, answer);
    struct canvas_options options = {
        .theme = THEME_PAGE, .prefix = prefix, .title = answer, .description = "a dot for each run, over time"};
    output_text(output, "<figure>\n");
    struct canvas *canvas = canvas_new(CANVAS_SVG, output, HISTORY_PLOT_WIDTH, HISTORY_PLOT_HEIGHT, &options);
    /* Without memory for a canvas the page has no plot; the output knows why. */
    if (canvas) {
        history_plot_draw(canvas, group, number);
        canvas_free(canvas);
    }
    output_text(output, "</figure>\n");
}

static void html_runs(struct output *output, const struct history_group *group)
{
    output_text(output, "<div class=\"wide\"><table>\n<thead><tr>");
    page_th(output, "date", true);
    page_th(output, "run", true);
    for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
        page_th(output, history_number_title(number), false);
    output_text(output, "</tr></thead>\n<tbody>\n");
    /* The latest run first: that is what the page is opened for. */
    for (size_t i = group->count; i-- > 0;) {
        char cell[32], raw[32];
        output_text(output, "<tr>");
        page_td(output, history_date(cell, group->runs[i]->when), NULL, true);
        page_td(output, group->runs[i]->name, NULL, true);
        for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++) {
            double value = group->runs[i]->numbers[number];
            snprintf(raw, sizeof raw, "%.9g", value);
            page_td(output, history_value(cell, number, value), raw, false);
        }
        output_text(output, "</tr>\n");
    }
    page_table_end(output);
}

void history_write_html(struct output *output, const struct history *history, const char *title, size_t skipped)
{
    char text[CELL_SIZE];
    page_begin(output, "SIGHT history", NULL);
    page_element(output, "<header>\n<h1>", title, "</h1>\n</header>\n<main>\n");
    for (size_t i = 0; i < history->group_count; i++) {
        const struct history_group *group = &history->groups[i];
        group_title(group, text);
        page_element(output, "<h2>", text, "</h2>\n");
        for (enum history_number number = 0; number < HISTORY_NUMBER_COUNT; number++)
            html_plot(output, group, number);
        html_runs(output, group);
    }
    say_skipped(text, skipped);
    if (skipped > 0)
        page_element(output, "<p class=\"muted\">", text, "</p>\n");
    output_text(output, "</main>\n<footer class=\"muted\">Made by SIGHT " PACKAGE_VERSION
                        ". Lines are levels; a change is shown where chance explains it in less than one series of a "
                        "hundred.</footer>\n");
    page_end(output, NULL);
}
