/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_INPUT_SOURCE_H
#define SIGHT_CORE_INPUT_SOURCE_H

#include "core/frames.h"
#include "core/input.h"
#include "core/input_codec.h"
#include "core/seek_table.h"

#include <sys/types.h>
#include <time.h>

/* For input.c, which reads, and input_open.c, which opens and closes. */

/* Raw bytes are read in pieces of this size, as the codec makes more of them than the buffer can take at once. */
enum { INPUT_RAW_SIZE = 64 * 1024 };

/* Where the bytes come from. Raw bytes are the file's; data are what the codec makes of them. Data that cannot be read
   twice are copied to the spool; after a rewind they come from there until it is exhausted. */
struct input_source {
    char *name, *path;
    int fd; /* -1: memory */
    bool seekable;
    dev_t device; /* of the file, with its number there */
    ino_t number;
    struct timespec changed;
    uint64_t start;    /* offset in the file where it was handed to us */
    uint64_t size;     /* raw, from `start` on; 0: not known */
    uint64_t position; /* raw bytes read so far, from `start` on */
    unsigned char *raw_buffer;
    const unsigned char *raw, *raw_end; /* read, but not yet through the codec */
    bool raw_ended;
    const struct input_codec *codec;
    void *codec_state;
    struct seek_table *table; /* compressed data that can be read from the middle; else NULL */
    bool sought;              /* the table has been used */
    struct frames *frames;    /* of the table, unpacked whole; NULL: bit by bit, by the codec's state */
    bool piecemeal;           /* a frame was not as it should be: from there on it is the codec's */
    uint64_t unpacked;        /* the end of the data that the codec made */
    bool ended;               /* the codec has finished */
    char fault[96];           /* what input->fault says */
    bool kept;
    int spool;
    uint64_t spooled;  /* data in the spool */
    uint64_t replayed; /* of these, read again; equal to spooled when reading continues at the source */
};

static inline bool input_source_is_plain(const struct input_source *source)
{
    return input_codec_is_plain(source->codec);
}

/* Appends raw bytes until there are `want` or the file ends. */
enum status input_fill_raw(struct input *input, size_t want, struct error *err) MUST_CHECK;

/* Goes on at byte `packed` of the file, which is byte `unpacked` of the data. */
enum status input_begin_at(struct input *input, uint64_t packed, uint64_t unpacked, struct error *err) MUST_CHECK;

#endif
