/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cube.h"

#include "core/memory.h"
#include "replay/collective.h"
#include "replay/wait.h"
#include "search/cube_walk.h"

#include <math.h>
#include <string.h>

/* A message below this is small. */
static const int64_t SMALL_BYTES = 1024;

/* Making it */

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void find_rows(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    cube->rows = memory_new(graph->lane_count * sizeof *cube->rows);
    cube->ranks = memory_new(graph->lane_count * sizeof *cube->ranks);
    for (size_t i = 0; i < graph->lane_count; i++)
        cube->ranks[i] = graph->lanes[i].process;
    if (graph->lane_count > 0)
        qsort(cube->ranks, graph->lane_count, sizeof *cube->ranks, by_number);
    for (size_t i = 0; i < graph->lane_count; i++)
        if (i == 0 || cube->ranks[i] != cube->ranks[cube->row_count - 1])
            cube->ranks[cube->row_count++] = cube->ranks[i];
    for (size_t i = 0; i < graph->lane_count; i++) {
        const uint32_t *row =
            bsearch(&graph->lanes[i].process, cube->ranks, cube->row_count, sizeof *cube->ranks, by_number);
        cube->rows[i] = (uint32_t)(row - cube->ranks);
    }
}

static int by_tag(const void *a, const void *b)
{
    const int32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void number_tags(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    size_t count = graph->channel_count;
    cube->tags = memory_new(count * sizeof *cube->tags);
    cube->channel_tags = memory_new(count * sizeof *cube->channel_tags);
    for (size_t i = 0; i < count; i++)
        cube->tags[i] = graph->channels[i].tag;
    if (count > 0)
        qsort(cube->tags, count, sizeof *cube->tags, by_tag);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || cube->tags[i] != cube->tags[cube->tag_count - 1])
            cube->tags[cube->tag_count++] = cube->tags[i];
    for (size_t i = 0; i < count; i++) {
        const int32_t *tag = bsearch(&graph->channels[i].tag, cube->tags, cube->tag_count, sizeof *cube->tags, by_tag);
        cube->channel_tags[i] = *tag == EVENT_UNKNOWN ? (uint32_t)CUBE_ANY : (uint32_t)(tag - cube->tags);
    }
}

static void find_states(struct cube *cube, const struct state_track *states)
{
    struct map lanes = {0};
    for (size_t i = 0; states && i < states->count; i++)
        map_put(&lanes, map_pair(states->lanes[i].process, states->lanes[i].thread), i);
    cube->state_lanes = memory_new(cube->graph->lane_count * sizeof *cube->state_lanes);
    for (size_t i = 0; i < cube->graph->lane_count; i++) {
        const struct lane *lane = &cube->graph->lanes[i];
        const uint64_t *found = map_find(&lanes, map_pair(lane->process, lane->thread));
        cube->state_lanes[i] = found ? &states->lanes[*found] : NULL;
    }
    map_clear(&lanes);
}

static void find_span(struct cube *cube)
{
    const struct graph *graph = cube->graph;
    for (size_t i = 0; i < graph->lane_count; i++) {
        const struct lane *lane = &graph->lanes[i];
        cube->begin_ns = i == 0 || lane->begin_ns < cube->begin_ns ? lane->begin_ns : cube->begin_ns;
        cube->end_ns = i == 0 || lane->end_ns > cube->end_ns ? lane->end_ns : cube->end_ns;
        time_add(&cube->run_ns, time_since(lane->begin_ns, lane->end_ns));
    }
}

/* Very many iterations are taken together: every block-th border. */
static void find_iterations(struct cube *cube, const struct phases *phases)
{
    size_t count = phases->loops.rows[phases->main_loop].matched, rows = phases->loops.process_count;
    const int64_t *borders = phases->loops.starts[phases->main_loop];
    cube->block = (count + CUBE_ITERATIONS - 1) / CUBE_ITERATIONS;
    cube->iterations = (struct cube_cuts){count, borders};
    if (cube->block < 2)
        return;
    size_t blocks = (count + cube->block - 1) / cube->block;
    cube->own_borders = memory_new(rows * (blocks + 1) * sizeof *cube->own_borders);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i <= blocks; i++)
            cube->own_borders[row * (blocks + 1) + i] =
                borders[row * (count + 1) + (i < blocks ? i * cube->block : count)];
    cube->iterations = (struct cube_cuts){blocks, cube->own_borders};
}

