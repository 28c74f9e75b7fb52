/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/compare_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/reports/gate_report.h"
#include "render/reports/significance_report.h"
#include "render/terminal.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 256, NAME_COLUMNS = 60 };

/* A version's name as a terminal can show it, cut between characters. */
static char *short_name(char name[NAME_SIZE], const struct version *version)
{
    text_for_terminal(name, NAME_SIZE, version->name, NAME_COLUMNS);
    return name;
}

void compare_sentence(const struct comparison *comparison, size_t version, char sentence[COMPARE_SENTENCE_SIZE])
{
    struct averaged first = comparison_quantity(comparison, 0, 0), now = comparison_quantity(comparison, version, 0);
    char name[NAME_SIZE], before[NAME_SIZE];
    short_name(name, &comparison->versions[version]);
    short_name(before, &comparison->versions[0]);
    char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE], times[64];
    seconds_text(from, first.mean);
    seconds_text(to, now.mean);
    enum change change = comparison_change(comparison, version, 0);
    bool better = change == CHANGE_BETTER;
    double ratio = now.mean / first.mean;
    if (better)
        ratio = first.mean / now.mean;
    if (change == CHANGE_SAME || first.mean <= 0 || now.mean <= 0) {
        snprintf(sentence, COMPARE_SENTENCE_SIZE, "%s takes as long as %s: %s and %s.", name, before, to, from);
        return;
    }
    /* From "2.0 times" on, as it is rounded: below, per cent say more. */
    if (ratio >= 1.995)
        snprintf(times, sizeof times, "%s times as %s as", text_times(number, ratio), better ? "fast" : "slow");
    else
        snprintf(times, sizeof times, "%.0f %% %s than", (ratio - 1) * 100, better ? "faster" : "slower");
    snprintf(sentence, COMPARE_SENTENCE_SIZE, "%s is %s %s: %s instead of %s.", name, times, before, to, from);
}

void compare_hang_sentence(const struct version *version, char sentence[COMPARE_SENTENCE_SIZE])
{
    char name[NAME_SIZE], some[100] = "";
    size_t stuck = 0;
    bool beyond = false;
    for (size_t i = 0; i < version->run_count; i++) {
        const struct metrics *metrics = version->runs[i];
        stuck += metrics->stuck != NULL;
        beyond |= metrics->stuck && metrics->stuck->beyond;
    }
    *sentence = '\0';
    if (stuck == 0)
        return;
    short_name(name, version);
    if (version->run_count > 1)
        snprintf(some, sizeof some, "%s of %s runs of ", text_number(stuck).text, text_number(version->run_count).text);
    snprintf(sentence, COMPARE_SENTENCE_SIZE, "%s%s did not finish; sight TRACE says why.%s", some, name,
             beyond ? "" : " What is compared is the time before.");
}

static char *unit_text(char *buffer, double value, enum quantity_unit unit)
{
    switch (unit) {
    case QUANTITY_SECONDS:
        return seconds_text(buffer, value);
    case QUANTITY_SHARE:
        return text_share(buffer, value);
    case QUANTITY_BYTES:
        /* Means of counts are rounded: half a message is no message. */
        return text_bytes(buffer, (uint64_t)(value + 0.5));
    default:
        return text_thousands(buffer, (uint64_t)(value + 0.5));
    }
}

void compare_value(struct averaged value, enum quantity_unit unit, size_t runs, char cell[COMPARE_CELL_SIZE])
{
    char mean[TEXT_NUMBER_SIZE], least[TEXT_NUMBER_SIZE], most[TEXT_NUMBER_SIZE];
    unit_text(mean, value.mean, unit);
    /* A range of one run, or of equal ones, says nothing. */
    if (runs > 1 && value.most > value.least)
        snprintf(cell, COMPARE_CELL_SIZE, "%s (%s to %s)", mean, unit_text(least, value.least, unit),
                 unit_text(most, value.most, unit));
    else
        snprintf(cell, COMPARE_CELL_SIZE, "%s", mean);
}

