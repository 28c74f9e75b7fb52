/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight TRACE`: the short diagnosis, as far as metrics of each process alone tell. */
#include "cli/commands.h"

#include "cli/run.h"
#include "core/text.h"
#include "heuristics/heuristic.h"
#include "render/field.h"

static void write_share(struct output *output, const struct metrics *metrics)
{
    double communication = 0, total = 0;
    char share[TEXT_NUMBER_SIZE];
    for (size_t i = 0; i < metrics->process_count; i++) {
        communication += (double)metrics->process[i].communication_ns;
        total += (double)process_total_ns(&metrics->process[i]);
    }
    if (total > 0)
        output_print(output, "\n  %s of the processes' time is spent in MPI.\n",
                     text_share(share, communication / total));
}

static void write_diagnosis(struct output *output, const struct options *options, const struct metrics *metrics)
{
    char title[300], duration[TEXT_NUMBER_SIZE], events[TEXT_NUMBER_SIZE];
    run_title(title, sizeof title, options);
    output_print(output, "%s — %u processes, %s, %s events, %s\n", title, metrics->processes,
                 text_duration(duration, time_since(metrics->begin_ns, metrics->end_ns)),
                 text_thousands(events, metrics->events), metrics->end.complete ? "complete" : "incomplete");
    if (metrics->process_count == 0) {
        output_text(output, "\n  There are no events in this trace.\n");
        return;
    }
    write_share(output, metrics);
    for (size_t i = 0; i < heuristic_count(); i++) {
        const struct heuristic *heuristic = heuristic_at(i);
        struct heuristic_result result = heuristic->judge(metrics);
        output_print(output, "\n  %s: %s\n", heuristic->title, verdict_name(result.verdict));
        paragraph_write(output, "  ", result.analysis);
    }
    output_print(output, "\n  details:  sight metrics %s    sight heuristics %s\n", title, title);
}

int cmd_diagnose(const struct command *command, const struct options *options)
{
    (void)command;
    return run_report(options, write_diagnosis);
}
