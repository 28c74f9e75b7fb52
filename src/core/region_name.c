/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/region_name.h"

#include "core/memory.h"

#include <ctype.h>
#include <string.h>

static size_t without_blanks(const char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return length;
}

static char *copy_of(const char *text, size_t length)
{
    char *copy = memory_new(length + 1);
    memcpy(copy, text, length);
    return copy;
}

/* The line of "{160,0}", and what follows it; NULL: there is none. */
static const char *take_line(const char *at, int32_t *line)
{
    int64_t number = 0;
    if (*at++ != '{' || !isdigit((unsigned char)*at))
        return NULL;
    for (; isdigit((unsigned char)*at); at++)
        number = number <= INT32_MAX ? number * 10 + (*at - '0') : number;
    at = strchr(at, '}');
    if (!at)
        return NULL;
    *line = number <= INT32_MAX ? (int32_t)number : 0;
    return at + 1;
}

struct region_name region_name_of(const char *text)
{
    size_t length = without_blanks(text, strlen(text));
    struct region_name found = {0}, plain = {.name = copy_of(text, length)};
    const char *place = NULL, *file_end, *at;
    for (at = text; (at = strstr(at, "[{")); at++)
        place = at;
    if (!place || text[length - 1] != ']' || !(file_end = strstr(place, "} {")))
        return plain;
    at = take_line(file_end + 2, &found.line);
    if (at && *at == '-')
        at = take_line(at + 1, &found.end_line);
    size_t name_length = without_blanks(text, (size_t)(place - text));
    /* Nothing else may stand there: a function of the program may have such brackets of its own. */
    if (!at || at != text + length - 1 || name_length == 0 || file_end == place + 2)
        return plain;
    region_name_clear(&plain);
    found.name = copy_of(text, name_length);
    found.file = copy_of(place + 2, (size_t)(file_end - place - 2));
    return found;
}

void region_name_clear(struct region_name *name)
{
    free(name->name);
    free(name->file);
    *name = (struct region_name){0};
}
