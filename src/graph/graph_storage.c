/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_storage.h"

#include "core/memory.h"

#include <string.h>

/* Calls */

static size_t chunk_count(size_t calls)
{
    return (calls + CHUNK_CALLS - 1) / CHUNK_CALLS;
}

static size_t block_count(size_t calls)
{
    return (calls + BLOCK_CALLS - 1) / BLOCK_CALLS;
}

static size_t chunk_size(size_t calls)
{
    size_t blocks = calls / BLOCK_CALLS, rest = calls % BLOCK_CALLS;
    size_t size = blocks * sizeof(struct call_block);
    if (rest > 0)
        size += offsetof(struct call_block, calls) + rest * sizeof(struct packed_call);
    return size;
}

/* Of a pool, chunks of locations that have many calls: the last one of such a location, which may be nearly empty, is a
   small part of its memory. */
static bool is_pooled(const struct graph *graph, size_t chunk)
{
    return graph->pool.used && chunk >= 4;
}

static struct call_block *pool_take(struct chunk_pool *pool)
{
    enum { SLAB_CHUNKS = 1024 };
    if (pool->taken == pool->count * SLAB_CHUNKS)
        ARRAY_PUSH(pool->slabs, pool->count, pool->capacity, memory_new(SLAB_CHUNKS * chunk_size(CHUNK_CALLS)));
    return pool->slabs[pool->count - 1] + pool->taken++ % SLAB_CHUNKS * CHUNK_BLOCKS;
}

/* The chunk is at `begin`, with room for so many calls. */
static void place_chunk(struct location *location, size_t chunk, struct call_block *begin, size_t calls)
{
    struct call_block **blocks = location->blocks + chunk * CHUNK_BLOCKS;
    for (size_t i = 0; i * BLOCK_CALLS < calls; i++)
        blocks[i] = begin + i;
}

static struct call_block *chunk_begin(const struct location *location, size_t chunk)
{
    return location->blocks[chunk * CHUNK_BLOCKS];
}

/* Locations with few calls need little memory: the first chunk doubles up to its full size, later ones start with it.
 */
static void location_reserve(struct graph *graph, struct location *location)
{
    if (location->count < location->capacity)
        return;
    size_t chunk = location->capacity / CHUNK_CALLS, wanted = 8;
    if (chunk > 0)
        wanted = CHUNK_CALLS;
    else if (location->capacity > 0)
        wanted = 2 * location->capacity;
    struct call_block *begin = NULL;
    if (location->capacity % CHUNK_CALLS > 0)
        begin = chunk_begin(location, chunk);
    size_t blocks = block_count(chunk * CHUNK_CALLS + wanted);
    location->blocks = memory_resize(location->blocks, blocks * sizeof(struct call_block *));
    if (is_pooled(graph, chunk))
        begin = pool_take(&graph->pool);
    else
        begin = memory_resize(begin, chunk_size(wanted));
    place_chunk(location, chunk, begin, wanted);
    location->capacity = chunk * CHUNK_CALLS + wanted;
}

static uint32_t add_long(struct graph *graph, int64_t enter_ns, int64_t leave_ns)
{
    /* The top bit of `duration` is the mark: the rest must hold the index. */
    graph->too_large |= graph->long_call_count >= CALL_LONG - 1;
    if (graph->too_large)
        return 0;
    ARRAY_PUSH(graph->long_calls, graph->long_call_count, graph->long_call_capacity,
               (struct long_call){enter_ns, leave_ns});
    return CALL_LONG | (uint32_t)(graph->long_call_count - 1);
}

struct packed_call *graph_add_call(struct graph *graph, struct location *location, int64_t enter_ns, uint32_t kind)
{
    location_reserve(graph, location);
    struct call_block *block = location_block(location, location->count);
    struct packed_call *call = &block->calls[location->count % BLOCK_CALLS];
    if (location->count++ % BLOCK_CALLS == 0)
        block->begin_ns = enter_ns;
    uint64_t since_ns = (uint64_t)time_since(block->begin_ns, enter_ns);
    *call = (struct packed_call){.word = (uint64_t)kind << CALL_KIND_SHIFT};
    /* Before its block only in damaged traces, whose times go back; more than 17 s after it in slow ones. */
    if (enter_ns < block->begin_ns || since_ns > CALL_ENTER_MAX)
        call->duration = add_long(graph, enter_ns, enter_ns);
    else
        call->word |= since_ns << CALL_ENTER_SHIFT;
    return call;
}

