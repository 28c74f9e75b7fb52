/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of making an index: tables are put in order, and written. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/output.h"
#include "timeline/index_builder.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Up to this many processes have a row each even without events; beyond, only if every other one has events: a damaged
   number of processes must not cost gigabytes. */
enum { SILENT_MOST = 1 << 17 };

/* Ids that the trace uses without defining them. A reader that begins in the middle meets them in another order; with
   these it numbers states as this pass did. */
static void put_defined(struct builder *builder)
{
    const struct defs *defs = builder->reader->defs;
    for (size_t i = builder->states_defined; i < defs->state_count; i++)
        spill_add(&builder->table[SECTION_DEFINED], &defs->states[i].start, sizeof(int32_t));
    for (size_t i = builder->marks_defined; i < defs->mark_count; i++)
        spill_add(&builder->table[SECTION_DEFINED], &defs->marks[i].id, sizeof(int32_t));
}

static void put_definitions(struct builder *builder)
{
    struct clog2_known known = clog2_known(builder->reader);
    if (known.count > 0)
        spill_add(&builder->table[SECTION_DEFINITIONS], known.ranges, known.count * sizeof *known.ranges);
}

static int row_compare(const void *a, const void *b)
{
    const struct timeline_row *left = a, *right = b;
    if (left->process != right->process)
        return order_by(left->process, right->process);
    return order_by(left->thread, right->thread);
}

/* Appends a row for each process that the trace records without events of it. */
static size_t add_silent(const struct builder *builder, struct timeline_row *rows, size_t count)
{
    uint32_t processes = builder->reader->defs->processes;
    bool *met = memory_new(processes);
    int64_t begin_ns = INT64_MAX;
    for (size_t i = 0; i < builder->rows.count; i++) {
        if (rows[i].process < processes)
            met[rows[i].process] = true;
        begin_ns = smaller(rows[i].begin_ns, begin_ns);
    }
    for (uint32_t process = 0; process < processes; process++)
        if (!met[process])
            rows[count++] = (struct timeline_row){.process = process, .begin_ns = begin_ns, .end_ns = begin_ns};
    free(met);
    return count;
}

/* Sorts rows by rank and thread instead of first occurrence. Returns the new number of each; free() it. */
static uint32_t *sort_rows(struct builder *builder)
{
    size_t count = builder->rows.count;
    uint32_t processes = builder->reader->defs->processes;
    uint32_t *places = memory_new(count * sizeof *places);
    /* A damaged trace may state absurd numbers of processes. */
    bool silent = count > 0 && (processes <= SILENT_MOST || processes / 2 <= count);
    size_t room = count;
    if (silent)
        room += processes;
    struct timeline_row *sorted = memory_new(room * sizeof *sorted);
    if (count > 0)
        memcpy(sorted, builder->rows.row, count * sizeof *sorted);
    if (silent)
        count = add_silent(builder, sorted, count);
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, row_compare);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = rows_find(&builder->rows, sorted[i].process, sorted[i].thread);
        if (row != TIMELINE_NONE)
            places[row] = (uint32_t)i;
    }
    spill_add(&builder->table[SECTION_ROWS], sorted, count * sizeof *sorted);
    free(sorted);
    return places;
}

/* Rows are numbered as they are met while the trace is read, and by rank in the index. States that nothing closes end
   with their row. */
static void renumber(struct builder *builder, const uint32_t *places)
{
    struct span *span = (struct span *)(void *)builder->table[SECTION_SPANS].data;
    for (size_t i = 0; i < builder->table[SECTION_SPANS].size / sizeof *span; i++) {
        if (span[i].open)
            span[i].leave_ns = builder->rows.row[span[i].row].end_ns;
        span[i].row = places[span[i].row];
    }
    struct transit *transit = (struct transit *)(void *)builder->table[SECTION_TRANSITS].data;
    for (size_t i = 0; i < builder->table[SECTION_TRANSITS].size / sizeof *transit; i++) {
        transit[i].row = places[transit[i].row];
        if (transit[i].other_row != TIMELINE_NONE)
            transit[i].other_row = places[transit[i].other_row];
    }
}

/* Time in MPI functions that the trace does not close, up to the row's last event. */
static void end_rows(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->rows.count; i++) {
        struct timeline_row *row = &builder->rows.row[i];
        if (builder->row[i].mpi_depth > 0)
            time_add(&row->mpi_ns, time_since(builder->row[i].mpi_since_ns, row->end_ns));
    }
}

static int curve_compare(const void *a, const void *b)
{
    const struct counter_growing *left = a, *right = b;
    if (left->curve.mark != right->curve.mark)
        return order_by(left->curve.mark, right->curve.mark);
    return order_by(left->curve.row, right->curve.row);
}

/* Curves are numbered by rows as they were met, as spans are. */
static void put_curves(struct builder *builder, const uint32_t *places)
{
    struct curves_build *curves = &builder->curves;
    curves_build_end(curves, builder->walk.defs, builder->rows.row);
    for (size_t i = 0; i < curves->count; i++)
        curves->list[i].curve.row = places[curves->list[i].curve.row];
    if (curves->count > 0)
        qsort(curves->list, curves->count, sizeof *curves->list, curve_compare);
    for (size_t i = 0; i < curves->count; i++) {
        struct counter_growing *curve = &curves->list[i];
        curve->curve.step_at = builder->table[SECTION_STEPS].size / sizeof *curve->step;
        spill_add(&builder->table[SECTION_CURVES], &curve->curve, sizeof curve->curve);
        spill_add(&builder->table[SECTION_STEPS], curve->step, curve->curve.steps * sizeof *curve->step);
    }
}

