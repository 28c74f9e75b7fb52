/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/analysis.h"

#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

static const char *const names[WAIT_KIND_COUNT] = {
    "",
#define WAIT(kind, id, ...) id,
#include "metrics/waits.def"
};

const char *wait_kind_name(enum wait_kind kind)
{
    return names[kind];
}

enum wait_kind wait_kind_find(const char *name)
{
    /* From 1 on: 0 stands for no wait, and has no name. */
    for (int kind = WAIT_NONE + 1; kind < WAIT_KIND_COUNT; kind++)
        if (strcmp(names[kind], name) == 0)
            return (enum wait_kind)kind;
    return WAIT_NONE;
}

uint32_t analysis_longest_own(const struct analysis *analysis, const struct defs *defs)
{
    uint32_t longest = UINT32_MAX;
    for (uint32_t i = 0; i < analysis->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        /* MPI_Init and MPI_Finalize are as long as the launcher needs: no advice helps. */
        if (state->is_mpi && analysis->path_states_ns[i] > 0 && !mpi_function_starts_or_ends(state->name) &&
            (longest == UINT32_MAX || analysis->path_states_ns[i] > analysis->path_states_ns[longest]))
            longest = i;
    }
    return longest;
}

void analysis_waiting_course(const struct analysis *analysis, int64_t *course_ns)
{
    /* From WAIT_CAUSED_COUNT on it is time that no other process causes. */
    for (size_t bin = 0; bin < COURSE_BINS; bin++) {
        course_ns[bin] = 0;
        for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
            time_add(&course_ns[bin], analysis->waits[kind].course_ns[bin]);
    }
}

int64_t *analysis_own_course(struct analysis *analysis, size_t state)
{
    /* Made when it is first needed: most functions have none. */
    if (!analysis->own_course_ns[state])
        analysis->own_course_ns[state] = memory_new(COURSE_BINS * sizeof **analysis->own_course_ns);
    return analysis->own_course_ns[state];
}

static void sums_new(struct wait_sums *sums, size_t processes, size_t states)
{
    /* -1: not computed; 0 is a result. */
    sums->saving_ns = sums->remains_ns = -1;
    sums->victims_ns = memory_new(processes * sizeof *sums->victims_ns);
    sums->causes_ns = memory_new(processes * sizeof *sums->causes_ns);
    sums->states_ns = memory_new(states * sizeof *sums->states_ns);
    sums->cause_states_ns = memory_new(states * sizeof *sums->cause_states_ns);
}

static void sums_clear(struct wait_sums *sums)
{
    free(sums->victims_ns);
    free(sums->causes_ns);
    free(sums->states_ns);
    free(sums->cause_states_ns);
    free(sums->sites);
    free(sums->comms);
}

static int by_index(const void *a, const void *b)
{
    /* The times of equal places are added up afterwards: their order does not matter. */
    const struct wait_place *left = a, *right = b;
    return order_by(left->index, right->index);
}

static int by_time(const void *a, const void *b)
{
    const struct wait_place *left = a, *right = b;
    int order = order_by(right->ns, left->ns);
    /* Equal times in the order of places, so that two runs print the same. */
    return order ? order : by_index(a, b);
}

static void places_sort(struct wait_place *places, size_t count, int (*order)(const void *, const void *))
{
    /* qsort must not get NULL, even for no items. */
    if (count > 0)
        qsort(places, count, sizeof *places, order);
}

/* The places of both, each once, the longest first. */
static size_t places_merged(struct wait_place **places, const struct wait_place *a, size_t a_count,
                            const struct wait_place *b, size_t b_count)
{
    size_t count = 0, all = a_count + b_count;
    struct wait_place *merged = *places = memory_new(all * sizeof *merged);
    if (a_count > 0)
        memcpy(merged, a, a_count * sizeof *merged);
    if (b_count > 0)
        memcpy(merged + a_count, b, b_count * sizeof *merged);
    places_sort(merged, all, by_index);
    for (size_t i = 0; i < all; i++) {
        if (count > 0 && merged[count - 1].index == merged[i].index)
            time_add(&merged[count - 1].ns, merged[i].ns);
        else
            merged[count++] = merged[i];
    }
    places_sort(merged, count, by_time);
    return count;
}

static void add_times(int64_t *sums_ns, size_t count, const int64_t *a_ns, const int64_t *b_ns)
{
    for (size_t i = 0; i < count; i++) {
        time_add(&sums_ns[i], a_ns[i]);
        time_add(&sums_ns[i], b_ns[i]);
    }
}

