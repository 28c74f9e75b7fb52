/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals and segments of records made by hand: exact counts, where segments end, and tables that are full. */
#include "core/mpi_function.h"
#include "core/record_digest.h"
#include "unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 256, ROOM = 1 << 20, WORLD = 4 };

static unsigned char records[ROOM];
static size_t used;
static int64_t last;
static struct record_digest digest;
static struct record_totals *totals;

static uint32_t number_of(const char *name)
{
    uint32_t i = 0;
    while (strcmp(mpi_function_at(i)->name, name) != 0)
        i++;
    return i;
}

static void put_word(enum record_kind kind, uint32_t function, int64_t ticks)
{
    uint64_t word = (uint64_t)kind | RECORD_SHORT | (uint64_t)function << RECORD_SHORT_STATE |
                    (uint64_t)(ticks - last) << RECORD_SHORT_TIME;
    memcpy(records + used, &word, sizeof word);
    used += sizeof word;
    last = ticks;
}

static void put_long(enum record_kind kind, void *record, size_t size, uint32_t state)
{
    struct record_base *base = record;
    base->kind = (uint8_t)kind;
    base->words = (uint8_t)(size / 8);
    base->state = (uint16_t)state;
    memcpy(records + used, record, size);
    used += size;
    last = base->ticks;
}

static void put_call(const char *function, int64_t enter, int64_t leave)
{
    put_word(RECORD_ENTER, number_of(function), enter);
    put_word(RECORD_LEAVE, number_of(function), leave);
}

static void put_send(int32_t partner, int32_t tag, uint64_t bytes, int64_t ticks)
{
    put_word(RECORD_ENTER, number_of("MPI_Send"), ticks);
    put_word(RECORD_SEND, number_of("MPI_Send"), ticks);
    memcpy(records + used, &partner, 4);
    memcpy(records + used + 4, &tag, 4);
    memcpy(records + used + 8, &bytes, 8);
    used += 16;
    put_word(RECORD_LEAVE, number_of("MPI_Send"), ticks + 10);
}

static void put_allreduce(uint64_t bytes, int64_t enter, int64_t leave)
{
    struct record_collective record = {.base.ticks = leave, .root = -1, .sent = bytes, .received = bytes};
    put_word(RECORD_ENTER, number_of("MPI_Allreduce"), enter);
    put_long(RECORD_COLLECTIVE, &record, sizeof record, number_of("MPI_Allreduce"));
    put_word(RECORD_LEAVE, number_of("MPI_Allreduce"), leave);
}

static void begin(void)
{
    struct record_calibration clock = {.base.ticks = 1000, .ticks = 1000, .ns = 1000};
    struct record_comm world = {.base.ticks = 1000, .size = WORLD};
    used = 0;
    totals = calloc(1, record_totals_size(CHANNELS));
    if (!totals || !record_digest_open(&digest, WORLD, CHANNELS))
        exit(1);
    record_totals_start(totals, CHANNELS);
    record_digest_use(&digest, totals);
    put_long(RECORD_CALIBRATION, &clock, sizeof clock, 0);
    put_long(RECORD_COMM, &world, sizeof world, 0);
}

static void end(void)
{
    record_digest_close(&digest);
    free(totals);
}

/* Digests all records; how many segments ended. */
static size_t run(void)
{
    const unsigned char *at = records;
    size_t cuts = 0;
    bool cut, bad;
    do {
        at = record_digest_run(&digest, at, records + used, &cut, &bad);
        cuts += cut;
    } while (cut);
    tap_ok(!bad && at == records + used, "all records are digested");
    return cuts;
}

/* The rest is digested by another one, as the merge does. */
static void continue_elsewhere(void)
{
    record_digest_close(&digest);
    used = 0;
    if (!record_digest_open(&digest, WORLD, CHANNELS))
        exit(1);
    struct record_comm world = {.base = {.kind = RECORD_COMM, .words = sizeof world / 8}, .size = WORLD};
    record_digest_definition(&digest, &world.base);
    record_digest_use(&digest, totals);
}

