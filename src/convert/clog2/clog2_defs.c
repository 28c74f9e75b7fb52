/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_defs.h"

#include "convert/clog2/clog2_counter.h"
#include "convert/clog2/clog2_sites.h"
#include "convert/clog2/mpe2_state.h"
#include "core/memory.h"
#include "core/payload.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of communicator records before version 02.30: 102 to 105 make one. */
enum { EARLY_INIT = 101, EARLY_FREE = 106 };

void clog2_defs_clear(struct clog2_defs *defs)
{
    for (size_t i = 0; i < defs->ranks_count; i++)
        free(defs->ranks[i].world);
    free(defs->ranks);
    free(defs->near_roles);
    free(defs->near_sites);
    for (size_t i = 0; i < CLOG2_PROPERTY_TEXTS; i++)
        free(defs->property.texts[i].text);
    map_clear(&defs->roles);
    map_clear(&defs->sites);
    map_clear(&defs->uuids);
}

void clog2_part_defs_clear(struct clog2_part_defs *part)
{
    free(part->table);
}

int64_t clog2_early_step(int32_t kind)
{
    if (kind == EARLY_INIT)
        return COMM_STEP_WORLD;
    if (kind == EARLY_FREE)
        return COMM_STEP_FREE;
    return COMM_STEP_INTRA;
}

/* Gives an id its meaning unless it has one; true if it took it. The first definition of an id counts, as in MPE's
   tools. 0 is "no meaning yet": kinds are stored with 1 added. */
static bool role_set(struct clog2_defs *defs, int32_t id, enum event_kind kind, uint32_t index)
{
    uint64_t packed = (uint64_t)index << 8 | ((uint64_t)kind + 1);
    uint32_t near = clog2_near(id);
    uint64_t *place = near < CLOG2_NEAR_COUNT ? &defs->near_roles[near] : map_put(&defs->roles, (uint32_t)id, 0);
    if (*place)
        return false;
    *place = packed;
    return true;
}

/* An aborted run has no definitions of MPI's states, which MPE writes in MPI_Finalize: ids below 600 are those of
   its built-in table, any other is a single event named by its number. */
struct clog2_event_role clog2_role_undefined(struct clog2_defs *defs, int32_t id)
{
    const uint64_t *found = map_find(&defs->roles, (uint32_t)id);
    if (found)
        return (struct clog2_event_role){.kind = (uint8_t)(*found - 1), .index = (uint32_t)(*found >> 8)};
    const struct mpe2_state *known = mpe2_state_of_event(id);
    const struct mpe2_solo *solo = mpe2_solo_of_event(id);
    if (known) {
        int32_t start = 2 * known->id;
        uint32_t index =
            defs_add_state(defs->defs, &(struct state_def){.name = (char *)known->name,
                                                           .colour = (char *)known->colour,
                                                           .format = known->format[0] ? (char *)known->format : NULL,
                                                           .id = known->id,
                                                           .start = start,
                                                           .end = start + 1});
        role_set(defs, start, EVENT_ENTER, index);
        role_set(defs, start + 1, EVENT_LEAVE, index);
    } else {
        char number[TEXT_NUMBER_SIZE];
        snprintf(number, sizeof number, "%d", (int)id);
        struct mark_def mark = {.name = number, .id = id};
        if (solo)
            mark = (struct mark_def){
                .name = (char *)solo->name, .colour = (char *)solo->colour, .id = id, .defined = true};
        role_set(defs, id, EVENT_MARK, defs_add_mark(defs->defs, &mark));
    }
    return clog2_role(defs, id);
}

/* Body of a state definition: id, events of begin and end, a free word, colour (24), name (32), format (40
   bytes). */
