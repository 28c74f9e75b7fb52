/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/stuck_events.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

enum { OUTER_CALLS = 16 };

/* Counts a collective that a process enters; its number on the communicator. */
static uint64_t enter_collective(struct stuck_state *state, const struct event *event)
{
    struct member *member = state_member_put(state, event);
    /* Processes of a hang are at most a few collectives apart: older functions are overwritten. */
    member->count++;
    member->states[member->count % COLLECTIVES_KEPT] = state->defs->states[event->state].first_of_name;
    member->roots[member->count % COLLECTIVES_KEPT] = EVENT_UNKNOWN;
    return member->count;
}

/* Notes a persistent collective that a process prepares; its number among those of the communicator. */
static uint64_t prepare_collective(struct stuck_state *state, const struct event *event)
{
    uint32_t comm = (uint32_t)state_comm(state, event->comm);
    uint64_t *index = map_put(&state->preparer_of, map_pair(comm, event->process), UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = state->preparer_count;
        ARRAY_PUSH(state->preparers, state->preparer_count, state->preparer_capacity, (struct preparer){0});
    }
    struct preparer *preparer = &state->preparers[*index];
    struct prepared prepared = {.state = state->defs->states[event->state].first_of_name};
    ARRAY_PUSH(preparer->prepared, preparer->count, preparer->capacity, prepared);
    return preparer->count;
}

/* Progress of one counts for all: the longest time without progress is the run's own pace. Time before the program
   begins does not count. */
static void note_progress(struct stuck_state *state, struct place *place, const struct event *event)
{
    /* A rank may be in MPI_Init long before the others: that is the launcher's pace, not the program's. */
    bool starts = event->kind == EVENT_LEAVE && (state_traits(state, event->state) & TRAIT_INIT);
    int64_t gap = time_since(state->progress_ns, event->time_ns);
    if (!starts && state->progress_ns != INT64_MIN && gap > state->longest_gap_ns)
        state->longest_gap_ns = gap;
    state->progress_ns = larger(state->progress_ns, event->time_ns);
    place->progress_ns = event->time_ns;
    place->progressed = true;
    place->polls = 0;
}

/* Epochs begun and ended; MPI_Win_start when it is entered, since it may wait itself. */
static void note_epoch(struct stuck_state *state, const struct place *place, bool enters)
{
    const char *name = state_name(state, place->state);
    bool start = strcmp(name, "MPI_Win_start") == 0;
    bool ends = strcmp(name, "MPI_Win_post") == 0 || strcmp(name, "MPI_Win_complete") == 0;
    if ((start && enters) || (ends && !enters))
        ++*map_put(&state->epochs, epoch_key(name, place->comm, place->process), 0);
}

/* What is known of the open call. */
static void copy_call(struct place *to, const struct place *from)
{
    to->state = from->state;
    to->site = from->site;
    to->comm = from->comm;
    to->ordinal = from->ordinal;
    to->enter_ns = from->enter_ns;
    to->sends = from->sends;
    to->send_partner = from->send_partner;
    to->send_tag = from->send_tag;
    to->send_comm = from->send_comm;
    to->received = from->received;
    to->first = from->first;
    to->last = from->last;
    to->step = from->step;
    to->lock = from->lock;
    to->group = from->group;
}

/* A call within another one. True if it counts: the process waits in it, not in the outer one. Of other recorders only
   the outermost call counts: what MPI calls inside, it waits for itself. */
static bool enter_inner(struct stuck_state *state, struct place *place)
{
    if (!state->callbacks || place->outer_count == OUTER_CALLS || place->outer_count + 1 < place->depth)
        return false;
    struct place outer = {0};
    copy_call(&outer, place);
    ARRAY_PUSH(place->outer, place->outer_count, place->outer_capacity, outer);
    state->interrupted = true;
    return true;
}

