/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_ids.h"

#include "convert/clog2/mpe2_state.h"
#include "core/memory.h"

#include <string.h>

static bool is_free(const struct clog2_ids *ids, int32_t id)
{
    return !map_find(&ids->taken, (uint32_t)id);
}

static void take(struct clog2_ids *ids, int32_t id)
{
    map_put(&ids->taken, (uint32_t)id, 0);
}

/* A state needs two ids that mean nothing else: one of them alone would end, or begin, another state. */
static bool take_pair(struct clog2_ids *ids, int32_t start, int32_t end)
{
    if (start < 0 || end < 0 || start == end || !is_free(ids, start) || !is_free(ids, end))
        return false;
    take(ids, start);
    take(ids, end);
    return true;
}

/* MPE-1's numbers mean other functions in MPE-2: only a CLOG-2 source's numbers may stay. */
static bool source_is_clog2(const struct defs *defs)
{
    return defs->version && strncmp(defs->version, CLOG2_MAGIC, strlen(CLOG2_MAGIC)) == 0;
}

/* A copy keeps the ids of its source, so that both can be compared record by record. */
static void keep_ids(struct clog2_ids *ids, const struct defs *defs)
{
    for (size_t i = 0; i < defs->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        if (state->shadowed || take_pair(ids, state->start, state->end))
            ids->states[i] = (struct clog2_state_ids){state->id, state->start, state->end};
    }
    for (size_t i = 0; i < defs->mark_count; i++)
        if (defs->marks[i].shadowed || is_free(ids, defs->marks[i].id)) {
            take(ids, defs->marks[i].id);
            ids->marks[i] = defs->marks[i].id;
        }
}

static void give_built_in(struct clog2_ids *ids, const struct defs *defs)
{
    for (size_t i = 0; i < defs->state_count; i++) {
        const struct mpe2_state *known =
            ids->states[i].start == EVENT_UNKNOWN ? mpe2_state_find(defs->states[i].name) : NULL;
        /* MPE's tools know their own functions by these numbers; if one is taken, the state gets a user's id and is
           defined. */
        if (known && take_pair(ids, 2 * known->id, 2 * known->id + 1))
            ids->states[i] = (struct clog2_state_ids){known->id, 2 * known->id, 2 * known->id + 1};
    }
}

static void give_user(struct clog2_ids *ids, const struct defs *defs)
{
    int32_t event = CLOG2_USER_EVENTS, state = CLOG2_KNOWN_STATES;
    for (size_t i = 0; i < defs->state_count; i++)
        if (ids->states[i].id != EVENT_UNKNOWN && ids->states[i].id >= state && ids->states[i].id < INT32_MAX / 2)
            state = ids->states[i].id + 1;
    for (size_t i = 0; i < defs->state_count; i++) {
        if (ids->states[i].start != EVENT_UNKNOWN)
            continue;
        while (!take_pair(ids, event, event + 1))
            event += 2;
        ids->states[i] = (struct clog2_state_ids){state++, event, event + 1};
    }
    /* The preamble says where single events begin: after all events of states, if those pass MPE's usual 5000. */
    ids->solo_start = CLOG2_USER_SOLO;
    for (size_t i = 0; i < defs->state_count; i++)
        if (ids->states[i].end >= ids->solo_start && ids->states[i].end < INT32_MAX)
            ids->solo_start = ids->states[i].end + 1;
    int32_t solo = ids->solo_start;
    for (size_t i = 0; i < defs->mark_count; i++) {
        if (ids->marks[i] != EVENT_UNKNOWN)
            continue;
        while (!is_free(ids, solo))
            solo++;
        take(ids, solo);
        ids->marks[i] = solo;
    }
}

/* MPE's tools allocate by these counts and crash on an id beyond them. */
static void count_ranges(struct clog2_ids *ids, const struct defs *defs)
{
    for (size_t i = 0; i < defs->state_count; i++)
        if (ids->states[i].id >= CLOG2_KNOWN_STATES && ids->states[i].id - CLOG2_KNOWN_STATES >= ids->user_states)
            ids->user_states = ids->states[i].id - CLOG2_KNOWN_STATES + 1;
    for (size_t i = 0; i < defs->mark_count; i++) {
        if (ids->marks[i] >= ids->solo_start && ids->marks[i] - ids->solo_start >= ids->user_solos)
            ids->user_solos = ids->marks[i] - ids->solo_start + 1;
        /* Events of states that an aborted run never described: they count as declared. */
        int32_t state = ids->marks[i] < ids->solo_start ? (ids->marks[i] - CLOG2_USER_EVENTS) / 2 : -1;
        if (ids->marks[i] >= CLOG2_USER_EVENTS && state >= ids->user_states)
            ids->user_states = state + 1;
        if (ids->marks[i] < 0)
            /* MPE_Comm_init and MPE_Comm_finalize. */
            ids->known_solos = 2;
    }
}

/* Ids of source locations: the source's own if they are distinct. 0 means none. */
static void give_sites(struct clog2_ids *ids, const struct defs *defs)
{
    struct map taken = {0};
    for (size_t i = 0; i < defs->site_count; i++) {
        int32_t id = defs->sites[i].id;
        bool own = id > 0 && !map_find(&taken, (uint32_t)id);
        ids->sites[i] = own ? id : 0;
        if (own)
            map_put(&taken, (uint32_t)id, 0);
    }
    int32_t next = 1;
    for (size_t i = 0; i < defs->site_count; i++) {
        while (!ids->sites[i] && map_find(&taken, (uint32_t)next))
            next++;
        if (!ids->sites[i])
            ids->sites[i] = next++;
    }
    map_clear(&taken);
}

void clog2_ids_give(struct clog2_ids *ids, const struct defs *defs)
{
    ids->states = memory_new(defs->state_count * sizeof *ids->states);
    ids->marks = memory_new(defs->mark_count * sizeof *ids->marks);
    for (size_t i = 0; i < defs->state_count; i++)
        ids->states[i] = (struct clog2_state_ids){EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN};
    for (size_t i = 0; i < defs->mark_count; i++)
        ids->marks[i] = EVENT_UNKNOWN;
    if (source_is_clog2(defs))
        keep_ids(ids, defs);
    give_built_in(ids, defs);
    give_user(ids, defs);
    count_ranges(ids, defs);
    ids->sites = memory_new(defs->site_count * sizeof *ids->sites);
    give_sites(ids, defs);
}

void clog2_ids_clear(struct clog2_ids *ids)
{
    free(ids->states);
    free(ids->marks);
    free(ids->sites);
    map_clear(&ids->taken);
}

void clog2_put_text(struct writer *writer, unsigned char *at, size_t size, const char *text)
{
    char *latin1 = writer_latin1(writer, text);
    size_t length = strlen(latin1);
    /* One byte is left for the zero that ends it. */
    writer_lose(writer, "ends of long texts", length >= size);
    memcpy(at, latin1, length < size ? length : size - 1);
    free(latin1);
}
