/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_FRAMES_H
#define SIGHT_CORE_FRAMES_H

#include "core/input_codec.h"
#include "core/seek_table.h"

/* The frames of a file with a seek_table.h as a stream of data. Each is unpacked whole, which is faster than bit by
   bit; and where they are read one after the other, some are unpacked ahead in other threads. Memory: a frame and a
   half for each thread. Nothing is believed: a frame that is not as the table says ends the stream. */
struct frames;

/* In so many threads, the caller's included. File and table must outlive it. NULL: frames are too large to be held in
   memory, or the codec has none. */
struct frames *frames_new(int fd, const struct seek_table *table, const struct input_codec *codec, unsigned threads);
void frames_free(struct frames *frames);

/* From now on only in the thread that calls. */
void frames_alone(struct frames *frames);

unsigned frames_threads(const struct frames *frames);

/* Bytes of data in a frame: reading so many is the fastest. */
size_t frames_size(const struct frames *frames);

/* The data of frame `index` are the next to be read. */
void frames_begin(struct frames *frames, size_t index);

/* The next data, up to `size` bytes. 0: there are no more frames, or the next one is not as it should be. */
size_t frames_read(struct frames *frames, unsigned char *to, size_t size);

/* The first frame of which nothing has been read. */
size_t frames_next(const struct frames *frames);

#endif
