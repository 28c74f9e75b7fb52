/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of containers, and which of them are processes and threads. */
#include "convert/paje/paje_state.h"

#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { ROOT = 0 };

void paje_containers_begin(struct paje_state *state)
{
    /* The root is "0" by the specification; some writers call it "/". */
    static const char *const names[] = {"0", "/"};
    if (state->container_count == 0) {
        uint32_t symbol = paje_symbol_put(&state->symbols, (struct paje_word){"0", 1});
        struct paje_container root = {
            .parent = PAJE_NONE, .type = PAJE_NONE, .symbol = symbol, .alias = symbol, .lane_type = PAJE_NONE};
        ARRAY_PUSH(state->container, state->container_count, state->container_capacity, root);
    }
    for (size_t i = 0; i < state->symbols.count; i++)
        state->symbols.symbol[i].container = state->symbols.symbol[i].container_named = PAJE_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        state->symbols.symbol[paje_symbol_put(&state->symbols, (struct paje_word){names[i], 1})].container_named = ROOT;
    for (size_t i = 0; i < state->container_count; i++)
        state->container[i].destroyed = false;
    state->create_at = 0;
}

uint32_t paje_container_find(const struct paje_state *state, struct paje_word word)
{
    uint32_t symbol = paje_symbol_find(&state->symbols, word);
    if (symbol == PAJE_NONE)
        return PAJE_NONE;
    const struct paje_symbol *of = &state->symbols.symbol[symbol];
    /* pj_dump takes only the alias where there is one; real writers use either. */
    if (of->container != PAJE_NONE)
        return of->container;
    return of->container_named;
}

/* One that was there before, and is created again after its end, is the same. Else a process that starts again would be
 * another one. */
static uint32_t container_of(struct paje_state *state, const struct paje_container *wanted)
{
    uint64_t *known = map_put(&state->children, map_pair(wanted->parent, wanted->alias), PAJE_NONE);
    if (*known != PAJE_NONE && state->container[*known].symbol == wanted->symbol)
        return (uint32_t)*known;
    *known = state->container_count;
    ARRAY_PUSH(state->container, state->container_count, state->container_capacity, *wanted);
    return (uint32_t)*known;
}

/* Aliases and names are looked up apart: an alias always means one container, a name the first that has it. */
const char *paje_create(struct paje_state *state)
{
    const struct paje_record *record = &state->record;
    struct paje_word alias = paje_word_of(record, FIELD_ALIAS), name = paje_word_of(record, FIELD_NAME);
    if (!(record->has & (1u << FIELD_ALIAS | 1u << FIELD_NAME)))
        return "a container without name";
    struct paje_container container = {.lane_type = PAJE_NONE, .process = PAJE_NONE};
    container.type = paje_type_find(state, paje_word_of(record, FIELD_TYPE));
    container.parent = paje_container_find(state, paje_word_of(record, FIELD_CONTAINER));
    if (container.parent == PAJE_NONE)
        return "a container in one that has not been created";
    if (container.type == PAJE_NONE)
        return "a container of a type that is not defined";
    container.symbol = paje_symbol_put(&state->symbols, record->has & 1u << FIELD_NAME ? name : alias);
    container.alias = paje_symbol_put(&state->symbols, record->has & 1u << FIELD_ALIAS ? alias : name);
    /* The second pass takes the containers of the first one by their place in the file, since names may be used
       again. */
    while (!state->counting && state->create_at < state->created_count &&
           state->created[state->create_at].byte < state->byte)
        state->create_at++;
    /* Not what the first pass made: the file has changed meanwhile. */
    if (!state->counting &&
        (state->create_at == state->created_count || state->created[state->create_at].byte != state->byte))
        return "a container that cannot be created";
    if (container.symbol == PAJE_NONE || container.alias == PAJE_NONE || state->created_count >= PAJE_CONTAINERS_MOST)
        return "more containers than 4,194,304";
    uint32_t before = state->symbols.symbol[container.alias].container;
    bool there = before != PAJE_NONE && !state->container[before].destroyed;
    if (state->counting)
        ARRAY_PUSH(state->created, state->created_count, state->created_capacity,
                   (struct paje_creation){state->byte, container_of(state, &container)});
    const struct paje_creation *creation =
        &state->created[state->counting ? state->created_count - 1 : state->create_at++];
    uint32_t index = creation->container;
    state->container[index].destroyed = false;
    state->symbols.symbol[container.alias].container = index;
    if (state->symbols.symbol[container.symbol].container_named == PAJE_NONE ||
        state->container[state->symbols.symbol[container.symbol].container_named].destroyed)
        state->symbols.symbol[container.symbol].container_named = index;
    if (there)
        return "a container is created that is there already";
    return NULL;
}

uint32_t paje_destroy(struct paje_state *state)
{
    uint32_t container = paje_container_find(state, paje_word_of(&state->record, FIELD_NAME));
    if (container == PAJE_NONE || state->container[container].destroyed)
        return PAJE_NONE;
    state->container[container].destroyed = true;
    return container;
}

