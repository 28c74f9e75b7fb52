/* SPDX-License-Identifier: BSD-3-Clause */
/* ALOG, the text format of p4, MPE-1 and its converter: a record a line, definitions anywhere. Facts: alog(5). */
#include "convert/mpe1/mpe1.h"
#include "convert/text_lines.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LIMIT = 1 << 16, FIELDS = 6, HEADER_LAST = -15, SYSTEM_FIRST = -101, HEADERS = 16 };

enum {
    HEADER_EVENTS = -2,
    HEADER_PROCESSES = -3,
    HEADER_ROLLOVER = -11,
    HEADER_CREATOR = -1,
    HEADER_MARK = -9,
    HEADER_FORMAT = -10,
    HEADER_STATE = -13
};

#define TIME_LIMIT_US INT64_C(9000000000000000) /* 9e9 s */

struct alog_state {
    struct mpe1_ids ids;
    double rollover_us; /* value at which the clock wraps around; 0: never */
    int64_t declared;   /* events that the header promises; -1: it does not */
    uint64_t events, line;
    uint64_t counts[3];        /* event, send, receive */
    uint64_t headers[HEADERS]; /* by -type; 0: not assigned */
    bool inside_long_line;     /* the input is inside a line that was refused */
    int64_t latest_ns;         /* time of the latest event */
};

/* A line, cut into its six numbers and the rest. */
struct alog_line {
    int64_t type, process, task, data, cycle;
    int64_t time_ns; /* without cycle */
    double time_us;  /* the same as read, for headers and cycles */
    const char *text, *end;
};

/* A timestamp with fraction or exponent. */
static bool slow_time(const char **at, const char *end, struct alog_line *line)
{
    char number[64], *stop;
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    size_t length = 0;
    while (length + 1 < sizeof number && *at + length < end && (*at)[length] &&
           strchr("0123456789+-.eE", (*at)[length])) {
        number[length] = (*at)[length];
        length++;
    }
    number[length] = '\0';
    line->time_us = strtod(number, &stop);
    if (length == 0 || *stop != '\0' || (*at + length < end && (*at)[length] != ' ' && (*at)[length] != '\t'))
        return false;
    *at += length;
    return time_from_seconds(line->time_us / 1e6, &line->time_ns);
}

static bool line_time(const char **at, const char *end, struct alog_line *line)
{
    const char *before = *at;
    int64_t us;
    /* Whole µs, exactly; a double only where it has to be. */
    if (!mpe1_integer(at, end, &us) || (*at < end && **at != ' ' && **at != '\t')) {
        *at = before;
        return slow_time(at, end, line);
    }
    if (us > TIME_LIMIT_US || us < -TIME_LIMIT_US)
        return false;
    line->time_us = (double)us;
    line->time_ns = us * 1000;
    return true;
}

static bool field_ends(const char *at, const char *end)
{
    return at == end || *at == ' ' || *at == '\t';
}

/* The ids of a definition are those of events, which have 32 bits. */
static bool definition_ids_fit(const struct alog_line *line)
{
    if (line->type != HEADER_MARK && line->type != HEADER_FORMAT && line->type != HEADER_STATE)
        return true;
    return line->data >= INT32_MIN && line->data <= INT32_MAX && line->task >= INT32_MIN && line->task <= INT32_MAX;
}

/* Six numbers, then a comment: type, process, task, data, cycle, time. No writer uses the task but for
   definitions. */
static bool line_parse(struct alog_line *line, const char *at, const char *end)
{
    int64_t *const fields[] = {&line->type, &line->process, &line->task, &line->data, &line->cycle};
    for (size_t i = 0; i < FIELDS - 1; i++)
        if (!mpe1_integer(&at, end, fields[i]) || !field_ends(at, end))
            return false;
    if (!line_time(&at, end, line))
        return false;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    line->text = at;
    line->end = end;
    return line->type >= INT32_MIN && line->type <= INT32_MAX && line->process >= 0 && line->process < PROCESS_LIMIT &&
           definition_ids_fit(line);
}

/* Skips blanks; true if nothing but a comment or blanks is there. */
static bool line_is_empty(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
    return *at == end || **at == '#';
}

static int alog_probe(const unsigned char *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *begin = at;
        struct alog_line line;
        if (!line_is_empty(&begin, stop)) {
            const char *last = stop > begin && stop[-1] == '\r' ? stop - 1 : stop;
            bool header = line_parse(&line, begin, last) && line.type <= HEADER_CREATOR && line.type >= HEADER_LAST;
            if (header)
                return 80;
            return 0;
        }
        at = stop + (stop < end);
    }
    return 0;
}

static bool is_too_long(const struct text_line *line)
{
    return !line->whole && line->end - line->at == LINE_LIMIT;
}

/* The next line; of one that is too long only the beginning is there, of the last one perhaps. A line of gigabytes
   must not be kept in memory: only its beginning is looked at. */
