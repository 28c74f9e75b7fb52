/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine asked for each thing there is, of a run counted by hand: process 1 waits from 100 us to 300 us for the
   message that process 0 sends, in a run of 1 ms. */
#include "engine/convert.h"
#include "engine/engine.h"

#include "core/memory.h"
#include "core/output.h"
#include "render/reports/metrics_report.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/sight-engine-XXXXXX", trace[64], metrics_file[64], long_trace[64];

static const char text[] = "<trace>\n"
                           "<event process=\"0\" timestamp=\"0\" data=\"work\"/>\n"
                           "<event process=\"0\" timestamp=\"299\" data=\"work\"/>\n"
                           "<event process=\"0\" timestamp=\"300\" data=\"MPI_Send\"/>\n"
                           "<event process=\"0\" timestamp=\"310\" data=\"MPI_Send\" communication=\"1\"/>\n"
                           "<event process=\"0\" timestamp=\"320\" data=\"work\"/>\n"
                           "<event process=\"0\" timestamp=\"500\" data=\"work\"/>\n"
                           "<event process=\"1\" timestamp=\"0\" data=\"work\"/>\n"
                           "<event process=\"1\" timestamp=\"100\" data=\"work\"/>\n"
                           "<event process=\"1\" timestamp=\"100\" data=\"MPI_Recv\"/>\n"
                           "<event process=\"1\" timestamp=\"315\" data=\"MPI_Recv\" communication=\"0\"/>\n"
                           "<event process=\"1\" timestamp=\"320\" data=\"work\"/>\n"
                           "<event process=\"1\" timestamp=\"1000\" data=\"work\"/>\n"
                           "</trace>\n";

static struct engine_request request_of(char **input, unsigned wants)
{
    return (struct engine_request){.inputs = input, .input_count = 1, .wants = wants, .threads = 2};
}

static struct engine_result *run(const struct engine_request *request)
{
    struct error err = {0};
    struct engine_result *result = engine_run(request, &err);
    if (!result)
        printf("# %s\n", err.text);
    return result;
}

static void test_metrics(char **input)
{
    struct engine_request request = request_of(input, 0);
    struct engine_result *result = run(&request);
    tap_equal_int(result->metrics->end_ns - result->metrics->begin_ns, 1000000, "the run takes 1 ms");
    tap_equal_int(result->metrics->process[1].communication_ns, 215000, "process 1 communicates for 215 us");
    tap_ok(!result->metrics->analysis && !result->metrics->phases && !result->metrics->search && !result->graph &&
               !result->results && !result->findings,
           "what was not wanted is not there");
    tap_equal_int(result->lack, ENGINE_LACKS_NOTHING, "and nothing is lacking");
    engine_free(result);
}

static void test_each(char **input)
{
    struct engine_request request = request_of(input, ENGINE_ANALYSIS);
    struct engine_result *result = run(&request);
    const struct analysis *analysis = result->metrics->analysis;
    tap_equal_int(analysis->waits[WAIT_LATE_SENDER].ns, 200000, "analysis: it waits 200 us for a late sender");
    tap_ok(!result->metrics->phases && !result->graph, "alone");
    engine_free(result);
    request.wants = ENGINE_PHASES;
    result = run(&request);
    tap_ok(result->metrics->phases && !result->metrics->analysis, "phases alone");
    engine_free(result);
    request.wants = ENGINE_SEARCH;
    result = run(&request);
    tap_ok(result->metrics->search && !result->metrics->analysis, "search alone");
    engine_free(result);
    request.wants = ENGINE_GRAPH;
    result = run(&request);
    tap_equal_int(result->graph ? (long long)result->graph->location_count : 0, 2, "the graph has two locations");
    engine_free(result);
}

static void test_findings(char **input)
{
    struct engine_request request = request_of(input, ENGINE_FINDINGS);
    struct engine_result *result = run(&request);
    bool late = false;
    for (size_t i = 0; i < result->findings->count; i++)
        late = late || llround(result->findings->finding[i].saving_s * 1e9) == 200000;
    tap_ok(late, "a finding could save these 200 us");
    tap_ok(result->results && result->metrics->analysis && result->metrics->phases, "findings bring what they need");
    engine_free(result);
}

