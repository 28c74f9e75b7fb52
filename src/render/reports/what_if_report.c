/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/what_if_report.h"

#include "core/numbers.h"
#include "core/text.h"
#include "render/facts.h"
#include "render/field.h"
#include "render/reports/stuck_report.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <math.h>
#include <stdio.h>

/* The context of a scenario's fields is the duration of the replay with nothing changed. */
#define GETTER(name, expression)                                                                                       \
    static struct value name(const void *context, const void *row_pointer)                                             \
    {                                                                                                                  \
        const int64_t replay_ns = *(const int64_t *)context;                                                           \
        const struct scenario *row = row_pointer;                                                                      \
        (void)replay_ns;                                                                                               \
        return expression;                                                                                             \
    }
GETTER(scenario_options, value_text(row->options))
GETTER(scenario_title, value_text(row->title))
GETTER(scenario_run, value_time(row->end_ns))
GETTER(scenario_saving, value_time(row->saving_ns))
GETTER(scenario_share, value_if(replay_ns > 0, value_ratio((double)row->saving_ns / (double)replay_ns)))
GETTER(scenario_forced, value_count(row->forced))
GETTER(scenario_deadlock, value_bool(row->deadlock))

static const struct field fields[] = {{"options", NULL, scenario_options},  {"title", NULL, scenario_title},
                                      {"run_s", NULL, scenario_run},        {"saving_s", NULL, scenario_saving},
                                      {"share", NULL, scenario_share},      {"forced", NULL, scenario_forced},
                                      {"deadlock", NULL, scenario_deadlock}};

/* From this share of the processes' time on that is spent in rooted collectives of unknown root a replay is a guess. */
static const double ROOTLESS = 0.05;

static bool roots_are_missing(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    double all_ns = (double)analysis->duration * (double)metrics->process_count;
    return (double)analysis->rootless_time > ROOTLESS * all_ns;
}

void what_if_write_json(struct output *output, const struct what_if_report *report)
{
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-what-if/1"));
    json_value(&json, "duration_s", value_time(report->metrics->analysis->duration));
    json_value(&json, "replay_s", value_time(report->scenarios->replay_ns));
    json_open(&json, "scenarios", '[');
    /* Numbers that would be guesses are not written, neither for people nor for programs. */
    for (size_t i = 0; i < report->scenarios->count && !roots_are_missing(report->metrics); i++)
        json_row(&json, fields, sizeof fields / sizeof *fields, &report->scenarios->replay_ns,
                 &report->scenarios->scenario[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

static double share_of(const struct scenario *scenario, int64_t replay_ns)
{
    return replay_ns > 0 ? (double)scenario->saving_ns / (double)replay_ns : 0;
}

static void table_row(struct text_table *table, const struct scenario *scenario, int64_t replay_ns, bool verbose)
{
    char saving[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], lasts[TEXT_NUMBER_SIZE];
    text_table_cell(table, text_duration(saving, scenario->saving_ns), false);
    /* With the options beside each change there is no room for share and duration. */
    if (!verbose) {
        text_table_cell(table, text_share(share, share_of(scenario, replay_ns)), false);
        text_table_cell(table, text_duration(lasts, scenario->end_ns), false);
    }
    text_table_cell(table, scenario->title, true);
    if (verbose)
        text_table_cell(table, scenario->options, true);
}

static void write_table(struct output *output, const struct scenarios *scenarios, bool verbose)
{
    static const char *const titles[] = {"saves ↓", "share", "run", "if"}, *const with_options[] = {"saves ↓", "if",
                                                                                                    "options"};
    size_t columns = verbose ? 3 : 4;
    struct text_table *table = text_table_columns(columns);
    for (size_t i = 0; i < columns; i++)
        text_table_cell(table, verbose ? with_options[i] : titles[i], i >= (verbose ? 1U : 3U));
    for (size_t i = 0; i < scenarios->count; i++)
        table_row(table, &scenarios->scenario[i], scenarios->replay_ns, verbose);
    text_table_print(table, output, "  ");
    output_text(output, "\n");
    paragraph_write(
        output, "  ", "  ",
        "Each change alone, by replay; savings are upper bounds and do not add up. More changes: sight help what-if.");
}

static void write_sentence(struct output *output, const struct scenario *scenario, int64_t replay_ns)
{
    char line[600], change[100] = "as before", lasts[TEXT_NUMBER_SIZE], instead[TEXT_NUMBER_SIZE], ns[TEXT_NUMBER_SIZE],
                    share[TEXT_NUMBER_SIZE];
    /* A change may make the run longer: that is said, not hidden in a negative number. */
    int64_t saving_ns = scenario->saving_ns;
    if (saving_ns != 0)
        snprintf(change, sizeof change, "instead of %s: %s (%s) %s", text_duration(instead, replay_ns),
                 text_duration(ns, saving_ns > 0 ? saving_ns : -saving_ns),
                 text_share(share, fabs(share_of(scenario, replay_ns))), saving_ns > 0 ? "less" : "more");
    snprintf(line, sizeof line, "If %s, the run takes %s %s.", scenario->title, text_duration(lasts, scenario->end_ns),
             change);
    paragraph_write(output, "  ", "  ", line);
    if (scenario->deadlock)
        paragraph_write(output, "  ", "  ",
                        "With sends that wait for their receives, the processes wait for each other in a cycle: a "
                        "deadlock. The numbers shown are for sends that do not wait.");
}

/* Replays of traces that miss partners guess. */
static void write_forced(struct output *output, const struct what_if_report *report)
{
    /* The most of any replay: changes of the network may force other calls than the replay as recorded. */
    uint64_t forced = report->metrics->analysis->forced;
    char count[TEXT_NUMBER_SIZE], line[200];
    for (size_t i = 0; i < report->scenarios->count; i++)
        forced = larger(report->scenarios->scenario[i].forced, forced);
    if (forced == 0)
        return;
    snprintf(line, sizeof line,
             "%s calls wait for partners that are missing from this trace: the replay lets them continue without.",
             text_thousands(count, forced));
    paragraph_write(output, "  ", "  ", line);
}

static void write_rootless(struct output *output, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    double all_ns = (double)analysis->duration * (double)metrics->process_count;
    char count[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], line[400];
    snprintf(line, sizeof line,
             "%s calls of collectives, %s of all processes' time, have a root that the trace does not record and that "
             "their times do not show. Which process they wait for is not known, so nothing is replayed. Traces by "
             "sight record include roots.",
             text_thousands(count, analysis->rootless), text_share(share, (double)analysis->rootless_time / all_ns));
    paragraph_write(output, "  ", "  ", line);
}

void what_if_write_text(struct output *output, const struct what_if_report *report, bool verbose)
{
    char facts[FACTS_SIZE];
    headline_write(output, report->title, facts_text(facts, report->metrics));
    stuck_write_note(output, report->stuck);
    output_text(output, "\n");
    if (report->metrics->process_count == 0) {
        output_text(output, "  There are no events in this trace.\n");
        return;
    }
    if (roots_are_missing(report->metrics)) {
        write_rootless(output, report->metrics);
        return;
    }
    if (report->standard)
        write_table(output, report->scenarios, verbose);
    else
        write_sentence(output, &report->scenarios->scenario[0], report->scenarios->replay_ns);
    write_forced(output, report);
}
