/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_totals.h"

#include "core/event.h"
#include "core/memory.h"
#include "core/mpi_function.h"
#include "core/property.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The totals of one thread, as they are described. */
struct describing {
    const struct record_run *run;
    const struct defs *defs;
    size_t file;
    FILE *text;
};

static const struct record_clock_map *map_of(const struct describing *of)
{
    return &of->run->clocks.maps[of->run->processes[of->run->process_of[of->file]].clock_map];
}

static int64_t time_of(const struct describing *of, int64_t ticks)
{
    size_t knot = 0;
    int64_t here_ns = record_clock_ns(map_of(of), &knot, ticks);
    return here_ns + record_run_offset(of->run, &of->run->processes[of->run->process_of[of->file]], here_ns);
}

/* Durations added up: by the rate of the whole run. */
static int64_t duration_of(const struct describing *of, const struct record_totals *totals, int64_t ticks)
{
    if (map_of(of)->source == RECORD_CLOCK_MONOTONIC)
        return ticks;
    int64_t span = totals->last_ticks - totals->first_ticks;
    double rate = map_of(of)->knots[0].rate;
    if (span > 0)
        rate = (double)(time_of(of, totals->last_ticks) - time_of(of, totals->first_ticks)) / (double)span;
    return (int64_t)((double)ticks * rate + 0.5);
}

/* What a function has not ended: calls, and their time until now. */
static uint32_t open_of(const struct record_totals *totals, uint32_t function, int64_t *ticks)
{
    uint32_t count = 0;
    *ticks = 0;
    for (uint32_t i = 0; i < totals->open_count; i++)
        if (totals->open[i].function == function) {
            count++;
            *ticks = (int64_t)((uint64_t)*ticks + (uint64_t)totals->last_ticks - (uint64_t)totals->open[i].ticks);
        }
    return count;
}

static void describe_function(const struct describing *of, const struct record_totals *totals,
                              const struct record_totals_function *row)
{
    int64_t open_ticks;
    uint32_t open = open_of(totals, row->function, &open_ticks);
    if (row->function < mpi_function_count())
        fprintf(of->text, "f %s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu32 " %" PRId64 " %" PRId64 "\n",
                mpi_function_at(row->function)->name, row->calls, duration_of(of, totals, row->ticks),
                row->calls ? duration_of(of, totals, row->min_ticks) : 0, duration_of(of, totals, row->max_ticks), open,
                duration_of(of, totals, open_ticks), duration_of(of, totals, row->own_ticks));
}

static void describe_functions(const struct describing *of, const struct record_totals *totals)
{
    for (uint32_t i = 0; i < totals->function_count; i++)
        describe_function(of, totals, &totals->functions[i]);
    /* Functions that have not been left yet. */
    for (uint32_t i = 0; i < totals->open_count; i++) {
        uint32_t function = totals->open[i].function;
        bool known = false;
        for (uint32_t k = 0; k < totals->function_count && !known; k++)
            known = totals->functions[k].function == function;
        for (uint32_t k = 0; k < i && !known; k++)
            known = totals->open[k].function == function;
        if (!known)
            describe_function(of, totals, &(struct record_totals_function){.function = function});
    }
}

/* The state of the program that a row is of; UINT32_MAX: it is none, as its ids are not those of one. */
static uint32_t user_state(const struct describing *of, const struct record_totals_user *row)
{
    struct record_role start = record_run_role(of->run, row->start), end = record_run_role(of->run, row->end);
    if (start.kind - 1 != EVENT_ENTER || (row->has_end && (end.kind - 1 != EVENT_LEAVE || end.index != start.index)))
        return UINT32_MAX;
    return start.index;
}

/* What seemed to be a state may be events. */
static bool is_event(const struct describing *of, uint32_t id)
{
    return record_run_role(of->run, id).kind - 1 == EVENT_MARK;
}

