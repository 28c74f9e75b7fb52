/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine.h"

#include "core/map.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "engine/assisting.h"
#include "engine/early.h"
#include "engine/opening.h"
#include "engine/searching.h"
#include "engine/share_job.h"
#include "engine/sharing.h"
#include "engine/span.h"
#include "engine/stuck_pass.h"
#include "engine/whole.h"
#include "graph/wait_table.h"
#include "metrics/accumulator.h"
#include "metrics/metrics_file.h"
#include "metrics/totals.h"
#include "phases/phase_numbers.h"
#include "profile/counter_rows.h"
#include "profile/profile.h"
#include "profile/resources.h"
#include "replay/analyse.h"
#include "search/formulas.h"
#include "timeline/fix_clocks.h"
#include "timeline/slices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More threads would not be faster: this is the number of replays, which each need memory, and of slices that a disk
   can deliver. */
enum { THREADS_ANALYSING = 4, THREADS_READING = 16 };

/* Wants that need the graph of the whole run. */
enum { WANTS_GRAPH = ENGINE_ANALYSIS | ENGINE_FINDINGS | ENGINE_PHASES | ENGINE_SEARCH | ENGINE_GRAPH };

/* A request on its way to a result. */
struct run {
    struct engine_result result; /* the first member: what the caller gets */
    const struct engine_request *request;
    unsigned wants; /* with what that needs */
    uint32_t *ranks;
    struct reader *reader;
    struct reader *second; /* with the graph's definitions; NULL: they are those of the other */
    struct accumulator *accumulator;
    struct metrics *metrics;
    struct graph *graph;
    struct user_spans *spans;     /* what the program itself marks: phases may be made of it */
    struct phase_counter *phases; /* while phases are counted */
    struct phases *found;         /* by who needed them first; NULL: nobody yet */
    struct searching *searching;  /* NULL: no search is wanted */
    struct heuristic_result *judged;
    struct findings findings;
    struct stuck *stuck;
    struct may_hang *may_hang;
    struct left_over *left_over;
    struct assistance *assistance; /* NULL: this process does everything */
    struct profile *profile;
    struct resources *resources;
    struct counters *counters;
    bool sums;   /* of counters: nobody asks for more */
    bool totals; /* metrics are those of the whole run; the trace is a sample of it */
};

/* A part of the time: its waits may have their causes outside, and its calls no end. */
static bool has_window(const struct engine_request *request)
{
    return request->window.from.kind != ENGINE_TIME_OPEN || request->window.to.kind != ENGINE_TIME_OPEN;
}

/* Damage can put an event centuries away from the others: sums and replays would overflow ns. */
static enum status check_span(const struct run *run, const char *name, struct error *err)
{
    const struct metrics *metrics = run->metrics;
    if (metrics->process_count == 0 || time_span_fits(metrics->begin_ns, metrics->end_ns, metrics->process_count))
        return STATUS_OK;
    return error_set(
        err, ERROR_INPUT,
        "%s: times from %.0f s to %.0f s are impossible for a run of %zu processes (--from and --to select a part)",
        name, (double)metrics->begin_ns / 1e9, (double)metrics->end_ns / 1e9, metrics->process_count);
}

enum status engine_check_ranks(const struct engine_request *request, uint32_t processes, struct error *err)
{
    /* they ascend: the last is the largest */
    if (!request->ranks || request->rank_count == 0 || request->ranks[request->rank_count - 1] < processes)
        return STATUS_OK;
    size_t first = 0;
    while (request->ranks[first] < processes)
        first++;
    if (processes < 2)
        return error_set(err, ERROR_USAGE, "%s: the run has no process %" PRIu32 ", only process 0", request->inputs[0],
                         request->ranks[first]);
    return error_set(err, ERROR_USAGE, "%s: the run has no process %" PRIu32 ", only 0 to %" PRIu32, request->inputs[0],
                     request->ranks[first], processes - 1);
}

/* Of a damaged run it is not known which processes it had. There may be more of them than were declared. */
static enum status check_ranks(const struct run *run, struct error *err)
{
    const struct metrics *metrics = run->metrics;
    uint32_t processes = metrics->processes;
    if (metrics->process_count > 0)
        processes = larger(processes, metrics->process[metrics->process_count - 1].rank + 1);
    return metrics->end.complete ? engine_check_ranks(run->request, processes, err) : STATUS_OK;
}

