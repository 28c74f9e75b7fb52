/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/merging.h"

#include "cli/launch.h"
#include "cli/recording_lacks.h"
#include "convert/writer.h"
#include "core/memory.h"
#include "core/shell_text.h"
#include "core/text.h"
#include "record/clock.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool merging_names_file(const char *output)
{
    return strcmp(output, "-") != 0 && strncmp(output, "/dev/", 5) != 0;
}

const char *merging_command(char text[MERGING_COMMAND_SIZE], const char *option, const char *directory,
                            const char *output)
{
    snprintf(text, MERGING_COMMAND_SIZE, "sight merge%s%s -o", option ? " " : "", option ? option : "");
    (void)(shell_text_add(text, MERGING_COMMAND_SIZE, output) && shell_text_add(text, MERGING_COMMAND_SIZE, directory));
    return text;
}

/* The cost of one record on this machine: mostly reading the clock. REST_NS is for writing it. A record is a half of a
 * call: entry and return read the clock once each. */
static double record_cost_ns(struct choice clock)
{
    enum { CALLS = 2000, REST_NS = 4 };
    clock_start(clock_choice_of(clock.word ? clock.word : getenv("SIGHT_RECORD_CLOCK")));
    int64_t begin_ns = clock_ns();
    for (int i = 0; i < CALLS; i++) {
        clock_entry();
        clock_now();
    }
    return (double)(clock_ns() - begin_ns) / (2 * CALLS) + REST_NS;
}

static void report(const struct merging *merging, const struct record_summary *summary, const char *output,
                   int64_t ran_ns, bool hinted)
{
    char programs[64] = "", events[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], size[64] = "",
         overhead[64] = "", shown[PATH_MAX], hint[PATH_MAX + 32] = "";
    struct stat about;
    if (stat(output, &about) == 0 && S_ISREG(about.st_mode))
        snprintf(size, sizeof size, ", %s", text_bytes(bytes, (uint64_t)about.st_size));
    if (ran_ns > 0 && summary->processes > 0) {
        double cost = record_cost_ns(merging->clock) * (double)summary->events / summary->processes / (double)ran_ns;
        text_share(share, cost);
        snprintf(overhead, sizeof overhead, ", overhead %s%s", *share == '<' ? "" : "about ", share);
    }
    if (summary->programs > 1)
        snprintf(programs, sizeof programs, " of %zu programs", summary->programs);
    if (hinted)
        snprintf(hint, sizeof hint, "; diagnose it with: sight %s", shell_text(shown, sizeof shown, output));
    command_note(merging->common, "%s: %s events of %u %sprocess%s%s%s%s%s", output,
                 text_thousands(events, summary->events), summary->processes, summary->spawned ? "spawned " : "",
                 text_plural(summary->processes, "", "es"), programs, size, overhead, hint);
    if (summary->kept)
        command_note(merging->common, "kept: %s", summary->kept);
}

/* A sample has a least size for each process. */
static void report_limit(const struct record_summary *summary, const char *output)
{
    struct stat file;
    uint64_t trace = 0;
    if (stat(output, &file) == 0 && S_ISREG(file.st_mode))
        trace = (uint64_t)file.st_size;
    if (summary->limit_bytes > 0 && (summary->bytes > summary->limit_bytes || trace > summary->limit_bytes))
        fprintf(stderr,
                "sight: --max-size is too small for %u process%s: the recording took %" PRIu64
                " bytes, the trace %" PRIu64 "\n",
                summary->processes, text_plural(summary->processes, "", "es"), summary->bytes, trace);
}

enum status recording_write(struct reader *reader, const char *path, bool force, struct error *err)
{
    const struct writer_format *format = writer_format_find("clog2");
    struct writer *writer = format->create();
    writer->format = format;
    writer->in_order = true; /* the merge delivers events by time: nothing has to be sorted again */
    struct output_options how = {.replace = force, .patchable = format->patchable};
    writer->output = output_open(path, how, err);
    enum status status = STATUS_FAILED;
    if (writer->output) {
        struct sink *sinks[] = {&writer->sink};
        status = stream_run(reader, sinks, 1, NULL, NULL, err);
        struct error closing = {0};
        if (output_close(writer->output, status == STATUS_OK, &closing) != STATUS_OK && status == STATUS_OK) {
            *err = closing;
            status = STATUS_FAILED;
        }
    }
    format->dispose(writer);
    return status;
}

