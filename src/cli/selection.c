/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selection.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int rank_compare(const void *a, const void *b)
{
    return order_by(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Only digits: strtoul alone would take signs and blanks, too. Nine of them fit into any unsigned long. */
static bool parse_rank(const char **at, uint32_t *rank)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long value = strtoul(*at, &end, 10);
    if (end - *at > 9 || value >= PROCESS_LIMIT)
        return false;
    *rank = (uint32_t)value;
    *at = end;
    return true;
}

static bool parse_range(const char **at, uint32_t *first, uint32_t *last)
{
    if (!parse_rank(at, first))
        return false;
    *last = *first;
    if (**at == '-') {
        ++*at;
        if (!parse_rank(at, last))
            return false;
    }
    return *first <= *last && (**at == ',' || **at == '\0');
}

enum status selection_ranks(const char *text, uint32_t **ranks, size_t *count, struct error *err)
{
    if (!text)
        return STATUS_OK;
    size_t capacity = 0;
    const char *at = text;
    do {
        uint32_t first, last;
        at += at > text; /* the comma */
        if (!parse_range(&at, &first, &last))
            return error_set(err, ERROR_USAGE, "'%s' is not a list of processes (such as 0-7,12)", text);
        for (uint32_t rank = first; rank <= last; rank++)
            ARRAY_PUSH(*ranks, *count, capacity, rank);
    } while (*at);
    qsort(*ranks, *count, sizeof **ranks, rank_compare);
    /* "0-3,2": each once, or its numbers would count twice */
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (i == 0 || (*ranks)[i] != (*ranks)[kept - 1])
            (*ranks)[kept++] = (*ranks)[i];
    *count = kept;
    return STATUS_OK;
}

/* A number with a unit, as ns; per cent as a share of 1. */
static enum status parse_time(const char *text, bool shares, struct engine_time *time, struct error *err)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3},   {"µs", 1e3},         {"ms", 1e6},       {"s", 1e9},
                 {"", 1e9}, {"min", 6e10}, {"h", TEXT_HOUR_NS}, {"d", TEXT_DAY_NS}};
    char *unit;
    double value = strtod(text, &unit); /* in any locale: main sets none, so that the point is a point */
    if (unit == text || !isfinite(value) || value < 0)
        return error_set(err, ERROR_USAGE, "'%s' is not a time (such as 1.5s, 20ms, 10%%)", text);
    unit += strspn(unit, " ");
    if (shares && strcmp(unit, "%") == 0) {
        *time = (struct engine_time){.kind = ENGINE_TIME_SHARE, .share = value / 100};
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0) {
            double ns = value * units[i].ns;
            *time = (struct engine_time){.kind = ENGINE_TIME_NS, .ns = INT64_MAX / 2};
            if (ns < 9e18) /* else the conversion is undefined; no run is that long */
                time->ns = llrint(ns);
            return STATUS_OK;
        }
    return error_set(err, ERROR_USAGE, "'%s': unknown unit '%s' (ns us ms s min h d %%)", text, unit);
}

enum status selection_time(const char *text, int64_t *ns, struct error *err)
{
    struct engine_time time;
    if (parse_time(text, false, &time, err) != STATUS_OK)
        return STATUS_FAILED;
    *ns = time.ns;
    return STATUS_OK;
}

enum status selection_moment(const char *text, struct engine_time *time, struct error *err)
{
    return text ? parse_time(text, true, time, err) : STATUS_OK;
}
