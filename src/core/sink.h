/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_SINK_H
#define SIGHT_CORE_SINK_H

#include "core/defs.h"
#include "core/error.h"
#include "core/event.h"

/* What is known about a trace after reading it to its end. */
struct trace_end {
    bool complete;        /* nothing is missing or damaged */
    struct damage damage; /* count 0: none */
    uint64_t used, total; /* bytes that gave events, and bytes expected (0: not known) */
};

/* A consumer of events: metrics, writers, statistics. Embed it as the first member of your own struct. */
struct sink {
    /* Before the first event. The definitions live until the end; they may still grow (see defs.h). NULL: not needed.
     */
    enum status (*begin)(struct sink *sink, const struct defs *defs, struct error *err);
    /* A batch of events. Per process they come in the trace's order; nothing is promised across processes. */
    enum status (*events)(struct sink *sink, const struct batch *batch, struct error *err);
    /* After the last event, also when the input is damaged. Not called if a fault ended the work. NULL: not needed.
     */
    enum status (*end)(struct sink *sink, const struct trace_end *end, struct error *err);
};

#endif
