/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/record_digest.h"

#include "core/record_states.h"
#include "core/record_users.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define MPI_FUNCTION(name, ...) #name,
#include "core/mpi_function.def"
};
enum { FUNCTIONS = sizeof names / sizeof *names };

/* Without an anchor for 2^31 ticks, about a second, or several times as long as anchors are apart, time is cut. */
#define LONG_TICKS (INT64_C(1) << 31)
enum { LONG_TIMES = 8, SLICE_BITS = 25 };
/* Calls in the first window after which an anchor is chosen, and in the largest. */
enum { WINDOW_FIRST = 64, WINDOW_MAX = 4096, FREQUENT = 8 };

static uint8_t anchor_of(const char *name)
{
    static const char *const same[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall",
                                       "MPI_Reduce_scatter_block"};
    static const char *const others[] = {"MPI_Allgatherv", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce_scatter"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(name, same[i]) == 0)
            return 2;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return 1;
    return 0;
}

bool record_digest_open(struct record_digest *digest, uint32_t world, uint32_t channels)
{
    *digest = (struct record_digest){.world = world};
    digest->sites = calloc(RECORD_DIGEST_SITES, sizeof *digest->sites);
    digest->whole = calloc(RECORD_DIGEST_COMMS, 1);
    digest->used = calloc(channels, sizeof *digest->used);
    digest->stamps = calloc(channels, sizeof *digest->stamps);
    digest->index = calloc((size_t)channels * 2, sizeof *digest->index);
    digest->ids = calloc(RECORD_DIGEST_IDS, sizeof *digest->ids);
    digest->stamp = 1;
    for (size_t i = 0; i < FUNCTIONS; i++)
        digest->anchor_of[i] = anchor_of(names[i]);
    if (digest->sites && digest->whole && digest->used && digest->stamps && digest->index && digest->ids)
        return true;
    record_digest_close(digest);
    return false;
}

void record_digest_close(struct record_digest *digest)
{
    free(digest->sites);
    free(digest->whole);
    free(digest->used);
    free(digest->stamps);
    free(digest->index);
    free(digest->ids);
    *digest = (struct record_digest){0};
}

size_t record_totals_size(uint32_t channels)
{
    return sizeof(struct record_totals) + channels * sizeof(struct record_totals_channel);
}

void record_totals_start(struct record_totals *totals, uint32_t channels)
{
    memset(totals, 0, record_totals_size(channels));
    totals->channel_capacity = channels;
    totals->window = totals->window_left = WINDOW_FIRST;
    totals->long_ticks = LONG_TICKS;
}

void record_digest_piece(struct record_digest *digest)
{
    digest->stamp++;
    digest->used_count = 0;
}

/* Channels. */

static uint32_t channel_hash(uint32_t kind, uint32_t comm, int32_t partner, int32_t tag)
{
    /* Odd constants and shifts spread neighbours (ranks 0, 1, 2, ...) over the whole table, which is probed linearly.
     */
    uint64_t key = ((uint64_t)comm << 3 ^ kind) * UINT64_C(0x9E3779B97F4A7C15);
    key ^= ((uint64_t)(uint32_t)partner << 32 | (uint32_t)tag) * UINT64_C(0xC2B2AE3D27D4EB4F);
    key ^= key >> 29;
    return (uint32_t)((key * UINT64_C(0xBF58476D1CE4E5B9)) >> 32);
}

static bool channel_is(const struct record_totals_channel *channel, uint32_t kind, uint32_t comm, int32_t partner,
                       int32_t tag)
{
    return channel->tag == tag && channel->partner == partner && channel->comm == comm && channel->kind == kind;
}

/* Where the channel is in the hash table, or would be. It is twice as large as the totals' list. */
static uint32_t *channel_place(const struct record_digest *digest, uint32_t kind, uint32_t comm, int32_t partner,
                               int32_t tag)
{
    const struct record_totals *totals = digest->totals;
    uint32_t mask = 2 * totals->channel_capacity - 1, i = channel_hash(kind, comm, partner, tag) & mask;
    /* Half of the places are free at any time: the search ends. */
    while (digest->index[i] && !channel_is(&totals->channels[digest->index[i] - 1], kind, comm, partner, tag))
        i = (i + 1) & mask;
    return &digest->index[i];
}

void record_digest_use(struct record_digest *digest, struct record_totals *totals)
{
    digest->totals = totals;
    memset(digest->row_of, 0, sizeof digest->row_of);
    for (uint32_t i = 0; i < totals->function_count; i++)
        if (totals->functions[i].function < RECORD_FUNCTIONS_MAX)
            digest->row_of[totals->functions[i].function] = (uint8_t)(i + 1);
    /* Totals may have been filled by another digest: the index follows from their list. */
    memset(digest->index, 0, 2 * totals->channel_capacity * sizeof *digest->index);
    for (uint32_t i = 0; i < totals->channel_count; i++) {
        const struct record_totals_channel *row = &totals->channels[i];
        *channel_place(digest, row->kind, row->comm, row->partner, row->tag) = i + 1;
    }
    record_users_use(digest);
    digest->ticks = totals->last_ticks;
}

/* Adds entries of the list together: those of all tags, or of all partners, too. In place, as it becomes shorter. */
static void channels_fold(struct record_digest *digest, bool partners)
{
    struct record_totals *totals = digest->totals;
    uint32_t count = totals->channel_count;
    memset(digest->index, 0, 2 * totals->channel_capacity * sizeof *digest->index);
    totals->channel_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* A copy: its own place may be overwritten by the list that is being made. */
        struct record_totals_channel one = totals->channels[i];
        if (one.kind == RECORD_CHANNEL_SENT || one.kind == RECORD_CHANNEL_RECEIVED)
            one.tag = RECORD_NOT_KNOWN;
        if (partners)
            one.partner = RECORD_NOT_KNOWN;
        if (partners && one.kind >= RECORD_CHANNEL_CALLS)
            one.comm = RECORD_COMM_NONE;
        uint32_t *place = channel_place(digest, one.kind, one.comm, one.partner, one.tag);
        if (*place == 0) {
            totals->channels[totals->channel_count++] = one;
            *place = totals->channel_count;
        } else {
            totals->channels[*place - 1].count += one.count;
            totals->channels[*place - 1].bytes += one.bytes;
        }
    }
    memset(totals->channels + totals->channel_count, 0, (count - totals->channel_count) * sizeof *totals->channels);
}

