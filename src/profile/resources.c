/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/resources.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is used while MPI ends, besides the time. */
enum { ENDING_PARTS = 2 };
static const struct {
    enum resource_counter of, made;
} ending_parts[ENDING_PARTS] = {{RESOURCE_CPU, RESOURCE_ENDING_CPU}, {RESOURCE_DELAY, RESOURCE_ENDING_DELAY}};

struct growing {
    struct process_resources process;
    int64_t first_ns, last_ns;
    int64_t before_ns, before[RESOURCE_COUNTERS]; /* the reading before the last one; -1: none, or not known */
    bool ends;                                    /* MPI_Finalize is entered: */
    int64_t ends_ns;
    bool ending; /* and readings have passed that: by what was used until then, as far as it is known */
    int64_t until[ENDING_PARTS];
};

struct process_resources_builder {
    struct sink sink;
    const struct defs *defs;
    size_t finalize; /* the state of MPI_Finalize */
    struct growing *rows;
    size_t count, capacity;
    struct map row_of; /* rank -> index + 1 */
};

/* What a counter rose by in the last interval; -1: not known. */
static int64_t risen(const struct growing *row, enum resource_counter counter)
{
    if (row->before[counter] < 0 || row->process.last[counter] < 0)
        return -1;
    return larger(row->process.last[counter] - row->before[counter], 0);
}

/* Between two readings time and counters run alike. */
static void note_ending(struct growing *row)
{
    if (!row->ends || row->ending || row->last_ns <= row->ends_ns)
        return;
    int64_t after_ns = time_since(row->ends_ns, row->last_ns), interval_ns = time_since(row->before_ns, row->last_ns);
    double part = fmin((double)after_ns / (double)larger(interval_ns, (int64_t)1), 1);
    for (size_t i = 0; i < ENDING_PARTS; i++) {
        enum resource_counter counter = ending_parts[i].of;
        row->until[i] = row->process.last[counter] - llround(part * fmax((double)risen(row, counter), 0));
    }
    row->ending = true;
}

static void end_ending(struct growing *row)
{
    if (!row->ending)
        return;
    row->process.last[RESOURCE_ENDING] = time_since(row->ends_ns, row->last_ns);
    for (size_t i = 0; i < ENDING_PARTS; i++)
        row->process.last[ending_parts[i].made] =
            larger(row->process.last[ending_parts[i].of] - row->until[i], (int64_t)0);
}

static void end_interval(struct growing *row)
{
    note_ending(row);
    struct process_resources *process = &row->process;
    int64_t cpu_ns = risen(row, RESOURCE_CPU), delay_ns = risen(row, RESOURCE_DELAY);
    int64_t blocked_ns = risen(row, RESOURCE_BLOCKED), stalled_ns = risen(row, RESOURCE_STALLED);
    double off_ns = (double)time_since(row->before_ns, row->last_ns) - (double)cpu_ns - (double)delay_ns;
    if (cpu_ns < 0 || delay_ns < 0 || off_ns <= 0)
        return;
    double sync_ns = fmin(fmax((double)risen(row, RESOURCE_SYNC), 0), off_ns);
    double most_ns = blocked_ns >= 0 ? (double)blocked_ns : fmax((double)stalled_ns, 0);
    most_ns = fmax(fmin(most_ns, off_ns) - sync_ns, 0);
    double faults_ns = fmax((double)risen(row, RESOURCE_DISK_FAULTS), 0) * RESOURCE_FAULT_NS;
    double bytes_ns = blocked_ns >= 0 ? INFINITY : fmax((double)risen(row, RESOURCE_READ), 0) * RESOURCE_BYTE_NS;
    double paging_ns = fmin(faults_ns, most_ns);
    time_add(&process->last[RESOURCE_PAGE_WAIT], llround(paging_ns));
    time_add(&process->last[RESOURCE_READ_WAIT], llround(fmin(bytes_ns, most_ns - paging_ns)));
    time_add(&process->last[RESOURCE_SYNC_WAIT], llround(sync_ns));
}

/* Events of the same time are one reading. */
static void begin_reading(struct growing *row, int64_t time_ns)
{
    if (time_ns == row->last_ns)
        return;
    end_interval(row);
    row->before_ns = row->last_ns;
    memcpy(row->before, row->process.last, sizeof row->before);
    row->last_ns = time_ns;
}

static struct growing *row_of(struct process_resources_builder *builder, const struct event *event)
{
    uint64_t *known = map_put(&builder->row_of, event->process, 0);
    if (*known == 0) {
        struct growing row = {
            .process = process_resources_none(event->process), .first_ns = event->time_ns, .last_ns = event->time_ns};
        memset(row.before, 0xff, sizeof row.before);
        for (enum resource_counter made = RESOURCE_RECORDED; made < RESOURCE_COUNTERS; made++)
            row.process.first[made] = row.process.last[made] = 0;
        ARRAY_PUSH(builder->rows, builder->count, builder->capacity, row);
        *known = builder->count;
    }
    return &builder->rows[*known - 1];
}

static void add(struct process_resources_builder *builder, const struct event *event)
{
    enum resource_counter counter = resource_counter_of(&builder->defs->marks[event->state]);
    /* Other threads have readings of their own, of their own sums. Negative: damage, and -1 is "not known" here. */
    if (counter >= RESOURCE_RECORDED || event->thread > 0 || event->value < 0)
        return;
    struct growing *row = row_of(builder, event);
    begin_reading(row, event->time_ns);
    if (counter == RESOURCE_PEAK) {
        row->process.last[RESOURCE_READINGS]++;
        if (row->process.last[counter] >= 0 && event->value > row->process.last[counter]) {
            row->process.last[RESOURCE_RISES]++;
            row->process.last[RESOURCE_LAST_RISE] = time_since(row->first_ns, event->time_ns);
        }
    }
    if (row->process.first[counter] < 0)
        row->process.first[counter] = event->value;
    row->process.last[counter] = event->value;
}

/* Of the main thread. */
static void enter_finalize(struct process_resources_builder *builder, const struct event *event)
{
    const uint64_t *known = map_find(&builder->row_of, event->process);
    if (!known || event->thread > 0)
        return;
    struct growing *row = &builder->rows[*known - 1];
    row->ends = true;
    row->ends_ns = event->time_ns;
}

static enum status on_begin(struct sink *sink, const struct defs *defs, struct error *err)
{
    (void)err;
    struct process_resources_builder *builder = (struct process_resources_builder *)sink;
    builder->defs = defs;
    while (builder->finalize < defs->state_count && strcmp(defs->states[builder->finalize].name, "MPI_Finalize") != 0)
        builder->finalize++;
    return STATUS_OK;
}

static enum status on_events(struct sink *sink, const struct batch *batch, struct error *err)
{
    (void)err;
    struct process_resources_builder *builder = (struct process_resources_builder *)sink;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].kind == EVENT_COUNTER)
            add(builder, &batch->events[i]);
        else if (batch->events[i].kind == EVENT_ENTER && batch->events[i].state == builder->finalize)
            enter_finalize(builder, &batch->events[i]);
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
            end_interval(&builder->rows[i]);
            end_ending(&builder->rows[i]);
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
