/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns an accumulator's sums into metrics: rows in order, open states up to the process's end. */
#include "metrics/accumulator_state.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "metrics/analysis.h"
#include "metrics/openmp_rows.h"

#include <string.h>

void process_row_clear(struct process_row *row)
{
    free(row->functions);
    free(row->sent);
    free(row->received);
    free(row->marks);
    free(row->threads);
    free(row->counted);
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    analysis_free(metrics->analysis);
    phase_metrics_free(metrics->phases);
    search_free(metrics->search);
    stuck_free(metrics->own_stuck);
    for (size_t i = 0; i < metrics->process_count; i++)
        process_row_clear(&metrics->process[i]);
    defs_free(metrics->own_defs);
    resources_free(metrics->own_resources);
    free(metrics->own_format);
    free(metrics->process);
    free(metrics->communicators);
    free(metrics->tags);
    free(metrics->sizes);
    free(metrics->counted);
    free(metrics);
}

/* Collects the rows of one process; `places` finds a function's row by its state. */
struct row_builder {
    const struct accumulator *accumulator;
    struct process_row *row;
    size_t capacity;
    struct map places;
};

static struct function_row *builder_function(struct row_builder *builder, uint32_t state)
{
    /* One row for each name: formats may define a function several times. */
    uint32_t shown = builder->accumulator->defs->states[state].first_of_name;
    uint64_t *place = map_put(&builder->places, shown, UINT64_MAX);
    if (*place == UINT64_MAX) {
        *place = builder->row->function_count;
        ARRAY_PUSH(builder->row->functions, builder->row->function_count, builder->capacity,
                   (struct function_row){.state = shown, .min_ns = INT64_MAX, .max_ns = INT64_MIN});
    }
    return &builder->row->functions[*place];
}

static void builder_thread(struct row_builder *builder, const struct thread_state *thread)
{
    for (size_t i = 0; i < thread->tally_capacity; i++) {
        const struct tally *tally = &thread->tallies[i];
        /* A tally is made with the first event of its state, and may have none inside the window. */
        if (!tally->key || (tally->count == 0 && tally->time_ns == 0 && tally->exclusive_ns == 0 && tally->stray == 0))
            continue;
        struct function_row *row = builder_function(builder, tally->key - 1);
        row->count += tally->count;
        time_add(&row->time_ns, tally->time_ns);
        time_add(&row->exclusive_ns, tally->exclusive_ns);
        row->stray += tally->stray;
        row->min_ns = smaller(row->min_ns, tally->min_ns);
        row->max_ns = larger(row->max_ns, tally->max_ns);
    }
    for (size_t i = 0; i < thread->open.depth; i++) {
        const struct open_state *frame = &thread->open.frames[i];
        /* Open states last to the end of their process: their time is shown apart, as it is not the time of a whole
           call. */
        int64_t open_ns = time_since(frame->time_ns, builder->row->end_ns);
        if (open_ns == 0 && !(frame->mark & FRAME_COUNTED))
            continue;
        struct function_row *row = builder_function(builder, frame->state);
        row->open += frame->mark & FRAME_COUNTED;
        time_add(&row->open_ns, open_ns);
    }
}

static void result_strays(struct row_builder *builder, const struct process_state *process)
{
    /* A slice that was never merged with the one before: its strays are strays. */
    for (size_t i = 0; i < process->stray_count; i++)
        builder_function(builder, process->strays[i].state)->stray += process->strays[i].counted;
}

static int function_by_name(const void *a, const void *b, void *definitions)
{
    const struct defs *defs = definitions;
    const struct function_row *left = a, *right = b;
    return strcmp(defs->states[left->state].name, defs->states[right->state].name);
}

static int mark_by_name(const void *a, const void *b, void *definitions)
{
    const struct defs *defs = definitions;
    const struct mark_row *left = a, *right = b;
    int order = strcmp(defs->marks[left->mark].name, defs->marks[right->mark].name);
    /* Marks of the same name keep the order of their definitions. */
    return order ? order : order_by(left->mark, right->mark);
}

static int partner_by_rank(const void *a, const void *b)
{
    const struct partner_row *left = a, *right = b;
    return order_by(left->partner, right->partner);
}

static int thread_by_number(const void *a, const void *b)
{
    const struct thread_row *left = a, *right = b;
    return order_by(left->thread, right->thread);
}

static void result_threads(const struct defs *defs, struct process_row *row, const struct process_state *process,
                           struct process_row *span)
{
    size_t present = 0;
    /* Counted first: a thread may be there without events in the window. */
    for (size_t i = 0; i < process->thread_count; i++)
        present += process->threads[i].present;
    /* One thread has the numbers of its process. */
    if (present < 2)
        return;
    row->threads = memory_new(present * sizeof *row->threads);
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_state *thread = &process->threads[i];
        if (thread->present)
            row->threads[row->thread_count++] =
                (struct thread_row){.thread = thread->number,
                                    .begin_ns = thread->begin_ns,
                                    .end_ns = thread->end_ns,
                                    .communication_ns = coverage_until(&thread->covered[COVER_MPI], span->end_ns)};
    }
    qsort(row->threads, row->thread_count, sizeof *row->threads, thread_by_number);
    openmp_rows_fill(defs, process, span, row);
}

