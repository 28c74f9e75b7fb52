/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a .prv in order of time. */
#include "convert/paraver/write_paraver.h"

#include "convert/paraver/paraver_names.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/varint.h"

#include <math.h>
#include <string.h>

/* Bytes of a record of the sorter, and of the lines that it becomes: at most 40 numbers, each with a colon. */
enum { RECORD_SIZE = 256, LINES_SIZE = 1024 };

/* What a record of the sorter is. Lines of one time and one thread that follow each other are one record: most calls of
   MPI are two, that of the entry and that of the return. Then there is less to sort, and their places are one number
   instead of four. */
enum {
    RECORD_LEAVE = 1, /* the type of an event whose value is 0 */
    RECORD_STATE = 2, /* how long, and which */
    RECORD_EVENT = 4, /* types and values, up to the end of the record */
    RECORD_COMMUNICATION = 8
};

/* Records of one time stand in the order in which a location has them; communications last. Most are made in the order
   of the file, which is what the sorter likes. */
#define ORDER_COMMUNICATIONS (UINT64_C(1) << 63)

/* Extrae's numbers of what a thread does. */
enum {
    DOES_RUN = 1,
    DOES_RECEIVE = 3,
    DOES_SEND = 4,
    DOES_SYNCHRONISE = 5,
    DOES_TEST = 6,
    DOES_WAIT = 8,
    DOES_POST_SEND = 10,
    DOES_POST_RECEIVE = 11,
    DOES_IO = 12,
    DOES_GROUP = 13,
    DOES_OTHER = 15,
    DOES_BOTH = 16,
    DOES_ONE_SIDED = 25
};

static struct paraver_writer *paraver_of(struct sink *sink)
{
    return (struct paraver_writer *)(void *)sink;
}

static enum status paraver_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    paraver_of(sink)->writer.defs = defs;
    return STATUS_OK;
}

static enum status paraver_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    return by_location_add(paraver_of(sink)->by, batch, err);
}

/* A record being made: what it is, its place, then its numbers but for the time by which it is sorted. As text they
   would be two to three times as many bytes to sort. */
static unsigned char *put(unsigned char *at, uint64_t value)
{
    return varint_put(at, value);
}

static unsigned char *begin_record(const struct paraver_writer *paraver, unsigned char *at, unsigned what)
{
    *at++ = (unsigned char)what;
    return put(at, paraver->place_count - 1);
}

static enum status add_record(struct paraver_writer *paraver, int64_t time_ns, uint64_t order,
                              unsigned char record[RECORD_SIZE], unsigned char *end, struct error *err)
{
    struct sort_key key = {(uint64_t)time_ns, order};
    return sorter_add(paraver->records, key, record, (size_t)(end - record), err);
}

/* What the thread did until now, after the event that ended what it did before, and with the event that began it:
   `pairs`, if these follow each other. A state stands where its time begins, but can be written only when it ends: it
   keeps the place that was reserved for it then. */
static enum status end_activity(struct paraver_writer *paraver, int64_t to_ns, uint64_t activity,
                                const unsigned char *pairs, size_t length, struct error *err)
{
    unsigned char record[RECORD_SIZE], *at;
    int64_t from_ns = paraver->since_ns;
    bool left = paraver->left_type > 0;
    uint64_t order = left ? paraver->left_order : paraver->since_order;
    unsigned what = (left ? RECORD_LEAVE : 0u) | (to_ns > from_ns ? RECORD_STATE : 0u) | (length ? RECORD_EVENT : 0u);
    at = begin_record(paraver, record, what);
    if (left)
        at = put(at, paraver->left_type);
    if (to_ns > from_ns)
        at = put(put(at, (uint64_t)to_ns - (uint64_t)from_ns), activity);
    if (length)
        memcpy(at, pairs, length);
    paraver->left_type = 0;
    paraver->since_ns = to_ns;
    paraver->since_order = paraver->order++;
    if (!what)
        return STATUS_OK;
    return add_record(paraver, from_ns, order, record, at + length, err);
}

