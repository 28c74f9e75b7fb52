/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_REGION_NAME_H
#define SIGHT_CORE_REGION_NAME_H

#include <stdint.h>

/* A region's name as TAU writes it, with its place in the source at the end: "main [{wave.c} {160,0}-{190,1}] ". */
struct region_name {
    char *name;             /* without the place and without blanks at the end */
    char *file;             /* NULL: the name has no place */
    int32_t line, end_line; /* 0: not known */
};

/* Splits a text. The strings are the caller's until region_name_clear. */
struct region_name region_name_of(const char *text);
void region_name_clear(struct region_name *name);

#endif
