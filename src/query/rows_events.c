/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are read from the trace itself: states, messages, marks, counters, samples. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/payload.h"
#include "profile/profile.h"
#include "query/parts.h"
#include "query/trace.h"

#include <string.h>

struct counted {
    int64_t time_ns, value;
    uint32_t row, mark;
};

struct sampled {
    int64_t time_ns, value_ns;
    uint32_t row, path;
};

static const struct timeline_info *info_of(const struct query_cursor *cursor)
{
    return timeline_info(cursor->trace->look.timeline);
}

static const struct timeline_row *row_at(const struct query_cursor *cursor, uint32_t row)
{
    return &info_of(cursor)->rows[row];
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

/* States: those that are entered in the part, and in the first also those open at its begin. */

static void take_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                       int64_t exclusive_ns)
{
    (void)exclusive_ns;
    struct part *part = context;
    const struct query_cursor *cursor = part->cursor;
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
    struct part *part = parts_of(cursor);
    /* A name that the trace does not have: no rows, and nothing to read. */
    if (cursor->limits.name) {
        part->state = defs_find_state(info_of(cursor)->defs, cursor->limits.name);
        if (part->state == EVENT_UNKNOWN)
            return STATUS_END;
    }
    const struct part_reading how = {.visitor = {.state = take_state, .plain = true}, .worth = worth_for_states};
    return parts_read_ahead(cursor, &how, err);
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
    struct part *part = parts_of(cursor);
    ARRAY_RESERVE(part->states, part->capacity, count);
    return part->states;
}

const struct query_rows rows_states = {.room = states_room,
                                       .row_size = sizeof(struct timeline_state),
                                       .wants = QUERY_LOOK,
                                       .next = states_next,
                                       .value = states_value,
                                       .clear = parts_clear};

/* Messages: those whose last end is in the part, and in the last also those on their way at its end. */

static bool is_within(int64_t from, int64_t to, uint32_t number)
{
    return number >= from && number <= to;
}

static void take_message(void *context, const struct timeline_message *message)
{
    struct part *part = context;
    const struct query_cursor *cursor = part->cursor;
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
    const struct part_reading how = {
        .visitor = {.message = take_message, .ending = note_ending}, .worth = worth_for_messages, .ends = true};
    return parts_read_ahead(cursor, &how, err);
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
    struct part *part = parts_of(cursor);
    ARRAY_RESERVE(part->messages, part->capacity, count);
    return part->messages;
}

const struct query_rows rows_messages = {.room = messages_room,
                                         .row_size = sizeof(struct timeline_message),
                                         .wants = QUERY_LOOK,
                                         .next = messages_next,
                                         .value = messages_value,
                                         .clear = parts_clear};

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
    const struct part_reading how = {.visitor = {.event = take_mark}, .worth = worth_for_events};
    drop_texts(cursor);
    return parts_read(cursor, &how, err);
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
    parts_clear(cursor);
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
    const struct part_reading how = {.visitor = {.event = take_counter}, .worth = worth_for_events};
    return parts_read(cursor, &how, err);
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
    .wants = QUERY_LOOK, .next = counters_next, .value = value_of_counter, .clear = parts_clear};

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
    const struct part_reading how = {.visitor = {.event = take_sample}, .worth = worth_for_events};
    return parts_read(cursor, &how, err);
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
    struct parts *parts = cursor->rows;
    const struct defs *defs = info_of(cursor)->defs;
    if (parts->path_count < defs->path_count) {
        parts->paths = memory_resize(parts->paths, defs->path_count * sizeof *parts->paths);
        memset(parts->paths + parts->path_count, 0, (defs->path_count - parts->path_count) * sizeof *parts->paths);
        parts->path_count = defs->path_count;
    }
    if (!parts->paths[path])
        parts->paths[path] = path_text(defs, path);
    return parts->paths[path];
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
    struct parts *parts = cursor->rows;
    if (!parts)
        return;
    for (size_t i = 0; i < parts->path_count; i++)
        free(parts->paths[i]);
    free(parts->paths);
    parts_clear(cursor);
}

/* Passing: the texts of paths go with the cursor. */
const struct query_rows rows_samples = {
    .wants = QUERY_LOOK, .next = samples_next, .value = samples_value, .clear = samples_clear, .passing = true};
