/* SPDX-License-Identifier: BSD-3-Clause */
/* ALOG as upshot, nupshot and today's readers take it: exact header, definitions, then events by time. Rules: alog(5).
 */
#include "convert/mpe1/mpe1.h"
#include "convert/writer.h"
#include "core/event_pack.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/sorter.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

enum { COMMENT_LIMIT = 99, ID_NONE = -1 };

struct alog_writer {
    struct writer writer; /* first */
    struct sorter *sorter;
    uint64_t comm_records, communicators, shifts, collectives, counters, others, threads, payloads, tags, sizes,
        partners, details;
    uint64_t texts, fractions; /* comments cut; times that are not whole us after the first event's */
    int64_t first_ns;
    int32_t *starts, *ends, *marks; /* event ids given, by index */
    struct map taken;               /* ids in use */
    int32_t next_id;
    struct map calls; /* (process, state) -> calls so far: MPE-1's counter in `data` */
    struct map types; /* ids that occur, for the header */
    bool any;
    int64_t first_us, last_us;
    uint32_t processes;
};

/* Rounded down, also below 0, as MPE's converter does. */
static int64_t whole_us(int64_t ns)
{
    if (ns >= 0)
        return ns / 1000;
    return -((-ns + 999) / 1000);
}

static enum status alog_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    struct alog_writer *alog = (struct alog_writer *)sink;
    alog->writer.defs = defs;
    return STATUS_OK;
}

/* True for events that ALOG has a line for; counts the others. */
static bool event_fits(struct alog_writer *alog, const struct event *event)
{
    switch (event->kind) {
    case EVENT_COMM_MADE:
    case EVENT_COMM_FREED:
    case EVENT_NEIGHBOURS:
        alog->comm_records++;
        return false;
    case EVENT_SHIFT:
        alog->shifts++;
        return false;
    case EVENT_COLLECTIVE:
        alog->collectives++;
        return false;
    case EVENT_COUNTER:
        alog->counters++;
        return false;
    case EVENT_RMA:
    case EVENT_IO:
    case EVENT_SAMPLE:
        alog->others++;
        return false;
    case EVENT_DEFINITION:
        return false;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        if (event->partner == EVENT_UNKNOWN)
            alog->partners++;
        return event->partner != EVENT_UNKNOWN;
    default:
        return true;
    }
}

static void count_losses(struct alog_writer *alog, const struct event *event)
{
    bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    alog->threads += event->thread > 0;
    alog->payloads += event->payload_length > 0 && (message || !(event->flags & EVENT_PAYLOAD_TEXT));
    alog->details +=
        event->request || event->site || (!message && (event->bytes_sent >= 0 || event->bytes_received >= 0));
    if (!message)
        return;
    alog->tags += event->tag == EVENT_UNKNOWN;
    alog->sizes += (event->kind == EVENT_SEND ? event->bytes_sent : event->bytes_received) < 0;
    alog->communicators += event->comm != EVENT_UNKNOWN && !alog->writer.defs->comms[event->comm].world;
}

/* Sorted by time over all processes, as old viewers expect. */
static enum status alog_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct alog_writer *alog = (struct alog_writer *)sink;
    unsigned char *packed = memory_resize(NULL, EVENT_PACK_MAX + batch->arena_length);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < batch->count && status == STATUS_OK; i++) {
        const struct event *event = &batch->events[i];
        if (!event_fits(alog, event))
            continue;
        count_losses(alog, event);
        struct sort_key key = {.major = sort_key_signed(event->time_ns), .minor = event->process};
        size_t length = event_pack(packed, event, batch->arena);
        int64_t us = whole_us(event->time_ns);
        if (!alog->any || event->time_ns < alog->first_ns)
            alog->first_ns = event->time_ns;
        if (!alog->any || us < alog->first_us)
            alog->first_us = us;
        if (!alog->any || us > alog->last_us)
            alog->last_us = us;
        alog->any = true;
        if (event->process >= alog->processes)
            alog->processes = event->process + 1;
        status = sorter_add(alog->sorter, key, packed, length, err);
    }
    free(packed);
    return status;
}

