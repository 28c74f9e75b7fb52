/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/property.h"

#include "core/defs.h"
#include "core/event.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* In the order in which people look for them. */
static const struct {
    const char *name, *title;
} known[] = {{PROPERTY_COMMAND, "command"},
             {PROPERTY_PROGRAM, "program"},
             {PROPERTY_DATE, "date"},
             {PROPERTY_DIRECTORY, "directory"},
             {PROPERTY_COMPILED, "sources"},
             {PROPERTY_HOST, "host"},
             {PROPERTY_MACHINE, "machine"},
             {PROPERTY_MPI, "MPI"},
             {PROPERTY_RECORDER, "recorded by"},
             {PROPERTY_OPTIONS, "options"},
             {PROPERTY_PAUSED, "paused"},
             {PROPERTY_CLOCK, "clock"},
             {PROPERTY_WILDCARDS, "wildcards"},
             {PROPERTY_DESCRIPTION, "description"},
             {PROPERTY_KEPT, "kept"},
             {PROPERTY_TOTALS, "totals"}};
enum { KNOWN = sizeof known / sizeof *known };

static uint64_t text_hash(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (hash ^ 0xff) * UINT64_C(1099511628211);
}

/* The row of this name and value, made if there is none. */
static struct property *row_of(struct property_list *list, const char *name, const char *value)
{
    uint64_t key = text_hash(text_hash(UINT64_C(14695981039346656037), name), value) >> 1;
    for (;; key = (key + 1) & UINT64_MAX >> 1) {
        uint64_t *index = map_put(&list->known, key, list->count);
        if (*index == list->count)
            ARRAY_PUSH(list->rows, list->count, list->capacity,
                       (struct property){.name = memory_copy_string(name), .value = memory_copy_string(value)});
        struct property *row = &list->rows[*index];
        if (strcmp(row->name, name) == 0 && strcmp(row->value, value) == 0)
            return row;
    }
}

void property_add(struct property_list *list, const char *name, const char *value)
{
    if (value && *value)
        (void)row_of(list, name, value);
}

void property_add_date(struct property_list *list, int64_t seconds)
{
    static const int64_t last_second = INT64_C(253402300799); /* of the year 9999 */
    char date[64];
    struct tm utc;
    time_t when = (time_t)seconds;
    if (seconds > 0 && seconds < last_second && gmtime_r(&when, &utc) &&
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        property_add(list, PROPERTY_DATE, date);
}

void property_add_of(struct property_list *list, const char *name, const char *value, uint32_t first, uint32_t last)
{
    if (!value || !*value)
        return;
    struct property *row = row_of(list, name, value);
    struct rank_range range = {first, last};
    /* In order and apart, as property_add_text wants them: before the first range that does not end earlier. */
    size_t at = 0;
    for (size_t past = row->rank_count; at < past;) {
        size_t middle = at + (past - at) / 2;
        if (row->ranks[middle].last + UINT64_C(1) < first)
            at = middle + 1;
        else
            past = middle;
    }
    size_t end = at;
    for (; end < row->rank_count && row->ranks[end].first <= last + UINT64_C(1); end++) {
        range.first = smaller(range.first, row->ranks[end].first);
        range.last = larger(range.last, row->ranks[end].last);
    }
    if (end == at)
        ARRAY_PUSH(row->ranks, row->rank_count, row->rank_capacity, range);
    else
        row->rank_count -= end - at - 1;
    size_t moved = row->rank_count - at - 1, from = end == at ? at : end;
    memmove(&row->ranks[at + 1], &row->ranks[from], moved * sizeof range);
    row->ranks[at] = range;
}

/* Reads "FIRST" or "FIRST-LAST"; the end, or NULL. */
static const char *range_read(const char *text, struct rank_range *range)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    unsigned long first = strtoul(text, &end, 10), last = first;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtoul(end + 1, &end, 10);
    if (last < first || last >= PROCESS_LIMIT || (*end && *end != ','))
        return NULL;
    *range = (struct rank_range){(uint32_t)first, (uint32_t)last};
    if (*end)
        return end + 1;
    return end;
}

