/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RUN_H
#define SIGHT_CLI_RUN_H

#include "cli/asking.h"
#include "core/output.h"

/* Shared by subcommands: call the engine, report damage, open the output and print. */

/* Reports on standard error what is damaged and how much was used. EXIT_DONE or EXIT_DAMAGED. `last_ns`: time of the
   last event counted from the trace's begin; negative: not known. */
int run_report_damage(const struct trace_end *end, int64_t last_ns);

/* Opens the output that was asked for (standard output by default), lets `write` fill it, and closes it. Returns the
   exit code: that of a fault, else `code`. */
int run_output(const struct options *options, void (*write)(struct output *output, const void *context),
               const void *context, int code);

/* A complete command that reports metrics: requests them and other results (enum engine_want), lets `check` (or NULL)
   refuse if something is missing, lets `write` print them, reports damage. Returns the exit code. */
int run_report(const struct options *options, unsigned wants,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct metrics *metrics));

/* The same with findings in addition: --fail-on is applied. */
int run_judged(const struct options *options, unsigned wants,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct engine_result *run));

/* How wide lines of text are: --width, from `least` to 1,000, else the terminal's, else 80. */
enum status run_width(const struct options *options, uint32_t least, uint32_t *width, struct error *err) MUST_CHECK;

/* The inputs as a person names them: "run.clog2", "rank0.clog2 and 3 more". */
void run_title(char *buffer, size_t size, const struct options *options);

/* Whether text on the output is to have colours: --color, NO_COLOR, and whether it is a terminal. */
bool run_wants_colour(const struct options *options);

/* Signals end the work with code 130 and leave no unfinished output. */
void run_catch_signals(void);

/* Text that a signal that ends the program writes to standard error, in whole lines; NULL: nothing. Not copied. */
void run_set_last_words(const char *words);

#endif
