/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/hypotheses.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"
#include "search/word_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Generated from default.hypotheses when sight is built. */
extern const char hypotheses_text[];

static struct hypotheses *hypotheses_of(const struct word_file *file)
{
    return file->context;
}

static struct hypothesis *current(struct word_file *file)
{
    struct hypotheses *all = hypotheses_of(file);
    return all->count > 0 ? &all->list[all->count - 1] : NULL;
}

static int32_t find(const struct hypotheses *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0)
            return (int32_t)i;
    return -1;
}

static bool is_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return length > 0 && length <= WORD_NAME_MOST && !text[length];
}

/* A hypothesis is checked for completeness when the next begins, or the file ends. One without a value stands for those
   below it: it is true where one of them is. */
static enum status finish(struct word_file *file)
{
    struct hypothesis *last = current(file);
    if (!last)
        return STATUS_OK;
    /* A hypothesis without a title is shown by its name. */
    if (!last->title)
        last->title = memory_copy_string(last->name);
    if (last->value.count == 0)
        last->is_virtual = true;
    /* Without `refine` it is narrowed along every axis. */
    if (last->axis_count == 0)
        for (unsigned axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++)
            last->axes[last->axis_count++] = (enum search_axis)axis;
    return STATUS_OK;
}

static enum status take_hypothesis(struct word_file *file, const char *value)
{
    struct hypotheses *all = hypotheses_of(file);
    if (!is_name(value))
        return word_file_fault(file, "a name has up to 40 characters a-z, 0-9 and -, not", value);
    if (find(all, value) >= 0)
        return word_file_fault(file, "there is already a hypothesis", value);
    if (all->count == HYPOTHESES_MOST)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d hypotheses", file->where, HYPOTHESES_MOST);
    if (finish(file) != STATUS_OK)
        return STATUS_FAILED;
    ARRAY_PUSH(all->list, all->count, all->capacity, (struct hypothesis){.name = memory_copy_string(value)});
    return STATUS_OK;
}

/* Calls itself for each parent; HYPOTHESIS_DEPTH bounds how deep, as parents were checked before. */
static size_t depth_of(const struct hypotheses *all, uint32_t index)
{
    const struct hypothesis *hypothesis = &all->list[index];
    size_t most = 0;
    for (size_t i = 0; i < hypothesis->parent_count; i++) {
        size_t depth = depth_of(all, hypothesis->parents[i]) + 1;
        most = larger(depth, most);
    }
    return most;
}

static enum status add_parent(struct word_file *file, const char *name)
{
    struct hypotheses *all = hypotheses_of(file);
    struct hypothesis *last = current(file);
    int32_t parent = find(all, name);
    /* Parents before children: no circle is possible, and one pass from the end settles all. */
    if (parent < 0 || (size_t)parent + 1 == all->count)
        return word_file_fault(file, "no earlier hypothesis is named", name);
    for (size_t i = 0; i < last->parent_count; i++)
        if (last->parents[i] == (uint32_t)parent)
            return word_file_fault(file, "duplicate parent", name);
    if (last->parent_count == HYPOTHESIS_PARENTS)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d parents", file->where, HYPOTHESIS_PARENTS);
    last->parents[last->parent_count++] = (uint32_t)parent;
    /* Depth is bounded, as the search visits each path from a root. */
    if (depth_of(all, (uint32_t)all->count - 1) >= HYPOTHESIS_DEPTH)
        return error_set(file->err, ERROR_USAGE, "%s: hypotheses are nested more than %d deep", file->where,
                         HYPOTHESIS_DEPTH);
    return STATUS_OK;
}

/* One or more names. */
static enum status take_parent(struct word_file *file, const char *value)
{
    char name[WORD_LINE_MOST + 1];
    while (*value) {
        size_t length = strcspn(value, " \t");
        snprintf(name, sizeof name, "%.*s", (int)length, value);
        if (add_parent(file, name) != STATUS_OK)
            return STATUS_FAILED;
        value += length;
        value += strspn(value, " \t");
    }
    return STATUS_OK;
}

static enum status take_text(char **text, const char *value)
{
    /* The last of several titles counts, as in most configuration files. */
    free(*text);
    *text = memory_copy_string(value);
    return STATUS_OK;
}

static enum status take_title(struct word_file *file, const char *value)
{
    return take_text(&current(file)->title, value);
}

static enum status take_advice(struct word_file *file, const char *value)
{
    return take_text(&current(file)->advice, value);
}

static enum status take_value(struct word_file *file, const char *value)
{
    return expression_parse(&current(file)->value, value, NULL, file->where, file->err);
}

static enum status take_threshold(struct word_file *file, const char *value)
{
    double threshold;
    if (!threshold_parse(value, &threshold))
        return word_file_fault(file, "a threshold is a number from 0 to 1000 or a percentage, not", value);
    /* Before the first hypothesis it is that of all without their own. */
    struct hypothesis *hypothesis = current(file);
    if (hypothesis) {
        hypothesis->threshold = threshold;
        hypothesis->has_threshold = true;
    } else {
        hypotheses_of(file)->threshold = threshold;
    }
    return STATUS_OK;
}

