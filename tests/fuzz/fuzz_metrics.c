/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of what reads metrics files and of all that is made from metrics: any bytes must end in metrics or in a
   message, never in a crash. */
#include "metrics/metrics_file.h"
#include "profile/counter_rows.h"
#include "render/reports/diagnosis.h"
#include "render/reports/heuristics_report.h"
#include "render/reports/metrics_report.h"
#include "render/reports/report.h"
#include "search/formulas.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_judged(struct output *output, const struct metrics *metrics)
{
    struct heuristic_result *results = heuristics_judge(metrics);
    struct findings findings = findings_of(metrics, results);
    diagnosis_write_text(
        output, &(struct diagnosis){.metrics = metrics, .results = results, .findings = &findings, .title = "fuzz"});
    heuristics_write_json(output, metrics, results, &findings);
    struct report report = {.title = "fuzz", .findings = &findings, .input = {.metrics = metrics, .results = results}};
    report_write_html(output, &report);
    findings_clear(&findings);
    heuristics_free(results);
}

static void write_nowhere(const struct metrics *metrics,
                          void (*write)(struct output *output, const struct metrics *metrics))
{
    struct error err = {0};
    struct output *output = output_open("/dev/null", (struct output_options){0}, &err);
    if (!output)
        abort();
    write(output, metrics);
    if (output_close(output, true, &err) != STATUS_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    struct input *input = input_open_memory(data, size, "fuzz");
    struct metrics *metrics = metrics_file_read(input, &err);
    input_close(input);
    struct counters *counters = NULL;
    if (metrics && (metrics->counters = counters = counters_of_rows(metrics)))
        formulas_rate(counters);
    if (metrics) {
        write_nowhere(metrics, metrics_write_json);
        write_nowhere(metrics, metrics_write_xml);
        write_nowhere(metrics, write_judged);
    }
    if (counters)
        definitions_free(counters->formulas);
    counters_free(counters);
    metrics_free(metrics);
    return 0;
}