/* True if the totals of the program's states are exact. */
static bool knows_states(const struct record_run *run, size_t file)
{
    const struct describing of = {.run = run, .file = file};
    const struct record_totals *totals = run->files[file].kept->totals;
    for (uint32_t i = 0; i < totals->user_count; i++) {
        const struct record_totals_user *row = &totals->users[i];
        bool events = is_event(&of, row->start) && (!row->has_end || is_event(&of, row->end));
        if (!events && user_state(&of, row) == UINT32_MAX)
            return false;
    }
    return totals->lost_users == 0;
}

static void describe_users(const struct describing *of, const struct record_totals *totals)
{
    for (uint32_t i = 0; i < totals->user_count; i++) {
        const struct record_totals_user *row = &totals->users[i];
        const struct record_totals_function *sums = &row->sums;
        uint32_t state = user_state(of, row);
        int64_t open_ticks;
        uint32_t open = open_of(totals, RECORD_FUNCTIONS_MAX + i, &open_ticks);
        if (state == UINT32_MAX || strchr(of->defs->states[state].name, '\n'))
            continue;
        fprintf(of->text,
                "u %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu64
                " %s\n",
                sums->calls, duration_of(of, totals, sums->ticks),
                sums->calls ? duration_of(of, totals, sums->min_ticks) : 0, duration_of(of, totals, sums->max_ticks),
                open, duration_of(of, totals, open_ticks), duration_of(of, totals, sums->own_ticks), row->stray,
                of->defs->states[state].name);
    }
}

static int32_t partner_of(const struct describing *of, const struct record_comm_place *place, int32_t partner)
{
    if (partner == RECORD_NOT_KNOWN || !place)
        return EVENT_UNKNOWN;
    if (partner < 0)
        return PARTNER_NONE;
    return place->partner == 0 ? partner : defs_world_rank(of->defs, place->partner, partner);
}

/* s or r, partner, communicator's id, tag, messages, bytes; - : not known. */
static void describe_channels(const struct describing *of, const struct record_totals *totals)
{
    const struct record_process *process = &of->run->processes[of->run->process_of[of->file]];
    for (uint32_t i = 0; i < totals->channel_count; i++) {
        const struct record_totals_channel *row = &totals->channels[i];
        const struct record_comm_place *place = record_run_comm(process, row->comm);
        if ((row->kind != RECORD_CHANNEL_SENT && row->kind != RECORD_CHANNEL_RECEIVED) || (place && place->foreign))
            continue;
        fprintf(of->text, "%c %" PRId32 " %" PRId32 " %" PRId32 " %" PRIu64 " %" PRIu64 "\n",
                row->kind == RECORD_CHANNEL_SENT ? 's' : 'r', partner_of(of, place, row->partner),
                place ? of->defs->comms[place->partner].id : EVENT_UNKNOWN,
                row->tag == RECORD_NOT_KNOWN ? EVENT_UNKNOWN : row->tag, row->count, row->bytes);
    }
}

static void describe_sizes(const struct describing *of, const struct record_totals *totals)
{
    for (int k = 0; k < RECORD_SIZES; k++)
        if (totals->sizes[0][k].messages + totals->sizes[1][k].messages > 0)
            fprintf(of->text, "z %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", k, totals->sizes[0][k].messages,
                    totals->sizes[1][k].messages, totals->sizes[0][k].bytes, totals->sizes[1][k].bytes);
}

static void describe_thread(const struct describing *of, int64_t begin_ns)
{
    const struct record_file *file = &of->run->files[of->file];
    const struct record_totals *totals = file->kept->totals;
    int64_t mpi_ticks = totals->mpi_ticks;
    if (totals->mpi_open > 0)
        mpi_ticks = (int64_t)((uint64_t)mpi_ticks + (uint64_t)totals->last_ticks - (uint64_t)totals->mpi_since);
    fprintf(of->text, "t %" PRIu32 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", file->header.thread,
            totals->events, time_of(of, totals->first_ticks) - begin_ns, time_of(of, totals->last_ticks) - begin_ns,
            duration_of(of, totals, mpi_ticks));
    describe_functions(of, totals);
    if (knows_states(of->run, of->file))
        describe_users(of, totals);
    describe_channels(of, totals);
    describe_sizes(of, totals);
}

