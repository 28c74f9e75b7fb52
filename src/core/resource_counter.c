/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/resource_counter.h"

#include "core/event.h"

#include <string.h>

static const struct {
    const char *title, *unit;
    enum counter_mode mode;
    enum counter_scope scope;
} rows[] = {
#define RESOURCE_COUNTER_ROW(name, title, unit, mode, scope) {title, unit, COUNTER_MODE_##mode, COUNTER_OF_##scope},
    RESOURCE_COUNTER_ROWS(RESOURCE_COUNTER_ROW)};

uint32_t resource_counter_define(struct defs *defs, enum resource_counter counter)
{
    struct mark_def mark = {.name = (char *)rows[counter].title,
                            .colour = (char *)"gray",
                            .id = EVENT_UNKNOWN,
                            .defined = true,
                            .made_up = true,
                            .counter = {.type = COUNTER_INT64,
                                        .mode = rows[counter].mode,
                                        .scope = rows[counter].scope,
                                        .unit = *rows[counter].unit ? (char *)rows[counter].unit : NULL}};
    return defs_add_mark(defs, &mark);
}

enum resource_counter resource_counter_named(const char *name)
{
    enum resource_counter counter = 0;
    while (counter < RESOURCE_COUNTERS && strcmp(name, rows[counter].title) != 0)
        counter++;
    return counter;
}

const char *resource_counter_name(enum resource_counter counter)
{
    return rows[counter].title;
}

enum resource_counter resource_counter_of(const struct mark_def *mark)
{
    /* Other formats lose what a counter is of, and Paraver its sign: the name says enough. */
    bool whole = mark->counter.type == COUNTER_INT64 || mark->counter.type == COUNTER_UINT64;
    return whole ? resource_counter_named(mark->name) : RESOURCE_COUNTERS;
}

bool resource_counter_is_sum(enum resource_counter counter)
{
    return rows[counter].mode == COUNTER_MODE_ACCUMULATED;
}
