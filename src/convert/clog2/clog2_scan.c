/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_scan.h"

#include "convert/reader.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"

#include <string.h>

enum {
    RANGE_GAP = 1 << 16,    /* definitions this close to each other are one range */
    PART_LEAST = 4 << 20,   /* bytes that are worth a thread */
    FOUND_SHARE = 1 << 6,   /* of a part, that may be definitions: they are read again by one thread */
    FOUND_FREELY = 1 << 18, /* bytes of them that are worth no thought */
};

/* Branches with constants, not a table of sizes: the processor can then continue with the next record before it knows
   this one's kind. */
static inline __attribute__((always_inline)) void skip_events(struct clog2_file *file, const size_t header,
                                                              const bool big_endian)
{
    size_t room = smaller(input_available(file->input), file->block_left);
    if (room <= CLOG2_RECORD_MAX)
        return;
    const unsigned char *begin = file->input->at, *at = begin, *end = begin + (room - CLOG2_RECORD_MAX);
    while (at < end) {
        uint32_t kind = bytes_u32(at + (header == CLOG2_HEADER_SIZE ? 20 : 8), big_endian);
        if (kind == CLOG2_BARE)
            at += header + 8;
        else if (kind == CLOG2_MESSAGE)
            at += header + 24;
        else if (kind == CLOG2_CARGO)
            at += header + 40;
        else
            break;
    }
    file->block_left -= (uint64_t)(at - begin);
    input_consume(file->input, (size_t)(at - begin));
}

void clog2_skip_events(struct clog2_file *file)
{
    if (file->header_size != CLOG2_HEADER_SIZE)
        skip_events(file, file->header_size, file->preamble.big_endian);
    else if (file->preamble.big_endian)
        skip_events(file, CLOG2_HEADER_SIZE, true);
    else
        skip_events(file, CLOG2_HEADER_SIZE, false);
}

static void note_range(struct clog2_found *found, struct clog2_range range)
{
    struct clog2_range *last = found->count ? &found->ranges[found->count - 1] : NULL;
    if (last && range.from - last->to <= RANGE_GAP) {
        found->bytes += range.to - last->to;
        last->to = range.to;
    } else {
        found->bytes += range.to - range.from;
        ARRAY_PUSH(found->ranges, found->count, found->capacity, range);
    }
}

void clog2_found_note(struct clog2_found *found, uint64_t at, size_t size)
{
    note_range(found, (struct clog2_range){at, at + size});
}

/* Whole blocks of the file. */
struct part {
    const struct clog2_file *whole;
    uint64_t from, to;
    struct clog2_file file;
    struct reader reader; /* gets the damage */
    struct clog2_found found;
    bool good;
};

static bool found_too_many(const struct part *part)
{
    uint64_t seen = part->file.input->offset - part->from;
    return part->found.bytes > FOUND_FREELY && part->found.bytes > seen / FOUND_SHARE;
}

/* False: damage, the end of the log before the end of the part, or too many definitions. */
static bool look_through(struct part *part)
{
    struct clog2_file *file = &part->file;
    struct input *input = file->input;
    struct error err = {0};
    uint32_t kind;
    enum status status = input_seek(input, part->from, &err);
    while (status == STATUS_OK && (clog2_skip_events(file), input->offset < part->to) && !found_too_many(part) &&
           (status = clog2_file_next(file, &kind, &err)) == STATUS_OK && input->offset < part->to) {
        if (!clog2_is_plain_event(kind))
            clog2_found_note(&part->found, input->offset, file->sizes[kind]);
        clog2_file_take(file, kind);
    }
    if (status == STATUS_FAILED || input->fault || part->reader.damage.count > 0 || found_too_many(part))
        return false;
    return part->to == UINT64_MAX ? file->end_of_log : status == STATUS_OK;
}

static void part_do(void *context, size_t index)
{
    struct part *part = (struct part *)context + index;
    struct error err = {0};
    struct input *input = input_open(part->whole->input->path, &err);
    if (!input)
        return;
    input_unpack_alone(input);
    part->file = *part->whole;
    part->file.input = part->reader.input = input;
    part->file.reader = &part->reader;
    part->file.quiet = part->file.ended = part->file.end_of_log = false;
    part->file.block_left = part->file.preamble.block_size;
    part->good = input_can_seek(input) && look_through(part);
    input_close(input);
}

/* What the parts have found, as if one thread had found it. */
static bool parts_join(struct part *parts, size_t count, struct clog2_found *found)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = good && parts[i].good;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[i].found.count && good; k++)
            note_range(found, parts[i].found.ranges[k]);
        free(parts[i].found.ranges);
    }
    found->used = parts[count - 1].file.used;
    return good;
}

bool clog2_scan_parts(const struct clog2_file *file, struct clog2_found *found)
{
    uint64_t size = input_size(file->input), block = file->preamble.block_size;
    unsigned threads = input_lookers(file->input);
    size_t count = (size_t)smaller((uint64_t)threads, size / PART_LEAST);
    if (count < 2 || !file->input->path || !input_can_seek(file->input))
        return false;
    struct part *parts = memory_new(count * sizeof *parts);
    for (size_t i = 0; i < count; i++) {
        parts[i].whole = file;
        parts[i].from = CLOG2_PREAMBLE_SIZE + size / count * i / block * block;
        parts[i].to = UINT64_MAX;
        if (i > 0)
            parts[i - 1].to = parts[i].from;
    }
    parallel_run(threads, count, part_do, parts);
    bool good = parts_join(parts, count, found);
    free(parts);
    return good;
}
