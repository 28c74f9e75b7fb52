/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are read from the trace itself, part after part between checkpoints of its index: states, messages, marks,
   counters, samples. A part is read whole before its rows are asked for: cursors on one trace can take turns. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/payload.h"
#include "profile/profile.h"
#include "query/trace.h"
#include "timeline/scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* A part ends at the first checkpoint after so many events: large enough that opening it costs little, small enough
   that its rows need a few MB and a query with LIMIT is answered at once. The following ones have more. */
enum { PART_EVENTS = 32768, PART_EVENTS_AHEAD = 131072 };

struct ahead;
struct part;

/* False where no event between this checkpoint and the next can make a row. */
typedef bool worth_reading(const struct part *part, const struct checkpoint *behind);

struct counted {
    int64_t time_ns, value;
    uint32_t row, mark;
};

struct sampled {
    int64_t time_ns, value_ns;
    uint32_t row, path;
};

/* The rows of a part, and where the next begins. */
struct part {
    size_t at, end; /* checkpoints */
    bool first, last, ending;
    int64_t from_ns, to_ns; /* limits on the clock of the trace */
    int32_t state;          /* first_of_name; EVENT_UNKNOWN: any */
    bool all_ranks;
    struct query_cursor *cursor;
    char **paths; /* of samples: texts of call paths that were asked for, by path */
    size_t path_count;
    struct ahead *ahead;     /* NULL: the caller reads */
    const atomic_bool *quit; /* NULL: nobody ends it early */
    bool begun;
    uint64_t events; /* at most, from checkpoint to checkpoint */
    union {
        void *rows;
        struct timeline_state *states;
        struct timeline_message *messages;
        struct timeline_mark *marks;
        struct counted *counters;
        struct sampled *samples;
    };
    size_t count, capacity;
};

/* The part after the one whose rows are asked for, which a thread of its own reads meanwhile: SQLite needs about as
   long for rows as it takes to read them. */
struct ahead {
    struct part part; /* the thread's, while it is wanted */
    struct walk_visitor visitor;
    worth_reading *worth;
    bool ends;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool wanted;
    atomic_bool quit;
    enum status status;
    struct error err;
};

static const struct timeline_info *info_of(const struct query_cursor *cursor)
{
    return timeline_info(cursor->trace->look.timeline);
}

static const struct timeline_row *row_at(const struct query_cursor *cursor, uint32_t row)
{
    return &info_of(cursor)->rows[row];
}

/* A bound of the run on the clock of the trace, kept to the times of the trace. */
static int64_t bound(const struct query_cursor *cursor, int64_t ns)
{
    /* Kept within the trace: times before and after have no checkpoints. */
    int64_t begin_ns = info_of(cursor)->begin_ns, end_ns = info_of(cursor)->end_ns, sum;
    /* Without a condition bounds are the ends of int64: the sum wraps. */
    if (__builtin_add_overflow(cursor->base_ns, ns, &sum))
        sum = ns < 0 ? INT64_MIN : INT64_MAX;
    return larger(begin_ns, smaller(end_ns, sum));
}

/* The first part. A window that ends before it begins is one moment: what lies in both bounds spans it. */
static struct part *part_begin(struct query_cursor *cursor)
{
    struct part *part = memory_new(sizeof *part);
    struct timeline *timeline = cursor->trace->look.timeline;
    cursor->rows = part;
    *part = (struct part){.cursor = cursor, .first = true, .state = EVENT_UNKNOWN, .events = PART_EVENTS};
    part->all_ranks = cursor->limits.rank_from <= 0 && cursor->limits.rank_to >= UINT32_MAX;
    part->to_ns = bound(cursor, cursor->limits.to_ns);
    part->from_ns = bound(cursor, cursor->limits.from_ns);
    if (part->from_ns > part->to_ns)
        part->from_ns = part->to_ns;
    /* Limits include both ends, windows only the begin. */
    int64_t end_ns = part->to_ns;
    if (end_ns < INT64_MAX)
        end_ns++;
    timeline_scan_range(timeline, part->from_ns, end_ns, &part->at, &part->end);
    return part;
}

static struct part *part_of(struct query_cursor *cursor)
{
    if (!cursor->rows)
        return part_begin(cursor);
    return cursor->rows;
}

