/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_LOCATION_H
#define SIGHT_RECORD_LOCATION_H

#include "core/record_format.h"
#include "record/clock.h"
#include "record/own_file.h"
#include "record/tally.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outer_call;

/* What a call frees: see comms.h. */
struct freed_handle {
    uintptr_t handle;
    uint32_t number; /* RECORD_COMM_NONE: it is not known */
};

/* The call that a thread is in, as far as it takes to end it if it never returns: see left_call.h. */
struct open_call {
    const void *frame; /* somewhere in its wrapper's stack frame; NULL: there is none */
    uint32_t function, comm;
    bool write;
    uint64_t send_at; /* where its send is recorded; 0: nowhere */
    size_t held;      /* requests in location.scratch that it holds */
    size_t started;   /* or struct request_start there */
};

/* Counters of the thread, by number: see counters.h. */
struct location_counters {
    bool begun;
    int descriptor[RECORD_COUNTERS_MOST];  /* -1: none */
    uint64_t number[RECORD_COUNTERS_MOST]; /* of the kernel */
};

/* A location is the buffer of one thread: a file whose first block is mapped. Only its thread writes records, so
   there are no locks; its contents survive the death of the process. */
struct location {
    unsigned char *at, *block_end; /* free room of the mapped block; both NULL if recording has ended */
    int64_t last_ticks;            /* of the record before */
    int64_t prepare_at;            /* ticks from which on location_prepare is called for a record */
    int64_t calibrate_at; /* ticks from which on the clock is to be read again: soon enough for short records */
    uint64_t events_left; /* until the limit */
    struct site *sites;   /* see sites.h */
    uint32_t site_mask, site_count;
    struct library_way *ways; /* see library_call.h */
    uint32_t way_count;
    uintptr_t stack_begin, stack_end; /* of its thread; 0: not known */
    struct tally tally;
    int64_t sync_ns;   /* see syncs.c */
    int64_t asleep_ns; /* see interrupts.c */
    struct open_call open;
    struct outer_call *outer;       /* the call in which a callback of the program made this one: see outer_call.h */
    bool inside;                    /* in an MPI function or in the recorder: what that calls itself is not recorded */
    uint8_t endings;                /* rounds of destructors at the end of its thread */
    bool holds_lock;                /* the owner has `lock`: it takes a sample */
    bool resources_due;             /* the clock was read: the next call is to read the resources */
    struct sampler *sampler;        /* see samples.h; NULL: no samples are taken */
    struct python *python;          /* see python.h; NULL: not needed */
    struct record_pending *pending; /* in the file */
    struct record_header *header;
    unsigned char *block;
    uint32_t block_size;
    struct keep *keep;    /* see keep.h; NULL: all records are kept, or the location is closed */
    bool keeps;           /* the file has the layout of struct record_kept */
    uint64_t block_at;    /* its position: see record_format.h */
    pthread_mutex_t lock; /* of block and file: location_void may be called by any thread */
    int failed;           /* errno of a write by another thread: the owner ends the recording with its block */
    uint64_t last_definition;
    struct own_file file;
    struct location_counters counters;
    uint32_t last_comm_number; /* the communicator used last: see comms.c */
    uint32_t last_comm_freed;
    uintptr_t last_comm;
    struct freed_handle freeing; /* by the current call */
    uint32_t thread;
    void *scratch; /* see location_scratch */
    size_t scratch_size;
    struct location *next; /* of all locations of the process */
};

/* Settings of all locations, from the environment; set before the first location is opened. */
struct location_settings {
    const char *directory; /* NULL: nothing is recorded */
    uint32_t block_size;
    uint64_t max_events; /* per thread; UINT64_MAX: no limit */
    uint64_t keep_bytes; /* of the whole recording, if only a sample is kept; 0: all is kept */
};

/* A new location with its file and header, or NULL and errno if the file cannot be created. `header` has the data of
   the process. */
struct location *location_open(const struct location_settings *settings, const struct record_header *header);

/* Truncates the file to the used part and stores how the process ended. The location stays valid, but records nothing
   more. */
void location_close(struct location *location, enum record_end end);

/* Forgets the location without touching its file: after fork() it belongs to the parent. */
void location_abandon(struct location *location);

/* Ends the recording of this location for a reason. */
void location_stop(struct location *location, enum record_reason reason);

/* Starts a new block if `size` bytes do not fit. False: recording has ended. */
bool location_next_block(struct location *location, size_t size);

/* Writes down what the ticks are in ns, in a record with the time `ticks`. */
void location_calibrate(struct location *location, int64_t ticks, const struct clock_pair *pair);

/* Prepares for a short record of at most `size` bytes: starts a new block if needed, and reads the clock if due. False:
   recording has ended. */
bool location_prepare(struct location *location, size_t size, int64_t ticks);

/* Room for a record, or NULL if recording has ended. The caller fills all but the first word, then calls
   location_commit. */
static inline void *location_room(struct location *location, size_t size)
{
    if (__builtin_expect((size_t)(location->block_end - location->at) < size, 0) &&
        !location_next_block(location, size))
        return NULL;
    return location->at;
}

/* The same for a record that may be a short one. */
static inline void *location_room_at(struct location *location, size_t size, int64_t ticks)
{
    bool full = (size_t)(location->block_end - location->at) < size;
    if (__builtin_expect(full || ticks >= location->prepare_at, 0) && !location_prepare(location, size, ticks))
        return NULL;
    return location->at;
}

/* The time of a record that is taken at `ticks`: never before the one before it (see clock.h). */
static inline int64_t location_ticks(const struct location *location, int64_t ticks)
{
    return ticks > location->last_ticks ? ticks : location->last_ticks;
}