static bool take_id(struct alog_writer *alog, int32_t id)
{
    uint64_t *place = id >= 0 ? map_put(&alog->taken, (uint32_t)id, 0) : NULL;
    return place && (*place)++ == 0;
}

/* Above MPE's own, whose meaning readers know by their number. */
static int32_t fresh_id(struct alog_writer *alog)
{
    while (!take_id(alog, alog->next_id))
        alog->next_id++;
    return alog->next_id;
}

/* Ids of the source are kept if they are free and complete; all others get ids above MPE's own. */
static void give_ids(struct alog_writer *alog)
{
    const struct defs *defs = alog->writer.defs;
    alog->starts = memory_new(defs->state_count * sizeof *alog->starts);
    alog->ends = memory_new(defs->state_count * sizeof *alog->ends);
    alog->marks = memory_new(defs->mark_count * sizeof *alog->marks);
    alog->next_id = MPE1_USER_EVENTS;
    for (size_t i = 0; i < defs->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        bool keep = !state->shadowed && state->start >= 0 && state->end >= 0 && state->start != state->end &&
                    !map_find(&alog->taken, (uint32_t)state->start) && !map_find(&alog->taken, (uint32_t)state->end);
        alog->starts[i] = keep && take_id(alog, state->start) ? state->start : ID_NONE;
        alog->ends[i] = keep && take_id(alog, state->end) ? state->end : ID_NONE;
    }
    for (size_t i = 0; i < defs->mark_count; i++)
        alog->marks[i] = !defs->marks[i].shadowed && take_id(alog, defs->marks[i].id) ? defs->marks[i].id : ID_NONE;
    for (size_t i = 0; i < defs->state_count; i++)
        if (alog->starts[i] == ID_NONE) {
            alog->starts[i] = fresh_id(alog);
            alog->ends[i] = fresh_id(alog);
        }
    for (size_t i = 0; i < defs->mark_count; i++)
        if (alog->marks[i] == ID_NONE)
            alog->marks[i] = fresh_id(alog);
}

/* Latin-1, one line, not longer than old readers take. free(). */
static char *comment_text(struct alog_writer *alog, const char *utf8)
{
    char *text = writer_latin1(&alog->writer, utf8);
    if (strlen(text) > COMMENT_LIMIT) {
        text[COMMENT_LIMIT] = '\0';
        writer_lose(&alog->writer, "ends of long names", 1);
    }
    for (char *at = text; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    return text;
}

/* "colour:bitmap" without blanks; old readers want one. It is ASCII (X11's names). */
static void colour_text(char *at, size_t size, const char *colour)
{
    size_t used = 0;
    for (; colour && *colour && used + 6 < size; colour++)
        if (*colour > ' ' && *colour < 0x7f)
            at[used++] = *colour;
    at[used] = '\0';
    if (used == 0)
        snprintf(at, size, "white:gray");
    else if (!strchr(at, ':'))
        snprintf(at + used, size - used, ":gray");
}

static void write_definitions(struct alog_writer *alog)
{
    const struct defs *defs = alog->writer.defs;
    struct output *output = alog->writer.output;
    for (size_t i = 0; i < defs->mark_count; i++) {
        if (!defs->marks[i].defined && defs->marks[i].id == alog->marks[i])
            continue; /* its name is its number */
        char *name = comment_text(alog, defs->marks[i].name);
        output_print(output, "-9 0 0 %d 0 0 %s\n", (int)alog->marks[i], name);
        writer_lose(&alog->writer, "formats of payloads", defs->marks[i].format != NULL);
        writer_lose(&alog->writer, "colours of single events", defs->marks[i].colour != NULL);
        free(name);
    }
    for (size_t i = 0; i < defs->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        char colour[64];
        /* Above MPE's own ids its spelling would be a user's state. */
        bool own = state->original && alog->starts[i] < MPE1_USER_EVENTS;
        char *name = comment_text(alog, own ? state->original : state->name);
        /* A colour alone would be read as the name. */
        colour_text(colour, sizeof colour, state->colour);
        output_print(output, "-13 0 %d %d 0 0 %s %s\n", (int)alog->starts[i], (int)alog->ends[i], *name ? colour : "",
                     name);
        writer_lose(&alog->writer, "formats of payloads", state->format != NULL);
        free(name);
    }
}

static int32_t event_id(const struct alog_writer *alog, const struct event *event)
{
    switch (event->kind) {
    case EVENT_ENTER:
        return alog->starts[event->state];
    case EVENT_LEAVE:
        return alog->ends[event->state];
    case EVENT_MARK:
        return alog->marks[event->state];
    default:
        if (event->kind == EVENT_SEND)
            return MPE1_SEND;
        return MPE1_RECEIVE;
    }
}

/* The `data` of a line: the partner; the source's own number; for MPI functions without one MPE-1's counter, which is
   raised at the enter and at the leave. */
static int64_t event_data(struct alog_writer *alog, const struct event *event)
{
    if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE)
        return event->partner;
    if (event->value != 0 || event->kind > EVENT_LEAVE || !alog->writer.defs->states[event->state].is_mpi)
        return event->value;
    uint64_t *calls = map_put(&alog->calls, map_pair(event->process, event->state), 0);
    if (event->kind == EVENT_ENTER)
        return (int64_t)(++*calls * 2 - 1);
    return (int64_t)(*calls * 2);
}