static const struct record_totals_function *function_of(const char *name)
{
    for (uint32_t i = 0; i < totals->function_count; i++)
        if (totals->functions[i].function == number_of(name))
            return &totals->functions[i];
    return NULL;
}

static void calls_and_segments(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        put_send(1, 7, (uint64_t)i, 2000 + i * 1000);
        put_call("MPI_Wtime", 2100 + i * 1000, 2101 + i * 1000);
        put_allreduce(8, 2200 + i * 1000, 2300 + i * 1000 + i);
    }
    put_word(RECORD_ENTER, number_of("MPI_Recv"), 6000);
    tap_ok(run() == 3, "each Allreduce of all processes ends a segment");
    const struct record_totals_function *all = function_of("MPI_Allreduce");
    tap_ok(all && all->calls == 3 && all->ticks == 303 && all->min_ticks == 100 && all->max_ticks == 102,
           "calls, time, shortest and longest");
    tap_ok(totals->open_count == 1 && totals->open[0].function == number_of("MPI_Recv") &&
               totals->open[0].ticks == 6000,
           "the call that has not ended");
    tap_ok(totals->events == 22 && totals->first_ticks == 1000 && totals->last_ticks == 6000,
           "events, and from when to when");
    tap_ok(totals->sizes[0][0].messages == 1 && totals->sizes[0][1].messages == 1 &&
               totals->sizes[0][2].messages == 1 && totals->sizes[0][2].bytes == 2,
           "messages by size");
    tap_ok(totals->segment.anchor == 3 && totals->segment.slice == 0, "segments are numbered");
    end();
}

/* Two calls of 8 bytes and one of 16 in each iteration: the rarest of the frequent ones becomes the anchor. */
static void anchors(void)
{
    begin();
    int64_t ticks = 2000;
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 3; k++, ticks += 100)
            put_allreduce(k == 2 ? 16 : 8, ticks, ticks + 50);
    }
    size_t cuts = run();
    /* The first window, of 64 calls, has no anchor yet: each call is one. */
    tap_ok(cuts == 64 + (3000 - 64) / 3 + 1, "after 64 calls an iteration has one anchor (%zu)", cuts);
    end();
}

/* More tags than the table has room for. */
static void many_tags(void)
{
    begin();
    for (int i = 0; i < 10 * CHANNELS; i++)
        put_send(i % 3, i, 100, 2000 + i * 20);
    run();
    uint64_t messages[3] = {0}, bytes = 0;
    for (uint32_t i = 0; i < totals->channel_count; i++) {
        if (totals->channels[i].partner >= 0 && totals->channels[i].partner < 3)
            messages[totals->channels[i].partner] += totals->channels[i].count;
        bytes += totals->channels[i].bytes;
    }
    tap_ok(totals->folds > 0 && totals->lost_channels == 0, "the table was full, and nothing is lost");
    tap_ok(messages[0] == 854 && messages[1] == 853 && messages[2] == 853 && bytes == 256000,
           "messages and bytes of each partner");
    end();
}

/* Even partners do not fit. */
static void many_partners(void)
{
    begin();
    for (int i = 0; i < 10 * CHANNELS; i++)
        put_send(i, 7, 100, 2000 + i * 20);
    run();
    uint64_t messages = 0;
    for (uint32_t i = 0; i < totals->channel_count; i++)
        messages += totals->channels[i].count;
    tap_ok(messages == 10 * CHANNELS, "the sum of all messages");
    end();
}

