/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/in_place.h"

#include "cli/asking.h"
#include "cli/recording_lacks.h"
#include "cli/run.h"
#include "convert/record/read_record.h"
#include "render/reports/diagnosis.h"
#include "render/reports/metrics_report.h"
#include "render/terminal_text.h"

#include <stdio.h>

struct lacks {
    bool elsewhere; /* other hosts have files of the recording that are not in the directory */
    bool failed;    /* some processes or threads had no place to record to */
    bool nothing;   /* and no other did: `err` */
    struct error err;
};

/* Says what the recording lacks; if that is on other hosts, only where `partly`. */
static struct lacks look(char *directory, bool partly)
{
    struct lacks lacks = {0};
    struct error err = {0};
    struct recordings recordings = {0};
    struct reader *reader = NULL;
    /* What cannot be read is reported when it is diagnosed. */
    if (recordings_open(&recordings, &directory, 1, &lacks.err) == STATUS_OK)
        reader = record_reader_open(&recordings, 0, &err);
    if (reader) {
        struct record_summary summary = record_reader_summary(reader);
        lacks.elsewhere = recording_is_elsewhere(&summary);
        if (partly || !lacks.elsewhere)
            recording_report_lacks(&summary);
        reader_close(reader);
    }
    recording_report_failed(&recordings);
    lacks.failed = recordings.failed > 0;
    lacks.nothing = lacks.failed && recordings.file_count == 0;
    recordings_close(&recordings);
    return lacks;
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
                                        .input = target->path,
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
    struct engine_result *run =
        ask(common, &trace, ENGINE_ANALYSIS | ENGINE_FINDINGS | ENGINE_SEARCH | ENGINE_COUNTER_SUMS, &err);
    if (!run)
        return command_fault(&err);
    int code = write_both(common, run, target);
    if (code == EXIT_DONE && !run->metrics->end.complete)
        code = EXIT_DAMAGED;
    engine_free(run);
    return code;
}

int in_place_diagnose(const struct common_options *common, const char *directory, const struct target_options *target,
                      bool partly, struct in_place *place)
{
    char *from = (char *)(uintptr_t)directory;
    struct lacks lacks = look(from, partly);
    *place = (struct in_place){.elsewhere = lacks.elsewhere, .nothing = lacks.nothing};
    if (lacks.nothing)
        return command_fault(&lacks.err);
    if (lacks.elsewhere && !partly)
        return EXIT_DAMAGED;
    struct common_options read = *common;
    read.inputs = &from;
    read.input_count = 1;
    int code = diagnose(&read, target);
    place->done = code == EXIT_DONE || code == EXIT_DAMAGED;
    /* Metrics without some processes are written, but are not what was asked for. */
    if (place->done && lacks.failed)
        return EXIT_OUTPUT;
    return code;
}
