/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the calls for all foci of a request. */
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "graph/graph_neighbours.h"
#include "graph/wait_windows.h"
#include "search/cube_focus.h"
#include "search/cube_walk.h"

#include <string.h>

/* A message below this is small: it costs its latency, not its bytes (see finding_work.c). */
static const int64_t SMALL_BYTES = 1024;

/* What a fact adds to the sums: collected once, then added to each cell that it belongs to. A call adds 15 metrics at
   most. */
struct amounts {
    struct {
        uint8_t metric;
        int64_t amount;
    } add[24];
    size_t count;
    enum wait_kind doubt; /* WAIT_NONE: none */
    int64_t doubt_ns;
    int64_t doubt_size_ns, doubt_messages;
};

static void amount(struct amounts *amounts, unsigned metric, int64_t ns)
{
    amounts->add[amounts->count].metric = (uint8_t)metric;
    amounts->add[amounts->count++].amount = ns;
}

struct pass {
    const struct cube *cube;
    struct cube_focus *foci;
    size_t count;
    struct cube_walk walk;
    bool waits, caused, sizes; /* are wanted */
    bool second;               /* of overloads, which need means first */
    uint32_t
        *made; /* by state (the first of its name): calls of the location so far, of functions that create objects */
};

/* Processes are not among the keys that are compared: a focus may have several, and computing outside of them counts
   for the mean (add_gap). */
static bool fits(const struct cube_focus *focus, const uint32_t *key)
{
    for (int axis = AXIS_FUNCTIONS; axis < AXIS_ITERATIONS; axis++)
        if (focus->key[axis] != CUBE_ANY && focus->key[axis] != key[axis])
            return false;
    uint32_t iteration = key[AXIS_ITERATIONS], function = key[AXIS_FUNCTIONS];
    if (focus->functions && (function == CUBE_ANY || !focus->functions[function]))
        return false;
    return !focus->in_iteration || (iteration != CUBE_ANY && focus->in_iteration[iteration]);
}

static void cell_add(struct cube_cell *cell, const struct amounts *amounts)
{
    for (size_t i = 0; i < amounts->count; i++)
        cube_sum_add(cell, amounts->add[i].metric, amounts->add[i].amount);
    time_add(&cell->doubt_ns[amounts->doubt], amounts->doubt_ns); /* without a doubt: 0 to WAIT_NONE */
    time_add(&cell->doubt_size_ns, amounts->doubt_size_ns);
    time_add(&cell->doubt_messages, amounts->doubt_messages);
}

/* Cells in which the location at hand computes: only these are looked at when it ends. */
static void touch(struct cube_table *table, struct cube_cell *cell)
{
    if (cell->touched)
        return;
    cell->touched = true;
    ARRAY_PUSH(table->touched, table->touched_count, table->touched_capacity, (uint32_t)(cell - table->cells));
}

/* Computing counts for the mean of all processes, including those outside the focus. */
static void add_gap(struct pass *pass, const struct cube_fact *fact, struct cube_focus *focus,
                    const struct amounts *amounts)
{
    bool inside = !focus->member || focus->member[fact->row];
    for (int axis = AXIS_WHY; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_cell *cell = NULL;
        if (axis == AXIS_WHY)
            cell = &focus->total;
        else if (focus->wanted[axis] && (inside || axis != AXIS_PROCESSES))
            cell = cube_cell_of(&focus->table[axis], (enum search_axis)axis, fact->key[axis]);
        if (!cell)
            continue;
        if (!pass->second)
            time_add(&cell->all_compute_ns, fact->ns);
        if (!inside)
            continue;
        if (!pass->second)
            cell_add(cell, amounts);
        time_add(&cell->location_compute_ns, fact->ns);
        if (axis != AXIS_WHY)
            touch(&focus->table[axis], cell);
    }
}

static void add_call(struct cube_focus *focus, const uint32_t *key, const struct amounts *amounts)
{
    cell_add(&focus->total, amounts);
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_cell *cell = NULL;
        if (focus->wanted[axis])
            cell = cube_cell_of(&focus->table[axis], (enum search_axis)axis, key[axis]);
        if (cell)
            cell_add(cell, amounts);
    }
}

static void add_to_fitting(struct pass *pass, uint32_t row, const uint32_t *key, const struct amounts *amounts)
{
    for (size_t i = 0; i < pass->count; i++) {
        struct cube_focus *focus = &pass->foci[i];
        if ((!focus->member || focus->member[row]) && fits(focus, key))
            add_call(focus, key, amounts);
    }
}

