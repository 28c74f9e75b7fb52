/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_past.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/past.h"
#include "core/payload.h"

#include <string.h>

enum { INDEX_LEAST = 64 };

static size_t place_of(const struct record_past *past, uint8_t kind, uint32_t comm, int32_t partner, int32_t tag)
{
    uint64_t key = map_pair((uint32_t)partner, (uint32_t)tag) ^ (uint64_t)comm << 40 ^ (uint64_t)kind << 20;
    size_t at = (size_t)map_hash(key) & (past->index_size - 1);
    for (; past->index[at]; at = (at + 1) & (past->index_size - 1)) {
        const struct record_past_channel *channel = &past->channels[past->index[at] - 1];
        if (channel->partner == partner && channel->tag == tag && channel->comm == comm && channel->kind == kind)
            break;
    }
    return at;
}

/* Half of the index stays free. */
static void index_grow(struct record_past *past)
{
    if (past->index_size > 2 * past->channel_count)
        return;
    past->index_size = past->index_size ? 2 * past->index_size : INDEX_LEAST;
    free(past->index);
    past->index = memory_new(past->index_size * sizeof *past->index);
    for (size_t i = 0; i < past->channel_count; i++) {
        const struct record_past_channel *channel = &past->channels[i];
        past->index[place_of(past, channel->kind, channel->comm, channel->partner, channel->tag)] = (uint32_t)i + 1;
    }
}

static struct record_past_channel *channel_put(struct record_past *past, uint8_t kind, uint32_t comm, int32_t partner,
                                               int32_t tag)
{
    index_grow(past);
    size_t at = place_of(past, kind, comm, partner, tag);
    if (!past->index[at]) {
        ARRAY_PUSH(past->channels, past->channel_count, past->channel_capacity,
                   (struct record_past_channel){.kind = kind, .comm = comm, .partner = partner, .tag = tag});
        past->index[at] = (uint32_t)past->channel_count;
    }
    return &past->channels[past->index[at] - 1];
}

static void count_message(struct record_past *past, uint8_t kind, uint32_t comm, const unsigned char *message)
{
    int32_t partner, tag;
    memcpy(&partner, message, sizeof partner);
    memcpy(&tag, message + sizeof partner, sizeof tag);
    struct record_past_channel *channel = channel_put(past, kind, comm, partner, tag);
    channel->count++;
    channel->function = past->function;
    channel->site = past->site;
}

void record_past_add_messages(struct record_past *past, const struct record_tally *row, uint64_t count)
{
    struct record_past_channel *channel =
        channel_put(past, (uint8_t)row->base.state, row->base.comm, row->partner, row->tag);
    channel->count += count;
    channel->function = (uint16_t)row->function;
    channel->site = row->site;
}

static struct record_past_collectives *collectives_put(struct record_past *past, uint32_t comm)
{
    size_t i = 0;
    while (i < past->collective_count && past->collectives[i].comm != comm)
        i++;
    if (i == past->collective_count)
        ARRAY_PUSH(past->collectives, past->collective_count, past->collective_capacity,
                   (struct record_past_collectives){.comm = comm});
    return &past->collectives[i];
}

static void count_collective(struct record_past *past, uint32_t comm, uint16_t function)
{
    struct record_past_collectives *collectives = collectives_put(past, comm);
    collectives->last[++collectives->count % RECORD_PAST_LAST] = function;
    collectives->known++;
}

void record_past_add_collectives(struct record_past *past, uint32_t comm, uint64_t count)
{
    struct record_past_collectives *collectives = collectives_put(past, comm);
    collectives->count += count;
    collectives->known = 0;
}

static void note_progress(struct record_past *past)
{
    past->last_ticks = past->ticks;
    past->failed = 0;
    if (past->ticks < past->progress_at)
        return;
    past->progress(past->context, past->ticks, past->ticks);
    past->progress_at = past->ticks + past->progress_ticks;
}

