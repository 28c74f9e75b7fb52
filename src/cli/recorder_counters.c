/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/recorder_counters.h"

#include "cli/command.h"
#include "core/guess.h"
#include "core/record_format.h"
#include "core/text.h"
#include "record/perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* 0, or why the kernel does not count it (errno). */
static int lack_of(const struct perf_counter *counter)
{
    uint64_t number;
    int descriptor = perf_open(counter, &number);
    if (descriptor < 0)
        return errno;
    close(descriptor);
    return 0;
}

static enum status unknown(const char *name, size_t length, struct error *err)
{
    char nearest[GUESS_TEXT];
    struct guess guess = guess_of(name, length);
    for (size_t i = 0; i < perf_count(); i++)
        guess_try(&guess, perf_at(i)->name);
    return error_set(err, ERROR_USAGE, "--counters: there is no counter '%.*s'%s", (int)(length < 60 ? length : 60),
                     name, guess_text(nearest, &guess, "", "; sight record --list-counters has all"));
}

enum status recorder_counters_check(const char *list, const struct common_options *common, struct error *err)
{
    char lacking[400] = "";
    int reason = 0;
    size_t count = 0;
    for (const char *at = list; at; count++) {
        size_t length = strcspn(at, ","), index = perf_find(at, length);
        if (index == SIZE_MAX)
            return unknown(at, length, err);
        if (count == RECORD_COUNTERS_MOST)
            return error_set(err, ERROR_USAGE, "--counters: more than %d counters", RECORD_COUNTERS_MOST);
        int lack = lack_of(perf_at(index));
        if (lack != 0) {
            text_append(lacking, sizeof lacking, "%s%s", *lacking ? ", " : "", perf_at(index)->name);
            reason = lack;
        }
        at = at[length] ? at + length + 1 : NULL;
    }
    if (*lacking)
        command_note(common, "this machine does not count %s: %s", lacking, strerror(reason));
    return STATUS_OK;
}

int recorder_counters_list(void)
{
    bool any = false;
    int reason = 0;
    for (size_t i = 0; i < perf_count(); i++) {
        const struct perf_counter *counter = perf_at(i);
        int lack = lack_of(counter);
        printf("%-24s %s%s\n", counter->name, counter->meaning, lack == 0 ? "" : " (not here)");
        if (strcmp(counter->name, "cycles") == 0) {
            any = lack == 0;
            reason = lack;
        }
    }
    if (!any)
        printf("\nThis machine has no counters of the processor: %s.\n", strerror(reason));
    return EXIT_DONE;
}
