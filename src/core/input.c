/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/input_source.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_SIZE = 256 * 1024 };

/* What compressed data may become unless there is a limit of one's own: traces shrink to a hundredth at most. 1 GB is
   unpacked from anything: below that, a high ratio harms nobody. */
static const uint64_t UNPACKED_FREELY = 1000000000;
enum { UNPACKED_RATIO = 250 };
static uint64_t unpacked_limit; /* 0: none of one's own */

void input_limit_unpacked(uint64_t bytes)
{
    unpacked_limit = bytes;
}

char *input_escape_name(const char *path)
{
    if (!*path)
        return memory_copy_string("''"); /* a message would begin with nothing */
    char *name = memory_new(4 * strlen(path) + 1), *to = name;
    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte < 0x20 || byte == 0x7f)
            to += sprintf(to, "\\x%02x", byte);
        else
            *to++ = *path;
    }
    return name;
}

static enum status cannot_read(const struct input *input, struct error *err)
{
    /* Making the number may change errno, which says why. */
    int saved = errno;
    char number[TEXT_NUMBER_SIZE];
    text_thousands(number, input->offset + input_available(input));
    errno = saved;
    return error_set_errno(err, ERROR_INPUT, "%s: byte %s: cannot read", input->name, number);
}

static ssize_t read_some(int fd, void *to, size_t size)
{
    ssize_t got;
    do
        got = read(fd, to, size);
    while (got < 0 && errno == EINTR);
    return got;
}

enum status input_fill_raw(struct input *input, size_t want, struct error *err)
{
    struct input_source *source = input->source;
    if (source->fd < 0) {
        /* Memory: all there is has been in `raw` from the beginning. */
        source->raw_ended = true;
        return STATUS_OK;
    }
    size_t have = (size_t)(source->raw_end - source->raw);
    memmove(source->raw_buffer, source->raw, have);
    ssize_t got = 0;
    while (have < want && (got = read_some(source->fd, source->raw_buffer + have, INPUT_RAW_SIZE - have)) > 0) {
        have += (size_t)got;
        source->position += (uint64_t)got;
    }
    source->raw = source->raw_buffer;
    source->raw_end = source->raw + have;
    if (got < 0)
        return cannot_read(input, err);
    source->raw_ended = have < want;
    return STATUS_OK;
}

/* Plain data are read straight into the buffer, except for the first bytes, which were read to choose the codec. */
static enum status read_plain(struct input *input, unsigned char *to, size_t size, size_t *got, struct error *err)
{
    struct input_source *source = input->source;
    size_t have = (size_t)(source->raw_end - source->raw);
    if (have) {
        *got = smaller(have, size);
        memcpy(to, source->raw, *got);
        source->raw += *got;
        return STATUS_OK;
    }
    ssize_t result = source->fd < 0 ? 0 : read_some(source->fd, to, size);
    if (result < 0)
        return cannot_read(input, err);
    *got = (size_t)result;
    source->position += (uint64_t)result;
    source->ended = result == 0;
    return STATUS_OK;
}

/* Of the file, that the codec has taken. */
static uint64_t packed_bytes(const struct input_source *source)
{
    return (source->fd < 0 ? source->size : source->position) - (uint64_t)(source->raw_end - source->raw);
}

/* A small file must not fill memory and disks, by mistake or on purpose. */
static enum status check_unpacked(const struct input *input, struct error *err)
{
    const struct input_source *source = input->source;
    uint64_t packed = packed_bytes(source);
    /* 0 bytes taken: nothing can have been made of them, but dividing must be safe. */
    uint64_t ratio = source->unpacked / larger(packed, UINT64_C(1));
    bool allowed = source->unpacked <= UNPACKED_FREELY || ratio <= UNPACKED_RATIO;
    if (unpacked_limit)
        allowed = source->unpacked <= unpacked_limit;
    if (allowed)
        return STATUS_OK;
    char bytes[TEXT_NUMBER_SIZE], times[TEXT_NUMBER_SIZE], number[TEXT_NUMBER_SIZE];
    text_bytes(bytes, unpacked_limit ? unpacked_limit : UNPACKED_FREELY);
    text_thousands(times, ratio);
    text_thousands(number, packed);
    return error_set(err, ERROR_INPUT,
                     "%s: byte %s: unpacks to more than %s, %s times its size (--max-unpacked SIZE allows more)",
                     input->name, number, bytes, times);
}

/* Data are compressed frame by frame: each end must be where the table says. Before the table was used nothing depends
   on it. False: what was read is from another place than it should be. */
