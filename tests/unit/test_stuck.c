/* SPDX-License-Identifier: BSD-3-Clause */
/* Why runs hang: small ends of runs with known verdicts, and large ones in little time. */
#include "core/memory.h"
#include "core/payload.h"
#include "stuck/stuck.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    INIT,
    SEND,
    RECV,
    BARRIER,
    ALLREDUCE,
    WAITALL,
    WAITANY,
    TEST,
    FINALIZE,
    IBARRIER,
    WAIT,
    WIN_START,
    SENDRECV,
    WIN_LOCK,
    BARRIER_INIT,
    ALLREDUCE_INIT,
    START,
    SSEND,
    STATES
};
#define SECOND INT64_C(1000000000)

static struct defs *defs;
static struct stuck_builder *builder;
static struct batch batch;

static void flush(void)
{
    struct error err = {0};
    struct sink *sink = stuck_builder_sink(builder);
    if (sink->events(sink, &batch, &err) != STATUS_OK)
        abort();
    batch_clear(&batch);
}

static struct event *put(uint32_t process, enum event_kind kind, int64_t time_ns, uint32_t state)
{
    if (batch.count == BATCH_EVENTS)
        flush();
    struct event *event = &batch.events[batch.count++];
    *event = EVENT_NOTHING;
    event->kind = (uint8_t)kind;
    event->process = process;
    event->time_ns = time_ns;
    event->state = state;
    event->comm = event->partner_comm = 0;
    return event;
}

static void begin(uint32_t processes)
{
    static const char *const names[STATES] = {
        "MPI_Init",     "MPI_Send",     "MPI_Recv",         "MPI_Barrier",        "MPI_Allreduce", "MPI_Waitall",
        "MPI_Waitany",  "MPI_Test",     "MPI_Finalize",     "MPI_Ibarrier",       "MPI_Wait",      "MPI_Win_start",
        "MPI_Sendrecv", "MPI_Win_lock", "MPI_Barrier_init", "MPI_Allreduce_init", "MPI_Start",     "MPI_Ssend"};
    struct error err = {0};
    defs = defs_new();
    defs->processes = processes;
    for (size_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t)PENDING_MARK_NAME, .defined = true});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t)RANKS_MARK_NAME, .defined = true});
    int32_t world = defs_comm(defs, 0);
    defs->comms[world].world = true;
    builder = stuck_builder_new();
    struct sink *sink = stuck_builder_sink(builder);
    if (sink->begin(sink, defs, &err) != STATUS_OK)
        abort();
    for (uint32_t i = 0; i < processes; i++) {
        put(i, EVENT_ENTER, 0, INIT);
        put(i, EVENT_LEAVE, 1000, INIT);
    }
}

/* A call that returns, or with leave_ns 0 does not. */
static void call(uint32_t process, uint32_t state, int64_t enter_ns, int64_t leave_ns)
{
    put(process, EVENT_ENTER, enter_ns, state);
    if (leave_ns)
        put(process, EVENT_LEAVE, leave_ns, state);
}

static void pending(uint32_t process, enum pending_what what, int32_t partner, int32_t tag, int32_t how)
{
    unsigned char payload[PENDING_MARK_SIZE];
    payload_put_pending(payload, &(struct pending){.what = (int32_t)what, .partner = partner, .tag = tag, .how = how});
    batch_set_payload(&batch, put(process, EVENT_MARK, 10 * SECOND, 0), payload, sizeof payload);
}

/* In MPI_Recv for a message with tag 1. */
static void receives(uint32_t process, int32_t partner)
{
    call(process, RECV, 2000 + process, 0);
    pending(process, PENDING_ALIVE, 0, 0, 0);
    pending(process, PENDING_RECEIVE, partner, 1, PENDING_WAITED);
}

static void in_call(uint32_t process, uint32_t state)
{
    call(process, state, 2000 + process, 0);
    pending(process, PENDING_ALIVE, 0, 0, 0);
}

