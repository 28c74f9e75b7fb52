/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_DIRECTORY_H
#define SIGHT_CORE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Directories that are traces of several files. One may be scattered: its files are on several hosts, and those that
   this host has not got were copied into files without a name (engine/gathering.h). Whoever reads such a trace lists it
   with directory_names, and opens its files where directory_place says; in messages they keep their names. */

/* True of a directory that is there, and of a scattered one. */
bool directory_is(const char *path);

/* The names of its files and directories without hidden ones, ascending; of a scattered one, of its files. NULL and
   errno. */
char **directory_names(const char *path, size_t *count);
void directory_names_free(char **names, size_t count);

/* The path at which a file can be opened: its own, except for one that was copied. Valid as long as `path` is. */
const char *directory_place(const char *path);

/* From now on this directory is scattered, and has the files that are added: those of this host as -1, others as the
   open file with their copy, which it takes. In the whole program, until it ends. Call before threads are started. */
void directory_scatter(const char *path);
void directory_add(const char *path, const char *name, int copy);
bool directory_is_scattered(const char *path);

#endif
