/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/frames.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    FRAME_MOST = 4 << 20,  /* bytes of data */
    PACKED_MORE = 1 << 16, /* what a frame may be larger than its data */
    THREADS_MOST = 16,
    BUFFERS = 2,     /* of each thread: one is read while the other is filled */
    FRAMES_ALONE = 2 /* read one after the other before any is unpacked ahead: a look at one place needs no more */
};

enum slot_state { SLOT_EMPTY, SLOT_BUSY, SLOT_READY, SLOT_BAD };

/* What a thread needs for unpacking. It has buffers of its own: written by several in turn, their lines would have to
   be fetched from the other's cache, which takes as long as unpacking. */
struct unpacker {
    struct frames *frames;
    void *state; /* of the codec */
    unsigned char *packed;
    size_t capacity;
    struct buffer {
        unsigned char *data;
        bool used;
    } buffers[BUFFERS];
};

/* Frame f has slot f % slot_count. */
struct slot {
    enum slot_state state;
    struct buffer *buffer;
};

struct frames {
    int fd;
    const struct seek_table *table;
    const struct input_codec *codec;
    unsigned threads;
    size_t size; /* of a frame's data */
    struct slot *slots;
    size_t slot_count;
    struct unpacker unpackers[THREADS_MOST]; /* of the caller, and of helpers */
    pthread_t helpers[THREADS_MOST];         /* [0] is not used */
    unsigned helper_end;
    pthread_mutex_t lock; /* for all below, once there are helpers */
    pthread_cond_t changed;
    size_t begun; /* where reading began */
    size_t head;  /* the frame that is being read */
    size_t taken; /* bytes of it that have been read */
    size_t next;  /* the first frame that nobody has begun to unpack */
    unsigned busy;
    bool ahead, stop;
};

static size_t data_size(const struct frames *frames, size_t index)
{
    return (size_t)(frames->table->unpacked[index + 1] - frames->table->unpacked[index]);
}

