/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_LANE_H
#define SIGHT_RECORD_LANE_H

#include "core/record_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lane is the buffer of one thread: a file of which one block at a time is mapped. Only its thread writes to it, so
   that nothing is locked; what is in it survives the death of the process. */
struct lane {
    unsigned char *at, *block_end; /* free room of the mapped block; both NULL where recording has ended */
    struct record_header *header;
    uint64_t events_left; /* until the limit */
    int64_t last_ns;      /* of the record before in this block; INT64_MIN: none */
    bool inside;          /* in an MPI function: what that calls itself is not recorded */
    unsigned char *block;
    uint64_t block_at; /* offset of the block in the file */
    uint64_t last_definition;
    int file;
    uint32_t last_comm_number; /* the communicator asked last: see comms.c */
    uint32_t last_comm_freed;
    uintptr_t last_comm;
    struct site *sites; /* see sites.h */
    uint32_t site_mask, site_count;
    uint32_t thread;
    void *scratch; /* see lane_scratch */
    size_t scratch_size;
    struct lane *next; /* of all lanes of the process */
};

/* Settings of all lanes, from the environment; set before the first lane is opened. */
struct lane_settings {
    const char *directory; /* NULL: nothing is recorded */
    uint32_t block_size;
    uint64_t max_events; /* per thread; UINT64_MAX: no limit */
};

/* A new lane with its file and header, or NULL where the file cannot be made. `header` tells what is known of the
   process. */
struct lane *lane_open(const struct lane_settings *settings, const struct record_header *header);

/* Cuts the file to what is used and says how the process ended. The lane stays valid, but records nothing more. */
void lane_close(struct lane *lane, enum record_end end);

/* Forgets the lane without touching its file: after fork() it belongs to the parent. */
void lane_abandon(struct lane *lane);

/* Ends the recording of this lane for a reason. */
void lane_stop(struct lane *lane, enum record_reason reason);

/* Goes to a fresh block where `size` bytes do not fit. False: recording has ended. */
bool lane_next_block(struct lane *lane, size_t size);

/* Room for a record, or NULL where recording has ended. The caller fills all but the first word, then calls
   lane_commit. */
static inline void *lane_room(struct lane *lane, size_t size)
{
    if (__builtin_expect((size_t)(lane->block_end - lane->at) < size, 0) && !lane_next_block(lane, size))
        return NULL;
    return lane->at;
}

/* Makes the record at lane->at, `size` bytes long with this first word, a valid one. */
static inline void lane_commit_word(struct lane *lane, size_t size, int64_t time_ns, uint64_t word)
{
    uint64_t *at = (uint64_t *)(void *)lane->at;
    lane->at += size;
    lane->last_ns = time_ns;
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
    if (__builtin_expect(--lane->events_left == 0, 0))
        lane_stop(lane, RECORD_LIMIT);
}

/* The same for a record that begins with struct record_base, of which time_ns is filled. */
static inline void lane_commit(struct lane *lane, size_t size, enum record_kind kind, uint32_t state, uint32_t comm)
{
    struct record_base base = {
        .kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = (uint16_t)state, .comm = comm};
    uint64_t word;
    __builtin_memcpy(&word, &base, sizeof word);
    lane_commit_word(lane, size, ((struct record_base *)(void *)lane->at)->time_ns, word);
}

/* The word of a short record; 0 where it must be a long one. */
static inline uint64_t lane_short_word(const struct lane *lane, enum record_kind kind, int64_t time_ns, uint32_t state,
                                       uint32_t comm)
{
    uint64_t passed = (uint64_t)time_ns - (uint64_t)lane->last_ns;
    if (passed >= RECORD_SHORT_TIMES || comm >= RECORD_SHORT_COMMS)
        return 0;
    return (uint64_t)kind | RECORD_SHORT | (uint64_t)state << RECORD_SHORT_STATE | (uint64_t)comm << RECORD_SHORT_COMM |
           passed << RECORD_SHORT_TIME;
}

/* A record of which the base is all. */
static inline void lane_put(struct lane *lane, enum record_kind kind, int64_t time_ns, uint32_t state, uint32_t comm)
{
    struct record_base *base = lane_room(lane, sizeof *base);
    if (!base)
        return;
    uint64_t word = lane_short_word(lane, kind, time_ns, state, comm);
    if (__builtin_expect(word != 0, 1)) {
        lane_commit_word(lane, sizeof word, time_ns, word);
        return;
    }
    base->time_ns = time_ns;
    lane_commit(lane, sizeof *base, kind, state, comm);
}

/* The entry of a call from a known site. */
static inline void lane_put_enter(struct lane *lane, int64_t time_ns, uint32_t state, uint32_t comm, uint32_t site)
{
    struct record_enter *record = lane_room(lane, sizeof *record);
    if (!record)
        return;
    uint64_t passed = (uint64_t)time_ns - (uint64_t)lane->last_ns;
    if (__builtin_expect(passed < RECORD_SHORT_TIMES && comm < RECORD_SHORT_COMMS, 1)) {
        uint64_t word = (uint64_t)RECORD_ENTER_AT | RECORD_SHORT | (uint64_t)site << RECORD_SHORT_STATE |
                        passed << RECORD_SHORT_TIME;
        lane_commit_word(lane, sizeof word, time_ns, word);
        return;
    }
    record->base.time_ns = time_ns;
    record->site = site;
    lane_commit(lane, sizeof *record, RECORD_ENTER_AT, state, comm);
}

/* One end of a message, with everything but the words of the base filled in `message`. Returns the place of the record
   in the file, 0 where recording has ended. */
uint64_t lane_put_message(struct lane *lane, enum record_kind kind, uint32_t state, uint32_t comm,
                          const struct record_message *message);

/* A definition: `record` (of `size` bytes) with everything but its `next` and the word of the kind. */
void lane_define(struct lane *lane, const void *record, size_t size, enum record_kind kind, uint32_t comm);

/* Offset in the file of the record that comes next. */
static inline uint64_t lane_position(const struct lane *lane)
{
    return lane->block_at + (uint64_t)(lane->at - lane->block);
}

/* Declares the message written at `position` void. */
void lane_void(struct lane *lane, uint64_t position);

/* Memory of the thread for `size` bytes, until the next call; NULL where there is none. */
void *lane_scratch(struct lane *lane, size_t size);

#endif
