/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of events: pairing, and the merging of a call's first message into the line of its leave. */
#include "convert/xml/write_xml.h"

#include "core/numbers.h"
#include "core/payload.h"

#include <inttypes.h>
#include <stdio.h>

enum { HELD_TEXT_MAX = 1 << 20 };

/* Which attribute of an enter or leave `communication` stands for. */
enum role { ROLE_NONE, ROLE_ROOT, ROLE_PARTNER };

static enum role role_of(const struct state_def *state)
{
    if (state->rooted)
        return ROLE_ROOT;
    /* Of a function with messages `communication` is the partner of its first one. */
    if (state->is_mpi && state->direction == DIRECTION_NONE)
        return ROLE_PARTNER;
    return ROLE_NONE;
}

/* Names are escaped once: a trace has few of them and millions of lines. */
static void prepare_states(struct xml_writer *xml)
{
    const struct defs *defs = xml->defs;
    struct xml_line *names = &xml->names;
    xml->states = memory_new(defs->state_count * sizeof *xml->states);
    for (size_t i = 0; i < defs->state_count; i++) {
        xml->states[i].at = names->length;
        xml_put_attribute_text(names, "data", defs->states[i].name);
        if (defs_name_is_shared(defs, (uint32_t)i))
            xml_put_attribute_i64(names, "state", (int64_t)i);
        xml->states[i].length = names->length - xml->states[i].at;
    }
}

static uint64_t name_key(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return hash >> 1;
}

/* The name decides which mark is meant; if several have it, or it is empty, also the id. */
static void prepare_marks(struct xml_writer *xml)
{
    const struct defs *defs = xml->defs;
    struct xml_line *names = &xml->names;
    struct map uses = {0};
    for (size_t i = 0; i < defs->mark_count; i++)
        ++*map_put(&uses, name_key(defs->marks[i].name), 0);
    xml->marks = memory_new(defs->mark_count * sizeof *xml->marks);
    for (size_t i = 0; i < defs->mark_count; i++) {
        const struct mark_def *mark = &defs->marks[i];
        xml->marks[i].at = names->length;
        xml_put_attribute_text(names, "data", mark->name);
        /* An id alone would do, but people read names. */
        if ((!*mark->name || *map_find(&uses, name_key(mark->name)) > 1) && mark->id != EVENT_UNKNOWN)
            xml_put_attribute_i64(names, "id", mark->id);
        xml->marks[i].length = names->length - xml->marks[i].at;
    }
    map_clear(&uses);
}

void xml_events_prepare(struct xml_writer *xml)
{
    prepare_states(xml);
    prepare_marks(xml);
    xml->calls = memory_new(xml->defs->state_count * sizeof *xml->calls);
}

static void put_span(struct xml_writer *xml, struct xml_span span)
{
    xml_put_bytes(&xml->line, xml->names.text + span.at, span.length);
}

static void put_unsigned(struct xml_line *line, const char *name, uint64_t value)
{
    XML_PUT(line, " ");
    xml_put_bytes(line, name, strlen(name));
    XML_PUT(line, "=\"");
    xml_put_u64(line, value);
    XML_PUT(line, "\"");
}

/* The begin of all lines. The element, the prefix that all lines of a process share, the time: most of a line is
   copied. */
static void put_start(struct xml_writer *xml, const char *element, size_t length, const struct event *event)
{
    struct xml_line *line = &xml->line;
    xml_put_bytes(line, element, length);
    xml_put_bytes(line, xml->prefix.text, xml->prefix.length);
    xml_put_time(line, event->time_ns);
    XML_PUT(line, "\"");
    if (event->thread)
        put_unsigned(line, "thread", event->thread);
}
#define PUT_START(xml, element, event) put_start((xml), "<" element, sizeof("<" element) - 1, (event))

/* An attribute that is missing is not known: no number stands for it. */
static void put_known(struct xml_line *line, const char *name, int32_t value)
{
    if (value != EVENT_UNKNOWN)
        xml_put_attribute_i64(line, name, value);
}

static void put_bytes(struct xml_line *line, const char *name, int64_t bytes)
{
    if (bytes != BYTES_UNKNOWN)
        xml_put_attribute_i64(line, name, bytes);
}

/* Of these marks a payload of zeros says something else than none. */
static bool is_our_mark(const struct xml_writer *xml, const struct event *event)
{
    return event->kind == EVENT_MARK && payload_mark_is_ours(xml->defs->marks[event->state].name);
}

