/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/read_record_summary.h"

#include "convert/record/read_record.h"
#include "convert/record/record_state.h"

struct record_summary record_reader_summary(const struct reader *reader)
{
    const struct record_state *state = reader->state;
    const struct record_run *run = &state->run;
    struct record_summary summary = {.processes = (uint32_t)run->process_count,
                                     .declared = reader->defs->processes,
                                     .programs = run->program_count,
                                     .spawned = run->files[0].header.spawned != 0,
                                     .foreign = state->foreign,
                                     .events = state->events,
                                     .kept = property_find(&reader->defs->properties, PROPERTY_KEPT),
                                     .left_out = state->plan.left_out,
                                     .lost_definitions = state->plan.lost_definitions,
                                     .lost_messages = state->lost_messages,
                                     .limit_bytes = state->plan.limit_bytes};
    for (size_t i = 0; i < run->process_count; i++) {
        summary.unfinished += !run->processes[i].finalized;
        summary.several_hosts |= run->processes[i].clock.points > 0;
    }
    for (size_t i = 0; i < run->file_count; i++) {
        summary.limited |= run->files[i].header.reason == RECORD_LIMIT;
        summary.disk_full |= run->files[i].header.reason == RECORD_DISK_FULL;
        summary.file_lost |= run->files[i].header.reason == RECORD_FILE_LOST;
        summary.file_limit |= run->files[i].header.reason == RECORD_FILE_LIMIT;
        summary.lost_calls += run->files[i].lost_calls;
        summary.lost_threads += run->files[i].header.lost_threads;
        if (run->files[i].header.lost_threads > 0)
            summary.lost_reason = (int)run->files[i].header.lost_reason;
        summary.bytes += run->files[i].size;
    }
    return summary;
}

/* Impossible clock readings: the first file of a host represents it. */
static void note_clocks(struct reader *reader)
{
    const struct record_run *run = &((struct record_state *)reader->state)->run;
    for (size_t i = 0, said = 0; i < run->file_count && said < run->clocks.count; i++) {
        size_t index = run->processes[run->process_of[i]].clock_map;
        const struct record_clock_map *map = &run->clocks.maps[index];
        if (index != said)
            continue;
        said++;
        if (map->bad > 0 && map->knot_count == 0)
            damage_note(&reader->damage, run->files[i].path, 0,
                        "the clock readings are invalid; data of this host is not used");
        else if (map->bad > 0)
            damage_note(&reader->damage, run->files[i].path, 0, "%zu clock readings are invalid; the rest are used",
                        map->bad);
    }
}

void record_note_missing(struct reader *reader)
{
    struct record_state *state = reader->state;
    struct record_summary summary = record_reader_summary(reader);
    const char *first = state->run.files[0].path;
    reader->complete = summary.unfinished == 0 && summary.processes == summary.declared && !summary.limited &&
                       !summary.disk_full && !summary.file_lost && !summary.file_limit && summary.lost_threads == 0 &&
                       state->run.recordings->failed == 0;
    if (summary.processes < summary.declared)
        damage_note(&reader->damage, first, 0, "%u of %u processes have no recording",
                    summary.declared - summary.processes, summary.declared);
    note_clocks(reader);
    for (size_t i = 0; i < state->run.file_count; i++)
        if (state->run.files[i].missing > 0)
            damage_note(&reader->damage, state->run.files[i].path, state->run.files[i].size,
                        "blocks are missing (%ju); the rest of the recording is not used",
                        (uintmax_t)state->run.files[i].missing);
        else if (state->run.files[i].damaged)
            damage_note(&reader->damage, state->run.files[i].path, state->run.files[i].position,
                        "invalid record; the rest of the file is not used");
}