static void on_enter(struct stuck_state *state, const struct event *event)
{
    const struct state_def *def = &state->defs->states[event->state];
    struct place *place = state_place(state, event);
    place->last_ns = event->time_ns;
    place->votes = 0;
    if (!def->is_mpi)
        return;
    if (place->depth > 0 && !enter_inner(state, place)) {
        place->depth++;
        return;
    }
    place->depth++;
    bool test = state_is_test(state, event->state);
    place->state = event->state;
    place->site = event->site;
    place->comm = event->comm;
    place->enter_ns = event->time_ns;
    place->sends = place->received = place->passed = false;
    place->step = 0;
    place->group = 0;
    place->ordinal = 0;
    /* States may be defined after the table was made (CLOG-2 without definitions). */
    uint8_t stage = STAGE_NONE;
    if (event->state < state->collective_count)
        stage = state->collectives[event->state].stage;
    if ((stage == STAGE_BLOCKING || stage == STAGE_POSTED || stage == STAGE_SPLIT) && event->comm != EVENT_UNKNOWN)
        place->ordinal = enter_collective(state, event);
    if (stage == STAGE_PREPARED && event->comm != EVENT_UNKNOWN)
        place->ordinal = prepare_collective(state, event);
    if (def->class == CLASS_RMA)
        note_epoch(state, place, true);
    /* A test may fail: whether it was progress is known when it returns. */
    if (!test)
        note_progress(state, place, event);
}

/* A lock is held from when MPI_Win_lock returns to when MPI_Win_unlock does. */
static void note_locks(struct stuck_state *state, const struct place *place, int64_t time_ns)
{
    const char *name = state_name(state, place->state);
    if (strncmp(name, "MPI_Win_lock", 12) == 0)
        for (int32_t rank = place->first; place->step > 0 && rank <= place->last; rank += place->step)
            ARRAY_PUSH(state->locks, state->lock_count, state->lock_capacity,
                       (struct held_lock){.comm = place->comm,
                                          .target = rank,
                                          .process = place->process,
                                          .lock = place->lock,
                                          .since_ns = time_ns});
    if (strncmp(name, "MPI_Win_unlock", 14) != 0)
        return;
    bool all = strcmp(name, "MPI_Win_unlock_all") == 0;
    size_t kept = 0;
    for (size_t i = 0; i < state->lock_count; i++) {
        const struct held_lock *lock = &state->locks[i];
        if (lock->comm != place->comm || lock->process != place->process || (!all && lock->target != place->first))
            state->locks[kept++] = *lock;
    }
    state->lock_count = kept;
}

static void note_posted(struct stuck_state *state, const struct place *place, const struct event *event)
{
    bool persistent =
        place->state < state->collective_count && state->collectives[place->state].stage == STAGE_PREPARED;
    for (uint32_t i = 0; i < event->requests; i++) {
        uint64_t *index =
            map_put(&state->posted_of, map_pair(event->process, (uint32_t)event->request + i), UINT64_MAX);
        /* The same request number again: the former operation has completed. */
        struct posted posted = {
            .comm = place->comm, .ordinal = place->ordinal, .state = place->state, .persistent = persistent};
        if (*index != UINT64_MAX) {
            state->posted[*index] = posted;
            continue;
        }
        *index = state->posted_count;
        ARRAY_PUSH(state->posted, state->posted_count, state->posted_capacity, posted);
    }
}

static void note_started(struct stuck_state *state, const struct event *event)
{
    for (uint32_t i = 0; i < event->requests; i++) {
        const struct posted *posted = state_posted(state, event->process, (int32_t)(event->request + i));
        struct prepared *prepared = NULL;
        if (posted && posted->persistent)
            prepared = state_prepared(state, posted->comm, event->process, posted->ordinal);
        if (prepared)
            prepared->starts++;
    }
}

/* What the requests of an event are to the open call. */
static void note_requests(struct stuck_state *state, const struct place *place, const struct event *event)
{
    if (event->requests && state_traits(state, place->state) & TRAIT_START)
        note_started(state, event);
    else if (event->requests && place->ordinal)
        note_posted(state, place, event);
}

/* The root that a collective had which returns. */
static void note_root(struct stuck_state *state, const struct place *place, const struct event *event)
{
    struct member *member = state_member_put(state, event);
    /* Another thread may have entered some since. */
    if (place->ordinal > member->count || place->ordinal + COLLECTIVES_KEPT <= member->count)
        return;
    const uint64_t *other = map_find(&state->other_side, (uint64_t)(uint32_t)event->comm);
    int32_t root = event->tag;
    if (root >= 0)
        root = defs_world_rank(state->defs, other ? (int32_t)*other : event->comm, root);
    member->roots[place->ordinal % COLLECTIVES_KEPT] = root;
}

