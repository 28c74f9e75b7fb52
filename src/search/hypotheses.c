/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/hypotheses.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <ctype.h>
#include <libxml/xmlstring.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Generated from default.hypotheses when sight is built. */
extern const char hypotheses_text[];

enum { WHERE_SIZE = 200 };

struct file {
    struct hypotheses *hypotheses;
    const char *name;
    unsigned line;
    char where[WHERE_SIZE]; /* "FILE:LINE" */
    struct error *err;
};

static struct hypothesis *current(struct file *file)
{
    struct hypotheses *all = file->hypotheses;
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
    return length > 0 && length <= HYPOTHESIS_NAME_MOST && !text[length];
}

static enum status fault(struct file *file, const char *what, const char *value)
{
    return error_set(file->err, ERROR_USAGE, "%s: %s '%.60s'", file->where, what, value);
}

/* A hypothesis is checked for completeness when the next begins, or the file ends. One without a value stands for those
   below it: it is true where one of them is. */
static enum status finish(struct file *file)
{
    struct hypothesis *last = current(file);
    if (!last)
        return STATUS_OK;
    if (!last->title)
        last->title = memory_copy_string(last->name);
    if (last->value.count == 0)
        last->is_virtual = true;
    if (last->axis_count == 0)
        for (unsigned axis = AXIS_WHY + 1; axis < SEARCH_AXIS_COUNT; axis++)
            last->axes[last->axis_count++] = (enum search_axis)axis;
    return STATUS_OK;
}

static enum status take_hypothesis(struct file *file, const char *value)
{
    struct hypotheses *all = file->hypotheses;
    if (!is_name(value))
        return fault(file, "a name has up to 40 characters a-z, 0-9 and -, not", value);
    if (find(all, value) >= 0)
        return fault(file, "there is already a hypothesis", value);
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

static enum status add_parent(struct file *file, const char *name)
{
    struct hypotheses *all = file->hypotheses;
    struct hypothesis *last = current(file);
    int32_t parent = find(all, name);
    /* Parents before children: no circle is possible, and one pass from the end settles all. */
    if (parent < 0 || (size_t)parent + 1 == all->count)
        return fault(file, "no earlier hypothesis is named", name);
    for (size_t i = 0; i < last->parent_count; i++)
        if (last->parents[i] == (uint32_t)parent)
            return fault(file, "duplicate parent", name);
    if (last->parent_count == HYPOTHESIS_PARENTS)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d parents", file->where, HYPOTHESIS_PARENTS);
    last->parents[last->parent_count++] = (uint32_t)parent;
    if (depth_of(all, (uint32_t)all->count - 1) >= HYPOTHESIS_DEPTH)
        return error_set(file->err, ERROR_USAGE, "%s: hypotheses are nested more than %d deep", file->where,
                         HYPOTHESIS_DEPTH);
    return STATUS_OK;
}

/* One or more names. */
static enum status take_parent(struct file *file, const char *value)
{
    char name[HYPOTHESIS_LINE_MOST + 1];
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
    free(*text);
    *text = memory_copy_string(value);
    return STATUS_OK;
}

static enum status take_title(struct file *file, const char *value)
{
    return take_text(&current(file)->title, value);
}

static enum status take_advice(struct file *file, const char *value)
{
    return take_text(&current(file)->advice, value);
}

static enum status take_value(struct file *file, const char *value)
{
    return expression_parse(&current(file)->value, value, file->where, file->err);
}

static enum status take_threshold(struct file *file, const char *value)
{
    double threshold;
    if (!threshold_parse(value, &threshold))
        return fault(file, "a threshold is a number from 0 to 1000 or a percentage, not", value);
    /* Before the first hypothesis it is that of all without their own. */
    struct hypothesis *hypothesis = current(file);
    if (hypothesis) {
        hypothesis->threshold = threshold;
        hypothesis->has_threshold = true;
    } else {
        file->hypotheses->threshold = threshold;
    }
    return STATUS_OK;
}

static enum status take_refine(struct file *file, const char *value)
{
    struct hypothesis *hypothesis = current(file);
    hypothesis->axis_count = 0;
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, " \t");
        enum search_axis axis = search_axis_find(at, length);
        if (axis == AXIS_WHY || axis == SEARCH_AXIS_COUNT)
            return fault(file, "unknown axis", at);
        for (size_t i = 0; i < hypothesis->axis_count; i++)
            if (hypothesis->axes[i] == axis)
                return fault(file, "duplicate axis", at);
        hypothesis->axes[hypothesis->axis_count++] = axis;
        at += length;
        at += strspn(at, " \t");
    }
    return STATUS_OK;
}

