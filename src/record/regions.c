/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions that a program marks with sight.h: states of the program, as those of the MPE API. */
#include "../../include/sight.h"

#include "record/mpe.h"
#include "record/real.h"
#include "record/recorder.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { REGIONS = 1 << 10, FIRST_ID = 1 << 30, ID_MASK = (1 << 29) - 1 };

/* A name of the process. All processes give a name the same id, since it comes from the name alone; ids of MPE's
   functions are far below. */
struct region {
    char name[RECORD_NAME_SIZE]; /* "": free */
    int32_t id;
    bool described;
};
static struct region regions[REGIONS];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static uint32_t hash_of(const char *name)
{
    /* FNV-1a. */
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* NULL: there are too many. The lock is held. */
static struct region *region_of(const char *name)
{
    uint32_t hash = hash_of(name);
    for (uint32_t i = 0; i < REGIONS; i++) {
        struct region *region = &regions[(hash + i) % REGIONS];
        if (!*region->name) {
            snprintf(region->name, sizeof region->name, "%s", name);
            region->id = (int32_t)(FIRST_ID + 2 * (hash & ID_MASK));
        }
        if (strcmp(region->name, name) == 0)
            return region;
    }
    return NULL;
}

/* Recorded regions that are open on this thread: one that began before MPI has no end either. */
static __thread unsigned opened;

static void note(const char *text, int end)
{
    char name[RECORD_NAME_SIZE];
    /* A name is cut as one that is described is. */
    snprintf(name, sizeof name, "%s", text && *text ? text : "region");
    if (!recorder_started() || (end && opened == 0))
        return;
    opened += end ? UINT_MAX : 1;
    int cancel = cancel_hold();
    pthread_mutex_lock(&adding);
    struct region *region = region_of(name);
    int32_t id = region ? region->id : 0;
    /* Only a thread that has recorded something describes. */
    bool describes = region && !region->described && location_mine;
    if (describes)
        region->described = true;
    pthread_mutex_unlock(&adding);
    cancel_let(cancel);
    if (describes)
        MPE_Describe_state(id, id + 1, name, "magenta");
    if (region)
        MPE_Log_bare_event(id + end);
}

EXPORT void sight_region_begin(const char *name)
{
    note(name, 0);
}

EXPORT void sight_region_end(const char *name)
{
    note(name, 1);
}

/* As Fortran calls them: padded with blanks. */
static void note_padded(const char *text, size_t length, int end)
{
    char name[RECORD_NAME_SIZE];
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length > sizeof name - 1)
        length = sizeof name - 1;
    memcpy(name, text, length);
    name[length] = '\0';
    note(name, end);
}

EXPORT void sight_region_begin_(const char *name, size_t length)
{
    note_padded(name, length, 0);
}

EXPORT void sight_region_end_(const char *name, size_t length)
{
    note_padded(name, length, 1);
}
