/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_EVENTS_H
#define SIGHT_CONVERT_OTF2_OTF2_EVENTS_H

#include "convert/otf2/otf2_location.h"

/* Shared by the library's callbacks, one for each kind of record, in otf2_location.c (regions), otf2_mpi.c
   (messages, collectives), otf2_requests.c, otf2_rma_io.c (one-sided operations, files) and otf2_values.c (counters,
   parameters, the recorder itself). */

static inline struct event *otf2_push(struct otf2_location *location, OTF2_TimeStamp time, uint8_t kind, uint32_t state)
{
    const struct otf2_location_def *def = &location->otf2->location[location->def];
    ARRAY_RESERVE(location->events, location->capacity, location->count + 1);
    struct event *event = &location->events[location->count++];
    *event = EVENT_NOTHING;
    event->time_ns = otf2_clock_ns(&location->clock, time);
    event->kind = kind;
    event->state = state;
    event->process = def->process;
    event->thread = def->thread;
    return event;
}

/* The event of this number, if it has not been given yet. */
static inline struct event *otf2_event(struct otf2_location *location, uint64_t number)
{
    uint64_t at = number - location->first;
    return number >= location->first && at >= location->head && at < location->count ? &location->events[at] : NULL;
}

/* Real recorders give sizes that were never written. */
static inline int64_t otf2_bytes(uint64_t bytes)
{
    return bytes > INT64_MAX ? BYTES_UNKNOWN : (int64_t)bytes;
}

/* otf2_requests.c: a process gives a request a number when it posts it, and it is free after the call that completes
   it. */
void otf2_post(struct otf2_location *location, OTF2_TimeStamp time, uint64_t id);
void otf2_complete(struct otf2_location *location, OTF2_TimeStamp time, uint64_t id);

/* The open call is left: adds its requests as marks and, the last of them, to `leave`, which must not be one of the
   location's events: each has one range of consecutive numbers. */
void otf2_tell_requests(struct otf2_location *location, OTF2_TimeStamp time, struct event *leave);

#define EVENT_ARGUMENTS                                                                                                \
    OTF2_LocationRef id, OTF2_TimeStamp time, uint64_t position, void *user, OTF2_AttributeList *attributes
#define BEGIN                                                                                                          \
    struct otf2_location *location = user;                                                                             \
    (void)id;                                                                                                          \
    (void)position;                                                                                                    \
    (void)attributes;                                                                                                  \
    (void)time;                                                                                                        \
    location->records++

#define SET(Kind, function) OTF2_EvtReaderCallbacks_Set##Kind##Callback(callbacks, function)

void otf2_set_mpi(OTF2_EvtReaderCallbacks *callbacks);
void otf2_set_rma_io(OTF2_EvtReaderCallbacks *callbacks);
void otf2_set_values(OTF2_EvtReaderCallbacks *callbacks);

#endif