static void put_payload(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    struct xml_line *line = &xml->line;
    const unsigned char *payload = arena + event->payload;
    size_t length = event->payload_length;
    if (event->flags & EVENT_PAYLOAD_TEXT) {
        XML_PUT(line, " text=\"");
        if (event->flags & EVENT_PAYLOAD_UTF8)
            xml_put_utf8_bytes(line, (const char *)payload, length);
        else
            xml_put_latin1(line, payload, length);
        XML_PUT(line, "\"");
        return;
    }
    /* CLOG-2's cargo has a fixed size, whose unused end is zero: readers fill it up again. */
    while (length && payload[length - 1] == 0)
        length--;
    if (!length && !is_our_mark(xml, event))
        return;
    length = larger(length, 1);
    XML_PUT(line, " payload=\"");
    xml_put_hex(line, payload, length);
    XML_PUT(line, "\"");
}

/* The end that lines of all kinds may have; the caller sets fields already written to unknown. */
static void put_rest(struct xml_writer *xml, const struct event *event, int32_t usual_comm, int32_t usual_partner_comm,
                     const unsigned char *arena)
{
    struct xml_line *line = &xml->line;
    if (event->comm != usual_comm)
        xml_put_comm(xml, "communicator", event->comm);
    /* Between the groups of an inter-communicator. */
    if (event->partner_comm != usual_partner_comm)
        xml_put_comm(xml, "partner_communicator", event->partner_comm);
    put_known(line, "partner", event->partner);
    put_known(line, "root", event->tag);
    put_bytes(line, "sent", event->bytes_sent);
    put_bytes(line, "received", event->bytes_received);
    if (event->value)
        xml_put_attribute_i64(line, "value", event->value);
    if (event->request)
        put_unsigned(line, "request", event->request);
    if (event->requests > 1)
        put_unsigned(line, "requests", event->requests);
    if (event->site)
        put_unsigned(line, "site", event->site);
    if (event->payload_length)
        put_payload(xml, event, arena);
}

static enum message_direction direction_of(const struct event *message)
{
    if (message->kind == EVENT_SEND)
        return DIRECTION_SEND;
    return DIRECTION_RECEIVE;
}

/* The attributes of a message except for its communicators; `usual` is the direction that need not be written. */
static void put_message(struct xml_line *line, const struct event *message, enum message_direction usual)
{
    enum message_direction direction = direction_of(message);
    put_known(line, "communication", message->partner);
    put_known(line, "tag", message->tag);
    put_bytes(line, "bytes", direction == DIRECTION_SEND ? message->bytes_sent : message->bytes_received);
    if (direction != usual || message->partner == EVENT_UNKNOWN)
        xml_put_attribute_text(line, "direction", direction == DIRECTION_SEND ? "send" : "receive");
}

/* Puts a <message> line, without its end. */
static void put_message_line(struct xml_writer *xml, const struct event *message, const unsigned char *arena)
{
    const struct open_states *open = xml_stacks_get(&xml->stacks, 0, message->thread);
    enum message_direction usual = DIRECTION_NONE;
    if (open->depth)
        usual = (enum message_direction)xml->defs->states[open->frames[open->depth - 1].state].direction;
    PUT_START(xml, "message", message);
    put_message(&xml->line, message, usual);
    struct event rest = *message;
    rest.partner = rest.tag = EVENT_UNKNOWN;
    if (message->kind == EVENT_SEND)
        rest.bytes_sent = BYTES_UNKNOWN;
    else
        rest.bytes_received = BYTES_UNKNOWN;
    put_rest(xml, &rest, xml->world, rest.comm, arena);
}

/* Ends the run of messages: writes those still held, with or without (`with_first`) the first. Messages wait for the
   leave, since the first of them may stand on its line. */
static void end_run(struct xml_writer *xml, bool with_first, enum xml_run then)
{
    if (xml->run == RUN_HELD) {
        if (with_first) {
            put_message_line(xml, &xml->first, NULL);
            xml_end_line(xml);
        }
        if (xml->held.length)
            output_write(xml->writer.output, xml->held.text, xml->held.length);
        xml->held.length = 0;
        xml->held_count = 0;
    }
    xml->run = then;
}

static void write_message(struct xml_writer *xml, const struct event *message, const unsigned char *arena)
{
    /* Held until the next line shows whether it is the leave that it can stand on. A payload needs a line of its
       own. */
    if (xml->run == RUN_NONE && !message->payload_length) {
        xml->run = RUN_HELD;
        xml->first = *message;
        return;
    }
    if (xml->run == RUN_NONE)
        xml->run = RUN_WRITTEN;
    /* The reader holds no more than this, and of one thread. */
    if (xml->run == RUN_HELD && (message->thread != xml->first.thread || xml->held_count + 1 >= XML_HELD_MAX ||
                                 xml->held.length > HELD_TEXT_MAX))
        end_run(xml, true, RUN_WRITTEN);
    put_message_line(xml, message, arena);
    if (xml->run == RUN_WRITTEN) {
        xml_end_line(xml);
        return;
    }
    XML_PUT(&xml->line, "/>\n");
    xml_put_bytes(&xml->held, xml->line.text, xml->line.length);
    xml->line.length = 0;
    xml->held_count++;
}

