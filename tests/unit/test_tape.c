/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tape.h"

#include "core/memory.h"
#include "unit/tap.h"

#include <string.h>

/* The byte at a place, so that no piece is like another. */
static unsigned char byte_at(size_t at)
{
    return (unsigned char)(at * 31 + at / 251);
}

static void fill(struct tape *tape, size_t size, size_t step)
{
    unsigned char *some = memory_new(step);
    for (size_t at = 0; at < size; at += step) {
        size_t length = size - at < step ? size - at : step;
        for (size_t i = 0; i < length; i++)
            some[i] = byte_at(at + i);
        tape_add(tape, some, length);
    }
    free(some);
}

/* Reads it in pieces of this size: so many times the same data. */
static bool holds(struct tape *tape, size_t size, size_t times, size_t step)
{
    struct error err = {0};
    unsigned char *some = memory_new(step);
    size_t at = 0, got;
    bool right = tape->size == size * times;
    while (tape_read(tape, some, step, &got, &err) == STATUS_OK && got > 0) {
        for (size_t i = 0; i < got; i++)
            right = right && some[i] == byte_at((at + i) % size);
        at += got;
    }
    free(some);
    return right && at == size * times && err.kind == ERROR_NONE;
}

static void test_size(size_t size, size_t write, size_t read)
{
    struct error err = {0};
    struct tape tape = {0}, twice = {0};
    fill(&tape, size, write);
    tap_ok(holds(&tape, size, 1, read), "%zu bytes, written in pieces of %zu, read in pieces of %zu", size, write,
           read);
    tape_clear(&tape);
    bool appended = true;
    for (int i = 0; i < 2; i++) {
        fill(&tape, size, write);
        appended = tape_append(&twice, &tape, &err) == STATUS_OK && tape.size == 0 && appended;
    }
    tap_ok(appended && holds(&twice, size, 2, read), "appended to another");
    tape_clear(&twice);
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        test_size(sizes[i], 1, 4096);
        test_size(sizes[i], 100000, 7);
        test_size(sizes[i], 4096, 300000);
    }
    setenv("TMPDIR", "/nowhere", 1);
    struct error err = {0};
    struct tape tape = {0};
    fill(&tape, 200000, 1000);
    tap_ok(tape_check(&tape, &err) == STATUS_FAILED && strstr(err.text, "/nowhere"), "no place for the file: %s",
           err.text);
    tape_clear(&tape);
    return tap_done();
}