static void channels_make_room(struct record_digest *digest)
{
    struct record_totals *totals = digest->totals;
    totals->folds++;
    channels_fold(digest, false);
    /* Folding costs a pass over all: it must free enough that the next one is far away. */
    if (totals->channel_count > totals->channel_capacity / 4)
        channels_fold(digest, true);
    /* Even that is too much, with thousands of communicators: nothing is known of the channels so far. */
    if (totals->channel_count > totals->channel_capacity / 2) {
        memset(totals->channels, 0, totals->channel_capacity * sizeof *totals->channels);
        memset(digest->index, 0, 2 * totals->channel_capacity * sizeof *digest->index);
        totals->channel_count = 0;
        totals->lost_channels++;
    }
    memset(digest->last_channel, 0, sizeof digest->last_channel);
    /* The numbers of the current piece are lost. */
    record_digest_piece(digest);
}

static uint32_t channel_find(struct record_digest *digest, uint32_t kind, uint32_t comm, int32_t partner, int32_t tag)
{
    struct record_totals *totals = digest->totals;
    uint32_t *place = channel_place(digest, kind, comm, partner, tag);
    if (*place == 0 && totals->channel_count == totals->channel_capacity) {
        channels_make_room(digest);
        /* The table was made anew: the old place means nothing. */
        place = channel_place(digest, kind, comm, partner, tag);
    }
    if (*place == 0) {
        totals->channels[totals->channel_count++] =
            (struct record_totals_channel){.comm = comm, .kind = kind, .partner = partner, .tag = tag};
        *place = totals->channel_count;
    }
    return *place - 1;
}

