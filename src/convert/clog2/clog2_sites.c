/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/clog2/clog2_sites.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

char *clog2_text_field(const unsigned char *at, size_t size)
{
    /* MPE does not clear the rest of a field, nor always ends it with a zero byte. */
    size_t length = strnlen((const char *)at, size);
    if (length)
        return text_from_latin1((const char *)at, length);
    return NULL;
}

uint32_t clog2_site_find(const struct clog2_defs *defs, uint32_t id)
{
    const uint64_t *found = map_find(&defs->sites, id);
    if (found)
        return (uint32_t)*found;
    return 0;
}

/* Events refer to the first source location of an id. */
static void site_set(struct clog2_defs *defs, uint32_t id, uint32_t index)
{
    if (!defs->near_sites)
        defs->near_sites = memory_new(CLOG2_NEAR_COUNT * sizeof *defs->near_sites);
    uint64_t *known = id ? map_put(&defs->sites, id, index + 1) : NULL;
    if (known && id < CLOG2_NEAR_COUNT)
        defs->near_sites[id] = (uint32_t)*known;
}

/* Paths are numbered in their order; parents stand before their children, places before all paths. */
static void path_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    char text[CLOG2_TEXT_SIZE + 1] = "", *end;
    memcpy(text, body + 8, CLOG2_TEXT_SIZE);
    unsigned long parent = strtoul(text, &end, 10), site = strtoul(end, NULL, 10);
    /* A path out of turn could be its own ancestor. */
    if (bytes_u32(body, big_endian) != defs->defs->path_count + 1 || parent > defs->defs->path_count)
        return;
    struct path_def path = {(uint32_t)parent, PATH_NO_STATE, site <= UINT32_MAX ? clog2_site(defs, (uint32_t)site) : 0};
    defs_add_path(defs->defs, &path);
}

static void append(struct clog2_property_text *text, const char *bytes, size_t length)
{
    /* Nothing may follow what was left out. */
    text->full = text->full || text->length + length >= CLOG2_PROPERTY_MAX;
    if (text->full)
        return;
    ARRAY_RESERVE(text->text, text->capacity, text->length + length + 1);
    memcpy(text->text + text->length, bytes, length);
    text->length += length;
    text->text[text->length] = '\0';
}

void clog2_property_end(struct clog2_defs *defs)
{
    struct clog2_property *property = &defs->property;
    struct clog2_property_text *texts = property->texts;
    if (property->id && texts[0].length > 0 && texts[2].length > 0) {
        char *name = text_from_bytes(texts[0].text, texts[0].length);
        char *value = text_from_bytes(texts[2].text, texts[2].length);
        (void)property_add_text(&defs->defs->properties, name, value, texts[1].length ? texts[1].text : NULL);
        free(name);
        free(value);
    }
    property->id = 0;
    for (size_t i = 0; i < CLOG2_PROPERTY_TEXTS; i++) {
        texts[i].length = 0;
        texts[i].full = false;
    }
}

static bool site_is_property(const unsigned char *body, bool big_endian)
{
    int32_t line = bytes_i32(body + 4, big_endian);
    return line <= CLOG2_SITE_PROPERTY_NAME && line >= CLOG2_SITE_PROPERTY_VALUE;
}

static void property_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    uint32_t id = bytes_u32(body, big_endian);
    const char *text = (const char *)body + 8;
    if (id != defs->property.id)
        clog2_property_end(defs);
    defs->property.id = id;
    append(&defs->property.texts[CLOG2_SITE_PROPERTY_NAME - bytes_i32(body + 4, big_endian)], text,
           strnlen(text, CLOG2_TEXT_SIZE));
}

