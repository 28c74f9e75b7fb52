/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory.h"
#include "heuristics/heuristic.h"

#include <stdlib.h>
#include <string.h>

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
        results[i].master = -1; /* process 0 may be one */
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