static uint32_t state_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    struct state_def state = {.id = bytes_i32(body, big_endian),
                              .start = bytes_i32(body + 4, big_endian),
                              .end = bytes_i32(body + 8, big_endian),
                              .colour = clog2_text_field(body + 16, CLOG2_COLOUR_SIZE),
                              .name = clog2_text_field(body + 40, CLOG2_NAME_SIZE),
                              .format = clog2_text_field(body + 72, CLOG2_TEXT_SIZE)};
    uint32_t index = (uint32_t)defs->defs->state_count;
    bool start = role_set(defs, state.start, EVENT_ENTER, index);
    bool end = role_set(defs, state.end, EVENT_LEAVE, index);
    /* Kept although no event refers to it, so that the copy of a trace has all of its definitions. */
    state.shadowed = !start && !end;
    defs_add_state(defs->defs, &state);
    free(state.colour);
    free(state.name);
    free(state.format);
    return index;
}

/* Body of an event definition: id, a free word, colour (24), name (32), format (40 bytes). By name and format some
   single events are our recorder's own: counters, samples and neighbours are kinds of events here. */
static uint32_t mark_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    struct mark_def mark = {.id = bytes_i32(body, big_endian),
                            .defined = true,
                            .colour = clog2_text_field(body + 8, CLOG2_COLOUR_SIZE),
                            .name = clog2_text_field(body + 32, CLOG2_NAME_SIZE),
                            .format = clog2_text_field(body + 64, CLOG2_TEXT_SIZE)};
    uint32_t index = (uint32_t)defs->defs->mark_count;
    bool neighbours = mark.name && strcmp(mark.name, NEIGHBOURS_MARK_NAME) == 0 && mark.format &&
                      strcmp(mark.format, NEIGHBOURS_MARK_FORMAT) == 0;
    if (mark.format)
        mark.counter = clog2_counter_of(mark.format);
    bool counter = mark.counter.type != COUNTER_NONE;
    bool samples = mark.name && strcmp(mark.name, SAMPLES_MARK_NAME) == 0 && mark.format &&
                   strcmp(mark.format, SAMPLES_MARK_FORMAT) == 0;
    enum event_kind kind = EVENT_MARK;
    if (neighbours)
        kind = EVENT_NEIGHBOURS;
    else if (samples)
        kind = EVENT_SAMPLE;
    else if (counter)
        kind = EVENT_COUNTER;
    mark.shadowed = !role_set(defs, mark.id, kind, index);
    defs_add_mark(defs->defs, &mark);
    free(mark.counter.unit);
    free(mark.colour);
    free(mark.name);
    free(mark.format);
    return index;
}

static uint32_t constant_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    char *name = clog2_text_field(body + 8, CLOG2_NAME_SIZE);
    int32_t value = bytes_i32(body + 4, big_endian);
    /* Its value is the MPI's own: -1 with MPICH, -2 with Open MPI. */
    if (name && strcmp(name, "MPI_PROC_NULL") == 0)
        defs->proc_null = value;
    uint32_t index = defs_add_constant(defs->defs, name ? name : "", value);
    free(name);
    return index;
}

static struct clog2_ranks *ranks_of(struct clog2_defs *defs, int32_t comm)
{
    size_t old = defs->ranks_count, wanted = (size_t)comm + 1;
    if (wanted > old) {
        ARRAY_RESERVE(defs->ranks, defs->ranks_capacity, wanted);
        memset(&defs->ranks[old], 0, (wanted - old) * sizeof *defs->ranks);
        defs->ranks_count = wanted;
    }
    return &defs->ranks[comm];
}

static void member(struct clog2_defs *defs, int32_t comm, int32_t rank, int32_t world)
{
    /* A freed communicator's record has -1 for both. */
    if (rank < 0 || world < 0 || world >= PROCESS_LIMIT)
        return;
    defs_set_member(defs->defs, comm, rank, (uint32_t)world);
    struct clog2_ranks *ranks = ranks_of(defs, comm);
    ranks->members++;
    /* Ranks far beyond the number of members stay in the map: the array must not outgrow the file. */
    if ((size_t)rank >= ranks->members * 4 + 16)
        return;
    if ((size_t)rank >= ranks->count) {
        ARRAY_RESERVE(ranks->world, ranks->capacity, (size_t)rank + 1);
        memset(&ranks->world[ranks->count], 0xff, ((size_t)rank + 1 - ranks->count) * sizeof *ranks->world);
        ranks->count = (size_t)rank + 1;
    }
    if (ranks->world[rank] == UINT32_MAX)
        ranks->world[rank] = (uint32_t)world;
}

