/* SPDX-License-Identifier: BSD-3-Clause */
/* What of events and definitions CLOG-2 has room for, and what is lost. */
#include "convert/clog2/write_clog2.h"

#include "core/bytes.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <string.h>

bool clog2_value_is_counter(struct clog2_writer *clog2, const struct event *event)
{
    if (event->kind > EVENT_LEAVE || !clog2->writer.defs->states[event->state].is_mpi)
        return event->value == 0;
    uint64_t *calls = map_put(&clog2->calls, map_pair(event->process, event->state), 0);
    *calls += event->kind == EVENT_ENTER;
    /* Odd at the begin, even at the end: 1, 2, 3, 4, … for each process and function. */
    int64_t expected = (int64_t)(*calls * 2) - (event->kind == EVENT_ENTER);
    return event->value == 0 || event->value == expected;
}

/* Where the format of the event's state or mark, if it has one, leaves room for values and texts. */
static bool has_words(const struct clog2_writer *clog2, const struct event *event)
{
    const struct defs *defs = clog2->writer.defs;
    if (event->kind > EVENT_LEAVE && event->kind != EVENT_MARK)
        return false;
    bool mark = event->kind == EVENT_MARK;
    const char *format = mark ? defs->marks[event->state].format : defs->states[event->state].format;
    return !clog2->writer.in_order && (!format || !*format || payload_words_of(format));
}

static uint64_t words_key(bool mark, uint32_t index)
{
    return (uint64_t)mark << 32 | index;
}

unsigned clog2_words_of(const struct clog2_writer *clog2, bool mark, uint32_t index)
{
    const uint64_t *words = map_find(&clog2->words, words_key(mark, index));
    if (words)
        return (unsigned)*words;
    return 0;
}

void clog2_note_words(struct clog2_writer *clog2, const struct event *event)
{
    bool text = event->payload_length > 0 && (event->flags & EVENT_PAYLOAD_TEXT);
    unsigned words = (event->value != 0 ? PAYLOAD_HAS_VALUE : 0u) | (text ? PAYLOAD_HAS_TEXT : 0u);
    if (words && has_words(clog2, event))
        *map_put(&clog2->words, words_key(event->kind == EVENT_MARK, event->state), 0) |= words;
}

void clog2_put_words(struct clog2_writer *clog2, unsigned char *cargo, unsigned words, const struct event *event,
                     const unsigned char *arena)
{
    unsigned char *text = cargo + (words & PAYLOAD_HAS_VALUE ? 8 : 0);
    writer_lose(&clog2->writer, "payloads beside values or texts",
                event->payload_length > 0 && !(event->flags & EVENT_PAYLOAD_TEXT));
    if (words & PAYLOAD_HAS_VALUE)
        bytes_put_u64(cargo, true, (uint64_t)event->value);
    if (!(words & PAYLOAD_HAS_TEXT) || !(event->flags & EVENT_PAYLOAD_TEXT))
        return;
    size_t room = payload_words_room(words, CLOG2_CARGO_SIZE);
    size_t length;
    char *made;
    const unsigned char *from = writer_event_text(&clog2->writer, event, arena, &length, &made);
    writer_lose(&clog2->writer, "ends of long texts", length > room);
    length = smaller(length, room);
    text[0] = (unsigned char)(length >> 8);
    text[1] = (unsigned char)length;
    memcpy(text + 2, from, length);
    free(made);
}

bool clog2_puts_moved(const struct clog2_writer *clog2, const struct event *event)
{
    bool known = event->tag != EVENT_UNKNOWN || event->bytes_sent >= 0 || event->bytes_received >= 0;
    return known && event->kind == EVENT_LEAVE && event->payload_length == 0 &&
           clog2->writer.defs->states[event->state].gives_moved;
}

