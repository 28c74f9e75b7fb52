/* SPDX-License-Identifier: BSD-3-Clause */
/* CLOG-2 files of random events, read in slices that end at borders of blocks: the metrics file must be the one that a
   single pass gives, to the last byte. And the traces that slices must leave to one pass. */
#include "timeline/slices.h"

#include "convert/clog2/read_clog2.h"
#include "convert/writer.h"
#include "core/memory.h"
#include "engine/counting.h"
#include "render/reports/metrics_report.h"

#include "unit/random.h"
#include "unit/tap.h"

#include <string.h>
#include <unistd.h>

enum { PROCESSES = 5, THREADS = 2, STATES = 6, EVENTS = 20000 };

static char directory[] = "/tmp/sight-slices-XXXXXX", trace[64], once[64], sliced[64];
static struct defs *defs;
static struct event events[EVENTS];
static void make_defs(void)
{
    static const char *const names[STATES] = {"MPI_Send", "MPI_Recv", "MPI_Barrier", "work", "omp a.c:5", "omp b.c:7"};
    defs = defs_new();
    for (int32_t i = 0; i < STATES; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i],
                                                 .id = EVENT_UNKNOWN,
                                                 .start = EVENT_UNKNOWN,
                                                 .end = EVENT_UNKNOWN});
    defs_add_mark(defs, &(struct mark_def){.name = (char *)(uintptr_t) "tick", .id = EVENT_UNKNOWN, .defined = true});
    int32_t world = defs_comm(defs, 0);
    defs->comms[world].world = true;
    defs->processes = PROCESSES;
    defs->threads = THREADS;
}

static void make_message(struct event *event)
{
    event->kind = random_below(2) ? EVENT_SEND : EVENT_RECEIVE;
    event->partner = (int32_t)random_below(PROCESSES);
    event->tag = (int32_t)random_below(50);
    *(event->kind == EVENT_SEND ? &event->bytes_sent : &event->bytes_received) = random_below(100000);
}

/* States cross, stay open, and are left that were never entered. */
static void make_events(void)
{
    int64_t now = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        struct event *event = &events[i];
        *event = EVENT_NOTHING;
        now += 1000 * random_below(4);
        event->time_ns = now;
        event->process = random_below(PROCESSES);
        event->thread = random_below(THREADS);
        event->comm = event->partner_comm = 0;
        uint32_t what = random_below(20);
        event->kind = what < 8 ? EVENT_ENTER : what < 16 ? EVENT_LEAVE : EVENT_MARK;
        event->state = event->kind == EVENT_MARK ? 0 : random_below(STATES);
        if (what > 16)
            make_message(event);
    }
}

/* One thread enters a state this often; everything else happens around it. */
static void make_deep(size_t levels)
{
    make_events();
    for (size_t i = 0; i < levels; i++) {
        events[i * 2].kind = EVENT_ENTER;
        events[i * 2].process = events[i * 2].thread = 0;
        events[i * 2].state = 3;
    }
}

static void fail(const struct error *err)
{
    fprintf(stderr, "%s\n", err->text);
    abort();
}

static void write_trace(void)
{
    struct error err = {0};
    const struct writer_format *format = writer_format_find("clog2");
    struct writer *writer = format->create();
    struct batch *batch = memory_new(sizeof *batch);
    writer->format = format;
    writer->output = output_open(trace, (struct output_options){.replace = true, .patchable = true}, &err);
    bool fine = writer->output && writer->sink.begin(&writer->sink, defs, &err) == STATUS_OK;
    for (size_t i = 0; fine && i < EVENTS; i++) {
        batch->events[batch->count++] = events[i];
        if (batch->count == BATCH_EVENTS || i + 1 == EVENTS) {
            fine = writer->sink.events(&writer->sink, batch, &err) == STATUS_OK;
            batch_clear(batch);
        }
    }
    fine = fine && writer->sink.end(&writer->sink, &(struct trace_end){.complete = true}, &err) == STATUS_OK &&
           output_close(writer->output, true, &err) == STATUS_OK;
    if (!fine)
        fail(&err);
    format->dispose(writer);
    batch_free(batch);
    free(batch);
}

