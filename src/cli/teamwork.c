/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/teamwork.h"

#include "cli/own_library.h"
#include "core/directory.h"
#include "core/text.h"
#include "engine/engine.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* What starts programs: these may be launched as sight was. */
static bool is_alone(int count, char *const *arguments)
{
    const struct command *command = command_find(count > 0 ? arguments[0] : "");
    bool starts = false;
    for (int i = 1; i < count; i++)
        starts |= strcmp(arguments[i], "--") == 0;
    return command && ((command->kind & COMMAND_ALONE) || (starts && (command->kind & COMMAND_MAY_START)));
}

bool teamwork_join(int count, char *const *arguments, struct team **team, int *code)
{
    struct error err = {0};
    *team = NULL;
    if (is_alone(count, arguments))
        return true;
    const char *mpi = team_launcher();
    if (!mpi)
        return true;
    *team = join(mpi, &err);
    if (!*team)
        *code = command_fault(&err);
    return *team != NULL;
}

int teamwork_serve(struct team *team)
{
    /* Process 0 alone says how it ended: launchers report every process that does not end with 0. */
    (void)engine_serve(team);
    team_leave(team);
    return EXIT_DONE;
}

/* A directory; or a run with a name, as `compare` has them; NULL: what this process reads as it is. */
static const char *directory_of(const char *input)
{
    const char *equals = strchr(input, '=');
    if (strcmp(input, "-") == 0)
        return NULL;
    if (access(input, F_OK) != 0 && equals && equals > input)
        input = equals + 1;
    return access(input, F_OK) != 0 || directory_is(input) ? input : NULL;
}

enum status teamwork_gather(const struct common_options *common, struct error *err)
{
    for (size_t i = 0; team_size(common->team) > 1 && i < common->input_count; i++) {
        const char *directory = directory_of(common->inputs[i]);
        struct engine_gathered gathered;
        char size[TEXT_NUMBER_SIZE];
        if (!directory)
            continue;
        if (engine_gather(common->team, directory, &gathered, err) != STATUS_OK)
            return STATUS_FAILED;
        if (gathered.files > 0 && common->verbose)
            command_note(common, "%s: %zu file%s of other hosts, %s", directory, gathered.files,
                         text_plural(gathered.files, "", "s"), text_bytes(size, gathered.bytes));
    }
    return STATUS_OK;
}

void teamwork_end(struct team *team, int code)
{
    if (!team)
        return;
    engine_serve_end(team, code);
    team_leave(team);
}
