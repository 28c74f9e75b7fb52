/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/still_running.h"

#include "convert/record/recordings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_STEP_MS = 20, WAIT_MS = 10000 };

/* A zombie process has ended all the same. */
static bool is_alive(uint32_t pid)
{
    char path[64], state = 'Z';
    /* EPERM: it is another user's, but it is there */
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return false;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    int fields = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return fields == 1 && state != 'Z' && state != 'X';
}

size_t still_running_count(const char *directory)
{
    struct error err = {0};
    struct recordings recordings;
    size_t running = 0;
    char here[RECORD_NAME_SIZE] = "";
    gethostname(here, sizeof here - 1);
    enum status status = recordings_open(&recordings, (char *const *)&directory, 1, &err);
    for (size_t i = 0; status == STATUS_OK && i < recordings.file_count; i++) {
        const struct record_header *header = &recordings.files[i].header;
        /* numbers of processes mean something on their own host only */
        running += header->thread == 0 && header->end == RECORD_RUNNING && strcmp(header->host_name, here) == 0 &&
                   is_alive(header->pid);
    }
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
