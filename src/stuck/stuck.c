/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "stuck/stuck_builder.h"
#include "stuck/stuck_text.h"

#include <signal.h>
#include <string.h>

/* A computing process counts as blocking others only if it takes much longer than the run's own pace. */
#define COMPUTING_QUIET_NS INT64_C(1000000000)
#define SEEN_LATE_NS INT64_C(100000000)
enum { COMPUTING_PACES = 5 };

static const char *const kind_names[STUCK_KINDS] = {
    [STUCK_SLOW] = "slow",           [STUCK_CYCLE] = "cycle",         [STUCK_MISSING] = "missing",
    [STUCK_MISMATCH] = "mismatch",   [STUCK_UNMATCHED] = "unmatched", [STUCK_ENDED] = "ended",
    [STUCK_COMPUTING] = "computing", [STUCK_POLLING] = "polling"};

const char *stuck_kind_name(enum stuck_kind kind)
{
    return kind_names[kind];
}

/* A verdict in the making. */
struct judging {
    struct stuck *stuck;
    struct stuck_state *state;
    struct stuck_graph graph;
    char text[STUCK_TEXT_SIZE];
    size_t process_capacity, cycle_capacity;
};

static bool is_in(const struct stuck_state *state, const struct place *place, const char *function)
{
    return place->depth > 0 && strcmp(state_name(state, place->state), function) == 0;
}

/* True for places that hang: in a call or a loop of tests that can never end. */
static bool is_dead(const struct judging *judging, const struct place *place)
{
    return !judging->graph.nodes[place - judging->state->places].live && !place_is_gone(judging->state, place);
}

/* Left MPI, or about to. */
static bool is_leaving(const struct judging *judging, const struct place *place)
{
    return place_is_gone(judging->state, place) || is_in(judging->state, place, "MPI_Finalize");
}

static void add_process(struct judging *judging, uint32_t process)
{
    struct stuck *stuck = judging->stuck;
    /* Callers add the same process several times in a row at most: a look at the last few is enough, and keeps it
       linear. */
    for (size_t i = stuck->process_count; i > 0 && i + 8 > stuck->process_count; i--)
        if (stuck->processes[i - 1] == process)
            return;
    ARRAY_PUSH(stuck->processes, stuck->process_count, judging->process_capacity, process);
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return order_by(left, right);
}

/* A place that hangs says more than others; less if it only waits for another thread of its process. */
static int says_more(const struct judging *judging, const struct place *place)
{
    if (!is_dead(judging, place))
        return 0;
    return place_joins(judging->state, place) ? 1 : 2;
}

/* The relevant place of a process: preferably one that hangs. */
static struct place *place_of_process(const struct judging *judging, uint32_t process)
{
    const struct node *node = graph_process(&judging->graph, process);
    struct place *found = NULL;
    for (uint32_t i = 0; i < node->edge_count; i++) {
        struct place *place = &judging->state->places[judging->graph.edges[node->first_edge + i].to];
        if (!found || says_more(judging, place) > says_more(judging, found))
            found = place;
    }
    return found;
}

/* One step of a chain of waits: the place waits for a process by `edge`, and through `via` where that leads to a node
   that stands for several. */
struct step {
    const struct place *place, *next;
    const struct edge *edge, *via;
};

/* True if a step along `via` to `next` explains more than the best one so far: a mismatch more than a mere absence, and
   a process that is still there more than one that has left, which waits for no one. */
static bool explains_more(const struct judging *judging, const struct step *best, const struct edge *via,
                          const struct place *next)
{
    if (!best->next)
        return true;
    if (via->kind == EDGE_MISMATCH && best->via->kind != EDGE_MISMATCH)
        return true;
    return is_leaving(judging, best->next) && !is_leaving(judging, next);
}

/* The process that the place waits for in vain: preferably one that has not left MPI. */
static struct step step_from(const struct judging *judging, const struct place *place)
{
    const struct stuck_graph *graph = &judging->graph;
    const struct node *node = &graph->nodes[place - judging->state->places];
    struct step best = {.place = place};
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct edge *edge = &graph->edges[node->first_edge + i], *ways = edge;
        const struct node *to = &graph->nodes[edge->to];
        uint32_t way_count = 1;
        if (edge->kind == EDGE_THREAD)
            continue;
        /* An instance or "anybody" stands for processes: the step goes on to each of them. */
        if (to->kind != NODE_PROCESS) {
            ways = &graph->edges[to->first_edge];
            way_count = to->edge_count;
        }
        for (uint32_t k = 0; k < way_count; k++) {
            const struct edge *via = &ways[k];
            const struct node *process = &graph->nodes[via->to];
            if (process->live)
                continue;
            const struct place *next = place_of_process(judging, process->index);
            if (!next || next == place)
                continue;
            if (explains_more(judging, &best, via, next))
                best = (struct step){.place = place, .next = next, .edge = edge, .via = via};
        }
    }
    return best;
}

/* It waits for the epoch of a process. */
static bool is_epoch(const struct step *step)
{
    return step->via->kind == EDGE_POST || step->edge->kind == EDGE_POST;
}

static bool is_collective(const struct step *step)
{
    return step->via->kind == EDGE_COLLECTIVE || step->via->kind == EDGE_MISMATCH;
}

/* The chain of waits from a place: to a process that has left, or until it closes a cycle. */
struct chain {
    struct step *steps;
    size_t count, capacity;
    size_t begin; /* the first step of the cycle; `count`: it ends with a process that has left */
};