static char *put_number(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    at = text_put_u64(at, magnitude_of(value));
    *at++ = ' ';
    return at;
}

/* An event's text on its line: nothing that ends the line, not longer than old readers take. */
static void write_comment(struct alog_writer *alog, const struct event *event, const unsigned char *packed)
{
    struct output *output = alog->writer.output;
    size_t length;
    char *made;
    const unsigned char *text = writer_event_text(&alog->writer, event, packed, &length, &made);
    alog->texts += length > COMMENT_LIMIT;
    if (length > COMMENT_LIMIT)
        length = COMMENT_LIMIT;
    unsigned char *at = output_room(output, length);
    for (size_t i = 0; i < length; i++)
        *at++ = text[i] == '\n' || text[i] == '\r' || text[i] == '\0' ? ' ' : text[i];
    output->at = at;
    free(made);
}

/* "type process task data cycle time comment": task and cycle are 0, as MPE writes them. */
static void write_event(struct alog_writer *alog, const struct event *event, const unsigned char *packed)
{
    struct output *output = alog->writer.output;
    bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    char *at = (char *)output_room(output, 256);
    at = put_number(at, event_id(alog, event));
    at = put_number(at, event->process);
    at = put_number(at, 0);
    at = put_number(at, event_data(alog, event));
    at = put_number(at, 0);
    at = put_number(at, whole_us(event->time_ns) - alog->first_us);
    if (message) {
        int64_t bytes = event->kind == EVENT_SEND ? event->bytes_sent : event->bytes_received;
        at = put_number(at, event->tag == EVENT_UNKNOWN ? 0 : event->tag);
        at = put_number(at, larger(bytes, 0)) - 1;
    }
    output->at = (unsigned char *)at;
    if (!message && event->payload_length > 0 && (event->flags & EVENT_PAYLOAD_TEXT))
        write_comment(alog, event, packed);
    output_write(output, "\n", 1);
}

