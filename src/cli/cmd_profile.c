/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight profile TRACE`: what is computed, by function, line and file, and as a tree of calls. */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/guess.h"
#include "core/text.h"
#include "profile/profile.h"
#include "render/reports/profile_report.h"

#include <string.h>

/* What is asked for. */
struct asked {
    const struct profile_options *options;
    struct profile_select select; /* processes of a phase, which is found in the whole run */
};

/* Names first: a program may name its phases by numbers. PROFILE_NO_PHASE: there is none called so. */
static uint32_t phase_of(const char *name, const struct phase_metrics *phases)
{
    int64_t number;
    for (uint32_t i = 0; i < phases->phase_count; i++)
        if (strcmp(phases->phases[i].name, name) == 0)
            return i;
    if (text_parse_i64(name, 0, (int64_t)phases->phase_count - 1, &number))
        return (uint32_t)number;
    return PROFILE_NO_PHASE;
}

static enum status needs_phase(const struct profile_options *options, const struct phase_metrics *phases,
                               struct error *err)
{
    struct guess guess = guess_of(options->phase, strlen(options->phase));
    char nearest[GUESS_TEXT];
    if (!phases)
        return error_set(err, ERROR_INPUT, "%s: more calls than can be divided into phases", options->common.inputs[0]);
    if (phase_of(options->phase, phases) != PROFILE_NO_PHASE)
        return STATUS_OK;
    for (size_t i = 0; i < phases->phase_count; i++)
        guess_try(&guess, phases->phases[i].name);
    return error_set(err, ERROR_USAGE, "--phase: there is no phase '%s'%s", options->phase,
                     guess_text(nearest, &guess, "", "; sight phases lists them"));
}

static enum status needs_iterations(const struct profile_options *options, const struct phase_metrics *phases,
                                    struct error *err)
{
    if (!phases || phases->iterations.loop == PHASE_NONE)
        return error_set(err, ERROR_USAGE, "%s: the processes have no iterations in common", options->common.inputs[0]);
    /* They ascend. */
    uint32_t last = options->iteration.numbers[options->iteration.count - 1];
    if (last >= phases->iterations.count)
        return error_set(err, ERROR_USAGE, "--iteration: there is no iteration %u: they are 0 to %u", last,
                         phases->iterations.count - 1);
    return STATUS_OK;
}

/* A profile without rows would look as if nothing had been computed. */
static enum status needs_samples(const void *context, const struct engine_result *run, struct error *err)
{
    const struct asked *asked = context;
    const struct profile_options *options = asked->options;
    const struct profile *profile = run->metrics->profile;
    if (!profile)
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no samples: give the trace",
                         options->common.inputs[0]);
    if (!profile->defs || profile->defs->path_count == 0)
        return error_set(err, ERROR_USAGE, "%s: has no samples, which sight record takes by default",
                         options->common.inputs[0]);
    bool iterations = options->iteration.count > 0;
    if (!options->phase && !iterations)
        return STATUS_OK;
    const struct engine_request of_phase = {.inputs = options->common.inputs,
                                            .input_count = options->common.input_count,
                                            .ranks = asked->select.ranks,
                                            .rank_count = asked->select.rank_count};
    if (engine_check_ranks(&of_phase, run->metrics->processes, err) != STATUS_OK)
        return STATUS_FAILED;
    return iterations ? needs_iterations(options, run->metrics->phases, err)
                      : needs_phase(options, run->metrics->phases, err);
}

static void write_profile(struct output *output, const void *context, const struct engine_result *run)
{
    const struct asked *asked = context;
    const struct profile_options *options = asked->options;
    const struct phase_metrics *phases = run->metrics->phases;
    struct profile *part = NULL;
    char title[400];
    run_title(title, sizeof title, &options->common);
    if (options->phase) {
        uint32_t phase = phase_of(options->phase, phases);
        part = profile_of_phase(run->metrics->profile, phase, &asked->select);
        const char *name = phases->phases[phase].name;
        text_append(title, sizeof title, ", %.*s", text_beginning(name, 60), name);
    }
    if (options->iteration.count > 0) {
        part = profile_of_iterations(run->metrics->profile, options->iteration.numbers, options->iteration.count,
                                     &asked->select);
        text_append(title, sizeof title, ", %s %.60s", text_plural(options->iteration.count, "iteration", "iterations"),
                    options->iteration.text);
    }
    struct profile_report report = {
        .profile = part ? part : run->metrics->profile, .title = title, .all = options->all};
    if (choice_is(options->format, "json"))
        profile_write_json(output, &report);
    else if (choice_is(options->format, "csv"))
        profile_write_csv(output, &report, options->table.word);
    else if (choice_is(options->format, "folded"))
        profile_write_folded(output, &report);
    else if (choice_is(options->format, "speedscope"))
        profile_write_speedscope(output, &report);
    else
        profile_write_text(output, &report, options->table.word);
    profile_free(part);
}

int cmd_profile(const struct command *command, const struct profile_options *options)
{
    struct asked asked = {.options = options};
    struct trace_options trace = options->trace;
    unsigned wants = ENGINE_PROFILE;
    bool iterations = options->iteration.count > 0;
    if ((options->phase || iterations) && (trace.from.text || trace.to.text))
        return command_usage(command, "--%s is a part of the whole run: it cannot be combined with --from and --to",
                             iterations ? "iteration" : "phase");
    if (options->phase && iterations)
        return command_usage(command, "--phase and --iteration cannot be combined");
    /* Phases are those of the whole run: it is read as a whole, and the processes are selected afterwards. */
    if (options->phase || iterations) {
        asked.select = (struct profile_select){.ranks = trace.processes.numbers, .rank_count = trace.processes.count};
        trace.processes = (struct list_option){0};
        wants |= ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_SAMPLES;
    }
    return run_report(&(struct run_report){.common = &options->common,
                                           .target = &options->target,
                                           .trace = &trace,
                                           .wants = wants,
                                           .context = &asked,
                                           .check = needs_samples,
                                           .write = write_profile});
}
