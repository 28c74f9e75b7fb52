/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/analyse.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "replay/analyst.h"
#include "replay/call_sites.h"
#include "replay/concurrency.h"
#include "replay/faster_calls.h"
#include "replay/hub.h"
#include "replay/replay.h"
#include "replay/wait_sums.h"
#include "waits/critical_path.h"
#include "waits/delay.h"
#include "waits/endpoints.h"
#include "waits/impact.h"
#include "waits/uneven.h"

#include <math.h>
#include <string.h>

/* Queueing for less than this part of the run is not reported for a wait. */
enum { QUEUED_LEAST = 1000000 };

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return order_by(*left, *right);
}

/* Rows of the locations' processes, by rank: threads of a process share one. Returns how many there are. */
static size_t find_rows(const struct graph *graph, uint32_t *rows)
{
    size_t count = 0;
    uint32_t *ranks = memory_new(graph->location_count * sizeof *ranks);
    for (size_t i = 0; i < graph->location_count; i++)
        ranks[i] = graph->locations[i].process;
    if (graph->location_count > 0)
        qsort(ranks, graph->location_count, sizeof *ranks, by_number);
    for (size_t i = 0; i < graph->location_count; i++)
        if (i == 0 || ranks[i] != ranks[count - 1])
            ranks[count++] = ranks[i];
    for (size_t i = 0; i < graph->location_count; i++) {
        const uint32_t *row = bsearch(&graph->locations[i].process, ranks, count, sizeof *ranks, by_number);
        rows[i] = (uint32_t)(row - ranks);
    }
    free(ranks);
    return count;
}

/* A damaged trace can have absurdly large costs. */
static int64_t rounded(double ns)
{
    if (!(ns < 9e18)) /* or NaN */
        return INT64_MAX;
    return (int64_t)llround(ns);
}

/* The state of an activity: calls of it, or computing before them. -1: computing at the end of a location. */
static int64_t activity_state(const struct graph *graph, size_t activity, bool *before)
{
    size_t states = graph->defs->state_count;
    *before = activity >= states;
    if (activity >= 2 * states)
        return -1;
    return (int64_t)(activity % states);
}

static void take_impact(struct analyst *analyst, const struct critical_path *path)
{
    struct analysis *analysis = analyst->analysis;
    struct impact impact = impact_of(analyst->graph, path);
    double *process_ns = memory_new(analysis->process_count * sizeof *process_ns);
    analysis->impact_activity = rounded(impact.activity_ns);
    analysis->impact_other = rounded(impact.other_ns);
    analysis->impact_imbalance = rounded(impact.imbalance_ns);
    analysis->impact_inter = rounded(impact.inter_ns);
    for (size_t i = 0; i < impact.activities; i++) {
        bool before;
        int64_t state = activity_state(analyst->graph, i, &before);
        if (state < 0)
            continue;
        int64_t impact_ns = rounded(impact.by_activity[i]), excess_ns = rounded(impact_excess_ns(&impact, i));
        if (before) {
            analysis->path_before_ns[state] = path->activities_ns[i];
            analysis->impact_before_ns[state] = impact_ns;
            analysis->excess_before_ns[state] = excess_ns;
        } else {
            analysis->path_states_ns[state] = path->activities_ns[i];
            analysis->impact_states_ns[state] = impact_ns;
            analysis->excess_states_ns[state] = excess_ns;
        }
    }
    /* An activity's impact belongs to the locations that have it on the path, in proportion (diagnosis_rules 2.2). */
    for (size_t i = 0; i < path->part_count; i++) {
        const struct path_part *part = &path->parts[i];
        process_ns[analyst->rows[part->location]] +=
            impact.by_activity[part->activity] * (double)part->ns / (double)path->activities_ns[part->activity];
    }
    for (size_t i = 0; i < analysis->process_count; i++)
        analysis->impact_ns[i] = rounded(process_ns[i]);
    free(process_ns);
    impact_clear(&impact);
}

/* A link that costs less than this share of the run is no finding. */
static const double LINK_SHARE = 0.01;

static int64_t link_least_ns(const struct analyst *analyst)
{
    return (int64_t)(LINK_SHARE * (double)analyst->analysis->duration);
}

/* Messages between two processes are not compared with others if these are the only ones. */
enum { LINK_PROCESSES_LEAST = 3 };

