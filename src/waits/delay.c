/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits/delay.h"

#include "core/heap.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* The factor of its length that a wait costs others, by their kind of wait, valid from one wait of its location on. */
struct change {
    uint32_t next; /* 1 + index */
    bool ends;     /* it ends what another change began */
    double factors[WAIT_CAUSED_COUNT];
};

/* The short-term factor of a run of waits, by its first wait. Only runs that begin earlier than all runs with larger
   factors are kept: then the first that begins at or before a wait has the largest factor. */
struct run {
    size_t from;
    double factor;
};

/* What the waits of a location cost others. Waits are visited from the last to the first; the waits inside a delay are
   a run. So only the factors of the current wait are kept, and where runs begin and end. */
struct spread {
    double factors[WAIT_CAUSED_COUNT];
    size_t active; /* runs that have not ended */
    struct run *runs;
    size_t run_begin, run_count, run_capacity;
};

/* The latest wait of a location that is not visited yet, in the order of visits. */
struct turn {
    int64_t order_ns, leave_ns;
    uint32_t location;
};

struct analyst {
    const struct graph *graph;
    struct sync_points points;
    struct time_maps maps;
    struct time_map waiter_map, delayer_map;
    struct interval delayed; /* the interval of the delayer's map */
    bool any_delayed;
    struct spread *spreads; /* by location */
    struct map places;      /* (location, wait) -> 1 + the first change that comes into force with it */
    struct change *changes;
    size_t change_count, change_capacity;
    uint32_t free_change; /* 1 + index */
    struct turn *queue;   /* locations with waits left, a heap: the latest first */
    size_t queue_count;
    double *short_ns, *long_ns;       /* by label */
    uint8_t kinds[WAIT_CAUSED_COUNT]; /* those met so far, ascending: all other costs and factors are 0 */
    int kind_count;
    struct delays delays;
};

/* A wait with its delay. */
struct case_at_hand {
    struct wait_point wait;
    struct interval interval; /* of the delayer */
    size_t from, to;          /* the delayer's waits inside */
    double opening_wait_ns;   /* the part inside of a wait in the call that opens it, which is the wait before `from` */
    double delay_ns, inner_ns;
    double factors[WAIT_CAUSED_COUNT]; /* short and long term: cost per time of the delay, by kind */
    double short_factor;
};

/* The order: by time of the delayer's enter, the latest first. */

static bool is_before(const void *context, const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    (void)context;
    if (a->order_ns != b->order_ns)
        return a->order_ns > b->order_ns;
    /* If equal, one may cause the other, and ends earlier. */
    if (a->leave_ns != b->leave_ns)
        return a->leave_ns > b->leave_ns;
    return a->location < b->location;
}

static const struct heap_order BY_LATEST = {sizeof(struct turn), is_before, NULL};

static struct turn turn_of(const struct analyst *analyst, uint32_t location)
{
    const struct wait_point *latest = &analyst->points.locations[location].latest;
    return (struct turn){latest->order_ns, graph_call(analyst->graph, location, latest->call).leave_ns, location};
}

static void queue_fill(struct analyst *analyst)
{
    analyst->queue = memory_new(analyst->graph->location_count * sizeof *analyst->queue);
    for (uint32_t location = 0; location < analyst->graph->location_count; location++)
        if (analyst->points.locations[location].left > 0)
            analyst->queue[analyst->queue_count++] = turn_of(analyst, location);
    heap_make(analyst->queue, analyst->queue_count, &BY_LATEST, NULL);
}

/* Updates the heap after the location at the front lost its latest wait. */
static void queue_next(struct analyst *analyst)
{
    uint32_t location = analyst->queue[0].location;
    if (analyst->points.locations[location].left == 0) {
        analyst->queue_count = heap_drop(analyst->queue, analyst->queue_count, &BY_LATEST, NULL);
        return;
    }
    analyst->queue[0] = turn_of(analyst, location);
    heap_down(analyst->queue, analyst->queue_count, 0, &BY_LATEST, NULL);
}

/* Costs of waits inside */

/* A wait of this kind comes: its factors are no longer 0. */
static void meet_kind(struct analyst *analyst, uint8_t kind)
{
    int at = 0;
    while (at < analyst->kind_count && analyst->kinds[at] < kind)
        at++;
    if (at < analyst->kind_count && analyst->kinds[at] == kind)
        return;
    memmove(analyst->kinds + at + 1, analyst->kinds + at, (size_t)(analyst->kind_count++ - at));
    analyst->kinds[at] = kind;
}

