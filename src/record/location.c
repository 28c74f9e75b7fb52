/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/location.h"

#include "record/keep.h"
#include "record/resources.h"
#include "record/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { POPULATED_THREADS = 16, POPULATED_BYTES = 1 << 20 };

/* The lock as its owner takes it: not in a sample, which has it. location_void and location_set_bytes take it from any
   thread; the handler of samples only tries it, as the thread that it interrupts may hold it. */
static void own_lock(struct location *location)
{
    if (!location->holds_lock)
        pthread_mutex_lock(&location->lock);
}

static void own_unlock(struct location *location)
{
    if (!location->holds_lock)
        pthread_mutex_unlock(&location->lock);
}

static void block_release(struct location *location)
{
    if (location->block && !location->keep)
        munmap(location->block, location->header->block_size);
    location->block = location->at = location->block_end = NULL;
}

static void block_begin(struct location *location)
{
    location->at = location->block + RECORD_BLOCK_HEAD;
    location->block_end = location->block + location->header->block_size;
    location->block_at = RECORD_HEADER_SIZE + location->header->blocks * location->header->block_size;
    /* The clock is read with the first record of each block: a file that lost blocks still has times. */
    location->prepare_at = location->calibrate_at = INT64_MIN;
    location->tally.due = location->header->blocks > 0;
}

/* Maps the block once: mapping a new page costs ten times as much as writing it to the file. */
static bool block_map(struct location *location)
{
    uint32_t size = location->header->block_size;
    /* posix_fallocate, so that writing to the mapping cannot fail for want of disk space: that would be a SIGBUS. */
    if (!own_file_extend(&location->file, RECORD_HEADER_SIZE, size))
        return false;
    location->block = own_file_map(&location->file, RECORD_HEADER_SIZE, size);
    if (!location->block)
        return false;
    /* Programs may have any number of threads, each with a few calls only. */
    if (location->thread < POPULATED_THREADS)
        own_file_populate(location->block, size < POPULATED_BYTES ? size : POPULATED_BYTES);
    block_begin(location);
    return true;
}

/* True if a record is still where it was written. Where a sample is kept, that is so in the last two blocks. */
static bool is_there(const struct location *location, uint64_t position)
{
    return !location->keeps || position + location->block_size >= location->block_at;
}

/* The offset of a position in the file. Positions are as if blocks followed each other; in the file the mapped block is
   the first, and full ones are written after it. Where a sample is kept, two blocks take turns. */
static uint64_t file_place(const struct location *location, uint64_t position)
{
    uint64_t at = position - RECORD_HEADER_SIZE;
    if (location->keeps)
        return keep_block_place(at / location->block_size, location->block_size) + at % location->block_size;
    if (position >= location->block_at)
        return position - location->block_at + RECORD_HEADER_SIZE;
    return position + location->block_size;
}

