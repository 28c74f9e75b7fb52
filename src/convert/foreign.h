/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_FOREIGN_H
#define SIGHT_CONVERT_FOREIGN_H

#include <stddef.h>

/* Formats of traces that are recognised but not read: what they are, and how to come to one that is. */
struct foreign {
    const char *title;
    const char *advice; /* a clause: "convert it with …" */
    const char *names;  /* patterns of names, blanks between them; "" if only the content is used */
};

size_t foreign_count(void);
const struct foreign *foreign_at(size_t index);

/* The format of a file by its first bytes, or by its name; NULL: it is none of them. */
const struct foreign *foreign_find(const unsigned char *data, size_t size, const char *name);

#endif