/* A call that posts a collective, as this request. */
static void posts(uint32_t process, uint32_t state, int64_t enter_ns, uint32_t request)
{
    put(process, EVENT_ENTER, enter_ns, state);
    struct event *event = put(process, EVENT_LEAVE, enter_ns + 100, state);
    event->request = request;
    event->requests = 1;
}

/* All live; `waiting` has entered a receive from process 0. */
static void alive_but(uint32_t processes, uint32_t waiting)
{
    for (uint32_t i = 0; i < processes; i++)
        if (i == waiting)
            receives(i, 0);
        else
            pending(i, PENDING_ALIVE, 0, 0, 0);
}

static void pending_request(uint32_t process, int32_t request)
{
    unsigned char payload[PENDING_MARK_SIZE];
    payload_put_pending(payload,
                        &(struct pending){.what = PENDING_COLLECTIVE, .request = request, .how = PENDING_WAITED});
    batch_set_payload(&batch, put(process, EVENT_MARK, 10 * SECOND, 0), payload, sizeof payload);
}

/* Ranks of the group of the current call on the window, which has all processes. */
static void ranks(uint32_t process, int32_t first, int32_t last, int32_t step)
{
    unsigned char payload[PENDING_MARK_SIZE];
    payload_put_pending(payload, &(struct pending){.what = first, .partner = last, .tag = step});
    batch_set_payload(&batch, put(process, EVENT_MARK, 2500, 1), payload, sizeof payload);
}

/* The current call locks the part of a process, for itself alone. */
static void lock_of(uint32_t process, int64_t time_ns, int32_t target)
{
    unsigned char payload[PENDING_MARK_SIZE];
    payload_put_pending(
        payload, &(struct pending){.what = target, .partner = target, .tag = 1, .how = (int32_t)WINDOW_EXCLUSIVE});
    batch_set_payload(&batch, put(process, EVENT_MARK, time_ns, 1), payload, sizeof payload);
}

/* An active send to process 1 of four parts with tag 1, of which some are ready; it was started. */
static void send_of_parts(int32_t ready, int32_t how)
{
    unsigned char payload[PENDING_MARK_SIZE];
    payload_put_pending(
        payload,
        &(struct pending){
            .what = PENDING_SEND, .partner = 1, .tag = 1, .how = how, .request = 1, .partitions = 4, .ready = ready});
    batch_set_payload(&batch, put(0, EVENT_MARK, 10 * SECOND, 0), payload, sizeof payload);
}

static void sent(uint32_t process, int32_t to, int32_t tag)
{
    put(process, EVENT_ENTER, 1500, SEND);
    struct event *event = put(process, EVENT_SEND, 1500, SEND);
    event->partner = to;
    event->tag = tag;
    put(process, EVENT_LEAVE, 1600, SEND);
}

/* What the open call of a process sends. */
static void send_in_call(uint32_t process, int32_t to)
{
    struct event *event = put(process, EVENT_SEND, 2000 + process, SSEND);
    event->partner = to;
    event->tag = 1;
    pending(process, PENDING_ALIVE, 0, 0, 0);
}

/* In MPI_Sendrecv with one partner: sends with this tag, waits for a message with tag 1. */
static void exchanges(uint32_t process, int32_t partner, int32_t tag)
{
    put(process, EVENT_ENTER, 1500, SENDRECV);
    struct event *event = put(process, EVENT_SEND, 1500, SENDRECV);
    event->partner = partner;
    event->tag = tag;
    pending(process, PENDING_ALIVE, 0, 0, 0);
    pending(process, PENDING_RECEIVE, partner, 1, PENDING_WAITED);
}

static struct stuck *end(void)
{
    flush();
    return stuck_builder_end(builder);
}

static void expect_text(const char *text, const char *name)
{
    struct stuck *stuck = end();
    tap_ok(stuck->kind == STUCK_ENDED && strstr(stuck->text, text), "%s: %s", name,
           stuck->text ? stuck->text : "nothing");
    stuck_free(stuck);
    defs_free(defs);
}

