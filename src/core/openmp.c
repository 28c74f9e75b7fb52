/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/openmp.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "PREFIX FILE:LINE" or "PREFIX 0xOFFSET" */
static bool has_place(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (!begins(name, prefix) || name[length] != ' ')
        return false;
    const char *place = name + length + 1, *colon = strrchr(place, ':');
    if (begins(place, "0x"))
        return place[2] && strspn(place + 2, "0123456789abcdef") == strlen(place + 2);
    return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

static enum openmp_part part_by_name(const char *name)
{
    if (strcmp(name, OPENMP_WAITING) == 0 || has_place(name, OPENMP_WAITING) ||
        begins(name, "!$omp implicit barrier") || begins(name, "!$omp barrier"))
        return OPENMP_PART_WAITING;
    if (strcmp(name, OPENMP_PARALLEL " parallel") == 0 || has_place(name, OPENMP_PARALLEL) ||
        begins(name, "!$omp parallel"))
        return OPENMP_PART_PARALLEL;
    return OPENMP_PART_NONE;
}

enum openmp_part openmp_part_of(const struct state_def *state)
{
    if (state->is_mpi)
        return OPENMP_PART_NONE;
    if (state->paradigm == PARADIGM_OPENMP && state->role == ROLE_PARALLEL)
        return OPENMP_PART_PARALLEL;
    if (state->paradigm == PARADIGM_OPENMP && state->role == ROLE_BARRIER)
        return OPENMP_PART_WAITING;
    return part_by_name(state->name);
}

const char *openmp_place(const struct state_def *state)
{
    if (strcmp(state->name, OPENMP_WAITING) == 0 || strcmp(state->name, OPENMP_PARALLEL " parallel") == 0)
        return "";
    const char *blank = strrchr(state->name, ' ');
    return blank ? blank + 1 : state->name;
}

void openmp_where(char where[OPENMP_WHERE_SIZE], const char *file, int32_t line)
{
    char number[16];
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    size_t tail = (size_t)snprintf(number, sizeof number, ":%d", line), room = OPENMP_WHERE_SIZE - 1 - tail,
           length = strlen(name);
    snprintf(where, OPENMP_WHERE_SIZE, "%s%s", length > room ? name + (length - room) : name, number);
}
