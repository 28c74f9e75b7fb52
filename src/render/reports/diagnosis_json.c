/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/diagnosis.h"

#include "heuristics/advice.h"
#include "heuristics/efficiency.h"
#include "heuristics/hot_code.h"
#include "heuristics/threads.h"
#include "metrics/process_resources.h"
#include "render/clock_sentence.h"
#include "render/facts.h"
#include "render/path_text.h"
#include "render/reports/findings_json.h"
#include "render/reports/metrics_report.h"
#include "render/reports/stuck_report.h"

static bool is_analysed(const struct metrics *metrics)
{
    return metrics->analysis && metrics->analysis->process_count == metrics->process_count;
}

static struct value ratio_or_null(bool known, double ratio)
{
    return value_if(known, value_ratio(ratio));
}

/* Only of runs with parallel regions. */
static void write_threads(struct json *json, const struct metrics *metrics)
{
    struct thread_efficiency cores = thread_efficiency_of(metrics);
    if (cores.threads == 0)
        return;
    json_value(json, "hybrid", value_ratio(cores.hybrid));
    json_value(json, "openmp", value_ratio(cores.openmp));
    json_value(json, "serial", value_ratio(cores.serial));
    json_value(json, "waiting", value_ratio(cores.waiting));
}

/* The same numbers as in the tree of the text; null where nothing was computed. */
static void write_efficiencies(struct json *json, const struct metrics *metrics)
{
    struct efficiency efficiency = efficiency_of(metrics);
    const struct analysis *analysis = NULL;
    if (is_analysed(metrics))
        analysis = metrics->analysis;
    bool known = efficiency.parallel > 0 && metrics_have_calls(metrics),
         replayed = known && analysis && analysis->serialisation > 0;
    json_open(json, "efficiencies", '{');
    json_value(json, "parallel", ratio_or_null(known, efficiency.parallel));
    double serialisation = 0, transfer = 0;
    if (replayed) {
        serialisation = analysis->serialisation;
        transfer = analysis->transfer;
    }
    json_value(json, "load_balance", ratio_or_null(known, efficiency.load_balance));
    json_value(json, "communication", ratio_or_null(known, efficiency.communication));
    json_value(json, "serialisation", ratio_or_null(replayed, serialisation));
    json_value(json, "transfer", ratio_or_null(replayed, transfer));
    write_threads(json, metrics);
    json_close(json, '}');
}

static void write_structure(struct json *json, const struct metrics *metrics)
{
    struct structure structure = structure_of_run(metrics);
    char text[STRUCTURE_TEXT_SIZE];
    json_open(json, "structure", '{');
    json_value(json, "kind", value_text(structure_name(structure.kind)));
    json_value(json, "text", value_text(structure_text(text, &structure)));
    /* The kinds that are found by exclusion have no score. */
    json_value(json, "score", ratio_or_null(structure.best.score > 0, structure.best.score));
    json_value(json, "ambiguous", value_bool(structure.ambiguous));
    json_close(json, '}');
}

static struct value known(int64_t value, bool is_time)
{
    if (value < 0)
        return value_null();
    if (is_time)
        return value_time(value);
    return value_count((uint64_t)value);
}

