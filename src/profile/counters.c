/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/counters.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/open_states.h"
#include "core/resource_counter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time in a state. */
struct share {
    uint32_t state;
    int64_t ns;
};
struct shares {
    struct share *list;
    size_t count, capacity;
};

/* A counter of a thread, since its last reading. */
struct pending {
    size_t track; /* index + 1; 0: no reading yet */
    int64_t at_ns;
    int64_t raw; /* of event.value */
    struct shares since;
};

/* A thread. `frame`: time in states since any of its counters was read last. */
struct thread {
    uint32_t rank, number;
    int64_t begin_ns, last_ns;
    struct open_states open;
    struct shares frame, whole; /* whole: up to that reading, since its begin */
    struct pending *pending;    /* by counter */
    size_t pending_count;
};

struct counters_builder {
    struct sink sink;
    struct counters_select select;
    struct counters *counters;
    size_t counter_capacity, track_capacity, part_capacity;
    struct map counter_of; /* mark -> counter + 1 */
    struct map thread_of;  /* rank and thread -> index + 1 */
    struct map owner_of;   /* rank and counter -> thread that has the counter of the process */
    struct map host_of;    /* rank -> the first process on its host */
    struct map reader_of;  /* first process and counter -> rank that has the counter of the host */
    struct map place_of;   /* rank and state -> index + 1 of the parts of that place */
    struct thread *threads;
    size_t thread_count, thread_capacity;
    struct place {
        struct counter_part *part; /* by counter */
        size_t count;
        uint32_t rank, state;
    } * places;
    size_t place_count, place_capacity;
};

bool counters_declared(const struct defs *defs)
{
    for (size_t i = 0; i < defs->mark_count; i++)
        if (defs->marks[i].counter.type != COUNTER_NONE && resource_counter_of(&defs->marks[i]) == RESOURCE_COUNTERS)
            return true;
    return false;
}

static struct thread *thread_of(struct counters_builder *builder, const struct event *event)
{
    uint64_t *known = map_put(&builder->thread_of, map_pair(event->process, event->thread), 0);
    if (*known == 0) {
        struct thread thread = {
            .rank = event->process, .number = event->thread, .begin_ns = event->time_ns, .last_ns = event->time_ns};
        ARRAY_PUSH(builder->threads, builder->thread_count, builder->thread_capacity, thread);
        *known = builder->thread_count;
    }
    return &builder->threads[*known - 1];
}

bool counter_is_called(const char *name, const char *word, size_t length)
{
    return strncmp(name, word, length) == 0 && (name[length] == '\0' || strncmp(name + length, " [", 2) == 0);
}

static enum counter_mode mode_of(const struct counters_builder *builder, const struct mark_def *mark, double *wraps)
{
    enum counter_mode mode = mark->counter.mode;
    *wraps = 0;
    for (size_t i = 0; i < builder->select.choice_count; i++) {
        const struct counter_choice *choice = &builder->select.choices[i];
        if (!counter_is_called(mark->name, choice->name, strlen(choice->name)))
            continue;
        if (choice->wraps > 0)
            *wraps = choice->wraps;
        if (choice->mode != COUNTER_MODE_UNKNOWN)
            mode = choice->mode;
    }
    return mode == COUNTER_MODE_UNKNOWN ? COUNTER_MODE_ABSOLUTE : mode;
}

static size_t counter_of(struct counters_builder *builder, uint32_t mark)
{
    struct counters *counters = builder->counters;
    uint64_t *known = map_put(&builder->counter_of, mark, 0);
    if (*known == 0) {
        const struct mark_def *def = &counters->defs->marks[mark];
        struct counter_info info = {
            .mark = mark, .name = def->name, .unit = def->counter.unit ? def->counter.unit : ""};
        info.mode = mode_of(builder, def, &info.wraps);
        ARRAY_PUSH(counters->counter, counters->count, builder->counter_capacity, info);
        *known = counters->count;
    }
    return *known - 1;
}

/* Few states follow each other between two readings: they are looked for one by one, the last first. */
static void shares_add(struct shares *shares, uint32_t state, int64_t ns)
{
    for (size_t i = shares->count; i-- > 0;)
        if (shares->list[i].state == state) {
            time_add(&shares->list[i].ns, ns);
            return;
        }
    ARRAY_PUSH(shares->list, shares->count, shares->capacity, (struct share){state, ns});
}

