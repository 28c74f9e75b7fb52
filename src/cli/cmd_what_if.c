/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight what-if TRACE`: replays with something different. Without options the standard scenarios, by what they save.
 */
#include "cli/commands.h"

#include "cli/run.h"
#include "cli/selection.h"
#include "core/memory.h"
#include "core/text.h"
#include "engine/what_if.h"
#include "render/reports/causal_report.h"
#include "render/reports/what_if_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 128, LIST_SIZE = 256 };

/* The options as a change of the run, with what the change points to. */
struct question {
    struct what_if_change change;
    struct network network;
    struct what_if_free *free;
    char (*names)[NAME_SIZE]; /* of the free things, as they were given */
    size_t free_count, free_capacity, name_capacity;
    char list[LIST_SIZE]; /* of the faster processes */
    uint32_t *faster;
    char *function;           /* the faster one; owned */
    struct scenario scenario; /* its words */
};

/* One of them is enough for a different network: what the others would say then has no limit or costs nothing. */
static bool wants_network(const struct what_if_options *options)
{
    return options->latency.text || options->bandwidth.text || options->buses.text || options->eager.text;
}

/* "sort=25%": a function, not processes. */
static bool speeds_function(const struct what_if_options *options)
{
    return options->speed_up && *options->speed_up && options->speed_up[strlen(options->speed_up) - 1] == '%';
}

static bool wants_replay(const struct what_if_options *options)
{
    return options->ideal || options->free || speeds_function(options);
}

/* Without a question the standard scenarios answer the usual ones. */
static bool asks_anything(const struct what_if_options *options)
{
    return wants_network(options) || wants_replay(options) || options->balance || options->speed_up;
}

/* What is asked. */

static enum status ask_network(struct question *question, const struct what_if_options *options, struct error *err)
{
    /* What is not given costs nothing: no latency, links and buses without limit, sends that never wait. */
    question->network = (struct network){.latency_ns = options->latency.ns,
                                         .bytes_per_s = options->bandwidth.value,
                                         .buses = (uint32_t)options->buses.value,
                                         .eager_limit = NETWORK_EAGER,
                                         .sender_stays = true};
    if (options->eager.text)
        question->network.eager_limit = (int64_t)options->eager.value;
    if (wants_network(options))
        question->change.network = &question->network;
    /* Times are added up in 64 bits: a latency of days would overflow in long runs. */
    if (options->latency.ns > NETWORK_LATENCY_MAX)
        return error_set(err, ERROR_USAGE, "--latency: '%s' is too long (at most 10 s)", options->latency.text);
    if (options->bandwidth.text && options->bandwidth.value <= 0)
        return error_set(err, ERROR_USAGE, "--bandwidth: %s bytes per second is too slow", options->bandwidth.text);
    /* The replay as recorded has the network's costs in its times; a model network has costs of its own. */
    if (wants_network(options) && wants_replay(options))
        return error_set(err, ERROR_USAGE,
                         "--ideal, --free and --speed-up of a function apply to the recorded network: they cannot be "
                         "combined with --latency, --bandwidth, --buses or --eager");
    return STATUS_OK;
}

/* A factor or "mean", which is 0. False: neither. */
static bool parse_speed(const char *text, double *speed)
{
    char *end;
    *speed = 0;
    if (strcmp(text, "mean") == 0)
        return true;
    *speed = strtod(text, &end);
    /* Also no NaN: any comparison with it is false. */
    return end != text && *end == '\0' && *speed > 0 && *speed <= 1e9;
}

/* "0-3=2": these compute twice as fast; "3=mean": as long as the mean of all. */
static enum status ask_speed_up(struct question *question, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= LIST_SIZE || !parse_speed(equals + 1, &question->change.speed))
        return error_set(err, ERROR_USAGE, "--speed-up: '%s' is not a list of processes with a factor (0-3=2, 5=mean)",
                         text);
    /* The list without its factor, as selections are parsed elsewhere. */
    memcpy(question->list, text, length); /* the rest is zero: it ends there */
    if (selection_ranks(question->list, &question->faster, &question->change.faster_count, err) != STATUS_OK)
        return STATUS_FAILED;
    question->change.faster = question->faster;
    return STATUS_OK;
}

/* "sort=25%": the function's own code takes 25 % less time. Names may contain "=", as operators of C++ do. */
static enum status ask_function(struct question *question, const char *text, struct error *err)
{
    /* The last "=": those before it belong to the function's name. */
    const char *equals = strrchr(text, '=');
    char *end;
    double percent = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || equals == text || end == equals + 1 || strcmp(end, "%") != 0 || !(percent > 0 && percent <= 100))
        return error_set(err, ERROR_USAGE, "--speed-up: '%s' is not a function with a part of its time (sort=25%%)",
                         text);
    question->function = memory_copy_string(text);
    question->function[equals - text] = '\0';
    question->change.function = question->function;
    question->change.part = percent / 100;
    return STATUS_OK;
}

/* A wait state goes before a function of its name, and what is neither is a function: whether the trace has it is seen
   when it is read. */
static struct what_if_free free_of(const char *name)
{
    enum wait_kind wait = wait_kind_find(name);
    int64_t number;
    bool by_tag = strncmp(name, "tag=", 4) == 0;
    /* Names are tried in the order of how particular they are. */
    if (wait != WAIT_NONE)
        return (struct what_if_free){.what = WHAT_IF_FREE_WAIT, .wait = wait};
    if ((by_tag || strncmp(name, "comm=", 5) == 0) &&
        text_parse_i64(strchr(name, '=') + 1, INT32_MIN + 1, INT32_MAX, &number))
        return (struct what_if_free){.what = by_tag ? WHAT_IF_FREE_TAG : WHAT_IF_FREE_COMM, .number = number};
    return (struct what_if_free){.what = WHAT_IF_FREE_FUNCTION, .function = name};
}

static enum status fault_free(const char *name, int length, struct error *err)
{
    return error_set(err, ERROR_USAGE,
                     "--free: '%.*s' is not an MPI function of this trace, a wait state, or a tag=N or comm=N with "
                     "messages",
                     length, name);
}

static enum status ask_free(struct question *question, const char *list, struct error *err)
{
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (length >= NAME_SIZE)
            return fault_free(at, (int)length, err);
        /* The names are kept as they were given, for the words of the answer. */
        ARRAY_RESERVE(question->names, question->name_capacity, question->free_count + 1);
        snprintf(question->names[question->free_count], NAME_SIZE, "%.*s", (int)length, at);
        ARRAY_PUSH(question->free, question->free_count, question->free_capacity, (struct what_if_free){0});
        at += length;
        if (!*at)
            break;
    }
    /* Only now: the names moved while the array grew. */
    for (size_t i = 0; i < question->free_count; i++)
        question->free[i] = free_of(question->names[i]);
    question->change.free = question->free;
    question->change.free_count = question->free_count;
    return STATUS_OK;
}

static enum status ask_change(struct question *question, const struct what_if_options *options, struct error *err)
{
    question->change.ideal = options->ideal;
    question->change.balance = options->balance;
    if (ask_network(question, options, err) != STATUS_OK)
        return STATUS_FAILED;
    if (speeds_function(options) && ask_function(question, options->speed_up, err) != STATUS_OK)
        return STATUS_FAILED;
    if (options->speed_up && !speeds_function(options) && ask_speed_up(question, options->speed_up, err) != STATUS_OK)
        return STATUS_FAILED;
    return options->free ? ask_free(question, options->free, err) : STATUS_OK;
}

static void question_clear(struct question *question)
{
    free(question->free);
    free(question->names);
    free(question->faster);
    free(question->function);
}

/* Its words. */

/* Adds an option's words to those of the scenario. */
static void say(struct question *question, const char *option, const char *value, const char *title)
{
    struct scenario *words = &question->scenario;
    size_t options = strlen(words->options), titles = strlen(words->title);
    const char *between = options ? " " : "";
    if (value)
        snprintf(words->options + options, sizeof words->options - options, "%s--%s %s", between, option, value);
    else
        snprintf(words->options + options, sizeof words->options - options, "%s--%s", between, option);
    snprintf(words->title + titles, sizeof words->title - titles, "%s%s", titles ? " and " : "", title);
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

static void say_speed_up(struct question *question, const char *text)
{
    char title[SCENARIO_TEXT];
    const char *list = question->list;
    int used;
    if (strpbrk(list, ",-"))
        used = snprintf(title, sizeof title, "processes %.60s compute ", list);
    else
        used = snprintf(title, sizeof title, "process %.60s computes ", list);
    if (question->change.speed > 0)
        snprintf(title + used, sizeof title - (size_t)used, "%.20s times as fast", strchr(text, '=') + 1);
    else
        snprintf(title + used, sizeof title - (size_t)used, "for the mean time");
    say(question, "speed-up", text, title);
}

static void say_function(struct question *question, const char *text)
{
    char title[SCENARIO_TEXT];
    const char *name = question->function;
    snprintf(title, sizeof title, "the code of %.*s takes %g %% less time", text_beginning(name, 80), name,
             100 * question->change.part);
    say(question, "speed-up", text, title);
}

/* Cut where a name is long: a title has a place for all changes together. */
static void say_free(struct question *question, size_t index)
{
    char title[SCENARIO_TEXT];
    const char *name = question->names[index];
    switch (question->free[index].what) {
    case WHAT_IF_FREE_WAIT:
        snprintf(title, sizeof title, "there is no %s%s", name, strstr(name, "wait") ? "" : " wait");
        break;
    case WHAT_IF_FREE_FUNCTION:
        snprintf(title, sizeof title, "%.60s takes no time and never waits", name);
        break;
    case WHAT_IF_FREE_TAG:
    case WHAT_IF_FREE_COMM:
        snprintf(title, sizeof title, "messages with %.40s always arrive in time", name);
        break;
    }
    say(question, "free", name, title);
}

static void say_change(struct question *question, const struct what_if_options *options)
{
    if (options->ideal)
        say(question, "ideal", NULL, "the network and MPI take no time");
    if (question->change.network)
        say_network(question, options);
    if (options->balance)
        say(question, "balance", NULL, WHAT_IF_EVEN);
    if (question->function)
        say_function(question, options->speed_up);
    else if (options->speed_up)
        say_speed_up(question, options->speed_up);
    for (size_t i = 0; i < question->free_count; i++)
        say_free(question, i);
}

/* What is answered. */

/* A metrics file only has the standard scenarios of its analysis. */
static enum status check(const struct what_if_options *options, const struct engine_result *run, struct error *err)
{
    const struct metrics *metrics = run->metrics;
    /* What needs a replay needs the events. */
    if (metrics->own_defs && (options->causal || asks_anything(options) || !metrics->analysis))
        return error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: give the trace",
                         options->common.inputs[0]);
    if (!metrics->analysis)
        return error_set(err, ERROR_INPUT, "%s: more calls than a replay can hold", options->common.inputs[0]);
    return STATUS_OK;
}

struct functions_page {
    const struct what_if_options *options;
    struct causal_report report;
};

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

/* One answer is a list of one scenario: text and JSON have the same shape as the standard ones. */
static int write_answer(const struct what_if_options *options, const struct engine_result *run,
                        const struct scenarios *scenarios, bool standard)
{
    char title[300];
    const struct metrics *metrics = run->metrics;
    run_title(title, sizeof title, &options->common);
    struct page page = {options, {metrics, run->stuck, title, scenarios, standard}};
    int code = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    return run_output(&options->common, &options->target, write_page, &page, code);
}

static int answer_standard(const struct what_if_options *options, const struct engine_result *run)
{
    struct scenarios scenarios = engine_what_if_standard(run);
    int code = write_answer(options, run, &scenarios, true);
    scenarios_clear(&scenarios);
    return code;
}

static enum status fault_samples(const struct what_if_options *options, struct error *err)
{
    return error_set(err, ERROR_USAGE, "%s: has no samples of functions, which sight record takes by default",
                     options->common.inputs[0]);
}

static int answer(const struct what_if_options *options, struct question *question, const struct engine_result *run,
                  struct error *err)
{
    char nearest[GUESS_TEXT];
    struct scenario *scenario = &question->scenario;
    struct what_if_answer answer = engine_what_if(run, &question->change);
    /* Only the engine knows what the trace has: its answer says which of the words fits nothing. */
    if (answer.lack == WHAT_IF_LACKS_PROCESSES)
        (void)error_set(err, ERROR_USAGE, "--speed-up: there is no process %s in this trace", question->list);
    if (answer.lack == WHAT_IF_LACKS_FREE)
        (void)fault_free(question->names[answer.free_index], NAME_SIZE, err);
    if (answer.lack == WHAT_IF_LACKS_SAMPLES)
        (void)fault_samples(options, err);
    if (answer.lack == WHAT_IF_LACKS_FUNCTION)
        (void)error_set(err, ERROR_USAGE, "--speed-up: there are no samples in a function '%s'%s", question->function,
                        guess_text(nearest, &answer.meant, "", ""));
    if (answer.lack != WHAT_IF_LACKS_NOTHING)
        return command_fault(err);
    say_change(question, options);
    scenario->end_ns = answer.end_ns;
    scenario->saving_ns = answer.saving_ns;
    scenario->forced = answer.forced;
    scenario->deadlock = answer.deadlock;
    return write_answer(options, run, &(struct scenarios){scenario, 1, run->metrics->analysis->replay}, false);
}

static void write_functions(struct output *output, const void *context)
{
    const struct functions_page *page = context;
    if (choice_is(page->options->format, "json"))
        causal_write_json(output, &page->report);
    else
        causal_write_text(output, &page->report);
}

static int answer_functions(const struct what_if_options *options, const struct engine_result *run, struct error *err)
{
    char title[300];
    const struct metrics *metrics = run->metrics;
    /* Without samples nothing is known of what is computed between the calls. */
    if (!metrics->profile || metrics->profile->taken_count == 0) {
        (void)fault_samples(options, err);
        return command_fault(err);
    }
    run_title(title, sizeof title, &options->common);
    struct what_if_functions answer = engine_what_if_functions(run, 0);
    struct functions_page page = {options, {metrics, run->stuck, title, &answer.functions, answer.row, answer.count}};
    int code = run_report_damage(&metrics->end, time_since(metrics->begin_ns, metrics->end_ns));
    code = run_output(&options->common, &options->target, write_functions, &page, code);
    profile_rows_clear(&answer.functions);
    return code;
}

static int what_if(const struct what_if_options *options, struct question *question, struct error *err)
{
    int code;
    struct engine_result *run = ask(&options->common, &options->trace, WHAT_IF_WANTS, err);
    if (!run || check(options, run, err) != STATUS_OK)
        code = command_fault(err);
    else if (options->causal)
        code = answer_functions(options, run, err);
    else if (asks_anything(options))
        code = answer(options, question, run, err);
    else
        code = answer_standard(options, run);
    engine_free(run);
    return code;
}

int cmd_what_if(const struct command *command, const struct what_if_options *options)
{
    if (options->causal && asks_anything(options))
        return command_usage(command, "--causal tries changes of its own: it cannot be combined with others");
    struct error err = {0};
    struct question question = {0};
    int code =
        ask_change(&question, options, &err) == STATUS_OK ? what_if(options, &question, &err) : command_fault(&err);
    question_clear(&question);
    return code;
}