static inline void channel_count(struct record_digest *digest, uint32_t kind, uint32_t comm, int32_t partner,
                                 int32_t tag, uint64_t bytes)
{
    struct record_totals *totals = digest->totals;
    /* Messages to the same partner follow each other: most need no look into the table. */
    uint32_t i = digest->last_channel[kind];
    if (!channel_is(&totals->channels[i], kind, comm, partner, tag))
        i = digest->last_channel[kind] = channel_find(digest, kind, comm, partner, tag);
    totals->channels[i].count++;
    totals->channels[i].bytes += bytes;
    if (digest->stamps[i] != digest->stamp) {
        digest->stamps[i] = digest->stamp;
        digest->used[digest->used_count++] = i;
    }
}

static void message(struct record_digest *digest, uint32_t kind, uint32_t comm, const void *body)
{
    struct {
        int32_t partner, tag;
        uint64_t bytes;
    } fields;
    memcpy(&fields, body, sizeof fields);
    /* More than any message has: not known, and counted as none. */
    uint64_t bytes = fields.bytes <= INT64_MAX ? fields.bytes : 0;
    channel_count(digest, kind, comm, fields.partner, fields.tag, bytes);
    if (fields.partner < 0)
        return;
    unsigned size = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    digest->totals->sizes[kind - RECORD_CHANNEL_SENT][size].messages++;
    digest->totals->sizes[kind - RECORD_CHANNEL_SENT][size].bytes += bytes;
}

/* Calls. */

static struct record_totals_function *function_row(struct record_digest *digest, uint32_t function)
{
    struct record_totals *totals = digest->totals;
    uint32_t row = function < RECORD_FUNCTIONS_MAX ? digest->row_of[function] : 0;
    if (row > 0)
        return &totals->functions[row - 1];
    row = totals->function_count;
    if (row == RECORD_TOTALS_FUNCTIONS) {
        /* No row is left: the last one is that of all others, and has no name. */
        totals->functions[row - 1].function = UINT32_MAX;
        return &totals->functions[row - 1];
    }
    totals->functions[row] = (struct record_totals_function){.function = function, .min_ticks = INT64_MAX};
    totals->function_count++;
    if (function < RECORD_FUNCTIONS_MAX)
        digest->row_of[function] = (uint8_t)(row + 1);
    return &totals->functions[row];
}

/* A window of anchors has passed: the rarest of the frequent ones is the anchor of the next. */
static void choose_anchor(struct record_totals *totals)
{
    uint64_t best = 0, best_count = UINT64_MAX;
    for (size_t i = 0; i < RECORD_SIGNATURES && totals->signatures[i].count > 0; i++)
        if (totals->signatures[i].count >= totals->window / FREQUENT && totals->signatures[i].count < best_count) {
            best = totals->signatures[i].signature;
            best_count = totals->signatures[i].count;
        }
    totals->anchor = best;
    memset(totals->signatures, 0, sizeof totals->signatures);
    /* Windows grow: a short run finds its anchor soon, a long one is not judged by its beginning. */
    if (totals->window < WINDOW_MAX)
        totals->window *= 4;
    totals->window_left = totals->window;
    uint64_t anchors = totals->window_anchors > 0 ? totals->window_anchors : 1;
    int64_t passed = totals->last_ticks - totals->window_ticks;
    if (passed > 0)
        totals->long_ticks = LONG_TICKS + LONG_TIMES * (passed / (int64_t)anchors);
    totals->window_anchors = 0;
    totals->window_ticks = totals->last_ticks;
}

static void next_segment(struct record_totals *totals, struct record_segment segment)
{
    totals->segments++;
    totals->segment = segment;
    totals->segment_ticks = totals->last_ticks;
    totals->segment_before = totals->events;
}

