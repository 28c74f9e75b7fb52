/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/status_report.h"

#include "core/numbers.h"
#include "core/text.h"
#include "render/reports/stuck_report.h"

#include <stdio.h>
#include <string.h>

/* A process that had recorded nothing at the last look is not there: what it did since then is all it did. */
static const struct process_row *row_of(const struct live *live, uint32_t rank)
{
    if (!live)
        return NULL;
    size_t row = metrics_row_of(live->metrics, rank);
    return row == SIZE_MAX ? NULL : &live->metrics->process[row];
}

/* As in TALP: useful time is the time outside MPI. */
struct live_pace live_pace_of(const struct live *before, const struct live *now)
{
    struct live_pace pace = {.parallel = -1, .load_balance = -1, .communication = -1};
    int64_t begin_ns = now->stuck->begin_ns;
    uint64_t bytes = 0;
    if (before) {
        begin_ns = before->stuck->end_ns;
        bytes = smaller(before->bytes, now->bytes); /* a file that was removed meanwhile makes it less */
    }
    int64_t elapsed_ns = time_since(begin_ns, now->stuck->end_ns);
    double sum = 0, most = 0, count = (double)now->metrics->process_count;
    for (size_t i = 0; i < now->metrics->process_count; i++) {
        const struct process_row *row = &now->metrics->process[i], *then = row_of(before, row->rank);
        int64_t compute = row->end_ns - row->begin_ns - row->communication_ns;
        if (then)
            compute -= then->end_ns - then->begin_ns - then->communication_ns;
        double useful = (double)larger(compute, INT64_C(0));
        sum += useful;
        most = larger(useful, most);
    }
    pace.seconds = (double)elapsed_ns / 1e9;
    if (elapsed_ns <= 0 || count == 0)
        return pace;
    /* The last event of each process is at a time of its own: one may have computed longer than the run's end moved. */
    most = smaller(most, (double)elapsed_ns);
    pace.parallel = sum / count / (double)elapsed_ns;
    pace.communication = most / (double)elapsed_ns;
    pace.load_balance = most > 0 ? sum / count / most : -1;
    pace.bytes_per_second = (double)(now->bytes - bytes) / pace.seconds;
    return pace;
}

static const char *share(char text[TEXT_NUMBER_SIZE], double value)
{
    if (value < 0)
        return "-";
    return text_share(text, smaller(value, 1.0));
}

void status_write_text(struct output *output, const struct live *live, const struct live_pace *pace,
                       const char *directory, size_t lines)
{
    char ran[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE], growth[TEXT_NUMBER_SIZE], parallel[TEXT_NUMBER_SIZE],
        balance[TEXT_NUMBER_SIZE], communication[TEXT_NUMBER_SIZE], quiet[TEXT_NUMBER_SIZE], last[TEXT_NUMBER_SIZE];
    const struct stuck *stuck = live->stuck;
    output_print(output, "%s — %s of %s processes, %s, %s (%s/s)", directory, text_number(live->processes).text,
                 text_number(live->declared).text, text_duration(ran, time_since(stuck->begin_ns, stuck->end_ns)),
                 text_bytes(bytes, live->bytes), text_bytes(growth, text_whole(pace->bytes_per_second)));
    if (live->iterations > 0)
        output_print(output, ", %s iterations", text_number(live->iterations).text);
    output_print(output, "\n  last %s: parallel efficiency %s = load balance %s × communication %s\n\n",
                 text_duration(last, (int64_t)(pace->seconds * 1e9)), share(parallel, pace->parallel),
                 share(balance, pace->load_balance), share(communication, pace->communication));
    if (live->unfinished == 0) {
        output_text(output, "  All processes have come to MPI_Finalize.\n");
        return;
    }
    if (!stuck_is_reported(stuck))
        output_print(output, "  It goes on: the last call was entered or left %s ago.\n",
                     text_duration(quiet, time_since(stuck->progress_ns, stuck->end_ns)));
    stuck_write_places(output, stuck, lines);
}

/* JSON has null for what is not known, where text has "-". */
static struct value known_share(double value)
{
    return value < 0 ? value_null() : value_ratio(smaller(value, 1.0));
}

void status_write_json(struct output *output, const struct live *live, const struct live_pace *pace,
                       const char *directory)
{
    struct json json = {.output = output};
    const struct stuck *stuck = live->stuck;
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-status/1"));
    json_value(&json, "directory", value_text(directory));
    json_value(&json, "processes", value_count(live->processes));
    json_value(&json, "declared", value_count(live->declared));
    json_value(&json, "unfinished", value_count(live->unfinished));
    json_value(&json, "duration_s", value_time(time_since(stuck->begin_ns, stuck->end_ns)));
    json_value(&json, "quiet_s", value_time(time_since(stuck->progress_ns, stuck->end_ns)));
    json_value(&json, "events", value_count(live->events));
    json_value(&json, "bytes", value_count(live->bytes));
    json_value(&json, "bytes_per_second", value_count(text_whole(pace->bytes_per_second)));
    json_value(&json, "iterations", live->iterations ? value_count(live->iterations) : value_null());
    json_open(&json, "efficiencies", '{');
    json_value(&json, "over_s", value_time((int64_t)(pace->seconds * 1e9)));
    json_value(&json, "parallel", known_share(pace->parallel));
    json_value(&json, "load_balance", known_share(pace->load_balance));
    json_value(&json, "communication", known_share(pace->communication));
    json_close(&json, '}');
    stuck_write_json(&json, stuck, true);
    json_close(&json, '}');
}