static bool is_same_finding(const struct finding *a, const struct finding *b)
{
    return strcmp(a->title, b->title) == 0 && strcmp(a->text, b->text) == 0 && strcmp(a->advice, b->advice) == 0 &&
           a->saving_s == b->saving_s && a->root == b->root;
}

/* Findings alone do without parts of the analysis, but are the same. */
static void test_findings_alone(char *input)
{
    struct engine_request request = request_of(&input, ENGINE_FINDINGS);
    struct engine_result *alone = run(&request);
    request.wants |= ENGINE_ANALYSIS;
    struct engine_result *with = run(&request);
    bool same = alone->findings->count == with->findings->count;
    for (size_t i = 0; same && i < with->findings->count; i++)
        same = is_same_finding(&alone->findings->finding[i], &with->findings->finding[i]);
    tap_ok(same, "%s: %zu findings, with all numbers of the analysis or without", input, with->findings->count);
    tap_ok(alone->metrics->analysis->call_site_count == 0 && with->metrics->analysis->call_site_count > 0,
           "call sites are only there with them");
    engine_free(alone);
    engine_free(with);
}

static void test_findings_of_samples(void)
{
    static const char *const samples[] = {"sort_good_8.clog2", "sort_bad_8.clog2", "features_5.clog2", "pipe8.clog"};
    const char *top = getenv("srcdir");
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/samples/%s", top ? top : ".", samples[i]);
        if (access(path, R_OK) == 0)
            test_findings_alone(path);
    }
}

static void test_window(char **input)
{
    struct engine_request request = request_of(input, ENGINE_FINDINGS);
    struct error err = {0};
    request.window =
        (struct engine_window){{.kind = ENGINE_TIME_NS, .ns = 200000}, {.kind = ENGINE_TIME_SHARE, .share = 0.25}};
    struct engine_result *result = run(&request);
    tap_equal_int(result->metrics->process[1].communication_ns, 50000, "in [200 us, 25 %%) process 1 receives 50 us");
    tap_equal_int(result->lack, ENGINE_LACKS_WHOLE, "a window has no analysis, and that is said");
    engine_free(result);
    request.window.to.share = 0.1;
    tap_ok(!engine_run(&request, &err) && err.kind == ERROR_USAGE, "a window that ends before it begins: %s", err.text);
}

static void test_ranks(char **input)
{
    struct engine_request request = request_of(input, 0);
    request.ranks = (const uint32_t[]){1};
    request.rank_count = 1;
    struct engine_result *result = run(&request);
    tap_equal_int((long long)result->metrics->process_count, 1, "one process was selected");
    tap_equal_int(result->metrics->process[0].rank, 1, "the right one");
    engine_free(result);
}

struct seen {
    unsigned calls;
    bool stop;
};

static bool watch(void *context, enum engine_step step, uint64_t done, uint64_t total)
{
    struct seen *seen = context;
    seen->calls += step == ENGINE_STEP_EVENTS && done <= total;
    return !seen->stop;
}

static void test_watch(char **input)
{
    struct seen seen = {0};
    struct error err = {0};
    struct engine_request request = request_of(input, ENGINE_ANALYSIS);
    request.watch = watch;
    request.watch_context = &seen;
    engine_free(run(&request));
    tap_ok(seen.calls > 0, "the watch is called");
    seen.stop = true;
    tap_ok(!engine_run(&request, &err) && err.kind == ERROR_NONE, "and can stop the work");
}

/* 5 MB of CLOG-2 are read by two readers. */
static bool write_long(void)
{
    enum { ROUNDS = 70000 };
    char *input[] = {trace};
    struct error err = {0};
    FILE *file = fopen(trace, "w");
    if (!file)
        return false;
    fputs("<trace>\n", file);
    for (int i = 0; i < ROUNDS; i++)
        for (int end = 0; end < 2; end++)
            fprintf(file, "<event process=\"0\" timestamp=\"%d\" data=\"MPI_Barrier\"/>\n", 2 * i + end);
    fputs("</trace>\n", file);
    if (fclose(file) != 0)
        return false;
    struct engine_request request = request_of(input, 0);
    struct convert_request convert = {
        .trace = &request, .format = writer_format_find("clog2"), .path = long_trace, .replace = true};
    struct convert_result result = {0};
    bool fine = engine_convert(&convert, &result, &err) == STATUS_OK;
    engine_convert_clear(&result);
    return fine;
}