static void change_at(struct analyst *analyst, uint32_t location, size_t wait, const double factors[WAIT_CAUSED_COUNT],
                      double sign, bool ends)
{
    uint64_t *place = map_put(&analyst->places, map_pair(location, (uint32_t)wait), 0);
    uint32_t index = analyst->free_change;
    if (index) {
        analyst->free_change = analyst->changes[index - 1].next;
    } else {
        ARRAY_PUSH(analyst->changes, analyst->change_count, analyst->change_capacity, (struct change){0});
        index = (uint32_t)analyst->change_count;
    }
    struct change *change = &analyst->changes[index - 1];
    change->next = (uint32_t)*place;
    change->ends = ends;
    for (int i = 0; i < analyst->kind_count; i++)
        change->factors[analyst->kinds[i]] = sign * factors[analyst->kinds[i]];
    *place = index;
}

/* Advances the factors of a location to its current wait. */
static void apply_changes(struct analyst *analyst, uint32_t location, size_t wait)
{
    struct spread *spread = &analyst->spreads[location];
    const uint64_t *place = map_find(&analyst->places, map_pair(location, (uint32_t)wait));
    for (uint32_t index = place ? (uint32_t)*place : 0, next; index; index = next) {
        struct change *change = &analyst->changes[index - 1];
        next = change->next;
        for (int i = 0; i < analyst->kind_count; i++)
            spread->factors[analyst->kinds[i]] += change->factors[analyst->kinds[i]];
        spread->active -= change->ends;
        change->next = analyst->free_change;
        analyst->free_change = index;
    }
    if (place)
        map_remove(&analyst->places, map_pair(location, (uint32_t)wait));
    /* Without runs the sum is 0: rounding errors do not accumulate. */
    for (int i = 0; i < analyst->kind_count; i++)
        if (spread->active == 0 || spread->factors[analyst->kinds[i]] < 0)
            spread->factors[analyst->kinds[i]] = 0;
}

/* Makes room for one more; reuses the place of passed runs if they are half of all. */
static void runs_reserve(struct spread *spread)
{
    if (spread->run_begin > 0 && spread->run_begin * 2 >= spread->run_count) {
        spread->run_count -= spread->run_begin;
        memmove(spread->runs, spread->runs + spread->run_begin, spread->run_count * sizeof *spread->runs);
        spread->run_begin = 0;
    }
    ARRAY_RESERVE(spread->runs, spread->run_capacity, spread->run_count + 1);
}

/* Runs are in descending order of their first waits and of their factors. */
static void note_run(struct spread *spread, size_t from, double factor)
{
    runs_reserve(spread);
    size_t at = spread->run_count;
    while (at > spread->run_begin && spread->runs[at - 1].from < from)
        at--;
    /* Those from `at` on begin earlier: if one has at least this factor, this one is not needed. */
    if (at < spread->run_count && spread->runs[at].factor >= factor)
        return;
    size_t first = at;
    while (first > spread->run_begin && spread->runs[first - 1].factor <= factor)
        first--;
    if (first > spread->run_begin && spread->runs[first - 1].from == from)
        return;
    memmove(spread->runs + first + 1, spread->runs + at, (spread->run_count - at) * sizeof *spread->runs);
    spread->runs[first] = (struct run){from, factor};
    spread->run_count += first + 1 - at;
}

/* Waits are queried in descending order. */
static double largest_factor(struct spread *spread, size_t wait)
{
    while (spread->run_begin < spread->run_count && spread->runs[spread->run_begin].from > wait)
        spread->run_begin++;
    if (spread->run_begin == spread->run_count) {
        spread->run_begin = spread->run_count = 0;
        return 0;
    }
    double largest = spread->runs[spread->run_begin].factor;
    return smaller(largest, 1.0);
}

/* Charges a run of the delayer's waits with `part` of the factors. Waits already visited, which violate causality,
   cannot pass their costs on. */
static void charge(struct analyst *analyst, const struct case_at_hand *at, size_t from, size_t to, double part)
{
    uint32_t location = at->interval.location;
    const struct location_points *points = &analyst->points.locations[location];
    struct spread *spread = &analyst->spreads[location];
    double factors[WAIT_CAUSED_COUNT];
    double lost_ns = waits_sum_ns(analyst->graph, location, larger(from, points->left), to);
    for (int i = 0; i < analyst->kind_count; i++) {
        int kind = analyst->kinds[i];
        factors[kind] = part * at->factors[kind];
        analyst->delays.waits[kind].unattributed_ns += factors[kind] * lost_ns;
    }
    if (to > points->left)
        to = points->left;
    if (to <= from)
        return;
    spread->active++;
    if (to == points->left)
        for (int i = 0; i < analyst->kind_count; i++)
            spread->factors[analyst->kinds[i]] += factors[analyst->kinds[i]];
    else
        change_at(analyst, location, to - 1, factors, 1, false);
    if (from > 0)
        change_at(analyst, location, from - 1, factors, -1, true);
    note_run(spread, from, part * at->short_factor);
}