/* One round over the sorted events: counts the types that occur, or writes the lines. */
static enum status each_event(struct alog_writer *alog, bool write, struct error *err)
{
    struct sort_key key;
    const void *packed;
    size_t length;
    enum status status = sorter_rewind(alog->sorter, err);
    if (status != STATUS_OK)
        return status;
    while ((status = sorter_next(alog->sorter, &key, &packed, &length, err)) == STATUS_OK) {
        struct event event;
        event_unpack(&event, packed);
        event.time_ns = (int64_t)(key.major ^ UINT64_C(1) << 63);
        event.process = (uint32_t)key.minor;
        if (write) {
            write_event(alog, &event, packed);
            alog->fractions += (event.time_ns - alog->first_ns) % 1000 != 0;
        } else {
            map_put(&alog->types, (uint32_t)event_id(alog, &event), 0);
        }
    }
    if (status == STATUS_END)
        return STATUS_OK;
    return status;
}

static void write_header(struct alog_writer *alog)
{
    /* In the order and with the words of MPE's own converter, so that both can be compared byte by byte. */
    uint32_t declared = alog->writer.defs->processes;
    output_print(alog->writer.output,
                 "-1 0 0 0 0 0 Me\n-2 0 0 %llu 0 0\n-3 0 0 %u 0 0\n-4 0 0 1 0 0\n-5 0 0 %zu 0 0\n-6 0 0 0 0 0\n"
                 "-7 0 0 0 0 %lld\n-8 0 0 1 0 0\n-11 0 0 0 0 0\n",
                 (unsigned long long)sorter_count(alog->sorter), larger(declared, alog->processes), alog->types.count,
                 (long long)(alog->last_us - alog->first_us));
}

/* Once each, with a count, and in words that say what a user loses. */
static void report_losses(struct alog_writer *alog)
{
    struct writer *writer = &alog->writer;
    writer_lose_properties(writer, (const char *const[]){NULL});
    writer_lose(writer, "times below a microsecond", alog->fractions);
    writer_lose(writer, "ends of long texts", alog->texts);
    writer_lose(writer, "communicators created and freed", alog->comm_records);
    writer_lose(writer, "communicators of messages", alog->communicators);
    writer_lose(writer, "threads of events", alog->threads);
    writer_lose(writer, "payloads", alog->payloads);
    writer_lose(writer, "clock shifts", alog->shifts);
    writer_lose(writer, "constants", writer->defs->constant_count);
    writer_lose(writer, "source locations", writer->defs->site_count);
    writer_lose(writer, "collective records", alog->collectives);
    writer_lose(writer, "counters", alog->counters);
    writer_lose(&alog->writer, "one-sided and I/O operations, and samples", alog->others);
    writer_lose(writer, "unknown message tags", alog->tags);
    writer_lose(writer, "unknown message sizes", alog->sizes);
    writer_lose(writer, "messages with an unknown partner", alog->partners);
    writer_lose(writer, "sizes, requests or sites of calls", alog->details);
}

static enum status alog_end(struct sink *sink, const struct trace_end *end, struct error *err)
{
    (void)end;
    struct alog_writer *alog = (struct alog_writer *)sink;
    give_ids(alog);
    if (each_event(alog, false, err) != STATUS_OK)
        return STATUS_FAILED;
    write_header(alog);
    write_definitions(alog);
    enum status status = each_event(alog, true, err);
    report_losses(alog);
    return status;
}

static struct writer *alog_create(void)
{
    struct alog_writer *alog = memory_new(sizeof *alog);
    alog->writer.sink = (struct sink){.begin = alog_begin, .events = alog_events, .end = alog_end};
    alog->sorter = sorter_new(WRITER_SORT_MEMORY);
    return &alog->writer;
}

static void alog_free(struct writer *writer)
{
    struct alog_writer *alog = (struct alog_writer *)writer;
    sorter_free(alog->sorter);
    free(alog->starts);
    free(alog->ends);
    free(alog->marks);
    map_clear(&alog->taken);
    map_clear(&alog->calls);
    map_clear(&alog->types);
    free(alog);
}

const struct writer_format writer_format_alog = {
    .name = "alog", .title = "ALOG", .suffix = ".alog", .create = alog_create, .dispose = alog_free};
