/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_file.h"

#include "convert/reader.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* MPE takes any size up to 1 GiB (CLOG_BLOCK_SIZE). Below the least, no record would fit. */
enum { BLOCK_LIMIT = 1 << 30, BLOCK_LEAST = 64 };

bool clog2_is_file(const unsigned char *data, size_t size)
{
    return size >= 10 && memcmp(data, CLOG2_MAGIC, 8) == 0 && isdigit(data[8]) && isdigit(data[9]);
}

void clog2_file_damage(struct clog2_file *file, const char *format, ...)
{
    if (file->quiet)
        return;
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    damage_note(&file->reader->damage, file->input->name, file->input->offset, "%s", text);
}

/* The string at *at, and *at after it; NULL if the preamble ends first. */
static const char *preamble_string(const char *preamble, size_t *at)
{
    const char *text = preamble + *at;
    size_t length = strnlen(text, CLOG2_PREAMBLE_SIZE - *at);
    if (length == 0 || *at + length >= CLOG2_PREAMBLE_SIZE)
        return NULL;
    *at += length + 1;
    return text;
}

static bool preamble_number(const char *text, int64_t max, int64_t *value)
{
    return text && text_parse_i64(text, INT32_MIN, max, value);
}

/* Three texts, a, u and b: the offset is a * u + b, with u = 2^30. */
static bool preamble_table(const char *preamble, size_t *at, const char *high, uint64_t *table)
{
    int64_t a, unit, b;
    if (!preamble_number(high, INT32_MAX, &a) || !preamble_number(preamble_string(preamble, at), INT64_MAX, &unit) ||
        !preamble_number(preamble_string(preamble, at), INT64_MAX, &b) || a < 0 || b < 0 || unit < 0)
        return false;
    uint64_t product;
    return !__builtin_mul_overflow((uint64_t)a, (uint64_t)unit, &product) &&
           !__builtin_add_overflow(product, (uint64_t)b, table) && *table <= INT64_MAX;
}

static enum status preamble_value(struct clog2_preamble *into, const char *preamble, size_t *at, const char *title,
                                  const char *name, struct error *err)
{
    const char *value = preamble_string(preamble, at);
    int64_t number;
    if (!value)
        return error_set(err, ERROR_INPUT, "%s: byte %zu: preamble ends after '%s'", name, *at, title);
    /* By title, not by place: versions differ in which values they have, and unknown ones are passed over. */
    if (strcmp(title, CLOG2_KEY_BIG_ENDIAN) == 0)
        into->big_endian = strncmp(value, "TRUE", 4) == 0;
    else if (strcmp(title, CLOG2_KEY_FINALIZED) == 0)
        into->finalized = strncmp(value, "TRUE", 4) == 0;
    else if (strcmp(title, CLOG2_KEY_BLOCK_SIZE) == 0) {
        if (!preamble_number(value, INT64_MAX, &number) || number < BLOCK_LEAST || number > BLOCK_LIMIT)
            return error_set(err, ERROR_INPUT, "%s: byte %zu: invalid block size ('%.24s', limit %d)", name,
                             (size_t)(value - preamble), value, (int)BLOCK_LIMIT);
        into->block_size = (uint32_t)number;
    } else if (strcmp(title, CLOG2_KEY_WORLD_SIZE) == 0 || strcmp(title, CLOG2_KEY_WORLD_SIZE_OLD) == 0) {
        /* A declared number that cannot be is no reason to give up: the records say which processes there are. */
        if (preamble_number(value, PROCESS_LIMIT, &number) && number > 0)
            into->processes = (uint32_t)number;
    } else if (strcmp(title, CLOG2_KEY_THREADS) == 0) {
        if (preamble_number(value, UINT16_MAX, &number) && number > 0)
            into->threads = (uint32_t)number;
    } else if (strcmp(title, CLOG2_KEY_COMM_TABLE) == 0) {
        into->states_table = true;
        if (!preamble_table(preamble, at, value, &into->table_at))
            return error_set(err, ERROR_INPUT, "%s: byte %zu: invalid offset of the communicator table", name,
                             (size_t)(value - preamble));
    }
    return STATUS_OK;
}

static enum status preamble_read(struct clog2_preamble *into, const char *preamble, const char *name, struct error *err)
{
    size_t at = 0;
    const char *version = preamble_string(preamble, &at);
    if (!version)
        return error_set(err, ERROR_INPUT, "%s: byte 0: the version in the preamble has no end", name);
    /* clog2_is_file has checked that there are digits. */
    *into = (struct clog2_preamble){.version = (uint32_t)(version[6] - '0') * 100 + (uint32_t)(version[8] - '0') * 10 +
                                               (uint32_t)(version[9] - '0'),
                                    .big_endian = true};
    if (into->version < 210 || into->version > 299)
        return error_set(err, ERROR_INPUT, "%s: unknown CLOG-2 version '%.10s' (known: 02.10 to 02.44)", name, version);
    const char *title;
    while ((title = preamble_string(preamble, &at)))
        if (preamble_value(into, preamble, &at, title, name, err) != STATUS_OK)
            return STATUS_FAILED;
    /* Versions before 02.43 do not say: only merged files were kept. */
    if (into->version < 243)
        into->finalized = true;
    if (into->block_size == 0)
        return error_set(err, ERROR_INPUT, "%s: byte %zu: no block size in the preamble", name, at);
    return STATUS_OK;
}

static void file_layout(struct clog2_file *file)
{
    bool early = file->preamble.version < 230;
    /* Before version 02.30 the header had no communicator and no thread: time, kind, world rank. */
    file->header_size = early ? 16 : CLOG2_HEADER_SIZE;
    file->kind_at = early ? 8 : 20;
    for (size_t kind = 0; kind < CLOG2_KINDS; kind++)
        file->sizes[kind] = (uint8_t)(file->header_size + clog2_payload[kind]);
    if (early)
        /* Communicators had no UUID then. */
        file->sizes[CLOG2_COMM] = (uint8_t)(file->header_size + 16);
}