static void note_beyond(struct stuck *stuck, const struct metrics *metrics)
{
    stuck->beyond = time_since(metrics->begin_ns, metrics->end_ns) > time_since(stuck->begin_ns, stuck->since_ns);
}

static enum status read_metrics_file(struct run *run, struct input *input, struct error *err)
{
    const struct engine_request *request = run->request;
    if (opening_reads_twice(request)) {
        (void)error_set(err, ERROR_USAGE, "%s: is a metrics file, which has no events: %s the trace", input->name,
                        request->fix_clocks ? "corrected clocks need" : "a window of time needs");
        input_close(input);
        return STATUS_FAILED;
    }
    run->metrics = metrics_file_read(input, err);
    if (run->metrics && check_span(run, input->name, err) != STATUS_OK) {
        metrics_free(run->metrics);
        run->metrics = NULL;
    }
    input_close(input);
    if (run->metrics && run->ranks)
        metrics_select(run->metrics, run->ranks, request->rank_count);
    if (!run->metrics || check_ranks(run, err) != STATUS_OK)
        return STATUS_FAILED;
    if (run->metrics->stuck)
        note_beyond(run->metrics->own_stuck, run->metrics);
    run->result.stuck = run->metrics->stuck;
    run->metrics->counters = run->counters = counters_of_rows(run->metrics);
    if (run->counters && (run->wants & ENGINE_HEURISTICS))
        formulas_rate(run->counters);
    /* metrics_select drops the analysis: its numbers are of all processes together */
    if (!run->metrics->analysis)
        run->result.lack = request->ranks ? ENGINE_LACKS_WHOLE : ENGINE_LACKS_EVENTS;
    return STATUS_OK;
}

/* As sharing_accumulate, by threads. */
static struct accumulator *read_in_threads(const struct run *run, struct accumulator_options what, unsigned *slices)
{
    const struct engine_request *request = run->request;
    unsigned threads = opening_threads(request, THREADS_READING);
    *slices = slices_worth(run->reader, request->inputs, request->input_count, threads);
    bool by_process = *slices < 2;
    if (by_process)
        *slices = slices_worth_by_process(run->reader, request->inputs, request->input_count, threads);
    if (*slices < 2)
        return NULL;
    struct watching watching = {.request = request, .step = ENGINE_STEP_EVENTS, .parts = by_process ? 1 : *slices};
    return slices_accumulate(run->reader, request->inputs[0], *slices, by_process, what, opening_watch, &watching);
}

/* Reads the trace into run->accumulator, if it can be read in slices; else it is still to be read. */
static enum status read_slices(struct run *run, struct accumulator_options what, struct error *err)
{
    const struct engine_request *request = run->request;
    unsigned slices;
    if (share_is_possible(request))
        run->accumulator = sharing_accumulate(request, run->reader, what, ENGINE_STEP_EVENTS, &slices);
    else
        run->accumulator = read_in_threads(run, what, &slices);
    if (run->accumulator)
        run->result.slices = slices;
    if (run->accumulator || slices < 2)
        return STATUS_OK;
    /* The slices might not add up to what one pass gives: it is begun again. */
    run->reader = reader_again(run->reader, request->inputs, request->input_count, err);
    return run->reader ? STATUS_OK : STATUS_FAILED;
}

/* Samples of the same part of the run as everything else. */
static struct profile_select samples_of(const struct run *run, const struct accumulator_options *what)
{
    return (struct profile_select){.have_from = what->have_from,
                                   .have_to = what->have_to,
                                   .from_ns = what->from_ns,
                                   .to_ns = what->to_ns,
                                   .ranks = what->ranks,
                                   .rank_count = what->rank_count,
                                   .each = (run->wants & ENGINE_SAMPLES) != 0};
}

/* Readings of counters, likewise. */
static struct counters_select counters_of(const struct run *run, const struct accumulator_options *what)
{
    const struct engine_request *request = run->request;
    return (struct counters_select){.choices = request->counters,
                                    .choice_count = request->counter_count,
                                    .have_from = what->have_from,
                                    .have_to = what->have_to,
                                    .from_ns = what->from_ns,
                                    .to_ns = what->to_ns,
                                    .ranks = what->ranks,
                                    .rank_count = what->rank_count,
                                    .sums = run->sums};
}

