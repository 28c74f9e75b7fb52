/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG (version 1) of MPE-1: blocks of records without any file header; byte order and block size are found out. Two
   passes: the definitions of MPI's states stand at the end. Facts: clog(5). */
#include "convert/mpe1/mpe1.h"
#include "core/bytes.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <string.h>

enum {
    CLOG_END_OF_LOG = -2,
    CLOG_END_OF_BLOCK = -1,
    CLOG_RAW = 1,
    CLOG_MESSAGE,
    CLOG_COLLECTIVE,
    CLOG_COMM,
    CLOG_EVENTDEF,
    CLOG_STATEDEF,
    CLOG_SITE,
    CLOG_SHIFT,
    CLOG_KINDS,
    CLOG_HEADER = 24,
    CLOG_RECORD_MAX = 80,
    CLOG_NAME = 16,
    CLOG_COLOUR = 24,
    CLOG_BLOCK = 65536, /* MPE's; 1024 before MPICH 1.2 */
    CLOG_ROOM = 136,    /* MPE leaves at most this after a block's end record */
    CLOG_BLOCK_LIMIT = 1 << 24
};

struct clog_state {
    struct mpe1_ids ids;
    bool big_endian, quiet, end_of_log;
    uint64_t block_size, block_left;
    uint64_t used;
    uint64_t counts[CLOG_KINDS + 2]; /* by type + 2 */
};

/* Bytes of a record by its type; 0 for an unknown type. */
static size_t record_size(int32_t type)
{
    static const uint8_t sizes[CLOG_KINDS] = {0, 56, 48, 48, 40, 48, 80, 72, 32};
    if (type == CLOG_END_OF_LOG || type == CLOG_END_OF_BLOCK)
        return CLOG_HEADER;
    if (type > 0 && type < CLOG_KINDS)
        return sizes[type];
    return 0;
}

/* True if a record's header (24 bytes) says type and length that fit. With no magic anywhere, what shows a record is
   that type and length fit each other. */
static bool record_is_here(const unsigned char *at, bool big_endian)
{
    size_t size = record_size(bytes_i32(at + 8, big_endian));
    return size > 0 && bytes_i32(at + 12, big_endian) == (int32_t)(size / 8);
}

/* The same for a file before anything is known: time and process must be plausible too. Both orders of bytes are tried:
 * whichever makes sense is it. */
static bool header_is_valid(const unsigned char *at, bool big_endian)
{
    int32_t process = bytes_i32(at + 16, big_endian);
    int64_t ignored;
    return record_is_here(at, big_endian) && time_from_seconds(bytes_f64(at, big_endian), &ignored) &&
           (bytes_i32(at + 8, big_endian) < 0 || (process >= 0 && process < PROCESS_LIMIT));
}

static int clog_probe(const unsigned char *data, size_t size)
{
    if (size < CLOG_HEADER)
        return 0;
    for (int order = 0; order < 2; order++) {
        bool big_endian = order == 0;
        if (!header_is_valid(data, big_endian))
            continue;
        size_t first = record_size(bytes_i32(data + 8, big_endian));
        if (size >= first + CLOG_HEADER && header_is_valid(data + first, big_endian))
            return 90;
        return 70;
    }
    return 0;
}

/* Walks the first block: *at is after its end record (*ended), or at a place without a record. Sets the block size if
   the log ends there. */
static enum status walk_first_block(struct reader *reader, size_t *at, bool *ended, struct error *err)
{
    struct clog_state *state = reader->state;
    struct input *input = reader->input;
    *at = 0;
    *ended = false;
    while (*at < CLOG_BLOCK_LIMIT && !*ended) {
        enum status status = input_need(input, *at + CLOG_HEADER, err);
        if (status == STATUS_FAILED)
            return status;
        if (status == STATUS_END || !record_is_here(input->at + *at, state->big_endian))
            return STATUS_OK;
        int32_t type = bytes_i32(input->at + *at + 8, state->big_endian);
        *at += record_size(type);
        *ended = type < 0;
        if (type == CLOG_END_OF_LOG)
            state->block_size = *at;
    }
    return STATUS_OK;
}

/* *valid: there is a record at the first `wanted` multiples of `size`, as far as the file goes, but at least at the
   first. */
