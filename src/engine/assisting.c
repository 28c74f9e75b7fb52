/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/assisting.h"

#include "core/directory.h"
#include "core/memory.h"
#include "engine/opening.h"
#include "engine/serving.h"
#include "engine/share_job.h"
#include "graph/graph.h"
#include "metrics/packing.h"
#include "metrics/phase_pack.h"
#include "phases/phase_numbers.h"
#include "replay/analyse.h"
#include "stuck/before_hang.h"
#include "timeline/slices.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILE_LEAST = 16 << 20, /* bytes of a trace that are worth the start of a second reader */
    PHASES = 1 << ANALYSE_APART_COUNT,
    PARTS = ANALYSE_APART_COUNT + 1
};

/* How long each takes, compared with the others, for runs of several kinds (docs/speed.md); the longest first. */
static const struct part {
    unsigned step, weight, want; /* any of enum engine_want */
} parts[PARTS] = {{PHASES, 7, ENGINE_PHASES},
                  {ANALYSE_DELAYS, 5, ENGINE_ANALYSIS | ENGINE_FINDINGS},
                  {ANALYSE_CONCURRENCY, 2, ENGINE_ANALYSIS}};
enum { WEIGHT_OF_THE_REST = 13 };

struct job {
    enum job_kind kind; /* JOB_ASSIST */
    unsigned wants, steps;
    int64_t until_ns;       /* when the run begins to hang: see whole.h */
    unsigned threads, most; /* of each process on a machine, 0: as many as there are processors; of all of them */
    struct input_identity file;
    size_t path_count; /* what is known of the trace follows, then the paths, each with its 0 */
};

struct assistance {
    struct team *team;
    int helpers[PARTS + 1];    /* their ranks; this process is the first of them */
    unsigned steps[PARTS + 1]; /* what each computes; of this process: what it keeps */
    int count;
};

/* What two graphs of the same trace agree in: the trace may have been replaced, or be growing. */
struct likeness {
    uint64_t locations, calls, messages, unmatched, instances, operations, states;
    int64_t begin_ns, duration_ns;
};

static struct likeness likeness_of(const struct graph *graph)
{
    struct likeness likeness = {.locations = graph->location_count,
                                .messages = graph->message_count,
                                .unmatched = graph->unmatched,
                                .instances = graph->instance_count,
                                .operations = graph->operation_count,
                                .states = graph->defs->state_count,
                                .begin_ns = graph_begin_ns(graph),
                                .duration_ns = graph_duration_ns(graph)};
    for (size_t i = 0; i < graph->location_count; i++)
        likeness.calls += graph->locations[i].count;
    return likeness;
}

/* Rank 0 */

/* A trace that others can read, too, and that is worth it. */
static bool is_worth_reading(const struct engine_request *request)
{
    struct stat about;
    /* What a limit of memory is for would be in memory several times. */
    if (request->fix_clocks || memory_has_store() || directory_is_scattered(request->inputs[0]))
        return false;
    if (request->input_count > 1)
        return true;
    return stat(request->inputs[0], &about) == 0 &&
           (S_ISDIR(about.st_mode) || (S_ISREG(about.st_mode) && about.st_size >= FILE_LEAST));
}

static void job_send(const struct engine_request *request, int rank, struct job job, const struct clog2_known *known)
{
    char *data = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&data, &size, &capacity};
    packing_put(&packing, &job, sizeof job);
    share_known_pack(&packing, known);
    for (size_t i = 0; i < request->input_count; i++)
        packing_put(&packing, request->inputs[i], strlen(request->inputs[i]) + 1);
    team_send(request->team, rank, data, size);
    free(data);
}

/* The first process of each machine, this one's first. */
static void find_helpers(struct assistance *assistance)
{
    for (int rank = 0; rank < team_size(assistance->team) && assistance->count <= PARTS; rank++)
        if (team_leads(assistance->team, rank))
            assistance->helpers[assistance->count++] = rank;
}

/* Each part goes to the process that has least to do so far. */
static void divide(struct assistance *assistance, unsigned wants)
{
    unsigned load[PARTS + 1] = {WEIGHT_OF_THE_REST};
    for (size_t i = 0; i < PARTS; i++) {
        int least = 0;
        for (int helper = 1; helper < assistance->count; helper++)
            if (load[helper] < load[least])
                least = helper;
        if (!(wants & parts[i].want))
            continue;
        assistance->steps[least] |= parts[i].step;
        load[least] += parts[i].weight;
    }
}

