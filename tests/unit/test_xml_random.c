/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace XML: nothing is lost between writing and reading, for random traces of all that events can hold. */
#include "core/payload.h"
#include "unit/tap.h"
#include "unit/xml_trace.h"

static int order_of_events(const void *left, const void *right)
{
    const struct event *a = *(const struct event *const *)left, *b = *(const struct event *const *)right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static const struct event **sorted(const struct trace *trace)
{
    const struct event **order = memory_new(trace->count * sizeof *order);
    for (size_t i = 0; i < trace->count; i++)
        order[i] = &trace->events[i];
    qsort(order, trace->count, sizeof *order, order_of_events);
    return order;
}

static const char *event_difference(const struct trace *one, const struct event *a, const struct trace *two,
                                    const struct event *b)
{
#define DIFFERS(field)                                                                                                 \
    if (a->field != b->field)                                                                                          \
        return #field;
    DIFFERS(kind)
    DIFFERS(time_ns)
    DIFFERS(process)
    DIFFERS(thread)
    DIFFERS(state)
    DIFFERS(comm)
    DIFFERS(partner_comm)
    DIFFERS(partner)
    DIFFERS(tag)
    DIFFERS(bytes_sent)
    DIFFERS(bytes_received)
    DIFFERS(value)
    DIFFERS(request)
    DIFFERS(site)
    DIFFERS(payload_length)
    DIFFERS(flags)
#undef DIFFERS
    if (a->payload_length && memcmp(one->arena + a->payload, two->arena + b->payload, a->payload_length) != 0)
        return "payload";
    return NULL;
}

static bool equal_events(const struct trace *one, const struct trace *two)
{
    const struct event **a = sorted(one), **b = sorted(two);
    const char *difference = one->count != two->count ? "count" : NULL;
    if (difference)
        printf("# %zu events became %zu\n", one->count, two->count);
    for (size_t i = 0; i < one->count && i < two->count && !difference; i++) {
        difference = event_difference(one, a[i], two, b[i]);
        if (difference)
            printf("# event %zu: %s (kind %d, %d)\n", i, difference, a[i]->kind, b[i]->kind);
    }
    free(a);
    free(b);
    return !difference;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool equal_named(const struct defs *a, const struct defs *b)
{
    bool equal = a->state_count == b->state_count && a->mark_count == b->mark_count;
    for (size_t i = 0; equal && i < a->state_count; i++) {
        const struct state_def *x = &a->states[i], *y = &b->states[i];
        equal = same_text(x->name, y->name) && same_text(x->original, y->original) && same_text(x->colour, y->colour) &&
                same_text(x->format, y->format) && x->id == y->id && x->start == y->start && x->end == y->end &&
                x->shadowed == y->shadowed;
    }
    for (size_t i = 0; equal && i < a->mark_count; i++) {
        const struct mark_def *x = &a->marks[i], *y = &b->marks[i];
        equal = same_text(x->name, y->name) && same_text(x->colour, y->colour) && same_text(x->format, y->format) &&
                x->id == y->id && x->shadowed == y->shadowed && x->defined == y->defined;
    }
    return equal;
}

static bool equal_comms(const struct defs *a, const struct defs *b)
{
    bool equal = a->comm_count == b->comm_count && a->comm_row_count == b->comm_row_count;
    for (size_t i = 0; equal && i < a->comm_count; i++)
        equal = a->comms[i].id == b->comms[i].id && a->comms[i].world == b->comms[i].world &&
                a->comms[i].self == b->comms[i].self && a->comms[i].has_uuid == b->comms[i].has_uuid &&
                memcmp(a->comms[i].uuid, b->comms[i].uuid, COMM_UUID_SIZE) == 0;
    for (size_t i = 0; equal && i < a->comm_row_count; i++)
        equal = a->comm_rows[i].id == b->comm_rows[i].id && a->comm_rows[i].kind == b->comm_rows[i].kind &&
                memcmp(a->comm_rows[i].uuid, b->comm_rows[i].uuid, COMM_UUID_SIZE) == 0;
    return equal;
}

static bool equal_defs(const struct defs *a, const struct defs *b)
{
    bool equal = equal_named(a, b) && equal_comms(a, b) && a->constant_count == b->constant_count &&
                 a->site_count == b->site_count && a->processes == b->processes && a->threads == b->threads &&
                 same_text(a->version, b->version) && same_text(a->creator, b->creator);
    for (size_t i = 0; equal && i < a->constant_count; i++)
        equal = same_text(a->constants[i].name, b->constants[i].name) && a->constants[i].value == b->constants[i].value;
    for (size_t i = 0; equal && i < a->site_count; i++)
        equal = same_text(a->sites[i].file, b->sites[i].file) &&
                same_text(a->sites[i].function, b->sites[i].function) && a->sites[i].line == b->sites[i].line &&
                a->sites[i].id == b->sites[i].id;
    return equal;
}

static uint64_t random_state = 1;
static unsigned chance(unsigned below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(random_state >> 33) % below;
}

enum { STATES = 10, MARKS = 5, COMMS = 5, SITES = 2, PROCESSES = 3 };

static void random_comms(struct defs *defs)
{
    for (int32_t i = 0; i < COMMS; i++) {
        int32_t index = defs_comm(defs, (i * 3 + 1) % COMMS);
        struct comm_def *comm = &defs->comms[index];
        comm->world = i == 0 && chance(4);
        comm->self = i == 1;
        comm->has_uuid = i < 3;
        if (comm->has_uuid)
            memset(comm->uuid, 0x10 + i, COMM_UUID_SIZE);
    }
    for (int32_t i = 0; i < 4; i++) {
        const struct comm_def *comm = &defs->comms[chance(3)];
        struct comm_row row = {.id = comm->id, .kind = (int32_t)chance(5) - 1};
        memcpy(row.uuid, comm->uuid, COMM_UUID_SIZE);
        row.uuid[3] = (unsigned char)(chance(3) ? row.uuid[3] : (unsigned)i);
        ARRAY_PUSH(defs->comm_rows, defs->comm_row_count, defs->comm_row_capacity, row);
    }
}

static struct defs *random_defs(void)
{
    static char names[STATES][16] = {"MPI_Send", "MPI_Recv",  "MPI_Bcast",           "MPI_Probe", "MPI_Sendrecv",
                                     "work",     "MPI_Irecv", "a%b<\"&\x01\xC3\xA9", "work",      "MPI_Send"};
    static char marks[MARKS][16] = {NEIGHBOURS_MARK_NAME, "mark", "", "twice", "twice"};
    static char original[] = "SEND & more", colour[] = "steel blue", format[] = "%d of\t%s";
    struct defs *defs = defs_new();
    for (int32_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = names[i],
                                                 .id = i,
                                                 .start = 2 * i,
                                                 .end = 2 * i + 1,
                                                 .original = chance(2) ? original : NULL,
                                                 .colour = chance(2) ? colour : NULL,
                                                 .shadowed = chance(5) == 0});
    for (int32_t i = 0; i < MARKS; i++)
        defs_add_mark(defs, &(struct mark_def){.name = marks[i],
                                               .id = 500 + i,
                                               .format = i == 0 || chance(2) ? format : NULL,
                                               .defined = chance(2) != 0});
    defs_add_constant(defs, "MPI_ANY_TAG", -1);
    defs_add_site(defs, &(struct site_def){.id = 7, .line = 12, .file = (char *)"main.c"});
    defs_add_site(defs, &(struct site_def){.id = EVENT_UNKNOWN, .function = (char *)"work"});
    random_comms(defs);
    defs->processes = PROCESSES;
    defs->threads = 2;
    defs->version = memory_copy_string("TEST-1 \"x\"");
    return defs;
}

static int32_t random_comm(void)
{
    return chance(4) ? 0 : chance(4) ? (int32_t)chance(COMMS) : EVENT_UNKNOWN;
}

static int32_t maybe(int32_t least, unsigned span)
{
    return chance(3) ? least + (int32_t)chance(span) : EVENT_UNKNOWN;
}

/* A record about the trace; false where there is none to make. */
static bool random_record(struct event *event, uint32_t next[4], unsigned char payload[NEIGHBOURS_MARK_SIZE])
{
    struct neighbours neighbours = {.way = 1 + (int32_t)chance(3)};
    static const uint32_t counts[4] = {STATES, MARKS, 1, SITES};
    static const int64_t made[] = {
        COMM_STEP_WORLD, COMM_STEP_SELF, COMM_STEP_INTRA, COMM_STEP_LOCAL, COMM_STEP_REMOTE, COMM_STEP_INTER, 55};
    switch (chance(5)) {
    case 4:
        event->kind = EVENT_NEIGHBOURS;
        event->payload_length = NEIGHBOURS_MARK_SIZE;
        for (unsigned i = 0, count = chance(NEIGHBOURS_RANKS + 1); i < NEIGHBOURS_RANKS; i++)
            neighbours.ranks[i] = i < count ? (int32_t)chance(2000) : -1;
        payload_put_neighbours(payload, &neighbours);
        return next[DEFINITION_MARK] > 0; /* its definition stands before it */
    case 0:
        event->kind = EVENT_COMM_MADE;
        event->partner_comm = random_comm();
        event->tag = maybe(-1, 5);
        event->value = made[chance(7)];
        return true;
    case 1:
        event->kind = EVENT_COMM_FREED;
        event->value = chance(2) ? COMM_STEP_FREE : 0;
        event->tag = maybe(-1, 5);
        return true;
    case 2:
        event->kind = EVENT_SHIFT;
        event->value = (int64_t)chance(1000000) - 500000;
        return true;
    default:
        event->kind = EVENT_DEFINITION;
        event->value = chance(4);
        event->state = next[event->value]++;
        return event->state < counts[event->value];
    }
}

/* Attributes that are rare, on any event. */
static void random_rest(struct event *event, unsigned char payload[16])
{
    bool is_message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    if (chance(6) == 0)
        event->request = chance(5);
    if (chance(6) == 0)
        event->site = chance(SITES + 1);
    if (chance(6) == 0)
        event->value = 1000000 + (int64_t)chance(100);
    if (chance(8) == 0)
        event->bytes_sent = chance(1000);
    if (chance(8) == 0)
        event->bytes_received = chance(1000);
    if (chance(8) == 0)
        event->partner_comm = random_comm();
    if (!is_message && chance(5) == 0)
        event->partner = maybe(-1, 4);
    if (!is_message && chance(5) == 0)
        event->tag = maybe(-3, 9);
    if (chance(6) == 0) {
        event->payload_length = 1 + chance(15);
        for (unsigned i = 0; i < event->payload_length; i++)
            payload[i] = (unsigned char)chance(256);
        payload[event->payload_length - 1] |= 1;
        event->flags = chance(2) ? EVENT_PAYLOAD_TEXT : 0;
    }
}

static void random_event(struct event *event, unsigned char payload[16], unsigned rest)
{
    static const uint8_t kinds[] = {EVENT_ENTER,   EVENT_ENTER,      EVENT_ENTER, EVENT_LEAVE,
                                    EVENT_LEAVE,   EVENT_LEAVE,      EVENT_SEND,  EVENT_SEND,
                                    EVENT_RECEIVE, EVENT_COLLECTIVE, EVENT_MARK,  EVENT_COUNTER};
    event->kind = kinds[chance(sizeof kinds)];
    if (event->kind <= EVENT_LEAVE)
        event->state = chance(chance(2) ? 3 : STATES);
    else if (event->kind >= EVENT_MARK)
        event->state = chance(MARKS);
    if (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE) {
        event->partner = maybe(-1, 4);
        event->partner_comm = event->comm;
        event->tag = maybe(0, 100);
        *(event->kind == EVENT_SEND ? &event->bytes_sent : &event->bytes_received) = chance(100000);
    }
    if (chance(rest) == 0)
        random_rest(event, payload);
}

static struct trace random_trace(void)
{
    struct trace trace = {.defs = random_defs(), .end.complete = true};
    uint32_t next[4] = {0};
    int64_t times[PROCESSES] = {-3000, -500, 0};
    unsigned step = 1 + chance(2000), rest = 1 + chance(10), threads = 1 + chance(2), back = chance(2) ? 20 : 1000000;
    for (size_t i = 0, count = chance(300); i < count; i++) {
        struct event event = EVENT_NOTHING;
        unsigned char payload[NEIGHBOURS_MARK_SIZE];
        event.process = chance(PROCESSES);
        event.thread = chance(threads);
        int64_t *time = &times[event.process];
        *time += chance(3) ? 0 : (int64_t)chance(step);
        event.time_ns = chance(back) ? *time : *time - (int64_t)chance(2 * step);
        event.comm = random_comm();
        bool is_record = chance(8) == 0;
        if (is_record && !random_record(&event, next, payload))
            continue;
        if (!is_record)
            random_event(&event, payload, rest);
        trace_add(&trace, event, payload);
    }
    return trace;
}

/* Of the records about the trace, only those of one process and time that stood behind the same event may change places
   when XML is made from XML. */
static void drop_records(struct trace *trace)
{
    size_t kept = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (event_counts(&trace->events[i]))
            trace->events[kept++] = trace->events[i];
    trace->count = kept;
}

/* Files for `xmllint --dtdvalid` where SIGHT_TEST_KEEP names a folder. */
static void keep(const char *text, unsigned round)
{
    const char *folder = getenv("SIGHT_TEST_KEEP");
    char path[512];
    if (!folder || snprintf(path, sizeof path, "%s/random%u.xml", folder, round) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    fputs(text, file);
    fclose(file);
}

int main(void)
{
    enum { ROUNDS = 1000 };
    unsigned equal = 0, same = 0, defs = 0, whole = 0;
    snprintf(test_path, sizeof test_path, "/tmp/test_xml_random.%d.xml", (int)getpid());
    for (unsigned round = 0; round < ROUNDS; round++) {
        random_state = round + 1;
        struct trace trace = random_trace();
        char *text = trace_write(&trace);
        struct trace back = trace_read(text, strlen(text));
        char *again = trace_write(&back);
        keep(text, round);
        bool good = equal_events(&trace, &back) && back.end.complete;
        if (!good)
            printf("# round %u: %s\n", round, back.end.damage.first);
        equal += good;
        defs += equal_defs(trace.defs, back.defs);
        struct trace third = trace_read(again, strlen(again));
        drop_records(&third);
        drop_records(&back);
        same += equal_events(&back, &third) && equal_defs(back.defs, third.defs);
        whole += back.end.complete;
        free(text);
        free(again);
        trace_free(&third);
        trace_free(&trace);
        trace_free(&back);
    }
    tap_equal_int(equal, ROUNDS, "random traces: equal events");
    tap_equal_int(defs, ROUNDS, "random traces: equal definitions");
    tap_equal_int(same, ROUNDS, "random traces: read again the same");
    tap_equal_int(whole, ROUNDS, "random traces: no damage");
    unlink(test_path);
    return tap_done();
}