/* Each place has one step, so that the chain ends: with a process that has left, or with a place seen before. */
static struct chain chain_from(const struct judging *judging, const struct place *place)
{
    struct chain chain = {0};
    struct map seen = {0};
    for (;;) {
        uint64_t *at = map_put(&seen, (uint64_t)(place - judging->state->places), UINT64_MAX);
        if (*at != UINT64_MAX) {
            chain.begin = (size_t)*at;
            break;
        }
        *at = chain.count;
        struct step step = step_from(judging, place);
        if (!step.next) {
            chain.begin = chain.count;
            break;
        }
        ARRAY_PUSH(chain.steps, chain.count, chain.capacity, step);
        place = step.next;
        if (is_leaving(judging, place)) {
            chain.begin = chain.count;
            break;
        }
    }
    map_clear(&seen);
    return chain;
}

static const struct item *item_of(const struct step *step)
{
    bool receives = step->via->kind == EDGE_RECEIVE || step->edge->kind == EDGE_RECEIVE;
    if (!receives || step->edge->item == 0)
        return NULL;
    return &step->place->items[step->edge->item - 1];
}

/* True if messages like the one that a step waits for were received before: one of a series is missing. */
static bool had_messages(const struct judging *judging, const struct step *step)
{
    const struct item *item = item_of(step);
    if (!item || item->pending.partner < 0)
        return false;
    const struct channel_balance *channel = state_channel(judging->state, (uint32_t)item->pending.partner,
                                                          step->place->process, item->comm, item->pending.tag);
    return channel && channel->received > 0;
}

/* True if the message that a step waits for was begun and lacks parts. */
static bool is_begun(const struct judging *judging, const struct step *step)
{
    const struct item *item = item_of(step);
    return item && state_unready(judging->state, step->next->process, step->place->process, item->comm,
                                 item->pending.tag) != NULL;
}

static bool has_near_miss(const struct judging *judging, const struct step *step)
{
    const struct item *item = item_of(step);
    return item && say_near_misses(NULL, judging->state, step->place, item);
}

static void say(struct judging *judging, const char *words)
{
    text_append(judging->text, sizeof judging->text, "%s", words);
}

static void say_process(struct judging *judging, bool begins, uint32_t process)
{
    text_append(judging->text, sizeof judging->text, "%s %s ", begins ? "Process" : "process",
                text_number(process).text);
}

static void say_cycle(struct judging *judging, const struct chain *chain)
{
    /* More than four make the sentence unreadable; `cycle` has all. */
    enum { STEPS = 4 };
    size_t length = chain->count - chain->begin;
    text_append(judging->text, sizeof judging->text, "%s processes wait for each other: ", text_number(length).text);
    for (size_t i = 0; i < length; i++) {
        const struct step *step = &chain->steps[chain->begin + i];
        ARRAY_PUSH(judging->stuck->cycle, judging->stuck->cycle_count, judging->cycle_capacity, step->place->process);
        add_process(judging, step->place->process);
        if (i >= STEPS)
            continue;
        say(judging, i == 0 ? "" : "; ");
        say_process(judging, false, step->place->process);
        say_doing(judging->text, &judging->graph, step->place);
    }
    if (length > STEPS)
        text_append(judging->text, sizeof judging->text, "; and so on");
    say(judging, ".");
    for (size_t i = chain->begin; i < chain->count; i++)
        if (item_of(&chain->steps[i]))
            say_taken(judging->text, judging->state, chain->steps[i].place, item_of(&chain->steps[i]));
}

/* The processes in the same call as `like`, among those that hang: the same function, place in the source and
   collective of the same communicator. */
static size_t same_place(const struct judging *judging, const struct place *like, uint32_t *ranks)
{
    size_t count = 0;
    const struct stuck_state *state = judging->state;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (is_dead(judging, place) && place->depth > 0 && place->state == like->state && place->site == like->site &&
            place->ordinal == like->ordinal && state_comm(state, place->comm) == state_comm(state, like->comm))
            ranks[count++] = place->process;
    }
    return count;
}

static void say_same_place(struct judging *judging, const struct place *like)
{
    uint32_t *ranks = memory_new(judging->state->place_count * sizeof *ranks);
    size_t count = same_place(judging, like, ranks);
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    /* If `like` has left MPI, it is not among those that hang. */
    if (count == 0)
        ranks[count++] = like->process;
    say_processes(judging->text, ranks, count);
    say(judging, count == 1 ? " is in " : " are in ");
    say_call(judging->text, judging->state, like->state, like->site);
    if (like->comm != EVENT_UNKNOWN) {
        say(judging, " on ");
        say_comm(judging->text, judging->state, like->comm);
    }
    for (size_t i = 0; i < count; i++)
        add_process(judging, ranks[i]);
    free(ranks);
}

static void say_mismatch(struct judging *judging, const struct step *step)
{
    /* On the same communicator the orders of collectives differ (MPI-4.0, 6.14); on two of them, the orders in which
       processes use the communicators. */
    bool same = state_comm(judging->state, step->place->comm) == state_comm(judging->state, step->next->comm);
    say(judging, same ? "Members of a communicator are in different collectives: "
                      : "Processes enter communicators in different orders: ");
    say_same_place(judging, step->place);
    say(judging, ", ");
    say_same_place(judging, step->next);
    say(judging, ".");
}

