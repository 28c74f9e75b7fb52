/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of the whole diagnosis: any trace must end in metrics or in a message, never in a crash, with and without
   --fix-clocks. fuzz_reader.c tries the readers alone, many times faster. */
#include "clocks/clocks.h"
#include "convert/reader.h"
#include "convert/stream.h"
#include "core/memory.h"
#include "fuzz/whole_run.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Clocks that are corrected, and each process's latest event as recorded and corrected: the order must stay. */
struct checked_clocks {
    struct clocks *clocks;
    struct map recorded, corrected;
};

static void correct(void *context, struct batch *batch)
{
    struct checked_clocks *checked = context;
    struct batch *before = memory_new(sizeof *before);
    memcpy(before->events, batch->events, batch->count * sizeof *batch->events);
    clocks_correct(checked->clocks, batch);
    for (size_t i = 0; i < batch->count; i++) {
        int64_t recorded_ns = before->events[i].time_ns, corrected_ns = batch->events[i].time_ns;
        uint64_t *was = map_put(&checked->recorded, batch->events[i].process, (uint64_t)recorded_ns);
        uint64_t *is = map_put(&checked->corrected, batch->events[i].process, (uint64_t)corrected_ns);
        if (recorded_ns >= (int64_t)*was && corrected_ns < (int64_t)*is)
            abort();
        *was = (uint64_t)recorded_ns;
        *is = (uint64_t)corrected_ns;
    }
    free(before);
}

static void rewind_clocks(void *context)
{
    clocks_rewind(((struct checked_clocks *)context)->clocks);
}

static void free_clocks(void *context)
{
    struct checked_clocks *checked = context;
    clocks_free(checked->clocks);
    map_clear(&checked->recorded);
    map_clear(&checked->corrected);
    free(checked);
}

/* Reads the trace for its clocks, and begins again with them corrected. */
static bool fix_clocks(struct reader *reader)
{
    struct error err = {0};
    struct causality_builder *builder = causality_builder_new();
    struct sink *sinks[] = {causality_builder_sink(builder)};
    enum status status = stream_run(reader, sinks, 1, NULL, NULL, &err);
    struct causality *causality = causality_builder_end(builder);
    if (status != STATUS_OK) {
        causality_free(causality);
        return false;
    }
    struct checked_clocks *checked = memory_new(sizeof *checked);
    checked->clocks = clocks_of(causality);
    reader->correction = (struct correction){correct, rewind_clocks, free_clocks, checked};
    return reader_restart(reader, &err) == STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct input *input = input_open_memory(data, size, "fuzz");
    if (input_need(input, PROBE_SIZE, &err) == STATUS_FAILED || input_keep(input, &err) != STATUS_OK) {
        input_close(input);
        return 0;
    }
    struct reader *reader = reader_open_input(input, &err);
    if (reader) {
        whole_run(reader);
        if (reader_restart(reader, &err) == STATUS_OK && fix_clocks(reader))
            whole_run(reader);
    }
    reader_close(reader);
    return 0;
}
