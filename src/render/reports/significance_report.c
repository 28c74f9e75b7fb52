/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/significance_report.h"

#include "core/numbers.h"
#include "core/text.h"
#include "render/reports/page.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 30, HTML_ROWS = 200 };

void significance_p(double p, char cell[SIGNIFICANCE_CELL_SIZE])
{
    /* More digits than three would claim more than so few runs can show. */
    if (p < 0.001)
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "< 0.001");
    else
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%.3f", p);
}

void significance_change(const struct tested *tested, double change, char cell[SIGNIFICANCE_CELL_SIZE])
{
    const char *sign = change < 0 ? "−" : "+";
    double size = fabs(change);
    bool is_share = tested->kind <= TESTED_QUANTITY && quantity_at(tested->quantity)->unit == QUANTITY_SHARE;
    bool is_time = tested->kind > TESTED_QUANTITY || quantity_at(tested->quantity)->unit == QUANTITY_SECONDS;
    char number[TEXT_NUMBER_SIZE];
    /* From four times on people think in factors. */
    if (tested->is_relative && size >= 3)
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%.*f times", size < 9 ? 1 : 0, 1 + change);
    else if (tested->is_relative)
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%.*f %%", sign, size < 0.0995 ? 1 : 0, size * 100);
    else if (is_share)
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%.1f points", sign, size * 100);
    else if (is_time && isfinite(size))
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%s", sign, text_duration(number, llround(fmin(size, 9e9) * 1e9)));
    else
        snprintf(cell, SIGNIFICANCE_CELL_SIZE, "%s%.4g", sign, size);
}

void significance_interval(const struct tested *tested, char cell[SIGNIFICANCE_INTERVAL_SIZE])
{
    char low[SIGNIFICANCE_CELL_SIZE], high[SIGNIFICANCE_CELL_SIZE];
    *cell = '\0';
    if (!isfinite(tested->low) || !isfinite(tested->high))
        return;
    significance_change(tested, tested->low, low);
    significance_change(tested, tested->high, high);
    /* The unit once. */
    char *unit = strstr(low, " points");
    if (unit)
        *unit = '\0';
    snprintf(cell, SIGNIFICANCE_INTERVAL_SIZE, "%s to %s", low, high);
}

/* "3 runs of each", "3 and 5 runs": part of the answer, as three of each can show little. */
static void runs_text(const struct significance *significance, char text[80])
{
    if (significance->before == 1 && significance->after == 1)
        snprintf(text, 80, "Single runs");
    else if (significance->before == significance->after)
        snprintf(text, 80, "%zu runs of each", significance->before);
    else
        snprintf(text, 80, "%zu and %zu runs", significance->before, significance->after);
}

/* Single runs have no variance: it is not known how many show their change, which may be large. */
static const double HARDLY = 0.02;

/* How many runs a difference of this size takes. */
static void say_needed(const struct tested *run, size_t have, char sentence[SIGNIFICANCE_SENTENCE_SIZE])
{
    char change[SIGNIFICANCE_CELL_SIZE];
    significance_change(run, run->change, change);
    if (run->runs_needed > have)
        text_append(sentence, SIGNIFICANCE_SENTENCE_SIZE,
                    " To show one as large as the %s seen takes about %s of each.", change,
                    text_number(run->runs_needed).text);
    else if (run->runs_needed == 0 && fabs(run->change) < HARDLY)
        text_append(sentence, SIGNIFICANCE_SENTENCE_SIZE, " The means hardly differ.");
    else if (run->runs_needed == 0)
        text_append(sentence, SIGNIFICANCE_SENTENCE_SIZE, " The change seen is %s.", change);
}

