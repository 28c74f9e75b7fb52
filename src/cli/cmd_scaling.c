/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight scaling A B C`: how far a program scales, and what limits it. */
#include "cli/commands.h"

#include "cli/run.h"
#include "cli/scaling_runs.h"
#include "cli/selection.h"
#include "cli/several_runs.h"
#include "cli/sprof_config.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "render/reports/scaling_report.h"
#include "render/reports/sprof_report.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 16 };

struct written {
    const struct scaling_options *options;
    const struct scaling *scaling;
    struct sprof_result sprof;
};

static void write_scaling(struct output *output, const void *context)
{
    const struct written *written = context;
    struct choice format = written->options->format;
    if (choice_is(format, "json"))
        scaling_write_json(output, written->scaling);
    else if (choice_is(format, "csv"))
        scaling_write_csv(output, written->scaling);
    else if (choice_is(format, "sprof"))
        sprof_write(output, &written->sprof);
    else
        scaling_write_text(output, written->scaling, run_rows(written->options->all, ROWS_SHOWN));
}

/* The program with its arguments where we ran it; else the first file. Sprof leaves the number of threads out of the
   arguments: it is the one that we put in. */
static struct sprof_result sprof_result_of(const struct scaling_options *options, const struct scaling_run *runs,
                                           size_t count)
{
    char **words = options->common.inputs;
    struct sprof_result result = {.application = words[0], .runs = runs, .count = count};
    if (!options->threads.text && !options->processes.text)
        return result;
    for (size_t i = 1; i < options->common.input_count; i++)
        if (strcmp(words[i], "{t}") != 0)
            words[1 + result.argument_count++] = words[i];
    result.arguments = words + 1;
    return result;
}

/* `cores` 0: the runs were made elsewhere. */
static int answer(const struct scaling_options *options, const struct scaling_run *runs, size_t count, unsigned cores,
                  int code)
{
    struct error err = {0};
    struct scaling *scaling = scaling_of(runs, count, options->weak, &err);
    if (!scaling)
        return command_fault(&err);
    scaling->cores = cores; /* more threads than that cannot run at once, which explains a poor efficiency */
    struct written written = {options, scaling, sprof_result_of(options, runs, count)};
    code = run_output(&options->common, &options->target, write_scaling, &written, code);
    scaling_free(scaling);
    return code;
}

/* Reads what was performed, and answers. */
static int answer_performed(const struct scaling_options *options, struct performed_runs *performed,
                            struct several_runs *given)
{
    struct error err = {0};
    int code = EXIT_DONE;
    for (size_t i = 0; i < performed->count; i++) {
        struct performed *run = &performed->runs[i];
        if (!run->trace) /* no MPI, no regions of OpenMP: the time alone says how it scales */
            several_runs_push(given, (struct scaling_run){.time_s = run->time_s});
        else if (several_runs_add(given, &options->common, &options->trace, run->trace, &code, &err) != STATUS_OK)
            return command_fault(&err);
        /* As they were started: a trace does not know of threads that never called MPI. */
        given->runs[given->count - 1].processes = run->processes;
        given->runs[given->count - 1].threads = run->threads;
    }
    return answer(options, given->runs, given->count, parallel_processors(), code);
}

/* Performs the runs of a program, then answers. */
static int scale_program(const struct scaling_options *options)
{
    struct error err = {0};
    struct performed_runs performed = {0};
    int code;
    if (scaling_perform(options, &performed, &err) != STATUS_OK) {
        code = command_fault(&err);
    } else {
        struct several_runs given = {0};
        code = answer_performed(options, &performed, &given);
        several_runs_clear(&given);
    }
    performed_clear(&performed);
    return code;
}

/* As Sprof's configuration says: so many tests with each number of threads. */
static int scale_configured(const struct command *command, const struct scaling_options *options)
{
    struct error err = {0};
    struct sprof_config config;
    struct scaling_options configured = *options;
    if (options->processes.text || options->threads.text || options->repeat.text)
        return command_usage(command, "--config says what --threads and --repeat would");
    if (options->common.input_count == 0)
        return command_usage(command, "no program given");
    int code;
    struct list_option *threads = &configured.threads;
    if (sprof_config_read(options->config, &config, &err) != STATUS_OK ||
        selection_ranks(config.threads, &threads->numbers, &threads->count, &err) != STATUS_OK) {
        code = command_fault(&err);
    } else {
        threads->text = config.threads;
        configured.repeat.value = config.tests;
        code = scale_program(&configured);
    }
    free(threads->numbers);
    sprof_config_clear(&config);
    return code;
}

int cmd_scaling(const struct command *command, const struct scaling_options *options)
{
    struct error err = {0};
    size_t count = options->common.input_count;
    int code = EXIT_DONE;
    if (options->config)
        return scale_configured(command, options);
    if (options->processes.text || options->threads.text) {
        if (count == 0)
            return command_usage(command, "no program given");
        return scale_program(options);
    }
    if (options->repeat.text)
        return command_usage(command, "--repeat needs --processes or --threads, and a program");
    if (count < 2)
        return command_usage(command, "runs of at least two sizes are needed");
    struct several_runs given = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = several_runs_add(&given, &options->common, &options->trace, options->common.inputs[i], &code, &err);
    if (status == STATUS_OK)
        code = answer(options, given.runs, given.count, 0, code);
    else
        code = command_fault(&err);
    several_runs_clear(&given);
    return code;
}