/* True if the first of the messages before this leave can be on its line: attributes that the line has only once must
   be the same for both. */
static bool can_merge(const struct xml_writer *xml, const struct event *leave)
{
    const struct event *first = &xml->first;
    if (xml->run != RUN_HELD || first->thread != leave->thread || first->comm != leave->comm || first->value != 0)
        return false;
    int64_t other = first->kind == EVENT_SEND ? first->bytes_received : first->bytes_sent, before;
    return other == BYTES_UNKNOWN && leave->partner_comm == EVENT_UNKNOWN && first->request == 0 &&
           first->site == leave->site && !__builtin_sub_overflow(leave->time_ns, first->time_ns, &before);
}

/* Attributes `communication` to `direction` on a line without message: the event keeps only fields not written by them.
 */
static void put_communication(struct xml_line *line, const struct state_def *state, struct event *event)
{
    switch (role_of(state)) {
    case ROLE_ROOT:
        put_known(line, "communication", event->tag);
        event->tag = EVENT_UNKNOWN;
        break;
    case ROLE_PARTNER:
        put_known(line, "communication", event->partner);
        event->partner = EVENT_UNKNOWN;
        break;
    case ROLE_NONE:
        break;
    }
}

static void put_merged(struct xml_writer *xml, const struct state_def *state, struct event *leave)
{
    const struct event *first = &xml->first;
    put_message(&xml->line, first, state->direction);
    if (first->time_ns != leave->time_ns) {
        XML_PUT(&xml->line, " before=\"");
        xml_put_time(&xml->line, leave->time_ns - first->time_ns);
        XML_PUT(&xml->line, "\"");
    }
    leave->partner_comm = first->partner_comm;
}

/* MPE-1 numbers the calls of a function in the values of their events: the reader of MPE-1 ignores it, and so does this
   format. `call` is 1 for the first. */
static void drop_call_counter(const struct state_def *state, struct event *event, int64_t call)
{
    if (state->is_mpi && event->value && event->value == 2 * call - (event->kind == EVENT_ENTER))
        event->value = 0;
}

static void write_enter(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    const struct state_def *state = &xml->defs->states[event->state];
    struct open_states *open = xml_stacks_get(&xml->stacks, 0, event->thread);
    struct event rest = *event;
    uint32_t call = ++xml->calls[event->state];
    end_run(xml, true, RUN_NONE);
    PUT_START(xml, "event", event);
    put_span(xml, xml->states[event->state]);
    /* Only where the rule would take the line for something else. */
    if (xml_pairing_rule(xml->defs, open, event->state) != OPEN_STATES_NONE)
        XML_PUT(&xml->line, " kind=\"enter\"");
    put_communication(&xml->line, state, &rest);
    drop_call_counter(state, &rest, call);
    put_rest(xml, &rest, xml->world, EVENT_UNKNOWN, arena);
    xml_end_line(xml);
    struct open_state *frame = open_states_enter(open, event->state, event->time_ns);
    if (frame) {
        /* What a leave without these attributes is read as: they are written only where they differ. */
        frame->mark = (uint32_t)event->comm;
        frame->exclusive_ns = call;
    }
}

/* The leave closes what the enter opened, and may carry the first of the messages between. */
static void write_leave(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    const struct state_def *state = &xml->defs->states[event->state];
    struct open_states *open = xml_stacks_get(&xml->stacks, 0, event->thread);
    ptrdiff_t at = open_states_find(open, event->state);
    bool merge = at >= 0 && (size_t)at + 1 == open->depth && can_merge(xml, event);
    bool implied = at != OPEN_STATES_NONE && xml_pairing_rule(xml->defs, open, event->state) == at;
    struct event rest = *event;
    int32_t usual_comm = xml->world;
    end_run(xml, !merge, RUN_NONE);
    PUT_START(xml, "event", event);
    put_span(xml, xml->states[event->state]);
    if (!implied)
        XML_PUT(&xml->line, " kind=\"leave\"");
    if (merge)
        put_merged(xml, state, &rest);
    else
        put_communication(&xml->line, state, &rest);
    if (at != OPEN_STATES_NONE) {
        usual_comm = (int32_t)open->frames[at].mark;
        drop_call_counter(state, &rest, open->frames[at].exclusive_ns);
        open_states_remove(open, at);
    }
    put_rest(xml, &rest, usual_comm, merge ? rest.comm : EVENT_UNKNOWN, arena);
    xml_end_line(xml);
}

