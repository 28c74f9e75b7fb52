/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/in_place.h"

#include "cli/asking.h"
#include "cli/recording_lacks.h"
#include "cli/run.h"
#include "convert/record/launch_note.h"
#include "convert/record/read_record.h"
#include "render/field.h"
#include "render/reports/diagnosis.h"
#include "render/reports/metrics_report.h"

#include <stdio.h>

/* Says what the recording lacks. True if other hosts have files of it that are not in the directory. */
static bool is_elsewhere(char *directory)
{
    struct error err = {0};
    struct recordings recordings = {0};
    struct reader *reader = NULL;
    bool elsewhere = false;
    /* What cannot be read is reported when it is diagnosed. */
    if (recordings_open(&recordings, &directory, 1, &err) == STATUS_OK)
        reader = record_reader_open(&recordings, 0, &err);
    if (reader) {
        struct record_summary summary = record_reader_summary(reader);
        recording_report_lacks(&summary);
        elsewhere = summary.several_hosts && summary.processes < summary.declared;
        reader_close(reader);
    }
    recording_report_failed(&recordings);
    recordings_close(&recordings);
    return elsewhere;
}

static void write_metrics(struct output *output, const void *context)
{
    metrics_write_xml(output, context);
}

static void write_diagnosis(struct output *output, const void *context)
{
    diagnosis_write_text(output, context);
}

/* The metrics file first: it is what is kept. */
static int write_both(const struct common_options *common, const struct engine_result *run,
                      const struct target_options *target)
{
    char title[300];
    const struct target_options screen = {0};
    text_for_terminal(title, sizeof title, target->path, 100);
    const struct diagnosis diagnosis = {.metrics = run->metrics,
                                        .results = run->results,
                                        .findings = run->findings,
                                        .title = title,
                                        .stuck = run->stuck,
                                        .may_hang = run->may_hang,
                                        .all = true,
                                        .colour = run_wants_colour(common, &screen)};
    int written = run_output(NULL, target, write_metrics, run->metrics, EXIT_DONE);
    if (written == EXIT_DONE)
        written = run_output(common, &screen, write_diagnosis, &diagnosis, EXIT_DONE);
    fflush(stdout); /* the program's signal may end sight, too */
    return written;
}

static int diagnose(const struct common_options *common, const struct target_options *target)
{
    struct error err = {0};
    const struct trace_options trace = {0};
    /* A metrics file has all that the trace would give. */
    struct engine_result *run = ask(common, &trace, ENGINE_FINDINGS | ENGINE_SEARCH, &err);
    if (!run)
        return command_fault(&err);
    int code = write_both(common, run, target);
    if (code == EXIT_DONE && !run->metrics->end.complete)
        code = EXIT_DAMAGED;
    engine_free(run);
    return code;
}

int in_place_diagnose(const struct common_options *common, const char *directory, const struct target_options *target,
                      int64_t ended_ns, bool *kept)
{
    struct error err = {0};
    char *from = (char *)(uintptr_t)directory;
    if (is_elsewhere(from)) {
        fprintf(stderr,
                "sight: other hosts have their part in a directory of this name; to diagnose it where it is: mpiexec "
                "with a process on each host, sight metrics --format xml -o %s %s\n",
                target->path, directory);
        return EXIT_DAMAGED;
    }
    if (launch_note_end(directory, ended_ns, &err) != STATUS_OK)
        return command_fault(&err);
    struct common_options read = *common;
    read.inputs = &from;
    read.input_count = 1;
    int code = diagnose(&read, target);
    *kept = code == EXIT_DONE || code == EXIT_DAMAGED;
    if (*kept)
        command_note(common, "%s: the metrics of the run; no trace is kept", target->path);
    return code;
}
