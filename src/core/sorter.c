/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/sorter.h"

#include "core/bytes.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/sort_entries.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    RECORD_MAX = 64 * 1024,
    MEMORY_MIN = 1024 * 1024,
    WRITE_SIZE = 128 * 1024,
    HEADER_MAX = 2 + 4 + 8 + 8, /* of a record in a run */
    SLACK = 16,                 /* numbers are stored and loaded as 8 bytes, whatever their size */
    READ_MIN = 16 * 1024,       /* smaller reads cost more than another level of merging */
    READ_MAX = 256 * 1024,
    FAN_MAX = 128, /* runs merged at once */
    PREFETCH = 12,
    NOBODY = -1
};

/* Set in reader.order at the end of the run: such a reader loses against all others, even those with the largest key.
 */
#define ORDER_ENDED (UINT32_C(1) << 31)

/* Bytes of the file. */
struct run {
    uint64_t begin, end;
};

struct reader {
    struct sort_key key; /* of the current record, which ends at `at` */
    uint32_t order;      /* place of the run: decides between equal keys */
    uint32_t length;
    const unsigned char *at, *end;
    unsigned char *buffer;
    size_t size;
    uint64_t next, stop; /* bytes of the file still to be read */
};

/* The block holds the index from its start upward and the data from its end downward; after the index is room to sort
   it. When runs are read, it serves as their buffers. */
struct sorter {
    unsigned char *block;
    size_t block_size;
    size_t count;              /* entries in the block */
    size_t data;               /* offset of the lowest data */
    bool ordered;              /* the entries arrived in order */
    struct sort_entry *sorted; /* after sort_block */
    size_t next;               /* reading without runs: next entry */
    uint64_t total;
    bool finished; /* no more records are added */

    int fd;
    unsigned char *out;
    size_t out_used;
    uint64_t out_offset;  /* of `out` in the file */
    struct sort_key last; /* key of the last record written: the next is coded relative to it */
    size_t record_limit;  /* no record in the file needs more bytes */
    struct run *runs;
    size_t run_count, run_capacity;

    struct reader readers[FAN_MAX];
    int reader_count;
    int tree[FAN_MAX]; /* of losers; [0] is the winner */
    int runner_up;     /* best of the others, NOBODY if not yet computed */
    bool started;
};

struct sorter *sorter_new(size_t memory)
{
    struct sorter *sorter = memory_new(sizeof *sorter);
    if (memory < MEMORY_MIN)
        memory = MEMORY_MIN;
    /* Offsets in the block are 32 bits wide, so that an entry is 24 bytes. */
    if (memory > UINT32_MAX)
        memory = UINT32_MAX;
    /* The caller's limit is for the block and the buffer that runs are written through, which is needed at the same
       time. */
    sorter->block_size = (memory - WRITE_SIZE) & ~(size_t)15;
    sorter->block = memory_resize(NULL, sorter->block_size);
    sorter->data = sorter->block_size;
    sorter->ordered = true;
    sorter->fd = -1;
    return sorter;
}

void sorter_free(struct sorter *sorter)
{
    if (!sorter)
        return;
    if (sorter->fd >= 0)
        close(sorter->fd);
    free(sorter->block);
    free(sorter->out);
    free(sorter->runs);
    free(sorter);
}

uint64_t sorter_count(const struct sorter *sorter)
{
    return sorter->total;
}

static void sort_block(struct sorter *sorter)
{
    struct sort_entry *entries = (struct sort_entry *)(void *)sorter->block;
    if (sorter->ordered)
        sorter->sorted = entries;
    else
        sorter->sorted = sort_entries(entries, entries + sorter->count, sorter->count);
}

/* Writing runs. A record is: sizes of minor (low) and major (high) in half a byte each, length of the data (255: 4
   bytes follow), major and minor relative to the previous record, data. */

static inline void put_u64(unsigned char *at, uint64_t value)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        value = __builtin_bswap64(value);
    memcpy(at, &value, sizeof value);
}

static inline unsigned bytes_of(uint64_t value)
{
    /* ceil(bits / 8), with bits = 64 - clz. */
    if (value)
        return (71u - (unsigned)__builtin_clzll(value)) >> 3;
    return 0;
}

