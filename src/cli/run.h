/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RUN_H
#define SIGHT_CLI_RUN_H

#include "cli/asking.h"
#include "core/output.h"

/* Shared by subcommands: call the engine, report damage, open the output and print. */

/* Reports on standard error what is damaged and how much was used. EXIT_DONE or EXIT_DAMAGED. `last_ns`: time of the
   last event counted from the trace's begin; negative: not known. */
int run_report_damage(const struct trace_end *end, int64_t last_ns);

/* Opens the output that was asked for, by default (also NULL) standard output, lets `write` fill it, and closes it. It
   has colours if `common` (NULL: no) wants them.
   Returns the exit code: that of a fault, else `code`. */
int run_output(const struct common_options *common, const struct target_options *target,
               void (*write)(struct output *output, const void *context), const void *context, int code);

/* That output alone, for what is written while it is made: the caller closes it. NULL and a fault. */
struct output *run_open(const struct target_options *target, struct error *err);

/* How many rows text shows: with --all every one, else so many. */
size_t run_rows(bool all, size_t usual);

/* A complete command that asks the engine and prints the answer. */
struct run_report {
    const struct common_options *common;
    const struct target_options *target;
    const struct trace_options *trace;
    const struct search_options *search;   /* hypotheses and threshold; NULL: sight's own */
    unsigned wants;                        /* of enum engine_want */
    const struct counter_choice *counters; /* see struct engine_request; NULL: none */
    size_t counter_count;
    bool totals;         /* see struct engine_request */
    const char *fail_on; /* conditions, with ENGINE_FINDINGS; NULL: none */
    const void *context; /* of the functions below: the command's options */
    /* Refuses if something is missing; NULL: nothing can be. */
    enum status (*check)(const void *context, const struct engine_result *run, struct error *err);
    void (*write)(struct output *output, const void *context, const struct engine_result *run);
    /* On standard output, what can be said of a run that hangs before the rest is known (engine_early); NULL: nothing.
     */
    void (*write_early)(struct output *output, const void *context, const struct metrics *metrics,
                        const struct stuck *stuck);
};

/* The first members, from a command's options. */
#define RUN_OPTIONS(options)                                                                                           \
    .common = &(options)->common, .target = &(options)->target, .trace = &(options)->trace, .context = (options)

/* Asks, checks, reports damage, applies the conditions and prints. Returns the exit code. */
int run_report(const struct run_report *report);

/* How wide lines of text are: --width, else the terminal's if it has `least` columns, else 80. */
uint32_t run_width(const struct number_option *width, const struct target_options *target, uint32_t least);

/* The inputs as a person names them: "run.clog2", "rank0.clog2 and 3 more". */
void run_title(char *buffer, size_t size, const struct common_options *common);

/* Whether text on the output is to have colours: --color, NO_COLOR, and whether it is a terminal. */
bool run_wants_colour(const struct common_options *common, const struct target_options *target);

/* Signals that say no more than the result of a write are ignored. Call first. */
void run_ignore_signals(void);

/* Other signals end the work with code EXIT_SIGNAL + their number and leave no unfinished output. */
void run_catch_signals(void);

/* Text that a signal that ends the program writes to standard error, in whole lines; NULL: nothing. Not copied. */
void run_set_last_words(const char *words);

#endif
