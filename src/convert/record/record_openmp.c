/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_openmp.h"

#include "core/openmp.h"

#include <stdio.h>

static uint32_t add_state(struct defs *defs, const char *name, const struct site_def *site, enum region_role role)
{
    struct state_def state = {.name = (char *)name,
                              .colour = (char *)(role == ROLE_PARALLEL ? "DarkOliveGreen3" : "goldenrod"),
                              .id = EVENT_UNKNOWN,
                              .start = EVENT_UNKNOWN,
                              .end = EVENT_UNKNOWN,
                              .file = site ? site->file : NULL,
                              .line = site ? site->line : 0,
                              .paradigm = PARADIGM_OPENMP,
                              .role = role};
    return defs_add_state(defs, &state);
}

/* The states of the region that begins at a place (index + 1; 0: not known): its index, and that of waiting the next.
 */
static uint32_t define_region(const struct record_run *run, struct defs *defs, uint32_t place)
{
    const struct record_place *at = place ? &run->places[place - 1] : NULL;
    const struct site_def *site =
        at && at->site && defs->sites[at->site - 1].line > 0 ? &defs->sites[at->site - 1] : NULL;
    char where[OPENMP_WHERE_SIZE] = "", name[sizeof OPENMP_WAITING + sizeof where];
    if (site)
        openmp_where(where, site->file, site->line);
    else if (at)
        snprintf(where, sizeof where, "0x%llx", (unsigned long long)at->offset & UINT32_MAX);
    snprintf(name, sizeof name, OPENMP_PARALLEL " %s", *where ? where : "parallel");
    int32_t known = defs_find_state(defs, name);
    if (known != EVENT_UNKNOWN && defs->states[known].role == ROLE_PARALLEL)
        return (uint32_t)known;
    uint32_t index = add_state(defs, name, site, ROLE_PARALLEL);
    snprintf(name, sizeof name, OPENMP_WAITING "%s%s", *where ? " " : "", where);
    add_state(defs, name, site, ROLE_BARRIER);
    return index;
}

void record_openmp_define(struct record_run *run, struct defs *defs)
{
    bool nameless = false;
    for (size_t i = 0; i < run->file_count; i++) {
        struct record_file *file = &run->files[i];
        for (size_t k = 0; k < file->site_count; k++)
            if (record_openmp_is(file->sites[k].function) && file->sites[k].place)
                file->sites[k].region = define_region(run, defs, file->sites[k].place);
        nameless |= file->header.used[RECORD_OPENMP_REGION] || file->header.used[RECORD_OPENMP_WORK];
    }
    /* For entries without a place: of a recording without places, or with more of them than it can hold. */
    run->openmp_state = nameless ? define_region(run, defs, 0) + 1 : 0;
}

static void put(struct batch *batch, const struct event *base, enum event_kind kind, uint32_t state)
{
    struct event *event = &batch->events[batch->count++];
    *event = *base;
    event->kind = (uint8_t)kind;
    event->state = state;
    event->comm = 0;
    if (kind == EVENT_LEAVE)
        event->site = 0;
}

static void close_open(struct record_openmp *open, const struct event *base, struct batch *batch)
{
    if (open->waiting)
        put(batch, base, EVENT_LEAVE, open->state + 1);
    if (open->parallel)
        put(batch, base, EVENT_LEAVE, open->state);
    *open = (struct record_openmp){0};
}

static void enter(const struct record_run *run, uint32_t file, const struct record_base *record,
                  const struct event *base, struct record_openmp *open, struct batch *batch)
{
    const struct record_file *from = &run->files[file];
    uint32_t state = UINT32_MAX;
    if (run->openmp_state)
        state = run->openmp_state - 1;
    if (record->kind == RECORD_ENTER_AT) {
        const struct record_enter *at = (const struct record_enter *)(const void *)record;
        if (at->site < from->site_count && from->sites[at->site].place &&
            record_openmp_is(from->sites[at->site].function))
            state = from->sites[at->site].region;
    }
    /* The end of the region before is missing: the recording of its master had ended. */
    close_open(open, base, batch);
    if (state == UINT32_MAX)
        return;
    put(batch, base, EVENT_ENTER, state);
    *open = (struct record_openmp){.parallel = true, .state = state, .team = record->comm};
}

void record_openmp_events(const struct record_run *run, uint32_t file, const struct record_base *record,
                          const struct event *base, struct record_openmp *open, struct record_openmp_end *end,
                          struct batch *batch)
{
    struct record_openmp *mine = &open[file];
    if (record->kind != RECORD_LEAVE) {
        enter(run, file, record, base, mine, batch);
    } else if (record->state == RECORD_OPENMP_WORK) {
        if (!mine->parallel || mine->waiting)
            return;
        put(batch, base, EVENT_ENTER, mine->state + 1);
        mine->waiting = true;
    } else {
        close_open(mine, base, batch);
        size_t first = file;
        while (first > 0 && run->process_of[first - 1] == run->process_of[file])
            first--;
        *end = (struct record_openmp_end){true, first, run->process_of[file], record->comm, base->time_ns};
    }
}

bool record_openmp_end_next(const struct record_run *run, struct record_openmp *open, struct record_openmp_end *end,
                            struct batch *batch)
{
    struct event base = EVENT_NOTHING;
    base.time_ns = end->time_ns;
    for (; end->file < run->file_count && run->process_of[end->file] == end->process; end->file++) {
        if (batch->count + RECORD_OPENMP_EVENTS > BATCH_EVENTS)
            return false;
        if (!open[end->file].parallel || open[end->file].team != end->team)
            continue;
        base.process = run->files[end->file].process;
        base.thread = run->files[end->file].header.thread;
        close_open(&open[end->file], &base, batch);
    }
    end->active = false;
    return true;
}