/* A call that synchronises all processes has ended. True: it is an anchor. */
static bool synchronised(struct record_digest *digest, uint32_t function)
{
    struct record_totals *totals = digest->totals;
    uint64_t bytes = digest->anchor_of[function] == 2 ? totals->call_bytes : 0;
    uint64_t signature = ((uint64_t)function + 1) << 48 ^ bytes;
    size_t i = 0;
    /* Signatures that find the table full are not counted: an anchor is chosen among those that came first. */
    while (i + 1 < RECORD_SIGNATURES && totals->signatures[i].count > 0 && totals->signatures[i].signature != signature)
        i++;
    if (totals->signatures[i].count == 0)
        totals->signatures[i].signature = signature;
    if (totals->signatures[i].signature == signature)
        totals->signatures[i].count++;
    /* Until one is chosen each is an anchor. All processes choose alike, as they see the same calls in the same order.
     */
    bool anchor = totals->anchor == 0 || totals->anchor == signature;
    totals->window_anchors += anchor;
    if (--totals->window_left == 0)
        choose_anchor(totals);
    if (!anchor)
        return false;
    totals->anchors++;
    totals->anchor_ticks = totals->last_ticks;
    next_segment(totals, (struct record_segment){.anchor = totals->segment.anchor + 1});
    return true;
}

static inline void enter(struct record_digest *digest, uint32_t function)
{
    struct record_totals *totals = digest->totals;
    states_advance(digest);
    totals->call_bytes = 0;
    if (totals->open_count == RECORD_TOTALS_OPEN) {
        totals->too_deep++;
        return;
    }
    totals->open[totals->open_count++] = (struct record_totals_open){.function = function, .ticks = digest->ticks};
    if (states_is_mpi(function) && totals->mpi_open++ == 0)
        totals->mpi_since = digest->ticks;
}

static inline void leave(struct record_digest *digest, uint32_t function)
{
    struct record_totals *totals = digest->totals;
    states_advance(digest);
    uint32_t at = states_latest(totals, function);
    if (at == RECORD_TOTALS_OPEN)
        return;
    states_close(digest, at, function_row(digest, function));
    if (states_is_mpi(function) && --totals->mpi_open == 0)
        states_add(&totals->mpi_ticks, states_ticks(totals->mpi_since, digest->ticks));
}

/* The slice of time that a call belongs to. */
static inline bool new_slice(struct record_totals *totals, int64_t ticks)
{
    if (ticks - totals->anchor_ticks < totals->long_ticks)
        return false;
    uint64_t slice = (uint64_t)ticks >> SLICE_BITS;
    if (slice == totals->segment.slice)
        return false;
    next_segment(totals, (struct record_segment){.anchor = totals->segment.anchor, .slice = slice});
    return true;
}

void record_digest_definition(struct record_digest *digest, const struct record_base *record)
{
    digest->definitions = true;
    if (record->kind == RECORD_DEFINE_SITE) {
        const struct record_site *site = (const struct record_site *)(const void *)record;
        if (site->number < RECORD_DIGEST_SITES && site->function < RECORD_FUNCTIONS_MAX) {
            digest->sites[site->number].comm = record->comm;
            digest->sites[site->number].function = site->function + 1;
        }
    } else if (record->kind == RECORD_DEFINE_STATE || record->kind == RECORD_DEFINE_MARK) {
        record_users_describe(digest, (const struct record_definition *)(const void *)record);
    } else if (record->kind == RECORD_COMM && record->comm < RECORD_DIGEST_COMMS) {
        const struct record_comm *comm = (const struct record_comm *)(const void *)record;
        digest->whole[record->comm] = comm->size == digest->world && comm->remote_size == 0 && !comm->window;
    }
}

