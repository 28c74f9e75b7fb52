/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a Pajé trace in order of time. */
#include "convert/paje/write_paje.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 512 };

static struct paje_writer *paje_of(struct sink *sink)
{
    return (struct paje_writer *)(void *)sink;
}

static enum status paje_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    paje_of(sink)->writer.defs = defs;
    return STATUS_OK;
}

static enum status paje_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    return by_location_add(paje_of(sink)->by, batch, err);
}

/* A line being made: its number and time, the type, and the container. */
static char *put_word(char *at, char letter, uint64_t number)
{
    *at++ = ' ';
    *at++ = letter;
    return text_put_u64(at, number);
}

/* A main thread is its process's container; others have one of their own, below it. */
static char *put_container(char *at, uint32_t process, uint32_t thread)
{
    at = put_word(at, 'p', process);
    if (thread == 0)
        return at;
    *at++ = 't';
    return text_put_u64(at, thread);
}

/* Times count from 0, as all of by_location's do. */
static char *put_begin(char *at, unsigned kind, int64_t time_ns)
{
    at = text_put_u64(at, kind);
    *at++ = ' ';
    return paje_put_time(at, time_ns);
}

static enum status add_line(struct paje_writer *paje, int64_t time_ns, char line[LINE_SIZE], char *end,
                            struct error *err)
{
    *end++ = '\n';
    /* pj_dump refuses a file in which time goes back anywhere. Lines of one time stay in the order they were made
       in: that of each location, so that a state is popped before the next is pushed. */
    struct sort_key key = {(uint64_t)time_ns, paje->order++};
    return sorter_add(paje->lines, key, line, (size_t)(end - line), err);
}

/* Types of states, values and variables are defined for processes, for threads, or both, as they occur. */
static unsigned char place_bit(uint32_t thread)
{
    if (thread == 0)
        return PAJE_IN_PROCESS;
    return PAJE_IN_THREAD;
}

static enum status add_state(struct paje_writer *paje, const struct placed *placed, struct error *err)
{
    const struct event *event = &placed->event;
    bool enters = event->kind == EVENT_ENTER, thread = event->thread > 0;
    char line[LINE_SIZE], *at = put_begin(line, enters ? PAJE_PUSHES : PAJE_POPS, event->time_ns);
    at = put_word(at, thread ? 'T' : 'S', (uint64_t)placed->lane);
    at = put_container(at, event->process, event->thread);
    if (enters)
        at = put_word(at, thread ? 'W' : 'V', event->state);
    paje->states_used[event->state] |= place_bit(event->thread);
    paje->open += enters ? 1 : UINT64_MAX;
    return add_line(paje, event->time_ns, line, at, err);
}

/* Keys are SimGrid's, with the number of the message in place of its counter. */
static char *put_key(char *at, const struct placed *placed)
{
    const struct event *event = &placed->event;
    bool sends = event->kind == EVENT_SEND;
    at = put_word(at, '"', sends ? event->process + 1 : (uint64_t)event->partner + 1);
    *at++ = '_';
    at = text_put_u64(at, sends ? (uint64_t)event->partner + 1 : event->process + 1);
    *at++ = '_';
    if (event->tag < 0)
        *at++ = '-';
    at = text_put_u64(at, magnitude_of(event->tag));
    *at++ = '_';
    at = text_put_u64(at, placed->message);
    *at++ = '"';
    return at;
}

static enum status add_end(struct paje_writer *paje, const struct placed *placed, struct error *err)
{
    const struct event *event = &placed->event;
    unsigned kind = PAJE_ENDS;
    /* pj_dump ends with an error at a link without its other end. */
    if (placed->message == 0)
        return STATUS_OK;
    if (event->kind == EVENT_SEND)
        kind = event->bytes_sent < 0 ? PAJE_STARTS_UNKNOWN : PAJE_STARTS;
    char line[LINE_SIZE], *at = put_begin(line, kind, event->time_ns);
    /* The link's type, its container (the root, which both ends are in) and value; the end is at a process, as links
       have one type of container. */
    static const char rest[] = " L 0 m";
    memcpy(at, rest, sizeof rest - 1);
    at = put_container(at + sizeof rest - 1, event->process, 0);
    at = put_key(at, placed);
    if (kind == PAJE_STARTS) {
        *at++ = ' ';
        at = text_put_u64(at, (uint64_t)event->bytes_sent);
    }
    return add_line(paje, event->time_ns, line, at, err);
}

static char *put_value(char *at, enum counter_type type, const struct event *event)
{
    double real = event_double(event);
    if (type == COUNTER_DOUBLE)
        /* 17 digits give every double back. Infinities and NaN are no numbers to readers. */
        return at + sprintf(at, " %.17g", isfinite(real) ? real : 0);
    *at++ = ' ';
    if (type == COUNTER_UINT64 || event->value >= 0)
        return text_put_u64(at, (uint64_t)event->value);
    *at++ = '-';
    return text_put_u64(at, 0 - (uint64_t)event->value);
}

