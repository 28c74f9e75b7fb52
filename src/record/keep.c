/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/keep.h"

#include "core/record_digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    WORST = 16, /* segments */
    BLOCK_USUAL = 1 << 18,
    CHANNELS_MIN = 256, /* entries of the table */
    CHANNELS_MAX = 1 << 16,
    LEVEL_MAX = 62,
    GROUP_BITS = 2, /* of successive segments, which are in the sample together */
    SLICE_GROUP_BITS = 3,
    CALIBRATIONS = 64 /* outside of pieces, for half of the run */
};

struct keep {
    void *mapped;
    size_t mapped_size;
    struct record_kept *control;
    uint32_t block_size;
    unsigned char *raw[2], *area[2];
    struct record_totals *totals[2];
    struct record_digest digest;
    struct record_totals *now; /* of the digest under way */
    bool compacted;            /* in the digest under way: the other area must stay as it is committed */
    bool head_done;            /* the first segments are kept, and no others for being first */
    int64_t last_calibration;  /* that is kept outside of pieces */
    struct record_piece piece; /* the current one */
    size_t carried;            /* its bytes that are in the area already */
    bool too_large;            /* it is not kept */
    struct {
        struct record_segment segment;
        int64_t ticks;
    } worst[WORST]; /* the longest first */
    size_t worst_count;
};

static uint64_t power_of_two(uint64_t value, uint64_t min, uint64_t max)
{
    uint64_t power = min;
    while (power < max && power * 2 <= value)
        power *= 2;
    return power;
}

/* A trace takes up to four times the bytes of its records: half a share for the sample, a quarter for the last two
   blocks. The recording itself takes less. */
struct record_kept keep_sizes(uint64_t bytes, uint32_t *block_size)
{
    *block_size = (uint32_t)power_of_two(bytes / 32, RECORD_BLOCK_MIN, BLOCK_USUAL);
    uint64_t area = bytes / 8 / PAGE * PAGE, least = 4 * (uint64_t)*block_size;
    struct record_kept sizes = {.area_size = area > least ? area : least};
    sizes.channels =
        (uint32_t)power_of_two(bytes / 64 / sizeof(struct record_totals_channel), CHANNELS_MIN, CHANNELS_MAX);
    sizes.totals_size = (record_totals_size(sizes.channels) + PAGE - 1) / PAGE * PAGE;
    return sizes;
}

static void place(struct keep *keep, unsigned char *at)
{
    keep->control = (struct record_kept *)(void *)at;
    at += PAGE;
    for (int i = 0; i < 2; i++, at += keep->block_size)
        keep->raw[i] = at;
    uint64_t totals = keep->control->totals_size, area = keep->control->area_size;
    for (int i = 0; i < 2; i++, at += totals)
        keep->totals[i] = (struct record_totals *)(void *)at;
    for (int i = 0; i < 2; i++, at += area)
        keep->area[i] = at;
}

/* The piece of the current segment begins. */
static void piece_begin(struct keep *keep)
{
    const struct record_totals *totals = keep->digest.totals;
    keep->piece = (struct record_piece){
        .base = {.kind = RECORD_PIECE, .words = sizeof(struct record_piece) / 8, .ticks = keep->digest.ticks},
        .segment = totals->segment,
        .before = totals->events};
    keep->carried = 0;
    keep->too_large = false;
    keep->digest.definitions = false;
    record_digest_piece(&keep->digest);
}

struct keep *keep_open(struct own_file *file, const struct record_kept *sizes, uint32_t block_size, uint32_t world)
{
    struct keep *keep = calloc(1, sizeof *keep);
    if (!keep)
        return NULL;
    keep->block_size = block_size;
    keep->mapped_size = PAGE + 2 * (block_size + sizes->totals_size + sizes->area_size);
    if (own_file_extend(file, RECORD_HEADER_SIZE, keep->mapped_size))
        keep->mapped = own_file_map(file, RECORD_HEADER_SIZE, keep->mapped_size);
    if (!keep->mapped || !record_digest_open(&keep->digest, world, sizes->channels)) {
        int reason = errno;
        if (keep->mapped)
            munmap(keep->mapped, keep->mapped_size);
        free(keep);
        errno = reason;
        return NULL;
    }
    *(struct record_kept *)keep->mapped = *sizes;
    place(keep, keep->mapped);
    own_file_populate(keep->raw[0], block_size);
    record_totals_start(keep->totals[0], sizes->channels);
    /* The block that comes second must not look like the first. */
    *(uint64_t *)(void *)keep->raw[1] = UINT64_MAX;
    record_digest_use(&keep->digest, keep->totals[0]);
    piece_begin(keep);
    return keep;
}

