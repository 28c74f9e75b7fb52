/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/guess.h"
#include "core/text.h"
#include "render/facts.h"
#include "render/reports/metrics_report.h"
#include "render/reports/sites_report.h"

#include <string.h>

enum { TEXT_ROWS = 20 };

static const char *table_name(const struct options *options)
{
    return options->table ? options->table : "processes";
}

static void write_text(struct output *output, const struct options *options, const struct metrics *metrics,
                       const char *title)
{
    size_t rows = options->all ? SIZE_MAX : TEXT_ROWS;
    if (options->sites) {
        char facts[FACTS_SIZE];
        output_print(output, "%s — %s\n", title, facts_text(facts, metrics));
        sites_write_text(output, metrics, rows);
    } else {
        metrics_write_text(output, metrics, title, rows, options->sort);
    }
}

static void write_metrics(struct output *output, const struct options *options, const struct metrics *metrics)
{
    const char *format = options->format ? options->format : "text";
    char title[300];
    run_title(title, sizeof title, options);
    if (options->sites && strcmp(format, "json") == 0)
        sites_write_json(output, metrics);
    else if (options->sites && strcmp(format, "csv") == 0)
        sites_write_csv(output, metrics);
    else if (strcmp(format, "json") == 0)
        metrics_write_json(output, metrics);
    else if (strcmp(format, "xml") == 0)
        metrics_write_xml(output, metrics);
    else if (strcmp(format, "csv") == 0)
        metrics_write_csv(output, metrics, table_name(options));
    else
        write_text(output, options, metrics, title);
}

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
                         guess.best ? guess_text(nearest, &guess, "", "") : "; there are those of --format csv");
}

/* Of processes selected from a metrics file, the tables over all processes are not known. */
static enum status check_tables(const struct options *options, const struct metrics *metrics, struct error *err)
{
    const char *format = options->format ? options->format : "text", *table = table_name(options);
    bool wants = strcmp(format, "xml") == 0 || (strcmp(format, "csv") == 0 && metrics_table_of_trace(table));
    if (options->sites && (!metrics->analysis || metrics->analysis->process_count != metrics->process_count))
        return error_set(err, ERROR_USAGE, "%s: --sites needs a whole trace, or a metrics file of one",
                         options->inputs[0]);
    if (!metrics->tables_unknown || !wants)
        return STATUS_OK;
    error_set(err, ERROR_USAGE,
              "%s: a metrics file has no messages by communicator, tag and size per process: --processes needs the "
              "trace for that",
              options->inputs[0]);
    return STATUS_FAILED;
}

int cmd_metrics(const struct command *command, const struct options *options)
{
    const char *table = table_name(options);
    if (!table_exists(table))
        return unknown_table(command, table);
    if (options->sort && !metrics_sorts_by(options->sort))
        return unknown_column(command, options->sort);
    /* A metrics file must have the same data as the trace: also the analysis across processes. */
    bool deep = options->format && strcmp(options->format, "xml") == 0;
    unsigned wants = deep ? ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_SEARCH : options->sites ? ENGINE_ANALYSIS : 0;
    return run_report(options, wants, check_tables, write_metrics);
}
