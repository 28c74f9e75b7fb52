/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/common_loops.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "phases/team_loops.h"

#include <string.h>

/* Processes */

static int by_number(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return order_by(*left, *right);
}

static void find_processes(const struct graph *graph, struct common_loops *loops)
{
    uint32_t *ranks = memory_new(graph->location_count * sizeof *ranks);
    loops->processes = memory_new(graph->location_count * sizeof *loops->processes);
    for (size_t i = 0; i < graph->location_count; i++)
        ranks[i] = graph->locations[i].process;
    if (graph->location_count > 0)
        qsort(ranks, graph->location_count, sizeof *ranks, by_number);
    for (size_t i = 0; i < graph->location_count; i++)
        if (i == 0 || ranks[i] != ranks[loops->process_count - 1])
            ranks[loops->process_count++] = ranks[i];
    loops->locations = memory_new(loops->process_count * sizeof *loops->locations);
    loops->roles = memory_new(loops->process_count * sizeof *loops->roles);
    for (size_t i = 0; i < loops->process_count; i++) {
        loops->locations[i] = GRAPH_NONE;
        loops->roles[i] = PHASE_NONE;
    }
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const uint32_t *rank =
            bsearch(&graph->locations[i].process, ranks, loops->process_count, sizeof *ranks, by_number);
        uint32_t process = loops->processes[i] = (uint32_t)(rank - ranks);
        uint32_t *location = &loops->locations[process];
        /* The thread with the most calls stands for its process. */
        if (*location == GRAPH_NONE || graph->locations[i].count > graph->locations[*location].count)
            *location = i;
    }
    free(ranks);
}

/* Teams */

static int by_members(const void *a, const void *b)
{
    const struct team *left = a, *right = b;
    int order = order_by(right->count, left->count);
    return order ? order : order_by(left->members[0], right->members[0]);
}

static void make_teams(struct finder *finder)
{
    struct map known = {0};
    for (uint32_t i = 0; i < finder->loops->process_count; i++) {
        const struct location_signature *signature = &finder->signatures[i];
        uint64_t key = signature->calls;
        if (finder->which == LOCATION_WORLD)
            key = signature->world >> 1;
        uint64_t *team = map_put(&known, key, finder->count);
        if (*team == finder->count)
            ARRAY_PUSH(finder->teams, finder->count, finder->capacity,
                       (struct team){.signature = key, .role = PHASE_NONE});
        struct team *at = &finder->teams[*team];
        ARRAY_PUSH(at->members, at->count, at->capacity, i);
    }
    map_clear(&known);
    if (finder->count > 0)
        qsort(finder->teams, finder->count, sizeof *finder->teams, by_members);
}

/* The begins of iterations are no longer needed. */
static void drop_starts(struct team *team)
{
    for (size_t i = 0; i < team->row_count; i++) {
        free(team->starts[i]);
        free(team->facts[i]);
        team->starts[i] = NULL;
        team->facts[i] = NULL;
    }
}

static void team_clear(struct team *team)
{
    drop_starts(team);
    for (size_t i = 0; i < team->row_count; i++)
        free(team->rows[i].name);
    free(team->members);
    free(team->rows);
    free(team->bodies);
    free(team->starts);
    free(team->facts);
    free(team->common);
}

static void teams_clear(struct finder *finder)
{
    for (size_t i = 0; i < finder->count; i++)
        team_clear(&finder->teams[i]);
    free(finder->teams);
    finder->teams = NULL;
    finder->count = finder->capacity = 0;
}

/* Loops that two teams have in common */

static bool matters(const struct team *team, size_t row)
{
    const struct loop_row *loop = &team->rows[row];
    return loop->depth == 1 && loop->least >= COMMON_LEAST &&
           loop_is_bottleneck(loop->time_ns, team->rows[0].time_ns, COMMON_SHARE);
}

/* The loops inside a pair of loops that are the same: by their bodies, in order; by their order where there are as
   many. */
static void match_inner(const struct team *model, struct team *team, uint32_t outer)
{
    size_t mine = 0, theirs = 0, next = 0;
    uint32_t around = team->common[outer];
    for (size_t i = 0; i < model->row_count; i++)
        mine += model->rows[i].parent == outer;
    for (size_t i = 0; i < team->row_count; i++)
        theirs += team->rows[i].parent == around;
    for (uint32_t i = outer + 1; i < model->row_count; i++) {
        if (model->rows[i].parent != outer)
            continue;
        for (size_t k = next; k < team->row_count; k++)
            if (team->rows[k].parent == around && (mine == theirs || model->bodies[i] == team->bodies[k])) {
                team->common[i] = (uint32_t)k;
                next = k + 1;
                break;
            }
    }
}

/* True if two processes run a loop equally often, except for iterations that a cut recording may miss. */
static bool same_count(uint32_t left, uint32_t right)
{
    uint32_t less = smaller(left, right), more = larger(left, right);
    return more - less <= less / 100;
}

