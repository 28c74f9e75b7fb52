/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements that are definitions or records about the trace. */
#include "convert/xml/read_xml.h"

#include "core/payload.h"

/* A definition with a record in the source has its place. Definitions without process and time have no record in the
   source. */
static void emit_definition(struct xml_reader *xml, enum definition_kind kind, uint32_t index)
{
    struct event event = EVENT_NOTHING;
    if (!xml_has(xml, XML_process) && !xml_has(xml, XML_timestamp))
        return;
    if (!xml_read_place(xml, &event))
        return;
    event.kind = EVENT_DEFINITION;
    event.value = kind;
    event.state = index;
    event.comm = xml_read_comm(xml, XML_communicator, xml->world);
    xml_emit_record(xml, &event, NULL);
}

static char *copy_text(struct xml_reader *xml, enum xml_attribute attribute)
{
    return memory_copy_string(xml_text(xml, attribute));
}

/* A text to compare with words; "" if absent. */
static const char *word_of(struct xml_reader *xml, enum xml_attribute attribute)
{
    const char *word = xml_text(xml, attribute);
    if (word)
        return word;
    return "";
}

/* The definition of a state already used by events: fills in the missing fields. Returns its index,
   EVENT_UNKNOWN if there is no such state. */
static int32_t complete_state(struct defs *defs, struct state_def *state)
{
    int32_t index = defs_find_state(defs, state->name ? state->name : "");
    if (index == EVENT_UNKNOWN)
        return EVENT_UNKNOWN;
    struct state_def *known = &defs->states[index];
    /* Fully known: this is another state of the same name. */
    if (known->colour || known->format || known->original || known->id != EVENT_UNKNOWN ||
        known->start != EVENT_UNKNOWN || known->end != EVENT_UNKNOWN)
        return EVENT_UNKNOWN;
    known->original = state->original;
    known->colour = state->colour;
    known->format = state->format;
    known->id = state->id;
    known->start = state->start;
    known->end = state->end;
    /* The texts belong to the known state now. */
    state->original = state->colour = state->format = NULL;
    return index;
}

void xml_read_state(struct xml_reader *xml)
{
    struct defs *defs = xml->reader->defs;
    struct state_def state = {.name = copy_text(xml, XML_name),
                              .original = copy_text(xml, XML_original),
                              .colour = copy_text(xml, XML_colour),
                              .format = copy_text(xml, XML_format),
                              .id = xml_number_i32(xml, XML_id),
                              .start = xml_number_i32(xml, XML_start),
                              .end = xml_number_i32(xml, XML_end),
                              .shadowed = xml_is_yes(xml, XML_shadowed),
                              .file = copy_text(xml, XML_file),
                              .line = (int32_t)xml_number(xml, XML_line, 0, INT32_MAX, 0),
                              .end_line = (int32_t)xml_number(xml, XML_last_line, 0, INT32_MAX, 0),
                              .paradigm = paradigm_find(word_of(xml, XML_paradigm)),
                              .role = region_role_find(word_of(xml, XML_role))};
    /* After the first event: a hand-made document that defines its states at the end. */
    int32_t known = xml->events_met ? complete_state(defs, &state) : EVENT_UNKNOWN;
    uint32_t index = known == EVENT_UNKNOWN ? defs_add_state(defs, &state) : (uint32_t)known;
    emit_definition(xml, DEFINITION_STATE, index);
    free(state.name);
    free(state.original);
    free(state.colour);
    free(state.format);
    free(state.file);
}

/* A mark is found by its name alone, or by name and id where several have the name. */
static uint64_t mark_key(const char *name, int32_t id)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (hash ^ (uint32_t)id * UINT64_C(0x9E3779B97F4A7C15)) >> 1;
}

static void index_mark_under(struct xml_reader *xml, uint64_t key, uint32_t index)
{
    const struct mark_def *marks = xml->reader->defs->marks;
    uint64_t *first = map_put(&xml->marks, key, index);
    /* Events do not refer to a shadowed mark if there is another one with its name. */
    if (marks[*first].shadowed && !marks[index].shadowed)
        *first = index;
}

