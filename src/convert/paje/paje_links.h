/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_LINKS_H
#define SIGHT_CONVERT_PAJE_LINKS_H

#include "convert/paje/paje_record.h"
#include "core/error.h"
#include "core/map.h"
#include "core/sorter.h"

/* The two ends of links, which are lines far apart with the same container, type, value and key: what one end has to
   know of the other is kept, sorted by the byte of its line, until the second pass comes there. */

/* Ends that wait for another at once; with more, all of them stay alone. */
enum { PAJE_WAITING_MOST = 1 << 20 };

/* Two numbers of a link's container, type, value and key: that two links share both by chance cannot be expected. */
struct paje_link_key {
    uint64_t key, check;
};

struct paje_link_end {
    uint64_t check, byte;
    int64_t bytes;
    uint32_t container, next;
    bool starts;
};

/* What an end knows of the other. */
struct paje_other_end {
    uint32_t container;
    int64_t bytes;
};

struct paje_links {
    struct paje_link_end *end;
    size_t end_count, end_capacity;
    uint32_t spare;    /* 1 + index of the first end that is free; 0: none */
    struct map chains; /* hash -> (first end, last end) of those that wait */
    struct sorter *sorted;
    bool has_head, ended;
    uint64_t head_byte;
    struct paje_other_end head;
};

/* What links of one container, type and value have in common. */
struct paje_link_key paje_link_begin(const struct paje_record *record);

/* The end of a link in the line at `byte`, at this container; bytes are those of its record. */
enum status paje_links_add(struct paje_links *links, const struct paje_record *record, struct paje_link_key begin,
                           uint64_t byte, uint32_t container, int64_t bytes, struct error *err) MUST_CHECK;

/* All lines have been seen. */
enum status paje_links_sort(struct paje_links *links, struct error *err) MUST_CHECK;

/* What the end in the line at `byte` knows of the other; lines come in order. NULL: it has none. */
enum status paje_links_next(struct paje_links *links, uint64_t byte, const struct paje_other_end **other,
                            struct error *err) MUST_CHECK;

void paje_links_clear(struct paje_links *links);

#endif