/* The bits of a checkpoint are numbers modulo 64: a missing one proves that the number does not occur. */
static bool has_bit(uint64_t bits, int64_t number)
{
    return bits >> ((uint64_t)number & 63) & 1;
}

static bool worth_for_states(const struct part *part, const struct checkpoint *behind)
{
    const struct query_limits *limits = &part->cursor->limits;
    /* More than one rank: bits of a checkpoint cannot say anything about a range. */
    return (limits->rank_from != limits->rank_to || has_bit(behind->rows, limits->rank_from)) &&
           (part->state == EVENT_UNKNOWN || has_bit(behind->states, part->state));
}

/* The last end of a message stands there: of its own process, or of another that names it as partner. */
static bool worth_for_messages(const struct part *part, const struct checkpoint *behind)
{
    const struct query_limits *limits = &part->cursor->limits;
    uint64_t bits = behind->rows | behind->partners;
    return behind->partners != 0 && (limits->rank_from != limits->rank_to || has_bit(bits, limits->rank_from)) &&
           (limits->partner_from != limits->partner_to || has_bit(bits, limits->partner_from));
}

static bool worth_for_events(const struct part *part, const struct checkpoint *behind)
{
    const struct query_limits *limits = &part->cursor->limits;
    return limits->rank_from != limits->rank_to || has_bit(behind->rows, limits->rank_from);
}

/* Reads the next part that has rows. `ends`: a visit after the last part gives rows of what ends after it. */
static enum status part_scan(struct part *part, const struct walk_visitor *visitor, worth_reading *worth, bool ends,
                             struct error *err)
{
    size_t count;
    const struct query_cursor *cursor = part->cursor;
    struct timeline *timeline = cursor->trace->look.timeline;
    const struct checkpoint *points = timeline_checkpoints(timeline, &count);
    size_t range_end = smaller(part->end, count);
    part->count = 0;
    while (part->at < range_end && part->count == 0 && !(part->quit && atomic_load(part->quit))) {
        size_t to = part->at;
        uint64_t events = 0;
        /* The first part is read in any case: it has the states that are open at the begin of the limits. */
        while (to < range_end && events < part->events &&
               (worth(part, &points[to]) || (part->first && to == part->at) || (ends && to + 1 == range_end))) {
            to++;
            uint64_t end = info_of(cursor)->events;
            if (to < count)
                end = points[to].events;
            events = end - points[part->at].events;
        }
        if (to == part->at) {
            part->at++;
            part->first = false;
            continue;
        }
        part->last = to == range_end;
        part->ending = false;
        /* Cursors on one trace share its reader. */
        pthread_mutex_lock(&cursor->trace->reading);
        enum status status = timeline_scan_between(timeline, part->at, to, visitor, err);
        pthread_mutex_unlock(&cursor->trace->reading);
        if (status != STATUS_OK)
            return STATUS_FAILED;
        part->at = to;
        part->first = false;
    }
    if (part->count == 0)
        return STATUS_END;
    return STATUS_OK;
}

