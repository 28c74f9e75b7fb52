/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/own_numbers.h"
#include "core/guess.h"
#include "core/text.h"
#include "render/facts.h"
#include "render/reports/metrics_report.h"
#include "render/reports/sites_report.h"
#include "render/reports/stuck_report.h"
#include "render/terminal_text.h"

#include <string.h>

enum { TEXT_ROWS = 20 };

struct asked {
    const struct metrics_options *options;
    const struct own_metrics *own;
};

/* The table that has the metrics of --definitions. */
static const char own_table[] = "own";

static const char *table_name(const struct metrics_options *options)
{
    return options->table ? options->table : "processes";
}

static void write_text(struct output *output, const struct metrics_options *options, const struct metrics *metrics,
                       const char *title)
{
    size_t rows = run_rows(options->all, TEXT_ROWS);
    bool own = strcmp(table_name(options), own_table) == 0;
    if (options->sites || own) {
        char facts[FACTS_SIZE];
        headline_write(output, title, facts_text(facts, metrics));
        stuck_write_note(output, metrics->stuck);
        if (!own)
            sites_write_text(output, metrics, rows);
    } else {
        metrics_write_text(
            output, metrics,
            &(struct metrics_text){.title = title, .table = options->table, .sort = options->sort, .rows = rows});
    }
}

static void write_metrics(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    const struct metrics_options *options = asked->options;
    const struct metrics *metrics = run->metrics;
    bool json = choice_is(options->format, "json"), csv = choice_is(options->format, "csv");
    char title[300];
    run_title(title, sizeof title, &options->common);
    if (options->sites && json)
        sites_write_json(output, metrics);
    else if (options->sites && csv)
        sites_write_csv(output, metrics);
    else if (json)
        metrics_write_json_more(output, metrics, own_metrics_write_json, asked->own);
    else if (choice_is(options->format, "xml"))
        metrics_write_xml(output, metrics);
    else if (csv && strcmp(table_name(options), own_table) == 0)
        own_metrics_write_csv(output, asked->own);
    else if (csv)
        metrics_write_csv(output, metrics, table_name(options));
    else {
        write_text(output, options, metrics, title);
        own_metrics_write_text(output, asked->own);
    }
}

/* Checked before the trace is read. */
static bool table_exists(const char *name)
{
    for (size_t i = 0; metrics_table_name(i); i++)
        if (strcmp(metrics_table_name(i), name) == 0)
            return true;
    return false;
}

static int unknown_table(const struct command *command, const char *name)
{
    char names[256] = "", nearest[GUESS_TEXT];
    struct guess guess = guess_of(name, strlen(name));
    for (size_t i = 0; metrics_table_name(i); i++) {
        text_append(names, sizeof names, " %s", metrics_table_name(i));
        guess_try(&guess, metrics_table_name(i));
    }
    if (guess.best)
        return command_usage(command, "unknown table '%s'%s", name, guess_text(nearest, &guess, "", ""));
    return command_usage(command, "unknown table '%s'; there are:%s", name, names);
}

/* The columns of CSV, not the titles of text: their names are words without blanks. */
static int unknown_column(const struct command *command, const char *name)
{
    size_t count;
    const struct field *fields = metrics_process_fields(&count);
    char nearest[GUESS_TEXT];
    struct guess guess = guess_of(name, strlen(name));
    for (size_t i = 0; i < count; i++)
        if (fields[i].name)
            guess_try(&guess, fields[i].name);
    return command_usage(command, "unknown column '%s'%s", name,
                         guess_text(nearest, &guess, "", "; see the columns of --format csv"));
}

/* Of processes selected from a metrics file, the tables over all processes are not known. */
static enum status check_tables(const void *context, const struct engine_result *run, struct error *err)
{
    const struct metrics_options *options = ((const struct asked *)context)->options;
    const struct metrics *metrics = run->metrics;
    bool wants = choice_is(options->format, "xml") ||
                 (!choice_is(options->format, "json") && metrics_table_of_trace(table_name(options)));
    if (options->sites && (!metrics->analysis || metrics->analysis->process_count != metrics->process_count))
        return error_set(err, ERROR_USAGE, "%s: --sites needs a whole trace, or a metrics file of one",
                         options->common.inputs[0]);
    if (!metrics->tables_unknown || !wants)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE,
                     "%s: a metrics file has no messages by communicator, tag and size per process: --processes needs "
                     "the trace for that",
                     options->common.inputs[0]);
}

/* What does not go together; EXIT_DONE: all does. */
static int check_options(const struct command *command, const struct metrics_options *options)
{
    const char *table = table_name(options);
    bool own = strcmp(table, own_table) == 0;
    if (own && !options->definitions)
        return command_usage(command, "table 'own' has the metrics of --definitions FILE");
    if (!own && !table_exists(table))
        return unknown_table(command, table);
    if (options->sort && !metrics_sorts_by(options->sort))
        return unknown_column(command, options->sort);
    if (options->definitions && (options->sites || choice_is(options->format, "xml")))
        return command_usage(command, "--definitions does not go with --sites and XML, which have no place for them");
    if (options->definitions && choice_is(options->format, "csv") && !own)
        return command_usage(command, "--definitions with CSV needs --table own");
    return EXIT_DONE;
}

int cmd_metrics(const struct command *command, const struct metrics_options *options)
{
    struct own_metrics own;
    struct error err = {0};
    int code = check_options(command, options);
    if (code != EXIT_DONE)
        return code;
    /* A metrics file must have what a diagnosis of the trace has: also the analysis across processes, and of a run that
       hung the time before. */
    unsigned wants = 0;
    if (options->sites)
        wants |= ENGINE_ANALYSIS;
    if (choice_is(options->format, "xml"))
        wants |= ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_SEARCH | ENGINE_COUNTER_SUMS | ENGINE_BEFORE_HANG;
    if (own_numbers_ask(&own, options->definitions, NULL, &options->common, &options->trace, &err) != STATUS_OK) {
        own_metrics_clear(&own);
        return command_fault(&err);
    }
    struct run_report report = {RUN_OPTIONS(options), .wants = wants, .totals = !options->sites, .check = check_tables,
                                .write = write_metrics};
    report.context = &(struct asked){options, &own};
    code = run_report(&report);
    own_metrics_clear(&own);
    return code;
}