static void test_two_readers(void)
{
    char *input[] = {long_trace};
    struct error err = {0};
    struct seen seen = {0};
    struct engine_request request = request_of(input, ENGINE_ANALYSIS);
    if (!write_long()) {
        tap_ok(false, "a long trace");
        return;
    }
    request.watch = watch;
    request.watch_context = &seen;
    struct engine_result *result = run(&request);
    tap_ok(seen.calls > 1 && result && result->metrics->process[0].communication_ns == 70000000 &&
               result->metrics->analysis->calls == 70000,
           "a long trace: both readers read all");
    engine_free(result);
    seen = (struct seen){.stop = true};
    tap_ok(!engine_run(&request, &err) && err.kind == ERROR_NONE, "a long trace: the watch can stop the work");
    tap_equal_int(seen.calls, 1, "and it is not begun again");
    unlink(long_trace);
}

static void test_look(char **input)
{
    struct engine_look look;
    struct error err = {0};
    struct engine_request request = request_of(input, 0);
    request.ranks = (const uint32_t[]){1};
    request.rank_count = 1;
    request.window.from = (struct engine_time){.kind = ENGINE_TIME_SHARE, .share = 0.5};
    bool opened = engine_look_open(&look, &request, NULL, NULL, &err) == STATUS_OK;
    tap_ok(opened && look.view.row_count == 1 && look.view.rows[0] == 1, "a look at process 1: %s", err.text);
    tap_equal_int(opened ? look.view.from_ns - timeline_info(look.timeline)->begin_ns : 0, 500000, "from its middle");
    if (opened)
        engine_look_close(&look);
}

/* Metrics written to a file and asked again. */
static void test_metrics_file(char **input)
{
    struct error err = {0};
    struct engine_request request = request_of(input, ENGINE_ANALYSIS | ENGINE_PHASES);
    struct engine_result *result = run(&request);
    struct output *output = output_open(metrics_file, (struct output_options){.replace = true}, &err);
    metrics_write_xml(output, result->metrics);
    bool written = output_close(output, true, &err) == STATUS_OK;
    engine_free(result);
    char *again[] = {metrics_file};
    request = request_of(again, ENGINE_FINDINGS);
    result = written ? run(&request) : NULL;
    tap_ok(result && result->metrics->analysis && result->lack == ENGINE_LACKS_NOTHING,
           "a metrics file has its analysis");
    engine_free(result);
    request.fix_clocks = true;
    tap_ok(!engine_run(&request, &err) && err.kind == ERROR_USAGE, "but no events: %s", err.text);
    tap_ok(!engine_open(&request, &err) && engine_check_trace(&request, &err) == STATUS_FAILED,
           "nor can it be read as a trace");
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    snprintf(trace, sizeof trace, "%s/run.xml", directory);
    snprintf(long_trace, sizeof long_trace, "%s/long.clog2", directory);
    snprintf(metrics_file, sizeof metrics_file, "%s/metrics.xml", directory);
    setenv("SIGHT_CACHE", directory, 1);
    FILE *file = fopen(trace, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        return 1;
    char *input[] = {trace};
    test_metrics(input);
    test_each(input);
    test_findings(input);
    test_findings_alone(trace);
    test_findings_of_samples();
    test_window(input);
    test_ranks(input);
    test_watch(input);
    test_look(input);
    test_metrics_file(input);
    struct error err = {0};
    tap_ok(!engine_run(&(struct engine_request){0}, &err) && err.kind == ERROR_USAGE, "no inputs: %s", err.text);
    test_two_readers();
    unlink(trace);
    unlink(metrics_file);
    rmdir(directory);
    return tap_done();
}
