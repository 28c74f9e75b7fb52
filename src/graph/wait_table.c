/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/wait_table.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "graph/wait.h"

#include <pthread.h>
#include <string.h>

struct making {
    struct graph *graph;
    struct location_waits *all; /* by location */
    size_t parts;
    pthread_mutex_t long_lock; /* of the graph's long waits */
};

/* A wait of less than 2 s fits into 31 bits; the top bit marks the index of a longer one. */
static uint32_t pack_ns(struct making *making, int64_t ns)
{
    struct graph *graph = making->graph;
    if (ns < WAIT_LONG)
        return (uint32_t)ns;
    (void)pthread_mutex_lock(&making->long_lock);
    ARRAY_PUSH(graph->long_waits, graph->long_wait_count, graph->long_wait_capacity, ns);
    uint32_t index = (uint32_t)(graph->long_wait_count - 1);
    (void)pthread_mutex_unlock(&making->long_lock);
    return WAIT_LONG | index;
}

/* Waits of a location while they are collected; the longest location's of the part. */
struct collected {
    uint32_t *ns;
    uint8_t *kinds;
    size_t capacity, kinds_capacity;
};

static void collect(struct making *making, uint32_t location, struct collected *collected)
{
    const struct graph *graph = making->graph;
    struct location_waits *waits = &making->all[location];
    /* Sums of ns are exact in double up to 2^53 ns, 104 days of waiting on one location. */
    double sum_ns = 0;
    size_t count = graph->locations[location].count, sums = 0, sums_capacity = 0;
    for (size_t i = 0; i < count; i++) {
        /* `before` makes a count of 64 calls: waits_before() adds the bits of one word, however long the location
           is. */
        if (i % 64 == 0)
            waits->before[i / 64] = (uint32_t)waits->count;
        struct wait wait = wait_compute(graph, location, (uint32_t)i);
        if (wait.kind == WAIT_NONE)
            continue;
        /* The sum up to each 64th wait: waits_sum_ns() reads fewer than 128 single waits, however long the interval. */
        if (waits->count % 64 == 0)
            ARRAY_PUSH(waits->sums_ns, sums, sums_capacity, sum_ns);
        ARRAY_RESERVE(collected->ns, collected->capacity, waits->count + 1);
        ARRAY_RESERVE(collected->kinds, collected->kinds_capacity, waits->count + 1);
        waits->marks[i / 64] |= UINT64_C(1) << i % 64;
        collected->ns[waits->count] = pack_ns(making, wait.ns);
        collected->kinds[waits->count++] = (uint8_t)wait.kind;
        sum_ns += (double)wait.ns;
    }
}

static void make_location(struct making *making, uint32_t location, struct collected *collected)
{
    struct location_waits *waits = &making->all[location];
    size_t words = wait_table_words(making->graph->locations[location].count);
    waits->marks = memory_new(words * sizeof *waits->marks);
    waits->before = memory_new(words * sizeof *waits->before);
    collect(making, location, collected);
    if (waits->count == 0)
        return;
    waits->ns = memory_copy(collected->ns, waits->count * sizeof *waits->ns);
    waits->kinds = memory_copy(collected->kinds, waits->count * sizeof *waits->kinds);
}

static void make_part(void *context, size_t index)
{
    struct making *making = context;
    size_t locations = making->graph->location_count, end = locations * (index + 1) / making->parts;
    /* Collected in one pair of arrays for all locations, then copied: the number of waits of a location is not known
       before, and arrays that grow would leave up to half their room unused. */
    struct collected collected = {0};
    for (size_t location = locations * index / making->parts; location < end; location++)
        make_location(making, (uint32_t)location, &collected);
    free(collected.ns);
    free(collected.kinds);
}

void wait_table_make(struct graph *graph, unsigned threads)
{
    struct making making = {.graph = graph, .parts = larger(threads, 1u), .long_lock = PTHREAD_MUTEX_INITIALIZER};
    making.all = memory_new(graph->location_count * sizeof *making.all);
    parallel_run(threads, making.parts, make_part, &making);
    /* Only now: wait_compute() must not find a table with empty rows. */
    graph->waits = making.all;
}

void wait_table_free(struct graph *graph)
{
    for (size_t i = 0; graph->waits && i < graph->location_count; i++) {
        free(graph->waits[i].marks);
        free(graph->waits[i].before);
        free(graph->waits[i].ns);
        free(graph->waits[i].kinds);
        free(graph->waits[i].sums_ns);
    }
    free(graph->waits);
    free(graph->long_waits);
    graph->waits = NULL;
    graph->long_waits = NULL;
    graph->long_wait_count = graph->long_wait_capacity = 0;
}

double waits_sum_ns(const struct graph *graph, uint32_t location, size_t from, size_t to)
{
    double sum_ns = 0;
    /* Whole blocks from their sums, what begins inside the first block subtracted; then the rest one by one. */
    if (to > from && from / 64 != to / 64) {
        const double *sums_ns = graph->waits[location].sums_ns;
        /* (to - 1) / 64, since there is no sum after the last wait if the count is a multiple of 64. */
        size_t last = (to - 1) / 64;
        sum_ns = sums_ns[last] - sums_ns[from / 64];
        for (size_t i = from / 64 * 64; i < from; i++)
            sum_ns -= (double)wait_ns(graph, location, i);
        from = last * 64;
    }
    for (; from < to; from++)
        sum_ns += (double)wait_ns(graph, location, from);
    return sum_ns;
}

uint32_t waiting_call_before(const struct graph *graph, uint32_t location, size_t call)
{
    const uint64_t *marks = graph->waits[location].marks;
    size_t word = call / 64;
    /* Only the calls before this one of its word, then whole words back. */
    uint64_t bits = marks[word] & ((UINT64_C(1) << call % 64) - 1);
    while (!bits && word > 0)
        bits = marks[--word];
    if (!bits)
        return GRAPH_NONE;
    return (uint32_t)(word * 64 + 63 - (size_t)__builtin_clzll(bits));
}

static int by_ns(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return order_by(*left, *right);
}

int64_t waits_median_ns(const struct graph *graph)
{
    size_t count = 0, at = 0;
    for (uint32_t location = 0; location < graph->location_count; location++)
        count += graph->waits[location].count;
    int64_t *all = memory_new(count * sizeof *all), median_ns = 0;
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (size_t i = 0; i < graph->waits[location].count; i++)
            all[at++] = wait_ns(graph, location, i);
    if (count > 0) {
        qsort(all, count, sizeof *all, by_ns);
        median_ns = all[count / 2];
    }
    free(all);
    return median_ns;
}
