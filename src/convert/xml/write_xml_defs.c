/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of definitions and of records about the trace. */
#include "convert/xml/write_xml.h"

#include "core/payload.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t after_of(const struct xml_writer *xml, int64_t after)
{
    /* Below 0 it is the number of a record whose place is only known when the trace is complete. */
    if (after < 0)
        return (int64_t)xml->late[-1 - after];
    return after;
}

static void put_name(struct xml_line *line, const char *name)
{
    /* A name is required by the DTD, even an empty one. */
    xml_put_attribute_text(line, "name", name ? name : "");
}

static void put_id(struct xml_line *line, const char *name, int32_t id)
{
    /* Numbers of the format that was read; a state may have none. */
    if (id != EVENT_UNKNOWN)
        xml_put_attribute_i64(line, name, id);
}

static void put_count(struct xml_line *line, const char *name, int32_t count)
{
    if (count)
        xml_put_attribute_i64(line, name, count);
}

/* The place and time of the record. */
static void put_place(struct xml_writer *xml, const struct xml_place *place)
{
    struct xml_line *line = &xml->line;
    xml_put_attribute_i64(line, "process", place->process);
    XML_PUT(line, " timestamp=\"");
    xml_put_time(line, place->time_ns);
    XML_PUT(line, "\"");
    /* The sequence of records of equal time, where it is not that of the lines. */
    if (after_of(xml, place->after))
        xml_put_attribute_i64(line, "after", after_of(xml, place->after));
    if (place->thread)
        xml_put_attribute_i64(line, "thread", place->thread);
}

/* Attributes that have their usual value are left out: documents are read by people, too. */
static void put_state(struct xml_line *line, const struct state_def *state)
{
    XML_PUT(line, "<state");
    put_name(line, state->name);
    xml_put_attribute_text(line, "original", state->original);
    xml_put_attribute_text(line, "colour", state->colour);
    xml_put_attribute_text(line, "format", state->format);
    put_id(line, "id", state->id);
    put_id(line, "start", state->start);
    put_id(line, "end", state->end);
    if (state->shadowed)
        XML_PUT(line, " shadowed=\"yes\"");
    xml_put_attribute_text(line, "file", state->file);
    put_count(line, "line", state->line);
    put_count(line, "last_line", state->end_line);
    if (state->paradigm != PARADIGM_UNKNOWN)
        xml_put_attribute_text(line, "paradigm", paradigm_name(state->paradigm));
    if (state->role != ROLE_UNKNOWN)
        xml_put_attribute_text(line, "role", region_role_name(state->role));
}

static void put_counter(struct xml_line *line, const struct counter_def *counter)
{
    if (counter->type == COUNTER_NONE)
        return;
    xml_put_attribute_text(line, "type", counter_type_name(counter->type));
    xml_put_attribute_text(line, "unit", counter->unit);
    if (counter->mode != COUNTER_MODE_UNKNOWN)
        xml_put_attribute_text(line, "mode", counter_mode_name(counter->mode));
    if (counter->scope != COUNTER_OF_THREAD)
        xml_put_attribute_text(line, "scope", counter_scope_name(counter->scope));
    put_count(line, "base", counter->base);
    put_count(line, "exponent", counter->exponent);
}

static void put_mark(struct xml_line *line, const struct mark_def *mark)
{
    XML_PUT(line, "<marktype");
    put_name(line, mark->name);
    xml_put_attribute_text(line, "colour", mark->colour);
    xml_put_attribute_text(line, "format", mark->format);
    put_id(line, "id", mark->id);
    if (mark->shadowed)
        XML_PUT(line, " shadowed=\"yes\"");
    /* Events that no definition belongs to were met in the trace: their name is made up. */
    if (!mark->defined)
        XML_PUT(line, " defined=\"no\"");
    put_counter(line, &mark->counter);
}

static void put_constant(struct xml_line *line, const struct constant_def *constant)
{
    XML_PUT(line, "<constant");
    put_name(line, constant->name);
    xml_put_attribute_i64(line, "value", constant->value);
}

static void put_site(struct xml_line *line, const struct site_def *site)
{
    XML_PUT(line, "<site");
    put_id(line, "id", site->id);
    if (site->line)
        xml_put_attribute_i64(line, "line", site->line);
    xml_put_attribute_text(line, "file", site->file);
    if (site->function)
        xml_put_attribute_text(line, "function", site->function);
    if (site->library)
        XML_PUT(line, " library=\"yes\"");
}

static void put_definition(struct xml_writer *xml, enum definition_kind kind, size_t index)
{
    const struct defs *defs = xml->defs;
    switch (kind) {
    case DEFINITION_STATE:
        put_state(&xml->line, &defs->states[index]);
        break;
    case DEFINITION_MARK:
        put_mark(&xml->line, &defs->marks[index]);
        break;
    case DEFINITION_CONSTANT:
        put_constant(&xml->line, &defs->constants[index]);
        break;
    case DEFINITION_SITE:
        put_site(&xml->line, &defs->sites[index]);
        break;
    }
}

