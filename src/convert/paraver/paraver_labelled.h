/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_LABELLED_H
#define SIGHT_CONVERT_PARAVER_LABELLED_H

#include "convert/paraver/paraver_labels.h"
#include "convert/paraver/paraver_record.h"

#include <stdbool.h>

/* Event types that Paraver does not know by their number, but whose values have labels, 0 among them: states, of the
   program or of other runtimes. Each value lasts until the next one. */

struct paraver_labelled_type {
    bool plain; /* it has values without a label: a number like others */
    bool nests; /* a value ends with its own 0, and then the one before goes on */
};

struct paraver_labelled {
    struct map types; /* number -> 1 + index; 0: no such type */
    struct paraver_labelled_type *type;
    size_t count, capacity;
    struct map threads; /* (process, thread) -> number */
    struct map open;    /* (type, thread) -> values that are open */
};

/* The first pass over all records, in their order. True: the pair is of such a type, as far as is known. */
bool paraver_labelled_take(struct paraver_labelled *labelled, const struct paraver_labels *labels,
                           const struct paraver_pair *pair, const struct paraver_place *place);

/* After it. */
bool paraver_labelled_is(const struct paraver_labelled *labelled, const struct paraver_pair *pair);
/* A value of this type that is none of 0 ends the one before. */
bool paraver_labelled_replaces(const struct paraver_labelled *labelled, uint64_t type);

void paraver_labelled_clear(struct paraver_labelled *labelled);

#endif
