/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_kept.h"

#include "core/directory.h"
#include "core/memory.h"
#include "core/record_digest.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, TRIES = 20 };
#define SIZE_LIMIT (UINT64_C(1) << 40)

/* The file while it is loaded. */
struct loading {
    int file;
    const struct record_header *header;
    struct record_kept control;
    struct record_kept_stream *kept;
    struct record_digest digest;
    uint64_t fill, open_fill;
};

static bool read_at(const struct loading *loading, uint64_t at, void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(loading->file, (char *)data + done, size - done, (off_t)(at + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static uint64_t block_at(const struct loading *loading, uint64_t number)
{
    return RECORD_HEADER_SIZE + PAGE + (number & 1) * loading->header->block_size;
}

static uint64_t totals_at(const struct loading *loading, uint64_t generation)
{
    return block_at(loading, 0) + 2 * (uint64_t)loading->header->block_size +
           (generation & 1) * loading->control.totals_size;
}

static bool sizes_valid(const struct record_kept *control, uint64_t size)
{
    return control->channels > 0 && (control->channels & (control->channels - 1)) == 0 &&
           control->channels <= size / sizeof(struct record_totals_channel) &&
           record_totals_size(control->channels) <= control->totals_size && control->totals_size < SIZE_LIMIT &&
           control->area_size < SIZE_LIMIT && 2 * (control->totals_size + control->area_size) <= size;
}

static bool totals_valid(const struct record_totals *totals, const struct record_kept *control)
{
    return totals->area <= 1 && totals->fill <= totals->open_fill && totals->open_fill <= control->area_size &&
           totals->fill % 8 == 0 && totals->open_fill % 8 == 0 && totals->function_count <= RECORD_TOTALS_FUNCTIONS &&
           totals->channel_capacity == control->channels && totals->channel_count <= control->channels &&
           totals->user_count <= RECORD_TOTALS_USERS && totals->open_count <= RECORD_TOTALS_OPEN &&
           totals->mpi_open <= totals->open_count;
}

/* The totals and what is kept, as they were committed last. */
static bool load_kept(struct loading *loading)
{
    struct record_kept_stream *kept = loading->kept;
    struct record_kept *control = &loading->control;
    kept->totals = memory_new(control->totals_size);
    if (!read_at(loading, totals_at(loading, control->generation), kept->totals, control->totals_size) ||
        !totals_valid(kept->totals, control))
        return false;
    loading->fill = kept->totals->fill;
    loading->open_fill = kept->totals->open_fill;
    /* With a page beyond: a damaged definition may be shorter than what is looked at. */
    kept->bytes = memory_new(loading->open_fill + 2 * (size_t)loading->header->block_size + PAGE);
    kept->size = loading->open_fill;
    return read_at(loading, totals_at(loading, 0) + 2 * control->totals_size + kept->totals->area * control->area_size,
                   kept->bytes, loading->open_fill);
}

static void note_definition(struct loading *loading, size_t at)
{
    struct record_kept_stream *kept = loading->kept;
    const struct record_base *record = (const struct record_base *)(const void *)(kept->bytes + at);
    if ((record->kind & RECORD_SHORT) || !record_is_definition(record))
        return;
    record_digest_definition(&loading->digest, record);
    ARRAY_PUSH(kept->definitions, kept->definition_count, kept->definition_capacity, at);
}

static void note_definitions(struct loading *loading, size_t begin, size_t end)
{
    const unsigned char *bytes = loading->kept->bytes;
    for (size_t at = begin, length; at < end && (length = record_length(bytes + at, end - at)) > 0; at += length)
        note_definition(loading, at);
}

/* Where the records of a piece end and its channels begin. */
static size_t records_end(const unsigned char *bytes, size_t begin, size_t end)
{
    size_t at = begin, length;
    while (at < end && bytes[at] != RECORD_CHANNEL && (length = record_length(bytes + at, end - at)) > 0)
        at += length;
    return at;
}

/* Pieces, with definitions between them. */
static void walk_area(struct loading *loading)
{
    struct record_kept_stream *kept = loading->kept;
    for (size_t at = 0, length; at < loading->fill; at += length) {
        struct record_piece piece;
        length = record_length(kept->bytes + at, loading->fill - at);
        if (length == 0)
            return;
        if (kept->bytes[at] != RECORD_PIECE) {
            note_definition(loading, at);
            continue;
        }
        memcpy(&piece, kept->bytes + at, length < sizeof piece ? length : sizeof piece);
        if (length < sizeof piece || piece.bytes < length || piece.bytes > loading->fill - at || piece.bytes % 8)
            return;
        size_t after = at + (size_t)piece.bytes, begin = at + length;
        struct record_kept_piece row = {.segment = piece.segment,
                                        .begin = begin,
                                        .end = records_end(kept->bytes, begin, after),
                                        .after = after,
                                        .begin_ticks = piece.base.ticks,
                                        .end_ticks = piece.end_ticks,
                                        .before = piece.before,
                                        .events = piece.events,
                                        .why = piece.base.state,
                                        .whole = true};
        note_definitions(loading, row.begin, row.end);
        if (row.why != RECORD_KEPT_NOT)
            ARRAY_PUSH(kept->pieces, kept->piece_count, kept->piece_capacity, row);
        length = (size_t)piece.bytes;
    }
}

/* The blocks that are not digested yet, without their heads and what is free of them. */
static void load_blocks(struct loading *loading)
{
    struct record_kept_stream *kept = loading->kept;
    uint32_t size = loading->header->block_size;
    unsigned char *block = memory_new(size);
    for (uint64_t number = loading->control.generation; number < loading->control.generation + 2; number++) {
        uint64_t found;
        if (!read_at(loading, block_at(loading, number), block, size))
            break;
        memcpy(&found, block, sizeof found);
        if (found != number)
            break;
        size_t end = RECORD_BLOCK_HEAD, length;
        while (end < size && (length = record_length(block + end, size - end)) > 0)
            end += length;
        kept->blocks[kept->block_count].begin = kept->size;
        kept->blocks[kept->block_count++].position = RECORD_HEADER_SIZE + number * size + RECORD_BLOCK_HEAD;
        memcpy(kept->bytes + kept->size, block + RECORD_BLOCK_HEAD, end - RECORD_BLOCK_HEAD);
        kept->size += end - RECORD_BLOCK_HEAD;
    }
    free(block);
}

/* The segments of those blocks; the last one has not ended. */
static void digest_blocks(struct loading *loading)
{
    struct record_kept_stream *kept = loading->kept;
    struct record_totals *totals = kept->totals;
    size_t open = loading->open_fill - loading->fill, head = sizeof(struct record_piece);
    struct record_kept_piece piece = {.segment = totals->segment,
                                      .begin = open > head ? loading->fill + head : loading->open_fill,
                                      .begin_ticks = totals->open_piece.base.ticks,
                                      .before = totals->open_piece.before,
                                      .whole = open >= head || loading->control.generation == 0};
    note_definitions(loading, piece.begin, kept->size);
    record_digest_use(&loading->digest, totals);
    const unsigned char *at = kept->bytes + loading->open_fill, *end = kept->bytes + kept->size;
    bool cut, bad;
    do {
        at = record_digest_run(&loading->digest, at, end, &cut, &bad);
        piece.end = piece.after = (size_t)(at - kept->bytes);
        piece.end_ticks = totals->last_ticks;
        piece.events = (cut ? totals->segment_before : totals->events) - piece.before;
        ARRAY_PUSH(kept->pieces, kept->piece_count, kept->piece_capacity, piece);
        piece = (struct record_kept_piece){.segment = totals->segment,
                                           .begin = piece.end,
                                           .begin_ticks = piece.end_ticks,
                                           .before = totals->events,
                                           .whole = true};
    } while (cut);
}

/* True if the recorder has digested nothing since. */
static bool unchanged(const struct loading *loading)
{
    struct record_kept now;
    return read_at(loading, RECORD_HEADER_SIZE, &now, sizeof now) && now.generation == loading->control.generation &&
           now.writing == loading->control.writing;
}

static bool load(struct loading *loading, uint64_t size)
{
    record_digest_close(&loading->digest);
    if (!read_at(loading, RECORD_HEADER_SIZE, &loading->control, sizeof loading->control) ||
        !sizes_valid(&loading->control, size) || !load_kept(loading) ||
        !record_digest_open(&loading->digest, (uint32_t)loading->header->size, loading->control.channels))
        return false;
    walk_area(loading);
    load_blocks(loading);
    digest_blocks(loading);
    /* Everything is read unless record_plan.h says otherwise. */
    for (size_t i = 0; i < loading->kept->piece_count; i++)
        loading->kept->pieces[i].selected = true;
    return true;
}

struct record_kept_stream *record_kept_load(const char *path, const struct record_header *header, uint64_t size,
                                            struct error *err)
{
    struct loading loading = {.file = open(directory_place(path), O_RDONLY | O_CLOEXEC), .header = header};
    if (loading.file < 0) {
        error_set_errno(err, ERROR_INPUT, "%s: cannot open", path);
        return NULL;
    }
    /* A running program may digest a block meanwhile: then what was read does not belong together. */
    bool loaded = false;
    for (int tries = 0; tries < TRIES && !loaded; tries++) {
        record_kept_free(loading.kept);
        loading.kept = memory_new(sizeof *loading.kept);
        loaded = load(&loading, size) && (header->end != RECORD_RUNNING || unchanged(&loading));
    }
    close(loading.file);
    record_digest_close(&loading.digest);
    if (loaded)
        return loading.kept;
    record_kept_free(loading.kept);
    error_set(err, ERROR_INPUT, "%s: byte %d: the totals of the recording are damaged", path, RECORD_HEADER_SIZE);
    return NULL;
}

void record_kept_free(struct record_kept_stream *kept)
{
    if (!kept)
        return;
    free(kept->bytes);
    free(kept->pieces);
    free(kept->definitions);
    free(kept->totals);
    free(kept->dropped);
    free(kept);
}

uint64_t record_kept_position(const struct record_kept_stream *kept, size_t at)
{
    for (size_t i = kept->block_count; i > 0; i--)
        if (at >= kept->blocks[i - 1].begin)
            return kept->blocks[i - 1].position + (at - kept->blocks[i - 1].begin);
    return 0;
}

struct record_gap record_kept_gap(const struct record_kept_stream *kept)
{
    struct record_gap gap = {0};
    size_t last = kept->piece, i = last;
    while (i > 0 && !kept->pieces[i - 1].selected)
        i--;
    if (last >= kept->piece_count)
        return gap;
    uint64_t before = i > 0 ? kept->pieces[i - 1].before + kept->pieces[i - 1].events : 0;
    gap.events = kept->pieces[last].before - before;
    gap.from_ticks = i > 0 ? kept->pieces[i - 1].end_ticks : kept->totals->first_ticks;
    gap.to_ticks = kept->pieces[last].begin_ticks;
    return gap;
}

/* Short records have the time since the one before. */
static void pass_time(const unsigned char *at, int64_t *ticks)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    if (!(word & RECORD_SHORT))
        memcpy(ticks, at + sizeof word, sizeof *ticks);
    else if ((word & 0x7F) != RECORD_REQUESTS)
        *ticks = (int64_t)((uint64_t)*ticks + (word >> RECORD_SHORT_TIME));
}

size_t record_kept_skip(struct record_kept_stream *kept, size_t at, int64_t *ticks)
{
    while (at < kept->size) {
        const struct record_base *record = (const struct record_base *)(const void *)(kept->bytes + at);
        while (kept->piece < kept->piece_count && at >= kept->pieces[kept->piece].after)
            kept->piece++;
        const struct record_kept_piece *piece = kept->piece < kept->piece_count ? &kept->pieces[kept->piece] : NULL;
        while (kept->drop < kept->dropped_count && kept->dropped[kept->drop] < at)
            kept->drop++;
        bool inside = piece && at >= piece->begin && at < piece->end;
        if (inside && at == piece->begin) {
            *ticks = piece->begin_ticks;
            kept->gap |= piece->selected && piece->after_gap;
            if (piece->selected)
                kept->shift_ns = piece->shift_ns;
        }
        bool dropped = kept->drop < kept->dropped_count && kept->dropped[kept->drop] == at;
        bool brief = (record->kind & RECORD_SHORT) != 0;
        bool bookkeeping = !brief && (record->kind == RECORD_PIECE || record->kind == RECORD_CHANNEL);
        kept->outside = !inside || !piece->selected;
        if (!bookkeeping && !dropped && (!kept->outside || (!brief && record_is_definition(record))))
            return at;
        size_t length = record_length(kept->bytes + at, kept->size - at);
        if (length == 0)
            return kept->size;
        pass_time(kept->bytes + at, ticks);
        at += length;
    }
    return at;
}