/* Callbacks call MPI within MPI: an Allreduce of all there is no end of a segment. */
static void calls_in_calls(void)
{
    begin();
    put_word(RECORD_ENTER, number_of("MPI_Comm_dup"), 2000);
    put_word(RECORD_ENTER, number_of("MPI_Send"), 2010);
    put_call("MPI_Type_size", 2013, 2014);
    put_word(RECORD_LEAVE, number_of("MPI_Send"), 2020);
    put_allreduce(8, 2030, 2060);
    put_word(RECORD_LEAVE, number_of("MPI_Comm_dup"), 2100);
    put_word(RECORD_ENTER, number_of("MPI_Comm_free"), 2200);
    put_word(RECORD_ENTER, number_of("MPI_Recv"), 2250);
    tap_ok(run() == 0, "no segment ends in a callback");
    const struct record_totals_function *dup = function_of("MPI_Comm_dup"), *send = function_of("MPI_Send");
    tap_ok(dup && dup->calls == 1 && dup->ticks == 100 && dup->own_ticks == 60 && send && send->calls == 1 &&
               send->ticks == 10 && send->own_ticks == 9,
           "each counts, with its own time");
    tap_ok(totals->mpi_ticks == 100 && totals->mpi_since == 2200 && totals->mpi_open == 2, "time in MPI counts once");
    tap_ok(totals->open_count == 2 && totals->open[0].function == number_of("MPI_Comm_free") &&
               totals->open[1].ticks == 2250,
           "both calls are open");
    end();
}

static void put_user(int32_t id, int64_t ticks)
{
    struct record_base record = {.comm = (uint32_t)id, .ticks = ticks};
    put_long(RECORD_USER_EVENT, &record, sizeof record, 0);
}

static void define_state(int32_t first, int32_t end_id, const char *name)
{
    struct record_definition record = {.base.ticks = last, .start = first, .end = end_id};
    snprintf(record.name, sizeof record.name, "%s", name);
    put_long(RECORD_DEFINE_STATE, &record, sizeof record, 0);
}

static const struct record_totals_user *user_of(uint32_t first)
{
    for (uint32_t i = 0; i < totals->user_count; i++)
        if (totals->users[i].start == first)
            return &totals->users[i];
    return NULL;
}

static bool user_is(uint32_t first, uint64_t calls, int64_t ticks, int64_t own, int64_t least, int64_t most)
{
    const struct record_totals_user *row = user_of(first);
    return row && row->sums.calls == calls && row->sums.ticks == ticks && row->sums.own_ticks == own &&
           row->sums.min_ticks == least && row->sums.max_ticks == most;
}

/* States of the program go on across segments and calls; some only another process has described. */
static void states(void)
{
    begin();
    define_state(700, 710, "described");
    put_user(700, 2000);
    put_user(600, 2010); /* 600 to 601: described elsewhere */
    put_allreduce(8, 2020, 2050);
    put_user(601, 2060);
    put_user(5000, 2065); /* a mark */
    put_user(600, 2070);
    put_user(600, 2075);
    put_user(601, 2077);
    put_user(601, 2100);
    put_user(701, 2110); /* not the end of 700 */
    put_user(710, 2200);
    put_user(710, 2210); /* a stray one */
    put_user(600, 2300);
    tap_ok(run() == 1, "a segment may end in a state of the program");
    tap_ok(user_is(600, 3, 50 + 30 + 2, 20 + 28 + 2, 2, 50), "described elsewhere: calls, time, own time, extremes");
    tap_ok(user_is(700, 1, 200, 10 + 10 + 10, 200, 200), "described here, with the other end");
    tap_ok(user_of(700)->stray == 1 && user_of(701) && !user_of(701)->has_end, "stray ends, and others without an end");
    tap_ok(!user_of(5000) && totals->lost_users == 0 && totals->mpi_ticks == 30,
           "marks are none; MPI's time is its own");
    tap_ok(totals->open_count == 2 && totals->open[1].ticks == 2300, "what has not ended");
    const struct record_totals_function *all = function_of("MPI_Allreduce");
    tap_ok(all && all->own_ticks == 30, "calls in it have their own time");
    end();
}

/* More states than there is room for, and recursion that is too deep, are noticed. */
static void too_many_states(void)
{
    begin();
    for (int i = 0; i < RECORD_TOTALS_USERS; i++) {
        put_user(10000 + 2 * i, 2000 + 2 * i);
        put_user(10001 + 2 * i, 2001 + 2 * i);
    }
    run();
    tap_ok(totals->user_count == RECORD_TOTALS_USERS && totals->lost_users == 0, "all rows are used");
    used = 0;
    put_user(20000, 3000);
    run();
    tap_ok(totals->lost_users == 1, "one more has no room");
    used = 0;
    for (int i = 0; i < RECORD_TOTALS_OPEN; i++)
        put_user(10000, 4000);
    put_call("MPI_Wtime", 4100, 4101);
    run();
    tap_ok(totals->lost_users == 1 + RECORD_TOTALS_OPEN / 2 && function_of("MPI_Wtime"), "and calls still have room");
    end();
}

