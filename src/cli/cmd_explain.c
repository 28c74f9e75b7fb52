/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight explain [FINDING] TRACE`: the events behind a number. FINDING is its place in the diagnosis, or its id. */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/guess.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/text.h"
#include "render/clock_sentence.h"
#include "render/path_text.h"
#include "render/reports/diagnosis.h"
#include "render/reports/explanation.h"
#include "render/reports/stuck_report.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Other things that can be explained. */
static const char critical_path[] = "critical-path";

/* What is to be explained, and how. */
struct asked {
    const struct explain_options *options;
    const char *trace;   /* the first */
    const char *finding; /* a place in the diagnosis or an id; NULL: all */
};

/* Places go up to 999: a larger number is a file's name. */
static bool is_finding_word(const char *word)
{
    int64_t number;
    return strcmp(word, critical_path) == 0 || finding_find(word) < FINDING_KINDS ||
           text_parse_i64(word, 1, 999, &number);
}

static bool is_wanted(const char *wanted, size_t place, const struct finding *finding)
{
    int64_t number;
    if (!wanted || strcmp(wanted, finding->id) == 0)
        return true;
    return text_parse_i64(wanted, 1, 999, &number) && (size_t)number == place + 1;
}

/* What is asked for is there. */
static enum status check_asked(const void *context, const struct engine_result *run, struct error *err)
{
    const struct asked *asked = context;
    if (run->metrics->own_defs)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace", asked->trace);
    int64_t place;
    size_t count = run->findings->count;
    if (!asked->finding || !text_parse_i64(asked->finding, 1, 999, &place) || (size_t)place <= count)
        return STATUS_OK;
    if (count == 0)
        return error_set(err, ERROR_USAGE, "%s: there is no finding %s: this run has none", asked->trace,
                         asked->finding);
    return error_set(err, ERROR_USAGE, "%s: there is no finding %s, only %zu", asked->trace, asked->finding, count);
}

/* The available findings, if the requested one does not exist. */
static void write_others(struct output *output, const struct findings *findings, const char *wanted)
{
    output_print(output, "This trace has no finding '%s'; there are:", wanted);
    for (size_t i = 0; i < findings->count; i++)
        output_print(output, "%s %s", i ? "," : "", findings->finding[i].id);
    output_text(output, "\n");
}

/* The requested findings; their contents are borrowed from the run. */
static void write_json(struct output *output, const char *finding, const struct engine_result *run)
{
    /* a copy of the list alone: what it lists belongs to the run */
    struct findings wanted = *run->findings;
    wanted.finding = memory_new(run->findings->count * sizeof *wanted.finding);
    wanted.count = 0;
    for (size_t i = 0; i < run->findings->count; i++)
        if (is_wanted(finding, i, &run->findings->finding[i]))
            wanted.finding[wanted.count++] = run->findings->finding[i];
    diagnosis_write_json(output,
                         &(struct diagnosis){.metrics = run->metrics,
                                             .results = run->results,
                                             .findings = &wanted,
                                             .stuck = run->stuck,
                                             .may_hang = run->may_hang},
                         true);
    free(wanted.finding);
}

static void write_explanations(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    const char *finding = asked->finding;
    if (choice_is(asked->options->format, "json")) {
        write_json(output, finding, run);
        return;
    }
    size_t written = 0;
    stuck_write_first(output, run->stuck);
    if (finding && strcmp(finding, critical_path) == 0) {
        path_write_text(output, run->metrics);
        return;
    }
    for (size_t i = 0; i < run->findings->count; i++) {
        if (!is_wanted(finding, i, &run->findings->finding[i]))
            continue;
        if (written++ > 0)
            output_text(output, "\n");
        explanation_write(output, run->metrics, i + 1, &run->findings->finding[i]);
    }
    char none[FINDINGS_NONE_SIZE], clocks[CLOCK_SENTENCE_SIZE];
    if (*clock_sentence(clocks, run->metrics, run->findings)) {
        if (written > 0)
            output_text(output, "\n");
        paragraph_write(output, "", "", clocks);
    }
    if (run->findings->count == 0)
        paragraph_write(output, "", "", findings_none(run->findings, none));
    else if (written == 0)
        write_others(output, run->findings, finding);
}

/* If only the second of two words is a file, the first was meant as a finding: a missing file would be the wrong thing
   to report. */
static int unknown_finding(const char *word)
{
    char text[GUESS_TEXT];
    struct guess guess = guess_of(word, strlen(word));
    for (enum finding_kind kind = 0; kind < FINDING_KINDS; kind++)
        guess_try(&guess, finding_id(kind));
    guess_try(&guess, critical_path);
    char *shown = input_escape_name(word);
    fprintf(stderr, "sight: '%s' is neither a finding nor a file%s\n", shown,
            guess_text(text, &guess, "", "; findings: sight help findings (try 'sight help explain')"));
    free(shown);
    return EXIT_USAGE;
}

int cmd_explain(const struct command *command, const struct explain_options *options)
{
    struct common_options common = options->common;
    struct asked asked = {.options = options};
    if (common.input_count > 1 && is_finding_word(common.inputs[0])) {
        asked.finding = common.inputs[0];
        common.inputs++;
        common.input_count--;
    } else if (common.input_count > 1 && is_finding_word(common.inputs[common.input_count - 1]) &&
               access(common.inputs[common.input_count - 1], F_OK) != 0) {
        /* The other way round, unless it is a file. */
        asked.finding = common.inputs[--common.input_count];
    }
    /* One word that says what to explain, and is no file, leaves out of what. */
    bool of_nothing =
        common.input_count == 1 && is_finding_word(common.inputs[0]) && access(common.inputs[0], F_OK) != 0;
    if (common.input_count == 0 || of_nothing)
        return command_usage(command, "no trace given");
    asked.trace = common.inputs[0];
    if (common.input_count == 2 && !asked.finding && access(common.inputs[0], F_OK) != 0 &&
        access(common.inputs[1], F_OK) == 0)
        return unknown_finding(common.inputs[0]);
    return run_report(&(struct run_report){.common = &common,
                                           .target = &options->target,
                                           .trace = &options->trace,
                                           .wants = ENGINE_FINDINGS,
                                           .context = &asked,
                                           .check = check_asked,
                                           .write = write_explanations});
}