/* The links on the path, if messages are enough of it. */
static void take_links(struct analyst *analyst, const struct critical_path *path)
{
    const struct graph *graph = analyst->graph;
    int64_t ns = 0, least_ns = link_least_ns(analyst);
    for (size_t i = 0; i < graph->defs->state_count; i++)
        if (graph->defs->states[i].class == CLASS_P2P || graph->defs->states[i].class == CLASS_WAIT)
            time_add(&ns, path->states_ns[i]);
    if (ns >= least_ns && ns > 0 && analyst->analysis->process_count >= LINK_PROCESSES_LEAST)
        analyst->links = path_links_of(graph, path, analyst->rows, analyst->analysis->process_count, least_ns);
}

static void take_path(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct critical_path path = critical_path_of(analyst->graph);
    analysis->path = path.length_ns;
    for (size_t i = 0; i < analyst->graph->location_count; i++) {
        analysis->path_compute_ns[analyst->rows[i]] += path.locations[i].compute_ns;
        analysis->path_mpi_ns[analyst->rows[i]] += path.locations[i].mpi_ns;
    }
    take_impact(analyst, &path);
    take_links(analyst, &path);
    critical_path_clear(&path);
}

static void take_delays(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct delays delays = delays_of(analyst->graph);
    double *process_ns = memory_new(analysis->process_count * sizeof *process_ns);
    double *states_ns[2] = {memory_new(analysis->state_count * sizeof **states_ns),
                            memory_new(analysis->state_count * sizeof **states_ns)};
    for (size_t i = 0; i < analyst->graph->location_count; i++)
        process_ns[analyst->rows[i]] += delays_location_ns(&delays, i);
    for (size_t i = 0; i < delays.place_count; i++) {
        const struct delay_place *place = &delays.places[i];
        states_ns[place->label.before != TIME_IN_CALL][place->label.state] += place->short_ns + place->long_ns;
    }
    for (size_t i = 0; i < analysis->process_count; i++)
        analysis->delay_ns[i] = rounded(process_ns[i]);
    double unattributed_ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        unattributed_ns += delays.waits[kind].unattributed_ns;
    analysis->unattributed = rounded(unattributed_ns);
    for (size_t i = 0; i < analysis->state_count; i++) {
        analysis->delay_states_ns[i] = rounded(states_ns[0][i]);
        analysis->delay_before_ns[i] = rounded(states_ns[1][i]);
    }
    free(process_ns);
    free(states_ns[0]);
    free(states_ns[1]);
    delays_clear(&delays);
}

static void drop_delays(struct analysis *analysis)
{
    struct analysis *none = analysis_new(analysis->process_count, analysis->state_count);
    analyse_take_apart(analysis, none, ANALYSE_DELAYS);
    analysis_free(none);
}

/* Waiting for messages of the process in a row, or for it to receive theirs. */
static double endpoint_ns(const struct analysis *analysis, uint32_t row)
{
    double ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        if (ENDPOINT_KINDS >> kind & 1)
            ns += (double)analysis->waits[kind].causes_ns[row];
    return ns;
}

/* Finds locations that keep others waiting for messages long enough to matter. */
static bool *find_endpoints(const struct analyst *analyst)
{
    const struct analysis *analysis = analyst->analysis;
    bool *endpoints = memory_new(analyst->graph->location_count);
    double least_ns = REPLAY_SHARE * (double)analysis->duration;
    for (size_t location = 0; location < analyst->graph->location_count; location++)
        endpoints[location] = endpoint_ns(analysis, analyst->rows[location]) >= least_ns;
    return endpoints;
}

/* From this part of the waiting for a process on, queues are what is waited for there. Then the rest follows from them:
   a process that waits its turn elsewhere is late where others wait for it. */
static const double QUEUES_PREVAIL = 1.0 / 3;

static void keep_queued_for(const struct analyst *analyst, bool *endpoints)
{
    const struct analysis *analysis = analyst->analysis;
    for (size_t location = 0; location < analyst->graph->location_count; location++) {
        uint32_t row = analyst->rows[location];
        double queued_ns = (double)analysis->contention.causes_ns[row];
        endpoints[location] &= queued_ns > 0 && queued_ns >= QUEUES_PREVAIL * endpoint_ns(analysis, row);
    }
}

/* Elsewhere only what is proven to be spent in queues counts. */
static void keep_proven(struct queues *queues, const bool *queued_for)
{
    for (size_t i = 0; i < queues->count; i++)
        if (!queued_for[queues->queued[i].cause_location])
            queues->queued[i].behind_ns = queues->queued[i].ns;
}