void xml_index_mark(struct xml_reader *xml, uint32_t index)
{
    const struct mark_def *mark = &xml->reader->defs->marks[index];
    index_mark_under(xml, mark_key(mark->name, EVENT_UNKNOWN), index);
    if (mark->id != EVENT_UNKNOWN)
        index_mark_under(xml, mark_key(mark->name, mark->id), index);
}

uint32_t xml_mark_named(struct xml_reader *xml, const char *name, int32_t id)
{
    struct defs *defs = xml->reader->defs;
    const uint64_t *found = map_find(&xml->marks, mark_key(name, id));
    /* Another name with the same hash: then it gets a definition of its own each time, which loses nothing. */
    if (found && strcmp(defs->marks[*found].name, name) == 0)
        return (uint32_t)*found;
    char *copy = memory_copy_string(name);
    uint32_t index = defs_add_mark(defs, &(struct mark_def){.name = copy, .id = id});
    free(copy);
    xml_index_mark(xml, index);
    return index;
}

/* A counter is a mark with a type; `defined` says whether the source had a record for it. */
void xml_read_marktype(struct xml_reader *xml)
{
    struct mark_def mark = {.name = copy_text(xml, XML_name),
                            .colour = copy_text(xml, XML_colour),
                            .format = copy_text(xml, XML_format),
                            .id = xml_number_i32(xml, XML_id),
                            .shadowed = xml_is_yes(xml, XML_shadowed)};
    mark.defined = !xml_has(xml, XML_defined) || !xml_value_is(xml->sax.values[XML_defined], "no");
    mark.counter = (struct counter_def){.type = counter_type_find(word_of(xml, XML_type)),
                                        .mode = counter_mode_find(word_of(xml, XML_mode)),
                                        .scope = counter_scope_find(word_of(xml, XML_scope)),
                                        .base = (int32_t)xml_number(xml, XML_base, 0, INT32_MAX, 0),
                                        .exponent = (int32_t)xml_number(xml, XML_exponent, INT32_MIN, INT32_MAX, 0),
                                        .unit = copy_text(xml, XML_unit)};
    uint32_t index = defs_add_mark(xml->reader->defs, &mark);
    xml_index_mark(xml, index);
    emit_definition(xml, DEFINITION_MARK, index);
    free(mark.name);
    free(mark.colour);
    free(mark.format);
    free(mark.counter.unit);
}

void xml_read_location(struct xml_reader *xml)
{
    struct defs *defs = xml->reader->defs;
    struct location_def location = {.process = (uint32_t)xml_number(xml, XML_process, 0, PROCESS_LIMIT - 1, 0),
                                    .thread = (uint32_t)xml_number(xml, XML_thread, 0, PROCESS_LIMIT - 1, 0),
                                    .kind = location_kind_find(word_of(xml, XML_kind)),
                                    .name = copy_text(xml, XML_name),
                                    .process_name = copy_text(xml, XML_process_name),
                                    .host = copy_text(xml, XML_host)};
    /* Not through xml_number, which has a sign. */
    if (xml_has(xml, XML_id) && !xml_get_u64(xml->sax.values[XML_id], UINT64_MAX, &location.id))
        xml_damage(xml, "attribute id is no number from 0 to 2^64-1");
    defs_add_location(defs, &location);
    free(location.name);
    free(location.process_name);
    free(location.host);
}

void xml_read_property(struct xml_reader *xml)
{
    char *name = memory_copy_string(xml_text(xml, XML_name)), *value = memory_copy_string(xml_text(xml, XML_value));
    const char *ranks = xml_text(xml, XML_processes);
    if (name && !property_add_text(&xml->reader->defs->properties, name, value, ranks))
        xml_damage(xml, "processes of a property are not a list of ranks");
    free(name);
    free(value);
}

void xml_read_handle(struct xml_reader *xml)
{
    struct handle_def handle = {.name = copy_text(xml, XML_name),
                                .api = copy_text(xml, XML_api),
                                .comm = xml_read_comm(xml, XML_communicator, EVENT_UNKNOWN)};
    defs_add_handle(xml->reader->defs, &handle);
    free(handle.name);
    free(handle.api);
}

