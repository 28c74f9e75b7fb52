/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_properties.h"

#include "core/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

char *otf2_property_read_name(const char *in_archive)
{
    size_t length = strlen(OTF2_PROPERTY_PREFIX);
    bool ours = strncmp(in_archive, OTF2_PROPERTY_PREFIX, length) == 0;
    char *name = memory_copy_string(ours ? in_archive + length : in_archive);
    for (char *at = name; *at && ours; at++)
        *at = (char)tolower((unsigned char)*at);
    return name;
}

static void read_one(struct defs *defs, OTF2_Reader *library, const char *in_archive)
{
    char *value = NULL;
    if (OTF2_Reader_GetProperty(library, in_archive, &value) != OTF2_SUCCESS)
        return;
    char *name = otf2_property_read_name(in_archive);
    property_add(&defs->properties, name, value);
    free(name);
    free(value);
}

void otf2_read_properties(struct defs *defs, OTF2_Reader *library)
{
    char *text = NULL, **names = NULL;
    uint32_t count = 0;
    if (OTF2_Reader_GetMachineName(library, &text) == OTF2_SUCCESS)
        property_add(&defs->properties, PROPERTY_MACHINE, text);
    free(text);
    text = NULL;
    if (OTF2_Reader_GetDescription(library, &text) == OTF2_SUCCESS)
        property_add(&defs->properties, PROPERTY_DESCRIPTION, text);
    free(text);
    if (OTF2_Reader_GetPropertyNames(library, &count, &names) != OTF2_SUCCESS)
        return;
    for (uint32_t i = 0; i < count; i++)
        read_one(defs, library, names[i]);
    free(names);
}

void otf2_read_realtime(struct defs *defs, uint64_t realtime_ns)
{
    char text[64];
    struct tm date;
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    if (realtime_ns == 0 || realtime_ns == OTF2_UNDEFINED_TIMESTAMP ||
        property_find(&defs->properties, PROPERTY_DATE) || !gmtime_r(&seconds, &date) ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date) == 0)
        return;
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, ".%03dZ", (int)(realtime_ns % 1000000000 / 1000000));
    property_add(&defs->properties, PROPERTY_DATE, text);
}
