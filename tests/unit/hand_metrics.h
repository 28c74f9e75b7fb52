/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_UNIT_HAND_METRICS_H
#define SIGHT_TESTS_UNIT_HAND_METRICS_H

#include "core/memory.h"
#include "metrics/metrics.h"
#include "unit/tap.h"

#include <math.h>

/* Metrics made by hand, for tests of what draws them. */

TAP_UNUSED static int64_t hand_ns(double seconds)
{
    return seconds >= 9.2e9 ? INT64_MAX : llround(seconds * 1e9);
}

/* Definitions with these states, in this order. */
TAP_UNUSED static struct defs *hand_defs(const char *const *names, size_t count)
{
    struct defs *defs = defs_new();
    for (size_t i = 0; i < count; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i]});
    return defs;
}

/* So many processes that are there from 0 to `total` seconds and in MPI for `communication` of them. */
TAP_UNUSED static struct metrics *hand_metrics(const struct defs *defs, size_t count, double total,
                                               double communication)
{
    struct metrics *metrics = memory_new(sizeof *metrics);
    metrics->defs = defs;
    metrics->processes = (uint32_t)count;
    metrics->process_count = count;
    metrics->process = memory_new(count * sizeof *metrics->process);
    for (size_t i = 0; i < count; i++)
        metrics->process[i] = (struct process_row){
            .rank = (uint32_t)i, .end_ns = hand_ns(total), .communication_ns = hand_ns(communication)};
    metrics_totals(metrics);
    return metrics;
}

/* Changes a process' computing, within the same total or beyond it. */
TAP_UNUSED static void hand_times(struct metrics *metrics, size_t row, double compute, double communication)
{
    metrics->process[row].end_ns = hand_ns(compute + communication);
    metrics->process[row].communication_ns = hand_ns(communication);
    metrics_totals(metrics);
}

/* Calls of a function; to be added by name. */
TAP_UNUSED static void hand_calls(struct metrics *metrics, size_t row, const char *name, double exclusive)
{
    struct process_row *process = &metrics->process[row];
    process->functions = memory_resize(process->functions, (process->function_count + 1) * sizeof *process->functions);
    process->functions[process->function_count++] =
        (struct function_row){.state = (uint32_t)defs_find_state(metrics->defs, name),
                              .count = 1,
                              .time_ns = hand_ns(exclusive),
                              .exclusive_ns = hand_ns(exclusive),
                              .min_ns = hand_ns(exclusive),
                              .max_ns = hand_ns(exclusive)};
}

/* One end of messages: the partner is a rank. */
TAP_UNUSED static void hand_end(struct metrics *metrics, size_t row, bool sent, int32_t partner, uint64_t messages,
                                uint64_t bytes)
{
    struct process_row *process = &metrics->process[row];
    struct partner_row **rows = sent ? &process->sent : &process->received;
    size_t *count = sent ? &process->sent_count : &process->received_count;
    *rows = memory_resize(*rows, (*count + 1) * sizeof **rows);
    (*rows)[(*count)++] = (struct partner_row){.partner = partner, .messages = messages, .bytes = bytes};
    *(sent ? &process->messages_sent : &process->messages_received) += messages;
    *(sent ? &process->bytes_sent : &process->bytes_received) += bytes;
    metrics->messages += messages;
}

/* Both ends of messages between two rows. */
TAP_UNUSED static void hand_messages(struct metrics *metrics, size_t from, size_t to, uint64_t messages, uint64_t bytes)
{
    hand_end(metrics, from, true, (int32_t)metrics->process[to].rank, messages, bytes);
    hand_end(metrics, to, false, (int32_t)metrics->process[from].rank, messages, bytes);
}

/* The next class of sizes, from 0 on: messages and bytes, the same at both ends. */
TAP_UNUSED static void hand_size(struct metrics *metrics, uint64_t messages, uint64_t bytes)
{
    metrics->sizes = memory_resize(metrics->sizes, (metrics->size_count + 1) * sizeof *metrics->sizes);
    metrics->sizes[metrics->size_count] = (struct message_row){.key = (int64_t)metrics->size_count,
                                                               .sent = messages,
                                                               .received = messages,
                                                               .bytes_sent = bytes,
                                                               .bytes_received = bytes};
    metrics->size_count++;
}

#endif
