/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace XML: what is read, what is written, what is damage. */
#include "core/payload.h"
#include "core/xml_text.h"
#include "unit/tap.h"
#include "unit/xml_trace.h"

/* One letter for each event: Enter, Leave, Send, Receive, Collective, Mark, counter #; those about the trace small. */
static const char *kinds_of(const struct trace *trace)
{
    static char kinds[256];
    size_t length = 0;
    for (size_t i = 0; i < trace->count && length < sizeof kinds - 1; i++)
        kinds[length++] = "ELSRCM#ai*mf+dn"[trace->events[i].kind];
    kinds[length] = '\0';
    return kinds;
}

static void reads_as(const char *lines, const char *kinds, const char *name)
{
    char text[2048];
    int length = snprintf(text, sizeof text, "<!DOCTYPE trace SYSTEM \"sight.dtd\">\n<trace>\n%s</trace>\n", lines);
    struct trace trace = trace_read(text, (size_t)length);
    tap_equal_string(kinds_of(&trace), kinds, "%s", name);
    if (trace.end.damage.count)
        printf("# damage: %s\n", trace.end.damage.first);
    trace_free(&trace);
}

#define LINE(time, data, rest) "<event process=\"0\" timestamp=\"" time "\" data=\"" data "\"" rest "/>\n"

static void test_example(void)
{
    static const char lines[] =
        LINE("12.345", "MPI_Send", "") LINE("15.1", "MPI_Send", " communication=\"1\"") "</trace>\n";
    char text[512];
    int length = snprintf(text, sizeof text, "<!DOCTYPE trace SYSTEM \"sight.dtd\">\n<trace>\n%s", lines);
    struct trace trace = trace_read(text, (size_t)length);
    tap_equal_string(kinds_of(&trace), "ESL", "the example of the design: a send within a call");
    tap_ok(trace.count == 3 && trace.events[0].time_ns == 12345 && trace.events[1].time_ns == 15100, "times in ns");
    tap_equal_int(trace.events[1].partner, 1, "partner");
    tap_ok(trace.end.complete, "complete");
    tap_equal_int(trace.defs->processes, 1, "processes as met");
    tap_equal_int((long long)trace.end.used, length, "all bytes used");
    char *written = trace_write(&trace);
    const char *events = strstr(written, "<event");
    tap_equal_string(events ? events : "", lines, "written as it was");
    free(written);
    trace_free(&trace);
}

static void test_pairing(void)
{
    reads_as(LINE("1", "a", "") LINE("2", "a", "") LINE("3", "a", ""), "ELE", "a name closes itself");
    reads_as(LINE("1", "MPI_Recv", "") LINE("2", "u", "") LINE("3", "MPI_Recv", "") LINE("4", "u", ""), "EELL",
             "an MPI function closes from outside");
    reads_as(LINE("1", "u", "") LINE("2", "MPI_Recv", "") LINE("3", "u", "") LINE("4", "u", ""), "EEEL",
             "a user state does not");
    reads_as(LINE("1", "a", "") LINE("2", "a", " kind=\"enter\"") LINE("3", "a", "") LINE("4", "a", ""), "EELL",
             "recursion");
    reads_as(LINE("1", "a", "") LINE("2", "b", "") LINE("3", "a", " kind=\"leave\"") LINE("4", "b", ""), "EELL",
             "crossing");
    reads_as(LINE("1", "a", " kind=\"leave\"") LINE("2", "a", ""), "LE", "a stray leave");
    reads_as(LINE("1", "a", "") LINE("2", "a", " thread=\"1\"") LINE("3", "a", ""), "EEL", "threads apart");
}