/* The part of [from, to) that lies in the window. */
static int64_t within(const struct counters_builder *builder, int64_t from_ns, int64_t to_ns)
{
    return time_since(larger(from_ns, builder->counters->from_ns), smaller(to_ns, builder->counters->to_ns));
}

static void advance(struct counters_builder *builder, struct thread *thread, int64_t now_ns)
{
    uint32_t state = COUNTER_NO_STATE;
    if (thread->open.depth > 0)
        state = builder->counters->defs->states[thread->open.frames[thread->open.depth - 1].state].first_of_name;
    int64_t ns = within(builder, thread->last_ns, now_ns);
    if (ns > 0)
        shares_add(&thread->frame, state, ns);
    thread->last_ns = larger(thread->last_ns, now_ns);
}

/* The frame ends: its times are those of every counter. */
static void end_frame(struct thread *thread)
{
    for (size_t k = 0; k < thread->frame.count; k++)
        shares_add(&thread->whole, thread->frame.list[k].state, thread->frame.list[k].ns);
    for (size_t i = 0; i < thread->pending_count; i++)
        for (size_t k = 0; thread->pending[i].track > 0 && k < thread->frame.count; k++)
            shares_add(&thread->pending[i].since, thread->frame.list[k].state, thread->frame.list[k].ns);
    thread->frame.count = 0;
}

static struct counter_part *part_of(struct counters_builder *builder, uint32_t rank, uint32_t state, size_t counter)
{
    uint64_t *known = map_put(&builder->place_of, map_pair(rank, state), 0);
    if (*known == 0) {
        struct place place = {.rank = rank, .state = state};
        ARRAY_PUSH(builder->places, builder->place_count, builder->place_capacity, place);
        *known = builder->place_count;
    }
    struct place *place = &builder->places[*known - 1];
    if (counter >= place->count) {
        place->part = memory_resize(place->part, (counter + 1) * sizeof *place->part);
        memset(place->part + place->count, 0, (counter + 1 - place->count) * sizeof *place->part);
        place->count = counter + 1;
    }
    return &place->part[counter];
}

/* Between two readings the counter has grown by `amount`, evenly. Time in a function before it was left at the very
   moment of a reading counts in full: shares sum to the window's part of the interval. */
static void spread(struct counters_builder *builder, const struct thread *thread, size_t counter, double amount,
                   int64_t ns)
{
    const struct shares *since = &thread->pending[counter].since;
    for (size_t i = 0; i < since->count && ns > 0; i++) {
        struct counter_part *part = part_of(builder, thread->rank, since->list[i].state, counter);
        part->amount += amount * ((double)since->list[i].ns / (double)ns);
        time_add(&part->ns, since->list[i].ns);
    }
}

/* How much a sum has grown from one value to the next. */
static double growth(struct counter_info *counter, const struct mark_def *mark, int64_t before, int64_t now)
{
    double step;
    if (mark->counter.type == COUNTER_DOUBLE) {
        double from, to;
        memcpy(&from, &before, sizeof from);
        memcpy(&to, &now, sizeof to);
        step = to - from;
    } else {
        /* Unsigned, as the difference of two int64_t may overflow. */
        bool falls = mark->counter.type == COUNTER_UINT64 ? (uint64_t)now < (uint64_t)before : now < before;
        step = falls ? -(double)((uint64_t)before - (uint64_t)now) : (double)((uint64_t)now - (uint64_t)before);
    }
    if (step < 0) {
        if (counter->wraps > 0)
            return fmax(step + counter->wraps, 0);
        counter->falls++;
    }
    return isfinite(step) ? fmax(step, 0) : 0;
}

static double number_of(const struct mark_def *mark, int64_t raw)
{
    double number;
    if (mark->counter.type == COUNTER_UINT64)
        return (double)(uint64_t)raw;
    if (mark->counter.type != COUNTER_DOUBLE)
        return (double)raw;
    memcpy(&number, &raw, sizeof number);
    return isfinite(number) ? number : 0;
}

