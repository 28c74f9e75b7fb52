/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SCALING_RUNS_H
#define SIGHT_CLI_SCALING_RUNS_H

#include "cli/command.h"

/* Performing the runs that `sight scaling --processes 1,2,4 -- ./app` is about. */

/* A run that was performed. */
struct performed {
    uint32_t processes, threads;
    char *trace;   /* of a recorded run, owned; NULL: the program uses no MPI, and only its time is known */
    double time_s; /* wall time from start to end */
};

struct performed_runs {
    struct performed *runs;
    size_t count;
    char *directory; /* where the traces are */
    size_t failed;   /* runs that were skipped because the program failed */
};

/* Runs the program, which is the inputs of the options, --repeat times with every number of processes and threads, in
   shuffled order after one run to warm up. `{p}` and `{t}` in its arguments stand for the numbers; OMP_NUM_THREADS is
   set. The program's standard output goes to standard error. Traces are kept in the directory PROGRAM.scaling; existing
   ones are kept unless --force is given, so that an interrupted series continues. Runs that fail are reported and left
   out. Clear the runs afterwards in any case. */
enum status scaling_perform(const struct scaling_options *options, struct performed_runs *performed,
                            struct error *err) MUST_CHECK;
void performed_clear(struct performed_runs *performed);

#endif