struct cube *cube_new(const struct graph *graph, const struct state_track *states, const struct phases *phases,
                      bool solo)
{
    struct cube *cube = memory_new(sizeof *cube);
    cube->graph = graph;
    find_rows(cube);
    number_tags(cube);
    find_states(cube, states);
    find_span(cube);
    if (phases) {
        cube->phases = (struct cube_cuts){phases->count, phases->begins};
        if (phases->main_loop != PHASE_NONE)
            find_iterations(cube, phases);
    }
    if (solo)
        cube->solo = solo_of(graph);
    return cube;
}

void cube_free(struct cube *cube)
{
    if (!cube)
        return;
    free(cube->rows);
    free(cube->ranks);
    free(cube->tags);
    free(cube->channel_tags);
    free(cube->state_lanes);
    free(cube->own_borders);
    solo_clear(&cube->solo);
    free(cube);
}

/* Foci */

struct cube_focus cube_focus_whole(void)
{
    struct cube_focus focus = {0};
    for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++)
        focus.key[axis] = CUBE_ANY;
    return focus;
}

void cube_focus_clear(struct cube_focus *focus)
{
    for (int axis = 0; axis < SEARCH_AXIS_COUNT; axis++) {
        free(focus->table[axis].cells);
        focus->table[axis] = (struct cube_table){0};
    }
}

static size_t domain_of(const struct cube *cube, enum search_axis axis)
{
    const struct defs *defs = cube->graph->defs;
    switch (axis) {
    case AXIS_PROCESSES:
        return cube->row_count;
    case AXIS_FUNCTIONS:
    case AXIS_STATES:
        return defs->state_count;
    case AXIS_SITES:
        return defs->site_count;
    case AXIS_COMMUNICATORS:
        return defs->comm_count;
    case AXIS_TAGS:
        return cube->tag_count;
    case AXIS_PHASES:
        return cube->phases.count;
    case AXIS_ITERATIONS:
        return cube->iterations.count;
    default:
        return 0;
    }
}

static struct cube_cell *cell_of(struct cube_table *table, enum search_axis axis, uint32_t key)
{
    if (key >= table->domain)
        return NULL;
    if (!table->places[key]) {
        if (table->count == CUBE_CELLS && axis != AXIS_PROCESSES) {
            table->overflow = true;
            return NULL;
        }
        ARRAY_PUSH(table->cells, table->count, table->capacity, (struct cube_cell){.key = key});
        table->places[key] = (uint32_t)table->count;
    }
    return &table->cells[table->places[key] - 1];
}

/* To be called before its lanes are counted. */
static void widen(struct cube_cell *cell, int64_t begin_ns, int64_t end_ns)
{
    cell->begin_ns = cell->lanes == 0 || begin_ns < cell->begin_ns ? begin_ns : cell->begin_ns;
    cell->end_ns = cell->lanes == 0 || end_ns > cell->end_ns ? end_ns : cell->end_ns;
}

/* The lane's time in a part, where it has any; `again`: the lane is counted already. */
static void count_lane(const struct cube *cube, struct cube_cell *cell, uint32_t lane, const struct cube_cuts *cuts,
                       uint32_t part, bool *again)
{
    int64_t begin_ns, end_ns;
    if (!cell || !cube_time_in(cube, lane, cuts, part, &begin_ns, &end_ns))
        return;
    widen(cell, begin_ns, end_ns);
    cell->lanes += !*again;
    *again = true;
    time_add(&cell->sums[METRIC_time], time_since(begin_ns, end_ns));
}

/* All that a focus has of a lane: its iterations, or its phase, or all. */
static void count_span(const struct cube *cube, const struct cube_focus *focus, struct cube_cell *cell, uint32_t lane)
{
    bool again = false;
    for (size_t i = 0; i < focus->iteration_count; i++)
        count_lane(cube, cell, lane, &cube->iterations, focus->iterations[i], &again);
    if (!focus->iterations)
        count_lane(cube, cell, lane, &cube->phases, focus->key[AXIS_PHASES], &again);
}

