/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/recording.h"

#include "cli/in_place.h"
#include "cli/launch.h"
#include "cli/merging.h"
#include "cli/own_library.h"
#include "cli/program.h"
#include "cli/recorder_counters.h"
#include "cli/run.h"
#include "cli/run_check.h"
#include "cli/still_running.h"
#include "cli/watch.h"
#include "convert/record/launch_note.h"
#include "core/memory.h"
#include "core/shell_text.h"
#include "core/text.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of the output, if none was given: the program's with the suffix. To be freed. */
static char *output_of(const struct recording *recording)
{
    if (recording->target->path)
        return memory_copy_string(recording->target->path);
    struct program program = program_find(recording->words, recording->count);
    const char *name = program.name;
    if (!name) /* no word is a file of code: a script */
        name = recording->words[0];
    const char *suffix = recording->recorder->diagnose ? "metrics.xml" : "clog2";
    char *output;
    if (asprintf(&output, "%s.%s", text_file_name(name), suffix) < 0)
        return memory_copy_string("trace.clog2");
    return output;
}

/* A directory of its own beside the trace. */
static char *directory_make(const char *output, struct error *err)
{
    char *name, *path = NULL;
    const char *temporary = getenv("TMPDIR");
    if (!temporary)
        temporary = "/tmp";
    int length;
    if (merging_names_file(output))
        length = asprintf(&name, "%s.XXXXXX", output);
    else
        length = asprintf(&name, "%s/sight.XXXXXX", temporary);
    if (length < 0)
        return NULL;
    /* the whole path: processes of the program may have other current directories */
    if (mkdtemp(name))
        path = realpath(name, NULL);
    if (!path)
        error_set_errno(err, ERROR_OUTPUT, "%s: cannot create a directory for the recording", name);
    free(name);
    return path;
}

/* True if the directory is empty now, and gone. */
static void directory_remove(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char *name;
        if (entry->d_name[0] == '.' || asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            continue;
        unlink(name);
        free(name);
    }
    if (directory)
        closedir(directory);
    rmdir(path);
}

/* False and a fault: there is none for this MPI. */
static bool library_find(enum mpi_kind kind, const char *suffix, char *path, size_t size, struct error *err)
{
    char name[64];
    snprintf(name, sizeof name, "libsight-record-%s.%s", mpi_kind_name(kind), suffix);
    if (own_library_find(name, path, size))
        return true;
    error_set(err, ERROR_USAGE, "this sight was built without a recorder for %s (%s)", mpi_kind_title(kind), name);
    return false;
}

/* Of the linker: the program's calls of libgomp; and what libomp looks for, to which nothing refers. */
#define GOMP(name, age, shape) "-Wl,--wrap=GOMP_" #name " "
static const char openmp_options[] =
#include "record/gomp.def"
    "-Wl,-u,ompt_start_tool";

int recording_print_link(const char *compiler)
{
    struct error err = {0};
    char library[PATH_MAX];
    if (!library_find(program_launcher_kind(compiler), "a", library, sizeof library, &err))
        return command_fault(&err);
    printf("%s -lpthread %s\n", library, openmp_options);
    return EXIT_DONE;
}

/* In how many bytes totals and a sample are kept; NULL: all events are. */
static const char *keep_size(const struct recorder_options *options)
{
    if (options->max_size)
        return options->max_size;
    return options->keep ? "200M" : NULL;
}

