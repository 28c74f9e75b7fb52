/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paraver/paraver_names.h"

#include "convert/paraver/paraver_places.h"
#include "core/event.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    TYPE_OPENMP_PARALLEL = 60000001,
    TYPE_OPENMP_FUNCTION = 60000018,
    TYPE_OPENMP_SHARE = 60000018 + (1 << 24), /* ours: the same of the other threads of a region */
    TYPE_CUDA_CALL = 63000001,
    TYPE_PRESET_FIRST = 42000000, /* PAPI's counters, and the machine's own */
    TYPE_NATIVE_END = 45000000
};

static const struct {
    uint64_t type;
    enum paradigm paradigm;
    enum region_role role;
    const char *name; /* without a label */
} state_types[] = {{TYPE_OPENMP_PARALLEL, PARADIGM_OPENMP, ROLE_PARALLEL, "parallel region"},
                   {TYPE_OPENMP_FUNCTION, PARADIGM_OPENMP, ROLE_FUNCTION, "outlined function"},
                   {TYPE_OPENMP_SHARE, PARADIGM_OPENMP, ROLE_PARALLEL, "outlined function"},
                   {PARAVER_USER_FUNCTION, PARADIGM_COMPILER, ROLE_FUNCTION, "user function"},
                   {TYPE_CUDA_CALL, PARADIGM_CUDA, ROLE_FUNCTION, "CUDA call"}};
enum { STATE_TYPES = sizeof state_types / sizeof *state_types };

static const struct {
    uint64_t value;
    const char *name;
} mpi_values[] = {
#define MPI_VALUE(value, name) {value, #name},
#include "convert/paraver/paraver_mpi.def"
};

uint64_t paraver_mpi_value(const char *name)
{
    for (size_t i = 0; i < sizeof mpi_values / sizeof *mpi_values; i++)
        if (strcmp(mpi_values[i].name, name) == 0)
            return mpi_values[i].value;
    return 0;
}

/* Types above the user function's are lanes of our own writer: states that cross. */
static size_t state_type(uint64_t type)
{
    size_t i = 0;
    if (type > PARAVER_LANE_FIRST && type < PARAVER_LANE_FIRST + PARAVER_LANES)
        type = PARAVER_USER_FUNCTION;
    while (i < STATE_TYPES && state_types[i].type != type)
        i++;
    return i;
}

bool paraver_type_is_state(uint64_t type)
{
    return paraver_type_is_mpi(type) || state_type(type) < STATE_TYPES;
}

bool paraver_type_is_line(uint64_t type)
{
    return type == PARAVER_USER_FUNCTION + PARAVER_LINE || type == TYPE_OPENMP_FUNCTION + PARAVER_LINE;
}

/* Extrae's numbers of MPI functions have been the same for 20 years: they serve where the .pcf is missing. */
static const char *known_name(uint64_t type, uint64_t value)
{
    if (paraver_type_is_mpi(type))
        for (size_t i = 0; i < sizeof mpi_values / sizeof *mpi_values; i++)
            if (mpi_values[i].value == value)
                return mpi_values[i].name;
    return NULL;
}

static void numbered_name(char *name, size_t size, uint64_t type, uint64_t value)
{
    size_t i = state_type(type);
    const char *kind = type == 0 ? "state" : "MPI function";
    if (i < STATE_TYPES)
        kind = state_types[i].name;
    snprintf(name, size, "%s %" PRIu64, kind, value);
}

/* Only the thread that opens a region has it as an event. What the others have of it is the function that the compiler
   made of the region: in that, they are part of it. */
static uint64_t type_on(uint64_t type, uint32_t thread)
{
    return type == TYPE_OPENMP_FUNCTION && thread > 0 ? TYPE_OPENMP_SHARE : type;
}

/* "Begin" is what a type has that is there or not: it is called as the type is. */
static bool is_begin(uint64_t type, const char *label)
{
    return type > 0 && !paraver_type_is_state(type) && strcasecmp(label, "begin") == 0;
}

/* The label of the .pcf, else the name that Extrae's number has, else the number. */
void paraver_define_state(struct paraver_names *names, const struct paraver_labels *labels, struct defs *defs,
                          uint64_t type, uint64_t value, uint64_t line, uint32_t thread)
{
    uint64_t own = type_on(type, thread), key = map_pair((uint32_t)own, (uint32_t)value);
    if (map_find(&names->states, key))
        return;
    char number[64];
    const char *name = type == 0 ? paraver_state_label(labels, value) : paraver_value_label(labels, type, value);
    if (name && is_begin(type, name) && paraver_type_label(labels, type))
        name = paraver_type_label(labels, type);
    if (!name)
        name = known_name(type, value);
    if (!name) {
        numbered_name(number, sizeof number, type, value);
        name = number;
        names->numbered++;
    }
    size_t i = state_type(own);
    struct state_def state = {
        .name = paraver_label_function(name), .id = EVENT_UNKNOWN, .start = EVENT_UNKNOWN, .end = EVENT_UNKNOWN};
    if (i < STATE_TYPES) {
        state.paradigm = state_types[i].paradigm;
        state.role = state_types[i].role;
    }
    if (paraver_type_is_mpi(type))
        state.paradigm = PARADIGM_MPI;
    const char *place = line > 0 ? paraver_value_label(labels, type + PARAVER_LINE, line) : NULL;
    if (place)
        state.file = paraver_label_place(place, &state.line);
    map_put(&names->states, key, defs_add_state(defs, &state));
    free(state.name);
    free(state.file);
}

uint32_t paraver_state_of(const struct paraver_names *names, uint64_t type, uint64_t value, uint32_t thread)
{
    return (uint32_t)*map_find(&names->states, map_pair((uint32_t)type_on(type, thread), (uint32_t)value));
}

/* Any type that is neither a function nor a detail of a call: a counter, or a marker of the program's. */
void paraver_define_counter(struct paraver_names *names, const struct paraver_labels *labels, struct defs *defs,
                            uint64_t type)
{
    if (map_find(&names->counters, type))
        return;
    char number[64];
    const char *name = paraver_type_label(labels, type);
    if (!name) {
        snprintf(number, sizeof number, "event type %" PRIu64, type);
        name = number;
        names->numbered++;
    }
    /* Extrae writes what PAPI counted since the thread's last record, not a total. */
    bool hardware = type >= TYPE_PRESET_FIRST && type < TYPE_NATIVE_END;
    struct mark_def mark = {.name = (char *)(uintptr_t)name,
                            .id = type <= INT32_MAX ? (int32_t)type : EVENT_UNKNOWN,
                            .defined = true,
                            .counter = {.type = COUNTER_UINT64,
                                        .mode = hardware ? COUNTER_MODE_RELATIVE : COUNTER_MODE_UNKNOWN,
                                        .scope = COUNTER_OF_THREAD}};
    map_put(&names->counters, type, defs_add_mark(defs, &mark));
}

void paraver_names_clear(struct paraver_names *names)
{
    map_clear(&names->states);
    map_clear(&names->counters);
    *names = (struct paraver_names){0};
}