static void test_communication(void)
{
    reads_as(LINE("1", "MPI_Send", " communication=\"1\"") LINE("2", "MPI_Send", ""), "ESL", "partner on the enter");
    reads_as(LINE("1", "MPI_Send", " communication=\"1\"") LINE("2", "MPI_Send", " communication=\"1\""), "ESL",
             "partner on both lines is one message");
    reads_as(LINE("1", "MPI_Send", " communication=\"1\"") LINE("2", "MPI_Send", " communication=\"2\""), "ESSL",
             "another partner is another message");
    reads_as(LINE("1", "MPI_Bcast", "") LINE("2", "MPI_Bcast", " communication=\"0\""), "EL", "a root is no message");
    reads_as(LINE("1", "MPI_Probe", "") LINE("2", "MPI_Probe", " communication=\"0\""), "EL", "nor is a probe");
    reads_as(LINE("1", "u", "") LINE("2", "u", " communication=\"0\""), "EL", "a user state has no message");
    reads_as(LINE("1", "u", "") LINE("2", "u", " communication=\"0\" direction=\"receive\""), "ERL",
             "direction makes a message");
    reads_as("<other><event process='0' timestamp='1' data='x' new='1'><y/></event></other><unknown a='b'/>", "E",
             "what is unknown is passed over");
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        int64_t ns;
        bool valid;
    } times[] = {
        {"12.345", 12345, true},
        {"7", 7000, true},
        {"-0.001", -1, true},
        {"1.0005", 1001, true},
        {"1.00049", 1000, true},
        {".5", 500, true},
        {"5.", 5000, true},
        {"1e3", 1000000, true},
        {" 2 ", 2000, true},
        {"9000000000000000", INT64_C(9000000000000000000), true},
        {"9000000000000000.001", 0, false},
        {"-9000000000000000", INT64_C(-9000000000000000000), true},
        {"nan", 0, false},
        {"inf", 0, false},
        {"1e300", 0, false},
        {"", 0, false},
        {".", 0, false},
        {"0x10", 0, false},
        {"99999999999999999999999", 0, false},
        {"1 2", 0, false},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t ns = 0;
        bool valid = xml_get_time((struct xml_value){times[i].text, strlen(times[i].text)}, &ns);
        tap_ok(valid == times[i].valid && (!valid || ns == times[i].ns), "time \"%s\"", times[i].text);
    }
    bool same = true;
    struct xml_line line = {0};
    for (int64_t ns = INT64_C(-9000000000000000000); ns < INT64_C(8900000000000000000);
         ns += INT64_C(5007919191919191)) {
        int64_t back = 0;
        line.length = 0;
        xml_put_time(&line, ns);
        same &= xml_get_time((struct xml_value){line.text, line.length}, &back) && back == ns;
    }
    tap_ok(same, "times come back exactly");
    free(line.text);
}

static void test_texts(void)
{
    struct xml_line line = {0};
    unsigned char all[256];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)i;
    xml_put_latin1(&line, all, sizeof all);
    char back[2048];
    size_t length = xml_get_latin1((struct xml_value){line.text, line.length}, back);
    /* &amp; &lt; &quot; are the parser's to undo: here they stand for themselves. */
    tap_equal_int((long long)length, 256 + 4 + 3 + 5, "all bytes of Latin-1");
    line.length = 0;
    xml_put_utf8(&line, "a%b\n\xC3\xA9\xC2\x85\xE2\x82\xAC\xFF\xEF\xBF\xBF");
    xml_put_bytes(&line, "", 1);
    tap_equal_string(line.text, "a%25b%0A\xC3\xA9%85\xE2\x82\xAC\xC3\xBF\xEF\xBF\xBD", "UTF-8 escaped");
    xml_get_utf8((struct xml_value){"100%zz %41%e9%", 14}, back);
    tap_equal_string(back, "100%zz A\xC3\xA9%", "only two hexadecimal digits are an escape");
    free(line.text);
}

static struct event make(uint8_t kind, int64_t ns, uint32_t state)
{
    struct event event = EVENT_NOTHING;
    event.kind = kind;
    event.time_ns = ns;
    event.state = state;
    return event;
}

static struct event make_message(uint8_t kind, int64_t ns, int32_t partner)
{
    struct event event = make(kind, ns, 0);
    event.partner = partner;
    event.tag = 5;
    *(kind == EVENT_SEND ? &event.bytes_sent : &event.bytes_received) = 100;
    return event;
}

enum { SEND, WAITALL, WORK, BCAST };

static struct trace trace_of(const struct event *events, size_t count)
{
    static const char *const names[] = {"MPI_Send", "MPI_Waitall", "work", "MPI_Bcast"};
    struct trace trace = {.defs = defs_new(), .end.complete = true};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        defs_add_state(trace.defs, &(struct state_def){.name = (char *)(uintptr_t)names[i],
                                                       .id = EVENT_UNKNOWN,
                                                       .start = EVENT_UNKNOWN,
                                                       .end = EVENT_UNKNOWN});
    for (size_t i = 0; i < count; i++)
        trace_add(&trace, events[i], "hello%\x01");
    return trace;
}