static void leave_call(struct stuck_state *state, struct place *place, const struct event *event)
{
    const struct state_def *def = &state->defs->states[event->state];
    place->left_ns = event->time_ns;
    if (def->class == CLASS_RMA) {
        note_locks(state, place, event->time_ns);
        note_epoch(state, place, false);
    }
    if (def->rooted && place->ordinal && event->comm >= 0 && event->tag != EVENT_UNKNOWN)
        note_root(state, place, event);
    if (state_traits(state, event->state) & TRAIT_TEAM)
        state_team_enter(state, place);
    note_requests(state, place, event);
    place->finalized |= (state_traits(state, event->state) & TRAIT_FINALIZE) != 0;
    /* A test that completes requests or receives a message is progress; progress_ns is later than the enter only
       after a message in this call. */
    bool failed = state_is_test(state, event->state) && event->requests == 0 && place->progress_ns < place->enter_ns;
    if (failed)
        place->polls++;
    else
        note_progress(state, place, event);
}

static void on_leave(struct stuck_state *state, const struct event *event)
{
    const struct state_def *def = &state->defs->states[event->state];
    struct place *place = state_place(state, event);
    place->last_ns = event->time_ns;
    if (!def->is_mpi || place->depth == 0)
        return;
    if (--place->depth > place->outer_count) {
        place->passed = true;
        return;
    }
    leave_call(state, place, event);
    if (place->outer_count > 0)
        copy_call(place, &place->outer[--place->outer_count]);
}

static void on_message(struct stuck_state *state, const struct event *event)
{
    struct place *place = state_place(state, event);
    place->last_ns = event->time_ns;
    note_progress(state, place, event);
    bool send = event->kind == EVENT_SEND;
    place->received |= !send && place->depth > 0;
    if (event->partner < 0)
        return;
    struct channel_balance *channel = state_count_messages(state, event, 1);
    if (!send)
        return;
    channel->send_site = place->site;
    channel->send_state = place->state;
    /* The open call has sent: if it never returns, it waits for this receive. */
    if (place->depth > 0) {
        place->sends = true;
        place->send_partner = event->partner;
        place->send_tag = event->tag;
        place->send_comm = event->comm;
    }
}

/* How long before the mark; not before the last thing that the process did. */
static int64_t died_since(const struct place *place, const struct pending *pending)
{
    int64_t since_ns = larger(pending->partitions, 0) * INT64_C(1000000000) + larger(pending->ready, 0);
    return smaller(since_ns, time_since(place->progress_ns, place->last_ns));
}

static void on_pending(struct stuck_state *state, const struct event *event, const struct batch *batch)
{
    struct place *place = state_place(state, event);
    struct item item = {.comm = event->comm};
    place->last_ns = event->time_ns;
    /* Other formats keep its name alone. */
    if (event->payload_length == 0)
        return;
    payload_get_pending(batch->arena + event->payload, event->payload_length, &item.pending);
    place->has_ending = state->has_ending = true;
    if (pending_ends(item.pending.what)) {
        place->ended = item.pending.what;
        place->code = item.pending.tag;
        if (item.pending.what == PENDING_DIED)
            place->last_ns -= died_since(place, &item.pending);
        state->end_known |= item.pending.what == PENDING_ALIVE && item.pending.tag == 0;
    } else {
        ARRAY_PUSH(place->items, place->item_count, place->item_capacity, item);
    }
}

