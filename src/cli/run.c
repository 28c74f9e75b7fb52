/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run.h"

#include "cli/progress.h"
#include "cli/selection.h"
#include "core/memory.h"
#include "core/text.h"
#include "metrics/accumulator.h"
#include "render/field.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nothing needs an orderly end but the temporary names of outputs. */
static void on_signal(int signal_number)
{
    (void)signal_number;
    output_remove_unfinished();
    _exit(EXIT_INTERRUPTED);
}

void run_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* A closed pipe is told by write's result: temporary files are removed, and the work ends silently. */
    signal(SIGPIPE, SIG_IGN);
}

struct reader *run_open(const struct options *options, struct error *err)
{
    if (options->input_count == 0) {
        error_set(err, ERROR_USAGE, "no trace given");
        return NULL;
    }
    return reader_open(options->inputs, options->input_count, err);
}

enum status run_stream(const struct options *options, struct reader *reader, struct sink *const *sinks, size_t count,
                       struct error *err)
{
    struct progress progress;
    progress_begin(&progress, options->progress, options->quiet);
    enum status status = stream_run(reader, sinks, count, progress_watch, &progress, err);
    progress_end(&progress);
    return status;
}

int run_report_damage(const struct trace_end *end, int64_t last_ns)
{
    if (end->complete)
        return EXIT_DONE;
    char duration[TEXT_NUMBER_SIZE];
    fprintf(stderr, "sight: %s", end->damage.count ? end->damage.first : "the trace is incomplete");
    if (end->damage.count > 1)
        fprintf(stderr, " (and %llu more)", (unsigned long long)(end->damage.count - 1));
    if (end->total > 0)
        fprintf(stderr, "; used %.1f %% of the size", 100.0 * (double)end->used / (double)end->total);
    if (last_ns >= 0)
        fprintf(stderr, ", up to %s", text_duration(duration, last_ns));
    fputc('\n', stderr);
    return EXIT_DAMAGED;
}

/* Everything from the command line to metrics, with window and selection of processes. */
struct run_metrics {
    struct reader *reader;
    struct accumulator *accumulator;
    struct metrics *metrics;
    uint32_t *ranks;
};

static enum status run_metrics(struct run_metrics *run, const struct options *options, struct error *err)
{
    struct accumulator_options what = {0};
    if (selection_ranks(options->processes, &run->ranks, &what.rank_count, err) != STATUS_OK)
        return STATUS_FAILED;
    what.ranks = run->ranks;
    run->reader = run_open(options, err);
    if (!run->reader)
        return STATUS_FAILED;
    if ((options->from || options->to) && selection_window(options, &run->reader, &what, err) != STATUS_OK)
        return STATUS_FAILED;
    run->accumulator = accumulator_new(what);
    struct sink *sinks[] = {accumulator_sink(run->accumulator)};
    if (run_stream(options, run->reader, sinks, 1, err) != STATUS_OK)
        return STATUS_FAILED;
    run->metrics = accumulator_metrics(run->accumulator, err);
    if (!run->metrics)
        return STATUS_FAILED;
    run->metrics->format = run->reader->format->name;
    return STATUS_OK;
}

static void run_metrics_free(struct run_metrics *run)
{
    metrics_free(run->metrics);
    accumulator_free(run->accumulator);
    reader_close(run->reader);
    free(run->ranks);
}

int run_output(const struct options *options, void (*write)(struct output *output, const void *context),
               const void *context, int code)
{
    struct error err = {0};
    struct output_options how = {.replace = options->force};
    struct output *output = output_open(options->output ? options->output : "-", how, &err);
    if (!output)
        return command_fault(&err);
    write(output, context);
    if (output_close(output, true, &err) != STATUS_OK)
        return command_fault(&err);
    return code;
}

struct report {
    const struct options *options;
    const struct metrics *metrics;
    void (*write)(struct output *output, const struct options *options, const struct metrics *metrics);
};

static void write_report(struct output *output, const void *context)
{
    const struct report *report = context;
    report->write(output, report->options, report->metrics);
}

int run_report(const struct options *options,
               void (*write)(struct output *output, const struct options *options, const struct metrics *metrics))
{
    struct error err = {0};
    struct run_metrics run = {0};
    int code;
    if (run_metrics(&run, options, &err) != STATUS_OK) {
        code = command_fault(&err);
    } else {
        struct report report = {.options = options, .metrics = run.metrics, .write = write};
        int64_t duration_ns = time_since(run.metrics->begin_ns, run.metrics->end_ns);
        code = run_output(options, write_report, &report, run_report_damage(&run.metrics->end, duration_ns));
    }
    run_metrics_free(&run);
    return code;
}

void run_title(char *buffer, size_t size, const struct options *options)
{
    const char *first = options->input_count ? options->inputs[0] : "";
    char shown[VALUE_TEXT_SIZE];
    text_for_terminal(shown, sizeof shown, strcmp(first, "-") == 0 ? "standard input" : first, 100);
    if (options->input_count > 1)
        snprintf(buffer, size, "%s and %zu more", shown, options->input_count - 1);
    else
        snprintf(buffer, size, "%s", shown);
}
