/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/output_codec.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/seek_table.h"

#include <limits.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#ifdef HAVE_ZLIB

static void *gzip_open(void)
{
    enum { LEVEL = 6, GZIP_WRAPPER = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };
    z_stream *stream = memory_new(sizeof *stream);
    if (deflateInit2(stream, LEVEL, Z_DEFLATED, GZIP_WRAPPER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static void gzip_close(void *state)
{
    deflateEnd(state);
    free(state);
}

static uInt gzip_size(size_t size)
{
    if (size < INT_MAX)
        return (uInt)size;
    return INT_MAX;
}

static enum encoded gzip_encode(void *state, struct output_flow *flow)
{
    z_stream *stream = state;
    uInt in_size = gzip_size((size_t)(flow->in_end - flow->in));
    uInt out_size = gzip_size((size_t)(flow->out_end - flow->out));
    stream->next_in = (Bytef *)(uintptr_t)flow->in;
    stream->avail_in = in_size;
    stream->next_out = flow->out;
    stream->avail_out = out_size;
    int result = deflate(stream, flow->last ? Z_FINISH : Z_NO_FLUSH);
    flow->in += in_size - stream->avail_in;
    flow->out += out_size - stream->avail_out;
    if (result == Z_STREAM_END)
        return ENCODED_DONE;
    /* Z_BUF_ERROR: nothing could be done for want of room; it is called again with more. */
    if (result == Z_OK || result == Z_BUF_ERROR)
        return ENCODED_MORE;
    return ENCODED_FAILED;
}

#endif

#ifdef HAVE_ZSTD

/* The data are cut into frames of this size, each of which can be unpacked alone: reading may begin in the middle, and
   in several threads. Larger ones take hardly less room, but longer to get to a place. */
enum { FRAME_SIZE = 1 << 20 };

struct zstd {
    ZSTD_CCtx *context;
    unsigned char *frame;
    size_t filled;
    unsigned char *packed, *at, *end; /* what is ready to be written */
    size_t packed_size;
    struct seek_frame *frames;
    size_t count, capacity;
    bool complete; /* the table is in `packed`, or none is needed */
};

static void zstd_close(void *state)
{
    struct zstd *zstd = state;
    ZSTD_freeCCtx(zstd->context);
    free(zstd->frame);
    free(zstd->packed);
    free(zstd->frames);
    free(zstd);
}

static void *zstd_open(void)
{
    enum { LEVEL = 6 }; /* smaller than 3 and unpacked faster; 7 and more pack slower than a recording is merged */
    struct zstd *zstd = memory_new(sizeof *zstd);
    zstd->context = ZSTD_createCCtx();
    zstd->frame = memory_new(FRAME_SIZE);
    zstd->packed_size = ZSTD_compressBound(FRAME_SIZE);
    zstd->packed = zstd->at = zstd->end = memory_new(zstd->packed_size);
    if (!zstd->context) {
        zstd_close(zstd);
        return NULL;
    }
    ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_compressionLevel, LEVEL);
    /* 4 bytes for each frame; without them, damage in the middle would be read as data. */
    ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_checksumFlag, 1);
    return zstd;
}

static bool pack_frame(struct zstd *zstd)
{
    size_t size = ZSTD_compress2(zstd->context, zstd->packed, zstd->packed_size, zstd->frame, zstd->filled);
    if (ZSTD_isError(size))
        return false;
    ARRAY_PUSH(zstd->frames, zstd->count, zstd->capacity, (struct seek_frame){(uint32_t)size, (uint32_t)zstd->filled});
    zstd->at = zstd->packed;
    zstd->end = zstd->packed + size;
    zstd->filled = 0;
    return true;
}

/* A single frame needs no table. */
static void put_table(struct zstd *zstd)
{
    zstd->complete = true;
    if (zstd->count < 2)
        return;
    free(zstd->packed);
    zstd->packed = zstd->at = seek_table_bytes(zstd->frames, zstd->count, &zstd->packed_size);
    zstd->end = zstd->at + zstd->packed_size;
}

static size_t move(unsigned char *to, const unsigned char *from, size_t size)
{
    memcpy(to, from, size);
    return size;
}

static enum encoded zstd_encode(void *state, struct output_flow *flow)
{
    struct zstd *zstd = state;
    for (;;) {
        size_t part =
            move(flow->out, zstd->at, smaller((size_t)(zstd->end - zstd->at), (size_t)(flow->out_end - flow->out)));
        zstd->at += part;
        flow->out += part;
        if (zstd->at < zstd->end)
            return ENCODED_MORE;
        if (zstd->complete)
            return ENCODED_DONE;
        part = move(zstd->frame + zstd->filled, flow->in,
                    smaller((size_t)(flow->in_end - flow->in), FRAME_SIZE - zstd->filled));
        zstd->filled += part;
        flow->in += part;
        /* Without any data there is still one frame, an empty one. */
        bool rest = flow->last && flow->in == flow->in_end && (zstd->filled > 0 || zstd->count == 0);
        if ((zstd->filled == FRAME_SIZE || rest) && !pack_frame(zstd))
            return ENCODED_FAILED;
        if (zstd->at < zstd->end)
            continue;
        if (!flow->last)
            return ENCODED_MORE;
        put_table(zstd);
    }
}

#endif

static const struct output_codec codecs[] = {
    {.suffix = ".gz",
     .name = "gzip",
#ifdef HAVE_ZLIB
     .open = gzip_open,
     .encode = gzip_encode,
     .close = gzip_close
#endif
    },
    {.suffix = ".zst",
     .name = "zstd",
#ifdef HAVE_ZSTD
     .open = zstd_open,
     .encode = zstd_encode,
     .close = zstd_close
#endif
    },
};

const struct output_codec *output_codec_find(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        size_t suffix = strlen(codecs[i].suffix);
        if (length > suffix && strcmp(path + length - suffix, codecs[i].suffix) == 0)
            return &codecs[i];
    }
    return NULL;
}
