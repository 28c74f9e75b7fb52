/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/heuristic.h"

#include "core/memory.h"
#include "core/text.h"
#include "heuristics/communication_overhead.h"
#include "heuristics/contention.h"
#include "heuristics/deviation.h"
#include "heuristics/locator.h"

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
    return percent <= VERDICT_GOOD_PERCENT   ? VERDICT_GOOD
           : percent <= VERDICT_FAIR_PERCENT ? VERDICT_FAIR
                                             : VERDICT_POOR;
}

static const struct heuristic heuristics[] = {
#define HEURISTIC(id, title, question, unit, formula, source, function)                                                \
    {id, title, question, unit, formula, source, function},
#include "heuristics/heuristics.def"
};

size_t heuristic_count(void)
{
    return sizeof heuristics / sizeof *heuristics;
}

const struct heuristic *heuristic_at(size_t index)
{
    return &heuristics[index];
}

struct heuristic_result *heuristics_judge(const struct metrics *metrics)
{
    struct heuristic_result *results = memory_new(heuristic_count() * sizeof *results);
    for (size_t i = 0; i < heuristic_count(); i++) {
        results[i].master = -1;
        heuristics[i].judge(metrics, &results[i]);
    }
    return results;
}

void heuristics_free(struct heuristic_result *results)
{
    for (size_t i = 0; results && i < heuristic_count(); i++)
        free(results[i].cells);
    free(results);
}

const struct heuristic_result *heuristics_find(const struct heuristic_result *results, const char *id)
{
    for (size_t i = 0; i < heuristic_count(); i++)
        if (strcmp(heuristics[i].id, id) == 0)
            return &results[i];
    return NULL;
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
    if (length < 0 || (size_t)(length + blank) >= room)
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
    return text_duration(buffer, seconds < 9e9 ? (int64_t)(seconds * 1e9 + 0.5) : INT64_MAX);
}