static enum status take_least_calls(struct file *file, const char *value)
{
    int64_t calls;
    if (!text_parse_i64(value, 0, INT32_MAX, &calls))
        return fault(file, "not a number of calls:", value);
    file->hypotheses->least_calls = (uint64_t)calls;
    return STATUS_OK;
}

/* "1 ms": a decimal number with a unit. */
static enum status take_least_time(struct file *file, const char *value)
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
            file->hypotheses->least_ns = llround(number * units[i].ns);
            return STATUS_OK;
        }
    return fault(file, "a time needs a unit (ns us ms s), as in 1 ms, not", value);
}

static const struct word {
    const char *name;
    bool inside; /* belongs to a hypothesis */
    bool outside;
    enum status (*take)(struct file *file, const char *value);
} words[] = {
    {"hypothesis", true, true, take_hypothesis},  {"parent", true, false, take_parent},
    {"title", true, false, take_title},           {"value", true, false, take_value},
    {"threshold", true, true, take_threshold},    {"refine", true, false, take_refine},
    {"advice", true, false, take_advice},         {"least-calls", false, true, take_least_calls},
    {"least-time", false, true, take_least_time},
};

static enum status take_line(struct file *file, char *line)
{
    line += strspn(line, " \t");
    for (size_t length = strlen(line); length > 0 && isspace((unsigned char)line[length - 1]); length--)
        line[length - 1] = '\0';
    if (!*line || *line == '#')
        return STATUS_OK;
    char *value = line + strcspn(line, " \t");
    if (*value)
        *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, line) != 0)
            continue;
        if (!*value)
            return fault(file, "missing value after", line);
        if (current(file) && !words[i].inside)
            return fault(file, "this must precede all hypotheses:", line);
        if (!current(file) && !words[i].outside)
            return fault(file, "no hypothesis before", line);
        return words[i].take(file, value);
    }
    return fault(file, "unknown keyword", line);
}

/* Thresholds of those without their own; the virtual ones have none. */
static void spread_threshold(struct hypotheses *hypotheses)
{
    for (size_t i = 0; i < hypotheses->count; i++)
        if (!hypotheses->list[i].has_threshold)
            hypotheses->list[i].threshold = hypotheses->threshold;
}

static enum status parse(struct file *file, const char *text, size_t length)
{
    const char *end = text + length;
    char line[HYPOTHESIS_LINE_MOST + 1];
    /* A wrong file, such as a trace, ends here and not in a million messages. */
    if (length > HYPOTHESES_FILE_MOST)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d bytes", file->name, HYPOTHESES_FILE_MOST);
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)(end - text);
        if (stop)
            size = (size_t)(stop - text);
        file->line++;
        snprintf(file->where, sizeof file->where, "%.150s:%u", file->name, file->line);
        if (size > HYPOTHESIS_LINE_MOST)
            return error_set(file->err, ERROR_USAGE, "%s: a line of more than %d bytes", file->where,
                             HYPOTHESIS_LINE_MOST);
        memcpy(line, text, size);
        line[size] = '\0';
        /* Titles go into reports and JSON as they are. */
        if (strlen(line) < size || !xmlCheckUTF8((const unsigned char *)line))
            return error_set(file->err, ERROR_USAGE, "%s: not UTF-8 text", file->where);
        if (take_line(file, line) != STATUS_OK)
            return STATUS_FAILED;
        text += size + (stop != NULL);
    }
    if (file->hypotheses->count == 0)
        return error_set(file->err, ERROR_USAGE, "%s: contains no hypothesis", file->name);
    return finish(file);
}

struct hypotheses *hypotheses_parse(const char *text, size_t length, const char *name, struct error *err)
{
    struct file file = {.name = name, .err = err};
    file.hypotheses = memory_new(sizeof *file.hypotheses);
    /* Above 20 % a loop is a bottleneck in Paradyn's loop-level search. Below 3 calls or 1 ms a share is chance. */
    file.hypotheses->threshold = 0.2;
    file.hypotheses->least_calls = 3;
    file.hypotheses->least_ns = 1000000;
    if (parse(&file, text, length) != STATUS_OK) {
        hypotheses_free(file.hypotheses);
        return NULL;
    }
    spread_threshold(file.hypotheses);
    return file.hypotheses;
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
    FILE *file = fopen(path, "rb");
    char *text = memory_new(HYPOTHESES_FILE_MOST + 1); /* one byte more shows that the file is too long */
    size_t length = 0;
    if (file)
        length = fread(text, 1, HYPOTHESES_FILE_MOST + 1, file);
    struct hypotheses *hypotheses = NULL;
    if (!file || ferror(file))
        error_set_errno(err, ERROR_USAGE, "%s: cannot read the hypotheses", path);
    else
        hypotheses = hypotheses_parse(text, length, path, err);
    if (file)
        fclose(file);
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