/* What the viewer colours its first picture by; the numbers are those of Extrae's .pcf. */
static uint64_t activity_of(const struct state_def *state)
{
    bool posts = strncmp(state->name, "MPI_I", 5) == 0;
    switch (state->class) {
    case CLASS_P2P:
        if (strncmp(state->name, "MPI_Sendrecv", 12) == 0)
            return DOES_BOTH;
        if (state->direction == DIRECTION_SEND)
            return posts ? DOES_POST_SEND : DOES_SEND;
        if (state->direction == DIRECTION_RECEIVE)
            return posts ? DOES_POST_RECEIVE : DOES_RECEIVE;
        return DOES_OTHER;
    case CLASS_PROBE:
        return DOES_TEST;
    case CLASS_WAIT:
        if (strncmp(state->name, "MPI_Test", 8) == 0)
            return DOES_TEST;
        return DOES_WAIT;
    case CLASS_COLLECTIVE:
        return DOES_GROUP;
    case CLASS_SYNC:
        return DOES_SYNCHRONISE;
    case CLASS_RMA:
        return DOES_ONE_SIDED;
    case CLASS_IO:
        return DOES_IO;
    default:
        return DOES_OTHER;
    }
}

static unsigned char *put_pair(unsigned char *at, uint64_t type, uint64_t value)
{
    return put(put(at, type), value);
}

/* What a collective moved stands on the record that enters it; its root only at the root. */
static unsigned char *put_collective(const struct paraver_writer *paraver, unsigned char *at,
                                     const struct paraver_frame *frame)
{
    const struct defs *defs = paraver->writer.defs;
    const struct state_def *state = &defs->states[frame->state];
    if (!state->is_mpi || (state->class != CLASS_COLLECTIVE && state->class != CLASS_SYNC))
        return at;
    if (frame->bytes_sent >= 0)
        at = put_pair(at, PARAVER_BYTES_SENT, (uint64_t)frame->bytes_sent);
    if (frame->bytes_received >= 0)
        at = put_pair(at, PARAVER_BYTES_RECEIVED, (uint64_t)frame->bytes_received);
    if (frame->comm < 0)
        return at;
    if (frame->root >= 0 && defs_comm_rank(defs, frame->comm, paraver->process) == frame->root)
        at = put_pair(at, PARAVER_ROOT, 1);
    uint32_t number = paraver->comms[frame->comm];
    if (number > 0)
        return put_pair(at, PARAVER_COMM, number);
    return at;
}

static unsigned char *put_enter(const struct paraver_writer *paraver, unsigned char *at,
                                const struct paraver_frame *frame)
{
    at = put_pair(at, frame->type, paraver_state_value(paraver, frame->state));
    at = put_collective(paraver, at, frame);
    if (frame->site == 0)
        return at;
    if (paraver->functions[frame->site - 1] > 0)
        at = put_pair(at, PARAVER_CALLER + 1, paraver->functions[frame->site - 1]);
    if (*paraver->writer.defs->sites[frame->site - 1].file)
        at = put_pair(at, PARAVER_CALLER_LINE + 1, frame->site);
    return at;
}

static enum status add_enter(struct paraver_writer *paraver, const struct paraver_frame *frame, struct error *err)
{
    unsigned char record[RECORD_SIZE], *at = begin_record(paraver, record, RECORD_EVENT);
    return add_record(paraver, frame->time_ns, frame->order, record, put_enter(paraver, at, frame), err);
}

static enum status add_leave(struct paraver_writer *paraver, uint64_t type, int64_t time_ns, uint64_t order,
                             struct error *err)
{
    unsigned char record[RECORD_SIZE], *at = begin_record(paraver, record, RECORD_LEAVE);
    return add_record(paraver, time_ns, order, record, put(at, type), err);
}

