/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/input_codec.h"

#include "core/input.h"
#include "core/memory.h"

#include <limits.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#ifdef HAVE_ZLIB

struct gzip {
    z_stream stream;
    bool between; /* members */
};

static void *gzip_open(void)
{
    /* 16 more: a gzip header is expected, not zlib's (zlib manual, inflateInit2). */
    enum { GZIP_ONLY = 16 + MAX_WBITS };
    struct gzip *gzip = memory_new(sizeof *gzip);
    if (inflateInit2(&gzip->stream, GZIP_ONLY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

static void gzip_close(void *state)
{
    struct gzip *gzip = state;
    inflateEnd(&gzip->stream);
    free(gzip);
}

static uInt gzip_size(size_t size)
{
    /* zlib counts in unsigned int; INT_MAX is far above the buffers' sizes and safe on every machine. */
    if (size < INT_MAX)
        return (uInt)size;
    return INT_MAX;
}

static enum decoded gzip_decode(void *state, struct input_flow *flow)
{
    struct gzip *gzip = state;
    if (gzip->between) {
        /* RFC 1952, section 2.2: members may follow each other, as after `cat a.gz b.gz`. Zeros after a member pad the
           blocks of a tape; they do not start another one. */
        while (flow->in < flow->in_end && *flow->in == 0)
            flow->in++;
        if (flow->in == flow->in_end)
            return flow->last ? DECODED_END : DECODED_MORE;
        inflateReset(&gzip->stream);
        gzip->between = false;
    }
    z_stream *stream = &gzip->stream;
    uInt in_size = gzip_size((size_t)(flow->in_end - flow->in));
    uInt out_size = gzip_size((size_t)(flow->out_end - flow->out));
    stream->next_in = (Bytef *)(uintptr_t)flow->in;
    stream->avail_in = in_size;
    stream->next_out = flow->out;
    stream->avail_out = out_size;
    int result = inflate(stream, Z_NO_FLUSH);
    bool moved = stream->avail_in < in_size || stream->avail_out < out_size;
    flow->in += in_size - stream->avail_in;
    flow->out += out_size - stream->avail_out;
    if (result == Z_STREAM_END)
        gzip->between = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        return DECODED_DAMAGED;
    else if (!moved && flow->last)
        /* Nothing moved although there was room: it waits for bytes that will not come. */
        return DECODED_CUT;
    return DECODED_MORE;
}

#endif

#ifdef HAVE_ZSTD

struct zstd {
    ZSTD_DStream *stream;
    bool between; /* frames */
};

static void *zstd_open(void)
{
    struct zstd *zstd = memory_new(sizeof *zstd);
    zstd->stream = ZSTD_createDStream();
    /* An empty file has no frame at all, which is an end and not a cut. */
    zstd->between = true;
    if (!zstd->stream) {
        free(zstd);
        return NULL;
    }
    return zstd;
}

static void zstd_close(void *state)
{
    struct zstd *zstd = state;
    ZSTD_freeDStream(zstd->stream);
    free(zstd);
}

static void zstd_restart(void *state)
{
    struct zstd *zstd = state;
    ZSTD_DCtx_reset(zstd->stream, ZSTD_reset_session_only);
    zstd->between = true;
}

static bool zstd_unpack(void *state, const unsigned char *packed, size_t packed_size, unsigned char *to, size_t size)
{
    struct zstd *zstd = state;
    /* Without the first question, several frames would do as well. */
    return ZSTD_findFrameCompressedSize(packed, packed_size) == packed_size &&
           ZSTD_decompressDCtx(zstd->stream, to, size, packed, packed_size) == size;
}

static enum decoded zstd_decode(void *state, struct input_flow *flow)
{
    struct zstd *zstd = state;
    if (zstd->between && flow->in == flow->in_end)
        return flow->last ? DECODED_END : DECODED_MORE;
    ZSTD_inBuffer in = {flow->in, (size_t)(flow->in_end - flow->in), 0};
    ZSTD_outBuffer out = {flow->out, (size_t)(flow->out_end - flow->out), 0};
    size_t result = ZSTD_decompressStream(zstd->stream, &out, &in);
    flow->in += in.pos;
    flow->out += out.pos;
    if (ZSTD_isError(result))
        return ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge ? DECODED_WIDE : DECODED_DAMAGED;
    /* ZSTD_decompressStream: 0 when a frame is complete and all of it handed over. */
    zstd->between = flow->frame_ended = result == 0;
    if (result != 0 && in.pos == 0 && out.pos == 0 && flow->last)
        return DECODED_CUT;
    return DECODED_MORE;
}

#endif

#ifdef HAVE_ZSTD
#define ZSTD_CALLS                                                                                                     \
    .open = zstd_open, .decode = zstd_decode, .close = zstd_close, .restart = zstd_restart, .unpack = zstd_unpack
#else
#define ZSTD_CALLS .open = NULL
#endif

/* The row without magic bytes comes last: anything that no other row matches is plain. */
static const struct input_codec codecs[] = {
    {.name = "gzip",
     .magic = {0x1f, 0x8b},
     .magic_length = 2,
#ifdef HAVE_ZLIB
     .open = gzip_open,
     .decode = gzip_decode,
     .close = gzip_close
#endif
    },
    {.name = "zstd", .magic = {0x28, 0xb5, 0x2f, 0xfd}, .magic_length = 4, ZSTD_CALLS},
    /* A frame to be skipped (RFC 8878, section 3.1.2), with which files of pzstd begin. */
    {.name = "zstd", .magic = {0x50, 0x2a, 0x4d, 0x18}, .magic_length = 4, .free_bits = 0x0f, ZSTD_CALLS},
    {.name = "plain"},
};

bool input_codec_is_plain(const struct input_codec *codec)
{
    return codec->magic_length == 0;
}

static bool begins(const struct input_codec *codec, const unsigned char *head, size_t length)
{
    if (codec->magic_length == 0)
        return true;
    return length >= codec->magic_length && (head[0] | codec->free_bits) == (codec->magic[0] | codec->free_bits) &&
           memcmp(head + 1, codec->magic + 1, codec->magic_length - 1) == 0;
}

const struct input_codec *input_codec_find(const unsigned char *head, size_t length)
{
    const struct input_codec *codec = codecs;
    while (!begins(codec, head, length))
        codec++;
    return codec;
}

static bool has(const char *name)
{
    const struct input_codec *codec = codecs;
    while (strcmp(codec->name, name) != 0)
        codec++;
    return codec->open;
}

bool input_has_gzip(void)
{
    return has("gzip");
}

bool input_has_zstd(void)
{
    return has("zstd");
}