/* A short record as a long one. */
static void give_event(struct record_past *past, const unsigned char *at, uint64_t word, uint16_t function,
                       uint32_t comm)
{
    if (!(word & RECORD_SHORT)) {
        past->event(past->context, (const struct record_base *)(const void *)at);
        return;
    }
    struct record_enter record = {.base = {.kind = (uint8_t)(word & 0xFF & ~(uint64_t)RECORD_SHORT),
                                           .words = sizeof record.base / 8,
                                           .state = function,
                                           .comm = comm,
                                           .ticks = past->ticks},
                                  .site = past->site};
    if (record.base.kind == RECORD_ENTER_AT)
        record.base.words = sizeof record / 8;
    past->event(past->context, &record.base);
}

/* False: its site is not known. */
static bool take_enter(struct record_past *past, const unsigned char *at, uint64_t word)
{
    bool brief = (word & RECORD_SHORT) != 0, placed = (word & ~(uint64_t)RECORD_SHORT & 0xFF) == RECORD_ENTER_AT;
    uint16_t function = (uint16_t)(word >> RECORD_SHORT_STATE & (RECORD_SHORT_STATES - 1));
    uint32_t comm = (uint32_t)(word >> RECORD_SHORT_COMM & (RECORD_SHORT_COMMS - 1)), site = 0;
    if (!brief) {
        struct record_enter enter = {0};
        memcpy(&enter, at, placed ? sizeof enter : sizeof enter.base);
        function = enter.base.state;
        comm = enter.base.comm;
        site = (uint32_t)enter.site;
    } else if (placed) {
        site = (uint32_t)(word >> RECORD_SHORT_STATE & (RECORD_SHORT_SITES - 1));
        if (site >= past->file->site_count || !past->file->sites[site].place)
            return false;
        function = past->file->sites[site].function;
        comm = past->file->sites[site].comm;
    }
    if (function >= RECORD_OPENMP_REGION)
        return true;
    past->function = function;
    past->site = site;
    past->open = true;
    past->result = false;
    uint8_t need = past->needs[function];
    if (!(need & PAST_TEST))
        note_progress(past);
    if (need & PAST_COUNT)
        count_collective(past, comm, function);
    if (need & PAST_EVENTS)
        give_event(past, at, word, function, comm);
    return true;
}

static void take_leave(struct record_past *past, const unsigned char *at, uint64_t word)
{
    uint16_t function = (uint16_t)(word >> RECORD_SHORT_STATE & (RECORD_SHORT_STATES - 1));
    uint32_t comm = (uint32_t)(word >> RECORD_SHORT_COMM & (RECORD_SHORT_COMMS - 1));
    if (!(word & RECORD_SHORT)) {
        struct record_base base;
        memcpy(&base, at, sizeof base);
        function = base.state;
        comm = base.comm;
    }
    if (function >= RECORD_OPENMP_REGION)
        return;
    uint8_t need = past->needs[function];
    past->open = false;
    /* The file begins when MPI_Init has returned: what it takes is no pause. */
    int64_t since = past->last_ticks ? past->last_ticks : past->ticks;
    if (!(need & PAST_TEST) || past->result)
        note_progress(past);
    else
        past->failed++;
    if (need & PAST_START)
        past->progress(past->context, since, past->ticks);
    if (need & PAST_EVENTS)
        give_event(past, at, word, function, comm);
}

static void take_message(struct record_past *past, const unsigned char *at, uint64_t word, uint8_t kind)
{
    const unsigned char *message = at + sizeof word;
    uint32_t comm = (uint32_t)(word >> RECORD_SHORT_COMM & (RECORD_SHORT_COMMS - 1));
    if (!(word & RECORD_SHORT)) {
        struct record_base base;
        memcpy(&base, at, sizeof base);
        comm = base.comm;
        message = at + sizeof base;
    }
    past->result = true;
    note_progress(past);
    count_message(past, kind, comm, message);
}

static void take_requests(struct record_past *past, const unsigned char *at, uint64_t word)
{
    past->result = true;
    if (!past->open || !(past->needs[past->function] & PAST_EVENTS))
        return;
    uint64_t count = word >> RECORD_SHORT_REQUESTS & 0xFFFFFF;
    give_event(past, at, word, (uint16_t)smaller(count, REQUESTS_AT_ONCE_MAX),
               (uint32_t)(word >> RECORD_SHORT_REQUEST));
}