/* Without collective calls, time is cut into slices between calls. */
static void slices(void)
{
    begin();
    for (int64_t i = 0; i < 100; i++)
        put_call("MPI_Wtime", 2000 + i * (INT64_C(1) << 26), 2100 + i * (INT64_C(1) << 26));
    size_t cuts = run();
    tap_ok(cuts == 68, "a slice for each call once a while has passed (%zu)", cuts);
    tap_ok(totals->segment.anchor == 0 && totals->segment.slice != 0, "the slice has a number");
    end();
}

/* What is no record ends it, and nothing beyond is read. */
static void damaged(void)
{
    static const unsigned char bytes[][8] = {{RECORD_ENTER, 0, 0, 0, 0, 0, 0, 0},
                                             {RECORD_COMM, 2, 0, 0, 0, 0, 0, 0},
                                             {RECORD_SEND | RECORD_SHORT, 0, 0, 0, 0, 0, 0, 0}};
    bool cut, bad, all = true;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        begin();
        memcpy(records + used, bytes[i], sizeof bytes[i]);
        const unsigned char *at = record_digest_run(&digest, records, records + used + sizeof bytes[i], &cut, &bad);
        all &= bad && at == records + used;
        end();
    }
    tap_ok(all, "damaged records are not taken");
}

/* The definition of a call's place may have had no room: its leave says which function it was. */
static void unknown_place(void)
{
    begin();
    uint32_t wtime = number_of("MPI_Wtime");
    put_word(RECORD_ENTER_AT, 77, 2000);
    put_word(RECORD_LEAVE, wtime, 2100);
    run();
    const struct record_totals_function *row = function_of("MPI_Wtime");
    tap_ok(row && row->calls == 1 && row->ticks == 100 && totals->events == 2, "a call of an unknown place counts");
    end();
}

/* A block may end between the bytes of an anchor and its end. */
static void anchor_across_blocks(void)
{
    begin();
    int64_t ticks = 2000;
    for (int i = 0; i < 100; i++, ticks += 300) {
        put_allreduce(8, ticks, ticks + 50);
        put_allreduce(8, ticks + 100, ticks + 150);
        put_allreduce(16, ticks + 200, ticks + 250);
    }
    put_allreduce(8, ticks, ticks + 50);
    put_allreduce(8, ticks + 100, ticks + 150);
    put_allreduce(16, ticks + 200, ticks + 250);
    used -= sizeof(uint64_t);
    run();
    uint64_t anchor = totals->segment.anchor;
    continue_elsewhere();
    last = ticks + 250;
    put_word(RECORD_LEAVE, number_of("MPI_Allreduce"), ticks + 260);
    tap_ok(run() == 1 && totals->segment.anchor == anchor + 1, "an anchor of which the bytes were digested before");
    end();
}

static void short_marks(void)
{
    begin();
    for (int i = 0; i < 3; i++)
        put_word(RECORD_USER_EVENT, 0, 2000 + i);
    struct record_base mark = {.ticks = 2010};
    put_long(RECORD_USER_EVENT, &mark, sizeof mark, 0);
    run();
    tap_ok(totals->events == 4 && totals->channel_count == 1 && totals->channels[0].kind == RECORD_CHANNEL_MARKS &&
               totals->channels[0].count == 4,
           "marks are counted, short and long");
    end();
}

static void closed_twice(void)
{
    begin();
    record_digest_close(&digest);
    end();
    tap_ok(!digest.sites && !digest.index, "a digest that was closed is empty");
}

int main(void)
{
    calls_and_segments();
    anchors();
    calls_in_calls();
    states();
    too_many_states();
    many_tags();
    many_partners();
    slices();
    damaged();
    unknown_place();
    anchor_across_blocks();
    short_marks();
    closed_twice();
    return tap_done();
}
