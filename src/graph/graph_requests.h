/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_REQUESTS_H
#define SIGHT_GRAPH_GRAPH_REQUESTS_H

#include "core/defs.h"
#include "core/event.h"
#include "core/map.h"

/* Requests while a graph is built: links the calls that post or start operations with the calls that complete them.
   Memory: for operations in progress. */

/* What calls of a state do with their requests. */
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
struct request_ranges {
    struct request_range *ranges;
    size_t count, capacity;
};

/* The current meaning of a request's number. */
struct request_state {
    uint32_t location, call; /* that posted or started it */
    uint32_t message;        /* 1 + index of the message that it sends; 0: none */
    uint32_t stream;         /* 1 + index, of a persistent collective */
    uint32_t operation;      /* 1 + index of the collective in progress; 0: none */
    bool sends, receives;
    bool active;                      /* in progress */
    bool gives_nothing, gets_nothing; /* of a persistent collective, as of struct call */
    int32_t comm, root;               /* of that; EVENT_UNKNOWN */
    int64_t bytes;                    /* the most that it sends or receives */
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

/* Adds requests from a mark in the location's current call, or from its leave. */
void requests_name(struct request_ranges *named, const struct event *event);

/* The location's latest call was left: turns its requests into links and operations. */
void requests_at_leave(struct graph_builder *builder, uint32_t location, const struct event *leave);

/* The same for a call that begins or ends a split collective on a file. */
void requests_split(struct graph_builder *builder, uint32_t location, const struct event *leave);

/* An end of a message comes late, to a call that already has links: these become unknown. */
void requests_forget_links(struct graph_builder *builder, uint32_t location, bool receive);

void requests_clear(struct requests *requests);

#endif
