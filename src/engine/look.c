/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/directory.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "engine/opening.h"
#include "engine/span.h"

#include <stdlib.h>

static int rank_compare(const void *a, const void *b)
{
    return order_by(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Rows are locations: a process has one for each of its threads, and all of them are chosen with it. */
static enum status choose_rows(struct engine_look *look, const struct engine_request *request, struct error *err)
{
    const struct timeline_info *info = timeline_info(look->timeline);
    uint32_t processes = 0;
    for (size_t row = 0; row < info->row_count; row++)
        processes = larger(processes, info->rows[row].process + 1);
    if (info->end.complete && engine_check_ranks(request, processes, err) != STATUS_OK)
        return STATUS_FAILED;
    look->rows = memory_new(info->row_count * sizeof *look->rows);
    look->view.rows = look->rows;
    look->view.row_count = 0;
    for (uint32_t row = 0; row < info->row_count; row++)
        if (bsearch(&info->rows[row].process, request->ranks, request->rank_count, sizeof *request->ranks,
                    rank_compare))
            look->rows[look->view.row_count++] = row;
    return STATUS_OK;
}

/* More find nothing to do while events are read, and each has buffers for the widths of the pyramid. */
enum { INDEX_THREADS_MOST = 8 };

/* What is fetched from other hosts while it is read is fetched by the thread that joined the team. */
static unsigned index_threads(const struct engine_request *request)
{
    if (request->input_count > 0 && directory_is_scattered(request->inputs[0]))
        return 1;
    return opening_threads(request, INDEX_THREADS_MOST);
}

enum status engine_look_open(struct engine_look *look, const struct engine_request *request, timeline_note *note,
                             void *note_context, struct error *err)
{
    struct watching watching = {.request = request, .step = ENGINE_STEP_INDEX};
    const struct timeline_open_options how = {.watch = opening_watch,
                                              .watch_context = &watching,
                                              .threads = index_threads(request),
                                              .note = note,
                                              .note_context = note_context,
                                              .fix_clocks = request->fix_clocks,
                                              .events_only = request->events_only};
    *look = (struct engine_look){0};
    if (engine_check_trace(request, err) != STATUS_OK)
        return STATUS_FAILED;
    look->timeline = timeline_open(request->inputs, request->input_count, &how, err);
    if (!look->timeline)
        return STATUS_FAILED;
    /* Only now: a window may be a share of the run, whose length the index knows. */
    look->view = timeline_whole(look->timeline);
    if (span_view(&request->window, timeline_info(look->timeline), &look->view, err) != STATUS_OK ||
        (request->ranks && choose_rows(look, request, err) != STATUS_OK)) {
        engine_look_close(look);
        return STATUS_FAILED;
    }
    return STATUS_OK;
}

void engine_look_close(struct engine_look *look)
{
    timeline_close(look->timeline);
    free(look->rows);
    *look = (struct engine_look){0};
}
