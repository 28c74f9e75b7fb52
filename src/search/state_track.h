/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_STATE_TRACK_H
#define SIGHT_SEARCH_STATE_TRACK_H

#include "core/sink.h"

/* Which of the program's own states each thread of each process is in at any time: the most recently entered open one.
   Memory: 16 bytes for each change, that is, for each enter and leave of a state of the program. */

enum { STATE_TRACK_NONE = UINT32_MAX };

struct state_change {
    int64_t time_ns;
    uint32_t state; /* the first of its name; STATE_TRACK_NONE: outside all */
};

struct state_location {
    uint32_t process, thread;
    struct state_change *changes; /* in order of time */
    size_t count, capacity;
};

struct state_track {
    struct state_location *locations;
    size_t count, capacity;
};

/* Collects it from the events. */
struct state_track_builder;
struct state_track_builder *state_track_builder_new(void);
struct sink *state_track_builder_sink(struct state_track_builder *builder); /* owned by the builder */

/* After the sink's end; frees the builder. Free with state_track_free. */
struct state_track *state_track_builder_end(struct state_track_builder *builder);
void state_track_free(struct state_track *track);

/* The state at a time. Time O(log changes). */
uint32_t state_location_at(const struct state_location *location, int64_t time_ns);

#endif
