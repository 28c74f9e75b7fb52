/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/definitions.h"

#include "core/memory.h"
#include "search/word_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)METRIC_COUNT + (int)DEFINITIONS_MOST <= UINT8_MAX,
               "a step of an expression has 8 bits for a metric");

static struct definition *current(const struct word_file *file)
{
    /* Keywords belong to the metric above them. */
    const struct definitions *all = file->context;
    return all->count > 0 ? &all->list[all->count - 1] : NULL;
}

static struct counter_name *current_counter(const struct word_file *file)
{
    const struct definitions *all = file->context;
    return &all->counters[all->counter_count - 1];
}

/* A metric is complete when the next begins, or the file ends. */
static enum status finish(struct word_file *file)
{
    struct definition *last = current(file);
    if (!last)
        return STATUS_OK;
    if (last->base.count == 0)
        return error_set(file->err, ERROR_USAGE, "%s: metric '%s' has no base", last->where, last->name);
    /* The base has a unit by its formula: one that is given as well must agree with it. */
    struct search_unit unit = last->base.unit;
    if (last->has_unit &&
        (last->unit.seconds != unit.seconds || last->unit.bytes != unit.bytes || last->unit.counts != unit.counts))
        return error_set(file->err, ERROR_USAGE,
                         "%s: metric '%s': the base has another unit than the one that is given", last->where,
                         last->name);
    /* A metric without a title is shown by its name. */
    if (!last->title)
        last->title = memory_copy_string(last->name);
    return STATUS_OK;
}

static enum status take_metric(struct word_file *file, const char *value)
{
    struct definitions *all = file->context;
    size_t length = strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_");
    all->in_counter = false;
    /* Names are those of columns and of JSON: no capitals, no blanks. */
    if (length == 0 || length > WORD_NAME_MOST || value[length] || *value < 'a')
        return word_file_fault(file, "a name is up to 40 characters a-z, 0-9 and _, and begins with a letter, not",
                               value);
    if (metric_find(value, length) != METRIC_COUNT || strcmp(value, "max") == 0 || strcmp(value, "min") == 0)
        return word_file_fault(file, "sight has a metric of this name:", value);
    /* A second metric of the name would hide the first without a word. */
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, value) == 0)
            return word_file_fault(file, "there is already a metric", value);
    if (all->count == DEFINITIONS_MOST)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d metrics", file->where, DEFINITIONS_MOST);
    if (finish(file) != STATUS_OK)
        return STATUS_FAILED;
    /* The place in the file is kept: a constraint is only understood when a trace is there. */
    struct definition definition = {.name = memory_copy_string(value), .limits = {NAN, NAN}};
    snprintf(definition.where, sizeof definition.where, "%s", file->where);
    ARRAY_PUSH(all->list, all->count, all->capacity, definition);
    return STATUS_OK;
}

static enum status take_title(struct word_file *file, const char *value)
{
    free(current(file)->title);
    current(file)->title = memory_copy_string(value);
    return STATUS_OK;
}

/* "s", "bytes/s", "count", "1", "%": factors with * and / between them. */
static enum status parse_unit(struct word_file *file, const char *value, struct search_unit *unit, bool *percent)
{
    *unit = (struct search_unit){0};
    /* Powers add up: after "/" they count below the line. */
    int sign = 1;
    /* More factors than any unit needs, and than an int8_t holds. */
    if (strlen(value) > 30)
        return word_file_fault(file, "a unit of more than 30 letters:", value);
    for (const char *at = value;;) {
        size_t length = strcspn(at, "*/ \t");
        if (length == 1 && *at == 's')
            unit->seconds = (int8_t)(unit->seconds + sign);
        else if (length == 5 && memcmp(at, "bytes", 5) == 0)
            unit->bytes = (int8_t)(unit->bytes + sign);
        else if (length == 5 && memcmp(at, "count", 5) == 0)
            unit->counts = (int8_t)(unit->counts + sign);
        else if (length == 1 && *at == '%' && percent)
            *percent = true;
        else if (length != 1 || *at != '1')
            return word_file_fault(file, "a unit is s, bytes, count, 1 or %, or several with * or /, not", at);
        at += length;
        at += strspn(at, " \t");
        if (!*at)
            return STATUS_OK;
        if (*at != '*' && *at != '/')
            return word_file_fault(file, "units are joined by * or /, not by", at);
        sign = *at == '/' ? -1 : 1;
        at++;
        at += strspn(at, " \t");
    }
}

