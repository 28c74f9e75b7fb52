/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_TAU_DEFS_H
#define SIGHT_CONVERT_TAU_DEFS_H

#include "core/defs.h"
#include "core/error.h"
#include "core/text_index.h"

/* The .edf files of TAU: what the numbers of events mean, a line each. A run has one for each node with numbers of its
   own, a merged trace one for all. Layout: TauTraceDumpEDF in TAU's src/Profile/Tracer.cpp. */

enum tau_kind {
    TAU_NOTHING, /* known, but no event of the program */
    TAU_STATE,
    TAU_COUNTER,
    TAU_SEND,
    TAU_RECEIVE,
    TAU_CLOSE, /* the end of a thread's trace */
    TAU_CLOCK  /* the time of day, in s */
};

/* An event of one name in all files that have it. */
struct tau_event {
    enum tau_kind kind;
    uint32_t index; /* of the state or mark */
};

struct tau_defs {
    struct tau_event *event;
    size_t event_count, event_capacity;
    struct text_index texts; /* group and name of each event */
    struct map ids;          /* (node, id) -> index; of a merged trace node 0 */
    uint64_t damaged;        /* lines that cannot be read */
};

/* Adds what an .edf defines: states, counters, facts about the run. `merged`: the facts are not of one node. */
enum status tau_defs_read(struct tau_defs *tau, struct defs *defs, const char *path, uint32_t node, bool merged,
                          char **host, struct error *err) MUST_CHECK;

/* NULL: not defined. */
const struct tau_event *tau_defs_find(const struct tau_defs *tau, uint32_t node, uint64_t id);

void tau_defs_clear(struct tau_defs *tau);

#endif
