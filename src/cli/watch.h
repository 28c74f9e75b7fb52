/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_WATCH_H
#define SIGHT_CLI_WATCH_H

#include "cli/command.h"
#include "cli/deaths.h"

#include <sys/types.h>

/* A recorded program is watched while it runs: that it does is noted, and which process was killed; --timeout ends it
   when its time is up, --on-hang reports why no process makes progress, --kill then ends it. */
struct watch {
    int64_t timeout_ns, on_hang_ns; /* 0: not asked for */
    bool kill;
    const char *directory; /* of the recording */
    int64_t begin_ns, next_look_ns, next_note_ns, reported_ns, ended_ns;
    struct deaths deaths;
    bool ended; /* by the watch: the exit code is that of timeout(1) */
};

/* From the options. STATUS_FAILED: they contradict each other; else it is to be stopped when the program has ended. */
enum status watch_start(struct watch *watch, const struct watch_options *options, const char *directory,
                        struct error *err) MUST_CHECK;

void watch_stop(struct watch *watch);

/* When the program has ended, at this time of clock_ns(): says on standard error where its processes are that did not
   finalise MPI, and why, before the recording is merged, which takes much longer. */
void watch_explain(const struct watch *watch, int64_t ended_ns);

/* Now and then, at least once a second, while the program runs. A launch_watch. */
int watch_look(void *watch, pid_t program, int *handle);

#endif