static void charge_inner(struct analyst *analyst, const struct case_at_hand *at)
{
    if (at->opening_wait_ns > 0) {
        double part = at->opening_wait_ns / (double)wait_ns(analyst->graph, at->interval.location, at->from - 1);
        charge(analyst, at, at->from - 1, at->to, part);
        if (part < 1)
            charge(analyst, at, at->from, at->to, 1 - part);
    } else {
        charge(analyst, at, at->from, at->to, 1);
    }
}

/* One wait */

/* The part of the wait in the opening call that lies in the interval; taken out of the call's time. */
static double opening_wait(const struct analyst *analyst, struct interval *interval)
{
    const struct graph *graph = analyst->graph;
    if (interval->first < 0 || interval->opening_ns <= 0 ||
        !wait_table_marks(graph, interval->location, (size_t)interval->first))
        return 0;
    struct call call = graph_call(graph, interval->location, (uint32_t)interval->first);
    int64_t waited_ns = wait_ns_in(graph, interval->location, (size_t)interval->first);
    double own_ns = (double)time_since(call.enter_ns, call.leave_ns) - (double)waited_ns;
    double inside_ns = interval->opening_ns - own_ns;
    if (inside_ns <= 0)
        return 0;
    interval->opening_ns -= inside_ns;
    return inside_ns;
}

static void fill_delayer(struct analyst *analyst, const struct interval *interval)
{
    const struct interval *old = &analyst->delayed;
    if (analyst->any_delayed && old->location == interval->location && old->end == interval->end &&
        old->first == interval->first && old->opening_ns == interval->opening_ns)
        return;
    analyst->delayed = *interval;
    analyst->any_delayed = true;
    time_map_fill(&analyst->maps, &analyst->delayer_map, interval);
}

/* How much longer the delayer does something with this label. */
static double excess(const struct analyst *analyst, uint32_t label)
{
    double ns = analyst->delayer_map.ns[label] - analyst->waiter_map.ns[label];
    return larger(ns, 0.0);
}

static void compare(struct analyst *analyst, struct case_at_hand *at, uint32_t location)
{
    const struct graph *graph = analyst->graph;
    const struct wait_point *wait = &at->wait;
    struct common_point common =
        common_point_before(&analyst->points, location, wait->call, wait->cause_location, wait->cause_call);
    struct interval waiter = {location, wait->call, common.waiter.call, common.waiter.rest_ns};
    at->interval =
        (struct interval){wait->cause_location, wait->cause_call, common.delayer.call, common.delayer.rest_ns};
    at->from = waits_before(graph, wait->cause_location, (size_t)(at->interval.first + 1));
    at->to = waits_before(graph, wait->cause_location, wait->cause_call);
    at->opening_wait_ns = opening_wait(analyst, &at->interval);
    opening_wait(analyst, &waiter);
    time_map_fill(&analyst->maps, &analyst->waiter_map, &waiter);
    fill_delayer(analyst, &at->interval);
    for (size_t i = 0; i < analyst->delayer_map.count; i++)
        at->delay_ns += excess(analyst, analyst->delayer_map.labels[i]);
    at->inner_ns = waits_sum_ns(analyst->graph, wait->cause_location, at->from, at->to) + at->opening_wait_ns;
}

/* Assigns the costs of the delay itself. */
static void book(struct analyst *analyst, const struct case_at_hand *at)
{
    struct delay_sums *sums = &analyst->delays.locations[at->wait.cause_location];
    double long_factor = 0;
    for (int i = 0; i < analyst->kind_count; i++) {
        int kind = analyst->kinds[i];
        double factor = at->factors[kind] - (kind == at->wait.kind ? at->short_factor : 0);
        sums->long_ns[kind] += factor * at->delay_ns;
        long_factor += factor;
    }
    sums->short_ns[at->wait.kind] += at->short_factor * at->delay_ns;
    for (size_t i = 0; i < analyst->delayer_map.count; i++) {
        uint32_t label = analyst->delayer_map.labels[i];
        double ns = excess(analyst, label);
        analyst->short_ns[label] += at->short_factor * ns;
        analyst->long_ns[label] += long_factor * ns;
    }
}

