/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a recording hangs, from its last part and counts of what was before: the same as from all events. */
#include "convert/record/read_record.h"
#include "convert/stream.h"
#include "core/mpi_function.h"
#include "core/numbers.h"
#include "core/record_format.h"
#include "stuck/stuck.h"
#include "unit/hand_recording.h"
#include "unit/random.h"
#include "unit/tap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES = 4, BLOCKS_MAX = 64, RUNS = 120, TAGS = 3 };
#define TICKS INT64_C(2000000000)
#define SECOND INT64_C(1000000000)

static char directory[] = "/tmp/sight-test.XXXXXX";

/* A file in the making. */
static struct {
    unsigned char blocks[BLOCKS_MAX][RECORD_BLOCK_MIN];
    uint64_t count; /* blocks */
    size_t used;    /* of the last one */
    int64_t ticks;
    struct record_header header;
    struct record_pending slot;
    /* What there is so far. */
    uint64_t entries[RECORD_FUNCTIONS_MAX], messages[2][PROCESSES][TAGS], requests;
    uint16_t function;
} file;
static bool tallied, simple, steady; /* blocks begin with tallies; no calls that are needed one by one */
static bool wild;                    /* tallies name functions that do not exist */

static char *path_of(int rank)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%d" RECORD_SUFFIX, directory, rank);
    return path;
}

static void put(const void *record, size_t size);

static struct record_base base_of(enum record_kind kind, size_t size, uint16_t state, uint32_t comm)
{
    return (struct record_base){
        .kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = state, .comm = comm, .ticks = file.ticks};
}

static void put_clock(int64_t ticks)
{
    uint64_t at = RECORD_HEADER_SIZE + (file.count - 1) * RECORD_BLOCK_MIN + file.used;
    struct record_calibration clock = {.base = base_of(RECORD_CALIBRATION, sizeof clock, 0, 0),
                                       .next = at + sizeof clock,
                                       .ticks = ticks,
                                       .ns = ticks,
                                       .width = 50};
    put(&clock, sizeof clock);
}

static void put_tally_row(struct record_tally row, uint64_t count)
{
    row.base.kind = RECORD_TALLY;
    row.base.words = sizeof row / 8;
    row.base.ticks = file.ticks;
    row.count = count;
    if (count > 0)
        put(&row, sizeof row);
}

/* The function and site of the last send of a kind are the same for all in these files. */
static void put_tally(uint16_t send)
{
    uint64_t rows = 1 + (file.requests > 0);
    for (size_t i = 0; i < RECORD_FUNCTIONS_MAX; i++)
        rows += file.entries[i] > 0;
    for (size_t i = 0; i < sizeof file.messages / sizeof file.messages[0][0][0]; i++)
        rows += (&file.messages[0][0][0])[i] > 0;
    put_tally_row((struct record_tally){.base.state = RECORD_NONE, .function = wild ? send : file.function}, rows);
    put_tally_row((struct record_tally){.base.state = RECORD_COMM}, 1);
    put_tally_row((struct record_tally){.base.state = RECORD_REQUESTS}, file.requests);
    for (int32_t i = 0; i < RECORD_FUNCTIONS_MAX; i++)
        put_tally_row((struct record_tally){.base.state = RECORD_ENTER, .partner = i}, file.entries[i]);
    for (int kind = 0; kind < 2; kind++)
        for (int32_t partner = 0; partner < PROCESSES; partner++)
            for (int32_t tag = 0; tag < TAGS; tag++)
                put_tally_row((struct record_tally){.base.state = kind ? RECORD_RECEIVE : RECORD_SEND,
                                                    .partner = partner,
                                                    .tag = tag,
                                                    .function = send},
                              file.messages[kind][partner][tag]);
}

static uint16_t number_of(const char *function);