static size_t track_new(struct counters_builder *builder, const struct thread *thread, size_t counter)
{
    struct counters *counters = builder->counters;
    struct counter_track track = {.rank = thread->rank, .thread = thread->number, .counter = (uint32_t)counter};
    ARRAY_PUSH(counters->track, counters->track_count, builder->track_capacity, track);
    return counters->track_count;
}

/* Amounts are interpolated where the window begins and ends: the readings around these moments are needed, and those
   at the ends. */
static bool is_needed(const struct counters *counters, int64_t before_ns, int64_t after_ns)
{
    return (counters->from_ns > before_ns && counters->from_ns < after_ns) ||
           (counters->to_ns > before_ns && counters->to_ns < after_ns);
}

static void put_reading(struct counters_builder *builder, size_t track_index, int64_t time_ns, double amount)
{
    struct counter_track *track = &builder->counters->track[track_index - 1];
    double total = track->count > 0 ? track->reading[track->count - 1].total : 0;
    if (builder->select.sums && track->count > 1 &&
        !is_needed(builder->counters, track->reading[track->count - 2].time_ns, time_ns))
        track->count--;
    ARRAY_PUSH(track->reading, track->count, track->capacity, (struct counter_reading){time_ns, total + amount});
}

static void step_to(struct counters_builder *builder, struct thread *thread, size_t counter, int64_t now_ns,
                    double amount)
{
    struct pending *pending = &thread->pending[counter];
    if (!builder->select.sums)
        spread(builder, thread, counter, amount, time_since(pending->at_ns, now_ns));
    put_reading(builder, pending->track, now_ns, amount);
    pending->since.count = 0;
    pending->at_ns = now_ns;
}

/* The first value of a sum is what it counts from, that of changes counts from the thread's begin. */
static void begin_track(struct counters_builder *builder, struct thread *thread, size_t counter,
                        const struct event *event)
{
    struct pending *pending = &thread->pending[counter];
    const struct counter_info *info = &builder->counters->counter[counter];
    pending->track = track_new(builder, thread, counter);
    pending->at_ns = event->time_ns;
    if (info->mode == COUNTER_MODE_RELATIVE)
        pending->at_ns = thread->begin_ns;
    put_reading(builder, pending->track, pending->at_ns, 0);
    if (info->mode == COUNTER_MODE_ACCUMULATED)
        builder->counters->track[pending->track - 1].first =
            number_of(&builder->counters->defs->marks[info->mark], event->value);
}

static void take(struct counters_builder *builder, struct thread *thread, size_t counter, const struct event *event)
{
    struct counter_info *info = &builder->counters->counter[counter];
    const struct mark_def *mark = &builder->counters->defs->marks[info->mark];
    uint64_t falls = info->falls;
    info->readings++;
    if (counter >= thread->pending_count) {
        size_t count = counter + 1;
        thread->pending = memory_resize(thread->pending, count * sizeof *thread->pending);
        memset(thread->pending + thread->pending_count, 0, (count - thread->pending_count) * sizeof *thread->pending);
        thread->pending_count = count;
    }
    struct pending *pending = &thread->pending[counter];
    bool first = pending->track == 0;
    if (first)
        begin_track(builder, thread, counter, event);
    for (size_t i = 0; first && info->mode == COUNTER_MODE_RELATIVE && i < thread->whole.count; i++)
        shares_add(&pending->since, thread->whole.list[i].state, thread->whole.list[i].ns);
    double ns = (double)time_since(pending->at_ns, event->time_ns);
    if (info->mode == COUNTER_MODE_RELATIVE)
        step_to(builder, thread, counter, event->time_ns, number_of(mark, event->value));
    else if (!first && info->mode == COUNTER_MODE_ABSOLUTE)
        step_to(builder, thread, counter, event->time_ns, ns * number_of(mark, pending->raw));
    else if (!first)
        step_to(builder, thread, counter, event->time_ns, growth(info, mark, pending->raw, event->value));
    pending->raw = event->value;
    struct counter_track *track = &builder->counters->track[pending->track - 1];
    track->readings++;
    track->falls += info->falls - falls;
}

