/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of rows. Likeness: a row's profile is the share of its time in each of the states with most time in total, and
   outside them. Rows are put into at most LIKENESS_GROUPS groups by k-means, starting from the rows that are farthest
   apart; groups are in the order of their first row, rows within a group by rank. The same trace gives the same order.
 */
#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/scan.h"

#include <string.h>

enum { LIKENESS_GROUPS = 8, LIKENESS_STATES = 15, LIKENESS_SHARES = LIKENESS_STATES + 1, LIKENESS_ROUNDS = 12 };

/* Groups nearer to each other than this, as the squared distance of shares, are one: 0.05 of the time. */
static const double LIKENESS_LEAST = 0.0025;

struct profile {
    double share[LIKENESS_SHARES];
};

struct likeness {
    const struct timeline *timeline;
    struct profile *profiles; /* by row */
    double *state_ns;         /* by state, of all rows */
    uint8_t *places;          /* by state: its share's place; LIKENESS_STATES: among all others */
    struct profile centres[LIKENESS_GROUPS];
    size_t groups;
    uint8_t *group; /* by row */
};

static int by_compute(const void *a, const void *b, void *context)
{
    const struct timeline_row *rows = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int64_t left_ns = time_since(rows[left].begin_ns, rows[left].end_ns) - rows[left].mpi_ns;
    int64_t right_ns = time_since(rows[right].begin_ns, rows[right].end_ns) - rows[right].mpi_ns;
    if (left_ns != right_ns)
        return order_by(right_ns, left_ns);
    return (left > right) - (left < right);
}

static double distance(const struct profile *a, const struct profile *b)
{
    double sum = 0;
    for (size_t i = 0; i < LIKENESS_SHARES; i++)
        sum += (a->share[i] - b->share[i]) * (a->share[i] - b->share[i]);
    return sum;
}

static double nearest(const struct likeness *likeness, const struct profile *profile, uint8_t *group)
{
    double least = distance(profile, &likeness->centres[0]);
    *group = 0;
    for (size_t i = 1; i < likeness->groups; i++) {
        double far = distance(profile, &likeness->centres[i]);
        if (far < least) {
            least = far;
            *group = (uint8_t)i;
        }
    }
    return least;
}

/* The first row, then repeatedly the row farthest from all centres: without chance, so that the same trace gives the
   same groups. */
static void choose_centres(struct likeness *likeness, size_t rows)
{
    likeness->centres[0] = likeness->profiles[0];
    likeness->groups = 1;
    while (likeness->groups < LIKENESS_GROUPS) {
        size_t farthest = 0;
        double most = 0;
        for (size_t row = 0; row < rows; row++) {
            double far = nearest(likeness, &likeness->profiles[row], &likeness->group[row]);
            if (far > most) {
                farthest = row;
                most = far;
            }
        }
        if (most < LIKENESS_LEAST)
            return;
        likeness->centres[likeness->groups++] = likeness->profiles[farthest];
    }
}

static void move_centres(struct likeness *likeness, size_t rows)
{
    size_t counts[LIKENESS_GROUPS] = {0};
    struct profile sums[LIKENESS_GROUPS] = {0};
    for (size_t row = 0; row < rows; row++) {
        uint8_t group = likeness->group[row];
        counts[group]++;
        for (size_t i = 0; i < LIKENESS_SHARES; i++)
            sums[group].share[i] += likeness->profiles[row].share[i];
    }
    /* A group that lost all its rows keeps its centre: it may get some again. */
    for (size_t group = 0; group < likeness->groups; group++)
        for (size_t i = 0; counts[group] && i < LIKENESS_SHARES; i++)
            likeness->centres[group].share[i] = sums[group].share[i] / (double)counts[group];
}