static void write_collective(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    PUT_START(xml, "collective", event);
    put_rest(xml, event, xml->world, EVENT_UNKNOWN, arena);
    xml_end_line(xml);
}

/* The value of a counter that is not int64, with enough digits to restore it. */
static void put_number(struct xml_line *line, const struct counter_def *counter, struct event *event)
{
    char digits[40];
    if (counter->type == COUNTER_UINT64)
        snprintf(digits, sizeof digits, "%" PRIu64, (uint64_t)event->value);
    else
        snprintf(digits, sizeof digits, "%.17g", event_double(event));
    xml_put_attribute_text(line, "number", digits);
    event->value = 0;
}

static void write_counter(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    struct event rest = *event;
    if (event->state >= xml->defs->mark_count)
        return;
    const struct counter_def *counter = &xml->defs->marks[event->state].counter;
    PUT_START(xml, "counter", event);
    put_span(xml, xml->marks[event->state]);
    if (counter->type == COUNTER_UINT64 || counter->type == COUNTER_DOUBLE)
        put_number(&xml->line, counter, &rest);
    /* A counter without a value would be one that is not known. */
    else if (event->value == 0)
        XML_PUT(&xml->line, " value=\"0\"");
    put_rest(xml, &rest, EVENT_UNKNOWN, EVENT_UNKNOWN, arena);
    xml_end_line(xml);
}

/* The rare kinds of events. */
static void write_other(struct xml_writer *xml, const struct event *event)
{
    struct event rest = *event;
    if (event->kind == EVENT_RMA) {
        PUT_START(xml, "rma", event);
        xml_put_attribute_text(&xml->line, "step", rma_step_name(event->value));
    } else if (event->kind == EVENT_IO) {
        PUT_START(xml, "io", event);
        xml_put_attribute_text(&xml->line, "step", io_step_name(event->value));
        put_unsigned(&xml->line, "handle", (uint64_t)event->state + 1);
    } else {
        PUT_START(xml, "sample", event);
        put_unsigned(&xml->line, "path", (uint64_t)event->state + 1);
    }
    /* The step has said it. */
    if (event->kind != EVENT_SAMPLE)
        rest.value = 0;
    put_rest(xml, &rest, xml->world, EVENT_UNKNOWN, NULL);
    xml_end_line(xml);
}

static void write_mark(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    if (event->state >= xml->defs->mark_count)
        return;
    PUT_START(xml, "mark", event);
    put_span(xml, xml->marks[event->state]);
    put_rest(xml, event, xml->world, EVENT_UNKNOWN, arena);
    xml_end_line(xml);
}

static void begin_process(struct xml_writer *xml, uint32_t process)
{
    end_run(xml, true, RUN_NONE);
    /* Events come process after process: what was open in the last one stays open for ever. */
    xml_stacks_reset(&xml->stacks);
    memset(xml->calls, 0, xml->defs->state_count * sizeof *xml->calls);
    xml->prefix.length = 0;
    XML_PUT(&xml->prefix, " process=\"");
    xml_put_u64(&xml->prefix, process);
    XML_PUT(&xml->prefix, "\" timestamp=\"");
    xml->process = process;
    xml->in_process = true;
}

/* By process, then time, ties in the order they came in: what the reader's pairing relies on. */
void xml_write_event(struct xml_writer *xml, const struct event *event, const unsigned char *arena)
{
    if (!xml->in_process || event->process != xml->process)
        begin_process(xml, event->process);
    bool is_state = event->kind == EVENT_ENTER || event->kind == EVENT_LEAVE;
    if (is_state && event->state >= xml->defs->state_count)
        return;
    if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE)
        write_message(xml, event, arena);
    else if (event->kind == EVENT_ENTER)
        write_enter(xml, event, arena);
    else if (event->kind == EVENT_LEAVE)
        write_leave(xml, event, arena);
    else {
        end_run(xml, true, RUN_NONE);
        if (event->kind == EVENT_COLLECTIVE)
            write_collective(xml, event, arena);
        else if (event->kind == EVENT_COUNTER)
            write_counter(xml, event, arena);
        else if (event->kind != EVENT_MARK)
            write_other(xml, event);
        else
            write_mark(xml, event, arena);
    }
}

void xml_events_end(struct xml_writer *xml)
{
    end_run(xml, true, RUN_NONE);
}