/* Members that never enter a collective, and what they do instead. */
static void say_missing(struct judging *judging, const struct step *step)
{
    const struct node *instance = &judging->graph.nodes[step->via->from];
    uint32_t *ranks = memory_new((instance->edge_count + 1) * sizeof *ranks);
    size_t count = 0;
    for (uint32_t i = 0; instance->kind == NODE_INSTANCE && i < instance->edge_count; i++) {
        const struct node *process = &judging->graph.nodes[judging->graph.edges[instance->first_edge + i].to];
        if (!process->live)
            ranks[count++] = process->index;
    }
    if (count == 0)
        ranks[count++] = step->next->process;
    for (size_t i = 0; i < count; i++)
        add_process(judging, ranks[i]);
    uint32_t function = instance->kind == NODE_INSTANCE ? instance->state : step->place->state;
    /* A start of a persistent collective is known by those of the others only: by its number. */
    uint64_t starts = instance->kind == NODE_INSTANCE ? instance->starts : 0;
    const char *how = " is never entered by ";
    if (starts == 1)
        how = " is never started by ";
    else if (starts > 1)
        how = " is started less often by ";
    say(judging, starts ? "The collective of " : "");
    say(judging, state_name(judging->state, function));
    say(judging, " on ");
    say_comm(judging->text, judging->state, instance->kind == NODE_INSTANCE ? instance->comm : step->place->comm);
    say(judging, how);
    say_processes(judging->text, ranks, count);
    say(judging, ": ");
    say_process(judging, false, step->next->process);
    say_doing(judging->text, &judging->graph, step->next);
    say(judging, ". ");
    say_process(judging, true, step->place->process);
    say_doing(judging->text, &judging->graph, step->place);
    say(judging, " and waits for it.");
    free(ranks);
}

static void say_unmatched(struct judging *judging, const struct step *step)
{
    add_process(judging, step->place->process);
    say_process(judging, true, step->place->process);
    say_doing(judging->text, &judging->graph, step->place);
    const char *lack = ", which it never does: ";
    if (is_begun(judging, step))
        lack = ", which is never complete: ";
    else if (item_of(step) && say_taken(NULL, judging->state, step->place, item_of(step)))
        lack = ", which was never sent again: ";
    else if (item_of(step))
        lack = ", which was never sent: ";
    say(judging, lack);
    say_process(judging, false, step->next->process);
    say_doing(judging->text, &judging->graph, step->next);
    say(judging, ".");
    if (item_of(step))
        say_near_misses(judging->text, judging->state, step->place, item_of(step));
}

static void say_epoch(struct judging *judging, const struct step *step)
{
    add_process(judging, step->next->process);
    say_process(judging, true, step->place->process);
    say_doing(judging->text, &judging->graph, step->place);
    say(judging, ", which never comes: ");
    say_process(judging, false, step->next->process);
    say_doing(judging->text, &judging->graph, step->next);
    say(judging, ".");
}

static enum stuck_kind judge_last_step(struct judging *judging, const struct step *step)
{
    if (is_collective(step)) {
        say_missing(judging, step);
        return STUCK_MISSING;
    }
    if (is_epoch(step) || step->via->kind == EDGE_LOCK) {
        say_epoch(judging, step);
        return STUCK_MISSING;
    }
    say_unmatched(judging, step);
    return STUCK_UNMATCHED;
}

/* A cycle of collectives and other waits: the message that would break it was never sent. If such messages arrived
   before, or one that nearly fits, the message is missing; else the process that waits for it is not in the collective.
 */
static enum stuck_kind judge_mixed(struct judging *judging, const struct chain *chain)
{
    const struct step *collective = NULL, *epoch = NULL;
    for (size_t i = chain->begin; i < chain->count; i++) {
        const struct step *step = &chain->steps[i];
        if (!is_collective(step) &&
            (had_messages(judging, step) || has_near_miss(judging, step) || is_begun(judging, step))) {
            say_unmatched(judging, step);
            return STUCK_UNMATCHED;
        }
        if (is_collective(step) && !collective)
            collective = step;
        if (is_epoch(step))
            epoch = step;
    }
    if (epoch)
        say_epoch(judging, epoch);
    else
        say_missing(judging, collective);
    return STUCK_MISSING;
}

/* True if a member has not started a persistent collective. They may be started in any order: it is no mismatch. */
static bool lacks_start(const struct judging *judging, const struct step *step)
{
    const struct node *from = &judging->graph.nodes[step->via->from];
    return step->via->kind == EDGE_COLLECTIVE && from->kind == NODE_INSTANCE && from->starts > 0;
}

/* A cycle of collectives only. */
static enum stuck_kind judge_collectives(struct judging *judging, const struct chain *chain)
{
    const struct step *start = NULL;
    size_t starts = 0;
    for (size_t i = chain->begin; i < chain->count; i++)
        if (lacks_start(judging, &chain->steps[i])) {
            start = &chain->steps[i];
            starts++;
        }
    if (starts > 1) {
        say_cycle(judging, chain);
        return STUCK_CYCLE;
    }
    if (start) {
        say_missing(judging, start);
        return STUCK_MISSING;
    }
    say_mismatch(judging, &chain->steps[chain->begin]);
    return STUCK_MISMATCH;
}

static enum stuck_kind judge_chain(struct judging *judging, const struct chain *chain)
{
    /* No cycle: the last step leads to a process that has left MPI, so that what it waits for cannot come. */
    if (chain->begin == chain->count)
        return judge_last_step(judging, &chain->steps[chain->count - 1]);
    size_t length = chain->count - chain->begin, collectives = 0;
    for (size_t i = chain->begin; i < chain->count; i++)
        collectives += is_collective(&chain->steps[i]);
    if (collectives == length)
        return judge_collectives(judging, chain);
    if (collectives == 0) {
        say_cycle(judging, chain);
        return STUCK_CYCLE;
    }
    return judge_mixed(judging, chain);
}

/* Process, function and what it waits for, of a loop of tests. */
static enum stuck_kind judge_polling(struct judging *judging, const struct place *place)
{
    const struct stuck_state *state = judging->state;
    char time[TEXT_NUMBER_SIZE];
    struct step step = step_from(judging, place);
    add_process(judging, place->process);
    say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    text_append(judging->text, sizeof judging->text, ": %s consecutive tests failed, for %s.",
                text_number(place->polls).text, text_duration(time, time_since(place->progress_ns, state->end_ns)));
    if (step.next) {
        say(judging, " ");
        say_process(judging, true, step.next->process);
        say_doing(judging->text, &judging->graph, step.next);
        say(judging, ".");
    }
    return STUCK_POLLING;
}

