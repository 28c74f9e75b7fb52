/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/commands.h"

#include "cli/named_input.h"
#include "cli/run.h"
#include "core/memory.h"
#include "core/text.h"
#include "render/reports/compare_report.h"
#include "render/reports/gate_report.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_ROWS = 12 };

/* The runs of the command line, in their order, and the versions they belong to. */
struct compared {
    struct engine_result **runs;
    struct version *versions;
    const struct metrics ***metrics; /* of each version */
    struct gate_run **places;        /* the same with findings */
    char **names;
    size_t run_count, version_count;
    unsigned wants;        /* of enum engine_want: the same of all runs, so that they can be compared */
    bool begins_group;     /* "--" came before the next run */
    const char *last_path; /* of the second version, for what needs a place */
};

/* What the names of files of a group begin with: "old" of old1.clog2 and old2.clog2. */
static void shorten_name(char *name, const char *other)
{
    size_t length = 0;
    while (name[length] && name[length] == other[length])
        length++;
    while (length > 0 && strchr("0123456789-_.", name[length - 1]))
        length--;
    if (length > 0)
        name[length] = '\0';
}

/* The version of the group that a file is in. Takes the name. */
static size_t group_of(struct compared *compared, char *name)
{
    if (compared->version_count > 0 && !compared->begins_group) {
        shorten_name(compared->names[compared->version_count - 1], name);
        free(name);
        return compared->version_count - 1;
    }
    compared->begins_group = false;
    compared->names[compared->version_count] = name;
    return compared->version_count++;
}

/* The version with this name if it was given by NAME=, else a new one. Takes the name. */
/* Two files of the same name are two versions: only NAME= puts runs together. */
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

/* Versions are groups of files that "--" separates. */
/* A "--" at either end separates nothing. */
static bool has_groups(const struct common_options *common)
{
    for (size_t i = 1; i + 1 < common->input_count; i++)
        if (strcmp(common->inputs[i], "--") == 0)
            return true;
    return false;
}

/* Reads one run; the worst exit code so far is kept. */
static enum status add_run(struct compared *compared, const struct compare_options *options, char *argument, int *code,
                           struct error *err)
{
    char *name;
    char *input = named_input_split(argument, &name);
    bool grouped = input != argument;
    struct common_options one = options->common;
    one.inputs = &input;
    one.input_count = 1;
    struct engine_result *run = ask_polling(&one, &options->trace, compared->wants, err);
    if (!run) {
        free(name);
        return STATUS_FAILED;
    }
    const struct metrics *metrics = run->metrics;
    compared->runs[compared->run_count++] = run;
    size_t v;
    if (has_groups(&options->common))
        v = group_of(compared, name);
    else
        v = version_of(compared, name, grouped);
    if (v == 1)
        compared->last_path = input;
    struct version *version = &compared->versions[v];
    /* `versions` points to the array, which moves as it grows: it is set anew each time. */
    compared->metrics[v] = memory_resize(compared->metrics[v], (version->run_count + 1) * sizeof(struct metrics *));
    compared->metrics[v][version->run_count++] = metrics;
    version->name = compared->names[v];
    version->runs = compared->metrics[v];
    compared->places[v] = memory_resize(compared->places[v], version->run_count * sizeof *compared->places[v]);
    compared->places[v][version->run_count - 1] = (struct gate_run){metrics, run->findings};
    int damaged = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    if (damaged != EXIT_DONE)
        *code = damaged;
    return STATUS_OK;
}

static void compared_free(struct compared *compared)
{
    for (size_t i = 0; i < compared->run_count; i++)
        engine_free(compared->runs[i]);
    for (size_t v = 0; v < compared->version_count; v++) {
        free(compared->names[v]);
        free(compared->metrics[v]);
        free(compared->places[v]);
    }
    free(compared->runs);
    free(compared->versions);
    free(compared->metrics);
    free(compared->places);
    free(compared->names);
}

struct written {
    const struct compare_options *options;
    const struct comparison *comparison;
    const struct significance *significance; /* NULL: a version has a single run */
    const struct finding_changes *changes;
    const struct gate *gate;
    const char *input;
};

/* The formats for services are about the first two versions. */
static bool write_for_service(struct output *output, const struct written *written)
{
    struct choice format = written->options->format;
    const struct version *versions = written->comparison->versions;
    struct gate_report report = {.gate = written->gate,
                                 .significance = written->significance,
                                 .before = versions[0].name,
                                 .after = versions[1].name,
                                 .input = written->input};
    if (choice_is(format, "markdown"))
        gate_write_markdown(output, &report, run_rows(written->options->all, TEXT_ROWS));
    else if (choice_is(format, "junit"))
        gate_write_junit(output, &report);
    else if (choice_is(format, "sarif"))
        gate_write_sarif(output, &report);
    else
        return false;
    return true;
}

/* HTML also by the output's name. */
static bool wants_html(const struct compare_options *options)
{
    if (options->format.word || !options->target.path)
        return false;
    const char *dot = strrchr(options->target.path, '.');
    return dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0);
}

static void write_comparison(struct output *output, const void *context)
{
    const struct written *written = context;
    struct choice format = written->options->format;
    struct compare_report report = {written->comparison, written->significance, written->changes, written->gate};
    if (write_for_service(output, written))
        return;
    if (choice_is(format, "json"))
        compare_write_json(output, &report);
    else if (choice_is(format, "html") || wants_html(written->options))
        compare_write_html(output, &report);
    else
        compare_write_text(output, &report, run_rows(written->options->all, TEXT_ROWS),
                           run_wants_colour(&written->options->common, &written->options->target));
}