static void expect(enum stuck_kind kind, const char *name)
{
    struct stuck *stuck = end();
    tap_ok(stuck->kind == kind, "%s: %s", name, stuck->text ? stuck->text : "nothing");
    stuck_free(stuck);
    defs_free(defs);
}

static void and_or(void)
{
    begin(2);
    receives(0, 1);
    receives(1, 0);
    expect(STUCK_CYCLE, "two that receive of each other");

    begin(2);
    sent(1, 0, 1);
    receives(0, 1);
    receives(1, 0);
    expect(STUCK_SLOW, "the message is on its way");

    begin(3);
    receives(0, PENDING_ANYBODY);
    receives(1, 0);
    pending(2, PENDING_ALIVE, 0, 0, 0); /* computes */
    expect(STUCK_COMPUTING, "any of several: one computes");

    begin(3);
    receives(0, PENDING_ANYBODY);
    receives(1, 0);
    receives(2, 1);
    expect(STUCK_CYCLE, "any of several: a knot");

    begin(3);
    in_call(0, WAITANY);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED | PENDING_ANY);
    pending(0, PENDING_RECEIVE, 2, 1, PENDING_WAITED | PENDING_ANY);
    receives(1, 0);
    pending(2, PENDING_ALIVE, 0, 0, 0);
    expect(STUCK_COMPUTING, "MPI_Waitany: one of both may come");

    begin(3);
    in_call(0, WAITALL);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED);
    pending(0, PENDING_RECEIVE, 2, 1, PENDING_WAITED);
    receives(1, 0);
    pending(2, PENDING_ALIVE, 0, 0, 0);
    expect(STUCK_CYCLE, "MPI_Waitall: one of both cannot come");

    begin(2);
    sent(1, 0, 1);
    in_call(0, WAITALL);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED);
    receives(1, 0);
    expect(STUCK_CYCLE, "two receives, one message");

    /* The second collective of process 0 is not the third, which process 1 never enters. */
    begin(2);
    for (int i = 0; i < 2; i++)
        posts(0, IBARRIER, 1100 + 200 * i, (uint32_t)i + 1);
    posts(1, IBARRIER, 1100, 1);
    in_call(0, WAITALL);
    pending_request(0, 1);
    pending_request(0, 2);
    receives(1, 0);
    expect(STUCK_MISSING, "two collectives posted, one entered by all");

    /* Process 2 is not in the group: what it waits for does not matter. */
    begin(4);
    call(0, WIN_START, 2000, 0);
    ranks(0, 1, 3, 2);
    alive_but(4, 2);
    expect(STUCK_COMPUTING, "an epoch with a group that has gaps");

    begin(5);
    call(0, WIN_START, 2000, 0);
    ranks(0, 1, 3, 2);
    ranks(0, 4, 4, 1);
    alive_but(5, 3);
    expect(STUCK_CYCLE, "a member in the first of two marks never posts");
}

/* Process `to` has received a message with tag 1. */
static void got(uint32_t from, uint32_t to)
{
    sent(from, (int32_t)to, 1);
    put(to, EVENT_ENTER, 1700, RECV);
    struct event *event = put(to, EVENT_RECEIVE, 1800, RECV);
    event->partner = (int32_t)from;
    event->tag = 1;
    put(to, EVENT_LEAVE, 1800, RECV);
}

/* Prepares a barrier as request 1 and an MPI_Allreduce as request 2. */
static void prepares(uint32_t process)
{
    posts(process, BARRIER_INIT, 1100, 1);
    posts(process, ALLREDUCE_INIT, 1300, 2);
}

static void starts(uint32_t process, int64_t enter_ns, uint32_t request)
{
    posts(process, START, enter_ns, request);
}

static void waits(uint32_t process, int32_t request)
{
    in_call(process, WAIT);
    pending_request(process, request);
}

static bool says(const struct stuck *stuck, enum stuck_kind kind, const char *words)
{
    return stuck->kind == kind && stuck->text && strstr(stuck->text, words);
}

