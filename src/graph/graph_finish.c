/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_finish.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "graph/graph_neighbours.h"
#include "graph/graph_sides.h"
#include "graph/held_sends.h"
#include "graph/infer_roots.h"
#include "graph/late_progress.h"
#include "graph/wait.h"
#include "graph/wait_table.h"
#include "graph/window_edges.h"

#include <string.h>

/* Finds the streams of inter-communicators in the table of communicators. */
static void find_two_groups(struct graph *graph)
{
    struct map inter = {0};
    const struct defs *defs = graph->defs;
    for (size_t i = 0; i < defs->comm_row_count; i++) {
        const struct comm_row *row = &defs->comm_rows[i];
        if (row->kind == COMM_KIND_INTER || row->kind == COMM_KIND_LOCAL || row->kind == COMM_KIND_REMOTE)
            map_put(&inter, (uint32_t)row->id, 1);
    }
    for (size_t i = 0; i < graph->stream_count; i++) {
        struct instance_stream *stream = &graph->streams[i];
        enum collective_shape shape = (enum collective_shape)graph->collectives[stream->state].shape;
        stream->two_groups =
            stream->sided || (stream->comm >= 0 && map_find(&inter, (uint32_t)defs->comms[stream->comm].id));
        /* Other functions do not work on inter-communicators. */
        stream->sided &= shape == SHAPE_ALL_TO_ALL || shape == SHAPE_ONE_TO_ALL || shape == SHAPE_ALL_TO_ONE;
    }
    map_clear(&inter);
}

/* Without communicators, only a collective in which all processes take part is certain to be one. */
static bool is_complete(const struct graph *graph, const struct instance *instance)
{
    const struct instance_stream *stream = &graph->streams[instance->stream];
    /* Without communicators the calls of two groups of processes look like one collective: waits would be made up. */
    if (stream->comm == EVENT_UNKNOWN && instance->count != graph->defs->processes)
        return false;
    const struct group_sides *sides = graph_sides(graph, instance);
    /* With the table of communicators alone it is known that there are two groups, but not their members. */
    if (stream->two_groups && (!sides || sides->sides[0].count == 0 || sides->sides[1].count == 0))
        return false;
    /* A member may be missing because it never arrived (a run that was killed): then nobody's wait has an end. */
    return instance->count > 1 && instance->count == stream->most;
}

static void add_prefix(struct graph *graph, uint32_t instance, uint32_t location, uint32_t index, bool gives_nothing)
{
    int32_t comm = graph->streams[graph->instances[instance].stream].comm;
    int32_t rank = defs_comm_rank(graph->defs, comm, graph->locations[location].process);
    /* Not in the communicator, so that its place in the order is unknown: finish_prefixes notices the missing row. */
    if (rank < 0)
        return;
    struct prefix prefix = {.instance = instance,
                            .rank = (uint32_t)rank,
                            .location = location,
                            .call = index,
                            .latest_location = GRAPH_NONE,
                            .gives_nothing = gives_nothing};
    ARRAY_PUSH(graph->prefixes, graph->prefix_count, graph->prefix_capacity, prefix);
}

/* Adds a member, now completely known, to a collective. Locations come in order. */
static void note_member(struct graph *graph, uint32_t index_of_instance, uint32_t location, uint32_t index,
                        bool gives_nothing, bool gets_nothing)
{
    struct call call = graph_call(graph, location, index);
    struct instance *instance = &graph->instances[index_of_instance];
    call.gives_nothing = gives_nothing;
    if (graph_collective_of(graph, instance).shape == SHAPE_PREFIX)
        add_prefix(graph, index_of_instance, location, index, gives_nothing);
    if (graph->streams[instance->stream].sided)
        graph_note_side(graph, index_of_instance, location, index, &call);
    /* Members that give nothing return like the others: an early return proves that the call did not synchronise. */
    if (call.leave_ns < instance->earliest_leave_ns)
        instance->earliest_leave_ns = call.leave_ns;
    instance->all_entered_ns = larger(call.enter_ns, instance->all_entered_ns);
    if (gives_nothing)
        return;
    instance->givers++;
    if (!gets_nothing && call.leave_ns < instance->earliest_done_ns)
        instance->earliest_done_ns = call.leave_ns;
    /* Strictly later: of several at the same time the lowest location, so that results do not depend on threads. */
    if (call.enter_ns > instance->latest_enter_ns) {
        instance->latest_enter_ns = call.enter_ns;
        instance->latest_location = location;
        instance->latest_call = index;
    }
    /* Scalasca's early reduce counts the root's time before any data can have come: from the first of the others. */
    if (instance->root_location != location && call.enter_ns < instance->earliest_other_ns)
        instance->earliest_other_ns = call.enter_ns;
}

