/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_XML_XML_PAIRING_H
#define SIGHT_CONVERT_XML_XML_PAIRING_H

#include "core/defs.h"
#include "core/map.h"
#include "core/open_states.h"

/* Whether an <event> without `kind` is an enter or a leave: the rule of the format, shared by reader and writer so that
   the writer knows where the reader would be wrong. */

/* Index of the frame that a line naming `state` closes, or OPEN_STATES_NONE if it opens one. Names decide, not indices:
   a reader that knows only the four attributes has nothing else. */
ptrdiff_t xml_pairing_rule(const struct defs *defs, const struct open_states *open, uint32_t state);

/* Index of the latest open state with the name of `state`, or OPEN_STATES_NONE. */
ptrdiff_t xml_pairing_find(const struct defs *defs, const struct open_states *open, uint32_t state);

/* The open states of all threads met so far. Zero-initialised is empty. */
struct xml_stacks {
    struct map places; /* (process, thread) -> index */
    struct open_states *stacks;
    size_t count, capacity, made;
    uint64_t last_key;
    size_t last;
};

/* Borrowed until the next call. */
struct open_states *xml_stacks_get(struct xml_stacks *stacks, uint32_t process, uint32_t thread);
void xml_stacks_reset(struct xml_stacks *stacks); /* closes everything; keeps memory for later */
void xml_stacks_free(struct xml_stacks *stacks);

#endif
