/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/mpe1/mpe1.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

void mpe1_ids_clear(struct mpe1_ids *ids)
{
    map_clear(&ids->roles);
    map_clear(&ids->states);
    map_clear(&ids->marks);
}

static bool role_set(struct mpe1_ids *ids, int32_t id, enum event_kind kind, uint32_t index)
{
    uint64_t *place = map_put(&ids->roles, (uint32_t)id, 0);
    if (*place)
        return false;
    *place = (uint64_t)index << 8 | ((uint64_t)kind + 1);
    return true;
}

/* p4 describes the two events of a state as single events too: the state counts. */
static bool role_of_state(struct mpe1_ids *ids, struct reader *reader, int32_t id, enum event_kind kind, uint32_t index)
{
    uint64_t *place = map_put(&ids->roles, (uint32_t)id, 0);
    if ((*place & 0xff) == EVENT_MARK + 1) {
        reader->defs->marks[*place >> 8].shadowed = true;
        *place = 0;
    }
    return role_set(ids, id, kind, index);
}

/* Text of the file as UTF-8 without trailing blanks (Fortran's names have them); NULL if nothing is left. */
static char *clean_text(const char *bytes)
{
    size_t length = strlen(bytes);
    while (length > 0 && (bytes[length - 1] == ' ' || bytes[length - 1] == '\t'))
        length--;
    if (length)
        return text_from_latin1(bytes, length);
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    if (!a || !b)
        return (!a || !*a) && (!b || !*b);
    return strcmp(a, b) == 0;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash * 31;
}

/* Every process may define the same state: a definition is searched among all, not just among those that won. If two
   have the same hash, the second is kept twice at most. */
static bool state_repeated(struct mpe1_ids *ids, const struct defs *defs, const struct state_def *state)
{
    uint64_t hash = map_pair((uint32_t)state->start, (uint32_t)state->end) * UINT64_C(1099511628211);
    hash = hash_text(hash_text(hash_text(hash, state->name), state->original), state->colour) >> 1;
    uint64_t index = *map_put(&ids->states, hash, defs->state_count);
    if (index == defs->state_count)
        return false;
    const struct state_def *known = &defs->states[index];
    return known->start == state->start && known->end == state->end && same_text(known->name, state->name) &&
           same_text(known->original, state->original) && same_text(known->colour, state->colour);
}

/* Adds a definition unless it exists; ids already in use keep their first definition. */
static void add_state(struct mpe1_ids *ids, struct reader *reader, struct state_def *state)
{
    const uint64_t *role = map_find(&ids->roles, (uint32_t)state->start);
    bool same_ids = role && (*role & 0xff) == EVENT_ENTER + 1 && reader->defs->states[*role >> 8].end == state->end;
    uint32_t index = (uint32_t)reader->defs->state_count;
    bool start = role_of_state(ids, reader, state->start, EVENT_ENTER, index);
    bool end = role_of_state(ids, reader, state->end, EVENT_LEAVE, index);
    /* Kept, so that a copy has all definitions, though no event refers to it. */
    state->shadowed = !start && !end;
    if (same_ids)
        reader_count(reader, "definition with different text under the same ids", 1);
    else if (!start || !end)
        reader_count(reader, "event id in two states", 1);
    defs_add_state(reader->defs, state);
}

void mpe1_define_state(struct mpe1_ids *ids, struct reader *reader, const int32_t numbers[3], const char *colour,
                       const char *name)
{
    struct state_def state = {.id = numbers[0], .start = numbers[1], .end = numbers[2]};
    state.colour = clean_text(colour);
    state.name = clean_text(name);
    /* MPE-1 spells MPI_Send "SEND", under ids of its own: a user's state "SEND", from 500 up, is not MPI's. */
    const struct mpi_function *function =
        state.name && state.start >= 0 && state.start < MPE1_USER_EVENTS ? mpi_function_find_mpe1(state.name) : NULL;
    if (function) {
        state.original = state.name;
        state.name = memory_copy_string(function->name);
    }
    if (state_repeated(ids, reader->defs, &state))
        reader_count(reader, "definition repeated", 1);
    else
        add_state(ids, reader, &state);
    free(state.name);
    free(state.original);
    free(state.colour);
}

/* A definition that repeats another one, as each process writes its own, is counted and dropped. */
void mpe1_define_mark(struct mpe1_ids *ids, struct reader *reader, int32_t id, const char *name)
{
    struct defs *defs = reader->defs;
    struct mark_def mark = {.id = id, .defined = true, .name = clean_text(name)};
    uint64_t hash = hash_text(UINT64_C(1099511628211) * (uint32_t)id, mark.name) >> 1;
    uint64_t index = *map_put(&ids->marks, hash, defs->mark_count);
    if (index < defs->mark_count && defs->marks[index].id == id && same_text(defs->marks[index].name, mark.name)) {
        reader_count(reader, "definition repeated", 1);
    } else {
        mark.shadowed = !role_set(ids, id, EVENT_MARK, (uint32_t)defs->mark_count);
        defs_add_mark(defs, &mark);
    }
    free(mark.name);
}

/* Aborted runs have no definitions of MPI's states, and MPE-1's numbers differ between releases: the number is the
   name. */
uint64_t mpe1_find_role(struct mpe1_ids *ids, struct reader *reader, int32_t id)
{
    const uint64_t *role = map_find(&ids->roles, (uint32_t)id);
    if (!role) {
        char number[TEXT_NUMBER_SIZE];
        snprintf(number, sizeof number, "%d", (int)id);
        role_set(ids, id, EVENT_MARK, defs_add_mark(reader->defs, &(struct mark_def){.name = number, .id = id}));
        role = map_find(&ids->roles, (uint32_t)id);
    }
    if ((uint32_t)id < MPE1_NEAR)
        ids->near[id] = *role;
    return *role;
}

/* Not text_take_u64: signs, and blanks before them, are usual in hand-made files. */
bool mpe1_integer(const char **at, const char *end, int64_t *value)
{
    const char *from = *at;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    bool negative = from < end && *from == '-';
    if (from < end && (*from == '-' || *from == '+'))
        from++;
    const char *digits = from;
    uint64_t sum = 0;
    while (from < end && *from >= '0' && *from <= '9')
        sum = sum * 10 + (uint64_t)(*from++ - '0');
    /* 18 digits always fit; longer ones are read as a double if that makes sense. */
    if (from == digits || from - digits > 18)
        return false;
    *value = negative ? -(int64_t)sum : (int64_t)sum;
    *at = from;
    return true;
}

/* The comment of a message is "tag size". The partner is a rank in the communicator of the call, which is not
   recorded: for MPI_COMM_WORLD it is right, and nothing shows where it is not. */
void mpe1_set_message(struct event *event, int32_t id, int64_t partner, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    int64_t tag, bytes;
    event->kind = id == MPE1_SEND ? EVENT_SEND : EVENT_RECEIVE;
    /* MPICH's MPI_PROC_NULL is -1. */
    if (partner < 0)
        event->partner = PARTNER_NONE;
    else if (partner < PROCESS_LIMIT)
        event->partner = (int32_t)partner;
    if (!mpe1_integer(&at, end, &tag) || tag < INT32_MIN || tag > INT32_MAX)
        return;
    event->tag = (int32_t)tag;
    if (!mpe1_integer(&at, end, &bytes) || bytes < 0)
        return;
    if (id == MPE1_SEND)
        event->bytes_sent = bytes;
    else
        event->bytes_received = bytes;
}