/* Versions of several runs each are tested against the first. NULL where one has a single run, unless `always`. */
static struct significance *test_versions(const struct compared *compared, struct comparison *comparison, bool always)
{
    size_t count = compared->version_count;
    /* One run has no variance: nothing can be said about chance. Formats for services say even that. */
    for (size_t v = 0; v < count; v++)
        if (compared->versions[v].run_count < 2 && !always)
            return NULL;
    struct significance *significance = memory_new(count * sizeof *significance);
    for (size_t v = 1; v < count; v++) {
        significance[v - 1] = significance_of(&compared->versions[0], &compared->versions[v]);
        significance_apply(&significance[v - 1], comparison, v);
    }
    return significance;
}

static void significances_free(struct significance *significance, size_t count)
{
    for (size_t i = 0; significance && i < count; i++)
        significance_clear(&significance[i]);
    free(significance);
}

/* What fails goes to standard error, like conditions of other commands. Damage wins. */
static int gate_code(const struct compare_options *options, const struct gate *gate, int code)
{
    char sentence[GATE_SENTENCE_SIZE];
    for (size_t i = 0; i < gate->count; i++)
        if (gate->checks[i].fails) {
            gate_sentence(gate, &gate->checks[i], sentence);
            fprintf(stderr, "sight: %s\n", sentence);
        }
    /* A test with too few runs passes whatever happened: whoever relies on it must know. */
    if (gate->count > 0 && !gate->is_possible)
        command_note(&options->common, "%zu and %zu run%s cannot show that a condition fails; %zu of each can",
                     gate->before, gate->after, text_plural(gate->after, "", "s"),
                     significance_runs_least(gate->count));
    if (gate->failed > 0 && code == EXIT_DONE)
        return EXIT_CONDITION;
    return code;
}

/* Formats that people do not read need two versions: the gate is between them. */
static bool is_for_service(const struct compare_options *options)
{
    return choice_is(options->format, "markdown") || choice_is(options->format, "junit") ||
           choice_is(options->format, "sarif");
}

/* Tests, judges and prints what was read. */
static int answer(const struct compare_options *options, const struct compared *compared, int code)
{
    struct error err = {0};
    struct gate gate = {0};
    size_t count = compared->version_count;
    struct gate_version *versions = memory_new(count * sizeof *versions);
    for (size_t v = 0; v < count; v++)
        versions[v] = (struct gate_version){compared->names[v], compared->places[v], compared->versions[v].run_count};
    if (gate_of(options->fail_on, &versions[0], &versions[1], &gate, &err) != STATUS_OK) {
        gate_clear(&gate);
        free(versions);
        return command_fault(&err);
    }
    struct finding_changes changes = finding_changes_of(versions, count);
    free(versions);
    struct comparison comparison = comparison_of(compared->versions, count);
    struct significance *significance = test_versions(compared, &comparison, is_for_service(options));
    struct written written = {options, &comparison, significance, &changes, &gate, compared->last_path};
    code = run_output(&options->common, &options->target, write_comparison, &written, gate_code(options, &gate, code));
    significances_free(significance, count - 1);
    finding_changes_clear(&changes);
    comparison_clear(&comparison);
    gate_clear(&gate);
    return code;
}

/* A run that cannot be read ends it: a comparison without it would be another one. */
static int compare(const struct command *command, const struct compare_options *options, struct compared *compared)
{
    struct error err = {0};
    int code = EXIT_DONE;
    char **inputs = options->common.inputs;
    for (size_t i = 0; i < options->common.input_count; i++)
        if (strcmp(inputs[i], "--") == 0)
            compared->begins_group = compared->version_count > 0;
        else if (add_run(compared, options, inputs[i], &code, &err) != STATUS_OK)
            return command_fault(&err);
    if (compared->version_count < 2)
        return command_usage(command, "all runs belong to one version, '%s': give another one to compare with",
                             compared->names[0]);
    if (compared->version_count > 2 && (options->fail_on || is_for_service(options)))
        return command_usage(command, "--fail-on and --format %s compare two versions, not %zu",
                             options->format.word ? options->format.word : "markdown", compared->version_count);
    return answer(options, compared, code);
}

int cmd_compare(const struct command *command, const struct compare_options *options)
{
    size_t count = options->common.input_count;
    struct error err = {0};
    /* before any run is read: they may be many, and large */
    if (options->fail_on && gate_check_conditions(options->fail_on, &err) != STATUS_OK)
        return command_fault(&err);
    if (count < 2)
        return command_usage(command, "at least two runs are needed to compare");
    struct compared compared = {.runs = memory_new(count * sizeof *compared.runs),
                                .versions = memory_new(count * sizeof *compared.versions),
                                .metrics = memory_new(count * sizeof *compared.metrics),
                                .places = memory_new(count * sizeof *compared.places),
                                .names = memory_new(count * sizeof *compared.names)};
    /* What some processes waited for depends on the others: a part has no findings of its own. */
    bool findings = !options->no_findings && options->trace.processes.count == 0;
    if (findings || gate_needs_findings(options->fail_on))
        compared.wants = ENGINE_ANALYSIS | ENGINE_FINDINGS;
    int code = compare(command, options, &compared);
    compared_free(&compared);
    return code;
}