static int by_start(const void *a, const void *b, void *context)
{
    const struct operation *operations = context;
    const struct operation *left = &operations[*(const uint32_t *)a], *right = &operations[*(const uint32_t *)b];
    int order = order_by(left->location, right->location);
    if (order == 0)
        order = order_by(left->call, right->call);
    /* Then by place, which makes the order the same with every qsort. */
    return order ? order : (left > right) - (left < right);
}

static int by_end(const void *a, const void *b)
{
    const struct operation *left = a, *right = b;
    int order = order_by(left->done_location, right->done_location);
    if (order == 0)
        order = order_by(left->done_call, right->done_call);
    if (order == 0)
        order = order_by(left->location, right->location);
    return order ? order : order_by(left->instance, right->instance);
}

/* Calls that start persistent collectives are members of their instances. */
static void note_starts(struct graph *graph)
{
    /* The sort moves operations: only afterwards are there places to remember. map_put keeps the first of each call. */
    if (graph->operation_count > 0)
        qsort(graph->operations, graph->operation_count, sizeof *graph->operations, by_end);
    graph->starts = memory_new(graph->operation_count * sizeof *graph->starts);
    for (uint32_t i = 0; i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (operation->done_location != GRAPH_NONE)
            map_put(&graph->operation_places, map_pair(operation->done_location, operation->done_call), i);
        if (operation->started)
            graph->starts[graph->start_count++] = i;
    }
    if (graph->start_count > 0)
        qsort_r(graph->starts, graph->start_count, sizeof *graph->starts, by_start, graph->operations);
    /* The call that starts a persistent collective may start several, so that it has no `instance` itself. */
    for (uint32_t i = 0; i < graph->start_count; i++) {
        const struct operation *operation = &graph->operations[graph->starts[i]];
        map_put(&graph->start_places, map_pair(operation->location, operation->call), i);
        note_member(graph, operation->instance, operation->location, operation->call, operation->gives_nothing,
                    operation->gets_nothing);
    }
}

/* By more than the clock error. */
static bool was_left_before_last(const struct graph *graph, const struct instance *instance, int64_t leave_ns)
{
    return time_since(leave_ns, instance->latest_enter_ns) > graph->clock_error_ns;
}

/* MPI lets calls that make communicators, of a window, or on a file (MPI 4.0, 14.6.1), return before all processes have
   arrived, and assertions (MPI_MODE_NOPRECEDE) make them do so: if one did, by more than the clock error, the call does
   not synchronise and no wait is counted. */
static bool does_not_wait(const struct graph *graph, const struct instance *instance)
{
    struct collective collective = graph_collective_of(graph, instance);
    return collective.stage == STAGE_BLOCKING &&
           (collective.wait == WAIT_AT_COMM || collective.wait == WAIT_AT_FENCE || collective.wait == WAIT_AT_WINDOW ||
            collective.wait == WAIT_AT_IO) &&
           was_left_before_last(graph, instance, instance->earliest_leave_ns);
}

/* By instance: when the first call that completes it is left; INT64_MAX: not known. free() it. */
static int64_t *earliest_ends(const struct graph *graph)
{
    int64_t *ends_ns = memory_new(graph->instance_count * sizeof *ends_ns);
    for (size_t i = 0; i < graph->instance_count; i++)
        ends_ns[i] = INT64_MAX;
    for (size_t i = 0; i < graph->operation_count; i++) {
        const struct operation *operation = &graph->operations[i];
        if (operation->done_location == GRAPH_NONE)
            continue;
        int64_t leave_ns = graph_call(graph, operation->done_location, operation->done_call).leave_ns;
        if (leave_ns < ends_ns[operation->instance])
            ends_ns[operation->instance] = leave_ns;
    }
    return ends_ns;
}