static enum status take_unit(struct word_file *file, const char *value)
{
    struct definition *definition = current(file);
    definition->has_unit = true;
    return parse_unit(file, value, &definition->unit, &definition->percent);
}

static struct expression_names counter_names(const struct definitions *all)
{
    struct expression_names names = {.count = all->counter_count};
    names.list = memory_new(names.count * sizeof *names.list);
    for (size_t i = 0; i < names.count; i++)
        names.list[i] = (struct expression_name){all->counters[i].name, all->counters[i].unit};
    return names;
}

static enum status take_base(struct word_file *file, const char *value)
{
    struct expression_names names = counter_names(file->context);
    enum status status = expression_parse(&current(file)->base, value, &names, file->where, file->err);
    free(names.list);
    return status;
}

static enum status take_aggregate(struct word_file *file, const char *value)
{
    static const char *const words[] = {
        [AGGREGATE_SUM] = "sum", [AGGREGATE_MEAN] = "mean", [AGGREGATE_MIN] = "min", [AGGREGATE_MAX] = "max"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], value) == 0) {
            current(file)->aggregate = (enum aggregate)i;
            return STATUS_OK;
        }
    return word_file_fault(file, "values of processes become one by sum, mean, min or max, not by", value);
}

static enum status take_constraint(struct word_file *file, const char *value)
{
    /* A constraint narrows one metric: rows are what the question asks for. */
    if (*value != '/' || strchr(value, '*') || strchr(value, '@'))
        return word_file_fault(file, "a constraint is paths as /Code/p2p without * and @, not", value);
    free(current(file)->constraint);
    current(file)->constraint = memory_copy_string(value);
    return STATUS_OK;
}

static enum status take_limit(struct word_file *file, const char *value, size_t which)
{
    char *end;
    double limit = strtod(value, &end);
    end += strspn(end, " \t");
    /* "20 %" and 0.2 are the same limit. */
    bool percent = strcmp(end, "%") == 0;
    if (end == value || (*end && !percent) || !isfinite(limit))
        return word_file_fault(file, "not a number or a percentage:", value);
    current(file)->limits[which] = percent ? limit / 100 : limit;
    return STATUS_OK;
}

static enum status take_fair(struct word_file *file, const char *value)
{
    return take_limit(file, value, 0);
}

static enum status take_poor(struct word_file *file, const char *value)
{
    return take_limit(file, value, 1);
}

static enum status take_better(struct word_file *file, const char *value)
{
    current(file)->higher = strcmp(value, "higher") == 0;
    if (!current(file)->higher && strcmp(value, "lower") != 0)
        return word_file_fault(file, "values are better higher or lower, not", value);
    return STATUS_OK;
}

static enum status take_counter(struct word_file *file, const char *value)
{
    struct definitions *all = file->context;
    size_t length = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    /* As expressions know names; capitals are PAPI's. */
    if (length == 0 || length > WORD_NAME_MOST || value[length] || !isalpha((unsigned char)*value))
        return word_file_fault(
            file, "a counter is up to 40 characters a-z, A-Z, 0-9 and _, and begins with a letter, not", value);
    if (metric_find(value, length) != METRIC_COUNT || strcmp(value, "max") == 0 || strcmp(value, "min") == 0)
        return word_file_fault(file, "sight has a metric of this name:", value);
    for (size_t i = 0; i < all->counter_count; i++)
        if (strcmp(all->counters[i].name, value) == 0)
            return word_file_fault(file, "there is already a counter", value);
    if (all->counter_count == DEFINITIONS_MOST)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d counters", file->where, DEFINITIONS_MOST);
    struct counter_name counter = {.name = memory_copy_string(value), .each = 1, .unit = {.counts = 1}};
    snprintf(counter.where, sizeof counter.where, "%s", file->where);
    ARRAY_PUSH(all->counters, all->counter_count, all->counter_capacity, counter);
    all->in_counter = true;
    return STATUS_OK;
}

static enum status take_spelled(struct word_file *file, const char *value)
{
    struct counter_name *counter = current_counter(file);
    if (counter->spellings == COUNTER_SPELLINGS)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d spellings", file->where, COUNTER_SPELLINGS);
    counter->spelled[counter->spellings++] = memory_copy_string(value);
    return STATUS_OK;
}

/* "64 bytes": one of the counter is so many of a unit. */
static enum status take_each(struct word_file *file, const char *value)
{
    struct counter_name *counter = current_counter(file);
    char *end;
    counter->each = strtod(value, &end);
    if (end == value || !isfinite(counter->each) || counter->each <= 0)
        return word_file_fault(file, "not a number and a unit, as 64 bytes:", value);
    end += strspn(end, " \t");
    return parse_unit(file, end, &counter->unit, NULL);
}

