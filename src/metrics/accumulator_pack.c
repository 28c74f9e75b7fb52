/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/accumulator_pack.h"

#include "core/memory.h"
#include "metrics/accumulator_state.h"
#include "metrics/packing.h"

#include <string.h>

/* Arrays go as they are in memory, between processes of one sight: both ends must be built alike. Different sizes
   reveal different builds; pointers inside the structs are set anew by the receiver. */
static const uint32_t layout[] = {sizeof(struct process_state), sizeof(struct thread_state), sizeof(struct tally),
                                  sizeof(struct stray_leave),   sizeof(struct closing),      sizeof(struct open_state),
                                  sizeof(struct partner_cell),  sizeof(struct message_row),  sizeof(struct trace_end)};

static void put_process(struct packing *packing, const struct process_state *process)
{
    packing_put(packing, process, sizeof *process);
    PACK_ARRAY(packing, process->threads, process->thread_count);
    for (size_t i = 0; i < process->thread_count; i++) {
        PACK_ARRAY(packing, process->threads[i].open.frames, process->threads[i].open.depth);
        /* The capacity, not the count: the place of a tally in its table is part of it. */
        PACK_ARRAY(packing, process->threads[i].tallies, process->threads[i].tally_capacity);
    }
    packing_put_map(packing, &process->thread_places);
    PACK_ARRAY(packing, process->strays, process->stray_count);
    PACK_ARRAY(packing, process->closings, process->closing_count);
}

static void put_tables(struct packing *packing, const struct message_tables *tables)
{
    PACK_ARRAY(packing, tables->cells, tables->cell_count);
    PACK_ARRAY(packing, tables->communicators, tables->communicator_count);
    PACK_ARRAY(packing, tables->tags, tables->tag_count);
    packing_put(packing, tables->sizes, sizeof tables->sizes);
}

bool accumulator_pack(const struct accumulator *accumulator, char **data, size_t *size, size_t *capacity)
{
    /* Tags in a sorter are in a file of this process. */
    if (accumulator->tables.spilled_tags)
        return false;
    struct packing packing = {data, size, capacity};
    uint64_t processes = accumulator->process_count;
    packing_put(&packing, layout, sizeof layout);
    packing_put(&packing, &accumulator->end, sizeof accumulator->end);
    packing_put(&packing, &accumulator->messages, sizeof accumulator->messages);
    packing_put_map(&packing, &accumulator->marks);
    put_tables(&packing, &accumulator->tables);
    packing_put(&packing, &processes, sizeof processes);
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; accumulator->pages[page] && i < PROCESS_PAGE; i++)
            if (accumulator->pages[page][i])
                put_process(&packing, accumulator->pages[page][i]);
    return true;
}

/* First no thread has arrays of its own, then each takes them: if the data end in between, all can be freed. */
static void take_threads(struct unpacking *unpacking, struct process_state *process)
{
    UNPACK_ARRAY(unpacking, process->threads, process->thread_count, process->thread_capacity);
    for (size_t i = 0; i < process->thread_count; i++) {
        process->threads[i].open = (struct open_states){0};
        process->threads[i].tallies = NULL;
    }
    for (size_t i = 0; i < process->thread_count; i++) {
        struct thread_state *thread = &process->threads[i];
        size_t count = thread->tally_count, capacity;
        UNPACK_ARRAY(unpacking, thread->open.frames, thread->open.depth, thread->open.capacity);
        UNPACK_ARRAY(unpacking, thread->tallies, thread->tally_capacity, capacity);
        thread->tally_count = count;
    }
}

static void take_process(struct unpacking *unpacking, struct accumulator *accumulator)
{
    struct process_state packed;
    unpacking_take(unpacking, &packed, sizeof packed);
    if (unpacking->failed || packed.rank >= PROCESS_LIMIT) {
        unpacking->failed = true;
        return;
    }
    struct process_state *process = accumulator_process(accumulator, packed.rank);
    /* The copy brings pointers of the other process: they must not survive. */
    *process = packed;
    process->threads = NULL;
    process->thread_places = (struct map){0};
    process->strays = NULL;
    process->closings = NULL;
    take_threads(unpacking, process);
    unpacking_take_map(unpacking, &process->thread_places);
    UNPACK_ARRAY(unpacking, process->strays, process->stray_count, process->stray_capacity);
    UNPACK_ARRAY(unpacking, process->closings, process->closing_count, process->closing_capacity);
}

/* The maps that find things in the arrays are made again: the result may be merged into, too. */
static void take_tables(struct unpacking *unpacking, struct message_tables *tables)
{
    UNPACK_ARRAY(unpacking, tables->cells, tables->cell_count, tables->cell_capacity);
    UNPACK_ARRAY(unpacking, tables->communicators, tables->communicator_count, tables->communicator_capacity);
    UNPACK_ARRAY(unpacking, tables->tags, tables->tag_count, tables->tag_capacity);
    unpacking_take(unpacking, tables->sizes, sizeof tables->sizes);
    for (size_t i = 0; i < tables->cell_count; i++)
        map_put(&tables->pairs, map_pair(tables->cells[i].process, (uint32_t)tables->cells[i].partner), i);
    for (size_t i = 0; i < tables->tag_count; i++)
        map_put(&tables->tag_index, (uint32_t)tables->tags[i].key, i);
}

struct accumulator *accumulator_unpack(const char *data, size_t size, struct accumulator_options options)
{
    struct unpacking unpacking = {.data = data, .left = size};
    struct accumulator *accumulator = accumulator_new(options);
    uint32_t theirs[sizeof layout / sizeof *layout];
    uint64_t processes;
    unpacking_take(&unpacking, theirs, sizeof theirs);
    unpacking.failed |= memcmp(theirs, layout, sizeof layout) != 0;
    unpacking_take(&unpacking, &accumulator->end, sizeof accumulator->end);
    unpacking_take(&unpacking, &accumulator->messages, sizeof accumulator->messages);
    unpacking_take_map(&unpacking, &accumulator->marks);
    take_tables(&unpacking, &accumulator->tables);
    unpacking_take(&unpacking, &processes, sizeof processes);
    for (uint64_t i = 0; i < processes && !unpacking.failed; i++)
        take_process(&unpacking, accumulator);
    /* Bytes left over mean that the two ends do not agree about the layout. */
    if (!unpacking.failed && unpacking.left == 0)
        return accumulator;
    accumulator_free(accumulator);
    return NULL;
}
