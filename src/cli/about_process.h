/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_ABOUT_PROCESS_H
#define SIGHT_CLI_ABOUT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* What the kernel says of a process of this machine (proc(5)). */

enum { ABOUT_PROCESS_SIZE = 4096 };

/* The begin of /proc/PID/NAME as text. False: it is gone, or not ours to read. */
bool about_process(pid_t pid, const char *name, char text[ABOUT_PROCESS_SIZE]);

/* Its parent; 0: it is gone. */
pid_t about_process_parent(pid_t pid);

#endif
