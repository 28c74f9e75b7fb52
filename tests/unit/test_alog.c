/* SPDX-License-Identifier: BSD-3-Clause */
/* ALOG: what the reader makes of regular and odd files, what it refuses, and that what the writer writes reads back as
   it was. The files are small and stand here as texts. */
#include "convert/reader.h"
#include "convert/stream.h"
#include "convert/writer.h"
#include "core/memory.h"
#include "core/open_states.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <unistd.h>

enum { PROCESSES = 4, STATES = 8, CYCLES = 3000, LONG_AT = 29 /* where the long line begins */ };

/* A trace read to its end, with what its states add up to. */
struct reading {
    struct sink sink;
    struct reader *reader;
    struct event *events;
    size_t count, capacity;
    char **texts; /* of the events; NULL where there is none */
    size_t text_count, text_capacity;
    struct open_states open[PROCESSES];
    int calls[PROCESSES][STATES], stray;
    int64_t time_ns[PROCESSES][STATES];
};

static void sum_states(struct reading *reading, const struct event *event)
{
    if (event->process >= PROCESSES || event->state >= STATES || event->kind > EVENT_LEAVE)
        return;
    struct open_states *open = &reading->open[event->process];
    if (event->kind == EVENT_ENTER) {
        open_states_enter(open, event->state, event->time_ns);
        return;
    }
    ptrdiff_t at = open_states_find(open, event->state);
    if (at == OPEN_STATES_NONE) {
        reading->stray++;
        return;
    }
    reading->calls[event->process][event->state]++;
    reading->time_ns[event->process][event->state] += event->time_ns - open->frames[at].time_ns;
    open_states_remove(open, at);
}

static enum status take_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct reading *reading = (struct reading *)sink;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        char *text = NULL;
        if (event->payload_length) {
            text = memory_new(event->payload_length + 1);
            memcpy(text, batch->arena + event->payload, event->payload_length);
        }
        ARRAY_PUSH(reading->events, reading->count, reading->capacity, *event);
        ARRAY_PUSH(reading->texts, reading->text_count, reading->text_capacity, text);
        sum_states(reading, event);
    }
    return STATUS_OK;
}

static struct reading read_bytes(const char *bytes, size_t size)
{
    struct reading reading = {.sink = {.events = take_events}};
    struct error err = {0};
    reading.reader = reader_open_input(input_open_memory(bytes, size, "test"), &err);
    if (!reading.reader)
        return reading;
    struct sink *sinks[] = {&reading.sink};
    if (stream_run(reading.reader, sinks, 1, NULL, NULL, &err) != STATUS_OK)
        printf("# cannot be read to its end: %s\n", err.text);
    return reading;
}

static struct reading read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void reading_free(struct reading *reading)
{
    for (size_t i = 0; i < reading->text_count; i++)
        free(reading->texts[i]);
    for (size_t i = 0; i < PROCESSES; i++)
        open_states_free(&reading->open[i]);
    free(reading->texts);
    free(reading->events);
    reader_close(reading->reader);
}

static long long record_count(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->reader->record_kinds; i++)
        if (strcmp(reading->reader->records[i].name, name) == 0)
            return (long long)reading->reader->records[i].count;
    return 0;
}

/* One test: `damage` lines or ends that are not as they should be, and whether that leaves the trace complete. */
static void check_damage(const struct reading *reading, uint64_t damage, const char *name)
{
    const struct trace_end *end = &reading->reader->end;
    bool right = end->damage.count == damage && end->complete == (damage == 0);
    if (!tap_ok(right, "%s: damage, and complete without", name))
        printf("# damage %llu, want %llu: %s\n", (unsigned long long)end->damage.count, (unsigned long long)damage,
               end->damage.first);
}

#define HEADER(events, rollover)                                                                                       \
    "-1 0 0 0 0 0 Me\n-2 0 0 " events " 0 0\n-3 0 0 2 0 0\n-4 0 0 1 0 0\n-5 0 0 4 0 0\n-6 0 0 0 0 0\n"                 \
    "-7 0 0 0 0 100\n-8 0 0 1 0 0\n-11 0 0 0 0 " rollover "\n"