static inline size_t length_of(const unsigned char *at, size_t room)
{
    uint64_t word;
    if (room < sizeof word)
        return 0;
    memcpy(&word, at, sizeof word);
    uint32_t kind = (uint32_t)(word & 0x7F);
    size_t size = sizeof word;
    if (word & RECORD_SHORT) {
        if (kind >= RECORD_SEND && kind <= RECORD_VOID)
            size += sizeof(struct record_message) - sizeof(struct record_base);
    } else {
        size = (size_t)(word >> 8 & 0xFF) * 8;
        if (kind == RECORD_NONE || size < sizeof(struct record_base))
            return 0;
    }
    return size <= room ? size : 0;
}

size_t record_length(const unsigned char *at, size_t room)
{
    return length_of(at, room);
}

bool record_is_definition(const struct record_base *record)
{
    switch (record->kind) {
    case RECORD_COMM:
    case RECORD_COMM_FREED:
    case RECORD_CLOCK:
    case RECORD_CALIBRATION:
    case RECORD_DEFINE_STATE:
    case RECORD_DEFINE_MARK:
    case RECORD_DEFINE_SITE:
    case RECORD_DEFINE_PATH:
    case RECORD_DEFINE_MODULE:
    case RECORD_DEFINE_PROPERTY:
    case RECORD_DEFINE_COUNTER:
    case RECORD_DEFINE_PYTHON:
    case RECORD_DEFINE_OUTER:
    case RECORD_NEIGHBOURS:
    case RECORD_MACHINE:
        return true;
    default:
        return false;
    }
}

/* The least lengths of long records that are looked into. */
static size_t least_length(uint8_t kind)
{
    switch (kind) {
    case RECORD_ENTER_AT:
        return sizeof(struct record_enter);
    case RECORD_SEND:
    case RECORD_RECEIVE:
        return sizeof(struct record_message);
    case RECORD_COLLECTIVE:
        return sizeof(struct record_collective);
    case RECORD_COMM:
        return sizeof(struct record_comm);
    case RECORD_DEFINE_SITE:
        return offsetof(struct record_site, path);
    case RECORD_DEFINE_STATE:
    case RECORD_DEFINE_MARK:
        return offsetof(struct record_definition, name);
    default:
        return sizeof(struct record_base);
    }
}

/* The function of a short entry; UINT32_MAX: not known, as the definition of its place had no room: its leave counts.
 */
static inline uint32_t entered(const struct record_digest *digest, uint64_t word)
{
    if ((word & 0x7F) == RECORD_ENTER)
        return (uint32_t)(word >> RECORD_SHORT_STATE & (RECORD_SHORT_STATES - 1));
    uint64_t site = word >> RECORD_SHORT_STATE & (RECORD_SHORT_SITES - 1);
    return site < RECORD_DIGEST_SITES ? digest->sites[site].function - 1 : UINT32_MAX;
}

/* A call ends. True: it is an anchor. */
static inline bool left(struct record_digest *digest, uint32_t function, uint32_t comm)
{
    leave(digest, function);
    digest->totals->events++;
    /* A segment begins and ends outside of MPI: not in what callbacks call. */
    return function < RECORD_FUNCTIONS_MAX && digest->anchor_of[function] && comm < RECORD_DIGEST_COMMS &&
           digest->whole[comm] && digest->totals->mpi_open == 0 && synchronised(digest, function);
}

/* What came of a record. */
enum step { STEP_DONE, STEP_CUT_BEFORE, STEP_CUT_AFTER, STEP_BAD };

static inline enum step enter_at(struct record_digest *digest, int64_t ticks, uint32_t function)
{
    struct record_totals *totals = digest->totals;
    if (totals->mpi_open == 0 && new_slice(totals, ticks))
        return STEP_CUT_BEFORE;
    digest->ticks = totals->last_ticks = ticks;
    enter(digest, function);
    totals->events++;
    return STEP_DONE;
}

