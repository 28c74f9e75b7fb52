/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/slices.h"

#include "convert/spelled_state.h"
#include "core/event_pack.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/sorter.h"
#include "core/text_index.h"
#include "core/varint.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SORT_MEMORY = 16 << 20 };

/* What happens at one time on a track: slices end, inner ones first; others begin, outer ones first; then what has no
   length, in the order of the file. */
enum { CLASS_ENDS, CLASS_BEGINS, CLASS_POINTS };
enum { CLASS_SHIFT = 62 };
#define LENGTH_MOST ((UINT64_C(1) << 60) - 1)
#define LENGTH_OPEN                                                                                                    \
    (UINT64_C(1) << 61) /* of slices that begin and end by events of their own, which are outer ones                   \
                         */

/* What an event in the sorter is. */
enum { IS_PLAIN, IS_END, IS_END_OF_WHOLE, IS_REAL };

struct slice_process {
    char *name;
    bool has_events;
    uint32_t number; /* in the trace */
    uint32_t threads;
};

struct slice_track {
    uint32_t process, thread;
    char *name;
    uint32_t *open; /* states */
    size_t open_count, open_capacity;
    int64_t begun_ns; /* when the last slice began by an event of its own */
};

struct slices {
    struct defs *defs;
    struct text_index process_texts, track_texts, state_texts, mark_texts, site_texts;
    struct slice_process *process;
    size_t process_capacity;
    struct slice_track *track;
    size_t track_capacity;
    uint32_t *states, *marks; /* by text: definitions */
    size_t state_capacity, mark_capacity;
    struct sorter *sorted;
    uint64_t order;
};

struct slices *slices_new(struct defs *defs)
{
    struct slices *slices = memory_new(sizeof *slices);
    slices->defs = defs;
    slices->sorted = sorter_new(SORT_MEMORY);
    return slices;
}

void slices_free(struct slices *slices)
{
    if (!slices)
        return;
    for (size_t i = 0; i < slices->process_texts.count; i++)
        free(slices->process[i].name);
    for (size_t i = 0; i < slices->track_texts.count; i++) {
        free(slices->track[i].name);
        free(slices->track[i].open);
    }
    free(slices->process);
    free(slices->track);
    free(slices->states);
    free(slices->marks);
    text_index_clear(&slices->process_texts);
    text_index_clear(&slices->track_texts);
    text_index_clear(&slices->state_texts);
    text_index_clear(&slices->mark_texts);
    text_index_clear(&slices->site_texts);
    sorter_free(slices->sorted);
    free(slices);
}

static uint32_t process_of(struct slices *slices, const char *text)
{
    bool added;
    size_t index = text_index_put(&slices->process_texts, text, &added);
    if (added) {
        ARRAY_RESERVE(slices->process, slices->process_capacity, index + 1);
        slices->process[index] = (struct slice_process){0};
    }
    return (uint32_t)index;
}

uint32_t slices_track(struct slices *slices, const char *process, const char *thread)
{
    char *text;
    bool added;
    uint32_t of = process_of(slices, process);
    if (asprintf(&text, "%u/%s", (unsigned)of, thread) < 0)
        memory_failed();
    size_t index = text_index_put(&slices->track_texts, text, &added);
    free(text);
    if (added) {
        ARRAY_RESERVE(slices->track, slices->track_capacity, index + 1);
        slices->track[index] = (struct slice_track){.process = of, .thread = UINT32_MAX, .begun_ns = INT64_MIN};
    }
    return (uint32_t)index;
}

void slices_name_process(struct slices *slices, const char *process, const char *name)
{
    uint32_t index = process_of(slices, process);
    struct slice_process *named = &slices->process[index];
    free(named->name);
    named->name = memory_copy_string(name);
}

void slices_name_thread(struct slices *slices, uint32_t track, const char *name)
{
    free(slices->track[track].name);
    slices->track[track].name = memory_copy_string(name);
}