/* A block that is not the first begins with a time. */
static void block_begin(void)
{
    uint64_t number = file.count++;
    memcpy(file.blocks[number], &number, sizeof number);
    file.used = sizeof number;
    if (number > 0)
        put_clock(file.ticks);
    if (number > 0 && tallied && (steady || random_below(4) > 0))
        put_tally(wild ? 60000 : number_of("MPI_Send"));
}

static void put(const void *record, size_t size)
{
    if (file.used + size > RECORD_BLOCK_MIN)
        block_begin();
    memcpy(file.blocks[file.count - 1] + file.used, record, size);
    file.used += size;
}

static uint16_t number_of(const char *function)
{
    /* Looked up once: there are few of these literals. */
    static struct {
        const char *name;
        uint16_t number;
    } known[32];
    size_t at = 0;
    while (known[at].name && known[at].name != function)
        at++;
    assert(at + 1 < sizeof known / sizeof *known);
    if (!known[at].name) {
        uint16_t number = 0;
        while (strcmp(mpi_function_at(number)->name, function) != 0)
            number++;
        known[at].name = function;
        known[at].number = number;
    }
    file.header.used[known[at].number] = 1;
    return known[at].number;
}

/* An entry or a leave, as a short record or a long one. */
static void put_state(enum record_kind kind, uint16_t state)
{
    int64_t later = !steady && random_below(1000) == 0 ? SECOND / 4 : 1 + random_below(100000);
    if (random_below(2)) {
        uint64_t word = (uint64_t)kind | RECORD_SHORT | (uint64_t)state << RECORD_SHORT_STATE |
                        (uint64_t)later << RECORD_SHORT_TIME;
        if (file.used + sizeof word > RECORD_BLOCK_MIN)
            block_begin();
        put(&word, sizeof word);
        file.ticks += later;
    } else {
        file.ticks += later;
        struct record_base record = base_of(kind, sizeof record, state, 0);
        put(&record, sizeof record);
    }
    if (kind != RECORD_ENTER)
        return;
    file.entries[state]++;
    file.function = state;
}

static void put_message(enum record_kind kind, uint16_t state)
{
    struct record_message message = {.base = base_of(kind, sizeof message, state, 0),
                                     .partner = (int32_t)random_below(PROCESSES),
                                     .tag = (int32_t)random_below(TAGS)};
    put(&message, sizeof message);
    file.messages[kind == RECORD_RECEIVE][message.partner][message.tag]++;
}

static void put_call(void)
{
    static const char *const names[] = {"MPI_Send", "MPI_Recv",      "MPI_Barrier", "MPI_Allreduce", "MPI_Comm_size",
                                        "MPI_Test", "MPI_Win_flush", "MPI_Test",    "MPI_Win_fence", "MPI_Ibarrier",
                                        "MPI_Test", "MPI_Win_lock",  "MPI_Win_post"};
    const char *name = names[random_below((simple ? 9 : sizeof names / sizeof *names))];
    uint16_t state = number_of(name);
    put_state(RECORD_ENTER, state);
    if (strcmp(name, "MPI_Send") == 0)
        put_message(RECORD_SEND, state);
    if (strcmp(name, "MPI_Recv") == 0)
        put_message(RECORD_RECEIVE, state);
    struct record_ranks ranks = {
        .base = base_of(RECORD_RANKS, sizeof ranks, state, 0), .first = (int32_t)random_below(PROCESSES), .step = 1};
    ranks.last = ranks.first;
    if (strncmp(name, "MPI_Win", 7) == 0 && strcmp(name, "MPI_Win_fence") != 0)
        put(&ranks, sizeof ranks);
    struct record_base requests = base_of(RECORD_REQUESTS, sizeof requests, 1, 1 + random_below(3));
    if (strcmp(name, "MPI_Ibarrier") == 0 || (strcmp(name, "MPI_Test") == 0 && random_below(3) == 0)) {
        put(&requests, sizeof requests);
        file.requests++;
    }
    put_state(RECORD_LEAVE, state);
}