static enum status take_wraps(struct word_file *file, const char *value)
{
    char *end;
    double wraps = strtod(value, &end);
    if (*end || !(wraps > 0) || !isfinite(wraps))
        return word_file_fault(file, "not a number above 0:", value);
    current_counter(file)->wraps = wraps;
    return STATUS_OK;
}

static enum status take_mode(struct word_file *file, const char *value)
{
    current_counter(file)->mode = counter_mode_find(value);
    if (!current_counter(file)->mode)
        return word_file_fault(file, "values are accumulated, absolute or relative, not", value);
    return STATUS_OK;
}

struct keyword {
    const char *name;
    enum status (*take)(struct word_file *file, const char *value);
};

/* The first of each table begins a block, to which the others belong. */
static const struct keyword metric_words[] = {{"metric", take_metric},       {"title", take_title},
                                              {"unit", take_unit},           {"base", take_base},
                                              {"aggregate", take_aggregate}, {"constraint", take_constraint},
                                              {"better", take_better},       {"fair", take_fair},
                                              {"poor", take_poor},           {NULL, NULL}};
static const struct keyword counter_words[] = {{"counter", take_counter}, {"spelled", take_spelled},
                                               {"each", take_each},       {"wraps", take_wraps},
                                               {"mode", take_mode},       {NULL, NULL}};

static const struct keyword *keyword_of(const struct keyword *words, const char *word)
{
    while (words->name && strcmp(words->name, word) != 0)
        words++;
    return words->name ? words : NULL;
}

static enum status take_word(struct word_file *file, const char *word, const char *value)
{
    const struct definitions *all = file->context;
    const struct keyword *of_metric = keyword_of(metric_words, word), *of_counter = keyword_of(counter_words, word);
    const struct keyword *found = of_metric ? of_metric : of_counter;
    if (!found)
        return word_file_fault(file, "unknown keyword", word);
    if (!*value)
        return word_file_fault(file, "missing value after", word);
    /* Only the first keyword begins a block. */
    if (of_metric && of_metric != metric_words && (all->in_counter || !current(file)))
        return word_file_fault(file, "no metric before", word);
    if (of_counter && of_counter != counter_words && !all->in_counter)
        return word_file_fault(file, "no counter before", word);
    return found->take(file, value);
}

struct definitions *definitions_parse(const char *text, size_t length, const char *name, struct error *err)
{
    struct definitions *definitions = memory_new(sizeof *definitions);
    struct word_file file = {.name = name, .err = err, .context = definitions};
    enum status status = word_file_parse(&file, text, length, take_word);
    if (status == STATUS_OK && definitions->count == 0)
        status = error_set(err, ERROR_USAGE, "%s: defines no metric", name);
    if (status != STATUS_OK || finish(&file) != STATUS_OK) {
        definitions_free(definitions);
        return NULL;
    }
    return definitions;
}

struct definitions *definitions_read(const char *path, struct error *err)
{
    size_t length;
    char *text = word_file_read(path, "the definitions", &length, err);
    if (!text)
        return NULL;
    struct definitions *definitions = definitions_parse(text, length, path, err);
    free(text);
    return definitions;
}

void definitions_free(struct definitions *definitions)
{
    if (!definitions)
        return;
    for (size_t i = 0; i < definitions->count; i++) {
        free(definitions->list[i].name);
        free(definitions->list[i].title);
        free(definitions->list[i].constraint);
    }
    for (size_t i = 0; i < definitions->counter_count; i++) {
        free(definitions->counters[i].name);
        for (size_t k = 0; k < definitions->counters[i].spellings; k++)
            free(definitions->counters[i].spelled[k]);
    }
    free(definitions->list);
    free(definitions->counters);
    free(definitions);
}

const char *definition_verdict(const double limits[2], bool higher, double value)
{
    if (isnan(value) || (isnan(limits[0]) && isnan(limits[1])))
        return NULL;
    /* Comparing with NAN is false. */
    if (higher ? value <= limits[1] : value >= limits[1])
        return "poor";
    return (higher ? value <= limits[0] : value >= limits[0]) ? "fair" : "good";
}

size_t definition_counter(const struct definition *definition)
{
    for (size_t i = 0; i < definition->base.count; i++)
        if (definition->base.steps[i].op == 'm' && definition->base.steps[i].metric >= METRIC_COUNT)
            return definition->base.steps[i].metric - METRIC_COUNT;
    return SIZE_MAX;
}
