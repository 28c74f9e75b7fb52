/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_SNAPSHOT_H
#define SIGHT_CLI_SNAPSHOT_H

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* True if the path is a directory with the buffer files of a recording: of a program that runs, or of one whose
   recording was left unmerged. */
bool snapshot_is_possible(const char *path);

/* What a recording's directory has recorded up to now, as a CLOG-2 file in which open calls reach up to now; the files
   of the program are only read. `events`: how many the program has made. */
enum status snapshot_write(const char *directory, const char *path, uint64_t *events, struct error *err) MUST_CHECK;

/* True if processes that write to the directory are alive on this host. */
bool snapshot_is_written(const char *directory);

#endif