static const struct place *poller(const struct judging *judging, bool dead)
{
    for (size_t i = 0; i < judging->state->place_count; i++) {
        const struct place *place = &judging->state->places[i];
        if (place_polls(judging->state, place) && !place_is_gone(judging->state, place) &&
            is_dead(judging, place) == dead)
            return place;
    }
    return NULL;
}

/* A process that waits for its own message, parts of which it has not made ready: whatever else there is waits for it,
   or for another reason. */
static const struct place *waits_for_own(const struct judging *judging)
{
    for (size_t i = 0; i < judging->state->place_count; i++) {
        const struct place *place = &judging->state->places[i];
        const struct node *node = &judging->graph.nodes[i];
        for (uint32_t k = 0; k < node->edge_count && is_dead(judging, place); k++)
            if (judging->graph.edges[node->first_edge + k].kind == EDGE_READY)
                return place;
    }
    return NULL;
}

static enum stuck_kind judge_own(struct judging *judging, const struct place *place)
{
    add_process(judging, place->process);
    say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    say(judging, ", and the others are never marked ready.");
    return STUCK_UNMATCHED;
}

/* Those that hang for good. */
static enum stuck_kind judge_dead(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    const struct place *first = NULL;
    int64_t since_ns = INT64_MIN;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (!is_dead(judging, place) || is_leaving(judging, place) || place_joins(state, place))
            continue;
        since_ns = larger(since_ns, place->progress_ns);
        if (!first || place->progress_ns < first->progress_ns)
            first = place;
    }
    /* Shorter: messages may be in transit or buffers about to be emptied. Where it is not known how long processes have
       lived after their last record, such sends do not count as waits (stuck_graph.c). */
    bool known = state->end_known || !state->has_ending;
    if (!first || (known && time_since(since_ns, state->end_ns) < STUCK_QUIET_NS))
        return STUCK_NOT;
    judging->stuck->since_ns = since_ns;
    /* A loop of tests is where the program itself is stuck: it explains the others that wait for it. */
    const struct place *polls = poller(judging, true);
    if (polls)
        return judge_polling(judging, polls);
    const struct place *own = waits_for_own(judging);
    if (own)
        return judge_own(judging, own);
    /* From the one without progress for the longest time: the others came to wait later. */
    struct chain chain = chain_from(judging, first);
    enum stuck_kind kind = STUCK_NOT;
    if (chain.count > 0)
        kind = judge_chain(judging, &chain);
    free(chain.steps);
    return kind;
}

/* The root that a place names in the collective that it is in; EVENT_UNKNOWN: none. */
static int32_t root_of(const struct place *place)
{
    if (place->depth == 0 || place->ordinal == 0)
        return EVENT_UNKNOWN;
    for (size_t i = 0; i < place->item_count; i++)
        if (place->items[i].pending.what == PENDING_ROOT && place->items[i].pending.partner >= 0)
            return place->items[i].pending.partner;
    return EVENT_UNKNOWN;
}

static void say_root(struct judging *judging, const struct place *place)
{
    say_process(judging, false, place->process);
    text_append(judging->text, sizeof judging->text, "names process %s in ",
                text_number((uint64_t)root_of(place)).text);
    say_call(judging->text, judging->state, place->state, place->site);
    add_process(judging, place->process);
}

/* What a process has named as the root of the collective that a place is in: a process or enum event_root;
   EVENT_UNKNOWN: it has not entered it, or it is not known. */
static int32_t root_named_by(const struct judging *judging, uint32_t process, const struct place *like)
{
    const struct stuck_state *state = judging->state;
    const struct member *member = state_member(state, like->comm, process);
    uint64_t ordinal = like->ordinal;
    if (!member || member->count < ordinal || ordinal + COLLECTIVES_KEPT <= member->count ||
        member->states[ordinal % COLLECTIVES_KEPT] != state->defs->states[like->state].first_of_name)
        return EVENT_UNKNOWN;
    if (member->roots[ordinal % COLLECTIVES_KEPT] != EVENT_UNKNOWN)
        return member->roots[ordinal % COLLECTIVES_KEPT];
    const struct node *node = graph_process(&judging->graph, process);
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct place *place = &state->places[judging->graph.edges[node->first_edge + i].to];
        if (place->depth == 0 || place->ordinal != ordinal ||
            state_comm(state, place->comm) != state_comm(state, like->comm))
            continue;
        for (size_t k = 0; k < place->item_count; k++)
            if (place->items[k].pending.what == PENDING_ROOT)
                return place->items[k].pending.partner;
    }
    return EVENT_UNKNOWN;
}

/* The collective that a place is in, or one of the last before it on the same communicator: as of a place in it. False:
   its function is not known. */
static bool collective_before(const struct stuck_state *state, const struct place *place, uint64_t back,
                              struct place *like)
{
    const struct member *member = state_member(state, place->comm, place->process);
    if (place->depth == 0 || place->ordinal <= back || !member ||
        place->ordinal - back + COLLECTIVES_KEPT <= member->count)
        return false;
    *like = *place;
    like->ordinal -= back;
    like->state = member->states[like->ordinal % COLLECTIVES_KEPT];
    if (back > 0)
        like->site = 0;
    return like->state < state->defs->state_count;
}

/* A collective that a place is in, or has been in, and whose root has named another one, or none. MPI may take messages
   of the next collective for those of the one before, so that it is there that all wait. */
