/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run.h"

#include "cli/progress.h"
#include "cli/run_search.h"
#include "cli/selection.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/text.h"
#include "heuristics/condition.h"
#include "metrics/accumulator.h"
#include "metrics/metrics_file.h"
#include "render/field.h"
#include "replay/analyse.h"
#include "replay/phase_numbers.h"
#include "replay/wait_table.h"
#include "timeline/slices.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing needs an orderly end but the temporary names of outputs. */
static const char *last_words;

static void on_signal(int signal_number)
{
    (void)signal_number;
    output_remove_unfinished();
    if (last_words && write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(EXIT_INTERRUPTED);
    _exit(EXIT_INTERRUPTED);
}

void run_set_last_words(const char *words)
{
    last_words = words;
}

void run_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* nohup */
            sigaction(numbers[i], &action, NULL);
    }
    /* A closed pipe is told by write's result: temporary files are removed, and the work ends silently. So is a file
       that becomes larger than ulimit -f allows. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static bool is_file(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISDIR(about.st_mode));
}

static bool reads_twice(const struct options *options)
{
    return options->from || options->to || options->fix_clocks;
}

/* A trace, or the input of a metrics file where `metrics_file` is given and it is one. NULL and a fault. */
static struct reader *open_inputs(const struct options *options, char *const *inputs, size_t count,
                                  struct input **metrics_file, struct error *err)
{
    if (count == 0) {
        error_set(err, ERROR_USAGE, "no trace given");
        return NULL;
    }
    if (count > 1 || !is_file(inputs[0]))
        return reader_open(inputs, count, err);
    struct input *input = input_open(inputs[0], err);
    if (!input || input_need(input, PROBE_SIZE, err) == STATUS_FAILED ||
        (reads_twice(options) && input_keep(input, err) != STATUS_OK)) {
        input_close(input);
        return NULL;
    }
    size_t size = input_available(input) < PROBE_SIZE ? input_available(input) : PROBE_SIZE;
    if (!metrics_file_probe(input->at, size))
        return reader_open_input(input, err);
    if (metrics_file) {
        *metrics_file = input;
    } else {
        error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace", input->name);
        input_close(input);
    }
    return NULL;
}

struct reader *run_again(const struct options *options, struct reader *reader, struct error *err)
{
    return reader_again(reader, options->inputs, options->input_count, err);
}

/* Reads the trace for what its clocks are wrong by, then opens it again, corrected. Takes the reader. */
static struct reader *fix_clocks(const struct options *options, char *const *inputs, size_t count,
                                 struct reader *reader, struct error *err)
{
    struct progress progress;
    progress_begin(&progress, options->progress, options->quiet);
    reader = reader_fix_clocks(reader, inputs, count, progress_watch, &progress, err);
    progress_end(&progress);
    return reader;
}

/* As open_inputs, corrected if that is asked for. */
static struct reader *open_corrected(const struct options *options, char *const *inputs, size_t count,
                                     struct input **metrics_file, struct error *err)
{
    struct reader *reader = open_inputs(options, inputs, count, metrics_file, err);
    return reader && options->fix_clocks ? fix_clocks(options, inputs, count, reader, err) : reader;
}

struct reader *run_open(const struct options *options, struct error *err)
{
    return open_corrected(options, options->inputs, options->input_count, NULL, err);
}

