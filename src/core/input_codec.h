/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_INPUT_CODEC_H
#define SIGHT_CORE_INPUT_CODEC_H

#include <stdbool.h>
#include <stddef.h>

/* How the bytes of a file become data: one row per way of compressing. */

enum decoded {
    DECODED_MORE,   /* no problem; call again with the remaining input, more input or more room */
    DECODED_END,    /* the data end here, as they should */
    DECODED_CUT,    /* the data are cut off here */
    DECODED_WIDE,   /* what follows refers further back than the library keeps */
    DECODED_DAMAGED /* what follows is damaged */
};

/* Decodes from `in` to `out` and advances both. */
struct input_flow {
    const unsigned char *in, *in_end;
    unsigned char *out, *out_end;
    bool last;        /* nothing follows `in` */
    bool frame_ended; /* set by the codec: what follows can be decoded alone, after `restart` */
};

struct input_codec {
    const char *name;
    unsigned char magic[4];
    size_t magic_length;
    unsigned char free_bits; /* of the first byte of `magic`: they say something else */
    /* All NULL if this build lacks the library; plain always works and needs none of them. */
    void *(*open)(void); /* NULL: no memory */
    enum decoded (*decode)(void *state, struct input_flow *flow);
    void (*close)(void *state);
    /* Forgets what was decoded: a frame begins with the next byte. NULL: there are no frames with a seek_table.h. */
    void (*restart)(void *state);
    /* Unpacks one whole frame, which must be all of `packed` and become exactly `size` bytes. For a state that is used
       for nothing else. NULL: as `restart`. */
    bool (*unpack)(void *state, const unsigned char *packed, size_t packed_size, unsigned char *to, size_t size);
};

enum { INPUT_MAGIC_MAX = 4 };

/* The row for a file that begins with these bytes (fewer than INPUT_MAGIC_MAX only if it is shorter). Never NULL. */
const struct input_codec *input_codec_find(const unsigned char *head, size_t length);

/* True for the row of files that are not compressed. */
bool input_codec_is_plain(const struct input_codec *codec);

#endif
