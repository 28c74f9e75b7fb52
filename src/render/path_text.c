/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/path_text.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "render/terminal_text.h"
#include "render/text_table.h"

#include <stdio.h>
#include <string.h>

/* Rows of a table for people. */
enum { ACTIVITIES = 10, PROCESSES = 8, NAME_SIZE = 120 };

/* Calls of a function, or computing before them. */
struct activity {
    size_t state;
    bool before;
    int64_t path_ns, excess_ns, impact_ns;
};

static int by_path(const void *a, const void *b)
{
    /* The order is complete, so that it does not depend on the sorting of the C library. */
    const struct activity *left = a, *right = b;
    if (left->path_ns != right->path_ns)
        return order_by(right->path_ns, left->path_ns);
    if (left->before != right->before)
        return order_by(right->before, left->before);
    return order_by(left->state, right->state);
}

/* Those on the path, the longest first; to be freed. */
static struct activity *activities_of(const struct analysis *analysis, size_t *count)
{
    /* Each function may be there twice: its calls, and the computing before them. */
    struct activity *activities = memory_new(2 * analysis->state_count * sizeof *activities);
    *count = 0;
    for (size_t i = 0; i < analysis->state_count; i++) {
        if (analysis->path_before_ns[i] > 0)
            activities[(*count)++] = (struct activity){i, true, analysis->path_before_ns[i],
                                                       analysis->excess_before_ns[i], analysis->impact_before_ns[i]};
        if (analysis->path_states_ns[i] > 0)
            activities[(*count)++] = (struct activity){i, false, analysis->path_states_ns[i],
                                                       analysis->excess_states_ns[i], analysis->impact_states_ns[i]};
    }
    if (*count > 0)
        qsort(activities, *count, sizeof *activities, by_path);
    return activities;
}

static double all_time(const struct analysis *analysis)
{
    /* The three parts of the time of all processes, and of their threads that call MPI. */
    return (double)analysis->impact_activity + (double)analysis->impact_other + (double)analysis->impact_imbalance;
}

static double share_of(int64_t ns, double all_ns)
{
    return ratio_of((double)ns, all_ns);
}

char *path_sentence(char buffer[PATH_SENTENCE_SIZE], const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    double all = all_time(analysis);
    char work[TEXT_NUMBER_SIZE], other[TEXT_NUMBER_SIZE], waiting[TEXT_NUMBER_SIZE], inter[TEXT_NUMBER_SIZE];
    int used =
        snprintf(buffer, PATH_SENTENCE_SIZE,
                 "Of all processes' time along the critical path, %s is work on the path, %s is other work (speeding "
                 "it up does not shorten the run), and %s is waiting because an activity on the path takes longer",
                 text_share(work, share_of(analysis->impact_activity, all)),
                 text_share(other, share_of(analysis->impact_other, all)),
                 text_share(waiting, share_of(analysis->impact_imbalance, all)));
    /* Below one per cent the sentence would explain a rarity before the table that matters. */
    if (share_of(analysis->impact_inter, all) >= 0.01)
        snprintf(buffer + used, (size_t)(PATH_SENTENCE_SIZE - used),
                 "; %s of the total is waiting for activities that the waiting process never performs.",
                 text_share(inter, share_of(analysis->impact_inter, all)));
    else
        snprintf(buffer + used, (size_t)(PATH_SENTENCE_SIZE - used), ".");
    return buffer;
}

static void write_activities(struct output *output, const struct metrics *metrics)
{
    static const char *const titles[] = {"on the path ↓", "share", "saves", "waiting", ""};
    const struct analysis *analysis = metrics->analysis;
    size_t count;
    struct activity *activities = activities_of(analysis, &count);
    struct text_table *table = text_table_columns(5);
    for (size_t i = 0; i < 5; i++)
        text_table_cell(table, titles[i], i == 4);
    for (size_t i = 0; i < count && i < ACTIVITIES; i++) {
        const struct activity *activity = &activities[i];
        char number[TEXT_NUMBER_SIZE], function[NAME_SIZE], name[NAME_SIZE + 20];
        /* Names come from the trace: they may be long, and hold anything. */
        text_for_terminal(function, sizeof function, metrics->defs->states[activity->state].name, 24);
        snprintf(name, sizeof name, activity->before ? "computing before %s" : "%s", function);
        text_table_cell(table, text_duration(number, activity->path_ns), false);
        text_table_cell(table, text_share(number, share_of(activity->path_ns, (double)analysis->path)), false);
        text_table_cell(table, text_duration(number, activity->excess_ns), false);
        text_table_cell(table, text_duration(number, activity->impact_ns), false);
        text_table_cell(table, name, true);
    }
    text_table_print(table, output, "  ");
    text_rest_write(output, ACTIVITIES, count);
    free(activities);
}

