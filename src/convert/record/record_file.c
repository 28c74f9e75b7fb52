/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_file.h"

#include "core/directory.h"
#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

size_t record_file_bytes(const struct record_file *file, uint64_t position, void *data, size_t size)
{
    uint64_t first = RECORD_HEADER_SIZE + file->header.blocks * file->header.block_size; /* of the first in the file */
    uint64_t room = 0;
    if (position < first)
        room = first - position;
    else if (file->end > position)
        room = file->end - position;
    if (position >= first && file->frozen) {
        size_t got = size < room ? size : (size_t)room;
        memcpy(data, file->frozen + (position - first), got);
        return got;
    }
    /* The block that is being filled stays mapped where the file begins; full ones are appended after it. */
    uint64_t at = position < first ? position + file->header.block_size : position - first + RECORD_HEADER_SIZE;
    return directory_read(file->path, at, data, size < room ? size : (size_t)room);
}

/* Finds out which blocks there are. */
static void find_blocks(struct record_file *file)
{
    uint64_t block = file->header.block_size, number = 0;
    uint64_t room = file->size > RECORD_HEADER_SIZE ? file->size - RECORD_HEADER_SIZE : 0;
    uint64_t there = room > block ? (room - block) / block : 0;
    /* A crash of the machine, or a copy that was cut, may have lost blocks that the header counts. */
    if (file->header.blocks > there) {
        file->missing = file->header.blocks - there;
        file->header.blocks = there;
    }
    file->end = RECORD_HEADER_SIZE + file->header.blocks * block;
    /* Blocks after missing ones are not used. */
    if (file->frozen)
        memcpy(&number, file->frozen, sizeof number);
    else if (directory_read(file->path, RECORD_HEADER_SIZE, &number, sizeof number) < sizeof number)
        return;
    /* Killed between writing a full block and numbering the next one, the file still has the old one here. */
    if (file->missing == 0 && number == file->header.blocks)
        file->end += smaller(room, block);
}

static bool header_valid(const struct record_header *header)
{
    uint32_t least = header->kept ? RECORD_VERSION : RECORD_VERSION_READ;
    return header->version >= least && header->version <= RECORD_VERSION && header->block_size >= RECORD_BLOCK_MIN &&
           header->block_size <= RECORD_BLOCK_MAX && (header->block_size & (header->block_size - 1)) == 0 &&
           header->rank >= 0 && header->rank < header->size && header->size <= PROCESS_LIMIT &&
           header->thread < RECORD_THREADS_MAX && header->clock <= RECORD_CLOCK_TSC;
}

static void read_pending(struct record_file *file)
{
    if (file->header.end == RECORD_FINALIZED)
        return;
    if (!file->pending)
        file->pending = memory_new(sizeof *file->pending);
    uint64_t position = 0;
    directory_read(file->path, RECORD_PENDING_AT, &position, sizeof position);
    if (directory_read(file->path, RECORD_PENDING_AT, file->pending, sizeof *file->pending) < sizeof *file->pending ||
        file->pending->position != position)
        file->pending->position = 0; /* it was changing */
}

enum status record_file_open(struct record_file *file, char *path, struct error *err)
{
    struct stat about;
    file->path = path;
    if (stat(directory_place(path), &about) != 0)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot open", path);
    file->size = (uint64_t)about.st_size;
    size_t got = directory_read(path, 0, &file->header, sizeof file->header);
    /* The magic is written last: zeros are a process that is just starting, or was killed while it did. */
    static const char nothing[sizeof file->header.magic];
    if (got < sizeof nothing || memcmp(file->header.magic, nothing, sizeof nothing) == 0)
        return STATUS_END;
    if (got < sizeof file->header || memcmp(file->header.magic, RECORD_MAGIC, sizeof file->header.magic) != 0)
        return error_set(err, ERROR_INPUT, "%s: not a buffer file of a recording", path);
    if (!header_valid(&file->header))
        return error_set(err, ERROR_INPUT, "%s: written by a different version of sight, or damaged", path);
    file->header.host_name[sizeof file->header.host_name - 1] = '\0';
    read_pending(file);
    if (!file->header.kept) {
        find_blocks(file);
        return STATUS_OK;
    }
    file->kept = record_kept_load(path, &file->header, file->size, err);
    if (file->kept)
        file->end = RECORD_HEADER_SIZE + file->kept->size;
    return file->kept ? STATUS_OK : STATUS_FAILED;
}

