/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/region.h"

#include <string.h>

const char *paradigm_name(enum paradigm paradigm)
{
    static const char *const names[] = {
#define PARADIGM_WORD(name, word) word,
        PARADIGMS(PARADIGM_WORD)
#undef PARADIGM_WORD
    };
    return names[paradigm < PARADIGM_COUNT ? paradigm : PARADIGM_UNKNOWN];
}

const char *region_role_name(enum region_role role)
{
    static const char *const names[] = {
#define REGION_ROLE_WORD(name, word) word,
        REGION_ROLES(REGION_ROLE_WORD)
#undef REGION_ROLE_WORD
    };
    return names[role < ROLE_COUNT ? role : ROLE_UNKNOWN];
}

enum paradigm paradigm_find(const char *word)
{
    for (int i = 0; i < PARADIGM_COUNT; i++)
        if (strcmp(paradigm_name((enum paradigm)i), word) == 0)
            return (enum paradigm)i;
    return PARADIGM_UNKNOWN;
}

enum region_role region_role_find(const char *word)
{
    for (int i = 0; i < ROLE_COUNT; i++)
        if (strcmp(region_role_name((enum region_role)i), word) == 0)
            return (enum region_role)i;
    return ROLE_UNKNOWN;
}

static enum function_class class_of_role(enum region_role role)
{
    switch (role) {
    case ROLE_POINT2POINT:
        return CLASS_P2P;
    case ROLE_BARRIER:
        return CLASS_SYNC;
    case ROLE_COLLECTIVE:
        return CLASS_COLLECTIVE;
    case ROLE_RMA:
        return CLASS_RMA;
    case ROLE_FILE_IO:
        return CLASS_IO;
    default:
        return CLASS_LOCAL;
    }
}

enum function_class region_class(const char *name, enum paradigm paradigm, enum region_role role)
{
    enum function_class class = function_class_of(name);
    switch (paradigm) {
    case PARADIGM_UNKNOWN:
    case PARADIGM_USER:
        return class;
    /* A name that MPI's standard does not have says less than what the trace says of the region. */
    case PARADIGM_MPI: {
        bool named = class != CLASS_USER && (class != CLASS_LOCAL || mpi_function_find(name));
        if (named)
            return class;
        return class_of_role(role);
    }
    case PARADIGM_MEASUREMENT:
        return CLASS_TOOL;
    default:
        /* Functions of the program may have names that look like MPI's. */
        if (function_class_is_mpi(class) && !mpi_function_find(name) && strncmp(name, "PMPI_", 5) != 0)
            return CLASS_USER;
        return class;
    }
}
