/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/snapshot.h"

#include "cli/live.h"
#include "cli/merging.h"
#include "cli/still_running.h"
#include "convert/record/read_record.h"
#include "record/clock.h"

#include <dirent.h>
#include <string.h>

bool snapshot_is_possible(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (directory && !found && (entry = readdir(directory))) {
        size_t length = strlen(entry->d_name), suffix = strlen(RECORD_SUFFIX);
        found = length > suffix && strcmp(entry->d_name + length - suffix, RECORD_SUFFIX) == 0;
    }
    if (directory)
        closedir(directory);
    return found;
}

enum status snapshot_write(const char *directory, const char *path, uint64_t *events, struct error *err)
{
    struct recordings recordings;
    char *from = (char *)(uintptr_t)directory; /* only read */
    struct reader *reader = NULL;
    enum status status = recordings_open(&recordings, &from, 1, err);
    if (status == STATUS_OK) {
        recordings_freeze(&recordings);
        recordings.alive_ns = clock_ns();
        reader = record_reader_open(&recordings, 0, err);
        status = reader ? recording_write(reader, path, true, err) : STATUS_FAILED;
    }
    if (status == STATUS_OK)
        status = live_check_whole(&recordings, directory, err);
    if (status == STATUS_OK) {
        struct record_summary summary = record_reader_summary(reader);
        *events = summary.events;
    }
    reader_close(reader);
    recordings_close(&recordings);
    return status;
}

bool snapshot_is_written(const char *directory)
{
    return still_running_count(directory) > 0;
}
