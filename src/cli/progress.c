/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/progress.h"

#include "core/text.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Text that appears and disappears at once disturbs; ten times a second looks steady. */
static const int64_t first_after_ns = 500000000, interval_ns = 100000000;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_begin(struct progress *progress, struct choice when, bool quiet)
{
    bool always = choice_is(when, "always"), never = choice_is(when, "never");
    *progress = (struct progress){.shown = always || (!never && !quiet && isatty(STDERR_FILENO))};
    progress->began_ns = now_ns();
    progress->next_ns = progress->began_ns;
    if (!always) /* most traces are read before anyone would look */
        progress->next_ns += first_after_ns;
}

bool progress_watch(void *context, enum engine_step step, uint64_t done, uint64_t total)
{
    struct progress *progress = context;
    (void)step;
    if (!progress->shown)
        return true;
    int64_t now = now_ns();
    if (now < progress->next_ns)
        return true;
    progress->next_ns = now + interval_ns;
    char bytes[TEXT_NUMBER_SIZE];
    /* what comes through a pipe has no size that is known before its end */
    if (total > 0)
        fprintf(stderr, "\rsight: %3.0f %%  %s  ", 100.0 * (double)done / (double)total, text_bytes(bytes, done));
    else
        fprintf(stderr, "\rsight: %s  ", text_bytes(bytes, done));
    progress->printed = true;
    return true;
}

void progress_end(struct progress *progress)
{
    if (progress->printed)
        fputs("\r\033[K", stderr); /* to the line's begin, and erase what stands there (ECMA-48: EL) */
    progress->printed = false;
}