/* The lines of events must be these. */
static void writes_as(const struct event *events, size_t count, const char *lines, const char *name)
{
    struct trace trace = trace_of(events, count);
    char *text = trace_write(&trace);
    char *at = strstr(text, "<state name=\"MPI_Bcast\"/>\n");
    char *end = strstr(text, "</trace>\n");
    if (tap_ok(at && end, "%s: definitions and end", name)) {
        *end = '\0';
        tap_equal_string(strchr(at, '\n') + 1, lines, "%s", name);
    }
    free(text);
    trace_free(&trace);
}
#define WRITES_AS(events, lines, name) writes_as((events), sizeof(events) / sizeof *(events), lines, name)

static void test_written_kinds(void)
{
    const struct event events[] = {make(EVENT_LEAVE, -1, WORK),   make(EVENT_ENTER, 1000, WORK),
                                   make(EVENT_ENTER, 2000, WORK), make(EVENT_LEAVE, 3000, WORK),
                                   make(EVENT_ENTER, 4000, SEND), make(EVENT_LEAVE, 5000, WORK),
                                   make(EVENT_LEAVE, 6000, SEND)};
    WRITES_AS(events,
              LINE("-0.001", "work", " kind=\"leave\"") LINE("1", "work", "") LINE("2", "work", " kind=\"enter\"")
                  LINE("3", "work", "") LINE("4", "MPI_Send", "") LINE("5", "work", " kind=\"leave\"")
                      LINE("6", "MPI_Send", ""),
              "kind only where the rule errs");
    struct event root = make(EVENT_LEAVE, 2000, BCAST), call = make(EVENT_ENTER, 3000, BCAST);
    root.tag = 3;
    root.value = 2; /* MPE-1's count of calls */
    call.value = 4; /* no such count */
    const struct event values[] = {make(EVENT_ENTER, 1000, BCAST), root, call};
    WRITES_AS(values,
              LINE("1", "MPI_Bcast", "") LINE("2", "MPI_Bcast", " communication=\"3\"")
                  LINE("3", "MPI_Bcast", " value=\"4\""),
              "the root of a collective; values but for MPE-1's count of calls");
}

#define MESSAGE(time, rest) "<message process=\"0\" timestamp=\"" time "\" " rest "/>\n"

static void test_written_messages(void)
{
    const struct event events[] = {make(EVENT_ENTER, 1000, WAITALL), make_message(EVENT_RECEIVE, 1500, 3),
                                   make_message(EVENT_SEND, 1500, -1), make_message(EVENT_RECEIVE, 1600, 4),
                                   make(EVENT_LEAVE, 2000, WAITALL)};
    WRITES_AS(events,
              LINE("1", "MPI_Waitall", "")
                  MESSAGE("1.5", "communication=\"-1\" tag=\"5\" bytes=\"100\" direction=\"send\"")
                      MESSAGE("1.6", "communication=\"4\" tag=\"5\" bytes=\"100\"")
                          LINE("2", "MPI_Waitall", " communication=\"3\" tag=\"5\" bytes=\"100\" before=\"0.5\""),
              "the first message on the leave");
    struct event thread = make_message(EVENT_SEND, 1500, 3);
    thread.thread = 1;
    const struct event apart[] = {make(EVENT_ENTER, 1000, SEND), thread, make(EVENT_LEAVE, 2000, SEND)};
    WRITES_AS(apart,
              LINE("1", "MPI_Send", "") "<message process=\"0\" timestamp=\"1.5\" thread=\"1\" communication=\"3\" "
                                        "tag=\"5\" bytes=\"100\" direction=\"send\"/>\n" LINE("2", "MPI_Send", ""),
              "a message of another thread stays by itself");
    struct event text = make(EVENT_ENTER, 1000, WORK), binary = make(EVENT_LEAVE, 2000, WORK);
    text.payload_length = 7;
    text.flags = EVENT_PAYLOAD_TEXT;
    binary.payload_length = 5;
    const struct event payloads[] = {text, make_message(EVENT_SEND, 1500, EVENT_UNKNOWN), binary};
    WRITES_AS(payloads,
              LINE("1", "work", " text=\"hello%25%01\"") LINE(
                  "2", "work", " tag=\"5\" bytes=\"100\" direction=\"send\" before=\"0.5\" payload=\"68656C6C6F\""),
              "payloads, and a message whose partner is not known");
}

