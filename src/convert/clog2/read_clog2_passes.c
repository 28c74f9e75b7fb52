/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/read_clog2_passes.h"

#include "core/memory.h"
#include "core/numbers.h"

enum status clog2_part_start(struct reader *reader, size_t index, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_part *part = &state->parts[index];
    state->current = index;
    /* Each local file begins with its own clock. */
    state->shift = 0;
    if (part->path) {
        input_close(reader->input);
        reader->input = input_open(part->path, err);
        if (!reader->input)
            return STATUS_FAILED;
        return clog2_file_open(&state->file, reader, reader->input, err);
    }
    return clog2_file_restart(&state->file, reader->input, err);
}

/* A merged file says where its table begins, so that the size of what is missing is known. */
static void part_totals(struct clog2_state *state, const struct input *input)
{
    const struct clog2_preamble *preamble = &state->file.preamble;
    uint64_t declared = preamble->table_at ? preamble->table_at + sizeof(int32_t) : input_size(input);
    state->total += larger(declared, state->file.used);
    state->used += state->file.used;
    state->ended += state->file.end_of_log;
}

/* Handles the record if it describes others. */
static void take_definition(struct clog2_state *state, uint32_t kind)
{
    struct clog2_file *file = &state->file;
    if (clog2_is_plain_event(kind))
        return;
    if (state->current == 0)
        clog2_found_note(&state->found, file->input->offset, file->sizes[kind]);
    clog2_defs_record(&state->defs, &state->parts[state->current].defs, file, kind);
}

/* Damage is noted in this pass only (quiet): the second one meets it again. */
static enum status part_scan(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    struct clog2_part_defs *part = &state->parts[state->current].defs;
    clog2_defs_begin_part(&state->defs, part, file);
    uint32_t kind;
    enum status status;
    while (clog2_skip_events(file), (status = clog2_file_next(file, &kind, err)) == STATUS_OK) {
        take_definition(state, kind);
        clog2_file_take(file, kind);
    }
    if (status != STATUS_END)
        return status;
    part_totals(state, reader->input);
    /* Without an end of log there is no telling where the records end and the table begins. */
    if (file->end_of_log && clog2_defs_table(&state->defs, part, file, err) == STATUS_FAILED)
        return STATUS_FAILED;
    clog2_defs_end_part(&state->defs, part, file);
    if (reader->input->fault)
        clog2_file_damage(file, "%s", reader->input->fault);
    return STATUS_OK;
}

bool clog2_pass_can_seek(const struct reader *reader)
{
    const struct clog2_state *state = reader->state;
    return state->part_count == 1 && !state->parts[0].path && state->file.preamble.finalized &&
           state->file.header_size == CLOG2_HEADER_SIZE && input_can_seek(reader->input);
}

enum status clog2_pass_seek(struct reader *reader, uint64_t from, uint64_t to, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    if (from < CLOG2_PREAMBLE_SIZE)
        return error_set(err, ERROR_INPUT, "%s: byte %llu: no records there", reader->input->name,
                         (unsigned long long)from);
    if (input_seek(reader->input, from, err) != STATUS_OK)
        return STATUS_FAILED;
    file->block_left = file->preamble.block_size - (from - CLOG2_PREAMBLE_SIZE) % file->preamble.block_size;
    file->ended = file->end_of_log = reader->ended = false;
    state->limit = to;
    return STATUS_OK;
}

/* As part_scan, for the ranges known to contain definitions. */
static enum status scan_ranges(struct reader *reader, const struct clog2_range *ranges, size_t count, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    uint32_t kind;
    enum status status = STATUS_OK;
    clog2_defs_begin_part(&state->defs, &state->parts[0].defs, file);
    for (size_t i = 0; i < count && status != STATUS_FAILED; i++) {
        status = clog2_pass_seek(reader, ranges[i].from, UINT64_MAX, err);
        while (status == STATUS_OK && reader->input->offset < ranges[i].to &&
               (status = clog2_file_next(file, &kind, err)) == STATUS_OK) {
            take_definition(state, kind);
            clog2_file_take(file, kind);
        }
    }
    return status == STATUS_FAILED ? STATUS_FAILED : STATUS_OK;
}

/* The table at the end, and what the preamble declares. */
static enum status scan_end(struct clog2_state *state, bool has_table, struct error *err)
{
    struct clog2_part_defs *part = &state->parts[0].defs;
    if (has_table && clog2_defs_table(&state->defs, part, &state->file, err) == STATUS_FAILED)
        return STATUS_FAILED;
    clog2_defs_end_part(&state->defs, part, &state->file);
    return STATUS_OK;
}

/* As part_scan of a whole trace in which several threads have found what there is to read: the same in the end. */
static enum status scan_found(struct reader *reader, const struct clog2_found *found, struct error *err)
{
    struct clog2_state *state = reader->state;
    struct clog2_file *file = &state->file;
    if (scan_ranges(reader, found->ranges, found->count, err) != STATUS_OK ||
        input_seek(reader->input, found->used, err) != STATUS_OK)
        return STATUS_FAILED;
    file->used = found->used;
    file->ended = file->end_of_log = true;
    part_totals(state, reader->input);
    return scan_end(state, true, err);
}

static enum status scan_parts(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    for (size_t i = 0; i < state->part_count; i++) {
        if (i > 0 && clog2_part_start(reader, i, err) != STATUS_OK)
            return STATUS_FAILED;
        if (part_scan(reader, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

enum status clog2_scan(struct reader *reader, struct error *err)
{
    struct clog2_state *state = reader->state;
    state->defs.defs = reader->defs;
    struct clog2_found found = {0};
    enum status status;
    if (clog2_pass_can_seek(reader) && clog2_scan_parts(&state->file, &found))
        status = scan_found(reader, &found, err);
    else
        status = scan_parts(reader, err);
    free(found.ranges);
    if (status != STATUS_OK)
        return STATUS_FAILED;
    clog2_defs_end(&state->defs);
    if (!state->parts[0].path && input_rewind(reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    return clog2_part_start(reader, 0, err);
}

enum status clog2_scan_known(struct reader *reader, const struct clog2_range *ranges, size_t count, bool end_of_log,
                             struct error *err)
{
    struct clog2_state *state = reader->state;
    if (scan_ranges(reader, ranges, count, err) != STATUS_OK || scan_end(state, end_of_log, err) != STATUS_OK)
        return STATUS_FAILED;
    clog2_defs_end(&state->defs);
    if (input_rewind(reader->input, err) == STATUS_OK)
        return clog2_part_start(reader, 0, err);
    return STATUS_FAILED;
}