/* Writes the full block after those before it, and empties it. */
static bool block_flush(struct location *location)
{
    struct record_header *header = location->header;
    uint64_t at = location->block_at + header->block_size, number = header->blocks + 1;
    /* Written before it is counted: a reader of a killed process takes only blocks that the header counts. */
    if (!own_file_write(&location->file, location->block, header->block_size, at))
        return false;
    /* Release: `sight status` reads the file while the program runs, and must find what the count promises. */
    __atomic_store_n(&header->blocks, number, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* from here on the block counts as empty */
    /* Zeros are no records: whatever is found after the last one of a killed process is recognised as free. */
    memset(location->block + RECORD_BLOCK_HEAD, 0, header->block_size - RECORD_BLOCK_HEAD);
    /* The block's own number, last: until it matches the header's count, the mapped block is the one that was just
       written. */
    __atomic_store_n((uint64_t *)(void *)location->block, number, __ATOMIC_RELEASE);
    return true;
}

/* The same where a sample is kept: the next of two blocks that are filled in turn. */
static void block_turn(struct location *location)
{
    struct record_header *header = location->header;
    keep_turn(location->keep, header->blocks);
    __atomic_store_n(&header->blocks, header->blocks + 1, __ATOMIC_RELEASE);
    location->block = keep_block(location->keep, header->blocks);
}

static bool file_create(struct own_file *file, const struct location_settings *settings,
                        const struct record_header *header)
{
    enum { NAMES_MAX = 1000 };
    char path[4096], more[16] = "";
    bool created = false;
    /* The process may have been another MPI program before exec; containers may have the same host and process. */
    for (int i = 1; i < NAMES_MAX && !created; i++) {
        int length = snprintf(path, sizeof path, "%s/%.32s-%u-%u%s" RECORD_SUFFIX, settings->directory,
                              header->host_name, header->pid, header->thread, more);
        if (length < 0 || (size_t)length >= sizeof path) {
            errno = ENAMETOOLONG;
            return false;
        }
        created = own_file_create(file, path);
        if (!created && errno != EEXIST)
            return false;
        snprintf(more, sizeof more, ".%d", i + 1);
    }
    return created;
}

/* Everything but the magic. */
static void header_store(struct record_header *page, const struct record_header *header, uint32_t block_size,
                         uint64_t kept)
{
    const size_t magic = sizeof header->magic;
    memcpy((char *)page + magic, (const char *)header + magic, sizeof *header - magic);
    page->block_size = block_size;
    page->kept = kept;
}

/* The magic is written last, when the file is complete: if the process is killed before that, it has no header. */
static void magic_store(struct record_header *page, const struct record_header *header)
{
    uint64_t magic;
    memcpy(&magic, header->magic, sizeof magic);
    __atomic_store_n((uint64_t *)(void *)page, magic, __ATOMIC_RELEASE);
}

/* The thread's share of what the whole recording may take: most of it is the first thread's. */
static struct record_kept kept_sizes(const struct location_settings *settings, const struct record_header *header,
                                     uint32_t *block_size)
{
    enum { OTHER_THREADS = 16 };
    uint64_t bytes = settings->keep_bytes / (header->size > 0 ? (uint64_t)header->size : 1);
    return keep_sizes(header->thread == 0 ? bytes : bytes / OTHER_THREADS, block_size);
}

/* False and errno. */
static bool kept_map(struct location *location, const struct record_kept *sizes)
{
    location->keep = keep_open(&location->file, sizes, location->header->block_size, (uint32_t)location->header->size);
    if (!location->keep)
        return false;
    location->keeps = true;
    location->block = keep_block(location->keep, 0);
    block_begin(location);
    return true;
}

/* False and errno. */
static bool file_begin(struct location *location, const struct record_header *header,
                       const struct location_settings *settings)
{
    struct record_kept kept = {0};
    uint32_t block_size = settings->block_size;
    if (settings->keep_bytes > 0)
        kept = kept_sizes(settings, header, &block_size);
    location->block_size = block_size;
    void *page = NULL;
    if (own_file_extend(&location->file, 0, RECORD_HEADER_SIZE))
        page = own_file_map(&location->file, 0, RECORD_HEADER_SIZE);
    if (!page)
        return false;
    location->header = page;
    location->pending = (struct record_pending *)(void *)((unsigned char *)page + RECORD_PENDING_AT);
    header_store(location->header, header, block_size, settings->keep_bytes);
    if (settings->keep_bytes > 0 ? kept_map(location, &kept) : block_map(location)) {
        magic_store(location->header, header);
        return true;
    }
    int reason = errno;
    munmap(page, RECORD_HEADER_SIZE);
    errno = reason;
    return false;
}

struct location *location_open(const struct location_settings *settings, const struct record_header *header)
{
    struct location *location = calloc(1, sizeof *location);
    if (!location)
        return NULL;
    location->events_left = settings->max_events;
    tally_start(&location->tally);
    location->thread = header->thread;
    pthread_mutex_init(&location->lock, NULL);
    if (file_create(&location->file, settings, header)) {
        if (file_begin(location, header, settings))
            return location;
        own_file_fail(&location->file, errno);
    }
    free(location);
    return NULL;
}

static void unmap(struct location *location)
{
    static struct record_pending nowhere;
    block_release(location);
    keep_close(location->keep);
    location->keep = NULL;
    munmap(location->header, RECORD_HEADER_SIZE);
    location->header = NULL;
    location->pending = &nowhere;
}

void location_close(struct location *location, enum record_end end)
{
    if (!location->header)
        return;
    if (location->block) {
        struct clock_pair pair = clock_read();
        location_calibrate(location, location->last_ticks, &pair);
    }
    /* Another thread may be marking a message of this location: it must find either all of it or nothing. */
    pthread_mutex_lock(&location->lock);
    bool all_in_one = location->block && location->header->blocks == 0 && !location->keep;
    uint64_t used = all_in_one ? location_position(location) : 0;
    block_release(location);
    if (used > 0)
        /* Only if no block was written: else the mapped block is in the middle. */
        own_file_truncate(&location->file, used); /* the rest of the file is ignored, and may stay */
    location->header->end = end;
    unmap(location);
    own_file_rest(&location->file);
    pthread_mutex_unlock(&location->lock);
}

void location_abandon(struct location *location)
{
    unmap(location);
    own_file_close(&location->file);
}

void location_stop(struct location *location, enum record_reason reason)
{
    location->header->reason = reason;
    location->header->ended_ticks = clock_now();
    own_lock(location);
    block_release(location);
    own_unlock(location);
    /* No limit any more: `events_left` is counted down with each record, and must not end the recording again. */
    location->events_left = UINT64_MAX;
}

/* Why the file cannot be written to, by errno. */
static enum record_reason reason_of(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EIO:
        return RECORD_DISK_FULL;
    case EFBIG:
        return RECORD_FILE_LIMIT;
    default:
        return RECORD_FILE_LOST;
    }
}

