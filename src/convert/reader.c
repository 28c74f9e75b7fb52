/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of all readers: counting, damage, batches, ending. */
#include "convert/reader.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    /* Names are literals: the same kind nearly always has the same address. */
    for (size_t i = 0; i < reader->record_kinds; i++)
        if (reader->records[i].name == name || strcmp(reader->records[i].name, name) == 0) {
            reader->records[i].count += n;
            return;
        }
    if (reader->record_kinds < RECORD_COUNTS_MAX)
        reader->records[reader->record_kinds++] = (struct record_count){.name = name, .count = n};
}

void reader_add_counts(struct reader *reader, const struct record_count *records, size_t kinds)
{
    for (size_t i = 0; i < kinds; i++)
        reader_count(reader, records[i].name, records[i].count);
}

void reader_drop_unused_counts(struct reader *reader)
{
    size_t used = 0;
    for (size_t i = 0; i < reader->record_kinds; i++)
        if (reader->records[i].count > 0)
            reader->records[used++] = reader->records[i];
    reader->record_kinds = used;
}

/* Also called by a reader whose opening failed half-way. */
void reader_clear(struct reader *reader)
{
    if (reader->format && reader->state && reader->format->close)
        reader->format->close(reader);
    free(reader->state);
    defs_free(reader->defs);
}

bool reader_can_seek(const struct reader *reader)
{
    return reader->format->places && reader->format->places->can_seek(reader);
}

enum status reader_seek(struct reader *reader, uint64_t from, uint64_t to, struct error *err)
{
    reader->part = to != UINT64_MAX;
    return reader->format->places->seek(reader, from, to, err);
}

uint64_t reader_last_place(const struct reader *reader)
{
    return reader->format->places->last(reader);
}

/* A trace is complete if the reader has seen its end, and nothing on the way was damaged. */
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
    /* Asked again after the end, a reader says so again. */
    reader->ended = status == STATUS_END;
    if (status != STATUS_FAILED && reader->correction.apply)
        reader->correction.apply(reader->correction.context, batch);
    /* A reader may deliver its last events together with the end: the end is reported with the next call. */
    if (status == STATUS_END && batch->count > 0)
        return STATUS_OK;
    /* Compressed input: what follows the last event may be cut, which only its end shows. */
    if (status == STATUS_END && reader->input && !reader->part && input_check_end(reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
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
        reader->correction.dispose(reader->correction.context);
    input_close(reader->input);
    free(reader);
}
