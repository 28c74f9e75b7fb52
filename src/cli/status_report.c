/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/status_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/shape.h"
#include "render/reports/stuck_report.h"
#include "render/terminal.h"
#include "render/terminal_text.h"

#include <stdio.h>
#include <string.h>

/* Below this load balance, those in the upper half of the range above the mean are late. */
#define EVEN 0.9

static double useful_ns(const struct process_row *row)
{
    return (double)larger(row->end_ns - row->begin_ns - row->communication_ns, INT64_C(0));
}

static void find_late(struct live_pace *pace, const struct metrics *metrics, double mean, double most)
{
    if (pace->load_balance < 0 || pace->load_balance >= EVEN)
        return;
    pace->late = memory_new(metrics->process_count * sizeof *pace->late);
    for (size_t i = 0; i < metrics->process_count; i++)
        if (useful_ns(&metrics->process[i]) > (mean + most) / 2)
            pace->late[pace->late_count++] = metrics->process[i].rank;
}

/* As in TALP: useful time is the time outside MPI. */
struct live_pace live_pace_of(const struct live *before, const struct live *now)
{
    struct live_pace pace = {.parallel = -1, .load_balance = -1, .communication = -1};
    int64_t from_ns = larger(now->from_ns, INT64_C(0));
    double elapsed = (double)time_since(from_ns, now->now_ns), count = (double)now->metrics->process_count;
    /* a file that was removed meanwhile makes it less */
    uint64_t bytes = before ? smaller(before->bytes, now->bytes) : 0;
    int64_t growing_ns = time_since(before ? before->now_ns : 0, now->now_ns);
    double sum = 0, most = 0;
    for (size_t i = 0; i < now->metrics->process_count; i++) {
        double useful = useful_ns(&now->metrics->process[i]);
        sum += useful;
        most = larger(useful, most);
    }
    pace.seconds = elapsed / 1e9;
    if (growing_ns > 0)
        pace.bytes_per_second = (double)(now->bytes - bytes) / ((double)growing_ns / 1e9);
    if (elapsed <= 0 || count == 0)
        return pace;
    /* The clocks of processes differ a little, and so may their windows. */
    most = smaller(most, elapsed);
    pace.parallel = sum / count / elapsed;
    pace.communication = most / elapsed;
    pace.load_balance = most > 0 ? sum / count / most : -1;
    pace.late_share = pace.communication;
    pace.mean_share = pace.parallel;
    find_late(&pace, now->metrics, sum / count, most);
    return pace;
}

void live_pace_clear(struct live_pace *pace)
{
    free(pace->late);
    *pace = (struct live_pace){0};
}

static const char *share(char text[TEXT_NUMBER_SIZE], double value)
{
    if (value < 0)
        return "-";
    return text_share(text, smaller(value, 1.0));
}

static void write_late(struct output *output, const struct live_pace *pace)
{
    char ranks[RANKS_TEXT_SIZE], most[TEXT_NUMBER_SIZE], mean[TEXT_NUMBER_SIZE], text[RANKS_TEXT_SIZE + 200];
    if (pace->late_count == 0)
        return;
    snprintf(text, sizeof text, "late: process%s %s, computing up to %s of the time (mean %s)",
             pace->late_count == 1 ? "" : "es", ranks_text(ranks, pace->late, pace->late_count),
             share(most, pace->late_share), share(mean, pace->mean_share));
    terminal_style(output, TERMINAL_BOLD);
    paragraph_write(output, "  ", "    ", text);
    terminal_style(output, NULL);
}

void status_write_text(struct output *output, const struct live *live, const struct live_pace *pace,
                       const char *directory, size_t lines)
{
    char ran[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE], growth[TEXT_NUMBER_SIZE], parallel[TEXT_NUMBER_SIZE],
        balance[TEXT_NUMBER_SIZE], communication[TEXT_NUMBER_SIZE], quiet[TEXT_NUMBER_SIZE], last[TEXT_NUMBER_SIZE],
        facts[8 * TEXT_NUMBER_SIZE];
    const struct stuck *stuck = live->stuck;
    snprintf(facts, sizeof facts, "%s of %s processes, %s, %s (%s/s)", text_number(live->processes).text,
             text_number(live->declared).text, text_duration(ran, time_since(stuck->begin_ns, stuck->end_ns)),
             text_bytes(bytes, live->bytes), text_bytes(growth, text_whole(pace->bytes_per_second)));
    if (live->iterations > 0)
        text_append(facts, sizeof facts, ", %s iterations", text_number(live->iterations).text);
    headline_write(output, directory, facts);
    output_print(output, "  last %s: parallel efficiency ", text_duration(last, (int64_t)(pace->seconds * 1e9)));
    if (pace->parallel >= 0)
        terminal_style(output, terminal_efficiency(pace->parallel));
    output_text(output, share(parallel, pace->parallel));
    terminal_style(output, NULL);
    output_print(output, " = load balance %s\n    × communication efficiency %s\n", share(balance, pace->load_balance),
                 share(communication, pace->communication));
    write_late(output, pace);
    output_text(output, "\n");
    if (live->unfinished == 0) {
        output_text(output, "  All processes have come to MPI_Finalize.\n");
        return;
    }
    /* A run that hangs is described by its places, below. */
    if (!stuck_is_reported(stuck) && !stuck->quiet)
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
    json_value(&json, "bytes", value_count(live->bytes));
    json_value(&json, "bytes_per_second", value_count(text_whole(pace->bytes_per_second)));
    json_value(&json, "iterations", live->iterations ? value_count(live->iterations) : value_null());
    json_open(&json, "efficiencies", '{');
    json_value(&json, "over_s", value_time((int64_t)(pace->seconds * 1e9)));
    json_value(&json, "parallel", known_share(pace->parallel));
    json_value(&json, "load_balance", known_share(pace->load_balance));
    json_value(&json, "communication", known_share(pace->communication));
    json_close(&json, '}');
    json_open(&json, "late", '[');
    for (size_t i = 0; i < pace->late_count; i++)
        json_value(&json, NULL, value_count(pace->late[i]));
    json_close(&json, ']');
    stuck_write_json(&json, stuck, true);
    json_close(&json, '}');
}