/* Numbers count the elements of their kind before this one: parents come first. */
void xml_read_path(struct xml_reader *xml)
{
    struct defs *defs = xml->reader->defs;
    struct path_def path = {.parent = (uint32_t)xml_number(xml, XML_parent, 0, (int64_t)defs->path_count, 0),
                            .state = PATH_NO_STATE,
                            .site = (uint32_t)xml_number(xml, XML_site, 0, (int64_t)defs->site_count, 0)};
    /* The largest number allowed would be -1. */
    if (xml_has(xml, XML_state) && defs->state_count == 0)
        xml_damage(xml, "path without a state");
    else if (xml_has(xml, XML_state))
        path.state = (uint32_t)xml_number(xml, XML_state, 0, (int64_t)defs->state_count - 1, 0);
    defs_add_path(defs, &path);
}

void xml_read_constant(struct xml_reader *xml)
{
    int32_t value = (int32_t)xml_number(xml, XML_value, INT32_MIN, INT32_MAX, 0);
    const char *name = xml_text(xml, XML_name);
    uint32_t index = defs_add_constant(xml->reader->defs, name ? name : "", value);
    emit_definition(xml, DEFINITION_CONSTANT, index);
}

void xml_read_site(struct xml_reader *xml)
{
    struct site_def site = {.id = xml_number_i32(xml, XML_id),
                            .line = (int32_t)xml_number(xml, XML_line, INT32_MIN, INT32_MAX, 0),
                            .function = copy_text(xml, XML_function),
                            .library = xml_is_yes(xml, XML_library)};
    site.file = (char *)xml_text(xml, XML_file);
    uint32_t index = defs_add_site(xml->reader->defs, &site);
    free(site.function);
    emit_definition(xml, DEFINITION_SITE, index);
}

static bool read_uuid(struct xml_reader *xml, unsigned char uuid[COMM_UUID_SIZE])
{
    if (!xml_has(xml, XML_uuid))
        return false;
    struct xml_value value = xml->sax.values[XML_uuid];
    if (value.length == 2 * COMM_UUID_SIZE && xml_get_hex(value, uuid))
        return true;
    xml_damage(xml, "uuid does not have %d hexadecimal digits", 2 * COMM_UUID_SIZE);
    memset(uuid, 0, COMM_UUID_SIZE);
    return false;
}

void xml_read_communicator(struct xml_reader *xml)
{
    struct defs *defs = xml->reader->defs;
    struct comm_row row = {.kind = COMM_KIND_UNKNOWN};
    int32_t index = xml_read_comm(xml, XML_id, EVENT_UNKNOWN);
    if (index == EVENT_UNKNOWN) {
        xml_damage(xml, "communicator without id");
        return;
    }
    struct comm_def *comm = &defs->comms[index];
    if (read_uuid(xml, row.uuid))
        comm_set_uuid(comm, row.uuid);
    comm_set_name(comm, xml_text(xml, XML_name));
    /* Several lines may describe a communicator: what any of them says counts. */
    comm->world |= xml_is_yes(xml, XML_world);
    comm->self |= xml_is_yes(xml, XML_self);
    comm->window |= xml_is_yes(xml, XML_window);
    /* Lines without a communicator mean the world, which has to be known before them. */
    if (comm->world && xml->world == EVENT_UNKNOWN)
        xml->world = index;
    /* Without a kind it is no row of CLOG-2's table, which may list a communicator twice. */
    if (!xml_has(xml, XML_kind))
        return;
    row.id = comm->id;
    if (!xml_comm_kind_of(xml->sax.values[XML_kind], &row.kind))
        row.kind = (int32_t)xml_number(xml, XML_kind, INT32_MIN, INT32_MAX, COMM_KIND_UNKNOWN);
    ARRAY_PUSH(defs->comm_rows, defs->comm_row_count, defs->comm_row_capacity, row);
}