struct paje_lane *paje_lane(struct paje_state *state, uint32_t container, uint32_t type)
{
    struct paje_container *of = &state->container[container];
    /* Nearly all containers have states of one type: no look-up for these. */
    if (of->lane_type == type)
        return &state->lane[of->lane];
    uint64_t *index = NULL;
    if (of->lane_type == PAJE_NONE) {
        of->lane_type = type;
        of->lane = (uint32_t)state->lane_count;
    } else {
        index = map_put(&state->lanes, map_pair(container, type), state->lane_count);
        if (*index < state->lane_count)
            return &state->lane[*index];
    }
    struct paje_lane lane = {.container = container, .type = type, .next = PAJE_NONE};
    if (index) {
        lane.next = state->lane[of->lane].next;
        state->lane[of->lane].next = (uint32_t)state->lane_count;
    }
    ARRAY_PUSH(state->lane, state->lane_count, state->lane_capacity, lane);
    return &state->lane[state->lane_count - 1];
}

static bool type_says(const struct paje_state *state, uint32_t type, const char *word)
{
    return type != PAJE_NONE && strcasestr(paje_text(state, state->type[type].symbol), word) != NULL;
}

/* What makes a container a process: states; where no container has any, events; then links; then variables. StarPU has
 * states on its workers; other traces have nothing but links, or variables. */
static uint8_t what_counts(const struct paje_state *state)
{
    static const uint8_t order[] = {PAJE_HAS_STATES, PAJE_HAS_EVENTS, PAJE_HAS_LINKS, PAJE_HAS_VARIABLES};
    for (size_t i = 0; i < sizeof order; i++)
        for (size_t k = 0; k < state->container_count; k++)
            if (state->container[k].has & order[i])
                return order[i];
    return 0;
}

/* A container without what counts is a process too if others of its type have it, and it has anything. */
static void find_types(struct paje_state *state, uint8_t counts)
{
    for (size_t i = 0; i < state->container_count; i++) {
        const struct paje_container *container = &state->container[i];
        if ((container->has & counts) && container->type != PAJE_NONE)
            state->type[container->type].counts = true;
    }
}

/* The process of a container: the uppermost that counts; or the process in which the trace says that it is a thread.
   PAJE_NONE: there is none above it. */
static uint32_t process_of(const struct paje_state *state, uint32_t container, uint8_t counts)
{
    uint32_t found = PAJE_NONE;
    for (uint32_t at = container; at != PAJE_NONE; at = state->container[at].parent) {
        const struct paje_container *candidate = &state->container[at];
        bool as_others = candidate->type != PAJE_NONE && state->type[candidate->type].counts;
        if ((candidate->has & counts) || (candidate->has && as_others))
            found = at;
    }
    uint32_t parent = found == PAJE_NONE ? PAJE_NONE : state->container[found].parent;
    /* EZTrace 1: states are on threads only, and the process above them has none. */
    if (parent != PAJE_NONE && type_says(state, state->container[found].type, "thread") &&
        type_says(state, state->container[parent].type, "process"))
        return parent;
    return found;
}

/* The number at the end of a name. */
static bool number_of(const char *name, uint64_t *number)
{
    size_t length = strlen(name), digits = length;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    const char *at = name + digits;
    return digits < length && length - digits < 10 && text_take_u64(&at, name + length, number);
}

/* Ranks: the numbers of their names if these are 0, 1, 2, …, else the order in which they were created. */
static void number_processes(struct paje_state *state, const uint32_t *process, size_t count)
{
    bool *taken = memory_new(count * sizeof *taken + 1), named = true;
    for (size_t i = 0; i < count && named; i++) {
        uint64_t number = 0;
        named = number_of(paje_text(state, state->container[process[i]].symbol), &number) && number < count &&
                !taken[number];
        if (named)
            taken[number] = true;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t number = i;
        if (named)
            number_of(paje_text(state, state->container[process[i]].symbol), &number);
        state->container[process[i]].process = (uint32_t)number;
    }
    free(taken);
}

/* Texts are bytes in any encoding: made valid here. */
static void add_location(struct paje_state *state, struct defs *defs, const struct paje_container *process,
                         uint32_t container, uint32_t thread, uint32_t type)
{
    const struct paje_container *of = &state->container[container];
    const char *place = paje_text(state, of->symbol), *whole = paje_text(state, process->symbol);
    char *name = text_from_bytes(place, strlen(place)), *process_name = text_from_bytes(whole, strlen(whole));
    struct location_def location = {.process = process->process,
                                    .thread = thread,
                                    .kind = LOCATION_THREAD,
                                    .id = container,
                                    .name = of == process ? NULL : name,
                                    .process_name = process_name};
    char both[300];
    if (type != PAJE_NONE) {
        char *kind = text_from_bytes(paje_text(state, state->type[type].symbol),
                                     strlen(paje_text(state, state->type[type].symbol)));
        snprintf(both, sizeof both, "%.*s: %.*s", text_beginning(name, 140), name, text_beginning(kind, 140), kind);
        location.name = both;
        free(kind);
    }
    defs_add_location(defs, &location);
    free(name);
    free(process_name);
    if (thread >= defs->threads)
        defs->threads = thread + 1;
}

