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
#include "cli/scattered.h"
#include "cli/still_running.h"
#include "cli/watch.h"
#include "convert/record/launch_note.h"
#include "core/memory.h"
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

/* A directory of its own beside the trace, whose name it has with this suffix. */
#define DIRECTORY_SUFFIX ".XXXXXX"
static char *directory_make(const char *output, struct error *err)
{
    char *name, *path = NULL;
    const char *temporary = getenv("TMPDIR");
    if (!temporary)
        temporary = "/tmp";
    int length;
    if (merging_names_file(output))
        length = asprintf(&name, "%s" DIRECTORY_SUFFIX, output);
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

/* The place of the recording if it is not merged; NULL without memory. */
static char *words_left(const char *directory, const char *output)
{
    char *words, command[MERGING_COMMAND_SIZE];
    int length = asprintf(&words, "sight: the recording is in '%s'; to merge it: %s\n", directory,
                          merging_command(command, NULL, directory, output));
    if (length < 0)
        return NULL;
    return words;
}

/* A command that has ended, and its recording. */
struct recorded {
    const struct recording *recording;
    const char *directory, *output;
    char *left; /* the place of the recording, for the case that it stays; NULL: no memory */
    char **environment;
    struct watch watch;
    struct launch_result result;
};

/* Of a run whose hosts share no disk. */
static int merge_scattered(struct recorded *recorded, bool *done)
{
    const struct recording *recording = recorded->recording;
    char *whole = memory_copy_string(recorded->directory);
    whole[strlen(whole) - strlen(DIRECTORY_SUFFIX)] = '\0';
    environ = recorded->environment; /* sight is not to be recorded */
    const struct scattered scattered = {.command = recording->words,
                                        .count = recording->count,
                                        .directory = recorded->directory,
                                        .output = recorded->output,
                                        .whole = whole,
                                        .force = recording->target->force,
                                        .diagnose = recording->recorder->diagnose};
    int code = scattered_merge(recording->common, &scattered, done);
    free(whole);
    return code;
}

/* Keeps the metrics instead of a trace. */
static int diagnose(struct recorded *recorded)
{
    struct error err = {0};
    const struct recording *recording = recorded->recording;
    const struct target_options target = {.path = recorded->output, .force = recording->target->force};
    struct in_place place;
    if (launch_note_end(recorded->directory, recorded->result.ended_ns, &err) != STATUS_OK)
        return command_fault(&err);
    int code = in_place_diagnose(recording->common, recorded->directory, &target, false, &place);
    if (place.elsewhere)
        return merge_scattered(recorded, &place.done);
    if (place.done || place.nothing)
        directory_remove(recorded->directory);
    else if (recorded->left)
        fputs(recorded->left, stderr);
    if (place.done)
        command_note(recording->common, "%s: the metrics of the run; no trace is kept", recorded->output);
    return code;
}

/* Writes the trace of the files that are here; `whole`: only if other hosts have none. */
static int merge_files(struct recorded *recorded, bool whole, struct merged *merged)
{
    const struct recording *recording = recorded->recording;
    struct merging merging = {.common = recording->common,
                              .clock = recording->recorder->clock,
                              .force = recording->target->force,
                              .diagnosed = recording->diagnose != NULL,
                              .whole = whole};
    return merging_run(&merging, (char *const *)&recorded->directory, 1, recorded->output, &recorded->result, merged);
}

/* Writes the trace; of this host's part where others cannot be asked for theirs. */
static int merge(struct recorded *recorded)
{
    struct error err = {0};
    struct merged merged;
    bool done = false;
    int code = merge_files(recorded, true, &merged);
    if (merged.elsewhere) {
        if (launch_note_end(recorded->directory, recorded->result.ended_ns, &err) == STATUS_OK)
            code = merge_scattered(recorded, &done);
        else
            code = command_fault(&err);
        return done ? code : merged_code(&merged, merge_files(recorded, false, &merged));
    }
    if (code == EXIT_DONE || code == EXIT_DAMAGED || (merged.failed && merged.nothing))
        directory_remove(recorded->directory);
    else if (recorded->left)
        fputs(recorded->left, stderr);
    return merged_code(&merged, code);
}

/* Writes the trace of the run; if that fails, the directory is kept. */
static int finish(struct recorded *recorded)
{
    const struct recording *recording = recorded->recording;
    const struct launch_result *result = &recorded->result;
    const char *directory = recorded->directory, *output = recorded->output;
    char command[MERGING_COMMAND_SIZE];
    if (!directory_has_recording(directory)) {
        directory_remove(directory);
        fprintf(stderr, "sight: nothing was recorded: no process of '%s' called MPI_Init\n", recording->words[0]);
        if (result->code == EXIT_DONE && program_is_launcher(recording->words[0]))
            fprintf(stderr,
                    "sight: or the processes were on hosts that do not share '%s': start one process on each of them: "
                    "mpiexec -n HOSTS %s\n",
                    directory,
                    merging_command(command, recording->recorder->diagnose ? "--diagnose" : NULL, directory, output));
        return EXIT_INPUT;
    }
    size_t running = still_running_wait(directory);
    if (running > 0)
        fprintf(stderr, "sight: incomplete: %zu process%s still running\n", running, running == 1 ? " is" : "es are");
    if (recording->recorder->diagnose)
        return diagnose(recorded);
    if (!recording->common->quiet)
        watch_explain(&recorded->watch, result->ended_ns);
    return merge(recorded);
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
static int record(struct recorded *recorded, bool *launched)
{
    struct error err = {0};
    const struct recording *recording = recorded->recording;
    recorded->left = words_left(recorded->directory, recorded->output);
    run_set_last_words(recorded->left);
    *launched = watch_start(&recorded->watch, recording->watch, recorded->directory, &err) == STATUS_OK;
    if (*launched) {
        *launched = launch(recording->words, recording->count, watch_look, &recorded->watch, &recorded->result, &err) ==
                    STATUS_OK;
        watch_stop(&recorded->watch);
    }
    int code;
    if (*launched) {
        code = finish(recorded);
    } else {
        directory_remove(recorded->directory);
        code = command_fault(&err);
    }
    run_set_last_words(NULL);
    free(recorded->left);
    return code;
}

/* What must be right before the command is started. False and the exit code; else the caller frees both. */
static bool prepare(const struct recording *recording, const char *output, char **preload, char **directory, int *code)
{
    struct error err = {0};
    *preload = *directory = NULL;
    bool ready = options_check(recording->recorder, &err) == STATUS_OK &&
                 output_check(recording->target->force, output, &err) == STATUS_OK &&
                 run_check(recording->words, recording->count, &err) == STATUS_OK &&
                 recorder_counters_check(recording->recorder->counters, recording->common, &err) == STATUS_OK &&
                 (*preload = preload_make(recording, &err));
    /* Before there is a directory, which nobody would remove: the libraries of the program are listed, which takes
     * time. */
    if (ready)
        run_check_launcher(recording->common, recording->words, recording->count);
    ready = ready && (*directory = directory_make(output, &err));
    if (ready && !recording->recorder->no_metadata &&
        launch_note_write(*directory, recording->words, recording->count, &err) != STATUS_OK) {
        directory_remove(*directory);
        ready = false;
    }
    if (ready)
        return true;
    free(*preload);
    free(*directory);
    *code = command_fault(&err);
    return false;
}

/* This process's environment; to be freed, but not its strings. */
static char **environment_copy(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **copy = memory_new((count + 1) * sizeof *copy);
    memcpy(copy, environ, count * sizeof *copy);
    return copy;
}

/* The same from the beginning. */
static int run_to(const struct recording *recording, const char *output)
{
    char *preload, *directory;
    int code;
    bool launched;
    if (!prepare(recording, output, &preload, &directory, &code))
        return code;
    struct recorded recorded = {.recording = recording,
                                .directory = directory,
                                .output = output,
                                .environment = environment_copy(),
                                .result = {.code = EXIT_DONE}};
    environment_set(recording->recorder, directory, preload);
    code = record(&recorded, &launched);
    if (launched && recording->diagnose && (code == EXIT_DONE || code == EXIT_DAMAGED))
        recording->diagnose(recording->common, output);
    free(preload);
    free(directory);
    if (environ != recorded.environment)
        free(recorded.environment);
    if (!launched)
        return code;
    if (recorded.watch.ended)
        return EXIT_TIMEOUT;
    launch_die_alike(&recorded.result);
    /* The program's own code goes first: a script that runs it under sight must see what it would have seen. Damage is
       no reason to fail either, where the program has ended well: it says how it was recorded. */
    if (recorded.result.code != EXIT_DONE || code == EXIT_DAMAGED)
        return recorded.result.code;
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
