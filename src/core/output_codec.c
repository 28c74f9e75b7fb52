/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/output_codec.h"

#include "core/memory.h"
#include "core/output_zstd.h"

#include <limits.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#ifdef HAVE_ZLIB

static void *gzip_open(unsigned threads, bool hold)
{
    (void)threads;
    (void)hold;
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
     .open = output_zstd_open,
     .encode = output_zstd_encode,
     .patch = output_zstd_patch,
     .held = output_zstd_held,
     .close = output_zstd_close
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