#define STATE_LINES "-13 0 1 2 0 0 red:gray3 A b c\n-13 0 3 4 0 0 blue Plain\n"
#define EVENTS_0 "1 0 0 1 0 0 \n3 0 0 1 0 10 \n-101 0 0 1 0 12 7 100\n4 0 0 2 0 20 \n2 0 0 2 0 30 \n"
#define EVENTS_1 "3 1 0 1 0 5 \n-102 1 0 0 0 40 7 100\n4 1 0 2 0 50 \n"
#define PLAIN HEADER("8", "0") STATE_LINES EVENTS_0 EVENTS_1

/* The two states of PLAIN and their times, whatever stands between the lines. */
static void check_plain(const char *text, uint64_t damage, const char *name)
{
    struct reading reading = read_text(text);
    if (!tap_ok(reading.reader != NULL, "%s: opens", name))
        return;
    check_damage(&reading, damage, name);
    tap_equal_int((long long)reading.count, 8, "%s: events", name);
    tap_ok(reading.calls[0][0] == 1 && reading.calls[0][1] == 1 && reading.calls[1][1] == 1, "%s: calls", name);
    tap_ok(reading.time_ns[0][0] == 30000 && reading.time_ns[0][1] == 10000 && reading.time_ns[1][1] == 45000,
           "%s: times", name);
    reading_free(&reading);
}

static void test_plain(void)
{
    struct reading reading = read_text(PLAIN);
    const struct defs *defs = reading.reader->defs;
    const struct event *send = &reading.events[2], *receive = &reading.events[6];
    tap_equal_string(reading.reader->format->name, "alog", "known by its content");
    tap_equal_int(defs->processes, 2, "processes");
    tap_equal_string(defs->creator, "Me", "creator");
    tap_equal_int((long long)defs->state_count, 2, "states");
    tap_equal_string(defs->states[0].name, "A b c", "a name with blanks");
    tap_equal_string(defs->states[0].colour, "red:gray3", "colour as in the file");
    tap_equal_string(defs->states[1].colour, "blue", "colour without bitmap");
    tap_ok(send->kind == EVENT_SEND && send->partner == 1 && send->tag == 7 && send->bytes_sent == 100, "send");
    tap_ok(receive->kind == EVENT_RECEIVE && receive->process == 1 && receive->partner == 0 && receive->tag == 7 &&
               receive->bytes_received == 100 && receive->bytes_sent == BYTES_UNKNOWN,
           "receive");
    tap_ok(send->comm == EVENT_UNKNOWN && send->partner_comm == EVENT_UNKNOWN, "a message's communicator is not known");
    tap_ok(reading.events[3].value == 2 && reading.events[3].time_ns == 20000, "data and time of a leave");
    tap_ok(record_count(&reading, "event") == 6 && record_count(&reading, "send") == 1 &&
               record_count(&reading, "receive") == 1,
           "records by kind");
    tap_equal_int(record_count(&reading, "header -13"), 2, "header records by kind");
    reading_free(&reading);
}

/* Files that differ only in what does not matter. */
static void test_shapes(void)
{
    check_plain(PLAIN, 0, "plain");
    check_plain("# comment\n\n   \n" HEADER("8", "0") "  # indented\n" STATE_LINES "\n" EVENTS_0 "\t3\t1 0 1 0 5 \n"
                                                      "-102 1 0 0 0 40 7 100\n4 1 0 2 0 50 \n\n\n",
                0, "comments and blanks");
    check_plain(HEADER("8", "0") STATE_LINES EVENTS_0 "3 1 0 1 0 5 \n-102 1 0 0 0 40 7 100\n4 1 0 2 0 50", 0,
                "no final newline");
    check_plain("-1 0 0 0 0 0 Me\n" EVENTS_0 STATE_LINES EVENTS_1 "-3 0 0 2 0 0\n", 0, "definitions behind events");
    check_plain("-2 0 0 8 0 0    \n-3 0 0 2 0 0  \n-8 0 0 1 0 0\n-1 0 0 0 0 77  P4 May- 9-90\n-11 0 0 0 0 4294967295\n"
                "-9 0 0 1 0 4  begin\n-10 0 0 1 0 4  %d\n" STATE_LINES EVENTS_0 EVENTS_1,
                0, "p4's order of headers");
    check_plain("-1 0 0 0 0 0 Me\r\n-13 0 1 2 0 0 red:gray3 A b c\r\n-13 0 3 4 0 0 blue Plain\r\n1 0 0 1 0 0 \r\n"
                "3 0 0 1 0 10\r\n-101 0 0 1 0 12 7 100\r\n\r\n4 0 0 2 0 20 \r\n2 0 0 2 0 30\r\n" EVENTS_1,
                0, "CR before LF");
    check_plain("-1 +0 0 0 0 0 Me\n" STATE_LINES "+1 +0 0 +1 0 +0.0 \n3 0 0 1 0 1e1 \n-101 0 0 1 0 12 +7 +100\n"
                "4 0 0 2 0 20.0\n2 0 0 2 0 0.3E+2 \n" EVENTS_1,
                0, "signs, fractions, exponents");
    check_plain(HEADER("8", "0") STATE_LINES EVENTS_0 "garbage here\n1 0 0\n1 x 0 0 0 5\n" EVENTS_1, 3, "bad lines");
}

