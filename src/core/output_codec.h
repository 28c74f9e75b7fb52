/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_OUTPUT_CODEC_H
#define SIGHT_CORE_OUTPUT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How data become the bytes of a compressed file: one row per codec, chosen by the name's suffix. */

enum encoded {
    ENCODED_MORE, /* call again with the rest of `in` or, after the last, with more room */
    ENCODED_DONE, /* all output is complete */
    ENCODED_FAILED
};

/* Encodes from `in` to `out` and advances both. */
struct output_flow {
    const unsigned char *in, *in_end;
    unsigned char *out, *out_end;
    bool last; /* nothing follows `in` */
};

struct output_codec {
    const char *suffix, *name;
    /* All NULL if this build lacks the library. */
    /* In up to so many threads, the caller's included. `hold`: `encode` gives everything but the beginning, which can
       be patched until the last call, and is to be had from `held` afterwards. NULL: no memory. */
    void *(*open)(unsigned threads, bool hold);
    enum encoded (*encode)(void *state, struct output_flow *flow);
    void (*patch)(void *state, uint64_t offset, const void *data, size_t size); /* NULL: it cannot hold anything */
    const unsigned char *(*held)(void *state, size_t *size);
    void (*close)(void *state);
};

/* The row for a file of this name; NULL if it is not to be compressed. */
const struct output_codec *output_codec_find(const char *path);

#endif
