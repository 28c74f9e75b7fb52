/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/seek_table.h"

#include "core/bytes.h"
#include "core/memory.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

/* A skippable frame has a header of two words. The footer is the number of frames, a byte of flags and the magic
   number. 2^24 frames of ours are 16 TiB of data. */
enum { HEADER_SIZE = 8, FOOTER_SIZE = 9, ENTRY_SIZE = 8, CHECKSUM_SIZE = 4, COUNT_MAX = 1 << 24, HAS_CHECKSUMS = 0x80 };
static const uint32_t SKIPPABLE = 0x184D2A5E, SEEKABLE = 0x8F92EAB1;

static bool read_at(int fd, unsigned char *to, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t got = pread(fd, to, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

/* The entries, each `step` bytes, at `offset` of the file. */
static struct seek_table *read_entries(int fd, uint64_t offset, size_t count, size_t step)
{
    unsigned char *entries = memory_new(count * step);
    if (!read_at(fd, entries, count * step, offset)) {
        free(entries);
        return NULL;
    }
    struct seek_table *table = memory_new(sizeof *table);
    table->count = count;
    table->packed = memory_new((count + 1) * sizeof *table->packed);
    table->unpacked = memory_new((count + 1) * sizeof *table->unpacked);
    for (size_t i = 0; i < count; i++) {
        table->packed[i + 1] = table->packed[i] + bytes_u32(entries + i * step, false);
        table->unpacked[i + 1] = table->unpacked[i] + bytes_u32(entries + i * step + 4, false);
    }
    free(entries);
    return table;
}

/* Damage of one size would shift all places after it, which the data there would not show. */
static bool has_equal_frames(const struct seek_table *table)
{
    uint64_t size = table->unpacked[1];
    if (size == 0 || (size & (size - 1)) != 0)
        return false;
    for (size_t i = 1; i + 1 < table->count; i++)
        if (table->unpacked[i + 1] - table->unpacked[i] != size)
            return false;
    return table->unpacked[table->count] - table->unpacked[table->count - 1] <= size;
}

struct seek_table *seek_table_read(int fd, uint64_t size)
{
    unsigned char footer[FOOTER_SIZE], header[HEADER_SIZE];
    if (size < HEADER_SIZE + FOOTER_SIZE || !read_at(fd, footer, sizeof footer, size - sizeof footer) ||
        bytes_u32(footer + 5, false) != SEEKABLE)
        return NULL;
    uint32_t count = bytes_u32(footer, false);
    size_t step = footer[4] & HAS_CHECKSUMS ? ENTRY_SIZE + CHECKSUM_SIZE : ENTRY_SIZE;
    uint64_t content = (uint64_t)count * step + FOOTER_SIZE;
    if (count == 0 || count > COUNT_MAX || content + HEADER_SIZE > size)
        return NULL;
    uint64_t begin = size - content - HEADER_SIZE;
    if (!read_at(fd, header, sizeof header, begin) || bytes_u32(header, false) != SKIPPABLE ||
        bytes_u32(header + 4, false) != content)
        return NULL;
    struct seek_table *table = read_entries(fd, begin + HEADER_SIZE, count, step);
    /* Of a file that was changed, or joined with another, the frames do not end where the table begins. */
    if (table && table->packed[count] == begin && has_equal_frames(table))
        return table;
    seek_table_free(table);
    return NULL;
}

void seek_table_free(struct seek_table *table)
{
    if (!table)
        return;
    free(table->packed);
    free(table->unpacked);
    free(table);
}

uint64_t seek_table_size(const struct seek_table *table)
{
    return table->unpacked[table->count];
}

/* The last of count + 1 ascending places that is not after `offset`. */
static size_t last_place(const uint64_t *places, size_t count, uint64_t offset)
{
    size_t low = 0, high = count + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (places[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t seek_table_frame(const struct seek_table *table, uint64_t offset)
{
    return last_place(table->unpacked, table->count, offset);
}

bool seek_table_agrees(const struct seek_table *table, uint64_t packed, uint64_t unpacked)
{
    size_t frame = last_place(table->packed, table->count, packed);
    /* After the last frame comes the table itself. */
    return table->unpacked[frame] == unpacked && (frame == table->count || table->packed[frame] == packed);
}

unsigned char *seek_table_bytes(const struct seek_frame *frames, size_t count, size_t *size)
{
    size_t content = count * ENTRY_SIZE + FOOTER_SIZE;
    unsigned char *bytes = memory_new(HEADER_SIZE + content), *at = bytes + HEADER_SIZE;
    bytes_put_u32(bytes, false, SKIPPABLE);
    bytes_put_u32(bytes + 4, false, (uint32_t)content);
    for (size_t i = 0; i < count; i++, at += ENTRY_SIZE) {
        bytes_put_u32(at, false, frames[i].packed);
        bytes_put_u32(at + 4, false, frames[i].unpacked);
    }
    bytes_put_u32(at, false, (uint32_t)count);
    bytes_put_u32(at + 5, false, SEEKABLE);
    *size = HEADER_SIZE + content;
    return bytes;
}