void clog2_place_hosts(struct clog2_defs *defs, uint32_t world)
{
    struct property_list all = defs->defs->properties, *rest = &defs->defs->properties;
    uint64_t steps = 0;
    *rest = (struct property_list){0};
    for (size_t i = 0; i < all.count; i++) {
        const struct property *row = &all.rows[i];
        bool host = strcmp(row->name, PROPERTY_HOST) == 0;
        if (row->rank_count == 0)
            property_add(rest, row->name, row->value);
        for (size_t k = 0; k < row->rank_count && !host; k++)
            property_add_of(rest, row->name, row->value, row->ranks[k].first, row->ranks[k].last);
        for (size_t k = 0; k < row->rank_count && host; k++)
            for (uint32_t rank = row->ranks[k].first; rank <= row->ranks[k].last && steps++ < PROCESS_LIMIT; rank++)
                if (map_find(&defs->defs->ranks, map_pair(world, rank)))
                    defs_add_location(defs->defs, &(struct location_def){.process = rank, .host = row->value});
                else
                    property_add_of(rest, row->name, row->value, rank, rank);
    }
    property_list_clear(&all);
}

/* MPE-2 never writes source locations: recordings use them for several things, as the line number says. */
static bool site_is_path(const unsigned char *body, bool big_endian)
{
    return bytes_i32(body + 4, big_endian) == CLOG2_SITE_PATH;
}

static bool site_is_function(const unsigned char *body, bool big_endian)
{
    return bytes_i32(body + 4, big_endian) == CLOG2_SITE_FUNCTION;
}

static void site_function(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    uint32_t site = clog2_site_find(defs, bytes_u32(body, big_endian));
    if (site && !defs->defs->sites[site - 1].function)
        defs->defs->sites[site - 1].function = clog2_text_field(body + 8, CLOG2_TEXT_SIZE);
}

static bool site_is_library(const unsigned char *body, bool big_endian)
{
    return bytes_i32(body + 4, big_endian) == CLOG2_SITE_LIBRARY;
}

static void site_library(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    uint32_t site = clog2_site_find(defs, bytes_u32(body, big_endian));
    if (site)
        defs->defs->sites[site - 1].library = true;
}

static bool site_goes_on(const unsigned char *body, bool big_endian)
{
    int32_t line = bytes_i32(body + 4, big_endian);
    return line == CLOG2_SITE_FILE_MORE || line == CLOG2_SITE_FUNCTION_MORE;
}

/* A text longer than names and paths are comes from damage, and would take time that grows with its square. */
static void append_field(char **text, const unsigned char *at)
{
    enum { LONGEST = 1 << 14 };
    char *more = clog2_text_field(at, CLOG2_TEXT_SIZE);
    size_t length = *text ? strlen(*text) : 0;
    if (more && length + strlen(more) < LONGEST) {
        *text = memory_resize(*text, length + strlen(more) + 1);
        strcpy(*text + length, more);
    }
    free(more);
}

static void site_more(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    uint32_t site = clog2_site_find(defs, bytes_u32(body, big_endian));
    if (site && bytes_i32(body + 4, big_endian) == CLOG2_SITE_FILE_MORE)
        append_field(&defs->defs->sites[site - 1].file, body + 8);
    else if (site)
        append_field(&defs->defs->sites[site - 1].function, body + 8);
}

static uint32_t site_record(struct clog2_defs *defs, const unsigned char *body, bool big_endian)
{
    struct site_def site = {.id = bytes_i32(body, big_endian),
                            .line = bytes_i32(body + 4, big_endian),
                            .file = clog2_text_field(body + 8, CLOG2_TEXT_SIZE)};
    uint32_t index = defs_add_site(defs->defs, &site);
    site_set(defs, (uint32_t)site.id, index);
    free(site.file);
    return index;
}

void clog2_site_record(struct clog2_defs *defs, struct clog2_part_defs *part, const unsigned char *body,
                       bool big_endian)
{
    if (site_is_function(body, big_endian))
        site_function(defs, body, big_endian);
    else if (site_is_library(body, big_endian))
        site_library(defs, body, big_endian);
    else if (site_goes_on(body, big_endian))
        site_more(defs, body, big_endian);
    else if (site_is_path(body, big_endian))
        path_record(defs, body, big_endian);
    else if (site_is_property(body, big_endian))
        property_record(defs, body, big_endian);
    else
        part->end[DEFINITION_SITE] = site_record(defs, body, big_endian) + 1;
}
