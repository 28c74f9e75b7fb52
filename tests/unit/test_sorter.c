/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "core/sorter.h"
#include "unit/random.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEBIBYTE = 1024 * 1024, SIZE_MAX_SMALL = 40 };

struct record {
    struct sort_key key;
    uint64_t number; /* in the order of adding: shows whether the sort is stable */
};

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    if (a->key.major != b->key.major)
        return a->key.major < b->key.major ? -1 : 1;
    if (a->key.minor != b->key.minor)
        return a->key.minor < b->key.minor ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Orders in which records may come. */
typedef struct sort_key make_key(uint64_t i);

static struct sort_key key_ordered(uint64_t i)
{
    return (struct sort_key){i / 1000, i};
}

static struct sort_key key_reversed(uint64_t i)
{
    return (struct sort_key){UINT64_MAX - i / 3, 7};
}

static struct sort_key key_random(uint64_t i)
{
    (void)i;
    return (struct sort_key){random_number(), random_number()};
}

static struct sort_key key_equal(uint64_t i)
{
    (void)i;
    return (struct sort_key){UINT64_MAX, UINT64_MAX};
}

static struct sort_key key_few(uint64_t i)
{
    (void)i;
    return (struct sort_key){random_number() % 3, random_number() % 3};
}

/* Blocks of 64 processes, each in the order of time: a CLOG-2 file that becomes XML. */
static struct sort_key key_process(uint64_t i)
{
    return (struct sort_key){i / 500 % 64, sort_key_signed((int64_t)(i * 100) - 5000)};
}

/* The same with time that goes back now and then. */
static struct sort_key key_process_back(uint64_t i)
{
    struct sort_key key = key_process(i);
    if (random_number() % 100 == 0)
        key.minor -= 70000;
    return key;
}

/* The same to be sorted by time. */
static struct sort_key key_time(uint64_t i)
{
    return (struct sort_key){sort_key_signed((int64_t)(i % 500 * 64 + i / 32000 * 100000)), i / 500 % 64};
}

/* Sizes and contents follow from the number, so that they need not be kept. */
static size_t make_data(unsigned char *data, uint64_t number, size_t size_max)
{
    size_t size = (size_t)(number * 7 % (size_max + 1));
    memset(data, (int)(number % 251), size);
    if (size >= sizeof number)
        memcpy(data, &number, sizeof number);
    return size;
}

static uint64_t wrong_records(struct sorter *sorter, const struct record *want, size_t count, size_t size_max)
{
    struct error err = {0};
    unsigned char *expected = memory_new(size_max);
    struct sort_key key;
    const void *data;
    size_t length;
    uint64_t wrong = 0, got = 0;
    for (; sorter_next(sorter, &key, &data, &length, &err) == STATUS_OK; got++) {
        if (got >= count) {
            wrong++;
            continue;
        }
        size_t size = make_data(expected, want[got].number, size_max);
        wrong += key.major != want[got].key.major || key.minor != want[got].key.minor || length != size ||
                 memcmp(data, expected, size) != 0;
    }
    free(expected);
    return wrong + (count - got) + (sorter_next(sorter, &key, &data, &length, &err) != STATUS_END);
}

static void test_order(const char *name, make_key *make, size_t count, size_t size_max)
{
    struct error err = {0};
    struct sorter *sorter = sorter_new(MEBIBYTE);
    struct record *records = memory_new(count * sizeof *records);
    unsigned char *data = memory_new(size_max);
    bool added = true;
    for (size_t i = 0; i < count; i++) {
        records[i] = (struct record){make(i), i};
        size_t size = make_data(data, i, size_max);
        added = added && sorter_add(sorter, records[i].key, data, size, &err) == STATUS_OK;
    }
    qsort(records, count, sizeof *records, compare_records);
    tap_ok(added, "%s: %zu records added", name, count);
    tap_equal_int((long long)sorter_count(sorter), (long long)count, "%s: count", name);
    for (int round = 0; round < 2; round++) {
        tap_ok(sorter_rewind(sorter, &err) == STATUS_OK, "%s: rewind %d", name, round);
        tap_equal_int((long long)wrong_records(sorter, records, count, size_max), 0, "%s: order %d", name, round);
    }
    sorter_free(sorter);
    free(records);
    free(data);
}

static void test_rewind_midway(void)
{
    struct error err = {0};
    struct sorter *sorter = sorter_new(0);
    bool fine = true;
    for (uint64_t i = 0; i < 300000; i++)
        fine =
            fine && sorter_add(sorter, (struct sort_key){random_number() % 1000, i}, &i, sizeof i, &err) == STATUS_OK;
    struct sort_key key;
    const void *data;
    size_t length;
    uint64_t first = 0;
    fine = fine && sorter_rewind(sorter, &err) == STATUS_OK;
    for (int i = 0; fine && i < 12345; i++) {
        fine = sorter_next(sorter, &key, &data, &length, &err) == STATUS_OK;
        if (i == 0)
            first = key.minor;
    }
    fine = fine && sorter_rewind(sorter, &err) == STATUS_OK &&
           sorter_next(sorter, &key, &data, &length, &err) == STATUS_OK;
    tap_ok(fine && key.major == 0 && key.minor == first, "rewound midway it starts again");
    sorter_free(sorter);
}

static void test_no_directory(void)
{
    struct error err = {0};
    setenv("TMPDIR", "/nowhere/at/all", 1);
    struct sorter *sorter = sorter_new(MEBIBYTE);
    enum status status = STATUS_OK;
    for (uint64_t i = 0; i < 200000 && status == STATUS_OK; i++)
        status = sorter_add(sorter, (struct sort_key){0, i}, &i, sizeof i, &err);
    tap_ok(status == STATUS_FAILED, "no TMPDIR: a fault");
    tap_equal_int(err.kind, ERROR_OUTPUT, "no TMPDIR: kind");
    tap_equal_string(err.text, "cannot create a temporary file in /nowhere/at/all: No such file or directory",
                     "no TMPDIR: text");
    sorter_free(sorter);
    struct sorter *small = sorter_new(MEBIBYTE);
    status = sorter_add(small, (struct sort_key){0, 0}, "x", 1, &err);
    tap_ok(status == STATUS_OK && sorter_rewind(small, &err) == STATUS_OK, "what fits into memory needs no file");
    sorter_free(small);
    unsetenv("TMPDIR");
}

int main(void)
{
    test_order("nothing", key_random, 0, 0);
    test_order("one", key_random, 1, SIZE_MAX_SMALL);
    test_order("in memory", key_random, 5000, SIZE_MAX_SMALL);
    test_order("in memory, by process", key_process_back, 9000, SIZE_MAX_SMALL);
    test_order("ordered", key_ordered, 400000, SIZE_MAX_SMALL);
    test_order("reversed", key_reversed, 100000, SIZE_MAX_SMALL);
    test_order("random", key_random, 400000, SIZE_MAX_SMALL);
    test_order("random in many runs", key_random, 2500000, 8);
    test_order("all equal", key_equal, 200000, SIZE_MAX_SMALL);
    test_order("few keys", key_few, 200000, SIZE_MAX_SMALL);
    test_order("by process", key_process, 400000, SIZE_MAX_SMALL);
    test_order("by process, time going back", key_process_back, 400000, SIZE_MAX_SMALL);
    test_order("by time", key_time, 400000, SIZE_MAX_SMALL);
    test_order("large records", key_random, 3000, 65536);
    test_order("large equal records", key_few, 3000, 65536);
    test_rewind_midway();
    test_no_directory();
    return tap_done();
}