static void visit_gap(struct pass *pass, const struct cube_fact *fact)
{
    struct amounts amounts = {.count = 0};
    /* Serial: one computes alone, or nobody does until this one begins. */
    int64_t serial_ns = fact->alone_ns;
    time_add(&serial_ns, fact->none_ns);
    amount(&amounts, METRIC_compute, fact->ns);
    amount(&amounts, METRIC_alone, fact->alone_ns);
    amount(&amounts, METRIC_serial, serial_ns);
    for (size_t i = 0; i < pass->count; i++)
        if (fits(&pass->foci[i], fact->key))
            add_gap(pass, fact, &pass->foci[i], &amounts);
}

static void amount_of_class(struct amounts *amounts, enum function_class class, int64_t ns)
{
    static const struct {
        uint8_t metric, second; /* METRIC_COUNT: none */
    } by_class[] = {
        [CLASS_P2P] = {METRIC_p2p, METRIC_COUNT},     [CLASS_PROBE] = {METRIC_p2p, METRIC_probe},
        [CLASS_WAIT] = {METRIC_p2p, METRIC_COUNT},    [CLASS_COLLECTIVE] = {METRIC_collective, METRIC_COUNT},
        [CLASS_SYNC] = {METRIC_sync, METRIC_COUNT},   [CLASS_RMA] = {METRIC_rma, METRIC_COUNT},
        [CLASS_IO] = {METRIC_io, METRIC_COUNT},       [CLASS_SETUP] = {METRIC_setup, METRIC_COUNT},
        [CLASS_LOCAL] = {METRIC_setup, METRIC_COUNT},
    };
    amount(amounts, by_class[class].metric, ns);
    if (by_class[class].second != METRIC_COUNT)
        amount(amounts, by_class[class].second, ns);
}

/* Messages of a call: how many it sends, their bytes, and whether all of them are small. */
struct moved {
    int64_t sent, small, unknown;
    uint64_t bytes;
    bool any, any_large, any_unknown;
};

static void move(struct moved *moved, const struct message *message, bool sent)
{
    bool is_small = message->bytes != BYTES_UNKNOWN && message->bytes < SMALL_BYTES;
    moved->any = true;
    moved->any_unknown |= message->bytes == BYTES_UNKNOWN;
    moved->any_large |= message->bytes != BYTES_UNKNOWN && !is_small;
    if (!sent)
        return;
    moved->sent++;
    moved->small += is_small;
    moved->unknown += message->bytes == BYTES_UNKNOWN;
    if (message->bytes > 0)
        bytes_add(&moved->bytes, (uint64_t)message->bytes);
}

static struct moved moved_by(const struct graph *graph, const struct call *call)
{
    struct moved moved = {0};
    for (uint32_t at = call->sent; at; at = graph_next_sent(graph, at - 1)) {
        struct message message = graph_message(graph, at - 1);
        move(&moved, &message, true);
    }
    /* A probe finds the message that a receive will move: it is counted there. */
    if (graph_state(graph, call)->class == CLASS_PROBE)
        return moved;
    for (uint32_t at = call->received; at; at = graph_next_received(graph, at - 1)) {
        struct message message = graph_message(graph, at - 1);
        move(&moved, &message, false);
    }
    return moved;
}

/* Messages are counted where they are sent: at both ends each would count twice. */
static void amount_of_sends(struct amounts *amounts, const struct moved *moved)
{
    amount(amounts, METRIC_messages, moved->sent);
    amount(amounts, METRIC_bytes, (int64_t)smaller(moved->bytes, (uint64_t)INT64_MAX));
    amount(amounts, METRIC_small_messages, moved->small);
    amounts->doubt_messages = moved->unknown;
}

static void amount_of_messages(struct amounts *amounts, const struct moved *moved, int64_t own_ns)
{
    if (!moved->any)
        return;
    amount_of_sends(amounts, moved);
    if (!moved->any_large && moved->any_unknown)
        amounts->doubt_size_ns = own_ns;
    else if (!moved->any_large)
        amount(amounts, METRIC_small_time, own_ns);
}

