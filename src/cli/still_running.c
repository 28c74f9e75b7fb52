/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/still_running.h"

#include "convert/record/recordings.h"

#include <time.h>

enum { WAIT_STEP_MS = 20, WAIT_MS = 10000 };

size_t still_running_count(const char *directory)
{
    struct error err = {0};
    struct recordings recordings;
    size_t running = 0;
    if (recordings_open(&recordings, (char *const *)&directory, 1, &err) == STATUS_OK)
        running = recordings_running(&recordings);
    recordings_close(&recordings);
    return running;
}

size_t still_running_wait(const char *directory)
{
    size_t running = still_running_count(directory);
    for (int waited = 0; running > 0 && waited < WAIT_MS; waited += WAIT_STEP_MS) {
        nanosleep(&(struct timespec){.tv_nsec = WAIT_STEP_MS * 1000000L}, NULL);
        running = still_running_count(directory);
    }
    return running;
}
