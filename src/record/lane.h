/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_LANE_H
#define SIGHT_RECORD_LANE_H

#include "core/record_format.h"
#include "record/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lane is the buffer of one thread: a file of which the first block is mapped. Only its thread writes records, so
   that nothing is locked; what is in it survives the death of the process. */
struct lane {
    unsigned char *at, *block_end; /* free room of the mapped block; both NULL where recording has ended */
    int64_t last_ticks;            /* of the record before */
    int64_t calibrate_at; /* ticks from which on the clock is to be read again: soon enough for short records */
    uint64_t events_left; /* until the limit */
    struct site *sites;   /* see sites.h */
    uint32_t site_mask, site_count;
    bool inside; /* in an MPI function: what that calls itself is not recorded */
    struct record_header *header;
    unsigned char *block;
    uint64_t block_at;    /* its position: see record_format.h */
    pthread_mutex_t lock; /* between writing the full block to the file and lane_void, which any thread may call */
    uint64_t last_definition;
    int file;
    uint32_t last_comm_number; /* the communicator asked last: see comms.c */
    uint32_t last_comm_freed;
    uintptr_t last_comm;
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

/* Writes down what the ticks are in ns, in a record with the time `ticks`. */
void lane_calibrate(struct lane *lane, int64_t ticks, const struct clock_pair *pair);

/* Makes ready for a short record of `size` bytes at most: in a fresh block where there is no room, the clock read where
   that is due. False: recording has ended. */
bool lane_prepare(struct lane *lane, size_t size, int64_t ticks);

/* Room for a record, or NULL where recording has ended. The caller fills all but the first word, then calls
   lane_commit. */
static inline void *lane_room(struct lane *lane, size_t size)
{
    if (__builtin_expect((size_t)(lane->block_end - lane->at) < size, 0) && !lane_next_block(lane, size))
        return NULL;
    return lane->at;
}

/* The same for a record that may be a short one. */
static inline void *lane_room_at(struct lane *lane, size_t size, int64_t ticks)
{
    bool full = (size_t)(lane->block_end - lane->at) < size;
    if (__builtin_expect(full || ticks >= lane->calibrate_at, 0) && !lane_prepare(lane, size, ticks))
        return NULL;
    return lane->at;
}

/* The time of a record that is taken at `ticks`: never before the one before it (see clock.h). */
static inline int64_t lane_ticks(const struct lane *lane, int64_t ticks)
{
    return ticks > lane->last_ticks ? ticks : lane->last_ticks;
}

/* Makes the record at lane->at, `size` bytes long with this first word, a valid one. */
static inline void lane_commit_word(struct lane *lane, size_t size, int64_t ticks, uint64_t word)
{
    uint64_t *at = (uint64_t *)(void *)lane->at;
    lane->at += size;
    lane->last_ticks = ticks;
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
    if (__builtin_expect(--lane->events_left == 0, 0))
        lane_stop(lane, RECORD_LIMIT);
}

/* The same for a record that begins with struct record_base, of which the ticks are filled. */
static inline void lane_commit(struct lane *lane, size_t size, enum record_kind kind, uint32_t state, uint32_t comm)
{
    struct record_base base = {
        .kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = (uint16_t)state, .comm = comm};
    uint64_t word;
    __builtin_memcpy(&word, &base, sizeof word);
    struct record_base *record = (struct record_base *)(void *)lane->at;
    record->ticks = lane_ticks(lane, record->ticks);
    lane_commit_word(lane, size, record->ticks, word);
}

/* What the word of a short record has beside state and communicator, or site. */
static inline uint64_t lane_short_word(const struct lane *lane, enum record_kind kind, int64_t ticks)
{
    return (uint64_t)kind | RECORD_SHORT | (uint64_t)(ticks - lane->last_ticks) << RECORD_SHORT_TIME;
}

static inline uint64_t lane_short_where(uint32_t state, uint32_t comm)
{
    return (uint64_t)state << RECORD_SHORT_STATE | (uint64_t)comm << RECORD_SHORT_COMM;
}

/* A record of which the base is all. */
static inline void lane_put(struct lane *lane, enum record_kind kind, int64_t ticks, uint32_t state, uint32_t comm)
{
    struct record_base *base = lane_room_at(lane, sizeof *base, ticks);
    if (!base)
        return;
    ticks = lane_ticks(lane, ticks);
    if (__builtin_expect(comm < RECORD_SHORT_COMMS, 1)) {
        uint64_t word = lane_short_word(lane, kind, ticks) | lane_short_where(state, comm);
        lane_commit_word(lane, sizeof word, ticks, word);
        return;
    }
    base->ticks = ticks;
    lane_commit(lane, sizeof *base, kind, state, comm);
}

/* The entry of a call from a known site. */
static inline void lane_put_enter(struct lane *lane, int64_t ticks, uint32_t state, uint32_t comm, uint32_t site)
{
    struct record_enter *record = lane_room_at(lane, sizeof *record, ticks);
    if (!record)
        return;
    ticks = lane_ticks(lane, ticks);
    if (__builtin_expect(comm < RECORD_SHORT_COMMS, 1)) {
        uint64_t word = lane_short_word(lane, RECORD_ENTER_AT, ticks) | (uint64_t)site << RECORD_SHORT_STATE;
        lane_commit_word(lane, sizeof word, ticks, word);
        return;
    }
    record->base.ticks = ticks;
    record->site = site;
    lane_commit(lane, sizeof *record, RECORD_ENTER_AT, state, comm);
}

/* Requests that the call at hand posts, prepares, starts or completes: from the first on, so many. */
static inline void lane_put_requests(struct lane *lane, uint32_t first, uint32_t count)
{
    if (lane_room(lane, sizeof(uint64_t)))
        lane_commit_word(lane, sizeof(uint64_t), lane->last_ticks,
                         (uint64_t)RECORD_REQUESTS | RECORD_SHORT | (uint64_t)count << RECORD_SHORT_REQUESTS |
                             (uint64_t)first << RECORD_SHORT_REQUEST);
}

/* A definition: `record` (of `size` bytes) with everything but its `next` and the word of the kind. */
void lane_define(struct lane *lane, const void *record, size_t size, enum record_kind kind, uint32_t comm);

/* Position of the record that comes next. */
static inline uint64_t lane_position(const struct lane *lane)
{
    return lane->block_at + (uint64_t)(lane->at - lane->block);
}

/* One end of a message, with everything but the words of the base filled in `message`. Returns the place of the record
   in the file, 0 where recording has ended. */
static inline uint64_t lane_put_message(struct lane *lane, enum record_kind kind, uint32_t state, uint32_t comm,
                                        const struct record_message *message)
{
    const size_t base = sizeof message->base, rest = sizeof *message - base;
    unsigned char *at = lane_room_at(lane, sizeof *message, message->base.ticks);
    if (!at)
        return 0;
    uint64_t position = lane_position(lane);
    int64_t ticks = lane_ticks(lane, message->base.ticks);
    bool brief = comm < RECORD_SHORT_COMMS;
    size_t head = brief ? sizeof(uint64_t) : base;
    __builtin_memcpy(at + head, (const unsigned char *)message + base, rest);
    if (__builtin_expect(brief, 1)) {
        lane_commit_word(lane, head + rest, ticks, lane_short_word(lane, kind, ticks) | lane_short_where(state, comm));
    } else {
        ((struct record_base *)(void *)at)->ticks = ticks;
        lane_commit(lane, head + rest, kind, state, comm);
    }
    return position;
}

/* The function is in the trace: states of others are not defined. */
static inline void lane_note_used(struct lane *lane, uint32_t function)
{
    if (lane->header)
        lane->header->used[function] = 1;
}

/* Declares the message written at `position` void. */
void lane_void(struct lane *lane, uint64_t position);

/* Memory of the thread for `size` bytes, until the next call; NULL where there is none. */
void *lane_scratch(struct lane *lane, size_t size);

#endif