/* Bytes of the record; 0: it is none. */
static size_t size_of(uint64_t word, uint8_t kind)
{
    static const uint8_t sizes[] = {
        [RECORD_SEND] = sizeof(struct record_message),
        [RECORD_RECEIVE] = sizeof(struct record_message),
        [RECORD_VOID] = sizeof(struct record_message),
        [RECORD_ENTER_AT] = sizeof(struct record_enter),
        [RECORD_COMM] = sizeof(struct record_comm),
        [RECORD_RANKS] = sizeof(struct record_ranks),
        [RECORD_NEIGHBOURS] = sizeof(struct record_neighbours),
    };
    bool message = kind == RECORD_SEND || kind == RECORD_RECEIVE || kind == RECORD_VOID;
    if (word & RECORD_SHORT)
        return sizeof word + (message ? sizeof(struct record_message) - sizeof(struct record_base) : 0);
    size_t size = (size_t)(word >> 8 & 0xFF) * 8;
    size_t least = kind < sizeof sizes ? sizes[kind] : 0;
    if (least == 0)
        least = sizeof(struct record_base);
    return size >= least ? size : 0;
}

static bool take(struct record_past *past, const unsigned char *at, uint64_t word, uint8_t kind)
{
    switch (kind) {
    case RECORD_ENTER:
    case RECORD_ENTER_AT:
        return take_enter(past, at, word);
    case RECORD_LEAVE:
        take_leave(past, at, word);
        return true;
    case RECORD_SEND:
    case RECORD_RECEIVE:
        take_message(past, at, word, kind);
        return true;
    case RECORD_REQUESTS:
        take_requests(past, at, word);
        return true;
    case RECORD_RANKS:
    case RECORD_NEIGHBOURS:
    case RECORD_COMM:
        if (word & RECORD_SHORT)
            return false;
        /* Without the entry of their call ranks would be taken for those of the call before. */
        if (kind == RECORD_RANKS && past->open && !(past->needs[past->function] & PAST_EVENTS))
            return true;
        past->event(past->context, (const struct record_base *)(const void *)at);
        return true;
    default:
        return true;
    }
}

/* The records of a block, or of its first part. */
static bool read_records(struct record_past *past, const unsigned char *at, const unsigned char *end)
{
    uint64_t word;
    for (; at < end; at += size_of(word, (uint8_t)(word & 0xFF & ~(uint64_t)RECORD_SHORT))) {
        memcpy(&word, at, sizeof word);
        if (word == 0)
            return true;
        uint8_t kind = (uint8_t)(word & 0xFF & ~(uint64_t)RECORD_SHORT);
        size_t size = size_of(word, kind);
        if (size == 0 || size > (size_t)(end - at))
            return false;
        if (!(word & RECORD_SHORT))
            memcpy(&past->ticks, at + sizeof word, sizeof past->ticks);
        else if (kind != RECORD_REQUESTS)
            past->ticks += (int64_t)(word >> RECORD_SHORT_TIME);
        if (past->ticks > RECORD_TIME_MAX || past->ticks < -RECORD_TIME_MAX || !take(past, at, word, kind))
            return false;
    }
    return true;
}

bool record_past_span(struct record_past *past, uint64_t from, uint64_t to)
{
    uint64_t block = past->file->header.block_size;
    unsigned char *bytes = memory_new(block);
    bool whole = true;
    past->open = true;
    past->result = false;
    for (uint64_t at = from; at < to && whole;) {
        uint64_t number, in_block = (at - RECORD_HEADER_SIZE) % block;
        size_t size = (size_t)smaller(block - in_block, to - at), head = in_block ? 0 : RECORD_BLOCK_HEAD;
        whole = record_file_bytes(past->file, at, bytes, size) == size && size >= head;
        memcpy(&number, bytes, sizeof number);
        whole = whole && (in_block || number == (at - RECORD_HEADER_SIZE) / block) &&
                read_records(past, bytes + head, bytes + size);
        at += size;
    }
    free(bytes);
    return whole;
}

void record_past_clear(struct record_past *past)
{
    free(past->channels);
    free(past->index);
    free(past->collectives);
}