void compare_change(struct averaged first, struct averaged now, enum change change, char cell[COMPARE_CELL_SIZE])
{
    double percent = 0;
    if (first.mean != 0)
        percent = (now.mean - first.mean) / first.mean * 100;
    /* Nearly -100 % must not be rounded to -100 %. */
    int decimals = 0;
    if (fabs(percent) < 9.95 || (percent < -99 && percent > -99.95))
        decimals = 1;
    /* Nothing can be a share of 0. */
    if (change == CHANGE_SAME)
        snprintf(cell, COMPARE_CELL_SIZE, "=");
    else if (first.mean == 0)
        snprintf(cell, COMPARE_CELL_SIZE, "new");
    else if (percent >= 300)
        snprintf(cell, COMPARE_CELL_SIZE, "%.*f times", percent < 895 ? 1 : 0, percent / 100 + 1);
    else
        snprintf(cell, COMPARE_CELL_SIZE, "%s%.*f %%", percent < 0 ? "−" : "+", decimals, fabs(percent));
}

void compare_seconds(struct averaged seconds, bool there, size_t runs, char cell[COMPARE_CELL_SIZE])
{
    if (there)
        compare_value(seconds, QUANTITY_SECONDS, runs, cell);
    else
        snprintf(cell, COMPARE_CELL_SIZE, "–");
}

struct ordered {
    double moved;
    size_t at;
};

static int by_move(const void *a, const void *b)
{
    const struct ordered *left = a, *right = b;
    if (left->moved != right->moved)
        return order_by(right->moved, left->moved);
    return order_by(left->at, right->at);
}

static int by_place(const void *a, const void *b)
{
    const size_t *left = a, *right = b;
    return order_by(*left, *right);
}

size_t *compare_processes_most(const struct comparison *comparison, size_t most, size_t *count)
{
    /* Of several versions the last is compared with the first: those between are steps on the way. */
    size_t all = comparison->process_count, last = comparison->version_count - 1;
    *count = smaller(all, most);
    struct ordered *ordered = memory_new(all * sizeof *ordered);
    size_t *places = memory_new(*count * sizeof *places);
    for (size_t i = 0; i < all; i++) {
        const struct compared_process *process = &comparison->processes[i];
        bool in_both = process->total[0].mean > 0 && process->total[last].mean > 0;
        double moved = fabs(process->compute[last].mean - process->compute[0].mean) +
                       fabs(process->communication[last].mean - process->communication[0].mean);
        /* A process that one version does not have would always have changed most. */
        ordered[i] = (struct ordered){in_both ? moved : -1, i};
    }
    if (all > 0)
        qsort(ordered, all, sizeof *ordered, by_move);
    for (size_t i = 0; i < *count; i++)
        places[i] = ordered[i].at;
    /* In the order of ranks again, which is how processes are looked up. */
    if (*count > 0)
        qsort(places, *count, sizeof *places, by_place);
    free(ordered);
    return places;
}

/* Text */

static void version_titles(struct text_table *table, const struct comparison *comparison, const char *first,
                           const char *before)
{
    char title[COMPARE_CELL_SIZE], name[NAME_SIZE];
    text_table_cell(table, first, true);
    for (size_t v = 0; v < comparison->version_count; v++) {
        snprintf(title, sizeof title, "%s%s", before, short_name(name, &comparison->versions[v]));
        text_table_cell(table, title, false);
    }
}

/* Of what changed; NULL: plain. */
static const char *change_style(enum change change, bool colour)
{
    if (!colour)
        return NULL;
    if (change == CHANGE_BETTER)
        return TERMINAL_GREEN;
    if (change == CHANGE_WORSE)
        return TERMINAL_RED;
    return NULL;
}

