/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/write_otf2.h"

#include "core/checksum.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

enum { ID_SIZE = 8, ANCHOR_MOST = 1 << 20, PIECE = 64 * 1024 };

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        memory_failed();
    FILE *file = fopen(path, mode);
    free(path);
    return file;
}

/* The definitions have the clock's begin and length and the number of events of each location: two runs differ in
   them. */
static bool make_id(const char *directory, unsigned char id[ID_SIZE])
{
    FILE *file = open_in(directory, "traces.def", "rb");
    if (!file)
        return false;
    unsigned char *piece = memory_new(PIECE);
    uint64_t sum = CHECKSUM_START;
    for (size_t got; (got = fread(piece, 1, PIECE, file)) > 0;)
        sum = checksum_add(sum, piece, got);
    bool whole = !ferror(file);
    fclose(file);
    free(piece);
    memcpy(id, &sum, ID_SIZE);
    return whole;
}

/* Where the id stands: the only place with its bytes, in either order. -1: there is none, or several. */
static long find_id(const unsigned char *anchor, size_t size, uint64_t id)
{
    uint64_t turned = __builtin_bswap64(id), here;
    long found = -1;
    for (size_t at = 0; at + ID_SIZE <= size; at++) {
        memcpy(&here, anchor + at, ID_SIZE);
        if (here != id && here != turned)
            continue;
        if (found >= 0)
            return -1;
        found = (long)at;
    }
    return found;
}

/* The library says it only of an archive that is read. */
static bool read_id(const char *directory, uint64_t *id)
{
    char *path;
    if (asprintf(&path, "%s/traces.otf2", directory) < 0)
        memory_failed();
    OTF2_Reader *library = OTF2_Reader_Open(path);
    bool fine = library && OTF2_Reader_GetTraceId(library, id) == OTF2_SUCCESS;
    if (library)
        OTF2_Reader_Close(library);
    free(path);
    return fine;
}

void otf2_write_id(const char *directory)
{
    unsigned char ours[ID_SIZE];
    uint64_t id;
    bool known = read_id(directory, &id) && make_id(directory, ours);
    FILE *file = known ? open_in(directory, "traces.otf2", "r+b") : NULL;
    if (!file)
        return;
    unsigned char *anchor = memory_new(ANCHOR_MOST);
    size_t size = fread(anchor, 1, ANCHOR_MOST, file);
    long at = find_id(anchor, size, id);
    if (at >= 0 && fseek(file, at, SEEK_SET) == 0)
        (void)!fwrite(ours, 1, ID_SIZE, file);
    fclose(file);
    free(anchor);
}
