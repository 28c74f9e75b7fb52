/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions become states. */
#include "convert/otf2/otf2_defs.h"

#include "core/memory.h"
#include "core/payload.h"
#include "core/region_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static enum region_role role_of(OTF2_RegionRole role)
{
    /* Roles of OpenMP and of tools are put together by what they mean for waiting. */
    static const uint8_t roles[] = {
        [OTF2_REGION_ROLE_FUNCTION] = ROLE_FUNCTION,
        [OTF2_REGION_ROLE_WRAPPER] = ROLE_WRAPPER,
        [OTF2_REGION_ROLE_LOOP] = ROLE_LOOP,
        [OTF2_REGION_ROLE_CODE] = ROLE_CODE,
        [OTF2_REGION_ROLE_PARALLEL] = ROLE_PARALLEL,
        [OTF2_REGION_ROLE_SECTIONS] = ROLE_WORKSHARE,
        [OTF2_REGION_ROLE_SECTION] = ROLE_WORKSHARE,
        [OTF2_REGION_ROLE_WORKSHARE] = ROLE_WORKSHARE,
        [OTF2_REGION_ROLE_SINGLE] = ROLE_WORKSHARE,
        [OTF2_REGION_ROLE_SINGLE_SBLOCK] = ROLE_WORKSHARE,
        [OTF2_REGION_ROLE_MASTER] = ROLE_WORKSHARE,
        [OTF2_REGION_ROLE_CRITICAL] = ROLE_CRITICAL,
        [OTF2_REGION_ROLE_CRITICAL_SBLOCK] = ROLE_CRITICAL,
        [OTF2_REGION_ROLE_ATOMIC] = ROLE_CRITICAL,
        [OTF2_REGION_ROLE_BARRIER] = ROLE_BARRIER,
        [OTF2_REGION_ROLE_IMPLICIT_BARRIER] = ROLE_BARRIER,
        [OTF2_REGION_ROLE_FLUSH] = ROLE_MEMORY,
        [OTF2_REGION_ROLE_ORDERED] = ROLE_CRITICAL,
        [OTF2_REGION_ROLE_ORDERED_SBLOCK] = ROLE_CRITICAL,
        [OTF2_REGION_ROLE_TASK] = ROLE_TASK,
        [OTF2_REGION_ROLE_TASK_CREATE] = ROLE_TASK,
        [OTF2_REGION_ROLE_TASK_UNTIED] = ROLE_TASK,
        [OTF2_REGION_ROLE_TASK_WAIT] = ROLE_TASK_WAIT,
        [OTF2_REGION_ROLE_COLL_ONE2ALL] = ROLE_COLLECTIVE,
        [OTF2_REGION_ROLE_COLL_ALL2ONE] = ROLE_COLLECTIVE,
        [OTF2_REGION_ROLE_COLL_ALL2ALL] = ROLE_COLLECTIVE,
        [OTF2_REGION_ROLE_COLL_OTHER] = ROLE_COLLECTIVE,
        [OTF2_REGION_ROLE_FILE_IO] = ROLE_FILE_IO,
        [OTF2_REGION_ROLE_FILE_IO_METADATA] = ROLE_FILE_IO,
        [OTF2_REGION_ROLE_POINT2POINT] = ROLE_POINT2POINT,
        [OTF2_REGION_ROLE_RMA] = ROLE_RMA,
        [OTF2_REGION_ROLE_DATA_TRANSFER] = ROLE_DATA_TRANSFER,
        [OTF2_REGION_ROLE_ARTIFICIAL] = ROLE_ARTIFICIAL,
        [OTF2_REGION_ROLE_THREAD_CREATE] = ROLE_THREAD_MANAGEMENT,
        [OTF2_REGION_ROLE_THREAD_WAIT] = ROLE_THREAD_MANAGEMENT,
        [OTF2_REGION_ROLE_ALLOCATE] = ROLE_MEMORY,
        [OTF2_REGION_ROLE_DEALLOCATE] = ROLE_MEMORY,
        [OTF2_REGION_ROLE_REALLOCATE] = ROLE_MEMORY,
    };
    /* Later versions of OTF2 may have more roles. */
    if (role < sizeof roles)
        return (enum region_role)roles[role];
    return ROLE_UNKNOWN;
}

static enum paradigm paradigm_of(OTF2_Paradigm paradigm)
{
    switch (paradigm) {
    case OTF2_PARADIGM_UNKNOWN:
    case OTF2_PARADIGM_NONE:
        return PARADIGM_UNKNOWN;
    case OTF2_PARADIGM_USER:
        return PARADIGM_USER;
    case OTF2_PARADIGM_COMPILER:
        return PARADIGM_COMPILER;
    case OTF2_PARADIGM_OPENMP:
        return PARADIGM_OPENMP;
    case OTF2_PARADIGM_MPI:
        return PARADIGM_MPI;
    case OTF2_PARADIGM_CUDA:
        return PARADIGM_CUDA;
    case OTF2_PARADIGM_MEASUREMENT_SYSTEM:
        return PARADIGM_MEASUREMENT;
    case OTF2_PARADIGM_PTHREAD:
        return PARADIGM_PTHREAD;
    case OTF2_PARADIGM_SHMEM:
        return PARADIGM_SHMEM;
    case OTF2_PARADIGM_OPENACC:
        return PARADIGM_OPENACC;
    case OTF2_PARADIGM_OPENCL:
        return PARADIGM_OPENCL;
    case OTF2_PARADIGM_SAMPLING:
        return PARADIGM_SAMPLING;
    case OTF2_PARADIGM_HIP:
        return PARADIGM_HIP;
    default:
        return PARADIGM_OTHER;
    }
}

