/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings made by hand: times from ticks to the ns, and calibrations that are damaged. */
#include "convert/record/read_record.h"
#include "core/mpi_function.h"
#include "core/record_format.h"
#include "unit/hand_recording.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES = 2, CALLS = 5, CALIBRATIONS = 4 };
/* 2 ticks are 1 ns; a quarter of a second passes from one calibration to the next. */
#define TICKS INT64_C(1000000000000)
#define NS INT64_C(7000000000)
#define QUARTER INT64_C(500000000)

static char directory[] = "/tmp/sight-test.XXXXXX";
static struct record_calibration calibrations[PROCESSES][CALIBRATIONS];

static char *path_of(int rank)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%d" RECORD_SUFFIX, directory, rank);
    return path;
}

static struct record_base base(enum record_kind kind, size_t size, int64_t ticks)
{
    return (struct record_base){.kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .ticks = ticks};
}

/* The records of an undamaged process. */
static void calibrate(void)
{
    for (int rank = 0; rank < PROCESSES; rank++)
        for (int i = 0; i < CALIBRATIONS; i++)
            calibrations[rank][i] = (struct record_calibration){
                .base = base(RECORD_CALIBRATION, sizeof *calibrations[0], TICKS),
                .next = RECORD_HEADER_SIZE + RECORD_BLOCK_HEAD + (uint64_t)(i + 1) * sizeof *calibrations[0],
                .ticks = TICKS + i * QUARTER + rank,
                .ns = NS + i * QUARTER / 2,
                .width = 50};
}

static void write_header(FILE *file, int rank, uint64_t blocks)
{
    struct record_header header = hand_header(rank, PROCESSES);
    header.end = RECORD_FINALIZED;
    header.clock = RECORD_CLOCK_TSC;
    header.blocks = blocks;
    header.used[0] = 1;
    fwrite(&header, sizeof header, 1, file);
}

/* Process 0 enters MPI_Barrier at every odd tenth of a million ticks and leaves it 100 ticks later; process 1 does so
   1 tick after it. */
static void write_file(int rank)
{
    FILE *file = fopen(path_of(rank), "wb");
    write_header(file, rank, 0);
    fseek(file, RECORD_HEADER_SIZE + RECORD_BLOCK_HEAD, SEEK_SET);
    fwrite(calibrations[rank], sizeof calibrations[rank], 1, file);
    for (int i = 0; i < CALLS; i++) {
        int64_t ticks = TICKS + i * 200000 + rank;
        struct record_base records[] = {base(RECORD_ENTER, sizeof *records, ticks),
                                        base(RECORD_LEAVE, sizeof *records, ticks + 100)};
        fwrite(records, sizeof records, 1, file);
    }
    fclose(file);
}

/* The recording as it is now: its times, their number, the damage reported. */
static struct {
    int64_t times_ns[2 * PROCESSES * CALLS + 8];
    uint32_t processes[2 * PROCESSES * CALLS + 8];
    size_t count;
    struct damage damage;
    bool read;
} got;

static void read_files(void)
{
    struct error err = {0};
    static struct batch batch;
    memset(&got, 0, sizeof got);
    struct recordings recordings;
    char *directories[] = {directory};
    struct reader *reader = NULL;
    if (recordings_open(&recordings, directories, 1, &err) == STATUS_OK)
        reader = record_reader_open(&recordings, 0, &err);
    enum status status = reader ? STATUS_OK : STATUS_FAILED;
    while (status == STATUS_OK) {
        status = reader_next(reader, &batch, &err);
        for (size_t i = 0; i < batch.count; i++) {
            got.processes[got.count] = batch.events[i].process;
            got.times_ns[got.count++] = batch.events[i].time_ns;
        }
    }
    got.read = status == STATUS_END;
    if (reader) {
        got.damage = reader->damage;
        reader_close(reader);
    }
    recordings_close(&recordings);
    batch_free(&batch);
    memset(&batch, 0, sizeof batch);
}

static void read_all(void)
{
    for (int rank = 0; rank < PROCESSES; rank++)
        write_file(rank);
    read_files();
}

static void test_times(void)
{
    calibrate();
    read_all();
    tap_ok(got.read && got.damage.count == 0, "a recording in ticks is read");
    tap_equal_int((long long)got.count, 2 * PROCESSES * CALLS, "all of it");
    int wrong = 0;
    for (size_t i = 0; i < got.count; i++) {
        int64_t call = (int64_t)i / 4, leave = (int64_t)i / 2 % 2;
        /* Process 1 is half a ns late, which rounds to 0. */
        wrong += got.times_ns[i] != call * 100000 + leave * 50 || got.processes[i] != i % 2;
    }
    tap_equal_int(wrong, 0, "to the ns, processes in order of ticks");
}