/* `ranges`: of the runs beside their means; where they are tested, intervals stand above. */
static void text_quantities(struct output *output, const struct comparison *comparison, bool ranges, bool colour)
{
    size_t versions = comparison->version_count;
    struct text_table *table = text_table_columns(1 + versions + 2 * (versions - 1));
    char cell[COMPARE_CELL_SIZE];
    version_titles(table, comparison, "", "");
    for (size_t v = 1; v < versions; v++) {
        text_table_cell(table, "change", false);
        text_table_cell(table, "", true);
    }
    for (size_t i = 0; i < quantity_count(); i++) {
        const struct quantity *quantity = quantity_at(i);
        struct averaged first = comparison_quantity(comparison, 0, i);
        text_table_cell(table, quantity->title, true);
        for (size_t v = 0; v < versions; v++) {
            compare_value(comparison_quantity(comparison, v, i), quantity->unit,
                          ranges ? comparison->versions[v].run_count : 1, cell);
            text_table_cell(table, cell, false);
        }
        for (size_t v = 1; v < versions; v++) {
            struct averaged now = comparison_quantity(comparison, v, i);
            enum change change = comparison_change(comparison, v, i);
            compare_change(first, now, change, cell);
            /* Number and word have columns of their own: the table then aligns the words. */
            text_table_cell(table, cell, false);
            text_table_style(table, change_style(change, colour));
            bool judged = change == CHANGE_BETTER || change == CHANGE_WORSE;
            text_table_cell(table, judged ? change_name(change) : "", true);
            text_table_style(table, change_style(change, colour));
        }
    }
    heading_write(output, "The whole run");
    text_table_print(table, output, "  ");
}

static void text_functions(struct output *output, const struct comparison *comparison, bool ranges, size_t rows,
                           bool colour)
{
    size_t versions = comparison->version_count;
    struct text_table *table = text_table_columns(1 + versions + 1);
    char cell[COMPARE_CELL_SIZE];
    version_titles(table, comparison, "function", "");
    text_table_cell(table, "change", false);
    for (size_t i = 0; i < comparison->function_count && i < rows; i++) {
        const struct compared_function *function = &comparison->functions[i];
        char name[80];
        /* Names of C++ and Fortran may be longer than the screen. */
        text_for_terminal(name, sizeof name, function->name, 40);
        text_table_cell(table, name, true);
        for (size_t v = 0; v < versions; v++) {
            compare_seconds(function->seconds[v], function->calls[v].mean > 0,
                            ranges ? comparison->versions[v].run_count : 1, cell);
            text_table_cell(table, cell, false);
        }
        compare_change(function->seconds[0], function->seconds[versions - 1], function->changes[versions - 1], cell);
        text_table_cell(table, cell, false);
        text_table_style(table, change_style(function->changes[versions - 1], colour));
    }
    heading_write(output, "Functions and states: exclusive time of all processes, largest change first");
    text_table_print(table, output, "  ");
    text_rest_write(output, rows, comparison->function_count);
}

static void text_processes(struct output *output, const struct comparison *comparison, size_t rows)
{
    size_t count, *places = compare_processes_most(comparison, rows, &count);
    struct text_table *table = text_table_columns(1 + 2 * comparison->version_count);
    char cell[COMPARE_CELL_SIZE], name[NAME_SIZE];
    /* Computing and MPI in the first row of titles, the versions in the second. */
    text_table_titles(table, 2);
    text_table_cell(table, "", false);
    for (int communication = 0; communication < 2; communication++)
        for (size_t v = 0; v < comparison->version_count; v++) {
            const char *what = communication ? "in MPI" : "computing";
            text_table_cell(table, v > 0 ? "" : what, false); /* once above its versions */
        }
    text_table_cell(table, "process", false);
    for (int communication = 0; communication < 2; communication++)
        for (size_t v = 0; v < comparison->version_count; v++)
            text_table_cell(table, short_name(name, &comparison->versions[v]), false);
    for (size_t i = 0; i < count; i++) {
        const struct compared_process *process = &comparison->processes[places[i]];
        text_table_cell(table, text_thousands(cell, process->rank), false);
        for (int communication = 0; communication < 2; communication++)
            for (size_t v = 0; v < comparison->version_count; v++) {
                const struct averaged *times = communication ? process->communication : process->compute;
                compare_seconds(times[v], process->total[v].mean > 0, 1, cell);
                text_table_cell(table, cell, false);
            }
    }
    heading_write(output, "Processes");
    text_table_print(table, output, "  ");
    text_rest_write(output, rows, comparison->process_count);
    free(places);
}