/* True if the team has all loops of the model that matter, in the same order: equally often, or (`counts` false) of the
   same body. */
static bool match(const struct team *model, struct team *team, bool counts)
{
    size_t next = 1;
    bool any = false;
    team->common = memory_resize(team->common, model->row_count * sizeof *team->common);
    for (size_t i = 0; i < model->row_count; i++)
        team->common[i] = i == 0 ? 0 : PHASE_NONE;
    for (uint32_t i = 1; i < model->row_count; i++) {
        if (!matters(model, i))
            continue;
        size_t at = next;
        while (at < team->row_count &&
               !(team->rows[at].depth == 1 && (counts ? same_count(team->rows[at].least, model->rows[i].least)
                                                      : team->bodies[at] == model->bodies[i])))
            at++;
        if (at == team->row_count)
            return false;
        team->common[i] = (uint32_t)at;
        next = at + 1;
        any = true;
    }
    for (uint32_t i = 1; i < model->row_count; i++)
        if (team->common[i] != PHASE_NONE)
            match_inner(model, team, i);
    return any;
}

/* Gives the role to all teams without one that match the model; returns how many processes these are. */
static size_t take_role(struct finder *finder, const struct team *model, uint32_t role, bool counts)
{
    size_t taken = 0;
    for (size_t i = 0; i < finder->count; i++) {
        struct team *team = &finder->teams[i];
        if (team->role != PHASE_NONE || !match(model, team, counts))
            continue;
        team->role = role;
        taken += team->count;
    }
    return taken;
}

static void drop_roles(struct finder *finder)
{
    for (size_t i = 0; i < finder->count; i++)
        finder->teams[i].role = PHASE_NONE;
}

/* Rows of a role */

static void add_team(struct loop_row *to, const struct loop_row *from)
{
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->entries = from->entries > to->entries ? from->entries : to->entries;
    loop_row_add(to, from);
}

/* The first iteration begins where the call before its first ends, if that gap is no longer than in any later iteration
   of any process; else the gap is the longest of its own later iterations: setup is not part of it. */
static int64_t first_start(int64_t start, const struct start_facts *facts, int64_t longest_ns)
{
    int64_t gap_ns = facts->gap_ns;
    if (gap_ns > longest_ns)
        gap_ns = facts->longest_ns;
    time_subtract(&start, gap_ns);
    return start;
}

/* Moves the starts of the team's iterations to those of all processes. */
static void move_starts(struct team *team, uint32_t own, size_t stride, int64_t *to)
{
    for (size_t k = 0; k < team->count; k++)
        memcpy(to + team->members[k] * stride, team->starts[own] + k * (team->rows[own].least + (size_t)1),
               stride * sizeof *to);
    free(team->starts[own]);
    team->starts[own] = NULL;
}

/* The same for all teams with the role. If one team has all processes, its starts are used as they are. */
static int64_t *gather_starts(struct finder *finder, size_t stride, uint32_t role, uint32_t model_row)
{
    size_t processes = finder->loops->process_count;
    struct team *first = &finder->teams[0];
    if (first->count == processes && first->rows[first->common[model_row]].least + (size_t)1 == stride) {
        int64_t *starts = first->starts[first->common[model_row]];
        first->starts[first->common[model_row]] = NULL;
        return starts;
    }
    int64_t *starts = memory_new(processes * stride * sizeof *starts);
    for (size_t t = 0; t < finder->count; t++) {
        struct team *team = &finder->teams[t];
        if (team->role == role)
            move_starts(team, team->common[model_row], stride, starts);
        for (size_t k = 0; team->role != role && k < team->count; k++)
            for (size_t i = 0; i < stride; i++)
                starts[team->members[k] * stride + i] = INT64_MIN;
    }
    return starts;
}

static int64_t *take_starts(struct finder *finder, const struct loop_row *row, uint32_t role, uint32_t model_row)
{
    size_t stride = row->matched + (size_t)1;
    int64_t *starts = gather_starts(finder, stride, role, model_row), longest_ns = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < finder->count; t++) {
            const struct team *team = &finder->teams[t];
            for (size_t k = 0; team->role == role && k < team->count; k++) {
                const struct start_facts *facts = &team->facts[team->common[model_row]][k];
                int64_t *start = starts + team->members[k] * stride;
                if (pass == 0)
                    longest_ns = facts->longest_ns > longest_ns ? facts->longest_ns : longest_ns;
                else
                    *start = first_start(*start, facts, longest_ns);
            }
        }
    return starts;
}

