/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/events/defs_pack.h"

#include "core/memory.h"
#include "core/varint.h"

#include <string.h>

/* One function for each kind of definition both writes and reads it, so that the two cannot differ. */
struct packing {
    struct output *output;   /* written to; NULL: read */
    const unsigned char *at; /* what is read next */
};

static void pack_u64(struct packing *packing, uint64_t *value)
{
    if (packing->output)
        packing->output->at = varint_put(output_room(packing->output, VARINT_MAX), *value);
    else
        *value = varint_get(&packing->at);
}

/* Any of our integers. Signed ones come back by their low bits. */
#define PACK(packing, field)                                                                                           \
    do {                                                                                                               \
        uint64_t packed_value = (uint64_t)(int64_t)(field);                                                            \
        packed_value = packed_value << 1 ^ (packed_value >> 63 ? UINT64_MAX : 0);                                      \
        pack_u64((packing), &packed_value);                                                                            \
        (field) = (__typeof__(field))(packed_value >> 1 ^ (packed_value & 1 ? UINT64_MAX : 0));                        \
    } while (0)

static void pack_bytes(struct packing *packing, void *bytes, size_t length)
{
    if (packing->output) {
        output_write(packing->output, bytes, length);
    } else {
        memcpy(bytes, packing->at, length);
        packing->at += length;
    }
}

/* NULL stays NULL. What is read is new. */
static void pack_text(struct packing *packing, char **text)
{
    /* The zero byte counts, so that 0 can stand for NULL. */
    uint64_t length = packing->output && *text ? strlen(*text) + 1 : 0;
    pack_u64(packing, &length);
    if (!packing->output)
        *text = length ? memory_new(length) : NULL;
    if (length)
        pack_bytes(packing, *text, length - 1);
}

static void pack_state(struct packing *packing, struct state_def *state)
{
    pack_text(packing, &state->name);
    pack_text(packing, &state->original);
    pack_text(packing, &state->colour);
    pack_text(packing, &state->format);
    pack_text(packing, &state->file);
    PACK(packing, state->id);
    PACK(packing, state->start);
    PACK(packing, state->end);
    PACK(packing, state->shadowed);
    PACK(packing, state->line);
    PACK(packing, state->end_line);
    PACK(packing, state->paradigm);
    PACK(packing, state->role);
}

/* defs_add_… copies its texts, so that what has been read is freed. */
static void free_state(struct state_def *state)
{
    free(state->name);
    free(state->original);
    free(state->colour);
    free(state->format);
    free(state->file);
}

static void pack_mark(struct packing *packing, struct mark_def *mark)
{
    pack_text(packing, &mark->name);
    pack_text(packing, &mark->colour);
    pack_text(packing, &mark->format);
    pack_text(packing, &mark->counter.unit);
    PACK(packing, mark->counter.type);
    PACK(packing, mark->counter.mode);
    PACK(packing, mark->counter.scope);
    PACK(packing, mark->counter.base);
    PACK(packing, mark->counter.exponent);
    PACK(packing, mark->id);
    PACK(packing, mark->shadowed);
    PACK(packing, mark->defined);
}

static void free_mark(struct mark_def *mark)
{
    free(mark->name);
    free(mark->colour);
    free(mark->format);
    free(mark->counter.unit);
}

static void pack_constant(struct packing *packing, struct constant_def *constant)
{
    pack_text(packing, &constant->name);
    PACK(packing, constant->value);
}

static void pack_site(struct packing *packing, struct site_def *site)
{
    pack_text(packing, &site->file);
    pack_text(packing, &site->function);
    PACK(packing, site->id);
    PACK(packing, site->line);
    PACK(packing, site->library);
}

static void free_site(struct site_def *site)
{
    free(site->file);
    free(site->function);
}

static void pack_location(struct packing *packing, struct location_def *location)
{
    PACK(packing, location->process);
    PACK(packing, location->thread);
    PACK(packing, location->kind);
    PACK(packing, location->id);
    pack_text(packing, &location->name);
    pack_text(packing, &location->process_name);
    pack_text(packing, &location->host);
}

static void free_location(struct location_def *location)
{
    free(location->name);
    free(location->process_name);
    free(location->host);
}

static void pack_handle(struct packing *packing, struct handle_def *handle)
{
    pack_text(packing, &handle->name);
    pack_text(packing, &handle->api);
    PACK(packing, handle->comm);
}

static void free_handle(struct handle_def *handle)
{
    free(handle->name);
    free(handle->api);
}

static void pack_path(struct packing *packing, struct path_def *path)
{
    PACK(packing, path->parent);
    PACK(packing, path->state);
    PACK(packing, path->site);
}

static void add_constant(struct defs *defs, struct constant_def *constant)
{
    defs_add_constant(defs, constant->name, constant->value);
    free(constant->name);
}