/* The same with samples and counters. */
static enum status read_samples(struct run *run, struct accumulator_options what, struct error *err)
{
    struct profile_select samples = samples_of(run, &what);
    struct counters_select readings = counters_of(run, &what);
    struct profile_builder *profile = profile_builder_new(&samples);
    struct counters_builder *counters = counters_builder_new(&readings);
    run->accumulator = accumulator_new(what);
    struct sink *sinks[3] = {accumulator_sink(run->accumulator)};
    size_t count = 1;
    if (run->wants & ENGINE_PROFILE)
        sinks[count++] = profile_builder_sink(profile);
    if (run->wants & ENGINE_COUNTERS)
        sinks[count++] = counters_builder_sink(counters);
    enum status status = engine_stream(run->request, run->reader, sinks, count, err);
    run->profile = profile_builder_end(profile);
    run->counters = counters_builder_end(counters);
    /* Nothing was put into it: it is not even known that there are no samples. */
    if (!(run->wants & ENGINE_PROFILE)) {
        profile_free(run->profile);
        run->profile = NULL;
    }
    return status;
}

/* Reads all events into the accumulator. */
static enum status read_events(struct run *run, struct accumulator_options what, struct error *err)
{
    if (run->wants & (ENGINE_PROFILE | ENGINE_COUNTERS))
        return read_samples(run, what, err);
    if (read_slices(run, what, err) != STATUS_OK)
        return STATUS_FAILED;
    if (run->accumulator)
        return STATUS_OK;
    run->accumulator = accumulator_new(what);
    struct sink *sinks[] = {accumulator_sink(run->accumulator)};
    return engine_stream(run->request, run->reader, sinks, 1, err);
}

/* Since when it hangs, where that is known before the rest is read. */
static int64_t until_ns(const struct run *run)
{
    return stuck_is_reported(run->stuck) ? run->stuck->since_ns : INT64_MAX;
}

/* The same, and what an analysis of the whole run is made of. */
static enum status read_whole(struct run *run, struct accumulator_options what, struct error *err)
{
    struct whole_plan plan = {.request = run->request,
                              .wants = run->wants,
                              .sums = what,
                              .samples = samples_of(run, &what),
                              .counters = counters_of(run, &what),
                              .searching = run->searching ? searching_sink(run->searching) : NULL,
                              .until_ns = until_ns(run),
                              .judged = run->stuck != NULL,
                              .twice = stuck_pass_can(run->request),
                              .threads = opening_threads(run->request, THREADS_ANALYSING)};
    struct whole whole = {0};
    enum status status = whole_read(&plan, &run->reader, &whole, err);
    run->accumulator = whole.accumulator;
    run->graph = whole.graph;
    run->spans = whole.spans;
    run->profile = whole.profile;
    run->resources = whole.resources;
    run->counters = whole.counters;
    run->second = whole.second;
    if (plan.judged)
        stuck_free(whole.stuck);
    else
        run->stuck = whole.stuck;
    if (status == STATUS_OK && whole.unfinished) {
        stuck_free(run->stuck);
        run->stuck = stuck_pass_read(run->request, run->reader->defs, err);
        status = run->stuck ? STATUS_OK : STATUS_FAILED;
    }
    run->result.stuck = run->stuck;
    return status;
}

/* Why it hangs, in a pass before that one. */
static enum status read_early(struct run *run, struct error *err)
{
    const struct engine_request *request = run->request;
    run->stuck = early_judge(request, run->reader, err);
    if (!run->stuck)
        return STATUS_FAILED;
    /* Formats that are read in two passes can be rewound, and what they have decompressed is kept. */
    if (run->reader->format->two_passes) {
        run->reader = reader_again(run->reader, request->inputs, request->input_count, err);
    } else {
        reader_close(run->reader);
        run->reader = opening_inputs(request, NULL, err);
    }
    if (!run->reader)
        return STATUS_FAILED;
    /* The same definitions, in the same order. */
    run->stuck->defs = run->reader->defs;
    return STATUS_OK;
}