static void count_parts(const struct cube *cube, struct cube_focus *focus, uint32_t lane, enum search_axis axis,
                        const struct cube_cuts *cuts)
{
    for (uint32_t i = 0; focus->wanted[axis] && i < cuts->count; i++) {
        bool again = false;
        count_lane(cube, cell_of(&focus->table[axis], axis, i), lane, cuts, i, &again);
    }
}

/* Spans of a lane in a focus: of its total, its process, and of phases and iterations where it is divided by these. */
static void count_spans(const struct cube *cube, struct cube_focus *focus, uint32_t lane)
{
    count_span(cube, focus, &focus->total, lane);
    if (focus->wanted[AXIS_PROCESSES])
        count_span(cube, focus, cell_of(&focus->table[AXIS_PROCESSES], AXIS_PROCESSES, cube->rows[lane]), lane);
    count_parts(cube, focus, lane, AXIS_PHASES, &cube->phases);
    count_parts(cube, focus, lane, AXIS_ITERATIONS, &cube->iterations);
}

static bool *bits_of(const uint32_t *numbers, size_t count, size_t all)
{
    bool *bits = numbers ? memory_new(all) : NULL;
    for (size_t i = 0; i < count; i++)
        bits[numbers[i]] = true;
    return bits;
}

static void focus_begin(const struct cube *cube, struct cube_focus *focus)
{
    focus->total = (struct cube_cell){.key = CUBE_ANY};
    focus->member = bits_of(focus->rows, focus->row_count, cube->row_count);
    focus->in_iteration = bits_of(focus->iterations, focus->iteration_count, cube->iterations.count);
    focus->lane_compute_ns = memory_new(cube->graph->lane_count * sizeof *focus->lane_compute_ns);
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_table *table = &focus->table[axis];
        if (!focus->wanted[axis])
            continue;
        table->domain = domain_of(cube, (enum search_axis)axis);
        table->places = memory_new(table->domain * sizeof *table->places);
    }
    for (uint32_t lane = 0; lane < cube->graph->lane_count; lane++)
        if (!focus->member || focus->member[cube->rows[lane]])
            count_spans(cube, focus, lane);
}

/* Summing */

/* What a fact adds. */
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
};

static bool fits(const struct cube_focus *focus, const uint32_t *key)
{
    for (int axis = AXIS_FUNCTIONS; axis < AXIS_ITERATIONS; axis++)
        if (focus->key[axis] != CUBE_ANY && focus->key[axis] != key[axis])
            return false;
    uint32_t iteration = key[AXIS_ITERATIONS];
    return !focus->in_iteration || (iteration != CUBE_ANY && focus->in_iteration[iteration]);
}

static void cell_add(struct cube_cell *cell, const struct amounts *amounts)
{
    for (size_t i = 0; i < amounts->count; i++)
        time_add(&cell->sums[amounts->add[i].metric], amounts->add[i].amount);
    time_add(&cell->doubt_ns[amounts->doubt], amounts->doubt_ns);
    time_add(&cell->doubt_size_ns, amounts->doubt_size_ns);
    time_add(&cell->doubt_messages, amounts->doubt_messages);
}

static void touch(struct cube_table *table, struct cube_cell *cell)
{
    if (cell->touched)
        return;
    cell->touched = true;
    ARRAY_PUSH(table->touched, table->touched_count, table->touched_capacity, (uint32_t)(cell - table->cells));
}

/* Computing counts to the mean of all processes, even of those outside the focus. */
static void add_gap(struct pass *pass, const struct cube_fact *fact, struct cube_focus *focus,
                    const struct amounts *amounts)
{
    bool inside = !focus->member || focus->member[fact->row];
    for (int axis = AXIS_WHY; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_cell *cell = axis == AXIS_WHY ? &focus->total : NULL;
        if (axis != AXIS_WHY && focus->wanted[axis] && (inside || axis != AXIS_PROCESSES))
            cell = cell_of(&focus->table[axis], (enum search_axis)axis, fact->key[axis]);
        if (!cell)
            continue;
        if (!pass->second)
            time_add(&cell->all_compute_ns, fact->ns);
        if (!inside)
            continue;
        if (!pass->second)
            cell_add(cell, amounts);
        time_add(&cell->lane_compute_ns, fact->ns);
        if (axis != AXIS_WHY)
            touch(&focus->table[axis], cell);
    }
}