void xml_write_definitions(struct xml_writer *xml, enum definition_kind kind, size_t index)
{
    struct xml_places *places = &xml->places[kind];
    /* In the order of their indices, which the reader counts: definitions before this one come with it. */
    for (; places->written <= index; places->written++) {
        put_definition(xml, kind, places->written);
        const struct xml_place *place = places->written < places->count ? &places->places[places->written] : NULL;
        if (place && place->known) {
            put_place(xml, place);
            /* The world is what a line without communicator means. */
            if (place->comm != xml->world)
                xml_put_comm(xml, "communicator", place->comm);
        }
        xml_end_line(xml);
    }
}

static void put_step(struct xml_line *line, int64_t step)
{
    const char *word = xml_step_word(step);
    /* A step that has no word yet is kept as its number. */
    if (word)
        xml_put_attribute_text(line, "step", word);
    else
        xml_put_attribute_i64(line, "step", step);
}

/* The processes that join or leave a communicator, as CLOG-2 records it. */
static void put_membership(struct xml_writer *xml, const struct event *event)
{
    bool freed = event->kind == EVENT_COMM_FREED;
    int32_t comm = freed ? event->comm : event->partner_comm;
    int32_t parent = freed ? event->partner_comm : event->comm;
    XML_PUT(&xml->line, "<membership");
    put_step(&xml->line, freed ? COMM_STEP_FREE : event->value);
    if (comm != EVENT_UNKNOWN)
        xml_put_comm(xml, "communicator", comm);
    if (parent != EVENT_UNKNOWN)
        xml_put_comm(xml, "parent", parent);
    if (event->tag != EVENT_UNKNOWN)
        xml_put_attribute_i64(&xml->line, "rank", event->tag);
    /* The step implies the value that most readers give; any other is written out. */
    if (freed && event->value != COMM_STEP_FREE)
        xml_put_attribute_i64(&xml->line, "value", event->value);
}

static void put_neighbours(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    struct neighbours neighbours;
    size_t count = NEIGHBOURS_RANKS;
    payload_get_neighbours(arena + event->payload, event->payload_length, &neighbours);
    /* A record has a fixed number of places; those that are free need not be written. */
    while (count > 0 && neighbours.ranks[count - 1] == -1)
        count--;
    XML_PUT(&xml->line, "<neighbours");
    if (neighbours.way != NEIGHBOURS_BOTH)
        xml_put_attribute_text(&xml->line, "direction", neighbours.way == NEIGHBOURS_SOURCES ? "receive" : "send");
    xml_put_comm(xml, "communicator", event->comm);
    XML_PUT(&xml->line, " ranks=\"");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            XML_PUT(&xml->line, " ");
        xml_put_i64(&xml->line, neighbours.ranks[i]);
    }
    XML_PUT(&xml->line, "\"");
}

/* Records have the attributes of their kind first, then where and when. */
void xml_write_record(struct xml_writer *xml, const struct event *event, const unsigned char *arena, int64_t after)
{
    const struct xml_place place = {event->time_ns, after, event->process, event->thread, event->comm, true};
    if (event->kind == EVENT_NEIGHBOURS) {
        put_neighbours(xml, event, arena);
        put_place(xml, &place);
    } else if (event->kind != EVENT_SHIFT) {
        put_membership(xml, event);
        put_place(xml, &place);
    } else {
        XML_PUT(&xml->line, "<shift value=\"");
        xml_put_time(&xml->line, event->value);
        XML_PUT(&xml->line, "\"");
        put_place(xml, &place);
        if (event->comm != xml->world)
            xml_put_comm(xml, "communicator", event->comm);
    }
    xml_end_line(xml);
}

static void put_uuid(struct xml_line *line, const unsigned char uuid[COMM_UUID_SIZE])
{
    XML_PUT(line, " uuid=\"");
    xml_put_hex(line, uuid, COMM_UUID_SIZE);
    XML_PUT(line, "\"");
}

/* The attributes of a communicator on its first line. */
static void put_comm_flags(struct xml_line *line, const struct comm_def *comm)
{
    if (comm->world)
        XML_PUT(line, " world=\"yes\"");
    if (comm->self)
        XML_PUT(line, " self=\"yes\"");
    if (comm->window)
        XML_PUT(line, " window=\"yes\"");
    xml_put_attribute_text(line, "name", comm->name);
}