enum status run_check_trace(char *const *inputs, size_t count, struct error *err)
{
    if (count == 0)
        return error_set(err, ERROR_USAGE, "no trace given");
    if (count > 1 || strcmp(inputs[0], "-") == 0 || !is_file(inputs[0]))
        return STATUS_OK;
    struct input *input = input_open(inputs[0], err);
    enum status status = input ? input_need(input, PROBE_SIZE, err) : STATUS_FAILED;
    if (status != STATUS_FAILED && metrics_file_probe(input->at, input_available(input)))
        status = error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace", input->name);
    input_close(input);
    return status == STATUS_FAILED ? status : STATUS_OK;
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

/* Everything from inputs to metrics, with window and selection of processes. */
struct run_metrics {
    struct reader *reader;
    struct accumulator *accumulator;
    struct metrics *metrics;
    uint32_t *ranks;
    enum depth { DEPTH_METRICS, DEPTH_ANALYSIS, DEPTH_GRAPH } depth;
    struct graph *graph;       /* NULL: not kept */
    struct run_search *search; /* NULL: none is wanted */
};

static enum status metrics_from_file(struct run_metrics *run, const struct options *options, struct input *input,
                                     size_t rank_count, struct error *err)
{
    if (reads_twice(options)) {
        error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: %s the trace", input->name,
                  options->fix_clocks ? "--fix-clocks needs" : "--from and --to need");
        input_close(input);
        return STATUS_FAILED;
    }
    run->metrics = metrics_file_read(input, err);
    input_close(input);
    if (run->metrics && run->ranks)
        metrics_select(run->metrics, run->ranks, rank_count);
    return run->metrics ? STATUS_OK : STATUS_FAILED;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What was corrected, beside what the corrected times gave. */
static void note_clocks(struct metrics *metrics, const struct clocks *clocks, const struct graph *graph)
{
    struct analysis *analysis = metrics->analysis;
    analysis->clocks_fixed = 1;
    analysis->early_recorded = clocks->recorded.early;
    analysis->clock_error_recorded = clocks->recorded.worst_ns;
    analysis->clock_rest = larger(clocks->aligned.worst_ns, clocks->aligned.worst_group_ns);
    analysis->median_wait = waits_median_ns(graph);
    for (size_t i = 0, row = 0; i < metrics->process_count && row < clocks->count; i++) {
        while (row < clocks->count && clocks->rows[row].process < metrics->process[i].rank)
            row++;
        if (row == clocks->count || clocks->rows[row].process != metrics->process[i].rank)
            continue;
        analysis->clock_shift_ns[i] = clocks->rows[row].largest_ns;
        analysis->clock_shift = larger(analysis->clock_shift, clocks->rows[row].largest_ns);
        analysis->clock_bent = larger(analysis->clock_bent, clocks->rows[row].bent_ns);
    }
}

/* What is computed of the graph: the analysis, and beside it the phases. */
struct analysing {
    const struct graph *graph;
    const struct user_spans *spans;
    struct metrics *metrics;
    unsigned threads;
};

static void analyse_part(void *context, size_t index)
{
    struct analysing *analysing = context;
    if (index == 0)
        analysing->metrics->analysis = analyse_in_parallel(analysing->graph, analysing->threads);
    else
        analysing->metrics->phases = phase_metrics_with(analysing->graph, analysing->spans);
}

/* More threads than that are no faster: so many replays there are, and each needs memory; and so many slices of a trace
   a disk can give. */
enum { THREADS_ANALYSING = 4, THREADS_READING = 16 };

static unsigned run_threads(const struct options *options, unsigned most)
{
    int64_t jobs = parallel_processors();
    if (options->jobs && !text_parse_i64(options->jobs, 1, most, &jobs))
        jobs = most;
    return jobs < most ? (unsigned)jobs : most;
}

/* Reads the trace into run->accumulator, if it can be read in slices; else it is still to be read. */
static enum status read_slices(struct run_metrics *run, const struct options *options, char *const *inputs,
                               size_t count, struct accumulator_options what, struct error *err)
{
    unsigned slices = slices_worth(run->reader, inputs, count, run_threads(options, THREADS_READING));
    if (slices < 2)
        return STATUS_OK;
    struct progress progress;
    progress_begin(&progress, options->progress, options->quiet);
    progress.parts = slices;
    run->accumulator = slices_accumulate(run->reader, inputs[0], slices, what, progress_watch, &progress);
    progress_end(&progress);
    if (!run->accumulator)
        run->reader = reader_again(run->reader, inputs, count, err);
    return run->reader ? STATUS_OK : STATUS_FAILED;
}

static enum status metrics_from_trace(struct run_metrics *run, const struct options *options, char *const *inputs,
                                      size_t count, struct accumulator_options what, struct error *err)
{
    if ((options->from || options->to) && selection_window(options, &run->reader, &what, err) != STATUS_OK)
        return STATUS_FAILED;
    bool whole = !options->from && !options->to && !options->processes;
    struct graph_builder *builder = run->depth >= DEPTH_ANALYSIS && whole ? graph_builder_new() : NULL;
    struct user_spans_builder *spans_builder = builder ? user_spans_builder_new() : NULL;
    if (!builder && read_slices(run, options, inputs, count, what, err) != STATUS_OK)
        return STATUS_FAILED;
    bool is_read = run->accumulator != NULL;
    if (!is_read)
        run->accumulator = accumulator_new(what);
    struct sink *sinks[4] = {accumulator_sink(run->accumulator)};
    size_t sink_count = 1;
    if (builder) {
        sinks[sink_count++] = graph_builder_sink(builder);
        sinks[sink_count++] = user_spans_builder_sink(spans_builder);
    }
    if (builder && run->search)
        sinks[sink_count++] = run_search_sink(run->search);
    enum status status = is_read ? STATUS_OK : run_stream(options, run->reader, sinks, sink_count, err);
    struct graph *graph = builder ? graph_builder_end(builder) : NULL;
    struct user_spans *spans = builder ? user_spans_builder_end(spans_builder) : NULL;
    if (status == STATUS_OK)
        run->metrics = accumulator_metrics(run->accumulator, err);
    if (run->metrics && graph && !graph->too_large) {
        struct analysing analysing = {graph, spans, run->metrics, run_threads(options, THREADS_ANALYSING)};
        parallel_run(analysing.threads, 2, analyse_part, &analysing);
        if (run->search)
            run->metrics->search = run_search_finish(run->search, graph, spans, run->metrics, analysing.threads);
    }
    user_spans_free(spans);
    if (run->metrics && run->metrics->analysis && reader_clocks(run->reader))
        note_clocks(run->metrics, reader_clocks(run->reader), graph);
    if (run->depth >= DEPTH_GRAPH)
        run->graph = graph;
    else
        graph_free(graph);
    if (!run->metrics)
        return STATUS_FAILED;
    run->metrics->format = run->reader->format->name;
    return STATUS_OK;
}

static enum status metrics_from_inputs(struct run_metrics *run, const struct options *options, char *const *inputs,
                                       size_t count, struct error *err)
{
    struct accumulator_options what = {0};
    if (selection_ranks(options->processes, &run->ranks, &what.rank_count, err) != STATUS_OK)
        return STATUS_FAILED;
    what.ranks = run->ranks;
    if (options->search && !(run->search = run_search_new(options, err)))
        return STATUS_FAILED;
    struct input *file = NULL;
    run->reader = open_corrected(options, inputs, count, &file, err);
    if (file)
        return metrics_from_file(run, options, file, what.rank_count, err);
    return run->reader ? metrics_from_trace(run, options, inputs, count, what, err) : STATUS_FAILED;
}

static struct run_metrics *run_inputs(const struct options *options, char *const *inputs, size_t count,
                                      enum depth depth, struct error *err)
{
    struct run_metrics *run = memory_new(sizeof *run);
    run->depth = depth;
    if (metrics_from_inputs(run, options, inputs, count, err) == STATUS_OK)
        return run;
    run_metrics_free(run);
    return NULL;
}

struct run_metrics *run_metrics(const struct options *options, char *const *inputs, size_t count, struct error *err)
{
    return run_inputs(options, inputs, count, DEPTH_METRICS, err);
}

struct run_metrics *run_analysis(const struct options *options, char *const *inputs, size_t count, struct error *err)
{
    return run_inputs(options, inputs, count, DEPTH_ANALYSIS, err);
}

struct run_metrics *run_graph(const struct options *options, char *const *inputs, size_t count, struct error *err)
{
    return run_inputs(options, inputs, count, DEPTH_GRAPH, err);
}

const struct graph *run_graph_get(const struct run_metrics *run)
{
    return run->graph;
}

const struct metrics *run_metrics_get(const struct run_metrics *run)
{
    return run->metrics;
}

void run_metrics_free(struct run_metrics *run)
{
    if (!run)
        return;
    graph_free(run->graph);
    metrics_free(run->metrics);
    accumulator_free(run->accumulator);
    run_search_free(run->search);
    reader_close(run->reader);
    free(run->ranks);
    free(run);
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

int run_report(const struct options *options, bool analyse,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct metrics *metrics))
{
    struct error err = {0};
    struct run_metrics *run =
        run_inputs(options, options->inputs, options->input_count, analyse ? DEPTH_ANALYSIS : DEPTH_METRICS, &err);
    if (!run || (check && check(options, run->metrics, &err) != STATUS_OK)) {
        run_metrics_free(run);
        return command_fault(&err);
    }
    struct report report = {.options = options, .metrics = run->metrics, .write = write};
    int64_t duration_ns = time_since(run->metrics->begin_ns, run->metrics->end_ns);
    int code = run_output(options, write_report, &report, run_report_damage(&run->metrics->end, duration_ns));
    run_metrics_free(run);
    return code;
}

struct judged_report {
    const struct options *options;
    const struct judged_run *run;
    void (*write)(struct output *output, const struct options *options, const struct judged_run *run);
};

static void write_judged(struct output *output, const void *context)
{
    const struct judged_report *report = context;
    report->write(output, report->options, report->run);
}

/* 1 where a condition of --fail-on holds; damage wins. */
static int judged_code(const struct options *options, const struct judged_run *run, int code)
{
    char text[CONDITION_TEXT_SIZE];
    if (!options->fail_on || !conditions_hold(options->fail_on, run->metrics, run->findings, text))
        return code;
    fprintf(stderr, "sight: %s\n", text);
    return code == EXIT_DONE ? EXIT_CONDITION : code;
}

int run_judged(const struct options *options,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct judged_run *run))
{
    struct error err = {0};
    if (options->fail_on && conditions_check(options->fail_on, &err) != STATUS_OK)
        return command_fault(&err);
    struct run_metrics *run = run_analysis(options, options->inputs, options->input_count, &err);
    if (!run || (check && check(options, run->metrics, &err) != STATUS_OK)) {
        run_metrics_free(run);
        return command_fault(&err);
    }
    struct heuristic_result *results = heuristics_judge(run->metrics);
    struct findings findings = findings_of(run->metrics, results);
    struct judged_run judged = {run->metrics, results, &findings};
    struct judged_report report = {options, &judged, write};
    int64_t duration_ns = time_since(run->metrics->begin_ns, run->metrics->end_ns);
    int code = run_report_damage(&run->metrics->end, duration_ns);
    code = run_output(options, write_judged, &report, judged_code(options, &judged, code));
    findings_clear(&findings);
    heuristics_free(results);
    run_metrics_free(run);
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