/* What happened to a finding from the first version to the last. */
static const char *finding_word(const struct finding_change *change, size_t last)
{
    if (change->runs[0] == 0)
        return "new";
    if (change->runs[last] == 0)
        return "gone";
    if (change->changes[last] == CHANGE_SAME)
        return "same";
    return change->changes[last] == CHANGE_WORSE ? "more" : "less";
}

/* What follows from another finding comes and goes with it, and of three versions one may be in the middle alone. */
static bool is_shown(const struct finding_change *change, size_t last)
{
    return !change->finding->root && change->runs[0] + change->runs[last] > 0;
}

static void text_finding(struct output *output, const struct finding_change *change, size_t last, bool colour)
{
    const char *word = finding_word(change, last), *style = change_style(change->changes[last], colour);
    char begin[16], text[640], now[TEXT_NUMBER_SIZE], before[TEXT_NUMBER_SIZE];
    seconds_text(before, change->saving_s[0].mean);
    seconds_text(now, change->saving_s[last].mean);
    bool one = change->runs[0] == 0 || change->runs[last] == 0 || change->changes[last] == CHANGE_SAME;
    if (change->finding->risk)
        snprintf(text, sizeof text, "%s", change->finding->title);
    else if (one)
        snprintf(text, sizeof text, "%s: %s", change->finding->title, change->runs[last] > 0 ? now : before);
    else
        snprintf(text, sizeof text, "%s: %s instead of %s", change->finding->title, now, before);
    snprintf(begin, sizeof begin, "  %-4s  ", word);
    /* Around the whole: in the first line it would count as text. */
    output_text(output, style ? style : "");
    paragraph_write(output, begin, "        ", text);
    output_text(output, style ? TERMINAL_PLAIN : "");
}

static void text_findings(struct output *output, const struct compare_report *report, size_t rows, bool colour)
{
    const struct finding_changes *changes = report->changes;
    size_t last = report->comparison->version_count - 1, shown = 0;
    for (size_t i = 0; i < changes->count; i++)
        shown += is_shown(&changes->change[i], last);
    if (shown == 0)
        return;
    heading_write(output, last > 1 ? "Findings, and what each could save: the last version against the first"
                                   : "Findings, and what each could save");
    for (size_t i = 0, written = 0; i < changes->count && written < rows; i++)
        if (is_shown(&changes->change[i], last)) {
            text_finding(output, &changes->change[i], last, colour);
            written++;
        }
    text_rest_write(output, rows, shown);
}

void compare_write_text(struct output *output, const struct compare_report *report, size_t rows, bool colour)
{
    const struct comparison *comparison = report->comparison;
    const struct significance *significance = report->significance;
    char sentence[COMPARE_SENTENCE_SIZE];
    for (size_t v = 1; v < comparison->version_count; v++) {
        compare_sentence(comparison, v, sentence);
        if (colour)
            output_text(output, TERMINAL_BOLD);
        paragraph_write(output, "", "", sentence);
        if (colour)
            output_text(output, TERMINAL_PLAIN);
    }
    for (size_t v = 0; v < comparison->version_count; v++) {
        compare_hang_sentence(&comparison->versions[v], sentence);
        if (*sentence)
            paragraph_write(output, "", "", sentence);
    }
    if (comparison->sizes_differ)
        paragraph_write(output, "", "",
                        "The numbers of processes differ: a process does not do the same work in each version.");
    for (size_t v = 1; significance && v < comparison->version_count; v++)
        significance_write_text(output, &significance[v - 1], comparison->versions[0].name,
                                comparison->versions[v].name, rows);
    if (report->gate)
        gate_write_text(output, report->gate);
    text_findings(output, report, rows, colour);
    /* Where a test was made, its intervals replace the ranges of the runs. */
    text_quantities(output, comparison, !significance, colour);
    if (comparison->function_count > 0)
        text_functions(output, comparison, !significance, rows, colour);
    if (comparison->process_count > 0)
        text_processes(output, comparison, rows);
}

/* JSON */

