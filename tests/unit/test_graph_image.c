/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph and its image, mapped twice as two processes would: the calls, messages and waits, and what is computed from
   all other parts, are the same. Of real traces: messages, collectives, requests, windows, threads, splits. */
#include "convert/reader.h"
#include "convert/stream.h"
#include "core/memory.h"
#include "graph/graph_image.h"
#include "graph/wait.h"
#include "graph/wait_table.h"
#include "replay/analyse.h"
#include "replay/replay.h"

#include "unit/tap.h"

#include <glob.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A sum of what is in the graph, in which places count. */
struct print {
    uint64_t sum, count;
};

static void put(struct print *print, int64_t value)
{
    print->sum = (print->sum ^ (uint64_t)value) * UINT64_C(0x100000001B3);
    print->sum ^= print->sum >> 29;
    print->count++;
}

static void put_many(struct print *print, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(print, values[i]);
}

static void put_call(struct print *print, const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    struct wait wait = wait_compute(graph, location, index), known = wait_of(graph, location, index);
    put(print, call.enter_ns);
    put(print, call.leave_ns);
    put(print, call.state);
    put(print, call.site);
    put(print, call.instance);
    put(print, call.sent);
    put(print, call.received);
    put(print, call.completed);
    put(print, call.posted);
    put(print, wait.ns);
    put(print, wait.kind);
    put(print, known.ns);
    put(print, wait_ns_in(graph, location, index));
    for (uint32_t i = call.sent; i; i = graph_next_sent(graph, i))
        put(print, i);
    for (uint32_t i = call.received; i; i = graph_next_received(graph, i))
        put(print, i);
}

static void put_analysis(struct print *print, const struct analysis *analysis)
{
    put(print, analysis->path);
    put(print, analysis->replay);
    put_many(print, analysis->delay_ns, analysis->process_count);
    put_many(print, analysis->concurrency_ns, analysis->process_count);
    put_many(print, analysis->path_mpi_ns, analysis->process_count);
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++) {
        put(print, analysis->waits[kind].ns);
        put(print, analysis->waits[kind].saving_ns);
        put_many(print, analysis->waits[kind].causes_ns, analysis->process_count);
    }
}

static struct print print_of(const struct graph *graph)
{
    struct print print = {0};
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++)
            put_call(&print, graph, location, i);
    for (uint32_t i = 0; i < graph->message_count; i++) {
        struct message message = graph_message(graph, i);
        put(&print, message.send_location);
        put(&print, message.send_call);
        put(&print, message.receive_call);
        put(&print, message.bytes);
    }
    for (size_t i = 0; i < graph->instance_count; i++)
        put(&print, graph->instances[i].latest_enter_ns);
    put(&print, waits_median_ns(graph));
    struct analysis *analysis = analyse(graph);
    put_analysis(&print, analysis);
    analysis_free(analysis);
    return print;
}

static struct graph *mapped(int file, size_t size, const struct defs *defs)
{
    void *image = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    return image == MAP_FAILED ? NULL : graph_of_image(image, size, defs);
}

/* Moves the graph into a file. */
static int image_of(struct graph *graph, size_t *size)
{
    int file = memfd_create("image", MFD_CLOEXEC);
    *size = graph_image_size(graph);
    if (file < 0 || ftruncate(file, (off_t)*size) != 0)
        return -1;
    void *image = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (image == MAP_FAILED)
        return -1;
    graph_image_move(graph, image);
    munmap(image, *size);
    return file;
}

static bool is_print(const struct print *expected, const struct graph *graph)
{
    struct print print = {0};
    if (graph)
        print = print_of(graph);
    return print.sum == expected->sum && print.count == expected->count;
}

static void check(char *path)
{
    struct error err = {0};
    struct reader *reader = reader_open(&path, 1, &err);
    struct graph_builder *builder = graph_builder_new();
    struct sink *sinks[] = {graph_builder_sink(builder)};
    bool read = reader && stream_run(reader, sinks, 1, NULL, NULL, &err) == STATUS_OK;
    struct graph *graph = graph_builder_end(builder);
    size_t size = 0;
    struct print expected = {0};
    int file = -1;
    if (read) {
        expected = print_of(graph);
        file = image_of(graph, &size);
    }
    struct graph *one = NULL, *two = NULL;
    if (file >= 0) {
        one = mapped(file, size, reader->defs);
        two = mapped(file, size, reader->defs);
        close(file);
    }
    /* The first is used and freed before the second is looked at. */
    bool same = one && is_print(&expected, one);
    graph_free(one);
    same = same && is_print(&expected, two);
    graph_free(two);
    tap_ok(same, "%s: the same in its image (%llu numbers)", strrchr(path, '/') + 1,
           (unsigned long long)expected.count);
    reader_close(reader);
}

int main(void)
{
    static const char *const patterns[] = {"samples/*.clog2*", "samples/*.slog2", "samples/*.trace", "samples/zoo_*"};
    const char *source = getenv("srcdir");
    glob_t files = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char pattern[4096];
        snprintf(pattern, sizeof pattern, "%s/%s", source ? source : ".", patterns[i]);
        tap_ok(glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &files) == 0, "there are %s", patterns[i]);
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        check(files.gl_pathv[i]);
    globfree(&files);
    return tap_done();
}
