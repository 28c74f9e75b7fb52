/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_GATHERING_H
#define SIGHT_ENGINE_GATHERING_H

#include "core/error.h"
#include "team/team.h"

#include <stdbool.h>
#include <stdint.h>

/* For the engine: directories whose files are on several hosts, as where each host of a run has recorded to a disk of
   its own. Rank 0 gets a copy of every file that it has not got, from whoever has it (core/directory.h); of the buffer
   files of a recording, only those pieces that it reads; of the local files of an OTF2 archive, only those that it
   reads. What all processes see in the same way stays as it is. */

/* A file of such a directory. */
struct gathered_file {
    char *name; /* "traces/3.evt" of one in a directory below it */
    uint64_t size, inode;
    int64_t time_ns;
    int *ranks; /* that have it, ascending */
    size_t rank_count, rank_capacity;
    bool in_pieces; /* nothing of it is read but through directory_read(), or after directory_bring() */
    bool fetched;   /* as a whole */
    bool differs;   /* hosts have different files of this name */
};

/* Rank 0, of a scattered directory that engine_gather() was called for: its files by name; NULL: there is none.
 * Borrowed.
 */
const struct gathered_file *gathering_files(const char *directory, size_t *count);
/* The file at a path; NULL: it is in no such directory. */
const struct gathered_file *gathering_file(const char *path);
bool gathering_has(const struct gathered_file *file, int rank);
/* Whether any file of a scattered directory is read in pieces. */
bool gathering_in_pieces(const char *directory);

/* A file in TMPDIR that has the size and the time of this one, and nothing in it; -1: it cannot be made. */
int gathering_copy(const struct gathered_file *file, struct error *err);

/* The other processes: which files of a directory they have, and a piece of one. `data`: the message of a JOB_LIST, of
   a JOB_PIECE. */
void gathering_list(struct team *team, const char *data);
void gathering_piece(struct team *team, const char *data);

#endif
