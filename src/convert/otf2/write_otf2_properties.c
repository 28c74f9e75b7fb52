/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_properties.h"
#include "convert/otf2/write_otf2.h"
#include "core/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Ours are in lower case; other tools' names, in upper case, have their namespace. */
bool otf2_property_name(const char *name, char in_archive[OTF2_PROPERTY_NAME_SIZE])
{
    bool ours = false;
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != ':')
            return false;
        ours |= islower((unsigned char)*at) != 0;
    }
    if (ours ? strchr(name, ':') != NULL : !strstr(name, "::"))
        return false;
    int length = snprintf(in_archive, OTF2_PROPERTY_NAME_SIZE, "%s%s", ours ? OTF2_PROPERTY_PREFIX : "", name);
    for (char *at = in_archive; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return length > 0 && length < OTF2_PROPERTY_NAME_SIZE;
}

/* The anchor file has a line for each. */
static void write_one(struct otf2_writer *otf2, const struct property *property, bool *fine)
{
    char name[OTF2_PROPERTY_NAME_SIZE], *value = memory_copy_string(property->value);
    for (char *at = value; *at; at++)
        if (*at == '\n' || *at == '\r') {
            writer_lose(&otf2->writer, "line breaks in facts about the run", 1);
            *at = ' ';
        }
    if (strcmp(property->name, PROPERTY_MACHINE) == 0)
        *fine &= OTF2_Archive_SetMachineName(otf2->archive, value) == OTF2_SUCCESS;
    else if (strcmp(property->name, PROPERTY_DESCRIPTION) == 0)
        *fine &= OTF2_Archive_SetDescription(otf2->archive, value) == OTF2_SUCCESS;
    else if (!otf2_property_name(property->name, name) ||
             OTF2_Archive_SetProperty(otf2->archive, name, value, false) != OTF2_SUCCESS)
        writer_lose(&otf2->writer, "facts about the run whose names OTF2 has no place for", 1);
    free(value);
}

bool otf2_write_properties(struct otf2_writer *otf2)
{
    const struct property_list *list = &otf2->defs->properties;
    bool fine = true;
    for (size_t i = 0; i < list->count && fine; i++)
        if (list->rows[i].rank_count == 0)
            write_one(otf2, &list->rows[i], &fine);
    return fine;
}

uint64_t otf2_realtime(const struct defs *defs)
{
    const char *date = property_find(&defs->properties, PROPERTY_DATE);
    struct tm utc = {0};
    int read = 0, more = 0, hours = 0, minutes = 0;
    unsigned ms = 0;
    char sign = '\0';
    if (!date ||
        sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2d%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour, &utc.tm_min,
               &utc.tm_sec, &read) != 6 ||
        read == 0 || utc.tm_year < 1970)
        return OTF2_UNDEFINED_TIMESTAMP;
    /* Dates of other formats are in whole seconds. */
    if (sscanf(date + read, ".%3u%n", &ms, &more) == 1)
        read += more;
    if (strcmp(date + read, "Z") != 0 &&
        (sscanf(date + read, "%c%2d:%2d", &sign, &hours, &minutes) != 3 || (sign != '+' && sign != '-')))
        return OTF2_UNDEFINED_TIMESTAMP;
    utc.tm_year -= 1900;
    utc.tm_mon--;
    int64_t zone_s = (hours * 60 + minutes) * 60, seconds = (int64_t)timegm(&utc) - (sign == '-' ? -zone_s : zone_s);
    if (seconds > 0)
        return (uint64_t)seconds * 1000000000 + (uint64_t)ms * 1000000;
    return OTF2_UNDEFINED_TIMESTAMP;
}
