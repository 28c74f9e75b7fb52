/* SPDX-License-Identifier: BSD-3-Clause */
#include "heuristics/glossary.h"

#include "heuristics/heuristic.h"

#include <stdbool.h>

enum group {
#define GROUP(group, ...) GROUP_##group,
#include "heuristics/glossary.def"
};

static const struct term_group groups[] = {
#define GROUP(group, title, shown) {title, shown},
#include "heuristics/glossary.def"
};

static const struct term_group heuristics = {"Heuristics", "sight heuristics"};

static const struct term terms[] = {
#define TERM(group, name, unit, meaning, formula, source)                                                              \
    {&groups[GROUP_##group], name, unit, meaning, formula, source},
#include "heuristics/glossary.def"
};
enum { TERMS = sizeof terms / sizeof *terms };

size_t glossary_count(void)
{
    return TERMS + heuristic_count();
}

struct term glossary_at(size_t index)
{
    if (index < TERMS)
        return terms[index];
    const struct heuristic *heuristic = heuristic_at(index - TERMS);
    return (struct term){.group = &heuristics,
                         .name = heuristic->id,
                         .unit = *heuristic->unit ? heuristic->unit : "share",
                         .meaning = heuristic->question,
                         .formula = heuristic->formula,
                         .source = heuristic->source};
}

static char without_dash(char letter)
{
    return letter == '-' ? '_' : letter;
}

/* JSON and CSV write names with '_', options and ids with '-': a reader may look up either. */
static bool same_name(const char *left, const char *right)
{
    for (; *left && *right; left++, right++)
        if (without_dash(*left) != without_dash(*right))
            return false;
    return *left == *right;
}

size_t glossary_find(const char *name, size_t from)
{
    while (from < glossary_count() && !same_name(glossary_at(from).name, name))
        from++;
    return from;
}
