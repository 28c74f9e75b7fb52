/* SPDX-License-Identifier: BSD-3-Clause */
/* Types and values of a trace as definitions of states, marks and counters. */
#include "convert/paje/paje_state.h"

#include "core/memory.h"
#include "core/text.h"

#include <string.h>

uint32_t paje_type_find(const struct paje_state *state, struct paje_word word)
{
    uint32_t symbol = paje_symbol_find(&state->symbols, word);
    if (symbol == PAJE_NONE)
        return PAJE_NONE;
    const struct paje_symbol *of = &state->symbols.symbol[symbol];
    /* The second pass knows all types from the start; a line may use only those that stand before it, as in the
       first pass. */
    if (of->type != PAJE_NONE && state->type[of->type].byte <= state->byte)
        return of->type;
    bool named = of->type_named != PAJE_NONE && state->type[of->type_named].byte <= state->byte;
    if (named)
        return of->type_named;
    return PAJE_NONE;
}

/* A definition may be repeated, as long as it says the same. */
static bool type_is_same(const struct paje_type *a, const struct paje_type *b)
{
    return a->byte == b->byte || (a->kind == b->kind && a->parent == b->parent && a->symbol == b->symbol);
}

const char *paje_define_type(struct paje_state *state)
{
    const struct paje_record *record = &state->record;
    struct paje_type type = {
        .kind = record->def->kind, .byte = state->byte, .mark = PAJE_NONE, .state = PAJE_NONE, .parent = PAJE_NONE};
    struct paje_word alias = paje_word_of(record, FIELD_ALIAS), name = paje_word_of(record, FIELD_NAME);
    if (!(record->has & (1u << FIELD_ALIAS | 1u << FIELD_NAME)))
        return "a type without name";
    uint32_t symbol = paje_symbol_put(&state->symbols, record->has & 1u << FIELD_NAME ? name : alias);
    uint32_t key = paje_symbol_put(&state->symbols, record->has & 1u << FIELD_ALIAS ? alias : name);
    if (symbol == PAJE_NONE || key == PAJE_NONE || state->type_count >= PAJE_SYMBOLS_MOST)
        return "more names than 4,194,304";
    type.symbol = symbol;
    /* Not needed to read events, but two types of one name below different parents are two. */
    type.parent = paje_type_find(state, paje_word_of(record, FIELD_TYPE));
    uint32_t known = state->symbols.symbol[key].type;
    if (known != PAJE_NONE)
        return type_is_same(&state->type[known], &type) ? NULL : "a type whose alias another one has";
    if (!state->counting)
        return NULL;
    state->symbols.symbol[key].type = (uint32_t)state->type_count;
    if (state->symbols.symbol[symbol].type_named == PAJE_NONE)
        state->symbols.symbol[symbol].type_named = (uint32_t)state->type_count;
    ARRAY_PUSH(state->type, state->type_count, state->type_capacity, type);
    return NULL;
}

static uint32_t value_add(struct paje_state *state, uint32_t type, uint32_t alias, uint32_t name, uint64_t byte)
{
    struct paje_value value = {.symbol = name, .alias = alias, .index = PAJE_NONE, .byte = byte};
    uint32_t index = (uint32_t)state->value_count;
    map_put(&state->values, map_pair(type, alias), index);
    map_put(&state->values, map_pair(type, name), index);
    ARRAY_PUSH(state->value, state->value_count, state->value_capacity, value);
    return index;
}

const char *paje_define_value(struct paje_state *state)
{
    const struct paje_record *record = &state->record;
    uint32_t type = paje_type_find(state, paje_word_of(record, FIELD_TYPE));
    if (type == PAJE_NONE)
        return "a value of a type that is not defined";
    struct paje_word name = paje_word_of(record, FIELD_NAME), alias = paje_word_of(record, FIELD_ALIAS);
    if (!(record->has & (1u << FIELD_ALIAS | 1u << FIELD_NAME)))
        return "a value without name";
    uint32_t symbol = paje_symbol_put(&state->symbols, record->has & 1u << FIELD_NAME ? name : alias);
    uint32_t key = paje_symbol_put(&state->symbols, record->has & 1u << FIELD_ALIAS ? alias : name);
    if (symbol == PAJE_NONE || key == PAJE_NONE)
        return "more names than 4,194,304";
    const uint64_t *known = map_find(&state->values, map_pair(type, key));
    const struct paje_value *value = known ? &state->value[*known] : NULL;
    if (value && value->alias == key)
        return value->byte == state->byte || value->symbol == symbol ? NULL : "a value whose alias another one has";
    if (value && state->counting)
        *map_find(&state->values, map_pair(type, key)) = state->value_count; /* an alias comes before a name */
    if (state->counting)
        value_add(state, type, key, symbol, state->byte);
    return NULL;
}

