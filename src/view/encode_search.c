/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "render/field.h"
#include "timeline/find.h"
#include "view/view.h"

#include <string.h>

struct hits {
    struct timeline_state state[VIEW_FOUND + 1];
    size_t count;
};

/* Rows of the requested process: NULL and 0 for all. */
static uint32_t *rows_wanted(const struct view *view, int64_t process, size_t *count)
{
    size_t capacity = 0;
    uint32_t *rows = NULL;
    *count = 0;
    for (uint32_t i = 0; process >= 0 && i < view->info->row_count; i++)
        if (view->info->rows[i].process == process)
            ARRAY_PUSH(rows, *count, capacity, i);
    return rows;
}

static bool is_kept(const struct hits *hits, const struct timeline_state *state)
{
    for (size_t i = 0; i < hits->count; i++)
        if (hits->state[i].row == state->row && hits->state[i].enter_ns == state->enter_ns &&
            hits->state[i].depth == state->depth)
            return true;
    return false;
}

/* Keeps the hit in its place by time, once where several messages in it fit; of too many, the latest go. */
static void keep(struct hits *hits, const struct timeline_state *state)
{
    if (is_kept(hits, state))
        return;
    size_t at = VIEW_FOUND;
    if (hits->count < VIEW_FOUND + 1)
        at = hits->count++;
    /* Insertion keeps the few that are wanted in order; sorting all hits would need all of them. */
    for (; at > 0 && hits->state[at - 1].enter_ns > state->enter_ns; at--)
        hits->state[at] = hits->state[at - 1];
    hits->state[at] = *state;
}

/* All states of one query of the timeline until there are enough, or they are later than all those kept. */
static enum status look(struct hits *hits, struct view *view, const struct view_query *query,
                        const struct timeline_query *what, int64_t from_ns, struct error *err)
{
    struct timeline_found found;
    enum status status = STATUS_OK;
    /* One more than is shown: it shows whether there are more. */
    for (size_t i = 0; i <= VIEW_FOUND; i++) {
        status = timeline_find(view->timeline, what, from_ns, false, &found, err);
        if (status != STATUS_OK)
            break;
        from_ns = found.time_ns;
        /* Later ones of this state cannot be among the first: the search of a common name would read the whole trace.
         */
        if (hits->count > VIEW_FOUND && found.state.enter_ns >= hits->state[VIEW_FOUND].enter_ns)
            return STATUS_OK;
        /* The timeline knows a least duration, not a most one: longer ones are passed over here. */
        if (time_since(found.state.enter_ns, found.state.leave_ns) <= query->most_ns)
            keep(hits, &found.state);
    }
    return status == STATUS_FAILED ? STATUS_FAILED : STATUS_OK;
}

static enum status look_for_all(struct hits *hits, struct view *view, const struct view_query *query,
                                struct timeline_query *what, struct error *err)
{
    const struct defs *defs = view->info->defs;
    int64_t from_ns;
    /* The timeline looks for what begins after a time: from_ns itself is to be found, too. */
    if (__builtin_add_overflow(view->info->begin_ns - 1, query->from_ns, &from_ns))
        return STATUS_OK;
    if (!*query->name)
        return look(hits, view, query, what, from_ns, err);
    /* Several states may have the name in theirs, in any case: each is looked for, and the hits are merged by time. */
    for (size_t i = 0; i < view->slot_count; i++) {
        what->state = (int32_t)view->state_of_slot[i];
        if (strcasestr(defs->states[view->state_of_slot[i]].name, query->name) &&
            look(hits, view, query, what, from_ns, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

static void write_hits(struct output *output, const struct view *view, const struct hits *hits)
{
    size_t shown = smaller(hits->count, VIEW_FOUND);
    output_print(output, "{\"more\":%s,\"found\":[", hits->count > VIEW_FOUND ? "true" : "false");
    for (size_t i = 0; i < shown; i++) {
        const struct timeline_state *state = &hits->state[i];
        output_print(output, "%s{\"row\":%u,\"state\":%u,\"from\":%lld,\"to\":%lld}", i ? "," : "", state->row,
                     view->slot_of_state[state->state], (long long)view_time(view, state->enter_ns),
                     (long long)view_time(view, state->leave_ns));
    }
    output_text(output, "]}");
}

enum status view_write_search(struct output *output, struct view *view, const struct view_query *query,
                              struct error *err)
{
    struct timeline_query what = {
        .state = EVENT_UNKNOWN, .partner = EVENT_UNKNOWN, .tag = query->tag, .least_ns = query->least_ns};
    uint32_t *rows = rows_wanted(view, query->process, &what.row_count);
    what.rows = rows;
    /* On the heap: threads of the server have small stacks. */
    struct hits *hits = memory_new(sizeof *hits);
    enum status status = STATUS_OK;
    /* No rows mean all of them: a process that is not in the trace has nothing instead. */
    if (query->process < 0 || what.row_count > 0)
        status = look_for_all(hits, view, query, &what, err);
    if (status == STATUS_OK)
        write_hits(output, view, hits);
    free(hits);
    free(rows);
    return status;
}
