/* SPDX-License-Identifier: BSD-3-Clause */
#include "team/team.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "team/team_mpi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

struct team {
    const struct team_mpi *mpi;
    int rank, size;
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
    return team;
}

void team_leave(struct team *team)
{
    if (!team)
        return;
    team->mpi->leave();
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

/* A number of the environment; 0: none. */
static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

bool team_is_here(const struct team *team)
{
    return larger(number_of("OMPI_COMM_WORLD_LOCAL_SIZE"), number_of("MPI_LOCALNRANKS")) >= team_size(team);
}

int team_at_once(const struct team *team)
{
    int size = team_size(team);
    long processors = number_of("SIGHT_TEST_PROCESSORS");
    if (processors <= 0)
        processors = sysconf(_SC_NPROCESSORS_ONLN);
    /* Of other machines nothing is known. */
    if (!team_is_here(team) || processors >= size)
        return size;
    return (int)larger(processors, 1L);
}
