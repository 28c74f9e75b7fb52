/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_SHELL_TEXT_H
#define SIGHT_CORE_SHELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Command lines as a shell would take them. */

/* Appends bytes to a text of `size` bytes; false: they do not fit, and nothing is appended. */
static inline bool shell_text_put(char *text, size_t size, const char *bytes, size_t length)
{
    size_t used = strlen(text);
    if (used + length >= size)
        return false;
    memcpy(text + used, bytes, length);
    text[used + length] = '\0';
    return true;
}

/* Appends an argument, quoted where a shell needs that. False: it does not fit, and is cut. */
static inline bool shell_text_add(char *text, size_t size, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    bool quoted = argument[strspn(argument, plain)] != '\0' || !*argument;
    bool fits = !*text || shell_text_put(text, size, " ", 1);
    if (quoted)
        fits = fits && shell_text_put(text, size, "'", 1);
    for (const char *at = argument; *at && fits; at++)
        fits = *at == '\'' ? shell_text_put(text, size, "'\\''", 4) : shell_text_put(text, size, at, 1);
    return fits && (!quoted || shell_text_put(text, size, "'", 1));
}

/* One argument, quoted where needed, in `text`; the argument itself where it does not fit. */
static inline const char *shell_text(char *text, size_t size, const char *argument)
{
    *text = '\0';
    return shell_text_add(text, size, argument) ? text : argument;
}

#endif
