/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_ERROR_H
#define SIGHT_CORE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* Result of a call that can fail. STATUS_END is the regular end of the input, not a fault. */
enum status { STATUS_OK, STATUS_END, STATUS_FAILED };

/* The kind of fault; the command line maps it to an exit code (design: exit codes). */
enum error_kind { ERROR_NONE, ERROR_USAGE, ERROR_INPUT, ERROR_OUTPUT };

/* One fault, as one line without "sight: " before it and without full stop. The caller owns it. */
struct error {
    enum error_kind kind;
    bool broken_pipe; /* output: the reader has closed the pipe, so the work ends silently */
    char text[512];
};

/* Sets the fault and returns STATUS_FAILED, so that `return error_set(...)` is one line. */
enum status error_set(struct error *err, enum error_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* As error_set, followed by ": " and the text of errno (as it is on entry). */
enum status error_set_errno(struct error *err, enum error_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* Damage in the input: a result, not a fault. The first one is described, the rest are counted. */
struct damage {
    uint64_t count;
    uint64_t first_byte; /* offset in the (decompressed) file */
    char first[512];     /* "FILE: byte N: what is wrong (value, limit)" */
};

/* Notes damage of `file` at byte `byte`. */
void damage_note(struct damage *damage, const char *file, uint64_t byte, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