struct assistance *assisting_begin(const struct engine_request *request, const struct reader *reader, unsigned wants,
                                   int64_t until_ns, unsigned most)
{
    /* Phases alone would be all that there is to do. */
    if (team_here(request->team) == team_size(request->team) || !(wants & (ENGINE_ANALYSIS | ENGINE_FINDINGS)) ||
        !is_worth_reading(request))
        return NULL;
    struct assistance *assistance = memory_new(sizeof *assistance);
    assistance->team = request->team;
    find_helpers(assistance);
    divide(assistance, wants);
    const struct clog2_known known = slices_known(reader, request->inputs, request->input_count);
    for (int helper = 1; helper < assistance->count; helper++)
        if (assistance->steps[helper])
            job_send(request, assistance->helpers[helper],
                     (struct job){.kind = JOB_ASSIST,
                                  .wants = wants,
                                  .steps = assistance->steps[helper],
                                  .until_ns = until_ns,
                                  .threads = request->threads,
                                  .most = most,
                                  .file = input_identity(reader->input),
                                  .path_count = request->input_count},
                     &known);
    return assistance;
}

void assisting_free(struct assistance *assistance)
{
    free(assistance);
}

static unsigned given_away(const struct assistance *assistance)
{
    unsigned steps = 0;
    for (int helper = 1; assistance && helper < assistance->count; helper++)
        steps |= assistance->steps[helper];
    return steps;
}

unsigned assisting_steps(const struct assistance *assistance)
{
    return given_away(assistance) & (PHASES - 1);
}

bool assisting_with_phases(const struct assistance *assistance)
{
    return (given_away(assistance) & PHASES) != 0;
}

static void put_steps(struct packing *packing, const struct analysis *analysis)
{
    packing_put(packing, &analysis->unattributed, sizeof analysis->unattributed);
    packing_put(packing, analysis->computing_course_ns, sizeof analysis->computing_course_ns);
    packing_put(packing, analysis->delay_ns, analysis->process_count * sizeof *analysis->delay_ns);
    packing_put(packing, analysis->concurrency_ns, analysis->process_count * sizeof *analysis->concurrency_ns);
    packing_put(packing, analysis->delay_states_ns, analysis->state_count * sizeof *analysis->delay_states_ns);
    packing_put(packing, analysis->delay_before_ns, analysis->state_count * sizeof *analysis->delay_before_ns);
}

/* Of the same graph: the sizes are known. */
static void take_steps(struct unpacking *unpacking, struct analysis *analysis)
{
    unpacking_take(unpacking, &analysis->unattributed, sizeof analysis->unattributed);
    unpacking_take(unpacking, analysis->computing_course_ns, sizeof analysis->computing_course_ns);
    unpacking_take(unpacking, analysis->delay_ns, analysis->process_count * sizeof *analysis->delay_ns);
    unpacking_take(unpacking, analysis->concurrency_ns, analysis->process_count * sizeof *analysis->concurrency_ns);
    unpacking_take(unpacking, analysis->delay_states_ns, analysis->state_count * sizeof *analysis->delay_states_ns);
    unpacking_take(unpacking, analysis->delay_before_ns, analysis->state_count * sizeof *analysis->delay_before_ns);
}

/* What a process has computed of the same graph. False, and nothing is taken: it has not. */
static bool take_result(const char *data, size_t size, const struct likeness *own, unsigned steps,
                        struct metrics *metrics)
{
    struct unpacking unpacking = {.data = data, .left = size};
    struct likeness theirs;
    struct analysis *apart = analysis_new(metrics->analysis->process_count, metrics->analysis->state_count);
    struct phase_metrics *phases = NULL;
    unpacking_take(&unpacking, &theirs, sizeof theirs);
    bool alike = !unpacking.failed && memcmp(&theirs, own, sizeof theirs) == 0;
    if (alike && (steps & (PHASES - 1)))
        take_steps(&unpacking, apart);
    if (alike && (steps & PHASES))
        phases = phase_metrics_unpack(&unpacking);
    bool taken = alike && !unpacking.failed && unpacking.left == 0;
    if (taken) {
        analyse_take_apart(metrics->analysis, apart, steps);
        if (phases)
            metrics->phases = phases;
    } else {
        phase_metrics_free(phases);
    }
    analysis_free(apart);
    return taken;
}

static void compute_here(const struct graph *graph, const struct user_spans *spans, unsigned steps,
                         struct metrics *metrics)
{
    struct analysis *apart = analyse_apart(graph, steps);
    analyse_take_apart(metrics->analysis, apart, steps);
    analysis_free(apart);
    if (steps & PHASES)
        metrics->phases = phase_metrics_with(graph, spans, 1);
}

