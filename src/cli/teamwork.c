/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/teamwork.h"

#include "cli/command.h"
#include "cli/own_library.h"
#include "engine/engine.h"

#include <limits.h>
#include <stdio.h>

/* MPI itself is in a plug-in, so that sight runs where there is none, and with whichever there is. */
static struct team *join(const char *mpi, struct error *err)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "libsight-team-%s.so", mpi);
    if (own_library_find(name, path, sizeof path))
        return team_join(path, err);
    error_set(err, ERROR_USAGE, "this sight was built without %s (%s): start it without mpiexec", mpi, name);
    return NULL;
}

bool teamwork_begin(const char *word, struct team **team, int *code)
{
    const struct command *command = command_find(word);
    struct error err = {0};
    *team = NULL;
    if (command && (command->kind & COMMAND_ALONE))
        return true;
    const char *mpi = team_launcher();
    if (!mpi)
        return true;
    *team = join(mpi, &err);
    if (!*team) {
        *code = command_fault(&err);
        return false;
    }
    if (team_rank(*team) == 0)
        return true;
    /* Process 0 alone says how it ended: launchers report every process that does not end with 0. */
    (void)engine_serve(*team);
    team_leave(*team);
    *code = EXIT_DONE;
    return false;
}

void teamwork_end(struct team *team, int code)
{
    if (!team)
        return;
    engine_serve_end(team, code);
    team_leave(team);
}
