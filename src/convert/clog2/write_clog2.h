/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_CLOG2_WRITE_CLOG2_H
#define SIGHT_CONVERT_CLOG2_WRITE_CLOG2_H

#include "convert/clog2/clog2_counter.h"
#include "convert/clog2/clog2_ids.h"
#include "core/payload.h"
#include "core/sorter.h"

/* The writer of CLOG-2: its state, and what of events and definitions the format has room for (write_clog2_fit.c). What
   has none is counted as lost. */

struct clog2_writer {
    struct writer writer; /* first */
    struct sorter *sorter;
    struct clog2_ids ids;
    int32_t world; /* index of the world communicator, or EVENT_UNKNOWN: then it is made up */
    int32_t world_id;
    struct map introduced; /* processes that were given a world of their own */
    struct map self_ids;   /* the communicators made up for them: rank -> id */
    int32_t next_comm_id;
    unsigned char block[CLOG2_BLOCK_SIZE];
    size_t used;
    int64_t last_ns;
    uint32_t processes, threads;
    bool *defined[4]; /* by enum definition_kind: the stream has a record for it */
    size_t defined_count[4];
    bool *mark_occurs;         /* by index of mark, in what is written */
    struct sample_pack *packs; /* of processes with samples; see clog2_put_sample */
    size_t pack_count, pack_capacity;
    struct map pack_of;    /* process -> index + 1 */
    uint32_t samples_mark; /* index of the mark that stands for samples; UINT32_MAX: the source has none, */
    int32_t samples_id;    /* but here is an id for it */
    struct map words;      /* (kind, state or mark) -> enum payload_words of its events */
    struct map calls;      /* as MPE-1 counts them in `value`: (process, state) -> calls */
};

/* Samples of a process that are still to be written: they stand together in one record, at the time of the last one or
   of what else of the process comes next, so that records are in order of time, and those of a process in their own. */
struct sample_pack {
    uint32_t process, thread;
    int64_t times_ns[SAMPLES_AT_ONCE];
    struct samples samples;
};

/* True if event.value is only MPE-1's counter of calls, which has no meaning. */
bool clog2_value_is_counter(struct clog2_writer *clog2, const struct event *event);

/* What the events of a state or mark have, as far as it becomes their payload. */
unsigned clog2_words_of(const struct clog2_writer *clog2, bool mark, uint32_t index);

/* Notes them before the first event is written. */
void clog2_note_words(struct clog2_writer *clog2, const struct event *event);

/* The cargo of one whose state or mark has them. */
void clog2_put_words(struct clog2_writer *clog2, unsigned char *cargo, unsigned words, const struct event *event,
                     const unsigned char *arena);

/* True if root and bytes of the event become its payload. */
bool clog2_puts_moved(const struct clog2_writer *clog2, const struct event *event);

/* True if the requests of the event become its payload. */
bool clog2_puts_requests(const struct clog2_writer *clog2, const struct event *event);

/* Counts what the file has no room for of an event that is written. */
void clog2_count_losses(struct clog2_writer *clog2, const struct event *event);

/* Call paths have a place in the file if they are of places in the source, not of regions. */
bool clog2_paths_fit(const struct defs *defs);

/* CLOG-2 has states, single events, messages and communicators. What has no record at all is left out here; what
   only loses a part of it is counted in clog2_count_losses. */
bool clog2_event_fits(struct clog2_writer *clog2, const struct event *event);

/* Definitions that have no place in the file. */
void clog2_count_lost_definitions(struct clog2_writer *clog2);

/* Notes that the stream has a record for the definition. */
void clog2_note_definition(struct clog2_writer *clog2, const struct event *event);

#endif
