/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/opening.h"

#include "core/directory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "metrics/metrics_file.h"
#include "timeline/fix_clocks.h"

#include <string.h>
#include <sys/stat.h>

/* A look at how far the reading is costs a call of the system. */
enum { CALLS_PER_LOOK = 64 };

bool opening_watch(void *context, const struct reader *reader)
{
    struct watching *watching = context;
    const struct engine_request *request = watching->request;
    uint64_t done, total;
    if (!request->watch || watching->calls++ % CALLS_PER_LOOK != 0)
        return true;
    input_progress(reader->input, &done, &total);
    if (watching->parts > 1)
        done *= watching->parts;
    return request->watch(request->watch_context, watching->step, done, total);
}

bool opening_reads_twice(const struct engine_request *request)
{
    return request->window.from.kind != ENGINE_TIME_OPEN || request->window.to.kind != ENGINE_TIME_OPEN ||
           request->fix_clocks;
}

unsigned opening_threads(const struct engine_request *request, unsigned most)
{
    unsigned threads = request->threads * (unsigned)team_here(request->team);
    if (threads == 0)
        threads = parallel_processors();
    return smaller(threads, most);
}

/* A directory is a trace of several files, or none: the readers know. */
static bool is_file(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 || (!directory_is(path) && stat(path, &about) == 0);
}

static enum status fault_no_events(const struct input *input, struct error *err)
{
    return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace", input->name);
}

static struct reader *open_inputs(const struct engine_request *request, struct input **metrics_file, struct error *err)
{
    char *const *inputs = request->inputs;
    if (request->input_count == 0) {
        (void)error_set(err, ERROR_USAGE, "no trace given");
        return NULL;
    }
    /* A metrics file comes alone. Anything else is the readers' business, also what is not there. */
    if (request->input_count > 1 || !is_file(inputs[0]))
        return reader_open(inputs, request->input_count, err);
    struct input *input = input_open(inputs[0], err);
    /* What cannot be read twice, such as a pipe, is kept in a file from its first byte, if it will be. */
    if (!input || input_need(input, PROBE_SIZE, err) == STATUS_FAILED ||
        (opening_reads_twice(request) && input_keep(input, err) != STATUS_OK)) {
        input_close(input);
        return NULL;
    }
    size_t size = smaller(input_available(input), (size_t)PROBE_SIZE);
    if (!metrics_file_probe(input->at, size))
        return reader_open_input(input, err);
    if (metrics_file) {
        *metrics_file = input;
    } else {
        (void)fault_no_events(input, err);
        input_close(input);
    }
    return NULL;
}

struct reader *opening_inputs(const struct engine_request *request, struct input **metrics_file, struct error *err)
{
    struct reader *reader = open_inputs(request, metrics_file, err);
    struct watching watching = {.request = request, .step = ENGINE_STEP_CLOCKS};
    if (!reader || !request->fix_clocks)
        return reader;
    return reader_fix_clocks(reader, request->inputs, request->input_count, opening_watch, &watching, err);
}

struct reader *engine_open(const struct engine_request *request, struct error *err)
{
    return opening_inputs(request, NULL, err);
}

enum status engine_stream(const struct engine_request *request, struct reader *reader, struct sink *const *sinks,
                          size_t count, struct error *err)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_EVENTS};
    return stream_run(reader, sinks, count, opening_watch, &watching, err);
}

enum status engine_check_trace(const struct engine_request *request, struct error *err)
{
    char *const *inputs = request->inputs;
    if (request->input_count == 0)
        return error_set(err, ERROR_USAGE, "no trace given");
    if (request->input_count > 1 || strcmp(inputs[0], "-") == 0 || !is_file(inputs[0]))
        return STATUS_OK;
    struct input *input = input_open(inputs[0], err);
    if (!input)
        return STATUS_FAILED;
    enum status status = input_need(input, PROBE_SIZE, err);
    if (status == STATUS_END) /* smaller than what a format is recognised by */
        status = STATUS_OK;
    if (status == STATUS_OK && metrics_file_probe(input->at, input_available(input)))
        status = fault_no_events(input, err);
    input_close(input);
    return status;
}
