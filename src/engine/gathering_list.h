/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_GATHERING_LIST_H
#define SIGHT_ENGINE_GATHERING_LIST_H

#include "engine/gathering.h"

/* For gathering.c: which process has which files of a directory. */

struct gathered_files {
    struct gathered_file *file; /* by name */
    size_t count, capacity;
};

/* Rank 0: those of all hosts that belong to the directory's trace. None where it is an archive that all see alike. */
struct gathered_files gathering_list_all(struct team *team, const char *directory);
void gathered_files_clear(struct gathered_files *files);

/* NULL: there is none of this name. */
struct gathered_file *gathered_files_find(const struct gathered_files *files, const char *name);

/* Sends a job, which a path follows. */
void gathering_send(struct team *team, int rank, const void *job, size_t size, const char *path);

#endif
