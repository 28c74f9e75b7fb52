/* SPDX-License-Identifier: BSD-3-Clause */
#include "team/team.h"

#include "core/checksum.h"
#include "core/map.h"
#include "core/memory.h"
#include "team/team_mpi.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

struct team {
    const struct team_mpi *mpi;
    int rank, size;
    int *leaders; /* by rank: the lowest rank on its machine */
};

/* What launchers leave in the environment of the processes that they start. */
static const struct launcher {
    const char *mpi, *size, *rank;
} launchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"mpich", "PMI_SIZE", "PMI_RANK"},
    {"openmpi", "SLURM_STEP_NUM_TASKS", "PMIX_RANK"}, /* srun --mpi=pmix, without mpiexec */
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

const char *team_launcher(void)
{
    for (size_t i = 0; i < LAUNCHERS; i++) {
        const char *size = getenv(launchers[i].size);
        /* Both must be there: a batch job's script has SLURM's size without a launcher. A team of one would only take
           the time of MPI_Init. */
        if (size && getenv(launchers[i].rank)) {
            if (strtol(size, NULL, 10) > 1)
                return launchers[i].mpi;
            return NULL;
        }
    }
    return NULL;
}

/* The same for all processes of a machine, and for no other: containers on it have names of their own. */
static uint64_t machine_of(int rank)
{
    struct utsname names;
    char machine[sizeof names.nodename + 64] = "";
    const char *as_if = getenv("SIGHT_TEST_MACHINES");
    if (as_if)
        snprintf(machine, sizeof machine, "%ld", rank % strtol(as_if, NULL, 10));
    else if (uname(&names) == 0)
        snprintf(machine, sizeof machine, "%s", names.nodename);
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (boot) {
        size_t length = strlen(machine);
        /* Without it the name alone must do. */
        machine[length + fread(machine + length, 1, sizeof machine - 1 - length, boot)] = '\0';
        fclose(boot);
    }
    return checksum_add(CHECKSUM_START, machine, strlen(machine));
}

static void find_leaders(struct team *team)
{
    struct map first = {0};
    uint64_t *machines = memory_new((size_t)team->size * sizeof *machines);
    team->mpi->tell(machine_of(team->rank), machines);
    team->leaders = memory_new((size_t)team->size * sizeof *team->leaders);
    for (int rank = 0; rank < team->size; rank++)
        team->leaders[rank] = (int)*map_put(&first, machines[rank], (uint64_t)rank);
    map_clear(&first);
    free(machines);
}

/* Gives this machine's leader the processors of all. */
static void lend_processors(struct team *team)
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    /* Of a machine with more than fit into the set, none are lent. */
    (void)sched_getaffinity(0, sizeof processors, &processors);
    if (!team_leads(team, team->rank)) {
        team_send(team, team->leaders[team->rank], &processors, sizeof processors);
        return;
    }
    for (int rank = team->rank + 1; rank < team->size; rank++) {
        size_t size;
        if (team->leaders[rank] != team->rank)
            continue;
        cpu_set_t *lent = team_receive(team, rank, &size);
        CPU_OR(&processors, &processors, lent);
        free(lent);
    }
    /* Where the system does not allow that, those remain that this process has. */
    (void)sched_setaffinity(0, sizeof processors, &processors);
}

struct team *team_join(const char *path, struct error *err)
{
    const struct team_mpi *mpi = NULL;
    /* Global, as Open MPI's components look up its symbols in the program. Never closed: MPI's libraries have functions
       that run at exit. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library)
        mpi = dlsym(library, TEAM_MPI_SYMBOL);
    if (!mpi) {
        error_set(err, ERROR_USAGE, "%s", dlerror());
        return NULL;
    }
    struct team *team = memory_new(sizeof *team);
    team->mpi = mpi;
    mpi->join(&team->rank, &team->size);
    find_leaders(team);
    lend_processors(team);
    return team;
}

void team_leave(struct team *team)
{
    if (!team)
        return;
    team->mpi->leave();
    free(team->leaders);
    free(team);
}

int team_rank(const struct team *team)
{
    if (!team)
        return 0;
    return team->rank;
}

int team_size(const struct team *team)
{
    if (!team)
        return 1;
    return team->size;
}

void team_send(struct team *team, int to, const void *data, size_t size)
{
    team->mpi->send(to, data, size);
}

void *team_receive(struct team *team, int from, size_t *size)
{
    *size = team->mpi->wait(from);
    void *data = memory_new(*size);
    team->mpi->receive(from, data, *size);
    return data;
}

int team_here(const struct team *team)
{
    int count = 0;
    for (int rank = 0; team && rank < team->size; rank++)
        count += team->leaders[rank] == team->leaders[team->rank];
    return team ? count : 1;
}

bool team_leads(const struct team *team, int rank)
{
    return team->leaders[rank] == rank;
}