static void check_refused(const char *line, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "-1 0 0 0 0 0 Me\n%s\n7 0 0 0 0 5\n", line);
    struct reading reading = read_text(text);
    char damage[256];
    snprintf(damage, sizeof damage, "test: byte 16: line 2 is malformed (\"%.20s\")", line);
    check_damage(&reading, 1, name);
    tap_equal_string(reading.reader->end.damage.first, damage, "%s: where and what", name);
    tap_equal_int((long long)reading.count, 1, "%s: skipped", name);
    reading_free(&reading);
}

static void test_refused(void)
{
    check_refused("garbage", "a word");
    check_refused("7 0 0 0 0", "five numbers");
    check_refused("7 0 0 0 0 text", "no time");
    check_refused("7 0 0 0 0 nan", "not a number");
    check_refused("7 0 0 0 0 inf", "infinite");
    check_refused("7 0 0 0 0 0x10", "hexadecimal");
    check_refused("7 0 0 0 0 1.5.5", "two points");
    check_refused("7 0 0 0 0 1e30", "a time too large");
    check_refused("7 0 0 0 0 999999999999999999", "a whole time too large");
    check_refused("7 0 0 0 0 99999999999999999999", "a time beyond 64 bits");
    check_refused("7 -1 0 0 0 5", "process -1");
    check_refused("7 16777216 0 0 0 5", "process beyond the limit");
    check_refused("4294967296 0 0 0 0 5", "event id beyond 32 bits");
    check_refused("-13 0 4294967297 2 0 0 red A", "definition of an id beyond 32 bits");
    check_refused("7 0 0 5x 0 5", "number with a letter");
}

/* Wherever a file is cut, no number of its last line is used: it may be incomplete. */
static void test_cut_line(void)
{
    static const char text[] = "-1 0 0 0 0 0 Me\n7 0 0 0 0 5 \n-102 1 0 0 0 40 7 100\n";
    size_t before = strlen("-1 0 0 0 0 0 Me\n7 0 0 0 0 5 \n");
    for (size_t length = before + 1; length < strlen(text); length++) {
        char cut[sizeof text] = "";
        memcpy(cut, text, length);
        struct reading reading = read_text(cut);
        check_damage(&reading, 1, "cut line");
        tap_ok(reading.count == 1 && strstr(reading.reader->end.damage.first, "byte 29: line 3 has no end: "),
               "cut after %zu bytes of a line: it is not used", length - before);
        reading_free(&reading);
    }
}

static void test_cut_time(void)
{
    static const char before[] = "-1 0 0 0 0 0 Me\n7 0 0 0 0 9000 \n", last[] = "8 0 0 0 0 12345";
    for (size_t length = 1; length <= strlen(last); length++) {
        char cut[sizeof before + sizeof last];
        snprintf(cut, sizeof cut, "%s%.*s", before, (int)length, last);
        struct reading reading = read_text(cut);
        size_t want = length == strlen(last) ? 2 : 1;
        tap_ok(reading.count == want, "cut after %zu bytes of an event: %zu events", length, want);
        reading_free(&reading);
    }
}

