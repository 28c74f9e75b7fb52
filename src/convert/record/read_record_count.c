/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a process has called functions at places, from the begin of its files on. */
#include "convert/record/read_record.h"

#include "convert/record/record_streams.h"
#include "convert/record/record_tallies.h"
#include "convert/record/record_translate.h"

/* Those that the last tally of the file has; reading goes on after it. */
static void count_tallied(struct record_state *state, uint32_t file_index, struct record_calls *calls, size_t count)
{
    struct record_file *file = &state->run.files[file_index];
    struct record_mark mark;
    struct record_tally_rows rows;
    if (!record_marks_last(file, &mark) || !record_tally_load(&rows, file, &mark))
        return;
    for (size_t i = 0; i < rows.count; i++) {
        const struct record_tally *row = &rows.rows[i];
        bool placed = row->base.state == RECORD_ENTER_AT && row->site < file->site_count;
        uint32_t function = placed ? file->sites[row->site].function : (uint32_t)row->partner;
        uint32_t place = placed ? file->sites[row->site].place : 0,
                 site = place ? state->run.places[place - 1].site : 0;
        if ((!placed && (row->base.state != RECORD_ENTER || row->tag != 0)) || function >= RECORD_FUNCTIONS_MAX)
            continue;
        for (size_t k = 0; k < count; k++)
            if (calls[k].state == state->run.states[function] && calls[k].site == site)
                calls[k].count += row->count;
    }
    file->position = mark.end;
    file->last_ticks = mark.ticks;
    record_tally_clear(&rows);
}

static void count_entries(struct record_state *state, uint32_t file, struct record_calls *calls, size_t count)
{
    struct record_stream stream = {.file = file};
    record_file_start(&state->run.files[file], RECORD_WINDOW_MAX);
    count_tallied(state, file, calls, count);
    while ((stream.record = record_file_next(&state->run.files[file]))) {
        const struct record_base *record = stream.record;
        bool placed = record->kind == RECORD_ENTER_AT;
        if ((record->kind != RECORD_ENTER && !placed) || !record_is_whole(record) ||
            record->state >= RECORD_FUNCTIONS_MAX)
            continue;
        uint32_t index = state->run.states[record->state], site = placed ? record_site(state, &stream) : 0;
        for (size_t i = 0; i < count; i++)
            calls[i].count += calls[i].state == index && calls[i].site == site;
    }
}

void record_reader_count(struct reader *reader, uint32_t process, struct record_calls *calls, size_t count)
{
    struct record_state *state = reader->state;
    for (size_t i = 0; i < count; i++)
        calls[i].count = 0;
    for (size_t i = 0; i < state->run.file_count; i++)
        if (state->run.files[i].process == process)
            count_entries(state, (uint32_t)i, calls, count);
}
