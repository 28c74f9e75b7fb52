/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in Python of recordings made by hand: functions, their lines as sites and in paths, and damaged ones. */
#include "convert/record/read_record.h"
#include "core/defs.h"
#include "core/record_format.h"
#include "unit/hand_recording.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/sight-test.XXXXXX";
static unsigned char block[RECORD_BLOCK_MIN];
static size_t used;
static int64_t ticks = 1000000000;

/* Appends a record; definitions follow each other, and `next` is their second field. */
static void put(enum record_kind kind, void *record, size_t size, uint16_t state, uint32_t comm)
{
    struct record_base base = {
        .kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = state, .comm = comm, .ticks = ticks++};
    memcpy(record, &base, sizeof base);
    if (kind >= RECORD_COMM && kind != RECORD_SAMPLE) {
        uint64_t next = RECORD_HEADER_SIZE + used + size;
        memcpy((unsigned char *)record + sizeof base, &next, sizeof next);
    }
    memcpy(block + used, record, size);
    used += size;
}

static void put_function(uint32_t number, const char *texts, size_t size)
{
    struct record_python record = {.number = number};
    memcpy(record.texts, texts, size);
    put(RECORD_DEFINE_PYTHON, &record, (offsetof(struct record_python, texts) + size + 7) / 8 * 8, 0, 0);
}

static uint64_t line(uint64_t number, uint64_t line)
{
    return RECORD_PYTHON_ADDRESS | number << RECORD_PYTHON_NUMBER | line;
}

static void put_path(uint32_t number, uint32_t parent, uint64_t address)
{
    struct record_path record = {.address = address, .parent = parent, .number = number};
    put(RECORD_DEFINE_PATH, &record, sizeof record, 0, 0);
}

static void put_module(uint64_t begin, uint64_t end, const char *path)
{
    struct record_module record = {.begin = begin, .end = end, .load = begin};
    strncpy(record.path, path, sizeof record.path - 1);
    put(RECORD_DEFINE_MODULE, &record, (offsetof(struct record_module, path) + strlen(path) + 8) / 8 * 8, 0, 0);
}

static void put_site(uint32_t number, uint64_t address)
{
    struct record_site record = {.offset = address, .number = number, .function = 0};
    put(RECORD_DEFINE_SITE, &record, (offsetof(struct record_site, path) + 8) / 8 * 8, 0, 0);
}

static void write_file(void)
{
    char path[64];
    struct record_header header = hand_header(0, 1);
    header.end = RECORD_FINALIZED;
    header.sample_ns = 10000000;
    header.used[0] = 1;
    snprintf(path, sizeof path, "%s/0" RECORD_SUFFIX, directory);
    FILE *file = fopen(path, "wb");
    fwrite(&header, sizeof header, 1, file);
    fseek(file, RECORD_HEADER_SIZE, SEEK_SET);
    fwrite(block, sizeof block, 1, file);
    fclose(file);
}

/* Function 3 has a name that ends nowhere, number 9 none at all. */
static void make(void)
{
    char full[RECORD_PATH_SIZE];
    memset(full, 'x', sizeof full);
    used = RECORD_BLOCK_HEAD;
    struct record_calibration calibration = {.ticks = ticks, .ns = ticks, .width = 10};
    put(RECORD_CALIBRATION, &calibration, sizeof calibration, 0, 0);
    put_function(1, "dir/app.py\0<module>", sizeof "dir/app.py\0<module>");
    put_function(2, "dir/app.py\0Solver.step", sizeof "dir/app.py\0Solver.step");
    put_function(3, full, sizeof full);
    put_function(UINT32_MAX, "a\0b", sizeof "a\0b");
    put_path(1, 0, line(1, 90));
    put_path(2, 1, line(2, 12));
    put_path(3, 1, line(9, 12));
    put_path(4, 2, line(2, UINT32_MAX));
    put_module(0x1000, 0x9000, "/nowhere/lib.so");
    put_path(5, 2, 0x1100);
    put_path(6, 5, 0x1200);
    put_site(1, line(2, 14));
    put_site(2, line(9, 14));
    struct record_base sample, leave;
    struct record_enter enter = {.site = 1};
    put(RECORD_SAMPLE, &sample, sizeof sample, 0, 2);
    put(RECORD_SAMPLE, &sample, sizeof sample, 0, 3);
    put(RECORD_SAMPLE, &sample, sizeof sample, 0, 6);
    put(RECORD_ENTER_AT, &enter, sizeof enter, 0, 0);
    put(RECORD_LEAVE, &leave, sizeof leave, 0, 0);
    enter.site = 2;
    put(RECORD_ENTER_AT, &enter, sizeof enter, 0, 0);
    put(RECORD_LEAVE, &leave, sizeof leave, 0, 0);
    write_file();
}

static bool is_site(const struct defs *defs, uint32_t site, const char *file, int32_t number, const char *function)
{
    const struct site_def *def = site ? &defs->sites[site - 1] : NULL;
    return def && strcmp(def->file, file) == 0 && def->line == number && strcmp(def->function, function) == 0;
}

static void check(struct reader *reader, struct error *err)
{
    struct batch batch = {0};
    uint32_t paths[3] = {0}, sites[2] = {0};
    size_t samples = 0, enters = 0;
    while (reader_next(reader, &batch, err) == STATUS_OK)
        for (size_t i = 0; i < batch.count; i++) {
            if (batch.events[i].kind == EVENT_SAMPLE && samples < 3)
                paths[samples++] = batch.events[i].state;
            if (batch.events[i].kind == EVENT_ENTER && enters < 2)
                sites[enters++] = batch.events[i].site;
        }
    const struct defs *defs = reader->defs;
    const struct path_def *path = &defs->paths[paths[0]];
    tap_ok(samples == 3 && enters == 2, "samples and calls are read");
    tap_ok(is_site(defs, path->site, "dir/app.py", 12, "Solver.step"), "a sample has the line of its function");
    tap_ok(path->parent && is_site(defs, defs->paths[path->parent - 1].site, "dir/app.py", 90, "<module>"),
           "and that of its caller");
    tap_ok(defs->paths[paths[1]].site == 0, "a function that is not defined has no place");
    path = &defs->paths[paths[2]];
    tap_ok(path->site && strcmp(defs->sites[path->site - 1].function, "[lib.so]") == 0 && path->parent == paths[0] + 1,
           "functions without names of a library are one level, below Python");
    tap_ok(is_site(defs, sites[0], "dir/app.py", 14, "Solver.step"), "a call has the line that made it");
    tap_equal_int(sites[1], 0, "or none");
    batch_free(&batch);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    make();
    struct error err = {0};
    struct recordings recordings;
    char *directories[] = {directory};
    struct reader *reader = NULL;
    if (recordings_open(&recordings, directories, 1, &err) == STATUS_OK)
        reader = record_reader_open(&recordings, 0, &err);
    tap_ok(reader != NULL, "the recording is read");
    if (reader) {
        check(reader, &err);
        reader_close(reader);
    }
    recordings_close(&recordings);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) != 0 || tap_done();
}
