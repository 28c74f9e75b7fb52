/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/field.h"
#include "timeline/window.h"
#include "view/view.h"

#include <stdio.h>

/* One thing of a kind, e.g. the index-th state, and where its numbers come from. */
struct item {
    const struct view *view;
    const struct timeline_window *window;
    const struct timeline_overlay *overlay;
    size_t index;
};

/* No number that is sent can have this value: times are counted from the beginning of the run. */
enum { NUMBER_NULL = INT32_MIN }; /* written as null */

struct column {
    const char *name;
    int64_t (*get)(const struct item *item);
};

static void write_number(struct output *output, int64_t value)
{
    if (value == NUMBER_NULL) {
        output_text(output, "null");
        return;
    }
    /* Digits are put into the output's buffer: printf() would take most of the time of a window. */
    unsigned char *at = output_room(output, TEXT_NUMBER_SIZE);
    char *end = (char *)at;
    if (value < 0)
        *end++ = '-';
    end = text_put_u64(end, magnitude_of(value));
    output->at = (unsigned char *)end;
}

static void write_columns(struct output *output, const char *name, const struct column *columns, size_t count,
                          struct item item, size_t end)
{
    output_print(output, ",\n\"%s\":{", name);
    for (size_t c = 0; c < count; c++) {
        output_print(output, "%s\"%s\":[", c ? ",\n" : "", columns[c].name);
        for (item.index = 0; item.index < end; item.index++) {
            if (item.index > 0)
                output_text(output, ",");
            write_number(output, columns[c].get(&item));
        }
        output_text(output, "]");
    }
    output_text(output, "}");
}

static int64_t row_number(uint32_t row)
{
    if (row == TIMELINE_NONE)
        return -1;
    return (int64_t)row;
}

#define GETTER(name, expression)                                                                                       \
    static int64_t name(const struct item *item)                                                                       \
    {                                                                                                                  \
        return expression;                                                                                             \
    }

static const struct timeline_state *state_at(const struct item *item)
{
    return &item->window->states[item->index];
}
GETTER(state_row, state_at(item)->row)
GETTER(state_slot, item->view->slot_of_state[state_at(item)->state])
GETTER(state_depth, state_at(item)->depth)
GETTER(state_open, state_at(item)->open)
GETTER(state_from, view_time(item->view, state_at(item)->enter_ns))
GETTER(state_to, view_time(item->view, state_at(item)->leave_ns))
static const struct column state_columns[] = {{"row", state_row},   {"state", state_slot}, {"depth", state_depth},
                                              {"open", state_open}, {"from", state_from},  {"to", state_to}};

static const struct timeline_message *message_at(const struct item *item)
{
    return &item->window->messages[item->index];
}
GETTER(message_row, row_number(message_at(item)->send_row))
GETTER(message_sent, view_time(item->view, message_at(item)->send_ns))
GETTER(message_to, row_number(message_at(item)->receive_row))
GETTER(message_received, view_time(item->view, message_at(item)->receive_ns))
GETTER(message_tag, message_at(item)->tag)
/* The page knows -1 as not known. */
GETTER(message_bytes, message_at(item)->bytes == BYTES_UNKNOWN ? -1 : message_at(item)->bytes)
GETTER(message_sender, message_at(item)->send_process)
GETTER(message_receiver, message_at(item)->receive_process)
static const struct column message_columns[] = {
    {"row", message_row}, {"sent", message_sent},   {"to", message_to},         {"received", message_received},
    {"tag", message_tag}, {"bytes", message_bytes}, {"sender", message_sender}, {"receiver", message_receiver}};

static const struct timeline_mark *mark_at(const struct item *item)
{
    return &item->window->marks[item->index];
}
GETTER(mark_row, mark_at(item)->row)
GETTER(mark_mark, mark_at(item)->mark)
GETTER(mark_time, view_time(item->view, mark_at(item)->time_ns))
static const struct column mark_columns[] = {{"row", mark_row}, {"mark", mark_mark}, {"time", mark_time}};

static void write_mark_texts(struct output *output, const struct timeline_window *window)
{
    output_text(output, ",\n\"markTexts\":[");
    for (size_t i = 0; i < window->mark_count; i++) {
        if (i > 0)
            output_text(output, ",");
        value_write_json(output, value_text(window->marks[i].text));
    }
    output_text(output, "]");
}

static const struct overlay_wait *wait_at(const struct item *item)
{
    return &item->overlay->waits[item->index];
}
GETTER(wait_row, wait_at(item)->row)
GETTER(wait_from, view_time(item->view, wait_at(item)->from_ns))
GETTER(wait_to, view_time(item->view, wait_at(item)->to_ns))
GETTER(wait_kind, wait_at(item)->kind)
GETTER(wait_cause, row_number(wait_at(item)->cause_row))
static const struct column wait_columns[] = {
    {"row", wait_row}, {"from", wait_from}, {"to", wait_to}, {"kind", wait_kind}, {"cause", wait_cause}};

