/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/question_metrics.h"

#include "core/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)METRIC_COUNT + (int)QUESTION_METRICS <= UINT8_MAX,
               "a step of an expression has 8 bits for a metric");

static const char counter_word[] = "counter(";

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[length]) || at[length] == '_'))
            return true;
    }
    return false;
}

bool question_names_counters(const char *text, const struct definitions *own)
{
    struct error err = {0};
    if (strstr(text, counter_word) || (own && own->counter_count > 0))
        return true;
    struct definitions *formulas = formulas_read(NULL, &err);
    bool named = false;
    for (size_t i = 0; formulas && i < formulas->count && !named; i++)
        named = has_word(text, formulas->list[i].name);
    definitions_free(formulas);
    return named;
}

/* How the text calls a counter of the trace, with a length; NULL: it does not. */
static const char *find_counter(const char *text, const char *name, size_t *length)
{
    for (const char *at = strstr(text, counter_word); at; at = strstr(at + 1, counter_word)) {
        const char *from = at + strlen(counter_word);
        *length = strcspn(from, ")");
        if (from[*length] == ')' && *length > 0 && counter_is_called(name, from, *length))
            return from;
    }
    return NULL;
}

/* Times are s, sizes bytes, everything else is counted. */
static struct counter_name counter_of(const struct counter_info *info, const char *word, size_t length)
{
    struct counter_name counter = {.name = memory_new(length + 1), .each = 1, .unit = {0, 0, 1}};
    memcpy(counter.name, word, length);
    if (strcmp(info->unit, "ns") == 0) {
        counter.each = 1e-9;
        counter.unit = (struct search_unit){1, 0, 0};
    } else if (strcmp(info->unit, "B") == 0) {
        counter.unit = (struct search_unit){0, 1, 0};
    }
    return counter;
}

static struct definition definition_of(const struct counter_name *counter, size_t number)
{
    struct definition definition = {.title = memory_copy_string(counter->name), .limits = {NAN, NAN}};
    char *name = NULL;
    if (asprintf(&name, "counter(%s)", counter->name) < 0)
        name = memory_copy_string("counter()");
    definition.name = name;
    definition.base.count = 1;
    definition.base.steps[0] = (struct expression_step){.op = 'm', .metric = (uint8_t)(METRIC_COUNT + number)};
    definition.base.unit = counter->unit;
    return definition;
}

/* A metric for each counter that the text names. */
static struct definitions *plain_of(const char *text, const struct counters *counters, size_t **found)
{
    struct definitions *plain = memory_new(sizeof *plain);
    size_t capacity = 0, count = 0;
    *found = NULL;
    for (size_t i = 0; counters && i < counters->count; i++) {
        size_t length;
        const char *word = find_counter(text, counters->counter[i].name, &length);
        if (!word || plain->counter_count == METER_COUNTERS)
            continue;
        struct counter_name counter = counter_of(&counters->counter[i], word, length);
        ARRAY_PUSH(plain->list, plain->count, plain->capacity, definition_of(&counter, plain->counter_count));
        ARRAY_PUSH(plain->counters, plain->counter_count, plain->counter_capacity, counter);
        ARRAY_PUSH(*found, count, capacity, i);
    }
    return plain;
}

static void add_file(struct question_metrics *metrics, struct metric_file *file)
{
    const struct definitions *definitions = file->definitions;
    if (!definitions)
        return;
    if (!file->found && metrics->counters)
        file->found = formulas_find(definitions, metrics->counters);
    for (size_t i = 0; i < definitions->count && metrics->names.count < QUESTION_METRICS; i++) {
        size_t at = metrics->names.count++;
        const struct definition *definition = &definitions->list[i];
        metrics->names.list[at] = (struct expression_name){definition->name, definition->base.unit};
        metrics->list[at] = (struct question_metric){definition, file};
    }
}

struct question_metrics *question_metrics_of(const char *text, const struct definitions *own,
                                             const struct definitions *formulas, const struct counters *counters)
{
    struct question_metrics *metrics = memory_new(sizeof *metrics);
    metrics->counters = counters;
    metrics->names.list = memory_new(QUESTION_METRICS * sizeof *metrics->names.list);
    metrics->list = memory_new(QUESTION_METRICS * sizeof *metrics->list);
    metrics->slots = memory_new(counters ? counters->count : 0);
    metrics->own.definitions = own;
    metrics->known.definitions = formulas;
    metrics->plain.definitions = plain_of(text, counters, &metrics->plain.found);
    /* The user's first: of equal names it is theirs. */
    add_file(metrics, &metrics->own);
    add_file(metrics, &metrics->plain);
    add_file(metrics, &metrics->known);
    return metrics;
}

void question_metrics_free(struct question_metrics *metrics)
{
    if (!metrics)
        return;
    definitions_free((struct definitions *)(uintptr_t)metrics->plain.definitions);
    free(metrics->own.found);
    free(metrics->plain.found);
    free(metrics->known.found);
    free(metrics->names.list);
    free(metrics->list);
    free(metrics->slots);
    free(metrics);
}

/* The counter of the trace that a step of a base names; SIZE_MAX: none. */
static size_t counter_at(const struct question_metric *metric, const struct expression_step *step)
{
    if (step->op != 'm' || step->metric < METRIC_COUNT || !metric->file->found)
        return SIZE_MAX;
    return metric->file->found[step->metric - METRIC_COUNT];
}

bool question_metrics_use(struct question_metrics *metrics, size_t which)
{
    const struct question_metric *metric = &metrics->list[which];
    for (size_t i = 0; i < metric->definition->base.count; i++) {
        size_t counter = counter_at(metric, &metric->definition->base.steps[i]);
        if (counter == SIZE_MAX || metrics->slots[counter] > 0)
            continue;
        if (metrics->slot_count == METER_COUNTERS)
            return false;
        metrics->slots[counter] = (uint8_t)++metrics->slot_count;
    }
    return true;
}

void question_metrics_values(const struct question_metrics *metrics, size_t which, const struct cube_cell *cell,
                             double *values)
{
    const struct question_metric *metric = &metrics->list[which];
    bool first = true;
    for (size_t i = 0; i < metric->definition->base.count; i++) {
        const struct expression_step *step = &metric->definition->base.steps[i];
        if (step->op != 'm' || step->metric < METRIC_COUNT)
            continue;
        size_t counter = counter_at(metric, step), number = step->metric - METRIC_COUNT;
        struct counter_amount amount = {0};
        if (counter != SIZE_MAX && cell->counters)
            amount = cell->counters[metrics->slots[counter] - 1];
        values[step->metric] = NAN;
        if (counter != SIZE_MAX)
            values[step->metric] = metric->file->definitions->counters[number].each *
                                   counter_amount_value(&amount, &metrics->counters->counter[counter]);
        /* As in formulas: the time between the readings of the first counter. */
        if (first)
            values[METRIC_time] = amount.known ? (double)amount.ns / 1e9 : NAN;
        first = false;
    }
}
