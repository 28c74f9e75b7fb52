/* SPDX-License-Identifier: BSD-3-Clause */
/* A process is killed while its recorder digests a full block: at every step that changes the file, a reader finds all
   events up to the last. The file is copied before each such step, as a kill would leave it. */
#include "convert/record/record_kept.h"
#include "core/mpi_function.h"
#include "core/record_digest.h"
#include "unit/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *step_copy(void *to, const void *from, size_t size);
static void *step_move(void *to, const void *from, size_t size);
static void *step_set(void *to, int value, size_t size);

#define memcpy step_copy
#define memmove step_move
#define memset step_set
#include "record/keep.c"
#undef memcpy
#undef memmove
#undef memset

enum { WORLD = 2, STEPS = 20, CALLS_SHORT = 210, CALLS_LONG = 3000 };

static struct record_header header;
static struct own_file file;
static struct keep *keep;
static uint64_t block_number, events;
static size_t paths;
static unsigned char *at, *block_end;
static int64_t now;
static const char *path, *copied;

/* What is found in copies. */
static struct {
    size_t copies, unread, other_events, not_whole, undefined;
    bool under_way; /* a block is being digested */
} found;

static uint32_t number_of(const char *name)
{
    uint32_t i = 0;
    while (strcmp(mpi_function_at(i)->name, name) != 0)
        i++;
    return i;
}

static uint64_t events_in(const struct record_kept_stream *kept, const struct record_kept_piece *piece)
{
    uint64_t count = 0;
    for (size_t place = piece->begin, length; place < piece->end; place += length) {
        length = record_length(kept->bytes + place, piece->end - place);
        if (length == 0)
            return UINT64_MAX;
        count += kept->bytes[place] == RECORD_ENTER || kept->bytes[place] == RECORD_LEAVE;
    }
    return count;
}

/* The last segments are there with all their events, up to the last; but for the begin of a very long one. */
static bool end_is_whole(const struct record_kept_stream *kept)
{
    uint64_t last = 0;
    bool whole = true;
    for (size_t i = 0; i < kept->piece_count; i++) {
        const struct record_kept_piece *piece = &kept->pieces[i];
        last = piece->before + piece->events;
        if (piece->whole)
            whole &= events_in(kept, piece) == piece->events;
        else
            whole &= piece->events > 2 * CALLS_SHORT && piece->end > piece->begin;
    }
    return whole && last == events;
}

/* The definitions of all paths so far, but for those of the records that had no room. */
static bool all_are_defined(const struct record_kept_stream *kept)
{
    size_t defined = 0;
    for (size_t i = 0; i < kept->definition_count; i++)
        defined += kept->bytes[kept->definitions[i]] == RECORD_DEFINE_PATH;
    return defined == paths && kept->totals->lost_definitions == 0;
}

/* Reads the file as it is now. */
static void look(void)
{
    struct error err = {0};
    size_t size = RECORD_HEADER_SIZE + keep->mapped_size;
    FILE *copy = fopen(copied, "wb");
    if (!copy || fseek(copy, RECORD_HEADER_SIZE, SEEK_SET) != 0 ||
        fwrite(keep->mapped, keep->mapped_size, 1, copy) != 1 || fclose(copy) != 0)
        exit(1);
    struct record_kept_stream *kept = record_kept_load(copied, &header, size, &err);
    found.copies++;
    found.unread += !kept;
    found.other_events += kept && kept->totals->events != events;
    found.not_whole += kept && !end_is_whole(kept);
    found.undefined += kept && !all_are_defined(kept);
    record_kept_free(kept);
}

/* Not of every step: most are alike. */
static void step(const void *to)
{
    static size_t steps;
    bool inside = keep && (const unsigned char *)to >= (const unsigned char *)keep->mapped &&
                  (const unsigned char *)to < (const unsigned char *)keep->mapped + keep->mapped_size;
    if (found.under_way && inside && steps++ % STEPS < 2)
        look();
}