/* As expect, with words that the text has. */
static void expect_words(enum stuck_kind kind, const char *words, const char *name)
{
    struct stuck *stuck = end();
    tap_ok(says(stuck, kind, words), "%s: %s", name, stuck->text ? stuck->text : "nothing");
    stuck_free(stuck);
    defs_free(defs);
}

static void persistent(void)
{
    begin(2);
    prepares(0);
    prepares(1);
    starts(0, 1500, 1);
    waits(0, 1);
    receives(1, 0);
    expect_words(STUCK_MISSING, "The collective of MPI_Barrier_init on MPI_COMM_WORLD is never started by process 1",
                 "a persistent barrier that one never starts");

    begin(2);
    prepares(0);
    prepares(1);
    starts(0, 1500, 1);
    starts(1, 1500, 1);
    starts(0, 1700, 1);
    waits(0, 1);
    receives(1, 0);
    expect_words(STUCK_MISSING, "is started less often by process 1", "a persistent barrier that one starts once less");

    begin(2);
    prepares(0);
    starts(0, 1500, 2);
    waits(0, 2);
    receives(1, 0);
    expect_words(STUCK_MISSING, "The collective of MPI_Allreduce_init on MPI_COMM_WORLD is never started by process 1",
                 "a persistent collective that one never prepares");

    begin(2);
    prepares(0);
    prepares(1);
    starts(0, 1500, 1);
    waits(0, 1);
    in_call(1, BARRIER);
    expect_words(STUCK_MISSING, "is never started by process 1: process 1 is in MPI_Barrier",
                 "one goes on to the next barrier");

    begin(2);
    prepares(0);
    prepares(1);
    starts(0, 1500, 1);
    waits(0, 1);
    starts(1, 1500, 2);
    waits(1, 2);
    expect_words(STUCK_CYCLE, "for the collective of MPI_Allreduce_init", "waits between starts in different orders");

    /* What hangs is something else. */
    begin(3);
    for (uint32_t i = 0; i < 3; i++)
        prepares(i);
    for (uint32_t i = 0; i < 3; i++) {
        starts(i, 1500, 1 + i % 2);
        starts(i, 1700, 2 - i % 2);
    }
    waits(0, 1);
    waits(1, 2);
    waits(2, 1);
    expect(STUCK_SLOW, "started in different orders by all: they complete");

    begin(2);
    prepares(0);
    prepares(1);
    starts(0, 1500, 1);
    waits(0, 1);
    pending(1, PENDING_ALIVE, 0, 0, 0);
    expect_words(STUCK_COMPUTING, "Process 1 has been outside MPI", "one computes before it starts");

    /* It was started before recording was switched on. */
    begin(2);
    prepares(0);
    prepares(1);
    waits(0, 1);
    receives(1, 0);
    expect(STUCK_SLOW, "a start that is not recorded");
}

