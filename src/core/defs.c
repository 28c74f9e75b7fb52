/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/defs.h"

#include "core/bytes.h"
#include "core/event.h"
#include "core/memory.h"
#include "core/openmp.h"
#include "core/payload.h"

#include <string.h>

enum { NO_NEXT = UINT32_MAX };

struct defs *defs_new(void)
{
    struct defs *defs = memory_new(sizeof *defs);
    /* A process has at least its main thread. */
    defs->threads = 1;
    return defs;
}

void defs_free(struct defs *defs)
{
    if (!defs)
        return;
    for (size_t i = 0; i < defs->state_count; i++) {
        free(defs->states[i].name);
        free(defs->states[i].original);
        free(defs->states[i].colour);
        free(defs->states[i].format);
        free(defs->states[i].file);
    }
    for (size_t i = 0; i < defs->mark_count; i++) {
        free(defs->marks[i].name);
        free(defs->marks[i].colour);
        free(defs->marks[i].format);
        free(defs->marks[i].counter.unit);
    }
    for (size_t i = 0; i < defs->constant_count; i++)
        free(defs->constants[i].name);
    for (size_t i = 0; i < defs->site_count; i++) {
        free(defs->sites[i].file);
        free(defs->sites[i].function);
    }
    for (size_t i = 0; i < defs->comm_count; i++)
        free(defs->comms[i].name);
    for (size_t i = 0; i < defs->location_count; i++) {
        free(defs->locations[i].name);
        free(defs->locations[i].process_name);
        free(defs->locations[i].host);
    }
    for (size_t i = 0; i < defs->handle_count; i++) {
        free(defs->handles[i].name);
        free(defs->handles[i].api);
    }
    property_list_clear(&defs->properties);
    free(defs->locations);
    free(defs->handles);
    free(defs->paths);
    free(defs->states);
    free(defs->marks);
    free(defs->constants);
    free(defs->sites);
    free(defs->comms);
    free(defs->comm_rows);
    free(defs->version);
    free(defs->creator);
    free(defs->name_next);
    map_clear(&defs->names);
    map_clear(&defs->comm_ids);
    map_clear(&defs->members);
    map_clear(&defs->ranks);
    map_clear(&defs->places);
    free(defs);
}

/* FNV-1a. */
static uint64_t name_hash(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    /* The largest key is not allowed in a map. */
    return hash >> 1;
}

int32_t defs_find_state(const struct defs *defs, const char *name)
{
    const uint64_t *head = map_find(&defs->names, name_hash(name));
    for (uint32_t at = head ? (uint32_t)*head : NO_NEXT; at != NO_NEXT; at = defs->name_next[at])
        if (strcmp(defs->states[at].name, name) == 0)
            return (int32_t)defs->states[at].first_of_name;
    return EVENT_UNKNOWN;
}

uint32_t defs_add_state(struct defs *defs, const struct state_def *state)
{
    uint32_t index = (uint32_t)defs->state_count;
    struct state_def copy = *state;
    copy.name = memory_copy_string(state->name ? state->name : "");
    copy.original = memory_copy_string(state->original);
    copy.colour = memory_copy_string(state->colour);
    copy.format = memory_copy_string(state->format);
    copy.file = memory_copy_string(state->file);
    copy.class = region_class(copy.name, copy.paradigm, copy.role);
    copy.is_mpi = function_class_is_mpi(copy.class);
    copy.is_parallel = openmp_part_of(&copy) == OPENMP_PART_PARALLEL;
    copy.direction = message_direction_of(copy.name);
    const struct mpi_function *function = mpi_function_find(copy.name);
    copy.rooted = function && function->rooted;
    copy.gives_moved = payload_gives_moved(copy.format);
    copy.gives_words = (uint8_t)payload_words_of(copy.format);
    copy.gives_requests = copy.is_mpi && payload_gives_requests(copy.format);
    /* States of the same name count as one wherever names are compared: the first one stands for all. */
    int32_t first = defs_find_state(defs, copy.name);
    copy.first_of_name = first == EVENT_UNKNOWN ? index : (uint32_t)first;
    ARRAY_PUSH(defs->states, defs->state_count, defs->state_capacity, copy);
    ARRAY_RESERVE(defs->name_next, defs->name_next_capacity, defs->state_count);
    /* The chain of the names with this hash, newest first; most have one link. */
    uint64_t *head = map_put(&defs->names, name_hash(copy.name), NO_NEXT);
    defs->name_next[index] = (uint32_t)*head;
    *head = index;
    return index;
}

bool defs_name_is_shared(const struct defs *defs, uint32_t state)
{
    const struct state_def *wanted = &defs->states[state];
    /* A second state of the name. */
    if (wanted->first_of_name != state)
        return true;
    const uint64_t *head = map_find(&defs->names, name_hash(wanted->name));
    for (uint32_t at = (uint32_t)*head; at != NO_NEXT; at = defs->name_next[at])
        if (at != state && defs->states[at].first_of_name == state)
            return true;
    return false;
}