/* What each process got of the machine; null where that was not recorded. */
static void write_resources(struct json *json, const struct resources *resources)
{
    static const struct {
        const char *name;
        enum resource_counter counter;
        bool is_time;
    } fields[] = {{"cpu_s", RESOURCE_CPU, true},
                  {"core_wait_s", RESOURCE_DELAY, true},
                  {"voluntary_switches", RESOURCE_VOLUNTARY, false},
                  {"involuntary_switches", RESOURCE_INVOLUNTARY, false},
                  {"page_faults", RESOURCE_FAULTS, false},
                  {"disk_faults", RESOURCE_DISK_FAULTS, false},
                  {"peak_bytes", RESOURCE_PEAK, false},
                  {"cores", RESOURCE_CORES, false},
                  {"usable_cores", RESOURCE_USABLE, false}};
    if (!resources) {
        json_value(json, "resources", value_null());
        return;
    }
    json_open(json, "resources", '[');
    for (size_t i = 0; i < resources->count; i++) {
        const struct process_resources *process = &resources->process[i];
        json_open(json, NULL, '{');
        json_value(json, "rank", value_count(process->rank));
        json_value(json, "wall_s", value_time(process->wall_ns));
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
            json_value(json, fields[k].name, known(resources_used(process, fields[k].counter), fields[k].is_time));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_hot_place(struct json *json, const struct hot_place *place)
{
    json_value(json, "function", value_text(place->function));
    json_value(json, "file", value_if(*place->file, value_text(place->file)));
    json_value(json, "line", value_if(place->line > 0, value_integer(place->line)));
}

/* Where the run computes. */
static void write_hot_code(struct json *json, const struct metrics *metrics)
{
    struct hot_code hot = hot_code_of(metrics);
    if (!hot.known) {
        json_value(json, "hot_code", value_null());
        return;
    }
    json_open(json, "hot_code", '{');
    write_hot_place(json, &hot.place);
    json_value(json, "share", value_ratio(hot.share));
    json_value(json, "self_s", value_time(hot.self_ns));
    json_value(json, "called", value_text(hot.called));
    json_open(json, "callers", '[');
    for (size_t i = 0; i < hot.caller_count; i++) {
        json_open(json, NULL, '{');
        write_hot_place(json, &hot.caller[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* Why the numbers may be wrong: a sentence each. */
static void write_caveats(struct json *json, const struct diagnosis *diagnosis)
{
    char clocks[CLOCK_SENTENCE_SIZE], sample[SAMPLE_SENTENCE_SIZE];
    const char *damage = "";
    if (diagnosis->metrics->end.damage.count > 0)
        damage = diagnosis->metrics->end.damage.first;
    const char *caveats[] = {damage, clock_sentence(clocks, diagnosis->metrics, diagnosis->findings),
                             diagnosis->findings->caveat, sample_sentence(sample, diagnosis->metrics->defs)};
    json_open(json, "caveats", '[');
    for (size_t i = 0; i < sizeof caveats / sizeof *caveats; i++)
        if (*caveats[i])
            json_value(json, NULL, value_text(caveats[i]));
    json_close(json, ']');
}

static void write_waits(struct json *json, const struct metrics *metrics, const struct finding *finding)
{
    /* Some kinds of finding have no waits, but computing or resources as their evidence. */
    struct wait_sums *sums = finding_waits(finding->kind, metrics->analysis);
    json_open(json, "longest_waits", '[');
    for (size_t i = 0; sums && i < sums->longest_count; i++) {
        const struct wait_instance *wait = &sums->longest[i];
        json_open(json, NULL, '{');
        json_value(json, "waiting_s", value_time(wait->ns));
        json_value(json, "rank", value_count(metrics->process[wait->process].rank));
        json_value(json, "function", value_text(metrics->defs->states[wait->state].name));
        json_value(json, "enter_s", value_time(wait->enter_ns));
        json_value(json, "leave_s", value_time(wait->leave_ns));
        json_value(json, "cause_rank", value_count(metrics->process[wait->cause_process].rank));
        json_value(json, "cause_function", value_text(metrics->defs->states[wait->cause_state].name));
        json_value(json, "cause_enter_s", value_time(wait->cause_enter_ns));
        json_close(json, '}');
    }
    json_close(json, ']');
    wait_sums_free(sums);
}

static void write_findings(struct json *json, const struct diagnosis *diagnosis, bool explained)
{
    json_open(json, "findings", '[');
    for (size_t i = 0; i < diagnosis->findings->count; i++) {
        json_open(json, NULL, '{');
        finding_write_members(json, &diagnosis->findings->finding[i]);
        if (explained)
            write_waits(json, diagnosis->metrics, &diagnosis->findings->finding[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void diagnosis_write_json(struct output *output, const struct diagnosis *diagnosis, bool explained)
{
    const struct metrics *metrics = diagnosis->metrics;
    struct json json = {.output = output};
    char verdict[DIAGNOSIS_SENTENCE_SIZE];
    diagnosis_sentence(verdict, metrics, diagnosis->results);
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-diagnosis/1"));
    metrics_write_trace(&json, metrics);
    /* A program that hangs has no other problem worth a verdict. */
    const char *said = NULL;
    if (metrics->process_count > 0)
        said = verdict;
    if (stuck_is_reported(diagnosis->stuck))
        said = diagnosis->stuck->text;
    json_value(&json, "verdict", value_text(said));
    write_efficiencies(&json, metrics);
    write_findings(&json, diagnosis, explained);
    write_hot_code(&json, metrics);
    write_structure(&json, metrics);
    write_caveats(&json, diagnosis);
    if (is_analysed(metrics))
        clocks_write_json(&json, metrics->analysis);
    else
        json_value(&json, "clocks", value_null());
    /* The critical path is long; a reader of the verdict alone can skip it. */
    if (explained && is_analysed(metrics))
        path_write_json(&json, metrics);
    write_resources(&json, metrics->resources);
    stuck_write_json(&json, diagnosis->stuck, false);
    may_hang_write_json(&json, diagnosis->may_hang);
    left_over_write_json(&json, diagnosis->left_over);
    json_close(&json, '}');
}