/* Who of several that wait for each other is named. */
static void causes(void)
{
    begin(3);
    for (uint32_t i = 0; i < 3; i++)
        got(i, (i + 1) % 3);
    receives(0, 2);
    receives(2, 1);
    in_call(1, BARRIER);
    expect_words(STUCK_UNMATCHED, "Process 2 is in MPI_Recv for a message from process 1",
                 "a ring that one has left: the one behind it lacks its message");

    begin(3);
    call(0, SSEND, 2000, 0);
    send_in_call(0, 1);
    call(1, SSEND, 2001, 0);
    send_in_call(1, 2);
    in_call(2, BARRIER);
    expect_words(STUCK_MISSING, "never entered by processes 0 and 1: process 1 is in MPI_Ssend",
                 "sends of which the last is never received: that one");

    begin(2);
    got(0, 1);
    call(1, RECV, 2000, 0);
    pending(1, PENDING_ALIVE, 0, 0, 0);
    pending(1, PENDING_RECEIVE, 0, PENDING_ANYBODY, PENDING_WAITED);
    in_call(0, BARRIER);
    expect_words(STUCK_UNMATCHED, "Process 1 is in MPI_Recv for a message from process 0, which was never sent",
                 "of any tag, after others: one is missing");

    begin(3);
    sent(0, 1, 1);
    receives(2, 0);
    receives(1, 0);
    in_call(0, BARRIER);
    expect_words(STUCK_UNMATCHED,
                 "Process 2 is in MPI_Recv for a message from process 0 with tag 1, which was never sent",
                 "of a sender that has sent to another one");

    begin(3);
    sent(1, 0, 1);
    sent(2, 0, 2);
    in_call(0, WAIT);
    pending(0, PENDING_RECEIVE, 2, 1, PENDING_WAITED);
    pending(0, PENDING_RECEIVE, 1, 1, 0);
    in_call(1, BARRIER);
    in_call(2, BARRIER);
    expect_words(STUCK_UNMATCHED,
                 "A message with a different tag was sent to process 0 and never received: from process 2",
                 "a message for another receive is no near miss");

    begin(2);
    receives(0, 0);
    call(1, BARRIER, 3 * SECOND, 0);
    pending(1, PENDING_ALIVE, 0, 0, 0);
    expect_words(STUCK_UNMATCHED,
                 "Process 0 is in MPI_Recv for a message from process 0 with tag 1: it waits for itself.", "of itself");

    begin(2);
    in_call(0, WAITANY);
    pending(0, PENDING_RECEIVE, 0, 1, PENDING_WAITED | PENDING_ANY);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED | PENDING_ANY);
    receives(1, 0);
    expect(STUCK_CYCLE, "of itself or of another one that waits for it");
}

/* Has locked its own part of the window at a time, and wants that of another. */
static void locks(uint32_t process, int64_t own_ns, int32_t other)
{
    put(process, EVENT_ENTER, own_ns, WIN_LOCK);
    lock_of(process, own_ns, (int32_t)process);
    put(process, EVENT_LEAVE, own_ns + 10, WIN_LOCK);
    put(process, EVENT_ENTER, SECOND, WIN_LOCK);
    lock_of(process, SECOND, other);
    pending(process, PENDING_ALIVE, 0, 0, 0);
}

/* Of three: one waits, one has entered a call and ended so without a note, this long before the others. */
static void begin_death(int32_t how, int64_t before_ns)
{
    unsigned char payload[PENDING_MARK_SIZE];
    const struct pending death = {.what = PENDING_DIED,
                                  .tag = how,
                                  .partitions = (int32_t)(before_ns / SECOND),
                                  .ready = (int32_t)(before_ns % SECOND)};
    begin(3);
    receives(0, 1);
    call(1, ALLREDUCE, 2000, 3000);
    payload_put_pending(payload, &death);
    batch_set_payload(&batch, put(1, EVENT_MARK, 10 * SECOND, 0), payload, sizeof payload);
}

static void deaths(void)
{
    begin_death(9, 0);
    receives(2, 1);
    expect_text("Process 1 was killed (SIGKILL, ", "of one that was killed");

    begin_death(24, 0);
    receives(2, 1);
    expect_text("Process 1 was killed by signal 24 (SIGXCPU)", "by another signal");

    begin_death(death_by_exit(0), 0);
    receives(2, 1);
    expect_text("Process 1 ended with exit code 0 by _exit() or exec after MPI_Allreduce", "of one that left");

    begin_death(0, 0);
    receives(2, 1);
    expect_text("Process 1 ended without a word (killed, ", "of one that ended in a way that nobody saw");

    /* It had waited for more than a second before that. */
    begin(2);
    receives(1, 0);
    call(0, RECV, 2000, 0);
    pending(0, PENDING_DIED, 0, 9, 0);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED);
    expect(STUCK_CYCLE, "one of two that hung was killed");

    begin_death(9, SECOND / 20);
    pending(2, PENDING_SIGNAL, 0, 6, 0);
    expect_text("Process 1 was killed", "another one has crashed for that");

    begin(3);
    for (uint32_t i = 0; i < 3; i++)
        pending(i, PENDING_DIED, 0, death_by_exit(0), 0);
    expect(STUCK_SLOW, "all have left");
}

