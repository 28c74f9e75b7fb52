/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements that are events. */
#include "convert/xml/read_xml.h"
#include "core/payload.h"
#include "core/text.h"

#include <errno.h>
#include <stdlib.h>

/* frame.exclusive_ns of an enter whose line had no message. */
#define NO_MESSAGE INT64_MIN

#define BIT(name) (UINT64_C(1) << XML_##name)

/* Attributes that lines of all kinds may have. */
static void read_rest(struct xml_reader *xml, struct event *event, int32_t absent_comm)
{
    event->comm = xml_read_comm(xml, XML_communicator, absent_comm);
    /* A bit for each attribute of the line: most lines have none of these, and one test says so. */
    if (!(xml->sax.present[0] & (BIT(partner) | BIT(root) | BIT(sent) | BIT(received) | BIT(value) | BIT(request) |
                                 BIT(site) | BIT(partner_communicator))))
        return;
    event->partner_comm = xml_read_comm(xml, XML_partner_communicator, EVENT_UNKNOWN);
    event->partner = (int32_t)xml_number(xml, XML_partner, PARTNER_NONE, PROCESS_LIMIT - 1, EVENT_UNKNOWN);
    event->tag = xml_number_i32(xml, XML_root);
    event->bytes_sent = xml_number(xml, XML_sent, INT64_MIN + 1, INT64_MAX, BYTES_UNKNOWN);
    event->bytes_received = xml_number(xml, XML_received, INT64_MIN + 1, INT64_MAX, BYTES_UNKNOWN);
    event->value = xml_number(xml, XML_value, INT64_MIN, INT64_MAX, 0);
    if (xml_has(xml, XML_request) && !xml_get_u64(xml->sax.values[XML_request], UINT64_MAX, &event->request)) {
        xml_damage(xml, "attribute request is not a number from 0 to 2^64-1");
        event->request = 0;
    }
    event->requests = event->request ? (uint32_t)xml_number(xml, XML_requests, 1, UINT32_MAX, 1) : 0;
    /* A number beyond the sites defined so far is damage: sites stand before events. */
    event->site = (uint32_t)xml_number(xml, XML_site, 0, (int64_t)xml->reader->defs->site_count, 0);
}

/* The payload of the line, borrowed until the next text is read. */
static const unsigned char *read_payload(struct xml_reader *xml, struct event *event)
{
    if (!(xml->sax.present[0] & (BIT(payload) | BIT(text))))
        return NULL;
    bool is_text = xml_has(xml, XML_text);
    struct xml_value value = xml->sax.values[is_text ? XML_text : XML_payload];
    xml->text.length = 0;
    char *bytes = xml_room(&xml->text, value.length + 1);
    bool is_utf8 = is_text && !text_fits_latin1(value.at, value.length);
    size_t length = value.length / 2;
    if (is_text)
        length = is_utf8 ? xml_get_utf8(value, bytes) : xml_get_latin1(value, bytes);
    else if (!xml_get_hex(value, (unsigned char *)bytes)) {
        xml_damage(xml, "payload is not hexadecimal");
        return NULL;
    }
    if (length > XML_PAYLOAD_MAX) {
        xml_damage(xml, "payload is too long (%zu bytes, limit %d)", length, XML_PAYLOAD_MAX);
        return NULL;
    }
    event->payload_length = (uint32_t)length;
    event->flags = is_text && length ? EVENT_PAYLOAD_TEXT : 0;
    if (is_utf8)
        event->flags |= EVENT_PAYLOAD_UTF8;
    return (const unsigned char *)bytes;
}

