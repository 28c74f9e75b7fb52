/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/lane.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file that grows beyond what a process may write would kill it. */
static bool file_may_have(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Room on the disk first: so would storing into a mapped page that the disk cannot hold. */
static bool file_extend(int file, uint64_t at, uint64_t size)
{
    return file_may_have(at + size) && posix_fallocate(file, (off_t)at, (off_t)size) == 0;
}

static void block_release(struct lane *lane)
{
    if (lane->block)
        munmap(lane->block, lane->header->block_size);
    lane->block = lane->at = lane->block_end = NULL;
}

static void block_begin(struct lane *lane)
{
    lane->at = lane->block + RECORD_BLOCK_HEAD;
    lane->block_end = lane->block + lane->header->block_size;
    lane->block_at = RECORD_HEADER_SIZE + lane->header->blocks * lane->header->block_size;
    lane->calibrate_at = INT64_MIN;
}

/* The block for good: a page that is mapped anew costs ten times what it costs to write it to the file. */
static bool block_map(struct lane *lane)
{
    uint32_t size = lane->header->block_size;
    if (!file_extend(lane->file, RECORD_HEADER_SIZE, size))
        return false;
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, lane->file, RECORD_HEADER_SIZE);
    if (block == MAP_FAILED)
        return false;
    lane->block = block;
    block_begin(lane);
    return true;
}

/* Where in the file a position is. */
static uint64_t file_place(const struct lane *lane, uint64_t position)
{
    return position >= lane->block_at ? position - lane->block_at + RECORD_HEADER_SIZE
                                      : position + lane->header->block_size;
}

static bool file_write(int file, const unsigned char *data, size_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t done = pwrite(file, data, size, (off_t)at);
        if (done <= 0)
            return false;
        data += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return true;
}

/* Writes the full block behind those before it, and empties it. */
static bool block_flush(struct lane *lane)
{
    struct record_header *header = lane->header;
    uint64_t at = lane->block_at + header->block_size, number = header->blocks + 1;
    if (!file_may_have(at + header->block_size) || !file_write(lane->file, lane->block, header->block_size, at))
        return false;
    __atomic_store_n(&header->blocks, number, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* from here on the block has nothing to tell */
    memset(lane->block + RECORD_BLOCK_HEAD, 0, header->block_size - RECORD_BLOCK_HEAD);
    __atomic_store_n((uint64_t *)(void *)lane->block, number, __ATOMIC_RELEASE);
    return true;
}

static int file_create(const struct lane_settings *settings, const struct record_header *header)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%.32s-%u-%u" RECORD_SUFFIX, settings->directory, header->host_name,
                          header->pid, header->thread);
    if (length < 0 || (size_t)length >= sizeof path)
        return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* The magic last: a process may be killed on the way, and then has no header. */
static void header_store(struct record_header *page, const struct record_header *header, uint32_t block_size)
{
    uint64_t magic;
    memcpy(&magic, header->magic, sizeof magic);
    memcpy((char *)page + sizeof magic, (const char *)header + sizeof magic, sizeof *header - sizeof magic);
    page->block_size = block_size;
    __atomic_store_n((uint64_t *)(void *)page, magic, __ATOMIC_RELEASE);
}

struct lane *lane_open(const struct lane_settings *settings, const struct record_header *header)
{
    struct lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->events_left = settings->max_events;
    lane->thread = header->thread;
    pthread_mutex_init(&lane->lock, NULL);
    lane->file = file_create(settings, header);
    void *page = MAP_FAILED;
    if (lane->file >= 0 && file_extend(lane->file, 0, RECORD_HEADER_SIZE))
        page = mmap(NULL, RECORD_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, lane->file, 0);
    if (page != MAP_FAILED) {
        lane->header = page;
        header_store(lane->header, header, settings->block_size);
        if (block_map(lane))
            return lane;
        munmap(page, RECORD_HEADER_SIZE);
    }
    if (lane->file >= 0)
        close(lane->file);
    free(lane);
    return NULL;
}

void lane_close(struct lane *lane, enum record_end end)
{
    if (!lane->header)
        return;
    if (lane->block) {
        struct clock_pair pair = clock_read();
        lane_calibrate(lane, lane->last_ticks, &pair);
    }
    bool all_in_one = lane->block && lane->header->blocks == 0;
    uint64_t used = all_in_one ? lane_position(lane) : 0;
    block_release(lane);
    if (used > 0 && ftruncate(lane->file, (off_t)used) != 0)
        lane->header->reason = RECORD_DISK_FULL;
    lane->header->end = end;
    lane_abandon(lane);
}

