/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/master.h"

#include "core/numbers.h"

/* An index of 0.5 is an end of every message. Workers may exchange a few messages among themselves, and a master may
   compute in the meantime, but not as much as they do: then it is a process like the others that also collects. */
static const double MASTER_INDEX = 0.4, MASTER_COMPUTE = 0.5;

/* Partners other than the process itself. */
static size_t partners(const struct partner_row *rows, size_t count, uint32_t rank)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += rows[i].partner >= 0 && rows[i].partner != (int32_t)rank;
    return found;
}

/* How many others compute at least twice as long as the process. */
static size_t workers(const struct metrics *metrics, const struct process_row *hub)
{
    size_t found = 0;
    double own = (double)metrics_compute_ns(metrics, (size_t)(hub - metrics->process));
    for (size_t i = 0; i < metrics->process_count; i++)
        found += &metrics->process[i] != hub && MASTER_COMPUTE * (double)metrics_compute_ns(metrics, i) >= own;
    return found;
}

int64_t master_of(const struct metrics *metrics)
{
    if (metrics->process_count < 3)
        return -1;
    const struct process_row *hub = &metrics->process[0];
    double compute = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        if (row->messages_sent + row->messages_received > hub->messages_sent + hub->messages_received)
            hub = row;
        compute += (double)metrics_compute_ns(metrics, i);
    }
    double own = (double)metrics_compute_ns(metrics, (size_t)(hub - metrics->process));
    /* Three quarters: some workers may get no work, or share cores with the master and hardly compute. */
    size_t others = metrics->process_count - 1;
    size_t sent = partners(hub->sent, hub->sent_count, hub->rank),
           received = partners(hub->received, hub->received_count, hub->rank);
    bool is_master =
        process_communication_index(metrics, hub) >= MASTER_INDEX && larger(sent, received) * 4 >= others * 3 &&
        own <= MASTER_COMPUTE * (compute - own) / (double)others && workers(metrics, hub) * 4 >= others * 3;
    if (!is_master)
        return -1;
    return (int64_t)hub->rank;
}

/* Time in calls that move messages or wait for them, and how much of it is waiting for the other end. */
static double message_time(const struct metrics *metrics, size_t row, double *waiting_s)
{
    static const enum wait_kind kinds[] = {WAIT_LATE_SENDER, WAIT_WRONG_ORDER_SAME, WAIT_WRONG_ORDER_OTHER,
                                           WAIT_LATE_RECEIVER};
    const struct process_row *process = &metrics->process[row];
    double ns = 0;
    for (size_t f = 0; f < process->function_count; f++) {
        enum function_class class = metrics->defs->states[process->functions[f].state].class;
        if (class == CLASS_P2P || class == CLASS_WAIT || class == CLASS_PROBE)
            ns += (double)process->functions[f].time_ns;
    }
    *waiting_s = 0;
    for (size_t i = 0; metrics->analysis && i < sizeof kinds / sizeof *kinds; i++)
        *waiting_s += (double)metrics->analysis->waits[kinds[i]].victims_ns[row] / 1e9;
    return ns / 1e9;
}

struct tasks tasks_of(const struct metrics *metrics, uint32_t master)
{
    struct tasks tasks = {.bytes = -1};
    for (size_t i = 0; i < metrics->process_count; i++) {
        const struct process_row *process = &metrics->process[i];
        double waiting_s, all_s = message_time(metrics, i, &waiting_s);
        if (process->rank == master) {
            tasks.count = (double)process->messages_sent;
            tasks.serving_s = larger(all_s - waiting_s, 0);
            continue;
        }
        tasks.workers++;
        tasks.computed_s += (double)metrics_compute_ns(metrics, i) / 1e9;
        tasks.moving_s += larger(all_s - waiting_s, 0);
        tasks.waiting_s += waiting_s;
    }
    uint64_t bytes, messages = metrics_messages(metrics, &bytes);
    if (metrics_sizes_known(metrics))
        tasks.bytes = ratio_of((double)bytes, (double)messages);
    return tasks;
}
