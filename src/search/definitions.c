/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/definitions.h"

#include "core/memory.h"
#include "search/word_file.h"

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
static enum status take_unit(struct word_file *file, const char *value)
{
    struct definition *definition = current(file);
    struct search_unit unit = {0};
    /* Powers add up: after "/" they count below the line. */
    int sign = 1;
    /* More factors than any unit needs, and than an int8_t holds. */
    if (strlen(value) > 30)
        return word_file_fault(file, "a unit of more than 30 letters:", value);
    for (const char *at = value;;) {
        size_t length = strcspn(at, "*/ \t");
        if (length == 1 && *at == 's')
            unit.seconds = (int8_t)(unit.seconds + sign);
        else if (length == 5 && memcmp(at, "bytes", 5) == 0)
            unit.bytes = (int8_t)(unit.bytes + sign);
        else if (length == 5 && memcmp(at, "count", 5) == 0)
            unit.counts = (int8_t)(unit.counts + sign);
        else if (length == 1 && *at == '%')
            definition->percent = true;
        else if (length != 1 || *at != '1')
            return word_file_fault(file, "a unit is s, bytes, count, 1 or %, or several with * or /, not", at);
        at += length;
        at += strspn(at, " \t");
        if (!*at)
            break;
        if (*at != '*' && *at != '/')
            return word_file_fault(file, "units are joined by * or /, not by", at);
        sign = *at == '/' ? -1 : 1;
        at++;
        at += strspn(at, " \t");
    }
    definition->unit = unit;
    definition->has_unit = true;
    return STATUS_OK;
}

static enum status take_base(struct word_file *file, const char *value)
{
    return expression_parse(&current(file)->base, value, NULL, file->where, file->err);
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

static enum status take_word(struct word_file *file, const char *word, const char *value)
{
    static const struct {
        const char *name;
        enum status (*take)(struct word_file *file, const char *value);
    } words[] = {
        {"metric", take_metric},       {"title", take_title},           {"unit", take_unit}, {"base", take_base},
        {"aggregate", take_aggregate}, {"constraint", take_constraint}, {"fair", take_fair}, {"poor", take_poor}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word) != 0)
            continue;
        if (!*value)
            return word_file_fault(file, "missing value after", word);
        /* Only the first keyword begins a metric. */
        if (i > 0 && !current(file))
            return word_file_fault(file, "no metric before", word);
        return words[i].take(file, value);
    }
    return word_file_fault(file, "unknown keyword", word);
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
    free(definitions->list);
    free(definitions);
}

struct expression_names definitions_names(const struct definitions *definitions)
{
    struct expression_names names = {.count = definitions->count};
    /* Expressions of questions may use these names beside sight's own. */
    names.list = memory_new(names.count * sizeof *names.list);
    for (size_t i = 0; i < names.count; i++)
        names.list[i] = (struct expression_name){definitions->list[i].name, definitions->list[i].base.unit};
    return names;
}
