/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/hosts.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a picture with a line for each host, of 1 << fold rows each. */
enum { LINES_MOST = 1 << 22 };

struct named_row {
    const char *host; /* "" for none */
    uint32_t row, first;
};

static int by_name(const void *a, const void *b)
{
    const struct named_row *left = a, *right = b;
    int order = strcmp(left->host, right->host);
    if (order != 0)
        return order;
    return order_by(left->row, right->row);
}

static int by_first(const void *a, const void *b)
{
    const struct named_row *left = a, *right = b;
    if (left->first != right->first)
        return order_by(left->first, right->first);
    return order_by(left->row, right->row);
}

/* All rows, those of a host together: hosts in the order of their first rows. */
static struct named_row *sorted_rows(const struct timeline_info *info)
{
    struct named_row *rows = memory_new(info->row_count * sizeof *rows);
    for (uint32_t row = 0; row < info->row_count; row++) {
        const char *host = defs_host_of(info->defs, info->rows[row].process, info->rows[row].thread);
        rows[row] = (struct named_row){.host = host ? host : "", .row = row};
    }
    qsort(rows, info->row_count, sizeof *rows, by_name);
    for (size_t i = 0; i < info->row_count; i++) {
        rows[i].first = rows[i].row;
        if (i > 0 && strcmp(rows[i].host, rows[i - 1].host) == 0)
            rows[i].first = rows[i - 1].first;
    }
    qsort(rows, info->row_count, sizeof *rows, by_first);
    return rows;
}

void view_hosts_find(struct view_hosts *hosts, const struct timeline_info *info)
{
    *hosts = (struct view_hosts){0};
    if (info->row_count == 0)
        return;
    struct named_row *rows = sorted_rows(info);
    hosts->names = memory_new(info->row_count * sizeof *hosts->names);
    hosts->of_row = memory_new(info->row_count * sizeof *hosts->of_row);
    hosts->rows = memory_new(info->row_count * sizeof *hosts->rows);
    size_t begin = 0;
    for (size_t i = 0; i < info->row_count; i++) {
        if (i == 0 || rows[i].first != rows[i - 1].first) {
            begin = i;
            hosts->names[hosts->count++] = *rows[i].host ? rows[i].host : NULL;
        }
        hosts->rows[i] = rows[i].row;
        hosts->of_row[rows[i].row] = (uint32_t)hosts->count - 1;
        while (i - begin >= (size_t)1 << hosts->fold)
            hosts->fold++;
    }
    free(rows);
    if (hosts->count < 2)
        view_hosts_clear(hosts);
}

void view_hosts_clear(struct view_hosts *hosts)
{
    free(hosts->names);
    free(hosts->of_row);
    free(hosts->rows);
    *hosts = (struct view_hosts){0};
}

bool view_hosts_fold(const struct view_hosts *hosts)
{
    return hosts->count > 0 && hosts->count <= (size_t)LINES_MOST >> hosts->fold;
}

uint32_t *view_hosts_lines(const struct view_hosts *hosts, size_t row_count)
{
    size_t count = hosts->count << hosts->fold, line = 0;
    uint32_t *lines = memory_new(count * sizeof *lines);
    memset(lines, 0xFF, count * sizeof *lines);
    for (size_t i = 0; i < row_count; i++, line++) {
        uint32_t host = hosts->of_row[hosts->rows[i]];
        /* The next host begins at a whole multiple, whatever the one before it has. */
        line = larger(line, (size_t)host << hosts->fold);
        lines[line] = hosts->rows[i];
    }
    return lines;
}