static uint64_t uuid_hash(const unsigned char *uuid)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < COMM_UUID_SIZE; i++)
        hash = (hash ^ uuid[i]) * UINT64_C(1099511628211);
    return hash >> 1;
}

/* Local files number communicators separately: the same one has the same UUID. */
static int32_t comm_of_uuid(struct clog2_defs *defs, const unsigned char *uuid)
{
    uint64_t hash = uuid_hash(uuid);
    uint64_t *found;
    /* Another UUID with the same hash: try on until a free place or the same UUID. */
    while ((found = map_find(&defs->uuids, hash)) && memcmp(defs->defs->comms[*found].uuid, uuid, COMM_UUID_SIZE) != 0)
        hash = (hash + 1) >> 1;
    if (found)
        return (int32_t)*found;
    int32_t comm = defs_comm(defs->defs, (int32_t)defs->defs->comm_count);
    map_put(&defs->uuids, hash, (uint64_t)comm);
    comm_set_uuid(&defs->defs->comms[comm], uuid);
    return comm;
}

/* UUIDs hold two numbers in the file's byte order; kept big-endian so that files of either order agree. */
static void uuid_read(unsigned char *uuid, const unsigned char *at, bool big_endian)
{
    memcpy(uuid, at, COMM_UUID_SIZE);
    bytes_put_u32(uuid, true, bytes_u32(at, big_endian));
    bytes_put_f64(uuid + 4, true, bytes_f64(at + 4, big_endian));
}

/* Before version 02.30: kind, parent, the new communicator. No ranks: communicators had no members in the file. */
static void early_comm_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    int32_t comm = defs_comm(defs->defs, bytes_i32(body + 8, big_endian));
    if (bytes_i32(body, big_endian) == EARLY_INIT)
        defs->defs->comms[comm].world = true;
}

static int32_t kind_of_step(int32_t step)
{
    switch (step) {
    case COMM_STEP_INTER:
        return COMM_KIND_INTER;
    case COMM_STEP_LOCAL:
        return COMM_KIND_LOCAL;
    case COMM_STEP_REMOTE:
        return COMM_KIND_REMOTE;
    default:
        return COMM_KIND_INTRA;
    }
}

static void comm_record(struct clog2_defs *defs, struct clog2_part_defs *part, const unsigned char *body,
                        bool big_endian)
{
    int32_t step = bytes_i32(body, big_endian);
    if (step == COMM_STEP_FREE)
        return;
    unsigned char uuid[COMM_UUID_SIZE];
    uuid_read(uuid, body + 16, big_endian);
    /* A local file's ids are its own. */
    int32_t comm = part->local ? comm_of_uuid(defs, uuid) : defs_comm(defs->defs, bytes_i32(body + 4, big_endian));
    struct comm_def *def = &defs->defs->comms[comm];
    comm_set_uuid(def, uuid);
    def->world |= step == COMM_STEP_WORLD;
    def->self |= step == COMM_STEP_SELF;
    /* The record of a remote group states the caller's own rank: it is no member. */
    if (step != COMM_STEP_REMOTE)
        member(defs, comm, bytes_i32(body + 8, big_endian), bytes_i32(body + 12, big_endian));
    /* Records name communicators by their place in the file's table, which an aborted run never wrote: it is rebuilt,
       since its entries are in the order of these records (an inter-communicator and its two groups: three). */
    if (part->local)
        ARRAY_PUSH(part->table, part->table_count, part->table_capacity,
                   (struct clog2_entry){.kind = kind_of_step(step), .comm = comm});
}

