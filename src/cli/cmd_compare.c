/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/memory.h"
#include "core/text.h"
#include "render/reports/compare_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_ROWS = 12 };

/* The runs of the command line, in their order, and the versions they belong to. */
struct compared {
    struct engine_result **runs;
    struct version *versions;
    const struct metrics ***metrics; /* of each version */
    char **names;
    size_t run_count, version_count;
};

/* NAME=FILE gives the version's name, unless there is a file of that whole name; else it is the file's own. */
static const char *split_name(const char *argument, char **name)
{
    const char *equals = strchr(argument, '=');
    if (equals && equals > argument && access(argument, F_OK) != 0) {
        *name = memory_copy_string(argument);
        (*name)[equals - argument] = '\0';
        return equals + 1;
    }
    const char *slash = strrchr(argument, '/');
    *name = memory_copy_string(slash && slash[1] ? slash + 1 : argument);
    return argument;
}

/* The version with this name where it was given by NAME=, else a new one. Takes the name. */
static size_t version_of(struct compared *compared, char *name, bool grouped)
{
    for (size_t v = 0; grouped && v < compared->version_count; v++)
        if (strcmp(compared->names[v], name) == 0) {
            free(name);
            return v;
        }
    compared->names[compared->version_count] = name;
    compared->versions[compared->version_count].name = name;
    return compared->version_count++;
}

/* Reads one run; the worst exit code so far is kept. */
static enum status add_run(struct compared *compared, const struct options *options, char *argument, int *code,
                           struct error *err)
{
    char *name;
    const char *path = split_name(argument, &name);
    bool grouped = path != argument;
    char *input = argument + (path - argument);
    struct options one = *options;
    one.inputs = &input;
    one.input_count = 1;
    struct engine_result *run = ask(&one, 0, err);
    if (!run) {
        free(name);
        return STATUS_FAILED;
    }
    const struct metrics *metrics = run->metrics;
    compared->runs[compared->run_count++] = run;
    size_t v = version_of(compared, name, grouped);
    struct version *version = &compared->versions[v];
    compared->metrics[v] = memory_resize(compared->metrics[v], (version->run_count + 1) * sizeof(struct metrics *));
    compared->metrics[v][version->run_count++] = metrics;
    version->runs = compared->metrics[v];
    int damaged = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    *code = damaged != EXIT_DONE ? damaged : *code;
    return STATUS_OK;
}

static void compared_free(struct compared *compared)
{
    for (size_t i = 0; i < compared->run_count; i++)
        engine_free(compared->runs[i]);
    for (size_t v = 0; v < compared->version_count; v++) {
        free(compared->names[v]);
        free(compared->metrics[v]);
    }
    free(compared->runs);
    free(compared->versions);
    free(compared->metrics);
    free(compared->names);
}

struct written {
    const struct options *options;
    const struct comparison *comparison;
};

static void write_comparison(struct output *output, const void *context)
{
    const struct written *written = context;
    const char *format = written->options->format ? written->options->format : "text";
    if (strcmp(format, "json") == 0)
        compare_write_json(output, written->comparison);
    else if (strcmp(format, "html") == 0)
        compare_write_html(output, written->comparison);
    else
        compare_write_text(output, written->comparison, written->options->all ? SIZE_MAX : TEXT_ROWS);
}

/* HTML also by the output's name. */
static bool wants_html(const struct options *options)
{
    const char *dot = options->output ? strrchr(options->output, '.') : NULL;
    return !options->format && dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0);
}

static int compare(const struct command *command, const struct options *options, struct compared *compared)
{
    struct error err = {0};
    int code = EXIT_DONE;
    for (size_t i = 0; i < options->input_count; i++)
        if (add_run(compared, options, options->inputs[i], &code, &err) != STATUS_OK)
            return command_fault(&err);
    if (compared->version_count < 2)
        return command_usage(command, "all runs belong to one version, '%s': give another one to compare with",
                             compared->names[0]);
    struct options chosen = *options;
    if (wants_html(options))
        chosen.format = "html";
    struct comparison comparison = comparison_of(compared->versions, compared->version_count);
    struct written written = {&chosen, &comparison};
    code = run_output(&chosen, write_comparison, &written, code);
    comparison_clear(&comparison);
    return code;
}

int cmd_compare(const struct command *command, const struct options *options)
{
    size_t count = options->input_count;
    if (count < 2)
        return command_usage(command, "at least two runs are needed to compare");
    struct compared compared = {.runs = memory_new(count * sizeof *compared.runs),
                                .versions = memory_new(count * sizeof *compared.versions),
                                .metrics = memory_new(count * sizeof *compared.metrics),
                                .names = memory_new(count * sizeof *compared.names)};
    int code = compare(command, options, &compared);
    compared_free(&compared);
    return code;
}
