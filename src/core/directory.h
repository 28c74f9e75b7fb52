/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_DIRECTORY_H
#define SIGHT_CORE_DIRECTORY_H

#include "core/error.h"
#include "core/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Directories that are traces of several files. One may be scattered: its files are on several hosts, and those that
   this host has not got were copied into files without a name (engine/gathering.h). Whoever reads such a trace lists it
   with directory_names, and opens its files where directory_place says; in messages they keep their names.

   Of a file that is only read by directory_read, or brought before it is opened, the copy may have the file's size and
   holes: what is in them is fetched when it is read. Files of directories below a scattered one are files of it, with
   names such as "traces/3.evt". */

/* True of a directory that is there, of a scattered one, and of one below it. */
bool directory_is(const char *path);

/* The names of its files and directories without hidden ones, ascending. NULL and errno. */
char **directory_names(const char *path, size_t *count);
void directory_names_free(char **names, size_t count);

/* The path of a file in a directory; free() it. */
char *directory_join(const char *path, const char *name);

/* The path at which a file can be opened: its own, except for one that was copied. Valid as long as `path` is. */
const char *directory_place(const char *path);

/* From now on this directory is scattered, and has the files that are added: those of this host as -1, others as the
   open file with their copy, which it takes. In the whole program, until it ends. Call before threads are started. */
void directory_scatter(const char *path);
void directory_add(const char *path, const char *name, int copy);
bool directory_is_scattered(const char *path);

/* Adds a file whose copy has nothing but holes yet. */
void directory_add_in_pieces(const char *path, const char *name, int copy);

/* Adds a file that only other hosts have: its copy, with nothing but holes, is made when it is needed. */
void directory_add_elsewhere(const char *path, const char *name, uint64_t size);

/* The bytes of a regular file, also before it has a copy; false: there is none. */
bool directory_size(const char *path, uint64_t *size);

/* Reads up to `size` bytes of a file of any directory from `at` on, as pread: how many. Of a scattered one in one
   thread at a time. */
size_t directory_read(const char *path, uint64_t at, void *data, size_t size);

/* How files of a scattered directory are had from where they are; `fetch` NULL: they are not. */
struct directory_source {
    /* A piece: how many bytes of it there are. */
    size_t (*fetch)(void *context, const char *name, uint64_t at, void *data, size_t size);
    /* The whole file, which goes to its copy (directory_give). */
    enum status (*whole)(void *context, const char *name, struct error *err);
    /* A new copy; -1: it cannot be made. */
    int (*copy)(void *context, const char *name, struct error *err);
    void *context;
};
void directory_fetch_by(const char *path, struct directory_source source);

/* Before a file is opened by others than directory_read: what its copy lacks is fetched. STATUS_END: it cannot be had.
 */
enum status directory_bring(const char *path, struct error *err) MUST_CHECK;

/* Fills in a part of a copy with holes. False and errno: it cannot be written. */
bool directory_give(const char *path, const char *name, uint64_t at, const void *data, size_t size);

/* Which bytes of a file of a scattered directory directory_read was asked for so far. Borrowed until the next call that
   reads. */
struct ranges directory_asked(const char *path, const char *name);

/* While `alone`, nothing is fetched, and what is read is not noted. */
void directory_alone(bool alone);

/* Whether something was read since the last call that could not be had: then what came of it must not be used. */
bool directory_missed(void);

#endif
