/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_INDEX_FORMAT_H
#define SIGHT_TIMELINE_INDEX_FORMAT_H

#include "timeline/index.h"

/* Internal: what writing and reading an index share. */
enum { INDEX_VERSION = 9, INDEX_PIECE = 1 << 22 };
extern const char index_magic[8];
extern const size_t index_sizes[SECTION_COUNT]; /* of an entry of each section */

/* The checksum of a section. It is read in pieces of INDEX_PIECE bytes, and each is given back before the next. */
uint64_t index_checksum(const unsigned char *data, size_t size);

/* Pages of a mapped file that lie wholly in these bytes need not be in memory; they are read again where they are used.
   For mappings of a file only: others would lose what was written. */
void index_give_back(const void *from, size_t size);

#endif