static void say_run(const struct significance *significance, const char *before, const char *after,
                    char sentence[SIGNIFICANCE_SENTENCE_SIZE])
{
    const struct tested *run = &significance->tested[0];
    char change[SIGNIFICANCE_CELL_SIZE], interval[SIGNIFICANCE_INTERVAL_SIZE], p[SIGNIFICANCE_CELL_SIZE], runs[80];
    significance_interval(run, interval);
    significance_p(run->p, p);
    runs_text(significance, runs);
    significance_change(run, run->change, change);
    if (run->is_shown) {
        /* The sentence has the direction in its words: the sign is left out. */
        const char *size = change;
        if (strncmp(change, "−", strlen("−")) == 0)
            size += strlen("−");
        else if (*change == '+')
            size++;
        const char *than = "less time than";
        if (run->change > 0)
            than = "longer than";
        if (size == change) /* "1.5 times" has no sign */
            than = "as long as";
        snprintf(sentence, SIGNIFICANCE_SENTENCE_SIZE, "%s takes %s %s %s (95 %% interval %s; p %s%s).", after, size,
                 than, before, interval, *p == '<' ? "" : "= ", p);
        return;
    }
    snprintf(sentence, SIGNIFICANCE_SENTENCE_SIZE, "%s do not show that one takes longer: %s (95 %% interval %s).",
             runs, change, interval);
    /* The smaller group limits what the test can show. */
    size_t have = smaller(significance->before, significance->after);
    say_needed(run, have, sentence);
}

void significance_sentence(const struct significance *significance, const char *before, const char *after,
                           char sentence[SIGNIFICANCE_SENTENCE_SIZE])
{
    char first[80], second[80], runs[80];
    text_for_terminal(first, sizeof first, before, 40);
    text_for_terminal(second, sizeof second, after, 40);
    runs_text(significance, runs);
    if (significance->is_possible) {
        say_run(significance, first, second, sentence);
        if (significance->shown > 0)
            text_append(sentence, SIGNIFICANCE_SENTENCE_SIZE, " %zu of %zu numbers differ.", significance->shown,
                        significance->count);
        else
            text_append(sentence, SIGNIFICANCE_SENTENCE_SIZE, " None of %zu numbers differs.", significance->count);
        return;
    }
    /* With fewer runs no result of the test could be below 5 %, whatever the times. */
    snprintf(sentence, SIGNIFICANCE_SENTENCE_SIZE, "%s cannot show a difference; %zu of each can.", runs,
             significance_runs_least(2));
    say_needed(&significance->tested[0], significance_runs_least(2), sentence);
}

static void text_parts(struct output *output, const struct significance *significance, size_t rows)
{
    struct text_table *table = text_table_columns(5);
    static const char *const titles[] = {"what differs", "change", "95 % interval", "effect", "p"};
    size_t shown = 0;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        text_table_cell(table, titles[i], i == 0);
    for (size_t i = 0; i < significance->count && shown < rows; i++) {
        const struct tested *tested = &significance->tested[i];
        char name[TESTED_NAME_SIZE], cell[SIGNIFICANCE_INTERVAL_SIZE], title[4 * NAME_COLUMNS];
        if (!tested->is_shown)
            continue;
        text_for_terminal(title, sizeof title, tested_name(name, tested), NAME_COLUMNS);
        text_table_cell(table, title, true);
        significance_change(tested, tested->change, cell);
        text_table_cell(table, cell, false);
        significance_interval(tested, cell);
        text_table_cell(table, cell, false);
        snprintf(cell, sizeof cell, "%.1f", fabs(tested->effect));
        text_table_cell(table, cell, false);
        significance_p(tested->p, cell);
        text_table_cell(table, cell, false);
        shown++;
    }
    text_table_print(table, output, "  ");
    for (size_t i = 0; i < significance->count; i++)
        if (significance->tested[i].is_shown && significance->tested[i].is_share) {
            output_text(output, "  (share): compared with the other computing of the same run\n");
            break;
        }
    text_rest_write(output, shown, significance->shown);
}