/* Calls on files that other calls complete: a split collective waits where it ends if not where it begins, and like a
   non-blocking one only if no completing call was left before the last member arrived. */
static void finish_later_io(struct graph *graph)
{
    int64_t *ends_ns = earliest_ends(graph);
    for (size_t i = 0; i < graph->instance_count; i++) {
        struct instance *instance = &graph->instances[i];
        struct collective collective = graph_collective_of(graph, instance);
        bool split = collective.stage == STAGE_SPLIT, posted = collective.stage == STAGE_POSTED;
        if (collective.wait != WAIT_AT_IO || !(split || posted) || instance->latest_location == GRAPH_NONE)
            continue;
        instance->waits_at_end = split && was_left_before_last(graph, instance, instance->earliest_leave_ns);
        /* If the call that begins it synchronised, that is where it waits: counting both would count the time twice. */
        if ((instance->waits_at_end || posted) && was_left_before_last(graph, instance, ends_ns[i]))
            instance->latest_location = GRAPH_NONE;
    }
    free(ends_ns);
}

static void finish_instances(struct graph *graph)
{
    for (uint32_t location = 0; location < graph->location_count; location++)
        for (uint32_t i = 0; i < graph->locations[location].count; i++) {
            struct packed_call *call = location_packed(&graph->locations[location], i);
            if (!(call->word & CALL_IN_INSTANCE))
                continue;
            /* A barrier moves no data: its members are waited for even if the trace says 0 bytes. */
            if (!collective_moves_data(graph_collective_of(graph, &graph->instances[call->link - 1])))
                call->word &= ~(uint64_t)(CALL_GIVES_NOTHING | CALL_GETS_NOTHING);
            note_member(graph, call->link - 1, location, i, call->word & CALL_GIVES_NOTHING,
                        call->word & CALL_GETS_NOTHING);
        }
    /* Members that start persistent collectives come after the plain ones, so that all are known before completeness
       is. */
    note_starts(graph);
    for (size_t i = 0; i < graph->instance_count; i++) {
        graph->instances[i].complete = is_complete(graph, &graph->instances[i]);
        if (does_not_wait(graph, &graph->instances[i]))
            graph->instances[i].latest_location = GRAPH_NONE;
    }
    if (graph->operation_count > 0)
        finish_later_io(graph);
}

static int by_rank(const void *a, const void *b)
{
    const struct prefix *left = a, *right = b;
    if (left->instance != right->instance)
        return left->instance < right->instance ? -1 : 1;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->location > right->location) - (left->location < right->location);
}

/* Prefix reductions: the latest up to each rank. A member with an unknown rank makes all of them unknown. */
static void finish_prefixes(struct graph *graph)
{
    uint32_t first = 0;
    if (graph->prefix_count > 0)
        qsort(graph->prefixes, graph->prefix_count, sizeof *graph->prefixes, by_rank);
    for (uint32_t i = 0; i < graph->prefix_count; i++) {
        struct prefix *prefix = &graph->prefixes[i];
        struct instance *instance = &graph->instances[prefix->instance];
        bool new_instance = i == 0 || prefix[-1].instance != prefix->instance;
        if (new_instance)
            instance->rows = first = i;
        struct call call = graph_call(graph, prefix->location, prefix->call);
        map_put(&graph->prefix_places, map_pair(prefix->location, prefix->call), i);
        /* Ranks ascend, so that the latest up to the rank before is known. */
        if (!new_instance) {
            prefix->latest_location = prefix[-1].latest_location;
            prefix->latest_call = prefix[-1].latest_call;
        }
        int64_t latest_ns = INT64_MIN;
        if (prefix->latest_location != GRAPH_NONE)
            latest_ns = graph_call(graph, prefix->latest_location, prefix->latest_call).enter_ns;
        if (!prefix->gives_nothing && call.enter_ns > latest_ns) {
            prefix->latest_location = prefix->location;
            prefix->latest_call = prefix->call;
        }
        bool last = i + 1 == graph->prefix_count || prefix[1].instance != prefix->instance;
        if (last && i + 1 - first != instance->count)
            instance->complete = false;
    }
    /* An instance without a single row has no known rank at all. */
    for (size_t i = 0; i < graph->instance_count; i++) {
        struct instance *instance = &graph->instances[i];
        bool prefix = graph->collectives[graph->streams[instance->stream].state].shape == SHAPE_PREFIX;
        instance->complete &= !prefix || instance->rows != GRAPH_NONE;
    }
}

