/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SEVERAL_RUNS_H
#define SIGHT_CLI_SEVERAL_RUNS_H

#include "cli/run.h"
#include "runs/scaling.h"

/* Runs of one program, one file each, of commands that take several. */
struct several_runs {
    struct engine_result **results;
    struct scaling_run *runs;
    size_t count, capacity;
};

/* Reads one more run, with analysis and phases; `code` becomes that of damage. */
enum status several_runs_add(struct several_runs *several, const struct common_options *common,
                             const struct trace_options *trace, char *input, int *code, struct error *err) MUST_CHECK;

/* Adds one without a file. */
void several_runs_push(struct several_runs *several, struct scaling_run run);
void several_runs_clear(struct several_runs *several);

/* True if the inputs are more than one run: each is a metrics file, or the trace of a whole run. Else they are the
   local files of one run that was not merged. */
bool several_runs_given(char *const *inputs, size_t count);

/* Index of the run with most processes and threads, the first of several. */
size_t several_runs_largest(const struct several_runs *several);

#endif
