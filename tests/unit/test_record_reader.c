/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings made by hand: times from ticks to the ns, and calibrations that are damaged. */
#include "convert/read_record.h"
#include "core/mpi_function.h"
#include "core/record_format.h"
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

/* What the recorder of an undamaged process notes. */
static void calibrate(void)
{
    for (int rank = 0; rank < PROCESSES; rank++)
        for (int i = 0; i < CALIBRATIONS; i++)
            calibrations[rank][i] =
                (struct record_calibration){.base = base(RECORD_CALIBRATION, sizeof *calibrations[0], TICKS),
                                            .next = RECORD_HEADER_SIZE + (uint64_t)(i + 1) * sizeof *calibrations[0],
                                            .ticks = TICKS + i * QUARTER + rank,
                                            .ns = NS + i * QUARTER / 2,
                                            .width = 50};
}

/* Process 0 enters MPI_Barrier at every odd tenth of a million ticks and leaves it 100 ticks later; process 1 does so
   1 tick after it. */
static void write_file(int rank)
{
    struct record_header header = {.magic = RECORD_MAGIC,
                                   .version = RECORD_VERSION,
                                   .block_size = RECORD_BLOCK_MIN,
                                   .function_count = (uint32_t)mpi_function_count(),
                                   .rank = rank,
                                   .size = PROCESSES,
                                   .world = 1,
                                   .pid = (uint32_t)rank + 1,
                                   .end = RECORD_FINALIZED,
                                   .clock = RECORD_CLOCK_TSC,
                                   .first_definition = RECORD_HEADER_SIZE};
    header.used[0] = 1;
    FILE *file = fopen(path_of(rank), "wb");
    fwrite(&header, sizeof header, 1, file);
    fseek(file, RECORD_HEADER_SIZE, SEEK_SET);
    fwrite(calibrations[rank], sizeof calibrations[rank], 1, file);
    for (int i = 0; i < CALLS; i++) {
        int64_t ticks = TICKS + i * 200000 + rank;
        struct record_base records[] = {base(RECORD_ENTER, sizeof *records, ticks),
                                        base(RECORD_LEAVE, sizeof *records, ticks + 100)};
        fwrite(records, sizeof records, 1, file);
    }
    fclose(file);
}

/* The recording as it is now: its times, how many, what damage is told. */
static struct {
    int64_t times_ns[2 * PROCESSES * CALLS + 8];
    uint32_t processes[2 * PROCESSES * CALLS + 8];
    size_t count;
    struct damage damage;
    bool read;
} got;

static void read_all(void)
{
    struct error err = {0};
    static struct batch batch;
    for (int rank = 0; rank < PROCESSES; rank++)
        write_file(rank);
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

static void test_times(void)
{
    calibrate();
    read_all();
    tap_ok(got.read && got.damage.count == 0, "a recording in ticks is read");
    tap_equal_int((long long)got.count, 2 * PROCESSES * CALLS, "all of it");
    int wrong = 0;
    for (size_t i = 0; i < got.count; i++) {
        int64_t call = (int64_t)i / 4, leave = (int64_t)i / 2 % 2;
        /* Process 1 is half a ns behind, which is none. */
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
    tap_ok(got.damage.count == 1 && strstr(got.damage.first, "2 readings of the clock cannot be; others are used"),
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
        tap_ok(got.read && got.count == 0 && got.damage.count == 1 && strstr(got.damage.first, "nothing of this host"),
               "%s: %s", hopeless[k].name, got.damage.first);
    }
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    test_times();
    test_damage();
    for (int rank = 0; rank < PROCESSES; rank++)
        unlink(path_of(rank));
    rmdir(directory);
    return tap_done();
}
