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
    view_hosts_find(&view->hosts, view->info);
}

void view_clear(struct view *view)
{
    for (size_t i = 0; i < VIEW_ORDERS; i++)
        free(view->lines[i].rows);
    view_hosts_clear(&view->hosts);
    free(view->slot_of_state);
    free(view->state_of_slot);
    *view = (struct view){0};
}

int view_order_find(const char *name)
{
    static const char *const names[VIEW_ORDERS] = {[VIEW_BY_RANK] = "rank",
                                                   [VIEW_BY_COMPUTE] = "compute",
                                                   [VIEW_BY_LIKENESS] = "likeness",
                                                   [VIEW_BY_HOST] = "host",
                                                   [VIEW_HOSTS] = "hosts"};
    for (int i = 0; i < VIEW_ORDERS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* Rows by line for an order of hosts; none if there is no such order of this trace. */
static struct view_lines host_lines(const struct view *view, enum view_order order)
{
    const struct view_hosts *hosts = &view->hosts;
    size_t count = view->info->row_count;
    if (order == VIEW_HOSTS && view_hosts_fold(hosts))
        return (struct view_lines){view_hosts_lines(hosts, count), hosts->count << hosts->fold};
    if (order == VIEW_HOSTS || hosts->count == 0)
        return (struct view_lines){0};
    uint32_t *rows = memory_new(count * sizeof *rows);
    memcpy(rows, hosts->rows, count * sizeof *rows);
    return (struct view_lines){rows, count};
}

const struct view_lines *view_lines(struct view *view, enum view_order order, struct error *err)
{
    struct view_lines *lines = &view->lines[order];
    if (lines->rows)
        return lines;
    if (order == VIEW_BY_HOST || order == VIEW_HOSTS) {
        *lines = host_lines(view, order);
        if (lines->rows)
            return lines;
        error_set(err, ERROR_USAGE, "the trace does not name several hosts");
        return NULL;
    }
    uint32_t *rows = memory_new(view->info->row_count * sizeof *rows);
    if (timeline_order(view->timeline, (enum timeline_order)order, rows, err) != STATUS_OK) {
        free(rows);
        return NULL;
    }
    *lines = (struct view_lines){rows, view->info->row_count};
    return lines;
}

/* Rows of the lines [first, first + count), in order: of lines without a row none. */
static void take_rows(const struct view *view, const struct view_lines *lines, const struct view_area *area,
                      struct timeline_view *found)
{
    found->rows = lines->rows + area->first;
    found->row_count = area->count;
    if (area->order != VIEW_HOSTS)
        return;
    size_t before = 0, inside = 0;
    for (size_t i = 0; i < area->first + area->count; i++)
        if (lines->rows[i] != TIMELINE_NONE)
            *(i < area->first ? &before : &inside) += 1;
    found->rows = view->hosts.rows + before;
    found->row_count = inside;
}

enum status view_area_of(struct view *view, const struct view_area *area, struct timeline_view *found,
                         struct error *err)
{
    const struct view_lines *lines = view_lines(view, area->order, err);
    if (!lines)
        return STATUS_FAILED;
    int64_t begin_ns = view->info->begin_ns, from_ns, to_ns;
    if (area->count > lines->count || area->first > lines->count - area->count || area->to_ns < area->from_ns ||
        __builtin_add_overflow(begin_ns, area->from_ns, &from_ns) ||
        __builtin_add_overflow(begin_ns + 1, area->to_ns, &to_ns))
        return error_set(err, ERROR_USAGE, "no such part of the trace");
    *found = (struct timeline_view){.from_ns = from_ns, .to_ns = to_ns};
    take_rows(view, lines, area, found);
    return STATUS_OK;
}
