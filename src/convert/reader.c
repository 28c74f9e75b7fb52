/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing a format by content, and what all formats share: opening, ending, damage. */
#include "convert/reader.h"

#include "convert/clog2_parts.h"
#include "core/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define READER(x) extern const struct format format_##x;
#include "convert/formats.def"

static const struct format *const formats[] = {
#define READER(x) &format_##x,
#include "convert/formats.def"
};

size_t format_count(void)
{
    return sizeof formats / sizeof *formats;
}

const struct format *format_at(size_t index)
{
    return formats[index];
}

void reader_damage(struct reader *reader, uint64_t byte, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    damage_note(&reader->damage, reader->input->name, byte, "%s", text);
}

void reader_count(struct reader *reader, const char *name, uint64_t n)
{
    for (size_t i = 0; i < reader->record_kinds; i++)
        if (reader->records[i].name == name || strcmp(reader->records[i].name, name) == 0) {
            reader->records[i].count += n;
            return;
        }
    if (reader->record_kinds < RECORD_COUNTS_MAX)
        reader->records[reader->record_kinds++] = (struct record_count){.name = name, .count = n};
}

static const struct format *format_choose(const unsigned char *data, size_t size)
{
    const struct format *best = NULL;
    int best_score = 0;
    for (size_t i = 0; i < format_count(); i++) {
        int score = formats[i]->probe(data, size);
        if (score > best_score) {
            best_score = score;
            best = formats[i];
        }
    }
    return best;
}

/* The first bytes of a file as a person can read them, for the message that it is no trace. */
static void quote_first_bytes(char *at, size_t room, const unsigned char *data, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < size && i < 8 && used + 5 < room; i++)
        used +=
            (size_t)snprintf(at + used, room - used, isprint(data[i]) && data[i] != '"' ? "%c" : "\\x%02x", data[i]);
}

static enum status not_a_trace(const struct input *input, struct error *err)
{
    if (input_available(input) == 0)
        return error_set(err, ERROR_INPUT, "%s: not a trace: the file is empty%s%s", input->name,
                         input->fault ? ", " : "", input->fault ? input->fault : "");
    char first[64] = "";
    quote_first_bytes(first, sizeof first, input->at, input_available(input));
    return error_set(err, ERROR_INPUT, "%s: not a trace: neither CLOG-2, CLOG, ALOG nor SIGHT XML (first bytes \"%s\")",
                     input->name, first);
}

static enum status reader_start(struct reader *reader, struct error *err)
{
    struct input *input = reader->input;
    enum status status = input_need(input, PROBE_SIZE, err);
    if (status == STATUS_FAILED)
        return status;
    size_t size = input_available(input) < PROBE_SIZE ? input_available(input) : PROBE_SIZE;
    reader->format = format_choose(input->at, size);
    if (!reader->format)
        return not_a_trace(input, err);
    if (reader->format->two_passes && input_keep(input, err) != STATUS_OK)
        return STATUS_FAILED;
    reader->state = memory_new(reader->format->state_size);
    return reader->format->open(reader, err);
}

struct reader *reader_open_input(struct input *input, struct error *err)
{
    struct reader *reader = memory_new(sizeof *reader);
    reader->input = input;
    reader->defs = defs_new();
    if (reader_start(reader, err) == STATUS_OK)
        return reader;
    reader_close(reader);
    return NULL;
}

struct reader *reader_open(char *const *paths, size_t count, struct error *err)
{
    struct path_list list = {0};
    if (clog2_parts_list(&list, paths, count, err) != STATUS_OK) {
        path_list_clear(&list);
        return NULL;
    }
    struct reader *reader = NULL;
    if (list.parts) {
        reader = clog2_parts_open(&list, err);
    } else {
        struct input *input = input_open(list.paths[0], err);
        reader = input ? reader_open_input(input, err) : NULL;
    }
    path_list_clear(&list);
    return reader;
}

static void reader_clear(struct reader *reader)
{
    if (reader->format && reader->state && reader->format->close)
        reader->format->close(reader);
    free(reader->state);
    defs_free(reader->defs);
}

enum status reader_restart(struct reader *reader, struct error *err)
{
    reader_clear(reader);
    *reader = (struct reader){.input = reader->input, .defs = defs_new(), .correction = reader->correction};
    if (reader->correction.apply)
        reader->correction.rewind(reader->correction.context);
    if (input_rewind(reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    return reader_start(reader, err);
}

static void reader_finish(struct reader *reader)
{
    if (reader->input && reader->input->fault)
        reader_damage(reader, reader->input->offset, "%s", reader->input->fault);
    reader->end = (struct trace_end){.complete = reader->complete && reader->damage.count == 0,
                                     .damage = reader->damage,
                                     .used = reader->used,
                                     .total = reader->total};
}

enum status reader_next(struct reader *reader, struct batch *batch, struct error *err)
{
    batch_clear(batch);
    enum status status = reader->ended ? STATUS_END : reader->format->next(reader, batch, err);
    reader->ended = status == STATUS_END;
    if (status != STATUS_FAILED && reader->correction.apply)
        reader->correction.apply(reader->correction.context, batch);
    if (status == STATUS_END && batch->count > 0)
        return STATUS_OK;
    if (status == STATUS_END)
        reader_finish(reader);
    return status;
}

void reader_close(struct reader *reader)
{
    if (!reader)
        return;
    reader_clear(reader);
    if (reader->correction.apply)
        reader->correction.free(reader->correction.context);
    input_close(reader->input);
    free(reader);
}
