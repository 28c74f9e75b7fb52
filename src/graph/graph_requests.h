/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_REQUESTS_H
#define SIGHT_GRAPH_GRAPH_REQUESTS_H

#include "core/defs.h"
#include "core/event.h"
#include "core/map.h"

/* Requests while a graph is built: which call posts or starts what which call completes. Memory: what is on its way. */

/* What calls of a state do with the requests that they tell. */
enum request_role {
    REQUESTS_NONE,
    REQUESTS_SEND,            /* MPI_Isend posts one */
    REQUESTS_RECEIVE,         /* MPI_Irecv */
    REQUESTS_SEND_RECEIVE,    /* MPI_Isendrecv */
    REQUESTS_COLLECTIVE,      /* MPI_Ibarrier */
    REQUESTS_SEND_INIT,       /* MPI_Send_init prepares one */
    REQUESTS_RECEIVE_INIT,    /* MPI_Recv_init */
    REQUESTS_COLLECTIVE_INIT, /* MPI_Barrier_init */
    REQUESTS_START,           /* MPI_Start, MPI_Startall */
    REQUESTS_COMPLETE         /* MPI_Wait, MPI_Test, ... */
};
enum request_role request_role_of(const struct state_def *state);

/* Numbers first, first + 1, ... */
struct request_range {
    uint32_t first, count;
};
struct told_requests {
    struct request_range *ranges;
    size_t count, capacity;
};

/* A request by its number: what it is at the moment. */
struct request_state {
    uint32_t location, call; /* that posted or started it */
    uint32_t message;        /* 1 + index of the one that it sends; 0: none */
    uint32_t stream;         /* 1 + index, of a persistent collective */
    uint32_t operation;      /* 1 + index of the collective that is on its way; 0: none */
    bool sends, receives;
    bool active;                      /* it is on its way */
    bool gives_nothing, gets_nothing; /* of a persistent collective, as of struct call */
    int32_t comm, root;               /* of that; EVENT_UNKNOWN */
    int64_t bytes;                    /* the most that it gives or gets */
};

struct requests {
    struct map places; /* (process, number) -> index */
    struct request_state *states;
    size_t count, capacity;
    struct map begun;   /* (process, communicator) -> 1 + index of the operation of a split collective on a file */
    uint32_t *messages; /* scratch */
    size_t message_count, message_capacity;
};

struct graph_builder;

/* A mark in the location's call at hand, or its leave, tells requests. */
void requests_tell(struct told_requests *told, const struct event *event);

/* The location's latest call was left: what it told becomes links and operations. */
void requests_at_leave(struct graph_builder *builder, uint32_t location, const struct event *leave);

/* The location's latest call, which begins or ends a split collective on a file, was left. */
void requests_split(struct graph_builder *builder, uint32_t location, const struct event *leave);

/* An end of a message comes late, to a call whose place for it has links: those are not known, then. */
void requests_forget_links(struct graph_builder *builder, uint32_t location, bool receive);

void requests_clear(struct requests *requests);

#endif