void keep_close(struct keep *keep)
{
    if (!keep)
        return;
    munmap(keep->mapped, keep->mapped_size);
    record_digest_close(&keep->digest);
    free(keep);
}

unsigned char *keep_block(const struct keep *keep, uint64_t number)
{
    return keep->raw[number & 1];
}

uint64_t keep_block_place(uint64_t number, uint32_t block_size)
{
    return RECORD_HEADER_SIZE + PAGE + (number & 1) * block_size;
}

uint64_t keep_area_size(const struct keep *keep)
{
    return keep->control->area_size;
}

/* What is kept. */

static uint64_t mix(uint64_t value)
{
    value ^= value >> 31;
    value *= UINT64_C(0x7FB5D329728EA185);
    value ^= value >> 27;
    value *= UINT64_C(0x81DADEF4BC2DD44D);
    return value ^ value >> 33;
}

static bool in_sample(const struct record_segment *segment, uint64_t level)
{
    uint64_t number = segment->anchor >> GROUP_BITS;
    if (segment->slice)
        number ^= mix(segment->slice >> SLICE_GROUP_BITS);
    return (mix(number) & ((UINT64_C(1) << level) - 1)) == 0;
}

static bool is_worst(const struct keep *keep, const struct record_segment *segment)
{
    for (size_t i = 0; i < keep->worst_count; i++)
        if (keep->worst[i].segment.anchor == segment->anchor && keep->worst[i].segment.slice == segment->slice)
            return true;
    return false;
}

/* Slices of time are no iterations: all are equally long. */
static bool note_worst(struct keep *keep, const struct record_segment *segment, int64_t ticks)
{
    if (segment->slice || (keep->worst_count == WORST && ticks <= keep->worst[WORST - 1].ticks))
        return false;
    size_t i = keep->worst_count < WORST ? keep->worst_count++ : WORST - 1;
    for (; i > 0 && keep->worst[i - 1].ticks < ticks; i--)
        keep->worst[i] = keep->worst[i - 1];
    keep->worst[i].segment = *segment;
    keep->worst[i].ticks = ticks;
    return true;
}

static uint32_t decide(struct keep *keep, size_t bytes)
{
    uint64_t area = keep->control->area_size;
    uint32_t why = 0;
    keep->head_done |= keep->now->fill + bytes > area / 8;
    if (!keep->head_done)
        return RECORD_KEPT_HEAD;
    if (bytes > area / 8)
        return 0;
    if (note_worst(keep, &keep->piece.segment, keep->digest.ticks - keep->piece.base.ticks))
        why |= RECORD_KEPT_WORST;
    if (in_sample(&keep->piece.segment, keep->now->level))
        why |= RECORD_KEPT_SAMPLE;
    return why;
}

static bool is_live(const struct keep *keep, const struct record_piece *piece, uint64_t level)
{
    return piece->base.state != RECORD_KEPT_NOT &&
           (piece->base.state == RECORD_KEPT_HEAD || in_sample(&piece->segment, level) ||
            is_worst(keep, &piece->segment));
}

static bool calibration_is_due(const struct keep *keep, int64_t ticks)
{
    return ticks - keep->last_calibration >= (ticks - keep->now->first_ticks) / CALIBRATIONS;
}

static size_t item_length(const unsigned char *at, size_t room)
{
    const struct record_piece *piece = (const struct record_piece *)(const void *)at;
    return piece->base.kind == RECORD_PIECE ? (size_t)piece->bytes : record_length(at, room);
}

/* Bytes of the area that stay at a level. */
static uint64_t live_bytes(const struct keep *keep, uint64_t level)
{
    const unsigned char *area = keep->area[keep->now->area];
    uint64_t live = 0;
    for (uint64_t at = 0; at < keep->now->fill;) {
        const struct record_piece *piece = (const struct record_piece *)(const void *)(area + at);
        size_t length = item_length(area + at, keep->now->fill - at);
        if (piece->base.kind != RECORD_PIECE || is_live(keep, piece, level))
            live += length;
        at += length;
    }
    return live;
}