static void on_ranks(struct stuck_state *state, const struct event *event, const struct batch *batch)
{
    struct place *place = state_place(state, event);
    struct pending ranks; /* four numbers, too */
    payload_get_pending(batch->arena + event->payload, event->payload_length, &ranks);
    bool begins = place->step == 0; /* a group may take several marks */
    place->first = ranks.what;
    place->last = ranks.partner;
    place->step = ranks.tag > 0 ? ranks.tag : 1;
    place->lock = ranks.how;
    const char *name = state_name(state, place->state);
    struct group_range range = {.first = ranks.what, .last = ranks.partner, .step = ranks.tag};
    if (state_traits(state, place->state) & TRAIT_TEAM) {
        range.next = place->group;
        ARRAY_PUSH(state->ranges, state->range_count, state->range_capacity, range);
        place->group = (uint32_t)state->range_count;
        return;
    }
    if (strcmp(name, "MPI_Win_start") != 0 && strcmp(name, "MPI_Win_post") != 0)
        return;
    uint64_t *latest = map_put(&state->groups, epoch_key(name, place->comm, place->process), 0);
    if (!begins)
        range.next = (uint32_t)*latest;
    ARRAY_PUSH(state->ranges, state->range_count, state->range_capacity, range);
    *latest = state->range_count;
}

/* Of a function whose leave has no place for them, as it has bytes (MPI_Iallreduce): a mark inside. */
static void on_requests(struct stuck_state *state, const struct event *event)
{
    const struct place *place = state_place(state, event);
    if (place->depth > 0)
        note_requests(state, place, event);
}

static void on_mark(struct stuck_state *state, const struct event *event, const struct batch *batch)
{
    if (event->state + 1 == state->pending_mark)
        on_pending(state, event, batch);
    else if (event->state + 1 == state->ranks_mark)
        on_ranks(state, event, batch);
    else if (event->requests)
        on_requests(state, event);
}

/* A process's side of an inter-communicator, and then the other one. */
static void on_comm(struct stuck_state *state, const struct event *event)
{
    if (event->value == COMM_STEP_LOCAL) {
        *map_put(&state->local_side, event->process, 0) = (uint64_t)event->partner_comm;
    } else if (event->value == COMM_STEP_REMOTE) {
        const uint64_t *local = map_find(&state->local_side, event->process);
        if (!local || event->partner_comm < 0)
            return;
        /* Both ways: members of the two groups see the sides exchanged. */
        uint64_t here = *local, there = (uint64_t)event->partner_comm;
        *map_put(&state->other_side, here, 0) = there;
        *map_put(&state->other_side, there, 0) = here;
    }
}

static void on_neighbours(struct stuck_state *state, const struct event *event, const struct batch *batch)
{
    struct neighbours neighbours;
    payload_get_neighbours(batch->arena + event->payload, event->payload_length, &neighbours);
    struct neighbour one = {.comm = event->comm, .process = event->process, .rank = -1, .way = neighbours.way};
    /* One of nobody shows that they are known. */
    ARRAY_PUSH(state->neighbours, state->neighbour_count, state->neighbour_capacity, one);
    for (size_t i = 0; i < NEIGHBOURS_RANKS && neighbours.ranks[i] >= 0; i++) {
        one.rank = neighbours.ranks[i];
        ARRAY_PUSH(state->neighbours, state->neighbour_count, state->neighbour_capacity, one);
    }
}

/* Threads that never call MPI work for the main one. */
static void on_sample(struct stuck_state *state, const struct event *event)
{
    const uint64_t *index = map_find(&state->place_of, map_pair(event->process, event->thread));
    if (!index)
        index = map_find(&state->place_of, map_pair(event->process, 0));
    if (!index)
        return;
    struct place *place = &state->places[*index];
    bool same = place->sampled == event->state && place->votes > 0;
    if (same) {
        place->votes++;
    } else if (place->votes > 1) {
        place->votes--;
    } else {
        place->sampled = event->state;
        place->votes = 1;
    }
}

void stuck_take_event(struct stuck_state *state, const struct event *event, const struct batch *batch)
{
    switch (event->kind) {
    case EVENT_ENTER:
        on_enter(state, event);
        break;
    case EVENT_LEAVE:
        on_leave(state, event);
        break;
    case EVENT_SEND:
    case EVENT_RECEIVE:
        on_message(state, event);
        break;
    case EVENT_MARK:
        on_mark(state, event, batch);
        break;
    case EVENT_COMM_MADE:
        on_comm(state, event);
        break;
    case EVENT_NEIGHBOURS:
        on_neighbours(state, event, batch);
        break;
    case EVENT_SAMPLE:
        on_sample(state, event);
        break;
    default:
        break;
    }
}