/* Thread states cover the whole run: Running, and one for each outermost call of MPI. */
static enum status enter(struct paraver_writer *paraver, const struct event *event, struct error *err)
{
    struct paraver_frame frame = {.state = event->state,
                                  .time_ns = event->time_ns,
                                  .type = paraver_state_type(paraver, event->state),
                                  .comm = event->comm,
                                  .root = EVENT_UNKNOWN,
                                  .bytes_sent = BYTES_UNKNOWN,
                                  .bytes_received = BYTES_UNKNOWN};
    paraver->states_used[event->state] = true;
    if (paraver->writer.defs->states[event->state].is_mpi && event->site > 0) {
        frame.site = event->site;
        paraver->sites_used[event->site - 1] = true;
    }
    if (paraver->writer.defs->states[event->state].is_mpi && paraver->mpi_depth++ == 0 &&
        end_activity(paraver, event->time_ns, DOES_RUN, NULL, 0, err) != STATUS_OK)
        return STATUS_FAILED;
    frame.order = paraver->order++;
    /* A user function has nothing to wait for; the record of a call of MPI needs what its leave says. */
    if (!paraver->writer.defs->states[event->state].is_mpi && add_enter(paraver, &frame, err) != STATUS_OK)
        return STATUS_FAILED;
    ARRAY_PUSH(paraver->frames, paraver->depth, paraver->capacity, frame);
    return STATUS_OK;
}

/* What a collective says: on its leave, or in an event of its own. */
static void take_details(struct paraver_frame *frame, const struct event *event)
{
    if (event->comm != EVENT_UNKNOWN)
        frame->comm = event->comm;
    if (event->tag != EVENT_UNKNOWN)
        frame->root = event->tag;
    if (event->bytes_sent != BYTES_UNKNOWN)
        frame->bytes_sent = event->bytes_sent;
    if (event->bytes_received != BYTES_UNKNOWN)
        frame->bytes_received = event->bytes_received;
}

/* The outermost call: what the thread did until now, with the event that entered it where no other was between. The
   event that leaves it waits for what the thread does next. */
static enum status leave_outermost(struct paraver_writer *paraver, const struct paraver_frame *frame, int64_t time_ns,
                                   uint64_t order, struct error *err)
{
    unsigned char pairs[RECORD_SIZE / 2];
    uint64_t activity = activity_of(&paraver->writer.defs->states[frame->state]);
    bool follows = frame->time_ns == paraver->since_ns && frame->order == paraver->since_order + 1;
    size_t length = follows ? (size_t)(put_enter(paraver, pairs, frame) - pairs) : 0;
    if (end_activity(paraver, time_ns, activity, pairs, length, err) != STATUS_OK)
        return STATUS_FAILED;
    paraver->left_type = frame->type;
    paraver->left_order = order;
    if (follows)
        return STATUS_OK;
    return add_enter(paraver, frame, err);
}

/* An end names no function: it would be taken for that of the innermost of its type. States of the program that cross
   have types of their own (paraver_state_type). */
static bool is_within(const struct paraver_writer *paraver, size_t frame)
{
    for (size_t i = frame + 1; i < paraver->depth; i++)
        if (paraver->frames[i].type == paraver->frames[frame].type)
            return true;
    return false;
}

static enum status leave(struct paraver_writer *paraver, const struct event *event, struct error *err)
{
    const struct state_def *state = &paraver->writer.defs->states[event->state];
    size_t i = paraver->depth - 1;
    /* by_location passes on only leaves that have an enter. */
    while (paraver->frames[i].state != event->state)
        i--;
    struct paraver_frame frame = paraver->frames[i];
    writer_lose(&paraver->writer, "which of two calls of MPI that cross ends first",
                state->is_mpi && is_within(paraver, i));
    memmove(&paraver->frames[i], &paraver->frames[i + 1], (paraver->depth - i - 1) * sizeof *paraver->frames);
    paraver->depth--;
    take_details(&frame, event);
    uint64_t order = paraver->order++;
    if (state->is_mpi && --paraver->mpi_depth == 0)
        return leave_outermost(paraver, &frame, event->time_ns, order, err);
    if (state->is_mpi && add_enter(paraver, &frame, err) != STATUS_OK)
        return STATUS_FAILED;
    return add_leave(paraver, frame.type, event->time_ns, order, err);
}

