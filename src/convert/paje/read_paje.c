/* SPDX-License-Identifier: BSD-3-Clause */
/* Pajé, the text format of SimGrid, StarPU, EZTrace 1 and others: definitions, then the events. Facts: paje(5). */
#include "convert/paje/paje_state.h"

#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* True where "%EventDef" begins, with blanks after the "%" or without. */
static bool begins_definition(const unsigned char *at, const unsigned char *end)
{
    static const char word[] = "EventDef";
    if (at == end || *at != '%')
        return false;
    for (at++; at < end && (*at == ' ' || *at == '\t');)
        at++;
    return (size_t)(end - at) >= sizeof word - 1 && memcmp(at, word, sizeof word - 1) == 0;
}

/* Comments come first, among them the command with which SimGrid was run. */
static int paje_probe(const unsigned char *data, size_t size)
{
    static const char simgrid[] = "#This file was generated using SimGrid";
    const unsigned char *at = data, *end = data + size;
    while (at < end && (*at == '#' || isspace(*at))) {
        if (*at != '#') {
            at++;
            continue;
        }
        const unsigned char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    if (begins_definition(at, end))
        return 90;
    /* SimGrid's command line, in the comment, may be longer than what is probed. */
    if (at == end && size > sizeof simgrid && memcmp(data, simgrid, sizeof simgrid - 1) == 0)
        return 80;
    return 0;
}

/* Only SimGrid's keys, and ours, which imitate them, can be taken apart (read_simgrid_key). */
static void take_creator(struct reader *reader, const struct text_line *line)
{
    static const char word[] = "generated using ";
    struct paje_state *state = reader->state;
    size_t length = (size_t)(line->end - line->at);
    const char *at = memmem(line->at, length, word, sizeof word - 1);
    if (!at || reader->defs->creator)
        return;
    at += sizeof word - 1;
    reader->defs->creator = text_from_bytes(at, (size_t)(line->end - at));
    state->simgrid =
        strncmp(reader->defs->creator, "SimGrid", 7) == 0 || strncmp(reader->defs->creator, "SIGHT", 5) == 0;
}

/* What the first pass makes of an event: its definition, and what its container has. */
static enum status scan_event(struct reader *reader, struct error *err)
{
    struct paje_state *state = reader->state;
    const struct paje_record *record = &state->record;
    struct paje_place place;
    if (state->known)
        return paje_links_add(&state->links, record, state->known->begin, state->byte, state->known->lane,
                              paje_link_bytes(record), err);
    if (paje_place(state, &place))
        return STATUS_OK;
    /* What containers have decides later which of them are processes. */
    state->container[place.container].has |= place.what;
    if (place.what == PAJE_HAS_LINKS) {
        struct paje_link_key begin = paje_link_begin(record);
        paje_known_keep_link(&state->known_lines, record, place.container, begin);
        return paje_links_add(&state->links, record, begin, state->byte, place.container, paje_link_bytes(record), err);
    }
    struct paje_word value = paje_word_of(record, FIELD_VALUE);
    if (place.what == PAJE_HAS_STATES) {
        paje_lane(state, place.container, place.type);
        if (record->has & 1u << FIELD_VALUE)
            paje_state_of(state, reader->defs, place.type, value);
        paje_known_keep(&state->known_lines, PAJE_NONE, PAJE_NONE);
    } else if (place.what == PAJE_HAS_EVENTS) {
        paje_mark_of(state, reader->defs, place.type, value);
    } else {
        double number = 0;
        paje_counter_of(state, reader->defs, place.type);
        /* Events have either whole numbers or doubles: the counter's type must be known before its first event.
           Beyond 2^53 doubles have gaps. */
        if (!paje_number(value, &number) || fabs(number) > 0x1p53 || number != floor(number))
            state->type[place.type].fraction = true;
    }
    return STATUS_OK;
}

/* Damage is noted by the second pass. */
static enum status scan_record(struct reader *reader, struct error *err)
{
    struct paje_state *state = reader->state;
    uint8_t kind = state->record.def->kind;
    int64_t time_ns;
    /* The first pass has nothing new to find in it; but links have to find each other. */
    if (state->known && kind < PAJE_START_LINK)
        return STATUS_OK;
    if (kind > PAJE_DESTROY)
        /* Ends of states say nothing new in the first pass: half of a trace is not parsed. */
        return state->schema.passed >> kind & 1 ? STATUS_OK : scan_event(reader, err);
    paje_known_forget(&state->known_lines);
    /* Containers come and go in both passes, since a name may be used again after its container was destroyed. */
    if (kind <= PAJE_LINK_TYPE)
        paje_define_type(state);
    else if (kind == PAJE_VALUE)
        paje_define_value(state);
    else if (paje_time(state->record.word[FIELD_TIME], &time_ns)) {
        if (kind == PAJE_CREATE)
            paje_create(state);
        else
            paje_destroy(state);
    }
    return STATUS_OK;
}

/* The record of a line, with its meaning if that is known. NULL, or what is wrong. */
static const char *take_record(struct paje_state *state, const char *at, const char *end)
{
    struct paje_record *record = &state->record;
    const char *wrong = paje_record_begin(record, &state->schema, &at, end);
    state->known = NULL;
    if (wrong || state->schema.passed >> record->def->kind & 1)
        return wrong;
    state->known = paje_known_find(&state->known_lines, record, at, end);
    return state->known ? NULL : paje_record_words(record, at, end);
}

/* The next line that has something to say. Definitions of events are taken, comments passed over. A line that cannot
   be read is damage, and the next one is: a text format has no other structure. */
static enum status next_record(struct reader *reader, struct text_line *line, struct error *err)
{
    struct paje_state *state = reader->state;
    enum status status;
    while ((status = text_line_whole(reader, PAJE_LINE_MOST, &state->inside_line, line, err)) == STATUS_OK) {
        const char *at = line->at, *wrong;
        state->byte = line->byte;
        while (at < line->end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == line->end)
            continue;
        if (*at == '#') {
            take_creator(reader, line);
            continue;
        }
        if (*at == '%') {
            paje_known_forget(&state->known_lines);
            wrong = paje_schema_line(&state->schema, at, line->end, line->byte);
        } else {
            wrong = take_record(state, at, line->end);
            if (!wrong)
                return STATUS_OK;
        }
        if (wrong)
            reader_damage(reader, line->byte, "%s", wrong);
    }
    return status;
}

static enum status paje_open(struct reader *reader, struct error *err)
{
    struct paje_state *state = reader->state;
    struct text_line line;
    enum status status;
    state->counting = true;
    state->schema.passed = 1u << PAJE_POP_STATE | 1u << PAJE_RESET_STATE | 1u << PAJE_OTHER;
    paje_containers_begin(state);
    while ((status = next_record(reader, &line, err)) == STATUS_OK)
        if (scan_record(reader, err) != STATUS_OK)
            return STATUS_FAILED;
    if (status == STATUS_FAILED || paje_links_sort(&state->links, err) != STATUS_OK)
        return STATUS_FAILED;
    /* Comments alone: cut before anything was said. */
    if (state->schema.count == 0)
        return error_set(err, ERROR_INPUT,
                         "%s: byte %" PRIu64 ": the file ends before the first definition of an event",
                         reader->input->name, reader->input->offset);
    for (size_t i = 0; i < state->type_count; i++)
        if (state->type[i].kind == PAJE_VARIABLE_TYPE && state->type[i].mark != PAJE_NONE && !state->type[i].fraction)
            reader->defs->marks[state->type[i].mark].counter.type = COUNTER_INT64;
    paje_places(state, reader->defs);
    state->counting = false;
    state->schema.passed = 0;
    paje_known_forget(&state->known_lines);
    paje_containers_begin(state);
    reader->used = reader->total = reader->input->offset;
    reader->damage = (struct damage){0}; /* noted when the events are read */
    state->inside_line = state->schema.inside = false;
    return input_rewind(reader->input, err);
}

/* SimGrid, and SIGHT, destroy every container at the end; others may leave them. */
static void check_end(struct reader *reader)
{
    struct paje_state *state = reader->state;
    uint64_t left = 0;
    for (size_t i = 1; i < state->container_count; i++)
        left += !state->container[i].destroyed && state->container[i].process != PAJE_NONE;
    if (state->simgrid && left > 0)
        reader_damage(reader, reader->input->offset,
                      "the file ends before its containers do (%" PRIu64 " of them): it has been cut, or the run was",
                      left);
    if (state->records == 0)
        reader_damage(reader, reader->input->offset, "the file ends after its definitions: it has no events");
}

/* What was left out is said in counts: variables of machines, ends without a begin. */
static enum status paje_end(struct reader *reader)
{
    static const char *const names[] = {
#define PAJE_KIND_NAME(name, spelling, needs) spelling,
        PAJE_KINDS(PAJE_KIND_NAME)
#undef PAJE_KIND_NAME
    };
    struct paje_state *state = reader->state;
    for (size_t i = 0; i < PAJE_OTHER; i++)
        if (state->kinds[i] > 0)
            reader_count(reader, names[i], state->kinds[i]);
    if (state->kinds[PAJE_OTHER] > 0)
        reader_count(reader, "event of a kind that is not Pajé's", state->kinds[PAJE_OTHER]);
    if (state->stray > 0)
        reader_count(reader, "PajePopState where no state is open", state->stray);
    if (state->homeless > 0)
        reader_count(reader, "event outside of processes, not read", state->homeless);
    check_end(reader);
    reader->complete = reader->damage.count == 0;
    return STATUS_END;
}

static enum status paje_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct paje_state *state = reader->state;
    paje_drain(state, batch);
    while (batch->count < BATCH_EVENTS) {
        struct text_line line;
        const char *wrong;
        enum status status = next_record(reader, &line, err);
        /* What is queued comes before the end. */
        if (status == STATUS_END && state->queue_count == 0)
            return paje_end(reader);
        if (status != STATUS_OK)
            return status == STATUS_END ? STATUS_OK : status;
        state->kinds[state->record.def->kind]++;
        state->records += state->record.def->kind > PAJE_DESTROY; /* what only defines is not an event */
        if (paje_emit(reader, batch, &wrong, err) != STATUS_OK)
            return STATUS_FAILED;
        if (wrong)
            reader_damage(reader, line.byte, "%s", wrong);
    }
    return STATUS_OK;
}

static void paje_close(struct reader *reader)
{
    struct paje_state *state = reader->state;
    paje_schema_clear(&state->schema);
    paje_symbols_clear(&state->symbols);
    paje_types_clear(state);
    paje_containers_clear(state);
    paje_links_clear(&state->links);
    map_clear(&state->totals);
    free(state->queue);
    free(state->known_lines.line);
}

const struct format format_paje = {.name = "paje",
                                   .title = "Pajé",
                                   .suffix = ".trace",
                                   .probe = paje_probe,
                                   .two_passes = true,
                                   .state_size = sizeof(struct paje_state),
                                   .open = paje_open,
                                   .next = paje_next,
                                   .close = paje_close};
