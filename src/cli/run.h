/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RUN_H
#define SIGHT_CLI_RUN_H

#include "cli/command.h"
#include "convert/stream.h"
#include "core/output.h"
#include "heuristics/finding.h"
#include "metrics/metrics.h"
#include "replay/graph.h"
#include "timeline/fix_clocks.h"

/* What subcommands share: open the trace, run it through sinks with progress, say what is damaged, open the output. */

/* The trace of the command line. NULL and a fault, also for a metrics file: it has no events. With --fix-clocks it is
   read to its end first, and its times are corrected then. */
struct reader *run_open(const struct options *options, struct error *err);

/* The same trace from its begin, with the same corrections. Takes the reader, which must come from run_open or
   run_metrics with --from, --to or --fix-clocks; NULL and a fault. */
struct reader *run_again(const struct options *options, struct reader *reader, struct error *err);

/* A fault where the inputs are none, or a metrics file, which has no events. */
enum status run_check_trace(char *const *inputs, size_t count, struct error *err) MUST_CHECK;

/* Metrics of the given inputs, which are a trace or a metrics file, with the window and the selection of processes of
   the options. NULL and a fault. Free with run_metrics_free. */
struct run_metrics *run_metrics(const struct options *options, char *const *inputs, size_t count, struct error *err);
const struct metrics *run_metrics_get(const struct run_metrics *run);

/* The same with an analysis of the order of events across processes, where there is a whole trace for it: not of a
   metrics file, nor of a window or of some processes; then the metrics have none. */
struct run_metrics *run_analysis(const struct options *options, char *const *inputs, size_t count, struct error *err);

/* The same, and the graph is kept that the analysis is made from; NULL where there is no analysis, or it came from a
   metrics file. */
struct run_metrics *run_graph(const struct options *options, char *const *inputs, size_t count, struct error *err);
const struct graph *run_graph_get(const struct run_metrics *run);
void run_metrics_free(struct run_metrics *run);

/* Streams all events; progress on a terminal. */
enum status run_stream(const struct options *options, struct reader *reader, struct sink *const *sinks, size_t count,
                       struct error *err) MUST_CHECK;

/* Says on standard error what is damaged and how much was used. EXIT_DONE or EXIT_DAMAGED. `last_ns`: time of the last
   event counted from the trace's begin; negative: not known. */
int run_report_damage(const struct trace_end *end, int64_t last_ns);

/* Opens the output that was asked for (standard output by default), lets `write` fill it, and closes it. Returns the
   exit code: that of a fault, else `code`. */
int run_output(const struct options *options, void (*write)(struct output *output, const void *context),
               const void *context, int code);

/* The whole of a command that reports metrics: computes them (with an analysis: see run_analysis), lets `check` (or
   NULL) refuse what they do not have, lets `write` print them, says what is damaged. The exit code. */
int run_report(const struct options *options, bool analyse,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct metrics *metrics));

/* The same with an analysis, and judged: findings are empty where there is no analysis. --fail-on is observed. */
struct judged_run {
    const struct metrics *metrics;
    const struct heuristic_result *results;
    const struct findings *findings;
};
int run_judged(const struct options *options,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct judged_run *run));

/* The inputs as a person names them: "run.clog2", "rank0.clog2 and 3 more". */
void run_title(char *buffer, size_t size, const struct options *options);

/* Signals end the work with code 130 and leave no unfinished output. */
void run_catch_signals(void);

/* What a signal that ends the program is to write on standard error, whole lines; NULL: nothing. Not copied. */
void run_set_last_words(const char *words);

#endif
