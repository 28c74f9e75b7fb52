/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/record_users.h"

#include "core/record_states.h"

/* The place of an id in the table: its own, or a free one. Half of them stay free. */
static struct record_id *id_place(const struct record_digest *digest, uint32_t id)
{
    uint32_t i = id * UINT32_C(0x9E3779B1) >> 16;
    while (digest->ids[i % RECORD_DIGEST_IDS].used && digest->ids[i % RECORD_DIGEST_IDS].id != id)
        i++;
    return &digest->ids[i % RECORD_DIGEST_IDS];
}

/* What is known of an id; NULL: there is no room for more. */
static struct record_id *id_put(struct record_digest *digest, uint32_t id)
{
    struct record_id *place = id_place(digest, id);
    if (place->used)
        return place;
    if (digest->id_count == RECORD_DIGEST_IDS / 2)
        return NULL;
    digest->id_count++;
    *place = (struct record_id){.id = id, .used = 1};
    return place;
}

/* The row of the state that an id begins; NULL: there is no room. */
static struct record_totals_user *user_row(struct record_digest *digest, uint32_t start)
{
    struct record_totals *totals = digest->totals;
    struct record_id *id = id_put(digest, start);
    if (!id || (id->row == 0 && totals->user_count == RECORD_TOTALS_USERS))
        return NULL;
    if (id->row == 0) {
        totals->users[totals->user_count] =
            (struct record_totals_user){.start = start, .sums = {.min_ticks = INT64_MAX}};
        id->row = ++totals->user_count;
    }
    return &totals->users[id->row - 1];
}

static uint32_t user_state(const struct record_totals *totals, const struct record_totals_user *row)
{
    return RECORD_FUNCTIONS_MAX + (uint32_t)(row - totals->users);
}

static void user_end(struct record_digest *digest, struct record_totals_user *row, uint32_t id)
{
    struct record_totals *totals = digest->totals;
    /* A state has one end. */
    totals->lost_users += row->has_end && row->end != id;
    row->end = id;
    row->has_end = 1;
    uint32_t at = states_latest(totals, user_state(totals, row));
    if (at == RECORD_TOTALS_OPEN)
        row->stray++;
    else
        states_close(digest, at, &row->sums);
}

/* True if the event is the end of the state that the id before it began. Nobody has described it here. */
static bool seems_end(const struct record_digest *digest, uint32_t id)
{
    const struct record_id *before = id_place(digest, id - 1);
    return before->row > 0 && before->role != RECORD_ID_START &&
           states_latest(digest->totals, RECORD_FUNCTIONS_MAX + before->row - 1) != RECORD_TOTALS_OPEN;
}

void record_users_event(struct record_digest *digest, uint32_t id)
{
    struct record_totals *totals = digest->totals;
    const struct record_id *known = id_place(digest, id);
    uint32_t role = known->role, start = known->start;
    bool given = id >= RECORD_SOLO_FIRST && id <= RECORD_SOLO_LAST;
    if (role == RECORD_ID_MARK || (role == RECORD_ID_UNKNOWN && given))
        return;
    bool ends = role == RECORD_ID_END;
    if (role == RECORD_ID_UNKNOWN && seems_end(digest, id)) {
        start = id - 1;
        ends = true;
    }
    states_advance(digest);
    struct record_totals_user *row = user_row(digest, ends ? start : id);
    /* There must be room for calls within the program's states. */
    if (!row || (!ends && totals->open_count >= RECORD_TOTALS_OPEN / 2))
        totals->lost_users++;
    else if (ends)
        user_end(digest, row, id);
    else
        totals->open[totals->open_count++] =
            (struct record_totals_open){.function = user_state(totals, row), .ticks = digest->ticks};
}

static void describe_id(struct record_digest *digest, uint32_t id, enum record_id_role role, uint32_t start)
{
    struct record_id *place = id_put(digest, id);
    if (place) {
        place->role = role;
        place->start = start;
    }
}

void record_users_describe(struct record_digest *digest, const struct record_definition *state)
{
    bool mark = state->base.kind == RECORD_DEFINE_MARK;
    describe_id(digest, (uint32_t)state->start, mark ? RECORD_ID_MARK : RECORD_ID_START, (uint32_t)state->start);
    if (!mark)
        describe_id(digest, (uint32_t)state->end, RECORD_ID_END, (uint32_t)state->start);
}

void record_users_use(struct record_digest *digest)
{
    const struct record_totals *totals = digest->totals;
    for (uint32_t i = 0; i < RECORD_DIGEST_IDS; i++)
        digest->ids[i].row = 0;
    for (uint32_t i = 0; i < totals->user_count; i++) {
        struct record_id *id = id_put(digest, totals->users[i].start);
        if (id)
            id->row = i + 1;
    }
}