/* The longest waits of both; equal ones of `a` first. */
static void merge_longest(struct wait_sums *sums, const struct wait_sums *a, const struct wait_sums *b)
{
    size_t i = 0, k = 0;
    while (sums->longest_count < LONGEST_WAITS && (i < a->longest_count || k < b->longest_count)) {
        bool first = i < a->longest_count && (k == b->longest_count || a->longest[i].ns >= b->longest[k].ns);
        sums->longest[sums->longest_count++] = first ? a->longest[i++] : b->longest[k++];
    }
}

struct wait_sums *wait_sums_merged(const struct analysis *analysis, const struct wait_sums *a,
                                   const struct wait_sums *b)
{
    struct wait_sums *sums = memory_new(sizeof *sums);
    sums_new(sums, analysis->process_count, analysis->state_count);
    sums->count = a->count + b->count;
    /* Calls are those of both kinds, not the sum: each waits or not. */
    sums->calls = larger(a->calls, b->calls);
    sums->ns = a->ns;
    time_add(&sums->ns, b->ns);
    sums->longest_ns = larger(a->longest_ns, b->longest_ns);
    /* From the first wait to the last one of both; without waits from_ns is 0 and means nothing. */
    sums->from_ns = b->from_ns;
    if (b->count == 0 || (a->count > 0 && a->from_ns < b->from_ns))
        sums->from_ns = a->from_ns;
    sums->to_ns = larger(a->to_ns, b->to_ns);
    /* Savings of two replays do not add up: at least the larger one. */
    sums->saving_ns = larger(a->saving_ns, b->saving_ns);
    sums->remains_ns = larger(a->remains_ns, b->remains_ns);
    add_times(sums->victims_ns, analysis->process_count, a->victims_ns, b->victims_ns);
    add_times(sums->causes_ns, analysis->process_count, a->causes_ns, b->causes_ns);
    add_times(sums->course_ns, COURSE_BINS, a->course_ns, b->course_ns);
    add_times(sums->states_ns, analysis->state_count, a->states_ns, b->states_ns);
    add_times(sums->cause_states_ns, analysis->state_count, a->cause_states_ns, b->cause_states_ns);
    sums->site_count = places_merged(&sums->sites, a->sites, a->site_count, b->sites, b->site_count);
    merge_longest(sums, a, b);
    sums->comm_count = places_merged(&sums->comms, a->comms, a->comm_count, b->comms, b->comm_count);
    return sums;
}

void wait_sums_free(struct wait_sums *sums)
{
    if (!sums)
        return;
    sums_clear(sums);
    free(sums);
}

struct wait_sums *wait_sums_for_senders(const struct analysis *analysis)
{
    struct wait_sums *wrong =
        wait_sums_merged(analysis, &analysis->waits[WAIT_WRONG_ORDER_SAME], &analysis->waits[WAIT_WRONG_ORDER_OTHER]);
    /* Waiting in the wrong order is waiting for senders, too, counted apart. */
    struct wait_sums *all = wait_sums_merged(analysis, &analysis->waits[WAIT_LATE_SENDER], wrong);
    wait_sums_free(wrong);
    /* Its replay is without all of these; that of another order is a fix of its own. */
    all->saving_ns = analysis->waits[WAIT_LATE_SENDER].saving_ns;
    return all;
}

struct analysis *analysis_new(size_t processes, size_t states)
{
    struct analysis *analysis = memory_new(sizeof *analysis);
    analysis->process_count = processes;
    analysis->state_count = states;
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
        sums_new(&analysis->waits[kind], processes, states);
    sums_new(&analysis->uneven, processes, states);
    sums_new(&analysis->contention, processes, states);
    analysis->own_course_ns = memory_new(states * sizeof *analysis->own_course_ns);
#define NEW_BY_PROCESS(member) analysis->member = memory_new(processes * sizeof *analysis->member);
#define NEW_BY_STATE(member) analysis->member = memory_new(states * sizeof *analysis->member);
    ANALYSIS_BY_PROCESS(NEW_BY_PROCESS)
    ANALYSIS_BY_STATE(NEW_BY_STATE)
#undef NEW_BY_PROCESS
#undef NEW_BY_STATE
    return analysis;
}

void analysis_free(struct analysis *analysis)
{
    if (!analysis)
        return;
    for (int kind = 0; kind < WAIT_KIND_COUNT; kind++)
        sums_clear(&analysis->waits[kind]);
    sums_clear(&analysis->uneven);
    sums_clear(&analysis->contention);
    for (size_t i = 0; i < analysis->state_count; i++)
        free(analysis->own_course_ns[i]);
    free(analysis->own_course_ns);
    free(analysis->call_sites);
#define FREE_ARRAY(member) free(analysis->member);
    ANALYSIS_BY_PROCESS(FREE_ARRAY)
    ANALYSIS_BY_STATE(FREE_ARRAY)
#undef FREE_ARRAY
    free(analysis);
}
