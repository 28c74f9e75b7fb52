/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/statistics.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "timeline/scan.h"

struct sum {
    const struct timeline_view *view;
    const struct defs *defs;
    struct timeline_statistics *statistics;
    uint32_t *places;
};

/* The number of bits: bin k has durations from 2^(k-1) to 2^k - 1 ns. */
static unsigned duration_bin(int64_t ns)
{
    if (ns <= 0)
        return 0;
    return 64 - (unsigned)__builtin_clzll((unsigned long long)ns);
}

static void sum_state(void *context, const struct timeline_state *state, const struct walk_frame *frame,
                      int64_t exclusive_ns)
{
    (void)frame;
    (void)exclusive_ns;
    struct sum *sum = context;
    const struct timeline_view *view = sum->view;
    if (sum->places[state->row] == TIMELINE_NONE)
        return;
    struct timeline_state_sums *sums = &sum->statistics->states[sum->defs->states[state->state].first_of_name];
    time_add(&sums->inclusive_ns, timeline_overlap(state->enter_ns, state->leave_ns, view->from_ns, view->to_ns));
    /* A call is counted in the window in which it begins, so that the counts of adjacent windows add up. */
    if (state->enter_ns < view->from_ns || state->enter_ns >= view->to_ns)
        return;
    if (state->open) { /* how long it would have taken is not known */
        sums->open++;
        return;
    }
    int64_t ns = time_since(state->enter_ns, state->leave_ns);
    if (sums->count == 0 || ns < sums->min_ns)
        sums->min_ns = ns;
    sums->max_ns = larger(ns, sums->max_ns);
    sums->durations[duration_bin(ns)]++;
    sums->count++;
}

static void sum_between(void *context, uint32_t row, uint32_t state, int64_t from_ns, int64_t to_ns)
{
    struct sum *sum = context;
    struct timeline_statistics *statistics = sum->statistics;
    int64_t ns = timeline_overlap(from_ns, to_ns, sum->view->from_ns, sum->view->to_ns);
    if (sum->places[row] == TIMELINE_NONE)
        return;
    int64_t *sum_ns = &statistics->outside_ns;
    if (state != TIMELINE_NONE)
        sum_ns = &statistics->states[sum->defs->states[state].first_of_name].exclusive_ns;
    time_add(&statistics->span_ns, ns);
    time_add(sum_ns, ns);
}

static void sum_event(void *context, const struct walk_event *walked)
{
    struct sum *sum = context;
    const struct event *event = walked->event;
    bool sent = event->kind == EVENT_SEND;
    if ((!sent && event->kind != EVENT_RECEIVE) || sum->places[walked->row] == TIMELINE_NONE ||
        walked->time_ns < sum->view->from_ns || walked->time_ns >= sum->view->to_ns || event->partner == PARTNER_NONE)
        return;
    if (sent) {
        sum->statistics->sent++;
        bytes_add(&sum->statistics->bytes_sent, event_message_bytes(event));
    } else {
        sum->statistics->received++;
        bytes_add(&sum->statistics->bytes_received, event_message_bytes(event));
    }
}

enum status timeline_statistics(struct timeline *timeline, const struct timeline_view *view,
                                struct timeline_statistics *statistics, struct error *err)
{
    const struct defs *defs = timeline->info.defs;
    *statistics = (struct timeline_statistics){.state_count = defs->state_count};
    statistics->states = memory_new(defs->state_count * sizeof *statistics->states);
    struct sum sum = {.view = view, .defs = defs, .statistics = statistics};
    const struct walk_visitor visitor = {
        .context = &sum, .state = sum_state, .between = sum_between, .event = sum_event};
    if (view->to_ns <= view->from_ns)
        return STATUS_OK;
    sum.places = timeline_places(timeline, view);
    enum status status = timeline_scan(timeline, view->from_ns, view->to_ns, &visitor, err);
    free(sum.places);
    if (status != STATUS_OK)
        timeline_statistics_clear(statistics);
    return status;
}

void timeline_statistics_clear(struct timeline_statistics *statistics)
{
    free(statistics->states);
    *statistics = (struct timeline_statistics){0};
}
