/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/common_loops.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* For where the first iteration of a process begins: see first_start. */
struct start_facts {
    int64_t gap_ns, longest_ns;
};

/* Processes whose calls are the same, and their loops. */
struct team {
    uint64_t signature;
    uint32_t *members; /* processes */
    size_t count, capacity;
    struct loop_row *rows;
    size_t row_count;
    uint64_t *bodies; /* by row: hash of the functions of its body */
    int64_t **starts; /* by row, by member: where its iterations begin, and the end of the last; NULL: not kept */
    struct start_facts **facts; /* by row, by member */
    uint32_t role;              /* PHASE_NONE: none */
    uint32_t *common;           /* by row of the role: the team's own row, PHASE_NONE: it has none */
};

struct finder {
    const struct graph *graph;
    struct common_loops *loops;
    struct location_signature *signatures; /* by process */
    struct team *teams;                    /* the largest first */
    size_t count, capacity;
    enum location_calls which;
};

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

/* Names */

enum { NAME_SIZE = 120, NAME_FUNCTIONS = 24 };

struct naming {
    const struct graph *graph;
    const struct loop_tree *tree;
    uint32_t location;
    char text[NAME_SIZE];
    uint32_t said[NAME_FUNCTIONS]; /* states: each appears once */
    size_t said_count;
    uint64_t body;
};

static void name_put(struct naming *naming, const char *text)
{
    size_t used = strlen(naming->text), length = strlen(text);
    static const char more[] = " …";
    /* Already cut: nothing may follow the dots. */
    if (used >= sizeof more && strcmp(naming->text + used - sizeof more + 1, more) == 0)
        return;
    if (used + length + sizeof more <= sizeof naming->text)
        memcpy(naming->text + used, text, length + 1);
    else
        memcpy(naming->text + used, more, sizeof more);
}

static bool is_said(struct naming *naming, uint32_t state)
{
    for (size_t i = 0; i < naming->said_count; i++)
        if (naming->said[i] == state)
            return true;
    if (naming->said_count < NAME_FUNCTIONS)
        naming->said[naming->said_count++] = state;
    return naming->said_count == NAME_FUNCTIONS;
}

/* The functions of a body, each once, those of loops inside in brackets; and a hash of all. Depth is that of loops. */
static void name_body(struct naming *naming, uint32_t loop)
{
    const struct loop_tree *tree = naming->tree;
    bool first = true;
    /* Begin and end of a body are part of the hash: (a b) c and a (b c) differ. */
    naming->body = map_hash(naming->body + 1);
    for (uint32_t i = 0; i < tree->loops[loop].item_count; i++) {
        const struct loop_item *item = &tree->items[tree->loops[loop].item + i];
        if (item->loop != LOOP_NONE) {
            name_put(naming, first ? "(" : ", (");
            name_body(naming, item->loop);
            name_put(naming, ")");
            first = false;
            continue;
        }
        struct call call = graph_call(naming->graph, naming->location, item->at);
        const struct state_def *state = graph_state(naming->graph, &call);
        naming->body = map_hash(naming->body + state->first_of_name);
        if (is_said(naming, state->first_of_name))
            continue;
        if (!first)
            name_put(naming, ", ");
        name_put(naming, state->name);
        first = false;
    }
    naming->body = map_hash(naming->body + 2);
}

/* A team's loops */

static bool is_kept(const struct loop *loop)
{
    return loop->depth == 1 && loop->count >= COMMON_LEAST;
}

static void start_rows(struct team *team, const struct finder *finder, const struct loop_tree *tree)
{
    size_t rows = smaller(tree->count, (size_t)COMMON_LOOPS);
    team->row_count = rows;
    team->rows = memory_new(rows * sizeof *team->rows);
    team->bodies = memory_new(rows * sizeof *team->bodies);
    team->starts = memory_new(rows * sizeof *team->starts);
    team->facts = memory_new(rows * sizeof *team->facts);
    for (uint32_t i = 0; i < rows; i++) {
        const struct loop *loop = &tree->loops[i];
        struct naming naming = {finder->graph, tree, finder->loops->locations[team->members[0]], "", {0}, 0, 0};
        name_body(&naming, i);
        team->bodies[i] = naming.body;
        team->rows[i] = (struct loop_row){.name = memory_copy_string(i == 0 ? "the whole run" : naming.text),
                                          .parent = loop->parent,
                                          .depth = loop->depth,
                                          .least = loop->count,
                                          .most = loop->count,
                                          .entries = loop->entries,
                                          .period = loop->period,
                                          .warm_up = loop->warm_up,
                                          .similarity = loop->similarity};
        if (!is_kept(loop))
            continue;
        team->starts[i] = memory_new(team->count * (loop->count + (size_t)1) * sizeof **team->starts);
        team->facts[i] = memory_new(team->count * sizeof **team->facts);
    }
}

