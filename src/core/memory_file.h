/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MEMORY_FILE_H
#define SIGHT_CORE_MEMORY_FILE_H

#include "core/error.h"

#include <stdint.h>

/* Large blocks of memory.h in a file without a name in TMPDIR instead of in memory, for the rest of the program. The
   file is mapped, so that those who use the blocks need not know. Every 0.3 ms a signal looks how much memory the
   process has; near `limit` bytes all pages of the file are given back. What is used goes on being used: those pages
   come back, from the system's cache or from the disk. The rest stays in the file.

   What is not in large blocks stays in memory: if that alone comes near the limit, the process has more.

   SIGALRM and SIGBUS are in use from then on. If the disk is full, also for pages
   that the system writes later, `failed` is called with one line (as in struct error); it must not return, and may only
   do what a signal handler may. Failed: no file could be made or mapped. */
enum status memory_file_begin(uint64_t limit, void (*failed)(const char *text), struct error *err) MUST_CHECK;

/* The same once the process has more than half of `room` bytes in memory (memory_room.h) apart from mapped files, if
   that ever happens, with a limit of seven eighths of it. There must be as much room on the disk; where it is full
   later, large blocks come from memory again. Where no file can be had, everything stays in memory. `begins` is called
   once, in the thread that needs memory, when the file is there. */
void memory_file_watch(uint64_t room, void (*failed)(const char *text), void (*begins)(const char *directory));

#endif