static bool root_is_none(const struct judging *judging, struct place *like)
{
    const struct stuck_state *state = judging->state;
    for (size_t i = 0; i < state->place_count; i++)
        for (uint64_t back = 0; back + 1 < COLLECTIVES_KEPT; back++) {
            const struct place *place = &state->places[i];
            if (place_is_gone(state, place) || !collective_before(state, place, back, like))
                continue;
            int32_t root = root_named_by(judging, place->process, like), named = EVENT_UNKNOWN;
            if (root >= 0 && (uint32_t)root < judging->graph.processes)
                named = root_named_by(judging, (uint32_t)root, like);
            if (named != EVENT_UNKNOWN && named != ROOT_SELF && named != root)
                return true;
        }
    return false;
}

static enum stuck_kind judge_root_is_none(struct judging *judging, const struct place *like)
{
    uint32_t root = (uint32_t)root_named_by(judging, like->process, like);
    int32_t named = root_named_by(judging, root, like);
    add_process(judging, like->process);
    add_process(judging, root);
    say_process(judging, true, like->process);
    text_append(judging->text, sizeof judging->text, "names process %s in ", text_number(root).text);
    say_call(judging->text, judging->state, like->state, like->site);
    say(judging, " on ");
    say_comm(judging->text, judging->state, like->comm);
    say(judging, " as the root, but that names ");
    if (named >= 0)
        text_append(judging->text, sizeof judging->text, "process %s.", text_number((uint64_t)named).text);
    else
        say(judging, "none in the other group (MPI_PROC_NULL).");
    return STUCK_MISMATCH;
}

/* A place that is the root for the other group of an inter-communicator, of which a process is a root or takes no part,
   too. */
static const struct place *root_of_roots(const struct judging *judging, uint32_t *other)
{
    const struct stuck_state *state = judging->state;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (place->depth == 0 || place->ordinal == 0 || root_named_by(judging, place->process, place) != ROOT_SELF)
            continue;
        for (uint32_t process = 0; process < judging->graph.processes; process++) {
            if (defs_comm_rank(state->defs, place->comm, process) >= 0)
                continue;
            int32_t named = root_named_by(judging, process, place);
            *other = process;
            if (named == ROOT_SELF || named == ROOT_BESIDE)
                return place;
        }
    }
    return NULL;
}

static enum stuck_kind judge_two_roots(struct judging *judging, const struct place *place, uint32_t other)
{
    bool root = root_named_by(judging, other, place) == ROOT_SELF;
    add_process(judging, place->process);
    add_process(judging, other);
    say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    say(judging, " as the root for the other group (MPI_ROOT), in which ");
    say_process(judging, false, other);
    say(judging, root ? "is a root as well." : "takes no part (MPI_PROC_NULL).");
    return STUCK_MISMATCH;
}

/* A place in a neighbourhood collective, and a neighbour of it whose neighbour it is not. */
static const struct place *one_way(const struct judging *judging, const struct neighbour **neighbour)
{
    const struct stuck_state *state = judging->state;
    struct map in = {0}; /* (communicator, process) -> 1 + place */
    const struct place *found = NULL;
    for (size_t i = 0; i < state->place_count && state->neighbour_count > 0; i++) {
        const struct place *place = &state->places[i];
        if (place->depth > 0 && place->ordinal && place->state < state->collective_count &&
            state->collectives[place->state].shape == SHAPE_NEIGHBOURS && !place_is_gone(state, place))
            *map_put(&in, map_pair((uint32_t)place->comm, place->process), 0) = i + 1;
    }
    for (size_t i = 0; i < state->neighbour_count && !found; i++) {
        const struct neighbour *one = &state->neighbours[i];
        const uint64_t *place = map_find(&in, map_pair((uint32_t)one->comm, one->process));
        int32_t other = EVENT_UNKNOWN;
        if (place && one->rank >= 0 && one->way != NEIGHBOURS_BOTH)
            other = defs_world_rank(state->defs, one->comm, one->rank);
        int32_t mine = defs_comm_rank(state->defs, one->comm, one->process);
        if (other < 0 || !state_has_neighbours(state, one->comm, (uint32_t)other) ||
            state_neighbours(state, one->comm, (uint32_t)other, mine, NEIGHBOURS_BOTH & ~one->way))
            continue;
        found = &state->places[*place - 1];
        *neighbour = one;
    }
    map_clear(&in);
    return found;
}

static enum stuck_kind judge_one_way(struct judging *judging, const struct place *place,
                                     const struct neighbour *neighbour)
{
    uint32_t other = (uint32_t)defs_world_rank(judging->state->defs, neighbour->comm, neighbour->rank);
    bool source = neighbour->way == NEIGHBOURS_SOURCES;
    add_process(judging, place->process);
    add_process(judging, other);
    say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    say(judging, source ? ", where it expects data of " : ", where it sends data to ");
    say_process(judging, false, other);
    text_append(judging->text, sizeof judging->text,
                "(its %s in the topology), but that does not have process %s as a %s.",
                source ? "source" : "destination", text_number(place->process).text, source ? "destination" : "source");
    return STUCK_MISMATCH;
}

/* Two members that are in the same collective, and each waits for its own root. */
static enum stuck_kind judge_roots(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    struct map first = {0}; /* communicator and ordinal -> 1 + the first place in it */
    const struct place *left = NULL, *right = NULL;
    for (size_t i = 0; i < state->place_count && !right; i++) {
        const struct place *place = &state->places[i];
        if (root_of(place) < 0 || place_is_gone(state, place))
            continue;
        uint64_t *known =
            map_put(&first, map_pair((uint32_t)state_comm(state, place->comm), (uint32_t)place->ordinal), 0);
        if (*known == 0)
            *known = i + 1;
        left = &state->places[*known - 1];
        if (left->state == place->state && root_of(left) != root_of(place))
            right = place;
    }
    map_clear(&first);
    if (!right)
        return STUCK_SLOW;
    say(judging, "Members of ");
    say_comm(judging->text, state, left->comm);
    say(judging, " name different roots of the same collective: ");
    say_root(judging, left);
    say(judging, ", ");
    say_root(judging, right);
    say(judging, ".");
    return STUCK_MISMATCH;
}

