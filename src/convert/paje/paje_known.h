/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PAJE_KNOWN_H
#define SIGHT_CONVERT_PAJE_KNOWN_H

#include "convert/paje/paje_links.h"

#include <stdbool.h>

/* Most lines of a trace set or end states, and differ from an earlier line in nothing but the time; of links, in
   nothing but the time, the key and the size. What its words mean has been looked up then. Definitions, and containers
   that come and go, change what words mean: then all is forgotten. */

enum { PAJE_KNOWN_BITS = 11, PAJE_KNOWN_LINES = 1 << PAJE_KNOWN_BITS, PAJE_KNOWN_MOST = 32 };

/* The words after the time as numbers, which with the length and the definition say all of them. */
struct paje_known {
    uint64_t part[PAJE_KNOWN_MOST / 8];
    const struct paje_event_def *def;
    uint32_t length, age;
    uint32_t lane, state;       /* what the line means: the states of a container, and the one that is entered */
    struct paje_link_key begin; /* of a link, whose `lane` is its container */
};

struct paje_known_lines {
    struct paje_known *line;
    struct paje_known wanted; /* the line at hand; length 0: it cannot be kept */
    size_t place;             /* where it would be kept */
    const char *rest;         /* of a link: its key, in quotes */
    uint32_t age;             /* of what counts; older lines are forgotten */
};

/* Looks the line up: `at` is after the event's number. If it is known, the record gets its time, and a link its key and
   size. NULL: it is not, and paje_known_keep (of a link, paje_known_keep_link) may be called when its meaning has been
   found. */
const struct paje_known *paje_known_find(struct paje_known_lines *lines, struct paje_record *record, const char *at,
                                         const char *end);
void paje_known_keep(struct paje_known_lines *lines, uint32_t lane, uint32_t state);
void paje_known_keep_link(struct paje_known_lines *lines, const struct paje_record *record, uint32_t container,
                          struct paje_link_key begin);
static inline void paje_known_forget(struct paje_known_lines *lines)
{
    lines->age++;
}

#endif
