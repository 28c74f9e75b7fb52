/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/about_process.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool about_process(pid_t pid, const char *name, char text[ABOUT_PROCESS_SIZE])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%jd/%s", (intmax_t)pid, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got; file >= 0 && length < ABOUT_PROCESS_SIZE - 1 &&
                      (got = read(file, text + length, ABOUT_PROCESS_SIZE - 1 - length)) > 0;)
        length += (size_t)got;
    if (file >= 0)
        close(file);
    text[length] = '\0';
    return length > 0;
}

pid_t about_process_parent(pid_t pid)
{
    char stat[ABOUT_PROCESS_SIZE];
    int parent = 0;
    /* The name, in parentheses, may have any characters. */
    const char *name_end = about_process(pid, "stat", stat) ? strrchr(stat, ')') : NULL;
    if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1)
        return 0;
    return parent;
}
