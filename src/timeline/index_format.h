/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_INDEX_FORMAT_H
#define SIGHT_TIMELINE_INDEX_FORMAT_H

#include "timeline/index.h"

/* Internal: what writing and reading an index share. */
enum { INDEX_VERSION = 5 };
extern const char index_magic[8];
extern const size_t index_sizes[SECTION_COUNT]; /* of an entry of each section */

#endif
