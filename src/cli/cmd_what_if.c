/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight what-if TRACE`: replays with something different. Without options the standard scenarios, by what they save.
 */
#include "cli/commands.h"

#include "cli/run.h"
#include "cli/selection.h"
#include "core/memory.h"
#include "core/text.h"
#include "heuristics/even_work.h"
#include "render/reports/what_if_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The request, in the form that the replays need. */
struct question {
    const struct graph *graph;
    struct network network;
    bool on_network;
    unsigned free_waits;
    bool *free_states, *free_channels; /* owned */
    double *compute;                   /* by location, owned */
    struct scenario scenario;          /* its words */
};

static bool wants_network(const struct what_if_options *options)
{
    return options->latency.text || options->bandwidth.text || options->buses.text || options->eager.text;
}

static bool wants_replay(const struct what_if_options *options)
{
    return options->ideal || options->free;
}

static bool asks_anything(const struct what_if_options *options)
{
    return wants_network(options) || wants_replay(options) || options->balance || options->speed_up;
}

/* Adds an option's words to those of the scenario. */
static void say(struct question *question, const char *option, const char *value, const char *title)
{
    struct scenario *words = &question->scenario;
    size_t options = strlen(words->options), titles = strlen(words->title);
    snprintf(words->options + options, sizeof words->options - options, "%s--%s%s%s", options ? " " : "", option,
             value ? " " : "", value ? value : "");
    snprintf(words->title + titles, sizeof words->title - titles, "%s%s", titles ? " and " : "", title);
}

static enum status ask_network(struct question *question, const struct what_if_options *options, struct error *err)
{
    question->on_network = wants_network(options);
    question->network.eager_limit = options->eager.text ? (int64_t)options->eager.value : NETWORK_EAGER;
    question->network.sender_stays = true;
    question->network.latency_ns = options->latency.ns;
    question->network.bytes_per_s = options->bandwidth.value;
    question->network.buses = (uint32_t)options->buses.value;
    if (options->latency.ns > NETWORK_LATENCY_MAX)
        return error_set(err, ERROR_USAGE, "--latency: '%s' is too long (at most 10 s)", options->latency.text);
    if (options->bandwidth.text && options->bandwidth.value <= 0)
        return error_set(err, ERROR_USAGE, "--bandwidth: %s bytes per second is too slow", options->bandwidth.text);
    return STATUS_OK;
}

static void say_network(struct question *question, const struct what_if_options *options)
{
    const struct network *network = &question->network;
    char number[TEXT_NUMBER_SIZE], title[120];
    snprintf(title, sizeof title, "messages cost %s",
             network->latency_ns > 0 ? text_duration(number, network->latency_ns) : "nothing");
    say(question, "latency", options->latency.text ? options->latency.text : "0", title);
    if (options->bandwidth.text) {
        snprintf(title, sizeof title, "links carry %s/s", text_bytes(number, (uint64_t)network->bytes_per_s));
        say(question, "bandwidth", options->bandwidth.text, title);
    }
    if (options->buses.text) {
        snprintf(title, sizeof title, "at most %s messages are in transit at once",
                 text_thousands(number, network->buses));
        say(question, "buses", options->buses.text, title);
    }
    if (options->eager.text) {
        snprintf(title, sizeof title, "sends of %s or more wait for their receive",
                 text_bytes(number, (uint64_t)network->eager_limit));
        say(question, "eager", options->eager.text, title);
    }
}

static double *all_as_recorded(const struct graph *graph)
{
    double *factors = memory_new(graph->location_count * sizeof *factors);
    for (size_t i = 0; i < graph->location_count; i++)
        factors[i] = 1;
    return factors;
}

static bool has_rank(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank)
            return true;
    return false;
}

/* "0-3=2": these compute twice as fast; "3=mean": as long as the mean of all. */
static enum status ask_speed_up(struct question *question, const struct what_if_options *options, struct error *err)
{
    char list[256];
    const char *equals = strchr(options->speed_up, '='), *value = equals ? equals + 1 : "";
    char *end;
    double factor = strtod(value, &end);
    bool mean = strcmp(value, "mean") == 0, number = end != value && *end == '\0' && factor > 0 && factor <= 1e9;
    if (!equals || equals == options->speed_up || (size_t)(equals - options->speed_up) >= sizeof list ||
        (!mean && !number))
        return error_set(err, ERROR_USAGE, "--speed-up: '%s' is not a list of processes with a factor (0-3=2, 5=mean)",
                         options->speed_up);
    snprintf(list, sizeof list, "%.*s", (int)(equals - options->speed_up), options->speed_up);
    uint32_t *ranks = NULL;
    size_t count = 0, found = 0;
    if (selection_ranks(list, &ranks, &count, err) != STATUS_OK) {
        free(ranks);
        return STATUS_FAILED;
    }
    double *balanced = what_if_balanced(question->graph);
    for (size_t i = 0; i < question->graph->location_count; i++)
        if (has_rank(ranks, count, question->graph->locations[i].process)) {
            question->compute[i] *= mean ? balanced[i] : 1 / factor;
            found++;
        }
    free(balanced);
    free(ranks);
    if (found == 0)
        return error_set(err, ERROR_USAGE, "--speed-up: there is no process %s in this trace", list);
    char title[SCENARIO_TEXT];
    snprintf(title, sizeof title,
             mean ? "%s %.60s compute%s for the mean time%.0s" : "%s %.60s compute%s %.20s times as fast",
             strpbrk(list, ",-") ? "processes" : "process", list, strpbrk(list, ",-") ? "" : "s", value);
    say(question, "speed-up", options->speed_up, title);
    return STATUS_OK;
}

/* Messages of a tag or communicator. Returns how many channels these are. */
static size_t free_messages(struct question *question, bool by_tag, int64_t number)
{
    const struct graph *graph = question->graph;
    size_t found = 0;
    for (size_t i = 0; i < graph->channel_count; i++) {
        const struct channel *channel = &graph->channels[i];
        int32_t comm = channel->comm >= 0 ? graph->defs->comms[channel->comm].id : EVENT_UNKNOWN;
        if ((by_tag ? channel->tag : comm) != number)
            continue;
        question->free_channels[i] = true;
        found++;
    }
    return found;
}

static bool free_one(struct question *question, const char *name, char title[SCENARIO_TEXT])
{
    const struct defs *defs = question->graph->defs;
    enum wait_kind kind = wait_kind_find(name);
    int32_t state = defs_find_state(defs, name);
    bool by_tag = strncmp(name, "tag=", 4) == 0;
    int64_t number;
    if (kind != WAIT_NONE) {
        question->free_waits |= 1u << kind;
        snprintf(title, SCENARIO_TEXT, "there is no %s%s", name, strstr(name, "wait") ? "" : " wait");
        return true;
    }
    if (state != EVENT_UNKNOWN && defs->states[state].is_mpi) {
        question->free_states[state] = true;
        snprintf(title, SCENARIO_TEXT, "%.60s takes no time and never waits", name);
        return true;
    }
    snprintf(title, SCENARIO_TEXT, "messages with %.40s always arrive in time", name);
    return (by_tag || strncmp(name, "comm=", 5) == 0) &&
           text_parse_i64(strchr(name, '=') + 1, INT32_MIN + 1, INT32_MAX, &number) &&
           free_messages(question, by_tag, number) > 0;
}

static enum status ask_free(struct question *question, const struct what_if_options *options, struct error *err)
{
    question->free_states = memory_new(question->graph->defs->state_count);
    question->free_channels = memory_new(question->graph->channel_count);
    for (const char *at = options->free;; at++) {
        char name[128], title[SCENARIO_TEXT];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (length >= sizeof name || !free_one(question, name, title))
            return error_set(
                err, ERROR_USAGE,
                "--free: '%.*s' is not an MPI function of this trace, a wait state, or a tag=N or comm=N with messages",
                (int)length, at);
        say(question, "free", name, title);
        at += length;
        if (!*at)
            return STATUS_OK;
    }
}

static enum status ask_scenario(struct question *question, const struct what_if_options *options, struct error *err)
{
    if (options->ideal)
        say(question, "ideal", NULL, "the network and MPI take no time");
    if (question->on_network)
        say_network(question, options);
    question->compute = options->balance ? what_if_balanced(question->graph) : all_as_recorded(question->graph);
    if (options->balance)
        say(question, "balance", NULL, WHAT_IF_EVEN);
    if (options->speed_up && ask_speed_up(question, options, err) != STATUS_OK)
        return STATUS_FAILED;
    return options->free ? ask_free(question, options, err) : STATUS_OK;
}

static void answer(struct question *question, const struct what_if_options *options, int64_t replay_ns)
{
    struct scenario *scenario = &question->scenario;
    if (question->on_network) {
        question->network.compute = question->compute;
        struct network_run run = network_replay(question->graph, &question->network);
        scenario->end_ns = run.end_ns;
        scenario->forced = run.forced;
        scenario->deadlock = run.deadlock;
    } else {
        struct replay replay =
            replay_run(question->graph, (struct replay_options){.compute = question->compute,
                                                                .ideal = options->ideal,
                                                                .free_waits = question->free_waits,
                                                                .free_states = question->free_states,
                                                                .free_channels = question->free_channels});
        scenario->end_ns = replay.end_ns;
        scenario->forced = replay.forced;
    }
    scenario->saving_ns = replay_ns - scenario->end_ns;
}

static void question_clear(struct question *question)
{
    free(question->free_states);
    free(question->free_channels);
    free(question->compute);
}

/* A metrics file only has the standard scenarios of its analysis. */
static enum status check(const struct what_if_options *options, const struct engine_result *run, struct error *err)
{
    const struct metrics *metrics = run->metrics;
    if (metrics->own_defs && (asks_anything(options) || !metrics->analysis))
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace",
                         options->common.inputs[0]);
    if (!metrics->analysis)
        return error_set(err, ERROR_INPUT, "%s: more calls than a replay can hold", options->common.inputs[0]);
    return STATUS_OK;
}

static enum status check_options(const struct what_if_options *options, struct error *err)
{
    if (wants_network(options) && wants_replay(options))
        return error_set(err, ERROR_USAGE,
                         "--ideal and --free apply to the recorded network: they cannot be combined with --latency, "
                         "--bandwidth, --buses or --eager");
    return STATUS_OK;
}

struct page {
    const struct what_if_options *options;
    struct what_if_report report;
};

static void write_page(struct output *output, const void *context)
{
    const struct page *page = context;
    if (choice_is(page->options->format, "json"))
        what_if_write_json(output, &page->report);
    else
        what_if_write_text(output, &page->report, page->options->common.verbose);
}

static int write_answer(const struct what_if_options *options, const struct engine_result *run,
                        const struct scenarios *scenarios, bool standard)
{
    char title[300];
    const struct metrics *metrics = run->metrics;
    run_title(title, sizeof title, &options->common);
    struct page page = {options, {metrics, title, scenarios, standard}};
    int code = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    return run_output(&options->target, write_page, &page, code);
}

/* Even work is one fix, with one number (even_work.h); beside other changes it is that of the totals. */
static bool asks_for_balance_alone(const struct what_if_options *options)
{
    return options->balance && !options->speed_up && !wants_replay(options) && !wants_network(options);
}

static int run_what_if(const struct what_if_options *options, struct question *question,
                       const struct engine_result *run, struct error *err)
{
    const struct analysis *analysis = run->metrics->analysis;
    bool by_steps;
    question->graph = run->graph;
    if (!asks_anything(options)) {
        struct scenarios scenarios =
            what_if_standard(question->graph, analysis, even_work_saving_ns(run->metrics, &by_steps));
        int code = write_answer(options, run, &scenarios, true);
        scenarios_clear(&scenarios);
        return code;
    }
    if (ask_scenario(question, options, err) != STATUS_OK)
        return command_fault(err);
    answer(question, options, analysis->replay);
    if (asks_for_balance_alone(options)) {
        question->scenario.saving_ns = even_work_saving_ns(run->metrics, &by_steps);
        question->scenario.end_ns = analysis->replay - question->scenario.saving_ns;
    }
    struct scenarios one = {&question->scenario, 1, analysis->replay};
    return write_answer(options, run, &one, false);
}

int cmd_what_if(const struct command *command, const struct what_if_options *options)
{
    (void)command;
    struct error err = {0};
    struct question question = {0};
    if (check_options(options, &err) != STATUS_OK || ask_network(&question, options, &err) != STATUS_OK)
        return command_fault(&err);
    struct engine_result *run =
        ask(&options->common, &options->trace, ENGINE_ANALYSIS | ENGINE_PHASES | ENGINE_GRAPH, &err);
    int code;
    if (!run || check(options, run, &err) != STATUS_OK)
        code = command_fault(&err);
    else
        code = run_what_if(options, &question, run, &err);
    question_clear(&question);
    engine_free(run);
    return code;
}
