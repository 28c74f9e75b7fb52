/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_STUCK_STUCK_GRAPH_H
#define SIGHT_STUCK_STUCK_GRAPH_H

#include "stuck/stuck_state.h"

/* The AND-OR graph of which process waits for which. Its nodes are places (threads), processes (which continue if any
   of their places does), instances of collectives (which need all members that have not entered), and "any member" of a
   communicator. A node is live if what it waits for may still happen: the largest set of other nodes is stuck. Linear
   in its edges. */

enum edge_kind {
    EDGE_NONE,
    EDGE_RECEIVE,    /* for a message of the process */
    EDGE_SEND,       /* for its receive */
    EDGE_COLLECTIVE, /* for its entry */
    EDGE_MISMATCH,   /* it entered another collective in place of this one */
    EDGE_LOCK,       /* for its unlock */
    EDGE_READY,      /* for another thread of its own process to make partitions ready */
    EDGE_POST,       /* for its MPI_Win_post, or its MPI_Win_complete */
    EDGE_THREAD,     /* for the end of another thread of its own process, to whose place it leads */
    EDGE_PART        /* a node stands for others */
};

struct edge {
    uint32_t from, to;
    uint8_t kind;  /* enum edge_kind */
    uint32_t item; /* of the place, 1 + index; 0: none */
};

struct node {
    enum { NODE_PLACE, NODE_PROCESS, NODE_INSTANCE, NODE_ANYBODY } kind;
    bool any; /* one edge is enough */
    bool live;
    uint32_t index;                  /* of the place; process */
    uint32_t first_edge, edge_count; /* in order of nodes, when the graph is finished */
    uint32_t need;                   /* number of its edges that are not known to be live */
    int32_t comm;                    /* instance, anybody */
    uint32_t state;                  /* instance: its function */
    uint32_t team;                   /* instance: of a team, not of all members of comm; 0: of all */
    uint64_t ordinal;
    uint64_t starts; /* instance of a persistent collective: which of its starts; 0: another one */
};

struct stuck_graph {
    struct stuck_state *state;
    struct node *nodes; /* places first, then processes */
    size_t node_count, node_capacity;
    struct edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t processes;
    struct map streams;    /* (comm, function) -> number */
    struct map persistent; /* (number of the stream, ordinal) -> number, of a persistent collective */
    uint64_t stream_count; /* numbers of both */
    struct map instances;  /* (number, ordinal or starts) -> node */
    struct map anybody;    /* comm -> node */
    struct map teams;      /* (team, ordinal) -> node */
};

/* Builds the graph and finds the live nodes. */
void stuck_graph_make(struct stuck_graph *graph, struct stuck_state *state);

/* The same once more: messages that were sent are taken to have arrived, so that what a call still waits for is
   something else. */
void stuck_graph_settle(struct stuck_graph *graph);
void stuck_graph_clear(struct stuck_graph *graph);

static inline struct node *graph_process(const struct stuck_graph *graph, uint32_t process)
{
    return &graph->nodes[graph->state->place_count + process];
}

#endif
