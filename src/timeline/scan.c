/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/scan.h"

#include "core/memory.h"

struct scan {
    struct walk walk;
    const struct walk_visitor *visitor;
};

/* States that are open when the trace ends. */
static void end_states(struct scan *scan, const struct rows *rows)
{
    const struct walk_visitor *visitor = scan->visitor;
    for (uint32_t row = 0; visitor->state && row < scan->walk.row_count; row++) {
        const struct open_states *open = &scan->walk.row[row].open;
        for (size_t i = 0; i < open->depth; i++) {
            const struct open_state *at = &open->frames[i];
            const struct walk_frame *frame = &scan->walk.frames[at->mark];
            struct timeline_state state = {.enter_ns = at->time_ns,
                                           .leave_ns = rows->row[row].end_ns,
                                           .row = row,
                                           .state = at->state,
                                           .depth = frame->depth,
                                           .open = true};
            visitor->state(visitor->context, &state, frame, at->exclusive_ns);
        }
    }
}

static void end_flight(void *context, struct flight_node *node)
{
    struct scan *scan = context;
    struct timeline_message message = walk_message(&node->flight, NULL);
    scan->visitor->message(scan->visitor->context, &message);
}

static enum status scan_batches(struct scan *scan, struct reader *reader, struct error *err)
{
    struct batch *batch = memory_new(sizeof *batch);
    enum status status;
    while ((status = reader_next(reader, batch, err)) == STATUS_OK)
        walk_events(&scan->walk, batch);
    batch_free(batch);
    free(batch);
    return status == STATUS_END ? STATUS_OK : status;
}

enum status timeline_scan(struct timeline *timeline, int64_t from_ns, int64_t to_ns, const struct walk_visitor *visitor,
                          struct error *err)
{
    (void)from_ns;
    (void)to_ns;
    struct scan scan = {.visitor = visitor};
    struct reader *reader = reader_open(timeline->paths, timeline->path_count, err);
    if (!reader)
        return STATUS_FAILED;
    walk_start(&scan.walk, timeline->info.defs, &timeline->rows, visitor);
    enum status status = scan_batches(&scan, reader, err);
    if (status == STATUS_OK) {
        end_states(&scan, &timeline->rows);
        if (visitor->message)
            flights_each(&scan.walk.flights, end_flight, &scan);
    }
    walk_clear(&scan.walk);
    reader_close(reader);
    return status;
}
