/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run_check.h"

#include "core/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Why a word that should be a program cannot be run. */
static enum status refuse(const char *word, struct error *err)
{
    struct stat about;
    if (stat(word, &about) != 0 || !strchr(word, '/'))
        return error_set(err, ERROR_USAGE, "%s: there is no such program", word);
    if (S_ISDIR(about.st_mode))
        return error_set(err, ERROR_USAGE, "%s: is a directory, not a program", word);
    return error_set(err, ERROR_USAGE, "%s: is not executable (chmod +x %s)", word, word);
}

/* A path that is no option and no list of values: "./app", not "-x", "A=b" or "host1,host2". */
static bool may_be_program(const char *word)
{
    return word[0] != '-' && strchr(word, '/') && !strchr(word, '=') && !strchr(word, ',');
}

/* After a launcher come options with values of any kind: only where none of the words can be run, one of them must have
   been meant as the program. One that is not there first: other files may be lists of hosts. */
static enum status check_launched(char *const *words, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (program_exists(words[i]))
            return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        if (may_be_program(words[i]) && access(words[i], F_OK) != 0)
            return refuse(words[i], err);
    for (size_t i = 0; i < count; i++)
        if (may_be_program(words[i]))
            return refuse(words[i], err);
    return STATUS_OK;
}

static bool has_word(char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && strcmp(value, "1") == 0;
}

/* Its launcher answers with a page of text. A program that is started alone runs. */
static enum status check_root(char *const *words, size_t count, struct error *err)
{
    if (geteuid() != 0 || program_launcher_kind(words[0]) != MPI_KIND_OPENMPI ||
        has_word(words, count, "--allow-run-as-root") ||
        (is_set("OMPI_ALLOW_RUN_AS_ROOT") && is_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")))
        return STATUS_OK;
    return error_set(err, ERROR_USAGE,
                     "Open MPI does not start programs as root: log in as another user, or allow it: "
                     "sight run --allow-run-as-root ... -- PROGRAM, or mpiexec --allow-run-as-root ...");
}

extern char **environ;

/* A line of a file that is no comment has the word. */
static bool has_setting(const char *path, const char *word)
{
    char line[1024];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = line[strspn(line, " \t\n")] != '\0' && line[strspn(line, " \t")] != '#' && strstr(line, word);
    if (file)
        fclose(file);
    return found;
}

/* A batch system or settings of Open MPI may give more slots than there are cores. */
static bool may_have_slots(void)
{
    static const char *const begins[] = {"OMPI_MCA_", "PRTE_MCA_", "SLURM_", "PBS_", "LSB_", "PE_", "FLUX_"};
    for (char *const *variable = environ; *variable; variable++)
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (strncmp(*variable, begins[i], strlen(begins[i])) == 0)
                return true;
    static const char *const owns[] = {"/.openmpi/mca-params.conf", "/.prte/mca-params.conf"};
    const char *home = getenv("HOME");
    for (size_t i = 0; home && i < sizeof owns / sizeof *owns; i++) {
        char own[PATH_MAX];
        snprintf(own, sizeof own, "%s%s", home, owns[i]);
        if (has_setting(own, ""))
            return true;
    }
    return has_setting("/etc/openmpi/openmpi-default-hostfile", "") ||
           has_setting("/etc/openmpi/openmpi-mca-params.conf", "oversubscribe");
}

/* As with root, but only where nothing else than a number of processes is given: -n N PROGRAM on one machine. */
static enum status check_slots(char *const *words, size_t count, struct error *err)
{
    int64_t number;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool plain = count > 3 && (strcmp(words[1], "-n") == 0 || strcmp(words[1], "-np") == 0) && words[3][0] != '-';
    if (!plain || program_launcher_kind(words[0]) != MPI_KIND_OPENMPI || !program_launcher_is_system(words[0]) ||
        !text_parse_i64(words[2], 1, INT32_MAX, &number) || cores <= 0 || number <= cores || may_have_slots())
        return STATUS_OK;
    return error_set(err, ERROR_USAGE,
                     "Open MPI starts no more processes than there are cores, %ld here: give the launcher "
                     "--oversubscribe",
                     cores);
}

enum status run_check(char *const *words, size_t count, struct error *err)
{
    if (!program_exists(words[0]))
        return refuse(words[0], err);
    bool launched = program_is_launcher(words[0]);
    if (launched && check_launched(words + 1, count - 1, err) != STATUS_OK)
        return STATUS_FAILED;
    /* What a launcher starts on other hosts may not be here to look at: only what is found is judged. */
    struct program program = program_find(words + launched, count - launched);
    if (program.is_alone)
        return error_set(err, ERROR_USAGE, "%s: is not linked to an MPI (compile it with mpicc)", program.name);
    if (launched && check_root(words, count, err) != STATUS_OK)
        return STATUS_FAILED;
    return launched ? check_slots(words, count, err) : STATUS_OK;
}

void run_check_launcher(const struct common_options *common, char *const *words, size_t count)
{
    if (!program_is_launcher(words[0]))
        return;
    enum mpi_kind launcher = program_launcher_kind(words[0]);
    struct program program = program_find(words + 1, count - 1);
    if (launcher == MPI_KIND_NONE || program.kind == MPI_KIND_NONE || launcher == program.kind)
        return;
    command_note(common, "%s is the launcher of %s, but %s is linked to %s: each process would be a run of its own",
                 words[0], mpi_kind_title(launcher), program.name, mpi_kind_title(program.kind));
}