static struct reader *open_trace(void)
{
    char *paths[] = {trace};
    struct error err = {0};
    struct reader *reader = reader_open(paths, 1, &err);
    if (!reader)
        fail(&err);
    return reader;
}

/* Takes both. */
static void write_metrics(const char *path, struct reader *reader, struct accumulator *accumulator)
{
    struct error err = {0};
    struct metrics *metrics = accumulator_metrics(accumulator, &err);
    struct output *output = output_open(path, (struct output_options){.replace = true}, &err);
    if (!metrics || !output)
        fail(&err);
    metrics->format = "clog2";
    metrics_write_xml(output, metrics);
    if (output_close(output, true, &err) != STATUS_OK)
        fail(&err);
    metrics_free(metrics);
    accumulator_free(accumulator);
    reader_close(reader);
}

static void measure_once(struct accumulator_options what)
{
    struct error err = {0};
    struct reader *reader = open_trace();
    struct accumulator *accumulator = accumulator_new(what);
    struct sink *sinks[] = {accumulator_sink(accumulator)};
    if (stream_run(reader, sinks, 1, NULL, NULL, &err) != STATUS_OK)
        fail(&err);
    write_metrics(once, reader, accumulator);
}

/* False where it is left to one pass. */
static bool measure_sliced(struct accumulator_options what, unsigned slices, bool by_process)
{
    struct reader *reader = open_trace();
    struct accumulator *accumulator = slices_accumulate(reader, trace, slices, by_process, what, NULL, NULL);
    if (!accumulator) {
        reader_close(reader);
        return false;
    }
    write_metrics(sliced, reader, accumulator);
    return true;
}

static bool same_files(void)
{
    FILE *a = fopen(once, "rb"), *b = fopen(sliced, "rb");
    int left, right;
    if (!a || !b)
        abort();
    do {
        left = getc(a);
        right = getc(b);
    } while (left == right && left != EOF);
    fclose(a);
    fclose(b);
    return left == right;
}

static void test_random(void)
{
    static const uint32_t ranks[] = {0, 3};
    static const char *const names[] = {"whole", "in a window", "of selected processes"};
    for (int kind = 0; kind < 3; kind++) {
        bool same = true;
        for (unsigned round = 0; round < 12 && same; round++) {
            struct accumulator_options what = {0};
            if (kind == 1)
                what = (struct accumulator_options){
                    .have_from = true, .have_to = true, .from_ns = random_below(20000000), .to_ns = 20000000};
            if (kind == 2)
                what = (struct accumulator_options){.ranks = ranks, .rank_count = 2};
            make_events();
            write_trace();
            measure_once(what);
            for (int by_process = 0; by_process < 2 && same; by_process++)
                same = measure_sliced(what, 2 + round % 8, by_process) && same_files();
        }
        tap_ok(same,
               "12 random traces, %s: in 2 to 9 slices, of the time or of processes, the same metrics as in one pass",
               names[kind]);
    }
}

static bool same_uses(const uint64_t *one, size_t one_count, const uint64_t *other, size_t other_count)
{
    return one_count == other_count && (one_count == 0 || memcmp(one, other, one_count * sizeof *one) == 0);
}

static bool same_census(const struct census *one, const struct census *other)
{
    bool same = one->any == other->any && one->begin_ns == other->begin_ns && one->end_ns == other->end_ns &&
                one->events == other->events && one->time_back == other->time_back &&
                one->largest_thread == other->largest_thread && one->processes.count == other->processes.count &&
                same_uses(one->state_uses, one->state_count, other->state_uses, other->state_count) &&
                same_uses(one->mark_uses, one->mark_count, other->mark_uses, other->mark_count);
    for (uint64_t process = 0; process < PROCESSES; process++)
        same = same && *map_find(&one->processes, process) == *map_find(&other->processes, process);
    return same;
}

static bool same_records(const struct reader *one, const struct reader *other)
{
    bool same = one->record_kinds == other->record_kinds;
    for (size_t i = 0; same && i < one->record_kinds; i++)
        same = one->records[i].name == other->records[i].name && one->records[i].count == other->records[i].count;
    return same;
}