/* The process that stands for the host: the first on it; the process itself where that is not known. */
static uint32_t host_of(struct counters_builder *builder, uint32_t rank)
{
    const struct defs *defs = builder->counters->defs;
    uint64_t *known = map_put(&builder->host_of, rank, UINT64_MAX);
    if (*known != UINT64_MAX)
        return (uint32_t)*known;
    const char *host = defs_host_of(defs, rank, 0);
    *known = rank;
    for (size_t i = 0; i < defs->location_count && host; i++)
        if (defs->locations[i].host && strcmp(defs->locations[i].host, host) == 0) {
            *known = defs->locations[i].process;
            break;
        }
    return (uint32_t)*known;
}

/* A counter of the process that several threads record is the same one, and so is one of the host that several
   processes record: that of the first counts. */
static bool is_owner(struct counters_builder *builder, const struct event *event, size_t counter)
{
    enum counter_scope scope = builder->counters->defs->marks[event->state].counter.scope;
    if (scope == COUNTER_OF_THREAD)
        return true;
    if (scope == COUNTER_OF_HOST) {
        uint32_t host = host_of(builder, event->process);
        if (*map_put(&builder->reader_of, map_pair(host, (uint32_t)counter), event->process) != event->process)
            return false;
    }
    uint64_t *owner = map_put(&builder->owner_of, map_pair(event->process, (uint32_t)counter), event->thread);
    return *owner == event->thread;
}

static void add(struct counters_builder *builder, const struct event *event)
{
    struct thread *thread = thread_of(builder, event);
    advance(builder, thread, event->time_ns);
    if (event->kind == EVENT_ENTER) {
        open_states_enter(&thread->open, event->state, event->time_ns);
    } else if (event->kind == EVENT_LEAVE) {
        ptrdiff_t at = open_states_find(&thread->open, event->state);
        if (at >= 0)
            open_states_remove(&thread->open, at);
    } else if (event->kind == EVENT_COUNTER) {
        size_t counter = counter_of(builder, event->state);
        if (!is_owner(builder, event, counter))
            return;
        end_frame(thread);
        take(builder, thread, counter, event);
    }
}

static enum status on_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct counters_builder *)sink)->counters->defs = defs;
    return STATUS_OK;
}

static enum status on_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct counters_builder *builder = (struct counters_builder *)sink;
    const struct counters_select *select = &builder->select;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        if (event_counts(event) && (!select->ranks || is_among(event->process, select->ranks, select->rank_count)))
            add(builder, event);
    }
    return STATUS_OK;
}

struct counters_builder *counters_builder_new(const struct counters_select *select)
{
    struct counters_builder *builder = memory_new(sizeof *builder);
    builder->sink = (struct sink){.begin = on_begin, .events = on_events};
    builder->select = *select;
    builder->counters = memory_new(sizeof *builder->counters);
    builder->counters->sums = select->sums;
    builder->counters->from_ns = select->have_from ? select->from_ns : INT64_MIN;
    builder->counters->to_ns = select->have_to ? select->to_ns : INT64_MAX;
    return builder;
}

struct sink *counters_builder_sink(struct counters_builder *builder)
{
    return &builder->sink;
}

static int by_track(const void *left_track, const void *right_track)
{
    const struct counter_track *left = left_track, *right = right_track;
    if (left->rank != right->rank)
        return order_by(left->rank, right->rank);
    if (left->thread != right->thread)
        return order_by(left->thread, right->thread);
    return order_by(left->counter, right->counter);
}

static int by_part(const void *left_part, const void *right_part)
{
    const struct counter_part *left = left_part, *right = right_part;
    if (left->rank != right->rank)
        return order_by(left->rank, right->rank);
    if (left->state != right->state)
        return order_by(left->state, right->state);
    return order_by(left->counter, right->counter);
}

/* An absolute value holds to the end of its thread. */
static void close_thread(struct counters_builder *builder, struct thread *thread)
{
    end_frame(thread);
    for (size_t i = 0; i < thread->pending_count; i++) {
        const struct counter_info *info = &builder->counters->counter[i];
        const struct pending *pending = &thread->pending[i];
        if (pending->track > 0 && info->mode == COUNTER_MODE_ABSOLUTE && pending->at_ns < thread->last_ns)
            step_to(builder, thread, i, thread->last_ns,
                    (double)time_since(pending->at_ns, thread->last_ns) *
                        number_of(&builder->counters->defs->marks[info->mark], pending->raw));
    }
}