/* A line beyond 64 KiB is one malformed line, wherever the buffers end, and no part of it is a line of its own. */
static void test_long_line(size_t length)
{
    static const char head[] = "-1 0 0 0 0 0 Me\n-2 0 0 0 0 0\n7 0 0 0 0 5 ", tail[] = "\n7 0 0 0 0 6\n";
    char *text = memory_new(length + sizeof head + sizeof tail);
    strcpy(text, head);
    for (size_t i = strlen(head); i < length; i++)
        text[i] = "8 0 0 0 0 1 "[i % 12];
    memcpy(text + length, tail, sizeof tail);
    struct reading reading = read_text(text);
    bool too_long = length - LONG_AT >= 65536;
    check_damage(&reading, too_long, "long line");
    tap_equal_int((long long)reading.count, too_long ? 1 : 2, "line of %zu bytes: events", length - LONG_AT);
    tap_equal_int(reading.events[reading.count - 1].time_ns, 6000, "line of %zu bytes: goes on behind",
                  length - LONG_AT);
    reading_free(&reading);
    /* The same as the last line, so that the second pass begins anew. */
    text[length] = '\0';
    reading = read_text(text);
    check_damage(&reading, 1, "long last line");
    reading_free(&reading);
    free(text);
}

static void test_cycles(void)
{
    struct reading reading = read_text(HEADER("8", "60") STATE_LINES "1 0 0 1 0 0 \n3 0 0 1 0 10 \n4 0 0 2 0 20 \n"
                                                                     "-101 0 0 1 0 12 7 100\n2 0 0 2 1 3 \n"
                                                                     "3 1 0 1 0 5 \n-102 1 0 0 1 4 7 100\n"
                                                                     "4 1 0 2 1 5 \n");
    check_damage(&reading, 0, "cycles");
    tap_ok(reading.time_ns[0][0] == 63000 && reading.time_ns[1][1] == 60000, "cycles count at the value of -11");
    reading_free(&reading);
    char text[256];
    int64_t us = CYCLES * INT64_C(4294967295) + 1;
    snprintf(text, sizeof text, "-1 0 0 0 0 0 Me\n-11 0 0 0 0 4294967295\n7 0 0 0 %d 1\n7 0 0 0 -1 1\n", CYCLES);
    reading = read_text(text);
    tap_equal_int(reading.events[0].time_ns, us * 1000, "cycles are exact");
    tap_equal_int(reading.events[1].time_ns, 1000, "negative cycles are none");
    reading_free(&reading);
    reading = read_text("-1 0 0 0 0 0 Me\n-11 0 0 0 0 9000000000000000\n7 0 0 0 1 9000000000000000\n7 0 0 0 "
                        "900000000000000000 1\n7 0 0 0 0 1\n");
    check_damage(&reading, 2, "cycles beyond what a time can be");
    tap_equal_int((long long)reading.count, 1, "such events are skipped");
    reading_free(&reading);
}

static void test_definitions(void)
{
    struct reading reading =
        read_text(HEADER("10", "0") STATE_LINES STATE_LINES
                  "-13 1 5 6 0 0 green:boxes A b c\n-13 1 1 2 0 0 pink Other\n"
                  "-13 2 1 2 0 0 pink Other\n-13 0 2 9 0 0 x Y\n" EVENTS_0 EVENTS_1 "5 0 0 0 0 60\n6 0 0 0 0 70\n");
    const struct defs *defs = reading.reader->defs;
    check_damage(&reading, 0, "repeated definitions");
    tap_equal_int((long long)defs->state_count, 5, "each definition once");
    tap_equal_int(record_count(&reading, "definition repeated"), 3, "repeated ones are counted");
    tap_equal_int(record_count(&reading, "definition with different text under the same ids"), 1,
                  "other text is counted");
    tap_equal_int(record_count(&reading, "event id in two states"), 1, "an id in two states is counted");
    tap_ok(defs->states[3].shadowed && !defs->states[0].shadowed && !defs->states[2].shadowed, "the first one wins");
    tap_ok(reading.calls[0][0] == 1 && reading.calls[0][2] == 1 && reading.calls[0][4] == 0, "events go to the first");
    tap_ok(defs->states[2].first_of_name == 0, "the same name under other ids is another state");
    reading_free(&reading);
    reading = read_text(HEADER("8", "0") "-13 0 1 2 0 0  \n-13 0 3 4 0 0 : Colon\n-13 0 5 6 0 0  NoColour  \n"
                                         "-13 0 7 8 0 0 red:boxes  Two blanks \t\n" EVENTS_0 EVENTS_1);
    defs = reading.reader->defs;
    check_damage(&reading, 0, "empty fields");
    tap_ok(!*defs->states[0].name && !defs->states[0].colour, "neither colour nor name");
    tap_ok(strcmp(defs->states[1].name, "Colon") == 0 && !defs->states[1].colour, "colour ':' is none");
    tap_ok(strcmp(defs->states[2].name, "NoColour") == 0 && !defs->states[2].colour, "one word is the name");
    tap_equal_string(defs->states[3].name, "Two blanks", "blanks around a name go");
    reading_free(&reading);
}

