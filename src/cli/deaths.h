/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_DEATHS_H
#define SIGHT_CLI_DEATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The processes of a recorded program on this machine: which of them ended without a note, and not because the others
   did. No process can note SIGKILL or _exit() of itself, and launchers kill the others then. The directory of the
   recording tells of processes as they begin, and the kernel of each one's end, in order; nothing is done in between.
   Killed processes count only if their launcher and all others of their program, one at least, lived then and nobody
   was about to end them. That goes into the launch note. Without what it takes (Linux 5.3, inotify, enough descriptors)
   nothing is noted. */
struct deaths {
    const char *directory;
    int handle;  /* readable when there is something to look at; -1: none */
    int changes; /* of the directory */
    bool lost;   /* a process cannot be watched */
    struct death *processes;
    size_t count, capacity;
    size_t known;             /* of how many the program is known */
    struct death_name *names; /* of files without a header so far */
    size_t name_count, name_capacity;
};

void deaths_start(struct deaths *deaths, const char *directory);

/* Looks at what has happened. `command` was started, as an ancestor of the processes; `ended`: it was asked to end, so
   that all that die now die of that. Returns after how many ms to look again, if nothing happens before; 0: no need. */
int deaths_look(struct deaths *deaths, pid_t command, bool ended);

void deaths_stop(struct deaths *deaths);

#endif
