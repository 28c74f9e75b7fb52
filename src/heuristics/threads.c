/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/threads.h"

#include "core/numbers.h"
#include "heuristics/efficiency.h"

#include <math.h>

struct process_threads process_threads_of(const struct metrics *metrics, size_t row)
{
    const struct process_row *process = &metrics->process[row];
    const struct thread_row *master = NULL;
    double compute = (double)metrics_compute_ns(metrics, row), brief = 0, computed = 0;
    struct process_threads threads = {.threads = 1, .serial = compute, .useful = compute};
    size_t taking_part = 0;
    for (size_t i = 0; i < process->thread_count; i++)
        if (process->threads[i].parallel_ns > 0) {
            taking_part++;
            if (!master || process->threads[i].parallel_ns > master->parallel_ns)
                master = &process->threads[i];
        }
    if (!master)
        return threads;
    /* While only other threads are in MPI, the master computes. */
    compute += (double)larger(process->communication_ns - master->communication_ns, INT64_C(0));
    threads.threads = taking_part;
    threads.serial = fmax(compute - (double)(master->parallel_ns - master->parallel_mpi_ns), 0);
    threads.useful = compute - (double)master->waiting_ns;
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_row *thread = &process->threads[i];
        /* The others are outside regions without work, and MPI in a region is no computing. */
        if (thread != master && thread->parallel_ns > 0)
            threads.useful += fmax((double)(thread->parallel_ns - thread->waiting_ns - thread->parallel_mpi_ns), 0);
        threads.waiting += (double)(thread->waiting_ns - thread->short_waiting_ns);
        computed += (double)(thread->short_ns - thread->short_waiting_ns);
    }
    /* The master's time includes starting the team. */
    brief = (double)master->short_ns * (double)taking_part;
    threads.overhead = fmax(brief - computed, 0);
    threads.useful = fmax(threads.useful, 0);
    return threads;
}

struct thread_efficiency thread_efficiency_of(const struct metrics *metrics)
{
    struct thread_efficiency sum = {0};
    double duration = (double)working_duration_ns(metrics);
    bool any = false;
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct process_threads threads = process_threads_of(metrics, i);
        any |= threads.threads > 1;
        sum.threads += threads.threads;
        sum.hybrid += threads.useful;
        sum.serial += threads.serial * (double)(threads.threads - 1);
        sum.waiting += threads.waiting;
        sum.overhead += threads.overhead;
    }
    if (!any || duration <= 0)
        return (struct thread_efficiency){0};
    double all = duration * (double)sum.threads, mpi = efficiency_of(metrics).parallel;
    return (struct thread_efficiency){.threads = sum.threads,
                                      .hybrid = sum.hybrid / all,
                                      .mpi = mpi,
                                      .openmp = ratio_of(sum.hybrid / all, mpi),
                                      .serial = sum.serial / all,
                                      .waiting = sum.waiting / all,
                                      .overhead = sum.overhead / all};
}
