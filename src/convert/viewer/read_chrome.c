/* SPDX-License-Identifier: BSD-3-Clause */
/* Chrome's trace events in JSON: of viewers' many writers, and sight's own. Facts: chrome(5). */
#include "convert/viewer/chrome_json.h"
#include "convert/viewer/slices.h"

#include "core/memory.h"
#include "core/xml_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chrome_state {
    struct slices *slices;
    struct map hidden; /* tracks of sight's waits */
    char *findings;    /* the process of sight's findings; NULL: there is none */
    struct reader *reader;
};

static bool has(const unsigned char *data, size_t size, const char *word)
{
    return memmem(data, size, word, strlen(word)) != NULL;
}

/* "traceEvents" of an object, or an array of objects with the member that all events have. */
static int chrome_probe(const unsigned char *data, size_t size)
{
    size_t at = size >= CHROME_MARK_SIZE && memcmp(data, CHROME_MARK, CHROME_MARK_SIZE) == 0 ? CHROME_MARK_SIZE : 0;
    while (at < size && isspace(data[at]))
        at++;
    if (at == size || (data[at] != '{' && data[at] != '['))
        return 0;
    if (data[at] == '{' && has(data, size, "\"traceEvents\""))
        return 90;
    bool events = has(data, size, "\"ph\"") && has(data, size, "\"pid\"");
    if (data[at] == '[' && events && has(data, size, "\"ts\""))
        return 70;
    return 0;
}

static bool time_of(const char *text, int64_t *ns)
{
    return xml_get_time((struct xml_value){text, strlen(text)}, ns);
}

static int32_t number_of(const char *text)
{
    long number = strtol(text, NULL, 10);
    return *text && number >= 0 && number <= INT32_MAX ? (int32_t)number : EVENT_UNKNOWN;
}

/* "file.c:12" and a function, as sight writes where a call comes from. */
static uint32_t site_of(const struct chrome_state *state, const struct chrome_event *event)
{
    const char *source = event->args.source.text, *colon = strrchr(source, ':');
    if (!colon || !isdigit((unsigned char)colon[1]))
        return 0;
    char *file = strndup(source, (size_t)(colon - source));
    int32_t line = number_of(colon + 1);
    uint32_t site = slices_site(state->slices, file, line == EVENT_UNKNOWN ? 0 : line, event->args.function.text);
    free(file);
    return site;
}

static bool is_message(const struct chrome_event *event)
{
    return strcmp(event->cat.text, "message") == 0 && (*event->args.to.text || *event->args.from.text);
}

static enum status take_message(struct chrome_state *state, uint32_t track, int64_t time_ns,
                                const struct chrome_event *event, struct error *err)
{
    bool sends = *event->args.to.text;
    struct event end = EVENT_NOTHING;
    int64_t bytes = *event->args.bytes.text ? strtoll(event->args.bytes.text, NULL, 10) : BYTES_UNKNOWN;
    end.kind = sends ? EVENT_SEND : EVENT_RECEIVE;
    end.partner = number_of(sends ? event->args.to.text : event->args.from.text);
    end.tag = number_of(event->args.tag.text);
    if (sends)
        end.bytes_sent = bytes;
    else
        end.bytes_received = bytes;
    return slices_message(state->slices, track, time_ns, end, err);
}

/* Each number among the arguments is a counter. */
static enum status take_counters(struct chrome_state *state, uint32_t track, int64_t time_ns,
                                 const struct chrome_event *event, struct error *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < event->series_count && status == STATUS_OK; i++) {
        const struct chrome_series *series = &event->series[i];
        char *name;
        bool alone = event->series_count == 1 && strcmp(series->name.text, "value") == 0;
        if (asprintf(&name, "%s%s%s", event->name.text, alone ? "" : " ", alone ? "" : series->name.text) < 0)
            memory_failed();
        status = slices_counter(state->slices, track, time_ns, name, series->value, err);
        free(name);
    }
    return status;
}

