/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding that processes do not get the cores they need. */
#include "heuristics/finding.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/efficiency.h"

#include <stdio.h>

/* It is evident if this share of all time is in calls that no network explains, and similar calls are prompt. */
enum { HELD_LEAST = 10, PROMPT_LEAST = 3 };
static const double HELD_SHARE = 0.05, PROMPT_SHARE = 0.02;

bool finding_shares_cores(const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    double all_ns = (double)working_duration_ns(metrics) * (double)metrics->process_count;
    return analysis->held_calls >= HELD_LEAST && analysis->prompt_calls >= PROMPT_LEAST &&
           (double)analysis->held >= HELD_SHARE * all_ns &&
           (double)analysis->prompt_calls >= PROMPT_SHARE * (double)analysis->small_calls;
}

bool find_oversubscription(const struct finding_input *input, struct finding *finding)
{
    const struct analysis *analysis = input->analysis;
    if (!finding_shares_cores(input->metrics))
        return false;
    double working_s = (double)working_duration_ns(input->metrics) / 1e9, held_s = (double)analysis->held / 1e9;
    char held[TEXT_NUMBER_SIZE], calls[TEXT_NUMBER_SIZE], each[TEXT_NUMBER_SIZE], prompt[TEXT_NUMBER_SIZE];
    finding->waiting_s = held_s;
    finding->saving_s = working_s * (1 - analysis->transfer);
    finding->to_s = (double)analysis->duration / 1e9;
    snprintf(finding->title, sizeof finding->title, "the processes share cores: more of them run than there are cores");
    snprintf(finding->text, sizeof finding->text,
             "%s calls that move 16 KiB at most take %s each after everything they need is there, %s in total; %s "
             "like them take microseconds, so it is not the network: processes that could go on do not get a core. "
             "Waits, transfer times and uneven computing follow from this.",
             text_thousands(calls, analysis->held_calls), seconds_text(each, held_s / (double)analysis->held_calls),
             seconds_text(held, held_s), text_thousands(prompt, analysis->prompt_calls));
    snprintf(finding->advice, sizeof finding->advice,
             "run no more processes than there are free cores, each bound to its own, and record again before changing "
             "the program");
    finding_evidence(finding, "held_calls", (double)analysis->held_calls, false);
    finding_evidence(finding, "prompt_calls", (double)analysis->prompt_calls, false);
    finding_evidence(finding, "small_calls", (double)analysis->small_calls, false);
    finding_evidence(finding, "transfer_efficiency", analysis->transfer, false);
    return true;
}

void finding_caveat(const struct finding_input *input, char caveat[FINDING_CAVEAT_SIZE])
{
    snprintf(caveat, FINDING_CAVEAT_SIZE, "%s",
             finding_shares_cores(input->metrics)
                 ? "The processes share cores: the times of this run are the machine's as much as the program's."
                 : "");
}