void graph_set_enter(struct graph *graph, const struct location *location, size_t index, int64_t enter_ns)
{
    struct packed_call *call = location_packed(location, index);
    uint64_t since_ns = (uint64_t)time_since(location_block(location, index)->begin_ns, enter_ns);
    if (call->duration & CALL_LONG) {
        /* Once long, always long: its entry has both times. */
        graph->long_calls[call->duration & ~CALL_LONG].enter_ns = enter_ns;
    } else if (since_ns > CALL_ENTER_MAX) {
        call->duration = add_long(graph, enter_ns, enter_ns);
    } else {
        call->word &= (UINT64_C(1) << CALL_ENTER_SHIFT) - 1;
        call->word |= since_ns << CALL_ENTER_SHIFT;
    }
}

void graph_set_leave(struct graph *graph, const struct location *location, size_t index, int64_t leave_ns)
{
    struct packed_call *call = location_packed(location, index);
    bool is_long = call->duration & CALL_LONG;
    int64_t enter_ns;
    if (is_long)
        enter_ns = graph->long_calls[call->duration & ~CALL_LONG].enter_ns;
    else
        enter_ns = location_block(location, index)->begin_ns + (int64_t)(call->word >> CALL_ENTER_SHIFT);
    int64_t duration_ns = time_since(enter_ns, leave_ns);
    /* A leave before its enter is damage: the call gets no duration (time_since is never negative). */
    if (is_long)
        graph->long_calls[call->duration & ~CALL_LONG].leave_ns = duration_ns ? leave_ns : enter_ns;
    else if (duration_ns < CALL_LONG)
        call->duration = (uint32_t)duration_ns;
    else
        call->duration = add_long(graph, enter_ns, leave_ns);
}

void graph_end_location(const struct graph *graph, struct location *location)
{
    size_t chunks = chunk_count(location->count);
    if (chunks == 0)
        return;
    /* memory_resize to the exact size: the last chunk of thousands of locations would otherwise be most of the
       memory. */
    size_t used = location->count - (chunks - 1) * CHUNK_CALLS;
    location->blocks = memory_resize(location->blocks, block_count(location->count) * sizeof(struct call_block *));
    if (is_pooled(graph, chunks - 1))
        return;
    place_chunk(location, chunks - 1, memory_resize(chunk_begin(location, chunks - 1), chunk_size(used)), used);
    location->capacity = location->count;
}

void packed_set_kind(struct packed_call *call, uint32_t kind)
{
    call->word &= ~((uint64_t)(CALL_KINDS - 1) << CALL_KIND_SHIFT);
    call->word |= (uint64_t)kind << CALL_KIND_SHIFT;
}

/* Sets a message of one kind: a row of `ends` is used if there is also one of the other kind. */
static void set_end(struct graph *graph, struct packed_call *call, uint64_t flag, uint32_t message)
{
    struct call_ends ends = packed_ends(graph, call);
    if (flag == CALL_OUT)
        ends.out = message;
    else
        ends.in = message;
    bool has_row = call->word & CALL_OUT && call->word & CALL_IN;
    call->word |= flag;
    if (has_row) {
        graph->ends[call->link] = ends;
    } else if (call->word & CALL_OUT && call->word & CALL_IN) {
        call->link = (uint32_t)graph->end_count;
        ARRAY_PUSH(graph->ends, graph->end_count, graph->end_capacity, ends);
    } else {
        call->link = message;
    }
}

void packed_set_out(struct graph *graph, struct packed_call *call, uint32_t message)
{
    set_end(graph, call, CALL_OUT, message);
}

void packed_set_in(struct graph *graph, struct packed_call *call, uint32_t message)
{
    set_end(graph, call, CALL_IN, message);
}

/* Messages */

void chain_set(struct message_chain *chain, uint32_t message, uint32_t next)
{
    if (message >= chain->count) {
        size_t before = chain->count;
        chain->count = message + (size_t)1;
        ARRAY_RESERVE(chain->next, chain->capacity, chain->count);
        memset(&chain->next[before], 0, (chain->count - before) * sizeof *chain->next);
    }
    chain->next[message] = next;
}

void graph_free_storage(struct graph *graph)
{
    for (size_t i = 0; i < graph->location_count; i++) {
        size_t chunks = chunk_count(graph->locations[i].count);
        for (size_t chunk = 0; chunk < chunks && !is_pooled(graph, chunk); chunk++)
            free(chunk_begin(&graph->locations[i], chunk));
        free(graph->locations[i].blocks);
    }
    for (size_t i = 0; i < graph->pool.count; i++)
        free(graph->pool.slabs[i]);
    free(graph->pool.slabs);
    free(graph->locations);
    free(graph->ends);
    free(graph->messages);
    free(graph->next_sent.next);
    free(graph->next_received.next);
    free(graph->next_posted.next);
    free(graph->long_calls);
    free(graph->long_messages);
}
