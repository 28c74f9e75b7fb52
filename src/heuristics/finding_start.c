/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that processes come late to MPI_Init. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "heuristics/wait_words.h"
#include "metrics/process_resources.h"

#include <stdlib.h>
#include <string.h>

/* Launchers never start all processes at once: less than this part of the run is not the program's fault. */
static const double START_SHARE = 0.05;

static int longest_first(const void *first, const void *second)
{
    int64_t a = *(const int64_t *)first, b = *(const int64_t *)second;
    return (a < b) - (a > b);
}

/* Launchers start one process after the other. Late processes start after all others by more than it took to start
   these, which are at least half of all. A process that starts later waits less. */
static bool some_are_late(const struct finding_input *input)
{
    const struct analysis *analysis = input->analysis;
    size_t count = analysis->process_count;
    int64_t *waited_ns = memory_new(count * sizeof *waited_ns);
    double least_ns = START_SHARE * (double)analysis->duration;
    bool late = false;
    memcpy(waited_ns, analysis->waits[WAIT_AT_INIT].victims_ns, count * sizeof *waited_ns);
    qsort(waited_ns, count, sizeof *waited_ns, longest_first);
    /* Sorted by waiting, the first process started first: the waits are the starts, seen from the last one. A gap as
       long as all starts before it took is no launcher's. */
    for (size_t i = (count + 1) / 2; i < count && !late; i++) {
        double others_ns = (double)waited_ns[0] - (double)waited_ns[i - 1],
               later_ns = (double)waited_ns[i - 1] - (double)waited_ns[i];
        late = later_ns >= others_ns && later_ns >= least_ns;
    }
    free(waited_ns);
    return late;
}

/* From this part on waiting for a core explains the delay. */
static const double EXPLAINED = 0.5;

/* A busy machine starts processes late: the kernel counts how long each was ready to run and had no core since it
   began, so that the first reading, right after MPI_Init, has what it lost until then. True if that explains the late
   start of all that are to blame. */
static bool waited_for_cores(const struct finding_input *input, const struct finding *finding)
{
    const struct resources *resources = input->metrics->resources;
    double late_ns = (double)input->analysis->waits[WAIT_AT_INIT].longest_ns;
    size_t explained = 0;
    for (size_t i = 0; resources && i < resources->count; i++) {
        const struct process_resources *process = &resources->process[i];
        explained += is_among(process->rank, finding->causes.rank, finding->causes.count) &&
                     (double)process->first[RESOURCE_DELAY] >= EXPLAINED * late_ns;
    }
    return finding->causes.count > 0 && explained == finding->causes.count;
}

bool find_late_start(const struct finding_input *input, struct finding *finding)
{
    static const struct wait_words words = {
        WAIT_AT_INIT,
        "late start",
        "for the last process to start",
        "the last to start",
        "look at what the late processes do before MPI_Init (reading files), and whether they run on slow nodes",
        NULL};
    return find_waits(input, &words, finding) && some_are_late(input) && !waited_for_cores(input, finding);
}