/* Finds where processes queue for one, and replays the run without queues. */
static void take_contention(struct analyst *analyst)
{
    const struct graph *graph = analyst->graph;
    struct analysis *analysis = analyst->analysis;
    struct wait_sums *sums = &analysis->contention;
    double all_ns = (double)analysis->duration * (double)analysis->process_count;
    sums->calls = analysis->waits[WAIT_LATE_SENDER].calls + analysis->waits[WAIT_LATE_RECEIVER].calls;
    /* Searching the queues costs more than all other steps: not if even all these waits together are too little. */
    if (analyst_waits_ns(analysis, ENDPOINT_KINDS) < REPLAY_SHARE * all_ns)
        return;
    bool *endpoints = find_endpoints(analyst);
    if (!analyst->overlapping && !queues_possible(graph, endpoints)) {
        free(endpoints);
        return;
    }
    struct queues queues = queues_of(graph, endpoints, analysis->duration / QUEUED_LEAST);
    for (size_t i = 0; i < queues.count; i++) {
        const struct queued *queued = &queues.queued[i];
        if (queued->ns == 0)
            continue;
        struct call call = graph_call(graph, queued->location, queued->call);
        struct wait wait = wait_of(graph, queued->location, queued->call);
        int64_t begin_ns = call.enter_ns + wait.ns - queued->ns;
        wait.ns = queued->ns;
        analyst_add_wait(analyst, CONTENTION, queued->location, queued->call, &call, &wait, begin_ns,
                         course_bin(&analyst->edges, 0, time_since(analyst->begin_ns, begin_ns)));
    }
    if ((double)sums->ns >= REPLAY_SHARE * all_ns) {
        keep_queued_for(analyst, endpoints);
        keep_proven(&queues, endpoints);
        analyst->unqueued = true;
        analyst->unqueued_ns =
            replay_run(graph, (struct replay_options){.queues = &queues, .queued_for = endpoints}).end_ns;
    }
    queues_clear(&queues);
    free(endpoints);
}

/* Finds where the process that computes most, the lowest if equal, computes longer than the mean. */
static void take_uneven(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    struct wait_sums *sums = &analysis->uneven;
    int64_t *compute_ns = memory_new(analysis->process_count * sizeof *compute_ns), sum_ns = 0;
    uint32_t most = 0;
    for (size_t i = 0; i < analyst->graph->location_count; i++) {
        time_add(&compute_ns[analyst->rows[i]], analyst->compute_ns[i]);
        time_add(&sum_ns, analyst->compute_ns[i]);
    }
    for (uint32_t i = 0; i < analysis->process_count; i++)
        if (compute_ns[i] > compute_ns[most])
            most = i;
    /* An excess that is small for the run is not worth naming. */
    double mean_ns = (double)sum_ns / (double)analysis->process_count;
    bool uneven = sum_ns > 0 && (double)compute_ns[most] - mean_ns > BALANCED_SHARE * (double)analysis->duration;
    free(compute_ns);
    if (!uneven)
        return;
    struct uneven places = uneven_of(analyst->graph, analyst->rows, analysis->process_count, most);
    analysis->once = places.piece_ns;
    analysis->once_excess = places.piece_excess_ns;
    analysis->once_from = time_since(analyst->begin_ns, places.piece_from_ns);
    sums->calls = 1;
    sums->ns = sums->causes_ns[most] = places.ns;
    memcpy(sums->states_ns, places.states_ns, analysis->state_count * sizeof *sums->states_ns);
    for (uint32_t i = 0; i < analyst->graph->defs->site_count; i++)
        if (places.sites_ns[i] > 0)
            analyst_add_place(&analyst->sites_ns[UNEVEN], analyst->graph->defs->site_count, i, places.sites_ns[i]);
    uneven_clear(&places);
}

static void take_call_sites(struct analyst *analyst)
{
    call_sites_take(analyst->analysis, analyst->graph);
}

static void take_polling(struct analyst *analyst)
{
    for (size_t i = 0; i < analyst->graph->location_count; i++)
        time_add(&analyst->analysis->polled_ns[analyst->rows[i]], analyst->graph->locations[i].polled_ns);
}

/* The first steps need only the graph, and later ones need their results: which replays matter follows from the sums of
   waits and the critical path. Steps of one group write different parts of the analysis, so that they can run in
   parallel. */
enum { FIRST_STEPS = 3, LATER_STEPS = 6 };

/* By bit of enum analyse_step. Those made apart need nothing but the graph, and nothing needs them. */
enum { OPTIONAL_STEPS = ANALYSE_APART_COUNT + 1 };
static void (*const optional[OPTIONAL_STEPS])(struct analyst *) = {take_delays, concurrency_take, take_call_sites};

static void begin_beside(struct analyst *analyst)
{
    if (analyst->beside)
        analyst->beside->begin(analyst->beside->context);
}

static void first_step(void *context, size_t index)
{
    /* The longest first, here and below: threads take them in this order. */
    static void (*const steps[FIRST_STEPS])(struct analyst *) = {begin_beside, analyst_sum_waits, take_path};
    steps[index](context);
}

