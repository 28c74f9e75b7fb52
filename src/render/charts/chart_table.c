/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/chart.h"

#include <string.h>

static const struct chart charts[] = {
#define CHART(id, name, title, question, needs, shows, tab)                                                            \
    {name, title, question, chart_##id##_answer, chart_##id##_draw, NEEDS_##needs, SHOWS_##shows, tab},
#include "render/charts/charts.def"
};

/* The order of the table is that of reports and of `sight chart all`. */
size_t chart_count(void)
{
    return sizeof charts / sizeof *charts;
}

const struct chart *chart_at(size_t index)
{
    return &charts[index];
}

/* Names are those of the command line, of pages and of links in reports. */
const struct chart *chart_find(const char *name)
{
    for (size_t i = 0; i < chart_count(); i++)
        if (strcmp(charts[i].name, name) == 0)
            return &charts[i];
    return NULL;
}