/* Of the trace, once in one pass and once in slices. */
static bool same_contents(unsigned slices)
{
    struct error err = {0};
    struct reader *whole = open_trace(), *reader = open_trace();
    struct matcher *matcher = matcher_new();
    struct census census;
    census_start(&census);
    struct sink *sinks[] = {&census.sink, matcher_sink(matcher)};
    if (stream_run(whole, sinks, 2, NULL, NULL, &err) != STATUS_OK)
        fail(&err);
    struct match_counts messages = matcher_counts(matcher);
    struct counted counted = {.slices = slices};
    census_start(&counted.census);
    char *paths[] = {trace};
    const struct engine_request request = {.inputs = paths, .input_count = 1};
    bool same = counting_by_threads(&request, reader, &counted) && same_census(&census, &counted.census) &&
                memcmp(&messages, &counted.messages, sizeof messages) == 0 && same_records(whole, reader);
    census_clear(&census);
    census_clear(&counted.census);
    matcher_free(matcher);
    reader_close(whole);
    reader_close(reader);
    return same;
}

/* Half of the events before the others: their times go back once, at some place of a slice. */
static void test_contents(void)
{
    bool same = true;
    for (unsigned round = 0; round < 24 && same; round++) {
        make_events();
        for (size_t i = EVENTS / 2; round % 2 && i < EVENTS; i++)
            events[i].time_ns -= 1000 * (int64_t)round;
        write_trace();
        same = same_contents(2 + round % 8);
    }
    tap_ok(same, "24 random traces: in 2 to 9 slices the same contents as in one pass");
}

/* Each slice alone stays below the limit of 10,000, or not even one does. */
static void test_deep(void)
{
    make_deep(2000);
    write_trace();
    measure_once((struct accumulator_options){0});
    const struct accumulator_options all = {0};
    tap_ok(measure_sliced(all, 2, false) && same_files(), "2,000 states open at once: the same");
    make_deep(9990);
    write_trace();
    measure_once(all);
    tap_ok(measure_sliced(all, 2, true) && same_files(), "9,990 states open at once, in slices of processes: the same");
    tap_ok(!measure_sliced(all, 2, false),
           "9,990 states open at once, which may be too many with others: left to one pass");
}

static void overwrite(long at, const void *bytes, size_t size)
{
    FILE *file = fopen(trace, "r+b");
    if (!file || fseek(file, at, SEEK_SET) != 0 || fwrite(bytes, size, 1, file) != 1 || fclose(file) != 0)
        abort();
}

/* The time of the first record of the second block cannot be: the first pass, which reads definitions, does not see it.
 */
static void test_damage(void)
{
    make_events();
    write_trace();
    struct reader *reader = open_trace();
    long at = (long)clog2_block_of(reader, clog2_block_of(reader, 200000));
    reader_close(reader);
    static const unsigned char no_number[8] = {0x7f, 0xf8, 0, 0, 0, 0, 0, 0x7f};
    overwrite(at, no_number, sizeof no_number);
    reader = open_trace();
    tap_ok(reader->damage.count == 0, "a time that cannot be is not seen by the pass for definitions");
    reader_close(reader);
    for (int by_process = 0; by_process < 2; by_process++)
        tap_ok(!measure_sliced((struct accumulator_options){0}, 2, by_process),
               "a slice %s with damage: left to one pass", by_process ? "of processes" : "of the time");
}

static void test_worth(void)
{
    make_events();
    write_trace();
    char *paths[] = {trace, trace};
    struct reader *reader = open_trace();
    tap_ok(slices_worth(reader, paths, 1, 8) < 2, "a small trace is not worth slices");
    tap_ok(slices_worth(reader, paths, 2, 8) < 2, "nor are several files");
    reader_close(reader);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    snprintf(trace, sizeof trace, "%s/trace.clog2", directory);
    snprintf(once, sizeof once, "%s/once.xml", directory);
    snprintf(sliced, sizeof sliced, "%s/sliced.xml", directory);
    make_defs();
    test_random();
    test_contents();
    test_deep();
    test_damage();
    test_worth();
    defs_free(defs);
    unlink(trace);
    unlink(once);
    unlink(sliced);
    rmdir(directory);
    return tap_done();
}
