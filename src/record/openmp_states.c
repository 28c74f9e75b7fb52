/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions as records of the threads: see RECORD_OPENMP_REGION. Only the master knows when a region ends. The
   other threads then wait in the runtime for the next one, where nobody could record for them: the merge ends their
   waiting with the master's region. */
#include "record/openmp_runtime.h"

#include "record/recorder.h"

/* A region's team is its address (user space has 47 bits) and, above it, the number of its master. */
enum { ADDRESS_BITS = 56 };

static uint32_t team_number(uint64_t team)
{
    return (uint32_t)(team >> ADDRESS_BITS);
}

uintptr_t openmp_address(uint64_t team)
{
    return (uintptr_t)(team & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

/* Of this thread where it can be written to, NULL elsewhere: in MPI, or in a child of fork(). */
static struct location *location_here(void)
{
    struct location *location = location_mine;
    if (!recorder_started())
        return NULL;
    if (__builtin_expect(!location, 0))
        location = recorder_attach();
    return location && !location->inside ? location : NULL;
}

static void enter(struct location *location, uint32_t state, uint64_t team, int64_t ticks)
{
    /* Tallies say which function of MPI was called last. */
    uint32_t function = location->tally.function, site = location->tally.site;
    location_busy(location);
    recorder_enter(location, (enum function)state, (const void *)openmp_address(team), NULL, team_number(team), ticks);
    location->tally.function = function;
    location->tally.site = site;
    location_done(location, false);
}

static void leave(struct location *location, uint32_t state, uint64_t team, int64_t ticks)
{
    location_busy(location);
    location_put(location, RECORD_LEAVE, ticks, state, team_number(team));
    location_done(location, false);
}

uint64_t openmp_begin(uintptr_t address)
{
    if (!recorder_started() || !recorder.on)
        return 0;
    int64_t ticks = clock_entry();
    struct location *location = location_here();
    /* Where only a sample is kept, the totals of states are those of MPI functions. */
    if (!location || location->keeps || address >> ADDRESS_BITS)
        return 0;
    uint64_t team = (uint64_t)(location->thread % RECORD_TEAMS) << ADDRESS_BITS | address;
    enter(location, RECORD_OPENMP_REGION, team, ticks);
    return team;
}

void openmp_join(uint64_t team, bool master)
{
    struct location *location = master ? NULL : location_here();
    if (location)
        enter(location, RECORD_OPENMP_WORK, team, clock_entry());
}

void openmp_idle(uint64_t team, bool master)
{
    struct location *location = location_here();
    (void)master;
    if (location)
        leave(location, RECORD_OPENMP_WORK, team, clock_entry());
}

void openmp_end(uint64_t team)
{
    struct location *location = location_here();
    if (location)
        leave(location, RECORD_OPENMP_REGION, team, clock_entry());
}