static void order_groups(const struct likeness *likeness, size_t rows, uint32_t *order)
{
    bool done[LIKENESS_GROUPS] = {0};
    size_t count = 0;
    for (size_t first = 0; first < rows; first++) {
        uint8_t group = likeness->group[first];
        for (size_t row = first; !done[group] && row < rows; row++)
            if (likeness->group[row] == group)
                order[count++] = (uint32_t)row;
        done[group] = true;
    }
}

static void sum_states(void *context, uint32_t row, uint32_t state, int64_t from_ns, int64_t to_ns)
{
    (void)row;
    struct likeness *likeness = context;
    if (state != TIMELINE_NONE)
        likeness->state_ns[likeness->timeline->info.defs->states[state].first_of_name] +=
            (double)time_since(from_ns, to_ns);
}

static void sum_profiles(void *context, uint32_t row, uint32_t state, int64_t from_ns, int64_t to_ns)
{
    struct likeness *likeness = context;
    const struct timeline *timeline = likeness->timeline;
    /* Shares of the row's own time: a process that starts late is like the others all the same. */
    double whole = (double)time_since(timeline->rows.row[row].begin_ns, timeline->rows.row[row].end_ns);
    if (state != TIMELINE_NONE)
        likeness->profiles[row].share[likeness->places[timeline->info.defs->states[state].first_of_name]] +=
            (double)time_since(from_ns, to_ns) / whole;
}

/* The states that take most time get a place each. */
static void give_places(struct likeness *likeness)
{
    size_t states = likeness->timeline->info.defs->state_count;
    memset(likeness->places, LIKENESS_STATES, states);
    for (unsigned place = 0; place < LIKENESS_STATES; place++) {
        size_t best = states;
        for (size_t i = 0; i < states; i++)
            if (likeness->places[i] == LIKENESS_STATES && likeness->state_ns[i] > 0 &&
                (best == states || likeness->state_ns[i] > likeness->state_ns[best]))
                best = i;
        if (best == states)
            return;
        likeness->places[best] = (uint8_t)place;
    }
}

static enum status order_by_likeness(struct timeline *timeline, uint32_t *rows, struct error *err)
{
    size_t count = timeline->info.row_count, states = timeline->info.defs->state_count;
    struct likeness likeness = {.timeline = timeline,
                                .profiles = memory_new(count * sizeof *likeness.profiles),
                                .state_ns = memory_new(states * sizeof *likeness.state_ns),
                                .places = memory_new(states),
                                .group = memory_new(count)};
    const struct walk_visitor all = {.context = &likeness, .between = sum_states};
    const struct walk_visitor each = {.context = &likeness, .between = sum_profiles};
    /* Two passes: which states get a place is only known after all of the trace, and profiles of all states of all rows
       would not fit into memory. */
    struct timeline_view whole = timeline_whole(timeline);
    enum status status = timeline_scan(timeline, whole.from_ns, whole.to_ns, &all, err);
    if (status == STATUS_OK) {
        give_places(&likeness);
        status = timeline_scan(timeline, whole.from_ns, whole.to_ns, &each, err);
    }
    if (status == STATUS_OK && count > 0) {
        choose_centres(&likeness, count);
        for (int round = 0; round < LIKENESS_ROUNDS; round++) {
            for (size_t row = 0; row < count; row++)
                nearest(&likeness, &likeness.profiles[row], &likeness.group[row]);
            move_centres(&likeness, count);
        }
        order_groups(&likeness, count, rows);
    }
    free(likeness.profiles);
    free(likeness.state_ns);
    free(likeness.places);
    free(likeness.group);
    return status;
}

enum status timeline_order(struct timeline *timeline, enum timeline_order order, uint32_t *rows, struct error *err)
{
    size_t count = timeline->info.row_count;
    for (size_t i = 0; i < count; i++)
        rows[i] = (uint32_t)i;
    if (order == TIMELINE_BY_COMPUTE && count > 0)
        qsort_r(rows, count, sizeof *rows, by_compute, timeline->rows.row);
    if (order == TIMELINE_BY_LIKENESS)
        return order_by_likeness(timeline, rows, err);
    return STATUS_OK;
}
