/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_CLOG2_PARTS_H
#define SIGHT_CONVERT_CLOG2_CLOG2_PARTS_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds the per-process files of one CLOG-2 run that were never merged (a crashed run's, or MPE_DELETE_LOCALFILE=no).
   read_clog2.c reads them as one trace. */

struct path_list {
    char **paths; /* owned */
    size_t count, capacity;
    bool parts; /* the files are local files, to be read as one trace */
};

void path_list_clear(struct path_list *list);

/* Finds the files of the user's paths: one file stays one; several files, or a directory, are the local files of one
   run, in rank order (a finalised file beside local ones in a directory is left out; a directory with one trace is that
   trace). */
enum status clog2_parts_list(struct path_list *list, char *const *paths, size_t count, struct error *err);

/* True for a file that is a local one. */
bool clog2_is_part(const char *path);

/* The reader over a list with `parts`. NULL and a fault. */
struct reader *clog2_parts_open(const struct path_list *list, struct error *err);

#endif