/* Locations are examined in so many parts, at most. */
enum { PARTS_MOST = 8 };

/* A call with a late message in the wrong order. */
struct wrong {
    uint32_t location, call;
    bool same; /* the other message is from the same sender */
};

/* The earliest sends of the messages that a location receives after the current call. The stamps save clearing the
   table for each location: an entry counts only if it has the stamp of the current one. */
struct pending_sends {
    struct graph *graph;
    uint32_t from, to;    /* locations that are examined */
    struct wrong *wrongs; /* calls found */
    size_t wrong_count, wrong_capacity;
    int64_t *earliest_ns; /* by the first location of the sender */
    uint32_t *stamps;     /* 1 + the location of that time */
    uint32_t *first_locations;
    int64_t earliest_of_all_ns;
};

static void pending_begin(struct pending_sends *pending, struct graph *graph, unsigned part, unsigned parts)
{
    struct map first = {0};
    *pending = (struct pending_sends){.graph = graph,
                                      .from = (uint32_t)(graph->location_count * part / parts),
                                      .to = (uint32_t)(graph->location_count * (part + 1) / parts)};
    pending->earliest_ns = memory_new(graph->location_count * sizeof *pending->earliest_ns);
    pending->stamps = memory_new(graph->location_count * sizeof *pending->stamps);
    pending->first_locations = memory_new(graph->location_count * sizeof *pending->first_locations);
    /* Threads of a process are one sender: a message of another thread of it is still from the same source. */
    for (uint32_t i = 0; i < graph->location_count; i++)
        pending->first_locations[i] = (uint32_t)*map_put(&first, graph->locations[i].process, i);
    map_clear(&first);
}

static void pending_clear(struct pending_sends *pending)
{
    free(pending->earliest_ns);
    free(pending->stamps);
    free(pending->first_locations);
    free(pending->wrongs);
}

static void add_received(struct pending_sends *pending, const struct graph *graph, uint32_t location, uint32_t index,
                         const struct call *call)
{
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_location == GRAPH_NONE || m.receive_call != index)
            /* A probe has the message that it found, which a later call receives. */
            continue;
        int64_t sent_ns = graph_call(graph, m.send_location, m.send_call).enter_ns;
        uint32_t sender = pending->first_locations[m.send_location];
        if (pending->stamps[sender] != location + 1 || sent_ns < pending->earliest_ns[sender])
            pending->earliest_ns[sender] = sent_ns;
        pending->stamps[sender] = location + 1;
        if (sent_ns < pending->earliest_of_all_ns)
            pending->earliest_of_all_ns = sent_ns;
    }
}

/* When the latest of the messages that arrive in the call is sent. */
static int64_t latest_sent_ns(const struct graph *graph, const struct call *call)
{
    int64_t latest_ns = INT64_MIN;
    struct message m;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        m = graph_message(graph, at - 1);
        if (m.send_location != GRAPH_NONE)
            latest_ns = larger(latest_ns, graph_call(graph, m.send_location, m.send_call).enter_ns);
    }
    return latest_ns;
}

/* True for calls that cannot have a wrong order: all receives are posted, and all are needed. MPI_Waitany and
   MPI_Waitsome return with what has come. */
static bool needs_all(const struct graph *graph, const struct call *call)
{
    return strcmp(graph_state(graph, call)->name, "MPI_Waitall") == 0;
}