void clog2_defs_begin_part(struct clog2_defs *defs, struct clog2_part_defs *part, const struct clog2_file *file)
{
    part->local = !file->preamble.finalized;
    if (!defs->near_roles) {
        defs->near_roles = memory_new(CLOG2_NEAR_COUNT * sizeof *defs->near_roles);
        defs->proc_null = PARTNER_NONE;
    }
    part->next[DEFINITION_STATE] = (uint32_t)defs->defs->state_count;
    part->next[DEFINITION_MARK] = (uint32_t)defs->defs->mark_count;
    part->next[DEFINITION_CONSTANT] = (uint32_t)defs->defs->constant_count;
    part->next[DEFINITION_SITE] = (uint32_t)defs->defs->site_count;
    if (!defs->defs->version) {
        char version[16];
        snprintf(version, sizeof version, "CLOG-%02u.%02u", (file->preamble.version / 100) % 100,
                 file->preamble.version % 100);
        defs->defs->version = memory_copy_string(version);
    }
}

void clog2_defs_record(struct clog2_defs *defs, struct clog2_part_defs *part, struct clog2_file *file, uint32_t kind)
{
    const unsigned char *body = file->input->at + file->header_size;
    bool big_endian = file->preamble.big_endian;
    if (kind == CLOG2_STATEDEF)
        part->end[DEFINITION_STATE] = state_record(defs, body, big_endian) + 1;
    else if (kind == CLOG2_EVENTDEF)
        part->end[DEFINITION_MARK] = mark_record(defs, body, big_endian) + 1;
    else if (kind == CLOG2_CONSTDEF)
        part->end[DEFINITION_CONSTANT] = constant_record(defs, body, big_endian) + 1;
    else if (kind == CLOG2_SITE)
        clog2_site_record(defs, part, body, big_endian);
    else if (kind == CLOG2_COMM && file->header_size == CLOG2_HEADER_SIZE)
        comm_record(defs, part, body, big_endian);
    else if (kind == CLOG2_COMM)
        early_comm_record(defs, body, big_endian);
}

static void table_row(struct clog2_defs *defs, struct clog2_part_defs *part, const unsigned char *at, bool big_endian)
{
    struct comm_row row = {.id = bytes_i32(at + 32, big_endian), .kind = bytes_i32(at + 36, big_endian)};
    uuid_read(row.uuid, at, big_endian);
    if (!part->local) {
        int32_t index = defs_comm(defs->defs, row.id); /* may move the communicators */
        comm_set_uuid(&defs->defs->comms[index], row.uuid);
        ARRAY_PUSH(defs->defs->comm_rows, defs->defs->comm_row_count, defs->defs->comm_row_capacity, row);
        return;
    }
    int32_t comm = comm_of_uuid(defs, row.uuid);
    ARRAY_PUSH(part->table, part->table_count, part->table_capacity,
               (struct clog2_entry){.kind = row.kind, .comm = comm});
}

/* A count, then rows of 40 bytes: UUID, id, kind. A merged file's ids may come twice: the local group of an
   inter-communicator has the id of the communicator it was made from. */
enum status clog2_defs_table(struct clog2_defs *defs, struct clog2_part_defs *part, struct clog2_file *file,
                             struct error *err)
{
    enum status status = clog2_file_to_table(file, err);
    if (status != STATUS_OK)
        return status;
    status = input_need(file->input, sizeof(int32_t), err);
    if (status == STATUS_FAILED)
        return status;
    bool big_endian = file->preamble.big_endian;
    int32_t count = status == STATUS_OK ? bytes_i32(file->input->at, big_endian) : 0;
    if (status == STATUS_OK)
        input_consume(file->input, sizeof(int32_t));
    if (count > 0)
        part->table_count = 0; /* the real one replaces what was rebuilt from the records */
    for (int32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = input_need(file->input, CLOG2_ROW_SIZE, err);
        if (status == STATUS_OK) {
            table_row(defs, part, file->input->at, big_endian);
            input_consume(file->input, CLOG2_ROW_SIZE);
        }
    }
    if (status == STATUS_END)
        clog2_file_damage(file, "file ends inside the communicator table (of %d entries)", (int)count);
    return status;
}

