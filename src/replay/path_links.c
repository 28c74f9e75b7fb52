/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/path_links.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>
#include <string.h>

struct row_host {
    const char *name;
    uint32_t row;
};

static int by_name(const void *a, const void *b)
{
    const struct row_host *left = a, *right = b;
    return strcmp(left->name, right->name);
}

uint32_t *link_hosts(const struct graph *graph, const uint32_t *rows, size_t processes)
{
    struct row_host *names = memory_new(processes * sizeof *names);
    uint32_t *hosts = memory_new(processes * sizeof *hosts), count = 0;
    bool known = true;
    for (size_t i = 0; i < graph->location_count; i++) {
        const struct location *where = &graph->locations[i];
        const char *name = defs_host_of(graph->defs, where->process, where->thread);
        known &= name != NULL;
        names[rows[i]] = (struct row_host){name, rows[i]};
    }
    if (known && processes > 0)
        qsort(names, processes, sizeof *names, by_name);
    for (size_t i = 0; known && i < processes; i++) {
        count += i == 0 || strcmp(names[i].name, names[i - 1].name) != 0;
        hosts[names[i].row] = count - 1;
    }
    free(names);
    if (count > 1)
        return hosts;
    free(hosts);
    return NULL;
}

static bool is_of_hosts(enum link_kind kind)
{
    return kind == LINK_HOSTS || kind == LINK_HOST;
}

static bool is_single(enum link_kind kind)
{
    return kind == LINK_PROCESS || kind == LINK_HOST;
}

bool link_has(const struct link *link, const uint32_t *hosts, uint32_t row, uint32_t other)
{
    if (is_of_hosts(link->kind)) {
        row = hosts[row];
        other = hosts[other];
    }
    if (row == other)
        return false;
    if (is_single(link->kind))
        return row == link->one || other == link->one;
    return (row == link->one && other == link->other) || (row == link->other && other == link->one);
}

bool link_set_has(const struct link_set *set, const uint32_t *hosts, uint32_t row, uint32_t other)
{
    bool has = false;
    for (size_t i = 0; i < set->count; i++)
        has |= link_has(&set->link[i], hosts, row, other);
    return has;
}

bool link_leaves(const struct link *link, const uint32_t *hosts, uint32_t sender, uint32_t receiver)
{
    (void)receiver;
    return (is_of_hosts(link->kind) ? hosts[sender] : sender) == link->one;
}

/* Sums of the path, by pair or by one. */
struct sums {
    const struct graph *graph;
    const uint32_t *rows, *hosts;
    struct map pairs[2];   /* of rows, and of hosts -> ns */
    struct map singles[2]; /* row or host -> ns */
};

static void add(struct map *sums, uint64_t key, int64_t ns)
{
    *map_put(sums, key, 0) += (uint64_t)ns;
}

static void add_between(struct sums *sums, size_t level, uint32_t one, uint32_t other, int64_t ns)
{
    if (one == other)
        return;
    add(&sums->pairs[level], map_pair_unordered(one, other), ns);
    add(&sums->singles[level], one, ns);
    add(&sums->singles[level], other, ns);
}

/* The path is in a call with this message for so long. */
static void add_message(struct sums *sums, uint32_t index, int64_t ns)
{
    struct message m = graph_message(sums->graph, index);
    if (m.send_location == GRAPH_NONE || m.receive_location == GRAPH_NONE)
        return;
    uint32_t one = sums->rows[m.send_location], other = sums->rows[m.receive_location];
    add_between(sums, 0, one, other, ns);
    if (sums->hosts)
        add_between(sums, 1, sums->hosts[one], sums->hosts[other], ns);
}

static void add_call(struct sums *sums, const struct call *call, int64_t ns)
{
    const struct graph *graph = sums->graph;
    if (ns <= 0)
        return;
    for (uint32_t m = call->sent; m; m = graph_next_sent(graph, m - 1))
        add_message(sums, m - 1, ns);
    for (uint32_t m = call->received; m; m = graph_next_received(graph, m - 1))
        add_message(sums, m - 1, ns);
    for (uint32_t m = call->completed; m; m = graph_next_completed(graph, m - 1))
        add_message(sums, m - 1, ns);
}

static void add_segment(struct sums *sums, const struct path_segment *segment)
{
    const struct graph *graph = sums->graph;
    uint32_t count = (uint32_t)graph->locations[segment->location].count;
    for (uint32_t i = graph_first_left(graph, segment->location, segment->from_ns); i < count; i++) {
        struct call call = graph_call(graph, segment->location, i);
        if (call.enter_ns >= segment->to_ns)
            break;
        add_call(sums, &call,
                 time_since(larger(call.enter_ns, segment->from_ns), smaller(call.leave_ns, segment->to_ns)));
    }
}

static void keep(struct path_links *links, struct link link)
{
    struct link *kept = links->links[link.kind];
    size_t *count = &links->count[link.kind], at = *count;
    /* Equal times by number: a map's order means nothing. */
    while (at > 0 && (kept[at - 1].path_ns < link.path_ns ||
                      (kept[at - 1].path_ns == link.path_ns &&
                       map_pair(kept[at - 1].one, kept[at - 1].other) > map_pair(link.one, link.other))))
        at--;
    if (at == LINKS_MOST)
        return;
    size_t moved = smaller(*count, (size_t)LINKS_MOST - 1) - at;
    memmove(&kept[at + 1], &kept[at], moved * sizeof *kept);
    kept[at] = link;
    *count = smaller(*count + 1, (size_t)LINKS_MOST);
}

static void keep_all(struct path_links *links, const struct map *sums, enum link_kind kind, int64_t least_ns)
{
    for (size_t i = 0; i < sums->capacity; i++) {
        const struct map_entry *entry = &sums->entries[i];
        if (entry->key == 0 || (int64_t)entry->value < least_ns)
            continue;
        uint32_t one = (uint32_t)(entry->key - 1), other = is_single(kind) ? one : (uint32_t)((entry->key - 1) >> 32);
        keep(links, (struct link){kind, one, other, (int64_t)entry->value});
    }
}

struct path_links path_links_of(const struct graph *graph, const struct critical_path *path, const uint32_t *rows,
                                size_t processes, int64_t least_ns)
{
    struct path_links links = {0};
    uint32_t *hosts = link_hosts(graph, rows, processes);
    struct sums sums = {.graph = graph, .rows = rows, .hosts = hosts};
    for (size_t i = 0; i < path->segment_count; i++)
        add_segment(&sums, &path->segments[i]);
    for (size_t level = 0; level < 2; level++) {
        keep_all(&links, &sums.pairs[level], level ? LINK_HOSTS : LINK_PROCESSES, least_ns);
        keep_all(&links, &sums.singles[level], level ? LINK_HOST : LINK_PROCESS, least_ns);
        map_clear(&sums.pairs[level]);
        map_clear(&sums.singles[level]);
    }
    free(hosts);
    return links;
}
