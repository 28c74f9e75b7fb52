/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/numbers.h"
#include "render/field.h"
#include "timeline/statistics.h"
#include "timeline/tile.h"
#include "view/view.h"

/* Events that are read one by one while the user waits for the answer. */
static const double events_read = 4e6;

/* About how many events an area has, were they spread evenly over the life of each row. */
static double events_about(const struct view *view, const struct timeline_view *area)
{
    double events = 0;
    for (size_t i = 0; i < area->row_count; i++) {
        const struct timeline_row *row = &view->info->rows[area->rows[i]];
        int64_t from = larger(row->begin_ns, area->from_ns);
        int64_t to = smaller(row->end_ns, area->to_ns);
        /* One more, as a row with a single event has no length. */
        double life = (double)time_since(row->begin_ns, row->end_ns) + 1;
        events += (double)row->events * (double)time_since(from, to) / life;
    }
    return events;
}

/* Bins after the last one in use are not sent: most states have a dozen of the 64. */
static void write_durations(struct json *json, const struct timeline_state_sums *sums)
{
    int last = DURATION_BINS;
    while (last > 0 && sums->durations[last - 1] == 0)
        last--;
    output_text(json->output, ", \"durations\": [");
    for (int i = 0; i < last; i++)
        output_print(json->output, "%s%llu", i ? "," : "", (unsigned long long)sums->durations[i]);
    output_text(json->output, "]");
}

static void write_exact(struct json *json, const struct view *view, const struct timeline_statistics *statistics)
{
    for (size_t i = 0; i < statistics->state_count; i++) {
        const struct timeline_state_sums *sums = &statistics->states[i];
        /* A state that began earlier is in the window without a call that begins there: it has time, and no count. */
        if (sums->count + sums->open == 0 && sums->inclusive_ns == 0)
            continue;
        json_open(json, NULL, '{');
        json_value(json, "state", value_count(view->slot_of_state[i]));
        json_value(json, "count", value_count(sums->count + sums->open));
        json_value(json, "time", value_integer(sums->inclusive_ns));
        json_value(json, "exclusive", value_integer(sums->exclusive_ns));
        write_durations(json, sums);
        json_close(json, '}');
    }
}

static enum status exact(struct json *json, struct view *view, const struct timeline_view *area, struct error *err)
{
    struct timeline_statistics statistics;
    /* Reads the events of the window: exact, but as slow as there are many. */
    if (timeline_statistics(view->timeline, area, &statistics, err) != STATUS_OK)
        return STATUS_FAILED;
    json_open(json, NULL, '{');
    json_value(json, "exact", value_bool(true));
    json_value(json, "messages", value_count(statistics.sent));
    json_value(json, "bytes", value_bytes(statistics.bytes_sent));
    json_open(json, "states", '[');
    write_exact(json, view, &statistics);
    json_close(json, ']');
    json_close(json, '}');
    timeline_statistics_clear(&statistics);
    return STATUS_OK;
}

/* From the index alone: times of the latest entered states, to the bin. */
static enum status coarse(struct json *json, struct view *view, const struct timeline_view *area, struct error *err)
{
    struct timeline_tile tile;
    struct timeline_tile_options options = {.bins = TIMELINE_BINS, .fold = (uint32_t)area->row_count};
    if (timeline_tile(view->timeline, area, options, &tile, err) != STATUS_OK)
        return STATUS_FAILED;
    json_open(json, NULL, '{');
    json_value(json, "exact", value_bool(false));
    json_value(json, "messages", value_null());
    json_value(json, "bytes", value_null());
    json_open(json, "states", '[');
    for (size_t i = 0; i < view->info->defs->state_count; i++) {
        /* Written so that NaN counts as nothing. */
        if (!(tile.state_ns[i] > 0))
            continue;
        json_open(json, NULL, '{');
        json_value(json, "state", value_count(view->slot_of_state[i]));
        json_value(json, "count", value_null());
        /* Calls and inclusive times are not in the index: null says that they are not known, not that there are
         * none. */
        json_value(json, "time", value_null());
        json_value(json, "exclusive", value_integer((int64_t)tile.state_ns[i]));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    timeline_tile_clear(&tile);
    return STATUS_OK;
}

enum status view_write_statistics(struct output *output, struct view *view, struct view_area area, struct error *err)
{
    struct timeline_view seen;
    struct json json = {.output = output, .first = true};
    if (view_area_of(view, &area, &seen, err) != STATUS_OK)
        return STATUS_FAILED;
    /* A count to the event takes a second for every 20 million; a person who drags a window does not wait that long. */
    bool all = events_about(view, &seen) <= events_read;
    if (all)
        return exact(&json, view, &seen, err);
    return coarse(&json, view, &seen, err);
}
