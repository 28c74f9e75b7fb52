/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/error.h"

#include "core/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum status error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->kind = kind;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return STATUS_FAILED;
}

enum status error_set_errno(struct error *err, enum error_kind kind, const char *format, ...)
{
    /* Before anything else: vsnprintf may change errno. */
    int saved = errno;
    va_list args;
    va_start(args, format);
    err->kind = kind;
    err->broken_pipe = saved == EPIPE;
    int length = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - (size_t)length, ": %s", strerror(saved));
    return STATUS_FAILED;
}

void damage_note(struct damage *damage, const char *file, uint64_t byte, const char *format, ...)
{
    /* The first place in the file is reported, in whatever order damage is found. */
    if (damage->count++ > 0 && byte >= damage->first_byte)
        return;
    char number[TEXT_NUMBER_SIZE];
    va_list args;
    va_start(args, format);
    damage->first_byte = byte;
    int length = snprintf(damage->first, sizeof damage->first, "%s: byte %s: ", file, text_thousands(number, byte));
    if (length >= 0 && (size_t)length < sizeof damage->first)
        vsnprintf(damage->first + length, sizeof damage->first - (size_t)length, format, args);
    va_end(args);
}
