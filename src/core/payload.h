/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PAYLOAD_H
#define SIGHT_CORE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers in the payload of an event, by the format of its definition (MPE's printf-like formats: "root=%d, sent=%l"):
   after each % one letter, values packed big-endian in the same order: %h 2 bytes, %d and %x 4, %l and %X 8, %e 4, %E
   8, %s a length of 2 bytes and so many characters. Bytes that a trace left out at the end are 0. */

/* Bytes of a value by its letter; of %s one for each character; 0 where there is no such letter. */
static inline size_t payload_size(char letter)
{
    switch (letter) {
    case 's':
        return 1;
    case 'h':
        return 2;
    case 'd':
    case 'x':
    case 'e':
        return 4;
    case 'l':
    case 'X':
    case 'E':
        return 8;
    default:
        return 0;
    }
}

/* The integer whose label is `name` ("root" for "root=%d"): true and the value, or false. */
bool payload_integer(const char *format, const unsigned char *payload, size_t length, const char *name, int64_t *value);

#endif