static void test_names(void)
{
    struct reading reading =
        read_text("-1 0 0 0 0 0 Me\n-13 0 161 162 0 0 blue:gray3 SEND\n-13 0 163 164 0 0 x SENDRECV_REPLAC\n"
                  "-13 0 500 501 0 0 x SEND\n-13 0 502 503 0 0 x Reduce\n-9 0 0 7 0 0 mark \xe9\n"
                  "-10 0 0 7 0 0 count %d\n-9 0 0 161 0 0 start of send\n7 0 0 3 0 5 caf\xe9 \x07\n9 1 0 0 0 6\n");
    const struct defs *defs = reading.reader->defs;
    tap_equal_string(defs->states[0].name, "MPI_Send", "MPE-1's name is the function's");
    tap_equal_string(defs->states[0].original, "SEND", "the trace's spelling is kept");
    tap_equal_string(defs->states[1].name, "MPI_Sendrecv_replace", "a name that MPE-1 cut");
    tap_equal_string(defs->states[2].name, "SEND", "a user's state keeps its name");
    tap_ok(!defs->states[2].original && defs->states[2].class == CLASS_USER, "and is no MPI function");
    tap_equal_string(defs->states[3].name, "Reduce", "so does this");
    tap_equal_int((long long)defs->mark_count, 3, "marks");
    tap_ok(defs->marks[0].defined && strcmp(defs->marks[0].name, "mark \xc3\xa9") == 0, "a mark's name in UTF-8");
    tap_equal_string(defs->marks[0].format, "count %d", "a mark's format");
    tap_ok(defs->marks[1].shadowed, "a description of a state's event");
    tap_ok(!defs->marks[2].defined && strcmp(defs->marks[2].name, "9") == 0, "an id of nothing is its number");
    tap_ok(reading.events[0].kind == EVENT_MARK && reading.events[0].value == 3, "a mark with data");
    tap_equal_string(reading.texts[0], "caf\xe9 \x07", "a text stays bytes");
    tap_ok(reading.events[0].flags == EVENT_PAYLOAD_TEXT && reading.events[1].payload_length == 0, "and is a text");
    reading_free(&reading);
}

static void test_messages(void)
{
    struct reading reading = read_text(HEADER("8", "0") "-101 0 0 0 0 1 5 8\n-102 0 0 0 0 2 5 8\n-101 0 0 -3 0 3 5 8\n"
                                                        "-102 1 0 -1 0 4 -1 0\n-101 1 0 9 0 5\n-102 1 0 0 0 6 42\n"
                                                        "-101 1 0 0 0 7 1 x\n-104 1 0 0 0 8\n-50 0 0 0 0 9\n");
    const struct event *events = reading.events;
    check_damage(&reading, 0, "messages");
    tap_equal_int((long long)reading.count, 7, "reserved ids are no events");
    tap_equal_int(record_count(&reading, "reserved event"), 1, "but counted");
    tap_ok(events[0].partner == 0 && events[0].process == 0, "a message to oneself");
    tap_ok(events[2].partner == PARTNER_NONE && events[3].partner == PARTNER_NONE, "MPI_PROC_NULL");
    tap_ok(events[3].tag == -1 && events[3].bytes_received == 0, "tag -1, no bytes");
    tap_ok(events[4].tag == EVENT_UNKNOWN && events[4].bytes_sent == BYTES_UNKNOWN, "neither tag nor size");
    tap_ok(events[5].tag == 42 && events[5].bytes_received == BYTES_UNKNOWN, "a tag without size");
    tap_ok(events[6].tag == 1 && events[6].bytes_sent == BYTES_UNKNOWN, "a size that is none");
    reading_free(&reading);
}