static uint32_t state_of(struct slices *slices, const char *name)
{
    bool added;
    if (!*name)
        name = "(no name)";
    size_t index = text_index_put(&slices->state_texts, name, &added);
    if (added) {
        ARRAY_RESERVE(slices->states, slices->state_capacity, index + 1);
        slices->states[index] = spelled_state_add(slices->defs, name, PARADIGM_UNKNOWN);
    }
    return slices->states[index];
}

/* Marks and counters may have the same name. */
static uint32_t mark_of(struct slices *slices, const char *name, bool counts)
{
    char *text;
    bool added;
    if (asprintf(&text, "%c%s", counts ? 'c' : 'm', name) < 0)
        memory_failed();
    size_t index = text_index_put(&slices->mark_texts, text, &added);
    free(text);
    if (added) {
        struct mark_def mark = {.name = (char *)(uintptr_t)name, .id = EVENT_UNKNOWN, .defined = true};
        if (counts)
            mark.counter =
                (struct counter_def){.type = COUNTER_INT64, .mode = COUNTER_MODE_ABSOLUTE, .scope = COUNTER_OF_THREAD};
        ARRAY_RESERVE(slices->marks, slices->mark_capacity, index + 1);
        slices->marks[index] = defs_add_mark(slices->defs, &mark);
    }
    return slices->marks[index];
}

uint32_t slices_site(struct slices *slices, const char *file, int32_t line, const char *function)
{
    char *text;
    bool added;
    if (!*file && !*function)
        return 0;
    if (asprintf(&text, "%s:%d %s", file, (int)line, function) < 0)
        memory_failed();
    size_t index = text_index_put(&slices->site_texts, text, &added);
    free(text);
    struct site_def site = {.file = (char *)(uintptr_t)file,
                            .function = *function ? (char *)(uintptr_t)function : NULL,
                            .id = EVENT_UNKNOWN,
                            .line = line};
    if (added)
        defs_add_site(slices->defs, &site);
    return (uint32_t)index + 1;
}

/* Threads are numbered in the order in which they have events. */
static void meet(struct slices *slices, uint32_t track)
{
    struct slice_track *met = &slices->track[track];
    if (met->thread != UINT32_MAX)
        return;
    met->thread = slices->process[met->process].threads++;
    slices->process[met->process].has_events = true;
}

static enum status add(struct slices *slices, uint32_t track, uint64_t class, uint64_t minor, unsigned what,
                       const struct event *event, struct error *err)
{
    unsigned char packed[1 + VARINT_MAX + EVENT_PACK_MAX], *at = varint_put(packed + 1, track);
    packed[0] = (unsigned char)what;
    meet(slices, track);
    struct sort_key key = {.major = sort_key_signed(event->time_ns), .minor = class << CLASS_SHIFT | minor};
    size_t length = (size_t)(at - packed) + event_pack(at, event, NULL);
    return sorter_add(slices->sorted, key, packed, length, err);
}

enum status slices_begin(struct slices *slices, uint32_t track, int64_t time_ns, const char *name, uint32_t site,
                         struct error *err)
{
    struct event event = EVENT_NOTHING;
    event.kind = EVENT_ENTER;
    event.time_ns = time_ns;
    event.state = state_of(slices, name);
    event.site = site;
    slices->track[track].begun_ns = time_ns;
    return add(slices, track, CLASS_BEGINS, slices->order++, IS_PLAIN, &event, err);
}

enum status slices_end(struct slices *slices, uint32_t track, int64_t time_ns, struct error *err)
{
    struct event event = EVENT_NOTHING;
    event.kind = EVENT_LEAVE;
    event.time_ns = time_ns;
    /* A slice of no length ends after it has begun. */
    bool empty = slices->track[track].begun_ns == time_ns;
    uint64_t order = slices->order++;
    return add(slices, track, empty ? CLASS_POINTS : CLASS_ENDS, empty ? order : LENGTH_OPEN + order, IS_END, &event,
               err);
}