static enum status write_out(struct sorter *sorter, struct error *err)
{
    for (size_t done = 0; done < sorter->out_used;) {
        ssize_t wrote = pwrite(sorter->fd, sorter->out + done, sorter->out_used - done, (off_t)sorter->out_offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return error_set_errno(err, ERROR_OUTPUT, "cannot write temporary file in %s", temporary_directory());
        done += (size_t)wrote;
        sorter->out_offset += (uint64_t)wrote;
    }
    sorter->out_used = 0;
    return STATUS_OK;
}

static void begin_run(struct sorter *sorter)
{
    uint64_t at = sorter->out_offset + sorter->out_used;
    ARRAY_PUSH(sorter->runs, sorter->run_count, sorter->run_capacity, (struct run){at, at});
    sorter->last = (struct sort_key){0, 0};
}

static void end_run(struct sorter *sorter)
{
    sorter->runs[sorter->run_count - 1].end = sorter->out_offset + sorter->out_used;
}

static inline enum status write_record(struct sorter *sorter, struct sort_key key, const unsigned char *data,
                                       uint32_t length, struct error *err)
{
    size_t limit = HEADER_MAX + (size_t)length;
    if (WRITE_SIZE - sorter->out_used < limit + SLACK) {
        enum status status = write_out(sorter, err);
        if (status != STATUS_OK)
            return status;
    }
    /* Readers fetch the longest record as a whole, so they never meet one that is cut by the end of their buffer. */
    if (limit > sorter->record_limit)
        sorter->record_limit = limit;
    /* With a different major, the previous record's minor is useless. */
    uint64_t major = key.major - sorter->last.major;
    uint64_t minor = major ? key.minor : key.minor - sorter->last.minor;
    unsigned major_bytes = bytes_of(major), minor_bytes = bytes_of(minor);
    unsigned char *start = sorter->out + sorter->out_used, *at = start;
    *at++ = (unsigned char)(major_bytes << 4 | minor_bytes);
    *at++ = (unsigned char)smaller(length, 255);
    if (length >= 255) {
        bytes_put_u32(at, false, length);
        at += 4;
    }
    put_u64(at, major);
    at += major_bytes;
    put_u64(at, minor);
    at += minor_bytes;
    memcpy(at, data, length);
    sorter->out_used += (size_t)(at - start) + length;
    sorter->last = key;
    return STATUS_OK;
}

/* Writes the block's records as a run, or after the last run where they continue it, and empties the block. */
static enum status spill(struct sorter *sorter, struct error *err)
{
    if (sorter->fd < 0 && (sorter->fd = temporary_file(err)) < 0)
        return STATUS_FAILED;
    if (!sorter->out)
        sorter->out = memory_resize(NULL, WRITE_SIZE);
    sort_block(sorter);
    /* The block is in order now; the data are fetched early because their places in memory are not. */
    const struct sort_entry *entry = sorter->sorted, *end = entry + sorter->count;
    if (!sorter->run_count || sort_key_less(entry->key, sorter->last))
        begin_run(sorter);
    for (; entry < end; entry++) {
        if (end - entry > PREFETCH)
            __builtin_prefetch(sorter->block + entry[PREFETCH].offset);
        enum status status = write_record(sorter, entry->key, sorter->block + entry->offset, entry->length, err);
        if (status != STATUS_OK)
            return status;
    }
    end_run(sorter);
    sorter->count = 0;
    sorter->data = sorter->block_size;
    sorter->ordered = true;
    return STATUS_OK;
}

enum status sorter_add(struct sorter *sorter, struct sort_key key, const void *data, size_t length, struct error *err)
{
    assert(length <= RECORD_MAX && !sorter->finished);
    struct sort_entry *entries = (struct sort_entry *)(void *)sorter->block;
    bool ordered = sorter->ordered && (!sorter->count || !sort_key_less(key, entries[sorter->count - 1].key));
    /* Ordered entries need no room for sorting. */
    size_t entry_size = ordered ? sizeof *entries : 2 * sizeof *entries;
    if ((sorter->count + 1) * entry_size + length > sorter->data) {
        enum status status = spill(sorter, err);
        if (status != STATUS_OK)
            return status;
        ordered = true;
    }
    sorter->ordered = ordered;
    sorter->data -= length;
    if (length)
        memcpy(sorter->block + sorter->data, data, length);
    entries[sorter->count++] = (struct sort_entry){key, (uint32_t)sorter->data, (uint32_t)length};
    sorter->total++;
    return STATUS_OK;
}

/* Reading runs. */

static enum status reader_fill(struct sorter *sorter, struct reader *reader, struct error *err)
{
    size_t have = (size_t)(reader->end - reader->at);
    /* What is left of the last read is the beginning of a record: it must be followed by its rest. */
    memmove(reader->buffer, reader->at, have);
    reader->at = reader->buffer;
    while (have < reader->size && reader->next < reader->stop) {
        uint64_t left = reader->stop - reader->next;
        size_t want = reader->size - have;
        if (want > left)
            want = (size_t)left;
        ssize_t got = pread(sorter->fd, reader->buffer + have, want, (off_t)reader->next);
        if (got < 0 && errno == EINTR)
            continue;
        /* An end of file here is a fault: the run's length is known, and nobody else has the file. */
        if (got <= 0) {
            errno = got < 0 ? errno : EIO;
            return error_set_errno(err, ERROR_OUTPUT, "cannot read temporary file in %s", temporary_directory());
        }
        have += (size_t)got;
        reader->next += (uint64_t)got;
    }
    reader->end = reader->buffer + have;
    return STATUS_OK;
}

static inline enum status reader_advance(struct sorter *sorter, struct reader *reader, struct error *err)
{
    static const uint64_t masks[9] = {0,
                                      UINT64_MAX >> 56,
                                      UINT64_MAX >> 48,
                                      UINT64_MAX >> 40,
                                      UINT64_MAX >> 32,
                                      UINT64_MAX >> 24,
                                      UINT64_MAX >> 16,
                                      UINT64_MAX >> 8,
                                      UINT64_MAX};
    if ((size_t)(reader->end - reader->at) < sorter->record_limit && reader->next < reader->stop) {
        enum status status = reader_fill(sorter, reader, err);
        if (status != STATUS_OK)
            return status;
    }
    const unsigned char *at = reader->at;
    /* The largest key there is, and an order above all others: it loses against readers whose records have that key
       too. */
    if (at == reader->end) {
        reader->order |= ORDER_ENDED;
        reader->key = (struct sort_key){UINT64_MAX, UINT64_MAX};
        return STATUS_OK;
    }
    unsigned major_bytes = at[0] >> 4, minor_bytes = at[0] & 15;
    reader->length = at[1];
    at += 2;
    if (reader->length == 255) {
        reader->length = bytes_u32(at, false);
        at += 4;
    }
    uint64_t major = bytes_u64(at, false) & masks[major_bytes];
    at += major_bytes;
    uint64_t minor = bytes_u64(at, false) & masks[minor_bytes];
    /* The mirror of write_record: a minor of a new major is stored as it is. */
    reader->key.minor = minor + (major ? 0 : reader->key.minor);
    reader->key.major += major;
    reader->at = at + minor_bytes + reader->length;
    return STATUS_OK;
}

static inline bool reader_less(const struct reader *a, const struct reader *b)
{
    bool equal = (a->key.major == b->key.major) & (a->key.minor == b->key.minor);
    return sort_key_less(a->key, b->key) | (equal & (a->order < b->order));
}

/* Makes readers of `count` runs, shares the block among them and plays the first matches. */
static enum status begin_reading(struct sorter *sorter, size_t first, int count, struct error *err)
{
    size_t share = sorter->block_size / (size_t)count;
    if (share > READ_MAX)
        share = READ_MAX;
    int winners[2 * FAN_MAX];
    for (int i = 0; i < count; i++) {
        unsigned char *buffer = sorter->block + (size_t)i * share;
        const struct run *run = &sorter->runs[first + (size_t)i];
        sorter->readers[i] = (struct reader){.order = (uint32_t)i,
                                             .at = buffer,
                                             .end = buffer,
                                             .buffer = buffer,
                                             .size = share - SLACK,
                                             .next = run->begin,
                                             .stop = run->end};
        enum status status = reader_advance(sorter, &sorter->readers[i], err);
        if (status != STATUS_OK)
            return status;
        /* The tournament as a binary heap: the readers are the leaves count … 2 count - 1, and node i is won by 2i
           or 2i + 1. */
        winners[count + i] = i;
    }
    for (int node = count - 1; node > 0; node--) {
        int a = winners[2 * node], b = winners[2 * node + 1];
        bool a_wins = reader_less(&sorter->readers[a], &sorter->readers[b]);
        winners[node] = a_wins ? a : b;
        sorter->tree[node] = a_wins ? b : a;
    }
    sorter->tree[0] = winners[1];
    sorter->reader_count = count;
    sorter->runner_up = NOBODY;
    sorter->started = false;
    return STATUS_OK;
}

/* Plays the matches of `player` on its way up after its key has changed. */
static void replay(struct sorter *sorter, int player)
{
    const struct reader *readers = sorter->readers;
    int winner = player;
    for (int node = (player + sorter->reader_count) / 2; node > 0; node /= 2) {
        int other = sorter->tree[node];
        bool lost = reader_less(&readers[other], &readers[winner]);
        sorter->tree[node] = lost ? winner : other;
        winner = lost ? other : winner;
    }
    sorter->tree[0] = winner;
    sorter->runner_up = NOBODY;
    if (winner != player)
        return;
    /* It won again, so it is likely to keep winning: from now on one match is enough, against the best of the others.
       They all lost against it, so they are on its path. */
    for (int node = (player + sorter->reader_count) / 2; node > 0; node /= 2) {
        int other = sorter->tree[node];
        if (sorter->runner_up == NOBODY || reader_less(&readers[other], &readers[sorter->runner_up]))
            sorter->runner_up = other;
    }
}

/* The reader with the next record. */
static inline enum status merge_next(struct sorter *sorter, struct reader **reader, struct error *err)
{
    if (sorter->started) {
        int winner = sorter->tree[0];
        struct reader *current = &sorter->readers[winner];
        enum status status = reader_advance(sorter, current, err);
        if (status != STATUS_OK)
            return status;
        if (sorter->reader_count > 1 &&
            (sorter->runner_up == NOBODY || reader_less(&sorter->readers[sorter->runner_up], current)))
            replay(sorter, winner);
    }
    sorter->started = true;
    *reader = &sorter->readers[sorter->tree[0]];
    if ((*reader)->order & ORDER_ENDED) {
        sorter->started = false; /* if called again, it is still the end */
        return STATUS_END;
    }
    return STATUS_OK;
}

/* Merges `count` runs from `first` on into one at the end of the file, which replaces them in the list. */
static enum status merge_runs(struct sorter *sorter, size_t first, int count, struct error *err)
{
    enum status status = begin_reading(sorter, first, count, err);
    if (status != STATUS_OK)
        return status;
    begin_run(sorter);
    struct reader *reader;
    while ((status = merge_next(sorter, &reader, err)) == STATUS_OK) {
        status = write_record(sorter, reader->key, reader->at - reader->length, reader->length, err);
        if (status != STATUS_OK)
            return status;
    }
    if (status != STATUS_END || write_out(sorter, err) != STATUS_OK)
        return STATUS_FAILED;
    end_run(sorter);
#ifdef FALLOC_FL_PUNCH_HOLE
    /* Frees the disk space if the file system supports it; otherwise only space is lost. */
    for (size_t i = first; i < first + (size_t)count; i++)
        (void)!fallocate(sorter->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)sorter->runs[i].begin,
                         (off_t)(sorter->runs[i].end - sorter->runs[i].begin));
#endif
    /* Equal keys come out in the order of their runs, so the new run takes the place of those it was made of. */
    sorter->runs[first] = sorter->runs[--sorter->run_count];
    size_t behind = sorter->run_count - (first + (size_t)count);
    memmove(&sorter->runs[first + 1], &sorter->runs[first + (size_t)count], behind * sizeof *sorter->runs);
    sorter->run_count -= (size_t)count - 1;
    return STATUS_OK;
}

