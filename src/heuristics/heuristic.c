/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/heuristic.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"good", "fair", "poor", "unknown"};
    return names[verdict];
}

enum verdict verdict_of(double share)
{
    double percent = share * 100;
    if (percent <= VERDICT_GOOD_PERCENT)
        return VERDICT_GOOD;
    if (percent <= VERDICT_FAIR_PERCENT)
        return VERDICT_FAIR;
    return VERDICT_POOR;
}

void result_say(struct heuristic_result *result, const char *format, ...)
{
    size_t used = strlen(result->analysis), room = sizeof result->analysis - used;
    va_list args;
    va_start(args, format);
    int blank = used > 0;
    int length = vsnprintf(result->analysis + used + blank, room - (size_t)blank, format, args);
    va_end(args);
    if (blank)
        result->analysis[used] = ' ';
    /* A sentence that does not fit is left out as a whole: half of one can say the opposite. */
    if (length < 0 || (size_t)length + (size_t)blank >= room)
        result->analysis[used] = '\0';
}

void result_suggest(struct heuristic_result *result, const char *format, ...)
{
    if (result->suggestion_count == HEURISTIC_SUGGESTIONS)
        return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(result->suggestions[result->suggestion_count], sizeof *result->suggestions, format, args);
    va_end(args);
    result->suggestion_count += length >= 0 && (size_t)length < sizeof *result->suggestions;
}

void result_detail(struct heuristic_result *result, const char *name, double value, bool is_time)
{
    if (result->detail_count < HEURISTIC_DETAILS)
        result->details[result->detail_count++] = (struct detail){name, value, is_time};
}

char *seconds_text(char *buffer, double seconds)
{
    /* 9e9 s is close to the largest int64 in ns; converting more is undefined. */
    return text_duration(buffer, seconds < 9e9 ? (int64_t)(seconds * 1e9 + 0.5) : INT64_MAX);
}
