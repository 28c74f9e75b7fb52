/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/contents.h"

#include "core/memory.h"
#include "timeline/fix_clocks.h"

#include <stdlib.h>

/* With what the result borrows. */
struct reading {
    struct contents contents; /* the first member: what the caller gets */
    struct reader *reader;
    struct matcher *matcher;
};

struct contents *engine_contents(const struct engine_request *request, struct error *err)
{
    struct reader *reader = engine_open(request, err);
    if (!reader)
        return NULL;
    struct reading *reading = memory_new(sizeof *reading);
    struct contents *contents = &reading->contents;
    reading->reader = reader;
    reading->matcher = matcher_new(); /* how many messages have both ends cannot be seen from either */
    census_start(&contents->census);
    struct sink *sinks[] = {&contents->census.sink, matcher_sink(reading->matcher)};
    if (engine_stream(request, reader, sinks, 2, err) != STATUS_OK) {
        engine_contents_free(contents);
        return NULL;
    }
    /* borrowed from the reader, which stays open as long as the contents */
    contents->format = reader->format->name;
    contents->defs = reader->defs;
    contents->records = reader->records;
    contents->record_kinds = reader->record_kinds;
    contents->end = &reader->end;
    contents->clocks = reader_clocks(reader);
    contents->messages = matcher_counts(reading->matcher);
    return contents;
}

void engine_contents_free(struct contents *contents)
{
    if (!contents)
        return;
    struct reading *reading = (struct reading *)contents;
    census_clear(&contents->census);
    matcher_free(reading->matcher);
    reader_close(reading->reader);
    free(reading);
}