/* Handles the latest wait of the location: its costs for others are known by now. */
static void take_wait(struct analyst *analyst, uint32_t location)
{
    size_t index = analyst->points.locations[location].left - 1;
    struct spread *spread = &analyst->spreads[location];
    apply_changes(analyst, location, index);
    struct case_at_hand at = {.wait = sync_points_take(&analyst->points, location)};
    struct delay_waits *waits = &analyst->delays.waits[at.wait.kind];
    double ns = at.wait.ns, propagating_ns = largest_factor(spread, index) * ns;
    compare(analyst, &at, location);
    double behind_ns = at.delay_ns + at.inner_ns;
    at.short_factor = behind_ns > ns ? ns / behind_ns : behind_ns > 0;
    meet_kind(analyst, at.wait.kind);
    for (int i = 0; i < analyst->kind_count; i++) {
        int kind = analyst->kinds[i];
        double cost_ns = spread->factors[kind] * ns;
        at.factors[kind] = behind_ns > 0 ? cost_ns / behind_ns : 0;
        if (!(behind_ns > 0))
            analyst->delays.waits[kind].unattributed_ns += cost_ns;
    }
    at.factors[at.wait.kind] += at.short_factor;
    waits->ns += ns;
    waits->unattributed_ns += larger(ns - behind_ns, 0.0);
    double indirect_ns = at.short_factor * at.inner_ns;
    waits->indirect_ns += indirect_ns;
    waits->direct_ns += ns - indirect_ns;
    waits->propagating_ns += propagating_ns;
    waits->terminal_ns += ns - propagating_ns;
    if (at.delay_ns > 0)
        book(analyst, &at);
    if (at.inner_ns > 0)
        charge_inner(analyst, &at);
}

/* All */

static void analyst_begin(struct analyst *analyst, const struct graph *graph)
{
    *analyst = (struct analyst){.graph = graph, .points = sync_points_of(graph)};
    analyst->maps = time_maps_of(&analyst->points);
    analyst->waiter_map = time_map_new(&analyst->maps);
    analyst->delayer_map = time_map_new(&analyst->maps);
    analyst->short_ns = memory_new(analyst->maps.label_count * sizeof *analyst->short_ns);
    analyst->long_ns = memory_new(analyst->maps.label_count * sizeof *analyst->long_ns);
    analyst->delays.locations = memory_new(graph->location_count * sizeof *analyst->delays.locations);
    analyst->spreads = memory_new(graph->location_count * sizeof *analyst->spreads);
    queue_fill(analyst);
}

static void take_places(struct analyst *analyst)
{
    size_t capacity = 0;
    for (uint32_t label = 0; label < analyst->maps.label_count; label++)
        if (analyst->short_ns[label] > 0 || analyst->long_ns[label] > 0)
            ARRAY_PUSH(analyst->delays.places, analyst->delays.place_count, capacity,
                       (struct delay_place){time_label_of(&analyst->maps, label), analyst->short_ns[label],
                                            analyst->long_ns[label]});
}

static void analyst_end(struct analyst *analyst)
{
    for (size_t i = 0; i < analyst->graph->location_count; i++)
        free(analyst->spreads[i].runs);
    free(analyst->spreads);
    map_clear(&analyst->places);
    free(analyst->changes);
    free(analyst->queue);
    free(analyst->short_ns);
    free(analyst->long_ns);
    time_map_free(&analyst->waiter_map);
    time_map_free(&analyst->delayer_map);
    time_maps_clear(&analyst->maps);
    sync_points_clear(&analyst->points);
}

struct delays delays_of(const struct graph *graph)
{
    struct analyst analyst;
    analyst_begin(&analyst, graph);
    while (analyst.queue_count > 0) {
        take_wait(&analyst, analyst.queue[0].location);
        queue_next(&analyst);
    }
    take_places(&analyst);
    analyst_end(&analyst);
    return analyst.delays;
}

void delays_clear(struct delays *delays)
{
    free(delays->locations);
    free(delays->places);
    *delays = (struct delays){0};
}

double delays_location_ns(const struct delays *delays, size_t location)
{
    double ns = 0;
    for (int kind = 0; kind < WAIT_CAUSED_COUNT; kind++)
        ns += delays->locations[location].short_ns[kind] + delays->locations[location].long_ns[kind];
    return ns;
}