/* Bytes of the area outside of pieces: they stay at any level. */
static uint64_t definition_bytes(const struct keep *keep)
{
    const unsigned char *area = keep->area[keep->now->area];
    uint64_t bytes = 0;
    for (uint64_t at = 0, length; at < keep->now->fill; at += length) {
        length = item_length(area + at, keep->now->fill - at);
        bytes += area[at] == RECORD_PIECE ? 0 : length;
    }
    return bytes;
}

/* Of records that are left out, those that others refer to: after the first `fill` bytes of an area, which `begin` may
   be in, from there on. Returns how many bytes there are then. */
static uint64_t copy_definitions(struct keep *keep, unsigned char *area, uint64_t fill, const unsigned char *begin,
                                 const unsigned char *end)
{
    for (size_t length; begin < end && (length = record_length(begin, (size_t)(end - begin))) > 0; begin += length) {
        const struct record_base *record = (const struct record_base *)(const void *)begin;
        if ((record->kind & RECORD_SHORT) || !record_is_definition(record))
            continue;
        bool calibration = record->kind == RECORD_CALIBRATION;
        if (calibration && !calibration_is_due(keep, record->ticks))
            continue;
        if (fill + length > keep->control->area_size) {
            keep->now->lost_definitions++;
            continue;
        }
        if (calibration)
            keep->last_calibration = record->ticks;
        memmove(area + fill, begin, length);
        fill += length;
    }
    return fill;
}

/* Moves what stays to the other area, and the carried part of the current piece. False: it was done already. */
static bool compact(struct keep *keep)
{
    struct record_totals *now = keep->now;
    uint64_t fill = 0, defined = definition_bytes(keep);
    uint64_t limit = defined + (keep->control->area_size - defined) / 2;
    if (keep->compacted)
        return false;
    keep->compacted = true;
    while (now->level < LEVEL_MAX && live_bytes(keep, now->level) > limit)
        now->level++;
    while (keep->worst_count > 0 && live_bytes(keep, now->level) > limit)
        keep->worst_count--;
    const unsigned char *from = keep->area[now->area];
    unsigned char *to = keep->area[now->area ^ 1];
    keep->last_calibration = 0;
    for (uint64_t at = 0; at < now->fill;) {
        const struct record_piece *piece = (const struct record_piece *)(const void *)(from + at);
        size_t length = item_length(from + at, now->fill - at);
        if (piece->base.kind != RECORD_PIECE) {
            fill = copy_definitions(keep, to, fill, from + at, from + at + length);
        } else if (is_live(keep, piece, now->level)) {
            memcpy(to + fill, from + at, length);
            fill += length;
        } else {
            fill = copy_definitions(keep, to, fill, from + at + sizeof *piece, from + at + length);
        }
        at += length;
    }
    memcpy(to + fill, from + now->fill, keep->carried);
    now->area ^= 1;
    now->fill = fill;
    return true;
}

static bool has_room(const struct keep *keep, size_t bytes)
{
    return keep->now->fill + bytes <= keep->control->area_size;
}

static bool make_room(struct keep *keep, size_t bytes)
{
    return has_room(keep, bytes) || (compact(keep) && has_room(keep, bytes));
}

static void keep_definitions(struct keep *keep, const unsigned char *begin, const unsigned char *end)
{
    struct record_totals *now = keep->now;
    now->fill = copy_definitions(keep, keep->area[now->area], now->fill, begin, end);
}

/* What there is of the current piece in the area is left out. Where it is part of what is committed it stays as it is,
   as one of its own: a process may be killed before the next generation is. */
static void leave_carried(struct keep *keep)
{
    struct record_totals *now = keep->now;
    unsigned char *carried = keep->area[now->area] + now->fill;
    if (keep->compacted) {
        keep_definitions(keep, carried + sizeof keep->piece, carried + keep->carried);
        return;
    }
    struct record_piece piece = keep->piece;
    piece.base.state = RECORD_KEPT_NOT;
    piece.bytes = keep->carried;
    piece.end_ticks = keep->digest.ticks;
    piece.events = 0;
    memcpy(carried, &piece, sizeof piece);
    now->fill += keep->carried;
}

/* The current piece is left out, up to here. */
static void leave_out(struct keep *keep, const unsigned char *begin, const unsigned char *end)
{
    if (keep->digest.definitions) {
        /* There must be room for what later records refer to. */
        make_room(keep, keep->carried + (size_t)(end - begin));
    }
    if (keep->carried > 0)
        leave_carried(keep);
    if (keep->digest.definitions)
        keep_definitions(keep, begin, end);
    keep->carried = 0;
    keep->digest.definitions = false;
}

