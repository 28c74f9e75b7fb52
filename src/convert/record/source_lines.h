/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_SOURCE_LINES_H
#define SIGHT_CONVERT_RECORD_SOURCE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines of source from addresses in a file of code (a program or a library), by its debugging information, or the one
   that is installed for it apart; by libdw. Without debugging information functions are known from the symbols. */

struct source_place {
    const char *file;      /* as the compiler was given it; NULL: not known */
    const char *directory; /* where the compiler was given that; NULL: not known, or `file` is absolute */
    int32_t line;          /* 0: not known */
    const char *function;  /* for inlined code the inlined function; NULL: not known */
};

/* NULL if the file has no code, or sight was built without libdw. */
struct source_lines *source_lines_open(const char *path);
void source_lines_close(struct source_lines *lines); /* NULL allowed */

/* The place of an address, counted as in the file. False if nothing is known about it. Texts live until
   source_lines_close. */
bool source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place);

/* The calls that the compiler inlined there: where the innermost function (that of source_lines_find) is called from,
   where its caller is called from, and so on. At most `most` places; how many. Texts live as long. */
size_t source_lines_inlined(struct source_lines *lines, uint64_t address, struct source_place *places, size_t most);

/* Whether sight was built with libdw. */
bool source_lines_there(void);

#endif