struct record_request *record_file_requests(const struct record_file *file, size_t *count)
{
    const char *slash = strrchr(file->path, '/');
    char *path;
    *count = 0;
    if (asprintf(&path, "%.*s%.32s-%u" RECORD_REQUESTS_SUFFIX, slash ? (int)(slash - file->path + 1) : 0, file->path,
                 file->header.host_name, (unsigned)file->header.pid) < 0)
        return NULL;
    FILE *stream = fopen(directory_place(path), "re");
    free(path);
    if (!stream)
        return NULL;
    struct record_request *requests = NULL, block[RECORD_REQUESTS_BLOCK];
    size_t got, capacity = 0;
    while ((got = fread(block, sizeof *block, RECORD_REQUESTS_BLOCK, stream)) > 0)
        for (size_t i = 0; i < got; i++)
            /* The table is that of the running process: slots are used again, and those that are done say so. */
            if (block[i].active)
                ARRAY_PUSH(requests, *count, capacity, block[i]);
    fclose(stream);
    return requests;
}

/* True if records were added to the block since it was frozen: it has something where zeros were. */
static bool has_moved(const struct record_file *file)
{
    static const unsigned char zeros[1 << 16];
    unsigned char now[sizeof zeros];
    uint32_t block = file->header.block_size, used = block;
    while (used > 0 && file->frozen[used - 1] == 0)
        used--;
    for (uint32_t at = used; at < block;) {
        size_t got =
            directory_read(file->path, RECORD_HEADER_SIZE + at, now, smaller(sizeof now, (size_t)(block - at)));
        if (got == 0 || memcmp(now, zeros, got) != 0)
            return true;
        at += (uint32_t)got;
    }
    return false;
}

/* The program is running: the header, the number of the block, the block and the requests must be of one moment. If
   only requests have changed meanwhile, the process goes on; if the block keeps changing while it is read, the file is
   used without it. */
bool record_file_freeze(struct record_file *file)
{
    enum { TRIES = 5 };
    if (file->kept) /* it was read as a whole */
        return true;
    uint32_t block = file->header.block_size;
    file->frozen = memory_new(block);
    for (int i = 0; i < TRIES; i++) {
        struct record_header header;
        uint64_t number, after = 0;
        struct stat about;
        read_pending(file);
        size_t got = directory_read(file->path, RECORD_HEADER_SIZE, file->frozen, block);
        memcpy(&number, file->frozen, sizeof number);
        if (directory_read(file->path, 0, &header, sizeof header) < sizeof header ||
            stat(directory_place(file->path), &about) != 0)
            return false;
        directory_read(file->path, RECORD_HEADER_SIZE, &after, sizeof after);
        if (got < block || number != header.blocks || after != number)
            continue;
        free(file->requests);
        file->requests = record_file_requests(file, &file->request_count);
        if (i + 1 < TRIES && has_moved(file))
            continue;
        file->header = header;
        file->size = (uint64_t)about.st_size;
        find_blocks(file);
        return true;
    }
    free(file->requests);
    file->requests = NULL;
    file->request_count = 0;
    free(file->frozen);
    file->frozen = NULL;
    return false;
}

void record_file_close(struct record_file *file)
{
    record_file_stop(file);
    free(file->pending);
    free(file->frozen);
    free(file->requests);
    record_kept_free(file->kept);
    free(file->path);
}