/* sight's own waits and findings are no events of the program. */
static void take_name(struct chrome_state *state, const struct chrome_event *event, bool ours)
{
    const char *name = event->args.name.text;
    if (strcmp(event->name.text, "process_name") == 0) {
        if (ours && strcmp(name, "findings") == 0) {
            free(state->findings);
            state->findings = memory_copy_string(event->pid.text);
        }
        slices_name_process(state->slices, event->pid.text, name);
        return;
    }
    if (strcmp(event->name.text, "thread_name") != 0)
        return;
    uint32_t track = slices_track(state->slices, event->pid.text, event->tid.text);
    slices_name_thread(state->slices, track, name);
    if (ours && strncmp(name, "waits", 5) == 0)
        map_put(&state->hidden, track, 1);
}

static enum status take_slice(struct chrome_state *state, uint32_t track, int64_t time_ns,
                              const struct chrome_event *event, struct error *err)
{
    int64_t duration_ns = 0;
    switch (*event->ph.text) {
    case 'B':
        return slices_begin(state->slices, track, time_ns, event->name.text, site_of(state, event), err);
    case 'E':
        return slices_end(state->slices, track, time_ns, err);
    default:
        if (*event->dur.text &&
            (!time_of(event->dur.text, &duration_ns) || duration_ns < 0 || time_ns > INT64_MAX - duration_ns))
            reader_count(state->reader, "slice with a duration that cannot be", 1);
        else
            return slices_whole(state->slices, track, time_ns, duration_ns, event->name.text, site_of(state, event),
                                err);
        return STATUS_OK;
    }
}

static enum status take_event(void *context, const struct chrome_event *event, const struct chrome_facts *facts,
                              struct error *err)
{
    struct chrome_state *state = context;
    bool ours = strcmp(facts->creator.text, "SIGHT") == 0;
    char kind = *event->ph.text;
    int64_t time_ns = 0;
    if (kind == 'M') {
        take_name(state, event, ours);
        return STATUS_OK;
    }
    if (!strchr("BEXiIRC", kind)) {
        reader_count(state->reader, strchr("stf", kind) ? "arrow" : "event of another kind, not read", 1);
        return STATUS_OK;
    }
    uint32_t track = slices_track(state->slices, event->pid.text, event->tid.text);
    if (map_find(&state->hidden, track) || (state->findings && strcmp(event->pid.text, state->findings) == 0))
        return STATUS_OK;
    if (!time_of(event->ts.text, &time_ns)) {
        reader_count(state->reader, "event without a time", 1);
        return STATUS_OK;
    }
    if (ours)
        time_add(&time_ns, strtoll(facts->begin_ns.text, NULL, 10));
    if (kind == 'C')
        return take_counters(state, track, time_ns, event, err);
    if (strchr("BEX", kind))
        return take_slice(state, track, time_ns, event, err);
    if (ours && is_message(event))
        return take_message(state, track, time_ns, event, err);
    return slices_moment(state->slices, track, time_ns, event->name.text, err);
}

static enum status chrome_open(struct reader *reader, struct error *err)
{
    struct chrome_state *state = reader->state;
    const char *wrong;
    uint64_t at = 0;
    state->reader = reader;
    state->slices = slices_new(reader->defs);
    if (chrome_json_read(reader->input, take_event, state, &wrong, &at, err) != STATUS_OK)
        return STATUS_FAILED;
    reader->complete = !wrong && !reader->input->fault;
    if (wrong)
        reader_damage(reader, at, "%s", wrong);
    reader->used = reader->total = reader->input->offset;
    return slices_sort(state->slices, err);
}

static enum status chrome_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct chrome_state *state = reader->state;
    return slices_next(state->slices, reader, batch, err);
}

static void chrome_close(struct reader *reader)
{
    struct chrome_state *state = reader->state;
    slices_free(state->slices);
    map_clear(&state->hidden);
    free(state->findings);
}

const struct format format_chrome = {.name = "chrome",
                                     .title = "Chrome JSON",
                                     .suffix = ".json",
                                     .probe = chrome_probe,
                                     .state_size = sizeof(struct chrome_state),
                                     .open = chrome_open,
                                     .next = chrome_next,
                                     .close = chrome_close};