static void test_order_and_end(void)
{
    struct reading reading =
        read_text(HEADER("8", "0") STATE_LINES "4 1 0 2 0 50 \n-102 1 0 0 0 40 7 100\n2 0 0 2 0 30 \n4 0 0 2 0 20 \n"
                                               "-101 0 0 1 0 12 7 100\n3 0 0 1 0 10 \n3 1 0 1 0 5 \n1 0 0 1 0 0 \n");
    check_damage(&reading, 0, "times that go back");
    tap_ok(reading.events[0].time_ns == 50000 && reading.events[7].time_ns == 0, "the file's order is kept");
    tap_equal_int(reading.stray, 3, "leaves without enter");
    reading_free(&reading);
    reading = read_text(HEADER("9", "0") STATE_LINES EVENTS_0 EVENTS_1);
    check_damage(&reading, 1, "fewer events than the header says");
    tap_ok(strstr(reading.reader->end.damage.first, "file ends early: 8 of 9 events") != NULL, "which is said");
    reading_free(&reading);
    reading = read_text(HEADER("3", "0") STATE_LINES EVENTS_0 EVENTS_1 "7 9 0 0 0 100\n");
    check_damage(&reading, 0, "more events than the header says");
    tap_equal_int(reading.reader->defs->processes, 10, "more processes than the header says");
    reading_free(&reading);
}

static void test_probe(void)
{
    static const char *const others[] = {"",
                                         "\n\n# only comments\n",
                                         "1 0 5 3 0 0 7\n-1 0 0 0 0 0\n",
                                         "-1 0 0 0 0\n",
                                         "-16 0 0 0 0 0\n",
                                         "-101 0 0 1 0 5 1 1\n",
                                         "0 0 0 0 0 0\n",
                                         "hello\n-1 0 0 0 0 0\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct reading reading = read_text(others[i]);
        tap_ok(!reading.reader, "no ALOG: %zu", i);
        reading_free(&reading);
    }
    struct reading reading = read_text("\n# x\n  -15 2 0 0 0 0 name\n");
    tap_ok(reading.reader != NULL, "ALOG by any header record");
    reading_free(&reading);
}

/* Every cut gives no more than the whole, from a block of just that size, so that a sanitizer sees one byte too far. */
static void test_cuts(void)
{
    static const char text[] = PLAIN;
    size_t wrong = 0;
    for (size_t size = 0; size < sizeof text; size++) {
        char *copy = memory_resize(NULL, size ? size : 1);
        memcpy(copy, text, size);
        struct reading reading = read_bytes(copy, size);
        wrong += reading.count > 8;
        reading_free(&reading);
        free(copy);
    }
    tap_equal_int((long long)wrong, 0, "cut at each of %zu bytes", sizeof text);
}

/* Writes what `bytes` is read as; the text is freed with free(). */
static char *convert_bytes(const char *bytes, size_t size, struct loss *losses, size_t *loss_count)
{
    char path[] = "/tmp/sight-test-alog-XXXXXX";
    int file = mkstemp(path);
    struct error err = {0};
    struct reader *reader = reader_open_input(input_open_memory(bytes, size, "test"), &err);
    const struct writer_format *format = writer_format_find("alog");
    struct writer *writer = format->create();
    writer->format = format;
    writer->output = output_open(path, (struct output_options){.replace = true}, &err);
    struct sink *sinks[] = {&writer->sink};
    enum status status = stream_run(reader, sinks, 1, NULL, NULL, &err);
    tap_ok(status == STATUS_OK && output_close(writer->output, true, &err) == STATUS_OK, "is written");
    memcpy(losses, writer->losses, sizeof writer->losses);
    *loss_count = writer->loss_count;
    format->dispose(writer);
    reader_close(reader);
    char *text = memory_new(1 << 16);
    FILE *written = fopen(path, "rb");
    if (!written || fread(text, 1, (1 << 16) - 1, written) == 0)
        printf("# nothing was written\n");
    if (written)
        fclose(written);
    unlink(path);
    close(file);
    return text;
}

