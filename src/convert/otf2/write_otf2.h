/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_WRITE_OTF2_H
#define SIGHT_CONVERT_OTF2_WRITE_OTF2_H

#include "convert/writer.h"
#include "core/sorter.h"

#include <otf2/otf2.h>

/* The parts of the OTF2 writer: write_otf2.c sorts events and writes one location after the other, write_otf2_calls.c
   makes the records of events, write_otf2_requests.c follows requests through threads, write_otf2_defs.c makes the
   definitions. Rules: otf2(5). */

struct otf2_written {
    uint32_t process, thread;
    uint64_t events; /* records */
};

/* What events call a counter by: its class or, of one that is of more than the location that records it, an instance
   that says what it is of. Their numbers are in the order of their first events: readers want them without holes. */
struct otf2_metric_number {
    uint32_t mark, class; /* of an instance: its class */
    uint32_t location;    /* index into locations; OTF2_NO_LOCATION: it is a class */
};
#define OTF2_NO_LOCATION UINT32_MAX

/* A request that has been posted or prepared. */
enum otf2_kind { OTF2_SENDS = 1, OTF2_RECEIVES = 2, OTF2_COLLECTS = 4 };
struct otf2_pending {
    uint64_t id; /* one of its kind in the process */
    unsigned kinds;
    bool active;
    struct event leave; /* of the call that posted a collective */
};

/* What a call does with its requests. */
enum otf2_role {
    OTF2_PLAIN,
    OTF2_POST,
    OTF2_INIT,
    OTF2_START,
    OTF2_WAIT,
    OTF2_MEET,
    OTF2_POST_MEETING,
    OTF2_ONE_SIDED
};
static inline bool otf2_role_posts(enum otf2_role role)
{
    return role == OTF2_POST || role == OTF2_INIT || role == OTF2_START || role == OTF2_POST_MEETING;
}

/* The outermost MPI call of a thread. */
struct otf2_open_call {
    uint32_t state;
    unsigned depth;
    size_t events;
};
enum otf2_place { OTF2_OUTSIDE, OTF2_INSIDE, OTF2_LEFT, OTF2_TOO_LONG };

/* The numbers of its requests, in order. */
struct otf2_called {
    uint32_t *numbers;
    size_t count, capacity, at;
};

/* While events come in, process by process in order of time (write_otf2_requests.c). */
struct otf2_thread {
    struct otf2_open_call call;
    int32_t comm;
    struct otf2_called called;
};
struct otf2_request {
    struct otf2_pending pending;
    uint32_t thread; /* that used it last */
};
struct otf2_followed {
    struct map thread_places; /* (process, thread) -> index */
    struct otf2_thread *threads;
    size_t thread_count, thread_capacity;
    struct map places; /* (process, number) -> index; of number 0: the process's last id */
    struct otf2_request *requests;
    size_t count, capacity;
};
/* The kind of an event of our own, before the leave of a call: the state of a request that another thread used last.
   `request` is its number, `value` its id, `requests` its kinds, `flags` whether it is active, the rest as the leave of
   the call that posted it. */
enum { OTF2_REQUEST_ELSEWHERE = 64 };

struct otf2_writer {
    struct writer writer; /* first */
    struct sorter *sorter;
    const struct defs *defs;
    OTF2_Archive *archive;
    char *path, *temporary;
    int unfinished; /* of the temporary directory: see core/unfinished.h */
    int64_t least_ns, largest_ns, shift_ns;
    bool any;
    struct otf2_written *locations;
    size_t location_count, location_capacity;
    struct map other_side; /* comm -> comm of the other group */
    struct map local_side; /* (process, thread) -> its group of the inter-communicator being read */
    uint32_t *comms;       /* by comm: number in the archive */
    struct map inters;     /* the smaller comm of both -> number in the archive */
    uint32_t comm_count;
    uint32_t *windows;         /* by comm */
    struct map metric_numbers; /* (mark, location) -> index into metrics */
    struct otf2_metric_number *metrics;
    size_t metric_count, metric_capacity;
    struct otf2_followed incoming;
    struct map nodes; /* process -> node of the system tree */
    char **strings;   /* texts of marks that are written, in their order */
    size_t string_count, string_capacity;
    struct map string_ids;
    /* The location at hand. */
    OTF2_EvtWriter *events;
    OTF2_AttributeList *attributes;
    struct otf2_written *location;
    uint32_t *stack;
    size_t depth, stack_capacity;
    struct event *call;
    size_t call_count, call_capacity;
    struct otf2_open_call open_call;
    struct map requests; /* number -> pending */
    struct otf2_pending *pending;
    size_t pending_count, pending_capacity;
    uint64_t next_operation; /* one-sided */
    struct error fault;
};