void clog2_defs_end_part(struct clog2_defs *defs, struct clog2_part_defs *part, const struct clog2_file *file)
{
    struct defs *known = defs->defs;
    if (file->preamble.processes > known->processes)
        known->processes = file->preamble.processes;
    if (file->preamble.threads > known->threads)
        known->threads = file->preamble.threads;
    (void)part;
}

/* Local files have no common table: one row for each communicator, of the kind that the first file knows. */
static void join_tables(struct clog2_defs *defs)
{
    struct defs *known = defs->defs;
    for (size_t i = 0; i < known->comm_count; i++) {
        struct comm_row row = {.id = known->comms[i].id, .kind = COMM_KIND_INTRA};
        memcpy(row.uuid, known->comms[i].uuid, COMM_UUID_SIZE);
        ARRAY_PUSH(known->comm_rows, known->comm_row_count, known->comm_row_capacity, row);
    }
}

void clog2_defs_end(struct clog2_defs *defs)
{
    struct defs *known = defs->defs;
    bool have_world = false;
    clog2_property_end(defs);
    for (size_t i = 0; i < known->comm_count; i++)
        have_world |= known->comms[i].world;
    /* Traces of MPE's serial library, and of versions before 02.30, may lack the record that makes it; then it is
       0. */
    if (!have_world) {
        int32_t comm = defs_comm(known, 0); /* may move known->comms */
        known->comms[comm].world = true;
    }
    if (defs->uuids.count > 0)
        join_tables(defs);
    if (known->comm_count > 0)
        /* An entry for each communicator, so that reading events needs no check. */
        ranks_of(defs, (int32_t)known->comm_count - 1);
    for (uint32_t i = 0; i < known->comm_count; i++)
        if (known->comms[i].world && known->properties.count > 0) {
            clog2_place_hosts(defs, i);
            break;
        }
}

/* The header of a record names the caller's side; on an inter-communicator that is the local group. */
const struct clog2_side *clog2_side_find(const struct clog2_defs *defs, struct clog2_part_defs *part, int32_t id)
{
    struct clog2_side side = {.id = id};
    if (part->local && (uint32_t)id < part->table_count) {
        size_t at = (size_t)id;
        /* An inter-communicator in a local file: the next entries are its local and its remote group. */
        bool inter = part->table[at].kind == COMM_KIND_INTER && at + 2 < part->table_count;
        side.comm = part->table[inter ? at + 1 : at].comm;
        side.partner_comm = part->table[inter ? at + 2 : at].comm;
    } else {
        if (part->local && part->table_count > 0)
            return NULL;
        side.comm = side.partner_comm = defs_find_comm(defs->defs, id);
        if (side.comm == EVENT_UNKNOWN)
            return NULL;
    }
    part->last = side;
    part->have_last = true;
    return &part->last;
}

int32_t clog2_comm_of_record(const struct clog2_defs *defs, const struct clog2_part_defs *part, int32_t id)
{
    if (part->local)
        return (uint32_t)id < part->table_count ? part->table[id].comm : EVENT_UNKNOWN;
    return defs_find_comm(defs->defs, id);
}

bool clog2_defs_next_definition(struct clog2_part_defs *part, uint32_t kind, struct event *event)
{
    static const uint8_t definitions[CLOG2_KINDS] = {[CLOG2_STATEDEF] = DEFINITION_STATE,
                                                     [CLOG2_EVENTDEF] = DEFINITION_MARK,
                                                     [CLOG2_CONSTDEF] = DEFINITION_CONSTANT,
                                                     [CLOG2_SITE] = DEFINITION_SITE};
    uint8_t definition = definitions[kind];
    if (part->next[definition] >= part->end[definition])
        return false;
    event->value = definition;
    event->state = part->next[definition]++;
    return true;
}