/* All have entered their collectives: what does not fit in their arguments. */
static enum stuck_kind judge_arguments(struct judging *judging)
{
    uint32_t other = 0;
    const struct neighbour *neighbour = NULL;
    const struct place *place;
    struct place like;
    if (root_is_none(judging, &like))
        return judge_root_is_none(judging, &like);
    if ((place = root_of_roots(judging, &other)))
        return judge_two_roots(judging, place, other);
    if ((place = one_way(judging, &neighbour)))
        return judge_one_way(judging, place, neighbour);
    return judge_roots(judging);
}

/* A place in a collective that all have entered whom it waits for: whether its data take long, or its arguments do not
   fit those of the others, is not known. */
static const struct place *in_whole_collective(const struct judging *judging)
{
    for (size_t i = 0; i < judging->state->place_count; i++) {
        const struct place *place = &judging->state->places[i];
        const struct node *node = &judging->graph.nodes[i];
        if (place->ordinal == 0 || node->edge_count != 1 || is_leaving(judging, place))
            continue;
        const struct node *to = &judging->graph.nodes[judging->graph.edges[node->first_edge].to];
        if (to->kind == NODE_INSTANCE && to->edge_count == 0)
            return place;
    }
    return NULL;
}

/* The side that waits for another program to meet it. */
static const struct place *waits_for_program(const struct judging *judging)
{
    const struct place *place = in_whole_collective(judging);
    bool waits =
        place && (is_in(judging->state, place, "MPI_Comm_accept") || is_in(judging->state, place, "MPI_Comm_connect"));
    return waits ? place : NULL;
}

/* Nobody goes on except by what another program does, and that does nothing. */
static enum stuck_kind judge_meeting(struct judging *judging, const struct place *place)
{
    bool accepts = is_in(judging->state, place, "MPI_Comm_accept");
    add_process(judging, place->process);
    say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    say(judging, accepts ? ", and no other program has come by MPI_Comm_connect."
                         : ", and no other program has taken it in by MPI_Comm_accept.");
    return STUCK_UNMATCHED;
}

static void say_slow(struct judging *judging, bool quiet, size_t running)
{
    const struct stuck_state *state = judging->state;
    char time[TEXT_NUMBER_SIZE];
    if (!quiet) {
        say(judging, "The run went on until it was ended.");
        return;
    }
    judging->stuck->quiet = true;
    text_append(judging->text, sizeof judging->text,
                "No call was entered or left for %s; what was recorded does not show why.",
                text_duration(time, time_since(state->progress_ns, state->end_ns)));
    const struct place *place = running == 0 ? in_whole_collective(judging) : NULL;
    if (!place)
        return;
    say(judging, " ");
    say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    say(judging, ", which all others have entered: its data may take long, or its arguments may not fit theirs.");
}

/* Sorted ranks without this one, each once. */
static size_t other_ranks(uint32_t *ranks, size_t count, uint32_t without)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (ranks[i] != without && (kept == 0 || ranks[kept - 1] != ranks[i]))
            ranks[kept++] = ranks[i];
    return kept;
}

/* What another thread of a process is in that computes: the one may wait for the other, outside MPI. */
static void say_other_thread(struct judging *judging, const struct place *one)
{
    const struct stuck_state *state = judging->state;
    const struct node *node = graph_process(&judging->graph, one->process);
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct place *place = &state->places[judging->graph.edges[node->first_edge + i].to];
        if (place == one || place->depth == 0 || is_leaving(judging, place))
            continue;
        text_append(judging->text, sizeof judging->text, " Another thread of process %s ",
                    text_number(one->process).text);
        say_doing(judging->text, &judging->graph, place);
        say(judging, ".");
        return;
    }
}

/* All wait for some processes that compute, or test for something that may come. */
static enum stuck_kind judge_running(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    int64_t quiet_ns = time_since(state->progress_ns, state->end_ns);
    size_t waiting = 0, running = 0;
    uint32_t *ranks = memory_new((state->place_count + 1) * sizeof *ranks);
    const struct place *one = NULL;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        bool computes =
            place->depth == 0 && place->has_ending && !place_is_gone(state, place) && !place_joins(state, place);
        if (computes && !place_polls(state, place)) {
            ranks[running++] = place->process;
            if (!one || place->process < one->process)
                one = place;
        }
    }
    /* Other threads of a process that computes are no others. */
    for (size_t i = 0; i < state->place_count; i++) {
        bool own = false;
        for (size_t k = 0; k < running && !own; k++)
            own = ranks[k] == state->places[i].process;
        waiting += state->places[i].depth > 0 && !own;
    }
    /* Five times the longest pause of the run so far: a program that computes for minutes between its calls is not
       stuck after one. */
    bool quiet = quiet_ns >= COMPUTING_QUIET_NS && quiet_ns / COMPUTING_PACES >= state->longest_gap_ns;
    const struct place *polls = poller(judging, false);
    enum stuck_kind kind = STUCK_SLOW;
    if (quiet && running > 0 && waiting > 0) {
        kind = STUCK_COMPUTING;
        qsort(ranks, running, sizeof *ranks, compare_ranks);
        for (size_t i = 0; i < running; i++)
            add_process(judging, ranks[i]);
        say_process(judging, true, one->process);
        say_doing(judging->text, &judging->graph, one);
        size_t others = other_ranks(ranks, running, one->process);
        if (others > 0) {
            say(judging, others == 1 ? ", and so has " : ", and so have ");
            say_processes(judging->text, ranks, others);
        }
        text_append(judging->text, sizeof judging->text, "; %s process%s for %s.", text_number(waiting).text,
                    waiting == 1 ? " waits" : "es wait", others == 0 ? "it" : "them");
        say_other_thread(judging, one);
    } else if (quiet && running == 0 && polls) {
        kind = judge_polling(judging, polls);
    } else if (quiet) {
        const struct place *meets = running == 0 ? waits_for_program(judging) : NULL;
        kind = meets ? judge_meeting(judging, meets) : judge_arguments(judging);
    }
    if (kind == STUCK_SLOW)
        say_slow(judging, quiet, running);
    else
        judging->stuck->since_ns = state->progress_ns;
    free(ranks);
    return kind;
}

