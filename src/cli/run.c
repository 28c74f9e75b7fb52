/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run.h"

#include "core/text.h"
#include "core/unfinished.h"
#include "heuristics/condition.h"
#include "render/field.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Nothing needs an orderly end but the temporary names of outputs. */
static const char *last_words;

static void on_signal(int signal_number)
{
    (void)signal_number;
    unfinished_remove();
    if (last_words && write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(EXIT_INTERRUPTED);
    _exit(EXIT_INTERRUPTED);
}

void run_set_last_words(const char *words)
{
    last_words = words;
}

void run_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* nohup */
            sigaction(numbers[i], &action, NULL);
    }
    /* A closed pipe shows in write's result: temporary files are removed, and the work ends silently. So is a file
       that becomes larger than ulimit -f allows. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int run_report_damage(const struct trace_end *end, int64_t last_ns)
{
    if (end->complete)
        return EXIT_DONE;
    char duration[TEXT_NUMBER_SIZE];
    fprintf(stderr, "sight: %s", end->damage.count ? end->damage.first : "the trace is incomplete");
    if (end->damage.count > 1)
        fprintf(stderr, " (and %llu more)", (unsigned long long)(end->damage.count - 1));
    if (end->total > 0)
        fprintf(stderr, "; used %.1f %% of the size", 100.0 * (double)end->used / (double)end->total);
    if (last_ns >= 0)
        fprintf(stderr, ", up to %s", text_duration(duration, last_ns));
    fputc('\n', stderr);
    return EXIT_DAMAGED;
}

int run_output(const struct options *options, void (*write)(struct output *output, const void *context),
               const void *context, int code)
{
    struct error err = {0};
    struct output_options how = {.replace = options->force};
    struct output *output = output_open(options->output ? options->output : "-", how, &err);
    if (!output)
        return command_fault(&err);
    write(output, context);
    if (output_close(output, true, &err) != STATUS_OK)
        return command_fault(&err);
    return code;
}

enum status run_width(const struct options *options, uint32_t least, uint32_t *width, struct error *err)
{
    enum { USUAL = 80, MOST = 1000 };
    int64_t wanted = USUAL;
    struct winsize size;
    if (options->width && !text_parse_i64(options->width, least, MOST, &wanted))
        return error_set(err, ERROR_USAGE, "--width: '%s' is not a number from %u to %d", options->width, least, MOST);
    if (!options->width && !options->output && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= least &&
        size.ws_col <= MOST)
        wanted = size.ws_col;
    *width = (uint32_t)wanted;
    return STATUS_OK;
}

struct report {
    const struct options *options;
    const struct metrics *metrics;
    void (*write)(struct output *output, const struct options *options, const struct metrics *metrics);
};

static void write_report(struct output *output, const void *context)
{
    const struct report *report = context;
    report->write(output, report->options, report->metrics);
}

int run_report(const struct options *options, unsigned wants,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct metrics *metrics))
{
    struct error err = {0};
    struct engine_result *run = ask(options, wants, &err);
    if (!run || (check && check(options, run->metrics, &err) != STATUS_OK)) {
        engine_free(run);
        return command_fault(&err);
    }
    struct report report = {.options = options, .metrics = run->metrics, .write = write};
    int64_t duration_ns = time_since(run->metrics->begin_ns, run->metrics->end_ns);
    int code = run_output(options, write_report, &report, run_report_damage(&run->metrics->end, duration_ns));
    engine_free(run);
    return code;
}

struct judged_report {
    const struct options *options;
    const struct engine_result *run;
    void (*write)(struct output *output, const struct options *options, const struct engine_result *run);
};

static void write_judged(struct output *output, const void *context)
{
    const struct judged_report *report = context;
    report->write(output, report->options, report->run);
}

/* 1 where a condition of --fail-on holds; damage wins. */
static int judged_code(const struct options *options, const struct engine_result *run, int code)
{
    char text[CONDITION_TEXT_SIZE];
    if (!options->fail_on || !conditions_hold(options->fail_on, run->metrics, run->findings, text))
        return code;
    fprintf(stderr, "sight: %s\n", text);
    return code == EXIT_DONE ? EXIT_CONDITION : code;
}

int run_judged(const struct options *options, unsigned wants,
               enum status (*check)(const struct options *options, const struct metrics *metrics, struct error *err),
               void (*write)(struct output *output, const struct options *options, const struct engine_result *run))
{
    struct error err = {0};
    if (options->fail_on && conditions_check(options->fail_on, &err) != STATUS_OK)
        return command_fault(&err);
    struct engine_result *run = ask(options, wants | ENGINE_FINDINGS, &err);
    if (!run || (check && check(options, run->metrics, &err) != STATUS_OK) ||
        (options->fail_on && conditions_known(options->fail_on, run->metrics, &err) != STATUS_OK)) {
        engine_free(run);
        return command_fault(&err);
    }
    struct judged_report report = {options, run, write};
    int64_t duration_ns = time_since(run->metrics->begin_ns, run->metrics->end_ns);
    int code = run_report_damage(&run->metrics->end, duration_ns);
    code = run_output(options, write_judged, &report, judged_code(options, run, code));
    engine_free(run);
    return code;
}

bool run_wants_colour(const struct options *options)
{
    if (options->color && strcmp(options->color, "auto") != 0)
        return strcmp(options->color, "always") == 0;
    const char *none = getenv("NO_COLOR");
    /* Open MPI gives process 0 a terminal of its own, whatever its launcher writes to. */
    if (team_size(options->team) > 1)
        return false;
    return !options->output && isatty(STDOUT_FILENO) && !(none && *none);
}

void run_title(char *buffer, size_t size, const struct options *options)
{
    const char *first = options->input_count ? options->inputs[0] : "";
    char shown[VALUE_TEXT_SIZE];
    text_for_terminal(shown, sizeof shown, strcmp(first, "-") == 0 ? "standard input" : first, 100);
    if (options->input_count > 1)
        snprintf(buffer, size, "%s and %zu more", shown, options->input_count - 1);
    else
        snprintf(buffer, size, "%s", shown);
}
