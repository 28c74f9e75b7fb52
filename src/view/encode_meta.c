/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/view.h"

#include "core/ending.h"
#include "core/memory.h"
#include "core/payload.h"
#include "core/resource_counter.h"
#include "core/text.h"
#include "render/charts/palette.h"
#include "render/clock_sentence.h"
#include "render/field.h"

#include <stdio.h>
#include <stdlib.h>

static void write_facts(struct json *json, const struct view *view)
{
    char facts[200], processes[TEXT_NUMBER_SIZE], events[TEXT_NUMBER_SIZE], duration[TEXT_NUMBER_SIZE];
    const struct timeline_info *info = view->info;
    snprintf(facts, sizeof facts, "%s process%s, %s, %s event%s", text_thousands(processes, info->defs->processes),
             text_plural(info->defs->processes, "", "es"),
             text_duration(duration, time_since(info->begin_ns, info->end_ns)), text_thousands(events, info->events),
             text_plural(info->events, "", "s"));
    json_value(json, "facts", value_text(facts));
    char damage[700] = "";
    const char *first = "it is incomplete";
    if (info->end.damage.count > 0)
        first = info->end.damage.first;
    if (!info->end.complete)
        snprintf(damage, sizeof damage, "The trace is damaged: %s", first);
    json_value(json, "damage", value_text(damage));
    char clocks[CLOCK_NOTE_SIZE];
    json_value(json, "clocks", value_text(clock_note(clocks, view->info, NULL)));
    json_value(json, "corrected", value_bool(view->info->clocks.fixed));
}

/* Title, value and processes of each fact. */
static void write_run(struct json *json, const struct view *view)
{
    struct property_list list = property_list_of(view->info->defs);
    json_open(json, "run", '[');
    for (size_t i = 0; i < list.count; i++) {
        char *ranks = property_ranks(&list.rows[i]);
        json_open(json, NULL, '[');
        json_value(json, NULL, value_text(property_title(list.rows[i].name)));
        json_value(json, NULL, value_text(list.rows[i].value));
        json_value(json, NULL, value_text(ranks));
        json_close(json, ']');
        free(ranks);
    }
    json_close(json, ']');
    property_list_clear(&list);
}

/* Numbers by row, or null if `plain` says that they are not needed. */
static void write_by_row(struct output *output, const struct view *view, bool plain,
                         void (*write)(struct output *output, const struct view *view, const struct timeline_row *row))
{
    if (plain) {
        output_text(output, "null");
        return;
    }
    output_text(output, "[");
    /* One array for each property: names of members would be most of the bytes. */
    for (size_t i = 0; i < view->info->row_count; i++) {
        if (i > 0)
            output_text(output, ",");
        write(output, view, &view->info->rows[i]);
    }
    output_text(output, "]");
}

static void write_rank(struct output *output, const struct view *view, const struct timeline_row *row)
{
    (void)view;
    output_print(output, "%u", row->process);
}

static void write_thread(struct output *output, const struct view *view, const struct timeline_row *row)
{
    (void)view;
    output_print(output, "%u", row->thread);
}

static void write_life(struct output *output, const struct view *view, const struct timeline_row *row)
{
    /* A row without events has no life: it is drawn as empty. */
    if (row->events == 0)
        output_text(output, "null");
    else
        output_print(output, "[%lld,%lld]", (long long)view_time(view, row->begin_ns),
                     (long long)view_time(view, row->end_ns));
}

static void write_host(struct output *output, const struct view *view, const struct timeline_row *row)
{
    output_print(output, "%u", view->hosts.of_row[row - view->info->rows]);
}

/* Only where there are several: rows of one host need not be told apart. */
static void write_hosts(struct output *output, const struct view *view)
{
    const struct view_hosts *hosts = &view->hosts;
    output_text(output, ",\n\"hosts\":");
    if (hosts->count == 0) {
        output_text(output, "null");
        return;
    }
    output_text(output, "{\"names\":[");
    for (size_t i = 0; i < hosts->count; i++) {
        if (i > 0)
            output_text(output, ",");
        value_write_json(output, value_text(hosts->names[i] ? hosts->names[i] : "unknown host"));
    }
    output_text(output, "],\"fold\":");
    value_write_json(output, value_if(view_hosts_fold(hosts), value_count(hosts->fold)));
    output_text(output, ",\"of\":");
    write_by_row(output, view, false, write_host);
    output_text(output, "}");
}