static void add_call(struct cube_focus *focus, const uint32_t *key, const struct amounts *amounts)
{
    cell_add(&focus->total, amounts);
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_cell *cell =
            focus->wanted[axis] ? cell_of(&focus->table[axis], (enum search_axis)axis, key[axis]) : NULL;
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

/* Messages of a call: how many it sends, of how many bytes, and whether all that it moves are small. */
struct moved {
    int64_t sent, bytes, small, unknown;
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
        time_add(&moved->bytes, message->bytes);
}

static struct moved moved_by(const struct graph *graph, const struct call *call)
{
    struct moved moved = {0};
    for (uint32_t at = call->sent; at;) {
        struct message message = graph_message(graph, at - 1);
        move(&moved, &message, true);
        at = message.next_sent;
    }
    bool is_probe = graph_state(graph, call)->class == CLASS_PROBE;
    for (uint32_t at = is_probe ? 0 : call->received; at;) {
        struct message message = graph_message(graph, at - 1);
        move(&moved, &message, false);
        at = message.next_received;
    }
    return moved;
}

static void amount_of_messages(struct amounts *amounts, const struct moved *moved, int64_t own_ns)
{
    if (!moved->any)
        return;
    amount(amounts, METRIC_messages, moved->sent);
    amount(amounts, METRIC_bytes, moved->bytes);
    amount(amounts, METRIC_small_messages, moved->small);
    amounts->doubt_messages = moved->unknown;
    if (!moved->any_large && moved->any_unknown)
        amounts->doubt_size_ns = own_ns;
    else if (!moved->any_large)
        amount(amounts, METRIC_small_time, own_ns);
}

/* Which wait the call could have that the trace does not tell of: its root, its partner, or others are not recorded. */
static enum wait_kind doubt_of(const struct graph *graph, const struct call *call)
{
    const struct state_def *state = graph_state(graph, call);
    const struct group *group = graph_group(graph, call);
    if (!group)
        return !call->received && strcmp(state->name, "MPI_Recv") == 0 ? WAIT_LATE_SENDER : WAIT_NONE;
    struct collective collective = graph_collective(graph, call);
    bool rooted = collective.shape == SHAPE_ONE_TO_ALL || collective.shape == SHAPE_ALL_TO_ONE;
    bool told = rooted ? group->root_lane != GRAPH_NONE : group->complete;
    return told || collective.stage != STAGE_BLOCKING ? WAIT_NONE : (enum wait_kind)collective.wait;
}

/* What others wait for is theirs who cause it, wherever that is. */
static void add_caused(struct pass *pass, const struct wait *wait)
{
    const struct cube *cube = pass->cube;
    uint32_t key[SEARCH_AXIS_COUNT] = {CUBE_ANY};
    struct amounts amounts = {.count = 0};
    struct call cause = graph_call(cube->graph, wait->cause_lane, wait->cause_call);
    cube_place_call(cube, wait->cause_lane, &cause, pass->walk.messages, key);
    amount(&amounts, METRIC_caused, wait->ns);
    add_to_fitting(pass, cube->rows[wait->cause_lane], key, &amounts);
}

static void amount_of_waits(struct pass *pass, const struct cube_fact *fact, const struct wait *wait, int64_t ns,
                            struct amounts *amounts)
{
    const struct graph *graph = pass->cube->graph;
    struct wait completion = wait_completion_of(graph, fact->lane, fact->index);
    if (completion.kind != WAIT_NONE)
        amount(amounts, METRIC_WAITS + (unsigned)completion.kind, completion.ns);
    if (wait->kind != WAIT_NONE) {
        amount(amounts, METRIC_waiting, wait->ns);
        amount(amounts, METRIC_WAITS + (unsigned)wait->kind, wait->ns);
        if (pass->caused)
            add_caused(pass, wait);
    } else {
        amounts->doubt = doubt_of(graph, &fact->call);
        amounts->doubt_ns = amounts->doubt == WAIT_NONE ? 0 : ns;
    }
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
    if (pass->waits) {
        wait = wait_of(graph, fact->lane, fact->index);
        amount_of_waits(pass, fact, &wait, ns, &amounts);
    }
    if (pass->sizes) {
        struct moved moved = moved_by(graph, call);
        amount_of_messages(&amounts, &moved, time_since(wait.ns, ns));
    }
    add_to_fitting(pass, fact->row, fact->key, &amounts);
}

static void visit(void *context, const struct cube_fact *fact)
{
    struct pass *pass = context;
    if (fact->is_call)
        visit_call(pass, fact);
    else
        visit_gap(pass, fact);
}

/* What a lane computes beyond the mean of all. */
static int64_t beyond_mean(int64_t lane_ns, int64_t all_ns, size_t lanes)
{
    double beyond = (double)lane_ns - (double)all_ns / (double)lanes;
    return beyond > 0 ? llround(fmin(beyond, 9e18)) : 0;
}

/* The lane is done: what it computes in each cell is known. */
static void end_lane_of_cell(const struct pass *pass, struct cube_cell *cell, int64_t all_compute_ns)
{
    int64_t ns = cell->lane_compute_ns;
    if (pass->second)
        time_add(&cell->sums[METRIC_overload], beyond_mean(ns, all_compute_ns, pass->cube->graph->lane_count));
    else if (ns > cell->most_compute_ns)
        cell->most_compute_ns = ns;
    cell->lane_compute_ns = 0;
    cell->touched = false;
}

static void end_lane(const struct pass *pass, struct cube_focus *focus, uint32_t lane)
{
    struct cube_cell *total = &focus->total;
    if (!pass->second)
        focus->lane_compute_ns[lane] = total->lane_compute_ns;
    if (!pass->second && total->lane_compute_ns > total->most_compute_ns)
        total->most_compute_ns = total->lane_compute_ns;
    total->lane_compute_ns = 0;
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_table *table = &focus->table[axis];
        for (size_t i = 0; i < table->touched_count; i++) {
            struct cube_cell *cell = &table->cells[table->touched[i]];
            end_lane_of_cell(pass, cell, axis == AXIS_PROCESSES ? total->all_compute_ns : cell->all_compute_ns);
        }
        table->touched_count = 0;
    }
}