static uint32_t state_of_name(struct xml_reader *xml, struct xml_value name)
{
    /* FNV-1a over the name as it stands in the document, before entities are replaced: the same spelling is the same
       state, and no text is made for it. */
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * 16777619;
    struct xml_cached_name *cached = &xml->cache[(hash ^ hash >> 15) % XML_CACHE_SIZE];
    if (cached->length == name.length && name.length && memcmp(cached->name, name.at, name.length) == 0)
        return cached->index;
    struct defs *defs = xml->reader->defs;
    const char *text = xml_text(xml, XML_data);
    int32_t found = defs_find_state(defs, text);
    struct state_def state = {
        .name = xml->text.text, .id = EVENT_UNKNOWN, .start = EVENT_UNKNOWN, .end = EVENT_UNKNOWN};
    uint32_t index = found == EVENT_UNKNOWN ? defs_add_state(defs, &state) : (uint32_t)found;
    if (name.length <= XML_CACHED_NAME_MAX) {
        cached->index = index;
        cached->length = (uint32_t)name.length;
        memcpy(cached->name, name.at, name.length);
    }
    return index;
}

/* The state of the line: by `state` if several have the name. */
static bool read_state_name(struct xml_reader *xml, uint32_t *state)
{
    const struct defs *defs = xml->reader->defs;
    if (!xml_has(xml, XML_data)) {
        xml_damage(xml, "event without data");
        return false;
    }
    *state = state_of_name(xml, xml->sax.values[XML_data]);
    if (!xml_has(xml, XML_state))
        return true;
    int64_t given = xml_number(xml, XML_state, 0, (int64_t)defs->state_count - 1, *state);
    /* `state` chooses among states of one name; it cannot contradict the name. */
    if (defs->states[given].first_of_name != *state)
        xml_damage(xml, "state %d has a different name", (int)given);
    else
        *state = (uint32_t)given;
    return true;
}

/* The direction of the message in the line of an enter or leave; DIRECTION_NONE: no message, and then `communication`
   is the root of a collective or the partner of a probe. */
static enum message_direction read_communication(struct xml_reader *xml, struct event *event)
{
    const struct state_def *state = &xml->reader->defs->states[event->state];
    if (!(xml->sax.present[0] & (BIT(communication) | BIT(direction))))
        return DIRECTION_NONE;
    enum message_direction direction = xml_given_direction(xml);
    /* Only MPI_Sendrecv and the like need to say it: other functions have one direction. */
    if (direction == DIRECTION_NONE && xml_has(xml, XML_communication))
        direction = state->direction;
    if (direction != DIRECTION_NONE || !xml_has(xml, XML_communication))
        return direction;
    if (state->rooted)
        event->tag = xml_number_i32(xml, XML_communication);
    else if (state->is_mpi)
        event->partner = (int32_t)xml_number(xml, XML_communication, PARTNER_NONE, PROCESS_LIMIT - 1, EVENT_UNKNOWN);
    return direction;
}

/* The message in the line of an enter or leave. */
static struct event read_merged(struct xml_reader *xml, struct event *line, enum message_direction direction)
{
    struct event message = EVENT_NOTHING;
    message.kind = direction == DIRECTION_SEND ? EVENT_SEND : EVENT_RECEIVE;
    message.time_ns = line->time_ns;
    message.process = line->process;
    message.thread = line->thread;
    message.comm = line->comm;
    message.site = line->site;
    message.partner_comm = xml_read_comm(xml, XML_partner_communicator, line->comm);
    message.partner = (int32_t)xml_number(xml, XML_communication, PARTNER_NONE, PROCESS_LIMIT - 1, EVENT_UNKNOWN);
    message.tag = xml_number_i32(xml, XML_tag);
    int64_t bytes = xml_number(xml, XML_bytes, INT64_MIN + 1, INT64_MAX, BYTES_UNKNOWN);
    if (direction == DIRECTION_SEND)
        message.bytes_sent = bytes;
    else
        message.bytes_received = bytes;
    line->partner_comm = EVENT_UNKNOWN;
    return message;
}

/* A message on the line of an enter comes after it: bare documents have it there. */
static void read_enter(struct xml_reader *xml, struct event *event, struct open_states *open)
{
    event->kind = EVENT_ENTER;
    read_rest(xml, event, xml->world);
    enum message_direction direction = read_communication(xml, event);
    struct event message = EVENT_NOTHING;
    if (direction != DIRECTION_NONE)
        message = read_merged(xml, event, direction);
    const unsigned char *payload = read_payload(xml, event);
    struct open_state *frame = open_states_enter(open, event->state, event->time_ns);
    if (!frame) {
        xml_damage(xml, "more than %d states are open", DEPTH_LIMIT);
        return;
    }
    frame->mark = (uint32_t)event->comm;
    /* Free for this reader's use: the partner given on the enter, with which the leave's is compared. */
    frame->exclusive_ns = direction == DIRECTION_NONE ? NO_MESSAGE : message.partner;
    xml_emit(xml, event, payload);
    if (direction != DIRECTION_NONE)
        xml_emit(xml, &message, NULL);
}