static void check_conversion(const char *text, const char *want, const char *lost, const char *name)
{
    struct loss losses[LOSSES_MAX];
    size_t count;
    char *once = convert_bytes(text, strlen(text), losses, &count);
    tap_equal_string(once, want, "%s: as written", name);
    char all[512] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s=%llu ", losses[i].what,
                 (unsigned long long)losses[i].count);
    tap_equal_string(all, lost, "%s: losses", name);
    char *twice = convert_bytes(once, strlen(once), losses, &count);
    tap_equal_string(twice, once, "%s: again the same", name);
    free(once);
    free(twice);
}

#define WRITTEN(events, types, last)                                                                                   \
    "-1 0 0 0 0 0 Me\n-2 0 0 " events " 0 0\n-3 0 0 2 0 0\n-4 0 0 1 0 0\n-5 0 0 " types " 0 0\n-6 0 0 0 0 0\n"         \
    "-7 0 0 0 0 " last "\n-8 0 0 1 0 0\n-11 0 0 0 0 0\n"

static void test_writer(void)
{
    check_conversion(PLAIN,
                     WRITTEN("8", "6", "50") "-13 0 1 2 0 0 red:gray3 A b c\n-13 0 3 4 0 0 blue:gray Plain\n"
                                             "1 0 0 1 0 0 \n3 1 0 1 0 5 \n3 0 0 1 0 10 \n-101 0 0 1 0 12 7 100\n"
                                             "4 0 0 2 0 20 \n2 0 0 2 0 30 \n-102 1 0 0 0 40 7 100\n4 1 0 2 0 50 \n",
                     "", "plain");
    check_conversion("-1 0 0 0 0 0 Me\n-3 0 0 2 0 0\n-9 0 0 7 0 0 a mark\n-13 0 161 162 0 0 : SEND\n"
                     "-13 0 3 4 0 0  \n161 0 0 0 0 1000\n-101 0 0 1 0 1001\n162 0 0 0 0 1002\n161 0 0 0 0 1003\n"
                     "162 0 0 0 0 1004\n7 1 0 -5 0 1005.5  some text \n9 1 0 0 0 1006\n161 1 0 8 0 1007\n",
                     WRITTEN("8", "5", "7") "-9 0 0 7 0 0 a mark\n-13 0 161 162 0 0 white:gray SEND\n"
                                            "-13 0 3 4 0 0  \n161 0 0 1 0 0 \n-101 0 0 1 0 1 0 0\n162 0 0 2 0 2 \n"
                                            "161 0 0 3 0 3 \n162 0 0 4 0 4 \n7 1 0 -5 0 5 some text\n9 1 0 0 0 6 \n"
                                            "161 1 0 8 0 7 \n",
                     "times below a microsecond=1 unknown message tags=1 unknown message sizes=1 ", "odd");
    check_conversion("-1 0 0 0 0 0 Me\n-3 0 0 2 0 0\n-13 0 161 162 0 0 a SEND\n-13 1 161 162 0 0 b:c SEND\n"
                     "161 0 0 1 0 0 \n162 0 0 2 0 3 \n",
                     WRITTEN("2", "2", "3") "-13 0 161 162 0 0 a:gray SEND\n-13 0 500 501 0 0 b:c MPI_Send\n"
                                            "161 0 0 1 0 0 \n162 0 0 2 0 3 \n",
                     "", "shadowed");
    char line[256];
    char wanted[512];
    snprintf(line, sizeof line, "-1 0 0 0 0 0 Me\n-3 0 0 2 0 0\n7 0 0 1 0 0 %0120d\n", 0);
    snprintf(wanted, sizeof wanted, WRITTEN("1", "1", "0") "7 0 0 1 0 0 %099d\n", 0);
    check_conversion(line, wanted, "ends of long texts=1 ", "long text");
}

int main(void)
{
    test_plain();
    test_shapes();
    test_refused();
    test_cut_line();
    test_cut_time();
    test_long_line(LONG_AT + 65535);
    test_long_line(LONG_AT + 65536);
    test_long_line(200000);
    test_long_line(LONG_AT + 65536 * 4);
    test_long_line(700000);
    test_cycles();
    test_definitions();
    test_names();
    test_messages();
    test_order_and_end();
    test_probe();
    test_cuts();
    test_writer();
    return tap_done();
}