static void kinds(void)
{
    begin(2);
    locks(0, 2000, 1);
    locks(1, 3000, 0);
    expect(STUCK_CYCLE, "two with their own locks want the other's");

    begin(3);
    locks(0, 2000, 1);
    locks(1, 3000, 2);
    pending(2, PENDING_ALIVE, 0, 0, 0);
    expect(STUCK_COMPUTING, "a lock that nobody holds");

    begin(3);
    in_call(0, BARRIER);
    in_call(1, BARRIER);
    receives(2, 0);
    expect(STUCK_MISSING, "a barrier that one never enters");

    begin(3);
    in_call(0, BARRIER);
    in_call(1, ALLREDUCE);
    in_call(2, BARRIER);
    expect(STUCK_MISMATCH, "a barrier and an allreduce");

    begin(2);
    exchanges(0, 1, 1);
    exchanges(1, 0, 2);
    expect(STUCK_CYCLE, "an exchange whose message is there, but is not received");

    begin(2);
    exchanges(0, 1, 1);
    exchanges(1, 0, 1);
    expect(STUCK_SLOW, "an exchange that goes on");

    begin(2);
    sent(1, 0, 2);
    receives(0, 1);
    in_call(1, BARRIER);
    expect(STUCK_UNMATCHED, "a different tag");

    begin(2);
    sent(1, 0, 2);
    receives(0, 1);
    receives(1, 0);
    expect_words(STUCK_CYCLE,
                 "A message with a different tag was sent to process 0 and never received: from process 1, tag 2",
                 "two that receive of each other, and one has sent with another tag");

    begin(3);
    sent(2, 0, 1);
    receives(0, 1);
    receives(1, 0);
    pending(2, PENDING_ALIVE, 0, 0, 0);
    struct stuck *stuck = end();
    tap_ok(stuck->kind == STUCK_CYCLE && !strstr(stuck->text, "never received"),
           "a message of another is not in it: %s", stuck->text);
    stuck_free(stuck);
    defs_free(defs);

    begin(2);
    receives(0, 1);
    in_call(1, FINALIZE);
    expect(STUCK_UNMATCHED, "of one that leaves");

    begin(2);
    receives(0, 1);
    pending(1, PENDING_SIGNAL, 0, 11, 0);
    expect(STUCK_ENDED, "of one that crashed");

    begin(2);
    in_call(0, BARRIER);
    for (int i = 0; i < 1000; i++)
        call(1, TEST, 3000 + 100 * i, 3050 + 100 * i);
    pending(1, PENDING_ALIVE, 0, 0, 0);
    pending(1, PENDING_RECEIVE, 0, 1, PENDING_TESTED);
    expect(STUCK_POLLING, "tests of what never comes");

    begin(2);
    for (int i = 0; i < 100; i++)
        for (uint32_t process = 0; process < 2; process++)
            call(process, BARRIER, SECOND / 10 * (i + 1), SECOND / 10 * (i + 1) + 100);
    in_call(0, BARRIER);
    pending(1, PENDING_ALIVE, 0, 0, 0);
    expect(STUCK_SLOW, "steps of 0.1 s until the end");

    begin(2);
    call(0, FINALIZE, 3000, 4000);
    call(1, FINALIZE, 3000, 4000);
    expect(STUCK_NOT, "a whole run");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void large(void)
{
    enum { PROCESSES = 4096, EACH = 25, LIMIT_S = 5 };
    double then = seconds();
    begin(PROCESSES);
    for (uint32_t i = 0; i + 1 < PROCESSES; i++)
        in_call(i, BARRIER);
    receives(PROCESSES - 1, 0);
    struct stuck *stuck = end();
    double took = seconds() - then;
    tap_ok(stuck->kind == STUCK_MISSING && stuck->call_count == PROCESSES && took < LIMIT_S,
           "4,096 processes, a barrier that one never enters: %.3f s", took);
    stuck_free(stuck);
    defs_free(defs);

    then = seconds();
    begin(PROCESSES);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        in_call(i, WAITALL);
        for (uint32_t k = 1; k <= EACH; k++)
            pending(i, PENDING_RECEIVE, (int32_t)((i + k) % PROCESSES), 1, PENDING_WAITED);
    }
    stuck = end();
    took = seconds() - then;
    tap_ok(stuck->kind == STUCK_CYCLE && took < LIMIT_S, "a graph of %d edges: %.3f s", PROCESSES * EACH, took);
    stuck_free(stuck);
    defs_free(defs);

    then = seconds();
    begin(PROCESSES);
    for (uint32_t i = 0; i < PROCESSES; i++)
        receives(i, PENDING_ANYBODY);
    stuck = end();
    took = seconds() - then;
    tap_ok(stuck->kind == STUCK_CYCLE && took < LIMIT_S, "4,096 that receive of anybody: %.3f s", took);
    stuck_free(stuck);
    defs_free(defs);
}