uint32_t defs_add_mark(struct defs *defs, const struct mark_def *mark)
{
    struct mark_def copy = *mark;
    copy.name = memory_copy_string(mark->name ? mark->name : "");
    copy.colour = memory_copy_string(mark->colour);
    copy.format = memory_copy_string(mark->format);
    copy.counter.unit = memory_copy_string(mark->counter.unit);
    copy.gives_words = (uint8_t)payload_words_of(copy.format);
    copy.gives_requests = strcmp(copy.name, REQUEST_MARK_NAME) == 0 && payload_gives_requests(copy.format);
    ARRAY_PUSH(defs->marks, defs->mark_count, defs->mark_capacity, copy);
    return (uint32_t)defs->mark_count - 1;
}

uint32_t defs_add_constant(struct defs *defs, const char *name, int32_t value)
{
    ARRAY_PUSH(defs->constants, defs->constant_count, defs->constant_capacity,
               (struct constant_def){.name = memory_copy_string(name), .value = value});
    defs->gives_files |= strcmp(name, FILES_CONSTANT) == 0;
    return (uint32_t)defs->constant_count - 1;
}

uint32_t defs_add_site(struct defs *defs, const struct site_def *site)
{
    struct site_def copy = *site;
    copy.file = memory_copy_string(site->file ? site->file : "");
    copy.function = memory_copy_string(site->function);
    ARRAY_PUSH(defs->sites, defs->site_count, defs->site_capacity, copy);
    return (uint32_t)defs->site_count - 1;
}

void defs_keep_sites(struct defs *defs, const bool *keep, uint32_t *renumbered)
{
    size_t kept = 0;
    for (size_t i = 0; i < defs->site_count; i++) {
        renumbered[i] = keep[i] ? (uint32_t)kept + 1 : 0;
        if (keep[i]) {
            defs->sites[kept++] = defs->sites[i];
            defs->sites[kept - 1].id = (int32_t)kept;
        } else {
            free(defs->sites[i].file);
            free(defs->sites[i].function);
        }
    }
    defs->site_count = kept;
}

uint32_t defs_add_location(struct defs *defs, const struct location_def *location)
{
    uint64_t *place = map_put(&defs->places, map_pair(location->process, location->thread), defs->location_count);
    if (*place < defs->location_count)
        return (uint32_t)*place;
    struct location_def copy = *location;
    copy.name = memory_copy_string(location->name);
    copy.process_name = memory_copy_string(location->process_name);
    copy.host = memory_copy_string(location->host);
    ARRAY_PUSH(defs->locations, defs->location_count, defs->location_capacity, copy);
    return (uint32_t)defs->location_count - 1;
}

const struct location_def *defs_find_location(const struct defs *defs, uint32_t process, uint32_t thread)
{
    const uint64_t *place = map_find(&defs->places, map_pair(process, thread));
    if (place)
        return &defs->locations[*place];
    return NULL;
}

const char *defs_host_of(const struct defs *defs, uint32_t process, uint32_t thread)
{
    const struct location_def *location = defs_find_location(defs, process, thread);
    if (!location || !location->host)
        location = defs_find_location(defs, process, 0);
    if (!location || !location->host || !*location->host)
        return NULL;
    return location->host;
}

uint32_t defs_add_handle(struct defs *defs, const struct handle_def *handle)
{
    ARRAY_PUSH(defs->handles, defs->handle_count, defs->handle_capacity,
               (struct handle_def){.name = memory_copy_string(handle->name),
                                   .api = memory_copy_string(handle->api),
                                   .comm = handle->comm});
    return (uint32_t)defs->handle_count - 1;
}

uint32_t defs_add_path(struct defs *defs, const struct path_def *path)
{
    ARRAY_PUSH(defs->paths, defs->path_count, defs->path_capacity, *path);
    return (uint32_t)defs->path_count - 1;
}

const char *defs_path_name(const struct defs *defs, uint32_t path)
{
    if (path >= defs->path_count)
        return NULL;
    const struct path_def *node = &defs->paths[path];
    if (node->state < defs->state_count)
        return defs->states[node->state].name;
    /* Site 0 is none, so the first one has number 1. */
    if (node->site > 0 && node->site <= defs->site_count)
        return defs->sites[node->site - 1].function;
    return NULL;
}

void comm_set_name(struct comm_def *comm, const char *name)
{
    if (!comm->name && name && *name)
        comm->name = memory_copy_string(name);
}

int32_t defs_find_comm(const struct defs *defs, int32_t id)
{
    const uint64_t *found = map_find(&defs->comm_ids, (uint32_t)id);
    if (found)
        return (int32_t)*found;
    return EVENT_UNKNOWN;
}