/* Puts records of the current piece after what is there of it. */
static void append(struct keep *keep, const void *data, size_t size)
{
    memcpy(keep->area[keep->now->area] + keep->now->fill + keep->carried, data, size);
    keep->carried += size;
}

static void put_records(struct keep *keep, const unsigned char *begin, const unsigned char *end)
{
    if (keep->carried == 0)
        append(keep, &keep->piece, sizeof keep->piece);
    append(keep, begin, (size_t)(end - begin));
}

static void put_channels(struct keep *keep)
{
    for (uint32_t i = 0; i < keep->digest.used_count; i++) {
        const struct record_totals_channel *channel = &keep->now->channels[keep->digest.used[i]];
        struct record_channel record = {.base = {.kind = RECORD_CHANNEL,
                                                 .words = sizeof record / 8,
                                                 .state = (uint16_t)channel->kind,
                                                 .comm = channel->comm,
                                                 .ticks = keep->digest.ticks},
                                        .partner = channel->partner,
                                        .tag = channel->tag,
                                        .count = keep->now->folds == 0 ? channel->count : RECORD_UNCOUNTED};
        append(keep, &record, sizeof record);
    }
}

/* The current segment ended at `end`. */
static void piece_end(struct keep *keep, const unsigned char *begin, const unsigned char *end)
{
    size_t head = keep->carried ? keep->carried : sizeof keep->piece;
    size_t bytes = head + (size_t)(end - begin) + keep->digest.used_count * sizeof(struct record_channel);
    uint32_t why = keep->too_large ? 0 : decide(keep, bytes);
    if (why && make_room(keep, bytes - keep->carried + keep->carried)) {
        put_records(keep, begin, end);
        put_channels(keep);
        keep->piece.base.state = (uint16_t)why;
        keep->piece.bytes = keep->carried;
        keep->piece.end_ticks = keep->digest.ticks;
        keep->piece.events = keep->now->segment_before - keep->piece.before;
        memcpy(keep->area[keep->now->area] + keep->now->fill, &keep->piece, sizeof keep->piece);
        keep->now->fill += keep->carried;
        keep->now->kept++;
    } else {
        keep->now->too_large += keep->too_large || why;
        leave_out(keep, begin, end);
    }
    piece_begin(keep);
}

/* The block ends within the current segment. */
static void piece_carry(struct keep *keep, const unsigned char *begin, const unsigned char *end)
{
    size_t bytes = keep->carried + sizeof keep->piece + (size_t)(end - begin);
    if (!keep->too_large && bytes <= keep->control->area_size / 4 && make_room(keep, bytes)) {
        put_records(keep, begin, end);
        return;
    }
    leave_out(keep, begin, end);
    keep->too_large = true;
}

static void digest(struct keep *keep, const unsigned char *block)
{
    uint64_t number = keep->control->generation + 1;
    const struct record_totals *before = keep->totals[(number - 1) & 1];
    keep->now = keep->totals[number & 1];
    /* Until this is the generation, nothing that belongs to the one before is overwritten, but the first record of the
       current piece, which is in the totals as well. */
    __atomic_store_n(&keep->control->writing, number, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(keep->now, before, record_totals_size(before->channel_count));
    keep->digest.totals = keep->now;
    keep->compacted = false;
    const unsigned char *at = block + RECORD_BLOCK_HEAD, *end = block + keep->block_size, *begin = at;
    bool cut, bad;
    do {
        at = record_digest_run(&keep->digest, at, end, &cut, &bad);
        if (cut) {
            piece_end(keep, begin, at);
            begin = at;
        }
    } while (cut);
    piece_carry(keep, begin, at);
    keep->now->open_fill = keep->now->fill + keep->carried;
    keep->now->open_piece = keep->piece;
    __atomic_store_n(&keep->control->generation, number, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void keep_turn(struct keep *keep, uint64_t number)
{
    if (number > 0)
        digest(keep, keep_block(keep, number - 1));
    unsigned char *next = keep_block(keep, number + 1);
    memset(next + RECORD_BLOCK_HEAD, 0, keep->block_size - RECORD_BLOCK_HEAD);
    __atomic_store_n((uint64_t *)(void *)next, number + 1, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
