/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/output_zstd.h"

#ifdef HAVE_ZSTD

#include "core/memory.h"
#include "core/numbers.h"
#include "core/seek_table.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <zstd.h>

enum {
    /* Each can be unpacked alone: reading may begin in the middle, and in several threads. Larger ones take hardly less
       room, but longer to get to a place. */
    FRAME_SIZE = 1 << 20,
    LEVEL = 6, /* smaller than 3 and unpacked faster; 7 and more pack slower than a recording is merged */
    THREADS_MOST = 8,
    FRAMES_EACH = 2 /* of each thread: one is packed while the other is filled or written */
};

enum frame_state { FRAME_EMPTY, FRAME_FULL, FRAME_PACKED, FRAME_FAILED };

struct frame {
    enum frame_state state;
    unsigned char *data, *packed;
    size_t filled, size;
};

/* Frame f is frames[f % ring]; frames are filled, packed and written in order. */
struct zstd {
    struct frame frames[THREADS_MOST * FRAMES_EACH];
    size_t ring;
    struct frame held; /* the first of all, if it is held */
    bool hold, complete, stop;
    size_t filling, next, head;        /* that is being filled; that is to be packed next; that is to be written next */
    ZSTD_CCtx *contexts[THREADS_MOST]; /* [0] is the caller's */
    pthread_t helpers[THREADS_MOST];
    unsigned threads, helper_end;
    pthread_mutex_t lock; /* for frames' states, `next`, `filling` and `stop` */
    pthread_cond_t changed;
    const unsigned char *at, *end; /* what is ready to be written */
    bool writing;                  /* it is that of `head` */
    unsigned char *table;
    struct seek_frame *sizes;
    size_t count, capacity;
};

/* What a helper needs to know. */
struct helper {
    struct zstd *zstd;
    unsigned index;
};

static ZSTD_CCtx *context_new(void)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context)
        return NULL;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    /* 4 bytes for each frame; without them, damage in the middle would be read as data. */
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    return context;
}

static enum frame_state pack(ZSTD_CCtx *context, struct frame *frame)
{
    if (!frame->packed)
        frame->packed = memory_resize(NULL, ZSTD_compressBound(FRAME_SIZE));
    frame->size = ZSTD_compress2(context, frame->packed, ZSTD_compressBound(FRAME_SIZE), frame->data, frame->filled);
    return ZSTD_isError(frame->size) ? FRAME_FAILED : FRAME_PACKED;
}

/* Packs the next full frame, or waits for a change. The lock is held before and after. */
static void pack_or_wait(struct zstd *zstd, ZSTD_CCtx *context)
{
    if (zstd->next == zstd->filling) {
        pthread_cond_wait(&zstd->changed, &zstd->lock);
        return;
    }
    struct frame *frame = &zstd->frames[zstd->next++ % zstd->ring];
    pthread_mutex_unlock(&zstd->lock);
    enum frame_state state = pack(context, frame);
    pthread_mutex_lock(&zstd->lock);
    frame->state = state;
    pthread_cond_broadcast(&zstd->changed);
}

static void *help(void *argument)
{
    struct helper *helper = argument;
    struct zstd *zstd = helper->zstd;
    ZSTD_CCtx *context = zstd->contexts[helper->index];
    free(helper);
    pthread_mutex_lock(&zstd->lock);
    while (!zstd->stop)
        pack_or_wait(zstd, context);
    pthread_mutex_unlock(&zstd->lock);
    return NULL;
}

/* False: this one has to do without. */
static bool helper_start(struct zstd *zstd, unsigned index)
{
    zstd->contexts[index] = context_new();
    if (!zstd->contexts[index])
        return false;
    struct helper *helper = memory_new(sizeof *helper);
    *helper = (struct helper){zstd, index};
    if (pthread_create(&zstd->helpers[index], NULL, help, helper) == 0)
        return true;
    free(helper);
    return false;
}

static void frame_clear(struct frame *frame)
{
    free(frame->data);
    free(frame->packed);
}

