/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/resources.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>

struct growing {
    struct process_resources process;
    int64_t first_ns, last_ns;
};

struct process_resources_builder {
    struct sink sink;
    const struct defs *defs;
    struct growing *rows;
    size_t count, capacity;
    struct map row_of; /* rank -> index + 1 */
};

static struct growing *row_of(struct process_resources_builder *builder, const struct event *event)
{
    uint64_t *known = map_put(&builder->row_of, event->process, 0);
    if (*known == 0) {
        struct growing row = {.process = process_resources_none(event->process), .first_ns = event->time_ns};
        ARRAY_PUSH(builder->rows, builder->count, builder->capacity, row);
        *known = builder->count;
    }
    return &builder->rows[*known - 1];
}

static void add(struct process_resources_builder *builder, const struct event *event)
{
    enum resource_counter counter = resource_counter_of(&builder->defs->marks[event->state]);
    /* Other threads have readings of their own, of their own sums. Negative: damage, and -1 is "not known" here. */
    if (counter == RESOURCE_COUNTERS || event->thread > 0 || event->value < 0)
        return;
    struct growing *row = row_of(builder, event);
    row->last_ns = event->time_ns;
    if (row->process.first[counter] < 0)
        row->process.first[counter] = event->value;
    row->process.last[counter] = event->value;
}

static enum status on_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    ((struct process_resources_builder *)sink)->defs = defs;
    return STATUS_OK;
}

static enum status on_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].kind == EVENT_COUNTER)
            add((struct process_resources_builder *)sink, &batch->events[i]);
    return STATUS_OK;
}

struct process_resources_builder *process_resources_builder_new(void)
{
    struct process_resources_builder *builder = memory_new(sizeof *builder);
    builder->sink = (struct sink){.begin = on_begin, .events = on_events};
    return builder;
}

struct sink *process_resources_builder_sink(struct process_resources_builder *builder)
{
    return &builder->sink;
}

static int by_rank(const void *left_row, const void *right_row)
{
    const struct process_resources *left = left_row, *right = right_row;
    return order_by(left->rank, right->rank);
}

struct resources *process_resources_builder_end(struct process_resources_builder *builder)
{
    struct resources *resources = NULL;
    if (builder->count > 0) {
        resources = memory_new(sizeof *resources);
        resources->process = memory_new(builder->count * sizeof *resources->process);
        resources->count = builder->count;
        for (size_t i = 0; i < builder->count; i++) {
            resources->process[i] = builder->rows[i].process;
            resources->process[i].wall_ns = time_since(builder->rows[i].first_ns, builder->rows[i].last_ns);
        }
        qsort(resources->process, resources->count, sizeof *resources->process, by_rank);
    }
    map_clear(&builder->row_of);
    free(builder->rows);
    free(builder);
    return resources;
}