/* The last thing that a process does. */
static void put_end(void)
{
    static const char *const names[] = {"MPI_Recv", "MPI_Recv", "MPI_Recv", "MPI_Barrier", "MPI_Allreduce"};
    uint32_t which = random_below(sizeof names / sizeof *names + 1);
    if (which == sizeof names / sizeof *names)
        return; /* it computes */
    put_state(RECORD_ENTER, number_of(names[which]));
    file.slot = (struct record_pending){.wait = RECORD_WAIT_RECEIVE,
                                        .partner = random_below(5) ? (int32_t)random_below(PROCESSES) : RECORD_ANY,
                                        .tag = (int32_t)random_below(TAGS + 1)}; /* one has no messages */
    if (strcmp(names[which], "MPI_Recv") == 0)
        file.slot.position = RECORD_HEADER_SIZE + (file.count - 1) * RECORD_BLOCK_MIN + file.used;
}

static void make_file(int rank)
{
    memset(&file, 0, sizeof file);
    file.header = hand_header(rank, PROCESSES);
    file.header.began_ticks = TICKS;
    if (!tallied) /* as an earlier version wrote it */
        file.header.version = RECORD_VERSION_READ;
    file.ticks = TICKS;
    block_begin();
    put_clock(TICKS - SECOND);
    put_clock(TICKS);
    struct record_comm world = {
        .base = base_of(RECORD_COMM, sizeof world, 0, RECORD_WORLD), .key = 1, .size = PROCESSES, .rank = rank};
    put(&world, sizeof world);
    uint16_t init = number_of("MPI_Init");
    put_state(RECORD_ENTER, init);
    put_state(RECORD_LEAVE, init);
    for (uint32_t calls = random_below(6000); calls > 0 && file.count < BLOCKS_MAX - 2; calls--)
        put_call();
    put_end();
    file.header.blocks = file.count - 1;
    FILE *stream = fopen(path_of(rank), "wb");
    fwrite(&file.header, sizeof file.header, 1, stream);
    fseek(stream, RECORD_PENDING_AT, SEEK_SET);
    fwrite(&file.slot, sizeof file.slot, 1, stream);
    fseek(stream, RECORD_HEADER_SIZE, SEEK_SET);
    fwrite(file.blocks[file.count - 1], RECORD_BLOCK_MIN, 1, stream);
    fwrite(file.blocks, RECORD_BLOCK_MIN, file.count - 1, stream);
    fclose(stream);
}

/* With the past in short where `late` says how much of the end is read. */
struct reading {
    struct sink sink;
    struct stuck_builder *builder;
    struct reader *reader;
    bool late, whole;
};

static enum status begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    struct reading *reading = (struct reading *)sink;
    struct sink *stuck = stuck_builder_sink(reading->builder);
    enum status status = stuck->begin(stuck, defs, err);
    if (reading->late)
        reading->whole = record_reader_past(reading->reader, stuck_builder_past(reading->builder));
    return status;
}

static enum status events(struct sink *sink, const struct batch *batch, struct error *err)
{
    struct sink *stuck = stuck_builder_sink(((struct reading *)sink)->builder);
    return stuck->events(stuck, batch, err);
}

static struct stuck *judge(uint64_t late, bool *whole)
{
    struct error err = {0};
    struct recordings recordings;
    char *directories[] = {directory};
    struct reading reading = {
        .sink = {.begin = begin, .events = events}, .builder = stuck_builder_new(), .late = late > 0, .whole = true};
    struct sink *sink = &reading.sink;
    if (recordings_open(&recordings, directories, 1, &err) == STATUS_OK) {
        recordings.alive_ns = TICKS + 100 * SECOND;
        reading.reader = record_reader_open_late(&recordings, 0, late, &err);
    }
    if (reading.reader && stream_run(reading.reader, &sink, 1, NULL, NULL, &err) != STATUS_OK)
        reading.whole = false;
    struct stuck *stuck = stuck_builder_end(reading.builder);
    stuck->defs = NULL;
    reader_close(reading.reader);
    recordings_close(&recordings);
    *whole = reading.whole;
    return stuck;
}