static void read_leave(struct xml_reader *xml, struct event *event, struct open_states *open, ptrdiff_t at)
{
    int32_t comm = xml->world;
    int64_t given = NO_MESSAGE;
    event->kind = EVENT_LEAVE;
    if (at >= 0) {
        comm = (int32_t)open->frames[at].mark;
        given = open->frames[at].exclusive_ns;
        open_states_remove(open, at);
    }
    read_rest(xml, event, comm);
    enum message_direction direction = read_communication(xml, event);
    if (direction == DIRECTION_NONE) {
        xml_flush_held(xml);
    } else {
        struct event message = read_merged(xml, event, direction);
        /* Bare files may repeat the enter's data on the leave. */
        bool repeated = !xml_has(xml, XML_direction) && given == message.partner;
        /* The message came so long before the leave. */
        if (__builtin_sub_overflow(message.time_ns, xml_time(xml, XML_before, 0), &message.time_ns))
            message.time_ns = event->time_ns;
        if (repeated)
            xml_flush_held(xml);
        else
            xml_flush_held_with(xml, &message);
    }
    xml_emit(xml, event, read_payload(xml, event));
}

void xml_read_event(struct xml_reader *xml)
{
    const struct defs *defs = xml->reader->defs;
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event) || !read_state_name(xml, &event.state)) {
        xml_flush_held(xml);
        return;
    }
    struct open_states *open = xml_stacks_get(&xml->stacks, event.process, event.thread);
    bool is_leave = xml_has(xml, XML_kind) && xml_value_is(xml->sax.values[XML_kind], "leave");
    bool is_enter = xml_has(xml, XML_kind) && xml_value_is(xml->sax.values[XML_kind], "enter");
    ptrdiff_t at = OPEN_STATES_NONE;
    /* Said outright; else by the rule that writers and hand-made documents share (xml_pairing.h). */
    if (is_leave && xml_has(xml, XML_state))
        at = open_states_find(open, event.state);
    else if (is_leave)
        at = xml_pairing_find(defs, open, event.state);
    else if (!is_enter)
        at = xml_pairing_rule(defs, open, event.state);
    if (xml_has(xml, XML_kind) && !is_leave && !is_enter)
        xml_damage(xml, "kind is neither enter nor leave");
    if (at >= 0)
        event.state = open->frames[at].state;
    if (at >= 0 || is_leave) {
        read_leave(xml, &event, open, at);
        return;
    }
    xml_flush_held(xml);
    read_enter(xml, &event, open);
}

/* Further messages of a call, or one that the line of its leave cannot hold. */
void xml_read_message(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event))
        return;
    enum message_direction direction = xml_given_direction(xml);
    if (direction == DIRECTION_NONE) {
        const struct open_states *open = xml_stacks_get(&xml->stacks, event.process, event.thread);
        /* A message inside a call has the call's direction. */
        if (open->depth)
            direction = xml->reader->defs->states[open->frames[open->depth - 1].state].direction;
    }
    if (direction == DIRECTION_NONE) {
        xml_damage(xml, "message without direction");
        return;
    }
    read_rest(xml, &event, xml->world);
    struct event message = read_merged(xml, &event, direction);
    /* `bytes` is the direction's own size; the other one, which CLOG-2 never has, stands under its name. */
    if (direction == DIRECTION_SEND)
        message.bytes_received = event.bytes_received;
    else
        message.bytes_sent = event.bytes_sent;
    message.value = event.value;
    message.request = event.request;
    message.requests = event.requests;
    const unsigned char *payload = read_payload(xml, &message);
    /* The leave that follows may have a message that comes before this one. */
    xml_hold(xml, &message, payload);
}

