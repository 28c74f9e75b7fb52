/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/mpi_function.h"

#include <string.h>
#include <strings.h>

enum { MPE1_NAME_LENGTH = 15 };

static const struct mpi_function functions[] = {
#define MPI_FUNCTION(name, mpe1, class, direction, rooted) {#name, mpe1, CLASS_##class, DIRECTION_##direction, rooted},
#include "core/mpi_function.def"
};

enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

size_t mpi_function_count(void)
{
    return FUNCTION_COUNT;
}

const struct mpi_function *mpi_function_at(size_t index)
{
    return &functions[index];
}

const struct mpi_function *mpi_function_find(const char *name)
{
    /* The table is sorted by name: a unit test checks it. */
    size_t low = 0, high = FUNCTION_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, functions[middle].name);
        if (order == 0)
            return &functions[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct mpi_function *mpi_function_find_spelled(const char *name)
{
    char plain[64];
    size_t length = strcspn(name, "( [");
    const struct mpi_function *function = mpi_function_find(name);
    if (function || length == 0 || length >= sizeof plain || strncasecmp(name, "mpi_", 4) != 0)
        return function;
    memcpy(plain, name, length);
    plain[length] = '\0';
    function = mpi_function_find(plain);
    while (length > 4 && plain[length - 1] == '_')
        plain[--length] = '\0';
    for (size_t i = 0; i < FUNCTION_COUNT && !function; i++)
        if (strcasecmp(functions[i].name, plain) == 0)
            function = &functions[i];
    return function;
}

/* The only function whose MPE-1 spelling begins with the prefix. */
static const struct mpi_function *find_cut_mpe1(const char *prefix, size_t length)
{
    const struct mpi_function *found = NULL;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (!functions[i].mpe1 || strncmp(functions[i].mpe1, prefix, length) != 0)
            continue;
        if (found)
            return NULL;
        found = &functions[i];
    }
    return found;
}

const struct mpi_function *mpi_function_find_mpe1(const char *name)
{
    /* No search by halves: the spellings are not in the order of the names, and traces ask once for each state. */
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (functions[i].mpe1 && strcmp(functions[i].mpe1, name) == 0)
            return &functions[i];
    /* MPE-1 cut names to 15 letters; where two functions begin with these, none can be named. */
    size_t length = strlen(name);
    if (length == MPE1_NAME_LENGTH)
        return find_cut_mpe1(name, length);
    return NULL;
}

const char *function_class_name(enum function_class class)
{
    static const char *const words[] = {
#define FUNCTION_CLASS_WORD(name, word) word,
        FUNCTION_CLASSES(FUNCTION_CLASS_WORD)
#undef FUNCTION_CLASS_WORD
    };
    return words[class];
}

bool function_class_is_mpi(enum function_class class)
{
    return class != CLASS_USER && class != CLASS_TOOL;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Some recorders write the name of the function that they call, PMPI_X, instead of the one that the program called. */
static const struct mpi_function *find_either_entry(const char *name)
{
    /* The table has the names as the program writes them. */
    return mpi_function_find(begins_with(name, "PMPI_") ? name + 1 : name);
}

enum function_class function_class_of(const char *state_name)
{
    const struct mpi_function *function = find_either_entry(state_name);
    if (function)
        return function->class;
    /* Newer than the table, or an extension: nothing is known of its partners. */
    if (begins_with(state_name, "MPI_") || begins_with(state_name, "MPIX_"))
        return CLASS_LOCAL;
    if (begins_with(state_name, "MPE_") || strcmp(state_name, "CLOG_Buffer_write2disk") == 0)
        return CLASS_TOOL;
    return CLASS_USER;
}

enum message_direction message_direction_of(const char *state_name)
{
    static const struct {
        const char *name;
        enum message_direction direction;
    } waited[] = {
        {"MPE_Isend_waited", DIRECTION_SEND},
        {"MPE_Irecv_waited", DIRECTION_RECEIVE},
        {"MPE_Imrecv_waited", DIRECTION_RECEIVE},
    };
    const struct mpi_function *function = find_either_entry(state_name);
    if (function)
        return function->direction;
    for (size_t i = 0; i < sizeof waited / sizeof waited[0]; i++)
        if (strcmp(waited[i].name, state_name) == 0)
            return waited[i].direction;
    return DIRECTION_NONE;
}

bool mpi_function_starts_or_ends(const char *name)
{
    return strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0 || strcmp(name, "MPI_Finalize") == 0;
}
