/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/scattered.h"

#include "cli/merging.h"
#include "cli/own_library.h"
#include "cli/same_hosts.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

enum { MOST_WORDS = 12 };

/* What is started on each host. `self`: the path of sight. Returns the number of words; borrowed. */
static size_t words_make(const char *words[MOST_WORDS], const struct common_options *common,
                         const struct scattered *scattered, const char *self)
{
    size_t count = 0;
    words[count++] = self;
    words[count++] = "merge";
    if (scattered->diagnose)
        words[count++] = "--diagnose";
    if (common->quiet)
        words[count++] = "-q";
    if (common->verbose)
        words[count++] = "-v";
    if (scattered->force)
        words[count++] = "-f";
    if (common->jobs.text) {
        words[count++] = "-j";
        words[count++] = common->jobs.text;
    }
    words[count++] = "-o";
    words[count++] = scattered->whole;
    words[count++] = scattered->directory;
    return count;
}

/* Runs words where the programs were. Returns their exit code, or that of what kept them from running, which is
   said. */
static int run_everywhere(const struct scattered *scattered, const char *const *words, size_t word_count, bool *started)
{
    struct error err = {0};
    struct launch_result result = {0};
    fflush(stdout);
    if (same_hosts_run(scattered->command, scattered->count, words, word_count, started, &result, &err) != STATUS_OK)
        return command_fault(&err);
    return result.code;
}

/* Whether the output was written here: it is another file than before. */
static bool is_here(const char *path, const struct stat *before)
{
    struct stat after;
    return stat(path, &after) == 0 && (after.st_ino != before->st_ino || after.st_dev != before->st_dev);
}

int scattered_merge(const struct common_options *common, const struct scattered *scattered, bool *done)
{
    char self[PATH_MAX], command[MERGING_COMMAND_SIZE];
    const char *words[MOST_WORDS];
    const char *remove[] = {"rm", "-r", "-f", "--", scattered->directory};
    bool started;
    struct stat before = {0};
    if (stat(scattered->whole, &before) != 0)
        before = (struct stat){0};
    size_t count = words_make(words, common, scattered, own_program(self, sizeof self));
    int code = run_everywhere(scattered, words, count, &started);
    *done = started && (code == EXIT_DONE || code == EXIT_DAMAGED);
    if (!*done) {
        fprintf(stderr,
                "sight: other hosts have their part in a directory of this name; to %s all of it, start one process on "
                "each host, this one first: mpiexec -n HOSTS %s\n",
                scattered->diagnose ? "diagnose" : "merge",
                merging_command(command, scattered->diagnose ? "--diagnose" : "-f", scattered->directory,
                                scattered->output));
        return started ? code : EXIT_DAMAGED;
    }
    if (!is_here(scattered->whole, &before))
        fprintf(stderr, "sight: %s is on the host of process 0\n", scattered->whole);
    else if (scattered->diagnose)
        command_note(common, "%s: the metrics of the run; no trace is kept", scattered->output);
    /* Where something is missing, it may be on a host that the launcher did not choose again. */
    if (code == EXIT_DAMAGED)
        fprintf(stderr, "sight: the recording is kept in '%s' on these hosts\n", scattered->directory);
    else if (run_everywhere(scattered, remove, sizeof remove / sizeof *remove, &started) != EXIT_DONE)
        fprintf(stderr, "sight: %s: could not be removed on all hosts\n", scattered->directory);
    return code;
}