/* The format's own record of a collective, besides the state of its call: CLOG-2 and Paraver have it. */
void xml_read_collective(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event))
        return;
    event.kind = EVENT_COLLECTIVE;
    read_rest(xml, &event, xml->world);
    if (event.tag == EVENT_UNKNOWN)
        event.tag = xml_number_i32(xml, XML_communication);
    const unsigned char *payload = read_payload(xml, &event);
    xml_emit(xml, &event, payload);
}

/* The value of a counter that is not int64. */
static void read_number(struct xml_reader *xml, struct event *event)
{
    const char *text = xml_text(xml, XML_number);
    char *end = NULL;
    errno = 0;
    if (xml->reader->defs->marks[event->state].counter.type == COUNTER_UINT64)
        event->value = (int64_t)strtoull(text, &end, 10);
    else
        event_set_double(event, strtod(text, &end));
    if (end == text || *end || errno == ERANGE)
        xml_damage(xml, "number is none");
}

/* By name, by id, or by both where several marks have the name. */
static void read_solo(struct xml_reader *xml, uint8_t kind, int32_t absent_comm)
{
    struct event event = EVENT_NOTHING;
    if (!xml_read_place(xml, &event))
        return;
    if (!xml_has(xml, XML_data) && !xml_has(xml, XML_id)) {
        xml_damage(xml, "event without data");
        return;
    }
    event.kind = kind;
    read_rest(xml, &event, absent_comm);
    int32_t id = xml_number_i32(xml, XML_id);
    const char *name = xml_text(xml, XML_data);
    event.state = xml_mark_named(xml, name ? name : "", id);
    const unsigned char *payload = read_payload(xml, &event);
    if (xml_has(xml, XML_number))
        read_number(xml, &event);
    /* XML made from CLOG-2 files of older recordings has these. */
    if (event.payload_length && !event.flags && kind == EVENT_MARK &&
        xml->reader->defs->marks[event.state].gives_requests) {
        payload_get_requests(payload, event.payload_length, &event);
        event.payload_length = 0;
    }
    xml_emit(xml, &event, payload);
}

void xml_read_mark(struct xml_reader *xml)
{
    read_solo(xml, EVENT_MARK, xml->world);
}

void xml_read_counter(struct xml_reader *xml)
{
    read_solo(xml, EVENT_COUNTER, EVENT_UNKNOWN);
}

/* Attributes of the other kinds of events. False, with damage: the line cannot be used. */
static bool read_step(struct xml_reader *xml, struct event *event, uint8_t kind, int (*find)(const char *word))
{
    if (!xml_read_place(xml, event))
        return false;
    event->kind = kind;
    read_rest(xml, event, xml->world);
    if (!find)
        return true;
    const char *word = xml_text(xml, XML_step);
    event->value = find(word ? word : "");
    if (event->value < 0)
        xml_damage(xml, "step is none that is known");
    return event->value >= 0;
}

void xml_read_rma(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (read_step(xml, &event, EVENT_RMA, rma_step_find))
        xml_emit(xml, &event, NULL);
}

/* Number of a definition, counted from 1; 0, with damage: there is none. */
static uint32_t read_place_of(struct xml_reader *xml, enum xml_attribute attribute, size_t count)
{
    int64_t number = xml_number(xml, attribute, 1, (int64_t)count, 0);
    if (number == 0 && !xml_has(xml, attribute))
        xml_damage(xml, "event without its definition");
    return (uint32_t)number;
}

void xml_read_io(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (!read_step(xml, &event, EVENT_IO, io_step_find))
        return;
    uint32_t handle = read_place_of(xml, XML_handle, xml->reader->defs->handle_count);
    event.state = handle - 1;
    if (handle)
        xml_emit(xml, &event, NULL);
}

void xml_read_sample(struct xml_reader *xml)
{
    struct event event = EVENT_NOTHING;
    if (!read_step(xml, &event, EVENT_SAMPLE, NULL))
        return;
    uint32_t path = read_place_of(xml, XML_path, xml->reader->defs->path_count);
    event.state = path - 1;
    if (path)
        xml_emit(xml, &event, NULL);
}
