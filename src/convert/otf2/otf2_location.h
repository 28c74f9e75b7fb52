/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_LOCATION_H
#define SIGHT_CONVERT_OTF2_OTF2_LOCATION_H

#include "convert/otf2/otf2_clock.h"
#include "convert/otf2/otf2_defs.h"
#include "core/heap.h"
#include "core/memory.h"

/* The events of one location, translated. The events of a call come between its enter and its leave: events from an MPI
   call's enter on wait until it is left, so that the enter has the communicator, too. */

/* The requests of a process: the archive's numbers may be anything, ours are small and used again. */
struct otf2_freed {
    int64_t time_ns; /* the number is free after it */
    uint32_t number;
};
/* A location and the time of what is next in it, for heaps. At one time the first location comes first. */
struct otf2_offer {
    int64_t time_ns;
    struct otf2_location *location;
};
static inline bool otf2_offer_before(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct otf2_offer *one = left, *other = right;
    if (one->time_ns != other->time_ns)
        return one->time_ns < other->time_ns;
    return one->location < other->location;
}
static const struct heap_order otf2_by_time = {.size = sizeof(struct otf2_offer), .before = otf2_offer_before};

struct otf2_requests {
    struct map numbers; /* the archive's -> ours */
    uint32_t next;
    uint32_t *spare; /* free numbers, of a process with one location */
    size_t spare_count, spare_capacity;
    bool shared;               /* by several locations: their steps are numbered in order of time */
    struct otf2_offer *offers; /* a heap: locations whose next step can get its number */
    size_t offer_count, offer_capacity;
    struct otf2_offer *passed; /* taken from the heap while one of their time is chosen */
    size_t passed_count, passed_capacity;
    struct otf2_freed *freed;
    size_t freed_head, freed_count, freed_capacity;
};

/* Of a location whose process has others: requests that were posted or completed. */
struct otf2_step {
    int64_t time_ns, leave_ns; /* of the record, and of its call */
    uint64_t id;
    uint32_t number; /* 0: no request of ours */
    bool posts;
    bool open; /* the leave has not been read */
};
struct otf2_steps {
    struct otf2_step *step;
    size_t count, capacity;
    size_t resolved, told; /* how many have a number, and how many events have been given with one */
    uint32_t first;        /* number of step[0] */
    bool offered;          /* the location is in the process's heap */
};
/* In the flags of an event that waits: `request` is the number of a step. */
enum { OTF2_STEP = 1 << 7 };

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
    bool moved;                            /* root and bytes are known */
    struct otf2_numbers posted, completed; /* numbers; if requests are shared, of steps */
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
    bool more;               /* the library has more of its records, or damage */
    bool parked;             /* the library has it open only while records are read */
    uint64_t last;           /* parked: number of its last record */
    OTF2_EvtReader *library; /* NULL: it is not open */
    struct otf2_clock clock;
    struct event *events; /* translated, not yet given */
    size_t head, count, capacity;
    uint64_t first; /* number of events[0] */
    unsigned char *arena;
    size_t arena_length, arena_capacity;
    struct otf2_call call;
    struct otf2_steps steps;
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

/* Requests that locations share. Before events are given: numbers the steps of all locations of the process up to the
   time, which must have been read so far. */
void otf2_resolve_requests(struct otf2_requests *requests, int64_t until_ns);
/* The location has no more records: the leave of an open call is not waited for. */
void otf2_end_requests(struct otf2_location *location);
/* The batch's last event has OTF2_STEP: gives it its number. It is left out where it would be a mark without one, and
   joined with the mark before it where the numbers are consecutive. */
void otf2_name_request(struct otf2_location *location, struct batch *batch);
/* Forgets steps that no event needs any more; `all`: no event waits. */
void otf2_drop_steps(struct otf2_location *location, bool all);
void otf2_requests_clear(struct otf2_requests *requests);

#endif
