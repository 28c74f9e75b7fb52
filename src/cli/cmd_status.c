/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight status` and `sight top`: where the processes of a program are that is being recorded, while it runs. */
#include "cli/commands.h"

#include "cli/run.h"
#include "cli/status_report.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_LINES = 40, TOP_LINES = 20 };

/* A directory goes first: its name may be a number, too. The directory that is asked for: by name, by a process, or the
 * one that there is. */
static char *directory_of(const struct common_options *common, struct error *err)
{
    int64_t pid = 0;
    const char *what = NULL;
    if (common->input_count > 0)
        what = common->inputs[0];
    struct stat about;
    if (what && stat(what, &about) == 0 && S_ISDIR(about.st_mode))
        return memory_copy_string(what);
    if (what && !text_parse_i64(what, 1, INT32_MAX, &pid)) {
        (void)error_set(err, ERROR_INPUT, "%s: is neither a recording's directory nor a process ID", what);
        return NULL;
    }
    char *directory = live_find((long)pid);
    if (!directory) {
        if (what)
            (void)error_set(err, ERROR_INPUT, "process %s is not being recorded", what);
        else
            (void)error_set(err, ERROR_INPUT, "no program is being recorded here");
    }
    return directory;
}

struct shown {
    const struct live *live;
    struct live_pace pace;
    const char *directory;
    bool json, screen;
};

static void write_status(struct output *output, const void *context)
{
    const struct shown *shown = context;
    if (shown->json)
        status_write_json(output, shown->live, &shown->pace, shown->directory);
    else
        status_write_text(output, shown->live, &shown->pace, shown->directory,
                          shown->screen ? TOP_LINES : STATUS_LINES);
}

int cmd_status(const struct command *command, const struct status_options *options)
{
    (void)command;
    struct error err = {0};
    struct live live;
    char *directory = directory_of(&options->common, &err);
    if (!directory || live_open(&live, directory, 0, true, NULL, &err) != STATUS_OK) {
        free(directory);
        return command_fault(&err);
    }
    struct shown shown = {.live = &live,
                          .pace = live_pace_of(NULL, &live),
                          .directory = directory,
                          .json = choice_is(options->format, "json")};
    int code = run_output(&options->common, &options->target, write_status, &shown, EXIT_DONE);
    live_pace_clear(&shown.pace);
    live_close(&live);
    free(directory);
    return code;
}

/* Once a second until the program has ended. */
int cmd_top(const struct command *command, const struct top_options *options)
{
    (void)command;
    struct error err = {0};
    struct live before = {0}, now;
    char *directory = directory_of(&options->common, &err);
    if (!directory)
        return command_fault(&err);
    struct shown shown = {.directory = directory, .json = choice_is(options->format, "json")};
    shown.screen = !shown.json && isatty(STDOUT_FILENO);
    int code = EXIT_DONE;
    bool goes_on = true;
    while (goes_on && code == EXIT_DONE &&
           live_open(&now, directory, 0, true, before.state ? &before : NULL, &err) == STATUS_OK) {
        shown.live = &now;
        /* the first time since the begin, then since the last look */
        shown.pace = live_pace_of(before.state ? &before : NULL, &now);
        if (shown.screen) /* the cursor goes home and the screen is cleared (ECMA-48: CUP, ED) */
            fputs("\033[H\033[2J", stdout);
        fflush(stdout);
        code = run_output(&options->common, NULL, write_status, &shown, EXIT_DONE);
        live_pace_clear(&shown.pace);
        goes_on = now.unfinished > 0;
        live_close(&before);
        before = now;
        if (goes_on)
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    /* That it cannot be read any more is how it ends, when the recording is merged and removed. */
    bool seen = before.state != NULL;
    live_close(&before);
    free(directory);
    return seen ? code : command_fault(&err);
}