static void *read_ahead(void *context)
{
    struct ahead *ahead = context;
    pthread_mutex_lock(&ahead->mutex);
    for (;;) {
        while (!ahead->wanted && !ahead->quit)
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
        if (ahead->quit)
            break;
        pthread_mutex_unlock(&ahead->mutex);
        enum status status = part_scan(&ahead->part, &ahead->visitor, ahead->worth, ahead->ends, &ahead->err);
        pthread_mutex_lock(&ahead->mutex);
        ahead->status = status;
        ahead->wanted = false;
        pthread_cond_signal(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

/* Where no thread can be made, the caller goes on alone. */
static void start_ahead(struct part *part, const struct walk_visitor *visitor, worth_reading *worth, bool ends)
{
    struct ahead *ahead = memory_new(sizeof *ahead);
    ahead->part = *part;
    ahead->part.rows = NULL;
    ahead->part.events = PART_EVENTS_AHEAD;
    ahead->part.count = ahead->part.capacity = 0;
    ahead->visitor = *visitor;
    ahead->visitor.context = &ahead->part;
    ahead->part.quit = &ahead->quit;
    ahead->worth = worth;
    ahead->ends = ends;
    ahead->wanted = true;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (pthread_create(&ahead->thread, NULL, read_ahead, ahead) == 0) {
        part->ahead = ahead;
        return;
    }
    pthread_mutex_destroy(&ahead->mutex);
    pthread_cond_destroy(&ahead->changed);
    free(ahead);
}

/* The rows that the thread has read change places with those that were asked for, and it reads on. */
static enum status take_ahead(struct part *part, struct error *err)
{
    struct ahead *ahead = part->ahead;
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->wanted)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    enum status status = ahead->status;
    if (status == STATUS_OK) {
        void *rows = part->rows;
        size_t capacity = part->capacity;
        part->rows = ahead->part.rows;
        part->count = ahead->part.count;
        part->capacity = ahead->part.capacity;
        ahead->part.rows = rows;
        ahead->part.capacity = capacity;
        ahead->wanted = true;
        pthread_cond_signal(&ahead->changed);
    } else if (status == STATUS_FAILED) {
        *err = ahead->err;
    }
    pthread_mutex_unlock(&ahead->mutex);
    return status;
}

static bool may_read_ahead(const struct query_cursor *cursor)
{
    unsigned threads = cursor->trace->request.threads;
    return (threads ? threads : parallel_processors()) > 1;
}

/* From the second part on in a thread of its own: a query with LIMIT may need only the first. */
static enum status part_read_ahead(struct query_cursor *cursor, const struct walk_visitor *visitor,
                                   worth_reading *worth, bool ends, struct error *err)
{
    struct part *part = cursor->rows;
    enum status status;
    if (part->begun && !part->ahead && may_read_ahead(cursor))
        start_ahead(part, visitor, worth, ends);
    part->begun = true;
    if (part->ahead)
        status = take_ahead(part, err);
    else
        status = part_scan(part, visitor, worth, ends, err);
    cursor->count = status == STATUS_OK ? part->count : 0;
    return status;
}

static enum status part_read(struct query_cursor *cursor, const struct walk_visitor *visitor, worth_reading *worth,
                             bool ends, struct error *err)
{
    struct part *part = cursor->rows;
    enum status status = part_scan(part, visitor, worth, ends, err);
    cursor->count = part->count;
    return status;
}

static void part_clear(struct query_cursor *cursor)
{
    struct part *part = cursor->rows;
    if (!part)
        return;
    free(part->rows);
    if (!part->ahead)
        return;
    pthread_mutex_lock(&part->ahead->mutex);
    atomic_store(&part->ahead->quit, true);
    pthread_cond_signal(&part->ahead->changed);
    pthread_mutex_unlock(&part->ahead->mutex);
    pthread_join(part->ahead->thread, NULL);
    pthread_mutex_destroy(&part->ahead->mutex);
    pthread_cond_destroy(&part->ahead->changed);
    free(part->ahead->part.rows);
    free(part->ahead);
}

/* States: those that are entered in the part, and in the first also those open at its begin. */

static void take_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                       int64_t exclusive_ns)
{
    (void)exclusive_ns;
    struct part *part = context;
    struct query_cursor *cursor = part->cursor;
    /* A state that was open at a part's begin was a row of an earlier part: frames that come from the index have a
       span, those entered in the walk have none. */
    /* Limits are checked once more for each row: a checkpoint's bits only say what may be there. */
    if ((frame->span != TIMELINE_NONE && !part->first) || state->enter_ns > part->to_ns ||
        state->leave_ns < part->from_ns ||
        (!part->all_ranks && !query_has_rank(&cursor->limits, row_at(cursor, state->row)->process)))
        return;
    /* Several states of the trace may have one name: they are one to the user. */
    if (part->state != EVENT_UNKNOWN &&
        (int32_t)info_of(cursor)->defs->states[state->state].first_of_name != part->state)
        return;
    ARRAY_PUSH(part->states, part->count, part->capacity, *state);
}

static enum status states_next(struct query_cursor *cursor, struct error *err)
{
    struct part *part = part_of(cursor);
    /* A name that the trace does not have: no rows, and nothing to read. */
    if (cursor->limits.name) {
        part->state = defs_find_state(info_of(cursor)->defs, cursor->limits.name);
        if (part->state == EVENT_UNKNOWN)
            return STATUS_END;
    }
    const struct walk_visitor visitor = {.context = part, .state = take_state};
    return part_read_ahead(cursor, &visitor, worth_for_states, false, err);
}

static struct value states_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct timeline_state *state = &((const struct part *)cursor->rows)->states[row];
    const struct state_def *about = &info_of(cursor)->defs->states[state->state];
    switch (column) {
    case states_run:
        return query_run(cursor);
    case states_rank:
        return value_count(row_at(cursor, state->row)->process);
    case states_thread:
        return value_count(row_at(cursor, state->row)->thread);
    case states_name:
        return value_text(about->name);
    case states_class:
        return value_text(function_class_name(about->class));
    case states_depth:
        return value_count(state->depth);
    case states_enter_s:
        return query_since(cursor, state->enter_ns);
    case states_leave_s:
        return query_known(!state->open, query_since(cursor, state->leave_ns));
    default:
        return query_known(!state->open, value_time(time_since(state->enter_ns, state->leave_ns)));
    }
}

