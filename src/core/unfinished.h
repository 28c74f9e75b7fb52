/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_UNFINISHED_H
#define SIGHT_CORE_UNFINISHED_H

#include <stdbool.h>

/* Files and directories that must be removed if the program ends early: temporary names of outputs, and
   directories for what is needed only while the program runs. */

/* Notes the path; of a directory, all that will be in it. Returns its place for unfinished_drop; -1: there is no room,
   and it is not noted. */
int unfinished_add(const char *path, bool directory);

/* mkdtemp() and mkostemp() that note what they make, with no signal in between. The directory: false and errno. The
   file: -1 and errno. Where the file system can, the file has no name, and `path` stays as it is: then nothing is left
   of it however the program ends. */
bool unfinished_make_directory(char *path, int *place);
int unfinished_make_file(char *path, int *place, bool *named);

/* Gives such a file a name like that of mkostemp(), beside the place where it will be: false and errno. */
bool unfinished_name_file(int fd, char *path, int *place);

/* Forgets it; -1 is nothing. */
void unfinished_drop(int place);

/* Removes what is noted: for a signal handler (async-signal-safe). */
void unfinished_remove(void);

#endif
