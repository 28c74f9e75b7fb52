/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/parts.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "query/trace.h"

#include <pthread.h>
#include <stdatomic.h>

/* A part ends at the first checkpoint after so many events: large enough that opening it costs little, small enough
   that its rows need a few MB and a query with LIMIT is answered at once. The following ones have more. */
enum { PART_EVENTS = 32768, PART_EVENTS_AHEAD = 131072 };

/* More readers than this would only wait for SQLite; and each needs a few MB. */
enum { READERS_MOST = 4, PARTS_PER_READER = 8 };

/* A thread that reads parts, one at a time. */
struct part_reader {
    struct part_readers *all;
    struct timeline *timeline;
    pthread_mutex_t *turn; /* of others who read with the timeline; NULL: it is the thread's own */
    pthread_t thread;
    struct part part;
    uint64_t number; /* of the part; with `reading` or `done` */
    bool reading, done;
    enum status status;
    struct error err;
};

struct part_readers {
    struct part_reading how;
    struct parts *parts; /* of which `at` belongs to whoever has the mutex */
    struct part_reader reader[READERS_MOST];
    size_t count;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t next, wanted; /* numbers of parts: that is read next, that is asked for next */
    bool over;             /* there is no part `next` */
    atomic_bool quit;
};

/* A bound of the run on the clock of the trace, kept to the times of the trace. */
static int64_t bound(const struct query_cursor *cursor, int64_t ns)
{
    /* Kept within the trace: times before and after have no checkpoints. */
    const struct timeline_info *info = timeline_info(cursor->trace->look.timeline);
    int64_t sum;
    /* Without a condition bounds are the ends of int64: the sum wraps. */
    if (__builtin_add_overflow(cursor->base_ns, ns, &sum))
        sum = ns < 0 ? INT64_MIN : INT64_MAX;
    return larger(info->begin_ns, smaller(info->end_ns, sum));
}

/* A window that ends before it begins is one moment: what lies in both bounds spans it. */
static struct parts *parts_begin(struct query_cursor *cursor)
{
    size_t count;
    struct parts *parts = memory_new(sizeof *parts);
    struct part *part = &parts->part;
    struct timeline *timeline = cursor->trace->look.timeline;
    cursor->rows = parts;
    *part = (struct part){.cursor = cursor, .first = true, .state = EVENT_UNKNOWN};
    part->all_ranks = cursor->limits.rank_from <= 0 && cursor->limits.rank_to >= UINT32_MAX;
    part->to_ns = bound(cursor, cursor->limits.to_ns);
    part->from_ns = bound(cursor, cursor->limits.from_ns);
    if (part->from_ns > part->to_ns)
        part->from_ns = part->to_ns;
    /* Limits include both ends, windows only the begin. */
    int64_t end_ns = part->to_ns;
    if (end_ns < INT64_MAX)
        end_ns++;
    timeline_scan_range(timeline, part->from_ns, end_ns, &parts->at, &parts->end);
    timeline_checkpoints(timeline, &count);
    parts->end = smaller(parts->end, count);
    return parts;
}

struct part *parts_of(struct query_cursor *cursor)
{
    struct parts *parts = cursor->rows;
    if (!parts)
        parts = parts_begin(cursor);
    return &parts->part;
}

static uint64_t events_between(const struct timeline *timeline, size_t from, size_t to)
{
    size_t count;
    const struct checkpoint *points = timeline_checkpoints(timeline, &count);
    uint64_t end = timeline_info(timeline)->events;
    if (to < count)
        end = points[to].events;
    return end - points[from].events;
}

/* What is read next, in about so many events. False: nothing is left. */
static bool take_range(struct parts *parts, struct part *part, const struct part_reading *how, uint64_t events)
{
    size_t count;
    const struct timeline *timeline = part->cursor->trace->look.timeline;
    const struct checkpoint *points = timeline_checkpoints(timeline, &count);
    part->first = !parts->begun;
    parts->begun = true;
    while (parts->at < parts->end) {
        size_t from = parts->at, to = from;
        /* The first part is read in any case: it has the states that are open at the begin of the limits. */
        while (to < parts->end && (to == from || events_between(timeline, from, to) < events) &&
               (how->worth(part, &points[to]) || (part->first && to == from) || (how->ends && to + 1 == parts->end)))
            to++;
        parts->at = larger(to, from + 1);
        if (to == from)
            continue;
        part->from = from;
        part->to = to;
        part->last = to == parts->end;
        part->ending = false;
        part->count = 0;
        return true;
    }
    return false;
}

static enum status read_range(struct timeline *timeline, pthread_mutex_t *turn, struct part *part,
                              const struct part_reading *how, struct error *err)
{
    struct walk_visitor visitor = how->visitor;
    visitor.context = part;
    if (turn)
        pthread_mutex_lock(turn);
    enum status status = timeline_scan_between(timeline, part->from, part->to, &visitor, err);
    if (turn)
        pthread_mutex_unlock(turn);
    return status;
}

enum status parts_read(struct query_cursor *cursor, const struct part_reading *how, struct error *err)
{
    struct part *part = parts_of(cursor);
    struct query_trace *trace = cursor->trace;
    cursor->count = 0;
    while (take_range(cursor->rows, part, how, PART_EVENTS)) {
        /* Parts without rows never come to SQLite, which asks for itself. */
        if (query_trace_stopped(trace) ||
            read_range(trace->look.timeline, &trace->reading, part, how, err) != STATUS_OK)
            return STATUS_FAILED;
        cursor->count = part->count;
        if (part->count > 0)
            return STATUS_OK;
    }
    return STATUS_END;
}