static void *states_room(struct query_cursor *cursor, size_t count)
{
    struct part *part = part_of(cursor);
    ARRAY_RESERVE(part->states, part->capacity, count);
    return part->states;
}

const struct query_rows rows_states = {.room = states_room,
                                       .row_size = sizeof(struct timeline_state),
                                       .wants = QUERY_LOOK,
                                       .next = states_next,
                                       .value = states_value,
                                       .clear = part_clear};

/* Messages: those whose last end is in the part, and in the last also those on their way at its end. */

static bool is_within(int64_t from, int64_t to, uint32_t number)
{
    return number >= from && number <= to;
}

static void take_message(void *context, const struct timeline_message *message)
{
    struct part *part = context;
    struct query_cursor *cursor = part->cursor;
    const struct query_limits *limits = &cursor->limits;
    /* Received before sent, by clocks that differ: the row lies between the two all the same. */
    int64_t first_ns = smaller(message->send_ns, message->receive_ns);
    int64_t last_ns = larger(message->receive_ns, message->send_ns);
    /* Messages in transit at the end of a part are rows of the part in which they arrive. */
    if ((part->ending && !part->last) || first_ns > part->to_ns || last_ns < part->from_ns ||
        !query_has_rank(limits, message->send_process) ||
        !is_within(limits->partner_from, limits->partner_to, message->receive_process))
        return;
    ARRAY_PUSH(part->messages, part->count, part->capacity, *message);
}

static void note_ending(void *context)
{
    ((struct part *)context)->ending = true;
}

static enum status messages_next(struct query_cursor *cursor, struct error *err)
{
    struct part *part = part_of(cursor);
    const struct walk_visitor visitor = {.context = part, .message = take_message, .ending = note_ending};
    return part_read_ahead(cursor, &visitor, worth_for_messages, true, err);
}

static struct value thread_of(const struct query_cursor *cursor, uint32_t row)
{
    if (row == TIMELINE_NONE)
        return value_null();
    return value_count(row_at(cursor, row)->thread);
}

static struct value messages_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct timeline_message *message = &((const struct part *)cursor->rows)->messages[row];
    bool sent = message->send_row != TIMELINE_NONE, received = message->receive_row != TIMELINE_NONE;
    switch (column) {
    case messages_run:
        return query_run(cursor);
    case messages_source:
        return value_count(message->send_process);
    case messages_destination:
        return value_count(message->receive_process);
    case messages_tag:
        return query_known(message->tag != EVENT_UNKNOWN, value_integer(message->tag));
    case messages_bytes:
        return query_known(message->bytes >= 0, value_bytes((uint64_t)message->bytes));
    case messages_send_s:
        return query_known(sent, query_since(cursor, message->send_ns));
    case messages_receive_s:
        return query_known(received, query_since(cursor, message->receive_ns));
    case messages_time_s:
        /* Negative where clocks differ: the table has what was recorded. */
        return query_known(sent && received, value_time(message->receive_ns - message->send_ns));
    case messages_communicator:
        return query_communicator(info_of(cursor)->defs, message->comm);
    case messages_source_thread:
        return thread_of(cursor, message->send_row);
    default:
        return thread_of(cursor, message->receive_row);
    }
}