void xml_read_membership(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event))
        return;
    int32_t comm = xml_read_comm(xml, XML_communicator, EVENT_UNKNOWN);
    int32_t parent = xml_read_comm(xml, XML_parent, EVENT_UNKNOWN);
    /* CLOG-2 files may have numbers that no word stands for. */
    if (!xml_has(xml, XML_step) || !xml_step_of(xml->sax.values[XML_step], &event.value))
        event.value = xml_number(xml, XML_step, INT64_MIN, INT64_MAX, COMM_STEP_INTRA);
    bool freed = event.value == COMM_STEP_FREE;
    event.kind = freed ? EVENT_COMM_FREED : EVENT_COMM_MADE;
    /* CLOG-2 names the freed communicator in the place of the parent. */
    event.comm = freed ? comm : parent;
    event.partner_comm = freed ? parent : comm;
    event.tag = xml_number_i32(xml, XML_rank);
    if (freed)
        event.value = xml_number(xml, XML_value, INT64_MIN, INT64_MAX, COMM_STEP_FREE);
    /* A process's data about the other group of an inter-communicator do not give its own rank. */
    else if (comm != EVENT_UNKNOWN && event.tag >= 0 && event.value != COMM_STEP_REMOTE)
        defs_set_member(xml->reader->defs, comm, event.tag, event.process);
    xml_emit_record(xml, &event, NULL);
}

/* The value is a time, in µs as all times of a document. */
void xml_read_shift(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event))
        return;
    event.kind = EVENT_SHIFT;
    event.value = xml_time(xml, XML_value, 0);
    event.comm = xml_read_comm(xml, XML_communicator, xml->world);
    xml_emit_record(xml, &event, NULL);
}

/* Emits the ranks of a list, a record of each NEIGHBOURS_RANKS of them; at least one. CLOG-2 has room for so many
   ranks in a record: a longer list is several. */
static void emit_neighbours(struct xml_reader *xml, const struct event *event, int32_t way, const char *ranks)
{
    bool more = true;
    while (more) {
        struct neighbours neighbours = {.way = way};
        unsigned char payload[NEIGHBOURS_MARK_SIZE];
        for (size_t i = 0; i < NEIGHBOURS_RANKS; i++) {
            char *end;
            long rank = strtol(ranks, &end, 10);
            bool is_rank = end != ranks && rank >= 0 && rank < PROCESS_LIMIT;
            neighbours.ranks[i] = is_rank ? (int32_t)rank : -1;
            ranks = end;
        }
        ranks += strspn(ranks, " ");
        more = *ranks >= '0' && *ranks <= '9';
        payload_put_neighbours(payload, &neighbours);
        xml_emit_record(xml, event, payload);
    }
    if (*ranks)
        xml_damage(xml, "ranks are not a list of numbers");
}

/* The mark that CLOG-2 needs for them; a document may do without it. */
static uint32_t neighbours_mark(struct xml_reader *xml)
{
    uint32_t index = xml_mark_named(xml, NEIGHBOURS_MARK_NAME, EVENT_UNKNOWN);
    struct mark_def *mark = &xml->reader->defs->marks[index];
    /* CLOG-2's writer needs it for the record of each list. */
    if (!mark->format) {
        mark->format = memory_copy_string(NEIGHBOURS_MARK_FORMAT);
        mark->defined = true;
    }
    return index;
}

void xml_read_neighbours(struct xml_reader *xml)
{
    static const int32_t ways[] = {[DIRECTION_NONE] = NEIGHBOURS_BOTH,
                                   [DIRECTION_SEND] = NEIGHBOURS_DESTINATIONS,
                                   [DIRECTION_RECEIVE] = NEIGHBOURS_SOURCES};
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event))
        return;
    event.kind = EVENT_NEIGHBOURS;
    event.comm = xml_read_comm(xml, XML_communicator, xml->world);
    event.state = neighbours_mark(xml);
    event.payload_length = NEIGHBOURS_MARK_SIZE;
    enum message_direction direction = xml_given_direction(xml);
    const char *ranks = xml_text(xml, XML_ranks);
    emit_neighbours(xml, &event, ways[direction], ranks ? ranks : "");
}
