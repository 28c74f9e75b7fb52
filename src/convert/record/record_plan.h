/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_RECORD_PLAN_H
#define SIGHT_CONVERT_RECORD_RECORD_PLAN_H

#include "convert/record/record_run.h"

/* Which segments of a recording with samples (record_kept.h) are in the trace: those that all processes have. Where
   something is left out, time stands still: the next segment follows at once, so that nobody waits or computes across
   the gap. Messages whose other end is left out are left out, too: others would be matched with the wrong ones. */

/* How much of the run there is. */
struct record_plan {
    bool kept;       /* a sample; else the rest is 0 */
    uint64_t events; /* of the run */
    uint64_t left_out;
    uint64_t segments, selected; /* of the run; in the trace */
    uint64_t anchors;            /* segments that end with one: iterations */
    uint64_t head, worst;        /* selected as the first, as the longest */
    uint64_t messages;           /* left out of segments that are there */
    int64_t gap_ns;              /* for which time stands still */
    uint64_t lost_definitions;   /* that had no room: what refers to them is left out of the sample */
    uint64_t lost_channels;      /* how often the messages so far by partner and tag were forgotten */
    uint64_t limit_bytes, bytes; /* that recording and trace may have; that the recording has */
};

/* Chooses pieces of the files of an opened run: selected, shift_ns, after_gap, and the messages to drop. */
void record_plan_make(struct record_run *run, const struct defs *defs, struct record_plan *plan);

#endif
