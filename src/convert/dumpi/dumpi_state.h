/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_DUMPI_STATE_H
#define SIGHT_CONVERT_DUMPI_STATE_H

#include "convert/dumpi/dumpi_comms.h"
#include "convert/dumpi/dumpi_file.h"
#include "convert/reader.h"
#include "core/memory.h"
#include "core/sorter.h"

/* What the two passes over the files of a trace share. The first finds functions, threads and communicators; the second
   gives the events, one process after the other. */

enum { DUMPI_TYPES = 1 << 16, DUMPI_THREADS_MOST = 1 << 10 };

/* What is known of a request. */
struct dumpi_request {
    uint8_t kind; /* enum dumpi_request_kind */
    bool persistent, active, cancelled;
    int32_t comm, partner, tag; /* partner: as the call has it */
    int64_t bytes;
};
enum dumpi_request_kind { DUMPI_REQUEST_SEND, DUMPI_REQUEST_RECEIVE, DUMPI_REQUEST_OTHER };

struct dumpi_state {
    char **path; /* of each process's file; NULL: there is none */
    uint32_t processes;
    uint32_t *threads; /* of each process */
    struct dumpi_comms comms;
    int32_t *states; /* function -> definition; EVENT_UNKNOWN */
    int32_t *selfs;  /* process -> definition of its MPI_COMM_SELF; EVENT_UNKNOWN */
    uint32_t request_mark;

    /* the process at hand, in both passes */
    struct dumpi_file *file;
    uint32_t process;
    uint16_t thread[DUMPI_THREADS_MOST]; /* as the file calls them, in the order in which they appear */
    uint32_t thread_count;

    /* the same in the second pass */
    int64_t *type_bytes; /* by datatype; BYTES_UNKNOWN */
    struct map requests; /* number -> index */
    struct dumpi_request *request;
    size_t request_count, request_capacity;
    uint32_t *spare;
    size_t spare_count, spare_capacity;
    uint32_t *named; /* requests of the call at hand */
    size_t named_count, named_capacity;
    bool gave_members;     /* the communicators that the process is in from the beginning */
    struct sorter *sorted; /* of a process with several threads; NULL: not needed */
    bool sorting_ended;    /* its events come from the sorter now */
    struct event *queue;
    size_t queue_count, queue_capacity, queue_at;
    uint64_t ignored, other; /* calls that were not recorded, and that are of no known function */
};

/* Puts the events of a call into the queue. */
void dumpi_emit(struct dumpi_state *state, const struct defs *defs, const struct dumpi_call *call);

/* A process begins: what is known of requests and datatypes is that of no other. */
void dumpi_emit_begin(struct dumpi_state *state, struct error *err);

/* The thread of a call; threads are numbered in the order in which they appear. */
uint32_t dumpi_thread(struct dumpi_state *state, uint16_t thread);

#endif
