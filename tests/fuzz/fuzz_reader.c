/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of the readers and of what takes their events: any bytes must end in metrics or in a message, never in a
   crash.

   Compiled once for each format with -DFUZZ_FORMAT=\"clog2\", so that every target keeps to its own reader; without it
   all formats are taken. */
#include "convert/reader.h"
#include "convert/stream.h"
#include "metrics/accumulator.h"
#include "replay/match.h"

#include <string.h>

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT ""
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct reader *reader)
{
    struct accumulator *accumulator = accumulator_new((struct accumulator_options){0});
    struct matcher *matcher = matcher_new();
    struct sink *sinks[] = {accumulator_sink(accumulator), matcher_sink(matcher)};
    struct error err = {0};
    if (stream_run(reader, sinks, 2, NULL, NULL, &err) == STATUS_OK)
        metrics_free(accumulator_metrics(accumulator, &err));
    matcher_free(matcher);
    accumulator_free(accumulator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct reader *reader = reader_open_input(input_open_memory(data, size, "fuzz"), &err);
    if (reader && (FUZZ_FORMAT[0] == '\0' || strcmp(reader->format->name, FUZZ_FORMAT) == 0))
        read_all(reader);
    reader_close(reader);
    return 0;
}
