/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/write_clog2_defs.h"

#include "convert/clog2/write_clog2_comms.h"
#include "core/bytes.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* MPE's converter to SLOG-2 crashes on an empty name or colour. */
static void put_name(struct clog2_writer *clog2, unsigned char *at, const char *name, int32_t id)
{
    char number[TEXT_NUMBER_SIZE];
    snprintf(number, sizeof number, "%d", (int)id);
    clog2_put_text(&clog2->writer, at, CLOG2_NAME_SIZE, name && *name ? name : number);
}

static void put_colour(struct clog2_writer *clog2, unsigned char *at, const char *colour)
{
    clog2_put_text(&clog2->writer, at, CLOG2_COLOUR_SIZE, colour && *colour ? colour : "white");
}

static void write_state(struct clog2_writer *clog2, const struct clog2_place *place, uint32_t index)
{
    const struct state_def *state = &clog2->writer.defs->states[index];
    const struct clog2_state_ids *ids = &clog2->ids.states[index];
    unsigned char *body = clog2_put_record(clog2, place, CLOG2_STATEDEF);
    bytes_put_i32(body, true, ids->id);
    bytes_put_i32(body + 4, true, ids->start);
    bytes_put_i32(body + 8, true, ids->end);
    put_colour(clog2, body + 16, state->colour);
    put_name(clog2, body + 40, state->name, ids->id);
    const char *words = payload_words_format(clog2_words_of(clog2, false, index));
    const char *format = words ? words : state->format;
    clog2_put_text(&clog2->writer, body + 72, CLOG2_TEXT_SIZE, format ? format : "");
}

static void write_mark(struct clog2_writer *clog2, const struct clog2_place *place, uint32_t index)
{
    const struct mark_def *mark = &clog2->writer.defs->marks[index];
    unsigned char *body = clog2_put_record(clog2, place, CLOG2_EVENTDEF);
    bytes_put_i32(body, true, clog2->ids.marks[index]);
    put_colour(clog2, body + 8, mark->colour);
    put_name(clog2, body + 32, mark->name, clog2->ids.marks[index]);
    char counter[200];
    const char *format = payload_words_format(clog2_words_of(clog2, true, index));
    if (!format)
        format = mark->format ? mark->format : "";
    if (mark->counter.type != COUNTER_NONE)
        format = clog2_counter_format(counter, sizeof counter, &mark->counter);
    clog2_put_text(&clog2->writer, body + 64, CLOG2_TEXT_SIZE, format);
}

static void write_constant(struct clog2_writer *clog2, const struct clog2_place *place, const char *name, int32_t value)
{
    unsigned char *body = clog2_put_record(clog2, place, CLOG2_CONSTDEF);
    bytes_put_i32(body, true, CLOG2_CONSTANT);
    bytes_put_i32(body + 4, true, value);
    clog2_put_text(&clog2->writer, body + 8, CLOG2_NAME_SIZE, name);
}

static void write_site_record(struct clog2_writer *clog2, const struct clog2_place *place, uint32_t index, int32_t line,
                              const char *text)
{
    unsigned char *body = clog2_put_record(clog2, place, CLOG2_SITE);
    bytes_put_i32(body, true, clog2->ids.sites[index]);
    bytes_put_i32(body + 4, true, line);
    clog2_put_text(&clog2->writer, body + 8, CLOG2_TEXT_SIZE, text);
}

/* A text in as many records as it takes: `line` stands in the first, `more` in the others. */
static void write_site(struct clog2_writer *clog2, const struct clog2_place *place, uint32_t index, int32_t line,
                       int32_t more, const char *text)
{
    size_t left = strlen(text);
    do {
        char piece[CLOG2_TEXT_SIZE];
        int length = text_beginning(text, CLOG2_TEXT_SIZE - 1);
        if (length == 0 && left > 0) /* not UTF-8 */
            length = (int)smaller(left, sizeof piece - 1);
        snprintf(piece, sizeof piece, "%.*s", length, text);
        write_site_record(clog2, place, index, line, piece);
        line = more;
        text += length;
        left -= (size_t)length;
    } while (left > 0);
}

void clog2_write_definition(struct clog2_writer *clog2, const struct clog2_place *place, int64_t kind, uint32_t index)
{
    const struct defs *defs = clog2->writer.defs;
    if (kind == DEFINITION_STATE) {
        write_state(clog2, place, index);
    } else if (kind == DEFINITION_MARK) {
        write_mark(clog2, place, index);
    } else if (kind == DEFINITION_CONSTANT) {
        write_constant(clog2, place, defs->constants[index].name, defs->constants[index].value);
    } else {
        const struct site_def *site = &defs->sites[index];
        write_site(clog2, place, index, clog2_line_is_other(site->line) ? 0 : site->line, CLOG2_SITE_FILE_MORE,
                   site->file);
        if (site->function)
            write_site(clog2, place, index, CLOG2_SITE_FUNCTION, CLOG2_SITE_FUNCTION_MORE, site->function);
        if (site->library)
            write_site_record(clog2, place, index, CLOG2_SITE_LIBRARY, "");
    }
}

