/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_COLLECTIVE_H
#define SIGHT_GRAPH_COLLECTIVE_H

#include "core/defs.h"
#include "metrics/analysis.h"

/* What the name of a collective function says: which process waits for which, and where. */

enum collective_shape {
    SHAPE_NONE_KNOWN, /* no collective */
    SHAPE_ALL_TO_ALL, /* all for the last */
    SHAPE_ONE_TO_ALL, /* the others for the root */
    SHAPE_ALL_TO_ONE, /* the root for the first other member */
    SHAPE_PREFIX,     /* each for the last of those with lower ranks */
    SHAPE_NEIGHBOURS  /* each for the last of its own neighbours */
};

enum collective_stage {
    STAGE_NONE,      /* no collective */
    STAGE_BLOCKING,  /* waits in the call itself */
    STAGE_POSTED,    /* non-blocking: waits in the call that completes it */
    STAGE_PREPARED,  /* persistent: started by MPI_Start, completed by a wait */
    STAGE_SPLIT,     /* begun (MPI_File_write_all_begin): waits there, or in the call that ends it */
    STAGE_SPLIT_END, /* that one: no collective */
    STAGE_EPOCH      /* no collective: one-sided, of some of a window's processes (graph_windows.h) */
};

struct collective {
    uint8_t shape, stage;
    uint8_t wait;       /* enum wait_kind; WAIT_NONE: not known */
    uint8_t completion; /* the wait_kind of the time beyond the first member that finishes; WAIT_NONE */
};

/* False if no data are moved, whatever bytes a trace records: all members count. */
static inline bool collective_moves_data(struct collective collective)
{
    return collective.wait != WAIT_AT_BARRIER && collective.wait != WAIT_AT_INIT &&
           collective.wait != WAIT_AT_FINALIZE && collective.wait != WAIT_AT_IO;
}

/* By name; large-count variants (_c) are included. */
struct collective collective_of(const struct state_def *state);

/* True for collectives of a window: without the window, the members are not known. */
bool collective_is_on_window(const struct state_def *state);

/* All states of the definitions; owned by the caller. */
struct collective *collectives_of(const struct defs *defs);

#endif
