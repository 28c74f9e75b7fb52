/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_LOOKING_H
#define SIGHT_CLI_LOOKING_H

#include "cli/command.h"
#include "cli/progress.h"
#include "timeline/timeline.h"

/* The trace of the command line as a timeline, and the window and processes of its options. */
struct looking {
    struct timeline *timeline;
    struct timeline_view view; /* its rows are the looking's own */
    uint32_t *rows;
    struct progress progress; /* internal */
    const struct options *options;
};

/* A fault also for a metrics file: it has no events. Says what was stored and made. */
enum status looking_open(struct looking *looking, const struct options *options, char *const *inputs, size_t count,
                         struct error *err) MUST_CHECK;
void looking_close(struct looking *looking);

#endif