void output_zstd_close(void *state)
{
    struct zstd *zstd = state;
    pthread_mutex_lock(&zstd->lock);
    zstd->stop = true;
    pthread_cond_broadcast(&zstd->changed);
    pthread_mutex_unlock(&zstd->lock);
    for (unsigned i = 1; i < zstd->helper_end; i++)
        pthread_join(zstd->helpers[i], NULL);
    for (size_t i = 0; i < THREADS_MOST; i++)
        ZSTD_freeCCtx(zstd->contexts[i]);
    for (size_t i = 0; i < zstd->ring; i++)
        frame_clear(&zstd->frames[i]);
    frame_clear(&zstd->held);
    pthread_mutex_destroy(&zstd->lock);
    pthread_cond_destroy(&zstd->changed);
    free(zstd->table);
    free(zstd->sizes);
    free(zstd);
}

void *output_zstd_open(unsigned threads, bool hold)
{
    struct zstd *zstd = memory_new(sizeof *zstd);
    zstd->threads = larger(1U, smaller(threads, (unsigned)THREADS_MOST));
    zstd->ring = FRAMES_EACH * zstd->threads;
    zstd->helper_end = 1;
    zstd->hold = hold;
    zstd->at = zstd->end = (const unsigned char *)"";
    pthread_mutex_init(&zstd->lock, NULL);
    pthread_cond_init(&zstd->changed, NULL);
    zstd->contexts[0] = context_new();
    if (!zstd->contexts[0]) {
        output_zstd_close(zstd);
        return NULL;
    }
    /* Its size is known at the end only. */
    if (hold)
        ARRAY_PUSH(zstd->sizes, zstd->count, zstd->capacity, (struct seek_frame){0});
    return zstd;
}

static void fill(struct frame *frame, struct output_flow *flow)
{
    size_t part = smaller((size_t)(flow->in_end - flow->in), FRAME_SIZE - frame->filled);
    if (!frame->data)
        frame->data = memory_resize(NULL, FRAME_SIZE);
    memcpy(frame->data + frame->filled, flow->in, part);
    frame->filled += part;
    flow->in += part;
}

/* The frame that is being filled is as full as it will be. */
static void hand_over(struct zstd *zstd)
{
    pthread_mutex_lock(&zstd->lock);
    zstd->frames[zstd->filling % zstd->ring].state = FRAME_FULL;
    zstd->filling++;
    pthread_cond_broadcast(&zstd->changed);
    pthread_mutex_unlock(&zstd->lock);
    /* One frame alone needs no helpers. Without one of them, this thread packs more. */
    while (zstd->filling > 1 && zstd->helper_end < zstd->threads && helper_start(zstd, zstd->helper_end))
        zstd->helper_end++;
}

/* The frame to fill; NULL: all are full. */
static struct frame *frame_to_fill(struct zstd *zstd)
{
    if (zstd->hold && zstd->held.filled < FRAME_SIZE)
        return &zstd->held;
    if (zstd->filling == zstd->head + zstd->ring)
        return NULL;
    return &zstd->frames[zstd->filling % zstd->ring];
}

/* Takes in data, or helps so that there is room for them. */
static void take(struct zstd *zstd, struct output_flow *flow)
{
    struct frame *frame = frame_to_fill(zstd);
    if (frame) {
        fill(frame, flow);
        if (frame != &zstd->held && frame->filled == FRAME_SIZE)
            hand_over(zstd);
        return;
    }
    pthread_mutex_lock(&zstd->lock);
    while (zstd->frames[zstd->head % zstd->ring].state == FRAME_FULL)
        pack_or_wait(zstd, zstd->contexts[0]);
    pthread_mutex_unlock(&zstd->lock);
}

enum head { HEAD_SHOWN, HEAD_LATER, HEAD_FAILED };