/* Process 0 has started a send of four parts, and 1 receives it. */
static void parts(void)
{
    begin(2);
    sent(0, 1, 1);
    in_call(0, WAIT);
    send_of_parts(3, PENDING_WAITED);
    receives(1, 0);
    struct stuck *stuck = end();
    tap_equal_string(stuck->text,
                     "Process 0 is in MPI_Wait for its own message to process 1 with tag 1 (3 of 4 partitions are "
                     "ready), and the others are never marked ready.",
                     "a sender that waits for its own parts");
    tap_equal_int(stuck->kind, STUCK_UNMATCHED, "is unmatched");
    stuck_free(stuck);
    defs_free(defs);

    begin(2);
    sent(0, 1, 1);
    in_call(0, WAIT);
    send_of_parts(4, PENDING_WAITED);
    receives(1, 0);
    expect(STUCK_SLOW, "all are ready: the message is on its way");

    begin(2);
    sent(0, 1, 1);
    in_call(0, WAIT);
    send_of_parts(3, PENDING_WAITED | PENDING_THREADS);
    receives(1, 0);
    expect(STUCK_SLOW, "another thread may make the last one ready");

    begin(2);
    sent(0, 1, 1);
    in_call(0, BARRIER);
    send_of_parts(1, 0);
    receives(1, 0);
    stuck = end();
    tap_equal_string(stuck->text,
                     "Process 1 is in MPI_Recv for a message from process 0 with tag 1 (1 of 4 partitions is ready), "
                     "which is never complete: process 0 is in MPI_Barrier.",
                     "a sender that is in a barrier");
    tap_equal_int(stuck->kind, STUCK_UNMATCHED, "is unmatched, too");
    stuck_free(stuck);
    defs_free(defs);

    begin(2);
    sent(0, 1, 1);
    pending(0, PENDING_ALIVE, 0, 0, 0);
    send_of_parts(3, 0);
    receives(1, 0);
    expect(STUCK_COMPUTING, "one that computes may still make them ready");
}

/* The hang begins with those that are the problem: others may come to wait much later. */
static void beginnings(void)
{
    begin(4);
    receives(0, 1);
    receives(1, 0);
    for (uint32_t i = 2; i < 4; i++) {
        call(i, BARRIER, 8 * SECOND + i, 0);
        pending(i, PENDING_ALIVE, 0, 0, 0);
    }
    struct stuck *stuck = end();
    tap_equal_int(stuck->kind, STUCK_CYCLE, "two wait for each other, and two more for them, much later");
    tap_equal_int(stuck->since_ns, 2001, "it hangs since the two do");
    stuck_free(stuck);
    defs_free(defs);

    begin(3);
    receives(0, 1);
    call(1, FINALIZE, 3000, 0);
    pending(1, PENDING_ALIVE, 0, 0, 0);
    call(2, BARRIER, 8 * SECOND, 0);
    pending(2, PENDING_ALIVE, 0, 0, 0);
    stuck = end();
    tap_equal_int(stuck->since_ns, 3000, "the message cannot come since its sender left");
    stuck_free(stuck);
    defs_free(defs);

    begin(3);
    receives(0, PENDING_ANYBODY);
    in_call(1, BARRIER);
    call(2, BARRIER, 8 * SECOND, 0);
    pending(2, PENDING_ALIVE, 0, 0, 0);
    stuck = end();
    tap_equal_int(stuck->since_ns, 8 * SECOND, "while one of several goes on, nothing hangs");
    stuck_free(stuck);
    defs_free(defs);

    begin(2);
    for (int i = 0; i < 30; i++)
        call(0, TEST, 3 * SECOND + 100 * i, 3 * SECOND + 100 * i + 50);
    pending(0, PENDING_ALIVE, 0, 0, 0);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_TESTED);
    in_call(1, BARRIER);
    stuck = end();
    tap_equal_int(stuck->kind, STUCK_POLLING, "a loop of tests");
    tap_ok(stuck->call_count == 2 && stuck->calls[0].loops && stuck->calls[0].state == TEST, "is where the process is");
    tap_equal_int(stuck->calls[0].since_ns, 1000, "since the last thing before it");
    tap_equal_int(stuck->calls[0].partner, 1, "and for whom");
    stuck_free(stuck);
    defs_free(defs);
}