/* Most records are short. */
static inline enum step short_record(struct record_digest *digest, const unsigned char *at, uint64_t word)
{
    struct record_totals *totals = digest->totals;
    uint32_t kind = (uint32_t)(word & 0x7F);
    int64_t ticks = (int64_t)((uint64_t)digest->ticks + (word >> RECORD_SHORT_TIME));
    uint32_t comm = (uint32_t)(word >> RECORD_SHORT_COMM & (RECORD_SHORT_COMMS - 1));
    if (kind == RECORD_ENTER_AT || kind == RECORD_ENTER)
        return enter_at(digest, ticks, entered(digest, word));
    if (kind == RECORD_REQUESTS)
        return STEP_DONE;
    digest->ticks = totals->last_ticks = ticks;
    if (kind == RECORD_LEAVE) {
        uint32_t function = (uint32_t)(word >> RECORD_SHORT_STATE & (RECORD_SHORT_STATES - 1));
        return left(digest, function, comm) ? STEP_CUT_AFTER : STEP_DONE;
    }
    if (kind == RECORD_SEND || kind == RECORD_RECEIVE) {
        message(digest, kind == RECORD_SEND ? RECORD_CHANNEL_SENT : RECORD_CHANNEL_RECEIVED, comm, at + sizeof word);
        totals->events++;
    } else if (kind == RECORD_USER_EVENT) {
        channel_count(digest, RECORD_CHANNEL_MARKS, comm, -1, 0, 0);
        record_users_event(digest, comm);
        totals->events++;
    }
    return STEP_DONE;
}

static enum step long_record(struct record_digest *digest, const unsigned char *at)
{
    struct record_totals *totals = digest->totals;
    const struct record_base *base = (const struct record_base *)(const void *)at;
    const struct record_collective *collective = (const struct record_collective *)(const void *)at;
    if ((size_t)base->words * 8 < least_length(base->kind))
        return STEP_BAD;
    if (base->kind == RECORD_ENTER || base->kind == RECORD_ENTER_AT)
        return enter_at(digest, base->ticks, base->state);
    digest->ticks = totals->last_ticks = base->ticks;
    switch (base->kind) {
    case RECORD_LEAVE:
        return left(digest, base->state, base->comm) ? STEP_CUT_AFTER : STEP_DONE;
    case RECORD_SEND:
    case RECORD_RECEIVE:
        message(digest, base->kind == RECORD_SEND ? RECORD_CHANNEL_SENT : RECORD_CHANNEL_RECEIVED, base->comm,
                at + sizeof *base);
        totals->events++;
        break;
    case RECORD_COLLECTIVE:
        totals->call_bytes = collective->sent;
        channel_count(digest, RECORD_CHANNEL_CALLS, base->comm, -1, base->state, collective->sent);
        break;
    case RECORD_USER_EVENT:
        channel_count(digest, RECORD_CHANNEL_MARKS, base->comm, -1, 0, 0);
        record_users_event(digest, base->comm);
        totals->events++;
        break;
    default:
        if (record_is_definition(base))
            record_digest_definition(digest, base);
        break;
    }
    return STEP_DONE;
}

const unsigned char *record_digest_run(struct record_digest *digest, const unsigned char *at, const unsigned char *end,
                                       bool *cut, bool *bad)
{
    struct record_totals *totals = digest->totals;
    *cut = *bad = false;
    while (at < end) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        size_t size = word ? length_of(at, (size_t)(end - at)) : 0;
        if (size == 0) {
            *bad = word != 0;
            return at;
        }
        if (totals->first_ticks == 0 && !(word & RECORD_SHORT)) {
            memcpy(&totals->first_ticks, at + sizeof word, sizeof totals->first_ticks);
            totals->anchor_ticks = totals->segment_ticks = totals->window_ticks = totals->first_ticks;
        }
        enum step step = word & RECORD_SHORT ? short_record(digest, at, word) : long_record(digest, at);
        if (__builtin_expect(step != STEP_DONE, 0)) {
            *bad = step == STEP_BAD;
            *cut = !*bad;
            return step == STEP_CUT_AFTER ? at + size : at;
        }
        at += size;
    }
    return at;
}