static void describe_process(const struct record_run *run, size_t first, size_t count, int64_t begin_ns,
                             struct defs *defs)
{
    char *text = NULL;
    size_t size = 0;
    struct describing of = {.run = run, .defs = defs, .text = open_memstream(&text, &size)};
    if (!of.text)
        memory_failed();
    for (of.file = first; of.file < first + count; of.file++)
        if (run->files[of.file].kept && map_of(&of)->knot_count > 0)
            describe_thread(&of, begin_ns);
    if (fclose(of.text) != 0)
        memory_failed();
    uint32_t rank = run->files[first].process;
    property_add_of(&defs->properties, PROPERTY_TOTALS, text, rank, rank);
    free(text);
}

static bool lacks_states(const struct record_run *run)
{
    for (size_t i = 0; i < run->file_count; i++)
        if (run->files[i].kept && !knows_states(run, i))
            return true;
    return false;
}

/* Returns the length of what is written. */
static size_t describe_losses(const struct record_run *run, const struct record_plan *plan, char *text, size_t size)
{
    char number[TEXT_NUMBER_SIZE];
    int length = 0;
    *text = '\0';
    if (plan->lost_definitions > 0)
        length = snprintf(text, size,
                          "; %s definitions of places and communicators had no room, and what refers to them "
                          "is missing from the sample",
                          text_thousands(number, plan->lost_definitions));
    if (plan->lost_channels > 0)
        length += snprintf(text + length, size - (size_t)length,
                           "; messages by partner are not of all, as there are too many communicators");
    if (plan->left_out > 0 && lacks_states(run))
        length += snprintf(text + length, size - (size_t)length,
                           "; totals of the program's own states are not known, as there are too many, or not all "
                           "processes know which events belong together");
    return (size_t)length;
}

/* There is a least size, which a small limit does not change. */
static void describe_limit(const struct record_plan *plan, char *text, size_t size)
{
    char limit[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE];
    if (plan->limit_bytes > 0 && plan->bytes > plan->limit_bytes)
        snprintf(text, size, "; the limit of %s bytes is too small: the recording needs %s",
                 text_thousands(limit, plan->limit_bytes), text_thousands(bytes, plan->bytes));
}

/* The sentence for people. */
static void describe_sample(const struct record_run *run, const struct record_plan *plan, struct defs *defs)
{
    char text[1100], events[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE], selected[TEXT_NUMBER_SIZE],
        segments[TEXT_NUMBER_SIZE], worst[80] = "";
    const char *what = plan->anchors > 0 ? "iterations" : "slices of time";
    text_thousands(events, plan->events - plan->left_out);
    text_thousands(all, plan->events);
    text_thousands(selected, plan->selected);
    text_thousands(segments, plan->segments);
    if (plan->worst > 0)
        snprintf(worst, sizeof worst, ", the %ju longest", (uintmax_t)plan->worst);
    if (plan->left_out == 0)
        snprintf(text, sizeof text, "everything: %s events", all);
    else
        snprintf(text, sizeof text,
                 "%s of %s events, in %s of %s %s: the first %ju%s, the last ones and a sample; totals are of all",
                 events, all, selected, segments, what, (uintmax_t)plan->head, worst);
    size_t length = strlen(text);
    length += describe_losses(run, plan, text + length, sizeof text - length);
    describe_limit(plan, text + length, sizeof text - length);
    property_add(&defs->properties, PROPERTY_KEPT, text);
}

void record_totals_define(const struct record_run *run, const struct record_plan *plan, int64_t begin_ns,
                          struct defs *defs)
{
    if (!plan->kept)
        return;
    for (size_t i = 0, next; i < run->file_count; i = next) {
        for (next = i + 1; next < run->file_count; next++)
            if (run->files[next].process != run->files[i].process)
                break;
        if (plan->left_out > 0)
            describe_process(run, i, next - i, begin_ns, defs);
    }
    describe_sample(run, plan, defs);
}
