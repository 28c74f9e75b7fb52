/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/convert.h"

#include "engine/spans.h"
#include "timeline/fix_clocks.h"

#include <string.h>

static bool has_standard_input(const struct engine_request *trace)
{
    for (size_t i = 0; i < trace->input_count; i++)
        if (strcmp(trace->inputs[i], "-") == 0)
            return true;
    return false;
}

/* Waits and findings come before the events: the writer sorts them in. A trace that can be converted but not diagnosed
   is converted without them. */
static enum status give_spans(const struct convert_request *request, struct convert_result *result, struct error *err)
{
    enum engine_lack lack = ENGINE_LACKS_NOTHING;
    if (!request->format->span || request->no_spans)
        return STATUS_OK;
    if (has_standard_input(request->trace)) {
        result->lack = CONVERT_LACKS_FILE;
        return STATUS_OK;
    }
    enum status status = engine_give_spans(request->trace, result->own_writer, &lack, err);
    if (status == STATUS_FAILED && err->kind == ERROR_INPUT) {
        result->lack = CONVERT_LACKS_INPUT;
        result->fault = *err;
        *err = (struct error){0};
        return STATUS_OK;
    }
    if (status == STATUS_OK && lack == ENGINE_LACKS_ROOM)
        result->lack = CONVERT_LACKS_ROOM;
    return status;
}

/* With corrected clocks the messages are matched on their way out, to count what could not be corrected. */
static enum status stream(const struct convert_request *request, struct convert_result *result, struct error *err)
{
    struct sink *sinks[] = {&result->own_writer->sink, NULL};
    if (!result->clocks)
        return engine_stream(request->trace, result->reader, sinks, 1, err);
    struct matcher *matcher = matcher_new();
    sinks[1] = matcher_sink(matcher);
    enum status status = engine_stream(request->trace, result->reader, sinks, 2, err);
    result->messages = matcher_counts(matcher);
    matcher_free(matcher);
    return status;
}

/* The first fault counts: that of closing is often its consequence. */
static enum status write_trace(const struct convert_request *request, struct convert_result *result, struct error *err)
{
    struct error closing = {0};
    if (writer_open(result->own_writer, request->path, request->replace, err) != STATUS_OK)
        return STATUS_FAILED;
    enum status status = stream(request, result, err);
    if (writer_close(result->own_writer, status == STATUS_OK, &closing) != STATUS_OK && status == STATUS_OK) {
        *err = closing;
        status = STATUS_FAILED;
    }
    return status;
}

enum status engine_convert(const struct convert_request *request, struct convert_result *result, struct error *err)
{
    *result = (struct convert_result){0}; /* so that it can be cleared wherever it ends */
    result->reader = engine_open(request->trace, err);
    if (!result->reader)
        return STATUS_FAILED;
    result->end = &result->reader->end;
    result->clocks = reader_clocks(result->reader);
    result->writer = result->own_writer = request->format->create();
    result->own_writer->format = request->format;
    if (give_spans(request, result, err) != STATUS_OK)
        return STATUS_FAILED;
    return write_trace(request, result, err);
}

void engine_convert_clear(struct convert_result *result)
{
    if (result->own_writer)
        result->own_writer->format->dispose(result->own_writer);
    reader_close(result->reader);
    *result = (struct convert_result){0};
}