static void damage_of(const char *text, size_t length, const char *kinds, const char *what)
{
    struct trace trace = trace_read(text, length);
    bool said = tap_ok(trace.end.damage.count > 0 && strstr(trace.end.damage.first, what), "damage: %s", what);
    if (!said)
        printf("# %s\n", trace.end.damage.first);
    tap_equal_string(kinds_of(&trace), kinds, "what is good is read: %s", what);
    tap_ok(!trace.end.complete, "and the trace is not complete");
    trace_free(&trace);
}
#define DAMAGE_OF(text, kinds, what) damage_of((text), sizeof(text) - 1, (kinds), (what))

/* Lists of any length become records of a few each, which CLOG-2 has room for; and its mark. */
static void test_neighbours(void)
{
    static const char text[] =
        "<trace>\n"
        "<neighbours communicator=\"0\" ranks=\"0 1 2 3 4 5 6 7 8\" process=\"1\" timestamp=\"2\"/>\n"
        "<neighbours direction=\"receive\" communicator=\"0\" ranks=\"\" process=\"0\" "
        "timestamp=\"3\"/>\n"
        "<neighbours direction=\"send\" communicator=\"0\" ranks=\"4 x\" process=\"0\" "
        "timestamp=\"4\"/>\n" LINE("5", "u", "") "</trace>\n";
    struct trace trace = trace_read(text, sizeof text - 1);
    struct neighbours given[4] = {0};
    tap_equal_string(kinds_of(&trace), "nnnnE", "neighbours: two records of a list of nine");
    for (size_t i = 0; i < 4 && i < trace.count; i++)
        payload_get_neighbours(trace.arena + trace.events[i].payload, trace.events[i].payload_length, &given[i]);
    tap_ok(given[0].way == NEIGHBOURS_BOTH && given[0].ranks[0] == 0 && given[0].ranks[6] == 6,
           "neighbours: seven of them");
    tap_ok(given[1].ranks[0] == 7 && given[1].ranks[1] == 8 && given[1].ranks[2] == -1, "neighbours: the other two");
    tap_ok(given[2].way == NEIGHBOURS_SOURCES && given[2].ranks[0] == -1, "neighbours: none that gives");
    tap_ok(given[3].way == NEIGHBOURS_DESTINATIONS && given[3].ranks[0] == 4, "neighbours: one that gets");
    tap_equal_int((long long)trace.end.damage.count, 1, "neighbours: what is no list of numbers is damage");
    if (tap_equal_int((long long)trace.defs->mark_count, 1, "neighbours: their mark is defined"))
        tap_equal_string(trace.defs->marks[0].format, NEIGHBOURS_MARK_FORMAT, "neighbours: as CLOG-2 needs it");
    trace_free(&trace);
}

static void test_entities(void)
{
    static const char refused[] = "entity declarations are not accepted";
    DAMAGE_OF("<!DOCTYPE trace [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;&a;\">]><trace>" LINE("1", "&b;", "") "</trace>",
              "", refused);
    DAMAGE_OF("<!DOCTYPE trace [<!ENTITY x SYSTEM \"/etc/passwd\">]><trace>" LINE("1", "a", "") "&x;</trace>", "",
              refused);
    DAMAGE_OF("<!DOCTYPE trace [<!ENTITY % x SYSTEM \"file:///etc/passwd\"> %x;]><trace/>", "", refused);
    DAMAGE_OF("<!DOCTYPE trace [<!NOTATION n SYSTEM \"n\"><!ENTITY x SYSTEM \"y\" NDATA n>]><trace/>", "", refused);
    DAMAGE_OF("<trace>" LINE("1", "&x;", "") "</trace>", "", "Entity 'x' not defined");
}