/* A run that hangs does so for another reason, and its last calls did not end: nothing else is said of its faults. */
static bool asks_if_clean(const struct run *run)
{
    return (run->wants & ENGINE_FINDINGS) && !stuck_is_reported(run->stuck);
}

_Static_assert((int)PHASE_REPLAYS <= (int)ANALYSE_REPLAYS_BESIDE, "replays of phases go with those of the analysis");

static void count_phases(void *context)
{
    struct run *run = context;
    run->phases = phase_counter_new(run->graph, run->spans, opening_threads(run->request, THREADS_ANALYSING));
}

static size_t replays_of_phases(void *context, struct replay_options *options)
{
    const struct run *run = context;
    return phase_counter_replays(run->phases, options);
}

static void end_phases(void *context, const struct replay *replays)
{
    struct run *run = context;
    run->metrics->phases = phase_counter_end(run->phases, replays, &run->found);
}

static bool finds_phases(const struct run *run)
{
    return (run->wants & ENGINE_PHASES) && !assisting_with_phases(run->assistance);
}

/* For findings alone, without what none of them shows. With phases, whose replays go with those of the analysis. */
static void analyse_run(struct run *run)
{
    struct metrics *metrics = run->metrics;
    const struct analyse_beside phases = {count_phases, replays_of_phases, end_phases, run};
    struct analyse_how how = {.threads = opening_threads(run->request, THREADS_ANALYSING),
                              .without = assisting_steps(run->assistance),
                              .beside = finds_phases(run) ? &phases : NULL};
    if (!(run->wants & (ENGINE_ANALYSIS | ENGINE_SEARCH))) {
        how.without |= ANALYSE_CONCURRENCY;
        how.detail_from_ns = findings_detail_from_ns(metrics);
    }
    metrics->analysis = analyse_in_parallel(run->graph, how);
}

/* One of two parts, in a thread of its own: each writes its own members of the metrics or the result. */
enum { PARTS = 2 };
static void analyse_part(void *context, size_t index)
{
    struct run *run = context;
    if (index == 0 && (run->wants & (ENGINE_ANALYSIS | ENGINE_FINDINGS)))
        analyse_run(run);
    else if (index == 0 && finds_phases(run))
        run->metrics->phases =
            phase_metrics_with(run->graph, run->spans, opening_threads(run->request, THREADS_ANALYSING));
    else if (index == 1 && asks_if_clean(run)) {
        run->result.may_hang = run->may_hang = may_hang_of(run->graph);
        run->result.left_over = run->left_over = left_over_of(run->graph);
    }
}

/* The clock correction, in addition to the results from corrected times. */
static void note_clocks(struct metrics *metrics, const struct clocks *clocks, const struct graph *graph)
{
    struct analysis *analysis = metrics->analysis;
    analysis->clocks_fixed = 1;
    analysis->early_recorded = clocks->recorded.early;
    analysis->clock_error_recorded = clocks->recorded.worst_ns;
    analysis->clock_rest = larger(clocks->aligned.worst_ns, clocks->aligned.worst_instance_ns);
    analysis->median_wait = waits_median_ns(graph);
    /* Both lists ascend by process, but either may have processes that the other has not. */
    for (size_t i = 0, row = 0; i < metrics->process_count && row < clocks->count; i++) {
        while (row < clocks->count && clocks->rows[row].process < metrics->process[i].rank)
            row++;
        if (row == clocks->count || clocks->rows[row].process != metrics->process[i].rank)
            continue;
        analysis->clock_shift_ns[i] = clocks->rows[row].largest_ns;
        analysis->clock_shift = larger(analysis->clock_shift, clocks->rows[row].largest_ns);
        analysis->clock_bent = larger(analysis->clock_bent, clocks->rows[row].bent_ns);
    }
}

static const struct phases *phases_found(struct run *run)
{
    if (!run->found)
        run->found = phases_of(run->graph, run->spans);
    return run->found;
}

/* Samples are by rank, as processes are. Phases are those of metrics->phases. */
static void note_phases(struct run *run)
{
    struct profile *profile = run->profile;
    const struct metrics *metrics = run->metrics;
    const struct phases *phases = phases_found(run);
    for (size_t i = 0, row = 0; i < profile->taken_count; i++) {
        struct profile_sample *sample = &profile->taken[i];
        while (row < metrics->process_count && metrics->process[row].rank < sample->rank)
            row++;
        if (row == metrics->process_count || metrics->process[row].rank != sample->rank || phases->count == 0)
            continue;
        sample->phase = phases_at(phases, (uint32_t)row, sample->time_ns);
        if (phases->main_loop != PHASE_NONE)
            sample->iteration = phases_iteration_at(phases, phases->main_loop, (uint32_t)row, sample->time_ns);
    }
}