bool record_file_same_process(const struct record_file *left, const struct record_file *right)
{
    /* After exec the same process may be another MPI program, with a first thread of its own. */
    return right->header.thread != 0 && left->header.rank == right->header.rank &&
           left->header.pid == right->header.pid && left->header.host == right->header.host;
}

void record_file_start(struct record_file *file, size_t window_size)
{
    free(file->window);
    file->window = memory_new(window_size);
    file->window_size = window_size;
    file->window_filled = 0;
    file->window_at = file->position = RECORD_HEADER_SIZE;
}

void record_file_stop(struct record_file *file)
{
    free(file->window);
    free(file->sites);
    free(file->paths);
    free(file->functions);
    file->window = NULL;
    file->sites = NULL;
    file->paths = NULL;
    file->functions = NULL;
    file->path_count = file->path_capacity = 0;
    file->function_count = file->function_capacity = 0;
    file->site_count = file->site_capacity = 0;
}

/* Whoever opens a run may need no more than its first records, of a file on another host. Longer than any record. */
enum { FIRST_WINDOW = 4096 };

/* `size` bytes at the position, or NULL where the file ends before. Through a window: all files of a run are read at
   the same time. */
static const unsigned char *file_need(struct record_file *file, size_t size)
{
    if (file->position + size > file->end)
        return NULL;
    if (file->kept)
        return file->kept->bytes + (file->position - RECORD_HEADER_SIZE);
    uint64_t in_window = file->position - file->window_at;
    if (in_window + size > file->window_filled) {
        size_t wanted = file->window_filled == 0 ? (size_t)FIRST_WINDOW : file->window_size;
        file->window_at = file->position;
        file->window_filled = record_file_bytes(file, file->position, file->window, wanted);
        in_window = 0;
        if (file->window_filled < size)
            return NULL;
    }
    return file->window + in_window;
}

/* Looks up the site of a short record. False: there is no such site. */
static bool expand_site(struct record_file *file, uint64_t word)
{
    struct record_enter *enter = &file->expanded.enter;
    enter->site = word >> RECORD_SHORT_STATE & (RECORD_SHORT_SITES - 1);
    if (enter->site >= file->site_count || !file->sites[enter->site].place)
        return false;
    enter->base.words = sizeof *enter / 8;
    enter->base.state = file->sites[enter->site].function;
    enter->base.comm = file->sites[enter->site].comm;
    return true;
}

/* Where a sample is kept, there may have been no room for the definition of a site: then the call is passed over.
   False: it is damage. */
static bool leave_out_call(struct record_file *file)
{
    if (!file->kept)
        return false;
    file->expanded.base.kind = RECORD_VOID;
    file->expanded.base.words = sizeof file->expanded.base / 8;
    file->call_unknown = true;
    file->lost_calls++;
    return true;
}

/* The leave of such a call is passed over as well. */
static const struct record_base *without_unknown(struct record_file *file, const struct record_base *record)
{
    if (!file->call_unknown || record->kind == RECORD_VOID)
        return record;
    if (record->kind == RECORD_LEAVE || record->kind == RECORD_ENTER || record->kind == RECORD_ENTER_AT)
        file->call_unknown = false;
    if (record->kind != RECORD_LEAVE)
        return record;
    file->expanded.base =
        (struct record_base){.kind = RECORD_VOID, .words = sizeof file->expanded.base / 8, .ticks = record->ticks};
    return &file->expanded.base;
}

static void expand_requests(struct record_file *file, uint64_t word)
{
    uint64_t count = word >> RECORD_SHORT_REQUESTS & 0xFFFFFF;
    file->expanded.base.state = (uint16_t)smaller(count, REQUESTS_AT_ONCE_MAX);
    file->expanded.base.comm = (uint32_t)(word >> RECORD_SHORT_REQUEST);
    /* There is no room for a time in the word; the order says enough. */
    file->expanded.base.ticks = file->last_ticks;
}