/* The wait that the call may have but the trace cannot show: its root, its partner, or others are not recorded. */
static enum wait_kind doubt_of(const struct graph *graph, uint32_t location, const struct call *call)
{
    const struct state_def *state = graph_state(graph, call);
    const struct instance *instance = graph_instance(graph, call);
    struct collective collective = graph_collective(graph, call);
    enum wait_kind possible = (enum wait_kind)collective.wait;
    if (!instance && (collective_is_on_window(state) || collective.stage == STAGE_EPOCH))
        return graph_on_window(graph, call) ? WAIT_NONE : possible;
    if (!instance && (call->received || strcmp(state->name, "MPI_Recv") != 0))
        return WAIT_NONE;
    if (!instance) /* a receive without its message */
        return WAIT_LATE_SENDER;
    bool known = instance->complete;
    if (collective.shape == SHAPE_ONE_TO_ALL || collective.shape == SHAPE_ALL_TO_ONE)
        known = instance->root_location != GRAPH_NONE;
    if (collective.shape == SHAPE_NEIGHBOURS)
        known = graph_neighbours_known(graph, call->instance - 1, location);
    /* A call that only starts a collective does not wait; where it is completed, this is asked again. */
    if (known || collective.stage != STAGE_BLOCKING)
        return WAIT_NONE;
    return possible;
}

/* Waiting of others belongs to the process that causes it, wherever that is. */
static void add_caused(struct pass *pass, const struct wait *wait)
{
    const struct cube *cube = pass->cube;
    uint32_t key[SEARCH_AXIS_COUNT] = {CUBE_ANY};
    struct amounts amounts = {.count = 0};
    /* The place of the call that is waited for, not of the call at hand: found by bisection, as it is anywhere. */
    struct call cause = graph_call(cube->graph, wait->cause_location, wait->cause_call);
    cube_place_call(cube, wait->cause_location, &cause, pass->walk.messages, key);
    amount(&amounts, METRIC_caused, wait->ns);
    add_to_fitting(pass, cube->rows[wait->cause_location], key, &amounts);
}

static void amount_of_waits(struct pass *pass, const struct cube_fact *fact, const struct wait *wait, int64_t ns,
                            struct amounts *amounts)
{
    const struct graph *graph = pass->cube->graph;
    struct wait completion = wait_completion_of(graph, fact->location, fact->index);
    if (completion.kind != WAIT_NONE)
        amount(amounts, METRIC_WAITS + (unsigned)completion.kind, completion.ns);
    if (wait->kind != WAIT_NONE) {
        amount(amounts, METRIC_waiting, wait->ns);
        struct wait_parts parts = wait_parts(graph, fact->location, fact->index, wait);
        for (size_t i = 0; i < parts.count; i++)
            amount(amounts, METRIC_WAITS + (unsigned)parts.part[i].kind, parts.part[i].ns);
        if (pass->caused)
            add_caused(pass, wait);
    } else {
        amounts->doubt = doubt_of(graph, fact->location, &fact->call);
        if (amounts->doubt != WAIT_NONE)
            amounts->doubt_ns = ns;
    }
}

/* This many calls of a function that creates objects are for different objects; more often suggests a loop in which the
   same is made again. */
enum { MADE_FOR_ONCE = 2 };

static void amount_of_making(struct pass *pass, const struct cube_fact *fact, int64_t ns, struct amounts *amounts)
{
    const struct state_def *state = graph_state(pass->cube->graph, &fact->call);
    if (state->class == CLASS_SETUP && ++pass->made[state->first_of_name] > MADE_FOR_ONCE)
        amount(amounts, METRIC_setup_again, ns);
}

static void visit_call(struct pass *pass, const struct cube_fact *fact)
{
    const struct graph *graph = pass->cube->graph;
    const struct call *call = &fact->call;
    int64_t ns = time_since(call->enter_ns, call->leave_ns);
    struct wait wait = {0};
    struct amounts amounts = {.count = 0};
    amount(&amounts, METRIC_calls, 1);
    amount(&amounts, METRIC_mpi, ns);
    amount_of_class(&amounts, graph_state(graph, call)->class, ns);
    amount_of_making(pass, fact, ns, &amounts);
    if (pass->waits) {
        wait = wait_of(graph, fact->location, fact->index);
        amount_of_waits(pass, fact, &wait, ns, &amounts);
    }
    if (pass->sizes) {
        struct moved moved = moved_by(graph, call);
        amount_of_messages(&amounts, &moved, time_since(wait.ns, ns));
    }
    add_to_fitting(pass, fact->row, fact->key, &amounts);
}