static bool read_packed(const struct frames *frames, unsigned char *to, uint64_t from, size_t size)
{
    while (size > 0) {
        ssize_t got = pread(frames->fd, to, size, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        from += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

static bool unpack(const struct frames *frames, struct unpacker *unpacker, size_t index, unsigned char *to)
{
    uint64_t from = frames->table->packed[index], packed = frames->table->packed[index + 1] - from;
    if (packed > frames->size + PACKED_MORE)
        return false;
    ARRAY_RESERVE(unpacker->packed, unpacker->capacity, packed);
    return read_packed(frames, unpacker->packed, from, (size_t)packed) &&
           frames->codec->unpack(unpacker->state, unpacker->packed, (size_t)packed, to, data_size(frames, index));
}

/* The first frame that must not be begun yet. */
static size_t limit(const struct frames *frames)
{
    return smaller(frames->head + (frames->ahead ? frames->slot_count : 1), frames->table->count);
}

/* NULL: all are used. */
static struct buffer *buffer_find(struct unpacker *unpacker)
{
    for (size_t i = 0; i < BUFFERS; i++)
        if (!unpacker->buffers[i].used)
            return &unpacker->buffers[i];
    return NULL;
}

/* Unpacks the next frame if it may, or waits for a change. The lock is held before and after. */
static void unpack_or_wait(struct frames *frames, struct unpacker *unpacker)
{
    struct buffer *buffer = buffer_find(unpacker);
    if (!buffer || frames->next >= limit(frames)) {
        pthread_cond_wait(&frames->changed, &frames->lock);
        return;
    }
    size_t index = frames->next++;
    struct slot *slot = &frames->slots[index % frames->slot_count];
    *slot = (struct slot){SLOT_BUSY, buffer};
    buffer->used = true;
    frames->busy++;
    pthread_mutex_unlock(&frames->lock);
    if (!buffer->data)
        buffer->data = memory_resize(NULL, frames->size);
    bool good = unpack(frames, unpacker, index, buffer->data);
    pthread_mutex_lock(&frames->lock);
    slot->state = good ? SLOT_READY : SLOT_BAD;
    frames->busy--;
    pthread_cond_broadcast(&frames->changed);
}

static void *help(void *argument)
{
    struct unpacker *unpacker = argument;
    struct frames *frames = unpacker->frames;
    pthread_mutex_lock(&frames->lock);
    while (!frames->stop) {
        if (frames->ahead)
            unpack_or_wait(frames, unpacker);
        else
            pthread_cond_wait(&frames->changed, &frames->lock);
    }
    pthread_mutex_unlock(&frames->lock);
    return NULL;
}

struct frames *frames_new(int fd, const struct seek_table *table, const struct input_codec *codec, unsigned threads)
{
    size_t size = (size_t)smaller(table->unpacked[1], (uint64_t)SIZE_MAX);
    void *state = codec->unpack && size <= FRAME_MOST ? codec->open() : NULL;
    if (!state)
        return NULL;
    struct frames *frames = memory_new(sizeof *frames);
    frames->fd = fd;
    frames->table = table;
    frames->codec = codec;
    frames->threads = smaller(threads, (unsigned)THREADS_MOST);
    frames->size = size;
    frames->unpackers[0].state = state;
    frames->helper_end = 1;
    frames->slot_count = BUFFERS * larger(frames->threads, 1U);
    frames->slots = memory_new(frames->slot_count * sizeof *frames->slots);
    pthread_mutex_init(&frames->lock, NULL);
    pthread_cond_init(&frames->changed, NULL);
    return frames;
}

static void end_helpers(struct frames *frames)
{
    pthread_mutex_lock(&frames->lock);
    frames->stop = true;
    pthread_cond_broadcast(&frames->changed);
    pthread_mutex_unlock(&frames->lock);
    for (unsigned i = 1; i < frames->helper_end; i++)
        pthread_join(frames->helpers[i], NULL);
    frames->helper_end = 1;
}

static void unpacker_clear(struct unpacker *unpacker, const struct input_codec *codec)
{
    if (unpacker->state)
        codec->close(unpacker->state);
    free(unpacker->packed);
    for (size_t i = 0; i < BUFFERS; i++)
        free(unpacker->buffers[i].data);
}

void frames_free(struct frames *frames)
{
    if (!frames)
        return;
    end_helpers(frames);
    pthread_mutex_destroy(&frames->lock);
    pthread_cond_destroy(&frames->changed);
    for (size_t i = 0; i < THREADS_MOST; i++)
        unpacker_clear(&frames->unpackers[i], frames->codec);
    free(frames->slots);
    free(frames);
}

void frames_alone(struct frames *frames)
{
    end_helpers(frames);
    frames->threads = 1;
    /* What is ready is still used. */
    frames->ahead = false;
}

unsigned frames_threads(const struct frames *frames)
{
    return frames->threads;
}

size_t frames_size(const struct frames *frames)
{
    return frames->size;
}

static void slot_clear(struct slot *slot)
{
    if (slot->buffer)
        slot->buffer->used = false;
    *slot = (struct slot){SLOT_EMPTY, NULL};
}

void frames_begin(struct frames *frames, size_t index)
{
    pthread_mutex_lock(&frames->lock);
    frames->ahead = false;
    while (frames->busy > 0)
        pthread_cond_wait(&frames->changed, &frames->lock);
    for (size_t i = 0; i < frames->slot_count; i++)
        slot_clear(&frames->slots[i]);
    frames->begun = frames->head = frames->next = index;
    frames->taken = 0;
    pthread_mutex_unlock(&frames->lock);
}

static bool helper_start(struct frames *frames, unsigned index)
{
    struct unpacker *unpacker = &frames->unpackers[index];
    unpacker->frames = frames;
    if (!unpacker->state)
        unpacker->state = frames->codec->open();
    return unpacker->state && pthread_create(&frames->helpers[index], NULL, help, unpacker) == 0;
}

/* Lets the helpers work if that is worth it. The lock is held. */
static void look_ahead(struct frames *frames)
{
    if (frames->ahead || frames->threads < 2 || frames->head < frames->begun + FRAMES_ALONE)
        return;
    frames->ahead = true;
    /* A thread less is no fault: this one takes part and would do everything alone. */
    while (frames->helper_end < frames->threads && helper_start(frames, frames->helper_end))
        frames->helper_end++;
    pthread_cond_broadcast(&frames->changed);
}

/* The frame has been read. The lock is held. */
static void go_on(struct frames *frames)
{
    slot_clear(&frames->slots[frames->head % frames->slot_count]);
    frames->head++;
    frames->taken = 0;
    pthread_cond_broadcast(&frames->changed);
}

/* Where nobody has begun the frame and it fits, it is unpacked in place. The lock is held. */
static size_t read_in_place(struct frames *frames, unsigned char *to)
{
    size_t index = frames->next++;
    pthread_mutex_unlock(&frames->lock);
    bool good = unpack(frames, &frames->unpackers[0], index, to);
    pthread_mutex_lock(&frames->lock);
    if (!good) {
        frames->slots[index % frames->slot_count].state = SLOT_BAD;
        return 0;
    }
    go_on(frames);
    return data_size(frames, index);
}

/* The same from its slot, waiting for it to be there. */
static size_t read_slot(struct frames *frames, unsigned char *to, size_t size)
{
    struct slot *slot = &frames->slots[frames->head % frames->slot_count];
    while (slot->state == SLOT_EMPTY || slot->state == SLOT_BUSY)
        unpack_or_wait(frames, &frames->unpackers[0]);
    if (slot->state == SLOT_BAD)
        return 0;
    size_t got = smaller(data_size(frames, frames->head) - frames->taken, size);
    pthread_mutex_unlock(&frames->lock);
    memcpy(to, slot->buffer->data + frames->taken, got);
    pthread_mutex_lock(&frames->lock);
    frames->taken += got;
    if (frames->taken == data_size(frames, frames->head))
        go_on(frames);
    return got;
}

size_t frames_read(struct frames *frames, unsigned char *to, size_t size)
{
    size_t got = 0;
    pthread_mutex_lock(&frames->lock);
    if (frames->head < frames->table->count) {
        look_ahead(frames);
        if (frames->next == frames->head && data_size(frames, frames->head) <= size)
            got = read_in_place(frames, to);
        else
            got = read_slot(frames, to, size);
    }
    pthread_mutex_unlock(&frames->lock);
    return got;
}

size_t frames_next(const struct frames *frames)
{
    return frames->head + (frames->taken > 0);
}
