/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/view.h"

#include "core/memory.h"

#include <string.h>

/* States with the same name are one; the first VIEW_SLOTS names have a slot of their own. */
static void find_slots(struct view *view)
{
    const struct defs *defs = view->info->defs;
    view->slot_of_state = memory_new(defs->state_count);
    view->state_of_slot = memory_new(VIEW_SLOTS * sizeof *view->state_of_slot);
    for (uint32_t i = 0; i < defs->state_count; i++) {
        uint32_t first = defs->states[i].first_of_name;
        if (first != i) {
            view->slot_of_state[i] = view->slot_of_state[first];
        } else if (view->slot_count < VIEW_SLOTS) {
            view->slot_of_state[i] = (uint8_t)view->slot_count;
            view->state_of_slot[view->slot_count++] = i;
        } else {
            view->slot_of_state[i] = VIEW_OTHERS;
        }
    }
}

void view_begin(struct view *view, struct timeline *timeline, const char *title)
{
    *view = (struct view){.title = title, .timeline = timeline, .info = timeline_info(timeline)};
    find_slots(view);
}

void view_clear(struct view *view)
{
    for (size_t i = 0; i < VIEW_ORDERS; i++)
        free(view->order[i]);
    free(view->slot_of_state);
    free(view->state_of_slot);
    *view = (struct view){0};
}

int view_order_find(const char *name)
{
    static const char *const names[VIEW_ORDERS] = {
        [TIMELINE_BY_RANK] = "rank", [TIMELINE_BY_COMPUTE] = "compute", [TIMELINE_BY_LIKENESS] = "likeness"};
    for (int i = 0; i < VIEW_ORDERS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const uint32_t *view_rows(struct view *view, enum timeline_order order, struct error *err)
{
    if (view->order[order])
        return view->order[order];
    uint32_t *rows = memory_new(view->info->row_count * sizeof *rows);
    if (timeline_order(view->timeline, order, rows, err) != STATUS_OK) {
        free(rows);
        return NULL;
    }
    return view->order[order] = rows;
}

enum status view_area_of(struct view *view, const struct view_area *area, struct timeline_view *found,
                         struct error *err)
{
    const uint32_t *rows = view_rows(view, area->order, err);
    if (!rows)
        return STATUS_FAILED;
    int64_t begin_ns = view->info->begin_ns, from_ns, to_ns;
    if (area->count > view->info->row_count || area->first > view->info->row_count - area->count ||
        area->to_ns < area->from_ns || __builtin_add_overflow(begin_ns, area->from_ns, &from_ns) ||
        __builtin_add_overflow(begin_ns + 1, area->to_ns, &to_ns))
        return error_set(err, ERROR_USAGE, "no such part of the trace");
    *found = (struct timeline_view){
        .from_ns = from_ns, .to_ns = to_ns, .rows = rows + area->first, .row_count = area->count};
    return STATUS_OK;
}