/* When the process ended: MPI_Abort ends it when it is called, whatever the recorder sees afterwards. */
static int64_t ended_ns(const struct stuck_state *state, const struct place *place)
{
    return is_in(state, place, "MPI_Abort") ? place->enter_ns : place->last_ns;
}

/* True if it may have exited without a note. */
static bool has_exited(const struct place *place)
{
    return place->ended == PENDING_DIED && place->code <= 0;
}

/* When the process ended, beside others. That one was killed is seen a little later, and those that lose their
   connection to it may have crashed for that already. MPI_Abort kills others. */
static int64_t died_ns(const struct stuck_state *state, const struct place *place)
{
    bool late = place->ended == PENDING_DIED || is_in(state, place, "MPI_Abort");
    return ended_ns(state, place) - (late ? SEEN_LATE_NS : 0);
}

/* The first process that ended where it should not have. Launchers kill the others then, so that later ones are only
   victims. */
static const struct place *first_ended(const struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    const struct place *first = NULL;
    bool alive = false;
    for (size_t i = 0; i < state->place_count; i++)
        alive |= state->places[i].has_ending && !place_has_ended(&state->places[i]) && !has_exited(&state->places[i]);
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        /* To exit is wrong only while others still need the process, with code 0 or where that may be what happened. */
        bool exited = has_exited(place) || (place->ended == PENDING_EXIT && place->code == 0);
        bool bad = place->ended >= PENDING_SIGNAL && (!exited || alive);
        if (!place->has_ending || (!bad && !is_in(state, place, "MPI_Abort")))
            continue;
        if (!first || died_ns(state, place) < died_ns(state, first))
            first = place;
    }
    return first;
}

static enum stuck_kind judge_ended(struct judging *judging, const struct place *place)
{
    const struct stuck_state *state = judging->state;
    size_t waiting = 0;
    add_process(judging, place->process);
    say_process(judging, true, place->process);
    if (is_in(state, place, "MPI_Abort")) {
        say(judging, "called ");
        say_call(judging->text, state, place->state, place->site);
        for (size_t i = 0; i < place->item_count; i++)
            if (place->items[i].pending.what == PENDING_ABORT)
                text_append(judging->text, sizeof judging->text, " with code %d", place->items[i].pending.tag);
    } else if (place->ended == PENDING_DIED) {
        say_died(judging->text, state, place);
        judging->stuck->died = true;
    } else {
        say_doing(judging->text, &judging->graph, place);
    }
    judging->stuck->since_ns = ended_ns(state, place);
    /* A launcher ends the others at once, if it sees that one has ended. */
    const char *when = "then";
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *other = &state->places[i];
        if (other->process == place->process && place->ended == PENDING_DIED)
            continue;
        waiting += other != place && other->depth > 0;
        if (place->ended == PENDING_DIED && other->progress_ns > place->last_ns)
            when = "at the end";
    }
    if (waiting > 0)
        text_append(judging->text, sizeof judging->text, "; %s other%s in MPI %s.", text_number(waiting).text,
                    waiting == 1 ? " was" : "s were", when);
    else
        say(judging, ".");
    return STUCK_ENDED;
}

/* A run ended with SIGABRT to see where it hangs: all remaining
   processes got it inside MPI. One that aborts alone, or outside MPI, has failed an assertion of its own. */
static void forgive_aborts(struct stuck_state *state)
{
    size_t ended = 0;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (!place->has_ending)
            continue;
        if (place->ended != PENDING_SIGNAL || place->code != SIGABRT || place->depth == 0)
            return;
        ended++;
    }
    for (size_t i = 0; i < state->place_count && ended > 1; i++)
        state->places[i].ended = PENDING_ALIVE;
}

/* True for runs that did not finish, as far as recorded. Other recorders write their traces in
   MPI_Finalize, which is then open. */
static bool is_unfinished(const struct stuck_state *state)
{
    bool unfinished = state->has_ending;
    for (size_t i = 0; i < state->place_count && !unfinished; i++)
        unfinished = state->places[i].depth > 0 && !is_in(state, &state->places[i], "MPI_Finalize");
    return state->wanted && unfinished;
}

/* True if a process died just when it had come to where it would hang: a moment later it may not have been there. */
static bool has_died_early(const struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        if (place->ended == PENDING_DIED && is_dead(judging, place) && !is_leaving(judging, place) &&
            time_since(place->progress_ns, place->last_ns) < STUCK_QUIET_NS)
            return true;
    }
    return false;
}