/* True if a focus is of calls alone: what counters have while computing before them is not theirs. */
static bool is_of_calls(const struct cube_focus *focus)
{
    for (int axis = AXIS_FUNCTIONS; axis <= AXIS_TAGS; axis++)
        if (focus->key[axis] != CUBE_ANY)
            return true;
    return focus->functions != NULL;
}

static void meter_focus(struct cube_focus *focus, const struct cube_fact *fact, const struct counter_amount *amounts)
{
    cube_meter_add(&focus->total.counters, amounts);
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        bool of_calls = axis >= AXIS_FUNCTIONS && axis <= AXIS_TAGS;
        struct cube_cell *cell = NULL;
        if (focus->wanted[axis] && (fact->is_call || !of_calls))
            cell = cube_cell_of(&focus->table[axis], (enum search_axis)axis, fact->key[axis]);
        if (cell)
            cube_meter_add(&cell->counters, amounts);
    }
}

/* What counters have in a call, or in a piece of computing. */
static void visit_meter(const struct pass *pass, const struct cube_fact *fact)
{
    struct counter_amount amounts[METER_COUNTERS];
    int64_t end_ns = fact->call.leave_ns;
    if (!fact->is_call)
        end_ns = fact->begin_ns + fact->ns;
    cube_meter_read(pass->cube->meter, fact->location, fact->begin_ns, end_ns, amounts);
    for (size_t i = 0; i < pass->count; i++) {
        struct cube_focus *focus = &pass->foci[i];
        bool member = !focus->member || focus->member[fact->row];
        if (member && fits(focus, fact->key) && (fact->is_call || !is_of_calls(focus)))
            meter_focus(focus, fact, amounts);
    }
}

static void visit(void *context, const struct cube_fact *fact)
{
    struct pass *pass = context;
    if (pass->cube->meter && !pass->second)
        visit_meter(pass, fact);
    if (fact->is_call)
        visit_call(pass, fact);
    else
        visit_gap(pass, fact);
}

/* The location is finished: its computing in each cell is known. */
static void end_location_of_cell(const struct pass *pass, struct cube_cell *cell, int64_t all_compute_ns)
{
    /* Overload is what the location computes beyond the mean of all locations, which the first pass has summed up. */
    int64_t ns = cell->location_compute_ns;
    if (pass->second)
        time_add(&cell->sums[METRIC_overload], cube_beyond_mean(ns, all_compute_ns, pass->cube->graph->location_count));
    else if (ns > cell->most_compute_ns)
        cell->most_compute_ns = ns;
    cell->location_compute_ns = 0;
    cell->touched = false;
}

static void end_location(const struct pass *pass, struct cube_focus *focus, uint32_t location)
{
    struct cube_cell *total = &focus->total;
    if (!pass->second)
        focus->location_compute_ns[location] = total->location_compute_ns;
    if (!pass->second && total->location_compute_ns > total->most_compute_ns)
        total->most_compute_ns = total->location_compute_ns;
    total->location_compute_ns = 0;
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_table *table = &focus->table[axis];
        for (size_t i = 0; i < table->touched_count; i++) {
            struct cube_cell *cell = &table->cells[table->touched[i]];
            /* The cell of a process has only its own computing: the mean is that of the focus. */
            int64_t all_ns = cell->all_compute_ns;
            if (axis == AXIS_PROCESSES)
                all_ns = total->all_compute_ns;
            end_location_of_cell(pass, cell, all_ns);
        }
        table->touched_count = 0;
    }
}

/* The metrics requested of any focus: computing what nobody asks for takes most of the time of a pass. */
static void find_wants(struct pass *pass, bool *overload)
{
    for (size_t i = 0; i < pass->count; i++) {
        const struct cube_focus *focus = &pass->foci[i];
        const bool *uses = focus->uses;
        bool divided = false;
        for (int axis = AXIS_COMMUNICATORS; axis <= AXIS_TAGS; axis++)
            pass->walk.messages |= focus->wanted[axis] || focus->key[axis] != CUBE_ANY;
        for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++)
            divided |= focus->wanted[axis];
        for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
            pass->waits |= uses[metric] && metric_needs_clocks(metric);
        pass->waits |= uses[METRIC_small_time];
        pass->caused |= uses[METRIC_caused];
        pass->sizes |=
            uses[METRIC_messages] || uses[METRIC_small_messages] || uses[METRIC_small_time] || uses[METRIC_bytes];
        pass->walk.gaps |= uses[METRIC_compute] || uses[METRIC_imbalance] || uses[METRIC_overload] ||
                           uses[METRIC_alone] || uses[METRIC_serial];
        *overload |= uses[METRIC_overload] && divided;
    }
}

