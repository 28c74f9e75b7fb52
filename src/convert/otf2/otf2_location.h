/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_LOCATION_H
#define SIGHT_CONVERT_OTF2_OTF2_LOCATION_H

#include "convert/otf2/otf2_clock.h"
#include "convert/otf2/otf2_defs.h"
#include "core/memory.h"

/* The events of one location, translated. The events of a call come between its enter and its leave: events from an MPI
   call's enter on wait until it is left, so that the enter has the communicator, too. */

/* The requests of a process: the archive's numbers may be anything, ours are small and used again. Where several
   locations may share them they are not: locations are translated ahead of each other, so that a request may be seen to
   complete before it is seen to be posted. */
struct otf2_requests {
    struct map numbers; /* the archive's -> ours; if shared, with who has completed it (otf2_mpi.c) */
    bool shared;
    uint32_t *spare;
    size_t spare_count, spare_capacity;
    uint32_t next;
};

struct otf2_numbers {
    uint32_t *numbers;
    size_t count, capacity;
};

/* The outermost MPI call that is open. */
struct otf2_call {
    bool open;
    unsigned depth;
    uint64_t enter; /* number of its event */
    uint32_t state;
    int32_t comm, root, partner_root;
    int64_t sent, received;
    bool moved; /* root and bytes are known */
    struct otf2_numbers posted, completed;
};

/* A collective that has been posted: its communicator is recorded when it completes. */
struct otf2_posted {
    uint64_t request, enter, leave; /* numbers of events */
};

struct otf2_location {
    struct otf2_defs *otf2;
    struct reader *reader;
    struct otf2_requests *requests;
    uint32_t def;            /* index into otf2->location */
    OTF2_EvtReader *library; /* NULL: it has ended */
    struct otf2_clock clock;
    struct event *events; /* translated, not yet given */
    size_t head, count, capacity;
    uint64_t first; /* number of events[0] */
    unsigned char *arena;
    size_t arena_length, arena_capacity;
    struct otf2_call call;
    struct otf2_numbers spare, freed; /* if requests are shared: free again, and free from the end of the call on */
    struct otf2_posted *posted;
    size_t posted_count, posted_capacity;
    struct map modes;       /* of I/O operations by their number */
    bool off;               /* measurement is */
    uint64_t records, read; /* events translated, and events the library reports as read */
    uint64_t undefined;     /* events that refer to missing definitions */
    OTF2_CommRef last_comm_id;
    uint32_t last_comm;
};

/* Counts of the archive's events by kind, for `sight info`. */
OTF2_EvtReaderCallbacks *otf2_location_callbacks(void);

/* How many of the events that are there may be given: those before the first that still waits. */
size_t otf2_location_ready(const struct otf2_location *location);

void otf2_location_clear(struct otf2_location *location);

#endif
