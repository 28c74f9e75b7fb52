/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/view.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

struct pair {
    uint64_t messages, bytes;
};

/* Messages as recorded by their senders; those without a sender's record are missing here. */
static void add_row(struct pair *pairs, size_t groups, uint32_t size, const struct process_row *row)
{
    for (size_t i = 0; i < row->sent_count; i++) {
        int32_t partner = row->sent[i].partner;
        /* MPI_PROC_NULL, and partners beyond those of the trace, have no cell. */
        if (partner < 0 || (uint32_t)partner / size >= groups)
            continue;
        struct pair *pair = &pairs[row->rank / size * groups + (uint32_t)partner / size];
        pair->messages += row->sent[i].messages;
        bytes_add(&pair->bytes, row->sent[i].bytes);
    }
}

/* Who waits for whom, and how long. Waits for processes that are not known are missing. */
static void write_waits(struct output *output, const struct view *view, const struct timeline_overlay *overlay,
                        size_t groups, uint32_t size)
{
    if (!overlay) {
        output_text(output, ",\"waiting\":0,\"waits\":null");
        return;
    }
    int64_t *sums = memory_new(groups * groups * sizeof *sums), all = 0;
    for (size_t i = 0; i < overlay->wait_count; i++) {
        const struct overlay_wait *wait = &overlay->waits[i];
        /* Waits in collectives have a cause as well; those whose cause is not known are in no cell. */
        if (wait->row == TIMELINE_NONE || wait->cause_row == TIMELINE_NONE)
            continue;
        size_t victim = view->info->rows[wait->row].process / size,
               cause = view->info->rows[wait->cause_row].process / size;
        if (victim < groups && cause < groups)
            sums[cause * groups + victim] += time_since(wait->from_ns, wait->to_ns);
    }
    output_text(output, ",\"waits\":[");
    for (size_t i = 0; i < groups * groups; i++)
        if (sums[i] > 0) {
            output_print(output, "%s[%zu,%zu,%lld]", all > 0 ? ",\n" : "", i / groups, i % groups, (long long)sums[i]);
            all += sums[i];
        }
    output_print(output, "],\"waiting\":%lld", (long long)all);
    free(sums);
}

void view_write_matrix(struct output *output, const struct view *view, const struct view_judgement *judgement)
{
    const struct metrics *metrics = judgement->metrics;
    uint32_t processes = metrics->processes, size = 1;
    for (size_t i = 0; i < metrics->process_count; i++)
        /* A damaged trace may have ranks beyond the number that it declares. */
        if (metrics->process[i].rank >= processes)
            processes = metrics->process[i].rank + 1;
    /* Cells of fewer than ten pixels cannot be hit: 64 of them fill a screen. */
    /* Powers of two, as elsewhere in the page, so that groups of lines and of cells agree. */
    while ((processes + size - 1) / size > VIEW_MATRIX_GROUPS)
        size *= 2;
    size_t groups = (processes + size - 1) / size;
    struct pair *pairs = memory_new(groups * groups * sizeof *pairs), all = {0};
    for (size_t i = 0; i < metrics->process_count; i++)
        add_row(pairs, groups, size, &metrics->process[i]);
    output_text(output, "{\"pairs\":[");
    bool first = true;
    for (size_t i = 0; i < groups * groups; i++) {
        /* Only cells with messages are sent: most pairs of a large run have none. */
        if (pairs[i].messages == 0)
            continue;
        output_print(output, "%s[%zu,%zu,%llu,%llu]", first ? "" : ",\n", i / groups, i % groups,
                     (unsigned long long)pairs[i].messages, (unsigned long long)pairs[i].bytes);
        first = false;
        all.messages += pairs[i].messages;
        bytes_add(&all.bytes, pairs[i].bytes);
    }
    output_print(output, "],\"groups\":%zu,\"size\":%u,\"messages\":%llu,\"bytes\":%llu", groups, size,
                 (unsigned long long)all.messages, (unsigned long long)all.bytes);
    write_waits(output, view, judgement->overlay, groups, size);
    output_text(output, "}");
    free(pairs);
}