/* Sends that no call has, of locations [first, end). They take no time of their own. */
static void visit_loose_sends(struct pass *pass, uint32_t first, uint32_t end)
{
    const struct graph *graph = pass->cube->graph;
    for (size_t i = 0; i < graph->loose_send_count; i++) {
        const struct loose_send *send = &graph->loose_sends[i];
        if (send->location < first || send->location >= end)
            continue;
        uint32_t key[SEARCH_AXIS_COUNT];
        struct message message = graph_message(graph, send->message);
        struct moved moved = {0};
        struct amounts amounts = {.count = 0};
        move(&moved, &message, true);
        amount_of_sends(&amounts, &moved);
        cube_place_loose(pass->cube, send, key);
        add_to_fitting(pass, pass->cube->rows[send->location], key, &amounts);
    }
}

/* Locations [first, end) of a pass, in foci of its own. */
struct share {
    struct pass pass;
    uint32_t first, end;
};

static void run_share(void *context, size_t index)
{
    struct share *share = &((struct share *)context)[index];
    struct pass *pass = &share->pass;
    size_t states = pass->cube->graph->defs->state_count;
    pass->walk.gaps |= pass->cube->meter != NULL;
    pass->made = memory_new(states * sizeof *pass->made);
    /* Location by location: imbalance compares the computing of one with that of all, cell by cell. */
    for (uint32_t location = share->first; location < share->end; location++) {
        memset(pass->made, 0, states * sizeof *pass->made);
        cube_walk_location(pass->cube, location, pass->walk, visit, pass);
        for (size_t i = 0; i < pass->count; i++)
            end_location(pass, &pass->foci[i], location);
    }
    if (pass->sizes && !pass->second)
        visit_loose_sends(pass, share->first, share->end);
    free(pass->made);
}

/* Too few calls are not worth a thread. If an axis has too many values, the order of the calls decides which are kept:
   then there is one share. */
static size_t share_count(const struct pass *pass, uint64_t calls, unsigned threads)
{
    enum { CALLS_LEAST = 2000 };
    /* Amounts of counters are no integers: their sums depend on the order. */
    if (pass->cube->meter)
        return 1;
    for (size_t i = 0; i < pass->count; i++)
        for (int axis = AXIS_PROCESSES + 1; axis < SEARCH_AXIS_COUNT; axis++)
            if (pass->foci[i].table[axis].domain > CUBE_CELLS)
                return 1;
    uint64_t most = calls / CALLS_LEAST + 1;
    return (size_t)smaller(most, (uint64_t)larger(threads, 1U));
}

/* Shares of about as many calls each; the first has the pass's own foci. */
static void run_pass(const struct pass *pass, unsigned threads)
{
    const struct graph *graph = pass->cube->graph;
    uint64_t calls = 0, before = 0;
    for (size_t i = 0; i < graph->location_count; i++)
        calls += graph->locations[i].count;
    size_t count = share_count(pass, calls, threads);
    struct share *shares = memory_new(count * sizeof *shares);
    uint32_t location = 0;
    for (size_t i = 0; i < count; i++) {
        shares[i] = (struct share){.pass = *pass, .first = location};
        for (; location < graph->location_count && (i + 1 == count || before * count < calls * (i + 1)); location++)
            before += graph->locations[location].count;
        shares[i].end = location;
        if (i > 0)
            shares[i].pass.foci = cube_foci_share(pass->foci, pass->count);
    }
    /* Shares touch no common data; they are joined in order, so that results do not depend on the threads. */
    parallel_run(threads, count, run_share, shares);
    for (size_t i = 1; i < count; i++)
        cube_foci_join(pass->foci, shares[i].pass.foci, pass->count, pass->second);
    free(shares);
}

void cube_ask(const struct cube *cube, struct cube_focus *foci, size_t count, unsigned threads)
{
    struct pass pass = {.cube = cube, .foci = foci, .count = count, .walk = {.calls = true}};
    bool overload = false;
    for (size_t i = 0; i < count; i++)
        cube_focus_begin(cube, &foci[i]);
    find_wants(&pass, &overload);
    run_pass(&pass, threads);
    /* Only gaps matter to overload. */
    pass.second = true;
    pass.walk.calls = false;
    if (overload)
        run_pass(&pass, threads);
    for (size_t i = 0; i < count; i++)
        cube_focus_end(cube, &foci[i]);
}
