/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_WORD_FILE_H
#define SIGHT_SEARCH_WORD_FILE_H

#include "core/error.h"

#include <stddef.h>

/* A file of lines "KEYWORD VALUE", as hypotheses and metrics of a user's own are written. Empty lines and those that
   begin with # do not count. Faults begin with "FILE:LINE: ". */

enum { WORD_FILE_MOST = 65536, WORD_LINE_MOST = 1000, WORD_NAME_MOST = 40 };

struct word_file {
    const char *name;
    unsigned line;
    char where[200]; /* "FILE:LINE" */
    struct error *err;
    void *context; /* of `take` */
};

/* Hands each line to `take`, the value "" where there is none. */
typedef enum status word_file_take(struct word_file *file, const char *word, const char *value);
enum status word_file_parse(struct word_file *file, const char *text, size_t length, word_file_take *take) MUST_CHECK;

/* "FILE:LINE: WHAT 'VALUE'". */
enum status word_file_fault(struct word_file *file, const char *what, const char *value);

/* The bytes of a file of at most WORD_FILE_MOST + 1 bytes, of which the last shows that it is too long; free() them.
   NULL and a fault, which says "cannot read WHAT". */
char *word_file_read(const char *path, const char *what, size_t *length, struct error *err);

#endif
