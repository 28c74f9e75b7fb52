/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paraver/paraver_header.h"

#include "convert/text_lines.h"
#include "core/event.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

/* Old traces have no unit: microseconds. */
static bool take_unit(const char **at, const char *end, uint64_t *unit_ns)
{
    static const struct {
        const char *suffix;
        uint64_t ns;
    } units[] = {{"_ns", 1}, {"_us", 1000}, {"_ms", 1000000}, {"_s", 1000000000}, {"", 1000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].suffix);
        if ((size_t)(end - *at) >= length && memcmp(*at, units[i].suffix, length) == 0) {
            *at += length;
            *unit_ns = units[i].ns;
            return text_take(at, end, ':');
        }
    }
    return false;
}

/* "2(4,4)", or "0" if nothing is known about them. How many processors each node has is not needed: hosts have their
   names from the .row. */
static bool take_nodes(const char **at, const char *end)
{
    uint64_t count;
    if (!text_take_u64(at, end, &count))
        return false;
    if (*at < end && **at == '(') {
        const char *close = memchr(*at, ')', (size_t)(end - *at));
        if (!close)
            return false;
        *at = close + 1;
    }
    return text_take(at, end, ':');
}

/* ",7": so many lines of communicators follow. Of two applications Extrae writes "8(...),12(...),14": a comma before
   the next one, and the lines of both at the end. */
static bool take_communicators(struct paraver_header *header, const char **at, const char *end)
{
    uint64_t communicators;
    const char *number = *at + 1;
    if (*at == end || **at != ',')
        return true;
    if (!text_take_u64(&number, end, &communicators))
        return false;
    if (number < end && *number == '(')
        return true;
    header->communicators += communicators;
    *at = number;
    return true;
}

/* "4(1:1,1:1,1:1,1:1)". */
static bool take_application(struct paraver_header *header, const char **at, const char *end)
{
    uint64_t tasks, threads, node;
    if (!text_take_u64(at, end, &tasks) || !text_take(at, end, '('))
        return false;
    /* The counts are only limits of loops over what is there: a header that claims 2^60 tasks costs nothing. */
    for (uint64_t i = 0; i < tasks; i++) {
        if ((i > 0 && !text_take(at, end, ',')) || !text_take_u64(at, end, &threads) || !text_take(at, end, ':') ||
            !text_take_u64(at, end, &node) || threads > UINT32_MAX || node > UINT32_MAX ||
            header->task_count >= PROCESS_LIMIT)
            return false;
        ARRAY_PUSH(header->tasks, header->task_count, header->task_capacity,
                   (struct paraver_task){.threads = (uint32_t)threads, .node = (uint32_t)node});
    }
    if (!text_take(at, end, ')') || !take_communicators(header, at, end))
        return false;
    /* Processes are numbered through all applications: `first` holds where each begins, and one more at the end. */
    ARRAY_PUSH(header->first, header->first_count, header->first_capacity, (uint32_t)header->task_count);
    header->application_count++;
    return true;
}

/* "#Paraver (23/11/2026 at 14:05"; of old, years had two digits. */
static void take_date(struct paraver_header *header, const char *at, const char *end)
{
    char text[64] = "";
    int day, month, year, hour, minute;
    const char *open = memchr(at, '(', (size_t)(end - at));
    if (!open || (size_t)(end - open) >= sizeof text)
        return;
    memcpy(text, open, (size_t)(end - open));
    if (sscanf(text, "(%2d/%2d/%4d at %2d:%2d", &day, &month, &year, &hour, &minute) != 5 || day < 1 || day > 31 ||
        month < 1 || month > 12 || year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59)
        return;
    /* Two digits of older files: Paraver is from the nineties. */
    if (year < 100)
        year += year >= 90 ? 1900 : 2000;
    if (year > 1970)
        snprintf(header->date, sizeof header->date, "%04d-%02d-%02dT%02d:%02d", year, month, day, hour, minute);
}

const char *paraver_header_parse(struct paraver_header *header, const char **at, const char *end)
{
    uint64_t applications;
    const char *close = memchr(*at, ')', (size_t)(end - *at)); /* a date has colons of its own */
    if (!close)
        return "the header has no date";
    take_date(header, *at, close);
    *at = close + 1;
    if (!text_take(at, end, ':') || !text_take_u64(at, end, &header->duration) || !take_unit(at, end, &header->unit_ns))
        return "the header has no duration";
    if (!take_nodes(at, end))
        return "the header has no nodes";
    if (!text_take_u64(at, end, &applications) || applications == 0)
        return "the header has no applications";
    ARRAY_PUSH(header->first, header->first_count, header->first_capacity, 0);
    for (uint64_t i = 0; i < applications; i++)
        if ((!text_take(at, end, ':') && (i == 0 || !text_take(at, end, ','))) || !take_application(header, at, end))
            return "the header's applications cannot be read";
    return NULL;
}

void paraver_header_clear(struct paraver_header *header)
{
    free(header->tasks);
    free(header->first);
    *header = (struct paraver_header){0};
}
