/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/scaling_runs.h"

#include "cli/launch.h"
#include "cli/openmp_regions.h"
#include "cli/own_library.h"
#include "cli/program.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_BEFORE = 16, NUMBER_SIZE = 12 };

/* One run that is to be made. */
struct planned {
    uint32_t processes, threads, repeat;
};

struct plan {
    const struct scaling_options *options;
    struct program program;
    const char *directory; /* where traces are kept */
    struct planned *runs;
    size_t count;
};

/* The text with every {p} and {t} replaced; to be freed. */
static char *fill_in(const char *text, const struct planned *run)
{
    size_t length = strlen(text), used = 0;
    char *filled = memory_new(length * NUMBER_SIZE + 1); /* each character may become part of a number: enough */
    while (*text) {
        if (strncmp(text, "{p}", 3) == 0 || strncmp(text, "{t}", 3) == 0) {
            used += (size_t)sprintf(filled + used, "%u", text[1] == 'p' ? run->processes : run->threads);
            text += 3;
        } else {
            filled[used++] = *text++;
        }
    }
    return filled;
}

static char *trace_path(const char *directory, const struct planned *run, const char *suffix)
{
    char *path;
    if (asprintf(&path, "%s/p%u_t%u_r%u%s", directory, run->processes, run->threads, run->repeat, suffix) < 0)
        abort();
    return path;
}

/* Runs the words with their standard output on standard error, where it does not mix with ours. */
static enum status launch_quietly(char **words, size_t count, struct launch_result *result, struct error *err)
{
    fflush(stdout); /* what is in the buffer belongs to the old one */
    int saved = dup(STDOUT_FILENO);
    if (saved < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        if (saved >= 0)
            close(saved);
        return error_set(err, ERROR_OUTPUT, "standard output: %s", strerror(errno));
    }
    enum status status = launch(words, count, NULL, NULL, result, err);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return status;
}

/* `sight record -- mpiexec -n P` in front of an MPI program; nothing in front of another. */
static size_t words_before(char **words, const struct plan *plan, char *trace, char *number, char *self)
{
    size_t count = 0;
    if (plan->program.kind == MPI_KIND_NONE)
        return 0;
    const char *before[] = {self, "record", "-q", "-f", "-o", trace, "--", program_launcher_of(plan->program.kind)};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        words[count++] = (char *)before[i];
    words[count++] = (char *)"-n";
    words[count++] = number;
    if (plan->program.kind == MPI_KIND_OPENMPI)
        words[count++] = (char *)"--oversubscribe";
    return count;
}

static enum status run_once(const struct plan *plan, const struct planned *run, char *trace,
                            struct launch_result *result, struct error *err)
{
    const struct scaling_options *options = plan->options;
    char number[NUMBER_SIZE], threads[NUMBER_SIZE], self[PATH_MAX];
    own_program(self, sizeof self);
    snprintf(number, sizeof number, "%u", run->processes);
    snprintf(threads, sizeof threads, "%u", run->threads);
    setenv("OMP_NUM_THREADS", threads, 1);
    char **words = memory_new((options->common.input_count + WORDS_BEFORE) * sizeof *words);
    size_t before = words_before(words, plan, trace, number, self), count = before;
    for (size_t i = 0; i < options->common.input_count; i++)
        words[count++] = fill_in(options->common.inputs[i], run);
    /* With MPI its recorder is there; two of them would be in each other's way. */
    char *regions = before == 0 ? trace_path(plan->directory, run, ".regions") : NULL;
    if (regions)
        openmp_record(regions);
    enum status status = launch_quietly(words, count, result, err);
    if (regions)
        openmp_record(NULL);
    free(regions);
    for (size_t i = before; i < count; i++)
        free(words[i]);
    free(words);
    return status;
}

/* {1} without the option. */
static struct list_option numbers_of(const struct list_option *given)
{
    static uint32_t one[] = {1};
    return given->text ? *given : (struct list_option){.numbers = one, .count = 1};
}

static enum status check_list(const char *option, const struct list_option *list, struct error *err)
{
    if (list->count == 0 || list->numbers[0] > 0)
        return STATUS_OK;
    return error_set(err, ERROR_USAGE, "--%s: 0 is not a number of %s", option, option);
}

/* So that a machine that becomes slower meanwhile does not look like a program that scales badly.
   Fisher and Yates, with our own generator, so that a continued series has the same order. */
static void shuffle(struct planned *runs, size_t count)
{
    uint64_t random = 88172645463325252u; /* Marsaglia's xorshift64 and its seed (2003) */
    for (size_t i = count; i > 1; i--) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t other = (size_t)(random % i);
        struct planned swapped = runs[i - 1];
        runs[i - 1] = runs[other];
        runs[other] = swapped;
    }
}