static struct counter_cuts cuts_of(const struct metrics *metrics, size_t count, const int64_t *borders)
{
    struct counter_cuts cuts = {.count = count, .processes = metrics->process_count};
    size_t size = cuts.processes * (count + 1) * sizeof *cuts.borders;
    cuts.borders = memory_new(size);
    cuts.ranks = memory_new(cuts.processes * sizeof *cuts.ranks);
    memcpy(cuts.borders, borders, size);
    for (size_t i = 0; i < cuts.processes; i++)
        cuts.ranks[i] = metrics->process[i].rank;
    return cuts;
}

/* Where phases and iterations of the main loop begin on each process. */
static void note_cuts(struct run *run)
{
    const struct phases *phases = phases_found(run);
    const struct common_loops *loops = &phases->loops;
    uint32_t loop = phases->main_loop;
    /* Rows of phases are those of the metrics as long as every process has calls. */
    if (phases->count > 0 && loops->process_count == run->metrics->process_count) {
        run->counters->phases = cuts_of(run->metrics, phases->count, phases->begins);
        if (loop != PHASE_NONE && loops->rows[loop].matched > 0)
            run->counters->iterations = cuts_of(run->metrics, loops->rows[loop].matched, loops->starts[loop]);
    }
}

/* Results from the graph. The parts only read it, each with memory of its own: they can be made at once. The search
   comes after them, as it needs the phases' loops and all threads. */
static void analyse_graph(struct run *run)
{
    unsigned threads = opening_threads(run->request, THREADS_ANALYSING);
    parallel_run(threads, PARTS, analyse_part, run);
    if (run->assistance)
        run->result.assistants = assisting_collect(run->assistance, run->graph, run->spans, run->metrics);
    if (run->metrics->phases && run->profile->taken_count > 0)
        note_phases(run);
    if (run->metrics->phases && (run->wants & ENGINE_COUNTERS))
        note_cuts(run);
    if (run->searching)
        run->metrics->search = searching_finish(run->searching, run->graph, phases_found(run), run->metrics, threads);
    if (run->metrics->analysis && run->result.clocks)
        note_clocks(run->metrics, run->result.clocks, run->graph);
}

/* Frees data that only the analysis needed: a graph's memory grows with the calls of the run. */
static void release_graph(struct run *run)
{
    user_spans_free(run->spans);
    run->spans = NULL;
    phases_free(run->found);
    run->found = NULL;
    if (run->result.lack == ENGINE_LACKS_NOTHING && (run->wants & ENGINE_GRAPH)) {
        run->result.graph = run->graph;
        return;
    }
    graph_free(run->graph);
    run->graph = NULL;
}