void clog2_introduce(struct clog2_writer *clog2, uint32_t process, int64_t time_ns)
{
    const struct defs *defs = clog2->writer.defs;
    bool known = clog2->world >= 0 && map_find(&defs->ranks, map_pair((uint32_t)clog2->world, process));
    if (known || *map_put(&clog2->introduced, process, 0))
        return;
    bool first = clog2->introduced.count == 1 && defs->constant_count == 0;
    *map_put(&clog2->introduced, process, 0) = 1;
    int32_t rank = (int32_t)process, self = clog2->next_comm_id++;
    struct clog2_place place = {.time_ns = time_ns, .comm_id = clog2->world_id, .rank = rank};
    unsigned char uuid[COMM_UUID_SIZE];
    clog2_put_record(clog2, &place, CLOG2_SHIFT);
    clog2_comm_uuid(clog2, clog2->world, clog2->world_id, uuid);
    clog2_write_comm(clog2, &place, (int32_t[]){COMM_STEP_WORLD, clog2->world_id, rank, rank}, uuid);
    clog2_made_up_uuid(uuid, self, false);
    clog2_write_comm(clog2, &place, (int32_t[]){COMM_STEP_SELF, self, 0, rank}, uuid);
    *map_put(&clog2->self_ids, process, 0) = (uint64_t)self;
    if (first) {
        write_constant(clog2, &place, "MPI_PROC_NULL", -1);
        write_constant(clog2, &place, "MPI_ANY_SOURCE", -2);
        write_constant(clog2, &place, "MPI_ANY_TAG", -1);
    }
}

/* True for marks that need no definition: their name is their number, or no event has them. */
static bool mark_needs_none(const struct clog2_writer *clog2, size_t index)
{
    const struct mark_def *mark = &clog2->writer.defs->marks[index];
    if (clog2_words_of(clog2, true, (uint32_t)index))
        return false;
    return (!mark->defined && clog2->ids.marks[index] == mark->id) || (mark->made_up && !clog2->mark_occurs[index]);
}

void clog2_write_missing_definitions(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    const size_t counts[4] = {defs->state_count, defs->mark_count, defs->constant_count, defs->site_count};
    struct clog2_place place = {.time_ns = clog2->last_ns, .comm_id = clog2->world_id};
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < counts[kind]; i++) {
            bool there = i < clog2->defined_count[kind] && clog2->defined[kind][i];
            if (there || (kind == DEFINITION_MARK && mark_needs_none(clog2, i)))
                continue;
            clog2_introduce(clog2, 0, clog2->last_ns);
            clog2_write_definition(clog2, &place, kind, (uint32_t)i);
        }
}

void clog2_write_paths(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    struct clog2_place place = {.time_ns = clog2->last_ns, .comm_id = clog2->world_id};
    if (!clog2_paths_fit(defs))
        return;
    clog2_introduce(clog2, 0, clog2->last_ns);
    for (size_t i = 0; i < defs->path_count; i++) {
        const struct path_def *path = &defs->paths[i];
        char text[CLOG2_TEXT_SIZE];
        snprintf(text, sizeof text, "%" PRIu32 " %" PRId32, path->parent,
                 path->site ? clog2->ids.sites[path->site - 1] : 0);
        unsigned char *body = clog2_put_record(clog2, &place, CLOG2_SITE);
        bytes_put_u32(body, true, (uint32_t)i + 1);
        bytes_put_i32(body + 4, true, CLOG2_SITE_PATH);
        clog2_put_text(&clog2->writer, body + 8, CLOG2_TEXT_SIZE, text);
    }
    if (clog2->samples_mark != UINT32_MAX)
        return;
    unsigned char *body = clog2_put_record(clog2, &place, CLOG2_EVENTDEF);
    bytes_put_i32(body, true, clog2->samples_id);
    put_colour(clog2, body + 8, "gray");
    put_name(clog2, body + 32, SAMPLES_MARK_NAME, clog2->samples_id);
    clog2_put_text(&clog2->writer, body + 64, CLOG2_TEXT_SIZE, SAMPLES_MARK_FORMAT);
}

/* A text of a property, in as many records as it takes. */
static void write_property_text(struct clog2_writer *clog2, uint32_t number, int32_t line, const char *text)
{
    struct clog2_place place = {.time_ns = clog2->last_ns, .comm_id = clog2->world_id};
    size_t left = text ? strlen(text) : 0;
    while (left > 0) {
        size_t length = left < CLOG2_TEXT_SIZE ? left : CLOG2_TEXT_SIZE - 1;
        unsigned char *body = clog2_put_record(clog2, &place, CLOG2_SITE);
        bytes_put_u32(body, true, number);
        bytes_put_i32(body + 4, true, line);
        memcpy(body + 8, text, length);
        text += length;
        left -= length;
    }
}

void clog2_write_properties(struct clog2_writer *clog2)
{
    struct property_list list = property_list_of(clog2->writer.defs);
    if (list.count > 0)
        clog2_introduce(clog2, 0, clog2->last_ns);
    for (size_t i = 0; i < list.count; i++) {
        char *ranks = property_ranks(&list.rows[i]);
        write_property_text(clog2, (uint32_t)i + 1, CLOG2_SITE_PROPERTY_NAME, list.rows[i].name);
        write_property_text(clog2, (uint32_t)i + 1, CLOG2_SITE_PROPERTY_RANKS, ranks);
        write_property_text(clog2, (uint32_t)i + 1, CLOG2_SITE_PROPERTY_VALUE, list.rows[i].value);
        free(ranks);
    }
    property_list_clear(&list);
}