/* A function for all definitions of a kind. */
#define PACK_ALL(kind, member, take)                                                                                   \
    static void pack_##member(struct packing *packing, struct defs *defs)                                              \
    {                                                                                                                  \
        uint64_t count = defs->kind##_count;                                                                           \
        pack_u64(packing, &count);                                                                                     \
        for (uint64_t i = 0; i < count; i++) {                                                                         \
            struct kind##_def one = {0};                                                                               \
            if (packing->output)                                                                                       \
                one = defs->member[i];                                                                                 \
            pack_##kind(packing, &one);                                                                                \
            if (!packing->output)                                                                                      \
                take(defs, &one);                                                                                      \
        }                                                                                                              \
    }

#define TAKE(kind)                                                                                                     \
    static void take_##kind(struct defs *defs, struct kind##_def *one)                                                 \
    {                                                                                                                  \
        defs_add_##kind(defs, one);                                                                                    \
        free_##kind(one);                                                                                              \
    }

static void take_path(struct defs *defs, struct path_def *path)
{
    defs_add_path(defs, path);
}

TAKE(state)
TAKE(mark)
TAKE(site)
TAKE(location)
TAKE(handle)
PACK_ALL(state, states, take_state)
PACK_ALL(mark, marks, take_mark)
PACK_ALL(constant, constants, add_constant)
PACK_ALL(site, sites, take_site)
PACK_ALL(location, locations, take_location)
PACK_ALL(handle, handles, take_handle)
PACK_ALL(path, paths, take_path)

/* Not by PACK_ALL: defs_comm makes a communicator from its id, and the map of ids with it. */
static void pack_comms(struct packing *packing, struct defs *defs)
{
    uint64_t count = defs->comm_count;
    pack_u64(packing, &count);
    for (uint64_t i = 0; i < count; i++) {
        int32_t id = packing->output ? defs->comms[i].id : 0;
        PACK(packing, id);
        struct comm_def copy, *comm = &copy;
        if (packing->output) {
            copy = defs->comms[i];
        } else {
            int32_t index = defs_comm(defs, id);
            comm = &defs->comms[index];
        }
        pack_text(packing, &comm->name);
        PACK(packing, comm->world);
        PACK(packing, comm->self);
        PACK(packing, comm->window);
        PACK(packing, comm->has_uuid);
        pack_bytes(packing, comm->uuid, sizeof comm->uuid);
    }
    count = defs->comm_row_count;
    pack_u64(packing, &count);
    for (uint64_t i = 0; i < count; i++) {
        struct comm_row row = {0};
        if (packing->output)
            row = defs->comm_rows[i];
        pack_bytes(packing, row.uuid, sizeof row.uuid);
        PACK(packing, row.id);
        PACK(packing, row.kind);
        if (!packing->output)
            ARRAY_PUSH(defs->comm_rows, defs->comm_row_count, defs->comm_row_capacity, row);
    }
}

/* Entries in the order of their places; putting them into an empty map again keeps what they mean, not where they
   are. */
static void pack_map(struct packing *packing, struct map *map)
{
    uint64_t count = map->count;
    pack_u64(packing, &count);
    size_t at = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = 0, value = 0;
        if (packing->output) {
            while (map->entries[at].key == 0)
                at++;
            key = map->entries[at].key - 1;
            value = map->entries[at++].value;
        }
        pack_u64(packing, &key);
        pack_u64(packing, &value);
        if (!packing->output)
            map_put(map, key, value);
    }
}

static void pack_properties(struct packing *packing, struct defs *defs)
{
    uint64_t count = defs->properties.count;
    pack_u64(packing, &count);
    for (uint64_t i = 0; i < count; i++) {
        struct property one = {0};
        char *ranks = NULL;
        if (packing->output) {
            one = defs->properties.rows[i];
            ranks = property_ranks(&one);
        }
        pack_text(packing, &one.name);
        pack_text(packing, &one.value);
        pack_text(packing, &ranks);
        if (!packing->output) {
            (void)property_add_text(&defs->properties, one.name, one.value, ranks);
            free(one.name);
            free(one.value);
        }
        free(ranks);
    }
}

/* The order is the format: a change of it is another version (event_file.c). */
static void pack_all(struct packing *packing, struct defs *defs)
{
    pack_states(packing, defs);
    pack_marks(packing, defs);
    pack_constants(packing, defs);
    pack_sites(packing, defs);
    pack_locations(packing, defs);
    pack_handles(packing, defs);
    pack_paths(packing, defs);
    pack_properties(packing, defs);
    pack_comms(packing, defs);
    pack_map(packing, &defs->members);
    pack_map(packing, &defs->ranks);
    PACK(packing, defs->processes);
    PACK(packing, defs->threads);
    pack_text(packing, &defs->version);
    pack_text(packing, &defs->creator);
}

void defs_pack(struct output *output, const struct defs *defs)
{
    struct packing packing = {.output = output};
    struct defs same = *defs; /* nothing of it is changed */
    pack_all(&packing, &same);
}

/* The checksum has been compared: what is unpacked here was written by this program. */
void defs_unpack(const unsigned char *packed, struct defs *defs)
{
    struct packing packing = {.at = packed};
    pack_all(&packing, defs);
}