static void result_process(const struct accumulator *accumulator, const struct process_state *process,
                           struct process_row *row)
{
    const struct accumulator_options *options = &accumulator->options;
    *row = (struct process_row){.rank = process->rank,
                                .begin_ns = process->begin_ns,
                                .end_ns = process->end_ns,
                                .events = process->events,
                                .messages_sent = process->messages[0],
                                .messages_received = process->messages[1],
                                .bytes_sent = process->bytes[0],
                                .bytes_received = process->bytes[1],
                                .time_back = process->time_back};
    /* Times outside the window are clamped to it, as those of its states are. */
    if (options->have_from && row->begin_ns < options->from_ns)
        row->begin_ns = options->from_ns;
    if (options->have_to && row->end_ns > options->to_ns)
        row->end_ns = options->to_ns;
    row->communication_ns = coverage_until(&process->mpi, row->end_ns);
    struct row_builder builder = {.accumulator = accumulator, .row = row};
    for (size_t i = 0; i < process->thread_count; i++)
        /* Threads of a process add up in one row for each function. */
        builder_thread(&builder, &process->threads[i]);
    result_strays(&builder, process);
    map_clear(&builder.places);
    if (row->function_count > 0) /* of 100,000 processes the room to spare would be most of the metrics */
        row->functions = memory_resize(row->functions, row->function_count * sizeof *row->functions);
    /* Min and max of no whole call: shown as 0. */
    for (size_t i = 0; i < row->function_count; i++)
        if (row->functions[i].count == 0)
            row->functions[i].min_ns = row->functions[i].max_ns = 0;
    /* By name, so that the same run gives the same rows whatever order its states are defined in. */
    if (row->function_count > 1)
        qsort_r(row->functions, row->function_count, sizeof *row->functions, function_by_name,
                (void *)accumulator->defs);
    result_threads(accumulator->defs, row, process, row);
}

/* True if the process is selected and has events. */
static bool process_wanted(const struct accumulator_options *options, const struct process_state *process)
{
    if (!process->selected || process->order == 0)
        return false;
    return !(options->have_from && process->end_ns < options->from_ns) &&
           !(options->have_to && process->begin_ns >= options->to_ns);
}

static void result_processes(const struct accumulator *accumulator, struct metrics *metrics)
{
    metrics->process = memory_new(accumulator->process_count * sizeof *metrics->process);
    /* In the order of ranks: pages are by rank, and so are the places in them. */
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; accumulator->pages[page] && i < PROCESS_PAGE; i++) {
            const struct process_state *process = accumulator->pages[page][i];
            if (process && process_wanted(&accumulator->options, process))
                result_process(accumulator, process, &metrics->process[metrics->process_count++]);
        }
}

size_t metrics_row_of(const struct metrics *metrics, uint64_t rank)
{
    size_t low = 0, high = metrics->process_count;
    /* Mostly ranks are their own rows: a run rarely lacks one. */
    if (rank < high && metrics->process[rank].rank == rank)
        return (size_t)rank;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (metrics->process[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < metrics->process_count && metrics->process[low].rank == rank ? low : SIZE_MAX;
}

static struct process_row *metrics_find(struct metrics *metrics, uint32_t rank)
{
    size_t row = metrics_row_of(metrics, rank);
    return row == SIZE_MAX ? NULL : &metrics->process[row];
}

static void cell_push(struct partner_row **rows, size_t *count, const struct partner_cell *cell, int direction)
{
    if (cell->messages[direction] == 0)
        return;
    /* Rows are counted first (with no memory), then filled: two rounds over the cells. */
    if (*rows)
        (*rows)[*count] = (struct partner_row){
            .partner = cell->partner, .messages = cell->messages[direction], .bytes = cell->bytes[direction]};
    ++*count;
}

static void cells_round(const struct message_tables *tables, struct metrics *metrics)
{
    for (size_t i = 0; i < tables->cell_count; i++) {
        struct process_row *row = metrics_find(metrics, tables->cells[i].process);
        /* Messages of processes that are left out, or have no events, have no row. */
        if (!row)
            continue;
        cell_push(&row->sent, &row->sent_count, &tables->cells[i], 0);
        cell_push(&row->received, &row->received_count, &tables->cells[i], 1);
    }
}

static void result_partners(const struct message_tables *tables, struct metrics *metrics)
{
    cells_round(tables, metrics);
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct process_row *row = &metrics->process[i];
        row->sent = memory_new(row->sent_count * sizeof *row->sent);
        row->received = memory_new(row->received_count * sizeof *row->received);
        row->sent_count = row->received_count = 0;
    }
    cells_round(tables, metrics);
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct process_row *row = &metrics->process[i];
        qsort(row->sent, row->sent_count, sizeof *row->sent, partner_by_rank);
        qsort(row->received, row->received_count, sizeof *row->received, partner_by_rank);
    }
}

