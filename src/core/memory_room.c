/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/memory_room.h"

#include "core/numbers.h"
#include "core/system_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least limit of a control group and those above it; 0: none, or not known. `base`: where they are mounted. */
static uint64_t least_limit(const char *base, const char *group, size_t length, const char *name)
{
    uint64_t least = 0;
    char path[1024], text[32];
    for (;;) {
        snprintf(path, sizeof path, "%s%.*s/%s", base, (int)length, group, name);
        uint64_t limit = system_text_read(path, text, sizeof text) && *text != 'm' ? strtoull(text, NULL, 10) : 0;
        /* Version 1 has the largest number of pages for "no limit". */
        if (limit > 0 && limit < INT64_MAX / 2 && (least == 0 || limit < least))
            least = limit;
        if (length == 0)
            return least;
        /* The group above: without the last name and its slash. */
        while (length > 0 && group[length - 1] != '/')
            length--;
        length -= length > 0;
    }
}

uint64_t memory_group_limit(void)
{
    static const struct {
        const char *line, *base, *name;
    } versions[] = {{"0::", "/sys/fs/cgroup", "memory.max"},
                    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"}};
    char text[2048];
    uint64_t limit = 0;
    if (!system_text_read("/proc/self/cgroup", text, sizeof text))
        return 0;
    for (size_t i = 0; i < sizeof versions / sizeof *versions && limit == 0; i++) {
        const char *at = strstr(text, versions[i].line);
        if (at)
            at += strlen(versions[i].line);
        if (at)
            limit = least_limit(versions[i].base, at, strcspn(at, "\n"), versions[i].name);
    }
    return limit;
}

uint64_t memory_room(void)
{
    static const char name[] = "\nMemAvailable:";
    char text[1024];
    uint64_t limit = memory_group_limit(), room = 0;
    const char *at = NULL;
    if (system_text_read("/proc/meminfo", text, sizeof text))
        at = strstr(text, name);
    if (at)
        room = strtoull(at + strlen(name), NULL, 10) * 1024;
    return limit > 0 && room > 0 ? smaller(limit, room) : larger(limit, room);
}