/* The value that a word names, made where none is defined. */
static uint32_t value_of(struct paje_state *state, uint32_t type, struct paje_word word)
{
    uint32_t symbol = paje_symbol_find(&state->symbols, word);
    const uint64_t *known = symbol == PAJE_NONE ? NULL : map_find(&state->values, map_pair(type, symbol));
    if (known)
        return (uint32_t)*known;
    /* StarPU's values are never defined; a writer whose values are all different must not fill the memory. */
    if (!state->counting || state->value_count >= 2 * PAJE_NAMES_MOST)
        return PAJE_NONE;
    symbol = paje_symbol_put(&state->symbols, word);
    if (symbol == PAJE_NONE)
        return PAJE_NONE;
    return value_add(state, type, symbol, symbol, 0);
}

/* The MPI function that a text spells after such a beginning. */
static const char *function_of(const char *text, const char *beginning)
{
    size_t length = strlen(beginning);
    if (strncmp(text, beginning, length) == 0 && mpi_function_find(text + length))
        return text + length;
    return NULL;
}

/* States of one name are one state, whatever type they have: SimGrid has one type for each kind of container. */
static uint32_t state_named(struct paje_state *state, struct defs *defs, uint32_t symbol, uint32_t alias)
{
    uint64_t *known = map_put(&state->names, symbol, PAJE_NONE);
    if (*known != PAJE_NONE)
        return (uint32_t)*known;
    const char *text = paje_text(state, symbol), *function = function_of(text, "");
    if (!function)
        function = function_of(text, "P"); /* SimGrid */
    if (!function)
        function = function_of(paje_text(state, alias), "STV_"); /* EZTrace */
    char *own = text_from_bytes(text, strlen(text));
    struct state_def def = {.name = own, .id = EVENT_UNKNOWN, .start = EVENT_UNKNOWN, .end = EVENT_UNKNOWN};
    if (function) {
        def.name = (char *)(uintptr_t)function;
        def.original = strcmp(function, text) != 0 ? own : NULL;
        def.paradigm = PARADIGM_MPI;
    }
    *known = defs_add_state(defs, &def);
    free(own);
    return (uint32_t)*known;
}

uint32_t paje_state_of(struct paje_state *state, struct defs *defs, uint32_t type, struct paje_word word)
{
    uint32_t index = value_of(state, type, word);
    struct paje_value *value = index == PAJE_NONE ? NULL : &state->value[index];
    if (value && value->index != PAJE_NONE)
        return value->index;
    if (!state->counting)
        return state->type[type].state;
    /* Beyond, states share the name of their type. */
    if (value && defs->state_count < PAJE_NAMES_MOST)
        return value->index = state_named(state, defs, value->symbol, value->alias);
    if (state->type[type].state == PAJE_NONE)
        state->type[type].state = state_named(state, defs, state->type[type].symbol, state->type[type].symbol);
    return state->type[type].state;
}

static uint32_t mark_add(struct paje_state *state, struct defs *defs, uint32_t symbol,
                         const struct counter_def *counter)
{
    const char *text = paje_text(state, symbol);
    struct mark_def def = {
        .name = text_from_bytes(text, strlen(text)), .counter = *counter, .id = EVENT_UNKNOWN, .defined = true};
    uint32_t index = defs_add_mark(defs, &def);
    free(def.name);
    return index;
}

uint32_t paje_mark_of(struct paje_state *state, struct defs *defs, uint32_t type, struct paje_word word)
{
    static const struct counter_def none = {0};
    uint32_t index = value_of(state, type, word);
    struct paje_value *value = index == PAJE_NONE ? NULL : &state->value[index];
    if (value && value->index != PAJE_NONE)
        return value->index;
    if (!state->counting)
        return state->type[type].mark;
    if (value && defs->mark_count < PAJE_NAMES_MOST)
        return value->index = mark_add(state, defs, value->symbol, &none);
    if (state->type[type].mark == PAJE_NONE)
        state->type[type].mark = mark_add(state, defs, state->type[type].symbol, &none);
    return state->type[type].mark;
}

uint32_t paje_counter_of(struct paje_state *state, struct defs *defs, uint32_t type)
{
    static const struct counter_def counter = {
        .type = COUNTER_DOUBLE, .mode = COUNTER_MODE_ABSOLUTE, .scope = COUNTER_OF_THREAD};
    if (state->type[type].mark == PAJE_NONE && state->counting)
        state->type[type].mark = mark_add(state, defs, state->type[type].symbol, &counter);
    return state->type[type].mark;
}

void paje_types_clear(struct paje_state *state)
{
    free(state->type);
    free(state->value);
    map_clear(&state->values);
    map_clear(&state->names);
}