static int by_key(const void *a, const void *b)
{
    const struct cube_cell *left = a, *right = b;
    return (left->key > right->key) - (left->key < right->key);
}

static void book_imbalance(struct cube_cell *cell, uint64_t lanes)
{
    double ns = (double)cell->most_compute_ns * (double)lanes - (double)cell->sums[METRIC_compute];
    cell->sums[METRIC_imbalance] = ns > 0 ? llround(fmin(ns, 9e18)) : 0;
}

static void focus_end(const struct cube *cube, struct cube_focus *focus)
{
    size_t lanes = cube->graph->lane_count;
    book_imbalance(&focus->total, focus->total.lanes);
    for (size_t i = 0; i < lanes; i++)
        time_add(&focus->total.sums[METRIC_overload],
                 beyond_mean(focus->lane_compute_ns[i], focus->total.all_compute_ns, lanes));
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++) {
        struct cube_table *table = &focus->table[axis];
        for (size_t i = 0; i < table->count; i++)
            book_imbalance(&table->cells[i], axis == AXIS_PROCESSES ? table->cells[i].lanes : focus->total.lanes);
        if (table->count > 0)
            qsort(table->cells, table->count, sizeof *table->cells, by_key);
        free(table->places);
        free(table->touched);
        table->places = table->touched = NULL;
        table->touched_capacity = 0;
    }
    free(focus->lane_compute_ns);
    free(focus->member);
    free(focus->in_iteration);
    focus->lane_compute_ns = NULL;
    focus->member = focus->in_iteration = NULL;
}

