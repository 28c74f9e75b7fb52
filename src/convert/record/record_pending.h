/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_PENDING_H
#define SIGHT_CONVERT_RECORD_RECORD_PENDING_H

#include "convert/record/record_file.h"
#include "core/payload.h"

/* Reads the slot of a thread and the table of requests of a process that did not reach MPI_Finalize. */

/* Something that a thread waits for, or a request of its process; partners are ranks in `comm`, with the process's own
   numbering. */
struct record_pending_item {
    uint64_t self; /* PENDING_THREAD: the thread, as in record_header */
    struct pending pending;
    uint32_t comm;
};

struct record_pending_items {
    struct record_pending_item *items; /* owned */
    size_t count, capacity;
};

/* Where the thread is: its last call was entered at the position, on the communicator; `open`: it has not returned. */
struct record_last_call {
    uint64_t entered_at; /* 0: there was none */
    uint32_t comm;
    bool open;
};

/* The items of a file: how the process ended first, which is PENDING_ALIVE also in its other threads. */
struct record_pending_items record_pending_of(const struct record_file *file, const struct record_last_call *last);

/* True if the process is known to have crashed or exited. */
bool record_pending_ended(const struct record_file *file);

#endif
