/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/clock_sentence.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* A sentence of parts, each only where it applies: appending keeps within the buffer whatever they add up to. */
#define say(buffer, ...) text_append(buffer, CLOCK_SENTENCE_SIZE, __VA_ARGS__)

/* "29 of 207 messages arrive before they were sent, by up to 3.96 ms" */
static void say_early(char buffer[CLOCK_SENTENCE_SIZE], uint64_t early, uint64_t messages, int64_t error_ns, bool past)
{
    char count[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE], error[TEXT_NUMBER_SIZE];
    const char *word = text_plural(early, "arrives", "arrive");
    if (past)
        word = "arrived";
    say(buffer, "%s of %s messages %s before %s sent, by up to %s", text_thousands(count, early),
        text_thousands(all, messages), word, text_plural(early, "it was", "they were"), text_duration(error, error_ns));
}

/* Findings that are not reported are counted, so that nothing is left out without a word. */
static void say_unknown(char buffer[CLOCK_SENTENCE_SIZE], const struct findings *findings)
{
    char count[TEXT_NUMBER_SIZE];
    if (findings->below_clock > 0)
        say(buffer, " %s that would save less than the clock error %s not reported.",
            findings->below_clock == 1 ? "One finding" : text_thousands(count, findings->below_clock),
            text_plural(findings->below_clock, "is", "are"));
}

/* "The events of processes 4,6 were shifted by up to 4.00 ms." */
static void say_moved(char buffer[CLOCK_SENTENCE_SIZE], const struct metrics *metrics)
{
    const struct analysis *analysis = metrics->analysis;
    struct ranks moved = {memory_new(metrics->process_count * sizeof *moved.rank), 0};
    char who[WHO_SIZE], shift[TEXT_NUMBER_SIZE];
    /* The largest shift alone would not say whose times are no longer those of the file. */
    for (size_t i = 0; i < metrics->process_count; i++)
        if (analysis->clock_shift_ns[i] > 0)
            moved.rank[moved.count++] = metrics->process[i].rank;
    who_text(who, &moved, metrics->process_count);
    say(buffer, " The events of %s were shifted by up to %s.", who, text_duration(shift, analysis->clock_shift));
    free(moved.rank);
}

static void say_roots(char buffer[CLOCK_SENTENCE_SIZE], const struct analysis *analysis)
{
    /* A chain of causes follows messages: where many of them are out of order, so is the chain. */
    if (!finding_roots_known(analysis))
        say(buffer, " More than 0.1 %% of messages are affected, so root causes are not reported.");
}

static void say_uncertain(char buffer[CLOCK_SENTENCE_SIZE], const struct analysis *analysis)
{
    char bent[TEXT_NUMBER_SIZE], median[TEXT_NUMBER_SIZE];
    /* What the logical clock adds is no measurement: waits about as long as it may be its work. */
    if (finding_waits_uncertain(analysis))
        say(buffer,
            " Waits are uncertain: the logical clock shifted events by up to another %s, while the median wait is %s.",
            text_duration(bent, analysis->clock_bent), text_duration(median, analysis->median_wait));
}

static void say_fixed(char buffer[CLOCK_SENTENCE_SIZE], const struct metrics *metrics, const struct findings *findings)
{
    const struct analysis *analysis = metrics->analysis;
    char rest[TEXT_NUMBER_SIZE];
    if (analysis->clock_shift == 0) {
        const char *why = "cannot be corrected, there are no messages";
        if (analysis->messages > 0)
            why = "nothing to correct, no message arrives before it was sent";
        say(buffer, "Clocks: %s.", why);
        return;
    }
    say(buffer, "Clocks were corrected: ");
    /* Without an early message only collectives can have shown that clocks differ. */
    if (analysis->early_recorded > 0)
        say_early(buffer, analysis->early_recorded, analysis->messages, analysis->clock_error_recorded, true);
    else
        say(buffer, "processes left collectives before all had entered them");
    if (analysis->early == 0) {
        say(buffer, "; now none %s.", analysis->early_recorded > 0 ? "does" : "is");
    } else {
        say(buffer, "; now ");
        say_early(buffer, analysis->early, analysis->messages, analysis->clock_error, false);
        say(buffer, ".");
        say_roots(buffer, analysis);
    }
    say_moved(buffer, metrics);
    /* What a straight line cannot correct is an error of every time, so savings below it mean nothing. */
    if (analysis->clock_rest > 0) {
        say(buffer, " Correcting offset and drift left errors of up to %s.", text_duration(rest, analysis->clock_rest));
        say_unknown(buffer, findings);
    }
    say_uncertain(buffer, analysis);
}

char *clock_sentence(char buffer[CLOCK_SENTENCE_SIZE], const struct metrics *metrics, const struct findings *findings)
{
    const struct analysis *analysis = metrics->analysis;
    buffer[0] = '\0';
    /* Numbers by row belong to the processes that were analysed, which may be others than these. */
    if (!analysis || analysis->process_count != metrics->process_count)
        return buffer;
    if (analysis->clocks_fixed) {
        say_fixed(buffer, metrics, findings);
    } else if (analysis->early > 0) {
        say(buffer, "Clocks: ");
        say_early(buffer, analysis->early, analysis->messages, analysis->clock_error, false);
        say(buffer, "; waits are computed from the recorded times.");
        say_unknown(buffer, findings);
        say_roots(buffer, analysis);
        say(buffer, " Try --fix-clocks.");
    }
    return buffer;
}

char *clock_note(char buffer[CLOCK_NOTE_SIZE], const struct timeline_info *info, const struct timeline_overlay *overlay)
{
    char time[TEXT_NUMBER_SIZE];
    buffer[0] = '\0';
    /* The advice to correct comes last: after a correction it is left out. */
    if (info->clocks.fixed && info->clocks.shift_ns == 0)
        snprintf(buffer, CLOCK_NOTE_SIZE, "clocks: nothing to correct");
    else if (info->clocks.fixed)
        snprintf(buffer, CLOCK_NOTE_SIZE, "clocks corrected by up to %s", text_duration(time, info->clocks.shift_ns));
    else if (overlay && overlay->early > 0)
        snprintf(buffer, CLOCK_NOTE_SIZE, "clock errors of up to %s (try --fix-clocks)",
                 text_duration(time, overlay->clock_error_ns));
    return buffer;
}
