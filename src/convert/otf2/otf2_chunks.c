/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_chunks.h"

#include "core/bytes.h"

#include <fcntl.h>
#include <unistd.h>

enum { CHUNK = 3, LITTLE_ENDIAN_CHUNK = 66, BIG_ENDIAN_CHUNK = 35, HEADER_SIZE = 18 };

/* False: there is no chunk, or it does not follow the one before, whose last record is *last. */
static bool chunk_follows(const unsigned char *header, ssize_t length, uint64_t *last)
{
    if (length != HEADER_SIZE || header[0] != CHUNK ||
        (header[1] != LITTLE_ENDIAN_CHUNK && header[1] != BIG_ENDIAN_CHUNK))
        return false;
    bool big_endian = header[1] == BIG_ENDIAN_CHUNK;
    uint64_t first = bytes_u64(header + 2, big_endian), end = bytes_u64(header + 10, big_endian);
    if (first != *last + 1 || end < first)
        return false;
    *last = end;
    return true;
}

bool otf2_chunks_are_numbered(const char *path, uint64_t size, uint64_t *last)
{
    unsigned char header[HEADER_SIZE];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    off_t end = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
    bool numbered = end > 0 && size > 0 && size <= INT64_MAX;
    *last = 0;
    for (uint64_t at = 0; numbered && at < (uint64_t)end; at += size)
        numbered = chunk_follows(header, pread(file, header, sizeof header, (off_t)at), last);
    if (file >= 0)
        close(file);
    return numbered;
}