/* The payload of a function's leaves, as in our own recordings. */
static const char *format_of(const char *name)
{
    const struct mpi_function *function = mpi_function_find(name);
    bool posts = strncmp(name, "MPI_I", 5) == 0 || strncmp(name, "MPI_Start", 9) == 0;
    if (!function)
        return NULL;
    if (function->class == CLASS_COLLECTIVE)
        return PAYLOAD_MOVED_FORMAT;
    if (function->class == CLASS_RMA)
        return strncmp(name, "MPI_Win_", 8) == 0 ? NULL : PAYLOAD_TARGET_FORMAT;
    bool followed = function->class == CLASS_P2P || function->class == CLASS_SYNC;
    if (function->class == CLASS_WAIT || (followed && posts))
        return PAYLOAD_REQUESTS_FORMAT;
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* EZTrace defines each function again for each process: one state is enough. */
static uint32_t state_of(struct otf2_defs *otf2, const struct state_def *state)
{
    int32_t known = defs_find_state(otf2->defs, state->name);
    if (known != EVENT_UNKNOWN) {
        const struct state_def *same = &otf2->defs->states[known];
        if (same->paradigm == state->paradigm && same->role == state->role && same->line == state->line &&
            same_text(same->file, state->file))
            return (uint32_t)known;
    }
    return defs_add_state(otf2->defs, state);
}

/* The recorder's own time is neither MPI nor the program's. */
static uint32_t own_state(struct otf2_defs *otf2, const char *name)
{
    return defs_add_state(otf2->defs, &(struct state_def){.name = (char *)(uintptr_t)name,
                                                          .paradigm = PARADIGM_MEASUREMENT,
                                                          .role = ROLE_ARTIFICIAL,
                                                          .id = EVENT_UNKNOWN,
                                                          .start = EVENT_UNKNOWN,
                                                          .end = EVENT_UNKNOWN});
}

/* OTF2_UNDEFINED_UINT32 is "no line". */
static int32_t line_of(uint32_t line)
{
    if (line <= INT32_MAX)
        return (int32_t)line;
    return 0;
}

void otf2_make_states(struct otf2_defs *otf2)
{
    otf2->states = memory_new((otf2->region_count + 1) * sizeof *otf2->states);
    for (size_t i = 0; i < otf2->region_count; i++) {
        const struct otf2_region *region = &otf2->region[i];
        const char *name = otf2_string(otf2, region->name), *canonical = otf2_string(otf2, region->canonical);
        char unnamed[32];
        snprintf(unnamed, sizeof unnamed, "region %zu", i);
        if (!name || !*name)
            name = canonical && *canonical ? canonical : unnamed;
        struct region_name split = region_name_of(name);
        const struct mpi_function *function = mpi_function_find_spelled(split.name);
        const char *shown = function ? function->name : split.name, *file = otf2_string(otf2, region->file);
        struct state_def state = {.name = (char *)(uintptr_t)shown,
                                  .format = (char *)(uintptr_t)format_of(shown),
                                  .line = line_of(region->line),
                                  .end_line = line_of(region->end_line),
                                  .paradigm = paradigm_of(region->paradigm),
                                  .role = role_of(region->role),
                                  .id = EVENT_UNKNOWN,
                                  .start = EVENT_UNKNOWN,
                                  .end = EVENT_UNKNOWN};
        if (strcmp(shown, name) != 0)
            state.original = (char *)(uintptr_t)name;
        if (file && *file) {
            state.file = (char *)(uintptr_t)file;
        } else if (split.file) {
            state.file = split.file;
            state.line = split.line;
            state.end_line = split.end_line;
        }
        otf2->states[i] = state_of(otf2, &state);
        region_name_clear(&split);
    }
    /* Bounded by the number of regions, not by their ids, which a damaged archive may choose. */
    otf2->near_count = (uint32_t)otf2->region_count * 2 + 64;
    otf2->near_states = memory_new(otf2->near_count * sizeof *otf2->near_states);
    for (uint32_t id = 0; id < otf2->near_count; id++) {
        uint32_t index = otf2_index(&otf2->region_ids, id);
        otf2->near_states[id] = index == OTF2_NONE ? OTF2_NONE : otf2->states[index];
    }
    otf2->flush_state = own_state(otf2, "buffer flush");
    otf2->off_state = own_state(otf2, "measurement off");
}
