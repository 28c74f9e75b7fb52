/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/heuristic.h"

#include "heuristics/deviation.h"

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"good", "fair", "poor", "unknown"};
    return names[verdict];
}

static const struct heuristic heuristics[] = {
#define HEURISTIC(id, title, question, unit, function) {id, title, question, unit, function},
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
