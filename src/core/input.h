/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_INPUT_H
#define SIGHT_CORE_INPUT_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file, standard input ("-") or memory as a stream of bytes, decompressed on the way (gzip, zstd, detected by
   content). Peek, decide, consume: a reader never sees a short read or the edge of a buffer. Memory: one buffer that
   grows only as far as one input_need asks and only while data arrive. */
struct input {
    const char *name;              /* for messages; "standard input" for "-" */
    const char *path;              /* as it was opened; NULL: standard input or memory */
    const unsigned char *at, *end; /* buffered bytes not yet consumed: read them, then input_consume */
    uint64_t offset;               /* of `at` in the decompressed data */
    bool ended;                    /* everything is buffered */
    const char *fault;             /* description of damaged or cut compressed data, where the data end; NULL: none */
    struct input_source *source;   /* internal */
    unsigned char *buffer;         /* internal */
    size_t capacity;               /* internal */
};

/* From now on compressed data that become more than this are an error (kind ERROR_INPUT), in the whole program; 0: more
   than 1 GB and 250 times their compressed size. Call before threads are started. */
void input_limit_unpacked(uint64_t bytes);

/* Compressed data with a seek_table.h are unpacked in up to so many threads from now on, and other files looked through
   by as many, in the whole program; without this call, by the thread that reads them. Call before threads are started.
 */
void input_unpack_threads(unsigned threads);

/* True for standard input ("-"), pipes and the like, which can be read only once. */
bool input_is_once(const char *path);

/* NULL and a fault if the file cannot be opened, is a directory, or is compressed in a way this build cannot read.
 */
struct input *input_open(const char *path, struct error *err);

/* The same for a file that the user did not name, but that was found beside the trace or in its directory: a pipe would
   wait for whoever writes to it, a device may never end, and both are a fault. */
struct input *input_open_found(const char *path, struct error *err);

/* The same for a file that sight keeps for itself: see private_open. */
struct input *input_open_private(const char *path, struct error *err);

/* Opens a file that only this user can have written: the user's own regular file that others may not write, not a link.
   -1 and errno: EPERM if it is another user's. */
int private_open(const char *path);

/* Reads memory, which must outlive the input. For tests and fuzzing. */
struct input *input_open_memory(const void *data, size_t size, const char *name);

void input_close(struct input *input);

/* Takes compressed data to their end, which a format need not ask for, so that `fault` says whether it is there. */
enum status input_check_end(struct input *input, struct error *err) MUST_CHECK;

/* Prepares for reading the data again from the start: from now on, data that cannot be read twice (a pipe, compressed
   data) are kept in an unlinked file in TMPDIR. Call before anything is consumed. */
enum status input_keep(struct input *input, struct error *err) MUST_CHECK;

/* Back to the first byte. Needs input_keep before. */
enum status input_rewind(struct input *input, struct error *err) MUST_CHECK;

static inline size_t input_available(const struct input *input)
{
    return (size_t)(input->end - input->at);
}

/* This input is from now on unpacked in the thread that reads it: where others read other parts at the same time. */
void input_unpack_alone(struct input *input);

/* How many threads may unpack it: 1 of data that cannot be unpacked in several. */
unsigned input_threads(const struct input *input);

/* How many threads may look through it at once, each with an input of its own. */
unsigned input_lookers(const struct input *input);

/* At least `want` bytes at input->at. STATUS_END: the data end before that (at input->at is all that is left). */
enum status input_fill(struct input *input, size_t want, struct error *err) MUST_CHECK;
static inline enum status input_need(struct input *input, size_t want, struct error *err)
{
    return input_available(input) >= want ? STATUS_OK : input_fill(input, want, err);
}

/* Consumes n bytes, which must be available. */
static inline void input_consume(struct input *input, size_t n)
{
    input->at += n;
    input->offset += n;
}

/* Consumes n bytes, available or not. STATUS_END: the data end before that. */
enum status input_skip(struct input *input, uint64_t n, struct error *err) MUST_CHECK;

/* True if input_seek works: a regular file that was opened at its start, and is not compressed or has a seek_table.h.
 */
bool input_can_seek(const struct input *input);

/* Goes to a byte, before or after the current one. Needs input_can_seek. */
enum status input_seek(struct input *input, uint64_t offset, struct error *err) MUST_CHECK;

/* True if both read the same regular file, of the same size: it was not replaced between their opening. */
bool input_is_same_file(const struct input *left, const struct input *right);

/* What tells a file from another one of the same name on another host: a shared file system gives it the same number on
   all hosts, or at least the same time, besides its size. */
struct input_identity {
    uint64_t number, size; /* of the file; its bytes */
    int64_t changed_s, changed_ns;
};
struct input_identity input_identity(const struct input *input);
bool input_identity_is(const struct input_identity *identity, const struct input *input);

/* For progress: bytes of the file read so far and its size (0: not known). */
void input_progress(const struct input *input, uint64_t *done, uint64_t *total);

/* Size of the decompressed data if known without reading them (plain files, memory, a seek_table.h); else 0. */
uint64_t input_size(const struct input *input);

/* An unlinked file in temporary_directory() for reading and writing; -1 and a fault. */
int temporary_file(struct error *err);

/* TMPDIR; by default /tmp, or /var/tmp where /tmp is a file system in memory: temporary files are as large as traces.
 */
const char *temporary_directory(void);

/* True if it is a file system in memory all the same. */
bool temporary_is_memory(void);

/* The path with control characters as \xNN, for messages. free() it. */
char *input_escape_name(const char *path);

/* True if this build reads gzip, zstd. */
bool input_has_gzip(void);
bool input_has_zstd(void);

#endif