int32_t defs_comm(struct defs *defs, int32_t id)
{
    /* UINT64_MAX is no index: the communicator is new. */
    uint64_t *index = map_put(&defs->comm_ids, (uint32_t)id, UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = defs->comm_count;
        ARRAY_PUSH(defs->comms, defs->comm_count, defs->comm_capacity, (struct comm_def){.id = id});
    }
    return (int32_t)*index;
}

/* Where MPE has the time and the processor's name; sight's name leaves room for a number after its NUL. */
enum { UUID_TIME = 4, UUID_MAKER = 12, UUID_ID = 28 };
/* Seconds of MPI_Wtime: far above any, far below what MPE's tools have room for. */
#define UUID_TIME_LIMIT 1e18
static const char uuid_window[] = "sight window";

void comm_set_uuid(struct comm_def *comm, const unsigned char uuid[COMM_UUID_SIZE])
{
    if (!comm->has_uuid)
        memcpy(comm->uuid, uuid, COMM_UUID_SIZE);
    comm->has_uuid = true;
    /* Windows have groups as communicators do; only the maker's name distinguishes them. */
    comm->window |= memcmp(comm->uuid + UUID_MAKER, uuid_window, sizeof uuid_window) == 0;
}

void comm_sign_uuid(unsigned char uuid[COMM_UUID_SIZE], uint64_t key, int32_t id, bool window)
{
    const char *maker = window ? uuid_window : "sight";
    memset(uuid, 0, COMM_UUID_SIZE);
    bytes_put_u32(uuid, true, (uint32_t)key);
    bytes_put_f64(uuid + UUID_TIME, true, (double)(key >> 32) + 1);
    memcpy(uuid + UUID_MAKER, maker, strlen(maker));
    bytes_put_i32(uuid + UUID_ID, true, id);
}

bool comm_uuid_is_printable(const unsigned char uuid[COMM_UUID_SIZE])
{
    double time = bytes_f64(uuid + UUID_TIME, true);
    return time >= 0 && time < UUID_TIME_LIMIT;
}

void defs_set_member(struct defs *defs, int32_t comm, int32_t rank, uint32_t world_rank)
{
    map_put(&defs->members, map_pair((uint32_t)comm, (uint32_t)rank), world_rank);
    map_put(&defs->ranks, map_pair((uint32_t)comm, world_rank), (uint32_t)rank);
}

int32_t defs_world_rank(const struct defs *defs, int32_t comm, int32_t rank)
{
    const uint64_t *found = map_find(&defs->members, map_pair((uint32_t)comm, (uint32_t)rank));
    if (found)
        return (int32_t)*found;
    /* The world needs no member list: ranks in it are the processes' numbers. */
    bool is_world = comm >= 0 && (size_t)comm < defs->comm_count && defs->comms[comm].world;
    if (is_world && rank >= 0 && rank < PROCESS_LIMIT)
        return rank;
    return EVENT_UNKNOWN;
}

int32_t defs_comm_rank(const struct defs *defs, int32_t comm, uint32_t world_rank)
{
    const uint64_t *found = map_find(&defs->ranks, map_pair((uint32_t)comm, world_rank));
    if (found)
        return (int32_t)*found;
    bool is_world = comm >= 0 && (size_t)comm < defs->comm_count && defs->comms[comm].world;
    if (is_world)
        return (int32_t)world_rank;
    return EVENT_UNKNOWN;
}

/* The words of enumerations. */

static int find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    /* Word 0 is the unknown one. */
    return 0;
}

#define WORD(name, word) word,
static const char *const type_words[] = {COUNTER_TYPES(WORD)};
static const char *const mode_words[] = {COUNTER_MODES(WORD)};
static const char *const scope_words[] = {COUNTER_SCOPES(WORD)};
static const char *const kind_words[] = {LOCATION_KINDS(WORD)};

const char *counter_type_name(enum counter_type type)
{
    return type_words[type];
}

const char *counter_mode_name(enum counter_mode mode)
{
    return mode_words[mode];
}

const char *counter_scope_name(enum counter_scope scope)
{
    return scope_words[scope];
}

const char *location_kind_name(enum location_kind kind)
{
    return kind_words[kind];
}

enum counter_type counter_type_find(const char *word)
{
    return (enum counter_type)find_word(type_words, COUNTER_TYPE_COUNT, word);
}

enum counter_mode counter_mode_find(const char *word)
{
    return (enum counter_mode)find_word(mode_words, COUNTER_MODE_COUNT, word);
}

enum counter_scope counter_scope_find(const char *word)
{
    return (enum counter_scope)find_word(scope_words, COUNTER_SCOPE_COUNT, word);
}

enum location_kind location_kind_find(const char *word)
{
    return (enum location_kind)find_word(kind_words, LOCATION_KIND_COUNT, word);
}