static enum status add_end(struct paraver_writer *paraver, const struct placed *placed, struct error *err)
{
    const struct event *event = &placed->event;
    unsigned char record[4 * VARINT_MAX], *at = record;
    bool receives = event->kind == EVENT_RECEIVE;
    /* The partner's end is missing: Paraver's viewer takes only whole communications. */
    if (placed->message == 0)
        return STATUS_OK;
    at = put(put(at, paraver->place_count - 1), (uint64_t)event->time_ns);
    at = varint_put_signed(at, receives ? event->bytes_received : event->bytes_sent);
    at = varint_put_signed(at, event->tag);
    return sorter_add(paraver->ends, (struct sort_key){placed->message, receives}, record, (size_t)(at - record), err);
}

static struct paraver_end end_of(const unsigned char *record)
{
    struct paraver_end end;
    end.place = (size_t)varint_get(&record);
    end.time_ns = (int64_t)varint_get(&record);
    end.bytes = varint_get_signed(&record);
    end.tag = (int32_t)varint_get_signed(&record);
    return end;
}

static enum status add_value(struct paraver_writer *paraver, const struct event *event, struct error *err)
{
    unsigned char record[RECORD_SIZE], *at = begin_record(paraver, record, RECORD_EVENT);
    uint64_t value = (uint64_t)event->value;
    if (event->kind == EVENT_MARK) {
        value = 1;
        writer_lose(&paraver->writer, "payloads", event->payload_length > 0);
    } else if (paraver->writer.defs->marks[event->state].counter.type == COUNTER_DOUBLE) {
        /* Values are unsigned integers in the format. */
        double real = event_double(event);
        value = real >= 0 && real < 1e19 ? (uint64_t)llround(fmin(real, 9e18)) : 0;
        writer_lose(&paraver->writer, "fractions of counters", real != (double)value);
    }
    paraver->marks_used[event->state] = true;
    at = put_pair(at, paraver_mark_type(paraver, event->state), value);
    return add_record(paraver, event->time_ns, paraver->order++, record, at, err);
}

static void count_losses(struct writer *writer, const struct event *event)
{
    bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    writer_lose(writer, "communicators of messages",
                message && event->comm >= 0 && !writer->defs->comms[event->comm].world);
    writer_lose(writer, "places of calls in the source",
                event->kind == EVENT_ENTER && event->site > 0 && !writer->defs->states[event->state].is_mpi);
    writer_lose(writer, "payloads", event->kind <= EVENT_LEAVE && event->payload_length > 0);
    writer_lose(writer, "requests", event->requests > 0);
    writer_lose(writer, "one-sided operations", event->kind == EVENT_RMA);
    writer_lose(writer, "operations on files", event->kind == EVENT_IO);
    writer_lose(writer, "samples", event->kind == EVENT_SAMPLE);
}

static enum status paraver_visit(void *context, const struct placed *placed, struct error *err)
{
    struct paraver_writer *paraver = context;
    const struct event *event = &placed->event;
    count_losses(&paraver->writer, event);
    switch (event->kind) {
    case EVENT_ENTER:
        return enter(paraver, event, err);
    case EVENT_LEAVE:
        return leave(paraver, event, err);
    case EVENT_SEND:
    case EVENT_RECEIVE:
        return add_end(paraver, placed, err);
    case EVENT_COLLECTIVE:
        if (paraver->depth > 0)
            take_details(&paraver->frames[paraver->depth - 1], event);
        return STATUS_OK;
    case EVENT_MARK:
    case EVENT_COUNTER:
        return add_value(paraver, event, err);
    default:
        return STATUS_OK;
    }
}

/* One cpu for each node: which one a thread ran on is not known. 0 means that nothing is known of resources. */
static struct paraver_place place_of(const struct paraver_writer *paraver, uint32_t process, uint32_t thread)
{
    struct paraver_place place = {.text = ":"};
    char *at = text_put_u64(place.text + 1, paraver->nodes ? (uint64_t)process + 1 : 0);
    memcpy(at, ":1:", 3);
    at = text_put_u64(at + 3, (uint64_t)process + 1);
    *at++ = ':';
    at = text_put_u64(at, (uint64_t)thread + 1);
    *at++ = ':';
    place.length = (unsigned char)(at - place.text);
    return place;
}