bool property_add_text(struct property_list *list, const char *name, const char *value, const char *ranks)
{
    struct rank_range range;
    uint32_t next = 0;
    if (!ranks || !*ranks)
        property_add(list, name, value);
    while (ranks && *ranks) {
        ranks = range_read(ranks, &range);
        if (!ranks || range.first < next)
            return false;
        property_add_of(list, name, value, range.first, range.last);
        next = range.last + 1;
    }
    return true;
}

char *property_ranks(const struct property *property)
{
    enum { RANGE_MAX = 24 }; /* two numbers, a dash and a comma */
    if (property->rank_count == 0)
        return NULL;
    char *text = memory_new(property->rank_count * RANGE_MAX), *at = text;
    for (size_t i = 0; i < property->rank_count; i++) {
        const struct rank_range *range = &property->ranks[i];
        at += snprintf(at, RANGE_MAX, "%s%" PRIu32, i ? "," : "", range->first);
        if (range->last > range->first)
            at += snprintf(at, RANGE_MAX / 2, "-%" PRIu32, range->last);
    }
    return text;
}

bool property_has_rank(const struct property *property, uint32_t rank)
{
    for (size_t i = 0; i < property->rank_count; i++)
        if (property->ranks[i].first <= rank && rank <= property->ranks[i].last)
            return true;
    return false;
}

const char *property_find(const struct property_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].name, name) == 0)
            return list->rows[i].value;
    return NULL;
}

bool property_says(const struct property_list *list, const char *name, const char *value, uint32_t rank)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct property *row = &list->rows[i];
        if (strcmp(row->name, name) == 0 && strcmp(row->value, value) == 0)
            return row->rank_count == 0 || property_has_rank(row, rank);
    }
    return false;
}

bool property_records_all(const struct property_list *list)
{
    const char *recorder = property_find(list, PROPERTY_RECORDER);
    bool chosen = false;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].name, PROPERTY_OPTIONS) == 0)
            chosen |= strstr(list->rows[i].value, "only=") || strstr(list->rows[i].value, "skip=");
    return recorder && strncmp(recorder, "SIGHT ", 6) == 0 && !chosen && !property_find(list, PROPERTY_PAUSED) &&
           !property_find(list, PROPERTY_TOTALS);
}

static size_t place_of(const char *name)
{
    size_t place = 0;
    while (place < KNOWN && strcmp(known[place].name, name) != 0)
        place++;
    return place;
}

const char *property_title(const char *name)
{
    size_t place = place_of(name);
    if (place < KNOWN)
        return known[place].title;
    return name;
}

void property_list_clear(struct property_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->rows[i].name);
        free(list->rows[i].value);
        free(list->rows[i].ranks);
    }
    free(list->rows);
    map_clear(&list->known);
    *list = (struct property_list){0};
}

static void add_hosts(struct property_list *list, const struct defs *defs)
{
    for (size_t i = 0; i < defs->location_count; i++) {
        const struct location_def *location = &defs->locations[i];
        property_add_of(list, PROPERTY_HOST, location->host, location->process, location->process);
    }
}

struct property_list property_list_of(const struct defs *defs)
{
    struct property_list list = {0};
    const struct property_list *own = &defs->properties;
    for (size_t place = 0; place <= KNOWN; place++) {
        for (size_t i = 0; i < own->count; i++) {
            const struct property *row = &own->rows[i];
            if (place_of(row->name) != place)
                continue;
            if (row->rank_count == 0)
                property_add(&list, row->name, row->value);
            for (size_t k = 0; k < row->rank_count; k++)
                property_add_of(&list, row->name, row->value, row->ranks[k].first, row->ranks[k].last);
        }
        if (place < KNOWN && strcmp(known[place].name, PROPERTY_HOST) == 0)
            add_hosts(&list, defs);
    }
    return list;
}

struct property_list property_list_shown(const struct defs *defs)
{
    struct property_list all = property_list_of(defs), list = {0};
    for (size_t i = 0; i < all.count; i++) {
        const struct property *row = &all.rows[i];
        if (strcmp(row->name, PROPERTY_TOTALS) == 0 || strcmp(row->name, PROPERTY_COMPILED) == 0)
            continue;
        if (row->rank_count == 0)
            property_add(&list, row->name, row->value);
        for (size_t k = 0; k < row->rank_count; k++)
            property_add_of(&list, row->name, row->value, row->ranks[k].first, row->ranks[k].last);
    }
    property_list_clear(&all);
    return list;
}