static void *messages_room(struct query_cursor *cursor, size_t count)
{
    struct part *part = part_of(cursor);
    ARRAY_RESERVE(part->messages, part->capacity, count);
    return part->messages;
}

const struct query_rows rows_messages = {.room = messages_room,
                                         .row_size = sizeof(struct timeline_message),
                                         .wants = QUERY_LOOK,
                                         .next = messages_next,
                                         .value = messages_value,
                                         .clear = part_clear};

/* Marks and counters: events of the part. */

static bool event_is_within(const struct part *part, const struct walk_event *walked)
{
    return walked->time_ns >= part->from_ns && walked->time_ns <= part->to_ns &&
           query_has_rank(&part->cursor->limits, walked->event->process);
}

static void take_mark(void *context, const struct walk_event *walked)
{
    struct part *part = context;
    const struct defs *defs = info_of(part->cursor)->defs;
    if (walked->event->kind != EVENT_MARK || !event_is_within(part, walked) ||
        payload_mark_is_ours(defs->marks[walked->event->state].name))
        return;
    ARRAY_PUSH(
        part->marks, part->count, part->capacity,
        (struct timeline_mark){walked->time_ns, walked->row, walked->event->state, walk_mark_text(defs, walked)});
}

static void drop_texts(struct query_cursor *cursor)
{
    struct part *part = cursor->rows;
    /* The texts of the part before are no longer asked for. */
    for (size_t i = 0; i < cursor->count; i++)
        free(part->marks[i].text);
    cursor->count = 0;
}

static enum status marks_next(struct query_cursor *cursor, struct error *err)
{
    struct part *part = part_of(cursor);
    const struct walk_visitor visitor = {.context = part, .event = take_mark};
    drop_texts(cursor);
    return part_read(cursor, &visitor, worth_for_events, false, err);
}

static struct value marks_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct timeline_mark *mark = &((const struct part *)cursor->rows)->marks[row];
    switch (column) {
    case marks_run:
        return query_run(cursor);
    case marks_rank:
        return value_count(row_at(cursor, mark->row)->process);
    case marks_thread:
        return value_count(row_at(cursor, mark->row)->thread);
    case marks_name:
        return value_text(info_of(cursor)->defs->marks[mark->mark].name);
    case marks_when_s:
        return query_since(cursor, mark->time_ns);
    default:
        return query_known(mark->text, value_text(mark->text));
    }
}

static void marks_clear(struct query_cursor *cursor)
{
    if (!cursor->rows)
        return;
    drop_texts(cursor);
    part_clear(cursor);
}

/* Passing: the texts of a part are freed with the next, so SQLite copies them. */
const struct query_rows rows_marks = {
    .wants = QUERY_LOOK, .next = marks_next, .value = marks_value, .clear = marks_clear, .passing = true};

static void take_counter(void *context, const struct walk_event *walked)
{
    struct part *part = context;
    if (walked->event->kind == EVENT_COUNTER && event_is_within(part, walked))
        ARRAY_PUSH(part->counters, part->count, part->capacity,
                   (struct counted){walked->time_ns, walked->event->value, walked->row, walked->event->state});
}

static enum status counters_next(struct query_cursor *cursor, struct error *err)
{
    struct part *part = part_of(cursor);
    const struct walk_visitor visitor = {.context = part, .event = take_counter};
    return part_read(cursor, &visitor, worth_for_events, false, err);
}

static struct value counter_value(const struct counter_def *counter, int64_t bits)
{
    /* An event has 64 bits for the value; the definition says what they are. */
    double number;
    memcpy(&number, &bits, sizeof number);
    switch (counter->type) {
    case COUNTER_DOUBLE:
        return value_ratio(number);
    case COUNTER_UINT64:
        return value_count((uint64_t)bits);
    default:
        return value_integer(bits);
    }
}

static struct value value_of_counter(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct counted *counted = &((const struct part *)cursor->rows)->counters[row];
    const struct mark_def *mark = &info_of(cursor)->defs->marks[counted->mark];
    switch (column) {
    case counters_run:
        return query_run(cursor);
    case counters_rank:
        return value_count(row_at(cursor, counted->row)->process);
    case counters_thread:
        return value_count(row_at(cursor, counted->row)->thread);
    case counters_name:
        return value_text(mark->name);
    case counters_when_s:
        return query_since(cursor, counted->time_ns);
    case counters_value:
        return counter_value(&mark->counter, counted->value);
    case counters_unit:
        return query_known(mark->counter.unit, value_text(mark->counter.unit));
    default:
        return value_text(counter_mode_name(mark->counter.mode));
    }
}

