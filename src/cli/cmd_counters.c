/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight counters TRACE`: what counters add up to, and what formulas make of them, by process, function, phase or time.
 */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/memory.h"
#include "render/reports/counters_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROWS = 20, PARTS = 20 };

struct asked {
    const struct counters_options *options;
    const struct definitions *formulas;
    enum counters_by by;
    const struct counter_choice *choices; /* what the formulas say of counters */
    size_t choice_count;
};

/* Of a metrics file: sums of processes, made without the formulas. */
static enum status check_file(const struct asked *asked, const struct metrics *metrics, struct error *err)
{
    const char *name = asked->options->common.inputs[0];
    const struct counters *counters = metrics->counters;
    if (!counters)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file without counters: give the trace", name);
    if (asked->by != COUNTERS_BY_PROCESS || asked->options->at.text)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has counters by process only: give the trace",
                         name);
    for (size_t i = 0; i < counters->count; i++)
        for (size_t k = 0; k < asked->choice_count; k++) {
            const struct counter_choice *choice = &asked->choices[k];
            bool other = choice->mode != COUNTER_MODE_UNKNOWN && choice->mode != counters->counter[i].mode;
            bool called = counter_is_called(counters->counter[i].name, choice->name, strlen(choice->name));
            if (called && (other || choice->wraps > 0))
                return error_set(err, ERROR_USAGE,
                                 "%s: is a metrics file, in which counter '%s' was added up by its own mode: give the "
                                 "trace",
                                 name, choice->name);
        }
    return STATUS_OK;
}

/* An empty table would look as if nothing had been counted. */
static enum status needs_counters(const void *context, const struct engine_result *run, struct error *err)
{
    const struct asked *asked = context;
    const char *name = asked->options->common.inputs[0];
    const struct counters *counters = run->metrics->counters;
    if (run->metrics->own_defs)
        return check_file(asked, run->metrics, err);
    if (counters->count == 0)
        return error_set(err, ERROR_USAGE, "%s: has no counters", name);
    if (asked->by == COUNTERS_BY_PHASE && counters->phases.count == 0)
        return error_set(err, ERROR_USAGE, "%s: has no phases", name);
    if (asked->by == COUNTERS_BY_ITERATION && counters->iterations.count == 0)
        return error_set(err, ERROR_USAGE, "%s: has no iterations that all processes have in common", name);
    return STATUS_OK;
}

static int64_t moment_of(const struct engine_time *time, const struct metrics *metrics)
{
    static const double MOST_NS = 9e18; /* less than INT64_MAX */
    int64_t after_ns = time->ns;
    double share_ns = (double)time_since(metrics->begin_ns, metrics->end_ns) * time->share;
    if (time->kind == ENGINE_TIME_SHARE)
        after_ns = (int64_t)llrint(fmin(share_ns, MOST_NS));
    int64_t moment_ns = metrics->begin_ns;
    time_add(&moment_ns, after_ns);
    return moment_ns;
}

static void write_counters(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    const struct counters_options *options = asked->options;
    const struct counters *counters = run->metrics->counters;
    size_t parts = options->parts.text ? (size_t)options->parts.value : PARTS;
    struct counter_table table;
    char title[300];
    if (options->at.text)
        table = counter_table_at(counters, asked->formulas, moment_of(&options->at.time, run->metrics));
    else
        table = counter_table_of(counters, asked->formulas, asked->by, parts);
    run_title(title, sizeof title, &options->common);
    struct counters_report report = {.metrics = run->metrics,
                                     .table = &table,
                                     .title = title,
                                     .rows = run_rows(options->all, TEXT_ROWS),
                                     .moment = options->at.text != NULL,
                                     .counters = options->common.verbose};
    if (choice_is(options->format, "json"))
        counters_write_json(output, &report);
    else if (choice_is(options->format, "csv"))
        counters_write_csv(output, &report);
    else
        counters_write_text(output, &report);
    counter_table_clear(&table);
}

static int report(const struct counters_options *options, const struct definitions *formulas, enum counters_by by)
{
    size_t count;
    struct counter_choice *choices = formulas_choices(formulas, &count);
    struct asked asked = {options, formulas, by, choices, count};
    unsigned wants = ENGINE_COUNTERS;
    /* Phases are those of the whole run. */
    if (by == COUNTERS_BY_PHASE || by == COUNTERS_BY_ITERATION)
        wants |= ENGINE_PHASES;
    int code = run_report(&(struct run_report){.common = &options->common,
                                               .target = &options->target,
                                               .trace = &options->trace,
                                               .wants = wants,
                                               .counters = choices,
                                               .counter_count = count,
                                               .context = &asked,
                                               .check = needs_counters,
                                               .write = write_counters});
    free(choices);
    return code;
}

int cmd_counters(const struct command *command, const struct counters_options *options)
{
    struct error err = {0};
    const struct trace_options *trace = &options->trace;
    enum counters_by by = options->by.word ? counters_by_find(options->by.word) : COUNTERS_BY_PROCESS;
    if ((by == COUNTERS_BY_PHASE || by == COUNTERS_BY_ITERATION) &&
        (trace->from.text || trace->to.text || trace->processes.count > 0))
        return command_usage(command,
                             "--by %s is of the whole run: it cannot be combined with --from, --to and "
                             "--processes",
                             counters_by_name(by));
    if (options->at.text && (trace->from.text || trace->to.text || trace->processes.count > 0))
        return command_usage(command, "--at counts from the start of the run: it cannot be combined with --from, --to "
                                      "and --processes");
    if (options->at.text && options->by.word)
        return command_usage(command, "--at has a row for each thread: it cannot be combined with --by");
    struct definitions *formulas = formulas_read(options->formulas, &err);
    if (!formulas)
        return command_fault(&err);
    int code = report(options, formulas, by);
    definitions_free(formulas);
    return code;
}