bool clog2_puts_requests(const struct clog2_writer *clog2, const struct event *event)
{
    const struct defs *defs = clog2->writer.defs;
    bool has_place = false;
    if (event->kind == EVENT_LEAVE)
        has_place = defs->states[event->state].gives_requests;
    else if (event->kind == EVENT_MARK)
        has_place = defs->marks[event->state].gives_requests;
    return has_place && event->payload_length == 0 && event->request > 0 && event->request <= INT32_MAX &&
           event->requests > 0 && event->requests <= INT32_MAX;
}

void clog2_count_losses(struct clog2_writer *clog2, const struct event *event)
{
    struct writer *writer = &clog2->writer;
    bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    int64_t bytes = event->kind == EVENT_RECEIVE ? event->bytes_received : event->bytes_sent;
    bool text = event->payload_length > 0 && (event->flags & EVENT_PAYLOAD_TEXT), words = has_words(clog2, event);
    if (event->kind <= EVENT_LEAVE || event->kind == EVENT_MARK)
        writer_lose(writer, "values of events", !words && event->value != 0);
    if (text)
        writer_lose(writer, "texts of events", !words);
    else if (event->payload_length > 0)
        writer_lose(writer, "ends of long payloads", message || event->payload_length > CLOG2_CARGO_SIZE);
    if (message) {
        writer_lose(writer, "unknown tags", event->tag == EVENT_UNKNOWN);
        writer_lose(writer, "unknown message sizes", bytes < 0);
        writer_lose(writer, "message sizes above 2 GiB", bytes > INT32_MAX);
    } else if (event->kind <= EVENT_LEAVE) {
        writer_lose(writer, "bytes of calls",
                    (event->bytes_sent >= 0 || event->bytes_received >= 0) && !clog2_puts_moved(clog2, event));
    }
    writer_lose(writer, "requests of events", event->request != 0 && !clog2_puts_requests(clog2, event));
}

bool clog2_paths_fit(const struct defs *defs)
{
    return defs->path_count > 0 && defs->paths[0].state == PATH_NO_STATE;
}

bool clog2_event_fits(struct clog2_writer *clog2, const struct event *event)
{
    struct writer *writer = &clog2->writer;
    static const char *const kinds[] = {[EVENT_RMA] = "one-sided operations", [EVENT_IO] = "I/O operations"};
    if (event->kind == EVENT_COUNTER && writer->defs->marks[event->state].counter.type == COUNTER_NONE) {
        writer_lose(writer, "counters", 1);
        return false;
    }
    if (event->kind == EVENT_RMA || event->kind == EVENT_IO) {
        writer_lose(writer, kinds[event->kind], 1);
        return false;
    }
    if (event->kind == EVENT_SAMPLE && !clog2_paths_fit(writer->defs)) {
        writer_lose(writer, "samples", 1);
        return false;
    }
    if (event->kind != EVENT_SEND && event->kind != EVENT_RECEIVE)
        return true;
    writer_lose(writer, "messages to or from MPI_PROC_NULL", event->partner == PARTNER_NONE);
    writer_lose(writer, "messages with an unknown partner", event->partner == EVENT_UNKNOWN);
    return event->partner >= 0;
}

void clog2_count_lost_definitions(struct clog2_writer *clog2)
{
    const struct defs *defs = clog2->writer.defs;
    for (size_t i = 0; i < defs->state_count; i++)
        writer_lose(&clog2->writer, "source lines of regions", defs->states[i].file != NULL);
    for (size_t i = 0; i < defs->comm_count; i++)
        writer_lose(&clog2->writer, "names of communicators", defs->comms[i].name != NULL);
    for (size_t i = 0; i < defs->location_count; i++)
        writer_lose(&clog2->writer, "names of processes and threads",
                    defs->locations[i].name || defs->locations[i].process_name);
}

void clog2_note_definition(struct clog2_writer *clog2, const struct event *event)
{
    size_t kind = (size_t)event->value;
    size_t before = clog2->defined_count[kind];
    if (event->state >= before) {
        ARRAY_RESERVE(clog2->defined[kind], clog2->defined_count[kind], (size_t)event->state + 1);
        memset(&clog2->defined[kind][before], 0, clog2->defined_count[kind] - before);
    }
    clog2->defined[kind][event->state] = true;
}
