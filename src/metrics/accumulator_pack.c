/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/accumulator_pack.h"

#include "core/memory.h"
#include "metrics/accumulator_state.h"

#include <string.h>

/* Arrays go as they are in memory, between processes of one sight: both ends must be built alike. Different sizes
   reveal different builds; pointers inside the structs are set anew by the receiver. */
static const uint32_t layout[] = {sizeof(struct process_state), sizeof(struct thread_state), sizeof(struct tally),
                                  sizeof(struct stray_leave),   sizeof(struct closing),      sizeof(struct open_state),
                                  sizeof(struct partner_cell),  sizeof(struct message_row),  sizeof(struct trace_end)};

struct packing {
    char **data;
    size_t *size, *capacity;
};

static void put(struct packing *packing, const void *bytes, size_t size)
{
    ARRAY_RESERVE(*packing->data, *packing->capacity, *packing->size + size);
    /* memcpy must not get NULL, even for no bytes. */
    if (size > 0)
        memcpy(*packing->data + *packing->size, bytes, size);
    *packing->size += size;
}

static void put_array(struct packing *packing, const void *array, size_t count, size_t element)
{
    uint64_t number = count;
    put(packing, &number, sizeof number);
    put(packing, array, count * element);
}

#define PUT_ARRAY(packing, array, count) put_array(packing, array, count, sizeof *(array))

static void put_map(struct packing *packing, const struct map *map)
{
    put_array(packing, map->entries, map->capacity, sizeof *map->entries);
    put(packing, &map->count, sizeof map->count);
}

static void put_process(struct packing *packing, const struct process_state *process)
{
    put(packing, process, sizeof *process);
    PUT_ARRAY(packing, process->threads, process->thread_count);
    for (size_t i = 0; i < process->thread_count; i++) {
        PUT_ARRAY(packing, process->threads[i].open.frames, process->threads[i].open.depth);
        /* The capacity, not the count: the place of a tally in its table is part of it. */
        PUT_ARRAY(packing, process->threads[i].tallies, process->threads[i].tally_capacity);
    }
    put_map(packing, &process->thread_places);
    PUT_ARRAY(packing, process->strays, process->stray_count);
    PUT_ARRAY(packing, process->closings, process->closing_count);
}

static void put_tables(struct packing *packing, const struct message_tables *tables)
{
    PUT_ARRAY(packing, tables->cells, tables->cell_count);
    PUT_ARRAY(packing, tables->communicators, tables->communicator_count);
    PUT_ARRAY(packing, tables->tags, tables->tag_count);
    put(packing, tables->sizes, sizeof tables->sizes);
}

bool accumulator_pack(const struct accumulator *accumulator, char **data, size_t *size, size_t *capacity)
{
    /* Tags in a sorter are in a file of this process. */
    if (accumulator->tables.spilled_tags)
        return false;
    struct packing packing = {data, size, capacity};
    uint64_t processes = accumulator->process_count;
    put(&packing, layout, sizeof layout);
    put(&packing, &accumulator->end, sizeof accumulator->end);
    put(&packing, &accumulator->messages, sizeof accumulator->messages);
    put_map(&packing, &accumulator->marks);
    put_tables(&packing, &accumulator->tables);
    put(&packing, &processes, sizeof processes);
    for (size_t page = 0; page < PROCESS_LIMIT / PROCESS_PAGE; page++)
        for (size_t i = 0; accumulator->pages[page] && i < PROCESS_PAGE; i++)
            if (accumulator->pages[page][i])
                put_process(&packing, accumulator->pages[page][i]);
    return true;
}

struct unpacking {
    const char *data;
    size_t left;
    bool failed;
};

static void take(struct unpacking *unpacking, void *bytes, size_t size)
{
    if (unpacking->failed || size > unpacking->left) {
        unpacking->failed = true;
        /* Zeros, so that whatever is read after the end of the data is a valid number; the caller looks at `failed`. */
        memset(bytes, 0, size);
        return;
    }
    memcpy(bytes, unpacking->data, size);
    unpacking->data += size;
    unpacking->left -= size;
}

/* A copy of the array; NULL where it is empty. */
static void *take_array(struct unpacking *unpacking, size_t *count, size_t *capacity, size_t element)
{
    uint64_t number;
    take(unpacking, &number, sizeof number);
    /* Before anything is allocated: a count must fit into the data that are left. */
    if (number > unpacking->left / element) {
        unpacking->failed = true;
        number = 0;
    }
    *count = *capacity = (size_t)number;
    if (number == 0)
        return NULL;
    void *array = memory_new((size_t)number * element);
    take(unpacking, array, (size_t)number * element);
    return array;
}

#define TAKE_ARRAY(unpacking, array, count, capacity)                                                                  \
    ((array) = take_array(unpacking, &(count), &(capacity), sizeof *(array)))

static void take_map(struct unpacking *unpacking, struct map *map)
{
    size_t count;
    map->entries = take_array(unpacking, &count, &map->capacity, sizeof *map->entries);
    take(unpacking, &map->count, sizeof map->count);
}

/* First no thread has arrays of its own, then each takes them: if the data end in between, all can be freed. */
static void take_threads(struct unpacking *unpacking, struct process_state *process)
{
    TAKE_ARRAY(unpacking, process->threads, process->thread_count, process->thread_capacity);
    for (size_t i = 0; i < process->thread_count; i++) {
        process->threads[i].open = (struct open_states){0};
        process->threads[i].tallies = NULL;
    }
    for (size_t i = 0; i < process->thread_count; i++) {
        struct thread_state *thread = &process->threads[i];
        size_t count = thread->tally_count, capacity;
        TAKE_ARRAY(unpacking, thread->open.frames, thread->open.depth, thread->open.capacity);
        TAKE_ARRAY(unpacking, thread->tallies, thread->tally_capacity, capacity);
        thread->tally_count = count;
    }
}

static void take_process(struct unpacking *unpacking, struct accumulator *accumulator)
{
    struct process_state packed;
    take(unpacking, &packed, sizeof packed);
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
    take_map(unpacking, &process->thread_places);
    TAKE_ARRAY(unpacking, process->strays, process->stray_count, process->stray_capacity);
    TAKE_ARRAY(unpacking, process->closings, process->closing_count, process->closing_capacity);
}

/* The maps that find things in the arrays are made again: the result may be merged into, too. */
static void take_tables(struct unpacking *unpacking, struct message_tables *tables)
{
    TAKE_ARRAY(unpacking, tables->cells, tables->cell_count, tables->cell_capacity);
    TAKE_ARRAY(unpacking, tables->communicators, tables->communicator_count, tables->communicator_capacity);
    TAKE_ARRAY(unpacking, tables->tags, tables->tag_count, tables->tag_capacity);
    take(unpacking, tables->sizes, sizeof tables->sizes);
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
    take(&unpacking, theirs, sizeof theirs);
    unpacking.failed |= memcmp(theirs, layout, sizeof layout) != 0;
    take(&unpacking, &accumulator->end, sizeof accumulator->end);
    take(&unpacking, &accumulator->messages, sizeof accumulator->messages);
    take_map(&unpacking, &accumulator->marks);
    take_tables(&unpacking, &accumulator->tables);
    take(&unpacking, &processes, sizeof processes);
    for (uint64_t i = 0; i < processes && !unpacking.failed; i++)
        take_process(&unpacking, accumulator);
    /* Bytes left over mean that the two ends do not agree about the layout. */
    if (!unpacking.failed && unpacking.left == 0)
        return accumulator;
    accumulator_free(accumulator);
    return NULL;
}