/* MPI may let two different collectives pass for one, and only the next one misses a process. */
static void former_mismatches(void)
{
    begin(2);
    call(0, BARRIER, 2000, 2100);
    in_call(0, BARRIER);
    call(1, ALLREDUCE, 2000, 2100);
    receives(1, 0);
    struct stuck *stuck = end();
    tap_equal_string(stuck->text,
                     "Process 1 called MPI_Allreduce on MPI_COMM_WORLD, where process 0 called MPI_Barrier. Process 0 "
                     "is in MPI_Barrier; process 1 is in MPI_Recv for a message from process 0 with tag 1.",
                     "different collectives that have passed");
    tap_equal_int(stuck->kind, STUCK_MISMATCH, "are a mismatch");
    stuck_free(stuck);
    defs_free(defs);

    begin(2);
    call(0, BARRIER, 2000, 2100);
    in_call(0, BARRIER);
    call(1, BARRIER, 2000, 2100);
    receives(1, 0);
    expect(STUCK_MISSING, "the same collective, and one more");

    begin(2);
    call(0, ALLREDUCE, 1500, 1600);
    call(0, BARRIER, 2000, 2100);
    in_call(0, BARRIER);
    call(1, BARRIER, 1500, 1600);
    call(1, BARRIER, 2000, 2100);
    receives(1, 0);
    expect(STUCK_MISSING, "what passed long before does not explain it");
}

/* A call that waits for messages both ways. What it receives is there, so that after a while only its own can be what
   it waits for. */
static void both_ways(void)
{
    for (int quiet = 0; quiet < 2; quiet++) {
        begin(3);
        sent(1, 0, 1);
        sent(0, 2, 1);
        in_call(0, WAITALL);
        pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED);
        pending(0, PENDING_SEND, 2, 1, PENDING_WAITED);
        in_call(1, BARRIER);
        call(2, BARRIER, quiet ? 3000 : 19 * SECOND / 2, 0);
        pending(2, PENDING_ALIVE, 0, 0, 0);
        expect(quiet ? STUCK_MISSING : STUCK_SLOW,
               quiet ? "a send that nobody receives, beside a receive" : "the message may be on its way");
    }

    begin(3);
    sent(1, 0, 1);
    sent(0, 2, 1);
    in_call(0, WAITANY);
    pending(0, PENDING_RECEIVE, 1, 1, PENDING_WAITED | PENDING_ANY);
    pending(0, PENDING_SEND, 2, 1, PENDING_WAITED | PENDING_ANY);
    in_call(1, BARRIER);
    in_call(2, BARRIER);
    expect(STUCK_SLOW, "of any of them the message that is there is enough");
}

int main(void)
{
    both_ways();
    former_mismatches();
    beginnings();
    and_or();
    parts();
    persistent();
    causes();
    kinds();
    deaths();
    large();
    batch_free(&batch);
    return tap_done();
}
