/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/facts.h"

#include "core/text.h"

#include <stdio.h>

char *facts_text(char line[FACTS_SIZE], const struct metrics *metrics)
{
    char processes[TEXT_NUMBER_SIZE], duration[TEXT_NUMBER_SIZE], events[TEXT_NUMBER_SIZE];
    snprintf(line, FACTS_SIZE, "%s process%s, %s, %s event%s, %s", text_thousands(processes, metrics->processes),
             metrics->processes == 1 ? "" : "es",
             text_duration(duration, time_since(metrics->begin_ns, metrics->end_ns)),
             text_thousands(events, metrics->events), metrics->events == 1 ? "" : "s",
             metrics->end.complete ? "complete" : "incomplete");
    return line;
}
