/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_OWN_FILE_H
#define SIGHT_RECORD_OWN_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file of the recorder in a process whose file descriptors are the program's: it may close ours, reuse their numbers,
   exhaust all descriptors, or change its root. So the descriptor has a high number, out of the program's way, and is
   checked before each use to still be this file; if not, the file is opened again by its name. All functions keep errno
   unless they fail. */
struct own_file {
    int descriptor; /* -1: none */
    dev_t device;
    ino_t inode;
    char *path;
};

/* Bytes that these functions have written for all files of the process, in whole pages, at most: what the kernel counts
   is less where pages are written again before they are on the disk. */
uint64_t own_file_bytes(void);

/* Creates the file, which must not exist. False and errno. */
bool own_file_create(struct own_file *file, const char *path);

/* Makes room on the disk. False and errno: it is full, or the file may not become that large. */
bool own_file_extend(struct own_file *file, uint64_t at, uint64_t size);

/* Maps a part of it, shared. NULL and errno. */
void *own_file_map(struct own_file *file, uint64_t at, size_t size);

/* Makes the pages of a mapped part present, where the kernel can: otherwise the first access to each takes about 2 us,
   and now and then 300 us. */
void own_file_populate(void *mapped, size_t size);

/* All of the data, or false and errno. */
bool own_file_write(struct own_file *file, const void *data, size_t size, uint64_t at);
bool own_file_read(struct own_file *file, void *data, size_t size, uint64_t at);

bool own_file_truncate(struct own_file *file, uint64_t size);

/* Closes the descriptor if it is still ours; the next use opens the file again. */
void own_file_rest(struct own_file *file);

/* The same, and forgets the file. */
void own_file_close(struct own_file *file);

/* Closes the file that could be made but not used, for `reason` (of errno), and gives it a name that says so, with
   RECORD_FAILED_SUFFIX: `sight record` finds it. */
void own_file_fail(struct own_file *file, int reason);

/* The descriptor under a high number, out of the program's way; as it is where that cannot be. */
int own_file_move_away(int descriptor);

/* Calls of the system are where a thread that was cancelled ends: not in ours, which may hold a lock, but where it
   would end without us. Between the two, with what the first returned. */
static inline int cancel_hold(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void cancel_let(int before)
{
    pthread_setcancelstate(before, NULL);
}

#endif