/* Events are values of one type, variables are types of their own. */
static enum status add_mark(struct paje_writer *paje, const struct event *event, struct error *err)
{
    bool counter = event->kind == EVENT_COUNTER, thread = event->thread > 0;
    enum counter_type type = paje->writer.defs->marks[event->state].counter.type;
    char line[LINE_SIZE], *at = put_begin(line, counter ? PAJE_SETS : PAJE_HAPPENS, event->time_ns);
    if (counter) {
        at = put_word(at, thread ? 'D' : 'C', event->state);
        at = put_container(at, event->process, event->thread);
        at = put_value(at, type, event);
    } else {
        at = put_word(at, thread ? 'F' : 'E', 0);
        at = put_container(at, event->process, event->thread);
        at = put_word(at, thread ? 'N' : 'M', event->state);
    }
    paje->marks_used[event->state] |= (unsigned char)(place_bit(event->thread) << (counter ? 2 : 0));
    writer_lose(&paje->writer, "payloads", event->payload_length > 0);
    writer_lose(&paje->writer, "counters that are no number",
                counter && type == COUNTER_DOUBLE && !isfinite(event_double(event)));
    return add_line(paje, event->time_ns, line, at, err);
}

static void count_losses(struct writer *writer, const struct event *event)
{
    bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    bool state = event->kind <= EVENT_LEAVE;
    writer_lose(writer, "communicators of messages and calls",
                event->comm >= 0 && !writer->defs->comms[event->comm].world);
    writer_lose(writer, "threads of messages", message && event->thread > 0);
    writer_lose(writer, "places of calls in the source", event->kind == EVENT_ENTER && event->site > 0);
    writer_lose(writer, "roots and bytes of calls",
                event->kind == EVENT_COLLECTIVE ||
                    (state && (event->tag != EVENT_UNKNOWN || event->bytes_sent >= 0 || event->bytes_received >= 0)));
    writer_lose(writer, "payloads", state && event->payload_length > 0);
    writer_lose(writer, "requests", event->requests > 0);
    writer_lose(writer, "one-sided operations", event->kind == EVENT_RMA);
    writer_lose(writer, "operations on files", event->kind == EVENT_IO);
    writer_lose(writer, "samples", event->kind == EVENT_SAMPLE);
}

static enum status paje_visit(void *context, const struct placed *placed, struct error *err)
{
    struct paje_writer *paje = context;
    count_losses(&paje->writer, &placed->event);
    switch (placed->event.kind) {
    case EVENT_ENTER:
    case EVENT_LEAVE:
        return add_state(paje, placed, err);
    case EVENT_SEND:
    case EVENT_RECEIVE:
        return add_end(paje, placed, err);
    case EVENT_MARK:
    case EVENT_COUNTER:
        return add_mark(paje, &placed->event, err);
    default:
        return STATUS_OK;
    }
}

static void begin_location(void *context, uint32_t process, uint32_t thread)
{
    struct paje_writer *paje = context;
    if (thread >= paje->threads[process])
        paje->threads[process] = thread + 1;
    paje->open = 0;
}

static enum status end_location(void *context, struct error *err)
{
    struct paje_writer *paje = context;
    (void)err;
    writer_lose(&paje->writer, "states that do not end: they last until the end", paje->open);
    return STATUS_OK;
}

static enum status write_lines(struct paje_writer *paje, struct error *err)
{
    struct sort_key key;
    const void *line;
    size_t length;
    enum status status = sorter_rewind(paje->lines, err);
    while (status == STATUS_OK && (status = sorter_next(paje->lines, &key, &line, &length, err)) == STATUS_OK)
        output_write(paje->writer.output, line, length);
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

static enum status paje_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    static const struct location_visitor visitor = {.begin = begin_location, .event = paje_visit, .end = end_location};
    struct paje_writer *paje = paje_of(sink);
    const struct defs *defs = paje->writer.defs;
    (void)end;
    paje->threads = memory_new(by_location_processes(paje->by) * sizeof *paje->threads);
    paje->states_used = memory_new(defs->state_count);
    paje->marks_used = memory_new(defs->mark_count);
    if (by_location_walk(paje->by, &visitor, paje, err) != STATUS_OK)
        return STATUS_FAILED;
    writer_lose_properties(&paje->writer, (const char *const[]){NULL});
    by_location_lose_ends(paje->by);
    /* After the walk, as definitions are only of what occurs; the lines wait in the sorter. */
    paje_write_head(paje);
    if (write_lines(paje, err) != STATUS_OK)
        return STATUS_FAILED;
    paje_write_tail(paje);
    return STATUS_OK;
}

static struct writer *paje_create(void)
{
    struct paje_writer *paje = memory_new(sizeof *paje);
    paje->writer.sink = (struct sink){.begin = paje_begin, .events = paje_events, .end = paje_end};
    paje->by = by_location_new(&paje->writer);
    paje->lines = sorter_new(WRITER_SORT_MEMORY);
    return &paje->writer;
}

static void paje_free(struct writer *writer)
{
    struct paje_writer *paje = (struct paje_writer *)(void *)writer;
    by_location_free(paje->by);
    sorter_free(paje->lines);
    free(paje->states_used);
    free(paje->marks_used);
    free(paje->threads);
    free(paje);
}

const struct writer_format writer_format_paje = {.name = "paje",
                                                 .title = "Pajé",
                                                 .suffix = ".trace",
                                                 .other_suffix = ".paje",
                                                 .create = paje_create,
                                                 .dispose = paje_free};