static void test_damage(void)
{
    DAMAGE_OF("<trace><event timestamp='1' data='a'/></trace>", "", "byte 7: event without process");
    DAMAGE_OF("<trace>" LINE("1", "a", "") "<event process='0' data='a'/></trace>", "E", "event without timestamp");
    DAMAGE_OF("<trace><event process='0' timestamp='1'/></trace>", "", "event without data");
    DAMAGE_OF("<trace><event process='-1' timestamp='1' data='a'/></trace>", "", "process is not a number");
    DAMAGE_OF("<trace><event process='16777216' timestamp='1' data='a'/></trace>", "", "process is not a number");
    DAMAGE_OF("<trace>" LINE("nan", "a", "") LINE("2", "a", "") "</trace>", "E", "invalid time (\"nan\"");
    DAMAGE_OF("<trace>" LINE("1", "a", "") "</trac>", "E", "tag mismatch");
    DAMAGE_OF("<trace>" LINE("1", "a", "") "<event process=\"0\" timesta", "E", "mandates value");
    DAMAGE_OF("<trace>" LINE("1", "a", ""), "E", "the document ends before its last end tag");
    DAMAGE_OF("<trace>" LINE("1", "a", " payload=\"xyz\"") "</trace>", "E", "payload is not hexadecimal");
    struct trace trace = trace_read("<trace complete='no'/>", 22);
    tap_ok(!trace.end.complete && !trace.end.damage.count, "complete=\"no\" is no damage, but not complete");
    trace_free(&trace);
}

static void test_depth(void)
{
    enum { NESTED = 300, OPEN = DEPTH_LIMIT + 2 };
    struct xml_line text = {0};
    XML_PUT(&text, "<trace>");
    for (int i = 0; i < NESTED; i++)
        XML_PUT(&text, "<x>");
    damage_of(text.text, text.length, "", "elements are nested too deep");
    text.length = 0;
    XML_PUT(&text, "<trace>");
    for (int i = 0; i < OPEN; i++)
        XML_PUT(&text, LINE("1", "a", " kind=\"enter\""));
    XML_PUT(&text, "</trace>");
    struct trace trace = trace_read(text.text, text.length);
    tap_equal_int((long long)trace.count, DEPTH_LIMIT, "as many states open as may be");
    tap_equal_int((long long)trace.end.damage.count, OPEN - DEPTH_LIMIT, "more are damage");
    trace_free(&trace);
    free(text.text);
}

static void test_cut(void)
{
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE trace SYSTEM \"sight.dtd\">\n<trace processes=\"2\">\n"
        "<communicator id=\"0\" kind=\"intra\" world=\"yes\"/>\n"
        "<state name=\"w\" process=\"0\" timestamp=\"1\" after=\"1\"/>\n" LINE("1", "w", " text=\"&amp;%41\"")
            LINE("2", "MPI_Recv", "") "<message process=\"0\" timestamp=\"2.5\" communication=\"1\"/>\n" LINE(
                "3", "MPI_Recv", " communication=\"1\"") "<mark process=\"0\" timestamp=\"4\" data=\"m\"/>\n</trace>\n";
    unsigned complete = 0;
    size_t most = 0;
    for (size_t length = 0; length < sizeof text; length++) {
        char *exact = memory_new(length);
        memcpy(exact, text, length);
        struct trace trace = trace_read(exact, length);
        complete += trace.end.complete;
        most = trace.count > most ? trace.count : most;
        trace_free(&trace);
        free(exact);
    }
    tap_equal_int(complete, 2, "cut at every byte: complete only at the end tag and behind it");
    tap_equal_int((long long)most, 7, "events of the whole");
}

static void test_probe(void)
{
    const struct format *xml = &format_xml;
    tap_equal_int(xml->probe((const unsigned char *)"\xEF\xBB\xBF <trace>", 11), 95, "a trace");
    tap_equal_int(xml->probe((const unsigned char *)"<svg>", 5), 60, "some XML");
    tap_equal_int(xml->probe((const unsigned char *)"<html>", 6), 0, "a web page");
    tap_equal_int(xml->probe((const unsigned char *)"\xFF\xFE<\0t\0", 6), 60, "UTF-16");
    tap_equal_int(xml->probe((const unsigned char *)"-2 0 0", 6), 0, "no XML");
    tap_equal_int(xml->probe((const unsigned char *)"", 0), 0, "nothing");
}

int main(void)
{
    snprintf(test_path, sizeof test_path, "/tmp/test_xml.%d.xml", (int)getpid());
    test_example();
    test_pairing();
    test_communication();
    test_numbers();
    test_texts();
    test_written_kinds();
    test_written_messages();
    test_neighbours();
    test_entities();
    test_damage();
    test_depth();
    test_cut();
    test_probe();
    unlink(test_path);
    return tap_done();
}