bool location_next_block(struct location *location, size_t size)
{
    /* A record larger than a block fits nowhere: it is left out. */
    if (!location->block || size > location->header->block_size - RECORD_BLOCK_HEAD)
        return false;
    /* Writing is where a thread may be cancelled, which must not happen with the lock. */
    int cancel = cancel_hold();
    own_lock(location);
    int before = errno, error = location->failed;
    bool flushed = !error && (location->keep || block_flush(location));
    if (flushed && location->keep)
        block_turn(location);
    if (!flushed && !error)
        error = errno;
    errno = before; /* the program must not see what recording does to it */
    if (flushed)
        block_begin(location);
    own_unlock(location);
    if (!flushed)
        location_stop(location, reason_of(error));
    cancel_let(cancel);
    return flushed;
}

/* The least and longest pause between clock readings, in ticks. Pauses grow with the run: if a process is killed, at
   least half of its time is covered by readings. */
#define CALIBRATE_MIN (INT64_C(1) << 24)
#define CALIBRATE_MAX (INT64_C(1) << 30)
_Static_assert((UINT64_C(1) << 30) < RECORD_SHORT_TIMES,
               "short records reach from one reading of the clock to the next");

void location_calibrate(struct location *location, int64_t ticks, const struct clock_pair *pair)
{
    struct record_calibration record = {
        .base.ticks = ticks, .ticks = pair->ticks, .ns = pair->ns, .width = pair->width};
    location_define(location, &record, sizeof record, RECORD_CALIBRATION, RECORD_WORLD);
    int64_t pause = ticks - recorder_clock.begin.ticks;
    if (pause < CALIBRATE_MIN)
        pause = CALIBRATE_MIN;
    if (pause > CALIBRATE_MAX)
        pause = CALIBRATE_MAX;
    location->prepare_at = location->calibrate_at = location->last_ticks + pause;
}

static bool prepare(struct location *location, size_t size, int64_t ticks)
{
    /* A loop: a new block needs the clock to be read, and that record may fill the block. */
    while (location->block) {
        if ((size_t)(location->block_end - location->at) < size) {
            if (!location_next_block(location, size))
                return false;
        } else if (ticks >= location->calibrate_at) {
            struct clock_pair pair = clock_read();
            location_calibrate(location, ticks, &pair);
            /* Not by a sample, within which no other record can be begun: then by the next call. */
            location->resources_due = true;
            location->prepare_at = INT64_MIN;
            samples_note_unknown(location);
        } else if (location->resources_due && !location->holds_lock) {
            location->resources_due = false;
            location->prepare_at = location->calibrate_at;
            resources_put(location);
        } else if (location->tally.due) {
            tally_write(location);
        } else {
            return true;
        }
    }
    return false;
}

bool location_prepare(struct location *location, size_t size, int64_t ticks)
{
    int cancel = cancel_hold();
    bool prepared = prepare(location, size, ticks);
    cancel_let(cancel);
    return prepared;
}