static void json_averaged(struct json *json, const char *key, struct averaged value)
{
    json_open(json, key, '{');
    /* As numbers in the unit of their name, not as texts: other programs compute with them. */
    json_value(json, "mean", value_ratio(value.mean));
    json_value(json, "least", value_ratio(value.least));
    json_value(json, "most", value_ratio(value.most));
    json_close(json, '}');
}

static void json_averages(struct json *json, const char *key, const struct averaged *values, size_t count)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_averaged(json, NULL, values[i]);
    json_close(json, ']');
}

static void json_quantities(struct json *json, const struct comparison *comparison)
{
    json_open(json, "quantities", '[');
    for (size_t i = 0; i < quantity_count(); i++) {
        const struct quantity *quantity = quantity_at(i);
        json_open(json, NULL, '{');
        json_value(json, "id", value_text(quantity->id));
        json_value(json, "title", value_text(quantity->title));
        json_open(json, "versions", '[');
        for (size_t v = 0; v < comparison->version_count; v++)
            json_averaged(json, NULL, comparison_quantity(comparison, v, i));
        json_close(json, ']');
        json_open(json, "changes", '[');
        for (size_t v = 1; v < comparison->version_count; v++)
            json_value(json, NULL, value_text(change_name(comparison_change(comparison, v, i))));
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_functions(struct json *json, const struct comparison *comparison)
{
    json_open(json, "functions", '[');
    for (size_t i = 0; i < comparison->function_count; i++) {
        const struct compared_function *function = &comparison->functions[i];
        json_open(json, NULL, '{');
        json_value(json, "name", value_text(function->name));
        json_value(json, "class", value_text(function_class_name(function->class)));
        json_averages(json, "exclusive_s", function->seconds, comparison->version_count);
        json_averages(json, "count", function->calls, comparison->version_count);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* All processes, whatever is shown as text: programs choose for themselves. */
static void json_processes(struct json *json, const struct comparison *comparison)
{
    json_open(json, "processes", '[');
    for (size_t i = 0; i < comparison->process_count; i++) {
        const struct compared_process *process = &comparison->processes[i];
        json_open(json, NULL, '{');
        json_value(json, "rank", value_count(process->rank));
        json_averages(json, "compute_s", process->compute, comparison->version_count);
        json_averages(json, "communication_s", process->communication, comparison->version_count);
        json_averages(json, "total_s", process->total, comparison->version_count);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Those that follow from others, too; null: they are not known. */
static void json_findings(struct json *json, const struct compare_report *report)
{
    const struct finding_changes *changes = report->changes;
    size_t versions = report->comparison->version_count;
    if (!changes->known) {
        json_value(json, "findings", value_null());
        return;
    }
    json_open(json, "findings", '[');
    for (size_t i = 0; i < changes->count; i++) {
        const struct finding_change *change = &changes->change[i];
        json_open(json, NULL, '{');
        json_value(json, "id", value_text(change->finding->id));
        json_value(json, "title", value_text(change->finding->title));
        json_value(json, "root", value_text(change->finding->root));
        json_value(json, "change", value_text(finding_word(change, versions - 1)));
        json_averages(json, "saving_s", change->saving_s, versions);
        json_open(json, "runs", '[');
        for (size_t v = 0; v < versions; v++)
            json_value(json, NULL, value_count(change->runs[v]));
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

void compare_write_json(struct output *output, const struct compare_report *report)
{
    const struct comparison *comparison = report->comparison;
    const struct significance *significance = report->significance;
    /* No indentation is set: the writer begins at the outermost level. */
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-compare/1"));
    json_open(&json, "versions", '[');
    for (size_t v = 0; v < comparison->version_count; v++) {
        json_open(&json, NULL, '{');
        json_value(&json, "name", value_text(comparison->versions[v].name));
        json_value(&json, "runs", value_count(comparison->versions[v].run_count));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_findings(&json, report);
    json_quantities(&json, comparison);
    json_functions(&json, comparison);
    json_processes(&json, comparison);
    json_open(&json, "tests", '[');
    for (size_t v = 1; significance && v < comparison->version_count; v++)
        significance_write_json(&json, &significance[v - 1], comparison->versions[v].name);
    json_close(&json, ']');
    json_close(&json, '}');
}
