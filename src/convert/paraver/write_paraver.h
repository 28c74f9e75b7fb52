/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_WRITE_PARAVER_H
#define SIGHT_CONVERT_PARAVER_WRITE_PARAVER_H

#include "convert/by_location.h"
#include "core/map.h"
#include "core/sorter.h"

/* The parts of the Paraver writer: write_paraver.c makes the records of events, location after location, and sorts
   them; write_paraver_head.c writes what stands before them, and the labels. Rules: paraver(5). */

/* An open state. The record that enters a call of MPI is made when it is left, since it has what the call moves. */
struct paraver_frame {
    uint32_t state;
    int64_t time_ns;
    uint64_t order; /* of its record among those of its time */
    uint64_t type;  /* of its event */
    int32_t comm, root;
    int64_t bytes_sent, bytes_received;
    uint32_t site; /* as event.site */
};

/* Where a thread is in all its records, with the colons around it. */
struct paraver_place {
    char text[47];
    unsigned char length;
};

/* An end of a message that has both. */
struct paraver_end {
    size_t place;
    int64_t time_ns, bytes;
    int32_t tag;
};

struct paraver_writer {
    struct writer writer; /* first */
    struct by_location *by;
    struct sorter *records, *ends;
    uint32_t *threads; /* of each process, 0: no events */
    uint64_t *nodes;   /* of each process, from 1; NULL: no host is known */
    const char **hosts;
    size_t host_count, host_capacity;
    uint32_t *comms; /* number of each communicator; 0: none */
    uint32_t comm_count;
    bool *states_used, *marks_used, *sites_used;
    uint32_t *functions;          /* of each site: 1 + the first with its function; 0: not known */
    struct paraver_place *places; /* of locations in the order of the walk; the last one is at hand */
    size_t place_count, place_capacity;
    /* The location at hand. */
    uint32_t process;
    struct paraver_frame *frames;
    size_t depth, capacity;
    size_t mpi_depth;
    uint64_t order;
    int64_t since_ns; /* when its running or its outermost call of MPI began, and the order of that record */
    uint64_t since_order;
    uint64_t left_type, left_order; /* of the event that ended what it did before; type 0: there is none */
};

/* The type and value of the event that enters a state, and the type of a mark's or counter's. */
uint64_t paraver_state_type(const struct paraver_writer *paraver, uint32_t state);
uint64_t paraver_state_value(const struct paraver_writer *paraver, uint32_t state);
uint64_t paraver_mark_type(const struct paraver_writer *paraver, uint32_t mark);

/* Before the events: numbers of communicators and nodes. */
void paraver_number_all(struct paraver_writer *paraver);

/* After the events: what stands before the records, and the labels beside. */
void paraver_write_head(struct paraver_writer *paraver);
void paraver_write_labels(struct paraver_writer *paraver, struct output *output);
void paraver_write_rows(struct paraver_writer *paraver, struct output *output);

#endif
