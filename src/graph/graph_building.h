/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_BUILDING_H
#define SIGHT_GRAPH_GRAPH_BUILDING_H

#include "core/open_states.h"
#include "graph/channels.h"
#include "graph/graph_requests.h"
#include "graph/graph_sides.h"
#include "graph/graph_windows.h"
#include "graph/polls.h"

/* A graph under construction: shared by the sources that build it. */

enum { RECENT_KINDS = 256 };

/* The open state of a location while events come in. */
struct location_state {
    struct open_states open;     /* MPI states; `mark` of the outermost is free */
    uint32_t probe;              /* 1 + call that found a message, until the message arrives */
    bool any;                    /* an event was seen */
    bool calls;                  /* its thread has calls or messages */
    bool is_open;                /* its latest call is still open */
    struct request_ranges named; /* by the current call */
    struct poll_run polls;       /* polls merged into its latest call */
    int64_t enter_ns;            /* of the current call */
};

/* The collectives of a stream, numbered in order. */
struct stream_instances {
    uint32_t *instances;
    size_t count, capacity;
};

/* The properties of a state that the builder needs. */
struct state_role {
    bool known, collective; /* known: already examined */
    bool on_window;         /* a collective only on a window */
    bool one_sided;         /* neither a collective nor a plain call */
    bool split;             /* half of a split collective on a file */
    bool polls;             /* polls for a message and returns at once */
    enum request_role requests;
};

struct graph_builder {
    struct sink sink;
    struct graph *graph;
    struct location_state *states; /* by location */
    size_t state_capacity;
    struct state_role *roles; /* by state of the definitions */
    size_t role_count;
    struct map locations;                /* (process, thread) -> location */
    struct map homes;                    /* process -> its first location */
    struct map quiet;                    /* (process, thread) -> when it began, of threads without a location */
    struct map kinds, site_kinds;        /* (communicator, state) -> kind; (site, such a kind) -> kind */
    uint32_t recent_kinds[RECENT_KINDS]; /* 1 + index */
    struct comm_sides sides;
    struct map streams;                        /* (communicator, function) -> stream */
    struct stream_instances *stream_instances; /* by stream */
    size_t stream_instances_capacity;
    struct map turns;    /* (location, stream) -> collectives so far */
    bool ranks_of_world; /* roots are ranks in the world: see infer_roots.h */
    struct requests requests;
    struct channels channels;
    struct window_collector windows;
    const unsigned char *arena; /* of the current batch */
    uint32_t asleep;            /* the mark of the counter of sleep; none: their number */
    uint32_t recent_process, recent_thread, recent_location;
};

/* The collectives of a function on a communicator. */
uint32_t builder_stream(struct graph_builder *builder, int32_t comm, uint32_t state);

/* The location's next collective of the stream: 1 + index. */
uint32_t builder_join_instance(struct graph_builder *builder, uint32_t location, uint32_t stream);

/* Sets the root of the location's latest collective call and the most bytes that it moves. The root is a rank of its
   communicator (on an inter-communicator only the root itself reports being it; for others it is a rank of the other
   group). */
void builder_note_instance(struct graph_builder *builder, uint32_t location, uint32_t instance, int32_t comm,
                           int64_t root, int64_t bytes);

#endif