/* The begins of the iterations of a process, which begins at begin_ns, and the end of the last. */
static struct start_facts find_starts(const struct loop_tree *tree, const struct loop *loop,
                                      const struct location_reading *reading, const uint32_t *places, int64_t begin_ns,
                                      int64_t *starts)
{
    size_t count = loop->count;
    struct start_facts facts = {0};
    uint32_t first = places[loop->iteration];
    starts[0] = reading->enter_ns[first];
    int64_t before_ns = begin_ns;
    if (first > 0)
        before_ns = reading->leave_ns[first - 1];
    facts.gap_ns = time_since(before_ns, starts[0]);
    for (uint32_t k = 1; k < count; k++) {
        uint32_t place = places[loop->iteration + k];
        starts[k] = reading->leave_ns[place - 1];
        int64_t ns = time_since(starts[k], reading->enter_ns[place]);
        facts.longest_ns = larger(facts.longest_ns, ns);
    }
    starts[count] = tree->iterations[loop->iteration + count - 1].end_ns;
    return facts;
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

/* The loops of one process after another, in the same memory: new pages for each would take longer than all else. */
struct timing {
    struct loop_tree tree;
    struct location_reading reading;
    struct location_passed passed;
    uint32_t *places; /* where iterations begin in the reading */
    size_t capacity;
};

static void timing_clear(struct timing *timing)
{
    loop_tree_clear(&timing->tree);
    location_reading_clear(&timing->reading);
    location_passed_clear(&timing->passed);
    free(timing->places);
}

static void add_member(struct team *team, const struct finder *finder, const struct loop_tree *found, size_t member,
                       struct timing *timing)
{
    uint32_t location = finder->loops->locations[team->members[member]];
    struct loop_tree *tree = &timing->tree;
    location_read(finder->graph, location, finder->which, LOCATION_TIMES, &timing->reading);
    loop_tree_copy(tree, found);
    location_loops_time(tree, finder->graph, location, &timing->reading, &timing->passed);
    /* Warming up and rows are taken from the first member: the others have the same calls. */
    if (member == 0) {
        loop_tree_warm_up(tree);
        start_rows(team, finder, tree);
        ARRAY_RESERVE(timing->places, timing->capacity, found->iteration_count);
        for (size_t i = 0; i < found->iteration_count; i++)
            timing->places[i] = found->iterations[i].begin;
    }
    for (size_t i = 0; i < team->row_count; i++) {
        const struct loop *loop = &tree->loops[i];
        struct loop_row *row = &team->rows[i];
        row->processes++;
        time_add(&row->time_ns, loop->time_ns);
        time_add(&row->computing_ns, loop->computing_ns);
        time_add(&row->waiting_ns, loop->waiting_ns);
        time_add(&row->communicating_ns, loop->communicating_ns);
        if (team->starts[i])
            team->facts[i][member] =
                find_starts(tree, loop, &timing->reading, timing->places, finder->graph->locations[location].begin_ns,
                            team->starts[i] + member * (loop->count + (size_t)1));
    }
}

static void find_loops(struct finder *finder)
{
    enum location_calls which = LOCATION_PARTNERS;
    if (finder->which == LOCATION_WORLD)
        which = LOCATION_WORLD;
    struct timing timing = {0};
    for (size_t i = 0; i < finder->count; i++) {
        struct team *team = &finder->teams[i];
        /* Once for a team, since its members' calls are the same; only times are read from each. */
        memory_keep_freed(true); /* anchors are tried one after another */
        struct loop_tree found = location_loops_find(finder->graph, finder->loops->locations[team->members[0]], which);
        memory_keep_freed(false);
        for (size_t k = 0; k < team->count; k++)
            add_member(team, finder, &found, k, &timing);
        loop_tree_clear(&found);
    }
    timing_clear(&timing);
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

static void add_times(struct loop_row *to, const struct loop_row *from)
{
    to->processes += from->processes;
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->entries = from->entries > to->entries ? from->entries : to->entries;
    time_add(&to->time_ns, from->time_ns);
    time_add(&to->computing_ns, from->computing_ns);
    time_add(&to->waiting_ns, from->waiting_ns);
    time_add(&to->communicating_ns, from->communicating_ns);
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
                add_times(&row, &team->rows[team->common[i]]);
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
    struct finder world = {
        .graph = finder->graph, .loops = finder->loops, .signatures = finder->signatures, .which = LOCATION_WORLD};
    size_t calls = 0;
    make_teams(&world);
    if (world.count > 0)
        calls = world.signatures[world.teams[0].members[0]].world_count;
    bool found = false;
    if (calls >= COMMON_LEAST && (double)world.teams[0].count >= COMMON_PART * (double)finder->loops->process_count) {
        find_loops(&world);
        found = find_common(&world);
    }
    teams_clear(&world);
    finder->loops->by_world = found;
    return found;
}

struct common_loops common_loops_of(const struct graph *graph)
{
    struct common_loops loops = {0};
    struct finder finder = {.graph = graph, .loops = &loops, .which = LOCATION_CALLS};
    find_processes(graph, &loops);
    finder.signatures = memory_new(loops.process_count * sizeof *finder.signatures);
    for (size_t i = 0; i < loops.process_count; i++)
        finder.signatures[i] = location_signature_of(graph, loops.locations[i]);
    make_teams(&finder);
    find_loops(&finder);
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
