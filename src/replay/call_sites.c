/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/call_sites.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "graph/wait.h"
#include "graph/wait_table.h"

struct sites {
    struct call_site *rows;
    size_t count, capacity;
    struct map places;  /* (state, site) -> row */
    uint32_t *latest;   /* by row: the location counted last, + 1 */
    size_t latest_room; /* of `latest` */
};

static struct call_site *row_of(struct sites *sites, uint32_t state, uint32_t site, uint32_t location)
{
    uint64_t *place = map_put(&sites->places, map_pair(state, site), sites->count);
    if (*place == sites->count) {
        ARRAY_PUSH(sites->rows, sites->count, sites->capacity, (struct call_site){.state = state, .site = site});
        /* ARRAY_PUSH has grown the rows: this table by row has the same capacity. */
        if (sites->latest_room < sites->capacity) {
            sites->latest = memory_resize(sites->latest, sites->capacity * sizeof *sites->latest);
            sites->latest_room = sites->capacity;
        }
        sites->latest[*place] = 0;
    }
    struct call_site *row = &sites->rows[*place];
    /* Calls come location after location: a change means a new one. */
    row->locations += sites->latest[*place] != location + 1;
    sites->latest[*place] = location + 1;
    return row;
}

uint64_t call_site_bytes(const struct graph *graph, const struct call *call)
{
    const struct instance *instance = graph_instance(graph, call);
    uint64_t bytes = 0;
    if (instance && instance->bytes > 0)
        bytes = (uint64_t)instance->bytes;
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1)) {
        struct message message = graph_message(graph, at - 1);
        if (message.bytes != BYTES_UNKNOWN && message.bytes > 0)
            bytes_add(&bytes, (uint64_t)message.bytes);
    }
    return bytes;
}

static void add_call(struct sites *sites, const struct graph *graph, uint32_t location, uint32_t index)
{
    struct call call = graph_call(graph, location, index);
    const struct state_def *state = graph_state(graph, &call);
    struct call_site *row = row_of(sites, (uint32_t)state->first_of_name, call.site, location);
    int64_t ns = time_since(call.enter_ns, call.leave_ns);
    row->calls++;
    bytes_add(&row->bytes, call_site_bytes(graph, &call));
    row->longest_ns = larger(row->longest_ns, ns);
    time_add(&row->ns, ns);
    time_add(&row->waiting_ns, wait_ns_in(graph, location, index));
    if (call.instance || state->class == CLASS_IO)
        time_add(&row->waiting_ns, wait_completion_of(graph, location, index).ns);
}

static int by_time(const void *a, const void *b)
{
    const struct call_site *left = a, *right = b;
    int order = order_by(right->ns, left->ns);
    if (order == 0)
        order = order_by(left->state, right->state);
    return order ? order : order_by(left->site, right->site);
}

void call_sites_take(struct analysis *analysis, const struct graph *graph)
{
    struct sites sites = {0};
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++)
            add_call(&sites, graph, location, i);
    if (sites.count > 0)
        qsort(sites.rows, sites.count, sizeof *sites.rows, by_time);
    analysis->call_sites = sites.rows;
    analysis->call_site_count = sites.count;
    free(sites.latest);
    map_clear(&sites.places);
}