enum status clog2_file_restart(struct clog2_file *file, struct input *input, struct error *err)
{
    file->input = input;
    file->ended = file->end_of_log = false;
    file->block_left = file->preamble.block_size;
    memset(file->counts, 0, sizeof file->counts);
    if (input_skip(input, CLOG2_PREAMBLE_SIZE, err) == STATUS_FAILED)
        return STATUS_FAILED;
    return STATUS_OK;
}

/* The preamble is text of 1,024 bytes, which also says the byte order of all that follows. */
enum status clog2_file_open(struct clog2_file *file, struct reader *reader, struct input *input, struct error *err)
{
    file->reader = reader;
    enum status status = input_need(input, CLOG2_PREAMBLE_SIZE, err);
    if (status == STATUS_FAILED)
        return status;
    char preamble[CLOG2_PREAMBLE_SIZE + 1] = {0};
    if (status == STATUS_END || !clog2_is_file(input->at, input_available(input)))
        return error_set(err, ERROR_INPUT, "%s: byte %zu: file ends inside the CLOG-2 preamble (of 1,024 bytes)",
                         input->name, input_available(input));
    memcpy(preamble, input->at, CLOG2_PREAMBLE_SIZE);
    if (preamble_read(&file->preamble, preamble, input->name, err) != STATUS_OK)
        return STATUS_FAILED;
    file_layout(file);
    return clog2_file_restart(file, input, err);
}

/* A run that was killed leaves whole blocks and no end of the log; a copy that was cut leaves part of a block. */
static void file_ends(struct clog2_file *file, size_t left)
{
    char size[TEXT_NUMBER_SIZE];
    if (left > 0 || file->block_left != file->preamble.block_size)
        clog2_file_damage(file, "file ends inside a block (block of %s bytes)",
                          text_thousands(size, file->preamble.block_size));
    else
        clog2_file_damage(file, "file ends without an end-of-log record");
}

/* Continues with the next block. Blocks stand at multiples of their size, whatever is in them: damage costs the rest
   of one block, no more. */
static enum status file_skip_block(struct clog2_file *file, struct error *err)
{
    uint64_t left = file->block_left;
    file->block_left = file->preamble.block_size;
    if (input_skip(file->input, left, err) == STATUS_FAILED)
        return STATUS_FAILED;
    return STATUS_OK;
}

static bool all_zero(const unsigned char *at, size_t size)
{
    while (size > 0 && *at == 0) {
        at++;
        size--;
    }
    return size == 0;
}

/* Handles everything between records. *kind is left below CLOG2_KINDS only for a record that can be consumed. */
static enum status file_step(struct clog2_file *file, uint32_t *kind, bool *found, struct error *err)
{
    struct input *input = file->input;
    enum status status = input_need(input, file->header_size, err);
    if (status == STATUS_FAILED)
        return status;
    if (status == STATUS_END) {
        file_ends(file, input_available(input));
        return STATUS_END;
    }
    if (file->block_left < file->header_size) {
        clog2_file_damage(file, "block has no end-of-block record");
        return file_skip_block(file, err);
    }
    *kind = bytes_u32(input->at + file->kind_at, file->preamble.big_endian);
    /* An end of log has the time 1e8; zeros are what a file system leaves where a block was never written. */
    if (*kind == CLOG2_ENDLOG && !all_zero(input->at, file->header_size)) {
        clog2_file_take(file, *kind);
        file->used = input->offset;
        file->end_of_log = true;
        return STATUS_END;
    }
    if (*kind == CLOG2_ENDBLOCK) {
        clog2_file_take(file, *kind);
        file->used = input->offset;
        return file_skip_block(file, err);
    }
    if (*kind == CLOG2_ENDLOG || *kind >= CLOG2_KINDS || file->sizes[*kind] > file->block_left) {
        if (*kind == CLOG2_ENDLOG)
            clog2_file_damage(file, "zeros instead of a record");
        else if (*kind >= CLOG2_KINDS)
            clog2_file_damage(file, "record of unknown kind (%d, limit %d)", (int)*kind, CLOG2_KINDS - 1);
        else
            clog2_file_damage(file, "record crosses the end of its block (%d bytes, %d left)", file->sizes[*kind],
                              (int)file->block_left);
        return file_skip_block(file, err);
    }
    status = input_need(input, file->sizes[*kind], err);
    if (status == STATUS_END)
        file_ends(file, input_available(input));
    *found = status == STATUS_OK;
    return status;
}

enum status clog2_file_slow(struct clog2_file *file, uint32_t *kind, struct error *err)
{
    if (file->ended)
        return STATUS_END;
    file->used = file->input->offset;
    bool found = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !found)
        status = file_step(file, kind, &found, err);
    if (status == STATUS_END)
        file->ended = true;
    return status;
}

enum status clog2_file_to_table(struct clog2_file *file, struct error *err)
{
    struct input *input = file->input;
    uint64_t table = file->preamble.table_at;
    if (table == 0)
        return STATUS_END;
    /* Else the table would be read from the middle of what has been read as records. */
    if (table < input->offset) {
        clog2_file_damage(file, "communicator table overlaps the records (byte %llu)", (unsigned long long)table);
        return STATUS_END;
    }
    enum status status = input_skip(input, table - input->offset, err);
    if (status == STATUS_END)
        clog2_file_damage(file, "file ends before the communicator table (at byte %llu)", (unsigned long long)table);
    return status;
}
