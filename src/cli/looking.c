/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/looking.h"

#include "cli/run.h"
#include "cli/selection.h"
#include "core/memory.h"

static void say(void *context, const char *text)
{
    const struct looking *looking = context;
    command_note(looking->options, "%s: %s", looking->options->inputs[looking->options->input_count - 1], text);
}

static bool selected(const uint32_t *ranks, size_t count, uint32_t rank)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranks[low] == rank;
}

static enum status choose_rows(struct looking *looking, struct error *err)
{
    const struct timeline_info *info = timeline_info(looking->timeline);
    uint32_t *ranks = NULL;
    size_t count = 0;
    if (!looking->options->processes)
        return STATUS_OK;
    enum status status = selection_ranks(looking->options->processes, &ranks, &count, err);
    looking->rows = memory_new(info->row_count * sizeof *looking->rows);
    looking->view.rows = looking->rows;
    looking->view.row_count = 0;
    for (uint32_t row = 0; status == STATUS_OK && row < info->row_count; row++)
        if (selected(ranks, count, info->rows[row].process))
            looking->rows[looking->view.row_count++] = row;
    free(ranks);
    return status;
}

enum status looking_open(struct looking *looking, const struct options *options, char *const *inputs, size_t count,
                         struct error *err)
{
    *looking = (struct looking){.options = options};
    struct timeline_options how = {.watch = progress_watch,
                                   .watch_context = &looking->progress,
                                   .note = say,
                                   .note_context = looking,
                                   .fix_clocks = options->fix_clocks};
    if (run_check_trace(inputs, count, err) != STATUS_OK)
        return STATUS_FAILED;
    progress_begin(&looking->progress, options->progress, options->quiet);
    looking->timeline = timeline_open(inputs, count, &how, err);
    progress_end(&looking->progress);
    if (!looking->timeline)
        return STATUS_FAILED;
    const struct timeline_info *info = timeline_info(looking->timeline);
    looking->view = timeline_whole(looking->timeline);
    if (selection_times(options, info->begin_ns, info->end_ns, &looking->view.from_ns, &looking->view.to_ns, err) ==
            STATUS_OK &&
        choose_rows(looking, err) == STATUS_OK)
        return STATUS_OK;
    looking_close(looking);
    return STATUS_FAILED;
}

void looking_close(struct looking *looking)
{
    timeline_close(looking->timeline);
    free(looking->rows);
    *looking = (struct looking){0};
}
