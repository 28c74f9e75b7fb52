/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PAST_H
#define SIGHT_CORE_PAST_H

#include "core/event.h"

/* What happened before the part of a trace that is read as events, in short: how many messages and collectives there
   were, not each of them. A process's events and counts come in its order; those of processes one after the other. */

/* What matters of a state; several may. */
enum past_need {
    PAST_COUNT = 1,  /* how often it was entered, by communicator */
    PAST_EVENTS = 2, /* each of its events, with ranks and requests */
    PAST_TEST = 4,   /* it tests for something: without a result it is no progress */
    PAST_START = 8   /* what is before its leave does not count as pauses */
};

struct past_sink {
    void *context;
    unsigned (*need)(void *context, uint32_t state); /* enum past_need */
    void (*events)(void *context, const struct batch *batch);
    /* `count` messages like this one (EVENT_SEND, EVENT_RECEIVE): process, partner, comm and tag; of a send also the
       state and site of the last. */
    void (*messages)(void *context, const struct event *message, uint64_t count);
    /* `count` collectives on event->comm; `states` are those of the last ones, `last` of them, in their order. */
    void (*collectives)(void *context, const struct event *event, uint64_t count, const uint32_t *states, size_t last);
    /* The last progress of a thread: its time, the last call's state and site; so many tests have failed since. */
    void (*progress)(void *context, const struct event *last, uint64_t failed);
    /* The longest time without progress of any process, if it is `least_pause_ns` or more; else 0. */
    void (*pause)(void *context, int64_t longest_ns);
    int64_t least_pause_ns;
};

#endif
