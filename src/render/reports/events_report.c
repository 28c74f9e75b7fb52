/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/events_report.h"

#include "core/numbers.h"
#include "core/payload.h"

#include <stdlib.h>

enum { TEXT_SIZE = 1000 };

/* Of a row: the event, and its payload as text. */
struct event_line {
    const struct event *event;
    char text[TEXT_SIZE];
};

static const char *const kinds[] = {[EVENT_ENTER] = "enter",
                                    [EVENT_LEAVE] = "leave",
                                    [EVENT_SEND] = "send",
                                    [EVENT_RECEIVE] = "receive",
                                    [EVENT_COLLECTIVE] = "collective",
                                    [EVENT_MARK] = "mark",
                                    [EVENT_COUNTER] = "counter",
                                    [EVENT_RMA] = "rma",
                                    [EVENT_IO] = "io",
                                    [EVENT_SAMPLE] = "sample"};

static bool is_mark(const struct event *event)
{
    return event->kind == EVENT_MARK || event->kind == EVENT_COUNTER;
}

static bool is_message(const struct event *event)
{
    return event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
}

static const char *name_of(const struct defs *defs, const struct event *event)
{
    if (event->kind <= EVENT_LEAVE)
        return defs->states[event->state].name;
    if (is_mark(event))
        return defs->marks[event->state].name;
    if (event->kind == EVENT_SAMPLE)
        return defs_path_name(defs, event->state);
    if (event->kind == EVENT_RMA)
        return rma_step_name(event->value);
    if (event->kind == EVENT_IO)
        return io_step_name(event->value);
    return NULL;
}

static struct value known(int32_t number)
{
    return value_if(number != EVENT_UNKNOWN, value_integer(number));
}

static struct value known_bytes(int64_t bytes)
{
    return value_if(bytes >= 0, value_bytes((uint64_t)bytes));
}

static struct value known_text(const char *text)
{
    return value_if(text && *text, value_text(text));
}

static struct value value_of(const struct defs *defs, const struct event *event)
{
    if (event->kind == EVENT_COUNTER) {
        /* The event keeps 64 bits; the definition of the counter says what they mean. */
        switch (defs->marks[event->state].counter.type) {
        case COUNTER_DOUBLE:
            return value_ratio(event_double(event));
        case COUNTER_UINT64:
            return value_count((uint64_t)event->value);
        default:
            return value_integer(event->value);
        }
    }
    /* 0 stands for no value. */
    return value_if(event->kind == EVENT_MARK && event->value, value_integer(event->value));
}

static const struct site_def *site_of(const struct defs *defs, const struct event *event)
{
    /* Sites are numbered from 1 on in events: 0 is a call whose place is not known. */
    if (event->site == 0)
        return NULL;
    return &defs->sites[event->site - 1];
}

static struct value line_of(const struct site_def *site)
{
    if (!site)
        return value_null();
    return value_if(site->line > 0, value_integer(site->line));
}

#define GET(name, expression)                                                                                          \
    static struct value name(const void *context, const void *row)                                                     \
    {                                                                                                                  \
        const struct defs *defs = context;                                                                             \
        const struct event_line *line = row;                                                                           \
        const struct event *event = line->event;                                                                       \
        (void)defs;                                                                                                    \
        (void)event;                                                                                                   \
        return expression;                                                                                             \
    }
GET(event_time, value_time(event->time_ns))
GET(event_rank, value_count(event->process))
GET(event_thread, value_count(event->thread))
GET(event_kind, value_text(kinds[event->kind]))
GET(event_name, known_text(name_of(defs, event)))
GET(event_communicator, event->comm < 0 ? value_null() : value_integer(defs->comms[event->comm].id))
GET(event_partner, known(event->partner))
/* The same member holds the tag of a message and the root of a collective. */
GET(event_tag, value_if(is_message(event), known(event->tag)))
GET(event_root, value_if(event->kind == EVENT_COLLECTIVE, known(event->tag)))
GET(event_sent, known_bytes(event->bytes_sent))
GET(event_received, known_bytes(event->bytes_received))
GET(event_value, value_of(defs, event))
GET(event_file, site_of(defs, event) ? known_text(site_of(defs, event)->file) : value_null())
GET(event_line_number, line_of(site_of(defs, event)))
GET(event_text, known_text(line->text))

static const struct field fields[] = {{"time_s", NULL, event_time},
                                      {"rank", NULL, event_rank},
                                      {"thread", NULL, event_thread},
                                      {"kind", NULL, event_kind},
                                      {"name", NULL, event_name},
                                      {"communicator", NULL, event_communicator},
                                      {"partner", NULL, event_partner},
                                      {"tag", NULL, event_tag},
                                      {"root", NULL, event_root},
                                      {"bytes_sent", NULL, event_sent},
                                      {"bytes_received", NULL, event_received},
                                      {"value", NULL, event_value},
                                      {"file", NULL, event_file},
                                      {"line", NULL, event_line_number},
                                      {"text", NULL, event_text}};
enum { FIELDS = sizeof fields / sizeof *fields };

static enum status events_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct events_report *report = (struct events_report *)sink;
    (void)err;
    report->defs = defs;
    if (!report->json)
        /* JSON repeats the names with each event. */
        csv_header(report->output, fields, FIELDS);
    return STATUS_OK;
}

static int rank_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return order_by(left, right);
}

static bool is_wanted(const struct events_report *report, const struct event *event)
{
    if (!event_counts(event) || !report->ranks)
        return event_counts(event);
    return bsearch(&event->process, report->ranks, report->rank_count, sizeof *report->ranks, rank_compare) != NULL;
}

static const char *format_of(const struct defs *defs, const struct event *event)
{
    if (is_mark(event))
        return defs->marks[event->state].format;
    return defs->states[event->state].format;
}

static void take_text(const struct events_report *report, struct event_line *line, const unsigned char *arena)
{
    const struct event *event = line->event;
    line->text[0] = '\0';
    /* Payloads of other kinds hold what formats keep of their own, no text for people. */
    if (event->payload_length > 0 && (event->kind <= EVENT_LEAVE || event->kind == EVENT_MARK))
        payload_event_text(line->text, sizeof line->text, format_of(report->defs, event), event, arena);
}

static enum status events_take(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct events_report *report = (struct events_report *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        struct event_line line = {.event = &batch->events[i]};
        if (!is_wanted(report, line.event))
            continue;
        take_text(report, &line, batch->arena);
        if (report->json)
            json_line(report->output, fields, FIELDS, report->defs, &line);
        else
            csv_row(report->output, fields, FIELDS, report->defs, &line);
    }
    if (report->output->fault.kind == ERROR_NONE)
        return STATUS_OK;
    *err = report->output->fault; /* the output has no reader: the rest of the trace need not be read */
    return STATUS_FAILED;
}

struct events_report events_report_to(struct output *output, bool json, const uint32_t *ranks, size_t rank_count)
{
    return (struct events_report){.sink = {.begin = events_begin, .events = events_take},
                                  .output = output,
                                  .json = json,
                                  .ranks = ranks,
                                  .rank_count = rank_count};
}
