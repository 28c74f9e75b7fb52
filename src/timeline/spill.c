/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/spill.h"

#include "core/input.h"
#include "core/numbers.h"
#include "timeline/index_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPILL_LEAST = 1 << 16 };

enum status spill_open(struct spill *spill, struct error *err)
{
    *spill = (struct spill){.file = temporary_file(err)};
    if (spill->file < 0)
        return STATUS_FAILED;
    return STATUS_OK;
}

void spill_close(struct spill *spill)
{
    if (spill->data)
        munmap(spill->data, spill->capacity);
    if (spill->file > 0)
        close(spill->file);
    *spill = (struct spill){0};
}

/* Reserves room on disk: a full disk is reported here, and not by a signal later. */
static bool spill_grow(struct spill *spill, size_t wanted)
{
    size_t capacity = larger(spill->capacity * 2, SPILL_LEAST);
    while (capacity < wanted)
        capacity *= 2;
    if (posix_fallocate(spill->file, 0, (off_t)capacity) != 0)
        return false;
    /* The mapping may move: users keep places, not pointers. */
    void *data;
    if (spill->data)
        data = mremap(spill->data, spill->capacity, capacity, MREMAP_MAYMOVE);
    else
        data = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, 0);
    if (data == MAP_FAILED)
        return false;
    spill->data = data;
    spill->capacity = capacity;
    return true;
}

bool spill_make_room(struct spill *spill, size_t size)
{
    /* A failure is remembered and reported once, by spill_check: the many that add need not each check. */
    if (spill->failed)
        return false;
    if (spill->capacity - spill->size < size && !spill_grow(spill, spill->size + size)) {
        spill->failed = true;
        return false;
    }
    size_t before = spill->size / INDEX_PIECE;
    spill->size += size;
    /* What is written is in the file: what is far from the end need not be in memory, too. */
    if (spill->size / INDEX_PIECE > before)
        index_give_back(spill->data, spill->size / INDEX_PIECE * INDEX_PIECE);
    return true;
}

void spill_add(struct spill *spill, const void *data, size_t size)
{
    size_t at = spill->size;
    if (size > 0 && spill_make_room(spill, size))
        memcpy(spill->data + at, data, size);
}

enum status spill_check(const struct spill *spill, struct error *err)
{
    if (!spill->failed)
        return STATUS_OK;
    return error_set(err, ERROR_OUTPUT, "cannot write a temporary file in %s: no space left", temporary_directory());
}