/* Where a position is in memory; NULL: it is in the file only. The lock is held, or this is the owner. */
static unsigned char *mapped_at(const struct location *location, uint64_t position)
{
    if (!location->block)
        return NULL;
    if (position >= location->block_at)
        return location->block + (position - location->block_at);
    if (!location->keep || !is_there(location, position))
        return NULL;
    uint64_t before = location->block_at - position;
    return keep_block(location->keep, location->header->blocks - 1) + (location->block_size - before);
}

/* Called by any thread with the lock held: errors are left for the owner to find. */
static void store(struct location *location, uint64_t position, const void *data, size_t size)
{
    unsigned char *mapped = mapped_at(location, position);
    int before = errno;
    if (mapped)
        memcpy(mapped, data, size);
    else if (is_there(location, position) &&
             !own_file_write(&location->file, data, size, file_place(location, position)))
        location->failed = errno;
    errno = before;
}

static uint8_t kind_at(struct location *location, uint64_t position)
{
    const unsigned char *mapped = mapped_at(location, position);
    uint8_t kind = 0;
    int before = errno;
    if (mapped)
        kind = __atomic_load_n(mapped, __ATOMIC_RELAXED);
    else if (!is_there(location, position) ||
             !own_file_read(&location->file, &kind, sizeof kind, file_place(location, position)))
        kind = 0;
    errno = before;
    return kind;
}

void location_define(struct location *location, const void *record, size_t size, enum record_kind kind, uint32_t comm)
{
    unsigned char *at = location_room(location, size);
    if (!at)
        return;
    if (kind == RECORD_COMM)
        tally_count(&location->tally, kind, 0, 0, 0);
    /* The first word is the kind: location_commit writes it last, so that the record becomes valid at once. */
    const size_t first = sizeof(uint64_t);
    memcpy(at + first, (const unsigned char *)record + first, size - first);
    uint64_t position = location_position(location);
    location_commit(location, size, kind, 0, comm);
    /* Definitions are a list from the header on: a reader finds the names without reading all blocks. Where a sample is
       kept, it reads all that there is. */
    if (location->keep)
        return;
    if (location->last_definition) {
        int cancel = cancel_hold();
        own_lock(location);
        store(location, location->last_definition + sizeof(struct record_base), &position, sizeof position);
        own_unlock(location);
        cancel_let(cancel);
    } else {
        location->header->first_definition = position;
    }
    location->last_definition = position;
}

/* Also of a thread that has ended. */
static void note_voided(struct location *location)
{
    const uint32_t voided = 1;
    int before = errno;
    if (location->header)
        __atomic_store_n(&location->header->voided, voided, __ATOMIC_RELAXED);
    else
        (void)own_file_write(&location->file, &voided, sizeof voided, offsetof(struct record_header, voided));
    errno = before;
}

void location_void(struct location *location, uint64_t position)
{
    int cancel = cancel_hold();
    pthread_mutex_lock(&location->lock);
    uint8_t kind = location->file.path ? kind_at(location, position) : RECORD_NONE;
    if (kind != RECORD_NONE) {
        /* A short record stays short, as its length follows from it. */
        kind = (uint8_t)((kind & RECORD_SHORT) | RECORD_VOID);
        store(location, position, &kind, sizeof kind);
        note_voided(location);
    }
    if (!location->header) /* its thread has ended */
        own_file_rest(&location->file);
    pthread_mutex_unlock(&location->lock);
    cancel_let(cancel);
}

void location_set_bytes(struct location *location, uint64_t position, uint64_t bytes)
{
    const size_t rest = offsetof(struct record_message, bytes) - sizeof(struct record_base);
    int cancel = cancel_hold();
    pthread_mutex_lock(&location->lock);
    uint8_t kind = location->header ? kind_at(location, position) : RECORD_NONE;
    if (kind != RECORD_NONE) {
        size_t head = kind & RECORD_SHORT ? sizeof(uint64_t) : sizeof(struct record_base);
        store(location, position + head + rest, &bytes, sizeof bytes);
    }
    pthread_mutex_unlock(&location->lock);
    cancel_let(cancel);
}

void *location_scratch(struct location *location, size_t size)
{
    if (size > location->scratch_size) {
        void *larger = realloc(location->scratch, size);
        if (!larger)
            return NULL;
        location->scratch = larger;
        location->scratch_size = size;
    }
    return location->scratch;
}
