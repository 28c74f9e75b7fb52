/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that processes come late to MPI_Init, or leave it late. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "heuristics/efficiency.h"
#include "heuristics/wait_words.h"
#include "metrics/process_resources.h"

#include <stdio.h>
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
   start of all these. */
static bool waited_for_cores(const struct finding_input *input, const struct ranks *late, double late_ns)
{
    const struct resources *resources = input->metrics->resources;
    size_t explained = 0;
    for (size_t i = 0; resources && i < resources->count; i++) {
        const struct process_resources *process = &resources->process[i];
        explained += is_among(process->rank, late->rank, late->count) &&
                     (double)process->first[RESOURCE_DELAY] >= EXPLAINED * late_ns;
    }
    return late->count > 0 && explained == late->count;
}

struct start {
    int64_t left_ns; /* when it has left MPI_Init */
    size_t row;
};

static int first_left(const void *first, const void *second)
{
    const struct start *a = first, *b = second;
    return order_by(a->left_ns, b->left_ns);
}

static struct start *starts_of(const struct metrics *metrics)
{
    struct start *starts = memory_new(metrics->process_count * sizeof *starts);
    for (size_t i = 0; i < metrics->process_count; i++)
        starts[i] = (struct start){started_ns(metrics, &metrics->process[i]), i};
    qsort(starts, metrics->process_count, sizeof *starts, first_left);
    return starts;
}

/* It began to start MPI before any other had done so: spawned processes do not. */
static bool began_with_others(const struct metrics *metrics, const struct start *start, const struct start *first)
{
    const struct process_row *row = &metrics->process[start->row];
    return start->left_ns > row->begin_ns && row->begin_ns < first->left_ns;
}

/* How long others wait for the process: at least as long as if all waited at once, where more is not known. */
static int64_t waited_for_ns(const struct analysis *analysis, size_t row)
{
    int64_t all_ns = 0;
    for (int kind = WAIT_NONE + 1; kind < WAIT_CAUSED_COUNT; kind++)
        if (kind != WAIT_AT_INIT && kind != WAIT_AT_FINALIZE)
            time_add(&all_ns, analysis->waits[kind].causes_ns[row]);
    return larger(analysis->waited_for_ns[row], all_ns / (int64_t)(analysis->process_count - 1));
}

bool finding_leaves_start_late(const struct finding_input *input, struct late_start *late)
{
    const struct metrics *metrics = input->metrics;
    size_t count = metrics->process_count;
    *late = (struct late_start){0};
    if (count < 2)
        return false;
    struct start *starts = starts_of(metrics), *last = &starts[count - 1];
    int64_t others_ns = time_since(starts[0].left_ns, starts[count - 2].left_ns),
            later_ns = time_since(starts[count - 2].left_ns, last->left_ns),
            waited_ns = waited_for_ns(input->analysis, last->row);
    late->row = last->row;
    late->from_ns = time_since(metrics->begin_ns, starts[0].left_ns);
    late->others_ns = time_since(metrics->begin_ns, starts[count - 2].left_ns);
    late->later_ns = later_ns;
    /* They may have had something else to do. */
    late->saving_ns = smaller(later_ns, waited_ns);
    bool is_late = later_ns >= others_ns &&
                   (double)late->saving_ns >= START_SHARE * (double)input->analysis->duration &&
                   began_with_others(metrics, last, &starts[0]);
    free(starts);
    uint32_t rank = metrics->process[late->row].rank;
    late->by_cores = is_late && waited_for_cores(input, &(struct ranks){&rank, 1}, (double)later_ns);
    return is_late;
}

/* One process stays in MPI_Init, and the others wait for it in the first calls that need it. */
static bool find_late_leave(const struct finding_input *input, struct finding *finding)
{
    const struct metrics *metrics = input->metrics;
    struct late_start late;
    char rank[TEXT_NUMBER_SIZE], later[TEXT_NUMBER_SIZE], others[TEXT_NUMBER_SIZE];
    if (!finding_leaves_start_late(input, &late) || late.by_cores)
        return false;
    finding->causes = (struct ranks){memory_new(sizeof *finding->causes.rank), 1};
    finding->causes.rank[0] = metrics->process[late.row].rank;
    finding->saving_s = (double)late.saving_ns / 1e9;
    finding->waiting_s = finding->saving_s * (double)(metrics->process_count - 1);
    finding->from_s = (double)late.from_ns / 1e9;
    finding->to_s = (double)(late.others_ns + late.later_ns) / 1e9;
    text_thousands(rank, metrics->process[late.row].rank);
    text_duration(later, late.later_ns);
    snprintf(finding->title, sizeof finding->title, "late start: process %s leaves MPI_Init %s after the others", rank,
             later);
    snprintf(finding->text, sizeof finding->text,
             "The others have left MPI_Init after %s, and wait for process %s in the first calls that need it.",
             text_duration(others, late.others_ns), rank);
    snprintf(finding->advice, sizeof finding->advice,
             "see whether that is so in each run; if it is, what keeps the process in MPI_Init: a slow or busy node, "
             "its network, or the file system that its libraries are on");
    return true;
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
    double longest_ns = (double)input->analysis->waits[WAIT_AT_INIT].longest_ns;
    if (find_waits(input, &words, finding) && some_are_late(input) &&
        !waited_for_cores(input, &finding->causes, longest_ns))
        return true;
    free(finding->victims.rank);
    free(finding->causes.rank);
    *finding = (struct finding){.kind = finding->kind, .id = finding->id};
    return find_late_leave(input, finding);
}