void significance_write_text(struct output *output, const struct significance *significance, const char *before,
                             const char *after, size_t rows)
{
    char sentence[SIGNIFICANCE_SENTENCE_SIZE];
    significance_sentence(significance, before, after, sentence);
    output_text(output, "\nIs it noise?\n");
    paragraph_write(output, "  ", "  ", sentence);
    if (significance->shown > 0)
        text_parts(output, significance, rows);
}

/* Numbers of a process have its rank instead: NULL. */
static const char *id_of(const struct tested *tested)
{
    if (tested->kind == TESTED_COMPUTING || tested->kind == TESTED_COMMUNICATION)
        return NULL;
    if (tested->kind <= TESTED_QUANTITY)
        return quantity_at(tested->quantity)->id;
    return tested->name;
}

static void json_tested(struct json *json, const struct tested *tested)
{
    /* The kinds from here on are numbers of a process. */
    bool has_rank = tested->kind >= TESTED_COMPUTING;
    json_open(json, NULL, '{');
    json_value(json, "kind", value_text(tested_kind_name(tested->kind)));
    json_value(json, "name", value_text(id_of(tested)));
    json_value(json, "rank", value_if(has_rank, value_count(tested->rank)));
    json_value(json, "before", value_ratio(tested->mean));
    json_value(json, "after", value_ratio(tested->now));
    json_value(json, "relative", value_bool(tested->is_relative));
    json_value(json, "share", value_bool(tested->is_share));
    json_value(json, "change", value_ratio(tested->change));
    json_value(json, "low", value_finite(tested->low));
    json_value(json, "high", value_finite(tested->high));
    json_value(json, "effect", value_finite(tested->effect));
    json_value(json, "p", value_ratio(tested->p));
    json_value(json, "significant", value_bool(tested->is_shown));
    json_value(json, "runs_needed", value_if(tested->runs_needed, value_count(tested->runs_needed)));
    json_close(json, '}');
}

void significance_write_json(struct json *json, const struct significance *significance, const char *after)
{
    json_open(json, NULL, '{');
    json_value(json, "version", value_text(after));
    json_value(json, "possible", value_bool(significance->is_possible));
    json_value(json, "level", value_ratio(SIGNIFICANCE_LEVEL));
    json_open(json, "numbers", '[');
    for (size_t i = 0; i < significance->count; i++)
        json_tested(json, &significance->tested[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void significance_write_html(struct output *output, const struct significance *significance, const char *before,
                             const char *after)
{
    char sentence[SIGNIFICANCE_SENTENCE_SIZE], raw[32];
    size_t shown = 0;
    significance_sentence(significance, before, after, sentence);
    page_element(output, "<h2>Is it noise?</h2>\n<p>", sentence, "</p>\n");
    if (significance->shown == 0)
        return;
    output_text(output, "<div class=\"wide\"><table>\n<thead><tr>");
    page_th(output, "what differs", true);
    page_th(output, "change", false);
    page_th(output, "95 % interval", false);
    page_th(output, "effect", false);
    page_th(output, "p", false);
    output_text(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < significance->count && shown < HTML_ROWS; i++) {
        const struct tested *tested = &significance->tested[i];
        char name[TESTED_NAME_SIZE], cell[SIGNIFICANCE_INTERVAL_SIZE];
        if (!tested->is_shown)
            continue;
        output_text(output, "<tr>");
        page_td(output, tested_name(name, tested), NULL, true);
        significance_change(tested, tested->change, cell);
        /* The page sorts by the number: cells have units and words. */
        snprintf(raw, sizeof raw, "%.9g", tested->change);
        page_td(output, cell, raw, false);
        significance_interval(tested, cell);
        page_td(output, cell, NULL, false);
        snprintf(cell, sizeof cell, "%.1f", fabs(tested->effect));
        page_td(output, cell, cell, false);
        snprintf(raw, sizeof raw, "%.9g", tested->p);
        significance_p(tested->p, cell);
        page_td(output, cell, raw, false);
        output_text(output, "</tr>\n");
        shown++;
    }
    page_table_end(output);
}