/* Expands a short record; NULL if it is invalid. */
static const struct record_base *expand(struct record_file *file, const unsigned char *at, uint64_t word, size_t size)
{
    struct record_base base = {.kind = (uint8_t)(word & 0xFF & ~(uint64_t)RECORD_SHORT),
                               .words = (uint8_t)((size + sizeof(struct record_base) - sizeof word) / 8),
                               .state = (uint16_t)(word >> RECORD_SHORT_STATE & (RECORD_SHORT_STATES - 1)),
                               .comm = (uint32_t)(word >> RECORD_SHORT_COMM & (RECORD_SHORT_COMMS - 1)),
                               .ticks = (int64_t)((uint64_t)file->last_ticks + (word >> RECORD_SHORT_TIME))};
    file->expanded.base = base;
    if (base.kind == RECORD_ENTER_AT)
        return expand_site(file, word) || leave_out_call(file) ? &file->expanded.base : NULL;
    if (base.kind == RECORD_REQUESTS)
        expand_requests(file, word);
    if (base.kind == RECORD_SAMPLE) {
        file->expanded.base.state = 0;
        file->expanded.base.comm = (uint32_t)(word >> RECORD_SHORT_PATH & (RECORD_SHORT_PATHS - 1));
    }
    /* What follows the word of a short record is what follows the header of a long one. */
    memcpy(&file->expanded.message.partner, at + sizeof word, size - sizeof word);
    return &file->expanded.base;
}

static size_t short_size(uint64_t word)
{
    uint8_t kind = (uint8_t)(word & ~(uint64_t)RECORD_SHORT);
    bool message = kind == RECORD_SEND || kind == RECORD_RECEIVE || kind == RECORD_VOID;
    return sizeof word + (message ? sizeof(struct record_message) - sizeof(struct record_base) : 0);
}

/* The record that begins with this word, which is not 0; NULL if it is invalid. */
static const struct record_base *record_at(struct record_file *file, uint64_t word, uint64_t room)
{
    bool brief = (word & RECORD_SHORT) != 0;
    struct record_base base = {0};
    memcpy(&base, &word, sizeof word);
    size_t size = brief ? short_size(word) : (size_t)base.words * 8;
    const unsigned char *at = size <= room && (brief || size >= sizeof base) ? file_need(file, size) : NULL;
    if (!at)
        return NULL;
    const struct record_base *record =
        brief ? expand(file, at, word, size) : (const struct record_base *)(const void *)at;
    /* Times add up from short records: a damaged one could leave what the conversion to ns can hold. */
    if (!record || record->ticks > RECORD_TIME_MAX || record->ticks < -RECORD_TIME_MAX)
        return NULL;
    file->position += size;
    file->last_end = record_file_position(file);
    file->last_ticks = record->ticks;
    return without_unknown(file, record);
}

uint64_t record_file_position(const struct record_file *file)
{
    return file->kept ? record_kept_position(file->kept, file->position - RECORD_HEADER_SIZE) : file->position;
}

/* The same of a sample, which is in memory. */
static const struct record_base *kept_next(struct record_file *file)
{
    struct record_kept_stream *kept = file->kept;
    if (file->damaged)
        return NULL;
    size_t at = record_kept_skip(kept, file->position - RECORD_HEADER_SIZE, &file->last_ticks);
    file->position = RECORD_HEADER_SIZE + at;
    if (at >= kept->size)
        return NULL;
    uint64_t word;
    memcpy(&word, kept->bytes + at, sizeof word);
    const struct record_base *record = record_at(file, word, kept->size - at);
    file->damaged = !record;
    return record;
}

