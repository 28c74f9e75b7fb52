/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces cut short, as those of crashed runs are: every cut must give what stands before it, and say that something is
   missing. Files: SIGHT_SAMPLES, a list separated by ':'; else the samples, and a small trace of each format. */
#include "convert/reader.h"
#include "convert/stream.h"
#include "core/memory.h"
#include "unit/tap.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    EVERY_BYTE_BELOW = 8192,
    LARGE = 80000,
    LARGE_STEP = 97,
    EDGE = 300,        /* so near to either end every place is tried */
    BUDGET = 40 << 20, /* bytes to read for one file, so that the test stays short under sanitizers */
};

/* The result of reading. */
struct outcome {
    struct sink sink;
    bool opened, streamed, complete;
    uint64_t events;
    size_t definitions;
    char error[512];
};

static enum status count_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        ((struct outcome *)sink)->events += event_counts(&batch->events[i]);
    return STATUS_OK;
}

/* Reads the first `size` bytes, in a block of just that size, so that a sanitizer sees one byte too far. */
static struct outcome read_cut(const unsigned char *data, size_t size, const char *name)
{
    struct outcome outcome = {.sink = {.events = count_events}};
    unsigned char *copy = memory_new(size);
    memcpy(copy, data, size);
    struct error err = {0};
    struct reader *reader = reader_open_input(input_open_memory(copy, size, name), &err);
    if (reader) {
        outcome.opened = true;
        struct sink *sinks[] = {&outcome.sink};
        outcome.streamed = stream_run(reader, sinks, 1, NULL, NULL, &err) == STATUS_OK;
        outcome.complete = outcome.streamed && reader->end.complete;
        const struct defs *defs = reader->defs;
        outcome.definitions =
            defs->state_count + defs->mark_count + defs->constant_count + defs->site_count + defs->comm_row_count;
    }
    memcpy(outcome.error, err.text, sizeof outcome.error);
    reader_close(reader);
    free(copy);
    return outcome;
}

static bool cut_is_right(const unsigned char *data, size_t size, const char *name, const struct outcome *whole)
{
    struct outcome cut = read_cut(data, size, name);
    if (!cut.opened)
        return true;
    if (!cut.streamed) {
        printf("# cut at %zu: opens, but cannot be read to its end: %s\n", size, cut.error);
        return false;
    }
    /* A damaged file may lose with its damage what a cut before it keeps. */
    if (whole->complete && cut.events > whole->events) {
        printf("# cut at %zu: %llu events of %llu\n", size, (unsigned long long)cut.events,
               (unsigned long long)whole->events);
        return false;
    }
    bool nothing_lost = whole->complete && cut.events == whole->events && cut.definitions == whole->definitions;
    /* Of a damaged file the cut may leave just what is sound. */
    if (whole->complete && cut.complete && !nothing_lost) {
        printf("# cut at %zu: said to be complete with %llu events of %llu, %zu definitions of %zu\n", size,
               (unsigned long long)cut.events, (unsigned long long)whole->events, cut.definitions, whole->definitions);
        return false;
    }
    return true;
}

static bool is_text(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size && i < 512; i++)
        if (data[i] == 0 || data[i] > 0x7e)
            return false;
    return true;
}

/* True where the file is cut: beside the end of a line, of a word of 8 bytes, everywhere. */
static bool is_place(const unsigned char *data, size_t size, size_t at, bool text)
{
    if (size < EVERY_BYTE_BELOW)
        return true;
    if (!text)
        return at % 8 == 0 || at % 8 == 1 || at % 8 == 7;
    return data[at] == '\n' || (at > 0 && data[at - 1] == '\n') || (at > 1 && data[at - 2] == '\n');
}

static void test_cuts(const char *name, const unsigned char *data, size_t size)
{
    struct outcome whole = read_cut(data, size, name);
    if (!whole.opened) {
        tap_skip(whole.error);
        return;
    }
    bool text = is_text(data, size);
    size_t places = 0, tried = 0, wrong = 0;
    for (size_t at = 0; at < size; at++)
        places += is_place(data, size, at, text);
    size_t step = places * (size / 2) / BUDGET + 1;
    if (size > LARGE && step < LARGE_STEP)
        step = LARGE_STEP;
    if (step % 3 == 0)
        step++; /* or the same of a place and its two neighbours every time */
    size_t place = 0;
    for (size_t at = 0; at < size && wrong < 5; at++) {
        bool edge = size <= LARGE && (at < EDGE || size - at < EDGE);
        if (!is_place(data, size, at, text) || (place++ % step != 0 && !edge))
            continue;
        tried++;
        wrong += !cut_is_right(data, at, name, &whole);
    }
    tap_ok(wrong == 0, "%s (%llu events, %s): %zu cuts", name, (unsigned long long)whole.events,
           whole.complete ? "complete" : "damaged", tried);
}

static void test_file(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
        tap_skip(path);
    } else {
        size_t size = (size_t)about.st_size;
        unsigned char *data = memory_new(size);
        if (fread(data, 1, size, file) == size)
            test_cuts(path, data, size);
        else
            tap_ok(false, "%s: can be read", path);
        free(data);
    }
    if (file)
        fclose(file);
}

static void test_pattern(const char *directory, const char *pattern)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", directory, pattern);
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            test_file(found.gl_pathv[i]);
    else
        tap_skip(path);
    globfree(&found);
}

int main(void)
{
    const char *samples = getenv("SIGHT_SAMPLES"), *srcdir = getenv("srcdir");
    if (samples) {
        char *list = memory_copy_string(samples), *rest = NULL;
        for (char *path = strtok_r(list, ":", &rest); path; path = strtok_r(NULL, ":", &rest))
            test_file(path);
        free(list);
        return tap_done();
    }
    static const char *const patterns[] = {"samples/*", "tests/fuzz/corpus/clog2/basic_*",
                                           "tests/fuzz/corpus/clog/kinds_*", "tests/fuzz/corpus/alog/basic",
                                           "tests/fuzz/corpus/xml/f[ou][ul][rl]"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        test_pattern(srcdir ? srcdir : ".", patterns[i]);
    return tap_done();
}
