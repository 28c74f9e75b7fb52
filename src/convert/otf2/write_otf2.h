/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_WRITE_OTF2_H
#define SIGHT_CONVERT_OTF2_WRITE_OTF2_H

#include "convert/writer.h"
#include "core/sorter.h"

#include <otf2/otf2.h>

/* The parts of the OTF2 writer: write_otf2.c sorts events and writes one location after the other, write_otf2_calls.c
   makes the records of events, write_otf2_defs.c the definitions. Rules: otf2(5). */

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

/* A request that has been posted. */
enum otf2_kind { OTF2_SENDS = 1, OTF2_RECEIVES = 2, OTF2_COLLECTS = 4 };
struct otf2_pending {
    uint64_t id; /* one of its kind in the location */
    unsigned kinds;
    bool active;
    struct event leave; /* of the call that posted a collective */
};

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
    unsigned call_depth;
    struct map requests; /* number -> pending */
    struct otf2_pending *pending;
    size_t pending_count, pending_capacity;
    uint64_t next_request;
    struct error fault;
};

/* Numbers of strings: those of the definitions come first. */
enum { OTF2_TEXTS_MOST = 1 << 16 };
uint32_t otf2_text_number(struct otf2_writer *otf2, const char *text); /* OTF2_UNDEFINED_UINT32: too many */

/* write_otf2_calls.c: events of the location at hand, in order of time. */
void otf2_write_event(struct otf2_writer *otf2, const struct event *event, const unsigned char *arena);
void otf2_write_end(struct otf2_writer *otf2);

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