/* Of rows that ended without MPI_Finalize: nearly all runs have none. */
static void write_endings(struct output *output, const struct view *view)
{
    const char *between = "";
    output_text(output, ",\n\"endings\":[");
    for (size_t i = 0; i < view->info->row_count; i++) {
        const struct timeline_row *row = &view->info->rows[i];
        char text[ENDING_TEXT_SIZE];
        if (!ending_text(text, row->ended, row->code)[0])
            continue;
        output_print(output, "%s{\"row\":%zu,\"text\":", between, i);
        value_write_json(output, value_text(text));
        output_text(output, ",\"word\":");
        value_write_json(output, value_text(ending_word(row->ended, row->code)));
        output_text(output, "}");
        between = ",";
    }
    output_text(output, "]");
}

static void write_rows(struct output *output, const struct view *view)
{
    bool ranks = true, threads = true;
    for (size_t i = 0; i < view->info->row_count; i++) {
        /* Nearly all runs have one row for each rank, in order: then the numbers need not be sent. */
        ranks &= view->info->rows[i].process == i;
        threads &= view->info->rows[i].thread == 0;
    }
    output_text(output, ",\n\"ranks\":");
    write_by_row(output, view, ranks, write_rank);
    output_text(output, ",\n\"threads\":");
    write_by_row(output, view, threads, write_thread);
    output_text(output, ",\n\"lives\":");
    write_by_row(output, view, false, write_life);
    write_endings(output, view);
    write_hosts(output, view);
}

static void write_state(struct json *json, const struct state_def *state)
{
    struct paint paint = palette_paint(state, false);
    json_open(json, NULL, '{');
    json_value(json, "name", value_text(state->name));
    /* The number of an ink, not a colour: the page has both schemes. */
    json_value(json, "ink", value_count(paint.ink));
    json_value(json, "mpi", value_bool(state->is_mpi));
    json_close(json, '}');
}

static void write_texts(struct json *json, const struct view *view)
{
    const struct defs *defs = view->info->defs;
    json_open(json, "states", '[');
    for (size_t i = 0; i < view->slot_count; i++)
        write_state(json, &defs->states[view->state_of_slot[i]]);
    json_close(json, ']');
    json_open(json, "marks", '[');
    for (size_t i = 0; i < defs->mark_count; i++) {
        /* Marks of our own hold facts about the run, which no one looks for in a timeline. */
        const char *name = NULL;
        if (!payload_mark_is_ours(defs->marks[i].name))
            name = defs->marks[i].name;
        json_value(json, NULL, value_text(name));
    }
    json_close(json, ']');
    json_open(json, "waitKinds", '[');
    for (int i = 0; i < WAIT_KIND_COUNT; i++)
        json_value(json, NULL, value_text(wait_kind_name((enum wait_kind)i)));
    json_close(json, ']');
}

static void write_counters(struct json *json, const struct view *view)
{
    struct timeline_counter *counters;
    size_t count = view_counters(view, &counters);
    json_open(json, "counters", '[');
    for (size_t i = 0; i < count; i++) {
        const struct mark_def *mark = &view->info->defs->marks[counters[i].mark];
        json_open(json, NULL, '{');
        json_value(json, "mark", value_count(counters[i].mark));
        json_value(json, "name", value_text(mark->name));
        json_value(json, "unit", value_text(mark->counter.unit ? mark->counter.unit : ""));
        json_value(json, "sum", value_bool(counters[i].sum));
        json_value(json, "resource", value_bool(resource_counter_of(mark) != RESOURCE_COUNTERS));
        json_value(json, "rows", value_count(counters[i].rows));
        json_close(json, '}');
    }
    json_close(json, ']');
    free(counters);
}

/* Numbers of the inks that the page draws with: variables --cN of its style. */
static void write_inks(struct json *json)
{
    static const struct {
        const char *name;
        unsigned ink;
    } inks[] = {{"text", INK_TEXT},   {"back", INK_BACK},     {"muted", INK_MUTED}, {"grid", INK_GRID},
                {"plain", INK_PLAIN}, {"accent", INK_ACCENT}, {"mpi", INK_MPI},     {"compute", INK_COMPUTE},
                {"other", INK_OTHER}, {"level", INK_LEVEL}};
    json_open(json, "inks", '{');
    for (size_t i = 0; i < sizeof inks / sizeof *inks; i++)
        json_value(json, inks[i].name, value_count(inks[i].ink));
    json_close(json, '}');
}

void view_write_meta(struct output *output, const struct view *view)
{
    /* What is around this object was written as text: the writer must not begin with a comma. */
    struct json json = {.output = output, .first = true};
    json_open(&json, NULL, '{');
    json_value(&json, "title", value_text(view->title));
    write_facts(&json, view);
    write_run(&json, view);
    json_value(&json, "duration", value_integer(time_since(view->info->begin_ns, view->info->end_ns)));
    json_value(&json, "rows", value_count(view->info->row_count));
    json_value(&json, "processes", value_count(view->info->defs->processes));
    write_texts(&json, view);
    write_counters(&json, view);
    write_inks(&json);
    write_rows(output, view);
    json_close(&json, '}');
}