static void later_step(void *context, size_t index)
{
    static void (*const steps[LATER_STEPS])(struct analyst *) = {save_all,    take_delays,     take_contention,
                                                                 take_uneven, take_call_sites, concurrency_take};
    struct analyst *analyst = context;
    for (size_t i = 0; i < OPTIONAL_STEPS; i++)
        if (steps[index] == optional[i] && (analyst->without >> i & 1))
            return;
    bool later = steps[index] == take_call_sites || (steps[index] == take_delays && !analyst->delays_ahead);
    if (analyst->detail_from_ns == 0 || !later)
        steps[index](analyst);
}

/* Where processes wait for twice as long as a saving must be, delays are most likely wanted, and another thread
   computes them while the replays are made. Else it takes a part of the replays. */
static bool wants_delays_ahead(const struct analyst *analyst)
{
    const struct analysis *analysis = analyst->analysis;
    double waits_ns = analyst_waits_ns(analysis, (1U << WAIT_CAUSED_COUNT) - 1);
    return analyst->detail_from_ns == 0 ||
           waits_ns > 2 * (double)analyst->detail_from_ns * (double)analysis->process_count;
}

/* Savings are differences to a replay that save_all() knows. */
static void save_queues(struct analyst *analyst)
{
    struct analysis *analysis = analyst->analysis;
    if (analyst->unqueued)
        analysis->contention.saving_ns = time_since(analyst->unqueued_ns, analysis->replay);
}

/* The row of a process at an end of a link. */
static uint32_t link_row(const struct link *link, const uint32_t *hosts, size_t processes, uint32_t end)
{
    uint32_t row = end;
    if (link->kind == LINK_HOSTS || link->kind == LINK_HOST)
        for (row = 0; row < processes && hosts[row] != end;)
            row++;
    return row;
}

static void take_slow_link(struct analyst *analyst, const struct transfer_meter *meter, const struct slow_link *slow)
{
    struct analysis *analysis = analyst->analysis;
    struct map faster = faster_calls(meter, slow);
    size_t processes = analysis->process_count;
    const struct link *link = &slow->links.link[0], *next = &slow->links.link[1];
    analysis->slow_link = (uint64_t)link->kind + 1;
    analysis->slow_link_way = (uint64_t)slow->way;
    analysis->slow_link_one = link_row(link, meter->hosts, processes, link->one);
    analysis->slow_link_other = link_row(link, meter->hosts, processes, link->other);
    if (slow->links.count > 1) {
        analysis->slow_links = slow->links.count;
        analysis->slow_link_next_one = link_row(next, meter->hosts, processes, next->one);
        analysis->slow_link_next_other = link_row(next, meter->hosts, processes, next->other);
    }
    analysis->slow_link_from = slow->from_bytes;
    analysis->slow_link_messages = slow->messages;
    analysis->slow_link_bytes = slow->bytes;
    analysis->slow_link_time = slow->ns;
    analysis->slow_link_usual = slow->usual_ns;
    for (size_t i = 0; i < faster.capacity; i++)
        if (faster.entries[i].key != 0)
            time_add(&analysis->slow_link_lost, (int64_t)faster.entries[i].value);
    struct replay replay = replay_run(analyst->graph, (struct replay_options){.faster = &faster});
    analysis->slow_link_saving = time_since(replay.end_ns, analysis->replay);
    map_clear(&faster);
}

/* Finds a slow link, where the network costs enough, and replays the run with as fast a one as elsewhere. */
static void find_slow_link(struct analyst *analyst)
{
    const struct analysis *analysis = analyst->analysis;
    if (analyst->links.count[LINK_PROCESS] == 0 ||
        time_since(analysis->ideal, analysis->replay) < link_least_ns(analyst))
        return;
    uint32_t *hosts = link_hosts(analyst->graph, analyst->rows, analysis->process_count);
    struct transfer_meter meter = {analyst->graph, analyst->rows, hosts};
    struct slow_link slow;
    if (slow_link_find(&meter, &analyst->links, &slow)) {
        take_slow_link(analyst, &meter, &slow);
        slow_link_clear(&slow);
    }
    free(hosts);
}

static bool saves_from(const struct analysis *analysis, int64_t from_ns)
{
    bool saves = analysis->contention.saving_ns > from_ns;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        saves |= analysis->waits[kind].saving_ns > from_ns;
    return saves;
}

