/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/team_loops.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "phases/loop_name.h"

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
        char name[LOOP_NAME_SIZE];
        team->bodies[i] = loop_name(finder->graph, finder->loops->locations[team->members[0]], tree, i, name);
        team->rows[i] = (struct loop_row){.name = memory_copy_string(i == 0 ? "the whole run" : name),
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

/* The loops of one process after another, in the same memory: new pages for each would take longer than all else. */
struct timing {
    struct loop_tree tree;
    struct location_reading reading;
    struct location_passed passed;
    struct loop_row *sums; /* by row of the team: only times, and how many processes */
};

/* A team whose members are timed in several threads, each some of them. */
struct search {
    const struct finder *finder;
    struct team *team;
    struct loop_tree found;
    uint32_t *places; /* where iterations begin in a reading */
    struct timing *timings;
    size_t parts;
};

static void timing_clear(struct timing *timing)
{
    loop_tree_clear(&timing->tree);
    location_reading_clear(&timing->reading);
    location_passed_clear(&timing->passed);
    free(timing->sums);
}

static void time_member(const struct search *search, size_t member, struct timing *timing)
{
    const struct finder *finder = search->finder;
    uint32_t location = finder->loops->locations[search->team->members[member]];
    location_read(finder->graph, location, finder->which, LOCATION_TIMES, &timing->reading);
    loop_tree_copy(&timing->tree, &search->found);
    location_loops_time(&timing->tree, finder->graph, location, &timing->reading, &timing->passed);
}

static void add_times(struct loop_row *to, uint32_t processes, int64_t time_ns, int64_t computing_ns,
                      int64_t waiting_ns, int64_t communicating_ns)
{
    to->processes += processes;
    time_add(&to->time_ns, time_ns);
    time_add(&to->computing_ns, computing_ns);
    time_add(&to->waiting_ns, waiting_ns);
    time_add(&to->communicating_ns, communicating_ns);
}

void loop_row_add(struct loop_row *to, const struct loop_row *row)
{
    add_times(to, row->processes, row->time_ns, row->computing_ns, row->waiting_ns, row->communicating_ns);
}

static void add_member(const struct search *search, size_t member, struct timing *timing)
{
    const struct team *team = search->team;
    const struct graph *graph = search->finder->graph;
    int64_t begin_ns = graph->locations[search->finder->loops->locations[team->members[member]]].begin_ns;
    for (size_t i = 0; i < team->row_count; i++) {
        const struct loop *loop = &timing->tree.loops[i];
        add_times(&timing->sums[i], 1, loop->time_ns, loop->computing_ns, loop->waiting_ns, loop->communicating_ns);
        if (team->starts[i])
            team->facts[i][member] = find_starts(&timing->tree, loop, &timing->reading, search->places, begin_ns,
                                                 team->starts[i] + member * (loop->count + (size_t)1));
    }
}

/* Warming up and rows are taken from the first member: the others have the same calls. */
static void start_team(struct search *search, struct timing *timing)
{
    const struct loop_tree *found = &search->found;
    time_member(search, 0, timing);
    loop_tree_warm_up(&timing->tree);
    start_rows(search->team, search->finder, &timing->tree);
    search->places = memory_new(found->iteration_count * sizeof *search->places);
    for (size_t i = 0; i < found->iteration_count; i++)
        search->places[i] = found->iterations[i].begin;
}

/* In a thread of its own: a part of the members. The first has been timed by part 0. */
static void time_part(void *context, size_t part)
{
    struct search *search = context;
    struct timing *timing = &search->timings[part];
    size_t count = search->team->count, from = count * part / search->parts, to = count * (part + 1) / search->parts;
    timing->sums = memory_new(search->team->row_count * sizeof *timing->sums);
    for (size_t i = from; i < to; i++) {
        if (i > 0)
            time_member(search, i, timing);
        add_member(search, i, timing);
    }
}

/* Members that are worth a thread. */
enum { PART_LEAST = 8 };

/* Once for a team, since its members' calls are the same; only times are read from each. */
static void find_team_loops(void *context, size_t index)
{
    const struct finder *finder = context;
    struct team *team = &finder->teams[index];
    enum location_calls which = LOCATION_PARTNERS;
    if (finder->which == LOCATION_WORLD)
        which = LOCATION_WORLD;
    struct search search = {.finder = finder, .team = team};
    search.parts = larger(smaller((size_t)finder->threads, team->count / PART_LEAST), (size_t)1);
    search.timings = memory_new(search.parts * sizeof *search.timings);
    search.found = location_loops_find(finder->graph, finder->loops->locations[team->members[0]], which);
    start_team(&search, &search.timings[0]);
    parallel_run(finder->threads, search.parts, time_part, &search);
    for (size_t part = 0; part < search.parts; part++) {
        for (size_t i = 0; i < team->row_count; i++)
            loop_row_add(&team->rows[i], &search.timings[part].sums[i]);
        timing_clear(&search.timings[part]);
    }
    free(search.timings);
    free(search.places);
    loop_tree_clear(&search.found);
}

void teams_find_loops(struct finder *finder)
{
    memory_keep_freed(true); /* for what each team needs again, and each anchor that is tried */
    parallel_run(finder->threads, finder->count, find_team_loops, finder);
    memory_keep_freed(false);
}
