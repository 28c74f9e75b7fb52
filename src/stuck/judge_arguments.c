/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/judge_arguments.h"

#include "core/text.h"

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
    judging_say_process(judging, false, place->process);
    text_append(judging->text, sizeof judging->text, "names process %s in ",
                text_number((uint64_t)root_of(place)).text);
    say_call(judging->text, judging->state, place->state, place->site);
    judging_add_process(judging, place->process);
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
    judging_add_process(judging, like->process);
    judging_add_process(judging, root);
    judging_say_process(judging, true, like->process);
    text_append(judging->text, sizeof judging->text, "names process %s in ", text_number(root).text);
    say_call(judging->text, judging->state, like->state, like->site);
    judging_say(judging, " on ");
    say_comm(judging->text, judging->state, like->comm);
    judging_say(judging, " as the root, but that names ");
    if (named >= 0)
        text_append(judging->text, sizeof judging->text, "process %s.", text_number((uint64_t)named).text);
    else
        judging_say(judging, "none in the other group (MPI_PROC_NULL).");
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
    judging_add_process(judging, place->process);
    judging_add_process(judging, other);
    judging_say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    judging_say(judging, " as the root for the other group (MPI_ROOT), in which ");
    judging_say_process(judging, false, other);
    judging_say(judging, root ? "is a root as well." : "takes no part (MPI_PROC_NULL).");
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
    judging_add_process(judging, place->process);
    judging_add_process(judging, other);
    judging_say_process(judging, true, place->process);
    say_doing(judging->text, &judging->graph, place);
    judging_say(judging, source ? ", where it expects data of " : ", where it sends data to ");
    judging_say_process(judging, false, other);
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
    judging_say(judging, "Members of ");
    say_comm(judging->text, state, left->comm);
    judging_say(judging, " name different roots of the same collective: ");
    say_root(judging, left);
    judging_say(judging, ", ");
    say_root(judging, right);
    judging_say(judging, ".");
    return STUCK_MISMATCH;
}

enum stuck_kind judge_arguments(struct judging *judging)
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
