/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/spelled_state.h"

#include "core/event.h"
#include "core/region_name.h"

#include <string.h>

uint32_t spelled_state_add(struct defs *defs, const char *spelled, enum paradigm paradigm)
{
    struct region_name region = region_name_of(spelled);
    const struct mpi_function *function = mpi_function_find_spelled(region.name);
    struct state_def state = {.name = function ? (char *)(uintptr_t)function->name : region.name,
                              .id = EVENT_UNKNOWN,
                              .start = EVENT_UNKNOWN,
                              .end = EVENT_UNKNOWN,
                              .file = region.file,
                              .line = region.line,
                              .end_line = region.end_line,
                              .paradigm = function ? PARADIGM_MPI : paradigm};
    if (strcmp(state.name, spelled) != 0)
        state.original = (char *)(uintptr_t)spelled;
    uint32_t index = defs_add_state(defs, &state);
    region_name_clear(&region);
    return index;
}