static bool same(const struct stuck *all, const struct stuck *late)
{
    if (all->kind != late->kind || all->since_ns != late->since_ns || all->call_count != late->call_count ||
        all->cycle_count != late->cycle_count || (all->text && strcmp(all->text, late->text) != 0))
        return false;
    for (size_t i = 0; i < all->call_count; i++)
        if (all->calls[i].state != late->calls[i].state || all->calls[i].since_ns != late->calls[i].since_ns)
            return false;
    return true;
}

/* Words that are no records, in a block of the last process. */
static void spoil_block(long number)
{
    const uint64_t none = RECORD_LEAVE; /* of no length */
    FILE *stream = fopen(path_of(PROCESSES - 1), "r+b");
    fseek(stream, RECORD_HEADER_SIZE + (number + 1) * RECORD_BLOCK_MIN + RECORD_BLOCK_MIN / 2, SEEK_SET);
    for (int i = 0; i < 100; i++)
        fwrite(&none, sizeof none, 1, stream);
    fclose(stream);
}

int main(void)
{
    unsigned kinds = 0, wrong = 0, damaged = 0;
    if (!mkdtemp(directory))
        return 1;
    for (uint64_t run = 0; run < RUNS; run++) {
        bool whole, counted;
        random_state = run + 1;
        tallied = run % 3 > 0;
        simple = run % 3 == 2;
        for (int rank = 0; rank < PROCESSES; rank++)
            make_file(rank);
        struct stuck *all = judge(0, &whole), *late = judge(200 + random_below(40000), &counted);
        kinds |= 1U << all->kind;
        damaged += !whole || !counted;
        if (!same(all, late) && wrong++ < 5)
            printf("# run %d: %s\n#   after the past: %s\n", (int)run, all->text ? all->text : "nothing",
                   late->text ? late->text : "nothing");
        stuck_free(all);
        stuck_free(late);
    }
    tap_equal_int(wrong, 0, "%d recordings are judged alike from all events and from the last ones with counts", RUNS);
    tap_equal_int(damaged, 0, "none is damaged");
    unsigned wanted = 1U << STUCK_MISSING | 1U << STUCK_UNMATCHED | 1U << STUCK_COMPUTING;
    tap_ok((kinds & wanted) == wanted, "hangs of several kinds are among them (%x)", kinds);

    /* Words in the past that are not records, in the first block: the caller reads event by event then. */
    bool counted;
    tallied = false;
    do
        make_file(PROCESSES - 1);
    while (file.count < 4);
    spoil_block(0);
    stuck_free(judge(200, &counted));
    tap_ok(!counted, "damage in the past is found");

    /* Where tallies say all, the records are not read: the same damage does not show. */
    tallied = simple = steady = true;
    do
        make_file(PROCESSES - 1);
    while (file.count < 12);
    stuck_free(judge(200, &counted));
    tap_ok(counted, "a file with tallies is whole");
    spoil_block(5);
    stuck_free(judge(200, &counted));
    tap_ok(counted, "records between tallies are passed over");

    wild = true;
    simple = steady = false;
    wrong = 0;
    for (uint64_t run = 0; run < 10; run++) {
        bool whole;
        for (int rank = 0; rank < PROCESSES; rank++)
            make_file(rank);
        struct stuck *all = judge(0, &whole), *late = judge(200 + random_below(40000), &counted);
        wrong += !same(all, late);
        stuck_free(all);
        stuck_free(late);
    }
    tap_equal_int(wrong, 0, "tallies with functions that do not exist are not used");
    for (int rank = 0; rank < PROCESSES; rank++)
        unlink(path_of(rank));
    rmdir(directory);
    return tap_done();
}