static void *read_parts(void *context)
{
    struct part_reader *reader = context;
    struct part_readers *all = reader->all;
    pthread_mutex_lock(&all->mutex);
    for (;;) {
        while (reader->done && !all->quit)
            pthread_cond_wait(&all->changed, &all->mutex);
        if (all->quit || all->over)
            break;
        if (!take_range(all->parts, &reader->part, &all->how, PART_EVENTS_AHEAD)) {
            all->over = true;
            break;
        }
        reader->number = all->next++;
        reader->reading = true;
        pthread_mutex_unlock(&all->mutex);
        reader->status = read_range(reader->timeline, reader->turn, &reader->part, &all->how, &reader->err);
        pthread_mutex_lock(&all->mutex);
        reader->reading = false;
        reader->done = true;
        pthread_cond_broadcast(&all->changed);
    }
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
    return NULL;
}

/* The first reads with the timeline of the trace, each other with one of its own; false: it cannot. */
static bool start_reader(struct part_readers *all, struct query_trace *trace)
{
    struct part_reader *reader = &all->reader[all->count];
    *reader = (struct part_reader){.all = all, .timeline = trace->look.timeline, .part = all->parts->part};
    reader->part.rows = NULL;
    reader->part.count = reader->part.capacity = 0;
    if (all->count == 0)
        reader->turn = &trace->reading;
    else
        reader->timeline = timeline_again(trace->look.timeline);
    if (reader->timeline && pthread_create(&reader->thread, NULL, read_parts, reader) == 0)
        return true;
    if (all->count > 0)
        timeline_close(reader->timeline);
    return false;
}

static void free_readers(struct part_readers *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->reader[i].part.rows);
        if (!all->reader[i].turn)
            timeline_close(all->reader[i].timeline);
    }
    pthread_mutex_destroy(&all->mutex);
    pthread_cond_destroy(&all->changed);
    free(all);
}

/* Where no thread can be made, the caller goes on alone. */
static void start_readers(struct parts *parts, const struct part_reading *how, struct query_trace *trace, size_t most)
{
    struct part_readers *all = memory_new(sizeof *all);
    all->how = *how;
    all->parts = parts;
    pthread_mutex_init(&all->mutex, NULL);
    pthread_cond_init(&all->changed, NULL);
    /* A reader that has begun takes parts: the others are made meanwhile, and `count` belongs to this thread. */
    while (all->count < most && start_reader(all, trace))
        all->count++;
    if (all->count > 0)
        parts->readers = all;
    else
        free_readers(all);
}

/* As many readers as there are parts for, and processors: one for a few parts, none where nothing is left or there is
   one processor. */
static size_t readers_worth(const struct query_cursor *cursor, const struct parts *parts)
{
    unsigned threads = cursor->trace->request.threads;
    if (threads == 0)
        threads = parallel_processors();
    if (threads < 2 || parts->at >= parts->end)
        return 0;
    uint64_t events = events_between(cursor->trace->look.timeline, parts->at, parts->end);
    uint64_t worth = events / ((uint64_t)PARTS_PER_READER * PART_EVENTS_AHEAD) + 1;
    return (size_t)smaller(smaller((uint64_t)threads, worth), (uint64_t)READERS_MOST);
}

/* The reader that has the part of this number, or had: of the next part there is one as soon as it has been begun. */
static struct part_reader *reader_of(struct part_readers *all, uint64_t number)
{
    for (size_t i = 0; i < all->count; i++)
        if ((all->reader[i].reading || all->reader[i].done) && all->reader[i].number == number)
            return &all->reader[i];
    return NULL;
}

/* The rows of the next part change places with those that were asked for, and its reader goes on. */
static enum status take_part(struct part_readers *all, struct part *part, struct error *err)
{
    struct part_reader *reader;
    while (!((reader = reader_of(all, all->wanted)) && reader->done)) {
        if (!reader && all->over && all->wanted == all->next)
            return STATUS_END;
        pthread_cond_wait(&all->changed, &all->mutex);
    }
    enum status status = reader->status;
    if (status == STATUS_FAILED) {
        *err = reader->err;
        return status; /* the reader stays: there is nothing after a fault */
    }
    struct part taken = reader->part;
    reader->part.rows = part->rows;
    reader->part.capacity = part->capacity;
    *part = taken;
    reader->done = false;
    all->wanted++;
    pthread_cond_broadcast(&all->changed);
    return STATUS_OK;
}

enum status parts_read_ahead(struct query_cursor *cursor, const struct part_reading *how, struct error *err)
{
    struct part *part = parts_of(cursor);
    struct parts *parts = cursor->rows;
    size_t count = 0;
    if (!parts->readers && parts->begun)
        count = readers_worth(cursor, parts);
    if (count > 0)
        start_readers(parts, how, cursor->trace, count);
    struct part_readers *all = parts->readers;
    if (!all)
        return parts_read(cursor, how, err);
    cursor->count = 0;
    enum status status;
    pthread_mutex_lock(&all->mutex);
    do
        status = query_trace_stopped(cursor->trace) ? STATUS_FAILED : take_part(all, part, err);
    while (status == STATUS_OK && part->count == 0);
    pthread_mutex_unlock(&all->mutex);
    if (status == STATUS_OK)
        cursor->count = part->count;
    return status;
}

void parts_clear(struct query_cursor *cursor)
{
    struct parts *parts = cursor->rows;
    if (!parts)
        return;
    struct part_readers *all = parts->readers;
    if (all) {
        pthread_mutex_lock(&all->mutex);
        atomic_store(&all->quit, true);
        pthread_cond_broadcast(&all->changed);
        pthread_mutex_unlock(&all->mutex);
        for (size_t i = 0; i < all->count; i++)
            pthread_join(all->reader[i].thread, NULL);
        free_readers(all);
    }
    free(parts->part.rows);
}