unsigned assisting_collect(const struct assistance *assistance, const struct graph *graph,
                           const struct user_spans *spans, struct metrics *metrics)
{
    const struct likeness own = likeness_of(graph);
    const enum job_kind collect = JOB_COLLECT;
    unsigned taken = 0;
    for (int helper = 1; helper < assistance->count; helper++) {
        int rank = assistance->helpers[helper];
        unsigned steps = assistance->steps[helper];
        size_t size;
        if (!steps)
            continue;
        team_send(assistance->team, rank, &collect, sizeof collect);
        char *data = team_receive(assistance->team, rank, &size);
        if (take_result(data, size, &own, steps, metrics))
            taken++;
        else
            compute_here(graph, spans, steps, metrics);
        free(data);
    }
    return taken;
}

/* The other processes */

/* The graph that rank 0 makes: findings are about the time before a hang. */
static struct graph *read_graph(struct reader *reader, const struct job *job, unsigned threads,
                                struct user_spans **spans)
{
    struct error err = {0};
    struct graph_builder *builder = graph_builder_new();
    graph_builder_use_pool(builder);
    struct user_spans_builder *spans_builder = user_spans_builder_new();
    struct sink *sinks[] = {graph_builder_sink(builder), user_spans_builder_sink(spans_builder)};
    size_t count = sizeof sinks / sizeof *sinks;
    struct before_hang *before = memory_new(sizeof *before);
    if (job->wants & ENGINE_BEFORE_HANG) {
        before_hang_start(before, sinks, count, job->until_ns);
        sinks[0] = &before->sink;
        count = 1;
    }
    bool read = stream_run(reader, sinks, count, NULL, NULL, &err) == STATUS_OK;
    before_hang_clear(before);
    free(before);
    struct graph *graph = graph_builder_end_in_parallel(builder, threads);
    *spans = user_spans_builder_end(spans_builder);
    if (read && !graph->too_large)
        return graph;
    graph_free(graph);
    return NULL;
}

static void compute(const struct graph *graph, const struct user_spans *spans, unsigned steps, unsigned threads,
                    struct assisting_result *result)
{
    struct packing packing = {&result->data, &result->size, &result->capacity};
    struct likeness likeness = likeness_of(graph);
    packing_put(&packing, &likeness, sizeof likeness);
    if (steps & (PHASES - 1)) {
        struct analysis *apart = analyse_apart(graph, steps);
        put_steps(&packing, apart);
        analysis_free(apart);
    }
    if (steps & PHASES) {
        struct phase_metrics *phases = phase_metrics_with(graph, spans, threads);
        phase_metrics_pack(phases, &packing);
        phase_metrics_free(phases);
    }
}

/* Opens the trace that a job names; `data` is what follows the job in its message. NULL: it cannot be opened, or is
   another file of this name, on another host. */
static struct reader *job_open(const struct job *job, const char *data)
{
    struct error err = {0};
    struct reader *reader = NULL;
    struct clog2_known known;
    struct clog2_range *ranges = share_known_take(&data, &known);
    char **paths = memory_new(job->path_count * sizeof *paths);
    for (size_t i = 0; i < job->path_count; i++, data += strlen(data) + 1)
        paths[i] = memory_copy_string(data);
    if (known.end_of_log)
        reader = slices_open_whole(paths[0], &known);
    else
        reader = reader_open(paths, job->path_count, &err);
    if (reader && !input_identity_is(&job->file, reader->input)) {
        reader_close(reader);
        reader = NULL;
    }
    for (size_t i = 0; i < job->path_count; i++)
        free(paths[i]);
    free(paths);
    free(ranges);
    return reader;
}

void assisting_do(struct team *team, const char *data, struct assisting_result *result)
{
    struct job job;
    memcpy(&job, data, sizeof job);
    /* Rank 0 has collected all results of the job before. */
    assisting_result_clear(result);
    struct reader *reader = job_open(&job, data + sizeof job);
    if (!reader)
        return;
    unsigned threads = opening_threads(&(struct engine_request){.threads = job.threads, .team = team}, job.most);
    struct user_spans *spans = NULL;
    struct graph *graph = read_graph(reader, &job, threads, &spans);
    if (graph)
        compute(graph, spans, job.steps, threads, result);
    graph_free(graph);
    user_spans_free(spans);
    reader_close(reader);
}

void assisting_send(struct team *team, struct assisting_result *result)
{
    team_send(team, 0, result->data, result->size);
    result->size = 0;
}

void assisting_result_clear(struct assisting_result *result)
{
    free(result->data);
    *result = (struct assisting_result){0};
}