static enum status read_trace(struct run *run, struct error *err)
{
    const struct engine_request *request = run->request;
    struct accumulator_options what = {.ranks = run->ranks, .rank_count = request->rank_count};
    /* Heuristics about counters, and metrics files: most traces have none. */
    run->sums = !(run->wants & ENGINE_COUNTERS);
    if ((run->wants & (ENGINE_HEURISTICS | ENGINE_COUNTER_SUMS)) && counters_declared(run->reader->defs))
        run->wants |= ENGINE_COUNTERS;
    if (has_window(request) && span_find(request, &run->reader, &what, err) != STATUS_OK)
        return STATUS_FAILED;
    bool whole = !has_window(request) && !request->ranks;
    run->totals = request->totals && !has_window(request) && totals_known(run->reader->defs);
    bool deep = whole && !run->totals && (run->wants & WANTS_GRAPH);
    if (deep && early_is_wanted(request, run->wants, run->reader) && read_early(run, err) != STATUS_OK)
        return STATUS_FAILED;
    enum status status;
    if (deep)
        run->assistance = assisting_begin(request, run->reader, run->wants, until_ns(run), THREADS_ANALYSING);
    if (deep)
        status = read_whole(run, what, err);
    else
        status = read_events(run, what, err);
    if (status != STATUS_OK)
        return STATUS_FAILED;
    run->metrics = accumulator_metrics(run->accumulator, err);
    if (!run->metrics || check_span(run, run->reader->input->name, err) != STATUS_OK ||
        check_ranks(run, err) != STATUS_OK)
        return STATUS_FAILED;
    if (run->totals)
        totals_use(run->metrics);
    run->metrics->format = run->reader->format->name;
    run->metrics->profile = run->profile;
    run->metrics->resources = run->resources;
    if ((run->wants & ENGINE_BEFORE_HANG) && stuck_is_reported(run->stuck)) {
        note_beyond(run->stuck, run->metrics);
        run->metrics->stuck = run->stuck;
    }
    if (run->wants & ENGINE_COUNTERS) {
        run->metrics->counters = run->counters;
        if (run->wants & ENGINE_COUNTER_SUMS)
            counters_to_rows(run->counters, run->metrics);
        if (run->wants & ENGINE_HEURISTICS)
            formulas_rate(run->counters);
    }
    run->result.clocks = reader_clocks(run->reader);
    if (!whole)
        run->result.lack = ENGINE_LACKS_WHOLE;
    else if (run->totals)
        run->result.lack = ENGINE_LACKS_EVENTS;
    if (deep && run->graph->too_large)
        run->result.lack = ENGINE_LACKS_ROOM;
    else if (deep)
        analyse_graph(run);
    release_graph(run);
    return STATUS_OK;
}

static enum status read_inputs(struct run *run, struct error *err)
{
    const struct engine_request *request = run->request;
    /* a copy: the accumulator, and with it the result, outlives the request */
    if (request->ranks) {
        run->ranks = memory_new(request->rank_count * sizeof *run->ranks);
        memcpy(run->ranks, request->ranks, request->rank_count * sizeof *run->ranks);
    }
    if ((run->wants & ENGINE_SEARCH) && !(run->searching = searching_new(request, err)))
        return STATUS_FAILED;
    struct input *file = NULL;
    run->reader = opening_inputs(request, &file, err);
    if (file)
        return read_metrics_file(run, file, err);
    return run->reader ? read_trace(run, err) : STATUS_FAILED;
}

/* From numbers to sentences: also of a metrics file, with the same result. */
static void judge(struct run *run)
{
    if (run->wants & ENGINE_HEURISTICS)
        run->result.results = run->judged = heuristics_judge(run->metrics);
    if (!(run->wants & ENGINE_FINDINGS))
        return;
    run->findings = findings_of(run->metrics, run->judged);
    run->result.findings = &run->findings;
}

/* The requested results, including their dependencies. */
static unsigned wants_of(const struct engine_request *request)
{
    unsigned wants = request->wants;
    if (wants & ENGINE_FINDINGS)
        wants |= ENGINE_PHASES | ENGINE_HEURISTICS | ENGINE_BEFORE_HANG;
    return wants;
}

struct engine_result *engine_run(const struct engine_request *request, struct error *err)
{
    struct run *run = memory_new(sizeof *run);
    run->request = request;
    run->wants = wants_of(request);
    if (read_inputs(run, err) != STATUS_OK) {
        engine_free(&run->result);
        return NULL;
    }
    run->result.metrics = run->metrics;
    judge(run);
    run->request = NULL; /* it need not outlive the call */
    return &run->result;
}

void engine_free(struct engine_result *result)
{
    if (!result)
        return;
    struct run *run = (struct run *)result;
    /* Findings, results and metrics point into what is freed after them. */
    findings_clear(&run->findings);
    heuristics_free(run->judged);
    user_spans_free(run->spans);
    graph_free(run->graph);
    stuck_free(run->stuck);
    may_hang_free(run->may_hang);
    left_over_free(run->left_over);
    assisting_free(run->assistance);
    profile_free(run->profile);
    resources_free(run->resources);
    if (run->counters)
        definitions_free(run->counters->formulas);
    counters_free(run->counters);
    metrics_free(run->metrics);
    accumulator_free(run->accumulator);
    searching_free(run->searching);
    reader_close(run->second);
    reader_close(run->reader);
    free(run->ranks);
    free(run);
}
