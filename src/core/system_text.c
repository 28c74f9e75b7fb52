/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/system_text.h"

#include <fcntl.h>
#include <unistd.h>

bool system_text_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;
    if (file >= 0)
        got = pread(file, text, size - 1, 0); /* not read(): the recorder has one of its own for the program */
    if (file >= 0)
        close(file);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return true;
}