static bool check_table(struct input_source *source)
{
    if (!source->table || seek_table_agrees(source->table, packed_bytes(source), source->unpacked))
        return true;
    if (source->sought)
        return false;
    frames_free(source->frames);
    source->frames = NULL;
    seek_table_free(source->table);
    source->table = NULL;
    return true;
}

static void note_fault(struct input *input, const char *what)
{
    struct input_source *source = input->source;
    char number[TEXT_NUMBER_SIZE];
    text_thousands(number, packed_bytes(source));
    snprintf(source->fault, sizeof source->fault, "compressed data %s, at byte %s of the file", what, number);
    input->fault = source->fault;
}

enum status input_begin_at(struct input *input, uint64_t packed, uint64_t unpacked, struct error *err)
{
    struct input_source *source = input->source;
    if (lseek(source->fd, (off_t)(source->start + packed), SEEK_SET) < 0)
        return cannot_read(input, err);
    if (source->codec->restart)
        source->codec->restart(source->codec_state);
    source->position = packed;
    source->unpacked = unpacked;
    source->raw = source->raw_end;
    source->raw_ended = source->ended = false;
    return STATUS_OK;
}

/* Reads what is in whole frames. Nothing: what follows is not in one, and it is the codec's turn to say what it is. */
static enum status read_frames(struct input *input, unsigned char *to, size_t size, size_t *got, struct error *err)
{
    struct input_source *source = input->source;
    *got = frames_read(source->frames, to, size);
    source->position = source->table->packed[frames_next(source->frames)];
    source->unpacked += *got;
    if (*got > 0)
        return check_unpacked(input, err);
    source->piecemeal = true;
    return input_begin_at(input, source->position, source->unpacked, err);
}

static enum status read_piecemeal(struct input *input, unsigned char *to, size_t size, size_t *got, struct error *err)
{
    static const char *const faults[] = {[DECODED_CUT] = "end early",
                                         [DECODED_WIDE] = "need a larger window than this build of zstd has",
                                         [DECODED_DAMAGED] = "are damaged"};
    struct input_source *source = input->source;
    enum decoded result = DECODED_MORE;
    *got = 0;
    /* A codec may take bytes without giving any (headers, a block's beginning), but 0 would say that the data end. */
    while (*got == 0 && result == DECODED_MORE) {
        if (source->raw == source->raw_end && !source->raw_ended && input_fill_raw(input, 1, err) != STATUS_OK)
            return STATUS_FAILED;
        struct input_flow flow = {source->raw, source->raw_end, to, to + size, source->raw_ended, false};
        result = source->codec->decode(source->codec_state, &flow);
        source->raw = flow.in;
        *got = (size_t)(flow.out - to);
        source->unpacked += *got;
        if (flow.frame_ended && !check_table(source))
            result = DECODED_DAMAGED;
    }
    if (check_unpacked(input, err) != STATUS_OK)
        return STATUS_FAILED;
    /* What was decoded before the fault is used: it is reported, and the reader goes on with what there is. */
    source->ended = result != DECODED_MORE;
    if (faults[result])
        note_fault(input, faults[result]);
    return STATUS_OK;
}

static enum status read_decoded(struct input *input, unsigned char *to, size_t size, size_t *got, struct error *err)
{
    if (input->source->frames && !input->source->piecemeal) {
        enum status status = read_frames(input, to, size, got, err);
        if (status != STATUS_OK || *got > 0)
            return status;
    }
    return read_piecemeal(input, to, size, got, err);
}

static enum status cannot_spool(const char *what, struct error *err)
{
    return error_set_errno(err, ERROR_OUTPUT, "cannot %s temporary file in %s", what, temporary_directory());
}

