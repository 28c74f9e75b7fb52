/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/output_codec.h"

#include "core/memory.h"

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
    return size < INT_MAX ? (uInt)size : INT_MAX;
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
    return result == Z_OK || result == Z_BUF_ERROR ? ENCODED_MORE : ENCODED_FAILED;
}

#endif

#ifdef HAVE_ZSTD

static void *zstd_open(void)
{
    enum { LEVEL = 3 };
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (context) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        /* 4 bytes for each frame; without them, damage in the middle would be read as data. */
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    }
    return context;
}

static void zstd_close(void *state)
{
    ZSTD_freeCCtx(state);
}

static enum encoded zstd_encode(void *state, struct output_flow *flow)
{
    ZSTD_inBuffer in = {flow->in, (size_t)(flow->in_end - flow->in), 0};
    ZSTD_outBuffer out = {flow->out, (size_t)(flow->out_end - flow->out), 0};
    size_t result = ZSTD_compressStream2(state, &out, &in, flow->last ? ZSTD_e_end : ZSTD_e_continue);
    flow->in += in.pos;
    flow->out += out.pos;
    if (ZSTD_isError(result))
        return ENCODED_FAILED;
    return flow->last && result == 0 ? ENCODED_DONE : ENCODED_MORE;
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
