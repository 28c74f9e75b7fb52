/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/recordings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

/* True if the process that wrote the file runs. A zombie has ended all the same, and one that began after the file is
   another with the same number. */
static bool is_alive(const struct record_file *file)
{
    char path[64], state = 'Z';
    unsigned long long began;
    /* EPERM: it is another user's, but it is there */
    if (kill((pid_t)file->header.pid, 0) != 0 && errno == ESRCH)
        return false;
    snprintf(path, sizeof path, "/proc/%u/stat", file->header.pid);
    FILE *stat = fopen(path, "re");
    if (!stat)
        return false;
    int fields =
        fscanf(stat, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &began);
    fclose(stat);
    if (fields < 1 || state == 'Z' || state == 'X')
        return false;
    struct timespec asleep, awake;
    clock_gettime(CLOCK_BOOTTIME, &asleep);
    clock_gettime(CLOCK_MONOTONIC, &awake);
    /* Linux counts the begin from when the machine was started, with the time for which it was suspended. */
    int64_t suspended_s = asleep.tv_sec - awake.tv_sec, ticks = sysconf(_SC_CLK_TCK);
    return fields < 2 || ticks <= 0 || (int64_t)began / ticks - suspended_s <= file->begin_ns / SECOND_NS + 1;
}

size_t recordings_running(const struct recordings *recordings)
{
    char here[RECORD_NAME_SIZE] = "";
    size_t running = 0;
    gethostname(here, sizeof here - 1);
    for (size_t i = 0; i < recordings->file_count; i++) {
        const struct record_file *file = &recordings->files[i];
        /* numbers of processes mean something on their own host only */
        running += file->header.thread == 0 && file->header.end == RECORD_RUNNING &&
                   strcmp(file->header.host_name, here) == 0 && is_alive(file);
    }
    return running;
}

void recordings_note_alive(struct recordings *recordings)
{
    struct timespec now;
    recordings->alive_least = !recordings->note.ended_ns;
    recordings->alive_ns = recordings->alive_least ? recordings->note.alive_ns : recordings->note.ended_ns;
    if (recordings_running(recordings) == 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    recordings->alive_least = false;
    recordings->alive_ns = now.tv_sec * SECOND_NS + now.tv_nsec;
}