static void result_marks(const struct accumulator *accumulator, struct metrics *metrics)
{
    size_t *capacities = memory_new(metrics->process_count * sizeof *capacities);
    for (size_t i = 0; i < accumulator->marks.capacity; i++) {
        const struct map_entry *entry = &accumulator->marks.entries[i];
        if (!entry->key)
            continue;
        /* The key is the pair of process and mark, and one more, as 0 marks a free place. */
        struct process_row *row = metrics_find(metrics, (uint32_t)((entry->key - 1) >> 32));
        if (row)
            ARRAY_PUSH(row->marks, row->mark_count, capacities[row - metrics->process],
                       (struct mark_row){.mark = (uint32_t)(entry->key - 1), .count = entry->value});
    }
    free(capacities);
    for (size_t i = 0; i < metrics->process_count; i++)
        if (metrics->process[i].mark_count > 1)
            qsort_r(metrics->process[i].marks, metrics->process[i].mark_count, sizeof(struct mark_row), mark_by_name,
                    (void *)accumulator->defs);
}

void metrics_totals(struct metrics *metrics)
{
    metrics->begin_ns = metrics->end_ns = 0;
    metrics->events = metrics->time_back = metrics->open = metrics->stray = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        if (i == 0 || row->begin_ns < metrics->begin_ns)
            metrics->begin_ns = row->begin_ns;
        if (i == 0 || row->end_ns > metrics->end_ns)
            metrics->end_ns = row->end_ns;
        metrics->events += row->events;
        metrics->time_back += row->time_back;
        for (size_t k = 0; k < row->function_count; k++) {
            metrics->open += row->functions[k].open;
            metrics->stray += row->functions[k].stray;
        }
    }
}

struct metrics *accumulator_metrics(struct accumulator *accumulator, struct error *err)
{
    struct metrics *metrics = memory_new(sizeof *metrics);
    metrics->defs = accumulator->defs;
    metrics->processes = accumulator->defs->processes;
    metrics->end = accumulator->end;
    metrics->messages = accumulator->messages;
    result_processes(accumulator, metrics);
    result_partners(&accumulator->tables, metrics);
    result_marks(accumulator, metrics);
    metrics_totals(metrics);
    if (message_tables_result(&accumulator->tables, accumulator->defs, metrics, err) == STATUS_OK)
        return metrics;
    metrics_free(metrics);
    return NULL;
}

int64_t metrics_polled_ns(const struct metrics *metrics, size_t row)
{
    const struct analysis *analysis = metrics->analysis;
    if (!analysis || analysis->process_count != metrics->process_count)
        return 0;
    int64_t compute_ns = process_compute_ns(&metrics->process[row]);
    /* Naps lie between calls, so that they are part of computing: never more than that. */
    return smaller(analysis->polled_ns[row], compute_ns);
}

int64_t metrics_compute_ns(const struct metrics *metrics, size_t row)
{
    return process_compute_ns(&metrics->process[row]) - metrics_polled_ns(metrics, row);
}

uint64_t metrics_messages(const struct metrics *metrics, uint64_t *bytes)
{
    uint64_t sent = 0, received = 0, sent_bytes = 0, received_bytes = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        sent += metrics->process[i].messages_sent;
        received += metrics->process[i].messages_received;
        bytes_add(&sent_bytes, metrics->process[i].bytes_sent);
        bytes_add(&received_bytes, metrics->process[i].bytes_received);
    }
    /* The ends of a message may be missing at one side: the side with more is nearer to the truth. */
    *bytes = larger(sent_bytes, received_bytes);
    return larger(sent, received);
}

bool metrics_sizes_known(const struct metrics *metrics)
{
    uint64_t bytes, messages = metrics_messages(metrics, &bytes);
    /* Classes have the sizes that are known, 0 among them. */
    return messages == 0 || bytes > 0 || metrics->size_count > 0;
}

bool metrics_have_calls(const struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->process_count; i++)
        for (size_t k = 0; k < metrics->process[i].function_count; k++)
            if (metrics->defs->states[metrics->process[i].functions[k].state].is_mpi)
                return true;
    return false;
}

bool metrics_communicate(const struct metrics *metrics)
{
    return metrics_have_calls(metrics) || metrics->messages > 0;
}

bool process_never_returned(const struct metrics *metrics, const struct process_row *process)
{
    for (size_t i = 0; i < process->function_count; i++) {
        const struct state_def *state = &metrics->defs->states[process->functions[i].state];
        bool waits = state->is_mpi && state->class != CLASS_SETUP && state->class != CLASS_LOCAL;
        if (waits && process->functions[i].open > 0)
            return true;
    }
    return false;
}