static enum stuck_kind judge(struct judging *judging)
{
    const struct place *ended = first_ended(judging);
    bool died = ended && ended->ended == PENDING_DIED && !is_in(judging->state, ended, "MPI_Abort");
    if (ended && !died)
        return judge_ended(judging, ended);
    /* Who sees that a program hangs may kill one of its processes. */
    enum stuck_kind kind = STUCK_NOT;
    if (!died || !has_died_early(judging))
        kind = judge_dead(judging);
    if (kind != STUCK_NOT)
        return kind;
    if (died)
        return judge_ended(judging, ended);
    /* Without the recorder's marks of how processes ended, a trace that just stops looks like a run that goes on. */
    return judging->state->has_ending ? judge_running(judging) : STUCK_NOT;
}

static struct stuck_call call_of(const struct judging *judging, const struct place *place)
{
    bool open = place->depth > 0;
    struct stuck_call call = {.rank = place->process,
                              .state = UINT32_MAX,
                              .last = place->state,
                              .site = place->site,
                              .partner = EVENT_UNKNOWN,
                              .tag = EVENT_UNKNOWN,
                              .comm = EVENT_UNKNOWN,
                              .since_ns = place->left_ns,
                              .died = place->ended == PENDING_DIED,
                              .died_ns = place->last_ns};
    if (open) {
        call.state = place->state;
        call.last = UINT32_MAX;
        call.comm = place->comm;
        call.since_ns = place->enter_ns;
    }
    /* Of several items, the one that the verdict follows; else the first that the call waits for. */
    struct step step = step_from(judging, place);
    const struct item *item = NULL;
    if (step.next)
        item = item_of(&step);
    for (size_t i = 0; i < place->item_count && !item; i++)
        if (place->items[i].pending.how & PENDING_WAITED && place->items[i].pending.what != PENDING_ROOT)
            item = &place->items[i];
    if (open && item) {
        call.partner = item->pending.partner;
        call.tag = item->pending.tag;
        call.comm = item->comm;
    } else if (open && place->sends) {
        call.partner = place->send_partner;
        call.tag = place->send_tag;
    }
    return call;
}

/* How long the process of a place has waited. */
static int64_t waited_ns(const struct stuck_state *state, const struct place *place)
{
    if (place_is_gone(state, place) || is_in(state, place, "MPI_Finalize"))
        return 0;
    if (place->state == UINT32_MAX)
        return INT64_MAX;
    /* Since when is before what was read. */
    if (!place->progressed && state_is_test(state, place->state))
        return INT64_MAX;
    bool waits = place->depth > 0 || state_is_test(state, place->state);
    return waits ? time_since(place->progress_ns, state->end_ns) : 0;
}

static int compare_calls(const void *a, const void *b)
{
    const struct stuck_call *left = a, *right = b;
    return order_by(left->rank, right->rank);
}

static void collect_calls(struct judging *judging)
{
    const struct stuck_state *state = judging->state;
    struct stuck *stuck = judging->stuck;
    size_t capacity = 0;
    for (size_t i = 0; i < state->place_count; i++) {
        const struct place *place = &state->places[i];
        stuck->waited_ns = larger(stuck->waited_ns, waited_ns(state, place));
        if (place->has_ending || place->depth > 0)
            ARRAY_PUSH(stuck->calls, stuck->call_count, capacity, call_of(judging, place));
    }
    if (stuck->call_count > 0)
        qsort(stuck->calls, stuck->call_count, sizeof *stuck->calls, compare_calls);
}

struct stuck *stuck_builder_end(struct stuck_builder *builder)
{
    struct judging judging = {.stuck = memory_new(sizeof *judging.stuck), .state = &builder->state};
    struct stuck *stuck = judging.stuck;
    stuck->defs = builder->state.defs;
    stuck->begin_ns = builder->state.begin_ns;
    stuck->progress_ns = builder->state.progress_ns;
    stuck->end_ns = stuck->since_ns = builder->state.end_ns;
    /* Finished runs cost nothing beyond this test. */
    if (builder->state.defs && is_unfinished(&builder->state)) {
        forgive_aborts(&builder->state);
        stuck_graph_make(&judging.graph, &builder->state);
        stuck->kind = judge(&judging);
        collect_calls(&judging);
        stuck_graph_clear(&judging.graph);
        if (stuck->process_count > 0)
            qsort(stuck->processes, stuck->process_count, sizeof *stuck->processes, compare_ranks);
        if (stuck->kind != STUCK_NOT)
            stuck->text = memory_copy_string(judging.text);
    }
    stuck_state_clear(&builder->state);
    free(builder);
    return stuck;
}

static uint32_t *copy_ranks(const uint32_t *ranks, size_t count)
{
    uint32_t *copy = memory_new((count + 1) * sizeof *copy);
    if (count > 0)
        memcpy(copy, ranks, count * sizeof *copy);
    return copy;
}

bool stuck_still(struct stuck *now, const struct stuck *before)
{
    /* Others change with time: a process that computes for long becomes the reason, a loop of tests goes on. */
    bool lasts = before->kind == STUCK_CYCLE || before->kind == STUCK_MISSING || before->kind == STUCK_MISMATCH ||
                 before->kind == STUCK_UNMATCHED;
    if (!lasts || now->progress_ns != before->progress_ns || now->call_count != before->call_count)
        return false;
    free(now->text);
    free(now->processes);
    free(now->cycle);
    now->kind = before->kind;
    now->text = memory_copy_string(before->text);
    now->since_ns = before->since_ns;
    now->processes = copy_ranks(before->processes, before->process_count);
    now->process_count = before->process_count;
    now->cycle = copy_ranks(before->cycle, before->cycle_count);
    now->cycle_count = before->cycle_count;
    return true;
}

void stuck_free(struct stuck *stuck)
{
    if (!stuck)
        return;
    free(stuck->text);
    free(stuck->processes);
    free(stuck->cycle);
    free(stuck->calls);
    free(stuck);
}
