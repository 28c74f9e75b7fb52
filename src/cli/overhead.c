/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/overhead.h"

#include "cli/launch.h"
#include "cli/recording.h"
#include "core/memory.h"
#include "core/text.h"
#include "render/reports/significance_report.h"
#include "render/terminal_text.h"
#include "runs/statistics.h"

#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own, whose environment may change. */
static _Noreturn void run_apart(const struct recording *recording, bool records, int answer)
{
    struct error err = {0};
    struct launch_result result = {0};
    fflush(stdout);
    bool ran = dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 && recording_try(recording, records, &result, &err) == STATUS_OK;
    bool answered = ran && write(answer, &result, sizeof result) == (ssize_t)sizeof result;
    _exit(ran && answered ? EXIT_DONE : command_fault(&err));
}

/* Runs the command once. Seconds, or the exit code of what went wrong. */
static int run_once(const struct recording *recording, bool records, double *seconds)
{
    struct launch_result result = {0};
    int ends[2], waited;
    if (pipe(ends) != 0)
        return EXIT_OUTPUT;
    pid_t child = fork();
    if (child == 0)
        run_apart(recording, records, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return EXIT_OUTPUT;
    }
    ssize_t size = read(ends[0], &result, sizeof result);
    close(ends[0]);
    if (waitpid(child, &waited, 0) != child)
        return EXIT_OUTPUT;
    /* no answer: the child has printed why, and its exit code is the one to end with */
    if (size != (ssize_t)sizeof result)
        return WIFEXITED(waited) ? WEXITSTATUS(waited) : EXIT_OUTPUT;
    *seconds = (double)result.ran_ns / 1e9;
    const char *how = records ? "with" : "without";
    if (result.signal != 0)
        fprintf(stderr, "sight: '%s' fails %s recording: signal %d\n", recording->words[0], how, result.signal);
    else if (result.code != 0)
        fprintf(stderr, "sight: '%s' fails %s recording: exit code %d\n", recording->words[0], how, result.code);
    return result.code; /* 128 + the signal, if there was one */
}

static void print_group(struct output *output, const char *name, const double *values, size_t count)
{
    struct anova_group group = anova_group_of(values, count);
    char mean[TEXT_NUMBER_SIZE], deviation[TEXT_NUMBER_SIZE];
    output_print(output, "  %-17s mean %s, deviation %s\n", name, text_duration(mean, llround(group.mean * 1e9)),
                 text_duration(deviation, llround(group.deviation * 1e9)));
}

/* What the runs show; those without recording come first. */
static void print_answer(struct output *output, double *values, size_t count)
{
    struct anova_group groups[2] = {anova_group_of(values, count), anova_group_of(values + count, count)};
    struct anova anova = anova_of(groups, 2);
    struct tested tested = {.kind = TESTED_CELL, .name = "recording", .values = values};
    char change[SIGNIFICANCE_CELL_SIZE], interval[SIGNIFICANCE_INTERVAL_SIZE], p[SIGNIFICANCE_CELL_SIZE], text[400];
    tested_measure(&tested, count, count);
    significance_change(&tested, tested.change, change);
    significance_interval(&tested, interval);
    significance_p(anova.p, p);
    output_print(output, "Recording: %zu runs without and %zu with it, in turn\n", count, count);
    print_group(output, "without recording", values, count);
    print_group(output, "with recording", values + count, count);
    snprintf(text, sizeof text, "Recording changes the run's time by %s (95 %% interval %s).", change, interval);
    paragraph_write(output, "  ", "  ", text);
    const char *shown = "no difference is shown";
    if (anova.p <= SIGNIFICANCE_LEVEL)
        shown = "the difference is significant";
    snprintf(text, sizeof text, "One-way analysis of variance: F(1, %.0f) = %.3f, p %s%s: %s.", anova.within, anova.f,
             *p == '<' ? "" : "= ", p, shown); /* "p < 0.001" or "p = 0.04" */
    if (anova.p > SIGNIFICANCE_LEVEL && tested.runs_needed > count)
        text_append(text, sizeof text, " To show one as large as the %s seen takes about %s runs of each.", change,
                    text_number(tested.runs_needed).text);
    paragraph_write(output, "  ", "  ", text);
}

/* Runs all, in turn: with, without, without, with, so that a drift of the machine meets both alike. */
static int run_all(const struct recording *recording, double *values, size_t count)
{
    double ignored;
    int code = EXIT_DONE;
    /* to warm up: the first run reads files that later ones find in memory */
    for (int records = 0; records < 2 && code == EXIT_DONE; records++)
        code = run_once(recording, records, &ignored);
    for (size_t i = 0; i < 2 * count && code == EXIT_DONE; i++) {
        bool records = (i % 4 == 0) || (i % 4 == 3);
        command_note(recording->common, "run %zu of %zu, %s recording", i + 1, 2 * count, records ? "with" : "without");
        double *those = records ? values + count : values;
        code = run_once(recording, records, &those[i / 2]);
    }
    return code;
}

int overhead_measure(const struct recording *recording, size_t count)
{
    struct error err = {0};
    double *values = memory_new(2 * count * sizeof *values);
    int code = run_all(recording, values, count);
    if (code == EXIT_DONE) {
        struct output *output = output_open("-", (struct output_options){0}, &err);
        if (output)
            print_answer(output, values, count);
        if (!output || output_close(output, true, &err) != STATUS_OK)
            code = command_fault(&err);
    }
    free(values);
    return code;
}