/* Makes the next frame what is to be written, as soon as it is packed. */
static enum head show_head(struct zstd *zstd, bool wait)
{
    struct frame *frame = &zstd->frames[zstd->head % zstd->ring];
    if (zstd->head == zstd->filling)
        return HEAD_LATER;
    pthread_mutex_lock(&zstd->lock);
    while (wait && frame->state == FRAME_FULL)
        pack_or_wait(zstd, zstd->contexts[0]);
    enum frame_state state = frame->state;
    pthread_mutex_unlock(&zstd->lock);
    if (state != FRAME_PACKED)
        return state == FRAME_FAILED ? HEAD_FAILED : HEAD_LATER;
    ARRAY_PUSH(zstd->sizes, zstd->count, zstd->capacity,
               (struct seek_frame){(uint32_t)frame->size, (uint32_t)frame->filled});
    zstd->at = frame->packed;
    zstd->end = frame->packed + frame->size;
    zstd->writing = true;
    return HEAD_SHOWN;
}

/* The frame has been written: it can be filled again. */
static void leave_head(struct zstd *zstd)
{
    if (!zstd->writing)
        return;
    struct frame *frame = &zstd->frames[zstd->head % zstd->ring];
    zstd->writing = false;
    frame->filled = 0;
    frame->state = FRAME_EMPTY;
    zstd->head++;
}

/* A single frame needs no table. */
static bool put_table(struct zstd *zstd)
{
    size_t size = 0;
    if (zstd->hold) {
        if (!zstd->held.data)
            zstd->held.data = memory_resize(NULL, FRAME_SIZE);
        zstd->held.state = pack(zstd->contexts[0], &zstd->held);
        if (zstd->held.state != FRAME_PACKED)
            return false;
        zstd->sizes[0] = (struct seek_frame){(uint32_t)zstd->held.size, (uint32_t)zstd->held.filled};
    }
    zstd->complete = true;
    if (zstd->count < 2)
        return true;
    zstd->at = zstd->table = seek_table_bytes(zstd->sizes, zstd->count, &size);
    zstd->end = zstd->at + size;
    return true;
}

static void give(struct zstd *zstd, struct output_flow *flow)
{
    size_t part = smaller((size_t)(zstd->end - zstd->at), (size_t)(flow->out_end - flow->out));
    memcpy(flow->out, zstd->at, part);
    zstd->at += part;
    flow->out += part;
}

/* All data have been taken in: what is left of them is a frame. Without any data there is still one, an empty one. */
static void finish_frame(struct zstd *zstd)
{
    struct frame *frame = &zstd->frames[zstd->filling % zstd->ring];
    size_t before = zstd->count + (zstd->filling - zstd->head);
    if (zstd->filling == zstd->head + zstd->ring || (frame->filled == 0 && before > 0))
        return;
    if (!frame->data)
        frame->data = memory_resize(NULL, FRAME_SIZE);
    hand_over(zstd);
}

enum encoded output_zstd_encode(void *state, struct output_flow *flow)
{
    struct zstd *zstd = state;
    for (;;) {
        give(zstd, flow);
        if (zstd->at < zstd->end)
            return ENCODED_MORE;
        if (zstd->complete)
            return ENCODED_DONE;
        leave_head(zstd);
        bool end = flow->in == flow->in_end, last = end && flow->last;
        if (last)
            finish_frame(zstd);
        enum head head = show_head(zstd, last);
        if (head == HEAD_FAILED || (head == HEAD_LATER && last && !put_table(zstd)))
            return ENCODED_FAILED;
        if (head == HEAD_LATER && end && !last)
            return ENCODED_MORE;
        if (head == HEAD_LATER && !end)
            take(zstd, flow);
    }
}

void output_zstd_patch(void *state, uint64_t offset, const void *data, size_t size)
{
    struct zstd *zstd = state;
    assert(zstd->hold && offset + size <= zstd->held.filled);
    memcpy(zstd->held.data + offset, data, size);
}

const unsigned char *output_zstd_held(void *state, size_t *size)
{
    const struct zstd *zstd = state;
    *size = zstd->held.size;
    return zstd->held.packed;
}

#endif