static enum status take_refine(struct word_file *file, const char *value)
{
    struct hypothesis *hypothesis = current(file);
    /* A second line replaces the first. */
    hypothesis->axis_count = 0;
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, " \t");
        enum search_axis axis = search_axis_find(at, length);
        if (axis == AXIS_WHY || axis == SEARCH_AXIS_COUNT)
            return word_file_fault(file, "unknown axis", at);
        for (size_t i = 0; i < hypothesis->axis_count; i++)
            if (hypothesis->axes[i] == axis)
                return word_file_fault(file, "duplicate axis", at);
        hypothesis->axes[hypothesis->axis_count++] = axis;
        at += length;
        at += strspn(at, " \t");
    }
    return STATUS_OK;
}

static enum status take_least_calls(struct word_file *file, const char *value)
{
    int64_t calls;
    if (!text_parse_i64(value, 0, INT32_MAX, &calls))
        return word_file_fault(file, "not a number of calls:", value);
    hypotheses_of(file)->least_calls = (uint64_t)calls;
    return STATUS_OK;
}

/* "1 ms": a decimal number with a unit. */
static enum status take_least_time(struct word_file *file, const char *value)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    size_t length = strspn(value, "0123456789.");
    const char *unit = value + length + strspn(value + length, " \t");
    char *end;
    double number = strtod(value, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (length > 0 && end == value + length && strcmp(units[i].name, unit) == 0 && number * units[i].ns < 9e18) {
            hypotheses_of(file)->least_ns = llround(number * units[i].ns);
            return STATUS_OK;
        }
    return word_file_fault(file, "a time needs a unit (ns us ms s), as in 1 ms, not", value);
}

static const struct word {
    const char *name;
    bool inside; /* belongs to a hypothesis */
    bool outside;
    enum status (*take)(struct word_file *file, const char *value);
} words[] = {
    {"hypothesis", true, true, take_hypothesis},  {"parent", true, false, take_parent},
    {"title", true, false, take_title},           {"value", true, false, take_value},
    {"threshold", true, true, take_threshold},    {"refine", true, false, take_refine},
    {"advice", true, false, take_advice},         {"least-calls", false, true, take_least_calls},
    {"least-time", false, true, take_least_time},
};

static enum status take_word(struct word_file *file, const char *word, const char *value)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word) != 0)
            continue;
        if (!*value)
            return word_file_fault(file, "missing value after", word);
        if (current(file) && !words[i].inside)
            return word_file_fault(file, "this must precede all hypotheses:", word);
        if (!current(file) && !words[i].outside)
            return word_file_fault(file, "no hypothesis before", word);
        return words[i].take(file, value);
    }
    return word_file_fault(file, "unknown keyword", word);
}

/* Thresholds of those without their own; the virtual ones have none. */
static void spread_threshold(struct hypotheses *hypotheses)
{
    for (size_t i = 0; i < hypotheses->count; i++)
        if (!hypotheses->list[i].has_threshold)
            hypotheses->list[i].threshold = hypotheses->threshold;
}

struct hypotheses *hypotheses_parse(const char *text, size_t length, const char *name, struct error *err)
{
    struct hypotheses *hypotheses = memory_new(sizeof *hypotheses);
    struct word_file file = {.name = name, .err = err, .context = hypotheses};
    /* Above 20 % a loop is a bottleneck in Paradyn's loop-level search. Below 3 calls or 1 ms a share is chance. */
    hypotheses->threshold = 0.2;
    hypotheses->least_calls = 3;
    hypotheses->least_ns = 1000000;
    enum status status = word_file_parse(&file, text, length, take_word);
    if (status == STATUS_OK && hypotheses->count == 0)
        status = error_set(err, ERROR_USAGE, "%s: contains no hypothesis", name);
    if (status != STATUS_OK || finish(&file) != STATUS_OK) {
        hypotheses_free(hypotheses);
        return NULL;
    }
    spread_threshold(hypotheses);
    return hypotheses;
}

struct hypotheses *hypotheses_default(void)
{
    struct error err = {0};
    struct hypotheses *hypotheses = hypotheses_parse(hypotheses_text, strlen(hypotheses_text), "default", &err);
    if (!hypotheses) { /* a bug: the text is part of this program */
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return hypotheses;
}

struct hypotheses *hypotheses_read(const char *path, struct error *err)
{
    size_t length;
    char *text = word_file_read(path, "the hypotheses", &length, err);
    if (!text)
        return NULL;
    struct hypotheses *hypotheses = hypotheses_parse(text, length, path, err);
    free(text);
    return hypotheses;
}

void hypotheses_free(struct hypotheses *hypotheses)
{
    if (!hypotheses)
        return;
    for (size_t i = 0; i < hypotheses->count; i++) {
        free(hypotheses->list[i].name);
        free(hypotheses->list[i].title);
        free(hypotheses->list[i].advice);
    }
    free(hypotheses->list);
    free(hypotheses);
}

void hypotheses_set_threshold(struct hypotheses *hypotheses, double threshold)
{
    hypotheses->threshold = threshold;
    spread_threshold(hypotheses);
}

bool threshold_parse(const char *text, double *threshold)
{
    size_t length = strspn(text, "0123456789.");
    const char *rest = text + length + strspn(text + length, " \t");
    char *end;
    double number = strtod(text, &end);
    bool percent = strcmp(rest, "%") == 0;
    if (length == 0 || length > 30 || end != text + length || (*rest && !percent) || number > 1000)
        return false;
    *threshold = number;
    if (percent)
        *threshold = number / 100;
    return true;
}
