/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paraver/paraver_labels.h"

#include "convert/text_lines.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 20 };

enum section { SECTION_OTHER, SECTION_STATES, SECTION_TYPES, SECTION_VALUES, SECTION_NODES };

static void skip_blanks(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
}

/* Labels are Latin-1 in Extrae's files, and not always that: any byte becomes some letter. */
static size_t keep_text(struct paraver_labels *labels, const char *at, const char *end)
{
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    ARRAY_PUSH(labels->texts, labels->text_count, labels->text_capacity, text_from_latin1(at, (size_t)(end - at)));
    return labels->text_count - 1;
}

/* "number label". "EVENT_TYPE" lines begin with the number of a colour gradient, which means nothing here. */
static void read_label(struct paraver_labels *labels, enum section section, const char *at, const char *end)
{
    uint64_t number;
    if (section == SECTION_TYPES) { /* the colour's gradient comes first */
        if (!text_take_u64(&at, end, &number))
            return;
        skip_blanks(&at, end);
    }
    if (!text_take_u64(&at, end, &number) || number >= UINT32_MAX)
        return;
    skip_blanks(&at, end);
    size_t text = keep_text(labels, at, end);
    if (section == SECTION_STATES) {
        map_put(&labels->states, number, text);
    } else if (section == SECTION_TYPES) {
        /* The first label of a number is kept. Types of one EVENT_TYPE section share the VALUES that follow it: a
           group. */
        map_put(&labels->types, number, text);
        map_put(&labels->groups, number, labels->group_count);
    } else {
        map_put(&labels->values, map_pair((uint32_t)labels->group_count, (uint32_t)number), text);
    }
}

static bool line_is(const struct text_line *line, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(line->end - line->at) >= length && memcmp(line->at, word, length) == 0;
}

/* A line of capitals begins a section, an empty one ends it. Keywords in capitals, in any order; sections that are
   not known end the one before. */
static enum section pcf_section(struct paraver_labels *labels, const struct text_line *line, enum section before)
{
    if (line_is(line, "STATES_COLOR"))
        return SECTION_OTHER;
    if (line_is(line, "STATES"))
        return SECTION_STATES;
    if (line_is(line, "VALUES"))
        return SECTION_VALUES;
    if (line_is(line, "EVENT_TYPE")) {
        labels->group_count++;
        return SECTION_TYPES;
    }
    if (line->at == line->end || *line->at < '0' || *line->at > '9')
        return SECTION_OTHER;
    return before;
}

static enum section row_section(const struct text_line *line, enum section before)
{
    if (line_is(line, "LEVEL"))
        return line_is(line, "LEVEL NODE") ? SECTION_NODES : SECTION_OTHER;
    return before;
}

static enum status read_file(struct paraver_labels *labels, const char *path, bool pcf, struct error *err)
{
    struct input *input = input_open_found(path, err);
    if (!input)
        return STATUS_FAILED;
    enum section section = SECTION_OTHER;
    struct text_line line;
    enum status status;
    /* Names of nodes are texts like labels: the first of them is noted. */
    if (!pcf)
        labels->first_node = labels->text_count;
    while ((status = text_line_next(input, LINE_MOST, &line, err)) == STATUS_OK) {
        enum section before = section;
        const char *at = line.at;
        section = pcf ? pcf_section(labels, &line, section) : row_section(&line, section);
        skip_blanks(&at, line.end);
        /* The line that begins a section is its title, not a label. */
        if (section != before || at == line.end)
            continue;
        if (section == SECTION_NODES) {
            keep_text(labels, at, line.end);
            labels->node_count++;
        } else if (section != SECTION_OTHER) {
            read_label(labels, section, at, line.end);
        }
    }
    input_close(input);
    if (status == STATUS_FAILED)
        return status;
    return STATUS_OK;
}

/* The length of the path without .gz, .zst and .prv. */
static size_t stem_length(const char *path)
{
    static const char *const suffixes[] = {".gz", ".zst", ".prv"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        /* In this order: NAME.prv.gz. */
        if (length > suffix && memcmp(path + length - suffix, suffixes[i], suffix) == 0)
            length -= suffix;
    }
    return length;
}

enum status paraver_labels_read(struct paraver_labels *labels, const char *path, struct error *err)
{
    if (!path)
        return STATUS_OK;
    size_t stem = stem_length(path), size = stem + sizeof ".pcf";
    char *beside = memory_new(size);
    enum status status = STATUS_OK;
    snprintf(beside, size, "%.*s.pcf", (int)stem, path);
    /* Both files are optional: without them names are made of numbers. */
    labels->has_pcf = access(beside, F_OK) == 0;
    if (labels->has_pcf)
        status = read_file(labels, beside, true, err);
    snprintf(beside, size, "%.*s.row", (int)stem, path);
    if (status == STATUS_OK && access(beside, F_OK) == 0)
        status = read_file(labels, beside, false, err);
    free(beside);
    return status;
}

void paraver_labels_clear(struct paraver_labels *labels)
{
    for (size_t i = 0; i < labels->text_count; i++)
        free(labels->texts[i]);
    free(labels->texts);
    map_clear(&labels->states);
    map_clear(&labels->types);
    map_clear(&labels->groups);
    map_clear(&labels->values);
    *labels = (struct paraver_labels){0};
}

static const char *text_of(const struct paraver_labels *labels, const struct map *map, uint64_t key)
{
    const uint64_t *text = map_find(map, key);
    if (text && *labels->texts[*text])
        return labels->texts[*text];
    return NULL;
}

const char *paraver_state_label(const struct paraver_labels *labels, uint64_t number)
{
    return text_of(labels, &labels->states, number);
}

const char *paraver_type_label(const struct paraver_labels *labels, uint64_t type)
{
    return text_of(labels, &labels->types, type);
}

/* By the group of its type: several types of one section share the labels of values that follow. */
const char *paraver_value_label(const struct paraver_labels *labels, uint64_t type, uint64_t value)
{
    const uint64_t *group = map_find(&labels->groups, type);
    if (!group || value >= UINT32_MAX)
        return NULL;
    return text_of(labels, &labels->values, map_pair((uint32_t)*group, (uint32_t)value));
}

const char *paraver_node(const struct paraver_labels *labels, uint32_t node)
{
    if (node > 0 && node <= labels->node_count)
        return labels->texts[labels->first_node + node - 1];
    return NULL;
}
