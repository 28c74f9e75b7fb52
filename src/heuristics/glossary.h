/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_GLOSSARY_H
#define SIGHT_HEURISTICS_GLOSSARY_H

#include <stddef.h>

/* The meaning of names in SIGHT's output: fields of metrics, indices, wait states, efficiencies, numbers of the
   analysis, findings. From glossary.def, and heuristics.def for the heuristics: each is defined in one place. */

struct term_group {
    const char *title;
    const char *shown; /* commands that show its terms */
};

struct term {
    const struct term_group *group;
    const char *name;             /* as in JSON */
    const char *unit;             /* "s", "count", "bytes", "share"; "": not a number */
    const char *meaning;          /* in a sentence without its stop */
    const char *formula, *source; /* "" where there is none */
};

/* All terms, groups together. */
size_t glossary_count(void);
struct term glossary_at(size_t index);

/* Index of the next term of this name from `from` on ('-' and '_' are the same); glossary_count() if there is none: a
   name can mean different things in different tables. */
size_t glossary_find(const char *name, size_t from);

#endif
