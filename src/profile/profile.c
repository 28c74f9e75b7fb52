/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "profile/sample_period.h"

#include <stdlib.h>
#include <string.h>

struct profile_builder {
    struct sink sink;
    struct profile_select select;
    struct profile *profile;
    size_t cell_capacity, taken_capacity;
    struct map cell_of;           /* path and rank -> index of the cell + 1 */
    struct sample_period *period; /* NULL: no sample without a time of its own was seen */
};

/* A sample counts if it was taken in the window: how much of the time that it stands for lies there is not known. */
static bool is_wanted(const struct profile_select *select, const struct event *event)
{
    return event->kind == EVENT_SAMPLE && !(select->have_from && event->time_ns < select->from_ns) &&
           !(select->have_to && event->time_ns >= select->to_ns) &&
           (!select->ranks || is_among(event->process, select->ranks, select->rank_count));
}

static void add(struct profile_builder *builder, const struct profile_sample *sample)
{
    struct profile *profile = builder->profile;
    uint64_t *known = map_put(&builder->cell_of, map_pair(sample->path, sample->rank), 0);
    if (*known == 0) {
        struct profile_cell cell = {.path = sample->path, .rank = sample->rank};
        ARRAY_PUSH(profile->cells, profile->cell_count, builder->cell_capacity, cell);
        *known = profile->cell_count;
    }
    struct profile_cell *cell = &profile->cells[*known - 1];
    cell->samples++;
    profile->samples++;
    time_add(&cell->ns, sample->ns);
    time_add(&profile->ns, sample->ns);
    if (builder->select.each)
        ARRAY_PUSH(profile->taken, profile->taken_count, builder->taken_capacity, *sample);
}

/* Damaged traces have negative times: no sum may become smaller by them. */
static struct profile_sample sample_of(const struct event *event)
{
    return (struct profile_sample){.time_ns = event->time_ns,
                                   .ns = larger(event->value, 0),
                                   .path = event->state,
                                   .rank = event->process,
                                   .thread = event->thread,
                                   .phase = PROFILE_NO_PHASE,
                                   .iteration = PROFILE_NO_PHASE};
}

static enum status on_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    /* CLOG-2 defines paths between the events, so cells keep their numbers, and what these are is looked up at the
       end. */
    ((struct profile_builder *)sink)->profile->defs = defs;
    return STATUS_OK;
}

static void note_period(struct profile_builder *builder, const struct profile_sample *sample)
{
    if (!builder->period)
        builder->period = memory_new(sizeof *builder->period);
    sample_period_add(builder->period, sample->rank, sample->thread, sample->time_ns);
}

/* Where no sample says for how long it stands, all stand for as long. */
static void estimate_time(struct profile *profile, struct sample_period *period)
{
    int64_t each_ns = sample_period_end(period);
    if (profile->ns > 0 || each_ns == 0 || profile->samples > (uint64_t)(INT64_MAX / each_ns))
        return;
    profile->is_estimated = true;
    profile->ns = (int64_t)profile->samples * each_ns;
    for (size_t i = 0; i < profile->cell_count; i++)
        profile->cells[i].ns = (int64_t)profile->cells[i].samples * each_ns;
    for (size_t i = 0; i < profile->taken_count; i++)
        profile->taken[i].ns = each_ns;
}

static enum status on_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct profile_builder *builder = (struct profile_builder *)sink;
    for (size_t i = 0; i < batch->count; i++)
        if (is_wanted(&builder->select, &batch->events[i])) {
            struct profile_sample sample = sample_of(&batch->events[i]);
            add(builder, &sample);
            if (sample.ns == 0)
                note_period(builder, &sample);
        }
    return STATUS_OK;
}

struct profile_builder *profile_builder_new(const struct profile_select *select)
{
    struct profile_builder *builder = memory_new(sizeof *builder);
    builder->sink = (struct sink){.begin = on_begin, .events = on_events};
    builder->select = *select;
    builder->profile = memory_new(sizeof *builder->profile);
    return builder;
}

struct sink *profile_builder_sink(struct profile_builder *builder)
{
    return &builder->sink;
}