/* Finds the late messages received in the wrong order, from the location's last call back to its first. Scalasca's
   pattern: a late sender while another message, sent before the wait ended, is received later; the receiver could have
   taken that one first. */
static void find_in_location(struct pending_sends *pending, uint32_t location)
{
    const struct graph *graph = pending->graph;
    pending->earliest_of_all_ns = INT64_MAX;
    for (uint32_t i = (uint32_t)graph->locations[location].count; i-- > 0;) {
        if (!(location_packed(&graph->locations[location], i)->word & CALL_IN))
            continue;
        struct call call = graph_call(graph, location, i);
        int64_t latest_ns = latest_sent_ns(graph, &call);
        struct wait wait = {0};
        /* wait_of looks at all messages of the call again: most calls fail a cheaper test first. */
        if (latest_ns > call.enter_ns && latest_ns > pending->earliest_of_all_ns && !needs_all(graph, &call))
            wait = wait_of(graph, location, i);
        if (wait.kind == WAIT_LATE_SENDER && pending->earliest_of_all_ns < wait.until_ns) {
            uint32_t sender = pending->first_locations[wait.cause_location];
            bool same = pending->stamps[sender] == location + 1 && pending->earliest_ns[sender] < wait.until_ns;
            ARRAY_PUSH(pending->wrongs, pending->wrong_count, pending->wrong_capacity,
                       (struct wrong){location, i, same});
        }
        add_received(pending, graph, location, i, &call);
    }
}

static void find_in_part(void *context, size_t index)
{
    struct pending_sends *pending = (struct pending_sends *)context + index;
    for (uint32_t location = pending->from; location < pending->to; location++)
        find_in_location(pending, location);
}

/* Calls are marked once all are found: other threads read those that they wait for. */
static void find_wrong_order(struct graph *graph, unsigned threads)
{
    unsigned parts = larger(smaller(threads, (unsigned)PARTS_MOST), 1u);
    struct pending_sends pending[PARTS_MOST];
    for (unsigned i = 0; i < parts; i++)
        pending_begin(&pending[i], graph, i, parts);
    parallel_run(threads, parts, find_in_part, pending);
    for (unsigned i = 0; i < parts; i++) {
        for (size_t w = 0; w < pending[i].wrong_count; w++) {
            const struct wrong *wrong = &pending[i].wrongs[w];
            location_packed(&graph->locations[wrong->location], wrong->call)->word |=
                (uint64_t)(wrong->same ? CALL_PENDING_SAME : CALL_PENDING_OTHER);
        }
        pending_clear(&pending[i]);
    }
}

/* Marks the collectives in which all wait for the last: each analysis asks for their waits. */
static void find_simple_waits(struct graph *graph)
{
    for (size_t i = 0; i < graph->instance_count; i++) {
        struct instance *instance = &graph->instances[i];
        struct instance_stream *stream = &graph->streams[instance->stream];
        struct collective collective = graph->collectives[stream->state];
        if (!instance->complete || instance->latest_location == GRAPH_NONE || stream->sided ||
            collective.shape != SHAPE_ALL_TO_ALL || !graph_waits_at_once(graph, instance))
            continue;
        instance->last_wait = collective.wait;
        if (collective.stage == STAGE_BLOCKING && graph->defs->states[stream->state].class != CLASS_IO)
            instance->last_completion = collective.completion;
    }
}

/* Each step needs those before it: roots are inferred from complete instances, prefix rows and neighbours from the
   entered members; wrong orders from the sorted edges of windows, since wait_of asks for these; and the table stores
   the final kinds. */
void graph_finish(struct graph *graph, unsigned threads)
{
    graph->collectives = collectives_of(graph->defs);
    find_two_groups(graph);
    graph_begin_sides(graph);
    finish_instances(graph);
    infer_roots(graph);
    finish_prefixes(graph);
    graph_finish_neighbours(graph);
    find_simple_waits(graph);
    held_sends_find(graph);
    late_progress_find(graph);
    window_edges_end(graph);
    find_wrong_order(graph, threads);
    wait_table_make(graph, threads);
}
