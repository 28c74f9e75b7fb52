/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/polls.h"

#include "core/memory.h"
#include "graph/graph_storage.h"

#include <string.h>

static bool is_any(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

bool state_polls(const struct state_def *state)
{
    static const char *const names[] = {"MPI_Iprobe",  "MPI_Improbe",  "MPI_Test", "MPI_Testall",
                                        "MPI_Testany", "MPI_Testsome", NULL};
    /* By class first: a program may have a state of its own with such a name. */
    return (state->class == CLASS_PROBE || state->class == CLASS_WAIT) && is_any(state->name, names);
}

/* Calls that receive a message found by a probe. */
static bool takes_message(const struct state_def *state)
{
    static const char *const names[] = {"MPI_Recv", "MPI_Mrecv", "MPI_Irecv", "MPI_Imrecv", NULL};
    return is_any(state->name, names);
}

static struct packed_call *latest(const struct location *location)
{
    return location_packed(location, location->count - 1);
}

static const struct state_def *state_of(const struct graph *graph, const struct packed_call *call)
{
    return &graph->defs->states[graph->kinds[packed_kind(call)].state];
}

static bool has_messages(const struct packed_call *call)
{
    return call->word & (CALL_IN | CALL_OUT | CALL_OPERATES);
}

static int by_time(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int64_t gaps_ns(const struct poll_run *run)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i + 1 < run->count; i++)
        time_add(&sum_ns, time_since(run->polls[i].leave_ns, run->polls[i + 1].enter_ns));
    return sum_ns;
}

static int64_t median_gap_ns(const struct poll_run *run)
{
    /* The caller has more than one look, so that there is a gap. */
    size_t count = run->count - 1;
    int64_t *gaps = memory_new(count * sizeof *gaps), median_ns;
    for (size_t i = 0; i < count; i++)
        gaps[i] = time_since(run->polls[i].leave_ns, run->polls[i + 1].enter_ns);
    qsort(gaps, count, sizeof *gaps, by_time);
    /* The upper of two in the middle. Not the mean: one long pause of a busy receiver is no reason to call it work. */
    median_ns = gaps[count / 2];
    free(gaps);
    return median_ns;
}

/* Each look is a call of its own. They were merged as they came, in the hope that they are polling: this is taken
   back. */
static void split(const struct poll_run *run, struct graph *graph, struct location *location)
{
    size_t index = location->count - 1;
    uint32_t kind = packed_kind(latest(location));
    graph_set_leave(graph, location, index, run->polls[0].leave_ns);
    for (size_t i = 1; i < run->count && location->count < GRAPH_NONE - 1; i++) {
        graph_add_call(graph, location, run->polls[i].enter_ns, kind);
        graph_set_leave(graph, location, location->count - 1, run->polls[i].leave_ns);
    }
}

/* The series has ended: if it was polling, it is one call. If the pauses are long, that is known only at the end; until
   then it stays merged, as what was found is linked to the merged call. */
static void end_run(struct poll_run *run, struct graph *graph, struct location *location, bool found)
{
    if (run->count > 1) {
        const struct poll *last = &run->polls[run->count - 1];
        bool may_nap = found && run->naps.have_asleep;
        if (found && run->count > POLLS_LEAST && median_gap_ns(run) <= POLLS_GAP_NS)
            time_add(&location->polled_ns, gaps_ns(run));
        else if (!may_nap && !has_messages(latest(location)))
            split(run, graph, location);
        else
            naps_add(&run->naps, (struct nap_series){.call = location->count - 1,
                                                     .enter_ns = last->enter_ns,
                                                     .leave_ns = last->leave_ns,
                                                     .gaps_ns = gaps_ns(run),
                                                     .computed_ns = run->computed_ns});
    }
    run->count = 0;
    run->computed_ns = 0;
}

bool polls_enter(struct poll_run *run, struct graph *graph, struct location *location, uint32_t state, int64_t enter_ns)
{
    if (run->count == 0)
        return false;
    const struct packed_call *call = latest(location);
    bool same = graph->kinds[packed_kind(call)].state == state;
    if (same && !has_messages(call)) {
        /* Open again: its new leave comes with the leave of this look. */
        graph_set_leave(graph, location, location->count - 1, enter_ns);
        time_add(&run->computed_ns, run->since_ns);
        return true;
    }
    /* A probe finds a message that the next call receives: then polling was successful, though the probe has no
       message. */
    bool probes = state_of(graph, call)->class == CLASS_PROBE;
    end_run(run, graph, location, has_messages(call) || (probes && takes_message(&graph->defs->states[state])));
    return false;
}

void polls_leave(struct poll_run *run, int64_t enter_ns, int64_t leave_ns)
{
    ARRAY_PUSH(run->polls, run->count, run->capacity, (struct poll){enter_ns, leave_ns});
    run->since_ns = 0;
}

void polls_sample(struct poll_run *run, int64_t ns)
{
    time_add(&run->since_ns, ns);
    time_add(&run->naps.computed_ns, ns);
}

void polls_end(struct poll_run *run, struct graph *graph, struct location *location)
{
    if (run->count > 0)
        end_run(run, graph, location, has_messages(latest(location)));
    naps_end(&run->naps, graph, location);
    free(run->polls);
    *run = (struct poll_run){0};
}