/* Processes by their cost for others, the most first. */
static void write_processes(struct output *output, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    bool *taken = memory_new(analysis->process_count);
    for (size_t place = 0; place < PROCESSES; place++) {
        /* The few largest are looked for one by one: sorting thousands of processes for eight rows costs more. */
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < analysis->process_count; i++)
            if (!taken[i] && analysis->impact_ns[i] > 0 &&
                (best == SIZE_MAX || analysis->impact_ns[i] > analysis->impact_ns[best]))
                best = i;
        if (best == SIZE_MAX)
            break;
        /* The title is written with the first row, as there may be none. */
        if (place == 0)
            output_text(output, "\n  waiting caused by the work on the path of\n");
        char rank[TEXT_NUMBER_SIZE], time[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
        taken[best] = true;
        output_print(output, "    process %-8s %10s  %s\n", text_thousands(rank, metrics->process[best].rank),
                     text_duration(time, analysis->impact_ns[best]),
                     text_share(share, share_of(analysis->impact_ns[best], (double)analysis->impact_imbalance)));
    }
    free(taken);
}

void path_write_text(struct output *output, const struct metrics *metrics)
{
    char time[TEXT_NUMBER_SIZE], sentence[PATH_SENTENCE_SIZE];
    output_print(output, "  critical path: %s, the longest chain of work without waiting\n\n",
                 text_duration(time, metrics->analysis->path));
    write_activities(output, metrics);
    output_text(output, "\n");
    paragraph_write(output, "  ", "  ", path_sentence(sentence, metrics));
    write_processes(output, metrics);
}

static void json_activity(struct json *json, const struct metrics *metrics, const struct activity *activity)
{
    json_open(json, NULL, '{');
    json_value(json, "function", value_text(metrics->defs->states[activity->state].name));
    json_value(json, "before", value_bool(activity->before));
    json_value(json, "time_s", value_time(activity->path_ns));
    json_value(json, "excess_s", value_time(activity->excess_ns));
    json_value(json, "impact_s", value_time(activity->impact_ns));
    json_close(json, '}');
}

void path_write_json(struct json *json, const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    size_t count;
    struct activity *activities = activities_of(analysis, &count);
    json_open(json, "critical_path", '{');
    json_value(json, "length_s", value_time(analysis->path));
    json_value(json, "impact_activity_s", value_time(analysis->impact_activity));
    json_value(json, "impact_other_s", value_time(analysis->impact_other));
    json_value(json, "impact_imbalance_s", value_time(analysis->impact_imbalance));
    json_value(json, "impact_inter_s", value_time(analysis->impact_inter));
    json_open(json, "functions", '[');
    for (size_t i = 0; i < count; i++)
        json_activity(json, metrics, &activities[i]);
    json_close(json, ']');
    json_open(json, "processes", '[');
    for (size_t i = 0; i < analysis->process_count; i++) {
        /* A process off the path that delays nobody would be a row of zeros; large runs have thousands. */
        if (analysis->impact_ns[i] == 0 && analysis->path_compute_ns[i] == 0 && analysis->path_mpi_ns[i] == 0)
            continue;
        json_open(json, NULL, '{');
        json_value(json, "rank", value_count(metrics->process[i].rank));
        json_value(json, "compute_s", value_time(analysis->path_compute_ns[i]));
        json_value(json, "mpi_s", value_time(analysis->path_mpi_ns[i]));
        json_value(json, "impact_s", value_time(analysis->impact_ns[i]));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    free(activities);
}