const struct record_base *record_file_next(struct record_file *file)
{
    if (file->kept)
        return kept_next(file);
    uint64_t block = file->header.block_size, word = 0;
    while (!file->damaged) {
        uint64_t in_block = (file->position - RECORD_HEADER_SIZE) % block;
        const unsigned char *at = file_need(file, sizeof word);
        if (!at)
            return NULL;
        memcpy(&word, at, sizeof word);
        /* Each block begins with its number, so that one that was never written, or is of an older file, shows. */
        if (in_block == 0) {
            file->damaged = word != (file->position - RECORD_HEADER_SIZE) / block;
            file->position += RECORD_BLOCK_HEAD;
            continue;
        }
        if (word != 0) {
            const struct record_base *record = record_at(file, word, block - in_block);
            file->damaged = !record;
            return record;
        }
        /* An empty block: nothing follows. Elsewhere a zero word is the rest of a block that the next record did not
           fit into. */
        if (in_block == RECORD_BLOCK_HEAD)
            return NULL;
        file->position += block - in_block;
    }
    return NULL;
}

/* Where the records end, within a block: the rest of the one that is being filled is zeros. */
static uint64_t filled_end(const struct record_file *file)
{
    uint64_t block = file->header.block_size, end = RECORD_HEADER_SIZE + file->header.blocks * block;
    size_t used = 0;
    if (!file->frozen || end >= file->end)
        return end;
    used = (size_t)(file->end - end);
    while (used > 0 && file->frozen[used - 1] == 0)
        used--;
    return end + used;
}

/* Short records have the time since the one before: only at the begin of a block is it known without those. */
bool record_file_skip(struct record_file *file, uint64_t bytes)
{
    uint64_t block = file->header.block_size, end = filled_end(file);
    /* A sample is short. */
    if (file->kept || file->position >= end || end - file->position <= bytes)
        return false;
    uint64_t from = end - bytes;
    uint64_t begin = from - (from - RECORD_HEADER_SIZE) % block;
    if (begin > file->position)
        file->position = begin;
    while (file->position < from && record_file_next(file))
        ;
    file->skipped_to = file->position;
    return true;
}

/* The definition after the one at `offset`, in the list of a sample. */
static uint64_t next_kept(const struct record_kept_stream *kept, uint64_t offset)
{
    size_t low = 0, high = kept->definition_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (RECORD_HEADER_SIZE + kept->definitions[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kept->definition_count ? RECORD_HEADER_SIZE + kept->definitions[low] : 0;
}

/* Most definitions are short, and of a file on another host each byte has to be fetched. */
enum { DEFINITION_SHORT = 64 };

static size_t read_definition(const struct record_file *file, uint64_t at, void *record, size_t size)
{
    struct record_base base;
    size_t first = smaller(size, (size_t)DEFINITION_SHORT), got = record_file_bytes(file, at, record, first);
    memcpy(&base, record, sizeof base);
    size_t length = smaller(size, (size_t)base.words * 8);
    if (got == first && length > first)
        got += record_file_bytes(file, at + first, (char *)record + first, length - first);
    return got;
}

bool record_file_definition(const struct record_file *file, uint64_t *offset, void *record, size_t size)
{
    uint64_t at = *offset;
    if (file->kept) {
        at = next_kept(file->kept, at);
    } else if (at == 0) {
        at = file->header.first_definition;
    } else {
        struct record_comm *last = record; /* all definitions begin alike */
        /* Definitions are a list through the file. Only forward: a damaged one must not be a circle. */
        at = last->next > at ? last->next : 0;
    }
    memset(record, 0, size);
    if (at < RECORD_HEADER_SIZE || at >= file->end)
        return false;
    size_t got = size;
    if (file->kept) {
        got = size < file->end - at ? size : (size_t)(file->end - at);
        memcpy(record, file->kept->bytes + (at - RECORD_HEADER_SIZE), got);
    } else {
        got = read_definition(file, at, record, size);
    }
    struct record_base base;
    memcpy(&base, record, sizeof base);
    size_t length = (size_t)base.words * 8;
    if (got < sizeof base + 8 || length < sizeof base + 8 || (length > got && got < size))
        return false;
    if (length < size)
        memset((char *)record + length, 0, size - length);
    *offset = at;
    return base.kind >= RECORD_COMM;
}