static enum status write_spool(struct input_source *source, const unsigned char *data, size_t size, struct error *err)
{
    for (size_t done = 0; done < size;) {
        ssize_t wrote = pwrite(source->spool, data + done, size - done, (off_t)(source->spooled + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return cannot_spool("write", err);
        done += (size_t)wrote;
    }
    source->spooled += size;
    source->replayed = source->spooled;
    return STATUS_OK;
}

static enum status read_spool(struct input_source *source, unsigned char *to, size_t size, size_t *got,
                              struct error *err)
{
    ssize_t result;
    do
        result = pread(source->spool, to, size, (off_t)source->replayed);
    while (result < 0 && errno == EINTR);
    /* The spool is as long as what was written to it: less is a fault of the disk, or somebody cut the file. */
    if (result == 0)
        errno = EIO;
    if (result <= 0)
        return cannot_spool("read", err);
    *got = (size_t)result;
    source->replayed += *got;
    return STATUS_OK;
}

/* Reads some more data; *got is 0 at the end. */
static enum status read_data(struct input *input, unsigned char *to, size_t size, size_t *got, struct error *err)
{
    struct input_source *source = input->source;
    *got = 0;
    if (source->replayed < source->spooled) {
        size_t left = (size_t)smaller(source->spooled - source->replayed, (uint64_t)size);
        return read_spool(source, to, left, got, err);
    }
    if (source->ended)
        return STATUS_OK;
    enum status status =
        input_source_is_plain(source) ? read_plain(input, to, size, got, err) : read_decoded(input, to, size, got, err);
    /* Written at once, not at the rewind: the source cannot be asked again. */
    if (status == STATUS_OK && source->spool >= 0 && *got)
        status = write_spool(source, to, *got, err);
    return status;
}

/* Whole frames are unpacked in place if there is room, after what may be left of the one before. */
static size_t first_capacity(const struct input_source *source)
{
    return source->frames ? frames_size(source->frames) + INPUT_RAW_SIZE : BUFFER_SIZE;
}

/* Room after the buffered bytes. The buffer grows only when it is full, so it is never larger than twice the data. */
static size_t make_room(struct input *input, size_t want)
{
    size_t have = input_available(input);
    if (have < input->capacity) {
        memmove(input->buffer, input->at, have);
    } else {
        size_t first = first_capacity(input->source);
        size_t grown = input->capacity ? 2 * input->capacity : first;
        /* A record of known length that does not fit needs one step of growing, not many. Below the first size the
           wish is so small that doubling has met it. */
        if (grown > want && want > input->capacity && want >= first)
            grown = want;
        input->buffer = memory_resize(input->buffer, grown);
        input->capacity = grown;
    }
    input->at = input->buffer;
    input->end = input->at + have;
    return input->capacity - have;
}

enum status input_fill(struct input *input, size_t want, struct error *err)
{
    while (input_available(input) < want) {
        if (input->ended)
            return STATUS_END;
        size_t room = input->buffer ? (size_t)(input->buffer + input->capacity - input->end) : 0;
        size_t have = input_available(input);
        /* Moving a few bytes to the front is cheaper than a small read. */
        if (room < want - have || (input->at > input->buffer && have <= INPUT_RAW_SIZE))
            room = make_room(input, want);
        size_t got;
        if (read_data(input, (unsigned char *)(uintptr_t)input->end, room, &got, err) != STATUS_OK)
            return STATUS_FAILED;
        input->end += got;
        input->ended = got == 0;
    }
    return STATUS_OK;
}

static void drop_buffered(struct input *input, uint64_t offset)
{
    input->at = input->end = input->buffer;
    input->offset = offset;
    input->ended = false;
}

/* Skips by seeking, but not past the end of the file, so that the end is found by reading. Returns bytes skipped. */
static uint64_t seek_over(struct input *input, uint64_t n)
{
    struct input_source *source = input->source;
    uint64_t left = 0;
    if (source->replayed < source->spooled) {
        left = smaller(n, source->spooled - source->replayed);
        source->replayed += left;
    } else if (source->seekable && input_source_is_plain(source) && source->raw == source->raw_end &&
               source->position < source->size) {
        left = smaller(n, source->size - source->position);
        if (lseek(source->fd, (off_t)(source->start + source->position + left), SEEK_SET) < 0)
            return 0;
        source->position += left;
    }
    if (left)
        drop_buffered(input, input->offset + left);
    return left;
}

enum status input_skip(struct input *input, uint64_t n, struct error *err)
{
    for (;;) {
        size_t have = input_available(input);
        size_t taken = (size_t)smaller(n, (uint64_t)have);
        if (taken) /* before the first reading there is no buffer */
            input_consume(input, taken);
        n -= taken;
        if (!n)
            return STATUS_OK;
        /* Shorter ways are read over: that costs less than refilling the buffer after a seek. */
        if (n > BUFFER_SIZE)
            n -= seek_over(input, n);
        if (!n)
            return STATUS_OK;
        enum status status = input_fill(input, 1, err);
        if (status != STATUS_OK)
            return status;
    }
}

enum status input_check_end(struct input *input, struct error *err)
{
    enum status status = STATUS_OK;
    /* Checksums stand at the end of compressed data: damage may show only when all of it has been read. Plain data
       have none. */
    while (!input_source_is_plain(input->source) && status == STATUS_OK &&
           (status = input_fill(input, 1, err)) == STATUS_OK)
        input_consume(input, input_available(input));
    if (status == STATUS_FAILED)
        return status;
    return STATUS_OK;
}

enum status input_keep(struct input *input, struct error *err)
{
    struct input_source *source = input->source;
    assert(input->offset == 0);
    if (source->kept)
        return STATUS_OK;
    bool again = source->table || (input_source_is_plain(source) && (source->fd < 0 || source->seekable));
    if (!again) {
        source->spool = temporary_file(err);
        /* Peeked data are not in the spool yet. */
        if (source->spool < 0 || write_spool(source, input->at, input_available(input), err) != STATUS_OK)
            return STATUS_FAILED;
    }
    source->kept = true;
    return STATUS_OK;
}

/* The data after those in the buffer are not wanted, but those from byte `unpacked` on, which is byte `packed` of the
   file: where a frame begins, if there are any. */
static enum status go_to(struct input *input, uint64_t packed, uint64_t unpacked, struct error *err)
{
    struct input_source *source = input->source;
    if (source->frames)
        frames_begin(source->frames, seek_table_frame(source->table, unpacked));
    source->piecemeal = false;
    drop_buffered(input, unpacked);
    return input_begin_at(input, packed, unpacked, err);
}

enum status input_rewind(struct input *input, struct error *err)
{
    struct input_source *source = input->source;
    if (!source->kept)
        return error_set(err, ERROR_INPUT, "%s: cannot be read a second time", input->name);
    if (source->spool >= 0) {
        source->replayed = 0;
    } else if (source->fd < 0) {
        /* The whole of the data is in the buffer, which starts at offset 0. */
        input->at -= input->offset;
        input->offset = 0;
        return STATUS_OK;
    } else if (input->offset == (uint64_t)(input->at - input->buffer)) {
        /* Everything consumed is still in the buffer: short files are read only once. */
        input->at = input->buffer;
        input->offset = 0;
        return STATUS_OK;
    } else {
        return go_to(input, 0, 0, err);
    }
    drop_buffered(input, 0);
    return STATUS_OK;
}

void input_unpack_alone(struct input *input)
{
    if (input->source->frames)
        frames_alone(input->source->frames);
}

unsigned input_threads(const struct input *input)
{
    return input->source->frames ? frames_threads(input->source->frames) : 1;
}

bool input_can_seek(const struct input *input)
{
    const struct input_source *source = input->source;
    /* Standard input that was handed over in the middle has offsets of its own; data in the spool have none in the
       file. */
    return source->seekable && (input_source_is_plain(source) || source->table) && source->fd >= 0 &&
           source->start == 0 && source->spool < 0;
}

/* To the frame that holds the byte, and over what comes before it there. */
static enum status seek_in_frames(struct input *input, uint64_t offset, struct error *err)
{
    struct input_source *source = input->source;
    size_t frame = seek_table_frame(source->table, offset);
    source->sought = true;
    /* Within the frame that is being read there may be less to decode from here. */
    bool ahead = offset >= input->offset && source->table->unpacked[frame] <= source->unpacked;
    if (!ahead && go_to(input, source->table->packed[frame], source->table->unpacked[frame], err) != STATUS_OK)
        return STATUS_FAILED;
    /* As in plain files, a place past the end is allowed; there are no data then. */
    return input_skip(input, offset - input->offset, err) == STATUS_FAILED ? STATUS_FAILED : STATUS_OK;
}

enum status input_seek(struct input *input, uint64_t offset, struct error *err)
{
    struct input_source *source = input->source;
    size_t behind = input->buffer ? (size_t)(input->end - input->at) : 0;
    /* Most seeks go a short way forward, which needs no system call. */
    if (offset == input->offset)
        return STATUS_OK;
    if (offset > input->offset && offset - input->offset <= behind) {
        input_consume(input, (size_t)(offset - input->offset));
        return STATUS_OK;
    }
    /* The table was there when the caller asked, and turned out to be wrong. */
    if (!input_can_seek(input))
        return error_set(err, ERROR_INPUT, "%s: compressed data do not match their seek table", input->name);
    return source->table ? seek_in_frames(input, offset, err) : go_to(input, offset, offset, err);
}

void input_progress(const struct input *input, uint64_t *done, uint64_t *total)
{
    const struct input_source *source = input->source;
    /* The first pass has read the file to its end; the second one goes through the spool. */
    if (source->replayed < source->spooled && source->ended) {
        *done = source->replayed;
        *total = source->spooled;
    } else if (source->fd < 0 && input_source_is_plain(source)) {
        *done = input->offset;
        *total = source->size;
    } else {
        *done = source->fd < 0 ? source->size - (uint64_t)(source->raw_end - source->raw) : source->position;
        *total = source->size;
    }
}

uint64_t input_size(const struct input *input)
{
    const struct input_source *source = input->source;
    if (source->table)
        return seek_table_size(source->table);
    return input_source_is_plain(source) ? source->size : 0;
}