#define COLUMNS(table) table, sizeof table / sizeof *table

/* The waits of a row that begin at or after a time: first of the overlay's list. */
static size_t waits_from(const struct timeline_overlay *overlay, uint32_t row, int64_t time_ns)
{
    /* By halving: waits are in the order of rows, and of time within a row. */
    size_t low = 0, high = overlay->wait_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct overlay_wait *wait = &overlay->waits[middle];
        if (wait->row < row || (wait->row == row && wait->from_ns < time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Waits of a row do not overlap: one that began before is the one before the first that begins after. */
size_t view_first_wait(const struct timeline_overlay *overlay, uint32_t row, int64_t time_ns)
{
    size_t at = waits_from(overlay, row, time_ns);
    if (at > 0 && overlay->waits[at - 1].row == row && overlay->waits[at - 1].to_ns > time_ns)
        at--;
    return at;
}

/* Waits of the area's rows, in an overlay of their own. */
static struct timeline_overlay waits_of(const struct timeline_overlay *overlay, const struct timeline_view *area)
{
    struct timeline_overlay found = {0};
    size_t capacity = 0;
    for (size_t i = 0; overlay && i < area->row_count; i++) {
        size_t at = view_first_wait(overlay, area->rows[i], area->from_ns);
        for (; at < overlay->wait_count && overlay->waits[at].row == area->rows[i] &&
               overlay->waits[at].from_ns < area->to_ns;
             at++)
            ARRAY_PUSH(found.waits, found.wait_count, capacity, overlay->waits[at]);
    }
    return found;
}

enum status view_write_window(struct output *output, struct view *view, struct view_area area, size_t limit,
                              const struct timeline_overlay *overlay, struct error *err)
{
    struct timeline_view seen;
    struct timeline_window window;
    if (view_area_of(view, &area, &seen, err) != STATUS_OK ||
        timeline_window(view->timeline, &seen, limit, &window, err) != STATUS_OK)
        return STATUS_FAILED;
    struct timeline_overlay waits = {0};
    /* A window with too many states is drawn from tiles, which have the waits in them. */
    if (!window.too_many)
        waits = waits_of(overlay, &seen);
    struct item item = {.view = view, .window = &window, .overlay = &waits};
    output_print(output, "{\"from\":%lld,\"to\":%lld,\"first\":%llu,\"last\":%lld,\"complete\":%s",
                 (long long)area.from_ns, (long long)area.to_ns, (unsigned long long)area.first,
                 (long long)(area.first + area.count) - 1, window.too_many ? "false" : "true");
    write_columns(output, "states", COLUMNS(state_columns), item, window.state_count);
    write_columns(output, "messages", COLUMNS(message_columns), item, window.message_count);
    write_columns(output, "marks", COLUMNS(mark_columns), item, window.mark_count);
    write_mark_texts(output, &window);
    write_columns(output, "waits", COLUMNS(wait_columns), item, waits.wait_count);
    output_text(output, "}");
    free(waits.waits);
    timeline_window_clear(&window);
    return STATUS_OK;
}

static void write_site(struct json *json, const struct defs *defs, uint32_t site)
{
    char text[400];
    const char *place = NULL;
    if (site > 0 && site <= defs->site_count) {
        snprintf(text, sizeof text, "%s:%d", defs->sites[site - 1].file, defs->sites[site - 1].line);
        place = text;
    }
    json_value(json, "site", value_text(place));
}

enum status view_write_detail(struct output *output, struct view *view, uint32_t row, int64_t from_ns, uint32_t depth,
                              struct error *err)
{
    struct timeline_detail detail;
    int64_t enter_ns;
    /* Addresses come from the network: a row or a time may be any number. */
    if (row >= view->info->row_count || __builtin_add_overflow(view->info->begin_ns, from_ns, &enter_ns))
        return error_set(err, ERROR_USAGE, "no such state");
    enum status status = timeline_detail(view->timeline, row, enter_ns, depth, &detail, err);
    if (status != STATUS_OK)
        return status;
    struct json json = {.output = output, .first = true};
    json_open(&json, NULL, '{');
    write_site(&json, view->info->defs, detail.site);
    json_value(&json, "text", value_text(detail.text));
    json_value(&json, "exclusive", value_if(detail.exclusive_ns >= 0, value_integer(detail.exclusive_ns)));
    json_close(&json, '}');
    return STATUS_OK;
}