static void list_parts(struct counters_builder *builder)
{
    struct counters *counters = builder->counters;
    for (size_t i = 0; i < builder->place_count; i++) {
        struct place *place = &builder->places[i];
        for (size_t k = 0; k < place->count; k++) {
            struct counter_part part = place->part[k];
            part.rank = place->rank;
            part.state = place->state;
            part.counter = (uint32_t)k;
            if (part.ns > 0)
                ARRAY_PUSH(counters->part, counters->part_count, builder->part_capacity, part);
        }
        free(place->part);
    }
    free(builder->places);
    if (counters->part_count > 0)
        qsort(counters->part, counters->part_count, sizeof *counters->part, by_part);
}

struct counters *counters_builder_end(struct counters_builder *builder)
{
    struct counters *counters = builder->counters;
    for (size_t i = 0; i < builder->thread_count; i++) {
        struct thread *thread = &builder->threads[i];
        close_thread(builder, thread);
        for (size_t k = 0; k < thread->pending_count; k++)
            free(thread->pending[k].since.list);
        free(thread->pending);
        free(thread->frame.list);
        free(thread->whole.list);
        open_states_free(&thread->open);
    }
    list_parts(builder);
    if (counters->track_count > 0)
        qsort(counters->track, counters->track_count, sizeof *counters->track, by_track);
    free(builder->threads);
    map_clear(&builder->counter_of);
    map_clear(&builder->thread_of);
    map_clear(&builder->owner_of);
    map_clear(&builder->host_of);
    map_clear(&builder->reader_of);
    map_clear(&builder->place_of);
    free(builder);
    return counters;
}

void counters_free(struct counters *counters)
{
    if (!counters)
        return;
    for (size_t i = 0; i < counters->track_count; i++)
        free(counters->track[i].reading);
    free(counters->counter);
    free(counters->track);
    free(counters->part);
    free(counters->phases.borders);
    free(counters->phases.ranks);
    free(counters->iterations.borders);
    free(counters->iterations.ranks);
    for (size_t i = 0; i < counters->rate_count; i++) {
        free(counters->rates[i].value);
        free(counters->rates[i].rank);
    }
    free(counters->rates);
    free(counters);
}

/* The reading before or at a moment; the first where none is. */
static size_t reading_at(const struct counter_track *track, int64_t time_ns)
{
    size_t low = 0, high = track->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (track->reading[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double total_at(const struct counter_track *track, int64_t time_ns)
{
    size_t at = reading_at(track, time_ns);
    const struct counter_reading *before = &track->reading[at];
    if (at + 1 == track->count || time_ns <= before->time_ns)
        return before->total;
    double share =
        (double)time_since(before->time_ns, time_ns) / (double)time_since(before->time_ns, before[1].time_ns);
    return before->total + share * (before[1].total - before->total);
}

void counter_amount_add(struct counter_amount *sum, const struct counter_track *track, int64_t from_ns, int64_t to_ns)
{
    from_ns = larger(from_ns, track->reading[0].time_ns);
    to_ns = smaller(to_ns, track->reading[track->count - 1].time_ns);
    if (from_ns > to_ns || track->count < 2)
        return;
    sum->amount += total_at(track, to_ns) - total_at(track, from_ns);
    time_add(&sum->ns, time_since(from_ns, to_ns));
    sum->known = true;
}

double counter_amount_value(const struct counter_amount *sum, const struct counter_info *counter)
{
    if (!sum->known)
        return NAN;
    if (counter->mode != COUNTER_MODE_ABSOLUTE)
        return sum->amount;
    return sum->ns > 0 ? sum->amount / (double)sum->ns : NAN;
}

double counter_value_at(const struct counter_track *track, const struct counter_info *counter, int64_t time_ns)
{
    if (time_ns < track->reading[0].time_ns || time_ns > track->reading[track->count - 1].time_ns)
        return NAN;
    if (counter->mode != COUNTER_MODE_ABSOLUTE)
        return track->first + total_at(track, time_ns);
    /* Of an absolute value the readings are where a stretch of it begins and ends. */
    if (track->count < 2)
        return NAN;
    size_t at = reading_at(track, time_ns);
    if (at + 1 == track->count)
        at--;
    const struct counter_reading *before = &track->reading[at];
    return (before[1].total - before->total) / (double)time_since(before->time_ns, before[1].time_ns);
}
