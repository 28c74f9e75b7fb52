/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight history DIR`: a program's runs over time. */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "engine/polling.h"
#include "render/reports/history_report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS_SHOWN = 12 };

/* The files of the directory, and what they are. */
struct reading {
    char *directory;
    struct history_run *runs;
    bool *is_run;
    size_t count, capacity;
};

static enum status list_files(struct reading *reading, struct error *err)
{
    DIR *directory = opendir(reading->directory);
    struct dirent *entry;
    struct stat about;
    if (!directory)
        return error_set(err, ERROR_INPUT, "%s: %s", reading->directory, strerror(errno));
    while ((entry = readdir(directory)))
        /* hidden files are those of editors and tools */
        if (entry->d_name[0] != '.' && fstatat(dirfd(directory), entry->d_name, &about, 0) == 0 &&
            S_ISREG(about.st_mode))
            ARRAY_PUSH(reading->runs, reading->count, reading->capacity,
                       (struct history_run){.name = memory_copy_string(entry->d_name), .when = about.st_mtime});
    closedir(directory);
    return STATUS_OK;
}

/* Reads one file, in one of several threads: the file itself with one, as all have work. A file
   that is no run is no fault: notes and scripts lie beside traces. */
static void read_run(void *context, size_t index)
{
    struct reading *reading = context;
    struct error err = {0};
    char *path;
    if (asprintf(&path, "%s/%s", reading->directory, reading->runs[index].name) < 0)
        memory_failed();
    struct engine_result *result =
        engine_run_polling(&(struct engine_request){.inputs = &path, .input_count = 1, .threads = 1}, &err);
    if (result && result->metrics->process_count > 0) {
        history_measure(&reading->runs[index], result->metrics);
        reading->is_run[index] = true;
    }
    engine_free(result);
    free(path);
}

/* Keeps what is a run; returns how many are none. */
/* Its own pass, after all threads: they write into the array at their own places. */
static size_t keep_runs(struct reading *reading)
{
    size_t kept = 0, count = reading->count;
    for (size_t i = 0; i < count; i++)
        if (reading->is_run[i])
            reading->runs[kept++] = reading->runs[i];
        else
            free(reading->runs[i].name);
    reading->count = kept;
    return count - kept;
}

struct written {
    const struct history_options *options;
    const struct history *history;
    size_t skipped;
};

/* HTML also by the output's name. */
static bool is_html(const struct history_options *options)
{
    if (options->format.word || !options->target.path)
        return choice_is(options->format, "html");
    const char *dot = strrchr(options->target.path, '.');
    return dot && strcmp(dot, ".html") == 0;
}

static void write_history(struct output *output, const void *context)
{
    const struct written *written = context;
    const struct history_options *options = written->options;
    if (is_html(options))
        history_write_html(output, written->history, options->common.inputs[0], written->skipped);
    else if (choice_is(options->format, "json"))
        history_write_json(output, written->history, written->skipped);
    else
        history_write_text(output, written->history, options->common.inputs[0], written->skipped,
                           run_rows(options->all, RUNS_SHOWN));
}

int cmd_history(const struct command *command, const struct history_options *options)
{
    struct error err = {0};
    if (options->common.input_count != 1)
        return command_usage(command, "one directory of traces or metrics files is needed");
    struct reading reading = {.directory = options->common.inputs[0]};
    if (list_files(&reading, &err) != STATUS_OK)
        return command_fault(&err);
    unsigned jobs = (unsigned)options->common.jobs.value;
    reading.is_run = memory_new(reading.count * sizeof *reading.is_run);
    input_unpack_threads(1); /* each reads a file of its own */
    parallel_run(jobs ? jobs : parallel_processors(), reading.count, read_run, &reading);
    size_t skipped = keep_runs(&reading);
    free(reading.is_run);
    struct history history = history_of(reading.runs, reading.count);
    struct written written = {options, &history, skipped};
    int code = EXIT_DONE;
    if (history.count == 0) {
        (void)error_set(&err, ERROR_INPUT, "%s: holds no runs: no trace or metrics file is in it",
                        options->common.inputs[0]);
        code = command_fault(&err);
    } else {
        code = run_output(&options->common, &options->target, write_history, &written, code);
    }
    history_clear(&history);
    return code;
}
