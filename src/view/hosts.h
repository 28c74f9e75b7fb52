/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_HOSTS_H
#define SIGHT_VIEW_HOSTS_H

#include "timeline/timeline.h"

/* The hosts that the rows of a timeline ran on, as the trace names them. */
struct view_hosts {
    const char **names; /* borrowed from the definitions, in the order of their first rows; NULL: rows without a host */
    size_t count;       /* 0: all rows have the same one, or none is known */
    uint32_t *of_row;   /* index of each row's host */
    uint32_t *rows;     /* all rows, those of a host together, by rank */
    unsigned fold;      /* the host with the most rows has at most 1 << fold */
};

/* Finds the hosts of all rows. Free with view_hosts_clear. */
void view_hosts_find(struct view_hosts *hosts, const struct timeline_info *info);
void view_hosts_clear(struct view_hosts *hosts);

/* True if a picture can have a line for each host: with 1 << fold rows for each of them it stays small. */
bool view_hosts_fold(const struct view_hosts *hosts);

/* New array of hosts->count << hosts->fold rows: 1 << fold for each host, TIMELINE_NONE beyond those that it has. */
uint32_t *view_hosts_lines(const struct view_hosts *hosts, size_t row_count);

#endif