/* Sets the environment of the program. */
static void environment_set(const struct recorder_options *options, const char *directory, const char *preload)
{
    char *sanitizer_options = *preload ? own_library_sanitizer_options() : NULL;
    const struct {
        const char *name, *value;
    } variables[] = {{"SIGHT_RECORD_DIR", directory},
                     {"SIGHT_RECORD_BUFFER", options->buffer},
                     {"SIGHT_RECORD_ONLY", options->only},
                     {"SIGHT_RECORD_SKIP", options->skip},
                     {"SIGHT_RECORD_MAX_EVENTS", options->max_events.text},
                     {"SIGHT_RECORD_KEEP", keep_size(options)},
                     {"SIGHT_RECORD_CLOCK", options->clock.word},
                     {"SIGHT_RECORD_SOURCE", options->no_source ? "0" : NULL},
                     {"SIGHT_RECORD_METADATA", options->no_metadata ? "0" : NULL},
                     {"SIGHT_RECORD_SAMPLES", options->no_samples ? "0" : options->samples.text},
                     {"SIGHT_RECORD_COUNTERS", options->counters},
                     {"ASAN_OPTIONS", sanitizer_options},
                     {"LD_PRELOAD", preload}};
    char names[512] = "";
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!variables[i].value || !*variables[i].value)
            continue;
        setenv(variables[i].name, variables[i].value, 1);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ";" : "", variables[i].name);
    }
    /* Open MPI passes variables on to other hosts only on request. */
    setenv("OMPI_MCA_mca_base_env_list", names, 0);
    free(sanitizer_options);
}

/* The value of LD_PRELOAD: the library, what was there before, and for programs in which MPI is loaded late (Python)
   the MPI library itself. NULL and a fault. */
static char *preload_make(const struct recording *recording, struct error *err)
{
    struct program program = program_find(recording->words, recording->count);
    if (program.is_static && !program.has_recorder) {
        error_set(err, ERROR_USAGE,
                  "'%s' is linked statically with MPI, so that the recorder cannot be preloaded; link it like this: "
                  "mpicc ... $(sight record --link mpicc)",
                  program.name);
        return NULL;
    }
    enum mpi_kind kind = program.kind;
    const char *late = "", *before = getenv("LD_PRELOAD");
    if (program.has_recorder)
        return memory_copy_string(before ? before : ""); /* nothing of ours: it is inside the program */
    if (kind == MPI_KIND_NONE) {
        kind = program_launcher_kind(recording->words[0]);
        if (kind == MPI_KIND_NONE) /* a script, or a program that loads MPI late: the MPI that is the usual one here */
            kind = program_launcher_kind("mpiexec");
        /* Python opens its modules with names of their own (RTLD_LOCAL): the MPI that mpi4py brings would not be found
           by a recorder that is there before. */
        if (program.name && strstr(program.name, "python"))
            late = kind == MPI_KIND_OPENMPI ? ":libmpi.so.40" : ":libmpich.so.12";
    }
    char library[PATH_MAX], libraries[PATH_MAX + 32];
    if (!library_find(kind, "so", library, sizeof library, err))
        return NULL;
    snprintf(libraries, sizeof libraries, "%s%s", library, late);
    return own_library_preload(libraries);
}

/* True if a name of the length, which may leave out "MPI_" and contain *, matches a function. */
static bool is_function(const char *name, size_t length)
{
    char pattern[128];
    const char *prefix = strncmp(name, "MPI_", 4) == 0 ? "" : "MPI_";
    if ((size_t)snprintf(pattern, sizeof pattern, "%s%.*s", prefix, (int)length, name) >= sizeof pattern)
        return false;
    for (size_t i = 0; i < mpi_function_count(); i++)
        if (fnmatch(pattern, mpi_function_at(i)->name, 0) == 0)
            return true;
    return false;
}

static enum status list_check(const char *option, const char *list, struct error *err)
{
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (!is_function(at, length))
            return error_set(err, ERROR_USAGE, "%s: '%.*s' is not an MPI function", option, (int)length, at);
        at += length;
    }
    return STATUS_OK;
}

/* Digits, and one of these units at most; NULL: not given. */
static bool is_size(const char *text, const char *units)
{
    if (!text)
        return true;
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 9 && (!text[digits] || (strchr(units, text[digits]) && !text[digits + 1]));
}

/* The recording library ignores invalid settings, so report them to the user here. */
static enum status options_check(const struct recorder_options *options, struct error *err)
{
    if (list_check("--only", options->only, err) != STATUS_OK || list_check("--skip", options->skip, err) != STATUS_OK)
        return STATUS_FAILED;
    if (!is_size(options->buffer, "kKM"))
        return error_set(err, ERROR_USAGE, "--buffer: '%s' is not a size (such as 256k, 4M)", options->buffer);
    /* Of size 0 nothing could be kept; the recorder takes it for no limit. */
    bool none = options->max_size && strtoull(options->max_size, NULL, 10) == 0;
    if (none || !is_size(options->max_size, "kKMG"))
        return error_set(err, ERROR_USAGE, "--max-size: '%s' is not a size (such as 200M, 1G)", options->max_size);
    return STATUS_OK;
}