static void begin_location(void *context, uint32_t process, uint32_t thread)
{
    struct paraver_writer *paraver = context;
    paraver->process = process;
    ARRAY_PUSH(paraver->places, paraver->place_count, paraver->place_capacity, place_of(paraver, process, thread));
    if (thread >= paraver->threads[process])
        paraver->threads[process] = thread + 1;
    paraver->depth = paraver->mpi_depth = 0;
    paraver->since_ns = 0;
    paraver->left_type = 0;
    paraver->since_order = paraver->order++;
}

static enum status end_location(void *context, struct error *err)
{
    struct paraver_writer *paraver = context;
    uint64_t activity = DOES_RUN;
    /* Calls that were never left get their enter now, the innermost first; the outermost decides what the thread
       does until the end. They get no leave: the run did not see one. */
    for (size_t i = paraver->depth; i > 0; i--) {
        const struct state_def *state = &paraver->writer.defs->states[paraver->frames[i - 1].state];
        if (!state->is_mpi)
            continue;
        activity = activity_of(state);
        if (add_enter(paraver, &paraver->frames[i - 1], err) != STATUS_OK)
            return STATUS_FAILED;
    }
    paraver->depth = 0;
    return end_activity(paraver, by_location_duration_ns(paraver->by), activity, NULL, 0, err);
}

static enum status add_communication(struct paraver_writer *paraver, uint64_t message, const struct paraver_end *send,
                                     const struct paraver_end *receive, struct error *err)
{
    unsigned char record[RECORD_SIZE], *at = record;
    /* Some traces know the size at one end only. */
    int64_t bytes = send->bytes >= 0 ? send->bytes : receive->bytes;
    writer_lose(&paraver->writer, "unknown message sizes", bytes < 0);
    writer_lose(&paraver->writer, "message tags below 0 or unknown", send->tag < 0);
    *at++ = RECORD_COMMUNICATION;
    at = put(put(at, send->place), receive->place);
    at = put(at, (uint64_t)receive->time_ns);
    at = put(at, bytes < 0 ? 0 : (uint64_t)bytes);
    at = put(at, send->tag < 0 ? 0 : (uint64_t)send->tag);
    return add_record(paraver, send->time_ns, ORDER_COMMUNICATIONS | message, record, at, err);
}

/* Both ends of a message follow each other: the send, then the receive. By number of the message: sends are at hand
   one at a time, however many messages there are. */