/* Threads of each process: containers in the order in which they were created; each type of states but the first of a
   container has one of its own. */
static void number_threads(struct paje_state *state, struct defs *defs, const uint32_t *home, size_t processes)
{
    uint32_t *next = memory_new((processes + 1) * sizeof *next);
    for (size_t i = 0; i < state->container_count; i++) {
        struct paje_container *container = &state->container[i];
        if (home[i] == PAJE_NONE)
            continue;
        const struct paje_container *process = &state->container[home[i]];
        container->process = process->process;
        if (!container->has && container != process)
            continue;
        /* A process without anything of its own is no thread; its threads count from 0. */
        container->thread = container->has ? next[process->process]++ : 0;
        if (container->has)
            add_location(state, defs, process, (uint32_t)i, container->thread, PAJE_NONE);
    }
    for (size_t i = 0; i < state->lane_count; i++) {
        struct paje_lane *lane = &state->lane[i];
        const struct paje_container *container = &state->container[lane->container];
        /* A container's first type of states is the container itself; SimGrid's others (migration) would cross
           them. */
        lane->thread = container->thread;
        if (container->process == PAJE_NONE || container->lane_type == lane->type)
            continue;
        lane->thread = next[container->process]++;
        add_location(state, defs, &state->container[home[lane->container]], lane->container, lane->thread, lane->type);
    }
    free(next);
}

void paje_places(struct paje_state *state, struct defs *defs)
{
    uint8_t counts = what_counts(state);
    uint32_t *home = memory_new(state->container_count * sizeof *home), *process = NULL;
    size_t count = 0, capacity = 0;
    find_types(state, counts);
    for (uint32_t i = 0; i < state->container_count; i++)
        state->container[i].process = PAJE_NONE;
    for (uint32_t i = 0; i < state->container_count; i++) {
        home[i] = process_of(state, i, counts);
        if (home[i] == PAJE_NONE || state->container[home[i]].process != PAJE_NONE)
            continue;
        /* Any number: it marks that the process is in the list. number_processes gives the rank. */
        state->container[home[i]].process = 0;
        ARRAY_PUSH(process, count, capacity, home[i]);
    }
    defs->processes = (uint32_t)count;
    number_processes(state, process, count);
    number_threads(state, defs, home, count);
    free(home);
    free(process);
}

void paje_containers_clear(struct paje_state *state)
{
    for (size_t i = 0; i < state->lane_count; i++)
        free(state->lane[i].open);
    free(state->lane);
    free(state->container);
    free(state->created);
    map_clear(&state->children);
    map_clear(&state->lanes);
}

/* In both passes alike: what the first one refuses must not get a definition, and the second reports it. */
const char *paje_place(const struct paje_state *state, struct paje_place *place)
{
    static const struct {
        uint8_t what, kind;
    } of_kind[PAJE_OTHER] = {[PAJE_SET_STATE] = {PAJE_HAS_STATES, PAJE_STATE_TYPE},
                             [PAJE_PUSH_STATE] = {PAJE_HAS_STATES, PAJE_STATE_TYPE},
                             [PAJE_POP_STATE] = {PAJE_HAS_STATES, PAJE_STATE_TYPE},
                             [PAJE_RESET_STATE] = {PAJE_HAS_STATES, PAJE_STATE_TYPE},
                             [PAJE_START_LINK] = {PAJE_HAS_LINKS, PAJE_LINK_TYPE},
                             [PAJE_END_LINK] = {PAJE_HAS_LINKS, PAJE_LINK_TYPE},
                             [PAJE_SET_VARIABLE] = {PAJE_HAS_VARIABLES, PAJE_VARIABLE_TYPE},
                             [PAJE_ADD_VARIABLE] = {PAJE_HAS_VARIABLES, PAJE_VARIABLE_TYPE},
                             [PAJE_SUB_VARIABLE] = {PAJE_HAS_VARIABLES, PAJE_VARIABLE_TYPE},
                             [PAJE_NEW_EVENT] = {PAJE_HAS_EVENTS, PAJE_EVENT_TYPE}};
    const struct paje_record *record = &state->record;
    place->what = of_kind[record->def->kind].what;
    place->type = paje_type_find(state, record->word[FIELD_TYPE]);
    if (place->type == PAJE_NONE)
        return "an event of a type that is not defined";
    /* A state's value pushed onto a variable's type would be looked up among names of another kind. */
    if (state->type[place->type].kind != of_kind[record->def->kind].kind)
        return "an event whose type is one of other things";
    place->container =
        paje_container_find(state, record->word[place->what == PAJE_HAS_LINKS ? FIELD_END : FIELD_CONTAINER]);
    if (place->container == PAJE_NONE)
        return "an event in a container that is not there";
    return NULL;
}