static enum status plan_runs(struct plan *plan, struct error *err)
{
    const struct scaling_options *options = plan->options;
    struct list_option processes = numbers_of(&options->processes), threads = numbers_of(&options->threads);
    uint32_t repeats = (uint32_t)larger(options->repeat.value, INT64_C(1));
    size_t capacity = 0;
    if (check_list("processes", &processes, err) != STATUS_OK || check_list("threads", &threads, err) != STATUS_OK)
        return STATUS_FAILED;
    for (size_t p = 0; p < processes.count; p++)
        for (size_t t = 0; t < threads.count; t++)
            for (uint32_t r = 1; r <= repeats; r++)
                ARRAY_PUSH(plan->runs, plan->count, capacity,
                           (struct planned){processes.numbers[p], threads.numbers[t], r});
    shuffle(plan->runs, plan->count);
    return STATUS_OK;
}

/* A series may take hours. */
static void note(const struct scaling_options *options, size_t index, size_t count, const struct planned *run)
{
    if (!options->common.quiet)
        fprintf(stderr, "sight: run %zu of %zu: %u process%s, %u thread%s\n", index + 1, count, run->processes,
                text_plural(run->processes, "", "es"), run->threads, text_plural(run->threads, "", "s"));
}

/* Why a run is left out. One failed run, of a size that the program cannot have, does not spoil the series. */
static void note_failure(const struct planned *run, const struct launch_result *result)
{
    fprintf(stderr, "sight: the run with %u processes and %u threads is left out: ", run->processes, run->threads);
    if (result->signal)
        fprintf(stderr, "signal %d\n", result->signal);
    else
        fprintf(stderr, "exit code %d\n", result->code);
}

/* A metrics file of OpenMP's regions, where the program has any. */
static bool take_regions(const struct performed_runs *performed, const struct planned *run, const char *metrics,
                         int64_t ran_ns, enum status *status, struct error *err)
{
    char *regions = trace_path(performed->directory, run, ".regions");
    bool taken = openmp_take(regions, metrics, ran_ns, status, err);
    free(regions);
    return taken;
}

static enum status perform(struct plan *plan, struct performed_runs *performed, struct error *err)
{
    const struct scaling_options *options = plan->options;
    struct launch_result result = {0};
    bool is_mpi = plan->program.kind != MPI_KIND_NONE, warm = false;
    size_t capacity = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < plan->count; i++) {
        const struct planned *run = &plan->runs[i];
        char *trace = trace_path(performed->directory, run, is_mpi ? ".clog2" : ".xml");
        /* of an earlier, interrupted series */
        bool is_there = !options->target.force && access(trace, R_OK) == 0;
        /* The first run finds cold caches and files that were never read: it is made twice. */
        int times = warm ? 1 : 2;
        for (; times > 0 && !is_there; times--) {
            note(options, i, plan->count, run);
            if (run_once(plan, run, trace, &result, err) != STATUS_OK) {
                free(trace);
                return STATUS_FAILED;
            }
            warm = true;
        }
        if (!is_there && (result.code != 0 || result.signal != 0)) {
            note_failure(run, &result);
            performed->failed++;
            if (is_mpi)
                unlink(trace);
            free(trace);
            continue;
        }
        if (!is_mpi && !is_there && !take_regions(performed, run, trace, result.ran_ns, &status, err)) {
            free(trace);
            trace = NULL;
        }
        if (status != STATUS_OK) {
            free(trace);
            return STATUS_FAILED;
        }
        struct performed one = {run->processes, run->threads, trace, (double)result.ran_ns / 1e9};
        ARRAY_PUSH(performed->runs, performed->count, capacity, one);
    }
    return STATUS_OK;
}

enum status scaling_perform(const struct scaling_options *options, struct performed_runs *performed, struct error *err)
{
    struct plan plan = {.options = options, .program = program_find(options->common.inputs, 1)};
    if (asprintf(&performed->directory, "%s.scaling", text_file_name(options->common.inputs[0])) < 0)
        abort();
    enum status status = plan_runs(&plan, err);
    plan.directory = performed->directory;
    if (status == STATUS_OK && mkdir(performed->directory, 0777) != 0 && errno != EEXIST)
        status = error_set(err, ERROR_OUTPUT, "%s: %s", performed->directory, strerror(errno));
    if (status == STATUS_OK)
        status = perform(&plan, performed, err);
    rmdir(performed->directory); /* if nothing was recorded */
    free(plan.runs);
    return status;
}

void performed_clear(struct performed_runs *performed)
{
    for (size_t i = 0; i < performed->count; i++)
        free(performed->runs[i].trace);
    free(performed->runs);
    free(performed->directory);
}
