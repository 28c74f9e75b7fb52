/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_OUTPUT_H
#define SIGHT_CORE_OUTPUT_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where results go. A regular file appears whole or not at all: it is written under a temporary name beside the target
   (symbolic links followed) and renamed by output_close. Devices, FIFOs and "-" are written directly.
   A name ending in .gz or .zst is compressed. Faults are sticky: write on, ask once at output_close. */
struct output {
    unsigned char *at, *end; /* free room in the buffer: see output_room */
    unsigned char *buffer;
    struct error fault;           /* kind ERROR_NONE while all is well */
    uint64_t written;             /* bytes that left the buffer (uncompressed) */
    struct output_target *target; /* internal */
    bool colour; /* it is read on a terminal: texts for people have styles (render/terminal.h). Files have none. */
};

struct output_options {
    bool replace;   /* an existing regular file may be replaced */
    bool private;   /* for this user alone (mode 0600); a link or FIFO of that name is replaced, not followed. With
                       `replace` only. */
    bool patchable; /* output_patch will be used: an output that cannot seek, and what follows the first frame of a
                       compressed one, is collected in an unlinked file in TMPDIR first */
};

/* Files named .zst are packed in up to so many threads from now on, in the whole program; without this call, in the
   thread that writes them. Call before threads are started. */
void output_pack_threads(unsigned threads);

/* NULL and a fault (kind ERROR_OUTPUT) if it cannot be written, or exists and must not be replaced. */
struct output *output_open(const char *path, struct output_options options, struct error *err);

/* Ends the output: flushes and puts the file in its place (commit), or drops it (no commit). Frees it either way. */
enum status output_close(struct output *output, bool commit, struct error *err) MUST_CHECK;

/* The length of a path without the suffix that asks for a compression. */
size_t output_plain_length(const char *path);

/* An output that is kept in memory; output_take ends it and returns its bytes, followed by a 0 that is not counted
   (free()). */
struct output *output_open_memory(void);
char *output_take(struct output *output, size_t *length);

/* Room for n bytes (n up to 32 KiB) at output->at: write there, then add to output->at. */
void output_flush(struct output *output);
static inline unsigned char *output_room(struct output *output, size_t n)
{
    if ((size_t)(output->end - output->at) < n)
        output_flush(output);
    return output->at;
}

void output_write(struct output *output, const void *data, size_t length);
void output_text(struct output *output, const char *text);
void output_print(struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);

/* Records that the data to be written are not available: closing reports it and does not touch the target. The first
   fault is kept. */
void output_fail(struct output *output, const struct error *err);

/* Bytes written so far. */
static inline uint64_t output_position(const struct output *output)
{
    return output->written + (uint64_t)(output->at - output->buffer);
}

/* Overwrites bytes written before, among the first OUTPUT_PATCH_MOST. Needs options.patchable. */
enum { OUTPUT_PATCH_MOST = 512 << 10 };
void output_patch(struct output *output, uint64_t offset, const void *data, size_t length);

#endif
