/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/watch.h"

#include "cli/launch.h"
#include "cli/live.h"
#include "convert/record/launch_note.h"
#include "convert/record/recordings.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "record/clock.h"
#include "render/reports/stuck_report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS INT64_C(1000000000)
#define GRACE_NS (5 * SECOND_NS) /* from SIGTERM to SIGKILL */
enum { PLACES = 20, STEP_MS = 50, NOTE_MS = 1000 };

enum status watch_start(struct watch *watch, const struct watch_options *options, const char *directory,
                        struct error *err)
{
    *watch = (struct watch){.timeout_ns = options->timeout.ns,
                            .on_hang_ns = options->on_hang.ns,
                            .kill = options->kill,
                            .directory = directory,
                            .begin_ns = clock_ns()};
    if (options->kill && !options->on_hang.text)
        return error_set(err, ERROR_USAGE, "--kill needs --on-hang");
    deaths_start(&watch->deaths, directory);
    return STATUS_OK;
}

void watch_stop(struct watch *watch)
{
    /* What has ended since then is known to have exited or not, if nothing else. */
    deaths_look(&watch->deaths, 0, watch->ended || launch_was_signalled());
    deaths_stop(&watch->deaths);
}

/* Politely first: launchers end their processes then. */
/* Called again and again until the program has ended: SIGKILL comes where SIGTERM was not enough. */
static void end_program(struct watch *watch, pid_t program, int64_t now_ns)
{
    if (!watch->ended) {
        kill(program, SIGTERM);
        watch->ended_ns = now_ns;
        watch->ended = true;
    } else if (now_ns - watch->ended_ns > GRACE_NS) {
        kill(program, SIGKILL);
    }
}

/* On standard error, after a line of what has happened. */
static void report(const char *what, const struct stuck *stuck)
{
    size_t length;
    struct output *output = output_open_memory();
    output_print(output, "sight: %s%s\n", what, stuck_is_reported(stuck) || stuck->quiet ? ":" : "");
    stuck_write_places(output, stuck, PLACES);
    char *text = output_take(output, &length);
    fwrite(text, 1, length, stderr);
    free(text);
}

/* True if no process has made progress for this long; only once each time. */
static bool hangs(struct watch *watch)
{
    struct error err = {0};
    struct live live;
    if (live_open(&live, watch->directory, 0, false, NULL, &err) != STATUS_OK)
        return false; /* it has not begun yet */
    const struct stuck *stuck = live.stuck;
    /* Processes that have come to MPI_Finalize make no calls any more, and do not hang. */
    bool quiet = live.unfinished > 0 && time_since(stuck->progress_ns, stuck->end_ns) >= watch->on_hang_ns;
    if (quiet && watch->reported_ns != stuck->progress_ns) {
        char pause[TEXT_NUMBER_SIZE], what[TEXT_NUMBER_SIZE + 40];
        snprintf(what, sizeof what, "no process has gone on for %s",
                 text_duration(pause, time_since(stuck->progress_ns, stuck->end_ns)));
        report(what, stuck);
        watch->reported_ns = stuck->progress_ns;
    }
    live_close(&live);
    return quiet;
}

static void look(struct watch *watch, pid_t program, int64_t now_ns)
{
    if (watch->ended || (watch->timeout_ns > 0 && now_ns - watch->begin_ns >= watch->timeout_ns)) {
        if (!watch->ended)
            fprintf(stderr, "sight: time limit reached: program stopped\n");
        end_program(watch, program, now_ns);
        return;
    }
    if (watch->on_hang_ns == 0 || now_ns < watch->next_look_ns)
        return;
    bool hang = hangs(watch);
    /* Reading takes its time: a tenth of it at most is spent so. */
    int64_t took_ns = clock_ns() - now_ns, pause_ns = watch->on_hang_ns / 4;
    pause_ns = larger(pause_ns, SECOND_NS / 4);
    watch->next_look_ns = clock_ns() + larger(pause_ns, 10 * took_ns);
    if (hang && watch->kill) {
        fprintf(stderr, "sight: the program is ended (--kill)\n");
        end_program(watch, program, now_ns);
    }
}

int watch_look(void *context, pid_t program, int *handle)
{
    struct watch *watch = context;
    /* First: whoever else sees that a process has ended may end the others. */
    int soon_ms = deaths_look(&watch->deaths, program, watch->ended || launch_was_signalled());
    *handle = watch->deaths.handle;
    int64_t now_ns = clock_ns();
    if (now_ns >= watch->next_note_ns) {
        launch_note_alive(watch->directory, now_ns);
        watch->next_note_ns = now_ns + SECOND_NS;
    }
    look(watch, program, now_ns);
    if (soon_ms > 0)
        return soon_ms;
    return watch->timeout_ns > 0 || watch->on_hang_ns > 0 ? STEP_MS : NOTE_MS;
}

/* Of a program that has ended as it should nothing is read. */
static bool is_unfinished(const char *directory)
{
    struct error err = {0};
    struct recordings recordings;
    bool unfinished = false;
    if (recordings_open(&recordings, (char *const *)&directory, 1, &err) == STATUS_OK)
        for (size_t i = 0; i < recordings.file_count; i++)
            unfinished |= recordings.files[i].header.end != RECORD_FINALIZED;
    recordings_close(&recordings);
    return unfinished;
}

void watch_explain(const struct watch *watch, int64_t ended_ns)
{
    struct error err = {0};
    struct live live;
    /* A hang that was reported while it lasted is not said twice. */
    if (watch->reported_ns != 0 || !is_unfinished(watch->directory) ||
        live_open(&live, watch->directory, ended_ns, false, NULL, &err) != STATUS_OK)
        return;
    if (live.unfinished > 0 && stuck_is_reported(live.stuck))
        report("the program did not come to its end", live.stuck);
    live_close(&live);
}