static int by_path(const void *left_cell, const void *right_cell)
{
    const struct profile_cell *left = left_cell, *right = right_cell;
    if (left->path != right->path)
        return order_by(left->path, right->path);
    return order_by(left->rank, right->rank);
}

static int by_time(const void *left_sample, const void *right_sample)
{
    const struct profile_sample *left = left_sample, *right = right_sample;
    if (left->rank != right->rank)
        return order_by(left->rank, right->rank);
    if (left->thread != right->thread)
        return order_by(left->thread, right->thread);
    if (left->time_ns != right->time_ns)
        return order_by(left->time_ns, right->time_ns);
    return order_by(left->path, right->path);
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return order_by(a, b);
}

static void list_ranks(struct profile *profile)
{
    size_t capacity = 0;
    struct map seen = {0};
    for (size_t i = 0; i < profile->cell_count; i++) {
        uint64_t *known = map_put(&seen, profile->cells[i].rank, 0);
        if (*known == 0)
            ARRAY_PUSH(profile->ranks, profile->rank_count, capacity, profile->cells[i].rank);
        *known = 1;
    }
    map_clear(&seen);
    if (profile->rank_count > 0)
        qsort(profile->ranks, profile->rank_count, sizeof *profile->ranks, by_number);
}

struct profile *profile_builder_end(struct profile_builder *builder)
{
    struct profile *profile = builder->profile;
    if (builder->period)
        estimate_time(profile, builder->period);
    free(builder->period);
    if (profile->cell_count > 0)
        qsort(profile->cells, profile->cell_count, sizeof *profile->cells, by_path);
    if (profile->taken_count > 0)
        qsort(profile->taken, profile->taken_count, sizeof *profile->taken, by_time);
    list_ranks(profile);
    map_clear(&builder->cell_of);
    free(builder);
    return profile;
}

struct profile *profile_of_phase(const struct profile *whole, uint32_t phase, const struct profile_select *select)
{
    struct profile_builder *builder = profile_builder_new(select);
    builder->profile->defs = whole->defs;
    builder->profile->is_estimated = whole->is_estimated;
    for (size_t i = 0; i < whole->taken_count; i++)
        if (whole->taken[i].phase == phase &&
            (!select->ranks || is_among(whole->taken[i].rank, select->ranks, select->rank_count)))
            add(builder, &whole->taken[i]);
    return profile_builder_end(builder);
}

struct profile *profile_of_iterations(const struct profile *whole, const uint32_t *numbers, size_t count,
                                      const struct profile_select *select)
{
    struct profile_builder *builder = profile_builder_new(select);
    builder->profile->defs = whole->defs;
    builder->profile->is_estimated = whole->is_estimated;
    for (size_t i = 0; i < whole->taken_count; i++)
        if (is_among(whole->taken[i].iteration, numbers, count) &&
            (!select->ranks || is_among(whole->taken[i].rank, select->ranks, select->rank_count)))
            add(builder, &whole->taken[i]);
    return profile_builder_end(builder);
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    free(profile->cells);
    free(profile->ranks);
    free(profile->taken);
    free(profile);
}

const struct site_def *profile_site(const struct defs *defs, uint32_t path)
{
    uint32_t site = defs->paths[path].site;
    return site > 0 && site <= defs->site_count ? &defs->sites[site - 1] : NULL;
}

const char *profile_function(const struct defs *defs, uint32_t path)
{
    const char *name = defs_path_name(defs, path);
    return name ? name : "?";
}

bool profile_is_waiting(const char *function)
{
    /* A library without debug information is all that is known of its functions: "[libgomp.so.1.0.0]". */
    static const char *const names[] = {"[libgomp", "[libomp", "[libiomp", "[libmpi", "[libopen-",
                                        "[libuc",   "gomp_",   "GOMP_",    "__kmp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(function, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_in_library(const struct defs *defs, uint32_t path)
{
    const struct site_def *site = profile_site(defs, path);
    return site && site->library;
}

uint32_t profile_own_path(const struct defs *defs, uint32_t path)
{
    uint32_t own = path;
    if (!is_in_library(defs, path) || profile_is_waiting(profile_function(defs, path)))
        return path;
    while (is_in_library(defs, own))
        if (defs->paths[own].parent == 0)
            return path;
        else
            own = defs->paths[own].parent - 1;
    return own;
}