static enum status blocks_begin(struct reader *reader, size_t size, size_t wanted, bool *valid, struct error *err)
{
    const struct clog_state *state = reader->state;
    *valid = false;
    for (size_t i = 1; i <= wanted; i++) {
        enum status status = input_need(reader->input, i * size + CLOG_HEADER, err);
        if (status != STATUS_OK)
            return status == STATUS_FAILED ? status : STATUS_OK;
        *valid = record_is_here(reader->input->at + i * size, state->big_endian);
        if (!*valid)
            return STATUS_OK;
    }
    return STATUS_OK;
}

/* The file does not state the block size: it is the smallest power of two after the first block's end at which a record
   begins. MPE's end records are so close to the block's end that they suffice, even if the second block is damaged. If
   the first block is damaged, several blocks must begin correctly. */
static enum status find_block_size(struct reader *reader, struct error *err)
{
    struct clog_state *state = reader->state;
    size_t at, size = 256;
    bool ended;
    if (walk_first_block(reader, &at, &ended, err) != STATUS_OK)
        return STATUS_FAILED;
    if (state->block_size)
        return STATUS_OK;
    while (size < at || (!ended && size < 1024))
        size *= 2;
    state->block_size = at > CLOG_BLOCK || (ended && size - at <= CLOG_ROOM) ? size : CLOG_BLOCK;
    if (ended && size - at <= CLOG_ROOM)
        return STATUS_OK;
    for (; size <= CLOG_BLOCK_LIMIT; size *= 2) {
        bool valid;
        if (blocks_begin(reader, size, !ended && size <= CLOG_BLOCK ? 4 : 1, &valid, err) != STATUS_OK)
            return STATUS_FAILED;
        if (valid) {
            state->block_size = size;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

static void structure_damage(struct reader *reader, const char *what, int64_t value)
{
    struct clog_state *state = reader->state;
    if (!state->quiet)
        reader_damage(reader, reader->input->offset, "%s (%lld)", what, (long long)value);
}

static enum status skip_block(struct reader *reader, struct error *err)
{
    struct clog_state *state = reader->state;
    uint64_t left = state->block_left;
    state->block_left = state->block_size;
    if (input_skip(reader->input, left, err) == STATUS_FAILED)
        return STATUS_FAILED;
    return STATUS_OK;
}

static void take(struct reader *reader, int32_t type)
{
    struct clog_state *state = reader->state;
    size_t size = record_size(type);
    input_consume(reader->input, size);
    state->block_left -= size;
    state->counts[type + 2]++;
}

/* Handles everything between records; *found: a complete record is at input->at. */
static enum status step(struct reader *reader, int32_t *type, bool *found, struct error *err)
{
    struct clog_state *state = reader->state;
    struct input *input = reader->input;
    enum status status = input_need(input, CLOG_HEADER, err);
    if (status == STATUS_END)
        structure_damage(reader, "file ends without an end-of-log record: bytes left", (int64_t)input_available(input));
    if (status != STATUS_OK)
        return status;
    if (state->block_left < CLOG_HEADER) {
        structure_damage(reader, "block has no end-of-block record: bytes left", (int64_t)state->block_left);
        return skip_block(reader, err);
    }
    *type = bytes_i32(input->at + 8, state->big_endian);
    size_t size = record_size(*type);
    if (size == 0 || size > state->block_left || bytes_i32(input->at + 12, state->big_endian) != (int32_t)(size / 8)) {
        if (size == 0)
            structure_damage(reader, "record of unknown kind", *type);
        else
            structure_damage(reader, "record length does not match its kind",
                             bytes_i32(input->at + 12, state->big_endian));
        return skip_block(reader, err);
    }
    status = input_need(input, size, err);
    if (status == STATUS_END)
        structure_damage(reader, "file ends inside a record: bytes of it", (int64_t)input_available(input));
    if (status != STATUS_OK)
        return status;
    if (*type < 0) {
        take(reader, *type);
        state->used = input->offset;
        state->end_of_log = *type == CLOG_END_OF_LOG;
        if (state->end_of_log)
            return STATUS_END;
        return skip_block(reader, err);
    }
    *found = true;
    return STATUS_OK;
}

static enum status next_record(struct reader *reader, int32_t *type, struct error *err)
{
    bool found = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !found)
        status = step(reader, type, &found, err);
    return status;
}

/* A text field as a string of its own in `text`. */
static void copy_text(char *text, const unsigned char *at, size_t size)
{
    size_t length = strnlen((const char *)at, size - 1);
    memcpy(text, at, length);
    text[length] = '\0';
}

/* States of MPI are defined at the end, by process 0; user's states where they were described. Constants are raw
   events. */
static void define(struct reader *reader, int32_t type, const unsigned char *body)
{
    struct clog_state *state = reader->state;
    char name[CLOG_NAME], colour[CLOG_COLOUR];
    if (type == CLOG_STATEDEF) {
        int32_t numbers[3] = {bytes_i32(body, state->big_endian), bytes_i32(body + 4, state->big_endian),
                              bytes_i32(body + 8, state->big_endian)};
        copy_text(colour, body + 16, CLOG_COLOUR);
        copy_text(name, body + 40, CLOG_NAME);
        mpe1_define_state(&state->ids, reader, numbers, colour, name);
    } else if (type == CLOG_EVENTDEF) {
        copy_text(name, body + 8, CLOG_NAME);
        mpe1_define_mark(&state->ids, reader, bytes_i32(body, state->big_endian), name);
    } else if (type == CLOG_RAW && bytes_i32(body, state->big_endian) == MPE1_CONSTANT) {
        copy_text(name, body + 16, CLOG_NAME);
        defs_add_constant(reader->defs, name, bytes_i32(body + 4, state->big_endian));
    }
}

static void restart(struct reader *reader)
{
    struct clog_state *state = reader->state;
    state->block_left = state->block_size;
    memset(state->counts, 0, sizeof state->counts);
}

/* Steps over plain events: the first pass wants only definitions and the largest process number. */
static void skip_events(struct reader *reader, uint32_t *largest)
{
    struct clog_state *state = reader->state;
    size_t available = input_available(reader->input);
    size_t room = available < state->block_left ? available : (size_t)state->block_left;
    const unsigned char *begin = reader->input->at, *at = begin,
                        *end = begin + (room > CLOG_RECORD_MAX ? room - CLOG_RECORD_MAX : 0);
    const bool big_endian = state->big_endian;
    /* Seven words of eight bytes. Constants are raw events, too, and definitions. */
    while (at < end && bytes_i32(at + 8, big_endian) == CLOG_RAW && bytes_i32(at + 12, big_endian) == 7 &&
           bytes_i32(at + CLOG_HEADER, big_endian) != MPE1_CONSTANT) {
        uint32_t process = bytes_u32(at + 16, big_endian);
        if (process < PROCESS_LIMIT && process >= *largest)
            *largest = process + 1;
        at += 56;
    }
    state->block_left -= (uint64_t)(at - begin);
    input_consume(reader->input, (size_t)(at - begin));
}

/* One pass for definitions and the largest process number, which the format does not state. */
static enum status clog_open(struct reader *reader, struct error *err)
{
    struct clog_state *state = reader->state;
    state->big_endian = header_is_valid(reader->input->at, true);
    if (find_block_size(reader, err) != STATUS_OK)
        return STATUS_FAILED;
    restart(reader);
    int32_t type;
    uint32_t largest = 0;
    enum status status;
    while (skip_events(reader, &largest), (status = next_record(reader, &type, err)) == STATUS_OK) {
        uint32_t process = bytes_u32(reader->input->at + 16, state->big_endian);
        if (process < PROCESS_LIMIT && process >= largest)
            largest = process + 1;
        define(reader, type, reader->input->at + CLOG_HEADER);
        take(reader, type);
    }
    if (status == STATUS_FAILED)
        return status;
    reader->defs->processes = largest;
    reader->total = larger(input_size(reader->input), reader->input->offset);
    reader->used = state->end_of_log ? reader->total : reader->input->offset;
    state->quiet = true;
    restart(reader);
    return input_rewind(reader->input, err);
}

static void raw_event(struct reader *reader, const unsigned char *body, struct batch *batch, struct event *event)
{
    struct clog_state *state = reader->state;
    int32_t id = bytes_i32(body, state->big_endian), data = bytes_i32(body + 4, state->big_endian);
    const char *text = (const char *)body + 16;
    size_t length = strnlen(text, CLOG_NAME - 1);
    if (id == MPE1_SEND || id == MPE1_RECEIVE) {
        mpe1_set_message(event, id, data, text, length);
        /* Tag and size share 15 characters: the size may have lost its last digits, and nothing shows how many. */
        if (length == MPE1_TEXT)
            reader_count(reader, "message text cut at 15 characters", 1);
        return;
    }
    mpe1_set_role(&state->ids, reader, id, event);
    event->value = data;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    batch_set_payload(batch, event, text, length);
    event->flags |= length > 0 ? EVENT_PAYLOAD_TEXT : 0;
}

/* MPE has never written this kind; the format describes it. */
static void message_record(struct reader *reader, const unsigned char *body, struct event *event)
{
    struct clog_state *state = reader->state;
    bool big_endian = state->big_endian;
    int32_t id = bytes_i32(body, big_endian), bytes = bytes_i32(body + 16, big_endian);
    if (id != MPE1_SEND && id != MPE1_RECEIVE) {
        mpe1_set_role(&state->ids, reader, id, event);
        return;
    }
    mpe1_set_message(event, id, bytes_i32(body + 8, big_endian), "", 0);
    event->tag = bytes_i32(body + 4, big_endian);
    if (bytes < 0)
        return;
    if (id == MPE1_SEND)
        event->bytes_sent = bytes;
    else
        event->bytes_received = bytes;
}

static void collective_record(struct reader *reader, const unsigned char *body, struct event *event)
{
    struct clog_state *state = reader->state;
    const uint64_t *role = map_find(&state->ids.roles, bytes_u32(body, state->big_endian));
    bool mark = role && (*role & 0xff) == EVENT_MARK + 1;
    if (role && (!mark || reader->defs->marks[*role >> 8].defined)) {
        mpe1_set_role(&state->ids, reader, bytes_i32(body, state->big_endian), event);
        return;
    }
    event->kind = EVENT_COLLECTIVE;
    event->tag = bytes_i32(body + 4, state->big_endian);
    int32_t bytes = bytes_i32(body + 12, state->big_endian);
    event->bytes_sent = bytes >= 0 ? bytes : BYTES_UNKNOWN;
}

/* Translates the record at `at`; false if it gives no event. */
static bool record_event(struct reader *reader, int32_t type, const unsigned char *at, struct batch *batch)
{
    struct clog_state *state = reader->state;
    bool big_endian = state->big_endian;
    int32_t id = bytes_i32(at + CLOG_HEADER, big_endian);
    if (type > CLOG_COLLECTIVE || (type == CLOG_RAW && id == MPE1_CONSTANT))
        return false;
    if (type != CLOG_COLLECTIVE && id < MPE1_RECEIVE) {
        reader_count(reader, "reserved event", 1);
        return false;
    }
    struct event *event = &batch->events[batch->count];
    *event = EVENT_NOTHING;
    event->process = bytes_u32(at + 16, big_endian);
    if (!time_from_seconds(bytes_f64(at, big_endian), &event->time_ns) || event->process >= PROCESS_LIMIT) {
        reader_damage(reader, reader->input->offset, "invalid time or process (%g s, process %d)",
                      bytes_f64(at, big_endian), (int)event->process);
        return false;
    }
    if (type == CLOG_RAW)
        raw_event(reader, at + CLOG_HEADER, batch, event);
    else if (type == CLOG_MESSAGE)
        message_record(reader, at + CLOG_HEADER, event);
    else
        collective_record(reader, at + CLOG_HEADER, event);
    return true;
}

static enum status clog_end(struct reader *reader)
{
    struct clog_state *state = reader->state;
    static const char *const names[CLOG_KINDS + 2] = {"end of log",      "end of block",     NULL,
                                                      "raw event",       "message",          "collective",
                                                      "communicator",    "event definition", "state definition",
                                                      "source location", "time shift"};
    for (size_t i = 0; i < CLOG_KINDS + 2; i++)
        if (state->counts[i] && names[i])
            reader_count(reader, names[i], state->counts[i]);
    reader->complete = state->end_of_log;
    return STATUS_END;
}

static enum status clog_next(struct reader *reader, struct batch *batch, struct error *err)
{
    while (batch->count < BATCH_EVENTS) {
        int32_t type;
        enum status status = next_record(reader, &type, err);
        if (status == STATUS_END)
            return clog_end(reader);
        if (status != STATUS_OK)
            return status;
        batch->count += record_event(reader, type, reader->input->at, batch);
        take(reader, type);
    }
    return STATUS_OK;
}

static void clog_close(struct reader *reader)
{
    mpe1_ids_clear(&((struct clog_state *)reader->state)->ids);
}

const struct format format_clog = {.name = "clog",
                                   .title = "CLOG",
                                   .suffix = ".clog",
                                   .probe = clog_probe,
                                   .two_passes = true,
                                   .state_size = sizeof(struct clog_state),
                                   .open = clog_open,
                                   .next = clog_next,
                                   .close = clog_close};