static enum status add_communications(struct paraver_writer *paraver, struct error *err)
{
    struct sort_key key;
    struct paraver_end send = {0}, end;
    const void *data;
    size_t length;
    enum status status = sorter_rewind(paraver->ends, err);
    while (status == STATUS_OK && (status = sorter_next(paraver->ends, &key, &data, &length, err)) == STATUS_OK) {
        end = end_of(data);
        if (key.minor == 0)
            send = end;
        else
            status = add_communication(paraver, key.major, &send, &end, err);
    }
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

/* Made once for all lines of a record. */
struct time_text {
    char text[24];
    size_t length;
};

static struct time_text time_as_text(uint64_t time_ns)
{
    struct time_text time;
    time.length = (size_t)(text_put_u64(time.text, time_ns) - time.text);
    return time;
}

/* A line up to its time. Copies are of fixed sizes, which is quicker; lines are at most half as long as the room. */
static char *begin_line(char *at, char kind, const struct paraver_place *place, const struct time_text *time)
{
    *at++ = kind;
    memcpy(at, place->text, sizeof place->text);
    at += place->length;
    memcpy(at, time->text, sizeof time->text);
    return at + time->length;
}

static char *put_number(char *at, uint64_t number)
{
    *at++ = ':';
    return text_put_u64(at, number);
}

/* Logical and physical time: one each is known. */
static char *write_communication(const struct paraver_writer *paraver, char *at, const struct time_text *time,
                                 const struct paraver_place *sender, const unsigned char *record)
{
    const struct paraver_place *receiver = &paraver->places[varint_get(&record)];
    struct time_text received = time_as_text(varint_get(&record));
    uint64_t bytes = varint_get(&record), tag = varint_get(&record);
    at = begin_line(at, '3', sender, time);
    *at++ = ':';
    memcpy(at, time->text, sizeof time->text);
    at += time->length;
    memcpy(at, receiver->text, sizeof receiver->text);
    at += receiver->length;
    memcpy(at, received.text, sizeof received.text);
    at += received.length;
    *at++ = ':';
    memcpy(at, received.text, sizeof received.text);
    return put_number(put_number(at + received.length, bytes), tag);
}

static void write_record(struct paraver_writer *paraver, uint64_t time_ns, const unsigned char *record, size_t length)
{
    const unsigned char *end = record + length;
    unsigned what = *record++;
    const struct paraver_place *place = &paraver->places[varint_get(&record)];
    struct time_text time = time_as_text(time_ns);
    char *at = (char *)output_room(paraver->writer.output, LINES_SIZE);
    if (what & RECORD_COMMUNICATION) {
        at = write_communication(paraver, at, &time, place, record);
        *at++ = '\n';
    }
    if (what & RECORD_LEAVE) {
        at = put_number(begin_line(at, '2', place, &time), varint_get(&record));
        memcpy(at, ":0\n", 3);
        at += 3;
    }
    if (what & RECORD_STATE) {
        at = put_number(begin_line(at, '1', place, &time), time_ns + varint_get(&record));
        at = put_number(at, varint_get(&record));
        *at++ = '\n';
    }
    if (what & RECORD_EVENT) {
        at = begin_line(at, '2', place, &time);
        while (record < end)
            at = put_number(at, varint_get(&record));
        *at++ = '\n';
    }
    paraver->writer.output->at = (unsigned char *)at;
}

static enum status write_records(struct paraver_writer *paraver, struct error *err)
{
    struct sort_key key;
    const void *record;
    size_t length;
    enum status status = sorter_rewind(paraver->records, err);
    while (status == STATUS_OK && (status = sorter_next(paraver->records, &key, &record, &length, err)) == STATUS_OK)
        write_record(paraver, key.major, record, length);
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

static enum status paraver_finish(struct sink *sink, const struct trace_end *end, struct error *err)
{
    static const struct location_visitor visitor = {
        .begin = begin_location, .event = paraver_visit, .end = end_location};
    struct paraver_writer *paraver = paraver_of(sink);
    (void)end;
    paraver_number_all(paraver);
    if (by_location_walk(paraver->by, &visitor, paraver, err) != STATUS_OK ||
        add_communications(paraver, err) != STATUS_OK)
        return STATUS_FAILED;
    writer_lose_properties(&paraver->writer, (const char *const[]){PROPERTY_DATE, PROPERTY_HOST, NULL});
    by_location_lose_ends(paraver->by);
    /* After the walk, which counts threads and states in use; the records, which wait in the sorter, follow. */
    paraver_write_head(paraver);
    if (paraver->writer.beside[0])
        paraver_write_labels(paraver, paraver->writer.beside[0]);
    if (paraver->writer.beside[1])
        paraver_write_rows(paraver, paraver->writer.beside[1]);
    return write_records(paraver, err);
}

static struct writer *paraver_create(void)
{
    struct paraver_writer *paraver = memory_new(sizeof *paraver);
    paraver->writer.sink = (struct sink){.begin = paraver_begin, .events = paraver_events, .end = paraver_finish};
    paraver->by = by_location_new(&paraver->writer);
    paraver->records = sorter_new(WRITER_SORT_MEMORY);
    paraver->ends = sorter_new(WRITER_SORT_MEMORY / 2);
    return &paraver->writer;
}

static void paraver_free(struct writer *writer)
{
    struct paraver_writer *paraver = (struct paraver_writer *)(void *)writer;
    by_location_free(paraver->by);
    sorter_free(paraver->records);
    sorter_free(paraver->ends);
    free(paraver->threads);
    free(paraver->nodes);
    free(paraver->hosts);
    free(paraver->comms);
    free(paraver->states_used);
    free(paraver->marks_used);
    free(paraver->sites_used);
    free(paraver->functions);
    free(paraver->frames);
    free(paraver->places);
    free(paraver);
}

const struct writer_format writer_format_paraver = {.name = "paraver",
                                                    .title = "Paraver",
                                                    .suffix = ".prv",
                                                    .beside = {".pcf", ".row"},
                                                    .create = paraver_create,
                                                    .dispose = paraver_free};
