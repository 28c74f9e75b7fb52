/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/recording_lacks.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool recording_is_elsewhere(const struct record_summary *summary)
{
    return summary->several_hosts && summary->processes < summary->declared;
}

/* What a sample lacks without having been left out by choice. */
static void report_sample(const struct record_summary *summary)
{
    if (summary->lost_definitions > 0)
        fprintf(stderr,
                "sight: incomplete: --max-size has no room for %" PRIu64 " definition%s: %" PRIu64 " calls and %" PRIu64
                " messages of the sample are left out\n",
                summary->lost_definitions, text_plural(summary->lost_definitions, "", "s"), summary->lost_calls,
                summary->lost_messages);
}

/* Not notes, which -q hides: an incomplete trace must not be taken for a whole one. */
void recording_report_lacks(const struct record_summary *summary)
{
    if (summary->processes < summary->declared)
        fprintf(stderr, "sight: incomplete: %u of %u processes have no recording\n",
                summary->declared - summary->processes, summary->declared);
    if (summary->unfinished > 0)
        fprintf(stderr, "sight: incomplete: %u of %u processes did not reach MPI_Finalize\n", summary->unfinished,
                summary->processes);
    if (summary->disk_full)
        fprintf(stderr, "sight: incomplete: the disk was full; marks in the trace show since when\n");
    if (summary->file_lost)
        fprintf(stderr, "sight: incomplete: the program closed files of the recorder; marks in the trace say from when "
                        "on\n");
    if (summary->file_limit)
        fprintf(stderr,
                "sight: incomplete: files have reached the size limit (ulimit -f); marks in the trace show since "
                "when\n");
    if (summary->lost_threads > 0)
        fprintf(stderr, "sight: incomplete: %u thread%s could not be recorded: %s\n", summary->lost_threads,
                text_plural(summary->lost_threads, "", "s"), strerror(summary->lost_reason));
    if (summary->limited)
        fprintf(stderr, "sight: incomplete: --max-events was reached; marks in the trace show since when\n");
    report_sample(summary);
    if (summary->foreign > 0)
        fprintf(stderr, "sight: %" PRIu64 " message%s to or from other MPI programs %s left out\n", summary->foreign,
                text_plural(summary->foreign, "", "s"), text_plural(summary->foreign, "is", "are"));
}

void recording_report_failed(const struct recordings *recordings)
{
    if (recordings->failed > 0 && recordings->file_count > 0)
        fprintf(stderr, "sight: incomplete: %zu process%s or threads could not be recorded: %s\n", recordings->failed,
                text_plural(recordings->failed, "", "es"), strerror(recordings->failed_reason));
}
