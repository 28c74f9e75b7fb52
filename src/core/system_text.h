/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_SYSTEM_TEXT_H
#define SIGHT_CORE_SYSTEM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The beginning of a small file of /proc or /sys, up to size - 1 bytes, as a string. False: it cannot be read, or is
   empty. Allocates nothing: the recorder calls it in other programs. */
bool system_text_read(const char *path, char *text, size_t size);

#endif