/* Numbers of strings: those of the definitions come first. */
enum { OTF2_TEXTS_MOST = 1 << 16 };
uint32_t otf2_text_number(struct otf2_writer *otf2, const char *text); /* OTF2_UNDEFINED_UINT32: too many */

/* write_otf2_calls.c: events of the location at hand, in order of time. */
void otf2_write_event(struct otf2_writer *otf2, const struct event *event, const unsigned char *arena);
void otf2_write_end(struct otf2_writer *otf2);

/* write_otf2_requests.c: an event that comes in, before it is sorted. The leave of a call that posts or starts requests
   gets the id of the first in `value`, those of the others follow. Before the leave of a call that uses requests of
   other threads, `add` is called with an event for each. */
typedef enum status otf2_add(struct otf2_writer *otf2, const struct event *event, struct error *err);
enum status otf2_follow_requests(struct otf2_writer *otf2, struct event *event, otf2_add *add, struct error *err);
void otf2_followed_clear(struct otf2_followed *requests);
/* Where the event is in the outermost MPI call of its thread. OTF2_TOO_LONG: the call is given up. */
enum otf2_place otf2_place_of(struct otf2_open_call *call, const struct defs *defs, const struct event *event);
/* Adds the requests of an event in a call; `last`: it is the leave. */
void otf2_add_called(struct otf2_called *called, const struct defs *defs, const struct event *event, bool last);
enum otf2_role otf2_role_of(const struct state_def *state);
unsigned otf2_kinds_of(enum otf2_role role, const struct state_def *state); /* enum otf2_kind */
bool otf2_is_posting(const char *name);                                     /* MPI_Isend, but not MPI_Init */

/* write_otf2_properties.c: facts about the whole run, into the anchor file. */
enum { OTF2_PROPERTY_NAME_SIZE = 64 };
bool otf2_write_properties(struct otf2_writer *otf2);
/* The name in an archive, NAMESPACE::NAME of [A-Z0-9_]: false where it cannot be written so. */
bool otf2_property_name(const char *name, char in_archive[OTF2_PROPERTY_NAME_SIZE]);
/* The run's date in ns since 1970; OTF2_UNDEFINED_TIMESTAMP if it is not known, or in an unknown time zone. */
uint64_t otf2_realtime(const struct defs *defs);

/* write_otf2_id.c: gives a closed archive an id of its definitions instead of the one that the library makes of the
   time: the same trace becomes the same archive, byte by byte. Where the files are not as expected the id stays. */
void otf2_write_id(const char *directory);

/* write_otf2_defs.c */
void otf2_number_comms(struct otf2_writer *otf2);
bool otf2_write_defs(struct otf2_writer *otf2);
static inline OTF2_Type otf2_type_of(const struct counter_def *counter)
{
    if (counter->type == COUNTER_DOUBLE)
        return OTF2_TYPE_DOUBLE;
    return counter->type == COUNTER_UINT64 ? OTF2_TYPE_UINT64 : OTF2_TYPE_INT64;
}
static inline uint64_t otf2_location_id(uint32_t process, uint32_t thread)
{
    return (uint64_t)thread << 32 | process; /* as Score-P's */
}

#endif