/* Makes the record at location->at, `size` bytes long with this first word, a valid one. */
static inline void location_commit_word(struct location *location, size_t size, int64_t ticks, uint64_t word)
{
    uint64_t *at = (uint64_t *)(void *)location->at;
    location->at += size;
    location->last_ticks = ticks;
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
    if (__builtin_expect(--location->events_left == 0, 0))
        location_stop(location, RECORD_LIMIT);
}

/* The same for a record that begins with struct record_base, whose ticks are set. */
static inline void location_commit(struct location *location, size_t size, enum record_kind kind, uint32_t state,
                                   uint32_t comm)
{
    struct record_base base = {
        .kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = (uint16_t)state, .comm = comm};
    uint64_t word;
    __builtin_memcpy(&word, &base, sizeof word);
    struct record_base *record = (struct record_base *)(void *)location->at;
    record->ticks = location_ticks(location, record->ticks);
    location_commit_word(location, size, record->ticks, word);
}

/* The fields of a short record's word besides state and communicator, or site. */
static inline uint64_t location_short_word(const struct location *location, enum record_kind kind, int64_t ticks)
{
    return (uint64_t)kind | RECORD_SHORT | (uint64_t)(ticks - location->last_ticks) << RECORD_SHORT_TIME;
}

static inline uint64_t location_short_where(uint32_t state, uint32_t comm)
{
    return (uint64_t)state << RECORD_SHORT_STATE | (uint64_t)comm << RECORD_SHORT_COMM;
}

/* A record that consists only of the base. */
static inline void location_put(struct location *location, enum record_kind kind, int64_t ticks, uint32_t state,
                                uint32_t comm)
{
    struct record_base *base = location_room_at(location, sizeof *base, ticks);
    if (!base)
        return;
    ticks = location_ticks(location, ticks);
    if (__builtin_expect(comm < RECORD_SHORT_COMMS, 1)) {
        uint64_t word = location_short_word(location, kind, ticks) | location_short_where(state, comm);
        location_commit_word(location, sizeof word, ticks, word);
        return;
    }
    base->ticks = ticks;
    location_commit(location, sizeof *base, kind, state, comm);
}

/* The entry of a call from a known site. */
static inline void location_put_enter(struct location *location, int64_t ticks, uint32_t state, uint32_t comm,
                                      uint32_t site)
{
    struct record_enter *record = location_room_at(location, sizeof *record, ticks);
    if (!record)
        return;
    ticks = location_ticks(location, ticks);
    if (__builtin_expect(comm < RECORD_SHORT_COMMS, 1)) {
        uint64_t word = location_short_word(location, RECORD_ENTER_AT, ticks) | (uint64_t)site << RECORD_SHORT_STATE;
        location_commit_word(location, sizeof word, ticks, word);
        return;
    }
    record->base.ticks = ticks;
    record->site = site;
    location_commit(location, sizeof *record, RECORD_ENTER_AT, state, comm);
}

/* Requests that the current call posts, prepares, starts or completes: `count` of them from the first on. */
static inline void location_put_requests(struct location *location, uint32_t first, uint32_t count)
{
    if (!location_room(location, sizeof(uint64_t)))
        return;
    location_commit_word(location, sizeof(uint64_t), location->last_ticks,
                         (uint64_t)RECORD_REQUESTS | RECORD_SHORT | (uint64_t)count << RECORD_SHORT_REQUESTS |
                             (uint64_t)first << RECORD_SHORT_REQUEST);
    location->tally.requests++;
}

/* Only the thread itself may be in the way of its own samples (see samples.h): between these two it takes none. */
static inline bool location_busy(struct location *location)
{
    bool before = location->inside;
    location->inside = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return before;
}

static inline void location_done(struct location *location, bool before)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    location->inside = before;
}

/* A definition: `record` (of `size` bytes) with everything but its `next` and the word of the kind. */
void location_define(struct location *location, const void *record, size_t size, enum record_kind kind, uint32_t comm);

/* Position of the next record. */
static inline uint64_t location_position(const struct location *location)
{
    return location->block_at + (uint64_t)(location->at - location->block);
}

/* One end of a message, with everything but the words of the base filled in `message`. Returns the place of the record
   in the file, 0 if recording has ended. */
static inline uint64_t location_put_message(struct location *location, enum record_kind kind, uint32_t state,
                                            uint32_t comm, const struct record_message *message)
{
    const size_t base = sizeof message->base, rest = sizeof *message - base;
    unsigned char *at = location_room_at(location, sizeof *message, message->base.ticks);
    if (!at)
        return 0;
    uint64_t position = location_position(location);
    int64_t ticks = location_ticks(location, message->base.ticks);
    bool brief = comm < RECORD_SHORT_COMMS;
    size_t head = brief ? sizeof(uint64_t) : base;
    __builtin_memcpy(at + head, (const unsigned char *)message + base, rest);
    if (__builtin_expect(brief, 1)) {
        location_commit_word(location, head + rest, ticks,
                             location_short_word(location, kind, ticks) | location_short_where(state, comm));
    } else {
        ((struct record_base *)(void *)at)->ticks = ticks;
        location_commit(location, head + rest, kind, state, comm);
    }
    tally_count(&location->tally, kind, comm, message->partner, message->tag);
    return position;
}

/* The function is in the trace: states of others are not defined. */
static inline void location_note_used(struct location *location, uint32_t function)
{
    if (location->header)
        location->header->used[function] = 1;
}

/* Declares the message written at `position` void; sets its bytes. */
void location_void(struct location *location, uint64_t position);
void location_set_bytes(struct location *location, uint64_t position, uint64_t bytes);

/* Memory of the thread for `size` bytes, until the next call; NULL if there is none. */
void *location_scratch(struct location *location, size_t size);

#endif