static void test_damage(void)
{
    calibrate();
    calibrations[1][2].ns = INT64_MAX;
    calibrations[0][1].ticks = 0;
    read_all();
    tap_equal_int((long long)got.count, 2 * PROCESSES * CALLS, "with two damaged calibrations all is read");
    tap_ok(got.damage.count == 1 && strstr(got.damage.first, "2 clock readings are invalid; the rest are used"),
           "and it is said: %s", got.damage.first);
    tap_equal_int(got.times_ns[got.count - 1], (CALLS - 1) * 100000 + 50, "and the times are right");

    static const struct {
        const char *name;
        int64_t ticks, ns; /* from one to the next */
    } hopeless[] = {{"0 ticks", 0, QUARTER},
                    {"a negative slope", QUARTER, -QUARTER / 2},
                    {"a huge slope", 1, RECORD_TIME_MAX / 8},
                    {"no time at all", QUARTER, 0}};
    for (size_t k = 0; k < sizeof hopeless / sizeof *hopeless; k++) {
        calibrate();
        for (int i = 0; i < PROCESSES * CALIBRATIONS; i++) {
            struct record_calibration *one = &calibrations[i / CALIBRATIONS][i % CALIBRATIONS];
            one->ticks = TICKS + i % CALIBRATIONS * hopeless[k].ticks;
            one->ns = NS + i % CALIBRATIONS * hopeless[k].ns;
        }
        read_all();
        tap_ok(got.read && got.count == 0 && got.damage.count == 1 &&
                   strstr(got.damage.first, "data of this host is not used"),
               "%s: %s", hopeless[k].name, got.damage.first);
    }
}

enum { BLOCKS = 3, BLOCK_CALLS = 2 };

/* The block of this number, with two calls, as it is in memory; the first one also has the definitions. */
static const unsigned char *block_of(uint64_t number)
{
    static unsigned char block[RECORD_BLOCK_MIN];
    memset(block, 0, sizeof block);
    memcpy(block, &number, sizeof number);
    size_t at = RECORD_BLOCK_HEAD;
    if (number == 0) {
        memcpy(block + at, calibrations[0], sizeof calibrations[0]);
        at += sizeof calibrations[0];
    }
    for (int i = 0; i < BLOCK_CALLS; i++) {
        int64_t ticks = TICKS + ((int64_t)number * BLOCK_CALLS + i) * 2000;
        struct record_base records[] = {base(RECORD_ENTER, sizeof *records, ticks),
                                        base(RECORD_LEAVE, sizeof *records, ticks + 1000)};
        memcpy(block + at, records, sizeof records);
        at += sizeof records;
    }
    return block;
}

/* Process 0 has filled two blocks; `current` is what its first one has. */
static void write_blocks(const unsigned char *current, uint64_t full)
{
    FILE *file = fopen(path_of(0), "wb");
    write_header(file, 0, full);
    fseek(file, RECORD_HEADER_SIZE, SEEK_SET);
    fwrite(current, RECORD_BLOCK_MIN, 1, file);
    for (uint64_t i = 0; i < BLOCKS - 1; i++)
        fwrite(block_of(i), RECORD_BLOCK_MIN, 1, file);
    fclose(file);
}

/* Calls of process 0, if they are the first ones there are; -1: they are not. */
static int calls_of_blocks(void)
{
    int events = 0;
    for (size_t i = 0; i < got.count; i++)
        if (got.processes[i] == 0 && got.times_ns[i] != events++ * 500)
            return -1;
    return events / 2;
}

static void test_blocks(void)
{
    unsigned char current[RECORD_BLOCK_MIN];
    calibrate();
    write_file(1);
    memcpy(current, block_of(BLOCKS - 1), sizeof current);
    write_blocks(current, BLOCKS - 1);
    read_files();
    tap_equal_int(calls_of_blocks(), BLOCKS * BLOCK_CALLS, "full blocks, then the first of the file");
    tap_ok(got.damage.count == 0, "no damage");

    memcpy(current, block_of(BLOCKS - 2), sizeof current);
    write_blocks(current, BLOCKS - 1);
    read_files();
    tap_equal_int(calls_of_blocks(), (BLOCKS - 1) * BLOCK_CALLS, "killed before the written block was emptied: once");
    memset(current + sizeof current / 2, 0, sizeof current / 2);
    memset(current + RECORD_BLOCK_HEAD, 0, 64);
    write_blocks(current, BLOCKS - 1);
    read_files();
    tap_equal_int(calls_of_blocks(), (BLOCKS - 1) * BLOCK_CALLS, "killed while it was emptied");
    memcpy(current, block_of(BLOCKS - 2), sizeof current);
    write_blocks(current, BLOCKS - 2);
    read_files();
    tap_equal_int(calls_of_blocks(), (BLOCKS - 1) * BLOCK_CALLS, "killed before the written block was counted: once");
    tap_ok(got.damage.count == 0, "none of it is damage");

    memcpy(current, block_of(BLOCKS - 1), sizeof current);
    write_blocks(current, BLOCKS - 1);
    tap_ok(truncate(path_of(0), RECORD_HEADER_SIZE + 2 * RECORD_BLOCK_MIN + 100) == 0, "a file is cut");
    read_files();
    tap_equal_int(calls_of_blocks(), BLOCK_CALLS, "what is before the missing block is read");
    tap_ok(got.damage.count == 1 && strstr(got.damage.first, "blocks are missing (1)"), "%s", got.damage.first);
    write_blocks(current, UINT64_MAX / RECORD_BLOCK_MIN);
    read_files();
    tap_ok(calls_of_blocks() == (BLOCKS - 1) * BLOCK_CALLS && got.damage.count == 1, "%s", got.damage.first);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    test_times();
    test_damage();
    test_blocks();
    for (int rank = 0; rank < PROCESSES; rank++)
        unlink(path_of(rank));
    rmdir(directory);
    return tap_done();
}
