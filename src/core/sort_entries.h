/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_SORT_ENTRIES_H
#define SIGHT_CORE_SORT_ENTRIES_H

#include "core/sorter.h"

#include <stdbool.h>

/* For the sorter: keys in memory, each with the place of its data, sorted so that equal keys keep their order. */
struct sort_entry {
    struct sort_key key;
    uint32_t offset, length; /* of the data */
};

static inline bool sort_key_less(struct sort_key a, struct sort_key b)
{
    /* Without branches: when runs are merged, the result is unpredictable. */
    return (a.major < b.major) | ((a.major == b.major) & (a.minor < b.minor));
}

/* Sorts `count` entries, with room for as many in `scratch`. Returns where they are then: `entries` or `scratch`. */
struct sort_entry *sort_entries(struct sort_entry *entries, struct sort_entry *scratch, size_t count);

#endif