void lane_abandon(struct lane *lane)
{
    block_release(lane);
    munmap(lane->header, RECORD_HEADER_SIZE);
    lane->header = NULL;
    close(lane->file);
    lane->file = -1;
}

void lane_stop(struct lane *lane, enum record_reason reason)
{
    lane->header->reason = reason;
    lane->header->ended_ticks = clock_now();
    block_release(lane);
    lane->events_left = UINT64_MAX;
}

bool lane_next_block(struct lane *lane, size_t size)
{
    if (!lane->block || size > lane->header->block_size - RECORD_BLOCK_HEAD)
        return false;
    pthread_mutex_lock(&lane->lock);
    bool flushed = block_flush(lane);
    if (flushed)
        block_begin(lane);
    pthread_mutex_unlock(&lane->lock);
    if (!flushed)
        lane_stop(lane, RECORD_DISK_FULL);
    return flushed;
}

/* From how soon to how late after the last time the clock is read again, in ticks. In between the pauses grow with the
   run: a process that is killed has its last ticks in a time of which at least half was measured. */
#define CALIBRATE_MIN (INT64_C(1) << 24)
#define CALIBRATE_MAX (INT64_C(1) << 30)
_Static_assert((UINT64_C(1) << 30) < RECORD_SHORT_TIMES,
               "short records reach from one reading of the clock to the next");

void lane_calibrate(struct lane *lane, int64_t ticks, const struct clock_pair *pair)
{
    struct record_calibration record = {
        .base.ticks = ticks, .ticks = pair->ticks, .ns = pair->ns, .width = pair->width};
    lane_define(lane, &record, sizeof record, RECORD_CALIBRATION, RECORD_WORLD);
    int64_t pause = ticks - recorder_clock.begin.ticks;
    pause = pause < CALIBRATE_MIN ? CALIBRATE_MIN : pause > CALIBRATE_MAX ? CALIBRATE_MAX : pause;
    lane->calibrate_at = lane->last_ticks + pause;
}

bool lane_prepare(struct lane *lane, size_t size, int64_t ticks)
{
    while (lane->block) {
        if ((size_t)(lane->block_end - lane->at) < size) {
            if (!lane_next_block(lane, size))
                return false;
        } else if (ticks >= lane->calibrate_at) {
            struct clock_pair pair = clock_read();
            lane_calibrate(lane, ticks, &pair);
        } else {
            return true;
        }
    }
    return false;
}

/* File and mapping show the same bytes. */
static void file_store(struct lane *lane, uint64_t position, const void *data, size_t size)
{
    if (!file_write(lane->file, data, size, file_place(lane, position)))
        lane_stop(lane, RECORD_DISK_FULL);
}

void lane_define(struct lane *lane, const void *record, size_t size, enum record_kind kind, uint32_t comm)
{
    unsigned char *at = lane_room(lane, size);
    if (!at)
        return;
    const size_t first = sizeof(uint64_t);
    memcpy(at + first, (const unsigned char *)record + first, size - first);
    uint64_t position = lane_position(lane);
    lane_commit(lane, size, kind, 0, comm);
    if (lane->last_definition)
        file_store(lane, lane->last_definition + sizeof(struct record_base), &position, sizeof position);
    else
        lane->header->first_definition = position;
    lane->last_definition = position;
}

void lane_void(struct lane *lane, uint64_t position)
{
    uint8_t kind;
    pthread_mutex_lock(&lane->lock);
    if (lane->header && pread(lane->file, &kind, sizeof kind, (off_t)file_place(lane, position)) == 1) {
        kind = (uint8_t)((kind & RECORD_SHORT) | RECORD_VOID);
        file_store(lane, position, &kind, sizeof kind);
    }
    pthread_mutex_unlock(&lane->lock);
}

void *lane_scratch(struct lane *lane, size_t size)
{
    if (size > lane->scratch_size) {
        void *larger = realloc(lane->scratch, size);
        if (!larger)
            return NULL;
        lane->scratch = larger;
        lane->scratch_size = size;
    }
    return lane->scratch;
}