static enum status next_line(struct reader *reader, struct text_line *line, struct error *err)
{
    struct alog_state *state = reader->state;
    enum status status;
    while ((status = text_line_next(reader->input, LINE_LIMIT, line, err)) == STATUS_OK) {
        bool inside = state->inside_long_line;
        state->inside_long_line = is_too_long(line);
        if (!inside)
            return STATUS_OK;
    }
    return status;
}

static char *field_text(const char *at, const char *end)
{
    size_t length = (size_t)(end - at);
    char *text = memory_resize(NULL, length + 1);
    memcpy(text, at, length);
    text[length] = '\0';
    return text;
}

/* "COLOUR[:BITMAP] NAME"; one word alone is the name. */
static void define_state(struct reader *reader, const struct alog_line *line)
{
    struct alog_state *state = reader->state;
    const char *blank = line->text;
    while (blank < line->end && *blank != ' ' && *blank != '\t')
        blank++;
    const char *name = blank;
    while (name < line->end && (*name == ' ' || *name == '\t'))
        name++;
    bool only_name = name == line->end;
    char *colour = field_text(line->text, only_name ? line->text : blank);
    char *text = field_text(only_name ? line->text : name, line->end);
    int32_t numbers[3] = {EVENT_UNKNOWN, (int32_t)line->task, (int32_t)line->data};
    mpe1_define_state(&state->ids, reader, numbers, strcmp(colour, ":") == 0 ? "" : colour, text);
    free(colour);
    free(text);
}

static void define_mark(struct reader *reader, const struct alog_line *line)
{
    char *name = field_text(line->text, line->end);
    mpe1_define_mark(&((struct alog_state *)reader->state)->ids, reader, (int32_t)line->data, name);
    free(name);
}

/* Writers put the format after the mark it belongs to; p4 also has marks whose ids are a state's. */
static void define_format(struct reader *reader, const struct alog_line *line)
{
    const struct alog_state *state = reader->state;
    struct defs *defs = reader->defs;
    if (line->text == line->end)
        return;
    const uint64_t *role = map_find(&state->ids.roles, (uint32_t)line->data);
    struct mark_def *mark = NULL;
    if (defs->mark_count > 0 && defs->marks[defs->mark_count - 1].id == line->data)
        mark = &defs->marks[defs->mark_count - 1];
    else if (role && (*role & 0xff) == EVENT_MARK + 1)
        mark = &defs->marks[*role >> 8];
    if (mark && !mark->format)
        mark->format = text_from_latin1(line->text, (size_t)(line->end - line->text));
}

static void header_record(struct reader *reader, const struct alog_line *line)
{
    struct alog_state *state = reader->state;
    if (line->type == HEADER_EVENTS && line->data >= 0)
        state->declared = line->data;
    else if (line->type == HEADER_PROCESSES && line->data > 0 && line->data <= PROCESS_LIMIT)
        reader->defs->processes = (uint32_t)line->data;
    else if (line->type == HEADER_ROLLOVER && line->time_us > 0)
        state->rollover_us = line->time_us;
    else if (line->type == HEADER_CREATOR && !reader->defs->creator && line->text < line->end)
        reader->defs->creator = text_from_latin1(line->text, (size_t)(line->end - line->text));
    else if (line->type == HEADER_MARK)
        define_mark(reader, line);
    else if (line->type == HEADER_FORMAT)
        define_format(reader, line);
    else if (line->type == HEADER_STATE)
        define_state(reader, line);
}

static enum status alog_open(struct reader *reader, struct error *err)
{
    struct alog_state *state = reader->state;
    state->declared = -1;
    struct text_line text;
    enum status status;
    while ((status = next_line(reader, &text, err)) == STATUS_OK) {
        const char *at = text.at;
        struct alog_line line;
        while (at < text.end && (*at == ' ' || *at == '\t'))
            at++;
        /* Definitions stand anywhere in hand-made files, and after their first use in MPE-1's: the first pass
           collects them from the whole file. */
        if (at + 1 < text.end && at[0] == '-' && text.whole && line_parse(&line, at, text.end) &&
            line.type >= HEADER_LAST && line.type < 0)
            header_record(reader, &line);
    }
    reader->used = reader->total = reader->input->offset;
    state->inside_long_line = false;
    if (status == STATUS_FAILED)
        return status;
    return input_rewind(reader->input, err);
}

static bool event_time(const struct alog_state *state, const struct alog_line *line, int64_t *time_ns)
{
    *time_ns = line->time_ns;
    /* How often the clock has wrapped, and at which value: p4's machines had counters of 32 bits. */
    if (line->cycle <= 0 || state->rollover_us <= 0)
        return true;
    int64_t more;
    int64_t whole = (int64_t)state->rollover_us; /* line_time keeps it within TIME_LIMIT_US */
    if ((double)whole == state->rollover_us) {
        if (__builtin_mul_overflow(line->cycle, whole * 1000, &more))
            return false;
    } else if (!time_from_seconds((double)line->cycle * state->rollover_us / 1e6, &more)) {
        return false;
    }
    return !__builtin_add_overflow(*time_ns, more, time_ns) && *time_ns <= TIME_LIMIT_US * 1000;
}