/* The trace must not exist yet: report this before a long run, not after. */
static enum status output_check(bool force, const char *output, struct error *err)
{
    struct stat about;
    if (stat(output, &about) != 0)
        return STATUS_OK;
    if (S_ISDIR(about.st_mode))
        return error_set(err, ERROR_OUTPUT, "%s: is a directory", output);
    if (!force && S_ISREG(about.st_mode))
        return error_set(err, ERROR_OUTPUT, "%s: exists (use -f to replace it)", output);
    return STATUS_OK;
}

/* Any file: what it holds is the merge's business. */
static bool directory_has_recording(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool any = false;
    while (directory && (entry = readdir(directory)))
        any |= entry->d_name[0] != '.' && strcmp(entry->d_name, LAUNCH_NOTE_NAME) != 0;
    if (directory)
        closedir(directory);
    return any;
}

/* What sight merge is given for the trace, as a shell takes it. */
enum { ARGUMENTS_SIZE = 2 * PATH_MAX };
static const char *merge_arguments(char text[ARGUMENTS_SIZE], const char *directory, const char *output)
{
    snprintf(text, ARGUMENTS_SIZE, "-o");
    (void)(shell_text_add(text, ARGUMENTS_SIZE, output) && shell_text_add(text, ARGUMENTS_SIZE, directory));
    return text;
}

/* The place of the recording if it is not merged; NULL without memory. */
static char *words_left(const char *directory, const char *output)
{
    char *words, arguments[ARGUMENTS_SIZE];
    int length = asprintf(&words, "sight: the recording is in '%s'; to merge it: sight merge %s\n", directory,
                          merge_arguments(arguments, directory, output));
    if (length < 0)
        return NULL;
    return words;
}

/* Keeps the metrics instead of a trace; `left` as below. */
static int diagnose(const struct recording *recording, const char *directory, const char *output, const char *left,
                    const struct launch_result *result)
{
    const struct target_options target = {.path = output, .force = recording->target->force};
    bool kept = false;
    int code = in_place_diagnose(recording->common, directory, &target, result->ended_ns, &kept);
    if (kept)
        directory_remove(directory);
    else if (left && code != EXIT_DAMAGED)
        fputs(left, stderr);
    return code;
}

/* Writes the trace of the run; if that fails, the directory is kept: `left` is its path. */
static int finish(const struct recording *recording, const char *directory, const char *output, const char *left,
                  const struct watch *watch, const struct launch_result *result)
{
    char arguments[ARGUMENTS_SIZE];
    merge_arguments(arguments, directory, output);
    if (!directory_has_recording(directory)) {
        directory_remove(directory);
        fprintf(stderr, "sight: nothing was recorded: no process of '%s' called MPI_Init\n", recording->words[0]);
        if (result->code == EXIT_DONE && program_is_launcher(recording->words[0]))
            fprintf(stderr,
                    "sight: or the processes were on hosts that do not share '%s': start one process on each of them: "
                    "mpiexec -n HOSTS sight %s %s\n",
                    directory, recording->recorder->diagnose ? "metrics --format xml" : "merge", arguments);
        return EXIT_INPUT;
    }
    size_t running = still_running_wait(directory);
    if (running > 0)
        fprintf(stderr, "sight: incomplete: %zu process%s still running\n", running, running == 1 ? " is" : "es are");
    if (recording->recorder->diagnose)
        return diagnose(recording, directory, output, left, result);
    if (!recording->common->quiet)
        watch_explain(watch, result->ended_ns);
    struct merged merged;
    struct merging merging = {.common = recording->common,
                              .clock = recording->recorder->clock,
                              .force = recording->target->force,
                              .diagnosed = recording->diagnose != NULL};
    int code = merging_run(&merging, (char *const *)&directory, 1, output, result, &merged);
    if (merged.elsewhere)
        fprintf(stderr,
                "sight: other hosts have their part in a directory of this name; to merge all of it, start one process "
                "on each host, this one first: mpiexec -n HOSTS sight merge -f %s\n",
                arguments);
    else if (code == EXIT_DONE || code == EXIT_DAMAGED || (merged.failed && merged.nothing))
        directory_remove(directory);
    else if (left)
        fputs(left, stderr);
    return merged_code(&merged, code);
}