/* What is wanted of any focus. */
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

static void run_pass(struct pass *pass)
{
    for (uint32_t lane = 0; lane < pass->cube->graph->lane_count; lane++) {
        cube_walk_lane(pass->cube, lane, pass->walk, visit, pass);
        for (size_t i = 0; i < pass->count; i++)
            end_lane(pass, &pass->foci[i], lane);
    }
}

void cube_ask(const struct cube *cube, struct cube_focus *foci, size_t count)
{
    struct pass pass = {.cube = cube, .foci = foci, .count = count, .walk = {.calls = true}};
    bool overload = false;
    for (size_t i = 0; i < count; i++)
        focus_begin(cube, &foci[i]);
    find_wants(&pass, &overload);
    run_pass(&pass);
    pass.second = true;
    pass.walk.calls = false;
    if (overload)
        run_pass(&pass);
    for (size_t i = 0; i < count; i++)
        focus_end(cube, &foci[i]);
}

void cube_cell_add(enum search_axis axis, struct cube_cell *sum, const struct cube_cell *cell)
{
    widen(sum, cell->begin_ns, cell->end_ns);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        time_add(&sum->sums[metric], cell->sums[metric]);
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
        time_add(&sum->doubt_ns[kind], cell->doubt_ns[kind]);
    time_add(&sum->doubt_size_ns, cell->doubt_size_ns);
    time_add(&sum->doubt_messages, cell->doubt_messages);
    if (axis != AXIS_PROCESSES) {
        sum->lanes = cell->lanes > sum->lanes ? cell->lanes : sum->lanes;
        return;
    }
    sum->lanes += cell->lanes;
    sum->most_compute_ns = cell->most_compute_ns > sum->most_compute_ns ? cell->most_compute_ns : sum->most_compute_ns;
    book_imbalance(sum, sum->lanes);
}

/* Values */

static bool add_doubts(const struct cube_focus *focus, const struct cube_cell *cell, double doubts[METRIC_COUNT])
{
    double waits = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++) {
        doubts[METRIC_WAITS + kind] += (double)cell->doubt_ns[kind] / 1e9;
        waits += (double)cell->doubt_ns[kind] / 1e9;
    }
    doubts[METRIC_waiting] += waits;
    bool whole = cell == &focus->total && !focus->rows && !focus->iterations;
    for (int axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++)
        whole &= focus->key[axis] == CUBE_ANY;
    doubts[METRIC_caused] += whole ? waits : 0;
    doubts[METRIC_small_time] += (double)cell->doubt_size_ns / 1e9;
    doubts[METRIC_small_messages] += (double)cell->doubt_messages;
    /* Nothing bounds what is not told. */
    if (cell->doubt_messages > 0)
        doubts[METRIC_bytes] = INFINITY;
    return waits > 0 || cell->doubt_messages > 0 || cell->doubt_size_ns > 0;
}

bool cube_values(const struct cube *cube, const struct cube_focus *focus, enum search_axis axis,
                 const struct cube_cell *cell, double values[METRIC_COUNT], double doubts[METRIC_COUNT])
{
    bool own_span = axis == AXIS_PROCESSES || axis == AXIS_PHASES || axis == AXIS_ITERATIONS;
    const struct cube_cell *span = own_span ? cell : &focus->total;
    bool part =
        axis == AXIS_PHASES || axis == AXIS_ITERATIONS || focus->key[AXIS_PHASES] != CUBE_ANY || focus->iterations;
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        values[metric] = (double)cell->sums[metric];
    values[METRIC_run] = (double)cube->run_ns;
    values[METRIC_time] = (double)span->sums[METRIC_time];
    values[METRIC_processes] = (double)span->lanes;
    values[METRIC_duration] =
        part ? (double)time_since(span->begin_ns, span->end_ns) : (double)time_since(cube->begin_ns, cube->end_ns);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        values[metric] /= metric_unit(metric).seconds ? 1e9 : 1;
    if (!doubts)
        return false;
    memcpy(doubts, values, METRIC_COUNT * sizeof *doubts);
    return add_doubts(focus, cell, doubts);
}