static bool line_event(struct reader *reader, const struct alog_line *line, struct batch *batch)
{
    struct alog_state *state = reader->state;
    struct event *event = &batch->events[batch->count];
    int32_t type = (int32_t)line->type;
    *event = EVENT_NOTHING;
    event->process = (uint32_t)line->process;
    if (!event_time(state, line, &event->time_ns))
        return false;
    state->events++;
    state->latest_ns = event->time_ns;
    if (type == MPE1_SEND || type == MPE1_RECEIVE) {
        mpe1_set_message(event, type, line->data, line->text, (size_t)(line->end - line->text));
        state->counts[type == MPE1_SEND ? 1 : 2]++;
        /* Below -102: p4's own, for synchronising its clocks. */
    } else if (type < 0) {
        reader_count(reader, "reserved event", 1);
        return true;
    } else {
        mpe1_set_role(&state->ids, reader, type, event);
        event->value = line->data;
        if (line->end > line->text) {
            batch_set_payload(batch, event, line->text, (size_t)(line->end - line->text));
            event->flags |= EVENT_PAYLOAD_TEXT;
        }
        state->counts[0]++;
    }
    /* The header's number is that of processes that appear, or of the communicator, or missing. */
    if (event->process >= reader->defs->processes)
        reader->defs->processes = event->process + 1;
    batch->count++;
    return true;
}

/* The last number of a line without an end may go on, so what it says is not used. Only of an event that ends with its
   time that can be seen: a time that has lost digits lies before the event that precedes it. */
static bool is_whole(const struct alog_state *state, const struct text_line *text, const struct alog_line *line)
{
    int64_t time_ns;
    return text->whole || (line->type >= 0 && line->text == line->end && state->events > 0 &&
                           event_time(state, line, &time_ns) && time_ns >= state->latest_ns);
}

/* The line's number, too, as people open these files in an editor. */
static void malformed(struct reader *reader, const struct text_line *line)
{
    const struct alog_state *state = reader->state;
    char first[96] = "";
    size_t used = 0;
    for (const char *at = line->at; at < line->end && at < line->at + 20; at++)
        used += (size_t)snprintf(first + used, sizeof first - used, isprint((unsigned char)*at) ? "%c" : "\\x%02x",
                                 (unsigned char)*at);
    reader_damage(reader, line->byte, "line %llu %s (\"%s\")", (unsigned long long)state->line,
                  line->whole || is_too_long(line) ? "is malformed" : "has no end: the file is cut", first);
}

/* The format has no mark at its end: the header's number of events shows a cut, if there is one. */
static enum status alog_end(struct reader *reader)
{
    struct alog_state *state = reader->state;
    static const char *const names[] = {"event", "send", "receive"};
    static const char *const headers[HEADERS] = {"header not assigned", "header -1",  "header -2",  "header -3",
                                                 "header -4",           "header -5",  "header -6",  "header -7",
                                                 "header -8",           "header -9",  "header -10", "header -11",
                                                 "header -12",          "header -13", "header -14", "header -15"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (state->counts[i])
            reader_count(reader, names[i], state->counts[i]);
    for (size_t i = 0; i < HEADERS; i++)
        if (state->headers[i])
            reader_count(reader, headers[i], state->headers[i]);
    if (state->declared > 0 && state->events < (uint64_t)state->declared) {
        reader_damage(reader, reader->input->offset, "file ends early: %llu of %lld events",
                      (unsigned long long)state->events, (long long)state->declared);
        reader->total = 0;
    } else if (state->declared < 0 && state->events == 0) {
        reader_damage(reader, reader->input->offset, "file ends inside its header: it has no events");
    }
    reader->complete = reader->damage.count == 0;
    return STATUS_END;
}

/* The second pass: headers are only counted now. */
static enum status alog_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct alog_state *state = reader->state;
    while (batch->count < BATCH_EVENTS) {
        struct text_line text;
        enum status status = next_line(reader, &text, err);
        if (status == STATUS_END)
            return alog_end(reader);
        if (status != STATUS_OK)
            return status;
        state->line++;
        struct alog_line line;
        const char *at = text.at;
        if (!is_too_long(&text) && line_is_empty(&at, text.end))
            continue;
        if (is_too_long(&text) || !line_parse(&line, at, text.end) || !is_whole(state, &text, &line))
            malformed(reader, &text);
        else if (line.type < 0 && line.type > SYSTEM_FIRST)
            state->headers[line.type >= HEADER_LAST ? -line.type : 0]++;
        else if (!line_event(reader, &line, batch))
            malformed(reader, &text);
    }
    return STATUS_OK;
}

static void alog_close(struct reader *reader)
{
    mpe1_ids_clear(&((struct alog_state *)reader->state)->ids);
}

const struct format format_alog = {.name = "alog",
                                   .title = "ALOG",
                                   .suffix = ".alog",
                                   .probe = alog_probe,
                                   .two_passes = true,
                                   .state_size = sizeof(struct alog_state),
                                   .open = alog_open,
                                   .next = alog_next,
                                   .close = alog_close};