enum status recording_try(const struct recording *recording, bool records, struct launch_result *result,
                          struct error *err)
{
    if (!records)
        return launch(recording->words, recording->count, NULL, NULL, result, err);
    char *preload = NULL, *directory = NULL;
    enum status status = STATUS_FAILED;
    if (options_check(recording->recorder, err) == STATUS_OK && (preload = preload_make(recording, err)) &&
        (directory = directory_make("-", err))) {
        environment_set(recording->recorder, directory, preload);
        status = launch(recording->words, recording->count, NULL, NULL, result, err);
        still_running_wait(directory);
        directory_remove(directory);
    }
    free(preload);
    free(directory);
    return status;
}

/* Runs the command with everything set, and writes the trace. Returns the exit code of that. */
static int record(const struct recording *recording, const char *directory, const char *output, struct watch *watch,
                  struct launch_result *result, bool *launched)
{
    struct error err = {0};
    char *left = words_left(directory, output);
    run_set_last_words(left);
    *launched = watch_start(watch, recording->watch, directory, &err) == STATUS_OK;
    if (*launched) {
        *launched = launch(recording->words, recording->count, watch_look, watch, result, &err) == STATUS_OK;
        watch_stop(watch);
    }
    int code;
    if (*launched) {
        code = finish(recording, directory, output, left, watch, result);
    } else {
        directory_remove(directory);
        code = command_fault(&err);
    }
    run_set_last_words(NULL);
    free(left);
    return code;
}

/* The same from the beginning, with what must be right before the command is started. */
static int run_to(const struct recording *recording, const char *output)
{
    struct error err = {0};
    char *preload = NULL, *directory = NULL;
    struct launch_result result = {.code = EXIT_DONE};
    struct watch watch;
    bool launched;
    if (options_check(recording->recorder, &err) != STATUS_OK ||
        output_check(recording->target->force, output, &err) != STATUS_OK ||
        run_check(recording->words, recording->count, &err) != STATUS_OK ||
        recorder_counters_check(recording->recorder->counters, recording->common, &err) != STATUS_OK ||
        !(preload = preload_make(recording, &err))) {
        free(preload);
        return command_fault(&err);
    }
    /* Before there is a directory, which nobody would remove: the libraries of the program are listed, which takes
     * time. */
    run_check_launcher(recording->common, recording->words, recording->count);
    if (!(directory = directory_make(output, &err))) {
        free(preload);
        return command_fault(&err);
    }
    if (!recording->recorder->no_metadata &&
        launch_note_write(directory, recording->words, recording->count, &err) != STATUS_OK) {
        directory_remove(directory);
        free(preload);
        free(directory);
        return command_fault(&err);
    }
    environment_set(recording->recorder, directory, preload);
    int code = record(recording, directory, output, &watch, &result, &launched);
    if (launched && recording->diagnose && (code == EXIT_DONE || code == EXIT_DAMAGED))
        recording->diagnose(recording->common, output);
    free(preload);
    free(directory);
    if (!launched)
        return code;
    if (watch.ended)
        return EXIT_TIMEOUT;
    launch_die_alike(&result);
    /* The program's own code goes first: a script that runs it under sight must see what it would have seen. Damage is
       no reason to fail either, where the program has ended well: it says how it was recorded. */
    if (result.code != EXIT_DONE || code == EXIT_DAMAGED)
        return result.code;
    return code;
}

int recording_run(const struct recording *recording)
{
    struct error err = {0};
    char *output = output_of(recording);
    /* The diagnosis goes to standard output. */
    if (recording->recorder->diagnose && !merging_names_file(output)) {
        (void)error_set(&err, ERROR_USAGE, "--diagnose needs a file for the metrics: -o FILE");
        free(output);
        return command_fault(&err);
    }
    int code = run_to(recording, output);
    free(output);
    return code;
}
