/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts after the tree: categories, and views, which say what a line is. */
#include "convert/slog2/slog2_state.h"

#include "core/bytes.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/region_name.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COUNT_MOST = 1 << 22, FORMAT_MOST = 512, COLUMNS_MOST = 8 };

/* After the end all numbers are 0, and `cut` says so: callers ask once for many of them. */
int64_t slog2_int(struct reader *reader, size_t bytes, struct error *err)
{
    struct slog2_state *state = reader->state;
    uint64_t number = 0;
    if (state->cut || input_need(reader->input, bytes, err) != STATUS_OK) {
        state->cut = true;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | reader->input->at[i];
    input_consume(reader->input, bytes);
    /* All numbers of the format have a sign. */
    unsigned unused = 64 - 8 * (unsigned)bytes;
    return (int64_t)(number << unused) >> unused;
}

double slog2_double(struct reader *reader, struct error *err)
{
    uint64_t bits = (uint64_t)slog2_int(reader, 8, err);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

char *slog2_text(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    int64_t length = slog2_int(reader, 2, err);
    if (state->cut || length <= 0)
        return memory_copy_string("");
    if (input_need(reader->input, (size_t)length, err) != STATUS_OK) {
        state->cut = true;
        return memory_copy_string("");
    }
    char *text = text_from_bytes((const char *)reader->input->at, (size_t)length);
    input_consume(reader->input, (size_t)length);
    return text;
}

/* Goes on to a part of the file. */
static bool go_to(struct reader *reader, uint64_t offset, struct error *err)
{
    struct slog2_state *state = reader->state;
    /* Parts come in their order in the file: a compressed trace cannot go back but to its begin. */
    if (offset < reader->input->offset || state->cut)
        return false;
    state->cut = input_skip(reader->input, offset - reader->input->offset, err) != STATUS_OK;
    return !state->cut;
}

static bool take_count(struct reader *reader, size_t bytes, int64_t *count, struct error *err)
{
    struct slog2_state *state = reader->state;
    *count = slog2_int(reader, bytes, err);
    if (*count < 0 || *count > COUNT_MOST)
        state->cut = true;
    return !state->cut;
}

/* Keys and types as MPE's format: "msg_tag=" and "d" as "msg_tag=%d". */
static void take_format(struct reader *reader, char format[FORMAT_MOST], struct error *err)
{
    int64_t keys, types;
    char *key[16] = {0};
    format[0] = '\0';
    if (!take_count(reader, 2, &keys, err))
        return;
    for (int64_t i = 0; i < keys; i++) {
        char *text = slog2_text(reader, err);
        if (i < 16)
            key[i] = text;
        else
            free(text);
    }
    if (take_count(reader, 2, &types, err))
        for (int64_t i = 0; i < types; i++) {
            char type = (char)slog2_int(reader, 1, err);
            if (i < 16 && strchr("sdhlxXeE", type) && type)
                text_append(format, FORMAT_MOST, "%s%%%c", key[i] ? key[i] : "", type);
        }
    for (size_t i = 0; i < 16; i++)
        free(key[i]);
}

static void define(struct reader *reader, int32_t index, int64_t topology, const char *name, const char *format)
{
    struct slog2_state *state = reader->state;
    struct slog2_category category = {.topology = (enum slog2_topology)topology, .known = topology != SLOG2_ARROW};
    struct region_name region = region_name_of(name);
    /* MPE-1's traces have no views; their names are MPE-1's spelling. TAU's have none, either. */
    const struct mpi_function *function = state->has_processes ? NULL : mpi_function_find_mpe1(name);
    if (!function)
        function = mpi_function_find_spelled(region.name);
    struct state_def ours = {.name = function ? (char *)(uintptr_t)function->name : region.name,
                             .file = region.file,
                             .line = region.line,
                             .end_line = region.end_line,
                             .id = index,
                             .start = EVENT_UNKNOWN,
                             .end = EVENT_UNKNOWN};
    if (strcmp(ours.name, name) != 0)
        ours.original = (char *)(uintptr_t)name;
    if (topology == SLOG2_STATE)
        category.index = defs_add_state(reader->defs, &ours);
    else if (topology == SLOG2_EVENT)
        category.index =
            defs_add_mark(reader->defs, &(struct mark_def){.name = (char *)(uintptr_t)name,
                                                           .format = *format ? (char *)(uintptr_t)format : NULL,
                                                           .id = index,
                                                           .defined = true});
    region_name_clear(&region);
    *map_put(&state->category_ids, (uint32_t)index, 0) = state->category_count;
    ARRAY_PUSH(state->category, state->category_count, state->category_capacity, category);
}

static void take_category(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    char format[FORMAT_MOST];
    uint64_t byte = reader->input->offset;
    int32_t index = (int32_t)slog2_int(reader, 4, err);
    char *name = slog2_text(reader, err);
    int64_t topology = slog2_int(reader, 4, err), methods;
    slog2_int(reader, 6, err); /* colour, whether it can be changed, width */
    take_format(reader, format, err);
    if (take_count(reader, 2, &methods, err))
        for (int64_t i = 0; i < methods; i++)
            slog2_int(reader, 4, err);
    slog2_int(reader, 8, err);
    slog2_int(reader, 8, err); /* ratios and count */
    if (!state->cut && index >= 0) {
        if (topology < SLOG2_EVENT || topology > SLOG2_ARROW)
            reader_damage(reader, byte, "a category that is no event, state or arrow (%" PRId64 ")", topology);
        else if (map_find(&state->category_ids, (uint32_t)index))
            reader_damage(reader, byte, "a category is defined twice (%" PRId32 ")", index);
        else
            define(reader, index, topology, name, format);
    }
    free(name);
}

enum status slog2_read_categories(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    int64_t count;
    if (!go_to(reader, state->categories, err) || !take_count(reader, 4, &count, err))
        return STATUS_END;
    for (int64_t i = 0; i < count && !state->cut; i++)
        take_category(reader, err);
    if (state->cut)
        return STATUS_END;
    return STATUS_OK;
}

const struct slog2_category *slog2_category_of(struct reader *reader, int32_t index, enum slog2_topology topology)
{
    struct slog2_state *state = reader->state;
    const uint64_t *known = map_find(&state->category_ids, (uint32_t)index);
    if (known)
        return &state->category[*known];
    char name[40];
    snprintf(name, sizeof name, "category %" PRId32, index);
    define(reader, index, topology, name, "");
    return &state->category[state->category_count - 1];
}

/* Lines */

static struct slog2_line *line_put(struct slog2_state *state, int32_t id)
{
    uint64_t *index = map_put(&state->line_ids, (uint32_t)id, state->line_count);
    if (*index == state->line_count)
        ARRAY_PUSH(state->line, state->line_count, state->line_capacity, (struct slog2_line){-1, -1, -1, -1, false});
    return &state->line[*index];
}

void slog2_add_line(struct slog2_state *state, int32_t id)
{
    line_put(state, id);
}

enum view { VIEW_PROCESS, VIEW_THREAD, VIEW_COMM, VIEW_OTHER };

/* A line is what Jumpshot draws in one row: a rank has several, one for each of its communicators. */
static void take_row(struct slog2_line *line, enum view view, const int32_t column[COLUMNS_MOST], int64_t columns)
{
    if (columns < (view == VIEW_PROCESS ? 1 : 2))
        return;
    if (view == VIEW_PROCESS || view == VIEW_THREAD)
        line->process = column[0];
    if (view == VIEW_THREAD)
        line->thread = column[1];
    if (view == VIEW_COMM) {
        line->comm = column[0];
        line->rank = column[1];
    }
}

static void take_view(struct reader *reader, struct error *err)
{
    static const char *const titles[] = {"Process View", "Thread View", "Communicator View"};
    struct slog2_state *state = reader->state;
    char *title = slog2_text(reader, err);
    enum view view = VIEW_PROCESS;
    int64_t columns, rows, methods;
    while (view < VIEW_OTHER && strcmp(title, titles[view]) != 0)
        view++;
    free(title);
    if (!take_count(reader, 4, &columns, err))
        return;
    for (int64_t i = 0; i < columns && !state->cut; i++)
        free(slog2_text(reader, err));
    if (state->cut || !take_count(reader, 4, &rows, err))
        return;
    /* Else a line is a process: MPE-1's logs have only the "Identity Map". */
    state->has_processes |= view <= VIEW_THREAD;
    for (int64_t i = 0; i < rows && !state->cut; i++) {
        int32_t column[COLUMNS_MOST] = {0}, id = (int32_t)slog2_int(reader, 4, err);
        /* Columns beyond those that views are known to have are taken and dropped. */
        for (int64_t k = 0; k < columns && !state->cut; k++) {
            int32_t number = (int32_t)slog2_int(reader, 4, err);
            if (k < COLUMNS_MOST)
                column[k] = number;
        }
        if (!state->cut)
            take_row(line_put(state, id), view, column, columns);
    }
    if (take_count(reader, 2, &methods, err))
        for (int64_t i = 0; i < methods && !state->cut; i++)
            slog2_int(reader, 4, err);
}

enum status slog2_read_lines(struct reader *reader, struct error *err)
{
    struct slog2_state *state = reader->state;
    int64_t count;
    if (!go_to(reader, state->lines, err) || !take_count(reader, 4, &count, err))
        return STATUS_END;
    for (int64_t i = 0; i < count && !state->cut; i++)
        take_view(reader, err);
    if (state->cut)
        return STATUS_END;
    return STATUS_OK;
}

/* A communicator is the world if each process has its own rank in it. */
static void define_comm(struct defs *defs, const struct slog2_line *line)
{
    bool is_new = defs_find_comm(defs, (int32_t)line->comm) == EVENT_UNKNOWN;
    int32_t comm = defs_comm(defs, (int32_t)line->comm);
    bool same = line->rank == line->process && line->comm == 0;
    defs->comms[comm].world = (is_new || defs->comms[comm].world) && same;
    if (line->rank >= 0)
        defs_set_member(defs, comm, (int32_t)line->rank, (uint32_t)line->process);
}

/* After the tree, which adds lines where no view names them. */
void slog2_define_lines(struct reader *reader)
{
    struct slog2_state *state = reader->state;
    for (size_t i = 0; i < state->line_ids.capacity; i++) {
        if (state->line_ids.entries[i].key == 0)
            continue;
        struct slog2_line *line = &state->line[state->line_ids.entries[i].value];
        if (!state->has_processes)
            line->process = (int64_t)(state->line_ids.entries[i].key - 1);
        if (line->process < 0 || line->process >= PROCESS_LIMIT || line->thread > UINT16_MAX) {
            line->process = -1;
            continue;
        }
        line->thread = larger(line->thread, 0);
        if (line->process >= reader->defs->processes)
            reader->defs->processes = (uint32_t)line->process + 1;
        if (line->thread >= reader->defs->threads)
            reader->defs->threads = (uint32_t)line->thread + 1;
    }
    for (size_t i = 0; i < state->line_count; i++)
        if (state->line[i].process >= 0 && state->line[i].comm >= 0)
            define_comm(reader->defs, &state->line[i]);
}

struct slog2_line *slog2_line_of(struct slog2_state *state, int32_t id)
{
    const uint64_t *index = map_find(&state->line_ids, (uint32_t)id);
    struct slog2_line *line = index ? &state->line[*index] : NULL;
    if (line && line->process >= 0)
        return line;
    return NULL;
}