/* Writes the first rows of the model with the times of all teams of the role. */
static void write_role(struct finder *finder, const struct team *model, size_t rows, uint32_t role, bool matched)
{
    struct common_loops *loops = finder->loops;
    uint32_t first = (uint32_t)loops->count;
    for (uint32_t i = 0; i < rows && loops->count < COMMON_LOOPS; i++) {
        struct loop_row row = model->rows[i];
        row.name = memory_copy_string(row.name);
        row.role = role;
        row.parent = row.parent == LOOP_NONE ? PHASE_NONE : first + row.parent;
        for (size_t t = 0; t < finder->count; t++) {
            const struct team *team = &finder->teams[t];
            if (team != model && team->role == role && team->common[i] != PHASE_NONE)
                add_team(&row, &team->rows[team->common[i]]);
        }
        row.matched = matched && matters(model, i) && same_count(row.least, row.most) ? row.least : 0;
        size_t at = loops->count;
        ARRAY_PUSH(loops->rows, loops->count, loops->capacity, row);
        loops->starts = memory_resize(loops->starts, loops->count * sizeof *loops->starts);
        loops->starts[at] = row.matched ? take_starts(finder, &row, role, i) : NULL;
    }
    for (size_t t = 0; t < finder->count; t++)
        for (size_t k = 0; finder->teams[t].role == role && k < finder->teams[t].count; k++)
            loops->roles[finder->teams[t].members[k]] = role;
    loops->role_count = role + (size_t)1;
}

static bool has_loops(const struct team *team)
{
    for (size_t i = 1; i < team->row_count; i++)
        if (matters(team, i))
            return true;
    return false;
}

/* Writes the loops if nearly all processes run them equally often, and returns true. */
static bool find_common(struct finder *finder)
{
    /* Any team may be the model; the largest are tried. */
    for (size_t i = 0; i < finder->count && i < COMMON_ROLES; i++) {
        const struct team *model = &finder->teams[i];
        if (!has_loops(model))
            continue;
        size_t taken = take_role(finder, model, 0, true);
        if ((double)taken >= COMMON_PART * (double)finder->loops->process_count) {
            write_role(finder, model, model->row_count, 0, true);
            return true;
        }
        drop_roles(finder);
    }
    return false;
}

static void find_roles(struct finder *finder)
{
    uint32_t roles = 0;
    for (size_t i = 0; i < finder->count && roles < COMMON_ROLES; i++) {
        const struct team *model = &finder->teams[i];
        if (model->role == PHASE_NONE && has_loops(model)) {
            take_role(finder, model, roles, false);
            write_role(finder, model, model->row_count, roles++, false);
        }
    }
    /* No process repeats anything. */
    if (roles == 0 && finder->count > 0) {
        for (size_t i = 0; i < finder->count; i++) {
            struct team *team = &finder->teams[i];
            team->common = memory_resize(team->common, sizeof *team->common);
            team->common[0] = 0;
            team->role = 0;
        }
        write_role(finder, &finder->teams[0], 1, 0, false);
    }
}

static bool find_by_world(struct finder *finder)
{
    struct finder world = {.graph = finder->graph,
                           .loops = finder->loops,
                           .signatures = finder->signatures,
                           .which = LOCATION_WORLD,
                           .threads = finder->threads};
    size_t calls = 0;
    make_teams(&world);
    if (world.count > 0)
        calls = world.signatures[world.teams[0].members[0]].world_count;
    bool found = false;
    if (calls >= COMMON_LEAST && (double)world.teams[0].count >= COMMON_PART * (double)finder->loops->process_count) {
        teams_find_loops(&world);
        found = find_common(&world);
    }
    teams_clear(&world);
    finder->loops->by_world = found;
    return found;
}

static void sign_location(void *context, size_t process)
{
    const struct finder *finder = context;
    finder->signatures[process] = location_signature_of(finder->graph, finder->loops->locations[process]);
}

struct common_loops common_loops_of(const struct graph *graph, unsigned threads)
{
    struct common_loops loops = {0};
    struct finder finder = {.graph = graph, .loops = &loops, .which = LOCATION_CALLS, .threads = threads};
    find_processes(graph, &loops);
    finder.signatures = memory_new(loops.process_count * sizeof *finder.signatures);
    parallel_run(threads, loops.process_count, sign_location, &finder);
    make_teams(&finder);
    teams_find_loops(&finder);
    if (!find_common(&finder)) {
        for (size_t i = 0; i < finder.count; i++)
            drop_starts(&finder.teams[i]);
        if (!find_by_world(&finder))
            find_roles(&finder);
    }
    teams_clear(&finder);
    free(finder.signatures);
    return loops;
}

void common_loops_clear(struct common_loops *loops)
{
    for (size_t i = 0; i < loops->count; i++) {
        free(loops->rows[i].name);
        free(loops->starts[i]);
    }
    free(loops->rows);
    free(loops->starts);
    free(loops->roles);
    free(loops->processes);
    free(loops->locations);
    *loops = (struct common_loops){0};
}