const struct query_rows rows_counters = {
    .wants = QUERY_LOOK, .next = counters_next, .value = value_of_counter, .clear = part_clear};

/* Samples: events of the part. */

static void take_sample(void *context, const struct walk_event *walked)
{
    struct part *part = context;
    const struct event *event = walked->event;
    if (event->kind == EVENT_SAMPLE && event_is_within(part, walked))
        ARRAY_PUSH(part->samples, part->count, part->capacity,
                   (struct sampled){walked->time_ns, event->value, walked->row, event->state});
}

static enum status samples_next(struct query_cursor *cursor, struct error *err)
{
    struct part *part = part_of(cursor);
    const struct walk_visitor visitor = {.context = part, .event = take_sample};
    return part_read(cursor, &visitor, worth_for_events, false, err);
}

static const char *path_function(const struct defs *defs, uint32_t path)
{
    const char *name = defs_path_name(defs, path);
    return name ? name : "?";
}

/* "main;solve;sweep": from the end of the path to its begin, so that its length is known before it is written. */
static char *path_text(const struct defs *defs, uint32_t path)
{
    size_t length = 0;
    for (uint32_t at = path + 1; at > 0; at = defs->paths[at - 1].parent)
        length += strlen(path_function(defs, at - 1)) + 1;
    char *text = memory_new(length), *end = text + length - 1;
    for (uint32_t at = path + 1; at > 0; at = defs->paths[at - 1].parent) {
        const char *name = path_function(defs, at - 1);
        size_t size = strlen(name);
        end -= size;
        memcpy(end, name, size);
        if (end > text)
            *--end = ';';
    }
    return text;
}

/* Kept until the cursor is closed: a run has millions of samples, and some hundred paths. */
static const char *path_text_kept(struct query_cursor *cursor, uint32_t path)
{
    struct part *part = cursor->rows;
    const struct defs *defs = info_of(cursor)->defs;
    if (part->path_count < defs->path_count) {
        part->paths = memory_resize(part->paths, defs->path_count * sizeof *part->paths);
        memset(part->paths + part->path_count, 0, (defs->path_count - part->path_count) * sizeof *part->paths);
        part->path_count = defs->path_count;
    }
    if (!part->paths[path])
        part->paths[path] = path_text(defs, path);
    return part->paths[path];
}

static struct value sample_site(const struct site_def *site, unsigned column)
{
    if (!site)
        return value_null();
    if (column == samples_file)
        return query_text(site->file);
    return query_known(site->line > 0, value_integer(site->line));
}

static struct value samples_value(struct query_cursor *cursor, size_t row, unsigned column)
{
    const struct sampled *sample = &((const struct part *)cursor->rows)->samples[row];
    const struct defs *defs = info_of(cursor)->defs;
    switch (column) {
    case samples_run:
        return query_run(cursor);
    case samples_rank:
        return value_count(row_at(cursor, sample->row)->process);
    case samples_thread:
        return value_count(row_at(cursor, sample->row)->thread);
    case samples_when_s:
        return query_since(cursor, sample->time_ns);
    case samples_time_s:
        return query_known(sample->value_ns > 0, value_time(sample->value_ns));
    case samples_function:
        return query_text(defs_path_name(defs, sample->path));
    case samples_path:
        return value_text(path_text_kept(cursor, sample->path));
    default:
        return sample_site(profile_site(defs, sample->path), column);
    }
}

static void samples_clear(struct query_cursor *cursor)
{
    struct part *part = cursor->rows;
    if (!part)
        return;
    for (size_t i = 0; i < part->path_count; i++)
        free(part->paths[i]);
    free(part->paths);
    part_clear(cursor);
}

/* Passing: the texts of paths go with the cursor. */
const struct query_rows rows_samples = {
    .wants = QUERY_LOOK, .next = samples_next, .value = samples_value, .clear = samples_clear, .passing = true};