enum status slices_whole(struct slices *slices, uint32_t track, int64_t time_ns, int64_t duration_ns, const char *name,
                         uint32_t site, struct error *err)
{
    struct event event = EVENT_NOTHING;
    uint64_t length = smaller((uint64_t)duration_ns, LENGTH_MOST), order = slices->order;
    slices->order += 2;
    event.kind = EVENT_ENTER;
    event.time_ns = time_ns;
    event.state = state_of(slices, name);
    event.site = site;
    bool empty = duration_ns == 0;
    if (add(slices, track, empty ? CLASS_POINTS : CLASS_BEGINS, empty ? order : LENGTH_OPEN + LENGTH_MOST - length,
            IS_PLAIN, &event, err) != STATUS_OK)
        return STATUS_FAILED;
    event.kind = EVENT_LEAVE;
    event.time_ns = time_ns + duration_ns;
    event.site = 0;
    return add(slices, track, empty ? CLASS_POINTS : CLASS_ENDS, empty ? order + 1 : length, IS_END_OF_WHOLE, &event,
               err);
}

enum status slices_moment(struct slices *slices, uint32_t track, int64_t time_ns, const char *name, struct error *err)
{
    struct event event = EVENT_NOTHING;
    event.kind = EVENT_MARK;
    event.time_ns = time_ns;
    event.state = mark_of(slices, name, false);
    return add(slices, track, CLASS_POINTS, slices->order++, IS_PLAIN, &event, err);
}

enum status slices_counter(struct slices *slices, uint32_t track, int64_t time_ns, const char *name, double value,
                           struct error *err)
{
    struct event event = EVENT_NOTHING;
    event.kind = EVENT_COUNTER;
    event.time_ns = time_ns;
    event.state = mark_of(slices, name, true);
    bool whole = value == floor(value) && fabs(value) < 9e15;
    if (!whole)
        slices->defs->marks[event.state].counter.type = COUNTER_DOUBLE;
    event.value = whole ? (int64_t)value : 0;
    if (!whole)
        event_set_double(&event, value);
    return add(slices, track, CLASS_POINTS, slices->order++, whole ? IS_PLAIN : IS_REAL, &event, err);
}

enum status slices_message(struct slices *slices, uint32_t track, int64_t time_ns, struct event event,
                           struct error *err)
{
    event.time_ns = time_ns;
    return add(slices, track, CLASS_POINTS, slices->order++, IS_PLAIN, &event, err);
}

/* When all is there */

/* 1 + N of "rank N", "MPI Rank N" and the like; 0: it is no such name. */
static uint64_t rank_of(const char *name)
{
    static const char *const words[] = {"rank ", "Rank ", "MPI Rank ", "MPI rank ", "Process ", "process "};
    for (size_t i = 0; name && i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        char *end;
        if (strncmp(name, words[i], length) != 0 || !isdigit((unsigned char)name[length]))
            continue;
        unsigned long long rank = strtoull(name + length, &end, 10);
        if (*end == '\0' && rank < PROCESS_LIMIT)
            return rank + 1;
    }
    return 0;
}

/* A process and its place in the order of texts. */
struct named {
    const char *text;
    uint32_t index;
};

static int by_text(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    char *a_end, *b_end;
    unsigned long long a_number = strtoull(a->text, &a_end, 10), b_number = strtoull(b->text, &b_end, 10);
    bool a_is = *a->text && !*a_end, b_is = *b->text && !*b_end;
    if (a_is != b_is)
        return a_is ? -1 : 1;
    if (a_is && a_number != b_number)
        return order_by(a_number, b_number);
    return strcmp(a->text, b->text);
}

static bool number_by_rank(struct slices *slices, size_t with_events)
{
    struct map seen = {0};
    size_t ranks = 0;
    for (size_t i = 0; i < slices->process_texts.count; i++) {
        uint64_t rank = rank_of(slices->process[i].name);
        if (!slices->process[i].has_events || rank == 0 || map_find(&seen, rank))
            continue;
        map_put(&seen, rank, 1);
        slices->process[i].number = (uint32_t)rank - 1;
        ranks++;
    }
    map_clear(&seen);
    return ranks == with_events;
}

