/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run.h"

#include "core/text.h"
#include "core/unfinished.h"
#include "heuristics/condition.h"
#include "render/field.h"
#include "render/terminal_text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Nothing needs an orderly end but the temporary names of outputs. */
static const char *last_words; /* only what a handler may read: a pointer that is set as a whole */

static void on_signal(int signal_number)
{
    int code = EXIT_SIGNAL + signal_number;
    unfinished_remove();
    /* Nothing can be done if the words cannot be written: the process ends all the same. */
    if (last_words && write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
        _exit(code);
    _exit(code);
}

void run_set_last_words(const char *words)
{
    last_words = words;
}

void run_ignore_signals(void)
{
    /* A closed pipe shows in write's result: temporary files are removed, and the work ends silently. So is a file
       that becomes larger than ulimit -f allows. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void run_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        /* Signals that were ignored when sight began stay ignored. */
        if (before.sa_handler != SIG_IGN) /* nohup */
            sigaction(numbers[i], &action, NULL);
    }
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
        /* The share says whether the rest is worth looking at. */
        fprintf(stderr, "; used %.1f %% of the size", 100.0 * (double)end->used / (double)end->total);
    if (last_ns >= 0)
        fprintf(stderr, ", up to %s", text_duration(duration, last_ns));
    fputc('\n', stderr);
    return EXIT_DAMAGED;
}

struct output *run_open(const struct target_options *target, struct error *err)
{
    struct output_options how = {0};
    const char *path = "-";
    if (target && target->path) {
        path = target->path;
        how.replace = target->force;
    }
    return output_open(path, how, err);
}

size_t run_rows(bool all, size_t usual)
{
    return all ? SIZE_MAX : usual;
}

int run_output(const struct common_options *common, const struct target_options *target,
               void (*write)(struct output *output, const void *context), const void *context, int code)
{
    struct error err = {0};
    struct output *output = run_open(target, &err);
    if (!output)
        return command_fault(&err);
    output->colour = common && run_wants_colour(common, target);
    write(output, context);
    /* Only now is the file renamed to its place: what failed leaves no file behind. */
    if (output_close(output, true, &err) != STATUS_OK)
        return command_fault(&err);
    return code;
}

uint32_t run_width(const struct number_option *width, const struct target_options *target, uint32_t least)
{
    enum { USUAL = 80, MOST = 1000 };
    struct winsize size;
    if (width->text)
        return (uint32_t)width->value;
    /* a file has the usual width, whatever terminal it was made from: it is read elsewhere */
    if (!target->path && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= least && size.ws_col <= MOST)
        return size.ws_col;
    return USUAL;
}

struct page {
    const struct run_report *report;
    const struct engine_result *run;
};

static void write_page(struct output *output, const void *context)
{
    const struct page *page = context;
    page->report->write(output, page->report->context, page->run);
}

/* 1 where a condition of --fail-on holds; damage wins. */
static int judged_code(const char *fail_on, const struct engine_result *run, int code)
{
    char text[CONDITION_TEXT_SIZE];
    if (!fail_on || !conditions_hold(fail_on, run->metrics, run->findings, text))
        return code;
    fprintf(stderr, "sight: %s\n", text);
    /* Damage is the more serious one: a condition on half a trace may hold by chance. */
    return code == EXIT_DONE ? EXIT_CONDITION : code;
}

static enum status check(const struct run_report *report, const struct engine_result *run, struct error *err)
{
    if (report->check && report->check(report->context, run, err) != STATUS_OK)
        return STATUS_FAILED;
    if (!report->fail_on)
        return STATUS_OK;
    /* a metrics file may lack the number that a condition is about */
    return conditions_known(report->fail_on, run->metrics, err);
}

struct early {
    const struct run_report *report;
    struct asking *asking;
};

static enum status write_early(void *context, const struct metrics *metrics, const struct stuck *stuck,
                               struct error *err)
{
    const struct early *early = context;
    const struct run_report *report = early->report;
    asking_end(early->asking); /* the line of progress: it makes room */
    struct output *output = run_open(NULL, err);
    if (!output)
        return STATUS_FAILED;
    output->colour = run_wants_colour(report->common, report->target);
    report->write_early(output, report->context, metrics, stuck);
    if (output_close(output, true, err) != STATUS_OK)
        return STATUS_FAILED;
    progress_begin(&early->asking->progress, report->common->progress, report->common->quiet);
    return STATUS_OK;
}

int run_report(const struct run_report *report)
{
    struct error err = {0};
    struct asking asking;
    /* before the trace is read: that may take minutes */
    if (report->fail_on && conditions_check(report->fail_on, &err) != STATUS_OK)
        return command_fault(&err);
    asking_begin(&asking, report->common, report->trace, report->wants);
    asking.request.totals = report->totals;
    asking.request.counters = report->counters;
    asking.request.counter_count = report->counter_count;
    if (report->search) {
        asking.request.hypotheses = report->search->hypotheses;
        asking.request.has_threshold = report->search->threshold.text != NULL;
        asking.request.threshold = report->search->threshold.value;
    }
    struct early early = {report, &asking};
    /* A file appears as a whole, and a condition is reported before everything. */
    if (report->write_early && !report->target->path && !report->fail_on) {
        asking.request.early = write_early;
        asking.request.early_context = &early;
    }
    struct engine_result *run = asking_run(&asking, report->common, &err);
    if (!run || check(report, run, &err) != STATUS_OK) {
        engine_free(run);
        return command_fault(&err);
    }
    int64_t duration_ns = time_since(run->metrics->begin_ns, run->metrics->end_ns);
    /* first: on a terminal it stands above what it is about, and the output may be long */
    int code = run_report_damage(&run->metrics->end, duration_ns);
    code = run_output(report->common, report->target, write_page, &(struct page){report, run},
                      judged_code(report->fail_on, run, code));
    engine_free(run);
    return code;
}

bool run_wants_colour(const struct common_options *common, const struct target_options *target)
{
    if (choice_is(common->color, "always") || choice_is(common->color, "never"))
        return choice_is(common->color, "always");
    const char *none = getenv("NO_COLOR");
    /* Open MPI gives process 0 a terminal of its own, whatever its launcher writes to. */
    if (team_size(common->team) > 1 || getenv("OMPI_COMM_WORLD_SIZE"))
        return false;
    return !(target && target->path) && isatty(STDOUT_FILENO) && !(none && *none);
}

void run_title(char *buffer, size_t size, const struct common_options *common)
{
    const char *first = "";
    char shown[VALUE_TEXT_SIZE];
    if (common->input_count > 0)
        first = strcmp(common->inputs[0], "-") == 0 ? "standard input" : common->inputs[0];
    /* a file's name may hold anything, also what a terminal would obey */
    text_for_terminal(shown, sizeof shown, first, 100);
    if (common->input_count > 1)
        snprintf(buffer, size, "%s and %zu more", shown, common->input_count - 1);
    else
        snprintf(buffer, size, "%s", shown);
}