/* The trace of one MPI program, or of several that belong together. */
static int merge_trace(struct merging *merging, size_t trace, const char *output, int64_t ran_ns)
{
    struct error err = {0};
    struct reader *reader = record_reader_open(&merging->recordings, trace, &err);
    struct record_summary summary = {0};
    if (reader)
        summary = record_reader_summary(reader);
    merging->elsewhere |= recording_is_elsewhere(&summary);
    if (merging->elsewhere && merging->whole) {
        reader_close(reader);
        return EXIT_DAMAGED;
    }
    if (!reader || recording_write(reader, output, merging->force, &err) != STATUS_OK) {
        reader_close(reader);
        return command_fault(&err);
    }
    summary = record_reader_summary(reader); /* how many events there are is known now */
    recording_report_lacks(&summary);
    report_limit(&summary, output);
    report(merging, &summary, output, ran_ns, trace > 0 || !merging->diagnosed);
    int code = reader->end.complete ? EXIT_DONE : EXIT_DAMAGED;
    reader_close(reader);
    return code;
}

/* app.clog2 becomes app.2.clog2. NULL without memory. */
static char *numbered_output(const char *output, size_t number)
{
    const char *name = text_file_name(output), *dot = strstr(name, ".clog2"); /* .clog2.gz is a suffix, too */
    if (!dot)
        dot = strrchr(name, '.');
    if (!dot)
        dot = name + strlen(name);
    char *numbered;
    if (asprintf(&numbered, "%.*s.%zu%s", (int)(dot - output), output, number, dot) < 0)
        return NULL;
    return numbered;
}

static int merge_traces(struct merging *merging, const char *output, int64_t ran_ns)
{
    int code = merge_trace(merging, 0, output, ran_ns);
    size_t count = merging->recordings.trace_count;
    if (count > 1 && !merging_names_file(output)) {
        fprintf(stderr, "sight: %zu more MPI programs ran: their traces need a name (-o OUT)\n", count - 1);
        return EXIT_OUTPUT;
    }
    for (size_t trace = 1; trace < count && (code == EXIT_DONE || code == EXIT_DAMAGED); trace++) {
        char *numbered = numbered_output(output, trace + 1);
        int its = merge_trace(merging, trace, numbered ? numbered : output, 0);
        if (its != EXIT_DONE)
            code = its;
        free(numbered);
    }
    return code;
}

int merging_run(struct merging *merging, char *const *directories, size_t count, const char *output,
                const struct launch_result *ran, struct merged *merged)
{
    struct error err = {0};
    int code = EXIT_DONE;
    int64_t ran_ns = 0;
    if (recordings_open(&merging->recordings, directories, count, &err) == STATUS_OK) {
        if (ran) {
            merging->recordings.alive_ns = ran->ended_ns;
            ran_ns = ran->ran_ns;
        } else {
            recordings_note_alive(&merging->recordings);
        }
        code = merge_traces(merging, output, ran_ns);
    } else {
        code = command_fault(&err);
    }
    recording_report_failed(&merging->recordings);
    *merged = (struct merged){.elsewhere = merging->elsewhere,
                              .failed = merging->recordings.failed > 0,
                              .nothing = merging->recordings.file_count == 0};
    recordings_close(&merging->recordings);
    return code;
}

int merged_code(const struct merged *merged, int code)
{
    if (merged->failed && (code == EXIT_DONE || code == EXIT_DAMAGED))
        return EXIT_OUTPUT;
    return code;
}

int recording_merge(const struct common_options *common, const struct target_options *target)
{
    struct merged merged;
    /* how long the program ran, and on which clock, is not known any more: no overhead is reported */
    struct merging merging = {.common = common, .force = target->force};
    int code = merging_run(&merging, common->inputs, common->input_count, target->path, NULL, &merged);
    return merged_code(&merged, code);
}
