/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/counting.h"

#include "core/memory.h"
#include "core/parallel.h"
#include "engine/opening.h"
#include "timeline/slices.h"

#include <stdlib.h>

void counting_part_start(struct counting_part *part, unsigned owners)
{
    census_start(&part->census);
    part->ends = match_ends_new(owners);
}

void counting_part_clear(struct counting_part *part)
{
    census_clear(&part->census);
    match_ends_free(part->ends);
}

/* A thread matches what it owns of all slices. */
struct owner {
    struct match_part *parts;
    size_t count;
    struct match_counts messages;
    bool exact;
};

static void owner_match(void *context, size_t index)
{
    struct owner *owner = (struct owner *)context + index;
    struct error err = {0};
    owner->exact = match_parts(owner->parts, owner->count, &owner->messages, &err) == STATUS_OK;
}

/* What was read is put together; false: it does not fit. */
static bool put_together(const struct counting_part *parts, unsigned count, struct counted *counted)
{
    struct match_part *ends = memory_new((size_t)count * count * sizeof *ends);
    struct owner *owners = memory_new(count * sizeof *owners);
    for (unsigned i = 0; i < count; i++) {
        owners[i] = (struct owner){.parts = ends + (size_t)i * count, .count = count};
        for (unsigned part = 0; part < count; part++)
            owners[i].parts[part] = (struct match_part){parts[part].ends, i};
        census_add(&counted->census, &parts[i].census);
        match_tally_add(&counted->messages.ends, match_ends_tally(parts[i].ends));
    }
    bool exact = !counted->messages.ends.numbered;
    if (exact)
        parallel_run(count, count, owner_match, owners);
    for (unsigned i = 0; exact && i < count; i++) {
        exact = owners[i].exact;
        match_counts_add(&counted->messages, &owners[i].messages);
    }
    free(ends);
    free(owners);
    return exact;
}

bool counting_by_threads(const struct engine_request *request, struct reader *reader, struct counted *counted)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_EVENTS, .parts = counted->slices};
    struct slices *slices = slices_open(reader, request->inputs[0], counted->slices, false);
    if (!slices)
        return false;
    struct counting_part *parts = memory_new(counted->slices * sizeof *parts);
    struct sink **sinks = memory_new(2 * (size_t)counted->slices * sizeof *sinks);
    for (size_t i = 0; i < counted->slices; i++) {
        counting_part_start(&parts[i], counted->slices);
        sinks[2 * i] = &parts[i].census.sink;
        sinks[2 * i + 1] = match_ends_sink(parts[i].ends);
    }
    bool exact = slices_run(slices, sinks, 2, opening_watch, &watching);
    slices_close(slices);
    exact = exact && put_together(parts, counted->slices, counted);
    for (size_t i = 0; i < counted->slices; i++)
        counting_part_clear(&parts[i]);
    free(parts);
    free(sinks);
    return exact;
}
