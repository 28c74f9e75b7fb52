/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/facts.h"

#include "core/property.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static bool calls(const struct metrics *metrics, const struct process_row *row, const char *function)
{
    /* By name: states are numbered by their trace, and no number stands for MPI_Init in all of them. */
    for (size_t i = 0; i < row->function_count; i++)
        if (strcmp(metrics->defs->states[row->functions[i].state].name, function) == 0)
            return true;
    return false;
}

/* Processes that begin MPI, but do not come to its end. Of a window that is not known; MPE records neither. */
static size_t unfinished(const struct metrics *metrics)
{
    size_t count = 0;
    bool whole = metrics->analysis || metrics->early;
    for (size_t i = 0; whole && i < metrics->process_count; i++) {
        const struct process_row *row = &metrics->process[i];
        bool begins = calls(metrics, row, "MPI_Init") || calls(metrics, row, "MPI_Init_thread");
        bool sessions = calls(metrics, row, "MPI_Session_init");
        count += (begins && !calls(metrics, row, "MPI_Finalize")) ||
                 (sessions && !calls(metrics, row, "MPI_Session_finalize"));
    }
    return count;
}

/* How the run ended, and whether all of it is there. */
static void end_text(char text[FACTS_SIZE], const struct metrics *metrics)
{
    size_t without = unfinished(metrics);
    /* How a run ends is said by its calls: a trace has no record of its own for it. */
    bool aborted = false;
    /* MPI_Abort ends all processes, so one that called it is enough. */
    for (size_t i = 0; i < metrics->process_count && !aborted; i++)
        aborted = calls(metrics, &metrics->process[i], "MPI_Abort");
    /* What is missing from the file explains more than how the processes ended: it comes first. */
    if (!metrics->end.complete)
        snprintf(text, FACTS_SIZE, "incomplete");
    else if (aborted)
        snprintf(text, FACTS_SIZE, "ended by MPI_Abort");
    else if (without > 0 && without == metrics->process_count)
        snprintf(text, FACTS_SIZE, "all without MPI_Finalize");
    else if (without > 0)
        snprintf(text, FACTS_SIZE, "%s without MPI_Finalize", text_number(without).text);
    else
        snprintf(text, FACTS_SIZE, "complete");
}

char *facts_text(char line[FACTS_SIZE], const struct metrics *metrics)
{
    char duration[TEXT_NUMBER_SIZE], end[FACTS_SIZE];
    end_text(end, metrics);
    snprintf(line, FACTS_SIZE, "%s process%s, %s, %s event%s, %.60s", text_number(metrics->processes).text,
             text_plural(metrics->processes, "", "es"),
             text_duration(duration, time_since(metrics->begin_ns, metrics->end_ns)), text_number(metrics->events).text,
             text_plural(metrics->events, "", "s"), end);
    return line;
}

char *sample_sentence(char buffer[SAMPLE_SENTENCE_SIZE], const struct defs *defs)
{
    const char *kept = property_find(&defs->properties, PROPERTY_KEPT);
    *buffer = '\0';
    /* A run that was short enough is there as a whole. */
    if (kept && *kept >= '0' && *kept <= '9')
        snprintf(buffer, SAMPLE_SENTENCE_SIZE,
                 "Judged from a sample, in which time stands still where something is left out: %s (sight metrics).",
                 kept);
    return buffer;
}