/* Merges neighbours until the rest can be merged at once. Neighbours, because equal keys keep their order; and round by
   round, so that no record is rewritten much more often than others. */
static enum status reduce_runs(struct sorter *sorter, struct error *err)
{
    size_t smallest = larger(sorter->record_limit + SLACK, (size_t)READ_MIN);
    size_t fan = smaller(sorter->block_size / smallest, (size_t)FAN_MAX);
    for (size_t at = 0; sorter->run_count > fan; at++) {
        if (at + 1 >= sorter->run_count)
            at = 0;
        /* A merge of n runs makes n - 1 fewer: as few as are needed, as every byte merged is written and read again. */
        size_t count = smaller(sorter->run_count - fan + 1, fan);
        count = smaller(count, sorter->run_count - at);
        enum status status = merge_runs(sorter, at, (int)count, err);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status sorter_rewind(struct sorter *sorter, struct error *err)
{
    if (!sorter->finished) {
        sorter->finished = true;
        if (!sorter->run_count) {
            sort_block(sorter);
        } else {
            if (sorter->count && spill(sorter, err) != STATUS_OK)
                return STATUS_FAILED;
            if (write_out(sorter, err) != STATUS_OK || reduce_runs(sorter, err) != STATUS_OK)
                return STATUS_FAILED;
        }
    }
    sorter->next = 0;
    if (sorter->run_count)
        return begin_reading(sorter, 0, (int)sorter->run_count, err);
    return STATUS_OK;
}

enum status sorter_next(struct sorter *sorter, struct sort_key *key, const void **data, size_t *length,
                        struct error *err)
{
    if (!sorter->run_count) {
        if (sorter->next == sorter->count)
            return STATUS_END;
        const struct sort_entry *entry = &sorter->sorted[sorter->next++];
        if (sorter->count - sorter->next > PREFETCH)
            __builtin_prefetch(sorter->block + entry[PREFETCH].offset);
        *key = entry->key;
        *data = sorter->block + entry->offset;
        *length = entry->length;
        return STATUS_OK;
    }
    struct reader *reader;
    enum status status = merge_next(sorter, &reader, err);
    if (status != STATUS_OK)
        return status;
    *key = reader->key;
    *data = reader->at - reader->length;
    *length = reader->length;
    return STATUS_OK;
}