static void fill_header(const struct builder *builder, struct index_header *header)
{
    const struct index_order *order = builder->order;
    /* A copy is always complete: the damage is that of the trace it was made from. */
    const struct trace_end *end = order->end ? order->end : &builder->reader->end;
    const struct timeline_row *rows = builder->rows.row;
    *header = (struct index_header){.version = INDEX_VERSION,
                                    .size = sizeof *header,
                                    .identity = order->identity,
                                    .trace_size = input_size(builder->reader->input),
                                    .stored = order->stored,
                                    .complete = end->complete,
                                    .events = builder->events,
                                    .damages = end->damage.count,
                                    .damage_byte = end->damage.first_byte,
                                    .used = end->used,
                                    .total = end->total,
                                    .end_of_log = clog2_known(builder->reader).end_of_log,
                                    .clocks = order->clocks};
    memcpy(header->magic, index_magic, sizeof header->magic);
    snprintf(header->format, sizeof header->format, "%s", order->format ? order->format : "clog2");
    memcpy(header->damage, end->damage.first, sizeof header->damage);
    for (size_t i = 0; i < builder->rows.count; i++) {
        if (i == 0) {
            header->begin_ns = rows[i].begin_ns;
            header->end_ns = rows[i].end_ns;
        }
        header->begin_ns = smaller(rows[i].begin_ns, header->begin_ns);
        header->end_ns = larger(rows[i].end_ns, header->end_ns);
    }
}

static uint64_t write_spill(struct output *output, const struct spill *table)
{
    for (size_t at = 0; at < table->size; at += INDEX_PIECE) {
        size_t size = smaller(table->size - at, (size_t)INDEX_PIECE);
        output_write(output, table->data + at, size);
        index_give_back(table->data + at, size);
    }
    return index_checksum(table->data, table->size);
}

/* A section in several tapes; *size is that of all. */
static uint64_t write_tapes(struct output *output, struct pyramid_build *pyramid,
                            struct tape *(*tapes)(struct pyramid_build *pyramid, size_t part), uint64_t *size)
{
    unsigned char *piece = memory_new(INDEX_PIECE);
    uint64_t checksum = CHECKSUM_START;
    size_t used = 0, part = 0, got;
    struct error err;
    struct tape *tape;
    *size = 0;
    while ((tape = tapes(pyramid, part)) != NULL) {
        if (used == INDEX_PIECE) {
            checksum = checksum_add(checksum, piece, used);
            used = 0;
        }
        if (tape_read(tape, piece + used, INDEX_PIECE - used, &got, &err) != STATUS_OK) {
            output_fail(output, &err);
            break;
        }
        part += got == 0;
        output_write(output, piece + used, got);
        used += got;
        *size += got;
    }
    checksum = checksum_add(checksum, piece, used);
    free(piece);
    return checksum;
}

static void write_sections(const struct builder *builder, struct output *output, struct index_header *header)
{
    static const char zeros[8];
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        uint64_t size = builder->table[i].size;
        /* The sections are used in place, through mmap: structs need their alignment. */
        output_write(output, zeros, (8 - output_position(output) % 8) % 8);
        header->section[i].at = output_position(output);
        if (i == SECTION_SKIPS)
            header->section[i].checksum = write_tapes(output, builder->pyramid, pyramid_build_skips, &size);
        else if (i == SECTION_CELLS)
            header->section[i].checksum = write_tapes(output, builder->pyramid, pyramid_build_cells, &size);
        else
            header->section[i].checksum = write_spill(output, &builder->table[i]);
        header->section[i].count = size / index_sizes[i];
    }
    header->file_size = output_position(output);
}

static enum status write_file(const struct builder *builder, struct error *err)
{
    struct index_header header;
    struct output_options how = {.replace = true, .private = true, .patchable = true};
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (spill_check(&builder->table[i], err) != STATUS_OK)
            return STATUS_FAILED;
    struct output *output = output_open(builder->order->path, how, err);
    if (!output)
        return STATUS_FAILED;
    /* Written twice: places and checksums of the sections are known at the end. The file gets its name only when it is
       closed, so that no other process sees half of it. */
    fill_header(builder, &header);
    output_write(output, &header, sizeof header);
    write_sections(builder, output, &header);
    header.checksum = checksum_add(CHECKSUM_START, &header, offsetof(struct index_header, checksum));
    output_patch(output, 0, &header, sizeof header);
    return output_close(output, true, err);
}

static enum status end_pyramid(struct builder *builder, const uint32_t *places, struct error *err)
{
    const struct pyramid_rows about = {&builder->rows, places, builder->begin_ns, builder->last_ns};
    return pyramid_build_end(builder->pyramid, &about, larger(builder->order->threads, 1U), builder->table, err);
}

enum status index_write(struct builder *builder, struct error *err)
{
    end_rows(builder);
    put_defined(builder);
    put_definitions(builder);
    /* These are read below, so they must be whole; the others are checked before they are written. */
    uint32_t *places = sort_rows(builder);
    enum status status = spill_check(&builder->table[SECTION_ROWS], err);
    if (status == STATUS_OK)
        status = spill_check(&builder->table[SECTION_SPANS], err);
    if (status == STATUS_OK)
        status = spill_check(&builder->table[SECTION_TRANSITS], err);
    if (status == STATUS_OK) {
        renumber(builder, places);
        put_curves(builder, places);
        status = end_pyramid(builder, places, err);
    }
    free(places);
    if (status != STATUS_OK)
        return status;
    return write_file(builder, err);
}
