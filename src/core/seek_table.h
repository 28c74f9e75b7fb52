/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_SEEK_TABLE_H
#define SIGHT_CORE_SEEK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table at the end of a zstd file whose frames can be read alone, so that reading can begin in the middle. It is a
   skippable frame, which every program that unpacks zstd passes over.
   Source: Zstandard Seekable Format 0.1.0 (facebook/zstd, contrib/seekable_format). */

/* One frame; both sizes in bytes. */
struct seek_frame {
    uint32_t packed, unpacked;
};

/* Where frames begin, in the file and in the data; both arrays have one entry more, where the last frame ends. */
struct seek_table {
    size_t count;
    uint64_t *packed, *unpacked;
};

/* The table of a file of `size` bytes, whose frames all hold the same power of two of bytes, except for the last one.
   NULL: it has none, another one, or one that does not fit the file. The file's position stays. */
struct seek_table *seek_table_read(int fd, uint64_t size);
void seek_table_free(struct seek_table *table);

/* Bytes of data in all frames. */
uint64_t seek_table_size(const struct seek_table *table);

/* The frame that holds this byte of the data; `count` if it is past the end. */
size_t seek_table_frame(const struct seek_table *table, uint64_t offset);

/* True if a frame begins at this byte of the file and of the data, or both are after the last one. */
bool seek_table_agrees(const struct seek_table *table, uint64_t packed, uint64_t unpacked);

/* The bytes that go after the frames; free(). */
unsigned char *seek_table_bytes(const struct seek_frame *frames, size_t count, size_t *size);

#endif