/* Only savings tell whether delays are wanted. */
static void settle_delays(struct analyst *analyst)
{
    if (analyst->detail_from_ns == 0 || (analyst->without & ANALYSE_DELAYS))
        return;
    bool wanted = saves_from(analyst->analysis, analyst->detail_from_ns);
    if (wanted && !analyst->delays_ahead)
        take_delays(analyst);
    else if (!wanted && analyst->delays_ahead)
        drop_delays(analyst->analysis);
}

/* Places in the source are wanted where calls themselves take long. */
static void settle_call_sites(struct analyst *analyst)
{
    const struct analysis *analysis = analyst->analysis;
    int64_t from_ns = analyst->detail_from_ns;
    if (from_ns == 0 || (analyst->without & ANALYSE_CALL_SITES) || analyst->graph->defs->site_count == 0)
        return;
    bool synchronises =
        analysis->process_count > 0 && analysis->synchronising / (int64_t)analysis->process_count > from_ns;
    if (analysis->own_saving > from_ns || analysis->small_saving > from_ns || synchronises)
        take_call_sites(analyst);
}

enum { LAST_STEPS = 4 };

static void last_step(void *context, size_t index)
{
    static void (*const steps[LAST_STEPS])(struct analyst *) = {settle_delays, save_beside_even_work, find_slow_link,
                                                                settle_call_sites};
    steps[index](context);
}

/* The analysis is to be filled. Free with analyst_end. */
static struct analyst analyst_begin(const struct graph *graph)
{
    struct analyst analyst = {.graph = graph, .begin_ns = graph_begin_ns(graph)};
    analyst.rows = memory_new(graph->location_count * sizeof *analyst.rows);
    analyst.compute_ns = memory_new(graph->location_count * sizeof *analyst.compute_ns);
    size_t processes = find_rows(graph, analyst.rows);
    analyst.analysis = analysis_new(processes, graph->defs->state_count);
    analyst.analysis->duration = graph_duration_ns(graph);
    analyst.edges = course_edges_of(analyst.analysis->duration);
    return analyst;
}

static struct analysis *analyst_end(struct analyst *analyst)
{
    free(analyst->rows);
    free(analyst->compute_ns);
    relief_free(analyst->relief);
    if (analyst->sections)
        sections_clear(analyst->sections);
    free(analyst->sections);
    return analyst->analysis;
}

struct analysis *analyse_in_parallel(const struct graph *graph, struct analyse_how how)
{
    struct analyst analyst = analyst_begin(graph);
    struct analysis *analysis = analyst.analysis;
    analyst.without = how.without;
    analyst.detail_from_ns = how.detail_from_ns;
    analyst.beside = how.beside;
    analysis->messages = graph->message_count - graph->unmatched;
    analysis->collectives = graph->instance_count;
    analysis->unmatched = graph->unmatched;
    analysis->early = graph->early;
    analysis->clock_error = graph->clock_error_ns;
    take_polling(&analyst);
    hub_take(analysis, graph);
    parallel_run(how.threads, FIRST_STEPS, first_step, &analyst);
    analyst.delays_ahead = how.threads > 1 && !(how.without & ANALYSE_DELAYS) && wants_delays_ahead(&analyst);
    analyst.replay_threads = how.threads - analyst.delays_ahead;
    parallel_run(how.threads, LATER_STEPS, later_step, &analyst);
    save_queues(&analyst);
    parallel_run(how.threads, LAST_STEPS, last_step, &analyst);
    analyst_take_places(&analyst);
    return analyst_end(&analyst);
}

struct analysis *analyse(const struct graph *graph)
{
    return analyse_in_parallel(graph, (struct analyse_how){.threads = 1});
}

struct analysis *analyse_apart(const struct graph *graph, unsigned steps)
{
    struct analyst analyst = analyst_begin(graph);
    for (size_t i = 0; i < ANALYSE_APART_COUNT; i++)
        if (steps >> i & 1)
            optional[i](&analyst);
    return analyst_end(&analyst);
}

static void take_times(int64_t *to, const int64_t *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

void analyse_take_apart(struct analysis *analysis, const struct analysis *from, unsigned steps)
{
    size_t processes = analysis->process_count, states = analysis->state_count;
    if (steps & ANALYSE_DELAYS) {
        analysis->unattributed = from->unattributed;
        take_times(analysis->delay_ns, from->delay_ns, processes);
        take_times(analysis->delay_states_ns, from->delay_states_ns, states);
        take_times(analysis->delay_before_ns, from->delay_before_ns, states);
    }
    if (steps & ANALYSE_CONCURRENCY) {
        take_times(analysis->concurrency_ns, from->concurrency_ns, processes);
        take_times(analysis->computing_course_ns, from->computing_course_ns, COURSE_BINS);
    }
}
