/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_CHUNKS_H
#define SIGHT_CONVERT_OTF2_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

/* The chunks of a file of events. Each begins with a byte 3, the byte order (66: little-endian, 35: big-endian), and
   the numbers of its first and last record, in 8 bytes each; all but the last have `size` bytes, which the anchor says.
   The library finds a record by these numbers alone, whether they are right or not.

   True if they count all records from 1 without a gap; *last is the number of the last one then. False also if the file
   cannot be read. */
bool otf2_chunks_are_numbered(const char *path, uint64_t size, uint64_t *last);

#endif