static void number_processes(struct slices *slices)
{
    size_t count = 0;
    struct named *sorted = memory_new((slices->process_texts.count + 1) * sizeof *sorted);
    for (size_t i = 0; i < slices->process_texts.count; i++)
        if (slices->process[i].has_events)
            sorted[count++] = (struct named){slices->process_texts.text[i], (uint32_t)i};
    if (!number_by_rank(slices, count)) {
        if (count > 0)
            qsort(sorted, count, sizeof *sorted, by_text);
        for (size_t i = 0; i < count; i++)
            slices->process[sorted[i].index].number = (uint32_t)i;
    }
    for (size_t i = 0; i < count; i++)
        slices->defs->processes = larger(slices->defs->processes, slices->process[sorted[i].index].number + 1);
    free(sorted);
}

enum status slices_sort(struct slices *slices, struct error *err)
{
    number_processes(slices);
    for (size_t i = 0; i < slices->track_texts.count; i++) {
        const struct slice_track *track = &slices->track[i];
        const struct slice_process *process = &slices->process[track->process];
        if (track->thread == UINT32_MAX)
            continue;
        slices->defs->threads = larger(slices->defs->threads, track->thread + 1);
        struct location_def location = {.process = process->number,
                                        .thread = track->thread,
                                        .kind = LOCATION_THREAD,
                                        .name = track->name,
                                        .process_name = process->name};
        if (track->name || process->name || track->thread > 0)
            defs_add_location(slices->defs, &location);
    }
    return sorter_rewind(slices->sorted, err);
}

/* The state that an end leaves. False: none is open. */
static bool close_slice(struct slice_track *track, unsigned what, struct event *event)
{
    size_t i = track->open_count;
    if (what == IS_END_OF_WHOLE)
        while (i > 0 && track->open[i - 1] != event->state)
            i--;
    if (i == 0)
        return false;
    event->state = track->open[i - 1];
    memmove(&track->open[i - 1], &track->open[i], (track->open_count - i) * sizeof *track->open);
    track->open_count--;
    return true;
}

static bool complete(struct slices *slices, struct reader *reader, unsigned what, uint32_t track_index,
                     struct event *event)
{
    struct slice_track *track = &slices->track[track_index];
    event->process = slices->process[track->process].number;
    event->thread = track->thread;
    if (event->kind == EVENT_COUNTER && what != IS_REAL &&
        slices->defs->marks[event->state].counter.type == COUNTER_DOUBLE)
        event_set_double(event, (double)event->value);
    if (event->kind == EVENT_LEAVE && !close_slice(track, what, event)) {
        reader_count(reader, "end of a slice that was not begun", 1);
        return false;
    }
    if (event->kind != EVENT_ENTER)
        return true;
    if (track->open_count >= DEPTH_LIMIT) {
        reader_damage(reader, reader->input->offset, "more than %d slices are open at once", DEPTH_LIMIT);
        return false;
    }
    ARRAY_PUSH(track->open, track->open_count, track->open_capacity, event->state);
    return true;
}

enum status slices_next(struct slices *slices, struct reader *reader, struct batch *batch, struct error *err)
{
    while (batch->count < BATCH_EVENTS) {
        struct sort_key key;
        const void *data;
        size_t length;
        enum status status = sorter_next(slices->sorted, &key, &data, &length, err);
        if (status != STATUS_OK)
            return status;
        const unsigned char *at = (const unsigned char *)data + 1;
        uint32_t track = (uint32_t)varint_get(&at);
        struct event *event = &batch->events[batch->count];
        *event = EVENT_NOTHING;
        event_unpack(event, at);
        event->time_ns = (int64_t)(key.major ^ UINT64_C(1) << 63);
        batch->count += complete(slices, reader, *(const unsigned char *)data, track, event);
    }
    return STATUS_OK;
}
