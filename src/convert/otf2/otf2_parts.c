/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_parts.h"

#include "core/directory.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

#define ANCHOR_SUFFIX ".otf2"

static bool ends_with(const char *name, const char *suffix)
{
    return text_ends_with(name, strlen(name), suffix);
}

bool otf2_part_is_anchor(const char *name)
{
    return !strchr(name, '/') && ends_with(name, ANCHOR_SUFFIX);
}

bool otf2_part_is_local(const char *name)
{
    const char *slash = strchr(name, '/');
    size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;
    return digits > 0 && (strcmp(slash + 1 + digits, ".evt") == 0 || strcmp(slash + 1 + digits, ".def") == 0);
}

bool otf2_is_part(const char *name)
{
    if (strchr(name, '/'))
        return otf2_part_is_local(name);
    return otf2_part_is_anchor(name) || ends_with(name, ".def");
}

bool otf2_part_belongs(const char *name, const char *anchor)
{
    size_t stem = strlen(anchor) - strlen(ANCHOR_SUFFIX);
    if (strcmp(name, anchor) == 0)
        return true;
    return strncmp(name, anchor, stem) == 0 &&
           (name[stem] == '/' ? otf2_part_is_local(name) : strcmp(name + stem, ".def") == 0);
}

struct names {
    char **name;
    size_t count, capacity;
};

static void add_locals(struct names *parts, const char *directory, const char *below)
{
    size_t count = 0;
    char *path = directory_join(directory, below), **names = directory_names(path, &count);
    for (size_t i = 0; names && i < count; i++) {
        char *name = directory_join(below, names[i]);
        if (otf2_part_is_local(name))
            ARRAY_PUSH(parts->name, parts->count, parts->capacity, name);
        else
            free(name);
    }
    if (names)
        directory_names_free(names, count);
    free(path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **otf2_part_names(const char *directory, size_t *count)
{
    struct names parts = {0};
    size_t name_count = 0;
    char **names = directory_names(directory, &name_count);
    ARRAY_RESERVE(parts.name, parts.capacity, 1);
    for (size_t i = 0; names && i < name_count; i++) {
        if (otf2_is_part(names[i]))
            ARRAY_PUSH(parts.name, parts.count, parts.capacity, memory_copy_string(names[i]));
        else
            add_locals(&parts, directory, names[i]);
    }
    if (names)
        directory_names_free(names, name_count);
    qsort(parts.name, parts.count, sizeof *parts.name, compare_names);
    *count = parts.count;
    return parts.name;
}

char *otf2_local_directory(const char *directory)
{
    size_t count = 0, anchors = 0;
    char **names = directory_names(directory, &count), *found = NULL;
    for (size_t i = 0; names && i < count; i++)
        if (otf2_part_is_anchor(names[i]) && anchors++ == 0) {
            found = directory_join(directory, names[i]);
            found[strlen(found) - strlen(ANCHOR_SUFFIX)] = '\0';
        }
    if (names)
        directory_names_free(names, count);
    if (anchors == 1)
        return found;
    free(found);
    return NULL;
}