static void write_comm(struct xml_writer *xml, const struct comm_def *comm)
{
    XML_PUT(&xml->line, "<communicator");
    xml_put_attribute_i64(&xml->line, "id", comm->id);
    if (comm->has_uuid)
        put_uuid(&xml->line, comm->uuid);
    put_comm_flags(&xml->line, comm);
    xml_end_line(xml);
}

/* CLOG-2's table, row by row, since its own tools depend on the order and on double rows. */
static void write_comm_row(struct xml_writer *xml, const struct comm_row *row, const struct comm_def *first)
{
    const char *word = xml_comm_kind_word(row->kind);
    XML_PUT(&xml->line, "<communicator");
    xml_put_attribute_i64(&xml->line, "id", row->id);
    if (word)
        xml_put_attribute_text(&xml->line, "kind", word);
    else
        xml_put_attribute_i64(&xml->line, "kind", row->kind);
    put_uuid(&xml->line, row->uuid);
    if (first)
        put_comm_flags(&xml->line, first);
    xml_end_line(xml);
}

/* Whether a row can be the first line of its communicator: the reader takes the uuid from the first. */
static bool row_introduces(const struct comm_row *row, const struct comm_def *comm)
{
    return !comm->has_uuid || memcmp(row->uuid, comm->uuid, COMM_UUID_SIZE) == 0;
}

void xml_write_communicators(struct xml_writer *xml)
{
    const struct defs *defs = xml->defs;
    size_t written = 0; /* communicators that have a line: always the first ones, so that their order comes back */
    for (size_t i = 0; i < defs->comm_row_count; i++) {
        const struct comm_row *row = &defs->comm_rows[i];
        int32_t index = defs_find_comm(defs, row->id);
        const struct comm_def *comm = index >= 0 ? &defs->comms[index] : NULL;
        while (comm && written < (size_t)index)
            write_comm(xml, &defs->comms[written++]);
        /* CLOG-2's table may list a communicator before others, twice, or with another UUID: its rows come back as
           they were, and the communicators in their order. */
        bool first = comm && written == (size_t)index;
        if (first && !row_introduces(row, comm))
            write_comm(xml, comm);
        write_comm_row(xml, row, first && row_introduces(row, comm) ? comm : NULL);
        written += first;
    }
    while (written < defs->comm_count)
        write_comm(xml, &defs->comms[written++]);
}

static void write_locations(struct xml_writer *xml)
{
    struct xml_line *line = &xml->line;
    for (size_t i = 0; i < xml->defs->location_count; i++) {
        const struct location_def *location = &xml->defs->locations[i];
        char id[24];
        XML_PUT(line, "<location");
        xml_put_attribute_i64(line, "process", location->process);
        if (location->thread)
            xml_put_attribute_i64(line, "thread", location->thread);
        if (location->kind != LOCATION_THREAD)
            xml_put_attribute_text(line, "kind", location_kind_name(location->kind));
        /* OTF2's ids use all 64 bits. */
        snprintf(id, sizeof id, "%" PRIu64, location->id);
        if (location->id)
            xml_put_attribute_text(line, "id", id);
        xml_put_attribute_text(line, "name", location->name);
        xml_put_attribute_text(line, "process_name", location->process_name);
        xml_put_attribute_text(line, "host", location->host);
        xml_end_line(xml);
    }
}

void xml_write_properties(struct xml_writer *xml)
{
    const struct property_list *list = &xml->defs->properties;
    struct xml_line *line = &xml->line;
    for (size_t i = 0; i < list->count; i++) {
        char *ranks = property_ranks(&list->rows[i]);
        XML_PUT(line, "<property");
        xml_put_attribute_text(line, "name", list->rows[i].name);
        xml_put_attribute_text(line, "value", list->rows[i].value);
        xml_put_attribute_text(line, "processes", ranks);
        xml_end_line(xml);
        free(ranks);
    }
}

/* After all definitions that they refer to by number. */
void xml_write_places(struct xml_writer *xml)
{
    struct xml_line *line = &xml->line;
    write_locations(xml);
    for (size_t i = 0; i < xml->defs->handle_count; i++) {
        const struct handle_def *handle = &xml->defs->handles[i];
        XML_PUT(line, "<handle");
        xml_put_attribute_text(line, "name", handle->name);
        xml_put_attribute_text(line, "api", handle->api);
        if (handle->comm != EVENT_UNKNOWN)
            xml_put_comm(xml, "communicator", handle->comm);
        xml_end_line(xml);
    }
    for (size_t i = 0; i < xml->defs->path_count; i++) {
        const struct path_def *path = &xml->defs->paths[i];
        XML_PUT(line, "<path");
        put_count(line, "parent", (int32_t)path->parent);
        if (path->state != PATH_NO_STATE)
            xml_put_attribute_i64(line, "state", path->state);
        put_count(line, "site", (int32_t)path->site);
        xml_end_line(xml);
    }
}