static void *step_copy(void *to, const void *from, size_t size)
{
    step(to);
    return memcpy(to, from, size);
}

static void *step_move(void *to, const void *from, size_t size)
{
    step(to);
    return memmove(to, from, size);
}

static void *step_set(void *to, int value, size_t size)
{
    step(to);
    return memset(to, value, size);
}

static void next_block(void)
{
    found.under_way = true;
    keep_turn(keep, block_number);
    look();
    found.under_way = false;
    block_number++;
    at = keep_block(keep, block_number) + RECORD_BLOCK_HEAD;
    block_end = keep_block(keep, block_number) + header.block_size;
}

static void put(const void *record, size_t size)
{
    if ((size_t)(block_end - at) < size)
        next_block();
    memcpy(at, record, size);
    at += size;
}

static void put_long(enum record_kind kind, void *record, size_t size, uint32_t state, uint32_t comm)
{
    struct record_base base = {
        .kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = (uint16_t)state, .comm = comm, .ticks = now};
    memcpy(record, &base, sizeof base);
    put(record, size);
}

static void put_call(uint32_t function)
{
    struct record_base base;
    put_long(RECORD_ENTER, &base, sizeof base, function, RECORD_WORLD);
    events++;
    now += 100;
    put_long(RECORD_LEAVE, &base, sizeof base, function, RECORD_WORLD);
    events++;
    now += 100;
}

static void put_path(uint32_t number)
{
    struct record_path record = {.address = number, .number = number};
    put_long(RECORD_DEFINE_PATH, &record, sizeof record, 0, RECORD_WORLD);
    paths++;
}

/* Segments of all lengths, some of which are too long to be kept, with definitions in them. */
static void run(size_t segments)
{
    uint32_t barrier = number_of("MPI_Barrier"), wtime = number_of("MPI_Wtime");
    for (size_t i = 0; i < segments; i++) {
        size_t calls = i % 7 == 6 ? CALLS_LONG : 10 + i * 37 % (CALLS_SHORT - 10);
        for (size_t k = 0; k < calls; k++) {
            if (k % 500 == 100)
                put_path((uint32_t)(i * 10 + k / 500 + 1));
            put_call(wtime);
        }
        put_call(barrier);
    }
}

static void begin(void)
{
    struct record_kept sizes = keep_sizes(1, &header.block_size);
    header.size = WORLD;
    header.kept = 1;
    if (!own_file_create(&file, path) || !own_file_extend(&file, 0, RECORD_HEADER_SIZE))
        exit(1);
    keep = keep_open(&file, &sizes, header.block_size, WORLD);
    if (!keep)
        exit(1);
    at = keep_block(keep, 0) + RECORD_BLOCK_HEAD;
    block_end = keep_block(keep, 0) + header.block_size;
    now = 1000;
    struct record_comm world = {.size = WORLD};
    put_long(RECORD_COMM, &world, sizeof world, 0, RECORD_WORLD);
}

int main(void)
{
    char directory[] = "/tmp/sight-test.XXXXXX", names[2][64];
    if (!mkdtemp(directory))
        return 1;
    path = names[0];
    copied = names[1];
    snprintf(names[0], sizeof names[0], "%s/run", directory);
    snprintf(names[1], sizeof names[1], "%s/copy", directory);
    begin();
    run(200);
    tap_ok(found.copies > 200, "the file is looked at in the middle of digests (%zu times)", found.copies);
    tap_equal_int((long long)found.unread, 0, "a file that cannot be read");
    tap_equal_int((long long)found.other_events, 0, "totals that are not of all events");
    tap_equal_int((long long)found.not_whole, 0, "an end without the last events");
    tap_equal_int((long long)found.undefined, 0, "definitions that are lost");
    keep_close(keep);
    own_file_close(&file);
    unlink(path);
    unlink(copied);
    rmdir(directory);
    return tap_done();
}
