/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paraver/paraver_places.h"

#include "core/event.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* One kind of places: types of their functions and of their lines. */
struct kind {
    uint64_t function, line;
};
static const struct kind caller = {PARAVER_CALLER, PARAVER_CALLER_LINE}, sample = {PARAVER_SAMPLE, PARAVER_SAMPLE_LINE};

static bool is_within(uint64_t type, uint64_t first)
{
    return type >= first && type < first + PARAVER_LEVELS;
}

bool paraver_type_is_place(uint64_t type)
{
    return is_within(type, caller.function) || is_within(type, caller.line) || is_within(type, sample.function) ||
           is_within(type, sample.line);
}

/* A piece of a label. */
struct piece {
    const char *at;
    size_t length;
};

/* Labels of newer versions: "short [long]", where that was made shorter. */
static struct piece long_form(const char *label)
{
    size_t length = strlen(label);
    const char *bracket = strstr(label, " [");
    if (!bracket || label[length - 1] != ']')
        return (struct piece){label, length};
    return (struct piece){bracket + 2, (size_t)(label + length - 1 - (bracket + 2))};
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* What Extrae puts where it does not know. */
static bool is_known(struct piece piece)
{
    static const char *const unknown[] = {"Unresolved", "_NOT_Found", "Not Found", "??", "End"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (piece.length == strlen(unknown[i]) && memcmp(piece.at, unknown[i], piece.length) == 0)
            return false;
    return piece.length > 0;
}

/* A number of digits; 0: too large. */
static int32_t number_of(const char *digits)
{
    unsigned long number = strtoul(digits, NULL, 10);
    return number <= INT32_MAX ? (int32_t)number : 0;
}

/* "12 (file, module)", also without a module. The line; negative: it is no such label. */
static int32_t take_old_line(struct piece *piece)
{
    const char *open = memmem(piece->at, piece->length, " (", 2), *end = piece->at + piece->length - 1;
    if (!open || !is_digit(*piece->at) || *end != ')')
        return -1;
    int32_t line = number_of(piece->at);
    const char *comma = end;
    while (comma > open && !(comma[0] == ',' && comma[1] == ' '))
        comma--;
    piece->at = open + 2;
    piece->length = (size_t)((comma > open ? comma : end) - piece->at);
    return line;
}

/* "file:12, module", also without a module: newer versions. */
static int32_t take_new_line(struct piece *piece)
{
    const char *end = piece->at + piece->length;
    for (const char *colon = end - 1; colon > piece->at; colon--) {
        const char *after = colon + 1;
        while (after < end && is_digit(*after))
            after++;
        if (*colon != ':' || after == colon + 1 || (after < end && *after != ','))
            continue;
        piece->length = (size_t)(colon - piece->at);
        return number_of(colon + 1);
    }
    return -1;
}

char *paraver_label_function(const char *label)
{
    struct piece function = long_form(label);
    return strndup(function.at, function.length);
}

char *paraver_label_place(const char *label, int32_t *line)
{
    struct piece file = long_form(label);
    *line = take_old_line(&file);
    if (*line < 0)
        *line = take_new_line(&file);
    if (*line >= 0 && is_known(file))
        return strndup(file.at, file.length);
    *line = 0;
    return NULL;
}

/* The site of a function and a line; 0: neither has a label that says something. */
static uint32_t make_site(struct defs *defs, const char *function_label, const char *line_label)
{
    struct site_def site = {.id = EVENT_UNKNOWN};
    uint32_t index = 0;
    if (function_label && is_known(long_form(function_label)))
        site.function = paraver_label_function(function_label);
    if (line_label)
        site.file = paraver_label_place(line_label, &site.line);
    if (site.function || site.file)
        index = 1 + defs_add_site(defs, &site);
    free(site.file);
    free(site.function);
    return index;
}

static uint32_t site_at(struct map *sites, const struct paraver_labels *labels, struct defs *defs,
                        const struct paraver_record *record, const struct kind *kind, uint64_t level)
{
    uint64_t function = paraver_record_value(record, kind->function + level),
             line = paraver_record_value(record, kind->line + level);
    if (function == 0 && line == 0)
        return 0;
    uint64_t key = map_pair((uint32_t)function, (uint32_t)line);
    const uint64_t *known = map_find(sites, key);
    if (known)
        return (uint32_t)*known;
    uint32_t site = make_site(defs, paraver_value_label(labels, kind->function + level, function),
                              paraver_value_label(labels, kind->line + level, line));
    map_put(sites, key, site);
    return site;
}

/* The lowest level in a record, or the highest; PARAVER_LEVELS: it has none. */
static uint64_t level_of(const struct paraver_record *record, const struct kind *kind, bool highest)
{
    uint64_t found = PARAVER_LEVELS;
    for (size_t i = 0; i < record->pair_count; i++) {
        uint64_t type = record->pairs[i].type, first = is_within(type, kind->function) ? kind->function : kind->line;
        if (!is_within(type, first))
            continue;
        uint64_t level = type - first;
        if (found == PARAVER_LEVELS || (highest ? level > found : level < found))
            found = level;
    }
    return found;
}

uint32_t paraver_caller_of(struct paraver_places *places, const struct paraver_labels *labels, struct defs *defs,
                           const struct paraver_record *record)
{
    uint64_t level = level_of(record, &caller, false);
    uint32_t site = 0;
    if (level == PARAVER_LEVELS)
        return 0;
    for (uint64_t highest = level_of(record, &caller, true); level <= highest && site == 0; level++)
        site = site_at(&places->callers, labels, defs, record, &caller, level);
    return site;
}

uint32_t paraver_sample_of(struct paraver_places *places, const struct paraver_labels *labels, struct defs *defs,
                           const struct paraver_record *record, uint32_t *site)
{
    uint64_t depth = level_of(record, &sample, true);
    uint32_t path = 0;
    *site = 0;
    if (depth == PARAVER_LEVELS)
        return 0;
    for (uint64_t left = depth + 1; left-- > 0;) {
        uint32_t frame = site_at(&places->frames, labels, defs, record, &sample, left);
        if (frame == 0)
            continue;
        *site = frame;
        uint64_t next = defs->path_count, *index = map_put(&places->paths, map_pair(path, frame), next);
        if (*index == next)
            defs_add_path(defs, &(struct path_def){path, PATH_NO_STATE, frame});
        path = (uint32_t)*index + 1;
    }
    return path;
}

void paraver_places_clear(struct paraver_places *places)
{
    map_clear(&places->callers);
    map_clear(&places->frames);
    map_clear(&places->paths);
}
